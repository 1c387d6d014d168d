//! Sweeps: the order of the grid, the same bytes after any interruption, and no cell computed twice.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::support::{Folder, Ran, assert_golden, command, demo_text, dump_of_site, sim, sim_ok, wait_until};

/// A grid of 24 cells on the embedded log.
const GRID: [&str; 8] = [
    "--scheduler",
    "easy,sjbf",
    "--predictor",
    "estimate,ruh:window={2|3},cap=on,perfect",
    "--load",
    "0.9..1.1:0.1",
    "--first",
    "2000",
];

/// Runs a sweep of these lists into a folder.
fn sweep(grid: &[&str], out: &str, more: &[&str]) -> Ran {
    sim(&[&["sweep"], grid, &["--out", out], more].concat())
}

/// Whether a row of a sweep is that of the main command with this many columns added before the last one.
fn is_row_of(row: &str, alone: &str, added: usize) -> bool {
    let (row, alone): (Vec<_>, Vec<_>) = (row.split(',').collect(), alone.trim_end().split(',').collect());
    let at = alone.len() - 1;
    row.len() == alone.len() + added && row[..at] == alone[..at] && row.last() == alone.last()
}

fn results(out: &Path) -> String {
    fs::read_to_string(out.join("results.csv")).unwrap()
}

#[test]
fn rows_stand_in_the_grids_order_and_are_those_of_the_main_command() {
    let folder = Folder::new();
    let ran = sweep(&GRID, &folder.text("a"), &[]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("24 cells: 0 reused, 24 computed, 0 failed"), "{}", ran.err);
    let text = folder.read("a/results.csv");
    assert_eq!(ran.out, text, "what is printed is what is kept");
    let mut lines = text.lines();
    assert!(lines.next().unwrap().ends_with(",jain,wide_wait_mean,predictor.window,load,first,options"));
    let dry = sim(&[&["sweep", "--dry-run"], &GRID[..]].concat());
    assert!(dry.err.contains("24 cells: 2 scheduler x 4 predictor x 3 load x 1 first"), "{}", dry.err);
    assert_eq!(dry.out.lines().count(), 24);
    for (row, line) in lines.zip(dry.out.lines()) {
        // The command is a line for a shell; run here with our own program in the place of its name.
        let script = line.replacen("sim", "\"$0\" -q --no-header", 1);
        let alone = command("sh").args(["-c", &script, env!("CARGO_BIN_EXE_sim")]).output().unwrap();
        let alone = String::from_utf8(alone.stdout).unwrap();
        // The main command does not write defaults.
        let row = row.replace("\"ruh:window=3,cap=on\"", "ruh:cap=on");
        assert!(is_row_of(&row, &alone, 3) && !alone.is_empty(), "{line}\n{alone}{row}");
    }
    let loads: Vec<_> = text.lines().skip(1).map(|row| row.rsplit(',').nth(2).unwrap()).collect();
    assert_eq!(loads[..4], ["0.9", "1", "1.1", "0.9"], "the list given last but one changes fast");
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    let folder = Folder::new();
    let with = |threads: &str| {
        let out = folder.text(threads);
        let ran = sweep(&GRID, &out, &["--threads", threads, "--baseline", "easy/estimate"]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        results(Path::new(&out))
    };
    let one = with("1");
    assert!(one.lines().next().unwrap().contains(",baseline,wait_improvement_pct,"));
    for threads in ["2", "5"] {
        assert_eq!(with(threads), one);
    }
}

#[test]
fn improvements_are_those_of_the_main_command() {
    let folder = Folder::new();
    let options = ["--predictor", "ruh", "--load", "1.1", "--inflate", "2", "--baseline", "easy/estimate"];
    assert_eq!(sweep(&options, &folder.text("a"), &[]).code, 0);
    let alone = sim_ok(&[&options[..], &["--no-header"]].concat());
    assert!(is_row_of(folder.read("a/results.csv").lines().nth(1).unwrap(), &alone, 2));
}

#[test]
fn a_file_says_the_same_as_options() {
    let folder = Folder::new();
    let toml = "scheduler = [\"easy\", \"sjbf\"]\npredictor = \"estimate,ruh:window={2|3},cap=on,perfect\"\n\
        load = \"0.9..1.1:0.1\"\nfirst = 2000\n";
    fs::write(folder.path("study.toml"), toml).unwrap();
    assert_eq!(sweep(&GRID, &folder.text("a"), &[]).code, 0);
    assert_eq!(sweep(&[&folder.text("study.toml")], &folder.text("b"), &[]).code, 0);
    assert_eq!(folder.read("a/results.csv"), folder.read("b/results.csv"));
    // An option replaces the list in the file.
    assert_eq!(sweep(&[&folder.text("study.toml"), "--load", "2"], &folder.text("c"), &[]).code, 0);
    assert_eq!(folder.read("c/results.csv").lines().count(), 1 + 8);
    // The grid in a sweep's folder is such a file.
    assert_eq!(sweep(&[&folder.text("a/grid.toml")], &folder.text("d"), &[]).code, 0);
    assert_eq!(folder.read("a/results.csv"), folder.read("d/results.csv"));
}

#[test]
fn a_second_run_reuses_everything_and_a_larger_grid_what_it_can() {
    let folder = Folder::new();
    let out = folder.text("a");
    assert_eq!(sweep(&GRID, &out, &[]).code, 0);
    let before = folder.read("a/results.csv");
    let refused = sweep(&GRID, &out, &[]);
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("is not empty: --resume continues"), "{}", refused.err);
    let again = sweep(&GRID, &out, &["--resume"]);
    assert!(again.err.contains("24 cells: 24 reused, 0 computed"), "{}", again.err);
    assert_eq!(folder.read("a/results.csv"), before);
    let larger = GRID.map(|word| if word == "0.9..1.1:0.1" { "0.9..1.2:0.1" } else { word });
    let again = sweep(&larger, &out, &["--change-grid"]);
    assert!(again.err.contains("32 cells: 24 reused, 8 computed"), "{}", again.err);
}

