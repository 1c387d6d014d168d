//! Outages against a slow twin, which is written by the words of the definition: worked examples, and random machines, logs and
//! outages.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use shadowtime::engine::{EngineOptions, Event, Named, Observer, RunRecord, Simulation};
use shadowtime::experiment::Setting;
use shadowtime::job::{Job, JobId, Submission};
use shadowtime::machine::{Cluster, JobClass, Outage, OutageKind, Outages};
use shadowtime::predict::{Board, Predictor};
use shadowtime::request::{Request, Requests};
use shadowtime::schedule::Machine;
use shadowtime::time::Time;
use shadowtime::trace::{LogNames, PartitionMap, RunFacts, Unit, Workload, put_on_cluster};

use crate::random::{check, fewer};
use crate::random_nodes::{node, partition};
use crate::support::{facts, run_with, starts, workload};

const NEVER: i64 = i64::MAX;

/// A job as the twin sees it.
#[derive(Clone, Debug)]
pub(crate) struct TwinJob {
    pub(crate) submit: i64,
    pub(crate) run: i64,
    pub(crate) procs: i64,
    pub(crate) estimate: i64,
    pub(crate) prediction: i64,
    pub(crate) user: i32,
    /// Its number of nodes; 0 if it does not say.
    pub(crate) nodes: i64,
    /// The name of a reservation, or empty.
    pub(crate) reservation: &'static str,
    pub(crate) arrival: (i64, usize),
    pub(crate) start: Option<i64>,
    pub(crate) end: Option<i64>,
    pub(crate) got: BTreeMap<usize, i64>,
    pub(crate) misses: usize,
    pub(crate) requeues: u32,
    pub(crate) lost: i64,
    pub(crate) is_failed: bool,
}

impl TwinJob {
    fn planned(&self) -> i64 {
        self.estimate.max(self.prediction)
    }

    fn owns(&self, outage: &TwinOutage) -> bool {
        outage.kind == OutageKind::Reserved && (outage.user == self.user || self.names(outage))
    }

    pub(crate) fn names(&self, outage: &TwinOutage) -> bool {
        !self.reservation.is_empty() && outage.name == self.reservation
    }
}

#[derive(Clone, Debug)]
pub(crate) struct TwinOutage {
    pub(crate) start: i64,
    pub(crate) end: i64,
    pub(crate) announced: i64,
    pub(crate) kind: OutageKind,
    pub(crate) procs: i64,
    pub(crate) nodes: Vec<usize>,
    pub(crate) user: i32,
    pub(crate) name: &'static str,
}

impl TwinOutage {
    pub(crate) fn of(kind: OutageKind, procs: i64, start: i64, end: i64, announced: i64) -> TwinOutage {
        TwinOutage { start, end, announced, kind, procs, nodes: Vec::new(), user: i32::MIN, name: "" }
    }

    fn is_hard(&self) -> bool {
        self.kind != OutageKind::Drain
    }

    fn stops(&self) -> bool {
        matches!(self.kind, OutageKind::Down | OutageKind::Maintenance)
    }

    fn known_end(&self) -> i64 {
        let is_planned = matches!(self.kind, OutageKind::Maintenance | OutageKind::Reserved);
        if is_planned || self.announced < self.start { self.end } else { NEVER }
    }

    fn is_planned_at(&self, time: i64) -> bool {
        self.start <= time && time < self.known_end()
    }
}

/// A job that is on the machine, now or in a plan.
#[derive(Clone)]
struct There {
    job: usize,
    got: BTreeMap<usize, i64>,
    end: i64,
    planned_end: i64,
}

struct Twin {
    procs: i64,
    /// Empty on a pool.
    cpus: Vec<i64>,
    jobs: Vec<TwinJob>,
    outages: Vec<TwinOutage>,
    kills: bool,
    now: i64,
    running: Vec<usize>,
    /// When the first of the queue was promised to start, by job: the earliest.
    promises: Vec<(usize, i64)>,
}

type Plan = Vec<(i64, usize)>;

impl Twin {
    fn there(&self, job: usize, start: i64, got: BTreeMap<usize, i64>) -> There {
        let one = &self.jobs[job];
        There { job, got, end: start + one.prediction, planned_end: start + one.planned() }
    }

    fn all_there(&self) -> Vec<There> {
        self.running.iter().map(|&at| self.there(at, self.jobs[at].start.unwrap(), self.jobs[at].got.clone())).collect()
    }

    fn known(&self) -> Vec<&TwinOutage> {
        self.outages.iter().filter(|outage| outage.announced <= self.now && self.now < outage.end).collect()
    }

    /// Processors of a pool that are out, used, or kept for reservations that are not those of a job.
    fn need(&self, there: &[There], time: i64, known: &[&TwinOutage], job: usize, drains: bool) -> i64 {
        let on: Vec<&TwinOutage> = known.iter().copied().filter(|outage| outage.is_planned_at(time)).collect();
        let counts = |outage: &&&TwinOutage| outage.stops() || drains && outage.kind == OutageKind::Drain;
        let mut total = on.iter().filter(counts).map(|outage| outage.procs).sum::<i64>().min(self.procs);
        let mine = |job: usize| on.iter().position(|outage| self.jobs[job].owns(outage));
        let used = |part: Option<usize>| -> i64 {
            there.iter().filter(|one| mine(one.job) == part).map(|one| self.jobs[one.job].procs).sum()
        };
        let mut left = self.procs - total;
        for (at, outage) in on.iter().enumerate().filter(|(_, outage)| outage.kind == OutageKind::Reserved) {
            let kept = outage.procs.min(left);
            left -= kept;
            total += used(Some(at)).max(if mine(job) == Some(at) { 0 } else { kept });
        }
        total + used(None)
    }

