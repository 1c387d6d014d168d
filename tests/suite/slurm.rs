//! Sweeps over a real Slurm, which runs on this machine for the length of a test.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use crate::slurm_cluster::{Cluster, NodeKind, Shape, tails};
use crate::support::{Ran, command, sim_ok};

const SIM: &str = env!("CARGO_BIN_EXE_sim");
const SHAPE: Shape = Shape {
    nodes: &[NodeKind { prefix: "n", count: 4, line: "CPUs=2 RealMemory=1000" }],
    scheduling: "batch_sched_delay=0,sched_min_interval=0,bf_interval=1,sched_interval=5",
    lines: "SelectTypeParameters=CR_CPU\nPartitionName=main Nodes=n[1-4] Default=YES MaxTime=60 State=UP\n",
    gres: "",
    accounts: "",
};

/// A sweep of 200 cells in 8 shards over a Slurm.
struct Sweep<'a> {
    cluster: &'a Cluster,
    log: &'a str,
    out: PathBuf,
}

/// What `sim sweep status` counts.
#[derive(Debug, PartialEq)]
struct Counts {
    cells: u32,
    done: u32,
    failed: u32,
    missing: u32,
}

/// 2 schedulers x 10 predictors x 10 loads.
fn grid(log: &str) -> [&str; 8] {
    let predictors = "estimate,perfect,constant,easy++,ruh:window={1|2|3|4|5|6}";
    ["--trace", log, "--scheduler", "easy,sjbf", "--predictor", predictors, "--load", "0.6..1.5:0.1"]
}

impl Sweep<'_> {
    /// Runs the program on this Slurm.
    fn sim(&self, args: &[&str]) -> Ran {
        let output = self.cluster.command(SIM).args(args).output().unwrap();
        Ran {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    fn out(&self) -> &str {
        self.out.to_str().unwrap()
    }

    fn results(&self) -> PathBuf {
        self.out.join("results.csv")
    }

    /// What the jobs said, for a test that fails.
    fn logs(&self) -> String {
        tails(&self.out.join("slurm"))
    }

    /// Hands the sweep to Slurm: what the program printed.
    fn submit(&self) -> Ran {
        let ran =
            self.sim(&[&["sweep"], &grid(self.log)[..], &["--out", self.out(), "--shards", "8", "--slurm"]].concat());
        assert_eq!(ran.code, 0, "{ran:?}");
        ran
    }

    fn status(&self) -> Counts {
        let ran = self.sim(&["sweep", "status", self.out()]);
        let line = ran.out.lines().find(|line| line.contains(" cells: ")).unwrap_or_else(|| panic!("{ran:?}"));
        let numbers = line.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok());
        let [cells, done, failed, missing] = numbers.collect::<Vec<u32>>()[..] else { panic!("{line}") };
        assert_eq!(line, format!("{cells} cells: {done} done, {failed} failed, {missing} missing"));
        Counts { cells, done, failed, missing }
    }

    /// Submits it, kills one of the tasks at work and waits for the others: the number of that task, None if it had
    /// done all its cells.
    fn lose_a_task(&self) -> Option<String> {
        let (array, tasks) = array_job(&self.submit()).expect("nothing is done yet");
        assert_eq!(tasks, "1-8");
        let limit = Duration::from_secs(120);
        // About one each, so that most likely the lost task has done some cells and not others.
        self.cluster.wait(limit, "some cells", |cluster| self.status().done >= 8 || cluster.is_idle());
        let running = self.cluster.output("squeue", &["-h", "-r", "-t", "RUNNING", "-o", "%i"]);
        // The one that began last has most left to do; the merging job has no underscore.
        let task = running.lines().filter_map(|task| task.strip_prefix(&format!("{array}_"))).max();
        let killed = task.filter(|task| self.cluster.kill_task(&format!("{array}_{task}")));
        self.cluster.wait_until_idle(300);
        killed.filter(|_| self.status().missing > 0).map(str::to_string)
    }
}

/// Number and tasks of the array job that the program says it has submitted.
fn array_job(ran: &Ran) -> Option<(String, String)> {
    let job = ran.out.lines().find_map(|line| line.strip_prefix("array job "))?;
    let (number, tasks) = job.split_once(", tasks ").unwrap_or_else(|| panic!("{ran:?}"));
    assert!(ran.out.lines().any(|line| line.starts_with("merge job ")), "{ran:?}");
    Some((number.into(), tasks.into()))
}

