//! Charts of curves.

use plotters::prelude::*;

use super::plot::{DRAWN, Frame, line, put, units};
use super::svg::Ink;

/// A curve of a setting.
pub struct Curve {
    /// The number of the setting.
    pub series: usize,
    pub points: Vec<(f64, f64)>,
    /// Whether the points are marked. For few points with gaps between them.
    pub dots: bool,
    /// The intervals around the points: the place, the lower end and the upper end. Empty if there are none.
    pub band: Vec<(f64, f64, f64)>,
}

/// Draws curves, the first on top.
pub fn curves(frame: Frame<'_>, curves: &[Curve]) -> String {
    frame.draw(|chart, _| {
        for curve in curves.iter().rev().filter(|curve| curve.band.len() > 1) {
            let upper = curve.band.iter().map(|(x, _, high)| (*x, *high));
            let lower = curve.band.iter().rev().map(|(x, low, _)| (*x, *low));
            let fill = Ink::Plain(curve.series).color().mix(0.15).filled();
            put(chart, Polygon::new(upper.chain(lower).collect::<Vec<_>>(), fill));
        }
        for curve in curves.iter().rev() {
            let style = line(Ink::Series(curve.series), 1.8);
            chart.draw_series(LineSeries::new(curve.points.iter().copied(), style)).expect(DRAWN);
            if curve.dots {
                let fill = Ink::Plain(curve.series).color().filled();
                curve.points.iter().for_each(|point| put(chart, Circle::new(*point, units(2.4), fill)));
            }
        }
    })
}
