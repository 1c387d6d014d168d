//! The recorder watches: starts, misses, and how wrong the predictions were while they held.

use super::observer::{Arrival, Cancellation, End, Observer, Placed, PredictionChange, Start};
use crate::job::JobId;
use crate::time::{IfKnown, Seconds, Time};

/// What the simulation made of one job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// Unknown if the job was cancelled (or the simulation is not over).
    pub start: IfKnown,
    /// The prediction at arrival.
    pub prediction: Seconds,
    /// The prediction in force at the start.
    pub prediction_at_start: Seconds,
    /// The prediction in force at the end; known then.
    pub prediction_last: Seconds,
    /// Deadlines missed; known at the end.
    pub misses: u32,
    pub backfilled: bool,
    /// Whether the runtime lies within the confidence interval of the prediction at the start, if that had one.
    pub inside: Option<bool>,
    /// The sum of |R - P| over [submit, end], each prediction times the seconds it held (Talby et al., Equations 1, 2):
    /// added up in whole numbers, and known at the end.
    pub ai_seconds: f64,
    /// The sum of min(R, P) / max(R, P) likewise.
    pub ra_seconds: f64,
}

impl Outcome {
    /// Of a job that has not arrived.
    const UNKNOWN: Outcome = Outcome {
        start: IfKnown::UNKNOWN,
        prediction: 0,
        prediction_at_start: 0,
        prediction_last: 0,
        misses: 0,
        backfilled: false,
        inside: None,
        ai_seconds: 0.0,
        ra_seconds: 0.0,
    };
}

/// Why a prediction was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    Arrival,
    Start,
    Termination,
    Miss,
    Cancellation,
}

impl Event {
    pub fn name(self) -> &'static str {
        match self {
            Event::Arrival => "arrival",
            Event::Start => "start",
            Event::Termination => "termination",
            Event::Miss => "miss",
            Event::Cancellation => "cancellation",
        }
    }
}

/// One line of the history of predictions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PredictionMade {
    pub job: JobId,
    pub time: Time,
    pub prediction: Seconds,
    /// The event at which it was made, and the job whose event it was: another one where a prediction is propagated.
    pub event: Event,
    pub cause: JobId,
}

/// A job in the system: what it is coming to, how wrong its predictions were so far, and since when the present one
/// holds.
#[derive(Clone, Copy, Debug)]
struct Draft {
    outcome: Outcome,
    since: Time,
    /// What fits 64 bits, which is nearly always all of it, and what went over.
    ai_seconds: i64,
    ai_carried: i128,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Recorder {
    /// By id. A job's outcome is written when it has left: it is then far from all that is looked at, and each look costs.
    pub outcomes: Vec<Outcome>,
    /// By a job's place on the board.
    drafts: Vec<Draft>,
    /// All predictions, if they were asked for: event by event, at each the job's own first, then others in order of
    /// arrival.
    pub history: Option<Vec<PredictionMade>>,
}

impl Recorder {
    pub fn new(keep_history: bool) -> Self {
        Recorder { history: keep_history.then(Vec::new), ..Recorder::default() }
    }

    /// A job was handed in.
    pub fn announce(&mut self) {
        self.outcomes.push(Outcome::UNKNOWN);
    }

    /// How many predictions are kept so far.
    pub fn history_len(&self) -> usize {
        self.history.as_ref().map_or(0, Vec::len)
    }

    /// All predictions of an event have been made: those from this one on.
    pub fn order_history(&mut self, from: usize) {
        if let Some(history) = &mut self.history {
            history[from..].sort_by_key(|made| (made.job != made.cause, made.job));
        }
    }

    /// What has become of a job so far; of one in the system, which has this place on the board, without its accuracy.
    pub fn outcome(&self, id: JobId, place: Option<usize>) -> Outcome {
        match place {
            None => self.outcomes[id.index()],
            Some(place) => Outcome { ra_seconds: 0.0, ..self.drafts[place].outcome },
        }
    }
}

impl Observer for Recorder {
    fn on_arrival(&mut self, arrival: &Arrival<'_>) {
        let draft = Draft { outcome: Outcome::UNKNOWN, since: arrival.time, ai_seconds: 0, ai_carried: 0 };
        match self.drafts.get_mut(arrival.job.place) {
            Some(free) => *free = draft,
            None => self.drafts.push(draft),
        }
    }

