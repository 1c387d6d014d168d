//! The gate in front of the queue: jobs that wait for other jobs, for a time, for their release or for a place in their array.

use std::sync::{Arc, Mutex};

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use shadowtime::counts::DroppedJobs;
use shadowtime::engine::{EngineError, EngineOptions, Gate, Named, Simulation};
use shadowtime::experiment::{Setting, simulate};
use shadowtime::job::JobId;
use shadowtime::machine::{Cluster, Node, Partition, Tres};
use shadowtime::metrics::{Measure, summarize};
use shadowtime::predict;
use shadowtime::schedule::{Decisions, Machine, Policy, Scheduler};
use shadowtime::trace::{
    Cleaning, Conditions, Dependency, DependencyKind, LogConditions, LogNames, LogReading, NeverEligible, PartitionMap,
    ReadOptions, Shaping, Source, TaskArrays, Unit, Workload, clean, put_on_cluster, read, shape,
};
use shadowtime_twins::random::{check, fewer};

use crate::support::{Folder, sim, sim_ok};

const HEADER: &str = "id,submit,wait,run,procs,limit,user,name,state,after,begin,hold,array,most\n";
const FORMAT: &str = "csv:submit=submit,wait=wait,run=run,procs=procs,estimate=limit,user=user,executable=name,\
                      status=state,id=id,after=after,begin=begin,hold=hold,array=array,array_limit=most";

fn dropped(first: i64, causes: &[(NeverEligible, u64)]) -> DroppedJobs<NeverEligible> {
    DroppedJobs { causes: causes.iter().copied().collect(), first }
}

/// The workload of a table. Each row is `id,submit,run,procs` and, after a colon, some of `after=..;begin=..;user=..`.
fn workload(procs: u32, rows: &str) -> Workload {
    let bytes = table(rows).into_bytes();
    let options = ReadOptions { reading: LogReading::parse(FORMAT).unwrap(), ..ReadOptions::default() };
    let log = read(&Source::Bytes { name: "jobs.csv", bytes: bytes.into() }, options, &mut |_| ()).unwrap();
    clean(&log, &Cleaning { procs: Some(procs), ..Cleaning::default() }).unwrap()
}

/// The CSV of such rows.
fn table(rows: &str) -> String {
    let mut table = HEADER.to_string();
    for row in rows.lines().map(str::trim).filter(|row| !row.is_empty()) {
        let (job, more) = row.split_once(' ').unwrap_or((row, ""));
        let value = |name: &str| {
            let mut pairs = more.split(' ').filter_map(|pair| pair.split_once('='));
            pairs.find(|(key, _)| *key == name).map_or("", |(_, value)| value)
        };
        let [id, submit, run, procs] = job.split(',').collect::<Vec<_>>()[..] else { panic!("{row}") };
        let user = if value("user").is_empty() { id } else { value("user") };
        table += &format!(
            "{id},{submit},0,{run},{procs},{run},{user},{},{},\"{}\",{},{},{},{}\n",
            value("name"),
            value("state"),
            value("after"),
            value("begin"),
            value("hold"),
            value("array"),
            value("most"),
        );
    }
    table
}

/// The same on nodes: two of them share the CPUs.
fn on_nodes(workload: &Workload) -> Workload {
    let node = |at: u32, cpus| Node {
        name: format!("n{at}"),
        has: Tres::on_node(cpus, 0),
        features: Vec::new(),
        weight: 1,
        threads_per_core: 1,
        is_down: false,
    };
    let nodes = vec![node(1, workload.procs / 2), node(2, workload.procs - workload.procs / 2)];
    let partition = Partition {
        name: "all".into(),
        nodes: vec![0, 1],
        priority_tier: 1,
        priority_job_factor: 1,
        ..Partition::default()
    };
    let cluster = Arc::new(Cluster { nodes, partitions: vec![partition], ..Cluster::default() });
    put_on_cluster(workload.clone(), &cluster, &PartitionMap::new(), &LogNames::default(), Unit::Cpus).unwrap()
}

/// When each job joined the queue and when it started: (number, eligible, start).
fn schedule(workload: &Workload, scheduler: &str, predictor: &str) -> Vec<(i64, i64, i64)> {
    let record = simulate(workload, &Setting::parse(scheduler, predictor).unwrap(), &mut |_| ()).unwrap();
    let jobs = record.finished(&workload.jobs);
    jobs.map(|job| (job.job.number, job.job.submission.submit, job.start())).collect()
}

