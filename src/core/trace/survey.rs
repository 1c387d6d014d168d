//! A summary of a log.

use std::collections::BTreeSet;

use litemap::LiteMap;

use super::clean::{Cleaning, clean, peak};
use super::conditions::ConditionSurvey;
use super::error::TraceError;
use super::log::{Log, Skipped};
use super::record::Record;
use super::requests::RequestSurvey;
use super::rows::SourceReport;
use super::workload::CleaningReport;
use crate::sort::sort_by_key;
use crate::time::{Seconds, Time};

/// Numbers that describe a log. The numbers of users, groups, executables, queues and partitions count the distinct known
/// values in all records. Loads, means and maxima are over the jobs that remain after cleaning.
#[derive(Clone, Debug)]
pub struct Survey {
    /// The log's name in results.
    pub label: String,
    /// The format of the log, and what reading did to its rows.
    pub source: SourceReport,
    /// The number of records in each state, the most frequent first. Those of an SWF log are named after their status.
    pub states: Vec<(String, u64)>,
    /// The header field `Computer`.
    pub computer: Option<String>,
    /// The header field `Installation`.
    pub installation: Option<String>,
    /// The processors of the machine, from the rules of cleaning, else the header, else the peak. None if unknown.
    pub procs: Option<u32>,
    /// The most processors that were in use at once (see [`peak`]). None if the log has no waits.
    pub peak: Option<u32>,
    /// The Unix time of the log's time 0. None if the header does not have it.
    pub unix_start: Option<i64>,
    /// Faulty lines that were skipped.
    pub skipped: Skipped,
    /// What cleaning did to the records.
    pub cleaning: CleaningReport,
    /// The number of records that become jobs.
    pub jobs: usize,
    /// Distinct known users.
    pub users: usize,
    /// Distinct known groups.
    pub groups: usize,
    /// Distinct known executables.
    pub executables: usize,
    /// Distinct known queues.
    pub queues: usize,
    /// Distinct known partitions.
    pub partitions: usize,
    /// The first submit time of a job.
    pub first_submit: Time,
    /// The last submit time of a job.
    pub last_submit: Time,
    /// The processor-seconds of all jobs, divided by those of the machine between the first and the last submission. None
    /// if the machine is unknown or this time is 0.
    pub offered_load: Option<f64>,
    /// Mean processors of a job.
    pub procs_mean: f64,
    /// Processors of the widest job.
    pub procs_max: u32,
    /// Mean runtime, in seconds.
    pub runtime_mean: f64,
    /// Longest runtime, in seconds.
    pub runtime_max: Seconds,
    /// Mean wait of the jobs that have one in the log, in seconds. None if none has.
    pub wait_mean: Option<f64>,
    /// Mean estimate, in seconds.
    pub estimate_mean: f64,
    /// Largest estimate, in seconds.
    pub estimate_max: Seconds,
    /// What the jobs ask of a machine of nodes.
    pub requests: RequestSurvey,
    /// What they were given of the CPUs that they ask for, if a processor is a CPU. None if no job says both.
    pub given: Option<GivenProcs>,
    /// What jobs wait for before they may join the queue.
    pub conditions: ConditionSurvey,
    /// For each of the 18 fields, the share of records with an unknown value, 0 to 1.
    pub unknown: [f64; 18],
}

/// The processors that jobs were given, beside those that they asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GivenProcs {
    /// Jobs that say both.
    pub jobs: u64,
    /// Those with more than they asked for.
    pub more: u64,
    /// All that were given, in parts of all that were asked for.
    pub ratio: f64,
}

impl GivenProcs {
    /// `both` are the numbers that a job was given and asked for; -1 if unknown.
    fn of(both: impl Iterator<Item = (i64, i64)>) -> Option<GivenProcs> {
        let (mut jobs, mut more, mut all) = (0, 0, (0, 0));
        for (given, asked) in both.filter(|&(given, asked)| given > 0 && asked > 0) {
            jobs += 1;
            more += u64::from(given > asked);
            all = (all.0 + given, all.1 + asked);
        }
        (jobs > 0).then(|| GivenProcs { jobs, more, ratio: all.0 as f64 / all.1 as f64 })
    }
}

/// Summarizes a log. If the size of the machine is unknown, no job is too wide.
///
/// # Errors
/// If no job remains after cleaning.
pub fn survey(log: &Log, rules: &Cleaning) -> Result<Survey, TraceError> {
    let peak = peak(&log.records, rules.procs_field);
    let told = rules.procs.or_else(|| log.header.procs());
    let procs = told.or(peak);
    let mut workload = clean(log, &Cleaning { procs: procs.or(Some(u32::MAX)), ..*rules })?;
    workload.cleaning.machine_is_peak = told.is_none() && peak.is_some();
    let distinct = |field: fn(&Record) -> i32| {
        let known = log.records.iter().map(field).filter(|&value| value != -1);
        known.collect::<BTreeSet<_>>().len()
    };
    let jobs = &workload.jobs;
    let work: f64 = jobs.iter().map(|job| f64::from(job.submission.procs) * job.runtime as f64).sum();
    let span = workload.last_submit() - workload.first_submit();
    let capacity = procs.map(|procs| f64::from(procs) * span as f64).filter(|&capacity| capacity > 0.0);
    let mean = |value: fn(&crate::job::Job) -> f64| jobs.iter().map(value).sum::<f64>() / jobs.len() as f64;
    let waits: Vec<f64> = jobs.iter().filter_map(|job| Some(job.recorded_wait.get()? as f64)).collect();
    Ok(Survey {
        label: log.label.clone(),
        source: log.source.clone(),
        states: states(log),
        computer: log.header.get("Computer"),
        installation: log.header.get("Installation"),
        procs,
        peak,
        unix_start: log.header.number("UnixStartTime").filter(|&time| time > 0),
        skipped: log.skipped.clone(),
        cleaning: workload.cleaning.clone(),
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
        wait_mean: (!waits.is_empty()).then(|| waits.iter().sum::<f64>() / waits.len() as f64),
        estimate_mean: mean(|job| job.submission.estimate as f64),
        estimate_max: jobs.iter().map(|job| job.submission.estimate).max().unwrap_or(0),
        requests: RequestSurvey::of(jobs, &workload.requests),
        given: GivenProcs::of(jobs.iter().map(|job| {
            let record = &log.records[job.record as usize];
            let asked = workload.requests.get(job.request).map(|request| i64::from(request.cpus));
            (record.allocated.into(), asked.unwrap_or(record.requested.into()))
        })),
        conditions: ConditionSurvey::of(&log.conditions),
        unknown: log.unknown.map(|count| count as f64 / log.records.len() as f64),
    })
}

/// The states of a log with their counts, the most frequent first.
fn states(log: &Log) -> Vec<(String, u64)> {
    let mut counts = log.source.states.clone();
    if counts.is_empty() {
        let mut statuses = LiteMap::<i32, u64>::new();
        for record in &log.records {
            *statuses.entry(record.status).or_default() += 1;
        }
        let name = |status| match status {
            0 => "failed".to_string(),
            1 => "completed".to_string(),
            5 => "cancelled".to_string(),
            status if status < 0 => "unknown".to_string(),
            status => format!("status {status}"),
        };
        for (status, count) in statuses {
            *counts.entry(name(status)).or_default() += count;
        }
    }
    let mut states: Vec<_> = counts.into_iter().collect();
    sort_by_key(&mut states, |(_, count)| std::cmp::Reverse(*count));
    states
}
