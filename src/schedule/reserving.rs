//! Backfilling with any order of the queue and any number of reservations. [`super::Easy`] is the same for one reservation
//! and a queue in order of arrival, [`super::Conservative`] for reservations of all jobs; both are faster.

use super::arrivals::Arrivals;
use super::fcfs::heads_that_fit;
use super::limits::Limits;
use super::line::Line;
use super::order::{Order, Rank};
use super::policy::{Policy, View};
use super::profile::Profile;
use super::queue::Waiting;
use super::ranked::Ranked;
use super::rules::{Counting, Rules};
use crate::job::{JobId, Submission};
use crate::time::{Seconds, Time};

/// Each pass builds a new profile from the running jobs and walks through the queue in its order. A job that the profile
/// lets start now starts, any other gets a reservation at its earliest place in the profile. When the permitted number of
/// reservations is reached, the other jobs are tried in the order of the scan: each starts if the profile has room for it
/// from now on. A reservation is for one pass: it can be later than the one that the job had at the pass before.
pub struct Reserving {
    /// Whether jobs may overtake the first one that does not fit.
    backfills: bool,
    /// None if nothing is scanned: without backfilling, or if every job gets a reservation.
    scan: Option<Order>,
    /// The largest number of reservations; `usize::MAX` for all jobs.
    most: usize,
    counting: Counting,
    protect: Option<Seconds>,
    /// Whether the first job with a reservation has waited so long that it is protected in this pass.
    is_protected: bool,
    line: Line,
    arrivals: Arrivals,
    /// The waiting jobs in the order of the scan, if it does not depend on waits.
    index: Ranked,
    /// The last job of the queue at the last pass.
    seen: Option<JobId>,
    profile: Profile,
    limits: Limits,
    /// Scratch: the jobs with a reservation.
    reserved: Vec<Waiting>,
    /// Scratch: candidates of a scan that depends on waits.
    candidates: Vec<(Rank, Waiting)>,
}

impl Reserving {
    /// Backfilling by these rules.
    pub fn new(rules: &Rules) -> Self {
        let scan = Some(rules.scan).filter(|_| rules.reservations.is_some());
        Reserving::with_scan(rules, scan, true)
    }

    /// Jobs start strictly in this order: the first that does not fit blocks all others.
    pub fn without_backfilling(queue: Order) -> Self {
        Reserving::with_scan(&Rules { queue, ..Rules::default() }, None, false)
    }

    fn with_scan(rules: &Rules, scan: Option<Order>, backfills: bool) -> Self {
        let line = Line::new(rules.queue, rules.starve);
        let scan_needs = scan.is_some_and(Order::needs_submissions);
        let needs_estimates = rules.running == Counting::Estimate || rules.protect.is_some();
        let needs_arrivals = needs_estimates || line.needs_submissions() || scan_needs;
        Reserving {
            backfills,
            scan,
            most: rules.reservations.unwrap_or(usize::MAX),
            counting: rules.running,
            protect: rules.protect,
            is_protected: false,
            line,
            arrivals: Arrivals::new(needs_arrivals),
            index: Ranked::default(),
            seen: None,
            profile: Profile::default(),
            limits: Limits::default(),
            reserved: Vec::new(),
            candidates: Vec::new(),
        }
    }

    /// The order of the scan, if the index is kept in it.
    fn indexed(&self) -> Option<Order> {
        self.scan.filter(|order| !order.depends_on_waits())
    }

    /// Adds a job to the queue's order and to the index, or changes its place.
    fn put(&mut self, job: &Waiting) {
        self.line.put(job, &self.arrivals);
        self.put_in_index(job);
    }

    fn put_in_index(&mut self, job: &Waiting) {
        if let Some(order) = self.indexed() {
            self.index.put(job.procs, job.length, order.rank(job, &self.arrivals, 0));
        }
    }

    /// Adds the jobs that arrived since the last pass: their predictions are known now.
    fn add_newcomers(&mut self, view: &View<'_>) {
        for job in view.waiting.places_after(self.seen).iter().filter(|job| job.procs > 0) {
            self.put(job);
        }
        self.seen = view.waiting.iter().next_back().map(|job| job.id).or(self.seen);
    }

    fn remove(&mut self, id: JobId) {
        self.line.remove(id);
        self.index.remove(id);
    }

    /// Whether no waiting job needs as few processors as are free.
    fn is_full(&self, view: &View<'_>) -> bool {
        let narrowest = match self.indexed() {
            Some(_) => self.index.narrowest(),
            None => view.waiting.iter().map(|job| i64::from(job.procs)).min(),
        };
        narrowest.is_none_or(|procs| procs > view.free)
    }

    /// The first jobs of the queue start or get a reservation. Returns false as soon as no other job can start: more
    /// reservations then have no effect.
    fn reserve_some(&mut self, view: &View<'_>, starts: &mut Vec<JobId>) -> bool {
        let is_indexed = self.indexed().is_some();
        let Reserving { line, arrivals, profile, reserved, index, is_protected, .. } = self;
        for job in line.jobs(view, arrivals) {
            let length = match reserved.len() {
                0 => first_length(self.counting, arrivals, job, profile),
                _ => fitted_length(*is_protected, arrivals, job.id, job.length),
            };
            // The scan must not find the jobs that were walked over. So the index has those that are left.
            index.remove(job.id);
            if profile.reserve(i64::from(job.procs), length) == view.now {
                starts.push(job.id);
            } else {
                if reserved.is_empty() {
                    *is_protected = arrivals.has_waited(job.id, self.protect, view.now);
                }
                reserved.push(*job);
            }
            let narrowest = if is_indexed { index.narrowest() } else { Some(1) };
            if narrowest.is_none_or(|procs| procs > profile.free_now()) {
                return false;
            }
            if reserved.len() == self.most {
                return true;
            }
        }
        false
    }

