//! The table of all options that change a result. The options of the main command, the dimensions of a sweep, the key of
//! a run and the column `options` are all made from it.

use crate::machine::associations::ScaledLimits;
use crate::machine::{AddedNodes, AssociationsFile, MachineFile, OutageFile};
use crate::metrics::Portion;
use crate::model::EstimateModel;
use crate::predict;
use crate::schedule;
use crate::spec::Spec;
use crate::time::{parse_duration, print_duration};
use crate::trace::{FeedbackModel, Moment, RequestFile, Resample};

use super::options::Options;
use super::run::Setting;
use super::values::{
    By, MISSING_ESTIMATES, Maybe, ON_FAILURE, OVERRUNS, OrNone, PROCS_FIELDS, Reading, Real, Replication, SWITCH,
    ValueForm, Whole, Words, at_least_a_second, host_list, partition_map, print_partition_map,
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
    words: fn() -> Vec<&'static str>,
}

/// A section of the help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// What is run and compared.
    Run,
    /// How the log is read and cleaned.
    Log,
    /// The machine of nodes.
    Machine,
    /// The format of the log.
    Reading,
    /// Models of estimates.
    Estimates,
    /// Which part of the workload is simulated, and changes of its submit times.
    Shape,
    /// Users who react to the ends of their jobs.
    Users,
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
            Section::Machine => Some("Machine of nodes"),
            Section::Reading => Some("Format of the log"),
            Section::Estimates => Some("Estimates"),
            Section::Shape => Some("Shape, in this order"),
            Section::Users => Some("Users who react"),
            Section::Engine => Some("Engine"),
            Section::Metrics => Some("Metrics"),
        }
    }
}

/// Makes the table. The value of an option is a field of [`Options`], with the form in which it is read and printed.
macro_rules! options {
    ($($section:ident { $($name:literal $value:literal [$($field:ident).+: $form:expr] $about:literal)* })*) => {
        /// All options, in the order of the help.
        pub const OPTIONS: &[OptionForm] = &[$($(OptionForm {
            name: $name,
            value: $value,
            about: $about,
            section: Section::$section,
            set: |options, text| $form.set(&mut options.$($field).+, text),
            get: |options| $form.print(&options.$($field).+),
            words: || ValueForm::words(&$form),
        },)*)*];
    };
}

