//! What must hold for every workload, whatever the scheduler and the predictor: checked on random ones.

use std::collections::BTreeMap;
use std::fs;

use proptest::array::{uniform4, uniform18};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::TestCaseResult;
use shadowtime::engine::{EngineOptions, Finished, Named, Occasion, RunRecord, Simulation};
use shadowtime::experiment::{Setting, simulate};
use shadowtime::job::{Job, JobId, Submission};
use shadowtime::metrics::{Measure, summarize};
use shadowtime::schedule::Machine;
use shadowtime::time::{FOREVER, Time};
use shadowtime::trace::{
    self, Cleaning, Fields, Log, Overrun, ReadOptions, Record, Shaping, Source, TraceError, WideNumbers, Workload,
};
use shadowtime::{predict, schedule};

use crate::random::{check, workloads};
use crate::support::{self, run, starts};

/// Workloads whose jobs all end by their estimates.
fn workloads_within_estimates() -> impl Strategy<Value = Workload> {
    workloads().prop_map(|mut workload| {
        for job in &mut workload.jobs {
            job.submission.estimate = job.submission.estimate.max(job.runtime);
        }
        workload
    })
}

/// The schedulers that decide for themselves: all but the replay of the log's own schedule.
const DECIDING: [&str; 4] = ["fcfs", "easy", "sjbf", "conservative"];

/// All schedulers as they are by default, and some with keys.
fn every_scheduler() -> Vec<&'static str> {
    let more = ["sjbf:running=estimate", "fcfs:queue=saf", "easy:queue=f2,scan=wfp3,reservations=3,starve=1m"];
    schedule::catalog::forms().iter().map(|form| form.name).filter(|&name| name != "exec").chain(more).collect()
}

/// All predictors as they are by default, and some with more to do.
fn several_predictors() -> Vec<&'static str> {
    let more = [
        "constant:seconds=60",
        "ruh:window=1,metric=last,propagate=on",
        "ruh:window=2,metric=mean,propagate=on,running=on,cap=on",
        "ruh:window=1,metric=min,propagate=on,running=on",
    ];
    // A program and a table have tests of their own.
    predict::catalog::forms()
        .iter()
        .map(|form| form.name)
        .filter(|name| !["exec", "given"].contains(name))
        .chain(more)
        .collect()
}

/// One of these schedulers with any predictor and any options; the history of predictions is kept.
fn settings(schedulers: Vec<&'static str>) -> impl Strategy<Value = Setting> {
    let inflate = select(vec![1.0, 1.0, 1.5, 2.0, 3.0]);
    (select(schedulers), select(several_predictors()), inflate, any::<bool>()).prop_map(
        |(scheduler, predictor, inflate, pass_on_miss)| Setting {
            engine: EngineOptions { inflate, pass_on_miss, keep_history: true, ..EngineOptions::default() },
            ..Setting::parse(scheduler, predictor).unwrap()
        },
    )
}

fn record(workload: &Workload, setting: &Setting) -> RunRecord {
    simulate(workload, setting, &mut |_| ()).unwrap()
}

/// Runs a workload instant by instant; after each, `look` sees the machine and the jobs just started.
fn step(workload: &Workload, setting: &Setting, mut look: impl FnMut(&mut Simulation, &[JobId])) -> RunRecord {
    let policy = schedule::catalog::build(&setting.scheduler, &support::facts(&workload.jobs));
    let predictor = predict::catalog::build(&setting.predictor);
    let predictor = Named { name: setting.predictor.to_string(), value: predictor };
    let mut simulation = Simulation::new(workload.procs, policy, predictor, setting.engine);
    for job in &workload.jobs {
        simulation.submit(job).unwrap();
    }
    while let Some(next) = simulation.next_event() {
        simulation.settle(next).unwrap();
        let started = simulation.pass().unwrap().to_vec();
        look(&mut simulation, &started);
    }
    let (given, never) = (simulation.given(), simulation.never_started().clone());
    let (outcomes, history) = simulation.into_outcomes();
    RunRecord {
        outcomes,
        history,
        given,
        never,
        preempted: None,
        outages: None,
        arrived: None,
        submitted: None,
        virtual_starts: None,
    }
}

