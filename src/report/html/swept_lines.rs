//! Charts of figures against swept numbers, with a line for each setting.

use super::axis::ChartAxis;
use super::curves::{Curve, draw_curves};
use super::data_table::{DataCell, DataTable};
use super::figure::{ChartFigure, Mark};
use super::frame::Frame;
use super::svg::Ink;
use super::units::{ChartUnit, better_in_words, upper};
use crate::figure_in_words;
use crate::metrics::{Better, NumberLine, NumberLines, Shown};
use crate::sort::sort_by;
use crate::stats::range;
use crate::text::grouped;

/// The most lines of a chart. The first colour is that of baselines, which a sweep has not.
const MOST_LINES: usize = Ink::SERIES - 1;

/// The most conditions that have charts of their own.
pub const MOST_CONDITIONS: usize = 6;

/// The charts of swept numbers. Of each figure by each number, those of the first conditions.
pub fn line_charts(charts: &[NumberLines]) -> Vec<ChartFigure> {
    let is_same = |a: &NumberLines, b: &NumberLines| a.option == b.option && a.column.name == b.column.name;
    charts.chunk_by(is_same).flat_map(|charts| charts.iter().take(MOST_CONDITIONS)).map(line_chart).collect()
}

/// A title with the condition, if there are several.
pub fn titled(title: &str, condition: &str) -> String {
    if condition.is_empty() { title.to_string() } else { format!("{title}, {condition}") }
}

/// Of all in this order, from the best to the worst, at most so many: those asked for, the best, and the worst.
pub fn chosen(order: &[usize], is_asked_for: impl Fn(usize) -> bool, most: usize) -> Vec<usize> {
    if order.len() <= most {
        return order.to_vec();
    }
    let asked = order.iter().copied().filter(|&at| is_asked_for(at));
    let ends = order.first().into_iter().chain(order.last()).copied();
    let mut kept: Vec<usize> = Vec::new();
    for at in asked.chain(ends).chain(order.iter().copied()) {
        if kept.len() < most && !kept.contains(&at) {
            kept.push(at);
        }
    }
    kept
}

/// What a caption says of the lines or bars that are left out, and what has them.
pub fn left_out(kept: usize, all: usize, what: &str, others: &str) -> String {
    match all - kept {
        0 => String::new(),
        _ => format!(
            " {kept} of {} {what} are drawn: the best, the worst, and those that --show SPEC names. {others} has all.",
            grouped(all as u64)
        ),
    }
}

/// The lines that are drawn, in their order.
fn drawn_lines(chart: &NumberLines) -> Vec<&NumberLine> {
    let mut order: Vec<usize> = (0..chart.lines.len()).collect();
    let mean = |at: usize| chart.lines[at].mean();
    sort_by(&mut order, |&a, &b| match chart.column.better {
        Some(Better::Higher) => mean(b).total_cmp(&mean(a)),
        _ => mean(a).total_cmp(&mean(b)),
    });
    let kept = chosen(&order, |at| chart.lines[at].is_asked_for, MOST_LINES);
    (0..chart.lines.len()).filter(|at| kept.contains(at)).map(|at| &chart.lines[at]).collect()
}