    fn place_on_pool(&self, there: &[There], job: usize, start: i64, known: &[&TwinOutage]) -> bool {
        let me = self.there(job, start, BTreeMap::new());
        let with: Vec<There> = there.iter().cloned().chain([me.clone()]).collect();
        if self.need(&with, start, known, job, true) > self.procs {
            return false;
        }
        let ahead = known.iter().filter(|one| one.is_hard() && start < one.start && one.start < me.planned_end);
        for edge in ahead.map(|outage| outage.start) {
            let still: Vec<There> = with.iter().filter(|one| one.planned_end > edge).cloned().collect();
            if self.need(&still, edge, known, job, false) > self.procs {
                return false;
            }
        }
        let name = self.jobs[job].reservation;
        let named: Vec<i64> = known
            .iter()
            .filter(|one| one.is_planned_at(start) && self.jobs[job].names(one))
            .map(|one| one.procs)
            .collect();
        let asking = there.iter().filter(|one| self.jobs[one.job].reservation == name);
        let used: i64 = asking.map(|one| self.jobs[one.job].procs).sum();
        named.is_empty() || self.jobs[job].procs + used <= named.iter().sum()
    }

    fn is_usable(&self, node: usize, job: usize, start: i64, known: &[&TwinOutage]) -> bool {
        let one = &self.jobs[job];
        known.iter().all(|outage| {
            let (has, on) = (outage.nodes.contains(&node), outage.is_planned_at(start));
            if one.names(outage) && on && !has {
                return false;
            }
            let reaches = outage.is_hard() && start < outage.start && outage.start < start + one.planned();
            !has || one.owns(outage) || !(on || reaches)
        })
    }

    fn free(&self, there: &[There]) -> Vec<i64> {
        let mut free = self.cpus.clone();
        there.iter().flat_map(|one| &one.got).for_each(|(&node, &cpus)| free[node] -= cpus);
        free
    }

    /// What a job gets if it starts then beside these. `free_now`: nodes on which it has room now come last.
    fn place(
        &self,
        there: &[There],
        job: usize,
        start: i64,
        free_now: Option<&[i64]>,
        less: &[BTreeMap<usize, i64>],
    ) -> Option<BTreeMap<usize, i64>> {
        let known = self.known();
        if self.cpus.is_empty() {
            return self.place_on_pool(there, job, start, &known).then(BTreeMap::new);
        }
        let one = &self.jobs[job];
        let mut free = self.free(there);
        less.iter().flatten().for_each(|(&node, &cpus)| free[node] = (free[node] - cpus).max(0));
        let usable: Vec<usize> = (0..free.len()).filter(|&node| self.is_usable(node, job, start, &known)).collect();
        let is_later =
            |node: usize| free_now.is_some_and(|now| now[node] > 0 && self.is_usable(node, job, self.now, &known));
        let key = |node: &usize| (is_later(*node), free[*node], *node);
        let mut got = BTreeMap::new();
        if one.nodes > 0 {
            for share in 0..one.nodes {
                let cpus = (one.procs / one.nodes + i64::from(share < one.procs % one.nodes)).max(1);
                let fits = usable.iter().copied().filter(|node| !got.contains_key(node) && free[*node] >= cpus);
                got.insert(fits.min_by_key(key)?, cpus);
            }
            return Some(got);
        }
        let mut rest = one.procs;
        while rest > 0 {
            let fits: Vec<usize> =
                usable.iter().copied().filter(|node| !got.contains_key(node) && free[*node] > 0).collect();
            let most = fits.iter().map(|&node| free[node]).max()?;
            let enough = |node: &usize| free[*node] >= rest.min(most);
            let node = fits.into_iter().filter(enough).min_by_key(key)?;
            got.insert(node, rest.min(free[node]));
            rest -= rest.min(free[node]);
        }
        Some(got)
    }

    /// Where each planned job goes; None if one of them cannot be placed at its instant.
    fn walk(&self, plan: &Plan, first: Option<(usize, &BTreeMap<usize, i64>)>) -> Option<Vec<(usize, There)>> {
        let mut there = self.all_there();
        there.extend(first.map(|(job, got)| self.there(job, self.now, got.clone())));
        let free_now = self.free(&there);
        let mut sorted = plan.clone();
        sorted.sort_by_key(|(start, _)| *start);
        let mut placed = Vec::new();
        for (start, job) in sorted {
            there.retain(|one| one.end > start);
            let got = self.place(&there, job, start, Some(&free_now), &[])?;
            there.push(self.there(job, start, got));
            placed.push((job, there[there.len() - 1].clone()));
        }
        Some(placed)
    }

    fn may_start(&self, job: usize, plan: &Plan) -> Option<BTreeMap<usize, i64>> {
        let there = self.all_there();
        let got = self.place(&there, job, self.now, None, &[])?;
        if self.walk(plan, Some((job, &got))).is_some() {
            return Some(got);
        }
        let placed = self.walk(plan, None).expect("a plan holds");
        let end = self.now + self.jobs[job].prediction;
        let starts_before = |other: usize| plan.iter().any(|&(start, one)| one == other && start < end);
        let less: Vec<_> = placed.into_iter().filter(|(one, _)| starts_before(*one)).map(|(_, one)| one.got).collect();
        let got = self.place(&there, job, self.now, None, &less)?;
        self.walk(plan, Some((job, &got))).map(|_| got)
    }

    fn start(&mut self, job: usize, got: BTreeMap<usize, i64>, queue: &mut Vec<usize>) {
        (self.jobs[job].start, self.jobs[job].got) = (Some(self.now), got);
        self.running.push(job);
        queue.retain(|other| *other != job);
    }

