//! The real pass on a pool of processors.

use super::policy::RealPass;
use super::precedence::{FairOrder, FairRules};
use super::schedule::VirtualSchedule;
use crate::job::{JobId, Submission};
use crate::machine::Capacity;
use crate::schedule::arrivals::Arrivals;
use crate::schedule::backlog::Backlog;
use crate::schedule::index::Index;
use crate::schedule::policy::{Facts, View};
use crate::schedule::queue::{QueuePlace, Waiting};
use crate::schedule::scan_index::ScanIndex;
use crate::schedule::shadow::{Shadow, any_is_narrow_enough};
use crate::time::{Seconds, Time};

/// As EASY with the ends of running jobs by estimates, with the differences that the virtual schedule makes: urgent jobs start
/// first, protected ones are not delayed, and the order of the scan depends on who is owed something.
pub(super) struct PoolPass {
    rules: FairRules,
    order: FairOrder,
    backlog: Backlog<ScanIndex>,
    /// What the last pass has found out.
    last: Option<LastPass>,
    /// Scratch: jobs that may be backfilled.
    candidates: Vec<Waiting>,
    /// Scratch: ends and processors of the jobs started in this pass before the reservation, as running jobs are counted.
    started: Vec<(Time, u32)>,
}

/// What a pass is about after the first jobs have started.
struct Pass<'a> {
    view: &'a View<'a>,
    schedule: &'a VirtualSchedule,
    /// The first job that does not fit. It has the reservation.
    head: &'a Waiting,
    is_head_protected: bool,
    /// How many urgent jobs have started, before all others.
    urgent: usize,
}

impl Pass<'_> {
    /// The length of a job that may delay the head.
    fn fitted(&self, job: &Waiting, arrivals: &Arrivals) -> Seconds {
        if self.is_head_protected { job.length.max(arrivals.estimate(job.id)) } else { job.length }
    }
}

/// The first job that did not fit at the last pass, and what holds until the next one if only jobs arrive.
#[derive(Clone, Copy)]
struct LastPass {
    head: JobId,
    /// Its reservation. None if no other job needed few enough processors to backfill.
    shadow: Option<Shadow>,
    /// Whether no waiting job could start now if the head is not protected.
    is_without_protection: bool,
}

impl PoolPass {
    pub fn new(rules: &FairRules) -> PoolPass {
        PoolPass {
            rules: *rules,
            order: FairOrder::new(rules, 0),
            backlog: Backlog::by_scan(&rules.backfilling(), ScanIndex::new(rules.scan)),
            last: None,
            candidates: Vec::new(),
            started: Vec::new(),
        }
    }

    /// The pass if only arrivals happened since the last one: a job that could not start then cannot start now, because the free
    /// and extra processors are the same, and the shadow time is nearer. None if that is not so.
    fn newcomers_only(&self, view: &View<'_>, head: &Waiting, is_protected: bool) -> Option<LastPass> {
        let last = self.last.filter(|last| last.head == head.id && view.only_arrivals)?;
        let is_urgent = |job: &Waiting| job.procs >= self.order.urgent_procs && view.capacity.fits(job.shape());
        let may_start_first = || self.backlog.newcomers(view).iter().filter_map(QueuePlace::job).any(is_urgent);
        (is_protected || (last.is_without_protection && !may_start_first())).then_some(last)
    }

    fn pass_over_all(
        &mut self,
        view: &View<'_>,
        schedule: &VirtualSchedule,
        is_protected: bool,
        starts: &mut Vec<JobId>,
    ) {
        self.started.clear();
        self.last = None;
        let mut capacity = *view.capacity;
        let urgent_procs = self.order.urgent_procs;
        if !is_protected && capacity.free() >= urgent_procs.into() {
            for job in view.waiting.iter().filter(|job| job.procs >= urgent_procs) {
                if capacity.fits(job.shape()) {
                    self.start_first(job, &mut capacity, view.now, starts);
                }
            }
        }
        let urgent = starts.len();
        let mut head = None;
        for job in view.waiting.iter() {
            if starts[..urgent].contains(&job.id) {
                continue;
            }
            if !capacity.fits(job.shape()) {
                head = Some(job);
                break;
            }
            self.start_first(job, &mut capacity, view.now, starts);
        }
        self.started.sort_unstable();
        let Some(head) = head else { return };
        let is_head_protected = schedule.is_protected(head.id, view.now);
        let is_without_protection = !is_protected && !is_head_protected;
        self.last = Some(LastPass { head: head.id, shadow: None, is_without_protection });
        if capacity.free() == 0 {
            return;
        }
        let pass = Pass { view, schedule, head, is_head_protected, urgent };
        // The index knows no estimates, which are needed around a protected head.
        if self.backlog.is_deep() && !is_head_protected {
            self.search(&pass, capacity, starts);
        } else {
            self.scan(&pass, view.waiting.places_after(Some(head.id)), capacity, starts);
        }
    }

    /// Starts a job before the reservation is made.
    fn start_first(&mut self, job: &Waiting, capacity: &mut Capacity, now: Time, starts: &mut Vec<JobId>) {
        capacity.take(job.shape());
        self.started.push((now + self.backlog.arrivals.estimate(job.id), job.procs));
        if self.backlog.is_deep() {
            self.backlog.index.remove(job);
        }
        starts.push(job.id);
    }

    /// The reservation of the head. Made when it is needed first, because most passes do not need it.
    fn shadow(&mut self, view: &View<'_>, head: &Waiting, capacity: &Capacity) -> Shadow {
        let known = self.last.and_then(|last| last.shadow);
        known.unwrap_or_else(|| Shadow::of_head(view, &self.started, capacity, head))
    }

