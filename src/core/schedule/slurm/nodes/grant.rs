//! What each chosen node gives: CPUs task by task, memory and GPUs.

use super::NodeSet;
use super::choice::{NodeTest, UsableNodes};
use crate::machine::{NodeGrant, NodeShare, Resource, Tres};

impl NodeTest<'_> {
    /// What each chosen node gives: the tasks go round, one to each node after the other.
    pub(super) fn grant(&self, chosen: &NodeSet, usable: &mut UsableNodes) -> Option<NodeGrant> {
        let (site, job) = (self.on.site, self.on.job);
        let hosts: Vec<u32> = chosen.iter().collect();
        let hardware = |node: u32| &site.hardware[node as usize];
        if job.has_gpus() && !self.on.is_whole {
            for &node in &hosts {
                let entry = usable[node as usize].as_mut().expect("a usable node");
                entry.cpus = entry.cpus.min(entry.limit.next_multiple_of(hardware(node).threads));
            }
        }
        let available = |node: u32| usable[node as usize].map_or(0, |usable| usable.cpus);
        let cpus = match self.on.is_whole {
            true => hosts.iter().map(|&node| hardware(node).has.cpus()).collect(),
            false => self.distribute(&hosts, &available),
        };
        let (mut gpus_left, mut hosts_left) = (job.gpus, hosts.len() as u32);
        let mut grant = NodeGrant::new();
        for (&node, cpus) in hosts.iter().zip(cpus) {
            let has = &hardware(node).has;
            let mut gpus = job.gpus_per_node;
            if job.gpus > 0 {
                let free = usable[node as usize].map_or(0, |usable| usable.gpus);
                gpus = free.min(gpus_left.saturating_sub(hosts_left - 1));
                (gpus_left, hosts_left) = (gpus_left - gpus, hosts_left - 1);
            }
            if self.on.is_whole {
                gpus = has.count(Resource::Gpus);
            }
            let mut memory = 0;
            if !site.cluster.ignores_memory {
                memory = match (job.is_per_cpu, job.memory) {
                    (true, memory) => memory * u64::from(cpus),
                    (false, 0) => has.memory(),
                    (false, memory) => memory,
                };
                if memory > has.memory().saturating_sub(self.on.in_use.nodes[node as usize].memory) {
                    return None;
                }
            }
            grant.push(NodeShare::new(node, Tres::on_node(cpus, memory).with(Resource::Gpus, gpus.into())));
        }
        Some(grant)
    }

    /// The CPUs of each host.
    fn distribute(&self, hosts: &[u32], available: &dyn Fn(u32) -> u32) -> Vec<u32> {
        let (site, job) = (self.on.site, self.on.job);
        let count = hosts.len() as u32;
        let (per_task, per_node) = (job.cpus_per_task, job.tasks_per_node);
        let cpus = (count * per_node.max(1)).max(job.min_cpus).max(count * job.cpus_per_node);
        let tasks = match (per_task, per_node) {
            (1, _) => cpus,
            (_, 0) => cpus / per_task,
            (_, per_node) => per_node * count,
        }
        .max(1);
        let threads: Vec<u32> = hosts.iter().map(|&node| site.hardware[node as usize].threads).collect();
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
