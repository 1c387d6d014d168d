//! Sweeps that are killed at random moments, run out of disk space, or run several at once: resuming them always gives the
//! same bytes. `SHADOWTIME_TRIALS=SECONDS` runs the trials for that time; by default there are few.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rand::RngExt;
use shadowtime::rng;

use crate::support::{command, demo_text, impossible, sim};

/// 24 cells of some milliseconds each, on two logs.
fn grid(folder: &Path) -> Vec<String> {
    let logs = ["one.swf", "two.swf"].map(|name| folder.join(name));
    let text = String::from_utf8(demo_text()).unwrap();
    let head: Vec<&str> = text.lines().take(800).collect();
    fs::write(&logs[0], head.join("\n")).unwrap();
    fs::write(&logs[1], head.join("\n").replace("MaxProcs: 128", "MaxProcs: 160")).unwrap();
    let traces = logs.map(|log| log.to_str().unwrap().to_string()).join(",");
    let lists = ["--scheduler", "easy,sjbf", "--predictor", "estimate,ruh,sbh", "--load", "1,1.1"];
    [&["--trace", &traces], &lists[..]].concat().iter().map(|word| word.to_string()).collect()
}

/// The results of a sweep that was not disturbed.
fn undisturbed(folder: &Path, grid: &[String]) -> String {
    let out = folder.join("undisturbed");
    assert!(finish(&out, grid), "the sweep fails by itself");
    fs::read_to_string(out.join("results.csv")).unwrap()
}

fn start(out: &Path, grid: &[String], more: &[&str]) -> Child {
    command(env!("CARGO_BIN_EXE_sim"))
        .args(["sweep", "-q", "--out", out.to_str().unwrap()])
        .args(grid)
        .args(more)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Resumes until the end. Returns whether that worked.
fn finish(out: &Path, grid: &[String]) -> bool {
    let ended = start(out, grid, &["--resume"]).wait_with_output().unwrap();
    if !ended.status.success() {
        eprintln!("{}", String::from_utf8_lossy(&ended.stderr));
    }
    ended.status.success()
}

/// The duration of the trials, if it is set.
fn duration() -> Option<Duration> {
    let seconds = std::env::var("SHADOWTIME_TRIALS").ok()?;
    Some(Duration::from_secs(seconds.parse().expect("SHADOWTIME_TRIALS is a number of seconds")))
}

/// Runs this number of trials, or trials for the set duration; then prints their number.
fn trials(what: &str, few: usize, mut trial: impl FnMut(usize)) {
    let since = Instant::now();
    let mut count = 0;
    while duration().map_or(count < few, |duration| since.elapsed() < duration) {
        trial(count);
        count += 1;
    }
    if duration().is_some() {
        eprintln!("{what}: {count} trials");
    }
}

/// The temporary files in a folder, left by processes that were killed.
fn leftovers(out: &Path) -> Vec<PathBuf> {
    let is_temporary = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "tmp");
    fs::read_dir(out).unwrap().map(|entry| entry.unwrap().path()).filter(is_temporary).collect()
}

#[test]
fn killed_at_random_moments() {
    let folder = tempfile::tempdir().unwrap();
    let grid = grid(folder.path());
    let expected = undisturbed(folder.path(), &grid);
    let mut random = rng::stream(17, "kills");
    trials("killed at random moments", 12, |trial| {
        let out = folder.path().join(format!("killed-{trial}"));
        for kill in 0..3 {
            // Every second time within the first 20 ms, in which the folder is created.
            let most = if kill == 0 && trial % 2 == 0 { 20_000 } else { 150_000 };
            let mut child = start(&out, &grid, &["--resume"]);
            std::thread::sleep(Duration::from_micros(random.random_range(0..most)));
            child.kill().unwrap();
            child.wait().unwrap();
            let whole = fs::read_to_string(out.join("results.csv"));
            assert!(whole.is_err() || whole.is_ok_and(|text| text == expected), "results that are not whole");
        }
        assert!(finish(&out, &grid), "trial {trial} cannot be resumed");
        assert_eq!(fs::read_to_string(out.join("results.csv")).unwrap(), expected, "trial {trial}");
        fs::remove_dir_all(&out).unwrap();
    });
}

/// As a user would: started without `--resume`, killed in the first 20 ms, started again or resumed.
#[test]
fn killed_at_once_it_can_begin_again_or_resume() {
    let folder = tempfile::tempdir().unwrap();
    let grid = grid(folder.path());
    let mut random = rng::stream(17, "kills at once");
    trials("killed at once", 20, |trial| {
        let out = folder.path().join(format!("at-once-{trial}"));
        let mut child = start(&out, &grid, &[]);
        std::thread::sleep(Duration::from_micros(random.random_range(0..20_000)));
        child.kill().unwrap();
        child.wait().unwrap();
        if trial % 2 == 0 && !out.join("grid.toml").exists() {
            // The first process had not created anything, so the same command works.
            let ended = start(&out, &grid, &[]).wait_with_output().unwrap();
            assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
        }
        assert!(finish(&out, &grid), "trial {trial} cannot be resumed");
        assert!(leftovers(&out).len() <= 1, "{:?}", leftovers(&out));
        fs::remove_dir_all(&out).unwrap();
    });
}

