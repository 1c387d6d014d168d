//! Sweeps over a real Slurm, which runs on this machine for the length of a test.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::support::{Ran, sim_ok};

const SIM: &str = env!("CARGO_BIN_EXE_sim");
const NODES: usize = 4;
/// The time between two checks of something slow.
const PAUSE: Duration = Duration::from_millis(20);
/// How long the daemons may take to come up.
const UP: Duration = Duration::from_secs(30);
/// How long a daemon may take to end before it is killed.
const GRACE: Duration = Duration::from_secs(10);

/// A Slurm of four nodes on the loopback address, for the length of a test.
pub struct Cluster {
    /// In the order in which they were started.
    daemons: Vec<Daemon>,
    folder: tempfile::TempDir,
}

struct Daemon {
    name: String,
    process: RefCell<Child>,
}

impl Cluster {
    /// None, with a message on standard error, if there is no Slurm here or no permission to start one.
    pub fn start(test: &str) -> Option<Cluster> {
        let programs = ["munged", "slurmctld", "slurmd", "sbatch", "squeue"].map(|name| (name, find_program(name)));
        let missing: Vec<_> = programs.iter().filter(|(_, path)| path.is_none()).map(|(name, _)| *name).collect();
        if !missing.is_empty() {
            skipped(test, &format!("Slurm is not installed: no {}", missing.join(", ")));
            return None;
        }
        // A short name in a folder that is itself short as a rule: the path of a socket has at most 107 characters.
        let folder = tempfile::Builder::new().prefix("slurm").tempdir().unwrap();
        if folder.path().metadata().unwrap().uid() != 0 {
            skipped(test, "only root can start Slurm");
            return None;
        }
        let [munged, slurmctld, slurmd, ..] = programs.map(|(_, path)| path.unwrap());
        // From here on there is something to stop, however this function ends.
        let mut cluster = Cluster { daemons: Vec::new(), folder };
        cluster.configure();

        let munge = cluster.file("munge");
        let option = |name: &str, file: &str| format!("--{name}={}", munge.join(file).display());
        let files = [option("key-file", "key"), option("socket", "sock"), option("pid-file", "pid")];
        let mut command = cluster.command(munged);
        // Forced, because it would refuse a socket that not all users can reach.
        command.args(["--foreground", "--force"]).args(files).arg(option("seed-file", "seed"));
        cluster.spawn("munged", command);
        cluster.wait(UP, "munged", |_| munge.join("sock").exists());

        let mut command = cluster.command(slurmctld);
        // In the foreground, without the state of a run before.
        command.args(["-D", "-i"]);
        cluster.spawn("slurmctld", command);
        cluster.wait(UP, "slurmctld", |cluster| cluster.output("scontrol", &["ping"]).contains(" UP"));

        for node in node_names() {
            let mut command = cluster.command(&slurmd);
            command.args(["-D", "-N", &node]);
            cluster.spawn(&node, command);
        }
        cluster.wait(UP, "the nodes", |cluster| {
            let states = cluster.output("sinfo", &["-h", "-N", "-o", "%T"]);
            states.lines().filter(|&state| state == "idle").count() == NODES
        });
        Some(cluster)
    }

