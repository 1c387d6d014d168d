//! Users who react: jobs that arrive after the simulated ends of earlier jobs of their users.

use std::sync::Arc;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use shadowtime::engine::{EngineOptions, Event, Gate, Observer, RunRecord, Simulation};
use shadowtime::experiment::{OptionForm, Options, Setting, simulate};
use shadowtime::job::{Job, JobId};
use shadowtime::machine::{Cluster, Node, Partition, Tres};
use shadowtime::metrics::{Measure, summarize};
use shadowtime::predict::RunFacts;
use shadowtime::schedule::Machine;
use shadowtime::trace::{
    Conditions, FeedbackLinks, FeedbackModel, LogConditions, LogNames, Moment, PartitionMap, Preceding, ReadOptions,
    Shaping, Source, Unit, Workload, put_on_cluster, read, shape,
};

use crate::plain_feedback::{self, PlainLinks, PlainScheduler};
use crate::random::{check, fewer, workloads};
use crate::support::{facts, job_of, real_log, real_logs, workload};

/// A way to find links, with the preceding jobs of those that read them from the log.
#[derive(Clone, Debug)]
struct Way {
    spec: String,
    fields: Vec<Option<(i64, i64)>>,
}

impl Way {
    fn link(&self, workload: &Workload) -> Workload {
        let preceding = self.fields.iter().zip(0..).filter_map(|(field, record)| {
            let (number, think) = (*field)?;
            Some(Preceding { record, number, think })
        });
        let preceding: Vec<_> = preceding.collect();
        FeedbackModel::parse(&self.spec).unwrap().link(workload.clone(), &preceding).unwrap()
    }

    /// By the twin.
    fn plain(&self, jobs: &[Job]) -> PlainLinks {
        let limit = self.spec.rsplit_once('=').map_or(0, |(_, limit)| limit.parse().unwrap());
        match self.spec.split(':').next().unwrap() {
            "think" => plain_feedback::think_links(jobs, limit),
            "session" => plain_feedback::session_links(jobs, limit),
            _ => plain_feedback::field_links(jobs, &self.fields[..jobs.len()]),
        }
    }
}

fn ways() -> impl Strategy<Value = Way> {
    let by_time = (select(vec!["think", "session"]), select(vec![0, 5, 60, 1200, 100_000]))
        .prop_map(|(name, limit)| Way { spec: format!("{name}:limit={limit}"), fields: Vec::new() });
    // Numbers of later jobs, of the job itself and of none, and think times below 0 are among them.
    let field = option::weighted(0.7, (0..70i64, select(vec![-1, 0, 0, 1, 5, 60, 600])));
    let by_fields = vec(field, 60).prop_filter("a log with links", |fields| fields.iter().any(Option::is_some));
    let by_fields = by_fields.prop_map(|fields| Way { spec: "swf".to_string(), fields });
    prop_oneof![by_time.clone(), by_time, by_fields]
}

/// Some waits are not known.
fn logs() -> impl Strategy<Value = Workload> {
    (workloads(), vec(0..12u8, 60)).prop_map(|(mut log, dice)| {
        for (job, die) in log.jobs.iter_mut().skip(1).zip(dice) {
            if die == 0 {
                job.recorded_wait = None.into();
            }
        }
        log
    })
}

/// The links of a workload as the twin has them.
fn links_of(workload: &Workload) -> (PlainLinks, FeedbackLinks) {
    let found = workload.feedback_links().unwrap();
    let mut links = vec![None; workload.jobs.len()];
    for group in &found.groups {
        for &(job, delay) in &group.following {
            let preceding = group.preceding.iter().map(|&at| at as usize).collect();
            assert_eq!(links[job as usize].replace((preceding, delay)), None, "a job follows once");
        }
    }
    (links, found)
}

fn record(workload: &Workload, scheduler: &str, predictor: &str) -> RunRecord {
    simulate(workload, &Setting::parse(scheduler, predictor).unwrap(), &mut |_| ()).unwrap()
}

/// When each job arrives and starts.
fn schedule(workload: &Workload, scheduler: &str, predictor: &str) -> Vec<(i64, i64)> {
    let record = record(workload, scheduler, predictor);
    record.finished(&workload.jobs).map(|job| (job.job.submission.submit, job.start())).collect()
}

