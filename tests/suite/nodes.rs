//! Schedulers on nodes: against the pool, and by hand.

use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use shadowtime::engine::EngineOptions;
use shadowtime::machine::{Cluster, Partition};
use shadowtime::trace::{LogNames, PartitionMap, Unit, Workload, put_on_cluster};
use shadowtime_twins::random::check;
use shadowtime_twins::random_nodes::{node, partition};

use crate::support::{Folder, job_of, run_with, sim, sim_ok, starts, workload};

/// One partition of nodes with one CPU each, which has this memory. Each job has all memory of its nodes.
fn single_cpus(count: u32, memory: u64) -> Arc<Cluster> {
    let nodes = (0..count as usize).map(|at| node(at, 1, memory, 0)).collect();
    let all = Partition { memory_per_cpu: Some(memory), ..partition("all", (0..count).collect()) };
    Arc::new(Cluster { nodes, partitions: vec![all], ..Cluster::default() })
}

fn on(workload: &Workload, cluster: &Arc<Cluster>) -> Workload {
    put_on_cluster(workload.clone(), cluster, &PartitionMap::new(), &LogNames::default(), Unit::Cpus).unwrap()
}

fn jobs_of_a_pool() -> impl Strategy<Value = Workload> {
    let job = (0..4i64, 1..=12u32, select(vec![1, 5, 30, 60, 60, 300, 1000]), 1..=4i64, 0..6i32);
    (vec(job, 20..90), 8..=12u32, select(vec![1, 10, 40])).prop_map(|(drafts, procs, tempo)| {
        let (mut submit, mut jobs) = (0, Vec::new());
        for (gap, needs, runtime, factor, user) in drafts {
            submit += gap * tempo;
            jobs.push(job_of(user, submit, needs.min(procs), runtime + gap, runtime * factor));
        }
        workload(procs, &jobs)
    })
}

/// One partition of one-CPU nodes is a pool of processors, for every scheduler and all its keys. With memory, jobs ask for more than
/// CPUs, so that they are scheduled as on any nodes.
#[test]
fn nodes_of_one_cpu_are_a_pool() {
    let orders = || select(vec!["fcfs", "spf", "saf", "lqf", "expf", "wfp3"]);
    let backfilling = (
        select(vec!["easy", "sjbf"]),
        orders(),
        orders(),
        select(vec!["1", "2", "3", "all"]),
        select(vec!["", ",running=estimate"]),
        select(vec!["", ",protect=1m", ",starve=2m", ",protect=0s"]),
    );
    let backfilling = backfilling.prop_map(|(name, queue, scan, reservations, running, more)| {
        format!("{name}:queue={queue},scan={scan},reservations={reservations}{running}{more}")
    });
    let others = select(vec![
        "conservative",
        "conservative:running=estimate",
        "easy",
        "sjbf",
        "fcfs",
        "fcfs:queue=saf",
        "slurm",
        "fair",
        "fair:scan=spf,wide=0.3,urgent=0.4",
        "fair:accounts=users",
    ]);
    let schedulers = prop_oneof![2 => backfilling, 1 => others.prop_map(str::to_string)];
    let predictors = select(vec!["estimate", "perfect", "ruh", "easy++", "kin", "sbh"]);
    let inflate = select(vec![1.0, 1.0, 1.5]);
    check(701, 400, (jobs_of_a_pool(), schedulers, predictors, inflate), |(pool, scheduler, predictor, inflate)| {
        let options = EngineOptions { inflate, ..EngineOptions::default() };
        let expected = run_with(&pool, &scheduler, predictor, options);
        for memory in [0, 1] {
            // On other nodes the passes of `slurm` come only after a change.
            if memory > 0 && scheduler == "slurm" {
                continue;
            }
            let nodes = on(&pool, &single_cpus(pool.procs, memory));
            prop_assert_eq!(run_with(&nodes, &scheduler, predictor, options), expected.clone(), "{}", scheduler);
        }
        Ok(())
    });
}

