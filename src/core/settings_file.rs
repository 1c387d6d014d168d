//! Reads files of settings: text up to a maximum size, and TOML with line numbers.
//!
//! Every error in such a file is reported with its line. [`parse`] reports what is not TOML. For wrong contents, the caller
//! uses the line of each [`SettingsEntry`] and [`Item`]. The TOML parser limits the depth of nesting.

use litemap::LiteMap;
use std::io::Read;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use toml::de::{DeTable, DeValue};

use crate::files;
use crate::text::shortened;

const MIB: usize = 1 << 20;

/// The maximum size of a file of templates, in bytes.
pub const MOST_OF_TEMPLATES: usize = MIB;
/// The maximum size of a file of sites, in bytes.
pub const MOST_OF_SITES: usize = MIB;
/// The maximum size of a slurm.conf or another file with a machine, in bytes.
pub const MOST_OF_SITE: usize = MIB;
/// The maximum size of a file of associations, in bytes. A site may have tens of thousands of users.
pub const MOST_OF_ASSOCIATIONS: usize = 8 * MIB;
/// The maximum size of a file of shares, in bytes.
pub const MOST_OF_SHARES: usize = MIB;
/// The maximum size of the grid of a sweep, in bytes. It may list many logs.
pub const MOST_OF_GRID: usize = 64 * MIB;

/// Reads a text file of at most `most` bytes. A byte order mark is skipped, and every line ends with a newline alone, as if
/// the file came from Unix.
///
/// # Errors
/// If the file cannot be read, is larger or is not UTF-8; the message names the file. It never reads more than the limit, so
/// an endless device such as `/dev/zero` is an error too.
pub fn read_text(path: &Path, most: usize) -> Result<String, String> {
    let name = path.display();
    let failed = |error| format!("cannot read {name}: {error}");
    let mut bytes = Vec::new();
    files::open(path).map_err(failed)?.take(most as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() > most {
        return Err(format!("{name} is longer than {} MiB, the limit for such a file", most / MIB));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let line = 1 + error.as_bytes()[..error.utf8_error().valid_up_to()].iter().filter(|&&b| b == b'\n').count();
        format!("{name}: line {line}: not UTF-8 text")
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    Ok(text.replace("\r\n", "\n").replace('\r', "\n"))
}

/// What files say. Each is read once by a process: all its runs follow the same content, and it may be a pipe.
pub(crate) struct ReadOnce<T>(Mutex<LiteMap<String, Arc<T>>>);

impl<T> ReadOnce<T> {
    /// No file has been read.
    pub const fn new() -> ReadOnce<T> {
        ReadOnce(Mutex::new(LiteMap::new()))
    }

    /// What the file of this name says, by `read` for the first time.
    ///
    /// # Errors
    /// As `read`. The next call reads again.
    pub fn get(&self, file: &str, read: impl FnOnce() -> Result<T, String>) -> Result<Arc<T>, String> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(said) = known.get(file) {
            return Ok(Arc::clone(said));
        }
        let said = Arc::new(read()?);
        known.insert(file.to_string(), Arc::clone(&said));
        Ok(said)
    }
}

/// The text of a slurm.conf or of a machine as [`read_text`], once: the same file may be both, and a pipe.
pub(crate) fn site_text(file: &str) -> Result<Arc<String>, String> {
    static TEXTS: ReadOnce<String> = ReadOnce::new();
    TEXTS.get(file, || read_text(Path::new(file), MOST_OF_SITE))
}

/// A key with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct SettingsEntry {
    /// Without quotes. A dotted key `a.b` is an entry `a` whose value is a table with an entry `b`.
    pub key: String,
    /// The line of the key, counted from 1.
    pub line: usize,
    /// Its value; lists and tables contain further lines.
    pub value: Value,
}

/// A value in a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// The line where it begins, counted from 1.
    pub line: usize,
    /// The value itself.
    pub value: Value,
}

/// A TOML value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A string, without its quotes.
    Text(String),
    /// A number as it is printed: `1_000` becomes `1000`, `0x10` becomes `16`, `1.50` becomes `1.5`.
    Number(String),
    /// `true` or `false`.
    Switch(bool),
    /// A date or a time, which no setting uses.
    Date(String),
    /// An array.
    List(Vec<Item>),
    /// A table, in the order of the file.
    Table(Vec<SettingsEntry>),
}

impl Value {
    /// The value as written after an option of the command line. None for a date, a list or a table.
    pub fn option_text(&self) -> Option<String> {
        match self {
            Value::Text(text) | Value::Number(text) => Some(text.clone()),
            Value::Switch(on) => Some(if *on { "on" } else { "off" }.to_string()),
            Value::Date(_) | Value::List(_) | Value::Table(_) => None,
        }
    }

    /// The type of the value, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Text(_) => "text",
            Value::Number(_) => "number",
            Value::Switch(_) => "true or false",
            Value::Date(_) => "date",
            Value::List(_) => "list",
            Value::Table(_) => "table",
        }
    }
}

/// Reads TOML. The entries are in the order of the file.
///
/// # Errors
/// If the text is not TOML or has too large a number; the message names the line.
pub fn parse(text: &str) -> Result<Vec<SettingsEntry>, String> {
    let lines = LineNumbers::new(text);
    let table = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        let (line, read) = lines.at(at);
        let why = error.message().trim_end().replace('\n', ", ");
        format!("line {line}: not TOML: {why}: '{}'", shortened(read))
    })?;
    entries(table.get_ref(), &lines)
}

