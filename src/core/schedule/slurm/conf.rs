//! Reads a slurm.conf: the keys of the scheduler `slurm` that it sets, and what else it says.

use std::path::Path;
use std::sync::Arc;

use super::keys::{ConfSource, NumberUnit, keys_of_conf};
use crate::machine::conf::{ConfError, ConfLine, FileLine, lines_of, lines_of_file, processors};
use crate::machine::{Ignored, PreemptMode, slurm_time};
use crate::settings_file::ReadOnce;
use crate::spec::{Key, Kind};
use crate::time::{MINUTE, Seconds, print_duration};
use crate::tres::{Tres, TresItem, tres_items};

/// What a slurm.conf says of scheduling.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlurmConf {
    /// The keys of the scheduler `slurm` with their values.
    pub keys: Vec<(&'static str, String)>,
    /// The processors of its nodes. None if it has no nodes.
    pub procs: Option<u32>,
    /// The parameters that have no effect on the simulation; of lists such as SchedulerParameters the items, such as `bf_continue`. Those of
    /// scheduling, priorities, nodes and partitions matter.
    pub unused: Vec<Ignored>,
}

/// Items of SchedulerParameters that mean nothing where a pass takes no time.
const WITHOUT_MEANING: [&str; 9] = [
    "bf_continue",
    "bf_max_time",
    "bf_yield_interval",
    "bf_yield_sleep",
    "defer",
    "max_rpc_cnt",
    "max_script_size",
    "sched_max_time",
    "sched_min_interval",
];

/// Parameters that are read, besides those that set a key.
const READ: [&str; 3] = ["SchedulerParameters", "SchedulerType", "PriorityFlags"];

/// The key that a parameter sets with a number, with its unit.
fn key_of_line(line: &ConfLine) -> Option<(&'static Key, NumberUnit)> {
    keys_of_conf().find_map(|(key, source)| match source {
        ConfSource::Line(name, unit) if line.is(name) => Some((key, unit)),
        _ => None,
    })
}

/// Whether a parameter has a rule of its own, by which only its last line counts.
fn has_rule(line: &ConfLine) -> bool {
    let is_own = |source| matches!(source, ConfSource::Rule(name) if line.is(name));
    READ.iter().any(|name| line.is(name))
        || keys_of_conf().any(|(_, source)| is_own(source)) && !line.is("SelectTypeParameters")
}

/// What parameters begin with that change which jobs start at a site.
const MATTERING: [&str; 14] = [
    "Sched",
    "bf_",
    "Priority",
    "FairShare",
    "Preempt",
    "Select",
    "Node",
    "DownNodes",
    "Partition",
    "Enforce",
    "Topology",
    "Gres",
    "Licenses",
    "OverTimeLimit",
];

/// The keys of preemption that the lines mean. None: there is no preemption, or one that cannot be simulated.
fn preempt_of(lines: &[ConfLine]) -> Option<[(&'static str, String); 2]> {
    let last = |name: &str| lines.iter().rfind(|line| line.is(name)).map(|line| line.value.trim());
    let kinds = ["partition_prio", "qos"].into_iter();
    let kind = last("PreemptType")?.to_ascii_lowercase();
    let kind = kinds.clone().find(|known| kind.strip_prefix("preempt/") == Some(known))?;
    let mode = PreemptMode::of_list(last("PreemptMode")?).0.filter(|mode| *mode != PreemptMode::Off)?;
    Some([("preempt", mode.name().to_string()), ("preempt_type", kind.to_string())])
}

/// The items of a list.
fn items(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim).filter(|item| !item.is_empty())
}

impl SlurmConf {
    /// Reads a file and those that it includes. A file is read once by a process: all its runs follow the same content, and it
    /// may be a pipe.
    ///
    /// # Errors
    /// If a file cannot be read, or as [`SlurmConf::parse`]. The message names the file.
    pub fn read(file: &str) -> Result<Arc<SlurmConf>, String> {
        static READ: ReadOnce<SlurmConf> = ReadOnce::new();
        READ.get(file, || SlurmConf::of_lines(&lines_of_file(file)?).map_err(|error| format!("{file}: {error}")))
    }

    /// Reads the text of a slurm.conf. Names of included files are relative to `folder`.
    ///
    /// # Errors
    /// If it has no parameters, a line is not one, or the value of one that is used is not valid.
    pub fn parse(text: &str, folder: &Path) -> Result<SlurmConf, ConfError> {
        SlurmConf::of_lines(&lines_of(text, folder)?)
    }

