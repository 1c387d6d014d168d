//! Epsilon support vector regression, with a limit on the iterations of its solver.
//!
//! The problem and the solver are those of LIBSVM (sequential minimal optimization; Fan, Chen and Lin, "Working set
//! selection using second order information", 2005), without its shrinking, and with all kernel values in memory. The
//! crate `libsvm-rs` has no limit below ten million iterations. A polynomial of degree 19, whose kernel values lie many
//! orders of magnitude apart, often reaches any limit.

/// The kernel of a regression: the values of all pairs of rows.
pub struct Kernel {
    values: Vec<f64>,
    rows: usize,
}

impl Kernel {
    /// The kernel of this number of rows, with a symmetric function of two rows.
    pub fn new(rows: usize, value: impl Fn(usize, usize) -> f64) -> Kernel {
        let mut values = vec![0.0; rows * rows];
        for i in 0..rows {
            for j in 0..=i {
                let value = value(i, j);
                (values[i * rows + j], values[j * rows + i]) = (value, value);
            }
        }
        Kernel { values, rows }
    }

    fn row(&self, at: usize) -> &[f64] {
        &self.values[at * self.rows..(at + 1) * self.rows]
    }
}

/// The parameters of a regression.
#[derive(Clone, Copy, Debug)]
pub struct SvrParameters {
    /// The largest weight of a row.
    pub c: f64,
    /// Errors up to this one cost nothing.
    pub epsilon: f64,
    /// The solver stops when the optimality conditions hold up to this.
    pub tolerance: f64,
    /// The solver stops after this many iterations.
    pub most: usize,
}

/// A regression: the prediction is the sum of the weights times the kernel values of the rows, plus the intercept.
pub struct Svr {
    /// The weight of each row.
    pub weights: Vec<f64>,
    /// The constant term.
    pub intercept: f64,
    /// Whether the solver was stopped before it had found the solution.
    pub stopped: bool,
}

/// The two dual variables of a row: `[0]` pulls the prediction up, `[1]` pulls it down. Both lie between 0 and C.
type DualPair = [f64; 2];

/// A dual variable: the index of its row and its side.
#[derive(Clone, Copy)]
struct Variable {
    row: usize,
    side: usize,
}

/// Denominators below this one are replaced by it (LIBSVM's TAU).
const SMALLEST: f64 = 1e-12;

/// Fits a regression to these values, one per row of the kernel.
pub fn train(kernel: &Kernel, values: &[f64], how: SvrParameters) -> Svr {
    let SvrParameters { c, epsilon, tolerance, most } = how;
    let mut alphas: Vec<DualPair> = vec![[0.0; 2]; values.len()];
    // The value of each row less its prediction without the intercept.
    let mut residuals = values.to_vec();
    let mut stopped = true;
    for _ in 0..most {
        let Some((up, down)) = working_set(kernel, &alphas, &residuals, c, epsilon, tolerance) else {
            stopped = false;
            break;
        };
        let (row, other) = (kernel.row(up.row), kernel.row(down.row));
        let curvature = curvature(row[up.row], other[down.row], row[down.row]);
        let room = |variable: Variable, upwards: bool| {
            let alpha = alphas[variable.row][variable.side];
            if upwards == (variable.side == 0) { c - alpha } else { alpha }
        };
        let steepness = slope(&residuals, up, epsilon) - slope(&residuals, down, epsilon);
        let step = (steepness / curvature).min(room(up, true)).min(room(down, false));
        shift(&mut alphas[up.row][up.side], step, up.side == 0, c);
        shift(&mut alphas[down.row][down.side], step, down.side == 1, c);
        for ((residual, a), b) in residuals.iter_mut().zip(row).zip(other) {
            *residual -= step * (a - b);
        }
    }
    let intercept = intercept(&alphas, &residuals, c, epsilon);
    Svr { weights: alphas.iter().map(|[up, down]| up - down).collect(), intercept, stopped }
}

fn curvature(own: f64, other: f64, both: f64) -> f64 {
    let curvature = own + other - 2.0 * both;
    if curvature > 0.0 { curvature } else { SMALLEST }
}

/// Moves a variable up or down by `step`, within its bounds.
fn shift(alpha: &mut f64, step: f64, upwards: bool, c: f64) {
    *alpha = (if upwards { *alpha + step } else { *alpha - step }).clamp(0.0, c);
}

/// What the objective gains, at first, if the weight of the variable's row grows.
fn slope(residuals: &[f64], variable: Variable, epsilon: f64) -> f64 {
    let residual = residuals[variable.row];
    if variable.side == 0 { residual - epsilon } else { residual + epsilon }
}

/// The variable whose row gains most by a larger weight, and the one with which the pair gains most by second-order
/// information. None if the conditions of optimality hold.
fn working_set(
    kernel: &Kernel,
    alphas: &[DualPair],
    residuals: &[f64],
    c: f64,
    epsilon: f64,
    tolerance: f64,
) -> Option<(Variable, Variable)> {
    let (mut highest, mut up) = (f64::NEG_INFINITY, None);
    for (row, (alpha, residual)) in alphas.iter().zip(residuals).enumerate() {
        // The larger slope first: if the second side can move, the first need not be compared.
        let (side, slope) = if alpha[1] > 0.0 { (1, residual + epsilon) } else { (0, residual - epsilon) };
        if (side == 1 || alpha[0] < c) && slope > highest {
            (highest, up) = (slope, Some(Variable { row, side }));
        }
    }
    let up = up?;
    let near = kernel.row(up.row);
    let (mut lowest, mut best, mut down) = (f64::INFINITY, 0.0, None);
    for (row, (alpha, residual)) in alphas.iter().zip(residuals).enumerate() {
        // Likewise the smaller slope first.
        let (side, slope) = if alpha[0] > 0.0 { (0, residual - epsilon) } else { (1, residual + epsilon) };
        if side == 1 && alpha[1] >= c {
            continue;
        }
        lowest = lowest.min(slope);
        let steepness = highest - slope;
        if steepness > 0.0 {
            let own = kernel.values[row * kernel.rows + row];
            let gain = steepness * steepness / curvature(near[up.row], own, near[row]);
            if gain > best {
                (best, down) = (gain, Some(Variable { row, side }));
            }
        }
    }
    if highest - lowest < tolerance { None } else { Some((up, down?)) }
}

