//! EASY backfilling, and SJBF, which is EASY with a different scan order: one reservation, a queue in order of arrival.

use super::arrivals::Arrivals;
use super::fcfs::heads_that_fit;
use super::order::Order;
use super::policy::{Policy, View};
use super::queue::Waiting;
use super::rules::Counting;
use super::scan_index::ScanIndex;
use super::widths::{Candidate, Room};
use crate::job::{JobId, Submission};
use crate::time::{Seconds, Time};

/// Backfilling with one reservation, for the head of the queue.
///
/// With [`Order::Arrival`] it is EASY (Skovira et al.; Talby et al., section 2.1), with [`Order::ShortestPrediction`] SJBF
/// (Tsafrir et al.; Talby et al., section 3.2).
pub struct Easy {
    order: Order,
    counting: Counting,
    /// The head that did not fit at the last pass. None if the next pass must make its reservation again: jobs that were
    /// backfilled count by their estimates then.
    head: Option<JobId>,
    /// Its reservation at the end of the last pass. None if no other job needed few enough processors to backfill.
    reservation: Option<Reservation>,
    /// The last job of the queue at the last pass.
    seen: Option<JobId>,
    /// The queue by width, while it is deep.
    index: ScanIndex,
    deep: bool,
    /// Whether the queue may be indexed.
    is_indexable: bool,
    arrivals: Arrivals,
    /// As [`super::Rules::protect`].
    protect: Option<Seconds>,
    /// Scratch: jobs behind the head that may be backfilled.
    candidates: Vec<Waiting>,
    /// Scratch: ends and processors of the heads started in this pass, as running jobs are counted.
    started: Vec<(Time, u32)>,
}

/// A queue is indexed by width from `DEEP` jobs on, until it has less than `SHALLOW`. Scanning a short queue is faster.
const DEEP: usize = 48;
const SHALLOW: usize = 16;

impl Easy {
    /// Backfilling in this order; running jobs are counted by their predictions.
    pub fn new(order: Order) -> Self {
        Easy::with(order, Counting::Prediction, None)
    }

    /// Backfilling in this order; running jobs are counted by predictions or estimates. A head that has waited for `protect` is
    /// not delayed by jobs that run for as long as their estimates.
    pub fn with(order: Order, counting: Counting, protect: Option<Seconds>) -> Self {
        Easy {
            order,
            counting,
            head: None,
            reservation: None,
            seen: None,
            index: ScanIndex::new(order),
            deep: false,
            is_indexable: !order.depends_on_waits(),
            arrivals: Arrivals::new(counting == Counting::Estimate || order.needs_submissions() || protect.is_some()),
            protect,
            candidates: Vec::new(),
            started: Vec::new(),
        }
    }

    /// Updates the index for the jobs that arrived since the last pass.
    fn update_index(&mut self, view: &View<'_>) {
        let waiting = view.waiting;
        if !self.deep && waiting.len() >= DEEP && self.is_indexable {
            self.deep = true;
            waiting.iter().for_each(|job| self.index.push(job, &self.arrivals));
        } else if self.deep && waiting.len() < SHALLOW {
            self.deep = false;
            self.index.clear();
        } else if self.deep {
            let newcomers = waiting.places_after(self.seen).iter().filter(|job| job.procs > 0);
            newcomers.for_each(|job| self.index.push(job, &self.arrivals));
        }
    }

    /// The pass if only arrivals happened since the last one. A job that could not start then cannot start now: the free
    /// and extra processors are the same, and the shadow time is nearer. So only the new jobs are examined. This is so in
    /// every scan order.
    fn pass_over_newcomers(&mut self, view: &View<'_>, head: &Waiting, starts: &mut Vec<JobId>) {
        self.started.clear();
        self.scan(view, head, view.waiting.places_after(self.seen), view.free, starts);
    }

