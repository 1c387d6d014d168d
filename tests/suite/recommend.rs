//! `sim recommend`: the answer, and the runs behind it.

use std::collections::BTreeMap;

use crate::support::{sim, sim_ok};

/// The rows of a CSV, each by the names of its columns.
fn rows(text: &str) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let names = reader.headers().unwrap().clone();
    let named = |row: csv::StringRecord| names.iter().map(str::to_string).zip(row.iter().map(str::to_string)).collect();
    reader.records().map(|row| named(row.unwrap())).collect()
}

const TWO: [&str; 4] = ["recommend", "--candidates", "easy/ruh,easy:running=estimate/kin", "--replications"];

fn recommend(more: &[&str]) -> String {
    sim_ok(&[&TWO[..], &["3"], more].concat())
}

/// Candidates are run on the first part alone, the winner on everything, measured on the rest: the same figures as those of
/// the main command.
#[test]
fn the_figures_are_those_of_the_main_command() {
    let found = rows(&recommend(&["--format", "csv"]));
    assert_eq!(found.len(), 3);
    let plain = |more: &[&str]| {
        let options = ["--baseline", "easy/estimate", "--replications", "3", "--format", "csv"];
        rows(&sim_ok(&[&options, more].concat()))
    };
    let part = |setting: &str, more: &[&str]| {
        let (scheduler, predictor) = setting.split_once('/').unwrap();
        plain(&[&["--scheduler", scheduler, "--predictor", predictor], more].concat()).remove(0)
    };
    let first = ["easy/ruh", "easy:running=estimate/kin"].map(|setting| part(setting, &["--first", "3000"]));
    for row in &first {
        let same =
            found.iter().find(|other| other["part"] == "choose" && other["predictor"] == row["predictor"]).unwrap();
        for column in
            ["jobs", "rows", "wait_mean", "bsld_mean", "bsld_mean_ci95", "wait_max", "base_bsld_mean", "users_lose_pct"]
        {
            assert_eq!(same[column], row[column], "{column} of {}", row["predictor"]);
        }
    }
    // The winner is the better of the two by bounded slowdown, and comes first.
    let slowdown = |row: &BTreeMap<String, String>| row["bsld_mean"].parse::<f64>().unwrap();
    let best = first.iter().min_by(|a, b| slowdown(a).total_cmp(&slowdown(b))).unwrap();
    assert_eq!((&found[0]["predictor"], &found[2]["predictor"]), (&best["predictor"], &best["predictor"]));
    let judged = part(&format!("{}/{}", best["scheduler"], best["predictor"]), &["--warmup", "3000"]);
    assert_eq!(found[2]["part"], "judge");
    for column in ["jobs", "wait_mean", "bsld_mean", "bsld_mean_ci95", "wait_max", "bsld_verdict", "area_lose_pct"] {
        assert_eq!(found[2][column], judged[column], "{column}");
    }
    let expected = match judged["bsld_verdict"].as_str() {
        "better" => "change",
        "worse" => "keep: worse",
        _ => "keep: within noise",
    };
    assert_eq!(found[2]["answer"], expected);
}

#[test]
fn the_command_at_the_end_repeats_the_judgement() {
    let text = recommend(&["--format", "table"]);
    let (_, command) = text.split_once("The same judgement again:\n  sim ").unwrap_or_else(|| panic!("{text}"));
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let arguments: Vec<&str> = command.split_whitespace().filter(|word| *word != "\\").collect();
    let again = sim_ok(&[&arguments[..], &["--format", "csv"]].concat());
    let judged = rows(&recommend(&["--format", "csv"])).pop().unwrap();
    assert_eq!(rows(&again)[0]["bsld_mean"], judged["bsld_mean"]);
    assert_eq!(rows(&again)[0]["wait_verdict"], judged["wait_verdict"]);
}

