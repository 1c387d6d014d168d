//! The program as its users run it.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::Stdio;

use shadowtime::model::Modes;

use crate::support::{Folder, command, demo_text, sim, sim_fed, sim_ok, wait_until};

const COLUMNS: &str = "trace,procs,scheduler,predictor,jobs,dropped,wait_mean,bsld_mean,ai_mean,ra_mean,backfilled,misses,\
    utilization,makespan,wait_p50,wait_p95,wait_max,bsld_p50,bsld_p95,mae,mae_pct,answered,inside_pct,jain,wide_wait_mean";

/// The columns of a run without a baseline.
fn all_columns() -> String {
    format!("{COLUMNS},options")
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn without_arguments_it_simulates_the_embedded_log_and_says_so() {
    let ran = sim(&[]);
    assert_eq!(ran.code, 0);
    assert!(ran.err.contains("embedded"), "{}", ran.err);
    let lines: Vec<_> = ran.out.lines().collect();
    assert_eq!(lines.len(), 2);
    assert!(lines[0].starts_with(&format!("{COLUMNS},baseline,wait_improvement_pct")), "{}", lines[0]);
    assert!(lines[1].starts_with("demo,128,sjbf,kin,5000,0,") && lines[1].contains(",easy/estimate,"), "{}", lines[1]);
}

#[test]
fn columns_are_those_promised_and_the_baseline_is_the_users_choice() {
    let csv = sim_ok(&["--baseline", "none"]);
    assert_eq!(csv.lines().next(), Some(&*all_columns()));
    let compared = sim_ok(&["--scheduler", "easy", "--predictor", "estimate", "--baseline", "easy/estimate"]);
    assert!(
        compared.trim_end().ends_with(",easy/estimate,0.000000,0.000000,0.000000,0.000000,0.000000,0.000000,"),
        "{compared}"
    );
    // A perfect baseline has an inaccuracy of 0, for which the improvement is not defined.
    let compared = sim_ok(&["--baseline", "sjbf/perfect"]);
    let last: Vec<_> = compared.trim_end().rsplit(',').take(5).collect();
    assert_eq!(last[4], "", "{compared}");
}

/// The embedded log begins on 2026-01-01.
#[test]
fn parts_of_a_log_by_date() {
    let row = |from: &str, to: &str| {
        let row = sim_ok(&["--from", from, "--to", to, "--no-header", "--baseline", "none"]);
        row.split_once(",\"from=").or(row.split_once(",from=")).map_or(row.clone(), |(figures, _)| figures.to_string())
    };
    let survey = sim_ok(&["trace", "info", "--format", "csv"]);
    let names: Vec<_> = survey.lines().next().unwrap().split(',').collect();
    let at = names.iter().position(|name| *name == "first_submit").unwrap();
    let first: i64 = survey.lines().nth(1).unwrap().split(',').nth(at).unwrap().parse().unwrap();
    let seconds = |days: i64| format!("{}s", days * 86_400 - first);
    assert_eq!(row("2026-01-03", "2026-01-06"), row(&seconds(2), &seconds(5)));
    let ran = sim(&["--from", "2031-01-01"]);
    assert!(ran.code == 2 && ran.err.contains("none is left after --from"), "{}", ran.err);
    let ran = sim(&["--from", "2026-02-31x"]);
    assert!(ran.code == 2 && ran.err.contains("is not a date such as 2016-12-25"), "{}", ran.err);
    let log = b"; MaxProcs: 4\n1 0 0 10 1 1 1 1 60 -1 1 1 1 1 1 1 -1 -1\n";
    let ran = sim_fed(&["--trace", "-", "--to", "2026-01-01"], log);
    assert!(ran.code == 2 && ran.err.contains("the header has no UnixStartTime"), "{}", ran.err);
}

/// The end of an output's name says whether it is compressed, and what is written so can be read.
#[test]
fn outputs_are_compressed_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let plain = sim_ok(&["--first", "500", "--jobs-out", text(&file("jobs.csv")), "--swf-out", text(&file("new.swf"))]);
    for (end, unpack) in [("gz", &unpack_gzip as &dyn Fn(&[u8]) -> Vec<u8>), ("zst", &unpack_zstd)] {
        let (jobs, swf) = (file(&format!("jobs.csv.{end}")), file(&format!("new.swf.{end}")));
        let packed = sim_ok(&["--first", "500", "--jobs-out", text(&jobs), "--swf-out", text(&swf)]);
        assert_eq!(packed, plain);
        for (packed, plain) in [(&jobs, "jobs.csv"), (&swf, "new.swf")] {
            let bytes = fs::read(packed).unwrap();
            assert!(unpack(&bytes) == fs::read(file(plain)).unwrap(), "{packed:?}");
            assert!(
                bytes.len() < fs::metadata(file(plain)).unwrap().len() as usize * 2 / 3,
                "{packed:?} is no smaller"
            );
        }
        let again = |log: &Path| sim_ok(&["--trace", text(log), "--scheduler", "replay", "--no-header"]);
        assert_eq!(again(&swf), again(&file("new.swf")));
        let made = file(&format!("made.swf.{end}"));
        sim_ok(&["generate", "lublin", "--jobs", "300", "--procs", "64", "--out", text(&made)]);
        assert!(sim_ok(&["trace", "info", text(&made), "--format", "csv"]).contains(",300,"));
    }
}

