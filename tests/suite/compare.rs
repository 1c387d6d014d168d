//! `sim compare`: what differs between two outputs, in numbers worked out by hand and by a slow comparison.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::Stdio;

use flate2::Compression;
use flate2::write::GzEncoder;
use rand::RngExt;
use rand::seq::SliceRandom;
use shadowtime::rng::stream;

use crate::support::{Folder, Ran, command, sim, sim_fed, sim_ok};

const RUNS: &str = "trace,procs,scheduler,predictor,jobs,wait_mean,utilization,load,options\n\
    demo,128,easy,ruh,100,200.000,0.500000,1,\n\
    demo,128,easy,sbh,100,0.000,0.600000,1,\n\
    demo,128,easy,\"ruh:window=2,cap=on\",100,10.000,0.700000,1.1,load=1.1\n";

fn compare(first: &str, second: &str, more: &[&str]) -> Ran {
    sim(&[&["compare", first, second], more].concat())
}

/// Worked out by hand.
#[test]
fn differences_are_sorted_by_size_and_counted() {
    let folder = Folder::new();
    let first = folder.write("first.csv", RUNS);
    // In another order; with a new column; one row is new and one is gone.
    let second = folder.write(
        "second.csv",
        "options,trace,procs,scheduler,predictor,jobs,wait_mean,utilization,load,new\n\
         load=1.1,demo,128,easy,\"ruh:window=2,cap=on\",100,10.5,0.700000,1.1,1\n\
         ,demo,128,easy,ruh,100,150.000,0.500100,1,1\n\
         ,demo,128,fcfs,ruh,100,1.000,0.500000,1,1\n",
    );
    // Wide enough for all columns beside each other.
    let mut wide = command(env!("CARGO_BIN_EXE_sim"));
    let ran = wide.args(["compare", &first, &second, "--format", "table"]).env("COLUMNS", "110").output().unwrap();
    let [out, err] = [ran.stdout, ran.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert_eq!(ran.status.code(), Some(1), "{err}");
    let expected = "\
scheduler  predictor            load  options   column          first    second     change  percent  effect
easy       sbh                  1               (whole row)   present   missing
fcfs       ruh                  1               (whole row)   missing   present
easy       ruh                  1               wait_mean     200.000   150.000    -50.000  -25.00%  better
easy       ruh:window=2,cap=on  1.1   load=1.1  wait_mean      10.000      10.5     +0.500   +5.00%   worse
easy       ruh                  1               utilization  0.500000  0.500100  +0.000100   +0.02%  better

2 rows, 3 columns compared: 3 cells in 2 rows differ, 1 row only in FIRST, 1 row only in SECOND
";
    // The closing line is wrapped, because the names are long.
    let (table, closing) = out.split_once("\n\n").unwrap();
    assert!(closing.lines().count() > 1, "{closing}");
    let shown = format!("{table}\n\n{}\n", closing.lines().collect::<Vec<_>>().join(" "));
    assert_eq!(shown.replace(&first, "FIRST").replace(&second, "SECOND"), expected);
    assert_eq!(err, format!("warning: {first} has no column new: not compared\n"));
    // The largest, and how many more.
    let ran = compare(&first, &second, &["--format", "table", "--top", "1"]);
    assert!(ran.out.contains("present") && ran.out.contains("\nand 4 more: --format csv prints all\n"), "{}", ran.out);
    // All of them, for programs: in the order of the files.
    let ran = compare(&first, &second, &["--format", "csv"]);
    let header = "trace,procs,scheduler,predictor,load,options,column,first,second,change,change_pct,effect\n";
    let rows = "demo,128,easy,\"ruh:window=2,cap=on\",1.1,load=1.1,wait_mean,10.000,10.5,0.5,5.000000,worse\n\
        demo,128,easy,ruh,1,,wait_mean,200.000,150.000,-50,-25.000000,better\n\
        demo,128,easy,ruh,1,,utilization,0.500000,0.500100,0.0001,0.020000,better\n\
        demo,128,easy,sbh,1,,(whole row),present,missing,,,\n\
        demo,128,fcfs,ruh,1,,(whole row),missing,present,,,\n";
    let sorted = |text: &str| {
        let mut lines: Vec<_> = text.lines().map(str::to_string).collect();
        lines.sort();
        lines
    };
    assert!(ran.out.starts_with(header) && ran.err.contains("3 cells in 2 rows differ"), "{}{}", ran.out, ran.err);
    assert_eq!(sorted(&ran.out), sorted(&format!("{header}{rows}")));
    let bare = compare(&first, &second, &["--format", "csv", "--no-header", "-q"]);
    assert_eq!(format!("{header}{}", bare.out), ran.out);
    let json = compare(&first, &second, &["--format", "json", "--column", "wait_mean"]);
    let list: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(list.as_array().unwrap().len(), 4);
    assert!(list.as_array().unwrap().iter().any(|row| row["first"] == 200.0 && row["change_pct"] == -25.0), "{list}");
    assert!(list.as_array().unwrap().iter().any(|row| row["effect"] == "better"), "{list}");
    assert!(list.as_array().unwrap().iter().any(|row| row["effect"].is_null()), "{list}");
    // The differences are an output too. A table without any direction has no column of effects.
    let (one, other) = (
        folder.write("one.csv", ran.out),
        folder.write("other.csv", format!("{header}{}", bare.out).replace("-25.0", "-26.0")),
    );
    let ran = compare(&one, &other, &["--format", "table"]);
    assert!(ran.code == 1 && ran.out.contains("5 rows, 5 columns compared: 1 cell in 1 row differs"), "{}", ran.out);
    assert!(!ran.out.contains("effect"), "{}", ran.out);
}

#[test]
fn tolerances_and_columns() {
    let folder = Folder::new();
    let first = folder.write("first.csv", RUNS);
    let second = folder.write("second.csv", RUNS.replace("200.000", "200.2").replace("10.000", "10.020"));
    for (more, code, closing) in [
        (&[][..], 1, "3 rows, 3 columns compared: 2 cells in 2 rows differ"),
        (&["--tolerance", "0.1%"], 1, "1 cell in 1 row differs, tolerance 0.1% (1 cell within it)"),
        (&["--tolerance", "0.2%"], 0, "no difference, tolerance 0.2% (2 cells within it)"),
        (&["--tolerance", "0.2"], 0, "no difference, tolerance 0.2 (2 cells within it)"),
        (&["--tolerance", "0.19"], 1, "1 cell in 1 row differs, tolerance 0.19 (1 cell within it)"),
        (&["--column", "jobs,utilization"], 0, "3 rows, 2 columns compared: no difference"),
    ] {
        let ran = compare(&first, &second, &[more, &["--format", "table"]].concat());
        assert_eq!(ran.code, code, "{more:?}: {}", ran.err);
        assert!(ran.out.ends_with(&format!("{closing}\n")), "{more:?}: {}", ran.out);
    }
    let same = compare(&first, &first, &["--format", "json", "-q"]);
    assert_eq!((same.code, same.out.as_str(), same.err.as_str()), (0, "[]\n", ""));
}

#[test]
fn outputs_of_the_program_equal_themselves_and_a_changed_one_does_not() {
    let folder = Folder::new();
    let jobs = ["a", "b"].map(|name| folder.text(&format!("{name}.jobs.csv")));
    let run = |predictor: &str, jobs: &str| {
        sim_ok(&["--first", "800", "--predictor", predictor, "--jobs-out", jobs, "--format", "csv"])
    };
    let a = folder.write("a.csv", run("ruh", &jobs[0]));
    let b = folder.write("b.csv", run("ruh:window=2", &jobs[1]));
    assert_eq!(compare(&jobs[0], &jobs[0], &[]).code, 0);
    let ran = compare(&jobs[0], &jobs[1], &["--format", "csv"]);
    assert!(ran.code == 1 && ran.err.contains("800 jobs, 16 columns compared"), "{}", ran.err);
    assert!(ran.out.starts_with("job,column,first,second,change,change_pct,effect\n"), "{}", ran.out);
    // Another predictor is another run.
    let ran = compare(&a, &b, &[]);
    assert!(ran.code == 1 && ran.err.contains("1 row only in"), "{}", ran.err);
    assert!(ran.err.trim_end().ends_with("no run is in both files; to compare settings use lists and --baseline"));
    // A job may be predicted several times at one instant.
    let predictions = folder.text("predictions.csv");
    sim_ok(&["--first", "300", "--predictor", "sbh", "--predictions-out", &predictions]);
    let ran = compare(&predictions, &predictions, &[]);
    assert!(ran.code == 0 && ran.err.contains(" rows, 1 column compared: no difference"), "{}", ran.err);
    // The sweep writes the default, the plain command does not: it is the same run.
    let grid = ["sweep", "--predictor", "ruh:window=2..3", "--first", "800", "--baseline", "easy/estimate"];
    sim_ok(&[&grid[..], &["--out", &folder.text("study")]].concat());
    let results = folder.text("study/results.csv");
    let ran = compare(&a, &results, &["--format", "table"]);
    assert!(ran.code == 1 && ran.out.contains("1 row only in") && ran.out.contains("\n1 row, "), "{}", ran.out);
    assert!(ran.err.contains("has no columns predictor.window, first: not compared"), "{}", ran.err);
    // Means over replications and means over groups.
    let means = sim_ok(&["--first", "300", "--replications", "2", "--format", "csv"]);
    let means = folder.write("means.csv", means);
    assert_eq!(compare(&means, &means, &[]).code, 0);
    // Standard input, and packed files.
    let content = fs::read(&jobs[0]).unwrap();
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(&content).unwrap();
    let packed = packed.finish().unwrap();
    let gz = folder.write("jobs.csv.gz", &packed);
    assert_eq!(compare(&gz, &jobs[0], &[]).code, 0);
    assert_eq!(sim_fed(&["compare", &jobs[0], "-"], &packed).code, 0);
    let cut = folder.write("cut.csv.gz", &packed[..packed.len() - 100]);
    let ran = compare(&jobs[0], &cut, &[]);
    assert!(ran.code == 2 && ran.err.contains("damaged or not complete"), "{}: {}", ran.code, ran.err);
}

#[test]
fn what_cannot_be_compared() {
    let folder = Folder::new();
    let runs = folder.write("runs.csv", RUNS);
    let rows: Vec<&str> = RUNS.lines().collect();
    for (name, content, message) in [
        ("empty.csv", "".to_string(), "empty.csv: it is empty"),
        ("bare.csv", rows[1].to_string() + "\n", "is not the header of an output that can be compared"),
        (
            "info.csv",
            "trace,procs,jobs,rows,steps\n".to_string(),
            "is not the header of an output that can be compared",
        ),
        (
            "twice.csv",
            format!("{RUNS}{}\n", rows[2]),
            "has two rows with the same trace demo, procs 128, scheduler easy",
        ),
        ("short.csv", format!("{RUNS}demo,128\n"), "short.csv: line 5 has 2 cells, the header has 9"),
        ("jobs.csv", "job,user,wait\n1,2,3\n".to_string(), "runs.csv has runs and "),
        ("columns.csv", "trace,trace,scheduler,predictor\n".to_string(), "it has two columns 'trace'"),
        ("other.csv", "scheduler,predictor,x\neasy,ruh,1\n".to_string(), "have no columns in common to compare"),
    ] {
        let ran = compare(&runs, &folder.write(name, content), &[]);
        assert!(ran.code == 2 && ran.err.contains(message), "{name}: {} {}", ran.code, ran.err);
    }
    // Outputs of two kinds, although both have a column `jobs`.
    let confusion = folder.write("confusion.csv", "method,predicted_class,actual_class,jobs\na,1,1,5\n");
    let calibration = folder.write("calibration.csv", "low,high,jobs,observed\n0,1,5,2\n");
    let ran = compare(&confusion, &calibration, &[]);
    assert!(ran.code == 2 && ran.out.is_empty(), "{}: {}", ran.code, ran.out);
    for message in
        ["has rows of sim wait --confusion-out and ", "has rows of sim wait --calibration-out: they cannot be"]
    {
        assert!(ran.err.contains(message), "{}", ran.err);
    }
    // Rows that both files have twice.
    let twice = folder.text("twice.csv");
    assert_eq!(compare(&twice, &twice, &[]).code, 2);
    let binary = folder.write("binary", [0u8, 159, 146, 150, 7, 0, 1, 255]);
    let ran = compare(&binary, &runs, &[]);
    assert!(ran.code == 2 && ran.err.contains("it is not a text file"), "{}", ran.err);
    for (args, message) in [
        (vec!["-", "-"], "standard input can be read only once"),
        (vec!["no-such.csv", &runs], "no-such.csv"),
        (vec![folder.0.path().to_str().unwrap(), &runs], "it is a folder"),
        (
            vec![&runs, &runs, "--column", "wait"],
            "there is no column 'wait' to compare; the columns are jobs, wait_mean",
        ),
        (vec![&runs, &runs, "--tolerance", "-1"], "-1"),
        (vec![&runs, &runs, "--tolerance", "much"], "'much' is not a tolerance such as 0.1% or 0.5"),
        (vec![&runs], "SECOND"),
    ] {
        let ran = sim(&[vec!["compare"], args.clone()].concat());
        assert!(ran.code == 2 && ran.err.contains(message) && ran.out.is_empty(), "{args:?}: {}", ran.err);
    }
}

/// Random files of jobs against a comparison that loads both.
#[test]
fn any_order_of_rows_gives_the_differences_of_a_slow_comparison() {
    let folder = Folder::new();
    let mut rng = stream(21, "two files");
    for _ in 0..30 {
        let mut file = |name: &str| {
            let mut jobs: Vec<u32> = (1..=60).filter(|_| rng.random_range(0..10) > 0).collect();
            if rng.random_range(0..2) == 0 {
                jobs.shuffle(&mut rng);
            }
            let mut rows = BTreeMap::new();
            let mut text = "job,wait,procs\n".to_string();
            for job in jobs {
                let cells = [rng.random_range(0..4), rng.random_range(1..3)];
                text.push_str(&format!("{job},{},{}\n", cells[0], cells[1]));
                rows.insert(job, cells);
            }
            (folder.write(name, text), rows)
        };
        let ((first, a), (second, b)) = (file("first.csv"), file("second.csv"));
        let mut expected = Vec::new();
        for job in 1..=60 {
            match (a.get(&job), b.get(&job)) {
                (Some(a), Some(b)) => {
                    for (name, (a, b)) in ["wait", "procs"].iter().zip(a.iter().zip(b)).filter(|(_, (a, b))| a != b) {
                        expected.push(format!("{job},{name},{a},{b}"));
                    }
                }
                (Some(_), None) => expected.push(format!("{job},(whole row),present,missing")),
                (None, Some(_)) => expected.push(format!("{job},(whole row),missing,present")),
                (None, None) => {}
            }
        }
        let ran = compare(&first, &second, &["--format", "csv", "--no-header"]);
        let mut found: Vec<String> =
            ran.out.lines().map(|line| line.split(',').take(4).collect::<Vec<_>>().join(",")).collect();
        expected.sort();
        found.sort();
        assert_eq!(found, expected);
        assert_eq!(ran.code, i32::from(!expected.is_empty()));
    }
}

/// The reader of the output is gone before anything is written.
#[test]
fn the_exit_code_does_not_depend_on_the_reader_of_the_output() {
    let folder = Folder::new();
    let (first, second) = (folder.write("a.csv", RUNS), folder.write("b.csv", RUNS.replace("200.000", "200.001")));
    for (other, code) in [(&first, 0), (&second, 1)] {
        for format in ["csv", "json", "table"] {
            let (reader, writer) = std::io::pipe().unwrap();
            drop(reader);
            let args = ["compare", &first, other, "--format", format];
            let ran = command(env!("CARGO_BIN_EXE_sim")).args(args).stdout(writer).output().unwrap();
            assert_eq!(ran.status.code(), Some(code), "{format}: {}", String::from_utf8_lossy(&ran.stderr));
        }
    }
    // More differences than fit into a pipe.
    let jobs = |wait: u32| -> String {
        let lines = (1..20_000).map(|job| format!("{job},1,0,{wait},9,{wait},1,9,9,9,9,0,1.000000,0.000,1.000000,0\n"));
        let header = "job,user,submit,start,end,wait,procs,runtime,estimate,prediction,prediction_last,misses,bsld,ai,ra,backfilled\n";
        header.to_string() + &lines.collect::<String>()
    };
    let (first, second) = (folder.write("a.csv", jobs(1)), folder.write("b.csv", jobs(2)));
    let (reader, writer) = std::io::pipe().unwrap();
    let args = ["compare", &first, &second, "--format", "csv"];
    let mut child =
        command(env!("CARGO_BIN_EXE_sim")).args(args).stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(reader).read_line(&mut line).unwrap();
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1), "{said}");
    assert!(line.starts_with("job,column,") && said.contains("39,998 cells in 19,999 jobs differ"), "{line}{said}");
}

