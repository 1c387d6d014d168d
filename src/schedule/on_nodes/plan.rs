//! The plan of a pass on nodes: which jobs have reservations, and whether they hold.
//!
//! A plan has instants and jobs, but no nodes: it holds if all its jobs can be placed, one after the other in time, while running
//! jobs leave at their predicted ends.

use std::borrow::Cow;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::job::JobId;
use crate::machine::{NodeGrant, NodeShape, NodeShare, Nodes, Placement, Resources, cpus_of, give, take};
use crate::request::RequestId;
use crate::time::{Seconds, Time};

/// A job in one of its partitions: the position in [`NodeShape::places`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub id: JobId,
    pub request: RequestId,
    pub at: usize,
    /// The seconds that it counts with.
    pub length: Seconds,
}

/// A job with a reservation.
struct PlannedStart {
    asked: Asked,
    start: Time,
    /// What is free at the start, by node, if only running jobs leave.
    free: Vec<Resources>,
    /// The CPUs of these that the job does not need, on the nodes that it may have.
    spare: i64,
}

impl PlannedStart {
    fn new(asked: Asked, start: Time, free: Vec<Resources>, nodes: &Nodes) -> PlannedStart {
        let shape = nodes.shapes().get(asked.request);
        let of_nodes = shape.places[asked.at].nodes.iter().map(|&node| i64::from(free[node as usize].cpus));
        let spare = of_nodes.sum::<i64>() - i64::from(shape.cpus);
        PlannedStart { asked, start, free, spare }
    }

    /// A job has this on the nodes at the start.
    fn take(&mut self, grant: &[NodeShare], nodes: &Nodes) {
        take(&mut self.free, grant);
        let mine = &nodes.shapes().get(self.asked.request).places[self.asked.at].nodes;
        self.spare -= cpus_of(grant.iter().filter(|share| mine.binary_search(&share.node).is_ok()));
    }

    fn end(&self) -> Time {
        self.start + self.asked.length
    }

    fn is_active(&self, time: Time) -> bool {
        (self.start..self.end()).contains(&time)
    }
}

/// A job that runs, or that the pass has started.
struct Leaving {
    end: Time,
    id: JobId,
}

/// A start that is tried: what the job takes, and its end.
#[derive(Clone, Copy)]
pub(super) struct Tried<'a> {
    pub grant: &'a [NodeShare],
    pub end: Time,
}

/// The plan of one pass.
#[derive(Default)]
pub(super) struct NodePlan {
    now: Time,
    placement: Placement,
    /// What is free now.
    free: Vec<Resources>,
    /// The CPUs of these.
    idle: i64,
    /// In order of ends.
    leaving: Vec<Leaving>,
    /// What the jobs have that the pass has started. What the others have, the nodes know.
    started: FxHashMap<JobId, NodeGrant>,
    /// In the order in which they were planned.
    planned: Vec<PlannedStart>,
    /// The positions in `planned` in order of starts; of equals in the order in which they were planned.
    in_time: Vec<usize>,
    /// What these jobs get if the plan is followed, in the same order. Empty if it must be found anew.
    followed: Vec<NodeGrant>,
}

/// A reservation that could be made.
pub(super) struct Found {
    pub start: Time,
    /// What is free then, if only running jobs leave.
    free: Vec<Resources>,
    /// What all jobs with reservations then get, in order of their starts.
    followed: Vec<NodeGrant>,
}

impl NodePlan {
    pub fn new(placement: Placement) -> NodePlan {
        NodePlan { placement, ..NodePlan::default() }
    }

    /// Begins a plan without reservations. `running` has the predicted ends of the running jobs.
    pub fn begin(&mut self, now: Time, nodes: &Nodes, running: impl Iterator<Item = (JobId, Time)>) {
        self.now = now;
        self.free.clear();
        self.free.extend_from_slice(nodes.free());
        self.idle = nodes.idle();
        self.leaving.clear();
        self.leaving.extend(running.map(|(id, end)| Leaving { end, id }));
        self.started.clear();
        self.planned.clear();
        self.in_time.clear();
        self.followed.clear();
    }

    /// What is free now.
    pub fn free(&self) -> &[Resources] {
        &self.free
    }