    fn pass(&mut self, scheduler: &str, queue: &mut Vec<usize>) {
        if scheduler == "fcfs" {
            for job in queue.clone() {
                let Some(got) = self.place(&self.all_there(), job, self.now, None, &[]) else { return };
                self.start(job, got, queue);
            }
            return;
        }
        let most = match scheduler {
            "conservative" => usize::MAX,
            "easy:reservations=2" => 2,
            _ => 1,
        };
        let (mut plan, mut rest) = (Plan::new(), Vec::new());
        for job in queue.clone() {
            if plan.len() >= most {
                rest.push(job);
                continue;
            }
            if let Some(got) = self.may_start(job, &plan) {
                self.start(job, got, queue);
                continue;
            }
            let mut ends: BTreeSet<i64> = self.all_there().iter().map(|one| one.end).collect();
            ends.extend(plan.iter().map(|&(start, one)| start + self.jobs[one].prediction));
            ends.extend(self.known().iter().map(|outage| outage.known_end()));
            for start in ends.into_iter().filter(|&end| self.now < end && end < NEVER) {
                plan.push((start, job));
                if self.walk(&plan, None).is_some() {
                    if queue[0] == job {
                        self.promises.push((job, start));
                    }
                    break;
                }
                plan.pop();
            }
        }
        if scheduler == "sjbf" {
            rest.sort_by_key(|&job| (self.jobs[job].prediction, self.jobs[job].arrival));
        }
        for job in rest {
            if let Some(got) = self.may_start(job, &plan) {
                self.start(job, got, queue);
            }
        }
    }

    /// The jobs that stop now.
    fn victims(&self) -> Vec<usize> {
        if !self.cpus.is_empty() {
            let hits = |outage: &TwinOutage, job: usize| {
                outage.start == self.now
                    && outage.stops()
                    && outage.nodes.iter().any(|node| self.jobs[job].got.contains_key(node))
            };
            return self.running.iter().copied().filter(|&job| self.outages.iter().any(|o| hits(o, job))).collect();
        }
        let on = self.outages.iter().filter(|one| one.stops() && one.start <= self.now && self.now < one.end);
        let left = (self.procs - on.map(|outage| outage.procs).sum::<i64>()).max(0);
        let mut stay = self.running.clone();
        stay.sort_by_key(|&job| (self.jobs[job].start, self.jobs[job].arrival));
        let mut gone = Vec::new();
        while stay.iter().map(|&job| self.jobs[job].procs).sum::<i64>() > left {
            gone.extend(stay.pop());
        }
        gone
    }

    fn simulate(&mut self, scheduler: &str) {
        const MISSES: [i64; 11] = [60, 300, 900, 1800, 3600, 7200, 18000, 36000, 72000, 180_000, 360_000];
        for job in &mut self.jobs {
            let named = self.outages.iter().filter(|outage| job.names(outage) && outage.end > job.submit);
            if let Some(begin) = named.map(|outage| outage.start.max(job.submit)).min() {
                job.arrival.0 = begin;
            }
        }
        let mut late: Vec<usize> = (0..self.jobs.len()).collect();
        late.sort_by_key(|&job| std::cmp::Reverse(self.jobs[job].arrival));
        let mut queue: Vec<usize> = Vec::new();
        let all = self.outages.iter().flat_map(|outage| [outage.announced, outage.start, outage.end]);
        let times: BTreeSet<i64> = all.filter(|&time| time < NEVER).collect();
        self.now = i64::MIN;
        while !(late.is_empty() && queue.is_empty() && self.running.is_empty()) {
            let ends = self.running.iter().flat_map(|&job| {
                let start = self.jobs[job].start.unwrap();
                [start + self.jobs[job].run, start + self.jobs[job].prediction]
            });
            let next = late.last().map(|&job| self.jobs[job].arrival.0);
            let change = times.iter().copied().find(|&time| time > self.now);
            let Some(now) = ends.chain(next).chain(change).min() else { break };
            self.now = now;
            let mut is_due = times.contains(&now);
            let (ended, stay): (Vec<usize>, Vec<usize>) = self
                .running
                .iter()
                .copied()
                .partition(|&job| self.jobs[job].start.unwrap() + self.jobs[job].run == now);
            self.running = stay;
            is_due |= !ended.is_empty();
            ended.into_iter().for_each(|job| self.jobs[job].end = Some(now));
            for job in if times.contains(&now) { self.victims() } else { Vec::new() } {
                self.running.retain(|other| *other != job);
                let one = &mut self.jobs[job];
                let ran = now - one.start.unwrap();
                if self.kills {
                    (one.end, one.run, one.is_failed) = (Some(now), ran, true);
                } else {
                    one.requeues += 1;
                    one.lost += one.procs * ran;
                    (one.start, one.got) = (None, BTreeMap::new());
                    queue.push(job);
                }
            }
            queue.sort_by_key(|&job| self.jobs[job].arrival);
            for &job in &self.running {
                let one = &mut self.jobs[job];
                if one.start.unwrap() + one.prediction <= now {
                    one.prediction += MISSES[one.misses.min(MISSES.len() - 1)];
                    one.misses += 1;
                }
            }
            while late.last().is_some_and(|&job| self.jobs[job].arrival.0 == now) {
                queue.extend(late.pop());
                is_due = true;
            }
            if is_due {
                self.pass(scheduler, &mut queue);
            }
        }
    }
}

/// A machine with jobs and outages.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) procs: i64,
    pub(crate) cpus: Vec<i64>,
    pub(crate) jobs: Vec<TwinJob>,
    pub(crate) outages: Vec<TwinOutage>,
    pub(crate) kills: bool,
}

