//! What could follow in a spec or a list of specs that is being typed.

use crate::spec::{Form, Key, Kind};

/// A text that could be meant, and what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The whole text, which begins with what has been typed.
    pub text: String,
    /// One line about its last part.
    pub about: String,
}

impl Candidate {
    pub fn new(text: impl Into<String>, about: impl Into<String>) -> Candidate {
        Candidate { text: text.into(), about: about.into() }
    }
}

/// The specs that begin with a text: names, then keys, then values of keys. With `is_list` there may be several specs, with
/// commas between them.
pub fn specs(typed: &str, forms: &[&'static Form], is_list: bool) -> Vec<Candidate> {
    let (before, last) = typed.split_at(last_piece(typed));
    let spec = Typed::of(before, forms);
    let mut all = Vec::new();
    match last.split_once(':').filter(|(name, _)| !name.contains('=')) {
        Some((name, key)) => {
            if let Some(form) = forms.iter().find(|form| form.name == name) {
                keys(&format!("{before}{name}:"), key, &form.own_keys().iter().collect::<Vec<_>>(), &mut all);
            }
        }
        None => {
            if let Some(Typed { free, .. }) = &spec {
                keys(before, last, free, &mut all);
            }
            if (is_list || before.is_empty()) && !last.contains('=') {
                names(before, last, forms, &mut all);
            }
        }
    }
    all
}

/// A baseline: a scheduler, a slash and a predictor.
pub fn pairs(typed: &str, schedulers: &[&'static Form], predictors: &[&'static Form]) -> Vec<Candidate> {
    match typed.split_once('/') {
        Some((scheduler, predictor)) => {
            let with_scheduler =
                |predictor: Candidate| Candidate::new(format!("{scheduler}/{}", predictor.text), predictor.about);
            specs(predictor, predictors, false).into_iter().map(with_scheduler).collect()
        }
        None => {
            let slash = |scheduler: Candidate| match scheduler.text.ends_with([':', '=']) {
                true => scheduler,
                false => Candidate::new(format!("{}/", scheduler.text), scheduler.about),
            };
            specs(typed, schedulers, false).into_iter().map(slash).collect()
        }
    }
}

/// A list of these names with commas between them.
pub fn list<'a>(typed: &str, names: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<Candidate> {
    let (before, last) = typed.split_at(last_piece(typed));
    let begin = names.into_iter().filter(|(name, _)| name.starts_with(last));
    begin.map(|(name, about)| Candidate::new(format!("{before}{name}"), about)).collect()
}

/// The last spec before the piece that is being typed, if it has keys.
struct Typed {
    /// Its keys that have not been given.
    free: Vec<&'static Key>,
}

