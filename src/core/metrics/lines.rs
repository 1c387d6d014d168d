//! Means of a figure by a swept number.

use super::column::Column;
use super::replicates::Interval;

/// A mean over the runs of a line at one value of the swept number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanAt {
    /// The value of the swept number.
    pub x: f64,
    /// The number of runs.
    pub runs: usize,
    /// The mean over these runs.
    pub mean: Interval,
}

/// The means of runs that differ only in the swept number and in their seeds.
#[derive(Clone, Debug)]
pub struct NumberLine {
    /// What the runs have in common.
    pub name: String,
    /// In the order of the swept number.
    pub points: Vec<MeanAt>,
    /// Whether the reader has asked for it by name.
    pub is_asked_for: bool,
    /// Whether its runs have no such number, or a word instead of it. Then it has one point, whose place has no meaning.
    pub is_reference: bool,
}

impl NumberLine {
    /// The mean of its points.
    pub fn mean(&self) -> f64 {
        self.points.iter().map(|point| point.mean.mean).sum::<f64>() / self.points.len() as f64
    }
}

/// How a figure depends on a swept number.
#[derive(Clone, Debug)]
pub struct NumberLines {
    /// The swept option, or the swept key of a spec.
    pub option: String,
    /// Whether its values are durations in seconds.
    pub is_duration: bool,
    /// The figure.
    pub column: &'static Column,
    /// The condition of all runs, such as `load=0.9`. Empty if there is one condition, or if the lines name theirs.
    pub condition: String,
    /// One line for each combination of the other options, and one for each setting without the swept number.
    pub lines: Vec<NumberLine>,
}
