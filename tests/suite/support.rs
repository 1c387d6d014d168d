//! Helpers of several tests: the program itself, files, golden texts.

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

// The helpers of tests that compute.
pub use shadowtime_twins::support::*;

/// A folder for the files of a test. It is removed at its end.
pub struct Folder(pub tempfile::TempDir);

impl Folder {
    pub fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The path of a file as an argument.
    pub fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_string()
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Writes a file. Returns its path as an argument.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        std::fs::write(self.path(name), content).unwrap();
        self.text(name)
    }
}

/// The result of a run of the program: exit code, standard output, standard error.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

/// Runs the program.
pub fn sim(args: &[&str]) -> Ran {
    sim_fed(args, b"")
}

/// A command whose tables have the same width in all environments, and whose errors have no colours. Every test that runs this
/// program begins with it.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    for variable in ["COLUMNS", "CLICOLOR_FORCE", "CLICOLOR", "NO_COLOR", "PAGER", "LESS"] {
        command.env_remove(variable);
    }
    command
}

/// Runs the program with this on its standard input.
pub fn sim_fed(args: &[&str], input: &[u8]) -> Ran {
    let mut child = command(env!("CARGO_BIN_EXE_sim"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // In a separate thread, because the program may write before it has read everything, or never read at all.
    let output = std::thread::scope(|scope| {
        scope.spawn(move || stdin.write_all(input));
        child.wait_with_output().unwrap()
    });
    Ran {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Runs the program with `--quiet` and expects success. Returns its standard output.
pub fn sim_ok(args: &[&str]) -> String {
    let ran = sim(&[&["-q"], args].concat());
    assert_eq!(ran.code, 0, "{args:?}: {}", ran.err);
    ran.out
}

/// The uncompressed bytes of the embedded log.
pub fn demo_text() -> Vec<u8> {
    let mut text = Vec::new();
    let packed: &[u8] = include_bytes!("../../traces/demo.swf.gz");
    flate2::read::GzDecoder::new(packed).read_to_end(&mut text).unwrap();
    text
}

/// The embedded log up to this number of jobs.
pub fn first_jobs(count: usize) -> String {
    let text = String::from_utf8(demo_text()).unwrap();
    let header = text.lines().take_while(|line| line.starts_with(';')).count();
    text.split_inclusive('\n').take(header + count).collect()
}

/// Those of the signals `-HUP`, `-INT`, `-QUIT` and `-TERM` that programs started here receive. Under `nohup`, and in the background
/// of a script, some are ignored, and stay so.
pub fn not_ignored<'a>(signals: &[&'a str]) -> Vec<&'a str> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).map(str::trim);
    let mask = mask.and_then(|mask| u64::from_str_radix(mask, 16).ok()).unwrap_or(0);
    let numbers = [("-HUP", 1), ("-INT", 2), ("-QUIT", 3), ("-TERM", 15)];
    let is_ignored =
        |signal: &str| numbers.iter().any(|(name, number)| *name == signal && mask >> (number - 1) & 1 == 1);
    signals.iter().copied().filter(|signal| !is_ignored(signal)).collect()
}

#[test]
fn a_test_that_lacks_something_fails_where_that_is_asked_for() {
    let failure = |strict| strict_failure(strict, "a_test", "there is no groff");
    assert_eq!((failure(None), failure(Some("")), failure(Some("0"))), (None, None, None));
    let expected = "a_test cannot run: there is no groff. Without SHADOWTIME_STRICT it is skipped";
    assert_eq!(failure(Some("1")).as_deref(), Some(expected));
    assert_eq!(failure(Some("yes")).as_deref(), Some("SHADOWTIME_STRICT is 'yes': write 1 or 0"));
    // In a process of its own: this very binary, with one test that needs real logs.
    for (strict, text) in [("1", "SHADOWTIME_LOGS names no folder of real logs. Without"), ("0", "skipped: ")] {
        let test = ["--exact", "search::ctc_against_smith", "--nocapture"];
        let mut own = command(std::env::current_exe().unwrap());
        let ran = own.args(test).env("SHADOWTIME_STRICT", strict).env_remove("SHADOWTIME_LOGS").output().unwrap();
        let err = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success() == (strict == "0") && err.contains(text), "{strict}: {err}");
    }
}

/// The accounts of a cluster of UB: a dump and a table of QOS, as `--associations` takes them.
pub fn dump_of_site(site: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/slurm-accounts");
    format!("{folder}/{site}.dump,{folder}/{site}.qos")
}

/// Compares with a file of expected text in `tests/golden`, or writes it if `SHADOWTIME_BLESS` is set.
pub fn assert_golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("SHADOWTIME_BLESS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    for (line, (expected, got)) in expected.lines().zip(text.lines()).enumerate() {
        assert_eq!(got, expected, "{name}:{} differs; SHADOWTIME_BLESS=1 accepts what is new", line + 1);
    }
    assert_eq!(text.lines().count(), expected.lines().count(), "{name} has another number of lines");
}

/// Whether there is a Python.
pub fn has_python(test: &str) -> bool {
    let found = Command::new("python3").arg("--version").stdout(Stdio::null()).status();
    let found = found.is_ok_and(|status| status.success());
    if !found {
        missing(test, "there is no python3");
    }
    found
}

/// Waits for something that takes a moment, on a busy machine also some minutes. It fails with this text if it never comes.
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let since = std::time::Instant::now();
    while !is_so() {
        assert!(since.elapsed() < std::time::Duration::from_secs(600), "{what}");
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

/// Counts the tests that `cargo test` does not run, in the sources of all tests.
#[test]
fn slow_tests_are_left_to_ci() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let (mut folders, mut count) = (vec![tests.join("suite"), tests.join("twins")], 0);
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") && !path.ends_with("support.rs") {
                count += std::fs::read_to_string(&path).unwrap().matches("if left_to_ci(\"").count();
            }
        }
    }
    if !in_ci() {
        // Not captured by the test runner.
        let _ = writeln!(std::io::stderr(), "{count} slow tests are left to CI: SHADOWTIME_CI=1 runs them");
    }
}
