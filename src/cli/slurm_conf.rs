//! `--slurm-conf FILE`: each scheduler `slurm` of the command has the keys of a site's configuration, the site's own Slurm is what
//! others are compared with, and its nodes are the machine. And a note on predictions without effect.

use std::collections::BTreeSet;
use std::sync::Arc;

use clap::{Arg, ArgMatches, Command};

use super::failure::{UsageError, refuse};
use super::is_given;
use super::stderr::{note, warning};
use crate::experiment::{Options, Setting, split_pair};
use crate::machine::{AssociationsFile, ClusterAssociations, Ignored, MachineFile};
use crate::report::{down_in_words, ignored_in_words};
use crate::runs::{GridList, GridText};
use crate::schedule::catalog;
use crate::schedule::slurm::conf::SlurmConf;
use crate::spec::{Spec, SpecError, quote, split_list};
use crate::text::{counted, printable};

/// The name of the option.
pub const NAME: &str = "slurm-conf";

/// What the option means in commands that simulate.
pub const SLURM_CONF: &str = "A site's slurm.conf: the scheduler slurm has its keys; as it is, with the users' estimates, it is the baseline, and planning with predictions the default; its nodes are the machine, unless --machine or --procs is given; see `sim help slurm`";

/// Adds the option to a command. `about` says what it means there.
pub fn add(command: Command, about: &'static str) -> Command {
    let argument = Arg::new(NAME).long(NAME).value_name("FILE").help(about).display_order(3);
    command.arg(argument)
}

/// The slurm.conf of a site.
pub struct SiteConf {
    /// As it was given.
    file: String,
    conf: Arc<SlurmConf>,
    /// None if the file has no nodes, or the machine was given.
    machine: Option<Arc<MachineFile>>,
}

/// What lines begin with that `--machine` reads.
const OF_MACHINE: [&str; 7] = ["Node", "Partition", "Select", "Topology", "Gres", "Down", "ClusterName"];

/// What the file says, if the option was given, with the notes of [`SiteConf::open`]. Notes of the machines of `--machine` too what
/// is down and what is not simulated.
pub fn read(matches: &ArgMatches) -> Result<Option<SiteConf>, UsageError> {
    let conf = matches.try_get_one::<String>(NAME).ok().flatten();
    for machine in given_machines(matches).iter().filter(|machine| Some(&machine.file) != conf) {
        note_machine(machine);
    }
    conf.map(|file| SiteConf::open(file, matches)).transpose()
}

/// Notes what of a machine is down, and what is not simulated.
pub fn note_machine(machine: &MachineFile) {
    if let Some(down) = down_in_words(&machine.cluster) {
        note(format_args!("{}: {down} are down", machine.file));
    }
    let (mattering, others): (Vec<_>, Vec<_>) = machine.ignored.iter().partition(|ignored| ignored.matters);
    report_ignored(&machine.file, &mattering, &others);
}

/// Whether the machine of all settings is given, so that no slurm.conf brings one.
pub fn has_machine(matches: &ArgMatches) -> bool {
    is_given(matches, "machine") || is_given(matches, "procs")
}

/// The slurm.conf that a scheduler names. None if it names none.
pub fn conf_of(scheduler: &Spec) -> Option<&str> {
    Some(scheduler).filter(|spec| spec.name() == SLURM).map(|spec| spec.text("conf")).filter(|file| !file.is_empty())
}

