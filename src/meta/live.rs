//! A site while time goes on: its simulation, its load, and whoever watches it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::mpsc::{Receiver, Sender, channel};

use super::grid::Machine;
use super::load::{Load, LoadMeter};
use super::policies::SiteView;
use super::waits::SiteWaits;
use crate::engine::{EngineError, Named, Outcome, Simulation};
use crate::job::{Job, JobId, Submission};
use crate::predict::{self, Board, Predictor};
use crate::schedule;
use crate::time::{Seconds, Time};

pub(super) struct Live {
    procs: u32,
    simulation: Simulation,
    /// Tells an oracle the runtimes of the jobs that are handed in.
    truth: Option<Sender<Seconds>>,
    /// Which job of the stream each job handed in is.
    arrivals: Vec<u32>,
    load: LoadMeter,
    now: Time,
    starts: usize,
    watcher: Option<Watcher>,
}

/// Whoever watches, and the ends that are still to be told.
struct Watcher {
    waits: Box<dyn SiteWaits>,
    ends: BinaryHeap<Reverse<(Time, JobId)>>,
}

impl Live {
    pub fn new(machine: &Machine, waits: Option<Box<dyn SiteWaits>>) -> Live {
        let Machine { procs, setting, .. } = machine;
        // Which jobs will come is not known: a policy or a predictor that wants to know is not built from them.
        let (predictor, truth): (Box<dyn Predictor>, _) = if predict::catalog::is_oracle(&setting.predictor) {
            let (truth, told) = channel();
            (Box::new(Told(told)), Some(truth))
        } else {
            (predict::catalog::build(&setting.predictor, &[]), None)
        };
        let policy = schedule::catalog::build(&setting.scheduler, &[]);
        let simulation = Simulation::new(
            *procs,
            Named { name: setting.scheduler.to_string(), value: policy },
            Named { name: setting.predictor.to_string(), value: predictor },
            setting.engine,
        );
        Live {
            procs: *procs,
            simulation,
            truth,
            arrivals: Vec::new(),
            load: LoadMeter::default(),
            now: Time::MIN,
            starts: 0,
            watcher: waits.map(|waits| Watcher { waits, ends: BinaryHeap::new() }),
        }
    }

    pub fn next_event(&self) -> Option<Time> {
        self.simulation.next_event()
    }

    /// Time goes on to `now`, no later than the next event of any site: ends and missed deadlines of that instant.
    pub fn settle(&mut self, now: Time) -> Result<(), EngineError> {
        self.now = now;
        self.load.advance_to(now);
        if self.simulation.next_event() == Some(now) {
            self.simulation.settle(now)?;
        }
        if let Some(Watcher { waits, ends }) = &mut self.watcher {
            while let Some(&Reverse((end, id))) = ends.peek()
                && end <= now
            {
                ends.pop();
                waits.on_end(id, end);
            }
        }
        Ok(())
    }

    /// A job of the stream joins the queue now.
    pub fn hand_in(&mut self, job: &Job, arrival: usize) -> Result<JobId, EngineError> {
        if let Some(truth) = &self.truth {
            // The oracle lives as long as the simulation, which is ours.
            let _ = truth.send(job.runtime);
        }
        let id = self.simulation.submit(job)?;
        self.simulation.settle(self.now)?;
        self.arrivals.push(arrival as u32);
        self.load.queue(&job.submission);
        if let Some(watcher) = &mut self.watcher {
            watcher.waits.on_arrival(id, &job.submission, self.now);
        }
        Ok(id)
    }

    /// The scheduling pass of this instant, if one is due; the jobs that it starts are put into `started`.
    pub fn pass(&mut self, started: &mut Vec<JobId>) -> Result<(), EngineError> {
        started.clear();
        started.extend_from_slice(self.simulation.pass()?);
        Ok(())
    }

    /// A job has started here.
    pub fn note_start(&mut self, id: JobId, job: &Job) {
        self.starts += 1;
        self.load.unqueue(&job.submission);
        self.load.start(&job.submission, job.runtime, self.now);
        if let Some(Watcher { waits, ends }) = &mut self.watcher {
            waits.on_start(id, self.now);
            ends.push(Reverse((self.now + job.runtime, id)));
        }
    }

    /// Withdraws a waiting job: it has started elsewhere.
    pub fn cancel(&mut self, id: JobId, job: &Job) -> Result<(), EngineError> {
        // The clock of a site to which nothing has happened may stand behind.
        if self.simulation.now() < self.now {
            self.simulation.settle(self.now)?;
        }
        self.simulation.cancel(id)?;
        self.load.unqueue(&job.submission);
        if let Some(watcher) = &mut self.watcher {
            watcher.waits.on_cancellation(id);
        }
        Ok(())
    }

    /// Which job of the stream this is.
    pub fn arrival(&self, id: JobId) -> usize {
        self.arrivals[id.index()] as usize
    }

    /// Nothing is to come: what became of the jobs handed in. An error if one still waits.
    pub fn into_outcomes(mut self) -> Result<Vec<Outcome>, EngineError> {
        self.simulation.run_to_end()?;
        Ok(self.simulation.into_outcomes().0)
    }

    /// The work of all jobs looked at one by one: what the meter must say.
    fn work_counted(&self) -> i128 {
        let (view, board) = (self.simulation.view(), self.simulation.board());
        let queued = view.waiting.iter().map(|job| (job.procs, board.job(job.id).estimate));
        let running = view.running.iter().map(|job| {
            let predict::Stage::Running { start } = board.stage(job.id) else { unreachable!("it runs") };
            (job.procs, (start + board.job(job.id).estimate - self.now).max(0))
        });
        queued.chain(running).map(|(procs, seconds)| i128::from(procs) * i128::from(seconds)).sum()
    }
}

impl SiteView for Live {
    fn procs(&self) -> u32 {
        self.procs
    }

    fn load(&self) -> Load {
        let work = self.load.work(self.now);
        debug_assert_eq!(work, self.work_counted());
        Load { work, procs: self.procs }
    }

    fn starts(&self) -> usize {
        self.starts
    }

    fn is_quick(&self, job: &Submission) -> bool {
        self.watcher.as_ref().is_some_and(|watcher| watcher.waits.is_quick(job, self.now))
    }

    fn expected_wait(&self, job: &Submission) -> Option<f64> {
        self.watcher.as_ref()?.waits.expected_wait(job, self.now)
    }
}

/// Perfect for jobs that are dealt out as time goes on: told each runtime before the job arrives.
struct Told(Receiver<Seconds>);

impl Predictor for Told {
    fn on_arrival(&mut self, id: JobId, board: &mut Board) {
        board.predict(id, self.0.try_recv().expect("the runtime was told before"));
    }
}
