//! A list of a grid: an option, the values it takes, and the keys of specs that are swept in it.

use std::collections::BTreeSet;

use super::run::{FinishedRow, PlannedRun};
use crate::experiment::{OPTIONS, OptionForm, Section};
use crate::similar::did_you_mean;
use crate::spec::{SweptKey, SweptKeys, expand};

/// An option (or `trace`) and the values it takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// The option's long name, or `trace`.
    pub name: String,
    /// As they are printed in results: the shortest equivalent texts. A spec also has the defaults of swept keys, if they
    /// were written.
    pub values: Vec<String>,
    /// The swept keys of the specs.
    pub keys: Vec<SweptKey>,
}

/// A list of a grid as written: an option (or `trace`) and texts that [`expand`] reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GridList {
    /// The option's long name, `trace` or [`REPLICATIONS`].
    pub name: String,
    /// Several if the option was given several times, or as a list in a file.
    pub texts: Vec<GridText>,
}

/// A text of a list, and its place for error messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GridText {
    /// As [`expand`] reads it.
    pub text: String,
    /// For example `study.toml: line 3: `; empty for a text of the command line.
    pub place: String,
}

impl GridList {
    /// A list of the command line.
    pub fn new(name: &str, texts: impl IntoIterator<Item = String>) -> GridList {
        let texts = texts.into_iter().map(|text| GridText { text, place: String::new() }).collect();
        GridList { name: name.to_string(), texts }
    }

    /// The same list with the name of its file in error messages.
    pub fn in_file(mut self, file: &str) -> GridList {
        self.texts.iter_mut().for_each(|text| text.place = format!("{file}: {}", text.place));
        self
    }
}

/// The name of the list that gives a number of replications; their rows are averaged.
pub const REPLICATIONS: &str = "replications";

impl Axis {
    /// Reads a list.
    pub(super) fn read(list: &GridList) -> Result<Axis, String> {
        if list.name == REPLICATIONS {
            return replications(list);
        }
        let (name, mut values) = (list.name.as_str(), Vec::new());
        let mut swept = SweptKeys::default();
        for GridText { text, place } in &list.texts {
            let wrong = |why: String| format!("{place}{name}: {why}");
            for value in values_of(name, text).map_err(wrong)? {
                if let Some(option) = OptionForm::find(name) {
                    let options = option.alone(&value).map_err(wrong)?;
                    options.spec(name).into_iter().for_each(|spec| swept.add(spec));
                }
                values.push(value);
            }
        }
        let place = list.texts.first().map_or("", |first| &first.place);
        match (name, values.len()) {
            (_, 0) => return Err(format!("{place}{name}: no value is given")),
            ("baseline", 2..) => return Err(format!("{place}baseline: a sweep has one baseline")),
            _ => {}
        }
        let mut axis = Axis { name: name.to_string(), values, keys: swept.columns(name) };
        if let Some(option) = OptionForm::find(name) {
            axis.print_values(option, &swept);
        }
        Ok(axis)
    }

    /// The list of so many runs of each setting, of which the first is that of the log.
    pub(super) fn replications(runs: u32) -> Axis {
        let values = (0..runs).map(|replication| replication.to_string()).collect();
        Axis { name: "replication".to_string(), values, keys: Vec::new() }
    }

    /// Replaces each value by its printed form, and adds the values of the swept keys.
    fn print_values(&mut self, option: &OptionForm, swept: &SweptKeys) {
        for value in &mut self.values {
            let options = option.alone(value).expect("checked when the list was read");
            self.keys.iter_mut().for_each(|key| key.push(options.spec(option.name)));
            match options.spec(option.name) {
                Some(spec) => {
                    let mut spec = spec.clone();
                    spec.show_written(swept.names());
                    *value = spec.to_string();
                }
                None => {
                    // Replications are printed as other options: their value stays as it is.
                    let printed = option.get(&options);
                    *value = if printed.is_empty() { value.clone() } else { printed };
                }
            }
        }
    }

