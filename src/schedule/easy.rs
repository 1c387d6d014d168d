//! EASY backfilling, and SJBF, which is EASY with a different scan order.

use super::fcfs::heads_that_fit;
use super::policy::{Policy, View};
use super::queue::Waiting;
use super::widths::{Candidate, Room, Widths};
use crate::job::JobId;
use crate::spec::Form;
use crate::time::Time;

pub const EASY: Form = Form {
    name: "easy",
    about: "backfilling in arrival order, with a reservation for the first job that does not fit",
    keys: &[],
};

pub const SJBF: Form =
    Form { name: "sjbf", about: "shortest job backfilled first: easy, scanning by ascending prediction", keys: &[] };

/// The order in which the queue is scanned for jobs to backfill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScanOrder {
    /// EASY (Skovira et al.; Talby et al., section 2.1).
    Arrival,
    /// SJBF (Tsafrir et al.; Talby et al., section 3.2): ascending prediction, ties by arrival.
    ShortestPrediction,
}

/// Backfilling with one reservation, for the head of the queue.
pub struct Easy {
    order: ScanOrder,
    /// The head that did not fit at the last pass.
    head: Option<JobId>,
    /// Its reservation at the end of the last pass. None if no other job needed few enough processors to backfill.
    reservation: Option<Reservation>,
    /// The last job of the queue at the last pass.
    seen: Option<JobId>,
    /// The queue by width, while it is deep.
    widths: Widths,
    deep: bool,
    /// Scratch: jobs behind the head that may be backfilled.
    candidates: Vec<Waiting>,
    /// Scratch: predicted ends and processors of the heads started in this pass.
    started: Vec<(Time, u32)>,
}

/// A queue is indexed by width from `DEEP` jobs on, until it has less than `SHALLOW`. Scanning a short queue is faster.
const DEEP: usize = 48;
const SHALLOW: usize = 16;

impl Easy {
    /// EASY or SJBF, depending on the scan order.
    pub fn new(order: ScanOrder) -> Self {
        Easy {
            order,
            head: None,
            reservation: None,
            seen: None,
            widths: Widths::default(),
            deep: false,
            candidates: Vec::new(),
            started: Vec::new(),
        }
    }

    /// Updates the index for the jobs that arrived since the last pass.
    fn index(&mut self, view: &View<'_>) {
        let waiting = view.waiting;
        if !self.deep && waiting.len() >= DEEP {
            self.deep = true;
            waiting.iter().for_each(|job| self.widths.push(job));
        } else if self.deep && waiting.len() < SHALLOW {
            self.deep = false;
            self.widths.clear();
        } else if self.deep {
            let newcomers = waiting.places_after(self.seen).iter().filter(|job| job.procs > 0);
            newcomers.for_each(|job| self.widths.push(job));
        }
    }

    /// The pass if only arrivals happened since the last one. A job that could not start then cannot start now: the free
    /// and extra processors are the same, and the shadow time is nearer. So only the new jobs are examined.
    fn pass_over_newcomers(&mut self, view: &View<'_>, head: &Waiting, starts: &mut Vec<JobId>) {
        self.started.clear();
        self.scan(view, head, view.waiting.places_after(self.seen), view.free, starts);
    }

    /// Starts heads while they fit, reserves for the first that does not, and backfills.
    fn pass_over_all(&mut self, view: &View<'_>, starts: &mut Vec<JobId>) {
        self.started.clear();
        let (head, free) = heads_that_fit(view, |job| {
            self.started.push((view.now + job.length, job.procs));
            if self.deep {
                self.widths.remove(job);
            }
            starts.push(job.id);
        });
        self.started.sort_unstable();
        self.head = head.map(|head| head.id);
        self.reservation = None;
        let Some(head) = head.filter(|_| free > 0) else { return };
        if self.deep {
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
        if self.order == ScanOrder::ShortestPrediction {
            self.candidates.sort_unstable_by_key(|job| (job.prediction, job.id));
        }
        for job in &self.candidates {
            if reservation.room(view.now, free).holds(job) {
                free -= i64::from(job.procs);
                reservation.admit(&job.into(), view.now);
                if self.deep {
                    self.widths.remove(job);
                }
                starts.push(job.id);
            }
        }
    }

    /// As [`Easy::scan`] for the whole queue behind the head, with the index.
    fn search(&mut self, view: &View<'_>, head: &Waiting, mut free: i64, starts: &mut Vec<JobId>) {
        if self.widths.narrowest().is_none_or(|procs| procs > free) {
            return;
        }
        let reservation = self.reservation.get_or_insert_with(|| reserve(view, &self.started, free, head));
        loop {
            let room = reservation.room(view.now, free);
            let found = match self.order {
                ScanOrder::Arrival => self.widths.take_earliest(&room),
                ScanOrder::ShortestPrediction => self.widths.take_shortest(&room),
            };
            let Some(job) = found else { return };
            free -= job.procs;
            reservation.admit(&job, view.now);
            starts.push(job.id);
        }
    }
}

impl Policy for Easy {
    fn pass(&mut self, view: &View<'_>, starts: &mut Vec<JobId>) {
        self.index(view);
        match view.waiting.first() {
            Some(head) if view.only_arrivals && self.head == Some(head.id) => {
                self.pass_over_newcomers(view, head, starts)
            }
            _ => self.pass_over_all(view, starts),
        }
        self.seen = view.waiting.iter().next_back().map(|job| job.id).or(self.seen);
    }

    fn on_prediction(&mut self, job: &Waiting) {
        if self.deep {
            self.widths.change(job);
        }
    }

    fn on_cancellation(&mut self, job: &Waiting) {
        if self.deep {
            self.widths.remove(job);
        }
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
    /// When the head will fit, by the predictions.
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

    /// A backfilled job starts. It uses extra processors if it is predicted to end after the shadow time.
    fn admit(&mut self, job: &Candidate, now: Time) {
        if now + job.length > self.shadow_time {
            self.extra -= job.procs;
        }
    }
}

/// Adds up the processors of running jobs in order of predicted end, jobs with equal ends together, until the head fits.
/// The jobs that `started` in this pass count as running. Both lists are in order of predicted end.
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