options! {
    Run {
        "scheduler" "SPEC" [scheduler: By(schedule::catalog::parse, Spec::to_string)]
            "Which job starts when, as a list to compare several: easy,sjbf; see `sim list schedulers`"
        "predictor" "SPEC" [predictor: By(predict::catalog::parse, Spec::to_string)]
            "How runtimes are predicted, name or name:key=value,..., as a list or a range to compare several: sbh,ruh:window=1..3; see `sim list predictors`"
        "baseline" "SCHEDULER/PREDICTOR" [baseline: OrNone(By(Setting::parse_pair, Setting::pair))]
            "Add the improvement over this setting on the same jobs, or `none`; the baseline runs without --inflate and --pass-on-miss"
    }
    Log {
        "procs" "N" [cleaning.procs: Maybe(Whole(1, u32::MAX))]
            "Processors of the machine, else the log's MaxProcs, else its MaxNodes, else the most that were in use at once"
        "procs-field" "FIELD" [cleaning.procs_field: Words(PROCS_FIELDS)]
            "Which field has a job's processors, requested or allocated; if it is unknown, the other is used"
        "missing-estimate" "RULE" [cleaning.missing_estimate: Words(MISSING_ESTIMATES)]
            "What a job without an estimate gets: the largest of the log, its own runtime, or nothing (drop)"
        "overrun" "RULE" [cleaning.overrun: Words(OVERRUNS)]
            "A job that outlives its estimate runs on as recorded (extend), or is ended there (kill)"
        "strict" "" [cleaning.strict: Words(SWITCH)]
            "Stop at a job that is wider than the machine or can never start on it, instead of dropping and counting it"
        "skip-bad-lines" "" [skip_bad_lines: Words(SWITCH)]
            "Skip and count faulty lines instead of stopping at the first"
    }
    Machine {
        "machine" "FILE" [machine: OrNone(By(MachineFile::read, |machine| machine.file.clone()))]
            "The nodes and partitions of the machine, from a slurm.conf or TOML (`sim machine FILE` shows it), or `none`: a pool of processors; see `sim help machines`"
        "associations" "FILE" [associations: OrNone(By(AssociationsFile::read, |file| file.files.clone()))]
            "The accounts, users and QOS of the machine, with shares and limits for `slurm`: what `sacctmgr dump` writes or `sacctmgr show` prints; several as FILE,FILE; see `sim help machines`"
        "scale-limit" "NAME=FACTOR" [scaled_limits: By(ScaledLimits::parse, ScaledLimits::to_string)]
            "Limits of the accounts, users and QOS are so many times as high, rounded up: GrpTRES=2, GrpTRES/gres/gpu=2, MaxJobs=0.5; several as NAME=FACTOR,NAME=FACTOR"
        "partition-map" "OLD=NEW" [partition_map: By(partition_map, print_partition_map)]
            "Jobs of the partition OLD of the log run in NEW of the machine; several as OLD=NEW,OLD=NEW"
        "outages" "FILE" [outages: OrNone(By(OutageFile::read, |file| file.files.clone()))]
            "Parts of the machine that are down, drained, in maintenance or reserved, as csv or what `sacctmgr show event -P`, `sacctmgr show reservation -P` or `scontrol show reservation` prints; several as FILE,FILE; or `none`; see `sim help machines`"
        "on-failure" "WHAT" [on_failure_kills: Words(ON_FAILURE)]
            "What becomes of jobs that an outage stops: they wait again (requeue), or have ended (kill)"
        "add-nodes" "NODES as NODE" [added_nodes: By(AddedNodes::parse, AddedNodes::to_string)]
            "The machine also has these nodes, each as one that it has: 'n[65-72] as n1'"
        "remove-nodes" "NODES" [removed_nodes: Maybe(By(host_list, String::clone))]
            "The machine does not have these nodes: n[1-8]"
    }
    Reading {
        "log-format" "FORMAT" [reading: Reading]
            "The format of the log with its keys, such as sacct:unit=nodes; auto:unit=nodes where the content tells it. Keys: unit, submit-time, partition-limit, estimate-field, columns, cluster, and those of csv; see `sim help logs`"
        "requests" "FILE" [reading.requests: Maybe(By(RequestFile::open, |file| file.name.clone()))]
            "What the jobs ask for and wait for, by job number, in the place of what the log says: a CSV as `sim trace convert --requests-out` writes it"
    }
    Estimates {
        "estimates" "MODEL" [estimates: OrNone(By(EstimateModel::parse, EstimateModel::to_string))]
            "Replace the estimates by those of a model, or `none`: see `sim list estimates`; not together with --missing-estimate"
        "estimates-seed" "S" [estimates_seed: Whole(0, u64::MAX)]
            "The seed of the random numbers of --estimates"
    }
    Shape {
        "from" "WHEN" [shaping.from: Maybe(By(Moment::parse, Moment::to_string))]
            "Only jobs submitted at least this long after the first (30d), or from this date on (2016-12-25, UTC)"
        "to" "WHEN" [shaping.to: Maybe(By(Moment::parse, Moment::to_string))]
            "Only jobs submitted less than this long after the first, or before this date"
        "first" "N" [shaping.first: Maybe(Whole(1, u32::MAX as usize))]
            "Only the first N jobs"
        "resample" "HOW" [shaping.resample: OrNone(By(Resample::parse, Resample::to_string))]
            "Another year of the same site: users or weeks of the log, drawn with replacement by --seed, or `none`; see `sim help comparisons`"
        "repeat" "N" [shaping.repeat: Whole(1, u32::MAX)]
            "Repeat the log N times in sequence"
        "load" "FACTOR" [shaping.load: Real(0.001, 1000.0)]
            "Divide the time between submissions by this: above 1 the machine is busier"
        "shake" "DURATION" [shaping.shake: By(parse_duration, |shake| print_duration(*shake))]
            "Move each submission but the first by a random time up to this, earlier or later, to see the effect of chance"
        "seed" "S" [shaping.seed: Whole(0, u64::MAX)]
            "The seed of all random numbers, except those of --estimates"
        "replication" "I" [shaping: Replication]
            "The same as --shake 30s --seed I, with --resample as --seed I; 0 is the log as it is"
    }
    Users {
        "feedback" "MODEL" [feedback: OrNone(By(FeedbackModel::parse, FeedbackModel::to_string))]
            "Jobs arrive after the simulated ends of earlier jobs of their users: think, session or swf, or `none`: at the times in the log; see `sim help feedback`"
    }
    Engine {
        // With a factor below 1, the predicted end of a running job could be in the past.
        "inflate" "FACTOR" [inflate: Real(1.0, 1e6)]
            "Multiply predictions by this (at least 1) in the scheduler's own arithmetic"
        "pass-on-miss" "" [pass_on_miss: Words(SWITCH)]
            "Schedule after a missed deadline too, not only after arrivals and terminations"
    }
    Metrics {
        "warmup" "JOBS|PERCENT%" [measure.warmup: By(Portion::parse, Portion::to_string)]
            "Leave this number of jobs (100) or share of jobs (1%) at the beginning out of the metrics"
        "cooldown" "JOBS|PERCENT%" [measure.cooldown: By(Portion::parse, Portion::to_string)]
            "The same at the end"
        "bsld-threshold" "DURATION" [measure.bsld_threshold: By(at_least_a_second, |threshold| print_duration(*threshold))]
            "In the bounded slowdown, runtimes below this count as this"
    }
}

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
        (self.words)()
    }

    /// Checks a value.
    ///
    /// # Errors
    /// If the option does not accept it; the message says why.
    pub fn check(&self, text: &str) -> Result<(), String> {
        self.alone(text).map(|_| ())
    }

    /// The default options with this value.
    ///
    /// # Errors
    /// As [`OptionForm::check`].
    pub fn alone(&self, text: &str) -> Result<Options, String> {
        let mut options = Options::default();
        self.set(&mut options, text)?;
        Ok(options)
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
            ("log-format", "auto:unit=nodes,submit-time=eligible", "auto:unit=nodes"),
            ("requests", "Cargo.toml", "Cargo.toml"),
            ("machine", "none", ""),
            ("associations", "none", ""),
            ("scale-limit", "maxjobspu=0.50", "MaxJobs=0.5"),
            ("partition-map", "old=new", "old=new"),
            ("outages", "none", ""),
            ("on-failure", "kill", "kill"),
            ("add-nodes", "n[3-4] as n1,b as c", "n[3-4] as n1,b as c"),
            ("remove-nodes", "n[1-2]", "n[1-2]"),
            ("estimates", "f:f=3.0", "f"),
            ("estimates", "none", ""),
            ("estimates-seed", "7", "7"),
            ("from", "24h", "1d"),
            ("to", "90s", "90s"),
            ("to", "2016-12-25T00:00:00", "2016-12-25"),
            ("first", "10", "10"),
            ("resample", "users:profile=4", "users"),
            ("resample", "weeks:load=5.0%,block=2", "weeks:block=2,load=5%"),
            ("resample", "none", ""),
            ("repeat", "3", "3"),
            ("load", "1.20", "1.2"),
            ("shake", "30", "30s"),
            ("seed", "7", "7"),
            ("feedback", "think:limit=1200", "think"),
            ("feedback", "none", ""),
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
            if name == "shake" || name == "resample" && !printed.is_empty() {
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
        assert_eq!(OPTIONS.len(), 36, "a new option needs its line in this test");
    }

    #[test]
    fn the_words_of_an_option_are_those_of_its_errors() {
        for option in OPTIONS {
            let message = option.check("no such word").err().unwrap_or_default();
            let listed = message.split_once(" is not one of ").map_or(String::new(), |(_, words)| words.to_string());
            assert_eq!(option.words().join(", "), listed, "{}", option.name);
        }
    }
}
