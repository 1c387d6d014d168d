//! Which nodes a job gets, and whether it fits at all.
//!
//! A job that asks for N nodes has its CPUs divided over them, the first ones get the rest, and each gives at least one. If it asks
//! for N to M nodes, or its partition for at least N, it has the fewest of these numbers with which it fits. Another job is placed
//! until nothing is left: on one node that holds the rest, or else on the node with the most room, which is filled; it does not fit
//! if it needs more nodes so than it may have. Devices that are asked for in total go with an equal part of the CPUs each.

use std::cmp::Reverse;
use std::ops::RangeInclusive;

use super::cluster::{Cluster, Node};
use super::grant::{NodeGrant, NodeShare};
use super::shape::{NodeShape, ShapePlace};
use crate::tres::{Resource, Tres};

/// Which of the nodes on which a job fits are taken first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Placement {
    /// The fullest: with the fewest devices free, then CPUs, then memory, then by name.
    #[default]
    Pack,
    /// The emptiest.
    Spread,
    /// As [`Placement::Pack`], but the devices of a job that does not ask for a number of nodes are never divided without need: those
    /// that one node could hold are on one, and more are on nodes that are all its own, with the rest on the emptiest node.
    Consolidate,
}

/// The position of a node among those that can be taken: the smallest comes first. One number is compared faster than several.
type NodeRank = u128;

impl Placement {
    fn rank(self, is_preferred: bool, free: &Tres, node: u32) -> NodeRank {
        const DEVICES: u32 = 20;
        const CPUS: u32 = 27;
        const MEMORY: u32 = 48;
        let field = |value: u64, bits: u32| {
            let most = (1u64 << bits) - 1;
            let value = value.min(most);
            u128::from(if self == Placement::Spread { most - value } else { value })
        };
        let devices = Resource::DEVICES.into_iter().fold(0, |sum: u64, kind| sum.saturating_add(free[kind]));
        let fullness = field(devices, DEVICES) << CPUS | field(free[Resource::Cpus], CPUS);
        let rank = u128::from(!is_preferred) << (DEVICES + CPUS) | fullness;
        (rank << MEMORY | field(free.memory(), MEMORY)) << 32 | u128::from(node)
    }
}

/// Parts of a job that are placed one after the other if it does not ask for a number of nodes: its CPUs, or, if it asks for a
/// total of a device, these with their CPUs.
#[derive(Clone, Copy)]
struct JobParts {
    count: u32,
    cpus: u32,
    of: Option<Resource>,
}

impl JobParts {
    fn of(shape: &NodeShape) -> JobParts {
        match shape.parts {
            None => JobParts { count: shape.cpus, cpus: shape.cpus, of: None },
            Some((kind, count)) => JobParts { count, cpus: shape.cpus, of: Some(kind) },
        }
    }

    /// The CPUs of some parts, of which `before` are placed already. The first parts have what cannot be divided.
    fn cpus(&self, before: u32, count: u32) -> u32 {
        let (each, rest) = (self.cpus / self.count, self.cpus % self.count);
        each * count + rest.saturating_sub(before).min(count)
    }

    /// The device of some parts.
    fn devices(&self, count: u32) -> Tres {
        self.of.map_or(Tres::default(), |kind| Tres::default().with(kind, count.into()))
    }
}

impl NodeShape {
    /// The memory of a job on a node where it has so many CPUs.
    pub(super) fn memory(&self, place: &ShapePlace, node: &Node, cpus: u32) -> u64 {
        match place.all_memory {
            true => node.has.memory(),
            false => place.memory_per_cpu.saturating_mul(cpus.into()).saturating_add(place.memory_per_node),
        }
    }

    /// The CPUs of which a node has room, if no device is asked for in total. `free` is what is free, by node.
    #[inline(always)]
    pub fn cpus_on(&self, place: &ShapePlace, cluster: &Cluster, free: &[Tres], node: u32) -> u32 {
        self.cpus_of(place, cluster, (&free[node as usize], || place.allowed(free, node)), node)
    }

    /// The same if this is free on the node, and the limit of the partition allows so many CPUs.
    #[inline(always)]
    pub fn cpus_of(
        &self,
        place: &ShapePlace,
        cluster: &Cluster,
        (free, allowed): (&Tres, impl FnOnce() -> u32),
        node: u32,
    ) -> u32 {
        if place.is_plain { free.cpus() } else { self.cpus_with_more(place, cluster, free, allowed(), node) }
    }

