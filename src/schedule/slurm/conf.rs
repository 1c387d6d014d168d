//! Reads a slurm.conf: the keys of the scheduler `slurm` that it sets, and what else it says.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use crate::machine::conf::{ConfError, ConfLine, Place, lines_of, processors};
use crate::machine::{Ignored, slurm_time};
use crate::settings_file::{MOST_OF_SLURM_CONF, read_text};
use crate::time::{MINUTE, Seconds, print_duration};

/// What a slurm.conf says of scheduling.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlurmConf {
    /// The keys of the scheduler `slurm` with their values.
    pub keys: Vec<(&'static str, String)>,
    /// The processors of its nodes. None if it has no nodes.
    pub procs: Option<u32>,
    /// The parameters that have no effect on the simulation; of SchedulerParameters the items, such as `bf_continue`. Those of
    /// scheduling, priorities, nodes and partitions matter.
    pub unused: Vec<Ignored>,
}

/// The unit of a number.
#[derive(Clone, Copy)]
enum Unit {
    Count,
    Seconds,
    Minutes,
    /// Minutes, or Slurm's longer forms such as 7-0 for seven days.
    Time,
}

/// A parameter that sets a key of the scheduler.
struct Parameter {
    name: &'static str,
    key: &'static str,
    unit: Unit,
    /// The smallest number that can be simulated.
    least: u32,
}

const fn parameter(name: &'static str, key: &'static str, unit: Unit, least: u32) -> Parameter {
    Parameter { name, key, unit, least }
}

/// An item of SchedulerParameters, which is a key of the scheduler under the same name.
const fn item(name: &'static str, unit: Unit, least: u32) -> Parameter {
    parameter(name, name, unit, least)
}

const ITEMS: [Parameter; 9] = [
    item("bf_interval", Unit::Seconds, 1),
    item("bf_resolution", Unit::Seconds, 1),
    item("bf_window", Unit::Minutes, 1),
    item("bf_window_linear", Unit::Seconds, 0),
    item("bf_max_job_test", Unit::Count, 1),
    item("bf_max_job_user", Unit::Count, 0),
    item("default_queue_depth", Unit::Count, 1),
    item("batch_sched_delay", Unit::Seconds, 0),
    item("sched_interval", Unit::Seconds, 1),
];

const PARAMETERS: [Parameter; 6] = [
    parameter("KillWait", "kill_wait", Unit::Seconds, 0),
    parameter("PriorityWeightAge", "age_weight", Unit::Count, 0),
    parameter("PriorityMaxAge", "max_age", Unit::Time, 1),
    parameter("PriorityWeightJobSize", "size_weight", Unit::Count, 0),
    parameter("PriorityWeightFairshare", "fairshare_weight", Unit::Count, 0),
    parameter("PriorityDecayHalfLife", "halflife", Unit::Time, 0),
];

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

impl SlurmConf {
    /// Reads a file and those that it includes. A file is read once by a process: all its runs follow the same content, and it
    /// may be a pipe.
    ///
    /// # Errors
    /// If a file cannot be read, or as [`SlurmConf::parse`]. The message names the file.
    pub fn read(file: &str) -> Result<Arc<SlurmConf>, String> {
        static READ: Mutex<BTreeMap<String, Arc<SlurmConf>>> = Mutex::new(BTreeMap::new());
        let mut known = READ.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(conf) = known.get(file) {
            return Ok(Arc::clone(conf));
        }
        let path = Path::new(file);
        let text = read_text(path, MOST_OF_SLURM_CONF)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let conf = SlurmConf::parse(&text, folder).map_err(|error| format!("{file}: {error}"))?;
        Ok(Arc::clone(known.entry(file.to_string()).or_insert(Arc::new(conf))))
    }

