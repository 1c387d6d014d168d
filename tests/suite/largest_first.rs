//! The widest job that fits starts first. Without reservations, so wide jobs may wait for long.

use std::cmp::Reverse;

use crate::schedule::{Decisions, Machine, Policy};
use crate::spec::Form;

/// Its name on the command line, and what `sim list schedulers` says about it.
pub const FORM: Form = Form { name: "largest-first", about: "the widest job first", keys: &[] };

pub struct LargestFirst;

impl Policy for LargestFirst {
    fn decide(&mut self, machine: &Machine, out: &mut Decisions) {
        let mut waiting: Vec<_> = machine.waiting.iter().collect();
        // Jobs of one width stay in the order of their arrival.
        waiting.sort_by_key(|job| Reverse(job.procs));
        let mut capacity = machine.capacity;
        for job in waiting {
            if capacity.fits(job.procs) {
                capacity.take(job.procs);
                out.starts.push(job.id);
            }
        }
    }

    // A pass finds all that it needs in the machine: each waiting job also has its prediction,
    // and each running job its predicted end. `on`, which tells what happens, and `wake` have
    // defaults.
}
