//! Input has limits: endless files, texts that expand to millions of others, megabytes of comments. And names of logs and
//! files cannot control a terminal or a spreadsheet.

use std::fs;
use std::io::Write;
use std::path::Path;

use crate::support::{command, sim, sim_fed, sim_ok};

const RECORD: &str = "1 0 0 5 1 1 1 1 9 1 1 1 1 1 1 1 1 1\n";

/// Runs the program with these arguments, which it must refuse with this message.
fn assert_refused(args: &[&str], message: &str) {
    let ran = sim(args);
    let shown: Vec<String> = args.iter().map(|arg| arg.chars().take(80).collect()).collect();
    let said: String = ran.err.chars().take(2000).collect();
    assert!(ran.err.contains(message), "{shown:?}\nexpected: {message}\ngot: {said}");
    assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{shown:?}: {said}");
}

#[test]
fn braces_are_counted_before_they_are_expanded() {
    let sweep = |predictors: &str, message: &str| {
        assert_refused(&["sweep", "--dry-run", "--predictor", predictors], message);
    };
    sweep(&"{".repeat(20_000), "nested more than 32 deep");
    sweep(&format!("{}ruh{}", "{".repeat(20_000), "}".repeat(20_000)), "nested more than 32 deep");
    sweep(&"{a}".repeat(20_000), "unknown predictor 'aaaa");
    sweep(&"{a|b}".repeat(20_000), "expands to more than 1000000 values");
    sweep(&format!("{}{}", "{a|b}".repeat(19), "c".repeat(100_000)), "expands to more than 67108864 bytes");
}

/// A list of many keys was copied for each of them: for this one that took a minute, and for one that is four times as long it would
/// take a quarter of an hour. It takes some milliseconds.
#[test]
fn long_lists_are_read_at_once() {
    let text = format!("ruh{}", ",x=1".repeat(2_000_000));
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), format!("predictor = '{text}'")).unwrap();
    let began = std::time::Instant::now();
    let ran = sim(&["sweep", file.path().to_str().unwrap(), "--dry-run"]);
    assert!(ran.code == 2 && ran.err.contains("unknown predictor 'ruh,x=1"), "{}", ran.code);
    assert!(began.elapsed().as_secs() < 300, "{:?}", began.elapsed());
}

#[test]
fn files_of_settings_have_limits() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.toml");
    let file = path.to_str().unwrap();
    let limit = format!("{file} is longer than 1 MiB, the limit for such a file");
    fs::write(&path, format!("(u)\n#{}\n", "x".repeat(1 << 20))).unwrap();
    assert_refused(&["--predictor", &format!("smith:templates=@{file}")], &limit);
    fs::write(&path, format!("[[site]]\nname = 'A'\nlog = 'a.swf'\n#{}\n", "x".repeat(1 << 20))).unwrap();
    assert_refused(&["meta", file], &limit);
    let large = fs::File::create(&path).unwrap();
    // A file of zeros that takes no room on the disk.
    large.set_len((64 << 20) + 1).unwrap();
    assert_refused(&["sweep", file, "--dry-run"], &format!("{file} is longer than 64 MiB"));
}

/// Before there were limits, each of these read until the memory was full.
#[cfg(unix)]
#[test]
fn files_without_an_end_are_refused() {
    let longer = "/dev/zero is longer than";
    assert_refused(&["--predictor", "smith:templates=@/dev/zero"], longer);
    assert_refused(&["meta", "/dev/zero"], longer);
    assert_refused(&["sweep", "/dev/zero", "--dry-run"], longer);
}

#[test]
fn deep_nesting_in_toml_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep.toml");
    let file = path.to_str().unwrap();
    for text in [
        format!("load = {}", "[".repeat(20_000)),
        format!("load = {}{}", "[".repeat(20_000), "]".repeat(20_000)),
        format!("load = {}1{}", "{a = ".repeat(20_000), "}".repeat(20_000)),
    ] {
        fs::write(&path, &text).unwrap();
        assert_refused(&["sweep", file, "--dry-run"], "line 1: not TOML");
        assert_refused(&["meta", file], "line 1: not TOML");
    }
}

