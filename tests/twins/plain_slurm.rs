//! The scheduler `slurm` against a plain version of it, which makes every pass, second by second, with lists of nodes and of
//! reservations instead of bit sets, stretches and skipped passes.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestCaseResult;
use shadowtime::engine::Outcome;
use shadowtime::experiment::Setting;
use shadowtime::job::{Job, JobId, Submission};
use shadowtime::schedule::{self, Decisions, Machine, Policy, PolicyEvent, Scheduler, Waiting};
use shadowtime::time::Time;
use shadowtime::trace::{Conditions, JobArray, LogConditions, TaskArrays, Workload};

use crate::random::{check, workloads};
use crate::support::{self, job_of, workload};

/// The values of the keys.
#[derive(Clone, Debug)]
struct Keys {
    interval: i64,
    resolution: i64,
    window: i64,
    linear: i64,
    depth: usize,
    per_user: usize,
    /// The most reservations of an array.
    per_array: usize,
    main_depth: usize,
    main_delay: i64,
    main_interval: i64,
    kill_wait: i64,
    by_prediction: bool,
    /// The weights of age, size and fair share, and the half-life.
    multifactor: Option<[i64; 4]>,
}

impl Keys {
    fn spec(&self) -> String {
        let Keys { interval, resolution, window, linear, depth, per_user, per_array, .. } = self;
        let Keys { main_depth, main_delay, main_interval, kill_wait, .. } = self;
        let running = if self.by_prediction { "prediction" } else { "estimate" };
        let order = self.multifactor.map_or("order=fcfs".to_string(), |[age, size, fair, halflife]| {
            format!(
                "order=multifactor,max_age=1000s,age_weight={age},size_weight={size},fairshare_weight={fair},halflife={halflife}s"
            )
        });
        format!(
            "slurm:bf_interval={interval}s,bf_resolution={resolution}s,bf_window={window}s,bf_window_linear={linear}s,\
             bf_max_job_test={depth},bf_max_job_user={per_user},bf_max_job_array_resv={per_array},default_queue_depth={main_depth},\
             batch_sched_delay={main_delay}s,sched_interval={main_interval}s,kill_wait={kill_wait}s,\
             running={running},{order}"
        )
    }
}

/// A running job: (id, start, planned end by its limit, nodes).
type Running = (JobId, Time, Time, Vec<usize>);

/// The jobs of one place in the queue.
struct Entry {
    /// One job, or the tasks of an array that may start, by number.
    tasks: Vec<Waiting>,
    is_array: bool,
    /// How many more tasks the limit of the array keeps back.
    held: usize,
    /// The submission and the number of the first task, also if it has started.
    submit: Time,
    number: JobId,
}

/// A reservation: from, to, nodes.
type Reserved = (Time, Time, Vec<usize>);

struct PlainSlurm {
    keys: Keys,
    unix_start: Time,
    jobs: BTreeMap<JobId, Submission>,
    /// The arrays of jobs, and the sizes of those with a limit.
    arrays: BTreeMap<JobId, u32>,
    sizes: BTreeMap<u32, usize>,
    /// Of each array: all its tasks that have arrived, in that order.
    arrived: BTreeMap<u32, Vec<JobId>>,
    /// Tasks that ask for something else than the tasks that waited when they arrived.
    alone: Vec<JobId>,
    newcomers: Vec<JobId>,
    running: Vec<Running>,
    /// The end of each job that has ended, with its start.
    past: Vec<(JobId, Time, Time)>,
    users: usize,
    /// The usage of each user at the last update.
    usages: RefCell<(Option<Time>, BTreeMap<i32, f64>)>,
    event: bool,
    seen: Option<Time>,
    origin: Option<Time>,
    last_main: Option<Time>,
    main_due: Option<Time>,
    last_backfill: Option<Time>,
    waiting_since: Option<Time>,
    is_waiting: bool,
    deepest: Arc<AtomicUsize>,
}

impl PlainSlurm {
    fn limit(&self, job: &Waiting) -> i64 {
        match self.keys.by_prediction {
            true => job.length,
            false => (self.jobs[&job.id].estimate + 59) / 60 * 60,
        }
    }

