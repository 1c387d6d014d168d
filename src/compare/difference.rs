//! A difference between two outputs, and the columns in which differences are printed.

use std::cmp::Ordering;

use super::value::ValueChange;
use crate::metrics::{Better, Cell, Column, ListedColumn, When, column_list, listed};

/// A difference beyond the tolerance.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// What was run: the values of the columns of [`super::Comparison::keys`].
    pub keys: Vec<String>,
    /// The column. None if the row is in one output only.
    pub column: Option<String>,
    /// The value in each output; None if it has no such row.
    pub values: [Option<String>; 2],
    /// By how much two numbers differ.
    pub change: Option<ValueChange>,
    /// Whether lower or higher values of the column are better. None if neither is.
    pub better: Option<Better>,
}

/// The columns after those that say what was run.
pub static DIFFERENCE_COLUMNS: &[Column<Difference>] = &column_list! {
    |difference: Difference|
    key "column" "the column that differs; (whole row) if only one output has the row"
        difference.column.clone().unwrap_or("(whole row)".to_string());
    text "first" "its value in the first output; present or missing for a whole row" difference.value(0);
    text "second" "the same in the second output" difference.value(1);
    text "change" "the second number less the first"
        difference.printed_change().and_then(|text| text.parse().ok()).map(Cell::Number);
    percent "change_pct" "the same in percent of the first; empty if that is 0"
        difference.change.and_then(|change| change.percent), heading("percent");
    text "effect" "whether the change is better or worse; empty if neither can be said" difference.effect();
};

/// The columns of all differences, for lists.
pub fn listed_differences() -> Vec<ListedColumn> {
    let about = "what was run: one column for each column by which the rows of the two outputs are matched";
    [vec![ListedColumn::key("KEY", about, When::Always)], listed(DIFFERENCE_COLUMNS)].concat()
}

impl Difference {
    /// Compares two differences by their size, the larger one first. The waits of jobs are the largest, by their seconds: by their
    /// percentage no job that waits less now would be as large as one that did not wait before. Then come rows without a match and
    /// texts, changes from 0 by their number, and all others by their percentage.
    pub fn larger_first(&self, other: &Difference) -> Ordering {
        let size = |difference: &Difference| match difference.change {
            Some(ValueChange { absolute, .. }) if difference.column.as_deref() == Some("wait") => (3, absolute.abs()),
            None => (2, 0.0),
            Some(ValueChange { absolute, percent: None }) => (1, absolute.abs()),
            Some(ValueChange { percent: Some(percent), .. }) => (0, percent.abs()),
        };
        let ((class, size), (other_class, other_size)) = (size(self), size(other));
        other_class.cmp(&class).then(other_size.total_cmp(&size))
    }

    /// The value in an output as it is there. Of a whole row, whether the output has it.
    fn value(&self, output: usize) -> String {
        match (&self.values[output], &self.column) {
            (Some(_), None) => "present".to_string(),
            (None, None) => "missing".to_string(),
            (text, Some(_)) => text.clone().unwrap_or_default(),
        }
    }

    /// The change with as many decimals as the values have, with its sign.
    pub fn printed_change(&self) -> Option<String> {
        let decimals = |text: &Option<String>| {
            text.as_deref().and_then(|text| text.split_once('.')).map_or(0, |(_, fraction)| fraction.len())
        };
        let digits = self.values.iter().map(decimals).max().unwrap_or(0);
        self.change.map(|change| format!("{:+.digits$}", change.absolute))
    }

    /// Whether the second number is `better` or `worse` than the first. None if the column has no direction.
    pub fn effect(&self) -> Option<&'static str> {
        let gain = self.better?.gain(0.0, self.change?.absolute);
        Some(if gain > 0.0 { "better" } else { "worse" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_better_or_worse_by_the_direction_of_its_column() {
        let difference = |better, values: [&str; 2]| Difference {
            keys: Vec::new(),
            column: Some("wait".to_string()),
            values: values.map(|text| Some(text.to_string())),
            change: ValueChange::between(values[0], values[1]),
            better,
        };
        for (better, values, effect) in [
            (Some(Better::Lower), ["10", "9.5"], Some("better")),
            (Some(Better::Lower), ["0", "1"], Some("worse")),
            (Some(Better::Higher), ["-2", "-1"], Some("better")),
            (Some(Better::Higher), ["0.5", "0.25"], Some("worse")),
            (Some(Better::Higher), ["", "0.25"], None),
            (None, ["10", "9"], None),
        ] {
            assert_eq!(difference(better, values).effect(), effect, "{better:?} {values:?}");
        }
    }
}
