//! Keys that have several values in a list of specs: their columns in results, and their names in labels.

use litemap::LiteMap;

use super::Spec;

/// A key with different values in specs of one name in a list, such as `window` in `ruh:window=1..10,sbh`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweptKey {
    /// `window`.
    key: String,
    /// Its column in results: `predictor.window`.
    pub column: String,
    /// Its value, or its default, in each value of the list; empty if a spec does not have this key.
    pub values: Vec<String>,
}

impl SweptKey {
    /// Adds the value in the next spec of the list. None is a value of the list that is not a spec.
    pub fn push(&mut self, spec: Option<&Spec>) {
        self.values.push(spec.and_then(|spec| spec.get(&self.key)).unwrap_or_default().to_string());
    }
}

/// The keys in which specs of one name differ.
#[derive(Debug, Default)]
pub struct SweptKeys {
    /// The first spec of each name.
    first: LiteMap<&'static str, Spec>,
    /// In the order in which they were found.
    names: Vec<String>,
}

impl SweptKeys {
    /// Those of these specs.
    pub fn of<'a>(specs: impl IntoIterator<Item = &'a Spec>) -> SweptKeys {
        let mut keys = SweptKeys::default();
        specs.into_iter().for_each(|spec| keys.add(spec));
        keys
    }

    /// Adds a spec to those that are compared.
    pub fn add(&mut self, spec: &Spec) {
        let first = self.first.entry(spec.name()).or_insert_with(|| spec.clone());
        // Specs of one name have the same keys, but for those that their form does not have.
        let only_in_first = first.others().filter(|(key, _)| spec.get(key).is_none());
        let differ = spec.keys().filter(|(key, value)| first.get(key) != Some(value));
        for (key, _) in differ.chain(only_in_first) {
            if !self.names.iter().any(|name| name == key) {
                self.names.push(key.to_string());
            }
        }
    }

    /// Their names.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Their columns, without values.
    pub fn columns(&self, option: &str) -> Vec<SweptKey> {
        let column =
            |key: &String| SweptKey { key: key.clone(), column: format!("{option}.{key}"), values: Vec::new() };
        self.names.iter().map(column).collect()
    }
}
