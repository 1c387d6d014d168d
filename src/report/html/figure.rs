//! A chart on a page: its title, legend, picture, caption, and what it shows as a table.

use maud::{Markup, PreEscaped, html};

use super::data_table::DataTable;
use super::outside;
use super::svg::Ink;

/// How an entry of a legend is marked.
#[derive(Clone, Copy, Debug)]
pub enum Mark {
    /// A line of the series with this number.
    Line(usize),
    /// A box with this opacity.
    Box(Ink, f64),
    /// A thin line that leads to a mark.
    Lead,
}

/// A chart with all that belongs to it.
#[derive(Default)]
pub struct ChartFigure {
    pub title: String,
    /// The legend is text of the page and not of the picture: it has as many lines as the names need.
    pub legend: Vec<(Mark, String)>,
    /// The picture, made by [`super::svg::Drawing::finish`].
    pub picture: String,
    /// What there is to see.
    pub caption: String,
    pub data: DataTable,
    /// Whether it takes the whole width of the page.
    pub wide: bool,
}

impl ChartFigure {
    /// The chart as a part of a page.
    pub fn markup(&self) -> Markup {
        html! {
            figure.wide[self.wide] {
                h3 { (outside(&self.title)) }
                @if !self.legend.is_empty() {
                    ul.legend { @for (mark, name) in &self.legend { li { (key(*mark)) " " (outside(name)) } } }
                }
                div.picture[!self.wide].scroll[self.wide] tabindex=[self.wide.then_some("0")] { (PreEscaped(&self.picture)) }
                figcaption { (self.caption) }
                details { summary { "show data" } (self.data.markup()) }
            }
        }
    }
}

/// Charts beside each other.
pub fn figures(figures: &[ChartFigure]) -> Markup {
    html! { div.figures { @for figure in figures { (figure.markup()) } } }
}

fn key(mark: Mark) -> Markup {
    html! {
        svg.key viewBox="0 0 28 10" aria-hidden="true" {
            @match mark {
                Mark::Line(series) => path class={ "l" (Ink::Series(series)) } d="M0 5L28 5" stroke-width="2.5" {},
                Mark::Lead => path.lt d="M0 5L27 5M27 1L27 9" stroke-width="1.2" {},
                Mark::Box(ink, opacity) => rect class={ "f" (ink) } x="8" y="0" width="12" height="10" opacity=(format!("{opacity:.2}")) {},
            }
        }
    }
}
