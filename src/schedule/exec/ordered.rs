//! Backfilling passes with an order of the queue that the program gives.

use std::sync::Arc;

use crate::job::{JobId, Submission};
use crate::machine::{NodeGrant, Placement, Shapes};
use crate::schedule::on_nodes::OnNodes;
use crate::schedule::policy::{Facts, Policy, View};
use crate::schedule::queue::Waiting;
use crate::schedule::reserving::Reserving;
use crate::schedule::rules::Rules;

/// The passes of `easy`, on a pool of processors or on nodes.
pub enum OrderedPasses {
    OnPool(Box<Reserving>),
    OnNodes(Box<OnNodes>),
}

impl OrderedPasses {
    /// Backfilling by these rules.
    pub fn new(rules: &Rules, shapes: Option<&Arc<Shapes>>, placement: Placement) -> OrderedPasses {
        match shapes {
            None => OrderedPasses::OnPool(Box::new(Reserving::anew(rules))),
            Some(shapes) => OrderedPasses::OnNodes(Box::new(OnNodes::backfilling(rules, shapes, placement))),
        }
    }

    /// One pass. These jobs are the first of the queue; the others follow in order of arrival.
    pub fn pass(&mut self, order: impl Iterator<Item = JobId>, view: &View<'_>, starts: &mut Vec<JobId>) {
        match self {
            OrderedPasses::OnPool(policy) => policy.give_order(order),
            OrderedPasses::OnNodes(policy) => policy.give_order(order),
        }
        self.policy_mut().pass(view, starts);
    }

    pub fn on_begin(&mut self, facts: &Facts) {
        self.policy_mut().on_begin(facts);
    }

    pub fn on_arrival(&mut self, id: JobId, job: &Submission) {
        self.policy_mut().on_arrival(id, job);
    }

    pub fn on_cancellation(&mut self, job: &Waiting) {
        self.policy_mut().on_cancellation(job);
    }

    pub fn take_grant(&mut self, id: JobId) -> NodeGrant {
        self.policy_mut().take_grant(id)
    }

    pub fn counts_running_by_estimates(&self) -> bool {
        match self {
            OrderedPasses::OnPool(policy) => policy.counts_running_by_estimates(),
            OrderedPasses::OnNodes(policy) => policy.counts_running_by_estimates(),
        }
    }

    pub fn policy_mut(&mut self) -> &mut dyn Policy {
        match self {
            OrderedPasses::OnPool(policy) => policy.as_mut(),
            OrderedPasses::OnNodes(policy) => policy.as_mut(),
        }
    }
}