#[test]
fn large_whole_numbers_are_compared_exactly() {
    let folder = Folder::new();
    let with = |wait: &str| RUNS.replace("200.000", wait);
    let first = folder.write("a.csv", with("9007199254740992"));
    let second = folder.write("b.csv", with("9007199254740993"));
    let ran = compare(&first, &second, &["--format", "csv"]);
    assert!(ran.code == 1 && ran.out.contains(",wait_mean,9007199254740992,9007199254740993,1,"), "{ran:?}");
    let ran = compare(&first, &second, &["--format", "json"]);
    assert!(ran.out.contains("\"first\":9007199254740992,\"second\":9007199254740993,\"change\":1,"), "{}", ran.out);
    assert_eq!(compare(&first, &second, &["--tolerance", "1"]).code, 0);
    let same = folder.write("b.csv", with("9007199254740992.00"));
    assert_eq!(compare(&first, &same, &[]).code, 0);
}

/// The words above the table, on one line.
fn gains(first: &str, second: &str) -> String {
    let ran = compare(first, second, &["--format", "table"]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    ran.out.split("\n\n").next().unwrap().replace('\n', " ")
}

/// Ten jobs, all submitted at once, in order, on machines of 4 and of 8 processors. Each runs an hour, but the ninth takes all 8 for
/// five hours. On 4 the waits are 0, 1, 2, 2, 2, 3, 4, 4 hours, the ninth cannot run, and the tenth waits 5: together 23 hours. On 8
/// they are 0, 0, 1, 1, 1, 1, 2, 2, 3 and 8: without the ninth 16 hours.
#[test]
fn who_gains_and_who_loses_is_said_of_two_machines() {
    let folder = Folder::new();
    let jobs = [(1, 4), (1, 4), (2, 1), (2, 1), (2, 2), (3, 4), (3, 2), (3, 2), (4, 8), (4, 1)];
    let rows: String = (1..)
        .zip(jobs)
        .map(|(id, (user, procs))| format!("{id},0,{},{procs},20000,{user}\n", if id == 9 { 18_000 } else { 3600 }))
        .collect();
    let log = folder.write("log.csv", format!("id,submit,run,procs,estimate,user\n{rows}"));
    let format = "csv:id=id,submit=submit,run=run,procs=procs,estimate=estimate,user=user";
    let [small, large] = ["4", "8"].map(|procs| {
        let jobs = folder.text(&format!("{procs}.csv"));
        let run =
            [&*log, "--log-format", format, "--scheduler", "fcfs", "--predictor", "estimate", "--baseline", "none"];
        sim_ok(&[&run[..], &["--procs", procs, "--jobs-out", &jobs]].concat());
        jobs
    });
    let words = gains(&small, &large);
    // 23 and 16 hours over 9 jobs. User 4 waits 8 hours instead of 5 with one job of an hour on a processor, of 21 processor-hours.
    // Those of one processor wait 10 hours instead of 9, the six wider ones 6 instead of 14.
    assert!(
        words.starts_with(&format!("9 jobs are in both files; 1 is only in {large}, and not compared. ")),
        "{words}"
    );
    for sentence in [
        "Their mean wait is 1h 47m instead of 2h 33m: 7 h of waiting less.",
        "Of 4 users 3 gain (95.2% of the area) and 1 loses (4.8% of the area): 4 (mean wait 3h 00m longer, 1 job).",
        "those of 1 processor wait 20m 00s more each and those of 2 to 4 processors wait 1h 20m less each.",
        "Users lose as in `sim --what-if`",
    ] {
        assert!(words.contains(sentence), "{sentence}: {words}");
    }
    let back = gains(&large, &small);
    assert!(back.contains("2h 33m instead of 1h 47m: 7 h of waiting more"), "{back}");
    assert!(back.contains("Of 4 users 1 gains (4.8% of the area) and 3 lose (95.2% of the area): "), "{back}");
    // The waits that changed most are first, better or worse.
    let table = compare(&small, &large, &["--format", "table"]).out;
    let first: Vec<&str> = table.lines().skip_while(|line| !line.starts_with("job")).skip(1).take(3).collect();
    let cells = |line: &str| line.split_whitespace().map(str::to_string).collect::<Vec<_>>();
    assert_eq!(cells(first[0])[..5], ["10", "wait", "18000", "28800", "+10800"], "{table}");
    assert_eq!(cells(first[1])[..5], ["6", "wait", "10800", "3600", "-7200"], "{table}");
    // Programs read rows, people the notes.
    let csv = compare(&small, &large, &["--format", "csv"]);
    assert!(csv.out.starts_with("job,column,") && csv.err.contains("note: 9 jobs are in both files"), "{}", csv.err);
    let others = compare(&small, &large, &["--format", "table", "--column", "bsld"]).out;
    assert!(!others.contains("in both files"), "{others}");
}

/// The measure is that of the table of `--what-if`.
#[test]
fn users_who_lose_are_those_of_what_if() {
    let folder = Folder::new();
    let [both, site, changed] = ["both.csv", "site.csv", "changed.csv"].map(|name| folder.text(name));
    let plain = ["--scheduler", "easy", "--predictor", "estimate", "--first", "2000"];
    let what_if = ["--what-if", "procs=140", "--format", "csv", "--jobs-out", &both];
    let table = sim_ok(&[&plain[..], &what_if].concat());
    let row: BTreeMap<String, String> =
        csv::Reader::from_reader(table.as_bytes()).deserialize().nth(1).unwrap().unwrap();
    sim_ok(&[&plain[..], &["--jobs-out", &site]].concat());
    sim_ok(&[&plain[..], &["--procs", "140", "--jobs-out", &changed]].concat());
    let words = gains(&site, &changed);
    let users = words.split("Of ").nth(1).unwrap().split(' ').next().unwrap().parse::<f64>().unwrap();
    let number = |name: &str| row[name].parse::<f64>().unwrap();
    let lose = (number("users_lose_pct") / 100.0 * users).round();
    assert!(lose > 0.0);
    let verb = if lose == 1.0 { "loses" } else { "lose" };
    assert!(words.contains(&format!(" and {lose} {verb} ({:.1}% of the area)", number("area_lose_pct"))), "{words}");
    let hours = number("wait_hours_saved").round();
    assert!(words.replace(',', "").contains(&format!(": {hours} h of waiting less.")), "{words}");
}

/// Each setting of a file has a sentence of its own, and widths are those of its jobs.
#[test]
fn each_setting_has_its_own_gains() {
    let folder = Folder::new();
    let [first, second] = ["first.csv", "second.csv"].map(|name| folder.text(name));
    let settings = ["--first", "500", "--scheduler", "easy,sjbf", "--predictor", "estimate", "--baseline", "none"];
    sim_ok(&[&settings[..], &["--jobs-out", &first]].concat());
    sim_ok(&[&settings[..], &["--procs", "150", "--jobs-out", &second]].concat());
    let words = gains(&first, &second);
    assert!(
        words.starts_with("1,000 jobs of 2 settings are in both files. easy/estimate: their mean wait is "),
        "{words}"
    );
    assert!(words.contains(" sjbf/estimate: their mean wait is ") && words.contains("those of 1 "), "{words}");
    let widest = fs::read_to_string(&first)
        .unwrap()
        .lines()
        .skip(1)
        .map(|line| line.split(',').nth(7).unwrap().parse::<u32>().unwrap())
        .max();
    assert!(words.contains(&format!("{} processors wait ", widest.unwrap())), "{words}");
}

const JOBS: &str = "job,user,submit,start,end,wait,procs,runtime,log_id\n";

/// Two exports of one log number its jobs differently. A job that was requeued has its id twice.
#[test]
fn jobs_are_matched_by_their_ids_in_the_log() {
    let folder = Folder::new();
    let rows = |rows: [(u32, u32, u32); 4]| -> String {
        let row = |(job, id, wait): (u32, u32, u32)| format!("{job},1,0,{wait},99,{wait},1,60,{id}\n");
        rows.map(row).concat()
    };
    let first =
        folder.write("first.csv", JOBS.to_string() + &rows([(1, 71, 0), (2, 72, 10), (3, 73, 20), (4, 73, 30)]));
    let second =
        folder.write("second.csv", JOBS.to_string() + &rows([(1, 72, 10), (2, 73, 20), (3, 73, 90), (4, 74, 0)]));
    let ran = compare(&first, &second, &["--format", "csv", "--column", "wait"]);
    let expected = "job,column,first,second,change,change_pct,effect\n\
        4,wait,30,90,60,200.000000,worse\n1,(whole row),present,missing,,,\n4,(whole row),missing,present,,,\n";
    assert_eq!(ran.out, expected, "{}", ran.err);
}

#[test]
fn jobs_of_two_logs_are_refused() {
    let folder = Folder::new();
    let first =
        folder.write("first.csv", format!("{JOBS}1,1,0,5,65,5,1,60,1\n2,1,9,9,69,0,1,60,2\n3,1,9,9,69,0,1,60,3\n"));
    for (rows, why) in [
        ("8,1,0,5,65,5,1,60,8\n", "have no job in common: compare the --jobs-out of two runs of one log"),
        (
            "1,1,7,7,77,0,1,70,1\n2,1,8,8,78,0,1,70,2\n3,1,9,9,69,0,1,60,3\n",
            "are of two logs: of 3 jobs with the same id 2 have another submission and another runtime",
        ),
        ("1,1,0,5,65,x,1,60,1\n", "second.csv: line 2: wait 'x' is not a number"),
    ] {
        let second = folder.write("second.csv", format!("{JOBS}{rows}"));
        let ran = compare(&first, &second, &["--format", "table"]);
        assert!(ran.code == 2 && ran.out.is_empty() && ran.err.contains(why), "{why}: {} {}", ran.out, ran.err);
    }
}
