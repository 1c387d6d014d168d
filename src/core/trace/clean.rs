//! Makes a workload from a log by rules. The records that each rule applies to are counted and reported.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::conditions::{LogConditions, drop_never_eligible};
use super::error::TraceError;
use super::log::Log;
use super::on_cluster::LogSite;
use super::record::{CANCELLED, Record};
use super::shown_names::ShownNames;
use super::wide::WideNumbers;
use super::workload::{CleaningCause, CleaningReport, Workload};
use super::zone::Zone;
use crate::job::{Job, Submission};
use crate::request::LogRequests;
use crate::sort::sort_by_key;
use crate::text::counted;
use crate::time::{HOUR, Seconds, Time};

/// The field with the number of processors of a job. If it is unknown, the other one is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProcsField {
    /// Field 8.
    #[default]
    Requested,
    /// Field 5.
    Allocated,
}

/// The estimate of a job that has none in the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissingEstimate {
    /// The largest estimate of the log's sane records, like a site's default limit.
    #[default]
    Largest,
    /// The job's runtime.
    Runtime,
    /// None: the job is dropped.
    Drop,
}

/// What happens to a job that outlives its estimate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overrun {
    /// It runs as long as recorded.
    #[default]
    Extend,
    /// It is ended at its estimate, as a production scheduler would.
    Kill,
}

/// The rules by which records become jobs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cleaning {
    /// The processors of the machine. None: as the header says, or else the [`peak`] of the log.
    pub procs: Option<u32>,
    /// The field with the processors of a job.
    pub procs_field: ProcsField,
    /// The estimate of jobs that have none.
    pub missing_estimate: MissingEstimate,
    /// What happens to jobs that outlive their estimate.
    pub overrun: Overrun,
    /// A job wider than the machine is an error.
    pub strict: bool,
    /// Records without a wait are dropped. For the replay of the log's own schedule.
    pub need_waits: bool,
    /// Jobs wider than the machine are kept. Only for `replay`, which can start them.
    pub keep_wide: bool,
}

/// The processors of a record: those of a field, or of the other one if that is unknown.
pub(super) fn procs_of(record: &Record, field: ProcsField) -> i32 {
    let (first, second) = match field {
        ProcsField::Requested => (record.requested, record.allocated),
        ProcsField::Allocated => (record.allocated, record.requested),
    };
    if first > 0 { first } else { second }
}

/// The processors of a record, if the record is sane; else the first cause why it is not.
pub(super) fn sane_procs(record: &Record, field: ProcsField) -> Result<u32, CleaningCause> {
    match procs_of(record, field) {
        procs if procs <= 0 => Err(CleaningCause::WithoutProcs),
        // Its runtime, if there is one, is that of something else: often the time after which a queue gave it up.
        _ if record.status == CANCELLED && record.allocated <= 0 => Err(CleaningCause::NeverRan),
        _ if record.runtime < 0 => Err(CleaningCause::NegativeRuntime),
        _ if record.submit < 0 => Err(CleaningCause::NegativeSubmit),
        procs => Ok(procs as u32),
    }
}

/// The estimate of a job that has none: the largest of the log, or, if no job has one, the longest runtime rounded up to
/// hours. Also returns whether it is the second.
fn default_estimate(records: &[Record], field: ProcsField) -> (Seconds, bool) {
    // Few records are above all before them, so few are examined.
    let largest = |least: Seconds, value: fn(&Record) -> Seconds| {
        records.iter().fold(least, |largest, record| match value(record) {
            value if value > largest && sane_procs(record, field).is_ok() => value,
            _ => largest,
        })
    };
    match largest(0, |record| record.estimate) {
        0 => ((largest(1, |record| record.runtime) + HOUR - 1) / HOUR * HOUR, true),
        estimate => (estimate, false),
    }
}

/// The most processors that were in use at once by the log's own schedule, and at least those of the widest job: jobs end
/// before others start, and a run time of 0 uses nothing. Only sane records count, and those without a wait only by
/// their width. None if no sane record has a wait.
///
/// It is too low if jobs are missing in the log, and too high if its waits are wrong.
pub fn peak(records: &[Record], field: ProcsField) -> Option<u32> {
    let (mut changes, mut widest, mut has_waits) = (Vec::new(), 0, false);
    for record in records {
        let Ok(procs) = sane_procs(record, field) else { continue };
        widest = widest.max(i64::from(procs));
        has_waits |= record.wait >= 0;
        if record.wait >= 0 && record.runtime > 0 {
            let start = record.submit + record.wait;
            changes.extend([(start, i64::from(procs)), (start + record.runtime, -i64::from(procs))]);
        }
    }
    // At equal times the ends, which are negative, come first.
    changes.sort_unstable();
    let mut used = 0;
    let most = changes.iter().fold(widest, |most, (_, change)| {
        used += change;
        most.max(used)
    });
    u32::try_from(most).ok().filter(|_| has_waits)
}

