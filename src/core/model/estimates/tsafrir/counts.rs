//! Converts percentages to numbers of jobs with the correct sum.

use crate::model::estimates::Mode;
use crate::sort::{sort_by, sort_by_key};
use crate::time::Seconds;

/// An estimate and its percentage of the jobs.
#[derive(Clone, Copy, Debug)]
pub struct Bin {
    pub time: Seconds,
    pub percent: f64,
    /// The percentage was given by the user: it is met to the nearest job, before all others.
    pub is_given: bool,
}

/// The number of jobs of each estimate, the shortest first.
///
/// Given percentages are met first. The other bins share the rest of the jobs in proportion, by largest remainders, with at
/// least one job each. If there are too few jobs, the most popular bins get them. Bins of 0% are left out.
pub fn of_jobs(bins: &[Bin], jobs: u64) -> Vec<Mode> {
    let mut left = jobs;
    let mut modes: Vec<Mode> = Vec::new();
    for bin in bins.iter().filter(|bin| bin.is_given) {
        let given = ((bin.percent / 100.0 * jobs as f64).round() as u64).min(left);
        left -= given;
        modes.push(Mode { estimate: bin.time, jobs: given });
    }
    let mut others: Vec<&Bin> = bins.iter().filter(|bin| !bin.is_given && bin.percent > 0.0).collect();
    // A stable sort: equal bins keep their order.
    sort_by(&mut others, |a, b| b.percent.total_cmp(&a.percent));
    others.truncate(left as usize);
    if others.is_empty() {
        // The largest bin gets the rest, because there are no other bins.
        match modes.iter_mut().max_by_key(|mode| mode.jobs) {
            Some(largest) => largest.jobs += left,
            None => return Vec::new(),
        }
    }
    let shares = share_out(&others.iter().map(|bin| bin.percent).collect::<Vec<_>>(), left);
    modes.extend(others.iter().zip(shares).map(|(bin, jobs)| Mode { estimate: bin.time, jobs }));
    modes.retain(|mode| mode.jobs > 0);
    sort_by_key(&mut modes, |mode| mode.estimate);
    modes
}

/// Splits a number in proportion to descending weights, at least 1 each. The number must be at least that of the weights.
fn share_out(weights: &[f64], all: u64) -> Vec<u64> {
    // Weights that would get less than 1 get 1, and the others share the rest. This may make another one too small, so the
    // loop goes on from the smallest weight to larger ones.
    let (mut left, mut rest): (u64, f64) = (all, weights.iter().sum());
    let mut large = weights.len();
    while large > 1 && weights[large - 1] / rest * (left as f64) < 1.0 {
        large -= 1;
        left -= 1;
        rest -= weights[large];
    }
    let exact: Vec<f64> = weights[..large].iter().map(|weight| weight / rest * left as f64).collect();
    let mut shares: Vec<u64> = exact.iter().map(|share| share.floor() as u64).collect();
    let mut order: Vec<usize> = (0..large).collect();
    sort_by(&mut order, |&a, &b| exact[b].fract().total_cmp(&exact[a].fract()));
    // The fractions add up to less than one per share. If rounding errors change that, the first share gets the difference.
    let missing = left.saturating_sub(shares.iter().sum());
    order.iter().take(missing as usize).for_each(|&at| shares[at] += 1);
    if let [first, others @ ..] = &mut shares[..] {
        *first = left - others.iter().sum::<u64>();
    }
    shares.resize(weights.len(), 1);
    shares
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::rng::random_cases;

    fn bins(list: &[(Seconds, f64, bool)]) -> Vec<Bin> {
        list.iter().map(|&(time, percent, is_given)| Bin { time, percent, is_given }).collect()
    }

    fn jobs(list: &[(Seconds, f64, bool)], jobs: u64) -> Vec<(Seconds, u64)> {
        of_jobs(&bins(list), jobs).iter().map(|mode| (mode.estimate, mode.jobs)).collect()
    }

    #[test]
    fn small_examples() {
        // 33.4 and 33.3 of 10 jobs: 3.34, 3.33, 3.33, and the largest remainder has the tenth.
        assert_eq!(jobs(&[(3, 33.3, false), (1, 33.4, false), (2, 33.3, false)], 10), [(1, 4), (2, 3), (3, 3)]);
        // What is given is met to the nearest job; a tiny one still has a job.
        assert_eq!(jobs(&[(1, 50.0, true), (2, 49.9, false), (3, 0.1, false)], 9), [(1, 5), (2, 3), (3, 1)]);
        // Fewer jobs than modes: the most popular; 0% is no mode.
        assert_eq!(jobs(&[(1, 10.0, false), (2, 60.0, false), (3, 30.0, false)], 2), [(2, 1), (3, 1)]);
        assert_eq!(jobs(&[(1, 100.0, true), (2, 0.0, false)], 5), [(1, 5)]);
        assert_eq!(jobs(&[(1, 30.0, true)], 5), [(1, 5)]);
        assert_eq!(jobs(&[(1, 50.0, true), (2, 50.0, true)], 1), [(1, 1)]);
    }

    proptest! {
        #![proptest_config(random_cases(256))]

        #[test]
        fn the_jobs_add_up_and_nobody_is_far_from_its_share(
            weights in vec(0.001f64..50.0, 1..40),
            more in 0u64..5000,
        ) {
            let mut weights = weights;
            weights.sort_by(|a, b| b.total_cmp(a));
            let all = weights.len() as u64 + more;
            let shares = share_out(&weights, all);
            prop_assert_eq!(shares.iter().sum::<u64>(), all);
            prop_assert!(shares.iter().all(|&share| share >= 1));
            let sum: f64 = weights.iter().sum();
            for (weight, share) in weights.iter().zip(&shares) {
                let exact = weight / sum * all as f64;
                // No more than one above; below only what those that have less than one lend from the others.
                prop_assert!(*share as f64 <= exact.max(0.0) + 1.0);
            }
        }
    }
}
