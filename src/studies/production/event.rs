//! One line of input: an event of the batch system, or the greeting of a simulation.

use std::borrow::Cow;

use serde::de::{Deserialize, Deserializer, Error};
use serde_json::Number;
use serde_json::value::RawValue;

use crate::text::shortened;
use crate::time::{FOREVER, Seconds, Time};

/// The latest time of an event. A time in milliseconds is above it, and so is refused instead of ending the use of all
/// later ones. No job can run for [`FOREVER`] before it.
const LATEST: Time = FOREVER / 2;

/// Something that has happened in the batch system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobEvent<'a> {
    /// When, in seconds.
    pub time: Time,
    /// The job's id in the batch system.
    pub id: Cow<'a, str>,
    /// What has happened to the job.
    pub what: EventKind<'a>,
}

/// What has happened to a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventKind<'a> {
    /// It joined the queue. Its id is unique among the jobs that wait or run.
    Arrival(JobArrival<'a>),
    /// It waited, and started.
    Start,
    /// It ran, and ended. The seconds that it ran; None: the time since its start.
    Termination(Option<Seconds>),
    /// It runs, and has outlived its prediction. Nobody has to send this: it is worked out.
    Miss,
    /// It waited, and was withdrawn.
    Cancellation,
}

/// What is known of a job that joins the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobArrival<'a> {
    /// Its user, group, executable, queue and partition; None if unknown.
    pub names: [Option<Cow<'a, str>>; 5],
    /// The processors that it needs, at least 1.
    pub procs: u32,
    /// The user's estimate, in seconds, at least 1.
    pub estimate: Seconds,
    /// When it was submitted.
    pub submit: Time,
}

/// A line of input.
#[derive(Debug)]
pub(super) enum EventLine<'a> {
    /// The first line of a simulation that uses this program as its predictor.
    Hello {
        unix_start: Time,
    },
    Event(JobEvent<'a>),
}

/// The names of an arriving job, in the order of [`JobArrival::names`].
const NAMES: [&str; 5] = ["user", "group", "executable", "queue", "partition"];

impl JobEvent<'_> {
    /// Writes it as a line. Two lines with the same meaning are written the same.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let name = match &self.what {
            EventKind::Arrival(_) => "arrival",
            EventKind::Start => "start",
            EventKind::Termination(_) => "termination",
            EventKind::Miss => "miss",
            EventKind::Cancellation => "cancellation",
        };
        let job = if matches!(self.what, EventKind::Arrival(_)) { "\"job\":{" } else { "" };
        out.extend_from_slice(format!("{{\"event\":\"{name}\",\"time\":{},{job}\"id\":", self.time).as_bytes());
        write_text(out, &self.id);
        match &self.what {
            EventKind::Arrival(JobArrival { names, procs, estimate, submit }) => {
                for (field, name) in NAMES.iter().zip(names) {
                    if let Some(name) = name {
                        out.extend_from_slice(format!(",\"{field}\":").as_bytes());
                        write_text(out, name);
                    }
                }
                let rest = format!(",\"procs\":{procs},\"estimate\":{estimate},\"submit\":{submit}}}");
                out.extend_from_slice(rest.as_bytes());
            }
            EventKind::Termination(Some(runtime)) => {
                out.extend_from_slice(format!(",\"runtime\":{runtime}").as_bytes())
            }
            _ => {}
        }
        out.push(b'}');
    }
}

/// Writes a text in quotes.
pub(super) fn write_text(out: &mut Vec<u8>, text: &str) {
    serde_json::to_writer(out, text).expect("memory can be written");
}

