//! The schedulers with all their keys, on shallow and on deep queues, against plain scans of the whole queue at every pass,
//! which are the reference.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestCaseResult;
use shadowtime::engine::{self, EngineOptions, Event, Named, Observer, Outcome, Simulation};
use shadowtime::job::JobId;
use shadowtime::model::{Sessions, generate_sessions};
use shadowtime::predict;
use shadowtime::schedule::{
    self, Asked, Decisions, Machine, Order, Policy, PolicyEvent, Reserving, Rules, Running, Scheduler, Waiting,
};
use shadowtime::time::{Time, print_duration};
use shadowtime::trace::{Cleaning, ReadOptions, Source, Workload, clean, read, write_header, write_record};

use crate::random::{check, fewer, workloads};
use crate::support::{self, job_of, workload};

/// The schedulers that backfill, and `fcfs`, by their definitions: computed at every pass from the whole queue and all
/// running jobs, with lists instead of indexes.
struct PlainRules {
    keys: Keys,
    /// By id: submission, estimate and, of jobs that have started, the start.
    jobs: Vec<(Time, i64, Time)>,
    /// The deepest queue seen.
    deepest: Arc<AtomicUsize>,
}

/// (from, to, processors): in use from the first instant on, free again at the second.
type Use = (Time, Time, i64);

impl PlainRules {
    /// Whether `procs` more processors can be used in [from, from + length).
    fn has_room(machine: &Machine, uses: &[Use], procs: i64, from: Time, length: i64) -> bool {
        let used = |at: Time| uses.iter().filter(|r| r.0 <= at && at < r.1).map(|r| r.2).sum::<i64>();
        // More processors are in use only from the beginning of some use on.
        let begins = uses.iter().map(|r| r.0).filter(|&at| from < at && at < from + length);
        [from].into_iter().chain(begins).all(|at| used(at) + procs <= i64::from(machine.procs()))
    }

    /// Sorts jobs, the first first. `value` of a job is its value in an order where the smallest comes first.
    fn sort(&self, order: &str, now: Time, jobs: &mut [Waiting]) {
        let first = self.jobs[0].0;
        let value = |job: &Waiting| -> f64 {
            let submit = self.jobs[job.id.index()].0;
            let (p, n, w) = (job.length as f64, f64::from(job.procs), (now - submit) as f64);
            let s = ((submit - first).max(1)) as f64;
            match order {
                "fcfs" => 0.0,
                "lcfs" => -(submit as f64),
                "spf" => p,
                "lpf" => -p,
                "sqf" => n,
                "lqf" => -n,
                "saf" => p * n,
                "laf" => -(p * n),
                "expf" => -((w + p) / p),
                "wfp3" => -((w / p) * (w / p) * (w / p) * n),
                "unicef" if job.procs == 1 => f64::NEG_INFINITY,
                "unicef" => -(w / (libm::log2(n) * p)),
                "f1" => libm::log10(p) * n + 870.0 * libm::log10(s),
                "f2" => p.sqrt() * n + 25600.0 * libm::log10(s),
                "f3" => p * n + 6860000.0 * libm::log10(s),
                "f4" => p * n.sqrt() + 530000.0 * libm::log10(s),
                _ => unreachable!("{order}"),
            }
        };
        jobs.sort_by(|a, b| value(a).partial_cmp(&value(b)).unwrap().then(a.id.cmp(&b.id)));
    }
}

impl PlainRules {
    /// The waiting jobs in the order of the queue.
    fn queue(&self, machine: &Machine) -> Vec<Waiting> {
        let mut queue: Vec<Waiting> = machine.waiting.iter().copied().collect();
        self.sort(self.keys.queue, machine.now, &mut queue);
        // The sort is stable: starved jobs come first, in order of arrival, the others stay as they are.
        let is_starved =
            |job: &Waiting| self.keys.starve.is_some_and(|starve| machine.now - self.jobs[job.id.index()].0 >= starve);
        queue.sort_by_key(|job| if is_starved(job) { (0, job.id) } else { (1, JobId(0)) });
        queue
    }

    /// The end of a running job as it is counted. The machine counts running jobs by predictions here, because this policy does
    /// not ask for anything else.
    fn counted_end(&self, job: &Running, now: Time) -> Time {
        let (_, estimate, start) = self.jobs[job.id.index()];
        if self.keys.by_estimate && now < start + estimate { start + estimate } else { job.end }
    }

    fn estimate(&self, job: &Waiting) -> i64 {
        self.jobs[job.id.index()].1
    }

