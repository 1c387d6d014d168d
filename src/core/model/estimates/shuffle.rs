//! Shuffling: assigns the log's own estimates at random, which keeps only their distribution (Tsafrir et al., section 11.2,
//! the "random shuffle algorithm").

use rand::seq::IndexedRandom;

use super::assignment::assign_longest_first;
use super::{Assignment, Sample, Seeds, no_estimates};
use crate::rng::stream;
use crate::spec::{Form, Spec};
use crate::time::Seconds;

pub static FORM: Form = Form {
    name: "shuffle",
    about: "the log's own estimates assigned at random, none below its runtime; needs a log that has estimates",
    keys: &[],
};

/// For jobs without an estimate, additional ones are drawn from the known estimates. If all estimates are shorter than a
/// job, it is counted in `cut`; if no long enough one is left, in `short`.
pub fn assign(_: &Spec, jobs: &[Sample], seeds: Seeds) -> Result<Assignment, String> {
    let known: Vec<Seconds> = jobs.iter().filter_map(|job| job.estimate).collect();
    let mut rng = stream(seeds.draws, "estimates shuffle");
    let mut estimates = known.clone();
    for _ in known.len()..jobs.len() {
        estimates.push(*known.choose(&mut rng).ok_or_else(|| no_estimates("shuffle"))?);
    }
    let runtimes: Vec<Seconds> = jobs.iter().map(|job| job.runtime).collect();
    Ok(assign_longest_first(&runtimes, estimates, &mut rng))
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::model::EstimateModel;
    use crate::rng::random_cases;

    fn shuffled(jobs: &[Sample], seed: u64) -> Assignment {
        EstimateModel::parse("shuffle").unwrap().assign(jobs, seed).unwrap()
    }

    proptest! {
        #![proptest_config(random_cases(256))]

        #[test]
        fn the_multiset_stays_and_no_estimate_is_below_its_runtime(
            pairs in vec((1i64..500, 0i64..500), 1..200),
            seed in 0u64..1000,
        ) {
            let jobs: Vec<_> = pairs.iter().map(|&(runtime, more)| Sample { runtime, estimate: Some(runtime + more), user: -1 }).collect();
            let assigned = shuffled(&jobs, seed);
            prop_assert_eq!((assigned.cut, assigned.short), (0, 0));
            prop_assert!(jobs.iter().zip(&assigned.estimates).all(|(job, &estimate)| estimate >= job.runtime));
            let (mut before, mut after): (Vec<_>, _) = (jobs.iter().filter_map(|job| job.estimate).collect(), assigned.estimates);
            before.sort_unstable();
            after.sort_unstable();
            prop_assert_eq!(before, after);
        }
    }

    #[test]
    fn jobs_without_an_estimate_draw_from_those_there_are() {
        let job = |runtime, estimate| Sample { runtime, estimate, user: -1 };
        let mut jobs = vec![job(5, Some(60)), job(5, Some(600))];
        jobs.resize(1000, job(7, None));
        let estimates = shuffled(&jobs, 1).estimates;
        let short = estimates.iter().filter(|&&estimate| estimate == 60).count();
        assert!(
            (400..600).contains(&short) && estimates.iter().all(|estimate| [60, 600].contains(estimate)),
            "{short}"
        );
    }

    #[test]
    fn jobs_that_outlive_their_estimates_are_counted() {
        let jobs = [(100, 60), (50, 60), (30, 40), (35, 30)].map(|(runtime, estimate)| (runtime, Some(estimate)));
        let jobs = jobs.map(|(runtime, estimate)| Sample { runtime, estimate, user: -1 });
        // 100 counts as 60; 50 takes the other 60; 35 takes 40; 30 takes 30: a way out for the one that overran.
        for seed in 0..10 {
            assert_eq!(shuffled(&jobs, seed), Assignment { estimates: vec![60, 60, 30, 40], cut: 1, short: 0 });
        }
        let jobs =
            [(100, 60), (50, 40)].map(|(runtime, estimate)| Sample { runtime, estimate: Some(estimate), user: -1 });
        assert_eq!(shuffled(&jobs, 1), Assignment { estimates: vec![60, 40], cut: 1, short: 1 });
    }
}
