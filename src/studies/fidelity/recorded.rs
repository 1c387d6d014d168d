//! The jobs of a log with their recorded waits, and the comparison of a simulated schedule with them.

use std::sync::Arc;

use super::figures::FidelityFigures;
use super::moving::{MovingJob, SameWindows, Windows};
use crate::engine::RunRecord;
use crate::job::Job;
use crate::metrics::{EndedRun, GroupBy, Grouping, Groupings, Measure, Probe};
use crate::time::Seconds;
use crate::trace::{Workload, recorded_eligibility};

/// The measured jobs of a workload that have a recorded wait. They are the same for all schedules.
#[derive(Clone, Debug)]
pub struct RecordedWaits {
    /// The indexes of these jobs in the workload, in ascending order.
    pub jobs: Vec<u32>,
    /// The number of measured jobs without a recorded wait. They are simulated, but not compared.
    pub without_wait: usize,
    windows: Option<Windows>,
    /// The jobs as they became eligible in the log, if some had conditions.
    eligible: Option<Vec<Job>>,
    /// The groupings, and for each of them the jobs of each group: indexes into `jobs`.
    groups: Vec<(Arc<Grouping>, Vec<Vec<u32>>)>,
}

/// A simulated schedule in comparison with the recorded one.
#[derive(Clone, Debug)]
pub struct RecordedComparison {
    /// The figures of all compared jobs.
    pub figures: FidelityFigures,
    /// The figures of the groups, for each key in the order of the keys.
    pub breakdowns: Vec<FidelityBreakdown>,
    /// The jobs with both waits, in the order of [`RecordedWaits::jobs`]. None for one that can never start.
    pub waits: Vec<Option<MovingJob>>,
}

/// The figures of groups of jobs.
#[derive(Clone, Debug)]
pub struct FidelityBreakdown {
    /// The groups.
    pub grouping: Arc<Grouping>,
    /// The figures of each group.
    pub figures: Vec<FidelityFigures>,
}

/// The comparison of a run with the recorded schedule.
#[derive(Debug)]
pub struct ComparedWaits {
    recorded: Arc<RecordedWaits>,
    comparison: Option<RecordedComparison>,
}

impl ComparedWaits {
    /// Of a run of the jobs with these waits.
    pub fn new(recorded: Arc<RecordedWaits>) -> ComparedWaits {
        ComparedWaits { recorded, comparison: None }
    }

    /// The comparison, after the run.
    ///
    /// # Panics
    /// If the run has not ended.
    pub fn comparison(&self) -> &RecordedComparison {
        self.comparison.as_ref().expect("the run has ended")
    }
}

impl Probe for ComparedWaits {
    fn end(&mut self, run: &EndedRun<'_>) {
        self.comparison = Some(self.recorded.compare(run.workload, run.record));
    }
}

impl RecordedWaits {
    /// The jobs of a shaped workload. `window` is the length of the windows of the moving mean, in seconds. For each of `keys`,
    /// of groups that are names only so many are kept, and the jobs of all others are one more group.
    ///
    /// # Errors
    /// If no measured job has a recorded wait.
    pub fn of(
        workload: &Workload,
        measure: &Measure,
        window: Seconds,
        keys: &[(GroupBy, Option<usize>)],
    ) -> Result<RecordedWaits, String> {
        let measured = measure.jobs(workload.jobs.len());
        let has_wait = |at: &usize| workload.jobs[*at].recorded_wait.get().is_some();
        let jobs: Vec<u32> = measured.clone().filter(has_wait).map(|at| at as u32).collect();
        let (Some(&first), Some(&last)) = (jobs.first(), jobs.last()) else {
            return Err(format!("{}: none of the measured jobs has a recorded wait", workload.label));
        };
        let submit = |at: u32| workload.jobs[at as usize].submission.submit;
        let groupings = Groupings::of(workload, measure, keys);
        let mut members = vec![Vec::new(); groupings.slots()];
        for (at, &job) in jobs.iter().enumerate() {
            groupings.slots_of(job as usize - measured.start).for_each(|slot| members[slot].push(at as u32));
        }
        let groups = groupings.each().iter().cloned().zip(groupings.by_group(&members)).collect();
        let windows = Windows::within(submit(first)..submit(last), window);
        let eligible = recorded_eligibility(workload);
        Ok(RecordedWaits { without_wait: measured.len() - jobs.len(), jobs, windows, eligible, groups })
    }

    /// Compares the result of simulating this workload.
    pub fn compare(&self, workload: &Workload, record: &RunRecord) -> RecordedComparison {
        let moving = |&at: &u32| {
            let at = at as usize;
            let outcome = &record.outcomes[at];
            // What a job waits for beside the scheduler is no part of its wait, neither here nor there.
            let recorded = &self.eligible.as_ref().unwrap_or(&workload.jobs)[at];
            let simulated = &record.arrived.as_ref().unwrap_or(&workload.jobs)[at];
            Some(MovingJob {
                submit: workload.jobs[at].submission.submit,
                recorded: recorded.recorded_wait.get().expect("these jobs have a recorded wait"),
                simulated: outcome.start.get()? - simulated.submission.submit,
            })
        };
        let waits: Vec<Option<MovingJob>> = self.jobs.iter().map(moving).collect();
        let breakdown = |(grouping, groups): &(Arc<Grouping>, Vec<Vec<u32>>)| {
            // A week has no moving mean of two weeks.
            let windows = self.windows.as_ref().filter(|_| grouping.by != GroupBy::Week);
            let figures = |members: &Vec<u32>| {
                let jobs: Vec<MovingJob> = members.iter().filter_map(|&at| waits[at as usize]).collect();
                FidelityFigures::of(&jobs, windows)
            };
            FidelityBreakdown { grouping: grouping.clone(), figures: groups.iter().map(figures).collect() }
        };
        let breakdowns = self.groups.iter().map(breakdown).collect();
        let compared: Vec<MovingJob> = waits.iter().copied().flatten().collect();
        RecordedComparison { figures: FidelityFigures::of(&compared, self.windows.as_ref()), breakdowns, waits }
    }

    /// Whether the log is long enough for a moving mean.
    pub fn has_windows(&self) -> bool {
        self.windows.is_some()
    }

    /// The windows of a comparison that have jobs, in their order. Each is on its own: the count is 1.
    pub fn windows_of(&self, comparison: &RecordedComparison) -> Vec<SameWindows> {
        let mut all = Vec::new();
        if let Some(windows) = &self.windows {
            let waits: Vec<MovingJob> = comparison.waits.iter().copied().flatten().collect();
            windows.for_each(&waits, |same| {
                if same.jobs > 0 {
                    all.extend((0..same.count).map(|later| same.later(later)));
                }
            });
        }
        all
    }
}
