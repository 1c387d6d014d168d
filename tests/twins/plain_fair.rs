//! The scheduler `fair` against a slow twin, which follows the words of its definition event by event, with lists and sums over
//! all jobs.

use std::cmp::Reverse;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestCaseResult;
use shadowtime::engine::{self, EngineOptions, Named, RunRecord};
use shadowtime::job::{JobId, Submission};
use shadowtime::predict;
use shadowtime::schedule::{self, Asked, Decisions, Machine, Policy, PolicyEvent, Running, Scheduler, Waiting};
use shadowtime::time::Time;
use shadowtime::trace::{Shaping, Workload, demo_workload, shape};

use crate::plain::{options, predictors, run_with_withdrawals, saturated};
use crate::random::{check, fewer, workloads};
use crate::support;

/// The keys of `fair`.
#[derive(Clone, Copy, Debug)]
struct Keys {
    accounts: &'static str,
    wide: f64,
    urgent: f64,
    scan: &'static str,
}

impl Keys {
    fn spec(&self) -> String {
        let Keys { accounts, wide, urgent, scan } = self;
        format!("fair:accounts={accounts},wide={wide},urgent={urgent},scan={scan}")
    }
}

/// A job in both schedules. `None` is "not yet".
#[derive(Clone, Debug)]
struct PlainJob {
    id: JobId,
    submission: Submission,
    arrival: Time,
    prediction: i64,
    length: i64,
    start: Option<Time>,
    end: Option<Time>,
    cancelled: Option<Time>,
    virtual_start: Option<Time>,
    virtual_end: Option<Time>,
    /// When the stand-in is over.
    stand_in: i64,
    /// How often it was decided that the job goes on: until its estimate, then until its real end.
    goes_on: usize,
}

impl PlainJob {
    fn waits_virtually(&self) -> bool {
        self.virtual_start.is_none() && self.cancelled.is_none()
    }

    fn runs_virtually(&self) -> bool {
        self.virtual_start.is_some() && self.virtual_end.is_none()
    }

    fn area(&self, seconds: i64) -> i128 {
        i128::from(self.submission.procs) * i128::from(seconds)
    }

    /// When something happens to a job that runs virtually.
    fn virtual_event(&self) -> Option<Time> {
        let start = self.virtual_start?;
        match (self.start, self.end) {
            _ if self.cancelled.is_some() => self.cancelled,
            (Some(really), Some(end)) => Some(end.max(start + (end - really))),
            _ if self.goes_on == 0 => Some(start + self.stand_in),
            _ if self.goes_on == 1 => Some(start + self.submission.estimate),
            _ => None,
        }
    }

    /// Where `easy/estimate` expects the end: estimates grow at missed deadlines.
    fn expected_virtual_end(&self, now: Time) -> Time {
        let minutes = [1, 5, 15, 30, 60, 120, 300, 600, 1200, 3000].into_iter().chain(std::iter::repeat(6000));
        let mut end = self.virtual_start.unwrap() + self.submission.estimate;
        for minutes in minutes {
            if end > now {
                break;
            }
            end += 60 * minutes;
        }
        end
    }
}

struct PlainFair {
    keys: Keys,
    procs: u32,
    jobs: Vec<PlainJob>,
    /// The jobs that have arrived or were cancelled since the last pass.
    arrived: Vec<(JobId, Submission)>,
    cancelled: Vec<JobId>,
    deepest: Arc<AtomicUsize>,
    protected: Arc<AtomicUsize>,
}

impl PlainFair {
    fn is_at_least(&self, procs: u32, share: f64) -> bool {
        f64::from(procs) >= share * f64::from(self.procs) - 1e-6
    }

    fn stand_in(&self, job: &PlainJob) -> i64 {
        let ended = || self.jobs.iter().filter(|job| job.end.is_some());
        let over = 1 + ended().map(|job| job.area(job.end.unwrap() - job.start.unwrap())).sum::<i128>();
        let under = 1 + ended().map(|job| job.area(job.prediction)).sum::<i128>();
        let product = i128::from(job.prediction) * over;
        let rounded = product / under + i128::from(2 * (product % under) >= under);
        rounded.max(1).min(job.submission.estimate.into()) as i64
    }