    fn cpus_with_more(&self, place: &ShapePlace, cluster: &Cluster, free: &Tres, allowed: u32, node: u32) -> u32 {
        let has = &cluster.nodes[node as usize].has;
        if !free.holds(&self.per_node) || free.memory() < place.memory_per_node {
            return 0;
        }
        if place.whole && (*free != *has || allowed < has.cpus()) || place.all_memory && free.memory() < has.memory() {
            return 0;
        }
        let memory = free.memory() - place.memory_per_node;
        // Most nodes have memory for all their CPUs. A division takes longer than a product.
        let cpus = match place.memory_per_cpu.saturating_mul(free[Resource::Cpus]) > memory {
            false => free.cpus(),
            true => (memory / place.memory_per_cpu) as u32,
        };
        let cpus = cpus.min(allowed);
        if place.nodes.largest_core > 1 { cpus - cpus % cluster.core(node) } else { cpus }
    }

    /// What is free of a device of a node beside what the job takes of each node.
    fn left(&self, free: &[Tres], node: u32, kind: Resource) -> u32 {
        free[node as usize].count(kind).saturating_sub(self.per_node.count(kind))
    }

    /// Whether it can be placed in a partition wherever nodes together have room for its CPUs.
    pub fn is_divisible(&self, place: &ShapePlace) -> bool {
        place.least_nodes == 0 && self.parts.is_none() && place.most_nodes as usize >= place.nodes.nodes.len()
    }

    /// The numbers of nodes with which it is tried.
    fn node_counts(&self, place: &ShapePlace) -> RangeInclusive<u32> {
        let most = place.most_nodes.min(place.nodes.nodes.len() as u32);
        // With more nodes than CPUs or devices, nothing is left for the last.
        place.least_nodes..=most.min(place.least_nodes.max(self.cpus).max(self.parts.map_or(0, |(_, count)| count)))
    }

    fn on<'a>(&'a self, place: &'a ShapePlace, cluster: &'a Cluster, free: &'a [Tres]) -> ShapeOnNodes<'a> {
        ShapeOnNodes { shape: self, place, cluster, free }
    }

    /// Whether a node has room for a part of the job.
    pub fn has_any_room(&self, at: usize, cluster: &Cluster, free: &[Tres], node: u32) -> bool {
        self.on(&self.places[at], cluster, free).room(node, JobParts::of(self), 0) > 0
    }

    /// Whether the job can be placed in one of its partitions, given by its position in [`NodeShape::places`].
    pub fn fits(&self, at: usize, placement: Placement, cluster: &Cluster, free: &[Tres]) -> bool {
        let place = &self.places[at];
        if self.is_divisible(place) {
            let mut left = u64::from(self.cpus);
            return place.nodes.nodes.iter().any(|&node| {
                left = left.saturating_sub(self.cpus_on(place, cluster, free, node).into());
                left == 0
            });
        }
        if self.parts.is_some() {
            return self.place(at, placement, cluster, free, |_| false).is_some();
        }
        if place.least_nodes > 0 && place.least_nodes == place.most_nodes {
            // Which nodes are taken for the larger shares has no effect on whether the others fit.
            let (each, larger) = (self.cpus / place.least_nodes, self.cpus % place.least_nodes);
            let (mut all, mut large) = (0, 0);
            return place.nodes.nodes.iter().any(|&node| {
                let room = self.cpus_on(place, cluster, free, node);
                all += u32::from(room >= each.max(1));
                large += u32::from(room > each);
                all >= place.least_nodes && large >= larger
            });
        }
        let on = self.on(place, cluster, free);
        match place.least_nodes {
            0 => {
                let rooms = on.largest_rooms();
                let most = rooms.iter().take(place.most_nodes as usize);
                most.map(|&room| u64::from(room)).sum::<u64>() >= self.cpus.into()
            }
            _ => on.fewest_nodes().is_some(),
        }
    }

