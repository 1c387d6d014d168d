//! Outages under `slurm`: cases worked out by hand, and what holds on random machines.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::sample::select;
use shadowtime::engine::{Event, Observer, RunRecord};
use shadowtime::job::JobId;
use shadowtime::machine::OutageKind::{Down, Drain, Maintenance, Reserved};
use shadowtime::schedule::Machine;
use shadowtime::time::Time;

use crate::plain_outages::{Case, TwinOutage, clusters, on_two_nodes, pool, pools};
use crate::random::{check, fewer};

/// A backfill pass each second, so that a job starts as soon as the rules allow it: in the second of its submission if others wait.
const EACH_SECOND: &str = "slurm:bf_interval=1s,bf_resolution=1s,batch_sched_delay=0s,requeue_delay=21s";

fn simulate(case: &Case) -> RunRecord {
    case.simulate(EACH_SECOND, "estimate", &mut ()).unwrap()
}

/// The last runs of all jobs; `(-1, -1)` is a job that never starts.
fn runs(case: &Case) -> Vec<(i64, i64)> {
    let record = simulate(case);
    let jobs = record.arrived.as_ref().map_or_else(|| case.workload().jobs, |jobs| jobs.to_vec());
    let run = |(at, job): (usize, &shadowtime::job::Job)| match record.outcomes[at].start.get() {
        Some(start) => (start, start + job.runtime),
        None => (-1, -1),
    };
    jobs.iter().enumerate().map(run).collect()
}

/// The first job has node 0, the second node 1. At 100 node 0 goes down. The first job is a new one then, and may start 21 seconds later:
/// node 0 answers at 201. Its estimate says nothing about node 1, which is free at 301.
#[test]
fn a_job_on_a_node_that_goes_down_comes_back_as_a_new_one() {
    let jobs = [(0, 150, 600, 2), (0, 300, 600, 2)];
    let mut case = on_two_nodes(&jobs, TwinOutage::of(Down, 0, 100, 200, 100), 0);
    assert_eq!(runs(&case), [(201, 351), (1, 301)]);
    assert_eq!(simulate(&case).outages.unwrap().requeues.len(), 1);
    // That it may start is no event: the next pass that comes each minute sees it.
    case.outages[0].end = 110;
    assert_eq!(runs(&case), [(180, 330), (1, 301)]);
    case.kills = true;
    assert_eq!(runs(&case), [(1, 100), (1, 301)]);
}

/// On a drained node the first job goes on. The third has to wait until the node answers, one second after it was resumed.
#[test]
fn a_drained_node_takes_no_job() {
    let jobs = [(0, 150, 600, 2), (0, 300, 600, 2), (110, 30, 60, 2)];
    let mut case = on_two_nodes(&jobs, TwinOutage::of(Drain, 0, 100, 200, 100), 0);
    assert_eq!(runs(&case), [(1, 151), (1, 301), (201, 231)]);
    case = Case { cpus: Vec::new(), procs: 4, ..case };
    (case.outages[0].procs, case.outages[0].nodes) = (2, Vec::new());
    assert_eq!(runs(&case), [(1, 151), (1, 301), (201, 231)]);
}

/// A job may run until the second in which a reservation begins, and may start in the second in which it ends. One that runs longer
/// than its limit runs on into it.
#[test]
fn no_limit_reaches_into_a_reservation_of_others() {
    for kind in [Maintenance, Reserved] {
        let jobs = [(0, 30, 600, 4), (40, 30, 540, 4), (100, 30, 540, 4)];
        let mut case = pool(4, &jobs, vec![TwinOutage::of(kind, 4, 600, 900, 0)]);
        assert_eq!(runs(&case), [(900, 930), (40, 70), (930, 960)], "{kind:?}");
        case = pool(4, &[(0, 800, 540, 4)], vec![TwinOutage::of(kind, 4, 600, 900, 0)]);
        assert_eq!(runs(&case), [(1, 801)], "{kind:?}");
        let case = on_two_nodes(&[(0, 30, 600, 2), (0, 30, 600, 2)], TwinOutage::of(kind, 0, 600, 900, 0), 1);
        assert_eq!(runs(&case), [(1, 31), (31, 61)], "{kind:?}");
    }
}