#[test]
fn equal_cells_run_once() {
    let folder = Folder::new();
    let ran = sweep(&["--predictor", "ruh,ruh:window=3,perfect", "--load", "1,1.0"], &folder.text("a"), &[]);
    assert!(ran.err.contains("6 cells: 0 reused, 2 computed, 4 equal to others"), "{}", ran.err);
    assert_eq!(ran.out.lines().count(), 7);
    let ran = sweep(&["--shake", "30s", "--seed", "1..4", "--first", "500"], &folder.text("b"), &[]);
    assert!(ran.err.contains("4 cells: 0 reused, 4 computed"), "{}", ran.err);
    let rows: std::collections::BTreeSet<_> = ran.out.lines().skip(1).map(|row| row.split(',').nth(6)).collect();
    assert_eq!(rows.len(), 4, "and with it they do");
}

/// The main property: whenever the process is killed, resuming gives the same bytes and computes only what is missing.
#[test]
fn killed_at_any_moment_it_goes_on_to_the_same_bytes() {
    let folder = Folder::new();
    let grid = [
        "--scheduler",
        "easy,sjbf,conservative",
        "--predictor",
        "ruh:window={1|2|3|4|5|6|7|8},cap={on|off}",
        "--load",
        "1,1.1",
    ];
    assert_eq!(sweep(&grid, &folder.text("whole"), &[]).code, 0);
    let whole = folder.read("whole/results.csv");
    let out = folder.text("killed");
    let mut kills = 0;
    for wanted in [1, 7, 20, 40, 60] {
        let mut child = command(env!("CARGO_BIN_EXE_sim"))
            .args([&["sweep"], &grid[..], &["--out", &out, "--resume"]].concat())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        wait_until("nothing is finished", || {
            finished_lines(Path::new(&out)) >= wanted || child.try_wait().unwrap().is_some()
        });
        kills += u32::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!Path::new(&out).join("results.csv").exists() || finished_lines(Path::new(&out)) >= 96);
    }
    assert!(kills > 0, "it was never killed on the way");
    let done = finished_lines(Path::new(&out));
    let ran = sweep(&grid, &out, &["--resume"]);
    assert!(ran.err.contains(&format!("96 cells: {done} reused, {} computed", 96 - done)), "{done}: {}", ran.err);
    assert_eq!(folder.read("killed/results.csv"), whole);
}

/// The whole lines in all parts of a sweep.
fn finished_lines(out: &Path) -> usize {
    let Ok(parts) = fs::read_dir(out.join("parts")) else { return 0 };
    let lines = |path: PathBuf| fs::read(path).unwrap().iter().filter(|&&byte| byte == b'\n').count();
    parts.map(|part| lines(part.unwrap().path())).sum()
}

#[test]
fn a_part_cut_short_costs_one_cell() {
    let folder = Folder::new();
    let out = folder.text("a");
    assert_eq!(sweep(&GRID, &out, &[]).code, 0);
    let (part, whole) = (folder.path("a/parts/0001.part"), folder.read("a/results.csv"));
    let bytes = fs::read(&part).unwrap();
    fs::write(&part, &bytes[..bytes.len() - 20]).unwrap();
    fs::remove_file(folder.path("a/results.csv")).unwrap();
    let ran = sweep(&GRID, &out, &["--resume"]);
    assert!(ran.err.contains("1 line of finished cells was incomplete"), "{}", ran.err);
    assert!(ran.err.contains("23 reused, 1 computed"), "{}", ran.err);
    assert_eq!(folder.read("a/results.csv"), whole);
}

#[test]
fn a_changed_log_is_computed_again_and_a_packed_one_is_not() {
    let folder = Folder::new();
    let (log, out) = (folder.text("log.swf"), folder.text("a"));
    let text = String::from_utf8(demo_text()).unwrap();
    fs::write(&log, &text).unwrap();
    let grid = ["--trace", &log, "--predictor", "estimate,ruh"];
    assert_eq!(sweep(&grid, &out, &[]).code, 0);
    let before = folder.read("a/results.csv");
    // The same log, compressed: nothing to do.
    let packed = folder.text("log.swf.gz");
    fs::write(&packed, include_bytes!("../../traces/demo.swf.gz")).unwrap();
    let ran = sweep(&["--trace", &packed, "--predictor", "estimate,ruh"], &out, &["--change-grid"]);
    assert!(ran.err.contains("2 reused, 0 computed"), "{}", ran.err);
    // One job less.
    fs::write(&log, &text[..text.trim_end().rfind('\n').unwrap() + 1]).unwrap();
    let ran = sweep(&grid, &out, &["--change-grid"]);
    assert!(ran.err.contains("0 reused, 2 computed"), "{}", ran.err);
    assert_ne!(folder.read("a/results.csv"), before);
}