/// Checks the schedule of a log on a pool and on nodes, under every scheduler.
fn expect(procs: u32, rows: &str, expected: &[(i64, i64, i64)]) {
    let workload = workload(procs, rows);
    let nodes = on_nodes(&workload);
    for scheduler in ["fcfs", "easy", "sjbf", "conservative", "easy:reservations=2"] {
        assert_eq!(schedule(&workload, scheduler, "estimate"), expected, "{scheduler}: {rows}");
        assert_eq!(schedule(&nodes, scheduler, "estimate"), expected, "{scheduler} on nodes: {rows}");
    }
    for predictor in ["perfect", "ruh", "easy++", "kin", "sbh"] {
        assert_eq!(schedule(&workload, "fcfs", predictor), expected, "{predictor}: {rows}");
    }
}

#[test]
fn after_the_start_of_a_job() {
    // Job 2 starts when job 1 ends. Job 3 then joins the queue, and fits at once, because one processor is free.
    let rows = "1,0,100,2\n 2,10,50,2\n 3,20,10,1 after=after:2";
    expect(3, rows, &[(1, 0, 0), (2, 10, 100), (3, 100, 100)]);
    expect(2, rows, &[(1, 0, 0), (2, 10, 100), (3, 100, 150)]);
}

#[test]
fn after_the_end_of_jobs() {
    // A number alone means afterany. Job 9 is not in the log.
    expect(
        4,
        "1,0,100,1\n 2,0,30,1\n 3,5,10,1 after=1:2\n 4,5,10,1 after=afterany:2:9\n 5,60,10,1 after=2",
        &[(1, 0, 0), (2, 0, 0), (3, 100, 100), (4, 30, 30), (5, 60, 60)],
    );
}

#[test]
fn success_and_failure_are_those_of_the_log() {
    let rows = "1,0,10,1 state=0\n 2,1,10,1 after=afterok:1\n 3,2,10,1 after=afternotok:1\n 4,3,10,1 after=2\n \
                5,4,10,1 state=1\n 6,5,10,1 after=afterok:5\n 7,6,10,1 after=afternotok:5\n 8,7,10,1 after=afterok:6\n \
                9,8,10,1 after=afterok:8,after:4";
    expect(4, rows, &[(1, 0, 0), (3, 10, 10), (5, 4, 4), (6, 14, 14), (8, 24, 24)]);
    let never = workload(4, rows).cleaning.never_eligible;
    assert_eq!(never, dropped(2, &[(NeverEligible::ByStatus, 2), (NeverEligible::Behind, 2)]));
}

#[test]
fn a_singleton_is_alone_of_its_name() {
    // Job 4 was submitted later, but it runs when jobs 1 and 2 have ended. Job 5 waits for the singleton before it, job 6 is
    // of another user, and job 7 has another name.
    let rows = "1,0,100,1 user=u name=a\n 2,5,20,1 user=u name=a\n 3,6,10,1 user=u name=a after=singleton\n \
                4,7,200,1 user=u name=a\n 5,8,10,1 user=u name=a after=singleton\n 6,9,1,1 user=v name=a after=singleton\n \
                7,10,1,1 user=u name=b after=singleton";
    let expected = [(1, 0, 0), (2, 5, 5), (3, 207, 207), (4, 7, 7), (5, 217, 217), (6, 9, 9), (7, 10, 10)];
    expect(8, rows, &expected);
}

#[test]
fn begin_times_and_holds() {
    let rows = "1,0,10,1 begin=50\n 2,0,10,1 hold=70\n 3,1,10,1 hold=no\n 4,2,10,1 hold=yes\n 5,3,10,1 after=4\n \
                6,4,10,1 begin=2\n 7,5,10,1 begin=20 hold=15 after=3";
    expect(8, rows, &[(1, 50, 50), (2, 70, 70), (3, 1, 1), (6, 4, 4), (7, 20, 20)]);
    let never = workload(8, rows).cleaning.never_eligible;
    assert_eq!(never, dropped(4, &[(NeverEligible::Held, 1), (NeverEligible::Behind, 1)]));
    assert_eq!(workload(8, rows).cleaning.dropped(), 2);
}

