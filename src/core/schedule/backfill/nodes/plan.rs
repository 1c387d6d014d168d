//! The plan of a pass on nodes: which jobs have reservations, and whether they hold.
//!
//! A plan has instants and jobs, but no nodes: it holds if all its jobs can be placed, one after the other in time, while running
//! jobs leave at their predicted ends. Numbers of CPUs decide most questions ([`PlannedStart`]); only for the others the jobs are
//! placed.

use std::borrow::Cow;

use rustc_hash::FxHashSet;

use super::bounds::{ALL, JobAtPlace, PlannedStart};
use super::closed::ClosedNodes;
use super::rooms::Rooms;
use crate::job::JobId;
use crate::machine::{NodeGrant, NodeShare, Nodes, Placement, Tres, give, take};
use crate::request::RequestId;
use crate::schedule::machine::Machine;
use crate::time::{Seconds, Time};

/// A job that runs, or that the pass has started.
struct Leaving {
    end: Time,
    id: JobId,
    /// Its position among the jobs that the pass has started.
    started: Option<usize>,
}

/// A job that the pass has started.
struct StartedJob {
    id: JobId,
    end: Time,
    grant: NodeGrant,
}

/// A start that is tried: what the job takes, and its end.
#[derive(Clone, Copy)]
struct TriedStart<'a> {
    grant: &'a [NodeShare],
    end: Time,
}

/// The plan of one pass.
#[derive(Default)]
pub(super) struct NodePlan {
    now: Time,
    placement: Placement,
    /// What is free now, and for which jobs there is room.
    rooms: Rooms,
    /// The outages that are known. If there are any, numbers of CPUs do not say that a job has no room.
    closed: ClosedNodes,
    /// In order of ends. Empty until a reservation is made.
    leaving: Vec<Leaving>,
    /// In the order of their starts.
    started: Vec<StartedJob>,
    /// How many of these the engine has asked for.
    taken: usize,
    /// In the order in which they were planned.
    planned: Vec<PlannedStart>,
    /// The positions in `planned` in order of starts; of equals in the order in which they were planned.
    in_time: Vec<usize>,
    /// The ends of planned jobs, and the known ends of outages, ascending.
    ends: Vec<Time>,
    /// What the first of these jobs get if the plan is followed, in order of starts. What the others get must be found.
    followed: Vec<NodeGrant>,
    /// Jobs that may not start while neither the plan nor what is free changes: what they ask for, where, and how many planned jobs
    /// start before they would end. A week of UB's medium cluster under `easy:reservations=4` takes 2.7 times as long without.
    failed: FxHashSet<(RequestId, usize, usize)>,
}

/// A reservation that could be made, and what jobs with reservations then get, in order of their starts, as far as that is known.
type FoundStart = (PlannedStart, Vec<NodeGrant>);

/// What a job gets that may start now.
pub(super) struct Granted {
    grant: NodeGrant,
    /// What jobs with reservations then get, in order of their starts, as far as that is known.
    followed: Vec<NodeGrant>,
}

/// What numbers of CPUs say about a reservation. A week of UB's medium cluster under `easy:reservations=4` takes 1.4 times as long
/// without.
#[derive(PartialEq, Eq)]
enum PlanOutlook {
    Holds,
    Fails,
    Unknown,
}

impl NodePlan {
    pub fn new(placement: Placement) -> NodePlan {
        NodePlan { placement, rooms: Rooms::new(placement), ..NodePlan::default() }
    }

    /// Begins a plan without reservations.
    pub fn begin(&mut self, machine: &Machine, nodes: &Nodes) {
        self.now = machine.now;
        self.rooms.renew(nodes);
        self.closed.renew(machine);
        self.leaving.clear();
        self.started.clear();
        self.taken = 0;
        self.planned.clear();
        self.in_time.clear();
        self.ends.clear();
        self.ends.extend(self.closed.ends_after(self.now));
        self.ends.sort_unstable();
        self.followed.clear();
        self.failed.clear();
    }

    /// Notes when running jobs leave, which reservations need. `running` has their predicted ends.
    pub fn note_running(&mut self, running: impl Iterator<Item = (JobId, Time)>) {
        if self.leaving.is_empty() {
            self.leaving.extend(running.map(|(id, end)| Leaving { end, id, started: None }));
            for number in 0..self.started.len() {
                self.note_leaving(number);
            }
        }
    }

