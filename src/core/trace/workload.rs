//! A workload: the jobs of a log that can be simulated, and the size of the machine.

use std::sync::Arc;

use super::conditions::{LogConditions, NeverEligible};
use super::feedback::LogFeedback;
use super::ids::{LogId, LogIds};
use super::resampled::Resampled;
use super::rows::NameKind;
use super::shown_names::ShownNames;
use super::wide::WideNumbers;
use super::zone::Zone;
use crate::job::Job;
use crate::machine::{BadConstraint, OutagePlan, Outages, Shapes, Unplaceable};
use crate::request::Requests;
use crate::text::counted;
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
            cleaning: self.cleaning,
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

/// The number of records that each rule of cleaning applied to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CleaningReport {
    /// All records of the log.
    pub records: u64,
    /// Dropped: neither requested nor allocated processors are above 0.
    pub without_procs: u64,
    /// Dropped: a negative runtime.
    pub negative_runtime: u64,
    /// Dropped: a negative submit time.
    pub negative_submit: u64,
    /// Dropped: cancelled before any processors were allocated (status 5), whatever the runtime.
    pub never_ran: u64,
    /// Dropped: wider than the machine.
    pub too_wide: u64,
    /// Dropped: can never run on the nodes of the machine.
    pub unplaceable: Unplaced,
    /// Dropped: held for ever, or waiting for what never happens.
    pub never_eligible: NeverEligible,
    /// Dependencies on jobs that were dropped, which count as met.
    pub missing_dependencies: u64,
    /// Dropped: no estimate. 0 unless the rules drop such jobs.
    pub without_estimate: u64,
    /// Dropped: no recorded wait. 0 unless the rules require waits, as `replay` does.
    pub without_wait: u64,
    /// Jobs without an estimate that have the limit of their partition on the machine.
    pub by_partition: u64,
    /// Jobs whose estimate was cut at the longest time of their partitions.
    pub cut_at_partition: u64,
    /// Jobs without an estimate that were assigned another one.
    pub filled: u64,
    /// The estimate assigned to them, in seconds; 0 if each got its own runtime.
    pub filled_with: Seconds,
    /// No job has an estimate, so the assigned one is from the longest runtime.
    pub filled_from_runtime: bool,
    /// Jobs with a recorded runtime of 0, simulated as 1 second.
    pub zero_runtime: u64,
    /// Jobs that run longer than their estimate. The rules decide whether they are ended there.
    pub overruns: u64,
    /// Jobs whose estimate is from a model.
    pub modelled: u64,
    /// Jobs among them that run longer than the model's longest estimate.
    pub modelled_cut: u64,
    /// Jobs among them for which the model had no long enough estimate left.
    pub modelled_short: u64,
    /// The machine is the most that was in use at once, because neither the log nor the rules say its size.
    pub machine_is_peak: bool,
    /// Jobs that follow a job with a later submit time in the log.
    pub out_of_order: u64,
}

impl CleaningReport {
    /// Records that are not sane: no processors, a time below 0, or a job that never ran.
    pub fn not_sane(&self) -> u64 {
        self.without_procs + self.negative_runtime + self.negative_submit + self.never_ran
    }

    /// All records that did not become jobs.
    pub fn dropped(&self) -> u64 {
        let on_machine = self.too_wide + self.unplaceable.count() + self.never_eligible.count();
        self.not_sane() + on_machine + self.without_estimate + self.without_wait
    }

    /// The records that became jobs.
    pub fn jobs(&self) -> u64 {
        self.records - self.dropped()
    }
}

/// How many jobs can never run on a cluster, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unplaced {
    /// They name no partition, and the cluster has no default.
    pub without_partition: u64,
    /// Their partitions do not take jobs.
    pub partition_down: u64,
    /// Their partitions do not allow their number of nodes.
    pub node_limits: u64,
    /// Their constraints have counts of nodes.
    pub constraint_counts: u64,
    /// Their constraints are none of Slurm's.
    pub constraint_form: u64,
    /// They do not fit the idle nodes of their partitions.
    pub too_large: u64,
    /// They can run, but not on another machine that is compared with this one.
    pub only_here: u64,
    /// The number of the first of them in the log.
    pub first: i64,
}

impl Unplaced {
    /// All of them.
    pub fn count(&self) -> u64 {
        let by_partition = self.without_partition + self.partition_down + self.node_limits;
        by_partition + self.constraint_counts + self.constraint_form + self.too_large + self.only_here
    }

    /// Counts a job.
    pub fn add(&mut self, job: i64, why: &Unplaceable) {
        if self.count() == 0 {
            self.first = job;
        }
        *match why {
            Unplaceable::NoDefault | Unplaceable::NoPartition(_) => &mut self.without_partition,
            Unplaceable::PartitionDown => &mut self.partition_down,
            Unplaceable::NodeLimits => &mut self.node_limits,
            Unplaceable::Constraint(BadConstraint::Counts) => &mut self.constraint_counts,
            Unplaceable::Constraint(BadConstraint::Form) => &mut self.constraint_form,
            Unplaceable::TooLarge => &mut self.too_large,
            Unplaceable::OnlyHere => &mut self.only_here,
        } += 1;
    }

    /// The causes with their counts, in words.
    pub fn in_words(&self) -> String {
        let causes = [
            (self.without_partition, Unplaceable::NoDefault),
            (self.partition_down, Unplaceable::PartitionDown),
            (self.node_limits, Unplaceable::NodeLimits),
            (self.constraint_counts, Unplaceable::Constraint(BadConstraint::Counts)),
            (self.constraint_form, Unplaceable::Constraint(BadConstraint::Form)),
            (self.too_large, Unplaceable::TooLarge),
            (self.only_here, Unplaceable::OnlyHere),
        ];
        let some = causes.iter().filter(|(count, _)| *count > 0);
        some.map(|(count, why)| format!("{}: {why}", counted(*count, "job"))).collect::<Vec<_>>().join("; ")
    }
}
