//! Computes the runs of a plan on all threads.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use twox_hash::XxHash3_128;

use super::finished::{FinishedRun, Simulated, WantedOfRuns};
use super::jobs::{Jobs, LastWorkload, Once, Workloads, lock};
use super::kept_row::KeptRow;
use super::keys::RunKeys;
use super::plan::RunPlan;
use super::run::{PlannedRun, Shard};
use super::store::{PartWriter, Store};
use crate::experiment::Setting;
use crate::parallel;
use crate::report::OutputError;
use crate::sort::sort_by_key;
use crate::trace::Workload;

/// A step of the work.
#[derive(Clone, Copy, Debug)]
pub enum RunStep {
    /// So many more jobs have ended in a simulation.
    Jobs(usize),
    /// A run is finished.
    Run {
        /// The number of finished runs.
        done: usize,
        /// The number of runs to compute.
        all: usize,
    },
}

/// The result of [`Executor::run`], in numbers of runs.
#[derive(Debug, Default)]
pub struct RunReport {
    /// Runs of this shard.
    pub runs: usize,
    /// Runs that were finished before.
    pub reused: usize,
    /// Runs that were computed now.
    pub computed: usize,
    /// Runs with the same key as a computed one.
    pub equal: usize,
    /// Runs that could not be computed.
    pub failures: Vec<FailedRun>,
    /// What someone who reads the rows should know.
    pub remarks: RunRemarks,
}

/// What computed runs and their baselines have that is not in their rows, each once.
#[derive(Clone, Debug, Default)]
pub struct RunRemarks {
    /// Settings that can never start some jobs.
    pub never: NeverBySetting,
    /// Of resamples: the name of the log, the seed (0: it holds for all of them), and a sentence.
    pub resamples: BTreeSet<(String, u64, String)>,
}

impl RunRemarks {
    /// Adds those of other runs.
    pub fn extend(&mut self, other: RunRemarks) {
        self.never.extend(other.never);
        self.resamples.extend(other.resamples);
    }
}

/// Settings with the jobs that they can never start, with their number and the causes in words.
pub type NeverBySetting = BTreeSet<(String, String)>;

/// A run that could not be computed.
#[derive(Debug)]
pub struct FailedRun {
    /// The index of the run in its plan.
    pub at: usize,
    /// Why, for users.
    pub message: String,
}

/// Computes the runs of a plan.
pub struct Executor<'a> {
    /// The runs.
    pub plan: &'a RunPlan,
    /// Where their jobs come from.
    pub jobs: Jobs,
    /// Which of them are computed.
    pub shard: Shard,
    /// The number of threads. Results do not depend on it.
    pub threads: usize,
    /// Whether no further run is begun after one has failed.
    pub ends_at_failure: bool,
    /// Called now and then.
    pub watch: &'a (dyn Fn(RunStep) + Sync),
}

