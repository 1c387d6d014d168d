//! The state of a machine: waiting jobs, running jobs and what is free, in the orders that policies need.

use std::ops::Deref;
use std::sync::Arc;

use super::queue::{Queue, Waiting};
use super::running::{Move, Running, RunningJobs};
use crate::job::{JobId, Submission};
use crate::machine::{Capacity, NodeGrant, NodeShare, Nodes, Outage, OutageLedger, OutagePlan, Shapes};
use crate::request::RequestId;
use crate::time::{Seconds, Time};

/// The state of a machine: the real one of a simulation, or one beside it. Everyone reads it as a [`MachineState`]. It changes
/// only by changes that are applied to it.
#[derive(Clone, Debug)]
pub struct Machine {
    state: MachineState,
    nodes: Option<Box<Nodes>>,
    inflate: f64,
    /// Whether jobs may start that need more than the free processors.
    replays: bool,
}

/// What everyone can read of a [`Machine`].
#[derive(Clone, Debug)]
pub struct MachineState {
    /// The present instant.
    pub now: Time,
    /// Its processors.
    pub capacity: Capacity,
    /// The waiting jobs in order of arrival.
    pub waiting: Queue,
    /// The running jobs in order of the end that the policy counts with, then of id.
    pub running: RunningJobs,
    /// Whether arrivals are the only events since the last pass: no job has ended or was cancelled, no prediction of an
    /// earlier waiting job has changed, and no running job counts by another end.
    pub only_arrivals: bool,
    /// What of the machine is out or reserved, and what is known of later. None: it is always whole.
    pub outages: Option<Box<OutageLedger>>,
}

impl Deref for Machine {
    type Target = MachineState;

    #[inline]
    fn deref(&self) -> &MachineState {
        &self.state
    }
}

/// A change of a machine. Ends that are counted are those in [`MachineState::running`].
#[derive(Debug)]
pub(crate) enum Change<'a> {
    /// The clock moves to this instant.
    Clock(Time),
    /// A job arrives. Its prediction follows at once.
    Arrive { id: JobId, job: &'a Submission, request: RequestId },
    /// A waiting job has this prediction.
    Predict { id: JobId, prediction: Seconds, is_first: bool },
    /// A waiting job starts. It has this of the nodes, if there are any. Its end is counted after so many seconds; None: after
    /// its predicted length.
    Start { id: JobId, grant: NodeGrant, counted: Option<Seconds> },
    /// A job runs that did not arrive here. On nodes it asks for this and has that.
    Adopt { job: Running, on_nodes: Option<(RequestId, NodeGrant)> },
    /// Running jobs are counted with other ends, each with one other at most. The list is empty afterwards.
    Recount(&'a mut Vec<Move>),
    /// A running job ends, whose end was counted then.
    End { id: JobId, counted: Time },
    /// A running job is stopped, and waits again with this prediction.
    Requeue { id: JobId, counted: Time, prediction: Seconds },
    /// A waiting job leaves.
    Cancel(JobId),
    /// Outages are announced, begin or end now.
    Outages,
    /// A pass is over.
    PassEnd,
}

/// Why a change is impossible. The machine is as before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Broken {
    /// The job.
    pub id: JobId,
    /// What of the job is wrong, as the end of a sentence.
    pub why: &'static str,
    /// The first node that does not have what the job was given.
    pub node: Option<u32>,
}

impl Broken {
    fn not_waiting(id: JobId) -> Broken {
        Broken { id, why: "it does not wait", node: None }
    }
}

impl Machine {
    /// An idle pool of processors.
    pub fn pool(procs: u32) -> Machine {
        let state = MachineState {
            now: Time::MIN,
            capacity: Capacity::pool(procs),
            waiting: Queue::default(),
            running: RunningJobs::default(),
            only_arrivals: false,
            outages: None,
        };
        Machine { state, nodes: None, inflate: 1.0, replays: false }
    }

    /// An idle machine, on nodes if there are shapes, for a scheduler that multiplies predictions by `inflate`.
    pub(crate) fn new(procs: u32, inflate: f64, shapes: Option<Arc<Shapes>>, replays: bool) -> Self {
        let nodes = shapes.map(|shapes| Box::new(Nodes::new(shapes)));
        Machine { nodes, inflate, replays, ..Machine::pool(procs) }
    }

    /// With outages, of which none is announced yet.
    pub(crate) fn with_outages(mut self, plan: &OutagePlan) -> Self {
        self.state.outages = Some(Box::new(OutageLedger::new(plan, self.nodes())));
        self
    }

    /// The processors of the machine.
    pub fn procs(&self) -> u32 {
        self.capacity.procs()
    }

