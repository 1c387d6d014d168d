//! Outages: parts of the machine that are announced to be out, go out and come back. Jobs that run there may stop.

use super::Simulation;
use crate::engine::error::EngineError;
use crate::engine::event_queue::NEVER;
use crate::engine::observer::{Event, Observer};
use crate::engine::recorder::OutageFigures;
use crate::machine::{Outage, OutagePlan};
use crate::schedule::{Change, NeverStarts, Stop};
use crate::time::Time;

/// The instants at which outages are announced, begin or end, and whether jobs that stop have failed.
#[derive(Debug, Default)]
pub(super) struct OutageClock {
    /// Descending: the next one is the last.
    instants: Vec<Time>,
    kills: bool,
}

impl<O: Observer> Simulation<O> {
    /// With outages. None: the machine is always whole.
    pub fn with_outages(mut self, plan: Option<OutagePlan>) -> Self {
        let Some(plan) = plan else { return self };
        let mut instants = plan.outages.instants();
        instants.reverse();
        self.outage_clock = OutageClock { instants, kills: plan.outages.kills };
        self.machine = self.machine.with_outages(&plan);
        self.next_outage = self.outage_clock.instants.last().copied().unwrap_or(NEVER);
        self
    }

    /// The outages that are announced, begin or end until now, and the jobs that stop because of them: step 2 of an instant. While
    /// no job is in the system these are no events, so that several may have become due.
    #[cold]
    pub(super) fn change_outages(&mut self) -> Result<(), EngineError> {
        let now = self.now();
        while let Some(at) = self.outage_clock.instants.pop_if(|at| *at <= now) {
            self.machine.change(Change::Clock(at));
            self.machine.change(Change::Outages);
        }
        self.machine.change(Change::Clock(now));
        self.next_outage = self.outage_clock.instants.last().copied().unwrap_or(NEVER);
        self.observers.on(now, &Event::Outages, &self.machine);
        if !self.scheduler.stops_at_outages {
            for id in self.machine.jobs_that_stop(Outage::stops) {
                self.stop(Stop { id, is_requeued: !self.outage_clock.kills })?;
            }
        }
        self.pass_due = true;
        Ok(())
    }

    /// Why waiting jobs start no more when no event is left: the first outage that is there and has no end.
    pub(super) fn why_stuck(&self) -> Option<NeverStarts> {
        let outages = self.machine.outages.as_ref()?;
        let (_, outage) = outages.present(self.now()).next()?;
        Some(NeverStarts { cause: format!("{} never ends", outage.in_words()), asks: String::new() })
    }

    /// What outages did. None if there are none.
    pub fn outage_figures(&self) -> Option<OutageFigures> {
        let available = self.machine.outages.as_ref()?.available_area();
        let recorder = &self.observers.0;
        let mut requeues = recorder.requeues.clone();
        requeues.sort_by_key(|(id, _)| *id);
        Some(OutageFigures { available, stopped: recorder.preempted, requeues })
    }
}
