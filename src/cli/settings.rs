//! One log under several settings, with replications: what the main command, `sim report` and `sim fidelity` run.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use clap::ArgMatches;

use super::failure::UsageError;
use super::interrupt;
use super::log::read_log;
use super::notes::report_cleaning;
use super::options::{self, SettingList};
use super::output_options::{Format, PrintOptions};
use super::progress::Progress;
use super::slurm_conf;
use super::stderr::{note, warning};
use crate::experiment::{Options, what_draws};
use crate::metrics::{GroupBy, RunRow, SettingRuns};
use crate::report::{counted, grouped};
use crate::runs::{
    Computed, Details, Executor, FinishedRun, GivenJobs, Jobs, KeptRow, PlannedRun, Shard, Step, simulations,
};
use crate::trace::{Log, ReadOptions, Source, Workload};

/// Reads the settings of a command and warns of options without effect.
pub fn read_settings(matches: &ArgMatches, quiet: bool) -> anyhow::Result<SettingList> {
    let settings = options::read_settings(matches, slurm_conf::read(matches, quiet)?.as_ref())?;
    for (seed, value) in options::idle_seeds(matches, &settings.options[0]) {
        warning(format_args!("--{seed} {value} has no effect without {}", what_draws(seed)));
    }
    Ok(settings)
}

/// The log that several settings run on, read and cleaned for all of them.
pub struct LogUnderSettings {
    /// As given; None for the embedded log.
    trace: Option<String>,
    /// The options of each setting; at least one.
    pub settings: Vec<Options>,
    /// The number of runs of each setting: on the log as it is, and on shaken copies.
    pub replications: u32,
    /// Whether some settings replay the log and others do not. Their jobs are then not those that each would have alone.
    is_mixed: bool,
    /// Without its records.
    pub log: Log,
    /// The log as it is, for all settings.
    pub workload: Arc<Workload>,
    /// What shaken copies are made of.
    cleaned: Option<Workload>,
}

/// What is kept of the runs, and how they are computed.
pub struct Work<'a> {
    /// The folder of finished runs.
    pub folder: Option<&'a Path>,
    /// The format of kept rows.
    pub format: String,
    pub threads: usize,
    /// What is wanted of each run on the log as it is.
    pub details: Details,
}

impl LogUnderSettings {
    /// Reads, cleans and shapes a log. `check` gets the log before it is cleaned.
    pub fn read(
        (trace, source): (Option<&str>, &Source),
        settings: Vec<Options>,
        replications: Option<u32>,
        how: ReadOptions,
        check: impl FnOnce(&Log) -> anyhow::Result<()>,
        quiet: bool,
    ) -> anyhow::Result<LogUnderSettings> {
        let (of_log, is_mixed) = Options::of_log(&settings);
        let Options { skip_bad_lines, reading, .. } = of_log.clone();
        let mut log = read_log(source, ReadOptions { skip_bad_lines, reading, ..how }, quiet)?;
        check(&log)?;
        let cleaned = of_log.clean_out(&mut log)?;
        report_cleaning(&log, &cleaned.cleaning, quiet);
        let copy = replications.map(|_| cleaned.clone());
        let workload = Arc::new(settings[0].shape(cleaned)?);
        let (trace, replications) = (trace.map(str::to_string), replications.unwrap_or(1));
        Ok(LogUnderSettings { trace, settings, replications, is_mixed, log, workload, cleaned: copy })
    }

    /// The names of the settings.
    pub fn names(&self) -> Vec<String> {
        self.settings.iter().map(|options| options.setting().pair()).collect()
    }

    /// Runs all settings, with a progress bar: first all of them on the log as it is, then all on each copy.
    pub fn compute<K: KeptRow, E: Send>(
        &mut self,
        work: &Work<'_>,
        yields: &(dyn Fn(FinishedRun<'_>) -> (K, E) + Sync),
        quiet: bool,
    ) -> anyhow::Result<Computed<K, E>> {
        let run = |options: &Options, number: u32| PlannedRun {
            trace: self.trace.clone(),
            options: options.clone().replicated(number),
        };
        let plan: Vec<PlannedRun> = (0..self.replications)
            .flat_map(|number| self.settings.iter().map(move |options| run(options, number)))
            .collect();
        let details = |at: usize| if at < self.settings.len() { work.details } else { Details::default() };
        let (workload, digest) = (self.workload.clone(), self.log.digest);
        let jobs = Jobs::Given(GivenJobs { workload, cleaned: self.cleaned.take(), digest });
        let format = format!("{}{}", work.format, if self.is_mixed { ", beside replay" } else { "" });
        let folder = work.folder.inspect(|folder| keep_at_interrupt(folder));
        let computed = {
            let total = self.workload.jobs.len() * simulations(&plan, &jobs, details);
            let progress = Progress::counting("simulating", "jobs", Some(total), quiet);
            let done = AtomicUsize::new(0);
            let watch = |step| {
                if let Step::Jobs(arrived) = step {
                    progress.set(done.fetch_add(arrived, Ordering::Relaxed) + arrived);
                }
            };
            let (shard, threads) = (Shard::WHOLE, work.threads);
            let executor =
                Executor { plan: &plan, jobs, shard, threads, ends_at_failure: true, details: &details, watch: &watch };
            executor.compute(folder, &format, yields)?
        };
        if work.folder.is_some() && !quiet {
            note(runs_in_words(plan.len(), computed.reused, computed.computed));
        }
        Ok(computed)
    }

    /// The rows of each setting: one per replication.
    pub fn by_setting(&self, rows: &[RunRow]) -> Vec<SettingRuns> {
        let rows_of = |at: usize| rows.iter().skip(at).step_by(self.settings.len()).cloned().collect();
        (0..self.settings.len()).map(|at| SettingRuns { rows: rows_of(at) }).collect()
    }
}

/// By what jobs are grouped: the keys of `--by`, each once, and those of the file of `--by-out`.
pub fn group_keys(by: &[GroupBy], by_out: &Option<String>) -> (Vec<GroupBy>, Vec<GroupBy>) {
    let mut given = Vec::new();
    for &by in by {
        if !given.contains(&by) {
            given.push(by);
        }
    }
    let file = match by_out {
        None => Vec::new(),
        Some(_) if given.is_empty() => GroupBy::all().collect(),
        Some(_) => given.clone(),
    };
    (given, file)
}

/// How the result is printed: without `--by-out`, the groups of `--by` are in the table alone.
pub fn print_of_groups(
    by: &[GroupBy],
    by_out: &Option<String>,
    print: PrintOptions,
) -> Result<PrintOptions, UsageError> {
    match print.given() {
        _ if by.is_empty() || by_out.is_some() => Ok(print),
        None | Some(Format::Table) => Ok(print.or_table()),
        Some(_) => {
            let message = "--by prints tables: add --by-out FILE for its CSV, or choose --format table";
            Err(UsageError(message.to_string()))
        }
    }
}

/// Says at an interrupt that finished runs are kept.
pub fn keep_at_interrupt(folder: &Path) {
    let folder = folder.display();
    interrupt::add_to_message(format!("finished runs are kept in {folder}; the same command continues"));
}

/// How many runs were found, and how many were computed.
pub fn runs_in_words(runs: usize, reused: usize, computed: usize) -> String {
    let [reused, computed] = [reused, computed].map(|count| grouped(count as u64));
    format!("{}: {reused} reused, {computed} computed", counted(runs as u64, "run"))
}
