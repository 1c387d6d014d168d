//! The scheduler of Slurm: a main pass that starts jobs in the order of the queue, and a backfill pass, less often, that
//! reserves processors for jobs and starts those that delay no reservation.
//!
//! It does what version 22.05 of the daemon does on one partition of nodes with one processor each: `processors` is how
//! nodes are chosen, `releases` how the end of running jobs is expected, `space` what reservations leave, `backfill` one
//! backfill pass, `clock` when passes come.
//!
#![cfg_attr(doc, doc = include_str!("../../../cli/help/slurm.md"))]

mod backfill;
mod bits;
mod clock;
pub mod conf;
mod keys;
mod last_passes;
mod never;
pub mod nodes;
mod on_nodes;
mod priority;
mod processors;
mod ranking;
mod releases;
mod returning;
mod runs;
mod settings;
mod shares;
mod space;
mod standing;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::accounts::LogFacts;
use super::arrivals::ById;
use super::machine::Machine;
use super::on_nodes::PlacedPool;
use super::policy::{Asked, Decisions, Policy, PolicyEvent, Scheduler};
use super::rules::Counting;
use crate::job::{JobId, Submission};
use crate::machine::{Cluster, Placement, PreemptMode, Shapes};
use crate::spec::{Key, Spec};
use crate::time::{Seconds, Time};

use backfill::{Backfill, JobPlan, PendingJob};
use clock::{PassTimes, in_whole_minutes, rest};
use keys::ON_NODES;
use nodes::SlurmParameters;
use on_nodes::SlurmOnNodes;
use priority::Priorities;
use ranking::PriorityRanking;
use releases::{Release, Releases};
use settings::Settings;
use space::Space;

pub(super) use settings::{FORM, idle_key};

/// The scheduler of a spec. The users or groups of the log have shares.
pub(super) fn build(spec: &Spec, log: &LogFacts<'_>) -> Scheduler {
    let settings = Settings::of(spec);
    let on_pool = |settings| Scheduler { answers: true, ..Scheduler::new(Slurm::new(settings, log)) };
    match log.shapes() {
        None => on_pool(settings),
        // The same passes, much faster.
        Some(shapes) if log.knows_jobs() && is_as_a_pool(spec, shapes) => {
            PlacedPool::scheduler(on_pool(settings), shapes, Placement::default())
        }
        Some(shapes) => {
            let preempts = settings.parameters.preempt != PreemptMode::Off;
            let policy = SlurmOnNodes::new(settings, shapes, log);
            Scheduler { shapes: Some(Arc::clone(shapes)), preempts, answers: true, ..Scheduler::new(policy) }
        }
    }
}

/// Whether the passes on nodes are those on a pool of processors. Priorities are not: on nodes they are recalculated from time to
/// time, and fair share is that of accounts.
fn is_as_a_pool(spec: &Spec, shapes: &Shapes) -> bool {
    let acts_on_nodes = |key: &&Key| key.about.ends_with(ON_NODES) && key.name != "enforce_limits";
    let mut keys = FORM.keys.iter().filter(acts_on_nodes);
    let Cluster { nodes, partitions, associations, .. } = &**shapes.cluster();
    spec.text("order") == "fcfs"
        && keys.all(|key| spec.text(key.name) == key.default)
        && shapes.is_pool()
        && associations.is_empty()
        && nodes.iter().all(|node| node.has.cpus() == 1)
        && partitions.iter().all(|partition| partition.max_time.is_none())
        && shapes.all_asked().iter().all(|request| request.nice == 0 && request.cpus_per_task <= 1)
}

/// A main pass lines up this many jobs first, and then more and more: it often stops at the first one.
const FIRST_PORTION: usize = 8;