/// By hand: job 1 has three of four CPUs until 4. The widest job comes first in the queue, which is job 3, for 4 to 6; job 2 has the
/// second reservation. Job 4 is predicted to end at 4, but its estimate is longer. At 3, when it comes, only job 2 has waited for 2 s.
#[test]
fn only_the_first_job_with_a_reservation_is_protected() {
    let exact = |submit, procs, runtime| job_of(1, submit, procs, runtime, runtime);
    let pool = workload(4, &[exact(0, 3, 4), exact(1, 3, 10), exact(3, 4, 2), job_of(1, 3, 1, 1, 9)]);
    for workload in [&pool, &on(&pool, &single_cpus(4, 1))] {
        let protect = |least: &str| {
            let scheduler = format!("easy:queue=lqf,reservations=2,protect={least}");
            starts(&run_with(workload, &scheduler, "perfect", EngineOptions::default()))
        };
        assert_eq!(protect("2s"), [0, 6, 4, 3]);
        assert_eq!(protect("0s"), [0, 6, 4, 6]);
    }
}

// ---- The command line.

const SITE: &str = "[[nodes]]\nname = \"n[1-2]\"\ncpus = 4\nmemory = \"8G\"\n\n[[nodes]]\nname = \"g1\"\ncpus = 4\nmemory = \"8G\"\ngpus = 1\n\n\
    [[partitions]]\nname = \"batch\"\nnodes = \"n[1-2]\"\ndefault = true\n\n[[partitions]]\nname = \"gpu\"\nnodes = \"g1\"\n";

/// The program on the embedded log: nodes of one CPU give the figures of the pool.
#[test]
fn the_embedded_log_on_nodes_of_one_cpu() {
    let folder = Folder::new();
    std::fs::write(folder.path("one.toml"), "[[nodes]]\nname = \"n[1-128]\"\ncpus = 1\n").unwrap();
    for scheduler in ["easy", "sjbf", "fcfs", "easy:reservations=2,running=estimate"] {
        let args = ["--first", "600", "--scheduler", scheduler, "--baseline", "none", "--no-header"];
        let pool = sim_ok(&args);
        let nodes = sim_ok(&[&args[..], &["--machine", &folder.text("one.toml")]].concat());
        let (figures, options) = nodes.trim_end().rsplit_once(',').unwrap();
        let figures_of_pool = pool.trim_end().rsplit_once(',').unwrap().0;
        // The CPUs are used as the processors are. The machine has neither memory nor GPUs.
        let utilization = figures_of_pool.rsplit(',').nth(12).unwrap();
        assert_eq!(figures, format!("{figures_of_pool},{utilization},,"), "{scheduler}");
        assert!(options.contains("machine="), "{options}");
    }
}

/// Two nodes of 4 CPUs and 8 GB. The first two jobs ask for 6 GB on a node each, so that the third, which asks for 4 GB, waits
/// though there are CPUs; the fourth needs little memory and is backfilled. A job with a GPU has the other partition.
#[test]
fn memory_and_partitions_by_hand() {
    let folder = Folder::new();
    std::fs::write(folder.path("site.toml"), SITE).unwrap();
    let log = "submit,wait,run,procs,limit,mem,gpus,part\n0,0,100,1,100,6G,0,batch\n1,0,100,1,100,6G,0,batch\n\
        2,0,50,1,50,4G,0,batch\n3,0,20,2,20,1G,0,batch\n4,0,10,1,10,,1,gpu\n";
    std::fs::write(folder.path("jobs.csv"), log).unwrap();
    let format =
        "csv:submit=submit,wait=wait,run=run,procs=procs,estimate=limit,memory=mem,gpus_per_node=gpus,partition=part";
    let (jobs, machine, out) = (folder.text("jobs.csv"), folder.text("site.toml"), folder.text("out.csv"));
    let args = [&jobs, "--log-format", format, "--scheduler", "easy", "--predictor", "estimate"];
    let more = ["--machine", &machine, "--baseline", "none", "--jobs-out", &out];
    sim_ok(&[&args[..], &more].concat());
    let rows = folder.read("out.csv");
    let names: Vec<&str> = rows.lines().next().unwrap().split(',').collect();
    let at = names.iter().position(|name| *name == "wait").unwrap();
    let waits: Vec<&str> = rows.lines().skip(1).map(|row| row.split(',').nth(at).unwrap()).collect();
    assert_eq!(waits, ["0", "0", "98", "0", "0"], "{rows}");
}

