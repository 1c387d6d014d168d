//! Shapes as SVG: pictures inside of a page, and the same pictures as files of their own.
//!
//! A page decides the colours, which differ between light and dark, so there shapes have classes instead of colours. A file has
//! to look right without a style sheet: there each shape has its colours as attributes.

use std::fmt::{Display, Formatter, Result};

use super::outside;
use super::text_width::text_width;
use crate::text::printable;

/// The size of all text, in units.
const TEXT: f64 = 12.0;

/// The length of a unit in a file, in millimetres. A chart of the usual width fits a column of a paper, and its text has 7 points.
const MILLIMETRES: f64 = 0.2157;

/// The empty space around the picture of a file, in units.
const MARGIN: u32 = 6;

/// The fonts of a file: the first that is there.
const FONTS: &str = "Helvetica, Arial, DejaVu Sans, sans-serif";

/// The colours of series in files and on light pages: grey, six of Okabe and Ito, olive, and five of Tol's muted scheme.
const SERIES_COLORS: [&str; Ink::SERIES] = [
    "#6a737d", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a7f00", "#332288", "#882255",
    "#117733", "#aa4499", "#44aa99",
];

/// The dashes of series, so that lines can be told apart without colours. None for a line without gaps.
const SERIES_DASHES: [Option<&str>; Ink::SERIES] = [
    Some("6 3"),
    None,
    Some("10 2"),
    Some("2 2"),
    Some("8 2 2 2"),
    Some("4 2"),
    Some("12 3 3 3"),
    Some("1 3"),
    Some("16 3"),
    Some("3 4"),
    Some("9 3 3 3 3 3"),
    Some("6 6"),
    Some("2 5"),
];

/// The dashes of lines at a value that does not change.
const REFERENCE_DASHES: &str = "5 4";

/// A place in a picture, in units from its left upper corner.
pub type Point = (f64, f64);

/// What a shape is drawn with. The style sheet has its colours on pages.
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
    /// The colour of a series with the dashes of a line at a value that does not change.
    Reference(usize),
}

impl Ink {
    /// The number of different series.
    pub const SERIES: usize = 13;

    /// The colour in files, on white paper.
    fn color(self) -> &'static str {
        match self {
            Ink::Text => "#000000",
            Ink::Grid => "#cccccc",
            Ink::Axis => "#444444",
            Ink::Gain => "#1a7f37",
            Ink::Loss => "#cf222e",
            Ink::Series(number) | Ink::Plain(number) | Ink::Reference(number) => SERIES_COLORS[number % Ink::SERIES],
        }
    }

    fn dashes(self) -> Option<&'static str> {
        match self {
            Ink::Series(number) => SERIES_DASHES[number % Ink::SERIES],
            Ink::Reference(_) => Some(REFERENCE_DASHES),
            _ => None,
        }
    }
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
            Ink::Plain(number) | Ink::Reference(number) => write!(f, "p{}", number % Ink::SERIES),
        }
    }
}

/// How a shape is painted.
#[derive(Clone, Copy, Debug)]
enum Paint {
    /// A line of this width.
    Line(Ink, f64),
    /// A filled shape with this opacity.
    Fill(Ink, f64),
    /// A filled box with a thin edge in the colour of the paper. On pages the edge is that of the style sheet.
    Tile(Ink, f64),
    /// Letters.
    Letters,
    /// Letters with an edge in the colour of the paper, to be read on lines and points.
    Outlined,
}

impl Paint {
    /// Its attributes in a page. The style sheet has the rest.
    fn on_page(self) -> String {
        match self {
            Paint::Line(ink, width) => format!(" class=\"l{ink}\" stroke-width=\"{width}\"{}", dashes(ink)),
            Paint::Fill(ink, share) | Paint::Tile(ink, share) => format!(" class=\"f{ink}\"{}", opacity(share)),
            Paint::Letters => String::new(),
            Paint::Outlined => " class=\"o\"".to_string(),
        }
    }

    /// Its attributes in a file.
    fn in_file(self) -> String {
        match self {
            Paint::Line(ink, width) => {
                format!(" fill=\"none\" stroke=\"{}\" stroke-width=\"{width}\"{}", ink.color(), dashes(ink))
            }
            Paint::Fill(ink, share) => format!(" fill=\"{}\"{}", ink.color(), opacity(share)),
            Paint::Tile(ink, opacity) => {
                format!("{} stroke=\"#ffffff\" stroke-width=\"0.3\"", Paint::Fill(ink, opacity).in_file())
            }
            Paint::Letters => format!(" fill=\"{}\"", Ink::Text.color()),
            Paint::Outlined => {
                format!("{} stroke=\"#ffffff\" stroke-width=\"3\" paint-order=\"stroke\"", Paint::Letters.in_file())
            }
        }
    }
}

/// The attribute of a line with gaps.
fn dashes(ink: Ink) -> String {
    ink.dashes().map_or(String::new(), |dashes| format!(" stroke-dasharray=\"{dashes}\""))
}

