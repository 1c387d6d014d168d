//! The service: answers lines, and keeps the events that it has accepted.

use std::time::SystemTime;

use super::error::{ProductionError, Rejection};
use super::event::{EventLine, JobEvent, parse, write_text};
use super::live::{LiveSystem, Snapshot};
use super::state_file::{Found, StateFile, damaged, header_line, without_line};
use crate::predict::catalog;
use crate::spec::{Spec, SpecError};
use crate::time::{Seconds, Time, readable_duration};

/// Answers the lines of a batch system.
pub struct Service {
    system: LiveSystem,
    /// The number of ended jobs that are kept when others are forgotten.
    keep: usize,
    /// How far an event may be ahead of the clock, in seconds. None: any event may.
    max_ahead: Option<Seconds>,
    state: Option<StateFile>,
    /// The number of lines so far.
    lines: u64,
    /// Scratch: a line for the state file.
    line: Vec<u8>,
    /// Scratch: an answer that is no answer of the system.
    answer: Vec<u8>,
}

/// What was in a state file.
#[derive(Debug, Default)]
pub struct Replayed {
    /// The number of events.
    pub events: u64,
    /// The predictor that the file was used with, in full, if it was another one.
    pub other_predictor: Option<String>,
    /// The length of the torn last line that was dropped, in bytes; 0 if there was none.
    pub torn: u64,
    /// Whether there was a file, but no event in it.
    pub was_empty: bool,
    /// Whether its lines had no checksums. They have now.
    pub had_no_sums: bool,
}

/// A snapshot as a line of the state file.
#[derive(serde::Deserialize, serde::Serialize)]
struct Restore<'a> {
    #[serde(borrow)]
    restore: Snapshot<'a>,
}

/// How a line with a snapshot begins.
const RESTORE: &[u8] = b"{\"restore\":";

/// Fewer events than this are never forgotten.
const FEWEST_EVENTS: usize = 1000;

/// An arrival, a start and a termination.
const EVENTS_OF_A_JOB: usize = 3;

/// How many events are replayed or learned between two calls of `progress`.
pub(super) const PROGRESS_EVERY: u64 = 1 << 13;

impl Service {
    /// A service without history, which keeps the last `keep` ended jobs when it forgets others. `spec` as
    /// [`Service::parse_predictor`] returns it.
    pub fn new(spec: Spec, keep: usize) -> Service {
        let system = LiveSystem::new(spec);
        Service { system, keep, max_ahead: None, state: None, lines: 0, line: Vec::new(), answer: Vec::new() }
    }

    /// Reads the spec of a predictor.
    ///
    /// # Errors
    /// As [`catalog::parse`], or if the predictor needs to know the runtimes of jobs at their arrival.
    pub fn parse_predictor(text: &str) -> Result<Spec, SpecError> {
        let spec = catalog::parse(text)?;
        match catalog::is_oracle(&spec) {
            true => Err(SpecError(format!(
                "'{spec}' needs to know the runtime of a job when it arrives, which no batch system knows: choose another \
                 predictor (see `sim list predictors`)"
            ))),
            false => Ok(spec),
        }
    }

    /// The jobs and their predictions.
    pub fn system(&self) -> &LiveSystem {
        &self.system
    }

    /// The number of ended jobs that are kept.
    pub fn keep(&self) -> usize {
        self.keep
    }

    /// Refuses events that are more than this ahead of the clock, because all events before them would be refused afterwards.
    /// None, the default, allows them. The greeting of a simulation, which has times of its own, allows them as well.
    pub fn set_max_ahead(&mut self, max_ahead: Option<Seconds>) {
        self.max_ahead = max_ahead;
    }

