//! The table of all options that change a result. The options of the main command, the dimensions of a sweep, the key of
//! a run and the column `options` are all made from it.

use crate::metrics::Portion;
use crate::model::EstimateModel;
use crate::predict;
use crate::schedule;
use crate::spec::SpecError;
use crate::time::{Seconds, parse_duration, print_duration};
use crate::trace::{LogFormat, Moment};

use super::options::Options;
use super::run::Setting;
use super::values::{
    ESTIMATE_FIELDS, MISSING_ESTIMATES, OVERRUNS, PROCS_FIELDS, SUBMIT_TIMES, SWITCH, UNITS, assign, at_least_a_second,
    columns, partition_limits, print_partition_limits, real, spec, whole, word, word_of, words_of,
};

/// An option of the command line.
#[derive(Debug)]
pub struct OptionForm {
    /// As written on the command line, without the two dashes.
    pub name: &'static str,
    /// The placeholder of its value in help; empty for a switch.
    pub value: &'static str,
    /// Its line in help.
    pub about: &'static str,
    /// Its section in help.
    pub section: Section,
    set: fn(&mut Options, &str) -> Result<(), String>,
    /// The value as it is printed; empty if the option is not set.
    get: fn(&Options) -> String,
}

/// A section of the help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// What is run and compared.
    Run,
    /// How the log is read and cleaned.
    Log,
    /// The format of the log.
    Reading,
    /// Models of estimates.
    Estimates,
    /// Which part of the workload is simulated, and changes of its submit times.
    Shape,
    /// How the simulation runs.
    Engine,
    /// Which jobs are measured.
    Metrics,
}

impl Section {
    /// The heading in help. None for the section before all headings.
    pub fn heading(self) -> Option<&'static str> {
        match self {
            Section::Run => None,
            Section::Log => Some("Log"),
            Section::Reading => Some("Format of the log"),
            Section::Estimates => Some("Estimates"),
            Section::Shape => Some("Shape, in this order"),
            Section::Engine => Some("Engine"),
            Section::Metrics => Some("Metrics"),
        }
    }
}

