//! Runs the settings of the main command, with a progress bar, and keeps what is printed of them.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::cli::failure::UsageError;
use crate::cli::progress::Progress;
use crate::engine::RunRecord;
use crate::experiment::{ReplicationError, SettingRun, Settings};
use crate::metrics::{Breakdown, GroupBy, Groupings, Series, SeriesStep, SettingRuns};
use crate::parallel;
use crate::trace::Workload;

/// What is computed in addition to the figures of each setting.
pub struct Wanted {
    /// The number of runs of each setting.
    pub replications: u32,
    /// Keep the records of the runs on the log as it is.
    pub keep_records: bool,
    /// By what jobs are grouped in tables.
    pub table_keys: Vec<GroupBy>,
    /// By what jobs are grouped in the file.
    pub file_keys: Vec<GroupBy>,
    /// The number of names in tables.
    pub top: usize,
    pub threads: usize,
}

/// The results of all settings, in their order. Everything but `runs` is of the log as it is.
pub struct Results {
    pub workload: Workload,
    /// The names of the settings.
    pub names: Vec<String>,
    pub runs: Vec<SettingRuns>,
    /// Empty if they are not wanted.
    pub records: Vec<RunRecord>,
    /// Empty if they are not wanted.
    pub series: Vec<Vec<SeriesStep>>,
    groups: GroupPlan,
    /// For each setting the breakdown by each grouping.
    breakdowns: Vec<Vec<Breakdown>>,
}

/// The groupings of tables and of the file. One that is the same in both is computed once.
struct GroupPlan {
    groupings: Groupings,
    /// The indexes of those in tables, and of those in the file.
    tables: Vec<usize>,
    file: Vec<usize>,
}

impl GroupPlan {
    fn new(workload: &Workload, settings: &Settings, wanted: &Wanted) -> GroupPlan {
        let mut keys: Vec<_> = wanted.file_keys.iter().map(|&by| (by, None)).collect();
        let file = (0..keys.len()).collect();
        let table = |&by: &GroupBy| {
            let key = (by, by.is_by_name().then_some(wanted.top));
            keys.iter().position(|other| *other == key).unwrap_or_else(|| {
                keys.push(key);
                keys.len() - 1
            })
        };
        let tables = wanted.table_keys.iter().map(table).collect();
        let groupings = Groupings::of(workload, &settings.options[0].measure, &keys);
        GroupPlan { groupings, tables, file }
    }
}

impl Results {
    /// Shapes and runs cleaned jobs. `also` gets each run on the log as it is, in the order of the settings, with that of the
    /// baseline.
    pub fn compute(
        settings: &Settings,
        cleaned: Workload,
        wanted: &Wanted,
        also: &mut dyn FnMut(&Workload, &SettingRun, Option<&SettingRun>),
        quiet: bool,
    ) -> anyhow::Result<Results> {
        let copies: Vec<u32> = (1..wanted.replications).collect();
        let cleaned_copy = (!copies.is_empty()).then(|| cleaned.clone());
        let workload = settings.options[0].shape(cleaned)?;
        if let Some(step) = settings.series_step {
            let submissions = workload.last_submit() - workload.first_submit();
            Series::check_length(submissions, step).map_err(UsageError)?;
        }
        let total = workload.jobs.len() * settings.runs() * wanted.replications as usize;
        let progress = Progress::counting("simulating", "jobs", Some(total), quiet);
        let done = AtomicUsize::new(0);
        let step = |arrived| progress.set(done.fetch_add(arrived, Ordering::Relaxed) + arrived);

        let names = settings.options.iter().map(|options| options.setting().pair()).collect();
        let groups = GroupPlan::new(&workload, settings, wanted);
        let (measure, threads) = (&settings.options[0].measure, wanted.threads);
        let break_down = |record: &RunRecord| Breakdown::of(&groups.groupings, &workload, record, measure);
        let (mut runs, mut records, mut breakdowns, mut series) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut of_baseline: Option<Vec<Breakdown>> = None;
        let mut each = |run: SettingRun, baseline: Option<&SettingRun>| {
            also(&workload, &run, baseline);
            runs.push(SettingRuns { rows: vec![settings.row(runs.len(), &workload, &run, baseline)] });
            if !groups.groupings.each().is_empty() {
                let mut parts = break_down(&run.record);
                if let Some(base) = baseline {
                    let of_base = of_baseline.get_or_insert_with(|| break_down(&base.record));
                    let measured = measure.jobs(workload.jobs.len());
                    Breakdown::compare(&mut parts, of_base, &groups.groupings, measured, &run.record, &base.record);
                }
                breakdowns.push(parts);
            }
            series.extend(run.series);
            if wanted.keep_records {
                records.push(run.record);
            }
        };
        settings.run(&workload, threads, &step, &mut each)?;
        if let Some(cleaned) = cleaned_copy {
            let rows = |number: &u32| settings.replication(&cleaned, *number, &step);
            for rows in parallel::map(&copies, threads, rows, |_| ()) {
                let rows = rows.map_err(|error| match error {
                    ReplicationError::Trace(error) => anyhow::Error::from(error),
                    ReplicationError::Engine(error) => anyhow::Error::from(error),
                })?;
                runs.iter_mut().zip(rows).for_each(|(setting, row)| setting.rows.push(row));
            }
        }
        let series = series.into_iter().collect::<Result<_, _>>().map_err(UsageError)?;
        Ok(Results { names, runs, records, series, breakdowns, groups, workload })
    }

    /// The breakdowns in tables, with the names of their settings.
    pub fn tables(&self) -> impl Iterator<Item = (&str, &Breakdown)> {
        let of_setting = |(name, parts)| self.groups.tables.iter().map(move |&at| (name, at, parts));
        let names = self.names.iter().map(String::as_str);
        let all = names.zip(&self.breakdowns).flat_map(of_setting);
        all.map(|(name, at, parts): (&str, usize, &Vec<Breakdown>)| (name, &parts[at]))
    }

    /// The breakdowns in the file, with the indexes of their settings.
    pub fn files(&self) -> impl Iterator<Item = (usize, &Breakdown)> {
        let of_setting = |(setting, parts)| self.groups.file.iter().map(move |&at| (setting, at, parts));
        let all = self.breakdowns.iter().enumerate().flat_map(of_setting);
        all.map(|(setting, at, parts): (usize, usize, &Vec<Breakdown>)| (setting, &parts[at]))
    }
}
