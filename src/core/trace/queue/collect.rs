//! Makes the jobs of a present queue.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::PresentQueue;
use super::array::SlurmId;
use super::job::{PresentJob, PresentStage};
use super::present_rows::PresentRows;
use super::stage::{SlurmState, waits_for_processors};
use crate::request::Request;
use crate::time::{DAY, Seconds};
use crate::trace::clean::{ProcsField, procs_of};
use crate::trace::log::Log;
use crate::trace::record::CANCELLED;
use crate::trace::rows::{Collector, JobInRow, RowCause, Unit};

/// The most tasks of arrays that become jobs. Slurm allows four million in one array, and a damaged file may say anything.
const MOST_TASKS: u64 = 1_000_000;

/// Of an array in one row with more tasks than this only the first and the last are listed in answers.
const MOST_LISTED: u64 = 100;

/// How long after its estimate a record of SWF may still run.
const OVERDUE: Seconds = DAY;

/// A row of Slurm: a job, or the waiting tasks of an array.
pub struct PresentRow<'a> {
    pub id: SlurmId<'a>,
    pub state: SlurmState,
    /// Why it is pending.
    pub reason: &'a [u8],
    /// It is held, whatever its reason.
    pub on_hold: bool,
    /// What it asks for, if that is more than a number of processors.
    pub request: Option<Request>,
    /// The list of its nodes.
    pub nodes: &'a [u8],
    /// The rest. Its processors are the requested ones.
    pub job: JobInRow<'a>,
}

impl Collector<'_> {
    /// Adds a row of Slurm to a present queue.
    pub fn present_job(&mut self, row: &PresentRow<'_>) {
        let PresentRow { job, state, .. } = row;
        let (queue, report) = (&mut self.present, &mut self.log.source);
        report.rows += 1;
        queue.saw(job.submit);
        let reason = queue.text(row.reason).unwrap_or_default();
        let cause = match (state, job.start) {
            (SlurmState::Ended, _) => Some(RowCause::Ended),
            (SlurmState::Unknown, _) => return self.unknown_state(job.state),
            (SlurmState::Ending, _) => Some(RowCause::Ending),
            (SlurmState::Running, None) => Some(RowCause::WithoutStart),
            _ => None,
        };
        if let (SlurmState::Running | SlurmState::Held(_) | SlurmState::Ending, Some(start)) = (state, job.start) {
            queue.saw(start.saturating_add(job.elapsed.unwrap_or(0)));
        }
        let procs = u32::try_from(job.requested).unwrap_or(0);
        if let Some(cause) = cause {
            return report.causes.add(cause, 1);
        }
        match self.options.reading.unit {
            _ if procs > 0 => {}
            unit if Unit::DEVICES.contains(&unit) => {
                report.without_device[unit] += 1;
                return;
            }
            _ => return report.causes.add(RowCause::WithoutProcs, 1),
        }
        let stage = match (state, job.start) {
            (SlurmState::Running, Some(start)) => PresentStage::Running { start },
            (SlurmState::Held(state), _) => PresentStage::Held { reason: (*state).into() },
            _ if !waits_for_processors(&reason) => PresentStage::Held { reason },
            _ if row.on_hold => PresentStage::Held { reason: "JobHeld".into() },
            _ => PresentStage::Waiting,
        };
        let names = job.names.map(|name| queue.text(name));
        let request = row.request.clone().map(Arc::new);
        let nodes = queue.text(row.nodes).filter(|_| matches!(stage, PresentStage::Running { .. }));
        let expected_start = job.start.filter(|_| *state == SlurmState::Pending);
        let present = |name: String, is_inner_task: bool| PresentJob {
            name,
            stage: stage.clone(),
            is_inner_task,
            submit: job.submit,
            eligible: job.eligible,
            expected_start,
            procs,
            estimate: job.estimate.filter(|&limit| limit > 0),
            request: request.clone(),
            nodes: nodes.clone(),
            ..PresentJob::named(names.clone())
        };
        match &row.id {
            SlurmId::One(name) => queue.jobs.push(present(name.to_string(), false)),
            SlurmId::Array(array, tasks) => {
                let taken = tasks.count().min(MOST_TASKS - queue.tasks);
                queue.tasks += taken;
                report.causes.add(RowCause::TaskLeftOut, tasks.count() - taken);
                let is_inner = |at: u64| taken > MOST_LISTED && at > 0 && at + 1 < taken;
                let numbers = tasks.numbers().take(taken as usize).zip(0..);
                queue.jobs.extend(numbers.map(|(task, at)| present(format!("{array}_{task}"), is_inner(at))));
                if tasks.cut {
                    report.causes.add(RowCause::CutArray, 1);
                    report.first_cut_array.get_or_insert_with(|| array.to_string());
                }
            }
        }
    }

    /// The queue of all rows. `field` is the one of an SWF log with the processors.
    pub fn into_queue(mut self, field: ProcsField) -> PresentQueue {
        if self.format.name() == "swf" {
            self.present.add_open_records(&mut self.log, field);
        } else {
            // `squeue -P` prints a job once for each of its partitions. Records of SWF have no ids that must differ.
            let mut seen = FxHashSet::default();
            let all = self.present.jobs.len();
            self.present.jobs.retain(|job| seen.insert(job.name.clone()));
            self.log.source.causes.set(RowCause::Repeated, (all - self.present.jobs.len()) as u64);
        }
        let (PresentRows { jobs, now, .. }, Log { name, source, skipped, header, .. }) = (self.present, self.log);
        PresentQueue { name, jobs, report: source, skipped, now, header }
    }
}