/// The same on nodes of one CPU.
fn on_nodes(workload: &Workload) -> Workload {
    let node = |at: u32| Node {
        name: format!("n{at}"),
        has: Tres::on_node(1, 0),
        features: Vec::new(),
        weight: 1,
        threads_per_core: 1,
        is_down: false,
    };
    let partition = Partition {
        name: "all".into(),
        nodes: (0..workload.procs).collect(),
        priority_tier: 1,
        priority_job_factor: 1,
        ..Partition::default()
    };
    let nodes = (0..workload.procs).map(node).collect();
    let cluster = Arc::new(Cluster { nodes, partitions: vec![partition], ..Cluster::default() });
    put_on_cluster(workload.clone(), &cluster, &PartitionMap::new(), &LogNames::default(), Unit::Cpus).unwrap()
}

#[test]
fn links_are_those_of_the_definitions() {
    check(241, fewer(2000), (logs(), ways()), |(log, way)| {
        let linked = way.link(&log);
        let (links, found) = links_of(&linked);
        prop_assert_eq!(&links, &way.plain(&log.jobs));
        prop_assert_eq!((found.linked, found.cut), (links.iter().flatten().count() as u64, 0));
        let feedback = linked.feedback.unwrap();
        let named = way.fields.iter().take(log.jobs.len()).flatten().count() as u64;
        prop_assert_eq!(feedback.unusable, if way.spec == "swf" { named - found.linked } else { 0 });
        Ok(())
    });
}

#[test]
fn arrivals_and_starts_are_those_of_the_twin() {
    check(242, fewer(2000), (logs(), ways()), |(log, way)| {
        let linked = way.link(&log);
        let links = way.plain(&log.jobs);
        for (name, scheduler) in
            [("fcfs", PlainScheduler::Fcfs), ("easy", PlainScheduler::Easy), ("replay", PlainScheduler::Replay)]
        {
            let expected = plain_feedback::simulate(&linked, &links, scheduler);
            prop_assert_eq!(&schedule(&linked, name, "perfect"), &expected, "{}", name);
            if name != "replay" {
                prop_assert_eq!(&schedule(&on_nodes(&linked), name, "perfect"), &expected, "{} on nodes", name);
            }
        }
        Ok(())
    });
}

/// Every scheduler and predictor sees the simulated arrivals as if the log had them.
#[test]
fn a_log_with_the_simulated_arrivals_gives_the_same_schedule() {
    let schedulers = ["easy:queue=f3", "easy:queue=lcfs,starve=1m", "sjbf:running=estimate", "conservative", "slurm"];
    let schedulers = [&schedulers[..], &["easy:reservations=3", "fair", "fair:accounts=users", "fcfs"]].concat();
    // Simultaneous ends come in the order of the log, not in that of arrivals: predictors with a past may see the difference.
    let settings = (select(schedulers), select(vec!["estimate", "perfect", "constant"]));
    check(243, fewer(1500), (logs(), ways(), settings), |(log, way, (scheduler, predictor))| {
        let linked = way.link(&log);
        let arrivals = schedule(&linked, scheduler, predictor);
        let mut replayed = log.clone();
        replayed.jobs.iter_mut().zip(&arrivals).for_each(|(job, (arrival, _))| job.submission.submit = *arrival);
        replayed.jobs.sort_by_key(|job| job.submission.submit);
        let again = schedule(&replayed, scheduler, predictor);
        for (job, again) in replayed.jobs.iter().zip(again) {
            prop_assert_eq!(arrivals[job.record as usize], again, "{} of {} {}", job.number, scheduler, predictor);
        }
        Ok(())
    });
}

#[test]
fn replay_reproduces_the_arrivals_and_zero_waits_make_none_later() {
    check(244, fewer(2000), (workloads(), ways()), |(log, way)| {
        if way.spec == "swf" {
            return Ok(());
        }
        let linked = way.link(&log);
        let own: Vec<i64> = log.jobs.iter().map(|job| job.submission.submit).collect();
        let arrivals: Vec<i64> = schedule(&linked, "replay", "estimate").iter().map(|job| job.0).collect();
        prop_assert_eq!(&arrivals, &own);
        let idle = Workload { procs: 1000, ..linked.clone() };
        let at_once = schedule(&idle, "fcfs", "perfect");
        prop_assert_eq!(&at_once, &plain_feedback::simulate(&idle, &way.plain(&log.jobs), PlainScheduler::Zero));
        prop_assert!(at_once.iter().zip(own).all(|(&(arrival, start), own)| arrival <= own && start == arrival));
        Ok(())
    });
}

