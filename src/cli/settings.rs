//! One log under several settings, with replications: what the main command, `sim report` and `sim fidelity` run.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use clap::ArgMatches;

use super::failure::{UsageError, refuse};
use super::interrupt;
use super::is_given;
use super::lacking::{Lacking, leave_out_never};
use super::log::read_log;
use super::names::NamesOption;
use super::notes::{
    note_other_years, report_cleaning, report_feedback, report_missing_predictions, report_remarks, report_requests,
    warn_of_missing_users, warn_of_partition_map, warn_of_unplaceable,
};
use super::options::SettingList;
use super::progress::Progress;
use super::stderr::{note, warning};
use crate::experiment::{CleanedAtSite, LeftOut, Options, Setting};
use crate::fidelity::SiteCheck;
use crate::metrics::{KeptRecord, Measure, More, NodeGrants, Probes, Replicates, RunRow, Watched};
use crate::report::{Cell, counted, grouped};
use crate::runs::{
    ComputedRuns, Executor, FinishedRun, GivenJobs, Jobs, JobsOnMachine, PlannedRun, RowsAlone, RunPlan, RunStep,
    ScheduleHash, Simulated, WantedOfRuns, runs_of_replications, simulations,
};
use crate::trace::{Log, ReadOptions, Resample, Source, Workload};

/// The default baseline of the embedded log and of pages: plain EASY.
pub const PLAIN_EASY: &str = "easy/estimate";

/// The log that several settings run on, read once, and cleaned for all of them.
pub struct LogUnderSettings {
    /// As given; None for the embedded log.
    trace: Option<String>,
    /// The options of each setting; at least one.
    pub settings: Vec<Options>,
    /// The lists whose product they are.
    plan: RunPlan,
    /// The number of runs of each setting: on the log as it is, and on copies that are shaken or resampled.
    pub runs_of_each: u32,
    /// What `--replications` says.
    replications: Option<u32>,
    /// By setting: how copies are resampled. None: they are shaken.
    years: Vec<Option<Resample>>,
    /// Whether some settings replay the log and others do not. Their jobs are then not those that each would have alone.
    is_mixed: bool,
    /// Of a site and its changes, the jobs that cannot run in some of them.
    lacking: Lacking,
    /// [`SettingList::is_quiet`].
    is_quiet: bool,
    /// Without its records.
    pub log: Log,
    /// The log as it is, under the first condition on the machine of the first setting.
    pub workload: Arc<Workload>,
    /// The same under each condition on each machine of the settings and baselines, with what shaken copies are made of.
    on_machines: Vec<JobsOnMachine>,
}

/// What `--replications` asks for.
#[derive(Clone, Copy)]
pub struct Replications {
    number: u32,
    /// Whether copies are resampled where the log allows it, because the command does not say how they are made.
    may_resample: bool,
}

impl Replications {
    /// Of these arguments, which have this number.
    pub fn given(number: Option<u32>, matches: &ArgMatches) -> Option<Replications> {
        number.map(|number| Replications { number, may_resample: !is_given(matches, "resample") })
    }

    /// So many, of the kind that the settings say.
    pub fn exactly(number: u32) -> Replications {
        Replications { number, may_resample: false }
    }
}

/// Wants of each run on the log as it is what another does, and of the runs on shaken copies the rows alone.
struct OnLogAsItIs<'a, W> {
    wanted: &'a W,
    settings: usize,
    /// [`LogUnderSettings::is_mixed`].
    is_mixed: bool,
    /// [`Lacking::left_out`].
    left_out: &'a LeftOut,
    /// Whether runs are changes of a site, whose schedules are compared with its own.
    is_what_if: bool,
}