    fn is_protected(&self, first: &Waiting, now: Time) -> bool {
        self.keys.protect.is_some_and(|protect| now - self.jobs[first.id.index()].0 >= protect)
    }
}

impl Policy for PlainRules {
    fn on(&mut self, event: &PolicyEvent<'_>, _machine: &Machine) {
        if let PolicyEvent::Arrival { id, job, .. } = event {
            assert_eq!(id.index(), self.jobs.len());
            self.jobs.push((job.submit, job.estimate, Time::MAX));
        }
    }

    fn decide(&mut self, machine: &Machine, out: &mut Decisions) {
        let starts = &mut out.starts;
        self.deepest.fetch_max(machine.waiting.len(), Ordering::Relaxed);
        let now = machine.now;
        let counted = |job: &Running| (Time::MIN, self.counted_end(job, now), i64::from(job.procs));
        let mut uses: Vec<Use> = machine.running.iter().map(counted).collect();
        let queue = self.queue(machine);

        let (mut held, mut is_protected) = (0, false);
        let estimate = |job: &Waiting| self.estimate(job);
        let mut rest = queue.into_iter();
        while self.keys.reservations.is_none_or(|most| held < most)
            && let Some(job) = rest.next()
        {
            let procs = i64::from(job.procs);
            let fitted = if is_protected { job.length.max(estimate(&job)) } else { job.length };
            if Self::has_room(machine, &uses, procs, now, fitted) {
                let counts_by_estimate = self.keys.by_estimate && held == 0;
                let length = if counts_by_estimate { estimate(&job) } else { fitted };
                uses.push((now, now + length, procs));
                starts.push(job.id);
            } else {
                let mut ends: Vec<Time> = uses.iter().map(|r| r.1).collect();
                ends.sort_unstable();
                let from = ends.into_iter().find(|&at| Self::has_room(machine, &uses, procs, at, fitted)).unwrap();
                uses.push((from, from + fitted, procs));
                if held == 0 {
                    is_protected = self.is_protected(&job, now);
                }
                held += 1;
            }
        }
        if let Some(scan) = self.keys.scan {
            let mut rest: Vec<Waiting> = rest.collect();
            self.sort(scan, now, &mut rest);
            for job in rest {
                let length = if is_protected { job.length.max(estimate(&job)) } else { job.length };
                if Self::has_room(machine, &uses, i64::from(job.procs), now, length) {
                    uses.push((now, now + length, i64::from(job.procs)));
                    starts.push(job.id);
                }
            }
        }
        starts.iter().for_each(|id| self.jobs[id.index()].2 = now);
    }
}

/// The same for reservations of all jobs, with a list of steps of the free processors. Every pass makes all reservations again
/// and looks at every step for each. It is fast enough for queues of hundreds of jobs.
struct PlainWalk(PlainRules);

impl PlainWalk {
    /// The steps (from, free processors) that the running jobs leave.
    fn steps(&self, machine: &Machine) -> Vec<(Time, i64)> {
        let mut ends: Vec<(Time, i64)> =
            machine.running.iter().map(|job| (self.0.counted_end(job, machine.now), i64::from(job.procs))).collect();
        ends.sort_unstable();
        let mut steps = vec![(machine.now, machine.free())];
        for (end, procs) in ends {
            let free = steps[steps.len() - 1].1 + procs;
            steps.push((end, free));
        }
        steps
    }

    /// The earliest start of a job beside all others. It takes its processors.
    fn reserve(steps: &mut Vec<(Time, i64)>, procs: i64, length: i64) -> Time {
        let has_room = |from: usize| {
            let until = steps[from].0 + length;
            steps[from..].iter().take_while(|step| step.0 < until).all(|step| step.1 >= procs)
        };
        // Of several steps at one instant the last one counts.
        let is_last = |at: usize| steps.get(at + 1).is_none_or(|next| next.0 > steps[at].0);
        let first = (0..steps.len()).find(|&at| is_last(at) && has_room(at)).unwrap();
        let (start, end) = (steps[first].0, steps[first].0 + length);
        let after = steps.iter().take_while(|step| step.0 <= end).count();
        if steps[after - 1].0 < end {
            steps.insert(after, (end, steps[after - 1].1));
        }
        steps[first..].iter_mut().take_while(|step| step.0 < end).for_each(|step| step.1 -= procs);
        start
    }
}

impl Policy for PlainWalk {
    fn on(&mut self, event: &PolicyEvent<'_>, machine: &Machine) {
        self.0.on(event, machine);
    }