/// The scheduler.
struct Slurm {
    settings: Settings,
    /// The Unix time of the instant 0.
    unix_start: Time,
    nodes: PoolState,
    /// None if the queue is in order of arrival.
    priorities: Option<Priorities>,
    /// The waiting jobs in the order of their priorities. Empty without them.
    ranking: PriorityRanking,
    submissions: ById<Submission>,
    times: PassTimes,
    /// The last main pass stopped at its depth: a pass without limit may start more jobs.
    is_cut_off: bool,
    /// The first instant at which a backfill pass may start a job. `Time::MAX` if only an event can change that.
    revisit: Time,
    /// Scratch: the jobs that a pass looks at, in the order of the queue.
    queue: Vec<PendingJob>,
}

/// The processors and what runs on them.
#[derive(Clone)]
struct PoolState {
    releases: Releases,
    /// Memory for the reservations of a pass.
    space: Space,
}

impl PoolState {
    /// Idle processors, of which reservations are rounded to `resolution` seconds.
    fn new(procs: u32, resolution: Seconds) -> PoolState {
        PoolState { releases: Releases::new(procs), space: Space::new(procs, resolution) }
    }
}

impl Slurm {
    fn new(settings: Settings, log: &LogFacts<'_>) -> Slurm {
        Slurm {
            unix_start: 0,
            // Made for the machine when the simulation begins.
            nodes: PoolState::new(0, settings.parameters.resolution),
            priorities: settings.weights.clone().map(|weights| Priorities::new(weights, &log.accounts())),
            ranking: PriorityRanking::default(),
            submissions: ById::default(),
            times: PassTimes::new(&settings),
            is_cut_off: false,
            revisit: Time::MAX,
            queue: Vec::new(),
            settings,
        }
    }

    /// Puts the first `most` waiting jobs into `queue`, in the order of the queue. Jobs of `starts` do not wait any more.
    fn line_up(&mut self, view: &Machine, starts: &[JobId], most: usize) {
        let Slurm { settings, submissions, queue, ranking, .. } = self;
        let candidate = |id: JobId, length: &dyn Fn() -> Seconds| {
            let job = submissions.get(id);
            let limit = match settings.counting {
                Counting::Estimate => in_whole_minutes(job.estimate),
                Counting::Prediction => length(),
            };
            PendingJob { id, procs: job.procs, limit }
        };
        queue.clear();
        let Some(priorities) = &mut self.priorities else {
            // Few jobs start at one instant, so the list is short.
            let waiting = view.waiting.iter().filter(|job| !starts.contains(&job.id));
            queue.extend(waiting.take(most).map(|job| candidate(job.id, &|| job.length)));
            return;
        };
        priorities.count_until(view.now);
        let first = ranking.first(most, priorities, view.procs(), view.now).iter();
        let length = |id| view.waiting.get(id).map_or(1, |job| job.length);
        queue.extend(first.map(|job| candidate(job.id, &|| length(job.id))));
    }

    /// Jobs start in the order of the queue, until one does not fit.
    fn main_pass(&mut self, view: &Machine, depth: usize, starts: &mut Vec<JobId>) {
        self.is_cut_off = false;
        let (mut left, mut portion) = (depth, FIRST_PORTION);
        while left > 0 {
            let most = portion.min(left);
            self.line_up(view, starts, most);
            let queue = std::mem::take(&mut self.queue);
            let has_stopped = !queue.iter().all(|job| self.start_if_fits(job, view.now, starts)) || queue.len() < most;
            self.queue = queue;
            if has_stopped {
                return;
            }
            (left, portion) = (left - most, portion.saturating_mul(4));
        }
        self.is_cut_off = true;
    }

    /// Starts a job if enough processors are idle. Returns whether that is so.
    fn start_if_fits(&mut self, job: &PendingJob, now: Time, starts: &mut Vec<JobId>) -> bool {
        let &PendingJob { id, procs, limit } = job;
        let releases = &mut self.nodes.releases;
        if procs > releases.idle_count() {
            return false;
        }
        let share = releases.idle().choose(procs);
        releases.start(Release { id, end: now + self.unix_start + limit, procs, share });
        self.start(id, now, starts);
        true
    }