/// Makes the workload of a log.
///
/// # Errors
/// If the size of the machine is unknown, no job remains, or a job is too wide and the rules are strict.
pub fn clean(log: &Log, rules: &Cleaning) -> Result<Workload, TraceError> {
    clean_at(log, rules, None)
}

/// As [`clean`]; a job without an estimate has the limit of its partition at this site, if there is one.
///
/// # Errors
/// As [`clean`].
pub fn clean_at(log: &Log, rules: &Cleaning, site: Option<LogSite<'_>>) -> Result<Workload, TraceError> {
    let mut cleaner = Cleaner::new(log, rules, site)?;
    let jobs = log.records.iter().enumerate().filter_map(|(at, record)| cleaner.job(at, record)).collect();
    cleaner.workload(log, jobs)
}

/// As [`clean_at`], but reuses the memory of the records: the log has none afterwards. Ten million records take 720 MB.
///
/// # Errors
/// As [`clean`].
pub fn clean_out(log: &mut Log, rules: &Cleaning, site: Option<LogSite<'_>>) -> Result<Workload, TraceError> {
    let mut cleaner = Cleaner::new(log, rules, site)?;
    // A vector is collected in place only if the elements of both vectors have the same size.
    const { assert!(size_of::<Job>() == size_of::<Record>()) };
    let records = std::mem::take(&mut log.records).into_iter();
    let jobs = records.enumerate().filter_map(|(at, record)| cleaner.job(at, &record)).collect();
    cleaner.workload(log, jobs)
}

/// Applies the rules to one record after the other.
struct Cleaner<'a> {
    rules: &'a Cleaning,
    site: Option<LogSite<'a>>,
    wide: WideNumbers,
    requests: LogRequests,
    conditions: Arc<LogConditions>,
    /// The records of failed jobs, if jobs have conditions.
    failed: FxHashSet<u32>,
    procs: u32,
    report: CleaningReport,
    /// The submit time of the last job.
    last: Time,
    /// The first job wider than the machine, and its width.
    first_too_wide: Option<(i64, u32)>,
}

impl<'a> Cleaner<'a> {
    fn new(log: &Log, rules: &'a Cleaning, site: Option<LogSite<'a>>) -> Result<Self, TraceError> {
        let mut report = CleaningReport { records: log.records.len() as u64, ..CleaningReport::default() };
        let procs = match rules.procs.or_else(|| log.header.procs()) {
            Some(procs) => procs,
            // The error is that there are no jobs.
            None if log.records.is_empty() => 1,
            None => {
                report.machine_is_peak = true;
                let peak = peak(&log.records, rules.procs_field);
                peak.ok_or_else(|| TraceError::no_machine(&log.name))?
            }
        };
        if rules.missing_estimate == MissingEstimate::Largest {
            (report.filled_with, report.filled_from_runtime) = default_estimate(&log.records, rules.procs_field);
        }
        let (requests, conditions) = (log.requests.clone(), Arc::clone(&log.conditions));
        let records = if conditions.is_empty() { &[] } else { &log.records[..] };
        let failed = records.iter().zip(0..).filter(|(record, _)| record.has_failed()).map(|(_, at)| at).collect();
        let (last, wide) = (Time::MIN, log.wide.clone());
        Ok(Cleaner { rules, site, wide, requests, conditions, failed, procs, report, last, first_too_wide: None })
    }

