//! Reproductions of papers, run on a log that is not one of theirs, to check that all parts run and are reported.

use std::fs;
use std::path::Path;

use crate::support::{Ran, command, first_jobs, left_to_ci, real_logs, sim, sim_ok};

/// A folder with the embedded log under the name of one of the paper's logs.
fn logs() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let log = include_bytes!("../../traces/demo.swf.gz");
    fs::write(folder.path().join("KTH-SP2-1996-9.9-cln.swf.gz"), log).unwrap();
    folder
}

fn talby(folder: &Path, more: &[&str]) -> Ran {
    sim(&[&["reproduce", "talby", "--logs", folder.to_str().unwrap()], more].concat())
}

/// The rows of a CSV, its header first.
fn rows(text: &str) -> Vec<csv::StringRecord> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
    reader.records().map(Result::unwrap).collect()
}

/// The figure of a table that begins so, in a row and a column.
fn find<'a>(rows: &'a [csv::StringRecord], table: &str, row: &str, column: &str) -> &'a csv::StringRecord {
    let fits = |line: &&csv::StringRecord| line[1].starts_with(table) && &line[2] == row && &line[3] == column;
    rows.iter().find(fits).unwrap_or_else(|| panic!("{table}, {row}, {column}"))
}

#[test]
fn published_and_measured_stand_side_by_side() {
    let folder = logs();
    let kept = folder.path().join("kept");
    let options = ["--replications", "3", "--format", "csv", "--keep", kept.to_str().unwrap()];
    let ran = talby(folder.path(), &options);
    assert_eq!(ran.code, 0, "{}", ran.err);
    for missing in ["SDSC-SP2-1998", "CTC-SP2-1996", "SDSC-BLUE-2000"] {
        assert!(ran.err.contains(&format!("warning: no log {missing}")), "{}", ran.err);
    }
    assert!(ran.err.contains("note: KTH is ") && ran.err.contains("Lars Malinowsky"), "{}", ran.err);
    let rows = rows(&ran.out);
    assert_eq!(&rows[0], vec!["study", "table", "row", "column", "published", "measured", "low", "high", "note"]);
    let find = |table: &str, row: &str, column: &str| find(&rows, table, row, column).clone();
    let perfect = find("Table 2", "Perfect", "absolute inaccuracy");
    assert_eq!((&perfect[4], &perfect[5], &perfect[6], &perfect[7]), ("100", "100.000000", "100.000000", "100.000000"));
    assert_eq!(&find("Table 4", "[E,P,X]", "bounded slowdown")[4], "8");
    assert_eq!(&find("Table 5", "Unbalanced", "absolute inaccuracy")[4], "N/A");
    assert_eq!(&find("Table 6", "Constant 1 second", "relative accuracy")[4], "37");
    assert_eq!(&find("Figure 4", "KTH, EASY", "wait, minutes")[8], "figure");
    let claim = find("text", "DFS better than BFS by wait time", "share of cases");
    assert!(claim[8].contains("noise") && &claim[4] == ">90", "{claim:?}");
    // Percent of the jobs: all of them.
    let histogram: f64 =
        rows.iter().filter(|row| row[1].starts_with("Figure 2")).map(|row| row[5].parse::<f64>().unwrap()).sum();
    assert!((histogram - 100.0).abs() < 1e-3, "{histogram}");

    // What is kept is used again, whatever the threads, and gives the same bytes.
    let again = talby(folder.path(), &[&options[..], &["--threads", "1"]].concat());
    assert!(again.err.contains("354 runs: 354 reused, 0 computed"), "{}", again.err);
    assert_eq!(again.out, ran.out);
}

