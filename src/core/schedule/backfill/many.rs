//! A pool of processors with any number of reservations, up to one for every waiting job: the profile of what is free, less the
//! reservations made so far. Far reservations are left open as long as they have no effect.

use super::fitting_job::FittingJob;
use super::hints::Roomless;
use super::limits::StartLimits;
use super::profile::Profile;
use super::scan_index::ScanIndex;
use super::space::{Pass, Space};
use crate::job::JobId;
use crate::schedule::machine::Machine;
use crate::schedule::queue::{QueuePlace, Waiting};
use crate::schedule::rules::Rules;
use crate::time::{Seconds, Time};

/// The plan of one pass.
pub struct ManyReservations {
    rules: Rules,
    profile: Profile,
    limits: StartLimits,
    /// The first waiting job that can start now, as far as that is known. The first 8,000 jobs of KTH with four times their load take
    /// 1.6 times as long without under `conservative`.
    fitting: Option<FittingJob>,
    /// Whether it is certain that it still can.
    is_fitting_sure: bool,
    /// The reservations in the order of the queue, with their starts; of those that are open, an instant before which none begins.
    reserved: Vec<(JobId, Time)>,
    /// The jobs whose reservations are left open: their starts are not known yet, and the profile does not have them.
    open: Vec<FittingJob>,
    /// An instant before which none of these begins: `Time::MAX` if there are none.
    open_from: Time,
    /// A length that no reservation of this pass or the last one exceeds.
    longest: Seconds,
    /// Up to this instant the profile must be exact.
    near: Time,
    /// A reservation from this instant on is left open.
    far: Time,
    /// The jobs that cannot begin before `far`.
    roomless: Roomless,
    /// Whether reservations may be left open: those of all jobs of a deep queue.
    is_lazy: bool,
}

/// Reservations are left open from this number of lengths of the longest job on. The first 8,000 jobs of KTH with four times their
/// load take 2.5 times as long without under `conservative`. It must equal [`super::Reserving::anew`], which leaves none open.
const FAR: Seconds = 2;

impl ManyReservations {
    pub fn new(rules: &Rules) -> ManyReservations {
        ManyReservations {
            rules: *rules,
            profile: Profile::default(),
            limits: StartLimits::default(),
            fitting: None,
            is_fitting_sure: false,
            reserved: Vec::new(),
            open: Vec::new(),
            open_from: Time::MAX,
            longest: 0,
            near: Time::MIN,
            far: Time::MAX,
            roomless: Roomless::default(),
            is_lazy: false,
        }
    }

    /// Whether the reservation of the next job is left open: an instant before which it cannot begin, or None if the profile is
    /// exact wherever it matters for the job.
    ///
    /// The profile without the open reservations has more processors free than it should have, from `open_from` on. So a job that
    /// ends before that has its true place. Any other has it there or later, which is known well enough unless that is near.
    fn leave_open(&mut self, procs: i64, length: Seconds) -> Option<Time> {
        if !self.is_lazy || self.reserved.is_empty() {
            return None;
        }
        if self.roomless.contains(procs, length) {
            return Some(self.far);
        }
        let start = self.profile.earliest(procs, length);
        if start >= self.far {
            self.roomless.add(procs, length);
            return Some(self.far);
        }
        if start.saturating_add(length) <= self.open_from {
            return None;
        }
        if start < self.near {
            self.close();
            return None;
        }
        Some(start)
    }

    /// Finds the true starts of all open reservations. The jobs after them that have a place all end before `open_from`, so they
    /// are not in the way.
    fn close(&mut self) {
        self.open.drain(..).for_each(|job| {
            self.profile.reserve(job.procs, job.length);
        });
        self.open_from = Time::MAX;
    }
}

