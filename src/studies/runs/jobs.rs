//! The jobs of runs: logs are read once, and runs with the same jobs share one workload.

use litemap::LiteMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, Weak};

use super::keys::RunKeys;
use super::plan::RunPlan;
use super::run::PlannedRun;
use crate::experiment::Options;
use crate::machine::MachineFile;
use crate::trace::{Log, ReadOptions, Shaping, Workload, read};

/// Where the jobs of the runs of a plan come from.
#[derive(Debug)]
pub enum Jobs {
    /// From the logs that the runs name, which are read when they are needed.
    OfLogs,
    /// From the one log of all runs, which the caller has read.
    Given(Box<GivenJobs>),
}

/// The jobs of a log that was read and cleaned for all runs of a plan.
#[derive(Debug)]
pub struct GivenJobs {
    /// Under each condition on each machine of its runs, those of the first run first.
    pub on_machines: Vec<JobsOnMachine>,
    /// The hash of the log's content. None: it is not needed, because no rows are kept.
    pub digest: Option<u128>,
}

/// The jobs of a log on one machine.
#[derive(Clone, Debug)]
pub struct JobsOnMachine {
    /// [`Options::condition_key`] of its runs.
    pub condition: String,
    /// None: a pool of processors.
    pub machine: Option<Arc<MachineFile>>,
    /// Shaped, for the runs under this condition.
    pub workload: Arc<Workload>,
    /// The cleaned jobs before shaping, for shaken or resampled copies. None if there are none.
    pub cleaned: Option<Workload>,
    /// The place of those whose resamples have the same jobs: settings that are compared run on the same copies of the log. None:
    /// these are the first.
    pub drawn_like: Option<usize>,
}

impl GivenJobs {
    /// The jobs of a run, or, of a run on a shaken or resampled copy, those of the log.
    fn of(&self, run: &PlannedRun) -> (&JobsOnMachine, bool) {
        let find = |options: &Options| {
            let condition = options.condition_key();
            self.on_machines.iter().find(|one| one.machine == options.machine && one.condition == condition)
        };
        let Shaping { resample, shake, seed, .. } = Shaping::default();
        let plain =
            || Options { shaping: Shaping { resample, shake, seed, ..run.options.shaping }, ..run.options.clone() };
        let found = find(&run.options).map(|jobs| (jobs, true));
        found.or_else(|| Some((find(&plain())?, false))).expect("the jobs of all conditions and machines are given")
    }
}

impl Jobs {
    /// The name of the jobs of a run: runs with equal names have the same jobs.
    pub(super) fn name(&self, run: &PlannedRun) -> String {
        match self {
            Jobs::OfLogs => format!("{:?}\n{}", run.trace, run.options.workload_key()),
            Jobs::Given(_) => {
                let machine = run.options.machine.as_ref().map_or("", |machine| &machine.file);
                format!("{} {machine}", run.options.condition_key())
            }
        }
    }

    /// The label of a run's log in results.
    pub(super) fn label(&self, run: &PlannedRun) -> String {
        match self {
            Jobs::OfLogs => run.source().label(),
            Jobs::Given(given) => given.on_machines[0].workload.label.clone(),
        }
    }
}

/// A value that is computed by the first thread that needs it, or why it cannot be.
pub(super) type Once<T> = OnceLock<Result<Arc<T>, String>>;

/// The last workload of a thread: neighbouring runs of a plan mostly share it.
pub(super) type LastWorkload = Option<(String, Arc<Once<Workload>>)>;

/// The workloads of the runs that are computed now.
pub(super) struct Workloads<'a> {
    jobs: &'a Jobs,
    /// The keys of the runs, if rows are kept: a log must still have the content that is in them.
    keys: Option<&'a RunKeys>,
    logs: LiteMap<LogKey, CachedLog>,
    /// The workloads that a thread has at present.
    shared: Mutex<Vec<(String, Weak<Once<Workload>>)>>,
}

/// The path of a log, and how it is read.
type LogKey = (Option<String>, String);

