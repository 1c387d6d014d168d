//! Tests of the whole model against the statements of the paper.

use super::*;
use crate::model::{EstimateModel, Modes};

/// Jobs with log-uniform runtimes up to `longest`, most of them far shorter than any estimate.
fn jobs(count: usize, longest: Seconds) -> Vec<Sample> {
    use rand::RngExt;
    let mut rng = stream(1, "test runtimes");
    let runtime = |_| libm::pow(longest as f64, rng.random::<f64>()) as Seconds;
    (0..count).map(runtime).map(|runtime| Sample { runtime, estimate: None }).collect()
}

fn assigned(spec: &str, jobs: &[Sample], seed: u64) -> Assignment {
    EstimateModel::parse(spec).unwrap().assign(jobs, seed).unwrap()
}

fn close(found: f64, expected: f64, by: f64) -> bool {
    (found - expected).abs() <= by
}

#[test]
fn the_invariants_of_the_default_model() {
    let jobs = jobs(77_222, 12 * HOUR);
    for seed in 0..5 {
        let assignment = assigned("tsafrir:tmax=18h", &jobs, seed);
        assert_eq!((assignment.cut, assignment.short), (0, 0));
        assert!(jobs.iter().zip(&assignment.estimates).all(|(job, &estimate)| estimate >= job.runtime));
        assert!(assignment.estimates.iter().all(|estimate| estimate % MINUTE == 0 && *estimate > 0));
        let modes = Modes::of(assignment.estimates);
        // K of 77,222 jobs; the head holds 89%; the longest is the most popular.
        assert_eq!((modes.count(), modes.tmax()), (349, Some(18 * HOUR)));
        assert!(close(modes.percent_in_head(), 89.0, 0.1), "{}", modes.percent_in_head());
        assert_eq!(modes.by_popularity()[0].estimate, 18 * HOUR);
        assert!(close(modes.percent_at_tmax(), 21.73, 0.05), "{}", modes.percent_at_tmax());
        // Table 2: "a bit more than 20 head bins are enough to account for 90% of the jobs in all four logs"; half of
        // the jobs use 3 to 6 values, three quarters 8 to 12.
        assert!((20..=24).contains(&modes.covering(90.0)), "{}", modes.covering(90.0));
        assert!((3..=6).contains(&modes.covering(50.0)) && (8..=12).contains(&modes.covering(75.0)));
        // Every head time has a size of the head.
        let mut head: Vec<_> = modes.head().iter().map(|mode| mode.estimate).collect();
        head.sort_unstable();
        let mut expected = times::head(18 * HOUR, HEAD);
        expected.sort_unstable();
        assert_eq!(head, expected);
    }
}

/// The estimates have the parameters that were given to the model.
#[test]
fn what_is_given_comes_back() {
    let jobs = jobs(20_000, HOUR);
    let k = |alpha: f64, beta: f64| (alpha * libm::pow(20_000.0, beta)).round() as usize;
    for (spec, tmax, at_tmax, count) in [
        ("tsafrir:tmax=18h,at-tmax=23.8", 18 * HOUR, 23.8, 132),
        ("tsafrir:tmax=18h,at-tmax=9.8", 18 * HOUR, 9.8, 132),
        ("tsafrir:tmax=4h,at-tmax=12.5,pairs=5m:25", 4 * HOUR, 12.5, 132),
        ("tsafrir:tmax=36h,at-tmax=1,pairs=2h:27/15m:16/30m:18", 36 * HOUR, 1.0, 132),
        ("tsafrir:tmax=36h,pairs=2h:27/36h:1", 36 * HOUR, 1.0, 132),
        ("tsafrir:tmax=60h,at-tmax=60,alpha=1.1,beta=0.5", 60 * HOUR, 60.0, k(1.1, 0.5)),
        ("tsafrir:tmax=60h,at-tmax=5,alpha=1.25", 60 * HOUR, 5.0, k(1.25, 0.547761)),
        ("tsafrir:tmax=60h,at-tmax=5,beta=0.4", 60 * HOUR, 5.0, k(0.653566, 0.4)),
    ] {
        let modes = Modes::of(assigned(spec, &jobs, 3).estimates);
        assert_eq!((modes.tmax(), modes.count()), (Some(tmax), count), "{spec}");
        assert!(close(modes.percent_at_tmax(), at_tmax, 1e-9), "{spec}: {}", modes.percent_at_tmax());
        // Where the longest takes most of the head, the smallest of it are no larger than the largest of the tail.
        assert!(
            close(modes.percent_in_head(), 89.0, if at_tmax > 50.0 { 0.7 } else { 0.3 }),
            "{spec}: {}",
            modes.percent_in_head()
        );
    }
    let modes = Modes::of(assigned("tsafrir:tmax=36h,at-tmax=1,pairs=2h:27/15m:16/30m:18", &jobs, 3).estimates);
    assert_eq!([120, 15, 30].map(|minutes| modes.percent_at(minutes * MINUTE)), [27.0, 16.0, 18.0]);
    assert_eq!(modes.by_popularity()[0].estimate, 2 * HOUR);
}

