//! Charts of curves.

use super::frame::Frame;
use super::svg::{Ink, Point};

/// A curve of a setting.
#[derive(Default)]
pub struct Curve {
    /// The number of the setting.
    pub series: usize,
    /// Pairs of values. Those beside the x axis are not drawn.
    pub points: Vec<Point>,
    /// Whether the points are marked. For few points with gaps between them.
    pub dots: bool,
    /// The intervals around the points: the place, the lower end and the upper end. Empty if there are none.
    pub band: Vec<(f64, f64, f64)>,
}

/// Draws curves, the first on top.
pub fn draw_curves(frame: &Frame<'_>, curves: &[Curve]) -> String {
    frame.draw(|drawing, inside| {
        for curve in curves.iter().rev().filter(|curve| curve.band.len() > 1) {
            let upper = curve.band.iter().map(|&(x, _, high)| inside.at(x, high));
            let lower = curve.band.iter().rev().map(|&(x, low, _)| inside.at(x, low));
            drawing.area(upper.chain(lower), Ink::Plain(curve.series), 0.15);
        }
        for curve in curves.iter().rev() {
            let points = curve.points.iter().filter(|(x, _)| frame.x.has(*x)).map(|&(x, y)| inside.at(x, y));
            drawing.line(points.clone(), Ink::Series(curve.series), 1.8);
            for point in points.filter(|_| curve.dots) {
                drawing.point(point, 2.4, Ink::Plain(curve.series), 1.0);
            }
        }
    })
}
