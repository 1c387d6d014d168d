//! Charts of curves.

use super::figure::ChartPicture;
use super::frame::{Frame, Inside};
use super::svg::{Anchor, Drawing, Ink, Point, fitted};

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
    /// The label of a value that does not change, to compare others with.
    pub reference: Option<String>,
}

/// Draws curves, the first on top.
pub fn draw_curves(frame: &Frame<'_>, curves: &[Curve]) -> ChartPicture {
    frame.draw(|drawing, inside| {
        for curve in curves.iter().rev().filter(|curve| curve.band.len() > 1) {
            let upper = curve.band.iter().map(|&(x, _, high)| inside.at(x, high));
            let lower = curve.band.iter().rev().map(|&(x, low, _)| inside.at(x, low));
            drawing.area(upper.chain(lower), Ink::Plain(curve.series), 0.15);
        }
        for curve in curves.iter().rev() {
            let points = curve.points.iter().filter(|(x, _)| frame.x.has(*x)).map(|&(x, y)| inside.at(x, y));
            match curve.reference.is_some() {
                true => drawing.line(points.clone(), Ink::Reference(curve.series), 1.4),
                false => drawing.line(points.clone(), Ink::Series(curve.series), 1.8),
            }
            for point in points.filter(|_| curve.dots) {
                drawing.point(point, 2.4, Ink::Plain(curve.series), 1.0);
            }
        }
        name_references(drawing, inside, curves);
    })
}

/// Writes the labels of references above their lines, at the right end, unless another reference or its label is there.
fn name_references(drawing: &mut Drawing, inside: &Inside<'_>, curves: &[Curve]) {
    const HIGH: f64 = 14.0;
    let references = curves.iter().filter_map(|curve| Some((curve.reference.as_ref()?, curve.points.first()?)));
    let references: Vec<(&String, f64)> =
        references.map(|(label, point)| (label, inside.at(point.0, point.1).1)).collect();
    let mut labelled: Vec<f64> = Vec::new();
    for (label, y) in &references {
        let is_crossed = references.iter().any(|(_, other)| *other < *y && *other > y - HIGH - 2.0);
        let is_taken = labelled.iter().any(|other| (other - y).abs() < HIGH);
        if y - HIGH > inside.top && !is_crossed && !is_taken {
            drawing.outlined_text((inside.right - 3.0, y - 8.0), Anchor::Left, &fitted(label, 180.0));
            labelled.push(*y);
        }
    }
}