#[test]
fn an_array_runs_two_tasks_at_once() {
    // Job 5 waits for the whole array, job 6 is none of its tasks.
    let rows = "1,0,10,1 array=7 most=2\n 2,0,20,1 array=7\n 3,0,30,1 array=7\n 4,0,40,1 array=7\n \
                5,1,5,1 after=afterok:7\n 6,2,5,1 array=8";
    expect(8, rows, &[(1, 0, 0), (2, 0, 0), (3, 10, 10), (4, 20, 20), (5, 60, 60), (6, 2, 2)]);
    // With one processor the third task joins the queue when the first has ended, and its wait counts from there.
    expect(1, &rows[..rows.find("5,1").unwrap()], &[(1, 0, 0), (2, 0, 10), (3, 10, 30), (4, 30, 60)]);
}

#[test]
fn released_jobs_are_in_order_of_submission_among_the_arrivals_of_the_instant() {
    // Jobs 2 and 3 join the queue at 10, as job 4 does, which is submitted then.
    let rows = "1,0,10,1\n 2,1,5,1 begin=10\n 3,2,5,1 after=1\n 4,10,5,1\n 5,10,5,1 begin=11";
    expect(1, rows, &[(1, 0, 0), (2, 10, 10), (3, 10, 15), (4, 10, 20), (5, 11, 25)]);
}

#[test]
fn circles_are_dropped() {
    let rows =
        "1,0,10,1 after=2\n 2,0,10,1 after=3\n 3,0,10,1 after=1\n 4,0,10,1 after=4\n 5,0,10,1\n 6,0,10,1 after=1";
    expect(4, rows, &[(5, 0, 0)]);
    let never = workload(4, rows).cleaning.never_eligible;
    assert_eq!(never, dropped(1, &[(NeverEligible::Circular, 5)]));
    // A singleton waits for the job before it, which waits for the singleton.
    expect(4, "1,0,10,1 user=u name=a after=2\n 2,0,10,1 user=u name=a after=singleton\n 3,0,10,1", &[(3, 0, 0)]);
}

/// The wait counts from the instant at which a job joins the queue, in the means too.
#[test]
fn waits_count_from_eligibility() {
    let workload = workload(1, "1,0,100,1\n 2,0,50,1 after=1\n 3,120,10,1");
    let record = simulate(&workload, &Setting::parse("fcfs", "estimate").unwrap(), &mut |_| ()).unwrap();
    let summary = summarize(&workload, &record, &Measure::default());
    assert_eq!(summary.wait_mean, 10.0);
    let submitted: Vec<_> = record.finished(&workload.jobs).map(|job| (job.submitted, job.wait())).collect();
    assert_eq!(submitted, [(0, 0), (0, 0), (120, 30)]);
}

/// Slurm starts jobs at the passes of its own clock. Jobs join the queue when those before them really end.
#[test]
fn slurm_and_orders_of_the_queue_obey_the_gate() {
    let workload = workload(4, "1,0,100,4\n 2,5,30,1 after=1\n 3,6,10,1 after=afterok:1:2\n 4,7,20,4 after=after:2");
    for scheduler in ["slurm", "fcfs:queue=spf", "easy:queue=wfp3", "sjbf:protect=1m"] {
        let [one, two, three, four] = schedule(&workload, scheduler, "estimate")[..] else { panic!("four jobs") };
        assert_eq!((two.1, three.1, four.1), (one.2 + 100, two.2 + 30, two.2), "{scheduler}");
        assert!(two.2 >= two.1 && two.2 <= two.1 + 60 && three.2 >= three.1 && four.2 >= two.2 + 30, "{scheduler}");
    }
}

#[test]
fn conditions_move_with_the_jobs_of_a_shaped_log() {
    let rows = "1,0,10,1\n 2,10,10,1 after=1\n 3,20,10,1 begin=50";
    let shaped = |shaping| schedule(&shape(workload(4, rows), &shaping).unwrap(), "fcfs", "estimate");
    let twice = shaped(Shaping { repeat: 2, ..Shaping::default() });
    assert_eq!(twice, [(1, 0, 0), (2, 10, 10), (3, 50, 50), (4, 30, 30), (5, 40, 40), (6, 80, 80)]);
    // The begin time stays 30 seconds after the submission; job 2 has to wait for job 1.
    assert_eq!(shaped(Shaping { load: 2.0, ..Shaping::default() }), [(1, 0, 0), (2, 10, 10), (3, 40, 40)]);
    let cut = Shaping { from: Some(shadowtime::trace::Moment::AfterFirst(5)), ..Shaping::default() };
    assert_eq!(shaped(cut), [(2, 10, 10), (3, 50, 50)]);
}

// ---- The slow twin: a loop over seconds.