fn work(workload: &Workload) -> i64 {
    workload.jobs.iter().map(|job| i64::from(job.submission.procs) * job.runtime).sum()
}

// The machine.

#[test]
fn no_more_processors_are_in_use_than_there_are() {
    check(1, 600, (workloads(), settings(DECIDING.to_vec())), |(workload, setting)| {
        let record = record(&workload, &setting);
        // What changes at each instant; what is freed then can be used then.
        let mut changes = BTreeMap::<Time, i64>::new();
        for finished in record.finished(&workload.jobs) {
            let procs = i64::from(finished.job.submission.procs);
            *changes.entry(finished.start()).or_default() += procs;
            *changes.entry(finished.end()).or_default() -= procs;
        }
        let mut used = 0;
        for (time, change) in changes {
            used += change;
            prop_assert!((0..=i64::from(workload.procs)).contains(&used), "{used} are in use at {time}");
        }
        Ok(())
    });
}

#[test]
fn nothing_starts_before_it_is_submitted() {
    check(2, 600, (workloads(), settings(every_scheduler())), |(workload, setting)| {
        for finished in record(&workload, &setting).finished(&workload.jobs) {
            prop_assert!(finished.wait() >= 0, "job {}", finished.job.number);
        }
        Ok(())
    });
}

#[test]
fn every_job_starts_exactly_once() {
    check(3, 600, (workloads(), settings(every_scheduler())), |(workload, setting)| {
        let mut seen = vec![Vec::new(); workload.jobs.len()];
        let record = step(&workload, &setting, |simulation, started| {
            started.iter().for_each(|id| seen[id.index()].push(simulation.now()));
        });
        prop_assert_eq!(record.outcomes.len(), workload.jobs.len());
        for (seen, outcome) in seen.iter().zip(&record.outcomes) {
            prop_assert_eq!(&seen[..], &[outcome.start.get().unwrap()]);
        }
        Ok(())
    });
}

#[test]
fn work_in_is_work_out() {
    check(4, 600, (workloads(), settings(every_scheduler())), |(workload, setting)| {
        // Processor seconds as the machine itself shows them: in use from one instant to the next.
        let (mut since, mut used, mut done) = (0, 0, 0);
        step(&workload, &setting, |simulation, _| {
            done += used * (simulation.now() - since);
            since = simulation.now();
            used = i64::from(workload.procs) - simulation.machine().free();
        });
        prop_assert_eq!(used, 0, "in use after the end");
        prop_assert_eq!(done, work(&workload));
        Ok(())
    });
}

#[test]
fn no_machine_does_more_than_its_processors_can() {
    check(5, 600, (workloads(), settings(DECIDING.to_vec())), |(workload, setting)| {
        let summary = summarize(&workload, &record(&workload, &setting), &Measure::default());
        let room = summary.makespan * i64::from(workload.procs);
        prop_assert!(work(&workload) <= room);
        prop_assert!((summary.utilization - work(&workload) as f64 / room as f64).abs() < 1e-9);
        Ok(())
    });
}

// The schedulers.

#[test]
fn no_head_waits_that_fits() {
    check(11, 600, (workloads(), settings(DECIDING.to_vec())), |(workload, setting)| {
        let mut idle = None;
        step(&workload, &setting, |simulation, _| {
            let machine = simulation.machine();
            if machine.waiting.first().is_some_and(|head| i64::from(head.procs) <= machine.free()) {
                idle.get_or_insert(machine.now);
            }
        });
        prop_assert_eq!(idle, None);
        Ok(())
    });
}

#[test]
fn fcfs_starts_in_arrival_order() {
    check(12, 600, (workloads(), settings(vec!["fcfs"])), |(workload, setting)| {
        let record = record(&workload, &setting);
        prop_assert!(starts(&record.outcomes).is_sorted());
        prop_assert!(record.outcomes.iter().all(|outcome| !outcome.backfilled));
        Ok(())
    });
}