/// All options, in the order of the help.
pub const OPTIONS: &[OptionForm] = &[
    OptionForm {
        name: "scheduler",
        value: "SPEC",
        about: "Which job starts when, as a list to compare several: easy,sjbf; see `sim list schedulers`",
        section: Section::Run,
        set: |options, text| spec(&mut options.scheduler, schedule::catalog::parse(text)),
        get: |options| options.scheduler.to_string(),
    },
    OptionForm {
        name: "predictor",
        value: "SPEC",
        about: "How runtimes are predicted, name or name:key=value,..., as a list or a range to compare several: sbh,ruh:window=1..3; see `sim list predictors`",
        section: Section::Run,
        set: |options, text| spec(&mut options.predictor, predict::catalog::parse(text)),
        get: |options| options.predictor.to_string(),
    },
    OptionForm {
        name: "baseline",
        value: "SCHEDULER/PREDICTOR",
        about: "Add the improvement over another run of the same jobs, or `none`; that run is plain, without --inflate and --pass-on-miss",
        section: Section::Run,
        set: |options, text| match text {
            "none" => spec(&mut options.baseline, Ok(None)),
            _ => spec(&mut options.baseline, Setting::parse_pair(text).map(Some)),
        },
        get: |options| options.baseline.as_ref().map_or(String::new(), Setting::pair),
    },
    OptionForm {
        name: "procs",
        value: "N",
        about: "Processors of the machine, else the log's MaxProcs, else its MaxNodes, else the most that were in use at once",
        section: Section::Log,
        set: |options, text| assign(&mut options.cleaning.procs, whole(text, 1, u32::MAX).map(Some)),
        get: |options| options.cleaning.procs.map_or(String::new(), |procs| procs.to_string()),
    },
    OptionForm {
        name: "procs-field",
        value: "FIELD",
        about: "Which field has a job's processors, requested or allocated; if it is unknown, the other is used",
        section: Section::Log,
        set: |options, text| assign(&mut options.cleaning.procs_field, word(text, PROCS_FIELDS)),
        get: |options| word_of(options.cleaning.procs_field, PROCS_FIELDS),
    },
    OptionForm {
        name: "missing-estimate",
        value: "RULE",
        about: "What a job without an estimate gets: the largest of the log, its own runtime, or nothing (drop)",
        section: Section::Log,
        set: |options, text| assign(&mut options.cleaning.missing_estimate, word(text, MISSING_ESTIMATES)),
        get: |options| word_of(options.cleaning.missing_estimate, MISSING_ESTIMATES),
    },
    OptionForm {
        name: "overrun",
        value: "RULE",
        about: "A job that outlives its estimate runs on as recorded (extend), or is ended there (kill)",
        section: Section::Log,
        set: |options, text| assign(&mut options.cleaning.overrun, word(text, OVERRUNS)),
        get: |options| word_of(options.cleaning.overrun, OVERRUNS),
    },
    OptionForm {
        name: "strict",
        value: "",
        about: "A job wider than the machine is an error, instead of being dropped and counted",
        section: Section::Log,
        set: |options, text| assign(&mut options.cleaning.strict, word(text, SWITCH)),
        get: |options| word_of(options.cleaning.strict, SWITCH),
    },
    OptionForm {
        name: "skip-bad-lines",
        value: "",
        about: "Skip and count faulty lines instead of stopping at the first",
        section: Section::Log,
        set: |options, text| assign(&mut options.skip_bad_lines, word(text, SWITCH)),
        get: |options| word_of(options.skip_bad_lines, SWITCH),
    },
    OptionForm {
        name: "log-format",
        value: "FORMAT",
        about: "The format of the log, if its content does not tell; `sim help logs` lists the formats",
        section: Section::Reading,
        set: |options, text| spec(&mut options.reading.format, LogFormat::parse(text).map(Some)),
        get: |options| options.reading.format.as_ref().map_or(String::new(), LogFormat::to_string),
    },
    OptionForm {
        name: "unit",
        value: "UNIT",
        about: "What a processor is in a log that is not SWF: cpus, nodes or gpus",
        section: Section::Reading,
        set: |options, text| assign(&mut options.reading.unit, word(text, UNITS)),
        get: |options| word_of(options.reading.unit, UNITS),
    },
    OptionForm {
        name: "submit-time",
        value: "TIME",
        about: "When a held or dependent job of a log that is not SWF counts as submitted: when it became eligible, or when it was submitted",
        section: Section::Reading,
        set: |options, text| assign(&mut options.reading.submit_time, word(text, SUBMIT_TIMES)),
        get: |options| word_of(options.reading.submit_time, SUBMIT_TIMES),
    },
    OptionForm {
        name: "partition-limit",
        value: "NAME=DURATION",
        about: "The estimate of jobs of an sacct log that have the limit of their partition; several as NAME=DURATION,NAME=DURATION",
        section: Section::Reading,
        set: |options, text| assign(&mut options.reading.partition_limits, partition_limits(text)),
        get: |options| print_partition_limits(&options.reading.partition_limits),
    },
    OptionForm {
        name: "estimate-field",
        value: "FIELD",
        about: "Which field of a PBS log has the estimate: walltime or soft_walltime",
        section: Section::Reading,
        set: |options, text| assign(&mut options.reading.estimate_field, word(text, ESTIMATE_FIELDS)),
        get: |options| word_of(options.reading.estimate_field, ESTIMATE_FIELDS),
    },
    OptionForm {
        name: "columns",
        value: "NAME,...",
        about: "The columns of an sacct log without a header, as `sacct --format` has them",
        section: Section::Reading,
        set: |options, text| assign(&mut options.reading.columns, columns(text).map(Some)),
        get: |options| options.reading.columns.as_ref().map_or(String::new(), |names| names.join(",")),
    },
    OptionForm {
        name: "cluster",
        value: "NAME",
        about: "Only the jobs of this cluster of an sacct log",
        section: Section::Reading,
        set: |options, text| assign(&mut options.reading.cluster, Ok(Some(text.to_string()))),
        get: |options| options.reading.cluster.clone().unwrap_or_default(),
    },
    OptionForm {
        name: "estimates",
        value: "MODEL",
        about: "Replace the estimates by those of a model, or `none`: see `sim list estimates`; not together with --missing-estimate",
        section: Section::Estimates,
        set: |options, text| match text {
            "none" => spec(&mut options.estimates, Ok(None)),
            _ => spec(&mut options.estimates, EstimateModel::parse(text).map(Some)),
        },
        get: |options| options.estimates.as_ref().map_or(String::new(), EstimateModel::to_string),
    },
    OptionForm {
        name: "estimates-seed",
        value: "S",
        about: "The seed of the random numbers of --estimates",
        section: Section::Estimates,
        set: |options, text| assign(&mut options.estimates_seed, whole(text, 0, u64::MAX)),
        get: |options| options.estimates_seed.to_string(),
    },
    OptionForm {
        name: "from",
        value: "WHEN",
        about: "Only jobs submitted at least this long after the first (30d), or from this date on (2016-12-25, UTC)",
        section: Section::Shape,
        set: |options, text| assign(&mut options.shaping.from, Moment::parse(text).map(Some)),
        get: |options| options.shaping.from.map_or(String::new(), |from| from.to_string()),
    },
    OptionForm {
        name: "to",
        value: "WHEN",
        about: "Only jobs submitted less than this long after the first, or before this date",
        section: Section::Shape,
        set: |options, text| assign(&mut options.shaping.to, Moment::parse(text).map(Some)),
        get: |options| options.shaping.to.map_or(String::new(), |to| to.to_string()),
    },
    OptionForm {
        name: "first",
        value: "N",
        about: "Only the first N jobs",
        section: Section::Shape,
        set: |options, text| assign(&mut options.shaping.first, whole(text, 1, u32::MAX).map(|n| Some(n as usize))),
        get: |options| options.shaping.first.map_or(String::new(), |first| first.to_string()),
    },
    OptionForm {
        name: "repeat",
        value: "N",
        about: "Repeat the log N times in sequence",
        section: Section::Shape,
        set: |options, text| assign(&mut options.shaping.repeat, whole(text, 1, u32::MAX)),
        get: |options| options.shaping.repeat.to_string(),
    },
    OptionForm {
        name: "load",
        value: "FACTOR",
        about: "Divide the time between submissions by this: above 1 the machine is busier",
        section: Section::Shape,
        set: |options, text| assign(&mut options.shaping.load, real(text, 0.001, 1000.0)),
        get: |options| options.shaping.load.to_string(),
    },
    OptionForm {
        name: "shake",
        value: "DURATION",
        about: "Move each submission but the first by a random time up to this, earlier or later, to see the effect of chance",
        section: Section::Shape,
        set: |options, text| assign(&mut options.shaping.shake, parse_duration(text)),
        get: |options| print_duration(options.shaping.shake),
    },
    OptionForm {
        name: "seed",
        value: "S",
        about: "The seed of all random numbers, except those of --estimates",
        section: Section::Shape,
        set: |options, text| assign(&mut options.shaping.seed, whole(text, 0, u64::MAX)),
        get: |options| options.shaping.seed.to_string(),
    },
    OptionForm {
        name: "replication",
        value: "I",
        about: "The same as --shake 30s --seed I; 0 is the log as it is",
        section: Section::Shape,
        set: |options, text| {
            let replication = whole(text, 0, u64::MAX)?;
            if replication > 0 {
                (options.shaping.shake, options.shaping.seed) = (SHAKE, replication);
            }
            Ok(())
        },
        // Printed as the two options that it sets.
        get: |_| String::new(),
    },
    OptionForm {
        name: "inflate",
        value: "FACTOR",
        about: "Multiply predictions by this (at least 1) in the scheduler's own arithmetic",
        section: Section::Engine,
        // With a factor below 1, the predicted end of a running job could be in the past.
        set: |options, text| assign(&mut options.inflate, real(text, 1.0, 1e6)),
        get: |options| options.inflate.to_string(),
    },
    OptionForm {
        name: "pass-on-miss",
        value: "",
        about: "Schedule after a missed deadline too, not only after arrivals and terminations",
        section: Section::Engine,
        set: |options, text| assign(&mut options.pass_on_miss, word(text, SWITCH)),
        get: |options| word_of(options.pass_on_miss, SWITCH),
    },
    OptionForm {
        name: "warmup",
        value: "JOBS|PERCENT%",
        about: "Leave this number of jobs (100) or share of jobs (1%) at the beginning out of the metrics",
        section: Section::Metrics,
        set: |options, text| assign(&mut options.measure.warmup, Portion::parse(text)),
        get: |options| options.measure.warmup.to_string(),
    },
    OptionForm {
        name: "cooldown",
        value: "JOBS|PERCENT%",
        about: "The same at the end",
        section: Section::Metrics,
        set: |options, text| assign(&mut options.measure.cooldown, Portion::parse(text)),
        get: |options| options.measure.cooldown.to_string(),
    },
    OptionForm {
        name: "bsld-threshold",
        value: "DURATION",
        about: "In the bounded slowdown, runtimes below this count as this",
        section: Section::Metrics,
        set: |options, text| assign(&mut options.measure.bsld_threshold, at_least_a_second(text)),
        get: |options| print_duration(options.measure.bsld_threshold),
    },
];

