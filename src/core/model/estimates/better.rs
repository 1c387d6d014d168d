//! Better estimates, or worse ones: the log's own, nearer to the runtimes by a factor.

use std::collections::BTreeSet;

use rand::seq::SliceRandom;

use super::{Assignment, Sample, Seeds, largest_estimate, no_estimates};
use crate::rng::stream;
use crate::spec::{Form, Key, Kind, Spec};
use crate::time::{FOREVER, MINUTE, Seconds};

const FACTOR: Kind = Kind::Real { what: "a number from 0 to 1000", fits: |factor| (0.0..=1e3).contains(&factor) };

/// All users: nobody is drawn.
const ALL: f64 = 1.0;

const SHARE: Kind =
    Kind::Real { what: "a number above 0, at most 1", fits: |share| share > 0.0 && (0.0..=ALL).contains(&share) };

pub static FORM: Form = Form {
    name: "better",
    about: "the log's own estimates, their errors times a factor, up to a whole minute; needs a log that has estimates",
    keys: &[
        Key { name: "factor", kind: FACTOR, default: "0.5", about: "0 is the runtime, 1 the estimate, 2 is worse" },
        Key { name: "share", kind: SHARE, default: "1", about: "only this share of the users, drawn by the seed" },
    ],
};

/// Whether users are drawn.
pub fn is_random(spec: &Spec) -> bool {
    spec.real("share") < ALL
}

/// A job without an estimate counts with the log's largest one. The estimates of users who were not drawn stay. Those that are
/// below the runtime are counted in `short`.
pub fn assign(spec: &Spec, jobs: &[Sample], seeds: Seeds) -> Result<Assignment, String> {
    let largest = largest_estimate(jobs).ok_or_else(|| no_estimates("better"))?;
    let (factor, drawn) = (spec.real("factor"), is_random(spec).then(|| draw(spec.real("share"), jobs, seeds)));
    let estimate = |job: &Sample| {
        let old = job.estimate.unwrap_or(largest);
        if drawn.as_ref().is_some_and(|drawn| !drawn.contains(&job.user)) {
            return old;
        }
        let wanted = job.runtime as f64 + factor * (old - job.runtime) as f64;
        let minutes = (wanted.min(FOREVER as f64) / MINUTE as f64).ceil() as Seconds;
        (minutes * MINUTE).max(job.runtime)
    };
    let estimates: Vec<Seconds> = jobs.iter().map(estimate).collect();
    let short = jobs.iter().zip(&estimates).filter(|(job, estimate)| **estimate < job.runtime).count() as u64;
    Ok(Assignment { estimates, cut: 0, short })
}

/// This share of the users, at least one. The blocks of a long log have the same.
fn draw(share: f64, jobs: &[Sample], seeds: Seeds) -> BTreeSet<i32> {
    let mut users: Vec<i32> = jobs.iter().map(|job| job.user).collect::<BTreeSet<_>>().into_iter().collect();
    users.shuffle(&mut stream(seeds.distribution, "estimates better"));
    users.truncate(((share * users.len() as f64).round() as usize).max(1));
    users.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::estimates::EstimateModel;

    fn assigned(model: &str, jobs: &[(i32, i64, Option<i64>)], seed: u64) -> Assignment {
        let sample = |&(user, runtime, estimate): &(i32, i64, Option<i64>)| Sample { runtime, estimate, user };
        let samples: Vec<Sample> = jobs.iter().map(sample).collect();
        EstimateModel::parse(model).unwrap().assign(&samples, seed).unwrap()
    }

    #[test]
    fn errors_are_multiplied_and_rounded_up_to_a_minute() {
        let jobs = [(1, 100, Some(3600)), (1, 61, Some(60)), (2, 50, None), (2, 60, Some(120))];
        // 100 + 3500 / 2 = 1850 is within minute 31, 61 - 1 / 2 within minute 2; nothing is below the runtime; without an estimate
        // 3600 counts.
        assert_eq!(assigned("better", &jobs, 1).estimates, [1860, 120, 1860, 120]);
        assert_eq!(assigned("better:factor=0", &jobs, 1).estimates, [120, 120, 60, 60]);
        assert_eq!(assigned("better:factor=2", &jobs, 1).estimates, [7140, 61, 7200, 180]);
        assert_eq!(assigned("better", &jobs, 1).short, 0);
    }

    #[test]
    fn a_share_of_the_users_is_drawn_by_the_seed_and_the_others_keep_theirs() {
        let jobs: Vec<(i32, i64, Option<i64>)> = (0..400).map(|at| (at % 40, 600, Some(3600))).collect();
        let better = |seed| {
            let estimates = assigned("better:share=0.3", &jobs, seed).estimates;
            let is_better = |estimate: i64| match estimate {
                2100 => true,
                3600 => false,
                other => panic!("{other}"),
            };
            let users: Vec<bool> = estimates.into_iter().map(is_better).collect();
            assert!(users.iter().enumerate().all(|(at, better)| *better == users[at % 40]), "all jobs of a user");
            users[..40].to_vec()
        };
        assert_eq!(better(1).iter().filter(|better| **better).count(), 12);
        assert!(better(1) == better(1) && better(1) != better(2));
        // An estimate below the runtime stays too, and is counted.
        let late = assigned("better:share=0.5", &[(1, 700, Some(600)), (2, 700, Some(600))], 1);
        assert_eq!((late.estimates.iter().filter(|estimate| **estimate == 600).count(), late.short), (1, 1));
    }
}
