//! Bad input: every error has a message with the position and a remedy, and the right exit code.

use std::fs;
use std::path::Path;

use crate::support::{demo_text, sim, sim_fed};

const GOOD: &str = "1 0 0 5 1 1 1 1 9 1 1 1 1 1 1 1 1 1\n";

/// Runs the program on this log on standard input, which must fail with this message.
fn assert_bad_log(log: &[u8], options: &[&str], message: &str) {
    let ran = sim_fed(&[&["--trace", "-"], options].concat(), log);
    assert!(ran.err.contains(message), "expected: {message}\ngot: {}", ran.err);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{}", ran.err);
}

/// Runs the program with these options, which must fail with this message.
fn assert_bad_usage(options: &[&str], message: &str) {
    let ran = sim(options);
    assert!(ran.err.contains(message), "{options:?}\nexpected: {message}\ngot: {}", ran.err);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{options:?}: {}", ran.err);
}

fn with_header(lines: &str) -> Vec<u8> {
    format!("; MaxProcs: 8\n{lines}").into_bytes()
}

#[test]
fn a_line_with_too_few_fields() {
    let log = with_header(&format!("{GOOD}  2 0 0\t5 \n"));
    assert_bad_log(&log, &[], "standard input:3:10: 4 of the 18 fields of an SWF record: \"2 0 0\\t5\"");
    assert_bad_log(&log, &[], "--skip-bad-lines");
}

#[test]
fn fields_after_the_18th_are_ignored_and_told_once() {
    let log = with_header(&format!("{} 19 {{1,2}} x=\n{GOOD}", GOOD.trim_end()));
    let ran = sim_fed(&["--trace", "-"], &log);
    assert!(ran.code == 0 && ran.out.contains("stdin,8,sjbf,kin,2,0,"), "{}", ran.err);
    assert_eq!(ran.err.matches("1 record has fields after the 18th, which are ignored").count(), 1, "{}", ran.err);
    // What is written again has 18 fields.
    let written = sim_fed(&["-q", "--trace", "-", "--swf-out", "-"], &log).out;
    assert!(written.lines().last().unwrap().split_whitespace().count() == 18, "{written}");
}

#[test]
fn a_byte_order_mark_is_skipped() {
    let log = [b"\xef\xbb\xbf", &with_header(GOOD)[..]].concat();
    let ran = sim_fed(&["-q", "--trace", "-"], &log);
    assert!(ran.code == 0 && ran.out.contains("stdin,8,sjbf,kin,1,0,"), "{}", ran.err);
}

#[test]
fn a_field_that_is_not_a_number() {
    let log = with_header(&GOOD.replace(" 9 ", " nine "));
    assert_bad_log(&log, &[], "standard input:2:17: field 9 (requested time) is not a number: \"nine\"");
    assert_bad_log(&with_header(&GOOD.replace(" 9 ", " NaN ")), &[], "not a number: \"NaN\"");
    assert_bad_log(&with_header(&GOOD.replace(" 9 ", " 1,5 ")), &[], "not a number: \"1,5\"");
}

#[test]
fn bytes_that_are_no_text_are_shown_escaped() {
    let log = [&with_header("")[..], b"1 \xff\x07 0\n"].concat();
    assert_bad_log(&log, &[], "standard input:2:3: field 2 (submit time) is not a number: \"\\xff\\x07\"");
}

#[test]
fn a_number_beyond_reason() {
    for (number, field) in [("99999999999999999999", 9), ("1e30", 9), ("70000000000", 9)] {
        let log = with_header(&GOOD.replace(" 9 ", &format!(" {number} ")));
        let message = format!("field {field} (requested time) is too large a number: \"{number}\"");
        assert_bad_log(&log, &[], &message);
    }
    let log = with_header("1 0 0 5 5000000000 1 1 1 9 1 1 1 1 1 1 1 1 1\n");
    assert_bad_log(&log, &[], "field 5 (allocated processors) is too large a number: \"5000000000\"");
}

#[test]
fn users_may_have_64_bits() {
    let users = ["35012304659472", "9223372036854775807", "7", "-1", "-9", "35012304659472"];
    let lines: String = users.map(|user| format!("1 0 0 5 1 1 1 1 9 1 1 {user} 1 1 1 1 1 1\n")).concat();
    let ran = sim_fed(&["-q", "--trace", "-", "--jobs-out", "-"], &with_header(&lines));
    assert_eq!(ran.code, 0, "{}", ran.err);
    let printed: Vec<&str> = ran.out.lines().skip(1).map(|line| line.split(',').nth(1).unwrap()).collect();
    assert_eq!(printed, ["35012304659472", "9223372036854775807", "7", "-1", "-1", "35012304659472"]);
    let info = sim_fed(&["-q", "trace", "info", "-", "--format", "json"], &with_header(&lines)).out;
    assert!(info.contains("\"users\": 3"), "{info}");
}

