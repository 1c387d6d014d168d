//! Deep queues: the indexed scheduler against a plain scan of the whole queue at every pass, which is the reference.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use shadowtime::engine::{self, EngineOptions, Named, Outcome};
use shadowtime::job::JobId;
use shadowtime::predict;
use shadowtime::schedule::{Easy, Policy, ScanOrder, View};
use shadowtime::time::Time;
use shadowtime::trace::Workload;

use crate::random::check;
use crate::support::{job_of, workload};

/// EASY and SJBF by their definitions, computed at every pass from the whole queue and all running jobs.
struct PlainEasy {
    order: ScanOrder,
    /// The deepest queue seen.
    deepest: std::sync::Arc<std::sync::atomic::AtomicUsize>,
}

impl Policy for PlainEasy {
    fn pass(&mut self, view: &View<'_>, starts: &mut Vec<JobId>) {
        self.deepest.fetch_max(view.waiting.len(), std::sync::atomic::Ordering::Relaxed);
        let mut queue: Vec<_> = view.waiting.iter().copied().collect();
        let mut running: Vec<(Time, i64)> = view.running.iter().map(|job| (job.end, i64::from(job.procs))).collect();
        let mut free = view.free;
        while !queue.is_empty() && i64::from(queue[0].procs) <= free {
            let job = queue.remove(0);
            free -= i64::from(job.procs);
            running.push((view.now + job.length, i64::from(job.procs)));
            starts.push(job.id);
        }
        if queue.is_empty() {
            return;
        }
        let head = i64::from(queue.remove(0).procs);
        running.sort_unstable();
        let (mut sum, mut shadow, mut at) = (free, Time::MAX, 0);
        while sum < head {
            shadow = running[at].0;
            while at < running.len() && running[at].0 == shadow {
                sum += running[at].1;
                at += 1;
            }
        }
        let mut extra = sum - head;
        if self.order == ScanOrder::ShortestPrediction {
            queue.sort_by_key(|job| (job.prediction, job.id));
        }
        for job in queue {
            let procs = i64::from(job.procs);
            let in_time = view.now + job.length <= shadow;
            if procs <= free && (in_time || procs <= extra) {
                free -= procs;
                extra -= if in_time { 0 } else { procs };
                starts.push(job.id);
            }
        }
    }
}

fn run(workload: &Workload, policy: Box<dyn Policy>, predictor: &str, inflate: f64) -> Vec<Outcome> {
    let spec = predict::catalog::parse(predictor).unwrap();
    let options = EngineOptions { inflate, ..EngineOptions::default() };
    let policy = Named { name: "easy".to_string(), value: policy };
    let predictor = Named { name: predictor.to_string(), value: predict::catalog::build(&spec) };
    engine::run(workload.procs, &workload.jobs, policy, predictor, options, &mut |_| ()).unwrap().outcomes
}

/// Hundreds of jobs that arrive much faster than they can run, then a time without arrivals, so that queues fill and empty.
fn saturated() -> impl Strategy<Value = Workload> {
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

#[test]
fn the_index_changes_nothing() {
    let deepest = std::sync::Arc::<std::sync::atomic::AtomicUsize>::default();
    let predictors = select(vec![
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
    ]);
    let orders = select(vec![ScanOrder::Arrival, ScanOrder::ShortestPrediction]);
    let cases = (saturated(), predictors, orders, select(vec![1.0, 1.0, 1.7, 3.0]));
    check(401, 1500, cases, |(workload, predictor, order, inflate)| {
        let plain = PlainEasy { order, deepest: deepest.clone() };
        let expected = run(&workload, Box::new(plain), predictor, inflate);
        prop_assert_eq!(run(&workload, Box::new(Easy::new(order)), predictor, inflate), expected);
        Ok(())
    });
    let deepest = deepest.load(std::sync::atomic::Ordering::Relaxed);
    assert!(deepest > 200, "no queue was deeper than {deepest}");
}
