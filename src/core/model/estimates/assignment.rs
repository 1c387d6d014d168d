//! Assigns given estimates to jobs, so that each is at least the job's runtime (Tsafrir et al., section 11.2).

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::Assignment;
use crate::sort::{sort_by, sort_by_key};
use crate::time::Seconds;

/// Assigns as many estimates as runtimes at random, so that every estimate is at least its job's runtime, if possible. The
/// longest job is assigned first, uniformly among the estimates that are long enough.
///
/// An estimate that is long enough for a job is long enough for all shorter jobs, so every choice leaves a solution for
/// the rest: it succeeds whenever any assignment does, in one pass over two sorted lists. Runtimes above the largest
/// estimate count as that, and are counted in `cut`. If no estimate left is long enough, the job gets the largest one left,
/// and is counted in `short`.
pub fn assign_longest_first(runtimes: &[Seconds], mut estimates: Vec<Seconds>, rng: &mut ChaCha8Rng) -> Assignment {
    assert_eq!(runtimes.len(), estimates.len(), "an estimate for each job");
    sort_by(&mut estimates, |a, b| b.cmp(a));
    let largest = estimates.first().copied().unwrap_or(0);
    let mut order: Vec<usize> = (0..runtimes.len()).collect();
    // A stable sort, so that the assignment is the same on every platform.
    sort_by_key(&mut order, |&job| std::cmp::Reverse(runtimes[job]));

    let mut assignment = Assignment { estimates: vec![0; runtimes.len()], cut: 0, short: 0 };
    let (mut long_enough, mut next) = (Vec::new(), 0);
    for job in order {
        let runtime = runtimes[job].min(largest);
        assignment.cut += u64::from(runtimes[job] > largest);
        while next < estimates.len() && estimates[next] >= runtime {
            long_enough.push(estimates[next]);
            next += 1;
        }
        assignment.estimates[job] = if long_enough.is_empty() {
            assignment.short += 1;
            next += 1;
            estimates[next - 1]
        } else {
            long_enough.swap_remove(rng.random_range(0..long_enough.len()))
        };
    }
    assignment
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::rng::random_cases;
    use crate::rng::stream;

    fn assign(runtimes: &[Seconds], estimates: &[Seconds], seed: u64) -> Assignment {
        assign_longest_first(runtimes, estimates.to_vec(), &mut stream(seed, "test"))
    }

    /// All ways of handing estimates out, each as often as there are ways to it.
    fn permutations(estimates: &[Seconds]) -> Vec<Vec<Seconds>> {
        if estimates.is_empty() {
            return vec![vec![]];
        }
        let mut all = Vec::new();
        for at in 0..estimates.len() {
            let mut rest = estimates.to_vec();
            let first = rest.remove(at);
            all.extend(permutations(&rest).into_iter().map(|rest| [vec![first], rest].concat()));
        }
        all
    }

    fn fits(runtimes: &[Seconds], estimates: &[Seconds]) -> bool {
        runtimes.iter().zip(estimates).all(|(runtime, estimate)| estimate >= runtime)
    }

    proptest! {
        #![proptest_config(random_cases(2000))]

        /// Against every permutation there is.
        #[test]
        fn it_succeeds_whenever_an_assignment_exists(
            pairs in vec((1i64..8, 1i64..8), 1..7),
            seed in 0u64..1000,
        ) {
            let (runtimes, estimates): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
            let assigned = assign(&runtimes, &estimates, seed);
            let (mut before, mut after) = (estimates.clone(), assigned.estimates.clone());
            before.sort_unstable();
            after.sort_unstable();
            prop_assert_eq!(before, after);
            let largest = estimates.iter().copied().max().unwrap();
            let cut: Vec<_> = runtimes.iter().map(|&runtime| runtime.min(largest)).collect();
            let possible = permutations(&estimates).iter().any(|way| fits(&cut, way));
            prop_assert_eq!(fits(&cut, &assigned.estimates), possible);
            prop_assert_eq!(assigned.short == 0, possible);
            prop_assert_eq!(assigned.cut as usize, runtimes.iter().filter(|&&runtime| runtime > largest).count());
            // A job is short exactly if what it has does not reach it.
            let outlived = cut.iter().zip(&assigned.estimates).filter(|(runtime, estimate)| estimate < runtime).count();
            prop_assert_eq!(assigned.short as usize, outlived);
        }
    }

    /// All assignments that fit are equally likely: the longest job has the same number of ways whatever it takes.
    #[test]
    fn every_assignment_that_fits_is_equally_likely() {
        let (runtimes, estimates) = ([5, 1, 3, 8], [9, 4, 6, 8]);
        let ways: Vec<_> = permutations(&estimates).into_iter().filter(|way| fits(&runtimes, way)).collect();
        assert_eq!(ways.len(), 2 * 2 * 2);
        let draws: Vec<_> = (0..8000).map(|seed| assign(&runtimes, &estimates, seed).estimates).collect();
        for way in ways {
            let found = draws.iter().filter(|draw| **draw == way).count();
            // 1000 expected, with a standard deviation of 30.
            assert!((880..=1120).contains(&found), "{way:?} {found} times");
        }
    }

    #[test]
    fn a_hand_worked_example() {
        // 20 counts as 10 and takes it; nothing reaches 9, which takes 7, the largest left; 7 is left with 2.
        let assigned = assign(&[7, 20, 9], &[2, 10, 7], 1);
        assert_eq!(assigned, Assignment { estimates: vec![2, 10, 7], cut: 1, short: 2 });
        assert_eq!(assign(&[], &[], 1), Assignment::default());
    }
}