#[test]
fn faulty_lines_can_be_skipped_and_are_counted() {
    let log = with_header(&format!("{GOOD}rubbish\n{GOOD}1 2 3\n\0\0\n"));
    let ran = sim_fed(&["--trace", "-", "--skip-bad-lines"], &log);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("stdin,8,sjbf,kin,2,0,"));
    assert!(ran.err.contains("3 faulty lines skipped, the first of them 3:1: field 1 (job number)"), "{}", ran.err);
}

#[test]
fn a_binary_file() {
    assert_bad_log(b"\x7fELF\x02\x01\x01\0\0\0\0\n\0\0", &[], "it is not text, so it is not a log; it begins with");
    assert_bad_log(&vec![b'x'; 3 << 20], &[], "is of none of the formats swf, sacct, ");
    assert_bad_log(&vec![b'1'; 3 << 20], &["--log-format", "swf"], "a line of more than a megabyte; is this a log?");
    let mut half = with_header(GOOD);
    half.extend_from_slice(b"\0\0\0\n");
    assert_bad_log(&half, &[], "standard input:3:1: not a line of text (it has a NUL byte); is this a log?");
}

#[test]
fn a_damaged_gzip_file() {
    let packed = include_bytes!("../../traces/demo.swf.gz");
    assert_bad_log(&packed[..packed.len() / 2], &[], "damaged or incomplete");
    let mut flipped = packed.to_vec();
    flipped[packed.len() / 2] ^= 0xff;
    let ran = sim_fed(&["--trace", "-"], &flipped);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert_bad_log(&packed[..5], &[], "cannot be read past line 0");
}

#[test]
fn a_damaged_zstd_file() {
    let level = ruzstd::encoding::CompressionLevel::Fastest;
    let packed = ruzstd::encoding::compress_to_vec(&demo_text()[..], level);
    assert_bad_log(&packed[..packed.len() / 2], &[], "damaged or incomplete");
    assert_bad_log(&packed[..4], &[], "damaged or incomplete");
    let mut checksum = packed.clone();
    *checksum.last_mut().unwrap() ^= 0xff;
    let ran = sim_fed(&["--trace", "-"], &checksum);
    assert_eq!(ran.code, 2, "{}", ran.err);
}

#[test]
fn files_that_cannot_be_opened() {
    assert_bad_usage(&["--trace", "no/such/log.swf"], "cannot open no/such/log.swf: No such file");
    let folder = tempfile::tempdir().unwrap();
    assert_bad_usage(&["--trace", folder.path().to_str().unwrap()], "it is a folder, not a log");
    assert_bad_usage(&["trace", "info", "no/such/log.swf"], "cannot open no/such/log.swf");
    assert_bad_usage(&["trace", "validate", "no/such/log.swf"], "cannot open no/such/log.swf");
}

#[test]
fn a_log_without_jobs() {
    assert_bad_log(b"", &["--procs", "8"], "no job to simulate: the log has no records");
    assert_bad_log(&with_header(""), &[], "no job to simulate: the log has no records");
    let insane = with_header("1 0 0 -1 1 1 1 1 9 1 1 1 1 1 1 1 1 1\n2 -5 0 1 1 1 1 1 9 1 1 1 1 1 1 1 1 1\n");
    assert_bad_log(&insane, &[], "of 2 records, 2 not sane");
    assert_bad_log(&with_header(GOOD), &["--from", "1h"], "none is left after --from, --to and --first");
}

#[test]
fn a_log_that_does_not_name_its_machine() {
    // The machine is as large as what was in use at once: the first job ends when the last one starts.
    let log = format!("{GOOD}2 1 0 4 2 1 1 2 9 1 1 1 1 1 1 1 1 1\n3 1 4 9 2 1 1 2 9 1 1 1 1 1 1 1 1 1\n");
    for log in [log.clone(), format!("; MaxProcs: 0\n; MaxNodes: -1\n{log}")] {
        let ran = sim_fed(&["-q", "--trace", "-"], log.as_bytes());
        assert!(ran.code == 0 && ran.out.contains("stdin,3,sjbf,kin,3,0,"), "{}", ran.out);
        assert!(ran.err.contains("as many processors as were in use at once"), "{}", ran.err);
        let ran = sim_fed(&["-q", "--trace", "-", "--procs", "4"], log.as_bytes());
        assert!(ran.code == 0 && ran.err.is_empty(), "{}", ran.err);
    }
    let without_waits = GOOD.replacen("1 0 0 5", "1 0 -1 5", 1);
    assert_bad_log(without_waits.as_bytes(), &[], "say how large the machine is with --procs N");
    assert_eq!(sim_fed(&["--trace", "-", "--procs", "4"], without_waits.as_bytes()).code, 0);
}

