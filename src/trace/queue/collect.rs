//! Collects the jobs of a queue, by the same rules for all formats.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::array::JobId;
use super::stage::{State, waits_for_processors};
use super::{PresentJob, PresentQueue, PresentStage, QueueFormat, QueueReading, QueueReport};
use crate::time::{DAY, Seconds, Time};
use crate::trace::accounting::Unit;
use crate::trace::error::{LineFault, TraceError};
use crate::trace::header::Header;
use crate::trace::lines::shorten;
use crate::trace::read::Skipped;

/// The most tasks of arrays that become jobs. Slurm allows four million in one array, and a damaged file may say anything.
const MOST_TASKS: u64 = 1_000_000;

/// Of an array in one row with more tasks than this only the first and the last are listed in answers.
const MOST_LISTED: u64 = 100;

/// How long after its estimate a record of SWF may still run.
const OVERDUE: Seconds = DAY;

/// A job of Slurm as a row describes it. Unknown values are None, empty or not above 0.
pub struct SlurmJob<'a> {
    pub id: JobId<'a>,
    pub state: State,
    /// The state as written.
    pub state_text: &'a [u8],
    /// Why it is pending.
    pub reason: &'a [u8],
    /// It is held, whatever its reason.
    pub on_hold: bool,
    pub submit: Time,
    pub eligible: Option<Time>,
    /// When it started; of a pending job, when it is expected to.
    pub start: Option<Time>,
    pub elapsed: Option<Seconds>,
    pub procs: i64,
    pub estimate: Option<Seconds>,
    /// User, account, job name, quality of service, partition.
    pub names: [&'a [u8]; 5],
}

/// The jobs of a file while it is read.
pub struct Collector {
    pub reading: QueueReading,
    name: String,
    jobs: Vec<PresentJob>,
    pub report: QueueReport,
    skipped: Skipped,
    now: Option<Time>,
    /// One copy of each name: thousands of jobs have the same.
    texts: FxHashSet<Arc<str>>,
    /// The tasks of arrays that became jobs.
    tasks: u64,
}

impl Collector {
    pub fn new(name: String, reading: QueueReading) -> Self {
        let (jobs, texts) = (Vec::new(), FxHashSet::default());
        let (report, skipped) = (QueueReport::default(), Skipped::default());
        Collector { reading, name, jobs, report, skipped, now: None, texts, tasks: 0 }
    }

    /// The name of the file in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// It was at least this time when the file was made.
    pub fn saw(&mut self, time: Time) {
        self.now = self.now.max(Some(time));
    }

    /// A name. None if there is none.
    pub fn text(&mut self, bytes: &[u8]) -> Option<Arc<str>> {
        // `(null)` is what C prints.
        if bytes.is_empty() || bytes == b"(null)" {
            return None;
        }
        let text = String::from_utf8_lossy(bytes);
        Some(match self.texts.get(&*text) {
            Some(known) => known.clone(),
            None => {
                let new: Arc<str> = text.into();
                self.texts.insert(new.clone());
                new
            }
        })
    }

    /// Counts a faulty line, or returns it as an error.
    #[cold]
    pub fn skip(&mut self, fault: LineFault) -> Result<(), TraceError> {
        if !self.reading.skip_bad_lines {
            return Err(TraceError::Line { name: self.name.clone(), fault });
        }
        self.skipped.count += 1;
        self.skipped.first.get_or_insert(fault);
        Ok(())
    }

    /// Adds a job that was not sorted out.
    pub fn push(&mut self, job: PresentJob) {
        self.jobs.push(job);
    }

