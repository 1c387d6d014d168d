//! Logs that are easily read wrong: each is read right, or refused with the place and the reason.

use std::fs;
use std::io::Read;

use crate::support::{Folder, real_log, real_logs, sim, sim_fed, sim_ok};

/// The exit code and all output of `sim trace validate` for a log on standard input.
fn validate(log: &str, options: &[&str]) -> (i32, String) {
    let ran = sim_fed(&[&["trace", "validate", "-"], options].concat(), log.as_bytes());
    (ran.code, ran.out + &ran.err)
}

/// Expects that a log is refused with this message, by a simulation too.
fn assert_refused(log: &str, options: &[&str], message: &str) {
    let (code, out) = validate(log, options);
    assert!(code == 2 && out.contains(message), "{message}: {code} {out}");
    let ran = sim_fed(&[&["-q", "--trace", "-"], options].concat(), log.as_bytes());
    assert!(ran.code == 2 && ran.err.contains(message), "{message}: {} {}", ran.code, ran.err);
}

/// Expects that a log is sound, with this many records and this remark.
fn assert_sound(log: &str, options: &[&str], records: usize, remark: &str) {
    let (code, out) = validate(log, options);
    assert!(code == 0 && out.contains(&format!("sound: {records} record")) && out.contains(remark), "{code} {out}");
}

/// The lines of a log with single blanks, without the note on its conversion and the number of its jobs, which is counted.
fn lines(log: &str) -> Vec<String> {
    let lines = log.lines().filter(|line| !line.contains("; Note: converted") && !line.starts_with("; MaxJobs"));
    lines.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

/// What the commands say of a log: results by job, by week and by hour, waits, and what is in it.
fn answers(log: &str) -> Vec<String> {
    let by = |key: &str| sim_ok(&[log, "--by", key, "--format", "table"]);
    let wait = sim_ok(&["wait", log, "--method", "qbets", "--first", "2000", "--format", "csv"]);
    let info = sim_ok(&["trace", "info", log, "--format", "csv"]);
    let jobs = sim_ok(&[log, "--jobs-out", "-"]);
    let replay = sim_ok(&[log, "--scheduler", "replay", "--format", "csv"]);
    vec![jobs, by("week"), by("hour"), wait, info, replay]
}

/// Converts a log, and joins its halves, in both orders: all commands must answer as for the log itself.
fn assert_joins(text: &str) {
    let folder = Folder::new();
    for name in ["whole", "converted", "joined", "turned"] {
        fs::create_dir(folder.path(name)).unwrap();
    }
    // The results have the name of the file.
    let path = |name: &str| folder.text(&format!("{name}/log.swf"));
    fs::write(path("whole"), text).unwrap();
    let (header, records): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with(';'));
    let (first, second) = records.split_at(records.len() / 2);
    let half = |name: &str, records: &[&str]| folder.write(name, [&header[..], records].concat().join("\n") + "\n");
    let (first, second) = (half("first.swf", first), half("second.swf", second));
    sim_ok(&["trace", "convert", &path("whole"), "--out", &path("converted")]);
    sim_ok(&["trace", "convert", &first, &second, "--out", &path("joined")]);
    sim_ok(&["trace", "convert", &second, &first, "--out", &path("turned")]);
    let expected = answers(&path("whole"));
    for name in ["converted", "joined", "turned"] {
        assert_eq!(lines(&fs::read_to_string(path(name)).unwrap()), lines(text), "{name}");
        for (answer, expected) in answers(&path(name)).iter().zip(&expected) {
            assert!(answer == expected, "{name}: {answer}\n{expected}");
        }
    }
}

/// A log that begins a week after its instant 0, with several submissions in one second and wide numbers.
fn late_log() -> String {
    let record = |at: i64| {
        let (submit, user) = (604_800 + at / 3 * 500, 3_000_000_000 + at % 7);
        let (wait, run) = (at * 37 % 900, 60 + at * 7919 % 3000);
        format!("{} {submit} {wait} {run} 4 -1 -1 4 3600 -1 1 {user} 1 -1 {} 1 -1 -1\n", 50 + at, at % 2)
    };
    let records: String = (0..300).map(record).collect();
    format!(
        "; Version: 2.2\n; UnixStartTime: 820454400\n; TimeZoneString: UTC\n; MaxProcs: 64\n; MaxJobs: 300\n{records}"
    )
}

