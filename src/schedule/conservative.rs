//! Conservative backfilling: every waiting job has a reservation. [`super::Reserving`] with all reservations is the same, and
//! slower.

use super::arrivals::Arrivals;
use super::line::Line;
use super::order::Rank;
use super::plan::{Indexed, Listed, Plan};
use super::policy::{Policy, View};
use super::queue::Waiting;
use super::ranked::Ranked;
use super::rules::{Counting, Rules};
use crate::job::{JobId, Submission};
use crate::time::Time;

/// Each pass walks through the queue in its order. A job that can start now without delaying an earlier one starts, any other
/// gets a reservation at the earliest place that is free. A reservation is for one pass: it can be later than the one that the
/// job had at the pass before.
///
/// A deep queue has an index. With it the walk ends as soon as no job of the rest can start now. The plan of one pass is kept
/// for the next, as far as that would make the same.
pub struct Conservative {
    counting: Counting,
    line: Line,
    arrivals: Arrivals,
    /// The last job of the queue at the last pass.
    seen: Option<JobId>,
    plan: Plan,
    /// Whether the plan of the last pass is kept: that of a queue with an index.
    is_kept: bool,
    /// The rank of the first job that has come, gone or changed since the last pass.
    touched: Option<Rank>,
    /// The queue in its order, while it is deep.
    index: Ranked,
    deep: bool,
    /// Scratch: a queue without an index.
    queue: Vec<Waiting>,
}

/// A queue is indexed from `DEEP` jobs on, until it has less than `SHALLOW`.
const DEEP: usize = 48;
const SHALLOW: usize = 16;

impl Conservative {
    /// Backfilling by these rules; their number of reservations and their order of the scan have no effect.
    pub fn new(rules: &Rules) -> Self {
        let line = Line::new(rules.queue, rules.starve);
        let needs_estimates = rules.running == Counting::Estimate || rules.protect.is_some();
        Conservative {
            counting: rules.running,
            arrivals: Arrivals::new(needs_estimates || line.needs_submissions()),
            line,
            seen: None,
            plan: Plan::new(rules),
            is_kept: false,
            touched: None,
            index: Ranked::default(),
            deep: false,
            queue: Vec::new(),
        }
    }

    /// Adds the jobs that arrived since the last pass: their predictions are known now.
    fn add_newcomers(&mut self, view: &View<'_>) {
        for job in view.waiting.places_after(self.seen).iter().filter(|job| job.procs > 0) {
            self.line.put(job, &self.arrivals);
            if self.deep {
                self.put_in_index(job);
            }
        }
        self.seen = view.waiting.iter().next_back().map(|job| job.id).or(self.seen);
        let waiting = view.waiting.len();
        if !self.deep && waiting >= DEEP && self.line.is_fixed() {
            self.deep = true;
            view.waiting.iter().for_each(|job| self.put_in_index(job));
        } else if self.deep && waiting < SHALLOW {
            self.deep = false;
            self.index.clear();
            self.is_kept = false;
        }
    }

    fn put_in_index(&mut self, job: &Waiting) {
        let rank = self.line.rank(job, &self.arrivals);
        self.touch(rank);
        self.index.put(job.procs, job.length, rank);
    }

    /// A job of this rank arrives, leaves or changes.
    fn touch(&mut self, rank: Rank) {
        self.touched = Some(self.touched.map_or(rank, |first| first.min(rank)));
    }

    fn schedule(&mut self, view: &View<'_>, starts: &mut Vec<JobId>) {
        let narrowest = match self.deep {
            true => self.index.narrowest(),
            false => view.waiting.iter().map(|job| i64::from(job.procs)).min(),
        };
        if narrowest.is_none_or(|procs| procs > view.free) {
            return;
        }
        let Conservative { line, arrivals, plan, index, queue, .. } = self;
        if !self.deep {
            plan.begin(view, false);
            queue.clear();
            queue.extend(line.jobs(view, arrivals));
            plan.reserve(view, arrivals, &mut Listed(queue.iter()), starts);
            return;
        }
        let touched = self.touched.take();
        let reached = if self.is_kept { plan.go_on(touched, view, arrivals, starts) } else { None };
        if reached.is_none() {
            plan.begin(view, true);
        }
        self.is_kept = true;
        plan.reserve(view, arrivals, &mut Indexed { jobs: line.after(reached, view), index, reached }, starts);
    }
}