    fn note_leaving(&mut self, number: usize) {
        let StartedJob { id, end, .. } = self.started[number];
        let at = self.leaving.partition_point(|leaving| leaving.end <= end);
        self.leaving.insert(at, Leaving { end, id, started: Some(number) });
    }

    /// Whether a job fits nowhere now.
    pub fn is_roomless(&mut self, request: RequestId, nodes: &Nodes) -> bool {
        self.rooms.is_roomless(request, nodes)
    }

    /// What a job gets if it may start now: it can be placed, and the plan still holds. If it does not hold, the job is tried once
    /// more on what the plan leaves of the nodes until the job ends.
    pub fn try_now(&mut self, job: &JobAtPlace, nodes: &Nodes) -> Option<Granted> {
        let shape = job.shape(nodes);
        let end = self.now + job.length;
        let is_in_the_way = |planned: &PlannedStart| {
            planned.start < end && planned.spare < i64::from(shape.cpus) && planned.asked.has_nodes_of(job, nodes)
        };
        if self.planned.iter().any(is_in_the_way) || !self.rooms.fits(shape, job.at, nodes) {
            return None;
        }
        let earlier = self.planned.iter().filter(|planned| planned.start < end).count();
        let case = (job.request, job.at, earlier);
        if self.failed.contains(&case) {
            return None;
        }
        let granted = self.try_twice(job, end, nodes);
        // Amid outages it also matters how long the job may need its nodes.
        if granted.is_none() && self.closed.is_empty() {
            self.failed.insert(case);
        }
        granted
    }

    fn place_now(&self, job: &JobAtPlace, free: Cow<'_, [Tres]>, nodes: &Nodes) -> Option<NodeGrant> {
        let open = self.closed.open(job, self.now, free, nodes);
        job.shape(nodes).place(job.at, self.placement, nodes.cluster(), &open, |_| false)
    }

    fn try_twice(&mut self, job: &JobAtPlace, end: Time, nodes: &Nodes) -> Option<Granted> {
        let grant = self.place_now(job, self.rooms.free().into(), nodes)?;
        if let Some(followed) = self.follow_with(&grant, end, nodes) {
            return Some(Granted { grant, followed });
        }
        self.follow(nodes);
        let mut left = self.rooms.free().to_vec();
        for (&at, grant) in self.in_time.iter().zip(&self.followed) {
            if self.planned[at].start < end {
                take(&mut left, grant);
            }
        }
        let second = self.place_now(job, left.into(), nodes).filter(|second| *second != grant)?;
        let followed = self.follow_with(&second, end, nodes)?;
        Some(Granted { grant: second, followed })
    }

    /// What jobs with reservations get, as far as that is needed, if a job has this from now until `end`. None if the plan does not
    /// hold then.
    fn follow_with(&mut self, grant: &[NodeShare], end: Time, nodes: &Nodes) -> Option<Vec<NodeGrant>> {
        let mut is_sure = true;
        for planned in &self.planned {
            let taken = if planned.start < end { planned.room_of(grant, nodes) } else { 0 };
            if planned.is_lost(taken, nodes) {
                return None;
            }
            is_sure = is_sure && planned.is_sure(taken, nodes);
        }
        if is_sure {
            return Some(Vec::new());
        }
        self.follow(nodes);
        self.walk(nodes, 0, None, Some(TriedStart { grant, end }))
    }

    /// Finds what the jobs with reservations get, if that is not known.
    fn follow(&mut self, nodes: &Nodes) {
        if self.followed.len() < self.planned.len() {
            self.followed = self.walk(nodes, self.followed.len(), None, None).expect("a plan holds");
        }
    }

    /// A job starts now.
    pub fn start(&mut self, id: JobId, length: Seconds, granted: Granted, nodes: &Nodes) {
        let Granted { grant, followed } = granted;
        let end = self.now + length;
        self.rooms.take(&grant);
        let during = self.planned.iter_mut().filter(|planned| planned.start < end);
        during.for_each(|planned| planned.take(&grant, nodes));
        self.started.push(StartedJob { id, end, grant });
        if !self.leaving.is_empty() {
            self.note_leaving(self.started.len() - 1);
        }
        self.followed = followed;
        self.failed.clear();
    }

    /// What a job gets that the pass has started. Jobs are asked for in the order of their starts.
    pub fn take_grant(&mut self, id: JobId) -> Option<NodeGrant> {
        let started = self.started.get_mut(self.taken).filter(|started| started.id == id)?;
        self.taken += 1;
        Some(std::mem::take(&mut started.grant))
    }

