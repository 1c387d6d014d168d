//! Schedulers on nodes against a slow twin, which is written by the words of the definition.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use shadowtime::engine::EngineOptions;
use shadowtime::job::Job;
use shadowtime::machine::{Cluster, Node, Resource};
use shadowtime::request::{MemoryAsked, Requests};
use shadowtime::trace::{LogNames, PartitionMap, Unit, Workload, put_on_cluster};

use crate::random::check;
use crate::random_nodes::{clusters, drafts, request_of};
use crate::support::{job_of, run_with, starts, workload};

/// What is free of a node: CPUs, memory, GPUs, and by partition the CPUs that its jobs may still have there.
type Free = [i64; 7];

/// More than there is.
const MANY: i64 = 1 << 40;

/// The place of a job, and its CPUs by node.
type Got = (usize, BTreeMap<usize, i64>);

/// Time, whether it is a start, the order, the job, what it gives back.
type TwinEvent = (i64, bool, usize, usize, Option<Got>);

#[derive(Clone, Debug)]
struct TwinJob {
    submit: i64,
    runtime: i64,
    length: i64,
    cpus: i64,
    /// It may have the nodes of one of these.
    places: Vec<TwinPlace>,
    memory_per_cpu: i64,
    memory_per_node: i64,
    all_memory: bool,
    gpus_per_node: i64,
}

#[derive(Clone, Debug)]
struct TwinPlace {
    partition: usize,
    nodes: Vec<usize>,
    /// The fewest nodes over which the job is divided equally. 0: it takes the fewest that hold it.
    least: i64,
    most: i64,
}

struct Twin<'a> {
    spread: bool,
    jobs: &'a [TwinJob],
    cluster: &'a Cluster,
    free: Vec<Free>,
    now: i64,
    /// The job, its predicted end and what it has, by node.
    running: BTreeMap<usize, (i64, Got)>,
    /// Starts and jobs in the order in which they were planned, with their places.
    plan: Vec<(i64, usize, usize)>,
}