    fn decide(&mut self, machine: &Machine, out: &mut Decisions) {
        match out.asked {
            Asked::Reservations(most) => self.reservations(machine, most, &mut out.reserved),
            _ => self.pass(machine, &mut out.starts),
        }
    }
}

impl PlainWalk {
    fn pass(&mut self, machine: &Machine, starts: &mut Vec<JobId>) {
        self.0.deepest.fetch_max(machine.waiting.len(), Ordering::Relaxed);
        let mut steps = self.steps(machine);
        let (mut held, mut is_protected) = (0, false);
        for job in self.0.queue(machine) {
            let fitted = if is_protected { job.length.max(self.0.estimate(&job)) } else { job.length };
            let fits_before_all =
                held == 0 && i64::from(job.procs) <= steps.iter().rfind(|step| step.0 == machine.now).unwrap().1;
            let length = if fits_before_all && self.0.keys.by_estimate { self.0.estimate(&job) } else { fitted };
            if Self::reserve(&mut steps, i64::from(job.procs), length) == machine.now {
                starts.push(job.id);
                continue;
            }
            if held == 0 {
                is_protected = self.0.is_protected(&job, machine.now);
            }
            held += 1;
        }
        starts.iter().for_each(|id| self.0.jobs[id.index()].2 = machine.now);
    }

    fn reservations(&mut self, machine: &Machine, most: usize, reserved: &mut Vec<(JobId, Time)>) {
        let mut steps = self.steps(machine);
        let mut is_protected = false;
        for (at, job) in self.0.queue(machine).into_iter().take(most).enumerate() {
            let length = if is_protected { job.length.max(self.0.estimate(&job)) } else { job.length };
            reserved.push((job.id, Self::reserve(&mut steps, i64::from(job.procs), length)));
            is_protected |= at == 0 && self.0.is_protected(&job, machine.now);
        }
    }
}

/// How many passes there were, and when the last was.
#[derive(Default)]
struct Passes {
    count: usize,
    last: Option<Time>,
}

impl Observer for Passes {
    fn on(&mut self, time: Time, event: &Event<'_>, _machine: &Machine) {
        if let Event::Pass(_) = event {
            (self.count, self.last) = (self.count + 1, Some(time));
        }
    }
}

/// Runs a workload and withdraws waiting jobs now and then, always the same ones: one of `withdrawn` jobs. Also returns the
/// reservations after one pass of `every`; 0 for none.
pub fn run_with_withdrawals(
    workload: &Workload,
    scheduler: Scheduler,
    predictor: &str,
    options: EngineOptions,
    (withdrawn, every): (u32, usize),
) -> (Vec<Outcome>, Vec<(Time, JobId, Time)>) {
    let spec = predict::catalog::parse(predictor).unwrap();
    let predictor = Named { name: predictor.to_string(), value: predict::catalog::build(&spec) };
    let mut simulation = Simulation::observed(workload.procs, scheduler, predictor, options, Passes::default());
    workload.jobs.iter().for_each(|job| assert!(simulation.submit(job).is_ok()));
    let (mut instants, mut reserved) = (0u32, Vec::new());
    while let Some(next) = simulation.next_event() {
        simulation.advance_to(next).unwrap();
        instants += 1;
        let &Passes { count, last } = simulation.observer();
        if every > 0 && count.is_multiple_of(every) && last == Some(next) {
            let made = simulation.reservations(50 + count).into_iter();
            reserved.extend(made.map(|(job, start)| (next, job, start)));
        }
        if withdrawn > 0 && instants.is_multiple_of(withdrawn) {
            let waiting: Vec<JobId> = simulation.machine().waiting.iter().map(|job| job.id).collect();
            let at = (instants.wrapping_mul(2_654_435_761) >> 8) as usize % waiting.len().max(1);
            waiting.get(at).into_iter().for_each(|&id| simulation.cancel(id).unwrap());
        }
    }
    (simulation.into_outcomes().0, reserved)
}

fn run(workload: &Workload, scheduler: Scheduler, predictor: &str, options: EngineOptions) -> Vec<Outcome> {
    let spec = predict::catalog::parse(predictor).unwrap();
    let predictor = Named { name: predictor.to_string(), value: predict::catalog::build(&spec) };
    engine::run(workload.procs, &workload.jobs, scheduler, predictor, options, &mut |_| ()).unwrap().outcomes
}