impl<'a> Executor<'a> {
    /// An executor of all runs, whose logs are read when they are needed.
    pub fn of_all(plan: &'a RunPlan, threads: usize, watch: &'a (dyn Fn(RunStep) + Sync)) -> Executor<'a> {
        let (jobs, shard) = (Jobs::OfLogs, Shard::WHOLE);
        Executor { plan, jobs, shard, threads, ends_at_failure: false, watch }
    }

    /// Computes the runs that are not among the kept ones, and those of which more than the row is wanted. What is wanted is taken
    /// in the thread of the run: not more records than threads are in memory at the same time, and those of baselines, unless
    /// they are kept. `each` gets the results in the order in which runs end. With `kept`, rows are added to the folder.
    ///
    /// # Errors
    /// If a row cannot be kept. (A run that fails is a [`FailedRun`] of the report.)
    pub fn run<W: WantedOfRuns>(
        &self,
        wanted: &W,
        kept: Option<(&RunKeys, &Store)>,
        each: &mut (dyn FnMut(usize, W::Row, W::Out) + Send),
    ) -> Result<RunReport, OutputError> {
        let (mut report, pending) = self.pending(wanted, kept);
        let part = match kept {
            Some((keys, store)) => new_part(keys, store, &pending)?,
            None => None,
        };
        let sink = Mutex::new(Sink { kept: kept.zip(part), each, failures: Vec::new(), finished: 0 });
        let workers = Workers {
            executor: self,
            wanted,
            workloads: Workloads::new(&self.jobs, self.plan, &pending, kept.map(|(keys, _)| keys)),
            baselines: self.baselines(&pending),
            remarks: Mutex::default(),
            next: AtomicUsize::new(0),
            stop: AtomicBool::new(false),
            pending,
        };
        // The baseline of a single run is simulated beside it.
        let tasks = match workers.pending[..] {
            [at] if self.plan.run(at).options.baseline.is_none() => 1,
            _ => 2 * workers.pending.len(),
        };
        let results = parallel::on_threads(self.threads.min(tasks), || workers.work(&sink));
        results.into_iter().collect::<Result<Vec<()>, _>>()?;
        let mut sink = sink.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some((_, part)) = &mut sink.kept {
            part.sync()?;
        }
        report.remarks = workers.remarks.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        report.computed = sink.finished - sink.failures.len();
        report.failures.extend(sink.failures);
        sort_by_key(&mut report.failures, |failure| failure.at);
        Ok(report)
    }

    /// The baselines of these runs, and how many runs need each.
    fn baselines(&self, pending: &[usize]) -> Mutex<BTreeMap<u128, SharedBaseline>> {
        let mut baselines: BTreeMap<u128, SharedBaseline> = BTreeMap::new();
        for &at in pending {
            let run = self.plan.run(at);
            if let Some(key) = self.baseline_key(&run) {
                baselines.entry(key).or_default().left += 1;
            }
        }
        Mutex::new(baselines)
    }

    /// The hash of a baseline's name: a sweep may have a million of them.
    fn baseline_key(&self, run: &PlannedRun) -> Option<u128> {
        baseline_name(run, &self.jobs).map(|name| XxHash3_128::oneshot(name.as_bytes()))
    }

    /// The runs to compute, and the report of the others.
    fn pending<W: WantedOfRuns>(&self, wanted: &W, kept: Option<(&RunKeys, &Store)>) -> (RunReport, Vec<usize>) {
        let mut report = RunReport::default();
        let (mut pending, mut seen) = (Vec::new(), BTreeSet::new());
        for at in (0..self.plan.count()).filter(|&at| self.shard.has(at)) {
            report.runs += 1;
            let Some((keys, store)) = kept else {
                pending.push(at);
                continue;
            };
            match keys.keys[at] {
                None => {
                    let message = keys.error(&self.plan.run(at)).unwrap_or("its log is not known").to_string();
                    report.failures.push(FailedRun { at, message });
                }
                Some(_) if !wanted.is_row_enough(at) => pending.push(at),
                Some(key) if store.is_done(key) => report.reused += 1,
                // Runs with equal keys are computed once.
                Some(key) if seen.insert(key) => pending.push(at),
                Some(_) => report.equal += 1,
            }
        }
        (report, pending)
    }
}

/// The number of simulations that all runs of a plan take. A baseline is simulated once for all runs with the same jobs.
pub fn simulations(plan: &RunPlan, jobs: &Jobs) -> usize {
    let (mut baselines, mut own) = (BTreeSet::new(), 0);
    for run in plan.runs() {
        baselines.extend(baseline_name(&run, jobs));
        own += usize::from(!is_baseline(&run, jobs));
    }
    own + baselines.len()
}

/// The name of the simulation of a run's baseline: it is the same for all runs that differ only in their scheduler and
/// predictor.
fn baseline_name(run: &PlannedRun, jobs: &Jobs) -> Option<String> {
    let baseline = run.options.baseline.as_ref()?;
    let jobs = jobs.name(&run.on_site_of_baseline());
    Some(format!("{jobs}\n{}\n{:?}", baseline.in_full(), run.options.measure))
}

/// A baseline that several runs share. It is freed when no further run needs it: it has the totals of all users.
#[derive(Default)]
struct SharedBaseline {
    /// The number of runs that still need it.
    left: usize,
    /// Whether a thread has begun to simulate it.
    is_begun: bool,
    simulated: Arc<Once<Simulated>>,
}

/// Whether the simulation of the baseline is also that of the run.
fn is_baseline(run: &PlannedRun, jobs: &Jobs) -> bool {
    let is_same = |base: &Setting| base.is_same(&run.options.setting());
    let on_same_site = || match run.options.baseline_site {
        None => true,
        Some(_) => jobs.name(run) == jobs.name(&run.on_site_of_baseline()),
    };
    run.options.baseline.as_ref().is_some_and(is_same) && on_same_site()
}

