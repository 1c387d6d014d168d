//! Several sites with one stream of jobs: computed by hand, against a slow reference, and invariants on random systems.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use proptest::collection::vec;
use proptest::prelude::*;
use rand::RngExt;
use shadowtime::engine::{Event, Observer};
use shadowtime::experiment::{Setting, simulate};
use shadowtime::job::{Job, JobId, Submission};
use shadowtime::rng::stream;
use shadowtime::schedule::Machine;
use shadowtime::time::Time;
use shadowtime::trace::{Workload, demo_workload};
use shadowtime_studies::meta::{
    DispatchPolicy, LEAST_STARTS, MetaRecord, MetaSystem, Site, SiteWaitPredictor, run, run_with,
};
use shadowtime_studies::wait::Learning;

use crate::random::{check, workloads};
use crate::slow_waits::SlowSite;
use crate::support::{job, job_of, workload};

const POLICIES: [&str; 6] =
    ["static", "least-loaded", "k-distributed", "k-distributed:k=1", "redundant", "least-predicted"];

fn site(name: &str, workload: Workload, pair: &str) -> Site {
    Site { name: name.to_string(), workload, setting: Setting::parse_pair(pair).unwrap() }
}

fn run_by(system: &MetaSystem, policy: &str) -> MetaRecord {
    run(system, &DispatchPolicy::parse(policy).unwrap(), &mut |_| ()).unwrap()
}

/// Where each job of the stream ran and from when.
fn places(record: &MetaRecord) -> Vec<(usize, Time)> {
    record.sites.iter().zip(&record.outcomes).map(|(&site, outcome)| (site, outcome.start.get().unwrap())).collect()
}

/// Three machines of 4, 8 and 4 processors. In the order of the stream, (submit, processors, runtime = estimate):
///
/// ```text
/// a1 of A: 0, 4, 100    b1 of B: 0, 4, 200    c1 of C: 0, 4, 300
/// a2 of A: 10, 4, 50    a3 of A: 10, 4, 60    b2 of B: 20, 8, 30
/// ```
fn three_sites() -> MetaSystem {
    let exact = |submit, procs, runtime| job(submit, procs, runtime, runtime);
    let a = workload(4, &[exact(0, 4, 100), exact(10, 4, 50), exact(10, 4, 60)]);
    let b = workload(8, &[exact(0, 4, 200), exact(20, 8, 30)]);
    let c = workload(4, &[exact(0, 4, 300)]);
    let sites = [("A", a), ("B", b), ("C", c)].map(|(name, workload)| site(name, workload, "easy/estimate"));
    MetaSystem::new(sites.into()).unwrap()
}

/// A site alone has the shares that the main command gives: those of all users of its log, or those of a file with the numbers
/// of the log.
#[test]
fn a_site_with_fair_share_is_the_main_command() {
    let demo = demo_workload();
    // Twice the load. It begins at an odd instant, so that roundings to minutes of the clock show.
    let submission = |job: &Job| Submission { submit: job.submission.submit / 2 + 1017, ..job.submission };
    let jobs: Vec<Job> = demo.jobs[..800].iter().map(|job| Job { submission: submission(job), ..*job }).collect();
    let (log, first) = (workload(demo.procs, &jobs), jobs[0].submission.submit);
    for keys in ["", ",shares_file=1:5;2:1;3:2", ",halflife=1h,shares=group"] {
        let pair = format!("slurm:order=multifactor,age_weight=500,max_age=2h,fairshare_weight=1000{keys}/estimate");
        let record = simulate(&log, &Setting::parse_pair(&pair).unwrap(), &mut |_| ()).unwrap();
        let alone: Vec<_> = record.outcomes.iter().map(|outcome| outcome.start.get().unwrap() - first).collect();
        // The users of the other site have smaller numbers in the stream.
        let other = site("other", workload(4, &[job(0, 1, 10, 10)]), "easy/estimate").from_time_zero();
        let system = MetaSystem::new(vec![other, site("log", log.clone(), &pair).from_time_zero()]).unwrap();
        let places = places(&run_by(&system, "static"));
        let in_meta: Vec<_> = places.iter().filter(|(site, _)| *site == 1).map(|&(_, start)| start).collect();
        assert_eq!(in_meta, alone, "{keys}");
    }
}

