//! A new record of a real Slurm on nodes, and its passes made again. `tests/slurm/README.md` describes both.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::slurm_cluster::{Cluster, NodeKind, Shape};
use crate::slurm_node_jobs::{Wanted, job_that_asks, random_jobs};
use crate::slurm_node_log::{NodeLog, Request, names};
use crate::slurm_node_records::{ASSOCIATIONS_OF_N3, NodeRecord, PassFigures, replay};
use crate::slurm_record::{FRESH, JOBS, leading_number, unix_seconds};
use crate::support::missing;

/// Of the random jobs. The seconds of the clock if it is not set.
const SEED: &str = "SHADOWTIME_SLURM_SEED";
const FILE: &str = "nodes.json";
/// The folder within that of the records.
const PREEMPTING: &str = "preempting";
/// The time between two looks at the running jobs.
const PAUSE: Duration = Duration::from_millis(500);

const SHAPE: Shape = Shape {
    nodes: &[
        NodeKind {
            prefix: "n",
            count: 6,
            line: "CPUs=4 Sockets=1 CoresPerSocket=4 ThreadsPerCore=1 RealMemory=8000 Feature=std,ib Weight=1",
        },
        NodeKind {
            prefix: "b",
            count: 3,
            line: "CPUs=8 Sockets=2 CoresPerSocket=4 ThreadsPerCore=1 RealMemory=32000 Feature=big,ib Weight=10",
        },
        NodeKind {
            prefix: "g",
            count: 2,
            line: "CPUs=4 Sockets=1 CoresPerSocket=4 ThreadsPerCore=1 RealMemory=16000 Gres=gpu:2 Feature=gpu Weight=20",
        },
    ],
    scheduling: "batch_sched_delay=0,sched_min_interval=0,bf_interval=2,bf_resolution=1,sched_interval=60",
    lines: "SlurmctldDebug=debug3
DebugFlags=Backfill,Priority,Reservation,TraceJobs
ReturnToService=1
SlurmdDebug=error
MinJobAge=86400
GresTypes=gpu
AccountingStorageTRES=gres/gpu
AccountingStorageEnforce=associations,limits,qos
PriorityType=priority/multifactor
PriorityWeightAge=1000
PriorityMaxAge=0-00:04:00
PriorityWeightJobSize=500
PriorityWeightPartition=1000
PriorityWeightFairshare=2000
PriorityWeightQOS=1000
PriorityDecayHalfLife=0-00:02:00
PriorityCalcPeriod=0-00:01:00
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=1000
PartitionName=batch Nodes=n[1-6],b[1-3] Default=YES MaxTime=30 DefaultTime=2 PriorityJobFactor=10 State=UP
PartitionName=all Nodes=n[1-6],b[1-3],g[1-2] MaxTime=30 MaxNodes=4 PriorityJobFactor=1 State=UP
PartitionName=gpu Nodes=g[1-2] MaxTime=30 PriorityTier=2 PriorityJobFactor=20 State=UP
PartitionName=short Nodes=n[4-6],b[1-2] MaxTime=1 PriorityJobFactor=30 State=UP
PartitionName=debug Nodes=n[1-2] MaxTime=1 PriorityTier=5 State=UP
",
    gres: "NodeName=g[1-2] Name=gpu File=RUN/gpu[0-1]\n",
    accounts: "add qos hi3 Priority=100 MaxTRESPerUser=cpu=12 MaxJobsPerUser=3
add qos lo3 Priority=10 GrpTRES=cpu=20 MaxTRESPerJob=cpu=10
add account a1 Fairshare=2
add account a2 Fairshare=1
add user u1 Account=a1 Fairshare=1
add user u2 Account=a1 Fairshare=1
add user u3 Account=a1 Fairshare=2
add user u4 Account=a2 Fairshare=1
add user u5 Account=a2 Fairshare=3
add user u6 Account=a2 Fairshare=1
modify user u1,u2,u3,u4,u5,u6 set QOS=normal,hi3,lo3 DefaultQOS=normal
modify user u3 set GrpTRES=cpu=14 MaxJobs=4
modify account a2 set GrpTRES=cpu=30
",
};

