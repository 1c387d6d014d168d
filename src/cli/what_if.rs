//! `--what-if`: changes of the site that the rest of a command describes. Each becomes one more setting, whose baseline is the site as it
//! is.

use std::sync::Arc;

use clap::{Arg, ArgAction, ArgMatches, Command};

use super::failure::{UsageError, refuse};
use super::is_given;
use super::log::read_and_clean;
use super::progress::Progress;
use super::slurm_conf::{self, SLURM, SiteConf};
use crate::experiment::{
    OptionForm, Options, SLURM_CONF, SiteChange, refuse_idle, refuse_idle_keys, refuse_overruled, runs_on,
};
use crate::schedule::catalog;
use crate::spec::{Spec, SpecError, quote};
use crate::text::printable_lines;
use crate::trace::{Shaping, Source, Workload, demo};

/// The name of the option.
pub const NAME: &str = "what-if";

/// In the place of a change: a fixed list of changes, of which the table says what would help most.
const AUTO: &str = "auto";

/// Adds the option to a command.
pub fn add(command: Command) -> Command {
    let read = |text: &str| match SiteChange::parse(text) {
        _ if text == AUTO => Ok(text.to_string()),
        Ok(_) => Ok(text.to_string()),
        Err(SpecError(why)) => Err(printable_lines(&why).into_owned()),
    };
    let argument = Arg::new(NAME).long(NAME).value_name("CHANGE").action(ArgAction::Append).value_parser(read);
    command.arg(argument.display_order(4).help(
        "What if the site were another? Options with other values, as in 'procs=108' or \
         'more: add-nodes=n[65-72] as n1 load=1.1', compared with the site as the rest of the command says; or 'auto': what would help most? \
         May be repeated; see `sim help comparisons`",
    ))
}

fn texts(matches: &ArgMatches) -> impl Iterator<Item = &str> {
    matches.try_get_many::<String>(NAME).ok().flatten().into_iter().flatten().map(String::as_str)
}

/// Whether changes are given.
pub fn is_asked_for(matches: &ArgMatches) -> bool {
    texts(matches).next().is_some()
}

/// Whether the changes are ranked, and some are tried that are not given.
pub fn is_auto(matches: &ArgMatches) -> bool {
    texts(matches).any(|text| text == AUTO)
}

/// The changes that were given.
fn given(matches: &ArgMatches) -> Result<Vec<SiteChange>, SpecError> {
    let texts = texts(matches).filter(|text| *text != AUTO);
    let changes: Vec<SiteChange> = texts.map(SiteChange::parse).collect::<Result<_, _>>()?;
    let twice = |(at, change): (usize, &SiteChange)| changes[..at].iter().any(|other| other.name == change.name);
    match changes.iter().enumerate().find(|(at, change)| twice((*at, change))) {
        Some((_, change)) => Err(SpecError(format!("--what-if '{}' is given twice", change.name))),
        None => Ok(changes),
    }
}

/// The site as it is, and each of its changes.
pub fn with_changes(
    settings: Vec<Options>,
    matches: &ArgMatches,
    conf: Option<&SiteConf>,
) -> anyhow::Result<Vec<Options>> {
    let [site] = <[Options; 1]>::try_from(settings).map_err(|_| {
        let why = "--what-if changes one site: give one value of each option, and each other one as a --what-if";
        UsageError(why.to_string())
    })?;
    if is_given(matches, "baseline") {
        return refuse(
            "with --what-if the baseline is the site, as --scheduler and --predictor say: remove --baseline",
        );
    }
    let site = Options { baseline: Some(site.setting()), ..site };
    let on_site = Arc::new(Options { baseline: None, ..site.clone() });
    let mut options = vec![Options { baseline_site: Some(on_site.clone()), ..site.clone() }];
    let one = |change: &SiteChange| -> anyhow::Result<Options> {
        let wrong = |why: String| SpecError(format!("--what-if '{}': {why}", change.name));
        let changed = changed(&site, change, matches, conf).map_err(|why| wrong(why.to_string()))?;
        check_effect(&on_site, &changed, change).map_err(|SpecError(why)| wrong(why))?;
        let what_if = Some(change.name.clone());
        Ok(Options { baseline_site: Some(on_site.clone()), what_if, ..changed })
    };
    let changes = given(matches)?;
    for change in &changes {
        options.push(one(change)?);
    }
    if is_auto(matches) {
        let workload = workload_of(&on_site, matches)?;
        let limits = {
            let progress = Progress::counting("looking for limits that hold jobs", "jobs", None);
            let mut before = 0;
            on_site
                .limits_to_double(&workload, &mut |ended| progress.add(ended - std::mem::replace(&mut before, ended)))?
        };
        let tried = on_site.changes_to_try(&workload, limits.as_deref());
        let is_new = |change: &&SiteChange| changes.iter().all(|given| given.pairs != change.pairs);
        // What the site has already is no change.
        options.extend(tried.iter().filter(is_new).filter_map(|change| one(change).ok()));
    }
    Ok(options)
}