/// The simulated waits of jobs on a machine. Each job is a row of submission, runtime, CPUs and nodes, and of its wait in the log.
fn waits_on(machine: &str, jobs: &str, scheduler: &str) -> Vec<String> {
    let folder = Folder::new();
    let machine = folder.write("site.toml", machine);
    let jobs = folder.write("jobs.csv", format!("submit,run,procs,nodes,wait\n{jobs}"));
    let out = folder.text("out.csv");
    let format = "csv:submit=submit,run=run,procs=procs,nodes=nodes,wait=wait";
    let args = [&jobs, "--log-format", format, "--machine", &machine, "--jobs-out", &out];
    sim_ok(&[&args[..], &["--scheduler", scheduler, "--predictor", "perfect", "--baseline", "none"]].concat());
    let rows = folder.read("out.csv");
    let at = rows.lines().next().unwrap().split(',').position(|name| name == "wait").unwrap();
    rows.lines().skip(1).map(|row| row.split(',').nth(at).unwrap().to_string()).collect()
}

/// Two nodes of 4 CPUs. Packed, the two small jobs share a node, and the third job, which needs all of a node, starts at once.
/// Spread, they have a node each, and the third waits for the first of them to end.
#[test]
fn placement_by_hand() {
    let machine = "[[nodes]]\nname = \"n[1-2]\"\ncpus = 4\n";
    let jobs = "0,100,1,1,0\n1,100,1,1,0\n2,10,4,1,0\n";
    for scheduler in ["easy", "sjbf", "conservative", "fcfs", "fair"] {
        assert_eq!(waits_on(machine, jobs, &format!("{scheduler}:placement=pack")), ["0", "0", "0"]);
        assert_eq!(waits_on(machine, jobs, &format!("{scheduler}:placement=spread")), ["0", "0", "98"]);
    }
    let ran = sim(&["--first", "50", "--scheduler", "easy:placement=spread"]);
    assert!(ran.code == 2 && ran.err.contains("the key placement has no effect on a pool"), "{}", ran.err);
}

/// Two partitions with a node of 4 CPUs each. The third and the fourth job each wait for all of a node. If a job of 4 CPUs is urgent,
/// the third is protected, because it is the next one of the virtual schedule. Then the fifth, which by its prediction would end
/// before the fourth starts, does not start, because by its estimate it would not.
#[test]
fn fair_by_hand() {
    let folder = Folder::new();
    let machine = folder.write(
        "site.toml",
        "[[nodes]]\nname = \"n[1-2]\"\ncpus = 4\n\n[[partitions]]\nname = \"x\"\nnodes = \"n1\"\n\n\
        [[partitions]]\nname = \"y\"\nnodes = \"n2\"\n",
    );
    let jobs = "submit,run,procs,limit,part,wait\n0,10,4,10,x,0\n0,4,3,4,y,0\n1,5,4,5,x,0\n1,2,4,2,y,0\n2,2,1,9,y,0\n";
    let jobs = folder.write("jobs.csv", jobs);
    let format = "csv:submit=submit,run=run,procs=procs,estimate=limit,partition=part,wait=wait";
    let starts = |scheduler: &str| -> Vec<[String; 2]> {
        let args = [&jobs, "--log-format", format, "--machine", &machine, "--scheduler", scheduler];
        let rows = sim_ok(&[&args[..], &["--predictor", "perfect", "--baseline", "none", "--jobs-out", "-"]].concat());
        let names: Vec<&str> = rows.lines().next().unwrap().split(',').collect();
        let at = ["start", "virtual_wait"].map(|wanted| names.iter().position(|name| *name == wanted).unwrap());
        let rows = rows.lines().skip(1).map(|row| row.split(',').map(str::to_string).collect::<Vec<_>>());
        rows.map(|row| at.map(|at| row[at].clone())).collect()
    };
    let by_hand = |starts: [i64; 5]| -> Vec<[String; 2]> {
        starts
            .into_iter()
            .zip([0, 0, 9, 3, 4])
            .map(|(start, wait)| [start, wait].map(|time| time.to_string()))
            .collect()
    };
    assert_eq!(starts("fair:urgent=0.5"), by_hand([0, 0, 10, 4, 6]));
    assert_eq!(starts("fair:urgent=0.6"), by_hand([0, 0, 10, 4, 2]));
}

