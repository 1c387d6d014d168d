//! The frame of a chart: axes, ticks, grid lines and titles of the axes.

use super::axis::ChartAxis;
use super::figure::ChartPicture;
use super::outside;
use super::svg::{Anchor, Drawing, Ink, Point};

/// The width of a chart on a narrow page, in a row of three, and in a file, in units.
pub const WIDTH: u32 = 396;

/// The width of a chart on a page that has room for two of them beside each other. There a unit is a pixel.
const WIDE: u32 = 608;

/// The height of a chart of points, in units.
pub const TALL: u32 = 340;

/// Everything around the content of a chart.
pub struct Frame<'a> {
    /// In units.
    pub height: u32,
    /// What the chart shows, for people who cannot see it.
    pub label: &'a str,
    /// The axis from left to right.
    pub x: ChartAxis,
    /// The axis from bottom to top.
    pub y: ChartAxis,
    /// The text below the x axis.
    pub x_title: &'a str,
    /// The text above the y axis.
    pub y_title: &'a str,
    /// Whether ticks have lines through the chart.
    pub grid: (bool, bool),
    /// Areas behind the content.
    pub bands: Vec<Band>,
}

/// An area behind the content of a chart.
pub struct Band {
    /// From where to where on the x axis.
    pub x: (f64, f64),
    /// The same as shares of the height, from the bottom.
    pub y: (f64, f64),
    pub ink: Ink,
    pub opacity: f64,
    /// Its tooltip.
    pub title: String,
}

/// The part of a picture inside of a frame, in units.
pub struct Inside<'a> {
    frame: &'a Frame<'a>,
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

impl Inside<'_> {
    /// Where a pair of values is. Values beyond the end of an axis are at that end.
    pub fn at(&self, x: f64, y: f64) -> Point {
        (
            self.left + self.frame.x.place(x) * (self.right - self.left),
            self.bottom - self.frame.y.place(y) * (self.bottom - self.top),
        )
    }
}

impl<'a> Frame<'a> {
    /// A frame of the usual size with all lines. The axes have titles.
    pub fn new(label: &'a str, (x, x_title): (ChartAxis, &'a str), (y, y_title): (ChartAxis, &'a str)) -> Frame<'a> {
        Frame { height: 270, label, x, y, x_title, y_title, grid: (true, true), bands: Vec::new() }
    }

    /// Draws the frame at both widths, and lets `content` draw inside of it.
    pub fn draw(&self, content: impl Fn(&mut Drawing, &Inside<'_>)) -> ChartPicture {
        let [narrow, wide] = [WIDTH, WIDE].map(|width| {
            let mut drawing = Drawing::new((width, self.height));
            self.draw_on(&mut drawing, 0.0, &content);
            drawing.finish(self.label)
        });
        ChartPicture { narrow, wide }
    }

    /// Draws into a part of a picture that begins at this height.
    pub fn draw_on(&self, drawing: &mut Drawing, from: f64, content: impl FnOnce(&mut Drawing, &Inside<'_>)) {
        let titled = if self.x_title.is_empty() { 24.0 } else { 42.0 };
        let (width, end) = (f64::from(drawing.width()), from + f64::from(self.height));
        let inside = Inside {
            frame: self,
            left: self.y.label_width() + 12.0,
            top: from + if self.y_title.is_empty() { 9.0 } else { 26.0 },
            right: width - self.x.overhang().max(8.0),
            bottom: end - titled,
        };
        let Inside { left, top, right, bottom, .. } = inside;
        drawing.text((0.0, from + 2.0), Anchor::Corner, self.y_title);
        drawing.text(((left + right) / 2.0, end - 14.0), Anchor::Below, self.x_title);
        let x_ticks = self.x.ticks(right - left, true);
        let y_ticks = self.y.ticks(bottom - top, false);
        let (column, row) = (|value: f64| inside.at(value, 0.0).0, |value: f64| inside.at(0.0, value).1);
        for band in &self.bands {
            let (from, to) = (column(band.x.0), column(band.x.1));
            let at = |share: f64| bottom - share * (bottom - top);
            // A day of years can still be seen.
            let to = to.max(from + 0.8).min(right);
            drawing.titled(&outside(&band.title), |drawing| {
                drawing.rect((from.min(to), at(band.y.0)), (to, at(band.y.1)), band.ink, band.opacity);
            });
        }
        for x in x_ticks.iter().filter(|_| self.grid.0).map(|tick| column(tick.value)) {
            drawing.line([(x, bottom), (x, top)], Ink::Grid, 1.0);
        }
        for y in y_ticks.iter().filter(|_| self.grid.1).map(|tick| row(tick.value)) {
            drawing.line([(left, y), (right, y)], Ink::Grid, 1.0);
        }
        drawing.line([(left, top), (left, bottom), (right, bottom)], Ink::Axis, 1.0);
        for (x, label) in x_ticks.iter().map(|tick| (column(tick.value), &tick.label)) {
            drawing.line([(x, bottom), (x, bottom + 3.0)], Ink::Axis, 1.0);
            drawing.text((x, bottom + 6.0), Anchor::Below, label);
        }
        for (y, label) in y_ticks.iter().map(|tick| (row(tick.value), &tick.label)) {
            drawing.line([(left - 3.0, y), (left, y)], Ink::Axis, 1.0);
            drawing.text((left - 6.0, y), Anchor::Left, label);
        }
        content(drawing, &inside);
    }
}
