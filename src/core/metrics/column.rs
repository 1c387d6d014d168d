//! What a column of an output is. Every output has one list of columns. CSV, JSON, tables, `sim list columns`, the keys of
//! `sim compare` and the documentation are made from it.

use super::cell::{Cell, Cells};
use super::improvement::Better;
use super::row::RunRow;
use super::when::{Given, When};

/// A column of an output with rows of type `R`; the rows of most outputs are runs.
#[derive(Clone, Debug)]
pub struct Column<R = RunRow> {
    /// The name in CSV and JSON.
    pub name: &'static str,
    /// The meaning, in one line, with the unit.
    pub about: &'static str,
    /// The format in tables.
    pub shown: Shown,
    /// Whether lower or higher values are better. None if neither is.
    pub better: Option<Better>,
    /// What its values say about a row.
    pub role: Role,
    /// When the output has the column.
    pub when: When,
    /// Whether tables show it.
    pub main: Main,
    /// The heading in tables.
    pub heading: &'static str,
    /// The value in a row.
    pub value: ColumnValue<R>,
}

/// How the value of a column follows from a row.
#[derive(Clone, Copy, Debug)]
pub enum ColumnValue<R> {
    /// From the row alone.
    OfRow(fn(&R) -> Cell),
    /// From what the row says of one of several things, by its place in their list.
    OfPart(usize, fn(&R, usize) -> Cell),
}

/// What the values of a column say about a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// What the row is about. Rows of two outputs that agree in these columns belong together.
    Key,
    /// Something else that is no result.
    Label,
    /// A result: a number, which has means over rows, or a text.
    Figure,
}

/// Whether tables of many runs show a column. Groups of runs have means and intervals of those with numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Main {
    /// Never: it is in CSV, and in the table of one run.
    Never,
    /// Only in comparisons with a baseline: it says who pays for a gain.
    Compared,
    /// Always.
    Always,
}

/// The format of a value in tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// As in CSV.
    AsPrinted,
    /// Seconds as a duration: `1h 05m`.
    Duration,
    /// With two decimals.
    Slowdown,
    /// An index from 0 to 1, with three decimals.
    Index,
    /// A fraction, printed as a percentage.
    Fraction,
    /// A percentage.
    Percent,
    /// An improvement in percent, which may be negative.
    Improvement,
    /// Hours, without decimals if there are many.
    Hours,
    /// A count with separated thousands.
    Count,
    /// A count as above, with its share of the measured jobs.
    ShareOfJobs,
}

/// The first column of files that have the rows of several runs: the name of the run.
pub const SEVERAL_NAME: &str = "setting";

impl<R> Column<R> {
    /// A result, which tables show in this format.
    const fn figure(name: &'static str, about: &'static str, shown: Shown, value: fn(&R) -> Cell) -> Column<R> {
        let value = ColumnValue::OfRow(value);
        let (better, role, when, main, heading) = (None, Role::Figure, When::Always, Main::Never, name);
        Column { name, about, shown, better, role, when, main, heading, value }
    }

    /// A result that rows have of each of several things, such as all devices, with its name and its meaning: of that at this
    /// place in their list.
    pub const fn of(
        place: usize,
        (name, about): (&'static str, &'static str),
        shown: Shown,
        value: fn(&R, usize) -> Cell,
    ) -> Column<R> {
        Column { value: ColumnValue::OfPart(place, value), ..Column::figure(name, about, shown, |_| Cell::None) }
    }

    /// A count.
    pub const fn count(name: &'static str, about: &'static str, value: fn(&R) -> Cell) -> Column<R> {
        Column::figure(name, about, Shown::Count, value)
    }

    /// A text that is a result.
    pub const fn text(name: &'static str, about: &'static str, value: fn(&R) -> Cell) -> Column<R> {
        Column::figure(name, about, Shown::AsPrinted, value)
    }

    /// Seconds.
    pub const fn duration(name: &'static str, about: &'static str, value: fn(&R) -> Cell) -> Column<R> {
        Column::figure(name, about, Shown::Duration, value)
    }

    /// A number that tables show with two decimals.
    pub const fn real(name: &'static str, about: &'static str, value: fn(&R) -> Cell) -> Column<R> {
        Column::figure(name, about, Shown::Slowdown, value)
    }

    /// A fraction, which tables show as a percentage.
    pub const fn fraction(name: &'static str, about: &'static str, value: fn(&R) -> Cell) -> Column<R> {
        Column::figure(name, about, Shown::Fraction, value)
    }

    /// A percentage.
    pub const fn percent(name: &'static str, about: &'static str, value: fn(&R) -> Cell) -> Column<R> {
        Column::figure(name, about, Shown::Percent, value)
    }