/// A log is read by the first thread that needs it, and freed when no further run needs it.
struct CachedLog {
    /// The number of runs that still need it.
    left: AtomicUsize,
    log: Mutex<Option<Result<Arc<Log>, String>>>,
}

impl<'a> Workloads<'a> {
    pub fn new(jobs: &'a Jobs, plan: &RunPlan, pending: &[usize], keys: Option<&'a RunKeys>) -> Self {
        let mut logs: LiteMap<LogKey, CachedLog> = LiteMap::new();
        if let Jobs::OfLogs = jobs {
            for &at in pending {
                let slot = || CachedLog { left: AtomicUsize::new(0), log: Mutex::new(None) };
                *logs.entry(log_key(&plan.run(at))).or_insert_with(slot).left.get_mut() += 1;
            }
        }
        Workloads { jobs, keys, logs, shared: Mutex::default() }
    }

    /// The workload with this name, which is that of the run's jobs.
    pub fn get(&self, run: &PlannedRun, name: &str, last: &mut LastWorkload) -> Result<Arc<Workload>, String> {
        if let Jobs::Given(given) = self.jobs
            && let (jobs, true) = given.of(run)
        {
            return Ok(jobs.workload.clone());
        }
        if last.as_ref().is_none_or(|(other, _)| other != name) {
            // Frees the old workload before the new one is made.
            *last = None;
            *last = Some((name.to_string(), self.slot(name)));
        }
        let (_, slot) = last.as_ref().expect("it was just set");
        slot.get_or_init(|| self.make(run).map(Arc::new)).clone()
    }

    /// The slot of a workload, which is that of another thread if one has this workload now.
    fn slot(&self, name: &str) -> Arc<Once<Workload>> {
        let mut shared = lock(&self.shared);
        shared.retain(|(_, slot)| slot.strong_count() > 0);
        let found = shared.iter().find(|(other, _)| other == name).and_then(|(_, slot)| slot.upgrade());
        found.unwrap_or_else(|| {
            let slot = Arc::new(Once::new());
            shared.push((name.to_string(), Arc::downgrade(&slot)));
            slot
        })
    }

    fn make(&self, run: &PlannedRun) -> Result<Workload, String> {
        let cleaned = match self.jobs {
            Jobs::Given(given) => {
                let own = given.of(run).0;
                let cleaned = own.cleaned.clone().expect("runs on copies have cleaned jobs");
                let like = own.drawn_like.and_then(|first| given.on_machines[first].cleaned.as_ref());
                return run.options.shape_like(cleaned, like).map_err(|error| error.to_string());
            }
            Jobs::OfLogs => {
                let log = self.log(run)?;
                if self.keys.is_some_and(|keys| log.digest != keys.digest(&run.trace)) {
                    let again = "the same command (a sweep with --resume) computes its runs again";
                    return Err(format!("{} has changed since the command began: {again}", log.name));
                }
                run.options.clean(&log).map_err(|error| error.to_string())?
            }
        };
        run.options.shape(cleaned).map_err(|error| error.to_string())
    }

    fn log(&self, run: &PlannedRun) -> Result<Arc<Log>, String> {
        let mut log = lock(&self.logs[&log_key(run)].log);
        log.get_or_insert_with(|| {
            let how = ReadOptions { digest: self.keys.is_some(), ..run.options.read_options() };
            read(&run.source(), how, &mut |_| ()).map(Arc::new).map_err(|error| error.to_string())
        })
        .clone()
    }

    /// After each run.
    pub fn release(&self, run: &PlannedRun) {
        if let Some(cached) = self.logs.get(&log_key(run))
            && cached.left.fetch_sub(1, Ordering::Relaxed) == 1
        {
            *lock(&cached.log) = None;
        }
    }
}

fn log_key(run: &PlannedRun) -> LogKey {
    (run.trace.clone(), run.options.reading_key())
}

/// A poisoned lock is used all the same: a panic in another run leaves the data behind it consistent.
pub(super) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