/// The attribute of a shape through which others are seen.
fn opacity(share: f64) -> String {
    if share < 0.995 { format!(" opacity=\"{share:.2}\"") } else { String::new() }
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

/// A part of a picture: markup that is the same everywhere, or how the shape before it is painted.
#[derive(Debug)]
enum DrawnPiece {
    Markup(String),
    Paint(Paint),
}

/// A picture that is being drawn.
pub struct Drawing {
    size: (u32, u32),
    pieces: Vec<DrawnPiece>,
}

impl Drawing {
    /// An empty picture of this width and height, in units.
    pub fn new(size: (u32, u32)) -> Drawing {
        Drawing { size, pieces: Vec::new() }
    }

    /// In units.
    pub fn width(&self) -> u32 {
        self.size.0
    }

    /// A line through these points.
    pub fn line(&mut self, points: impl IntoIterator<Item = Point>, ink: Ink, width: f64) {
        self.shape(format!("<path d=\"{}\"", path_data(points)), Paint::Line(ink, width));
    }

    /// The area inside of these points.
    pub fn area(&mut self, points: impl IntoIterator<Item = Point>, ink: Ink, opacity: f64) {
        self.shape(format!("<path d=\"{}z\"", path_data(points)), Paint::Fill(ink, opacity));
    }

    /// A filled box between two corners.
    pub fn rect(&mut self, a: Point, b: Point, ink: Ink, opacity: f64) {
        self.shape(rect(a, b), Paint::Fill(ink, opacity));
    }

    /// A filled box between two corners that has an edge in the colour of the paper.
    pub fn tile(&mut self, a: Point, b: Point, ink: Ink, opacity: f64) {
        self.shape(rect(a, b), Paint::Tile(ink, opacity));
    }

    /// A point. What is bad is a triangle: colours alone may not be told apart.
    pub fn point(&mut self, (x, y): Point, radius: f64, ink: Ink, opacity: f64) {
        if ink == Ink::Loss {
            let radius = 1.4 * radius;
            let (right, down) = (radius * 0.866, radius / 2.0);
            return self.area([(x, y - radius), (x - right, y + down), (x + right, y + down)], ink, opacity);
        }
        let (x, y) = (Tenths(x), Tenths(y));
        self.shape(format!("<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\""), Paint::Fill(ink, opacity));
    }

    /// A text at a point. An empty text is nothing.
    pub fn text(&mut self, at: Point, anchor: Anchor, text: &str) {
        self.letters(at, anchor, text, Paint::Letters);
    }

    /// A text above lines and points.
    pub fn outlined_text(&mut self, at: Point, anchor: Anchor, text: &str) {
        self.letters(at, anchor, text, Paint::Outlined);
    }

    fn letters(&mut self, (x, y): Point, anchor: Anchor, text: &str, paint: Paint) {
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
        let (x, y, text) = (Tenths(x), Tenths(y + down * TEXT), escaped(text));
        self.put(format!("<text x=\"{x}\" y=\"{y}\"{side}"));
        self.pieces.push(DrawnPiece::Paint(paint));
        self.put(format!(">{text}</text>"));
    }

    /// Gives a tooltip to all that `draw` draws.
    pub fn titled(&mut self, title: &str, draw: impl FnOnce(&mut Drawing)) {
        self.put(format!("<g><title>{}</title>", escaped(title)));
        draw(self);
        self.put("</g>".to_string());
    }

    /// The picture. `label` says what it shows, for people who cannot see it.
    pub fn finish(self, label: &str) -> SvgPicture {
        SvgPicture { size: self.size, label: label.to_string(), pieces: self.pieces }
    }

    fn shape(&mut self, markup: String, paint: Paint) {
        self.put(markup);
        self.pieces.push(DrawnPiece::Paint(paint));
        self.put("/>".to_string());
    }

    fn put(&mut self, markup: String) {
        match self.pieces.last_mut() {
            Some(DrawnPiece::Markup(before)) => before.push_str(&markup),
            _ => self.pieces.push(DrawnPiece::Markup(markup)),
        }
    }
}

/// A finished picture.
#[derive(Debug, Default)]
pub struct SvgPicture {
    size: (u32, u32),
    label: String,
    pieces: Vec<DrawnPiece>,
}

impl SvgPicture {
    /// In units.
    pub fn size(&self) -> (u32, u32) {
        self.size
    }

    /// As an element of a page. The class says when it is shown.
    pub fn on_page(&self, class: &str) -> String {
        let ((width, height), label, shapes) = (self.size, escaped(&self.label), self.shapes(Paint::on_page));
        format!(
            "<svg viewBox=\"0 0 {width} {height}\" width=\"{width}\" class=\"{class}\" role=\"img\" \
             aria-label=\"{label}\">{shapes}</svg>"
        )
    }

    /// Its shapes alone, for a small picture of a page that has its own element.
    pub fn shapes_on_page(&self) -> String {
        self.shapes(Paint::on_page)
    }

    /// As a file of its own, below another picture, which is its legend: on white, in absolute units, without classes.
    pub fn file(&self, legend: &SvgPicture) -> String {
        let ((width, below), above) = (self.size, legend.size.1);
        let (width, height, below) = (width + 2 * MARGIN, above + below + 2 * MARGIN, above + MARGIN);
        let millimetres = |units: u32| Tenths(f64::from(units) * MILLIMETRES);
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" \
             width=\"{}mm\" height=\"{}mm\" viewBox=\"0 0 {width} {height}\" font-family=\"{FONTS}\" \
             font-size=\"{TEXT}\">\n<title>{}</title>\n<rect x=\"0\" y=\"0\" width=\"{width}\" height=\"{height}\" \
             fill=\"#ffffff\"/>\n<g transform=\"translate({MARGIN} {MARGIN})\">{}</g>\n\
             <g transform=\"translate({MARGIN} {below})\">\n{}\n</g>\n</svg>\n",
            millimetres(width),
            millimetres(height),
            escaped(&self.label),
            legend.shapes(Paint::in_file),
            self.shapes(Paint::in_file),
        )
    }

    fn shapes(&self, paint: fn(Paint) -> String) -> String {
        let piece = |piece: &DrawnPiece| match piece {
            DrawnPiece::Markup(markup) => markup.clone(),
            DrawnPiece::Paint(with) => paint(*with),
        };
        self.pieces.iter().map(piece).collect()
    }
}

