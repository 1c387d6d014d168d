//! Reads an output: plain or compressed CSV with a header.

use std::fmt;
use std::io::{self, BufRead};

use csv::{ByteRecord, ErrorKind, Reader};

use super::outputs::KnownOutput;
use crate::text::{counted, shortened};
use crate::trace::Source;

/// Why two outputs cannot be compared.
#[derive(Debug)]
pub enum CompareError {
    /// An output cannot be read, or the two do not fit together. The text is the whole message.
    Input(String),
    /// The differences cannot be written.
    Output(io::Error),
}

impl fmt::Display for CompareError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CompareError::Input(text) => f.write_str(text),
            CompareError::Output(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CompareError {}

/// An output that is being read.
pub struct Input {
    pub name: String,
    pub header: Vec<String>,
    pub output: KnownOutput,
    rows: Reader<Box<dyn BufRead>>,
}

impl Input {
    /// Opens an output and reads its header.
    pub fn open(source: &Source) -> Result<Input, CompareError> {
        let name = source.name();
        let wrong = |why: &str| CompareError::Input(format!("{name}: {why}"));
        if let Source::File(path) = source
            && path.is_dir()
        {
            return Err(wrong("it is a folder; give a CSV file, such as the results.csv in the folder of a sweep"));
        }
        let input = source.open().map_err(|error| CompareError::Input(error.to_string()))?;
        let mut rows = csv::ReaderBuilder::new().has_headers(false).from_reader(input);
        let mut first = ByteRecord::new();
        if !rows.read_byte_record(&mut first).map_err(|error| unreadable(&name, error))? {
            return Err(wrong("it is empty"));
        }
        let header: Option<Vec<String>> =
            first.iter().map(|cell| std::str::from_utf8(cell).ok().map(str::to_string)).collect();
        let header = header.filter(|header| header.iter().all(|name| !name.contains('\0')));
        let Some(mut header) = header else { return Err(wrong("it is not a text file")) };
        // Some spreadsheets write a mark before the first name.
        if let Some(name) = header[0].strip_prefix('\u{feff}') {
            header[0] = name.to_string();
        }
        let Some(output) = KnownOutput::of(&header) else {
            let line = header.join(",");
            return Err(wrong(&format!(
                "its first line is not the header of an output that can be compared: '{}' (was it written with --no-header, or with \
                 another --format than csv?)",
                shortened(&line)
            )));
        };
        if let Some(twice) = header.iter().enumerate().find(|(at, name)| header[..*at].contains(name)) {
            return Err(wrong(&format!("it has two columns '{}'", shortened(twice.1))));
        }
        Ok(Input { name, header, output, rows })
    }

    /// Reads the next row. False at the end.
    pub fn read(&mut self, row: &mut ByteRecord) -> Result<bool, CompareError> {
        self.rows.read_byte_record(row).map_err(|error| unreadable(&self.name, error))
    }

    /// The index of a column.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.header.iter().position(|column| column == name)
    }
}

fn unreadable(name: &str, error: csv::Error) -> CompareError {
    let text = match error.kind() {
        ErrorKind::UnequalLengths { pos, expected_len, len } => {
            let line = pos.as_ref().map_or(0, csv::Position::line);
            let cells = counted(*len, "cell");
            format!("{name}: line {line} has {cells}, the header has {expected_len}; is the file complete?")
        }
        ErrorKind::Io(error) => {
            format!("cannot read {name}: {error}; if it is compressed, it may be damaged or not complete")
        }
        _ => format!("{name}: {error}"),
    };
    CompareError::Input(text)
}
