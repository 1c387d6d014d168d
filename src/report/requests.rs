//! Writes what the jobs of a log ask for as CSV, and in words.

use std::io::{self, Write};

use super::rows::CsvRows;
use crate::metrics::{Column, column_list};
use crate::request::{GpusAsked, MemoryAsked, Request};
use crate::text::{counted, grouped};
use crate::trace::{Log, MemoryRange, RequestSurvey, node_text};

/// A job number and its request.
pub type RequestRow<'a> = (i64, &'a Request);

fn some(number: u32) -> Option<u32> {
    (number > 0).then_some(number)
}

fn memory(request: &Request, is_per_node: bool) -> Option<u64> {
    match request.memory {
        MemoryAsked::PerNode(memory) if is_per_node => Some(memory),
        MemoryAsked::PerCpu(memory) if !is_per_node => Some(memory),
        _ => None,
    }
}

fn gpus(request: &Request, is_per_node: bool) -> Option<u32> {
    match request.gpus {
        GpusAsked::PerNode(gpus) if is_per_node => Some(gpus),
        GpusAsked::Total(gpus) if !is_per_node => Some(gpus),
        _ => None,
    }
}

/// The columns of `--requests-out`. What a job does not say is empty.
pub fn request_columns<'a>() -> [Column<RequestRow<'a>>; 15] {
    column_list! {
        |row: RequestRow<'a>|
        key "job" "the job number in the log" row.0;
        count "cpus" "its CPUs, all together" row.1.cpus;
        label "nodes" "its nodes: 4, from 2 to 4 as 2-4, or at least 2 as 2-" node_text(row.1);
        count "tasks" "its tasks, all together" some(row.1.tasks);
        count "tasks_per_node" "its tasks on each node" some(row.1.tasks_per_node);
        count "cpus_per_task" "the CPUs of each task" some(row.1.cpus_per_task);
        count "memory" "its memory on each node, in MB" memory(row.1, true);
        count "memory_per_cpu" "its memory for each CPU, in MB" memory(row.1, false);
        count "gpus" "its GPUs, all together" gpus(row.1, false);
        count "gpus_per_node" "its GPUs on each node" gpus(row.1, true);
        label "constraint" "the features that its nodes must have" row.1.constraint.clone();
        label "exclusive" "1 if no other job may be on its nodes" row.1.exclusive.then_some(1u32);
        label "partition" "the partitions that it may run in, in the order in which they are tried" row.1.partitions.join(",");
        label "qos" "its quality of service" row.1.qos.clone();
        label "account" "the account that it is charged to" row.1.account.clone();
    }
}

/// Writes the requests of a log, one row per job that has one.
pub fn write_requests(out: &mut dyn Write, log: &Log) -> io::Result<()> {
    let columns = request_columns();
    let mut lines = CsvRows::begin(out, &[], &columns)?;
    let requests =
        log.records.iter().enumerate().filter_map(|(at, record)| Some((record.number, log.requests.get(at)?)));
    requests.into_iter().try_for_each(|row| lines.row(&[], &row))
}

/// What the jobs ask for: what it is, and how much.
pub fn requests_in_words(survey: &RequestSurvey) -> Vec<(&'static str, String)> {
    let jobs = |count: u64| counted(count, "job");
    let memory = |range: MemoryRange| {
        format!("{}, median {} MB, largest {} MB", jobs(range.jobs), grouped(range.median), grouped(range.largest))
    };
    let number = |count: usize| (count > 0).then(|| grouped(count as u64));
    let some = |count: u64, words: String| (count > 0).then_some(words);
    let gpus = format!("{}, {} in all, most {}", jobs(survey.gpu_jobs), grouped(survey.gpus), grouped(survey.gpus_max));
    let constraints = format!("{}, {} different", jobs(survey.constraint_jobs), grouped(survey.constraints as u64));
    let nodes = format!("{}, most {}", jobs(survey.node_jobs), grouped(survey.nodes_max.into()));
    let all = [
        ("jobs", some(survey.jobs, grouped(survey.jobs))),
        ("nodes", some(survey.node_jobs, nodes)),
        ("memory per node", survey.memory_per_node.map(memory)),
        ("memory per CPU", survey.memory_per_cpu.map(memory)),
        ("GPUs", some(survey.gpu_jobs, gpus)),
        ("constraints", some(survey.constraint_jobs, constraints)),
        ("exclusive", some(survey.exclusive_jobs, jobs(survey.exclusive_jobs))),
        ("partitions", number(survey.partitions)),
        ("QOS", number(survey.qos)),
        ("accounts", number(survey.accounts)),
    ];
    all.into_iter().filter_map(|(what, words)| Some((what, words?))).collect()
}
