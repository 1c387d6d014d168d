//! How figures of a sweep depend on the options whose values are numbers.

use super::conditions::{AskedSettings, grouped};
use crate::metrics::{Column, MeanAt, NumberLine, NumberLines, Replicates};
use crate::runs::{Axis, FinishedRow, ResultColumn, RunPlan, Varies};
use crate::sort::sort_by;
use crate::time::parse_duration;

/// The most lines of a chart of several conditions. With more, each condition has its own chart.
const MOST_TOGETHER: usize = 6;

/// A value of an option as a number: `0.8`, `5%`, `30s`.
fn number(text: &str) -> Option<f64> {
    plain_number(text).or_else(|| parse_duration(text).ok().map(|seconds| seconds as f64))
}

fn plain_number(text: &str) -> Option<f64> {
    let plain = text.strip_suffix('%').unwrap_or(text).parse::<f64>().ok();
    plain.filter(|number| number.is_finite())
}

/// A column of a grid whose values are at least two different numbers.
#[derive(Clone, Copy)]
struct SweptNumber<'a> {
    /// The index of its list.
    axis: usize,
    option: &'a str,
    /// A spec without such a key has an empty value. Others may have a word, such as `never`.
    values: &'a [String],
}

/// All such columns.
fn swept_numbers(grid: &RunPlan) -> Vec<SweptNumber<'_>> {
    let columns = grid.shown_columns().filter_map(|column| match column {
        ResultColumn::Swept { axis, name, values } => Some(SweptNumber { axis, option: name, values }),
        ResultColumn::Run(_) => None,
    });
    let is_number = |values: &[String]| {
        let mut given: Vec<f64> = values.iter().filter_map(|value| number(value)).collect();
        sort_by(&mut given, f64::total_cmp);
        given.dedup();
        given.len() > 1
    };
    let is_wanted =
        |swept: &SweptNumber<'_>| grid.axes()[swept.axis].varies() != Varies::Seed && is_number(swept.values);
    columns.filter(is_wanted).collect()
}

/// The lines of all swept numbers and all these figures. Settings that `asked` names are marked.
pub fn number_lines(
    grid: &RunPlan,
    rows: &[FinishedRow],
    figures: &[&'static Column],
    asked: &AskedSettings,
) -> Vec<NumberLines> {
    let all = swept_numbers(grid).into_iter().flat_map(|number| figures.iter().map(move |figure| (number, *figure)));
    all.flat_map(|(number, column)| charts(grid, rows, number, column, asked)).collect()
}

/// What the runs of a line have in common.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct LineKey {
    condition: String,
    setting: String,
    is_reference: bool,
}

/// The charts of a swept number: one, or one for each condition if one chart had too many lines.
fn charts(
    grid: &RunPlan,
    rows: &[FinishedRow],
    swept: SweptNumber<'_>,
    column: &'static Column,
    asked: &AskedSettings,
) -> Vec<NumberLines> {
    let lines = lines(grid, rows, swept, column, asked);
    let given = || swept.values.iter().filter(|value| number(value).is_some());
    let chart = |condition: &str, lines: Vec<NumberLine>| NumberLines {
        option: swept.option.to_string(),
        is_duration: given().any(|value| plain_number(value).is_none()),
        column,
        condition: condition.to_string(),
        lines,
    };
    if lines.len() <= MOST_TOGETHER {
        let named = lines.into_iter().map(|(key, line)| {
            let name = [key.setting, key.condition].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>();
            NumberLine { name: name.join(", "), ..line }
        });
        return vec![chart("", named.collect())];
    }
    let mut by_condition: Vec<(String, Vec<NumberLine>)> = Vec::new();
    for (key, line) in lines {
        match by_condition.iter_mut().find(|(condition, _)| *condition == key.condition) {
            Some((_, lines)) => lines.push(line),
            None => by_condition.push((key.condition, vec![line])),
        }
    }
    by_condition.into_iter().map(|(condition, lines)| chart(&condition, lines)).collect()
}

