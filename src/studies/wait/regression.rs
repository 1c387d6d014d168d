//! A point prediction by regression over the neighbours: linear, or by a support vector machine with a kernel (Kumar and
//! Vadhiyar, section 3.2, "Reg lin" and "Reg non lin").

use libsvm_rs::kernel::powi;

use super::features::{FEATURES, Features};
use super::history::HistoryWindow;
use super::knn::Neighbours;
use super::scale::FeatureScale;
use super::svr::{Kernel, SvrParameters, train};

/// The largest number of neighbours in a regression: the time to solve one grows with its square.
const MOST: usize = 500;
/// Added to the diagonal, so that the normal equations can be solved with fewer jobs than features, or with features
/// that depend on each other. The result is practically the least-squares solution, and of several solutions the
/// smallest.
const RIDGE: f64 = 1e-6;

/// The parameters of support vector regression: LIBSVM's own, and the number of iterations after which a solver is
/// stopped. The polynomial of degree 19 is the one that reaches it.
const SUPPORT: SvrParameters = SvrParameters { c: 1.0, epsilon: 0.1, tolerance: 1e-3, most: ITERATIONS };
/// See [`RegressionPoint::stopped`].
pub(super) const ITERATIONS: usize = 100_000;
const GAMMA: f64 = 1.0 / FEATURES as f64;

/// The result of a regression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RegressionPoint {
    /// The predicted wait, in seconds.
    pub wait: f64,
    /// Whether the solver was stopped after 100,000 iterations, before it had found the solution. The wait is then that of
    /// the weights found so far.
    pub stopped: bool,
}

/// How waits depend on features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Regression {
    /// Least squares on the features as they are.
    Linear,
    /// Support vector regression (C = 1, epsilon = 0.1, gamma = 1/19) with a polynomial kernel, on scaled features and
    /// standardised waits. The paper's "degree equal to the number of features" is `degree: 19`.
    Polynomial {
        /// The degree of the polynomial.
        degree: i32,
    },
    /// The same with a radial basis function as the kernel.
    Rbf,
    /// The same with a sigmoid kernel.
    Sigmoid,
}

impl Regression {
    /// The wait, in seconds, predicted from at most the 500 nearest neighbours. It is at least 0 and at most the
    /// longest wait among them: outside the range of its data, a polynomial of high degree gives absurdly long waits.
    /// None if the result is not a number.
    pub fn predict(
        self,
        target: &Features,
        neighbours: &Neighbours,
        window: &HistoryWindow<'_>,
    ) -> Option<RegressionPoint> {
        let nearest = neighbours.nearest(MOST);
        let rows: Vec<Features> = nearest.iter().map(|one| window.features(one.at)).collect();
        let waits: Vec<f64> = nearest.iter().map(|one| window.waits()[one.at] as f64).collect();
        let (mean, deviation) = moments(&waits);
        if deviation == 0.0 {
            return Some(RegressionPoint { wait: mean, stopped: false });
        }
        let scaled: Vec<f64> = waits.iter().map(|wait| (wait - mean) / deviation).collect();
        let (predicted, stopped) = match self {
            Regression::Linear => (linear(target, &rows, &scaled), false),
            _ => self.by_vectors(target, &rows, &scaled),
        };
        let longest = waits.iter().copied().fold(0.0, f64::max);
        let wait = mean + deviation * predicted;
        (!wait.is_nan()).then(|| RegressionPoint { wait: wait.clamp(0.0, longest), stopped })
    }

    /// The prediction for the target, and whether the solver was stopped.
    fn by_vectors(self, target: &Features, rows: &[Features], waits: &[f64]) -> (f64, bool) {
        let (scale, rows) = FeatureScale::learn(rows.iter().copied());
        let found = train(&Kernel::new(rows.len(), |i, j| self.kernel(&rows[i], &rows[j])), waits, SUPPORT);
        let target = scale.apply(target);
        let terms = found.weights.iter().zip(&rows).filter(|(weight, _)| **weight != 0.0);
        let sum: f64 = terms.map(|(weight, row)| weight * self.kernel(&target, row)).sum();
        (sum + found.intercept, found.stopped)
    }

    fn kernel(self, x: &Features, y: &Features) -> f64 {
        let dot = || x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
        match self {
            Regression::Linear => dot(),
            Regression::Polynomial { degree } => powi(GAMMA * dot(), degree),
            Regression::Rbf => libm::exp(-GAMMA * x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum::<f64>()),
            Regression::Sigmoid => libm::tanh(GAMMA * dot()),
        }
    }
}

fn moments(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / count;
    (mean, variance.sqrt())
}

/// Least squares by the normal equations of standardised features. Waits and features have mean 0, so no column for the
/// intercept is needed.
fn linear(target: &Features, rows: &[Features], waits: &[f64]) -> f64 {
    let moments: Vec<(f64, f64)> =
        (0..FEATURES).map(|at| moments(&rows.iter().map(|row| row[at]).collect::<Vec<_>>())).collect();
    let scale = |row: &Features| -> Features {
        std::array::from_fn(|at| match moments[at] {
            (mean, deviation) if deviation > 0.0 => (row[at] - mean) / deviation,
            _ => 0.0,
        })
    };
    let count = rows.len() as f64;
    let mut matrix = [[0.0; FEATURES]; FEATURES];
    let mut right = [0.0; FEATURES];
    for (row, wait) in rows.iter().map(scale).zip(waits) {
        for i in 0..FEATURES {
            right[i] += row[i] * wait / count;
            for j in 0..=i {
                matrix[i][j] += row[i] * row[j] / count;
            }
        }
    }
    (0..FEATURES).for_each(|at| matrix[at][at] += RIDGE);
    let weights = solve(matrix, right);
    scale(target).iter().zip(weights).map(|(x, weight)| x * weight).sum()
}

