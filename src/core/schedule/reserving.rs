//! Backfilling with any order of the queue and any number of reservations, up to conservative backfilling, where every waiting
//! job has one. [`super::Easy`] is the same for one reservation and a queue in order of arrival, and faster.

use super::backlog::Backlog;
use super::forward::forward_policy;
use super::index::Index;
use super::order::{Order, Rank};
use super::plan::{Indexed, Listed, Plan};
use super::policy::{InGivenOrder, Policy, View};
use super::queue::Waiting;
use super::ranked::Ranked;
use super::rules::{Counting, Rules};
use crate::job::JobId;
use crate::time::Time;

/// Each pass walks through the queue in its order. A job that can start now without delaying an earlier one starts, any other
/// gets a reservation at the earliest place that is free. When the permitted number of reservations is reached, the other jobs are
/// tried in the order of the scan: each starts if there is room for it from now on. A reservation is for one pass: it can be later
/// than the one that the job had at the pass before.
///
/// A deep queue has an index. If all jobs have reservations, the walk ends with it as soon as no job of the rest can start now,
/// and the plan of one pass is kept for the next, as far as that would make the same.
pub struct Reserving {
    rules: Rules,
    /// Its index is in the order of the queue if all jobs have reservations, else in the order of the scan.
    backlog: Backlog,
    plan: Plan,
    /// Whether the plan of the last pass is kept: that of a queue with an index, if all jobs have reservations.
    is_kept: bool,
    /// Scratch: a queue without an index.
    queue: Vec<Waiting>,
    /// Scratch: candidates of a scan without the index.
    candidates: Vec<(Rank, Waiting)>,
}

impl Reserving {
    /// Backfilling by these rules.
    pub fn new(rules: &Rules) -> Self {
        let backlog = match rules.reservations {
            Some(_) => Backlog::by_scan(rules, Ranked::new(rules.scan)),
            None => Backlog::by_queue(rules),
        };
        Reserving::with(rules, backlog)
    }

    /// The same, and slower: every pass makes everything anew, without an index. For comparisons, and for an order of the queue
    /// that is given for each pass.
    pub fn anew(rules: &Rules) -> Self {
        Reserving::with(rules, Backlog::unindexed(rules))
    }

    fn with(rules: &Rules, backlog: Backlog) -> Self {
        Reserving {
            rules: *rules,
            backlog,
            plan: Plan::new(rules),
            is_kept: false,
            queue: Vec::new(),
            candidates: Vec::new(),
        }
    }

    /// Some jobs of the queue start or get reservations, then the others are tried.
    fn reserve_some(&mut self, most: usize, view: &View<'_>, starts: &mut Vec<JobId>) {
        let is_deep = self.backlog.is_deep();
        let Backlog { line, index, arrivals, .. } = &mut self.backlog;
        self.plan.begin(view, false);
        for job in line.jobs(view, arrivals) {
            if self.plan.place(Rank::of_arrival(job.id), job, view, arrivals, starts) == view.now {
                // The scan must not find it. It does not find a job with a reservation: the profile only gets fuller.
                index.remove(job);
            }
            // More reservations have no effect when no other job can start.
            let narrowest = if is_deep { index.narrowest() } else { Some(1) };
            if narrowest.is_none_or(|procs| procs > self.plan.free_now()) {
                return;
            }
            if self.plan.count() == most {
                break;
            }
        }
        if self.plan.count() < most {
            return;
        }
        match is_deep && !self.plan.is_protected() {
            true => self.plan.fill(index, starts),
            false => self.scan_anew(self.rules.scan, view, starts),
        }
    }

    /// Tries the other jobs without the index. Jobs that do not fit now do not fit later in the pass.
    fn scan_anew(&mut self, order: Order, view: &View<'_>, starts: &mut Vec<JobId>) {
        let Reserving { plan, backlog: Backlog { arrivals, index, .. }, candidates, .. } = self;
        plan.update_limits();
        // Few jobs start in one pass, so the list is short.
        let fits = |job: &&Waiting| plan.allows(job, arrivals) && !starts.contains(&job.id);
        candidates.clear();
        candidates.extend(view.waiting.iter().filter(fits).map(|job| (order.rank(job, arrivals, view.now), *job)));
        candidates.sort_unstable_by_key(|(rank, _)| *rank);
        for (_, job) in candidates {
            if plan.allows(job, arrivals) {
                plan.start(job, arrivals);
                // A deep queue has an index also when a protected job does not let the scan use it.
                index.remove(job);
                starts.push(job.id);
            }
        }
    }

