//! What observers are told after a pass.

use super::Simulation;
use crate::engine::observer::{Event, Observer, PassEnd};
use crate::job::JobId;
use crate::schedule::Asked;
use crate::time::Time;

impl<O: Observer> Simulation<O> {
    /// Tells the observer that a pass has ended, with what it wants to know.
    pub(super) fn report_pass(&mut self) {
        let mut held = Vec::new();
        if self.wants.wants_held() && self.scheduler.answers {
            self.ask(Asked::Held);
            std::mem::swap(&mut held, &mut self.decisions.held);
            held.sort_unstable();
        }
        let end = PassEnd { held: &held };
        self.observers.1.on(self.machine.now, &Event::Pass(end), &self.machine);
    }

    /// The starts that the policy has reserved for waiting jobs after a pass, by the predictions that the pass had: the first
    /// `most` in the order of the queue.
    pub fn reservations(&mut self, most: usize) -> Vec<(JobId, Time)> {
        if self.scheduler.answers {
            self.ask(Asked::Reservations(most));
        }
        std::mem::take(&mut self.decisions.reserved)
    }
}