#[test]
fn two_hundred_cells_over_eight_tasks_equal_one_machine() {
    // Before the cluster, so that it goes after it: a test that fails leaves jobs at work in it.
    let folder = tempfile::tempdir().unwrap();
    let Some(cluster) = Cluster::start("two_hundred_cells_over_eight_tasks_equal_one_machine", SHAPE) else { return };
    let log = folder.path().join("log.swf");
    let log = log.to_str().unwrap();
    sim_ok(&["generate", "sessions", "--jobs", "30000", "--procs", "256", "--seed", "3", "--out", log]);
    let alone = folder.path().join("alone");
    sim_ok(&[&["sweep"], &grid(log)[..], &["--out", alone.to_str().unwrap()]].concat());
    let expected = fs::read_to_string(alone.join("results.csv")).unwrap();

    let sweeps = (1..=3).map(|attempt| folder.path().join(format!("slurm{attempt}")));
    let mut sweeps = sweeps.map(|out| Sweep { cluster: &cluster, log, out });
    let (sweep, lost) = sweeps
        .find_map(|sweep| sweep.lose_a_task().map(|task| (sweep, task)))
        .expect("three times the killed task had already done its cells");

    // The others went on to their ends, and the job that merges did not take this for a whole.
    let Counts { cells, done, failed, missing } = sweep.status();
    assert_eq!((cells, failed), (200, 0), "{}", sweep.logs());
    assert!((1..=25).contains(&missing) && done == 200 - missing, "{missing} missing\n{}", sweep.logs());
    assert!(!sweep.results().exists(), "{}", sweep.logs());
    let merge = sweep.sim(&["sweep", "merge", sweep.out()]);
    assert_eq!(merge.code, 1, "{merge:?}");
    assert!(merge.err.contains(&format!("{missing} of 200 cells are missing")), "{}", merge.err);
    assert!(!sweep.results().exists());

    let again = sweep.submit();
    let (_, tasks) = array_job(&again).unwrap_or_else(|| panic!("{again:?}"));
    assert_eq!(tasks, lost, "{}", sweep.logs());
    cluster.wait_until_idle(300);
    assert_eq!(sweep.status(), Counts { cells: 200, done: 200, failed: 0, missing: 0 }, "{}", sweep.logs());
    assert!(fs::read_to_string(sweep.results()).unwrap() == expected, "results differ from those of one machine");

    let next_job = || {
        let config = cluster.output("scontrol", &["show", "config"]);
        config.lines().find(|line| line.starts_with("NEXT_JOB_ID")).unwrap().to_string()
    };
    let before = next_job();
    let nothing = sweep.submit();
    assert_eq!(array_job(&nothing), None);
    assert!(format!("{}{}", nothing.out, nothing.err).contains("done"), "{nothing:?}");
    assert!(cluster.is_idle());
    assert_eq!(next_job(), before);
}

#[test]
fn without_slurm_the_option_says_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let out = folder.path().join("out");
    let grid = ["--scheduler", "easy,sjbf", "--predictor", "estimate,perfect"];
    let mut command = command(SIM);
    command.arg("sweep").args(grid).args(["--shards", "2", "--slurm", "--out"]).arg(&out).env("PATH", empty);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("sbatch"), "{said}");
}

/// A site's own `sbatch` may print nothing: then the job's number is unknown, and the program must not print one.
#[test]
fn an_sbatch_that_names_no_job_is_an_error() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let sbatch = folder.path().join("sbatch");
    for said in ["", "Submitted, thank you"] {
        fs::write(&sbatch, format!("#!/bin/sh\necho '{said}'\n")).unwrap();
        fs::set_permissions(&sbatch, fs::Permissions::from_mode(0o755)).unwrap();
        let mut command = command(SIM);
        command.args(["sweep", "--load", "1,2", "--slurm", "--out"]).arg(folder.path().join("out"));
        let output = command.env("PATH", format!("{}:/bin:/usr/bin", folder.path().display())).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(1) && output.stdout.is_empty(), "{error}");
        let expected = format!("sbatch failed: it printed '{said}' where the number of the submitted job was expected");
        assert!(error.contains(&expected), "{error}");
        assert!(!folder.path().join("out/slurm/jobs").exists(), "no job is remembered");
    }
}