const A: usize = 0;
const B: usize = 1;
const C: usize = 2;

#[test]
fn static_by_hand() {
    let record = run_by(&three_sites(), "static");
    assert_eq!(places(&record), [(A, 0), (B, 0), (C, 0), (A, 100), (A, 150), (B, 200)]);
    assert_eq!((record.queued, record.cancelled), (6, 0));
}

/// Loads when each comes, A, B, C: a1 finds 0, 0, 0 and stays; b1 100, 0, 0; c1 100, 100, 0; a2 90, 95, 290, in A's queue;
/// a3 140, 95, 290, and starts on the four processors that are free at B; b2 fits B alone.
#[test]
fn least_loaded_by_hand() {
    let record = run_by(&three_sites(), "least-loaded");
    assert_eq!(places(&record), [(A, 0), (B, 0), (C, 0), (A, 100), (B, 10), (B, 200)]);
    assert_eq!((record.queued, record.cancelled), (6, 0));
}

/// a1 at A and B. b1: loads 100, 50, 0: at C and B. c1: 100, 150, 200: at A and B. A starts a1, B b1 and c1 side by side.
/// a2: 90, 240, 0: at C and A; a3: 140, 240, 50: the same. C starts a2, and a3 when that ends at 60. b2 waits for c1.
#[test]
fn k_distributed_by_hand() {
    let record = run_by(&three_sites(), "k-distributed");
    assert_eq!(places(&record), [(A, 0), (B, 0), (B, 0), (C, 10), (C, 60), (B, 300)]);
    assert_eq!((record.queued, record.cancelled), (11, 5));
}

/// All but b2 everywhere: A has its pass first and takes a1, B then b1 and c1, which leaves C with nothing until a2.
#[test]
fn redundant_by_hand() {
    let record = run_by(&three_sites(), "redundant");
    assert_eq!(places(&record), [(A, 0), (B, 0), (B, 0), (C, 10), (C, 60), (B, 300)]);
    assert_eq!((record.queued, record.cancelled), (16, 10));
}

/// A cancellation is an event: at 0 B starts y, whose copy was in A's queue before z; A has had its pass by then, has
/// another, and z starts at once.
#[test]
fn who_was_behind_a_cancelled_job_starts_at_the_same_instant() {
    let a = workload(4, &[job(0, 3, 100, 100)]);
    let b = workload(4, &[job(0, 2, 100, 100), job(0, 1, 500, 500)]);
    let system = MetaSystem::new(vec![site("A", a, "fcfs/estimate"), site("B", b, "fcfs/estimate")]).unwrap();
    // x takes 3 of A's 4 processors; y (2) does not fit, and z (1), behind it, may not pass under FCFS.
    let record = run_by(&system, "redundant");
    assert_eq!(places(&record), [(0, 0), (1, 0), (1, 0)], "B takes both before A is looked at again");
    let b = workload(2, &[job(0, 2, 100, 100), job(0, 1, 500, 500)]);
    let a = workload(4, &[job(0, 3, 100, 100)]);
    let system = MetaSystem::new(vec![site("A", a, "fcfs/estimate"), site("B", b, "fcfs/estimate")]).unwrap();
    let record = run_by(&system, "redundant");
    assert_eq!(places(&record), [(0, 0), (1, 0), (0, 0)], "y fills B, and z has A's last processor");
}

/// Users belong to logs: user 1 of B and user 1 of A have separate histories, also on the same machine.
#[test]
fn users_of_different_logs_are_different() {
    let jobs = |runtime| [0, 1000, 2000, 3000, 4000].map(|submit| job(submit, 1, runtime, 900));
    let sites = vec![
        site("A", workload(8, &jobs(10)), "easy/ruh:window=2"),
        site("B", workload(8, &jobs(700)), "easy/ruh:window=2"),
    ];
    let system = MetaSystem::new(sites).unwrap();
    let record = run_by(&system, "redundant");
    assert!(record.sites.iter().all(|&site| site == 0), "A has room for all");
    let predictions: Vec<i64> = record.outcomes.iter().map(|outcome| outcome.prediction).collect();
    assert_eq!(predictions, [900, 900, 900, 900, 10, 700, 10, 700, 10, 700]);
}