    fn is_full_pass(&self, now: Time) -> bool {
        self.origin.is_some_and(|origin| now > origin && (now - origin) % self.keys.main_interval == 0)
    }

    /// The usage of a user, as it was at `last`, a multiple of five minutes after the first submission.
    fn usage(&self, user: i32, last: Time, halflife: i64) -> f64 {
        let origin = self.origin.unwrap();
        let (mut usage, mut from) = (0.0, origin);
        while from < last {
            let to = from + 300;
            let running = self.running.iter().map(|job| (job.0, job.1, Time::MAX));
            let jobs = self.past.iter().copied().chain(running);
            let used = jobs.filter(|(id, ..)| self.jobs[id].user == user).map(|(id, start, end)| {
                (end.min(to) - start.max(from)).max(0) as f64 * f64::from(self.jobs[&id].procs)
            });
            usage = usage * 0.5f64.powf(300.0 / halflife as f64) + used.sum::<f64>();
            from = to;
        }
        usage
    }

    /// Tasks that arrive join those of their array that wait, if they ask for the same.
    fn line_up(&mut self, machine: &Machine) {
        for id in std::mem::take(&mut self.newcomers) {
            let Some(&array) = self.arrays.get(&id) else { continue };
            let arrived = self.arrived.entry(array).or_default();
            let waits = |other: &&JobId| machine.waiting.get(**other).is_some() && !self.alone.contains(other);
            // The first of those that wait has the smallest number.
            if let Some(first) = arrived.iter().filter(waits).min() {
                let (own, other) = (&self.jobs[&id], &self.jobs[first]);
                if (own.procs, own.user) != (other.procs, other.user) {
                    self.alone.push(id);
                }
            }
            arrived.push(id);
        }
    }

    /// What waits, in the order of the queue.
    fn queue(&self, machine: &Machine, starts: &[JobId]) -> Vec<Entry> {
        let mut queue: Vec<Entry> = Vec::new();
        let mut places: BTreeMap<u32, usize> = BTreeMap::new();
        for &job in machine.waiting.iter().filter(|job| !starts.contains(&job.id)) {
            let array = self.arrays.get(&job.id);
            let number = array.map_or(job.id, |array| self.arrived[array][0]);
            let (submit, is_array) = (self.jobs[&number].submit, array.is_some() && !self.alone.contains(&job.id));
            let Some(array) = array.filter(|_| is_array) else {
                queue.push(Entry { tasks: vec![job], is_array, held: 0, submit, number: job.id });
                continue;
            };
            let place = *places.entry(*array).or_insert(queue.len());
            if place == queue.len() {
                let held = self.sizes.get(array).map_or(0, |size| size - self.arrived[array].len());
                queue.push(Entry { tasks: Vec::new(), is_array, held, submit, number });
            }
            queue[place].tasks.push(job);
        }
        queue.iter_mut().for_each(|entry| entry.tasks.sort_by_key(|task| task.id));
        queue.sort_by_key(|entry| (entry.submit, entry.number));
        let Some([age, size, fair, halflife]) = self.keys.multifactor else { return queue };
        let origin = self.origin.unwrap();
        let last = origin + (machine.now - origin) / 300 * 300;
        // Computing them anew for each pass would take most of the time.
        let mut usages = self.usages.borrow_mut();
        if usages.0 != Some(last) {
            *usages = (Some(last), BTreeMap::new());
        }
        for job in self.jobs.values() {
            usages.1.entry(job.user).or_insert_with(|| self.usage(job.user, last, halflife));
        }
        let usages = &usages.1;
        let all: f64 = usages.values().sum();
        let priority = |entry: &Entry| {
            let job = &entry.tasks[0];
            let submission = &self.jobs[&job.id];
            let aged = ((machine.now - entry.submit) as f64 / 1000.0).min(1.0);
            let used = if all > 0.0 { usages[&submission.user] / all } else { 0.0 };
            let fairness = 2.0f64.powf(-used * self.users as f64);
            age as f64 * aged + size as f64 * f64::from(job.procs) / f64::from(machine.procs()) + fair as f64 * fairness
        };
        // Sums in another order differ in the last digits, so equal priorities must not be told apart by them.
        let rounded = |entry: &Entry| (priority(entry) * 1e6).round();
        queue.sort_by(|a, b| rounded(b).partial_cmp(&rounded(a)).unwrap());
        queue
    }

