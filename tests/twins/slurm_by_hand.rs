//! Cases of Slurm's rules that random machines rarely meet, worked out by hand.

use std::path::Path;
use std::sync::Arc;

use shadowtime::engine::{EngineOptions, Simulation};
use shadowtime::experiment::Setting;
use shadowtime::job::{Job, JobId};
use shadowtime::machine::associations::{Limits, QualityOfService};
use shadowtime::machine::{NodeShare, Resource, Tres, parse_slurm_conf};
use shadowtime::request::{DeviceAsked, MemoryAsked, Request, Requests};
use shadowtime::schedule::slurm::nodes::{
    NodeSet, NodesState, QueueEntry, RunningJob, SiteLimits, SlurmJob, SlurmNodes, SlurmParameters, SlurmPass,
    SlurmSite,
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
    on_nodes_with(nodes, asked, Limits::default())
}

/// The same with limits of all jobs together.
fn on_nodes_with(nodes: u32, asked: &[(i64, u32, i64, i64)], limits: Limits) -> Workload {
    let conf = format!("NodeName=n[1-{nodes}] CPUs=2\nPartitionName=all Nodes=ALL Default=YES QOS=all\n");
    let mut cluster = parse_slurm_conf(&conf, Path::new("")).unwrap().0;
    cluster.associations.qos = vec![QualityOfService { limits, ..QualityOfService::new("all") }];
    let cluster = Arc::new(cluster);
    let mut requests = Requests::default();
    let jobs = asked.iter().map(|&(submit, cpus, limit, run)| {
        let request = requests.intern(Request { cpus, ..Request::default() });
        Job { request, ..job_of(1, submit, cpus, run, limit) }
    });
    let jobs: Vec<_> = jobs.collect();
    let all = Workload { requests: Arc::new(requests), ..workload(2 * nodes, &jobs) };
    put_on_cluster(all, &cluster, &PartitionMap::new(), &LogNames::default(), Unit::Cpus).unwrap()
}

/// A simulation with all of these jobs.
fn simulation(workload: &Workload, keys: &str) -> Simulation<()> {
    let setting = Setting::parse(&format!("slurm:bf_resolution=1s,{keys}"), "estimate").unwrap();
    let policy = setting.policy(&facts(&workload.jobs).on(workload.shapes.as_ref()));
    let predictor = setting.predictor(&RunFacts::of(workload));
    let mut simulation = Simulation::new(workload.procs, policy, predictor, EngineOptions::default());
    workload.jobs.iter().for_each(|job| assert!(simulation.submit(job).is_ok()));
    simulation
}

/// The reservations that the backfill pass at this instant makes.
fn reserved_at(time: Time, workload: &Workload, keys: &str) -> Vec<Time> {
    let mut simulation = simulation(workload, keys);
    simulation.advance_to(time).unwrap();
    simulation.reservations(100).into_iter().map(|(_, start)| start).collect()
}

/// Two nodes of two CPUs. The first job has one until 301, when the second gets both. Of two jobs that ask for one node the first would
/// reach into that, and the second would not: that one starts though the other cannot. The other starts a second after the end at 602.
#[test]
fn a_short_job_starts_where_a_long_one_like_it_cannot() {
    let placed = on_nodes(2, &[(0, 2, 300, 300), (10, 4, 300, 300), (10, 2, 600, 60), (10, 2, 240, 60)]);
    assert_eq!(starts(&run(&placed, "slurm:batch_sched_delay=0s,bf_resolution=1s", "estimate")), [1, 302, 603, 11]);
}

/// GrpSubmitJobs=2: one job runs on the first node, one waits for both, and the third is refused. When the second is cancelled at 15, the
/// user of the third submits it again, and it starts on the second node in the pass a second later.
#[test]
fn a_cancelled_job_does_not_count_as_submitted() {
    let limits = Limits { group_submit_jobs: Some(2), ..Limits::default() };
    let placed = on_nodes_with(2, &[(0, 2, 600, 600), (0, 4, 600, 60), (5, 2, 60, 60)], limits);
    let mut simulation = simulation(&placed, "batch_sched_delay=0s");
    simulation.advance_to(15).unwrap();
    assert_eq!(simulation.machine().waiting.len(), 2);
    simulation.cancel(JobId(1)).unwrap();
    simulation.advance_to(20).unwrap();
    assert_eq!(simulation.outcome(JobId(2)).start.get(), Some(16));
}