#[test]
fn every_run_can_be_repeated_by_hand() {
    let folder = logs();
    let cells = folder.path().join("cells.csv");
    let ran =
        talby(folder.path(), &["--replications", "1", "--cells-out", cells.to_str().unwrap(), "--format", "table"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(
        ran.out.contains("Table 2, improvement over EASY in percent") && ran.out.contains("this one run"),
        "{}",
        ran.out
    );
    let piped = talby(folder.path(), &["--replications", "1", "--cells-out", "-", "--format", "csv"]);
    let cells = fs::read_to_string(cells).unwrap();
    assert!(piped.out == cells && piped.err.contains("study,table,row"), "the figures make way");
    let cells = rows(&cells);
    assert_eq!(cells.len(), 1 + 118);
    for cell in cells.iter().skip(1).step_by(20) {
        let script = cell[0].replacen("sim", "\"$0\" -q --no-header", 1);
        let alone = command("sh").args(["-c", &script, env!("CARGO_BIN_EXE_sim")]).output().unwrap();
        let alone = rows(&String::from_utf8(alone.stdout).unwrap());
        assert!(alone[0].iter().eq(cell.iter().skip(1)), "{}", &cell[0]);
    }
}

/// Studies of one short log: the first page of each, files that are used again, and one that is damaged.
#[test]
fn all_studies_go_into_a_folder() {
    if left_to_ci("all_studies_go_into_a_folder") {
        return;
    }
    let folder = logs();
    fs::write(folder.path().join("KTH-SP2-1996-9.9-cln.swf.gz"), first_jobs(600)).unwrap();
    let out = folder.path().join("studies");
    let all = |more: &[&str]| {
        let (logs, out) = (folder.path().to_str().unwrap(), out.to_str().unwrap());
        sim(&[&["reproduce", "all", "--logs", logs, "--out", out, "--quick"], more].concat())
    };
    let ran = all(&["--format", "table"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    for study in ["talby", "tsafrir", "downey"] {
        assert!(ran.out.contains(&format!("{study}: ")), "{}", ran.out);
        let table = fs::read_to_string(out.join(format!("{study}.txt"))).unwrap();
        assert!(table.lines().all(|line| line.chars().count() <= 100), "{study}");
        // The counts of the first page add up to the number in its title.
        let page: Vec<Vec<&str>> =
            table.lines().take_while(|line| !line.is_empty()).map(|line| line.split_whitespace().collect()).collect();
        let number = |word: &str| word.parse::<usize>().unwrap();
        let counted: usize = page[1..7].iter().map(|line| number(line[line.len() - 1])).sum();
        assert!(page.len() <= 10 && counted == number(page[0][1]), "{page:?}");
        assert!(out.join(format!("{study}.csv")).exists());
        let html = fs::read_to_string(out.join(format!("{study}.html"))).unwrap();
        assert!(html.contains(&format!("Published and measured: {study}")) && html.contains("sim reproduce all"));
    }
    assert!(ran.err.contains("smith is left out") && ran.err.contains("kumar-wait is left out"), "{}", ran.err);
    assert_eq!(fs::read_to_string(out.join("summary.txt")).unwrap(), ran.out);
    // What is finished is used again; what is damaged is computed again; the bytes are the same.
    fs::write(out.join("tsafrir.json"), "{").unwrap();
    let again = all(&["--format", "table", "--threads", "1"]);
    assert!(again.err.contains("talby: reused from") && again.err.contains("downey: reused from"), "{}", again.err);
    assert!(!again.err.contains("tsafrir: reused from"), "{}", again.err);
    assert_eq!(again.out, ran.out);
    // A study that fails does not stop the others.
    fs::write(folder.path().join("KTH-SP2-1996-9.9-cln.swf.gz"), "rubbish\n").unwrap();
    let ran = all(&["--format", "table"]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(
        ran.err.contains("error: talby: 118 runs failed") && ran.err.contains("downey: reused from"),
        "{}",
        ran.err
    );
    assert!(
        ran.err.contains("3 of 8 studies failed: talby, tsafrir, gaussier") && ran.out.contains("downey: "),
        "{}",
        ran.err
    );
    let nothing = tempfile::tempdir().unwrap();
    let file = nothing.path().join("file");
    fs::write(&file, "").unwrap();
    let ran = sim(&["reproduce", "all", "--logs", nothing.path().to_str().unwrap(), "--out", file.to_str().unwrap()]);
    assert!(ran.code == 1 && ran.err.contains("file"), "{}", ran.err);
}

/// The figures that two other programs published, where ours must agree: on KTH, EASY and clairvoyant SJBF.
#[test]
fn figures_of_another_program_come_out() {
    let Some(logs) = real_logs("figures_of_another_program_come_out") else { return };
    let folder = tempfile::tempdir().unwrap();
    let kth = crate::support::real_log(&logs, "KTH-SP2-1996");
    fs::copy(&kth, folder.path().join(kth.file_name().unwrap())).unwrap();
    let options = ["--replications", "3", "--format", "csv"];
    let ran = sim(&[&["reproduce", "gaussier", "--logs", folder.path().to_str().unwrap()], &options[..]].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    let rows = rows(&ran.out);
    for (case, published) in [("EASY", "92.6"), ("clairvoyant SJBF", "49.8")] {
        let found = find(&rows, "bounded slowdown", "KTH", case);
        let number = |at: usize| found[at].parse::<f64>().unwrap();
        assert_eq!(&found[4], published);
        assert!((number(5) / number(4) - 1.0).abs() < 0.02, "{found:?}");
    }
    let flow = find(&rows, "longest flow time", "KTH", "EASY");
    assert_eq!(format!("{:.2}", flow[5].parse::<f64>().unwrap()), "0.31", "{flow:?}");
}

#[test]
fn a_study_needs_its_logs() {
    let empty = tempfile::tempdir().unwrap();
    let ran = talby(empty.path(), &[]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert!(ran.err.contains("none of the logs of the study is in"), "{}", ran.err);
    let ran = talby(Path::new("no/such/folder"), &[]);
    assert!(ran.code == 2 && ran.err.contains("cannot read the folder no/such/folder"), "{}", ran.err);
    // A damaged log: the run that fails is named with the command that repeats it.
    fs::write(empty.path().join("KTH-SP2-1996-1.swf"), "rubbish\n").unwrap();
    let ran = talby(empty.path(), &["--replications", "1"]);
    assert!(
        ran.code == 1 && ran.err.contains("is of none of the formats") && ran.err.contains("again: sim --trace"),
        "{}",
        ran.err
    );
}

#[test]
fn templates_beside_the_published_ones() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("CTC-SP2-1996-9.9-cln.swf.gz"), first_jobs(1500)).unwrap();
    let smith = |more: &[&str]| {
        let logs = ["reproduce", "smith", "--logs", folder.path().to_str().unwrap(), "--replications", "2"];
        sim(&[&logs[..], more].concat())
    };
    let ran = smith(&["--format", "csv"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("warning: no log SDSC-Par-1996"), "{}", ran.err);
    let rows = rows(&ran.out);
    let find = |table: &str, row: &str, column: &str| find(&rows, table, row, column).clone();
    let percent = "percent of mean run time";
    let requests = find("Table 1", "CTC", "requests");
    assert_eq!((&requests[4], &requests[5]), ("79302", "1500.000000"));
    assert_eq!(&find("Table 4", "CTC", percent)[4], "65.25");
    let genetic = find("Table 6", "CTC", &format!("genetic, {percent}"));
    let numbers: Vec<f64> = (5..8).map(|at| genetic[at].parse().unwrap()).collect();
    assert!(&genetic[4] == "58.58" && numbers[1] <= numbers[2], "{genetic:?}");
    // Two of the workloads are not available: the published figures have no counterpart, and a note says so.
    for name in ["ANL", "SDSC95"] {
        let row = find("Table 8", name, percent);
        assert_eq!((&row[5], &row[8]), ("", "the log is not public"));
    }
    assert_eq!(smith(&["--format", "csv", "--threads", "1"]).out, ran.out);
    let people = smith(&["--format", "table"]).out;
    assert!(people.contains("Table 10, Downey") && people.contains("ours: ("), "{people}");
}

#[test]
fn estimates_beside_the_published_ones() {
    let folder = logs();
    let tsafrir = |more: &[&str]| {
        let logs = ["reproduce", "tsafrir", "--logs", folder.path().to_str().unwrap(), "--replications", "3"];
        sim(&[&logs[..], more].concat())
    };
    let ran = tsafrir(&["--format", "csv"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("warning: no log CTC-SP2-1996") && ran.err.contains("Lars Malinowsky"), "{}", ran.err);
    let rows = rows(&ran.out);
    let find = |table: &str, row: &str, column: &str| find(&rows, table, row, column).clone();
    assert_eq!(&find("Table 2", "KTH4H", "99%")[4], "43");
    assert_eq!(&find("Table 5", "KTH4H", "03:50")[4], "3.3");
    let number = |row: &csv::StringRecord, at: usize| row[at].parse::<f64>().unwrap();
    // Shuffled estimates are the log's own, in another order; all others are not.
    assert_eq!(number(&find("Figures 14", "KTH4H, shfl", "distance"), 5), 0.0);
    assert!(number(&find("Figures 14", "KTH4H, f300", "distance"), 5) > 5.0);
    let vanilla = find("Figure 16", "KTH4H, vanl", "wait, minutes");
    assert!(number(&vanilla, 6) < number(&vanilla, 5) && vanilla[8].contains("mean of 3 seeds"), "{vanilla:?}");
    assert_eq!(&find("Figure 16", "KTH4H, f0", "bounded slowdown")[6], "", "nothing is drawn there");
    assert_eq!(&find("text", "KTH4H, wait, minutes", "impr nearer to shfl than vanl, by")[4], ">0");
    assert!(rows.iter().all(|row| !row[2].contains("CTC")));
    // Whatever the threads.
    assert_eq!(tsafrir(&["--format", "csv", "--threads", "1"]).out, ran.out);
    assert!(tsafrir(&["--format", "table"]).out.contains("Figure 16, EASY with estimates of each kind"));

    // The main command gives the same figures: of CTC all sane jobs are taken, on the paper's 512 processors.
    let ctc = folder.path().join("CTC-SP2-1996-9.9-cln.swf.gz");
    fs::write(&ctc, include_bytes!("../../traces/demo.swf.gz")).unwrap();
    let rows = self::rows(&tsafrir(&["--format", "csv"]).out);
    let run = ["--trace", ctc.to_str().unwrap(), "--procs", "512", "--scheduler", "easy", "--predictor", "estimate"];
    for (row, model) in [("CTC, original", "none"), ("CTC, X2", "x2"), ("CTC, f0", "f:f=0")] {
        let alone = self::rows(&sim(&[&run[..], &["--estimates", model, "--no-header"]].concat()).out);
        let measured = rows.iter().find(|line| &line[2] == row && &line[3] == "wait, minutes").unwrap();
        assert!((number(measured, 5) - number(&alone[0], 6) / 60.0).abs() < 1e-4, "{measured:?} {alone:?}");
    }
}

#[test]
fn metascheduling_beside_the_published_figures() {
    let folder = tempfile::tempdir().unwrap();
    let log = first_jobs(700);
    let [ctc, sp2] = ["CTC-SP2-1996-9.swf", "SDSC-SP2-1998-9.swf"].map(|name| folder.path().join(name));
    fs::write(&ctc, &log).unwrap();
    fs::write(&sp2, &log).unwrap();
    let kumar = |more: &[&str]| {
        let study = ["reproduce", "kumar-meta", "--logs", folder.path().to_str().unwrap(), "--days", "2"];
        sim(&[&study[..], more].concat())
    };
    let ran = kumar(&["--format", "csv"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("warning: no log ANL-Intrepid-2009") && ran.err.contains("165 runs"), "{}", ran.err);
    let rows = rows(&ran.out);
    let find = |table: &str, row: &str, column: &str| {
        let fits = |line: &&csv::StringRecord| line[1].starts_with(table) && &line[2] == row && &line[3] == column;
        rows.iter().find(fits).unwrap_or_else(|| panic!("{table}, {row}, {column}")).clone()
    };
    let share = find("Table 7", "CTC (430)", "static");
    // 22.9 / (22.9 + 7.9)
    assert_eq!(
        (&share[4], &share[5], &share[8]),
        (
            "22.9",
            "50.000000",
            "of these 2 sites' jobs 74.4 published; in the paper ANL ran half of all jobs, and its log is not here: not comparable"
        )
    );
    let anl = find("Table 7", "ANL (163840)", "least-loaded");
    assert_eq!((&anl[4], &anl[5], &anl[8]), ("53.4", "", "left out: its log is not here"));
    assert_eq!(&find("text, super", "shorter mean wait", "least-predicted against static")[4], "<=54");
    assert_eq!(&find("text, synthetic", "shorter mean wait than least-loaded", "most")[4], "14-78");
    // The command of its own gives the same means.
    let number = |row: &csv::StringRecord, at: usize| row[at].parse::<f64>().unwrap();
    let sites = [format!("CTC={}:procs=430", ctc.display()), format!("SDSC-SP2={}:procs=128", sp2.display())];
    let alone = self::rows(&sim(&["meta", "--site", &sites[0], "--site", &sites[1], "--format", "csv"]).out);
    for line in &alone[1..] {
        let figure = find("Figure 3", "all sites", &line[0]);
        assert!((number(&figure, 5) - number(line, 2) / 60.0).abs() < 1e-4, "{figure:?} {line:?}");
    }
    // The seed of the study's first replication.
    let made =
        ["meta", "--scenario", "all", "--days", "2", "--seed", "0", "--policy", "static,redundant", "--format", "csv"];
    let made = self::rows(&sim(&made).out);
    for (policy, published) in [("static", "196"), ("redundant", "")] {
        let waits: Vec<f64> =
            made.iter().filter(|line| &line[1] == policy).map(|line| number(line, 3) / 60.0).collect();
        let figure = find("Table 8", "mean wait, minutes", policy);
        assert!((number(&figure, 5) - waits.iter().sum::<f64>() / 32.0).abs() < 1e-4 && &figure[4] == published);
    }
    assert_eq!(kumar(&["--format", "csv", "--threads", "1"]).out, ran.out);
    let people = kumar(&["--format", "table", "--replications", "2"]).out;
    assert!(people.contains("Table 8, synthetic experiments") && people.contains(" to "), "{people}");
}

/// The paper's tables from its own logs.
#[test]
fn the_bins_of_real_estimates_are_the_published_ones() {
    let Some(logs) = real_logs("the published bins of estimates") else { return };
    let ran = sim(&[
        "reproduce",
        "tsafrir",
        "--logs",
        logs.to_str().unwrap(),
        "--replications",
        "1",
        "--format",
        "csv",
        "-q",
    ]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let mut compared = 0;
    for row in rows(&ran.out).iter().skip(1).filter(|row| row[1].starts_with("Table 5")) {
        let (published, measured): (f64, f64) = (row[4].parse().unwrap(), row[5].parse().unwrap());
        // The archive has cleaned its logs again since: SDSC has 19 jobs less, BLUE 230 more.
        assert!((published - measured).abs() < 0.11, "{row:?}");
        compared += 1;
    }
    for row in rows(&ran.out).iter().filter(|row| row[1].starts_with("Table 2") && &row[2] == "KTH4H") {
        assert_eq!(row[4].parse::<f64>(), row[5].parse::<f64>(), "{row:?}");
        compared += 1;
    }
    assert!(compared >= 28, "{compared}");
}

/// Needs no logs; on a few days, to see that everything published is there with a number beside it.
#[test]
fn downeys_study_needs_no_logs() {
    let args = ["reproduce", "downey", "--days", "3", "--replications", "2", "--format", "csv"];
    let ran = sim(&args);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let rows = rows(&ran.out);
    let published = |table: &str, row: &str, column: &str| {
        let line = find(&rows, table, row, column);
        assert!(line[5].parse::<f64>().is_ok(), "{line:?}");
        line[4].to_string()
    };
    for (row, figures) in [
        ("OPT", ["4244", "14", "13.8", "0"]),
        ("PRED", ["2388", "8", "12.8", "8"]),
        ("BIAS", ["3089", "10", "13.5", "8"]),
        ("HEUR", ["11158", "37", "12.8", "68"]),
    ] {
        let columns = ["rebels in 120 days", "rebels, % of all", "saved per job, minutes", "rebels who lose, %"];
        assert_eq!(columns.map(|column| published("Table 1", row, column)), figures);
    }
    assert_eq!(published("Table 2", "AVG", "turnaround, s"), "4795");
    assert_eq!(published("Table 2", "HEUR", "change of turnaround, %"), "37");
    assert_eq!(published("Figure 5", "a) PRED", "intercept"), "1.7");
    assert_eq!(published("text", "section 6.1", "and risk aversion, turnaround, s"), "4783");
    for (table, row) in [
        ("Future work: other loads", "load 1.0, BIAS"),
        ("Future work: other sizes", "256 processors, OPT"),
        ("Future work: other applications", "sigma = 0, HEUR"),
        ("Future work: better information", "pred:classes=10"),
    ] {
        assert_eq!(published(table, row, "change of turnaround, %"), "");
    }
    // Counts are those of 120 days: 40 times those of 3.
    let value = |table: &str, row: &str, column: &str| find(&rows, table, row, column)[5].parse::<f64>().unwrap();
    let jobs = value("text", "section 5.2", "jobs in 120 days");
    assert!((jobs / 30_579.0 - 1.0).abs() < 0.15, "{jobs}");
    let rebels = value("Table 1", "OPT", "rebels in 120 days");
    assert!((100.0 * rebels / jobs - value("Table 1", "OPT", "rebels, % of all")).abs() < 0.01, "{rebels} of {jobs}");
    assert!(find(&rows, "Table 1", "OPT", "rebels in 120 days")[8].contains("scaled to 120"));
    // Other readings stand beside the same published numbers.
    for row in ["PRED, ages=literal", "PRED, life=fitted", "PRED, days=one", "PRED, a=up"] {
        assert_eq!(published("Table 1", row, "saved per job, minutes"), "12.8");
        assert_eq!(published("Table 2", row, "change of turnaround, %"), "-3");
        assert_eq!(published("Figure 5", &format!("a) {row}"), "correlation"), "0.48");
    }
    assert_eq!(published("text", "section 6.1, ages=literal", "and risk aversion, turnaround, s"), "4783");
    // The same bytes on one thread, and a folder of logs is taken and not looked into.
    let again = sim(&[&args[..], &["--threads", "1", "--logs", "/no/such/folder"]].concat());
    assert_eq!(again.out, ran.out);
    assert!(again.err.contains("uses no logs"), "{}", again.err);
}

#[test]
fn waits_beside_the_published_ones() {
    let folder = tempfile::tempdir().unwrap();
    let log = include_bytes!("../../traces/demo.swf.gz");
    for name in ["CTC-SP2-1996-9.9-cln.swf.gz", "HPC2N-2002-9.9.swf.gz"] {
        fs::write(folder.path().join(name), log).unwrap();
    }
    let kumar =
        |more: &[&str]| sim(&[&["reproduce", "kumar-wait", "--logs", folder.path().to_str().unwrap()], more].concat());
    let ran = kumar(&["--begin", "1001", "--most", "200", "--regression-every", "20", "--format", "csv"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("warning: no log ANL-Intrepid-2009") && ran.err.contains("Ake Sandgren"), "{}", ran.err);
    let rows = rows(&ran.out);
    let find = |table: &str, row: &str, column: &str| find(&rows, table, row, column).clone();
    assert_eq!(&find("Table 4(a)", "CTC", "IBL")[4], "28");
    assert_eq!(&find("Table 4(b)", "HPC2N", "Avg wt")[4], "64");
    assert!(find("Table 4(b)", "CTC", "IBL")[8].contains("our reading"));
    assert!(find("Table 3", "CTC", "Reg poly")[8].contains("; 10 jobs"));
    assert_eq!((&find("Table 3", "CTC", "Avg wt")[4], &find("Table 3", "HPC2N", "Avg wt")[4]), ("52", ""));
    // Other readings have the published number of the main one beside them.
    assert_eq!(&find("Table 4(a)", "CTC", "IBL, k=3")[4], "28");
    assert_eq!(&find("Table 4(b)", "HPC2N", "Avg wt, distance=sum")[4], "64");
    assert_eq!(&find("text, the average", "two classes", "overall, points, IBL k=3")[4], "<=17");
    assert!(find("Table 4(b)", "HPC2N", "Avg wt")[8].contains("of its jobs waited at most an hour"));
    assert_eq!(&find("Figure 2", "CTC", "Avg wt, overall")[4], "77-87");
    assert_eq!(&find("Figure 2", "CTC", "QBETS, overall")[8], "figure");
    assert_eq!(&find("text, the average", "two classes", "overall, points")[4], "<=17");
    assert!(find("Section 3.1", "CTC", "predicted that were")[8].contains("PQStar"));
    // Two logs that are the same give the same.
    let numbers =
        |name: &str| rows.iter().filter(|row| &row[2] == name).map(|row| row[5].to_string()).collect::<Vec<_>>();
    assert_eq!(numbers("CTC"), numbers("HPC2N"));
    let ran = kumar(&[]);
    assert!(
        ran.code == 2 && ran.err.contains("--begin leaves no job of CTC to predict: it has 5,000 jobs"),
        "{}",
        ran.err
    );
}

#[test]
fn each_study_has_its_own_number_of_runs() {
    for (study, runs) in [("talby", 10), ("gaussier", 6), ("helios", 6), ("smith", 10), ("tsafrir", 100)] {
        let help = sim_ok(&["reproduce", study, "--help"]);
        let (_, of_option) = help.split_once("--replications").unwrap();
        let (_, default) = of_option.split_once("[default: ").unwrap();
        assert!(default.starts_with(&format!("{runs}]")), "{study}: {of_option}");
    }
}
