//! What may go wrong around the program: where it writes to, signals, limits. Results are whole or the exit code says so.

#![cfg(unix)]

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use crate::support::{Ran, sim, sim_ok};

const SIM: &str = env!("CARGO_BIN_EXE_sim");

/// Runs a script of the shell in a folder; `$SIM` is the program.
fn shell(folder: &Path, script: &str) -> Ran {
    let output = Command::new("sh").args(["-c", script]).env("SIM", SIM).current_dir(folder).output().unwrap();
    ran(output)
}

fn ran(output: Output) -> Ran {
    Ran {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

fn skipped(test: &str, why: &str) {
    let _ = writeln!(std::io::stderr(), "skipped: {test} ({why})");
}

/// More threads than the limit has room for: their stacks alone take 200 MB.
#[cfg(target_os = "linux")]
#[test]
fn with_little_memory_it_runs_on_fewer_threads() {
    let folder = tempfile::tempdir().unwrap();
    let expected = sim_ok(&["--replications", "100", "--first", "500"]);
    for kilobytes in [60_000, 150_000, 300_000] {
        let script = format!(
            r#"ulimit -v {kilobytes}; "$SIM" -q --replications 100 --first 500 --threads 100 || exit
            "$SIM" -q sweep --predictor estimate,ruh --load 0.7..1.3:0.01 --first 500 --threads 100 --out {kilobytes}"#
        );
        let ran = shell(folder.path(), &script);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{kilobytes}");
        assert!(ran.out.starts_with(&expected) && ran.out.lines().count() == 2 + 1 + 2 * 61, "{}", ran.out);
    }
}

/// As a user who may not have another process or thread. Root has no such limit, and becomes somebody else for it.
#[cfg(target_os = "linux")]
#[test]
fn where_no_thread_can_be_started_it_runs_on_one() {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let copy = folder.path().join("sim");
    fs::copy(SIM, &copy).unwrap();
    let run = |args: &[&str]| {
        let is_root = Command::new("id").arg("-u").output().is_ok_and(|id| id.stdout == b"0\n");
        let other = ["setpriv", "--reuid=54321", "--regid=54321", "--clear-groups"];
        let command = [if is_root { &other[..] } else { &[] }, &["prlimit", "--nproc=1"]].concat();
        let mut run = Command::new(command[0]);
        run.args(&command[1..]).arg(&copy).args(args).current_dir(folder.path()).output().map(ran)
    };
    if !run(&["--version"]).is_ok_and(|tried| tried.code == 0) {
        return skipped("where_no_thread_can_be_started_it_runs_on_one", "setpriv or prlimit does not work here");
    }
    for args in [&["-q", "--first", "500"][..], &["-q", "--first", "500", "--replications", "9", "--threads", "9"]] {
        let ran = run(args).unwrap();
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{args:?}");
        assert_eq!(ran.out, sim(args).out);
    }
}