    /// The nodes of the job in one of its partitions. None if it does not fit. Nodes that are preferred come first.
    pub fn place(
        &self,
        at: usize,
        placement: Placement,
        cluster: &Cluster,
        free: &[Tres],
        is_preferred: impl Fn(u32) -> bool,
    ) -> Option<NodeGrant> {
        let on = self.on(&self.places[at], cluster, free);
        let rank_by = |by: Placement, node: u32| by.rank(is_preferred(node), &free[node as usize], node);
        let rank = |node: u32| rank_by(placement, node);
        let place = on.place;
        let mut grant = match place.least_nodes {
            0 if self.parts.is_none() => on.place_cpus(rank)?,
            0 if placement == Placement::Consolidate => on.place_consolidated(rank_by)?,
            0 => on.place_devices(rank)?,
            nodes if nodes == place.most_nodes => on.place_on(nodes, rank)?,
            _ if self.parts.is_none() => on.place_on(on.fewest_nodes()?, rank)?,
            _ => self.node_counts(place).find_map(|nodes| on.place_on(nodes, rank))?,
        };
        if !place.allows_nodes(grant.len()) {
            return None;
        }
        grant.sort_unstable_by_key(|share| share.node);
        Some(grant)
    }

    /// The grant of a job that gets these CPUs of these nodes, in the first of its partitions where that is allowed. The first nodes
    /// give the devices that it asks for in total, as far as they have them.
    ///
    /// # Errors
    /// What is wrong, if it is allowed nowhere.
    pub fn grant_of(&self, cpus: &[(u32, u32)], cluster: &Cluster, free: &[Tres]) -> Result<NodeGrant, &'static str> {
        if !self.places.iter().any(|place| place.allows_nodes(cpus.len())) {
            return Err("it asks for another number of nodes");
        }
        // Each node gives at least one CPU.
        if cpus.iter().map(|(_, cpus)| u64::from(*cpus)).sum::<u64>() != u64::from(self.cpus).max(cpus.len() as u64) {
            return Err("it asks for another number of CPUs");
        }
        let mut wrong = "it may not run there";
        for place in self.places.iter().filter(|place| place.allows_nodes(cpus.len())) {
            let parts = JobParts::of(self);
            let mut left = self.parts.map_or(0, |(_, count)| count);
            let share = |&(node, cpus): &(u32, u32)| {
                let here = parts.of.map_or(0, |kind| self.left(free, node, kind)).min(left);
                left -= here;
                self.on(place, cluster, free).share(node, cpus, parts.devices(here))
            };
            let mut grant: NodeGrant = cpus.iter().map(share).collect();
            grant.sort_unstable_by_key(|share| share.node);
            match self.check(&grant, cluster, free) {
                Ok(()) => return Ok(grant),
                Err(why) => wrong = why,
            }
        }
        Err(wrong)
    }
}

/// A job in one of its partitions, and what is free on the nodes.
struct ShapeOnNodes<'a> {
    shape: &'a NodeShape,
    place: &'a ShapePlace,
    cluster: &'a Cluster,
    free: &'a [Tres],
}

