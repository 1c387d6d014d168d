//! Sites as users write them: `NAME=LOG:key=value:...` on the command line, tables in a file.

use std::fmt;

use super::policies::DispatchPolicy;
use crate::experiment::{OPTIONS, OptionForm, Options, ProgramRole, Section, UsedProgram, refuse_overruled};
use crate::settings_file::{self, Item, SettingsEntry, Value};
use crate::similar::did_you_mean;
use crate::spec::{SpecError, parse_list};
use crate::trace::labels;

/// A site before its log is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteText {
    /// What comes before `=`.
    pub name: String,
    /// The path of its log, or `-` for standard input.
    pub log: String,
    /// The options of the main command that the site sets for itself, with their values as written.
    pub keys: Vec<(&'static str, String)>,
}

/// The options that a site may set for itself: all that define its jobs and how they are scheduled.
fn keys() -> impl Iterator<Item = &'static OptionForm> {
    let own = |option: &&OptionForm| {
        let is_own = !matches!(option.section, Section::Metrics | Section::Machine) && option.name != "baseline";
        is_own || option.name == "outages"
    };
    OPTIONS.iter().filter(own)
}

fn find_key(name: &str) -> Result<&'static OptionForm, String> {
    keys().find(|key| key.name == name).ok_or_else(|| {
        let names: Vec<_> = keys().map(|key| key.name).collect();
        let meant = did_you_mean(name, names.iter().copied());
        format!("no key '{name}'; the keys of a site are {}{meant}", names.join(", "))
    })
}

impl SiteText {
    /// Sites without settings of their own, which have the names of their logs. Logs of one name are told apart by their
    /// folders, as in [`labels`]; a name of a site has no slash, so that `a/kth` is `a-kth`.
    pub fn of_logs(logs: &[&str]) -> Vec<SiteText> {
        let labels = labels(&logs.iter().map(|log| Some(log.to_string())).collect::<Vec<_>>());
        let site = |(log, label): (&&str, String)| SiteText {
            name: label.trim_start_matches('/').replace('/', "-"),
            log: log.to_string(),
            keys: Vec::new(),
        };
        logs.iter().zip(labels).map(site).collect()
    }

    /// Reads `NAME=LOG[:key=value...]`. `predictor=` must be last, because a predictor's spec may contain colons. The keys of
    /// a scheduler follow it after a colon; they are told from the keys of a site by their names.
    ///
    /// # Errors
    ///
    /// If the text has another form, or a key or value is not valid.
    pub fn parse(text: &str) -> Result<SiteText, SpecError> {
        let wrong = |why: String| SpecError(format!("site '{text}': {why}"));
        let form = "a site is NAME=LOG, or NAME=LOG:procs=N:scheduler=SPEC:predictor=SPEC";
        let (name, rest) = text.split_once('=').ok_or_else(|| wrong(form.to_string()))?;
        let (log, mut rest) = rest.split_once(':').map_or((rest, None), |(log, rest)| (log, Some(rest)));
        if name.is_empty() || log.is_empty() {
            return Err(wrong(form.to_string()));
        }
        let mut site = SiteText { name: name.to_string(), log: log.to_string(), keys: Vec::new() };
        while let Some(pieces) = rest {
            let (piece, others) = match pieces.split_once(':') {
                Some((scheduler, keys)) if scheduler.starts_with("scheduler=") && !begins_with_key(keys) => {
                    let length = scheduler.len() + 1 + keys.find(':').unwrap_or(keys.len());
                    (&pieces[..length], pieces.get(length + 1..))
                }
                Some((piece, others)) if !pieces.starts_with("predictor=") => (piece, Some(others)),
                _ => (pieces, None),
            };
            let (key, value) = match piece.split_once('=') {
                Some(pair) => pair,
                // A switch without a value is on.
                None if find_key(piece).is_ok_and(OptionForm::is_switch) => (piece, "on"),
                None => return Err(wrong(format!("'{piece}' is not key=value; {form}"))),
            };
            site.set(key, value.to_string()).map_err(wrong)?;
            rest = others;
        }
        Ok(site)
    }

    fn set(&mut self, key: &str, value: String) -> Result<(), String> {
        let form = find_key(key)?;
        if self.keys.iter().any(|(name, _)| *name == form.name) {
            return Err(format!("the key '{key}' is given twice"));
        }
        form.check(&value).map_err(|why| format!("{key}: {why}"))?;
        self.keys.push((form.name, value));
        let is_given = |name: &str| self.keys.iter().any(|(key, value)| *key == name && value != "none");
        refuse_overruled(is_given).map_err(|error| error.to_string())
    }

