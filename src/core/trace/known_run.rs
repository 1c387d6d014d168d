//! What is known of a simulation before its first job arrives, and the lines in which programs read of its jobs.

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value};

use super::ids::{LogId, LogIds};
use super::requests::{REQUEST_FIELDS, Said};
use super::wide::WideNumbers;
use super::workload::Workload;
use crate::job::{ArrivalNumber, InLog, Submission};
use crate::program::ProgramSpec;
use crate::program::json::{PROTOCOL, push_fields, push_id, push_number};
use crate::request::{Request, RequestId, Requests};
use crate::time::Time;

/// What is known of a simulation before its first job arrives.
#[derive(Clone, Debug)]
pub struct RunFacts {
    /// The log's name in results.
    pub trace: String,
    /// The processors of the machine.
    pub procs: u32,
    /// The submit time of the first job.
    pub first_submit: Time,
    /// The Unix time of the instant 0. None if the log does not say it.
    pub unix_start: Option<Time>,
    /// The numbers of users and other names that do not fit into the 32 bits of a [`Submission`].
    pub wide: WideNumbers,
    /// The ids of the jobs in the log.
    pub ids: Arc<LogIds>,
    /// What jobs ask of a machine of nodes.
    pub requests: Arc<Requests>,
}

/// Nothing is known.
impl Default for RunFacts {
    fn default() -> RunFacts {
        RunFacts { procs: 1, ..RunFacts::of(&Workload::default()) }
    }
}

impl RunFacts {
    /// The facts of a workload.
    pub fn of(workload: &Workload) -> RunFacts {
        let Workload { ref label, procs, ref jobs, unix_start, ref wide, ref ids, ref requests, .. } = *workload;
        let (trace, wide, ids, requests) = (label.clone(), wide.clone(), Arc::clone(ids), Arc::clone(requests));
        let first_submit = jobs.first().map_or(0, |job| job.submission.submit);
        RunFacts { trace, procs, first_submit, unix_start, wide, ids, requests }
    }

    /// The line that greets a program. Only a scheduler is told its machine, null for a pool of processors, and the factor for
    /// predictions.
    pub(crate) fn greeting(&self, program: &ProgramSpec, scheduler: Option<(Value, f64)>) -> Vec<u8> {
        #[derive(Serialize)]
        struct GreetingLine<'a> {
            hello: &'static str,
            protocol: u32,
            #[serde(skip_serializing_if = "Option::is_none")]
            role: Option<&'static str>,
            trace: &'a str,
            procs: u32,
            #[serde(skip_serializing_if = "Option::is_none")]
            machine: Option<Value>,
            first_submit: Time,
            unix_start: Option<Time>,
            #[serde(skip_serializing_if = "Option::is_none")]
            inflate: Option<f64>,
            keys: Map<String, Value>,
        }
        let RunFacts { ref trace, procs, first_submit, unix_start, .. } = *self;
        let (hello, protocol, keys) = ("shadowtime", PROTOCOL, program.keys_as_json());
        let role = scheduler.is_some().then_some("scheduler");
        let (machine, inflate) = scheduler.unzip();
        let greeting =
            GreetingLine { hello, protocol, role, trace, procs, machine, first_submit, unix_start, inflate, keys };
        let mut line = serde_json::to_vec(&greeting).expect("a vector takes every line");
        line.push(b'\n');
        line
    }

    /// Appends a job as an object that is not closed yet.
    pub(crate) fn push_job(&self, line: &mut Vec<u8>, arrival: ArrivalNumber, job: &Submission, in_log: InLog) {
        let Submission { submit, estimate, procs, user, group, executable, queue, partition } = *job;
        line.extend_from_slice(b"{\"id\":");
        push_id(line, arrival);
        line.extend_from_slice(b",\"log_id\":");
        match self.ids.of(in_log.record, in_log.number) {
            LogId::Number(number) => push_number(line, number),
            LogId::Text(text) => serde_json::to_writer(&mut *line, &text).expect("a vector takes every line"),
        }
        let name = |code| self.wide.number(code);
        push_fields(
            line,
            &[
                ("user", name(user)),
                ("group", name(group)),
                ("executable", name(executable)),
                ("queue", name(queue)),
                ("partition", name(partition)),
                ("procs", procs.into()),
                ("estimate", estimate),
                ("submit", submit),
            ],
        );
    }

    /// Appends the field with what a job asks for, if it says more than a number of processors.
    pub(crate) fn push_request(&self, line: &mut Vec<u8>, request: RequestId) {
        if let Some(request) = self.requests.get(request) {
            line.extend_from_slice(b",\"request\":");
            push_request(line, request);
        }
    }
}

/// Appends what a job asks for, with the names of the columns of files of requests. What it does not say is left out.
fn push_request(line: &mut Vec<u8>, request: &Request) {
    let said = REQUEST_FIELDS.iter().filter_map(|field| {
        let value = match field.get(request) {
            Said::Nothing => return None,
            Said::Amount(amount) => amount.into(),
            Said::Yes => true.into(),
            Said::Text(text) => text.into(),
        };
        Some((field.name.to_string(), value))
    });
    let cpus = (request.cpus > 0).then(|| ("cpus".to_string(), request.cpus.into()));
    let fields: Map<String, Value> = cpus.into_iter().chain(said).collect();
    serde_json::to_writer(line, &fields).expect("a vector takes every line");
}