/// The part for the rows of these runs, which begins with what their keys depend on. None if there is nothing to write.
fn new_part(keys: &RunKeys, store: &Store, pending: &[usize]) -> Result<Option<PartWriter>, OutputError> {
    let logs = keys.logs.iter().filter_map(|(log, state)| Some((log.as_ref()?, state)));
    let changed_logs: Vec<_> = logs.filter(|(log, state)| store.log(log) != Some(state)).collect();
    let programs = keys.programs.iter().filter_map(|(spec, digest)| Some((spec, *digest.as_ref().ok()?)));
    let changed_programs: Vec<_> = programs.filter(|(spec, digest)| store.program(spec) != Some(*digest)).collect();
    let is_missing = |&at: &usize| keys.keys[at].is_some_and(|key| !store.is_done(key));
    if changed_logs.is_empty() && changed_programs.is_empty() && !pending.iter().any(is_missing) {
        return Ok(None);
    }
    let mut part = store.new_part()?;
    // Before the rows, so that a reader of the part can compute their keys.
    changed_logs.into_iter().try_for_each(|(log, state)| part.log(log, state))?;
    changed_programs.into_iter().try_for_each(|(spec, digest)| part.program(spec, digest))?;
    Ok(Some(part))
}

/// Takes the results of all threads.
struct Sink<'a, K, E> {
    kept: Option<((&'a RunKeys, &'a Store), PartWriter)>,
    each: &'a mut (dyn FnMut(usize, K, E) + Send),
    failures: Vec<FailedRun>,
    finished: usize,
}

impl<K: KeptRow, E> Sink<'_, K, E> {
    /// Adds a result. Returns the number of results.
    fn add(&mut self, at: usize, computed: Result<(K, E), String>) -> Result<usize, OutputError> {
        if let Some(((keys, store), part)) = &mut self.kept {
            let key = keys.keys[at].expect("a pending run has a key");
            match &computed {
                Ok((row, _)) if !store.is_done(key) => part.done(key, row)?,
                Ok(_) => {}
                Err(message) => part.failed(key, message)?,
            }
        }
        match computed {
            Ok((row, extra)) => (self.each)(at, row, extra),
            Err(message) => self.failures.push(FailedRun { at, message }),
        }
        self.finished += 1;
        Ok(self.finished)
    }
}

/// What the threads share.
struct Workers<'a, W> {
    executor: &'a Executor<'a>,
    wanted: &'a W,
    pending: Vec<usize>,
    workloads: Workloads<'a>,
    baselines: Mutex<BTreeMap<u128, SharedBaseline>>,
    remarks: Mutex<RunRemarks>,
    next: AtomicUsize,
    /// Set when a row could not be kept, or at a failure that ends the work. Runs are begun in their order, so all runs before
    /// the one that failed end, and the first failure of the plan is among those that are reported.
    stop: AtomicBool,
}