    /// Adds a row of Slurm: a job, or the waiting tasks of an array.
    pub fn slurm_job(&mut self, row: &SlurmJob<'_>) {
        self.report.rows += 1;
        self.saw(row.submit);
        let reason = self.text(row.reason).unwrap_or_default();
        let stage = match row.state {
            State::Ended => {
                self.report.ended += 1;
                return;
            }
            State::Unknown => {
                self.report.unknown_states += 1;
                self.report.first_unknown_state.get_or_insert_with(|| shorten(row.state_text));
                return;
            }
            State::Pending if !waits_for_processors(&reason) => PresentStage::Held { reason },
            State::Pending if row.on_hold => PresentStage::Held { reason: "JobHeld".into() },
            State::Pending => PresentStage::Waiting,
            State::Running | State::Held(_) | State::Ending => {
                if let Some(start) = row.start {
                    self.saw(start.saturating_add(row.elapsed.unwrap_or(0)));
                }
                match (row.state, row.start) {
                    (State::Held(state), _) => PresentStage::Held { reason: state.into() },
                    (State::Running, Some(start)) => PresentStage::Running { start },
                    (State::Running, None) => {
                        self.report.without_start += 1;
                        return;
                    }
                    _ => {
                        self.report.ending += 1;
                        return;
                    }
                }
            }
        };
        let Some(procs) = u32::try_from(row.procs).ok().filter(|&procs| procs > 0) else {
            match self.reading.unit {
                Unit::Gpus => self.report.without_gpus += 1,
                Unit::Cpus | Unit::Nodes => self.report.without_procs += 1,
            }
            return;
        };
        let [user, group, executable, queue, partition] = row.names.map(|name| self.text(name));
        let expected_start = row.start.filter(|_| row.state == State::Pending);
        let job = |name: String, is_inner_task: bool| PresentJob {
            name,
            stage: stage.clone(),
            is_inner_task,
            submit: row.submit,
            eligible: row.eligible,
            expected_start,
            procs,
            estimate: row.estimate.filter(|&limit| limit > 0),
            user: user.clone(),
            group: group.clone(),
            executable: executable.clone(),
            queue: queue.clone(),
            partition: partition.clone(),
        };
        match &row.id {
            JobId::One(name) => self.jobs.push(job(name.to_string(), false)),
            JobId::Array(array, tasks) => {
                let taken = tasks.count().min(MOST_TASKS - self.tasks);
                self.tasks += taken;
                self.report.tasks_left_out += tasks.count() - taken;
                let is_inner = |at: u64| taken > MOST_LISTED && at > 0 && at + 1 < taken;
                let numbers = tasks.numbers().take(taken as usize).zip(0..);
                self.jobs.extend(numbers.map(|(task, at)| job(format!("{array}_{task}"), is_inner(at))));
                if tasks.cut {
                    self.report.cut_arrays += 1;
                    self.report.first_cut_array.get_or_insert_with(|| array.to_string());
                }
            }
        }
    }

    /// Drops running jobs that must have ended long ago. In logs of archives some jobs that ran have no runtime (129 of SDSC-BLUE,
    /// 10,875 of SDSC-DS). If one is cut, they would hold their processors at the cut, years later.
    fn drop_overdue(&mut self) {
        let Some(now) = self.now else { return };
        let all = self.jobs.len();
        self.jobs.retain(|job| match (&job.stage, job.estimate) {
            (PresentStage::Running { start }, Some(estimate)) => start + estimate + OVERDUE >= now,
            _ => true,
        });
        self.report.overdue = (all - self.jobs.len()) as u64;
    }

    /// The queue of all rows.
    pub fn finish(mut self, format: QueueFormat, header: Header) -> PresentQueue {
        if format == QueueFormat::Swf {
            self.drop_overdue();
        } else {
            // `squeue -P` prints a job once for each of its partitions. Records of SWF have no ids that must differ.
            let mut seen = FxHashSet::default();
            let first: Vec<bool> = self.jobs.iter().map(|job| seen.insert(job.name.as_str())).collect();
            let all = self.jobs.len();
            let mut first = first.into_iter();
            self.jobs.retain(|_| first.next().expect("one per job"));
            self.report.repeated = (all - self.jobs.len()) as u64;
        }
        let Collector { name, jobs, report, skipped, now, .. } = self;
        PresentQueue { name, format, jobs, report, skipped, now, header }
    }
}
