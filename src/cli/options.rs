//! The options of an experiment as command-line arguments.

use std::collections::BTreeSet;
use std::sync::Arc;

use clap::{Arg, ArgAction, ArgMatches, Command};

use super::is_given;
use super::slurm_conf::{self, SiteConf};
use super::stderr::{note, warning};
use crate::experiment::{
    OPTIONS, OptionForm, Options, Section, Setting, refuse_idle, refuse_idle_keys, refuse_overruled,
};
use crate::machine::MachineFile;
use crate::predict;
use crate::report::{Cell, swept_cells};
use crate::schedule;
use crate::spec::{Spec, SpecError, expand, parse_list};
use crate::text::printable_lines;

/// Adds the options of these sections to a command.
pub fn add(command: Command, sections: &[Section]) -> Command {
    add_these(command, OPTIONS.iter().filter(|option| sections.contains(&option.section)))
}

/// Adds the options of these names to a command.
pub fn add_named(command: Command, names: &[&str]) -> Command {
    add_these(command, OPTIONS.iter().filter(|option| names.contains(&option.name)))
}

fn add_these(command: Command, wanted: impl Iterator<Item = &'static OptionForm>) -> Command {
    let default = Options::default();
    command.args(wanted.zip(1..).map(|(option, order)| {
        let argument = argument(option).value_parser(checked(option)).display_order(order);
        match option.get(&default) {
            unset if unset.is_empty() => argument,
            off if option.is_switch() => argument.default_value(off).hide_default_value(true),
            value => argument.default_value(value),
        }
    }))
}

/// The argument of an option, without a check of its value. A switch is on if given without a value; `--switch=off` turns it
/// off.
pub fn argument(option: &'static OptionForm) -> Arg {
    let argument = Arg::new(option.name).long(option.name).help(option.about);
    let argument = argument.help_heading(option.section.heading());
    match option.is_switch() {
        true => argument.num_args(0..=1).require_equals(true).default_missing_value("on").hide_possible_values(true),
        false => argument.value_name(option.value),
    }
}

/// An option of which the main command takes a list, with how one of its values is read and set.
struct ListOption {
    name: &'static str,
    parse: fn(&str) -> Result<Spec, SpecError>,
    set: fn(&mut Options, Spec),
}

/// The options of which the main command takes lists.
const LISTS: [ListOption; 2] = [
    ListOption {
        name: "scheduler",
        parse: schedule::catalog::parse,
        set: |options, scheduler| options.scheduler = scheduler,
    },
    ListOption {
        name: "predictor",
        parse: predict::catalog::parse,
        set: |options, predictor| options.predictor = predictor,
    },
];

/// Lets the scheduler and the predictor be lists.
pub fn with_lists(command: Command) -> Command {
    LISTS.iter().fold(command, |command, list| {
        let parser = checked_specs(list.name, list.parse);
        command.mut_arg(list.name, |argument| argument.value_parser(parser).action(ArgAction::Append))
    })
}

/// The settings of the main command: the product of the lists of schedulers and predictors, the last changing fastest.
pub struct SettingList {
    /// The options of each setting.
    pub options: Vec<Options>,
    /// The cells of the swept keys in the row of each setting.
    pub swept: Vec<Vec<(String, Cell)>>,
}

/// Whether a command compares settings with a baseline, and nothing says which.
fn is_compared_by_default(matches: &ArgMatches) -> bool {
    matches.try_contains_id("baseline").is_ok() && !is_given(matches, "scheduler") && !is_given(matches, "predictor")
}

