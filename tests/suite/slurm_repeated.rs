//! Slurm on nodes: passes that would only find again what the last ones found are not made, and change nothing.

use rand::RngExt;
use shadowtime::rng::stream;

use crate::support::{Folder, sim_ok};

/// Six nodes, two partitions that share two of them, GPUs, and priorities that are recalculated every five minutes.
const CONF: &str = "SchedulerType=sched/backfill\nSchedulerParameters=bf_interval=60,bf_window=600,bf_resolution=60\n\
    SelectType=select/cons_tres\nSelectTypeParameters=CR_Core_Memory\nGresTypes=gpu\nAccountingStorageEnforce=limits\n\
    PriorityType=priority/multifactor\nPriorityWeightAge=1000\nPriorityMaxAge=1-0\nPriorityWeightFairshare=2000\n\
    PriorityWeightJobSize=300\nPriorityWeightPartition=100\n\
    NodeName=n[1-4] CPUs=8 RealMemory=16000\nNodeName=g[1-2] CPUs=8 RealMemory=32000 Gres=gpu:2\n\
    PartitionName=all Nodes=n[1-4],g1 Default=YES MaxTime=1-0\nPartitionName=gpu Nodes=g[1-2] MaxTime=1-0\n";

/// A quality of service that no job has. Its limit is of what was used in the past, so that every pass may find something else, and
/// all of them are made.
const UNUSED: &str = "Name|Priority|GrpTRESMins\nnormal|0|\nunused|0|cpu=999999999\n";

/// Jobs with rare and long waits, on a machine that is full most of the time.
fn log(seed: u64) -> String {
    let mut rng = stream(seed, "jobs");
    let mut below = |most: u64| rng.random_range(0..most);
    let mut text = "id,submit,wait,run,procs,estimate,user,partition,memory,gpus_per_node\n".to_string();
    let mut submit = 0;
    for id in 1..=250 {
        submit += if below(4) == 0 { below(9000) } else { below(60) };
        let estimate = [600, 3600, 4000, 14_400, 40_000][below(5) as usize];
        let run = if below(12) == 0 { estimate + 700 } else { 1 + below(estimate) };
        let (cpus, user) = ([1, 2, 4, 8, 8, 16][below(6) as usize], below(7));
        let memory = [500, 2000, 8000, 15_000][below(4) as usize];
        let (partition, gpus) = if below(5) == 0 { ("gpu", 1 + below(2)) } else { ("all", 0) };
        let gpus = if gpus > 0 { gpus.to_string() } else { String::new() };
        text += &format!("{id},{submit},0,{run},{cpus},{estimate},u{user},{partition},{memory},{gpus}\n");
    }
    text
}

#[test]
fn passes_that_are_not_made_would_have_started_nothing() {
    let columns = "csv:id=id,submit=submit,wait=wait,run=run,procs=procs,estimate=estimate,user=user,partition=partition,memory=memory,gpus_per_node=gpus_per_node";
    for seed in 0..4 {
        let folder = Folder::new();
        let (conf, unused) = (folder.write("slurm.conf", CONF), folder.write("qos.txt", UNUSED));
        let plain = folder.write("plain.txt", UNUSED.replace("cpu=999999999", ""));
        let log = folder.write("log.csv", log(seed));
        for keys in ["", ":running=prediction", ":bf_min_age_reserve=10m"] {
            let scheduler = format!("slurm{keys}");
            let [some, all] = [&plain, &unused].map(|qos| {
                let jobs = folder.text("jobs.csv");
                let site = ["--slurm-conf", &conf, "--associations", qos, "--log-format", columns];
                let run = ["--scheduler", &scheduler, "--predictor", "ruh", "--baseline", "none", "--jobs-out", &jobs];
                sim_ok(&[&[&log[..]], &site[..], &run[..], &["--format", "csv"]].concat());
                std::fs::read_to_string(jobs).unwrap()
            });
            assert!(some == all, "seed {seed}, {scheduler}");
        }
    }
}
