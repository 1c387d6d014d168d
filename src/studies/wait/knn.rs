//! Dynamic k nearest neighbours: the past jobs that arrived in a similar situation, and the prediction from their
//! waits.

use super::features::{FEATURES, Features};
use super::history::HistoryWindow;

/// Jobs per block: the sums of a block stay in the nearest cache while all columns are added.
const BLOCK: usize = 512;
/// Steps of 0.05 from 0 to the largest possible distance.
const STEPS: u32 = 20;

/// A past job and its distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbour {
    /// Its index in the window of history.
    pub at: usize,
    /// From 0 (the same situation) to 1.
    pub distance: f64,
}

/// The similar jobs of one job.
#[derive(Clone, Debug)]
pub struct Neighbours {
    /// In the order in which they started; never empty.
    pub all: Vec<Neighbour>,
    /// All jobs within this distance are included. A multiple of 0.05.
    pub radius: f64,
}

/// How far apart two jobs are, from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Distance {
    /// The mean over the features of |x - y| / (x + y), which is 0 where both are 0. Every feature counts alike, whatever
    /// its range.
    #[default]
    Mean,
    /// sum |x - y| / sum (x + y), and 0 if both jobs are all zero: as printed (Kumar and Vadhiyar, section 3.2, "HEOM
    /// distance"). The features of the largest values, which are processor times, decide.
    Sum,
}

impl Distance {
    /// The distance to each job of a window. The tests have the plain definition, with the same numbers: both add the features
    /// of a job in the same order, and the sums of whole numbers are exact in any order.
    pub fn to_each(self, target: &Features, window: &HistoryWindow<'_>) -> Vec<f64> {
        let sum: f64 = target.iter().sum();
        let mut distances = vec![0.0; window.len()];
        for (block, distances) in distances.chunks_mut(BLOCK).enumerate() {
            let rows = block * BLOCK..block * BLOCK + distances.len();
            let columns = target.iter().enumerate().map(|(at, &x)| (x, &window.column(at)[rows.clone()]));
            match self {
                Distance::Mean => {
                    for (x, column) in columns {
                        distances.iter_mut().zip(column).for_each(|(apart, &y)| *apart += relative(x, y));
                    }
                    distances.iter_mut().for_each(|apart| *apart /= FEATURES as f64);
                }
                Distance::Sum => {
                    for (x, column) in columns {
                        distances.iter_mut().zip(column).for_each(|(apart, &y)| *apart += (x - y).abs());
                    }
                    let sums = &window.sums()[rows];
                    distances.iter_mut().zip(sums).for_each(|(apart, &other)| *apart = quotient(*apart, sum + other));
                }
            }
        }
        distances
    }
}

#[inline]
fn relative(x: f64, y: f64) -> f64 {
    quotient((x - y).abs(), x + y)
}

/// 0 if the denominator is 0.
#[inline]
fn quotient(apart: f64, together: f64) -> f64 {
    if together > 0.0 { apart / together } else { 0.0 }
}

/// All jobs within the smallest multiple of 0.05 that includes any (Kumar and Vadhiyar, "Dynamic k-Nearest Neighbors").
/// None without a history.
pub fn neighbours(target: &Features, window: &HistoryWindow<'_>, distance: Distance) -> Option<Neighbours> {
    let distances = distance.to_each(target, window);
    let nearest = distances.iter().copied().min_by(f64::total_cmp)?;
    let radius = (1..=STEPS).map(|step| f64::from(step) / f64::from(STEPS)).find(|&radius| nearest <= radius);
    let radius = radius.unwrap_or(1.0);
    let all = distances.iter().enumerate().filter(|&(_, &distance)| distance <= radius);
    Some(Neighbours { all: all.map(|(at, &distance)| Neighbour { at, distance }).collect(), radius })
}

impl Neighbours {
    /// At most `most` neighbours, the nearest first; of equally distant jobs the one that started last comes first.
    pub fn nearest(&self, most: usize) -> Vec<Neighbour> {
        let mut nearest = self.all.clone();
        nearest.sort_by(|a, b| a.distance.total_cmp(&b.distance).then(b.at.cmp(&a.at)));
        nearest.truncate(most);
        nearest
    }

    /// The mean of their waits in seconds, weighted by inverse distance (Kumar and Vadhiyar, Equation 1).
    pub fn weighted_average(&self, window: &HistoryWindow<'_>) -> f64 {
        weighted_average(&self.all, window)
    }
}