#[test]
fn fcfs_pays_no_attention_to_predictions() {
    check(13, 600, (workloads(), settings(vec!["fcfs"])), |(workload, setting)| {
        let record = record(&workload, &setting);
        prop_assert_eq!(starts(&record.outcomes), starts(&run(&workload, "fcfs", "perfect")));
        Ok(())
    });
}

#[test]
fn sjbf_is_easy_where_all_predictions_are_equal() {
    check(14, 600, workloads(), |workload| {
        for predictor in ["constant", "constant:seconds=60"] {
            prop_assert_eq!(run(&workload, "sjbf", predictor), run(&workload, "easy", predictor));
        }
        Ok(())
    });
}

#[test]
fn replay_starts_every_job_when_the_log_says() {
    check(15, 600, (workloads(), settings(vec!["replay"])), |(workload, setting)| {
        for finished in record(&workload, &setting).finished(&workload.jobs) {
            prop_assert_eq!(Some(finished.wait()), finished.job.recorded_wait.get());
        }
        Ok(())
    });
}

#[test]
fn backfilled_are_those_that_overtake_a_job_still_waiting() {
    check(16, 600, (workloads(), settings(every_scheduler())), |(workload, setting)| {
        let record = record(&workload, &setting);
        let starts = starts(&record.outcomes);
        for (job, outcome) in record.outcomes.iter().enumerate() {
            prop_assert_eq!(outcome.backfilled, starts[..job].iter().any(|&ahead| ahead > starts[job]));
        }
        Ok(())
    });
}

#[test]
fn with_perfect_predictions_the_head_starts_no_later_than_its_reservation() {
    check(17, 1000, (workloads(), select(DECIDING.to_vec())), |(workload, scheduler)| {
        reservations_of_heads_are_kept(&workload, &Setting::parse(scheduler, "perfect").unwrap())
    });
}

#[test]
fn with_estimates_that_nobody_outlives_the_head_starts_no_later_than_its_reservation() {
    let inflate = select(vec![1.0, 2.0, 3.0]);
    check(
        18,
        1000,
        (workloads_within_estimates(), select(DECIDING.to_vec()), inflate),
        |(workload, scheduler, inflate)| {
            let engine = EngineOptions { inflate, ..EngineOptions::default() };
            let setting = Setting { engine, ..Setting::parse(scheduler, "estimate").unwrap() };
            reservations_of_heads_are_kept(&workload, &setting)
        },
    );
}

/// The first reservation that a job has as the head of the queue, and every later one, bounds its start.
fn reservations_of_heads_are_kept(workload: &Workload, setting: &Setting) -> TestCaseResult {
    let mut reserved = vec![Vec::new(); workload.jobs.len()];
    let record = step(workload, setting, |simulation, _| {
        if let Some((head, shadow_time)) = reservation(simulation.machine()) {
            reserved[head.index()].push(shadow_time);
        }
    });
    for (start, reserved) in starts(&record.outcomes).into_iter().zip(reserved) {
        prop_assert!(reserved.iter().all(|&shadow_time| start <= shadow_time), "{start} is later than {reserved:?}");
        prop_assert!(reserved.is_sorted_by(|earlier, later| earlier >= later), "{reserved:?} moved to a later time");
    }
    Ok(())
}

/// The head of the queue and when enough running jobs have ended for it, by their predictions.
fn reservation(machine: &Machine) -> Option<(JobId, Time)> {
    let head = machine.waiting.first()?;
    let mut free = machine.free();
    let enough = machine.running.iter().find(|job| {
        free += i64::from(job.procs);
        free >= i64::from(head.procs)
    });
    Some((head.id, enough.expect("a job fits the empty machine").end))
}

#[test]
fn with_perfect_predictions_conservative_gives_every_job_the_reservation_of_its_arrival() {
    check(19, 600, workloads(), |workload| {
        prop_assert_eq!(starts(&run(&workload, "conservative", "perfect")), earliest_places(&workload));
        Ok(())
    });
}