impl<W: WantedOfRuns> WantedOfRuns for OnLogAsItIs<'_, W> {
    type Row = W::Row;
    /// Also whether the schedule is that of the baseline.
    type Out = (Option<W::Out>, bool);

    fn format(&self) -> String {
        let without = match self.left_out.is_empty() {
            true => String::new(),
            false => format!(", without the records {:?}", self.left_out),
        };
        format!("{}{}{without}", self.wanted.format(), if self.is_mixed { ", beside replay" } else { "" })
    }

    fn probes(&self, at: usize, workload: &Workload, measure: &Measure) -> Probes {
        if at >= self.settings {
            return Probes::default();
        }
        let mut probes = self.wanted.probes(at, workload, measure);
        if self.is_what_if {
            probes.add(Box::new(ScheduleHash::default()));
        }
        probes
    }

    fn is_row_enough(&self, at: usize) -> bool {
        at >= self.settings || (!self.is_what_if && self.wanted.is_row_enough(at))
    }

    fn row(&self, run: &FinishedRun<'_>) -> W::Row {
        self.wanted.row(run)
    }

    fn out(&self, run: FinishedRun<'_>) -> (Option<W::Out>, bool) {
        let hash = |run: &Simulated| run.seen.get::<ScheduleHash>().copied();
        let is_same =
            run.baseline.as_ref().and_then(|base| hash(base)).is_some_and(|base| hash(&run.own) == Some(base));
        ((run.at < self.settings).then(|| self.wanted.out(run)), is_same)
    }
}

/// Wants rows, and what was watched in the runs.
pub struct WatchedRuns<'a> {
    pub rows: RowsAlone,
    pub watched: Watched<'a>,
    /// The runs whose results are needed when all are computed. Those of the others are freed.
    pub with_records: Range<usize>,
}

/// A run with what was seen of it, and its baseline.
pub struct WatchedRun {
    pub own: Arc<Simulated>,
    pub baseline: Option<Arc<Simulated>>,
}

impl WantedOfRuns for WatchedRuns<'_> {
    type Row = RunRow;
    type Out = WatchedRun;

    fn format(&self) -> String {
        self.rows.format()
    }

    fn probes(&self, _: usize, workload: &Workload, measure: &Measure) -> Probes {
        self.watched.probes(workload, measure)
    }

    fn is_row_enough(&self, _: usize) -> bool {
        self.watched.is_empty()
    }

    fn row(&self, run: &FinishedRun<'_>) -> RunRow {
        self.rows.row(run)
    }

    fn out(&self, FinishedRun { at, mut own, baseline, .. }: FinishedRun<'_>) -> WatchedRun {
        // Nobody else has a run that is not a baseline.
        if let Some(own) = Arc::get_mut(&mut own).filter(|_| !self.with_records.contains(&at)) {
            own.seen.forget::<KeptRecord>();
            own.seen.forget::<NodeGrants>();
        }
        WatchedRun { own, baseline }
    }
}

