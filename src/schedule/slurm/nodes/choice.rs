//! Which nodes a job gets (`select/cons_tres`): what each node has for it, and which of them are taken.

use super::in_use::InUse;
use super::job::{NodeCounts, SlurmJob};
use super::site::{NodeSet, SlurmSite};
use super::tree::by_network;
use crate::machine::{NodeGrant, NodeShare, Resources};

/// A weight with a low byte that tests of jobs with GPUs change: nodes that such jobs can use come first.
pub type NodeWeight = u32;

/// The weight of a node before any test.
pub fn plain_weight(site: &SlurmSite, node: u32) -> NodeWeight {
    site.cluster.nodes[node as usize].weight << 8 | 0xff
}

/// What a test depends on.
pub struct NodeTest<'a> {
    pub site: &'a SlurmSite,
    pub in_use: &'a InUse,
    pub weights: &'a mut [NodeWeight],
    pub job: &'a SlurmJob,
    /// The place of the partition.
    pub partition: usize,
    /// The nodes are taken as idle.
    pub as_idle: bool,
    /// Nodes with a job come first; these have none.
    pub busy_first: Option<&'a NodeSet>,
}

/// What a job could use of a node.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usable {
    /// CPUs. The choice makes them fewer.
    pub cpus: u32,
    /// CPUs of all free cores.
    pub most: u32,
    pub gpus: u32,
    /// CPUs and GPUs together, by which nodes are left out one step after the other.
    pub count: u32,
    /// The CPUs of the tasks that can be beside its GPUs.
    pub limit: u32,
}

/// What is still wanted while nodes are taken.
#[derive(Clone, Copy)]
pub(super) struct Need {
    /// CPUs.
    pub cpus: i64,
    /// The same, for what a node gives at most.
    pub most_cpus: i64,
    /// Nodes.
    pub nodes: i64,
    /// Nodes at least.
    pub least: i64,
    /// Nodes at most.
    pub most: i64,
    /// GPUs so far, and all of them.
    pub gpus: (i64, i64),
}

impl Need {
    /// Whether nothing more is needed.
    pub fn is_met(&self) -> bool {
        self.nodes <= 0 && self.cpus <= 0 && self.has_gpus()
    }

    pub fn has_gpus(&self) -> bool {
        self.gpus.1 == 0 || self.gpus.0 >= self.gpus.1
    }

    /// A node is taken that gives this.
    pub fn take(&mut self, cpus: u32, gpus: u32) {
        let cpus = i64::from(cpus);
        (self.cpus, self.most_cpus) = (self.cpus - cpus, self.most_cpus - cpus);
        (self.nodes, self.least, self.most) = (self.nodes - 1, self.least - 1, self.most - 1);
        if cpus > 0 {
            self.gpus.0 += i64::from(gpus);
        }
    }
}

/// Whether so many nodes are enough; a job that wants more than it needs is content with fewer.
pub(super) fn are_enough(available: i64, need: &Need, counts: &NodeCounts) -> bool {
    let (least, wanted) = (i64::from(counts.least), i64::from(counts.wanted));
    available >= if wanted > least { need.nodes + least - wanted } else { need.nodes }
}

/// By node: what a job could use of it.
pub(super) type UsableNodes = Vec<Option<Usable>>;