fn unpack_gzip(bytes: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    flate2::read::GzDecoder::new(bytes).read_to_end(&mut text).unwrap();
    text
}

fn unpack_zstd(bytes: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    ruzstd::decoding::StreamingDecoder::new(bytes).unwrap().read_to_end(&mut text).unwrap();
    text
}

/// No two settings print the same row labels.
#[test]
fn a_row_says_what_was_run() {
    let options = |args: &[&str]| {
        let csv = sim_ok(&[&["--baseline", "none", "--first", "100"], args].concat());
        let (names, row) = csv.trim_end().split_once('\n').unwrap();
        assert!(names.ends_with(",options"), "{names}");
        row.rsplit(',').next().unwrap().to_string()
    };
    assert_eq!(options(&[]), "first=100");
    assert_eq!(options(&["--load", "1.10", "--overrun", "kill"]), "overrun=kill first=100 load=1.1");
    assert_eq!(options(&["--replication", "3"]), "first=100 shake=30s seed=3");
    assert_eq!(options(&["--procs", "200", "--predictor", "sbh"]), "first=100");
    let table = sim_ok(&["--format", "table", "--load", "1.1"]);
    assert!(table.starts_with("demo: 128 processors, 5,000 jobs; load=1.1\n"), "{table}");
    let csv = sim_ok(&["--first", "100", "--load", "1.1", "--replications", "2"]);
    assert!(csv.lines().next().unwrap().ends_with(",options"), "{csv}");
    assert!(csv.trim_end().ends_with(",first=100 load=1.1"), "{csv}");
}

#[test]
fn options_that_overrule_each_other_and_idle_seeds_are_errors() {
    for (args, message) in [
        (&["--replication", "3", "--shake", "100s"][..], "--shake has no effect together with --replication"),
        (&["--replication", "3", "--seed", "4"], "--seed has no effect together with --replication"),
        (
            &["--estimates", "tsafrir", "--missing-estimate", "drop"],
            "--missing-estimate has no effect together with --estimates",
        ),
        (&["search", "--replication", "3", "--shake", "100s"], "--shake has no effect together with --replication"),
    ] {
        let ran = sim(args);
        assert!(ran.code == 2 && ran.out.is_empty() && ran.err.contains(message), "{args:?}: {}", ran.err);
    }
    assert_eq!(sim(&["--estimates", "none", "--missing-estimate", "drop"]).code, 0);
    for (args, message) in [
        (&["-q", "--seed", "5"][..], "--seed 5 has no effect without --shake"),
        (&["-q", "--estimates-seed", "5"], "--estimates-seed 5 has no effect without a random model"),
    ] {
        let ran = sim(args);
        assert!(ran.code == 2 && ran.out.is_empty() && ran.err.contains(message), "{args:?}: {}", ran.err);
    }
    assert_eq!(sim(&["-q", "--seed", "5", "--shake", "10s"]).err, "");
    assert_eq!(sim(&["-q"]).err, "");
}

