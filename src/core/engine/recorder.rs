//! The recorder: an observer that stores starts, misses and the accuracy of predictions over time.

use super::observer::{
    Cancellation, End, Event, Observer, Occasion, Placed, PredictionChange, PredictionMade, Preemption,
};
use crate::job::{ArrivalNumber, JobId};
use crate::machine::{NodeShare, Tres, total_of};
use crate::schedule::Machine;
use crate::time::{IfKnown, Seconds, Time};

/// The result of the simulation for one job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// When the job started; the last time, if it was requeued. Unknown if it was cancelled or has not started yet.
    pub start: IfKnown,
    /// The prediction at arrival, in seconds.
    pub prediction: Seconds,
    /// The prediction in force at the start, in seconds.
    pub prediction_at_start: Seconds,
    /// The prediction in force at the end, in seconds; 0 before the end.
    pub prediction_last: Seconds,
    /// The number of deadlines missed; 0 before the end.
    pub misses: u32,
    /// Whether a job that arrived earlier still waited after the pass that started this one.
    pub backfilled: bool,
    /// Whether the runtime lies within the confidence interval of the prediction at the start. None if there was no
    /// interval.
    pub inside: Option<bool>,
    /// Whether the predictor says that the prediction at the start comes from past jobs.
    pub answered: bool,
    /// The sum of |R - P| over [submit, end], where R is the runtime and P each prediction, times the seconds that P was
    /// in force (Talby et al., Equations 1, 2). Added up in whole numbers; 0 before the end.
    pub ai_seconds: f64,
    /// The sum of min(R, P) / max(R, P), likewise times the seconds that P was in force; 0 before the end.
    pub ra_seconds: f64,
}

impl Outcome {
    /// The outcome of a job that has not arrived.
    const UNKNOWN: Outcome = Outcome {
        start: IfKnown::UNKNOWN,
        prediction: 0,
        prediction_at_start: 0,
        prediction_last: 0,
        misses: 0,
        backfilled: false,
        inside: None,
        answered: false,
        ai_seconds: 0.0,
        ra_seconds: 0.0,
    };
}

/// What all jobs of a run on nodes were given, times the seconds for which they had it.
pub type GivenAreas = Tres<i128>;

/// Adds what one job has for these seconds; negative ones are those for which it does not have it any more.
fn add_given(given: &mut GivenAreas, grant: &[NodeShare], seconds: Seconds) {
    given.change(&total_of(grant), |area, amount| *area += i128::from(amount) * i128::from(seconds));
}

/// Runs that were stopped so that other jobs could start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoppedRuns {
    /// Their number.
    pub count: u64,
    /// Their processor-seconds, which are lost.
    pub area: i128,
}

/// Jobs that made way for others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Preempted {
    /// Runs of jobs that then waited again. A job may have several.
    pub requeued: StoppedRuns,
    /// Runs that were the last of their jobs.
    pub cancelled: StoppedRuns,
}

/// What outages did in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutageFigures {
    /// The processor-seconds from the first submission to the last end that were not out, or in use.
    pub available: i128,
    /// The runs that outages stopped.
    pub stopped: Preempted,
    /// The runs among them of jobs that then waited again, with their lengths, by job.
    pub requeues: Vec<(JobId, Seconds)>,
}

/// The unfinished record of a job in the system.
#[derive(Clone, Copy, Debug)]
struct OutcomeDraft {
    outcome: Outcome,
    /// Since when the present prediction is in force.
    since: Time,
    /// The sum of [`Outcome::ai_seconds`] so far. What does not fit into 64 bits, which is rare, is in `ai_carried`.
    ai_seconds: i64,
    ai_carried: i128,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Recorder {
    /// By id. A job's outcome is written once, when the job leaves: this memory is rarely in the processor's cache.
    pub outcomes: Vec<Outcome>,
    /// By a job's place on the board.
    drafts: Vec<OutcomeDraft>,
    /// All predictions in order of events; at each event the job's own first, then the others in order of arrival. None
    /// if they are not kept.
    pub history: Option<Vec<PredictionMade>>,
    /// None as long as no job has started on nodes.
    pub given: Option<GivenAreas>,
    /// Jobs that made way for others.
    pub preempted: Preempted,
    /// The runs of jobs that then waited again, with their lengths, in order of time.
    pub requeues: Vec<(JobId, Seconds)>,
    /// The jobs that were cancelled while they ran, with their runtimes.
    pub cut: Vec<(JobId, Seconds)>,
}

impl Recorder {
    pub fn new(keep_history: bool) -> Self {
        Recorder { history: keep_history.then(Vec::new), ..Recorder::default() }
    }

    /// A job was submitted.
    #[inline]
    pub fn add_job(&mut self) {
        self.outcomes.push(Outcome::UNKNOWN);
    }

    /// The number of predictions kept so far.
    #[inline]
    pub fn history_len(&self) -> usize {
        self.history.as_ref().map_or(0, Vec::len)
    }

    /// Sorts the predictions of one event, which begin at index `from`: the job's own first, then the others in order of
    /// arrival.
    #[inline]
    pub fn order_history(&mut self, from: usize, arrival: &dyn Fn(JobId) -> ArrivalNumber) {
        if let Some(history) = &mut self.history {
            history[from..].sort_by_key(|made| (made.job != made.cause, arrival(made.job)));
        }
    }

