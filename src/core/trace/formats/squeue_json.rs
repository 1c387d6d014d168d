//! `squeue --json`, in all shapes that versions of Slurm write it.
//!
//! Slurm 21.08 and 22.05 write plain numbers, and null where there is none. Later versions write most numbers as
//! `{"set": true, "infinite": false, "number": 7}`, and with the option `+complex` again plain ones, with "Infinity". The state
//! is one word up to 23.02 and a list of words later.

use std::fmt;
use std::io::{self, BufReader};

use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Error, Visitor};
use serde_json::Value;

use super::FormatEntry;
use super::slurm::count_in;
use crate::request::Request;
use crate::time::{FOREVER, MINUTE, Time};
use crate::trace::error::TraceError;
use crate::trace::lines::{RawLines, shorten};
use crate::trace::queue::{PresentRow, SlurmId, SlurmState, SlurmTasks};
use crate::trace::requests::{SlurmAsked, SubmitLine};
use crate::trace::rows::{Collector, JobInRow, Unit, first_line};
use crate::trace::source::BUFFER;

pub const FORMAT: FormatEntry = FormatEntry {
    name: "squeue --json",
    about: "Slurm: squeue --json of any version",
    is_line: |line| line.starts_with(b"{") || line.starts_with(b"["),
    hint: |line| line.starts_with(b"%YAML").then_some("it looks like YAML: use --json"),
    read,
    ..FormatEntry::QUEUE
};

/// Reads all jobs. Only the keys that are used are kept: the text of a large queue need not fit into memory.
fn read(raw: &mut RawLines, collector: &mut Collector<'_>) -> Result<(), TraceError> {
    let name = raw.name().to_string();
    let is_list = first_line(raw).starts_with(b"[");
    let file = match is_list {
        true => QueueFile { jobs: Some(parse(raw)?), ..QueueFile::default() },
        false => parse(raw)?,
    };
    for time in [&file.last_update, &file.last_backfill].into_iter().filter_map(JsonNumber::time) {
        collector.present.saw(time);
    }
    let failed =
        |why: String| TraceError::unusable(&name, format!("{why}; it should be the output of `squeue --json`"));
    // Otherwise a failure of squeue would be an empty queue.
    let has_jobs = file.jobs.as_ref().is_some_and(|jobs| !jobs.is_empty());
    if let Some(error) = file.errors.iter().flatten().next().filter(|_| !has_jobs) {
        let text = [&error.description, &error.error].into_iter().flatten().next();
        let text = text.map_or("without a description".to_string(), |text| format!("\"{}\"", shorten(&text.0)));
        return Err(failed(format!("squeue had an error, {text}, and gave no jobs")));
    }
    let jobs = file.jobs.ok_or_else(|| failed("it has no list \"jobs\"".to_string()))?;
    for (job, at) in jobs.iter().zip(1..) {
        job.collect(at, collector).map_err(failed)?;
    }
    Ok(())
}

/// Reads the whole file.
fn parse<T: DeserializeOwned>(raw: &mut RawLines) -> Result<T, TraceError> {
    let name = raw.name().to_string();
    serde_json::from_reader(BufReader::with_capacity(BUFFER, raw)).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        if error.is_io() {
            return TraceError::Read { name, lines: line as u64, error: io::Error::from(error) };
        }
        let is_cut = error.is_eof();
        // The message ends with the position, which comes first here.
        let message = error.to_string();
        let what = message.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&message);
        let advice = match is_cut {
            true => "the file is incomplete: export the queue again",
            false => "it should be the output of `squeue --json`",
        };
        TraceError::unusable(&format!("{name}:{line}:{column}"), format!("{what}; {advice}"))
    })
}

/// The whole file. It may also be only the list of jobs.
#[derive(Default, Deserialize)]
struct QueueFile {
    jobs: Option<Vec<JsonJob>>,
    #[serde(default)]
    last_update: JsonNumber,
    #[serde(default)]
    last_backfill: JsonNumber,
    errors: Option<Vec<SlurmError>>,
}

#[derive(Deserialize)]
struct SlurmError {
    description: Option<JsonText>,
    error: Option<JsonText>,
}

