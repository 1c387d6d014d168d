//! Specs: texts `name:key=value,key=value` that define a predictor or a scheduler.
//!
//! The same text is the argument on the command line, the label in results and the key of a run. A [`Form`] defines the
//! valid texts. [`Spec::parse`] checks a text against a list of forms, and printing a [`Spec`] gives the shortest
//! equivalent text. An unknown name, key or value is an error that lists the choices.
//!
//! A value with commas, braces or equals signs is written in double quotes: `exec:command="python3 my.py --sizes=1,2"`.
//!
//! Options that take several specs read them with [`parse_list`], or with [`expand`] if they need the texts.

mod catalog;
mod expand;
mod kind;
mod list;
mod range;
mod split;
mod swept;

use litemap::LiteMap;
use std::fmt;

pub use catalog::Catalog;
pub use expand::{expand, literal};
pub use kind::Kind;
pub use list::{SpecList, parse_list};
pub use split::{quote, split_list, unquote};
pub use swept::{SweptKey, SweptKeys};

use kind::KeyValues;
use split::{is_key, quote_if_needed, split_at_commas};

use crate::similar::did_you_mean;
use crate::time::{Seconds, parse_duration};

/// The form of a spec: a name and its keys.
#[derive(Debug)]
pub struct Form {
    /// As written before the colon.
    pub name: &'static str,
    /// One line that `sim list` prints.
    pub about: &'static str,
    /// All keys; each is optional. If the last one is of [`Kind::Others`], the form takes any other key too.
    pub keys: &'static [Key],
}

/// A key of a form.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// As written before the equals sign.
    pub name: &'static str,
    /// Which values are valid.
    pub kind: Kind,
    /// The value if the key is not given, as it is printed.
    pub default: &'static str,
    /// One line that `sim list` prints.
    pub about: &'static str,
}

impl Key {
    /// A key of any kind.
    pub const fn new(name: &'static str, kind: Kind, default: &'static str, about: &'static str) -> Key {
        Key { name, kind, default, about }
    }