/// Each job, in arrival order, where it first fits among those before it; none of them ever moves.
fn earliest_places(workload: &Workload) -> Vec<Time> {
    let mut placed: Vec<(Time, Time, u32)> = Vec::new();
    for job in &workload.jobs {
        let Submission { submit, procs, .. } = job.submission;
        let used =
            |time| placed.iter().filter(|place| place.0 <= time && time < place.1).map(|place| place.2).sum::<u32>();
        // The use of the machine rises only where a place begins, and falls only where one ends.
        let fits = |&from: &Time| {
            let begins = placed.iter().map(|place| place.0).filter(|&begin| from < begin && begin < from + job.runtime);
            begins.chain([from]).all(|time| used(time) + procs <= workload.procs)
        };
        let ends = placed.iter().map(|place| place.1).filter(|&end| end > submit);
        let from = ends.chain([submit]).filter(fits).min().expect("a job fits the empty machine");
        placed.push((from, from + job.runtime, procs));
    }
    placed.into_iter().map(|place| place.0).collect()
}

// The predictions.

#[test]
fn perfect_predictions_are_never_missed_and_never_wrong() {
    check(21, 300, (workloads(), select(every_scheduler())), |(workload, scheduler)| {
        for (job, outcome) in workload.jobs.iter().zip(run(&workload, scheduler, "perfect")) {
            let turnaround = (outcome.start.get().unwrap() + job.runtime) - job.submission.submit;
            prop_assert_eq!((outcome.misses, outcome.ai_seconds), (0, 0.0));
            prop_assert_eq!(outcome.ra_seconds, turnaround as f64);
        }
        Ok(())
    });
}

#[test]
fn predictions_are_above_the_time_elapsed() {
    check(22, 600, (workloads(), settings(every_scheduler())), |(workload, setting)| {
        let record = record(&workload, &setting);
        for made in record.history.iter().flatten() {
            let start = record.outcomes[made.job.index()].start.get().unwrap();
            let elapsed = (made.time - start).max(0);
            prop_assert!(made.prediction >= 1 && made.prediction > elapsed, "{made:?}, started at {start}");
        }
        Ok(())
    });
}

#[test]
fn predictions_are_made_between_arrival_and_end() {
    check(23, 600, (workloads(), settings(every_scheduler())), |(workload, setting)| {
        let record = record(&workload, &setting);
        let history = record.history.as_deref().unwrap();
        prop_assert!(history.is_sorted_by_key(|made| made.time));
        for made in history {
            let at = made.job.index();
            let (job, outcome) = (&workload.jobs[at], &record.outcomes[at]);
            let finished = Finished { job, submitted: job.submission.submit, outcome, virtual_start: None };
            prop_assert!((finished.job.submission.submit..=finished.end()).contains(&made.time), "{made:?}");
        }
        Ok(())
    });
}

#[test]
fn the_history_tells_what_the_outcomes_say() {
    check(24, 600, (workloads(), settings(every_scheduler())), |(workload, setting)| {
        let record = record(&workload, &setting);
        for (finished, id) in record.finished(&workload.jobs).zip((0..).map(JobId)) {
            let made: Vec<_> = record.history.iter().flatten().filter(|made| made.job == id).collect();
            let (first, last) = (made[0], made[made.len() - 1]);
            prop_assert_eq!(
                (first.event, first.cause, first.time),
                (Occasion::Arrival, id, finished.job.submission.submit)
            );
            prop_assert_eq!(first.prediction, finished.outcome.prediction);
            prop_assert_eq!(last.prediction, finished.outcome.prediction_last);
            let misses = made.iter().filter(|made| made.event == Occasion::Miss && made.cause == id).count();
            prop_assert_eq!(misses, finished.outcome.misses as usize);

            let runtime = finished.job.runtime;
            let untils = made[1..].iter().map(|next| next.time).chain([finished.end()]);
            let (mut ai, mut ra) = (0, 0.0);
            for (made, until) in made.iter().zip(untils) {
                let held = until - made.time;
                ai += i128::from((runtime - made.prediction).abs()) * i128::from(held);
                ra += runtime.min(made.prediction) as f64 / runtime.max(made.prediction) as f64 * held as f64;
            }
            prop_assert_eq!(ai, finished.outcome.ai_seconds as i128);
            prop_assert!((ra / finished.outcome.ra_seconds - 1.0).abs() < 1e-9);
        }
        Ok(())
    });
}