    fn start(&mut self, id: JobId, now: Time, starts: &mut Vec<JobId>) {
        starts.push(id);
        (self.revisit, self.times.last_event) = (now, now);
        let job = *self.submissions.get(id);
        if let Some(priorities) = &mut self.priorities {
            priorities.on_start(id, &job, now);
            self.ranking.remove(id);
        }
    }

    /// Puts the jobs that a backfill pass looks at into `queue`.
    fn list_candidates(&mut self, view: &Machine, starts: &[JobId]) {
        let SlurmParameters { most_tried: depth, most_per_user, .. } = self.settings.parameters;
        let mut portion = depth;
        loop {
            self.line_up(view, starts, portion);
            if most_per_user == 0 {
                return;
            }
            let is_all = self.queue.len() < portion;
            let mut per_user: BTreeMap<i32, usize> = BTreeMap::new();
            self.queue.retain(|job| {
                let count = per_user.entry(self.submissions.get(job.id).user).or_default();
                *count += 1;
                *count <= most_per_user
            });
            self.queue.truncate(depth);
            if is_all || self.queue.len() == depth {
                return;
            }
            portion = portion.saturating_mul(4);
        }
    }

    fn backfill_pass(&mut self, view: &Machine, starts: &mut Vec<JobId>) {
        self.revisit = Time::MAX;
        let idle = self.nodes.releases.idle_count();
        if view.waiting.iter().all(|job| job.procs > idle) {
            // No job fits the idle processors. Only an event can change that.
            return;
        }
        if self.priorities.is_some() {
            // Priorities change with time, and with them the order of the queue.
            self.revisit = view.now;
        }
        self.list_candidates(view, starts);
        let PoolState { releases, space } = &mut self.nodes;
        let mut pass = Backfill::new(view.now + self.unix_start, &self.settings.parameters, releases, space);
        let mut started = Vec::new();
        pass.start_jobs(&self.queue, |job| started.push(job.id));
        if pass.revisit() < Time::MAX {
            self.revisit = self.revisit.min(pass.revisit() - self.unix_start);
        }
        if self.revisit < Time::MAX {
            self.revisit = self.revisit.max(view.now + rest(view.now, self.times.last_event));
        }
        started.into_iter().for_each(|id| self.start(id, view.now, starts));
    }

    /// Forgets the jobs before the first one that waits.
    fn forget(&mut self, view: &Machine, starts: &[JobId]) {
        let first = view.waiting.iter().find(|job| !starts.contains(&job.id));
        self.submissions.forget_before(first.map(|job| job.id));
    }
}

impl Slurm {
    fn pass(&mut self, view: &Machine, starts: &mut Vec<JobId>) {
        let now = view.now;
        let is_by_predictions = self.settings.counting == Counting::Prediction;
        let has_event = self.times.begin(now, !view.waiting.is_empty());
        if has_event || is_by_predictions && !view.only_arrivals {
            self.revisit = now;
        }
        let main = self.times.main.due(now);
        let backfills = self.times.backfill.is_due(now) && self.revisit <= now;
        if is_by_predictions && (main.is_some() || backfills) {
            self.nodes.releases.set_ends(&view.running, self.unix_start);
        }
        if let Some(is_full) = main {
            self.main_pass(view, if is_full { usize::MAX } else { self.settings.parameters.depth }, starts);
            self.times.main.on_pass(now);
        }
        if self.times.backfill.is_due(now) && starts.len() < view.waiting.len() {
            if self.revisit <= now {
                self.backfill_pass(view, starts);
                self.times.last_backfill = Some(now);
            }
            self.times.backfill.on_pass(now);
        }
        self.times.end(now, starts.len() < view.waiting.len());
        self.forget(view, starts);
    }

