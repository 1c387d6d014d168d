//! Schedulers on the nodes of a cluster: first come first served, and backfilling with any number of reservations for each
//! partition.

mod bounds;
mod plan;
mod pool;
mod reach;
mod rooms;

use std::sync::Arc;

use super::backlog::Backlog;
use super::guide::{Guide, Guided, Precedence};
use super::machine::Machine;
use super::order::Order;
use super::policy::{Asked, Decisions, Policy, PolicyEvent, Scheduler};
use super::queue::Waiting;
use super::rules::{Counting, Rules};
use crate::job::JobId;
use crate::machine::{Nodes, Placement, ShapePlace, Shapes};
use crate::request::RequestId;
use crate::time::Seconds;

use bounds::JobAtPlace;
use plan::{Granted, NodePlan};
pub use pool::PlacedPool;
pub use reach::Reach;

/// The rules are those of the pool. In the order of the queue, each job whose partition has a reservation left starts if it may,
/// else it gets one; the others are tried in the order of the scan. A job may start if it can be placed now and the plan of the
/// reservations still holds.
pub struct OnNodes {
    shapes: Arc<Shapes>,
    /// None: no job overtakes another of its partition.
    rules: Option<Rules>,
    backlog: Backlog,
    placement: Placement,
    plan: NodePlan,
    reach: Reach,
    /// Scratch: the waiting jobs in the order of the queue.
    queue: Vec<QueuedRequest>,
}

/// A waiting job with what it asks for.
#[derive(Clone, Copy)]
struct QueuedRequest {
    job: Waiting,
    request: RequestId,
}

/// How many reservations the partitions have.
struct ReservedCounts {
    counts: Vec<usize>,
    /// For each partition.
    most: usize,
}

impl ReservedCounts {
    fn new(nodes: &Nodes, most: Option<usize>) -> ReservedCounts {
        ReservedCounts { counts: vec![0; nodes.cluster().partitions.len()], most: most.unwrap_or(usize::MAX) }
    }

    /// Whether a partition has a reservation left.
    fn is_open(&self, place: &ShapePlace) -> bool {
        self.counts[place.partition as usize] < self.most
    }

    fn are_all_closed(&self) -> bool {
        self.counts.iter().all(|&count| count >= self.most)
    }
}

impl OnNodes {
    /// Backfilling by these rules.
    pub fn backfilling(rules: &Rules, shapes: &Arc<Shapes>, placement: Placement) -> OnNodes {
        OnNodes::with(Some(*rules), Backlog::unindexed(rules), shapes, placement)
    }

    /// Jobs of a partition start in this order: the first that does not fit blocks all others.
    pub fn fcfs(queue: Order, shapes: &Arc<Shapes>, placement: Placement) -> OnNodes {
        OnNodes::with(None, Backlog::unindexed(&Rules { queue, ..Rules::default() }), shapes, placement)
    }

    fn with(rules: Option<Rules>, backlog: Backlog, shapes: &Arc<Shapes>, placement: Placement) -> OnNodes {
        let (plan, reach, queue) = (NodePlan::new(placement), Reach::new(placement), Vec::new());
        OnNodes { shapes: Arc::clone(shapes), rules, backlog, placement, plan, reach, queue }
    }

    fn start_in_order(&mut self, machine: &Machine, nodes: &Nodes, starts: &mut Vec<JobId>) {
        let mut is_blocked = vec![false; nodes.cluster().partitions.len()];
        for job in self.backlog.jobs(machine) {
            let shape = nodes.shape(job.id);
            let mut open = (0..shape.places.len()).filter(|&at| !is_blocked[shape.places[at].partition as usize]);
            let placed =
                open.find_map(|at| shape.place(at, self.placement, nodes.cluster(), self.plan.free(), |_| false));
            match placed {
                Some(grant) => {
                    self.plan.start(job.id, 0, Granted::alone(grant), nodes);
                    starts.push(job.id);
                }
                None => {
                    shape.places.iter().for_each(|place| is_blocked[place.partition as usize] = true);
                    if is_blocked.iter().all(|is_blocked| *is_blocked) {
                        return;
                    }
                }
            }
        }
    }

