//! The mean runtime of the ended jobs that had as many processors.

use std::collections::BTreeMap;

use crate::job::JobId;
use crate::predict::{Board, Predictor};
use crate::spec::Form;
use crate::time::Seconds;

/// Its name on the command line, and what `sim list predictors` says about it.
pub const FORM: Form = Form { name: "size-mean", about: "the mean runtime by size", keys: &[] };

#[derive(Default)]
pub struct SizeMean {
    /// For each number of processors, how many jobs have ended and the sum of their runtimes.
    ended: BTreeMap<u32, (i64, Seconds)>,
}

impl Predictor for SizeMean {
    fn on_arrival(&mut self, id: JobId, board: &mut Board) {
        let job = board.job(id);
        let prediction = match self.ended.get(&job.procs) {
            Some((jobs, runtimes)) => runtimes / jobs,
            None => job.estimate,
        };
        board.predict(id, prediction);
    }

    fn on_termination(&mut self, id: JobId, runtime: Seconds, board: &mut Board) {
        let (jobs, runtimes) = self.ended.entry(board.job(id).procs).or_default();
        *jobs += 1;
        *runtimes += runtime;
    }

    // The other events keep their defaults: a start changes nothing, and a job that runs longer
    // than its prediction is predicted to run as long as its estimate.
}