    fn reservations(&mut self, view: &Machine, most: usize, reserved: &mut Vec<(JobId, Time)>) {
        // Reservations are made by backfill passes alone.
        if self.times.last_backfill != Some(view.now) || view.waiting.is_empty() {
            return;
        }
        self.list_candidates(view, &[]);
        let PoolState { mut releases, mut space } = self.nodes.clone();
        if self.settings.counting == Counting::Prediction {
            releases.set_ends(&view.running, self.unix_start);
        }
        let mut pass = Backfill::new(view.now + self.unix_start, &self.settings.parameters, &mut releases, &mut space);
        for job in self.queue.iter().take(most) {
            if let JobPlan::Reserved(start) = pass.plan(job) {
                reserved.push((job.id, start - self.unix_start));
            }
        }
    }

    fn on_arrival(&mut self, id: JobId, job: &Submission) {
        self.times.has_event = true;
        self.submissions.push(id, *job);
        if let Some(priorities) = &mut self.priorities {
            priorities.on_arrival(job);
            self.ranking.on_arrival(id, job);
        }
    }

    fn on_end(&mut self, id: JobId, now: Time) {
        self.times.has_event = true;
        self.nodes.releases.end(id);
        if let Some(priorities) = &mut self.priorities {
            priorities.on_end(id, now);
        }
    }
}

impl Policy for Slurm {
    fn decide(&mut self, machine: &Machine, out: &mut Decisions) {
        match out.asked {
            Asked::Pass => self.pass(machine, &mut out.starts),
            Asked::Reservations(most) => self.reservations(machine, most, &mut out.reserved),
            _ => {}
        }
    }

    fn on(&mut self, event: &PolicyEvent<'_>, machine: &Machine) {
        match *event {
            PolicyEvent::Begin(facts) => {
                self.unix_start = facts.unix_start;
                self.nodes = PoolState::new(machine.procs(), self.settings.parameters.resolution);
            }
            PolicyEvent::Arrival { id, job, .. } => self.on_arrival(id, job),
            PolicyEvent::End(id) => self.on_end(id, machine.now),
            PolicyEvent::Cancellation(job) => {
                self.times.has_event = true;
                self.ranking.remove(job.id);
            }
            _ => {}
        }
    }

    fn wake(&self) -> Option<Time> {
        let PassTimes { main, backfill, now, last_event, is_waiting, .. } = &self.times;
        let backfill = if self.revisit == Time::MAX { None } else { backfill.first_from(self.revisit) };
        let is_needed = self.is_cut_off || self.priorities.is_some();
        let main = main.next(*now, is_needed, rest(*now, *last_event));
        // Without a waiting job no pass has an effect.
        [backfill, main].into_iter().flatten().min().filter(|_| *is_waiting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::parse_toml;
    use crate::request::{Request, Requests};
    use crate::schedule::catalog;

    #[test]
    fn nodes_of_one_cpu_are_a_pool_unless_a_key_or_a_job_says_more() {
        let is_pool = |keys: &str, machine: &str, request: Request| {
            let cluster = Arc::new(parse_toml(&format!("[[nodes]]\nname = \"n[1-4]\"\ncpus = 1\n{machine}")).unwrap());
            let mut requests = Requests::default();
            let id = requests.intern(Request { cpus: 2, ..request });
            let mut shapes = Shapes::new(cluster, &requests);
            shapes.note_jobs([(id, 2)].into_iter());
            is_as_a_pool(&catalog::parse(&format!("slurm{keys}")).unwrap(), &shapes)
        };
        let plain = Request::default;
        assert!(is_pool("", "", plain()));
        assert!(is_pool(":bf_interval=1m,running=prediction,enforce_limits=no", "", plain()));
        for keys in ["order=multifactor", "epilog=30s", "bf_max_job_part=3", "preempt=requeue", "partition_job_depth=2"]
        {
            assert!(!is_pool(&format!(":{keys}"), "", plain()), "{keys}");
        }
        assert!(!is_pool("", "[[partitions]]\nname = \"p\"\nnodes = \"ALL\"\nmax_time = \"1h\"\n", plain()));
        assert!(!is_pool("", "", Request { nice: 5, ..plain() }));
        assert!(!is_pool("", "", Request { cpus_per_task: 2, ..plain() }));
    }
}