/// What the administrator does, and when, in seconds after the first submission. `@75` in a command is the instant 75 seconds after
/// it.
const COMMANDS: [(u64, &str); 6] = [
    (8, "create reservation reservationname=lab starttime=@75 endtime=@100 nodes=b3 users=u1 flags=IGNORE_JOBS"),
    (25, "update nodename=n3 state=down reason=test"),
    (35, "update nodename=n5,g2 state=drain reason=test"),
    (50, "update nodename=n3 state=resume"),
    (65, "update nodename=n5,g2 state=resume"),
    (104, "delete reservationname=lab"),
];

/// With these lines jobs of higher tiers preempt those of lower ones.
const PREEMPTION: &str = "PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE\n";

/// What a job had on its nodes.
type Allocation = BTreeMap<String, [u32; 3]>;

/// The cluster while jobs run.
struct Run {
    cluster: Cluster,
    /// By job and start: what it had. The daemon forgets GPUs when the job ends, and all when it waits again.
    seen: BTreeMap<(u32, i64), Allocation>,
    /// What the administrator did: the time, the command, and what was shown then.
    commands: Vec<Value>,
}

impl Run {
    fn show(&self) -> String {
        self.cluster.output("scontrol", &["-d", "-o", "show", "job"])
    }

    /// Notes what running jobs have. Returns whether jobs run or complete, or the daemon did not answer.
    fn poll(&mut self) -> bool {
        let show = self.show();
        let running = show.lines().filter(|line| word(line, "JobState=") == "RUNNING");
        for line in running {
            let start = unix_seconds(word(line, "StartTime=")) as i64;
            self.seen.insert((job_id(line), start), allocation(line));
        }
        show.is_empty() || show.lines().any(|line| ["RUNNING", "COMPLETING"].contains(&word(line, "JobState=")))
    }

    fn sleep_until(&mut self, time: SystemTime) {
        while let Ok(left) = time.duration_since(SystemTime::now()) {
            self.poll();
            sleep(left.min(PAUSE));
        }
    }

    /// Gives the administrator's commands that are due before an instant after the beginning.
    fn administrate(&mut self, commands: &mut &[(u64, &str)], before: Duration, begin: SystemTime) {
        while let Some(((at, command), rest)) =
            commands.split_first().filter(|((at, _), _)| Duration::from_secs(*at) <= before)
        {
            *commands = rest;
            self.sleep_until(begin + Duration::from_secs(*at));
            let word = |word: &str| match word.split_once('@') {
                Some((key, seconds)) => {
                    let time = begin + Duration::from_secs(seconds.parse().unwrap());
                    format!("{key}{}", time_text(time.duration_since(UNIX_EPOCH).unwrap().as_secs() as i64))
                }
                None => word.to_string(),
            };
            let args: Vec<String> = command.split(' ').map(word).collect();
            let output = self.cluster.command("scontrol").args(&args).output().unwrap();
            let out = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).trim().to_string();
            let show = self.cluster.output("scontrol", &["-o", "show", "reservation"]);
            self.commands.push(json!({ "t": at, "cmd": command, "done": args, "out": out, "show": show }));
        }
    }

    /// Submits the jobs at their times, and gives the administrator's commands. Returns the numbers of the jobs, or why they were
    /// refused.
    fn submit(&mut self, jobs: &[Wanted], mut commands: &[(u64, &str)], begin: SystemTime) -> Vec<Result<u32, String>> {
        let mut submitted = Vec::new();
        for job in jobs {
            self.administrate(&mut commands, job.submit, begin);
            self.sleep_until(begin + job.submit);
            let mut sbatch = self.cluster.command("sbatch");
            sbatch.args(["--parsable", "-o", "/dev/null", "-D", "/tmp", "--uid", job.user, "-p", job.partitions]);
            sbatch.args(["-t", &(job.limit / 60).to_string(), "--qos", job.qos, &format!("--nice={}", job.nice)]);
            let output = sbatch.args(&job.args).arg(format!("--wrap=exec sleep {}", job.run)).output().unwrap();
            let number = leading_number(&String::from_utf8_lossy(&output.stdout));
            submitted.push(number.ok_or_else(|| String::from_utf8_lossy(&output.stderr).trim().to_string()));
        }
        self.administrate(&mut commands, Duration::MAX, begin);
        submitted
    }

    /// Waits until no job has run for some passes: those that still wait can never run.
    fn wait(&mut self) {
        let began = Instant::now();
        let mut busy = began;
        while busy.elapsed() < Duration::from_secs(8) {
            if self.poll() {
                busy = Instant::now();
            }
            assert!(began.elapsed() < Duration::from_secs(900), "the jobs do not end:\n{}", self.show());
            sleep(PAUSE);
        }
    }
}

