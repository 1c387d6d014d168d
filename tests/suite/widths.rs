//! Tables, lists and progress bars within the width of the terminal.

use std::collections::BTreeSet;

use unicode_width::UnicodeWidthStr;

use crate::support::{command, first_jobs};

/// The widths of usual terminals.
const WIDTHS: [usize; 3] = [80, 100, 160];

/// The standard output of a command whose environment says how wide it is.
fn printed(args: &[&str], columns: &str) -> String {
    printed_with_code(args, columns, 0)
}

/// As [`printed`], of a command that ends with this exit code.
fn printed_with_code(args: &[&str], columns: &str, code: i32) -> String {
    let output = command(env!("CARGO_BIN_EXE_sim")).arg("-q").args(args).env("COLUMNS", columns).output().unwrap();
    assert_eq!(output.status.code(), Some(code), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Checks that no line is wider than this.
fn assert_within(width: usize, text: &str) {
    for line in text.lines() {
        assert!(line.width() <= width, "{} > {width}\n{line}\n{text}", line.width());
    }
}

/// A word of the first text that the second has neither whole nor shortened by `...`.
fn lost_word<'a>(whole: &'a str, text: &str) -> Option<&'a str> {
    let shown: BTreeSet<&str> = text.split_whitespace().collect();
    let ends: Vec<_> = shown.iter().filter_map(|word| word.split_once("...")).collect();
    let is_shortened = |word: &str| ends.iter().any(|(head, tail)| word.starts_with(head) && word.ends_with(tail));
    whole.split_whitespace().find(|word| !shown.contains(word) && !is_shortened(word))
}

/// Checks a command at several widths: no line is wider, and every word of the widest form is there, whole or shortened.
fn assert_fits(args: &[&str]) {
    assert_fits_with_code(args, 0);
}

fn assert_fits_with_code(args: &[&str], code: i32) {
    let printed = |args: &[&str], columns: &str| printed_with_code(args, columns, code);
    let whole = printed(args, "100000");
    assert!(!whole.is_empty(), "{args:?}");
    for width in WIDTHS {
        let text = printed(args, &width.to_string());
        assert_within(width, &text);
        let lost = lost_word(&whole, &text);
        assert!(lost.is_none(), "{args:?}: '{lost:?}' is lost at {width} columns\n{text}");
    }
}

/// A predictor whose name is longer than any terminal that is tested here.
const LONG: &str = "smith:templates=(u,g,e,n=8,rel);(u,e,n=4,rel);(u,g,q,n=2,rel);(u,lr);(u,e,lr);(g,q,n=16);(q,n=4,rel);\
                    (e,rel);(u,n=2,rel,h=64);(rel);()";

/// A folder with small logs for all commands, as the current folder has none.
fn folder_of_logs() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("small.swf"), first_jobs(600)).unwrap();
    folder
}

#[test]
fn tables_of_simulations_fit() {
    let folder = folder_of_logs();
    let log = folder.path().join("small.swf");
    let log = log.to_str().unwrap();
    let table = ["--format", "table"];
    assert_fits(&[&["--trace", log], &table[..]].concat());
    assert_fits(&[&["--trace", log, "--baseline", "easy/estimate"], &table[..]].concat());
    assert_fits(&[&["--trace", log, "--predictor", LONG, "--baseline", "sjbf/sbh"], &table[..]].concat());
    let compared = ["--trace", log, "--baseline", "easy/estimate"];
    assert_fits(&[&compared[..], &["--replications", "3"], &table].concat());
    assert_fits(&[&compared[..], &["--by", "width,user,week"], &table].concat());
    assert_fits(&[&compared[..], &["--by", "width", "--predictor", LONG], &table].concat());
    let predictors = format!("ruh,sbh,{LONG}");
    let lists = ["--scheduler", "easy,sjbf:running=estimate", "--predictor", &predictors];
    assert_fits(&[&compared[..], &lists, &table].concat());
    assert_fits(&[&compared[..], &lists, &["--replications", "2"], &table].concat());
    assert_fits(&[&["--trace", log], &lists[..], &table].concat());
    assert_fits(&[&["fidelity", log], &table[..]].concat());
    assert_fits(
        &[&["fidelity", log, "--scheduler", "sjbf", "--predictor", LONG, "--window", "1d"], &table[..]].concat(),
    );
}

