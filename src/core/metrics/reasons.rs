//! Why jobs wait: how long for want of a resource of nodes, how long because of a limit, and how long behind others.
//!
//! After each pass, each waiting job has one reason until the next pass. If a limit of its owner or of its quality of service holds
//! it, that is the reason, whatever is free: Slurm passes such a job over. If it could be placed on what is free, it is behind
//! others. Otherwise it is the first resource of nodes such that it could be placed if there were any amount of it and all else were
//! as it is; CPUs if none alone suffices.

use std::borrow::Cow;
use std::ops::Range;

use super::cell::{Cell, Cells};
use super::column::ListedColumn;
use super::measure::Measure;
use super::probe::Probe;
use super::when::When;
use crate::engine::{Event, Observer};
use crate::job::JobId;
use crate::machine::associations::LimitName;
use crate::machine::{Cluster, NodeShape, Nodes, Placement, Resource, Tres};
use crate::schedule::Machine;
use crate::time::{HOUR, Time};
use crate::trace::Workload;

/// Why a job waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitReason {
    /// Too little of a resource of nodes is free; on a pool too few processors, as which CPUs count.
    Want(Resource),
    /// A limit of its owner or of its quality of service holds it.
    Limit,
    /// It could be placed, but reservations of others or the order of the queue do not allow it.
    Behind,
    /// It does not wait but run, in vain: an outage stops it.
    InVain,
}

/// The number of reasons.
const REASONS: usize = Resource::OF_NODES.len() + 3;

impl WaitReason {
    /// All of them, in the order in which they are printed.
    pub const ALL: [WaitReason; REASONS] = {
        let mut all = [WaitReason::Behind; REASONS];
        let mut at = 0;
        while at < Resource::OF_NODES.len() {
            all[at] = WaitReason::Want(Resource::OF_NODES[at]);
            at += 1;
        }
        (all[at], all[REASONS - 1]) = (WaitReason::Limit, WaitReason::InVain);
        all
    };

    /// Its place in [`WaitReason::ALL`].
    fn place(self) -> usize {
        WaitReason::ALL.iter().position(|reason| *reason == self).expect("nodes have all resources that jobs wait for")
    }

    /// The name and the meaning of its column in CSV and JSON.
    fn column(self) -> (&'static str, &'static str) {
        match self {
            WaitReason::Want(Resource::Cpus) => {
                ("wait_hours_cpus", "job-hours of waiting for want of CPUs, on a pool of processors")
            }
            WaitReason::Want(kind) => kind.columns().waits,
            WaitReason::Limit => ("wait_hours_limit", "job-hours of waiting because of a limit"),
            WaitReason::Behind => {
                ("wait_hours_behind", "job-hours of waiting behind others, though the job could be placed")
            }
            WaitReason::InVain => (
                "wait_hours_in_vain",
                "job-hours of runs that outages stopped, which count as waiting; only with --outages",
            ),
        }
    }
}

/// How long the measured jobs of a run waited for each reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaitReasons {
    /// Job-seconds, in the order of [`WaitReason::ALL`].
    seconds: [i128; REASONS],
    /// Whether the machine has outages.
    has_outages: bool,
}

impl WaitReasons {
    /// Job-seconds.
    pub fn seconds(&self, reason: WaitReason) -> f64 {
        self.seconds[reason.place()] as f64
    }

    /// Job-hours.
    pub fn hours(&self, reason: WaitReason) -> f64 {
        self.seconds(reason) / HOUR as f64
    }

    /// Job-seconds of all reasons, which are the waits of all measured jobs.
    pub fn all_seconds(&self) -> i128 {
        self.seconds.iter().sum()
    }

    /// The share of a reason, 0 to 1. None if no job waits.
    pub fn share(&self, reason: WaitReason) -> Option<f64> {
        let all = self.all_seconds();
        (all > 0).then(|| self.seconds(reason) / all as f64)
    }

    /// The columns of reasons.
    pub fn cells(&self) -> Cells {
        let all = WaitReason::ALL.into_iter().filter(|reason| self.has_outages || *reason != WaitReason::InVain);
        all.map(|reason| (reason.column().0.to_string(), Cell::Real(self.hours(reason)))).collect()
    }

    /// The columns, for lists.
    pub fn listed() -> Vec<ListedColumn> {
        WaitReason::ALL.map(|reason| ListedColumn::other(reason.column().0, reason.column().1, When::Reasons)).to_vec()
    }
}

/// Observes why jobs wait.
#[derive(Clone, Debug)]
pub struct WaitReasonMeter {
    measured: Range<usize>,
    /// When the last pass was, and the jobs that it left waiting for each reason.
    since: Time,
    waiting: [u64; REASONS],
    sums: WaitReasons,
    known: KnownReasons,
}

/// The reasons of requests, as long as the same is free.
#[derive(Clone, Debug, Default)]
struct KnownReasons {
    /// By request.
    of_request: Vec<Option<WaitReason>>,
    is_old: bool,
    /// The free nodes with any amount of one resource: for jobs that share nodes, and for those that do not.
    plenty: [[Option<Vec<Tres>>; 2]; Resource::OF_NODES.len()],
}

