//! What could follow in a spec or a list of specs that is being typed.

use clap_complete::engine::CompletionCandidate;

use crate::spec::{Form, Key, Kind};

/// A text that could follow, and what it is.
fn candidate(text: impl Into<String>, about: impl Into<String>) -> CompletionCandidate {
    let about = Some(about.into()).filter(|about| !about.is_empty());
    CompletionCandidate::new(text.into()).help(about.map(Into::into))
}

/// The specs that begin with a text: names, then keys, then values of keys. With `is_list` there may be several specs, with
/// commas between them.
pub fn specs(typed: &str, forms: &[&'static Form], is_list: bool) -> Vec<CompletionCandidate> {
    let pieces = pieces(typed);
    let (last, before) = pieces.split_last().expect("a text has at least one piece");
    let own_keys = |name: &str| {
        let form = forms.iter().find(|form| form.name == name)?;
        Some(form.own_keys().iter().collect::<Vec<&'static Key>>())
    };
    // The keys of the last spec that have not been given, if it has a colon.
    let mut free: Option<Vec<&'static Key>> = None;
    for piece in before {
        let (name, key) = split_name(piece);
        free = match name {
            Some(name) => own_keys(name),
            None if key.contains('=') => free,
            None => None,
        };
        let key = key.split('=').next().unwrap_or("");
        free.iter_mut().for_each(|free| free.retain(|other| other.name != key));
    }
    let (name, rest) = split_name(last);
    let mut all = match name {
        Some(name) => keys(rest, &own_keys(name).unwrap_or_default()),
        None => keys(rest, &free.unwrap_or_default()),
    };
    if name.is_none() && (is_list || before.is_empty()) && !rest.contains('=') {
        for form in forms.iter().filter(|form| form.name.starts_with(rest)) {
            all.push(candidate(form.name, form.about));
            // Only when the name is complete, so that a list of names has each of them once.
            if form.name == rest && !form.keys.is_empty() {
                all.push(candidate(format!("{rest}:"), "with keys"));
            }
        }
    }
    after(typed, rest, all)
}

/// A baseline: a scheduler, a slash and a predictor.
pub fn pairs(typed: &str, schedulers: &[&'static Form], predictors: &[&'static Form]) -> Vec<CompletionCandidate> {
    if let Some((_, predictor)) = typed.split_once('/') {
        return after(typed, predictor, specs(predictor, predictors, false));
    }
    let slash = |scheduler: CompletionCandidate| match scheduler.get_value().to_string_lossy() {
        open if open.ends_with([':', '=']) => scheduler,
        name => CompletionCandidate::new(format!("{name}/")).help(scheduler.get_help().cloned()),
    };
    specs(typed, schedulers, false).into_iter().map(slash).collect()
}

/// A list of these names with commas between them.
pub fn list<'a>(typed: &str, names: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<CompletionCandidate> {
    let last = typed.rsplit(',').next().unwrap_or_default();
    let begin = names.into_iter().filter(|(name, _)| name.starts_with(last));
    after(typed, last, begin.map(|(name, about)| candidate(name, about)).collect())
}

/// Puts what has been typed before its end `rest` in front of candidates for that end.
pub fn after(typed: &str, rest: &str, candidates: Vec<CompletionCandidate>) -> Vec<CompletionCandidate> {
    let before = &typed[..typed.len() - rest.len()];
    candidates.into_iter().map(|candidate| candidate.add_prefix(before)).collect()
}

fn keys(typed: &str, keys: &[&'static Key]) -> Vec<CompletionCandidate> {
    let Some((name, value)) = typed.split_once('=') else {
        let begin = keys.iter().filter(|key| key.name.starts_with(typed));
        let with_kind = |key: &&Key| candidate(format!("{}=", key.name), format!("{}: {}", key.about, key.kind));
        return begin.map(with_kind).collect();
    };
    let Some(key) = keys.iter().find(|key| key.name == name) else { return Vec::new() };
    let values = match key.kind {
        Kind::Switch => vec!["on", "off"],
        Kind::Choice(words) => words.to_vec(),
        // Any number or text is possible: the default shows the form.
        _ => vec![key.default],
    };
    let about = |value: &str| if value == key.default { "the default" } else { "" };
    let begin = values.into_iter().filter(|other| other.starts_with(value));
    begin.map(|value| candidate(format!("{name}={value}"), about(value))).collect()
}

/// The name of a spec and what follows its colon. A piece without a name is a key, or a name without keys.
fn split_name(piece: &str) -> (Option<&str>, &str) {
    match piece.split_once(':').filter(|(name, _)| !name.contains('=')) {
        Some((name, rest)) => (Some(name), rest),
        None => (None, piece),
    }
}

/// The pieces between commas that are not in parentheses, braces or quotes. The last one is being typed.
fn pieces(typed: &str) -> Vec<&str> {
    let (mut depth, mut is_quoted) = (0, false);
    let is_end = |c: char| {
        match c {
            '"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            '(' | '{' => depth += 1,
            ')' | '}' => depth -= 1,
            _ => {}
        }
        c == ',' && depth <= 0 && !is_quoted
    };
    typed.split(is_end).collect()
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

    fn texts(candidates: Vec<CompletionCandidate>) -> String {
        candidates.iter().map(|candidate| candidate.get_value().to_string_lossy()).collect::<Vec<_>>().join(" ")
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
        let about = |typed: &str| specs(typed, FORMS, false)[0].get_help().unwrap().to_string();
        assert_eq!((about("pl"), about("rich:win")), ("simple".into(), "jobs: a whole number of at least 1".into()));
    }

    #[test]
    fn a_pair_has_a_slash_and_a_list_has_commas() {
        assert_eq!(texts(pairs("p", FORMS, FORMS)), "plain/");
        assert_eq!(texts(pairs("rich:wi", FORMS, FORMS)), "rich:window= rich:wide=");
        assert_eq!(texts(pairs("plain/rich:m", FORMS, FORMS)), "plain/rich:metric=");
        assert_eq!(texts(list("b,a", [("ab", ""), ("ac", ""), ("b", "")])), "b,ab b,ac");
    }
}
