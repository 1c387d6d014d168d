//! The same words in all commands: logs as options and as plain arguments, old names, formats, seeds, suggestions.

use std::fs;

use crate::support::{demo_text, sim, sim_ok};

/// A file with the embedded log.
fn log() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("demo.swf");
    fs::write(&path, demo_text()).unwrap();
    let path = path.to_str().unwrap().to_string();
    (folder, path)
}

#[test]
fn a_log_is_an_option_or_a_plain_argument() {
    let (folder, log) = log();
    let study = folder.path().join("study");
    let study = study.to_str().unwrap();
    let commands: &[&[&str]] = &[
        &["--first", "100"],
        &["wait", "--method", "ibl", "--first", "400"],
        &["search", "--method", "greedy", "--evaluations", "40", "--first", "200"],
        &["trace", "info"],
        &["trace", "validate"],
        &["trace", "convert", "--out", "-"],
        &["estimates", "--estimates", "f"],
        &["sweep", "--first", "100", "--out", study, "--resume"],
        &["meta", "--first", "200", "--policy", "static"],
    ];
    for command in commands {
        let option = sim_ok(&[command, &["--trace", &log][..]].concat());
        assert_eq!(sim_ok(&[command, &[log.as_str()][..]].concat()), option, "{command:?}");
        assert!(option.lines().count() > 1 || command[0] == "trace", "{command:?}");
        let both = sim(&[command, &["--trace", &log, &log][..]].concat());
        assert!(both.code == 2 && both.out.is_empty() && both.err.contains("--trace"), "{command:?}: {}", both.err);
    }
    // Standard input, and a name with characters that lists use.
    let odd = folder.path().join("a,b{1..2}.swf");
    fs::copy(&log, &odd).unwrap();
    let dry = sim_ok(&["sweep", odd.to_str().unwrap(), "--first", "10", "--dry-run"]);
    assert_eq!(dry.lines().count(), 1, "{dry}");
    assert!(dry.contains("a,b{1..2}.swf"), "{dry}");
}

#[test]
fn a_word_that_is_neither_a_command_nor_a_file_is_refused_with_what_was_meant() {
    let (folder, log) = log();
    let near = folder.path().join("demo.sfw");
    for (args, message) in [
        (&["swep"][..], "'swep' is neither a command nor a file; did you mean the command 'sweep'?"),
        (&["swep", "--out", "x"], "did you mean the command 'sweep'?"),
        (&["--predictor", "ruh", "wiat"], "did you mean the command 'wait'?"),
        (&["sweep", "statsu"], "did you mean the command 'status'?"),
        (&["qqq"], "'qqq' is neither a command nor a file\n"),
        (&["trace", "inof"], "similar subcommand exists: 'info'"),
        (&["help", "wiats"], "did you mean 'waits'?"),
        (&["/nowhere/x.swf"], "cannot open /nowhere/x.swf"),
        (&["--predictor", "rhu"], "did you mean 'ruh'?"),
        (&["--predictor", "ruh:windw=2"], "did you mean 'window'?"),
        (&["--predictor", "ruh:metric=maen"], "did you mean 'mean'?"),
        (&["--scheduler", "esay"], "did you mean 'easy'?"),
        (&["--estimates", "tsafir"], "did you mean 'tsafrir'?"),
        (&["--overrun", "kil"], "did you mean 'kill'?"),
        (&["wait", "--method", "kn"], "did you mean 'knn'?"),
        (&["malleable", "--strategy", "haur"], "did you mean 'heur'?"),
        (&["meta", &log, "--policy", "sttaic"], "did you mean 'static'?"),
        (&["meta", "--site", "A=a.swf:pocs=3"], "did you mean 'procs'?"),
        (&["list", "predictor"], "similar value exists: 'predictors'"),
    ] {
        let ran = sim(args);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}");
        assert!(ran.err.starts_with("error: ") && ran.err.contains(message), "{args:?}: {}", ran.err);
    }
    let ran = sim(&[near.to_str().unwrap()]);
    assert!(ran.code == 2 && ran.err.contains(&format!("did you mean the file '{log}'?")), "{}", ran.err);
    let ran = sim(&[&log, "wait"]);
    assert!(ran.code == 2 && ran.err.contains("a log cannot be given before the command 'wait'"), "{}", ran.err);
}

#[test]
fn old_names_of_options_mean_the_same() {
    for (command, old, new) in [
        ("estimates", "--model f:f=2", "--estimates f:f=2"),
        ("malleable --days 2 --strategy avg", "--rho 0.9", "--offered-load 0.9"),
        ("malleable --days 2 --strategy avg", "--seeds 3", "--replications 3"),
    ] {
        let run = |option: &str| sim_ok(&format!("{command} {option}").split(' ').collect::<Vec<_>>());
        assert_eq!(run(old), run(new), "{command}");
        let help = sim_ok(&[command.split(' ').next().unwrap(), "--help"]);
        let old = old.split(' ').next().unwrap();
        assert!(!help.contains(&format!("{old} ")), "{command} --help shows {old}");
    }
}