    /// The idle processors; negative if a replayed log uses more than the machine has.
    pub fn free(&self) -> i64 {
        self.capacity.free()
    }

    /// The nodes, for a policy that places jobs on them.
    pub fn nodes(&self) -> Option<&Nodes> {
        self.nodes.as_deref()
    }

    /// What a job has of the nodes. Nothing on a pool, or if it waits.
    pub(crate) fn grant(&self, id: JobId) -> &[NodeShare] {
        self.nodes().map_or(&[], |nodes| nodes.grant(id))
    }

    /// The prediction that the scheduler computes with: multiplied by `inflate` and rounded to the nearest second. The
    /// factor is at least 1, so that the order of predictions does not change.
    #[inline]
    pub(crate) fn length(&self, prediction: Seconds) -> Seconds {
        if self.inflate == 1.0 {
            return prediction;
        }
        ((prediction as f64 * self.inflate + 0.5).floor() as Seconds).max(prediction)
    }

    /// Changes the machine. Nothing else does.
    // The kind of the change is known where this is called, so that only its branch is compiled there.
    #[inline(always)]
    pub(crate) fn apply(&mut self, change: Change<'_>) -> Result<(), Broken> {
        match change {
            Change::Clock(now) => self.state.now = now,
            Change::Arrive { id, job, request } => {
                if let Some(nodes) = &mut self.nodes {
                    nodes.arrive(id, request);
                }
                self.state.waiting.push(id, job.procs);
                if let Some(outages) = &mut self.state.outages {
                    outages.arrive(id, job, request);
                }
            }
            Change::Predict { id, prediction, is_first } => {
                self.state.only_arrivals &= is_first;
                let length = self.length(prediction);
                self.state.waiting.predict(id, prediction, length).ok_or_else(|| Broken::not_waiting(id))?;
            }
            Change::Start { id, grant, counted } => self.start(id, grant, counted)?,
            Change::Adopt { job, on_nodes } => self.adopt(job, on_nodes)?,
            Change::Recount(moves) => {
                self.state.only_arrivals &= moves.is_empty();
                self.state.running.change(moves);
            }
            Change::End { id, counted } => {
                self.stop(id, counted);
                self.leave(id);
                if let Some(outages) = &mut self.state.outages {
                    outages.note_end();
                }
            }
            Change::Requeue { id, counted, prediction } => {
                let (procs, length) = (self.stop(id, counted).procs, self.length(prediction));
                if let Some(nodes) = &mut self.nodes {
                    nodes.stop(id);
                }
                let arrival = self.state.waiting.arrival(id);
                self.state.waiting.insert(Waiting { id, arrival, procs, prediction, length });
            }
            Change::Cancel(id) => {
                self.state.only_arrivals = false;
                self.state.waiting.remove(id).ok_or_else(|| Broken::not_waiting(id))?;
                self.leave(id);
            }
            Change::Outages => self.renew_outages(),
            Change::PassEnd => self.state.only_arrivals = true,
        }
        Ok(())
    }

    /// [`Machine::apply`] for a change that must be possible.
    #[inline(always)]
    pub(crate) fn change(&mut self, change: Change<'_>) {
        self.apply(change).expect("the change is possible");
    }

    /// Outages are announced, begin or end now. What is out of a pool is not free.
    #[cold]
    fn renew_outages(&mut self) {
        self.count_available();
        let MachineState { now, capacity, outages, only_arrivals, .. } = &mut self.state;
        *only_arrivals = false;
        if let Some(outages) = outages {
            capacity.give(outages.out());
            outages.renew(*now, capacity.procs());
            capacity.take(outages.out());
        }
    }

    /// Counts what was available until now, if there are outages. Called before each change of it.
    #[inline]
    fn count_available(&mut self) {
        if self.state.outages.is_some() {
            self.count_available_amid_outages();
        }
    }

    /// The running jobs that stop because of outages of a kind that stops jobs, those that started last first. On a pool so many that
    /// the others fit.
    pub(crate) fn jobs_that_stop(&self, stops: impl Fn(&Outage) -> bool) -> Vec<JobId> {
        let Some(outages) = &self.outages else { return Vec::new() };
        let mut running: Vec<_> = self.running.iter().map(|job| (job.id, i64::from(job.procs))).collect();
        let place = |id: JobId| std::cmp::Reverse((outages.job(id).start, self.waiting.arrival(id)));
        if self.nodes().is_some() {
            let nodes: Vec<u32> = outages.stopping(self.now, stops).collect();
            let is_hit = |id: JobId| self.grant(id).iter().any(|share| nodes.contains(&share.node));
            running.retain(|(id, _)| is_hit(*id));
            running.sort_by_key(|(id, _)| place(*id));
            return running.into_iter().map(|(id, _)| id).collect();
        }
        let used = running.iter().map(|(_, procs)| procs).sum();
        let mut over = outages.overuse(self.procs(), used, self.now, stops);
        if over <= 0 {
            return Vec::new();
        }
        running.sort_by_key(|(id, _)| place(*id));
        let stopped = running.into_iter().take_while(|(_, procs)| {
            let stops = over > 0;
            over -= procs;
            stops
        });
        stopped.map(|(id, _)| id).collect()
    }