/// The second job names the reservation, has only its node, and is stopped at the first check of limits after its end: each 30 seconds
/// from the first submission on.
#[test]
fn jobs_that_name_a_reservation_have_its_nodes_and_its_time() {
    let jobs = [(0, 10, 60, 1), (5, 500, 600, 2), (5, 20, 60, 2), (130, 20, 60, 2)];
    let mut case = on_two_nodes(&jobs, TwinOutage { name: "lab", ..TwinOutage::of(Reserved, 0, 100, 200, 0) }, 1);
    [1, 2].into_iter().for_each(|at| case.jobs[at].reservation = "lab");
    // The third job waits for the node until the reservation is over, and is held for ever.
    assert_eq!(runs(&case), [(1, 11), (101, 210), (-1, -1), (130, 150)]);
    let record = simulate(&case);
    assert_eq!(record.never.count(), 1);
    assert!(record.never.in_words().contains("over before the job could start"), "{}", record.never.in_words());
    // Users of it who do not name it are not let in: the second job has the other node when the first has left it.
    (case.jobs[1].reservation, case.jobs[2].reservation) = ("", "");
    case.outages[0].user = 1;
    assert_eq!(runs(&case)[1..3], [(11, 511), (6, 26)]);
}

/// The second job waits for the node of the first reservation of the name. When that ends it has the second one, on the other node.
#[test]
fn jobs_go_from_one_reservation_to_the_next_of_its_name() {
    let lab = |kind, start, end| TwinOutage { name: "lab", ..TwinOutage::of(kind, 0, start, end, 0) };
    let jobs = [(0, 99, 60, 2), (0, 20, 60, 2)];
    let mut case = on_two_nodes(&jobs, lab(Reserved, 100, 200), 0);
    case.outages.push(TwinOutage { nodes: vec![1], ..lab(Reserved, 150, 400) });
    case.jobs.iter_mut().for_each(|job| job.reservation = "lab");
    assert_eq!(runs(&case), [(101, 200), (200, 220)]);
}

/// In the second in which the maintenance ends that it names, a job may start there, also beside another maintenance of the node.
/// The next check of limits, at 210, stops it.
#[test]
fn a_job_may_start_in_the_second_in_which_its_maintenance_ends() {
    let jobs = [(0, 99, 60, 2), (0, 20, 60, 2)];
    let named = TwinOutage { name: "lab", ..TwinOutage::of(Maintenance, 0, 100, 200, 0) };
    let mut case = on_two_nodes(&jobs, named, 0);
    case.outages.push(TwinOutage { nodes: vec![0], ..TwinOutage::of(Maintenance, 0, 50, 400, 0) });
    case.jobs.iter_mut().for_each(|job| job.reservation = "lab");
    assert_eq!(runs(&case), [(101, 200), (200, 210)]);
}

/// Checks what holds after each pass and at each start.
struct Holds<'a> {
    case: &'a Case,
    now: i64,
    /// By running job: its processors, and its nodes.
    used: BTreeMap<JobId, (i64, Vec<usize>)>,
    area: i64,
    broken: Option<String>,
}

impl Holds<'_> {
    /// Whether a job that starts now takes what is out, or with its limit reaches into a reservation of others that is known.
    fn check_start(&mut self, id: JobId, nodes: &[usize]) {
        let (now, job) = (self.now, &self.case.jobs[id.index()]);
        let limit = (job.estimate + 59) / 60 * 60;
        let is_reserved = |outage: &TwinOutage| matches!(outage.kind, Maintenance | Reserved);
        // A maintenance that a job names is before all reservations.
        let has_maintenance = self.case.outages.iter().any(|one| job.names(one) && one.kind == Maintenance);
        let is_own = |outage: &TwinOutage| is_reserved(outage) && (has_maintenance || job.names(outage));
        let is_known = |outage: &&TwinOutage| outage.announced <= now && now < outage.end && !is_own(outage);
        for outage in self.case.outages.iter().filter(is_known) {
            let until = if matches!(outage.kind, Down | Drain) { now + 1 } else { now + limit };
            if outage.start < until && outage.nodes.iter().any(|node| nodes.contains(node)) {
                self.broken = Some(format!("job {} starts at {now} for {limit} beside {outage:?}", id.0));
            }
        }
    }

    fn check(&mut self) {
        let now = self.now;
        let on = || self.case.outages.iter().filter(move |one| one.start <= now && now < one.end && one.kind == Down);
        let (used, gone) = (self.used.values().map(|one| one.0).sum::<i64>(), on().map(|one| one.procs).sum::<i64>());
        if self.case.cpus.is_empty() && used > (self.case.procs - gone).max(0) {
            self.broken = Some(format!("{used} are used at {now}, and {gone} are down"));
        }
        let is_out = |node: &usize| on().any(|one| one.nodes.contains(node));
        if let Some((id, _)) = self.used.iter().find(|(_, (_, nodes))| nodes.iter().any(is_out)) {
            self.broken = Some(format!("job {} runs at {now} on a node that is down", id.0));
        }
        for (node, &cpus) in self.case.cpus.iter().enumerate() {
            if self.used.values().filter(|(_, nodes)| nodes.contains(&node)).count() as i64 > cpus {
                self.broken = Some(format!("more jobs than CPUs are on node {node} at {now}"));
            }
        }
    }
}

