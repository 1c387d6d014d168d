//! Whether the runtimes of a table are in seconds.

use super::time_unit::TimeUnit;
use super::workload::Workload;
use crate::sort::sort_by;
use crate::time::{DAY, HOUR, Seconds};

/// What makes the unit of the runtimes of a table doubtful.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UnitDoubt {
    /// The longest runtime, in seconds.
    pub longest: Seconds,
    /// The share of the machine that the recorded schedule uses.
    pub utilization: f64,
    /// The unit that is most likely. Seconds, if only the utilization is unusual.
    pub likely: TimeUnit,
}

impl UnitDoubt {
    /// The share of a machine that is usual.
    const USUAL: std::ops::RangeInclusive<f64> = 0.1..=1.2;
    /// Fewer jobs say nothing about a machine.
    const FEWEST_JOBS: usize = 10;

    /// Whether the utilization is not what logs have. If it is, the submit times are in the same unit as the runtimes.
    pub fn is_by_utilization(&self) -> bool {
        !UnitDoubt::USUAL.contains(&self.utilization)
    }

    /// Doubts that runtimes are in seconds if none is as long as an hour, or one is longer than a year, or if the recorded
    /// schedule uses less than 10% or more than 120% of the machine. Short runtimes alone are no doubt if no other unit makes
    /// their mean more usual.
    pub fn of(workload: &Workload) -> Option<UnitDoubt> {
        let jobs = &workload.jobs;
        if jobs.len() < UnitDoubt::FEWEST_JOBS {
            return None;
        }
        let (mut work, mut sum, mut longest, mut end) = (0.0, 0.0, 0, workload.last_submit());
        for job in jobs {
            work += f64::from(job.submission.procs) * job.runtime as f64;
            sum += job.runtime as f64;
            longest = longest.max(job.runtime);
            end = end.max(job.submission.submit + job.recorded_wait.get().unwrap_or(0) + job.runtime);
        }
        let utilization = work / (f64::from(workload.procs) * (end - workload.first_submit()) as f64);
        let doubt = UnitDoubt { longest, utilization, likely: likely_unit(sum / jobs.len() as f64) };
        let is_unusual = !(HOUR..=366 * DAY).contains(&longest) && doubt.likely != TimeUnit::Seconds;
        (is_unusual || doubt.is_by_utilization()).then_some(doubt)
    }
}

/// The unit in which the mean runtime is nearest to an hour. In 13 logs of the Parallel Workloads Archive it is between 13 minutes
/// and 5 hours. The longest runtime is no measure: one job of two months, or of a wrong record, would decide.
fn likely_unit(mean: f64) -> TimeUnit {
    let distance = |unit: TimeUnit| (mean * unit.in_seconds() / HOUR as f64).ln().abs();
    let mut units = [TimeUnit::Seconds, TimeUnit::Minutes, TimeUnit::Hours, TimeUnit::Milliseconds];
    sort_by(&mut units, |&a, &b| distance(a).total_cmp(&distance(b)));
    units[0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{Job, Submission};

    /// Ten jobs of five seconds each, an hour apart, are the fewest that say something.
    #[test]
    fn few_jobs_say_nothing() {
        let job = |at: i64| Job::new(Submission::new(at * HOUR, 1, 60), 5);
        let doubt =
            |count| UnitDoubt::of(&Workload { procs: 1, jobs: (0..count).map(job).collect(), ..Workload::default() });
        assert_eq!((doubt(9), doubt(10).map(|doubt| doubt.likely)), (None, Some(TimeUnit::Hours)));
    }

    #[test]
    fn the_usual_unit_is_the_nearest_to_an_hour() {
        // The means of NASA and HPC2N, the shortest and the longest of all.
        for mean in [765.0, 17_024.0] {
            for (unit, factor) in [
                (TimeUnit::Seconds, 1.0),
                (TimeUnit::Minutes, 60.0),
                (TimeUnit::Hours, 3600.0),
                (TimeUnit::Milliseconds, 0.001),
            ] {
                assert_eq!(likely_unit(mean / factor), unit);
            }
        }
    }
}