    /// A key whose value is one of these words. The first one is the default.
    pub const fn choice(name: &'static str, words: &'static [&'static str], about: &'static str) -> Key {
        Key::new(name, Kind::Choice(words), words[0], about)
    }

    /// A key whose value is a duration of at least so many seconds.
    pub const fn duration(name: &'static str, least: Seconds, default: &'static str, about: &'static str) -> Key {
        Key::new(name, Kind::Duration { least }, default, about)
    }

    /// A key whose value is a whole number of at least this.
    pub const fn whole(name: &'static str, least: i64, default: &'static str, about: &'static str) -> Key {
        Key::new(name, Kind::Whole { least }, default, about)
    }
}

/// An invalid spec. The message lists what is valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecError(pub String);

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SpecError {}

/// A form with a value for each of its keys.
#[derive(Clone, Debug)]
pub struct Spec {
    form: &'static Form,
    /// Those of the form, in its order, then those of [`Kind::Others`], in order of their names.
    keys: Vec<SpecKey>,
}

/// A key of a spec.
#[derive(Clone, Debug)]
struct SpecKey {
    name: String,
    /// As it is printed, without quotes.
    value: String,
    is_written: bool,
    /// Whether it is printed in the shortest text.
    is_shown: bool,
}

impl Spec {
    /// Reads `text` as one of `forms`. `what` is the word for such a form in messages, such as "predictor".
    ///
    /// # Errors
    /// If the name, a key or a value is invalid, or a key is given twice.
    pub fn parse(text: &str, what: &str, forms: &[&'static Form]) -> Result<Spec, SpecError> {
        let (name, rest) = text.split_once(':').map_or((text, None), |(name, rest)| (name, Some(rest)));
        let Some(form) = forms.iter().find(|form| form.name == name) else {
            let names: Vec<_> = forms.iter().map(|form| form.name).collect();
            let many = what.strip_suffix('y').map_or(format!("{what}s"), |stem| format!("{stem}ies"));
            let meant = did_you_mean(name, names.iter().copied());
            return Err(SpecError(format!("unknown {what} '{name}': the {many} are {}{meant}", names.join(", "))));
        };
        let wrong = |why: String| SpecError(format!("{what} '{text}': {why}"));
        let pieces = match rest {
            None => Vec::new(),
            Some("") => return Err(wrong(format!("nothing follows the colon; write {name}, or {name}:key=value"))),
            Some(rest) => split_at_commas(rest).map_err(wrong)?,
        };
        let mut written: LiteMap<&str, String> = LiteMap::new();
        for piece in pieces {
            let is_switch = |key: &&Key| key.name == piece && matches!(key.kind, Kind::Switch);
            // A switch without a value is on.
            let pair = piece.split_once('=').or_else(|| form.keys.iter().find(is_switch).map(|key| (key.name, "on")));
            let Some((key, value)) = pair else {
                return Err(wrong(format!("'{piece}' is not key=value; {}", form.keys_in_words())));
            };
            let value = unquote(value).unwrap_or(value.to_string());
            let value = match form.own_keys().iter().find(|own| own.name == key) {
                Some(own) => own.kind.canonical(&value).map_err(|why| wrong(format!("{key}: {why}")))?,
                None if form.takes_others() && is_key(key) => value,
                None => {
                    let meant = did_you_mean(key, form.keys.iter().map(|key| key.name));
                    return Err(wrong(format!("no key '{key}'; {}{meant}", form.keys_in_words())));
                }
            };
            if written.insert(key, value).is_some() {
                return Err(wrong(format!("the key '{key}' is given twice")));
            }
        }
        let defaults = form.defaults(&written).map_err(wrong)?;
        let own = form.own_keys().iter().map(|key| {
            let of_file = defaults.iter().find(|(name, _)| *name == key.name);
            let default = of_file.map_or(key.default, |(_, value)| value);
            let value = written.remove(key.name);
            let (is_written, value) = (value.is_some(), value.unwrap_or_else(|| default.to_string()));
            SpecKey { name: key.name.to_string(), is_shown: value != default, value, is_written }
        });
        let mut keys: Vec<SpecKey> = own.collect();
        let others = written.into_iter().map(|(name, value)| (name.to_string(), value));
        keys.extend(others.map(|(name, value)| SpecKey { name, value, is_written: true, is_shown: true }));
        Ok(Spec { form, keys })
    }

    /// The part before the colon.
    pub fn name(&self) -> &'static str {
        self.form.name
    }

    /// The spec with all keys, including the defaults.
    pub fn in_full(&self) -> String {
        self.print(|_| true)
    }

    /// From now on those of these keys are printed that were written, even if they have their defaults: a value in a list of
    /// values has the same form as the others.
    pub fn show_written(&mut self, keys: &[impl AsRef<str>]) {
        for key in self.keys.iter_mut().filter(|key| key.is_written) {
            key.is_shown |= keys.iter().any(|shown| shown.as_ref() == key.name);
        }
    }

    /// The names of all keys with their values, without quotes: those of the form, then those of [`Kind::Others`].
    pub fn keys(&self) -> impl Iterator<Item = (&str, &str)> {
        self.keys.iter().map(|key| (key.name.as_str(), key.value.as_str()))
    }

    /// The keys that were written, with their values, without quotes.
    pub fn written(&self) -> impl Iterator<Item = (&str, &str)> {
        self.keys().zip(&self.keys).filter(|(_, key)| key.is_written).map(|(pair, _)| pair)
    }

    /// The keys that the form does not have, in order of their names, with their values. See [`Kind::Others`].
    pub fn others(&self) -> impl Iterator<Item = (&str, &str)> {
        self.keys().skip(self.form.own_keys().len())
    }

    /// The value of a key as it is printed. None if the form has no such key.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.keys().find(|(name, _)| *name == key).map(|(_, value)| value)
    }

    /// The value of a key of [`Kind::Whole`]. Panics if it has another kind, or as [`Spec::text`].
    pub fn whole(&self, key: &str) -> i64 {
        self.text(key).parse().expect("a whole number was checked when it was read")
    }

