//! The plan of a scheduler that gives every waiting job a reservation: how far into the queue it was made, and which jobs
//! start when. Far reservations are left open as long as they have no effect.

use super::arrivals::Arrivals;
use super::check::{Check, PlannedJob};
use super::hints::Roomless;
use super::index::Index;
use super::limits::StartLimits;
use super::machine::Machine;
use super::order::Rank;
use super::profile::Profile;
use super::queue::Waiting;
use super::ranked::Ranked;
use super::rules::{Counting, Rules};
use super::running::Running;
use super::widths::FittingJob;
use crate::job::JobId;
use crate::time::{Seconds, Time};

/// The jobs of the queue that a plan has not reached, in their order.
pub(super) trait Rest {
    /// Takes the next job. Its rank is known if there is an index.
    fn next(&mut self) -> Option<(Rank, Waiting)>;

    /// The first job that the limits allow. `length` is the length that a job is fitted with, at least that of its prediction.
    fn first_fitting(&self, limits: &StartLimits, length: impl Fn(JobId, Seconds) -> Seconds) -> Option<FittingJob>;
}

/// A list of jobs.
pub(super) struct Listed<'a>(pub std::slice::Iter<'a, Waiting>);

impl Rest for Listed<'_> {
    fn next(&mut self) -> Option<(Rank, Waiting)> {
        self.0.next().map(|job| (Rank::of_arrival(job.arrival), *job))
    }

    fn first_fitting(&self, limits: &StartLimits, length: impl Fn(JobId, Seconds) -> Seconds) -> Option<FittingJob> {
        let fitted = |job: &Waiting| FittingJob { length: length(job.id, job.length), ..job.into() };
        self.0.clone().map(fitted).find(|job| limits.allow(job.procs, job.length))
    }
}

/// A queue with an index.
pub(super) struct Indexed<'a> {
    pub jobs: Box<dyn Iterator<Item = (Rank, &'a Waiting)> + 'a>,
    /// All jobs of the queue.
    pub index: &'a Ranked,
    /// The rank of the last job that was taken.
    pub reached: Option<Rank>,
}

impl Rest for Indexed<'_> {
    fn next(&mut self) -> Option<(Rank, Waiting)> {
        let (rank, job) = self.jobs.next()?;
        self.reached = Some(rank);
        Some((rank, *job))
    }

    fn first_fitting(&self, limits: &StartLimits, length: impl Fn(JobId, Seconds) -> Seconds) -> Option<FittingJob> {
        let longest = |procs| limits.longest(procs);
        let mut after = self.reached;
        loop {
            // By its prediction first, which is what the index knows.
            let (rank, job) = self.index.first_after(after, longest)?;
            let fitted = length(job.id, job.length);
            if limits.allow(job.procs, fitted) {
                return Some(FittingJob { length: fitted, ..job });
            }
            after = Some(rank);
        }
    }
}

/// The profile of free processors with the reservations made so far.
#[derive(Default)]
pub(super) struct Plan {
    counting: Counting,
    protect: Option<Seconds>,
    profile: Profile,
    limits: StartLimits,
    /// The reservations in the order of the queue.
    reserved: Vec<PlannedJob>,
    /// The ranks of their jobs.
    ranks: Vec<Rank>,
    /// An instant before which no reservation begins.
    earliest: Time,
    /// A length that no reservation exceeds.
    longest: Seconds,
    /// The first reservation that is open, and an instant before which none of these begins: `usize::MAX` and `Time::MAX` if
    /// there is none.
    first_open: usize,
    open_from: Time,
    /// Up to this instant the profile must be exact.
    near: Time,
    /// A reservation from this instant on is left open.
    far: Time,
    /// The jobs that cannot begin before `far`.
    roomless: Roomless,
    /// Whether the first job with a reservation has waited so long that it is protected.
    is_protected: bool,
    /// Whether the plan may be kept for the next pass.
    is_kept: bool,
    /// If so, what it takes for the running jobs of the next pass, in order of their ends and ids.
    running: Vec<Running>,
    check: Check,
}

/// Reservations are left open from this number of lengths of the longest job on.
const FAR: Seconds = 2;

impl Plan {
    /// [`Plan::begin`] must come next.
    pub fn new(rules: &Rules) -> Plan {
        Plan { counting: rules.running, protect: rules.protect, ..Plan::default() }
    }

    /// Begins a new plan, which may be kept for the next pass or not.
    pub fn begin(&mut self, machine: &Machine, is_kept: bool) {
        self.profile.reset(machine);
        self.reserved.clear();
        self.ranks.clear();
        self.earliest = Time::MAX;
        (self.first_open, self.open_from) = (usize::MAX, Time::MAX);
        self.look_far(machine.now);
        self.longest = 0;
        self.is_protected = false;
        self.is_kept = is_kept;
        self.running.clear();
        if is_kept {
            self.running.extend(machine.running.iter());
        }
    }