impl ShapeOnNodes<'_> {
    /// What a job takes of a node if it needs this there. CPUs are taken in whole cores, and memory goes with them.
    fn share(&self, node: u32, cpus: u32, parts: Tres) -> NodeShare {
        let ShapeOnNodes { shape, place, cluster, .. } = *self;
        let what = match place.whole {
            true => cluster.nodes[node as usize].has,
            false => {
                let cpus = if place.nodes.largest_core > 1 { cpus.next_multiple_of(cluster.core(node)) } else { cpus };
                let memory = shape.memory(place, &cluster.nodes[node as usize], cpus);
                self.with_parts(cpus, memory, parts)
            }
        };
        NodeShare { node, what, limit: place.limit(node) }
    }

    /// What a job has of a node if it has so many CPUs, so much memory and these parts there.
    fn with_parts(&self, cpus: u32, memory: u64, parts: Tres) -> Tres {
        let mut all = self.shape.per_node;
        if self.shape.parts.is_some() {
            all.give(&parts);
        }
        all.with(Resource::Cpus, cpus.into()).with(Resource::Memory, memory)
    }

    /// Whether a node has room for so much of the job.
    fn has_room(&self, node: u32, cpus: u32, parts: Tres) -> bool {
        let (free, allowed) = (&self.free[node as usize], self.place.allowed(self.free, node));
        if self.place.whole {
            let node = &self.cluster.nodes[node as usize];
            let (all, memory) = (node.has, self.shape.memory(self.place, node, cpus));
            let needs = self.with_parts(cpus, memory, parts);
            return *free == all && all.holds(&needs) && allowed >= all.cpus();
        }
        let NodeShare { what, .. } = self.share(node, cpus, parts);
        free.holds(&what) && allowed >= what.cpus()
    }

    /// The CPUs of which a node has room, if no device is asked for in total.
    fn cpus_on(&self, node: u32) -> u32 {
        self.shape.cpus_on(self.place, self.cluster, self.free, node)
    }

    /// The CPUs of which nodes have room, the largest first.
    fn largest_rooms(&self) -> Vec<u32> {
        let mut rooms: Vec<u32> = self.place.nodes.nodes.iter().map(|&node| self.cpus_on(node)).collect();
        rooms.sort_unstable_by(|a, b| b.cmp(a));
        rooms
    }

    /// The fewest nodes over which its CPUs can be divided equally, if no device is asked for in total.
    fn fewest_nodes(&self) -> Option<u32> {
        let (rooms, cpus) = (self.largest_rooms(), self.shape.cpus);
        self.shape.node_counts(self.place).find(|&nodes| {
            let (each, larger) = (cpus / nodes, cpus % nodes);
            let has =
                |count: u32, least: u32| count == 0 || rooms.get(count as usize - 1).is_some_and(|&room| room >= least);
            has(nodes, each.max(1)) && has(larger, each + 1)
        })
    }

    /// The parts of which a node has room, of those that are left.
    fn room(&self, node: u32, parts: JobParts, before: u32) -> u32 {
        let Some(kind) = parts.of else { return self.cpus_on(node) };
        let free = self.shape.left(self.free, node, kind);
        let fits = |count: &u32| self.has_room(node, parts.cpus(before, *count), parts.devices(*count));
        (1..=(parts.count - before).min(free)).rev().find(fits).unwrap_or(0)
    }

    /// On so many nodes: each share on the first node by rank that has room for it.
    fn place_on(&self, nodes: u32, rank: impl Fn(u32) -> NodeRank) -> Option<NodeGrant> {
        let parts = JobParts::of(self.shape);
        let share = |at: u32| {
            let part = |all: u32| all / nodes + u32::from(at < all % nodes);
            (part(self.shape.cpus).max(1), parts.devices(part(parts.count)))
        };
        let mut grant = NodeGrant::with_capacity(nodes as usize);
        let mut is_taken = Vec::new();
        let mut at = 0;
        // Shares that are equal are placed together.
        while at < nodes {
            let (cpus, devices) = share(at);
            let count = (at..nodes).take_while(|&later| share(later) == (cpus, devices)).count();
            let fits = |&&node: &&u32| is_taken.get(node as usize) != Some(&true) && self.has_room(node, cpus, devices);
            let all = self.place.nodes.nodes.iter();
            let mut fitting: Vec<_> = all.filter(fits).map(|&node| (rank(node), node)).collect();
            if fitting.len() < count {
                return None;
            }
            first_of(&mut fitting, count);
            grant.extend(fitting[..count].iter().map(|(_, node)| self.share(*node, cpus, devices)));
            at += count as u32;
            if at < nodes {
                is_taken.resize(self.free.len(), false);
                fitting[..count].iter().for_each(|(_, node)| is_taken[*node as usize] = true);
            }
        }
        Some(grant)
    }

    /// CPUs on as few nodes as hold them. While no node holds the rest, the one with the most room is filled.
    fn place_cpus(&self, rank: impl Fn(u32) -> NodeRank) -> Option<NodeGrant> {
        let mut rest = self.shape.cpus;
        let (mut sum, mut most) = (0, 0);
        let room = |&node: &u32| (self.cpus_on(node), node);
        let mut left: Vec<(u32, u32)> = self.place.nodes.nodes.iter().map(room).filter(|(room, _)| *room > 0).collect();
        for &(room, _) in &left {
            sum += u64::from(room);
            most = most.max(room);
        }
        if sum < rest.into() {
            return None;
        }
        let mut grant = NodeGrant::new();
        // Nodes that hold the rest, though they do not have less room than those that were filled.
        let mut beside = Vec::new();
        while most < rest {
            let with_most = left.iter().filter(|(room, _)| *room == most);
            let mut with_most: Vec<_> = with_most.map(|&(_, node)| (rank(node), node)).collect();
            // So many are filled before the rest is at most this room.
            let count = with_most.len().min(((rest - 1) / most) as usize);
            first_of(&mut with_most, count);
            rest -= most * count as u32;
            beside = with_most.split_off(count);
            grant.extend(with_most.iter().map(|(_, node)| self.share(*node, most, Tres::default())));
            left.retain(|(room, _)| *room != most);
            if !beside.is_empty() {
                break;
            }
            most = left.iter().map(|(room, _)| *room).max().unwrap_or(0);
        }
        let holding = left.iter().filter(|(room, _)| *room >= rest).map(|&(_, node)| (rank(node), node));
        let (_, node) = holding.chain(beside).min()?;
        grant.push(self.share(node, rest, Tres::default()));
        Some(grant)
    }

    /// Places the parts of a job on one node after the other. `choose` finds the next node for the rest, among nodes with their rooms.
    fn place_parts(&self, choose: impl Fn(u32, &[(u32, u32)]) -> Option<(u32, u32)>) -> Option<NodeGrant> {
        let parts = JobParts::of(self.shape);
        let (mut grant, mut before) = (NodeGrant::new(), 0);
        while before < parts.count {
            let rest = parts.count - before;
            let others = self.place.nodes.nodes.iter().filter(|&&node| grant.iter().all(|share| share.node != node));
            // The parts that are left may have fewer CPUs than those before, so that nodes have room for more of them.
            let rooms: Vec<(u32, u32)> = others.map(|&node| (self.room(node, parts, before), node)).collect();
            let (room, node) = choose(rest, &rooms)?;
            let count = room.min(rest);
            grant.push(self.share(node, parts.cpus(before, count), parts.devices(count)));
            before += count;
        }
        Some(grant)
    }

    /// Devices with their CPUs on as few nodes as hold them.
    fn place_devices(&self, rank: impl Fn(u32) -> NodeRank) -> Option<NodeGrant> {
        self.place_parts(|rest, rooms| {
            let with_room = rooms.iter().copied().filter(|(room, _)| *room > 0);
            with_room.min_by_key(|&(room, node)| match room >= rest {
                true => (0, rank(node)),
                false => (u32::MAX - room, rank(node)),
            })
        })
    }

    /// Devices with their CPUs on one node, or, if no node has so many, on nodes with all of them free, with the rest on the
    /// emptiest of the others.
    fn place_consolidated(&self, rank: impl Fn(Placement, u32) -> NodeRank) -> Option<NodeGrant> {
        let (kind, count) = self.shape.parts?;
        let has = |node: &u32| self.cluster.nodes[*node as usize].has.count(kind);
        let largest = self.place.nodes.nodes.iter().map(has).max().filter(|most| *most > 0)?;
        let is_wide = count > largest;
        let by = if is_wide { Placement::Spread } else { Placement::Pack };
        let is_free = |node: u32| self.free[node as usize].count(kind) == has(&node);
        self.place_parts(|rest, rooms| {
            let rooms = rooms.iter().copied();
            let holding = rooms.clone().filter(|(room, _)| *room >= rest).min_by_key(|&(_, node)| rank(by, node));
            // A wide job fills free nodes, the largest first, until one node holds the rest.
            holding.or_else(|| {
                let free_nodes = rooms.filter(|&(room, node)| is_wide && room > 0 && is_free(node));
                free_nodes.min_by_key(|&(room, node)| (Reverse(room), rank(by, node)))
            })
        })
    }
}