#[test]
fn given_sizes_of_more_than_the_head_leave_the_tail_the_rest() {
    let modes = Modes::of(assigned("tsafrir:tmax=18h,at-tmax=50,pairs=1h:45", &jobs(20_000, HOUR), 1).estimates);
    assert_eq!((modes.percent_at_tmax(), modes.percent_at(HOUR)), (50.0, 45.0));
    // The 18 others of the head have nothing; the 112 of the tail share 5%.
    assert_eq!(modes.count(), 132 - 18);
    let all = Modes::of(assigned("tsafrir:tmax=18h,at-tmax=100", &jobs(1000, HOUR), 1).estimates);
    assert_eq!((all.count(), all.tmax()), (1, Some(18 * HOUR)));
}

#[test]
fn the_longest_estimate_is_the_logs_own_unless_it_is_given() {
    let job = |runtime, estimate| Sample { runtime, estimate };
    let longest = |jobs: &[Sample]| assigned("tsafrir:at-tmax=50", jobs, 1).estimates.into_iter().max();
    // The largest estimate in whole minutes; without any the longest runtime in whole hours.
    assert_eq!(longest(&[job(5, Some(7000)), job(5, None), job(9000, Some(1))]), Some(7020));
    assert_eq!(longest(&[job(5, None), job(3601, None), job(7, None)]), Some(2 * HOUR));
    let error = EstimateModel::parse("tsafrir:pairs=3h:5").unwrap().assign(&[job(5, Some(3600))], 1).unwrap_err();
    assert_eq!(error, "pairs: 3h is longer than tmax, 1h");
}

#[test]
fn runtimes_beyond_the_longest_estimate_are_cut_and_too_many_long_ones_counted() {
    let mut jobs = jobs(1000, HOUR);
    jobs[..100].iter_mut().for_each(|job| job.runtime = 20 * HOUR);
    jobs[100..200].iter_mut().for_each(|job| job.runtime = 18 * HOUR);
    let assignment = assigned("tsafrir:tmax=18h,at-tmax=15", &jobs, 1);
    // 150 jobs have 18 hours; the other 50 of the long ones take what is the longest then.
    assert_eq!((assignment.cut, assignment.short), (100, 50));
    assert!(assignment.estimates[..100].iter().all(|&estimate| estimate == 18 * HOUR));
}

#[test]
fn any_number_of_jobs_and_any_limit() {
    for count in [1, 2, 3, 7, 19, 20, 21, 100, 199, 200, 201, 500, 3000] {
        for tmax in ["1m", "3m", "1h", "100m", "18h", "400h", "3650d"] {
            for more in ["", ",at-tmax=50", ",at-tmax=0", ",pairs=1m:30"] {
                let spec = format!("tsafrir:tmax={tmax}{more}");
                let jobs = jobs(count, 50);
                let assignment = assigned(&spec, &jobs, 5);
                assert_eq!((assignment.estimates.len(), assignment.cut, assignment.short), (count, 0, 0), "{spec}");
                let modes = Modes::of(assignment.estimates);
                assert!(modes.count() <= times::how_many(count, None).max(2), "{spec} of {count}");
            }
        }
    }
}

/// The distributions of two seeds differ (where modes lie is drawn), but not by more than the paper's Fig. 14 shows.
#[test]
fn seeds_change_the_mapping_but_not_the_shape() {
    let jobs = jobs(20_000, HOUR);
    let estimates = |seed| assigned("tsafrir:tmax=18h,at-tmax=23.8", &jobs, seed).estimates;
    let distances: Vec<f64> = (1..10).map(|seed| crate::model::ks_distance(&estimates(0), &estimates(seed))).collect();
    assert!(distances.iter().all(|distance| (0.01..0.25).contains(distance)), "{distances:?}");
}
