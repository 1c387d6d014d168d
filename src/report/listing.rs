//! What there is to choose from: names, keys, defaults and a line on each, from the forms that specs are checked by; and
//! the columns of results, from the table that they are made from.

use std::io::{self, Write};

use crate::metrics::{Better, COLUMNS};
use crate::spec::Form;

/// Forms with their keys and defaults.
pub fn write_forms(out: &mut dyn Write, forms: &[&Form]) -> io::Result<()> {
    let names = forms.iter().map(|form| form.name.len()).max().unwrap_or(0);
    for form in forms {
        writeln!(out, "{:<names$}  {}", form.name, form.about)?;
        let keys = form.keys.iter().map(|key| key.name.len() + 1 + key.default.len()).max().unwrap_or(0);
        for key in form.keys {
            let default = format!("{}={}", key.name, key.default);
            writeln!(out, "{:names$}    {default:<keys$}  {}: {}", "", key.about, key.kind)?;
        }
    }
    Ok(())
}

/// The columns of results in their order, with what they mean.
pub fn write_columns(out: &mut dyn Write) -> io::Result<()> {
    let names = COLUMNS.iter().map(|column| column.name.len()).max().unwrap_or(0);
    for column in COLUMNS {
        let better = match column.better {
            Some(Better::Lower) => "; lower is better",
            Some(Better::Higher) => "; higher is better",
            None => "",
        };
        writeln!(out, "{:<names$}  {}{better}", column.name, column.about)?;
    }
    Ok(())
}
