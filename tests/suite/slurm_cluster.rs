//! A real Slurm on this machine, for the length of a test.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::{slurm_accounts, support};

/// The time between two checks of something slow.
const PAUSE: Duration = Duration::from_millis(20);
/// How long the daemons may take to come up.
pub const UP: Duration = Duration::from_secs(300);
/// How long a daemon may take to end before it is killed.
const GRACE: Duration = Duration::from_secs(10);

/// What differs between the clusters of tests.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// The kinds of nodes, in the order of slurm.conf.
    pub nodes: &'static [NodeKind],
    /// The value of SchedulerParameters.
    pub scheduling: &'static str,
    /// Further lines of slurm.conf, such as those of partitions, each with its line break.
    pub lines: &'static str,
    /// The lines of gres.conf, with `RUN` for the folder of the cluster. It has the files `gpu0` and `gpu1`.
    pub gres: &'static str,
    /// The commands of sacctmgr, one per line. If there are any, slurmdbd and its database are started too.
    pub accounts: &'static str,
}

/// Equal nodes. They are named n1, n2, ... if `prefix` is `n`.
#[derive(Clone, Copy, Debug)]
pub struct NodeKind {
    pub prefix: &'static str,
    pub count: usize,
    /// What slurm.conf says of each.
    pub line: &'static str,
}

/// A Slurm on the loopback address, for the length of a test.
pub struct Cluster {
    shape: Shape,
    /// In the order in which they were started.
    daemons: Vec<Daemon>,
    folder: tempfile::TempDir,
    /// Removed after the daemons have ended.
    _users: slurm_accounts::Users,
}

struct Daemon {
    name: String,
    is_node: bool,
    process: RefCell<Child>,
}

impl Cluster {
    /// None, with a message on standard error, if there is no Slurm here or no permission to start one.
    pub fn start(test: &str, shape: Shape) -> Option<Cluster> {
        let mut programs = vec!["munged", "slurmctld", "slurmd", "sbatch", "squeue"];
        if shape.has_accounts() {
            programs.extend(slurm_accounts::PROGRAMS);
        }
        let missing: Vec<_> = programs.into_iter().filter(|name| find_program(name).is_none()).collect();
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
        let users = slurm_accounts::Users::add(shape.accounts);
        // From here on there is something to stop, however this function ends.
        let mut cluster = Cluster { shape, daemons: Vec::new(), folder, _users: users };
        let ports = free_ports(shape.node_names().count() + 3);
        cluster.configure(&ports);

        let munge = cluster.file("munge");
        let option = |name: &str, file: &str| format!("--{name}={}", munge.join(file).display());
        let files = [option("key-file", "key"), option("socket", "sock"), option("pid-file", "pid")];
        let mut command = cluster.daemon("munged");
        // Forced, because it would refuse a socket that not all users can reach.
        command.args(["--foreground", "--force"]).args(files).arg(option("seed-file", "seed"));
        cluster.spawn("munged", command);
        cluster.wait(UP, "munged", |_| munge.join("sock").exists());
        if shape.has_accounts() {
            cluster.start_accounting(&ports, shape.accounts);
        }

        let mut command = cluster.daemon("slurmctld");
        // In the foreground, without the state of a run before.
        command.args(["-D", "-i"]);
        cluster.spawn("slurmctld", command);
        cluster.wait(UP, "slurmctld", |cluster| cluster.output("scontrol", &["ping"]).contains(" UP"));

        for node in shape.node_names() {
            let mut command = cluster.daemon("slurmd");
            command.args(["-D", "-N", &node]);
            cluster.spawn(&node, command);
            cluster.daemons.last_mut().unwrap().is_node = true;
        }
        cluster.wait(UP, "the nodes", |cluster| {
            let states = cluster.output("sinfo", &["-h", "-N", "-o", "%T"]);
            !states.is_empty() && states.lines().all(|state| state == "idle")
        });
        Some(cluster)
    }

