//! Schedulers on the nodes of a cluster: first come first served, and backfilling with any number of reservations for each
//! partition.

mod plan;

use std::sync::Arc;

use super::backlog::Backlog;
use super::order::{Order, Rank};
use super::policy::{Facts, Policy, View};
use super::queue::Waiting;
use super::rules::{Counting, Rules};
use crate::job::{JobId, Submission};
use crate::machine::{NodeGrant, Nodes, Placement, Shapes};
use crate::time::{Seconds, Time};

use plan::{Asked, NodePlan, fits_nowhere};

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
    roomless: Roomless,
}

impl OnNodes {
    /// Backfilling by these rules.
    pub fn backfilling(rules: &Rules, shapes: &Arc<Shapes>) -> OnNodes {
        OnNodes::with(Some(*rules), Backlog::unindexed(rules), shapes)
    }

    /// Jobs of a partition start in this order: the first that does not fit blocks all others.
    pub fn fcfs(queue: Order, shapes: &Arc<Shapes>) -> OnNodes {
        OnNodes::with(None, Backlog::unindexed(&Rules { queue, ..Rules::default() }), shapes)
    }

    fn with(rules: Option<Rules>, backlog: Backlog, shapes: &Arc<Shapes>) -> OnNodes {
        let placement = Placement::default();
        OnNodes {
            shapes: Arc::clone(shapes),
            rules,
            backlog,
            placement,
            plan: NodePlan::new(placement),
            roomless: Roomless(vec![false; shapes.len()]),
        }
    }

    fn start_in_order(&mut self, view: &View<'_>, nodes: &Nodes, starts: &mut Vec<JobId>) {
        let mut is_blocked = vec![false; nodes.cluster().partitions.len()];
        for job in self.backlog.jobs(view) {
            let shape = nodes.shape(job.id);
            let mut open = (0..shape.places.len()).filter(|&at| !is_blocked[shape.places[at].partition as usize]);
            let placed =
                open.find_map(|at| shape.place(at, self.placement, nodes.cluster(), self.plan.free(), |_| false));
            match placed {
                Some(grant) => {
                    self.plan.start(job.id, 0, grant, nodes);
                    starts.push(job.id);
                }
                None => shape.places.iter().for_each(|place| is_blocked[place.partition as usize] = true),
            }
        }
    }

    fn backfill(&mut self, rules: &Rules, view: &View<'_>, nodes: &Nodes, starts: &mut Vec<JobId>) {
        let most = rules.reservations.unwrap_or(usize::MAX);
        let mut reserved = vec![0; nodes.cluster().partitions.len()];
        let mut is_protected = false;
        let queue: Vec<Waiting> = self.backlog.jobs(view).copied().collect();
        let mut rest = Vec::new();
        for (number, job) in queue.iter().enumerate() {
            if reserved.iter().all(|&count| count >= most) {
                rest.extend(&queue[number..]);
                break;
            }
            let shape = nodes.shape(job.id);
            let open: Vec<usize> =
                (0..shape.places.len()).filter(|&at| reserved[shape.places[at].partition as usize] < most).collect();
            if open.is_empty() {
                rest.push(job);
                continue;
            }
            let length = match self.plan.is_empty() {
                true => rules.running.running_length(job.id, job.length, &self.backlog.arrivals),
                false => self.fitted_length(is_protected, job),
            };
            if self.try_start(job, length, &open, nodes, starts) {
                continue;
            }
            // No reservation has an effect when no other job can start.
            let mut others = queue[number + 1..].iter().chain(rest.iter().copied());
            if others.all(|job| self.roomless.has(job.id, nodes, &self.plan)) {
                return;
            }
            let length = if self.plan.is_empty() { job.length } else { length };
            self.reserve(job, length, &open, nodes, &mut reserved);
            if self.plan.reservations().count() == 1 {
                is_protected = self.backlog.arrivals.has_waited(job.id, rules.protect, view.now);
            }
        }
        // What does not fit now does not fit later in the pass.
        rest.retain(|job| !self.roomless.has(job.id, nodes, &self.plan));
        let arrivals = &self.backlog.arrivals;
        let mut ranked: Vec<(Rank, &Waiting)> =
            rest.into_iter().map(|job| (rules.scan.rank(job, arrivals, view.now), job)).collect();
        ranked.sort_unstable_by_key(|(rank, _)| *rank);
        for (_, job) in ranked {
            let all: Vec<usize> = (0..nodes.shape(job.id).places.len()).collect();
            let length = self.fitted_length(is_protected, job);
            self.try_start(job, length, &all, nodes, starts);
        }
    }