    /// Hands out what the started jobs get.
    fn end_pass(&mut self, machine: &Machine, out: &mut Decisions) {
        self.backlog.end_pass(machine, &out.starts);
        out.grants.extend(out.starts.iter().map(|&id| self.plan.take_grant(id).unwrap_or_default()));
    }

    /// Starts the jobs that start before all others if they can be placed, and removes them from the queue.
    fn start_first(
        &mut self,
        queue: &mut Vec<QueuedRequest>,
        guide: &impl Guide,
        machine: &Machine,
        starts: &mut Vec<JobId>,
    ) {
        let nodes = nodes_of(machine);
        let Some(procs) = queue.first().and_then(|head| guide.width_that_starts_first(&head.job, machine.now)) else {
            return;
        };
        queue.retain(|queued| {
            let estimate = || self.backlog.arrivals.estimate(queued.job.id);
            queued.job.procs < procs || !self.try_start(queued, estimate(), |_| true, nodes, starts)
        });
    }

    /// The waiting jobs in the order of the queue, in the memory of the last pass.
    fn queued(&mut self, machine: &Machine, nodes: &Nodes) -> Vec<QueuedRequest> {
        let mut queue = std::mem::take(&mut self.queue);
        queue.clear();
        queue.extend(self.backlog.jobs(machine).map(|job| QueuedRequest { job: *job, request: nodes.request(job.id) }));
        queue
    }

    fn backfill_queue(
        &mut self,
        queue: &[QueuedRequest],
        guide: &impl Guide,
        machine: &Machine,
        starts: &mut Vec<JobId>,
    ) {
        let (nodes, rules) = (nodes_of(machine), self.rules.unwrap_or_default());
        let mut reserved = ReservedCounts::new(nodes, rules.reservations);
        let mut is_protected = false;
        let mut rest = Vec::new();
        // No job from here on has room.
        let mut end = queue.len();
        for (number, queued) in queue.iter().enumerate() {
            if reserved.are_all_closed() {
                rest.extend(&queue[number..end.max(number)]);
                break;
            }
            let QueuedRequest { job, request } = queued;
            if !nodes.shapes().get(*request).places.iter().any(|place| reserved.is_open(place)) {
                rest.push(queued);
                continue;
            }
            let length = match self.plan.is_empty() {
                true => rules.running.running_length(job.id, job.length, &self.backlog.arrivals),
                false => self.fitted_length(is_protected, job),
            };
            if self.try_start(queued, length, |place| reserved.is_open(place), nodes, starts) {
                continue;
            }
            // No reservation has an effect when no other job can start.
            while end > number + 1 && self.plan.is_roomless(queue[end - 1].request, nodes) {
                end -= 1;
            }
            if end <= number + 1 && rest.iter().all(|other| self.plan.is_roomless(other.request, nodes)) {
                return;
            }
            let length = if self.plan.is_empty() { job.length } else { length };
            self.reserve(queued, length, &mut reserved, machine, nodes);
            let is_first = self.plan.reservations().count() == 1;
            is_protected |= guide.is_protected(job, is_first, &self.backlog.arrivals, machine.now);
        }
        // What does not fit now does not fit later in the pass.
        rest.retain(|queued| !self.plan.is_roomless(queued.request, nodes));
        let arrivals = &self.backlog.arrivals;
        let mut ranked: Vec<(Precedence, &QueuedRequest)> =
            rest.into_iter().map(|queued| (guide.precedence(&queued.job, arrivals, machine.now), queued)).collect();
        ranked.sort_unstable_by_key(|(rank, _)| *rank);
        for (_, queued) in ranked {
            let length = self.fitted_length(is_protected, &queued.job);
            self.try_start(queued, length, |_| true, nodes, starts);
        }
    }

    /// The length of a job that may delay a reservation.
    fn fitted_length(&self, is_protected: bool, job: &Waiting) -> Seconds {
        if is_protected { job.length.max(self.backlog.arrivals.estimate(job.id)) } else { job.length }
    }

