//! Units of time in tables, and the unit that the durations of a table are probably in.

use super::number;
use super::workload::Workload;
use crate::sort::sort_by;
use crate::time::{DAY, FOREVER, HOUR, Seconds};

/// A unit of the numbers in a column of times or durations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// Millionths of a second.
    Microseconds,
    /// Thousandths of a second.
    Milliseconds,
    /// The unit of a column if nothing else is said.
    Seconds,
    /// 60 seconds.
    Minutes,
    /// 3,600 seconds.
    Hours,
    /// 86,400 seconds.
    Days,
}

/// All units: as written, in words, and in seconds.
const UNITS: [(TimeUnit, &str, &str, f64); 6] = [
    (TimeUnit::Microseconds, "us", "microseconds", 0.000_001),
    (TimeUnit::Milliseconds, "ms", "milliseconds", 0.001),
    (TimeUnit::Seconds, "s", "seconds", 1.0),
    (TimeUnit::Minutes, "min", "minutes", 60.0),
    (TimeUnit::Hours, "h", "hours", 3600.0),
    (TimeUnit::Days, "d", "days", 86_400.0),
];

impl TimeUnit {
    /// Reads a unit as written: `us`, `ms`, `s`, `min`, `h` or `d`.
    pub fn parse(text: &str) -> Option<TimeUnit> {
        UNITS.iter().find(|(_, written, ..)| *written == text).map(|(unit, ..)| *unit)
    }

    /// All units as written, for messages.
    pub fn all() -> String {
        UNITS.map(|(_, written, ..)| written).join(", ")
    }

    /// As written.
    pub fn written(self) -> &'static str {
        UNITS[self as usize].1
    }

    /// In words: `minutes`.
    pub fn words(self) -> &'static str {
        UNITS[self as usize].2
    }

    fn in_seconds(self) -> f64 {
        UNITS[self as usize].3
    }

    /// The whole seconds of a number in this unit, halves up. None if the text is not a number, or is too large.
    pub(super) fn seconds(self, text: &[u8]) -> Option<Seconds> {
        number::parse(text).ok()?;
        let value: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
        let seconds = (value * self.in_seconds() + 0.5).floor();
        (seconds.abs() <= FOREVER as f64).then_some(seconds as Seconds)
    }
}

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

    #[test]
    fn numbers_of_any_unit_become_seconds() {
        for (unit, text, seconds) in [
            (TimeUnit::Minutes, "1.5", Some(90)),
            (TimeUnit::Hours, "0.0001", Some(0)),
            (TimeUnit::Days, "2", Some(172_800)),
            (TimeUnit::Milliseconds, "1700000000500", Some(1_700_000_001)),
            (TimeUnit::Minutes, "-1", Some(-60)),
            (TimeUnit::Hours, "1e30", None),
            (TimeUnit::Hours, "01:00:00", None),
        ] {
            assert_eq!(unit.seconds(text.as_bytes()), seconds, "{text}");
        }
        for (unit, written, ..) in UNITS {
            assert_eq!((TimeUnit::parse(written), unit.written()), (Some(unit), written));
        }
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
