//! A new record of a real Slurm on nodes, and its passes made again. `tests/slurm/README.md` describes both.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::slurm_cluster::{Cluster, NodeKind, Shape};
use crate::slurm_node_jobs::{Wanted, random_jobs};
use crate::slurm_node_log::{NodeLog, Request, names};
use crate::slurm_node_records::{ASSOCIATIONS_OF_N3, NodeRecord, PassFigures, replay};
use crate::slurm_record::{FRESH, JOBS, leading_number, unix_seconds};
use crate::support::missing;

/// Of the random jobs. The seconds of the clock if it is not set.
const SEED: &str = "SHADOWTIME_SLURM_SEED";
const FILE: &str = "nodes.json";
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
DebugFlags=Backfill,Priority,TraceJobs
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

/// The cluster while jobs run.
struct Run {
    cluster: Cluster,
    /// By job and node: GPUs. The daemon forgets them when the job ends.
    gpus: BTreeMap<u32, BTreeMap<String, u32>>,
}

impl Run {
    fn show(&self) -> String {
        self.cluster.output("scontrol", &["-d", "-o", "show", "job"])
    }

    /// Notes the GPUs of running jobs. Returns whether jobs run or complete, or the daemon did not answer.
    fn poll(&mut self) -> bool {
        let show = self.show();
        let running = show.lines().filter(|line| word(line, "JobState=") == "RUNNING");
        for line in running {
            let with_gpus = shares(line).into_iter().filter(|&(_, [_, _, gpus])| gpus > 0);
            let gpus = with_gpus.flat_map(|(nodes, [_, _, gpus])| nodes.into_iter().map(move |node| (node, gpus)));
            self.gpus.insert(job_id(line), gpus.collect());
        }
        show.is_empty() || show.lines().any(|line| ["RUNNING", "COMPLETING"].contains(&word(line, "JobState=")))
    }

