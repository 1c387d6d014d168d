//! The search for templates: its errors equal those of the engine, it finds templates that fit a constructed log, and the
//! result does not depend on the number of threads.

use std::process::Stdio;

use proptest::prelude::*;
use proptest::sample::select;
use shadowtime::job::{Job, Submission};
use shadowtime::predict::templates::Template;
use shadowtime::search::{Genetic, Judge, SearchLimits, TemplateSpace, compare_predictors, genetic, greedy};
use shadowtime_twins::random::{check, workloads};

use crate::support::{command, real_log, real_logs, sim, sim_ok, workload};

const NO_LIMITS: SearchLimits<'static> =
    SearchLimits { evaluations: None, deadline: None, stopped: &|| false, threads: 2 };

/// The judge takes each template through the log alone and never runs the engine; the engine runs the whole set.
#[test]
fn a_set_is_judged_as_the_engine_judges_it() {
    let template = select(vec![
        "()",
        "(u)",
        "(u,rel)",
        "(e,lr)",
        "(u,e,n=2,rel)",
        "(q,n=4,lr,rel)",
        "(u,h=2)",
        "(e,q,lr,rel,h=5)",
        "(n=1)",
    ]);
    let sets = prop::collection::vec(template, 1..=6).prop_map(|set| set.join(";"));
    check(301, 2000, (workloads(), sets, 0..10usize), |(workload, set, from)| {
        let templates = Template::parse_set(&set).unwrap();
        let counted = from.min(workload.jobs.len() - 1)..workload.jobs.len();
        let judged = Judge::new(&workload.jobs, counted.clone()).score(&templates);
        let predictor = format!("smith:templates={set},at=start");
        let ran = compare_predictors(&workload, &[(predictor, String::new())], counted, None, 1, |_| ()).unwrap();
        prop_assert_eq!(judged, ran[0].score);
        Ok(())
    });
}

/// A log in which the runtime depends on one field only; the others vary at random.
fn planted(runtime: impl Fn(&Submission) -> i64) -> Vec<Job> {
    let mut state = 12345u64;
    let mut draw = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) % below) as i32
    };
    let jobs: Vec<Job> = (0..1500)
        .map(|at| {
            let submission = Submission {
                user: draw(12),
                group: draw(3),
                executable: draw(9),
                queue: draw(5),
                ..Submission::new(at * 100, draw(32) as u32 + 1, 86_400)
            };
            let runtime = runtime(&submission) + i64::from(draw(3));
            Job { recorded_wait: Some(i64::from(draw(500))).into(), ..Job::new(submission, runtime) }
        })
        .collect();
    workload(64, &jobs).jobs
}

#[test]
fn the_greedy_search_finds_the_planted_characteristic() {
    type Runtime = fn(&Submission) -> i64;
    let cases: [(&str, Runtime); 3] = [
        ("(e)", |job| 100 * i64::from(job.executable) * i64::from(job.executable) + 50),
        ("(q)", |job| 3000 * i64::from(job.queue) + 20),
        ("(u)", |job| i64::from((job.user * 7919) % 13) * 400 + 10),
    ];
    for (expected, runtime) in cases {
        let jobs = planted(runtime);
        let space = TemplateSpace::of(&jobs, false, false);
        // The first jobs have no history.
        let judge = Judge::new(&jobs, 200..jobs.len());
        let found = greedy(&judge, &space, &NO_LIMITS, &|_| ()).unwrap();
        // The paper's first step: the template with one characteristic that lowers the error most.
        let first = found.steps.iter().find(|step| step.search == "mean,act" && step.step == 1).unwrap();
        assert_eq!(Template::print_set(&first.templates), format!("();{expected}"));
        assert!(found.score.minutes() < 0.5, "{expected}: {} minutes", found.score.minutes());
        assert!(found.score.error <= judge.score(&Template::parse_set("()").unwrap()).error / 10);
    }
    // Runtimes on a line over processors: a regression finds them, a mean cannot.
    let jobs = planted(|job| 60 * i64::from(job.procs));
    let found =
        greedy(&Judge::new(&jobs, 200..jobs.len()), &TemplateSpace::of(&jobs, false, false), &NO_LIMITS, &|_| ())
            .unwrap();
    let best = |search: &str| {
        let steps = found.steps.iter().filter(|step| step.search == search);
        steps.map(|step| step.best).fold(f64::INFINITY, f64::min)
    };
    assert!(best("lr,act") < best("mean,act") / 10.0);
}

