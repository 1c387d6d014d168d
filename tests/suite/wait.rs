//! Predictions of waits: nothing of the future enters them, whoever tells the events they are the same, and the command
//! says what it did.

use shadowtime::experiment::{Setting, simulate};
use shadowtime::job::{Job, JobId, Submission};
use shadowtime::wait::{Evaluation, Happening, Learning, Method, Plan, Schedule, WaitPredictor, evaluate, happenings};

use crate::support::{job_of, workload};

/// Plain pseudo-random numbers.
struct Draw(u64);

impl Draw {
    fn below(&mut self, below: i64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % below as u64) as i64
    }
}

/// A busy machine of 64 processors under EASY: waits from nothing to days.
fn busy(count: usize) -> (Vec<Job>, Vec<i64>) {
    let mut draw = Draw(11);
    let mut submit = 0;
    let jobs: Vec<Job> = (0..count)
        .map(|_| {
            // Several at a time now and then.
            submit += [0, draw.below(2400), draw.below(7000)][draw.below(3) as usize];
            let runtime = 60 + draw.below(3 * 3600);
            let procs = 1 << draw.below(7);
            job_of(draw.below(5) as i32, submit, procs, runtime, runtime + draw.below(7200))
        })
        .collect();
    let workload = workload(64, &jobs);
    let record = simulate(&workload, &Setting::parse("easy", "estimate").unwrap(), &mut |_| ()).unwrap();
    let starts = record.outcomes.iter().map(|outcome| outcome.start.unwrap()).collect();
    (workload.jobs, starts)
}

fn methods() -> Vec<Method> {
    let specs = ["knn", "knn:point=linear", "knn:point=rbf", "ibl", "qbets", "simulate:predictor=ruh"];
    specs.iter().map(|spec| Method::parse(spec).unwrap()).collect()
}

fn plan(threads: usize) -> Plan {
    let learning = Learning { history: 150, first: 200, every: 60, seed: 1 };
    Plan { learning, most: 130, regression_every: 3, threads }
}

fn evaluation(jobs: &[Job], starts: &[i64], threads: usize) -> Evaluation {
    evaluate(&Schedule { jobs, starts, procs: 64 }, &methods(), &plan(threads), &|_, _, _| ()).unwrap()
}

/// What was said of a job: by each method, and the rest.
fn said(evaluation: &Evaluation, at: usize) -> (Vec<Option<f64>>, Vec<f64>, bool, usize) {
    let judged = &evaluation.jobs[at];
    let points = evaluation.points.iter().map(|(_, points)| points[at]).collect();
    (points, judged.probabilities.to_vec(), judged.quick, judged.similar)
}

/// Everything that is not known when a job comes is drawn anew: its own wait, those of all that have not started, the
/// ends of all that run, and whoever comes later. Nothing that is said of the job may change.
#[test]
fn the_future_does_not_matter() {
    let (jobs, starts) = busy(400);
    let truth = evaluation(&jobs, &starts, 1);
    assert_eq!((truth.jobs.len(), truth.learned), (130, 3));
    let mut draw = Draw(23);
    for at in [0, 1, 17, 59, 60, 61, 99, 129] {
        let id = truth.jobs[at].id.index();
        let now = jobs[id].submission.submit;
        let (mut changed, mut new_starts) = (jobs.clone(), starts.clone());
        for (other, job) in changed.iter_mut().enumerate() {
            // At one instant, those before it in the log have arrived and may have started.
            let started = starts[other] < now || (starts[other] == now && other < id);
            if other > id {
                let submission =
                    Submission::new(now + 1 + other as i64 * 50, 1 + draw.below(64) as u32, 1 + draw.below(9999));
                *job = Job { submission, runtime: 1 + draw.below(9999), ..*job };
                new_starts[other] = submission.submit + draw.below(99_999);
            } else if !started {
                new_starts[other] = now + 1 + draw.below(200_000);
                job.runtime = 1 + draw.below(99_999);
            } else if starts[other] + job.runtime > now {
                job.runtime = now - starts[other] + 1 + draw.below(99_999);
            }
        }
        let other = evaluation(&changed, &new_starts, 1);
        assert_eq!(said(&other, at), said(&truth, at), "job {id}");
        assert_ne!(other.jobs[at].wait, truth.jobs[at].wait, "the future is another");
    }
}