/// All lines, in the order of their first run. Their names are those of their settings.
fn lines(
    grid: &RunPlan,
    rows: &[FinishedRow],
    swept: SweptNumber<'_>,
    column: &'static Column,
    asked: &AskedSettings,
) -> Vec<(LineKey, NumberLine)> {
    let SweptNumber { axis, values, .. } = swept;
    // Equal values have the place of the first.
    let place = |row: &&FinishedRow| values.iter().position(|value| *value == values[row.places[axis]]);
    let line = |(key, rows): (LineKey, Vec<&FinishedRow>)| {
        let is_asked_for = rows.iter().any(|row| asked.names(&row.run.label));
        let point = |(place, rows): (Option<usize>, Vec<&FinishedRow>)| {
            let runs = Replicates::new(rows.iter().map(|row| (row.places.clone(), row.key, &row.run)));
            let x = place.and_then(|place| number(&values[place])).unwrap_or(0.0);
            let count = runs.values(column).count();
            (count > 0).then(|| MeanAt { x, runs: count, mean: runs.mean(column) })
        };
        let mut points: Vec<MeanAt> = grouped(rows.into_iter(), place).into_iter().filter_map(point).collect();
        sort_by(&mut points, |a, b| a.x.total_cmp(&b.x));
        let (name, is_reference) = (key.setting.clone(), key.is_reference);
        (key, NumberLine { name, points, is_asked_for, is_reference })
    };
    let lines = grouped(rows.iter(), |row| line_key(grid, row, swept)).into_iter().map(line);
    lines.filter(|(_, line)| !line.points.is_empty()).collect()
}

/// What a row has in common with the others of its line: its scheduler and predictor, and the values of the other lists, without
/// the swept number and seeds.
fn line_key(grid: &RunPlan, row: &FinishedRow, swept: SweptNumber<'_>) -> LineKey {
    let (mut scheduler, mut predictor) = (row.run.label.scheduler.clone(), row.run.label.predictor.clone());
    let (mut options, mut condition) = (Vec::new(), Vec::new());
    let is_reference = number(&swept.values[row.places[swept.axis]]).is_none();
    for (at, list) in grid.axes().iter().enumerate() {
        let part = match at == swept.axis {
            true if is_reference => list.part(at, row),
            // The list itself is the swept number.
            true if swept.option == list.name => continue,
            true => without_key(list, row.places[at], swept.option),
            false => list.part(at, row),
        };
        match (list.name.as_str(), list.varies()) {
            ("scheduler", _) => scheduler = part,
            ("predictor", _) => predictor = part,
            _ if at == swept.axis => options.push(part),
            _ if list.values.len() == 1 => {}
            (_, Varies::Setting) => options.push(part),
            (_, Varies::Condition) => condition.push(part),
            (_, Varies::Seed) => {}
        }
    }
    let setting = [format!("{scheduler}/{predictor}")].into_iter().chain(options).collect::<Vec<_>>().join(", ");
    LineKey { condition: condition.join(", "), setting, is_reference }
}

/// A spec with its other swept keys: `ruh:cap=on` for `ruh:window=3,cap=on` without `predictor.window`.
fn without_key(list: &Axis, place: usize, option: &str) -> String {
    let name = list.values[place].split(':').next().unwrap_or_default();
    let others = list.keys.iter().filter(|key| key.column != option && !key.values[place].is_empty());
    let others =
        others.map(|key| format!("{}={}", key.column.rsplit('.').next().unwrap_or(&key.column), key.values[place]));
    match others.collect::<Vec<_>>().join(",") {
        none if none.is_empty() => name.to_string(),
        keys => format!("{name}:{keys}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_with_units_are_numbers() {
        assert_eq!(["0.8", "5%", "30s", "2h"].map(number), [Some(0.8), Some(5.0), Some(30.0), Some(7200.0)]);
        assert_eq!(["easy", "", "nan", "ruh:window=2"].map(number), [None; 4]);
    }
}