/// The settings that the arguments give, with warnings of options without effect. With `--slurm-conf`, the site's own Slurm is
/// the default scheduler, without a predictor too one that plans with predictions. What settings are compared with, unless it is given, is that of the file, else `baseline`.
pub fn read_settings(matches: &ArgMatches, baseline: Option<Setting>) -> anyhow::Result<SettingList> {
    let conf = slurm_conf::read(matches)?;
    let mut list = read_lists(matches, conf.as_ref())?;
    let is_alone = conf.is_some() && is_compared_by_default(matches);
    let is_baseline_given = matches.try_contains_id("baseline").is_err() || is_given(matches, "baseline");
    let baseline = conf.as_ref().map(SiteConf::baseline).or(baseline).filter(|_| !is_baseline_given);
    // A setting is not compared with itself alone.
    if let Some(baseline) = baseline
        && (list.options.len() > 1 || !list.options[0].setting().is_same(&baseline))
    {
        list.options.iter_mut().for_each(|options| options.baseline = Some(baseline.clone()));
    }
    slurm_conf::set_machines(matches, conf.as_ref(), &mut list.options)?;
    check_effects(matches, &list.options, &[])?;
    slurm_conf::note_idle_predictor(matches, &list.options);
    if is_alone {
        note(
            "the site's Slurm as it is (slurm/estimate) is compared with what it could be: planning with predictions \
             (slurm:running=prediction); --scheduler and --predictor choose other settings",
        );
    }
    let (on_nodes, on_pools): (Vec<_>, Vec<_>) = list.options.iter().partition(|options| options.machine.is_some());
    slurm_conf::note_preemption(on_nodes.iter().flat_map(|options| options.schedulers()), true);
    slurm_conf::note_preemption(on_pools.iter().flat_map(|options| options.schedulers()), false);
    let has_limits = on_nodes.iter().any(|options| options.has_limits());
    slurm_conf::note_idle_limits(on_nodes.iter().flat_map(|options| options.schedulers()), has_limits);
    warn_of_pools(on_nodes.into_iter().flat_map(Options::schedulers));
    Ok(list)
}

/// Refuses options and keys of schedulers that change none of the runs, and warns of what is not understood of accounts. Options with
/// the names in `others` mean something else in the command.
pub fn check_effects(matches: &ArgMatches, runs: &[Options], others: &[&str]) -> anyhow::Result<()> {
    refuse_idle(runs.iter().cloned(), |name| is_given(matches, name) && !others.contains(&name))?;
    let on = |machine: &Option<Arc<MachineFile>>| machine.is_some();
    let own = runs.iter().map(|run| (&run.scheduler, on(&run.machine)));
    let of_baselines = runs.iter().filter_map(|run| {
        let machine = if run.baseline_machine.is_some() { &run.baseline_machine } else { &run.machine };
        Some((&run.baseline.as_ref()?.scheduler, on(machine)))
    });
    refuse_idle_keys(own.chain(of_baselines))?;
    if runs.iter().any(|run| run.outages.is_some() && run.schedulers().any(schedule::catalog::is_replay)) {
        note("--outages has no effect on replay: the log has its outages in it");
    }
    slurm_conf::warn_of_associations(runs.iter())?;
    Ok(())
}

/// Warns of the schedulers that do not place jobs on nodes. For runs on a machine of nodes.
pub fn warn_of_pools<'a>(schedulers: impl Iterator<Item = &'a Spec>) {
    let pools: BTreeSet<String> = schedulers
        .filter(|spec| !schedule::catalog::places_on_nodes(spec) && !schedule::catalog::is_replay(spec))
        .map(Spec::to_string)
        .collect();
    if !pools.is_empty() {
        let pools: Vec<_> = pools.into_iter().collect();
        warning(format_args!(
            "{} does not place jobs on nodes: for it the machine is a pool of all its CPUs",
            pools.join(", ")
        ));
    }
}