/// Gives each setting, and its baseline, the machine of the slurm.conf that its scheduler names, unless the machine is given. A
/// scheduler that names none has the machine of `--slurm-conf`, else that of the only file that is named.
pub fn set_machines(matches: &ArgMatches, site: Option<&SiteConf>, settings: &mut [Options]) -> Result<(), UsageError> {
    settings.iter_mut().for_each(|options| site.iter().for_each(|site| site.set_machine(options)));
    let named: BTreeSet<String> =
        settings.iter().flat_map(Options::schedulers).filter_map(conf_of).map(str::to_string).collect();
    let others = named.iter().filter(|file| site.is_none_or(|site| site.file != **file));
    let others: Vec<SiteConf> = others.map(|file| SiteConf::open(file, matches)).collect::<Result<_, _>>()?;
    let with_nodes = || others.iter().filter(|other| other.conf.procs.is_some());
    if has_machine(matches) {
        // A pool without a given number of processors has those of the nodes.
        let procs = |conf: &SiteConf| conf.conf.procs.unwrap_or(0);
        let other = with_nodes().find(|other| site.is_some_and(|site| procs(site) != procs(other)));
        return match (site, other) {
            (Some(site), Some(other)) if settings[0].machine.is_none() && !is_given(matches, "procs") => {
                refuse(format!(
                    "--machine none is one pool for all: {} has {} and {} has {}; --procs N says how many it has",
                    site.file,
                    counted(procs(site).into(), "processor"),
                    other.file,
                    procs(other)
                ))
            }
            _ => Ok(()),
        };
    }
    let all: Vec<&SiteConf> = site.into_iter().chain(&others).collect();
    let first = all.iter().find_map(|conf| conf.machine.clone());
    let is_same = |one: &Arc<MachineFile>| first.as_ref().is_some_and(|first| first.cluster == one.cluster);
    let is_one = all.iter().filter_map(|conf| conf.machine.as_ref()).all(is_same);
    let machine_of = |scheduler: &Spec| -> Result<Option<Arc<MachineFile>>, UsageError> {
        let own = conf_of(scheduler).and_then(|file| all.iter().find(|conf| conf.file == file)?.machine.clone());
        match (own, site) {
            (Some(own), _) if !is_one => Ok(Some(own)),
            (_, Some(site)) => Ok(site.machine.clone().or(first.clone().filter(|_| is_one))),
            (_, None) if is_one => Ok(first.clone()),
            (own, None) => own.map(Some).ok_or_else(|| {
                let files = named.iter().cloned().collect::<Vec<_>>().join(", ");
                UsageError(format!(
                    "on which machine is {scheduler}? {files} have different nodes: --slurm-conf FILE is for schedulers that name \
                     no file, --machine FILE for all"
                ))
            }),
        }
    };
    for options in settings {
        options.machine = machine_of(&options.scheduler)?;
        let of_baseline = options.baseline.as_ref().map(|baseline| machine_of(&baseline.scheduler)).transpose()?;
        let other = of_baseline.flatten().filter(|machine| options.machine.as_ref() != Some(machine));
        let on = |machine| Arc::new(Options { machine: Some(machine), ..options.clone() });
        options.baseline_site = other.map(on);
    }
    Ok(())
}

/// As [`set_machines`], for a command in which all schedulers run on one machine.
pub fn set_one_machine<'a>(
    matches: &ArgMatches,
    site: Option<&SiteConf>,
    options: &mut Options,
    schedulers: impl Iterator<Item = &'a Spec>,
) -> Result<(), UsageError> {
    let with = |scheduler: &Spec| Options { scheduler: scheduler.clone(), baseline: None, ..options.clone() };
    let mut settings: Vec<Options> = schedulers.filter(|scheduler| conf_of(scheduler).is_some()).map(with).collect();
    if settings.is_empty() {
        settings.push(options.clone());
    }
    set_machines(matches, site, &mut settings)?;
    refuse_machines(&settings)?;
    let set = settings.swap_remove(0);
    (options.machine, options.cleaning) = (set.machine, set.cleaning);
    Ok(())
}

/// Refuses settings on different machines, where there can be only one.
pub fn refuse_machines(settings: &[Options]) -> Result<(), UsageError> {
    let machines =
        settings.iter().flat_map(|options| [options.machine.clone(), options.of_baseline().machine]).flatten();
    let files: BTreeSet<String> = machines.map(|machine| machine.file.clone()).collect();
    if files.len() < 2 {
        return Ok(());
    }
    let files = files.into_iter().collect::<Vec<_>>().join(" and ");
    refuse(format!(
        "{files} have different nodes, and here all settings run on one machine: `sim` compares them \
         (--scheduler slurm:conf=ONE,slurm:conf=OTHER); --machine FILE is the machine of all"
    ))
}