    /// The CPUs that are free now.
    pub fn idle(&self) -> i64 {
        self.idle
    }

    /// Whether there are no reservations.
    pub fn is_empty(&self) -> bool {
        self.planned.is_empty()
    }

    /// What a job gets if it may start now: it can be placed, and the plan still holds. If it does not hold, the job is tried once
    /// more on what the plan leaves of the nodes until the job ends.
    pub fn try_now(&mut self, job: &Asked, nodes: &Nodes) -> Option<NodeGrant> {
        let shape = nodes.shapes().get(job.request);
        let end = self.now + job.length;
        // A bound rejects most jobs: the CPUs that the plan leaves on the same nodes.
        let own = &shape.places[job.at].nodes;
        let is_in_the_way = |planned: &PlannedStart| {
            let theirs = &nodes.shapes().get(planned.asked.request).places[planned.asked.at].nodes;
            planned.start < end && planned.spare < i64::from(shape.cpus) && Arc::ptr_eq(own, theirs)
        };
        if self.planned.iter().any(is_in_the_way) {
            return None;
        }
        let placement = self.placement;
        let place = |free: &[Resources]| shape.place(job.at, placement, nodes.cluster(), free, |_| false);
        let grant = place(&self.free)?;
        if self.is_empty() || self.holds_with(&grant, end, nodes) {
            return Some(grant);
        }
        self.follow(nodes);
        let mut left = self.free.clone();
        for (&at, grant) in self.in_time.iter().zip(&self.followed) {
            if self.planned[at].start < end {
                take(&mut left, grant);
            }
        }
        place(&left).filter(|grant| self.holds_with(grant, end, nodes))
    }

    /// Whether the plan holds if a job has this from now until `end`.
    fn holds_with(&self, grant: &[NodeShare], end: Time, nodes: &Nodes) -> bool {
        self.walk(nodes, 0, None, Some(Tried { grant, end })).is_some()
    }

    /// Finds what the jobs with reservations get, if that is not known.
    fn follow(&mut self, nodes: &Nodes) {
        if self.followed.is_empty() {
            self.followed = self.walk(nodes, 0, None, None).expect("a plan holds");
        }
    }

    /// A job starts now.
    pub fn start(&mut self, id: JobId, length: Seconds, grant: NodeGrant, nodes: &Nodes) {
        let end = self.now + length;
        take(&mut self.free, &grant);
        self.idle -= cpus_of(&grant);
        let during = self.planned.iter_mut().filter(|planned| planned.start < end);
        during.for_each(|planned| planned.take(&grant, nodes));
        let at = self.leaving.partition_point(|leaving| leaving.end <= end);
        self.leaving.insert(at, Leaving { end, id });
        self.started.insert(id, grant);
        self.followed.clear();
    }

    /// What a job gets that the pass has started.
    pub fn take_grant(&mut self, id: JobId) -> Option<NodeGrant> {
        self.started.remove(&id)
    }

    /// The first running or planned end at which the plan holds with the job.
    pub fn first_start(&mut self, job: &Asked, nodes: &Nodes) -> Option<Found> {
        self.follow(nodes);
        let shape = nodes.shapes().get(job.request);
        let grant_of = |id| self.started.get(&id).map_or_else(|| nodes.grant(id), Vec::as_slice);
        let mut free = self.free.clone();
        let mut cpus = self.idle;
        let mut leaving = self.leaving.iter().peekable();
        let planned_ends = || self.planned.iter().map(PlannedStart::end);
        let mut last = self.now;
        loop {
            let next_planned = planned_ends().filter(|&end| end > last).min();
            let next_leaving = leaving.peek().map(|leaving| leaving.end.max(last));
            let next = next_leaving.into_iter().chain(next_planned).min()?;
            while let Some(left) = leaving.next_if(|leaving| leaving.end <= next) {
                let grant = grant_of(left.id);
                give(&mut free, grant);
                cpus += cpus_of(grant);
            }
            last = next;
            // A bound rejects most instants: the CPUs of all nodes together.
            let active =
                || self.in_time.iter().zip(&self.followed).filter(|(at, _)| self.planned[**at].is_active(next));
            let planned_cpus: i64 = active().map(|(_, grant)| cpus_of(grant)).sum();
            if next <= self.now || cpus - planned_cpus < i64::from(shape.cpus) {
                continue;
            }
            let mut left = free.clone();
            active().for_each(|(_, grant)| take(&mut left, grant));
            if shape.fits(job.at, nodes.cluster(), &left) {
                let extra = PlannedStart { asked: *job, start: next, free, spare: 0 };
                if let Some(followed) = self.walk_with(&extra, nodes) {
                    return Some(Found { start: next, free: extra.free, followed });
                }
                free = extra.free;
            }
        }
    }

