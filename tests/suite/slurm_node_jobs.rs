//! Random jobs for a record of a real Slurm on nodes.

use std::time::Duration;

use rand::RngExt;
use shadowtime::rng::stream;

/// A job to be submitted.
pub struct Wanted {
    /// After the first.
    pub submit: Duration,
    /// Seconds.
    pub limit: u64,
    pub run: u64,
    pub partitions: &'static str,
    /// The options of sbatch that are its request.
    pub args: Vec<String>,
    pub user: &'static str,
    pub qos: &'static str,
    pub nice: u32,
}

/// Random jobs of all kinds of requests, which come faster than they end.
pub fn random_jobs(seed: u64, count: usize) -> Vec<Wanted> {
    let (mut words, mut times) = (stream(seed, "words"), stream(seed, "times"));
    let mut pick = |list: &'static str| {
        let choices: Vec<&str> = list.split(';').collect();
        choices[words.random_range(0..choices.len())]
    };
    let mut submit = Duration::ZERO;
    let mut job = || {
        let mut partitions = pick("batch;batch;batch;batch;batch;batch;all;all;all;batch,all");
        let mut limit = pick("60;60;60;60;60;120;120;120;180;180").parse::<u64>().unwrap();
        let kind = pick(
            "cpus;cpus;cpus;cpus;cpus;tasks;tasks;tasks;tasks;nodes;nodes;nodes;gpus;gpus;total;memory;memory;\
             feature;whole;range",
        );
        let mut args = match kind {
            "cpus" => format!("-n 1 -c {} {}", pick("1;1;2;3"), pick(";;--mem 500;--mem 1000;--mem 2000;--mem 6000")),
            "tasks" => {
                let memory = pick(";;;--mem-per-cpu 500;--mem-per-cpu 1500;--mem-per-cpu 3000");
                format!("-n {} {memory} {}", pick("2;3;4;6;8;10;12"), pick(";;;;--cpus-per-task 2"))
            }
            "nodes" => {
                let memory = pick(";;;--mem 1000;--mem 3000;--mem 7000");
                format!("-N {} --ntasks-per-node {} {memory}", pick("1;2;3;4"), pick("1;2;3;4"))
            }
            "gpus" => {
                partitions = pick("gpu;all");
                format!("-N {} --gres {} -c {}", pick("1;1;1;2"), pick("gpu:1;gpu:1;gpu:2"), pick("1;2 --mem 6000"))
            }
            "total" => {
                partitions = pick("gpu;all;gpu,all");
                pick("-n 1 --gpus 1;-n 1 --gpus 2;-n 2 --gpus 2;-n 1 --gpus 3;-n 3 --gpus 3").to_string()
            }
            "memory" => format!("-N 1 -c {} --mem {}", pick("1;2;4"), pick("12000;20000")),
            "feature" => format!("-n {} -C {}", pick("1;2;4;6"), pick("std;big;ib;std|big")),
            "whole" => format!("-N {} --exclusive", pick("1;1;2;3")),
            _ => format!("-N {} -n {}", pick("1-3;2-4"), pick("4;6;8")),
        };
        if ["cpus", "tasks", "nodes", "range"].contains(&kind) && pick("yes;no;no;no") == "yes" {
            (limit, partitions) = (60, pick("short;short;debug;short,batch"));
            if partitions == "debug" {
                args = pick("-n 1;-n 2;-n 4").to_string();
            }
        }
        let job = Wanted {
            submit,
            limit,
            // Long enough that the polls below see each job that has GPUs.
            run: times.random_range(5..=limit.min(100) * 6 / 10),
            partitions,
            args: args.split_whitespace().map(str::to_string).collect(),
            user: pick("u1;u1;u1;u1;u2;u2;u3;u3;u4;u4;u5;u6"),
            qos: pick("normal;normal;hi3;lo3"),
            nice: pick("0;0;0;0;0;0;0;0;0;0;0;50;200").parse().unwrap(),
        };
        submit += Duration::from_secs_f64(-1.3 * (1.0 - times.random::<f64>()).ln());
        job
    };
    (0..count).map(|_| job()).collect()
}

/// A short job of the first user that asks for this, after so many seconds.
pub fn job_that_asks(args: &str, partitions: &'static str, seconds: u64) -> Wanted {
    Wanted {
        submit: Duration::from_secs(seconds),
        limit: 60,
        run: 6,
        partitions,
        args: args.split_whitespace().map(str::to_string).collect(),
        user: "u1",
        qos: "normal",
        nice: 0,
    }
}