#[test]
fn json_holds_the_numbers_of_the_csv() {
    let csv = sim_ok(&["--format", "csv"]);
    let json: serde_json::Value = serde_json::from_str(&sim_ok(&["--format", "json"])).unwrap();
    let mut lines = csv.lines().map(|line| line.split(','));
    for (name, value) in lines.next().unwrap().zip(lines.next().unwrap()) {
        match &json[0][name] {
            serde_json::Value::String(text) => assert_eq!(text, value),
            number => assert_eq!(number.as_f64(), value.parse().ok(), "{name}"),
        }
    }
}

#[test]
fn scripts_can_leave_out_the_header_and_the_notes() {
    let ran = sim(&["-q", "--format", "csv", "--no-header"]);
    assert_eq!((ran.out.lines().count(), ran.err.as_str()), (1, ""));
}

#[test]
fn plain_gzip_zstd_and_standard_input_are_one_log() {
    let folder = tempfile::tempdir().unwrap();
    let plain = demo_text();
    let half = plain.iter().skip(plain.len() / 2).position(|&b| b == b'\n').unwrap() + plain.len() / 2 + 1;
    let (front, back) = plain.split_at(half);
    let skippable = [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3][..], &zstd(&plain)].concat();
    let files = [
        ("log.swf", plain.clone()),
        ("log.swf.gz", gzip(&plain)),
        ("log.swf.zst", zstd(&plain)),
        // The content decides, not the name; there may be several members or frames.
        ("log", gzip(&plain)),
        ("log.gz", plain.clone()),
        ("two/log.gz", [gzip(front), gzip(back)].concat()),
        ("two/log.zst", [zstd(front), zstd(back)].concat()),
        ("two/log.swf.zst", skippable),
    ];
    fs::create_dir(folder.path().join("two")).unwrap();
    let expected = sim_ok(&["--baseline", "none"]).replace("demo,", "log,");
    for (name, bytes) in files {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        assert_eq!(sim_ok(&["--trace", text(&path)]), expected, "{name}");
    }
    for bytes in [plain.clone(), gzip(&plain), zstd(&plain)] {
        let ran = sim_fed(&["--trace", "-"], &bytes);
        assert_eq!((ran.code, ran.out), (0, expected.replace("log,", "stdin,")));
    }
}

/// The same jobs, written with everything that SWF allows.
#[test]
fn an_awkward_log_is_the_same_log() {
    let plain = b"; MaxProcs: 8\n\
        1 0 -1 100 4 -1 -1 4 200 -1 1 1 1 1 1 1 -1 -1\n\
        2 10 -1 51 8 -1 -1 8 60 -1 1 2 1 1 1 1 -1 -1\n\
        3 20 -1 0 2 -1 -1 -1 60 -1 1 1 1 1 1 1 -1 -1\n";
    let awkward = b"\n; caf\xe9 \xff\r\n;MaxProcs:   8 (of 9)\r\n\r\n\
        \t1  0.4 -1 99.50 4 142.00 -1 4.2 2e2 -1 1 1 1 1 1 1 -1 -1  \r\n\
        ; Note: a remark in the middle\n   \n\
        2 10\t-1 50.5 8 -1 -1 8 60 -1 1 2 1 1 1 1 -1 -1\r\n\
        3 20.49 -1 0.3 2 -1 -1 -0.2 59.5 -1 1 1 1 1 1 1 -1 -1";
    let (plain, awkward) = (sim_fed(&["--trace", "-"], plain), sim_fed(&["--trace", "-"], awkward));
    assert_eq!((plain.code, awkward.code), (0, 0), "{}{}", plain.err, awkward.err);
    assert_eq!(plain.out, awkward.out);
    assert!(plain.out.contains("stdin,8,sjbf,kin,3,0,"), "{}", plain.out);
}

#[test]
fn labels_are_the_shortest_spec_that_means_the_same() {
    for (written, label) in [
        ("ruh:window=3", ",ruh,"),
        ("ruh:cap=on,window=2", ",\"ruh:window=2,cap=on\","),
        ("constant:seconds=2m", ",constant:seconds=120,"),
        ("easy++", ",easy++,"),
    ] {
        let csv = sim_ok(&["--predictor", written]);
        assert!(csv.contains(label), "{written}: {csv}");
    }
    let same = |a: &str, b: &str| {
        let numbers = |predictor: &str| {
            let csv = sim_ok(&["--predictor", predictor, "--no-header"]);
            csv.rsplit(',').take(21).collect::<Vec<_>>().join(",")
        };
        assert_eq!(numbers(a), numbers(b));
    };
    same("easy++", "ruh:window=2,metric=mean,cap=on");
}