impl SiteConf {
    /// Reads a file. Warns of what is not simulated though it changes which jobs start. Notes the scheduler and the machine that the
    /// file means, and what else was not used.
    pub fn open(file: &str, matches: &ArgMatches) -> Result<SiteConf, UsageError> {
        let conf = SlurmConf::read(file).map_err(UsageError)?;
        let has_nodes = conf.procs.is_some() && !has_machine(matches);
        let machine = has_nodes.then(|| MachineFile::read(file)).transpose().map_err(UsageError)?;
        let (mut mattering, mut others): (Vec<&Ignored>, Vec<&Ignored>) =
            conf.unused.iter().partition(|unused| unused.matters);
        let is_on_nodes = |file: &String| file != "none";
        if machine.is_some() || matches.try_get_one("machine").is_ok_and(|file| file.is_some_and(is_on_nodes)) {
            for unused in [&mut mattering, &mut others] {
                unused.retain(|unused| !OF_MACHINE.iter().any(|begin| unused.name.starts_with(begin)));
            }
        }
        if let Some(machine) = &machine {
            let is_new = |ignored: &&Ignored| ignored.matters && !conf.unused.contains(ignored);
            mattering.extend(machine.ignored.iter().filter(is_new));
        }
        let on = match (&machine, conf.procs) {
            (Some(machine), Some(procs)) => {
                let nodes = counted(machine.cluster.nodes.len() as u64, "node");
                let down = down_in_words(&machine.cluster).map_or(String::new(), |down| format!("; {down} are down"));
                format!(", on {nodes} with {}{down}", counted(procs.into(), "CPU"))
            }
            (None, Some(procs)) => format!(", on {}", counted(procs.into(), "processor")),
            (_, None) => String::new(),
        };
        note(format_args!("{file} means {}{on}", conf.spec()));
        report_ignored(file, &mattering, &others);
        Ok(SiteConf { file: file.to_string(), conf, machine })
    }

    /// Whether the file says how large the machine is.
    pub fn has_procs(&self) -> bool {
        self.conf.procs.is_some()
    }

    /// The scheduler `slurm` with the keys of the file.
    pub fn scheduler(&self) -> Spec {
        catalog::parse(&self.complete_item(SLURM)).expect("the file was checked when it was read")
    }

    /// What the site could have, if neither a scheduler nor a predictor is given: its own scheduler that plans with predictions, as
    /// all candidates of `sim recommend --slurm-conf` do. Which of them wins differs from log to log (`kin:learn=off` on the first
    /// 6,000 jobs of KTH-SP2, `sbh` on 8,000 of SDSC-SP2), so the predictor is the default one. Without `running=prediction` no
    /// predictor would change a start.
    pub fn planning_with_predictions(&self) -> String {
        self.complete_item(&format!("{SLURM}:running=prediction"))
    }

    /// What others are compared with: the site's own scheduler with the users' estimates.
    pub fn baseline(&self) -> Setting {
        let baseline = Setting::parse(SLURM, "estimate").expect("both are in their catalogs");
        Setting { scheduler: self.scheduler(), ..baseline }
    }

    /// Makes the nodes of the file the machine, unless it was given. `--machine none` is a pool of their processors.
    pub fn set_machine(&self, options: &mut Options) {
        options.machine = options.machine.take().or(self.machine.clone());
        options.cleaning.procs = options.cleaning.procs.or(self.conf.procs).filter(|_| options.machine.is_none());
    }

    /// A spec of the scheduler `slurm` with the keys of the file that the spec does not have. Other specs stay as they are.
    ///
    /// # Errors
    /// If the spec with the keys is not valid.
    pub fn complete(&self, spec: &Spec) -> Result<Spec, SpecError> {
        let written: Vec<_> = spec.written().map(|(key, value)| format!("{key}={}", quote(value))).collect();
        match spec.name() == SLURM && !written.is_empty() {
            true => catalog::parse(&self.complete_item(&format!("{SLURM}:{}", written.join(",")))),
            false if spec.name() == SLURM => Ok(self.scheduler()),
            false => Ok(spec.clone()),
        }
    }

