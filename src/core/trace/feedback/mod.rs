//! Users who react: jobs that are submitted some time after the end of earlier jobs of their user.
//!
//! The submit times of a log are what users did on the machine that they had. With feedback, a linked job is submitted relative
//! to the simulated ends of earlier jobs. Links are found in the cleaned log, before it is shaped, and kept by record, as
//! conditions are; [`FeedbackLinks`] has those of the jobs of a workload. The engine obeys them ([`crate::engine::Gate`]).

mod fields;
mod links;
mod model;
mod sessions;
mod think;

pub use fields::Preceding;
pub use links::{FeedbackLinks, LinkedGroup};
pub use model::{FeedbackModel, feedback_forms};

use litemap::LiteMap;

use crate::job::Job;
use crate::time::{Seconds, Time};

/// The links between the jobs of a cleaned log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogFeedback {
    /// Each record precedes others in one group at most, and follows others in one at most.
    pub groups: Vec<ReactionGroup>,
    /// Jobs whose link in the log cannot be used: their preceding job was dropped or is not earlier, or their think time is
    /// negative. They are submitted at their own time.
    pub unusable: u64,
}

/// Jobs after whose last end others are submitted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReactionGroup {
    /// The records of the jobs that must have ended.
    pub preceding: Vec<u32>,
    /// The jobs that are submitted after the last of these ends.
    pub following: Vec<FollowingJob>,
}

/// A job that is submitted after the ends of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FollowingJob {
    /// Its record.
    pub record: u32,
    /// Seconds from the last end to its submission.
    pub delay: Seconds,
    /// Whether this is a think time. The other jobs of a batch keep their distance from the first.
    pub is_think_time: bool,
}

/// When a job ended in the log. None if its wait is not known.
fn recorded_end(job: &Job) -> Option<Time> {
    job.recorded_wait.get().map(|wait| job.submission.submit + wait + job.runtime)
}

/// The places of the jobs of each known user, in workload order.
fn by_user(jobs: &[Job]) -> impl Iterator<Item = Vec<usize>> {
    let mut users = LiteMap::<i32, Vec<usize>>::new();
    for (at, job) in jobs.iter().enumerate().filter(|(_, job)| job.submission.user != -1) {
        users.entry(job.submission.user).or_default().push(at);
    }
    users.into_tuple_vec().into_iter().map(|(_, places)| places)
}

/// Groups of one preceding job each, in workload order. `links` are the places of preceding and following jobs, with think times.
fn groups_of_pairs(jobs: &[Job], mut links: Vec<(usize, usize, Seconds)>) -> Vec<ReactionGroup> {
    links.sort_unstable();
    let group = |together: &[(usize, usize, Seconds)]| ReactionGroup {
        preceding: vec![jobs[together[0].0].record],
        following: together
            .iter()
            .map(|&(_, at, delay)| FollowingJob { record: jobs[at].record, delay, is_think_time: true })
            .collect(),
    };
    links.chunk_by(|a, b| a.0 == b.0).map(group).collect()
}