#[test]
fn per_job_rows_add_up_to_the_summary() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jobs.csv");
    let summary = sim_ok(&["--jobs-out", text(&path), "--no-header"]);
    let mut reader = csv::Reader::from_path(&path).unwrap();
    assert_eq!(
        reader.headers().unwrap().iter().collect::<Vec<_>>().join(","),
        "job,user,submit,start,end,wait,procs,runtime,estimate,prediction,prediction_last,misses,bsld,ai,ra,backfilled,log_id"
    );
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 5000);
    let column = |at: usize| rows.iter().map(move |row| row[at].parse::<f64>().unwrap());
    let summary: Vec<_> = summary.split(',').collect();
    let mean = |at: usize| column(at).sum::<f64>() / 5000.0;
    for (at, column_of_summary) in [(5, 6), (12, 7), (13, 8), (14, 9)] {
        let expected: f64 = summary[column_of_summary].parse().unwrap();
        assert!((mean(at) - expected).abs() < 1e-3, "column {at}: {} and {expected}", mean(at));
    }
    assert_eq!(column(15).sum::<f64>().to_string(), summary[10]);
    assert_eq!(column(11).sum::<f64>().to_string(), summary[11]);
    for row in &rows {
        let number = |at: usize| row[at].parse::<i64>().unwrap();
        assert_eq!((number(3) - number(2), number(3) + number(7)), (number(5), number(4)));
    }
}

#[test]
fn one_output_may_go_to_standard_output() {
    for (option, first) in
        [("--jobs-out", "job,user,"), ("--swf-out", "; Version: 2.2"), ("--predictions-out", "job,time,")]
    {
        let ran = sim(&["-q", option, "-"]);
        assert_eq!(ran.code, 0);
        assert!(ran.out.starts_with(first) && !ran.out.contains("wait_mean"), "{option}");
        assert!(ran.err.contains("wait_mean"), "the summary goes to standard error");
    }
}

#[test]
fn a_schedule_is_a_log_that_reads_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("schedule.swf");
    let simulated = sim_ok(&["--swf-out", text(&path), "--no-header", "--baseline", "none"]);
    let replayed = sim_ok(&["--trace", text(&path), "--scheduler", "replay", "--no-header"]);
    let numbers = |csv: &str| csv.split(',').skip(4).map(str::to_string).collect::<Vec<_>>();
    // The whole row is the same: waits, predictions, misses, utilization.
    assert_eq!(numbers(&simulated), numbers(&replayed));

    let (log, schedule) = (String::from_utf8(demo_text()).unwrap(), fs::read_to_string(&path).unwrap());
    let header = |text: &str| text.lines().filter(|line| line.starts_with(';')).map(str::to_string).collect::<Vec<_>>();
    assert_eq!(header(&schedule)[..header(&log).len()], header(&log), "the header is kept");
    let changed = |text: &str| {
        let records = text.lines().filter(|line| !line.starts_with(';'));
        let without_wait = |line: &str| {
            let fields: Vec<_> = line.split_whitespace().enumerate().filter(|(at, _)| *at != 2).collect();
            fields.into_iter().map(|(_, field)| field.to_string()).collect::<Vec<_>>()
        };
        records.map(without_wait).collect::<Vec<_>>()
    };
    assert_eq!(changed(&schedule), changed(&log), "every field but the wait is as it was");
}

#[test]
fn a_shaped_schedule_reads_back_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("schedule.swf");
    let shape = ["--first", "300", "--repeat", "3", "--load", "1.5", "--procs", "90", "--overrun", "kill"];
    let simulated = sim_ok(&[&["--swf-out", text(&path), "--no-header", "--baseline", "none"], &shape[..]].concat());
    let replayed = sim_ok(&["--trace", text(&path), "--scheduler", "replay", "--no-header"]);
    // The columns from the mean wait on, except the options.
    let numbers = |csv: &str| csv.split(',').map(str::to_string).collect::<Vec<_>>()[6..23].to_vec();
    assert_eq!(numbers(&simulated), numbers(&replayed));
    assert!(replayed.starts_with("schedule,90,"), "the header says what the machine was: {replayed}");
}

