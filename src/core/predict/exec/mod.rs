//! A predictor that is another program, in any language. Each simulation starts one child process, and talks to it in JSON
//! lines over its standard input and output: an event in, predictions out.
//!
//! `protocol` has the lines. How a program is started, asked and ended is in [`crate::program`].

mod protocol;

use protocol::{EventName, ExecAnswer, PredictorIntroduction, fields_of_miss, push_arrival, push_event};

use super::board::{Board, Stage};
use super::deadline;
use super::predictor::Predictor;
use crate::job::JobId;
use crate::program::json;
use crate::program::{HANDED_ON, Program, ProgramSpec, TIMEOUT, command_key};
use crate::spec::{Form, Spec};
use crate::text::shortened;
use crate::time::Seconds;
use crate::trace::RunFacts;

pub const FORM: Form = Form {
    name: "exec",
    about: "a program of yours, in any language (see `sim list predictors --example python`)",
    keys: &[command_key("the program and its arguments; required"), TIMEOUT, HANDED_ON],
};

/// A hash of the contents of all files that the command names, and of the version that the program reports. The program is
/// started for that, and ended.
///
/// # Errors
///
/// If a file cannot be read, or the program does not answer the greeting.
pub fn digest(spec: &Spec) -> Result<u128, String> {
    let exec = ExecPredictor::new(spec);
    let (_, introduction) = exec.start().map_err(|why| format!("predictor '{spec}': {why}"))?;
    exec.spec.digest(introduction.version.as_deref())
}

/// The program behind `exec`. It is started at the first event, so that building this predictor costs nothing.
pub struct ExecPredictor {
    spec: ProgramSpec,
    run: RunFacts,
    program: PredictorStage,
    /// The jobs in order of arrival, by which the program knows them.
    arrived: Vec<JobId>,
    /// Scratch: the line that is sent.
    line: Vec<u8>,
}

enum PredictorStage {
    NotStarted,
    Started {
        program: Box<Program>,
        introduction: PredictorIntroduction,
    },
    /// It has broken the contract.
    Failed,
}

/// An event that the program is asked about.
struct AskedEvent {
    event: EventName,
    job: JobId,
}

impl AskedEvent {
    fn in_words(&self, board: &Board) -> String {
        let (event, number) = (self.event.in_words(), board.number(self.job));
        format!("the {event} of job {number} (id {}) at time {}", json::id(board.arrival(self.job)), board.now())
    }
}

impl ExecPredictor {
    pub fn new(spec: &Spec) -> Self {
        let (spec, run, arrived) = (ProgramSpec::of(spec), RunFacts::default(), Vec::new());
        ExecPredictor { spec, run, program: PredictorStage::NotStarted, arrived, line: Vec::new() }
    }

    /// Starts the program if it has not been started. Returns whether it wants to know of such events.
    fn wants(&mut self, asked: &AskedEvent, board: &mut Board) -> bool {
        if let PredictorStage::NotStarted = self.program {
            match self.start() {
                Ok((program, introduction)) => {
                    self.program = PredictorStage::Started { program: Box::new(program), introduction };
                }
                Err(why) => self.fail(board, why),
            }
        }
        matches!(&self.program, PredictorStage::Started { introduction, .. } if introduction.wants(asked.event))
    }

    /// Starts the program and greets it.
    fn start(&self) -> Result<(Program, PredictorIntroduction), String> {
        self.spec.start(&self.run.greeting(&self.spec, None), PredictorIntroduction::parse)
    }

    /// Sends the line that is prepared and applies the answer.
    fn ask(&mut self, asked: &AskedEvent, board: &mut Board) {
        let PredictorStage::Started { program, .. } = &mut self.program else { return };
        // The text is only needed for an error.
        let why = match program
            .ask(&self.line, &|| asked.in_words(board))
            .map(|answer| apply(answer, &self.arrived, board))
        {
            Ok(Ok(())) => return,
            Ok(Err(why)) => program.bad_answer(&asked.in_words(board), &format!(": {why}")),
            Err(unanswered) => unanswered,
        };
        self.fail(board, why);
    }

    /// Ends the program, and the simulation with this error.
    fn fail(&mut self, board: &mut Board, why: String) {
        if let PredictorStage::Started { program, .. } = &mut self.program {
            program.end_at_once();
        }
        self.program = PredictorStage::Failed;
        board.fail(why);
    }

    /// Asks about an event of a job with these further fields, if the program wants to know of such events.
    fn ask_about(&mut self, event: EventName, job: JobId, board: &mut Board, fields: &[(&str, i64)]) -> bool {
        let asked = AskedEvent { event, job };
        let is_wanted = self.wants(&asked, board);
        if is_wanted {
            self.line.clear();
            push_event(&mut self.line, event, board.now(), board.arrival(job), fields);
            self.ask(&asked, board);
        }
        is_wanted
    }
}

/// Writes the predictions of an answer on the board.
fn apply(answer: &[u8], arrived: &[JobId], board: &mut Board) -> Result<(), String> {
    // Most answers that predict nothing.
    if answer == b"{}" {
        return Ok(());
    }
    for (id, prediction) in ExecAnswer::parse(answer)?.predictions {
        let job = json::arrival(&id).and_then(|arrival| arrived.get(arrival.0 as usize));
        let Some(&job) = job.filter(|&&job| board.stage(job) != Stage::Gone) else {
            return Err(format!("job '{}' is neither waiting nor running", shortened(&id)));
        };
        let elapsed = board.elapsed(job);
        if prediction <= elapsed {
            return Err(format!("{prediction} s are predicted for job '{id}', which has already run for {elapsed} s"));
        }
        board.predict(job, prediction);
    }
    Ok(())
}

impl Predictor for ExecPredictor {
    fn on_begin(&mut self, facts: &RunFacts) {
        self.run = facts.clone();
    }

    fn on_arrival(&mut self, id: JobId, board: &mut Board) {
        self.arrived.push(id);
        let asked = AskedEvent { event: EventName::Arrival, job: id };
        if !self.wants(&asked, board) {
            return;
        }
        self.line.clear();
        push_arrival(&mut self.line, id, board, &self.run);
        self.ask(&asked, board);
        if board.prediction(id) == 0
            && let PredictorStage::Started { program, .. } = &self.program
        {
            let why = program.bad_answer(&asked.in_words(board), ", which has no prediction for this job");
            self.fail(board, why);
        }
    }

    fn on_start(&mut self, id: JobId, board: &mut Board) {
        self.ask_about(EventName::Start, id, board, &[]);
    }

    fn on_termination(&mut self, id: JobId, runtime: Seconds, board: &mut Board) {
        self.ask_about(EventName::Termination, id, board, &[("runtime", runtime)]);
    }

    fn on_deadline_missed(&mut self, id: JobId, board: &mut Board) {
        let (elapsed, prediction, misses) = (board.elapsed(id), board.prediction(id), board.misses(id));
        self.ask_about(EventName::Miss, id, board, &fields_of_miss(elapsed, prediction, misses));
        // A program may leave the answer to the rule of all predictors.
        if !board.has_failed() && board.prediction(id) <= elapsed {
            deadline::raise_to_estimate(id, board);
        }
    }

    fn on_cancellation(&mut self, id: JobId, board: &mut Board) {
        self.ask_about(EventName::Cancellation, id, board, &[]);
    }
}