impl Twin<'_> {
    /// The CPUs of a core of a node that go to one job.
    fn core(&self, node: usize) -> i64 {
        if self.cluster.shares_cores { 1 } else { self.cluster.nodes[node].threads_per_core.into() }
    }

    fn room(&self, free: &Free, node: usize, job: &TwinJob, at: usize) -> i64 {
        let memory = if job.all_memory { self.cluster.nodes[node].has.memory() as i64 } else { job.memory_per_node };
        if free[2] < job.gpus_per_node || free[1] < memory {
            return 0;
        }
        let mut cpus = free[0].min(free[3 + job.places[at].partition]);
        if job.memory_per_cpu > 0 {
            cpus = cpus.min(free[1] / job.memory_per_cpu);
        }
        cpus / self.core(node) * self.core(node)
    }

    /// What a job gets on each node of one of its places.
    fn place(&self, free: &[Free], job: &TwinJob, at: usize, preferred: &[usize]) -> Option<Got> {
        let place = &job.places[at];
        if place.least == 0 {
            let got = self.place_on_fewest(free, job, at, preferred);
            return got.filter(|(_, got)| got.len() as i64 <= place.most);
        }
        let most = place.most.min(place.nodes.len() as i64).min(job.cpus.max(place.least));
        (place.least..=most).find_map(|count| self.place_on(count, free, job, at, preferred))
    }

    fn place_on(&self, count: i64, free: &[Free], job: &TwinJob, at: usize, preferred: &[usize]) -> Option<Got> {
        let mut got = BTreeMap::new();
        for number in 0..count {
            let share = (job.cpus / count + i64::from(number < job.cpus % count)).max(1);
            let has_room = |node: &usize| !got.contains_key(node) && self.room(&free[*node], *node, job, at) >= share;
            let nodes = job.places[at].nodes.iter().copied();
            let node = nodes.filter(has_room).min_by_key(|&node| self.rank(free, node, preferred))?;
            got.insert(node, (share + self.core(node) - 1) / self.core(node) * self.core(node));
        }
        Some((at, got))
    }

    fn rank(&self, free: &[Free], node: usize, preferred: &[usize]) -> (bool, i64, i64, i64, usize) {
        let sign = if self.spread { -1 } else { 1 };
        let [cpus, memory, gpus, ..] = free[node].map(|value| value * sign);
        (!preferred.contains(&node), gpus, cpus, memory, node)
    }

    fn place_on_fewest(&self, free: &[Free], job: &TwinJob, at: usize, preferred: &[usize]) -> Option<Got> {
        let fullness = |node: usize| self.rank(free, node, preferred);
        let whole_cores = |share: i64, node: usize| (share + self.core(node) - 1) / self.core(node) * self.core(node);
        let mut got = BTreeMap::new();
        let mut rest = job.cpus;
        while rest > 0 {
            let left = || job.places[at].nodes.iter().copied().filter(|node| !got.contains_key(node));
            let room = |node: usize| self.room(&free[node], node, job, at);
            let holding = left().filter(|&node| room(node) >= rest).min_by_key(|&node| fullness(node));
            let (node, share) = match holding {
                Some(node) => (node, rest),
                None => {
                    let most = left().map(room).max().filter(|&most| most > 0)?;
                    (left().filter(|&node| room(node) == most).min_by_key(|&node| fullness(node))?, most)
                }
            };
            got.insert(node, whole_cores(share, node));
            rest -= share;
        }
        Some((at, got))
    }

    fn change(&self, free: &mut [Free], job: &TwinJob, (at, got): &Got, sign: i64) {
        for (&node, &cpus) in got {
            let memory = match job.all_memory {
                true => self.cluster.nodes[node].has.memory() as i64,
                false => cpus * job.memory_per_cpu + job.memory_per_node,
            };
            for (value, used) in free[node].iter_mut().zip([cpus, memory, job.gpus_per_node]) {
                *value += sign * used;
            }
            free[node][3 + job.places[*at].partition] += sign * cpus;
        }
    }

    /// Where the planned jobs go, if all can be placed.
    fn walk(&self, extra: Option<(i64, usize, usize)>, tried: Option<(usize, &Got)>) -> Option<BTreeMap<usize, Got>> {
        let mut free = self.free.clone();
        let mut events: Vec<TwinEvent> = Vec::new();
        for (&job, (end, got)) in &self.running {
            events.push((*end, false, 0, job, Some(got.clone())));
        }
        if let Some((job, got)) = tried {
            self.change(&mut free, &self.jobs[job], got, -1);
            events.push((self.now + self.jobs[job].length, false, 0, job, Some(got.clone())));
        }
        let now = free.clone();
        let planned: Vec<_> = self.plan.iter().copied().chain(extra).collect();
        for (order, (start, job, _)) in planned.iter().copied().enumerate() {
            events.push((start, true, order, job, None));
        }
        let mut placed = BTreeMap::new();
        while let Some(at) = (0..events.len()).min_by_key(|&at| (events[at].0, events[at].1, events[at].2)) {
            let (time, _, order, job, got) = events.remove(at);
            match got {
                Some(got) => self.change(&mut free, &self.jobs[job], &got, 1),
                None => {
                    let full = |node: &usize| self.room(&now[*node], *node, &self.jobs[job], planned[order].2) < 1;
                    let preferred: Vec<usize> = (0..free.len()).filter(full).collect();
                    let got = self.place(&free, &self.jobs[job], planned[order].2, &preferred)?;
                    self.change(&mut free, &self.jobs[job], &got, -1);
                    events.push((time + self.jobs[job].length, false, order, job, Some(got.clone())));
                    placed.insert(job, got);
                }
            }
        }
        Some(placed)
    }

    /// The places of a job in partitions that have fewer reservations than this.
    fn open(&self, job: usize, counts: &[usize], most: usize) -> Vec<usize> {
        let places = &self.jobs[job].places;
        (0..places.len()).filter(|&at| counts[places[at].partition] < most).collect()
    }

    fn try_now(&self, job: usize, places: &[usize]) -> Option<Got> {
        places.iter().find_map(|&at| self.try_place(job, at))
    }

    fn try_place(&self, job: usize, at: usize) -> Option<Got> {
        let asked = &self.jobs[job];
        let got = self.place(&self.free, asked, at, &[])?;
        if self.plan.is_empty() || self.walk(None, Some((job, &got))).is_some() {
            return Some(got);
        }
        let planned = self.walk(None, None).unwrap();
        let mut left = self.free.clone();
        for &(start, other, _) in &self.plan {
            if start < self.now + asked.length {
                self.change(&mut left, &self.jobs[other], &planned[&other], -1);
                left.iter_mut().flatten().for_each(|value| *value = (*value).max(0));
            }
        }
        let got = self.place(&left, asked, at, &[])?;
        self.walk(None, Some((job, &got))).map(|_| got)
    }

    /// Returns the place of the reservation.
    fn reserve(&mut self, job: usize, places: &[usize]) -> usize {
        let running = self.running.values().map(|(end, _)| *end);
        let planned = self.plan.iter().map(|&(start, other, _)| start + self.jobs[other].length);
        let mut ends: Vec<i64> = running.chain(planned).filter(|&end| end > self.now).collect();
        ends.sort_unstable();
        let holds = |end: i64, at: usize| self.walk(Some((end, job, at)), None).is_some();
        let first = |at: usize| Some((ends.iter().copied().find(|&end| holds(end, at))?, at));
        // A place may have no instant at all, though the job fits there: the plan never leaves it.
        let (start, at) = places.iter().filter_map(|&at| first(at)).min_by_key(|(start, _)| *start).unwrap();
        self.plan.push((start, job, at));
        at
    }

    fn start(&mut self, job: usize, got: Got) {
        let mut free = std::mem::take(&mut self.free);
        self.change(&mut free, &self.jobs[job], &got, -1);
        self.free = free;
        self.running.insert(job, (self.now + self.jobs[job].length, got));
    }

    /// The starts of all jobs. None: first come, first served; else the number of reservations for each partition.
    fn run(mut self, reservations: Option<usize>, by_length: bool) -> Vec<i64> {
        let mut starts = vec![-1; self.jobs.len()];
        let (mut queue, mut next): (Vec<usize>, usize) = (Vec::new(), 0);
        loop {
            let ends = self.running.keys().map(|&job| starts[job] + self.jobs[job].runtime);
            let Some(now) = ends.chain(self.jobs.get(next).map(|job| job.submit)).min() else { return starts };
            self.now = now;
            let ended: Vec<usize> =
                self.running.keys().copied().filter(|&job| starts[job] + self.jobs[job].runtime == now).collect();
            for job in ended {
                let (_, got) = self.running.remove(&job).unwrap();
                let mut free = std::mem::take(&mut self.free);
                self.change(&mut free, &self.jobs[job], &got, 1);
                self.free = free;
            }
            while self.jobs.get(next).is_some_and(|job| job.submit == now) {
                queue.push(next);
                next += 1;
            }
            let mut started = Vec::new();
            let mut counts = vec![0; self.cluster.partitions.len()];
            self.plan.clear();
            let mut rest = Vec::new();
            for &job in &queue {
                let all = self.open(job, &counts, reservations.unwrap_or(1));
                let places = self.jobs[job].places.iter();
                match reservations {
                    _ if all.is_empty() => rest.push(job),
                    None => match all.iter().find_map(|&at| self.place(&self.free, &self.jobs[job], at, &[])) {
                        Some(got) => (self.start(job, got), started.push(job)).1,
                        None => places.for_each(|place| counts[place.partition] = 1),
                    },
                    Some(_) => match self.try_now(job, &all) {
                        Some(got) => (self.start(job, got), started.push(job)).1,
                        None => {
                            let at = self.reserve(job, &all);
                            counts[self.jobs[job].places[at].partition] += 1;
                        }
                    },
                }
            }
            if reservations.is_none() {
                rest.clear();
            }
            if by_length {
                rest.sort_by_key(|&job| (self.jobs[job].length, job));
            }
            for job in rest {
                let all: Vec<usize> = (0..self.jobs[job].places.len()).collect();
                if let Some(got) = self.try_now(job, &all) {
                    self.start(job, got);
                    started.push(job);
                }
            }
            started.iter().for_each(|&job| starts[job] = now);
            queue.retain(|job| !started.contains(job));
        }
    }
}

