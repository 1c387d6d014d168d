//! Predictions of waits: they do not depend on the future, they are the same for live events and for a whole schedule, and
//! the command reports what it did.

use shadowtime::experiment::{Setting, simulate};
use shadowtime::job::{Job, JobId, Submission};
use shadowtime::wait::{
    Evaluation, EvaluationPlan, ForwardPlans, ForwardSetting, Learning, SimulatedJobs, SiteHandler, SiteSchedule,
    WaitMethod, WaitPredictor, evaluate, forward_waits,
};

use crate::site_events::{Happening, happenings};
use crate::support::{assert_golden, job_of, sim, sim_ok, workload};

/// The waits by one simulation each.
fn simulated_waits(schedule: &SiteSchedule<'_>, forward: &ForwardSetting, range: std::ops::Range<usize>) -> Vec<i64> {
    let jobs = SimulatedJobs::arrivals(range, 1);
    let samples = forward_waits(schedule, forward, &jobs, (1, 2), &|_| ()).unwrap();
    samples.arrivals.iter().map(|sample| sample.median()).collect()
}

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
            // Sometimes several at one time.
            submit += [0, draw.below(2400), draw.below(7000)][draw.below(3) as usize];
            let runtime = 60 + draw.below(3 * 3600);
            let procs = 1 << draw.below(7);
            job_of(draw.below(5) as i32, submit, procs, runtime, runtime + draw.below(7200))
        })
        .collect();
    let workload = workload(64, &jobs);
    let record = simulate(&workload, &Setting::parse("easy", "estimate").unwrap(), &mut |_| ()).unwrap();
    let starts = record.outcomes.iter().map(|outcome| outcome.start.get().unwrap()).collect();
    (workload.jobs, starts)
}

fn methods() -> Vec<WaitMethod> {
    let specs = [
        "knn",
        "knn:point=linear",
        "knn:point=rbf",
        "ibl",
        "qbets",
        "simulate:predictor=ruh",
        "downey",
        "knn:distance=sum",
    ];
    specs.iter().map(|spec| WaitMethod::parse(spec).unwrap()).collect()
}

fn plan(threads: usize) -> EvaluationPlan {
    let learning = Learning { history: 150, first: 200, every: 60, seed: 1 };
    EvaluationPlan { learning, most: 130, regression_every: 3, probabilities: true, threads }
}

fn evaluation(jobs: &[Job], starts: &[i64], threads: usize) -> Evaluation {
    evaluate(&SiteSchedule::new(&workload(64, jobs), starts), &methods(), &plan(threads), &|_, _, _| ()).unwrap()
}

/// The predictions for a job: of each method, and the other results.
fn said(evaluation: &Evaluation, at: usize) -> (Vec<Option<f64>>, Vec<f64>, bool, usize) {
    let judged = &evaluation.jobs[at];
    let points = evaluation.answers.iter().map(|(_, answers)| answers[at].map(|answer| answer.point)).collect();
    (points, judged.probabilities.to_vec(), judged.quick, judged.similar)
}

/// Everything that is unknown when a job arrives is drawn again: its own wait, the waits of all jobs that have not started,
/// the ends of running jobs, and all later jobs. The predictions for the job must not change.
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