fn shapings() -> impl Strategy<Value = Shaping> {
    let moment = |seconds: i64| Some(Moment::AfterFirst(seconds));
    let from = select(vec![None, moment(10), moment(100), moment(1000)]);
    let first = select(vec![None, Some(5), Some(20)]);
    let more = (1..=3u32, select(vec![1.0, 1.5, 0.5]), select(vec![0, 30]), 0..5u64);
    (from, first, more).prop_map(|(from, first, (repeat, load, shake, seed))| Shaping {
        from,
        first,
        repeat,
        load,
        shake,
        seed,
        ..Shaping::default()
    })
}

/// Links of jobs that are left stay, in each copy; linked jobs are not moved by loads and shaking, and all stay in order.
#[test]
fn links_stay_when_the_log_is_shaped() {
    check(245, fewer(2000), (logs(), ways(), shapings()), |(log, way, shaping)| {
        let Ok(plain) = shape(log.clone(), &shaping) else { return Ok(()) };
        let shaped = shape(way.link(&log), &shaping).unwrap();
        let cut = shape(log.clone(), &Shaping { repeat: 1, load: 1.0, shake: 0, ..shaping }).unwrap();
        let (left, copies) = (cut.jobs.len(), shaping.repeat as usize);
        let unmoved = shape(log.clone(), &Shaping { load: 1.0, shake: 0, ..shaping }).unwrap();
        let place = |of_log: usize| cut.jobs.iter().position(|job| job.record as usize == of_log);
        let of_log = way.plain(&log.jobs);
        let mut expected: PlainLinks = Vec::new();
        for copy in 0..copies {
            for job in &cut.jobs {
                expected.push(of_log[job.record as usize].as_ref().and_then(|(preceding, delay)| {
                    let places: Option<Vec<usize>> = preceding.iter().map(|&at| place(at)).collect();
                    Some((places?.into_iter().map(|at| copy * left + at).collect(), *delay))
                }));
            }
        }
        let (links, found) = links_of(&shaped);
        prop_assert_eq!(&links, &expected);
        let all = cut.jobs.iter().filter(|job| of_log[job.record as usize].is_some()).count() * copies;
        prop_assert_eq!(found.cut + found.linked, all as u64);
        for (at, job) in shaped.jobs.iter().enumerate() {
            prop_assert_eq!(job.number, unmoved.jobs[at].number, "the order of the log stays");
            let moved = plain.jobs.iter().find(|other| other.number == job.number).unwrap();
            let own = if links[at].is_some() { &unmoved.jobs[at] } else { moved };
            prop_assert_eq!(job.submission.submit, own.submission.submit);
        }
        let twin = plain_feedback::simulate(&shaped, &links, PlainScheduler::Easy);
        prop_assert_eq!(&schedule(&shaped, "easy", "perfect"), &twin);
        let twin = plain_feedback::simulate(&shaped, &links, PlainScheduler::Replay);
        prop_assert_eq!(&schedule(&shaped, "replay", "perfect"), &twin);
        Ok(())
    });
}