    /// A job is to start. None of its nodes may be out or kept for others.
    #[inline(never)]
    fn start_amid_outages(&mut self, id: JobId, grant: &[NodeShare]) -> Result<(), Broken> {
        self.count_available_amid_outages();
        let now = self.state.now;
        let Some(outages) = &mut self.state.outages else { return Ok(()) };
        outages.start(id, now);
        let forbidden = grant.iter().find(|share| outages.forbids(id, share.node, now));
        let why = "it may not use a node now";
        forbidden.map_or(Ok(()), |share| Err(Broken { id, why, node: Some(share.node) }))
    }

    #[inline(never)]
    fn count_available_amid_outages(&mut self) {
        let MachineState { now, capacity, outages, .. } = &mut self.state;
        let Some(outages) = outages else { return };
        let all = i64::from(capacity.procs());
        let available = match &self.nodes {
            None => all - i64::from(outages.out()) + (-capacity.free()).max(0),
            Some(nodes) => {
                let closed = (0..nodes.cluster().nodes.len()).filter(|&node| outages.is_closed(node as u32));
                all - closed.map(|node| i64::from(nodes.free()[node].cpus())).sum::<i64>()
            }
        };
        outages.count(*now, available);
    }

    #[inline]
    fn start(&mut self, id: JobId, grant: NodeGrant, counted: Option<Seconds>) -> Result<(), Broken> {
        if self.state.outages.is_some() {
            self.start_amid_outages(id, &grant)?;
        }
        let MachineState { now, capacity, waiting, running, only_arrivals, .. } = &mut self.state;
        *only_arrivals = false;
        let job = waiting.remove(id).ok_or_else(|| Broken::not_waiting(id))?;
        let fits = match &mut self.nodes {
            // What it is placed with counts, which may be another number than its processors in the log.
            Some(nodes) => start_on(nodes, id, grant),
            None if self.replays || capacity.fits(job.procs) => Ok(()),
            None => Err(Broken { id, why: "it does not fit the free processors", node: None }),
        };
        if fits.is_err() {
            waiting.insert(job);
            return fits;
        }
        capacity.take(job.procs);
        running.insert(Running { id, procs: job.procs, end: *now + counted.unwrap_or(job.length) });
        Ok(())
    }

    fn adopt(&mut self, job: Running, on_nodes: Option<(RequestId, NodeGrant)>) -> Result<(), Broken> {
        if let (Some(nodes), Some((request, grant))) = (&mut self.nodes, on_nodes) {
            nodes.arrive(job.id, request);
            start_on(nodes, job.id, grant)?;
        }
        self.state.capacity.take(job.procs);
        self.state.running.insert(job);
        Ok(())
    }

    /// A running job runs no more. Returns it.
    #[inline]
    fn stop(&mut self, id: JobId, counted: Time) -> Running {
        self.count_available();
        self.state.only_arrivals = false;
        let job = self.state.running.remove(counted, id);
        self.state.capacity.give(job.procs);
        job
    }

    /// A job leaves the system. What it had of the nodes is free again.
    #[inline]
    fn leave(&mut self, id: JobId) {
        if let Some(nodes) = &mut self.nodes {
            nodes.leave(id);
        }
        if let Some(outages) = &mut self.state.outages {
            outages.leave(id);
        }
    }
}