/// Hundreds of jobs that arrive much faster than they can run, then a time without arrivals, so that queues fill and empty.
pub fn saturated() -> impl Strategy<Value = Workload> {
    let job = (0..4i64, 1..=24u32, select(vec![1, 5, 30, 60, 60, 300, 1000]), 1..=4i64, 0..6i32, 0..3i32);
    (vec(job, 100..400), 16..=24u32, select(vec![1, 10, 40])).prop_map(|(drafts, procs, tempo)| {
        let (mut submit, mut jobs) = (0, Vec::new());
        for (at, (gap, needs, runtime, factor, user, executable)) in drafts.into_iter().enumerate() {
            submit += if at == 250 { 200_000 } else { gap * tempo };
            let mut job = job_of(user, submit, needs.min(procs), runtime + gap, runtime * factor);
            job.submission.executable = executable;
            jobs.push(job);
        }
        workload(procs, &jobs)
    })
}

/// A larger machine, and hundreds of jobs that all come in a short time: queues of hundreds of jobs, plans of as many steps.
fn piled() -> impl Strategy<Value = Workload> {
    let widths = prop_oneof![4 => 1..=4u32, 2 => 1..=32u32, 1 => 1..=200u32];
    let job = (0..3i64, widths, prop_oneof![1..=50i64, 1..=4000i64], 1..=10i64, 0..6i32, 0..3i32);
    (vec(job, 300..500), 50..=200u32, select(vec![0, 1, 20])).prop_map(|(drafts, procs, tempo)| {
        let (mut submit, mut jobs) = (0, Vec::new());
        for (gap, needs, runtime, factor, user, executable) in drafts {
            submit += gap * tempo;
            // Some users are exact.
            let estimate = if user < 2 { runtime } else { (runtime * factor + 599) / 600 * 600 };
            let mut job = job_of(user, submit, needs.min(procs), runtime, estimate);
            job.submission.executable = executable;
            jobs.push(job);
        }
        workload(procs, &jobs)
    })
}

pub fn predictors() -> impl Strategy<Value = &'static str> {
    select(vec![
        "estimate",
        "perfect",
        "constant",
        "ruh",
        "ruh:propagate=on",
        "easy++",
        "sbh",
        "sbh-noest:propagate=on",
        "smith:at=start",
        "downey",
        "kin",
        "learned",
    ])
}

pub fn options() -> impl Strategy<Value = EngineOptions> {
    (select(vec![1.0, 1.0, 1.7, 3.0]), any::<bool>()).prop_map(|(inflate, pass_on_miss)| EngineOptions {
        inflate,
        pass_on_miss,
        ..EngineOptions::default()
    })
}

/// The keys of a scheduler.
#[derive(Clone, Debug)]
struct Keys {
    name: &'static str,
    by_estimate: bool,
    queue: &'static str,
    /// None: no backfilling.
    scan: Option<&'static str>,
    /// None: all jobs.
    reservations: Option<usize>,
    protect: Option<i64>,
    starve: Option<i64>,
}

impl Keys {
    /// EASY, or SJBF with `spf`.
    fn easy(scan: &'static str) -> Keys {
        let name = if scan == "spf" { "sjbf" } else { "easy" };
        let (queue, reservations) = ("fcfs", Some(1));
        Keys { name, by_estimate: false, queue, scan: Some(scan), reservations, protect: None, starve: None }
    }

    fn plain(&self, deepest: &Arc<AtomicUsize>) -> Scheduler {
        Scheduler::new(PlainRules { keys: self.clone(), jobs: Vec::new(), deepest: deepest.clone() })
    }

    fn spec(&self) -> String {
        let mut keys = Vec::new();
        if self.name != "fcfs" {
            keys.push(format!("running={}", if self.by_estimate { "estimate" } else { "prediction" }));
        }
        if self.name != "conservative" {
            keys.push(format!("queue={}", self.queue));
        }
        if let ("easy" | "sjbf", Some(scan)) = (self.name, self.scan) {
            keys.push(format!("scan={scan}"));
            keys.push(format!(
                "reservations={}",
                self.reservations.map_or("all".to_string(), |count| count.to_string())
            ));
            let duration = |value: Option<i64>| value.map_or("never".to_string(), print_duration);
            keys.push(format!("protect={}", duration(self.protect)));
            keys.push(format!("starve={}", duration(self.starve)));
        }
        format!("{}:{}", self.name, keys.join(","))
    }
}