#[test]
fn a_failing_cell_does_not_stop_the_others() {
    let folder = Folder::new();
    let (good, bad, gone, out) =
        (folder.text("good.swf"), folder.text("bad.swf"), folder.text("gone.swf"), folder.text("a"));
    fs::write(&good, demo_text()).unwrap();
    fs::write(&bad, "; MaxProcs: 8\n1 2 x\n").unwrap();
    let traces = [good.as_str(), &bad, &gone].join(",");
    let grid = ["--trace", &traces, "--predictor", "estimate,ruh"];
    let ran = sweep(&grid, &out, &[]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("6 cells: 0 reused, 2 computed, 4 failed"), "{}", ran.err);
    assert!(
        ran.err.contains(&format!("cannot open {gone}")) && ran.err.contains("bad.swf:2:5: field 3"),
        "{}",
        ran.err
    );
    assert!(ran.err.contains(&format!("again: sim --trace {gone} --predictor estimate --format csv")), "{}", ran.err);
    assert!(!folder.path("a/results.csv").exists(), "results that are not whole have another name");
    assert_eq!(folder.read("a/results.partial.csv").lines().count(), 3);
    let status = sim_ok(&["sweep", "status", &out]);
    assert_eq!(status, "6 cells: 2 done, 4 failed, 0 missing\n");
    // After the repair it can be resumed.
    // (Logs of other contents: equal ones would be computed once.)
    let text = String::from_utf8(demo_text()).unwrap();
    fs::write(&bad, text.replace("MaxProcs: 128", "MaxProcs: 129")).unwrap();
    fs::write(&gone, text.replace("MaxProcs: 128", "MaxProcs: 130")).unwrap();
    let ran = sweep(&grid, &out, &["--resume"]);
    assert!(ran.code == 0 && ran.err.contains("2 reused, 4 computed, 0 failed"), "{}", ran.err);
    assert_eq!(folder.read("a/results.csv").lines().count(), 7);
    assert!(!folder.path("a/results.partial.csv").exists());
}

#[test]
fn shards_merge_to_the_whole() {
    let folder = Folder::new();
    assert_eq!(sweep(&GRID, &folder.text("whole"), &[]).code, 0);
    let out = folder.text("parts");
    for shard in ["3/3", "1/3"] {
        let ran = sweep(&GRID, &out, &["--shard", shard]);
        assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
        assert!(ran.err.contains("8 cells: 0 reused, 8 computed"), "{}", ran.err);
    }
    let early = sim(&["sweep", "merge", &out]);
    assert_eq!(early.code, 1);
    assert!(early.err.contains("8 of 24 cells are missing, 0 of them failed"), "{}", early.err);
    assert!(early.err.contains("not computed yet"), "{}", early.err);
    assert!(!folder.path("parts/results.csv").exists());
    assert_eq!(sim_ok(&["sweep", "status", &out]), "24 cells: 16 done, 0 failed, 8 missing\n");
    assert_eq!(sweep(&GRID, &out, &["--shard", "2/3"]).code, 0);
    assert_eq!(sim(&["sweep", "merge", &out]).code, 0);
    assert_eq!(folder.read("parts/results.csv"), folder.read("whole/results.csv"));
    assert!(sim_ok(&["sweep", "status", &out]).contains("24 done, 0 failed, 0 missing\nresults: "));
}

