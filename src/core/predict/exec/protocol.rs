//! The lines between a simulation and the program behind `exec`.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};

use crate::job::{ArrivalNumber, JobId};
use crate::predict::board::Board;
use crate::program::json::{pairs, push_fields, push_id, read, seconds};
use crate::time::{Seconds, Time};
use crate::trace::RunFacts;

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

/// Appends the line of a job's arrival.
pub fn push_arrival(line: &mut Vec<u8>, job: JobId, board: &Board, run: &RunFacts) {
    begin(line, EventName::Arrival, board.now());
    line.extend_from_slice(b",\"job\":");
    let in_log = board.in_log(job);
    run.push_job(line, board.arrival(job), board.job(job), in_log);
    run.push_request(line, in_log.request);
    line.extend_from_slice(b"}}\n");
}

/// Appends the line of any other event, with further fields.
pub fn push_event(line: &mut Vec<u8>, event: EventName, time: Time, job: ArrivalNumber, fields: &[(&str, i64)]) {
    begin(line, event, time);
    line.extend_from_slice(b",\"id\":");
    push_id(line, job);
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

/// How a program answers the greeting.
#[derive(Debug, Deserialize)]
pub struct PredictorIntroduction {
    /// The program's name for its predictor. It has no effect, but a program without one has probably not understood.
    #[serde(rename = "name")]
    _name: String,
    /// What tells versions of the program apart.
    #[serde(default)]
    pub version: Option<String>,
    events: Vec<EventName>,
}

impl PredictorIntroduction {
    pub fn parse(line: &[u8]) -> Result<PredictorIntroduction, String> {
        const FORM: &str = r#"{"name":"mine","version":"1","events":["arrival","termination"]}"#;
        let introduction: PredictorIntroduction = read(line).map_err(|why| {
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

fn predictions<'a, D: Deserializer<'a>>(deserializer: D) -> Result<Vec<(Cow<'a, str>, Seconds)>, D::Error> {
    let pairs = pairs::<Prediction, D>(deserializer, "ids of jobs with their predictions")?;
    Ok(pairs.into_iter().map(|(id, Prediction(seconds))| (id, seconds)).collect())
}

/// A number of seconds that can be a prediction.
struct Prediction(Seconds);

impl<'a> Deserialize<'a> for Prediction {
    fn deserialize<D: Deserializer<'a>>(deserializer: D) -> Result<Self, D::Error> {
        seconds(deserializer, 1, "a prediction").map(Prediction)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    use crate::job::{InLog, Submission};
    use crate::predict::board::BoardKeeper;
    use crate::predict::exec::FORM;
    use crate::program::ProgramSpec;
    use crate::request::{DeviceAsked, MemoryAsked, Request, Requests};
    use crate::spec::Spec;
    use crate::trace::WideNumbers;
    use crate::tres::Resource;

    #[test]
    fn events_are_lines_of_json() {
        let mut wide = WideNumbers::default();
        let mut requests = Requests::default();
        let [device, ..] = Resource::DEVICES;
        let (memory, devices) = (MemoryAsked::PerCpu(2000), DeviceAsked::Total(2).of(device));
        let request = Request { cpus: 16, min_nodes: 2, memory, devices, qos: "a\"b".into(), ..Request::default() };
        let request = requests.intern(request);
        let mut keeper = BoardKeeper::default();
        keeper.set_now(7);
        let job = Submission { user: wide.code(1 << 40), queue: 3, ..Submission::new(7, 16, 3600) };
        // The id in lines is the place in the order of arrival.
        let (id, other) = (JobId(7), JobId(3));
        keeper.arrive_from_log(id, job, InLog { number: 123, request, ..InLog::default() });
        keeper.arrive_from_log(other, job, InLog::default());
        let facts = RunFacts {
            trace: "x\n".to_string(),
            procs: 4,
            first_submit: -1,
            unix_start: Some(9),
            wide,
            ids: Arc::default(),
            requests: Arc::new(requests),
        };
        let spec = Spec::parse(r#"exec:command=x,size="a\"b""#, "predictor", &[&FORM]).unwrap();
        let mut line = Vec::new();
        push_arrival(&mut line, id, keeper.board(), &facts);
        push_arrival(&mut line, other, keeper.board(), &facts);
        push_event(&mut line, EventName::Start, 8, keeper.board().arrival(id), &[]);
        push_event(&mut line, EventName::Termination, 9, ArrivalNumber(u32::MAX - 1), &[("runtime", 1)]);
        assert_eq!(
            String::from_utf8(line).unwrap(),
            "{\"event\":\"arrival\",\"time\":7,\"job\":{\"id\":\"1\",\"log_id\":123,\"user\":1099511627776,\"group\":-1,\
             \"executable\":-1,\"queue\":3,\"partition\":-1,\"procs\":16,\"estimate\":3600,\"submit\":7,\
             \"request\":{\"cpus\":16,\"DEVICES\":2,\"memory_per_cpu\":2000,\"nodes\":\"2-\",\"qos\":\"a\\\"b\"}}}\n\
             {\"event\":\"arrival\",\"time\":7,\"job\":{\"id\":\"2\",\"log_id\":-1,\"user\":1099511627776,\"group\":-1,\
             \"executable\":-1,\"queue\":3,\"partition\":-1,\"procs\":16,\"estimate\":3600,\"submit\":7}}\n\
             {\"event\":\"start\",\"time\":8,\"id\":\"1\"}\n\
             {\"event\":\"termination\",\"time\":9,\"id\":\"4294967295\",\"runtime\":1}\n"
                .replace("DEVICES", device.name())
        );
        assert_eq!(
            String::from_utf8(facts.greeting(&ProgramSpec::of(&spec), None)).unwrap(),
            "{\"hello\":\"shadowtime\",\"protocol\":1,\"trace\":\"x\\n\",\"procs\":4,\"first_submit\":-1,\"unix_start\":9,\
             \"keys\":{\"size\":\"a\\\"b\"}}\n"
        );
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
        let parse = |line: &str| PredictorIntroduction::parse(line.as_bytes());
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