/// The first job has the machine from 1 to 601. A window of ten minutes reaches just there from the pass at 1, one of nine does not.
#[test]
fn a_start_at_the_end_of_the_window_is_reserved() {
    let pool = workload(1, &[job_of(1, 0, 1, 600, 600), job_of(1, 0, 1, 600, 600)]);
    for workload in [pool, on_nodes(1, &[(0, 2, 600, 600), (0, 2, 600, 600)])] {
        let reserved = ["bf_window=10m", "bf_window=9m"].map(|window| reserved_at(1, &workload, window));
        assert_eq!(reserved, [vec![601], vec![]]);
    }
}

/// One of two processors is in use until 601. The second job gets both from then to 1201, which is the end of the window for the first
/// pass, at 1. What is released there is not in that plan: the third job, which would run beyond 601, has no place. It has one in the
/// next pass, for which the window ends at 1231.
#[test]
fn a_plan_up_to_the_end_of_the_window_is_made_again() {
    let jobs = [(1, 600), (2, 600), (1, 1200)].map(|(procs, limit)| job_of(1, 0, procs, limit, limit));
    let reserved = [1, 31].map(|time| reserved_at(time, &workload(2, &jobs), "bf_window=20m"));
    assert_eq!(reserved, [vec![601], vec![601, 1201]]);
}

/// Node 0 is in use until 601, node 1 until 1201. The third job gets node 0 from 601 to 1201, the fourth both nodes from then to 1801.
/// The last one, which needs both too, would end at 601 if it could start now: just when the third begins. It is still planned behind the
/// fourth, where nodes are next released.
#[test]
fn a_release_is_found_behind_a_reservation_that_begins_at_a_limit() {
    let asked = [(1, 600), (1, 1200), (1, 600), (2, 600), (2, 600)];
    let jobs = asked.map(|(procs, limit)| job_of(1, 0, procs, limit, limit));
    assert_eq!(reserved_at(1, &workload(2, &jobs), "bf_window=1d"), [601, 1201, 1801]);
}

/// A machine with the parameters of these keys.
fn site(conf: &str, keys: &str) -> SlurmSite {
    let conf = format!("SelectType=select/cons_tres\n{conf}PartitionName=all Nodes=ALL Default=YES\n");
    let setting = Setting::parse(&format!("slurm:bf_resolution=1s{keys}"), "estimate").unwrap();
    SlurmSite::new(Arc::new(parse_slurm_conf(&conf, Path::new("")).unwrap().0), SlurmParameters::of(&setting.scheduler))
}

/// A pass at 0 that makes all reservations.
fn pass_at_0<'p>(site: &'p SlurmSite, state: &'p mut NodesState, limits: &'p mut SiteLimits) -> SlurmPass<'p, 'p> {
    SlurmPass {
        nodes: SlurmNodes { site, state, completing: NodeSet::none(site.len()) },
        limits,
        now: 0,
        unix_start: 0,
        reserves_all: true,
        started: Vec::new(),
        reserved: Vec::new(),
    }
}

/// A job of a minute in the first partition.
fn slurm_job(id: u64, request: &Request, site: &SlurmSite) -> SlurmJob {
    SlurmJob { id, limit: 60, ..SlurmJob::of(request, vec![0], &site.cluster) }
}

/// What the only job of a queue gets of the nodes: CPUs, or GPUs. Nothing if it does not start.
fn granted(site: &SlurmSite, request: &Request, what: Resource) -> Vec<u64> {
    let (mut state, mut limits) = (NodesState::new(site), SiteLimits::default());
    let job = slurm_job(1, request, site);
    let mut pass = pass_at_0(site, &mut state, &mut limits);
    pass.main(|number| (number == 0).then_some(QueueEntry { job: &job, partition: 0 }), true);
    pass.started.iter().flat_map(|started| &started.grant).map(|share| share.what.count(what).into()).collect()
}

/// Five tasks of two CPUs, with 200 MB for each CPU. A node has memory for five CPUs, which are two tasks, so that the job needs three
/// nodes. With the fifth CPU of each, two nodes would look like enough.
#[test]
fn cpus_that_have_their_memory_are_those_of_whole_tasks() {
    let site = site("SelectTypeParameters=CR_Core_Memory\nNodeName=n[1-3] CPUs=8 RealMemory=1000\n", "");
    let request = Request { tasks: 5, cpus_per_task: 2, memory: MemoryAsked::PerCpu(200), ..Request::default() };
    assert_eq!(granted(&site, &request, Resource::Cpus), [4, 4, 2]);
}