    /// A command that talks to this Slurm, in this process's environment otherwise.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env("SLURM_CONF", self.file("slurm.conf")).stdin(Stdio::null());
        command
    }

    /// Waits until no job is left in the queue.
    pub fn wait_until_idle(&self, seconds: u64) {
        self.wait(Duration::from_secs(seconds), "an empty queue", Cluster::is_idle);
    }

    /// Kills the program of a running array task (such as `12_3`) as a crash would; false if it is not running any more.
    ///
    /// `scancel --signal=KILL`, with or without `--full`, is the same as `scancel`: first comes SIGTERM, and a program
    /// may clean up. `scancel --batch --signal=KILL` comes without warning, but only to the shell script: its children
    /// go on, outside of any job.
    pub fn kill_task(&self, task: &str) -> bool {
        loop {
            let running = self.output("squeue", &["-h", "-r", "-t", "RUNNING", "-j", task, "-o", "%A %N"]);
            let Some((job, node)) = running.trim().split_once(' ') else { return false };
            let listed = self.output("scontrol", &["listpids", job, node]);
            let processes = listed.lines().filter_map(|line| line.split_whitespace().next()?.parse().ok());
            let processes: Vec<u32> = processes.collect();
            // None yet if the task has only just begun, none any more if it is about to end.
            if !processes.is_empty() {
                signal("KILL", &processes);
                return true;
            }
            sleep(PAUSE);
        }
    }

    /// What a command of Slurm prints; no matter whether it succeeds, because all are asked again and again.
    fn output(&self, program: &str, args: &[&str]) -> String {
        let output = self.command(program).args(args).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Whether the queue can be asked, and is empty.
    fn is_idle(&self) -> bool {
        let output = self.command("squeue").args(["-h", "-r"]).output();
        output.is_ok_and(|output| output.status.success() && output.stdout.is_empty())
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes what the daemons read when they start.
    fn configure(&self) {
        for folder in ["munge", "log", "state", "spool"] {
            fs::create_dir(self.file(folder)).unwrap();
        }
        let mut secret = [0; 128];
        File::open("/dev/urandom").unwrap().read_exact(&mut secret).unwrap();
        // Munge refuses a key that others can read.
        let key = File::options().write(true).create_new(true).mode(0o600).open(self.file("munge/key"));
        key.unwrap().write_all(&secret).unwrap();
        // Slurm uses the machine's name up to the first dot, as here; `hostname -s` would need the network.
        let host = Command::new("uname").arg("-n").output().unwrap().stdout;
        let host = String::from_utf8(host).unwrap();
        let host = host.trim().split('.').next().unwrap();
        fs::write(self.file("slurm.conf"), slurm_conf(self.folder.path(), host, &free_ports())).unwrap();
        // A plugin must be named; this one works without cgroups.
        fs::write(self.file("cgroup.conf"), "CgroupPlugin=cgroup/v1\n").unwrap();
    }

    fn spawn(&mut self, name: &str, mut command: Command) {
        let log = File::create(self.file(&format!("log/{name}.out"))).unwrap();
        command.stdout(log.try_clone().unwrap()).stderr(log);
        let process = command.spawn().unwrap_or_else(|error| panic!("{name}: {error}"));
        self.daemons.push(Daemon { name: name.into(), process: RefCell::new(process) });
    }

    /// Waits until this holds; panics if that takes too long or a daemon has ended.
    fn wait(&self, limit: Duration, what: &str, holds: impl Fn(&Cluster) -> bool) {
        let deadline = Instant::now() + limit;
        while !holds(self) {
            if let Some(daemon) = self.daemons.iter().find(|daemon| daemon.has_ended()) {
                panic!("{} has ended while waiting for {what}\n{}", daemon.name, self.logs());
            }
            assert!(Instant::now() < deadline, "waited {limit:?} in vain for {what}\n{}{}", self.jobs(), self.logs());
            sleep(PAUSE);
        }
    }

    fn jobs(&self) -> String {
        self.output("scontrol", &["show", "job"])
    }

    fn logs(&self) -> String {
        tails(&self.file("log"))
    }
}

impl Drop for Cluster {
    /// Also after a panic, so nothing here may panic.
    fn drop(&mut self) {
        // Jobs outlive the daemons that started them.
        if self.daemons.len() > NODES && !self.is_idle() {
            let _ = self.command("scancel").args(["--quiet", "--user=root"]).status();
            let deadline = Instant::now() + GRACE;
            while !self.is_idle() && Instant::now() < deadline {
                sleep(PAUSE);
            }
        }
        // Ends the nodes, all at the same time, then their controller, then the authentication daemon.
        let nodes = self.daemons.split_off(self.daemons.len().min(2));
        let others = self.daemons.drain(..).rev().map(|daemon| vec![daemon]);
        for group in std::iter::once(nodes).chain(others) {
            // Not to those that have ended: their numbers may be others' by now.
            let running = group.iter().filter(|daemon| !daemon.has_ended());
            signal("TERM", &running.map(|daemon| daemon.process.borrow().id()).collect::<Vec<_>>());
            group.iter().for_each(Daemon::wait);
        }
    }
}

impl Daemon {
    fn has_ended(&self) -> bool {
        self.process.borrow_mut().try_wait().is_ok_and(|status| status.is_some())
    }

    /// Waits for its end, up to a time limit.
    fn wait(&self) {
        let deadline = Instant::now() + GRACE;
        while !self.has_ended() && Instant::now() < deadline {
            sleep(PAUSE);
        }
        let mut process = self.process.borrow_mut();
        // Does nothing to a process that has ended.
        let _ = process.kill();
        let _ = process.wait();
    }
}

/// Not captured by the test runner: a skipped test must not look like one that ran.
fn skipped(test: &str, why: &str) {
    let _ = writeln!(std::io::stderr(), "skipped: {test} ({why})");
}

/// The last lines of all files of a folder.
fn tails(folder: &Path) -> String {
    let Ok(files) = fs::read_dir(folder) else { return String::new() };
    let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    files.sort();
    let tail = |path: &PathBuf| {
        let text = String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned();
        let lines: Vec<_> = text.lines().collect();
        let name = path.file_name().unwrap().display();
        format!("--- {name}\n{}\n", lines[lines.len().saturating_sub(20)..].join("\n"))
    };
    files.iter().map(tail).collect()
}

/// The daemons are in a folder that is not in every user's path.
fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain([PathBuf::from("/usr/sbin")]);
    folders.map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// Uses the shell's `kill`, which always exists. Some processes may have ended, and the list may be empty.
fn signal(name: &str, processes: &[u32]) {
    let processes = processes.iter().map(u32::to_string);
    let mut kill = Command::new("sh");
    let _ = kill.args(["-c", r#"kill -s "$@""#, "sh", name]).args(processes).stderr(Stdio::null()).status();
}

fn node_names() -> impl Iterator<Item = String> {
    (1..=NODES).map(|node| format!("n{node}"))
}

/// For the master and its nodes.
fn free_ports() -> [u16; NODES + 1] {
    // All held until the last is known, or one could come twice.
    let held = [(); NODES + 1].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    held.map(|port| port.local_addr().unwrap().port())
}

fn slurm_conf(folder: &Path, host: &str, ports: &[u16; NODES + 1]) -> String {
    let folder = folder.display();
    let master = ports[0];
    let node = |(name, port)| {
        format!("NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=2 RealMemory=1000\n")
    };
    let nodes: String = node_names().zip(&ports[1..]).map(node).collect();
    format!(
        "ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={master}
SlurmUser=root
SlurmdUser=root
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge/sock
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/state/slurmctld.pid
SlurmctldLogFile={folder}/log/slurmctld.log
SlurmdSpoolDir={folder}/spool/%n
SlurmdPidFile={folder}/spool/%n.pid
SlurmdLogFile={folder}/log/%n.log
SlurmdParameters=config_overrides
ReturnToService=2
MailProg=/bin/true
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
MpiDefault=none
KillWait=2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,bf_interval=1,sched_interval=5
{nodes}PartitionName=main Nodes=n[1-{NODES}] Default=YES MaxTime=60 State=UP
"
    )
}

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
    let Some(cluster) = Cluster::start("two_hundred_cells_over_eight_tasks_equal_one_machine") else { return };
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
    let mut command = Command::new(SIM);
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
        let mut command = Command::new(SIM);
        command.args(["sweep", "--load", "1,2", "--slurm", "--out"]).arg(folder.path().join("out"));
        let output = command.env("PATH", format!("{}:/bin:/usr/bin", folder.path().display())).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(1) && output.stdout.is_empty(), "{error}");
        let expected = format!("sbatch failed: it printed '{said}' where the number of the submitted job was expected");
        assert!(error.contains(&expected), "{error}");
        assert!(!folder.path().join("out/slurm/jobs").exists(), "no job is remembered");
    }
}
