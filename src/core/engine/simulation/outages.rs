//! Outages: parts of the machine that are announced to be out, go out and come back. Jobs that run there may stop.

use super::Simulation;
use crate::engine::error::EngineError;
use crate::engine::event_queue::NEVER;
use crate::engine::observer::{Event, Observer};
use crate::engine::recorder::OutageFigures;
use crate::job::JobId;
use crate::machine::OutagePlan;
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
        for id in self.jobs_to_stop() {
            self.stop(Stop { id, is_requeued: !self.outage_clock.kills })?;
        }
        self.pass_due = true;
        Ok(())
    }

    /// The jobs that outages stop, those that started last first. On a pool so many that the others fit.
    fn jobs_to_stop(&self) -> Vec<JobId> {
        let now = self.now();
        let Some(outages) = &self.machine.outages else { return Vec::new() };
        let mut running: Vec<_> = self.machine.running.iter().map(|job| (job.id, i64::from(job.procs))).collect();
        let place = |id: JobId| std::cmp::Reverse((outages.job(id).start, self.machine.waiting.arrival(id)));
        if self.machine.nodes().is_some() {
            let nodes: Vec<u32> = outages.stopping(now).collect();
            let is_hit = |id: JobId| self.machine.grant(id).iter().any(|share| nodes.contains(&share.node));
            running.retain(|(id, _)| is_hit(*id));
            running.sort_by_key(|(id, _)| place(*id));
            return running.into_iter().map(|(id, _)| id).collect();
        }
        let used = running.iter().map(|(_, procs)| procs).sum();
        let mut over = outages.overuse(self.machine.procs(), used, now);
        if over <= 0 {
            return Vec::new();
        }
        running.sort_by_key(|(id, _)| place(*id));
        let stopped = running.into_iter().take_while(|(_, procs)| {
            let stops = over > 0;
            over -= procs;
            stops
        });
        stopped.map(|(id, _)| id).collect()
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