#[test]
fn a_genetic_search_never_gets_worse_and_is_the_same_for_any_number_of_threads() {
    let jobs = planted(|job| 100 * i64::from(job.executable) + i64::from(job.user) * 20 + 10);
    let space = TemplateSpace::of(&jobs, true, true);
    let how = Genetic { population: 12, generations: 15, ..Genetic::default() };
    let search = |threads, seed| {
        let limits = SearchLimits { threads, ..NO_LIMITS };
        let judge = Judge::new(&jobs, 0..jobs.len());
        genetic(&judge, &space, &Genetic { seed, ..how }, &limits, &|_| ()).unwrap()
    };
    let one = search(1, 3);
    // The elite is in every generation, so that its best cannot be worse than the one before.
    assert!(one.steps.windows(2).all(|pair| pair[1].best <= pair[0].best), "{:?}", one.steps);
    assert_eq!(one.steps.len(), 15);
    assert!(one.steps.iter().all(|step| (1..=10).contains(&step.templates.len())));
    assert!(one.steps.iter().all(|step| step.best <= step.mean && step.mean <= step.worst));
    for threads in [2, 5] {
        assert_eq!(search(threads, 3).steps, one.steps);
    }
    assert_ne!(search(1, 4).steps, one.steps);
}

#[test]
fn limits_end_a_search_with_the_best_so_far() {
    let jobs = planted(|job| 100 * i64::from(job.executable) + 10);
    let (space, judge) = (TemplateSpace::of(&jobs, false, false), Judge::new(&jobs, 0..jobs.len()));
    let limited = |evaluations| {
        let limits = SearchLimits { evaluations: Some(evaluations), ..NO_LIMITS };
        greedy(&judge, &space, &limits, &|_| ())
    };
    // The template of all jobs, then one for each of four fields.
    let found = limited(9).unwrap();
    assert_eq!((found.stopped, found.steps.len()), (true, 2));
    assert_eq!(Template::print_set(&found.templates), "();(e)");
    assert!(limited(0).is_none());
    let whole = greedy(&judge, &space, &NO_LIMITS, &|_| ()).unwrap();
    assert!(!whole.stopped && whole.steps.len() > 2);
}

#[test]
fn the_command_writes_templates_that_the_predictor_reads() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let small = ["search", "--population", "8", "--generations", "6", "--seed", "5", "--format", "csv"];
    let search = |out: &str, more: &[&str]| sim_ok(&[&small[..], &["--out", &path(out)], more].concat());
    let table = search("a", &[]);
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows[0][..4], ["name", "jobs", "error_min", "error_pct"]);
    assert_eq!((rows.len(), rows[1][0], rows[1][1]), (10, "best templates", "5000"));
    let text = read("a");
    assert!(text.starts_with("# Templates found by a genetic search of demo, seed 5.\n"), "{text}");
    assert!(text.contains("\nat=start\n("), "{text}");
    // The error of the table is the one that the predictor has on the log's own schedule.
    let predictor = format!("smith:templates=@{}", path("a"));
    let row = sim_ok(&["--scheduler", "replay", "--predictor", &predictor, "--baseline", "none", "--format", "json"]);
    let rows_of_run: Vec<serde_json::Value> = serde_json::from_str(&row).unwrap();
    let row = &rows_of_run[0];
    assert!((row["mae"].as_f64().unwrap() / 60.0 - rows[1][2].parse::<f64>().unwrap()).abs() < 1e-4);
    assert!(row["predictor"].as_str().unwrap().ends_with(",at=start"), "{row}");
    let history = read("a.history.csv");
    assert!(history.starts_with("search,step,evaluations,best_min,mean_min,worst_min,templates\ngenetic,0,8,"));
    assert_eq!(history.lines().count(), 7);
    // The same bytes for any number of threads.
    assert_eq!(search("b", &["--threads", "1"]), table);
    assert_eq!((read("b"), read("b.history.csv")), (text, history));
}