    /// Starts heads while they fit, reserves for the first that does not, and backfills.
    fn pass_over_all(&mut self, view: &View<'_>, starts: &mut Vec<JobId>) {
        self.started.clear();
        let (head, free) = heads_that_fit(view.waiting.iter(), view.free, |job| {
            let length = self.counting.running_length(job.id, job.length, &self.arrivals);
            self.started.push((view.now + length, job.procs));
            if self.deep {
                self.index.remove(job);
            }
            starts.push(job.id);
        });
        self.started.sort_unstable();
        self.head = head.map(|head| head.id);
        self.reservation = None;
        let Some(head) = head.filter(|_| free > 0) else { return };
        // The index knows no estimates, which are needed around a protected head.
        if self.deep && !self.arrivals.has_waited(head.id, self.protect, view.now) {
            self.search(view, head, free, starts);
        } else {
            self.scan(view, head, view.waiting.places_after(Some(head.id)), free, starts);
        }
    }

    /// Scans a part of the queue. The result for a job is hard to predict for the processor, and a mispredicted branch is the
    /// largest cost here. Hence there is no branch per job, only one per candidate.
    fn scan(&mut self, view: &View<'_>, head: &Waiting, part: &[Waiting], mut free: i64, starts: &mut Vec<JobId>) {
        if !any_is_narrow_enough(part, free) {
            return;
        }
        let is_protected = self.arrivals.has_waited(head.id, self.protect, view.now);
        let reservation = self.reservation.get_or_insert_with(|| reserve(view, &self.started, free, head));
        // The limits only get tighter during a pass: a job that does not fit now does not fit later.
        let room = reservation.room(view.now, free);
        self.candidates.clear();
        for jobs in part.chunks(u64::BITS as usize) {
            let mut held = jobs.iter().rev().fold(0u64, |held, job| held << 1 | u64::from(room.holds(job)));
            while held > 0 {
                self.candidates.push(jobs[held.trailing_zeros() as usize]);
                held &= held - 1;
            }
        }
        match self.order {
            Order::Arrival => {}
            Order::ShortestPrediction => self.candidates.sort_unstable_by_key(|job| (job.length, job.id)),
            order => self.candidates.sort_by_cached_key(|job| order.rank(job, &self.arrivals, view.now)),
        }
        for job in &self.candidates {
            let estimate = if is_protected { self.arrivals.estimate(job.id) } else { 0 };
            let fitted = Waiting { length: job.length.max(estimate), ..*job };
            if reservation.room(view.now, free).holds(&fitted) {
                free -= i64::from(job.procs);
                let counted = self.counting.running_length(job.id, job.length, &self.arrivals);
                if !reservation.admit(&(&fitted).into(), counted, view.now) {
                    self.head = None;
                }
                if self.deep {
                    self.index.remove(job);
                }
                starts.push(job.id);
            }
        }
    }

    /// As [`Easy::scan`] for the whole queue behind the head, with the index.
    fn search(&mut self, view: &View<'_>, head: &Waiting, mut free: i64, starts: &mut Vec<JobId>) {
        if self.index.narrowest().is_none_or(|procs| procs > free) {
            return;
        }
        let reservation = self.reservation.get_or_insert_with(|| reserve(view, &self.started, free, head));
        loop {
            let room = reservation.room(view.now, free);
            let Some(job) = self.index.take(&room) else { return };
            free -= job.procs;
            let counted = self.counting.running_length(job.id, job.length, &self.arrivals);
            if !reservation.admit(&job, counted, view.now) {
                self.head = None;
            }
            starts.push(job.id);
        }
    }
}

impl Policy for Easy {
    fn pass(&mut self, view: &View<'_>, starts: &mut Vec<JobId>) {
        self.update_index(view);
        match view.waiting.first() {
            Some(head) if view.only_arrivals && self.head == Some(head.id) => {
                self.pass_over_newcomers(view, head, starts)
            }
            _ => self.pass_over_all(view, starts),
        }
        self.seen = view.waiting.iter().next_back().map(|job| job.id).or(self.seen);
        self.arrivals.forget_before(view.waiting.first().map(|job| job.id));
    }

