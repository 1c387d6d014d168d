//! Reads a slurm.conf: the keys of the scheduler `slurm` that it sets, and what else it says.

mod lines;

use std::path::Path;

pub use lines::{ConfError, ConfLine, Place};

use crate::schedule::catalog;
use crate::settings_file::{MOST_OF_SLURM_CONF, read_text};
use crate::spec::{Spec, SpecError, quote, split_list};
use crate::time::{DAY, HOUR, MINUTE, Seconds, print_duration};

use super::settings::FORM;

/// What a slurm.conf says of scheduling.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlurmConf {
    /// The keys of the scheduler `slurm` with their values.
    keys: Vec<(&'static str, String)>,
    /// What has no effect on the simulation.
    pub unused: Vec<Unused>,
}

/// A parameter of a slurm.conf that has no effect on the simulation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unused {
    /// Where it is.
    pub place: Place,
    /// Its name; of SchedulerParameters the item, such as `bf_continue`.
    pub name: String,
    /// Whether it changes which jobs start at a site: a parameter of scheduling, of priorities, of nodes or of partitions.
    pub matters: bool,
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

/// Items of SchedulerParameters that are keys of the scheduler under the same name.
const ITEMS: [(&str, Unit); 9] = [
    ("bf_interval", Unit::Seconds),
    ("bf_resolution", Unit::Seconds),
    ("bf_window", Unit::Minutes),
    ("bf_window_linear", Unit::Seconds),
    ("bf_max_job_test", Unit::Count),
    ("bf_max_job_user", Unit::Count),
    ("default_queue_depth", Unit::Count),
    ("batch_sched_delay", Unit::Seconds),
    ("sched_interval", Unit::Seconds),
];