    /// Gives the schedulers and the baselines in lists the keys of the file. The lists may have ranges and braces.
    ///
    /// # Errors
    /// If a text is not a list.
    pub fn complete_lists(&self, lists: &mut [GridList]) -> Result<(), SpecError> {
        for list in lists {
            let complete: fn(&SiteConf, &str) -> String = match &*list.name {
                "scheduler" => SiteConf::complete_item,
                "baseline" => SiteConf::complete_pair,
                _ => continue,
            };
            for GridText { text, .. } in &mut list.texts {
                *text = split_list(text)?.iter().map(|item| complete(self, item)).collect::<Vec<_>>().join(",");
            }
        }
        Ok(())
    }

    /// The same for one `SCHEDULER/PREDICTOR`.
    fn complete_pair(&self, pair: &str) -> String {
        match split_pair(pair) {
            Some((scheduler, predictor)) => format!("{}/{predictor}", self.complete_item(scheduler)),
            None => pair.to_string(),
        }
    }

    /// One spec of a list. Its keys stay as they are written, which may be a range.
    fn complete_item(&self, item: &str) -> String {
        let (name, given) = item.split_once(':').unwrap_or((item, ""));
        let has_conf = given.starts_with("conf=") || given.contains(",conf=");
        match name == SLURM && !has_conf {
            true if given.is_empty() => format!("{SLURM}:conf={}", quote(&self.file)),
            true => format!("{SLURM}:conf={},{given}", quote(&self.file)),
            false => item.to_string(),
        }
    }
}

/// The machines of `--machine`, as far as they can be read: what is wrong is said where the option is used.
fn given_machines(matches: &ArgMatches) -> Vec<Arc<MachineFile>> {
    let texts = matches.try_get_many::<String>("machine").ok().flatten().into_iter().flatten();
    let files = texts.flat_map(|text| split_list(text).unwrap_or_default());
    files.filter(|file| file != "none").filter_map(|file| MachineFile::read(&file).ok()).collect()
}

/// Warns of what a file says and is not simulated, and notes what else is not used.
pub fn report_ignored(file: &str, mattering: &[&Ignored], others: &[&Ignored]) {
    if !mattering.is_empty() {
        let words = ignored_in_words(mattering);
        warning(format_args!("{file}: not simulated, though it may change which jobs start: {words}"));
    }
    if !others.is_empty() {
        note(format_args!("{file}: not used: {}", ignored_in_words(others)));
    }
}

/// Warns of what is not understood of the accounts of runs, and of qualities of service that are named without their limits.
pub fn warn_of_associations<'a>(runs: impl Iterator<Item = &'a Options>) -> Result<(), UsageError> {
    let mut warned: Vec<(String, String)> = Vec::new();
    for run in runs {
        for machine in [run.machine.clone(), run.of_baseline().machine].into_iter().flatten() {
            let Some(file) = &run.associations else { continue };
            let own = file.of(&machine.cluster).map_err(UsageError)?;
            let names = (file.files.clone(), machine.cluster.name.clone());
            if !warned.contains(&names) {
                warned.push(names);
                warn_of_accounts(file, own);
            }
        }
    }
    Ok(())
}

fn warn_of_accounts(file: &AssociationsFile, own: &ClusterAssociations) {
    let mattering: Vec<&Ignored> = own.ignored.iter().filter(|ignored| ignored.matters).collect();
    report_ignored(&file.files, &mattering, &[]);
    let unknown: Vec<_> = own.associations.unknown_qos().into_iter().map(printable).collect();
    if !unknown.is_empty() {
        warning(format_args!(
            "{}: the priority and the limits of the QOS {} are in none of the files: add what 'sacctmgr -P show qos' prints",
            file.files,
            unknown.join(", ")
        ));
    }
}

/// The name of the scheduler.
pub const SLURM: &str = "slurm";

/// Warns of preemption without an effect. `by_qos`: whether QOS say whom they may preempt; None on a pool of processors.
pub fn warn_of_preemption<'a>(mut schedulers: impl Iterator<Item = &'a Spec>, by_qos: Option<bool>) {
    let may_stop = |spec: &&Spec| match by_qos {
        None => catalog::preempts(spec),
        Some(by_qos) => !by_qos && catalog::preempts_by_qos(spec),
    };
    match (schedulers.find(may_stop), by_qos) {
        (None, _) => {}
        (Some(spec), None) => {
            warning(format_args!("{spec}: preemption has no effect without --machine: a pool has no partitions"));
        }
        (Some(spec), Some(_)) => warning(format_args!(
            "{spec}: no job is preempted, because no QOS says which others it may preempt: add what 'sacctmgr -P show qos' \
             prints (--associations)"
        )),
    }
}