    /// Tries all jobs of a part of the queue.
    fn scan(&mut self, pass: &Pass<'_>, part: &[QueuePlace], mut capacity: Capacity, starts: &mut Vec<JobId>) {
        if !any_is_narrow_enough(part, &capacity) {
            return;
        }
        let mut shadow = self.shadow(pass.view, pass.head, &capacity);
        // The limits only get tighter during a pass: a job that does not fit now does not fit later.
        let room = shadow.room(pass.view.now, &capacity);
        let (order, arrivals) = (self.order, &self.backlog.arrivals);
        let urgent = &starts[..pass.urgent];
        let fitting = part.iter().filter(|place| place.fits(&room)).filter_map(QueuePlace::job);
        let may_start = |job: &&Waiting| room.holds(job.procs, pass.fitted(job, arrivals)) && !urgent.contains(&job.id);
        self.candidates.clear();
        self.candidates.extend(fitting.filter(may_start));
        self.candidates.sort_by_cached_key(|job| order.precedence(job, arrivals, pass.schedule, pass.view.now));
        self.admit(pass, &mut shadow, &mut capacity, starts);
    }

    /// As [`PoolPass::scan`] for the whole queue behind a head that is not protected, with the index.
    fn search(&mut self, pass: &Pass<'_>, mut capacity: Capacity, starts: &mut Vec<JobId>) {
        if self.backlog.index.narrowest().is_none_or(|procs| procs > capacity.free()) {
            return;
        }
        let Pass { view, schedule, head, .. } = *pass;
        let mut shadow = self.shadow(view, head, &capacity);
        let (now, order) = (view.now, self.order);
        if capacity.free() >= order.wide_procs.into() {
            let room = shadow.room(now, &capacity);
            let wide = view.waiting.iter().filter(|job| job.procs >= order.wide_procs);
            self.candidates.clear();
            self.candidates.extend(wide.filter(|job| room.holds(job.procs, job.length) && !starts.contains(&job.id)));
            self.candidates.sort_by_key(|job| std::cmp::Reverse(job.procs));
            self.admit(pass, &mut shadow, &mut capacity, starts);
        }
        let room = shadow.room(now, &capacity);
        let owed = schedule.owed_of(now, |job| room.holds(job.procs, job.length));
        self.candidates.clear();
        self.candidates.extend(owed.filter(|job| !starts.contains(&job.id)));
        self.admit(pass, &mut shadow, &mut capacity, starts);
        while let Some(job) = self.backlog.index.take(&shadow.room(now, &capacity)) {
            capacity.take(job.shape());
            if !shadow.admit(job.procs, job.length, self.backlog.arrivals.estimate(job.id), now) {
                self.last = None;
            }
            starts.push(job.id);
        }
        self.keep(shadow);
    }

    /// Starts the candidates that fit, in their order.
    fn admit(&mut self, pass: &Pass<'_>, shadow: &mut Shadow, capacity: &mut Capacity, starts: &mut Vec<JobId>) {
        let (now, is_deep) = (pass.view.now, self.backlog.is_deep());
        for job in &self.candidates {
            let arrivals = &self.backlog.arrivals;
            let (fitted, estimate) = (pass.fitted(job, arrivals), arrivals.estimate(job.id));
            if shadow.room(now, capacity).holds(job.procs, fitted) {
                capacity.take(job.shape());
                if !shadow.admit(job.procs.into(), fitted, estimate, now) {
                    // From the next pass on the job counts by its estimate, and the reservation is another one.
                    self.last = None;
                }
                if is_deep {
                    self.backlog.index.remove(job);
                }
                starts.push(job.id);
            }
        }
        self.keep(*shadow);
    }

    fn keep(&mut self, shadow: Shadow) {
        if let Some(last) = &mut self.last {
            last.shadow = Some(shadow);
        }
    }
}

impl RealPass for PoolPass {
    fn on_begin(&mut self, facts: &Facts) {
        self.order = FairOrder::new(&self.rules, facts.capacity.procs());
        self.backlog.on_begin(facts);
    }

    fn pass(&mut self, view: &View<'_>, schedule: &VirtualSchedule, starts: &mut Vec<JobId>) {
        self.backlog.begin_pass(view);
        if let Some(head) = view.waiting.first() {
            let is_protected = schedule.is_protected(head.id, view.now);
            match self.newcomers_only(view, head, is_protected) {
                None => self.pass_over_all(view, schedule, is_protected, starts),
                Some(last) => {
                    self.started.clear();
                    let is_without_protection = last.is_without_protection && !is_protected;
                    self.last = Some(LastPass { is_without_protection, ..last });
                    let pass = Pass { view, schedule, head, is_head_protected: is_protected, urgent: 0 };
                    self.scan(&pass, self.backlog.newcomers(view), *view.capacity, starts);
                }
            }
        }
        self.backlog.end_pass(view, starts);
    }

    fn reservations(&mut self, view: &View<'_>, most: usize, reserved: &mut Vec<(JobId, Time)>) {
        let Some(head) = view.waiting.first().filter(|_| most > 0) else { return };
        reserved.push((head.id, Shadow::of_head(view, &[], view.capacity, head).time));
    }

    fn on_arrival(&mut self, id: JobId, job: &Submission) {
        self.backlog.on_arrival(id, job);
    }

    fn on_prediction(&mut self, job: &Waiting) {
        self.backlog.on_prediction(job);
    }

    fn on_cancellation(&mut self, job: &Waiting) {
        self.backlog.remove(job);
    }
}