    fn idle(&self, procs: u32) -> Vec<usize> {
        (0..procs as usize).filter(|node| self.running.iter().all(|job| !job.3.contains(node))).collect()
    }

    /// The shortest sufficient run of consecutive nodes; else the longest, and again for the rest.
    fn place(&self, nodes: &[usize], procs: u32) -> Vec<usize> {
        let (mut left, mut share) = (nodes.to_vec(), Vec::new());
        while share.len() < procs as usize {
            let needed = procs as usize - share.len();
            let mut runs: Vec<Vec<usize>> = Vec::new();
            for &node in &left {
                match runs.last_mut() {
                    Some(run) if run[run.len() - 1] + 1 == node => run.push(node),
                    _ => runs.push(vec![node]),
                }
            }
            let sufficient = runs.iter().filter(|run| run.len() >= needed).min_by_key(|run| (run.len(), run[0]));
            let longest = runs.iter().min_by_key(|run| (std::cmp::Reverse(run.len()), run[0]));
            let run: Vec<usize> = sufficient.or(longest).unwrap().iter().copied().take(needed).collect();
            left.retain(|node| !run.contains(node));
            share.extend(run);
        }
        share.sort_unstable();
        share
    }

    fn start(&mut self, job: &Waiting, now: Time, nodes: Vec<usize>, starts: &mut Vec<JobId>) {
        self.running.push((job.id, now, now + self.limit(job), nodes));
        starts.push(job.id);
    }

    fn main_pass(&mut self, machine: &Machine, depth: usize, starts: &mut Vec<JobId>) {
        for job in self.queue(machine, starts).iter().flat_map(|entry| &entry.tasks).take(depth) {
            let idle = self.idle(machine.procs());
            if idle.len() < job.procs as usize {
                return;
            }
            let nodes = self.place(&idle, job.procs);
            self.start(job, machine.now, nodes, starts);
        }
    }

    fn backfill_pass(&mut self, machine: &Machine, starts: &mut Vec<JobId>) {
        let mut reserved: Vec<Reserved> = Vec::new();
        let (mut count, mut per_user) = (0, BTreeMap::<i32, usize>::new());
        for Entry { tasks, is_array, held, .. } in self.queue(machine, starts) {
            let mut unstarted = tasks.clone();
            let (mut at, mut of_array) = (0, 0);
            // Those that the limit keeps back are tried after the others, as the last of them that has not started.
            while let Some(job) = tasks.get(at).or(unstarted.last().filter(|_| at < tasks.len() + held)).copied() {
                at += 1;
                let of_user = per_user.entry(self.jobs[&job.id].user).or_default();
                *of_user += 1;
                if self.keys.per_user > 0 && *of_user > self.keys.per_user {
                    break;
                }
                if count == self.keys.depth {
                    return;
                }
                count += 1;
                let before = reserved.len();
                if let Some(nodes) = self.plan(machine, &job, &mut reserved) {
                    assert!(at <= tasks.len(), "a task that is kept back starts");
                    self.start(&job, machine.now, nodes, starts);
                    unstarted.retain(|task| task.id != job.id);
                    continue;
                }
                of_array += 1;
                let may_go_on = of_array < self.keys.per_array && of_array < unstarted.len() + held;
                if !is_array || reserved.len() == before || !may_go_on {
                    break;
                }
            }
        }
    }

    fn round_down(&self, time: Time) -> Time {
        let unix = time + self.unix_start;
        unix.div_euclid(self.keys.resolution) * self.keys.resolution - self.unix_start
    }

