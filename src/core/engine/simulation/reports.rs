//! What an observer is told after a pass, if it wants to know.

use super::{Simulation, placed};
use crate::engine::observer::{Observer, Reservation};

impl<O: Observer> Simulation<O> {
    /// Tells the observer the reservations after a pass, if it wants to see them. They are made with the predictions that the
    /// pass had.
    pub(super) fn report_reservations(&mut self) {
        let most = self.observers.1.wanted_reservations();
        if most == 0 {
            return;
        }
        let time = self.now();
        let mut reserved = std::mem::take(&mut self.reserved);
        reserved.clear();
        self.policy.value.reservations(&self.machine.view(time), most, &mut reserved);
        for &(id, start) in &reserved {
            let job = placed(&self.gate, id, self.place(id));
            self.observers.1.on_reservation(&Reservation { time, job, start });
        }
        self.reserved = reserved;
    }

    /// Tells the observer which jobs a limit holds after a pass, if it wants to see them.
    pub(super) fn report_held(&mut self) {
        if !self.observers.1.wants_held() {
            return;
        }
        let mut held = Vec::new();
        self.policy.value.held_by_limits(&self.machine.view(self.board.board().now()), &mut held);
        self.observers.1.on_held(&held);
    }
}