impl NodeTest<'_> {
    fn is_whole(&self) -> bool {
        self.job.is_whole || self.site.cluster.partitions[self.partition].exclusive
    }

    /// What the job gets of these nodes. None if it cannot run on them. With `as_idle` only the nodes count.
    pub fn run(&mut self, nodes: &NodeSet, counts: &NodeCounts) -> Option<NodeGrant> {
        let mut nodes = nodes.clone();
        if !self.as_idle {
            nodes.retain(|node| self.is_open(node));
        }
        let (chosen, _) = self.select(&nodes, counts, true)?;
        if self.as_idle {
            let share = |node| NodeShare { node, what: Resources::default() };
            return Some(chosen.iter().map(share).collect());
        }
        if self.is_whole() {
            nodes.retain(|node| self.in_use.nodes[node as usize].cores == 0);
        }
        let (chosen, usable) = self.select(&nodes, counts, false)?;
        self.grant(&chosen, usable)
    }

    /// Whether a node is not ruled out by what is used of it, whatever its cores.
    fn is_open(&self, node: u32) -> bool {
        let (has, used, job) = (&self.site.cluster.nodes[node as usize], &self.in_use.nodes[node as usize], self.job);
        let memory = match self.site.cluster.ignores_memory {
            true => true,
            false if job.memory == 0 => used.memory == 0,
            false => {
                let times =
                    if job.is_per_cpu { job.tasks_per_node.max(job.cpus_per_node).max(job.cpus_per_task) } else { 1 };
                has.memory.saturating_sub(used.memory) >= job.memory.saturating_mul(times.into())
            }
        };
        let free_gpus = has.gpus.saturating_sub(used.gpus);
        memory
            && !(self.is_whole() && used.gpus > 0)
            && (!job.has_gpus() || free_gpus >= job.gpus_per_node.max(1))
            && used.exclusive == 0
            && !(self.site.cluster.partitions[self.partition].exclusive && used.cores > 0)
    }

    /// The nodes that are taken, and what each could give. `is_first`: all cores are taken as free.
    fn select(&mut self, nodes: &NodeSet, counts: &NodeCounts, is_first: bool) -> Option<(NodeSet, UsableNodes)> {
        if nodes.count() < counts.least {
            return None;
        }
        let mut usable: UsableNodes = vec![None; self.site.len()];
        let mut left = NodeSet::none(self.site.len());
        for node in nodes.iter() {
            let used = if is_first { 0 } else { self.in_use.nodes[node as usize].cores };
            usable[node as usize] = self.usable(node, self.site.cores(node) - used, is_first);
            if usable[node as usize].is_some() {
                left.insert(node);
            }
        }
        if left.count() < counts.least {
            return None;
        }
        let job = self.job;
        let by_tasks = if job.tasks_per_node > 0 { job.tasks.div_ceil(job.tasks_per_node) } else { 0 };
        let least = counts.least.max(by_tasks);
        let most = if job.tasks > 0 && counts.most > job.tasks { job.tasks.max(least) } else { counts.most };
        let counts = NodeCounts { least, most, ..*counts };
        let chosen = self.choose(left, &mut usable, &counts)?;
        Some((chosen, usable))
    }

    /// What the job could use of a node with so many free cores.
    fn usable(&mut self, node: u32, cores: u32, is_first: bool) -> Option<Usable> {
        let (has, used, job) = (&self.site.cluster.nodes[node as usize], &self.in_use.nodes[node as usize], self.job);
        let used_of = |value: u64| if self.as_idle { 0 } else { value };
        let mut gpus = 0;
        if job.has_gpus() {
            gpus = has.gpus.saturating_sub(used_of(used.gpus.into()) as u32);
            if gpus < job.gpus_per_node.max(1) {
                return None;
            }
        }
        let threads = has.threads_per_core;
        let most = cores * threads;
        if cores < 1 || most < job.cpus_per_node {
            return None;
        }
        let mut cpus = most;
        let mut limit = u32::MAX;
        if let Some(allowed) = self.site.cluster.partitions[self.partition].max_cpus_per_node {
            let used = if is_first { 0 } else { self.in_use.cpus_of_partition(self.site, self.partition, node) };
            if cpus + used > allowed {
                if self.is_whole() || used >= allowed || (allowed - used == 1 && job.cpus_per_task > 1) {
                    return None;
                }
                limit = allowed - used;
            }
        }
        if cpus < job.tasks_per_node {
            return None;
        }
        cpus = cpus.min(limit);
        let tasks = match job.tasks_per_node {
            0 if job.max_nodes == 1 && job.tasks > 0 => job.tasks,
            0 => 1,
            tasks => tasks,
        };
        if cpus < tasks * job.cpus_per_task {
            return None;
        }
        if job.has_gpus() {
            let wanted = if job.gpus_per_node > 0 { job.gpus_per_node } else { job.gpus };
            let weight = &mut self.weights[node as usize];
            *weight = *weight & !0xff | (0xff - gpus.min(wanted).min(0xff));
        }
        if !self.site.cluster.ignores_memory {
            cpus = self.cpus_by_memory(cpus, has.memory.saturating_sub(used_of(used.memory)), threads);
        }
        (cpus > 0).then_some(Usable { cpus, most, gpus, count: cpus + gpus, limit: 0 })
    }

    /// How many of these CPUs have their memory.
    fn cpus_by_memory(&self, mut cpus: u32, free: u64, threads: u32) -> u32 {
        let job = self.job;
        if !job.is_per_cpu {
            return if job.memory > free { 0 } else { cpus };
        }
        let is_too_much = |cpus: u32| job.memory.saturating_mul(cpus.into()) > free;
        if self.is_whole() && is_too_much(cpus) {
            cpus = 0;
        }
        let step = if self.site.cluster.shares_cores { 1 } else { threads };
        while is_too_much(cpus) {
            cpus = cpus.checked_sub(step).unwrap_or(0);
        }
        cpus -= cpus % job.cpus_per_task;
        if cpus < job.tasks_per_node { 0 } else { cpus }
    }

    /// The CPUs that a node gives; with GPUs no more than the tasks there need.
    pub(super) fn cpus_of(&self, usable: &mut Usable) -> u32 {
        let job = self.job;
        let (least, most) = match job.tasks_per_node {
            0 if job.max_nodes == 1 => (job.tasks.max(1), if job.tasks > 0 { job.tasks } else { u32::MAX }),
            0 if job.tasks == 1 => (1, 1),
            0 if job.tasks > 0 && job.tasks == job.min_nodes && job.tasks == job.max_nodes => (1, 1),
            0 => (1, u32::MAX),
            tasks => (tasks, tasks),
        };
        let tasks = usable.cpus / job.cpus_per_task;
        if tasks < least {
            return 0;
        }
        if !job.has_gpus() {
            return usable.cpus;
        }
        usable.limit = most.min(tasks) * job.cpus_per_task;
        usable.cpus.min(usable.limit)
    }

    /// What a node gives of its CPUs, so that the other nodes have at least one core each.
    pub(super) fn give(&self, node: u32, cpus: u32, usable: &mut Usable, need: &Need) -> u32 {
        if self.is_whole() {
            return cpus;
        }
        let threads = i64::from(self.site.cluster.nodes[node as usize].threads_per_core);
        let limit = need.most_cpus - (need.least - 1).max(0) * threads;
        let mut given = cpus;
        if i64::from(cpus) > limit {
            given = limit.max(self.job.cpus_per_node.into()) as u32;
            usable.cpus = given;
        }
        usable.count = usable.cpus + usable.gpus;
        given
    }

    /// Takes nodes; if that fails, without those that have least, one step after the other.
    fn choose(&mut self, nodes: NodeSet, usable: &mut UsableNodes, counts: &NodeCounts) -> Option<NodeSet> {
        if let Some(chosen) = self.take_nodes(&nodes, usable, counts) {
            return Some(chosen);
        }
        let mut left = nodes;
        let mut count = left.count();
        if count <= counts.least {
            return self.take_nodes(&left, usable, counts);
        }
        let most = usable.iter().flatten().map(|usable| usable.count).max().unwrap_or(0);
        for step in 1..most {
            let mut has_changed = false;
            for node in left.clone().iter() {
                if usable[node as usize].is_some_and(|usable| (1..=step).contains(&usable.count)) {
                    has_changed = true;
                    left.remove(node);
                    count -= 1;
                    if count <= counts.least {
                        break;
                    }
                }
            }
            if !has_changed && step != 1 {
                continue;
            }
            if let Some(chosen) = self.take_nodes(&left, usable, counts) {
                return Some(chosen);
            }
            if count <= counts.least {
                return None;
            }
        }
        None
    }

    fn take_nodes(&mut self, nodes: &NodeSet, usable: &mut UsableNodes, counts: &NodeCounts) -> Option<NodeSet> {
        if nodes.count() < counts.least {
            return None;
        }
        let (job, parameters) = (self.job, &self.site.parameters);
        let wanted = match job.gpus {
            0 => counts.least.max(counts.wanted),
            _ => counts.least.min(counts.wanted),
        };
        let need = Need {
            cpus: job.min_cpus.into(),
            most_cpus: job.min_cpus.into(),
            nodes: wanted.into(),
            least: counts.least.into(),
            most: counts.most.into(),
            gpus: (0, job.gpus.into()),
        };
        let is_least_loaded =
            parameters.least_loaded_first || self.site.cluster.partitions[self.partition].least_loaded_first;
        match self.busy_first {
            Some(idle) => self.by_lists(nodes, usable, need, Some(idle)),
            None if is_least_loaded => self.least_loaded(nodes, usable, need),
            None if parameters.serial_at_end && job.min_cpus == 1 && counts.wanted == 1 => {
                self.by_lists(nodes, usable, need, None)
            }
            None if self.site.network.is_some() => by_network(self, nodes, usable, need, counts),
            None => self.by_runs(nodes, usable, need, counts),
        }
    }

    /// The weights of these nodes, ascending, each once.
    pub(super) fn weights_of(&self, nodes: &NodeSet) -> Vec<NodeWeight> {
        let mut weights: Vec<NodeWeight> = nodes.iter().map(|node| self.weights[node as usize]).collect();
        weights.sort_unstable();
        weights.dedup();
        weights
    }

    /// The most nodes are at most the tasks, where nodes are taken one by one.
    fn by_tasks(&self, need: &mut Need) {
        if self.job.tasks > 0 {
            need.most = need.most.min(self.job.tasks.into());
        }
    }

    /// Weight by weight, the node with most of its CPUs free first.
    fn least_loaded(&mut self, nodes: &NodeSet, usable: &mut UsableNodes, mut need: Need) -> Option<NodeSet> {
        self.by_tasks(&mut need);
        let mut chosen = NodeSet::none(self.site.len());
        'weights: for weight in self.weights_of(nodes) {
            let mut last = u32::MAX;
            loop {
                let mut best: Option<(u32, u32)> = None;
                for node in nodes.iter().filter(|&node| self.weights[node as usize] == weight) {
                    if chosen.has(node) {
                        continue;
                    }
                    let entry = usable[node as usize].as_mut().expect("a usable node");
                    let cpus = self.cpus_of(entry);
                    let cpus = self.give(node, cpus, entry, &need);
                    let most = u64::from(entry.most);
                    if cpus == 0 {
                        continue;
                    }
                    let all = |node: u32| u64::from(self.site.cluster.nodes[node as usize].cpus);
                    let is_better = best.is_none_or(|(best, _)| {
                        let best_most = usable[best as usize].map_or(0, |usable| u64::from(usable.most));
                        best_most * all(node) < most * all(best)
                    });
                    if is_better {
                        best = Some((node, cpus));
                        if most == u64::from(last) {
                            break;
                        }
                    }
                }
                let Some((node, cpus)) = best else { break };
                let entry = usable[node as usize].expect("a usable node");
                last = entry.most;
                need.take(cpus, entry.gpus);
                chosen.insert(node);
                if need.is_met() {
                    return Some(chosen);
                }
                if need.most == 0 {
                    break 'weights;
                }
            }
        }
        is_content(&need).then_some(chosen)
    }

    /// Weight by weight: nodes with jobs, then idle ones; or for serial jobs the last node first.
    fn by_lists(
        &mut self,
        nodes: &NodeSet,
        usable: &mut UsableNodes,
        mut need: Need,
        idle: Option<&NodeSet>,
    ) -> Option<NodeSet> {
        self.by_tasks(&mut need);
        let mut chosen = NodeSet::none(self.site.len());
        for weight in self.weights_of(nodes) {
            let mut list: Vec<u32> = nodes.iter().filter(|&node| self.weights[node as usize] == weight).collect();
            let lists = match idle {
                Some(idle) => {
                    let (idle, busy) = list.into_iter().partition(|&node| idle.has(node));
                    [busy, idle]
                }
                None => {
                    list.reverse();
                    [list, Vec::new()]
                }
            };
            let (mut is_met, mut is_done) = (false, false);
            // The daemon leaves only the inner loop: with busy nodes first it takes one idle node more than needed.
            for list in lists {
                for node in list {
                    if chosen.has(node) || (idle.is_none() && need.most <= 0) {
                        continue;
                    }
                    let entry = usable[node as usize].as_mut().expect("a usable node");
                    let cpus = self.cpus_of(entry);
                    let cpus = self.give(node, cpus, entry, &need);
                    if cpus == 0 {
                        continue;
                    }
                    need.take(cpus, entry.gpus);
                    chosen.insert(node);
                    if need.is_met() {
                        (is_met, is_done) = (true, true);
                        break;
                    }
                    if need.most == 0 {
                        is_done = true;
                        break;
                    }
                }
            }
            if is_met {
                return Some(chosen);
            }
            if is_done {
                break;
            }
        }
        is_content(&need).then_some(chosen)
    }

    /// By runs of consecutive nodes of one weight: the tightest that is sufficient, else the one with most CPUs.
    fn by_runs(
        &mut self,
        nodes: &NodeSet,
        usable: &mut UsableNodes,
        mut need: Need,
        counts: &NodeCounts,
    ) -> Option<NodeSet> {
        let mut runs = self.runs(nodes, usable);
        let mut chosen = NodeSet::none(self.site.len());
        while need.most > 0 && !runs.is_empty() {
            let best = best_run(&runs, &need, counts);
            let run = runs.remove(best);
            let gpus_of = |node: u32| usable[node as usize].map_or(0, |usable| i64::from(usable.gpus));
            let mut alone = None;
            if need.nodes <= 1 {
                let fits = |&(node, cpus): &(u32, u32)| {
                    i64::from(cpus) >= need.cpus && (need.gpus.1 == 0 || need.gpus.0 + gpus_of(node) >= need.gpus.1)
                };
                alone = run.nodes.iter().copied().filter(fits).min_by_key(|&(_, cpus)| cpus);
            }
            let list = alone.map_or(run.nodes, |alone| vec![alone]);
            for (node, cpus) in list {
                if need.most == 0 || need.is_met() {
                    break;
                }
                if cpus == 0 || (need.most == 1 && i64::from(cpus) < need.cpus) {
                    continue;
                }
                let entry = usable[node as usize].as_mut().expect("a usable node");
                let cpus = self.give(node, cpus, entry, &need);
                need.take(cpus, entry.gpus);
                chosen.insert(node);
            }
            if need.is_met() {
                return Some(chosen);
            }
        }
        (need.cpus <= 0 && need.has_gpus() && are_enough(0, &need, counts)).then_some(chosen)
    }

    fn runs(&self, nodes: &NodeSet, usable: &mut UsableNodes) -> Vec<NodeRun> {
        let mut runs: Vec<NodeRun> = Vec::new();
        let mut next = None;
        for node in nodes.iter() {
            let entry = usable[node as usize].as_mut().expect("a usable node");
            let cpus = self.cpus_of(entry);
            if cpus == 0 {
                continue;
            }
            let weight = self.weights[node as usize];
            match runs.last_mut().filter(|run| next == Some(node) && run.weight == weight) {
                None => {
                    runs.push(NodeRun { weight, cpus: cpus.into(), gpus: entry.gpus.into(), nodes: vec![(node, cpus)] })
                }
                Some(run) => {
                    run.cpus += i64::from(cpus);
                    run.gpus += i64::from(entry.gpus);
                    run.nodes.push((node, cpus));
                }
            }
            next = Some(node + 1);
        }
        runs
    }

    /// What each chosen node gives: the tasks go round, one to each node after the other.
    fn grant(&self, chosen: &NodeSet, mut usable: UsableNodes) -> Option<NodeGrant> {
        let (site, job) = (self.site, self.job);
        let hosts: Vec<u32> = chosen.iter().collect();
        let threads = |node: u32| site.cluster.nodes[node as usize].threads_per_core;
        if job.has_gpus() && !self.is_whole() {
            for &node in &hosts {
                let entry = usable[node as usize].as_mut().expect("a usable node");
                entry.cpus = entry.cpus.min(entry.limit.next_multiple_of(threads(node)));
            }
        }
        let available = |node: u32| usable[node as usize].map_or(0, |usable| usable.cpus);
        let cpus = match self.is_whole() {
            true => hosts.iter().map(|&node| site.cluster.nodes[node as usize].cpus).collect(),
            false => self.distribute(&hosts, &available),
        };
        let (mut gpus_left, mut hosts_left) = (job.gpus, hosts.len() as u32);
        let mut grant = NodeGrant::new();
        for (&node, cpus) in hosts.iter().zip(cpus) {
            let has = &site.cluster.nodes[node as usize];
            let mut gpus = job.gpus_per_node;
            if job.gpus > 0 {
                let free = usable[node as usize].map_or(0, |usable| usable.gpus);
                gpus = free.min(gpus_left.saturating_sub(hosts_left - 1));
                (gpus_left, hosts_left) = (gpus_left - gpus, hosts_left - 1);
            }
            if self.is_whole() {
                gpus = has.gpus;
            }
            let mut memory = 0;
            if !site.cluster.ignores_memory {
                memory = match (job.is_per_cpu, job.memory) {
                    (true, memory) => memory * u64::from(cpus),
                    (false, 0) => has.memory,
                    (false, memory) => memory,
                };
                if memory > has.memory.saturating_sub(self.in_use.nodes[node as usize].memory) {
                    return None;
                }
            }
            grant.push(NodeShare { node, what: Resources { cpus, memory, gpus } });
        }
        Some(grant)
    }

    /// The CPUs of each host.
    fn distribute(&self, hosts: &[u32], available: &dyn Fn(u32) -> u32) -> Vec<u32> {
        let (site, job) = (self.site, self.job);
        let count = hosts.len() as u32;
        let (per_task, per_node) = (job.cpus_per_task, job.tasks_per_node);
        let cpus = (count * per_node.max(1)).max(job.min_cpus).max(count * job.cpus_per_node);
        let tasks = match (per_task, per_node) {
            (1, _) => cpus,
            (_, 0) => cpus / per_task,
            (_, per_node) => per_node * count,
        }
        .max(1);
        let threads: Vec<u32> = hosts.iter().map(|&node| site.cluster.nodes[node as usize].threads_per_core).collect();
        let limits: Vec<u32> = hosts.iter().map(|&node| available(node)).collect();
        let mut given = vec![0u32; hosts.len()];
        let mut on_host = vec![0u32; hosts.len()];
        let mut placed = 0;
        let mut has_space = false;
        for at in 0..hosts.len() {
            if placed >= tasks {
                break;
            }
            (placed, on_host[at]) = (placed + 1, on_host[at] + 1);
            given[at] = limits[at].min(per_task);
            has_space |= given[at] < limits[at];
        }
        let is_full = |given: &[u32], on_host: &[u32], at: usize| {
            limits[at] - given[at] < per_task || (per_node > 0 && on_host[at] >= per_node)
        };
        let mut is_over = !has_space;
        for at in 0..hosts.len() {
            for _ in 0..(given[at] % threads[at]) / per_task {
                if placed >= tasks || is_full(&given, &on_host, at) {
                    break;
                }
                (placed, on_host[at]) = (placed + 1, on_host[at] + 1);
                given[at] = limits[at].min(given[at] + per_task);
            }
        }
        let mut rounds = 0;
        while placed < tasks && rounds < MOST_ROUNDS {
            rounds += 1;
            has_space = false;
            for at in 0..hosts.len() {
                for _ in 0..(threads[at] / per_task).max(1) {
                    if placed >= tasks || (!is_over && is_full(&given, &on_host, at)) {
                        break;
                    }
                    (placed, on_host[at]) = (placed + 1, on_host[at] + 1);
                    given[at] = limits[at].min(given[at] + per_task);
                    has_space |= limits[at] - given[at] >= per_task;
                }
            }
            is_over |= !has_space;
        }
        if !site.cluster.shares_cores {
            for (given, threads) in given.iter_mut().zip(&threads) {
                *given = given.next_multiple_of(*threads);
            }
        }
        given
    }
}