#[test]
fn a_job_wider_than_the_machine() {
    let log = with_header(&format!("{GOOD}{}", GOOD.replacen("1 0 0 5 1 1 1 1", "7 0 0 5 1 1 1 9", 1)));
    assert_bad_log(&log, &["--strict"], "job 7 needs 9 processors, but the machine has 8");
    let ran = sim_fed(&["--trace", "-"], &log);
    assert!(ran.code == 0 && ran.out.contains("stdin,8,sjbf,kin,1,1,"), "{}", ran.out);
    assert!(ran.err.contains("1 of 2 records dropped (50.0%): 1 wider than the machine"), "{}", ran.err);
    // A replay starts jobs of any width, but not if the baseline is another scheduler, which cannot.
    let jobs = |options: &[&str]| {
        let ran = sim_fed(&[&["--trace", "-", "--no-header", "--scheduler", "replay"], options].concat(), &log);
        ran.out.split(',').nth(4).map(str::to_string)
    };
    assert_eq!(jobs(&[]).as_deref(), Some("2"));
    assert_eq!(jobs(&["--baseline", "replay/estimate"]).as_deref(), Some("2"));
    assert_eq!(jobs(&["--baseline", "easy/estimate"]).as_deref(), Some("1"));
}

#[test]
fn what_is_changed_in_a_log_is_told() {
    let log = with_header("1 9 -1 5 1 1 1 1 -1 1 1 1 1 1 1 1 1 1\n2 3 4 5 1 1 1 1 60 1 1 1 1 1 1 1 1 1\n");
    let ran = sim_fed(&["--trace", "-"], &log);
    assert!(ran.err.contains("warning: standard input: 1 job (50.0%) has no estimate"), "{}", ran.err);
    assert!(
        ran.err.contains("warning: standard input: 1 job was submitted earlier than the job on the line above"),
        "{}",
        ran.err
    );
    let ran = sim_fed(&["--trace", "-", "--scheduler", "replay"], &log);
    assert!(ran.err.contains("1 without a recorded wait") && ran.out.contains(",replay,kin,1,1,"), "{}", ran.err);
    let ran = sim_fed(&["--trace", "-", "--missing-estimate", "drop"], &log);
    assert!(ran.err.contains("1 without an estimate") && ran.out.contains(",sjbf,kin,1,1,"), "{}", ran.err);
}

#[test]
fn specs_that_mean_nothing() {
    assert_bad_usage(
        &["--predictor", "rhu"],
        "the predictors are perfect, constant, estimate, ruh, easy++, sbh, sbh-noest",
    );
    assert_bad_usage(
        &["--scheduler", "sjf"],
        "the schedulers are fcfs, easy, sjbf, conservative, fair, slurm, replay, exec",
    );
    assert_bad_usage(
        &["--predictor", "ruh:windw=2"],
        "the keys of ruh are window, metric, order, propagate, running, cap",
    );
    assert_bad_usage(&["--predictor", "ruh:window=0"], "not a whole number of at least 1");
    assert_bad_usage(&["--predictor", "ruh:metric=mode"], "one of median, mean, min, max, last");
    assert_bad_usage(&["--predictor", "ruh:cap=on,cap=off"], "given twice");
    assert_bad_usage(&["--predictor", "sbh:criteria=PZ"], "letters of P (processors), E (estimate)");
    assert_bad_usage(&["--predictor", "sbh:criteria="], "a criterion is empty");
    assert_bad_usage(&["--predictor", "sbh:criteria=P*"], "'P*' has a '*'");
    assert_bad_usage(&["--predictor", "sbh:sessions=0"], "not a whole number of at least 1, or all");
    assert_bad_usage(&["--predictor", "sbh:factor=2"], "the keys of sbh are criteria, search, sessions, think");
    assert_bad_usage(&["--predictor", "sbh-noest:factor=1"], "'1' is not a number above 1");
    assert_bad_usage(&["--predictor", "constant:seconds=0"], "a duration of at least 1s");
    assert_bad_usage(&["--predictor", "perfect:x=1"], "perfect takes no keys");
    assert_bad_usage(&["--predictor", "smith:templates=(u); "], "a template begins with '('");
    assert_bad_usage(&["--predictor", "smith:templates=(u); ;(g)"], "\n  (u); ;(g)\n       ^");
    assert_bad_usage(&["--scheduler", "easy:"], "nothing follows the colon");
    assert_bad_usage(&["--baseline", "easy"], "not SCHEDULER/PREDICTOR, such as easy/estimate");
    assert_bad_usage(&["--baseline", "easy/guess"], "unknown predictor 'guess'");
}