#[test]
fn converted_and_joined_logs_answer_as_the_log_itself() {
    assert_joins(&late_log());
}

#[test]
fn a_real_log_in_two_halves_is_the_log() {
    let Some(folder) = real_logs("a_real_log_in_two_halves_is_the_log") else { return };
    let mut text = String::new();
    let packed = fs::File::open(real_log(&folder, "KTH-SP2")).unwrap();
    flate2::read::GzDecoder::new(packed).read_to_string(&mut text).unwrap();
    assert_joins(&text);
}

#[test]
fn logs_that_are_joined_need_one_clock_and_one_numbering() {
    let folder = Folder::new();
    let record = |number: u32, submit: i64| format!("{number} {submit} 5 10 1 -1 -1 1 60 -1 1 1 1 1 1 1 -1 -1\n");
    let log = |start: &str, records: &[(u32, i64)]| {
        let records: String = records.iter().map(|&(number, submit)| record(number, submit)).collect();
        format!("; MaxProcs: 4\n{start}{records}")
    };
    let one = folder.write("one.swf", log("; UnixStartTime: 1000000\n", &[(1, 100), (2, 200)]));
    let two = folder.write("two.swf", log("; UnixStartTime: 1000150\n; MaxProcs: 8\n", &[(1, 7), (2, 50), (3, 60)]));
    let join = |files: &[&str]| sim(&[&["trace", "convert", "--out", "-"], files].concat());
    // Job 2 of both is submitted at 1000200 and the same: it is one job. Job 1 is two jobs.
    let joined = join(&[&two, &one]);
    let starts: Vec<String> = lines(&joined.out);
    let starts = starts.iter().filter(|line| !line.starts_with(';')).map(|line| &line[..6]).collect::<Vec<_>>();
    assert_eq!(starts, ["1 100 ", "1 157 ", "2 200 ", "3 210 "], "{}", joined.err);
    assert!(joined.out.contains("; UnixStartTime: 1000000\n"), "{}", joined.out);
    assert!(joined.err.contains("1 of 5 rows is no job of its own and was dropped: 1 row that repeats another"));
    // A file on its own may repeat itself.
    let twice = folder.write("twice.swf", log("; UnixStartTime: 1000000\n", &[(1, 100), (1, 100)]));
    assert_eq!(lines(&join(&[&twice]).out).len(), 4);
    for (start, records, message) in [
        ("", &[(1, 100)][..], "its header has no UnixStartTime, but that of another log has one"),
        ("; UnixStartTime: 9000000000000000000\n", &[(1, 100)], "its UnixStartTime is too long after that"),
    ] {
        let other = folder.write("other.swf", log(start, records));
        let ran = join(&[&one, &other]);
        assert!(ran.code == 2 && ran.err.contains(message), "{}", ran.err);
    }
    // Without UnixStartTime only Unix times can be compared.
    let (a, b) = (folder.write("a.swf", log("", &[(1, 5)])), folder.write("b.swf", log("", &[(1, 8)])));
    let ran = join(&[&a, &b]);
    assert!(ran.code == 2 && ran.err.contains("a.swf: its header has no UnixStartTime"), "{}", ran.err);
    let unix = |name: &str, submit| folder.write(name, log("", &[(1, submit)]));
    let ran = join(&[&unix("a.swf", 1_700_000_009), &unix("b.swf", 1_700_000_005)]);
    assert!(ran.code == 0 && ran.out.contains("    1 1700000009 ") && !ran.out.contains("UnixStart"), "{}", ran.err);
    // The users of two accounting files that were converted one by one have the same numbers.
    let sacct = |day: u32| {
        format!(
            "JobID|User|Submit|Start|End|NCPUS\n1|u{day}|2026-01-0{day}T00:00:00|2026-01-0{day}T00:01:00|2026-01-0{day}T00:02:00|2\n"
        )
    };
    let converted = [1, 2].map(|day| {
        let (from, to) = (folder.write(&format!("{day}.txt"), sacct(day)), folder.text(&format!("{day}.swf")));
        sim_ok(&["trace", "convert", &from, "--out", &to]);
        to
    });
    let ran = join(&[&converted[0], &converted[1]]);
    assert!(ran.code == 2 && ran.err.contains("join the accounting files instead"), "{}", ran.err);
}

