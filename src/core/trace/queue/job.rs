//! A job of a present queue.

use std::sync::Arc;

use crate::request::Request;
use crate::time::{Seconds, Time};

/// A job that has not ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PresentJob {
    /// The id as Slurm prints it: `123`, `123_4` for a task of an array, `123+0` for a part of a heterogeneous job. Of SWF the
    /// job number.
    pub name: String,
    /// Whether it runs, waits or is held.
    pub stage: PresentStage,
    /// Whether it is a task between the first and the last of an array that the file has in one row, with more than 100 tasks. The
    /// two are enough for an answer.
    pub is_inner_task: bool,
    /// When it was submitted: Unix seconds, of SWF seconds of the log.
    pub submit: Time,
    /// Since when nothing but the scheduler holds it, if the file says so.
    pub eligible: Option<Time>,
    /// When Slurm expects a waiting or held job to start, if it has computed that.
    pub expected_start: Option<Time>,
    /// The processors that it has or needs, in the unit that was asked for.
    pub procs: u32,
    /// Its time limit. None if it has no limit, or if the limit is not known.
    pub estimate: Option<Seconds>,
    /// The user. As all names here: None if it is unknown, and of SWF the number as text.
    pub user: Option<Arc<str>>,
    /// The account, of SWF the group.
    pub group: Option<Arc<str>>,
    /// The job name, of SWF the executable.
    pub executable: Option<Arc<str>>,
    /// The quality of service, of SWF the queue.
    pub queue: Option<Arc<str>>,
    /// The partition. A job that waits for one of several partitions has a list of them: `main,long`.
    pub partition: Option<Arc<str>>,
    /// What it asks for, if the file says more than a number of processors.
    pub request: Option<Arc<Request>>,
    /// The nodes on which it runs, as Slurm writes a list of them.
    pub nodes: Option<Arc<str>>,
}

impl PresentJob {
    /// A job with only its names: user, group, executable, queue, partition.
    pub fn named([user, group, executable, queue, partition]: [Option<Arc<str>>; 5]) -> PresentJob {
        PresentJob { user, group, executable, queue, partition, ..PresentJob::default() }
    }
}

/// What a job of the queue does now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PresentStage {
    /// It has its processors.
    Running {
        /// When it started.
        start: Time,
    },
    /// It waits for processors.
    #[default]
    Waiting,
    /// It would not start even if processors were free: it is held, or waits for another job, a date or a limit.
    Held {
        /// Slurm's reason, or its state if that is the reason.
        reason: Arc<str>,
    },
}
