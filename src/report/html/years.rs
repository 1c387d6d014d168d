//! What settings gain in other years of a site: a point for each resample, and a line for the log.

use super::axis::ChartAxis;
use super::data_table::{DataCell, DataTable};
use super::figure::{ChartFigure, Mark};
use super::frame::Frame;
use super::svg::{Ink, fitted};
use crate::metrics::{Column, Replicates};
use crate::{figure_in_words, signed_percent};

/// The height of a row, in units.
const ROW: u32 = 26;

/// The most room for the names of settings, in units.
const NAMES: f64 = 150.0;

/// Gains that are lower are drawn at this end of the axis: a mean that is five times the baseline's says no more than one that is
/// three times that.
const LEAST: f64 = -200.0;

/// The gains of settings by a figure over the baseline, with their names and the numbers of their colours. None if no setting ran on
/// resamples with a baseline.
pub fn years_chart(settings: &[(&Replicates<'_>, usize)], column: &'static Column) -> Option<ChartFigure> {
    let gains: Vec<_> = settings
        .iter()
        .filter_map(|&(runs, series)| Some((runs.name(), series, runs.gains_in_years(column)?)))
        .collect();
    let all = || gains.iter().flat_map(|(_, _, gains)| gains.all());
    let ends = (all().fold(0.0, f64::min).max(LEAST), all().fold(0.0, f64::max));
    if gains.is_empty() || ends.0 == ends.1 {
        return None;
    }
    let words = figure_in_words(column);
    let title = format!("Gain in {words} in other years");
    let names: Vec<String> = gains.iter().rev().map(|(name, ..)| fitted(name, NAMES)).collect();
    let axis_title = format!("gain in {words}, in percent");
    let x = (ChartAxis::between(ends.0, ends.1), &*axis_title);
    let frame = Frame {
        height: 51 + ROW * gains.len() as u32,
        grid: (true, false),
        ..Frame::new(&title, x, (ChartAxis::names(&names), ""))
    };
    let picture = frame.draw(|drawing, inside| {
        drawing.line([inside.at(0.0, 0.0), inside.at(0.0, gains.len() as f64)], Ink::Axis, 1.0);
        for (at, (name, series, gains)) in gains.iter().rev().enumerate() {
            let middle = at as f64 + 0.5;
            for (seed, gain) in (1..).zip(&gains.resamples) {
                let label = super::outside(&format!("{name}, resample {seed}: {}", signed_percent(*gain)));
                drawing
                    .titled(&label, |drawing| drawing.point(inside.at(*gain, middle), 3.4, Ink::Plain(*series), 0.6));
            }
            if let Some(log) = gains.log {
                let label = super::outside(&format!("{name}, the log: {}", signed_percent(log)));
                let line = [inside.at(log, middle - 0.35), inside.at(log, middle + 0.35)];
                drawing.titled(&label, |drawing| drawing.line(line, Ink::Text, 1.6));
            }
        }
    });
    let mut data = DataTable::new(2, ["setting", "year", "gain in percent"]).sortable();
    for (name, _, gains) in &gains {
        let resamples = (1..).zip(&gains.resamples).map(|(seed, gain)| (format!("resample {seed}"), *gain));
        for (year, gain) in gains.log.map(|log| ("the log".to_string(), log)).into_iter().chain(resamples) {
            data.push([DataCell::text(name), DataCell::text(year), DataCell::shown(signed_percent(gain), gain)]);
        }
    }
    Some(ChartFigure {
        title,
        legend: vec![(Mark::Box(Ink::Plain(1), 0.6), "a resample".to_string()), (Mark::Line(0), "the log".to_string())],
        picture,
        caption: format!(
            "Gain in {words} over the baseline on the same resample, one point per resample, and a line for the log itself. To the \
             right of 0 the setting is better. Other years of the same users could look like these points."
        ),
        data,
        ..ChartFigure::default()
    })
}