    /// The value of a key of [`Kind::Real`]. Panics if it has another kind, or as [`Spec::text`].
    pub fn real(&self, key: &str) -> f64 {
        self.text(key).parse().expect("a number was checked when it was read")
    }

    /// The value in seconds of a key of [`Kind::Duration`] or [`Kind::Seconds`]. Panics if it has another kind, or as
    /// [`Spec::text`].
    pub fn duration(&self, key: &str) -> Seconds {
        parse_duration(self.text(key)).expect("a duration was checked when it was read")
    }

    /// Whether a key of [`Kind::Switch`] is on. Panics as [`Spec::text`].
    pub fn switch(&self, key: &str) -> bool {
        self.text(key) == "on"
    }

    /// The value of a key as it is printed.
    ///
    /// # Panics
    /// If the form has no such key, which is an error in the program and not in its input.
    pub fn text(&self, key: &str) -> &str {
        self.get(key).unwrap_or_else(|| panic!("the form '{}' has no key '{key}'", self.form.name))
    }

    fn print(&self, is_wanted: impl Fn(&SpecKey) -> bool) -> String {
        let pair = |key: &SpecKey| format!("{}={}", key.name, quote_if_needed(&key.value));
        let pairs: Vec<_> = self.keys.iter().filter(|key| is_wanted(key)).map(pair).collect();
        if pairs.is_empty() { self.form.name.to_string() } else { format!("{}:{}", self.form.name, pairs.join(",")) }
    }
}

/// Prints the shortest equivalent text: only the keys that differ from the defaults, and those of [`Spec::show_written`].
impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.print(|key| key.is_shown))
    }
}

/// Specs are equal that mean the same, however they are written.
impl PartialEq for Spec {
    fn eq(&self, other: &Spec) -> bool {
        self.in_full() == other.in_full()
    }
}

impl AsMut<Spec> for Spec {
    fn as_mut(&mut self) -> &mut Spec {
        self
    }
}

impl Form {
    /// Whether the form takes keys that it does not have.
    pub fn takes_others(&self) -> bool {
        self.keys.last().is_some_and(|key| matches!(key.kind, Kind::Others))
    }

