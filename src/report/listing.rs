//! Lists what users can choose: names, keys and defaults of specs; and the columns of results.

use std::io::{self, Write};

use crate::metrics::{Better, COLUMNS};
use crate::spec::Form;

/// Writes forms with their keys and defaults.
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

/// Writes the columns of results in their order, with their meanings.
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