/// Everything computed again from the definitions: waiting and running jobs are searched among all jobs, and no state is
/// kept.
#[test]
fn similar_jobs_are_those_of_the_definitions() {
    let (jobs, starts) = busy(400);
    let found = evaluation(&jobs, &starts, 2);
    let features = |target: usize| -> Vec<f64> {
        let Submission { submit: now, procs, estimate, .. } = jobs[target].submission;
        let own = (procs, estimate, i64::from(procs) * estimate);
        let (mut queue, mut machine) = (Vec::new(), Vec::new());
        for (job, start) in jobs[..target].iter().zip(&starts) {
            let Submission { procs, estimate, .. } = job.submission;
            let asks = (procs, estimate, i64::from(procs) * estimate);
            if *start > now {
                queue.push((asks, asks.2));
            } else if start + job.runtime > now {
                machine.push((asks, i64::from(procs) * (estimate - (now - start)).max(0)));
            }
        }
        type Asked = ((u32, i64, i64), i64);
        let lower: [&dyn Fn(&&Asked) -> bool; 3] =
            [&|(asks, _)| asks.0 < own.0, &|(asks, _)| asks.1 < own.1, &|(asks, _)| asks.2 < own.2];
        let above: [&dyn Fn(&&Asked) -> bool; 3] =
            [&|(asks, _)| asks.0 > own.0, &|(asks, _)| asks.1 > own.1, &|(asks, _)| asks.2 > own.2];
        // The place in a sorted list that is entered behind equals.
        let rank = |jobs: &[Asked], by: usize| (jobs.len() - jobs.iter().filter(above[by]).count() + 1) as i64;
        let work = |jobs: &[Asked], by: usize| jobs.iter().filter(lower[by]).map(|job| job.1).sum::<i64>();
        let all = |jobs: &[Asked]| [jobs.iter().map(|job| job.1).sum::<i64>(), jobs.len() as i64];
        let mut numbers = vec![i64::from(procs), estimate];
        for jobs in [&queue, &machine] {
            numbers.extend((0..3).map(|by| rank(jobs, by)));
            numbers.extend(all(jobs));
            numbers.extend((0..3).map(|by| work(jobs, by)));
        }
        numbers.push(machine.iter().map(|job| i64::from(job.0.0)).sum());
        numbers.into_iter().map(|number| number as f64).collect()
    };
    let all: Vec<Vec<f64>> = (0..400).map(features).collect();
    let wait = |id: usize| (starts[id] - jobs[id].submission.submit) as f64;
    for (at, judged) in found.jobs.iter().enumerate() {
        let (id, now) = (judged.id.index(), jobs[judged.id.index()].submission.submit);
        let mut past: Vec<usize> =
            (0..400).filter(|&other| starts[other] < now || (starts[other] == now && other < id)).collect();
        past.sort_by_key(|&other| (starts[other], wait(other) == 0.0, other));
        let past = &past[past.len().saturating_sub(150)..];
        let distance = |other: usize| {
            let pairs = all[id].iter().zip(&all[other]).filter(|(x, y)| **x + **y > 0.0);
            pairs.map(|(x, y)| (x - y).abs() / (x + y)).sum::<f64>() / 19.0
        };
        let printed_distance = |other: usize| {
            let apart: f64 = all[id].iter().zip(&all[other]).map(|(x, y)| (x - y).abs()).sum();
            apart / (all[id].iter().sum::<f64>() + all[other].iter().sum::<f64>())
        };
        let (similar, expected) = by_similar(past, &distance, &wait);
        assert_eq!(judged.similar, similar, "job {id}");
        assert!((found.answers[0].1[at].unwrap().point - expected).abs() < 1e-6, "job {id}");
        let (_, expected) = by_similar(past, &printed_distance, &wait);
        assert!((found.answers[7].1[at].unwrap().point - expected).abs() < 1e-6, "job {id}");
    }
}

/// The number of jobs within the first multiple of 0.05 that has any, and their mean wait weighted by inverse distance.
fn by_similar(past: &[usize], distance: &dyn Fn(usize) -> f64, wait: &dyn Fn(usize) -> f64) -> (usize, f64) {
    let within = |radius: f64| past.iter().filter(|&&other| distance(other) <= radius).copied().collect::<Vec<_>>();
    let similar = (1..=20).map(|step| within(f64::from(step) / 20.0)).find(|similar| !similar.is_empty()).unwrap();
    let equal: Vec<f64> = similar.iter().filter(|&&other| distance(other) == 0.0).map(|&other| wait(other)).collect();
    let expected = match equal.is_empty() {
        false => equal.iter().sum::<f64>() / equal.len() as f64,
        true => {
            let weights = similar.iter().map(|&other| 1.0 / distance(other)).sum::<f64>();
            similar.iter().map(|&other| wait(other) / distance(other)).sum::<f64>() / weights
        }
    };
    (similar.len(), expected)
}

