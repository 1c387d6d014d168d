//! Reservations on the nodes of a cluster: so many for each partition.

mod bounds;
mod closed;
mod plan;
mod pool;
mod reach;
mod rooms;

use super::fitting_job::FittingJob;
use super::scan_index::ScanIndex;
use super::space::{Pass, Space};
use crate::job::JobId;
use crate::machine::{Nodes, Placement};
use crate::request::RequestId;
use crate::schedule::machine::Machine;
use crate::schedule::policy::{Decisions, NeverStarts};
use crate::schedule::queue::{QueuePlace, Waiting};
use crate::schedule::rules::Rules;
use crate::time::{Seconds, Time};

use bounds::JobAtPlace;
use plan::NodePlan;
pub use pool::PlacedPool;
use reach::Reach;

/// A job may start if it can be placed now and the plan of the reservations still holds.
pub struct NodeReservations {
    plan: NodePlan,
    reach: Reach,
    /// By partition: how many reservations it has.
    counts: Vec<usize>,
    /// How many it may have.
    most: usize,
    /// The jobs that have reservations, or could not have any.
    reserved: Vec<JobId>,
    /// By request: how many waiting jobs with it the walk has not reached. The first 3,000 jobs of a week of UB's medium cluster under
    /// `easy:reservations=4` take 1.14 times as long if a walk does not end when none of these has room.
    left: Vec<u32>,
    /// The requests of these jobs, and of some others. None before the first that has room.
    unreached: Vec<RequestId>,
}

impl NodeReservations {
    pub fn new(rules: &Rules, placement: Placement) -> NodeReservations {
        let most = rules.reservations.map_or(usize::MAX, |most| most.max(1));
        let (plan, reach) = (NodePlan::new(placement), Reach::new(placement));
        NodeReservations {
            plan,
            reach,
            counts: Vec::new(),
            most,
            reserved: Vec::new(),
            left: Vec::new(),
            unreached: Vec::new(),
        }
    }

    /// Whether no job has room that the walk has not reached. A job that has no room now has none later in the pass.
    fn has_no_room_left(&mut self, nodes: &Nodes) -> bool {
        while let Some(&request) = self.unreached.last() {
            if self.left[number(request)] > 0 && !self.plan.is_roomless(request, nodes) {
                return false;
            }
            self.unreached.pop();
        }
        true
    }
}

fn nodes_of(machine: &Machine) -> &Nodes {
    machine.nodes().expect("the engine has the nodes of this policy")
}

/// For how long a job may need its nodes, and what outages see of it. `length` is the one that it is fitted with.
fn planned_length(id: JobId, length: Seconds, machine: &Machine) -> (Seconds, u32) {
    let Some(ledger) = &machine.outages else { return (length, 0) };
    let (known, prediction) = (ledger.job(id), machine.waiting.get(id).map_or(0, |job| job.length));
    (known.estimate.max(prediction).max(length), known.class)
}

fn number(request: RequestId) -> usize {
    request.index().expect("every job on nodes has a request")
}

impl Space for NodeReservations {
    fn begin(&mut self, pass: &Pass<'_>, _index: Option<&ScanIndex>) -> bool {
        self.begin_anew(pass.machine);
        let nodes = nodes_of(pass.machine);
        self.left.clear();
        self.left.resize(nodes.shapes().len(), 0);
        self.unreached.clear();
        for request in pass.machine.waiting.iter().map(|job| nodes.request(job.id)) {
            if self.left[number(request)] == 0 {
                self.unreached.push(request);
            }
            self.left[number(request)] += 1;
        }
        !self.has_no_room_left(nodes)
    }

    fn begin_anew(&mut self, machine: &Machine) {
        let nodes = nodes_of(machine);
        self.plan.begin(machine, nodes);
        self.reserved.clear();
        self.counts.clear();
        self.counts.resize(nodes.cluster().partitions.len(), 0);
    }