impl Case {
    fn twin(&self) -> Twin {
        let Case { procs, cpus, jobs, outages, kills } = self.clone();
        let mut twin = Twin { procs, cpus, jobs, outages, kills, now: 0, running: Vec::new(), promises: Vec::new() };
        twin.jobs.iter_mut().enumerate().for_each(|(at, job)| job.arrival = (job.submit, at));
        twin
    }

    pub(crate) fn workload(&self) -> Workload {
        let mut requests = Requests::default();
        let jobs: Vec<Job> = self
            .jobs
            .iter()
            .map(|one| {
                let request = requests.intern(Request {
                    cpus: one.procs as u32,
                    min_nodes: one.nodes as u32,
                    max_nodes: one.nodes as u32,
                    reservation: one.reservation.to_string(),
                    ..Request::default()
                });
                let submission = Submission::new(one.submit, one.procs as u32, one.estimate);
                Job { request, ..Job::new(Submission { user: one.user, ..submission }, one.run) }
            })
            .collect();
        let mut all = Workload { requests: Arc::new(requests), ..workload(self.procs as u32, &jobs) };
        if !self.cpus.is_empty() {
            let nodes = self.cpus.iter().enumerate().map(|(at, &cpus)| node(at, cpus as u32, 0, 0)).collect();
            let mut everywhere = partition("all", (0..self.cpus.len() as u32).collect());
            everywhere.is_default = true;
            let cluster = Arc::new(Cluster { nodes, partitions: vec![everywhere], ..Cluster::default() });
            all =
                put_on_cluster(all, &cluster, &PartitionMap::default(), &LogNames::default(), Unit::default()).unwrap();
        }
        let list: Vec<Outage> = self
            .outages
            .iter()
            .map(|one| Outage {
                start: one.start,
                end: one.end,
                announced: one.announced,
                kind: one.kind,
                procs: one.procs as u32,
                nodes: one.nodes.iter().map(|&node| node as u32).collect(),
                name: one.name.to_string(),
                place: "test:1".to_string(),
            })
            .collect();
        let jobs = all.jobs.iter().map(|job| (job.submission.user, job.submission.group, job.request));
        let requests = Arc::clone(&all.requests);
        let class = |user, _, request| {
            let name = requests.get(request).map_or("", |request| request.reservation.as_str());
            let mut class = JobClass::default();
            for (one, at) in self.outages.iter().zip(0..) {
                let names = !name.is_empty() && one.name == name;
                class.named.extend(names.then_some(at));
                let owns = one.kind == OutageKind::Reserved && (names || one.user == user);
                class.owns.extend(owns.then_some(at));
            }
            class
        };
        let outages = Outages::new(list, self.kills, jobs, class);
        Workload { outages: Some(Arc::new(outages)), ..all }
    }

    pub(crate) fn simulate(
        &self,
        scheduler: &str,
        predictor: &str,
        observer: &mut dyn Observer,
    ) -> Result<RunRecord, String> {
        let setting = Setting { engine: EngineOptions::default(), ..Setting::parse(scheduler, predictor).unwrap() };
        setting.run(&self.workload(), Some(observer), &mut |_| ()).map_err(|error| error.to_string())
    }
}

/// Checks that no job runs on what is out, and counts what was in use.
struct Invariants<'a> {
    case: &'a Case,
    now: i64,
    used: BTreeMap<JobId, (i64, BTreeMap<u32, i64>)>,
    area: i64,
    /// The processor-seconds that were not out, or in use, and those until the last end.
    available: [i64; 2],
    broken: Option<String>,
}

impl Invariants<'_> {
    /// What is not out at an instant, or in use.
    fn available_at(&self, time: i64) -> i64 {
        let used: i64 = self.used.values().map(|(procs, _)| procs).sum();
        let on = || self.case.outages.iter().filter(move |o| o.start <= time && time < o.end && o.kind != Reserved);
        if self.case.cpus.is_empty() {
            return (self.case.procs - on().map(|o| o.procs).sum::<i64>()).max(0).max(used);
        }
        let of_node = |(node, &cpus): (usize, &i64)| {
            let used: i64 = self.used.values().filter_map(|(_, nodes)| nodes.get(&(node as u32))).sum();
            if on().any(|o| o.nodes.contains(&node)) { used } else { cpus }
        };
        self.case.cpus.iter().enumerate().map(of_node).sum()
    }

    fn pass_time(&mut self, time: i64) {
        let first = self.case.jobs[0].submit;
        let edges = self.case.outages.iter().flat_map(|o| [o.start, o.end]);
        let mut cuts: Vec<i64> = edges.filter(|&edge| self.now < edge && edge < time).chain([self.now, time]).collect();
        cuts.retain(|&cut| cut > first);
        cuts.push(first);
        cuts.sort_unstable();
        self.available[0] += cuts
            .windows(2)
            .filter(|cut| cut[0] >= self.now)
            .map(|cut| self.available_at(cut[0]) * (cut[1] - cut[0]))
            .sum::<i64>();
        let used: i64 = self.used.values().map(|(procs, _)| procs).sum();
        self.area += used * (time - self.now);
        self.now = time;
    }

    fn check(&mut self) {
        let now = self.now;
        let on = || self.case.outages.iter().filter(move |one| one.start <= now && now < one.end && one.stops());
        let used: i64 = self.used.values().map(|(procs, _)| procs).sum();
        let gone: i64 = on().map(|one| one.procs).sum();
        if self.case.cpus.is_empty() && used > (self.case.procs - gone).max(0) {
            self.broken = Some(format!("{used} are used at {now}, and {gone} are out"));
        }
        let is_out = |node: &u32| on().any(|one| one.nodes.contains(&(*node as usize)));
        if let Some((id, _)) = self.used.iter().find(|(_, (_, nodes))| nodes.keys().any(is_out)) {
            self.broken = Some(format!("job {} runs at {now} on a node that is out", id.0));
        }
        for (node, &cpus) in self.case.cpus.iter().enumerate() {
            let used: i64 = self.used.values().filter_map(|(_, nodes)| nodes.get(&(node as u32))).sum();
            if used > cpus {
                self.broken = Some(format!("{used} of {cpus} CPUs of node {node} are used at {now}"));
            }
        }
    }
}