    /// The job of the record at index `at`. None if the record is dropped.
    fn job(&mut self, at: usize, record: &Record) -> Option<Job> {
        let Cleaner { rules, procs, report, .. } = self;
        let needs = match sane_procs(record, rules.procs_field) {
            Ok(needs) => needs,
            Err(why) => {
                report.causes.add(why, 1);
                return None;
            }
        };
        if needs > *procs && !rules.keep_wide {
            self.first_too_wide.get_or_insert((record.number, needs));
            report.causes.add(CleaningCause::TooWide, 1);
            return None;
        }
        if record.wait < 0 && rules.need_waits {
            report.causes.add(CleaningCause::WithoutWait, 1);
            return None;
        }
        let mut runtime = record.runtime.max(1);
        let mut submission = Submission {
            submit: record.submit,
            estimate: record.estimate,
            procs: needs,
            user: record.user,
            group: record.group,
            executable: record.executable,
            queue: record.queue,
            partition: record.partition,
        };
        if record.estimate <= 0
            && let Some(site) = &self.site
            && let Some(limit) = site.time_of_unlimited(self.requests.get(at), &submission, &self.wide)
        {
            report.causes.add(CleaningCause::ByPartition, 1);
            submission.estimate = limit;
        }
        let estimate = match rules.missing_estimate {
            _ if submission.estimate > 0 => submission.estimate,
            MissingEstimate::Drop => {
                report.causes.add(CleaningCause::WithoutEstimate, 1);
                return None;
            }
            MissingEstimate::Runtime => {
                report.causes.add(CleaningCause::Filled, 1);
                runtime
            }
            MissingEstimate::Largest => {
                report.causes.add(CleaningCause::Filled, 1);
                report.filled_with
            }
        };
        report.causes.add(CleaningCause::ZeroRuntime, (record.runtime == 0).into());
        report.causes.add(CleaningCause::Overrun, (runtime > estimate).into());
        if rules.overrun == Overrun::Kill {
            runtime = runtime.min(estimate);
        }
        let is_earlier = std::mem::replace(&mut self.last, record.submit) > record.submit;
        report.causes.add(CleaningCause::OutOfOrder, is_earlier.into());
        Some(Job {
            submission: Submission { estimate, ..submission },
            runtime,
            recorded_wait: (record.wait >= 0).then_some(record.wait).into(),
            record: at as u32,
            request: self.requests.of(at),
            number: record.number,
        })
    }

    fn workload(self, log: &Log, mut jobs: Vec<Job>) -> Result<Workload, TraceError> {
        let Cleaner { rules, procs, mut report, first_too_wide, conditions, failed, .. } = self;
        if let Some((job, needs)) = first_too_wide.filter(|_| rules.strict) {
            let why = format!(
                "job {job} needs {needs} processors, but the machine has {procs}; without --strict such jobs are dropped and \
                 counted, and --procs changes the machine"
            );
            return Err(TraceError::unusable(&log.name, why));
        }
        // The sort is stable, so jobs with equal submit times keep the log's order. It is skipped if not needed, because it
        // allocates memory.
        if report.causes[CleaningCause::OutOfOrder] > 0 {
            sort_by_key(&mut jobs, |job| job.submission.submit);
        }
        if !conditions.is_empty() {
            let (never, missing) = drop_never_eligible(&mut jobs, &conditions, &failed);
            report.never_eligible = never;
            report.causes.add(CleaningCause::MissingDependency, missing);
        }
        if jobs.is_empty() {
            return Err(TraceError::NoJobs { name: log.name.clone(), why: why_no_jobs(&report) });
        }
        let unix_start = log.header.number("UnixStartTime").filter(|&start| start > 0);
        let (zone, wide, requests) = (Zone::of(&log.header), log.wide.clone(), self.requests.requests);
        Ok(Workload {
            label: log.label.clone(),
            procs,
            jobs,
            unix_start,
            zone,
            wide,
            names: ShownNames::default(),
            ids: log.ids.clone(),
            requests,
            shapes: None,
            outages: None,
            conditions,
            feedback: None,
            resampled: None,
            cleaning: report,
        })
    }
}

fn why_no_jobs(report: &CleaningReport) -> String {
    if report.records == 0 {
        return "the log has no records".to_string();
    }
    if report.causes[CleaningCause::WithoutWait] == report.records {
        return "the log has no recorded waits, which are needed here (a log written by --swf-out has them)"
            .to_string();
    }
    let held = match report.never_eligible.count() {
        0 => String::new(),
        held => format!("; {held} can never start because of their conditions"),
    };
    format!(
        "of {}, {} not sane, {} wider than the machine (--procs), {} without an estimate (--missing-estimate), {} without \
         a recorded wait (a log written by --swf-out has them){held}",
        counted(report.records, "record"),
        report.not_sane(),
        report.causes[CleaningCause::TooWide],
        report.causes[CleaningCause::WithoutEstimate],
        report.causes[CleaningCause::WithoutWait]
    )
}