    /// The virtual ends of one instant.
    fn virtual_ends(&mut self, now: Time) -> bool {
        let mut any = false;
        for job in self.jobs.iter_mut().filter(|job| job.runs_virtually()) {
            while job.virtual_event().is_some_and(|event| event <= now) && job.virtual_end.is_none() {
                let virtual_start = job.virtual_start.unwrap();
                let has_gone = job.end.is_some() || job.cancelled.is_some();
                let really = job.start.filter(|_| !has_gone);
                let holds = really.is_some_and(|start| {
                    let is_long = |length: i64| now - start >= length;
                    let past_estimate = job.goes_on == 1 && is_long(job.submission.estimate);
                    start <= virtual_start || is_long(job.prediction) || past_estimate
                });
                if holds {
                    job.goes_on += 1;
                } else {
                    job.virtual_end = Some(now);
                    any = true;
                }
            }
        }
        any
    }

    /// EASY: heads start while they fit, the next has the reservation, and the others are tried in order of arrival.
    fn virtual_pass(&mut self, now: Time) {
        let procs = |job: &PlainJob| i64::from(job.submission.procs);
        let mut ends: Vec<(Time, i64)> = self
            .jobs
            .iter()
            .filter(|job| job.runs_virtually())
            .map(|job| (job.expected_virtual_end(now), procs(job)))
            .collect();
        let mut free = i64::from(self.procs) - ends.iter().map(|end| end.1).sum::<i64>();
        let mut reservation: Option<(Time, i64)> = None;
        for at in 0..self.jobs.len() {
            let job = &self.jobs[at];
            if !job.waits_virtually() {
                continue;
            }
            let (needs, end) = (procs(job), now + job.submission.estimate);
            let starts = match &mut reservation {
                None => needs <= free,
                Some((shadow, extra)) => {
                    let fits_extra = needs <= *extra;
                    let may_start = needs <= free && (end <= *shadow || fits_extra);
                    if may_start && end > *shadow {
                        *extra -= needs;
                    }
                    may_start
                }
            };
            if starts {
                free -= needs;
                ends.push((end, needs));
                self.jobs[at].stand_in = self.stand_in(&self.jobs[at]);
                self.jobs[at].virtual_start = Some(now);
            } else if reservation.is_none() {
                reservation = Some(reserve(&mut ends, free, needs));
            }
        }
    }

    /// The virtual events of the instants before this one, each with its pass.
    fn catch_up(&mut self, now: Time) {
        while let Some(next) =
            self.jobs.iter().filter(|job| job.runs_virtually()).filter_map(|job| job.virtual_event()).min()
            && next < now
        {
            if self.virtual_ends(next) {
                self.virtual_pass(next);
            }
        }
    }

    fn is_owed(&self, job: &PlainJob, now: Time) -> bool {
        let user: Vec<&PlainJob> =
            self.jobs.iter().filter(|other| other.submission.user == job.submission.user).collect();
        let until = |job: &PlainJob, end: Option<Time>| {
            end.into_iter().chain(job.cancelled).chain([now]).min().unwrap() - job.arrival
        };
        let real: i64 = user.iter().map(|job| until(job, job.start)).sum();
        let virtually: i64 = user.iter().map(|job| until(job, job.virtual_start)).sum();
        // A < -(0.05 B + 30 s x jobs), times 20.
        let is_behind = 20 * (virtually - real) < -(virtually + 600 * user.len() as i64);
        self.keys.accounts == "users" && job.virtual_start.is_some() && is_behind
    }

    fn is_protected(&self, id: JobId, now: Time) -> bool {
        let job = &self.jobs[id.index()];
        let waits = self.jobs.iter().filter_map(|job| Some(job.virtual_start? - job.submission.submit));
        let longest = waits.max().unwrap_or(0);
        let has_waited = job.virtual_start.is_some() && now - job.submission.submit >= longest;
        let first = self.jobs.iter().find(|job| job.waits_virtually());
        let is_next = first.is_some_and(|first| first.id == id);
        self.is_owed(job, now) || has_waited || (is_next && self.is_at_least(job.submission.procs, self.keys.urgent))
    }

    /// The place of a job among those that are tried.
    fn place(&self, job: &Waiting, now: Time) -> (u32, i64) {
        let plain = &self.jobs[job.id.index()];
        if self.is_at_least(job.procs, self.keys.wide) {
            return (0, -i64::from(job.procs));
        }
        if self.is_owed(plain, now) {
            return (1, plain.virtual_start.unwrap());
        }
        match self.keys.scan {
            "spf" => (2, job.length),
            _ => (2, (0..).find(|i| job.length <= 60 * 4i64.pow(*i)).unwrap().into()),
        }
    }

