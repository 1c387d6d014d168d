//! The summary of a run.

use serde::{Deserialize, Serialize};

use super::fairness::{UserTotals, area, wait_of_widest};
use super::job::JobMetrics;
use super::measure::Measure;
use crate::engine::{Finished, Preempted, RunRecord};
use crate::job::Job;
use crate::machine::Resource;
use crate::stats::percentiles;
use crate::time::{DAY, Seconds};
use crate::trace::Workload;

/// The figures of one run. Means, counts and percentiles are over the measured jobs; `utilization` and `makespan` over
/// all simulated jobs. If no job is measured, means and percentiles are NaN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    /// The processor-seconds of all runs of jobs, also of those that were stopped, divided by those of the machine during the makespan.
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
    /// Jain's index over the users' mean bounded slowdowns: 1 if all are equal, 1/n if one of n users has all of it.
    pub jain: f64,
    /// The mean wait of the widest jobs that together make 1% of the area, in seconds.
    pub wide_wait_mean: f64,
    /// Whether the machine has nodes.
    pub on_nodes: bool,
    /// By [`Resource::OF_NODES`]: what jobs were given, times seconds, divided by what all nodes have during the makespan. None on a
    /// pool of processors, and if the machine has nothing of it that counts.
    pub utilization_of: [Option<f64>; Resource::OF_NODES.len()],
    /// How often running jobs were stopped so that others could start. None if the scheduler stops no jobs.
    pub preempted: Option<u64>,
    /// The processor-seconds of these runs, which are lost, or of those that outages stopped. None without both.
    pub lost: Option<f64>,
    /// The share of the processor-seconds of the makespan that were not out, or in use. None without outages.
    pub available: Option<f64>,
    /// As `utilization`, of what was available. None likewise.
    pub utilization_available: Option<f64>,
    /// How often outages stopped jobs that then waited again. None likewise.
    pub requeued: Option<u64>,
    /// The jobs that outages ended. None likewise.
    pub failed: Option<u64>,
    /// The jobs that never start. None likewise.
    pub never_started: Option<u64>,
    /// All simulated jobs per day of the makespan. None without feedback: then the log decides it.
    pub jobs_per_day: Option<f64>,
    /// The simulated jobs that were submitted after the ends of others. None without feedback.
    pub linked_jobs: Option<u64>,
    /// The mean think time before them, in seconds. None likewise, or if there are none.
    pub think_mean: Option<f64>,
}

/// Computes the summary. `record` must be the result of simulating `workload`. Sums are added up in workload order, so
/// that the digits are reproducible.
pub fn summarize(workload: &Workload, record: &RunRecord, measure: &Measure) -> Summary {
    summarize_with_users(workload, record, measure).0
}

