//! The plan of a pass on nodes: which jobs have reservations, and whether they hold.
//!
//! A plan has instants and jobs, but no nodes: it holds if all its jobs can be placed, one after the other in time, while running
//! jobs leave at their predicted ends.

use rustc_hash::FxHashMap;

use crate::job::JobId;
use crate::machine::{NodeGrant, NodeShape, NodeShare, Nodes, Placement, Resources, give, take};
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
    /// In order of ends.
    leaving: Vec<Leaving>,
    /// What the jobs have that the pass has started. What the others have, the nodes know.
    started: FxHashMap<JobId, NodeGrant>,
    /// In the order in which they were planned.
    planned: Vec<PlannedStart>,
    /// The positions in `planned` in order of starts; of equals in the order in which they were planned.
    in_time: Vec<usize>,
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
        self.leaving.clear();
        self.leaving.extend(running.map(|(id, end)| Leaving { end, id }));
        self.started.clear();
        self.planned.clear();
        self.in_time.clear();
    }

    /// What is free now.
    pub fn free(&self) -> &[Resources] {
        &self.free
    }

    /// Whether there are no reservations.
    pub fn is_empty(&self) -> bool {
        self.planned.is_empty()
    }

    /// What a job gets if it may start now: it can be placed, and the plan still holds. If it does not hold, the job is tried once
    /// more on what the plan leaves of the nodes until the job ends.
    pub fn try_now(&self, job: &Asked, nodes: &Nodes) -> Option<NodeGrant> {
        let shape = nodes.shapes().get(job.request);
        let end = self.now + job.length;
        let holds = |grant: &NodeGrant| self.walk(nodes, None, Some(Tried { grant, end })).is_some();
        let place = |free: &[Resources]| shape.place(job.at, self.placement, nodes.cluster(), free, |_| false);
        let grant = place(&self.free)?;
        if self.is_empty() || holds(&grant) {
            return Some(grant);
        }
        let mut left = self.free.clone();
        let planned = self.walk(nodes, None, None).expect("a plan holds without the job");
        for (&at, grant) in self.in_time.iter().zip(&planned) {
            if self.planned[at].start < end {
                take(&mut left, grant);
            }
        }
        place(&left).filter(holds)
    }

    /// A job starts now.
    pub fn start(&mut self, id: JobId, length: Seconds, grant: NodeGrant) {
        let end = self.now + length;
        take(&mut self.free, &grant);
        self.planned
            .iter_mut()
            .filter(|planned| planned.start < end)
            .for_each(|planned| take(&mut planned.free, &grant));
        let at = self.leaving.partition_point(|leaving| leaving.end <= end);
        self.leaving.insert(at, Leaving { end, id });
        self.started.insert(id, grant);
    }

    /// What a job gets that the pass has started.
    pub fn take_grant(&mut self, id: JobId) -> Option<NodeGrant> {
        self.started.remove(&id)
    }

    /// The first running or planned end at which the plan holds with the job, and what is free then if only running jobs leave.
    pub fn first_start(&self, job: &Asked, nodes: &Nodes) -> Option<(Time, Vec<Resources>)> {
        let shape = nodes.shapes().get(job.request);
        let mut free = self.free.clone();
        let mut leaving = self.leaving.iter().peekable();
        let planned_ends = || self.planned.iter().map(|planned| planned.start + planned.asked.length);
        let mut last = self.now;
        loop {
            let next_planned = planned_ends().filter(|&end| end > last).min();
            let next_leaving = leaving.peek().map(|leaving| leaving.end.max(last));
            let next = next_leaving.into_iter().chain(next_planned).min()?;
            while let Some(left) = leaving.next_if(|leaving| leaving.end <= next) {
                give(&mut free, self.started.get(&left.id).map_or_else(|| nodes.grant(left.id), Vec::as_slice));
            }
            if next > self.now && shape.fits(job.at, nodes.cluster(), &free) {
                let extra = PlannedStart { asked: *job, start: next, free };
                if self.planned.is_empty() || self.walk(nodes, Some(&extra), None).is_some() {
                    return Some((next, extra.free));
                }
                free = extra.free;
            }
            last = next;
        }
    }

    /// Makes a reservation.
    pub fn reserve(&mut self, asked: Asked, start: Time, free: Vec<Resources>) {
        let at = self.in_time.partition_point(|&at| self.planned[at].start <= start);
        self.in_time.insert(at, self.planned.len());
        self.planned.push(PlannedStart { asked, start, free });
    }

    /// Places the jobs with reservations, and one more, in order of their starts. Returns what each gets, or None if one cannot be
    /// placed. Nodes on which none of a job fits now come first, so that the others are left to jobs that start now.
    fn walk(&self, nodes: &Nodes, extra: Option<&PlannedStart>, tried: Option<Tried<'_>>) -> Option<Vec<NodeGrant>> {
        let cluster = nodes.cluster();
        let split = extra.map_or(self.in_time.len(), |extra| {
            self.in_time.partition_point(|&at| self.planned[at].start <= extra.start)
        });
        let planned = |at: &usize| &self.planned[*at];
        let before = self.in_time[..split].iter().map(planned);
        let in_time = before.chain(extra).chain(self.in_time[split..].iter().map(planned));
        let mut free_now = self.free.clone();
        if let Some(tried) = tried {
            take(&mut free_now, tried.grant);
        }
        let mut placed: Vec<(Time, NodeGrant)> = Vec::new();
        let mut free = Vec::new();
        let count = self.planned.len() + usize::from(extra.is_some());
        for (number, PlannedStart { asked, start, free: base }) in in_time.enumerate() {
            free.clear();
            free.extend_from_slice(base);
            if let Some(tried) = tried.filter(|tried| tried.end > *start) {
                take(&mut free, tried.grant);
            }
            placed.iter().filter(|(end, _)| end > start).for_each(|(_, grant)| take(&mut free, grant));
            let shape = nodes.shapes().get(asked.request);
            // Where the last job goes has no effect, if only the answer is wanted.
            if number + 1 == count && tried.is_some() {
                return shape.fits(asked.at, cluster, &free).then(Vec::new);
            }
            let is_preferred = |node| !shape.has_any_room(asked.at, cluster, &free_now, node);
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

/// Whether a job fits nowhere now, so that it need not be tried.
pub(super) fn fits_nowhere(shape: &NodeShape, nodes: &Nodes, free: &[Resources]) -> bool {
    (0..shape.places.len()).all(|at| !shape.fits(at, nodes.cluster(), free))
}