impl PresentRows {
    /// Adds the records of an SWF log that have no runtime.
    fn add_open_records(&mut self, log: &mut Log, field: ProcsField) {
        let Log { records, wide, source: report, .. } = log;
        report.rows = records.len() as u64;
        for record in records {
            let cause = match procs_of(record, field) {
                _ if record.runtime >= 0 => Some(RowCause::Ended),
                _ if record.submit < 0 => Some(RowCause::WithoutSubmit),
                // It never ran and does not wait any more. Any other status is accepted: a log that was cut keeps its
                // statuses.
                _ if record.status == CANCELLED && record.allocated <= 0 => Some(RowCause::Cancelled),
                procs if procs <= 0 => Some(RowCause::WithoutProcs),
                _ => None,
            };
            if let Some(cause) = cause {
                report.causes.add(cause, 1);
                if record.runtime >= 0 && record.submit >= 0 {
                    // The log was not cut before it was submitted.
                    self.saw(record.submit);
                }
                continue;
            }
            let start = (record.wait >= 0).then_some(record.submit + record.wait);
            self.saw(start.unwrap_or(record.submit));
            let codes = [record.user, record.group, record.executable, record.queue, record.partition];
            let names = codes.map(|code| match wide.number(code) {
                -1 => None,
                number => self.text(number.to_string().as_bytes()),
            });
            self.jobs.push(PresentJob {
                name: record.number.to_string(),
                stage: start.map_or(PresentStage::Waiting, |start| PresentStage::Running { start }),
                submit: record.submit,
                procs: procs_of(record, field) as u32,
                estimate: Some(record.estimate).filter(|&estimate| estimate > 0),
                ..PresentJob::named(names)
            });
        }
        let overdue = self.drop_overdue();
        report.causes.add(RowCause::Overdue, overdue);
    }

    /// Drops running jobs that must have ended long ago. In logs of archives some jobs that ran have no runtime (129 of SDSC-BLUE,
    /// 10,875 of SDSC-DS). If one is cut, they would hold their processors at the cut, years later.
    /// Returns how many.
    fn drop_overdue(&mut self) -> u64 {
        let Some(now) = self.now else { return 0 };
        let all = self.jobs.len();
        self.jobs.retain(|job| {
            !matches!((&job.stage, job.estimate), (PresentStage::Running { start }, Some(estimate))
                if start + estimate + OVERDUE < now)
        });
        (all - self.jobs.len()) as u64
    }
}