#[test]
fn what_was_learned_by_heart_shows() {
    let options = ["search", "--method", "greedy", "--train", "0.5", "--format", "csv"];
    let table = sim_ok(&options);
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows[0][7..9], ["train_error_min", "train_error_pct"]);
    assert!(rows[1..].iter().all(|row| row[1] == "2500"));
    // The overall mean was not searched for: both its errors are plain ones, and each part has its own.
    let mean = rows.iter().find(|row| row[0] == "overall mean").unwrap();
    assert_ne!(mean[2], mean[7]);
    let people = sim_ok(&["search", "--method", "greedy", "--train", "0.5", "--format", "table"]);
    assert!(people.contains("demo: 2,500 jobs judged, mean runtime "), "{people}");
    assert!(people.contains("searched on:"), "{people}");
}

#[test]
fn bad_searches() {
    for (args, message) in [
        (&["--train", "1"][..], "a share is a number above 0 and below 1"),
        (&["--train", "0.0001", "--first", "10"], "--train leaves no job to search on: there are 10 jobs"),
        (&["--elite", "50"], "--elite 50 must be less than --population 50"),
        (&["--evaluations", "3"], "ended the search before its first step was evaluated"),
        (&["--method", "exhaustive"], "[possible values: greedy, genetic]"),
        (&["--mutation", "2"], "a probability is a number from 0 to 1"),
        (&["--trace", "/no/such/log"], "/no/such/log"),
        (&["--out", "x", "--history-out", "x"], "go to the same place"),
    ] {
        let ran = sim(&[&["search"], args].concat());
        assert!(ran.code == 2 && ran.err.contains(message), "{args:?}: {} {}", ran.code, ran.err);
    }
    for (spec, message) in [
        ("smith:templates=(u,z)", "'z' is not a word of a template"),
        ("smith:templates=@/no/such/file", "templates: cannot read /no/such/file: "),
        ("smith:confidence=100", "not a percentage above 0 and below 100"),
        ("smith:at=end", "not one of arrival, start"),
        ("gibbons:data=abs", "not one of act, rel"),
        ("downey:by=host", "not one of queue, user, executable, none"),
    ] {
        let ran = sim(&["--predictor", spec]);
        assert!(ran.code == 2 && ran.err.contains(message), "{spec}: {} {}", ran.code, ran.err);
    }
    // The pointer is under the word.
    let ran = sim(&["--predictor", "smith:templates=(u,z)"]);
    assert!(ran.err.contains("\n  (u,z)\n     ^"), "{}", ran.err);
}

#[cfg(unix)]
#[test]
fn an_interrupted_search_hands_over_the_best_so_far() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("templates");
    // On a busy machine some seconds may be too short for the first set: then there is none to hand over.
    let interrupted_after = |seconds: &u64| {
        let mut child = command(env!("CARGO_BIN_EXE_sim"))
            .args(["search", "--generations", "1000000", "--mutation", "0.1", "--out"])
            .arg(&out)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(std::time::Duration::from_secs(*seconds));
        assert!(command("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
        let ended = child.wait().unwrap();
        ended.code() == Some(130) && out.exists()
    };
    assert!([2, 20, 200].iter().any(interrupted_after));
    let text = std::fs::read_to_string(&out).unwrap();
    assert!(text.contains("stopped before it was through") && text.contains("\nat=start\n("), "{text}");
}

/// The figures of Smith et al. that our log can be held against: Tables 6 and 10, in percent of the mean run time.
#[test]
fn ctc_against_smith() {
    let Some(folder) = real_logs("ctc_against_smith") else { return };
    let log = real_log(&folder, "CTC-SP2-1996");
    let table = sim_ok(&["search", "--trace", log.to_str().unwrap(), "--seed", "0", "--format", "csv"]);
    for (name, published) in [("best templates", 58.58), ("downey median", 98.51), ("downey mean", 110.52)] {
        let line = table.lines().find(|line| line.starts_with(name)).unwrap();
        let measured: f64 = line[name.len()..].split(',').nth(3).unwrap().parse().unwrap();
        assert!((measured - published).abs() < 2.0, "{name}: {measured} where the paper has {published}");
    }
}