/// The jobs of a site as it is: how large a pool is, and whether jobs have estimates, is in the log.
fn workload_of(site: &Options, matches: &ArgMatches) -> anyhow::Result<Workload> {
    let log = ["log", "trace"].iter().find_map(|name| matches.try_get_one::<String>(name).ok().flatten());
    if log.is_some_and(|log| log == "-") {
        return refuse(
            "--what-if auto reads the log twice, so it cannot come from standard input: give the name of a file",
        );
    }
    let source = log.map_or_else(demo, |log| Source::from_argument(log));
    // Copies of the log are made later.
    let site = Options { shaping: Shaping { resample: None, ..site.shaping }, ..site.clone() };
    Ok(site.shape(read_and_clean(&source, &site)?.0)?)
}

/// The options of a site with a change.
fn changed(
    site: &Options,
    change: &SiteChange,
    matches: &ArgMatches,
    conf: Option<&SiteConf>,
) -> anyhow::Result<Options> {
    let mut options = site.clone();
    // The configuration first: the other pairs change what it says.
    let own = change.pairs.iter().find(|(key, _)| *key == SLURM_CONF).map(|(_, file)| SiteConf::open(file, matches));
    let own = own.transpose()?;
    if let Some(own) = &own {
        if own.has_procs() && !slurm_conf::has_machine(matches) {
            (options.machine, options.cleaning.procs) = (None, None);
            own.set_machine(&mut options);
        }
        options.scheduler = own.complete(&without_conf(&site.scheduler)?)?;
    }
    for (key, value) in &change.pairs {
        let Some(form) = OptionForm::find(key) else { continue };
        form.set(&mut options, value).map_err(|why| SpecError(format!("{key}: {why}")))?;
        match *key {
            "scheduler" if slurm_conf::conf_of(&options.scheduler).is_some() => {
                return refuse(format!(
                    "write {SLURM_CONF}=FILE for another slurm.conf: its nodes are then the machine"
                ));
            }
            "scheduler" => {
                let complete = own.as_ref().or(conf).map(|conf| conf.complete(&options.scheduler)).transpose()?;
                options.scheduler = complete.unwrap_or(with_conf_of(&site.scheduler, options.scheduler)?);
            }
            "machine" => options.machine.iter().for_each(|machine| slurm_conf::note_machine(machine)),
            _ => {}
        }
    }
    // A pool has no nodes of its own to count.
    if site.machine.is_some() && options.machine.is_none() && !change.has("procs") {
        options.cleaning.procs = site.machine.as_ref().map(|machine| machine.cluster.cpus() as u32);
    }
    Ok(options)
}

/// A scheduler with the file that another one names, if both are Slurm's.
fn with_conf_of(other: &Spec, scheduler: Spec) -> Result<Spec, SpecError> {
    match slurm_conf::conf_of(other).filter(|_| scheduler.name() == SLURM) {
        None => Ok(scheduler),
        Some(file) => {
            let keys = scheduler.written().map(|(key, value)| format!(",{key}={}", quote(value)));
            catalog::parse(&format!("{SLURM}:conf={}{}", quote(file), keys.collect::<String>()))
        }
    }
}

/// A scheduler without the file of its site.
fn without_conf(scheduler: &Spec) -> Result<Spec, SpecError> {
    if scheduler.name() != SLURM {
        return Ok(scheduler.clone());
    }
    let keys = scheduler.written().filter(|(key, _)| *key != "conf");
    let keys: Vec<String> = keys.map(|(key, value)| format!("{key}={}", quote(value))).collect();
    catalog::parse(&if keys.is_empty() { SLURM.to_string() } else { format!("{SLURM}:{}", keys.join(",")) })
}

/// Refuses a change that can change nothing.
fn check_effect(site: &Options, changed: &Options, change: &SiteChange) -> Result<(), SpecError> {
    let default = Options::default();
    let is_set = |options: &Options, name: &str| {
        let form = OptionForm::find(name);
        form.is_some_and(|form| form.get(options) != form.get(&default))
    };
    refuse_overruled(|name| is_set(changed, name))?;
    refuse_idle(std::iter::once(changed.clone()), |name| change.has(name))?;
    refuse_idle_keys(std::iter::once((&changed.scheduler, runs_on(changed))))?;
    match (Options { baseline: None, ..changed.clone() }).canonical() == site.canonical() {
        true => Err(SpecError("it changes nothing: the site is so as it is".to_string())),
        false => Ok(()),
    }
}