const HEADER: &str = "JobID|User|Submit|Start|End|NCPUS|Timelimit";

/// A row of [`HEADER`].
fn row(id: &str, minute: u32) -> String {
    format!("{id}|ann|2026-01-01T00:{minute:02}:00|2026-01-01T01:{minute:02}:00|2026-01-01T02:00:00|4|02:00:00")
}

#[test]
fn short_rows_are_not_glued() {
    let short: Vec<String> = (0..10).map(|at| row(&at.to_string(), at).replace("|02:00:00", "")).collect();
    let text = format!("{HEADER}\n{}\n", short.join("\n"));
    assert_refused(&text, &[], ":2:1: a row with 6 of the 7 columns");
    // Two of them have the columns of one row, if the name of the job may hold delimiters.
    let nameless: Vec<String> = (0..10).map(|at| row(&at.to_string(), at) + "|n1").collect();
    let text_without_names = format!("{HEADER}|NodeList|JobName\n{}\n", nameless.join("\n"));
    assert_refused(&text_without_names, &[], ":2:1: a row with 8 of the 9 columns");
    let skipped = sim_fed(&["trace", "info", "-", "--skip-bad-lines", "--format", "csv"], text.as_bytes());
    assert!(skipped.code == 2 && skipped.err.contains("no job to simulate"), "{}", skipped.err);
    // A column of free text may hold line ends, but a row that begins on the next line is another row.
    let header = "JobID|Submit|SubmitLine|Start|End|NCPUS";
    let whole = "7|2026-01-01T00:00:00|sbatch a\n\n8 b|x\nc 9|2026-01-01T00:00:00|2026-01-01T00:01:00|2";
    assert_sound(&format!("{header}\n{whole}\n"), &[], 1, "");
    let cut = "7|2026-01-01T00:00:00|sbatch a\n8|2026-01-01T00:00:00|sbatch|2026-01-01T00:00:00";
    assert_refused(&format!("{header}\n{cut}\n{whole}\n"), &[], ":2:1: a row with 3 of the 6 columns");
    // The line end would be part of a time.
    let broken = "7|2026-01-01T00:00:00|sbatch|2026-01-01\nT00:00:00|2026-01-01T00:01:00|2";
    assert_refused(&format!("{header}\n{broken}\n"), &[], ":2:1: a row with 4 of the 6 columns");
    // The delimiter at the end is missing.
    let text = format!("{HEADER}|\n{}\n{}\n", row("1", 1), row("2", 2));
    assert_refused(&text, &[], ":2:1: a row with 6 of the 7 columns");
}

#[test]
fn a_row_of_many_lines_is_scanned_once() {
    let lines = "sbatch\n".repeat(140_000);
    let text = format!("JobID|Submit|SubmitLine|Start|End|NCPUS\n1|2026-01-01T00:00:00|{lines}\n").repeat(3);
    let begin = std::time::Instant::now();
    assert_refused(&text, &[], "a row with 3 of the 6 columns");
    // It took 14 s with an optimised program: each line was a reason to count the delimiters of all before.
    assert!(begin.elapsed().as_secs() < 60);
}