/// A part of the log: the split is one of the jobs that are left.
#[test]
fn options_that_select_jobs_come_before_the_split() {
    let found = rows(&recommend(&["--first", "2000", "--choose", "0.5", "--format", "csv"]));
    let jobs: Vec<&str> = found.iter().map(|row| row["jobs"].as_str()).collect();
    assert_eq!(jobs, ["1000.000000"; 3]);
}

#[test]
fn the_answer_can_be_to_keep_what_is_there() {
    let keep = |more: &[&str]| {
        let text = sim_ok(&[&["recommend", "--format", "table", "--replications", "2"], more].concat());
        assert!(text.contains("Keep what you have"), "{text}");
        text
    };
    // FCFS without backfilling is worse than EASY on every log.
    let text = keep(&["--candidates", "fcfs/estimate"]);
    assert!(!text.contains("again") && text.contains("no candidate was better"), "{text}");
    let rows = rows(&sim_ok(&["recommend", "--candidates", "fcfs/estimate", "--replications", "2", "--format", "csv"]));
    assert_eq!((rows.len(), rows[0]["answer"].as_str()), (1, "keep: none better"));
    let guarded = ["recommend", "--candidates", "sjbf/ruh", "--guard", "wait_max=0.01x", "--replications", "2"];
    let out = sim_ok(&[&guarded[..], &["--format", "csv"]].concat());
    assert_eq!(self::rows(&out)[0]["answer"], "keep: all break guards");
    // A guard that nobody can keep.
    let text = keep(&["--candidates", "sjbf/ruh,sjbf/perfect", "--guard", "wait_max=0.01x"]);
    assert_eq!(text.matches("(out: wait_max=0.01x)").count(), 2, "{text}");
    let plain = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        plain.contains("every candidate breaks a guard on the first part of the log (wait_max=0.01x by 2 of 2). Wider"),
        "{text}"
    );
    // One candidate keeps the guard, and is not better.
    let text = keep(&["--candidates", "fcfs/estimate", "--guard", "wait_max=100x"]);
    assert!(text.contains("no candidate within the guards was better"), "{text}");
    assert!(text.contains("30 s (seed 1)."), "{text}");
}

#[test]
fn runs_are_kept_and_threads_do_not_matter() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("runs");
    let run = |threads: &str| {
        let ran =
            sim(&[&TWO[..], &["2", "--format", "csv", "--threads", threads, "--out", out.to_str().unwrap()]].concat());
        assert_eq!(ran.code, 0, "{}", ran.err);
        ran
    };
    let (first, again) = (run("2"), run("1"));
    assert!(first.err.contains("6 runs: 0 reused, 6 computed"), "{}", first.err);
    assert!(again.err.contains("6 runs: 6 reused, 0 computed"), "{}", again.err);
    assert_eq!(first.out, again.out);
    assert_eq!(first.out, sim_ok(&[&TWO[..], &["2", "--format", "csv", "--threads", "1"]].concat()));
}

#[test]
fn wrong_questions_are_refused() {
    for (arguments, part) in [
        (&["--choose", "1.5"][..], "between 0 and 1"),
        (&["--choose", "0.00001"], "a part without jobs"),
        (&["--objective", "bsl"], "did you mean 'bsld"),
        (&["--objective", "users_lose_pct"], "use it as a guard"),
        (&["--guard", "wait_max"], "wait_max=2x"),
        (&["--candidates", "easy/estimate"], "no candidate besides"),
        (&["--candidates", "sjbf"], "SCHEDULER/PREDICTOR"),
        (&["--candidates", "replay/ruh"], "replay"),
        (&["--present", "replay/ruh"], "replay"),
        (&["-"], "standard input"),
        (&["no-such.swf"], "no-such.swf"),
        (&["--replications", "1"], "2..=1000"),
        // Copies of the first part would be part of the rest.
        (&["--repeat", "2"], "--repeat"),
    ] {
        let ran = sim(&[&["recommend", "-q"], arguments].concat());
        assert_eq!(ran.code, 2, "{arguments:?}: {}", ran.err);
        assert!(ran.err.contains(part), "{arguments:?}: {}", ran.err);
    }
}
