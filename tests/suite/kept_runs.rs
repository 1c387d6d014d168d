//! Runs that are kept in a folder: found again by any command, also after an interruption, and never changing a result.

use crate::support::{Folder, Ran, command, demo_text, sim, sim_ok, wait_until};

/// Nine runs of the main command: three settings on the log as it is and on two copies.
const NINE: [&str; 8] =
    ["--first", "500", "--predictor", "estimate,ruh:window={2|3}", "--replications", "3", "--format", "csv"];

fn with_out(args: &[&str], option: &str, folder: &str) -> Ran {
    let ran = sim(&[args, &[option, folder]].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    ran
}

fn assert_counts(ran: &Ran, words: &str) {
    assert!(ran.err.contains(words), "{words}: {}", ran.err);
}

#[test]
fn runs_of_the_main_command_are_found_again() {
    let folder = Folder::new();
    let out = folder.text("kept");
    let plain = sim_ok(&NINE);
    let first = with_out(&NINE, "--keep", &out);
    assert_counts(&first, "9 runs: 0 reused, 9 computed");
    let again = with_out(&[&NINE[..], &["--threads", "1"]].concat(), "--keep", &out);
    assert_counts(&again, "9 runs: 9 reused, 0 computed");
    assert!(first.out == plain && again.out == plain, "{}\n{}", first.out, again.out);
    // Another setting is computed, the others are found. A default that is written is printed.
    let more = ["--first", "500", "--predictor", "ruh,sbh", "--replications", "3", "--format", "csv"];
    let more_settings = with_out(&more, "--keep", &out);
    assert_counts(&more_settings, "6 runs: 3 reused, 3 computed");
    assert_eq!(more_settings.out, sim_ok(&more));
    assert!(plain.contains("ruh:window=3") && !more_settings.out.contains("ruh:window=3"));
    // Groups need the records of the runs on the log as it is; the copies are found.
    let groups = ["--first", "500", "--predictor", "estimate,ruh:window={2|3}", "--replications", "3", "--by", "width"];
    let by_width = with_out(&groups, "--keep", &out);
    assert_counts(&by_width, "9 runs: 6 reused, 3 computed");
    assert_eq!(by_width.out, sim_ok(&groups));
    // Another log has other runs.
    let log = folder.write("other.swf", demo_text());
    let other = with_out(
        &[&NINE[..], &["--trace", &log, "--baseline", "easy/estimate", "--procs", "64"]].concat(),
        "--keep",
        &out,
    );
    assert_counts(&other, "9 runs: 0 reused, 9 computed");
}

/// A file is known by its content, and the row names the file of this call.
#[test]
fn a_row_that_is_found_names_the_present_file() {
    let folder = Folder::new();
    let text = "[[nodes]]\nname = \"n[1-16]\"\ncpus = 8\n\n[[partitions]]\nname = \"all\"\nnodes = \"ALL\"\n";
    let [first, second] = ["first.toml", "second.toml"].map(|name| folder.write(name, text));
    let args = |machine| ["--machine", machine, "--first", "50", "--scheduler", "easy", "--format", "csv"];
    let [main, study] = ["main", "study"].map(|name| folder.text(name));
    with_out(&args(&first), "--keep", &main);
    let again = with_out(&args(&second), "--keep", &main);
    assert_counts(&again, "1 run: 1 reused, 0 computed");
    assert!(again.out.contains("second.toml") && !again.out.contains("first.toml"), "{}", again.out);
    with_out(&[&["sweep"], &args(&first)[..]].concat(), "--out", &study);
    // Another grid in the same folder, which has the cell.
    std::fs::remove_file(folder.path("study/grid.toml")).unwrap();
    let again = with_out(&[&["sweep", "--resume"], &args(&second)[..]].concat(), "--out", &study);
    assert_counts(&again, "1 cell: 1 reused, 0 computed");
    let rows = folder.read("study/results.csv");
    assert!(rows.contains("second.toml") && !rows.contains("first.toml"), "{rows}");
}

#[test]
fn an_interrupted_command_continues() {
    let folder = Folder::new();
    let (out, part) = (folder.text("kept"), folder.path("kept/parts/0001.part"));
    let args = ["--predictor", "sbh", "--replications", "40", "--threads", "2", "--format", "csv"];
    let mut child = command(env!("CARGO_BIN_EXE_sim"))
        .args(args)
        .args(["--keep", &out, "--quiet"])
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let finished = || std::fs::read_to_string(&part).map_or(0, |text| text.matches(" ok ").count());
    wait_until("two runs are finished", || finished() >= 2);
    child.kill().unwrap();
    child.wait().unwrap();
    let kept = finished();
    assert!((2..40).contains(&kept), "{kept}");
    let resumed = with_out(&args, "--keep", &out);
    // The last line may be cut off.
    let counts = |kept: usize| format!("40 runs: {kept} reused, {} computed", 40 - kept);
    assert!(resumed.err.contains(&counts(kept)) || resumed.err.contains(&counts(kept - 1)), "{kept}: {}", resumed.err);
    assert_counts(&with_out(&args, "--keep", &out), "40 runs: 40 reused, 0 computed");
    assert_eq!(resumed.out, sim_ok(&args));
}

#[test]
fn commands_share_a_folder() {
    let folder = Folder::new();
    let out = folder.text("kept");
    let lists = ["--scheduler", "easy,sjbf", "--predictor", "ruh", "--first", "300", "--baseline", "easy/estimate"];
    let swept = sim(&[&["sweep"], &lists[..], &["--out", &out]].concat());
    assert_counts(&swept, "2 cells: 0 reused, 2 computed");
    assert_counts(&with_out(&lists, "--keep", &out), "2 runs: 2 reused, 0 computed");
    // Beside a replay, a scheduler may get other jobs than alone.
    let replay = ["--scheduler", "easy,replay", "--predictor", "ruh", "--first", "300", "--baseline", "easy/estimate"];
    assert_counts(&with_out(&replay, "--keep", &out), "2 runs: 0 reused, 2 computed");
    assert_counts(&with_out(&replay, "--keep", &out), "2 runs: 2 reused, 0 computed");
}

#[test]
fn figures_of_fidelity_are_kept() {
    let folder = Folder::new();
    let (out, html, jobs_csv) = (folder.text("kept"), folder.text("report.html"), folder.text("jobs.csv"));
    let args = ["fidelity", "--first", "500", "--scheduler", "easy,fcfs,sjbf", "--format", "csv"];
    let plain = sim_ok(&args);
    let first = with_out(&args, "--keep", &out);
    assert_counts(&first, "3 runs: 0 reused, 3 computed");
    let again = with_out(&args, "--keep", &out);
    assert_counts(&again, "3 runs: 3 reused, 0 computed");
    assert!(first.out == plain && again.out == plain);
    // The windows are a part of what is kept, and the waits of jobs are not kept.
    assert_counts(
        &with_out(&[&args[..], &["--window", "1d"]].concat(), "--keep", &out),
        "3 runs: 0 reused, 3 computed",
    );
    let jobs = [&args[..], &["--jobs-out", &jobs_csv]].concat();
    assert_counts(&with_out(&jobs, "--keep", &out), "3 runs: 0 reused, 3 computed");
    // Charts show the runs on the log as it is.
    let report = ["report", "--first", "300", "--predictor", "ruh,sbh", "--replications", "3", "--out", &html];
    assert_counts(&with_out(&report, "--keep", &out), "6 runs: 0 reused, 6 computed");
    let page = folder.read("report.html");
    assert_counts(&with_out(&report, "--keep", &out), "6 runs: 4 reused, 2 computed");
    assert_eq!(folder.read("report.html"), page);
    sim_ok(&report);
    assert_eq!(folder.read("report.html"), page);
}