/// The keys of a job that are used.
#[derive(Default, Deserialize)]
#[serde(default)]
struct JsonJob {
    job_id: JsonNumber,
    array_job_id: JsonNumber,
    array_task_id: JsonNumber,
    array_task_string: Option<JsonText>,
    het_job_id: JsonNumber,
    het_job_offset: JsonNumber,
    job_state: JsonWords,
    state_reason: Option<JsonText>,
    state_description: Option<JsonText>,
    hold: Option<bool>,
    priority: JsonNumber,
    submit_time: JsonNumber,
    eligible_time: JsonNumber,
    start_time: JsonNumber,
    suspend_time: JsonNumber,
    last_sched_evaluation: JsonNumber,
    cpus: JsonNumber,
    node_count: JsonNumber,
    /// The list of its nodes.
    nodes: Option<JsonText>,
    /// In MB.
    memory_per_cpu: JsonNumber,
    memory_per_node: JsonNumber,
    tres_per_node: Option<JsonText>,
    features: Option<JsonText>,
    exclusive: Value,
    nice: JsonNumber,
    tres_req_str: Option<JsonText>,
    tres_alloc_str: Option<JsonText>,
    /// In minutes.
    time_limit: JsonNumber,
    user_name: Option<JsonText>,
    user_id: JsonNumber,
    account: Option<JsonText>,
    qos: Option<JsonText>,
    partition: Option<JsonText>,
    name: Option<JsonText>,
}

impl JsonJob {
    /// Adds the job. `at` is its place in the list, counted from 1.
    fn collect(&self, at: usize, collector: &mut Collector<'_>) -> Result<(), String> {
        let number = self.job_id.positive().ok_or_else(|| format!("job {at} of the list has no \"job_id\""))?;
        let missing = |key: &str| format!("job {number} has no \"{key}\"");
        let (array, array_tasks) = (self.array_job_id.positive(), text(&self.array_task_string));
        let id = match (array, self.array_task_id.get(), self.het_job_id.positive()) {
            (Some(array), _, _) if !array_tasks.is_empty() => {
                let list = std::str::from_utf8(array_tasks).ok();
                let tasks = list.and_then(|list| SlurmTasks::parse(list, true)).ok_or_else(|| {
                    let list = shorten(array_tasks);
                    format!("job {number}: array_task_string is not a list such as 1-5,7: \"{list}\"")
                })?;
                SlurmId::Array(array.to_string().into(), tasks)
            }
            (Some(array), Some(task), _) => SlurmId::One(format!("{array}_{task}").into()),
            (_, _, Some(first)) => SlurmId::One(format!("{first}+{}", self.het_job_offset.get().unwrap_or(0)).into()),
            _ => SlurmId::One(number.to_string().into()),
        };
        let state_text = self.job_state.0.first().ok_or_else(|| missing("job_state"))?;
        let tres = |kind: Unit| {
            let lists = [&self.tres_alloc_str, &self.tres_req_str];
            lists.into_iter().find_map(|text| count_in(&text.as_ref()?.0, kind).filter(|&count| count > 0))
        };
        let procs = match collector.options.reading.unit {
            Unit::Cpus => self.cpus.positive().or_else(|| tres(Unit::Cpus)),
            Unit::Nodes => self.node_count.positive(),
            kind => tres(kind),
        };
        // These lie in the past for every job.
        for time in [&self.suspend_time, &self.last_sched_evaluation].into_iter().filter_map(JsonNumber::time) {
            collector.present.saw(time);
        }
        let user_id = self.user_id.get().map(|id| id.to_string()).unwrap_or_default();
        let user = text(&self.user_name);
        let reason = text(&self.state_description);
        let is_limited = |minutes: &i64| *minutes <= FOREVER / MINUTE;
        collector.present_job(&PresentRow {
            request: self.request(),
            nodes: text(&self.nodes),
            id,
            state: SlurmState::of(&self.job_state.0),
            // As `squeue` prints it.
            reason: if reason.is_empty() { text(&self.state_reason) } else { reason },
            // A priority of 0 is how Slurm holds a job.
            on_hold: self.hold == Some(true) || self.priority.get() == Some(0),
            job: JobInRow {
                submit: self.submit_time.time().ok_or_else(|| missing("submit_time"))?,
                eligible: self.eligible_time.time(),
                start: self.start_time.time(),
                requested: procs.unwrap_or(0),
                estimate: self.time_limit.positive().filter(is_limited).map(|minutes| minutes * MINUTE),
                names: [
                    if user.is_empty() { user_id.as_bytes() } else { user },
                    text(&self.account),
                    text(&self.name),
                    text(&self.qos),
                    text(&self.partition),
                ],
                state: state_text.as_bytes(),
                ..JobInRow::default()
            },
        });
        Ok(())
    }
}