    /// The first running or planned end at which the plan holds with the job. The ends of running jobs must be noted.
    pub fn first_start(&mut self, job: &JobAtPlace, nodes: &Nodes) -> Option<FoundStart> {
        let (shape, place, cluster) = (job.shape(nodes), job.place(nodes), nodes.cluster());
        let need = i64::from(shape.cpus);
        let mut free = self.rooms.free().to_vec();
        let mut room = self.rooms.cpus(shape, job.at, nodes) as i64;
        let mut cpus: i64 = place.nodes.nodes.iter().map(|&node| i64::from(free[node as usize].cpus())).sum();
        let (mut left, mut ended) = (0, 0);
        let mut last = self.now;
        loop {
            let next_leaving = self.leaving.get(left).map(|leaving| leaving.end.max(last));
            let next = next_leaving.into_iter().chain(self.ends.get(ended).copied()).min()?;
            while let Some(leaving) = self.leaving.get(left).filter(|leaving| leaving.end <= next) {
                left += 1;
                for share in self.grant_of(leaving, nodes) {
                    let is_mine = place.nodes.has(share.node);
                    let room_of = |free: &[Tres]| i64::from(shape.cpus_on(place, cluster, free, share.node));
                    room -= if is_mine { room_of(&free) } else { 0 };
                    give(&mut free, std::slice::from_ref(share));
                    if is_mine {
                        room += room_of(&free);
                        cpus += i64::from(share.what.cpus());
                    }
                }
            }
            while self.ends.get(ended).is_some_and(|&end| end <= next) {
                ended += 1;
            }
            last = next;
            if next <= self.now || room < need {
                continue;
            }
            let (open, room, spare) = match self.closed.is_empty() {
                true => (Cow::Borrowed(&*free), room, cpus - need),
                false => {
                    let open = self.closed.open(job, next, Cow::Borrowed(&*free), nodes);
                    let rooms = place.nodes.nodes.iter().map(|&node| shape.cpus_on(place, cluster, &open, node));
                    let room = rooms.map(i64::from).sum();
                    (open, room, ALL)
                }
            };
            let followed = match self.outlook(job, next, room, cpus, nodes) {
                PlanOutlook::Fails => None,
                PlanOutlook::Holds => Some(self.followed_until(next).to_vec()),
                PlanOutlook::Unknown => self.walk_with(job, next, &open, nodes),
            };
            if let Some(followed) = followed {
                let free = open.into_owned();
                let planned = PlannedStart { asked: *job, start: next, free, spare, room, lost: 0 };
                return Some((planned, followed));
            }
        }
    }

    fn grant_of<'a>(&'a self, leaving: &Leaving, nodes: &'a Nodes) -> &'a [NodeShare] {
        leaving.started.map_or_else(|| nodes.grant(leaving.id), |number| &self.started[number].grant)
    }

    /// Whether the plan holds with a job that starts at this time, as far as numbers of CPUs say. `room` is the room for the job
    /// then, and `cpus` are the free CPUs of the nodes that it may have, if only running jobs leave.
    fn outlook(&self, job: &JobAtPlace, time: Time, room: i64, cpus: i64, nodes: &Nodes) -> PlanOutlook {
        let shape = job.shape(nodes);
        let need = i64::from(shape.cpus);
        let end = time + job.length;
        let (mut room, mut cpus) = (room, cpus);
        let mut is_sure = shape.is_divisible(job.place(nodes));
        for planned in &self.planned {
            let asked = &planned.asked;
            if planned.start > time {
                let overlaps = planned.start < end;
                if overlaps && planned.spare < need && asked.has_nodes_of(job, nodes) {
                    return PlanOutlook::Fails;
                }
                is_sure = is_sure && {
                    let taken = if overlaps { asked.most_lost_to(job, nodes) } else { 0 };
                    planned.is_sure(taken, nodes)
                };
            } else if planned.is_active(time) {
                room -= job.most_lost_to(asked, nodes);
                if job.has_nodes_of(asked, nodes) {
                    cpus -= i64::from(asked.shape(nodes).cpus);
                }
            }
        }
        match cpus < need {
            true => PlanOutlook::Fails,
            false if is_sure && room >= need => PlanOutlook::Holds,
            false => PlanOutlook::Unknown,
        }
    }