#[test]
fn options_out_of_their_range() {
    for (option, value, message) in [
        ("--procs", "0", "'0' is not a whole number from 1 to 4294967295"),
        ("--procs", "-4", "unexpected argument"),
        ("--first", "0", "not a whole number from 1"),
        ("--repeat", "0", "not a whole number from 1"),
        ("--threads", "0", "0 is not in 1.."),
        ("--load", "0", "a number from 0.001 to 1000"),
        ("--load", "nan", "a number from 0.001 to 1000"),
        ("--inflate", "0.5", "a number from 1 to 1000000"),
        ("--from", "1.5h", "not a duration"),
        ("--to", "soon", "90, 90s, 20m, 1h, 2d"),
        ("--warmup", "120%", "neither a number of jobs (100) nor a share of them (1%)"),
        ("--bsld-threshold", "0", "at least 1 second"),
        ("--seed", "-1", "unexpected argument"),
        ("--shake", "x", "not a duration"),
        ("--pass-on-miss=maybe", "", "not one of on, off"),
        ("--format", "xml", "possible values: table, csv, json"),
        ("--overrun", "stop", "not one of extend, kill"),
        ("--missing-estimate", "guess", "not one of largest, runtime, drop"),
        ("--procs-field", "used", "not one of requested, allocated"),
        ("--repeat", "4000000000", "more jobs, or a longer time, than can be simulated"),
    ] {
        let written = [option, value];
        assert_bad_usage(&written[..1 + usize::from(!value.is_empty())], message);
    }
    assert_bad_usage(&["--warmup", "5000"], "leave none of the 5000 to measure");
    assert_bad_usage(&["--no-such-option"], "unexpected argument '--no-such-option'");
    assert_bad_usage(&["list", "dogs"], "possible values: predictors, schedulers");
    assert_bad_usage(&["generate", "sessions", "--offered-load", "0"], "from 0.01 to 100");
    for model in ["lublin", "downey"] {
        assert_bad_usage(&["generate", model, "--offered-load", "NaN"], "from 0.01 to 100");
        assert_bad_usage(&["generate", model, "--procs", "0"], "0 is not in 1..=1000000000");
        assert_bad_usage(&["generate", model, "--jobs", "0"], "0 is not in 1..=100000000");
        assert_bad_usage(&["generate", model, "--users", "0"], "0 is not in 1..=1000000");
        assert_bad_usage(
            &["generate", model, "--estimates", "x2", "--out", "/dev/null"],
            "x2 needs the log's own estimates",
        );
        assert_bad_usage(&["generate", model, "--estimates", "g"], "unknown estimate model 'g'");
        assert_bad_usage(
            &["generate", model, "--jobs", "1", "--offered-load", "0.5"],
            "--offered-load needs more jobs",
        );
    }
    let endless =
        ["generate", "lublin", "--only", "batch", "--procs", "1", "--jobs", "150000", "--offered-load", "0.01"];
    assert_bad_usage(&[&endless[..], &["--out", "/dev/null"]].concat(), "take more than 2,000 years");
    assert_bad_usage(&["generate", "lublin", "--only", "serial"], "[possible values: batch, interactive]");
    assert_bad_usage(&["--predictor", "ruh", "list", "predictors"], "'--predictor' belongs to the main command");
}

#[test]
fn outputs_that_cannot_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("no/folder.csv");
    for option in ["--jobs-out", "--swf-out", "--predictions-out"] {
        let ran = sim(&[option, missing.to_str().unwrap()]);
        assert_eq!((ran.code, ran.out.as_str()), (1, ""));
        assert!(ran.err.contains("the folder must exist"), "{}", ran.err);
    }
    assert_bad_usage(&["--jobs-out", "x", "--swf-out", "x"], "--jobs-out 'x' and --swf-out 'x' go to the same place");
    assert!(!Path::new("x").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk() {
    let ran = sim(&["--jobs-out", "/dev/full"]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    assert!(ran.err.contains("cannot write /dev/full: No space left on device"), "{}", ran.err);
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let status = crate::support::command(env!("CARGO_BIN_EXE_sim"))
        .arg("-q")
        .stdout(full)
        .stderr(std::process::Stdio::null())
        .status();
    assert_eq!(status.unwrap().code(), Some(1));
}
