//! What observers are told after a pass.

use super::Simulation;
use crate::engine::observer::{Event, Observer, PassEnd, Placed, Reservation};
use crate::job::JobId;
use crate::schedule::Asked;
use crate::time::Time;

impl<O: Observer> Simulation<O> {
    /// Tells the observer that a pass has ended, with what it wants to know.
    pub(super) fn report_pass(&mut self) {
        let (mut reserved, mut held) = (Vec::new(), Vec::new());
        let most = self.wants.most_reservations();
        if most > 0 {
            let made = self.reservations(most).into_iter();
            let of = |(id, start)| Reservation { job: Placed { id, place: self.place(id) }, start };
            reserved = made.map(of).collect();
        }
        if self.wants.wants_held() && self.scheduler.answers {
            self.ask(Asked::Held);
            std::mem::swap(&mut held, &mut self.decisions.held);
            held.sort_unstable();
        }
        let end = PassEnd { reserved: &reserved, held: &held };
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