    /// What all jobs get with one reservation more, if the plan then holds. Jobs with earlier starts keep what they get. `free` is
    /// what is free at the start if only running jobs leave.
    fn walk_with(&mut self, job: &JobAtPlace, start: Time, free: &[Tres], nodes: &Nodes) -> Option<Vec<NodeGrant>> {
        self.follow(nodes);
        let mut left = free.to_vec();
        let active = self.in_time.iter().zip(&self.followed).filter(|(at, _)| self.planned[**at].is_active(start));
        active.for_each(|(_, grant)| take(&mut left, grant));
        if !job.shape(nodes).fits(job.at, self.placement, nodes.cluster(), &left) {
            return None;
        }
        let from = self.in_time.partition_point(|&at| self.planned[at].start <= start);
        self.walk(nodes, from, Some((job, start, free)), None)
    }

    /// What the jobs get that start until then, as far as that is known.
    fn followed_until(&self, time: Time) -> &[NodeGrant] {
        let count = self.in_time.partition_point(|&at| self.planned[at].start <= time);
        &self.followed[..count.min(self.followed.len())]
    }

    /// Makes a reservation.
    pub fn reserve(&mut self, (mut planned, followed): FoundStart, nodes: &Nodes) {
        for other in &mut self.planned {
            if other.is_active(planned.start) {
                planned.make_room_for(&other.asked, nodes);
            } else if planned.is_active(other.start) {
                other.make_room_for(&planned.asked, nodes);
            }
        }
        let at = self.in_time.partition_point(|&at| self.planned[at].start <= planned.start);
        self.in_time.insert(at, self.planned.len());
        let at = self.ends.partition_point(|&end| end <= planned.end());
        self.ends.insert(at, planned.end());
        self.planned.push(planned);
        self.followed = followed;
        self.failed.clear();
    }

    /// Places the jobs with reservations in order of their starts, from a position in this order on, after one more with its start
    /// and what is free then. Returns what all jobs with reservations get, or None if one cannot be placed. Nodes on which none of a
    /// job fits now come first, so that the others are left to jobs that start now. If a start is tried, the last job is not placed:
    /// where it goes has no effect.
    fn walk(
        &self,
        nodes: &Nodes,
        from: usize,
        extra: Option<(&JobAtPlace, Time, &[Tres])>,
        tried: Option<TriedStart<'_>>,
    ) -> Option<Vec<NodeGrant>> {
        let cluster = nodes.cluster();
        let mut free_now = Cow::Borrowed(self.rooms.free());
        if let Some(tried) = tried {
            take(free_now.to_mut(), tried.grant);
        }
        let planned = |at: &usize| &self.planned[*at];
        let before = self.in_time[..from].iter().zip(&self.followed);
        // With the ends of the jobs.
        let mut placed: Vec<(Time, NodeGrant)> = before.map(|(at, grant)| (planned(at).end(), grant.clone())).collect();
        let mut free = Vec::new();
        let later = self.in_time[from..].iter().map(|at| {
            let PlannedStart { asked, start, free, .. } = planned(at);
            (asked, *start, free.as_slice())
        });
        let count = self.planned.len() + usize::from(extra.is_some());
        for (asked, start, base) in extra.into_iter().chain(later) {
            let shape = asked.shape(nodes);
            free.clear();
            free.extend_from_slice(base);
            if let Some(tried) = tried.filter(|tried| tried.end > start) {
                take(&mut free, tried.grant);
            }
            placed.iter().filter(|(end, _)| *end > start).for_each(|(_, grant)| take(&mut free, grant));
            if placed.len() + 1 == count && tried.is_some() {
                if !shape.fits(asked.at, self.placement, cluster, &free) {
                    return None;
                }
                break;
            }
            let open_now = self.closed.open(asked, self.now, Cow::Borrowed(&*free_now), nodes);
            let is_preferred = |node| !shape.has_any_room(asked.at, cluster, &open_now, node);
            let grant = shape.place(asked.at, self.placement, cluster, &free, is_preferred)?;
            placed.push((start + asked.length, grant));
        }
        Some(placed.into_iter().map(|(_, grant)| grant).collect())
    }

    /// The jobs with reservations and their starts, in the order in which they were planned.
    pub fn reservations(&self) -> impl Iterator<Item = (JobId, Time)> {
        self.planned.iter().map(|planned| (planned.asked.id, planned.start))
    }
}