#[test]
fn predictions_are_told_with_their_causes() {
    let csv = sim(&["-q", "--predictions-out", "-", "--predictor", "ruh:propagate=on", "--first", "500"]).out;
    let rows: Vec<Vec<&str>> = csv.lines().skip(1).map(|line| line.split(',').collect()).collect();
    assert!(csv.starts_with("job,time,prediction,event,cause\n"));
    assert_eq!(rows.iter().filter(|row| row[3] == "arrival").count(), 500);
    assert!(rows.iter().any(|row| row[3] == "miss" && row[0] == row[4]));
    assert!(rows.iter().any(|row| row[3] == "termination" && row[0] != row[4]), "propagated ones name another job");
    assert!(rows.is_sorted_by_key(|row| row[1].parse::<i64>().unwrap()));
}

/// At each event the job's own prediction first, then the others in order of arrival, in whatever order the predictor made
/// them.
#[test]
fn predictions_of_one_event_are_in_order() {
    for predictor in ["sbh", "ruh:propagate=on"] {
        let csv = sim(&["-q", "--predictions-out", "-", "--predictor", predictor]).out;
        let rows: Vec<Vec<&str>> = csv.lines().skip(1).map(|line| line.split(',').collect()).collect();
        let mut longest = 0;
        for event in rows.chunk_by(|a, b| a[1] == b[1] && a[3..] == b[3..]) {
            assert!(event.is_sorted_by_key(|row| (row[0] != row[4], row[0].parse::<u32>().unwrap())), "{event:?}");
            longest = longest.max(event.len());
        }
        assert!(longest > 5, "{predictor} propagates");
    }
}

#[test]
fn shaping_and_measuring_change_what_they_say() {
    let jobs = |options: &[&str]| {
        let csv = sim_ok(&[&["--no-header"], options].concat());
        csv.split(',').nth(4).unwrap().parse::<u32>().unwrap()
    };
    assert_eq!(jobs(&["--first", "100"]), 100);
    assert_eq!(jobs(&["--first", "100", "--repeat", "3"]), 300);
    assert_eq!(jobs(&["--warmup", "1%"]), 4950);
    assert_eq!(jobs(&["--warmup", "10", "--cooldown", "20"]), 4970);
    assert_eq!(jobs(&["--to", "5d"]) + jobs(&["--from", "5d"]), 5000);
    let wait = |load: &str| {
        let csv = sim_ok(&["--no-header", "--load", load]);
        csv.split(',').nth(6).unwrap().parse::<f64>().unwrap()
    };
    assert!(wait("0.8") < wait("1") && wait("1") < wait("1.2"));
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let one = sim_ok(&["--threads", "1", "--predictor", "ruh:propagate=on"]);
    for threads in ["2", "3", "16"] {
        assert_eq!(sim_ok(&["--threads", threads, "--predictor", "ruh:propagate=on"]), one);
    }
}

#[test]
fn lists_come_from_the_source_of_the_errors() {
    for (what, option) in [("predictors", "--predictor"), ("schedulers", "--scheduler")] {
        let list = sim_ok(&["list", what]);
        let names: Vec<_> =
            list.lines().filter(|line| !line.starts_with(' ')).map(|l| l.split(' ').next().unwrap()).collect();
        let error = sim(&[option, "nonsense"]);
        assert_eq!(error.code, 2);
        assert!(error.err.contains(&names.join(", ")), "{}", error.err);
        for name in names {
            let spec = if name == "exec" { "exec:command=python3 my.py" } else { name };
            // A program is not there; no table is named.
            let code = ["exec", "given"].iter().position(|other| *other == name).map_or(0, |at| at as i32 + 1);
            assert_eq!(sim(&["--first", "200", option, spec]).code, code, "{name}");
        }
    }
    assert!(sim_ok(&["list", "predictors"]).contains("window=3"));
}