    /// Whether the site sets this option.
    pub fn says(&self, name: &str) -> bool {
        self.keys.iter().any(|(key, _)| *key == name)
    }

    /// The options of this site: `everywhere`, except for those that the site sets for itself.
    pub fn options(&self, everywhere: &Options) -> Options {
        let mut options = everywhere.clone();
        for (name, value) in &self.keys {
            let form = find_key(name).expect("a key was checked when it was read");
            form.set(&mut options, value).expect("a value was checked when it was read");
        }
        options
    }
}

/// Whether a text begins with a key of a site.
fn begins_with_key(text: &str) -> bool {
    let end = text.find([':', '=']).unwrap_or(text.len());
    find_key(&text[..end]).is_ok()
}

/// As [`SiteText::parse`] reads it.
impl fmt::Display for SiteText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.name, self.log)?;
        let (last, others): (Vec<_>, Vec<_>) = self.keys.iter().partition(|(name, _)| *name == "predictor");
        others.into_iter().chain(last).try_for_each(|(name, value)| write!(f, ":{name}={value}"))
    }
}

/// A file of sites.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SitesFile {
    /// In the order of the file.
    pub sites: Vec<SiteText>,
    /// The policies as written on the command line; None if the file has none.
    pub policies: Option<String>,
}

impl SitesFile {
    /// The command of the first program that a predictor or a scheduler of these sites starts.
    pub fn program(&self) -> Option<(ProgramRole, String)> {
        let mut options = self.sites.iter().map(|site| site.options(&Options::default()));
        options.find_map(|options| options.programs().first().map(UsedProgram::command))
    }

    /// Reads TOML: an array of tables `[[site]]` with `name`, `log` and any keys of a site, and optionally `policy`.
    ///
    /// # Errors
    ///
    /// If the text has another form; the message names the line.
    pub fn parse(text: &str) -> Result<SitesFile, SpecError> {
        let mut file = SitesFile::default();
        for SettingsEntry { key, line, value } in settings_file::parse(text).map_err(SpecError)? {
            let wrong = |line: usize, why: String| SpecError(format!("line {line}: {why}"));
            match (key.as_str(), value) {
                ("policy", Value::Text(text)) => file.policies = Some(text),
                ("policy", Value::List(list)) => {
                    let word = |item: Item| match item.value {
                        Value::Text(word) => Ok(word),
                        other => Err(wrong(item.line, format!("policy: a list of texts, not a {}", other.kind()))),
                    };
                    file.policies = Some(list.into_iter().map(word).collect::<Result<Vec<_>, _>>()?.join(","));
                }
                ("site", Value::List(sites)) => {
                    for (Item { line, value }, number) in sites.into_iter().zip(1..) {
                        let Value::Table(table) = value else {
                            return Err(wrong(line, format!("site {number}: not a table [[site]]")));
                        };
                        let site = read_site(&table, line);
                        file.sites.push(site.map_err(|(line, why)| wrong(line, format!("site {number}: {why}")))?);
                    }
                }
                ("policy" | "site", _) => {
                    let form =
                        "the file has tables [[site]] with name and log, and optionally policy = \"static,redundant\"";
                    return Err(wrong(line, format!("'{key}' has another form: {form}")));
                }
                _ => return Err(wrong(line, format!("unknown key '{key}': the keys are policy and tables [[site]]"))),
            }
            if let Some(policies) = file.policies.as_ref().filter(|_| key == "policy") {
                let list = parse_list("policy", [policies.as_str()], DispatchPolicy::parse_spec);
                list.map_err(|error| wrong(line, format!("policy: {error}")))?;
            }
        }
        Ok(file)
    }
}

