//! What every study is: the logs that it can use, its options, and the function that computes its figures.

use std::fmt;
use std::path::PathBuf;

use super::figure::Figure;
use super::logs::{ArchiveLog, FoundLog};
use crate::engine::EngineError;
use crate::metrics::{Column, column_list};
use crate::report::OutputError;
use crate::runs::{ComputedRuns, PlannedRun, RunPlan, RunsError};
use crate::trace::TraceError;
use crate::wait::EvaluationPlan;

/// A paper whose figures are computed again.
#[derive(Clone, Copy)]
pub struct Study {
    /// The name after `sim reproduce`.
    pub name: &'static str,
    /// The paper in a few words.
    pub paper: &'static str,
    /// What `sim reproduce NAME --help` prints after its options: examples, logs, and what they cost.
    pub help: &'static str,
    /// The logs that it can use; none for a study of made workloads.
    pub logs: &'static [ArchiveLog],
    /// Its options, beside those that all studies have.
    pub options: &'static [StudyOption],
    /// Whether its runs are those of a sweep, which can be kept in a folder and listed.
    pub has_runs: bool,
    /// What it will cost, in words, where that depends on the logs. None: its help says so.
    pub cost: Option<CostInWords>,
    /// What one step is: `runs`, `searches`, `workloads`.
    pub unit: &'static str,
    /// The number of steps.
    pub steps: fn(&Setup) -> usize,
    /// Computes the figures. The function that it gets is called after each step with the number of finished steps.
    ///
    /// # Errors
    ///
    /// If a log cannot be read, if a simulation fails, or if results that are kept on disk cannot be read or written.
    pub compute: fn(&Setup, StepDone<'_>) -> Result<Computed, StudyError>,
}

/// Says what a study will cost.
pub type CostInWords = fn(&Setup) -> Result<String, StudyError>;

/// An option of a study: a whole number, which a quick test fixes.
pub struct StudyOption {
    /// As written on the command line, without the two dashes.
    pub name: &'static str,
    /// Its line in help.
    pub about: &'static str,
    /// The value by default, and in a quick test.
    pub values: [u64; 2],
    /// The smallest and the largest value. From 0 to 1 it is a switch.
    pub bounds: [u64; 2],
    /// Sets it.
    pub set: fn(&mut Setup, u64),
}

impl StudyOption {
    /// The number of replications: in full, and in a quick test.
    pub const fn replications(values: [u64; 2], about: &'static str) -> StudyOption {
        let set = |setup: &mut Setup, number| setup.replications = number;
        StudyOption { name: "replications", about, values, bounds: [1, 1000], set }
    }

    /// The number of days of made workloads: in full, and in a quick test.
    pub const fn days(values: [u64; 2], about: &'static str) -> StudyOption {
        StudyOption { name: "days", about, values, bounds: [1, 10_000], set: |setup, days| setup.days = days as u32 }
    }
}

/// Whether replications are other years.
pub const RESAMPLE: StudyOption = StudyOption {
    name: "another-year",
    about: "Replications are resamples of the users of each log, in addition to the log: which claims hold in another year? Intervals are those of another year",
    values: [0, 0],
    bounds: [0, 1],
    set: |setup, resample| setup.resample = resample > 0,
};

/// What replications are, where a study has a few runs of each setting.
pub const SHAKEN: &str = "The number of runs of each setting: the first on the log as it is, the others on slightly shaken copies (submissions moved by up to 30 s). Intervals are over all of them";

/// Is called after each step with the number of finished steps.
pub type StepDone<'a> = &'a (dyn Fn(usize) + Sync);

/// What a study has computed.
pub struct Computed {
    /// In the order of the paper.
    pub figures: Vec<Figure>,
    /// The runs, if they are those of a sweep.
    pub runs: Option<(RunPlan, ComputedRuns)>,
}

/// The columns of `--cells-out` before those of runs.
pub static STUDY_RUN_COLUMNS: &[Column<PlannedRun>] = &column_list! {
    |run: PlannedRun|
    label "command" "the command that repeats the run alone" run.command();
};

impl From<Vec<Figure>> for Computed {
    fn from(figures: Vec<Figure>) -> Self {
        Computed { figures, runs: None }
    }
}

/// The logs of a study and its options. A study ignores options that are not its own.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The logs at hand.
    pub logs: Vec<FoundLog>,
    /// Where finished runs are kept, for studies that can keep them.
    pub folder: Option<PathBuf>,
    /// The number of threads to use.
    pub threads: usize,
    /// A first look: samples where the whole takes long.
    pub quick: bool,
    /// The number of runs of each case, or of random workloads or searches.
    pub replications: u64,
    /// Whether replications are resamples of the users of a log, and not shaken copies.
    pub resample: bool,
    /// The number of days of made workloads.
    pub days: u32,
    /// Whether all jobs of a log are used, and not only as many as in the paper.
    pub all_jobs: bool,
    /// Which waits are predicted.
    pub plan: EvaluationPlan,
}

impl Setup {
    /// A study on these logs with its options at their defaults, or at those of a first look.
    pub fn new(study: &Study, logs: Vec<FoundLog>, threads: usize, quick: bool) -> Setup {
        let plan = EvaluationPlan { threads, ..EvaluationPlan::default() };
        let mut setup = Setup {
            logs,
            folder: None,
            threads,
            quick,
            replications: 1,
            resample: false,
            days: 0,
            all_jobs: false,
            plan,
        };
        for option in study.options {
            (option.set)(&mut setup, option.values[usize::from(quick)]);
        }
        setup
    }

    /// The runs of each setting on a log: the log as it is is the first of the replications, unless these are resamples.
    pub fn runs_of_each(&self) -> u64 {
        self.replications + u64::from(self.resample)
    }

    /// The options of the main command that make replications.
    pub fn of_replications(&self) -> &'static [(&'static str, &'static str)] {
        if self.resample { &[("resample", "users")] } else { &[] }
    }
}

/// A study that could not be finished.
#[derive(Debug)]
pub enum StudyError {
    /// Options that leave nothing to do.
    Usage(String),
    /// A log that cannot be read.
    Log(TraceError),
    /// A simulation that failed, with the reason.
    Simulation(String),
    /// Results that cannot be kept or read back.
    Kept(OutputError),
}

impl fmt::Display for StudyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StudyError::Log(error) => error.fmt(f),
            StudyError::Usage(why) | StudyError::Simulation(why) => f.write_str(why),
            StudyError::Kept(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for StudyError {}

impl From<TraceError> for StudyError {
    fn from(error: TraceError) -> Self {
        StudyError::Log(error)
    }
}

impl From<EngineError> for StudyError {
    fn from(error: EngineError) -> Self {
        StudyError::Simulation(error.to_string())
    }
}

impl From<RunsError> for StudyError {
    fn from(error: RunsError) -> Self {
        match error {
            RunsError::Kept(error) => StudyError::Kept(error),
            RunsError::Folder(why) | RunsError::Failed(why) => StudyError::Simulation(why),
        }
    }
}

impl From<OutputError> for StudyError {
    fn from(error: OutputError) -> Self {
        StudyError::Kept(error)
    }
}