#[test]
fn information_about_a_log() {
    let table = sim_ok(&["trace", "info", "--format", "table"]);
    for part in ["processors         128", "jobs               5,000", "offered load       84.6%", "wait time"] {
        assert!(table.contains(part), "{part}: {table}");
    }
    let json: serde_json::Value = serde_json::from_str(&sim_ok(&["trace", "info", "--format", "json"])).unwrap();
    assert_eq!((&json["users"], &json["unknown_memory"]), (&40.into(), &1.0.into()));
    assert_eq!(sim_ok(&["trace", "info", "--format", "csv"]).lines().count(), 2);
    // A log without the size of its machine can be surveyed too.
    let ran = sim_fed(&["trace", "info", "-", "--format", "table"], b"1 0 0 5 1 1 1 1 9 1 1 1 1 1 1 1 1 1\n");
    assert!(ran.code == 0 && ran.out.contains("use --procs N"), "{}", ran.out);
}

#[test]
fn validation_of_a_log() {
    let sound = sim(&["trace", "validate"]);
    assert_eq!((sound.code, sound.out.as_str()), (0, "demo: sound: 5,000 records, 0 faulty lines\n"));
    let log = b"; MaxProcs: 4\n; MaxJobs: 9\n\
        1 5 0 5 1 1 1 1 9 1 1 1 1 1 1 1 1 1\n\
        1 3 0 0 8 1 1 8 -1 1 1 1 1 1 1 1 1 1\n\
        2 x 0 5 1 1 1 1 9 1 1 1 1 1 1 1 1 1\n\
        3 9 0 12 -1 1 1 0 9 1 1 1 1 1 1 1 1 1\n\
        4 9\n\
        5 10 0 0 2 1 1 2 -1 1 1 1 1 1 1 1 1 1\n\
        6 11 0 10 2 1 1 2 9 1 1 1 1 1 1 1 1 1\n";
    let ran = sim_fed(&["trace", "validate", "-"], log);
    assert_eq!(ran.code, 2);
    for part in [
        "standard input:5:3: field 2 (submit time) is not a number: \"x\"",
        "standard input:7:4: 2 of the 18 fields of an SWF record: \"4 9\"",
        "1 not sane (no processors, a negative run or submit time, or cancelled before it ran): dropped (first on line 6)",
        "1 wider than the machine (4 processors): dropped (first on line 4)",
        "1 submitted earlier than a line before: sorted (first on line 4)",
        "1 with a job number that an earlier line has (first on line 4)",
        "1 with a run time of 0: simulated as 1 second (first on line 8)",
        "1 without an estimate: filled in (--missing-estimate) (first on line 8)",
        "1 running longer than estimated (--overrun) (first on line 9)",
        "5 records, but the header's MaxJobs is 9",
        "not sound: 5 records, 2 faulty lines",
    ] {
        assert!(ran.out.contains(part), "{part}\n{}", ran.out);
    }
}

#[test]
fn generated_logs_are_files_like_any_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new.swf");
    let args = ["generate", "sessions", "--jobs", "300", "--procs", "32", "--seed", "9", "--out", text(&path)];
    assert_eq!(sim_ok(&args), "");
    assert!(sim(&args).err.contains("seed 9"));
    let csv = sim_ok(&["--trace", text(&path), "--no-header"]);
    assert!(csv.starts_with("new,32,sjbf,kin,300,0,"), "{csv}");
}

/// More jobs than one block has: job numbers must continue in the next block.
#[test]
fn models_make_logs_of_any_length() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new.swf");
    for (model, more) in [("lublin", &["--only", "batch"][..]), ("lublin", &[]), ("downey", &[])] {
        let common = ["generate", model, "--jobs", "25000", "--procs", "100", "--users", "30", "--offered-load", "0.8"];
        let args = [&common[..], more, &["--seed", "9", "--out", text(&path)]].concat();
        let ran = sim(&args);
        assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
        let load = ran.err.strip_prefix("note: 25,000 jobs on 100 processors, offered load ").unwrap();
        let load: f64 = load.split(',').next().unwrap().parse().unwrap();
        assert!((0.796..=0.804).contains(&load), "{load}");
        let log = fs::read_to_string(&path).unwrap();
        // The command in the header generates the same log.
        let (_, command) = log.split_once("made by `sim ").unwrap();
        let command: Vec<_> = command.split_once('`').unwrap().0.split(' ').collect();
        assert_eq!(sim_ok(&command), log);
        assert!(sim_ok(&["trace", "validate", text(&path)]).contains("sound: 25,000 records"));
        let row = sim_ok(&["trace", "info", text(&path), "--format", "json"]);
        for part in ["\"procs\": 100", "\"jobs\": 25000", "\"users\": 30", "\"out_of_order\": 0"] {
            assert!(row.contains(part), "{part}\n{row}");
        }
        let numbers = log.lines().filter(|line| !line.starts_with(';')).map(|line| line.split_whitespace().next());
        assert!(numbers.eq((1..=25_000).map(|n| n.to_string()).collect::<Vec<_>>().iter().map(|n| Some(n.as_str()))));
    }
}