    /// Uses a state file from now on, and replays the events in it. The file need not exist. `progress` is called from time to
    /// time with the number of events.
    ///
    /// # Errors
    /// If another process uses the file, or it cannot be read or written, or is damaged, or has an event that is too far ahead of
    /// the clock. A torn last line is no error.
    ///
    /// # Panics
    /// If the service has already handled events.
    pub fn open_state(&mut self, file: &str, progress: &mut dyn FnMut(usize)) -> Result<Replayed, ProductionError> {
        assert_eq!(self.system.events(), 0, "the events of the file come first");
        let mut state = StateFile::lock(file)?;
        let (mut replayed, predictor) = (Replayed::default(), self.system.spec().in_full());
        let path = state.path().to_path_buf();
        let Found { header, torn, is_empty } = state.read(|header, number, line| {
            let is_same = header.predictor == predictor;
            match replay(&mut self.system, line, is_same) {
                Ok(events) => replayed.events += events,
                Err(Rejection::Broken(why)) => return Err(ProductionError::Predictor(why)),
                Err(Rejection::Refused(why)) => return Err(damaged(&path, number, &why)),
            }
            if let Some(ahead) = too_far_ahead(self.max_ahead, self.system.last_time()) {
                let line = without_line(&path, number);
                let why = format!("{ahead}. All events before it would be refused. {line}. --max-ahead off allows it");
                return Err(ProductionError::State { path: path.clone(), line: number, why });
            }
            if replayed.events.is_multiple_of(PROGRESS_EVERY) {
                progress(replayed.events as usize);
            }
            Ok(())
        })?;
        (replayed.torn, replayed.was_empty) = (torn, is_empty);
        if let Some(header) = header.as_ref().filter(|header| !header.has_sums()) {
            state.add_sums(header)?;
            replayed.had_no_sums = true;
        }
        let is_same = header.as_ref().is_some_and(|header| header.predictor == predictor);
        replayed.other_predictor = header.map(|header| header.predictor).filter(|_| !is_same);
        self.state = Some(state);
        if !is_same {
            // So that the file names this predictor, and its predictions in force are kept.
            self.rebuild()?;
            self.system.report_all();
        }
        // The process may have been killed before it forgot.
        self.forget_old_jobs()?;
        Ok(replayed)
    }

    /// Answers a line, which has no end of line. What is wrong with a line is part of the answer.
    ///
    /// # Errors
    /// If the predictor breaks its contract, or the state file cannot be written. Nothing can follow.
    pub fn answer(&mut self, line: &[u8]) -> Result<&[u8], ProductionError> {
        self.lines += 1;
        // Some programs begin their output with the mark of UTF-8.
        let line = line.strip_prefix(b"\xef\xbb\xbf".as_slice()).filter(|_| self.lines == 1).unwrap_or(line);
        match parse(line) {
            Ok(EventLine::Event(event)) => self.answer_event(&event),
            Ok(EventLine::Hello { unix_start }) => self.answer_hello(unix_start),
            Err(why) => Ok(self.refusal(&why)),
        }
    }

    /// The answer to a line that was not read, for this reason.
    pub fn refuse(&mut self, why: &str) -> &[u8] {
        self.lines += 1;
        self.refusal(why)
    }

    fn refusal(&mut self, why: &str) -> &[u8] {
        self.answer.clear();
        self.answer.extend_from_slice(b"{\"error\":");
        write_text(&mut self.answer, &format!("line {}: {why}", self.lines));
        self.answer.push(b'}');
        &self.answer
    }

    fn answer_event(&mut self, event: &JobEvent<'_>) -> Result<&[u8], ProductionError> {
        if let Some(answer) = self.system.repeated(event) {
            self.answer.clear();
            self.answer.extend_from_slice(answer);
            return Ok(&self.answer);
        }
        if let Some(ahead) = too_far_ahead(self.max_ahead, event.time) {
            let why = format!("{ahead}: send the seconds since 1970, or allow it with --max-ahead");
            return Ok(self.refusal(&why));
        }
        match self.system.apply(event) {
            Ok(()) => {}
            Err(Rejection::Refused(why)) => return Ok(self.refusal(&why)),
            Err(Rejection::Broken(why)) => return Err(ProductionError::Predictor(why)),
        }
        if let Some(state) = &mut self.state {
            self.line.clear();
            self.line.extend_from_slice(self.system.last_line());
            state.append(&mut self.line)?;
        }
        Ok(self.system.last_answer())
    }