#[test]
fn rows_have_all_formats_everywhere() {
    let (folder, log) = log();
    let study = folder.path().join("study").to_str().unwrap().to_string();
    let made = folder.path().join("made.swf").to_str().unwrap().to_string();
    sim_ok(&["sweep", "--first", "50", "--out", &study]);
    for command in [
        vec!["list"],
        vec!["list", "predictors"],
        vec!["list", "methods"],
        vec!["list", "columns"],
        vec!["list", "studies"],
        vec!["list", "topics"],
        vec!["trace", "validate"],
        vec!["sweep", "status", &study],
        vec!["generate", "sessions", "--jobs", "50", "--out", &made],
        vec!["generate", "lublin", "--jobs", "50", "--out", &made],
        vec!["estimates", &log, "--estimates", "f", "--out", &made],
        vec!["trace", "convert", &log, "--out", &made],
    ] {
        let run = |more: &[&str]| sim_ok(&[&command[..], more].concat());
        let csv = run(&["--format", "csv"]);
        let (header, rows) = csv.split_once('\n').unwrap();
        assert!(header.contains(',') && !rows.is_empty(), "{command:?}");
        assert_eq!(run(&["--format", "csv", "--no-header"]), rows, "{command:?}");
        let json: serde_json::Value = serde_json::from_str(&run(&["--format", "json"])).unwrap();
        let first = json.get(0).unwrap_or(&json);
        let names: Vec<_> = first.as_object().unwrap().keys().map(String::as_str).collect();
        let mut columns: Vec<_> = header.split(',').collect();
        columns.sort_unstable();
        assert_eq!(names, columns, "{command:?}");
        assert!(!run(&["--format", "table"]).is_empty(), "{command:?}");
    }
    // A list of all names and keys, as the table has them.
    let json: Vec<serde_json::Value> =
        serde_json::from_str(&sim_ok(&["list", "predictors", "--format", "json"])).unwrap();
    let window = json.iter().find(|row| row["name"] == "ruh" && row["key"] == "window").unwrap();
    assert_eq!(window["default"], "3");
    // What is not sound has a row for each finding, and the same exit code.
    let bad = folder.path().join("bad.swf");
    fs::write(&bad, "; MaxProcs: 4\n1 0 0 10 1 1 1 1 60 -1 1 1 1 1 1 1 -1 -1\n2 x\n").unwrap();
    let ran = sim(&["trace", "validate", bad.to_str().unwrap(), "--format", "csv"]);
    assert_eq!(ran.code, 2);
    let rows: Vec<_> = ran.out.lines().collect();
    assert!(
        rows[1].starts_with("bad,fault,3,1,") && rows.last().unwrap().starts_with("bad,not sound,,1,"),
        "{}",
        ran.out
    );
    // The report of a log on standard output does not mix with it.
    let ran = sim(&["generate", "sessions", "--jobs", "50", "--seed", "7", "--format", "json"]);
    assert!(ran.out.starts_with(';') && ran.err.contains("\"seed\": 7"), "{}", ran.err);
}

#[test]
fn seeds_are_the_same_by_default_and_shown() {
    let with = |command: &str, seed: &str| {
        let args: Vec<_> = command.split(' ').chain(seed.split_whitespace()).collect();
        sim_ok(&args)
    };
    for command in [
        "--first 200 --shake 30s --format csv",
        "search --first 300 --generations 2 --population 6 --format csv",
        "wait --first 500 --method knn --format csv",
        "meta --scenario 1K-equal-I --days 1 --policy static --format csv",
        "malleable --days 1 --strategy avg --format csv",
        "generate lublin --jobs 100",
        "generate sessions --jobs 100",
        "estimates --estimates f",
    ] {
        assert_eq!(with(command, ""), with(command, "--seed 1"), "{command}");
    }
    assert!(with("--first 200 --shake 30s --format csv --no-header", "").trim_end().ends_with("shake=30s seed=1"));
    for command in [
        "search --first 300 --generations 2 --population 6",
        "wait --first 500 --method knn",
        "meta --scenario 1K-equal-I --days 1 --policy static",
    ] {
        let csv = with(&format!("{command} --format csv"), "--seed 5");
        assert!(csv.lines().next().unwrap().ends_with(",seed") && csv.trim_end().ends_with(",5"), "{csv}");
    }
}
