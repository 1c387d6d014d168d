//! Downey's workload against its definition and against statements of the paper. Seeds are fixed.

use shadowtime::model::{Downey, ModelJob, speedup};

const MODEL: Downey = Downey { jobs: 500, procs: 128, users: None, gap_factor: 1.0, seed: 1 };

fn jobs(model: Downey, jobs: usize) -> Vec<ModelJob> {
    Downey { jobs, ..model }.jobs().collect()
}

/// Section 2.2.1: "the median of this distribution is 18 minutes; the mean is 271 minutes". On one processor a job runs for
/// its lifetime.
#[test]
fn lifetimes_are_those_of_the_paper() {
    let mut runtimes: Vec<_> = jobs(Downey { procs: 1, ..MODEL }, 300_000).iter().map(|job| job.runtime).collect();
    let mean = runtimes.iter().sum::<i64>() as f64 / 300_000.0 / 60.0;
    assert!((mean / 271.0 - 1.0).abs() < 0.01, "mean {mean:.1} minutes");
    runtimes.sort_unstable();
    assert_eq!(runtimes[150_000] / 60, 18);
    assert_eq!((runtimes[0], runtimes[299_999] / 100), (7, 1627));
    // Uniform in the logarithm: Kolmogorov and Smirnov at one in a thousand.
    for (at, &runtime) in runtimes.iter().enumerate().filter(|(at, _)| at % 100 == 0) {
        let below = runtimes.partition_point(|&other| other <= runtime) as f64 / 300_000.0;
        let expected = (((runtime as f64 + 0.5).ln() - 2.0) / 10.0).clamp(0.0, 1.0);
        assert!((below - expected).abs() < 1.95 / 300_000f64.sqrt(), "{at}: {runtime} s");
    }
}

#[test]
fn sizes_and_runtimes_are_distributed_as_the_model_says() {
    let jobs = jobs(MODEL, 400_000);
    let (mut expected_below, mut count) = (0.0, 0);
    for size in 1..=128u32 {
        // Rounded up: size a is all between a - 1 and a.
        let expected = if size == 1 { 0.0 } else { (f64::from(size) / f64::from(size - 1)).ln() / 128f64.ln() };
        expected_below += expected;
        count += jobs.iter().filter(|job| job.procs == size).count();
        let below = count as f64 / 400_000.0;
        assert!((below - expected_below).abs() < 1.95 / 400_000f64.sqrt(), "{size}: {below} {expected_below}");
    }
    for size in [2, 3, 16, 100] {
        let mut runtimes: Vec<_> = jobs.iter().filter(|job| job.procs == size).map(|job| job.runtime).collect();
        runtimes.sort_unstable();
        for &runtime in runtimes.iter().step_by(50) {
            // L is below runtime x S, for any of the equally likely sigmas.
            let below_of = |step: u32| {
                let sigma = 2.0 * (f64::from(step) + 0.5) / 200.0;
                let lifetime = (runtime as f64 + 0.5) * speedup(f64::from(size), f64::from(size), sigma);
                ((lifetime.ln() - 2.0) / 10.0).clamp(0.0, 1.0)
            };
            let expected = (0..200).map(below_of).sum::<f64>() / 200.0;
            // Less than a second is one.
            let below = runtimes.partition_point(|&other| other <= runtime) as f64 / runtimes.len() as f64;
            let critical = 1.95 / (runtimes.len() as f64).sqrt();
            assert!((below - expected).abs() < critical, "{size}: {runtime} s: {below} {expected}");
        }
    }
}

/// Section 4: twelve hours with Poisson arrivals and twelve without; rho = 0.75 makes 0.75 x 128 x 43200 / 16274 jobs a day.
#[test]
fn jobs_come_at_random_by_day() {
    let jobs = jobs(MODEL, 200_000);
    assert!(jobs.is_sorted_by_key(|job| job.submit));
    assert!(jobs.iter().all(|job| (8 * 3600..20 * 3600).contains(&(job.submit % 86_400))));
    let days = (jobs[199_999].submit / 86_400) as usize;
    let mut counts = vec![0.0; days];
    jobs.iter().filter(|job| ((job.submit / 86_400) as usize) < days).for_each(|job| {
        counts[(job.submit / 86_400) as usize] += 1.0;
    });
    let mean = counts.iter().sum::<f64>() / days as f64;
    assert!((mean / 254.83 - 1.0).abs() < 0.01, "{mean} jobs a day");
    // A Poisson process: the count of a day varies as much as it is large.
    let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / days as f64;
    assert!((variance / mean - 1.0).abs() < 3.3 * (2.0 / days as f64).sqrt(), "{variance} for {mean}");
}

#[test]
fn any_machine_has_jobs_that_fit_it() {
    for procs in [1, 2, 3, 100, 128, 1000, 93_312, 1_000_000_000] {
        let jobs = jobs(Downey { procs, ..MODEL }, 20_000);
        assert!(jobs.iter().all(|job| (1..=procs).contains(&job.procs) && job.runtime >= 1));
        assert!(jobs.iter().any(|job| job.procs > procs / 2));
    }
    assert_eq!(jobs(MODEL, 500), jobs(MODEL, 500));
    assert_ne!(jobs(MODEL, 500), jobs(Downey { seed: 2, ..MODEL }, 500));
}