impl JsonJob {
    /// What the job asks for. None if it does not say more than CPUs.
    fn request(&self) -> Option<Request> {
        let count = |number: &JsonNumber| number.positive().map(|count| count.to_string()).unwrap_or_default();
        let (cpus, nodes) = (count(&self.cpus), count(&self.node_count));
        let memory = match (self.memory_per_cpu.positive(), self.memory_per_node.positive()) {
            (Some(memory), _) => format!("{memory}Mc"),
            (None, Some(memory)) => format!("{memory}Mn"),
            (None, None) if self.memory_per_node.get() == Some(0) => "0n".to_string(),
            (None, None) => String::new(),
        };
        let is_true = |value: &Value| value.as_bool() == Some(true) || value.as_str() == Some("true");
        let is_exclusive =
            is_true(&self.exclusive) || self.exclusive.as_array().is_some_and(|all| all.iter().any(is_true));
        let nice = self.nice.get().map(|nice| nice.to_string()).unwrap_or_default();
        let asked = SlurmAsked {
            req_tres: text(&self.tres_req_str),
            req_cpus: cpus.as_bytes(),
            req_mem: memory.as_bytes(),
            req_gres: text(&self.tres_per_node),
            nnodes: nodes.as_bytes(),
            partition: text(&self.partition),
            qos: text(&self.qos),
            account: text(&self.account),
            constraints: text(&self.features),
            submit_line: SubmitLine {
                exclusive: if is_exclusive { b"exclusive" } else { b"" },
                nice: nice.as_bytes(),
                ..SubmitLine::default()
            },
            ..SlurmAsked::default()
        };
        asked.request().ok().flatten()
    }
}

/// The bytes of a text; empty if there is none.
fn text(text: &Option<JsonText>) -> &[u8] {
    text.as_ref().map_or(b"", |text| &text.0)
}

/// A text of any bytes: job names need not be UTF-8.
struct JsonText(Vec<u8>);

impl<'de> Deserialize<'de> for JsonText {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        struct AnyBytes;
        impl Visitor<'_> for AnyBytes {
            type Value = JsonText;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }

            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<JsonText, E> {
                Ok(JsonText(bytes.to_vec()))
            }
        }
        input.deserialize_bytes(AnyBytes)
    }
}

/// One word, or a list of words.
#[derive(Default)]
struct JsonWords(Vec<String>);

impl<'de> Deserialize<'de> for JsonWords {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        match Value::deserialize(input)? {
            Value::String(word) => Ok(JsonWords(vec![word])),
            list => Vec::deserialize(list).map(JsonWords).map_err(D::Error::custom),
        }
    }
}

/// A number. None if it is not set or infinite.
#[derive(Default)]
struct JsonNumber(Option<i64>);

impl JsonNumber {
    fn get(&self) -> Option<i64> {
        self.0
    }

    fn positive(&self) -> Option<i64> {
        self.0.filter(|&number| number > 0)
    }

    /// An instant in Unix seconds. Slurm writes 0 where there is none.
    fn time(&self) -> Option<Time> {
        self.positive().filter(|&time| time <= FOREVER)
    }
}

impl<'de> Deserialize<'de> for JsonNumber {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        number(Value::deserialize(input)?).map(JsonNumber).map_err(D::Error::custom)
    }
}

/// As later versions write a number.
#[derive(Default, Deserialize)]
#[serde(default)]
struct NumberParts {
    set: bool,
    infinite: bool,
    number: JsonNumber,
}

fn number(value: Value) -> Result<Option<i64>, String> {
    // The last values of 32 and of 64 bits mean "infinite" and "not set".
    const LAST: [u64; 4] = [u32::MAX as u64, u32::MAX as u64 - 1, u64::MAX, u64::MAX - 1];
    match value {
        Value::Null => Ok(None),
        Value::Number(number) if number.as_u64().is_some_and(|number| LAST.contains(&number)) => Ok(None),
        Value::Number(number) => {
            let real = number.as_f64().filter(|number| number.is_finite());
            Ok(number.as_i64().or(real.map(|number| number.round() as i64)))
        }
        Value::String(word) if matches!(word.as_str(), "Infinity" | "") => Ok(None),
        Value::String(word) => match word.parse() {
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(format!("\"{}\" is not a number", shorten(word.as_bytes()))),
        },
        other => {
            let parts = NumberParts::deserialize(other).map_err(|error| error.to_string())?;
            Ok(parts.number.get().filter(|_| parts.set && !parts.infinite))
        }
    }
}
