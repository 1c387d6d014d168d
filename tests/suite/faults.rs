//! Faults of the environment: outputs, signals, limits. Results are complete, or the exit code is not 0.

#![cfg(unix)]

use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Child, Output, Stdio};

use crate::support::{Ran, command, demo_text, impossible, not_ignored, sim, sim_ok, wait_until};

const SIM: &str = env!("CARGO_BIN_EXE_sim");

/// Runs a script of the shell in a folder; `$SIM` is the program.
fn shell(folder: &Path, script: &str) -> Ran {
    let output = command("sh").args(["-c", script]).env("SIM", SIM).current_dir(folder).output().unwrap();
    ran(output)
}

fn ran(output: Output) -> Ran {
    Ran {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// The names in a folder, in order.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn send(signal: &str, child: &Child) {
    assert!(command("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
}

/// Standard errors that cannot be written: a full disk and a pipe whose reader is gone.
fn broken_stderrs() -> Vec<Stdio> {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let full = fs::OpenOptions::new().write(true).open("/dev/full").ok();
    [Some(writer.into()), full.map(Stdio::from)].into_iter().flatten().collect()
}

#[test]
fn results_and_exit_codes_do_not_depend_on_standard_error() {
    let folder = tempfile::tempdir().unwrap();
    let bad = folder.path().join("bad.swf");
    fs::write(&bad, "; MaxProcs: 4\n1 5 0 5 1 1 1 1 9 1 1 1 1 1 1 1 1 1\n2 x\n3 2 0 5 9 1 1 9 9 1 1 1 1 1 1 1 1 1\n")
        .unwrap();
    let bad = bad.to_str().unwrap();
    for (args, code) in [
        (&["--first", "300"][..], 0),
        (&["--trace", bad, "--skip-bad-lines"], 0),
        (&["trace", "validate", bad], 2),
        (&["--trace", "/no/such/log"], 2),
        (&["--jobs-out", "/no/such/folder/x"], 1),
        (&["--predictor", "rhu"], 2),
        (&["--no-such-option"], 2),
        (&["trace", "convert", "--estimates", "f", "--trace", bad, "--skip-bad-lines", "--out", "-"], 0),
        (&["generate", "lublin", "--jobs", "10"], 0),
        (&["malleable", "--days", "1"], 0),
        (&["wait", "--method", "qbets", "--first", "500"], 0),
        (&["sweep", "--predictor", "estimate,ruh", "--dry-run"], 0),
    ] {
        let expected = sim(args);
        assert_eq!(expected.code, code, "{args:?}: {}", expected.err);
        for stderr in broken_stderrs() {
            let got = ran(command(SIM).args(args).stdin(Stdio::null()).stderr(stderr).output().unwrap());
            assert_eq!((got.code, got.out), (expected.code, expected.out.clone()), "{args:?}");
        }
    }
}

#[test]
fn a_sweep_ends_with_its_results_whatever_standard_error_is() {
    for stderr in broken_stderrs() {
        let folder = tempfile::tempdir().unwrap();
        let args = ["sweep", "--predictor", "estimate,ruh", "--first", "300", "--out", "study"];
        let output = command(SIM).args(args).current_dir(folder.path()).stderr(stderr).output().unwrap();
        let results = fs::read_to_string(folder.path().join("study/results.csv")).unwrap_or_default();
        assert_eq!((output.status.code(), results.lines().count()), (Some(0), 3));
    }
}

/// With rows on standard output the summary is a result on standard error: there a failure is one.
#[test]
fn a_summary_that_cannot_be_written_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    if Path::new("/dev/full").exists() {
        let ran = shell(folder.path(), r#""$SIM" -q --first 50 --jobs-out - 2>/dev/full"#);
        assert_eq!((ran.code, ran.out.lines().count()), (1, 51));
    }
}

#[test]
fn names_and_texts_of_files_cannot_steer_a_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let name = "a\u{1b}[2J\u{202e}b.swf";
    fs::write(folder.path().join(name), "; MaxProcs: 4\n1 5 0 5 1 1 1 1 9 1 1 1 1 1 1 1 1 1\n2 x\n").unwrap();
    fs::write(folder.path().join("t"), "(u,\u{1b}[2J)\n").unwrap();
    for (args, code) in [
        (&["--trace", name, "--skip-bad-lines"][..], 0),
        (&["--trace", name], 2),
        (&["--trace", "none\u{1b}[2J\u{202e}"], 2),
        (&["--predictor", "smith:templates=@t"], 2),
    ] {
        let ran = ran(command(SIM).args(args).current_dir(folder.path()).output().unwrap());
        assert_eq!(ran.code, code, "{}", ran.err);
        assert!(!ran.err.contains(['\u{1b}', '\u{202e}']) && ran.err.contains(r"\u{1b}[2J"), "{:?}", ran.err);
    }
}

/// The program with its output opened, waiting for a log on standard input.
fn waiting_for_a_log(folder: &Path, before: &str) -> Child {
    fs::write(folder.join("jobs.csv"), "old").unwrap();
    let script = format!(r#"{before} exec "$SIM" -q --trace - --jobs-out jobs.csv"#);
    let mut shell = command("sh");
    shell.args(["-c", &script]).env("SIM", SIM).current_dir(folder);
    let child = shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("no temporary file appeared", || names(folder).len() == 2);
    child
}

#[test]
fn every_request_to_end_leaves_no_half_written_file() {
    for signal in not_ignored(&["-TERM", "-HUP", "-INT"]) {
        let folder = tempfile::tempdir().unwrap();
        let mut child = waiting_for_a_log(folder.path(), "");
        let stdin = child.stdin.take();
        send(signal, &child);
        let ran = ran(child.wait_with_output().unwrap());
        drop(stdin);
        assert_eq!(ran.code, 130, "{signal}");
        assert!(ran.err.starts_with("interrupted: unfinished files were removed"), "{}", ran.err);
        assert_eq!(names(folder.path()), ["jobs.csv"]);
        assert_eq!(fs::read_to_string(folder.path().join("jobs.csv")).unwrap(), "old");
    }
}

/// `nohup sim ...`, and background jobs of scripts.
#[cfg(target_os = "linux")]
#[test]
fn a_signal_that_was_ignored_stays_ignored() {
    for (name, signal) in [("HUP", "-HUP"), ("INT", "-INT")] {
        let folder = tempfile::tempdir().unwrap();
        let mut child = waiting_for_a_log(folder.path(), &format!("trap '' {name};"));
        send(signal, &child);
        child.stdin.take().unwrap().write_all(&demo_text()).unwrap();
        let ran = ran(child.wait_with_output().unwrap());
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{name}");
        assert_eq!(fs::read_to_string(folder.path().join("jobs.csv")).unwrap().lines().count(), 5001);
    }
}

#[test]
fn an_interrupted_sweep_says_how_to_go_on() {
    let folder = tempfile::tempdir().unwrap();
    // More cells than are computed in any time that this test may take.
    let child = command(SIM)
        .args(["-q", "sweep", "--load", "0.5..1.5:0.0001", "--threads", "1", "--out", "study"])
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let part = folder.path().join("study/parts/0001.part");
    wait_until("no cell was finished", || fs::metadata(&part).is_ok_and(|part| part.len() > 0));
    send("-TERM", &child);
    let ran = ran(child.wait_with_output().unwrap());
    assert_eq!(ran.code, 130, "{}", ran.err);
    assert_eq!(ran.err, "interrupted: finished cells are kept in study; the same command with --resume continues\n");
}

#[test]
fn a_limit_on_the_size_of_files_is_an_error_that_names_the_file() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("jobs.csv"), "old").unwrap();
    let ran = shell(folder.path(), r#"ulimit -f 8; exec "$SIM" -q --jobs-out jobs.csv"#);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{}", ran.err);
    assert!(ran.err.starts_with("error: cannot write jobs.csv: File too large"), "{}", ran.err);
    assert!(ran.err.contains("the old content of the file is unchanged"), "{}", ran.err);
    assert_eq!(names(folder.path()), ["jobs.csv"]);
    assert_eq!(fs::read_to_string(folder.path().join("jobs.csv")).unwrap(), "old");
    let ran = shell(folder.path(), r#"ulimit -f 8; exec "$SIM" -q --jobs-out - > other.csv"#);
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(ran.err.starts_with("error: cannot write standard output: File too large"), "{}", ran.err);
}

/// On a separate file system, which ends with the process that created it.
#[test]
fn a_full_file_system_leaves_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    let mount = "mount -t tmpfs -o size=64k none .";
    let run = |script: &str| {
        let inside = format!("{mount} && cd \"$PWD\" && {script}");
        let args = ["--mount", "--map-root-user", "sh", "-c", &inside];
        command("unshare").args(args).env("SIM", SIM).current_dir(folder.path()).output().map(ran)
    };
    if !run("true").is_ok_and(|tried| tried.code == 0) {
        return impossible("a_full_file_system_leaves_the_old_file", "no file system can be mounted here");
    }
    let script = r#"printf old > jobs.csv; "$SIM" -q --jobs-out jobs.csv; echo $?; cat jobs.csv; echo; ls -A"#;
    let ran = run(script).unwrap();
    assert_eq!(ran.out, "1\nold\njobs.csv\n", "{}", ran.err);
    let message = "error: cannot write jobs.csv: No space left on device";
    assert!(
        ran.err.starts_with(message) && ran.err.contains("the old content of the file is unchanged"),
        "{}",
        ran.err
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_closed_standard_output_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    for (script, code) in [
        (r#""$SIM" -q >&-"#, 1),
        (r#""$SIM" -q --jobs-out - >&-"#, 1),
        (r#""$SIM" list predictors >&-"#, 1),
        (r#""$SIM" --help >&-"#, 1),
        (r#""$SIM" --version >&-"#, 1),
        (r#""$SIM" --help > /dev/full"#, 1),
        (r#""$SIM" -q > /dev/null"#, 0),
        (r#""$SIM" -q <> /dev/null >&0"#, 0),
        (r#""$SIM" --version > /dev/null"#, 0),
        (r#""$SIM" -q generate sessions --jobs 10 --out log.swf >&-"#, 0),
        (r#""$SIM" -q <&- | grep -q demo"#, 0),
        (r#""$SIM" -q 2>&- | grep -q demo"#, 0),
    ] {
        let ran = shell(folder.path(), script);
        let expected = if code == 0 { "" } else { "error: cannot write standard output: " };
        assert_eq!(ran.code, code, "{script}: {}", ran.err);
        assert!(ran.err.starts_with(expected) && ran.err.is_empty() == expected.is_empty(), "{script}: {}", ran.err);
    }
}

/// More threads than the limit has room for: their stacks alone take 200 MB.
#[cfg(target_os = "linux")]
#[test]
fn with_little_memory_it_runs_on_fewer_threads() {
    let folder = tempfile::tempdir().unwrap();
    let expected = sim_ok(&["--replications", "100", "--first", "100"]);
    for kilobytes in [60_000, 150_000, 300_000] {
        let script = format!(
            r#"ulimit -v {kilobytes}; "$SIM" -q --replications 100 --first 100 --threads 100 || exit
            "$SIM" -q sweep --predictor estimate,ruh --load 0.7..1.3:0.01 --first 100 --threads 100 --out {kilobytes}"#
        );
        let ran = shell(folder.path(), &script);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{kilobytes}");
        assert!(ran.out.starts_with(&expected) && ran.out.lines().count() == 2 + 1 + 2 * 61, "{}", ran.out);
    }
}

/// Runs as a user with a limit on processes and threads. Root has no such limit, so it becomes another user.
#[cfg(target_os = "linux")]
#[test]
fn where_no_thread_can_be_started_it_runs_on_one() {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let copy = folder.path().join("sim");
    fs::copy(SIM, &copy).unwrap();
    let run = |args: &[&str]| {
        let is_root = command("id").arg("-u").output().is_ok_and(|id| id.stdout == b"0\n");
        let other = ["setpriv", "--reuid=54321", "--regid=54321", "--clear-groups"];
        let limited = [if is_root { &other[..] } else { &[] }, &["prlimit", "--nproc=1"]].concat();
        let mut run = command(limited[0]);
        run.args(&limited[1..]).arg(&copy).args(args).current_dir(folder.path()).output().map(ran)
    };
    if !run(&["--version"]).is_ok_and(|tried| tried.code == 0) {
        return impossible("where_no_thread_can_be_started_it_runs_on_one", "setpriv or prlimit does not work here");
    }
    for args in [&["-q", "--first", "500"][..], &["-q", "--first", "500", "--replications", "9", "--threads", "9"]] {
        let ran = run(args).unwrap();
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{args:?}");
        assert_eq!(ran.out, sim(args).out);
    }
}

/// The temporary files of processes that were killed. In a container every process may have the same id.
#[test]
fn a_leftover_temporary_file_blocks_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let ran = shell(folder.path(), r#"touch .jobs.csv.$$.tmp; exec "$SIM" -q --first 50 --jobs-out jobs.csv"#);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert_eq!(fs::read_to_string(folder.path().join("jobs.csv")).unwrap().lines().count(), 51);
}

#[test]
fn a_name_may_be_as_long_as_the_system_allows() {
    let folder = tempfile::tempdir().unwrap();
    let name = format!("{}.csv", "j".repeat(251));
    let ran = shell(folder.path(), &format!(r#""$SIM" -q --first 50 --jobs-out {name}"#));
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert_eq!(names(folder.path()), [name]);
}

#[test]
fn a_link_to_a_file_that_does_not_exist_yet_stays_a_link() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("data")).unwrap();
    symlink("data/second", folder.path().join("first")).unwrap();
    symlink("jobs.csv", folder.path().join("data/second")).unwrap();
    let ran = shell(folder.path(), r#""$SIM" -q --first 50 --jobs-out first"#);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert!(fs::symlink_metadata(folder.path().join("first")).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(folder.path().join("data/jobs.csv")).unwrap().lines().count(), 51);
    assert_eq!(names(&folder.path().join("data")), ["jobs.csv", "second"]);
}

#[test]
fn an_output_never_replaces_an_input_or_another_output() {
    let folder = tempfile::tempdir().unwrap();
    let log = sim_ok(&["generate", "sessions", "--jobs", "50"]);
    let path = |name: &str| folder.path().join(name);
    fs::write(path("log.swf"), &log).unwrap();
    fs::write(path("KTH-SP2-1996-2.swf"), &log).unwrap();
    fs::write(path("sites.toml"), "[[site]]\nname = \"A\"\nlog = \"log.swf\"\n").unwrap();
    fs::write(path("templates"), "(u)\n").unwrap();
    fs::write(path("slurm.conf"), "SchedulerType=sched/backfill\n").unwrap();
    fs::write(path("shares"), "1 5\n2 1\n").unwrap();
    fs::write(path("queue"), "JOBID STATE\n").unwrap();
    fs::write(path("mine.py"), "").unwrap();
    fs::write(path("model"), "").unwrap();
    fs::write(path("grid.toml"), "first = [20, 30]\ntrace = [\"log.swf\"]\n").unwrap();
    assert_eq!(shell(folder.path(), r#""$SIM" -q sweep grid.toml --out study > /dev/null"#).code, 0);
    fs::hard_link(path("log.swf"), path("hard.swf")).unwrap();
    symlink("log.swf", path("link.swf")).unwrap();
    symlink("new.csv", path("dangling")).unwrap();
    let before = names(folder.path());
    let content = |name: &String| fs::read(path(name)).unwrap_or_default();
    let contents: Vec<_> = before.iter().map(content).collect();
    for arguments in [
        "--trace log.swf --jobs-out log.swf",
        "--trace log.swf --swf-out ./log.swf",
        "--trace log.swf --predictions-out link.swf",
        "--trace link.swf --jobs-out hard.swf",
        "--trace - --jobs-out log.swf < log.swf",
        "--trace log.swf >> log.swf",
        "--trace log.swf --predictor smith:templates=@templates,at=start --jobs-out templates",
        "trace convert log.swf --estimates f --out log.swf",
        "search --trace log.swf --out hard.swf",
        "search --trace log.swf --out new --history-out log.swf",
        "wait --trace log.swf --confusion-out log.swf",
        "meta --site A=log.swf --site B=hard.swf:procs=9 --jobs-out link.swf",
        "meta sites.toml --sites-out sites.toml",
        "reproduce talby --logs . --replications 1 --cells-out KTH-SP2-1996-2.swf",
        "trace info log.swf >> log.swf",
        "--trace log.swf --slurm-conf slurm.conf --jobs-out slurm.conf",
        "--trace log.swf --slurm-conf slurm.conf >> slurm.conf",
        "fidelity log.swf --slurm-conf slurm.conf --jobs-out slurm.conf",
        "report log.swf --slurm-conf slurm.conf --out slurm.conf",
        "wait log.swf --slurm-conf slurm.conf --jobs-out ./slurm.conf",
        "--trace log.swf --scheduler slurm:order=multifactor,shares_file=shares --by-out shares",
        "--trace log.swf --scheduler easy --predictor 'exec:command=python3 mine.py' --jobs-out mine.py",
        "--trace log.swf --baseline 'easy/exec:command=python3 mine.py --model=model' --series-out model",
        "fidelity log.swf --predictor 'exec:command=python3 mine.py' --windows-out mine.py",
        "report log.swf --predictor 'exec:command=python3 mine.py' --out mine.py",
        "wait log.swf --method knn --predictor 'exec:command=python3 mine.py' --calibration-out mine.py",
        "wait log.swf --method knn --predictor smith:templates=@templates --jobs-out templates",
        "search log.swf --rivals smith:templates=@templates --out templates",
        "search log.swf --rivals 'exec:command=python3 mine.py' --history-out mine.py",
        "meta --site A=log.swf:predictor=smith:templates=@templates --jobs-out templates",
        "fidelity log.swf --predictor smith:templates=@templates --by-out templates",
        "sweep report study --out study/parts/0001.part",
        "sweep report study --out study/grid.toml",
        "sweep status study >> study/grid.toml",
        "predict --predictor 'exec:command=cat model' --state model",
        "predict < queue >> queue",
        "trace validate log.swf >> log.swf",
    ] {
        let ran = shell(folder.path(), &format!(r#""$SIM" -q {arguments}"#));
        assert_eq!(ran.code, 2, "{arguments}: {}", ran.err);
        assert!(ran.err.contains(" would overwrite "), "{arguments}: {}", ran.err);
    }
    for arguments in [
        "--jobs-out new.csv --swf-out ./new.csv",
        "--jobs-out new.csv --swf-out dangling",
        "--jobs-out - --swf-out /dev/stdout",
        "--jobs-out /dev/stdout --predictions-out /dev/fd/1",
        "--jobs-out - --predictions-out /proc/self/fd/1",
        "--jobs-out x > x",
        "--jobs-out x 2> x",
        "wait --jobs-out new.csv --calibration-out ./new.csv",
        "search --out new.csv --history-out ./new.csv",
        "malleable --jobs-out new.csv --scatter-out ./new.csv",
        "meta --site A=log.swf --jobs-out new.csv --sites-out ./new.csv",
        "generate sessions --out x 2> x",
        "generate sessions --out x --format csv > x",
        "trace convert log.swf --estimates f --out x --format json > x",
        "report log.swf --out x --format csv > x",
        "sweep report study --out x --format csv > x",
    ] {
        let ran = shell(folder.path(), &format!(r#""$SIM" -q {arguments}"#));
        assert_eq!(ran.code, 2, "{arguments}: {}", ran.err);
        let said = fs::read_to_string(path("x")).unwrap_or_default() + &ran.err;
        assert!(said.contains(" go to the same place: "), "{arguments}: {said}");
        let _ = fs::remove_file(path("x"));
    }
    assert_eq!(names(folder.path()), before);
    assert!(before.iter().map(content).eq(contents), "a file was changed");
    for arguments in [
        "--jobs-out /dev/null --swf-out /dev/null > /dev/null 2> /dev/null",
        "--jobs-out - > a 2>&1",
        "--trace log.swf --jobs-out b --swf-out c > d 2> e",
        "--trace - --jobs-out b < log.swf",
        "--jobs-out b --trace log.swf | cat",
    ] {
        let ran = shell(folder.path(), &format!(r#""$SIM" -q {arguments}"#));
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{arguments}");
    }
}

#[test]
fn errors_of_options_end_with_a_newline() {
    for args in [["--predictor", "rhu"], ["--scheduler", "esay"], ["--load", "x"], ["--estimates", "z"]] {
        let ran = sim(&args);
        let start = format!("error: invalid value '{}' for '{} <", args[1], args[0]);
        assert!(ran.code == 2 && ran.err.starts_with(&start) && ran.err.ends_with("'--help'.\n"), "{}", ran.err);
    }
}

/// A reader that has enough (`| head`) is no error, and hides none.
#[test]
fn a_closed_pipe_does_not_change_the_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let log = "; MaxProcs: 4\n1 5 0 5 1 1 1 1 9 1 1 1 1 1 1 1 1 1\n";
    fs::write(folder.path().join("good.swf"), log).unwrap();
    fs::write(folder.path().join("bad.swf"), format!("{log}2 x\n")).unwrap();
    for (arguments, code) in [
        ("trace validate good.swf", 0),
        ("trace validate bad.swf", 2),
        ("sweep good.swf bad.swf --out study", 1),
        ("sweep good.swf --out another", 0),
        ("--trace good.swf --jobs-out -", 0),
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let words = arguments.split(' ');
        let ran = command(SIM).arg("-q").args(words).current_dir(folder.path()).stdout(writer).output().unwrap();
        assert_eq!(ran.status.code(), Some(code), "{arguments}: {}", String::from_utf8_lossy(&ran.stderr));
    }
}
