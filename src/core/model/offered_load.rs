//! Finds the factor for the gaps between the jobs of a model that gives a wanted offered load.

use super::model_job::ModelJob;
use crate::time::Time;

/// The relative difference from the wanted load that is accepted.
pub const LOAD_TOLERANCE: f64 = 0.001;

/// The most times that the jobs are generated to measure their load.
const PASSES: usize = 12;

/// The result of [`meet_load`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadMet {
    /// The factor for the model's gaps.
    pub gap_factor: f64,
    /// The load with this factor.
    pub load: f64,
}

/// Measures the offered load: the processor-seconds of all jobs, divided by those of the machine between the first and the
/// last submission.
#[derive(Clone, Copy, Debug, Default)]
pub struct LoadMeter {
    work: f64,
    first: Option<Time>,
    last: Time,
}

impl LoadMeter {
    /// Adds a job. Jobs must be added in order of submission.
    pub fn add(&mut self, job: &ModelJob) {
        self.work += f64::from(job.procs) * job.runtime as f64;
        self.first.get_or_insert(job.submit);
        self.last = job.submit;
    }

    /// The load of a machine with this number of processors. Infinite if all jobs are submitted at one instant.
    pub fn load(&self, procs: u32) -> f64 {
        self.work / (f64::from(procs) * (self.last - self.first.unwrap_or(self.last)) as f64)
    }
}

/// Finds the factor for a model's gaps with which the jobs `made(factor)` have the wanted load. The jobs are generated
/// several times, and never stored.
///
/// The load is nearly inversely proportional to the factor; the daily cycle causes small differences. So the factor is
/// corrected until the load is within [`LOAD_TOLERANCE`], usually in two passes. Some loads are impossible, because the last
/// job would have to arrive at night and the model has no arrivals then; the result is then the best of 12 tries.
/// None if all jobs arrive within a second. `progress` is called after every 65,536 jobs with the number of jobs generated.
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
        // A step outside the interval, for example over a night without arrivals, is replaced by bisection.
        if gap_factor <= too_short || gap_factor >= too_long {
            gap_factor = (too_short + too_long) / 2.0;
        }
    }
    best
}
