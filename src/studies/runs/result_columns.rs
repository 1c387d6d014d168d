//! The columns of the results of a plan: those of a run, and those of its lists.

use super::axis::Axis;
use super::plan::RunPlan;
use super::run::FinishedRow;
use crate::metrics::columns::columns;
use crate::metrics::{Cell, Column};
use crate::report::option_cell;
use crate::similar::did_you_mean;
use crate::spec::SpecError;

/// A column of a sweep's results.
#[derive(Clone, Copy, Debug)]
pub enum ResultColumn<'a> {
    /// One that every run has.
    Run(&'static Column),
    /// The values of a list of the grid, or of a key of the specs in it.
    Swept {
        /// The index of the list.
        axis: usize,
        /// The option, or option and key: `load`, `predictor.window`.
        name: &'a str,
        /// One per value of the list.
        values: &'a [String],
    },
}

impl ResultColumn<'_> {
    /// As in CSV and JSON.
    pub fn name(&self) -> &str {
        match self {
            ResultColumn::Run(column) => column.name,
            ResultColumn::Swept { name, .. } => name,
        }
    }

    /// Whether it says what was run.
    pub fn is_setting(&self) -> bool {
        match self {
            ResultColumn::Run(column) => !column.is_number(),
            ResultColumn::Swept { .. } => true,
        }
    }

    /// Its value in a row; none instead of an empty text.
    pub fn cell(&self, row: &FinishedRow) -> Cell {
        match self {
            ResultColumn::Run(column) => Some(column.cell(&row.run)).filter(|cell| !cell.text().is_empty()).into(),
            ResultColumn::Swept { axis, values, .. } => option_cell(&values[row.places[*axis]]),
        }
    }
}

impl RunPlan {
    /// Whether its runs are compared with a baseline.
    pub fn has_baseline(&self) -> bool {
        self.axes().iter().any(|axis| axis.name == "baseline" && axis.values != ["none"])
    }

    /// The columns that a sweep adds to those of a run: one for each list of an option without a column, and one for each
    /// swept key of specs.
    pub fn swept_columns(&self) -> impl Iterator<Item = ResultColumn<'_>> {
        self.axes().iter().enumerate().flat_map(|(axis, list)| {
            let option = ResultColumn::Swept { axis, name: &list.name, values: &list.values };
            let keys = list.keys.iter();
            let keys = keys.map(move |key| ResultColumn::Swept { axis, name: &key.column, values: &key.values });
            (!Column::exists(&list.name)).then_some(option).into_iter().chain(keys)
        })
    }

    /// The cells of these columns in the row of a run, without those of options that have one value.
    pub fn swept_cells(&self, run: usize) -> Vec<(String, Cell)> {
        let places = self.places(run);
        let cell = |column: ResultColumn<'_>| match column {
            ResultColumn::Swept { axis, name, values } if self.axes()[axis].values.len() > 1 => {
                Some((name.to_string(), option_cell(&values[places[axis]])))
            }
            _ => None,
        };
        self.swept_columns().filter_map(cell).collect()
    }

    /// The columns of a table that tell its rows apart, beside the log, the scheduler and the predictor: those of
    /// [`RunPlan::swept_columns`], and swept options that have a column of a run, such as `procs`.
    pub fn shown_columns(&self) -> impl Iterator<Item = ResultColumn<'_>> {
        let is_shown = |list: &&Axis| {
            let is_setting = ["trace", "scheduler", "predictor", "baseline"].contains(&list.name.as_str());
            Column::exists(&list.name) && !is_setting && list.values.len() > 1
        };
        let lists = self.axes().iter().enumerate().filter(move |(_, list)| is_shown(list));
        let lists = lists.map(|(axis, list)| ResultColumn::Swept { axis, name: &list.name, values: &list.values });
        lists.chain(self.swept_columns())
    }

    /// The columns of its results. The column `options` is the last, as in the results of a run.
    pub fn columns(&self) -> Vec<ResultColumn<'_>> {
        let mut all: Vec<_> = columns(self.given()).map(ResultColumn::Run).collect();
        let last = all.pop();
        all.extend(self.swept_columns().chain(last));
        all
    }

    /// The columns with these names, of those that say what was run.
    ///
    /// # Errors
    ///
    /// If there is no such column, or it has figures.
    pub fn columns_named(&self, names: &[String]) -> Result<Vec<ResultColumn<'_>>, SpecError> {
        let columns = self.columns();
        let settings: Vec<_> = columns.iter().filter(|column| column.is_setting()).collect();
        let find = |name: &String| {
            settings.iter().find(|column| column.name() == name).map(|column| **column).ok_or_else(|| {
                let all: Vec<_> = settings.iter().map(|column| column.name()).collect();
                let meant = did_you_mean(name, all.iter().copied());
                let why = match columns.iter().any(|column| column.name() == name) {
                    true => format!("'{name}' has figures, of which means are printed: it is no column to group by"),
                    false => format!("there is no column '{name}' to group by"),
                };
                SpecError(format!("{why}; the columns are {}{meant}", all.join(", ")))
            })
        };
        names.iter().map(find).collect()
    }
}
