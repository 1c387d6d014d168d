//! Lists what users can choose: names, keys and defaults of specs; and the columns of results.

use std::io::{self, Write};

use super::wrap::write_wrapped;
use crate::metrics::ListedColumn;
use crate::spec::Form;

/// A key with its default has at most this width; a longer one has a line of its own.
const KEY_WIDTH: usize = 20;

/// Writes forms with their keys and defaults, within a width and after an indentation.
pub fn write_forms(out: &mut dyn Write, indent: &str, width: usize, forms: &[&Form]) -> io::Result<()> {
    let names = forms.iter().map(|form| form.name.len()).max().unwrap_or(0);
    for form in forms {
        write_wrapped(out, &format!("{indent}{:<names$}  ", form.name), form.about, width)?;
        // Where there is little room, keys are below the names and not beside them.
        let names = if width >= 80 { names } else { 0 };
        for key in form.keys {
            let default = format!("{}={}", key.name, key.default);
            let about = format!("{}: {}", key.about, key.kind);
            let start = format!("{indent}{:names$}    {default:<KEY_WIDTH$}  ", "");
            if default.len() > KEY_WIDTH {
                writeln!(out, "{}", start.trim_end())?;
                write_wrapped(out, &format!("{indent}{:names$}    {:KEY_WIDTH$}  ", "", ""), &about, width)?;
            } else {
                write_wrapped(out, &start, &about, width)?;
            }
        }
    }
    Ok(())
}

/// Writes columns in their order, with their meanings, within a width and after an indentation.
pub fn write_columns(out: &mut dyn Write, indent: &str, width: usize, columns: &[ListedColumn]) -> io::Result<()> {
    let names = columns.iter().map(|column| column.name.len()).max().unwrap_or(0);
    for column in columns {
        let better = column.better.map_or(String::new(), |better| format!("; {} is better", better.name()));
        let only = match column.when.words() {
            "" => String::new(),
            words => format!("; only {words}"),
        };
        let about = format!("{}{better}{only}", column.about);
        write_wrapped(out, &format!("{indent}{:<names$}  ", column.name), &about, width)?;
    }
    Ok(())
}