#[cfg(test)]
mod tests {
    use super::CleaningCause::{
        Filled, NegativeRuntime, NegativeSubmit, NeverRan, OutOfOrder, TooWide, WithoutEstimate, WithoutProcs,
        WithoutWait, ZeroRuntime,
    };
    use super::*;
    use crate::trace::header::Header;
    use crate::trace::log::ReadOptions;
    use crate::trace::source::Source;

    /// A log of (submit, wait, runtime, allocated, requested, estimate) on 64 processors.
    fn log(records: &[(i64, i64, i64, i32, i32, i64)]) -> Log {
        let mut header = Header::default();
        header.push(b"; MaxProcs: 64");
        let records =
            records.iter().zip(1..).map(|(&(submit, wait, runtime, allocated, requested, estimate), number)| Record {
                number,
                submit,
                wait,
                runtime,
                estimate,
                allocated,
                requested,
                user: 1,
                group: -1,
                executable: -1,
                queue: -1,
                partition: -1,
                status: 1,
            });
        let source = Source::Bytes { name: "test", bytes: b"".into() };
        Log { header, records: records.collect(), ..Log::new(&source, &ReadOptions::default(), "swf") }
    }

    fn clean_with(records: &[(i64, i64, i64, i32, i32, i64)], rules: Cleaning) -> Workload {
        let mut log = log(records);
        let workload = clean(&log, &rules).unwrap();
        // Cleaning in place gives the same result.
        let in_place = clean_out(&mut log, &rules, None).unwrap();
        assert_eq!((&in_place.jobs, &in_place.cleaning, log.records.len()), (&workload.jobs, &workload.cleaning, 0));
        workload
    }

    #[test]
    fn every_rule_counts_what_it_drops() {
        let records = [
            (0, 0, 10, 4, 4, 60),
            (1, 0, 10, -1, 0, 60), // no processors
            (2, 0, -1, 4, 4, 60),  // no runtime
            (-1, 0, 10, 4, 4, 60), // a negative submit time
            (-1, 0, -1, 0, 0, 60), // all three faults: counted once
            (5, 0, 10, 4, 65, 60), // too wide
            (6, 0, -1, 4, 65, 60), // not sane and too wide: counted as not sane
            (7, -1, 10, 4, 4, 60), // no wait, which only a replay needs
            (8, 0, 10, 4, 4, -1),  // no estimate
        ];
        let workload = clean_with(&records, Cleaning::default());
        let count = |workload: &Workload, cause| workload.cleaning.count(cause);
        for (cause, times) in [(WithoutProcs, 2), (NegativeRuntime, 2), (NegativeSubmit, 1), (TooWide, 1), (Filled, 1)]
        {
            assert_eq!(count(&workload, cause), times, "{cause:?}");
        }
        assert_eq!(workload.cleaning.dropped(), 6);
        assert_eq!(workload.jobs.iter().map(|job| job.number).collect::<Vec<_>>(), [1, 8, 9]);

        let replay = Cleaning { need_waits: true, keep_wide: true, ..Cleaning::default() };
        let workload = clean_with(&records, replay);
        assert_eq!((count(&workload, WithoutWait), count(&workload, TooWide), workload.jobs.len()), (1, 0, 3));

        let dropping = Cleaning { missing_estimate: MissingEstimate::Drop, ..Cleaning::default() };
        assert_eq!(count(&clean_with(&records, dropping), WithoutEstimate), 1);

        let strict = Cleaning { strict: true, ..Cleaning::default() };
        let wide = clean(&log(&records), &strict).unwrap_err().to_string();
        assert!(wide.starts_with("test: job 6 needs 65 processors, but the machine has 64"), "{wide}");
        assert!(matches!(clean(&log(&records[1..4]), &Cleaning::default()), Err(TraceError::NoJobs { .. })));
    }

    #[test]
    fn a_job_that_was_cancelled_before_it_had_processors_never_ran() {
        let mut log =
            log(&[(0, 0, 7200, -1, 4, 60), (1, 0, 7200, 0, 4, 900), (2, 0, 10, 4, 4, 60), (3, 0, 10, -1, 4, -1)]);
        for (record, status) in log.records.iter_mut().zip([5, 5, 5, 0]) {
            record.status = status;
        }
        let workload = clean(&log, &Cleaning::default()).unwrap();
        // The third had its processors, and ran until it was cancelled; the fourth was not cancelled.
        assert_eq!(workload.jobs.iter().map(|job| job.number).collect::<Vec<_>>(), [3, 4]);
        assert_eq!((workload.cleaning.count(NeverRan), workload.cleaning.not_sane()), (2, 2));
        // The 900 s of a job that never ran are not the log's largest estimate.
        assert_eq!(workload.jobs[1].submission.estimate, 60);
    }