impl LogUnderSettings {
    /// Reads, cleans and shapes a log. `check` gets the log before it is cleaned.
    pub fn read(
        (trace, source): (Option<&str>, &Source),
        SettingList { plan, options: mut settings, is_quiet }: SettingList,
        replications: Option<Replications>,
        how: ReadOptions,
        check: impl FnOnce(&Log) -> anyhow::Result<()>,
    ) -> anyhow::Result<LogUnderSettings> {
        let conditions = plan.conditions();
        let mut years: Vec<Option<Resample>> =
            settings.iter().map(|options| options.shaping.resample.filter(|_| replications.is_some())).collect();
        if replications.is_some() {
            // These are the runs on the log as it is.
            settings = settings.into_iter().map(|options| options.replicated(0)).collect();
        }
        let Options { skip_bad_lines, reading, .. } = settings[0].clone();
        if settings.iter().any(|options| options.reading_key() != settings[0].reading_key()) {
            return refuse(
                "the log is read once, so the options of its format and --skip-bad-lines have one value each; `sim sweep` \
                 compares several",
            );
        }
        let mut log = read_log(source, ReadOptions { skip_bad_lines, reading, ..how })?;
        check(&log)?;
        if !is_quiet {
            warn_of_partition_map(&log, &settings[0].partition_map);
        }
        let (mut is_mixed, mut on_machines, mut reported) = (false, Vec::new(), BTreeSet::new());
        let mut lacking = Lacking::default();
        for (at, members) in conditions.iter().enumerate() {
            let own: Vec<Options> = members.iter().map(|&at| settings[at].clone()).collect();
            let (of_log, is_mixed_here) = Options::of_log(&own);
            is_mixed |= is_mixed_here;
            let sites = sites_of(&own);
            // What is replayed decides which records become jobs.
            let Options { scheduler, baseline, .. } = of_log;
            let rules =
                |site: &Options| Options { scheduler: scheduler.clone(), baseline: baseline.clone(), ..site.clone() };
            let mut cleaned = match sites.len() {
                1 if at + 1 == conditions.len() => {
                    let (workload, lacking) = (rules(&sites[0]).clean_out(&mut log)?, LeftOut::new());
                    vec![CleanedAtSite { workload, lacking }]
                }
                _ => Options::clean_at_all(&sites.iter().map(rules).collect::<Vec<_>>(), &log)?,
            };
            if own.iter().any(|options| options.what_if.is_some()) {
                lacking = leave_out_never(&own, &sites, &mut cleaned, is_quiet)?;
            }
            // Conditions with the same jobs have the same notes.
            let first = &cleaned[0].workload;
            let is_new = reported.insert(format!("{:?}", first.cleaning)) && !is_quiet;
            if is_new {
                report_cleaning(&log, first);
                report_requests(&log.name, first, own[0].reading.unit);
                report_missing_predictions(&log.name, first, own.iter().flat_map(Options::predictors));
                warn_of_missing_users(&log.name, first, own.iter().flat_map(Options::predictors));
            }
            let (place, is_drawn) = (on_machines.len(), own[0].shaping.resample.is_some() && cleaned.len() > 1);
            let like = is_drawn.then(|| first.clone());
            for (number, (site, CleanedAtSite { workload, .. })) in sites.into_iter().zip(cleaned).enumerate() {
                if let Some(machine) = site.machine.as_ref().filter(|_| number > 0 && is_new && site.what_if.is_none())
                {
                    warn_of_unplaceable(&format!("{} on {}", log.name, machine.file), &workload);
                }
                let (condition, copy) = (site.condition_key(), replications.map(|_| workload.clone()));
                let workload = Arc::new(site.shape_like(workload, like.as_ref().filter(|_| number > 0))?);
                if number == 0 && !is_quiet {
                    report_feedback(&log.name, &workload);
                }
                let (machine, drawn_like) = (site.machine, (number > 0).then_some(place));
                on_machines.push(JobsOnMachine { condition, machine, workload, cleaned: copy, drawn_like });
            }
        }
        log.records = Vec::new();
        let workload = on_machines[0].workload.clone();
        if replications.is_some_and(|asked| asked.may_resample)
            && settings.iter().all(Options::allow_other_years)
            && on_machines.iter().all(|one| Resample::USERS.check(&one.workload).is_ok())
        {
            years.fill(Some(Resample::USERS));
            note_other_years();
        }
        let replications = replications.map(|asked| asked.number);
        let runs_of_each = runs_of_replications(replications.unwrap_or(1), years.iter().map(Option::is_some));
        let runs_of_each = runs_of_each.map_err(UsageError)?;
        years.iter().flatten().try_for_each(|how| how.check(&workload))?;
        let trace = trace.map(str::to_string);
        Ok(LogUnderSettings {
            trace,
            settings,
            plan,
            runs_of_each,
            replications,
            years,
            is_mixed,
            lacking,
            is_quiet,
            log,
            workload,
            on_machines,
        })
    }

    /// The jobs on the machine of a setting.
    pub fn workload_of(&self, setting: usize) -> &Arc<Workload> {
        let (options, condition) = (&self.settings[setting], self.settings[setting].condition_key());
        let is_own = |one: &&JobsOnMachine| one.machine == options.machine && one.condition == condition;
        self.on_machines.iter().find(is_own).map_or(&self.workload, |one| &one.workload)
    }

    /// The settings with the same jobs, which are compared with each other. Most often these are all.
    pub fn conditions(&self) -> Vec<Vec<usize>> {
        self.plan.conditions()
    }

    /// The cells of swept options and keys in the row of a setting.
    pub fn swept(&self, setting: usize) -> Vec<(String, Cell)> {
        self.plan.swept_cells(setting)
    }

