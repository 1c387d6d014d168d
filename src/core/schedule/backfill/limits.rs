//! The limits of a profile of free processors for jobs that start now.

use crate::time::Seconds;

/// How long a job may run that starts now, by its number of processors.
#[derive(Clone, Debug, Default)]
pub(super) struct StartLimits {
    free: i64,
    /// Each drop of the free processors below all earlier numbers: the new number, and after how many seconds.
    drops: Vec<(i64, Seconds)>,
}

impl StartLimits {
    /// Begins anew with the processors that are free now.
    pub fn reset(&mut self, free: i64) {
        self.free = free;
        self.drops.clear();
    }

    /// Adds a drop of the free processors: the new number, and after how many seconds.
    pub fn drop_to(&mut self, free: i64, after: Seconds) {
        self.drops.push((free, after));
    }

    /// The length of the longest job of this width that can start now. None if no such job can.
    pub fn longest(&self, procs: i64) -> Option<Seconds> {
        if procs > self.free {
            return None;
        }
        let at = self.drops.partition_point(|(free, _)| *free >= procs);
        Some(self.drops.get(at).map_or(Seconds::MAX - 1, |(_, after)| *after))
    }

    /// Whether a job can start now.
    pub fn allow(&self, procs: i64, length: Seconds) -> bool {
        self.longest(procs).is_some_and(|longest| length <= longest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_may_run_until_too_few_processors_are_left() {
        // Five processors now, seven after 10 seconds, three after 20, four after 30, one after 40.
        let mut limits = StartLimits::default();
        limits.reset(5);
        limits.drop_to(3, 20);
        limits.drop_to(1, 40);
        let longest: Vec<_> = (1..=6).map(|procs| limits.longest(procs)).collect();
        let forever = Some(Seconds::MAX - 1);
        assert_eq!(longest, [forever, Some(40), Some(40), Some(20), Some(20), None]);
        assert!(limits.allow(3, 40) && !limits.allow(3, 41) && !limits.allow(6, 1));
    }
}