/// Rules for each partition: the fewest and the most nodes, the most CPUs of a node, memory for each CPU. 0: none.
type PartitionRules = (u32, u32, u32, u64);

/// The same machines, some with rules for partitions, features a, b and c, and nodes that are down.
fn ruled_clusters() -> impl Strategy<Value = Cluster> {
    let rules = (
        select(vec![0, 0, 0, 2, 3]),
        select(vec![0, 0, 1, 2, 4]),
        select(vec![0, 0, 1, 3, 6]),
        select(vec![0, 0, 0, 2]),
    );
    let of_node = (vec(any::<bool>(), 3), select(vec![false, false, false, true]));
    let ruled = (vec(rules, 4), vec(of_node, 8), select(vec![false, false, true]));
    (clusters(), proptest::option::of(ruled)).prop_map(
        |(mut cluster, ruled): (Cluster, Option<(Vec<PartitionRules>, _, _)>)| {
            let Some((rules, of_nodes, ignores_memory)) = ruled else { return cluster };
            cluster.ignores_memory = ignores_memory;
            for (partition, (least, most, cpus, memory)) in cluster.partitions.iter_mut().zip(rules) {
                partition.min_nodes = least;
                partition.max_nodes = Some(most).filter(|most| *most > 0);
                partition.max_cpus_per_node = Some(cpus).filter(|cpus| *cpus > 0);
                partition.memory_per_cpu = Some(memory).filter(|memory| *memory > 0);
            }
            for (node, (features, is_down)) in cluster.nodes.iter_mut().zip(of_nodes) {
                let named = ["a", "b", "c"].iter().zip(features).filter(|(_, has)| *has);
                node.features = named.map(|(name, _)| name.to_string()).collect();
                node.is_down = is_down;
            }
            cluster
        },
    )
}

