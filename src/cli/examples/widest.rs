//! A scheduler for shadowtime: the widest job that fits starts first. In Cargo.toml:
//!
//!     [dependencies]
//!     shadowtime = { git = "..." }      # or path = "..."
//!
//! `cargo run --release -- --trace LOG.swf.gz --scheduler widest --baseline easy/estimate` compares it with
//! another scheduler. All other commands know it too, such as `sweep --scheduler widest,easy`.

use std::cmp::Reverse;

use shadowtime::schedule::{Decisions, Machine, Policy, Scheduler, catalog::SchedulerEntry};
use shadowtime::spec::Form;

/// Without reservations, so wide jobs may wait for long.
struct Widest;

/// In the machine each waiting job also has its prediction, and each running job its predicted end. Schedulers that remember
/// something from pass to pass are told what happens (`on`), and can ask for a pass at a time (`wake`).
impl Policy for Widest {
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
}

static WIDEST: Form = Form { name: "widest", about: "the widest job first", keys: &[] };
static MINE: [SchedulerEntry; 1] = [(&WIDEST, |_, _| Scheduler::new(Widest))];

fn main() -> std::process::ExitCode {
    shadowtime::cli::run_with(&[], &MINE, std::env::args_os())
}