    /// Starts a job in the first partition that is open to it and in which it may start.
    fn try_start(
        &mut self,
        queued: &QueuedRequest,
        length: Seconds,
        is_open: impl Fn(&ShapePlace) -> bool,
        nodes: &Nodes,
        starts: &mut Vec<JobId>,
    ) -> bool {
        let QueuedRequest { job: Waiting { id, .. }, request } = *queued;
        if self.plan.is_roomless(request, nodes) {
            return false;
        }
        let places = nodes.shapes().get(request).places.iter().enumerate().filter(|(_, place)| is_open(place));
        let mut tried = places.map(|(at, _)| self.plan.try_now(&JobAtPlace { id, request, at, length }, nodes));
        let Some(granted) = tried.find_map(|granted| granted) else { return false };
        self.plan.start(id, length, granted, nodes);
        starts.push(id);
        true
    }

    /// Makes a reservation in the partition where it is earliest; of equals in the first.
    fn reserve(
        &mut self,
        queued: &QueuedRequest,
        length: Seconds,
        reserved: &mut ReservedCounts,
        machine: &Machine,
        nodes: &Nodes,
    ) {
        self.plan.note_running(machine.running.iter().map(|job| (job.id, job.end)));
        let QueuedRequest { job: Waiting { id, .. }, request } = *queued;
        let places = &nodes.shapes().get(request).places;
        let open = (0..places.len()).filter(|&at| reserved.is_open(&places[at]));
        let found = open.filter_map(|at| self.plan.first_start(&JobAtPlace { id, request, at, length }, nodes));
        let Some(found) = found.min_by_key(|(planned, _)| planned.start) else { return };
        reserved.counts[places[found.0.asked.at].partition as usize] += 1;
        self.plan.reserve(found, nodes);
    }
}

impl Guided for OnNodes {
    fn guided_pass(&mut self, guide: &impl Guide, machine: &Machine, out: &mut Decisions) {
        let nodes = nodes_of(machine);
        self.backlog.begin_pass(machine);
        self.plan.begin(machine.now, nodes);
        if machine.waiting.iter().any(|job| !self.plan.is_roomless(nodes.request(job.id), nodes)) {
            let mut queue = self.queued(machine, nodes);
            self.start_first(&mut queue, guide, machine, &mut out.starts);
            self.backfill_queue(&queue, guide, machine, &mut out.starts);
            self.queue = queue;
        }
        self.end_pass(machine, out);
    }
}

fn nodes_of(machine: &Machine) -> &Nodes {
    machine.nodes().expect("the engine has the nodes of this policy")
}

impl Policy for OnNodes {
    fn decide(&mut self, machine: &Machine, out: &mut Decisions) {
        match (out.asked, self.rules) {
            (Asked::Pass, Some(rules)) => self.guided_pass(&rules, machine, out),
            (Asked::Pass, None) => {
                let nodes = nodes_of(machine);
                self.backlog.begin_pass(machine);
                self.plan.begin(machine.now, nodes);
                self.start_in_order(machine, nodes, &mut out.starts);
                self.end_pass(machine, out);
            }
            (Asked::Reservations(most), Some(rules)) => {
                let nodes = nodes_of(machine);
                self.plan.begin(machine.now, nodes);
                let mut counts = ReservedCounts::new(nodes, rules.reservations);
                let queue = self.queued(machine, nodes);
                for queued in &queue {
                    let mut places = nodes.shapes().get(queued.request).places.iter();
                    if self.plan.reservations().count() < most && places.any(|place| counts.is_open(place)) {
                        self.reserve(queued, queued.job.length, &mut counts, machine, nodes);
                    }
                }
                self.queue = queue;
                out.reserved.extend(self.plan.reservations());
            }
            (Asked::Never { id, .. }, _) => out.never = self.reach.why_never(id, nodes_of(machine)),
            _ => {}
        }
    }

    fn on(&mut self, event: &PolicyEvent<'_>, _machine: &Machine) {
        self.backlog.on(event);
    }
}

impl From<OnNodes> for Scheduler {
    fn from(policy: OnNodes) -> Scheduler {
        let by_estimates = policy.rules.is_some_and(|rules| rules.running == Counting::Estimate);
        let shapes = Some(Arc::clone(&policy.shapes));
        Scheduler { shapes, by_estimates, answers: true, ..Scheduler::new(policy) }
    }
}
