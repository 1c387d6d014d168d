//! EASY backfilling, and SJBF, which is EASY with another order of the scan.

use super::fcfs::heads_that_fit;
use super::policy::{Policy, View, Waiting};
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

pub struct Easy {
    order: ScanOrder,
    /// Scratch: jobs behind the head that are narrow enough for what is free.
    candidates: Vec<Waiting>,
    /// Scratch: predicted ends and processors of the heads started in this pass.
    started: Vec<(Time, u32)>,
}

impl Easy {
    pub fn new(order: ScanOrder) -> Self {
        Easy { order, candidates: Vec::new(), started: Vec::new() }
    }
}

impl Policy for Easy {
    fn pass(&mut self, view: &View<'_>, starts: &mut Vec<JobId>) {
        let (heads, mut free) = heads_that_fit(view);
        starts.extend(view.waiting[..heads].iter().map(|job| job.id));
        let Some((head, behind)) = view.waiting[heads..].split_first() else { return };

        // What is wider than the free processors now is so for the rest of the pass, which only uses them up.
        self.candidates.clear();
        self.candidates.extend(behind.iter().filter(|job| i64::from(job.procs) <= free));
        if self.candidates.is_empty() {
            return;
        }
        if self.order == ScanOrder::ShortestPrediction {
            self.candidates.sort_unstable_by_key(|job| (job.prediction, job.id));
        }

        self.started.clear();
        self.started.extend(view.waiting[..heads].iter().map(|job| (view.now + job.length, job.procs)));
        self.started.sort_unstable();
        let reservation = reserve(view, &self.started, free, head);
        let mut extra = reservation.extra;
        for job in &self.candidates {
            let procs = i64::from(job.procs);
            if procs > free {
                continue;
            }
            if view.now + job.length > reservation.shadow_time {
                if procs > extra {
                    continue;
                }
                extra -= procs;
            }
            free -= procs;
            starts.push(job.id);
        }
    }
}

/// The one reservation: when the head is sure to fit, and how many processors will be left over then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Reservation {
    shadow_time: Time,
    extra: i64,
}

/// Adds up the processors of running jobs by predicted end, all jobs of one end together, until the head fits. The jobs
/// that `started` in this pass run too; both lists are in order of their ends.
fn reserve(view: &View<'_>, started: &[(Time, u32)], free: i64, head: &Waiting) -> Reservation {
    let mut running = view.running.iter().map(|job| (job.end, job.procs)).peekable();
    let mut started = started.iter().copied().peekable();
    let mut sum = free;
    loop {
        let next = match (running.peek(), started.peek()) {
            (Some(a), Some(b)) => a.0.min(b.0),
            (Some(a), None) => a.0,
            (None, Some(b)) => b.0,
            // Every job of a workload fits the empty machine, so this is never reached with the head still too wide;
            // if it were, nothing could be said to delay it.
            (None, None) => return Reservation { shadow_time: Time::MAX, extra: 0 },
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
