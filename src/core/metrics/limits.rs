//! Which limits hold jobs, and for how long.

use std::collections::BTreeMap;
use std::ops::Range;

use super::measure::Measure;
use crate::engine::{Event, Observer};
use crate::machine::associations::LimitName;
use crate::schedule::Machine;
use crate::time::Time;
use crate::trace::Workload;

/// Observes which limits hold waiting jobs: of each job the first one, from pass to pass.
#[derive(Clone, Debug)]
pub struct LimitMeter {
    measured: Range<usize>,
    /// When the last pass was, and how many jobs each limit held after it.
    since: Time,
    held: BTreeMap<LimitName, u64>,
    /// Job-seconds.
    sums: BTreeMap<LimitName, i128>,
}

impl LimitMeter {
    /// For a run of this workload.
    pub fn new(workload: &Workload, measure: &Measure) -> LimitMeter {
        let (measured, since) = (measure.jobs(workload.jobs.len()), workload.first_submit());
        LimitMeter { measured, since, held: BTreeMap::new(), sums: BTreeMap::new() }
    }

    /// The limits that held jobs, with the job-seconds, the most first.
    pub fn sums(&self) -> Vec<(LimitName, i128)> {
        let mut sums: Vec<(LimitName, i128)> = self.sums.iter().map(|(limit, sum)| (*limit, *sum)).collect();
        // The sort is stable: equal ones stay in the order of their names.
        sums.sort_by_key(|(_, sum)| -sum);
        sums.retain(|(_, sum)| *sum > 0);
        sums
    }
}

impl Observer for LimitMeter {
    fn on(&mut self, time: Time, event: &Event<'_>, _: &Machine) {
        match event {
            Event::Begin(wants) => wants.held(),
            Event::Pass(pass) => {
                let passed = i128::from(time - self.since);
                self.since = time;
                for (limit, jobs) in std::mem::take(&mut self.held) {
                    *self.sums.entry(limit).or_default() += passed * i128::from(jobs);
                }
                for (_, limit) in pass.held.iter().filter(|(job, _)| self.measured.contains(&job.index())) {
                    *self.held.entry(*limit).or_default() += 1;
                }
            }
            _ => {}
        }
    }
}
