//! A workload: the jobs of a log that can be simulated, and the size of the machine.

use std::sync::Arc;

use super::conditions::{LogConditions, NeverEligible};
use super::error::TraceError;
use super::feedback::LogFeedback;
use super::ids::{LogId, LogIds};
use super::resampled::Resampled;
use super::rows::NameKind;
use super::shown_names::ShownNames;
use super::wide::WideNumbers;
use super::zone::Zone;
use crate::counts::{Counts, DroppedJobs, causes};
use crate::job::Job;
use crate::machine::{OutagePlan, Outages, Shapes, Unplaceable};
use crate::request::Requests;
use crate::time::{Seconds, Time};

/// Jobs in order of submission (jobs with equal times keep the log's order), and a machine that is large enough for each. With
/// feedback they are in the order of the log, even if shaping has moved some.
#[derive(Clone, Debug, Default)]
pub struct Workload {
    /// The log's name in results.
    pub label: String,
    /// The processors of the machine.
    pub procs: u32,
    /// In order of submission; at least one.
    pub jobs: Vec<Job>,
    /// The Unix time of the log's time 0. None if the log does not say it.
    pub unix_start: Option<Time>,
    /// The time zone of the machine.
    pub zone: Zone,
    /// The numbers of users and other names in the jobs that do not fit into 32 bits.
    pub wide: WideNumbers,
    /// The names that are shown instead of numbers; none unless they were asked for.
    pub names: ShownNames,
    /// The ids of the jobs in the log, by [`Job::record`].
    pub ids: Arc<LogIds>,
    /// What the jobs ask of a machine of nodes, by [`Job::request`].
    pub requests: Arc<Requests>,
    /// The nodes on which they run. None: the machine is a pool of processors.
    pub shapes: Option<Arc<Shapes>>,
    /// Parts of the machine that are out for a time, or reserved. None: it is always whole.
    pub outages: Option<Arc<Outages>>,
    /// What jobs wait for before they may join the queue, by [`Job::record`].
    pub conditions: Arc<LogConditions>,
    /// Which jobs are submitted after the ends of others, by [`Job::record`]. None: all are submitted at their own times. Jobs
    /// with links may have other submit times than their places say.
    pub feedback: Option<Arc<LogFeedback>>,
    /// What is known of it if its users or weeks were drawn. None: it is the log.
    pub resampled: Option<Arc<Resampled>>,
    /// What cleaning did to the log's records.
    pub cleaning: CleaningReport,
}

impl Workload {
    /// The submit time of the first job.
    ///
    /// # Panics
    /// If there are no jobs, which no function of this crate produces.
    pub fn first_submit(&self) -> Time {
        self.jobs[0].submission.submit
    }

    /// Its outages with its first submission. None if it has none.
    pub fn outage_plan(&self) -> Option<OutagePlan> {
        self.outages.clone().map(|outages| OutagePlan { outages, first: self.first_submit() })
    }

    /// The number of jobs whose user is not known.
    pub fn jobs_without_user(&self) -> usize {
        self.jobs.iter().filter(|job| job.submission.user < 0).count()
    }

    /// The same with other jobs of the log. Those of this workload are not copied.
    pub fn with_jobs(&self, jobs: Vec<Job>) -> Workload {
        Workload {
            label: self.label.clone(),
            procs: self.procs,
            jobs,
            unix_start: self.unix_start,
            zone: self.zone.clone(),
            wide: self.wide.clone(),
            names: self.names.clone(),
            ids: self.ids.clone(),
            requests: self.requests.clone(),
            shapes: self.shapes.clone(),
            outages: self.outages.clone(),
            conditions: self.conditions.clone(),
            feedback: self.feedback.clone(),
            resampled: self.resampled.clone(),
            cleaning: self.cleaning.clone(),
        }
    }

    /// Leaves out jobs that cannot run on another machine of a comparison.
    ///
    /// # Errors
    /// If no job is left.
    pub fn leave_out(&mut self, is_out: impl Fn(&Job) -> bool) -> Result<(), TraceError> {
        let Workload { jobs, cleaning, label, .. } = self;
        jobs.retain(|job| {
            let is_out = is_out(job);
            if is_out {
                cleaning.add_unplaceable(job.number, &Unplaceable::OnlyHere);
            }
            !is_out
        });
        match jobs.is_empty() {
            false => Ok(()),
            true => {
                let why = "no job can run on all machines of the comparison".to_string();
                Err(TraceError::NoJobs { name: label.clone(), why })
            }
        }
    }

    /// What is shown of a user, group, queue or partition of a job: its name if names were asked for, else its number;
    /// `unknown` without either.
    pub fn shown(&self, kind: NameKind, code: i32) -> String {
        self.names.shown(kind, self.wide.number(code))
    }

    /// The id of a job in the log.
    pub fn log_id(&self, job: &Job) -> LogId<'_> {
        self.ids.of(job.record, job.number)
    }

    /// The submit time of the last job. Panics as [`Workload::first_submit`].
    pub fn last_submit(&self) -> Time {
        self.jobs[self.jobs.len() - 1].submission.submit
    }
}

