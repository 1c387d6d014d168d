//! Figures of groups of jobs: who gains and who pays.

mod group_by;
mod grouping;
mod request_classes;

pub use group_by::{GroupBy, RUNTIME_CLASSES, runtime_class, runtime_class_name, width_class, width_class_name};
pub use grouping::{Grouping, Groupings};

use std::ops::Range;
use std::sync::Arc;

use super::job::JobMetrics;
use super::measure::Measure;
use super::summary::{BSLD_PERCENTS, Summary, Sums, WAIT_PERCENTS};
use crate::engine::RunRecord;
use crate::stats::rank;
use crate::trace::Workload;

/// The figures of a run for each group of a [`Grouping`].
#[derive(Clone, Debug)]
pub struct Breakdown {
    /// The groups.
    pub grouping: Arc<Grouping>,
    /// The figures of each group. What only a whole machine has, such as its utilization, is NaN or 0.
    pub summaries: Vec<Summary>,
    /// The comparison of each group with the baseline; empty without one.
    pub compared: Vec<GroupBaseline>,
}

/// A group of jobs in a comparison with a baseline.
#[derive(Clone, Copy, Debug)]
pub struct GroupBaseline {
    /// The figures of the group in the baseline.
    pub summary: Summary,
    /// The number of its jobs that wait less than in the baseline.
    pub gain: usize,
    /// The number of its jobs that wait longer than in the baseline.
    pub lose: usize,
}

impl Breakdown {
    /// Computes the figures of all groupings. `record` is the result of simulating the workload of the groupings.
    pub fn of(groupings: &Groupings, workload: &Workload, record: &RunRecord, measure: &Measure) -> Vec<Breakdown> {
        if groupings.each().is_empty() {
            return Vec::new();
        }
        let measured = measure.jobs(workload.jobs.len());
        let (mut waits, mut bslds) = (Vec::new(), Vec::new());
        let mut sums = vec![Sums::default(); groupings.slots()];
        for (at, finished) in record.finished_in(&workload.jobs, measured.clone()) {
            let at = at - measured.start;
            let job = JobMetrics::of(&finished, measure.bsld_threshold);
            groupings.slots_of(at).for_each(|slot| sums[slot].add(&finished, &job));
            if job.wait > 0 {
                waits.push((job.wait as f64, at as u32));
            }
            if job.bsld > 1.0 {
                bslds.push((job.bsld, at as u32));
            }
        }
        let waits = percentiles(groupings, &sums, 0.0, waits, WAIT_PERCENTS);
        let bslds = percentiles(groupings, &sums, 1.0, bslds, BSLD_PERCENTS);
        let all = sums.iter().zip(waits.into_iter().zip(bslds));
        let summaries: Vec<Summary> = all.map(|(sums, (waits, bslds))| sums.summary(waits, bslds)).collect();
        let breakdown = |(grouping, summaries): (&Arc<Grouping>, Vec<Summary>)| Breakdown {
            grouping: grouping.clone(),
            summaries,
            compared: Vec::new(),
        };
        groupings.each().iter().zip(groupings.by_group(&summaries)).map(breakdown).collect()
    }

    /// Adds the comparison with a baseline to the breakdowns of a run by all groupings. `run` and `base` are the records of
    /// the two runs, and `of_base` the breakdowns of the second.
    pub fn compare(
        of_run: &mut [Breakdown],
        of_base: &[Breakdown],
        groupings: &Groupings,
        measured: Range<usize>,
        run: &RunRecord,
        base: &RunRecord,
    ) {
        let mut counts = vec![(0, 0); groupings.slots()];
        // The wait, if jobs with conditions joined the queue at different times in the two runs.
        let wait = |record: &RunRecord, at: usize| {
            let start = record.outcomes[at].start.get()?;
            Some(start - record.arrived.as_ref().map_or(0, |jobs| jobs[at].submission.submit))
        };
        for (at, job) in measured.enumerate() {
            // A job that can never start in one of the runs neither gains nor loses.
            let Some((run, base)) = wait(run, job).zip(wait(base, job)) else { continue };
            for slot in groupings.slots_of(at) {
                counts[slot].0 += usize::from(run < base);
                counts[slot].1 += usize::from(run > base);
            }
        }
        for ((part, base), counts) in of_run.iter_mut().zip(of_base).zip(groupings.by_group(&counts)) {
            let of_base = base.summaries.iter().zip(counts);
            part.compared = of_base.map(|(&summary, (gain, lose))| GroupBaseline { summary, gain, lose }).collect();
        }
    }
}

/// The nearest-rank percentiles of a value of the jobs in each slot. `values` are those of all jobs for which it is above
/// `lowest`, with their indexes; often most jobs do not wait.
///
/// All groupings take them from one sort of all jobs, which is faster than a selection in every group of every grouping. The
/// jobs pass from the highest value down, so that those with the lowest one need not pass.
fn percentiles<const N: usize>(
    groupings: &Groupings,
    sums: &[Sums],
    lowest: f64,
    mut values: Vec<(f64, u32)>,
    percents: [f64; N],
) -> Vec<[f64; N]> {
    values.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
    let mut groups: Vec<_> = sums.iter().map(|sums| Ranks::new(sums.jobs, percents, lowest)).collect();
    // The number of jobs up to the next percentile of each group. It is apart, because every job changes nine of them.
    let mut left: Vec<usize> = groups.iter_mut().map(|group| group.next(lowest)).collect();
    for (value, job) in values {
        for slot in groupings.slots_of(job as usize) {
            left[slot] -= 1;
            if left[slot] == 0 {
                left[slot] = groups[slot].next(value);
            }
        }
    }
    groups.into_iter().map(|group| group.found).collect()
}

/// The percentiles of a group while the values pass in descending order.
struct Ranks<const N: usize> {
    /// The number of jobs from the highest value down to each percentile.
    ranks: [usize; N],
    /// How many of the percentiles are still to come; those are the first ones.
    to_come: usize,
    /// How many jobs have passed when the next percentile is reached.
    passed: usize,
    found: [f64; N],
}

impl<const N: usize> Ranks<N> {
    fn new(jobs: usize, percents: [f64; N], lowest: f64) -> Ranks<N> {
        let ranks = percents.map(|percent| jobs + 1 - rank(percent, jobs));
        Ranks { ranks, to_come: N, passed: 0, found: [lowest; N] }
    }

    /// Takes the value of the job that has just passed for all percentiles that are reached. Returns the number of jobs up to
    /// the next one.
    fn next(&mut self, value: f64) -> usize {
        while self.to_come > 0 && self.ranks[self.to_come - 1] == self.passed {
            self.to_come -= 1;
            self.found[self.to_come] = value;
        }
        let next = self.ranks[..self.to_come].last().copied().unwrap_or(usize::MAX);
        let left = next - self.passed;
        self.passed = next;
        left
    }
}