/// Reads a line.
///
/// # Errors
/// What is wrong with it, and what would be right.
pub(super) fn parse(line: &[u8]) -> Result<EventLine<'_>, String> {
    const EXAMPLE: &str = r#"{"event":"start","time":1700000000,"id":"1"}"#;
    match line.trim_ascii().first() {
        None => return Err(format!("it is empty: every line is a JSON object such as {EXAMPLE}")),
        // The parser would take the values of an array for the fields.
        Some(b'[') => return Err(format!("it is an array: every line is a JSON object such as {EXAMPLE}")),
        Some(_) => {}
    }
    let raw: RawLine = serde_json::from_slice(line).map_err(|error| in_words(&error))?;
    match (raw.hello, &raw.event) {
        (Some(_), None) => {
            if let Some(protocol) = raw.protocol.map(|number| float(&number)).filter(|protocol| *protocol != 1.0) {
                return Err(format!("protocol {protocol} is unknown: this program speaks protocol 1"));
            }
            let unix_start = raw.unix_start.map_or(Ok(0), |start| time_of(&start, "unix_start"))?;
            Ok(EventLine::Hello { unix_start })
        }
        _ => raw.event().map(EventLine::Event),
    }
}

/// The error without the line, which is always 1.
fn in_words(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let what = text.split(" at line ").next().unwrap_or(&text);
    let what = what.replace("a JSON number", "a number");
    format!("it is not an event in JSON: {what}, at column {}", error.column())
}

/// The fields of all lines. Fields that are not here are ignored.
#[derive(serde::Deserialize)]
#[serde(expecting = "a JSON object with \"event\" and \"time\"")]
struct RawLine<'a> {
    hello: Option<serde::de::IgnoredAny>,
    protocol: Option<Number>,
    unix_start: Option<Number>,
    #[serde(borrow)]
    event: Option<Name<'a>>,
    time: Option<Number>,
    #[serde(borrow)]
    id: Option<Name<'a>>,
    #[serde(borrow)]
    job: Option<RawJob<'a>>,
    runtime: Option<Number>,
}

#[derive(serde::Deserialize)]
#[serde(expecting = "the job as a JSON object")]
struct RawJob<'a> {
    #[serde(borrow)]
    id: Option<Name<'a>>,
    #[serde(borrow)]
    user: Option<Name<'a>>,
    #[serde(borrow)]
    group: Option<Name<'a>>,
    #[serde(borrow)]
    executable: Option<Name<'a>>,
    #[serde(borrow)]
    queue: Option<Name<'a>>,
    #[serde(borrow)]
    partition: Option<Name<'a>>,
    procs: Option<Number>,
    estimate: Option<Number>,
    submit: Option<Number>,
}

impl<'a> RawLine<'a> {
    fn event(self) -> Result<JobEvent<'a>, String> {
        let kinds = "arrival, start, termination, miss or cancellation";
        let kind = known(self.event).ok_or_else(|| format!("it has no \"event\": give {kinds}"))?;
        let time = self.time.ok_or("it has no \"time\": give the seconds since 1970")?;
        let time = time_of(&time, "time")?;
        let what = match &*kind {
            "arrival" => {
                let job = self
                    .job
                    .ok_or("an arrival needs a \"job\": {\"id\":...,\"user\":...,\"procs\":...,\"estimate\":...}")?;
                return job.arrival(time);
            }
            "start" => EventKind::Start,
            "termination" => {
                let runtime = unless_unknown(self.runtime).map(|runtime| whole(&runtime, "runtime", 0)).transpose()?;
                EventKind::Termination(runtime.map(|runtime| runtime.max(1)))
            }
            "miss" => EventKind::Miss,
            "cancellation" => EventKind::Cancellation,
            other => return Err(format!("the event '{}' is unknown: give {kinds}", shortened(other))),
        };
        let id = known(self.id).ok_or_else(|| format!("a {kind} needs an \"id\": give that of the job's arrival"))?;
        Ok(JobEvent { time, id, what })
    }
}

