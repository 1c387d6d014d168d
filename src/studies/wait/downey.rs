//! Downey's prediction of waits: the time until enough of the running jobs have ended, computed from the lifetimes of
//! jobs that have ended. It has an answer only for a job that finds an empty queue, because it does not depend on the
//! scheduler and so cannot tell which of several waiting jobs starts first.

use super::state::SiteState;
use crate::job::Submission;
use crate::model::{Lifetimes, Outlook, QueueTimeMethod};
use crate::time::Time;

/// The predicted wait, in seconds, of a job that arrives now, from the lifetimes of ended jobs. None if other jobs wait, or if
/// there is no fit of lifetimes to predict the ends of running jobs from.
pub fn predicted_wait(
    lifetimes: &Lifetimes,
    method: QueueTimeMethod,
    job: &Submission,
    state: &SiteState,
    procs: u32,
    now: Time,
) -> Option<f64> {
    if !state.waiting().is_empty() {
        return None;
    }
    let missing = i64::from(job.procs) - (i64::from(procs) - state.occupied());
    if missing <= 0 {
        return Some(0.0);
    }
    let life = lifetimes.fit()?;
    let running = state.running().iter().map(|job| (job.procs, life.at_age((now - job.start) as f64)));
    Outlook::new(running).queue_time(method, u32::try_from(missing).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::JobId;

    /// Lifetimes with a known fit: logarithms evenly spaced from 2 to 12, so that the bounds are e^2 and e^12 seconds.
    fn known_lifetimes() -> Lifetimes {
        let mut lifetimes = Lifetimes::default();
        for rank in 1..=1000 {
            lifetimes.add((2.0 + 10.0 * f64::from(rank) / 1000.0).exp());
        }
        lifetimes
    }

    /// By hand: of 10 processors 8 are used by a job that has just started. Its median lifetime is e^7 s, and by
    /// predictor A a job of 4 processors starts then; a job of 2 processors starts at once.
    #[test]
    fn the_only_waiting_job_starts_when_running_jobs_end() {
        let lifetimes = known_lifetimes();
        let mut state = SiteState::default();
        state.arrive(JobId(0), &Submission::new(0, 8, 3600));
        state.start(JobId(0), 50);
        let asks = |procs, state: &SiteState| {
            let job = Submission::new(50, procs, 60);
            predicted_wait(&lifetimes, QueueTimeMethod::Benefactors, &job, state, 10, 50)
        };
        assert_eq!(asks(2, &state), Some(0.0));
        let wait = asks(4, &state).unwrap();
        assert!((wait / 7f64.exp() - 1.0).abs() < 0.02, "{wait}");
        // Wider than the machine: it can never start.
        assert_eq!(asks(11, &state), None);
        state.arrive(JobId(1), &Submission::new(40, 1, 60));
        assert_eq!(asks(4, &state), None, "another job waits");
    }

    #[test]
    fn without_lifetimes_only_free_processors_are_known() {
        let mut state = SiteState::default();
        let ask = |state: &SiteState| {
            let job = Submission::new(0, 4, 60);
            predicted_wait(&Lifetimes::default(), QueueTimeMethod::Release, &job, state, 4, 0)
        };
        assert_eq!(ask(&state), Some(0.0));
        state.arrive(JobId(0), &Submission::new(0, 1, 60));
        state.start(JobId(0), 0);
        assert_eq!(ask(&state), None);
    }
}
