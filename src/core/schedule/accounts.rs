//! What schedulers may know of a log before its first job arrives: who submits jobs, and for a replay how long they waited.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::job::{Job, Submission};
use crate::machine::Shapes;
use crate::request::RequestId;
use crate::time::Seconds;
use crate::trace::{RunFacts, TaskArrays, WideNumbers};

/// The users and groups of a log. Schedulers with shares know them from the start, as a site does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accounts {
    /// By the number in the simulated jobs: the number in the log.
    pub users: BTreeMap<i32, i64>,
    /// Likewise.
    pub groups: BTreeMap<i32, i64>,
}

impl Accounts {
    /// Those who submit these jobs.
    pub fn of(jobs: &[Job], wide: &WideNumbers) -> Accounts {
        Accounts::of_pairs(jobs.iter().map(|job| (job.submission, job.submission)), wide)
    }

    /// Those who submit these jobs; each job as it is simulated, and as it is in the log.
    pub fn of_pairs(jobs: impl Iterator<Item = (Submission, Submission)>, wide: &WideNumbers) -> Accounts {
        let mut accounts = Accounts::default();
        for (simulated, logged) in jobs {
            accounts.users.entry(simulated.user).or_insert_with(|| wide.number(logged.user));
            accounts.groups.entry(simulated.group).or_insert_with(|| wide.number(logged.group));
        }
        accounts
    }
}

/// What a scheduler may know of a log before its first job arrives. Runtimes are not among it.
#[derive(Clone, Copy, Debug)]
pub struct LogFacts<'a> {
    jobs: &'a [Job],
    wide: &'a WideNumbers,
    accounts: Option<&'a Accounts>,
    shapes: Option<&'a Arc<Shapes>>,
    run: Option<&'a RunFacts>,
    arrays: Option<&'a TaskArrays>,
    has_outages: bool,
}

impl<'a> LogFacts<'a> {
    /// All these jobs will be simulated.
    pub fn of_jobs(jobs: &'a [Job], wide: &'a WideNumbers) -> LogFacts<'a> {
        LogFacts { jobs, wide, accounts: None, shapes: None, run: None, arrays: None, has_outages: false }
    }

    /// The jobs are not known, only who submits them. Such a log cannot be replayed.
    pub fn of_accounts(accounts: &'a Accounts) -> LogFacts<'a> {
        LogFacts { accounts: Some(accounts), ..LogFacts::of_jobs(&[], WideNumbers::NONE) }
    }

    /// The number of jobs that are known.
    pub(super) fn job_count(&self) -> usize {
        self.jobs.len()
    }

    /// Whether all jobs are known that will be simulated.
    pub(super) fn knows_jobs(&self) -> bool {
        !self.jobs.is_empty()
    }

    /// The jobs run on nodes, if there are shapes.
    pub fn on(self, shapes: Option<&'a Arc<Shapes>>) -> LogFacts<'a> {
        LogFacts { shapes, ..self }
    }

    /// Whether parts of the machine are out at times.
    pub fn amid_outages(self, has_outages: bool) -> LogFacts<'a> {
        LogFacts { has_outages, ..self }
    }

    /// See [`LogFacts::amid_outages`].
    pub(super) fn has_outages(&self) -> bool {
        self.has_outages
    }

    /// With what is known of the simulation. Only programs read it.
    pub fn of_run(self, run: &'a RunFacts) -> LogFacts<'a> {
        LogFacts { run: Some(run), ..self }
    }

    /// Some jobs are tasks of arrays. Only `slurm` has one place in its queue for an array.
    pub fn with_arrays(self, arrays: &'a TaskArrays) -> LogFacts<'a> {
        LogFacts { arrays: Some(arrays), ..self }
    }

    /// Which jobs are tasks of the same array.
    pub(super) fn arrays(&self) -> Option<&'a TaskArrays> {
        self.arrays
    }

    /// What is known of the simulation.
    pub(super) fn run(&self) -> Option<&'a RunFacts> {
        self.run
    }

    /// What the jobs ask of the nodes. None: the machine is a pool of processors.
    pub fn shapes(&self) -> Option<&'a Arc<Shapes>> {
        self.shapes
    }

    /// Who submits jobs.
    pub fn accounts(&self) -> Cow<'a, Accounts> {
        match self.accounts {
            Some(accounts) => Cow::Borrowed(accounts),
            None => Cow::Owned(Accounts::of(self.jobs, self.wide)),
        }
    }

    /// By job: its user, and what it asks for. None if the jobs are not known.
    pub fn requests(&self) -> impl Iterator<Item = (i32, RequestId)> {
        self.jobs.iter().map(|job| (job.submission.user, job.request))
    }

    /// How long each job waited in the log. None if that is not known.
    pub fn recorded_waits(&self) -> impl Iterator<Item = Option<Seconds>> {
        self.jobs.iter().map(|job| job.recorded_wait.get())
    }
}