/// Moves the first by rank to the front, in any order.
fn first_of(nodes: &mut [(NodeRank, u32)], count: usize) {
    if count < nodes.len() {
        nodes.select_nth_unstable(count);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::machine::{Shapes, parse_toml};
    use crate::request::{MemoryAsked, Request, Requests};

    /// The nodes have the same CPUs free, and 3,000, 1,000 and 2,000 MB.
    #[test]
    fn of_nodes_with_equal_cpus_the_memory_decides() {
        let cluster = Arc::new(parse_toml("[[nodes]]\nname = \"n[1-3]\"\ncpus = 4\nmemory = 4000").unwrap());
        let mut requests = Requests::default();
        let memory = MemoryAsked::PerNode(500);
        let request = requests.intern(Request { cpus: 2, memory, ..Request::default() });
        let shapes = Shapes::new(Arc::clone(&cluster), &requests);
        let mut free = cluster.resources();
        free.iter_mut().zip([1000, 3000, 2000]).for_each(|(free, used)| free.take(&Tres::on_node(1, used)));
        let first = |placement| shapes.get(request).place(0, placement, &cluster, &free, |_| false).unwrap()[0].node;
        assert_eq!([Placement::Pack, Placement::Spread, Placement::Consolidate].map(first), [1, 0, 1]);
    }
}
