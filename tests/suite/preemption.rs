//! Running jobs that make way for jobs of partitions with a higher PriorityTier.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use shadowtime::engine::{Event, Observer, Preempted, RunRecord, StoppedRuns};
use shadowtime::experiment::Setting;
use shadowtime::machine::associations::{Associations, QualityOfService};
use shadowtime::machine::{Cluster, Node, Partition, PreemptMode, Resource, Tres};
use shadowtime::metrics::{Measure, summarize};
use shadowtime::request::{Request, Requests};
use shadowtime::schedule::Machine;
use shadowtime::trace::{LogNames, PartitionMap, Unit, Workload, put_on_cluster};
use shadowtime_twins::random::check;

use crate::support::{Folder, job_of, sim, workload};

/// A job: its partitions, separated by commas, or its QOS, its submission, its CPUs, its runtime and its estimate.
type Row = (&'static str, i64, u32, i64, i64);

const LOW: &str = "low";
const HIGH: &str = "high";

/// Passes come one second after each event.
const REQUEUE: &str = "slurm:preempt=requeue,batch_sched_delay=0s,requeue_delay=0s";
const CANCEL: &str = "slurm:preempt=cancel,batch_sched_delay=0s";

/// Nodes of four CPUs. All partitions have all of them.
fn cluster(nodes: u32, partitions: &[(&str, u32, Option<PreemptMode>)]) -> Arc<Cluster> {
    let node = |at| Node {
        name: format!("n{at}"),
        has: Tres::on_node(4, 0),
        features: Vec::new(),
        weight: 1,
        threads_per_core: 1,
        is_down: false,
    };
    let partition = |&(name, priority_tier, preempt_mode): &(&str, u32, _)| Partition {
        name: name.to_string(),
        nodes: (0..nodes).collect(),
        priority_tier,
        priority_job_factor: 1,
        preempt_mode,
        ..Partition::default()
    };
    let (nodes, partitions) = ((0..nodes).map(node).collect(), partitions.iter().map(partition).collect());
    Arc::new(Cluster { nodes, partitions, ignores_memory: true, ..Cluster::default() })
}

/// A partition of tier 1 and one of tier 2.
fn two_tiers(nodes: u32) -> Arc<Cluster> {
    cluster(nodes, &[(LOW, 1, None), (HIGH, 2, None)])
}

fn jobs_on(cluster: &Arc<Cluster>, rows: &[Row]) -> Workload {
    jobs_with(cluster, rows, false)
}

fn jobs_with(cluster: &Arc<Cluster>, rows: &[Row], no_requeue: bool) -> Workload {
    let by_qos = !cluster.associations.qos.is_empty();
    let mut requests = Requests::default();
    let mut jobs = Vec::new();
    for (user, &(name, submit, cpus, runtime, estimate)) in (0..).zip(rows) {
        let mut job = job_of(user, submit, cpus, runtime, estimate);
        let [partition, qos] = if by_qos { ["all", name] } else { [name, ""] };
        let (partitions, qos) = (partition.split(',').map(str::to_string).collect(), qos.to_string());
        job.request = requests.intern(Request { cpus, partitions, qos, no_requeue, ..Request::default() });
        jobs.push(job);
    }
    let procs = cluster.nodes.iter().map(|node| node.has.cpus()).sum();
    let workload = Workload { requests: Arc::new(requests), ..workload(procs, &jobs) };
    put_on_cluster(workload, cluster, &PartitionMap::new(), &LogNames::default(), Unit::Cpus).unwrap()
}

/// What happens to jobs: when, what and to which.
type Happened = Vec<(i64, &'static str, u32)>;

/// Observes all runs of jobs, and that they use no more than there is.
#[derive(Default)]
struct Watch {
    happened: Happened,
    free: Vec<i64>,
    /// By running job: its start, and its CPUs by node.
    running: BTreeMap<u32, (i64, Vec<(usize, i64)>)>,
    waiting: Vec<u32>,
    used: i128,
    /// The jobs that were stopped, and which waited then.
    stops: Vec<(u32, Vec<u32>)>,
    ended: BTreeMap<u32, i64>,
}

impl Watch {
    fn leave(&mut self, job: u32, now: i64) -> i64 {
        let (start, shares) = self.running.remove(&job).expect("a running job");
        for (node, cpus) in shares {
            self.free[node] += cpus;
            self.used += i128::from(cpus) * i128::from(now - start);
        }
        now - start
    }
}

impl Observer for Watch {
    fn on(&mut self, time: i64, event: &Event<'_>, _machine: &Machine) {
        match event {
            Event::Arrival(arrival) => self.waiting.push(arrival.job.id.0),
            Event::Start(start) => {
                let job = start.job.id.0;
                self.happened.push((time, "start", job));
                let at = self.waiting.iter().position(|waiting| *waiting == job).expect("only waiting jobs start");
                self.waiting.swap_remove(at);
                let shares = start.grant.iter().map(|share| (share.node as usize, i64::from(share.what.cpus())));
                let shares: Vec<_> = shares.collect();
                for &(node, cpus) in &shares {
                    self.free[node] -= cpus;
                    assert!(self.free[node] >= 0, "node {node} at {time}");
                }
                self.running.insert(job, (time, shares));
            }
            Event::Preemption(preemption) => {
                let job = preemption.job.id.0;
                let what = if preemption.is_requeued { "requeue" } else { "cancel" };
                self.happened.push((time, what, job));
                assert_eq!(preemption.ran, time - self.running[&job].0);
                assert!(preemption.left > 0 && preemption.ran > 0);
                self.stops.push((job, self.waiting.clone()));
                if preemption.is_requeued {
                    self.leave(job, time);
                    self.waiting.push(job);
                }
            }
            Event::End(end) => {
                let job = end.job.id.0;
                self.happened.push((time, "end", job));
                assert_eq!(self.leave(job, time), end.runtime);
                assert_eq!(self.ended.insert(job, end.runtime), None, "a job ends once");
            }
            _ => {}
        }
    }
}

fn watch(workload: &Workload, scheduler: &str, predictor: &str) -> (RunRecord, Watch) {
    let nodes = &workload.shapes.as_ref().unwrap().cluster().nodes;
    let mut watch = Watch { free: nodes.iter().map(|node| node.has.cpus().into()).collect(), ..Watch::default() };
    let setting = Setting::parse(scheduler, predictor).unwrap();
    let record = setting.run(workload, Some(&mut watch), &mut |_| ()).unwrap();
    (record, watch)
}

fn happened(cluster: &Arc<Cluster>, rows: &[Row], scheduler: &str) -> Happened {
    watch(&jobs_on(cluster, rows), scheduler, "estimate").1.happened
}

/// The jobs that were stopped, in the order of their numbers.
fn stopped(cluster: &Arc<Cluster>, rows: &[Row], scheduler: &str) -> Vec<u32> {
    let happened = happened(cluster, rows, scheduler);
    let mut jobs: Vec<u32> =
        happened.iter().filter(|(_, what, _)| ["requeue", "cancel"].contains(what)).map(|&(.., job)| job).collect();
    jobs.sort_unstable();
    jobs
}

#[test]
fn a_job_of_a_low_tier_makes_way_and_starts_again() {
    let rows = [(LOW, 0, 4, 1000, 2000), (LOW, 0, 4, 1000, 2000), (HIGH, 100, 4, 50, 60)];
    // The main pass of 101 stops the first job, whose node takes the next one in the next pass. One node is free again at 152.
    let expected = [
        (1, "start", 0),
        (1, "start", 1),
        (101, "requeue", 0),
        (102, "start", 2),
        (152, "end", 2),
        (153, "start", 0),
        (1001, "end", 1),
        (1153, "end", 0),
    ];
    assert_eq!(happened(&two_tiers(2), &rows, REQUEUE), expected);
    // In Slurm it may start again after 121 s, which is at 222. The next pass is the one that comes each minute.
    let delayed = happened(&two_tiers(2), &rows, "slurm:preempt=requeue");
    assert!(delayed.contains(&(240, "start", 0)), "{delayed:?}");
    // Nodes that are completing take no job.
    let slow = happened(&two_tiers(2), &rows, &format!("{REQUEUE},epilog=20s"));
    assert!(slow.contains(&(101, "requeue", 0)) && slow.contains(&(122, "start", 2)), "{slow:?}");

    let jobs = jobs_on(&two_tiers(2), &rows);
    let (record, _) = watch(&jobs, REQUEUE, "estimate");
    let requeued = StoppedRuns { count: 1, area: 400 };
    assert_eq!(record.preempted, Some(Preempted { requeued, ..Preempted::default() }));
    let waits: Vec<_> = record.finished(&jobs.jobs).map(|job| (job.wait(), job.job.runtime)).collect();
    assert_eq!(waits, [(153, 1000), (1, 1000), (2, 50)], "the wait is that until the last start");
    let summary = summarize(&jobs, &record, &Measure::default());
    let used = 4.0 * (1000.0 + 100.0 + 1000.0 + 50.0);
    assert_eq!((summary.preempted, summary.lost), (Some(1), Some(400.0)));
    assert_eq!(summary.utilization, used / (8.0 * 1153.0), "the machine was in use while the job ran in vain");
    assert_eq!(summary.utilization_of[0], Some(used / (8.0 * 1153.0)));
}

/// The first of these jobs that starts after a time.
fn first_of(jobs: &[u32], after: i64, rows: &[Row], keys: &str) -> u32 {
    let happened = happened(&two_tiers(1), rows, &format!("slurm:preempt=requeue,batch_sched_delay=0s{keys}"));
    let starts = |&&(time, what, job): &&(i64, &str, u32)| what == "start" && time > after && jobs.contains(&job);
    happened.iter().find(starts).unwrap_or_else(|| panic!("none of {jobs:?} starts: {happened:?}")).2
}

/// The first job is stopped at 101 and may start again at 222. The third one is submitted between, and both wait until 602.
#[test]
fn a_requeued_job_is_a_new_one_for_priorities() {
    let rows = |submit| [(LOW, 0, 4, 1000, 2000), (HIGH, 100, 4, 500, 600), (LOW, submit, 4, 1000, 2000)];
    let first = |submit, keys| {
        let mut rows = rows(submit);
        rows[1..].sort_by_key(|row| row.1);
        let waiting = if submit < 100 { [0, 1] } else { [0, 2] };
        first_of(&waiting, 300, &rows, keys) != 0
    };
    // Without priorities it has its old place.
    assert!(!first(50, ""));
    // With equal priorities it comes after those that were submitted before it was requeued.
    assert!(first(50, ",order=multifactor"));
    assert!(!first(200, ",order=multifactor"));
    // Its age counts from the time at which it may start.
    let by_age = ",order=multifactor,age_weight=1000,max_age=1000s,calc_period=1m";
    assert!(first(200, by_age));
    assert!(!first(230, by_age));
}

/// The first partition has one node, the second the other. The second job may have both, and runs in the second partition, because another
/// one has the first node until 51. It makes way for a job on both nodes until 152. From then on the partition in which it ran is its first:
/// it leaves the first node to the last job, which came later.
#[test]
fn a_requeued_job_tries_the_partition_first_in_which_it_ran() {
    let mut cluster = (*cluster(2, &[("one", 1, None), ("two", 1, None), (HIGH, 2, None)])).clone();
    (cluster.partitions[0].nodes, cluster.partitions[1].nodes) = (vec![0], vec![1]);
    let rows = [("one", 0, 4, 50, 60), ("one,two", 0, 4, 1000, 2000), (HIGH, 100, 8, 50, 60), ("one", 110, 4, 10, 60)];
    let happened = happened(&Arc::new(cluster), &rows, REQUEUE);
    let expected = [
        (1, "start", 0),
        (1, "start", 1),
        (51, "end", 0),
        (101, "requeue", 1),
        (102, "start", 2),
        (152, "end", 2),
        (153, "start", 1),
        (153, "start", 3),
    ];
    assert_eq!(happened[..8], expected, "{happened:?}");
}

/// The high partition has the first node alone. A node takes no job for 100 s after one has left it. The third job shares the first node
/// with the first one, because the second has the other node until 51, and makes way at 201. The other node is idle since 151. But the
/// third job is not gone before its own epilog is over at 301. It starts a second later, as the job does for which it made way.
#[test]
fn a_requeued_job_comes_back_after_its_epilog() {
    let mut cluster = (*two_tiers(2)).clone();
    cluster.partitions[1].nodes = vec![0];
    let rows = [(HIGH, 0, 2, 1000, 2000), (LOW, 0, 4, 50, 60), (LOW, 0, 1, 1000, 2000), (HIGH, 200, 2, 50, 60)];
    let happened = happened(&Arc::new(cluster), &rows, &format!("{REQUEUE},epilog=100s"));
    let expected = [
        (1, "start", 0),
        (1, "start", 1),
        (1, "start", 2),
        (51, "end", 1),
        (201, "requeue", 2),
        (302, "start", 3),
        (302, "start", 2),
    ];
    assert_eq!(happened[..7], expected, "{happened:?}");
}

/// The second job has waited since 0, has a priority of 300 since the recalculation at 300, starts at 401, and is stopped at 411. The
/// third job waits since 320.
#[test]
fn a_requeued_job_keeps_its_priority_until_the_next_recalculation() {
    let keys = ",order=multifactor,age_weight=1000,max_age=1000s,calc_period=5m";
    let rows = |runtime| {
        let low = |submit| (LOW, submit, 4, 1000, 2000);
        [(HIGH, 0, 4, 399, 420), low(0), low(320), (HIGH, 410, 4, runtime, 600)]
    };
    assert_eq!(first_of(&[1, 2], 420, &rows(140), keys), 1, "before 600");
    assert_eq!(first_of(&[1, 2], 420, &rows(200), keys), 2, "after 600");
    assert_eq!(first_of(&[1, 2], 420, &rows(200), ""), 1);
}

#[test]
fn a_cancelled_job_ends_with_what_it_ran() {
    let rows = [(LOW, 0, 4, 1000, 2000), (LOW, 0, 4, 1000, 2000), (HIGH, 100, 4, 50, 60)];
    let jobs = jobs_on(&two_tiers(2), &rows);
    let (record, watch) = watch(&jobs, CANCEL, "estimate");
    let expected = [
        (1, "start", 0),
        (1, "start", 1),
        (101, "cancel", 0),
        (101, "end", 0),
        (102, "start", 2),
        (152, "end", 2),
        (1001, "end", 1),
    ];
    assert_eq!(watch.happened, expected);
    let ends: Vec<_> = record.finished(&jobs.jobs).map(|job| (job.wait(), job.job.runtime, job.end())).collect();
    assert_eq!(ends, [(1, 100, 101), (1, 1000, 1001), (2, 50, 152)]);
    let summary = summarize(&jobs, &record, &Measure::default());
    assert_eq!(summary.utilization, 4.0 * 1150.0 / (8.0 * 1001.0));
    assert_eq!((summary.preempted, summary.lost), (Some(1), Some(400.0)));
}

#[test]
fn only_jobs_of_lower_tiers_make_way() {
    let rows = [(LOW, 0, 4, 1000, 2000), (HIGH, 100, 4, 50, 60)];
    let (none, off) = (Vec::<u32>::new(), Some(PreemptMode::Off));
    assert_eq!(stopped(&two_tiers(1), &rows, REQUEUE), [0]);
    assert_eq!(stopped(&cluster(1, &[(LOW, 1, None), (HIGH, 1, None)]), &rows, REQUEUE), none);
    assert_eq!(stopped(&cluster(1, &[(LOW, 2, None), (HIGH, 1, None)]), &rows, REQUEUE), none);
    assert_eq!(stopped(&cluster(1, &[(LOW, 1, off), (HIGH, 2, None)]), &rows, REQUEUE), none);
    assert_eq!(stopped(&cluster(1, &[(LOW, 1, None), (HIGH, 2, off)]), &rows, REQUEUE), [0], "it is about the low one");
    assert_eq!(stopped(&two_tiers(1), &rows, "slurm"), none);
    // A partition may say something else than all, but does not switch preemption on.
    let cancelling = cluster(1, &[(LOW, 1, Some(PreemptMode::Cancel)), (HIGH, 2, None)]);
    assert!(happened(&cancelling, &rows, REQUEUE).contains(&(101, "cancel", 0)));
    assert_eq!(stopped(&cancelling, &rows, "slurm"), none);
}

#[test]
fn no_more_jobs_make_way_than_needed() {
    // Four jobs of one node each: two are enough, those with the lowest numbers.
    let low = (LOW, 0, 4, 1000, 2000);
    assert_eq!(stopped(&two_tiers(4), &[low, low, low, low, (HIGH, 100, 8, 50, 60)], REQUEUE), [0, 1]);
    // A job on few nodes comes before one on many, also if more of them have to make way.
    let wide = (LOW, 0, 8, 1000, 2000);
    assert_eq!(stopped(&two_tiers(4), &[wide, low, low, (HIGH, 100, 8, 50, 60)], REQUEUE), [1, 2]);
    // The lowest tier comes first.
    let three = cluster(2, &[(LOW, 1, None), ("mid", 2, None), (HIGH, 3, None)]);
    let mid = ("mid", 0, 4, 1000, 2000);
    assert_eq!(stopped(&three, &[mid, low, (HIGH, 100, 4, 50, 60)], REQUEUE), [1]);
    // A node has a job of one CPU and one of three. Both have to leave in turn until the new one fits, but the last alone is enough.
    let rows = [(LOW, 0, 1, 1000, 2000), (LOW, 0, 3, 1000, 2000), (HIGH, 100, 3, 50, 60)];
    assert_eq!(stopped(&two_tiers(1), &rows, REQUEUE), [1]);
    // If not even all of them are enough, nobody makes way: a job of the high tier has one of the nodes.
    let rows = [(HIGH, 0, 4, 1000, 2000), low, (HIGH, 100, 8, 50, 60)];
    assert_eq!(stopped(&two_tiers(2), &rows, REQUEUE), Vec::<u32>::new());
}

/// The third job needs both nodes and waits for the first, so that the main pass looks at no more jobs of the partition. The backfill
/// pass sees that the fourth delays nobody if the second makes way. It starts in the next backfill pass.
#[test]
fn the_backfill_pass_preempts_too() {
    let rows = [(HIGH, 0, 4, 500, 600), (LOW, 0, 4, 1000, 2000), (HIGH, 100, 8, 50, 60), (HIGH, 100, 4, 50, 60)];
    let expected = [(1, "start", 0), (1, "start", 1), (101, "requeue", 1), (131, "start", 3), (181, "end", 3)];
    let happened = happened(&two_tiers(2), &rows, REQUEUE);
    assert_eq!(happened[..5], expected, "{happened:?}");
}

#[test]
fn a_job_may_be_exempt_for_some_time() {
    let rows = [(LOW, 0, 4, 1000, 2000), (HIGH, 100, 4, 50, 60)];
    // Until 121. The next main pass is the one that comes each minute.
    let late = happened(&two_tiers(1), &rows, &format!("{REQUEUE},preempt_exempt=2m"));
    assert_eq!(late[1..3], [(180, "requeue", 0), (181, "start", 1)]);
    assert_eq!(stopped(&two_tiers(1), &rows, &format!("{REQUEUE},preempt_exempt=1h")), Vec::<u32>::new());
}

/// Nodes of four CPUs in one partition, and qualities of service: `high` preempts the others, of which one is cancelled, one may run on
/// for 10 s, and one is exempt for two minutes.
fn by_qos(nodes: u32) -> Arc<Cluster> {
    let qos = |name: &str, priority| QualityOfService { priority, ..QualityOfService::new(name) };
    let preempts = ["low", "ended", "slow", "new"].map(str::to_string).to_vec();
    let all = vec![
        QualityOfService { preempts, ..qos("high", 100) },
        qos("low", 10),
        QualityOfService { preempt_mode: Some(PreemptMode::Cancel), ..qos("ended", 5) },
        QualityOfService { grace: 10, ..qos("slow", 10) },
        QualityOfService { preempt_exempt: Some(120), ..qos("new", 10) },
        qos("other", 1),
    ];
    let associations = Associations { qos: all, ..Associations::default() };
    Arc::new(Cluster { associations, ..(*cluster(nodes, &[("all", 1, None)])).clone() })
}

const BY_QOS: &str = "slurm:preempt=requeue,preempt_type=qos,batch_sched_delay=0s,requeue_delay=0s";

#[test]
fn a_qos_says_which_others_make_way() {
    let [high, low, ended] = ["high", "low", "ended"].map(|qos| move |submit| (qos, submit, 4, 1000, 2000));
    let (one, two) = (by_qos(1), by_qos(2));
    assert_eq!(stopped(&one, &[low(0), high(100)], BY_QOS), [0]);
    let none = Vec::<u32>::new();
    for pair in
        [[("other", 0, 4, 1000, 2000), high(100)], [low(0), low(100)], [high(0), high(100)], [high(0), low(100)]]
    {
        assert_eq!(stopped(&one, &pair, BY_QOS), none, "{pair:?}");
    }
    assert_eq!(stopped(&one, &[low(0), high(100)], "slurm:preempt=requeue"), none, "it is about partitions");
    assert!(happened(&one, &[ended(0), high(100)], BY_QOS).contains(&(101, "cancel", 0)));
    // The lowest QOS comes first, and a job that may not be requeued is cancelled.
    assert_eq!(stopped(&two, &[low(0), ended(0), high(100)], BY_QOS), [1]);
    let kept = happened(&one, &[low(0), high(100)], &format!("{BY_QOS},job_requeue=no"));
    assert!(kept.contains(&(101, "cancel", 0)), "{kept:?}");
    let (_, watch) = watch(&jobs_with(&one, &[low(0), high(100)], true), BY_QOS, "estimate");
    assert!(watch.happened.contains(&(101, "cancel", 0)), "{:?}", watch.happened);
}

/// Of two jobs the one that may preempt the other comes first. With a third one the comparison contradicts itself: new before other
/// before high by submission, high before new by Preempt. A merge of (new) with (other, high) begins with new.
#[test]
fn who_may_preempt_comes_first() {
    let starts = |rows: &[Row], scheduler: &str| {
        let happened = happened(&by_qos(1), rows, scheduler);
        happened.iter().filter(|(_, what, _)| *what == "start").map(|(.., job)| *job).collect::<Vec<_>>()
    };
    let (first, new) = (("other", 0, 4, 500, 600), ("new", 10, 4, 50, 60));
    let (other, high) = (("other", 20, 4, 50, 60), ("high", 30, 4, 50, 60));
    assert_eq!(starts(&[first, new, high], "slurm:batch_sched_delay=0s"), [0, 1, 2]);
    assert_eq!(starts(&[first, new, high], BY_QOS), [0, 2, 1]);
    assert_eq!(starts(&[first, new, other, high], BY_QOS), [0, 1, 2, 3]);
}

/// The first passes that want the job come at 101, and after the other arrival. The check of limits comes each 30 s.
#[test]
fn a_job_may_still_run_for_its_grace_time() {
    let slow = |runtime| ("slow", 0, 4, runtime, 2000);
    let high = ("high", 100, 4, 50, 60);
    let seen = happened(&by_qos(1), &[slow(1000), high], BY_QOS);
    assert_eq!(seen[1..3], [(120, "requeue", 0), (121, "start", 1)], "{seen:?}");
    // A pass that comes after the 10 s, and after those in which a job preempts once.
    let rows = [slow(1000), high, ("other", 113, 4, 50, 60)];
    let sooner = happened(&by_qos(1), &rows, &format!("{BY_QOS},kill_wait=2s"));
    assert_eq!(sooner[1..3], [(114, "requeue", 0), (115, "start", 1)], "{sooner:?}");
    let later = happened(&by_qos(1), &rows, BY_QOS);
    assert_eq!(later[1], (120, "requeue", 0), "{later:?}");
    // It may end before.
    let itself = happened(&by_qos(1), &[slow(108), high], BY_QOS);
    assert_eq!(itself[1..3], [(109, "end", 0), (110, "start", 1)], "{itself:?}");
    // The same by partition.
    let mut partitions = (*two_tiers(1)).clone();
    partitions.partitions[0].grace = 10;
    let seen = happened(&Arc::new(partitions), &[(LOW, 0, 4, 1000, 2000), (HIGH, 100, 4, 50, 60)], REQUEUE);
    assert_eq!(seen[1..3], [(120, "requeue", 0), (121, "start", 1)], "{seen:?}");
}

#[test]
fn a_qos_may_be_exempt_for_some_time() {
    let high = ("high", 100, 4, 50, 60);
    let late = happened(&by_qos(1), &[("new", 0, 4, 1000, 2000), high], BY_QOS);
    assert_eq!(late[1..3], [(180, "requeue", 0), (181, "start", 1)]);
    // Its own time counts, not that of all.
    assert_eq!(
        stopped(&by_qos(1), &[("low", 0, 4, 1000, 2000), high], &format!("{BY_QOS},preempt_exempt=1h")),
        [0u32; 0]
    );
    let late = happened(&by_qos(1), &[("new", 0, 4, 1000, 2000), high], &format!("{BY_QOS},preempt_exempt=1h"));
    assert_eq!(late[1], (180, "requeue", 0));
}

#[test]
fn the_youngest_may_make_way_first() {
    let rows = [(LOW, 0, 4, 1000, 2000), (LOW, 50, 4, 1000, 2000), (HIGH, 100, 4, 50, 60)];
    assert_eq!(stopped(&two_tiers(2), &rows, REQUEUE), [0]);
    assert_eq!(stopped(&two_tiers(2), &rows, &format!("{REQUEUE},preempt_youngest_first=yes")), [1]);
}

/// The expected jobs are those of a slow program that follows the source of Slurm.
#[test]
fn other_orders_are_tried() {
    let rows = |low: &[u32], high: u32| {
        let jobs = low.iter().map(|&cpus| (LOW, 0, cpus, 1000, 2000));
        jobs.chain([(HIGH, 100, high, 50, 60)]).collect::<Vec<Row>>()
    };
    for (rows, keys, expected) in [
        (rows(&[6, 8, 2], 10), "", &[0, 1][..]),
        (rows(&[6, 8, 2], 10), ",preempt_strict_order=yes", &[1, 2]),
        (rows(&[2, 3, 6, 4], 8), "", &[1, 3]),
        (rows(&[2, 3, 6, 4], 8), ",preempt_reorder_count=0", &[0, 1, 3]),
        (rows(&[2, 3, 6, 4], 8), ",preempt_reorder_count=3", &[1, 3]),
    ] {
        assert_eq!(stopped(&two_tiers(4), &rows, &format!("{REQUEUE}{keys}")), expected, "{keys}");
    }
}

/// A row of a random job: the partition, the gap to the one before, CPUs, the runtime and how much longer its estimate is.
fn random_rows() -> impl Strategy<Value = Vec<(usize, i64, u32, i64, i64)>> {
    let runtime = select(vec![1, 30, 60, 61, 300, 1000]);
    vec((0..3usize, select(vec![0, 0, 1, 30, 60, 200]), 1..=8u32, runtime, 1..=4i64), 5..40)
}

#[test]
fn nothing_is_lost_but_the_time_of_stopped_runs() {
    let modes = select(vec![None, None, Some(PreemptMode::Off), Some(PreemptMode::Cancel), Some(PreemptMode::Requeue)]);
    let keys = select(vec![
        "preempt=requeue",
        "preempt=requeue,batch_sched_delay=0s,requeue_delay=0s",
        "preempt=cancel,epilog=7s",
        "preempt=requeue,running=prediction,requeue_delay=30s",
        "preempt=requeue,preempt_exempt=1m,order=multifactor,age_weight=1000,fairshare_weight=5000",
        "preempt=off",
    ]);
    let predictors = select(vec!["estimate", "perfect", "ruh:running=on", "easy++", "kin", "sbh", "learned"]);
    let all_stops = Cell::new(0);
    check(2041, 600, (random_rows(), [modes.clone(), modes.clone(), modes], keys, predictors), |case| {
        let (drafts, [low, mid, high], keys, predictor) = case;
        let names = [LOW, "mid", HIGH];
        let cluster = cluster(3, &[(LOW, 1, low), ("mid", 2, mid), (HIGH, 3, high)]);
        let (mut submit, mut rows) = (0, Vec::new());
        for &(partition, gap, cpus, runtime, factor) in &drafts {
            submit += gap;
            rows.push((names[partition], submit, cpus, runtime, runtime * factor));
        }
        let jobs = jobs_on(&cluster, &rows);
        let scheduler = format!("slurm:{keys}");
        let (record, seen) = watch(&jobs, &scheduler, predictor);
        let count = |what: &str| seen.happened.iter().filter(|(_, other, _)| *other == what).count();
        prop_assert!(seen.running.is_empty() && seen.waiting.is_empty());
        prop_assert_eq!(count("end"), rows.len());
        prop_assert_eq!(count("start"), rows.len() + count("requeue"));
        for (at, finished) in record.finished(&jobs.jobs).enumerate() {
            let id = at as u32;
            let is_cancelled = seen.happened.iter().any(|&(_, what, job)| (what, job) == ("cancel", id));
            prop_assert_eq!(finished.job.runtime, seen.ended[&id]);
            prop_assert_eq!(finished.job.runtime == rows[at].3, !is_cancelled);
            let starts = seen.happened.iter().filter(|&&(_, what, job)| (what, job) == ("start", id));
            prop_assert_eq!(starts.map(|(time, ..)| *time).max(), Some(finished.start()));
        }
        match record.preempted {
            None => prop_assert!(keys == "preempt=off" && count("requeue") + count("cancel") == 0),
            Some(Preempted { requeued, cancelled }) => {
                prop_assert_eq!((requeued.count, cancelled.count), (count("requeue") as u64, count("cancel") as u64));
            }
        }
        let tier = |job: u32| names.iter().position(|name| *name == rows[job as usize].0);
        for (job, waiting) in &seen.stops {
            prop_assert!(waiting.iter().any(|other| tier(*other) > tier(*job)), "job {} makes way for nobody", job);
        }
        all_stops.set(all_stops.get() + seen.stops.len());
        prop_assert_eq!(record.given.unwrap()[Resource::Cpus], seen.used);
        // The same again.
        let (again, same) = watch(&jobs, &scheduler, predictor);
        prop_assert_eq!(&again.outcomes, &record.outcomes);
        prop_assert_eq!(same.happened, seen.happened);
        if keys == "preempt=off" {
            prop_assert_eq!(watch(&jobs, "slurm", predictor).0.outcomes, record.outcomes);
        }
        Ok(())
    });
    assert!(all_stops.get() > 100, "only {} runs were stopped", all_stops.get());
}

const CONF: &str = "PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE\nSelectType=select/cons_tres\n\
    SelectTypeParameters=CR_Core\nNodeName=n[1-2] CPUs=4\nPartitionName=low Nodes=ALL Default=YES\n\
    PartitionName=high Nodes=ALL PriorityTier=2\n";

const COLUMNS: &str =
    "csv:id=id,submit=submit,wait=wait,run=run,procs=procs,estimate=limit,partition=partition,after=after";

/// Job 3 waits for the start of job 1, and jobs 4 and 5 for its end.
const JOBS: &str = "id,submit,wait,run,procs,limit,partition,after\n1,0,0,1000,8,2000,low,\n2,100,0,50,4,60,high,\n\
    3,50,0,10,4,60,high,after:1\n4,5,0,10,1,60,low,1\n5,5,0,10,1,60,low,afterok:1\n";

/// Job 3 arrives at once, since job 1 has started, and stops it at 51. Job 1 runs again from 180 on, the first pass of a minute after
/// 51 + 121; its second start is no second start for others. A job that is cancelled has ended for them.
#[test]
fn others_wait_for_the_last_end_of_a_job() {
    let folder = Folder::new();
    let (jobs, out) = (folder.write("jobs.csv", JOBS), folder.text("out.csv"));
    for (mode, expected) in [("REQUEUE", [180, 1181, 1181, 54, 101]), ("CANCEL", [1, 54, 54, 54, 101])] {
        let conf = folder.write("slurm.conf", CONF.replace("REQUEUE", mode));
        let site = ["--trace", &jobs, "--log-format", COLUMNS, "--machine", &conf, "--slurm-conf", &conf];
        let ran = sim(&[&site[..], &["--predictor", "estimate", "--jobs-out", &out]].concat());
        assert_eq!(ran.code, 0, "{}", ran.err);
        let text = folder.read("out.csv");
        let start = |line: &str| line.split(',').nth(3).unwrap().parse::<i64>().unwrap();
        // In order of submission.
        assert_eq!(text.lines().skip(1).map(start).collect::<Vec<_>>(), expected, "{mode}");
    }
}

#[test]
fn preemption_needs_nodes() {
    let folder = Folder::new();
    let (jobs, conf) = (folder.write("jobs.csv", JOBS), folder.write("slurm.conf", CONF));
    let log = ["--trace", &jobs, "--log-format", COLUMNS, "--predictor", "estimate", "--format", "csv"];
    let on_nodes = sim(&[&log[..], &["--machine", &conf, "--slurm-conf", &conf]].concat());
    assert_eq!(on_nodes.code, 0, "{}", on_nodes.err);
    assert!(on_nodes.err.contains("slurm.conf means slurm:preempt=requeue"), "{}", on_nodes.err);
    assert!(!on_nodes.err.contains("warning"), "{}", on_nodes.err);
    assert!(on_nodes.out.contains(",preempted,lost_cpu_hours,"), "{}", on_nodes.out);
    let table = sim(&[&log[..6], &["--machine", &conf, "--slurm-conf", &conf, "--format", "table"]].concat());
    let line = table.out.lines().find(|line| line.starts_with("preempted")).expect("a line of preempted runs");
    assert_eq!(line.split_whitespace().collect::<Vec<_>>(), ["preempted", "1"]);
    let by_qos = "slurm:preempt=requeue,preempt_type=qos";
    let nobody = sim(&[&log[..], &["--machine", &conf, "--scheduler", by_qos]].concat());
    assert!(nobody.code == 0 && nobody.err.contains("no QOS says which others it may preempt"), "{}", nobody.err);
    let off = sim(&[&log[..], &["--machine", &conf, "--scheduler", "slurm"]].concat());
    assert!(off.code == 0 && !off.err.contains("preempt") && !off.out.contains("preempt"), "{}", off.err);
    // What a file says is left out on a pool, with a warning; what is asked for there is refused.
    let on_pool = |scheduler: &str| sim(&[&log[..], &["--procs", "8", "--scheduler", scheduler]].concat());
    let pool = on_pool(&format!("slurm:conf={conf}"));
    assert!(pool.code == 0 && pool.err.contains("preemption has no effect without --machine"), "{}", pool.err);
    assert!(!pool.out.contains("preempted"), "{}", pool.out);
    let pool = on_pool("slurm:preempt=requeue");
    assert!(
        pool.code == 2 && pool.err.contains("the key preempt has no effect on a pool of processors"),
        "{}",
        pool.err
    );
}