    fn real_pass(&mut self, machine: &Machine, starts: &mut Vec<JobId>) {
        let now = machine.now;
        let counted = |job: &Running| {
            let plain = &self.jobs[job.id.index()];
            let end = plain.start.unwrap() + plain.submission.estimate;
            (if now < end { end } else { job.end }, i64::from(job.procs))
        };
        let mut ends: Vec<(Time, i64)> = machine.running.iter().map(counted).collect();
        let mut free = machine.free();
        let mut queue: Vec<Waiting> = machine.waiting.iter().copied().collect();
        let Some(earliest) = queue.first() else { return };
        let estimate = |job: &Waiting| self.jobs[job.id.index()].submission.estimate;
        let mut start = |job: &Waiting, ends: &mut Vec<(Time, i64)>, free: &mut i64| {
            *free -= i64::from(job.procs);
            ends.push((now + estimate(job), job.procs.into()));
            starts.push(job.id);
        };
        // (1)
        if !self.is_protected(earliest.id, now) {
            queue.retain(|job| {
                let starts = self.is_at_least(job.procs, self.keys.urgent) && i64::from(job.procs) <= free;
                if starts {
                    start(job, &mut ends, &mut free);
                }
                !starts
            });
        }
        // (2)
        while queue.first().is_some_and(|job| i64::from(job.procs) <= free) {
            start(&queue.remove(0), &mut ends, &mut free);
        }
        // (3)
        let Some(head) = queue.first().copied() else { return };
        let (shadow, mut extra) = reserve(&mut ends, free, head.procs.into());
        let is_protected = self.is_protected(head.id, now);
        self.protected.fetch_add(usize::from(is_protected), Ordering::Relaxed);
        let mut rest = queue[1..].to_vec();
        rest.sort_by_key(|job| (self.place(job, now), job.id));
        for job in rest {
            let length = if is_protected { job.length.max(estimate(&job)) } else { job.length };
            let needs = i64::from(job.procs);
            let ends_in_time = now + length <= shadow;
            if needs <= free && (ends_in_time || needs <= extra) {
                extra -= if ends_in_time { 0 } else { needs };
                start(&job, &mut ends, &mut free);
            }
        }
    }
}

/// The shadow time and the extra processors of a job that does not fit.
fn reserve(ends: &mut [(Time, i64)], mut free: i64, needs: i64) -> (Time, i64) {
    ends.sort_unstable_by_key(|&(end, procs)| (end, Reverse(procs)));
    for at in 0..ends.len() {
        free += ends[at].1;
        let is_last = ends.get(at + 1).is_none_or(|next| next.0 > ends[at].0);
        if is_last && free >= needs {
            return (ends[at].0, free - needs);
        }
    }
    unreachable!("every job fits the idle machine")
}

impl Policy for PlainFair {
    fn on(&mut self, event: &PolicyEvent<'_>, machine: &Machine) {
        match *event {
            PolicyEvent::Arrival { id, job, .. } => self.arrived.push((id, *job)),
            PolicyEvent::Change(job) => {
                if let Some(plain) = self.jobs.get_mut(job.id.index()) {
                    (plain.prediction, plain.length) = (job.prediction, job.length);
                }
            }
            PolicyEvent::Clock(now) => self.catch_up(now),
            PolicyEvent::End(id) => self.jobs[id.index()].end = Some(machine.now),
            PolicyEvent::Cancellation(job) => self.cancelled.push(job.id),
            _ => {}
        }
    }

    fn decide(&mut self, machine: &Machine, out: &mut Decisions) {
        if let Asked::VirtualStarts = out.asked {
            self.catch_up(Time::MAX);
            out.virtual_starts = Some(self.jobs.iter().map(|job| job.virtual_start.unwrap_or(Time::MAX)).collect());
            return;
        }
        if !matches!(out.asked, Asked::Pass) {
            return;
        }
        let starts = &mut out.starts;
        let now = machine.now;
        self.deepest.fetch_max(machine.waiting.len(), Ordering::Relaxed);
        let mut is_pass_due = !self.arrived.is_empty();
        for (id, submission) in std::mem::take(&mut self.arrived) {
            let waiting = machine.waiting.get(id).unwrap();
            self.jobs.push(PlainJob {
                id,
                submission,
                arrival: now,
                prediction: waiting.prediction,
                length: waiting.length,
                start: None,
                end: None,
                cancelled: None,
                virtual_start: None,
                virtual_end: None,
                stand_in: 0,
                goes_on: 0,
            });
        }
        for id in std::mem::take(&mut self.cancelled) {
            is_pass_due |= self.jobs[id.index()].waits_virtually();
            self.jobs[id.index()].cancelled = Some(now);
        }
        is_pass_due |= self.virtual_ends(now);
        if is_pass_due {
            self.virtual_pass(now);
        }
        self.real_pass(machine, starts);
        starts.iter().for_each(|id| self.jobs[id.index()].start = Some(now));
    }
}