    fn reservations(&mut self, view: &View<'_>, most: usize, reserved: &mut Vec<(JobId, Time)>) {
        let Some(head) = view.waiting.first().filter(|_| most > 0) else { return };
        reserved.push((head.id, reserve(view, &[], view.free, head).shadow_time));
    }

    fn set_first_submission(&mut self, submit: Time) {
        self.arrivals.set_first_submission(submit);
    }

    fn on_arrival(&mut self, id: JobId, job: &Submission) {
        self.arrivals.push(id, job);
    }

    fn on_prediction(&mut self, job: &Waiting) {
        if self.deep {
            self.index.change(job, &self.arrivals);
        }
    }

    fn on_cancellation(&mut self, job: &Waiting) {
        if self.deep {
            self.index.remove(job);
        }
    }

    fn counts_running_by_estimates(&self) -> bool {
        self.counting == Counting::Estimate
    }
}

/// Whether any job in this slice needs at most `free` processors. Without a branch per job, see [`Easy::scan`].
fn any_is_narrow_enough(part: &[Waiting], free: i64) -> bool {
    let room = Room { free, extra: 0, longest: 0 };
    part.iter().fold(false, |any, job| any | room.is_wide_enough(job))
}

/// The reservation of the head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Reservation {
    /// When the head will fit, by the ends of running jobs as they are counted.
    shadow_time: Time,
    /// The processors that the head leaves free at the shadow time.
    extra: i64,
}

impl Reservation {
    /// No reservation: every job that fits the free processors may start.
    const NONE: Reservation = Reservation { shadow_time: Time::MAX, extra: 0 };

    /// The limits for a backfilled job, so that it does not delay the head.
    fn room(&self, now: Time, free: i64) -> Room {
        Room { free, extra: self.extra, longest: self.shadow_time.saturating_sub(now) }
    }

    /// A backfilled job starts. It uses extra processors if it is predicted to end after the shadow time. Returns whether
    /// the reservation is the same from the next pass on, when the job has the length `counted`: both its ends must be on
    /// the same side of the shadow time.
    fn admit(&mut self, job: &Candidate, counted: Seconds, now: Time) -> bool {
        let ends_later = now + job.length > self.shadow_time;
        if ends_later {
            self.extra -= job.procs;
        }
        ends_later == (now + counted > self.shadow_time)
    }
}

/// Adds up the processors of running jobs in order of their ends, jobs with equal ends together, until the head fits.
/// The jobs that `started` in this pass count as running. Both lists are in order of ends.
fn reserve(view: &View<'_>, started: &[(Time, u32)], free: i64, head: &Waiting) -> Reservation {
    if started.is_empty() {
        // A faster way for most passes.
        let missing = i64::from(head.procs) - free;
        let frees = view.running.end_that_frees(missing);
        return frees
            .map_or(Reservation::NONE, |(shadow_time, freed)| Reservation { shadow_time, extra: freed - missing });
    }
    let mut running = view.running.iter().map(|job| (job.end, job.procs)).peekable();
    let mut started = started.iter().copied().peekable();
    let mut sum = free;
    loop {
        let next = match (running.peek(), started.peek()) {
            (Some(a), Some(b)) => a.0.min(b.0),
            (Some(a), None) => a.0,
            (None, Some(b)) => b.0,
            // Not reached: every job of a workload fits the empty machine.
            (None, None) => return Reservation::NONE,
        };
        while let Some((_, procs)) = running.next_if(|job| job.0 == next) {
            sum += i64::from(procs);
        }
        while let Some((_, procs)) = started.next_if(|job| job.0 == next) {
            sum += i64::from(procs);
        }
        if sum >= i64::from(head.procs) {
            return Reservation { shadow_time: next, extra: sum - i64::from(head.procs) };
        }
    }
}