fn read_lists(matches: &ArgMatches, conf: Option<&SiteConf>) -> Result<SettingList, SpecError> {
    let mut plain = read_without(matches, &LISTS.map(|list| list.name))?;
    if let (Some(conf), Some(baseline)) = (conf, &mut plain.baseline) {
        baseline.scheduler = conf.complete(&baseline.scheduler)?;
    }
    let mut settings = vec![(plain, Vec::new())];
    for ListOption { name, parse, set } in LISTS {
        let mut texts: Vec<String> = matches.get_many::<String>(name).into_iter().flatten().cloned().collect();
        if let (Some(conf), "scheduler") = (conf, name) {
            texts = match is_given(matches, name) {
                true => texts.iter().map(|text| conf.complete_list(text)).collect::<Result<_, _>>()?,
                false if is_compared_by_default(matches) => vec![conf.planning_with_predictions()],
                false => vec![conf.scheduler().to_string()],
            };
        }
        let list = parse_list(name, texts.iter().map(String::as_str), parse)?;
        let with = |(options, swept): &(Options, Vec<_>), at: usize| {
            let (mut options, mut swept) = (options.clone(), swept.clone());
            set(&mut options, list.items[at].clone());
            swept.extend(swept_cells(&list.keys, at));
            (options, swept)
        };
        let all = settings.iter().flat_map(|before| (0..list.items.len()).map(move |at| with(before, at)));
        settings = all.collect();
    }
    let (options, swept) = settings.into_iter().unzip();
    Ok(SettingList { options, swept })
}

/// The options that the arguments give. Options that overrule each other are an error.
pub fn read(matches: &ArgMatches) -> Result<Options, SpecError> {
    read_without(matches, &[])
}

/// As [`read`], but the options of these names keep their defaults.
fn read_without(matches: &ArgMatches, names: &[&str]) -> Result<Options, SpecError> {
    let is_none = |name: &str| matches.get_one::<String>(name).is_some_and(|text| text == "none");
    refuse_overruled(|name| is_given(matches, name) && !is_none(name))?;
    let mut options = Options::default();
    for option in OPTIONS.iter().filter(|option| !names.contains(&option.name)) {
        // A command may have only some of the options.
        if let Ok(Some(text)) = matches.try_get_one::<String>(option.name) {
            option.set(&mut options, text).map_err(|why| SpecError(format!("--{}: {why}", option.name)))?;
        }
    }
    Ok(options)
}

/// As [`checked`], for each value of a list.
pub fn checked_list(
    option: &'static OptionForm,
) -> impl Fn(&str) -> Result<String, String> + Clone + Send + Sync + 'static {
    move |text| {
        let values = expand(option.name, text);
        let check = values.and_then(|values| values.iter().try_for_each(|value| option.check(value)));
        check.map(|()| text.to_string()).map_err(|why| printable_lines(&why).into_owned())
    }
}

/// As [`checked`], for a list of specs, each of which `parse` reads.
pub fn checked_specs<T: AsMut<Spec> + 'static>(
    option: &'static str,
    parse: fn(&str) -> Result<T, SpecError>,
) -> impl Fn(&str) -> Result<String, String> + Clone + Send + Sync + 'static {
    move |text| match parse_list(option, [text], parse) {
        Ok(_) => Ok(text.to_string()),
        Err(SpecError(why)) => Err(printable_lines(&why).into_owned()),
    }
}

/// Checks a value where clap reads it, so that the error names the option as clap's own errors do. The reason may quote
/// a file.
fn checked(option: &'static OptionForm) -> impl Fn(&str) -> Result<String, String> + Clone + Send + Sync + 'static {
    move |text| option.check(text).map(|()| text.to_string()).map_err(|why| printable_lines(&why).into_owned())
}

/// Reads a number within two limits. `what` names it, such as `a load`.
pub fn number(
    what: &'static str,
    (least, most): (f64, f64),
    example: f64,
) -> impl Fn(&str) -> Result<f64, String> + Clone + Send + Sync + 'static {
    move |text| match text.parse() {
        Ok(number) if (least..=most).contains(&number) => Ok(number),
        _ => Err(format!("{what} is a number from {least} to {most}, such as {example}")),
    }
}
