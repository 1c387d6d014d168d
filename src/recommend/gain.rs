//! Gains over the present setting, in words.

use crate::metrics::{Column, Replicates, Verdict};
use crate::report::{TableCell, Tone, signed_percent};

/// The improvement over the present setting.
pub(super) fn gain(column: &Column, runs: &Replicates<'_>) -> String {
    let mean = runs.improvement(column).mean;
    if mean.is_finite() { signed_percent(mean) } else { String::new() }
}

/// The improvement as a cell.
pub(super) fn gain_cell(column: &Column, runs: &Replicates<'_>) -> TableCell {
    TableCell::new(gain(column, runs), Tone::of_gain(runs.improvement(column).mean))
}

/// Whether a figure differs by more than chance from the present one.
pub(super) fn verdict(column: &Column, runs: &Replicates<'_>) -> &'static str {
    match runs.verdict(column) {
        Some(Verdict::WithinNoise | Verdict::NotSure) => "cannot be told",
        Some(verdict) => verdict.name(),
        None => "",
    }
}

/// A figure without its name in results.
pub(super) fn in_words(column: &Column) -> &'static str {
    match column.name {
        "bsld_mean" => "mean bounded slowdown",
        "wait_mean" => "mean wait",
        _ => column.about,
    }
}