// Time, and what may depend on what.

#[test]
fn what_happens_before_a_job_arrives_does_not_depend_on_it() {
    check(31, 600, (workloads(), settings(every_scheduler()), any::<Index>()), |(workload, setting, cut)| {
        let cut = cut.index(workload.jobs.len());
        let before = workload.jobs[cut].submission.submit;
        let part = Workload { jobs: workload.jobs[..cut].to_vec(), ..workload.clone() };
        // In the stepped simulation all jobs are submitted before the first arrives.
        let (whole, part) = (step(&workload, &setting, |_, _| ()), step(&part, &setting, |_, _| ()));
        for (whole, part) in whole.outcomes.iter().zip(&part.outcomes) {
            let early = |start: &Time| *start < before;
            prop_assert_eq!(whole.start.get().filter(early), part.start.get().filter(early));
            if whole.start.get().is_some_and(|start| start < before) {
                prop_assert_eq!(whole.prediction_at_start, part.prediction_at_start);
                prop_assert_eq!(whole.backfilled, part.backfilled);
            }
        }
        let early = |record: &RunRecord| {
            let history = record.history.iter().flatten().copied();
            history.take_while(|made| made.time < before).collect::<Vec<_>>()
        };
        prop_assert_eq!(early(&whole), early(&part));
        Ok(())
    });
}

#[test]
fn with_perfect_predictions_no_later_arrival_moves_a_job_under_conservative() {
    check(32, 600, (workloads(), any::<Index>()), |(workload, cut)| {
        let cut = cut.index(workload.jobs.len());
        let part = Workload { jobs: workload.jobs[..cut].to_vec(), ..workload.clone() };
        let whole = starts(&run(&workload, "conservative", "perfect"));
        prop_assert_eq!(&whole[..cut], starts(&run(&part, "conservative", "perfect")));
        Ok(())
    });
}

#[test]
fn a_log_that_begins_later_has_the_same_schedule_later() {
    check(33, 600, (workloads(), settings(every_scheduler()), 1..=FOREVER), |(workload, setting, later)| {
        let mut shifted = workload.clone();
        shifted.jobs.iter_mut().for_each(|job| job.submission.submit += later);
        // For the predictor that uses the hour of the day.
        shifted.unix_start = Some(-later);
        let mut expected = record(&workload, &setting).outcomes;
        for outcome in &mut expected {
            outcome.start = outcome.start.get().map(|start| start + later).into();
        }
        prop_assert_eq!(record(&shifted, &setting).outcomes, expected);
        Ok(())
    });
}