/// The mean of what the variables between their bounds ask for, or the middle between the bounds of the others.
fn intercept(alphas: &[DualPair], residuals: &[f64], c: f64, epsilon: f64) -> f64 {
    let (mut sum, mut free) = (0.0, 0);
    let (mut highest, mut lowest) = (f64::NEG_INFINITY, f64::INFINITY);
    for (row, alpha) in alphas.iter().enumerate() {
        for (side, &alpha) in alpha.iter().enumerate() {
            let slope = slope(residuals, Variable { row, side }, epsilon);
            if alpha > 0.0 && alpha < c {
                (sum, free) = (sum + slope, free + 1);
            } else if (alpha <= 0.0) == (side == 0) {
                highest = highest.max(slope);
            } else {
                lowest = lowest.min(slope);
            }
        }
    }
    if free > 0 { sum / f64::from(free) } else { (highest + lowest) / 2.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::stream;
    use libsvm_rs::train::svm_train;
    use libsvm_rs::{KernelType, SvmNode, SvmParameter, SvmProblem, SvmType, predict::predict_values};
    use rand::RngExt;

    const HOW: SvrParameters = SvrParameters { c: 1.0, epsilon: 0.1, tolerance: 1e-3, most: 100_000 };

    fn dot(a: &[f64; 4], b: &[f64; 4]) -> f64 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }

    /// Two rows with values 1 and -1 and a kernel of 1 on the diagonal and 0 beside it. Up to a tolerance of 0.1 the
    /// errors are free, so the predictions are 0.9 and -0.9: the weights, with an intercept of 0.
    #[test]
    fn two_rows_by_hand() {
        let kernel = Kernel::new(2, |i, j| f64::from(u8::from(i == j)));
        let found = train(&kernel, &[1.0, -1.0], HOW);
        assert!(!found.stopped && found.intercept.abs() < 1e-9);
        assert!((found.weights[0] - 0.9).abs() < 1e-9 && (found.weights[1] + 0.9).abs() < 1e-9);
        // The largest weight is 1: errors of 4 remain.
        let found = train(&kernel, &[5.0, -5.0], HOW);
        assert_eq!((found.weights, found.intercept), (vec![1.0, -1.0], 0.0));
        // All values within the tolerance of one: nothing to do but the intercept.
        let found = train(&kernel, &[3.0, 3.1], HOW);
        assert!(found.weights == [0.0, 0.0] && (found.intercept - 3.05).abs() < 1e-9);
    }

    #[test]
    fn the_solver_agrees_with_libsvm() {
        libsvm_rs::set_quiet(true);
        let mut rng = stream(3, "svr");
        let rows: Vec<[f64; 4]> = (0..120).map(|_| std::array::from_fn(|_| rng.random_range(-2.0..2.0))).collect();
        let value = |row: &[f64; 4]| row[0] * row[1] + row[2].sin() - row[3];
        let values: Vec<f64> = rows.iter().map(|row| value(row) + rng.random_range(-0.3..0.3)).collect();
        let nodes = |row: &[f64; 4]| -> Vec<SvmNode> {
            row.iter().enumerate().map(|(at, &value)| SvmNode { index: at as i32 + 1, value }).collect()
        };
        for kernel_type in [KernelType::Rbf, KernelType::Polynomial] {
            let ours = |a: &[f64; 4], b: &[f64; 4]| match kernel_type {
                KernelType::Rbf => (-0.25 * (dot(a, a) + dot(b, b) - 2.0 * dot(a, b))).exp(),
                _ => (0.25 * dot(a, b)).powi(3),
            };
            let found = train(&Kernel::new(rows.len(), |i, j| ours(&rows[i], &rows[j])), &values, HOW);
            let how = SvmParameter {
                svm_type: SvmType::EpsilonSvr,
                kernel_type,
                gamma: 0.25,
                degree: 3,
                ..SvmParameter::default()
            };
            let problem = SvmProblem { labels: values.clone(), instances: rows.iter().map(nodes).collect() };
            let model = svm_train(&problem, &how);
            assert!(!found.stopped);
            for row in rows.iter().step_by(5) {
                let own = found.weights.iter().zip(&rows).map(|(weight, other)| weight * ours(row, other)).sum::<f64>();
                let theirs = predict_values(&model, &nodes(row), &mut [0.0]);
                assert!((own + found.intercept - theirs).abs() < 0.01, "{kernel_type:?}: {own} {theirs}");
            }
        }
    }

    #[test]
    fn the_solver_is_stopped() {
        let kernel = Kernel::new(50, |i, j| f64::from(u8::from(i == j)) + (i * j) as f64);
        let values: Vec<f64> = (0..50).map(|at| f64::from(at % 7)).collect();
        let few = train(&kernel, &values, SvrParameters { most: 3, ..HOW });
        assert!(few.stopped && few.weights.iter().filter(|weight| **weight != 0.0).count() <= 6);
    }
}