#[test]
fn with_one_site_every_policy_is_the_plain_simulation() {
    let pairs = ["easy/estimate", "sjbf/ruh", "sjbf/sbh", "fcfs/perfect", "conservative/estimate", "sjbf/constant"];
    let cases = (workloads(), 0..pairs.len(), 0..POLICIES.len(), 1..3u8);
    check(11, 600, cases, |(workload, pair, policy, pass_on_miss)| {
        let mut setting = Setting::parse_pair(pairs[pair]).unwrap();
        setting.engine.pass_on_miss = pass_on_miss == 1;
        let plain = simulate(&workload, &setting, &mut |_| ()).unwrap();
        let system = MetaSystem::new(vec![Site { name: "only".into(), workload, setting }]).unwrap();
        let record = run_by(&system, POLICIES[policy]);
        prop_assert_eq!(&record.outcomes, &plain.outcomes);
        prop_assert_eq!(record.cancelled, 0);
        Ok(())
    });
}

fn grids() -> impl Strategy<Value = Vec<Workload>> {
    vec(workloads(), 1..=4)
}

fn system_of(workloads: Vec<Workload>, pair: &str) -> MetaSystem {
    let sites = workloads.into_iter().zip(["a", "b", "c", "d"]).map(|(workload, name)| site(name, workload, pair));
    MetaSystem::new(sites.collect()).unwrap()
}

/// Conservation: each job runs once and to its end, where it fits, and no machine runs more than it has.
#[test]
fn nothing_is_lost_and_no_processor_is_used_twice() {
    // Those with keys have indexes of their own, from which cancelled jobs must be removed.
    let pairs = [
        "easy/estimate",
        "sjbf/ruh",
        "conservative/perfect",
        "easy/sbh",
        "easy:queue=spf,scan=saf,reservations=2/kin",
        "easy:scan=lcfs,running=estimate/learned",
        "easy:queue=wfp3,starve=1m/kin",
    ];
    let deepest: Vec<_> = pairs.iter().map(|_| Cell::new(0)).collect();
    let cases = (grids(), any::<bool>(), 0..pairs.len(), 0..POLICIES.len());
    check(12, 4000, cases, |(mut workloads, is_crowded, pair, policy)| {
        if is_crowded {
            workloads.iter_mut().for_each(crowd);
        }
        let system = system_of(workloads, pairs[pair]);
        let record = run_by(&system, POLICIES[policy]);
        if POLICIES[policy] == "redundant" {
            deepest[pair].set(deepest[pair].get().max(most_waiting(&system, &record)));
        }
        prop_assert_eq!(record.outcomes.len(), system.arrivals.len());
        let wide_enough = |procs| system.machines.iter().filter(|machine| machine.procs >= procs).count() as u64;
        let mut most = 0;
        let mut changes = vec![Vec::new(); system.machines.len()];
        for ((arrival, outcome), &site) in system.arrivals.iter().zip(&record.outcomes).zip(&record.sites) {
            let procs = arrival.job.submission.procs;
            let start = outcome.start.get().unwrap();
            prop_assert!(start >= arrival.submit() && procs <= system.machines[site].procs);
            prop_assert!(POLICIES[policy] != "static" || site == arrival.origin);
            changes[site].push((start + arrival.job.runtime, 0, -i64::from(procs)));
            changes[site].push((start, 1, i64::from(procs)));
            most += wide_enough(procs);
        }
        for (machine, mut changes) in system.machines.iter().zip(changes) {
            changes.sort_unstable();
            let mut used = 0;
            for (_, _, change) in changes {
                used += change;
                prop_assert!((0..=i64::from(machine.procs)).contains(&used));
            }
        }
        // Of every job that was queued several times, all but one were cancelled.
        prop_assert_eq!(record.queued - record.cancelled, system.arrivals.len() as u64);
        prop_assert!(POLICIES[policy] != "redundant" || record.queued == most);
        Ok(())
    });
    // The queue of `easy` is indexed from 48 waiting jobs on.
    for (pair, deepest) in pairs.iter().zip(&deepest) {
        assert!(deepest.get() > 60, "{pair}: no queue was deeper than {}", deepest.get());
    }
}