causes! {
    /// What cleaning does to a record, and why.
    CleaningCause:
    /// Neither requested nor allocated processors are above 0.
    WithoutProcs drops "without processors", column("without_procs", "records without processors");
    /// A negative runtime.
    NegativeRuntime drops "with a negative run time", column("negative_runtime", "records with a negative run time");
    /// A negative submit time.
    NegativeSubmit drops "with a negative submit time",
        column("negative_submit", "records with a negative submit time");
    /// Cancelled before any processors were allocated (status 5), whatever the runtime.
    NeverRan drops "cancelled before they had processors",
        column("never_ran", "jobs that were cancelled before they had processors");
    /// Wider than the machine.
    TooWide drops "wider than the machine", column("too_wide", "jobs wider than the machine");
    /// Can never run on the nodes of the machine ([`CleaningReport::unplaceable`]).
    Unplaceable drops "never able to run on the machine";
    /// Held for ever, or waiting for what never happens ([`CleaningReport::never_eligible`]).
    NeverEligible drops "never able to start because of their conditions";
    /// No estimate. 0 unless the rules drop such jobs.
    WithoutEstimate drops "without an estimate", column("without_estimate", "jobs without an estimate");
    /// No recorded wait. 0 unless the rules require waits, as `replay` does.
    WithoutWait drops "without a recorded wait", column("without_wait", "jobs without a recorded wait");
    /// No estimate, so that it was assigned another one.
    Filled notes "", column("estimates_filled", "jobs whose missing estimate is filled in");
    /// A recorded runtime of 0, simulated as 1 second.
    ZeroRuntime notes "run times of 0, simulated as 1 second",
        column("zero_runtime", "jobs with a run time of 0, simulated as 1 second");
    /// Runs longer than its estimate. The rules decide whether it is ended there.
    Overrun notes "run times over the estimate", column("overruns", "jobs that run longer than their estimate");
    /// Follows a job with a later submit time in the log.
    OutOfOrder notes "submitted before the record above, sorted",
        column("out_of_order", "jobs submitted before the record above");
    /// No estimate, so that it has the limit of its partition on the machine.
    ByPartition notes "", noted(
        "job without an estimate: the limit of the partition is used (default_time, else max_time)",
        "jobs without an estimate: the limit of the partition is used (default_time, else max_time)"
    );
    /// An estimate that was cut at the longest time of the job's partitions.
    CutAtPartition notes "", noted(
        "estimate is longer than any partition of the job allows: cut at its max_time",
        "estimates are longer than any partition of the job allows: cut at its max_time"
    );
    /// A dependency on a job that was dropped, which counts as met.
    MissingDependency notes "";
    /// An estimate from a model.
    Modelled notes "";
    /// Runs longer than the model's longest estimate.
    ModelledCut notes "";
    /// The model had no long enough estimate left.
    ModelledShort notes "";
}

/// The causes for which a record is not sane.
const NOT_SANE: [CleaningCause; 4] = [
    CleaningCause::WithoutProcs,
    CleaningCause::NegativeRuntime,
    CleaningCause::NegativeSubmit,
    CleaningCause::NeverRan,
];

/// What cleaning did to the records of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CleaningReport {
    /// All records of the log.
    pub records: u64,
    /// How many of them each cause applies to, but for those that have fields of their own.
    pub causes: Counts<CleaningCause>,
    /// Those that can never run on the nodes of the machine.
    pub unplaceable: DroppedJobs<Unplaceable>,
    /// Those that are held for ever, or wait for what never happens.
    pub never_eligible: DroppedJobs<NeverEligible>,
    /// The estimate assigned to jobs without one, in seconds; 0 if each got its own runtime.
    pub filled_with: Seconds,
    /// No job has an estimate, so the assigned one is from the longest runtime.
    pub filled_from_runtime: bool,
    /// The machine is the most that was in use at once, because neither the log nor the rules say its size.
    pub machine_is_peak: bool,
}

impl CleaningReport {
    /// How many records a cause applies to.
    pub fn count(&self, cause: CleaningCause) -> u64 {
        match cause {
            CleaningCause::Unplaceable => self.unplaceable.count(),
            CleaningCause::NeverEligible => self.never_eligible.count(),
            cause => self.causes[cause],
        }
    }

    /// Counts a job that can never run on the nodes of the machine.
    pub fn add_unplaceable(&mut self, job: i64, why: &Unplaceable) {
        let why = match why {
            Unplaceable::NoPartition(_) => &Unplaceable::NoDefault,
            why => why,
        };
        self.unplaceable.add(job, why.clone());
    }

    /// Records that are not sane: no processors, a time below 0, or a job that never ran.
    pub fn not_sane(&self) -> u64 {
        NOT_SANE.into_iter().map(|cause| self.causes[cause]).sum()
    }

    /// All records that did not become jobs.
    pub fn dropped(&self) -> u64 {
        let drops = CleaningCause::ALL.iter().filter(|(_, words)| words.is_drop);
        drops.map(|(cause, _)| self.count(*cause)).sum()
    }

    /// The records that became jobs.
    pub fn jobs(&self) -> u64 {
        self.records - self.dropped()
    }
}
