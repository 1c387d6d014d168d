//! Links by think times: each job follows the job of its user that ended last before it.

use super::{ReactionGroup, by_user, groups_of_pairs, recorded_end};
use crate::job::Job;
use crate::time::Seconds;

/// The links of jobs to the jobs of their users with the latest recorded ends until their submissions (of equal ends the later
/// job in the log), whatever else of the user runs. Think times beyond the limit are no links.
pub fn links_of_think_times(jobs: &[Job], limit: Seconds) -> Vec<ReactionGroup> {
    let mut links = Vec::new();
    for places in by_user(jobs) {
        let end_of = |&at: &usize| recorded_end(&jobs[at]).map(|end| (end, at));
        let mut ends: Vec<_> = places.iter().filter_map(end_of).collect();
        ends.sort_unstable();
        for &at in &places {
            let submit = jobs[at].submission.submit;
            let before = ends.partition_point(|&(end, _)| end <= submit);
            // A job that ended by then was submitted before, because jobs run for a second at least.
            let Some((end, preceding)) = before.checked_sub(1).map(|last| ends[last]) else { continue };
            if submit - end <= limit {
                links.push((preceding, at, submit - end));
            }
        }
    }
    groups_of_pairs(jobs, links)
}
