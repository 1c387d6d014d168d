//! Reads a slurm.conf: the keys of the scheduler `slurm` that it sets, and what else it says.

use crate::schedule::catalog;
use crate::settings_file::SettingsError;
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
    /// The number of its line.
    pub line: usize,
    /// Its name; of SchedulerParameters the item, such as `bf_continue`.
    pub name: String,
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

impl SlurmConf {
    /// Reads the text of a slurm.conf.
    ///
    /// # Errors
    /// If it has no parameters, or the value of one that is used is not valid.
    pub fn parse(text: &str) -> Result<SlurmConf, SettingsError> {
        let mut conf = SlurmConf::default();
        let mut has_parameters = false;
        for (line, text) in joined_lines(text) {
            for (name, value) in parameters(&text) {
                has_parameters = true;
                conf.read(name, value, line)?;
            }
        }
        match has_parameters {
            true => Ok(conf),
            false => {
                Err(SettingsError { line: 1, why: "there is no parameter such as SchedulerType=sched/backfill".into() })
            }
        }
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

    fn read(&mut self, name: &str, value: &str, line: usize) -> Result<(), SettingsError> {
        let is = |known: &str| known.eq_ignore_ascii_case(name);
        if let Some((name, key, unit)) = PARAMETERS.iter().find(|(known, ..)| is(known)) {
            return self.set(key, name, value, *unit, line);
        }
        match name.to_ascii_lowercase().as_str() {
            "schedulerparameters" => {
                for item in value.split(',').map(str::trim).filter(|item| !item.is_empty()) {
                    let (name, value) = item.split_once('=').unwrap_or((item, ""));
                    match ITEMS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
                        Some((key, unit)) => self.set(key, key, value, *unit, line)?,
                        None => self.unused.push(Unused { line, name: name.to_string() }),
                    }
                }
            }
            "schedulertype" if value.eq_ignore_ascii_case("sched/backfill") => {}
            "schedulertype" => {
                let why = format!("SchedulerType={value}: only sched/backfill can be simulated");
                return Err(SettingsError { line, why });
            }
            "prioritytype" if value.eq_ignore_ascii_case("priority/basic") => self.put("order", "fcfs".into()),
            "prioritytype" if value.eq_ignore_ascii_case("priority/multifactor") => {
                self.put("order", "multifactor".into());
            }
            _ => self.unused.push(Unused { line, name: name.to_string() }),
        }
        Ok(())
    }

    fn set(
        &mut self,
        key: &'static str,
        name: &str,
        value: &str,
        unit: Unit,
        line: usize,
    ) -> Result<(), SettingsError> {
        let wrong = |why: &str| SettingsError { line, why: format!("{name}={value}: {why}") };
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
        self.put(key, value);
        Ok(())
    }

    /// Sets a key. As in Slurm, the last value counts.
    fn put(&mut self, key: &'static str, value: String) {
        self.keys.retain(|(known, _)| *known != key);
        self.keys.push((key, value));
    }
}

/// The lines without comments, with their numbers. A line that ends with a backslash goes on in the next.
fn joined_lines(text: &str) -> Vec<(usize, String)> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    let mut goes_on = false;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or("").trim_end();
        let (line, continues) = line.strip_suffix('\\').map_or((line, false), |line| (line, true));
        match lines.last_mut() {
            Some((_, last)) if goes_on => last.push_str(line.trim_start()),
            _ => lines.push((number, line.to_string())),
        }
        goes_on = continues;
    }
    lines
}

/// The parameters of a line. Those of nodes and partitions belong to their first one, and a file that is included is a
/// parameter without a value.
fn parameters(line: &str) -> Vec<(&str, &str)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let mut pairs = words.iter().map(|word| word.split_once('=').unwrap_or((word, "")));
    let Some(first) = pairs.next() else { return Vec::new() };
    let owns_line = ["nodename", "partitionname", "nodeset", "downnodes", "frontendname", "include"];
    match owns_line.contains(&first.0.to_ascii_lowercase().as_str()) {
        true => vec![first],
        false => [first].into_iter().chain(pairs).collect(),
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
PriorityType=priority/multifactor PriorityWeightAge=1000
PriorityMaxAge=14-0
PriorityDecayHalfLife=0
NodeName=n[1-9] CPUs=4 Weight=2
";

    #[test]
    fn keys_are_converted_and_the_rest_is_listed() {
        let conf = SlurmConf::parse(CONF).unwrap();
        assert_eq!(
            conf.scheduler().to_string(),
            "slurm:bf_interval=1m,bf_window=2d,default_queue_depth=50,kill_wait=1m,order=multifactor,age_weight=1000,max_age=14d,halflife=36500d"
        );
        let unused: Vec<_> = conf.unused.iter().map(|unused| (unused.line, unused.name.as_str())).collect();
        assert_eq!(unused, [(2, "ClusterName"), (4, "bf_continue"), (10, "NodeName")]);
    }

    #[test]
    fn keys_of_the_spec_come_first_and_other_schedulers_stay() {
        let conf = SlurmConf::parse("SchedulerParameters=bf_interval=60,bf_resolution=300").unwrap();
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
        let nothing = SlurmConf::parse("ClusterName=x").unwrap();
        assert_eq!(nothing.scheduler().to_string(), "slurm");
    }

    #[test]
    fn mistakes_are_named_with_their_lines() {
        let wrong = |text: &str| SlurmConf::parse(text).unwrap_err().to_string();
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
