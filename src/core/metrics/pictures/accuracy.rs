//! The predictions at arrival against the true runtimes.

use super::distribution::log_limits;
use crate::time::Seconds;

/// The classes per power of ten.
const PER_DECADE: u32 = 4;

/// The longest limit: about 12 days. Longer predictions and runtimes are in the last class.
const LONGEST: f64 = 1e6;

/// Jobs whose predictions are of about one length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LengthClass {
    /// Their number.
    pub jobs: u64,
    /// The number of those that do not run longer than predicted.
    pub kept: u64,
}

/// Counts of jobs by prediction at arrival and runtime.
#[derive(Clone, Debug)]
pub struct Accuracy {
    /// The longest prediction or runtime of each class, in seconds. The last class has all that are longer, too.
    pub limits: Vec<f64>,
    /// For each class of predictions the number of jobs of each class of runtimes.
    counts: Vec<u64>,
    /// For each class of predictions how many of them were long enough.
    pub lengths: Vec<LengthClass>,
}

impl Default for Accuracy {
    fn default() -> Accuracy {
        let limits = log_limits(PER_DECADE, LONGEST, true);
        let classes = limits.len();
        Accuracy { limits, counts: vec![0; classes * classes], lengths: vec![LengthClass::default(); classes] }
    }
}

impl Accuracy {
    pub(super) fn add(&mut self, prediction: Seconds, runtime: Seconds) {
        let class =
            |seconds: Seconds| self.limits.partition_point(|limit| *limit < seconds as f64).min(self.limits.len() - 1);
        let (predicted, ran) = (class(prediction), class(runtime));
        self.counts[predicted * self.limits.len() + ran] += 1;
        self.lengths[predicted].jobs += 1;
        self.lengths[predicted].kept += u64::from(runtime <= prediction);
    }

    /// The number of jobs of a class of predictions and a class of runtimes.
    pub fn jobs(&self, predicted: usize, ran: usize) -> u64 {
        self.counts[predicted * self.limits.len() + ran]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_counted_where_they_belong() {
        let mut accuracy = Accuracy::default();
        // Limits: 1, 2, 3, 6, 10, 18, 32, 56, 100.
        assert_eq!(accuracy.limits[..9], [1.0, 2.0, 3.0, 6.0, 10.0, 18.0, 32.0, 56.0, 100.0]);
        for (prediction, runtime) in [(100, 100), (99, 100), (57, 1), (56, 57), (5_000_000, 4_000_000)] {
            accuracy.add(prediction, runtime);
        }
        assert_eq!((accuracy.jobs(8, 8), accuracy.jobs(8, 0), accuracy.jobs(7, 8)), (2, 1, 1));
        assert_eq!(accuracy.lengths[8], LengthClass { jobs: 3, kept: 2 });
        assert_eq!(accuracy.lengths[7], LengthClass { jobs: 1, kept: 0 });
        assert_eq!(accuracy.lengths.last(), Some(&LengthClass { jobs: 1, kept: 1 }));
    }
}