/// As [`summarize`], with the figures of each user, for comparisons with another run of the workload.
pub fn summarize_with_users(workload: &Workload, record: &RunRecord, measure: &Measure) -> (Summary, UserTotals) {
    let measured = measure.jobs(workload.jobs.len());
    let mut waits = Vec::with_capacity(measured.len());
    let mut bslds = Vec::with_capacity(measured.len());
    let (mut sums, mut users) = (Sums::default(), UserTotals::default());
    let (mut last_end, mut work) = (workload.first_submit(), 0i128);
    // The processors of a log that are CPUs of nodes are those with which the jobs are placed.
    let shapes = workload.shapes.as_ref().filter(|shapes| shapes.cluster().cpus() == u64::from(workload.procs));
    let placed_area = |job: &Job| match shapes {
        Some(shapes) => i128::from(shapes.get(job.request).cpus) * i128::from(job.runtime),
        None => area(job),
    };
    for (at, finished) in record.finished_in(&workload.jobs, 0..workload.jobs.len()) {
        last_end = last_end.max(finished.end());
        work += placed_area(finished.job);
        if !measured.contains(&at) {
            continue;
        }
        let job = JobMetrics::of(&finished, measure.bsld_threshold);
        sums.add(&finished, &job);
        users.add(finished.job, job.wait, job.bsld);
        waits.push(job.wait as f64);
        bslds.push(job.bsld);
    }
    // The machine was in use. The runs of cancelled jobs are among the others.
    work += record.preempted.map_or(0, |preempted| preempted.requeued.area);
    let makespan = last_end - workload.first_submit();
    let widths = record.finished_in(&workload.jobs, measured).map(|(at, _)| &workload.jobs[at]);
    let wide_wait_mean = wait_of_widest(widths, &waits, users.area());
    let share_of = |kind: Resource| {
        let cluster = workload.shapes.as_ref()?.cluster();
        let counts = kind != Resource::Memory || !cluster.ignores_memory;
        let all = if counts { cluster.total()[kind] } else { 0 };
        (all > 0).then_some(record.given.as_ref()?[kind] as f64 / (all as f64 * makespan as f64))
    };
    let (links, outages) = (workload.feedback_links(), record.outages.as_ref());
    let whole = f64::from(workload.procs) * makespan as f64;
    let summary = Summary {
        utilization: work as f64 / whole,
        makespan,
        jain: users.jain(),
        wide_wait_mean,
        on_nodes: workload.shapes.is_some(),
        utilization_of: Resource::OF_NODES.map(share_of),
        preempted: record.preempted.map(|Preempted { requeued, cancelled }| requeued.count + cancelled.count),
        lost: record
            .preempted
            .map(|Preempted { requeued, cancelled }| (requeued.area + cancelled.area) as f64)
            .or(outages.map(|outages| outages.stopped.requeued.area as f64)),
        available: outages.map(|outages| outages.available as f64 / whole),
        utilization_available: outages.map(|outages| work as f64 / outages.available as f64),
        requeued: outages.map(|outages| outages.stopped.requeued.count),
        failed: outages.map(|outages| outages.stopped.cancelled.count),
        never_started: outages.map(|_| record.never.count()),
        jobs_per_day: links.as_ref().map(|_| workload.jobs.len() as f64 / (makespan as f64 / DAY as f64)),
        linked_jobs: links.as_ref().map(|links| links.linked),
        think_mean: links.map(|links| links.think_mean).filter(|mean| mean.is_finite()),
        ..sums.summary(percentiles(&mut waits, WAIT_PERCENTS), percentiles(&mut bslds, BSLD_PERCENTS))
    };
    (summary, users)
}

impl Summary {
    /// The share of a resource of nodes that jobs were given. None on a pool of processors.
    pub fn utilization(&self, kind: Resource) -> Option<f64> {
        self.utilization_of[Resource::OF_NODES.iter().position(|own| *own == kind)?]
    }
}

/// Which percentiles of waits and of bounded slowdowns a summary has.
pub(super) const WAIT_PERCENTS: [f64; 3] = [50.0, 95.0, 100.0];
pub(super) const BSLD_PERCENTS: [f64; 2] = [50.0, 95.0];

/// Sums over some jobs of a run, in workload order.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    pub jobs: usize,
    wait: f64,
    bsld: f64,
    ai: f64,
    ra: f64,
    error: f64,
    runtime: f64,
    backfilled: usize,
    misses: u64,
    answered: usize,
    inside: usize,
}

impl Sums {
    pub fn add(&mut self, finished: &Finished<'_>, job: &JobMetrics) {
        self.jobs += 1;
        self.wait += job.wait as f64;
        self.bsld += job.bsld;
        self.ai += job.ai;
        self.ra += job.ra;
        self.error += (job.runtime - job.prediction_at_start).abs() as f64;
        self.runtime += job.runtime as f64;
        self.backfilled += usize::from(job.backfilled);
        self.misses += u64::from(job.misses);
        // Few predictors have intervals.
        if let Some(inside) = finished.outcome.inside {
            self.answered += 1;
            self.inside += usize::from(inside);
        }
    }

    /// The summary of these jobs, whose waits and bounded slowdowns have these percentiles. What only a whole machine or all
    /// of its users have is NaN or 0.
    pub fn summary(&self, waits: [f64; WAIT_PERCENTS.len()], bslds: [f64; BSLD_PERCENTS.len()]) -> Summary {
        let count = self.jobs as f64;
        let ([wait_p50, wait_p95, wait_max], [bsld_p50, bsld_p95]) = (waits, bslds);
        Summary {
            jobs: self.jobs,
            wait_mean: self.wait / count,
            bsld_mean: self.bsld / count,
            ai_mean: self.ai / count,
            ra_mean: self.ra / count,
            backfilled: self.backfilled,
            misses: self.misses,
            utilization: f64::NAN,
            wait_p50,
            wait_p95,
            wait_max,
            bsld_p50,
            bsld_p95,
            mae: self.error / count,
            mae_pct: self.error / self.runtime * 100.0,
            answered: self.answered,
            inside_pct: (self.answered > 0).then(|| self.inside as f64 / self.answered as f64 * 100.0),
            jain: f64::NAN,
            wide_wait_mean: f64::NAN,
            ..Summary::default()
        }
    }
}