#[derive(Clone, Debug)]
struct TwinJob {
    submit: i64,
    run: i64,
    procs: i64,
    name: u8,
    failed: bool,
    /// The kind of each dependency, and the job.
    after: Vec<(&'static str, usize)>,
    singleton: bool,
    begin: Option<i64>,
    /// Below 0: for ever.
    hold: Option<i64>,
    array: Option<usize>,
}

/// When each job joins the queue and starts under fcfs. None: never.
fn twin(procs: i64, jobs: &[TwinJob], limits: &[usize]) -> Vec<Option<(i64, i64)>> {
    let count = jobs.len();
    let (mut eligible, mut start) = (vec![None; count], vec![None; count]);
    let mut queue: Vec<usize> = Vec::new();
    for now in 0..600 {
        let is_over =
            |start: &[Option<i64>], at: usize| start[at].is_some_and(|start: i64| start + jobs[at].run <= now);
        loop {
            let before = (queue.len(), start.clone());
            for at in 0..count {
                let job = &jobs[at];
                if eligible[at].is_some() || job.submit > now || job.begin.is_some_and(|begin| begin > now) {
                    continue;
                }
                let is_met = |&(kind, other): &(&str, usize)| match kind {
                    "after" => start[other].is_some(),
                    "afterany" => is_over(&start, other),
                    "afterok" => is_over(&start, other) && !jobs[other].failed,
                    _ => is_over(&start, other) && jobs[other].failed,
                };
                let is_behind = |other: usize| {
                    let is_running = start[other].is_some() && !is_over(&start, other);
                    jobs[other].name == job.name && (is_running || (other < at && !is_over(&start, other)))
                };
                let is_held = job.hold.is_some_and(|until| until < 0 || until > now);
                let is_blocked = job.singleton && (0..count).any(|other| other != at && is_behind(other));
                let is_full = job.array.is_some_and(|array| {
                    let is_inside = |other: &usize| eligible[*other].is_some() && !is_over(&start, *other);
                    let tasks = (0..count).filter(|&other| jobs[other].array == Some(array));
                    tasks.filter(is_inside).count() >= limits[array]
                });
                if !is_held && !is_blocked && !is_full && job.after.iter().all(is_met) {
                    eligible[at] = Some(now);
                    queue.push(at);
                }
            }
            while let Some(&head) = queue.first() {
                let running = (0..count).filter(|&at| start[at].is_some() && !is_over(&start, at));
                if running.map(|at| jobs[at].procs).sum::<i64>() + jobs[head].procs > procs {
                    break;
                }
                start[head] = Some(now);
                queue.remove(0);
            }
            if before == (queue.len(), start.clone()) {
                break;
            }
        }
    }
    eligible.into_iter().zip(start).map(|(eligible, start)| Some((eligible?, start?))).collect()
}

fn twin_rows(jobs: &[TwinJob], limits: &[usize]) -> String {
    let row = |(at, job): (usize, &TwinJob)| {
        let mut after: Vec<String> = job.after.iter().map(|(kind, other)| format!("{kind}:{}", other + 1)).collect();
        after.extend(job.singleton.then(|| "singleton".to_string()));
        let mut row = format!("{},{},{},{} user=u name={}", at + 1, job.submit, job.run, job.procs, job.name);
        row += if job.failed { " state=0" } else { "" };
        if !after.is_empty() {
            row += &format!(" after={}", after.join(","));
        }
        row += &job.begin.map_or(String::new(), |begin| format!(" begin={begin}"));
        row += &match job.hold {
            None => String::new(),
            Some(..0) => " hold=yes".to_string(),
            Some(until) => format!(" hold={until}"),
        };
        row += &job.array.map_or(String::new(), |array| format!(" array=a{array} most={}", limits[array]));
        row
    };
    jobs.iter().enumerate().map(row).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_gate_is_its_slow_twin() {
    let kinds = || select(vec!["after", "afterany", "afterok", "afternotok"]);
    let conditions = (
        vec((kinds(), any::<prop::sample::Index>(), 0..10u8), 0..3),
        select(vec![false, false, true]),
        option::weighted(0.2, 0..60i64),
        option::weighted(0.2, select(vec![-1, 3, 20, 50])),
        option::weighted(0.3, 0..2usize),
    );
    let job = ((0..4i64, 1..12i64, 1..=4i64, 0..3u8, select(vec![false, false, true])), conditions);
    let jobs = (vec(job, 2..16), vec(1..3usize, 2));
    check(811, fewer(3000), jobs, |(drafts, limits)| {
        let (count, mut submit, mut jobs) = (drafts.len(), 0, Vec::new());
        for (at, ((gap, run, procs, name, failed), (after, singleton, begin, hold, array))) in
            drafts.into_iter().enumerate()
        {
            // Times count from the first submission.
            submit += if at == 0 { 0 } else { gap };
            // Most dependencies are on earlier jobs, some make circles.
            let other = |index: prop::sample::Index, any| index.index(if any == 0 || at == 0 { count } else { at });
            let mut after: Vec<_> = after.into_iter().map(|(kind, index, any)| (kind, other(index, any))).collect();
            after.sort_unstable();
            after.dedup();
            // 1 would mean yes, and a begin time or a release in the past is none.
            let hold = hold.filter(|&until| until < 0 || until > submit);
            jobs.push(TwinJob { submit, run, procs, name, failed, after, singleton, begin, hold, array });
        }
        let expected = twin(4, &jobs, &limits);
        prop_assume!(expected.iter().any(Option::is_some));
        let rows = twin_rows(&jobs, &limits);
        let workload = workload(4, &rows);
        let expected: Vec<_> = expected
            .iter()
            .zip(1..)
            .filter_map(|(times, number)| times.map(|(eligible, start)| (number, eligible, start)))
            .collect();
        prop_assert_eq!(schedule(&workload, "fcfs", "estimate"), expected, "{}", rows);
        Ok(())
    });
}

// ---- What others see.

/// What a policy sees at each pass: the time, and the jobs that wait.
type Seen = Arc<Mutex<Vec<(i64, Vec<u32>)>>>;

/// Starts the first jobs that fit, and notes what it sees.
struct Watching(Seen);

impl Policy for Watching {
    fn decide(&mut self, machine: &Machine, out: &mut Decisions) {
        self.0.lock().unwrap().push((machine.now, machine.waiting.iter().map(|job| job.id.0).collect()));
        let mut free = machine.capacity.free();
        for job in machine.waiting.iter().take_while(|job| {
            free -= i64::from(job.procs);
            free >= 0
        }) {
            out.starts.push(job.id);
        }
    }
}

fn watched(workload: &Workload) -> (Simulation, Seen) {
    let seen = Seen::default();
    let policy = Scheduler::new(Watching(Arc::clone(&seen))).named("watching");
    let spec = predict::catalog::parse("estimate").unwrap();
    let predictor = Named { name: "estimate".into(), value: predict::catalog::build(&spec) };
    let simulation = Simulation::new(workload.procs, policy, predictor, EngineOptions::default());
    let mut simulation = simulation.with_gate(Gate::of(workload));
    for job in &workload.jobs {
        simulation.submit(job).unwrap();
    }
    (simulation, seen)
}

#[test]
fn no_policy_sees_a_held_job() {
    let workload = workload(2, "1,0,100,2\n 2,1,10,1 after=1\n 3,2,10,1 begin=40\n 4,3,10,1");
    let (mut simulation, seen) = watched(&workload);
    simulation.run_to_end().unwrap();
    // At 40 job 3 joins job 4. At 100 job 2 does, and jobs 4 and 3 are before it. Their numbers are those of the workload.
    let expected: [(i64, &[u32]); 6] =
        [(0, &[0]), (3, &[3]), (40, &[3, 2]), (100, &[3, 2, 1]), (110, &[1]), (120, &[])];
    assert_eq!(*seen.lock().unwrap(), expected.map(|(time, jobs)| (time, jobs.to_vec())));
    let starts: Vec<_> = (0..4).map(|at| simulation.outcome(JobId(at)).start.get().unwrap()).collect();
    assert_eq!(starts, [0, 110, 100, 100]);
    assert!((0..4).all(|at| !simulation.outcome(JobId(at)).backfilled));
}

#[test]
fn a_job_at_the_gate_can_be_cancelled() {
    let rows = "1,0,100,2\n 2,1,10,1 after=1\n 3,2,10,1 after=2\n 4,3,10,1 begin=500\n 5,20,10,1 array=7 most=1\n \
                6,21,10,1 array=7\n 7,22,10,1 array=7";
    let (mut simulation, _) = watched(&workload(2, rows));
    simulation.advance_to(10).unwrap();
    // Job 5 is not submitted yet, and job 1 runs.
    assert_eq!(simulation.cancel(JobId(4)), Err(EngineError::NotWaiting { time: 10 }));
    assert_eq!(simulation.cancel(JobId(0)), Err(EngineError::NotWaiting { time: 10 }));
    // Job 3 waits for job 2, so it joins the queue now.
    simulation.cancel(JobId(1)).unwrap();
    simulation.cancel(JobId(3)).unwrap();
    assert_eq!(simulation.cancel(JobId(3)), Err(EngineError::NotWaiting { time: 10 }));
    simulation.advance_to(30).unwrap();
    // Of the tasks, the first is in the queue: the second is cancelled at the gate, and then the first, so that the third joins.
    simulation.cancel(JobId(5)).unwrap();
    simulation.cancel(JobId(4)).unwrap();
    simulation.run_to_end().unwrap();
    let start = |at: u32| simulation.outcome(JobId(at)).start.get();
    assert_eq!([0, 1, 2, 3, 4, 5, 6].map(start), [Some(0), None, Some(100), None, None, None, Some(100)]);
}

#[test]
fn conditions_that_cannot_be_met_are_an_error_and_not_a_hang() {
    // Cleaning drops circles. This one is made after it.
    let after = |record| Conditions {
        after: vec![Dependency { kind: DependencyKind::AfterAny, record }],
        ..Conditions::default()
    };
    let conditions = LogConditions::new(vec![(1, after(2)), (2, after(1))], Vec::new(), 0);
    let circular = Workload { conditions: Arc::new(conditions), ..workload(2, "1,0,100,2\n 2,0,10,1\n 3,0,10,1") };
    let (mut simulation, _) = watched(&circular);
    assert_eq!(simulation.run_to_end(), Err(EngineError::Held { job: 2, time: 100, held: 2 }));
}

/// The log's own schedule needs no gate: a job arrives when its conditions were met there.
#[test]
fn a_replay_counts_waits_from_recorded_eligibility() {
    let csv = "id,submit,wait,run,procs,after\n1,0,0,100,1,\n2,5,120,10,1,1\n3,6,0,10,1,1\n4,50,10,10,1,\n";
    let folder = Folder::new();
    let log = folder.write("jobs.csv", csv);
    let format = "csv:submit=submit,wait=wait,run=run,procs=procs,id=id,after=after";
    let out = folder.text("out.csv");
    let args = [&log, "--log-format", format, "--procs", "4", "--baseline", "none"];
    sim_ok(&[&args[..], &["--scheduler", "replay", "--predictor", "estimate", "--jobs-out", &out]].concat());
    let table = folder.read("out.csv");
    let rows: Vec<Vec<&str>> = table.lines().map(|row| row.split(',').collect()).collect();
    let column = |name: &str| {
        let at = rows[0].iter().position(|other| *other == name).unwrap();
        rows[1..].iter().map(|row| row[at]).collect::<Vec<_>>()
    };
    assert_eq!(column("submit"), ["0", "5", "6", "50"]);
    // Job 3 started before job 1 ended, whatever the log says that it waited for.
    assert_eq!(column("eligible"), ["0", "100", "6", "50"]);
    assert_eq!(column("wait"), ["0", "25", "0", "10"]);
    assert_eq!(column("start"), ["0", "125", "6", "60"]);
    let fidelity = [&["fidelity"], &args[..5], &["--scheduler", "replay", "--jobs-out", &out]].concat();
    sim_ok(&fidelity);
    let differences = folder.read("out.csv");
    assert!(differences.starts_with("job,user,queue,submit,procs,wait_recorded,wait_simulated,difference,"));
    assert!(differences.lines().skip(1).all(|row| row.split(',').nth(7) == Some("0")), "{differences}");
}

// ---- Files and messages.

const SITE: &str = "1,0,100,2\n2,10,50,1 state=0\n3,20,10,1 after=afterok:1,afterany:2\n4,30,10,1 after=afterok:2\n\
                    5,40,10,1 begin=400 user=2\n6,50,10,1 hold=300\n7,60,10,1 hold=yes\n8,70,10,1 array=a most=1\n\
                    9,80,10,1 array=a\n10,90,10,1 after=77\n11,95,10,1 after=singleton user=2";

#[test]
fn the_survey_names_conditions_and_the_notes_what_is_dropped() {
    let folder = Folder::new();
    let log = folder.write("jobs.csv", table(SITE));
    let info = sim_ok(&["trace", "info", &log, "--log-format", FORMAT, "--procs", "2", "--format", "table"]);
    let line = "conditions         2 dependent jobs, 1 singleton, 1 begin time, 2 holds, 1 array with a limit";
    assert!(info.contains(line), "{info}");
    assert!(info.contains("never able to start because of their conditions  2"), "{info}");
    let ran = sim(&[&log, "--log-format", FORMAT, "--procs", "2"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let causes = "the first is job 4: 1 job: held and never released; 1 job: afterok of a job that failed";
    assert!(ran.err.contains(causes), "{}", ran.err);
    assert!(ran.err.contains("1 dependency is on a job that is not there"), "{}", ran.err);
}

#[test]
fn conditions_survive_a_conversion() {
    let folder = Folder::new();
    let log = folder.write("jobs.csv", table(SITE));
    let [swf, asked, again] = ["site.swf", "asked.csv", "again.csv"].map(|name| folder.text(name));
    let convert = ["trace", "convert", &log, "--log-format", FORMAT, "--procs", "2", "--out", &swf];
    sim_ok(&[&convert[..], &["--requests-out", &asked]].concat());
    let written = folder.read("asked.csv");
    assert!(written.contains("afterany:2,afterok:1") && written.contains(",a,1\n"), "{written}");
    let back = ["trace", "convert", &swf, "--requests", &asked, "--out", &folder.text("more.swf")];
    sim_ok(&[&back[..], &["--requests-out", &again]].concat());
    assert_eq!(folder.read("again.csv"), written);
    // Both logs have the same schedule.
    let (one, other) = (folder.text("one.csv"), folder.text("other.csv"));
    let setting = ["--scheduler", "easy", "--predictor", "estimate", "--baseline", "none", "--jobs-out"];
    sim_ok(&[&[&log[..], "--log-format", FORMAT, "--procs", "2"], &setting[..], &[&one]].concat());
    sim_ok(&[&[&swf[..], "--requests", &asked], &setting[..], &[&other]].concat());
    assert_eq!(folder.read("one.csv"), folder.read("other.csv"));
    assert!(folder.read("one.csv").lines().next().unwrap().ends_with(",backfilled,eligible,log_id"));
}

/// Two tasks without a limit, two of which one runs at once, and a job.
const ARRAYS: &str =
    "1,0,10,1 array=x\n 2,0,10,1 array=y most=1\n 3,5,10,1 array=x\n 4,5,10,1\n 5,6,10,1 array=y most=1";

#[test]
fn arrays_without_a_limit_are_known_but_hold_nobody() {
    let workload = workload(4, ARRAYS);
    let of = |workload: &Workload| {
        let arrays = TaskArrays::of(workload);
        let of_jobs = (0..workload.jobs.len()).map(|at| arrays.of_job(at)).collect::<Vec<_>>();
        (of_jobs, [0, 1, 2, 3].map(|array| arrays.limited_size(array)))
    };
    let (x, y) = (Some(0), Some(1));
    assert_eq!(of(&workload), (vec![x, y, x, None, y], [None, Some(2), None, None]));
    let waits =
        schedule(&workload, "fcfs", "estimate").iter().map(|(_, eligible, start)| start - eligible).sum::<i64>();
    assert_eq!((waits, schedule(&workload, "fcfs", "estimate")[4]), (0, (5, 10, 10)));
    // The copies of tasks are tasks of copies of their arrays.
    let twice = shape(workload.clone(), &Shaping { repeat: 2, ..Shaping::default() }).unwrap();
    let (own, sizes) = of(&twice);
    let copied = [Some(2), Some(3), Some(2), None, Some(3)];
    assert_eq!(own, [vec![x, y, x, None, y], copied.to_vec()].concat());
    assert_eq!(sizes, [None, Some(2), None, Some(2)]);
    assert_eq!(of(&workload.as_recorded()).0, [x, y, x, None, y]);
}

#[test]
fn arrays_survive_a_conversion() {
    let folder = Folder::new();
    let log = folder.write("jobs.csv", table(ARRAYS));
    let [swf, asked] = ["site.swf", "asked.csv"].map(|name| folder.text(name));
    let convert = ["trace", "convert", &log, "--log-format", FORMAT, "--procs", "2", "--out", &swf];
    sim_ok(&[&convert[..], &["--requests-out", &asked]].concat());
    let written = folder.read("asked.csv");
    let ends = ["x,", "y,1", "x,", "y,1"].map(|end| format!(",{end}"));
    let rows: Vec<&str> = written.lines().skip(1).collect();
    assert!(rows.len() == 4 && rows.iter().zip(&ends).all(|(row, end)| row.ends_with(end)), "{written}");
    let again = folder.text("again.csv");
    let back = ["trace", "convert", &swf, "--requests", &asked, "--out", &folder.text("more.swf")];
    sim_ok(&[&back[..], &["--requests-out", &again]].concat());
    assert_eq!(folder.read("again.csv"), written);
}

#[test]
fn wrong_conditions_are_errors_with_their_place() {
    let folder = Folder::new();
    let bad = |row: &str| {
        let log = folder.write("jobs.csv", table(&format!("1,0,10,1\n{row}")));
        let ran = sim(&[&log, "--log-format", FORMAT, "--procs", "4"]);
        assert_eq!(ran.code, 2, "{row}: {}", ran.err);
        ran.err
    };
    for (row, what, text) in [
        ("2,0,10,1 after=later:1", "after is not a list of jobs", "later:1"),
        ("2,0,10,1 after=aftercorr:1", "after has aftercorr, which is not simulated", "aftercorr:1"),
        ("2,0,10,1 after=afterok:1?afterok:2", "after has jobs of which any one is enough", "afterok:1?afterok:2"),
        ("2,0,10,1 begin=soon", "begin is not a time", "soon"),
        ("2,0,10,1 hold=maybe", "hold is neither yes nor no", "maybe"),
        ("2,0,10,1 array=1 most=0", "array_limit is not a whole number of tasks", "0"),
        ("2,0,10,1 array=1 most=2\n3,0,10,1 array=1 most=3", "array_limit is not that of an earlier row", "3"),
    ] {
        let error = bad(row);
        let line = if row.contains('\n') { 4 } else { 3 };
        let place = format!("jobs.csv:{line}");
        assert!(error.contains(what) && error.contains(&place) && error.contains(text), "{row}: {error}");
    }
    let log = folder.write("jobs.csv", table("1,0,10,1"));
    let ran = sim(&[&log, "--log-format", "csv:submit=submit,wait=wait,run=run,procs=procs,after=after"]);
    assert!(ran.code == 2 && ran.err.contains("after= is given without id="), "{}", ran.err);
    let swf = folder.text("site.swf");
    sim_ok(&["trace", "convert", &log, "--log-format", FORMAT, "--procs", "4", "--out", &swf]);
    for (row, what) in [
        (
            "1,1,later,",
            ":2: after is not a list of jobs such as afterok:12:13,afterany:5, 12:13 or singleton: \"later\"",
        ),
        ("1,1,,-7", ":2: begin is not a time in seconds of the log: \"-7\""),
    ] {
        let asked = folder.write("asked.csv", format!("job,cpus,after,begin\n{row}\n"));
        let ran = sim(&[&swf, "--requests", &asked]);
        assert!(ran.code == 2 && ran.err.contains(what), "{row}: {}", ran.err);
    }
}

/// Slurm keeps the limit of an array in the command line, and in the range of the tasks that never started.
#[test]
fn limits_of_arrays_in_sacct() {
    let folder = Folder::new();
    let time = |seconds: u32| format!("2026-01-05T08:{:02}:{:02}", seconds / 60, seconds % 60);
    let row = |id: &str, raw: u32, end: u32, line: &str| {
        format!("{id}|{raw}|{}|{}|{}|1|COMPLETED|{line}\n", time(0), time(0), time(end))
    };
    let tasks = |line: &str| {
        [("7_1", 11, 10), ("7_2", 12, 20), ("7_3", 13, 30)].map(|(id, raw, end)| row(id, raw, end, line)).concat()
    };
    let header = "JobID|JobIDRaw|Submit|Start|End|NCPUS|State|SubmitLine\n";
    let waits = |rows: String| {
        let (log, out) = (folder.write("jobs.sacct", format!("{header}{rows}")), folder.text("out.csv"));
        sim_ok(&[&log, "--procs", "8", "--scheduler", "fcfs", "--baseline", "none", "--jobs-out", &out]);
        let starts = |row: &str| row.split(',').nth(3).unwrap().parse::<i64>().unwrap();
        folder.read("out.csv").lines().skip(1).map(starts).collect::<Vec<_>>()
    };
    assert_eq!(waits(tasks("sbatch --array=1-3%2 job.sh")), [0, 0, 10]);
    assert_eq!(waits(tasks("sbatch --array=1-3 job.sh")), [0, 0, 0]);
    let range = format!("7_[4-9%1]|7|{}|Unknown|Unknown|1|PENDING|x\n", time(0));
    assert_eq!(waits(tasks("x") + &range), [0, 10, 30]);
}