    /// The column `options` of a setting: of resamples without their seeds.
    pub fn in_row(&self, setting: usize) -> String {
        let years = self.years[setting].iter().map(|years| format!("resample={years}"));
        let own = Some(self.settings[setting].in_row()).filter(|own| !own.is_empty());
        own.into_iter().chain(years).collect::<Vec<_>>().join(" ")
    }

    /// The options that settings have in common, as in the column `options`, and which jobs some changes of a site cannot run.
    pub fn shared_options(&self, settings: &[usize]) -> String {
        let rows: Vec<String> = settings.iter().map(|&at| self.in_row(at)).collect();
        let is_shared = |item: &&str| rows.iter().all(|row| row.split(' ').any(|other| other == *item));
        let shared = rows[0].split(' ').filter(is_shared).collect::<Vec<_>>().join(" ");
        let parts = [shared, self.lacking_in_words()].into_iter().filter(|part| !part.is_empty());
        parts.collect::<Vec<_>>().join("; ")
    }

    /// Which jobs some changes of a site cannot run. Empty if all can run all.
    pub fn lacking_in_words(&self) -> String {
        self.lacking.in_words()
    }

    /// Shows the names of the log, if they are wanted.
    pub fn show_names(&mut self, names: NamesOption) {
        let names = names.of(&self.log);
        self.on_machines.iter_mut().for_each(|one| Arc::make_mut(&mut one.workload).names = names.clone());
        self.workload = self.on_machines[0].workload.clone();
    }

    /// The names of the settings.
    pub fn names(&self) -> Vec<String> {
        let name = |(at, options): (usize, &Options)| {
            let own = options.what_if.clone().unwrap_or_else(|| options.setting().pair());
            [own].into_iter().chain(self.plan.parts(at)).collect::<Vec<_>>().join(", ")
        };
        self.settings.iter().enumerate().map(name).collect()
    }

    /// Runs all settings, with a progress bar: first all of them on the log as it is, then all on each copy.
    /// What else than rows is wanted of those on the log as it is comes first in the result.
    pub fn compute<W: WantedOfRuns>(
        &mut self,
        wanted: &W,
        folder: Option<&Path>,
        threads: usize,
    ) -> anyhow::Result<ComputedRuns<W::Row, W::Out>> {
        let start = |(options, years): (&Options, &Option<Resample>)| {
            let mut options = options.clone();
            options.shaping.resample = years.or(options.shaping.resample);
            PlannedRun { trace: self.trace.clone(), options }
        };
        let starts = self.settings.iter().zip(&self.years).map(start).collect();
        let plan = match self.replications {
            None => RunPlan::of(starts),
            Some(replications) => RunPlan::replicated(starts, replications),
        };
        // Only a warning needs the schedules.
        let is_what_if = !self.is_quiet && self.settings.iter().any(|options| options.what_if.is_some());
        let (settings, is_mixed, left_out) = (self.settings.len(), self.is_mixed, &self.lacking.left_out);
        let wanted = OnLogAsItIs { wanted, settings, is_mixed, left_out, is_what_if };
        let on_machines = self.on_machines.iter_mut();
        let on_machines = on_machines.map(|one| JobsOnMachine { cleaned: one.cleaned.take(), ..one.clone() }).collect();
        let jobs = Jobs::Given(Box::new(GivenJobs { on_machines, digest: self.log.digest }));
        let folder = folder.inspect(|folder| keep_at_interrupt(folder));
        let computed = {
            let total = self.workload.jobs.len() * simulations(&plan, &jobs);
            let are_years = self.years.iter().any(Option::is_some);
            let what = if are_years { "simulating other years" } else { "simulating" };
            let progress = Progress::counting(what, "jobs", Some(total));
            let resamples = self.runs_of_each as usize - 1;
            let watch = |step| match step {
                RunStep::Jobs(ended) => progress.add(ended),
                // The runs begin in the order of the plan.
                RunStep::Run { done, .. } => match done / self.settings.len() {
                    seed if are_years && (1..=resamples).contains(&seed) => {
                        progress.say(format!("jobs, resample {seed} of {resamples}"));
                    }
                    _ => {}
                },
            };
            let executor = Executor { jobs, ends_at_failure: true, ..Executor::of_all(&plan, threads, &watch) };
            executor.compute(&wanted, folder)?
        };
        if !self.is_quiet {
            report_remarks(&computed.remarks);
        }
        if folder.is_some() && !self.is_quiet {
            note(runs_in_words(plan.count(), computed.reused, computed.computed));
        }
        let ComputedRuns { rows, extras, reused, computed, remarks } = computed;
        for (name, out) in self.changes().zip(&extras[..settings]) {
            if let (Some(name), Some((_, true)), false) = (name, out, self.is_quiet) {
                warning(format_args!(
                    "--what-if '{name}' has no effect: every job starts and ends as in the site as it is"
                ));
            }
        }
        let extras = extras.into_iter().map(|out| out?.0).collect();
        Ok(ComputedRuns { rows, extras, reused, computed, remarks })
    }

