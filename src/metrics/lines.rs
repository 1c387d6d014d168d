//! Means of a figure by a swept number.

use super::column::Column;
use super::setting_runs::Interval;

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
}

/// How a figure depends on a swept number.
#[derive(Clone, Debug)]
pub struct NumberLines {
    /// The swept option, or the swept key of a spec.
    pub option: String,
    /// The figure.
    pub column: &'static Column,
    /// One line for each combination of the other options.
    pub lines: Vec<NumberLine>,
}