fn keys() -> impl Strategy<Value = Keys> {
    let shares = || select(vec![0.0, 0.3, 0.5, 0.5, 0.75, 1.0, 1.5]);
    let (accounts, scan) = (select(vec!["off", "users", "users"]), select(vec!["buckets", "buckets", "spf"]));
    (accounts, shares(), shares(), scan).prop_map(|(accounts, wide, urgent, scan)| Keys {
        accounts,
        wide,
        urgent,
        scan,
    })
}

fn run(workload: &Workload, scheduler: Scheduler, predictor: &str, options: EngineOptions) -> RunRecord {
    let spec = predict::catalog::parse(predictor).unwrap();
    let predictor = Named { name: predictor.to_string(), value: predict::catalog::build(&spec) };
    engine::run(workload.procs, &workload.jobs, scheduler, predictor, options, &mut |_| ()).unwrap()
}

/// What was seen in all runs, so that a test which tries nothing fails.
#[derive(Default)]
struct Seen {
    deepest: Arc<AtomicUsize>,
    protected: Arc<AtomicUsize>,
}

impl Seen {
    fn twin(&self, keys: Keys, workload: &Workload) -> Scheduler {
        let twin = Scheduler::new(PlainFair {
            keys,
            procs: workload.procs,
            jobs: Vec::new(),
            arrived: Vec::new(),
            cancelled: Vec::new(),
            deepest: self.deepest.clone(),
            protected: self.protected.clone(),
        });
        Scheduler { follows_clock: true, answers: true, ..twin }
    }
}

fn fast(keys: Keys, workload: &Workload) -> Scheduler {
    schedule::catalog::build(&schedule::catalog::parse(&keys.spec()).unwrap(), &support::facts(&workload.jobs))
}

type Case = (Workload, Keys, &'static str, EngineOptions);

fn equals_the_twin((workload, keys, predictor, options): Case, seen: &Seen) -> TestCaseResult {
    let slow = run(&workload, seen.twin(keys, &workload), predictor, options);
    let fast = run(&workload, fast(keys, &workload), predictor, options);
    prop_assert!(slow.virtual_starts.as_ref().is_some_and(|starts| starts.iter().all(|&start| start < Time::MAX)));
    prop_assert_eq!(fast.virtual_starts, slow.virtual_starts, "{} with {}", keys.spec(), predictor);
    prop_assert_eq!(fast.outcomes, slow.outcomes, "{} with {}", keys.spec(), predictor);
    Ok(())
}

#[test]
fn fair_equals_its_twin() {
    let seen = Seen::default();
    check(31, 700, (workloads(), keys(), predictors(), options()), |case| equals_the_twin(case, &seen));
    assert!(seen.protected.load(Ordering::Relaxed) > 100);
}

/// A part of the log in which a new job starts before all that wait, because it is wide enough to be urgent.
#[test]
fn fair_equals_its_twin_on_the_embedded_log() {
    let workload = shape(demo_workload(), &Shaping { first: Some(1500), ..Shaping::default() }).unwrap();
    let keys = Keys { accounts: "off", wide: 0.3, urgent: 0.2, scan: "buckets" };
    equals_the_twin((workload, keys, "estimate", EngineOptions::default()), &Seen::default()).unwrap();
}

#[test]
fn fair_equals_its_twin_on_deep_queues() {
    let seen = Seen::default();
    check(32, fewer(40), (saturated(), keys(), predictors(), options()), |case| equals_the_twin(case, &seen));
    assert!(seen.deepest.load(Ordering::Relaxed) > 100);
}

#[test]
fn fair_equals_its_twin_if_jobs_are_withdrawn() {
    let seen = Seen::default();
    check(33, 300, (workloads(), keys(), predictors(), 1..5u32), |(workload, keys, predictor, withdrawn)| {
        let run =
            |policy| run_with_withdrawals(&workload, policy, predictor, EngineOptions::default(), (withdrawn, 0)).0;
        prop_assert_eq!(
            run(fast(keys, &workload)),
            run(seen.twin(keys, &workload)),
            "{} with {}",
            keys.spec(),
            predictor
        );
        Ok(())
    });
}