/// MaxCPUsPerNode is how many CPUs of a node the jobs of a partition may have: all eight, so that a job may have the node whole, or
/// seven.
#[test]
fn a_whole_node_may_be_just_what_a_partition_allows() {
    let request = Request { cpus: 1, exclusive: true, ..Request::default() };
    let granted = [8, 7].map(|most| {
        let mut site = site("SelectTypeParameters=CR_Core\nNodeName=n1 CPUs=8\n", "");
        Arc::make_mut(&mut site.cluster).partitions[0].max_cpus_per_node = Some(most);
        granted(&site, &request, Resource::Cpus)
    });
    assert_eq!(granted, [vec![8], vec![]]);
}

/// Four GPUs on two nodes of four: each node gives at least one, and the first as many as it can.
#[test]
fn gpus_of_a_job_are_on_all_of_its_nodes() {
    let site = site("SelectTypeParameters=CR_Core\nGresTypes=gpu\nNodeName=n[1-2] CPUs=4 Gres=gpu:4\n", "");
    let devices = DeviceAsked::Total(4).of(Resource::Gpus);
    let request = Request { cpus: 2, min_nodes: 2, max_nodes: 2, devices, ..Request::default() };
    assert_eq!(granted(&site, &request, Resource::Gpus), [3, 1]);
}

/// Two nodes of three CPUs, then two of four with a GPU. Eleven CPUs on at most three nodes are 3 + 4 + 4, which a test does not find that
/// takes nodes from the first on: 3 + 3, and no node has the other five; without the small nodes there are eight. Between two such jobs
/// one asks for a GPU. It is young and both nodes with GPUs are completing, so that it gets nothing, but its test puts these nodes first.
/// So the second of the equal jobs is planned on them, when they have completed.
#[test]
fn nodes_that_a_gpu_job_was_tested_on_come_first_for_the_next_job() {
    let conf =
        "SelectTypeParameters=CR_Core\nGresTypes=gpu\nNodeName=a[1-2] CPUs=3\nNodeName=b[1-2] CPUs=4 Gres=gpu:1\n";
    let site = site(conf, ",bf_min_age_reserve=1m");
    let wide = Request { cpus: 11, min_nodes: 1, max_nodes: 3, ..Request::default() };
    let gpu = Request { cpus: 1, devices: DeviceAsked::Total(1).of(Resource::Gpus), ..Request::default() };
    let jobs = [(&wide, -60, 1), (&gpu, 0, 2), (&wide, -60, 1)];
    let jobs = [1, 2, 3].map(|id| {
        let (request, submit, kind) = jobs[id as usize - 1];
        SlurmJob { submit, kind, ..slurm_job(id, request, &site) }
    });
    let (mut state, mut limits) = (NodesState::new(&site), SiteLimits::default());
    let mut pass = pass_at_0(&site, &mut state, &mut limits);
    [2, 3].into_iter().for_each(|node| pass.nodes.completing.insert(node));
    pass.backfill(|number| jobs.get(number).map(|job| QueueEntry { job, partition: 0 }));
    assert!(pass.started.is_empty());
    assert_eq!(pass.reserved.iter().map(|plan| (plan.id, plan.start)).collect::<Vec<_>>(), [(3, 1)]);
}

/// A job of the lower tier has the only node since `start`. Whether it makes way at 0 for a job of the higher tier, which has preempted
/// others at `last`.
fn makes_way(start: Time, last: Option<Time>, keys: &str) -> bool {
    let conf = "SelectTypeParameters=CR_Core\nNodeName=n1 CPUs=1\nPartitionName=high Nodes=ALL PriorityTier=2\n";
    let site = site(conf, &format!(",preempt=requeue{keys}"));
    let (mut state, mut limits) = (NodesState::new(&site), SiteLimits::default());
    let grant = vec![NodeShare::new(0, Tres::on_node(1, 0))];
    state.in_use.start(RunningJob { start, end: 900, id: 1, partition: 1, grant, ..RunningJob::default() }, &site);
    let job = slurm_job(2, &Request { cpus: 1, ..Request::default() }, &site);
    last.into_iter().for_each(|last| state.note_preemptor(&job, last));
    let mut pass = pass_at_0(&site, &mut state, &mut limits);
    pass.main(|number| (number == 0).then_some(QueueEntry { job: &job, partition: 0 }), true);
    state.take_making_way().len() == 1
}

/// It has run for a second at least, and for PreemptExemptTime. Who has preempted others waits for KillWait and ten seconds
/// (MessageTimeout) until these are gone.
#[test]
fn who_makes_way_and_for_whom_depends_on_the_second() {
    assert_eq!([-1, 0].map(|start| makes_way(start, None, "")), [true, false]);
    assert_eq!([-60, -59].map(|start| makes_way(start, None, ",preempt_exempt=1m")), [true, false]);
    assert_eq!([-40, -39].map(|last| makes_way(-900, Some(last), ",kill_wait=30s")), [true, false]);
}
