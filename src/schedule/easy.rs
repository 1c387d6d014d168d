//! EASY backfilling, and SJBF, which is EASY with a different scan order: one reservation, a queue in order of arrival.

use super::backlog::Backlog;
use super::fcfs::heads_that_fit;
use super::index::Index;
use super::order::Order;
use super::policy::{Facts, Policy, View};
use super::queue::{QueuePlace, Waiting};
use super::rules::{Counting, Rules};
use super::scan_index::ScanIndex;
use super::shadow::{Shadow, any_is_narrow_enough};
use crate::job::{JobId, Submission};
use crate::machine::Capacity;
use crate::time::Time;

/// Backfilling with one reservation, for the head of the queue.
///
/// With [`Order::Arrival`] it is EASY (Skovira et al.; Talby et al., section 2.1), with [`Order::ShortestPrediction`] SJBF
/// (Tsafrir et al.; Talby et al., section 3.2).
pub struct Easy {
    rules: Rules,
    /// The head that did not fit at the last pass. None if the next pass must make its reservation again: jobs that were
    /// backfilled count by their estimates then.
    head: Option<JobId>,
    /// Its reservation at the end of the last pass. None if no other job needed few enough processors to backfill.
    shadow: Option<Shadow>,
    backlog: Backlog<ScanIndex>,
    /// Scratch: jobs behind the head that may be backfilled.
    candidates: Vec<Waiting>,
    /// Scratch: ends and processors of the heads started in this pass, as running jobs are counted.
    started: Vec<(Time, u32)>,
}

impl Easy {
    /// Backfilling in this order; running jobs are counted by their predictions.
    pub fn new(scan: Order) -> Self {
        Easy::of_rules(&Rules { scan, ..Rules::default() })
    }

    /// Backfilling by these rules; the order of the queue is that of arrival, whatever they say.
    pub(super) fn of_rules(rules: &Rules) -> Self {
        Easy {
            rules: *rules,
            head: None,
            shadow: None,
            backlog: Backlog::by_scan(rules, ScanIndex::new(rules.scan)),
            candidates: Vec::new(),
            started: Vec::new(),
        }
    }

    fn is_protected(&self, head: &Waiting, now: Time) -> bool {
        self.backlog.arrivals.has_waited(head.id, self.rules.protect, now)
    }

    /// The pass if only arrivals happened since the last one. A job that could not start then cannot start now: the free
    /// and extra processors are the same, and the shadow time is nearer. So only the new jobs are examined. This is so in
    /// every scan order.
    fn pass_over_newcomers(&mut self, view: &View<'_>, head: &Waiting, starts: &mut Vec<JobId>) {
        self.started.clear();
        self.scan(view, head, self.backlog.newcomers(view), *view.capacity, starts);
    }

    /// Starts heads while they fit, reserves for the first that does not, and backfills.
    fn pass_over_all(&mut self, view: &View<'_>, starts: &mut Vec<JobId>) {
        self.started.clear();
        let is_deep = self.backlog.is_deep();
        let Easy { rules, backlog, started, .. } = self;
        let (head, capacity) = heads_that_fit(view.waiting.iter(), *view.capacity, |job| {
            let length = rules.running.running_length(job.id, job.length, &backlog.arrivals);
            started.push((view.now + length, job.procs));
            if is_deep {
                backlog.index.remove(job);
            }
            starts.push(job.id);
        });
        self.started.sort_unstable();
        self.head = head.map(|head| head.id);
        self.shadow = None;
        let Some(head) = head.filter(|_| capacity.free() > 0) else { return };
        // The index knows no estimates, which are needed around a protected head.
        if is_deep && !self.is_protected(head, view.now) {
            self.search(view, head, capacity, starts);
        } else {
            self.scan(view, head, view.waiting.places_after(Some(head.id)), capacity, starts);
        }
    }

    /// Scans a part of the queue, unless all its jobs are too wide.
    #[inline]
    fn scan(
        &mut self,
        view: &View<'_>,
        head: &Waiting,
        part: &[QueuePlace],
        capacity: Capacity,
        starts: &mut Vec<JobId>,
    ) {
        if any_is_narrow_enough(part, &capacity) {
            self.backfill(view, head, part, capacity, starts);
        }
    }

    /// Backfills jobs of a part of the queue. The result for a job is hard to predict for the processor, and a mispredicted branch is the
    /// largest cost here. Hence there is no branch per job, only one per candidate.
    fn backfill(
        &mut self,
        view: &View<'_>,
        head: &Waiting,
        part: &[QueuePlace],
        mut capacity: Capacity,
        starts: &mut Vec<JobId>,
    ) {
        let is_protected = self.is_protected(head, view.now);
        let is_deep = self.backlog.is_deep();
        let Easy { rules, shadow, backlog, candidates, started, .. } = self;
        let shadow = shadow.get_or_insert_with(|| Shadow::of_head(view, started, &capacity, head));
        // The limits only get tighter during a pass: a job that does not fit now does not fit later.
        let room = shadow.room(view.now, &capacity);
        candidates.clear();
        for places in part.chunks(u64::BITS as usize) {
            let mut held = places.iter().rev().fold(0u64, |held, place| held << 1 | u64::from(place.fits(&room)));
            while held > 0 {
                if let Some(job) = places[held.trailing_zeros() as usize].job() {
                    candidates.push(*job);
                }
                held &= held - 1;
            }
        }
        match rules.scan {
            Order::Arrival => {}
            Order::ShortestPrediction => candidates.sort_unstable_by_key(|job| (job.length, job.id)),
            order => candidates.sort_by_cached_key(|job| order.rank(job, &backlog.arrivals, view.now)),
        }
        for job in candidates {
            let estimate = if is_protected { backlog.arrivals.estimate(job.id) } else { 0 };
            let fitted = job.length.max(estimate);
            if shadow.room(view.now, &capacity).holds(job.procs, fitted) {
                capacity.take(job.shape());
                let counted = rules.running.running_length(job.id, job.length, &backlog.arrivals);
                if !shadow.admit(i64::from(job.procs), fitted, counted, view.now) {
                    self.head = None;
                }
                if is_deep {
                    backlog.index.remove(job);
                }
                starts.push(job.id);
            }
        }
    }

    /// As [`Easy::scan`] for the whole queue behind the head, with the index.
    fn search(&mut self, view: &View<'_>, head: &Waiting, mut capacity: Capacity, starts: &mut Vec<JobId>) {
        let Easy { rules, shadow, backlog, started, .. } = self;
        if backlog.index.narrowest().is_none_or(|procs| procs > capacity.free()) {
            return;
        }
        let shadow = shadow.get_or_insert_with(|| Shadow::of_head(view, started, &capacity, head));
        while let Some(job) = backlog.index.take(&shadow.room(view.now, &capacity)) {
            capacity.take(job.shape());
            let counted = rules.running.running_length(job.id, job.length, &backlog.arrivals);
            if !shadow.admit(job.procs, job.length, counted, view.now) {
                self.head = None;
            }
            starts.push(job.id);
        }
    }
}

impl Policy for Easy {
    fn on_begin(&mut self, facts: &Facts) {
        self.backlog.on_begin(facts);
    }

    fn pass(&mut self, view: &View<'_>, starts: &mut Vec<JobId>) {
        self.backlog.begin_pass(view);
        match view.waiting.first() {
            Some(head) if view.only_arrivals && self.head == Some(head.id) => {
                self.pass_over_newcomers(view, head, starts)
            }
            _ => self.pass_over_all(view, starts),
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

    fn counts_running_by_estimates(&self) -> bool {
        self.rules.running == Counting::Estimate
    }
}