/// Says that limits are given but not enforced.
pub fn note_idle_limits<'a>(mut schedulers: impl Iterator<Item = &'a Spec>, has_limits: bool) {
    if let Some(spec) = schedulers.find(|spec| has_limits && catalog::ignores_limits(spec)) {
        note(format_args!(
            "{spec}: limits of QOS, accounts and users are not enforced, as in Slurm without AccountingStorageEnforce=limits; \
             slurm:enforce_limits=yes enforces them"
        ));
    }
}

/// Says that predictions have no effect under `slurm`, if a predictor was chosen for it.
pub fn note_idle_predictor(matches: &ArgMatches, settings: &[Options]) {
    let is_idle = |options: &Options| catalog::is_slurm_by_estimates(&options.scheduler);
    if is_given(matches, "predictor") && settings.iter().any(is_idle) {
        let plain = settings.iter().find(|options| is_idle(options) && options.predictor.name() != "estimate");
        if let Some(options) = plain {
            let predictor = &options.predictor;
            note(format_args!(
                "slurm plans with the users' estimates: {predictor} changes no start; slurm:running=prediction plans with it"
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_the_spec_come_first_and_other_schedulers_stay() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a site, its conf").to_string_lossy().into_owned();
        std::fs::write(&file, "SchedulerParameters=bf_interval=60,bf_resolution=300\nNodeName=n[1-9] CPUs=2\n")
            .unwrap();
        let machine = Some(MachineFile::read(&file).unwrap());
        let site = SiteConf { conf: SlurmConf::read(&file).unwrap(), file: file.clone(), machine };
        let complete = |text: &str| site.complete(&catalog::parse(text).unwrap()).unwrap();
        let own = format!("slurm:conf=\"{file}\"");
        assert_eq!(complete("slurm").to_string(), own);
        assert_eq!(complete("slurm").in_full(), site.scheduler().in_full());
        assert_eq!((complete("slurm").duration("bf_interval"), complete("slurm").duration("bf_window")), (60, 86_400));
        let written = complete("slurm:bf_interval=30s,running=prediction");
        assert_eq!(written.to_string(), format!("{own},bf_interval=30s,running=prediction"));
        assert_eq!((written.duration("bf_interval"), written.duration("bf_resolution")), (30, 300));
        assert_eq!(complete("easy:scan=saf").to_string(), "easy:scan=saf");
        let of = |name: &str, text: &str| {
            let mut lists = [GridList::new(name, [text.to_string()])];
            site.complete_lists(&mut lists).unwrap();
            lists[0].texts[0].text.clone()
        };
        let list = |text: &str| of("scheduler", text);
        assert_eq!(list("slurm,easy:scan=saf"), format!("{own},easy:scan=saf"));
        assert_eq!(list("slurm:bf_interval={10s|30s}"), format!("{own},bf_interval={{10s|30s}}"));
        let pairs = of("baseline", "easy/ruh,slurm:bf_interval=10s/estimate,slurm:conf=/a/b/ruh");
        assert_eq!(pairs, format!("easy/ruh,{own},bf_interval=10s/estimate,slurm:conf=/a/b/ruh"));
        assert_eq!(site.baseline().pair(), format!("{own}/estimate"));
        assert!(Setting::parse_pair(&site.baseline().pair()).unwrap().is_same(&site.baseline()));
        let mut options = Options::default();
        site.set_machine(&mut options);
        assert_eq!((options.machine.unwrap().cluster.nodes.len(), options.cleaning.procs), (9, None));
        let mut pool = Options::default();
        pool.cleaning.procs = Some(5);
        SiteConf { machine: None, ..site }.set_machine(&mut pool);
        assert_eq!((pool.machine, pool.cleaning.procs), (None, Some(5)));
    }
}
