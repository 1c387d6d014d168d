//! The model of Mu'alem and Feitelson, also called the phi-model. It models the accuracy, which is runtime / estimate: in
//! logs it is nearly uniform, with a peak at 100% and a hump near 0 (Tsafrir et al., section 1.2).

use rand::RngExt;

use super::{Assignment, Sample, Seeds};
use crate::rng::stream;
use crate::spec::{Form, Key, Kind, Spec};
use crate::time::Seconds;

pub static FORM: Form = Form {
    name: "feit",
    about: "the runtime divided by a uniformly drawn accuracy, with many exact estimates and many quick failures",
    keys: &[
        Key::new("peak", Kind::FROM_0_TO_1, "0.1", "the share of the jobs whose estimate is their runtime"),
        Key {
            name: "hump",
            kind: Kind::FROM_0_TO_1,
            default: "0.1",
            about: "the share of the jobs, all of them under 90 seconds, that use 5% of their estimate at most",
        },
        Key::duration("max", 1, "1d", "longer estimates are cut to this"),
    ],
};

/// The jobs of the hump are shorter than this ("less than 90 seconds", Tsafrir et al., section 1).
const FAILED: Seconds = 90;

/// Their accuracy is at most this.
const HUMP: f64 = 0.05;

pub fn check(spec: &Spec) -> Result<(), String> {
    match spec.real("peak") + spec.real("hump") {
        sum if sum > 1.0 => Err(format!("peak and hump are {sum} of the jobs together, more than all of them")),
        _ => Ok(()),
    }
}

/// Both shares are shares of all jobs. The jobs of the hump are drawn among the short jobs (if there are too few, all of
/// them are in it), the jobs of the peak among the others.
pub fn assign(spec: &Spec, jobs: &[Sample], seeds: Seeds) -> Result<Assignment, String> {
    let (peak, hump, max) = (spec.real("peak"), spec.real("hump"), spec.duration("max"));
    let is_short = |job: &Sample| job.runtime < FAILED;
    let short = jobs.iter().filter(|job| is_short(job)).count() as f64 / jobs.len() as f64;
    let in_hump = hump.min(short);
    let hump_of_short = if short > 0.0 { in_hump / short } else { 0.0 };
    let peak_of_others = if in_hump < 1.0 { peak / (1.0 - in_hump) } else { 0.0 };
    let mut rng = stream(seeds.draws, "estimates feit");
    let mut estimate = |job: &Sample| {
        // Always three draws per job, so that the numbers of a job do not depend on the jobs before it.
        let [failed, exact, accuracy]: [f64; 3] = rng.random();
        // In (0, 1].
        let accuracy = 1.0 - accuracy;
        let accuracy = match () {
            () if is_short(job) && failed < hump_of_short => accuracy * HUMP,
            () if exact < peak_of_others => 1.0,
            () => accuracy,
        };
        // The quotient may be very large; the cast to an integer saturates.
        let estimate = (job.runtime as f64 / accuracy).ceil() as Seconds;
        estimate.min(max).max(job.runtime)
    };
    Ok(Assignment { estimates: jobs.iter().map(&mut estimate).collect(), ..Assignment::default() })
}

#[cfg(test)]
mod tests {
    use crate::model::estimates::{EstimateModel, Sample};

    /// Half of the jobs run for a minute, half for 10,000 seconds.
    fn accuracies(spec: &str) -> Vec<(i64, i64)> {
        let job =
            |at: usize| Sample { runtime: if at.is_multiple_of(2) { 60 } else { 10_000 }, estimate: None, user: -1 };
        let jobs: Vec<_> = (0..40_000).map(job).collect();
        let estimates = EstimateModel::parse(spec).unwrap().assign(&jobs, 3).unwrap().estimates;
        jobs.iter().zip(estimates).map(|(job, estimate)| (job.runtime, estimate)).collect()
    }

    /// Within four standard deviations of a share of 40,000 draws.
    fn assert_share(found: usize, expected: f64) {
        let share = found as f64 / 40_000.0;
        assert!((share - expected).abs() < 4.0 * (expected * (1.0 - expected) / 40_000.0).sqrt(), "{share} {expected}");
    }

    #[test]
    fn the_shares_are_shares_of_all_jobs() {
        let pairs = accuracies("feit:peak=0.2,hump=0.3,max=2000d");
        let accuracy = |&(runtime, estimate): &(i64, i64)| runtime as f64 / estimate as f64;
        // Of the other half of the jobs a twentieth has an accuracy of 5% or less, and hardly one of exactly 1.
        assert_share(pairs.iter().filter(|pair| accuracy(pair) <= 0.05).count(), 0.3 + 0.5 * 0.05);
        // Rounding up takes the accuracies of minute jobs above 60/61 to 1: a share of them of 1/61.
        let short_others = 0.5 - 0.3;
        let rounded = short_others * (1.0 - 0.2 / 0.7) / 61.0 + 0.5 * (1.0 - 0.2 / 0.7) / 10_001.0;
        assert_share(pairs.iter().filter(|(runtime, estimate)| runtime == estimate).count(), 0.2 + rounded);
        // Long jobs never fail at once: those of them that are no peak are uniform.
        let long: Vec<_> = pairs.iter().filter(|(runtime, _)| *runtime == 10_000).collect();
        let half = long.iter().filter(|pair| accuracy(pair) <= 0.5).count();
        assert_share(half, 0.5 * (1.0 - 0.2 / 0.7) / 2.0);
    }

    #[test]
    fn estimates_are_cut_but_never_below_the_runtime() {
        let pairs = accuracies("feit:peak=0,hump=1,max=2h");
        assert!(pairs.iter().all(|&(runtime, estimate)| estimate == 10_000 || (runtime == 60 && estimate <= 7200)));
        // More hump than short jobs: they are all in it.
        let short = |pair: &&(i64, i64)| pair.0 == 60;
        assert!(pairs.iter().filter(short).all(|(_, estimate)| *estimate >= 1200));
        assert!(pairs.iter().any(|&(_, estimate)| estimate == 7200));
    }
}