impl Space for ManyReservations {
    fn begin(&mut self, pass: &Pass<'_>, index: Option<&ScanIndex>) -> bool {
        let machine = pass.machine;
        let narrowest = match index {
            Some(index) => index.narrowest(),
            None => machine.waiting.iter().map(|job| i64::from(job.procs)).min(),
        };
        if narrowest.is_none_or(|procs| procs > machine.free()) {
            return false;
        }
        self.begin_anew(machine);
        self.is_lazy = index.is_some() && self.rules.reservations.is_none();
        self.far = if self.longest > 0 { machine.now + FAR * self.longest } else { Time::MAX };
        self.longest = 0;
        true
    }

    fn begin_anew(&mut self, machine: &Machine) {
        self.profile.reset(machine);
        self.reserved.clear();
        self.open.clear();
        (self.open_from, self.is_lazy) = (Time::MAX, false);
        self.roomless.clear();
        (self.fitting, self.is_fitting_sure) = (None, false);
    }

    /// Limits only get tighter during a pass. So none of the jobs that the walk has reached can start now, and as long as a job can that
    /// was found before, no other is looked for.
    fn is_over(&mut self, pass: &Pass<'_>, index: Option<&ScanIndex>, is_protected: bool, starts: &[JobId]) -> bool {
        if self.is_fitting_sure {
            return false;
        }
        let Pass { machine, arrivals } = *pass;
        if self.fitting.is_none_or(|job| !self.profile.has_room_now(job.procs, job.length)) {
            loop {
                self.profile.limits(&mut self.limits);
                let limits = &self.limits;
                self.fitting = match index.filter(|_| !is_protected) {
                    Some(index) => index.first(|procs| limits.longest(procs)),
                    None => {
                        let fitted = |job: &Waiting| FittingJob::with(job, arrivals.fitted_length(is_protected, job));
                        let mut waiting = machine.waiting.iter().filter(|job| !starts.contains(&job.id)).map(fitted);
                        waiting.find(|job| limits.allow(job.procs, job.length))
                    }
                };
                let Some(job) = self.fitting else { return true };
                self.near = machine.now + job.length;
                if self.near <= self.open_from {
                    break;
                }
                self.close();
            }
        }
        self.is_fitting_sure = true;
        false
    }

    fn count(&self) -> usize {
        self.reserved.len()
    }

    fn are_all_closed(&self) -> bool {
        self.rules.reservations.is_some_and(|most| self.reserved.len() >= most)
    }

    fn try_start(&mut self, job: FittingJob, _in_queue: bool, pass: &Pass<'_>) -> bool {
        let FittingJob { id, procs, length } = job;
        if !self.profile.has_room_now(procs, length) {
            return false;
        }
        if pass.machine.now + length > self.open_from {
            self.close();
            if !self.profile.has_room_now(procs, length) {
                return false;
            }
        }
        let start = self.profile.reserve(procs, length);
        debug_assert_eq!(start, pass.machine.now, "there is room now");
        self.fitting.take_if(|fitting| fitting.id == id);
        self.is_fitting_sure = false;
        true
    }

    fn reserve(&mut self, job: &Waiting, length: Seconds, _pass: &Pass<'_>) {
        let job = FittingJob::with(job, length);
        let start = match self.leave_open(job.procs, length) {
            Some(from) => {
                self.open.push(job);
                self.open_from = self.open_from.min(from);
                from
            }
            None => self.profile.reserve(job.procs, length),
        };
        self.reserved.push((job.id, start));
        self.longest = self.longest.max(length);
        self.fitting.take_if(|fitting| fitting.id == job.id);
        self.is_fitting_sure &= start >= self.near && self.fitting.is_some();
    }

    fn block(&mut self, _id: JobId, _machine: &Machine) {}

    fn list(&mut self, part: &[QueuePlace], _pass: &Pass<'_>, jobs: &mut Vec<Waiting>) {
        self.profile.limits(&mut self.limits);
        let waiting = part.iter().filter_map(QueuePlace::job);
        jobs.extend(waiting.filter(|job| self.limits.allow(i64::from(job.procs), job.length)));
    }

    fn limits(&mut self, _pass: &Pass<'_>) -> impl Fn(i64) -> Option<Seconds> {
        self.profile.limits(&mut self.limits);
        |procs| self.limits.longest(procs)
    }