/// Solves a positive definite system by Cholesky's decomposition. Only the lower half of the matrix is read.
fn solve(mut matrix: [[f64; FEATURES]; FEATURES], mut right: Features) -> Features {
    for i in 0..FEATURES {
        for j in 0..=i {
            let sum = matrix[i][j] - (0..j).map(|k| matrix[i][k] * matrix[j][k]).sum::<f64>();
            matrix[i][j] = if i == j { sum.max(f64::MIN_POSITIVE).sqrt() } else { sum / matrix[j][j] };
        }
    }
    for i in 0..FEATURES {
        right[i] = (right[i] - (0..i).map(|k| matrix[i][k] * right[k]).sum::<f64>()) / matrix[i][i];
    }
    for i in (0..FEATURES).rev() {
        right[i] = (right[i] - (i + 1..FEATURES).map(|k| matrix[k][i] * right[k]).sum::<f64>()) / matrix[i][i];
    }
    right
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{JobId, Submission};
    use crate::rng::stream;
    use crate::wait::history::{HistoryJob, WaitHistory};
    use crate::wait::knn::Neighbour;
    use rand::RngExt;

    /// Jobs whose wait is a function of two of their features.
    fn history(count: usize, wait: impl Fn(f64, f64) -> f64) -> WaitHistory {
        let mut rng = stream(5, "regression");
        let mut history = WaitHistory::of_all();
        for at in 0..count {
            let mut features: Features = std::array::from_fn(|_| f64::from(rng.random_range(0..100u32)));
            // A feature that never changes, and one that repeats another.
            (features[4], features[5]) = (7.0, features[1]);
            let wait = wait(features[0], features[1]) as i64;
            history.push(&HistoryJob { id: JobId(at as u32), job: Submission::new(0, 1, 1), features }, wait);
        }
        history
    }

    fn all(count: usize) -> Neighbours {
        Neighbours { all: (0..count).map(|at| Neighbour { at, distance: 0.01 }).collect(), radius: 0.05 }
    }

    #[test]
    fn a_line_is_found() {
        let history = history(200, |x, y| 500.0 + 3.0 * x + 20.0 * y);
        let window = history.window(200, 150);
        for at in 0..40 {
            let mut target = window.features(at);
            target[0] -= 10.0;
            let expected = window.waits()[at] as f64 - 30.0;
            let found = Regression::Linear.predict(&target, &all(150), &window).unwrap().wait;
            assert!((found - expected).abs() < 0.1, "{found} {expected}");
        }
        // Fewer jobs than features: there is still an answer, and it fits these jobs.
        let few = all(8);
        let found = Regression::Linear.predict(&window.features(3), &few, &window).unwrap().wait;
        assert!((found - window.waits()[3] as f64).abs() < 1.0, "{found} {}", window.waits()[3]);
        // A target far below or above the data: no wait is negative, or longer than the longest known one.
        let mut target = window.features(0);
        let mut predict = |value: f64| {
            (target[1], target[5]) = (value, value);
            Regression::Linear.predict(&target, &all(150), &window).map(|found| found.wait)
        };
        let longest = *window.waits().iter().max().unwrap();
        assert_eq!((predict(-1e6), predict(1e6)), (Some(0.0), Some(longest as f64)));
    }

    #[test]
    fn kernels_follow_a_curve_better_than_the_mean() {
        let history = history(400, |x, y| (x + 1.0) * (y + 1.0));
        let window = history.window(400, 400);
        let mean = window.waits().iter().sum::<i64>() as f64 / 400.0;
        let waits = || window.waits().iter().take(60).map(|&wait| wait as f64);
        let plain: f64 = waits().map(|wait| (wait - mean).abs()).sum();
        for how in [Regression::Rbf, Regression::Polynomial { degree: 3 }] {
            let error: f64 = waits()
                .enumerate()
                .map(|(at, wait)| (how.predict(&window.features(at), &all(400), &window).unwrap().wait - wait).abs())
                .sum();
            assert!(error < plain / 2.0, "{how:?}: {error} {plain}");
        }
        for how in [Regression::Sigmoid, Regression::Polynomial { degree: 19 }] {
            assert!(how.predict(&window.features(0), &all(400), &window).is_none_or(|found| found.wait >= 0.0));
        }
    }

    #[test]
    fn equal_waits_need_no_regression() {
        let history = history(30, |_, _| 60.0);
        let window = history.window(30, 30);
        for how in [Regression::Linear, Regression::Rbf, Regression::Sigmoid] {
            let found = how.predict(&[0.0; FEATURES], &all(30), &window);
            assert_eq!(found, Some(RegressionPoint { wait: 60.0, stopped: false }));
        }
    }
}
