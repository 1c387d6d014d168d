//! What is in a log, at a glance.

use std::collections::BTreeSet;

use super::clean::{Cleaning, clean};
use super::error::TraceError;
use super::read::{Log, Skipped};
use super::record::Record;
use super::workload::CleaningReport;
use crate::time::{Seconds, Time};

/// A log in numbers. Counts of users and the like are over all records; loads and means over the jobs that cleaning
/// leaves.
#[derive(Clone, Debug)]
pub struct Survey {
    pub label: String,
    pub computer: Option<String>,
    pub installation: Option<String>,
    /// As the header says or as it was given; none if neither does.
    pub procs: Option<u32>,
    /// The Unix time of the log's time 0.
    pub unix_start: Option<i64>,
    pub skipped: Skipped,
    pub cleaning: CleaningReport,
    /// Records that become jobs.
    pub jobs: usize,
    pub users: usize,
    pub groups: usize,
    pub executables: usize,
    pub queues: usize,
    pub partitions: usize,
    pub first_submit: Time,
    pub last_submit: Time,
    /// Work submitted over what the machine can do between the first submission and the last.
    pub offered_load: Option<f64>,
    pub procs_mean: f64,
    pub procs_max: u32,
    pub runtime_mean: f64,
    pub runtime_max: Seconds,
    pub estimate_mean: f64,
    /// For each field, the share of records that do not know it.
    pub unknown: [f64; 18],
}

/// Looks over a log. A machine of unknown size is no obstacle here: nothing is then too wide.
pub fn survey(log: &Log, rules: &Cleaning) -> Result<Survey, TraceError> {
    let procs = rules.procs.or_else(|| log.header.procs());
    let workload = clean(log, &Cleaning { procs: procs.or(Some(u32::MAX)), ..*rules })?;
    let distinct = |field: fn(&Record) -> i32| {
        let known = log.records.iter().map(field).filter(|&value| value >= 0);
        known.collect::<BTreeSet<_>>().len()
    };
    let jobs = &workload.jobs;
    let work: f64 = jobs.iter().map(|job| f64::from(job.submission.procs) * job.runtime as f64).sum();
    let span = workload.last_submit() - workload.first_submit();
    let capacity = procs.map(|procs| f64::from(procs) * span as f64).filter(|&capacity| capacity > 0.0);
    let mean = |value: fn(&crate::job::Job) -> f64| jobs.iter().map(value).sum::<f64>() / jobs.len() as f64;
    Ok(Survey {
        label: log.label.clone(),
        computer: log.header.get("Computer"),
        installation: log.header.get("Installation"),
        procs,
        unix_start: log.header.number("UnixStartTime").filter(|&time| time > 0),
        skipped: log.skipped.clone(),
        cleaning: workload.cleaning,
        jobs: jobs.len(),
        users: distinct(|record| record.user),
        groups: distinct(|record| record.group),
        executables: distinct(|record| record.executable),
        queues: distinct(|record| record.queue),
        partitions: distinct(|record| record.partition),
        first_submit: workload.first_submit(),
        last_submit: workload.last_submit(),
        offered_load: capacity.map(|capacity| work / capacity),
        procs_mean: mean(|job| f64::from(job.submission.procs)),
        procs_max: jobs.iter().map(|job| job.submission.procs).max().unwrap_or(0),
        runtime_mean: mean(|job| job.runtime as f64),
        runtime_max: jobs.iter().map(|job| job.runtime).max().unwrap_or(0),
        estimate_mean: mean(|job| job.submission.estimate as f64),
        unknown: log.unknown.map(|count| count as f64 / log.records.len() as f64),
    })
}
