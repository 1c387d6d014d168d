//! Charts of settings as bars, each with its interval.

use super::axis::ChartAxis;
use super::data_table::{DataCell, DataTable};
use super::figure::ChartFigure;
use super::frame::{Frame, Inside, WIDTH};
use super::svg::{Anchor, Drawing, Ink, drawn_width, fitted};
use super::units::{ChartUnit, better_in_words, upper};
use crate::metrics::{Column, Interval};
use crate::{counted, figure_in_words, shown, with_interval};

/// The height of a row, in units.
const ROW: u32 = 20;

/// The most room for the names of bars, in units.
const NAMES: f64 = 150.0;

/// The mean of a setting.
pub struct Bar {
    pub name: String,
    /// The number of its colour.
    pub series: usize,
    pub runs: usize,
    pub mean: Interval,
}

/// Bars below a heading, which is empty if there is one group only.
pub struct BarGroup {
    pub heading: String,
    pub bars: Vec<Bar>,
}

/// A chart of bars.
pub struct BarChart {
    pub title: String,
    pub column: &'static Column,
    /// What the groups and the bars are, as headings of the table.
    pub headings: (&'static str, &'static str),
    pub groups: Vec<BarGroup>,
    /// What else the caption says.
    pub note: String,
}

impl BarChart {
    /// The chart.
    pub fn figure(self) -> ChartFigure {
        let column = self.column;
        let bars = || self.groups.iter().flat_map(|group| &group.bars);
        let end = |bar: &Bar| bar.mean.mean + bar.mean.half_width.unwrap_or(0.0);
        let most = bars().map(end).filter(|end| end.is_finite()).fold(0.0, f64::max);
        let unit = ChartUnit::of(column.shown, most);
        // From the top; a heading has a row without a bar.
        let rows: Vec<Result<&Bar, &str>> = self
            .groups
            .iter()
            .flat_map(|group| {
                let heading = (!group.heading.is_empty()).then_some(Err(group.heading.as_str()));
                heading.into_iter().chain(group.bars.iter().map(Ok))
            })
            .collect();
        let name = |row: &Result<&Bar, &str>| row.map_or(String::new(), |bar| fitted(&bar.name, NAMES));
        let names: Vec<String> = rows.iter().rev().map(name).collect();
        // The number of a bar is beside it, so the axis is longer than the bars: enough for the narrow picture.
        let room = f64::from(WIDTH) - names.iter().map(|name| drawn_width(name)).fold(0.0, f64::max) - 40.0;
        let needed =
            bars().map(|bar| unit.value(end(bar)) * room / (room - drawn_width(&value_text(column, bar)) - 8.0));
        let to = needed.filter(|end| end.is_finite()).fold(0.0, f64::max).max(1e-9);
        let x = ChartAxis::between(0.0, to).with_ticks_up_to(unit.value(most));
        let axis_title = unit.axis_title(figure_in_words(column));
        let frame = Frame {
            height: 51 + ROW * rows.len() as u32,
            grid: (true, false),
            ..Frame::new(&self.title, (x, &axis_title), (ChartAxis::names(&names), ""))
        };
        let picture = frame.draw(|drawing, inside| {
            for (at, row) in rows.iter().rev().enumerate() {
                match row {
                    Ok(bar) => draw_bar(drawing, inside, at as f64, bar, column, unit),
                    Err(heading) => {
                        let (_, y) = inside.at(0.0, at as f64 + 0.4);
                        let heading = fitted(heading, inside.right - inside.left - 4.0);
                        drawing.text((inside.left + 4.0, y), Anchor::Right, &heading);
                    }
                }
            }
        });
        let has_intervals = bars().any(|bar| bar.mean.half_width.is_some());
        let intervals = if has_intervals { " Thin lines are 95% intervals." } else { "" };
        ChartFigure {
            caption: format!(
                "{}.{}{intervals}{}",
                upper(&unit.in_words(figure_in_words(column))),
                better_in_words(column),
                self.note
            ),
            data: self.table(),
            title: self.title,
            picture,
            ..ChartFigure::default()
        }
    }

