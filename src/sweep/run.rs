//! Runs the unfinished cells of a sweep on all threads.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use rustc_hash::FxHashMap;

use crate::experiment::{Options, Setting, simulate};
use crate::metrics::{Baseline, RunRow, Summary, Users, summarize_with_users};
use crate::parallel;
use crate::report::OutputError;
use crate::trace::{Log, ReadOptions, Workload, read};

use super::grid::{Cells, GridCell};
use super::plan::Keys;
use super::store::{LogState, PartWriter, Store};

/// A part of a sweep: every `of`-th cell, starting with the `index`-th.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// From 1 to `of`.
    pub index: usize,
    /// The number of shards.
    pub of: usize,
}

impl Shard {
    /// All cells.
    pub const WHOLE: Shard = Shard { index: 1, of: 1 };

    /// Reads `I/N`.
    ///
    /// # Errors
    ///
    /// If the text has another form, or I is not from 1 to N.
    pub fn parse(text: &str) -> Result<Shard, String> {
        let numbers = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
        match numbers {
            Some((index, of)) if index >= 1 && index <= of => Ok(Shard { index, of }),
            _ => Err(format!("'{text}' is not a shard such as 3/8: I/N with I from 1 to N")),
        }
    }

    /// The index, from 1 to `of`, of the shard that a cell belongs to.
    pub fn of_cell(cell: usize, of: usize) -> usize {
        cell % of + 1
    }

    /// Whether a cell belongs to this shard.
    pub fn has(self, cell: usize) -> bool {
        Shard::of_cell(cell, self.of) == self.index
    }
}

/// The result of [`run()`], in numbers of cells.
#[derive(Debug, Default)]
pub struct RunReport {
    /// Cells of this shard.
    pub cells: usize,
    /// Cells that were finished before.
    pub reused: usize,
    /// Cells that were computed now.
    pub computed: usize,
    /// Cells with the same key as a computed one.
    pub equal: usize,
    /// Cells that could not be computed.
    pub failures: Vec<Failure>,
}

/// A cell that could not be computed.
#[derive(Debug)]
pub struct Failure {
    /// The index of the cell in its grid.
    pub cell: usize,
    /// Why, for users.
    pub message: String,
}

/// Computes the unfinished cells of a shard. `watch` is called with the number of finished cells and the number of all
/// cells to compute.
///
/// # Errors
///
/// If a result cannot be written. (A cell that fails is a [`Failure`] of the report.)
pub fn run(
    cells: &dyn Cells,
    keys: &Keys,
    store: &Store,
    shard: Shard,
    threads: usize,
    watch: &(dyn Fn(usize, usize) + Sync),
) -> Result<RunReport, OutputError> {
    let mut report = RunReport::default();
    let (mut pending, mut seen) = (Vec::new(), BTreeSet::new());
    for cell in (0..cells.count()).filter(|&cell| shard.has(cell)) {
        report.cells += 1;
        match keys.keys[cell] {
            None => {
                let message = keys.error(&cells.cell(cell)).unwrap_or("its log is not known").to_string();
                report.failures.push(Failure { cell, message });
            }
            Some(key) if store.is_done(key) => report.reused += 1,
            // Cells with equal keys run once.
            Some(key) if seen.insert(key) => pending.push(cell),
            Some(_) => report.equal += 1,
        }
    }
    let changed_logs: Vec<(&String, &LogState)> = keys
        .logs
        .iter()
        .filter_map(|(log, state)| Some((log.as_ref()?, state)))
        .filter(|(log, state)| store.log(log) != Some(state))
        .collect();
    let programs = keys.programs.iter().filter_map(|(spec, digest)| Some((spec, *digest.as_ref().ok()?)));
    let changed_programs: Vec<(&String, u128)> =
        programs.filter(|(spec, digest)| store.program(spec) != Some(*digest)).collect();
    if pending.is_empty() && changed_logs.is_empty() && changed_programs.is_empty() {
        return Ok(report);
    }
    let mut part = store.new_part()?;
    // Before the cells, so that a reader of the part can compute their keys.
    changed_logs.into_iter().try_for_each(|(log, state)| part.log(log, state))?;
    changed_programs.into_iter().try_for_each(|(spec, digest)| part.program(spec, digest))?;
    let workers = Workers {
        cells,
        keys,
        logs: LogCache::new(cells, &pending),
        baselines: Mutex::new(FxHashMap::default()),
        part: Mutex::new(part),
        next: AtomicUsize::new(0),
        finished: AtomicUsize::new(0),
        stop: AtomicBool::new(false),
        failures: Mutex::new(Vec::new()),
        pending,
    };
    let results = parallel::on_threads(threads.min(workers.pending.len()), || workers.work(watch));
    results.into_iter().collect::<Result<Vec<()>, _>>()?;
    lock(&workers.part).sync()?;
    let failures = workers.failures.into_inner().unwrap_or_default();
    report.computed = workers.pending.len() - failures.len();
    report.failures.extend(failures);
    report.failures.sort_by_key(|failure| failure.cell);
    Ok(report)
}