/// The word after a key in a line of `scontrol show job`.
fn word<'t>(line: &'t str, key: &str) -> &'t str {
    line.split_whitespace().find_map(|word| word.strip_prefix(key)).unwrap_or_default()
}

fn job_id(line: &str) -> u32 {
    leading_number(word(line, "JobId=")).unwrap()
}

/// What a job has: nodes, with the CPUs, MB and GPUs of each.
fn shares(line: &str) -> Vec<(Vec<String>, [u32; 3])> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let value = |word: &str, key: &str| leading_number(word.strip_prefix(key).unwrap()).unwrap();
    let share = |words: &[&str]| {
        let cpus = words[1].strip_prefix("CPU_IDs=")?.split(',').map(|range| {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            last.parse::<u32>().unwrap() - first.parse::<u32>().unwrap() + 1
        });
        let gpus = words[3].strip_prefix("GRES=gpu:").map_or(0, |gpus| leading_number(gpus).unwrap());
        Some((names(words[0].strip_prefix("Nodes=")?), [cpus.sum(), value(words[2], "Mem="), gpus]))
    };
    words.windows(4).filter_map(share).collect()
}

/// The same by node.
fn allocation(line: &str) -> Allocation {
    let of_nodes = |(nodes, share): (Vec<String>, [u32; 3])| nodes.into_iter().map(move |node| (node, share));
    shares(line).into_iter().flat_map(of_nodes).collect()
}

/// The runs of a job, one after the other, as the events tell them.
fn runs(id: u32, run: &Run, last: &Allocation, events: &[Value], t0: i64) -> Vec<Value> {
    let mut runs: Vec<Value> = Vec::new();
    for event in events.iter().filter(|event| event[2] == id) {
        let (time, kind) = (event[0].as_f64().unwrap(), event[1].as_str().unwrap());
        let how = match kind {
            "sm" | "sb" => {
                let start = time.floor() as i64;
                let seen = [start, start - 1, start + 1].into_iter();
                let seen = seen.filter_map(|start| Some((start, run.seen.get(&(id, start + t0))?))).next();
                let (start, alloc) = seen.unwrap_or((start, last));
                runs.push(json!({ "start": start, "part": event[3], "by": kind, "alloc": alloc }));
                continue;
            }
            "end" => "end".to_string(),
            "rend" => "reservation".to_string(),
            "pre" => format!("preempted {}", event[4].as_str().unwrap()),
            "nodefail" => format!("nodefail {}", event[4].as_str().unwrap()),
            _ => continue,
        };
        if let Some(last) = runs.last_mut().filter(|run| run["end"].is_null()) {
            (last["end"], last["how"]) = (json!(time), json!(how));
        }
    }
    runs
}

/// A number of a request; None if it was not given, for which Slurm has the largest numbers of several widths.
fn given(request: &Request, key: &str) -> Option<u64> {
    let text = request.get(key).unwrap_or_else(|| panic!("no {key} in {request:?}"));
    let end = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
    let number = text[..end].parse().ok();
    number.filter(|number| ![254, 255, 65534, 65535, 4294967294, 4294967295, u64::MAX - 1, u64::MAX].contains(number))
}