/// The known past does change predictions; otherwise the test above would prove nothing.
#[test]
fn the_past_does_matter() {
    let (jobs, starts) = busy(400);
    let truth = evaluation(&jobs, &starts, 2);
    // Waits are three times as long, everything else as it was.
    let longer: Vec<i64> =
        jobs.iter().zip(&starts).map(|(job, start)| start + 2 * (start - job.submission.submit)).collect();
    let other = evaluation(&jobs, &longer, 2);
    let changed = |method: usize| {
        let points = truth.answers[method].1.iter().zip(&other.answers[method].1);
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

/// A site that gets events one by one predicts the same as the evaluation of the whole schedule, and repeated questions get
/// the same result.
#[test]
fn told_step_by_step_it_is_the_same() {
    let (jobs, starts) = busy(400);
    let workload = workload(64, &jobs);
    let schedule = SiteSchedule::new(&workload, &starts);
    let whole = evaluation(&jobs, &starts, 2);
    let mut site = WaitPredictor::new(64, plan(1).learning, 2);
    let mut asked = 0;
    for (now, id, happening) in happenings(&schedule) {
        let job = &jobs[id.index()].submission;
        match happening {
            Happening::Arrival => {
                if let Some(judged) = whole.jobs.get(asked).filter(|judged| judged.id == id) {
                    let prediction = site.predict_behind(job, &[], now).unwrap();
                    assert_eq!(site.predict_behind(job, &[], now), Some(prediction.clone()));
                    assert_eq!(Some(prediction.point), whole.answers[0].1[asked].map(|answer| answer.point));
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
                    other.on_end(ghost, 0, now);
                    assert_eq!(other.known(), site.known());
                }
            }
            Happening::Start => site.on_start(id, now),
            Happening::End => site.on_end(id, jobs[id.index()].runtime, now),
        }
    }
    assert_eq!(asked, 130);
}

/// A forward simulation with the scheduler and the true runtimes of a machine is exact if no later job overtakes, as under
/// FCFS.
#[test]
fn under_fcfs_a_forward_simulation_with_true_runtimes_is_right() {
    let (mut jobs, _) = busy(300);
    for job in &mut jobs {
        job.submission.estimate = job.runtime;
    }
    let workload = workload(64, &jobs);
    let setting = Setting::parse("fcfs", "estimate").unwrap();
    let record = simulate(&workload, &setting, &mut |_| ()).unwrap();
    let starts: Vec<i64> = record.outcomes.iter().map(|outcome| outcome.start.get().unwrap()).collect();
    let schedule = SiteSchedule::new(&workload, &starts);
    let expected: Vec<i64> = (0..300).map(|id| schedule.wait(JobId(id))).collect();
    for plans in [ForwardPlans::Estimate, ForwardPlans::Prediction] {
        let forward = ForwardSetting { setting: setting.clone(), plans, draws: 0, recalibrate: false };
        assert_eq!(simulated_waits(&schedule, &forward, 0..300), expected);
    }
    assert!(expected.iter().filter(|&&wait| wait > 3600).count() > 100);
}

/// A forward simulation that knows the runtimes, whose scheduler plans by estimates as the machine's does, is right for
/// the last job: nobody comes later. Some jobs outlive their estimates by minutes or hours, so deadlines are missed
/// before and after the job comes.
#[test]
fn a_forward_simulation_plans_like_the_machine() {
    let (mut jobs, _) = busy(260);
    let mut draw = Draw(5);
    for job in &mut jobs {
        if draw.below(3) == 0 {
            job.submission.estimate = 1 + draw.below(job.runtime);
        }
    }
    let mut planned_otherwise = 0;
    for scheduler in ["fcfs", "easy", "sjbf", "conservative"] {
        for count in (60..=260).step_by(8) {
            let workload = workload(64, &jobs[..count]);
            let record = simulate(&workload, &Setting::parse(scheduler, "estimate").unwrap(), &mut |_| ()).unwrap();
            let starts: Vec<i64> = record.outcomes.iter().map(|outcome| outcome.start.get().unwrap()).collect();
            let schedule = SiteSchedule::new(&workload, &starts);
            let last = |plans| {
                let forward = ForwardSetting {
                    setting: Setting::parse(scheduler, "perfect").unwrap(),
                    plans,
                    draws: 0,
                    recalibrate: false,
                };
                simulated_waits(&schedule, &forward, count - 1..count)[0]
            };
            let wait = schedule.wait(JobId(count as u32 - 1));
            assert_eq!(last(ForwardPlans::Estimate), wait, "{scheduler}, {count} jobs");
            planned_otherwise += usize::from(last(ForwardPlans::Prediction) != wait);
        }
    }
    assert!(planned_otherwise > 20, "{planned_otherwise}");
}

/// The rows of a CSV by column name.
fn rows(text: &str) -> Vec<std::collections::BTreeMap<String, String>> {
    csv::Reader::from_reader(text.as_bytes()).deserialize().map(Result::unwrap).collect()
}

#[test]
fn the_command_judges_methods() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let (jobs, confusion, calibration) = (path("jobs.csv"), path("confusion.csv"), path("calibration.csv"));
    let plain = ["wait", "--most", "300", "--retrain", "150", "--history", "800", "--format", "csv"];
    let outs = ["--jobs-out", &jobs, "--confusion-out", &confusion, "--calibration-out", &calibration];
    let methods = ["--method", "knn,ibl:k=4..5,qbets,simulate:predictor=(ruh:window=2,cap=on)"];
    let out = sim_ok(&[&plain[..], &outs, &methods].concat());
    assert!(out.starts_with(
        "method,predictions,ppe_pct,class1_pct,class2_pct,class3_pct,class1_slow_pct,class2_slow_pct,class3_slow_pct,"
    ));
    // The same bytes on one thread, and with the details on standard output.
    assert_eq!(sim_ok(&[&plain[..], &methods, &["--threads", "1"]].concat()), out);
    let piped = sim(&[&plain[..], &methods, &["--jobs-out", "-"]].concat());
    let read = |path: &str| std::fs::read_to_string(path).unwrap();
    assert!(piped.out == read(&jobs) && piped.err.contains("method,predictions,ppe_pct"), "{}", piped.err);
    let figures = rows(&out);
    let names: Vec<&str> = figures.iter().map(|row| row["method"].as_str()).collect();
    assert_eq!(names, ["knn", "ibl:k=4", "ibl:k=5", "qbets", "simulate:predictor=(ruh:window=2,cap=on)"]);
    let jobs = rows(&read(&jobs));
    for row in &figures {
        let number = |name: &str| row[name].parse::<f64>().unwrap();
        assert!(number("class1_pct") <= number("class2_pct") && number("class2_pct") <= number("class3_pct"));
        let own: Vec<_> = jobs.iter().filter(|job| job["method"] == row["method"]).collect();
        assert_eq!((own.len() as f64, number("predictions") + number("unanswered")), (number("predictions"), 300.0));
        // Each figure again from the rows of jobs.
        let share = |right: &dyn Fn(&std::collections::BTreeMap<String, String>) -> bool| {
            own.iter().filter(|job| right(job)).count() as f64 / own.len() as f64 * 100.0
        };
        let one = share(&|job| job["class"] == job["predicted_class"]);
        let two = share(&|job| job["class"] == job["first_class"] || job["class"] == job["second_class"]);
        assert!((one - number("class1_pct")).abs() < 1e-5 && (two - number("class2_pct")).abs() < 1e-5);
        let error = |job: &&std::collections::BTreeMap<String, String>| {
            let [wait, predicted, estimate] =
                ["wait", "predicted", "estimate"].map(|key| job[key].parse::<f64>().unwrap());
            (predicted - wait).abs() / (wait + estimate)
        };
        let ppe = own.iter().map(error).sum::<f64>() / own.len() as f64 * 100.0;
        assert!((ppe - number("ppe_pct")).abs() < 1e-3, "{ppe}");
        let confused = rows(&read(&confusion));
        let confused = confused.iter().filter(|cell| cell["method"] == row["method"]);
        let same = confused.filter(|cell| cell["class"] == cell["predicted_class"]);
        let same: f64 = same.map(|cell| cell["jobs"].parse::<f64>().unwrap()).sum();
        assert!((same / own.len() as f64 * 100.0 - one).abs() < 1e-9);
    }
    let given: u64 = rows(&read(&calibration)).iter().map(|bin| bin["count"].parse::<u64>().unwrap()).sum();
    assert_eq!(given, 300 * 6);
    let people = sim(&["wait", "--most", "100", "--format", "table"]);
    for text in ["note: the log has only 5,000 jobs: predictions begin with job 2,501 ", "100 jobs predicted in"] {
        assert!(people.err.contains(text), "{}", people.err);
    }
    for text in ["waits of replay", "quick starters", "within 1 hour", "90 to 100%"] {
        assert!(people.out.contains(text), "{}", people.out);
    }
}

#[test]
fn the_command_answers_for_one_job() {
    let methods = ["wait", "ask", "--first", "2500", "--method", "knn,ibl,qbets", "--format"];
    let ask = |format: &str| sim_ok(&[&methods[..], &[format, "--job", "procs=16,estimate=2h,user=3"]].concat());
    let people = ask("table");
    for text in ["16 processors for 2h 00m", "%: ", "similar job", "ibl: ", "qbets: at most ", "within the hour"] {
        assert!(people.contains(text), "{people}");
    }
    assert!(!people.contains("it waited"));
    let row = &rows(&ask("csv"))[0];
    let number = |name: &str| row[name].parse::<f64>().unwrap();
    assert!((number("first_probability") + number("second_probability") - 1.0).abs() < 2e-6);
    assert_eq!((&*row["job"], &*row["wait"], number("procs")), ("", "", 16.0));
    // For a job of the log, its recorded wait is printed too, but not for a simulated schedule.
    let at = |more: &[&str]| rows(&sim_ok(&[&methods[..], &["csv", "--at", "2400"], more].concat()))[0].clone();
    let (log, fcfs) = (at(&[]), at(&["--scheduler", "fcfs"]));
    assert!(log["job"] == "2400" && fcfs["job"] == "2400" && !log["wait"].is_empty());
    assert_ne!((&log["waiting"], &log["predicted"]), (&fcfs["waiting"], &fcfs["predicted"]));
}

/// The figures of every method, the confusion of classes, the calibration of probabilities, and answers for one job.
#[test]
fn golden_figures_of_every_method() {
    let methods = "knn,knn:point=linear,knn:point=rbf,knn:point=polynomial,ibl,ibl:k=20,qbets,qbets:quantile=0.5,\
                   simulate,simulate:predictor=ruh,scheduler=fcfs,knn:distance=sum,simulate:predictor=ruh,\
                   simulate:predictor=ruh,plans=prediction,\
                   simulate:draws=20,simulate:draws=20,recalibrate=on";
    let downey = "downey,downey:predictor=a,downey:predictor=b,downey:predictor=exact";
    let part = ["--first", "1600", "--begin", "1201", "--most", "240", "--retrain", "100", "--history", "600"];
    let judge = [&["wait", "--format", "csv", "--regression-every", "8"], &part[..]].concat();
    let mut text = sim_ok(&[&judge[..], &["--method", methods]].concat());
    // Downey's way has an answer for jobs that find an empty queue.
    text += &sim_ok(&[&judge[..], &["--method", downey, "--scheduler", "easy", "--load", "0.5"]].concat());
    text += &sim_ok(&[&judge[..], &["--method", "knn,ibl", "--confusion-out", "-"]].concat());
    text += &sim_ok(&[&judge[..], &["--method", "knn", "--calibration-out", "-"]].concat());
    for question in
        [&["--at", "1500"][..], &["--at", "700", "--scheduler", "sjbf"], &["--job", "procs=60,estimate=6h,user=3"]]
    {
        let shared = [
            "wait",
            "ask",
            "--format",
            "csv",
            "--first",
            "1600",
            "--history",
            "400",
            "--method",
            "knn,ibl,qbets,simulate",
        ];
        text += &sim_ok(&[&shared[..], question].concat());
    }
    assert_golden("wait.csv", &text);
}

#[test]
fn bad_questions_are_refused() {
    for (arguments, message) in [
        (&["--method", "knm"][..], "the methods are knn, ibl, qbets, downey, simulate"),
        (&["--scheduler", "esay"], "the schedulers are"),
        (&["--job", "procs=0,estimate=1h"], "at least procs=1 and estimate=1s"),
        (&["--job", "procs=4"], "at least procs=1 and estimate=1s"),
        (&["--job", "procs=4,estimate=1h,color=red"], "no key 'color'"),
        (&["--job", "procs=4,procs=8,estimate=2h"], "the key 'procs' is given twice"),
        (&["--job", "procs=4000,estimate=1h"], "procs=4000 is more than the machine has (128)"),
        (&["--method", "ibl:k=1-3"], "k: '1-3' is not a whole number of at least 1"),
        (&["--at", "999999"], "no job 999999"),
        (&["--at", "1", "--method", "knn"], "no job has started before this one"),
        (&["--job", "procs=4,estimate=1h,user=bob"], "user: 'bob' is not a whole number"),
        (&["--queue", "no/such/queue"], "--queue needs the log of the site's past jobs"),
        (&["--queue", "q", "--method", "knn"], "cannot be used with"),
        (&["--now", "2026-01-31T12:00:00", "--at", "1"], "--queue <FILE>"),
        (&["--queue", "q", "--predictor", "ruh"], "cannot be used with"),
        (&["--draws", "30"], "required arguments were not provided"),
        (&["--at", "3", "--draws", "30", "--method", "knn"], "cannot be used with"),
        (&["--queue", "q", "--now", "soon"], "'soon' is not a time such as 2026-01-31T12:00:00"),
        (&["--at", "1", "--job", "procs=1,estimate=1"], "cannot be used with"),
        (&["--at", "1", "--most", "5"], "unexpected argument '--most'"),
        (&["--begin", "6000"], "--begin leaves no job to predict: the log has 5,000 jobs"),
        (&["--first", "1"], "--begin leaves no job to predict: the log has 1 job"),
        (&["--history", "0"], "0 is not in 1.."),
        (&["--jobs-out", "-", "--confusion-out", "-"], "--jobs-out '-' and --confusion-out '-' go to the same place"),
        (&["--trace", "no/such/log"], "cannot open no/such/log"),
        (&["log.swf", "--user", "ann"], "'--user' is now sim wait ask LOG --user NAME"),
    ] {
        let is_question = ["--at", "--job", "--queue", "--draws"].iter().any(|word| arguments.contains(word));
        let ran = sim(&[if is_question { &["wait", "ask"][..] } else { &["wait"] }, arguments].concat());
        assert_eq!(ran.code, 2, "{arguments:?}: {}", ran.err);
        assert!(ran.err.contains(message) && ran.out.is_empty(), "{arguments:?}: {}", ran.err);
    }
}