    /// Reads the text of a slurm.conf. Names of included files are relative to `folder`.
    ///
    /// # Errors
    /// If it has no parameters, a line is not one, or the value of one that is used is not valid.
    pub fn parse(text: &str, folder: &Path) -> Result<SlurmConf, ConfError> {
        let lines = lines_of(text, folder)?;
        if lines.is_empty() {
            let why = "there is no parameter such as SchedulerType=sched/backfill".into();
            return Err(ConfError { place: Place { included: None, line: 1 }, why });
        }
        let mut conf = SlurmConf { procs: processors(&lines)?, ..SlurmConf::default() };
        for (at, line) in lines.iter().enumerate() {
            conf.add(line, lines[at + 1..].iter().any(|later| later.is(&line.name)))?;
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
        let parameter = PARAMETERS.iter().find(|parameter| line.is(parameter.name)).filter(|_| !comes_again);
        if let Some(parameter) = parameter {
            return self.set(parameter, &line.value, line);
        }
        let value = line.value.to_ascii_lowercase();
        match (line.name.to_ascii_lowercase().as_str(), value.as_str()) {
            ("schedulerparameters" | "schedulertype" | "prioritytype", _) if comes_again => self.skip(line, &line.name),
            ("schedulerparameters", _) => self.add_items(line)?,
            ("schedulertype", "sched/backfill") => {}
            ("schedulertype", _) => {
                let why = format!("SchedulerType={}: only sched/backfill can be simulated", line.value);
                return Err(ConfError { place: line.place.clone(), why });
            }
            ("prioritytype", "priority/basic") => self.keys.push(("order", "fcfs".into())),
            ("prioritytype", "priority/multifactor") => self.keys.push(("order", "multifactor".into())),
            _ => self.skip(line, &line.name),
        }
        Ok(())
    }

    /// Adds the items of SchedulerParameters. Slurm looks for the first one of a name.
    fn add_items(&mut self, line: &ConfLine) -> Result<(), ConfError> {
        for item in line.value.split(',').map(str::trim).filter(|item| !item.is_empty()) {
            let (name, value) = item.split_once('=').unwrap_or((item, ""));
            match ITEMS.iter().find(|item| item.name.eq_ignore_ascii_case(name)) {
                Some(item) if self.keys.iter().all(|(known, _)| *known != item.key) => self.set(item, value, line)?,
                _ => self.skip(line, name),
            }
        }
        Ok(())
    }

    /// Notes a parameter, or an item of SchedulerParameters, that has no effect.
    fn skip(&mut self, line: &ConfLine, name: &str) {
        let begins = |begin: &&str| name.get(..begin.len()).is_some_and(|start| start.eq_ignore_ascii_case(begin));
        let is_off = ["0", "no"].iter().any(|off| line.value.eq_ignore_ascii_case(off));
        let matters = line.is("SchedulerParameters")
            || PARAMETERS.iter().any(|parameter| line.is(parameter.name))
            || MATTERING.iter().any(begins) && !is_off;
        self.unused.push(Ignored { place: line.place.clone(), name: name.to_string(), matters });
    }

    fn set(&mut self, parameter: &Parameter, value: &str, line: &ConfLine) -> Result<(), ConfError> {
        let Parameter { name, key, unit, least } = *parameter;
        let wrong = |why: &str| ConfError { place: line.place.clone(), why: format!("{name}={value}: {why}") };
        let number = match unit {
            Unit::Time => slurm_time(value).ok_or_else(|| wrong("not a time such as 7-0 or 30:00"))?,
            _ => value.parse::<u32>().map(Seconds::from).map_err(|_| wrong("not a whole number"))?,
        };
        if number < least.into() {
            return Err(wrong("the simulation has no such value; remove it to use the default"));
        }
        let value = match unit {
            Unit::Count => number.to_string(),
            Unit::Minutes => print_duration(number * MINUTE),
            // Slurm: usage never decays.
            Unit::Time if number == 0 => "36500d".to_string(),
            Unit::Seconds | Unit::Time => print_duration(number),
        };
        self.keys.push((key, value));
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
        for parameter in ITEMS.iter().chain(&PARAMETERS) {
            let is_valid = |number: i64| {
                let number = if let Unit::Count = parameter.unit { number.to_string() } else { format!("{number}s") };
                catalog::parse(&format!("slurm:{}={number}", parameter.key)).is_ok()
            };
            // A halflife of 0 has a meaning of its own.
            let least = i64::from(parameter.least).max(i64::from(parameter.key == "halflife"));
            assert!(is_valid(least) && !is_valid(least - 1), "{}", parameter.name);
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
            "slurm:bf_interval=1m,bf_window=2d,default_queue_depth=50,kill_wait=1m,order=multifactor,age_weight=1000,max_age=14d,halflife=36500d"
        );
        let [mattering, others] = unused(&conf);
        assert_eq!(
            mattering,
            [(4, "bf_continue"), (10, "PriorityWeightPartition"), (13, "NodeName"), (14, "NodeName")]
        );
        assert_eq!(others, [(2, "ClusterName"), (9, "PriorityWeightQOS")]);
        assert_eq!(conf.procs, Some(9 * 4));
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
        assert_eq!(conf.spec(), "slurm:bf_interval=90s,bf_resolution=5m,kill_wait=20s");
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