    /// The name of the change that each setting is. None for the site as it is, and if there are no changes.
    fn changes(&self) -> impl Iterator<Item = Option<&str>> {
        self.settings.iter().map(|options| options.what_if.as_deref())
    }

    /// Adds to the rows of changes what their machines have more than that of the site.
    pub fn compare_machines(&self, rows: &mut [RunRow]) {
        let count = self.settings.len();
        let size = |at: usize| {
            let workload = self.workload_of(at);
            (workload.shapes.as_ref().map(|shapes| shapes.cluster().nodes.len() as i64), i64::from(workload.procs))
        };
        let (site_nodes, site_procs) = size(0);
        for (row, at) in rows.iter_mut().zip((0..count).cycle()).filter(|(_, at)| self.settings[*at].what_if.is_some())
        {
            let (nodes, procs) = size(at);
            row.label.more = match (nodes.zip(site_nodes), procs - site_procs) {
                (Some((nodes, site)), _) if nodes != site => More::Nodes(nodes - site),
                (None, more) if more != 0 && site_nodes.is_none() => More::Procs(more),
                _ => More::Nothing,
            };
        }
    }

    /// The runs of each setting. Those of several in one table have what differs between them in their names.
    pub fn by_setting<'a>(&self, rows: &'a [RunRow]) -> Vec<Replicates<'a>> {
        let count = self.settings.len();
        let mut all: Vec<Replicates<'a>> =
            (0..count).map(|at| Replicates::each(rows.iter().skip(at).step_by(count))).collect();
        for members in self.conditions() {
            let parts: Vec<Vec<String>> = members.iter().map(|&at| self.plan.parts(at)).collect();
            let is_shared = |part: &String| parts.iter().all(|other| other.contains(part));
            for (&at, own) in members.iter().zip(&parts) {
                all[at].options = own.iter().filter(|part| !is_shared(part)).cloned().collect();
            }
        }
        all
    }
}

/// Settings with other jobs or on another machine than those before them, among settings and their baselines. The first is that of
/// the first setting.
fn sites_of(settings: &[Options]) -> Vec<Options> {
    let mut all: Vec<(String, Options)> = Vec::new();
    for options in settings {
        let of_baseline = options.baseline_site.as_ref().map(|_| options.of_baseline());
        for site in std::iter::once(options.clone()).chain(of_baseline) {
            let key = site.condition_key();
            if !all.iter().any(|(other_key, other)| *other_key == key && other.machine == site.machine) {
                all.push((key, site));
            }
        }
    }
    all.into_iter().map(|(_, site)| site).collect()
}

/// How near a setting comes to the recorded waits of a log, with a progress bar. None if there is nothing to compare with: no
/// recorded waits, other submissions than those of the log, or a replay of the log.
pub fn check_site(workload: &Workload, setting: &Setting, options: &Options, threads: usize) -> Option<SiteCheck> {
    if setting.is_replay() || !options.shaping.keeps_submissions() {
        return None;
    }
    // The recorded waits are those of the recorded submissions.
    let without_feedback = workload.feedback.as_ref().map(|_| Workload { feedback: None, ..workload.clone() });
    let workload = without_feedback.as_ref().unwrap_or(workload);
    let progress = Progress::counting("comparing with the recorded waits", "jobs", None);
    SiteCheck::of(workload, setting, &options.measure, threads, &|ended| progress.add(ended))
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
