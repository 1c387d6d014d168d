//! The lists of a grid by what they vary: the setting, the condition under which it runs, or only the seed.

use std::collections::BTreeMap;

use crate::metrics::{Condition, Group, Replicates, RunLabel};
use crate::predict;
use crate::runs::{Axis, FinishedRow, ResultColumn, RunPlan, Varies};
use crate::schedule;
use crate::similar::did_you_mean;
use crate::spec::{Spec, SpecError};

/// The lists with several values that vary this, with their places.
pub(super) fn varying(grid: &RunPlan, varies: Varies) -> impl Iterator<Item = (usize, &Axis)> {
    grid.axes().iter().enumerate().filter(move |(_, axis)| axis.values.len() > 1 && axis.varies() == varies)
}

/// The runs of a sweep by condition, in the order of the grid. Settings that `asked` names are marked.
pub fn conditions<'a>(grid: &RunPlan, rows: &'a [FinishedRow], asked: &AskedSettings) -> Vec<Condition<'a>> {
    let text = |(at, axis): (usize, &Axis), row: &FinishedRow| (axis.name.clone(), axis.value(at, row).to_string());
    let labels = |row: &FinishedRow| varying(grid, Varies::Condition).map(|axis| text(axis, row)).collect::<Vec<_>>();
    let is_option = |axis: &Axis| !["scheduler", "predictor"].contains(&&*axis.name);
    let options = |row: &FinishedRow| {
        let options = varying(grid, Varies::Setting).filter(|(_, axis)| is_option(axis));
        options.map(|(at, axis)| axis.part(at, row)).collect::<Vec<_>>()
    };
    let seeds = |row: &FinishedRow| varying(grid, Varies::Seed).map(|(at, _)| row.places[at]).collect();
    let in_groups = grouped(rows.iter(), |row| labels(row));
    let condition = |(labels, rows): (Vec<(String, String)>, Vec<&'a FinishedRow>)| {
        let name =
            |row: &&FinishedRow| (row.run.label.scheduler.clone(), row.run.label.predictor.clone(), options(row));
        let setting = |((_, _, options), rows): ((String, String, Vec<String>), Vec<&'a FinishedRow>)| {
            let mut runs = Replicates::new(rows.iter().map(|row| (seeds(row), row.key, &row.run)));
            (runs.options, runs.is_asked_for) = (options, asked.names(&rows[0].run.label));
            runs
        };
        Condition { labels, settings: grouped(rows.into_iter(), name).into_iter().map(setting).collect() }
    };
    in_groups.into_iter().map(condition).collect()
}

/// Items with equal keys, in the order of the first of each.
pub(super) fn grouped<T, K: Ord + Clone>(items: impl Iterator<Item = T>, key: impl Fn(&T) -> K) -> Vec<(K, Vec<T>)> {
    let mut groups: Vec<(K, Vec<T>)> = Vec::new();
    let mut places: BTreeMap<K, usize> = BTreeMap::new();
    for item in items {
        let place = *places.entry(key(&item)).or_insert_with_key(|key| {
            groups.push((key.clone(), Vec::new()));
            groups.len() - 1
        });
        groups[place].1.push(item);
    }
    groups
}

/// The runs with equal values in the columns with these names, in the order of the first of each.
///
/// # Errors
/// As [`RunPlan::columns_named`].
pub fn groups<'a>(grid: &RunPlan, names: &[String], rows: &'a [FinishedRow]) -> Result<Vec<Group<'a>>, SpecError> {
    let columns = grid.columns_named(names)?;
    let labels = |row: &&FinishedRow| columns.iter().map(|column| column.cell(row).text()).collect::<Vec<_>>();
    let group = |(_, rows): (_, Vec<&'a FinishedRow>)| Group {
        labels: columns.iter().map(|column| column.cell(rows[0])).collect(),
        runs: Replicates::new(rows.iter().map(|row| (row.places.clone(), row.key, &row.run))),
    };
    Ok(grouped(rows.iter(), labels).into_iter().map(group).collect())
}

/// The settings that a reader asks for by name: `easy/estimate`, a scheduler or a predictor. A name without keys means all specs
/// of this name.
#[derive(Clone, Debug, Default)]
pub struct AskedSettings(Vec<String>);

