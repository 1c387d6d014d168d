//! How far a plan of reservations still holds after running jobs have ended or count by other ends.

use std::cmp::Ordering;

use super::hints::Roomless;
use super::machine::Machine;
use super::profile::Profile;
use super::running::Running;
use crate::job::JobId;
use crate::time::{Seconds, Time};

/// The place of a waiting job in the plan.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlannedJob {
    pub id: JobId,
    pub procs: u32,
    /// If it is open, an instant before which it cannot begin.
    pub start: Time,
    pub length: Seconds,
    /// Whether its start is not known yet. The profile does not have it.
    pub is_open: bool,
}

impl PlannedJob {
    pub fn end(&self) -> Time {
        self.start.saturating_add(self.length)
    }
}

/// Compares a plan with what a new one would be, without making the new one.
///
/// Before some instant, the *horizon*, running jobs leave more or fewer processors than the plan counts with. From the horizon
/// on they leave the same. As long as the jobs before it in the queue have the same places, a job has the same place as well,
/// unless there is now a place for it before the horizon, or its place before the horizon is not the first one any more. A place
/// before the horizon ends soon after it. So of the other reservations only those matter that begin soon after the horizon.
///
/// To leave out more of those from the horizon on would let the check see changes where there are none. It would not hide any.
#[derive(Default)]
pub(super) struct Check {
    /// Ends of running jobs and the processors that are added until then: positive for jobs that do not run any more or do
    /// not run so long, negative for jobs that the plan does not count with or that run longer.
    pub changes: Vec<(Time, i64)>,
    /// The free processors until soon after the horizon.
    profile: Profile,
    /// The jobs that have no place before the horizon.
    roomless: Roomless,
}

impl Check {
    /// Finds the changes of the running jobs since the plan was made. `planned` are those that the plan counts with, in order
    /// of their ends and ids.
    pub fn compare(&mut self, planned: &[Running], machine: &Machine) {
        self.changes.clear();
        let key = |job: &Running| (job.end, job.id);
        let past = planned.partition_point(|job| job.end <= machine.now);
        let (mut planned, mut running) = (planned[past..].iter().peekable(), machine.running.iter().peekable());
        loop {
            let order = match (planned.peek(), running.peek()) {
                (Some(a), Some(b)) => key(a).cmp(&key(b)),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => return,
            };
            if order != Ordering::Greater
                && let Some(job) = planned.next()
                && order == Ordering::Less
            {
                self.changes.push((job.end, i64::from(job.procs)));
            }
            if order != Ordering::Less
                && let Some(job) = running.next()
                && order == Ordering::Greater
            {
                self.changes.push((job.end, -i64::from(job.procs)));
            }
        }
    }

    /// The instant from which on running jobs leave as many processors as the plan counts with. None if they do so from now on.
    pub fn horizon(&self) -> Option<Time> {
        self.changes.iter().map(|(end, _)| *end).max()
    }

    /// The number of reservations before the first one that would be another. `longest` is a length that none of them exceeds.
    /// Those that are open begin after now, and not before the horizon.
    pub fn unchanged(&mut self, reserved: &[PlannedJob], longest: Seconds, machine: &Machine) -> usize {
        let Some(horizon) = self.horizon() else {
            // Only a job whose start is past would have another.
            return reserved.iter().position(|job| job.start < machine.now).unwrap_or(reserved.len());
        };
        let soon = horizon.saturating_add(longest);
        self.roomless.clear();
        self.profile.reset(machine);
        let mut is_same = |job: &PlannedJob| {
            let &PlannedJob { procs, start, length, is_open, .. } = job;
            let procs = i64::from(procs);
            if start < horizon {
                return self.profile.reserve(procs, length) == start;
            }
            if !self.roomless.contains(procs, length) {
                if self.profile.has_room_before(horizon, procs, length) {
                    return false;
                }
                self.roomless.add(procs, length);
            }
            if start < soon && !is_open {
                self.profile.add(start, start + length, -procs);
            }
            true
        };
        reserved.iter().position(|job| !is_same(job)).unwrap_or(reserved.len())
    }
}
