//! Writes rows as CSV and JSON.

use std::borrow::Borrow;
use std::io::{self, Write};

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::digits::number_text;
use crate::metrics::Cell;
use crate::text::csv_text;

/// Writes an optional header line and one line per row. All rows must have the same columns.
pub fn write_csv<N: AsRef<str>>(out: &mut dyn Write, rows: &[Vec<(N, Cell)>], header: bool) -> io::Result<()> {
    let names = rows.first().filter(|_| header).map(|row| row.iter().map(|(name, _)| name));
    let cells = rows.iter().map(|row| row.iter().map(|(_, cell)| cell));
    write_csv_lines(out, names, cells)
}

/// Writes lines of CSV, after one of names: all CSV is written here. A text is on one line and no formula.
///
/// # Errors
/// If they cannot be written.
pub fn write_csv_lines<N: AsRef<str>, C: Borrow<Cell>, L: IntoIterator<Item = C>>(
    out: &mut dyn Write,
    names: Option<impl IntoIterator<Item = N>>,
    lines: impl IntoIterator<Item = L>,
) -> io::Result<()> {
    write_fields(out, names, lines).map_err(|error| match error.into_kind() {
        // As it is: a closed pipe is no error, and a full disk is named.
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    })
}

fn write_fields<N: AsRef<str>, C: Borrow<Cell>, L: IntoIterator<Item = C>>(
    out: &mut dyn Write,
    names: Option<impl IntoIterator<Item = N>>,
    lines: impl IntoIterator<Item = L>,
) -> csv::Result<()> {
    let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(Unflushed(out));
    let end = None::<&[u8]>;
    if let Some(names) = names {
        names.into_iter().try_for_each(|name| writer.write_field(&*csv_text(name.as_ref())))?;
        writer.write_record(end)?;
    }
    let mut digits = Vec::new();
    for line in lines {
        for cell in line {
            match cell.borrow() {
                Cell::Text(text) => writer.write_field(&*csv_text(text))?,
                Cell::Word(word) => writer.write_field(word)?,
                number => writer.write_field(number_text(&mut digits, number))?,
            }
        }
        writer.write_record(end)?;
    }
    Ok(writer.flush()?)
}

/// An output that ends a line without ending a part of a compressed file.
struct Unflushed<'a>(&'a mut dyn Write);

impl Write for Unflushed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// One row as a line of CSV, without a line end.
pub fn csv_line<N>(row: &[(N, Cell)]) -> String {
    let mut line = Vec::new();
    let cells = row.iter().map(|(_, cell)| cell);
    write_csv_lines(&mut line, None::<[&str; 0]>, [cells]).expect("memory can be written");
    line.pop();
    String::from_utf8(line).expect("cells are text")
}

/// Writes a row as one JSON object, with the columns and digits of CSV.
pub fn write_json<N: AsRef<str>>(out: &mut dyn Write, row: &[(N, Cell)]) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &JsonObject(row))?;
    out.write_all(b"\n")
}

/// A row as one JSON object on one line, without a line end.
pub fn json_line<N: AsRef<str>>(row: &[(N, Cell)]) -> String {
    serde_json::to_string(&JsonObject(row)).expect("cells can be written as JSON")
}

/// Writes rows as a JSON list of objects, as [`write_json`].
pub fn write_json_list<N: AsRef<str>>(out: &mut dyn Write, rows: &[Vec<(N, Cell)>]) -> io::Result<()> {
    let objects: Vec<_> = rows.iter().map(|row| JsonObject(row)).collect();
    serde_json::to_writer_pretty(&mut *out, &objects)?;
    out.write_all(b"\n")
}

/// Writes rows as a JSON list, one at a time: a list of any length takes no memory.
pub struct JsonRows<'a> {
    out: &'a mut dyn Write,
    count: u64,
}

impl<'a> JsonRows<'a> {
    /// Begins a list.
    pub fn new(out: &'a mut dyn Write) -> Self {
        JsonRows { out, count: 0 }
    }

    /// Writes a row on one line.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn push<N: AsRef<str>>(&mut self, row: &[(N, Cell)]) -> io::Result<()> {
        self.out.write_all(if self.count == 0 { b"[\n  " } else { b",\n  " })?;
        self.count += 1;
        Ok(serde_json::to_writer(&mut *self.out, &JsonObject(row))?)
    }

    /// Ends the list.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(self) -> io::Result<()> {
        self.out.write_all(if self.count == 0 { b"[]\n" } else { b"\n]\n" })
    }
}

struct JsonObject<'a, N>(&'a [(N, Cell)]);

impl<N: AsRef<str>> Serialize for JsonObject<'_, N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, cell) in self.0 {
            map.serialize_entry(name.as_ref(), cell)?;
        }
        map.end()
    }
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Cell::Text(text) => serializer.serialize_str(text),
            Cell::Word(word) => serializer.serialize_str(word),
            Cell::Count(count) => serializer.serialize_u64(*count),
            Cell::Whole(number) => serializer.serialize_i64(*number),
            // A whole number has no decimal point: numbers of jobs, and whole values of options.
            Cell::Number(_) if self.text().parse::<i64>().is_ok() => {
                self.text().parse::<i64>().ok().serialize(serializer)
            }
            // Parsed from the CSV text, so that both formats have the same number. What is not defined becomes null.
            Cell::Seconds(_) | Cell::Real(_) | Cell::Number(_) | Cell::None => {
                self.text().parse::<f64>().ok().serialize(serializer)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> Vec<(&'static str, Cell)> {
        vec![
            ("predictor", Cell::Text("ruh:window=2,cap=on".into())),
            ("jobs", Cell::Count(7)),
            ("wait_mean", Cell::Seconds(1.0 / 3.0)),
            ("gain", Cell::None),
        ]
    }

    #[test]
    fn csv_quotes_what_has_commas() {
        let mut out = Vec::new();
        write_csv(&mut out, &[row()], true).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "predictor,jobs,wait_mean,gain\n\"ruh:window=2,cap=on\",7,0.333,\n"
        );
        let mut out = Vec::new();
        write_csv(&mut out, &[row(), row()], false).unwrap();
        // Both ways of writing a line must agree.
        assert_eq!(String::from_utf8(out).unwrap(), format!("{0}\n{0}\n", csv_line(&row())));
        assert_eq!(csv_line(&[("", Cell::Text("say \"a,b\"".into())), ("", Cell::None)]), "\"say \"\"a,b\"\"\",");
    }

    #[test]
    fn text_from_outside_is_one_cell_and_no_formula() {
        let row = vec![
            ("=name", Cell::Text("=1+1,\u{1b}[31m\n2".into())),
            ("gain", Cell::Real(-0.5)),
            ("change", Cell::Number(-2.5)),
            ("load", Cell::Text("-1.5".into())),
        ];
        let mut out = Vec::new();
        write_csv(&mut out, std::slice::from_ref(&row), true).unwrap();
        let line = "\"'=1+1,\\u{1b}[31m\\n2\",-0.500000,-2.5,-1.5";
        assert_eq!(String::from_utf8(out).unwrap(), format!("'=name,gain,change,load\n{line}\n"));
        assert_eq!(csv_line(&row), line);
    }

    #[test]
    fn json_has_numbers_and_nulls() {
        let mut out = Vec::new();
        write_json(&mut out, &row()).unwrap();
        let value: serde_json::Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(
            value,
            serde_json::json!({"predictor": "ruh:window=2,cap=on", "jobs": 7, "wait_mean": 0.333, "gain": null})
        );
    }
}
