//! The lines between a simulation and the program behind `exec`.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};

use super::LONGEST;
use crate::job::{JobId, Submission};
use crate::predict::board::Board;
use crate::predict::predictor::RunFacts;
use crate::request::{GpusAsked, MemoryAsked, Request, Requests};
use crate::time::{Seconds, Time};
use crate::trace::{WideNumbers, node_text};

/// The version of the protocol.
const PROTOCOL: u32 = 1;

/// The events of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EventName {
    Arrival,
    Start,
    Termination,
    Miss,
    Cancellation,
}

impl EventName {
    /// As written in lines.
    fn name(self) -> &'static str {
        match self {
            EventName::Arrival => "arrival",
            EventName::Start => "start",
            EventName::Termination => "termination",
            EventName::Miss => "miss",
            EventName::Cancellation => "cancellation",
        }
    }

    /// For messages.
    pub fn in_words(self) -> &'static str {
        if self == EventName::Miss { "missed deadline" } else { self.name() }
    }
}

/// The id of a job in lines: its number in the workload, counted from 1.
pub fn id(job: JobId) -> u64 {
    u64::from(job.0) + 1
}

/// The job of an id. None if no job can have it.
pub fn job(id: &str) -> Option<JobId> {
    // A number in another form, such as `007`, is not an id.
    let is_plain = id.starts_with(|c: char| ('1'..='9').contains(&c));
    id.parse::<u64>().ok().filter(|_| is_plain).and_then(|id| u32::try_from(id - 1).ok()).map(JobId)
}

/// The first line: what is known before the first event.
pub struct Greeting {
    trace: String,
    procs: u32,
    first_submit: Time,
    unix_start: Option<Time>,
    keys: Vec<(String, String)>,
    /// The numbers of users and other names that do not fit into 32 bits.
    wide: WideNumbers,
    requests: Arc<Requests>,
}

impl Greeting {
    /// A greeting with these keys of the spec, before anything is known of the simulation.
    pub fn new(keys: Vec<(String, String)>) -> Greeting {
        let (trace, wide, requests) = (String::new(), WideNumbers::default(), Arc::default());
        Greeting { trace, procs: 1, first_submit: 0, unix_start: None, keys, wide, requests }
    }

    pub fn set_facts(&mut self, facts: &RunFacts<'_>) {
        self.trace = facts.trace.to_string();
        (self.procs, self.first_submit, self.unix_start) = (facts.procs, facts.first_submit, facts.unix_start);
        (self.wide, self.requests) = (facts.wide.clone(), Arc::clone(facts.requests));
    }

    /// Appends the line.
    pub fn push(&self, line: &mut Vec<u8>) {
        #[derive(Serialize)]
        struct GreetingLine<'a> {
            hello: &'static str,
            protocol: u32,
            trace: &'a str,
            procs: u32,
            first_submit: Time,
            unix_start: Option<Time>,
            keys: serde_json::Map<String, serde_json::Value>,
        }
        let keys = self.keys.iter().map(|(key, value)| (key.clone(), value.as_str().into())).collect();
        let Greeting { trace, procs, first_submit, unix_start, .. } = self;
        let greeting = GreetingLine {
            hello: "shadowtime",
            protocol: PROTOCOL,
            trace,
            procs: *procs,
            first_submit: *first_submit,
            unix_start: *unix_start,
            keys,
        };
        serde_json::to_writer(&mut *line, &greeting).expect("a vector takes every line");
        line.push(b'\n');
    }
}

/// Appends the line of a job's arrival.
pub fn push_arrival(line: &mut Vec<u8>, job: JobId, board: &Board, greeting: &Greeting) {
    let Submission { submit, estimate, procs, user, group, executable, queue, partition } = *board.job(job);
    begin(line, EventName::Arrival, board.now());
    line.extend_from_slice(b",\"job\":{\"id\":\"");
    push_number(line, id(job) as i64);
    line.push(b'"');
    push_fields(line, &[("log_id", board.number(job))]);
    let names = [("user", user), ("group", group), ("executable", executable), ("queue", queue)];
    push_fields(line, &names.map(|(name, code)| (name, greeting.wide.number(code))));
    push_fields(line, &[("partition", greeting.wide.number(partition)), ("procs", procs.into())]);
    push_fields(line, &[("estimate", estimate), ("submit", submit)]);
    if let Some(request) = greeting.requests.get(board.request(job)) {
        line.extend_from_slice(b",\"request\":");
        push_request(line, request);
    }
    line.extend_from_slice(b"}}\n");
}

