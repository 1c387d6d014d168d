//! Changes of a site: `--what-if`.

use std::fmt;

use super::option_table::{OPTIONS, OptionForm, Section};
use super::options::Options;
use crate::engine::EngineError;
use crate::machine::associations::{Associations, ScaledLimits};
use crate::metrics::LimitMeter;
use crate::predict;
use crate::schedule::catalog;
use crate::similar::did_you_mean;
use crate::spec::{Spec, SpecError, quote};
use crate::trace::{CleaningCause, Workload};

/// The option of a change that is no option of a run: a site's own configuration.
pub const SLURM_CONF: &str = "slurm-conf";

/// A change of a site, as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteChange {
    /// As it was given, else the pairs.
    pub name: String,
    /// Names of options, with their values.
    pub pairs: Vec<(&'static str, String)>,
}

impl SiteChange {
    /// Reads `KEY=VALUE KEY=VALUE`, maybe with `NAME: ` before it. A value ends before the next blank with a `KEY=` behind it. A value
    /// in quotes may have anything in it.
    ///
    /// # Errors
    /// If it is of another form, or an option is no change of a site.
    pub fn parse(text: &str) -> Result<SiteChange, SpecError> {
        let wrong = |why: String| SpecError(format!("'{text}': {why}"));
        let named = text.split_once(": ").filter(|(name, _)| !name.contains('=') && !name.trim().is_empty());
        let (name, rest) = named.map_or((None, text), |(name, rest)| (Some(name.trim().to_string()), rest));
        let mut written: Vec<(&str, String)> = Vec::new();
        for word in words(rest).map_err(wrong)? {
            let pair = word.split_once('=').filter(|(key, _)| is_key(key));
            match (pair, written.last_mut()) {
                (Some((key, value)), _) => written.push((key, value.to_string())),
                (None, Some((_, value))) => value.extend([" ", word]),
                (None, None) => return Err(wrong(format!("'{word}' is not KEY=VALUE, such as procs=108"))),
            }
        }
        if written.is_empty() {
            return Err(wrong("it changes nothing: write KEY=VALUE, such as procs=108".to_string()));
        }
        let mut change = SiteChange { name: name.unwrap_or_default(), pairs: Vec::new() };
        for (key, value) in written {
            let key = key_of(key).map_err(wrong)?;
            if change.pairs.iter().any(|(other, _)| *other == key) {
                return Err(wrong(format!("{key} is given twice")));
            }
            change.pairs.push((key, without_quotes(&value).to_string()));
        }
        if change.name.is_empty() {
            change.name = change.to_string();
        }
        Ok(change)
    }

    /// Whether it sets this option.
    pub fn has(&self, key: &str) -> bool {
        self.pairs.iter().any(|(other, _)| *other == key)
    }
}

impl fmt::Display for SiteChange {
    /// Its pairs, as they are read.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pair = |(key, value): &(&str, String)| match value.is_empty() || words(value).is_err() {
            true => format!("{key}='{value}'"),
            false => format!("{key}={value}"),
        };
        f.write_str(&self.pairs.iter().map(pair).collect::<Vec<_>>().join(" "))
    }
}

/// So many limits are tried without being asked for: those that hold jobs longest.
const MOST_LIMITS: usize = 3;

/// How much more a machine has in a change that is tried without being asked for: a tenth.
const TENTH: u64 = 10;

impl Options {
    /// Whether the site has limits that its scheduler enforces.
    fn enforces_limits(&self) -> bool {
        let scheduler = &self.scheduler;
        catalog::is_slurm(scheduler) && !catalog::ignores_limits(scheduler) && self.have(Associations::has_limits)
    }

