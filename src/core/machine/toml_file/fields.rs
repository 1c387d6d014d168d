//! The values of a table of TOML, with errors that name the line.

use super::super::associations::factor;
use super::super::file_line::{ConfError, FileLine};
use crate::settings_file::{SettingsEntry, Value};
use crate::similar::did_you_mean;
use crate::text::shortened;
use crate::time::{Seconds, parse_duration};
use crate::tres::{MEMORY_FORM, parse_memory};

/// A table.
pub(super) struct TomlFields<'a> {
    /// Its name: `nodes` of `[[nodes]]`.
    pub table: &'static str,
    /// Where it begins.
    pub line: usize,
    pub entries: &'a [SettingsEntry],
}

impl<'a> TomlFields<'a> {
    /// Refuses a table with other keys than these.
    pub fn refuse_others(&self, keys: &[&str]) -> Result<(), ConfError> {
        match self.entries.iter().find(|entry| !keys.contains(&entry.key.as_str())) {
            None => Ok(()),
            Some(SettingsEntry { key, line, .. }) => {
                let (table, shown, meant) = (self.table, shortened(key), did_you_mean(key, keys.iter().copied()));
                let why = format!("{table}: no key '{shown}'; the keys are {}{meant}", keys.join(", "));
                Err(FileLine::of_line(*line).wrong(why))
            }
        }
    }

    fn entry(&self, key: &str) -> Option<&'a SettingsEntry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// The place of a key, or of the table if it does not have the key.
    pub fn place(&self, key: &str) -> FileLine {
        FileLine::of_line(self.entry(key).map_or(self.line, |entry| entry.line))
    }

    /// An error in the value of a key.
    pub fn wrong(&self, key: &str, why: impl AsRef<str>) -> ConfError {
        self.place(key).wrong(format!("{}: {key}: {}", self.table, why.as_ref()))
    }

    /// A value, or what is wrong with it.
    fn get<T>(&self, key: &str, read: impl Fn(&str) -> Result<T, String>) -> Result<Option<T>, ConfError> {
        let Some(entry) = self.entry(key) else { return Ok(None) };
        let text = match &entry.value {
            Value::Text(text) | Value::Number(text) => text,
            other => return Err(self.wrong(key, format!("a {} is neither a text nor a number", other.kind()))),
        };
        read(text).map(Some).map_err(|why| self.wrong(key, format!("{}: {why}", shortened(text))))
    }

    pub fn text(&self, key: &str) -> Result<Option<String>, ConfError> {
        self.get(key, |text| Ok(text.to_string()))
    }

    /// A text that must be there.
    pub fn required(&self, key: &str, example: &str) -> Result<String, ConfError> {
        match self.text(key)? {
            Some(text) if !text.is_empty() => Ok(text),
            _ => Err(self.wrong(key, format!("missing; write {key} = \"{example}\""))),
        }
    }

    /// A whole number of this range.
    pub fn number(&self, key: &str, least: u32, most: u32) -> Result<Option<u32>, ConfError> {
        let wrong = || format!("not a whole number from {least} to {most}");
        self.get(key, |text| text.parse().ok().filter(|n| (least..=most).contains(n)).ok_or_else(wrong))
    }

    pub fn factor(&self, key: &str) -> Result<Option<f64>, ConfError> {
        self.get(key, factor)
    }

    pub fn memory(&self, key: &str) -> Result<Option<u64>, ConfError> {
        self.get(key, |text| parse_memory(text).ok_or_else(|| MEMORY_FORM.to_string()))
    }

    pub fn duration(&self, key: &str) -> Result<Option<Seconds>, ConfError> {
        self.get(key, parse_duration)
    }

    pub fn switch(&self, key: &str) -> Result<Option<bool>, ConfError> {
        match self.entry(key).map(|entry| &entry.value) {
            None => Ok(None),
            Some(Value::Switch(on)) => Ok(Some(*on)),
            Some(other) => Err(self.wrong(key, format!("a {}; write true or false", other.kind()))),
        }
    }

    /// A list of texts, or one text with commas.
    pub fn list(&self, key: &str) -> Result<Option<Vec<String>>, ConfError> {
        let Some(entry) = self.entry(key) else { return Ok(None) };
        let wrong = |kind: &str| self.wrong(key, format!("a {kind}; write a list such as [\"a\", \"b\"]"));
        match &entry.value {
            Value::Text(text) => {
                Ok(Some(text.split(',').filter(|part| !part.is_empty()).map(str::to_string).collect()))
            }
            Value::List(items) => {
                let text = |item: &crate::settings_file::Item| match &item.value {
                    Value::Text(text) => Ok(text.clone()),
                    other => Err(wrong(other.kind())),
                };
                items.iter().map(text).collect::<Result<_, _>>().map(Some)
            }
            other => Err(wrong(other.kind())),
        }
    }

    /// A list of names of nodes: one text, or several in a list.
    pub fn hosts(&self, key: &str) -> Result<Option<String>, ConfError> {
        match self.entry(key).map(|entry| &entry.value) {
            Some(Value::List(_)) => Ok(self.list(key)?.map(|names| names.join(","))),
            _ => self.text(key),
        }
    }
}