/// Appends what a job asks for, with the names of the columns of files of requests. What it does not say is left out.
fn push_request(line: &mut Vec<u8>, request: &Request) {
    let mut fields = serde_json::Map::new();
    let mut add = |name: &str, value: Option<serde_json::Value>| {
        fields.extend(value.map(|value| (name.to_string(), value)));
    };
    let some = |number: u32| (number > 0).then(|| number.into());
    let text = |text: &str| (!text.is_empty()).then(|| text.into());
    add("cpus", some(request.cpus));
    add("nodes", text(&node_text(request)));
    add("tasks", some(request.tasks));
    add("tasks_per_node", some(request.tasks_per_node));
    add("cpus_per_task", some(request.cpus_per_task));
    match request.memory {
        MemoryAsked::Unsaid => {}
        MemoryAsked::PerNode(memory) => add("memory", Some(memory.into())),
        MemoryAsked::PerCpu(memory) => add("memory_per_cpu", Some(memory.into())),
    }
    match request.gpus {
        GpusAsked::None => {}
        GpusAsked::Total(gpus) => add("gpus", Some(gpus.into())),
        GpusAsked::PerNode(gpus) => add("gpus_per_node", Some(gpus.into())),
    }
    add("constraint", text(&request.constraint));
    add("exclusive", request.exclusive.then(|| true.into()));
    add("partition", text(&request.partitions.join(",")));
    add("qos", text(&request.qos));
    add("account", text(&request.account));
    add("nice", (request.nice != 0).then(|| request.nice.into()));
    serde_json::to_writer(line, &fields).expect("a vector takes every line");
}

/// Appends the line of any other event, with further fields.
pub fn push_event(line: &mut Vec<u8>, event: EventName, time: Time, job: JobId, fields: &[(&str, i64)]) {
    begin(line, event, time);
    line.extend_from_slice(b",\"id\":\"");
    push_number(line, id(job) as i64);
    line.push(b'"');
    push_fields(line, fields);
    line.extend_from_slice(b"}\n");
}

