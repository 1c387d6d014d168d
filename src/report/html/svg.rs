//! Shapes as an SVG picture inside of a page.
//!
//! The page decides the colours, which differ between light and dark, so shapes have classes instead of colours.

use std::fmt::{Display, Formatter, Result, Write};

use super::text_width::text_width;

/// The size of all text, in units.
const TEXT: f64 = 12.0;

/// A place in a picture, in units from its left upper corner.
pub type Point = (f64, f64);

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
}

/// The end of the names of its classes: `l` and this is a line, `f` and this is a filled shape.
impl Display for Ink {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Ink::Text => write!(f, "t"),
            Ink::Grid => write!(f, "g"),
            Ink::Axis => write!(f, "a"),
            Ink::Gain => write!(f, "up"),
            Ink::Loss => write!(f, "dn"),
            Ink::Series(number) => write!(f, "{}", number % Ink::SERIES),
            Ink::Plain(number) => write!(f, "p{}", number % Ink::SERIES),
        }
    }
}

/// Where a text is, seen from its point.
#[derive(Clone, Copy, Debug)]
pub enum Anchor {
    /// To the right of it, as high as the middle of the text.
    Right,
    /// To the left of it, as high as the middle of the text.
    Left,
    /// Around it.
    Middle,
    /// Below it, in the middle.
    Below,
    /// Below it and to the right.
    Corner,
}

/// A picture that is being drawn.
pub struct Drawing {
    size: (u32, u32),
    shapes: String,
}

impl Drawing {
    /// An empty picture of this width and height, in units.
    pub fn new(size: (u32, u32)) -> Drawing {
        Drawing { size, shapes: String::new() }
    }

    /// A line through these points.
    pub fn line(&mut self, points: impl IntoIterator<Item = Point>, ink: Ink, width: f64) {
        let data = path_data(points);
        self.put(format_args!("<path d=\"{data}\" class=\"l{ink}\" stroke-width=\"{width}\"/>"));
    }

    /// The area inside of these points.
    pub fn area(&mut self, points: impl IntoIterator<Item = Point>, ink: Ink, opacity: f64) {
        let (data, paint) = (path_data(points), Fill(ink, opacity));
        self.put(format_args!("<path d=\"{data}z\"{paint}/>"));
    }

    /// A filled box between two corners.
    pub fn rect(&mut self, a: Point, b: Point, ink: Ink, opacity: f64) {
        let (x, y) = (Tenths(a.0.min(b.0)), Tenths(a.1.min(b.1)));
        // The difference of what is written, so that neighbours touch.
        let (width, height) =
            (Tenths(Tenths(a.0.max(b.0)).value() - x.value()), Tenths(Tenths(a.1.max(b.1)).value() - y.value()));
        let fill = Fill(ink, opacity);
        self.put(format_args!("<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"{fill}/>"));
    }

    /// A point. What is bad is a triangle: colours alone may not be told apart.
    pub fn point(&mut self, (x, y): Point, radius: f64, ink: Ink, opacity: f64) {
        if ink == Ink::Loss {
            let radius = 1.4 * radius;
            let (right, down) = (radius * 0.866, radius / 2.0);
            return self.area([(x, y - radius), (x - right, y + down), (x + right, y + down)], ink, opacity);
        }
        let (x, y, fill) = (Tenths(x), Tenths(y), Fill(ink, opacity));
        self.put(format_args!("<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"{fill}/>"));
    }

    /// A text at a point. An empty text is nothing.
    pub fn text(&mut self, (x, y): Point, anchor: Anchor, text: &str) {
        if text.is_empty() {
            return;
        }
        let (side, down) = match anchor {
            Anchor::Right => ("", 0.35),
            Anchor::Left => (" text-anchor=\"end\"", 0.35),
            Anchor::Middle => (" text-anchor=\"middle\"", 0.35),
            Anchor::Below => (" text-anchor=\"middle\"", 0.8),
            Anchor::Corner => ("", 0.8),
        };
        // The point of an SVG text is on the line on which its letters stand.
        let (x, y, text) = (Tenths(x), Tenths(y + down * TEXT), Escaped(text));
        self.put(format_args!("<text x=\"{x}\" y=\"{y}\"{side}>{text}</text>"));
    }

    /// Gives a tooltip to all that `draw` draws.
    pub fn titled(&mut self, title: &str, draw: impl FnOnce(&mut Drawing)) {
        self.put(format_args!("<g><title>{}</title>", Escaped(title)));
        draw(self);
        self.shapes.push_str("</g>");
    }

    /// The picture. `label` says what it shows, for people who cannot see it.
    pub fn finish(self, label: &str) -> String {
        let ((width, height), label, shapes) = (self.size, Escaped(label), self.shapes);
        format!("<svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{label}\">{shapes}</svg>")
    }

    fn put(&mut self, shape: std::fmt::Arguments<'_>) {
        self.shapes.write_fmt(shape).expect("a string can always be written");
    }
}

/// How wide a text is in a picture, in units.
pub fn drawn_width(text: &str) -> f64 {
    text_width(text) * TEXT
}

/// A text as the content of an element or of an attribute.
struct Escaped<'a>(&'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let mut out = String::with_capacity(self.0.len());
        maud::Escaper::new(&mut out).write_str(self.0)?;
        f.write_str(&out)
    }
}

/// A length in tenths of a unit, which keeps pictures small.
struct Tenths(f64);

impl Tenths {
    fn value(&self) -> f64 {
        // Adding 0 makes -0 positive.
        (self.0 * 10.0).round() / 10.0 + 0.0
    }
}

impl Display for Tenths {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        self.value().fmt(f)
    }
}

/// The attributes of a filled shape.
struct Fill(Ink, f64);

impl Display for Fill {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, " class=\"f{}\"", self.0)?;
        if self.1 < 0.995 { write!(f, " opacity=\"{:.2}\"", self.1) } else { Ok(()) }
    }
}

/// The path through these points. Points in the middle of a horizontal line are left out.
fn path_data(points: impl IntoIterator<Item = Point>) -> String {
    let mut kept: Vec<Point> = Vec::new();
    for (x, y) in points {
        let point = (Tenths(x).value(), Tenths(y).value());
        if let [.., a, b] = kept[..]
            && a.1 == b.1
            && b.1 == point.1
        {
            kept.pop();
        }
        kept.push(point);
    }
    let place = |(at, (x, y)): (usize, &Point)| format!("{}{x} {y}", if at == 0 { "M" } else { "L" });
    kept.iter().enumerate().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_have_classes_and_short_numbers() {
        let mut drawing = Drawing::new((100, 50));
        drawing.line([(0.0, 0.0), (1.0, 0.01), (2.5, 0.0), (2.5, -0.7)], Ink::Series(9), 0.1);
        drawing.titled("a < \"b\" & c", |drawing| drawing.rect((1.0, 3.0), (-0.04, 0.5), Ink::Gain, 1.0));
        let picture = drawing.finish("<script>");
        let expected = "<svg viewBox=\"0 0 100 50\" role=\"img\" aria-label=\"&lt;script&gt;\">\
             <path d=\"M0 0L2.5 0L2.5 -0.7\" class=\"l1\" stroke-width=\"0.1\"/>\
             <g><title>a &lt; &quot;b&quot; &amp; c</title>\
             <rect x=\"0\" y=\"0.5\" width=\"1\" height=\"2.5\" class=\"fup\"/></g></svg>";
        assert_eq!(picture, expected);
    }
}