fn entries(table: &DeTable<'_>, lines: &LineNumbers<'_>) -> Result<Vec<SettingsEntry>, String> {
    let entry = |(key, value): (&toml::Spanned<std::borrow::Cow<'_, str>>, &toml::Spanned<DeValue<'_>>)| {
        let line = lines.at(key.span().start).0;
        Ok(SettingsEntry { key: key.get_ref().to_string(), line, value: read_value(value, lines)? })
    };
    table.iter().map(entry).collect()
}

fn read_value(value: &toml::Spanned<DeValue<'_>>, lines: &LineNumbers<'_>) -> Result<Value, String> {
    let line = lines.at(value.span().start).0;
    let too_large = |text: &str| format!("line {line}: too large a number: {}", shortened(text));
    Ok(match value.get_ref() {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => Value::Number(number.to_string()),
            Err(_) => return Err(too_large(number.as_str())),
        },
        DeValue::Float(number) => match number.as_str().parse::<f64>() {
            Ok(value) if value.is_finite() || number.as_str().contains(['n', 'N']) => Value::Number(value.to_string()),
            _ => return Err(too_large(number.as_str())),
        },
        DeValue::Boolean(on) => Value::Switch(*on),
        DeValue::Datetime(date) => Value::Date(date.to_string()),
        DeValue::Array(items) => {
            let item =
                |item| Ok(Item { line: lines.at(toml::Spanned::span(item).start).0, value: read_value(item, lines)? });
            Value::List(items.iter().map(item).collect::<Result<_, String>>()?)
        }
        DeValue::Table(table) => Value::Table(entries(table, lines)?),
    })
}

/// Converts byte offsets to line numbers.
struct LineNumbers<'a> {
    text: &'a str,
    /// The offsets of the beginnings of lines.
    starts: Vec<usize>,
}

impl<'a> LineNumbers<'a> {
    fn new(text: &'a str) -> Self {
        LineNumbers { text, starts: std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect() }
    }

    /// The number, counted from 1, and the text of the line that contains a byte.
    fn at(&self, byte: usize) -> (usize, &'a str) {
        let line = self.starts.partition_point(|&start| start <= byte);
        (line, self.text[self.starts[line - 1]..].lines().next().unwrap_or(""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_know_their_lines() {
        let text = "# a comment\nload = [\n  0.80,\n  \"1..2\", # more\n]\n\n[[site]]\nname = 'A'\nprocs = 0x10\n\n[[site]]\n\
                    strict = true\nday = 2020-01-01\n";
        let entries = parse(text).unwrap();
        let lines: Vec<_> = entries.iter().map(|entry| (entry.key.as_str(), entry.line)).collect();
        assert_eq!(lines, [("load", 2), ("site", 7)]);
        let item = |line, value| Item { line, value };
        let numbers = vec![item(3, Value::Number("0.8".into())), item(4, Value::Text("1..2".into()))];
        assert_eq!(entries[0].value, Value::List(numbers));
        let entry = |key: &str, line, value| SettingsEntry { key: key.to_string(), line, value };
        let first = vec![entry("name", 8, Value::Text("A".into())), entry("procs", 9, Value::Number("16".into()))];
        let second = vec![entry("strict", 12, Value::Switch(true)), entry("day", 13, Value::Date("2020-01-01".into()))];
        assert_eq!(entries[1].value, Value::List(vec![item(7, Value::Table(first)), item(11, Value::Table(second))]));
    }

    #[test]
    fn errors_name_the_line() {
        for (text, line, why) in [
            ("\n\nload 5\n", 3, "'load 5'"),
            ("a = 1\na = 2", 2, "duplicate key"),
            ("a = 99999999999999999999", 1, "too large a number"),
            ("\na = 1e999", 2, "too large a number"),
            ("a = [\n1,\n2", 3, "not TOML"),
            ("= 3", 1, "not TOML"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.starts_with(&format!("line {line}: ")) && error.contains(why), "{text}: {error}");
        }
        assert_eq!(parse("").unwrap(), []);
    }

    #[test]
    fn deep_nesting_is_an_error_at_once() {
        for text in [
            format!("a = {}", "[".repeat(20_000)),
            format!("a = {}{}", "[".repeat(20_000), "]".repeat(20_000)),
            format!("a = {}1{}", "{a=".repeat(20_000), "}".repeat(20_000)),
            format!("a = {}", "[{a=".repeat(20_000)),
            format!("a{} = 1", ".a".repeat(20_000)),
            format!("[a{}]", ".a".repeat(20_000)),
        ] {
            let error = parse(&text).unwrap_err();
            assert!(error.len() < 400, "{error}");
        }
    }

    #[test]
    fn files_are_read_up_to_their_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, vec![b'#'; MIB]).unwrap();
        assert_eq!(read_text(&path, MIB).unwrap().len(), MIB);
        std::fs::write(&path, vec![b'#'; MIB + 1]).unwrap();
        assert!(read_text(&path, MIB).unwrap_err().ends_with("file is longer than 1 MiB, the limit for such a file"));
        std::fs::write(&path, "\u{feff}a\r\nb\rc\n").unwrap();
        assert_eq!(read_text(&path, MIB).unwrap(), "a\nb\nc\n");
        std::fs::write(&path, b"a\nb\n\xff").unwrap();
        assert!(read_text(&path, MIB).unwrap_err().ends_with("file: line 3: not UTF-8 text"));
        assert!(read_text(folder.path(), MIB).unwrap_err().starts_with("cannot read "));
    }
}