/// The further fields of a missed deadline.
pub fn fields_of_miss(elapsed: Seconds, prediction: Seconds, misses: u32) -> [(&'static str, i64); 3] {
    [("elapsed", elapsed), ("prediction", prediction), ("misses", misses.into())]
}

fn begin(line: &mut Vec<u8>, event: EventName, time: Time) {
    line.extend_from_slice(b"{\"event\":\"");
    line.extend_from_slice(event.name().as_bytes());
    line.push(b'"');
    push_fields(line, &[("time", time)]);
}

fn push_fields(line: &mut Vec<u8>, fields: &[(&str, i64)]) {
    for (name, value) in fields {
        line.extend_from_slice(b",\"");
        line.extend_from_slice(name.as_bytes());
        line.extend_from_slice(b"\":");
        push_number(line, *value);
    }
}

fn push_number(line: &mut Vec<u8>, number: i64) {
    line.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// How a program answers the greeting.
#[derive(Debug, Deserialize)]
pub struct Introduction {
    /// The program's name for its predictor. It has no effect, but a program without one has probably not understood.
    #[serde(rename = "name")]
    _name: String,
    /// What tells versions of the program apart.
    #[serde(default)]
    pub version: Option<String>,
    events: Vec<EventName>,
}

impl Introduction {
    pub fn parse(line: &[u8]) -> Result<Introduction, String> {
        const FORM: &str = r#"{"name":"mine","version":"1","events":["arrival","termination"]}"#;
        let introduction: Introduction = read(line).map_err(|why| {
            format!("{why}; it should be like {FORM} (standard output is for answers only, messages belong to standard error)")
        })?;
        match introduction.wants(EventName::Arrival) {
            true => Ok(introduction),
            false => Err("'arrival' must be one of its events".to_string()),
        }
    }

    pub fn wants(&self, event: EventName) -> bool {
        self.events.contains(&event)
    }
}

/// How a program answers an event.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "struct Answer")]
pub struct ExecAnswer<'a> {
    /// Ids and seconds, in the order of the line.
    #[serde(borrow, default, rename = "predict", deserialize_with = "predictions")]
    pub predictions: Vec<(Cow<'a, str>, Seconds)>,
}

impl<'a> ExecAnswer<'a> {
    pub fn parse(line: &'a [u8]) -> Result<ExecAnswer<'a>, String> {
        read(line).map_err(|why| format!(r#"{why}; it should be like {{"predict":{{"17":3600}}}} or {{}}"#))
    }
}

/// Reads a line that is a JSON object.
fn read<'a, T: Deserialize<'a>>(line: &'a [u8]) -> Result<T, String> {
    // The fields of a struct could also be read from an array.
    if line.trim_ascii_start().starts_with(b"[") {
        return Err("this is an array".to_string());
    }
    // The number of the line is always 1.
    serde_json::from_slice(line).map_err(|error| error.to_string().replace(" at line 1 column", " at column"))
}

fn predictions<'a, D: Deserializer<'a>>(deserializer: D) -> Result<Vec<(Cow<'a, str>, Seconds)>, D::Error> {
    struct Predictions;

    impl<'a> Visitor<'a> for Predictions {
        type Value = Vec<(Cow<'a, str>, Seconds)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("ids of jobs with their predictions")
        }

        fn visit_map<M: MapAccess<'a>>(self, mut map: M) -> Result<Self::Value, M::Error> {
            let mut predictions = Vec::new();
            while let Some((Id(id), Prediction(seconds))) = map.next_entry()? {
                predictions.push((id, seconds));
            }
            Ok(predictions)
        }
    }

    deserializer.deserialize_map(Predictions)
}

#[derive(Deserialize)]
struct Id<'a>(#[serde(borrow)] Cow<'a, str>);

/// A number of seconds that can be a prediction.
struct Prediction(Seconds);

impl<'a> Deserialize<'a> for Prediction {
    fn deserialize<D: Deserializer<'a>>(deserializer: D) -> Result<Self, D::Error> {
        struct Whole;

        impl Visitor<'_> for Whole {
            type Value = Prediction;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a prediction, which is a whole number of seconds from 1 to {LONGEST}")
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Prediction, E> {
                match (1..=LONGEST).contains(&number) {
                    true => Ok(Prediction(number)),
                    false => Err(E::invalid_value(de::Unexpected::Signed(number), &self)),
                }
            }

            /// Languages with one kind of numbers write 3600.0.
            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Prediction, E> {
                match number.fract() == 0.0 && (1.0..=LONGEST as f64).contains(&number) {
                    true => Ok(Prediction(number as Seconds)),
                    false => Err(E::invalid_value(de::Unexpected::Float(number), &self)),
                }
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Prediction, E> {
                self.visit_i64(i64::try_from(number).unwrap_or(i64::MAX))
            }
        }

        deserializer.deserialize_i64(Whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predict::board::{BoardKeeper, InLog};

    #[test]
    fn events_are_lines_of_json() {
        let mut wide = WideNumbers::default();
        let mut requests = Requests::default();
        let (memory, gpus) = (MemoryAsked::PerCpu(2000), GpusAsked::Total(2));
        let request = Request { cpus: 16, min_nodes: 2, memory, gpus, qos: "a\"b".into(), ..Request::default() };
        let request = requests.intern(request);
        let mut keeper = BoardKeeper::default();
        keeper.set_now(7);
        let job = Submission { user: wide.code(1 << 40), queue: 3, ..Submission::new(7, 16, 3600) };
        let id = keeper.arrive_from_log(job, InLog { number: 123, request });
        let other = keeper.arrive(job);
        let facts = RunFacts {
            trace: "x\n",
            procs: 4,
            first_submit: -1,
            unix_start: Some(9),
            wide: &wide,
            requests: &Arc::new(requests),
        };
        let mut greeting = Greeting::new(vec![("size".to_string(), "a\"b".to_string())]);
        greeting.set_facts(&facts);
        let mut line = Vec::new();
        push_arrival(&mut line, id, keeper.board(), &greeting);
        push_arrival(&mut line, other, keeper.board(), &greeting);
        push_event(&mut line, EventName::Start, 8, id, &[]);
        push_event(&mut line, EventName::Termination, 9, JobId(u32::MAX - 1), &[("runtime", 1)]);
        assert_eq!(
            String::from_utf8(line).unwrap(),
            "{\"event\":\"arrival\",\"time\":7,\"job\":{\"id\":\"1\",\"log_id\":123,\"user\":1099511627776,\"group\":-1,\
             \"executable\":-1,\"queue\":3,\"partition\":-1,\"procs\":16,\"estimate\":3600,\"submit\":7,\
             \"request\":{\"cpus\":16,\"gpus\":2,\"memory_per_cpu\":2000,\"nodes\":\"2-\",\"qos\":\"a\\\"b\"}}}\n\
             {\"event\":\"arrival\",\"time\":7,\"job\":{\"id\":\"2\",\"log_id\":-1,\"user\":1099511627776,\"group\":-1,\
             \"executable\":-1,\"queue\":3,\"partition\":-1,\"procs\":16,\"estimate\":3600,\"submit\":7}}\n\
             {\"event\":\"start\",\"time\":8,\"id\":\"1\"}\n\
             {\"event\":\"termination\",\"time\":9,\"id\":\"4294967295\",\"runtime\":1}\n"
        );
        let mut line = Vec::new();
        greeting.push(&mut line);
        assert_eq!(
            String::from_utf8(line).unwrap(),
            "{\"hello\":\"shadowtime\",\"protocol\":1,\"trace\":\"x\\n\",\"procs\":4,\"first_submit\":-1,\"unix_start\":9,\
             \"keys\":{\"size\":\"a\\\"b\"}}\n"
        );
    }

    #[test]
    fn ids_are_numbers_from_1_and_nothing_else() {
        for job_id in [0, 7, u32::MAX - 1] {
            assert_eq!(job(&id(JobId(job_id)).to_string()), Some(JobId(job_id)));
        }
        for text in ["", "0", "01", "+1", "-1", "1 ", "x", "4294967297", "99999999999999999999"] {
            assert_eq!(job(text), None, "{text}");
        }
    }

    #[test]
    fn answers_are_predictions_in_their_order() {
        let parse = |line: &str| ExecAnswer::parse(line.as_bytes()).map(|answer| format!("{:?}", answer.predictions));
        assert_eq!(
            parse(r#" { "predict" : {"2":5,"1":9007199254740992} } "#).unwrap(),
            r#"[("2", 5), ("1", 9007199254740992)]"#
        );
        assert_eq!(parse("{}").unwrap(), "[]");
        assert_eq!(parse(r#"{"predict":{"1":3600.0}}"#).unwrap(), r#"[("1", 3600)]"#);
        for (line, message) in [
            ("", "EOF"),
            ("5", "expected struct Answer"),
            (r#" [{"1":5}]"#, "this is an array"),
            (r#"{"predict":{"1":0.0}}"#, "floating point `0.0`"),
            ("{}{}", "trailing characters at column 3"),
            (r#"{"predict":{"1":0}}"#, "a whole number of seconds from 1 to 9007199254740992"),
            (r#"{"predict":{"1":9007199254740993}}"#, "a whole number of seconds"),
            (r#"{"predict":{"1":1.5}}"#, "floating point `1.5`"),
            (r#"{"predict":{"1":"5"}}"#, "a whole number of seconds"),
            (r#"{"predict":[5]}"#, "ids of jobs"),
            (r#"{"predicted":{}}"#, "unknown field `predicted`"),
        ] {
            let error = parse(line).unwrap_err();
            assert!(error.contains(message) && error.contains(r#"{"predict":{"17":3600}}"#), "{line}: {error}");
        }
    }

    #[test]
    fn an_introduction_has_a_name_and_arrivals() {
        let parse = |line: &str| Introduction::parse(line.as_bytes());
        let known = parse(r#"{"name":"a","events":["arrival","miss"],"author":"b"}"#).unwrap();
        assert!(known.wants(EventName::Miss) && !known.wants(EventName::Start) && known.version.is_none());
        assert_eq!(parse(r#"{"name":"a","version":"2","events":["arrival"]}"#).unwrap().version.as_deref(), Some("2"));
        for (line, message) in [
            ("{}", "missing field `name`"),
            (r#"["a","1",["arrival"]]"#, "this is an array"),
            (r#"{"name":"a"}"#, "missing field `events`"),
            (r#"{"name":"a","events":["start"]}"#, "'arrival' must be"),
            (r#"{"name":"a","events":["arrivals"]}"#, "unknown variant `arrivals`"),
            (r#"{"name":"a","version":2,"events":["arrival"]}"#, "expected a string"),
        ] {
            let error = parse(line).unwrap_err();
            assert!(error.contains(message), "{line}: {error}");
        }
    }
}
