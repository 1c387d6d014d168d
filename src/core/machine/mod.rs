//! The machine: what a job asks of it, what is free, and what a job that runs was given.
//!
//! The simplest kind of machine is a pool of processors, in which one processor is as good as another. A [`Cluster`] has nodes
//! and partitions. [`read_cluster`] reads one from a slurm.conf or from TOML.

pub mod associations;
mod build;
mod cluster;
pub mod conf;
mod constraint;
mod file_line;
mod grant;
mod hostlist;
mod nodes;
mod outages;
mod placement;
mod preempt_mode;
mod read;
mod shape;
mod shapes;
mod toml_file;
mod units;
mod what_if;

pub use crate::tres::{Resource, Tres};
pub use build::{MOST_NODES, MOST_OF_NODE};
pub use cluster::{Cluster, Node, Partition, PartitionState, Switch, natural_order, total_of_nodes};
pub use conf::parse_slurm_conf;
pub use constraint::{BadConstraint, Constraint};
pub use file_line::Ignored;
pub use grant::{NodeGrant, NodeShare, cpus_of, give, take, total_of};
pub use hostlist::{HostList, joined_names};
pub use nodes::Nodes;
pub use outages::{
    JobAmidOutages, JobClass, Outage, OutageFile, OutageKind, OutageLedger, OutagePlan, OutageRow, OutageTime, Outages,
};
pub use placement::Placement;
pub use preempt_mode::PreemptMode;
pub use read::{AssociationsFile, ClusterAssociations, MachineFile, parse_cluster, read_cluster};
pub use shape::{ListRelation, NodeList, NodeShape, ShapePlace};
pub use shapes::{Shapes, Unplaceable};
pub use toml_file::parse_toml;
pub use units::slurm_time;
pub use what_if::AddedNodes;

/// The processors of a machine, and how many of them are free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    procs: u32,
    free: i64,
}

impl Capacity {
    /// An idle pool of processors.
    pub const fn pool(procs: u32) -> Capacity {
        Capacity { procs, free: procs as i64 }
    }

    /// The processors of the machine.
    pub const fn procs(&self) -> u32 {
        self.procs
    }

    /// The idle processors: no job fits that needs more. Negative if a replayed log uses more than the machine has.
    pub const fn free(&self) -> i64 {
        self.free
    }

    /// Whether a job of so many processors fits now.
    pub const fn fits(&self, procs: u32) -> bool {
        procs as i64 <= self.free
    }

    /// A job takes so many. Only a replay takes what does not fit.
    pub const fn take(&mut self, procs: u32) {
        self.free -= procs as i64;
    }

    /// A job gives so many back.
    pub const fn give(&mut self, procs: u32) {
        self.free += procs as i64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_is_given_back() {
        let mut machine = Capacity::pool(8);
        assert!(machine.fits(8) && !machine.fits(9));
        machine.take(6);
        assert_eq!((machine.free(), machine.fits(6)), (2, false));
        // A replayed log may use more than the machine has.
        machine.take(6);
        assert_eq!(machine.free(), -4);
        [6, 6].into_iter().for_each(|procs| machine.give(procs));
        assert_eq!(machine, Capacity::pool(8));
    }
}
