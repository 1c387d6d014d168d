//! Which nodes a job gets, and whether it fits at all.
//!
//! A job that asks for N nodes has its CPUs divided over them, the first ones get the rest. Another is placed until nothing is
//! left: on one node that holds the rest, or else on the node with the most room, which is filled. GPUs that are asked for in
//! total go with an equal part of the CPUs each.

use super::cluster::Cluster;
use super::nodes::{NodeGrant, NodeShare, Resources};
use super::shape::{NodeShape, ShapePlace};

/// Which of the nodes on which a job fits are taken first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Placement {
    /// The fullest: with the fewest GPUs free, then CPUs, then memory, then by name.
    #[default]
    Pack,
    /// The emptiest.
    Spread,
}

/// The position of a node among those that can be taken: the smallest comes first. One number is compared faster than several.
type NodeRank = u128;

impl Placement {
    fn rank(self, is_preferred: bool, free: &Resources, node: u32) -> NodeRank {
        const GPUS: u32 = 20;
        const CPUS: u32 = 27;
        const MEMORY: u32 = 48;
        let field = |value: u64, bits: u32| {
            let most = (1u64 << bits) - 1;
            let value = value.min(most);
            u128::from(if self == Placement::Pack { value } else { most - value })
        };
        let fullness = field(free.gpus.into(), GPUS) << CPUS | field(free.cpus.into(), CPUS);
        let rank = u128::from(!is_preferred) << (GPUS + CPUS) | fullness;
        (rank << MEMORY | field(free.memory, MEMORY)) << 32 | u128::from(node)
    }
}

/// Parts of a job that are placed one after the other if it does not ask for a number of nodes: its CPUs, or, if it asks for a
/// total of GPUs, these with their CPUs.
#[derive(Clone, Copy)]
struct Parts {
    count: u32,
    cpus: u32,
    is_gpus: bool,
}

impl Parts {
    fn of(shape: &NodeShape) -> Parts {
        match shape.gpus {
            0 => Parts { count: shape.cpus, cpus: shape.cpus, is_gpus: false },
            gpus => Parts { count: gpus, cpus: shape.cpus, is_gpus: true },
        }
    }

    /// The CPUs of some parts, of which `before` are placed already. The first parts have what cannot be divided.
    fn cpus(&self, before: u32, count: u32) -> u32 {
        let (each, rest) = (self.cpus / self.count, self.cpus % self.count);
        each * count + rest.saturating_sub(before).min(count)
    }

    fn gpus(&self, count: u32) -> u32 {
        if self.is_gpus { count } else { 0 }
    }
}

impl NodeShape {
    /// The memory of a job on a node where it has so many CPUs.
    pub(super) fn memory(&self, place: &ShapePlace, cpus: u32) -> u64 {
        place.memory_per_cpu.saturating_mul(cpus.into()).saturating_add(place.memory_per_node)
    }

    /// What a job takes of a node if it has this there.
    fn share(&self, place: &ShapePlace, cluster: &Cluster, node: u32, cpus: u32, gpus: u32) -> NodeShare {
        let what = match place.whole {
            true => cluster.nodes[node as usize].resources(),
            false => Resources { cpus, memory: self.memory(place, cpus), gpus: self.gpus_per_node + gpus },
        };
        NodeShare { node, what }
    }

    /// Whether a node has room for so much of the job.
    fn has_room(&self, place: &ShapePlace, cluster: &Cluster, free: &Resources, node: u32, need: (u32, u32)) -> bool {
        let (cpus, gpus) = need;
        if place.whole {
            let all = cluster.nodes[node as usize].resources();
            let memory = self.memory(place, cpus);
            return *free == all && all.holds(&Resources { cpus, memory, gpus: self.gpus_per_node + gpus });
        }
        free.holds(&self.share(place, cluster, node, cpus, gpus).what)
    }

    /// The CPUs of which a node has room, if GPUs are not asked for in total.
    fn cpus_of(&self, place: &ShapePlace, cluster: &Cluster, free: &Resources, node: u32) -> u32 {
        if free.gpus < self.gpus_per_node || free.memory < place.memory_per_node {
            return 0;
        }
        if place.whole && *free != cluster.nodes[node as usize].resources() {
            return 0;
        }
        match place.memory_per_cpu {
            0 => free.cpus,
            memory => u64::from(free.cpus).min((free.memory - place.memory_per_node) / memory) as u32,
        }
    }

    /// The parts of which a node has room, of those that are left.
    fn room(
        &self,
        place: &ShapePlace,
        cluster: &Cluster,
        free: &Resources,
        node: u32,
        parts: Parts,
        before: u32,
    ) -> u32 {
        if !parts.is_gpus {
            return self.cpus_of(place, cluster, free, node);
        }
        let most = (parts.count - before).min(free.gpus.saturating_sub(self.gpus_per_node));
        let fits = |count: &u32| {
            let need = (parts.cpus(before, *count), parts.gpus(*count));
            self.has_room(place, cluster, free, node, need)
        };
        (1..=most).rev().find(fits).unwrap_or(0)
    }

