//! The options of an experiment as command-line arguments.

use std::collections::BTreeSet;

use clap::{Arg, ArgAction, ArgMatches, Command};

use super::failure::{UsageError, refuse};
use super::is_given;
use super::slurm_conf::{self, SiteConf};
use super::stderr::{note, warning};
use super::what_if;
use crate::experiment::{
    OPTIONS, OptionForm, Options, Section, Setting, refuse_idle, refuse_idle_keys, refuse_overruled, runs_on,
};
use crate::machine::associations::Associations;
use crate::runs::{GridList, PlannedRun, RunPlan, values_of};
use crate::schedule;
use crate::spec::{Spec, SpecError, parse_list};
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

/// Whether an option may be a list in commands that compare settings: all may, but all settings are compared with one baseline.
fn is_list(option: &&OptionForm) -> bool {
    option.name != "baseline"
}

/// Lets the options of a command be lists.
pub fn with_lists(command: Command) -> Command {
    let has = |option: &&OptionForm, command: &Command| command.get_arguments().any(|arg| arg.get_id() == option.name);
    OPTIONS.iter().filter(is_list).fold(command, |command, option| match has(&option, &command) {
        true => command.mut_arg(option.name, |arg| arg.value_parser(checked_list(option)).action(ArgAction::Append)),
        false => command,
    })
}

/// The settings of a command: the product of its lists, the predictors changing fastest, before them the schedulers.
pub struct SettingList {
    /// The lists.
    pub plan: RunPlan,
    /// The options of each run of the plan, on its machine.
    pub options: Vec<Options>,
    /// Whether what is to be said of the log and of the runs is said elsewhere.
    pub is_quiet: bool,
}

impl SettingList {
    /// Of these settings.
    pub fn of(options: Vec<Options>) -> SettingList {
        let run = |options: &Options| PlannedRun { trace: None, options: options.clone() };
        SettingList { plan: RunPlan::of(options.iter().map(run).collect()), options, is_quiet: false }
    }

    /// Whether they are a site and its changes.
    pub fn is_what_if(&self) -> bool {
        self.options.iter().any(|options| options.what_if.is_some())
    }

    /// Refuses lists of options that change the jobs, where all settings have the same. `what` is about one such list.
    pub fn refuse_conditions(&self, what: &str) -> Result<(), UsageError> {
        match self.plan.conditions().len() {
            1 => Ok(()),
            _ => refuse(format!(
                "{what} settings with the same jobs: give one value of each option that changes the jobs or which of them are measured"
            )),
        }
    }
}

/// Whether a command compares settings with a baseline, and nothing says which.
fn is_compared_by_default(matches: &ArgMatches) -> bool {
    matches.try_contains_id("baseline").is_ok() && has_no_setting(matches)
}

fn has_no_setting(matches: &ArgMatches) -> bool {
    !is_given(matches, "scheduler") && !is_given(matches, "predictor")
}

/// The settings that the arguments give, with warnings of options without effect. With `--slurm-conf`, the site's own Slurm is
/// the default scheduler, without a predictor too one that plans with predictions. What settings are compared with, unless it is given, is that of the file, else `baseline`.
pub fn read_settings(matches: &ArgMatches, baseline: Option<Setting>) -> anyhow::Result<SettingList> {
    let conf = slurm_conf::read(matches)?;
    let is_what_if = what_if::is_asked_for(matches);
    let plan = read_lists(matches, conf.as_ref(), is_what_if)?;
    let mut list = SettingList { options: plan.runs().map(|run| run.options).collect(), plan, is_quiet: false };
    let is_alone = conf.is_some() && !is_what_if && is_compared_by_default(matches);
    let is_baseline_given = matches.try_contains_id("baseline").is_err() || is_given(matches, "baseline");
    let baseline = conf.as_ref().map(SiteConf::baseline).or(baseline).filter(|_| !is_baseline_given);
    // A setting is not compared with itself alone.
    if let Some(baseline) = baseline
        && (list.options.len() > 1 || !list.options[0].setting().is_same(&baseline))
    {
        list.options.iter_mut().for_each(|options| options.baseline = Some(baseline.clone()));
    }
    slurm_conf::set_machines(matches, conf.as_ref(), &mut list.options)?;
    if is_what_if {
        list = SettingList::of(what_if::with_changes(list.options, matches, conf.as_ref())?);
    }
    check_effects(matches, &list.options, &[])?;
    slurm_conf::note_idle_predictor(matches, &list.options);
    if is_alone {
        note(
            "the site's Slurm as it is (slurm/estimate) is compared with what it could be: planning with predictions \
             (slurm:running=prediction); --scheduler and --predictor choose other settings",
        );
    }
    warn_of_machines(&list.options);
    Ok(list)
}