/// If there are jobs at distance 0, where the weight would be infinite, the result is the mean of their waits alone.
pub(super) fn weighted_average(neighbours: &[Neighbour], window: &HistoryWindow<'_>) -> f64 {
    let waits = window.waits();
    let (mut weights, mut sum) = (0.0, 0.0);
    let (mut equals, mut equal_waits) = (0u64, 0i128);
    let (mut low, mut high) = (f64::INFINITY, 0.0f64);
    for &Neighbour { at, distance } in neighbours {
        if distance == 0.0 {
            equals += 1;
            equal_waits += i128::from(waits[at]);
        } else {
            let wait = waits[at] as f64;
            weights += 1.0 / distance;
            sum += wait / distance;
            (low, high) = (low.min(wait), high.max(wait));
        }
    }
    match equals {
        // Rounding must not move an average out of the range of its values: equal waits of one hour give one hour.
        0 => (sum / weights).max(low).min(high),
        _ => equal_waits as f64 / equals as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{JobId, Submission};
    use crate::rng::stream;
    use crate::wait::history::{HistoryJob, WaitHistory};
    use rand::RngExt;

    fn history(rows: &[(Features, i64)]) -> WaitHistory {
        let mut history = WaitHistory::of_all();
        for (at, &(features, wait)) in rows.iter().enumerate() {
            let job = Submission::new(0, 1, 1);
            history.push(&HistoryJob { id: JobId(at as u32), job, features }, wait);
        }
        history
    }

    /// All features the same number.
    fn flat(value: f64) -> Features {
        [value; FEATURES]
    }

    /// The distance of two jobs, by its definition.
    fn between(how: Distance, x: &Features, y: &Features) -> f64 {
        match how {
            Distance::Mean => x.iter().zip(y).map(|(&x, &y)| relative(x, y)).sum::<f64>() / FEATURES as f64,
            Distance::Sum => {
                let apart: f64 = x.iter().zip(y).map(|(x, y)| (x - y).abs()).sum();
                quotient(apart, x.iter().sum::<f64>() + y.iter().sum::<f64>())
            }
        }
    }

    #[test]
    fn distances_lie_between_0_and_1_and_are_symmetric() {
        let mut rng = stream(1, "distances");
        let mut draw = || -> Features {
            let scale = 10f64.powi(rng.random_range(0..9));
            std::array::from_fn(|_| if rng.random_bool(0.3) { 0.0 } else { (rng.random::<f64>() * scale).floor() })
        };
        let rows: Vec<(Features, i64)> = (0..2000).map(|_| (draw(), 0)).collect();
        let history = history(&rows);
        let window = history.window(2000, 1500);
        for how in [Distance::Mean, Distance::Sum] {
            for _ in 0..20 {
                let target = draw();
                for (at, found) in how.to_each(&target, &window).into_iter().enumerate() {
                    let other = rows[500 + at].0;
                    assert_eq!(found, between(how, &target, &other), "the fast sums equal the definition");
                    assert_eq!(found, between(how, &other, &target));
                    assert!((0.0..=1.0).contains(&found));
                }
                assert_eq!(between(how, &target, &target), 0.0);
            }
            assert_eq!(between(how, &flat(0.0), &flat(0.0)), 0.0);
            assert_eq!(between(how, &flat(0.0), &flat(7.0)), 1.0);
            // |3 - 1| / (3 + 1) in each.
            assert_eq!(between(how, &flat(3.0), &flat(1.0)), 0.5);
        }
    }

    /// Three features differ: 3 and 1 by 1/2, 0 and 5 by 1, 1000 and 3000 by 1/2. All others are 0.
    #[test]
    fn distances_by_hand() {
        let (mut x, mut y) = (flat(0.0), flat(0.0));
        (x[0], x[7], x[18]) = (3.0, 0.0, 1000.0);
        (y[0], y[7], y[18]) = (1.0, 5.0, 3000.0);
        assert_eq!(between(Distance::Mean, &x, &y), (0.5 + 1.0 + 0.5) / 19.0);
        assert_eq!(between(Distance::Sum, &x, &y), 2007.0 / 4009.0);
    }

    #[test]
    fn k_grows_until_there_is_a_neighbour() {
        // From 100: 110 is 10/210 = 0.048 away, 120 is 0.091, 125 is 0.111, 300 is 0.5.
        let find = |values: &[f64]| {
            let rows: Vec<_> = values.iter().map(|&value| (flat(value), 60)).collect();
            let history = history(&rows);
            let found = neighbours(&flat(100.0), &history.window(rows.len(), 5000), Distance::Mean);
            found.map(|found| (found.radius, found.all.iter().map(|one| one.at).collect::<Vec<_>>()))
        };
        assert_eq!(find(&[110.0, 120.0, 125.0, 300.0, 95.0]), Some((0.05, vec![0, 4])));
        assert_eq!(find(&[120.0, 125.0, 300.0]), Some((0.1, vec![0])));
        assert_eq!(find(&[125.0, 300.0, 126.0]), Some((0.15, vec![0, 2])));
        assert_eq!(find(&[300.0]), Some((0.5, vec![0])), "just within");
        assert_eq!(find(&[0.0]), Some((1.0, vec![0])));
        assert_eq!(find(&[]), None);
    }

    #[test]
    fn nearer_jobs_weigh_more_and_equal_jobs_decide_alone() {
        let point = |rows: &[(f64, i64)]| {
            let rows: Vec<_> = rows.iter().map(|&(value, wait)| (flat(value), wait)).collect();
            let history = history(&rows);
            let window = history.window(rows.len(), 5000);
            neighbours(&flat(100.0), &window, Distance::Mean).unwrap().weighted_average(&window)
        };
        // 10/210 and 5/205 away: weights 21 and 41.
        let expected = (21.0 * 600.0 + 41.0 * 60.0) / 62.0;
        assert!((point(&[(110.0, 600), (105.0, 60)]) - expected).abs() < 1e-9);
        assert_eq!(point(&[(110.0, 600), (100.0, 60), (100.0, 90)]), 75.0);
        let rows = [(flat(110.0), 1), (flat(100.0), 2), (flat(100.0), 3), (flat(101.0), 4)];
        let history = history(&rows);
        let nearest = neighbours(&flat(100.0), &history.window(4, 5000), Distance::Mean).unwrap().nearest(3);
        assert_eq!(nearest.iter().map(|one| one.at).collect::<Vec<_>>(), [2, 1, 3]);
    }
}