impl WaitReasonMeter {
    /// For a run of this workload.
    pub fn new(workload: &Workload, measure: &Measure) -> WaitReasonMeter {
        WaitReasonMeter {
            measured: measure.jobs(workload.jobs.len()),
            since: workload.first_submit(),
            waiting: Default::default(),
            sums: WaitReasons { has_outages: workload.outages.is_some(), ..WaitReasons::default() },
            known: KnownReasons::default(),
        }
    }

    /// The sums, after the run.
    pub fn sums(&self) -> WaitReasons {
        self.sums
    }

    /// Adds up the reasons until now, and finds those after a pass. A limit holds some jobs, which are in workload order.
    fn count_waiting(&mut self, now: Time, held: &[(JobId, LimitName)], machine: &Machine) {
        let passed = i128::from(now - self.since);
        self.since = now;
        for (sum, waiting) in self.sums.seconds.iter_mut().zip(std::mem::take(&mut self.waiting)) {
            *sum += passed * i128::from(waiting);
        }
        self.known.forget_if_old();
        for job in machine.waiting.iter() {
            if self.measured.contains(&job.id.index()) {
                let reason = self.reason(job.id, job.procs, held, machine);
                self.waiting[reason.place()] += 1;
            }
        }
    }

    fn reason(&mut self, id: JobId, procs: u32, held: &[(JobId, LimitName)], machine: &Machine) -> WaitReason {
        match machine.nodes() {
            _ if held.binary_search_by_key(&id, |(held, _)| *held).is_ok() => WaitReason::Limit,
            Some(nodes) => self.known.of(id, nodes, machine),
            None if i64::from(procs) > machine.free() => WaitReason::Want(Resource::Cpus),
            None => WaitReason::Behind,
        }
    }
}

impl Probe for WaitReasonMeter {
    fn observer(&mut self) -> Option<&mut dyn Observer> {
        Some(self)
    }
}

impl Observer for WaitReasonMeter {
    fn on(&mut self, time: Time, event: &Event<'_>, machine: &Machine) {
        match event {
            Event::Begin(wants) => wants.held(),
            Event::Preemption(stop) => {
                self.known.is_old = true;
                if stop.is_requeued && self.sums.has_outages && self.measured.contains(&stop.job.id.index()) {
                    self.sums.seconds[WaitReason::InVain.place()] += i128::from(stop.ran);
                }
            }
            Event::Start(_) | Event::End(_) | Event::Outages => self.known.is_old = true,
            Event::Pass(pass) => self.count_waiting(time, pass.held, machine),
            _ => {}
        }
    }
}

/// Why a job cannot be placed on what is free, by node; [`WaitReason::Behind`] if it can.
pub fn reason_on(shape: &NodeShape, cluster: &Cluster, free: &[Tres]) -> WaitReason {
    KnownReasons::default().find(shape, cluster, free)
}

impl KnownReasons {
    fn forget_if_old(&mut self) {
        if std::mem::take(&mut self.is_old) {
            self.of_request.fill(None);
            self.plenty = Default::default();
        }
    }

    fn of(&mut self, id: JobId, nodes: &Nodes, machine: &Machine) -> WaitReason {
        let at = nodes.request(id).index().expect("every job on nodes has a request");
        if self.of_request.len() <= at {
            self.of_request.resize(nodes.shapes().len(), None);
        }
        match self.of_request[at] {
            Some(reason) => reason,
            None => {
                let mut free = Cow::Borrowed(nodes.free());
                if let Some(outages) = &machine.outages {
                    let closed = (0..nodes.cluster().nodes.len()).filter(|&node| outages.is_closed(node as u32));
                    closed.for_each(|node| free.to_mut()[node] = Tres::default());
                }
                let reason = self.find(nodes.shape(id), nodes.cluster(), &free);
                self.of_request[at] = Some(reason);
                reason
            }
        }
    }

    fn find(&mut self, shape: &NodeShape, cluster: &Cluster, free: &[Tres]) -> WaitReason {
        let places = 0..shape.places.len();
        if places.clone().any(|at| shape.fits(at, Placement::Pack, cluster, free)) {
            return WaitReason::Behind;
        }
        let mut would_fit = |(place, want): &(usize, Resource)| {
            places.clone().any(|at| {
                let is_whole = shape.places[at].whole;
                let plenty = &mut self.plenty[*place][usize::from(is_whole)];
                let plenty = plenty.get_or_insert_with(|| with_plenty(cluster, free, *want, is_whole));
                shape.fits(at, Placement::Pack, cluster, plenty)
            })
        };
        let want = Resource::OF_NODES.into_iter().enumerate().find(|want| would_fit(want));
        WaitReason::Want(want.map_or(Resource::Cpus, |(_, kind)| kind))
    }
}

/// What is free of each node, with any amount of one resource. A job that takes whole nodes needs all of an idle one: for it, no job
/// has anything of this resource.
fn with_plenty(cluster: &Cluster, free: &[Tres], of: Resource, is_whole: bool) -> Vec<Tres> {
    // The limits of partitions are limits of CPUs.
    let with = |(free, idle): (&Tres, Tres)| free.with(of, if is_whole { idle[of] } else { u64::MAX });
    free.iter().zip(cluster.resources()).map(with).collect()
}
