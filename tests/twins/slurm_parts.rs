//! The lists of a Slurm on nodes and of the nodes themselves, with their contents worked out by hand.

use std::path::Path;
use std::sync::Arc;

use shadowtime::job::JobId;
use shadowtime::machine::ListRelation::{Apart, Other, Within};
use shadowtime::machine::{Cluster, NodeShare, Nodes, Shapes, Tres, parse_slurm_conf};
use shadowtime::request::{Request, Requests};
use shadowtime::schedule::slurm::nodes::{
    InUse, NodeCounts, NodeSet, NodesState, RunningJob, SiteLimits, SlurmJob, SlurmNodes, SlurmParameters, SlurmPass,
    SlurmQueue, SlurmSite, merge_sort,
};
use shadowtime::time::{DAY, HOUR};
use shadowtime::trace::{Conditions, JobArray, LogConditions, Workload};

use crate::support::{job_of, run, starts, workload};

/// Nodes of four CPUs, in a partition without a limit and in one with a limit of an hour.
fn cluster(nodes: u32) -> Cluster {
    let conf = format!(
        "NodeName=n[1-{nodes}] CPUs=4\nPartitionName=all Nodes=ALL Default=YES\nPartitionName=short Nodes=ALL MaxTime=60\n"
    );
    parse_slurm_conf(&conf, Path::new("")).unwrap().0
}

fn site(nodes: u32) -> SlurmSite {
    SlurmSite::new(Arc::new(cluster(nodes)), SlurmParameters::default())
}

fn job(id: u64, partition: usize, site: &SlurmSite) -> SlurmJob {
    let request = Request { cpus: 1, ..Request::default() };
    SlurmJob { id, limit: 3 * DAY, ..SlurmJob::of(&request, vec![partition], &site.cluster) }
}

/// The ends do not come in the order of the starts, and three jobs share each of them.
#[test]
fn running_jobs_stay_in_order_of_their_ends_however_many_there_are() {
    const JOBS: u32 = 300;
    let site = site(JOBS);
    let mut in_use = InUse::new(&site);
    for n in 0..JOBS {
        let end = i64::from(n * 17 % 100);
        let grant = vec![NodeShare::new(n, Tres::on_node(1, 0))];
        in_use.start(
            RunningJob {
                start: 0,
                end,
                id: n.into(),
                partition: 0,
                qos: None,
                no_requeue: false,
                grace_end: None,
                grant,
                is_whole: false,
            },
            &site,
        );
        assert!(in_use.running.is_sorted_by_key(|job| (job.end, job.id)), "after the start of job {n}");
    }
    for n in (0..JOBS).rev() {
        let ended = in_use.end(n.into(), &site).unwrap();
        assert_eq!(ended.grant[0].node, n);
        assert_eq!((in_use.nodes.nodes[n as usize].jobs, in_use.running.len()), (0, n as usize));
    }
}

/// Of equal priorities the job that was submitted first is the first, then the one with the smaller number.
#[test]
fn jobs_of_one_priority_and_age_are_in_order_of_their_numbers() {
    let site = site(1);
    let mut queue = SlurmQueue::default();
    for (id, submit) in [(8, 5), (7, 5), (9, 4), (6, 6)] {
        queue.push(SlurmJob { submit, ..job(id, 0, &site) }, &site, |_, _| 100);
    }
    let order = |queue: &SlurmQueue| (0..4).map(|n| queue.entry(n).unwrap().job.id).collect::<Vec<_>>();
    assert_eq!(order(&queue), [9, 7, 8, 6]);
    let first_is_6 = |job: &SlurmJob, _: usize| i64::from(job.id == 6);
    assert!(queue.rank(first_is_6), "the order has changed");
    assert_eq!(order(&queue), [6, 9, 7, 8]);
    assert!(!queue.rank(first_is_6), "it is as before");
}

/// Of the sorted halves the left one comes first unless it is after the other.
#[test]
fn equal_entries_stay_in_their_order() {
    let sorted = merge_sort(&[(2, 'a'), (1, 'b'), (2, 'c'), (1, 'd')], &|one, other| one.0 > other.0);
    assert_eq!(sorted, [(1, 'b'), (1, 'd'), (2, 'a'), (2, 'c')]);
}