#[test]
fn commas_in_lists_of_nodes_are_no_delimiters() {
    let header = "JobID,Submit,Start,End,NCPUS,NodeList,Timelimit";
    let row = |id: &str, nodes: &str| {
        format!("{id},2026-01-01T00:00:00,2026-01-01T00:01:00,2026-01-01T00:02:00,2,{nodes},02:00:00\n")
    };
    let text =
        format!("{header}\n{}{}{}", row("1", "n[1-3,5]"), row("2", "a[1,3],b7"), row("3_[4,6%1]", "None assigned"));
    assert_sound(&text, &[], 2, "1 row of ranges of job arrays");
    assert!(sim_fed(&["trace", "convert", "-", "--out", "-"], text.as_bytes()).out.contains(" 7200 "));
    // With a second column that may hold commas, nothing tells them apart.
    let two = text.replace("Timelimit", "Timelimit,JobName").replace("02:00:00", "02:00:00,x");
    assert_refused(&two, &[], ":3:1: a row with 9 columns instead of 8");
}

const CSV: &str = "csv:submit=submit,start=start,run=run,procs=procs,user=user,id=id";

fn table(rows: &[&str]) -> String {
    format!("id,user,submit,start,run,procs\n{}\n", rows.join("\n"))
}

#[test]
fn a_quote_that_is_not_closed_is_an_error() {
    let format = ["--log-format", CSV];
    let rows: Vec<String> = (2..9).map(|at| format!("{at},u{at},{at}0,{at}1,5,1")).collect();
    let mut rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    assert_sound(&table(&rows), &format, 7, "");
    rows[2] = "4,\"u4,40,41,5,1";
    let message = ":4:1: a quote that is not closed: the rows after it would be lost; close it, or remove it: \"x0,00";
    assert_refused(&table(&rows), &format, message);
    // Skipping lines does not help: it is not known where the next row begins.
    let ran = sim_fed(&["--trace", "-", "--skip-bad-lines", "--log-format", CSV], table(&rows).as_bytes());
    assert!(ran.code == 2 && ran.err.contains(message) && !ran.err.contains("--skip"), "{}", ran.err);
    // The quotes of a later row close it, and the number of columns is right.
    for closed in ["8,\"u8\",80,81,5,1", "8,u8\",80,81,5,1"] {
        rows[6] = closed;
        assert_refused(&table(&rows), &format, ":4:1: a quote that is not closed");
    }
    // These are closed.
    rows[2] = "4,\"a \"\"b\"\"\n, c\nd\",40,41,5,1";
    rows[6] = "8,\"u8\"x,80,81,5,1";
    assert_sound(&table(&rows), &format, 7, "");
    // A column that is there twice.
    let twice = table(&rows).replacen("user", "run", 1).replace(",user=user", "");
    let ran = sim_fed(&["--trace", "-", "--log-format", &CSV.replace(",user=user", "")], twice.as_bytes());
    assert!(ran.code == 2 && ran.err.contains("names the column 'run' twice"), "{}", ran.err);
}

const PBS: &str = "01/26/2016 00:00:37;E;10.s;user=ann group=g jobname=j queue=q ctime=1453756297 start=1453766281 \
                   exec_host=c1/0*2 Resource_List.walltime=01:00:00 end=1453766437 Exit_status=0";

/// A row of PBS with another id.
fn pbs(id: &str) -> String {
    PBS.replace("10.s", id)
}

#[test]
fn carriage_returns_end_lines_or_are_refused() {
    let swf = "; MaxProcs: 4\n1 0 0 5 1 1 1 1 9 1 1 1 1 1 1 1 1 1\n2 1 0 5 1 1 1 1 9 1 1 1 1 1 1 1 1 1\n".to_string();
    let sacct = format!("{HEADER}\n{}\n{}\n", row("1", 1), row("2", 2));
    let pbs = format!("{}\n{}\n", pbs("1.s"), pbs("2.s"));
    let csv = table(&["1,u,0,1,5,1", "2,u,0,1,5,1"]);
    let format = ["--log-format", CSV];
    for (log, options) in [(swf, &[][..]), (sacct, &[]), (pbs, &[]), (csv, &format[..])] {
        assert_sound(&log, options, 2, "");
        assert_sound(&log.replace('\n', "\r"), options, 2, "");
        assert_sound(&log.replace('\n', "\r\n"), options, 2, "");
        // A last row that ends with a return alone, as by a tool that knows other line ends than the rest.
        let (rest, last) = log.trim_end().rsplit_once('\n').unwrap();
        let mixed = format!("{rest}\r{last}\n");
        assert_refused(&mixed, options, "another row after a carriage return");
    }
    // The name of a job may hold one.
    let named = format!("{HEADER}|JobName\n{}|a\rb\r\n{}|c|\r7|x\n", row("1", 1), row("2", 2));
    assert_sound(&named, &[], 2, "");
    assert_refused("; a\r; MaxProcs: 4\n1 0 0 5 1 1 1 1 9 1 1 1 1 1 1 1 1 1\n", &[], ":1:5: another row after");
}