/// Lets the jobs of a workload arrive a thousand times as fast, so that queues are deep.
fn crowd(workload: &mut Workload) {
    workload.jobs.iter_mut().for_each(|job| job.submission.submit /= 1000);
}

/// The largest number of jobs that wait in the system at one time. With `redundant` the widest machine has all of them in
/// its queue.
fn most_waiting(system: &MetaSystem, record: &MetaRecord) -> i64 {
    let starts = record.outcomes.iter().map(|outcome| (outcome.start.get().unwrap(), -1));
    let mut changes: Vec<_> = system.arrivals.iter().map(|arrival| (arrival.submit(), 1)).chain(starts).collect();
    changes.sort_unstable();
    let waiting = changes.iter().scan(0, |waiting, (_, change)| {
        *waiting += change;
        Some(*waiting)
    });
    waiting.max().unwrap_or(0)
}

/// A system of FCFS machines in which everything is a list that is searched at every instant. Also returns how often
/// `least-predicted` decided by the quick-starter test alone, by expected waits among some sites, and among all.
fn slow_places(system: &MetaSystem, policy: &str) -> (Vec<(usize, Time)>, [usize; 3]) {
    let jobs = &system.arrivals;
    let machines = &system.machines;
    let mut queues: Vec<Vec<usize>> = vec![Vec::new(); machines.len()];
    let mut places: Vec<Option<(usize, Time)>> = vec![None; jobs.len()];
    let mut instants: BTreeSet<Time> = jobs.iter().map(|job| job.submit()).collect();
    // The models of `least-predicted`: a site is trained first after 500 jobs, then after every 5,000.
    let learning = Learning { history: 5000, first: 500, every: 5000, seed: 1 };
    let mut known: Vec<SlowSite> = machines.iter().map(|machine| SlowSite::new(machine.procs, learning)).collect();
    let mut known_as = vec![usize::MAX; jobs.len()];
    let mut decided = [0; 3];
    while let Some(now) = instants.pop_first() {
        let runs = |at: usize, place: Option<(usize, Time)>, site| {
            place.is_some_and(|(where_, start)| where_ == site && now < start + jobs[at].job.runtime)
        };
        let (mut came, mut started) = (Vec::new(), Vec::new());
        for (at, arrival) in jobs.iter().enumerate().filter(|(_, arrival)| arrival.submit() == now) {
            let load = |site: usize| {
                let demand = |at: usize| jobs[at].job.submission.estimate * i64::from(jobs[at].job.submission.procs);
                let queued: i64 = queues[site].iter().map(|&at| demand(at)).sum();
                let left = |at: usize| {
                    let (estimate, start) = (jobs[at].job.submission.estimate, places[at].unwrap().1);
                    (start + estimate - now).max(0) * i64::from(jobs[at].job.submission.procs)
                };
                let running: i64 = (0..jobs.len()).filter(|&at| runs(at, places[at], site)).map(left).sum();
                (queued + running) as f64 / f64::from(machines[site].procs)
            };
            let mut sites: Vec<usize> = (0..machines.len()).collect();
            sites.retain(|&site| machines[site].procs >= arrival.job.submission.procs);
            let tie = |site: usize| (site != arrival.origin, site);
            sites.sort_by(|&a, &b| load(a).total_cmp(&load(b)).then(tie(a).cmp(&tie(b))));
            let job = &arrival.job.submission;
            if policy == "least-predicted" && sites.len() > 1 && sites.iter().all(|&site| known[site].starts() >= 500) {
                let quick: Vec<usize> = sites.iter().copied().filter(|&site| known[site].is_quick(job, now)).collect();
                decided[if quick.len() == 1 { 0 } else { 1 + usize::from(quick.is_empty()) }] += 1;
                if !quick.is_empty() {
                    sites = quick;
                }
                if sites.len() > 1 {
                    let wait = |site: usize| known[site].expected_wait(job, now).unwrap();
                    sites.sort_by(|&a, &b| wait(a).total_cmp(&wait(b)).then(tie(a).cmp(&tie(b))));
                }
            }
            match policy {
                "static" => sites = vec![arrival.origin],
                "least-loaded" | "k-distributed:k=1" | "least-predicted" => sites.truncate(1),
                "k-distributed" => sites.truncate(2),
                _ => {}
            }
            sites.iter().for_each(|&site| queues[site].push(at));
            if policy == "least-predicted" {
                known[sites[0]].announce(job);
                came.push((at, sites[0]));
            }
        }
        let mut anything = true;
        while std::mem::take(&mut anything) {
            for site in 0..machines.len() {
                while let Some(&head) = queues[site].first() {
                    let procs = |at: usize| jobs[at].job.submission.procs;
                    let used: u32 = (0..jobs.len()).filter(|&at| runs(at, places[at], site)).map(procs).sum();
                    if used + procs(head) > machines[site].procs {
                        break;
                    }
                    places[head] = Some((site, now));
                    instants.insert(now + jobs[head].job.runtime);
                    queues.iter_mut().for_each(|queue| queue.retain(|&at| at != head));
                    started.push((head, site));
                    anything = true;
                }
            }
        }
        if policy == "least-predicted" {
            // The events of an instant are passed to a site when the instant is over: the starts of jobs that arrived
            // earlier, then the arrivals, each with the state after those starts.
            known.iter_mut().for_each(SlowSite::end_of_instant);
            started.sort_unstable();
            for &(at, site) in started.iter().filter(|(at, _)| jobs[*at].submit() < now) {
                known[site].start(known_as[at], now, jobs[at].job.runtime);
            }
            for (at, site) in came {
                known_as[at] = known[site].arrive(&jobs[at].job.submission, now);
                if started.contains(&(at, site)) {
                    known[site].start(known_as[at], now, jobs[at].job.runtime);
                }
            }
        }
    }
    (places.into_iter().map(Option::unwrap).collect(), decided)
}

