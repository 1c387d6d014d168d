//! Which jobs are measured, and the threshold of the bounded slowdown.

use std::ops::Range;

use crate::time::Seconds;

/// A number of jobs, or a share of all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Portion {
    /// A number of jobs.
    Jobs(usize),
    /// A share of all jobs, 0 to 100.
    Percent(f64),
}

impl Portion {
    /// The number of jobs, out of `all`; a share is rounded down.
    pub fn of(self, all: usize) -> usize {
        match self {
            Portion::Jobs(jobs) => jobs.min(all),
            Portion::Percent(percent) => ((all as f64 * percent / 100.0).floor() as usize).min(all),
        }
    }

    /// Reads `100` or `1%`.
    pub fn parse(text: &str) -> Result<Portion, String> {
        let wrong = || format!("'{text}' is neither a number of jobs (100) nor a share of them (1%)");
        match text.strip_suffix('%') {
            None => text.parse().map(Portion::Jobs).map_err(|_| wrong()),
            Some(percent) => match percent.parse::<f64>() {
                Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(Portion::Percent(percent)),
                _ => Err(wrong()),
            },
        }
    }
}

impl std::fmt::Display for Portion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Portion::Jobs(jobs) => write!(f, "{jobs}"),
            Portion::Percent(percent) => write!(f, "{percent}%"),
        }
    }
}

/// Which jobs are measured. The others are simulated too.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measure {
    /// Jobs not measured at the beginning of the workload.
    pub warmup: Portion,
    /// Jobs not measured at the end of the workload.
    pub cooldown: Portion,
    /// In the bounded slowdown, runtimes below this number of seconds count as this.
    pub bsld_threshold: Seconds,
}

impl Default for Measure {
    fn default() -> Self {
        Measure { warmup: Portion::Jobs(0), cooldown: Portion::Jobs(0), bsld_threshold: 10 }
    }
}

impl Measure {
    /// The indexes of the measured jobs, out of `all` jobs in workload order. May be empty.
    pub fn jobs(&self, all: usize) -> Range<usize> {
        let from = self.warmup.of(all);
        from..(all - self.cooldown.of(all)).max(from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn portions() {
        assert_eq!(Portion::parse("100"), Ok(Portion::Jobs(100)));
        assert_eq!(Portion::parse("1%").map(|p| p.of(28_476)), Ok(284));
        assert_eq!(Portion::parse("0.5%").map(|p| p.of(1000)), Ok(5));
        for text in ["", "%", "-1", "101%", "-1%", "x", "nan%"] {
            assert!(Portion::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn warmup_and_cooldown_leave_the_middle() {
        let measure = |warmup, cooldown| Measure { warmup, cooldown, ..Measure::default() };
        assert_eq!(measure(Portion::Jobs(2), Portion::Percent(10.0)).jobs(10), 2..9);
        assert_eq!(measure(Portion::Jobs(20), Portion::Jobs(0)).jobs(10), 10..10);
        assert!(measure(Portion::Jobs(6), Portion::Jobs(6)).jobs(10).is_empty());
    }
}