#[test]
fn mistakes_in_files_of_settings_have_their_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sites.toml");
    let file = path.to_str().unwrap();
    let site = "# two sites\n[[site]]\nname = 'A'\nlog = 'a.swf'\n";
    for (text, message) in [
        (format!("{site}procs 4\n"), "line 5: not TOML: "),
        (format!("{site}cores = 4\n"), "line 5: site 1: no key 'cores'; the keys of a site are scheduler, predictor"),
        (format!("{site}\n\nprocs = -4\n"), "line 7: site 1: procs: '-4' is not a whole number from 1"),
        (format!("{site}predictor = 'rhu'\n"), "line 5: site 1: predictor: unknown predictor 'rhu'"),
        (format!("{site}first = [1]\n"), "line 5: site 1: first: a list is neither a text nor a number"),
        (format!("{site}\n[[site]]\nname = 'B'\n"), "line 6: site 2: 'log' is missing"),
        (format!("\n\npolicy = 'random'\n{site}"), "line 3: policy: unknown policy 'random'"),
        (format!("\nsize = 3\n{site}"), "line 2: unknown key 'size'"),
        (format!("{site}name = 'B'\n"), "line 5: not TOML: duplicate key"),
    ] {
        fs::write(&path, text).unwrap();
        assert_refused(&["meta", file], &format!("{file}: {message}"));
    }
    for (text, message) in [
        ("load = 1\n\nseed 1\n", "line 3: not TOML: "),
        ("\nload = { a = 1 }\n", "line 2: 'load' cannot be a table"),
        ("load = [\n  1,\n  [2],\n]\n", "line 3: 'load' cannot be a list"),
    ] {
        fs::write(&path, text).unwrap();
        let ran = sim(&["sweep", file, "--dry-run"]);
        assert!(ran.code == 2 && ran.err.contains(file) && ran.err.contains(message), "{}", ran.err);
    }
}

/// Runs the program on a file with at most this number of kilobytes of address space.
#[cfg(target_os = "linux")]
fn sim_in(kilobytes: u32, args: &[&str]) -> std::process::Output {
    let script = format!("ulimit -v {kilobytes} && exec \"$0\" \"$@\"");
    command("sh").args(["-c", &script, env!("CARGO_BIN_EXE_sim")]).args(args).output().unwrap()
}

/// Eight million comments: half a gigabyte when each was kept.
#[cfg(target_os = "linux")]
#[test]
fn comments_take_no_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("comments.swf.gz");
    let file = path.to_str().unwrap();
    let write = |end: &str| {
        let mut packer = flate2::write::GzEncoder::new(fs::File::create(&path).unwrap(), flate2::Compression::fast());
        let many = ";\n".repeat(1 << 16);
        packer.write_all(b"; Computer: small\n").unwrap();
        (0..128).for_each(|_| packer.write_all(many.as_bytes()).unwrap());
        packer.write_all(end.as_bytes()).unwrap();
        packer.finish().unwrap();
    };
    let run = |args: &[&str]| {
        let output = sim_in(200_000, args);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    write(&format!("; MaxProcs: 8\n{RECORD}"));
    let (code, out, err) = run(&["trace", "validate", file]);
    assert!(code == Some(0) && out.contains("sound: 1 record, 0 faulty lines"), "{code:?} {out}{err}");
    let (code, out, err) = run(&["trace", "info", file, "--format", "csv"]);
    assert!(code == Some(0) && out.contains("\ncomments,small,,8,1,0,1,"), "{code:?} {out}{err}");
    write("");
    let (code, _, err) = run(&["--trace", file, "--procs", "8"]);
    assert!(code == Some(2) && err.contains("the log has no records"), "{code:?} {err}");
}

#[test]
fn repeated_job_numbers_are_counted() {
    let records = |numbers: &mut dyn Iterator<Item = u32>| {
        let lines = numbers.map(|number| RECORD.replacen('1', &number.to_string(), 1));
        ["; MaxProcs: 8\n".to_string()].into_iter().chain(lines).collect::<String>()
    };
    let validate = |numbers: &mut dyn Iterator<Item = u32>| {
        let ran = sim_fed(&["trace", "validate", "-"], records(numbers).as_bytes());
        assert_eq!(ran.code, 0, "{}", ran.err);
        ran.out
    };
    let found = validate(&mut (1..1000).chain(500..510).chain([3000, 2000, 1, 3000]));
    assert!(
        found.contains("standard input: 12 with a job number that an earlier line has (first on line 1001)"),
        "{found}"
    );
    // Numbers that are not consecutive.
    let found = validate(&mut (0..100_020).map(|at| 2 * at).chain([0]));
    assert!(found.contains("1 with a job number that an earlier line has (first on line 100022)"), "{found}");
}

