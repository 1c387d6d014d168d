//! A cell of a table, and the colours that show what it means.

use std::borrow::Cow;
use std::io::Write;

use super::shown::{shown, shown_or_dash, signed_percent};
use crate::metrics::{Better, Column, Shown};

/// What a cell of a table means for the reader, which colours show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// Neither good nor bad.
    #[default]
    Neutral,
    /// Better than the baseline.
    Gain,
    /// Worse than the baseline.
    Loss,
}

impl Tone {
    /// The tone of an improvement in percent; neutral if it is printed as 0.
    pub fn of_gain(percent: f64) -> Tone {
        match signed_percent(percent) {
            _ if !percent.is_finite() => Tone::Neutral,
            text if text.starts_with('+') => Tone::Gain,
            text if text.starts_with('-') => Tone::Loss,
            _ => Tone::Neutral,
        }
    }

    /// The code with which terminals begin the colour.
    fn code(self) -> Option<&'static str> {
        match self {
            Tone::Neutral => None,
            Tone::Gain => Some("\x1b[32m"),
            Tone::Loss => Some("\x1b[31m"),
        }
    }
}

/// The codes of terminals for headings, and for the end of any style.
const BOLD: &str = "\x1b[1m";
const PLAIN: &str = "\x1b[0m";

/// A cell of a table.
#[derive(Clone, Debug)]
pub struct TableCell {
    pub(super) text: String,
    pub(super) tone: Tone,
}

impl TableCell {
    /// A cell with a tone.
    pub fn new(text: impl Into<String>, tone: Tone) -> TableCell {
        TableCell { text: text.into(), tone }
    }

    /// An improvement in percent; a dash if it is not defined.
    pub fn gain(percent: Option<f64>) -> TableCell {
        let percent = percent.unwrap_or(f64::NAN);
        TableCell::new(shown(Shown::Improvement, percent), Tone::of_gain(percent))
    }

    /// The value of a column; a dash if it is not defined. An improvement has its tone.
    pub fn of<R>(column: &Column<R>, row: &R) -> TableCell {
        // A difference that is neither good nor bad has the same form.
        let is_gain = column.shown == Shown::Improvement && column.better == Some(Better::Higher);
        match is_gain {
            true => TableCell::gain(column.cell(row).printed()),
            false => shown_or_dash(column, row).into(),
        }
    }
}

impl From<String> for TableCell {
    fn from(text: String) -> TableCell {
        TableCell::new(text, Tone::Neutral)
    }
}

/// Where a table is written to, and whether it has colours.
pub(super) struct Painter<'a> {
    pub out: &'a mut dyn Write,
    pub has_colours: bool,
}

impl Painter<'_> {
    /// The text of a cell, with the codes of its colour.
    pub fn painted<'c>(&self, TableCell { text, tone }: &'c TableCell, is_heading: bool) -> Cow<'c, str> {
        let code = if is_heading { Some(BOLD) } else { tone.code() };
        match code.filter(|_| self.has_colours && !text.is_empty()) {
            None => Cow::Borrowed(text),
            Some(code) => {
                // The indentation of a label stays plain, so that blanks at the end of a line can be removed.
                let blanks = text.len() - text.trim_start().len();
                Cow::Owned(format!("{}{code}{}{PLAIN}", &text[..blanks], &text[blanks..]))
            }
        }
    }
}