/// A job in the form of a record.
fn recorded(job: &Wanted, id: u32, run: &Run, line: &str, (request, events): (&Request, &[Value]), t0: i64) -> Value {
    let option = |name: &str| job.args.iter().position(|word| word == name).map(|at| job.args[at + 1].as_str());
    let count = |name: &str| option(name).map_or(0, |value| value.trim_start_matches("gpu:").parse::<u32>().unwrap());
    let mut alloc = allocation(line);
    let start = unix_seconds_if_known(word(line, "StartTime="));
    for (node, share) in start.and_then(|start| run.seen.get(&(id, start))).into_iter().flatten() {
        if let Some(own) = alloc.get_mut(node) {
            own[2] = share[2];
        }
    }
    let tres = word(line, "TRES=");
    let gpus = tres.split_once("gres/gpu=").and_then(|(_, gpus)| leading_number(gpus)).unwrap_or(0);
    let seen: u32 = alloc.values().map(|[_, _, gpus]| gpus).sum();
    assert!(alloc.is_empty() || seen == gpus, "saw {seen} GPUs: {line}");
    let time = |key: &str| unix_seconds_if_known(word(line, key)).filter(|_| !alloc.is_empty()).map(|time| time - t0);
    let submits =
        events.iter().filter(|event| ["sub", "requeued"].contains(&event[1].as_str().unwrap()) && event[2] == id);
    let submits: Vec<i64> = submits.map(|event| event[0].as_f64().unwrap().floor() as i64).collect();
    let runs = runs(id, run, &alloc, events, t0);
    // `2-[3]` nodes.
    let (min_nodes, max_nodes) = request["Nodes"].split_once("-[").unwrap();
    let nodes = |text: &str| leading_number(text).filter(|&nodes| nodes < u32::MAX - 1);
    let per_cpu = request.contains_key("pn_min_memory_cpu");
    let show =
        ["NumNodes", "NumCPUs", "NumTasks", "MinCPUsNode", "TRES"].map(|key| (key, word(line, &format!("{key}="))));
    json!({
        "id": id, "args": job.args, "user": job.user, "part": job.partitions, "qos": job.qos, "nice": job.nice,
        "limit": job.limit, "run": job.run, "submit": submits[0], "submits": submits, "runs": runs, "resv": option("--reservation"),
        "min_nodes": nodes(min_nodes), "max_nodes": nodes(max_nodes),
        "num_tasks": given(request, "num_tasks"), "cpt": given(request, "cpus_per_task"),
        "ntpn": given(request, "ntasks_per_node"), "min_cpus": given(request, "cpus"),
        "pn_min_cpus": given(request, "pn_min_cpus"),
        "mem": given(request, if per_cpu { "pn_min_memory_cpu" } else { "pn_min_memory_job" }), "percpu": per_cpu,
        "gres": count("--gres"), "gpus": count("--gpus"), "feat": option("-C"),
        "excl": job.args.iter().any(|word| word == "--exclusive"),
        "state": word(line, "JobState="), "start": time("StartTime="), "end": time("EndTime="),
        "show": BTreeMap::from(show), "alloc": alloc,
    })
}

/// A time of `scontrol show job`.
fn unix_seconds_if_known(text: &str) -> Option<i64> {
    (text != "Unknown" && !text.is_empty()).then(|| unix_seconds(text) as i64)
}

/// Makes two records of random jobs on a real Slurm with partitions, memory, GPUs and limits: one whose administrator sets nodes
/// down, drains others and reserves one, three minutes for 45 jobs, and a shorter one in which jobs of higher tiers preempt others.
#[test]
#[ignore = "takes minutes: SHADOWTIME_SLURM_RECORDS=FOLDER cargo test --test suite -- --ignored slurm_node_record::"]
fn record_a_real_slurm_on_nodes() {
    let in_reservation =
        ["-n 2 --reservation lab", "-n 4 --reservation lab"].map(|args| job_that_asks(args, "batch", 20));
    record("", SHAPE, 1, (in_reservation.into(), &COMMANDS));
    let lines = Box::leak(format!("{PREEMPTION}{}", SHAPE.lines).into_boxed_str());
    // Each needs all that its partition has, where other jobs run too.
    let urgent = [10, 20].map(|seconds| job_that_asks("-n 8", "debug", seconds));
    record(PREEMPTING, Shape { lines, ..SHAPE }, 2, (urgent.into(), &[]));
}