    /// All jobs of the queue start or get reservations.
    fn reserve_all(&mut self, view: &View<'_>, starts: &mut Vec<JobId>) {
        let is_deep = self.backlog.is_deep();
        let Reserving { backlog: Backlog { line, arrivals, index, .. }, plan, queue, .. } = self;
        if !is_deep {
            plan.begin(view, false);
            queue.clear();
            queue.extend(line.jobs(view, arrivals));
            plan.reserve(view, arrivals, &mut Listed(queue.iter()), starts);
            return;
        }
        let touched = index.take_touched();
        let reached = if self.is_kept { plan.go_on(touched, view, arrivals, starts) } else { None };
        if reached.is_none() {
            plan.begin(view, true);
        }
        self.is_kept = true;
        plan.reserve(view, arrivals, &mut Indexed { jobs: line.after(reached, view), index, reached }, starts);
        // The plan knows of the jobs that it has started.
        starts.iter().for_each(|&id| index.remove_id(id));
        index.take_touched();
    }
}

/// For backfilling that makes everything anew.
impl InGivenOrder for Reserving {
    fn give_order(&mut self, jobs: Vec<JobId>) {
        self.backlog.line.give(jobs);
    }
}

impl Policy for Reserving {
    forward_policy!(self.backlog: on_begin, on_arrival, on_prediction, on_cancellation);

    fn pass(&mut self, view: &View<'_>, starts: &mut Vec<JobId>) {
        self.backlog.begin_pass(view);
        self.is_kept &= self.backlog.is_deep();
        if self.backlog.narrowest(view).is_some_and(|procs| procs <= view.free()) {
            match self.rules.reservations {
                Some(most) => self.reserve_some(most, view, starts),
                None => self.reserve_all(view, starts),
            }
        }
        self.backlog.end_pass(view, starts);
    }

    fn reservations(&mut self, view: &View<'_>, most: usize, reserved: &mut Vec<(JobId, Time)>) {
        self.is_kept = false;
        let Backlog { line, arrivals, .. } = &mut self.backlog;
        let most = self.rules.reservations.map_or(most, |reservations| reservations.min(most));
        self.plan.list(view, arrivals, line.jobs(view, arrivals).take(most), reserved);
    }

    fn counts_running_by_estimates(&self) -> bool {
        self.rules.running == Counting::Estimate
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{Capacity, Grant, ShapeId};
    use crate::schedule::queue::Queue;
    use crate::schedule::running::{Running, RunningJobs};

    /// A thousand wide jobs wait, then a narrow one that can start. Where the wide jobs begin, one after another, has no effect on
    /// that.
    #[test]
    fn reservations_that_are_far_are_left_open() {
        let mut policy = Reserving::new(&Rules { reservations: None, ..Rules::default() });
        let (mut waiting, mut running) = (Queue::default(), RunningJobs::default());
        let mut capacity = Capacity::pool(10);
        running.insert(Running { id: JobId(0), grant: capacity.take(ShapeId::of_procs(9)), end: 1000 });
        let wide = |id| Waiting { id: JobId(id), procs: 6, prediction: 100, length: 100 };
        (1..=1000).for_each(|id| waiting.push(wide(id)));
        let pass = |policy: &mut Reserving, waiting: &Queue| {
            let view =
                View { now: 0, capacity: &capacity, nodes: None, waiting, running: &running, only_arrivals: false };
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
        running.insert(Running { id: JobId(0), grant: Grant::of_procs(8), end: 1000 });
        running.insert(Running { id: JobId(1001), grant: Grant::of_procs(1), end: 50 });
        waiting.push(Waiting { id: JobId(1002), procs: 1, prediction: 70, length: 70 });
        let view = View {
            now: 1,
            capacity: &capacity,
            nodes: None,
            waiting: &waiting,
            running: &running,
            only_arrivals: false,
        };
        let mut starts = Vec::new();
        policy.pass(&view, &mut starts);
        assert_eq!(starts, [JobId(1002)]);
        assert!(policy.plan.open_count() > 900, "{}", policy.plan.open_count());
    }
}