    /// The keys without that of [`Kind::Others`].
    pub fn own_keys(&self) -> &'static [Key] {
        &self.keys[..self.keys.len() - usize::from(self.takes_others())]
    }

    /// The defaults that a file sets, if a key of [`Kind::Defaults`] is written.
    fn defaults(&self, written: &LiteMap<&str, String>) -> Result<KeyValues, String> {
        let of_key = |key: &Key| match key.kind {
            Kind::Defaults { read, .. } => written.get(key.name).filter(|file| !file.is_empty()).map(|file| read(file)),
            _ => None,
        };
        let read = self.own_keys().iter().find_map(|key| of_key(key).map(|read| (key.name, read)));
        read.map_or(Ok(Vec::new()), |(key, read)| read.map_err(|why| format!("{key}: {why}")))
    }

    fn keys_in_words(&self) -> String {
        if self.keys.is_empty() {
            return format!("{} takes no keys", self.name);
        }
        let names: Vec<_> = self.keys.iter().map(|key| key.name).collect();
        format!("the keys of {} are {}", self.name, names.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: &[Key] = &[
        Key { name: "window", kind: Kind::Whole { least: 1 }, default: "3", about: "" },
        Key { name: "think", kind: Kind::Duration { least: 1 }, default: "20m", about: "" },
        Key { name: "start", kind: Kind::Seconds { least: 0 }, default: "1", about: "" },
        Key { name: "cap", kind: Kind::Switch, default: "off", about: "" },
        Key { name: "metric", kind: Kind::Choice(&["median", "mean"]), default: "median", about: "" },
        Key {
            name: "set",
            kind: Kind::Text { what: "a set", canonical: |text| Ok(text.to_string()) },
            default: "()",
            about: "",
        },
    ];
    const OPEN: &[Key] = &[
        Key {
            name: "command",
            kind: Kind::Text { what: "a text", canonical: |text| Ok(text.to_string()) },
            default: "",
            about: "",
        },
        Key { name: "KEY", kind: Kind::Others, default: "", about: "" },
    ];
    const WITH_FILE: &[Key] = &[
        Key {
            name: "conf",
            kind: Kind::Defaults { what: "a file", read: |file| Ok(vec![("depth", file.len().to_string())]) },
            default: "",
            about: "",
        },
        Key { name: "depth", kind: Kind::Whole { least: 1 }, default: "3", about: "" },
        Key { name: "width", kind: Kind::Whole { least: 1 }, default: "3", about: "" },
    ];
    const FORMS: &[&Form] = &[
        &Form { name: "plain", about: "", keys: &[] },
        &Form { name: "rich", about: "", keys: KEYS },
        &Form { name: "open", about: "", keys: OPEN },
        &Form { name: "site", about: "", keys: WITH_FILE },
    ];

    fn parse(text: &str) -> Result<Spec, String> {
        Spec::parse(text, "predictor", FORMS).map_err(|e| e.to_string())
    }

    #[test]
    fn prints_the_shortest_text_that_means_the_same() {
        for (text, short) in [
            ("plain", "plain"),
            ("rich", "rich"),
            ("rich:window=3", "rich"),
            ("rich:cap=on,window=05", "rich:window=5,cap=on"),
            ("rich:cap,window=5", "rich:window=5,cap=on"),
            ("rich:think=120", "rich:think=2m"),
            ("rich:think=1200", "rich"),
            ("rich:start=2m", "rich:start=120"),
            ("rich:start=1s", "rich"),
            ("rich:set=(a,b=1);(c),cap=on", "rich:cap=on,set=(a,b=1);(c)"),
        ] {
            let spec = parse(text).unwrap();
            assert_eq!(spec.to_string(), short);
            assert_eq!(parse(short).unwrap().to_string(), short);
            assert_eq!(parse(&spec.in_full()).unwrap().to_string(), short);
        }
        assert_eq!(
            parse("rich:cap=on").unwrap().in_full(),
            "rich:window=3,think=20m,start=1,cap=on,metric=median,set=()"
        );
    }

    #[test]
    fn values_are_read_as_what_they_are() {
        let spec = parse("rich:window=7,think=1h,cap=on,metric=mean").unwrap();
        assert_eq!((spec.name(), spec.whole("window"), spec.duration("think")), ("rich", 7, 3600));
        assert_eq!((spec.switch("cap"), spec.text("metric")), (true, "mean"));
        assert_eq!((spec.get("start"), spec.get("none")), (Some("1"), None));
    }

    #[test]
    fn a_value_with_commas_braces_or_equals_signs_is_in_quotes() {
        for (text, command, printed) in [
            ("open:command=python3 my.py", "python3 my.py", "open:command=python3 my.py"),
            ("open:command=\"python3 my.py\"", "python3 my.py", "open:command=python3 my.py"),
            (r#"open:command="a --b=1,2 {c}""#, "a --b=1,2 {c}", r#"open:command="a --b=1,2 {c}""#),
            (r#"open:command="a \"b\" \\""#, r#"a "b" \"#, r#"open:command="a \"b\" \\""#),
            (r#"open:command=a "b,c""#, r#"a "b,c""#, r#"open:command="a \"b,c\"""#),
            ("open:command=\"a(\"", "a(", "open:command=\"a(\""),
            ("open:command=(a,b=1)", "(a,b=1)", "open:command=(a,b=1)"),
            ("open:command=\"1..3\"", "1..3", "open:command=\"1..3\""),
            ("open", "", "open"),
        ] {
            let spec = parse(text).unwrap();
            assert_eq!((spec.text("command"), &*spec.to_string()), (command, printed), "{text}");
            assert_eq!(parse(printed).unwrap().text("command"), command, "{text}");
            assert_eq!(expand("predictor", printed).unwrap(), [printed], "{text}");
        }
        assert_eq!(parse("rich:window=\"7\"").unwrap().to_string(), "rich:window=7");
    }

    #[test]
    fn a_form_may_take_other_keys() {
        let spec = parse("open:size=3,command=x,depth=\"a,b\"").unwrap();
        assert_eq!(spec.to_string(), "open:command=x,depth=\"a,b\",size=3");
        assert_eq!(spec.others().collect::<Vec<_>>(), [("depth", "a,b"), ("size", "3")]);
        assert_eq!((spec.text("command"), spec.get("size"), spec.get("none")), ("x", Some("3"), None));
        assert_eq!(parse(&spec.in_full()).unwrap().to_string(), spec.to_string());
        for (text, message) in [
            ("open:size=3,size=4", "the key 'size' is given twice"),
            ("open:size", "'size' is not key=value"),
            ("open:a b=3", "no key 'a b'"),
            ("open:KEY", "'KEY' is not key=value"),
        ] {
            assert!(parse(text).unwrap_err().contains(message), "{text}");
        }
    }

    /// What is written differs from the file's value, not from that of the form.
    #[test]
    fn a_file_has_the_defaults_of_other_keys() {
        for (text, printed, in_full) in [
            ("site:conf=12345", "site:conf=12345", "site:conf=12345,depth=5,width=3"),
            ("site:depth=3,conf=12345", "site:conf=12345,depth=3", "site:conf=12345,depth=3,width=3"),
            ("site:depth=5,conf=12345,width=4", "site:conf=12345,width=4", "site:conf=12345,depth=5,width=4"),
            ("site:depth=3", "site", "site:conf=,depth=3,width=3"),
        ] {
            let spec = parse(text).unwrap();
            assert_eq!((spec.to_string().as_str(), spec.in_full().as_str()), (printed, in_full));
            assert_eq!(parse(printed).unwrap().in_full(), in_full);
        }
    }

    #[test]
    fn a_written_default_can_be_kept() {
        let showing = |text: &str, keys: &[&str]| {
            let mut spec = parse(text).unwrap();
            spec.show_written(keys);
            spec.to_string()
        };
        let text = "rich:cap=on,window=03,metric=median";
        assert_eq!(showing(text, &[]), "rich:cap=on");
        assert_eq!(showing(text, &["window", "think"]), "rich:window=3,cap=on");
        assert_eq!(showing("rich", &["window"]), "rich");
    }

    #[test]
    fn errors_list_the_choices() {
        for (text, message) in [
            ("", "unknown predictor '': the predictors are plain, rich, open, site"),
            ("poor", "unknown predictor 'poor': the predictors are plain, rich, open, site"),
            ("rihc", "unknown predictor 'rihc': the predictors are plain, rich, open, site; did you mean 'rich'?"),
            (
                "rich:metric=maen",
                "predictor 'rich:metric=maen': metric: 'maen' is not one of median, mean; did you mean 'mean'?",
            ),
            ("plain:window=1", "predictor 'plain:window=1': no key 'window'; plain takes no keys"),
            ("rich:", "predictor 'rich:': nothing follows the colon; write rich, or rich:key=value"),
            (
                "rich:5",
                "predictor 'rich:5': '5' is not key=value; the keys of rich are window, think, start, cap, metric, set",
            ),
            (
                "rich:win=5",
                "predictor 'rich:win=5': no key 'win'; the keys of rich are window, think, start, cap, metric, set; did you \
                 mean 'window'?",
            ),
            ("rich:window=0", "predictor 'rich:window=0': window: '0' is not a whole number of at least 1"),
            ("rich:window=x", "predictor 'rich:window=x': window: 'x' is not a whole number of at least 1"),
            ("rich:think=0", "predictor 'rich:think=0': think: '0' is not a duration of at least 1s"),
            ("rich:cap=yes", "predictor 'rich:cap=yes': cap: 'yes' is not on or off"),
            ("rich:metric=mode", "predictor 'rich:metric=mode': metric: 'mode' is not one of median, mean"),
            ("rich:cap=on,cap=on", "predictor 'rich:cap=on,cap=on': the key 'cap' is given twice"),
            ("rich:set=(a", "predictor 'rich:set=(a': a '(' without its ')'"),
            ("rich:set=a)", "predictor 'rich:set=a)': a ')' without its '(' at ')'"),
        ] {
            assert_eq!(parse(text).unwrap_err(), message);
        }
    }
}