    /// The times at which reservations change, and what is free between two of them: from, to, the free nodes.
    fn stretches(&self, machine: &Machine, reserved: &[Reserved]) -> Vec<(Time, Time, Vec<usize>)> {
        let (begin, end) = (self.round_down(machine.now), self.round_down(machine.now + self.keys.window));
        let mut times = vec![begin, end];
        times.extend(reserved.iter().flat_map(|r| [r.0, r.1]).filter(|time| begin < *time && *time < end));
        times.sort_unstable();
        times.dedup();
        let mut stretches: Vec<(Time, Time, Vec<usize>)> = Vec::new();
        for pair in times.windows(2) {
            let here = || reserved.iter().filter(|r| r.0 <= pair[0] && pair[1] <= r.1);
            let free: Vec<usize> =
                (0..machine.procs() as usize).filter(|node| here().all(|r| !r.2.contains(node))).collect();
            match stretches.last_mut() {
                Some(last) if last.2 == free => last.1 = pair[1],
                _ => stretches.push((pair[0], pair[1], free)),
            }
        }
        if stretches.is_empty() {
            stretches.push((begin, end, (0..machine.procs() as usize).collect()));
        }
        stretches
    }

    /// The nodes of a job that starts now. A job that does not may get a reservation.
    fn plan(&self, machine: &Machine, job: &Waiting, reserved: &mut Vec<Reserved>) -> Option<Vec<usize>> {
        let (now, limit, procs) = (machine.now, self.limit(job), job.procs as usize);
        let stretches = self.stretches(machine, reserved);
        let window_end = self.round_down(now + self.keys.window);
        let mut from = now;
        loop {
            if from > window_end {
                return None;
            }
            let to = from + limit;
            let mut allowed: Vec<usize> = (0..machine.procs() as usize).collect();
            let mut later = None;
            for (at, (begin, end, free)) in stretches.iter().enumerate() {
                if *end <= from {
                    continue;
                }
                if later.is_none()
                    && let Some(next) = stretches.get(at + 1)
                    && next.2.iter().any(|node| !free.contains(node) || !allowed.contains(node))
                {
                    later = Some(*end);
                }
                if *begin > to {
                    break;
                }
                allowed.retain(|node| free.contains(node));
            }
            let mut found = None;
            if allowed.len() >= procs {
                found = self.opening(machine, procs, &allowed);
            }
            let Some((start, nodes)) = found else {
                from = later?;
                continue;
            };
            let start = start.max(from);
            if start <= now {
                return Some(nodes);
            }
            if later.is_some_and(|later| start > later) {
                from = later.unwrap();
                continue;
            }
            if start > now + self.keys.window {
                return None;
            }
            let (begin, end) = (self.round_down(start), self.round_down(start + limit));
            let clashes = stretches
                .iter()
                .any(|(b, e, free)| *e > begin && *b < end && nodes.iter().any(|node| !free.contains(node)));
            if clashes {
                assert!(start > from, "no progress");
                from = start;
                continue;
            }
            reserved.push((begin, end.max(begin + self.keys.resolution), nodes));
            return None;
        }
    }

    /// When enough of the allowed nodes are idle, and which the job gets.
    fn opening(&self, machine: &Machine, procs: usize, allowed: &[usize]) -> Option<(Time, Vec<usize>)> {
        let idle = self.idle(machine.procs());
        let usable =
            |idle: &[usize]| -> Vec<usize> { idle.iter().copied().filter(|node| allowed.contains(node)).collect() };
        if usable(&idle).len() >= procs {
            return Some((machine.now, self.place(&usable(&idle), procs as u32)));
        }
        let mut ends: Vec<(Time, JobId, &Vec<usize>)> = self
            .running
            .iter()
            .map(|(id, _, end, nodes)| {
                let predicted = machine.running.iter().find(|job| job.id == *id).map(|job| job.end);
                (if self.keys.by_prediction { predicted.unwrap_or(*end) } else { *end }, *id, nodes)
            })
            .collect();
        ends.sort_unstable();
        let (mut idle, mut base, mut width, mut at) = (idle, None, 30, 0);
        while at < ends.len() {
            let mut last = None;
            while at < ends.len() {
                let (end, _, nodes) = ends[at];
                at += 1;
                if !nodes.iter().any(|node| allowed.contains(node)) {
                    continue;
                }
                let unix = end + self.unix_start;
                let base = *base.get_or_insert(unix.div_euclid(30) * 30 + 30 - self.unix_start);
                idle.extend(nodes);
                last = Some(end);
                if at < ends.len() && ends[at].0 > base + width {
                    break;
                }
            }
            let last = last?;
            idle.sort_unstable();
            if usable(&idle).len() >= procs {
                let start = if last > machine.now { last } else { (last + self.keys.kill_wait).max(machine.now + 1) };
                return Some((start, self.place(&usable(&idle), procs as u32)));
            }
            width += if self.keys.linear > 0 { self.keys.linear } else { width };
            while at < ends.len() && ends[at].0 > base.unwrap() + width {
                width += if self.keys.linear > 0 { self.keys.linear } else { width };
            }
        }
        None
    }