    fn is_over(&mut self, pass: &Pass<'_>, _index: Option<&ScanIndex>, _is_protected: bool, _starts: &[JobId]) -> bool {
        self.has_no_room_left(nodes_of(pass.machine))
    }

    fn count(&self) -> usize {
        self.plan.reservations().count()
    }

    fn are_all_closed(&self) -> bool {
        self.counts.iter().all(|&count| count >= self.most)
    }

    fn is_open(&self, id: JobId, machine: &Machine) -> bool {
        let mut places = nodes_of(machine).shape(id).places.iter();
        places.any(|place| self.counts[place.partition as usize] < self.most)
    }

    /// In the first partition that is open to it and in which it may start.
    fn try_start(&mut self, job: FittingJob, in_queue: bool, pass: &Pass<'_>) -> bool {
        let FittingJob { id, length, .. } = job;
        let nodes = nodes_of(pass.machine);
        let request = nodes.request(id);
        if in_queue {
            self.left[number(request)] -= 1;
        }
        if self.plan.is_roomless(request, nodes) {
            return false;
        }
        let places = nodes.shapes().get(request).places.iter().enumerate();
        let mut open = places.filter(|(_, place)| !in_queue || self.counts[place.partition as usize] < self.most);
        let (planned, class) = planned_length(id, length, pass.machine);
        let job = |at| JobAtPlace { id, request, at, length, planned, class };
        let granted = open.find_map(|(at, _)| self.plan.try_now(&job(at), nodes));
        let Some(granted) = granted else { return false };
        self.plan.start(id, length, granted, nodes);
        true
    }

    /// In the partition where it is earliest; of equals in the first.
    fn reserve(&mut self, job: &Waiting, length: Seconds, pass: &Pass<'_>) {
        let nodes = nodes_of(pass.machine);
        self.plan.note_running(pass.machine.running.iter().map(|job| (job.id, job.end)));
        let (id, request) = (job.id, nodes.request(job.id));
        self.reserved.push(id);
        let places = &nodes.shapes().get(request).places;
        let open = (0..places.len()).filter(|&at| self.counts[places[at].partition as usize] < self.most);
        let (planned, class) = planned_length(id, length, pass.machine);
        let job = |at| JobAtPlace { id, request, at, length, planned, class };
        let found = open.filter_map(|at| self.plan.first_start(&job(at), nodes));
        let Some(found) = found.min_by_key(|(planned, _)| planned.start) else { return };
        self.counts[places[found.0.asked.at].partition as usize] += 1;
        self.plan.reserve(found, nodes);
    }

    fn block(&mut self, id: JobId, machine: &Machine) {
        let places = &nodes_of(machine).shape(id).places;
        places.iter().for_each(|place| self.counts[place.partition as usize] = self.most);
    }

    fn list(&mut self, part: &[QueuePlace], pass: &Pass<'_>, jobs: &mut Vec<Waiting>) {
        let nodes = nodes_of(pass.machine);
        let waiting = part.iter().filter_map(QueuePlace::job);
        jobs.extend(waiting.filter(|job| !self.plan.is_roomless(nodes.request(job.id), nodes)));
    }

    fn limits(&mut self, _pass: &Pass<'_>) -> impl Fn(i64) -> Option<Seconds> {
        |_| unreachable!("there is no index on nodes")
    }

    fn has_reservation(&self, id: JobId) -> bool {
        self.reserved.contains(&id)
    }

    fn list_reservations(&mut self, _machine: &Machine, reserved: &mut Vec<(JobId, Time)>) {
        reserved.extend(self.plan.reservations());
    }

    fn end(&mut self, out: &mut Decisions) {
        out.grants.extend(out.starts.iter().map(|&id| self.plan.take_grant(id).unwrap_or_default()));
    }

    fn why_never(&mut self, id: JobId, machine: &Machine) -> Option<NeverStarts> {
        self.reach.why_never(id, nodes_of(machine))
    }
}