    fn answer_hello(&mut self, unix_start: Time) -> Result<&[u8], ProductionError> {
        self.max_ahead = None;
        if unix_start != self.system.unix_start() {
            if self.system.events() > 0 {
                let why = "a simulation must begin before the first event: use neither --learn-from nor an old --state";
                return Ok(self.refusal(why));
            }
            self.system.set_unix_start(unix_start);
            if let Some(state) = &mut self.state {
                state.append(&mut hello_line(unix_start))?;
            }
        }
        self.answer.clear();
        self.answer.extend_from_slice(b"{\"name\":");
        write_text(&mut self.answer, &self.system.spec().to_string());
        let version = env!("CARGO_PKG_VERSION");
        let events = r#"["arrival","start","termination","miss","cancellation"]"#;
        self.answer.extend_from_slice(format!(",\"version\":\"{version}\",\"events\":{events}}}").as_bytes());
        Ok(&self.answer)
    }

    /// Handles an event of the past, without an answer. [`Service::rebuild`] must follow the last one.
    ///
    /// # Errors
    /// If the event cannot happen, or the predictor breaks its contract.
    pub(super) fn learn_event(&mut self, event: &JobEvent<'_>) -> Result<(), ProductionError> {
        self.system.apply(event).map_err(|why| ProductionError::Predictor(why.into_text()))
    }

    /// Forgets the oldest jobs if there are too many events. Call it after each answer was printed: it takes longer than an
    /// answer. Returns whether jobs were forgotten.
    ///
    /// # Errors
    /// As [`Service::answer`].
    pub fn forget_old_jobs(&mut self) -> Result<bool, ProductionError> {
        let doubled = 2 * self.system.events_restored();
        let most = (2 * EVENTS_OF_A_JOB).saturating_mul(self.keep).max(doubled).max(FEWEST_EVENTS);
        if self.system.events() < most {
            return Ok(false);
        }
        self.rebuild().map(|()| true)
    }

    /// Builds the system again from the events of the jobs that are kept, and writes the state file again. The system is
    /// then what a replay of the file gives.
    pub(super) fn rebuild(&mut self) -> Result<(), ProductionError> {
        let (old, keep) = (&self.system, self.keep);
        let mut new = LiveSystem::new(old.spec().clone());
        new.set_unix_start(old.unix_start());
        let broken = |why: Rejection| ProductionError::Predictor(why.into_text());
        old.kept(keep).try_for_each(|event| new.apply(&event)).map_err(broken)?;
        let restore = Restore { restore: old.snapshot() };
        new.restore(&restore.restore, true).map_err(broken)?;
        if let Some(state) = &mut self.state {
            state.replace(|write| {
                write(header_line(&old.spec().in_full()).into_bytes())?;
                if old.unix_start() != 0 {
                    write(hello_line(old.unix_start()))?;
                }
                for event in old.kept(keep) {
                    let mut line = Vec::new();
                    event.write(&mut line);
                    write(line)?;
                }
                if old.events() > 0 {
                    write(serde_json::to_vec(&restore)?)?;
                }
                Ok(())
            })?;
        }
        self.system = new;
        Ok(())
    }
}

/// Handles a line of a state file. Returns the number of events in it: 0 or 1.
fn replay(system: &mut LiveSystem, line: &[u8], is_same_predictor: bool) -> Result<u64, Rejection> {
    if line.starts_with(RESTORE) {
        let Restore { restore } =
            serde_json::from_slice(line).map_err(|error| Rejection::Refused(error.to_string()))?;
        return system.restore(&restore, is_same_predictor).map(|()| 0);
    }
    match parse(line).map_err(Rejection::Refused)? {
        EventLine::Event(event) => system.apply(&event).map(|()| 1),
        EventLine::Hello { unix_start } => {
            system.set_unix_start(unix_start);
            Ok(0)
        }
    }
}

fn hello_line(unix_start: Time) -> Vec<u8> {
    format!("{{\"hello\":\"shadowtime\",\"unix_start\":{unix_start}}}").into_bytes()
}

/// Says that a time is more than `most` seconds ahead of the clock, if it is.
fn too_far_ahead(most: Option<Seconds>, time: Time) -> Option<String> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |now| now.as_secs() as Time);
    let ahead = time.saturating_sub(now);
    (ahead > most?).then(|| {
        let ahead = readable_duration(ahead as f64);
        format!("its time is {time}, which is {ahead} ahead of the clock of this machine ({now})")
    })
}
