//! What there is to choose from: names, keys, defaults and a line on each, from the forms that specs are checked by.

use std::io::{self, Write};

use crate::spec::Form;

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