#[test]
fn parents_of_pbs_arrays_are_no_jobs() {
    let rows = ["10[].s", "10[1].s", "10[2].s", "11[]", "12.s"].map(pbs).join("\n");
    assert_sound(&rows, &[], 3, "2 rows of parents of job arrays: dropped");
    let folder = Folder::new();
    let file = folder.write("pbs", &rows);
    let learned = sim(&["predict", "--predictor", "ruh", "--learn-from", &file]);
    assert!(
        learned.err.contains("2 of 5 rows are no jobs of their own and were dropped: 2 parents of job arrays"),
        "{}",
        learned.err
    );
    assert!(learned.err.contains("learned from 3 jobs"), "{}", learned.err);
}

#[test]
fn quoted_values_of_pbs_are_one_value() {
    let log = format!("{}\n{}\n", PBS.replace("group=g", "group=g account=\"for user=bob end=5\""), pbs("11.s"));
    let ran = sim_fed(&["-q", "trace", "convert", "-", "--out", "/dev/null", "--names-out", "-"], log.as_bytes());
    let users: Vec<_> = ran.out.lines().filter(|line| line.starts_with("user")).collect();
    assert_eq!(users, ["user,1,ann"], "{}", ran.err);
    assert_refused(
        &PBS.replace("group=g", "account=\"for group=g"),
        &[],
        "not a row of the form values in closed quotes",
    );
    assert_refused(&PBS.replace("group=g", "account=for user=bob"), &[], "a second value of a key, different from");
}

#[test]
fn a_job_in_two_exports_is_one_job() {
    let folder = Folder::new();
    let export = |name: &str, ids: std::ops::Range<u32>| {
        let rows: Vec<String> = ids.map(|id| row(&id.to_string(), id)).collect();
        folder.write(name, format!("{HEADER}\n{}\n", rows.join("\n")))
    };
    let (one, two) = (export("one", 0..20), export("two", 15..30));
    let joined = sim(&["trace", "convert", &one, &two, "--out", &folder.text("joined.swf")]);
    assert!(
        joined.err.contains("5 of 35 rows are no jobs of their own and were dropped: 5 rows that repeat others"),
        "{}",
        joined.err
    );
    let whole = export("joined", 0..30);
    assert_eq!(lines(&folder.read("joined.swf")), lines(&sim_ok(&["trace", "convert", &whole, "--out", "-"])));
    // A run that differs is another record: a job that was requeued.
    let again = row("1", 1).replace("T02:", "T03:");
    let text = format!("{HEADER}\n{}\n{}\n{again}\n", row("1", 1), row("1", 1));
    assert_sound(&text, &[], 2, "1 row with the job id, times and processors of an earlier row: dropped");
    let info = sim_fed(&["trace", "info", "-", "--format", "table"], text.as_bytes());
    assert!(info.out.contains("Reading dropped 1 row that is no job of its own"), "{}", info.out);
    // The tasks of arrays of Grid Engine have one id.
    let task = |task: u32| {
        format!(
            "q1:h:g:o:n:5:a:0:1310761621:1311095354:1311095414:0:0:60{}:1:{task}:6.1:7.3:0.0:-l h_rt=60:0.0:NONE:1.0:0:0\n",
            ":0".repeat(20)
        )
    };
    assert_sound(&[task(1), task(2), task(1)].concat(), &[], 2, "1 row with the job id");
    // A table without ids has no rows that are the same.
    let table = table(&["1,u,0,1,5,1", "1,u,0,1,5,1"]);
    assert_sound(&table, &["--log-format", CSV], 1, "");
    assert_sound(&table, &["--log-format", &CSV.replace(",id=id", "")], 2, "");
}

