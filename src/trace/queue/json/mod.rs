//! `squeue --json`, in all shapes that versions of Slurm write it.
//!
//! Slurm 21.08 and 22.05 write plain numbers, and null where there is none. Later versions write most numbers as
//! `{"set": true, "infinite": false, "number": 7}`, and with the option `+complex` again plain ones, with "Infinity". The state
//! is one word up to 23.02 and a list of words later.

mod values;

use std::borrow::Cow;
use std::fmt;
use std::io::{self, BufReader, Read};

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::array::{JobId, Tasks};
use super::collect::{Collector, SlurmJob};
use super::stage::State;
use crate::time::{FOREVER, MINUTE};
use crate::trace::accounting::{Unit, gpus_of_tres, leading_number};
use crate::trace::error::TraceError;
use crate::trace::lines::{RawLines, shorten};
use crate::trace::source::BUFFER;
use values::{Number, Text, Words};

/// Reads all jobs, one at a time: the text of a large queue need not fit into memory.
pub fn read<R: Read>(raw: RawLines<R>, collector: &mut Collector) -> Result<(), TraceError> {
    let name = collector.name().to_string();
    let mut input = serde_json::Deserializer::from_reader(BufReader::with_capacity(BUFFER, raw));
    let read = Top(collector).deserialize(&mut input).and_then(|()| input.end());
    read.map_err(|error| {
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
        TraceError::Format { name: format!("{name}:{line}:{column}"), why: format!("{what}; {advice}") }
    })
}

/// The whole file: an object with a list of jobs, or only the list.
struct Top<'a>(&'a mut Collector);

impl<'de> DeserializeSeed<'de> for Top<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<(), D::Error> {
        input.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Top<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with the list \"jobs\"")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<(), A::Error> {
        Jobs(self.0).visit_seq(seq)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut has_jobs = false;
        let mut errors: Vec<SlurmError> = Vec::new();
        while let Some(key) = map.next_key::<Cow<'_, str>>()? {
            match &*key {
                "jobs" => {
                    map.next_value_seed(Jobs(self.0))?;
                    has_jobs = true;
                }
                "last_update" | "last_backfill" => {
                    if let Some(time) = map.next_value::<Number>()?.time() {
                        self.0.saw(time);
                    }
                }
                "errors" => errors = map.next_value::<Option<Vec<SlurmError>>>()?.unwrap_or_default(),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        // Otherwise a failure of squeue would be an empty queue.
        if let Some(error) = errors.first().filter(|_| self.0.report.rows == 0) {
            let text = [&error.description, &error.error].into_iter().flatten().next();
            let text = text.map_or("without a description".to_string(), |text| format!("\"{}\"", shorten(&text.0)));
            return Err(A::Error::custom(format!("squeue had an error, {text}, and gave no jobs")));
        }
        if !has_jobs {
            return Err(A::Error::custom("it has no list \"jobs\""));
        }
        Ok(())
    }
}

#[derive(Deserialize)]
struct SlurmError {
    description: Option<Text>,
    error: Option<Text>,
}

struct Jobs<'a>(&'a mut Collector);

impl<'de> DeserializeSeed<'de> for Jobs<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<(), D::Error> {
        input.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Jobs<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of jobs")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while let Some(job) = seq.next_element::<Job>()? {
            job.collect(self.0).map_err(A::Error::custom)?;
        }
        Ok(())
    }
}

/// The keys of a job that are used.
#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct Job {
    job_id: Number,
    array_job_id: Number,
    array_task_id: Number,
    array_task_string: Option<Text>,
    het_job_id: Number,
    het_job_offset: Number,
    job_state: Words,
    state_reason: Option<Text>,
    state_description: Option<Text>,
    hold: Option<bool>,
    priority: Number,
    submit_time: Number,
    eligible_time: Number,
    start_time: Number,
    suspend_time: Number,
    last_sched_evaluation: Number,
    cpus: Number,
    node_count: Number,
    tres_req_str: Option<Text>,
    tres_alloc_str: Option<Text>,
    /// In minutes.
    time_limit: Number,
    user_name: Option<Text>,
    user_id: Number,
    account: Option<Text>,
    qos: Option<Text>,
    partition: Option<Text>,
    name: Option<Text>,
}