    /// The limits of the site that hold jobs longest, each doubled; those that have a factor are left out. None if no limit holds a job.
    /// `workload` is shaped. It is simulated, unless there are no limits.
    ///
    /// # Errors
    /// If the run fails.
    pub fn limits_to_double(
        &self,
        workload: &Workload,
        progress: &mut dyn FnMut(usize),
    ) -> Result<Option<Vec<ScaledLimits>>, EngineError> {
        if !self.enforces_limits() {
            return Ok(None);
        }
        let mut meter = LimitMeter::new(workload, &self.measure);
        self.setting().run(workload, Some(&mut meter), progress)?;
        let sums = meter.sums();
        let doubled = sums.iter().filter_map(|(limit, _)| self.scaled_limits.and_doubled(*limit));
        Ok((!sums.is_empty()).then(|| doubled.take(MOST_LIMITS).collect()))
    }

    /// The changes of this site that are tried without being asked for: a tenth more of the machine, for each kind of its nodes; planning
    /// with predictions; the scheduler `fair`; estimates with half their errors; these limits, or no limits if none of those
    /// that hold jobs can be doubled; no preemption. Those that have no meaning for the site are left out.
    pub fn changes_to_try(&self, workload: &Workload, limits: Option<&[ScaledLimits]>) -> Vec<SiteChange> {
        let mut texts = Vec::new();
        match &self.machine {
            None => texts.push(format!("procs={}", u64::from(workload.procs) + tenth_of(workload.procs.into()))),
            Some(machine) => texts.extend(machine.cluster.kinds().iter().filter_map(|kind| {
                let like = kind.first().map(|&at| &machine.cluster.nodes[at]).filter(|node| !node.is_down)?;
                Some(format!("add-nodes={0}-more[1-{1}] as {0}", like.name, tenth_of(kind.len() as u64)))
            })),
        }
        let scheduler = &self.scheduler;
        let by_slurm = |key: &str, value: &str| format!("scheduler={}", with_key(scheduler, key, value));
        match () {
            () if catalog::is_slurm_by_estimates(scheduler) => {
                texts.push(format!("{} predictor={}", by_slurm("running", "prediction"), predict::catalog::DEFAULT));
            }
            () if catalog::plans_with_predictions(scheduler) => {
                texts.push(format!("predictor={}", predict::catalog::DEFAULT))
            }
            () => {}
        }
        texts.push(format!("scheduler=fair predictor={}", predict::catalog::DEFAULT));
        let has_estimates = workload.cleaning.count(CleaningCause::Filled) < workload.jobs.len() as u64;
        if self.estimates.is_none() && has_estimates {
            texts.push("estimates=better:factor=0.5".to_string());
        }
        match limits {
            // Without limits priorities are counted otherwise too.
            None => {}
            Some([]) => texts.push(by_slurm("enforce_limits", "no")),
            Some(limits) => texts.extend(limits.iter().map(|limits| format!("scale-limit={limits}"))),
        }
        if catalog::preempts(scheduler) && self.machine.is_some() {
            texts.push(by_slurm("preempt", "off"));
        }
        texts.iter().map(|text| SiteChange::parse(text).expect("a change of the options")).collect()
    }
}

fn tenth_of(number: u64) -> u64 {
    number.div_ceil(TENTH)
}

/// A scheduler with another value of a key. A site's own file is not written: it is that of the command.
fn with_key(scheduler: &Spec, key: &str, value: &str) -> String {
    let others = scheduler.written().filter(|(own, _)| ![key, "conf"].contains(own));
    let others: String = others.map(|(own, value)| format!("{own}={},", quote(value))).collect();
    format!("{}:{others}{key}={value}", scheduler.name())
}

/// The options that a change of a site can set.
fn is_of_site(option: &OptionForm) -> bool {
    match option.section {
        Section::Run => option.name != "baseline",
        Section::Machine | Section::Estimates | Section::Users | Section::Engine => true,
        Section::Log => ["procs", "missing-estimate", "overrun"].contains(&option.name),
        Section::Shape => option.name == "load",
        Section::Reading | Section::Metrics => false,
    }
}