#[test]
fn validation_counts_jobs_that_are_kept() {
    let record = |number: u32, run: i64, procs: i64, estimate: i64, status: u32| {
        format!("{number} 0 0 {run} {procs} -1 -1 8 {estimate} -1 {status} 1 1 1 1 1 -1 -1\n")
    };
    let log =
        ["; MaxProcs: 12\n".to_string(), record(1, 5, 8, 60, 1), record(2, -1, 8, -1, 0), record(3, 5, -1, -1, 5)]
            .concat();
    let (code, out) = validate(&log, &[]);
    assert!(code == 0 && !out.contains("without an estimate") && !out.contains("in use at once"), "{out}");
    assert!(out.contains("2 not sane"), "{out}");
    assert_sound(&(log.clone() + &record(4, 5, 8, -1, 1)), &[], 4, "1 without an estimate: filled in");
    // Two jobs of 8 processors at once on a machine of 12.
    let over = "16 processors in use at once by the recorded schedule, but the machine has 12 (--procs)";
    let both = log + &record(4, 5, 8, 70, 1);
    assert_sound(&both, &[], 4, over);
    let (_, out) = validate(&both, &["--procs", "16"]);
    assert!(!out.contains("in use at once"), "{out}");
    let info = sim_fed(&["-q", "trace", "info", "-"], both.as_bytes());
    assert!(info.err.contains(over), "{}", info.err);
    let rows = format!("{HEADER}\n{}\n{}\n", row("1", 1), row("2", 2));
    assert_sound(&rows, &["--procs", "7"], 2, "8 processors in use at once");
    let (_, out) = validate(&rows, &["--procs", "3"]);
    assert!(out.contains("2 records wider than the machine"), "{out}");
}

#[test]
fn a_note_says_what_estimates_were_filled_in() {
    let record = |number: u32, estimate: i64| format!("{number} 0 0 4000 1 -1 -1 1 {estimate} -1 1 1 1 1 1 1 -1 -1\n");
    let note = |records: &[String]| sim_fed(&["-"], format!("; MaxProcs: 4\n{}", records.concat()).as_bytes()).err;
    let largest = note(&[record(1, 64_800), record(2, -1)]);
    assert!(
        largest.contains("has no estimate; used instead: 18h 00m, the largest estimate of the log (see"),
        "{largest}"
    );
    let longest = note(&[record(1, -1)]);
    assert!(
        longest.contains("used instead: 2h 00m, the longest run time of the log, rounded up to whole hours (see"),
        "{longest}"
    );
}

#[test]
fn ids_of_any_length_stay_different() {
    let arrival = |id: &str| {
        format!("{{\"event\":\"arrival\",\"time\":5,\"job\":{{\"id\":{id},\"procs\":1,\"estimate\":60}}}}\n")
    };
    let ids = ["18446744073709551616", "18446744073709551617", "\"a\\u0062\"", "7"];
    let ran = sim_fed(&["-q", "predict", "--predictor", "estimate"], ids.map(arrival).concat().as_bytes());
    for id in ["18446744073709551616", "18446744073709551617", "ab", "7"] {
        assert!(ran.out.contains(&format!("\"{id}\"")), "{id}: {}", ran.out);
    }
    assert!(!ran.out.contains("error"), "{}", ran.out);
    // A job number of SWF is a number.
    let record = "; MaxProcs: 4\n18446744073709551616 0 0 5 1 1 1 1 9 1 1 1 1 1 1 1 1 1\n";
    assert_refused(record, &[], "field 1 (job number) is too large a number");
    let text = format!("{HEADER}\n{}\n{}\n", row("18446744073709551616", 1), row("18446744073709551617", 1));
    let ran = sim_fed(&["-q", "trace", "convert", "-", "--out", "/dev/null", "--names-out", "-"], text.as_bytes());
    assert!(ran.out.contains("job,1,18446744073709551616\njob,2,18446744073709551617\n"), "{}", ran.out);
}
