//! Links by sessions: each batch of a user follows the batch before it (Shmueli and Feitelson).

use super::{FollowingJob, ReactionGroup, by_user, recorded_end};
use crate::job::Job;
use crate::time::{Seconds, Time};

/// The links of batches to the batches before them in their sessions.
///
/// A job begins a batch if all earlier jobs of its user had ended in the log when it was submitted. It begins a session if there
/// are none, or if the time since their last end exceeds the limit; the batch is not linked then. The other jobs of a batch keep
/// their distances from the first. A job whose wait is not known is in no batch, and is submitted at its own time.
pub fn links_of_sessions(jobs: &[Job], limit: Seconds) -> Vec<ReactionGroup> {
    let mut groups = Vec::new();
    for places in by_user(jobs) {
        let mut last_end: Option<Time> = None;
        // The present batch, and how it follows the batch before it: with the last end of that one.
        let (mut batch, mut link): (Vec<u32>, Option<(ReactionGroup, Time)>) = (Vec::new(), None);
        for at in places {
            let Some(end) = recorded_end(&jobs[at]) else { continue };
            let (submit, record) = (jobs[at].submission.submit, jobs[at].record);
            if last_end.is_none_or(|last| submit >= last) {
                groups.extend(link.take().map(|(group, _)| group));
                let preceding = std::mem::take(&mut batch);
                let within_limit = last_end.filter(|last| submit - last <= limit);
                link = within_limit.map(|last| (ReactionGroup { preceding, following: Vec::new() }, last));
            }
            if let Some((group, last)) = &mut link {
                let (delay, is_think_time) = (submit - *last, batch.is_empty());
                group.following.push(FollowingJob { record, delay, is_think_time });
            }
            batch.push(record);
            last_end = last_end.max(Some(end));
        }
        groups.extend(link.map(|(group, _)| group));
    }
    groups
}