    /// What all jobs get with one reservation more. Jobs with earlier starts keep what they get.
    fn walk_with(&self, extra: &PlannedStart, nodes: &Nodes) -> Option<Vec<NodeGrant>> {
        let from = self.in_time.partition_point(|&at| self.planned[at].start <= extra.start);
        let mut followed = self.followed[..from].to_vec();
        followed.extend(self.walk(nodes, from, Some(extra), None)?);
        Some(followed)
    }

    /// Makes a reservation.
    pub fn reserve(&mut self, asked: Asked, found: Found, nodes: &Nodes) {
        let at = self.in_time.partition_point(|&at| self.planned[at].start <= found.start);
        self.in_time.insert(at, self.planned.len());
        self.planned.push(PlannedStart::new(asked, found.start, found.free, nodes));
        self.followed = found.followed;
    }

    /// Places the jobs with reservations in order of their starts, from a position in this order on, after one more. Returns what
    /// each of these gets, or None if one cannot be placed. Nodes on which none of a job fits now come first, so that the others
    /// are left to jobs that start now.
    fn walk(
        &self,
        nodes: &Nodes,
        from: usize,
        extra: Option<&PlannedStart>,
        tried: Option<Tried<'_>>,
    ) -> Option<Vec<NodeGrant>> {
        let cluster = nodes.cluster();
        let mut free_now = self.free.clone();
        if let Some(tried) = tried {
            take(&mut free_now, tried.grant);
        }
        let planned = |at: &usize| &self.planned[*at];
        let before = self.in_time[..from].iter().zip(&self.followed);
        let mut placed: Vec<(Time, Cow<'_, [NodeShare]>)> =
            before.map(|(at, grant)| (planned(at).end(), Cow::Borrowed(grant.as_slice()))).collect();
        let mut free = Vec::new();
        let count = self.planned.len() + usize::from(extra.is_some());
        for job in extra.into_iter().chain(self.in_time[from..].iter().map(planned)) {
            let PlannedStart { asked, start, free: base, .. } = job;
            free.clear();
            free.extend_from_slice(base);
            if let Some(tried) = tried.filter(|tried| tried.end > *start) {
                take(&mut free, tried.grant);
            }
            placed.iter().filter(|(end, _)| end > start).for_each(|(_, grant)| take(&mut free, grant));
            let shape = nodes.shapes().get(asked.request);
            // Where the last job goes has no effect, if only the answer is wanted.
            if placed.len() + 1 == count && tried.is_some() {
                return shape.fits(asked.at, cluster, &free).then(Vec::new);
            }
            let is_preferred = |node| !shape.has_any_room(asked.at, cluster, &free_now, node);
            let grant = shape.place(asked.at, self.placement, cluster, &free, is_preferred)?;
            placed.push((job.end(), Cow::Owned(grant)));
        }
        Some(placed.into_iter().skip(from).map(|(_, grant)| grant.into_owned()).collect())
    }

    /// The jobs with reservations and their starts, in the order in which they were planned.
    pub fn reservations(&self) -> impl Iterator<Item = (JobId, Time)> {
        self.planned.iter().map(|planned| (planned.asked.id, planned.start))
    }
}

/// Whether a job fits nowhere now, so that it need not be tried. `idle` are all CPUs that are free.
pub(super) fn fits_nowhere(shape: &NodeShape, nodes: &Nodes, free: &[Resources], idle: i64) -> bool {
    i64::from(shape.cpus) > idle || (0..shape.places.len()).all(|at| !shape.fits(at, nodes.cluster(), free))
}
