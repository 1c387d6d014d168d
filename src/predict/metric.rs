//! One number for a set of runtimes: the metric of a history predictor.

use crate::spec::Kind;
use crate::stats;
use crate::time::Seconds;

/// How a set of runtimes becomes a prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    Median,
    Mean,
    Min,
    Max,
    Last,
}

impl Metric {
    pub const KIND: Kind = Kind::Choice(&["median", "mean", "min", "max", "last"]);

    /// The metric of one of [`Metric::KIND`]'s words.
    pub fn from_word(word: &str) -> Metric {
        match word {
            "median" => Metric::Median,
            "mean" => Metric::Mean,
            "min" => Metric::Min,
            "max" => Metric::Max,
            "last" => Metric::Last,
            _ => unreachable!("the spec lets no other metric through: {word}"),
        }
    }

    /// The metric of runtimes in order of their ends, latest last; medians and means are rounded down. Reorders them.
    ///
    /// # Panics
    /// If there are none.
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