/// The ends and the misses that an observer sees, with their times.
#[derive(Default)]
struct Seen(Vec<(i64, &'static str, u32)>);

impl Observer for Seen {
    fn on(&mut self, time: i64, event: &Event<'_>, _machine: &Machine) {
        match event {
            Event::End(end) => self.0.push((time, "end", end.job.id.0)),
            Event::Miss(miss) => self.0.push((time, "miss", miss.job.id.0)),
            _ => {}
        }
    }
}

fn waited(wait: i64, job: Job) -> Job {
    Job { recorded_wait: Some(wait).into(), ..job }
}

/// Job 2 of user 1 is before job 3 in the log, but arrives after it.
fn late_follower(estimate: i64) -> Workload {
    let jobs = [
        waited(0, job_of(2, 0, 4, 100, 100)),
        waited(0, job_of(1, 0, 1, 10, 10)),
        waited(0, job_of(1, 15, 1, 50, estimate)),
        waited(0, job_of(3, 20, 1, 65, estimate + 15)),
    ];
    FeedbackModel::parse("think").unwrap().link(workload(4, &jobs), &[]).unwrap()
}

#[test]
fn ends_and_misses_of_one_instant_come_in_the_order_of_the_log() {
    for (estimate, event) in [(50, "end"), (20, "miss")] {
        let workload = late_follower(estimate);
        let mut seen = Seen::default();
        let setting = Setting::parse("fcfs", "estimate").unwrap();
        let record = setting.run(&workload, Some(&mut seen), &mut |_| ()).unwrap();
        // Job 1 waits until 100 and ends at 110; its user thinks for 5 s. Job 3 has started at 100.
        assert_eq!(record.submitted, Some(vec![0, 0, 115, 20]));
        let starts: Vec<_> = record.finished(&workload.jobs).map(|job| job.start()).collect();
        assert_eq!(starts, [0, 100, 115, 100]);
        let both: Vec<_> = seen.0.iter().filter(|(_, kind, id)| *kind == event && *id >= 2).map(|s| s.2).collect();
        assert_eq!(both[..2], [2, 3], "{:?}", seen.0);
    }
}

#[test]
fn a_think_time_of_0_is_an_arrival_at_the_same_instant() {
    // Both follow job 0 at once, and arrive before the pass in which the job of user 2 would start.
    let jobs = [
        waited(0, job_of(1, 0, 2, 10, 10)),
        waited(0, job_of(1, 10, 2, 5, 5)),
        waited(0, job_of(2, 10, 1, 5, 5)),
        waited(0, job_of(1, 15, 1, 5, 5)),
    ];
    for model in ["think", "session"] {
        let workload = FeedbackModel::parse(model).unwrap().link(workload(2, &jobs), &[]).unwrap();
        assert_eq!(schedule(&workload, "fcfs", "estimate"), [(0, 0), (10, 10), (10, 15), (15, 15)], "{model}");
    }
}

/// Job 1 waits behind job 0 and is cancelled at 30: its user submits job 2 five seconds later.
#[test]
fn a_job_that_is_cancelled_while_it_waits_ends_then() {
    let jobs =
        [waited(0, job_of(2, 0, 2, 100, 100)), waited(0, job_of(1, 0, 1, 10, 10)), waited(0, job_of(1, 15, 1, 5, 5))];
    let workload = FeedbackModel::parse("think").unwrap().link(workload(2, &jobs), &[]).unwrap();
    let setting = Setting::parse("fcfs", "estimate").unwrap();
    let (policy, predictor) = (setting.policy(&facts(&workload.jobs)), setting.predictor(&RunFacts::of(&workload)));
    let gate = Gate::with_feedback(None, &workload);
    let mut simulation = Simulation::new(2, policy, predictor, EngineOptions::default()).with_gate(gate);
    workload.jobs.iter().for_each(|job| assert!(simulation.submit(job).is_ok()));
    simulation.advance_to(30).unwrap();
    assert!(simulation.cancel(JobId(2)).is_err(), "it has not arrived");
    simulation.cancel(JobId(1)).unwrap();
    simulation.advance_to(34).unwrap();
    assert_eq!((simulation.machine().waiting.len(), simulation.next_event()), (0, Some(35)));
    simulation.advance_to(35).unwrap();
    assert_eq!(simulation.machine().waiting.len(), 1);
    simulation.run_to_end().unwrap();
    assert_eq!(simulation.outcome(JobId(2)).start.get(), Some(100));
}

/// The workload of a real log with these options.
fn real(folder: &std::path::Path, name: &str, given: &[(&str, &str)]) -> Workload {
    let mut options = Options::default();
    given.iter().for_each(|(name, value)| OptionForm::find(name).unwrap().set(&mut options, value).unwrap());
    let source = Source::from_argument(real_log(folder, name).to_str().unwrap());
    let log = read(&source, ReadOptions::default(), &mut |_| ()).unwrap();
    options.shape(options.clean(&log).unwrap()).unwrap()
}

/// The figures of a program that was written before this one.
#[test]
fn real_logs_have_the_known_links() {
    let Some(folder) = real_logs("feedback::real_logs_have_the_known_links") else { return };
    for (log, think, session) in [
        ("KTH-SP2", 11_523, 9_665),
        ("CTC-SP2", 24_551, 20_208),
        ("SDSC-SP2", 24_237, 19_772),
        ("SDSC-BLUE", 114_787, 102_059),
    ] {
        for (model, linked) in [("think", think), ("session", session)] {
            let links = real(&folder, log, &[("feedback", model)]).feedback_links().unwrap();
            assert_eq!((links.linked, links.cut), (linked, 0), "{log} {model}");
        }
    }
}

/// That program has 5,386 s and 5,681 s; its rule for jobs that outlive their estimates is simpler.
#[test]
fn kth_under_easy_and_as_recorded() {
    let Some(folder) = real_logs("feedback::kth_under_easy_and_as_recorded") else { return };
    for (model, wait) in [("think", 5_386.0), ("session", 5_681.0)] {
        let kth = real(&folder, "KTH-SP2", &[("feedback", model)]);
        let figures = summarize(&kth, &record(&kth, "easy", "estimate"), &Measure::default());
        assert!((figures.wait_mean / wait - 1.0).abs() < 0.01, "{model}: {}", figures.wait_mean);
        let replayed = schedule(&kth, "replay", "estimate");
        assert!(replayed.iter().zip(&kth.jobs).all(|(&(arrival, _), job)| arrival == job.submission.submit), "{model}");
    }
}

/// The predictions of one event are in order of arrival: jobs 3 and 2 wait when job 1 ends, and 3 arrived first.
#[test]
fn predictions_are_kept_in_order_of_arrival() {
    let jobs = [
        waited(0, job_of(1, 0, 1, 10, 100)),
        waited(0, job_of(1, 12, 1, 300, 300)),
        waited(0, job_of(1, 12, 1, 300, 300)),
        waited(0, job_of(1, 13, 1, 7, 100)),
    ];
    let fields = [Preceding { record: 2, number: 1, think: 5 }];
    let workload = FeedbackModel::parse("swf").unwrap().link(workload(1, &jobs), &fields).unwrap();
    let engine = EngineOptions { keep_history: true, ..EngineOptions::default() };
    let setting = Setting { engine, ..Setting::parse("fcfs", "ruh:window=1,propagate=on").unwrap() };
    let record = setting.run(&workload, None, &mut |_| ()).unwrap();
    assert_eq!(record.submitted, Some(vec![0, 12, 15, 13]));
    let history = record.history.unwrap();
    let at_end: Vec<u32> =
        history.iter().filter(|made| made.cause == JobId(1) && made.job != made.cause).map(|made| made.job.0).collect();
    assert_eq!(at_end, [3, 2], "{history:?}");
}

/// A begin time counts from the simulated submission, and a replay has the recorded arrivals and starts all the same.
#[test]
fn conditions_count_from_the_simulated_submission() {
    let jobs = [
        waited(0, job_of(2, 0, 2, 100, 100)),
        waited(0, job_of(1, 0, 1, 10, 10)),
        waited(35, job_of(1, 15, 1, 5, 5)),
        waited(0, job_of(1, 60, 1, 5, 5)),
    ];
    let begin = Conditions { begin: 20, ..Conditions::default() };
    let conditions = Arc::new(LogConditions::new(vec![(2, begin)], Vec::new(), 0));
    let log = Workload { conditions, ..workload(2, &jobs) };
    let workload = FeedbackModel::parse("think").unwrap().link(log, &[]).unwrap();
    // Job 1 starts at 100. Job 2 is submitted at 115, may start at 135 and does; job 3 comes 5 s after its end.
    assert_eq!(schedule(&workload, "fcfs", "estimate"), [(0, 0), (0, 100), (135, 135), (145, 145)]);
    assert_eq!(record(&workload, "fcfs", "estimate").submitted, Some(vec![0, 0, 115, 145]));
    assert_eq!(schedule(&workload, "replay", "estimate"), [(0, 0), (0, 0), (35, 50), (60, 60)]);
}
