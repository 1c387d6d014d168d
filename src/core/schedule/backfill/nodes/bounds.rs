//! What jobs with reservations need at least, and what they can take from each other at most, wherever they are placed.

use crate::job::JobId;
use crate::machine::{ListRelation, NodeShape, NodeShare, Nodes, Resource, ShapePlace, Tres, cpus_of, take};
use crate::request::RequestId;
use crate::time::{Seconds, Time};

/// A job in one of its partitions: the position in [`crate::machine::NodeShape::places`].
#[derive(Clone, Copy, Debug)]
pub(super) struct JobAtPlace {
    pub id: JobId,
    pub request: RequestId,
    pub at: usize,
    /// The seconds that it counts with.
    pub length: Seconds,
    /// The seconds for which it may need its nodes: the longer of its estimate and its prediction.
    pub planned: Seconds,
    /// What outages see of it.
    pub class: u32,
}

/// More than any machine has.
pub(super) const ALL: i64 = 1 << 40;

impl JobAtPlace {
    pub fn shape<'a>(&self, nodes: &'a Nodes) -> &'a NodeShape {
        nodes.shapes().get(self.request)
    }

    pub fn place<'a>(&self, nodes: &'a Nodes) -> &'a ShapePlace {
        &self.shape(nodes).places[self.at]
    }

    /// Whether all nodes that another job may have are among the nodes of this one.
    pub fn has_nodes_of(&self, other: &JobAtPlace, nodes: &Nodes) -> bool {
        nodes.shapes().relation(&other.place(nodes).nodes, &self.place(nodes).nodes) == ListRelation::Within
    }

    /// By how many CPUs the room for this job falls at most when another is placed.
    pub fn most_lost_to(&self, other: &JobAtPlace, nodes: &Nodes) -> i64 {
        let (shape, their_shape) = (self.shape(nodes), other.shape(nodes));
        let (place, theirs) = (&shape.places[self.at], &their_shape.places[other.at]);
        if nodes.shapes().relation(&place.nodes, &theirs.nodes) == ListRelation::Apart {
            return 0;
        }
        let per_cpu = place.memory_per_cpu;
        let takes = |kind| their_shape.per_node[kind] > 0 || their_shape.parts.is_some_and(|(parts, _)| parts == kind);
        let takes_devices = Resource::DEVICES.iter().any(|&kind| shape.per_node[kind] > 0 && takes(kind));
        let takes_memory = |place: &ShapePlace| place.memory_per_node > 0 || place.all_memory;
        let is_unbounded = place.whole
            || theirs.whole
            || takes_devices
            || (takes_memory(theirs) && (per_cpu > 0 || takes_memory(place)))
            || (theirs.memory_per_cpu > 0 && per_cpu == 0 && takes_memory(place));
        if is_unbounded {
            return ALL;
        }
        // The CPUs of this job that need as much memory as one of the other.
        let each = if per_cpu == 0 { 1 } else { theirs.memory_per_cpu.div_ceil(per_cpu).clamp(1, 1 << 20) as i64 };
        let cpus = their_shape.cpus.max(theirs.least_nodes);
        (i64::from(cpus) * i64::from(theirs.nodes.largest_core) * each).min(ALL)
    }
}

/// A job with a reservation.
pub(super) struct PlannedStart {
    pub asked: JobAtPlace,
    pub start: Time,
    /// What is free at the start, by node, if only running jobs leave.
    pub free: Vec<Tres>,
    /// The CPUs of these on the nodes that the job may have, less those that it needs, and those that other jobs with reservations
    /// need of these nodes. The first 3,000 jobs of a week of UB's medium cluster under `easy:reservations=4` take 1.2 times as long if
    /// jobs are tried that need more.
    pub spare: i64,
    /// The CPUs of which these have room.
    pub room: i64,
    /// How many of these other jobs with reservations can take at most.
    pub lost: i64,
}

impl PlannedStart {
    pub fn end(&self) -> Time {
        self.start + self.asked.length
    }

    pub fn is_active(&self, time: Time) -> bool {
        (self.start..self.end()).contains(&time)
    }

    /// Another job has a reservation too, for a start that is not later, and has not ended at this start.
    pub fn make_room_for(&mut self, other: &JobAtPlace, nodes: &Nodes) {
        self.lost += self.asked.most_lost_to(other, nodes);
        if self.asked.has_nodes_of(other, nodes) {
            self.spare -= i64::from(other.shape(nodes).cpus);
        }
    }

    /// Whether the job can be placed at its start, wherever the others are, if the room falls by so many CPUs.
    pub fn is_sure(&self, taken: i64, nodes: &Nodes) -> bool {
        let shape = self.asked.shape(nodes);
        shape.is_divisible(self.asked.place(nodes)) && self.room - self.lost - taken >= shape.cpus.into()
    }

    /// Whether the job cannot be placed at its start, wherever the others are, if the room falls by so many CPUs.
    pub fn is_lost(&self, taken: i64, nodes: &Nodes) -> bool {
        self.room - taken < self.asked.shape(nodes).cpus.into()
    }

    /// The room that a job takes that has this on the nodes at the start.
    pub fn room_of(&self, grant: &[NodeShare], nodes: &Nodes) -> i64 {
        let (shape, place, cluster) = (self.asked.shape(nodes), self.asked.place(nodes), nodes.cluster());
        let room =
            |free: &Tres, allowed: u32, node: u32| i64::from(shape.cpus_of(place, cluster, (free, || allowed), node));
        let on_node = |share: &NodeShare| {
            let (free, allowed) = (&self.free[share.node as usize], place.allowed(&self.free, share.node));
            let mut left = *free;
            left.take(&share.what);
            let is_mine = share.limit.is_some() && share.limit == place.limit(share.node);
            let still_allowed = if is_mine { allowed.saturating_sub(share.what.cpus()) } else { allowed };
            room(free, allowed, share.node) - room(&left, still_allowed, share.node)
        };
        grant.iter().filter(|share| place.nodes.has(share.node)).map(on_node).sum()
    }

    /// A job has this on the nodes at the start.
    pub fn take(&mut self, grant: &[NodeShare], nodes: &Nodes) {
        self.room -= self.room_of(grant, nodes);
        take(&mut self.free, grant);
        let mine = &self.asked.place(nodes).nodes;
        self.spare -= cpus_of(grant.iter().filter(|share| mine.has(share.node)));
    }
}