    /// The outcome of a job so far. `place` is its place on the board if it is in the system; its accuracy is then 0.
    pub fn outcome(&self, id: JobId, place: Option<usize>) -> Outcome {
        match place {
            None => self.outcomes[id.index()],
            Some(place) => Outcome { ra_seconds: 0.0, ..self.drafts[place].outcome },
        }
    }
}

// Always inlined, because every event comes here: the event is then not written to memory.
impl Observer for Recorder {
    #[inline(always)]
    fn on(&mut self, time: Time, event: &Event<'_>, _machine: &Machine) {
        match event {
            Event::Arrival(arrival) => {
                let draft = OutcomeDraft { outcome: Outcome::UNKNOWN, since: time, ai_seconds: 0, ai_carried: 0 };
                match self.drafts.get_mut(arrival.job.place) {
                    Some(free) => *free = draft,
                    None => self.drafts.push(draft),
                }
            }
            Event::Prediction(change) => self.note_prediction(change),
            Event::Start(start) => {
                let outcome = &mut self.drafts[start.job.place].outcome;
                outcome.start = Some(time).into();
                outcome.prediction_at_start = start.prediction;
                outcome.backfilled = start.backfilled;
                (outcome.inside, outcome.answered) = (start.inside, start.answered);
                if !start.grant.is_empty() {
                    add_given(self.given.get_or_insert_default(), start.grant, start.runtime);
                }
            }
            Event::Preemption(preemption) => self.note_preemption(preemption),
            Event::End(end) => self.note_end(end, time),
            Event::Cancellation(Cancellation { job: Placed { id, place }, .. }) => {
                // It may have run before it was requeued.
                let start = IfKnown::UNKNOWN;
                self.outcomes[id.index()] = Outcome { start, ra_seconds: 0.0, ..self.drafts[*place].outcome };
            }
            Event::Begin(_) | Event::Pass(_) | Event::Miss(_) | Event::Outages => {}
        }
    }
}

impl Recorder {
    #[inline(always)]
    fn note_prediction(&mut self, change: &PredictionChange) {
        let PredictionChange { place, made, old, runtime } = *change;
        if let Some(history) = &mut self.history {
            history.push(made);
        }
        let draft = &mut self.drafts[place];
        if old > 0 {
            draft.add_accuracy(old, runtime, made.time);
        }
        // A predictor may predict an arriving job several times; the last prediction counts.
        if made.event == Occasion::Arrival && made.job == made.cause {
            draft.outcome.prediction = made.prediction;
        }
    }

    fn note_preemption(&mut self, preemption: &Preemption<'_>) {
        let Preemption { job, submission, ran, left, grant, is_requeued } = *preemption;
        let Preempted { requeued, cancelled } = &mut self.preempted;
        let runs = if is_requeued { requeued } else { cancelled };
        runs.count += 1;
        runs.area += i128::from(submission.procs) * i128::from(ran);
        let list = if is_requeued { &mut self.requeues } else { &mut self.cut };
        list.push((job.id, ran));
        if let Some(given) = &mut self.given {
            add_given(given, grant, -left);
        }
    }

    #[inline(always)]
    fn note_end(&mut self, end: &End<'_>, time: Time) {
        let draft = &mut self.drafts[end.job.place];
        draft.add_accuracy(end.prediction, end.runtime, time);
        let ai_seconds = match draft.ai_carried {
            0 => draft.ai_seconds as f64,
            carried => float_of(carried + i128::from(draft.ai_seconds)),
        };
        let (prediction_last, misses) = (end.prediction, end.misses);
        self.outcomes[end.job.id.index()] = Outcome { ai_seconds, prediction_last, misses, ..draft.outcome };
    }
}

/// A separate function, because the compiler would otherwise convert all sums this way, which is much slower.
#[cold]
#[inline(never)]
fn float_of(sum: i128) -> f64 {
    sum as f64
}

impl OutcomeDraft {
    /// Adds the accuracy of a prediction that was in force from `since` to `now`.
    #[inline]
    fn add_accuracy(&mut self, prediction: Seconds, runtime: Seconds, now: Time) {
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
    use crate::engine::observer::Arrival;
    use crate::job::Submission;
    use crate::time::FOREVER;

    /// An error of 2,000 years that lasts 2,000 years does not fit into 64 bits, but the sum must still be exact.
    #[test]
    fn inaccuracy_is_exact_however_large() {
        let (mut recorder, machine) = (Recorder::new(false), Machine::pool(1));
        recorder.add_job();
        let (submission, job) = (Submission::new(0, 1, 1), Placed { id: JobId(0), place: 0 });
        recorder.on(0, &Event::Arrival(Arrival { job, submission: &submission }), &machine);
        let mut sum = 0i128;
        for held in 1..=3 {
            let now = held * FOREVER;
            let made =
                PredictionMade { job: JobId(0), time: now, prediction: 1, event: Occasion::Miss, cause: JobId(0) };
            let change = PredictionChange { place: 0, made, old: FOREVER, runtime: held };
            recorder.on(now, &Event::Prediction(change), &machine);
            sum += i128::from(FOREVER - held) * i128::from(FOREVER);
        }
        let time = 3 * FOREVER + 1;
        let end = End { job, submission: &submission, runtime: 2, prediction: 9, misses: 0 };
        recorder.on(time, &Event::End(end), &machine);
        assert!(sum > i128::from(i64::MAX));
        assert_eq!(recorder.outcomes[0].ai_seconds, (sum + 7) as f64);
    }
}
