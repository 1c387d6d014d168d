//! A whole run in a row of numbers.

use super::job::JobMetrics;
use super::measure::Measure;
use crate::engine::RunRecord;
use crate::stats::percentiles;
use crate::time::Seconds;
use crate::trace::Workload;

/// The figures of one run. Means, counts and percentiles are over the measured jobs; `utilization` and `makespan` over
/// all that were simulated. Where no job is measured, means are NaN.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Summary {
    /// Measured jobs.
    pub jobs: usize,
    pub wait_mean: f64,
    pub bsld_mean: f64,
    /// Absolute inaccuracy, in seconds, and relative accuracy, a fraction (Talby et al., section 3.3).
    pub ai_mean: f64,
    pub ra_mean: f64,
    pub backfilled: usize,
    /// Missed-deadline events.
    pub misses: u64,
    pub utilization: f64,
    /// From the first submission to the last end.
    pub makespan: Seconds,
    pub wait_p50: f64,
    pub wait_p95: f64,
    pub wait_max: f64,
    pub bsld_p50: f64,
    pub bsld_p95: f64,
    /// The mean of |runtime - prediction in force at the start|, in seconds and as percent of the mean runtime.
    pub mae: f64,
    pub mae_pct: f64,
    /// Jobs whose prediction at the start had a confidence interval, and how many of them, in percent, ended within it.
    pub answered: usize,
    pub inside_pct: Option<f64>,
}

/// Sums run over jobs in workload order, so that two right programs print the same digits.
pub fn summarize(workload: &Workload, record: &RunRecord, measure: &Measure) -> Summary {
    let measured = measure.jobs(workload.jobs.len());
    let jobs = measured.len();
    let mut waits = Vec::with_capacity(jobs);
    let mut bslds = Vec::with_capacity(jobs);
    let (mut wait, mut bsld, mut ai, mut ra, mut error, mut runtime) = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
    let (mut backfilled, mut misses, mut answered, mut inside) = (0, 0, 0, 0);
    let (mut last_end, mut work) = (workload.first_submit(), 0i128);
    for (at, finished) in record.finished(&workload.jobs).enumerate() {
        last_end = last_end.max(finished.end());
        work += i128::from(finished.job.submission.procs) * i128::from(finished.job.runtime);
        if !measured.contains(&at) {
            continue;
        }
        let job = JobMetrics::of(&finished, measure.bsld_threshold);
        wait += job.wait as f64;
        bsld += job.bsld;
        ai += job.ai;
        ra += job.ra;
        error += (job.runtime - job.prediction_at_start).abs() as f64;
        runtime += job.runtime as f64;
        backfilled += usize::from(job.backfilled);
        misses += u64::from(job.misses);
        answered += usize::from(finished.outcome.inside.is_some());
        inside += usize::from(finished.outcome.inside == Some(true));
        waits.push(job.wait as f64);
        bslds.push(job.bsld);
    }
    let count = jobs as f64;
    let makespan = last_end - workload.first_submit();
    let [wait_p50, wait_p95, wait_max] = percentiles(&mut waits, [50.0, 95.0, 100.0]);
    let [bsld_p50, bsld_p95] = percentiles(&mut bslds, [50.0, 95.0]);
    Summary {
        jobs,
        wait_mean: wait / count,
        bsld_mean: bsld / count,
        ai_mean: ai / count,
        ra_mean: ra / count,
        backfilled,
        misses,
        utilization: work as f64 / (f64::from(workload.procs) * makespan as f64),
        makespan,
        wait_p50,
        wait_p95,
        wait_max,
        bsld_p50,
        bsld_p95,
        mae: error / count,
        mae_pct: error / runtime * 100.0,
        answered,
        inside_pct: (answered > 0).then(|| inside as f64 / answered as f64 * 100.0),
    }
}