/// Estimates over several blocks: the generated log has the parameters that were given to the model.
#[test]
fn made_logs_have_estimates_if_asked() {
    let estimates = |model: &str, spec: &str| {
        let args = ["generate", model, "--jobs", "25000", "--procs", "100", "--estimates", spec, "--seed", "3"];
        let log = sim_ok(&args);
        assert!(log.contains(&format!("--estimates {spec} --seed 3`")), "{}", &log[..800]);
        let jobs = log.lines().filter(|line| !line.starts_with(';'));
        let fields = jobs.map(|line| line.split_whitespace().map(|field| field.parse().unwrap()).collect::<Vec<i64>>());
        let pairs: Vec<(i64, i64)> = fields.map(|fields| (fields[3], fields[8])).collect();
        assert!(pairs.iter().all(|(runtime, estimate)| runtime <= estimate), "{spec}");
        pairs
    };
    // Lublin's longest runtime is e^12 s, 45.2 hours; Downey's e^12 s too.
    for model in ["lublin", "downey"] {
        let modes = Modes::of(estimates(model, "tsafrir:at-tmax=20").iter().map(|(_, estimate)| *estimate));
        assert_eq!(modes.tmax(), Some(46 * 3600));
        let at_tmax = modes.percent_at(46 * 3600);
        assert!((at_tmax - 20.0).abs() < 0.1, "{at_tmax}");
        assert!((modes.percent_in_head() - 89.0).abs() < 0.5, "{}", modes.percent_in_head());
    }
    let factors = estimates("lublin", "f:f=1");
    assert!(factors.iter().all(|(runtime, estimate)| *estimate <= 2 * runtime));
    // No block repeats the draws of another: among long jobs hardly two factors are the same.
    let mut long: Vec<f64> =
        factors.iter().filter(|(runtime, _)| *runtime > 20_000).map(|(r, e)| *e as f64 / *r as f64).collect();
    long.sort_by(f64::total_cmp);
    let all = long.len();
    long.dedup();
    assert!(all > 500 && long.len() as f64 > 0.99 * all as f64, "{} of {all}", long.len());
}

#[test]
fn help_has_examples_and_versions_are_told() {
    for args in [
        &["--help"][..],
        &["--help-all"],
        &["trace", "info", "--help"],
        &["trace", "validate", "--help"],
        &["generate", "sessions", "--help"],
        &["generate", "lublin", "--help"],
        &["generate", "downey", "--help"],
    ] {
        let ran = sim(args);
        assert!(ran.code == 0 && ran.out.contains("Example"), "{args:?}");
    }
    assert_eq!(sim(&["--version"]).out, format!("sim {}\n", env!("CARGO_PKG_VERSION")));
}

/// `sim ... | head -1`
#[test]
fn a_closed_pipe_is_no_error() {
    for args in [&["-q", "--jobs-out", "-", "--repeat", "4"][..], &["-q", "generate", "lublin", "--jobs", "20000"]] {
        assert_quiet_when_cut_off(args);
    }
}

fn assert_quiet_when_cut_off(args: &[&str]) {
    let mut child =
        command(env!("CARGO_BIN_EXE_sim")).args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut some = [0; 10];
    let mut out = child.stdout.take().unwrap();
    out.read_exact(&mut some).unwrap();
    drop(out);
    let ended = child.wait_with_output().unwrap();
    assert_eq!((ended.status.code(), String::from_utf8_lossy(&ended.stderr).as_ref()), (Some(0), ""));
}

