//! A plan of runs: lists of option values, and their product. Every command that runs anything makes one of these.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::experiment::{OptionForm, Options, ProgramRole, refuse_idle, refuse_idle_keys, refuse_overruled};
use crate::machine::AssociationsFile;
use crate::machine::associations::Associations;
use crate::metrics::{Given, When};
use crate::schedule::catalog::{self, RunsOn};
use crate::settings_file::{self, SettingsEntry, Value};
use crate::spec::{Spec, SpecError, literal};
use crate::trace::labels;

use super::axis::{Axis, GridList, GridText, REPLICATIONS, Varies, runs_of_replications};
use super::run::PlannedRun;

/// Runs in order: the product of lists, of which the last changes fastest. There may be millions, so each is made when it is
/// needed.
#[derive(Clone, Debug)]
pub struct RunPlan {
    /// What the lists change, one after the other under each combination of their values. One run with the default options, unless
    /// the runs differ in what is no list.
    starts: Vec<PlannedRun>,
    axes: Vec<Axis>,
    cells: usize,
    /// Whether the rows of replications are replaced by their averages.
    averaged: bool,
}

/// The largest number of cells.
const MOST_CELLS: usize = 10_000_000;

impl RunPlan {
    /// Reads the lists; the last one changes fastest. All texts of an option must be in one list.
    ///
    /// # Errors
    ///
    /// If a value is not valid, if an option has two lists, if there are too many cells, or if an option has no effect.
    pub fn new(lists: &[GridList]) -> Result<RunPlan, SpecError> {
        let plan = RunPlan::with(Options::default(), lists)?;
        let is_acting = |name: &str| plan.axis(name).is_some_and(|axis| axis.are_acting().contains(&true));
        refuse_overruled(is_acting)?;
        Ok(plan)
    }

    /// The same for runs whose other options are these, which are checked together with the lists by the caller.
    ///
    /// # Errors
    /// As [`RunPlan::new`].
    pub fn with(options: Options, lists: &[GridList]) -> Result<RunPlan, SpecError> {
        let (mut axes, mut averaged): (Vec<Axis>, bool) = (Vec::new(), false);
        for list in lists {
            averaged |= list.name == REPLICATIONS;
            axes.push(Axis::read(list).map_err(SpecError)?);
        }
        let ways = axes.iter().find(|axis| axis.name == "resample").map_or(Vec::new(), Axis::are_acting);
        if let Some(copies) = axes.iter_mut().find(|axis| averaged && axis.name == "replication") {
            let runs = runs_of_replications(copies.values.len() as u32, ways).map_err(SpecError)?;
            *copies = Axis::replications(runs);
        }
        let mut cells: usize = 1;
        for axis in &axes {
            cells = cells.checked_mul(axis.values.len()).filter(|&cells| cells <= MOST_CELLS).ok_or_else(|| {
                let (name, values) = (&axis.name, axis.values.len());
                SpecError(format!("the grid has more than {MOST_CELLS} cells: '{name}' alone {values}"))
            })?;
        }
        let mut names = BTreeSet::new();
        if let Some(twice) = axes.iter().find(|axis| !names.insert(&axis.name)) {
            return Err(SpecError(format!("the grid has two lists of '{}'", twice.name)));
        }
        Ok(RunPlan { starts: vec![PlannedRun { trace: None, options }], axes, cells, averaged })
    }

    /// These runs, one after the other.
    pub fn of(starts: Vec<PlannedRun>) -> RunPlan {
        RunPlan { cells: starts.len(), starts, axes: Vec::new(), averaged: false }
    }

    /// These runs on the log as it is, then all of them on each copy: runs with the same jobs follow each other. Copies are resamples
    /// if the runs are of these, else they are shaken; see [`runs_of_replications`].
    pub fn replicated(starts: Vec<PlannedRun>, replications: u32) -> RunPlan {
        let are_resampled = starts.iter().any(|start| start.options.shaping.resample.is_some());
        let runs = replications + u32::from(are_resampled);
        if runs == 1 {
            return RunPlan::of(starts);
        }
        let axes = vec![Axis::replications(runs)];
        RunPlan { cells: starts.len() * runs as usize, starts, axes, averaged: true }
    }