impl Observer for Invariants<'_> {
    fn on(&mut self, time: Time, event: &Event<'_>, _machine: &Machine) {
        if time > self.now {
            self.pass_time(time);
        }
        match event {
            Event::Start(start) => {
                let nodes = start.grant.iter().map(|share| (share.node, share.what.cpus().into())).collect();
                self.used.insert(start.job.id, (start.submission.procs.into(), nodes));
            }
            Event::End(end) => {
                self.used.remove(&end.job.id);
                self.available[1] = self.available[0];
            }
            Event::Preemption(stop) if stop.is_requeued => drop(self.used.remove(&stop.job.id)),
            Event::Pass(_) => self.check(),
            _ => {}
        }
    }
}

/// Simulates a case and compares it with the twin; the invariants hold.
fn compare(case: &Case, scheduler: &str, predictor: &str) -> Result<Twin, String> {
    let mut case = case.clone();
    for job in &mut case.jobs {
        job.prediction = match predictor {
            "perfect" => job.run,
            "constant:seconds=7" => 7,
            _ => job.estimate,
        };
    }
    let mut twin = case.twin();
    twin.simulate(scheduler);
    let mut seen = Invariants {
        case: &case,
        now: case.jobs[0].submit.min(0),
        used: BTreeMap::new(),
        area: 0,
        available: [0; 2],
        broken: None,
    };
    let is_none_started = twin.jobs.iter().all(|job| job.end.is_none());
    let record = match case.simulate(scheduler, predictor, &mut seen) {
        Err(error) if is_none_started && error.contains("can start no job") => return Ok(twin),
        other => other?,
    };
    if let Some(broken) = seen.broken {
        return Err(broken);
    }
    let figures = record.outages.as_ref().unwrap();
    let (mut work, mut lost) = (0, 0);
    for (at, job) in twin.jobs.iter().enumerate() {
        let start = record.outcomes[at].start.get();
        let requeues = figures.requeues.iter().filter(|(id, _)| id.index() == at).count() as u32;
        if (start, requeues) != (job.end.and(job.start), job.requeues) {
            return Err(format!(
                "job {at} starts at {start:?} with {requeues} requeues, not {:?} with {}",
                job.start, job.requeues
            ));
        }
        let ran = record.arrived.as_ref().map_or(job.run, |jobs| jobs[at].runtime);
        if job.end.is_some() && ran != job.run {
            return Err(format!("job {at} runs for {ran}, not {}", job.run));
        }
        work += if job.end.is_some() { job.procs * job.run } else { 0 };
        lost += job.lost;
    }
    let stopped = figures.stopped;
    let failed = twin.jobs.iter().filter(|job| job.is_failed).count() as u64;
    let never = twin.jobs.iter().filter(|job| job.end.is_none()).count() as u64;
    if (stopped.requeued.area, stopped.cancelled.count, record.never.count()) != (lost.into(), failed, never) {
        return Err(format!("{stopped:?} and {never} that never start, not {lost} lost and {failed} failed"));
    }
    if figures.available != seen.available[1].into() {
        return Err(format!("{} were available, not {}", figures.available, seen.available[1]));
    }
    if work + lost != seen.area {
        return Err(format!("{work} and {lost} lost are not the {} in use", seen.area));
    }
    Ok(twin)
}

pub(crate) fn job(submit: i64, run: i64, estimate: i64, procs: i64) -> TwinJob {
    TwinJob {
        submit,
        run,
        procs,
        estimate,
        prediction: estimate,
        user: 1,
        nodes: 0,
        reservation: "",
        arrival: (0, 0),
        start: None,
        end: None,
        got: BTreeMap::new(),
        misses: 0,
        requeues: 0,
        lost: 0,
        is_failed: false,
    }
}

pub(crate) fn pool(procs: i64, jobs: &[(i64, i64, i64, i64)], outages: Vec<TwinOutage>) -> Case {
    let jobs = jobs.iter().map(|&(submit, run, estimate, procs)| job(submit, run, estimate, procs)).collect();
    Case { procs, cpus: Vec::new(), jobs, outages, kills: false }
}

/// The last runs of all jobs are these under each of these schedulers; `(-1, -1)` is a job that never starts.
fn expect(case: &Case, schedulers: &[&str], predictor: &str, runs: &[(i64, i64)]) -> Twin {
    let mut last = None;
    for scheduler in schedulers {
        let twin = compare(case, scheduler, predictor).unwrap_or_else(|error| panic!("{scheduler}: {error}"));
        let found: Vec<_> =
            twin.jobs.iter().map(|job| job.end.map_or((-1, -1), |end| (job.start.unwrap(), end))).collect();
        assert_eq!(found, runs, "{scheduler}");
        last = Some(twin);
    }
    last.unwrap()
}

const BACKFILLING: [&str; 3] = ["easy", "sjbf", "conservative"];
const ALL: [&str; 4] = ["fcfs", "easy", "sjbf", "conservative"];

use OutageKind::{Down, Drain, Maintenance, Reserved};