/// A node of 8 CPUs on 4 cores. Of five jobs of one CPU the fifth finds no core, unless cores are shared. Two jobs of 3 CPUs need 2
/// cores each, so that nothing is left for a third job; the 2 CPUs that they do not use are enough for it if cores are shared.
#[test]
fn whole_cores_by_hand() {
    let machine = |more: &str| format!("{more}[[nodes]]\nname = \"n1\"\ncpus = 8\nthreads_per_core = 2\n");
    let shared = machine("shares_cores = true\n");
    let narrow = "0,100,1,0,0\n1,100,1,0,0\n2,100,1,0,0\n3,100,1,0,0\n4,100,1,0,0\n";
    assert_eq!(waits_on(&machine(""), narrow, "easy"), ["0", "0", "0", "0", "96"]);
    assert_eq!(waits_on(&shared, narrow, "easy"), ["0"; 5]);
    let odd = "0,100,3,0,0\n1,100,3,0,0\n2,100,2,0,0\n";
    assert_eq!(waits_on(&machine(""), odd, "easy"), ["0", "0", "98"]);
    assert_eq!(waits_on(&shared, odd, "easy"), ["0", "0", "0"]);
}

#[test]
fn what_cannot_be_simulated_is_said() {
    let folder = Folder::new();
    std::fs::write(folder.path("site.toml"), SITE).unwrap();
    std::fs::write(
        folder.path("jobs.csv"),
        "submit,wait,run,procs,part\n0,0,100,1,batch\n1,0,100,9,batch\n2,0,9,1,gpu\n",
    )
    .unwrap();
    let format = "csv:submit=submit,wait=wait,run=run,procs=procs,partition=part";
    let (jobs, machine) = (folder.text("jobs.csv"), folder.text("site.toml"));
    let args = [&jobs, "--log-format", format, "--machine", &machine];
    let ran = sim(&args);
    assert!(
        ran.code == 0 && ran.err.contains("the first is job 2: 1 job: it does not fit the idle nodes"),
        "{}",
        ran.err
    );
    let ran = sim(&[&args[..], &["--procs", "8"]].concat());
    assert!(ran.code == 2 && ran.err.contains("--procs has no effect together with --machine"), "{}", ran.err);
    let ran = sim(&[&args[..], &["--scheduler", "slurm"]].concat());
    assert!(ran.code == 0 && !ran.err.contains("does not place jobs on nodes"), "{}", ran.err);
    // A processor is what the unit says, on nodes too.
    let sacct = folder.write(
        "jobs.sacct",
        "JobID|Submit|Start|End|NCPUS|NNodes|State|Partition\n\
         1|2026-01-05T08:00:00|2026-01-05T08:00:00|2026-01-05T08:10:00|4|1|COMPLETED|batch\n",
    );
    let csv = sim_ok(&["--trace", &sacct, "--machine", &machine, "--log-format", "auto:unit=nodes", "--format", "csv"]);
    assert!(csv.lines().nth(1).unwrap().starts_with("jobs.sacct,3,"), "{csv}");
    std::fs::write(folder.path("jobs.csv"), "submit,wait,run,procs,part\n0,0,100,1,long\n").unwrap();
    let ran = sim(&args);
    let why = "the partition 'long', which the machine does not have; it has batch, gpu; --partition-map long=batch";
    assert!(ran.code == 2 && ran.err.contains(why), "{} {}", ran.code, ran.err);
    let ran = sim(&[&args[..], &["--partition-map", "long=gpu"]].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    let ran = sim(&["--machine", &folder.text("none.toml")]);
    assert!(ran.code == 2 && ran.err.contains("none.toml"), "{} {}", ran.code, ran.err);
}

/// Node n1 runs a job with 6 of its 8 GB for another 30 minutes, node n2 for 50. A job of 4 GB that waits needs one of them to
/// end; one of 1 GB can start at once, and one of 100 GB never. As a pool all could start now.
#[test]
fn a_present_queue_on_nodes() {
    let folder = Folder::new();
    let machine = folder.write("site.toml", SITE);
    // All past jobs ran as long as their limits.
    let row = |at: u32| {
        let times = [at, at, at + 1].map(|minute| format!("2026-01-30T00:{minute:02}:00")).join("|");
        format!("{at}|alice|{times}|1|1|00:01:00|COMPLETED|batch\n")
    };
    let past: String = (1..50).map(row).collect();
    let head = "JobID|User|Submit|Start|End|NCPUS|NNodes|Timelimit|State|Partition\n";
    let log = folder.write("log.sacct", format!("{head}{past}"));
    let queue = "JOBID|USER|PARTITION|CPUS|NODES|TIME_LIMIT|TIME|STATE|SUBMIT_TIME|START_TIME|REASON|MIN_MEMORY|NODELIST\n\
        101|bob|batch|1|1|1:00:00|30:00|RUNNING|2026-01-31T11:00:00|2026-01-31T11:30:00|None|6G|n1\n\
        102|bob|batch|1|1|1:00:00|10:00|RUNNING|2026-01-31T11:00:00|2026-01-31T11:50:00|None|6G|n2\n\
        103|bob|batch|1|1|1:00:00|0:00|PENDING|2026-01-31T11:55:00|N/A|Priority|4G|\n\
        104|bob|batch|1|1|10:00|0:00|PENDING|2026-01-31T11:56:00|N/A|Priority|1G|\n\
        105|bob|batch|1|1|10:00|0:00|PENDING|2026-01-31T11:57:00|N/A|Priority|100G|\n";
    let queue = folder.write("queue.txt", queue);
    let args = ["wait", "ask", &log, "--queue", &queue, "--recalibrate", "off", "--draws", "1", "--format", "csv"];
    let waits = |more: &[&str]| {
        let csv = sim_ok(&[&args[..], more].concat());
        let names: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
        let at = |name: &str| names.iter().position(|other| *other == name).unwrap();
        let (job, stage, wait) = (at("job"), at("stage"), at("wait50"));
        let cells = |row: &str| row.split(',').map(str::to_string).collect::<Vec<_>>();
        csv.lines()
            .skip(1)
            .map(cells)
            .map(|row| [&row[job], &row[stage], &row[wait]].map(Clone::clone))
            .collect::<Vec<_>>()
    };
    let on_nodes = waits(&["--machine", &machine]);
    assert_eq!(on_nodes[..2], [["103", "waiting", "1800"], ["104", "waiting", "0"]], "{on_nodes:?}");
    // A virtual schedule begins with the jobs that run now.
    assert_eq!(waits(&["--machine", &machine, "--scheduler", "fair"]), on_nodes);
    assert_eq!(on_nodes[2][0], "105");
    assert!(on_nodes[2][1] != "waiting", "{on_nodes:?}");
    let pool = waits(&["--procs", "8"]);
    assert_eq!(pool.iter().map(|row| row[2].as_str()).collect::<Vec<_>>(), ["0", "0", "0"], "{pool:?}");
    // A job that is asked about: the nodes have 2 GB each now.
    let ask = |job: &str| waits(&["--machine", &machine, "--job", job])[0][2].clone();
    assert_eq!(ask("procs=1,estimate=10m,memory=2G"), "0");
    // When both have ended there is room beside the first that waits.
    assert_eq!(ask("procs=2,estimate=10m,memory=3G,nodes=2"), "3000");
    let ran = sim(&[&args[..], &["--procs", "8", "--job", "procs=1,estimate=10m,memory=2G"]].concat());
    assert!(ran.code == 2 && ran.err.contains("has an effect only with --machine"), "{}", ran.err);
    let ran = sim(&[&args[..], &["--machine", &machine, "--job", "procs=1,estimate=10m,memory=9G"]].concat());
    assert!(ran.code == 2 && ran.err.contains("it does not fit the idle nodes"), "{}", ran.err);
}