impl Job {
    fn collect(&self, collector: &mut Collector) -> Result<(), String> {
        let number = self.job_id.positive().ok_or("a job without a \"job_id\"")?;
        let missing = |key: &str| format!("job {number} has no \"{key}\"");
        let (array, array_tasks) = (self.array_job_id.positive(), text(&self.array_task_string));
        let id = match (array, self.array_task_id.get(), self.het_job_id.positive()) {
            (Some(array), _, _) if !array_tasks.is_empty() => {
                let list = std::str::from_utf8(array_tasks).ok();
                let tasks = list.and_then(|list| Tasks::parse(list, true)).ok_or_else(|| {
                    let list = shorten(array_tasks);
                    format!("job {number}: array_task_string is not a list such as 1-5,7: \"{list}\"")
                })?;
                JobId::Array(array.to_string().into(), tasks)
            }
            (Some(array), Some(task), _) => JobId::One(format!("{array}_{task}").into()),
            (_, _, Some(first)) => JobId::One(format!("{first}+{}", self.het_job_offset.get().unwrap_or(0)).into()),
            _ => JobId::One(number.to_string().into()),
        };
        let state_text = self.job_state.0.first().ok_or_else(|| missing("job_state"))?;
        let tres = |list: fn(&[u8]) -> Option<i64>| {
            let lists = [&self.tres_alloc_str, &self.tres_req_str];
            lists.into_iter().find_map(|text| list(&text.as_ref()?.0).filter(|&count| count > 0))
        };
        let procs = match collector.reading.unit {
            Unit::Cpus => self.cpus.positive().or_else(|| tres(cpus_of_tres)),
            Unit::Nodes => self.node_count.positive(),
            Unit::Gpus => tres(gpus_of_tres),
        };
        // These lie in the past for every job.
        for time in [&self.suspend_time, &self.last_sched_evaluation].into_iter().filter_map(Number::time) {
            collector.saw(time);
        }
        let user_id = self.user_id.get().map(|id| id.to_string()).unwrap_or_default();
        let user = text(&self.user_name);
        let reason = text(&self.state_description);
        let is_limited = |minutes: &i64| *minutes <= FOREVER / MINUTE;
        collector.slurm_job(&SlurmJob {
            id,
            state: State::of(&self.job_state.0),
            state_text: state_text.as_bytes(),
            // As `squeue` prints it.
            reason: if reason.is_empty() { text(&self.state_reason) } else { reason },
            // A priority of 0 is how Slurm holds a job.
            on_hold: self.hold == Some(true) || self.priority.get() == Some(0),
            submit: self.submit_time.time().ok_or_else(|| missing("submit_time"))?,
            eligible: self.eligible_time.time(),
            start: self.start_time.time(),
            elapsed: None,
            procs: procs.unwrap_or(0),
            estimate: self.time_limit.positive().filter(is_limited).map(|minutes| minutes * MINUTE),
            names: [
                if user.is_empty() { user_id.as_bytes() } else { user },
                text(&self.account),
                text(&self.name),
                text(&self.qos),
                text(&self.partition),
            ],
        });
        Ok(())
    }
}

/// The cpus of a list such as `cpu=4,mem=8G,node=1`.
fn cpus_of_tres(list: &[u8]) -> Option<i64> {
    list.split(|&byte| byte == b',').find_map(|item| leading_number(item.strip_prefix(b"cpu=")?))
}

/// The bytes of a text; empty if there is none.
fn text(text: &Option<Text>) -> &[u8] {
    text.as_ref().map_or(b"", |text| &text.0)
}