#[test]
fn shards_started_at_once_and_killed() {
    let folder = tempfile::tempdir().unwrap();
    let grid = grid(folder.path());
    let expected = undisturbed(folder.path(), &grid);
    let mut random = rng::stream(17, "shards");
    trials("shards at once", 4, |trial| {
        const SHARDS: usize = 6;
        let out = folder.path().join(format!("shards-{trial}"));
        let shard = |index: usize| format!("{index}/{SHARDS}");
        let mut children: Vec<_> =
            (1..=SHARDS).map(|index| start(&out, &grid, &["--shard", &shard(index), "--threads", "1"])).collect();
        // One of them is killed; this must not affect the others.
        let killed = random.random_range(0..SHARDS);
        std::thread::sleep(Duration::from_micros(random.random_range(0..40_000)));
        children[killed].kill().unwrap();
        for (at, child) in children.into_iter().enumerate() {
            let ended = child.wait_with_output().unwrap();
            let message = String::from_utf8_lossy(&ended.stderr);
            assert!(at == killed || ended.status.success(), "shard {}: {message}", at + 1);
        }
        let again = start(&out, &[], &["--shard", &shard(killed + 1)]).wait_with_output().unwrap();
        let message = String::from_utf8_lossy(&again.stderr);
        // It may be killed before it has created anything, but the others have: the folder has its grid.
        assert!(again.status.success(), "{message}");
        let merged = sim(&["sweep", "merge", out.to_str().unwrap()]);
        assert_eq!(merged.code, 0, "{}", merged.err);
        assert_eq!(fs::read_to_string(out.join("results.csv")).unwrap(), expected);
        fs::remove_dir_all(&out).unwrap();
    });
}

/// On a file system that becomes full: an error that names the file, no incomplete file, and the same bytes once there is
/// more space.
#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_is_full() {
    let folder = tempfile::tempdir().unwrap();
    let (grid, small) = (grid(folder.path()), folder.path().join("small"));
    fs::create_dir(&small).unwrap();
    let expected = undisturbed(folder.path(), &grid);
    // A separate file system in a separate name space, so that it ends with the process; its files are copied.
    let script = "mount -t tmpfs -o size=$1 none \"$2\" || exit 99; small=$2; keep=$3; shift 3; \
        \"$@\"; code=$?; cp -r \"$small/.\" \"$keep\"; exit $code";
    let in_space = |size: &str, keep: &Path, args: &[String]| {
        let mut unshare = command("unshare");
        unshare.args(["--map-root-user", "--mount", "sh", "-c", script, "sh", size]).arg(&small).arg(keep);
        unshare.args(args).output()
    };
    match in_space("1m", folder.path(), &["true".to_string()]) {
        Ok(ran) if ran.status.success() => {}
        _ => {
            return impossible("a_disk_that_is_full", "no file system can be mounted here");
        }
    }
    let (mut full, mut done) = (0, 0);
    for kilobytes in [4, 8, 12, 16, 20, 24, 32, 64] {
        let keep = folder.path().join(format!("kept-{kilobytes}"));
        fs::create_dir(&keep).unwrap();
        let sim = env!("CARGO_BIN_EXE_sim").to_string();
        let out = small.join("out").to_str().unwrap().to_string();
        let args = [&[sim, "sweep".into(), "-q".into(), "--out".into(), out, "--resume".into()], &grid[..]].concat();
        let size = format!("{kilobytes}k");
        let ran = in_space(&size, &keep, &args).unwrap();
        let error = String::from_utf8_lossy(&ran.stderr);
        let kept = keep.join("out");
        match ran.status.code() {
            Some(0) => {
                done += 1;
                assert_eq!(fs::read_to_string(kept.join("results.csv")).unwrap(), expected);
            }
            Some(1) => {
                full += 1;
                assert!(
                    error.contains("No space left on device") && error.contains(small.to_str().unwrap()),
                    "{error}"
                );
                assert!(!kept.join("results.csv").exists(), "a result that is not whole");
                assert!(!kept.exists() || leftovers(&kept).is_empty(), "{:?}", leftovers(&kept));
            }
            code => panic!("{code:?}: {error}"),
        }
        // With more space the sweep can be resumed.
        let out = keep.join("out");
        assert!(finish(&out, &grid), "{size} cannot be resumed");
        assert_eq!(fs::read_to_string(out.join("results.csv")).unwrap(), expected);
    }
    assert!(full > 0 && done > 0, "{full} times full, {done} times done: the sizes test nothing");
}
