//! Lists of specs, as options take them.

use std::collections::BTreeSet;

use super::expand::expand;
use super::split::split_list;
use super::swept::{SweptKey, SweptKeys};
use super::{Spec, SpecError};

/// Specs of an option in the order of a list.
#[derive(Clone, Debug)]
pub struct SpecList<T> {
    /// What was read. Each is printed with the defaults of swept keys, if they were written.
    pub items: Vec<T>,
    /// The keys that have several values in the list.
    pub keys: Vec<SweptKey>,
}

/// Reads a list of specs as [`expand`] does, each with `parse`. `option` is the name of the option without dashes. An
/// option that was given several times has several texts, which are one list.
///
/// # Errors
///
/// If the list has another form, `parse` refuses a spec, or two specs mean the same.
///
/// ```
/// # extern crate shadowtime_core as shadowtime;
/// use shadowtime::{predict, spec::parse_list};
/// let read = |text| parse_list("predictor", [text], predict::catalog::parse);
/// assert_eq!(read("sbh,ruh:window=1..10").unwrap().items.len(), 11);
/// assert_eq!(read("ruh,sbh,ruh:window=3").unwrap_err().to_string(), "the predictor ruh is given twice");
/// ```
pub fn parse_list<'a, T: AsMut<Spec>>(
    option: &str,
    texts: impl IntoIterator<Item = &'a str>,
    parse: impl Fn(&str) -> Result<T, SpecError>,
) -> Result<SpecList<T>, SpecError> {
    let mut items: Vec<T> = Vec::new();
    for text in texts {
        if split_list(text)?.iter().any(String::is_empty) {
            // The error for an empty spec lists the valid names.
            parse("")?;
        }
        for value in expand(option, text).map_err(SpecError)? {
            items.push(parse(&value)?);
        }
    }
    let specs: Vec<&mut Spec> = items.iter_mut().map(AsMut::as_mut).collect();
    // Equal rows of results would be told apart by nothing.
    let mut seen = BTreeSet::new();
    if let Some(twice) = specs.iter().find(|spec| !seen.insert(spec.to_string())) {
        return Err(SpecError(format!("the {option} {twice} is given twice")));
    }
    let swept = SweptKeys::of(specs.iter().map(|spec| &**spec));
    let mut keys = swept.columns(option);
    for spec in specs {
        keys.iter_mut().for_each(|key| key.push(Some(spec)));
        spec.show_written(swept.names());
    }
    Ok(SpecList { items, keys })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_list_of_all_texts_in_which_swept_defaults_are_printed() {
        let read = |texts: &[&str]| parse_list("predictor", texts.iter().copied(), crate::predict::catalog::parse);
        let list = read(&["ruh:window=2..3", "sbh"]).unwrap();
        assert_eq!(list.items.iter().map(Spec::to_string).collect::<Vec<_>>(), ["ruh:window=2", "ruh:window=3", "sbh"]);
        assert_eq!(
            (list.keys[0].column.as_str(), &list.keys[0].values[..2]),
            ("predictor.window", &["2".into(), "3".into()][..])
        );
        for twice in [&["ruh,ruh"][..], &["ruh", "ruh"], &["ruh:window={3|3}"], &["ruh", "ruh:window=1..5"]] {
            assert_eq!(read(twice).unwrap_err().to_string(), "the predictor ruh is given twice", "{twice:?}");
        }
    }
}
