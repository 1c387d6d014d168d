//! Random machines of nodes, and random jobs for them.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use shadowtime::machine::{Cluster, Node, Partition, Resource, Tres};
use shadowtime::request::{DeviceAsked, MemoryAsked, Request};

pub fn node(at: usize, cpus: u32, memory: u64, gpus: u32) -> Node {
    let features = Vec::new();
    let has = Tres::on_node(cpus, memory).with(Resource::Gpus, gpus.into());
    Node { name: format!("n{at}"), has, features, weight: 1, threads_per_core: 1, is_down: false }
}

pub fn partition(name: &str, nodes: Vec<u32>) -> Partition {
    Partition { name: name.to_string(), nodes, priority_tier: 1, priority_job_factor: 1, ..Partition::default() }
}

/// Nodes of several kinds, some with cores of two CPUs, and partitions that overlap.
pub fn clusters() -> impl Strategy<Value = Cluster> {
    let kinds = vec(select(vec![(4, 8, 0), (4, 16, 2), (8, 32, 0), (2, 4, 1), (1, 2, 0)]), 3..8);
    let sharing = select(vec![None, None, Some(false), Some(true)]);
    (kinds, vec(vec(any::<bool>(), 8), 1..4), sharing).prop_map(|(kinds, chosen, sharing)| {
        let mut nodes: Vec<Node> = kinds.iter().enumerate().map(|(at, &(c, m, g))| node(at, c, m, g)).collect();
        if sharing.is_some() {
            nodes.iter_mut().filter(|node| node.has.cpus() % 2 == 0).for_each(|node| node.threads_per_core = 2);
        }
        let mut partitions = vec![partition("all", (0..nodes.len() as u32).collect())];
        for (at, chosen) in chosen.iter().enumerate() {
            let some: Vec<u32> = (0..nodes.len() as u32).filter(|&node| chosen[node as usize]).collect();
            if !some.is_empty() {
                partitions.push(partition(&format!("p{at}"), some));
            }
        }
        partitions[0].is_default = true;
        Cluster { nodes, partitions, shares_cores: sharing == Some(true), ..Cluster::default() }
    })
}

/// The gap before it, its runtime, what its estimate is longer, its CPUs, partition, memory per CPU, GPUs per node and nodes.
pub type Draft = (i64, i64, i64, u32, usize, u64, u32, u32);

pub fn drafts() -> impl Strategy<Value = Vec<Draft>> {
    let gaps = select(vec![0, 0, 1, 1, 2, 3, 10]);
    let job = (gaps, 1..=20i64, 0..=6i64, 1..=14u32, 0..4usize, select(vec![0u64, 0, 1, 2, 3]), 0..=2u32, 0..=3u32);
    vec(job, 10..45)
}

/// A request for CPUs in a partition, with memory for each CPU, GPUs on each node, and nodes; 0 is none.
pub fn request_of(cpus: u32, partition: &Partition, (memory, gpus, nodes): (u64, u32, u32)) -> Request {
    Request {
        cpus,
        min_nodes: nodes,
        max_nodes: nodes,
        memory: if memory > 0 { MemoryAsked::PerCpu(memory) } else { MemoryAsked::Unsaid },
        devices: DeviceAsked::on_each(gpus).of(Resource::Gpus),
        partitions: vec![partition.name.clone()],
        ..Request::default()
    }
}