impl<'a> RawJob<'a> {
    fn arrival(self, time: Time) -> Result<JobEvent<'a>, String> {
        let id = known(self.id).ok_or("the job has no \"id\": give a text that no other job in the system has")?;
        let procs = unless_unknown(self.procs).map_or(Ok(1), |procs| whole(&procs, "procs", 1))?;
        let procs = u32::try_from(procs).map_err(|_| format!("procs is {procs}: give at most {}", u32::MAX))?;
        let estimate = unless_unknown(self.estimate).ok_or(
            "the job has no \"estimate\": give the seconds that the user asked for, or else the most that a job may run",
        )?;
        let submit = unless_unknown(self.submit).map_or(Ok(time), |submit| time_of(&submit, "submit"))?;
        if submit > time {
            return Err(format!("submit is {submit}, after the time of the arrival, {time}: leave it out if in doubt"));
        }
        let names = [self.user, self.group, self.executable, self.queue, self.partition].map(known);
        let what = EventKind::Arrival(JobArrival { names, procs, estimate: whole(&estimate, "estimate", 1)?, submit });
        Ok(JobEvent { time, id, what })
    }
}

/// The text of a name; None if it is one of those that mean an unknown one.
fn known(name: Option<Name<'_>>) -> Option<Cow<'_, str>> {
    name.map(|Name(text)| text).filter(|text| !matches!(&**text, "" | "-1"))
}

/// A text, or a number, which stands for its digits, of which there may be any number.
struct Name<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Name<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let written = <&'de RawValue>::deserialize(from)?.get();
        let inside = written.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
        let is_whole = |text: &str| text.strip_prefix('-').unwrap_or(text).bytes().all(|byte| byte.is_ascii_digit());
        Ok(Name(match inside {
            Some(text) if !text.contains('\\') => Cow::Borrowed(text),
            Some(_) => Cow::Owned(serde_json::from_str(written).map_err(Error::custom)?),
            None if is_whole(written) => Cow::Borrowed(written),
            None => match serde_json::from_str::<f64>(written) {
                Ok(number) => Cow::Owned(number.to_string()),
                Err(_) => {
                    let why = format!("invalid type: {}, expected a text or a number", shortened(written));
                    return Err(Error::custom(why));
                }
            },
        }))
    }
}

/// Every whole number that is accepted is exact as a float.
fn float(number: &Number) -> f64 {
    number.as_f64().unwrap_or(f64::NAN)
}

/// None for -1, which means unknown.
fn unless_unknown(number: Option<Number>) -> Option<Number> {
    number.filter(|number| float(number) != -1.0)
}

/// A whole number of at least `least`. A fraction is dropped.
fn whole(number: &Number, field: &str, least: Seconds) -> Result<Seconds, String> {
    let whole = float(number).floor();
    if whole < least as f64 || whole > FOREVER as f64 {
        return Err(format!("{field} is {}: give a whole number from {least} to {FOREVER}", float(number)));
    }
    Ok(whole as Seconds)
}

