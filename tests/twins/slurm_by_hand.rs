//! Cases of Slurm's rules that random machines rarely meet, worked out by hand.

use std::path::Path;
use std::sync::Arc;

use shadowtime::engine::{EngineOptions, Simulation};
use shadowtime::experiment::Setting;
use shadowtime::job::Job;
use shadowtime::machine::{Resource, parse_slurm_conf};
use shadowtime::request::{MemoryAsked, Request, Requests};
use shadowtime::schedule::slurm::nodes::{
    NodeSet, NodesState, SiteLimits, SlurmJob, SlurmNodes, SlurmParameters, SlurmPass, SlurmQueue, SlurmSite,
};
use shadowtime::time::Time;
use shadowtime::trace::{LogNames, PartitionMap, RunFacts, Unit, Workload, put_on_cluster};

use crate::support::{facts, job_of, run, starts, workload};

/// The starts of jobs on a pool, of which the processors are nodes here: (submission, processors, limit, run).
fn starts_on(procs: u32, asked: &[(i64, u32, i64, i64)]) -> Vec<i64> {
    let jobs: Vec<_> = asked.iter().map(|&(submit, procs, limit, run)| job_of(1, submit, procs, run, limit)).collect();
    starts(&run(&workload(procs, &jobs), "slurm:batch_sched_delay=0s,bf_resolution=1s", "estimate"))
}

/// Nodes 0 to 3. The first job has node 0 until 601, the second nodes 1 and 2 until 301. At 11 the third job is planned on nodes 1 and 2,
/// from 301 to 601. The fourth gets what is free until then, nodes 0 and 3, at 601: just when that reservation ends, so no other
/// nodes are looked at. The last one, which could only run on node 3, has to wait. At 311 nodes 0 and 1 are planned for the fourth.
#[test]
fn a_job_is_planned_beside_a_reservation_that_ends_as_it_starts() {
    let asked = [(0, 1, 600, 600), (0, 2, 300, 300), (10, 2, 300, 300), (10, 2, 600, 600), (10, 1, 1200, 60)];
    assert_eq!(starts_on(4, &asked), [1, 1, 302, 602, 311]);
}

/// Nodes 0 to 5. The first job has nodes 0 and 1 until 301, the second nodes 2 to 4 until 601. At 11 the third is planned on nodes 0 and 1
/// from 301 to 601. The fourth needs four nodes: there cannot be so many before 601, when that reservation ends too. It gets those that
/// are free until then, nodes 2 to 5, so that the last job, which could only run on node 5, has to wait. At 311 the third runs until 602,
/// in the same group of ends as the second, and the fourth is planned on nodes 0 to 3.
#[test]
fn a_job_that_cannot_start_before_a_reservation_ends_is_planned_beside_it() {
    let asked = [(0, 2, 300, 300), (0, 3, 600, 600), (10, 2, 300, 300), (10, 4, 600, 600), (10, 1, 1200, 60)];
    assert_eq!(starts_on(6, &asked), [1, 1, 302, 602, 311]);
}

/// The same on nodes of two CPUs.
fn on_nodes(nodes: u32, asked: &[(i64, u32, i64, i64)]) -> Workload {
    let conf = format!("NodeName=n[1-{nodes}] CPUs=2\nPartitionName=all Nodes=ALL Default=YES\n");
    let cluster = Arc::new(parse_slurm_conf(&conf, Path::new("")).unwrap().0);
    let mut requests = Requests::default();
    let jobs = asked.iter().map(|&(submit, cpus, limit, run)| {
        let request = requests.intern(Request { cpus, ..Request::default() });
        Job { request, ..job_of(1, submit, cpus, run, limit) }
    });
    let jobs: Vec<_> = jobs.collect();
    let all = Workload { requests: Arc::new(requests), ..workload(2 * nodes, &jobs) };
    put_on_cluster(all, &cluster, &PartitionMap::new(), &LogNames::default(), Unit::Cpus).unwrap()
}

/// The reservations that the backfill pass at 1 makes.
fn reserved_at_1(workload: &Workload, keys: &str) -> Vec<Time> {
    let setting = Setting::parse(&format!("slurm:bf_resolution=1s,{keys}"), "estimate").unwrap();
    let policy = setting.policy(&facts(&workload.jobs).on(workload.shapes.as_ref()));
    let predictor = setting.predictor(&RunFacts::of(workload));
    let mut simulation = Simulation::new(workload.procs, policy, predictor, EngineOptions::default());
    workload.jobs.iter().for_each(|job| assert!(simulation.submit(job).is_ok()));
    simulation.advance_to(1).unwrap();
    simulation.reservations(100).into_iter().map(|(_, start)| start).collect()
}

/// Two nodes of two CPUs. The first job has one until 301, when the second gets both. Of two jobs that ask for one node the first would
/// reach into that, and the second would not: that one starts though the other cannot. The other starts a second after the end at 602.
#[test]
fn a_short_job_starts_where_a_long_one_like_it_cannot() {
    let placed = on_nodes(2, &[(0, 2, 300, 300), (10, 4, 300, 300), (10, 2, 600, 60), (10, 2, 240, 60)]);
    assert_eq!(starts(&run(&placed, "slurm:batch_sched_delay=0s,bf_resolution=1s", "estimate")), [1, 302, 603, 11]);
}

/// The first job has the machine from 1 to 601. A window of ten minutes reaches just there from the pass at 1, one of nine does not.
#[test]
fn a_start_at_the_end_of_the_window_is_reserved() {
    let pool = workload(1, &[job_of(1, 0, 1, 600, 600), job_of(1, 0, 1, 600, 600)]);
    for workload in [pool, on_nodes(1, &[(0, 2, 600, 600), (0, 2, 600, 600)])] {
        let reserved = ["bf_window=10m", "bf_window=9m"].map(|window| reserved_at_1(&workload, window));
        assert_eq!(reserved, [vec![601], vec![]]);
    }
}

/// Node 0 is in use until 601, node 1 until 1201. The third job gets node 0 from 601 to 1201, the fourth both nodes from then to 1801.
/// The last one, which needs both too, would end at 601 if it could start now: just when the third begins. It is still planned behind the
/// fourth, where nodes are next released.
#[test]
fn a_release_is_found_behind_a_reservation_that_begins_at_a_limit() {
    let asked = [(1, 600), (1, 1200), (1, 600), (2, 600), (2, 600)];
    let jobs = asked.map(|(procs, limit)| job_of(1, 0, procs, limit, limit));
    assert_eq!(reserved_at_1(&workload(2, &jobs), "bf_window=1d"), [601, 1201, 1801]);
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