    /// Decides from which instant on reservations are left open. Few jobs that are placed well before that instant end after it.
    fn look_far(&mut self, now: Time) {
        self.far = if self.longest > 0 { now + FAR * self.longest } else { Time::MAX };
        self.roomless.clear();
    }

    /// Goes on with the plan of an earlier pass, as far as a new one would be the same: the jobs whose reserved start has come
    /// start. `until` is the rank of the first job that has come, gone or changed since then, if there is one. Returns the rank
    /// of the last job that the plan still reaches. None if the plan is empty and must begin.
    pub fn go_on(
        &mut self,
        until: Option<Rank>,
        machine: &Machine,
        arrivals: &Arrivals,
        starts: &mut Vec<JobId>,
    ) -> Option<Rank> {
        let most = until.map_or(self.ranks.len(), |until| self.ranks.partition_point(|rank| *rank < until));
        let first = self.reserved[..most].first()?;
        if self.is_protected != arrivals.has_waited(first.id, self.protect, machine.now) {
            return None;
        }
        self.check.compare(&self.running, machine);
        let is_exact_until = self.check.horizon().unwrap_or(machine.now).max(machine.now + 1);
        let most = if self.open_from < is_exact_until { most.min(self.first_open) } else { most };
        let kept = match self.check.changes.is_empty() && machine.now < self.earliest {
            true => most,
            false => self.check.unchanged(&self.reserved[..most], self.longest, machine),
        };
        // A plan that no longer holds for the most part is not worth being taken back.
        if kept < self.reserved.len() / 2 {
            return None;
        }
        let is_due = |job: &PlannedJob| job.start == machine.now && !job.is_open;
        let any_is_due = machine.now >= self.earliest && self.reserved[..kept].iter().any(is_due);
        // The jobs before the first reservation count in another way, and the first reservation decides on the protection.
        if any_is_due && (self.counting == Counting::Estimate || self.protect.is_some()) {
            return None;
        }
        self.profile.advance(machine.now);
        for job in self.reserved[kept..].iter().filter(|job| !job.is_open) {
            self.profile.add(job.start, job.end(), i64::from(job.procs));
        }
        self.check.changes.iter().for_each(|&(end, procs)| self.profile.add(machine.now, end, procs));
        self.reserved.truncate(kept);
        self.ranks.truncate(kept);
        if kept <= self.first_open {
            (self.first_open, self.open_from) = (usize::MAX, Time::MAX);
        }
        self.look_far(machine.now);
        self.running.clear();
        self.running.extend(machine.running.iter());
        let reached = self.ranks.last().copied();
        debug_assert!(
            any_is_due || self.profile.free_now() == machine.free(),
            "the plan counts with the machine as it is"
        );
        if any_is_due {
            self.start_due(machine.now, starts);
        }
        reached
    }

    /// Starts the jobs whose reserved start is now.
    fn start_due(&mut self, now: Time, starts: &mut Vec<JobId>) {
        let mut stays = self.reserved.iter().map(|job| job.start != now);
        self.ranks.retain(|_| stays.next() == Some(true));
        for &PlannedJob { id, procs, start, length, .. } in self.reserved.iter().filter(|job| job.start == now) {
            starts.push(id);
            insert(&mut self.running, Running { id, procs, end: start + length });
        }
        self.reserved.retain(|job| job.start != now);
        self.first_open = self.reserved.iter().position(|job| job.is_open).unwrap_or(usize::MAX);
        self.earliest = self.reserved.iter().map(|job| job.start).min().unwrap_or(Time::MAX);
    }

    /// Makes reservations for the rest of the queue, in its order, until no other job can start now. The reservations of the
    /// jobs after that have no effect on this pass.
    pub fn reserve(&mut self, machine: &Machine, arrivals: &Arrivals, rest: &mut impl Rest, starts: &mut Vec<JobId>) {
        loop {
            self.update_limits();
            let fitted = |id, length| fitted_length(self.is_protected, arrivals, id, length);
            // Limits only get tighter. So no job before this one can start now.
            let Some(fitting) = rest.first_fitting(&self.limits, fitted) else { return };
            self.near = machine.now + fitting.length;
            if self.near > self.open_from {
                self.close();
                continue;
            }
            if self.near > self.far {
                self.far = Time::MAX;
                self.roomless.clear();
            }
            while let Some((rank, job)) = rest.next() {
                let start = self.place(rank, &job, machine, arrivals, starts);
                let is_near = start < machine.now + fitting.length;
                if job.id == fitting.id || is_near && !self.profile.has_room_now(fitting.procs, fitting.length) {
                    break;
                }
            }
        }
    }