/// More rounds of tasks than any job needs.
const MOST_ROUNDS: u32 = 10_000;

/// Consecutive nodes of one weight.
struct NodeRun {
    weight: NodeWeight,
    cpus: i64,
    gpus: i64,
    /// With the CPUs of each.
    nodes: Vec<(u32, u32)>,
}

/// Of the lowest weight the sufficient run with the fewest CPUs; if none is sufficient, that with the most. The first of equals.
fn best_run(runs: &[NodeRun], need: &Need, counts: &NodeCounts) -> usize {
    let is_sufficient = |run: &NodeRun| {
        run.cpus >= need.cpus
            && are_enough(run.nodes.len() as i64, need, counts)
            && (need.gpus.1 == 0 || need.gpus.0 + run.gpus >= need.gpus.1)
    };
    let mut best = 0;
    let mut best_is_sufficient = is_sufficient(&runs[0]);
    for (at, run) in runs.iter().enumerate().skip(1) {
        let of_best = &runs[best];
        let sufficient = is_sufficient(run);
        let is_better = run.weight < of_best.weight
            || run.weight == of_best.weight
                && ((sufficient && !best_is_sufficient)
                    || (sufficient && run.cpus < of_best.cpus)
                    || (!sufficient && run.cpus > of_best.cpus));
        if is_better {
            (best, best_is_sufficient) = (at, sufficient);
        }
    }
    best
}

/// Whether what was taken will do though fewer nodes than wanted were there.
fn is_content(need: &Need) -> bool {
    need.cpus <= 0 && need.least <= 0 && need.has_gpus()
}
