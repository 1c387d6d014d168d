//! One pass of the program: what is still free, which jobs have started in it, and whether its answers are allowed.

use rustc_hash::FxHashSet;

use super::news::{Free, News};
use super::protocol::AskedStart;
use crate::job::JobId;
use crate::machine::{Capacity, NodeGrant, Placement, Tres, take};
use crate::program::json;
use crate::schedule::machine::Machine;
use crate::schedule::queue::Waiting;
use crate::text::{counted, shortened};
use crate::time::Time;

/// What is left of the machine and of the queue during a pass.
pub struct Turn {
    placement: Placement,
    /// The instant of the pass.
    pub now: Time,
    capacity: Capacity,
    /// By node. Empty on a pool of processors.
    free: Vec<Tres>,
    started: FxHashSet<JobId>,
    /// Scratch: the jobs of an order.
    named: FxHashSet<JobId>,
}

impl Turn {
    pub fn new(placement: Placement) -> Turn {
        let (now, capacity, free) = (0, Capacity::pool(0), Vec::new());
        Turn { placement, now, capacity, free, started: FxHashSet::default(), named: FxHashSet::default() }
    }

    pub fn begin(&mut self, machine: &Machine) {
        (self.now, self.capacity) = (machine.now, machine.capacity);
        self.started.clear();
        self.free.clear();
        if let Some(nodes) = machine.nodes() {
            self.free.extend_from_slice(nodes.free());
            let is_out = |node: usize| machine.outages.as_ref().is_some_and(|outages| outages.is_closed(node as u32));
            let closed = (0..nodes.cluster().nodes.len()).filter(|&node| is_out(node));
            closed.for_each(|node| self.free[node] = Tres::default());
        }
    }

    /// Whether the program could start anything: a job waits, and a pool has free processors.
    pub fn is_open(&self, machine: &Machine) -> bool {
        self.started.len() < machine.waiting.len() && (machine.nodes().is_some() || self.capacity.free() > 0)
    }

    pub fn free<'a>(&'a self, machine: &'a Machine) -> Free<'a> {
        match machine.nodes() {
            None => Free::Processors(self.capacity.free()),
            Some(nodes) => Free::Nodes(nodes.cluster(), &self.free),
        }
    }

    /// A waiting job by its id in a line.
    pub fn waiting<'a>(&self, id: &str, machine: &'a Machine, news: &News) -> Result<&'a Waiting, String> {
        let Some(arrival) = json::arrival(id).filter(|&arrival| news.has_arrived(arrival)) else {
            return Err(format!("no job with the id '{}' has arrived", shortened(id)));
        };
        match machine.waiting.arrived(arrival) {
            None => Err(format!("{} does not wait", news.in_words(arrival))),
            Some(job) if self.started.contains(&job.id) => Err(format!("{} is started twice", news.in_words(arrival))),
            Some(job) => Ok(job),
        }
    }

    /// Starts a job, if it may start. On nodes it has a grant.
    pub fn start(
        &mut self,
        asked: &AskedStart<'_>,
        machine: &Machine,
        news: &News,
    ) -> Result<(JobId, Option<NodeGrant>), String> {
        let job = self.waiting(&asked.id, machine, news)?;
        // On nodes it counts what the job is placed with.
        if machine.nodes().is_none() && !self.capacity.fits(job.procs) {
            let (needed, free) = (counted(job.procs.into(), "processor"), self.capacity.free());
            return Err(format!("{} needs {needed}, but {free} are free", news.in_words(job.arrival)));
        }
        let grant =
            self.grant(job.id, asked, machine).map_err(|why| format!("{} {why}", news.in_words(job.arrival)))?;
        self.capacity.take(job.procs);
        grant.iter().for_each(|grant| take(&mut self.free, grant));
        self.started.insert(job.id);
        Ok((job.id, grant))
    }

    fn grant(&self, id: JobId, asked: &AskedStart<'_>, machine: &Machine) -> Result<Option<NodeGrant>, String> {
        let Some(nodes) = machine.nodes() else {
            return match asked.nodes {
                None => Ok(None),
                Some(_) => Err("is started on nodes, but the machine has none".to_string()),
            };
        };
        let (shape, cluster) = (nodes.shape(id), nodes.cluster());
        let Some(named) = &asked.nodes else {
            let mut places = 0..shape.places.len();
            let placed = places.find_map(|at| shape.place(at, self.placement, cluster, &self.free, |_| false));
            return placed.map(Some).ok_or_else(|| "does not fit what is free on the nodes".to_string());
        };
        let mut cpus = Vec::with_capacity(named.len());
        for (name, count) in named {
            let node = cluster.nodes.iter().position(|node| node.name == *name);
            let node =
                node.ok_or_else(|| format!("is started on the node '{}', which does not exist", shortened(name)))?;
            cpus.push((node as u32, *count));
        }
        let grant = shape.grant_of(&cpus, cluster, &self.free);
        grant.map(Some).map_err(|why| format!("is started on {}, but {why}", counted(cpus.len() as u64, "node")))
    }

    /// The jobs of an order, each once.
    pub fn order(&mut self, ids: &[json::Text<'_>], machine: &Machine, news: &News) -> Result<Vec<JobId>, String> {
        self.named.clear();
        let mut order = Vec::with_capacity(ids.len());
        for json::Text(id) in ids {
            let job = self.waiting(id, machine, news)?;
            if !self.named.insert(job.id) {
                return Err(format!("{} is named twice", news.in_words(job.arrival)));
            }
            order.push(job.id);
        }
        Ok(order)
    }
}