/// Beside a [`Draft`]: how a job says its nodes, its constraint, whether its memory is that of each node, the partitions that it may
/// have beside its own, and the job whose request it has if that comes before it.
type DraftMore = (u32, &'static str, bool, [bool; 4], usize);

fn more_of_drafts() -> impl Strategy<Value = Vec<DraftMore>> {
    let constraints = select(vec!["", "", "", "a", "a|b", "(a|b)&c", "[a|b]", "c&[b|a]", "[(a&b)|c]"]);
    let others = prop_oneof![Just([false; 4]), any::<[bool; 4]>()];
    let requests = prop_oneof![Just(45..46usize), Just(0..2usize), Just(0..6usize)];
    requests.prop_flat_map(move |like| vec((0..5u32, constraints.clone(), any::<bool>(), others.clone(), like), 45))
}

/// The kinds of nodes of these constraints, worked out by hand.
fn kinds_of(constraint: &str) -> Vec<fn(&Node) -> bool> {
    fn has(node: &Node, name: &str) -> bool {
        node.features.iter().any(|own| own == name)
    }
    match constraint {
        "" => vec![|_| true],
        "a" => vec![|node| has(node, "a")],
        "a|b" => vec![|node| has(node, "a") || has(node, "b")],
        "(a|b)&c" => vec![|node| (has(node, "a") || has(node, "b")) && has(node, "c")],
        "[a|b]" => vec![|node| has(node, "a"), |node| has(node, "b")],
        "c&[b|a]" => vec![|node| has(node, "c") && has(node, "b"), |node| has(node, "c") && has(node, "a")],
        "[(a&b)|c]" => vec![|node| has(node, "a") && has(node, "b"), |node| has(node, "c")],
        other => unreachable!("{other}"),
    }
}

#[test]
fn schedulers_on_nodes_equal_the_slow_twin() {
    let schedulers = select(vec![
        ("fcfs", None, false),
        ("easy", Some(1), false),
        ("sjbf", Some(1), true),
        ("easy:reservations=2", Some(2), false),
        ("sjbf:reservations=3", Some(3), true),
        ("conservative", Some(usize::MAX), false),
    ]);
    // Without some of what jobs ask for, more of them can run. If all come at once, the queue is deep.
    let asks = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    let cases = (ruled_clusters(), drafts(), more_of_drafts(), asks, schedulers, any::<bool>());
    check(702, 4000, cases, |(cluster, asked, more_asked, asks, (scheduler, reservations, by_length), spread)| {
        let (asks_devices, asks_features, asks_nodes, come_at_once) = asks;
        let separator = if scheduler.contains(':') { ',' } else { ':' };
        let scheduler = format!("{scheduler}{separator}placement={}", if spread { "spread" } else { "pack" });
        let mut requests = Requests::default();
        let (mut submit, mut jobs, mut twins) = (0, Vec::new(), Vec::new());
        // If nothing is known of memory, it does not count.
        let like = |number: usize| more_asked[number].4.min(number);
        let is_known = (0..asked.len()).any(|number| asked[like(number)].5 > 0)
            || cluster.partitions.iter().any(|partition| partition.memory_per_cpu.is_some());
        let counts_memory = is_known && !cluster.ignores_memory;
        for (number, &(gap, runtime, more, ..)) in asked.iter().enumerate() {
            submit += if come_at_once { 0 } else { gap };
            let (_, _, _, cpus, partition, memory, gpus, nodes) = asked[like(number)];
            let (said, constraint, is_per_node, others, _) = more_asked[like(number)];
            let gpus = if asks_devices { gpus } else { 0 };
            let nodes = if asks_nodes { nodes } else { 0 };
            let constraint = if asks_features { constraint } else { "" };
            let count = cluster.partitions.len();
            let own = partition % count;
            let others = (0..count).filter(|&other| other != own && others[other]);
            let partitions: Vec<usize> = std::iter::once(own).chain(others).collect();
            let first = &cluster.partitions[own];
            let mut request = request_of(cpus, first, (memory, gpus, nodes));
            request.partitions = partitions.iter().map(|&at| cluster.partitions[at].name.clone()).collect();
            request.constraint = constraint.to_string();
            if is_per_node && memory > 0 {
                request.memory = MemoryAsked::PerNode(memory);
            }
            let asked_most = match said {
                // 2-, 2-3, or 2.
                0 => 0,
                1 if nodes > 0 => nodes + 1,
                _ => nodes,
            };
            request.max_nodes = asked_most;
            // One node at least leaves the number open, one node exactly does not.
            let is_open = nodes == 0 || (nodes == 1 && asked_most != 1);
            let list = |at: usize, of_kind: &fn(&Node) -> bool| {
                let is_mine = |node: &usize| {
                    let node = &cluster.nodes[*node];
                    !node.is_down && of_kind(node)
                };
                let own = cluster.partitions[at].nodes.iter().map(|&node| node as usize).filter(is_mine).collect();
                let rules = &cluster.partitions[at];
                let mut least = if is_open { 0 } else { i64::from(nodes) };
                if !(least == 0 && rules.min_nodes < 2) {
                    least = least.max(rules.min_nodes.into());
                }
                let allowed = rules.max_nodes.map_or(MANY, i64::from);
                let most = if asked_most == 0 { allowed } else { allowed.min(asked_most.into()) };
                TwinPlace { partition: at, nodes: own, least, most }
            };
            let kinds = kinds_of(constraint);
            let places = partitions.iter().flat_map(|&at| kinds.iter().map(move |kind| list(at, kind)));
            let places = places.collect();
            // A job that does not say its memory has what its first partition gives.
            let default = if memory > 0 { 0 } else { first.memory_per_cpu.unwrap_or(0) };
            let [per_cpu, per_node] = if is_per_node { [default, memory] } else { [default.max(memory), 0] };
            let id = requests.intern(request);
            jobs.push(Job { request: id, ..job_of(1, submit, cpus, runtime, runtime + more) });
            twins.push(TwinJob {
                submit,
                runtime,
                length: runtime + more,
                cpus: cpus.into(),
                places,
                memory_per_cpu: if counts_memory { per_cpu as i64 } else { 0 },
                memory_per_node: if counts_memory { per_node as i64 } else { 0 },
                all_memory: counts_memory && per_cpu == 0 && per_node == 0,
                gpus_per_node: gpus.into(),
            });
        }
        let all = Workload { requests: Arc::new(requests), ..workload(1000, &jobs) };
        let cluster = Arc::new(cluster);
        let of_partition = |at: usize| cluster.partitions.get(at).and_then(|partition| partition.max_cpus_per_node);
        let limits: Vec<i64> = (0..4).map(|at| of_partition(at).map_or(MANY, i64::from)).collect();
        let free_of = |node: &Node| {
            let [a, b, c, d] = limits[..] else { unreachable!() };
            [node.has.cpus().into(), node.has.memory() as i64, node.has.count(Resource::Gpus).into(), a, b, c, d]
        };
        let free: Vec<Free> = cluster.nodes.iter().map(free_of).collect();
        let twin = |jobs| {
            let (running, plan) = (BTreeMap::new(), Vec::new());
            Twin { spread, jobs, cluster: &cluster, free: free.clone(), now: 0, running, plan }
        };
        // A place on which a job does not fit the idle machine is none.
        let fits = |job: &TwinJob, at: usize| {
            job.places[at].least.max(1) <= job.places[at].most && twin(&twins).place(&free, job, at, &[]).is_some()
        };
        let with_places = |job: &TwinJob| {
            let mut places =
                job.places.iter().enumerate().filter(|(at, _)| fits(job, *at)).map(|(_, place)| place.clone());
            let places: Vec<_> = places.by_ref().collect();
            (!places.is_empty()).then(|| TwinJob { places, ..job.clone() })
        };
        let possible: Vec<TwinJob> = twins.iter().filter_map(with_places).collect();
        let Ok(placed) = put_on_cluster(all, &cluster, &PartitionMap::new(), &LogNames::default(), Unit::Cpus) else {
            prop_assert!(possible.is_empty());
            return Ok(());
        };
        prop_assert_eq!(placed.cleaning.unplaceable.count() as usize, twins.len() - possible.len());
        let outcomes = run_with(&placed, &scheduler, "estimate", EngineOptions::default());
        prop_assert_eq!(starts(&outcomes), twin(&possible).run(reservations, by_length), "{}", scheduler);
        Ok(())
    });
}