    /// The rows of each of the runs with which the plan was made, which differ in their replications.
    pub fn by_start<'a, R>(&self, rows: &'a [R]) -> Vec<Vec<&'a R>> {
        let count = self.starts.len();
        (0..count).map(|at| rows.iter().skip(at).step_by(count).collect()).collect()
    }

    /// The number of runs.
    pub fn count(&self) -> usize {
        self.cells
    }

    /// The run at this index.
    pub fn run(&self, at: usize) -> PlannedRun {
        let mut made = self.starts[at % self.starts.len()].clone();
        // Which copy is meant depends on how copies are made, wherever its list stands.
        for is_copy in [false, true] {
            let axes =
                self.axes.iter().zip(self.values(at)).filter(|(axis, _)| (axis.name == "replication") == is_copy);
            axes.for_each(|(axis, value)| axis.set(&mut made, value));
        }
        made
    }

    /// Checks that each list, and each key of schedulers, has an effect in at least one cell.
    ///
    /// # Errors
    /// If one has none.
    pub fn refuse_idle(&self) -> Result<(), SpecError> {
        refuse_idle((0..self.cells).map(|cell| self.run(cell).options), |name| self.axis(name).is_some())?;
        let [on_nodes, amid_outages] =
            ["machine", "outages"].map(|name| self.axis(name).map_or(vec![false], Axis::are_acting));
        let on = on_nodes.iter().flat_map(|&nodes| amid_outages.iter().map(move |&outages| RunsOn { nodes, outages }));
        let schedulers = self.schedulers();
        refuse_idle_keys(schedulers.iter().flat_map(|spec| on.clone().map(move |on| (spec, on))))
    }

    /// All runs.
    pub fn runs(&self) -> impl Iterator<Item = PlannedRun> {
        (0..self.count()).map(|at| self.run(at))
    }

    /// The runs that are compared with each other: those that differ in nothing that changes jobs, and in no seed. In the order of the
    /// first of each.
    pub fn conditions(&self) -> Vec<Vec<usize>> {
        let mut conditions: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
        for at in 0..self.count() {
            let places = self.axes.iter().zip(self.places(at)).filter(|(axis, _)| axis.varies() != Varies::Setting);
            conditions.entry(places.map(|(_, place)| place).collect()).or_default().push(at);
        }
        conditions.into_values().collect()
    }

    /// What a run has of lists with several values, beside its scheduler and its predictor: `load=0.9`.
    pub fn parts(&self, at: usize) -> Vec<String> {
        let is_part = |axis: &Axis| axis.values.len() > 1 && !["scheduler", "predictor"].contains(&&*axis.name);
        let values = self.axes.iter().zip(self.values(at)).filter(|(axis, _)| is_part(axis));
        values.map(|(axis, value)| format!("{}={value}", axis.name)).collect()
    }

    fn axis(&self, name: &str) -> Option<&Axis> {
        self.axes.iter().find(|axis| axis.name == name)
    }

    /// Whether the rows of replications are replaced by their averages.
    pub fn is_averaged(&self) -> bool {
        self.averaged
    }

    /// Whether the cells are the same, in the same order.
    pub fn is_same(&self, other: &RunPlan) -> bool {
        self.axes.len() == other.axes.len()
            && self.axes.iter().zip(&other.axes).all(|(axis, other)| axis.is_same(other))
    }

    /// A text for users about the lists in which `other` ("here") differs from this grid ("there", in a folder).
    pub fn differences(&self, other: &RunPlan) -> String {
        let names: BTreeSet<&str> =
            [self, other].into_iter().flat_map(|grid| &grid.axes).map(|axis| &*axis.name).collect();
        let mut texts = Vec::new();
        for name in names {
            match (self.axis(name), other.axis(name)) {
                (Some(here), Some(given)) if here.is_same(given) => {}
                (Some(here), Some(given)) => {
                    texts.push(format!("{name} is {} there and {} here", here.abridged(), given.abridged()));
                }
                (Some(here), None) => texts.push(format!("{name} is {} there and not given here", here.abridged())),
                (None, Some(given)) => texts.push(format!("{name} is {} here and not given there", given.abridged())),
                (None, None) => {}
            }
        }
        if texts.is_empty() && !self.is_same(other) {
            texts.push("its lists are in another order".to_string());
        }
        texts.join("; ")
    }

    /// The same grid with absolute paths of logs, so that it does not depend on the working folder.
    ///
    /// # Errors
    ///
    /// If the working folder cannot be found.
    pub fn with_absolute_paths(mut self) -> std::io::Result<RunPlan> {
        for axis in self.axes.iter_mut().filter(|axis| axis.name == "trace") {
            for value in &mut axis.values {
                *value = std::path::absolute(&*value)?.to_string_lossy().into_owned();
            }
        }
        Ok(self)
    }

    /// The logs; none if it uses the embedded one.
    pub fn logs(&self) -> &[String] {
        self.axis("trace").map_or(&[], |axis| &axis.values)
    }

    /// The index of the list of logs, and the label of each of them in results, see [`labels`]. Without such a list, the index
    /// is None, and the label is that of the embedded log.
    pub fn log_labels(&self) -> (Option<usize>, Vec<String>) {
        let at = self.axes.iter().position(|axis| axis.name == "trace");
        let logs = at.map_or(vec![None], |at| self.axes[at].values.iter().cloned().map(Some).collect());
        (at, labels(&logs))
    }

    /// Reads a TOML file with one line per option; the value is a text, a number, true or false, or a list of those.
    ///
    /// # Errors
    ///
    /// If the text has another form; the message names the line.
    pub fn from_toml(text: &str) -> Result<Vec<GridList>, SpecError> {
        let entries = settings_file::parse(text).map_err(|error| SpecError(format!("not a sweep: {error}")))?;
        let scalar = |name: &str, line: usize, value: Value| {
            let wrong = || SpecError(format!("line {line}: '{name}' cannot be a {}", value.kind()));
            Ok(GridText { text: value.option_text().ok_or_else(wrong)?, place: format!("line {line}: ") })
        };
        let read = |SettingsEntry { key, line, value }: SettingsEntry| {
            let texts = match value {
                Value::List(items) => items.into_iter().map(|item| scalar(&key, item.line, item.value)).collect(),
                value => scalar(&key, line, value).map(|text| vec![text]),
            };
            texts.map(|texts| GridList { name: key, texts })
        };
        entries.into_iter().map(read).collect()
    }

    /// The grid as a TOML text that [`RunPlan::from_toml`] reads.
    pub fn to_toml(&self) -> String {
        let line = |axis: &Axis| {
            if self.averaged && axis.name == "replication" {
                let are_resampled = self.axis("resample").is_some_and(|axis| axis.are_acting().contains(&true));
                return format!("{REPLICATIONS} = {}\n", axis.values.len() - usize::from(are_resampled));
            }
            let values: Vec<_> =
                axis.values.iter().map(|value| toml::Value::String(literal(&axis.name, value))).collect();
            format!("{} = {}\n", axis.name, toml::Value::Array(values))
        };
        self.axes.iter().map(line).collect()
    }

    /// The commands of the programs that its predictors and schedulers start.
    pub fn programs(&self) -> BTreeSet<(ProgramRole, String)> {
        self.values_alone().flat_map(|options| options.programs()).map(|program| program.command()).collect()
    }

    /// The schedulers of its runs and baselines, and the default.
    pub fn schedulers(&self) -> Vec<Spec> {
        self.values_alone().flat_map(|options| options.schedulers().cloned().collect::<Vec<_>>()).collect()
    }

    /// Whether some runs are on a machine whose accounts, users and qualities of service have something.
    pub fn have(&self, what: fn(&Associations) -> bool) -> bool {
        self.values_alone().any(|options| options.have(what))
    }

    /// Whether runs are on a machine of nodes.
    pub fn has_nodes(&self) -> bool {
        self.values_alone().any(|options| options.machine.is_some())
    }

    /// A run for each machine with each of its accounts.
    pub fn accounts(&self) -> Vec<Options> {
        let machines = || self.values_alone().filter_map(|alone| alone.machine);
        let on_all = |associations: Arc<AssociationsFile>| {
            machines().map(move |machine| {
                let associations = Some(associations.clone());
                Options { machine: Some(machine), associations, ..Options::default() }
            })
        };
        self.values_alone().filter_map(|alone| alone.associations).flat_map(on_all).collect()
    }

    /// What decides which columns its results have.
    pub fn given(&self) -> Given {
        let on_nodes = self.has_nodes();
        let has = |is_set: fn(&Options) -> bool| self.values_alone().any(|options| is_set(&options));
        Given::of([
            (When::Baseline, self.has_baseline()),
            (When::Nodes, on_nodes),
            (When::Preemption, on_nodes && self.schedulers().iter().any(catalog::preempts)),
            (When::Feedback, has(|one| one.feedback.is_some())),
            (When::Outages, has(|one| one.outages.is_some())),
        ])
    }

    /// Each value of each list, as the only option.
    fn values_alone(&self) -> impl Iterator<Item = Options> {
        let options = self.axes.iter().filter_map(|axis| Some((OptionForm::find(&axis.name)?, axis)));
        options.flat_map(|(option, axis)| {
            axis.values.iter().map(|value| option.alone(value).expect("checked when the grid was made"))
        })
    }

    /// The lists, in order.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// The index of each value of a cell in its list, one per list.
    pub fn places(&self, cell: usize) -> Vec<usize> {
        let mut rest = cell / self.starts.len();
        let mut place = |axis: &Axis| {
            let place = rest % axis.values.len();
            rest /= axis.values.len();
            place
        };
        let mut places: Vec<_> = self.axes.iter().rev().map(&mut place).collect();
        places.reverse();
        places
    }

    /// The values of a cell, one per list.
    pub fn values(&self, cell: usize) -> Vec<&str> {
        self.axes.iter().zip(self.places(cell)).map(|(axis, place)| axis.values[place].as_str()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(lists: &[(&str, &[&str])]) -> Result<RunPlan, String> {
        let list = |(name, texts): &(&str, &[&str])| GridList::new(name, texts.iter().map(|text| text.to_string()));
        let lists: Vec<_> = lists.iter().map(list).collect();
        RunPlan::new(&lists).map_err(|error| error.to_string())
    }

    #[test]
    fn the_last_list_changes_fastest() {
        let grid = grid(&[("trace", &["a", "b"]), ("scheduler", &["easy,sjbf"]), ("load", &["1", "1.20"])]).unwrap();
        assert_eq!(grid.count(), 8);
        assert_eq!(grid.values(0), ["a", "easy", "1"]);
        assert_eq!(grid.values(1), ["a", "easy", "1.2"]);
        assert_eq!(grid.values(2), ["a", "sjbf", "1"]);
        assert_eq!(grid.values(7), ["b", "sjbf", "1.2"]);
        assert_eq!(grid.swept_columns().map(|column| column.name().to_string()).collect::<Vec<_>>(), ["load"]);
        let cell = grid.run(7);
        assert_eq!(cell.command(), "sim --trace b --load 1.2 --format csv");
        assert_eq!(cell.trace.as_deref(), Some("b"));
    }

    #[test]
    fn a_grid_is_equal_after_writing_and_reading() {
        let before = grid(&[
            ("trace", &["x's.swf", "b c"]),
            ("predictor", &["ruh:window={2|3},cap=on", "perfect"]),
            ("pass-on-miss", &["on,off"]),
            ("shake", &["9s"]),
            ("seed", &["1..3"]),
        ])
        .unwrap();
        let lists = RunPlan::from_toml(&before.to_toml()).unwrap();
        let after = RunPlan::new(&lists).unwrap();
        assert!(after.is_same(&before) && after.to_toml() == before.to_toml());
        assert_eq!(
            before.run(0).command(),
            "sim --trace 'x'\\''s.swf' --predictor ruh:window=2,cap=on --shake 9s --seed 1 --pass-on-miss=on --format csv"
        );
    }

    #[test]
    fn values_in_a_file_may_be_numbers_and_booleans() {
        let lists =
            RunPlan::from_toml("load = [0.8, \"1..1.2:0.1\"]\nseed = 7\npass-on-miss = [true, false]\n").unwrap();
        let grid = RunPlan::new(&lists).unwrap();
        let names: Vec<_> = grid.axes().iter().map(|axis| axis.name.as_str()).collect();
        assert_eq!((names, grid.count()), (vec!["load", "seed", "pass-on-miss"], 8));
        for (text, message) in [
            ("\nload = { a = 1 }", "line 2: 'load' cannot be a table"),
            ("load = [1,\n[2]]", "line 2: 'load' cannot be a list"),
            ("seed = 1\n\nload 5", "not a sweep: line 3: not TOML: "),
        ] {
            let error = RunPlan::from_toml(text).unwrap_err().to_string();
            assert!(error.starts_with(message), "{text}: {error}");
        }
    }

    #[test]
    fn invalid_grids_are_errors() {
        for (lists, message) in [
            (&[("color", &["red"][..])][..], "color: this option cannot be swept; the options are trace, scheduler"),
            (&[("predictor", &["rhu"])], "predictor: unknown predictor 'rhu'"),
            (&[("load", &["0..1:0.5"])], "load: '0' is not a number from 0.001 to 1000"),
            (&[("baseline", &["easy/estimate", "sjbf/perfect"])], "one baseline"),
            (&[("trace", &["-"])], "standard input"),
            (&[("load", &["1"]), ("load", &["2"])], "two lists of 'load'"),
            (&[("seed", &["1..10000"]), ("load", &["0.1..200:0.1"])], "more than 10000000 cells"),
        ] {
            let error = grid(lists).unwrap_err();
            assert!(error.contains(message), "{error}");
        }
    }
}