/// A table of several settings that is cut into blocks has the baseline in each of them.
#[test]
fn every_block_of_a_comparison_has_the_baseline() {
    let args = ["--first", "600", "--scheduler", "easy,sjbf", "--predictor", "estimate,ruh,sbh", "--baseline"];
    for (baseline, replications, widths) in
        [("easy/estimate", &[][..], &[80, 100][..]), ("easy/estimate", &["--replications", "3"], &[100])]
    {
        let args = [&args[..], &[baseline], replications, &["--format", "table"]].concat();
        let whole = printed(&args, "100000");
        // It is in the list of settings, too, and has one column.
        assert_eq!(whole.matches(" easy/estimate ").count(), 1, "{whole}");
        for width in widths {
            let text = printed(&args, &width.to_string());
            let headings: Vec<_> = text.lines().filter(|line| line.starts_with(' ') && line.contains('/')).collect();
            assert!(headings.len() > 1, "{width}\n{text}");
            assert!(headings.iter().all(|line| line.contains(baseline)), "{width}\n{text}");
        }
    }
}

/// Seven settings do not fit beside each other: below the blocks the best is named, with its figure.
#[test]
fn the_best_of_many_settings_is_named() {
    let lists = ["--first", "600", "--scheduler", "easy,sjbf", "--predictor", "estimate,ruh,sbh,kin"];
    for (baseline, replications) in
        [("easy/estimate", &[][..]), ("none", &[]), ("easy/estimate", &["--replications", "2"])]
    {
        let args = [&lists[..], &["--baseline", baseline], replications].concat();
        let csv = printed(&[&args[..], &["--format", "csv"]].concat(), "80");
        let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
        let column = |name: &str| rows[0].iter().position(|other| *other == name).unwrap();
        let text = printed(&[&args[..], &["--format", "table"]].concat(), "80");
        let (_, best) = text.split_once("\n\nbest by ").unwrap_or_else(|| panic!("{text}"));
        for (caption, figure) in [("wait, mean", "wait_mean"), ("bounded slowdown, mean", "bsld_mean")] {
            let value = |row: &&Vec<&str>| row[column(figure)].parse::<f64>().unwrap();
            let winner = rows[1..].iter().min_by(|a, b| value(a).total_cmp(&value(b))).unwrap();
            let name = format!("{}/{}", winner[column("scheduler")], winner[column("predictor")]);
            let line = best.lines().find(|line| line.starts_with(caption)).unwrap_or_else(|| panic!("{text}"));
            assert!(line[caption.len()..].trim_start().starts_with(&name), "{name}\n{text}");
        }
    }
    // The baseline may be the best.
    let worse = ["--first", "600", "--predictor", "estimate,ruh", "--scheduler", "fcfs", "--baseline", "sjbf/perfect"];
    let text = printed(&[&worse[..], &["--format", "table"]].concat(), "80");
    assert!(text.contains("wait, mean              sjbf/perfect (the baseline)"), "{text}");
}

/// Every block of a sweep's table says which row is which, and a figure and its gain are in the same block.
#[test]
fn every_block_of_a_sweep_has_the_swept_options() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("study");
    let lists =
        ["--scheduler", "easy,sjbf", "--predictor", "ruh,sbh", "--load", "1,1.2", "--baseline", "easy/estimate"];
    let args = [&["sweep", "--out", out.to_str().unwrap(), "--format", "table"], &lists[..]].concat();
    let text = printed(&args, "80");
    let blocks: Vec<&str> =
        text.split("\n\n").filter(|block| block.contains("utilization") || block.contains("_mean")).collect();
    assert!(blocks.len() > 1, "{text}");
    for block in &blocks {
        assert!(block.contains(" load ") && block.contains(" 1.2 "), "{text}");
    }
    let headings: Vec<&str> = blocks[0].lines().take(2).collect();
    assert!(headings[0].contains("wait") && headings[1].contains("gain  bsld_mean"), "{text}");
}