    fn of_lines(lines: &[ConfLine]) -> Result<SlurmConf, ConfError> {
        if lines.is_empty() {
            let why = "there is no parameter such as SchedulerType=sched/backfill".into();
            return Err(ConfError { place: FileLine { included: None, line: 1 }, why });
        }
        let mut conf = SlurmConf { procs: processors(lines)?, ..SlurmConf::default() };
        for (at, line) in lines.iter().enumerate() {
            conf.add(line, lines[at + 1..].iter().any(|later| later.is(&line.name)))?;
        }
        conf.keys.extend(preempt_of(lines).into_iter().flatten().filter(|(_, value)| value != "partition_prio"));
        // Slurm's default, whatever the order of the queue.
        if !lines.iter().any(|line| line.is("AccountingStorageEnforce")) {
            conf.keys.push(("enforce_limits", "no".into()));
        }
        Ok(conf)
    }

    /// The spec of the scheduler that it means, such as `slurm:bf_interval=1m`.
    pub fn spec(&self) -> String {
        let keys: Vec<_> = self.keys.iter().map(|(key, value)| format!("{key}={value}")).collect();
        if keys.is_empty() { "slurm".to_string() } else { format!("slurm:{}", keys.join(",")) }
    }

    /// Adds what a line says. As in Slurm, the last of several lines with one parameter counts.
    fn add(&mut self, line: &ConfLine, comes_again: bool) -> Result<(), ConfError> {
        if let Some((key, unit)) = key_of_line(line).filter(|_| !comes_again) {
            return self.set(key, unit, (&line.name, &line.value), line);
        }
        let value = line.value.to_ascii_lowercase();
        match (line.name.to_ascii_lowercase().as_str(), value.as_str()) {
            _ if comes_again && has_rule(line) => self.skip(line, &line.name),
            ("schedulerparameters", _) => self.add_items(line)?,
            ("schedulertype", "sched/backfill") => {}
            ("schedulertype", _) => {
                let why = format!("SchedulerType={}: only sched/backfill can be simulated", line.value);
                return Err(ConfError { place: line.place.clone(), why });
            }
            ("selecttypeparameters", list) if list.split(',').any(|item| item.trim() == "cr_lln") => {
                self.keys.push(("cr_lln", "yes".into()));
            }
            ("prioritytype", "priority/basic") => self.keys.push(("order", "fcfs".into())),
            ("prioritytype", "priority/multifactor") => self.keys.push(("order", "multifactor".into())),
            ("priorityflags", _) => {
                for item in items(&line.value) {
                    let key_of_flag = keys_of_conf().find_map(|(key, source)| match source {
                        ConfSource::Flag(flag, value) if flag.eq_ignore_ascii_case(item) => Some((key.name, value)),
                        _ => None,
                    });
                    match key_of_flag {
                        Some((key, value)) => self.keys.push((key, value.into())),
                        None => self.skip(line, item),
                    }
                }
            }
            ("priorityfavorsmall", "yes" | "true" | "up" | "1") => self.keys.push(("favor_small", "yes".into())),
            ("priorityfavorsmall", "no" | "false" | "down" | "0") => {}
            ("priorityweighttres", _) => self.add_tres_weights(line)?,
            ("accountingstorageenforce", _) => {
                // "safe" includes limits; "qos" alone only checks that a job may use its QOS. Old files have numbers.
                let has_limits = items(&value).any(|item| ["limits", "safe", "all", "2"].contains(&item));
                self.keys.push(("enforce_limits", if has_limits { "yes" } else { "no" }.into()));
            }
            ("preempttype", "preempt/partition_prio" | "preempt/qos" | "preempt/none") => {}
            ("preemptmode", list) => {
                let (_, others) = PreemptMode::of_list(list);
                if !others.is_empty() {
                    self.skip(line, &format!("PreemptMode={}", others.join(",").to_ascii_uppercase()));
                }
            }
            ("jobrequeue", "0") => self.keys.push(("job_requeue", "no".into())),
            ("jobrequeue", "1") => {}
            // The permission for a start, which is in the way of the next one.
            ("authinfo", list) => {
                let seconds = items(list).find_map(|item| item.strip_prefix("cred_expire=")?.parse::<u32>().ok());
                let delay = seconds.map(|seconds| print_duration(Seconds::from(seconds) + 1));
                self.keys.extend(delay.filter(|delay| delay != "121s").map(|delay| ("requeue_delay", delay)));
            }
            ("resvoverrun", "unlimited" | "infinite") => self.keys.push(("resv_over_run", "36500d".into())),
            ("resvoverrun", _) => {
                let (key, _) = keys_of_conf().find(|(key, _)| key.name == "resv_over_run").expect("the key exists");
                self.set(key, NumberUnit::Minutes, (&line.name, &line.value), line)?;
            }
            ("preemptexempttime", "-1" | "0" | "none") => {}
            ("preemptexempttime", _) => {
                let (key, _) = keys_of_conf().find(|(key, _)| key.name == "preempt_exempt").expect("the key exists");
                self.set(key, NumberUnit::Time, (&line.name, &line.value), line)?;
            }
            _ => self.skip(line, &line.name),
        }
        Ok(())
    }