/// What is known does matter: else the test above would prove nothing.
#[test]
fn the_past_does_matter() {
    let (jobs, starts) = busy(400);
    let truth = evaluation(&jobs, &starts, 2);
    // Waits are three times as long, everything else as it was.
    let longer: Vec<i64> =
        jobs.iter().zip(&starts).map(|(job, start)| start + 2 * (start - job.submission.submit)).collect();
    let other = evaluation(&jobs, &longer, 2);
    let changed = |method: usize| {
        let points = truth.points[method].1.iter().zip(&other.points[method].1);
        points.filter(|(a, b)| a.is_some() && a != b).count()
    };
    for (method, least) in [(0, 100), (1, 30), (2, 30), (3, 100), (4, 80), (5, 40)] {
        assert!(changed(method) >= least, "{}: {}", methods()[method].name(), changed(method));
    }
}

#[test]
fn threads_change_nothing() {
    let (jobs, starts) = busy(400);
    let one = evaluation(&jobs, &starts, 1);
    let three = evaluation(&jobs, &starts, 3);
    for at in 0..one.jobs.len() {
        assert_eq!(said(&one, at), said(&three, at));
    }
}

/// A site that is told of events as they come says what the walk over the whole schedule says, and says it as often as
/// it is asked.
#[test]
fn told_step_by_step_it_is_the_same() {
    let (jobs, starts) = busy(400);
    let schedule = Schedule { jobs: &jobs, starts: &starts, procs: 64 };
    let whole = evaluation(&jobs, &starts, 2);
    let mut site = WaitPredictor::new(64, plan(1).learning, 2);
    let mut asked = 0;
    for (now, id, happening) in happenings(&schedule) {
        let job = &jobs[id.index()].submission;
        match happening {
            Happening::Arrival => {
                if let Some(judged) = whole.jobs.get(asked).filter(|judged| judged.id == id) {
                    let prediction = site.predict(job, now).unwrap();
                    assert_eq!(site.predict(job, now), Some(prediction.clone()));
                    assert_eq!(Some(prediction.point), whole.points[0].1[asked]);
                    assert_eq!(prediction.probabilities, judged.probabilities);
                    assert_eq!((prediction.quick, prediction.similar), (judged.quick, judged.similar));
                    // Two ranges that are sure together, and a wait between the shortest and the longest there are.
                    let two = prediction.two();
                    assert!((two[0].1 + two[1].1 - 1.0).abs() < 1e-12 && two[0].1 >= two[1].1);
                    let means: Vec<f64> =
                        two.map(|(class, _)| prediction.mean_waits[class.index()].unwrap_or(class.midpoint())).to_vec();
                    let expected = prediction.expected_wait();
                    assert!(expected >= means[0].min(means[1]) - 1e-6 && expected <= means[0].max(means[1]) + 1e-6);
                    asked += 1;
                }
                site.on_arrival(id, job, now);
                // A job that is withdrawn again leaves no trace.
                let ghost = JobId(1_000_000 + id.0);
                if asked % 7 == 3 && id.0 % 2 == 0 {
                    let mut other = site.clone();
                    other.on_cancellation(id);
                    assert_eq!(other.state().waiting().len() + 1, site.state().waiting().len());
                    other.on_cancellation(ghost);
                    other.on_start(ghost, now);
                    other.on_end(ghost, now);
                    assert_eq!(other.known(), site.known());
                }
            }
            Happening::Start => site.on_start(id, now),
            Happening::End => site.on_end(id, now),
        }
    }
    assert_eq!(asked, 130);
}

/// A forward simulation that knows the scheduler and the runtimes of a machine is right as long as nobody comes later
/// who overtakes: under FCFS nobody does.
#[test]
fn under_fcfs_a_forward_simulation_with_true_runtimes_is_right() {
    let (mut jobs, _) = busy(300);
    for job in &mut jobs {
        job.submission.estimate = job.runtime;
    }
    let workload = workload(64, &jobs);
    let setting = Setting::parse("fcfs", "estimate").unwrap();
    let record = simulate(&workload, &setting, &mut |_| ()).unwrap();
    let starts: Vec<i64> = record.outcomes.iter().map(|outcome| outcome.start.unwrap()).collect();
    let schedule = Schedule { jobs: &jobs, starts: &starts, procs: 64 };
    let waits = shadowtime::wait::forward_waits(&schedule, &setting, 0..300, &|_| ()).unwrap();
    let expected: Vec<i64> = (0..300).map(|id| schedule.wait(JobId(id))).collect();
    assert_eq!(waits, expected);
    assert!(expected.iter().filter(|&&wait| wait > 3600).count() > 100);
}