    /// The length of a job that may delay a reservation.
    fn fitted_length(&self, is_protected: bool, job: &Waiting) -> Seconds {
        if is_protected { job.length.max(self.backlog.arrivals.estimate(job.id)) } else { job.length }
    }

    /// Starts a job in the first of these partitions in which it may start.
    fn try_start(
        &mut self,
        job: &Waiting,
        length: Seconds,
        open: &[usize],
        nodes: &Nodes,
        starts: &mut Vec<JobId>,
    ) -> bool {
        if self.roomless.has(job.id, nodes, &self.plan) {
            return false;
        }
        let request = nodes.request(job.id);
        let mut try_at = |&at: &usize| self.plan.try_now(&Asked { id: job.id, request, at, length }, nodes);
        let Some(grant) = open.iter().find_map(&mut try_at) else { return false };
        self.plan.start(job.id, length, grant, nodes);
        starts.push(job.id);
        true
    }

    /// Makes a reservation in the partition where it is earliest; of equals in the first.
    fn reserve(&mut self, job: &Waiting, length: Seconds, open: &[usize], nodes: &Nodes, reserved: &mut [usize]) {
        let request = nodes.request(job.id);
        let asked = |at| Asked { id: job.id, request, at, length };
        let found = open.iter().filter_map(|&at| Some((at, self.plan.first_start(&asked(at), nodes)?)));
        let Some((at, found)) = found.min_by_key(|(_, found)| found.start) else { return };
        reserved[nodes.shape(job.id).places[at].partition as usize] += 1;
        self.plan.reserve(asked(at), found, nodes);
    }
}

/// By request: whether no job that asks for this fits the free nodes, as far as that is known.
struct Roomless(Vec<bool>);

impl Roomless {
    /// Whether a job fits nowhere. What is free has only become less since the last question.
    fn has(&mut self, id: JobId, nodes: &Nodes, plan: &NodePlan) -> bool {
        let request = nodes.request(id);
        let known = &mut self.0[request.index().expect("every job on nodes has a request")];
        *known = *known || fits_nowhere(nodes.shapes().get(request), nodes, plan.free(), plan.idle());
        *known
    }
}

impl Policy for OnNodes {
    fn on_begin(&mut self, facts: &Facts) {
        self.backlog.on_begin(facts);
    }

    fn pass(&mut self, view: &View<'_>, starts: &mut Vec<JobId>) {
        let nodes = view.nodes.expect("the engine has the nodes of this policy");
        self.backlog.begin_pass(view);
        // What did not fit fits only if something was given back.
        if !view.only_arrivals {
            self.roomless.0.fill(false);
        }
        self.plan.begin(view.now, nodes, view.running.iter().map(|job| (job.id, job.end)));
        if view.waiting.iter().any(|job| !self.roomless.has(job.id, nodes, &self.plan)) {
            match self.rules {
                None => self.start_in_order(view, nodes, starts),
                Some(rules) => self.backfill(&rules, view, nodes, starts),
            }
        }
        self.backlog.end_pass(view, starts);
    }

    fn reservations(&mut self, view: &View<'_>, most: usize, reserved: &mut Vec<(JobId, Time)>) {
        let (Some(nodes), Some(rules)) = (view.nodes, self.rules) else { return };
        let each = rules.reservations.unwrap_or(usize::MAX);
        self.plan.begin(view.now, nodes, view.running.iter().map(|job| (job.id, job.end)));
        let mut counts = vec![0; nodes.cluster().partitions.len()];
        let queue: Vec<Waiting> = self.backlog.jobs(view).copied().collect();
        for job in queue {
            let shape = nodes.shape(job.id);
            let open: Vec<usize> =
                (0..shape.places.len()).filter(|&at| counts[shape.places[at].partition as usize] < each).collect();
            if !open.is_empty() && self.plan.reservations().count() < most {
                self.reserve(&job, job.length, &open, nodes, &mut counts);
            }
        }
        reserved.extend(self.plan.reservations());
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
        self.rules.is_some_and(|rules| rules.running == Counting::Estimate)
    }

    fn shapes(&self) -> Option<Arc<Shapes>> {
        Some(Arc::clone(&self.shapes))
    }

    fn take_grant(&mut self, id: JobId) -> NodeGrant {
        self.plan.take_grant(id).unwrap_or_default()
    }
}