#[test]
fn the_clock_agrees_with_a_slow_and_obvious_grid() {
    check(13, 300, (grids(), 0..POLICIES.len()), |(workloads, policy)| {
        let system = system_of(workloads, "fcfs/estimate");
        let record = run_by(&system, POLICIES[policy]);
        prop_assert_eq!(places(&record), slow_places(&system, POLICIES[policy]).0, "{}", POLICIES[policy]);
        Ok(())
    });
}

/// Two or three FCFS machines with waits from nothing to half a day, in busy and in quiet times. Many events coincide.
fn busy_system(seed: u64) -> MetaSystem {
    let mut rng = stream(seed, "busy grid");
    let sizes = [[16, 20, 0], [24, 16, 0], [12, 16, 16]][seed as usize % 3];
    let site_of = |(procs, name): (u32, &str)| {
        let mut submit = 0;
        let jobs: Vec<Job> = (0..700)
            .map(|at| {
                submit += 60 * rng.random_range(0..if at / 60 % 2 == 0 { 11 } else { 30 });
                let longest = [20, 150][rng.random_range(0..2)];
                let runtime = 60 * rng.random_range(1..longest);
                let estimate = [runtime, 2 * runtime, 7200, runtime / 2 + 60][rng.random_range(0..4)];
                job_of(rng.random_range(0..3), submit, rng.random_range(1..=procs / 3), runtime, estimate)
            })
            .collect();
        site(name, workload(procs, &jobs), "fcfs/estimate")
    };
    let sites = sizes.into_iter().zip(["a", "b", "c"]).filter(|(procs, _)| *procs > 0);
    MetaSystem::new(sites.map(site_of).collect()).unwrap()
}

