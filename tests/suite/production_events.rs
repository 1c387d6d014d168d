//! The events of a simulation as lines of `sim predict`, with the answers that its predictions make.

use std::collections::{BTreeMap, HashMap};

use shadowtime::engine::{EngineOptions, Event, Observer, Occasion, PredictionMade};
use shadowtime::experiment::Setting;
use shadowtime::job::{JobId, Submission};
use shadowtime::schedule::Machine;
use shadowtime::trace::Workload;

/// A line and the line that answers it.
pub type Exchange = (String, String);

/// An event in the order of the engine.
struct Seen {
    kind: Occasion,
    time: i64,
    job: JobId,
    line: String,
}

#[derive(Default)]
struct Stream(Vec<Seen>);

impl Stream {
    fn push(&mut self, kind: Occasion, time: i64, job: JobId, rest: String) {
        let line = format!(r#"{{"event":"{}","time":{time},{rest}}}"#, kind.name());
        self.0.push(Seen { kind, time, job, line });
    }
}

fn id(job: JobId) -> String {
    format!("{}.host", job.0)
}

impl Observer for Stream {
    fn on(&mut self, time: i64, event: &Event<'_>, _machine: &Machine) {
        match event {
            Event::Arrival(arrival) => {
                let Submission { submit, estimate, procs, user, group, executable, queue, partition } =
                    *arrival.submission;
                // A text or a number: both mean the same.
                let rest = format!(
                    r#""job":{{"id":"{}","log_id":7,"user":{user},"group":"{group}","executable":{executable},"queue":"{queue}","partition":{partition},"procs":{procs},"estimate":{estimate},"submit":{submit}}}"#,
                    id(arrival.job.id)
                );
                self.push(Occasion::Arrival, time, arrival.job.id, rest);
            }
            Event::Start(start) => {
                self.push(Occasion::Start, time, start.job.id, format!(r#""id":"{}""#, id(start.job.id)));
            }
            Event::Miss(miss) => {
                let (job, elapsed, misses) = (id(miss.job.id), miss.prediction, miss.misses);
                let rest = format!(r#""id":"{job}","elapsed":{elapsed},"misses":{misses}"#);
                self.push(Occasion::Miss, time, miss.job.id, rest);
            }
            Event::End(end) => {
                // Half of them without a runtime, which is then the time since the start.
                let mut rest = format!(r#""id":"{}""#, id(end.job.id));
                if end.job.id.0.is_multiple_of(2) {
                    rest.push_str(&format!(r#","runtime":{}"#, end.runtime));
                }
                self.push(Occasion::Termination, time, end.job.id, rest);
            }
            Event::Cancellation(cancellation) => {
                let rest = format!(r#""id":"{}""#, id(cancellation.job.id));
                self.push(Occasion::Cancellation, time, cancellation.job.id, rest);
            }
            _ => {}
        }
    }
}

/// The events of a run under a scheduler, with the answers: the predictions of the run that changed since the answer before,
/// in order of arrival. Without `misses` the missed deadlines are not sent.
pub fn exchanges(workload: &Workload, scheduler: &str, predictor: &str, misses: bool) -> Vec<Exchange> {
    let engine = EngineOptions { keep_history: true, ..EngineOptions::default() };
    let setting = Setting { engine, ..Setting::parse(scheduler, predictor).unwrap() };
    let mut stream = Stream::default();
    let record = setting.run(workload, Some(&mut stream), &mut |_| ()).unwrap();
    let mut history = record.history.unwrap().into_iter().peekable();
    let mut reported: HashMap<JobId, i64> = HashMap::new();
    let mut pending: BTreeMap<JobId, i64> = BTreeMap::new();
    let mut all = vec![hello(workload, predictor)];
    for Seen { kind, time, job, line } in stream.0 {
        let is_of_event = |made: &PredictionMade| (made.event, made.time, made.cause) == (kind, time, job);
        while let Some(made) = history.next_if(is_of_event) {
            pending.insert(made.job, made.prediction);
        }
        if kind == Occasion::Miss && !misses {
            continue;
        }
        if matches!(kind, Occasion::Termination | Occasion::Cancellation) {
            pending.remove(&job);
        }
        let mut changed = Vec::new();
        for (job, prediction) in std::mem::take(&mut pending) {
            if reported.insert(job, prediction) != Some(prediction) {
                changed.push(format!(r#""{}":{prediction}"#, id(job)));
            }
        }
        let answer = match changed.is_empty() {
            true => "{}".to_string(),
            false => format!(r#"{{"predict":{{{}}}}}"#, changed.join(",")),
        };
        all.push((line, answer));
    }
    assert!(history.next().is_none(), "predictions without an event");
    all
}

/// The first line of a simulation that uses a program as its predictor.
fn hello(workload: &Workload, predictor: &str) -> Exchange {
    let unix_start = workload.unix_start.map_or("null".to_string(), |start| start.to_string());
    let line = format!(
        r#"{{"hello":"shadowtime","protocol":1,"trace":"x","procs":{},"first_submit":0,"unix_start":{unix_start},"keys":{{}}}}"#,
        workload.procs
    );
    let name = Setting::parse("fcfs", predictor).unwrap().predictor;
    let answer = format!(
        r#"{{"name":"{name}","version":"{}","events":["arrival","start","termination","miss","cancellation"]}}"#,
        env!("CARGO_PKG_VERSION")
    );
    (line, answer)
}
