//! Probes: what is watched in a run, and what was seen of it. Whoever wants to know more of a run than its figures brings a probe.

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

use super::job::JobMetrics;
use super::measure::Measure;
use crate::engine::{EngineOptions, Event, Observer, RunRecord};
use crate::schedule::Machine;
use crate::time::Time;
use crate::trace::Workload;

/// What is watched in one run, and afterwards what was seen of it. Its memory should depend on what is shown, and not on the number
/// of jobs.
pub trait Probe: Any + Debug + Send + Sync {
    /// Sets what the engine must keep for it.
    fn prepare(&self, _engine: &mut EngineOptions) {}

    /// What receives the events of the run. None if the result of the run is enough.
    fn observer(&mut self) -> Option<&mut dyn Observer> {
        None
    }

    /// Gets each measured job after the run, in the order of the log.
    fn job(&mut self, _job: &JobMetrics) {}

    /// Gets the result of the run, at last.
    fn end(&mut self, _run: &EndedRun<'_>) {}
}

/// A run that has ended.
#[derive(Clone, Copy, Debug)]
pub struct EndedRun<'a> {
    /// Its jobs.
    pub workload: &'a Workload,
    /// Its result.
    pub record: &'a Arc<RunRecord>,
    /// Which jobs are measured.
    pub measure: &'a Measure,
}

/// The probes of one run. Those who need the same share a probe: there is one of each type.
#[derive(Debug, Default)]
pub struct Probes(Vec<Box<dyn Probe>>);

impl Probes {
    /// Adds a probe.
    pub fn add(&mut self, probe: Box<dyn Probe>) {
        if !self.0.iter().any(|other| (**other).type_id() == (*probe).type_id()) {
            self.0.push(probe);
        }
    }

    /// Sets what the engine must keep for them.
    pub fn prepare(&self, engine: &mut EngineOptions) {
        self.0.iter().for_each(|probe| probe.prepare(engine));
    }

    /// What receives the events of the run. None if no probe wants them.
    pub fn observer(&mut self) -> Option<impl Observer> {
        let observers: Vec<&mut dyn Observer> = self.0.iter_mut().filter_map(|probe| probe.observer()).collect();
        (!observers.is_empty()).then_some(Observers(observers))
    }

    /// What they have seen, after the run whose result is `record`.
    pub fn finish(mut self, workload: &Workload, record: RunRecord, measure: &Measure) -> Seen {
        if self.0.is_empty() {
            return Seen::default();
        }
        for (_, finished) in record.finished_in(&workload.jobs, measure.jobs(workload.jobs.len())) {
            let job = JobMetrics::of(&finished, measure.bsld_threshold);
            self.0.iter_mut().for_each(|probe| probe.job(&job));
        }
        let run = EndedRun { workload, record: &Arc::new(record), measure };
        self.0.iter_mut().for_each(|probe| probe.end(&run));
        Seen(self.0.into_iter().map(Arc::from).collect())
    }
}

struct Observers<'a>(Vec<&'a mut dyn Observer>);

impl Observer for Observers<'_> {
    fn on(&mut self, time: Time, event: &Event<'_>, machine: &Machine) {
        self.0.iter_mut().for_each(|observer| observer.on(time, event, machine));
    }
}

/// What was seen of one run: its probes.
#[derive(Clone, Debug, Default)]
pub struct Seen(Vec<Arc<dyn Probe>>);

impl Seen {
    /// The probe of this type. None if there was none, or it is forgotten.
    pub fn get<T: Probe>(&self) -> Option<&T> {
        self.0.iter().find_map(|probe| (&**probe as &dyn Any).downcast_ref())
    }

    /// The probe of this type.
    ///
    /// # Panics
    /// If there was none, or it is forgotten.
    pub fn of<T: Probe>(&self) -> &T {
        self.get().expect("whoever asks for a probe has added it")
    }

    /// The result of the run.
    ///
    /// # Panics
    /// If [`KeptRecord`] was no probe of it.
    pub fn record(&self) -> &RunRecord {
        self.of::<KeptRecord>().0.as_ref().expect("the run has ended")
    }

    /// Frees what this probe has seen.
    pub fn forget<T: Probe>(&mut self) {
        self.0.retain(|probe| !(&**probe as &dyn Any).is::<T>());
    }
}

/// Keeps the result of a run.
#[derive(Debug, Default)]
pub struct KeptRecord(Option<Arc<RunRecord>>);

impl Probe for KeptRecord {
    fn end(&mut self, run: &EndedRun<'_>) {
        self.0 = Some(run.record.clone());
    }
}

/// Lets the result of a run have all predictions.
#[derive(Debug, Default)]
pub struct AllPredictions;

impl Probe for AllPredictions {
    fn prepare(&self, engine: &mut EngineOptions) {
        engine.keep_history = true;
    }
}

/// What is watched in runs: how the probes of each are made.
#[derive(Default)]
pub struct Watched<'a>(Vec<NewProbe<'a>>);

/// Makes the probe of a run of this workload, of which this is measured. None if there is nothing to watch in it.
type NewProbe<'a> = Box<dyn Fn(&Workload, &Measure) -> Option<Box<dyn Probe>> + Sync + 'a>;

impl<'a> Watched<'a> {
    /// Adds a probe that all runs have.
    pub fn add<P: Probe>(&mut self, new: impl Fn(&Workload, &Measure) -> P + Sync + 'a) {
        self.add_some(move |workload, measure| Some(Box::new(new(workload, measure))));
    }

    /// Adds a probe that some runs have.
    pub fn add_some(&mut self, new: impl Fn(&Workload, &Measure) -> Option<Box<dyn Probe>> + Sync + 'a) {
        self.0.push(Box::new(new));
    }

    /// Whether nothing is watched.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The probes of a run.
    pub fn probes(&self, workload: &Workload, measure: &Measure) -> Probes {
        let mut probes = Probes::default();
        self.0.iter().filter_map(|new| new(workload, measure)).for_each(|probe| probes.add(probe));
        probes
    }
}