/// Reads the table of a site that begins on this line. An error is a line and a message.
fn read_site(table: &[SettingsEntry], line: usize) -> Result<SiteText, (usize, String)> {
    let text = |entry: &SettingsEntry| {
        let wrong = || (entry.line, format!("{}: a {} is neither a text nor a number", entry.key, entry.value.kind()));
        entry.value.option_text().ok_or_else(wrong)
    };
    let required = |key: &str| match table.iter().find(|entry| entry.key == key) {
        Some(entry) => text(entry),
        None => Err((line, format!("'{key}' is missing"))),
    };
    let mut site = SiteText { name: required("name")?, log: required("log")?, keys: Vec::new() };
    for entry in table.iter().filter(|entry| !matches!(entry.key.as_str(), "name" | "log")) {
        site.set(&entry.key, text(entry)?).map_err(|why| (entry.line, why))?;
    }
    Ok(site)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_of_one_name_are_told_apart_by_their_folders() {
        let names = |logs: &[&str]| SiteText::of_logs(logs).into_iter().map(|site| site.name).collect::<Vec<_>>();
        assert_eq!(names(&["a/kth.swf", "b/kth.swf.gz", "c/ctc.swf"]), ["a-kth", "b-kth", "ctc"]);
    }

    #[test]
    fn sites_are_printed_as_they_are_read() {
        for text in [
            "A=log.swf",
            "CTC=logs/CTC-1.0.swf.gz:procs=430",
            "A=-:procs=64:scheduler=sjbf:predictor=ruh:window=2,cap=on",
            "A=log.swf:first=100:load=1.5",
            "A=log.swf:scheduler=sjbf:running=estimate,starve=1d",
            "A=log.swf:scheduler=sjbf:running=estimate,starve=1d:first=100:predictor=ruh:window=2",
        ] {
            assert_eq!(SiteText::parse(text).unwrap().to_string(), text);
        }
        let site = SiteText::parse("A=log.swf:procs=64:strict:predictor=ruh:window=2").unwrap();
        let options = site.options(&Options::default());
        assert_eq!(options.cleaning.procs, Some(64));
        assert_eq!((options.cleaning.strict, options.predictor.to_string()), (true, "ruh:window=2".to_string()));
    }

    #[test]
    fn texts_that_are_no_site_are_errors() {
        for (text, message) in [
            ("log.swf", "a site is NAME=LOG"),
            ("=log.swf", "a site is NAME=LOG"),
            ("A=", "a site is NAME=LOG"),
            ("A=log.swf:64", "'64' is not key=value"),
            ("A=log.swf:cores=64", "no key 'cores'; the keys of a site are scheduler, predictor, procs"),
            ("A=log.swf:warmup=1%", "no key 'warmup'"),
            ("A=log.swf:procs=0", "procs: '0' is not"),
            ("A=log.swf:procs=4:procs=5", "'procs' is given twice"),
            ("A=log.swf:replication=3:shake=9s", "--shake has no effect together with --replication"),
            ("A=log.swf:scheduler=sjbf:cores=64", "no key 'cores'; the keys of sjbf are running, queue"),
            ("A=log.swf:scheduler=sjbf:", "nothing follows the colon"),
            ("A=log.swf:predictor=oracle", "unknown predictor 'oracle'"),
            ("A=log.swf:predictor=ruh:procs=5", "no key 'procs'"),
        ] {
            let error = SiteText::parse(text).unwrap_err().to_string();
            assert!(error.contains(message), "{text}: {error}");
        }
    }

    #[test]
    fn sites_are_read_from_toml() {
        let file = SitesFile::parse(
            "policy = [\"static\", \"k-distributed:k=3\"]\n\
             [[site]]\nname = \"A\"\nlog = \"a.swf\"\nprocs = 64\nload = 1.5\nstrict = true\n\
             [[site]]\nname = \"B\"\nlog = \"b:c.swf\"\npredictor = \"ruh:window=2\"\n",
        )
        .unwrap();
        assert_eq!(file.policies.as_deref(), Some("static,k-distributed:k=3"));
        let keys = vec![("procs", "64".to_string()), ("load", "1.5".to_string()), ("strict", "on".to_string())];
        assert_eq!(file.sites[0], SiteText { name: "A".into(), log: "a.swf".into(), keys });
        assert_eq!((file.sites[1].log.as_str(), file.sites[1].keys.len()), ("b:c.swf", 1));
        for (text, message) in [
            ("\nsites = 3", "line 2: unknown key 'sites'"),
            ("site = 3", "line 1: 'site' has another form: the file has tables [[site]]"),
            ("site = [\n3]", "line 2: site 1: not a table [[site]]"),
            ("\n[[site]]\nname = \"A\"", "line 2: site 1: 'log' is missing"),
            ("[[site]]\nname = \"A\"\nlog = \"a\"\ncores = 3", "line 4: site 1: no key 'cores'"),
            ("[[site]]\nname = \"A\"\nlog = \"a\"\nprocs = 0", "line 4: site 1: procs: '0' is not"),
            ("[[site]]\nname = \"A\"\nlog = \"a\"\nprocs = []", "line 4: site 1: procs: a list is neither a text"),
            ("policy = [\n1]", "line 2: policy: a list of texts"),
            ("policy = \"static,random\"", "line 1: policy: unknown policy 'random'"),
            ("\n= 3", "line 2: not TOML"),
        ] {
            let error = SitesFile::parse(text).unwrap_err().to_string();
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}