impl AskedSettings {
    /// Checks that each text names a setting of these rows.
    ///
    /// # Errors
    /// If one names none.
    pub fn read(texts: &[String], rows: &[FinishedRow]) -> Result<AskedSettings, SpecError> {
        for text in texts {
            if rows.iter().any(|row| is_named(text, &row.run.label)) {
                continue;
            }
            const SHOWN: usize = 12;
            let mut names: Vec<String> = Vec::new();
            for RunLabel { scheduler, predictor, .. } in rows.iter().map(|row| &row.run.label) {
                let name = format!("{scheduler}/{predictor}");
                if !names.contains(&name) && names.len() <= SHOWN {
                    names.push(name);
                }
            }
            let meant = did_you_mean(text, names.iter().map(String::as_str));
            let more = if names.len() > SHOWN { ", ..." } else { "" };
            names.truncate(SHOWN);
            return Err(SpecError(format!(
                "'{text}' is no setting of the sweep, which has {}{more}{meant}",
                names.join(", ")
            )));
        }
        Ok(AskedSettings(texts.to_vec()))
    }

    /// Whether a run is one of them.
    pub(super) fn names(&self, label: &RunLabel) -> bool {
        self.0.iter().any(|text| is_named(text, label))
    }
}

fn is_named(text: &str, RunLabel { scheduler, predictor, .. }: &RunLabel) -> bool {
    let is_scheduler = |text: &str| is_spec(text, scheduler, schedule::catalog::parse);
    let is_predictor = |text: &str| is_spec(text, predictor, predict::catalog::parse);
    // A path in a spec may have slashes too.
    let is_pair = |(at, _)| is_scheduler(&text[..at]) && is_predictor(&text[at + 1..]);
    is_scheduler(text) || is_predictor(text) || text.match_indices('/').any(is_pair)
}

/// Whether a text means a spec: it is the same, or its name alone.
fn is_spec(text: &str, spec: &str, parse: fn(&str) -> Result<Spec, SpecError>) -> bool {
    let shortest = |text: &str| parse(text).ok().map(|spec| spec.to_string());
    text == spec
        || spec.split(':').next() == Some(text)
        || (text.contains(':') && shortest(text).is_some_and(|text| Some(text) == shortest(spec)))
}

/// The lists that groups pool, without seeds: runs of one group differ in them.
pub fn pooled<'a>(grid: &'a RunPlan, groups: &[Group<'_>]) -> Vec<&'a Axis> {
    let differs = |at: usize, group: &Group<'_>| {
        let mut places = group.runs.seeds().map(|places| places[at]);
        let first = places.next();
        places.any(|place| Some(place) != first)
    };
    let axes = grid.axes().iter().enumerate().filter(|(_, axis)| axis.varies() != Varies::Seed);
    axes.filter(|(at, _)| groups.iter().any(|group| differs(*at, group))).map(|(_, axis)| axis).collect()
}

/// The columns that say what was run, without the seeds.
pub fn setting_columns(grid: &RunPlan) -> Vec<String> {
    let is_seed = |column: &ResultColumn<'_>| match column {
        ResultColumn::Swept { axis, .. } => grid.axes()[*axis].varies() == Varies::Seed,
        ResultColumn::Run(_) => false,
    };
    let always = crate::metrics::columns::SETTING.map(|column| column.name.to_string());
    let swept = grid.shown_columns().filter(|column| !is_seed(column)).map(|column| column.name().to_string());
    always.into_iter().chain(swept).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_named_by_pairs_and_specs() {
        let label = RunLabel {
            scheduler: "sjbf:reservations=2".to_string(),
            predictor: "ruh:window=3".to_string(),
            ..RunLabel::default()
        };
        for (text, is) in [
            ("sjbf/ruh", true),
            ("sjbf:reservations=2/ruh:window=3", true),
            // 3 is the default, which a list may have written.
            ("ruh:window=3", true),
            ("ruh:window=3,cap=off", true),
            ("ruh", true),
            ("sjbf", true),
            ("easy/ruh", false),
            ("ruh:window=2", false),
            ("ru", false),
            ("", false),
        ] {
            assert_eq!(is_named(text, &label), is, "{text}");
        }
    }
}