/// What the threads share.
struct Workers<'a> {
    cells: &'a dyn Cells,
    keys: &'a Keys,
    pending: Vec<usize>,
    logs: LogCache,
    /// A baseline is the same for all cells that differ only in their scheduler and predictor.
    baselines: Mutex<FxHashMap<String, Arc<Once<Measured>>>>,
    part: Mutex<PartWriter>,
    next: AtomicUsize,
    finished: AtomicUsize,
    /// Set when a result could not be written: there is no use in computing more.
    stop: AtomicBool,
    failures: Mutex<Vec<Failure>>,
}

/// The figures of a run, and of each of its users. Shared, because there may be many users.
type Measured = Arc<(Summary, Users)>;

/// A value that is computed by the first thread that needs it.
type Once<T> = OnceLock<Result<T, String>>;

/// The last workload of a thread: neighbouring cells of a grid mostly share it.
type LastWorkload = Option<(String, Arc<Workload>)>;

impl Workers<'_> {
    fn work(&self, watch: &(dyn Fn(usize, usize) + Sync)) -> Result<(), OutputError> {
        let mut last: LastWorkload = None;
        while !self.stop.load(Ordering::Relaxed) {
            let Some(&at) = self.pending.get(self.next.fetch_add(1, Ordering::Relaxed)) else { break };
            let cell = self.cells.cell(at);
            let key = self.keys.keys[at].expect("a pending cell has a key");
            // A panic in one cell must not end the computation of the others.
            let computed = catch_unwind(AssertUnwindSafe(|| self.compute(&cell, &mut last)))
                .unwrap_or_else(|panic| Err(format!("the program failed: {}", panic_text(&*panic))));
            self.logs.release(&cell);
            let written = match &computed {
                Ok(row) => lock(&self.part).done(key, row),
                Err(message) => lock(&self.part).failed(key, message),
            };
            if written.is_err() {
                self.stop.store(true, Ordering::Relaxed);
                return written;
            }
            if let Err(message) = computed {
                lock(&self.failures).push(Failure { cell: at, message });
            }
            watch(self.finished.fetch_add(1, Ordering::Relaxed) + 1, self.pending.len());
        }
        Ok(())
    }

    /// Runs a cell as the main command does. The label of its log depends on the other logs of the grid, so it is set
    /// when results are read.
    fn compute(&self, cell: &GridCell, last: &mut LastWorkload) -> Result<RunRow, String> {
        let options = &cell.options;
        let name = format!("{:?}\n{}", cell.trace, options.workload_key());
        let workload = match last {
            Some((other, workload)) if *other == name => workload.clone(),
            _ => {
                // Frees the old workload before the new one is made.
                *last = None;
                let log = self.logs.get(cell)?;
                if log.digest != self.keys.digest(&cell.trace) {
                    return Err(format!(
                        "{} has changed since the sweep began: --resume computes its cells again",
                        log.name
                    ));
                }
                let cleaned = options.clean(&log).map_err(|error| error.to_string())?;
                drop(log);
                let workload = Arc::new(options.shape(cleaned).map_err(|error| error.to_string())?);
                *last = Some((name.clone(), workload.clone()));
                workload
            }
        };
        let setting = options.setting();
        let run = measured(&workload, &setting, options)?;
        let baseline = match &options.baseline {
            None => None,
            Some(baseline) => {
                let base = self.baseline(&name, baseline, options, &workload)?;
                Some(Baseline { name: baseline.pair(), summary: base.0, losers: run.1.losers(&base.1) })
            }
        };
        Ok(RunRow { label: options.label(&workload), summary: run.0, baseline })
    }

    fn baseline(
        &self,
        workload_name: &str,
        baseline: &Setting,
        options: &Options,
        workload: &Workload,
    ) -> Result<Measured, String> {
        let name = format!("{workload_name}\n{}\n{:?}", baseline.in_full(), options.measure);
        let slot = lock(&self.baselines).entry(name).or_default().clone();
        slot.get_or_init(|| measured(workload, baseline, options)).clone()
    }
}