impl Observer for Holds<'_> {
    fn on(&mut self, time: Time, event: &Event<'_>, _machine: &Machine) {
        if time > self.now {
            self.area += self.used.values().map(|one| one.0).sum::<i64>() * (time - self.now);
            self.now = time;
        }
        match event {
            Event::Start(start) => {
                let nodes: Vec<usize> = start.grant.iter().map(|share| share.node as usize).collect();
                self.check_start(start.job.id, &nodes);
                self.used.insert(start.job.id, (start.submission.procs.into(), nodes));
            }
            Event::End(end) => drop(self.used.remove(&end.job.id)),
            Event::Preemption(stop) if stop.is_requeued => drop(self.used.remove(&stop.job.id)),
            Event::Pass(_) => self.check(),
            _ => {}
        }
    }
}

/// Twenty times as long: limits are whole minutes.
fn slower(case: &Case) -> Case {
    let mut case = case.clone();
    let scale = |time: i64| if time == i64::MAX { time } else { 20 * time };
    for job in &mut case.jobs {
        (job.submit, job.run, job.estimate) = (scale(job.submit), scale(job.run), scale(job.estimate));
    }
    for outage in &mut case.outages {
        (outage.start, outage.end, outage.announced) =
            (scale(outage.start), scale(outage.end), scale(outage.announced));
    }
    case
}

fn keys() -> impl Strategy<Value = &'static str> {
    select(vec![
        EACH_SECOND,
        "slurm",
        "slurm:order=multifactor,age_weight=1000,size_weight=500,bf_interval=7s",
        "slurm:bf_interval=10s,sched_interval=20s,resv_over_run=1m",
        "slurm:running=prediction,bf_interval=5s",
    ])
}

/// The engine checks that no job starts where it may not. Here: nobody is on what is down, nobody's limit reaches into a reservation of
/// others, no time is lost but that of stopped runs, and each job ends or is named.
#[test]
fn outages_under_slurm_keep_what_they_promise() {
    let cases = (pools(), clusters(), any::<bool>(), keys());
    check(725, fewer(8_000), cases, |(pool, cluster, on_nodes, scheduler)| {
        let case = slower(if on_nodes { &cluster } else { &pool });
        let mut seen = Holds { case: &case, now: 0, used: BTreeMap::new(), area: 0, broken: None };
        let record = match case.simulate(scheduler, "estimate", &mut seen) {
            Err(error) if error.contains("can start no job") => return Ok(()),
            other => other.map_err(TestCaseError::fail)?,
        };
        // Planned lengths are predictions there, which are not whole minutes.
        prop_assert!(seen.broken.is_none() || scheduler.contains("prediction"), "{:?}", seen.broken);
        let jobs = record.arrived.as_ref().map_or_else(|| case.workload().jobs, |jobs| jobs.to_vec());
        let has_run = |at: &usize| record.outcomes[*at].start.get().is_some();
        let work: i64 = (0..jobs.len()).filter(has_run).map(|at| case.jobs[at].procs * jobs[at].runtime).sum();
        let lost = record.outages.as_ref().unwrap().stopped.requeued.area;
        prop_assert_eq!(i128::from(work) + lost, i128::from(seen.area));
        let never = (0..jobs.len()).filter(|at| !has_run(at)).count() as u64;
        prop_assert_eq!(record.never.count(), never);
        Ok(())
    });
}

/// What is announced after the last end changes nothing, and nothing is as if there were no list of outages.
#[test]
fn outages_of_which_nobody_knows_change_nothing() {
    check(726, fewer(2_000), (pools(), clusters(), any::<bool>(), keys()), |(pool, cluster, on_nodes, scheduler)| {
        let mut case = slower(if on_nodes { &cluster } else { &pool });
        case.jobs.iter_mut().for_each(|job| job.reservation = "");
        let starts = |case: &Case| {
            let record = case.simulate(scheduler, "estimate", &mut ()).map_err(TestCaseError::fail)?;
            Ok::<_, TestCaseError>(record.outcomes.iter().map(|one| one.start.get()).collect::<Vec<_>>())
        };
        case.outages.clear();
        let without = starts(&case)?;
        case.outages.push(TwinOutage { nodes: vec![0], ..TwinOutage::of(Down, 1, 1_000_000, 2_000_000, 1_000_000) });
        prop_assert_eq!(without, starts(&case)?);
        Ok(())
    });
}
