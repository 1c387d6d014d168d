//! A real Slurm on this machine, for the length of a test.

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

use crate::support;

/// The time between two checks of something slow.
const PAUSE: Duration = Duration::from_millis(20);
/// How long the daemons may take to come up.
const UP: Duration = Duration::from_secs(300);
/// How long a daemon may take to end before it is killed.
const GRACE: Duration = Duration::from_secs(10);

/// What differs between the clusters of tests.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// They are named n1, n2, ...
    pub nodes: usize,
    /// The processors of each node.
    pub cpus: usize,
    /// The value of SchedulerParameters.
    pub scheduling: &'static str,
    /// Further lines of slurm.conf, each with its line break.
    pub lines: &'static str,
}

/// A Slurm on the loopback address, for the length of a test.
pub struct Cluster {
    shape: Shape,
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
    pub fn start(test: &str, shape: Shape) -> Option<Cluster> {
        let programs = ["munged", "slurmctld", "slurmd", "sbatch", "squeue"].map(|name| (name, find_program(name)));
        let missing: Vec<_> = programs.iter().filter(|(_, path)| path.is_none()).map(|(name, _)| *name).collect();
        if !missing.is_empty() {
            support::missing(test, &format!("Slurm is not installed: no {}", missing.join(", ")));
            return None;
        }
        // A short name in a folder that is itself short as a rule: the path of a socket has at most 107 characters.
        let folder = tempfile::Builder::new().prefix("slurm").tempdir().unwrap();
        if folder.path().metadata().unwrap().uid() != 0 {
            support::missing(test, "only root can start Slurm");
            return None;
        }
        let [munged, slurmctld, slurmd, ..] = programs.map(|(_, path)| path.unwrap());
        // From here on there is something to stop, however this function ends.
        let mut cluster = Cluster { shape, daemons: Vec::new(), folder };
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

        for node in shape.node_names() {
            let mut command = cluster.command(&slurmd);
            command.args(["-D", "-N", &node]);
            cluster.spawn(&node, command);
        }
        cluster.wait(UP, "the nodes", |cluster| {
            let states = cluster.output("sinfo", &["-h", "-N", "-o", "%T"]);
            states.lines().filter(|&state| state == "idle").count() == shape.nodes
        });
        Some(cluster)
    }

    /// A command that talks to this Slurm, in this process's environment otherwise.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = support::command(program);
        command.env("SLURM_CONF", self.file("slurm.conf")).env("TZ", "UTC").stdin(Stdio::null());
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
    pub fn output(&self, program: &str, args: &[&str]) -> String {
        let output = self.command(program).args(args).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Whether the queue can be asked, and is empty.
    pub fn is_idle(&self) -> bool {
        let output = self.command("squeue").args(["-h", "-r"]).output();
        output.is_ok_and(|output| output.status.success() && output.stdout.is_empty())
    }

    pub fn file(&self, name: &str) -> PathBuf {
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
        let host = support::command("uname").arg("-n").output().unwrap().stdout;
        let host = String::from_utf8(host).unwrap();
        let host = host.trim().split('.').next().unwrap();
        fs::write(self.file("slurm.conf"), self.shape.slurm_conf(self.folder.path(), host)).unwrap();
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
    pub fn wait(&self, limit: Duration, what: &str, holds: impl Fn(&Cluster) -> bool) {
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
        if self.daemons.len() > self.shape.nodes && !self.is_idle() {
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

/// The last lines of all files of a folder.
pub fn tails(folder: &Path) -> String {
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
    let mut kill = support::command("sh");
    let _ = kill.args(["-c", r#"kill -s "$@""#, "sh", name]).args(processes).stderr(Stdio::null()).status();
}

impl Shape {
    fn node_names(&self) -> impl Iterator<Item = String> + use<> {
        (1..=self.nodes).map(|node| format!("n{node}"))
    }

    fn slurm_conf(&self, folder: &Path, host: &str) -> String {
        let Shape { nodes, cpus, scheduling, lines } = self;
        let folder = folder.display();
        // One port for the master and one per node.
        let ports = free_ports(nodes + 1);
        let master = ports[0];
        let node = |(name, port)| {
            format!("NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs={cpus} RealMemory=1000\n")
        };
        let node_lines: String = self.node_names().zip(&ports[1..]).map(node).collect();
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
SchedulerParameters={scheduling}
{lines}{node_lines}PartitionName=main Nodes=n[1-{nodes}] Default=YES MaxTime=60 State=UP
"
        )
    }
}

fn free_ports(count: usize) -> Vec<u16> {
    // All held until the last is known, or one could come twice.
    let held: Vec<TcpListener> = (0..count).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    held.iter().map(|port| port.local_addr().unwrap().port()).collect()
}