/// A job starts on nodes, if they have what it is given and that is what it asks for.
fn start_on(nodes: &mut Nodes, id: JobId, grant: NodeGrant) -> Result<(), Broken> {
    nodes.shape(id).check(&grant, nodes.cluster(), nodes.free()).map_err(|why| {
        let lacks = |share: &&NodeShare| !nodes.free()[share.node as usize].holds(&share.what);
        Broken { id, why, node: grant.iter().find(lacks).map(|share| share.node) }
    })?;
    nodes.start(id, grant);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{JobClass, Outage, OutageKind, Outages, Tres, parse_toml};
    use crate::request::{Request, Requests};

    /// A machine on which two jobs of two processors wait.
    fn with_two_jobs(mut machine: Machine, request: RequestId) -> Machine {
        for id in [JobId(0), JobId(1)] {
            machine.change(Change::Arrive { id, job: &Submission::new(0, 2, 10), request });
            machine.change(Change::Predict { id, prediction: 10, is_first: true });
        }
        machine
    }

    #[test]
    fn what_is_impossible_is_refused_and_changes_nothing() {
        let mut machine = with_two_jobs(Machine::pool(3), RequestId::NONE);
        machine.change(Change::Clock(5));
        let start = |machine: &mut Machine, id| {
            machine.apply(Change::Start { id: JobId(id), grant: Vec::new(), counted: None })
        };
        let broken = |id, why| Err(Broken { id: JobId(id), why, node: None });
        assert_eq!(start(&mut machine, 0), Ok(()));
        assert_eq!(start(&mut machine, 0), broken(0, "it does not wait"));
        assert_eq!(start(&mut machine, 1), broken(1, "it does not fit the free processors"));
        assert_eq!(machine.apply(Change::Cancel(JobId(0))), broken(0, "it does not wait"));
        let ends: Vec<_> = machine.running.iter().map(|job| (job.id, job.end)).collect();
        assert_eq!((machine.free(), machine.waiting.len(), ends), (1, 1, vec![(JobId(0), 15)]));
        machine.change(Change::End { id: JobId(0), counted: 15 });
        assert_eq!(start(&mut machine, 1), Ok(()));
    }

    #[test]
    fn the_node_is_named_that_does_not_have_what_a_job_is_given() {
        let cluster = parse_toml("[[nodes]]\nname = \"n[1-3]\"\ncpus = 2").unwrap();
        let mut requests = Requests::default();
        let request = requests.intern(Request { cpus: 2, ..Request::default() });
        let shapes = Some(Arc::new(Shapes::new(Arc::new(cluster), &requests)));
        let mut machine = with_two_jobs(Machine::new(6, 1.0, shapes, false), request);
        let free = |machine: &Machine| -> Vec<u32> {
            machine.nodes().unwrap().free()[..3].iter().map(|free| free.cpus()).collect()
        };
        let start = |machine: &mut Machine, id, nodes: &[u32]| {
            let share = |&node: &u32| NodeShare::new(node, Tres::on_node(2, 0));
            machine.apply(Change::Start { id: JobId(id), grant: nodes.iter().map(share).collect(), counted: None })
        };
        assert_eq!(start(&mut machine, 0, &[2]), Ok(()));
        let why = "its nodes do not have what it was given";
        assert_eq!(start(&mut machine, 1, &[1, 2]), Err(Broken { id: JobId(1), why, node: Some(2) }));
        let why = "it was given nothing";
        assert_eq!(start(&mut machine, 1, &[]), Err(Broken { id: JobId(1), why, node: None }));
        assert_eq!((free(&machine), machine.waiting.len()), (vec![2, 2, 0], 1));
        assert_eq!(start(&mut machine, 1, &[1]), Ok(()));
        assert_eq!(free(&machine), [2, 0, 0]);
    }

    #[test]
    fn a_node_that_is_out_takes_no_job() {
        let cluster = parse_toml("[[nodes]]\nname = \"n[1-2]\"\ncpus = 2").unwrap();
        let mut requests = Requests::default();
        let request = requests.intern(Request { cpus: 2, ..Request::default() });
        let shapes = Some(Arc::new(Shapes::new(Arc::new(cluster), &requests)));
        let outage = Outage {
            start: 5,
            end: 9,
            announced: 5,
            kind: OutageKind::Drain,
            procs: 2,
            nodes: vec![1],
            name: String::new(),
            place: String::new(),
        };
        let outages = Arc::new(Outages::new(vec![outage], false, std::iter::empty(), |_, _, _| JobClass::default()));
        let machine = Machine::new(4, 1.0, shapes, false).with_outages(&OutagePlan { outages, first: 0 });
        let mut machine = with_two_jobs(machine, request);
        let mut start_at = |now, id| {
            machine.change(Change::Clock(now));
            machine.change(Change::Outages);
            let grant = vec![NodeShare::new(1, Tres::on_node(2, 0))];
            machine.apply(Change::Start { id: JobId(id), grant, counted: None })
        };
        let forbidden = Err(Broken { id: JobId(0), why: "it may not use a node now", node: Some(1) });
        assert_eq!([5, 8].map(|now| start_at(now, 0)), [forbidden, forbidden]);
        assert_eq!(start_at(9, 0), Ok(()));
    }
}