    /// Gives a run one of its values.
    pub(super) fn set(&self, run: &mut PlannedRun, value: &str) {
        match OptionForm::find(&self.name) {
            None => run.trace = Some(value.to_string()),
            Some(option) => option.set(&mut run.options, value).expect("checked when the list was read"),
        }
        // As the other values of the list are printed.
        let swept: Vec<&str> = self.keys.iter().filter_map(|key| Some(key.column.split_once('.')?.1)).collect();
        match self.name.as_str() {
            "scheduler" => run.options.scheduler.show_written(&swept),
            "predictor" => run.options.predictor.show_written(&swept),
            _ => {}
        }
    }

    /// A value without the defaults that are printed because they were written.
    fn shortest(&self, value: &str) -> String {
        let options = OptionForm::find(&self.name).and_then(|option| option.alone(value).ok());
        options.and_then(|options| Some(options.spec(&self.name)?.to_string())).unwrap_or(value.to_string())
    }

    /// Of each value, whether it is another one than `none`.
    pub(super) fn are_acting(&self) -> Vec<bool> {
        self.values.iter().map(|value| value != "none").collect()
    }

    /// A value that it has twice.
    pub fn twice(&self) -> Option<String> {
        let mut seen = BTreeSet::new();
        self.values.iter().map(|value| self.shortest(value)).find(|value| !seen.insert(value.clone()))
    }

    /// Whether another list of the option means the same values, in the same order. (A spec may be printed with or without
    /// a default.)
    pub(super) fn is_same(&self, other: &Axis) -> bool {
        let is_equal = |(a, b): (&String, &String)| a == b || self.shortest(a) == self.shortest(b);
        self.name == other.name
            && self.values.len() == other.values.len()
            && self.values.iter().zip(&other.values).all(is_equal)
    }

    /// Its values, or the first few of many.
    pub(super) fn abridged(&self) -> String {
        const SHOWN: usize = 6;
        let first = self.values.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
        match self.values.len() {
            count if count > SHOWN => format!("{first}, ... ({count} values)"),
            _ => first,
        }
    }
}

/// What a list varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Varies {
    /// What is compared: schedulers, predictors, and options of the simulation itself.
    Setting,
    /// The jobs: logs, loads and whatever else changes them. Runs with different jobs are not compared.
    Condition,
    /// Random numbers alone: runs that differ in nothing else are averaged.
    Seed,
}

impl Axis {
    /// What it varies.
    pub fn varies(&self) -> Varies {
        match (self.name.as_str(), OptionForm::find(&self.name).map(|option| option.section)) {
            ("replication" | "seed" | "estimates-seed", _) => Varies::Seed,
            (_, Some(Section::Run | Section::Engine)) => Varies::Setting,
            _ => Varies::Condition,
        }
    }

    /// Its value in a row, as results have it.
    pub fn value<'a>(&'a self, at: usize, row: &'a FinishedRow) -> &'a str {
        if self.name == "trace" { &row.run.label.trace } else { &self.values[row.places[at]] }
    }

    /// Its value in a row in words: a name, or `load=0.9`.
    pub fn part(&self, at: usize, row: &FinishedRow) -> String {
        let value = self.value(at, row);
        match self.name.as_str() {
            "trace" | "scheduler" | "predictor" | "baseline" => value.to_string(),
            name => format!("{name}={value}"),
        }
    }
}

/// The number of runs of each setting for a number of replications: shaken copies are counted with the log, resamples are all
/// beside it. `are_resampled` has a value for each way in which copies are made.
///
/// # Errors
/// If there are both.
pub fn runs_of_replications(number: u32, are_resampled: impl IntoIterator<Item = bool>) -> Result<u32, String> {
    let mut ways = are_resampled.into_iter();
    let is_resampled = ways.next().unwrap_or(false);
    match ways.all(|other| other == is_resampled) {
        true => Ok(number + u32::from(is_resampled)),
        false => Err(
            "replications are resamples beside the log, or with resample none the log and shaken copies of it: give \
                      one of the two"
                .to_string(),
        ),
    }
}