/// What a main pass starts at 100 of a queue of jobs, and whether it stopped at its depth.
fn main_pass(site: &SlurmSite, jobs: Vec<SlurmJob>, is_full: bool) -> (Vec<RunningJob>, bool) {
    let mut queue = SlurmQueue::default();
    for job in jobs {
        queue.push(job, site, |_, _| 1);
    }
    let mut state = NodesState::new(site);
    let mut pass = SlurmPass {
        nodes: SlurmNodes { site, state: &mut state, completing: NodeSet::none(site.len()) },
        limits: &mut SiteLimits::default(),
        now: 100,
        unix_start: 0,
        reserves_all: false,
        started: Vec::new(),
        reserved: Vec::new(),
    };
    let is_cut_off = pass.main(|number| queue.entry(number), is_full);
    (state.in_use.running, is_cut_off)
}

/// A job of three days is planned for all of them where the partition has no limit, and for an hour where that is the limit.
#[test]
fn a_job_is_planned_for_its_limit_where_the_partition_has_none() {
    let site = site(1);
    for (partition, planned) in [(0, 3 * DAY), (1, HOUR)] {
        let (running, _) = main_pass(&site, vec![job(1, partition, &site)], true);
        assert_eq!(running[0].end, 100 + planned, "partition {partition}");
    }
}

/// The daemon looks at one entry more than `default_queue_depth` says.
#[test]
fn a_main_pass_stops_behind_its_depth() {
    let site = SlurmSite::new(Arc::new(cluster(3)), SlurmParameters { depth: 1, ..SlurmParameters::default() });
    let jobs = || (1..=3).map(|id| job(id, 0, &site)).collect();
    let started = |is_full| {
        let (running, is_cut_off) = main_pass(&site, jobs(), is_full);
        (running.len(), is_cut_off)
    };
    assert_eq!([started(false), started(true)], [(2, true), (3, false)]);
}

/// A job that takes its node whole may have all CPUs that MaxCPUsPerNode allows, and no more.
#[test]
fn a_whole_node_is_within_the_limit_of_its_partition() {
    for (most, expected) in [(3, 0), (4, 1)] {
        let conf = format!("NodeName=n1 CPUs=4\nPartitionName=all Nodes=ALL Default=YES MaxCPUsPerNode={most}\n");
        let (cluster, _) = parse_slurm_conf(&conf, Path::new("")).unwrap();
        let site = SlurmSite::new(Arc::new(cluster), SlurmParameters::default());
        let request = Request { cpus: 1, exclusive: true, ..Request::default() };
        let whole = SlurmJob { id: 1, limit: HOUR, ..SlurmJob::of(&request, vec![0], &site.cluster) };
        assert_eq!(main_pass(&site, vec![whole], true).0.len(), expected, "{most}");
    }
}

/// A partition allows three nodes at most, another one any number. Two tasks cannot use more than two nodes, unless the job asks for more.
#[test]
fn the_nodes_of_a_job_are_those_that_its_partition_and_its_tasks_allow() {
    let conf =
        "NodeName=n[1-8] CPUs=4\nPartitionName=all Nodes=ALL Default=YES MaxNodes=3\nPartitionName=any Nodes=ALL\n";
    let (cluster, _) = parse_slurm_conf(conf, Path::new("")).unwrap();
    let counts = |tasks, min_nodes, max_nodes| {
        let request = Request { tasks, min_nodes, max_nodes, ..Request::default() };
        let job = SlurmJob::of(&request, vec![0, 1], &cluster);
        [0, 1].map(|partition| job.counts(&cluster, partition).map(|counts| job.counts_by_tasks(&counts)))
    };
    let of = |least, most, wanted| Some(NodeCounts { least, most, wanted });
    assert_eq!(counts(0, 1, 5), [of(1, 3, 3), of(1, 5, 5)]);
    assert_eq!(counts(0, 4, 5), [None, of(4, 5, 5)]);
    assert_eq!(counts(2, 1, 5), [of(1, 2, 3), of(1, 2, 5)]);
    assert_eq!(counts(2, 3, 5), [of(3, 3, 3), of(3, 3, 5)]);
}

/// A job that is stopped has given its nodes back. When it leaves later, it has nothing more to give.
#[test]
fn a_stopped_job_gives_its_nodes_back_once() {
    let mut requests = Requests::default();
    let request = requests.intern(Request { cpus: 3, ..Request::default() });
    let mut nodes = Nodes::new(Arc::new(Shapes::new(Arc::new(cluster(2)), &requests)));
    let idle = nodes.free().to_vec();
    for id in [JobId(0), JobId(1)] {
        nodes.arrive(id, request);
        nodes.start(id, vec![NodeShare::new(id.0, Tres::on_node(3, 0))]);
    }
    assert_eq!([nodes.free()[0].cpus(), nodes.free()[1].cpus()], [1, 1]);
    nodes.stop(JobId(0));
    assert_eq!([nodes.free()[0].cpus(), nodes.free()[1].cpus()], [4, 1]);
    assert!(nodes.grant(JobId(0)).is_empty());
    nodes.leave(JobId(0));
    nodes.leave(JobId(1));
    assert_eq!(nodes.free(), idle);
}

