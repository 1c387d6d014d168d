//! Metrics of history predictors: how a set of runtimes becomes one number.

use crate::spec::Kind;
use crate::stats;
use crate::time::Seconds;

/// How a set of runtimes becomes a prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// The middle one; of an even number the mean of the middle two, rounded down.
    Median,
    /// Rounded down.
    Mean,
    /// The shortest.
    Min,
    /// The longest.
    Max,
    /// The runtime of the job that ended last.
    Last,
}

impl Metric {
    /// The words for metrics in a spec.
    pub const KIND: Kind = Kind::Choice(&["median", "mean", "min", "max", "last"]);

    /// The metric of one of the words of [`Metric::KIND`].
    ///
    /// # Panics
    /// If it is another word.
    pub fn from_word(word: &str) -> Metric {
        match word {
            "median" => Metric::Median,
            "mean" => Metric::Mean,
            "min" => Metric::Min,
            "max" => Metric::Max,
            "last" => Metric::Last,
            _ => unreachable!("the spec allows no other metric: {word}"),
        }
    }

    /// The metric of runtimes, which must be in order of their ends, latest last. The call may reorder them.
    ///
    /// # Panics
    /// If there are no runtimes.
    pub fn of(self, runtimes: &mut [Seconds]) -> Seconds {
        match self {
            Metric::Median => stats::median(runtimes),
            Metric::Mean => stats::mean(runtimes),
            Metric::Min => *runtimes.iter().min().expect("a set of runtimes"),
            Metric::Max => *runtimes.iter().max().expect("a set of runtimes"),
            Metric::Last => *runtimes.last().expect("a set of runtimes"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_has_its_metric() {
        let Kind::Choice(words) = Metric::KIND else { panic!("a choice of words") };
        let of = |word: &&str| Metric::from_word(word).of(&mut [40, 10, 25, 30]);
        assert_eq!(words.iter().map(of).collect::<Vec<_>>(), [27, 26, 10, 40, 30]);
    }
}
