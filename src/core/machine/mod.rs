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
mod placement;
mod read;
mod shape;
mod shapes;
mod toml_file;
mod units;

pub use crate::tres::{Resource, Tres};
pub use build::{MOST_NODES, MOST_OF_NODE};
pub use cluster::{Cluster, Node, Partition, PartitionState, PreemptMode, Switch, natural_order, total_of_nodes};
pub use conf::parse_slurm_conf;
pub use constraint::{BadConstraint, Constraint};
pub use file_line::Ignored;
pub use grant::{NodeGrant, NodeShare, cpus_of, give, take, total_of};
pub use hostlist::{HostList, joined_names};
pub use nodes::Nodes;
pub use placement::Placement;
pub use read::{AssociationsFile, ClusterAssociations, MachineFile, parse_cluster, read_cluster};
pub use shape::{ListRelation, NodeList, NodeShape, ShapePlace};
pub use shapes::{Shapes, Unplaceable};
pub use toml_file::parse_toml;
pub use units::slurm_time;

/// What a job asks of the machine. Jobs that ask for the same have the same shape, so whether a shape fits is the same for all of
/// them. In a pool it is the number of processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ShapeId(u32);

impl ShapeId {
    /// The shape of a job that asks for processors only.
    pub const fn of_procs(procs: u32) -> ShapeId {
        ShapeId(procs)
    }
}

/// What a running job was given. It is given back when the job ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant(u32);

impl Grant {
    /// What a pool gives to a job that asks for this number of processors.
    pub const fn of_procs(procs: u32) -> Grant {
        Grant(procs)
    }

    /// The number of processors.
    pub const fn procs(self) -> u32 {
        self.0
    }
}

/// What a machine has, and what of it is free.
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

    /// Whether a job of this shape fits the idle machine.
    pub const fn can_hold(&self, shape: ShapeId) -> bool {
        shape.0 <= self.procs
    }

    /// Whether a job of this shape fits now.
    pub const fn fits(&self, shape: ShapeId) -> bool {
        shape.0 as i64 <= self.free
    }

    /// Takes what a job of this shape needs. Only a replay takes what does not fit.
    pub const fn take(&mut self, shape: ShapeId) -> Grant {
        self.free -= shape.0 as i64;
        Grant(shape.0)
    }

    /// Gives back what a job was given.
    pub const fn give(&mut self, grant: Grant) {
        self.free += grant.0 as i64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_is_given_back() {
        let (mut machine, wide) = (Capacity::pool(8), ShapeId::of_procs(6));
        assert!(machine.can_hold(wide) && machine.fits(wide) && !machine.can_hold(ShapeId::of_procs(9)));
        let grant = machine.take(wide);
        assert_eq!((machine.free(), grant.procs(), machine.fits(wide)), (2, 6, false));
        // A replayed log may use more than the machine has.
        let more = machine.take(wide);
        assert_eq!(machine.free(), -4);
        [grant, more].into_iter().for_each(|grant| machine.give(grant));
        assert_eq!(machine, Capacity::pool(8));
    }
}
