//! How far apart the jobs of a model must come for a machine to be offered a load.

use super::model_job::ModelJob;
use crate::time::Time;

/// A load is met within this of itself, if the jobs allow it.
pub const LOAD_TOLERANCE: f64 = 0.001;

/// The most often that the jobs are made to measure their load.
const PASSES: usize = 12;

/// What makes a load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadMet {
    /// What the model's gaps are multiplied by.
    pub gap_factor: f64,
    /// The load that this gives.
    pub load: f64,
}

/// Work submitted over what the machine can do between the first submission and the last; infinite if there is no time
/// between them.
#[derive(Clone, Copy, Debug, Default)]
pub struct LoadMeter {
    work: f64,
    first: Option<Time>,
    last: Time,
}

impl LoadMeter {
    pub fn add(&mut self, job: &ModelJob) {
        self.work += f64::from(job.procs) * job.runtime as f64;
        self.first.get_or_insert(job.submit);
        self.last = job.submit;
    }

    pub fn load(&self, procs: u32) -> f64 {
        self.work / (f64::from(procs) * (self.last - self.first.unwrap_or(self.last)) as f64)
    }
}

/// Finds the factor for a model's gaps with which `made(factor)`, the jobs of a log, offer the wanted load. The jobs are made
/// a few times over, which takes no memory.
///
/// Longer gaps lower the load in proportion, but for the edges: the hours of a day are not alike. So the factor is corrected
/// until the load is met within [`LOAD_TOLERANCE`], mostly in two passes. Where a load cannot be met, because the last job would
/// have to come at night and the model has no arrivals then, the nearest of a dozen tries is taken.
/// `None` if all jobs come within a second. `progress` hears how many jobs have been made.
pub fn meet_load<Jobs: Iterator<Item = ModelJob>>(
    wanted: f64,
    procs: u32,
    made: impl Fn(f64) -> Jobs,
    progress: &mut dyn FnMut(usize),
) -> Option<LoadMet> {
    let mut best: Option<LoadMet> = None;
    let (mut gap_factor, mut done) = (1.0, 0);
    // The load is too high with the first of these factors and too low with the second.
    let (mut too_short, mut too_long) = (0.0f64, f64::INFINITY);
    for _ in 0..PASSES {
        let mut meter = LoadMeter::default();
        for job in made(gap_factor) {
            meter.add(&job);
            done += 1;
            if done % (1 << 16) == 0 {
                progress(done);
            }
        }
        let load = meter.load(procs);
        let miss = |load: f64| (load / wanted - 1.0).abs();
        if load.is_finite() && best.is_none_or(|best| miss(load) < miss(best.load)) {
            best = Some(LoadMet { gap_factor, load });
        }
        if miss(load) <= LOAD_TOLERANCE {
            break;
        }
        *if load > wanted { &mut too_short } else { &mut too_long } = gap_factor;
        gap_factor *= if load.is_finite() { load / wanted } else { 16.0 };
        // A step out of what is left, over a night without arrivals for instance, is no progress: halve it instead.
        if gap_factor <= too_short || gap_factor >= too_long {
            gap_factor = (too_short + too_long) / 2.0;
        }
    }
    best
}
