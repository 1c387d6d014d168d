//! Gibbons' predictor, as Smith et al. describe it (Table 3 and section 4). It has six fixed templates; the first valid one
//! predicts.

use rustc_hash::FxHashMap;

use super::board::Board;
use super::predictor::Predictor;
use super::smith::category::{PointSums, data_point, unit, whole_seconds};
use super::smith::templates::Data;
use crate::job::{JobId, Submission};
use crate::spec::{Form, Key, Spec};
use crate::time::Seconds;

pub const FORM: Form = Form {
    name: "gibbons",
    about: "Gibbons' six templates: same user and program, same program, all jobs; by node range, else by regression",
    keys: &[Key::choice(
        "data",
        &["act", "rel"],
        "what is stored: runtimes (act), or runtimes divided by estimates (rel)",
    )],
};

/// A mean of at least this number of runs is valid.
const VALID: i64 = 2;
/// In seconds squared. Also used for a single run, which has no variance.
const LEAST_VARIANCE: f64 = 1.0;

/// Unknown users and executables (-1) are values like any other. With `data=rel`, a job without an estimate in the log
/// counts with the one assigned to it. If no template is valid, the prediction is the estimate.
#[derive(Default)]
pub struct Gibbons {
    data: Data,
    /// The jobs of each template in node ranges: by user and executable, by executable, and all jobs.
    by_user: FxHashMap<(i32, i32), NodeRanges>,
    by_executable: FxHashMap<i32, NodeRanges>,
    all: NodeRanges,
    /// Every job that has ended.
    runs: Vec<PastRun>,
}

#[derive(Clone, Copy, Debug)]
struct PastRun {
    runtime: Seconds,
    point: i64,
    procs: u32,
}

/// The jobs of a template by node range: 1, 2-3, 4-7, 8-15 processors and so on.
#[derive(Clone, Debug, Default)]
struct NodeRanges(Vec<NodeRange>);

#[derive(Clone, Debug, Default)]
struct NodeRange {
    sums: PointSums,
    /// Indexes into `Gibbons::runs`, for predictions of jobs that already run.
    runs: Vec<u32>,
}

/// The index of the node range of a number of processors.
fn range_of(procs: u32) -> usize {
    procs.ilog2() as usize
}

impl Gibbons {
    pub fn new(spec: &Spec) -> Self {
        let data = if spec.text("data") == "rel" { Data::Relative } else { Data::Actual };
        Gibbons { data, ..Gibbons::default() }
    }

    /// The runtime predicted from past runs for a job that has run for `age` seconds: only longer runs count.
    fn predict_from_runs(&self, job: &Submission, age: Seconds) -> Option<f64> {
        let templates =
            [self.by_user.get(&(job.user, job.executable)), self.by_executable.get(&job.executable), Some(&self.all)];
        let unit = unit(self.data, job.estimate);
        templates.into_iter().flatten().find_map(|ranges| {
            let sums: Vec<PointSums> = ranges.0.iter().map(|range| self.longer_than(range, age)).collect();
            let own = sums.get(range_of(job.procs)).filter(|own| own.count >= VALID);
            own.map(PointSums::mean).or_else(|| regression(&sums, f64::from(job.procs), unit)).map(|value| value * unit)
        })
    }

    fn longer_than(&self, range: &NodeRange, age: Seconds) -> PointSums {
        if age == 0 {
            return range.sums;
        }
        let mut sums = PointSums::default();
        for run in range.runs.iter().map(|&at| self.runs[at as usize]).filter(|run| run.runtime > age) {
            sums.add(run.point, run.procs);
        }
        sums
    }
}

/// The line through the ranges' means (processors, runtime), each weighted by the inverse of the variance of its
/// runtimes. Two ranges with data are needed.
fn regression(ranges: &[PointSums], procs: f64, unit: f64) -> Option<f64> {
    let points: Vec<(f64, f64, f64)> = ranges
        .iter()
        .filter(|sums| sums.count > 0)
        .map(|sums| {
            let variance = if sums.count > 1 { sums.variance() * unit * unit } else { 0.0 };
            (sums.mean_procs(), sums.mean(), 1.0 / variance.max(LEAST_VARIANCE))
        })
        .collect();
    if points.len() < 2 {
        return None;
    }
    let total: f64 = points.iter().map(|(_, _, weight)| weight).sum();
    let mean_x = points.iter().map(|(x, _, weight)| x * weight).sum::<f64>() / total;
    let mean_y = points.iter().map(|(_, y, weight)| y * weight).sum::<f64>() / total;
    let spread: f64 = points.iter().map(|(x, _, weight)| weight * (x - mean_x) * (x - mean_x)).sum();
    let of_both: f64 = points.iter().map(|(x, y, weight)| weight * (x - mean_x) * (y - mean_y)).sum();
    Some(mean_y + of_both / spread * (procs - mean_x))
}

impl Predictor for Gibbons {
    fn on_termination(&mut self, id: JobId, runtime: Seconds, board: &mut Board) {
        let job = board.job(id);
        let run = PastRun { runtime, point: data_point(self.data, runtime, job.estimate), procs: job.procs };
        let (number, range) = (self.runs.len() as u32, range_of(job.procs));
        self.runs.push(run);
        let by_user = self.by_user.entry((job.user, job.executable)).or_default();
        let by_executable = self.by_executable.entry(job.executable).or_default();
        for NodeRanges(ranges) in [by_user, by_executable, &mut self.all] {
            if ranges.len() <= range {
                ranges.resize_with(range + 1, NodeRange::default);
            }
            ranges[range].sums.add(run.point, run.procs);
            ranges[range].runs.push(number);
        }
    }

    /// A running job is predicted by its age.
    fn predict_again(&mut self, id: JobId, board: &mut Board) {
        let job = board.job(id);
        let answer = self.predict_from_runs(job, board.elapsed(id));
        let prediction = answer.map_or(job.estimate, whole_seconds);
        board.set_answered(id, answer.is_some());
        board.predict_if_above_elapsed(id, prediction);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predict::board::{BoardKeeper, Stage};

    #[test]
    fn a_running_job_is_compared_with_longer_runs_only() {
        let spec = Spec::parse("gibbons", "predictor", &[&FORM]).unwrap();
        let (mut gibbons, mut keeper) = (Gibbons::new(&spec), BoardKeeper::default());
        for runtime in [10, 20, 100, 200] {
            let id = keeper.arrive(Submission::new(0, 2, 1000));
            gibbons.on_arrival(id, keeper.board_mut());
            gibbons.on_termination(id, runtime, keeper.board_mut());
        }
        let id = keeper.arrive(Submission::new(0, 3, 1000));
        gibbons.on_arrival(id, keeper.board_mut());
        // (10 + 20 + 100 + 200) / 4, rounded up at the half.
        assert_eq!(keeper.board().prediction(id), 83);
        keeper.set_stage(id, Stage::Running { start: 0 });
        keeper.set_now(20);
        gibbons.predict_again(id, keeper.board_mut());
        assert_eq!(keeper.board().prediction(id), 150, "of 100 and 200");
        keeper.set_now(100);
        gibbons.predict_again(id, keeper.board_mut());
        assert_eq!(keeper.board().prediction(id), 1000, "one longer run is not enough: the estimate");
    }
}
