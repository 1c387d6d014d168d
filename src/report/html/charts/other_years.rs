//! What settings gain in other years.

use super::{Chart, ChartFigure, Compared, Draw};
use crate::html::years::years_chart;
use crate::metrics::columns::BSLD_MEAN;

/// The chart. None unless replications are resamples and there is a baseline.
pub const CHART: Chart = Chart { title: "Gain in other years", probe: |_, _| None, draw: Draw::Together(chart) };

fn chart(compared: &Compared<'_>) -> Option<ChartFigure> {
    // The baseline has the colour 0.
    let settings: Vec<_> = compared.figures.iter().map(|runs| &**runs).zip(1..).collect();
    years_chart(&settings, &BSLD_MEAN)
}
