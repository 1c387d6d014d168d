//! The links between the jobs of a workload, by their places in it.

use super::{FollowingJob, LogFeedback};
use crate::job::Job;
use crate::time::Seconds;
use crate::trace::conditions::RecordPlaces;
use crate::trace::workload::Workload;

/// The links between the jobs of a workload. A copy of a job, if the log is repeated, follows the copies that belong to it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FeedbackLinks {
    /// Each job precedes others in one group at most, and follows others in one at most.
    pub groups: Vec<LinkedGroup>,
    /// The jobs that follow others.
    pub linked: u64,
    /// Jobs that follow a job which is not in the workload. They are submitted at their own time.
    pub cut: u64,
    /// The mean think time in seconds. NaN if no job is linked.
    pub think_mean: f64,
}

/// Jobs after whose last end others are submitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkedGroup {
    /// The places of the jobs that must have ended.
    pub preceding: Vec<u32>,
    /// The places of the jobs that are submitted after the last of these ends, and the seconds between.
    pub following: Vec<(u32, Seconds)>,
}

impl FeedbackLinks {
    /// The links of these jobs. If any job of a preceding batch is not among them, the link is cut.
    pub fn of(jobs: &[Job], feedback: &LogFeedback) -> FeedbackLinks {
        let places = RecordPlaces::new(jobs);
        let (mut links, mut think_times, mut think_sum) = (FeedbackLinks::default(), 0u64, 0.0);
        for group in &feedback.groups {
            for copy in 0.. {
                let place = |job: &FollowingJob| Some((places.get(job.record, copy)?, *job));
                let following: Vec<_> = group.following.iter().filter_map(place).collect();
                if following.is_empty() {
                    break;
                }
                let preceding = group.preceding.iter().map(|&record| places.get(record, copy));
                let Some(preceding) = preceding.collect::<Option<Vec<u32>>>() else {
                    links.cut += following.len() as u64;
                    continue;
                };
                links.linked += following.len() as u64;
                for (_, job) in following.iter().filter(|(_, job)| job.is_think_time) {
                    think_times += 1;
                    think_sum += job.delay as f64;
                }
                let following = following.into_iter().map(|(at, job)| (at, job.delay)).collect();
                links.groups.push(LinkedGroup { preceding, following });
            }
        }
        FeedbackLinks { think_mean: think_sum / think_times as f64, ..links }
    }

    /// By job: whether it follows others.
    pub fn is_linked(&self, jobs: usize) -> Vec<bool> {
        let mut is_linked = vec![false; jobs];
        let following = self.groups.iter().flat_map(|group| &group.following);
        following.for_each(|&(at, _)| is_linked[at as usize] = true);
        is_linked
    }
}

impl Workload {
    /// The links between its jobs. None without feedback.
    pub fn feedback_links(&self) -> Option<FeedbackLinks> {
        self.feedback.as_ref().map(|feedback| FeedbackLinks::of(&self.jobs, feedback))
    }
}