    /// One second: the passes that are due.
    fn tick(&mut self, now: Time, machine: Option<&Machine>, starts: &mut Vec<JobId>) {
        let is_full = self.is_full_pass(now);
        if is_full || self.main_due.is_some_and(|due| due <= now) {
            if let Some(machine) = machine {
                self.main_pass(machine, if is_full { usize::MAX } else { self.keys.main_depth }, starts);
            }
            (self.last_main, self.main_due) = (Some(now), None);
        }
        let Some(machine) = machine.filter(|machine| starts.len() < machine.waiting.len()) else { return };
        let is_due = self.last_backfill.is_none_or(|last| now >= last + self.keys.interval);
        if is_due && self.waiting_since.is_some_and(|since| now > since) {
            self.backfill_pass(machine, starts);
            self.last_backfill = Some(now);
        }
    }
}

impl Policy for PlainSlurm {
    fn on(&mut self, event: &PolicyEvent<'_>, machine: &Machine) {
        match *event {
            PolicyEvent::Begin(facts) => self.unix_start = facts.unix_start,
            PolicyEvent::Arrival { id, job, .. } => {
                self.jobs.insert(id, *job);
                self.newcomers.push(id);
                self.event = true;
            }
            PolicyEvent::End(id) => {
                let at = self.running.iter().position(|job| job.0 == id).unwrap();
                let (_, start, ..) = self.running.remove(at);
                self.past.push((id, start, machine.now));
                self.event = true;
            }
            _ => {}
        }
    }

    fn decide(&mut self, machine: &Machine, out: &mut Decisions) {
        let starts = &mut out.starts;
        self.deepest.fetch_max(machine.waiting.len(), Ordering::Relaxed);
        self.line_up(machine);
        // Seconds without a call: nobody waited, but main passes are counted.
        for second in self.seen.map_or(machine.now, |seen| seen + 1)..machine.now {
            assert!(!self.is_waiting);
            self.tick(second, None, &mut Vec::new());
        }
        self.seen = Some(machine.now);
        if std::mem::take(&mut self.event) {
            self.origin.get_or_insert(machine.now);
            if self.main_due.is_none() {
                let earliest = self.last_main.map_or(machine.now, |last| last + self.keys.main_delay);
                self.main_due = Some(earliest.max(machine.now + 1));
            }
        }
        match machine.waiting.is_empty() {
            true => self.waiting_since = None,
            false => {
                self.waiting_since.get_or_insert(machine.now);
            }
        }
        self.tick(machine.now, Some(machine), starts);
        self.is_waiting = starts.len() < machine.waiting.len();
        if !self.is_waiting {
            self.waiting_since = None;
        }
    }

    fn wake(&self) -> Option<Time> {
        self.seen.filter(|_| self.is_waiting).map(|seen| seen + 1)
    }
}