    fn on_prediction(&mut self, change: &PredictionChange) {
        let PredictionChange { place, made, old, runtime } = *change;
        if let Some(history) = &mut self.history {
            history.push(made);
        }
        let draft = &mut self.drafts[place];
        if old > 0 {
            draft.weigh(old, runtime, made.time);
        }
        // The last that is said of an arriving job is what is said of it.
        if made.event == Event::Arrival && made.job == made.cause {
            draft.outcome.prediction = made.prediction;
        }
    }

    fn on_start(&mut self, start: &Start<'_>) {
        let outcome = &mut self.drafts[start.job.place].outcome;
        outcome.start = Some(start.time).into();
        outcome.prediction_at_start = start.prediction;
        outcome.backfilled = start.backfilled;
        outcome.inside = start.inside;
    }

    fn on_end(&mut self, end: &End<'_>) {
        let draft = &mut self.drafts[end.job.place];
        draft.weigh(end.prediction, end.runtime, end.time);
        let ai_seconds = match draft.ai_carried {
            0 => draft.ai_seconds as f64,
            carried => float_of(carried + i128::from(draft.ai_seconds)),
        };
        let (prediction_last, misses) = (end.prediction, end.misses);
        self.outcomes[end.job.id.index()] = Outcome { ai_seconds, prediction_last, misses, ..draft.outcome };
    }

    fn on_cancellation(&mut self, cancellation: &Cancellation<'_>) {
        let Placed { id, place } = cancellation.job;
        self.outcomes[id.index()] = Outcome { ra_seconds: 0.0, ..self.drafts[place].outcome };
    }
}

/// Apart, because the compiler would otherwise make all sums floats in this way, which is much the slower.
#[cold]
#[inline(never)]
fn float_of(sum: i128) -> f64 {
    sum as f64
}

impl Draft {
    /// Adds the accuracy of a prediction for as long as it held. One made and replaced within an instant weighs nothing.
    fn weigh(&mut self, prediction: Seconds, runtime: Seconds, now: Time) {
        let held = now - std::mem::replace(&mut self.since, now);
        if held == 0 {
            return;
        }
        let error = (runtime - prediction).abs();
        match error.checked_mul(held).and_then(|product| product.checked_add(self.ai_seconds)) {
            Some(sum) => self.ai_seconds = sum,
            None => self.ai_carried += i128::from(error) * i128::from(held),
        }
        let (low, high) = (runtime.min(prediction), runtime.max(prediction));
        self.outcome.ra_seconds += low as f64 / high as f64 * held as f64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Submission;
    use crate::time::FOREVER;

    /// Errors of 2,000 years held for 2,000 years go over 64 bits, and are added up to the last second all the same.
    #[test]
    fn inaccuracy_is_exact_however_large() {
        let mut recorder = Recorder::new(false);
        recorder.announce();
        let (submission, job) = (Submission::new(0, 1, 1), Placed { id: JobId(0), place: 0 });
        recorder.on_arrival(&Arrival { time: 0, job, submission: &submission });
        let mut sum = 0i128;
        for held in 1..=3 {
            let now = held * FOREVER;
            let made = PredictionMade { job: JobId(0), time: now, prediction: 1, event: Event::Miss, cause: JobId(0) };
            recorder.on_prediction(&PredictionChange { place: 0, made, old: FOREVER, runtime: held });
            sum += i128::from(FOREVER - held) * i128::from(FOREVER);
        }
        let time = 3 * FOREVER + 1;
        recorder.on_end(&End { time, job, submission: &submission, runtime: 2, prediction: 9, misses: 0 });
        assert!(sum > i128::from(i64::MAX));
        assert_eq!(recorder.outcomes[0].ai_seconds, (sum + 7) as f64);
    }
}