/// All nodes, the first two, the last two, and those between: a part is within the whole, never the other way round.
#[test]
fn a_list_of_nodes_is_within_a_longer_one_but_not_the_other_way_round() {
    let conf = "NodeName=n[1-4] CPUs=4\nPartitionName=all Nodes=ALL Default=YES\nPartitionName=low Nodes=n[1-2]\n\
        PartitionName=high Nodes=n[3-4]\nPartitionName=mid Nodes=n[2-3]\n";
    let (cluster, _) = parse_slurm_conf(conf, Path::new("")).unwrap();
    let mut requests = Requests::default();
    let ids = ["all", "low", "high", "mid"]
        .map(|name| requests.intern(Request { cpus: 1, partitions: vec![name.to_string()], ..Request::default() }));
    let shapes = Shapes::new(Arc::new(cluster), &requests);
    let [all, low, high, mid] = ids.map(|id| &*shapes.get(id).places[0].nodes);
    let relations = |list| [all, low, high, mid].map(|other| shapes.relation(list, other));
    assert_eq!(relations(all), [Within, Other, Other, Other]);
    assert_eq!(relations(low), [Within, Within, Apart, Other]);
    assert_eq!(relations(mid), [Within, Other, Other, Within]);
}

/// The starts of jobs, of which some are the tasks of an array with or without a limit: (submission, processors, limit, run). A main pass
/// comes a second after each end.
fn starts_with_array(
    keys: &str,
    procs: u32,
    jobs: &[(i64, u32, i64, i64)],
    tasks: std::ops::Range<u32>,
    limit: Option<u32>,
) -> Vec<i64> {
    let jobs: Vec<_> = jobs.iter().map(|&(submit, procs, limit, run)| job_of(1, submit, procs, run, limit)).collect();
    let of_task = |task| (task, Conditions { array: limit.map(|_| 0), ..Conditions::default() });
    let array = JobArray { id: "7".to_string(), limit, tasks: tasks.clone().collect() };
    let conditions = Arc::new(LogConditions::new(tasks.map(of_task).collect(), vec![array], 0));
    starts(&run(
        &Workload { conditions, ..workload(procs, &jobs) },
        &format!("slurm:batch_sched_delay=0s{keys}"),
        "estimate",
    ))
}

/// Ten processors, six of them busy until 601. Each task of the array needs five, so that two run at once from 602 on, a second after
/// the end. The last job needs four for 1,200 seconds. It fits at once beside one reservation from 601 on; two of them are all processors.
#[test]
fn an_array_has_as_many_reservations_as_the_key_says() {
    let task = (10, 5, 600, 600);
    let jobs = [(0, 6, 600, 600), task, task, task, task, (10, 4, 1200, 60)];
    let starts = |keys| starts_with_array(keys, 10, &jobs, 1..5, None);
    assert_eq!(starts(""), [1, 602, 602, 1203, 1203, 1804]);
    assert_eq!(starts(",bf_max_job_array_resv=2"), [1, 602, 602, 1203, 1203, 1804]);
    assert_eq!(starts(",bf_max_job_array_resv=1"), [1, 602, 602, 1203, 1203, 11]);
}

/// One task at a time: the second has the place of its array, which is before the job that was submitted later. The reservations for
/// the tasks that the limit keeps back are before those of that job, too.
#[test]
fn a_task_that_its_limit_kept_back_has_the_place_of_its_array() {
    let jobs = [(0, 1, 60, 60), (0, 1, 60, 60), (0, 1, 60, 60), (5, 1, 60, 60)];
    assert_eq!(starts_with_array("", 1, &jobs, 0..3, Some(1)), [1, 62, 123, 184]);
    // Six processors of ten are busy until 601. Each task needs five, one at a time. The reservations for both are all processors from
    // then on: the last job, of four for 1,200 seconds, has to wait until the first task runs and the array has left the queue.
    let jobs = [(0, 6, 600, 600), (10, 5, 600, 600), (10, 5, 600, 600), (10, 4, 1200, 60)];
    assert_eq!(starts_with_array("", 10, &jobs, 1..3, Some(1)), [1, 602, 1203, 602]);
    assert_eq!(starts_with_array(",bf_max_job_array_resv=1", 10, &jobs, 1..3, Some(1)), [1, 602, 1203, 11]);
}
