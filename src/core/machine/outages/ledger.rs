//! What of a machine is out or reserved at the present instant, what is known of later, and how much was available so far.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{Outage, OutageKind, OutagePlan, Outages};
use crate::job::{JobId, Submission};
use crate::machine::Nodes;
use crate::request::RequestId;
use crate::time::{Seconds, Time};

/// What planning around outages needs of a job in the system.
#[derive(Clone, Copy, Debug, Default)]
pub struct JobAmidOutages {
    /// The user's estimate.
    pub estimate: Seconds,
    /// The number of its class ([`Outages::class`]).
    pub class: u32,
    /// When it started, if it runs.
    pub start: Time,
}

/// The state of the outages of a machine.
#[derive(Clone, Debug)]
pub struct OutageLedger {
    outages: Arc<Outages>,
    /// How often something was announced, began or ended.
    changes: u64,
    /// Those that are not announced yet, the next one last.
    to_come: Vec<u32>,
    /// Those that are announced and not over, in their order.
    known: Vec<u32>,
    jobs: FxHashMap<JobId, JobAmidOutages>,
    /// The processors of a pool that are out.
    out: u32,
    /// By node: how many outages it is out in. Empty on a pool.
    closed: Vec<u32>,
    /// Until when `area` counts, and the processor-seconds that were available: not out, or in use.
    since: Time,
    area: i128,
    area_of_last_end: i128,
}

impl OutageLedger {
    /// Nothing is announced yet.
    pub fn new(plan: &OutagePlan, nodes: Option<&Nodes>) -> OutageLedger {
        let outages = Arc::clone(&plan.outages);
        let mut to_come: Vec<u32> = (0..outages.list.len() as u32).collect();
        to_come.sort_by_key(|&at| std::cmp::Reverse(outages.list[at as usize].announced));
        OutageLedger {
            outages,
            changes: 0,
            to_come,
            known: Vec::new(),
            jobs: FxHashMap::default(),
            out: 0,
            closed: vec![0; nodes.map_or(0, |nodes| nodes.cluster().nodes.len())],
            since: plan.first,
            area: 0,
            area_of_last_end: 0,
        }
    }

    /// All outages.
    pub fn outages(&self) -> &Arc<Outages> {
        &self.outages
    }

    /// How often something was announced, began or ended.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// The outages that are known now and not over, in their order.
    pub fn known(&self) -> impl Iterator<Item = (u32, &Outage)> + Clone {
        self.known.iter().map(|&at| (at, &self.outages.list[at as usize]))
    }

    /// Those among them that have begun.
    pub fn present(&self, now: Time) -> impl Iterator<Item = (u32, &Outage)> + Clone {
        self.known().filter(move |(_, outage)| outage.start <= now)
    }

    /// Whether no outage is known now.
    pub fn is_quiet(&self) -> bool {
        self.known.is_empty()
    }

    /// What is known of a job in the system.
    pub fn job(&self, id: JobId) -> JobAmidOutages {
        self.jobs.get(&id).copied().unwrap_or_default()
    }

    /// The processors of a pool that are out.
    pub fn out(&self) -> u32 {
        self.out
    }

    /// Whether a node is out.
    pub fn is_closed(&self, node: u32) -> bool {
        self.closed[node as usize] > 0
    }

    /// Whether a job may not be on a node now, whatever is free there. Under Slurm it may name a maintenance too, and has that before
    /// all reservations.
    pub fn forbids(&self, id: JobId, node: u32, now: Time) -> bool {
        let class = self.job(id).class;
        let has = |outage: &Outage| outage.nodes.binary_search(&node).is_ok();
        let is_reserved = |outage: &Outage| matches!(outage.kind, OutageKind::Maintenance | OutageKind::Reserved);
        let named = &self.outages.class(class).named;
        let own = || self.present(now).filter(|(at, outage)| named.contains(at) && is_reserved(outage));
        // Under Slurm a job may start in the second in which what it names ends.
        let is_in_maintenance = named.iter().map(|&at| &self.outages.list[at as usize]).any(|outage| {
            outage.kind == OutageKind::Maintenance && (outage.start..=outage.end).contains(&now) && has(outage)
        });
        let takes = |(at, outage): (u32, &Outage)| {
            has(outage)
                && !self.outages.owns(class, at)
                && !(is_reserved(outage) && (is_in_maintenance || named.contains(&at)))
        };
        self.present(now).any(takes) || own().next().is_some() && !own().any(|(_, outage)| has(outage))
    }

    /// By how many processors more than there are a pool without the parts of outages that stop jobs is used.
    pub fn overuse(&self, procs: u32, used: i64, now: Time, stops: impl Fn(&Outage) -> bool) -> i64 {
        let stopping = self.present(now).filter(|(_, outage)| stops(outage));
        let gone: i64 = stopping.map(|(_, outage)| i64::from(outage.procs)).sum();
        used - (i64::from(procs) - gone).max(0)
    }

    /// The nodes of outages that stop jobs and begin now.
    pub fn stopping(&self, now: Time, stops: impl Fn(&Outage) -> bool) -> impl Iterator<Item = u32> {
        let begin = self.known().filter(move |(_, outage)| outage.start == now && stops(outage));
        begin.flat_map(|(_, outage)| outage.nodes.iter().copied())
    }

    /// A job arrives.
    pub fn arrive(&mut self, id: JobId, job: &Submission, request: RequestId) {
        let class = self.outages.class_of(job.user, job.group, request);
        self.jobs.insert(id, JobAmidOutages { estimate: job.estimate, class, start: 0 });
    }

    /// A job starts.
    pub fn start(&mut self, id: JobId, now: Time) {
        self.jobs.entry(id).or_default().start = now;
    }

    /// A job has left.
    pub fn leave(&mut self, id: JobId) {
        self.jobs.remove(&id);
    }

    /// Outages are announced, begin or end at this instant. `procs` are those of a pool.
    pub fn renew(&mut self, now: Time, procs: u32) {
        self.changes += 1;
        let OutageLedger { outages, to_come, known, closed, out, .. } = self;
        let outage = |at: u32| &outages.list[at as usize];
        known.retain(|&at| outage(at).end > now);
        while let Some(at) = to_come.pop_if(|at| outage(*at).announced <= now) {
            if outage(at).end > now {
                known.insert(known.partition_point(|&other| other < at), at);
            }
        }
        closed.fill(0);
        let mut gone = 0;
        for outage in known.iter().map(|&at| outage(at)).filter(|outage| outage.start <= now && outage.is_out()) {
            gone += u64::from(outage.procs);
            outage.nodes.iter().for_each(|&node| closed[node as usize] += 1);
        }
        *out = gone.min(procs.into()) as u32;
    }

    /// So many processors were available until now.
    pub fn count(&mut self, now: Time, available: i64) {
        self.area += i128::from((now - self.since).max(0)) * i128::from(available);
        self.since = self.since.max(now);
    }

    /// A job ends now, up to which all is counted.
    pub fn note_end(&mut self) {
        self.area_of_last_end = self.area;
    }

    /// The processor-seconds that were available from the first submission to the last end.
    pub fn available_area(&self) -> i128 {
        self.area_of_last_end
    }
}