    /// Starts a job or makes a reservation for it. Returns its start.
    pub fn place(
        &mut self,
        rank: Rank,
        job: &Waiting,
        machine: &Machine,
        arrivals: &Arrivals,
        starts: &mut Vec<JobId>,
    ) -> Time {
        let length = match self.reserved.is_empty() {
            true => first_length(self.counting, arrivals, job, &self.profile),
            false => fitted_length(self.is_protected, arrivals, job.id, job.length),
        };
        let &Waiting { id, procs, .. } = job;
        let open_from = self.leave_open(i64::from(procs), length);
        let start = open_from.unwrap_or_else(|| self.profile.reserve(i64::from(procs), length));
        if start == machine.now {
            starts.push(id);
            if self.is_kept {
                insert(&mut self.running, Running { id, procs, end: start + length });
            }
            return start;
        }
        if self.reserved.is_empty() {
            self.is_protected = arrivals.has_waited(id, self.protect, machine.now);
        }
        if let Some(from) = open_from {
            self.first_open = self.first_open.min(self.reserved.len());
            self.open_from = self.open_from.min(from);
        }
        self.reserved.push(PlannedJob { id, procs, start, length, is_open: open_from.is_some() });
        self.ranks.push(rank);
        self.earliest = self.earliest.min(start);
        self.longest = self.longest.max(length);
        start
    }

    /// Whether the reservation of the next job is left open: an instant before which it cannot begin, or None if the profile is
    /// exact wherever it matters for the job.
    ///
    /// The profile without the open reservations has more processors free than it should have, from `open_from` on. So a job that
    /// ends before that has its true place. Any other has it there or later, which is known well enough unless that is near.
    fn leave_open(&mut self, procs: i64, length: Seconds) -> Option<Time> {
        if !self.is_kept || self.reserved.is_empty() {
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
        let open = self.reserved.iter_mut().skip(self.first_open).filter(|job| job.is_open);
        for job in open {
            (job.start, job.is_open) = (self.profile.reserve(i64::from(job.procs), job.length), false);
        }
        (self.first_open, self.open_from) = (usize::MAX, Time::MAX);
    }

    /// The number of reservations.
    pub fn count(&self) -> usize {
        self.reserved.len()
    }

    /// Whether the first job with a reservation is protected.
    pub fn is_protected(&self) -> bool {
        self.is_protected
    }

    /// The processors that are free now.
    pub fn free_now(&self) -> i64 {
        self.profile.free_now()
    }

    /// Whether a job can start now without delaying a reservation. Limits must be up to date.
    pub fn allows(&self, job: &Waiting, arrivals: &Arrivals) -> bool {
        let length = fitted_length(self.is_protected, arrivals, job.id, job.length);
        self.limits.allow(i64::from(job.procs), length)
    }

    /// Computes the limits for jobs that start now.
    pub fn update_limits(&mut self) {
        self.profile.limits(&mut self.limits);
    }

    /// A job that the plan allows starts now, without a reservation.
    pub fn start(&mut self, job: &Waiting, arrivals: &Arrivals) {
        let length = fitted_length(self.is_protected, arrivals, job.id, job.length);
        self.profile.reserve(i64::from(job.procs), length);
        self.update_limits();
    }

    /// Starts the jobs of an index that can start now, in its order. None of them may be protected from the others.
    pub fn fill(&mut self, index: &mut Ranked, starts: &mut Vec<JobId>) {
        while index.narrowest().is_some_and(|procs| procs <= self.free_now()) {
            self.update_limits();
            let Some(job) = index.take_first(|procs| self.limits.longest(procs)) else { return };
            self.profile.reserve(job.procs, job.length);
            starts.push(job.id);
        }
    }

    #[cfg(test)]
    pub fn open_count(&self) -> usize {
        self.reserved.iter().filter(|job| job.is_open).count()
    }

    /// The starts reserved for these jobs, which are the first of the queue. See [`super::Policy::reservations`]. The plan must
    /// begin anew afterwards.
    pub fn list<'a>(
        &mut self,
        machine: &Machine,
        arrivals: &Arrivals,
        jobs: impl Iterator<Item = &'a Waiting>,
        reserved: &mut Vec<(JobId, Time)>,
    ) {
        self.profile.reset(machine);
        let mut is_protected = false;
        for (at, job) in jobs.enumerate() {
            let length = fitted_length(is_protected, arrivals, job.id, job.length);
            reserved.push((job.id, self.profile.reserve(i64::from(job.procs), length)));
            is_protected |= at == 0 && arrivals.has_waited(job.id, self.protect, machine.now);
        }
    }
}

/// Inserts a job into a list in order of ends and ids.
fn insert(running: &mut Vec<Running>, job: Running) {
    let at = running.partition_point(|other| (other.end, other.id) < (job.end, job.id));
    running.insert(at, job);
}

/// The length in the profile of a job before which there is no reservation. If it starts, it counts as running jobs do.
fn first_length(counting: Counting, arrivals: &Arrivals, job: &Waiting, profile: &Profile) -> Seconds {
    let starts = i64::from(job.procs) <= profile.free_now();
    if starts { counting.running_length(job.id, job.length, arrivals) } else { job.length }
}

/// The length in the profile of a job that may delay a reservation: by its prediction until the pass is over, or by its estimate
/// if that is longer and the first job with a reservation is protected.
fn fitted_length(is_protected: bool, arrivals: &Arrivals, id: JobId, length: Seconds) -> Seconds {
    if is_protected { length.max(arrivals.estimate(id)) } else { length }
}