fn line_chart(chart: &NumberLines) -> ChartFigure {
    let (option, column) = (&chart.option, chart.column);
    let lines = drawn_lines(chart);
    let points = || lines.iter().flat_map(|line| &line.points);
    let places = || lines.iter().filter(|line| !line.is_reference).flat_map(|line| &line.points).map(|point| point.x);
    let (low, high) = range_or_one(places());
    let ends = points().flat_map(|point| {
        let half = point.mean.half_width.unwrap_or(0.0);
        [point.mean.mean - half, point.mean.mean + half]
    });
    let (least, most) = range_or_one(ends.filter(|end| end.is_finite()));
    let y_unit = ChartUnit::of(column.shown, most);
    let x_unit = ChartUnit::of(if chart.is_duration { Shown::Duration } else { Shown::AsPrinted }, high);
    let room = ((most - least) * 0.08).max(most.abs() * 0.002);
    let (least, most) = (if least >= 0.0 { (least - room).max(0.0) } else { least - room }, most + room);
    let what = figure_in_words(column);
    let title = titled(&format!("{} by {option}", upper(what)), &chart.condition);
    let (x_title, y_title) = (x_unit.axis_title(option), y_unit.axis_title(what));
    let is_wide = low > 0.0 && high / low >= 100.0;
    let (left, right) = (x_unit.value(low), x_unit.value(high));
    let x = match is_wide {
        true => ChartAxis::numbers(left, right, |value| value.to_string()),
        false if places().all(|x| x_unit.value(x).fract() == 0.0) => ChartAxis::between(left, right).whole(),
        false => ChartAxis::between(left, right),
    };
    let y = ChartAxis::between(y_unit.value(least), y_unit.value(most));
    let frame = Frame::new(&title, (x, &x_title), (y, &y_title));
    let curve = |(series, line): (usize, &&NumberLine)| {
        let finite = line.points.iter().filter(|point| point.mean.mean.is_finite());
        let point = |x: f64, mean: f64| (x, y_unit.value(mean));
        let points = match line.is_reference {
            true => finite.flat_map(|at| frame.x.ends().map(|end| point(end, at.mean.mean))).collect(),
            false => finite.map(|at| point(x_unit.value(at.x), at.mean.mean)).collect(),
        };
        let band = line.points.iter().filter(|_| !line.is_reference).filter_map(|at| {
            let half = at.mean.half_width?;
            let [low, high] = [at.mean.mean - half, at.mean.mean + half].map(|end| y_unit.value(end));
            Some((x_unit.value(at.x), low, high))
        });
        let reference = line.is_reference.then(|| line.name.clone());
        Curve { series, points, dots: !line.is_reference, band: band.collect(), reference }
    };
    let drawn: Vec<Curve> = (1..).zip(&lines).map(curve).collect();
    let mark = |series, line: &NumberLine| if line.is_reference { Mark::Reference(series) } else { Mark::Line(series) };
    let legend = (1..).zip(&lines).map(|(series, line)| (mark(series, line), line.name.clone()));
    let has_bands = points().any(|point| point.mean.half_width.is_some());
    let bands = if has_bands { " Bands are 95% intervals." } else { "" };
    let references = match lines.iter().any(|line| line.is_reference) {
        true => format!(" Dashed lines without points are settings without a number for {option}."),
        false => String::new(),
    };
    ChartFigure {
        legend: legend.collect(),
        picture: draw_curves(&frame, &drawn),
        caption: format!(
            "{} by {}.{}{bands}{references}{}",
            upper(&y_unit.in_words(what)),
            x_unit.in_words(option),
            better_in_words(column),
            left_out(lines.len(), chart.lines.len(), "lines", "The data below")
        ),
        data: data(chart),
        title,
        ..ChartFigure::default()
    }
}

/// All lines, with the means of their points.
fn data(chart: &NumberLines) -> DataTable {
    let column = chart.column;
    let mut data = DataTable::new(1, ["setting", chart.option.as_str(), "runs", column.name]).sortable();
    for (line, point) in chart.lines.iter().flat_map(|line| line.points.iter().map(move |point| (line, point))) {
        data.push([
            DataCell::text(&line.name),
            if line.is_reference { DataCell::default() } else { DataCell::shown(point.x.to_string(), point.x) },
            DataCell::count(point.runs as u64),
            DataCell::interval(column.shown, point.mean),
        ]);
    }
    data
}

/// The smallest and the largest of some numbers; 0 and 1 if there are none.
fn range_or_one(numbers: impl Iterator<Item = f64>) -> (f64, f64) {
    Some(range(numbers)).filter(|(low, _)| low.is_finite()).unwrap_or((0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_the_worst_and_those_asked_for_are_kept() {
        let order = [7, 3, 5, 1, 0, 2, 4, 6];
        assert_eq!(chosen(&order, |at| at == 4, 4), [4, 7, 6, 3]);
        assert_eq!(chosen(&order, |_| true, 3), [7, 3, 5]);
        assert_eq!(chosen(&order, |at| at == 4, 8), order);
    }
}
