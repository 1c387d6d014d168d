//! Writes what the jobs of a log ask for and wait for as CSV, and the first in words.

use std::borrow::Cow;
use std::io::{self, Write};

use crate::metrics::{Column, Given, Shown, When, column_list, present};
use crate::request::{DeviceAsked, MemoryAsked, Request};
use crate::text::{counted, grouped};
use crate::trace::{ConditionTexts, Conditions, GivenProcs, Log, MemoryRange, RequestSurvey, node_text};
use shadowtime_core::output::write_rows;
use shadowtime_core::tres::{Resource, ResourceColumns};

/// A job with what it asks for and waits for.
#[derive(Clone, Debug)]
pub struct RequestRow<'a> {
    job: i64,
    request: Cow<'a, Request>,
    conditions: ConditionTexts,
}

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

/// What a job asks for of the device at this place of [`Resource::DEVICES`].
fn device(request: &Request, at: usize, is_per_node: bool) -> Option<u32> {
    match request.devices[Resource::DEVICES[at]] {
        DeviceAsked::PerNode(count) if is_per_node => Some(count),
        DeviceAsked::Total(count) if !is_per_node => Some(count),
        _ => None,
    }
}

/// The columns of `--requests-out`. What a job does not say is empty.
pub fn request_columns<'a>() -> Vec<Column<RequestRow<'a>>> {
    let before = column_list! {
        |row: RequestRow<'a>|
        key "job" "the job number in the log" row.job;
        count "cpus" "its CPUs, all together" row.request.cpus;
        label "nodes" "its nodes: 4, from 2 to 4 as 2-4, or at least 2 as 2-" node_text(&row.request);
        count "tasks" "its tasks, all together" some(row.request.tasks);
        count "tasks_per_node" "its tasks on each node" some(row.request.tasks_per_node);
        count "cpus_per_task" "the CPUs of each task" some(row.request.cpus_per_task);
        count "memory" "its memory on each node, in MB; 0 is all of it" memory(&row.request, true);
        count "memory_per_cpu" "its memory for each CPU, in MB" memory(&row.request, false);
    };
    let devices = Resource::DEVICES.into_iter().enumerate().flat_map(|(at, kind)| {
        let ResourceColumns { asked, asked_per_node, .. } = kind.columns();
        [
            Column::of(at, *asked, Shown::Count, |row: &RequestRow<'a>, at| device(&row.request, at, false).into()),
            Column::of(at, *asked_per_node, Shown::Count, |row, at| device(&row.request, at, true).into()),
        ]
    });
    let behind = column_list! {
        |row: RequestRow<'a>|
        label "constraint" "the features that its nodes must have" row.request.constraint.clone();
        label "exclusive" "1 if no other job may be on its nodes" row.request.exclusive.then_some(1u32);
        label "partition" "the partitions that it may run in, in the order in which they are tried" row.request.partitions.join(",");
        label "qos" "its quality of service" row.request.qos.clone();
        label "account" "the account that it is charged to" row.request.account.clone();
        count "nice" "by how much its user lowers its priority" Some(i64::from(row.request.nice)).filter(|nice| *nice != 0);
        label "reservation" "the reservation that it runs in" row.request.reservation.clone(), only(When::Reservations);
        label "no_requeue" "1 if it ends when it is stopped" row.request.no_requeue.then_some(1u32), only(When::NoRequeue);
        label "after" "the jobs that it waits for, as for sbatch: afterok:12:13,singleton" row.conditions.after.clone(),
            only(When::WaitsOrArrays);
        label "begin" "when it may start at the earliest, in seconds of the log" row.conditions.begin, only(When::WaitsOrArrays);
        label "hold" "yes if it is held, or when it is released, in seconds of the log" row.conditions.hold.clone(),
            only(When::WaitsOrArrays);
        label "array" "the id of its array" row.conditions.array.clone(), only(When::WaitsOrArrays);
        count "array_limit" "the most tasks of the array that run at once" row.conditions.array_limit,
            only(When::WaitsOrArrays);
    };
    before.into_iter().chain(devices).chain(behind).collect()
}

/// Writes the requests and conditions of a log, one row per job that has some.
pub fn write_requests(out: &mut dyn Write, log: &Log) -> io::Result<()> {
    let arrays = log.conditions.array_places();
    let has_conditions = !(log.conditions.is_empty() && arrays.is_empty());
    let is_asked = |what: fn(&Request) -> bool| log.requests.requests.all().iter().any(what);
    let given = Given::of([
        (When::WaitsOrArrays, has_conditions),
        (When::Reservations, is_asked(|request| !request.reservation.is_empty())),
        (When::NoRequeue, is_asked(|request| request.no_requeue)),
    ]);
    let columns = request_columns();
    let columns: Vec<_> = present(&columns, given).collect();
    let none = Conditions::default();
    let rows = log.records.iter().enumerate().filter_map(|(at, record)| {
        let (request, conditions) = (log.requests.get(at), log.conditions.get(at));
        let array = arrays.get(&(at as u32)).map(|&array| &log.conditions.arrays[array as usize]);
        if request.is_none() && conditions.is_none() && array.is_none() {
            return None;
        }
        let plain = || Request { cpus: record.requested.max(record.allocated).max(1) as u32, ..Request::default() };
        let row = RequestRow {
            job: record.number,
            request: request.map_or_else(|| Cow::Owned(plain()), Cow::Borrowed),
            conditions: ConditionTexts::of(conditions.unwrap_or(&none), array, record, &log.records),
        };
        Some(([""; 0], row))
    });
    write_rows(out, [], &columns, rows)
}

/// What the jobs were given of the processors that they ask for.
pub fn given_in_words(given: &GivenProcs) -> String {
    let more = match given.more {
        0 => "none has more".to_string(),
        more => format!("{} with more", counted(more, "job")),
    };
    format!("{:.0}% of what {} asked for, {more}", 100.0 * given.ratio, counted(given.jobs, "job"))
}

/// What the jobs ask for: what it is, and how much.
pub fn requests_in_words(survey: &RequestSurvey) -> Vec<(&'static str, String)> {
    let jobs = |count: u64| counted(count, "job");
    let memory = |range: MemoryRange| {
        format!("{}, median {} MB, largest {} MB", jobs(range.jobs), grouped(range.median), grouped(range.largest))
    };
    let number = |count: usize| (count > 0).then(|| grouped(count as u64));
    let some = |count: u64, words: String| (count > 0).then_some(words);
    let devices = Resource::DEVICES.into_iter().map(|kind| {
        let asked = survey.devices[kind];
        let words = format!("{}, {} in all, most {}", jobs(asked.jobs), grouped(asked.all), grouped(asked.largest));
        (kind.many(), some(asked.jobs, words))
    });
    let constraints = format!("{}, {} different", jobs(survey.constraint_jobs), grouped(survey.constraints as u64));
    let nodes = format!("{}, most {}", jobs(survey.node_jobs), grouped(survey.nodes_max.into()));
    let before = [
        ("jobs", some(survey.jobs, grouped(survey.jobs))),
        ("nodes", some(survey.node_jobs, nodes)),
        ("memory per node", survey.memory_per_node.map(memory)),
        ("all memory of nodes", some(survey.all_memory_jobs, jobs(survey.all_memory_jobs))),
        ("memory per CPU", survey.memory_per_cpu.map(memory)),
    ];
    let behind = [
        ("constraints", some(survey.constraint_jobs, constraints)),
        ("exclusive", some(survey.exclusive_jobs, jobs(survey.exclusive_jobs))),
        ("partitions", number(survey.partitions)),
        ("QOS", number(survey.qos)),
        ("accounts", number(survey.accounts)),
    ];
    before.into_iter().chain(devices).chain(behind).filter_map(|(what, words)| Some((what, words?))).collect()
}