#[test]
fn an_unannounced_outage_stops_the_job_that_started_last() {
    let jobs = [(0, 10, 10, 2), (0, 20, 20, 2), (1, 5, 5, 2)];
    let mut case = pool(4, &jobs, vec![TwinOutage::of(Down, 2, 5, 15, 5)]);
    let twin = expect(&case, &["easy"], "estimate", &[(0, 10), (10, 30), (15, 20)]);
    assert_eq!((twin.jobs[1].requeues, twin.jobs[1].lost), (1, 10));
    case.kills = true;
    expect(&case, &["easy"], "estimate", &[(0, 10), (0, 5), (10, 15)]);
    let drained = pool(4, &jobs, vec![TwinOutage::of(Drain, 2, 5, 15, 5)]);
    expect(&drained, &["easy"], "estimate", &[(0, 10), (0, 20), (15, 20)]);
}

#[test]
fn jobs_reach_no_further_than_a_maintenance() {
    let jobs = [(0, 4, 10, 2), (0, 3, 11, 2), (1, 2, 9, 1), (2, 2, 9, 1)];
    let case = pool(4, &jobs, vec![TwinOutage::of(Maintenance, 4, 10, 20, 0)]);
    expect(&case, &["fcfs"], "estimate", &[(0, 4), (20, 23), (20, 22), (20, 22)]);
    expect(&case, &BACKFILLING, "estimate", &[(0, 4), (20, 23), (1, 3), (20, 22)]);
}

#[test]
fn the_reservation_of_the_head_moves_behind_an_outage() {
    let jobs = [(0, 8, 8, 3), (0, 5, 5, 3), (1, 6, 6, 1), (1, 20, 20, 1), (8, 30, 30, 1)];
    let case = pool(4, &jobs, vec![TwinOutage::of(Maintenance, 2, 10, 20, 0)]);
    expect(&case, &["fcfs"], "estimate", &[(0, 8), (20, 25), (20, 26), (25, 45), (25, 55)]);
    expect(&case, &BACKFILLING, "estimate", &[(0, 8), (20, 25), (1, 7), (7, 27), (25, 55)]);
}

#[test]
fn estimates_count_where_predictions_are_shorter() {
    let case = pool(4, &[(0, 3, 12, 1), (0, 3, 10, 1)], vec![TwinOutage::of(Maintenance, 4, 10, 20, 0)]);
    expect(&case, &["fcfs"], "perfect", &[(20, 23), (20, 23)]);
    expect(&case, &BACKFILLING, "perfect", &[(20, 23), (0, 3)]);
    let case = pool(4, &[(0, 3, 20, 2), (1, 3, 20, 2)], vec![TwinOutage::of(Maintenance, 2, 10, 20, 0)]);
    expect(&case, &ALL, "perfect", &[(0, 3), (3, 6)]);
}

#[test]
fn a_job_that_runs_longer_than_its_estimate_is_stopped_by_a_maintenance() {
    let case = pool(2, &[(0, 12, 8, 2), (1, 3, 3, 2)], vec![TwinOutage::of(Maintenance, 2, 10, 15, 0)]);
    let twin = expect(&case, &ALL, "estimate", &[(15, 27), (27, 30)]);
    assert_eq!((twin.jobs[0].requeues, twin.jobs[0].prediction), (1, 68));
}

pub(crate) fn on_two_nodes(jobs: &[(i64, i64, i64, i64)], outage: TwinOutage, node: usize) -> Case {
    Case { cpus: vec![2, 2], ..pool(4, jobs, vec![TwinOutage { procs: 0, nodes: vec![node], ..outage }]) }
}

#[test]
fn a_node_fails() {
    let jobs = [(0, 10, 10, 2), (0, 10, 10, 1), (6, 4, 4, 1), (7, 20, 20, 2)];
    let case = on_two_nodes(&jobs, TwinOutage::of(Down, 0, 5, 15, 5), 0);
    let twin = expect(&case, &["easy"], "estimate", &[(10, 20), (0, 10), (6, 10), (15, 35)]);
    let nodes: Vec<_> = twin.jobs.iter().map(|job| job.got.keys().copied().collect::<Vec<_>>()).collect();
    assert_eq!(nodes, [[1], [1], [1], [0]]);
}

#[test]
fn a_node_is_in_maintenance() {
    let jobs = [(0, 15, 15, 2), (0, 15, 15, 2), (1, 9, 9, 1), (2, 9, 9, 1)];
    let case = on_two_nodes(&jobs, TwinOutage::of(Maintenance, 0, 10, 20, 0), 1);
    expect(&case, &["easy"], "estimate", &[(0, 15), (15, 30), (1, 10), (20, 29)]);
}

#[test]
fn a_head_that_is_wider_than_what_is_left_has_no_reservation() {
    let jobs = [(0, 10, 10, 2), (6, 5, 5, 4), (7, 20, 20, 2), (8, 50, 50, 1), (31, 10, 10, 2), (32, 60, 60, 1)];
    let case = pool(4, &jobs, vec![TwinOutage::of(Down, 2, 5, 100, 5)]);
    expect(&case, &["fcfs"], "estimate", &[(0, 10), (100, 105), (105, 125), (105, 155), (125, 135), (125, 185)]);
    expect(&case, &["easy"], "estimate", &[(0, 10), (150, 155), (10, 30), (30, 80), (80, 90), (90, 150)]);
}

#[test]
fn a_reservation_is_for_its_own_jobs() {
    let mut case = pool(
        4,
        &[(0, 20, 20, 2), (0, 20, 20, 2), (1, 5, 5, 1), (5, 12, 12, 2)],
        vec![TwinOutage { user: 7, ..TwinOutage::of(Reserved, 2, 10, 20, 0) }],
    );
    case.jobs[3].user = 7;
    expect(&case, &["easy"], "estimate", &[(0, 20), (20, 40), (1, 6), (6, 18)]);
}