/// Makes a record of a part of the random jobs and of these others, while these commands of the administrator are given.
fn record(folder: &str, shape: Shape, part: usize, (others, commands): (Vec<Wanted>, &[(u64, &str)])) {
    let name = "record_a_real_slurm_on_nodes";
    let within = folder;
    let Some(folder) = std::env::var_os(FRESH).map(PathBuf::from) else {
        return missing(name, &format!("{FRESH} does not name a folder"));
    };
    let number = |variable: &str| std::env::var(variable).ok().map(|text| text.parse::<u64>().expect(variable));
    let seconds = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let seed = number(SEED).unwrap_or_else(seconds);
    let mut jobs = random_jobs(seed, number(JOBS).unwrap_or(45) as usize / part);
    jobs.extend(others);
    jobs.sort_by_key(|job| job.submit);
    // Not captured by the test runner.
    let _ = writeln!(std::io::stderr(), "{name}: {SEED}={seed}");
    let Some(cluster) = Cluster::start(name, shape) else { return };
    let mut run = Run { cluster, seen: BTreeMap::new(), commands: Vec::new() };
    let t0 = seconds() + 2;
    let submitted = run.submit(&jobs, commands, UNIX_EPOCH + Duration::from_secs(t0));
    run.wait();

    let read = |name: &str| fs::read_to_string(run.cluster.file(name)).unwrap();
    let (show, t0) = (run.show(), t0 as i64);
    let NodeLog { events, requests } = NodeLog::read(&read("log/slurmctld.log"), t0);
    let (mut recorded_jobs, mut refused) = (Vec::new(), Vec::new());
    for (at, (job, number)) in jobs.iter().zip(submitted).enumerate() {
        match number {
            Ok(id) => {
                let line = show.lines().find(|line| job_id(line) == id).unwrap();
                recorded_jobs.push(recorded(job, id, &run, line, (&requests[&id], &events), t0));
            }
            Err(message) => refused.push(json!([at + 1, job.args, message])),
        }
    }
    assert_eq!(recorded_jobs.len(), requests.len(), "{refused:?}");
    let without_folder = |text: String| text.replace(run.cluster.file("").to_str().unwrap(), "RUN/");
    let record = json!({
        "name": "nodes", "seed": seed, "t0": t0, "conf": without_folder(read("slurm.conf")),
        "gresconf": without_folder(read("gres.conf")), "topo": "", "accounts": SHAPE.accounts,
        "jobs": recorded_jobs, "events": events, "bad": refused, "admin": run.commands,
    });
    let folder = folder.join(within);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(FILE), record.to_string()).unwrap();
    let has = |kind: &str| events.iter().any(|event| event[1] == kind);
    let kinds: &[&str] = if commands.is_empty() { &["pre"] } else { &["node", "resp", "rnew", "rdel"] };
    let missing: Vec<_> = kinds.iter().filter(|kind| !has(kind)).collect();
    assert!(missing.is_empty(), "no events {missing:?}: {}", record["admin"]);
}

/// A time as commands of Slurm read it; their clock shows UTC.
fn time_text(unix: i64) -> String {
    let day = shadowtime::time::date(unix);
    let second = unix.rem_euclid(86_400);
    format!("{day}T{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60)
}

#[test]
fn passes_of_a_fresh_node_record() {
    let name = "passes_of_a_fresh_node_record";
    let Some(folder) = std::env::var_os(FRESH) else { return missing(name, &format!("{FRESH} is not set")) };
    let file = Path::new(&folder).join(FILE);
    if !file.exists() {
        return missing(name, &format!("no {}", file.display()));
    }
    let mut record = NodeRecord::read(&file);
    let limits = record.set_associations(ASSOCIATIONS_OF_N3);
    let figures = replay(&record, limits);
    eprintln!("{figures:?}");
    let PassFigures { passes, same, reservations, same_reservations, .. } = figures;
    // 99 in 100; one of a few passes may come while a job is just ending.
    let is_met = |all: u32, same: u32| all - same <= (all / 100).max(1);
    assert!(passes > 40 && is_met(passes, same), "{figures:?}");
    assert!(reservations > 20 && is_met(reservations, same_reservations), "{figures:?}");
}