/// Pairs of options in which the first would overrule the second, with the reason.
const OVERRULING: [(&str, &str, &str); 3] = [
    ("replication", "shake", REPLICATION),
    ("replication", "seed", REPLICATION),
    ("estimates", "missing-estimate", "with --estimates every job has an estimate of the model"),
];
const REPLICATION: &str = "--replication I means --shake 30s --seed I";

/// Checks that no option overrules another one. `is_given` returns whether an option was given with a value other than
/// `none`.
///
/// # Errors
/// If an option would have no effect.
pub fn refuse_overruled(is_given: impl Fn(&str) -> bool) -> Result<(), SpecError> {
    match OVERRULING.iter().find(|(first, second, _)| is_given(first) && is_given(second)) {
        None => Ok(()),
        Some((first, second, why)) => {
            Err(SpecError(format!("--{second} has no effect together with --{first}: {why}; remove one of them")))
        }
    }
}

/// The option without which this seed has no effect, for messages.
pub fn what_draws(seed: &str) -> &'static str {
    match seed {
        "estimates-seed" => "a random model in --estimates",
        _ => "--shake",
    }
}

/// The most by which a replication moves submissions: small for users, but enough to show the effect of chance.
const SHAKE: Seconds = 30;

impl OptionForm {
    /// The option of this name, without dashes. None if there is none.
    pub fn find(name: &str) -> Option<&'static OptionForm> {
        OPTIONS.iter().find(|option| option.name == name)
    }

    /// Whether it has no value on the command line.
    pub fn is_switch(&self) -> bool {
        self.value.is_empty()
    }

    /// The words that are its values. Empty if its values are numbers, durations, names or other texts.
    pub fn words(&self) -> Vec<&'static str> {
        match self.name {
            "procs-field" => words_of(PROCS_FIELDS),
            "missing-estimate" => words_of(MISSING_ESTIMATES),
            "overrun" => words_of(OVERRUNS),
            "unit" => words_of(UNITS),
            "submit-time" => words_of(SUBMIT_TIMES),
            "estimate-field" => words_of(ESTIMATE_FIELDS),
            _ if self.is_switch() => words_of(SWITCH),
            _ => Vec::new(),
        }
    }

    /// Checks a value.
    ///
    /// # Errors
    /// If the option does not accept it; the message says why.
    pub fn check(&self, text: &str) -> Result<(), String> {
        self.set(&mut Options::default(), text)
    }

    /// Sets the option; a switch is `on` or `off`.
    ///
    /// # Errors
    /// If the option does not accept this value; the message says why.
    pub fn set(&self, options: &mut Options, text: &str) -> Result<(), String> {
        (self.set)(options, text)
    }

    /// The value as it is printed; empty if it is not set.
    pub fn get(&self, options: &Options) -> String {
        (self.get)(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_prints_what_it_reads() {
        for (name, text, printed) in [
            ("scheduler", "easy", "easy"),
            ("predictor", "ruh:window=3,cap=on", "ruh:cap=on"),
            ("baseline", "easy/estimate", "easy/estimate"),
            ("baseline", "none", ""),
            ("procs", "64", "64"),
            ("procs-field", "allocated", "allocated"),
            ("missing-estimate", "drop", "drop"),
            ("overrun", "kill", "kill"),
            ("strict", "on", "on"),
            ("skip-bad-lines", "on", "on"),
            ("log-format", "csv:procs=p,submit=s,start=t,run=r", "csv:submit=s,start=t,run=r,procs=p"),
            ("unit", "nodes", "nodes"),
            ("submit-time", "submitted", "submitted"),
            ("partition-limit", "a=24h,b=90", "a=1d,b=90s"),
            ("estimate-field", "soft_walltime", "soft_walltime"),
            ("columns", "JobID,Submit", "JobID,Submit"),
            ("cluster", "c1", "c1"),
            ("estimates", "f:f=3.0", "f"),
            ("estimates", "none", ""),
            ("estimates-seed", "7", "7"),
            ("from", "24h", "1d"),
            ("to", "90", "90s"),
            ("to", "2016-12-25T00:00:00", "2016-12-25"),
            ("first", "10", "10"),
            ("repeat", "3", "3"),
            ("load", "1.20", "1.2"),
            ("shake", "30", "30s"),
            ("seed", "7", "7"),
            ("inflate", "2.0", "2"),
            ("pass-on-miss", "on", "on"),
            ("warmup", "1%", "1%"),
            ("cooldown", "100", "100"),
            ("bsld-threshold", "60", "1m"),
        ] {
            let option = OptionForm::find(name).unwrap();
            let mut options = Options::default();
            option.set(&mut options, text).unwrap();
            assert_eq!(option.get(&options), printed, "{name}");
            let given: Vec<_> = options.given().map(|(option, value)| (option.name, value)).collect();
            let mut expected = if printed.is_empty() { vec![] } else { vec![(name, printed.to_string())] };
            if name == "shake" {
                expected.push(("seed", "1".to_string()));
            }
            assert_eq!(given, expected);
        }
        let given = |replication| {
            let mut options = Options::default();
            OptionForm::find("replication").unwrap().set(&mut options, replication).unwrap();
            options.given().map(|(option, value)| format!("{}={value}", option.name)).collect::<Vec<_>>()
        };
        assert_eq!((given("0"), given("3")), (vec![], vec!["shake=30s".to_string(), "seed=3".to_string()]));
        assert_eq!(OPTIONS.len(), 31, "a new option needs its line in this test");
    }

    #[test]
    fn the_words_of_an_option_are_those_of_its_errors() {
        for option in OPTIONS {
            let message = option.check("no such word").err().unwrap_or_default();
            let listed = message.split_once(" is not one of ").map_or(String::new(), |(_, words)| words.to_string());
            assert_eq!(option.words().join(", "), listed, "{}", option.name);
        }
    }

    #[test]
    fn options_that_overrule_each_other_are_refused() {
        let refused = |given: &[&str]| refuse_overruled(|name| given.contains(&name)).err().map(|error| error.0);
        assert_eq!(refused(&["shake", "seed", "estimates", "load"]), None);
        assert!(
            refused(&["seed", "replication"]).unwrap().starts_with("--seed has no effect together with --replication")
        );
        assert!(refused(&["replication", "shake"]).is_some() && refused(&["missing-estimate", "estimates"]).is_some());
    }
}