/// Any combination of keys.
fn all_keys(reservations: Vec<Option<usize>>) -> impl Strategy<Value = Keys> {
    let order = || prop_oneof![1 => Just("fcfs"), 1 => Just("spf"), 3 => select(Order::NAMES.to_vec())];
    let after = || select(vec![None, None, Some(0), Some(1), Some(60), Some(1000), Some(20_000)]);
    let name = select(vec!["easy", "sjbf"]);
    (name, any::<bool>(), order(), order(), select(reservations), after(), after()).prop_map(
        |(name, by_estimate, queue, scan, reservations, protect, starve)| Keys {
            name,
            by_estimate,
            queue,
            scan: Some(scan),
            reservations,
            protect,
            starve,
        },
    )
}

/// Every outcome equals that of the plain scan.
fn equals_the_plain_scan(
    (workload, keys, predictor, options): (Workload, Keys, &'static str, EngineOptions),
    deepest: &Arc<AtomicUsize>,
) -> TestCaseResult {
    let fast =
        schedule::catalog::build(&schedule::catalog::parse(&keys.spec()).unwrap(), &support::facts(&workload.jobs));
    let expected = run(&workload, keys.plain(deepest), predictor, options);
    prop_assert_eq!(run(&workload, fast, predictor, options), expected, "{} with {}", keys.spec(), predictor);
    Ok(())
}

fn assert_deep(deepest: &AtomicUsize) {
    let deepest = deepest.load(Ordering::Relaxed);
    assert!(deepest > 200, "no queue was deeper than {deepest}");
}

/// Orders that depend on waits are not indexed; the others are.
#[test]
fn every_scan_order_equals_the_plain_scan() {
    let deepest = Arc::default();
    for (order, seed) in Order::NAMES.into_iter().zip(410..) {
        for (by_estimate, protect) in [(false, None), (true, None), (true, Some(300))] {
            let keys = Keys { by_estimate, protect, ..Keys::easy(order) };
            let cases = (saturated(), Just(keys), predictors(), options());
            check(seed, fewer(40), cases, |case| equals_the_plain_scan(case, &deepest));
        }
    }
    assert_deep(&deepest);
}

#[test]
fn all_keys_together_equal_the_plain_scan_on_shallow_queues() {
    let reservations = vec![Some(1), Some(1), Some(2), Some(3), Some(10), None];
    let cases = (workloads(), all_keys(reservations), predictors(), options());
    check(430, fewer(4000), cases, |case| equals_the_plain_scan(case, &Arc::default()));
}

#[test]
fn all_keys_together_equal_the_plain_scan_on_deep_queues() {
    let deepest = Arc::default();
    let cases = (saturated(), all_keys(vec![Some(1), Some(1), Some(2), Some(5)]), predictors(), options());
    check(431, fewer(600), cases, |case| equals_the_plain_scan(case, &deepest));
    assert_deep(&deepest);
}

/// The plan that leaves far reservations open, and its end as soon as no other job can start, against the plain walk: with all
/// keys, withdrawn jobs, and the reservations that are shown.
fn equals_the_plain_walk(
    (workload, keys, predictor, options, extras): (Workload, Keys, &'static str, EngineOptions, (u32, usize)),
    deepest: &Arc<AtomicUsize>,
) -> TestCaseResult {
    let fast =
        schedule::catalog::build(&schedule::catalog::parse(&keys.spec()).unwrap(), &support::facts(&workload.jobs));
    let plain = PlainWalk(PlainRules { keys: keys.clone(), jobs: Vec::new(), deepest: deepest.clone() });
    let plain = Scheduler { answers: true, ..Scheduler::new(plain) };
    let expected = run_with_withdrawals(&workload, plain, predictor, options, extras);
    let result = run_with_withdrawals(&workload, fast, predictor, options, extras);
    prop_assert!(result == expected, "{} with {}, {:?}", keys.spec(), predictor, extras);
    Ok(())
}

/// Conservative backfilling, and any order and keys with reservations for all jobs.
fn all_reserved() -> impl Strategy<Value = Keys> {
    let conservative = any::<bool>().prop_map(|by_estimate| Keys {
        name: "conservative",
        by_estimate,
        reservations: None,
        ..Keys::easy("fcfs")
    });
    let queue = select(vec!["fcfs", "saf", "spf"]);
    let simple = queue.prop_map(|queue| Keys { queue, reservations: None, ..Keys::easy("fcfs") });
    prop_oneof![1 => conservative, 1 => simple, 1 => all_keys(vec![None])]
}

/// How often a job is withdrawn, and how often reservations are shown.
fn extras() -> impl Strategy<Value = (u32, usize)> {
    (select(vec![0, 0, 3, 40]), select(vec![0, 0, 1, 7]))
}

#[test]
fn reservations_for_all_equal_the_plain_walk_on_deep_queues() {
    let deepest = Arc::default();
    let cases = (saturated(), all_reserved(), predictors(), options(), extras());
    check(436, 1200, cases, |case| equals_the_plain_walk(case, &deepest));
    assert_deep(&deepest);
}

#[test]
fn reservations_for_all_equal_the_plain_walk_on_large_machines() {
    let deepest = Arc::default();
    let cases = (piled(), all_reserved(), predictors(), options(), extras());
    check(437, fewer(250), cases, |case| equals_the_plain_walk(case, &deepest));
    assert_deep(&deepest);
}

/// The plain walk itself is right: it does what the definition does, which looks at all uses of processors instead of steps.
#[test]
fn the_plain_walk_equals_the_plain_scan() {
    let cases = (workloads(), all_reserved(), predictors(), options());
    check(438, 1000, cases, |(workload, keys, predictor, options)| {
        let walk = PlainWalk(PlainRules { keys: keys.clone(), jobs: Vec::new(), deepest: Arc::default() });
        let expected = run(&workload, keys.plain(&Arc::default()), predictor, options);
        prop_assert_eq!(run(&workload, Scheduler::new(walk), predictor, options), expected);
        Ok(())
    });
}

/// Thousands of waiting jobs, against the policy without an index, which finds the start of every reservation.
#[test]
fn open_reservations_change_nothing_with_thousands_of_waiting_jobs() {
    for (queue, by_estimate, predictor) in [
        ("fcfs", false, "estimate"),
        ("fcfs", false, "ruh:propagate=on"),
        ("fcfs", false, "kin"),
        ("fcfs", true, "easy++"),
        ("saf", false, "ruh"),
        ("fcfs", false, "perfect"),
    ] {
        let sessions = Sessions { jobs: 6000, procs: 256, users: 60, offered_load: 1.6, seed: 5, preceding: false };
        let (header, records) = generate_sessions(&sessions);
        let mut bytes = Vec::new();
        write_header(&mut bytes, &header).unwrap();
        records.iter().for_each(|record| write_record(&mut bytes, record).unwrap());
        let source = Source::Bytes { name: "generated", bytes: bytes.into() };
        let log = read(&source, ReadOptions::default(), &mut |_| ()).unwrap();
        let workload = clean(&log, &Cleaning::default()).unwrap();
        let running = if by_estimate { schedule::Counting::Estimate } else { schedule::Counting::Prediction };
        let queue = Order::from_name(queue).unwrap();
        let rules = Rules { queue, running, reservations: None, ..Rules::default() };
        let options = EngineOptions::default();
        let anew = run(&workload, Reserving::anew(&rules).into(), predictor, options);
        assert!(run(&workload, rules.scheduler(), predictor, options) == anew, "{rules:?} with {predictor}");
    }
}

#[test]
fn conservative_by_estimates_equals_the_plain_scan() {
    let keys = any::<bool>().prop_map(|by_estimate| Keys {
        name: "conservative",
        by_estimate,
        reservations: None,
        ..Keys::easy("fcfs")
    });
    check(432, 1000, (workloads(), keys, predictors(), options()), |case| equals_the_plain_scan(case, &Arc::default()));
}

#[test]
fn fcfs_in_every_order_equals_the_plain_scan() {
    let keys =
        select(Order::NAMES.to_vec()).prop_map(|queue| Keys { name: "fcfs", queue, scan: None, ..Keys::easy("fcfs") });
    check(433, 1000, (workloads(), keys, predictors(), options()), |case| equals_the_plain_scan(case, &Arc::default()));
}

/// The general policy with one reservation is the fast one.
#[test]
fn one_reservation_is_easy() {
    let protect = select(vec![None, None, Some(0), Some(60), Some(2000)]);
    let rules =
        (select(vec!["fcfs", "spf", "saf"]), any::<bool>(), protect).prop_map(|(scan, by_estimate, protect)| {
            let running = if by_estimate { schedule::Counting::Estimate } else { schedule::Counting::Prediction };
            Rules { scan: Order::from_name(scan).unwrap(), running, protect, ..Rules::default() }
        });
    check(434, 500, (saturated(), rules, predictors(), options()), |(workload, rules, predictor, options)| {
        let general = run(&workload, Reserving::new(&rules).into(), predictor, options);
        prop_assert_eq!(general, run(&workload, rules.scheduler(), predictor, options));
        Ok(())
    });
}