impl<W: WantedOfRuns> Workers<'_, W> {
    fn work(&self, sink: &Mutex<Sink<'_, W::Row, W::Out>>) -> Result<(), OutputError> {
        let mut last: LastWorkload = None;
        while !self.stop.load(Ordering::Relaxed) {
            // Each run has two tasks: its baseline, unless that was begun for an earlier run, and the run itself.
            let task = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(&at) = self.pending.get(task / 2) else { break };
            let run = self.executor.plan.run(at);
            if task.is_multiple_of(2) {
                // A failure is reported by the runs that need the baseline.
                let _ = catch_unwind(AssertUnwindSafe(|| self.begin_baseline(at, &run, &mut last)));
                continue;
            }
            let compute = || self.compute(at, &run, &mut last);
            // A panic in one run must not end the computation of the others.
            let computed = catch_unwind(AssertUnwindSafe(compute))
                .unwrap_or_else(|panic| Err(format!("the program failed: {}", panic_text(&*panic))));
            self.workloads.release(&run);
            self.release_baseline(&run);
            if computed.is_err() && self.executor.ends_at_failure {
                self.stop.store(true, Ordering::Relaxed);
            }
            let added = lock(sink).add(at, computed);
            let done = added.inspect_err(|_| self.stop.store(true, Ordering::Relaxed))?;
            (self.executor.watch)(RunStep::Run { done, all: self.pending.len() });
        }
        Ok(())
    }

    /// Simulates the baseline of a run, unless a thread has begun to.
    fn begin_baseline(&self, at: usize, run: &PlannedRun, last: &mut LastWorkload) -> Result<(), String> {
        let Some(key) = self.executor.baseline_key(run) else { return Ok(()) };
        // The runs that need it may have ended before this thread comes to it.
        let begin = |baseline: &mut SharedBaseline| !std::mem::replace(&mut baseline.is_begun, true);
        if !lock(&self.baselines).get_mut(&key).is_some_and(begin) {
            return Ok(());
        }
        let workload = self.workload_of_baseline(run, last)?;
        self.baseline(key, at, run, &workload).map(|_| ())
    }

    /// After each run.
    fn release_baseline(&self, run: &PlannedRun) {
        let Some(key) = self.executor.baseline_key(run) else { return };
        let mut baselines = lock(&self.baselines);
        if let Some(baseline) = baselines.get_mut(&key) {
            baseline.left -= 1;
            if baseline.left == 0 {
                baselines.remove(&key);
            }
        }
    }

    /// The jobs and the machine of the baseline.
    fn workload_of_baseline(&self, run: &PlannedRun, last: &mut LastWorkload) -> Result<Arc<Workload>, String> {
        let on_site = run.on_site_of_baseline();
        self.workloads.get(&on_site, &self.executor.jobs.name(&on_site), last)
    }

    fn baseline(&self, key: u128, at: usize, run: &PlannedRun, workload: &Workload) -> Result<Arc<Simulated>, String> {
        let baseline = run.options.baseline.as_ref().expect("a run with the name of a baseline has one");
        let slot = lock(&self.baselines).get(&key).map(|baseline| baseline.simulated.clone()).unwrap_or_default();
        slot.get_or_init(|| self.simulate(at, run, baseline, workload)).clone()
    }

    fn compute(&self, at: usize, run: &PlannedRun, last: &mut LastWorkload) -> Result<(W::Row, W::Out), String> {
        let workload = self.workloads.get(run, &self.executor.jobs.name(run), last)?;
        if let Some(resampled) = workload.resampled() {
            let notes = resampled.notes(run.options.shaping.seed);
            let notes = notes.map(|(seed, words)| (workload.label.clone(), seed, words));
            lock(&self.remarks).resamples.extend(notes);
        }
        // The run first: another thread may be simulating the baseline.
        let own = match is_baseline(run, &self.executor.jobs) {
            true => None,
            false => Some(self.simulate(at, run, &run.options.setting(), &workload)?),
        };
        let baseline = match self.executor.baseline_key(run) {
            None => None,
            Some(key) => Some(self.baseline(key, at, run, &*self.workload_of_baseline(run, last)?)?),
        };
        let own = own.or_else(|| baseline.clone()).expect("a run without a simulation of its own has its baseline's");
        let run = FinishedRun { at, run, workload: &workload, own, baseline };
        Ok((self.wanted.row(&run), self.wanted.out(run)))
    }

    fn simulate(
        &self,
        at: usize,
        run: &PlannedRun,
        setting: &Setting,
        workload: &Workload,
    ) -> Result<Arc<Simulated>, String> {
        let mut before = 0;
        let progress = &mut |ended| (self.executor.watch)(RunStep::Jobs(ended - std::mem::replace(&mut before, ended)));
        let measure = &run.options.measure;
        let probes = self.wanted.probes(at, workload, measure);
        let simulated = Simulated::of(workload, setting, measure, probes, progress)?;
        if simulated.never.count() > 0 {
            let (name, words) = (setting.pair(), simulated.never.in_words());
            if run.options.cleaning.strict {
                return Err(format!(
                    "{name} can never start some jobs: {words}; without --strict such jobs are dropped and counted"
                ));
            }
            lock(&self.remarks).never.insert((name, words));
        }
        Ok(Arc::new(simulated))
    }
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| text.to_string())).unwrap_or("a panic".to_string())
}

#[cfg(test)]
mod tests {
    use std::sync::Weak;

    use super::*;
    use crate::experiment::{OptionForm, Options};
    use crate::metrics::{Replicates, RunRow};
    use crate::runs::compute_rows;