#[cfg(unix)]
#[test]
fn an_interrupt_leaves_no_half_written_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jobs.csv");
    fs::write(&path, "old").unwrap();
    let mut child = command(env!("CARGO_BIN_EXE_sim"))
        .args(["--trace", "-", "--jobs-out", text(&path)])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It has opened its output and waits for input, of which there is none.
    let files = || fs::read_dir(folder.path()).unwrap().count();
    wait_until("no temporary file appeared", || files() == 2);
    let stdin = child.stdin.take();
    assert!(command("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    let ended = child.wait_with_output().unwrap();
    drop(stdin);
    assert_eq!(ended.status.code(), Some(130));
    assert!(String::from_utf8_lossy(&ended.stderr).contains("interrupted"));
    assert_eq!((files(), fs::read_to_string(&path).unwrap().as_str()), (1, "old"));
}

/// The list of columns is made from the table that results are made from, and the documentation names them all.
#[test]
fn every_column_is_listed_and_documented() {
    let list = sim_ok(&["list", "columns", "runs"]);
    // A line that begins with a blank continues the one above.
    let entries = list.lines().filter(|line| !line.starts_with(' '));
    let listed: Vec<&str> = entries.clone().map(|line| line.split_whitespace().next().unwrap()).collect();
    // A run on nodes with preemption, feedback and reasons, one amid outages, and changes of two machines have all of them.
    let folder = Folder::new();
    let log = folder.text("log.swf");
    sim_ok(&["--first", "50", "--swf-out", &log]);
    let machine = folder.write("site.toml", "[[nodes]]\nname = \"n[1-64]\"\ncpus = 2\n");
    let outages = folder.write("outages.csv", "start,end,nodes\n100,200,n1\n");
    let on_nodes = [&log, "--baseline", "easy/estimate", "--machine", &machine, "--reasons"];
    let mut known = BTreeSet::new();
    for arguments in [
        [&on_nodes[..], &["--scheduler", "slurm:preempt=requeue", "--feedback", "think"]].concat(),
        [&on_nodes[..], &["--scheduler", "easy", "--outages", &outages]].concat(),
        vec![&log, "--machine", &machine, "--what-if", "add-nodes=n[65-66] as n1"],
        vec![&log, "--what-if", "procs=200"],
    ] {
        let csv = sim_ok(&arguments);
        let header: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
        assert_eq!(listed.iter().copied().filter(|name| header.contains(name)).collect::<Vec<_>>(), header);
        known.extend(header.into_iter().map(str::to_string));
    }
    assert!(listed.iter().all(|name| known.contains(*name)), "{listed:?}");
    assert!(entries.clone().all(|line| line.split_whitespace().count() > 2), "each with its meaning:\n{list}");
    let documentation = sim_ok(&["help", "formats"]);
    let words: Vec<&str> = documentation.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    for column in listed {
        assert!(words.contains(&column), "the documentation does not mention the column {column}");
    }
}

/// Every command that prints CSV can omit the header and has the same formats.
#[test]
fn every_command_with_results_has_the_same_output_options() {
    for command in [
        "--first 50",
        "search --method greedy --evaluations 40 --first 200",
        "wait --method ibl --first 400",
        "wait ask --method ibl --first 400 --job procs=4,estimate=1h",
        "malleable --days 1 --strategy avg --view system",
        "reproduce downey --days 1 --replications 1",
        "trace info",
    ] {
        let run = |more: &[&str]| sim_ok(&[&command.split(' ').collect::<Vec<_>>(), more].concat());
        let whole = run(&["--format", "csv"]);
        let (header, rows) = whole.split_once('\n').unwrap();
        assert!(header.contains(',') && !rows.is_empty(), "{command}");
        assert_eq!(run(&["--format", "csv", "--no-header"]), rows, "{command}");
    }
    assert!(
        sim_ok(&["sweep", "--help"]).starts_with("Run a grid of settings"),
        "what the options say is not about sweeps"
    );
    for command in ["search", "wait", "meta", "malleable", "sweep", "reproduce talby", "reproduce downey"] {
        let help = sim_ok(&[&command.split(' ').collect::<Vec<_>>()[..], &["--help"]].concat());
        let output = help.split("\nOutput:\n").nth(1).unwrap_or_else(|| panic!("{command} has no section Output"));
        for option in ["--threads <N>", "--format <FORMAT>", "--no-header"] {
            assert!(output.contains(option), "{command} has no {option} among its output options");
        }
    }
}