    /// Adds the items of SchedulerParameters. Slurm looks for the first one of a name.
    fn add_items(&mut self, line: &ConfLine) -> Result<(), ConfError> {
        for item in items(&line.value) {
            let (name, value) = item.split_once('=').unwrap_or((item, ""));
            let known = keys_of_conf().find_map(|(key, source)| match source {
                ConfSource::Item(unit) if key.name.eq_ignore_ascii_case(name) => Some((key, unit)),
                _ => None,
            });
            match known {
                Some((key, unit)) if self.keys.iter().all(|(known, _)| *known != key.name) => {
                    self.set(key, unit, (key.name, value), line)?;
                }
                _ => self.skip(line, name),
            }
        }
        Ok(())
    }

    /// Adds the items of PriorityWeightTRES that can be simulated.
    fn add_tres_weights(&mut self, line: &ConfLine) -> Result<(), ConfError> {
        let mut known = Vec::new();
        for TresItem { text, name, kind, .. } in tres_items(&line.value, ',') {
            match kind {
                Some(_) => known.push(text),
                None => self.skip(line, name),
            }
        }
        let wrong = |why| ConfError { place: line.place.clone(), why: format!("{}: {why}", line.name) };
        let weights = Tres::of_priority(&known.join(";")).map_err(wrong)?.priority_text();
        if !weights.is_empty() {
            self.keys.push(("tres_weights", weights));
        }
        Ok(())
    }

    /// Notes a parameter, or an item of a list, that has no effect.
    fn skip(&mut self, line: &ConfLine, name: &str) {
        let begins = |begin: &&str| name.get(..begin.len()).is_some_and(|start| start.eq_ignore_ascii_case(begin));
        let is_off = ["0", "no"].iter().any(|off| line.value.eq_ignore_ascii_case(off));
        let is_of_no_meaning = WITHOUT_MEANING.iter().any(|known| known.eq_ignore_ascii_case(name));
        let is_of_list =
            ["SchedulerParameters", "PriorityFlags", "PriorityWeightTRES"].iter().any(|list| line.is(list));
        let is_read = key_of_line(line).is_some();
        let matters = !is_of_no_meaning && (is_of_list || is_read || MATTERING.iter().any(begins) && !is_off);
        self.unused.push(Ignored { place: line.place.clone(), name: name.to_string(), matters });
    }