    #[test]
    fn processors_are_those_requested_unless_told_otherwise() {
        let records = [(0, 0, 10, 8, 4, 60), (0, 0, 10, 8, -1, 60), (0, 0, 10, -1, 4, 60)];
        let procs = |rules| clean_with(&records, rules).jobs.iter().map(|j| j.submission.procs).collect::<Vec<_>>();
        assert_eq!(procs(Cleaning::default()), [4, 8, 4]);
        assert_eq!(procs(Cleaning { procs_field: ProcsField::Allocated, ..Cleaning::default() }), [8, 8, 4]);
    }

    #[test]
    fn a_missing_estimate_is_the_largest_of_the_sane_records() {
        // The estimate 900 of a record that is not sane does not count; the 500 of a too wide one does.
        let records = [(0, 0, 10, 4, 4, 60), (0, 0, -1, 4, 4, 900), (0, 0, 10, 99, 99, 500), (0, 0, 10, 4, 4, 0)];
        let estimates = |records: &[_], rules| {
            let workload = clean_with(records, rules);
            workload.jobs.iter().map(|job| job.submission.estimate).collect::<Vec<_>>()
        };
        assert_eq!(estimates(&records, Cleaning::default()), [60, 500]);
        let truth = Cleaning { missing_estimate: MissingEstimate::Runtime, ..Cleaning::default() };
        assert_eq!(estimates(&records, truth), [60, 10]);
        // A log without any estimate: the longest runtime rounded up to hours.
        assert_eq!(estimates(&[(0, 0, 3601, 1, 1, -1), (0, 0, 5, 1, 1, -1)], Cleaning::default()), [7200, 7200]);
        assert_eq!(estimates(&[(0, 0, 0, 1, 1, -1)], Cleaning::default()), [3600]);
    }

    #[test]
    fn runtimes_of_zero_and_beyond_the_estimate() {
        let records = [(0, 0, 0, 1, 1, 60), (0, 0, 90, 1, 1, 60)];
        let runtimes = |rules| clean_with(&records, rules).jobs.iter().map(|j| j.runtime).collect::<Vec<_>>();
        assert_eq!(runtimes(Cleaning::default()), [1, 90]);
        assert_eq!(runtimes(Cleaning { overrun: Overrun::Kill, ..Cleaning::default() }), [1, 60]);
        let report = clean_with(&records, Cleaning::default()).cleaning;
        assert_eq!((report.count(ZeroRuntime), report.count(CleaningCause::Overrun)), (1, 1));
    }

    #[test]
    fn jobs_are_sorted_and_equal_times_keep_their_order() {
        let workload = clean_with(
            &[(5, 0, 1, 1, 1, 1), (3, 0, 1, 1, 1, 1), (5, 0, 1, 1, 1, 1), (3, 0, 1, 1, 1, 1)],
            Cleaning::default(),
        );
        assert_eq!(workload.jobs.iter().map(|job| job.number).collect::<Vec<_>>(), [2, 4, 1, 3]);
        assert_eq!(workload.cleaning.count(OutOfOrder), 2);
    }

    #[test]
    fn a_log_without_a_machine_shows_it_by_its_peak_or_needs_one() {
        // The first job ends when the second starts. The third runs beside it, and the fourth uses nothing.
        let jobs =
            [(0, 1, 9, 3, 3, 9), (2, 8, 5, 2, 2, 9), (4, 7, 3, 2, 2, 9), (4, 8, 0, 3, 3, 9), (5, -1, 2, 1, 1, 9)];
        let mut nameless = log(&jobs);
        nameless.header = Header::default();
        let workload = clean(&nameless, &Cleaning::default()).unwrap();
        assert_eq!((workload.procs, workload.cleaning.machine_is_peak), (4, true));
        nameless.records.push(Record { requested: 7, wait: -1, ..nameless.records[0] });
        assert_eq!(peak(&nameless.records, ProcsField::Requested), Some(7), "at least the widest job");
        nameless.records.iter_mut().for_each(|record| record.wait = -1);
        let nameless_error = clean(&nameless, &Cleaning::default()).unwrap_err().to_string();
        assert_eq!(nameless_error, TraceError::no_machine("test").to_string());
        assert_eq!(clean(&nameless, &Cleaning { procs: Some(8), ..Cleaning::default() }).unwrap().procs, 8);
    }
}