#[test]
fn who_waits_for_what_never_comes_back_never_starts() {
    let case = pool(4, &[(0, 10, 10, 2), (6, 5, 5, 4), (7, 3, 3, 1)], vec![TwinOutage::of(Drain, 2, 5, NEVER, 5)]);
    expect(&case, &["fcfs"], "estimate", &[(0, 10), (-1, -1), (-1, -1)]);
    expect(&case, &["easy"], "estimate", &[(0, 10), (-1, -1), (10, 13)]);
}

/// Predictions count twice. The first job has half the machine until 20, and counts until 40; the second waits for all of it. The third
/// may start beside the first, because it counts until 30. When it is back at 15 it counts until 45: it would be in the way.
#[test]
fn a_job_that_waits_again_has_its_inflated_length() {
    let jobs = [(0, 20, 20, 2), (0, 10, 10, 4), (0, 15, 15, 2)];
    let case = pool(4, &jobs, vec![TwinOutage::of(Down, 2, 5, 15, 5)]);
    let inflated = EngineOptions { inflate: 2.0, ..EngineOptions::default() };
    assert_eq!(starts(&run_with(&case.workload(), "easy", "estimate", inflated)), [0, 20, 30]);
}

/// Half the machine is out. The second job is too wide for the rest, so the third has the reservation, which the fourth would delay. When
/// the third is cancelled at 5, the fourth starts, though the second is the first of the queue as before.
#[test]
fn who_is_cancelled_holds_nothing_any_more() {
    let jobs = [(0, 10, 10, 1), (1, 10, 10, 4), (1, 10, 10, 2), (1, 20, 20, 1)];
    let workload = pool(4, &jobs, vec![TwinOutage::of(Down, 2, 0, 100, 0)]).workload();
    let setting = Setting::parse("easy", "estimate").unwrap();
    let policy = setting.policy(&facts(&workload.jobs).amid_outages(true));
    let predictor = setting.predictor(&RunFacts::of(&workload));
    let simulation = Simulation::new(workload.procs, policy, predictor, EngineOptions::default());
    let mut simulation = simulation.with_outages(workload.outage_plan());
    workload.jobs.iter().for_each(|job| assert!(simulation.submit(job).is_ok()));
    simulation.advance_to(5).unwrap();
    assert_eq!(simulation.machine().waiting.len(), 3);
    simulation.cancel(JobId(2)).unwrap();
    simulation.advance_to(6).unwrap();
    assert_eq!(simulation.outcome(JobId(3)).start.get(), Some(5));
}

/// Says 100 s of each job, and 30 s of the first one as soon as the second has arrived.
struct Corrects;

impl Predictor for Corrects {
    fn on_arrival(&mut self, id: JobId, board: &mut Board) {
        board.predict(id, 100);
        if id == JobId(1) {
            board.predict(JobId(0), 30);
        }
    }
}

/// Running jobs count by their estimates, so that a prediction of the first job would change nothing while it runs. It has been stopped at
/// 10, and waits when its prediction changes at 20.
#[test]
fn a_job_that_waits_again_counts_by_its_prediction() {
    let workload = pool(2, &[(0, 100, 100, 2), (20, 10, 10, 2)], vec![TwinOutage::of(Down, 2, 10, 50, 10)]).workload();
    let setting = Setting::parse("easy:running=estimate", "estimate").unwrap();
    let policy = setting.policy(&facts(&workload.jobs).amid_outages(true));
    let predictor = Named { name: "own".into(), value: Box::new(Corrects) as Box<dyn Predictor> };
    let simulation = Simulation::new(workload.procs, policy, predictor, EngineOptions::default());
    let mut simulation = simulation.with_outages(workload.outage_plan());
    workload.jobs.iter().for_each(|job| assert!(simulation.submit(job).is_ok()));
    let mut waiting = |time| {
        simulation.advance_to(time).unwrap();
        simulation.machine().waiting.iter().map(|job| (job.id, job.prediction)).collect::<Vec<_>>()
    };
    assert_eq!([5, 15].map(&mut waiting), [vec![], vec![(JobId(0), 100)]]);
    assert_eq!(waiting(25), [(JobId(0), 30), (JobId(1), 100)]);
}

/// Jobs: gap, runtime, what the estimate differs, processors, user, nodes, and which reservation they name.
fn jobs(procs: i64, nodes: i64) -> impl Strategy<Value = Vec<TwinJob>> {
    let gap = select(vec![0, 0, 1, 1, 2, 3, 8, 15]);
    let name = select(vec!["", "", "", "", "", "lab", "course"]);
    let draft = (gap, 1..=25i64, select(vec![0, 0, 0, 3, 8, 20, -3]), 1..=procs, 1..=3i32, 0..=nodes, name);
    vec(draft, 3..22).prop_map(|drafts| {
        let mut submit = 0;
        let of = |(gap, run, more, procs, user, nodes, reservation): (i64, i64, i64, i64, i32, i64, &'static str)| {
            submit += gap;
            TwinJob { user, nodes, reservation, ..job(submit, run, (run + more).max(1), procs) }
        };
        drafts.into_iter().map(of).collect()
    })
}