    fn list_reservations(&mut self, _machine: &Machine, reserved: &mut Vec<(JobId, Time)>) {
        reserved.extend(&self.reserved);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Submission;
    use crate::request::RequestId;
    use crate::schedule::backfill::Reserving;
    use crate::schedule::machine::Change;
    use crate::schedule::policy::{Decisions, Policy, PolicyEvent};
    use crate::schedule::running::Running;

    fn adopt(machine: &mut Machine, procs: u32, end: Time) {
        let job = Running { id: JobId(0), procs, end };
        machine.change(Change::Adopt { job, on_nodes: None });
    }

    fn arrive(machine: &mut Machine, id: u32, procs: u32, prediction: Seconds) {
        let (id, job) = (JobId(id), &Submission::new(0, procs, prediction));
        machine.change(Change::Arrive { id, job, request: RequestId::NONE });
        machine.change(Change::Predict { id, prediction, is_first: true });
    }

    fn pass(policy: &mut Reserving, machine: &Machine) -> Vec<JobId> {
        let mut out = Decisions::default();
        policy.decide(machine, &mut out);
        out.starts
    }

    /// Ten processors: one job has nine of them until 1000, and the waiting jobs are these, of which a pass has made reservations for all.
    /// It has started job 5000, so that a next one knows how long the others are. They wait, with another running job instead of both.
    fn planned(wide: impl Iterator<Item = u32>, running: (u32, Time)) -> (Reserving, Machine) {
        let mut policy = Reserving::new(&Rules { reservations: None, ..Rules::default() });
        let mut machine = Machine::pool(10);
        machine.change(Change::Clock(0));
        adopt(&mut machine, 9, 1000);
        (1..).zip(wide).for_each(|(id, procs)| arrive(&mut machine, id, procs, 100));
        assert!(pass(&mut policy, &machine).is_empty());
        arrive(&mut machine, 5000, 1, 50);
        assert_eq!(pass(&mut policy, &machine), [JobId(5000)]);
        machine.change(Change::Start { id: JobId(5000), grant: Vec::new(), counted: None });
        // A job that changes lets the plan begin anew, and now it is known how long jobs are.
        policy.on(&PolicyEvent::Change(machine.waiting.first().unwrap()), &machine);
        machine.change(Change::End { id: JobId(0), counted: 1000 });
        machine.change(Change::End { id: JobId(5000), counted: 50 });
        adopt(&mut machine, running.0, running.1);
        (policy, machine)
    }

    /// A thousand wide jobs wait, then a narrow one that can start. Where the wide jobs begin, one after another, has no effect on
    /// that.
    #[test]
    fn reservations_that_are_far_are_left_open() {
        let (mut policy, mut machine) = planned(std::iter::repeat_n(6, 1000), (9, 1000));
        arrive(&mut machine, 5001, 1, 70);
        machine.change(Change::Clock(1));
        assert_eq!(pass(&mut policy, &machine), [JobId(5001)]);
        assert!(policy.space.open.len() > 900, "{}", policy.space.open.len());
    }

    /// From 100 to 200 a job of nine processors has a reservation, and then jobs of ten, which are left open: two lengths of the longest job
    /// are 200. A job of 50 s starts, and the next one too if it ends at 200, but not if it ends a second later.
    #[test]
    fn no_job_starts_that_ends_a_second_after_open_reservations_begin() {
        for (length, starts) in [(200, vec![JobId(5001), JobId(5002)]), (201, vec![JobId(5001)])] {
            let (mut policy, mut machine) = planned(std::iter::once(9).chain(std::iter::repeat_n(10, 100)), (8, 100));
            arrive(&mut machine, 5001, 1, 50);
            arrive(&mut machine, 5002, 1, length);
            assert_eq!(pass(&mut policy, &machine), starts, "{length}");
            assert!(policy.space.open.len() >= 99 || length > 200, "{}", policy.space.open.len());
        }
    }
}