    /// A command that talks to this Slurm, in this process's environment otherwise.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = support::command(program);
        command.env("SLURM_CONF", self.file("slurm.conf")).env("TZ", "UTC").stdin(Stdio::null());
        command
    }

    /// A command that starts a daemon.
    pub fn daemon(&self, program: &str) -> Command {
        self.command(find_program(program).unwrap_or_else(|| panic!("there is no {program}")))
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
    fn configure(&self, ports: &[u16]) {
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
        fs::write(self.file("slurm.conf"), self.shape.slurm_conf(self.folder.path(), host, ports)).unwrap();
        if !self.shape.gres.is_empty() {
            let gres = self.shape.gres.replace("RUN", self.folder.path().to_str().unwrap());
            fs::write(self.file("gres.conf"), gres).unwrap();
            // They must be devices.
            symlink("/dev/null", self.file("gpu0")).unwrap();
            symlink("/dev/zero", self.file("gpu1")).unwrap();
        }
        // A plugin must be named; this one works without cgroups.
        fs::write(self.file("cgroup.conf"), "CgroupPlugin=cgroup/v1\n").unwrap();
    }

    pub fn spawn(&mut self, name: &str, mut command: Command) {
        let log = File::create(self.file(&format!("log/{name}.out"))).unwrap();
        command.stdout(log.try_clone().unwrap()).stderr(log);
        let process = command.spawn().unwrap_or_else(|error| panic!("{name}: {error}"));
        self.daemons.push(Daemon { name: name.into(), is_node: false, process: RefCell::new(process) });
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
        if self.daemons.iter().any(|daemon| daemon.is_node) && !self.is_idle() {
            let jobs = self.output("squeue", &["-h", "-o", "%A"]);
            let _ = self.command("scancel").arg("--quiet").args(jobs.lines()).status();
            let deadline = Instant::now() + GRACE;
            while !self.is_idle() && Instant::now() < deadline {
                sleep(PAUSE);
            }
        }
        // Ends the nodes, all at the same time, then their controller and what it needs; last the authentication daemon.
        let (nodes, others): (Vec<_>, Vec<_>) = self.daemons.drain(..).partition(|daemon| daemon.is_node);
        let others = others.into_iter().rev().map(|daemon| vec![daemon]);
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
pub fn find_program(name: &str) -> Option<PathBuf> {
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
        self.lines_of_nodes().map(|(name, _)| name)
    }

    /// The nodes' names, each with what slurm.conf says of it.
    fn lines_of_nodes(&self) -> impl Iterator<Item = (String, &'static str)> + use<> {
        let of_kind = |kind: &'static NodeKind| (1..=kind.count).map(|at| (format!("{}{at}", kind.prefix), kind.line));
        self.nodes.iter().flat_map(of_kind)
    }

    fn has_accounts(&self) -> bool {
        !self.accounts.is_empty()
    }

    /// The ports are those of the master, of slurmdbd, of its database and of the nodes.
    fn slurm_conf(&self, folder: &Path, host: &str, ports: &[u16]) -> String {
        let Shape { scheduling, lines, .. } = self;
        let folder = folder.display();
        let (master, accounts) = (ports[0], ports[1]);
        let node = |((name, line), port)| {
            format!("NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} {line}\n")
        };
        let node_lines: String = self.lines_of_nodes().zip(&ports[3..]).map(node).collect();
        // The last of two lines counts, but Slurm says so each time.
        let service = if lines.contains("ReturnToService=") { "" } else { "ReturnToService=2\n" };
        let storage = match self.has_accounts() {
            true => format!(
                "slurmdbd\nAccountingStorageHost=127.0.0.1\nAccountingStoragePort={accounts}\n\
                 AccountingStoragePass={folder}/munge/sock"
            ),
            false => "none".to_string(),
        };
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
{service}MailProg=/bin/true
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/{storage}
SwitchType=switch/none
MpiDefault=none
KillWait=2
SelectType=select/cons_tres
SchedulerType=sched/backfill
SchedulerParameters={scheduling}
{node_lines}{lines}"
        )
    }
}

fn free_ports(count: usize) -> Vec<u16> {
    // All held until the last is known, or one could come twice.
    let held: Vec<TcpListener> = (0..count).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    held.iter().map(|port| port.local_addr().unwrap().port()).collect()
}