impl Typed {
    fn of(before: &str, forms: &[&'static Form]) -> Option<Typed> {
        let mut free: Option<Vec<&'static Key>> = None;
        for piece in pieces(before) {
            let is_key = piece.split_once('=').is_some_and(|(key, _)| !key.contains(':'));
            let (name, key) = if is_key {
                (None, piece)
            } else {
                piece.split_once(':').map_or((Some(piece), ""), |(name, key)| (Some(name), key))
            };
            if let Some(name) = name {
                let form = forms.iter().find(|form| form.name == name && piece.contains(':'));
                free = form.map(|form| form.own_keys().iter().collect());
            }
            let key = key.split('=').next().unwrap_or("");
            free.iter_mut().for_each(|free| free.retain(|other| other.name != key));
        }
        free.map(|free| Typed { free })
    }
}

fn names(before: &str, last: &str, forms: &[&'static Form], all: &mut Vec<Candidate>) {
    for form in forms.iter().filter(|form| form.name.starts_with(last)) {
        all.push(Candidate::new(format!("{before}{}", form.name), form.about));
        // Only when the name is complete, so that a list of names has each of them once.
        if form.name == last && !form.keys.is_empty() {
            all.push(Candidate::new(format!("{before}{last}:"), "with keys"));
        }
    }
}

fn keys(before: &str, last: &str, keys: &[&'static Key], all: &mut Vec<Candidate>) {
    let Some((name, value)) = last.split_once('=') else {
        let begin = keys.iter().filter(|key| key.name.starts_with(last));
        all.extend(
            begin.map(|key| Candidate::new(format!("{before}{}=", key.name), format!("{}: {}", key.about, key.kind))),
        );
        return;
    };
    let Some(key) = keys.iter().find(|key| key.name == name) else { return };
    let values = match key.kind {
        Kind::Switch => vec!["on", "off"],
        Kind::Choice(words) => words.to_vec(),
        // Any number or text is possible: the default shows the form.
        _ => vec![key.default],
    };
    let about = |value: &str| if value == key.default { "the default" } else { "" };
    let begin = values.into_iter().filter(|other| other.starts_with(value));
    all.extend(begin.map(|value| Candidate::new(format!("{before}{name}={value}"), about(value))));
}

/// Where the piece begins that is being typed: after the last comma that is not in parentheses, braces or quotes.
fn last_piece(typed: &str) -> usize {
    let (mut depth, mut is_quoted, mut begin) = (0i32, false, 0);
    for (at, c) in typed.char_indices() {
        match c {
            '"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            '(' | '{' => depth += 1,
            ')' | '}' => depth -= 1,
            ',' if depth <= 0 => begin = at + 1,
            _ => {}
        }
    }
    begin
}

/// The pieces of a text that ends with a comma or is empty.
fn pieces(text: &str) -> Vec<&str> {
    let (mut rest, mut pieces) = (text, Vec::new());
    while let Some(before) = rest.strip_suffix(',') {
        let begin = last_piece(before);
        pieces.push(&before[begin..]);
        rest = &before[..begin];
    }
    pieces.reverse();
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: &[Key] = &[
        Key { name: "window", kind: Kind::Whole { least: 1 }, default: "3", about: "jobs" },
        Key { name: "wide", kind: Kind::Switch, default: "off", about: "" },
        Key { name: "metric", kind: Kind::Choice(&["median", "mean"]), default: "median", about: "" },
    ];
    const FORMS: &[&Form] = &[
        &Form { name: "plain", about: "simple", keys: &[] },
        &Form { name: "rich", about: "", keys: KEYS },
        &Form { name: "rich+", about: "", keys: &[] },
    ];

    fn texts(candidates: Vec<Candidate>) -> String {
        candidates.into_iter().map(|candidate| candidate.text).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn names_then_keys_then_values() {
        for (typed, expected) in [
            ("", "plain rich rich+"),
            ("p", "plain"),
            ("plain", "plain"),
            ("ri", "rich rich+"),
            ("rich", "rich rich: rich+"),
            ("x", ""),
            ("x:w", ""),
            ("rich:", "rich:window= rich:wide= rich:metric="),
            ("rich:wi", "rich:window= rich:wide="),
            ("rich:window=", "rich:window=3"),
            ("rich:window=7", ""),
            ("rich:wide=o", "rich:wide=on rich:wide=off"),
            ("rich:metric=me", "rich:metric=median rich:metric=mean"),
            ("rich:window=2,", "rich:window=2,wide= rich:window=2,metric="),
            ("rich:wide,m", "rich:wide,metric="),
            ("rich:window={1,2},metric=mea", "rich:window={1,2},metric=mean"),
            ("plain,", ""),
        ] {
            assert_eq!(texts(specs(typed, FORMS, false)), expected, "{typed}");
        }
        for (typed, expected) in [
            ("plain,r", "plain,rich plain,rich+"),
            ("plain,rich:wi", "plain,rich:window= plain,rich:wide="),
            (
                "rich:window=2,wide=on,",
                "rich:window=2,wide=on,metric= rich:window=2,wide=on,plain rich:window=2,wide=on,rich rich:window=2,wide=on,rich+",
            ),
            ("rich:window=2,plain,w", ""),
            ("rich:window=2,rich:w", "rich:window=2,rich:window= rich:window=2,rich:wide="),
        ] {
            assert_eq!(texts(specs(typed, FORMS, true)), expected, "{typed}");
        }
        assert_eq!(specs("pl", FORMS, false), [Candidate::new("plain", "simple")]);
        assert_eq!(specs("rich:win", FORMS, false)[0].about, "jobs: a whole number of at least 1");
    }

    #[test]
    fn a_pair_has_a_slash_and_a_list_has_commas() {
        assert_eq!(texts(pairs("p", FORMS, FORMS)), "plain/");
        assert_eq!(texts(pairs("rich:wi", FORMS, FORMS)), "rich:window= rich:wide=");
        assert_eq!(texts(pairs("plain/rich:m", FORMS, FORMS)), "plain/rich:metric=");
        assert_eq!(texts(list("b,a", [("ab", ""), ("ac", ""), ("b", "")])), "b,ab b,ac");
    }
}
