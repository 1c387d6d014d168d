//! What the charts of a report show of a run. Each chart brings its own probe; Gantt charts are made of the jobs of a window.

mod gantt;
mod gantt_nodes;
mod grants;

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

pub use gantt::{Gantt, GanttJob, MOST_JOBS, busiest_window, shrink_window};
pub use gantt_nodes::{GanttNode, gantt_nodes};
pub use grants::NodeGrants;

use super::job::JobMetrics;
use super::measure::Measure;
use super::series::Series;
use crate::engine::{Event, Observer, RunRecord};
use crate::schedule::Machine;
use crate::time::Time;
use crate::trace::Workload;

/// What a chart shows of one run. Its memory should depend on the chart, and not on the number of jobs.
pub trait ChartProbe: Any + Debug + Send + Sync {
    /// Watches the run.
    fn on(&mut self, _time: Time, _event: &Event<'_>, _machine: &Machine) {}

    /// Gets each measured job after the run, in the order of the log.
    fn job(&mut self, _job: &JobMetrics) {}
}

impl ChartProbe for Series {
    fn on(&mut self, time: Time, event: &Event<'_>, machine: &Machine) {
        Observer::on(self, time, event, machine);
    }
}

impl ChartProbe for NodeGrants {
    fn on(&mut self, time: Time, event: &Event<'_>, machine: &Machine) {
        Observer::on(self, time, event, machine);
    }
}

/// Makes the probes of all charts for a run of a workload.
pub type ChartProbes = fn(&Workload) -> Vec<Box<dyn ChartProbe>>;

/// Observes a run for its charts.
pub struct PictureObserver(Vec<Box<dyn ChartProbe>>);

impl PictureObserver {
    /// An observer of a run of this workload. Charts that need the same share a probe.
    pub fn new(probes: ChartProbes, workload: &Workload) -> PictureObserver {
        let mut kept: Vec<Box<dyn ChartProbe>> = Vec::new();
        for probe in probes(workload) {
            if !kept.iter().any(|other| (**other).type_id() == (*probe).type_id()) {
                kept.push(probe);
            }
        }
        PictureObserver(kept)
    }

    /// What charts show, after the run whose result is `record`.
    pub fn finish(mut self, workload: &Workload, record: &RunRecord, measure: &Measure) -> Pictures {
        for (_, finished) in record.finished_in(&workload.jobs, measure.jobs(workload.jobs.len())) {
            let job = JobMetrics::of(&finished, measure.bsld_threshold);
            self.0.iter_mut().for_each(|probe| probe.job(&job));
        }
        Pictures(self.0.into_iter().map(Arc::from).collect())
    }
}

impl Observer for PictureObserver {
    fn on(&mut self, time: Time, event: &Event<'_>, machine: &Machine) {
        self.0.iter_mut().for_each(|probe| probe.on(time, event, machine));
    }
}

/// What the charts show of one run: the probe of each.
#[derive(Clone, Debug)]
pub struct Pictures(Vec<Arc<dyn ChartProbe>>);

impl Pictures {
    /// What the probe of this type has seen.
    ///
    /// # Panics
    /// If there was none, or it is forgotten.
    pub fn of<T: ChartProbe>(&self) -> &T {
        let found = self.0.iter().find_map(|probe| (&**probe as &dyn Any).downcast_ref());
        found.expect("the probe of this chart is in the list of charts")
    }

    /// Frees what this probe has seen.
    pub fn forget<T: ChartProbe>(&mut self) {
        self.0.retain(|probe| !(&**probe as &dyn Any).is::<T>());
    }
}