#[test]
fn stepping_by_hand_is_running() {
    check(34, 600, (workloads(), settings(every_scheduler())), |(workload, setting)| {
        let (run, stepped) = (record(&workload, &setting), step(&workload, &setting, |_, _| ()));
        prop_assert_eq!(run.outcomes, stepped.outcomes);
        prop_assert_eq!(run.history, stepped.history);
        Ok(())
    });
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    check(35, 100, (workloads(), settings(every_scheduler())), |(workload, setting)| {
        let alone = record(&workload, &setting);
        for threads in [1, 2, 4] {
            let records: Vec<_> = std::thread::scope(|scope| {
                let spawned: Vec<_> = (0..threads).map(|_| scope.spawn(|| record(&workload, &setting))).collect();
                spawned.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            for record in records {
                prop_assert_eq!(&record.outcomes, &alone.outcomes);
                prop_assert_eq!(&record.history, &alone.history);
            }
        }
        Ok(())
    });
}

// The log on its way to a workload.

#[test]
fn copies_of_a_log_follow_one_another_in_order() {
    check(41, 300, (workloads(), 1..=5u32), |(workload, repeat)| {
        let shaping = Shaping { repeat, ..Shaping::default() };
        let repeated = trace::shape(workload.clone(), &shaping).unwrap();
        prop_assert_eq!(repeated.jobs.len(), workload.jobs.len() * repeat as usize);
        prop_assert!(repeated.jobs.is_sorted_by_key(|job| job.submission.submit));
        prop_assert!(repeated.jobs.is_sorted_by(|a, b| a.number < b.number));
        for copy in repeated.jobs.chunks(workload.jobs.len()) {
            // The copy, moved back in time and with the original numbers, is the log.
            let later = copy[0].submission.submit - workload.jobs[0].submission.submit;
            let back = copy.iter().zip(&workload.jobs).map(|(job, original)| Job {
                submission: Submission { submit: job.submission.submit - later, ..job.submission },
                number: original.number,
                ..*job
            });
            prop_assert_eq!(back.collect::<Vec<_>>(), &workload.jobs[..]);
        }
        Ok(())
    });
}

#[test]
fn a_change_of_load_moves_submissions_and_keeps_their_order() {
    check(42, 300, (workloads(), 0.1..10.0), |(workload, load)| {
        let loaded = trace::shape(workload.clone(), &Shaping { load, ..Shaping::default() }).unwrap();
        prop_assert!(loaded.jobs.is_sorted_by_key(|job| job.submission.submit));
        prop_assert_eq!(loaded.first_submit(), workload.first_submit());
        let unmoved = loaded.jobs.iter().zip(&workload.jobs).map(|(job, original)| Job {
            submission: Submission { submit: original.submission.submit, ..job.submission },
            ..*job
        });
        prop_assert_eq!(unmoved.collect::<Vec<_>>(), &workload.jobs[..]);
        Ok(())
    });
}

#[test]
fn records_come_back_as_they_were_written() {
    check(43, 300, (vec((noise(), fields()), 0..20), any::<bool>()), |(lines, ends_with_newline)| {
        let mut text = Vec::new();
        for (noise, fields) in &lines {
            noise.write(fields, &mut text);
        }
        if !ends_with_newline && text.last() == Some(&b'\n') {
            text.pop();
        }
        let log = read_back(&text);
        let mut wide = WideNumbers::default();
        let records: Vec<_> = lines.iter().map(|(_, fields)| Record::from_fields(fields, &mut wide).unwrap()).collect();
        prop_assert_eq!(&log.records, &records);
        // A record leaves some fields out; the lines as written have them all.
        let kept = log.text.as_ref().unwrap();
        for (at, (_, fields)) in lines.iter().enumerate() {
            let texts = trace::field_texts(kept.line(at)).map(|text| std::str::from_utf8(text).unwrap());
            prop_assert_eq!(texts.collect::<Vec<_>>(), fields.map(|value| value.to_string()));
        }
        for (field, unknown) in log.unknown.into_iter().enumerate() {
            prop_assert_eq!(unknown, lines.iter().filter(|(_, fields)| fields[field] < 0).count() as u64);
        }
        Ok(())
    });
}

#[test]
fn cleaning_accounts_for_every_record_and_keeps_order() {
    let overrun = select(vec![Overrun::Extend, Overrun::Kill]);
    check(44, 300, (vec(messy_fields(), 0..40), overrun), |(lines, overrun)| {
        let mut text = Vec::new();
        for fields in &lines {
            trace::write_record(&mut text, fields).unwrap();
        }
        let rules = Cleaning { procs: Some(8), overrun, ..Cleaning::default() };
        let sane = |fields: &&Fields| fields[1] >= 0 && fields[3] >= 0 && (1..=8).contains(&fields[7]);
        let usable = lines.iter().filter(sane).count();
        let cleaned = match trace::clean(&read_back(&text), &rules) {
            Err(error) => {
                prop_assert!(matches!(error, TraceError::NoJobs { .. }), "{error}");
                prop_assert_eq!(usable, 0);
                return Ok(());
            }
            Ok(cleaned) => cleaned,
        };
        prop_assert_eq!(cleaned.jobs.len(), usable);
        prop_assert_eq!(cleaned.cleaning.dropped() as usize, lines.len() - usable);
        prop_assert!(
            cleaned.jobs.is_sorted_by(|a, b| (a.submission.submit, a.record) < (b.submission.submit, b.record))
        );
        for job in &cleaned.jobs {
            prop_assert!(job.runtime >= 1 && job.submission.estimate >= 1, "{job:?}");
            prop_assert!(overrun == Overrun::Extend || job.runtime <= job.submission.estimate, "{job:?}");
        }
        Ok(())
    });
}

/// The 18 fields of a record, each anything that a log may hold there.
fn fields() -> impl Strategy<Value = Fields> {
    let small = || prop_oneof![Just(-1), 0..=1000i64, any::<i32>().prop_map(i64::from)];
    let time = || prop_oneof![Just(-1), 0..=100_000i64, -FOREVER..=FOREVER];
    let number = prop_oneof![1..=100_000i64, 1..=999_999_999_999_999_999i64];
    (uniform18(small()), uniform4(time()), number).prop_map(
        |(mut fields, [submit, wait, runtime, estimate], number)| {
            [fields[0], fields[1], fields[2], fields[3], fields[8]] = [number, submit, wait, runtime, estimate];
            fields
        },
    )
}

/// Records, many of them not sane or too wide for eight processors. Only requested processors are known.
fn messy_fields() -> impl Strategy<Value = Fields> {
    (-5..=50i64, -2..=30i64, -1..=10i64, -1..=30i64).prop_map(|(submit, runtime, procs, estimate)| {
        let mut fields = [-1; 18];
        [fields[1], fields[3], fields[7], fields[8]] = [submit, runtime, procs, estimate];
        fields
    })
}

/// What may be written around a record and between its fields without changing it.
#[derive(Clone, Debug)]
struct Noise {
    lines_before: Vec<&'static [u8]>,
    indent: &'static str,
    blanks: Vec<&'static str>,
    line_end: &'static str,
}

fn noise() -> impl Strategy<Value = Noise> {
    let lines: Vec<&[u8]> =
        vec![b"\n", b"\r\n", b" \t \n", b";\n", b"; MaxProcs: 7\r\n", b" ; 1 2 3\n", b"; caf\xe9 \xff\n"];
    let blanks = vec(select(vec![" ", "\t", "   ", " \t"]), 1..6);
    let (indent, line_end) = (select(vec!["", " ", "\t"]), select(vec!["\n", "\r\n", " \t\n", " \r\n"]));
    (vec(select(lines), 0..3), indent, blanks, line_end).prop_map(|(lines_before, indent, blanks, line_end)| Noise {
        lines_before,
        indent,
        blanks,
        line_end,
    })
}

impl Noise {
    /// Writes a record with its blanks and the end of its line replaced.
    fn write(&self, fields: &Fields, out: &mut Vec<u8>) {
        let mut plain = Vec::new();
        trace::write_record(&mut plain, fields).unwrap();
        assert_eq!(plain.pop(), Some(b'\n'));
        let mut blanks = self.blanks.iter().cycle();
        out.extend(self.lines_before.concat());
        out.extend(self.indent.bytes());
        for byte in plain {
            match byte {
                b' ' => out.extend(blanks.next().unwrap().bytes()),
                _ => out.push(byte),
            }
        }
        out.extend(self.line_end.bytes());
    }
}

/// Reads a log from a file of this content.
fn read_back(text: &[u8]) -> Log {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), text).unwrap();
    let options = ReadOptions { keep_text: true, ..ReadOptions::default() };
    trace::read(&Source::File(file.path().to_path_buf()), options, &mut |_| ()).unwrap()
}