fn key_of(key: &str) -> Result<&'static str, String> {
    let names = || OPTIONS.iter().filter(|option| is_of_site(option)).map(|option| option.name).chain([SLURM_CONF]);
    if let Some(name) = names().find(|name| *name == key) {
        return Ok(name);
    }
    if OptionForm::find(key).is_some() {
        return Err(format!("{key} is no change of a site: it is for all of the command, --{key}"));
    }
    let all = names().collect::<Vec<_>>().join(", ");
    Err(format!("there is no option '{key}'; those of a change are {all}{}", did_you_mean(key, names())))
}

fn is_key(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase()) && text.chars().all(|c| c.is_ascii_lowercase() || c == '-')
}

/// The words between blanks that are not in quotes.
fn words(text: &str) -> Result<Vec<&str>, String> {
    let (mut words, mut begin, mut quote) = (Vec::new(), None, None);
    for (at, c) in text.char_indices() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if c == '\'' || c == '"' => quote = Some(c),
            None if c.is_whitespace() => words.extend(begin.take().map(|begin| &text[begin..at])),
            None => {}
        }
        if begin.is_none() && !c.is_whitespace() {
            begin = Some(at);
        }
    }
    match quote {
        Some(quote) => Err(format!("the quote {quote} is not closed")),
        None => {
            words.extend(begin.map(|begin| &text[begin..]));
            Ok(words)
        }
    }
}

/// A value that is in quotes as a whole, without them. Those of a part of it belong to it: specs have quotes of their own.
fn without_quotes(value: &str) -> &str {
    let inside = |quote: char| value.strip_prefix(quote)?.strip_suffix(quote).filter(|inside| !inside.contains(quote));
    inside('\'').or_else(|| inside('"')).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_read_as_words_of_a_shell() {
        let pairs = |text: &str| {
            let change = SiteChange::parse(text).unwrap();
            assert_eq!(SiteChange::parse(&change.to_string()).unwrap().pairs, change.pairs, "{text}");
            let pairs = change.pairs.iter().map(|(key, value)| format!("{key}|{value}")).collect::<Vec<_>>();
            (change.name, pairs)
        };
        let named =
            |name: &str, expected: &[&str]| (name.to_string(), expected.iter().map(|one| one.to_string()).collect());
        for (text, expected) in [
            ("procs=108", named("procs=108", &["procs|108"])),
            ("more: procs=108  load=1.1", named("more", &["procs|108", "load|1.1"])),
            ("add-nodes=n[65-72] as n1", named("add-nodes=n[65-72] as n1", &["add-nodes|n[65-72] as n1"])),
            (
                "add-nodes='n[65-72] as n1' scheduler=fair",
                named("add-nodes=n[65-72] as n1 scheduler=fair", &["add-nodes|n[65-72] as n1", "scheduler|fair"]),
            ),
            (
                r#"mine: predictor='exec:command="python3 my.py --sizes=1,2"'"#,
                named("mine", &[r#"predictor|exec:command="python3 my.py --sizes=1,2""#]),
            ),
            (
                "estimates=better:factor=0.5,share=0.3",
                named("estimates=better:factor=0.5,share=0.3", &["estimates|better:factor=0.5,share=0.3"]),
            ),
            ("slurm-conf=a.conf", named("slurm-conf=a.conf", &["slurm-conf|a.conf"])),
        ] {
            assert_eq!(pairs(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_change_says_why() {
        for (text, why) in [
            ("", "it changes nothing: write KEY=VALUE"),
            ("more: ", "it changes nothing"),
            ("procs", "'procs' is not KEY=VALUE"),
            ("add-node=n2 as n1", "there is no option 'add-node'; those of a change are"),
            ("add-node=n2 as n1", "did you mean 'add-nodes'?"),
            ("first=10", "first is no change of a site: it is for all of the command, --first"),
            ("baseline=easy/kin", "baseline is no change of a site"),
            ("procs=1 procs=2", "procs is given twice"),
            ("outages='a b.csv", "the quote ' is not closed"),
        ] {
            let error = SiteChange::parse(text).unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