fn measured(workload: &Workload, setting: &Setting, options: &Options) -> Result<Measured, String> {
    let record = simulate(workload, setting, &mut |_| ()).map_err(|error| error.to_string())?;
    Ok(Arc::new(summarize_with_users(workload, &record, &options.measure)))
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| text.to_string())).unwrap_or("a panic".to_string())
}

/// A poisoned lock is used all the same: a panic in another cell leaves the data behind it consistent.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// The logs. Each is read once, by the first thread that needs it, and freed when no further cell needs it.
struct LogCache {
    logs: BTreeMap<LogKey, CachedLog>,
}

/// The path of a log, and how it is read.
type LogKey = (Option<String>, String);

struct CachedLog {
    /// The number of cells that still need it.
    left: AtomicUsize,
    log: Mutex<Option<Result<Arc<Log>, String>>>,
}

impl LogCache {
    fn new(cells: &dyn Cells, pending: &[usize]) -> Self {
        let mut logs: BTreeMap<LogKey, CachedLog> = BTreeMap::new();
        for &at in pending {
            let slot = || CachedLog { left: AtomicUsize::new(0), log: Mutex::new(None) };
            *logs.entry(log_key(&cells.cell(at))).or_insert_with(slot).left.get_mut() += 1;
        }
        LogCache { logs }
    }

    fn get(&self, cell: &GridCell) -> Result<Arc<Log>, String> {
        let mut log = lock(&self.logs[&log_key(cell)].log);
        log.get_or_insert_with(|| {
            let how = ReadOptions { digest: true, ..cell.options.read_options() };
            let read = read(&cell.source(), how, &mut |_| ());
            read.map(Arc::new).map_err(|error| error.to_string())
        })
        .clone()
    }

    fn release(&self, cell: &GridCell) {
        let slot = &self.logs[&log_key(cell)];
        if slot.left.fetch_sub(1, Ordering::Relaxed) == 1 {
            *lock(&slot.log) = None;
        }
    }
}

fn log_key(cell: &GridCell) -> LogKey {
    (cell.trace.clone(), cell.options.reading_key())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_every_nth_cell() {
        let shard = Shard::parse("2/3").unwrap();
        assert_eq!((0..8).filter(|&cell| shard.has(cell)).collect::<Vec<_>>(), [1, 4, 7]);
        assert!((0..8).all(|cell| Shard::WHOLE.has(cell)));
        for text in ["", "3", "0/3", "4/3", "1/0", "a/b", "1/2/3", "-1/2"] {
            assert!(Shard::parse(text).is_err(), "{text}");
        }
    }
}
