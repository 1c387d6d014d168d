//! Writes what the jobs of a log ask for and wait for as CSV, and the first in words.

use std::borrow::Cow;
use std::io::{self, Write};

use crate::metrics::{Cell, Column, Given, Role, Shown, When, column_list, present};
use crate::request::Request;
use crate::text::{counted, grouped};
use crate::trace::{
    ConditionTexts, Conditions, GivenProcs, Log, MemoryRange, REQUEST_FIELDS, RequestField, RequestSurvey, Said,
};
use shadowtime_core::output::write_rows;
use shadowtime_core::tres::Resource;

/// A job with what it asks for and waits for.
#[derive(Clone, Debug)]
pub struct RequestRow<'a> {
    job: i64,
    request: Cow<'a, Request>,
    conditions: ConditionTexts,
}

/// The column of the field at a place of the table of fields.
fn asked<'a>(at: usize, field: &RequestField) -> Column<RequestRow<'a>> {
    let shown = if field.is_amount { Shown::Count } else { Shown::AsPrinted };
    let column = Column::of(at, (field.name, field.about), shown, |row: &RequestRow<'a>, at| {
        match REQUEST_FIELDS[at].get(&row.request) {
            Said::Nothing => Cell::None,
            Said::Amount(amount) => amount.into(),
            Said::Yes => 1u32.into(),
            Said::Text(text) => text.into(),
        }
    });
    let role = if field.is_amount { Role::Figure } else { Role::Label };
    Column { role, ..column }.only(if field.is_rare { When::Asked } else { When::Always })
}

/// The columns of `--requests-out`. What a job does not say is empty.
pub fn request_columns<'a>() -> Vec<Column<RequestRow<'a>>> {
    let before = column_list! {
        |row: RequestRow<'a>|
        key "job" "the job number in the log" row.job;
        count "cpus" "its CPUs, all together" row.request.cpus;
    };
    let behind = column_list! {
        |row: RequestRow<'a>|
        label "after" "the jobs that it waits for, as for sbatch: afterok:12:13,singleton" row.conditions.after.clone(),
            only(When::WaitsOrArrays);
        label "begin" "when it may start at the earliest, in seconds of the log" row.conditions.begin, only(When::WaitsOrArrays);
        label "hold" "yes if it is held, or when it is released, in seconds of the log" row.conditions.hold.clone(),
            only(When::WaitsOrArrays);
        label "array" "the id of its array" row.conditions.array.clone(), only(When::WaitsOrArrays);
        count "array_limit" "the most tasks of the array that run at once" row.conditions.array_limit,
            only(When::WaitsOrArrays);
    };
    let asked = REQUEST_FIELDS.iter().enumerate().map(|(at, field)| asked(at, field));
    before.into_iter().chain(asked).chain(behind).collect()
}

/// Writes the requests and conditions of a log, one row per job that has some.
pub fn write_requests(out: &mut dyn Write, log: &Log) -> io::Result<()> {
    let arrays = log.conditions.array_places();
    let has_conditions = !(log.conditions.is_empty() && arrays.is_empty());
    let given = Given::of([(When::WaitsOrArrays, has_conditions), (When::Asked, true)]);
    let is_said = |name: &str| {
        let field = RequestField::named(name).filter(|field| field.is_rare);
        field.is_none_or(|field| log.requests.requests.all().iter().any(|request| field.get(request) != Said::Nothing))
    };
    let columns = request_columns();
    let columns: Vec<_> = present(&columns, given).filter(|column| is_said(column.name)).collect();
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
