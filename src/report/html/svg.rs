//! Writes what plotters draws as an SVG picture inside of a page.
//!
//! The page decides the colours, which differ between light and dark, so shapes have classes instead of colours. plotters only
//! passes colours through: an [`Ink`] is passed as a colour that stands for its class.

use std::cell::RefCell;
use std::convert::Infallible;
use std::fmt::Write;
use std::rc::Rc;

use plotters::style::RGBColor;
use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind, FontTransform,
};

use super::text_width::text_width;

/// Pictures are drawn in tenths of a unit, because plotters has whole numbers only.
pub const TENTHS: u32 = 10;

/// The size of all text, in units.
pub const TEXT: u32 = 12;

/// What a shape is drawn with. The style sheet has its colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    /// Text.
    Text,
    /// Lines of the grid.
    Grid,
    /// Axes, and lines that are less important than the data.
    Axis,
    /// What is better than the baseline.
    Gain,
    /// What is worse than the baseline.
    Loss,
    /// A setting, by its number, or another category. They repeat after [`Ink::SERIES`].
    Series(usize),
    /// The colour of a series without its dashes, for points and areas.
    Plain(usize),
}

impl Ink {
    /// The number of different series.
    pub const SERIES: usize = 8;

    fn code(self) -> u8 {
        match self {
            Ink::Text => 0,
            Ink::Grid => 1,
            Ink::Axis => 2,
            Ink::Gain => 3,
            Ink::Loss => 4,
            Ink::Series(at) => 10 + (at % Ink::SERIES) as u8,
            Ink::Plain(at) => 20 + (at % Ink::SERIES) as u8,
        }
    }

    /// The colour that stands for it.
    pub fn color(self) -> RGBColor {
        RGBColor(0, 0, self.code())
    }

    /// The end of the class names of a colour.
    fn class(color: BackendColor) -> String {
        match color.rgb.2 {
            0 => "t".to_string(),
            1 => "g".to_string(),
            2 => "a".to_string(),
            3 => "up".to_string(),
            4 => "dn".to_string(),
            series @ 10..20 => (series - 10).to_string(),
            plain => format!("p{}", plain - 20),
        }
    }
}

/// A picture that is being drawn. Its copies are the same picture.
#[derive(Clone)]
pub struct Canvas {
    size: (u32, u32),
    shapes: Rc<RefCell<String>>,
}

type Drawn = Result<(), DrawingErrorKind<Infallible>>;

impl Canvas {
    /// An empty picture of this size, in units.
    pub fn new(width: u32, height: u32) -> Canvas {
        Canvas { size: (width * TENTHS, height * TENTHS), shapes: Rc::default() }
    }

    /// Gives a tooltip to all that `draw` draws.
    pub fn with_title<T>(&self, title: &str, draw: impl FnOnce() -> T) -> T {
        self.push(&format!("<g><title>{}</title>", escaped(title)));
        let drawn = draw();
        self.push("</g>");
        drawn
    }

    /// The picture. `label` says what it shows, for people who cannot see it.
    pub fn finish(&self, label: &str) -> String {
        let (width, height) = (self.size.0 / TENTHS, self.size.1 / TENTHS);
        let shapes = self.shapes.borrow();
        format!("<svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}\">{shapes}</svg>", escaped(label))
    }

    fn push(&self, text: &str) {
        self.shapes.borrow_mut().push_str(text);
    }
}

/// A text as the content of an element or of an attribute.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    maud::Escaper::new(&mut out).write_str(text).expect("a string can always be written");
    out
}

/// A number of tenths, without decimals that are not needed.
struct Tenths(i32);

impl std::fmt::Display for Tenths {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (sign, tenths) = (if self.0 < 0 { "-" } else { "" }, self.0.unsigned_abs());
        match (tenths / TENTHS, tenths % TENTHS) {
            (whole, 0) => write!(f, "{sign}{whole}"),
            (0, rest) => write!(f, "{sign}.{rest}"),
            (whole, rest) => write!(f, "{sign}{whole}.{rest}"),
        }
    }
}

/// The attributes of a line or a filled shape.
fn paint<S: BackendStyle>(style: &S, fill: bool) -> String {
    let class = Ink::class(style.color());
    let mut text = format!(" class=\"{}{class}\"", if fill { "f" } else { "l" });
    if style.color().alpha < 0.995 {
        write!(text, " opacity=\"{:.2}\"", style.color().alpha).expect("a string can always be written");
    }
    if !fill {
        write!(text, " stroke-width=\"{}\"", Tenths(style.stroke_width() as i32)).expect("as above");
    }
    text
}

impl DrawingBackend for Canvas {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> Drawn {
        Ok(())
    }

    fn present(&mut self) -> Drawn {
        Ok(())
    }

    fn draw_pixel(&mut self, point: BackendCoord, color: BackendColor) -> Drawn {
        self.draw_rect(point, (point.0 + 1, point.1 + 1), &color, true)
    }