    /// Whether a node has room for a part of the job.
    pub fn has_any_room(&self, at: usize, cluster: &Cluster, free: &[Resources], node: u32) -> bool {
        self.room(&self.places[at], cluster, &free[node as usize], node, Parts::of(self), 0) > 0
    }

    /// Whether the job can be placed in one of its partitions, given by its position in [`NodeShape::places`].
    pub fn fits(&self, at: usize, cluster: &Cluster, free: &[Resources]) -> bool {
        let place = &self.places[at];
        if self.nodes == 0 && self.gpus == 0 {
            let mut left = u64::from(self.cpus);
            return place.nodes.iter().any(|&node| {
                left = left.saturating_sub(self.cpus_of(place, cluster, &free[node as usize], node).into());
                left == 0
            });
        }
        if self.nodes > 0 && self.gpus == 0 {
            // Which nodes are taken for the larger shares has no effect on whether the others fit.
            let (each, larger) = (self.cpus / self.nodes, self.cpus % self.nodes);
            let (mut all, mut large) = (0, 0);
            return place.nodes.iter().any(|&node| {
                let room = self.cpus_of(place, cluster, &free[node as usize], node);
                all += u32::from(room >= each.max(1));
                large += u32::from(room > each);
                all >= self.nodes && large >= larger
            });
        }
        self.place(at, Placement::Pack, cluster, free, |_| false).is_some()
    }

    /// The nodes of the job in one of its partitions. None if it does not fit. Nodes that are preferred come first.
    pub fn place(
        &self,
        at: usize,
        placement: Placement,
        cluster: &Cluster,
        free: &[Resources],
        is_preferred: impl Fn(u32) -> bool,
    ) -> Option<NodeGrant> {
        let place = &self.places[at];
        let rank = |node: u32| placement.rank(is_preferred(node), &free[node as usize], node);
        let mut grant = match self.nodes {
            0 => self.place_parts(place, cluster, free, rank)?,
            nodes => self.place_on(nodes, place, cluster, free, rank)?,
        };
        grant.sort_unstable_by_key(|share| share.node);
        Some(grant)
    }

    /// On so many nodes.
    fn place_on(
        &self,
        nodes: u32,
        place: &ShapePlace,
        cluster: &Cluster,
        free: &[Resources],
        rank: impl Fn(u32) -> NodeRank + Copy,
    ) -> Option<NodeGrant> {
        let mut ranked: Vec<_> = place.nodes.iter().map(|&node| (rank(node), node)).collect();
        ranked.sort_unstable();
        let mut left: Vec<u32> = ranked.into_iter().map(|(_, node)| node).collect();
        let mut grant = NodeGrant::with_capacity(nodes as usize);
        let share = |all: u32, at: u32| all / nodes + u32::from(at < all % nodes);
        // Shares never grow, so a node that was passed over may have room for a later one.
        for at in 0..nodes {
            let (cpus, gpus) = (share(self.cpus, at), share(self.gpus, at));
            let fits = |&node: &u32| self.has_room(place, cluster, &free[node as usize], node, (cpus.max(1), gpus));
            let found = left.iter().position(fits)?;
            let node = left.remove(found);
            grant.push(self.share(place, cluster, node, cpus, gpus));
        }
        Some(grant)
    }

    /// On as few nodes as hold it.
    fn place_parts(
        &self,
        place: &ShapePlace,
        cluster: &Cluster,
        free: &[Resources],
        rank: impl Fn(u32) -> NodeRank + Copy,
    ) -> Option<NodeGrant> {
        let parts = Parts::of(self);
        let room = |node: u32, before| self.room(place, cluster, &free[node as usize], node, parts, before);
        let with_room = |before| {
            let nodes = place.nodes.iter().map(move |&node| (room(node, before), node));
            nodes.filter(|(room, _)| *room > 0).map(|(room, node)| (room, !rank(node), node))
        };
        // The room of each node, and its rank so that the last of a sorted list is the first by rank.
        let mut left: Vec<(u32, NodeRank, u32)> = with_room(0).collect();
        if !parts.is_gpus && left.iter().map(|(room, ..)| u64::from(*room)).sum::<u64>() < parts.count.into() {
            return None;
        }
        let mut is_sorted = false;
        let mut grant = NodeGrant::new();
        let mut before = 0;
        while before < parts.count {
            let rest = parts.count - before;
            // The parts that are left may have fewer CPUs than those before, so that nodes have room for more of them.
            if parts.is_gpus && before > 0 {
                left = with_room(before).filter(|(.., node)| grant.iter().all(|share| share.node != *node)).collect();
                is_sorted = false;
            }
            let holding = (0..left.len()).filter(|&at| left[at].0 >= rest).max_by_key(|&at| left[at].1);
            let (room, _, node) = match holding {
                Some(at) => left[at],
                None => {
                    if !is_sorted {
                        left.sort_unstable();
                        is_sorted = true;
                    }
                    left.pop()?
                }
            };
            let count = room.min(rest);
            grant.push(self.share(place, cluster, node, parts.cpus(before, count), parts.gpus(count)));
            before += count;
        }
        Some(grant)
    }
}