    /// Sets a key to a number, which a parameter or an item of this name has.
    fn set(
        &mut self,
        key: &'static Key,
        unit: NumberUnit,
        (name, value): (&str, &str),
        line: &ConfLine,
    ) -> Result<(), ConfError> {
        let wrong = |why: &str| line.place.wrong(format!("{name}={value}: {why}"));
        let number = match unit {
            NumberUnit::Flag => 1,
            NumberUnit::Time | NumberUnit::TimeOrNever => {
                slurm_time(value).ok_or_else(|| wrong("not a time such as 7-0 or 30:00"))?
            }
            _ => value.parse::<u32>().map(Seconds::from).map_err(|_| wrong("not a whole number"))?,
        };
        let least = match key.kind {
            _ if unit == NumberUnit::TimeOrNever => 0,
            Kind::Whole { least } | Kind::Duration { least } => least,
            _ => 0,
        };
        if number < least {
            return Err(wrong("the simulation has no such value; remove it to use the default"));
        }
        let value = match unit {
            NumberUnit::Count => number.to_string(),
            NumberUnit::Flag => "yes".to_string(),
            NumberUnit::Minutes => print_duration(number * MINUTE),
            // Slurm: usage never decays.
            NumberUnit::TimeOrNever if number == 0 => "36500d".to_string(),
            NumberUnit::Seconds | NumberUnit::Time | NumberUnit::TimeOrNever => print_duration(number),
        };
        self.keys.push((key.name, value));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::catalog;

    const CONF: &str = "\
# A comment
ClusterName=big
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=60,bf_window=2880,bf_continue,\\
default_queue_depth=50
killwait=60   # seconds
PriorityType=priority/multifactor
PRIORITYWEIGHTAGE = \"1000\"
PriorityWeightQOS=0
PriorityWeightPartition=10
PriorityMaxAge=14-0
PriorityDecayHalfLife=0
NodeName=DEFAULT CPUs=4
NodeName=n[1-9] Weight=2
";

    fn parse(text: &str) -> Result<SlurmConf, ConfError> {
        SlurmConf::parse(text, Path::new(""))
    }

    #[test]
    fn the_smallest_numbers_are_those_of_the_scheduler() {
        for (key, source) in keys_of_conf() {
            let (text, unit) = match source {
                ConfSource::Item(unit) => (format!("SchedulerParameters={}=", key.name), unit),
                ConfSource::Line(name, unit) => (format!("{name}="), unit),
                _ => continue,
            };
            let number = |number: i64| match unit {
                NumberUnit::Time | NumberUnit::TimeOrNever => format!("{text}0:{number}"),
                _ => format!("{text}{number}"),
            };
            let least = match key.kind {
                Kind::Whole { least } | Kind::Duration { least } => least,
                _ => continue,
            };
            let spec = |of: i64| parse(&number(of)).map(|conf| catalog::parse(&conf.spec()));
            assert!(spec(least).unwrap().is_ok(), "{text}");
            // A halflife of 0 has a meaning of its own.
            assert!(spec(least - 1).is_err() || key.name == "halflife" && spec(0).unwrap().is_ok(), "{text}");
        }
    }

    /// The lines of what has no effect: those that matter, and the others.
    fn unused(conf: &SlurmConf) -> [Vec<(usize, &str)>; 2] {
        [true, false].map(|matters| {
            let of_kind = conf.unused.iter().filter(|unused| unused.matters == matters);
            of_kind.map(|unused| (unused.place.line, unused.name.as_str())).collect()
        })
    }

    #[test]
    fn keys_are_converted_and_the_rest_is_listed() {
        let conf = parse(CONF).unwrap();
        assert_eq!(
            conf.spec(),
            "slurm:bf_interval=1m,bf_window=2d,default_queue_depth=50,kill_wait=1m,order=multifactor,age_weight=1000,qos_weight=0,partition_weight=10,max_age=14d,halflife=36500d,enforce_limits=no"
        );
        let [mattering, others] = unused(&conf);
        assert_eq!(mattering, [(13, "NodeName"), (14, "NodeName")]);
        assert_eq!(others, [(2, "ClusterName"), (4, "bf_continue")]);
        assert_eq!(conf.procs, Some(9 * 4));
    }

    #[test]
    fn priorities_on_nodes_are_converted() {
        let text = "\
PriorityFlags=NO_FAIR_TREE,small_relative_to_time,MAX_TRES,NO_NORMAL_TRES
PriorityFavorSmall=YES
PriorityCalcPeriod=2
FairShareDampeningFactor=5
PriorityWeightTRES=CPU=1000,Mem=0.5,license/x=3,GRES/gpu=30
AccountingStorageEnforce=safe,qos
";
        let conf = parse(text).unwrap();
        assert_eq!(
            conf.spec(),
            "slurm:fairshare=classic,small_relative_to_time=yes,normal_tres=no,favor_small=yes,calc_period=2m,dampening=5,\
             tres_weights=cpu=1000;mem=0.5;gres/gpu=30,enforce_limits=yes"
        );
        assert!(catalog::parse(&conf.spec()).is_ok());
        assert_eq!(unused(&conf)[0], [(1, "MAX_TRES"), (5, "license/x")]);
        let plain = "PriorityFavorSmall=no\nAccountingStorageEnforce=associations\n";
        assert_eq!(parse(plain).unwrap().spec(), "slurm:enforce_limits=no");
        assert!(parse("PriorityWeightTRES=cpu=x").unwrap_err().to_string().contains("'cpu=x' is no weight"));
    }

    #[test]
    fn preemption_is_converted() {
        let spec = |lines: &str| {
            let mut conf = parse(lines).unwrap();
            conf.keys.retain(|(key, _)| *key != "enforce_limits");
            (conf.spec(), unused(&conf)[0].len())
        };
        let by_tier = "PreemptType=preempt/partition_prio\n";
        let with = |more: &str| spec(&format!("{by_tier}{more}"));
        assert_eq!(with("PreemptMode=Requeue"), ("slurm:preempt=requeue".into(), 0));
        assert_eq!(with("PreemptMode=CANCEL\nPreemptExemptTime=-1"), ("slurm:preempt=cancel".into(), 0));
        assert_eq!(with("JobRequeue=0\nPreemptMode=REQUEUE"), ("slurm:job_requeue=no,preempt=requeue".into(), 0));
        assert_eq!(with("PreemptMode=OFF"), ("slurm".into(), 0));
        assert_eq!(
            with("PreemptMode=REQUEUE\nPreemptExemptTime=10"),
            ("slurm:preempt_exempt=10m,preempt=requeue".into(), 0)
        );
        assert_eq!(with("PreemptMode=SUSPEND,GANG"), ("slurm".into(), 1));
        let by_qos = spec("PreemptType=preempt/qos\nPreemptMode=REQUEUE");
        assert_eq!(by_qos, ("slurm:preempt=requeue,preempt_type=qos".into(), 0));
        assert_eq!(spec("PreemptMode=REQUEUE"), ("slurm".into(), 0));
        let youngest = with("PreemptMode=REQUEUE\nSchedulerParameters=preempt_youngest_first,preempt_reorder_count=3");
        let keys = "preempt_youngest_first=yes,preempt_reorder_count=3,preempt=requeue";
        assert_eq!(youngest, (format!("slurm:{keys}"), 0));
        assert_eq!(with("PreemptMode=CANCEL\nAuthInfo=cred_expire=60").0, "slurm:requeue_delay=61s,preempt=cancel");
        let within = parse("PreemptType=preempt/qos\n\nPreemptMode=REQUEUE,WITHIN").unwrap();
        assert_eq!(unused(&within)[0], [(3, "PreemptMode=WITHIN")]);
        let wrong = parse("PreemptExemptTime=soon").unwrap_err().to_string();
        assert_eq!(wrong, "line 1: PreemptExemptTime=soon: not a time such as 7-0 or 30:00");
    }

    /// Slurm uses the last of two lines, and the first of two items of one line.
    #[test]
    fn what_is_set_twice_counts_once() {
        let text = "\
SchedulerParameters=bf_interval=60,bf_window=10
KillWait=10
schedulerparameters=\"BF_Interval=90, bf_resolution=300,bf_interval=120\"
killwait=20
PrologFlags=a
PrologFlags=b
";
        let conf = parse(text).unwrap();
        assert_eq!(conf.spec(), "slurm:bf_interval=90s,bf_resolution=5m,kill_wait=20s,enforce_limits=no");
        let [mattering, others] = unused(&conf);
        assert_eq!(mattering, [(1, "SchedulerParameters"), (2, "KillWait"), (3, "bf_interval")]);
        assert_eq!(others, [(5, "PrologFlags"), (6, "PrologFlags")]);
    }

    #[test]
    fn mistakes_are_named_with_their_lines() {
        let wrong = |text: &str| parse(text).unwrap_err().to_string();
        assert_eq!(wrong("\nKillWait=soon"), "line 2: KillWait=soon: not a whole number");
        assert_eq!(wrong("SchedulerParameters=bf_interval"), "line 1: bf_interval=: not a whole number");
        assert_eq!(wrong("PriorityMaxAge=1-2-3"), "line 1: PriorityMaxAge=1-2-3: not a time such as 7-0 or 30:00");
        assert!(wrong("SchedulerParameters=bf_max_job_test=0").ends_with("remove it to use the default"));
        assert!(wrong("SchedulerType=sched/builtin").ends_with("only sched/backfill can be simulated"));
        assert_eq!(wrong("# nothing"), "line 1: there is no parameter such as SchedulerType=sched/backfill");
    }
}