/// Warns of schedulers that do less on the machines of these runs than one may think: of preemption, limits and nodes without an
/// effect.
pub fn warn_of_machines(runs: &[Options]) {
    let (on_nodes, on_pools): (Vec<_>, Vec<_>) = runs.iter().partition(|options| options.machine.is_some());
    slurm_conf::warn_of_preemption(on_pools.into_iter().flat_map(Options::schedulers), None);
    let have = |what: fn(&Associations) -> bool| on_nodes.iter().any(|options| options.have(what));
    let schedulers = || on_nodes.iter().flat_map(|options| options.schedulers());
    slurm_conf::warn_of_preemption(schedulers(), Some(have(Associations::has_preemption)));
    slurm_conf::note_idle_limits(schedulers(), have(Associations::has_limits));
    warn_of_pools(schedulers());
}

/// Refuses options and keys of schedulers that change none of the runs, and warns of what is not understood of accounts. Options with
/// the names in `others` mean something else in the command.
pub fn check_effects(matches: &ArgMatches, runs: &[Options], others: &[&str]) -> anyhow::Result<()> {
    refuse_idle(runs.iter().cloned(), |name| is_given(matches, name) && !others.contains(&name))?;
    let own = runs.iter().map(|run| (&run.scheduler, runs_on(run)));
    let of_baselines = runs.iter().filter_map(|run| {
        let site = run.baseline_site.as_deref().unwrap_or(run);
        Some((&run.baseline.as_ref()?.scheduler, runs_on(site)))
    });
    refuse_idle_keys(own.chain(of_baselines))?;
    if !others.contains(&"outages")
        && runs.iter().any(|run| run.outages.is_some() && run.schedulers().any(schedule::catalog::is_replay))
    {
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

/// `is_site`: whether the setting is that of a site as it is, by default with plain EASY.
fn read_lists(matches: &ArgMatches, conf: Option<&SiteConf>, is_site: bool) -> Result<RunPlan, SpecError> {
    let mut lists = given_lists(matches)?;
    if is_site && has_no_setting(matches) {
        for (name, value) in [("scheduler", "easy"), ("predictor", "estimate")] {
            let list = lists.iter_mut().find(|list| list.name == name);
            list.into_iter().for_each(|list| *list = GridList::new(name, [value.to_string()]));
        }
    }
    if let Some(conf) = conf {
        let own = match is_compared_by_default(matches) {
            true if !is_site => conf.planning_with_predictions(),
            _ => conf.scheduler().to_string(),
        };
        let schedulers = lists.iter_mut().find(|list| list.name == "scheduler" && !is_given(matches, "scheduler"));
        schedulers.into_iter().for_each(|list| *list = GridList::new("scheduler", [own.clone()]));
        conf.complete_lists(&mut lists)?;
    }
    let names: Vec<&str> = lists.iter().map(|list| &*list.name).collect();
    let plan = RunPlan::with(read_without(matches, &names)?, &lists)?;
    match plan.axes().iter().find_map(|axis| Some((axis, axis.twice()?))) {
        // Equal rows of results would be told apart by nothing.
        Some((axis, value)) => Err(SpecError(format!("the {} {value} is given twice", axis.name))),
        None => Ok(plan),
    }
}

/// The options with several values, the baseline, and at the end the schedulers and the predictors.
fn given_lists(matches: &ArgMatches) -> Result<Vec<GridList>, SpecError> {
    let texts = |name: &str| matches.try_get_many::<String>(name).ok().flatten().into_iter().flatten();
    let (always, others): (Vec<_>, Vec<_>) =
        OPTIONS.iter().partition(|option| ["scheduler", "predictor"].contains(&option.name));
    let mut lists = Vec::new();
    // The log is read once, so it has one format, whose names of columns may have brackets.
    let others = others.into_iter().filter(|option| option.section != Section::Reading);
    for option in others.filter(|option| is_given(matches, option.name)) {
        let values: Result<Vec<_>, String> = texts(option.name).map(|text| values_of(option.name, text)).collect();
        let values = values.map_err(|why| SpecError(format!("--{}: {why}", option.name)))?.concat();
        if values.len() > 1 || !is_list(&option) || !values.iter().eq(texts(option.name)) {
            lists.push(GridList::new(option.name, texts(option.name).cloned()));
        }
    }
    lists.extend(always.into_iter().map(|option| GridList::new(option.name, texts(option.name).cloned())));
    Ok(lists)
}

/// The options that the arguments give. Options that overrule each other are an error.
pub fn read(matches: &ArgMatches) -> Result<Options, SpecError> {
    read_without(matches, &[])
}

/// As [`read`], but the options of these names keep their defaults.
fn read_without(matches: &ArgMatches, names: &[&str]) -> Result<Options, SpecError> {
    let is_none =
        |name: &str| matches.get_many::<String>(name).is_some_and(|mut texts| texts.all(|text| text == "none"));
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
        let check =
            values_of(option.name, text).and_then(|values| values.iter().try_for_each(|value| option.check(value)));
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