/// Other parameters, and the keys that they set.
const PARAMETERS: [(&str, &str, Unit); 6] = [
    ("KillWait", "kill_wait", Unit::Seconds),
    ("PriorityWeightAge", "age_weight", Unit::Count),
    ("PriorityMaxAge", "max_age", Unit::Time),
    ("PriorityWeightJobSize", "size_weight", Unit::Count),
    ("PriorityWeightFairshare", "fairshare_weight", Unit::Count),
    ("PriorityDecayHalfLife", "halflife", Unit::Time),
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
    /// Reads a file and those that it includes.
    ///
    /// # Errors
    /// If a file cannot be read, or as [`SlurmConf::parse`]. The message names the file.
    pub fn read(file: &Path) -> Result<SlurmConf, String> {
        let text = read_text(file, MOST_OF_SLURM_CONF)?;
        let folder = file.parent().unwrap_or(Path::new(""));
        SlurmConf::parse(&text, folder).map_err(|error| format!("{}: {error}", file.display()))
    }

    /// Reads the text of a slurm.conf. Names of included files are relative to `folder`.
    ///
    /// # Errors
    /// If it has no parameters, a line is not one, or the value of one that is used is not valid.
    pub fn parse(text: &str, folder: &Path) -> Result<SlurmConf, ConfError> {
        let lines = lines::lines_of(text, folder)?;
        if lines.is_empty() {
            let why = "there is no parameter such as SchedulerType=sched/backfill".into();
            return Err(ConfError { place: Place { included: None, line: 1 }, why });
        }
        let mut conf = SlurmConf::default();
        for (at, line) in lines.iter().enumerate() {
            conf.add(line, lines[at + 1..].iter().any(|later| later.is(&line.name)))?;
        }
        Ok(conf)
    }

    /// The spec of the scheduler, such as `slurm:bf_interval=1m`.
    pub fn scheduler(&self) -> Spec {
        let plain = catalog::parse(FORM.name).expect("slurm is in the catalog");
        self.complete(&plain).expect("the keys were checked when they were read")
    }

    /// A spec of the scheduler `slurm` with the keys of the file that the spec does not have. Other specs stay as they are.
    ///
    /// # Errors
    /// If the spec with the keys is not valid.
    pub fn complete(&self, spec: &Spec) -> Result<Spec, SpecError> {
        if spec.name() != FORM.name {
            return Ok(spec.clone());
        }
        let written: Vec<_> = spec.written().map(|(key, value)| format!("{key}={}", quote(value))).collect();
        catalog::parse(&self.complete_item(&format!("{}:{}", FORM.name, written.join(","))))
    }

    /// A list of specs in which each `slurm` has the keys of the file that it does not have itself. The list may have ranges and
    /// braces.
    ///
    /// # Errors
    /// If the text is not a list.
    pub fn complete_list(&self, text: &str) -> Result<String, SpecError> {
        Ok(split_list(text)?.iter().map(|item| self.complete_item(item)).collect::<Vec<_>>().join(","))
    }

    /// The same for a list of `SCHEDULER/PREDICTOR`.
    ///
    /// # Errors
    /// If the text is not a list.
    pub fn complete_pairs(&self, text: &str) -> Result<String, SpecError> {
        let complete = |pair: &String| match pair.split_once('/') {
            Some((scheduler, predictor)) => format!("{}/{predictor}", self.complete_item(scheduler)),
            None => pair.clone(),
        };
        Ok(split_list(text)?.iter().map(complete).collect::<Vec<_>>().join(","))
    }

    /// One spec of a list. Its keys stay as they are written, which may be a range.
    fn complete_item(&self, item: &str) -> String {
        let (name, given) = item.split_once(':').unwrap_or((item, ""));
        if name != FORM.name {
            return item.to_string();
        }
        let has = |key: &str| given.starts_with(&format!("{key}=")) || given.contains(&format!(",{key}="));
        let added = self.keys.iter().filter(|(key, _)| !has(key)).map(|(key, value)| format!("{key}={value}"));
        let given = Some(given.to_string()).filter(|given| !given.is_empty());
        let pairs: Vec<String> = given.into_iter().chain(added).collect();
        if pairs.is_empty() { name.to_string() } else { format!("{name}:{}", pairs.join(",")) }
    }

    /// Adds what a line says. As in Slurm, the last of several lines with one parameter counts.
    fn add(&mut self, line: &ConfLine, comes_again: bool) -> Result<(), ConfError> {
        let parameter = PARAMETERS.iter().find(|(name, ..)| line.is(name)).filter(|_| !comes_again);
        if let Some((name, key, unit)) = parameter {
            return self.set(key, name, &line.value, *unit, line);
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
            match ITEMS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
                Some((key, unit)) if self.keys.iter().all(|(known, _)| known != key) => {
                    self.set(key, key, value, *unit, line)?;
                }
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
            || PARAMETERS.iter().any(|(known, ..)| line.is(known))
            || MATTERING.iter().any(begins) && !is_off;
        self.unused.push(Unused { place: line.place.clone(), name: name.to_string(), matters });
    }

    fn set(
        &mut self,
        key: &'static str,
        name: &str,
        value: &str,
        unit: Unit,
        line: &ConfLine,
    ) -> Result<(), ConfError> {
        let wrong = |why: &str| ConfError { place: line.place.clone(), why: format!("{name}={value}: {why}") };
        let whole = || value.parse::<u32>().map(Seconds::from).map_err(|_| wrong("not a whole number"));
        let value = match unit {
            Unit::Count => whole()?.to_string(),
            Unit::Seconds => print_duration(whole()?),
            Unit::Minutes => print_duration(whole()? * MINUTE),
            Unit::Time => match slurm_time(value).ok_or_else(|| wrong("not a time such as 7-0 or 30:00"))? {
                // Slurm: usage never decays.
                0 if key == "halflife" => "36500d".to_string(),
                seconds => print_duration(seconds),
            },
        };
        if let Err(SpecError(_)) = catalog::parse(&format!("{}:{key}={value}", FORM.name)) {
            return Err(wrong("the simulation has no such value; remove it to use the default"));
        }
        self.keys.push((key, value));
        Ok(())
    }
}

/// Seconds of a time as Slurm writes it: minutes, minutes:seconds, hours:minutes:seconds, days-hours, days-hours:minutes or
/// days-hours:minutes:seconds.
fn slurm_time(text: &str) -> Option<Seconds> {
    let number = |text: &str| text.parse::<u32>().ok().map(Seconds::from);
    let (days, clock) = match text.split_once('-') {
        Some((days, clock)) => (Some(number(days)?), clock),
        None => (None, text),
    };
    let parts: Vec<Seconds> = clock.split(':').map(number).collect::<Option<_>>()?;
    let seconds = match (days, parts.as_slice()) {
        (None, [minutes]) => minutes * MINUTE,
        (None, [minutes, seconds]) => minutes * MINUTE + seconds,
        (_, [hours, minutes, seconds]) => hours * HOUR + minutes * MINUTE + seconds,
        (Some(_), [hours]) => hours * HOUR,
        (Some(_), [hours, minutes]) => hours * HOUR + minutes * MINUTE,
        _ => return None,
    };
    Some(days.unwrap_or(0) * DAY + seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

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
            conf.scheduler().to_string(),
            "slurm:bf_interval=1m,bf_window=2d,default_queue_depth=50,kill_wait=1m,order=multifactor,age_weight=1000,max_age=14d,halflife=36500d"
        );
        let [mattering, others] = unused(&conf);
        assert_eq!(
            mattering,
            [(4, "bf_continue"), (10, "PriorityWeightPartition"), (13, "NodeName"), (14, "NodeName")]
        );
        assert_eq!(others, [(2, "ClusterName"), (9, "PriorityWeightQOS")]);
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
        assert_eq!(conf.scheduler().to_string(), "slurm:bf_interval=90s,bf_resolution=5m,kill_wait=20s");
        let [mattering, others] = unused(&conf);
        assert_eq!(mattering, [(1, "SchedulerParameters"), (2, "KillWait"), (3, "bf_interval")]);
        assert_eq!(others, [(5, "PrologFlags"), (6, "PrologFlags")]);
    }

    #[test]
    fn keys_of_the_spec_come_first_and_other_schedulers_stay() {
        let conf = parse("SchedulerParameters=bf_interval=60,bf_resolution=300").unwrap();
        let complete = |text: &str| conf.complete(&catalog::parse(text).unwrap()).unwrap().to_string();
        assert_eq!(complete("slurm"), "slurm:bf_interval=1m,bf_resolution=5m");
        assert_eq!(complete("slurm:bf_interval=30s,running=prediction"), "slurm:bf_resolution=5m,running=prediction");
        assert_eq!(complete("slurm:shares_file=1:2;3:4"), "slurm:bf_interval=1m,bf_resolution=5m,shares_file=1:2;3:4");
        assert_eq!(complete("easy:scan=saf"), "easy:scan=saf");
        let list = |text: &str| conf.complete_list(text).unwrap();
        assert_eq!(list("slurm,easy:scan=saf"), "slurm:bf_interval=1m,bf_resolution=5m,easy:scan=saf");
        assert_eq!(list("slurm:bf_interval={10s|30s}"), "slurm:bf_interval={10s|30s},bf_resolution=5m");
        let pairs = conf.complete_pairs("easy/ruh,slurm:bf_interval=10s/estimate,slurm/ruh").unwrap();
        assert_eq!(
            pairs,
            "easy/ruh,slurm:bf_interval=10s,bf_resolution=5m/estimate,slurm:bf_interval=1m,bf_resolution=5m/ruh"
        );
        let nothing = parse("ClusterName=x").unwrap();
        assert_eq!(nothing.scheduler().to_string(), "slurm");
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

    #[test]
    fn times_are_read_as_slurm_reads_them() {
        for (text, seconds) in [
            ("90", Some(5400)),
            ("1:30", Some(90)),
            ("1:00:30", Some(3630)),
            ("2-3", Some(2 * DAY + 3 * HOUR)),
            ("2-3:30", Some(2 * DAY + 3 * HOUR + 30 * MINUTE)),
            ("1-0:0:1", Some(DAY + 1)),
            ("1-", None),
            ("x", None),
            ("1:2:3:4", None),
        ] {
            assert_eq!(slurm_time(text), seconds, "{text}");
        }
    }
}
