//! The frame of a chart: axes, ticks, grid lines and titles of the axes.

use std::convert::Infallible;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::axis::Axis;
use super::svg::{Canvas, Ink, TENTHS, TEXT};

/// The width of a chart, in units. Narrow screens show it nearly unscaled.
pub const WIDTH: u32 = 440;

/// The usual height of a chart, in units.
pub const HEIGHT: u32 = 270;

/// A chart in its frame.
pub type Chart<'a> = ChartContext<'a, Canvas, Cartesian2d<Axis, Axis>>;

/// Drawing into memory does not fail: plotters' errors are those of the backend, which has none, and of areas that are used
/// twice at the same time.
pub const DRAWN: &str = "drawing into memory does not fail";

/// Everything around the content of a chart.
pub struct Frame<'a> {
    /// In units.
    pub size: (u32, u32),
    /// What the chart shows, for people who cannot see it.
    pub label: &'a str,
    pub x: Axis,
    pub y: Axis,
    /// The text below the x axis.
    pub x_title: &'a str,
    /// The text above the y axis.
    pub y_title: &'a str,
    /// Whether ticks have lines through the chart.
    pub grid: (bool, bool),
}

/// The style of text.
pub fn text_style(h_pos: HPos, v_pos: VPos) -> TextStyle<'static> {
    let style = TextStyle::from(("sans-serif", TEXT * TENTHS).into_font());
    TextStyle { color: Ink::Text.color().to_backend_color(), pos: Pos::new(h_pos, v_pos), ..style }
}

/// Units as lengths of plotters.
pub fn units(units: f64) -> i32 {
    (units * f64::from(TENTHS)).round() as i32
}

/// A line of this width in units.
pub fn line(ink: Ink, width: f64) -> ShapeStyle {
    ink.color().stroke_width(units(width) as u32)
}

impl Frame<'_> {
    /// Draws the frame, lets `content` draw inside of it, and returns the picture.
    pub fn draw(self, content: impl FnOnce(&mut Chart<'_>, &Canvas)) -> String {
        let canvas = Canvas::new(self.size.0, self.size.1);
        let root = canvas.clone().into_drawing_area();
        self.draw_on(&root, &canvas, content);
        canvas.finish(self.label)
    }

    /// Draws into a part of a picture.
    pub fn draw_on(
        &self,
        area: &DrawingArea<Canvas, Shift>,
        canvas: &Canvas,
        content: impl FnOnce(&mut Chart<'_>, &Canvas),
    ) {
        let (mut x, mut y) = (self.x.clone(), self.y.clone());
        let left = y.label_width() + 12.0;
        let right = x.overhang().max(8.0);
        let (top, bottom) = (if self.y_title.is_empty() { 9.0 } else { 26.0 }, 24.0);
        let titled = if self.x_title.is_empty() { 0.0 } else { 18.0 };
        x.fit(f64::from(self.size.0) - left - right, true);
        y.fit(f64::from(self.size.1) - top - bottom - titled, false);
        if !self.y_title.is_empty() {
            area.draw_text(self.y_title, &text_style(HPos::Left, VPos::Top), (0, units(2.0))).expect(DRAWN);
        }
        let mut chart = ChartBuilder::on(area)
            .margin_top(units(top))
            .margin_right(units(right))
            .x_label_area_size(units(bottom + titled))
            .y_label_area_size(units(left))
            .build_cartesian_2d(x, y)
            .expect(DRAWN);
        let mut mesh = chart.configure_mesh();
        mesh.x_labels(100)
            .y_labels(100)
            .light_line_style(TRANSPARENT)
            .bold_line_style(line(Ink::Grid, 1.0))
            .axis_style(line(Ink::Axis, 1.0))
            .label_style(text_style(HPos::Left, VPos::Top))
            .axis_desc_style(text_style(HPos::Left, VPos::Top))
            .set_all_tick_mark_size(units(3.0));
        if !self.x_title.is_empty() {
            mesh.x_desc(self.x_title);
        }
        if !self.grid.0 {
            mesh.disable_x_mesh();
        }
        if !self.grid.1 {
            mesh.disable_y_mesh();
        }
        mesh.draw().expect(DRAWN);
        content(&mut chart, canvas);
    }
}

/// Draws one element.
pub fn put<'a, E>(chart: &mut Chart<'a>, element: E)
where
    for<'b> &'b E: plotters::element::PointCollection<'b, (f64, f64)>,
    E: plotters::element::Drawable<Canvas>,
{
    let drawn: Result<_, DrawingAreaErrorKind<Infallible>> = chart.draw_series(std::iter::once(element));
    drawn.expect(DRAWN);
}
