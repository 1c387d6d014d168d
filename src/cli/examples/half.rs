//! A runtime predictor for shadowtime: a part of the user's estimate. In Cargo.toml:
//!
//!     [dependencies]
//!     shadowtime = { git = "..." }      # or path = "..."
//!
//! `cargo run --release -- --trace LOG.swf.gz --predictor half --baseline sjbf/ruh` compares it with another
//! predictor. All other commands know it too, such as `sweep --predictor half:percent=10..90:10`.

use shadowtime::job::JobId;
use shadowtime::predict::{Board, Predictor, catalog::Entry};
use shadowtime::spec::{Form, Key, Kind};

/// This percentage of the estimate.
struct Half(i64);

/// The other events are `on_start`, `on_termination`, which has the job's runtime, `on_deadline_missed` and
/// `on_cancellation`. At each of them any waiting or running jobs may be predicted again.
impl Predictor for Half {
    fn on_arrival(&mut self, id: JobId, board: &mut Board) {
        let estimate = board.job(id).estimate;
        board.predict(id, (estimate * self.0 / 100).max(1));
    }
}

const PERCENT: Key =
    Key { name: "percent", kind: Kind::Whole { least: 1 }, default: "50", about: "how much of the estimate" };
static HALF: Form = Form { name: "half", about: "a part of the estimate", keys: &[PERCENT] };
static MINE: [Entry; 1] = [(&HALF, |spec| Box::new(Half(spec.whole("percent"))))];

fn main() -> std::process::ExitCode {
    shadowtime::cli::run_with(&MINE, &[], std::env::args_os())
}