/// The list of the replications 0 to n - 1, from their number n.
fn replications(list: &GridList) -> Result<Axis, String> {
    let number = match &list.texts[..] {
        [one] => one.text.parse::<u32>().ok().filter(|number| (2..=100_000).contains(number)),
        _ => None,
    };
    let place = list.texts.first().map_or("", |first| &first.place);
    let number = number.ok_or_else(|| format!("{place}{REPLICATIONS}: write one whole number from 2 to 100000"))?;
    Ok(Axis::replications(number))
}

/// The values of a text, as they are written.
///
/// # Errors
/// If the text is no list, or the option cannot have one.
pub fn values_of(name: &str, text: &str) -> Result<Vec<String>, String> {
    // The name of an existing file is not expanded: it may contain commas.
    let is_file = ["trace", "machine", "requests"].contains(&name) && std::path::Path::new(text).exists();
    let values = match is_file {
        true => vec![text.to_string()],
        false => expand(name, text)?,
    };
    match OptionForm::find(name) {
        None if name != "trace" => {
            let names: Vec<_> = OPTIONS.iter().map(|option| option.name).collect();
            let meant = did_you_mean(name, names.iter().copied().chain(["trace", REPLICATIONS]));
            Err(format!("this option cannot be swept; the options are trace, {}{meant}", names.join(", ")))
        }
        None if values.iter().any(|value| value == "-") => {
            Err("a sweep reads its logs more than once, and standard input can be read only once".to_string())
        }
        _ => Ok(values),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(name: &str, text: &str) -> Axis {
        Axis::read(&GridList::new(name, [text.to_string()])).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn a_swept_key_has_its_values_and_a_written_default_stays() {
        let list = axis("predictor", "perfect,ruh:window=2..3,cap=off,ruh:cap=on");
        assert_eq!(list.values, ["perfect", "ruh:window=2,cap=off", "ruh:window=3,cap=off", "ruh:cap=on"]);
        let columns: Vec<_> = list.keys.iter().map(|key| (key.column.as_str(), key.values.join("|"))).collect();
        let expected = [("predictor.window", "|2|3|3"), ("predictor.cap", "|off|off|on")];
        assert_eq!(columns, expected.map(|(column, values)| (column, values.to_string())));
        // A key that all specs of a name have in common is not swept, and its default is not printed.
        let list = axis("predictor", "ruh:window=3,sbh,gibbons");
        assert_eq!((list.values.join(" "), list.keys.len()), ("ruh sbh gibbons".to_string(), 0));
        // Another predictor with a key of this name has its value in the same column.
        let list = axis("predictor", "sbh:sessions={3|all},sbh-noest");
        let other = crate::predict::catalog::parse("sbh-noest").unwrap();
        assert_eq!(list.keys[0].values, ["3", "all", other.text("sessions")]);
    }

    #[test]
    fn models_of_estimates_have_keys_too() {
        let list = axis("estimates", "none,f:f=2..3");
        assert_eq!(list.values, ["none", "f:f=2", "f:f=3"]);
        assert_eq!(
            (list.keys[0].column.as_str(), &list.keys[0].values[..]),
            ("estimates.f", &["", "2", "3"].map(String::from)[..])
        );
    }

    #[test]
    fn lists_are_the_same_whether_defaults_are_printed_or_not() {
        let (swept, other) = (axis("predictor", "ruh:window=3..4"), axis("predictor", "ruh,ruh:window=4"));
        assert_eq!((swept.values[0].as_str(), other.values[0].as_str()), ("ruh:window=3", "ruh"));
        assert!(swept.is_same(&other) && !swept.is_same(&axis("predictor", "ruh,ruh:window=5")));
        assert!(!axis("seed", "1,2").is_same(&axis("seed", "2,1")));
    }
}
