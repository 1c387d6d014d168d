//! What the jobs of a quality of service, an account or a user use.

use rustc_hash::FxHashMap;

use crate::machine::{NodeShare, Resource, Tres, total_of};
use crate::time::{MINUTE, Seconds};

/// What jobs use together.
#[derive(Clone, Debug, Default)]
pub(super) struct Used {
    /// Running jobs.
    pub jobs: u32,
    /// Jobs that wait or run.
    pub submitted: u32,
    /// What running jobs have. Nodes are not counted here, since jobs may share one.
    amounts: Tres,
    /// By node: how many of the jobs run there.
    nodes: FxHashMap<u32, u32>,
    /// Amounts times the seconds that running jobs may still need.
    to_come: Tres<f64>,
    /// Amounts times the seconds of the past, less what has decayed.
    past: Tres<f64>,
    /// The seconds of the past, less what has decayed.
    pub wall: f64,
}

/// The seconds of a job, multiplied by the usage factor of its quality of service.
#[derive(Clone, Copy, Default)]
pub(super) struct Charge {
    /// Seconds that it has run, less what has decayed.
    pub past: f64,
    /// Seconds that it will not need any more.
    pub to_come: f64,
}

impl Used {
    /// How much running jobs have of one amount.
    pub fn amount(&self, of: Resource) -> u64 {
        if of == Resource::Nodes { self.nodes.len() as u64 } else { self.amounts[of] }
    }

    /// How many nodes of a grant none of the jobs has.
    pub fn new_nodes(&self, grant: &[NodeShare]) -> u64 {
        grant.iter().filter(|share| !self.nodes.contains_key(&share.node)).count() as u64
    }

    /// The minutes that running jobs may still need, times an amount.
    pub fn minutes_to_come(&self, of: Resource) -> u64 {
        (self.to_come[of] / MINUTE as f64) as u64
    }

    /// The minutes of the past, times an amount.
    pub fn minutes_past(&self, of: Resource) -> u64 {
        (self.past[of] / MINUTE as f64) as u64
    }

    /// A job starts that may need these seconds.
    pub fn start(&mut self, grant: &[NodeShare], has_nodes: bool, seconds: f64) {
        self.jobs += 1;
        let amounts = total_of(grant);
        self.amounts.give(&amounts);
        self.to_come.change(&amounts, |to_come, amount| *to_come += seconds * amount as f64);
        if has_nodes {
            grant.iter().for_each(|share| *self.nodes.entry(share.node).or_default() += 1);
        }
    }

    /// A job ends.
    pub fn end(&mut self, grant: &[NodeShare], has_nodes: bool) {
        self.jobs -= 1;
        self.leave();
        self.amounts.change(&total_of(grant), |own, amount| *own -= amount);
        for share in grant.iter().filter(|_| has_nodes) {
            let jobs = self.nodes.get_mut(&share.node).expect("a job that ends has started");
            *jobs -= 1;
            if *jobs == 0 {
                self.nodes.remove(&share.node);
            }
        }
    }

    /// A job neither waits nor runs any more. Nothing if submissions are not counted.
    pub fn leave(&mut self) {
        self.submitted = self.submitted.saturating_sub(1);
    }

    /// A job has run on for some seconds.
    pub fn charge(&mut self, amounts: &Tres, charge: Charge) {
        self.wall += charge.past;
        self.past.change(amounts, |past, amount| *past += charge.past * amount as f64);
        self.to_come.change(amounts, |to_come, amount| *to_come = (*to_come - charge.to_come * amount as f64).max(0.0));
    }

    /// Use of the past counts less than before.
    pub fn decay(&mut self, by: f64) {
        self.wall *= by;
        self.past = self.past.map(|past| past * by);
    }
}

/// The minutes of a limit of a job. The daemon rounds it up.
pub(super) fn minutes_of(limit: Seconds) -> u64 {
    (limit.max(0) as u64).div_ceil(MINUTE as u64)
}
