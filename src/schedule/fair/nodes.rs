//! The real pass on nodes.

use std::sync::Arc;

use super::policy::RealPass;
use super::precedence::{FairOrder, FairRules};
use super::schedule::VirtualSchedule;
use crate::job::{JobId, Submission};
use crate::machine::{NodeGrant, Placement, Shapes};
use crate::schedule::arrivals::Arrivals;
use crate::schedule::on_nodes::{Guide, OnNodes};
use crate::schedule::order::Rank;
use crate::schedule::policy::{Facts, Policy, View};
use crate::schedule::queue::Waiting;
use crate::time::Time;

/// EASY on nodes, where the virtual schedule decides who starts first, who is protected and in which order jobs are tried. Each
/// partition has a reservation; jobs are fitted by their estimates as soon as one of those with a reservation is protected.
pub(super) struct NodePass {
    rules: FairRules,
    order: FairOrder,
    on_nodes: OnNodes,
}

impl NodePass {
    pub fn new(rules: &FairRules, shapes: &Arc<Shapes>, placement: Placement) -> NodePass {
        let on_nodes = OnNodes::backfilling(&rules.backfilling(), shapes, placement);
        NodePass { rules: *rules, order: FairOrder::new(rules, 0), on_nodes }
    }
}

/// The guide of one pass.
struct FairGuide<'a> {
    order: FairOrder,
    schedule: &'a VirtualSchedule,
}

impl Guide for FairGuide<'_> {
    fn is_protected(&self, job: &Waiting, _is_first: bool, _arrivals: &Arrivals, now: Time) -> bool {
        self.schedule.is_protected(job.id, now)
    }

    fn precedence(&self, job: &Waiting, arrivals: &Arrivals, now: Time) -> (u8, Rank) {
        self.order.precedence(job, arrivals, self.schedule, now)
    }

    fn width_that_starts_first(&self, head: &Waiting, now: Time) -> Option<u32> {
        (!self.schedule.is_protected(head.id, now)).then_some(self.order.urgent_procs)
    }
}

impl RealPass for NodePass {
    fn on_begin(&mut self, facts: &Facts) {
        self.order = FairOrder::new(&self.rules, facts.capacity.procs());
        self.on_nodes.on_begin(facts);
    }

    fn pass(&mut self, view: &View<'_>, schedule: &VirtualSchedule, starts: &mut Vec<JobId>) {
        let guide = FairGuide { order: self.order, schedule };
        self.on_nodes.backfill(&self.rules.backfilling(), &guide, view, starts);
    }

    fn reservations(&mut self, view: &View<'_>, most: usize, reserved: &mut Vec<(JobId, Time)>) {
        self.on_nodes.reservations(view, most, reserved);
    }

    fn on_arrival(&mut self, id: JobId, job: &Submission) {
        self.on_nodes.on_arrival(id, job);
    }

    fn on_prediction(&mut self, job: &Waiting) {
        self.on_nodes.on_prediction(job);
    }

    fn on_cancellation(&mut self, job: &Waiting) {
        self.on_nodes.on_cancellation(job);
    }

    fn shapes(&self) -> Option<Arc<Shapes>> {
        self.on_nodes.shapes()
    }

    fn take_grant(&mut self, id: JobId) -> NodeGrant {
        self.on_nodes.take_grant(id)
    }
}