#[test]
fn groups_have_means_and_intervals() {
    let folder = Folder::new();
    let ran = sweep(&GRID, &folder.text("a"), &["--group-by", "scheduler,predictor", "--format", "csv"]);
    let lines: Vec<Vec<&str>> = ran.out.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(lines[0][..5], ["scheduler", "predictor", "rows", "wait_mean", "wait_mean_ci95"]);
    assert_eq!((lines.len(), lines[1][0], lines[1][1], lines[1][2]), (9, "easy", "estimate", "3"));
    let rows: Vec<f64> = folder
        .read("a/results.csv")
        .lines()
        .skip(1)
        .take(3)
        .map(|row| row.split(',').nth(6).unwrap().parse().unwrap())
        .collect();
    let mean = rows.iter().sum::<f64>() / 3.0;
    assert!((lines[1][3].parse::<f64>().unwrap() - mean).abs() < 1e-3);
    let table = sweep(&GRID, &folder.text("a"), &["--resume", "--group-by", "predictor", "--format", "table"]);
    assert!(table.out.contains(" +- "), "{}", table.out);
    let json = sweep(&GRID, &folder.text("a"), &["--resume", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!((json.as_array().unwrap().len(), &json[1]["load"]), (24, &1.into()));
    // What was swept is a number in groups too, and the name of the log a text.
    let json = sweep(&GRID, &folder.text("a"), &["--resume", "--group-by", "trace,load", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert!(json[0]["trace"] == "demo" && json[0]["load"].is_number(), "{json}");
    let error = sweep(&GRID, &folder.text("a"), &["--resume", "--group-by", "color"]);
    assert!(error.code == 2 && error.err.contains("no column 'color' to group by"), "{}", error.err);
}

/// Results of sweeps in every format, with groups and without: their digits are those of the printed numbers.
#[test]
fn golden_results_in_every_format() {
    let folder = Folder::new();
    let out = folder.text("a");
    let grid = "--predictor estimate,ruh:window={2|3} --baseline easy/estimate --shake 30s --seed 1,2 --first 300";
    assert_eq!(sweep(&grid.split(' ').collect::<Vec<_>>(), &out, &[]).code, 0);
    let mut text = String::new();
    for by in [&[][..], &["--group-by", "predictor"], &["--group-by", "seed,procs,baseline"]] {
        for format in ["csv", "json", "table"] {
            let ran = sim_ok(&[&["sweep", "--out", &out, "--resume", "--format", format], by].concat());
            text += &format!("{}{format}\n{}\n", by.join(" "), ran.replace(&out, "DIR"));
        }
    }
    for format in ["csv", "json", "table"] {
        text += &sim_ok(&["--first", "300", "--replications", "3", "--format", format]);
    }
    assert_golden("sweep.txt", &text);
}

/// What was swept may be a number, but the name of a log is a text, as in the JSON of the main command.
#[test]
fn a_log_whose_name_is_a_number_keeps_its_name() {
    let folder = Folder::new();
    let log = folder.text("7.swf");
    fs::write(&log, demo_text()).unwrap();
    let options = ["--trace", &log, "--first", "100", "--load", "1.5"];
    let ran = sweep(&options, &folder.text("a"), &["--format", "json"]);
    let swept: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((&swept[0]["trace"], &swept[0]["load"]), (&"7".into(), &1.5.into()));
    let alone: serde_json::Value =
        serde_json::from_str(&sim_ok(&[&options[..], &["--format", "json"]].concat())).unwrap();
    assert_eq!(alone[0]["trace"], swept[0]["trace"]);
}

#[test]
fn replications_give_every_cell_an_interval() {
    let folder = Folder::new();
    let grid = ["--predictor", "estimate,ruh", "--load", "1,1.1", "--first", "1000", "--replications", "4"];
    let ran = sweep(&grid, &folder.text("a"), &["--format", "csv"]);
    assert!(ran.err.contains("16 cells: 0 reused, 16 computed"), "{}", ran.err);
    let lines: Vec<Vec<&str>> = ran.out.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(lines[0][..7], ["trace", "scheduler", "predictor", "load", "first", "rows", "wait_mean"]);
    assert_eq!((lines.len(), lines[1][5]), (5, "4"));
    assert!(lines[1][7].parse::<f64>().unwrap() > 0.0, "replications differ");
    // Replication 0 is the log as it is, any other the log shaken with that seed.
    let rows = folder.read("a/results.csv");
    let row = |options: &[&str]| sim_ok(&[&["--no-header", "--baseline", "none", "--first", "1000"], options].concat());
    let plain = row(&["--predictor", "estimate"]);
    let shaken = row(&["--predictor", "estimate", "--shake", "30s", "--seed", "2"]);
    assert!(is_row_of(rows.lines().nth(1).unwrap(), &plain, 3));
    assert!(is_row_of(rows.lines().nth(3).unwrap(), &shaken, 3));
    assert_eq!(shaken, row(&["--predictor", "estimate", "--replication", "2"]));
}

#[test]
fn the_main_command_has_the_replications_of_a_sweep() {
    let folder = Folder::new();
    let options = ["--predictor", "ruh", "--baseline", "easy/estimate", "--first", "1000", "--replications", "3"];
    let swept = sweep(&options, &folder.text("a"), &["--group-by", "trace,scheduler,predictor", "--format", "csv"]);
    assert_eq!(swept.code, 0, "{}", swept.err);
    let cells = |csv: &str| {
        let lines: Vec<Vec<String>> = csv.lines().map(|line| line.split(',').map(str::to_string).collect()).collect();
        lines[0].iter().cloned().zip(lines[1].iter().cloned()).collect::<BTreeMap<_, _>>()
    };
    let alone = ["1", "2"].map(|threads| sim_ok(&[&options[..], &["--threads", threads]].concat()));
    assert_eq!(alone[0], alone[1]);
    let alone = cells(&alone[0]);
    assert_eq!(alone["options"], "first=1000", "the row says what was run");
    // A sweep does not keep the users of each run: its shares of those who lose are means over single runs.
    for (name, cell) in cells(&swept.out).into_iter().filter(|(name, _)| !name.contains("_lose_")) {
        assert_eq!(alone.get(&name), Some(&cell), "{name}");
    }
}

#[test]
fn a_swept_key_has_a_column_and_its_default_keeps_its_label() {
    let folder = Folder::new();
    let grid = ["--predictor", "ruh:window=1..4,perfect,ruh:metric=mean", "--first", "500"];
    let ran = sweep(&grid, &folder.text("a"), &[]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let columns = ["predictor", "predictor.window", "predictor.metric", "options"];
    let rows = columns_of(&folder.read("a/results.csv"), &columns);
    let expected = [
        "ruh:window=1|1|median|first=500",
        "ruh:window=2|2|median|first=500",
        "ruh:window=3|3|median|first=500",
        "ruh:window=4|4|median|first=500",
        "perfect|||first=500",
        "ruh:metric=mean|3|mean|first=500",
    ];
    assert_eq!(rows, expected);
    // The default as another sweep writes it is the same cell: it is not computed again, and has the label of this grid.
    let again = sweep(&["--predictor", "ruh,perfect", "--first", "500"], &folder.text("a"), &["--change-grid"]);
    assert!(again.err.contains("2 cells: 2 reused, 0 computed"), "{}", again.err);
    assert_eq!(columns_of(&folder.read("a/results.csv"), &["predictor"]), ["ruh", "perfect"]);
    // A grid of an older folder has the default without its key.
    let again = sweep(&["--predictor", "ruh:window=3..4", "--first", "500"], &folder.text("a"), &["--change-grid"]);
    assert!(again.err.contains("2 cells: 2 reused, 0 computed"), "{}", again.err);
    let grid = folder.read("a/grid.toml").replace("ruh:window=3", "ruh");
    fs::write(folder.path("a/grid.toml"), grid).unwrap();
    let again = sweep(&["--predictor", "ruh:window={3|4}", "--first", "500"], &folder.text("a"), &["--resume"]);
    assert!(again.err.contains("2 cells: 2 reused, 0 computed"), "{}", again.err);
    // Means by the values of a key, over all other lists.
    let grouped = ["--group-by", "predictor.window", "--format", "csv"];
    let both = ["--scheduler", "easy,sjbf", "--predictor", "ruh:window=1..2", "--first", "500"];
    let ran = sweep(&both, &folder.text("b"), &grouped);
    assert_eq!(columns_of(&ran.out, &["predictor.window", "rows"]), ["1|2", "2|2"], "{}", ran.err);
}

/// These columns of each row of a CSV, separated by `|`.
fn columns_of(text: &str, names: &[&str]) -> Vec<String> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().unwrap().clone();
    let at = |name: &&str| header.iter().position(|column| column == *name).unwrap_or_else(|| panic!("no {name}"));
    let places: Vec<usize> = names.iter().map(at).collect();
    let row = |row: csv::StringRecord| places.iter().map(|&at| row[at].to_string()).collect::<Vec<_>>().join("|");
    reader.records().map(|record| row(record.unwrap())).collect()
}

#[test]
fn bad_sweeps() {
    let folder = Folder::new();
    let out = folder.text("a");
    for (grid, message) in [
        (&["--predictor", "rhu"][..], "invalid value 'rhu' for '--predictor <SPEC>': unknown predictor 'rhu'"),
        (&["--predictor", "ruh:window={0|1}"], "not a whole number of at least 1"),
        (&["--predictor", "ruh:window=1-10"], "window: '1-10' is not a whole number of at least 1"),
        (&["--predictor", "sbh", "--predictor", "ruh:window=[1,2]"], "window: '[1' is not a whole number"),
        (&["--predictor", "ruh:window=1,2,3"], "unknown predictor '2': the predictors are"),
        (&["--load", "0.8-1.2"], "0.8-1.2"),
        (&["--load", "0.8..1.2"], "its end is not reached in steps of 1; write a step, such as 0.8..1.2:0.1"),
        (&["--load", "2..1"], "its end is before its start"),
        (&["--trace", "-"], "standard input"),
        (&["--baseline", "easy/estimate,sjbf/ruh"], "a sweep has one baseline"),
        (&["no/such/file.toml"], "cannot read no/such/file.toml"),
        // One option would overrule the other: the rows would name options that were not used.
        (&["--shake", "10s,60s", "--replication", "1..2"], "--shake has no effect together with --replication"),
        (&["--seed", "1..3", "--replication", "1..2"], "--seed has no effect together with --replication"),
        (&["--shake", "10s,60s", "--replications", "3"], "--shake has no effect together with --replication"),
        (&["--replication", "1..2", "--replications", "3"], "the grid has two lists of 'replication'"),
        (&["--estimates", "f", "--missing-estimate", "drop,runtime"], "--missing-estimate has no effect together with"),
        // Runs with equal rows are not replications.
        (&["--seed", "1..3"], "--seed 2 has no effect without --shake"),
        (&["--estimates", "x2", "--estimates-seed", "1..3"], "has no effect without a random model in --estimates"),
        // Found before the first cell runs, not after the last.
        (&["--load", "1,2", "--group-by", "colour"], "there is no column 'colour' to group by"),
    ] {
        let ran = sweep(grid, &out, &[]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{grid:?}: {}", ran.err);
        assert!(ran.err.contains(message), "{grid:?}: {}", ran.err);
        assert!(!folder.path("a").exists(), "nothing is begun");
    }
    assert_eq!(sim(&["sweep", "--load", "1"]).code, 2, "a sweep needs its folder");
    fs::write(folder.path("file"), "x").unwrap();
    let ran = sweep(&["--load", "1"], &folder.text("."), &["--resume"]);
    assert!(ran.code == 2 && ran.err.contains("is not the folder of a sweep"), "{}", ran.err);
    let ran = sweep(&[], &folder.text("new"), &["--resume"]);
    assert!(ran.code == 2 && ran.err.contains("there is no sweep in"), "{}", ran.err);
    assert!(!folder.path("new").exists());
    let ran = sim(&["sweep", "status", &folder.text("file")]);
    assert!(ran.code == 2 && ran.err.contains("is not the folder of a sweep"), "{}", ran.err);
    fs::write(folder.path("bad.toml"), "colour = 1\n").unwrap();
    let ran = sweep(&[&folder.text("bad.toml")], &out, &[]);
    assert!(ran.code == 2 && ran.err.contains("bad.toml: line 1: colour: this option cannot be swept"), "{}", ran.err);
    fs::write(folder.path("bad.toml"), "load = 1\n\npredictor = [\n  \"ruh\",\n  \"rhu\",\n]\n").unwrap();
    let ran = sweep(&[&folder.text("bad.toml")], &out, &[]);
    assert!(ran.code == 2 && ran.err.contains("bad.toml: line 5: predictor: unknown predictor 'rhu'"), "{}", ran.err);
    // The folder's own grid, damaged.
    assert_eq!(sweep(&["--first", "10"], &out, &[]).code, 0);
    fs::write(folder.path("a/grid.toml"), "first = 10\nload = [1\n").unwrap();
    let ran = sweep(&[], &out, &["--resume"]);
    assert!(ran.code == 2 && ran.err.contains("a/grid.toml: not a sweep: line 2"), "{}", ran.err);
    assert_eq!(sweep(&["--first", "10"], &out, &["--change-grid"]).code, 0);
    for shard in ["0/2", "3/2", "x"] {
        let ran = sweep(&["--load", "1"], &out, &["--shard", shard]);
        assert!(ran.code == 2 && ran.err.contains("is not a shard such as 3/8"), "{}", ran.err);
    }
}

#[test]
fn a_resume_without_lists_goes_on_with_the_folders_grid() {
    let folder = Folder::new();
    let out = folder.text("a");
    assert_eq!(sweep(&GRID, &out, &[]).code, 0);
    let (results, grid) = (folder.read("a/results.csv"), folder.read("a/grid.toml"));
    let ran = sweep(&[], &out, &["--resume"]);
    assert!(ran.code == 0 && ran.err.contains("24 cells: 24 reused, 0 computed"), "{}", ran.err);
    assert_eq!((folder.read("a/results.csv"), folder.read("a/grid.toml")), (results.clone(), grid.clone()));
    let listed = sweep(&[], &out, &["--resume", "--dry-run"]);
    assert_eq!(listed.out.lines().count(), 24, "{}", listed.err);
    // So does a shard.
    let ran = sweep(&[], &out, &["--shard", "2/3"]);
    assert!(ran.code == 0 && ran.err.contains("8 cells: 8 reused, 0 computed"), "{}", ran.err);
    // Another grid is refused; the message says what differs.
    let other = GRID.map(|word| if word == "2000" { "1000" } else { word });
    let ran = sweep(&other[..6], &out, &["--resume"]);
    assert!(ran.code == 2 && ran.err.contains("first is 2000 there and not given here"), "{}", ran.err);
    let ran = sweep(&other, &out, &["--resume"]);
    assert!(ran.code == 2 && ran.err.contains("first is 2000 there and 1000 here"), "{}", ran.err);
    assert!(ran.err.contains("--change-grid"), "{}", ran.err);
    let swapped = [&GRID[2..], &GRID[..2]].concat();
    let ran = sweep(&swapped, &out, &["--resume"]);
    assert!(ran.code == 2 && ran.err.contains("its lists are in another order"), "{}", ran.err);
    assert_eq!((folder.read("a/results.csv"), folder.read("a/grid.toml")), (results.clone(), grid));
    // It is possible on request, and no finished result is lost.
    let ran = sweep(&other, &out, &["--change-grid"]);
    assert!(ran.code == 0 && ran.err.contains("24 cells: 0 reused, 24 computed"), "{}", ran.err);
    let ran = sweep(&GRID, &out, &["--change-grid"]);
    assert!(ran.code == 0 && ran.err.contains("24 cells: 24 reused, 0 computed"), "{}", ran.err);
    assert_eq!(folder.read("a/results.csv"), results);
}

#[test]
fn resumed_replications_are_printed_as_they_were() {
    let folder = Folder::new();
    let (out, grid) = (folder.text("a"), ["--predictor", "estimate,ruh", "--first", "300", "--replications", "3"]);
    let first = sweep(&grid, &out, &[]);
    assert!(first.code == 0 && first.out.starts_with("trace,scheduler,predictor,first,rows,"), "{}", first.err);
    assert_eq!(sweep(&[], &out, &["--resume"]).out, first.out);
    // In a file as well.
    fs::write(folder.path("study.toml"), "predictor = \"estimate,ruh\"\nfirst = 300\nreplications = 3\n").unwrap();
    assert_eq!(sweep(&[&folder.text("study.toml")], &folder.text("b"), &[]).out, first.out);
}

/// Results of two machines are never averaged together because their logs have the same file name.
#[test]
fn logs_of_one_name_are_told_apart() {
    let folder = Folder::new();
    let text = String::from_utf8(demo_text()).unwrap();
    for (name, log) in [("aa", text.clone()), ("bb", text.replace("MaxProcs: 128", "MaxProcs: 200"))] {
        fs::create_dir(folder.path(name)).unwrap();
        fs::write(folder.path(&format!("{name}/log.swf")), log).unwrap();
    }
    let traces = format!("{},{}", folder.text("aa/log.swf"), folder.text("bb/log.swf"));
    let grid = ["--trace", &traces, "--first", "300"];
    let ran = sweep(&grid, &folder.text("a"), &["--replications", "3"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let groups: Vec<_> = ran.out.lines().skip(1).map(|row| row.split(',').next().unwrap()).collect();
    assert_eq!(groups, ["aa/log", "bb/log"]);
    let ran = sweep(&grid, &folder.text("b"), &["--load", "1,1.1", "--group-by", "trace"]);
    assert!(ran.out.lines().skip(1).all(|row| row.split(',').nth(1) == Some("2")), "{}", ran.out);
    // A log that comes later changes the label, not what is finished.
    let one = ["--trace", &folder.text("aa/log.swf"), "--first", "300"];
    assert!(sweep(&one, &folder.text("c"), &[]).out.contains("\nlog,128,"));
    let both = sweep(&grid, &folder.text("c"), &["--change-grid"]);
    assert!(both.err.contains("2 cells: 1 reused, 1 computed") && both.out.contains("\naa/log,128,"), "{}", both.out);
}

/// The rows of a log are complete for any name of the log.
#[cfg(unix)]
#[test]
fn logs_with_odd_names() {
    let folder = Folder::new();
    let names =
        ["line\nend.swf", "{a|b}.swf", "a}b.swf", "1..3.swf", "x,y.swf", "\"quoted\".swf", "tab\t\\.swf", "a b'c.swf"];
    for name in names {
        fs::write(folder.path(name), demo_text()).unwrap();
    }
    let mut grid = vec!["--first".to_string(), "100".to_string()];
    grid.extend(names.iter().flat_map(|name| ["--trace".to_string(), folder.text(name)]));
    let grid: Vec<&str> = grid.iter().map(String::as_str).collect();
    let ran = sweep(&grid, &folder.text("a"), &[]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let rows = csv_rows(&folder.read("a/results.csv"));
    assert_eq!(rows.len(), names.len());
    assert!(rows.iter().all(|row| row.len() == rows[0].len() && row[1] == "128"), "{rows:?}");
    // The folder's grid names the same logs.
    let again = sweep(&[], &folder.text("a"), &["--resume"]);
    assert!(again.code == 0 && again.err.contains("8 cells: 8 reused, 0 computed"), "{}", again.err);
    fs::remove_file(folder.path("a/results.csv")).unwrap();
    assert_eq!(sim(&["sweep", "merge", &folder.text("a")]).code, 0);
    assert_eq!(csv_rows(&folder.read("a/results.csv")), rows);
    // As a file of lists the folder's grid says the same.
    let copied = sweep(&[&folder.text("a/grid.toml")], &folder.text("b"), &[]);
    assert_eq!((copied.code, csv_rows(&copied.out)), (0, rows), "{}", copied.err);
}

/// The rows of a CSV without its header.
fn csv_rows(text: &str) -> Vec<Vec<String>> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    reader.records().map(|row| row.unwrap().iter().map(str::to_string).collect()).collect()
}

#[test]
fn a_part_that_vanishes_during_a_run_is_missed() {
    let folder = Folder::new();
    let out = folder.text("a");
    let grid =
        ["--scheduler", "easy,sjbf,conservative", "--predictor", "ruh:window={1|2|3|4|5|6|7|8}", "--load", "1,1.1"];
    let child = command(env!("CARGO_BIN_EXE_sim"))
        .args([&["sweep"], &grid[..], &["--out", &out]].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_until("there is no part", || fs::remove_file(folder.path("a/parts/0001.part")).is_ok());
    let ended = child.wait_with_output().unwrap();
    let err = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.code() == Some(1) && err.contains("48 of 48 cells are missing"), "{err}");
    assert!(!folder.path("a/results.csv").exists());
    assert!(sweep(&[], &out, &["--resume"]).err.contains("48 cells: 0 reused, 48 computed"));
}

/// A merge needs only the finished parts, not the logs and not the working folder of the sweep.
#[test]
fn any_working_folder_will_do() {
    let folder = Folder::new();
    let run_in = |place: &str, args: &[&str]| {
        let mut command = command(env!("CARGO_BIN_EXE_sim"));
        let ran = command.current_dir(folder.path(place)).args(args).output().unwrap();
        (ran.status.code(), String::from_utf8_lossy(&ran.stderr).into_owned())
    };
    fs::write(folder.path("log.swf"), demo_text()).unwrap();
    fs::create_dir(folder.path("elsewhere")).unwrap();
    let begun = run_in(".", &["sweep", "--trace", "log.swf", "--load", "1,1.1", "--first", "300", "--out", "a"]);
    assert_eq!(begun.0, Some(0), "{}", begun.1);
    let results = folder.read("a/results.csv");
    for args in [&["sweep", "merge", "../a"][..], &["sweep", "--out", "../a", "--resume"]] {
        let (code, err) = run_in("elsewhere", args);
        assert_eq!((code, folder.read("a/results.csv")), (Some(0), results.clone()), "{err}");
        assert!(!folder.path("a/results.partial.csv").exists());
    }
    // The log is gone: what is finished stays so.
    fs::remove_file(folder.path("log.swf")).unwrap();
    fs::remove_file(folder.path("a/results.csv")).unwrap();
    for args in [&["sweep", "merge", "../a"][..], &["sweep", "--out", "../a", "--resume"]] {
        let (code, err) = run_in("elsewhere", args);
        assert_eq!((code, folder.read("a/results.csv")), (Some(0), results.clone()), "{err}");
    }
    // An incomplete result does not replace a complete one.
    let larger = ["--trace", &folder.text("log.swf"), "--load", "1,1.1,1.2", "--first", "300"];
    let ran = sweep(&larger, &folder.text("a"), &["--change-grid"]);
    assert!(ran.code == 1 && ran.err.contains("1 of 3 cells failed"), "{}", ran.err);
    assert_eq!(folder.read("a/results.csv"), results);
    assert_eq!(folder.read("a/results.partial.csv").lines().count(), 3);
    assert_eq!(sim_ok(&["sweep", "status", &folder.text("a")]), "3 cells: 2 done, 1 failed, 0 missing\n");
}

/// A merge uses the latest record of a log, also if no cell had to be computed.
#[test]
fn a_log_that_changes_back_is_not_mixed_up() {
    let folder = Folder::new();
    let (log, out) = (folder.text("log.swf"), folder.text("a"));
    let (one, two) = (demo_text(), String::from_utf8(demo_text()).unwrap().replace("MaxProcs: 128", "MaxProcs: 200"));
    let run = |content: &[u8]| {
        fs::write(&log, content).unwrap();
        let ran = sweep(&["--trace", &log, "--first", "300"], &out, &["--resume"]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        folder.read("a/results.csv")
    };
    let first = run(&one);
    assert_ne!(run(two.as_bytes()), first);
    assert_eq!(run(&one), first);
    assert_eq!(sim(&["sweep", "merge", &out]).code, 0);
    assert_eq!(folder.read("a/results.csv"), first);
}

/// The first job is held for ten minutes. As submitted it is the first: the second waits nine minutes for its end. Otherwise the
/// second runs from minute 1 to minute 61, and the first waits 51 minutes from its release on.
#[test]
fn runs_that_read_a_log_differently_do_not_share_it() {
    let folder = Folder::new();
    let time = |minute: u32| format!("2026-01-01T{:02}:{:02}:00", minute / 60, minute % 60);
    let row = |id: u32, minutes: [u32; 4]| format!("{id}|{}|4|02:00:00\n", minutes.map(time).join("|"));
    let rows = [row(1, [0, 10, 20, 30]), row(2, [1, 1, 60, 120])].concat();
    let log = folder.write("sacct.txt", format!("JobID|Submit|Eligible|Start|End|NCPUS|Timelimit\n{rows}"));
    let grid = ["--trace", &log, "--procs", "4", "--scheduler", "fcfs", "--predictor", "estimate", "--log-format"];
    for (order, expected) in
        [("submitted|eligible", ["270.000", "1530.000"]), ("eligible|submitted", ["1530.000", "270.000"])]
    {
        let list = format!("auto:submit-time={{{order}}}");
        let ran = sweep(&[&grid[..], &[&list]].concat(), &folder.text(order), &["--threads", "1"]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert_eq!(columns_of(&results(&folder.path(order)), &["wait_mean"]), expected, "{order}");
    }
}

#[test]
fn equal_runs_count_once_in_a_group() {
    let folder = Folder::new();
    let grid = ["--shake", "0s,30s", "--seed", "1..3", "--first", "300"];
    let ran = sweep(&grid, &folder.text("a"), &["--group-by", "shake"]);
    let rows = csv_rows(&ran.out);
    assert_eq!((rows[0][1].as_str(), rows[0][3].as_str()), ("1", ""), "three equal rows have no interval: {}", ran.out);
    assert!(rows[1][1] == "3" && rows[1][3].parse::<f64>().unwrap() > 0.0, "{}", ran.out);
}

/// A process that is killed at once leaves a folder in which a sweep can be started or resumed.
#[test]
fn a_folder_with_nothing_but_a_temporary_file_is_empty() {
    let folder = Folder::new();
    for (name, more) in [("a", &[][..]), ("b", &["--resume"]), ("c", &["--shard", "1/1"])] {
        fs::create_dir(folder.path(name)).unwrap();
        fs::write(folder.path(&format!("{name}/.grid.toml.1.tmp")), "lo").unwrap();
        let ran = sweep(&["--first", "100"], &folder.text(name), more);
        assert_eq!(ran.code, 0, "{name}: {}", ran.err);
    }
    // If the grid of a folder is lost, its parts can be used with a given grid.
    fs::remove_file(folder.path("b/grid.toml")).unwrap();
    let ran = sweep(&["--first", "100"], &folder.text("b"), &["--resume"]);
    assert!(ran.code == 0 && ran.err.contains("1 cell: 1 reused"), "{}", ran.err);
}

#[test]
fn shards_started_at_once_in_a_new_folder_all_work() {
    let folder = Folder::new();
    assert_eq!(sweep(&GRID, &folder.text("whole"), &[]).code, 0);
    for round in 0..10 {
        let out = folder.text(&format!("at-once-{round}"));
        let start = |shard: usize| {
            command(env!("CARGO_BIN_EXE_sim"))
                .args(
                    [&["sweep"], &GRID[..], &["--out", &out, "--shard", &format!("{shard}/8"), "--threads", "1"]]
                        .concat(),
                )
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        };
        let children: Vec<_> = (1..=8).map(start).collect();
        for child in children {
            let ended = child.wait_with_output().unwrap();
            assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
        }
        assert_eq!(sim(&["sweep", "merge", &out]).code, 0);
        assert_eq!(results(Path::new(&out)), folder.read("whole/results.csv"));
    }
}

/// Two files of accounts are one value, as in the main command; two values are two options.
#[test]
fn files_of_accounts_are_joined() {
    let folder = Folder::new();
    let conf = folder.write("slurm.conf", "ClusterName=micro\nNodeName=n[1-99] CPUs=4\n");
    let (files, qos) = (dump_of_site("ub-micro"), dump_of_site("ub-micro").split(',').nth(1).unwrap().to_string());
    let cells = |more: &[&str]| {
        let args = ["sweep", "--dry-run", "--machine", &conf, "--scheduler", "slurm", "--associations", &files];
        sim_ok(&[&args[..], more].concat()).lines().map(str::to_string).collect::<Vec<_>>()
    };
    let one = cells(&[]);
    assert!(one.len() == 1 && one[0].contains(&format!("--associations {files}")), "{one:?}");
    assert_eq!(cells(&["--associations", &qos]).len(), 2);
}

/// Rows that differ only in the processors of the machine can be told apart in every table.
#[test]
fn swept_processors_are_in_every_table() {
    let folder = Folder::new();
    let study = folder.text("study");
    let sweep = ["sweep", "--procs", "100,128", "--first", "200", "--format", "table"];
    let words = |table: String| table.split_whitespace().map(str::to_string).collect::<Vec<_>>();
    let has = |table: String| {
        let words = words(table);
        ["procs", "100", "128"].iter().all(|word| words.iter().any(|other| other == word))
    };
    assert!(has(sim_ok(&[&sweep[..], &["--out", &study]].concat())));
    assert!(has(sim_ok(&[&sweep[..], &["--out", &folder.text("means"), "--replications", "2"]].concat())));
    let means = sim_ok(&["sweep", "--out", &study, "--resume", "--group-by", "procs", "--format", "csv"]);
    assert!(means.starts_with("procs,rows,") && means.contains("\n100,1,") && means.contains("\n128,1,"), "{means}");
}