    /// Tries the other jobs in an order that the index is kept in.
    fn scan_index(&mut self, starts: &mut Vec<JobId>) {
        while self.index.narrowest().is_some_and(|procs| procs <= self.profile.free_now()) {
            self.profile.limits(&mut self.limits);
            let Some(job) = self.index.take_first(|procs| self.limits.longest(procs)) else { return };
            self.profile.reserve(job.procs, job.length);
            starts.push(job.id);
        }
    }

    /// Tries the other jobs without the index: in an order that depends on waits, or if a protected job needs the estimates of
    /// the others. Jobs that do not fit now do not fit later in the pass.
    fn scan_anew(&mut self, order: Order, view: &View<'_>, starts: &mut Vec<JobId>) {
        self.profile.limits(&mut self.limits);
        // Few jobs start or get a reservation in one pass, so the two lists are short.
        let is_walked = |id: JobId| self.reserved.iter().any(|job| job.id == id) || starts.contains(&id);
        let length = |job: &Waiting| fitted_length(self.is_protected, &self.arrivals, job.id, job.length);
        let fitting = view.waiting.iter().filter(|job| self.limits.allow(job.procs, length(job)) && !is_walked(job.id));
        self.candidates.clear();
        self.candidates.extend(fitting.map(|job| (order.rank(job, &self.arrivals, view.now), *job)));
        self.candidates.sort_unstable_by_key(|(rank, _)| *rank);
        for (_, job) in &self.candidates {
            let length = fitted_length(self.is_protected, &self.arrivals, job.id, job.length);
            if self.limits.allow(job.procs, length) {
                self.profile.reserve(i64::from(job.procs), length);
                self.profile.limits(&mut self.limits);
                starts.push(job.id);
            }
        }
    }

    /// The pass itself. Some jobs with a reservation may be missing in the index afterwards.
    fn schedule(&mut self, view: &View<'_>, starts: &mut Vec<JobId>) {
        if view.free <= 0 {
            return;
        }
        if !self.backfills {
            heads_that_fit(self.line.jobs(view, &self.arrivals), view.free, |job| starts.push(job.id));
            return;
        }
        if self.is_full(view) {
            return;
        }
        self.profile.reset(view);
        if self.reserve_some(view, starts) {
            match self.scan {
                Some(order) if order.depends_on_waits() || self.is_protected => self.scan_anew(order, view, starts),
                Some(_) => self.scan_index(starts),
                None => {}
            }
        }
    }
}

/// The length in the profile of a job before which there is no reservation. If it starts, it counts as running jobs do.
pub(super) fn first_length(counting: Counting, arrivals: &Arrivals, job: &Waiting, profile: &Profile) -> Seconds {
    let starts = i64::from(job.procs) <= profile.free_now();
    if starts { counting.running_length(job.id, job.length, arrivals) } else { job.length }
}

/// The length in the profile of a job that may delay a reservation: by its prediction until the pass is over, or by its estimate
/// if that is longer and the first job with a reservation is protected.
pub(super) fn fitted_length(is_protected: bool, arrivals: &Arrivals, id: JobId, length: Seconds) -> Seconds {
    if is_protected { length.max(arrivals.estimate(id)) } else { length }
}

impl Policy for Reserving {
    fn pass(&mut self, view: &View<'_>, starts: &mut Vec<JobId>) {
        self.add_newcomers(view);
        self.reserved.clear();
        self.is_protected = false;
        self.schedule(view, starts);
        let reserved = std::mem::take(&mut self.reserved);
        reserved.iter().for_each(|job| self.put_in_index(job));
        self.reserved = reserved;
        starts.iter().for_each(|&id| self.remove(id));
        self.arrivals.forget_before(view.waiting.first().map(|job| job.id));
    }

    fn reservations(&mut self, view: &View<'_>, most: usize, reserved: &mut Vec<(JobId, Time)>) {
        if !self.backfills || view.waiting.first().is_none() {
            return;
        }
        self.profile.reset(view);
        let Reserving { line, arrivals, profile, .. } = self;
        let mut is_protected = false;
        for (at, job) in line.jobs(view, arrivals).take(self.most.min(most)).enumerate() {
            reserved.push((
                job.id,
                profile.reserve(i64::from(job.procs), fitted_length(is_protected, arrivals, job.id, job.length)),
            ));
            is_protected |= at == 0 && arrivals.has_waited(job.id, self.protect, view.now);
        }
    }

    fn set_first_submission(&mut self, submit: Time) {
        self.arrivals.set_first_submission(submit);
    }

    fn on_arrival(&mut self, id: JobId, job: &Submission) {
        self.arrivals.push(id, job);
    }

    fn on_prediction(&mut self, job: &Waiting) {
        // A job that has arrived since the last pass is added at the next one.
        if self.seen.is_some_and(|seen| job.id <= seen) {
            self.put(job);
        }
    }

    fn on_cancellation(&mut self, job: &Waiting) {
        self.remove(job.id);
    }

    fn counts_running_by_estimates(&self) -> bool {
        self.counting == Counting::Estimate
    }
}