/// A header that is as large as a header can be is written as it was.
#[test]
fn a_header_survives_a_schedule() {
    let comments: String = (0..200).map(|at| format!(";   remark {at}\n; Note: field {at}\n;\n")).collect();
    let ran =
        sim_fed(&["-q", "--trace", "-", "--swf-out", "-"], format!("; MaxProcs: 8\n{comments}{RECORD}").as_bytes());
    assert!(ran.code == 0 && ran.out.starts_with(&format!("; MaxProcs: 8\n{comments}; Note: waits")), "{}", ran.out);
}

const ESCAPE: char = '\u{1b}';

fn assert_harmless(text: &str) {
    let harmful = |c: char| (c.is_control() && c != '\n') || ('\u{202a}'..='\u{202e}').contains(&c);
    assert!(!text.contains(harmful), "{}", text.escape_debug());
}

/// A log whose name and header hold terminal escapes, a mark of direction, a line end and formulas.
#[cfg(unix)]
fn hostile_log(folder: &Path) -> std::path::PathBuf {
    let path = folder.join("=1+1\u{1b}[31m\nx.swf");
    let header = "; Computer: =HYPERLINK(1) \u{1b}]0;title\u{7}\n; Installation: @abc\u{202e}fws\n; MaxProcs: 8\n";
    fs::write(&path, format!("{header}{RECORD}{}", RECORD.replacen('1', "2", 1))).unwrap();
    path
}

#[cfg(unix)]
#[test]
fn names_and_headers_cannot_control_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let path = hostile_log(folder.path());
    let log = path.to_str().unwrap();
    let info = sim_ok(&["trace", "info", log, "--format", "table"]);
    assert!(info.contains("=HYPERLINK(1) \\u{1b}]0;title\\u{7}\n") && info.contains("@abc\\u{202e}fws\n"), "{info}");
    let site = format!("A={log}");
    for args in [
        &["trace", "info", log, "--format", "table"][..],
        &["trace", "validate", log],
        &["--trace", log, "--format", "table", "--baseline", "easy/estimate"],
        &["--trace", log, "--format", "table", "--replications", "2"],
        &["wait", "ask", "--trace", log, "--job", "procs=1,estimate=1h", "--format", "table"],
        &["wait", "--trace", log, "--begin", "2", "--method", "ibl", "--format", "table"],
        &["meta", "--site", &site, "--policy", "static", "--format", "table"],
    ] {
        assert_harmless(&sim_ok(args));
    }
}

#[cfg(unix)]
#[test]
fn names_and_headers_are_no_formulas_in_csv() {
    let folder = tempfile::tempdir().unwrap();
    let path = hostile_log(folder.path());
    let log = path.to_str().unwrap();
    let info = sim_ok(&["trace", "info", log, "--format", "csv"]);
    let row = "'=1+1\\u{1b}[31m\\nx,'=HYPERLINK(1) \\u{1b}]0;title\\u{7},'@abc\\u{202e}fws,8,2,";
    assert!(info.lines().nth(1).is_some_and(|line| line.starts_with(row)), "{info}");
    let run = sim_ok(&["--trace", log, "--format", "csv"]);
    assert!(run.lines().nth(1).is_some_and(|line| line.starts_with("'=1+1\\u{1b}[31m\\nx,8,sjbf,kin,2,")), "{run}");
    let jobs = sim_ok(&["meta", "--site", &format!("+A={log}"), "--policy", "static", "--jobs-out", "-"]);
    assert!(jobs.lines().nth(1).is_some_and(|line| line.starts_with("static,'+A,'+A,1,")), "{jobs}");
    for text in [&info, &run, &jobs] {
        assert_harmless(text);
    }
    // JSON has its own way to write such characters.
    let json: serde_json::Value = serde_json::from_str(&sim_ok(&["trace", "info", log, "--format", "json"])).unwrap();
    assert_eq!(json["computer"], format!("=HYPERLINK(1) {ESCAPE}]0;title\u{7}"));
}
