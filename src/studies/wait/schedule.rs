//! A schedule as a sequence of events of a site, in the order in which waits are predicted.

use crate::engine::{EngineError, Event, Observer, Simulation};
use crate::experiment::Setting;
use crate::job::{Job, JobId, Submission};
use crate::predict::RunFacts;
use crate::schedule::{LogFacts, Machine};
use crate::time::{Seconds, Time};
use crate::trace::Workload;

/// Jobs, their starts, and the machine they ran on: a log's own schedule or a simulated one.
#[derive(Clone, Debug)]
pub struct SiteSchedule<'a> {
    /// A job's index in it is its [`JobId`].
    pub workload: &'a Workload,
    /// When each job started, one per job.
    pub starts: &'a [Time],
}

impl<'a> SiteSchedule<'a> {
    /// The jobs of a workload with these starts.
    pub fn new(workload: &'a Workload, starts: &'a [Time]) -> SiteSchedule<'a> {
        SiteSchedule { workload, starts }
    }

    /// How long a job waited.
    pub fn wait(&self, id: JobId) -> Seconds {
        self.starts[id.index()] - self.workload.jobs[id.index()].submission.submit
    }

    /// The jobs with these waits as their recorded waits, so that the scheduler `replay` repeats the schedule.
    pub(super) fn with_waits(&self) -> Vec<Job> {
        let jobs = &self.workload.jobs;
        let waits = (0..jobs.len() as u32).map(|id| self.wait(JobId(id)));
        jobs.iter().zip(waits).map(|(job, wait)| Job { recorded_wait: Some(wait).into(), ..*job }).collect()
    }

    /// Replays the schedule for a handler, up to and including the instant at which the last of the first `jobs` jobs
    /// arrives.
    pub(super) fn replay(&self, jobs: usize, handler: &mut dyn SiteHandler) -> Result<(), EngineError> {
        let all = self.with_waits();
        // A replay does not depend on predicted run times.
        let setting = Setting::parse("replay", "estimate").expect("both are in the catalogs");
        let policy = setting.policy(&LogFacts::of_jobs(&all, &self.workload.wide));
        let (predictor, order) = (setting.predictor(&RunFacts::of(self.workload)), SiteOrder::new(handler));
        let mut simulation = Simulation::observed(self.workload.procs, policy, predictor, setting.engine, order);
        for together in all[..jobs].chunk_by(|a, b| a.submission.submit == b.submission.submit) {
            together.iter().try_for_each(|job| simulation.submit(job).map(|_| ()))?;
            simulation.advance_to(together[0].submission.submit)?;
        }
        simulation.observer_mut().finish();
        Ok(())
    }
}

/// When each job of a workload started by its recorded wait. One without a wait started when it was submitted.
pub fn recorded_starts(workload: &Workload) -> Vec<Time> {
    let start = |job: &Job| job.submission.submit + job.recorded_wait.get().unwrap_or(0);
    workload.jobs.iter().map(start).collect()
}

/// Receives the events of a site.
pub trait SiteHandler {
    /// A job joins the queue.
    fn on_arrival(&mut self, id: JobId, job: &Submission, now: Time);
    /// A waiting job starts.
    fn on_start(&mut self, id: JobId, now: Time);
    /// A running job has ended.
    fn on_end(&mut self, id: JobId, runtime: Seconds, now: Time);
    /// A waiting job is cancelled.
    fn on_cancellation(&mut self, _id: JobId) {}
}

/// Observes a simulation for a [`SiteHandler`], and passes the events of one instant in another order: ends, then
/// starts of jobs that arrived earlier, then arrivals, all in workload order. A job that starts when it arrives starts
/// before the next job arrives. So the features of an arriving job describe the site after the ends and starts of the
/// instant, whatever the order of the engine's decisions.
///
/// Arrivals and starts are kept back until the instant is over: until an event of a later instant, or a call of
/// [`SiteOrder::advance_to`] with a later time.
#[derive(Clone, Debug)]
pub struct SiteOrder<H> {
    handler: H,
    /// The present instant; its arrivals and starts are kept back.
    now: Time,
    arrivals: Vec<(JobId, Submission)>,
    starts: Vec<JobId>,
    /// Jobs that were stopped and wait again. For the handler they run.
    requeued: Vec<JobId>,
}

impl<H: SiteHandler> SiteOrder<H> {
    /// Passes events to this handler.
    pub fn new(handler: H) -> Self {
        SiteOrder { handler, now: Time::MIN, arrivals: Vec::new(), starts: Vec::new(), requeued: Vec::new() }
    }