/// Every decision of `least-predicted` by the definitions: whether a site has enough jobs, whether the job is a quick
/// starter, the expected wait, and ties.
#[test]
fn least_predicted_agrees_with_the_definitions() {
    let mut all = [0; 3];
    for seed in 0..4 {
        let system = busy_system(seed);
        let (slow, decided) = slow_places(&system, "least-predicted");
        let fast = places(&run_by(&system, "least-predicted"));
        if let Some(at) = (0..slow.len()).find(|&at| fast[at] != slow[at]) {
            panic!("seed {seed}, job {at}: {:?} for {:?}", fast[at], slow[at]);
        }
        all.iter_mut().zip(decided).for_each(|(all, decided)| *all += decided);
    }
    // All three ways to decide occurred often.
    assert!(all.iter().all(|&times| times >= 200), "{all:?}");
}

/// Time, event and job.
type Told = Arc<Mutex<Vec<(Time, &'static str, u32)>>>;

/// Predicts a fixed wait, and records its events.
struct Stub {
    wait: f64,
    told: Told,
}

impl Stub {
    fn note(&self, time: Time, what: &'static str, id: JobId) {
        self.told.lock().unwrap().push((time, what, id.0));
    }
}

impl Observer for Stub {
    fn on(&mut self, time: Time, event: &Event<'_>, _machine: &Machine) {
        match event {
            Event::Arrival(arrival) => self.note(time, "arrival", arrival.job.id),
            Event::Start(start) => self.note(time, "start", start.job.id),
            Event::End(end) => self.note(time, "end", end.job.id),
            Event::Cancellation(cancellation) => self.note(time, "cancellation", cancellation.job.id),
            _ => {}
        }
    }
}

impl SiteWaitPredictor for Stub {
    fn is_quick(&self, _: &Submission, _: Time) -> bool {
        false
    }

    fn expected_wait(&self, _: &Submission, _: Time) -> Option<f64> {
        Some(self.wait)
    }
}

/// 600 jobs per site, one per second, each of 2 s on half the machine. While a site has fewer than 500 starts the load
/// decides, which sends all home; from then on they go where the least wait is expected, however long the queue.
#[test]
fn least_predicted_waits_for_histories_and_then_asks() {
    let jobs: Vec<Job> = (0..600).map(|submit| job(submit, 2, 2, 2)).collect();
    let sites = ["A", "B", "C"].map(|name| site(name, workload(4, &jobs), "easy/estimate"));
    let system = MetaSystem::new(sites.into()).unwrap();
    let told: Vec<_> = (0..3).map(|_| Arc::new(Mutex::new(Vec::new()))).collect();
    let waits = |machine: &shadowtime_studies::meta::SiteMachine| -> Option<Box<dyn SiteWaitPredictor>> {
        let at = ["A", "B", "C"].iter().position(|name| *name == machine.name).unwrap();
        Some(Box::new(Stub { wait: [50.0, 7.0, 9.0][at], told: told[at].clone() }))
    };
    let record = run_with(&system, &DispatchPolicy::LeastPredicted, &waits, &mut |_| ()).unwrap();
    let last_at_home = 3 * LEAST_STARTS;
    for (at, (&site, arrival)) in record.sites.iter().zip(&system.arrivals).enumerate() {
        assert_eq!(site, if at < last_at_home { arrival.origin } else { 1 }, "job {at}");
    }
    let told = told[1].lock().unwrap();
    assert_eq!(
        told[..6],
        [(0, "arrival", 0), (0, "start", 0), (1, "arrival", 1), (1, "start", 1), (2, "end", 0), (2, "arrival", 2)]
    );
    let count = |what| told.iter().filter(|(_, told, _)| *told == what).count();
    assert_eq!((count("arrival"), count("start"), count("end"), count("cancellation")), (800, 800, 800, 0));
    assert!(told.is_sorted_by_key(|(time, ..)| *time), "in the order of time");
}
