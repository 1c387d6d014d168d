//! Users who react: jobs that arrive after the simulated ends of earlier jobs of their users.

use std::sync::Arc;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use shadowtime::engine::{End, EngineOptions, Gate, Miss, Observer, RunRecord, Simulation};
use shadowtime::experiment::{OptionForm, Options, Setting, simulate};
use shadowtime::job::{Job, JobId};
use shadowtime::machine::{Cluster, Node, Partition};
use shadowtime::metrics::{Measure, summarize};
use shadowtime::predict::RunFacts;
use shadowtime::trace::{
    FeedbackLinks, FeedbackModel, LogNames, Moment, PartitionMap, Preceding, ReadOptions, Shaping, Source, Unit,
    Workload, put_on_cluster, read, shape,
};

use crate::plain_feedback::{self, PlainLinks, PlainScheduler};
use crate::random::{check, workloads};
use crate::support::{Folder, facts, job_of, real_log, real_logs, sim, sim_ok, workload};

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
        cpus: 1,
        memory: 0,
        gpus: 0,
        features: Vec::new(),
        weight: 1,
        threads_per_core: 1,
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
    check(241, 2000, (logs(), ways()), |(log, way)| {
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
    check(242, 2000, (logs(), ways()), |(log, way)| {
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
    check(243, 1500, (logs(), ways(), settings), |(log, way, (scheduler, predictor))| {
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
    check(244, 2000, (workloads(), ways()), |(log, way)| {
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
    check(245, 2000, (logs(), ways(), shapings()), |(log, way, shaping)| {
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
    fn on_end(&mut self, end: &End<'_>) {
        self.0.push((end.time, "end", end.job.id.0));
    }

    fn on_miss(&mut self, miss: &Miss) {
        self.0.push((miss.time, "miss", miss.job.id.0));
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
        let record = setting.run(&workload, &mut seen, &mut |_| ()).unwrap();
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
    assert_eq!((simulation.view().waiting.len(), simulation.next_event()), (0, Some(35)));
    simulation.advance_to(35).unwrap();
    assert_eq!(simulation.view().waiting.len(), 1);
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

/// A log with waits, as the program makes it.
fn log_with_waits(folder: &Folder) -> String {
    let log = folder.text("log.swf");
    sim_ok(&["--first", "800", "--scheduler", "easy", "--predictor", "estimate", "--swf-out", &log]);
    log
}

#[test]
fn a_log_that_was_converted_has_the_links_in_its_fields() {
    let folder = Folder::new();
    let (log, linked) = (log_with_waits(&folder), folder.text("linked.swf"));
    let run = |log: &str, feedback: &str| {
        let row = sim_ok(&[log, "--feedback", feedback, "--baseline", "easy/estimate", "--format", "csv"]);
        row.replace("linked.swf", "log.swf").replace("feedback=swf", "feedback=think")
    };
    for (model, name) in [("think", "think"), ("think:limit=1h", "think:limit=1h")] {
        sim_ok(&["trace", "convert", &log, "--feedback", model, "--out", &linked]);
        let by_fields =
            run(&linked, "swf").replace("linked,", "log,").replace("feedback=think", &format!("feedback={name}"));
        assert_eq!(by_fields, run(&log, model), "{model}");
        // Converted again without the option, they stay.
        let again = folder.text("again.swf");
        sim_ok(&["trace", "convert", &linked, "--out", &again]);
        let records = |log: &str| -> Vec<String> {
            folder.read(log).lines().filter(|line| !line.starts_with(';')).map(str::to_string).collect()
        };
        assert_eq!(records("again.swf"), records("linked.swf"));
        assert!(records("linked.swf").iter().any(|line| !line.ends_with("-1 -1")));
    }
    let refused = sim(&["trace", "convert", &log, "--feedback", "session", "--out", &linked]);
    assert!(refused.code == 2 && refused.err.contains("cannot be written as fields 17 and 18"), "{}", refused.err);
}

#[test]
fn what_has_no_links_says_so() {
    let folder = Folder::new();
    let log = log_with_waits(&folder);
    let made = folder.text("made.swf");
    sim_ok(&["generate", "sessions", "--jobs", "50", "--out", &made]);
    for (args, text) in [
        (&[&made, "--feedback", "think"][..], "no job has one (field 3"),
        (&[&made, "--feedback", "session"], "no job has one (field 3"),
        (&["--feedback", "swf"], "no job has a preceding job (field 17)"),
        (&["--feedback", "thinking"], "unknown feedback model 'thinking': the feedback models are think, session, swf"),
        (&["--feedback", "think:limit=-1"], "limit"),
        (&["--feedback", "swf:limit=1h"], "no key 'limit'"),
        (&["wait", "--feedback", "think"], "unexpected argument '--feedback'"),
        (&["meta", "--feedback", "think"], "unexpected argument '--feedback'"),
        (&["malleable", "--feedback", "think"], "unexpected argument '--feedback'"),
    ] {
        let ran = sim(args);
        assert!(ran.code == 2 && ran.err.contains(text), "{args:?}: {}", ran.err);
    }
    let ran = sim(&[&log, "--feedback", "think", "--first", "1"]);
    assert!(ran.code == 0 && ran.err.contains("--feedback has no effect"), "{}", ran.err);
    let ran = sim(&[&log, "--feedback", "session", "--from", "2d", "--format", "table"]);
    assert!(ran.err.contains("arrive after the ends of others, think time"), "{}", ran.err);
    assert!(ran.err.contains("own time") && ran.err.contains("the preceding job is not simulated"), "{}", ran.err);
    assert!(ran.out.contains("jobs a day") && ran.out.contains("Users react (--feedback)"), "{}", ran.out);
}

/// Lists, replications, sweeps, reports and recommendations have the option.
#[test]
fn all_comparisons_have_it() {
    let folder = Folder::new();
    let log = log_with_waits(&folder);
    let column = |csv: &str, name: &str| -> Vec<String> {
        let mut lines = csv.lines();
        let at = lines.next().unwrap().split(',').position(|column| column == name).unwrap_or_else(|| panic!("{csv}"));
        lines.map(|line| line.split(',').nth(at).unwrap().to_string()).collect()
    };
    let list = ["--scheduler", "easy,sjbf", "--predictor", "estimate", "--feedback", "think", "--format", "csv"];
    let both = sim_ok(&[&[&log[..]], &list[..]].concat());
    let linked = column(&both, "linked_jobs");
    assert!(linked.len() == 2 && linked[0] == linked[1] && linked[0] != "0");
    assert_eq!(column(&both, "options"), ["feedback=think", "feedback=think"]);
    let repeated = sim_ok(&[&[&log[..]], &list[..], &["--replications", "3"]].concat());
    assert_ne!(column(&repeated, "wait_mean_ci95")[0], "0.000");
    assert_eq!(column(&repeated, "linked_jobs")[0].parse::<f64>().unwrap(), linked[0].parse::<f64>().unwrap());
    let out = folder.text("sweep");
    let lists = ["--scheduler", "easy,sjbf", "--predictor", "estimate", "--feedback", "none,think,session"];
    sim_ok(&[&["sweep", "--trace", &log], &lists[..], &["--out", &out]].concat());
    let swept = folder.read("sweep/results.csv");
    let of_think: Vec<String> = column(&swept, "wait_mean").into_iter().skip(1).step_by(3).collect();
    assert_eq!(of_think, column(&both, "wait_mean"));
    assert_eq!(column(&swept, "linked_jobs")[..2], [String::new(), linked[0].clone()]);
    let page = folder.text("page.html");
    sim_ok(&["report", &log, "--predictor", "ruh", "--feedback", "think", "--out", &page]);
    assert!(folder.read("page.html").contains("Users react (--feedback)"));
    let advice = ["--candidates", "sjbf/ruh", "--feedback", "think", "--replications", "2", "--format", "csv"];
    let advised = sim_ok(&[&["recommend", &log], &advice[..]].concat());
    assert!(advised.contains("sjbf,ruh") || advised.contains("sjbf/ruh"), "{advised}");
    // On nodes of one CPU as on a pool.
    let machine = folder.write("site.toml", "[[nodes]]\nname = \"n[1-128]\"\ncpus = 1\n");
    let on_nodes = sim_ok(&[&[&log[..], "--machine", &machine], &list[..]].concat());
    assert_eq!(column(&on_nodes, "wait_mean"), column(&both, "wait_mean"));
}

/// The schedule that is written has the simulated submissions, in their order.
#[test]
fn the_schedule_has_the_simulated_submissions() {
    let folder = Folder::new();
    let (log, swf, jobs) = (log_with_waits(&folder), folder.text("out.swf"), folder.text("jobs.csv"));
    sim_ok(&[&log, "--feedback", "think", "--predictor", "ruh", "--swf-out", &swf, "--jobs-out", &jobs]);
    let job = |line: &str, blank: char| -> Vec<i64> {
        let fields = line.split(blank).filter(|field| !field.is_empty());
        fields.take(4).map(|field| field.parse().unwrap_or(0)).collect()
    };
    let text = folder.read("out.swf");
    let mut written: Vec<(i64, i64, i64)> =
        text.lines().filter(|l| !l.starts_with(';')).map(|l| job(l, ' ')).map(|f| (f[0], f[1], f[2])).collect();
    assert!(written.is_sorted_by_key(|job| job.1));
    // The columns are job, user, submit, start.
    let listed: Vec<(i64, i64, i64)> =
        folder.read("jobs.csv").lines().skip(1).map(|l| job(l, ',')).map(|f| (f[0], f[2], f[3] - f[2])).collect();
    written.sort_unstable();
    assert_eq!(written, listed);
    let own: Vec<i64> =
        folder.read("log.swf").lines().filter(|l| !l.starts_with(';')).map(|l| job(l, ' ')[1]).collect();
    assert!(listed.iter().zip(&own).any(|(job, own)| job.1 != *own));
}

#[test]
fn generated_logs_can_name_what_users_waited_for() {
    let folder = Folder::new();
    let log = folder.text("sessions.swf");
    sim_ok(&["generate", "sessions", "--jobs", "500", "--feedback", "--out", &log]);
    let ran = sim(&[&log, "--feedback", "swf", "--predictor", "ruh"]);
    assert!(ran.code == 0 && ran.err.contains("of 500 jobs arrive after the ends of others"), "{}", ran.err);
}