    #[test]
    fn a_run_that_is_the_baseline_is_not_simulated_again() {
        let run = |scheduler: &str, more: &[(&str, &str)]| {
            let mut options = Options::default();
            for (name, value) in more.iter().chain(&[("scheduler", scheduler), ("baseline", "easy/kin:history=32")]) {
                OptionForm::find(name).unwrap().set(&mut options, value).unwrap();
            }
            PlannedRun { trace: None, options }
        };
        let plan = |more: &[(&str, &str)]| RunPlan::of(vec![run("easy", more), run("sjbf", more)]);
        let count = |more| simulations(&plan(more), &Jobs::OfLogs);
        assert_eq!(count(&[]), 2);
        // The baseline runs without the options of the engine.
        assert_eq!(count(&[("inflate", "2")]), 3);
        let rows = compute_rows(&plan(&[]), None, 2, &|_| ()).unwrap().rows;
        let is_baseline = |row: &RunRow| Replicates::each([row]).is_baseline();
        assert_eq!(rows.iter().map(is_baseline).collect::<Vec<_>>(), [true, false]);
    }

    /// Counts the baselines that are there at a time.
    #[derive(Default)]
    struct CountsBaselines {
        seen: Mutex<Vec<Weak<Simulated>>>,
        most: AtomicUsize,
    }

    impl WantedOfRuns for CountsBaselines {
        type Row = RunRow;
        type Out = ();

        fn format(&self) -> String {
            String::new()
        }

        fn row(&self, run: &FinishedRun<'_>) -> RunRow {
            let mut seen = lock(&self.seen);
            seen.push(Arc::downgrade(run.baseline.as_ref().unwrap()));
            let mut alive: Vec<_> = seen.iter().filter_map(Weak::upgrade).map(|one| Arc::as_ptr(&one)).collect();
            alive.sort();
            alive.dedup();
            self.most.fetch_max(alive.len(), Ordering::Relaxed);
            run.row()
        }

        fn out(&self, _: FinishedRun<'_>) {}
    }

    /// Six logs, three settings of each: at most the baselines of two are there at a time.
    #[test]
    fn a_baseline_is_freed_when_no_further_run_needs_it() {
        let run = |first: usize, scheduler: &str| {
            let mut options = Options::default();
            let first = first.to_string();
            for (name, value) in [("first", &first[..]), ("scheduler", scheduler), ("baseline", "fcfs/estimate")] {
                OptionForm::find(name).unwrap().set(&mut options, value).unwrap();
            }
            PlannedRun { trace: None, options }
        };
        let schedulers = ["easy", "sjbf", "conservative"];
        let of_log = |at: usize| schedulers.map(|scheduler| run(100 + at, scheduler));
        let plan = RunPlan::of((0..6).flat_map(of_log).collect());
        for threads in [1, 2] {
            let counted = CountsBaselines::default();
            let report = Executor::of_all(&plan, threads, &|_| ()).run(&counted, None, &mut |_, _, ()| ()).unwrap();
            assert_eq!((report.computed, report.failures.len()), (18, 0));
            assert!(counted.most.load(Ordering::Relaxed) <= threads, "{:?}", counted.most);
        }
    }

    #[test]
    fn each_run_is_compared_with_its_own_baseline() {
        let run = |baseline: &str| {
            let mut options = Options::default();
            for (name, value) in [("first", "300"), ("baseline", baseline)] {
                OptionForm::find(name).unwrap().set(&mut options, value).unwrap();
            }
            PlannedRun { trace: None, options }
        };
        let runs = ["easy/estimate", "fcfs/estimate", "easy/kin:history=32", "easy/kin"].map(run).to_vec();
        let plan = RunPlan::of(runs.clone());
        // The run itself is simulated four times, and two of the baselines are the same.
        assert_eq!(simulations(&plan, &Jobs::OfLogs), 4 + 3);
        let rows = |plan: &RunPlan, threads| compute_rows(plan, None, threads, &|_| ()).unwrap().rows;
        let alone: Vec<RunRow> = runs.iter().flat_map(|run| rows(&RunPlan::of(vec![run.clone()]), 1)).collect();
        let waits = alone.iter().map(|row| row.baseline.as_ref().unwrap().summary.wait_mean).collect::<Vec<_>>();
        assert!(waits[0] != waits[1] && waits[0] != waits[2] && waits[2] == waits[3], "{waits:?}");
        let lines = |rows: &[RunRow]| rows.iter().map(RunRow::to_line).collect::<Vec<_>>();
        [1, 3].into_iter().for_each(|threads| assert_eq!(lines(&rows(&plan, threads)), lines(&alone)));
    }
}