    /// A column that says what a row is about.
    pub const fn key(name: &'static str, about: &'static str, value: fn(&R) -> Cell) -> Column<R> {
        Column { role: Role::Key, ..Column::figure(name, about, Shown::AsPrinted, value) }
    }

    /// A column that is neither a key nor a result.
    pub const fn label(name: &'static str, about: &'static str, value: fn(&R) -> Cell) -> Column<R> {
        Column { role: Role::Label, ..Column::figure(name, about, Shown::AsPrinted, value) }
    }

    /// Lower values are better.
    pub const fn lower(self) -> Column<R> {
        Column { better: Some(Better::Lower), ..self }
    }

    /// Higher values are better.
    pub const fn higher(self) -> Column<R> {
        Column { better: Some(Better::Higher), ..self }
    }

    /// The output has the column only under this condition.
    pub const fn only(self, when: When) -> Column<R> {
        Column { when, ..self }
    }

    /// Tables show it in another format.
    pub const fn shown(self, shown: Shown) -> Column<R> {
        Column { shown, ..self }
    }

    /// Tables show it.
    pub const fn main(self, main: Main) -> Column<R> {
        Column { main, ..self }
    }

    /// Tables show it under this heading.
    pub const fn heading(self, heading: &'static str) -> Column<R> {
        Column { heading, main: Main::Always, ..self }
    }

    /// The value in a row.
    pub fn cell(&self, row: &R) -> Cell {
        match self.value {
            ColumnValue::OfRow(value) => value(row),
            ColumnValue::OfPart(place, value) => value(row, place),
        }
    }

    /// What is known of it without a row.
    pub fn listed(&self) -> ListedColumn {
        ListedColumn {
            name: self.name.to_string(),
            about: self.about,
            better: self.better,
            is_key: self.role == Role::Key,
            when: self.when,
        }
    }
}

/// A list of columns. Each entry has the kind of the column ([`Column::count`] and others), its name, its meaning, its value,
/// and what else is to be said, such as `lower` or `heading("mean wait")`.
#[macro_export]
macro_rules! column_list {
    (|$row:ident: $rows:ty| $($kind:ident $name:literal $about:literal $value:expr $(, $how:ident $(($with:expr))?)*;)*) => {
        [$($crate::metrics::Column::<$rows>::$kind($name, $about, |$row: &$rows| $crate::metrics::Cell::from($value))$(.$how($($with)?))*),*]
    };
}
pub use crate::column_list;

/// The columns of an output for which these conditions hold.
pub fn present<'a, R: 'a>(
    columns: impl IntoIterator<Item = &'a Column<R>>,
    given: Given,
) -> impl Iterator<Item = &'a Column<R>> {
    columns.into_iter().filter(move |column| given.has(column.when))
}

/// The names and values of a row of an output for which these conditions hold.
pub fn cells<'a, R: 'a>(columns: impl IntoIterator<Item = &'a Column<R>>, row: &R, given: Given) -> Cells {
    present(columns, given).map(|column| (column.name.to_string(), column.cell(row))).collect()
}

/// A column in a list of all outputs, where rows have no type.
#[derive(Clone, Debug)]
pub struct ListedColumn {
    /// As [`Column::name`].
    pub name: String,
    /// As [`Column::about`].
    pub about: &'static str,
    /// As [`Column::better`].
    pub better: Option<Better>,
    /// Whether it says what a row is about.
    pub is_key: bool,
    /// As [`Column::when`].
    pub when: When,
}

impl ListedColumn {
    /// A column that says what a row is about.
    pub fn key(name: &str, about: &'static str, when: When) -> ListedColumn {
        ListedColumn { name: name.to_string(), about, better: None, is_key: true, when }
    }

    /// A column that does not say what a row is about.
    pub fn other(name: &str, about: &'static str, when: When) -> ListedColumn {
        ListedColumn { is_key: false, ..ListedColumn::key(name, about, when) }
    }

    /// The name of the run, where there are several.
    pub fn of_setting() -> ListedColumn {
        ListedColumn::key(SEVERAL_NAME, "the scheduler and the predictor of the run", When::Several)
    }
}

/// Lists columns.
pub fn listed<R>(columns: &[Column<R>]) -> Vec<ListedColumn> {
    columns.iter().map(Column::listed).collect()
}

/// Lists the columns of a file of one or several runs.
pub fn listed_with_setting<R>(columns: &[Column<R>]) -> Vec<ListedColumn> {
    [vec![ListedColumn::of_setting()], listed(columns)].concat()
}