impl Policy for Conservative {
    fn pass(&mut self, view: &View<'_>, starts: &mut Vec<JobId>) {
        self.add_newcomers(view);
        self.schedule(view, starts);
        for &id in starts.iter() {
            self.line.remove(id);
            self.index.remove(id);
        }
        self.arrivals.forget_before(view.waiting.first().map(|job| job.id));
    }

    fn reservations(&mut self, view: &View<'_>, most: usize, reserved: &mut Vec<(JobId, Time)>) {
        self.is_kept = false;
        let Conservative { line, arrivals, plan, .. } = self;
        plan.list(view, arrivals, line.jobs(view, arrivals).take(most), reserved);
    }

    fn set_first_submission(&mut self, submit: Time) {
        self.arrivals.set_first_submission(submit);
    }

    fn on_arrival(&mut self, id: JobId, job: &Submission) {
        self.arrivals.push(id, job);
    }

    fn on_prediction(&mut self, job: &Waiting) {
        // A job that has arrived since the last pass is added at the next one.
        if self.seen.is_none_or(|seen| job.id > seen) {
            return;
        }
        self.line.put(job, &self.arrivals);
        if self.deep {
            let old = self.index.rank(job.id);
            old.into_iter().for_each(|rank| self.touch(rank));
            self.put_in_index(job);
        }
    }

    fn on_cancellation(&mut self, job: &Waiting) {
        let old = self.index.rank(job.id);
        old.into_iter().for_each(|rank| self.touch(rank));
        self.line.remove(job.id);
        self.index.remove(job.id);
    }

    fn counts_running_by_estimates(&self) -> bool {
        self.counting == Counting::Estimate
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::queue::Queue;
    use crate::schedule::running::{Running, RunningJobs};

    /// A thousand wide jobs wait, then a narrow one that can start. Where the wide jobs begin, one after another, has no effect on
    /// that.
    #[test]
    fn reservations_that_are_far_are_left_open() {
        let mut policy = Conservative::new(&Rules { reservations: None, ..Rules::default() });
        let (mut waiting, mut running) = (Queue::default(), RunningJobs::default());
        running.insert(Running { id: JobId(0), procs: 9, end: 1000 });
        let wide = |id| Waiting { id: JobId(id), procs: 6, prediction: 100, length: 100 };
        (1..=1000).for_each(|id| waiting.push(wide(id)));
        let pass = |policy: &mut Conservative, waiting: &Queue| {
            let view = View { now: 0, procs: 10, free: 1, waiting, running: &running, only_arrivals: false };
            let mut starts = Vec::new();
            policy.pass(&view, &mut starts);
            starts
        };
        assert!(pass(&mut policy, &waiting).is_empty());
        waiting.push(Waiting { id: JobId(1001), procs: 1, prediction: 50, length: 50 });
        assert_eq!(pass(&mut policy, &waiting), [JobId(1001)]);
        waiting.remove(JobId(1001));
        // A job that changes lets the plan begin anew, and now it is known how long jobs are.
        policy.on_prediction(&wide(1));
        running.remove(1000, JobId(0));
        running.insert(Running { id: JobId(0), procs: 8, end: 1000 });
        running.insert(Running { id: JobId(1001), procs: 1, end: 50 });
        waiting.push(Waiting { id: JobId(1002), procs: 1, prediction: 70, length: 70 });
        let view = View { now: 1, procs: 10, free: 1, waiting: &waiting, running: &running, only_arrivals: false };
        let mut starts = Vec::new();
        policy.pass(&view, &mut starts);
        assert_eq!(starts, [JobId(1002)]);
        assert!(policy.plan.open_count() > 900, "{}", policy.plan.open_count());
    }
}