    fn table(&self) -> DataTable {
        let is_grouped = self.groups.len() > 1;
        let (group_heading, bar_heading) = self.headings;
        let headings = [group_heading].into_iter().filter(|_| is_grouped);
        let headings = headings.chain([bar_heading, "runs", self.column.name]);
        let mut table = DataTable::new(1 + usize::from(is_grouped), headings).sortable();
        for (group, bar) in self.groups.iter().flat_map(|group| group.bars.iter().map(move |bar| (group, bar))) {
            let heading = is_grouped.then(|| DataCell::text(&group.heading));
            let bar = [
                DataCell::text(&bar.name),
                DataCell::count(bar.runs as u64),
                DataCell::interval(self.column.shown, bar.mean),
            ];
            table.push(heading.into_iter().chain(bar));
        }
        table
    }
}

/// The number beside a bar.
fn value_text(column: &Column, bar: &Bar) -> String {
    shown(column.shown, bar.mean.mean)
}

fn draw_bar(drawing: &mut Drawing, inside: &Inside<'_>, at: f64, bar: &Bar, column: &Column, unit: ChartUnit) {
    let Interval { mean, half_width } = bar.mean;
    let (value, half) = (unit.value(mean), half_width.map_or(0.0, |half| unit.value(half)));
    let text = value_text(column, bar);
    if !value.is_finite() {
        return drawing.text((inside.left + 6.0, inside.at(0.0, at + 0.5).1), Anchor::Right, &text);
    }
    let title = format!("{}: {}, {}", bar.name, with_interval(column.shown, bar.mean), counted(bar.runs as u64, "run"));
    drawing.titled(&super::outside(&title), |drawing| {
        drawing.rect(inside.at(0.0, at + 0.15), inside.at(value, at + 0.85), Ink::Plain(bar.series), 0.8);
        if half_width.is_some() {
            let (low, high) = (inside.at(value - half, at + 0.5), inside.at(value + half, at + 0.5));
            drawing.line([low, high], Ink::Text, 1.2);
            for (x, y) in [low, high] {
                drawing.line([(x, y - 3.5), (x, y + 3.5)], Ink::Text, 1.2);
            }
        }
    });
    let (x, y) = inside.at(value + half, at + 0.5);
    drawing.text((x + 6.0, y), Anchor::Right, &text);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::columns::WAIT_MEAN;

    #[test]
    fn bars_end_at_their_means_and_lines_at_the_ends_of_intervals() {
        let bar = |name: &str, mean: f64, half_width: Option<f64>| Bar {
            name: name.to_string(),
            series: 1,
            runs: 2,
            mean: Interval { mean, half_width },
        };
        let bars = vec![bar("a", 7200.0, Some(1800.0)), bar("b", 3600.0, None), bar("c", f64::NAN, None)];
        let chart = BarChart {
            title: "Mean wait by setting".to_string(),
            column: &WAIT_MEAN,
            headings: ("", "setting"),
            groups: vec![BarGroup { heading: String::new(), bars }],
            note: String::new(),
        };
        let figure = chart.figure();
        assert_eq!(figure.caption, "Mean wait in hours. Less is better. Thin lines are 95% intervals.");
        assert_eq!(figure.data.csv(), "setting,runs,wait_mean,wait_mean_ci95\na,2,7200,1800\nb,2,3600,\nc,2,,\n");
        let picture = figure.picture.narrow.on_page("n");
        let number = |text: &str| text.split('"').next().unwrap().parse::<f64>().unwrap();
        let rects: Vec<(f64, f64)> = picture
            .split("<rect x=\"")
            .skip(1)
            .map(|rect| (number(rect), number(rect.split("width=\"").nth(1).unwrap())))
            .collect();
        let [(left, one_hour), (same_left, two_hours)] = rects[..] else { panic!("{picture}") };
        assert!(left == same_left && (two_hours - 2.0 * one_hour).abs() < 0.2, "{rects:?}");
        // The interval of half an hour on both sides.
        let ends = [left + 1.5 * one_hour, left + 2.5 * one_hour].map(|end| (end * 10.0).round() / 10.0);
        let line = picture.split("</title>").nth(2).unwrap().split("<path d=\"M").nth(1).unwrap();
        let line: Vec<f64> =
            line.split('"').next().unwrap().split('L').map(|point| number(&point.replace(' ', "\""))).collect();
        assert!((line[0] - ends[0]).abs() < 0.2 && (line[1] - ends[1]).abs() < 0.2, "{line:?} {ends:?}");
    }
}
