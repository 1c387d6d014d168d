//! A site during a run: its simulation, and what policies may use of its state.

use std::sync::Arc;

use super::load::{Load, SiteLoadMeter};
use super::policies::SiteView;
use super::system::SiteMachine;
use super::waits::SiteWaitPredictor;
use crate::engine::{EngineError, EngineOptions, Event, Observer, Outcome, Simulation};
use crate::job::{Job, JobId, Submission};
use crate::predict::RunFacts;
use crate::schedule::{LogFacts, Machine};
use crate::time::Time;

pub(super) struct LiveSite {
    procs: u32,
    simulation: Simulation<SiteObservers>,
    /// The index in the stream of each job queued at this site.
    arrivals: Vec<u32>,
    now: Time,
}

/// The observers of one site.
struct SiteObservers {
    load: SiteLoadMeter,
    starts: usize,
    waits: Option<Box<dyn SiteWaitPredictor>>,
}

impl Observer for SiteObservers {
    fn on(&mut self, time: Time, event: &Event<'_>, machine: &Machine) {
        self.starts += usize::from(matches!(event, Event::Start(_)));
        self.load.on(time, event, machine);
        self.waits.as_deref_mut().on(time, event, machine);
    }
}

impl LiveSite {
    pub fn new(machine: &SiteMachine, waits: Option<Box<dyn SiteWaitPredictor>>) -> LiveSite {
        let SiteMachine { name, procs, setting, unix_start, outages, accounts, ids, .. } = machine;
        // The stream begins at time 0. Its users and other names are numbered over all sites, with small numbers.
        let (trace, procs, unix_start, ids) = (name.clone(), *procs, *unix_start, Arc::clone(ids));
        let facts = RunFacts { trace, procs, unix_start, ids, ..RunFacts::default() };
        // Future jobs are not known here, so there is no log to replay. (Sites cannot replay.)
        let policy = setting.policy(&LogFacts::of_accounts(accounts).of_run(&facts).amid_outages(outages.is_some()));
        let simulation = Simulation::observed(
            procs,
            policy,
            setting.predictor(&facts),
            EngineOptions { unix_start, ..setting.engine },
            SiteObservers { load: SiteLoadMeter::default(), starts: 0, waits },
        );
        let simulation = simulation.with_outages(outages.clone());
        LiveSite { procs, simulation, arrivals: Vec::new(), now: Time::MIN }
    }

    pub fn next_event(&self) -> Option<Time> {
        self.simulation.next_event()
    }

    /// Whether its jobs will never start, if no other comes: see [`Simulation::is_stuck`].
    pub fn is_stuck(&self) -> bool {
        self.simulation.is_stuck()
    }

    /// Advances to `now`, which is at most the next event of any site, and handles the ends and missed deadlines of
    /// that instant.
    pub fn settle(&mut self, now: Time) -> Result<(), EngineError> {
        self.now = now;
        if self.simulation.next_event() == Some(now) {
            self.simulation.settle(now)?;
        }
        self.simulation.observer_mut().waits.iter_mut().for_each(|waits| waits.advance_to(now));
        Ok(())
    }

    /// Puts a job of the stream, by its index, into the queue now.
    pub fn enqueue(&mut self, job: &Job, arrival: usize) -> Result<JobId, EngineError> {
        let id = self.simulation.submit(job)?;
        self.simulation.settle(self.now)?;
        self.arrivals.push(arrival as u32);
        Ok(id)
    }

    /// Makes the scheduling pass of this instant, if one is needed, and puts the jobs that it starts into `started`.
    pub fn pass(&mut self, started: &mut Vec<JobId>) -> Result<(), EngineError> {
        started.clear();
        started.extend_from_slice(self.simulation.pass()?);
        Ok(())
    }

    /// Cancels a waiting job that has started at another site.
    pub fn cancel(&mut self, id: JobId) -> Result<(), EngineError> {
        // The clock of a site without recent events may be behind.
        if self.simulation.now() < self.now {
            self.simulation.settle(self.now)?;
        }
        self.simulation.cancel(id)
    }

    /// The index in the stream of a job of this site.
    pub fn arrival(&self, id: JobId) -> usize {
        self.arrivals[id.index()] as usize
    }

    /// Runs to the end and returns the outcomes of the site's jobs.
    ///
    /// # Errors
    ///
    /// If a job still waits.
    pub fn into_outcomes(mut self) -> Result<Vec<Outcome>, EngineError> {
        self.simulation.run_to_end()?;
        Ok(self.simulation.into_outcomes().0)
    }
}

impl SiteView for LiveSite {
    fn procs(&self) -> u32 {
        self.procs
    }

    fn load(&self) -> Load {
        let work = self.simulation.observer().load.work(self.now);
        Load { work, procs: self.procs }
    }

    fn starts(&self) -> usize {
        self.simulation.observer().starts
    }

    fn is_quick(&self, job: &Submission) -> bool {
        self.simulation.observer().waits.as_ref().is_some_and(|waits| waits.is_quick(job, self.now))
    }

    fn expected_wait(&self, job: &Submission) -> Option<f64> {
        self.simulation.observer().waits.as_ref()?.expected_wait(job, self.now)
    }
}
