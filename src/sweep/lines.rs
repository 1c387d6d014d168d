//! How figures of a sweep depend on the options whose values are numbers.

use std::collections::BTreeMap;

use super::grid::Grid;
use super::results::{FinishedRow, ResultColumn};
use crate::metrics::{Column, Interval, MeanAt, NumberLine, NumberLines};
use crate::runs::RunKey;
use crate::stats::mean_and_half_width;
use crate::time::parse_duration;

/// The names of options that are repetitions: their runs are averaged.
const REPETITIONS: [&str; 3] = ["replication", "seed", "estimates-seed"];

/// A value of an option as a number: `0.8`, `5%`, `30s`.
fn number(text: &str) -> Option<f64> {
    let plain = text.strip_suffix('%').unwrap_or(text).parse::<f64>().ok();
    plain.filter(|number| number.is_finite()).or_else(|| parse_duration(text).ok().map(|seconds| seconds as f64))
}

/// The columns of a grid whose values are at least two different numbers. A value that does not exist for some specs is empty.
fn swept_numbers(grid: &Grid) -> Vec<(usize, &str, &[String])> {
    let columns = grid.swept_columns().filter_map(|column| match column {
        ResultColumn::Swept { axis, name, values } => Some((axis, name, values)),
        ResultColumn::Run(_) => None,
    });
    let is_number = |values: &[String]| {
        let mut given: Vec<&String> = values.iter().filter(|value| !value.is_empty()).collect();
        given.sort();
        given.dedup();
        given.len() > 1 && given.iter().all(|value| number(value).is_some())
    };
    columns.filter(|(_, name, values)| !REPETITIONS.contains(name) && is_number(values)).collect()
}

/// The lines of all swept numbers and all these figures.
pub fn number_lines(grid: &Grid, rows: &[FinishedRow], figures: &[&'static Column]) -> Vec<NumberLines> {
    let numbers = swept_numbers(grid);
    let all = numbers.into_iter().flat_map(|number| figures.iter().map(move |figure| (number, *figure)));
    all.map(|((axis, option, values), column)| {
        let lines = lines(grid, rows, axis, option, values, column);
        NumberLines { option: option.to_string(), column, lines }
    })
    .collect()
}

fn lines(
    grid: &Grid,
    rows: &[FinishedRow],
    axis: usize,
    option: &str,
    values: &[String],
    column: &'static Column,
) -> Vec<NumberLine> {
    // The runs by line and place of the number. A run that has several cells counts once.
    let mut order: Vec<String> = Vec::new();
    let mut found: BTreeMap<(usize, usize), BTreeMap<RunKey, f64>> = BTreeMap::new();
    for row in rows.iter().filter(|row| number(&values[row.places[axis]]).is_some()) {
        let name = line_name(grid, row, axis, option);
        let line = order.iter().position(|other| *other == name).unwrap_or_else(|| {
            order.push(name);
            order.len() - 1
        });
        // Equal values have the place of the first.
        let value = &values[row.places[axis]];
        let place = values.iter().position(|other| other == value).unwrap_or(row.places[axis]);
        if let Some(figure) = column.cell(&row.run).printed() {
            found.entry((line, place)).or_default().insert(row.key, figure);
        }
    }
    let means = |line: usize| {
        let of_line = found.range((line, 0)..(line + 1, 0));
        let mut means: Vec<MeanAt> = of_line
            .filter_map(|((_, place), runs)| {
                let figures: Vec<f64> = runs.values().copied().collect();
                let (mean, half_width) = mean_and_half_width(&figures);
                Some(MeanAt { x: number(&values[*place])?, runs: runs.len(), mean: Interval { mean, half_width } })
            })
            .collect();
        means.sort_by(|a, b| a.x.total_cmp(&b.x));
        means
    };
    order.iter().cloned().enumerate().map(|(line, name)| NumberLine { name, points: means(line) }).collect()
}

/// What a row has in common with the others of its line: the values of all lists but the swept number and repetitions. Lists
/// with one value are left out, unless all are.
fn line_name(grid: &Grid, row: &FinishedRow, axis: usize, option: &str) -> String {
    let mut parts = Vec::new();
    for (at, list) in grid.axes().iter().enumerate() {
        if at == axis {
            // Of a spec, its name and the other swept keys.
            if option != list.name {
                parts.push(list.values[row.places[at]].split(':').next().unwrap_or_default().to_string());
                let others = list.keys.iter().filter(|key| key.column != option);
                let others =
                    others.map(|key| (key, &key.values[row.places[at]])).filter(|(_, value)| !value.is_empty());
                parts.extend(
                    others.map(|(key, value)| {
                        format!("{}={value}", key.column.rsplit('.').next().unwrap_or(&key.column))
                    }),
                );
            }
        } else if list.values.len() > 1 && !REPETITIONS.contains(&list.name.as_str()) {
            parts.push(match list.name.as_str() {
                "trace" => row.run.label.trace.clone(),
                "scheduler" | "predictor" | "baseline" => list.values[row.places[at]].clone(),
                name => format!("{name}={}", list.values[row.places[at]]),
            });
        }
    }
    match parts.is_empty() {
        true => format!("{}/{}", row.run.label.scheduler, row.run.label.predictor),
        false => parts.join(", "),
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