fn keys() -> impl Strategy<Value = Keys> {
    let times = (
        select(vec![7i64, 30, 30, 60, 400]),
        select(vec![1i64, 7, 60, 60, 300]),
        select(vec![60i64, 600, 3_600, 86_400, 86_400]),
        select(vec![0i64, 0, 0, 10, 100]),
        select(vec![0i64, 3, 3, 10]),
        select(vec![5i64, 60, 60, 300]),
        select(vec![0i64, 2, 30, 30]),
    );
    let depths = (
        select(vec![1usize, 5, 500, 500]),
        select(vec![0usize, 0, 1, 3]),
        select(vec![1usize, 3, 100, 100]),
        select(vec![1usize, 2, 20, 20]),
    );
    let weights = (0..2000i64, 0..2000i64, 0..2000i64, select(vec![300i64, 5_000, 604_800]));
    let multifactor = proptest::option::weighted(0.3, weights.prop_map(|(a, s, f, h)| [a, s, f, h]));
    (times, depths, any::<bool>(), multifactor).prop_map(
        |(times, (depth, per_user, main_depth, per_array), by_prediction, multifactor)| {
            let (interval, resolution, window, linear, main_delay, main_interval, kill_wait) = times;
            Keys {
                interval,
                resolution,
                window,
                linear,
                depth,
                per_user,
                per_array,
                main_depth,
                main_delay,
                main_interval,
                kill_wait,
                by_prediction,
                multifactor,
            }
        },
    )
}

fn run(workload: &Workload, scheduler: Scheduler, predictor: &str) -> Vec<Outcome> {
    let setting = Setting::parse("slurm", predictor).unwrap();
    setting.run_under(scheduler, workload, None, &mut |_| ()).unwrap().outcomes
}

type Case = (Workload, Keys, &'static str, Option<Time>);

fn equals_the_plain_version(
    (mut workload, keys, predictor, unix_start): Case,
    deepest: &Arc<AtomicUsize>,
) -> TestCaseResult {
    let mut users: Vec<i32> = workload.jobs.iter().map(|job| job.submission.user).collect();
    users.sort_unstable();
    users.dedup();
    let plain = PlainSlurm {
        keys: keys.clone(),
        unix_start: 0,
        jobs: BTreeMap::new(),
        arrays: arrays_of(&workload),
        sizes: sizes_of(&workload),
        arrived: BTreeMap::new(),
        alone: Vec::new(),
        newcomers: Vec::new(),
        running: Vec::new(),
        past: Vec::new(),
        users: users.len(),
        usages: RefCell::default(),
        event: false,
        seen: None,
        origin: None,
        last_main: None,
        main_due: None,
        last_backfill: None,
        waiting_since: None,
        is_waiting: false,
        deepest: deepest.clone(),
    };
    workload.unix_start = unix_start;
    let arrays = TaskArrays::of(&workload);
    let facts = support::facts(&workload.jobs).with_arrays(&arrays);
    let fast = schedule::catalog::build(&schedule::catalog::parse(&keys.spec()).unwrap(), &facts);
    let expected = run(&workload, Scheduler::new(plain), predictor);
    prop_assert_eq!(run(&workload, fast, predictor), expected, "{} with {}", keys.spec(), predictor);
    Ok(())
}

fn predictors() -> impl Strategy<Value = &'static str> {
    select(vec!["estimate", "perfect", "ruh", "easy++", "sbh"])
}

/// Jobs of minutes that arrive faster than they can run.
fn busy() -> impl Strategy<Value = Workload> {
    let job = (0..60i64, 1..=12u32, select(vec![20i64, 60, 61, 200, 600, 1500]), 1..=5i64, 0..5i32);
    (vec(job, 20..70), 8..=40u32).prop_map(|(drafts, procs)| {
        let mut submit = 17;
        let jobs = drafts.into_iter().map(|(gap, needs, runtime, factor, user)| {
            submit += gap;
            // Some jobs outlive their limits.
            let estimate = if gap % 9 == 0 { runtime / 2 } else { runtime * factor };
            job_of(user, submit, (needs * procs / 20).clamp(1, procs), runtime + gap % 3, estimate.max(1))
        });
        workload(procs, &jobs.collect::<Vec<_>>())
    })
}

fn unix_starts() -> impl Strategy<Value = Option<Time>> {
    select(vec![None, Some(1_000_000_007), Some(-13)])
}

