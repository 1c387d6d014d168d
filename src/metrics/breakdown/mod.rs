//! Figures of groups of jobs: who gains and who pays.

mod grouping;

pub use grouping::{GroupBy, Grouping};

use std::sync::Arc;

use super::job::JobMetrics;
use super::measure::Measure;
use super::summary::{BSLD_PERCENTS, Summary, Sums, WAIT_PERCENTS};
use crate::engine::RunRecord;
use crate::parallel;
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
    pub fn of(
        groupings: &[Arc<Grouping>],
        workload: &Workload,
        record: &RunRecord,
        measure: &Measure,
        threads: usize,
    ) -> Vec<Breakdown> {
        let measured = measure.jobs(workload.jobs.len());
        let mut waits = Vec::with_capacity(measured.len());
        let mut bslds = Vec::with_capacity(measured.len());
        let mut sums: Vec<_> = groupings.iter().map(|grouping| vec![Sums::default(); grouping.values.len()]).collect();
        for (at, finished) in record.finished(&workload.jobs).skip(measured.start).take(measured.len()).enumerate() {
            let job = JobMetrics::of(&finished, measure.bsld_threshold);
            for (grouping, sums) in groupings.iter().zip(&mut sums) {
                sums[grouping.places[at] as usize].add(&finished, &job);
            }
            waits.push(job.wait as f64);
            bslds.push(job.bsld);
        }
        let (waits, bslds) = (Sorted::new(&waits), Sorted::new(&bslds));
        let both: Vec<_> = groupings.iter().zip(sums).collect();
        let summarize = |(grouping, sums): &(&Arc<Grouping>, Vec<Sums>)| {
            let waits = waits.percentiles(grouping, sums, WAIT_PERCENTS);
            let bslds = bslds.percentiles(grouping, sums, BSLD_PERCENTS);
            sums.iter().zip(waits.zip(bslds)).map(|(group, (waits, bslds))| group.summary(waits, bslds)).collect()
        };
        let summaries: Vec<Vec<Summary>> = parallel::map(&both, threads, summarize, |_| ());
        groupings
            .iter()
            .zip(summaries)
            .map(|(grouping, summaries)| Breakdown { grouping: grouping.clone(), summaries, compared: Vec::new() })
            .collect()
    }

    /// Adds the comparison with a baseline. `run` and `base` are the records of the two runs, of which `baseline` is the
    /// breakdown of the second by the same grouping.
    pub fn compare(
        &mut self,
        workload: &Workload,
        measure: &Measure,
        run: &RunRecord,
        baseline: &Breakdown,
        base: &RunRecord,
    ) {
        let summaries = baseline.summaries.iter();
        self.compared = summaries.map(|&summary| GroupBaseline { summary, gain: 0, lose: 0 }).collect();
        let measured = measure.jobs(workload.jobs.len());
        let starts = |record: &'_ RunRecord, at: usize| record.outcomes[at].start.get().expect("the job has run");
        for (at, &place) in measured.zip(&self.grouping.places) {
            let (run, base) = (starts(run, at), starts(base, at));
            let group = &mut self.compared[place as usize];
            group.gain += usize::from(run < base);
            group.lose += usize::from(run > base);
        }
    }
}

/// The values of all jobs in ascending order. All groupings take their percentiles from it: one sort of all jobs is faster
/// than a selection in every group of every grouping.
struct Sorted {
    /// Each value with the index of its job.
    values: Vec<(f64, u32)>,
}

impl Sorted {
    fn new(values: &[f64]) -> Sorted {
        let mut values: Vec<_> = values.iter().copied().zip(0..).collect();
        values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        Sorted { values }
    }

    /// The nearest-rank percentiles of each group.
    fn percentiles<const N: usize>(
        &self,
        grouping: &Grouping,
        sums: &[Sums],
        percents: [f64; N],
    ) -> impl Iterator<Item = [f64; N]> + use<N> {
        let group = |sums: &Sums| {
            let ranks = percents.map(|percent| rank(percent, sums.jobs));
            Ranks { seen: 0, next: ranks[0], at: 0, ranks, found: [f64::NAN; N] }
        };
        let mut groups: Vec<Ranks<N>> = sums.iter().map(group).collect();
        for &(value, job) in &self.values {
            let group = &mut groups[grouping.places[job as usize] as usize];
            group.seen += 1;
            if group.seen == group.next {
                group.take(value);
            }
        }
        groups.into_iter().map(|group| group.found)
    }
}

/// The percentiles of a group while the values pass in ascending order.
struct Ranks<const N: usize> {
    /// How many values have passed.
    seen: usize,
    /// The next rank, from 1 on; 0 if there are no more.
    next: usize,
    /// Its index.
    at: usize,
    ranks: [usize; N],
    found: [f64; N],
}

impl<const N: usize> Ranks<N> {
    /// The value of the next rank, and of others that are equal to it.
    fn take(&mut self, value: f64) {
        while self.ranks.get(self.at) == Some(&self.seen) {
            self.found[self.at] = value;
            self.at += 1;
        }
        self.next = self.ranks.get(self.at).copied().unwrap_or(0);
    }
}
