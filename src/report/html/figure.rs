//! A chart on a page: its title, legend, picture, caption, and what it shows as a table.

use maud::{Markup, PreEscaped, html};

use super::data_table::DataTable;
use super::outside;
use super::svg::{Anchor, Drawing, Ink, Point, SvgPicture, drawn_width, fitted};

/// How an entry of a legend is marked.
#[derive(Clone, Copy, Debug)]
pub enum Mark {
    /// A line of the series with this number.
    Line(usize),
    /// A line at a value that does not change, in the colour of this series.
    Reference(usize),
    /// A box with this opacity.
    Box(Ink, f64),
}

/// The same chart at two widths: letters are not larger where there is more room.
#[derive(Default)]
pub struct ChartPicture {
    /// For narrow pages and for files.
    pub narrow: SvgPicture,
    /// For wide pages.
    pub wide: SvgPicture,
}

/// A chart with all that belongs to it.
#[derive(Default)]
pub struct ChartFigure {
    /// What it shows, in a few words.
    pub title: String,
    /// On a page the legend is text and not part of the picture: it has as many lines as the names need.
    pub legend: Vec<(Mark, String)>,
    /// The chart itself.
    pub picture: ChartPicture,
    /// What there is to see.
    pub caption: String,
    /// The figures that it shows.
    pub data: DataTable,
    /// Whether it takes the whole width of a page, and of the paper.
    pub is_full: bool,
}

impl ChartFigure {
    /// The chart as a part of a page.
    pub fn markup(&self) -> Markup {
        let picture = &self.picture;
        html! {
            figure.full[self.is_full] {
                h3 { (outside(&self.title)) }
                @if !self.legend.is_empty() {
                    ul.legend { @for (mark, name) in &self.legend { li { (key(*mark)) " " (outside(name)) } } }
                }
                div.picture { (PreEscaped(picture.wide.on_page("w"))) (PreEscaped(picture.narrow.on_page("n"))) }
                figcaption { (self.caption) }
                details { summary { "show data" } (self.data.markup()) }
            }
        }
    }

    /// The picture with its legend as a file of its own.
    pub fn file(&self) -> String {
        let picture = if self.is_full { &self.picture.wide } else { &self.picture.narrow };
        picture.file(&drawn_legend(&self.legend, picture.size().0))
    }
}

/// Charts beside each other, in pairs where there is room.
pub fn figures(figures: &[ChartFigure]) -> Markup {
    html! { div.figures { @for figure in figures { (figure.markup()) } } }
}

/// Charts that belong together in threes.
pub fn thirds(figures: &[ChartFigure]) -> Markup {
    html! { div.figures.thirds { @for figure in figures { (figure.markup()) } } }
}

/// The size of a mark, in units.
const KEY: (u32, u32) = (28, 10);

impl Mark {
    /// Draws it at a place.
    fn draw(self, drawing: &mut Drawing, (x, y): Point) {
        let (end, middle) = (x + f64::from(KEY.0), y + f64::from(KEY.1) / 2.0);
        match self {
            Mark::Line(series) => drawing.line([(x, middle), (end, middle)], Ink::Series(series), 2.5),
            Mark::Reference(series) => drawing.line([(x, middle), (end, middle)], Ink::Reference(series), 1.6),
            Mark::Box(ink, opacity) => drawing.rect((x + 8.0, y), (x + 20.0, y + 10.0), ink, opacity),
        }
    }
}

/// A mark beside its name on a page.
fn key(mark: Mark) -> Markup {
    let mut drawing = Drawing::new(KEY);
    mark.draw(&mut drawing, (0.0, 0.0));
    let shapes = drawing.finish("").shapes_on_page();
    html! { svg.key viewBox={ "0 0 " (KEY.0) " " (KEY.1) } aria-hidden="true" { (PreEscaped(shapes)) } }
}

/// A legend as a part of a picture, in as many rows as its names need.
fn drawn_legend(legend: &[(Mark, String)], width: u32) -> SvgPicture {
    const ROW: f64 = 18.0;
    let (mut entries, mut x, mut rows) = (Vec::new(), 0.0, 0);
    for (mark, name) in legend {
        let name = fitted(name, f64::from(width) - 40.0);
        let wide = 34.0 + drawn_width(&name);
        if x == 0.0 || x + wide > f64::from(width) {
            (x, rows) = (0.0, rows + 1);
        }
        entries.push((*mark, name, (x, ROW * f64::from(rows - 1) + 4.0)));
        x += wide + 16.0;
    }
    let height = if rows == 0 { 0 } else { (ROW * f64::from(rows)) as u32 + 6 };
    let mut drawing = Drawing::new((width, height));
    for (mark, name, (x, y)) in entries {
        mark.draw(&mut drawing, (x, y));
        drawing.text((x + 34.0, y + 5.0), Anchor::Right, &name);
    }
    drawing.finish("")
}