    /// The handler, and the jobs that have arrived at the present instant and have not been passed to it yet.
    pub fn handler(&self) -> (&H, &[(JobId, Submission)]) {
        (&self.handler, &self.arrivals)
    }

    /// All instants before `now` are over: passes the events that were kept back.
    pub fn advance_to(&mut self, now: Time) {
        if now > self.now {
            self.finish();
            self.now = now;
        }
    }

    /// The present instant is over: passes the events that were kept back.
    pub fn finish(&mut self) {
        self.starts.sort_unstable();
        let arrived = |id: &JobId| self.arrivals.iter().any(|(other, _)| other == id);
        for &id in self.starts.iter().filter(|id| !arrived(id)) {
            self.handler.on_start(id, self.now);
        }
        for (id, job) in self.arrivals.drain(..) {
            self.handler.on_arrival(id, &job, self.now);
            if self.starts.binary_search(&id).is_ok() {
                self.handler.on_start(id, self.now);
            }
        }
        self.starts.clear();
    }
}

impl<H: SiteHandler> Observer for SiteOrder<H> {
    fn on(&mut self, time: Time, event: &Event<'_>, _machine: &Machine) {
        match event {
            Event::Arrival(arrival) => {
                self.advance_to(time);
                self.arrivals.push((arrival.job.id, *arrival.submission));
            }
            Event::Start(start) => {
                self.advance_to(time);
                match self.requeued.iter().position(|id| *id == start.job.id) {
                    Some(at) => drop(self.requeued.swap_remove(at)),
                    None => self.starts.push(start.job.id),
                }
            }
            Event::Preemption(preemption) if preemption.is_requeued => self.requeued.push(preemption.job.id),
            // Ends come first in both orders, so they are passed at once.
            Event::End(end) => {
                self.advance_to(time);
                self.handler.on_end(end.job.id, end.runtime, time);
            }
            Event::Cancellation(cancellation) => {
                self.advance_to(time);
                let id = cancellation.job.id;
                match self.arrivals.iter().position(|(other, _)| *other == id) {
                    Some(at) => drop(self.arrivals.remove(at)),
                    None => self.handler.on_cancellation(id),
                }
            }
            _ => {}
        }
    }
}

impl<H: SiteHandler + ?Sized> SiteHandler for &mut H {
    fn on_arrival(&mut self, id: JobId, job: &Submission, now: Time) {
        (**self).on_arrival(id, job, now);
    }

    fn on_start(&mut self, id: JobId, now: Time) {
        (**self).on_start(id, now);
    }

    fn on_end(&mut self, id: JobId, runtime: Seconds, now: Time) {
        (**self).on_end(id, runtime, now);
    }

    fn on_cancellation(&mut self, id: JobId) {
        (**self).on_cancellation(id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct EventLog(Vec<(Time, u32, char)>);

    impl SiteHandler for EventLog {
        fn on_arrival(&mut self, id: JobId, _: &Submission, now: Time) {
            self.0.push((now, id.0, 'a'));
        }

        fn on_start(&mut self, id: JobId, now: Time) {
            self.0.push((now, id.0, 's'));
        }

        fn on_end(&mut self, id: JobId, _: Seconds, now: Time) {
            self.0.push((now, id.0, 'e'));
        }
    }

    #[test]
    fn an_instant_has_its_order() {
        let job = |submit, runtime| Job::new(Submission::new(submit, 1, 10), runtime);
        let jobs = vec![job(0, 10), job(5, 3), job(10, 1), job(10, 1), job(13, 1)];
        let workload = Workload { procs: 1, jobs, ..Workload::default() };
        let schedule = SiteSchedule::new(&workload, &[0, 10, 10, 11, 13]);
        let mut heard = EventLog::default();
        schedule.replay(workload.jobs.len(), &mut heard).unwrap();
        let expected = [
            (0, 0, 'a'),
            (0, 0, 's'),
            (5, 1, 'a'),
            (10, 0, 'e'),
            (10, 1, 's'),
            (10, 2, 'a'),
            (10, 2, 's'),
            (10, 3, 'a'),
            (11, 2, 'e'),
            (11, 3, 's'),
            (12, 3, 'e'),
            (13, 1, 'e'),
            (13, 4, 'a'),
            (13, 4, 's'),
        ];
        assert_eq!(heard.0, expected);
        assert_eq!(schedule.wait(JobId(1)), 5);
    }
}