#[test]
fn skipped_passes_and_bit_sets_change_nothing() {
    let deepest = Arc::default();
    let cases = (busy(), keys(), predictors(), unix_starts());
    check(501, 250, cases, |case| equals_the_plain_version(case, &deepest));
    let deepest = deepest.load(Ordering::Relaxed);
    assert!(deepest > 35, "no queue was deeper than {deepest}");
}

#[test]
fn coinciding_events_change_nothing() {
    let short = |workload: &Workload| workload.jobs.iter().all(|job| job.runtime < 4_000);
    let cases = (workloads().prop_filter("the plain version is slow", short), keys(), predictors(), unix_starts());
    check(502, 1000, cases, |case| equals_the_plain_version(case, &Arc::default()));
}

/// The array of each task.
fn arrays_of(workload: &Workload) -> BTreeMap<JobId, u32> {
    let arrays = workload.conditions.arrays.iter().zip(0..);
    arrays.flat_map(|(array, at)| array.tasks.iter().map(move |&task| (JobId(task), at))).collect()
}

/// The sizes of the arrays that have a limit.
fn sizes_of(workload: &Workload) -> BTreeMap<u32, usize> {
    let limited = workload.conditions.arrays.iter().zip(0..).filter(|(array, _)| array.limit.is_some());
    limited.map(|(array, at)| (at, array.tasks.len())).collect()
}

/// Jobs some of which are arrays of up to ten tasks. Some arrays have a limit; some tasks ask for something else, for more time, or come
/// later.
fn with_arrays() -> impl Strategy<Value = Workload> {
    let more = (1..=10usize, proptest::option::weighted(0.3, 1..4u32), 0..8usize, 0..50i64);
    (busy(), vec(proptest::option::weighted(0.35, more), 12..30)).prop_map(|(plain, drafts)| {
        let mut jobs: Vec<Job> = Vec::new();
        let mut arrays: Vec<(Vec<usize>, Option<u32>)> = Vec::new();
        for (job, draft) in plain.jobs.iter().zip(&drafts) {
            let Some((count, limit, odd, varied)) = *draft else {
                jobs.push(*job);
                continue;
            };
            arrays.push(((jobs.len()..jobs.len() + count).collect(), limit));
            for at in 0..count {
                let mut task = *job;
                task.runtime += varied * at as i64;
                if at == odd {
                    match varied % 4 {
                        0 => task.submission.procs = (task.submission.procs + 1).min(plain.procs),
                        1 => task.submission.estimate += 600,
                        2 => task.submission.submit += 40,
                        _ => {}
                    }
                }
                jobs.push(task);
            }
        }
        // A task that comes later has another place.
        let mut order: Vec<usize> = (0..jobs.len()).collect();
        order.sort_by_key(|&at| jobs[at].submission.submit);
        let place = |at: usize| order.iter().position(|&other| other == at).unwrap() as u32;
        let sorted: Vec<Job> = order.iter().map(|&at| jobs[at]).collect();
        let arrays = arrays.into_iter().zip(0..).map(|((tasks, limit), id)| {
            let mut tasks: Vec<u32> = tasks.into_iter().map(place).collect();
            tasks.sort_unstable();
            JobArray { id: format!("{id}"), limit, tasks }
        });
        let arrays: Vec<JobArray> = arrays.collect();
        let of_limited = arrays.iter().zip(0..).filter(|(array, _)| array.limit.is_some()).flat_map(|(array, at)| {
            array.tasks.iter().map(move |&task| (task, Conditions { array: Some(at), ..Conditions::default() }))
        });
        let conditions = Arc::new(LogConditions::new(of_limited.collect(), arrays.clone(), 0));
        Workload { conditions, ..workload(plain.procs, &sorted) }
    })
}

#[test]
fn arrays_have_one_place_in_the_queue() {
    let deepest = Arc::default();
    let cases = (with_arrays(), keys(), predictors(), unix_starts());
    check(503, 120, cases, |case| equals_the_plain_version(case, &deepest));
    let deepest = deepest.load(Ordering::Relaxed);
    assert!(deepest > 60, "no queue was deeper than {deepest}");
}
