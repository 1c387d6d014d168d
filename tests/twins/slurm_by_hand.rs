//! Cases of Slurm's rules that random machines rarely meet, worked out by hand.

use std::path::Path;
use std::sync::Arc;

use shadowtime::machine::{Resource, parse_slurm_conf};
use shadowtime::request::{MemoryAsked, Request};
use shadowtime::schedule::slurm::nodes::{
    NodeSet, NodesState, SiteLimits, SlurmJob, SlurmNodes, SlurmParameters, SlurmPass, SlurmQueue, SlurmSite,
};

use crate::support::{job_of, run, starts, workload};

/// Nodes 0 to 3. The first job has node 0 until 601, the second nodes 1 and 2 until 301. At 11 the third job is planned on nodes 1 and 2,
/// from 301 to 601. The fourth gets what is free until then, nodes 0 and 3, at 601: just when that reservation ends, so no other
/// nodes are looked at. The last one, which could only run on node 3, has to wait. At 311 nodes 0 and 1 are planned for the fourth.
#[test]
fn a_job_is_planned_beside_a_reservation_that_ends_as_it_starts() {
    let asked = [(0, 1, 600, 600), (0, 2, 300, 300), (10, 2, 300, 300), (10, 2, 600, 600), (10, 1, 1200, 60)];
    let jobs: Vec<_> = asked.iter().map(|&(submit, procs, limit, run)| job_of(1, submit, procs, run, limit)).collect();
    let outcomes = run(&workload(4, &jobs), "slurm:batch_sched_delay=0s,bf_resolution=1s", "estimate");
    assert_eq!(starts(&outcomes), [1, 1, 302, 602, 311]);
}

/// Five tasks of two CPUs, with 200 MB for each CPU. A node has memory for five CPUs, which are two tasks, so that the job needs three
/// nodes. With the fifth CPU of each, two nodes would look like enough.
#[test]
fn cpus_that_have_their_memory_are_those_of_whole_tasks() {
    let conf = "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core_Memory\nNodeName=n[1-3] CPUs=8 RealMemory=1000\n\
        PartitionName=all Nodes=ALL Default=YES\n";
    let cluster = parse_slurm_conf(conf, Path::new("")).unwrap().0;
    let site = SlurmSite::new(Arc::new(cluster), SlurmParameters::default());
    let request = Request { tasks: 5, cpus_per_task: 2, memory: MemoryAsked::PerCpu(200), ..Request::default() };
    let mut queue = SlurmQueue::default();
    queue.push(SlurmJob { limit: 60, ..SlurmJob::of(&request, vec![0], &site.cluster) }, &site, |_, _| 1);
    let mut state = NodesState::new(&site);
    let mut pass = SlurmPass {
        nodes: SlurmNodes { site: &site, state: &mut state, completing: NodeSet::none(site.len()) },
        limits: &mut SiteLimits::default(),
        now: 0,
        unix_start: 0,
        reserves_all: false,
        started: Vec::new(),
        reserved: Vec::new(),
    };
    pass.main(|number| queue.entry(number), true);
    let grant = &state.in_use.running[0].grant;
    assert_eq!(grant.iter().map(|share| share.what[Resource::Cpus]).collect::<Vec<_>>(), [4, 4, 2]);
}