fn time_of(number: &Number, field: &str) -> Result<Time, String> {
    let whole = float(number).floor();
    if whole < 0.0 || whole > LATEST as f64 {
        return Err(format!("{field} is {}: give seconds, from 0 to {LATEST}", float(number)));
    }
    Ok(whole as Time)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(line: &str) -> JobEvent<'_> {
        match parse(line.as_bytes()) {
            Ok(EventLine::Event(event)) => event,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn ids_and_names_are_texts_or_numbers() {
        let line = r#"{"event":"arrival","time":12.9,"log_id":3,"job":{"id":17,"user":"al\u0069ce","group":null,
            "executable":"","queue":-1,"partition":5,"procs":null,"estimate":60.5,"new":[1,{}]}}"#;
        let arrival = JobArrival {
            names: [Some("alice".into()), None, None, None, Some("5".into())],
            procs: 1,
            estimate: 60,
            submit: 12,
        };
        assert_eq!(event(line), JobEvent { time: 12, id: "17".into(), what: EventKind::Arrival(arrival) });
        let end = |runtime| JobEvent { time: 9, id: "a b".into(), what: EventKind::Termination(runtime) };
        assert_eq!(event(r#"{"time":9,"event":"termination","id":"a b"}"#), end(None));
        assert_eq!(event(r#"{"time":9,"event":"termination","id":"a b","runtime":-1}"#), end(None));
        assert_eq!(event(r#"{"time":9,"event":"termination","id":"a b","runtime":0}"#), end(Some(1)));
        let miss = r#"{"event":"miss","time":1700000000,"id":"x","elapsed":5,"prediction":5,"misses":1}"#;
        assert_eq!(event(miss), JobEvent { time: 1_700_000_000, id: "x".into(), what: EventKind::Miss });
    }

    #[test]
    fn a_line_that_was_written_is_read_again() {
        let names = [Some("o\"neil\n".into()), None, Some("007".into()), None, Some("größe".into())];
        let arrival = JobArrival { names, procs: 64, estimate: 7200, submit: 40 };
        for what in [
            EventKind::Arrival(arrival),
            EventKind::Start,
            EventKind::Termination(None),
            EventKind::Termination(Some(77)),
            EventKind::Miss,
            EventKind::Cancellation,
        ] {
            let (wanted, mut line) = (JobEvent { time: 50, id: "1[].x".into(), what }, Vec::new());
            wanted.write(&mut line);
            assert!(!line.contains(&b'\n'));
            assert_eq!(event(std::str::from_utf8(&line).unwrap()), wanted);
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_what_is_right() {
        for (line, message) in [
            ("", "it is empty: every line is a JSON object"),
            ("{", "it is not an event in JSON: EOF while parsing an object, at column 1"),
            ("[1]", "it is an array: every line is a JSON object such as {\"event\""),
            ("7", "expected a JSON object with \"event\" and \"time\""),
            ("{}", "it has no \"event\": give arrival, start, termination, miss or cancellation"),
            (r#"{"event":"end","time":3,"id":1}"#, "the event 'end' is unknown: give arrival, start,"),
            (r#"{"event":"start","id":1}"#, "it has no \"time\": give the seconds since 1970"),
            (r#"{"event":"start","time":-2,"id":1}"#, "time is -2: give seconds, from 0 to 34359738368"),
            (r#"{"event":"start","time":1700000000000,"id":1}"#, "time is 1700000000000: give seconds, from 0 to"),
            (r#"{"event":"start","time":"3","id":1}"#, "invalid type: string \"3\", expected a number, at column"),
            (r#"{"event":"start","time":3}"#, "a start needs an \"id\": give that of the job's arrival"),
            (r#"{"event":"start","time":3,"id":true}"#, "invalid type: true, expected a text or a number"),
            (r#"{"event":"arrival","time":3,"id":1}"#, "an arrival needs a \"job\""),
            (r#"{"event":"arrival","time":3,"job":{"estimate":1}}"#, "the job has no \"id\""),
            (r#"{"event":"arrival","time":3,"job":{"id":1}}"#, "the job has no \"estimate\": give the seconds that"),
            (
                r#"{"event":"arrival","time":3,"job":{"id":1,"estimate":0}}"#,
                "estimate is 0: give a whole number from 1",
            ),
            (
                r#"{"event":"arrival","time":3,"job":{"id":1,"estimate":9,"procs":0}}"#,
                "procs is 0: give a whole number",
            ),
            (
                r#"{"event":"arrival","time":3,"job":{"id":1,"estimate":9,"procs":5e9}}"#,
                "procs is 5000000000: give at most",
            ),
            (r#"{"event":"arrival","time":3,"job":{"id":1,"estimate":9,"submit":4}}"#, "submit is 4, after the time"),
            (r#"{"event":"termination","time":3,"id":1,"runtime":-5}"#, "runtime is -5: give a whole number from 0"),
            (r#"{"event":"start","time":3,"time":3,"id":1}"#, "duplicate field `time`"),
            (r#"{"hello":"shadowtime","protocol":2}"#, "protocol 2 is unknown: this program speaks protocol 1"),
        ] {
            let why = parse(line.as_bytes()).map(|line| format!("{line:?}")).unwrap_err();
            assert!(why.contains(message), "{line}: {why}");
        }
    }
}
