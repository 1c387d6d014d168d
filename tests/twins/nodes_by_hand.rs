//! Plans on nodes with more jobs than random machines have, worked out by hand.

use std::sync::Arc;

use shadowtime::engine::{EngineOptions, Simulation};
use shadowtime::experiment::{Setting, simulate};
use shadowtime::job::Job;
use shadowtime::machine::{Cluster, Resource};
use shadowtime::request::{DeviceAsked, MemoryAsked, Request, Requests};
use shadowtime::trace::{LogNames, PartitionMap, RunFacts, Unit, Workload, put_on_cluster};

use crate::random_nodes::{node, partition};
use crate::support::{facts, job, run, starts, workload};

/// Jobs that are submitted at once, on nodes of one CPU and 10 MB: (CPUs, the partition, length). Each needs 10 MB for each CPU, so that
/// the machine is no pool.
fn on_nodes(partitions: &[&[u32]], jobs: &[(u32, usize, i64)], nodes_of_job: u32) -> Workload {
    let count = partitions.concat().into_iter().max().unwrap() + 1;
    let named = |(at, nodes): (usize, &&[u32])| partition(&format!("p{at}"), nodes.to_vec());
    let cluster = Cluster {
        nodes: (0..count).map(|at| node(at as usize, 1, 10, 0)).collect(),
        partitions: partitions.iter().enumerate().map(named).collect(),
        ..Cluster::default()
    };
    let mut requests = Requests::default();
    let with_request = |&(cpus, at, length): &(u32, usize, i64)| {
        let request = Request {
            cpus,
            memory: MemoryAsked::PerCpu(10),
            partitions: vec![format!("p{at}")],
            min_nodes: nodes_of_job,
            max_nodes: nodes_of_job,
            ..Request::default()
        };
        Job { request: requests.intern(request), ..job(0, cpus, length, length) }
    };
    let jobs: Vec<_> = jobs.iter().map(with_request).collect();
    let all = Workload { requests: Arc::new(requests), ..workload(count, &jobs) };
    put_on_cluster(all, &Arc::new(cluster), &PartitionMap::new(), &LogNames::default(), Unit::Cpus).unwrap()
}

/// 135 of 140 CPUs are taken at once, by jobs of 1000, 1010, ... s in another order. A job of 100 CPUs needs 95 more than are free, which
/// it has when the 95th of these ends, at 1940, and then all are needed. So of two jobs for which there is room before it, the one that
/// ends at 1940 starts and the one that ends a second later does not: it starts when the 96th ends.
#[test]
fn a_reservation_begins_with_the_right_one_of_many_ends() {
    let all: Vec<u32> = (0..140).collect();
    let mut jobs: Vec<_> = (0..135).map(|n| (1, 0, 1000 + n * 37 % 135 * 10)).collect();
    jobs.extend([(100, 0, 5000), (1, 0, 1941), (1, 0, 1940)]);
    let found = starts(&run(&on_nodes(&[&all], &jobs, 0), "easy", "perfect"));
    assert!(found[..135].iter().all(|&start| start == 0));
    assert_eq!(found[135..], [1940, 1950, 0]);
}

/// One node with jobs of 100 s, the other one with jobs of 70 s, 150 each in turn. Each job begins when the one before it on its node
/// ends, however many reservations there are, and whether the number of nodes of a job is given or not.
#[test]
fn hundreds_of_reservations_follow_each_other() {
    let jobs: Vec<_> = (0..300).map(|n| (1, n % 2, [100, 70][n % 2])).collect();
    let expected: Vec<_> = (0..300).map(|n| n / 2 * [100, 70][n as usize % 2]).collect();
    for nodes_of_job in [0, 1] {
        let workload = on_nodes(&[&[0], &[1]], &jobs, nodes_of_job);
        let setting = Setting::parse("conservative", "perfect").unwrap();
        let policy = setting.policy(&facts(&workload.jobs).on(workload.shapes.as_ref()));
        let predictor = setting.predictor(&RunFacts::of(&workload));
        let mut simulation = Simulation::new(workload.procs, policy, predictor, EngineOptions::default());
        workload.jobs.iter().for_each(|job| assert!(simulation.submit(job).is_ok()));
        simulation.advance_to(0).unwrap();
        let made = simulation.reservations(1000).into_iter().map(|(_, start)| start);
        assert_eq!([0, 0].into_iter().chain(made).collect::<Vec<i64>>(), expected, "{nodes_of_job}");
    }
}

/// Nodes 0 and 1 are a partition, node 2 is another. At 100, when node 0 is left, the third job has both nodes of the first partition. The
/// fourth is of that partition, where no more reservations are made, and the fifth has the reservation of the other one. All are made now,
/// and of the others the fourth ends on node 1 before 100: it starts, though it was before the fifth in the queue.
#[test]
fn a_job_without_a_reservation_starts_before_later_ones_that_have_some() {
    let jobs = [(1, 0, 100), (1, 1, 100), (2, 0, 50), (1, 0, 60), (1, 1, 50)];
    assert_eq!(starts(&run(&on_nodes(&[&[0, 1], &[2]], &jobs, 0), "easy", "perfect")), [0, 0, 100, 0, 100]);
}

/// Two GPUs with four CPUs are on one node of the second partition only, and `consolidate` divides them over no others. Who may have
/// both partitions starts, who may only have the first one never does.
#[test]
fn a_job_starts_where_one_of_its_partitions_can_hold_it() {
    let cluster = Cluster {
        nodes: [(0, 2), (1, 2), (2, 4)].map(|(at, cpus)| node(at, cpus, 0, 2)).to_vec(),
        partitions: vec![partition("p0", vec![0, 1]), partition("p1", vec![2])],
        ..Cluster::default()
    };
    let mut requests = Requests::default();
    let jobs = [vec!["p0", "p1"], vec!["p0"]].map(|names| {
        let partitions = names.into_iter().map(str::to_string).collect();
        let devices = DeviceAsked::Total(2).of(Resource::Gpus);
        let request = requests.intern(Request { cpus: 4, devices, partitions, ..Request::default() });
        Job { request, ..job(0, 4, 100, 100) }
    });
    let all = Workload { requests: Arc::new(requests), ..workload(8, &jobs) };
    let placed =
        put_on_cluster(all, &Arc::new(cluster), &PartitionMap::new(), &LogNames::default(), Unit::Cpus).unwrap();
    let setting = Setting::parse("easy:placement=consolidate", "perfect").unwrap();
    let record = simulate(&placed, &setting, &mut |_| ()).unwrap();
    let found: Vec<_> = record.outcomes.iter().map(|outcome| outcome.start.get()).collect();
    assert_eq!((found, record.never.count()), (vec![Some(0), None], 1));
}