#[test]
fn tables_of_differences_fit() {
    let folder = folder_of_logs();
    let log = folder.path().join("small.swf");
    let files = ["ruh", LONG].map(|predictor| {
        let file = folder.path().join(format!("{}.csv", predictor.len()));
        let lists = ["--predictor", predictor, "--scheduler", "easy,sjbf", "--format", "csv"];
        let log = ["--trace", log.to_str().unwrap()];
        std::fs::write(&file, printed(&[&log[..], &lists].concat(), "100")).unwrap();
        file.to_str().unwrap().to_string()
    });
    // The closing lines name the files, however long their paths are.
    let args = ["compare", &files[0], &files[1], "--format", "table"];
    for width in WIDTHS {
        let text = printed_with_code(&args, &width.to_string(), 1);
        let table = text.lines().take_while(|line| !line.is_empty());
        assert!(table.clone().count() == 5 && table.clone().all(|line| line.width() <= width), "{width}\n{text}");
    }
}

#[test]
fn tables_of_sweeps_fit() {
    let folder = folder_of_logs();
    let log = folder.path().join("small.swf");
    for (name, more) in
        [("one", &[][..]), ("grouped", &["--group-by", "scheduler,load"]), ("copies", &["--replications", "2"])]
    {
        let out = folder.path().join(name);
        let args = [
            "sweep",
            "--resume",
            "--format",
            "table",
            "--trace",
            log.to_str().unwrap(),
            "--out",
            out.to_str().unwrap(),
        ];
        let lists = ["--scheduler", "easy,sjbf", "--load", "1,1.2", "--baseline", "easy/estimate", "--predictor"];
        let predictors = format!("ruh,{LONG}");
        // The path of the results stands whole in a line of its own, however long it is.
        let args = [&args[..], more, &lists, &[&predictors]].concat();
        let whole = printed(&args, "100000");
        assert!(name == "grouped" || whole.contains(LONG), "{whole}");
        for width in WIDTHS {
            let text = printed(&args, &width.to_string());
            let table = text.lines().filter(|line| !line.contains(out.to_str().unwrap()));
            assert!(table.clone().all(|line| line.width() <= width), "{width}\n{text}");
            assert_eq!(lost_word(&whole, &text), None, "{width}\n{text}");
        }
    }
}

#[test]
fn tables_of_studies_fit() {
    let folder = folder_of_logs();
    let log = folder.path().join("small.swf");
    let log = log.to_str().unwrap();
    let (first, second) = (format!("first={log}"), format!("second={log}"));
    for args in [
        &["search", "--trace", log, "--evaluations", "300", "--train", "0.5"][..],
        &["wait", "--trace", log, "--method", "knn,ibl,qbets,knn:point=linear"],
        &["wait", "ask", "--trace", log, "--at", "500"],
        &["wait", "ask", "--trace", log, "--job", "procs=4,estimate=2h"],
        &["meta", "--site", &first, "--site", &second],
        &["meta", "--scenario", "1K-equal-I,1K-unequal-II", "--days", "1", "--policy", "static,least-loaded"],
        &["malleable", "--days", "1"],
        &["malleable", "--days", "1", "--replications", "2"],
        &["trace", "info", log],
    ] {
        assert_fits(&[args, &["--format", "table"]].concat());
    }
    // It takes seconds.
    let study = ["reproduce", "downey", "--days", "1", "--replications", "2", "--format", "table"];
    assert_within(80, &printed(&study, "80"));
}

#[test]
fn lists_fit() {
    for what in ["predictors", "schedulers", "estimates", "strategies", "policies", "methods", "columns"] {
        assert_fits(&["list", what]);
    }
}

#[test]
fn the_width_is_sensible_whatever_the_environment_says() {
    let widest =
        |columns: &str| printed(&["list", "columns"], columns).lines().map(UnicodeWidthStr::width).max().unwrap();
    let hundred = widest("100");
    assert!((80..=100).contains(&hundred), "{hundred}");
    assert_eq!(["", "wide", "-5", "1e3"].map(widest), [hundred; 4]);
    assert_eq!(widest("1"), widest("40"));
}