/// How wide a text is in a picture, in units.
pub fn drawn_width(text: &str) -> f64 {
    text_width(text) * TEXT
}

/// The beginning of a text that is not wider than this number of units. The text may come from outside.
pub fn fitted(text: &str, room: f64) -> String {
    let text = outside(text);
    if drawn_width(&text) <= room {
        return text;
    }
    let ends = text.char_indices().map(|(end, _)| end);
    let end = ends.take_while(|end| drawn_width(&text[..*end]) <= room - 20.0).last().unwrap_or(0);
    format!("{}...", &text[..end])
}

/// A text as the content of an element or of an attribute.
fn escaped(text: &str) -> String {
    // These two are not allowed in XML, nor are control characters.
    maud::html! { (printable(text).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")) }.into_string()
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

/// The beginning of a box between two corners.
fn rect(a: Point, b: Point) -> String {
    let (x, y) = (Tenths(a.0.min(b.0)), Tenths(a.1.min(b.1)));
    // The difference of what is written, so that neighbours touch.
    let (width, height) =
        (Tenths(Tenths(a.0.max(b.0)).value() - x.value()), Tenths(Tenths(a.1.max(b.1)).value() - y.value()));
    format!("<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"")
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
    fn shapes_have_classes_in_pages_and_colours_in_files() {
        let mut drawing = Drawing::new((100, 50));
        drawing.line([(0.0, 0.0), (1.0, 0.01), (2.5, 0.0), (2.5, -0.7)], Ink::Series(15), 0.1);
        drawing.titled("a < \"b\" & c", |drawing| drawing.rect((1.0, 3.0), (-0.04, 0.5), Ink::Gain, 1.0));
        drawing.text((1.0, 2.0), Anchor::Right, "x\u{1b}y");
        let picture = drawing.finish("<script>");
        let expected = "<svg viewBox=\"0 0 100 50\" width=\"100\" class=\"w\" role=\"img\" aria-label=\"&lt;script&gt;\">\
             <path d=\"M0 0L2.5 0L2.5 -0.7\" class=\"l2\" stroke-width=\"0.1\" stroke-dasharray=\"10 2\"/>\
             <g><title>a &lt; &quot;b&quot; &amp; c</title>\
             <rect x=\"0\" y=\"0.5\" width=\"1\" height=\"2.5\" class=\"fup\"/></g><text x=\"1\" y=\"6.2\">x\\u{1b}y</text></svg>";
        assert_eq!(picture.on_page("w"), expected);
        let file = picture.file(&Drawing::new((100, 20)).finish(""));
        for part in [
            "width=\"24.2mm\" height=\"17.7mm\" viewBox=\"0 0 112 82\"",
            "<rect x=\"0\" y=\"0\" width=\"112\" height=\"82\" fill=\"#ffffff\"/>",
            "<g transform=\"translate(6 26)\">",
            "fill=\"none\" stroke=\"#d55e00\" stroke-width=\"0.1\" stroke-dasharray=\"10 2\"/>",
            "height=\"2.5\" fill=\"#1a7f37\"/>",
            "<text x=\"1\" y=\"6.2\" fill=\"#000000\">",
        ] {
            assert!(file.contains(part), "{part} is not in {file}");
        }
        assert!(!file.contains("class"), "{file}");
    }

    /// A file has the colours of a light page.
    #[test]
    fn the_style_sheet_has_the_same_colours() {
        let style = include_str!("style.css");
        let light = style.split("@media").next().unwrap();
        for (number, color) in SERIES_COLORS.iter().enumerate() {
            assert!(light.contains(&format!("--c{number}:{color}")), "{color} of series {number}");
            for class in [format!(".l{number},.lp{number}{{stroke:var(--c{number})}}"), format!("svg .fp{number}{{")] {
                assert!(style.contains(&class), "{class}");
            }
        }
        assert!(light.contains(&format!("--up:{};--dn:{}", Ink::Gain.color(), Ink::Loss.color())));
    }
}
