//! Backfilling with any order of the queue and any number of reservations, up to conservative backfilling, where every waiting
//! job has one. [`super::Easy`] is the same for one reservation and a queue in order of arrival, and faster.

use super::backlog::Backlog;
use super::index::Index;
use super::machine::Machine;
use super::order::{Order, Rank};
use super::plan::{Indexed, Listed, Plan};
use super::policy::{Asked, Decisions, Policy, PolicyEvent, Scheduler};
use super::queue::Waiting;
use super::ranked::Ranked;
use super::rules::{Counting, Rules};
use crate::job::JobId;

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
    fn reserve_some(&mut self, most: usize, machine: &Machine, starts: &mut Vec<JobId>) {
        let is_deep = self.backlog.is_deep();
        let Backlog { line, index, arrivals, .. } = &mut self.backlog;
        self.plan.begin(machine, false);
        for job in line.jobs(machine, arrivals) {
            if self.plan.place(Rank::of_arrival(job.arrival), job, machine, arrivals, starts) == machine.now {
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
            false => self.scan_anew(self.rules.scan, machine, starts),
        }
    }

    /// Tries the other jobs without the index. Jobs that do not fit now do not fit later in the pass.
    fn scan_anew(&mut self, order: Order, machine: &Machine, starts: &mut Vec<JobId>) {
        let Reserving { plan, backlog: Backlog { arrivals, index, .. }, candidates, .. } = self;
        plan.update_limits();
        // Few jobs start in one pass, so the list is short.
        let fits = |job: &&Waiting| plan.allows(job, arrivals) && !starts.contains(&job.id);
        candidates.clear();
        candidates
            .extend(machine.waiting.iter().filter(fits).map(|job| (order.rank(job, arrivals, machine.now), *job)));
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
    fn reserve_all(&mut self, machine: &Machine, starts: &mut Vec<JobId>) {
        let is_deep = self.backlog.is_deep();
        let Reserving { backlog: Backlog { line, arrivals, index, .. }, plan, queue, .. } = self;
        if !is_deep {
            plan.begin(machine, false);
            queue.clear();
            queue.extend(line.jobs(machine, arrivals));
            plan.reserve(machine, arrivals, &mut Listed(queue.iter()), starts);
            return;
        }
        let touched = index.take_touched();
        let reached = if self.is_kept { plan.go_on(touched, machine, arrivals, starts) } else { None };
        if reached.is_none() {
            plan.begin(machine, true);
        }
        self.is_kept = true;
        plan.reserve(machine, arrivals, &mut Indexed { jobs: line.after(reached, machine), index, reached }, starts);
        // The plan knows of the jobs that it has started.
        starts.iter().for_each(|&id| index.remove_id(id));
        index.take_touched();
    }
}

impl Policy for Reserving {
    fn decide(&mut self, machine: &Machine, out: &mut Decisions) {
        match out.asked {
            Asked::Pass => {
                self.backlog.begin_pass(machine);
                self.is_kept &= self.backlog.is_deep();
                if self.backlog.narrowest(machine).is_some_and(|procs| procs <= machine.free()) {
                    match self.rules.reservations {
                        Some(most) => self.reserve_some(most, machine, &mut out.starts),
                        None => self.reserve_all(machine, &mut out.starts),
                    }
                }
                self.backlog.end_pass(machine, &out.starts);
            }
            Asked::Reservations(most) => {
                self.is_kept = false;
                let Backlog { line, arrivals, .. } = &mut self.backlog;
                let most = self.rules.reservations.map_or(most, |reservations| reservations.min(most));
                self.plan.list(machine, arrivals, line.jobs(machine, arrivals).take(most), &mut out.reserved);
            }
            _ => {}
        }
    }

    fn on(&mut self, event: &PolicyEvent<'_>, _machine: &Machine) {
        self.backlog.on(event);
    }
}

impl From<Reserving> for Scheduler {
    fn from(reserving: Reserving) -> Scheduler {
        let by_estimates = reserving.rules.running == Counting::Estimate;
        Scheduler { by_estimates, answers: true, ..Scheduler::new(reserving) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::RequestId;
    use crate::schedule::machine::Change;
    use crate::schedule::running::Running;

    /// A thousand wide jobs wait, then a narrow one that can start. Where the wide jobs begin, one after another, has no effect on
    /// that.
    #[test]
    fn reservations_that_are_far_are_left_open() {
        let mut policy = Reserving::new(&Rules { reservations: None, ..Rules::default() });
        let mut machine = Machine::pool(10);
        machine.change(Change::Clock(0));
        let adopt = |machine: &mut Machine, procs| {
            let job = Running { id: JobId(0), procs, end: 1000 };
            machine.change(Change::Adopt { job, on_nodes: None });
        };
        let arrive = |machine: &mut Machine, id, procs, prediction| {
            machine.change(Change::Arrive { id, procs, request: RequestId::NONE });
            machine.change(Change::Predict { id, prediction, is_first: true });
        };
        adopt(&mut machine, 9);
        (1..=1000).for_each(|id| arrive(&mut machine, JobId(id), 6, 100));
        let pass = |policy: &mut Reserving, machine: &Machine| {
            let mut out = Decisions::default();
            policy.decide(machine, &mut out);
            out.starts
        };
        assert!(pass(&mut policy, &machine).is_empty());
        arrive(&mut machine, JobId(1001), 1, 50);
        assert_eq!(pass(&mut policy, &machine), [JobId(1001)]);
        machine.change(Change::Start { id: JobId(1001), grant: Vec::new(), counted: None });
        // A job that changes lets the plan begin anew, and now it is known how long jobs are.
        policy.on(&PolicyEvent::Change(machine.waiting.first().unwrap()), &machine);
        machine.change(Change::End { id: JobId(0), counted: 1000 });
        adopt(&mut machine, 8);
        arrive(&mut machine, JobId(1002), 1, 70);
        machine.change(Change::Clock(1));
        assert_eq!(pass(&mut policy, &machine), [JobId(1002)]);
        assert!(policy.plan.open_count() > 900, "{}", policy.plan.open_count());
    }
}
