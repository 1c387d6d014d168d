//! What the charts of a report show of a run. The memory depends on the charts, not on the number of jobs.

mod accuracy;
mod distribution;
mod gantt;
mod gantt_nodes;
mod grants;
mod grid;
mod life;
mod reservations;

pub use accuracy::{Accuracy, LengthClass};
pub use distribution::{Distribution, log_limits};
pub use gantt::{Gantt, GanttJob, MOST_JOBS, busiest_window, shrink_window};
pub use gantt_nodes::{GanttNode, gantt_nodes};
pub use grants::NodeGrants;
pub use grid::{GridCell, WaitGrid};
pub use life::{LIFE_PARTS, LifeAccuracy};
pub use reservations::ReservedStarts;

use super::job::JobMetrics;
use super::measure::Measure;
use super::series::{Series, SeriesStep};
use crate::engine::{Observer, RunRecord};
use crate::time::{MINUTE, ROUND_STEPS, Seconds};
use crate::trace::Workload;

/// The most steps of the series in a report: a chart is about this number of pixels wide.
const MOST_STEPS: usize = 800;

/// What the charts show of one run.
#[derive(Clone, Debug)]
pub struct Pictures {
    /// The waits, in seconds.
    pub waits: Distribution,
    /// The bounded slowdowns.
    pub slowdowns: Distribution,
    /// The mean waits by width and runtime.
    pub grid: WaitGrid,
    /// The predictions at arrival.
    pub accuracy: Accuracy,
    /// The mean RA of each part of the jobs' lives, from submission to end; see [`LifeAccuracy::means`].
    pub life: Vec<f64>,
    /// The queue and the machine over time. Empty if the run takes so long that there would be too many steps.
    pub series: Vec<SeriesStep>,
}

/// What a Gantt chart shows of jobs beside their times.
#[derive(Clone, Debug, Default)]
pub struct GanttNotes {
    /// The starts that were reserved for them.
    pub reserved: ReservedStarts,
    /// What they were given of the nodes.
    pub grants: NodeGrants,
}

/// Observes a run for its charts.
pub struct PictureObserver {
    observers: ((Series, LifeAccuracy), (ReservedStarts, NodeGrants)),
}

impl PictureObserver {
    /// An observer of a run of this workload.
    pub fn new(workload: &Workload, measure: &Measure) -> PictureObserver {
        let series = Series::new(workload.procs, workload.first_submit(), series_step(workload));
        let life = LifeAccuracy::new(measure.jobs(workload.jobs.len()));
        PictureObserver { observers: ((series, life), Default::default()) }
    }

    /// What has to be given to the run.
    pub fn observer(&mut self) -> &mut impl Observer {
        &mut self.observers
    }

    /// The charts, after the run whose result is `record`, and what a Gantt chart shows of the jobs in its window.
    pub fn finish(self, workload: &Workload, record: &RunRecord, measure: &Measure) -> (Pictures, GanttNotes) {
        let ((series, life), (reserved, grants)) = self.observers;
        let mut pictures = Pictures {
            waits: Distribution::of_seconds(),
            slowdowns: Distribution::of_ratios(),
            grid: WaitGrid::default(),
            accuracy: Accuracy::default(),
            life: life.means(),
            series: thinned(series.finish().unwrap_or_default()),
        };
        let measured = measure.jobs(workload.jobs.len());
        for (_, finished) in record.finished_in(&workload.jobs, measured) {
            let job = JobMetrics::of(&finished, measure.bsld_threshold);
            pictures.waits.add(job.wait as f64);
            pictures.slowdowns.add(job.bsld);
            pictures.grid.add(job.procs, job.runtime, job.wait);
            pictures.accuracy.add(job.prediction, job.runtime);
        }
        (pictures, GanttNotes { reserved, grants })
    }
}

/// The shortest round step with which the series of a workload has at most half of [`MOST_STEPS`]. The simulation may take
/// longer than the submissions, so there is room for more.
fn series_step(workload: &Workload) -> Seconds {
    let longest = workload.jobs.iter().map(|job| job.runtime).max().unwrap_or(0);
    let least = (workload.last_submit() - workload.first_submit() + longest) / (MOST_STEPS as Seconds / 2);
    ROUND_STEPS.into_iter().find(|&step| step >= least.max(MINUTE)).unwrap_or(least)
}

/// Joins neighbours until there are at most [`MOST_STEPS`]. The counts are the largest of the joined steps, and the
/// utilization is their mean.
fn thinned(mut series: Vec<SeriesStep>) -> Vec<SeriesStep> {
    while series.len() > MOST_STEPS {
        let join = |pair: &[SeriesStep]| {
            let most = |count: fn(&SeriesStep) -> u64| pair.iter().map(count).max().unwrap_or(0);
            SeriesStep {
                time: pair[0].time,
                waiting: most(|step| step.waiting),
                running: most(|step| step.running),
                procs_used: most(|step| step.procs_used),
                procs_waiting: most(|step| step.procs_waiting),
                utilization: pair.iter().map(|step| step.utilization).sum::<f64>() / pair.len() as f64,
            }
        };
        series = series.chunks(2).map(join).collect();
    }
    series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_series_are_joined() {
        let step = |time: i64| SeriesStep {
            time,
            waiting: (time % 7) as u64,
            utilization: f64::from((time % 2) as u32),
            ..SeriesStep::default()
        };
        let joined = thinned((0..1601).map(step).collect());
        assert_eq!(joined.len(), 401);
        assert_eq!(joined[1].time, 4);
        // Of the times 4 to 7.
        assert_eq!((joined[1].waiting, joined[1].utilization), (6, 0.5));
        assert_eq!(joined[400].time, 1600);
        assert_eq!(thinned((0..800).map(step).collect()).len(), 800);
    }
}