    /// Submits the jobs at their times. Returns their numbers, or why they were refused.
    fn submit(&mut self, jobs: &[Wanted], begin: SystemTime) -> Vec<Result<u32, String>> {
        let mut submitted = Vec::new();
        for job in jobs {
            while let Ok(left) = (begin + job.submit).duration_since(SystemTime::now()) {
                self.poll();
                sleep(left.min(PAUSE));
            }
            let mut sbatch = self.cluster.command("sbatch");
            sbatch.args(["--parsable", "-o", "/dev/null", "-D", "/tmp", "--uid", job.user, "-p", job.partitions]);
            sbatch.args(["-t", &(job.limit / 60).to_string(), "--qos", job.qos, &format!("--nice={}", job.nice)]);
            let output = sbatch.args(&job.args).arg(format!("--wrap=exec sleep {}", job.run)).output().unwrap();
            let number = leading_number(&String::from_utf8_lossy(&output.stdout));
            submitted.push(number.ok_or_else(|| String::from_utf8_lossy(&output.stderr).trim().to_string()));
        }
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

/// A number of a request; None if it was not given, for which Slurm has the largest numbers of several widths.
fn given(request: &Request, key: &str) -> Option<u64> {
    let text = request.get(key).unwrap_or_else(|| panic!("no {key} in {request:?}"));
    let end = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
    let number = text[..end].parse().ok();
    number.filter(|number| ![254, 255, 65534, 65535, 4294967294, 4294967295, u64::MAX - 1, u64::MAX].contains(number))
}

/// A job in the form of a record.
fn recorded(job: &Wanted, id: u32, run: &Run, line: &str, request: &Request, t0: i64) -> Value {
    let option = |name: &str| job.args.iter().position(|word| word == name).map(|at| job.args[at + 1].as_str());
    let count = |name: &str| option(name).map_or(0, |value| value.trim_start_matches("gpu:").parse::<u32>().unwrap());
    let mut alloc = BTreeMap::new();
    for (nodes, share) in shares(line) {
        alloc.extend(nodes.into_iter().map(|node| (node, share)));
    }
    for (node, &gpus) in run.gpus.get(&id).into_iter().flatten() {
        alloc.get_mut(node).unwrap_or_else(|| panic!("{node} is not in {line}"))[2] = gpus;
    }
    let tres = word(line, "TRES=");
    let gpus = tres.split_once("gres/gpu=").and_then(|(_, gpus)| leading_number(gpus)).unwrap_or(0);
    let seen: u32 = alloc.values().map(|[_, _, gpus]| gpus).sum();
    assert!(alloc.is_empty() || seen == gpus, "saw {seen} GPUs: {line}");
    let time = |key: &str| (!alloc.is_empty()).then(|| unix_seconds(word(line, key)) as i64 - t0);
    // `2-[3]` nodes.
    let (min_nodes, max_nodes) = request["Nodes"].split_once("-[").unwrap();
    let nodes = |text: &str| leading_number(text).filter(|&nodes| nodes < u32::MAX - 1);
    let per_cpu = request.contains_key("pn_min_memory_cpu");
    let show =
        ["NumNodes", "NumCPUs", "NumTasks", "MinCPUsNode", "TRES"].map(|key| (key, word(line, &format!("{key}="))));
    json!({
        "id": id, "args": job.args, "user": job.user, "part": job.partitions, "qos": job.qos, "nice": job.nice,
        "limit": job.limit, "run": job.run, "submit": unix_seconds(word(line, "SubmitTime=")) as i64 - t0,
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

/// Makes a record of random jobs on a real Slurm with partitions, memory, GPUs and limits: three minutes for 45 jobs.
#[test]
#[ignore = "takes minutes: SHADOWTIME_SLURM_RECORDS=FOLDER cargo test --test suite -- --ignored slurm_node_record::"]
fn record_a_real_slurm_on_nodes() {
    let name = "record_a_real_slurm_on_nodes";
    let Some(folder) = std::env::var_os(FRESH).map(PathBuf::from) else {
        return missing(name, &format!("{FRESH} does not name a folder"));
    };
    let number = |variable: &str| std::env::var(variable).ok().map(|text| text.parse::<u64>().expect(variable));
    let seconds = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let seed = number(SEED).unwrap_or_else(seconds);
    let jobs = random_jobs(seed, number(JOBS).unwrap_or(45) as usize);
    // Not captured by the test runner.
    let _ = writeln!(std::io::stderr(), "{name}: {SEED}={seed}");
    let Some(cluster) = Cluster::start(name, SHAPE) else { return };
    let mut run = Run { cluster, gpus: BTreeMap::new() };
    let t0 = seconds() + 2;
    let submitted = run.submit(&jobs, UNIX_EPOCH + Duration::from_secs(t0));
    run.wait();

    let read = |name: &str| fs::read_to_string(run.cluster.file(name)).unwrap();
    let (show, t0) = (run.show(), t0 as i64);
    let NodeLog { events, requests } = NodeLog::read(&read("log/slurmctld.log"), t0);
    let (mut recorded_jobs, mut refused) = (Vec::new(), Vec::new());
    for (at, (job, number)) in jobs.iter().zip(submitted).enumerate() {
        match number {
            Ok(id) => {
                let line = show.lines().find(|line| job_id(line) == id).unwrap();
                recorded_jobs.push(recorded(job, id, &run, line, &requests[&id], t0));
            }
            Err(message) => refused.push(json!([at + 1, job.args, message])),
        }
    }
    assert_eq!(recorded_jobs.len(), requests.len(), "{refused:?}");
    let without_folder = |text: String| text.replace(run.cluster.file("").to_str().unwrap(), "RUN/");
    let record = json!({
        "name": "nodes", "seed": seed, "t0": t0, "conf": without_folder(read("slurm.conf")),
        "gresconf": without_folder(read("gres.conf")), "topo": "", "accounts": SHAPE.accounts,
        "jobs": recorded_jobs, "events": events, "bad": refused,
    });
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(FILE), record.to_string()).unwrap();
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
