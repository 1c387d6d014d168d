//! The summary of a run.

use super::job::JobMetrics;
use super::measure::Measure;
use crate::engine::RunRecord;
use crate::stats::percentiles;
use crate::time::Seconds;
use crate::trace::Workload;

/// The figures of one run. Means, counts and percentiles are over the measured jobs; `utilization` and `makespan` over
/// all simulated jobs. If no job is measured, means and percentiles are NaN.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Summary {
    /// The number of measured jobs.
    pub jobs: usize,
    /// Mean wait, in seconds.
    pub wait_mean: f64,
    /// Mean bounded slowdown.
    pub bsld_mean: f64,
    /// Mean absolute inaccuracy, in seconds (Talby et al., section 3.3).
    pub ai_mean: f64,
    /// Mean relative accuracy, 0 to 1 (Talby et al., section 3.3).
    pub ra_mean: f64,
    /// The number of backfilled jobs.
    pub backfilled: usize,
    /// The number of missed deadlines; a job may miss several.
    pub misses: u64,
    /// The processor-seconds of all jobs divided by those of the machine during the makespan.
    pub utilization: f64,
    /// Seconds from the first submission to the last end.
    pub makespan: Seconds,
    /// Median wait, in seconds.
    pub wait_p50: f64,
    /// 95th percentile of waits, in seconds.
    pub wait_p95: f64,
    /// Longest wait, in seconds.
    pub wait_max: f64,
    /// Median bounded slowdown.
    pub bsld_p50: f64,
    /// 95th percentile of bounded slowdowns.
    pub bsld_p95: f64,
    /// The mean of |runtime - prediction in force at the start|, in seconds.
    pub mae: f64,
    /// The same as a percentage of the mean runtime.
    pub mae_pct: f64,
    /// The number of jobs with a confidence interval at the start.
    pub answered: usize,
    /// The percentage of these jobs whose runtime is within the interval. None if there are none.
    pub inside_pct: Option<f64>,
}

/// Computes the summary. `record` must be the result of simulating `workload`. Sums are added up in workload order, so
/// that the digits are reproducible.
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