/// Outages of a machine with so many processors, or with nodes.
fn outages(procs: i64, nodes: usize) -> impl Strategy<Value = Vec<TwinOutage>> {
    let kind = select(vec![Down, Drain, Maintenance, Maintenance, Reserved, Reserved]);
    let length = select(vec![1, 3, 8, 15, 40, NEVER]);
    let early = select(vec![0, 0, 2, 10, 30, 100]);
    let name = select(vec!["", "", "lab", "course"]);
    let which = vec(any::<bool>(), nodes);
    let draft = (kind, -10..90i64, length, early, 1..=procs, which, select(vec![i32::MIN, 1, 2]), name);
    vec(draft, 1..6).prop_map(move |drafts| {
        let of = |(kind, start, length, early, procs, which, user, name): (_, i64, i64, i64, i64, Vec<bool>, _, _)| {
            let mut listed: Vec<usize> = (0..nodes).filter(|&node| which[node]).collect();
            if nodes > 0 && listed.is_empty() {
                listed.push(start.rem_euclid(nodes as i64) as usize);
            }
            let procs = if nodes > 0 { 0 } else { procs };
            let (end, user) =
                (if length == NEVER { NEVER } else { start + length }, if kind == Reserved { user } else { i32::MIN });
            TwinOutage { user, name, nodes: listed, ..TwinOutage::of(kind, procs, start, end, start - early) }
        };
        drafts.into_iter().map(of).collect()
    })
}

pub(crate) fn pools() -> impl Strategy<Value = Case> {
    (2..=12i64).prop_flat_map(|procs| {
        (jobs(procs, 0), outages(procs, 0), any::<bool>()).prop_map(move |(jobs, outages, kills)| Case {
            procs,
            cpus: Vec::new(),
            jobs,
            outages,
            kills,
        })
    })
}

pub(crate) fn clusters() -> impl Strategy<Value = Case> {
    vec(1..=4i64, 2..6).prop_flat_map(|cpus| {
        let procs = cpus.iter().sum();
        let (count, least) = (cpus.len(), cpus.iter().copied().min().unwrap());
        (jobs(procs, 2), outages(procs, count), any::<bool>()).prop_map(move |(mut jobs, outages, kills)| {
            // Jobs that can never be placed are dropped when they are put on the nodes.
            jobs.iter_mut()
                .filter(|job| job.nodes > 0)
                .for_each(|job| job.procs = job.procs.clamp(job.nodes, job.nodes * least));
            Case { procs, cpus: cpus.clone(), jobs, outages, kills }
        })
    })
}

const PREDICTORS: [&str; 3] = ["estimate", "perfect", "constant:seconds=7"];

fn schedulers() -> impl Strategy<Value = &'static str> {
    select(vec!["fcfs", "easy", "sjbf", "conservative", "easy:reservations=2"])
}

#[test]
fn schedulers_on_a_pool_amid_outages_equal_the_slow_twin() {
    check(721, fewer(20_000), (pools(), schedulers(), select(PREDICTORS.to_vec())), |(case, scheduler, predictor)| {
        compare(&case, scheduler, predictor).map(|_| ()).map_err(TestCaseError::fail)
    });
}

#[test]
fn schedulers_on_nodes_amid_outages_equal_the_slow_twin() {
    check(
        722,
        fewer(8_000),
        (clusters(), schedulers(), select(PREDICTORS.to_vec())),
        |(case, scheduler, predictor)| compare(&case, scheduler, predictor).map(|_| ()).map_err(TestCaseError::fail),
    );
}

/// With exact predictions and all outages known before, the first of the queue starts no later than it was promised.
#[test]
fn promises_are_kept() {
    check(723, fewer(8_000), (pools(), clusters(), any::<bool>()), |(pool, cluster, on_nodes)| {
        let mut case = if on_nodes { cluster } else { pool };
        case.outages.iter_mut().for_each(|outage| outage.announced = -1000);
        case.jobs.iter_mut().for_each(|job| job.estimate = job.run);
        let twin = compare(&case, "easy", "estimate").map_err(TestCaseError::fail)?;
        for (job, promised) in twin.promises {
            let start = twin.jobs[job].start;
            prop_assert!(start.is_some_and(|start| start <= promised), "job {} at {:?}, not {}", job, start, promised);
        }
        prop_assert!(twin.jobs.iter().all(|job| job.requeues == 0));
        Ok(())
    });
}

/// What is announced later, and ends that nobody knows, change no earlier start.
#[test]
fn nothing_that_is_not_known_changes_a_start() {
    check(724, fewer(6_000), (pools(), schedulers(), 0..80i64), |(case, scheduler, time)| {
        let run = |case: &Case| {
            let mut twin = case.twin();
            twin.simulate(scheduler);
            let before = |start: i64| start < time;
            let record = case.simulate(scheduler, "estimate", &mut ());
            let starts = record.map(|record| {
                record.outcomes.iter().map(|one| one.start.get().filter(|&at| before(at))).collect::<Vec<_>>()
            });
            starts.unwrap_or_default()
        };
        let mut less = case.clone();
        less.outages.retain(|outage| outage.announced < time);
        let is_unknown = |outage: &TwinOutage| outage.known_end() == NEVER && outage.end >= time;
        less.outages.iter_mut().filter(|outage| is_unknown(outage)).for_each(|outage| outage.end = NEVER);
        if case.outages.iter().any(|outage| !outage.name.is_empty()) {
            // The gate holds jobs by all reservations of a name.
            return Ok(());
        }
        let (all, some) = (run(&case), run(&less));
        // A job that was stopped later has a later start; one that starts first is compared.
        let stopped = |case: &Case| {
            let mut twin = case.twin();
            twin.simulate(scheduler);
            twin.jobs.iter().map(|job| job.requeues > 0).collect::<Vec<_>>()
        };
        let (one, other) = (stopped(&case), stopped(&less));
        for (at, (all, some)) in all.iter().zip(&some).enumerate().filter(|(at, _)| !one[*at] && !other[*at]) {
            prop_assert_eq!(all, some, "job {}", at);
        }
        Ok(())
    });
}