    fn draw_line<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S) -> Drawn {
        self.draw_path([from, to], style)
    }

    fn draw_rect<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S, fill: bool) -> Drawn {
        if style.color().alpha > 0.0 {
            let (left, top) = (from.0.min(to.0), from.1.min(to.1));
            let (width, height) = ((from.0 - to.0).abs(), (from.1 - to.1).abs());
            self.push(&format!(
                "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"{}/>",
                Tenths(left),
                Tenths(top),
                Tenths(width),
                Tenths(height),
                paint(style, fill)
            ));
        }
        Ok(())
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(&mut self, path: I, style: &S) -> Drawn {
        if style.color().alpha > 0.0 {
            self.push(&format!("<path d=\"{}\"{}/>", path_data(path), paint(style, false)));
        }
        Ok(())
    }

    fn draw_circle<S: BackendStyle>(&mut self, center: BackendCoord, radius: u32, style: &S, fill: bool) -> Drawn {
        let ((x, y), radius) = (center, Tenths(radius as i32));
        let shape = format!("<circle cx=\"{}\" cy=\"{}\" r=\"{radius}\"{}/>", Tenths(x), Tenths(y), paint(style, fill));
        self.push(&shape);
        Ok(())
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(&mut self, path: I, style: &S) -> Drawn {
        self.push(&format!("<path d=\"{}z\"{}/>", path_data(path), paint(style, true)));
        Ok(())
    }

    fn draw_text<T: BackendTextStyle>(&mut self, text: &str, style: &T, at: BackendCoord) -> Drawn {
        let anchor = match style.anchor().h_pos {
            HPos::Left => "",
            HPos::Center => " text-anchor=\"middle\"",
            HPos::Right => " text-anchor=\"end\"",
        };
        // The distance from the anchor to the line on which letters stand, in parts of the size of the text.
        let down = match style.anchor().v_pos {
            VPos::Top => 0.8,
            VPos::Center => 0.35,
            VPos::Bottom => -0.2,
        };
        let down = (style.size() * down).round() as i32;
        let (x, y) = style.transform().transform(0, down);
        let (x, y) = (Tenths(at.0 + x), Tenths(at.1 + y));
        let turned = match style.transform() {
            FontTransform::None => String::new(),
            FontTransform::Rotate90 => format!(" transform=\"rotate(90 {x} {y})\""),
            FontTransform::Rotate180 => format!(" transform=\"rotate(180 {x} {y})\""),
            FontTransform::Rotate270 => format!(" transform=\"rotate(270 {x} {y})\""),
        };
        self.push(&format!("<text x=\"{x}\" y=\"{y}\"{anchor}{turned}>{}</text>", escaped(text)));
        Ok(())
    }

    fn estimate_text_size<T: BackendTextStyle>(
        &self,
        text: &str,
        style: &T,
    ) -> Result<(u32, u32), DrawingErrorKind<Infallible>> {
        let size = style.size();
        Ok(((text_width(text) * size).ceil() as u32, (size * 1.2).ceil() as u32))
    }
}

/// The path through these points. Points in line with their neighbours are left out.
fn path_data(points: impl IntoIterator<Item = BackendCoord>) -> String {
    let mut kept: Vec<BackendCoord> = Vec::new();
    for point in points {
        if let [.., a, b] = kept[..] {
            let is_straight = (a.0 == b.0 && b.0 == point.0 && (b.1 - a.1).signum() == (point.1 - b.1).signum())
                || (a.1 == b.1 && b.1 == point.1 && (b.0 - a.0).signum() == (point.0 - b.0).signum());
            if is_straight || b == point {
                kept.pop();
            }
        }
        kept.push(point);
    }
    let mut data = String::new();
    for (at, (x, y)) in kept.into_iter().enumerate() {
        let command = if at == 0 { "M" } else { "L" };
        write!(data, "{command}{} {}", Tenths(x), Tenths(y)).expect("a string can always be written");
    }
    data
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_have_classes_and_short_numbers() {
        let mut canvas = Canvas::new(100, 50);
        let blue = Ink::Series(1).color();
        canvas.draw_path([(0, 0), (10, 0), (25, 0), (25, -7)], &blue).unwrap();
        canvas
            .with_title("a < \"b\" & c", || canvas.clone().draw_rect((10, 30), (0, 5), &Ink::Gain.color(), true))
            .unwrap();
        let picture = canvas.finish("<script>");
        let expected = "<svg viewBox=\"0 0 100 50\" role=\"img\" aria-label=\"&lt;script&gt;\">\
             <path d=\"M0 0L2.5 0L2.5 -.7\" class=\"l1\" stroke-width=\".1\"/>\
             <g><title>a &lt; &quot;b&quot; &amp; c</title>\
             <rect x=\"0\" y=\".5\" width=\"1\" height=\"2.5\" class=\"fup\"/></g></svg>";
        assert_eq!(picture, expected);
    }
}
