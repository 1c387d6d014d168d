//! The main command: one log under one or several schedulers and predictors.

mod caller;
mod files;
mod groups;

use std::io::Write;
use std::time::Instant;

use clap::{ArgMatches, Args, Command};

use super::failure::{UsageError, refuse};
use super::is_given;
use super::known_site::KnownSite;
use super::log::{LogArgs, write_names_of};
use super::names::NamesOption;
use super::notes::{note_late_outages, warn_of_misfits, warn_of_other_jobs, warn_of_other_years};
use super::options;
use super::output_options::{GroupOptions, KeepOption, OutputOptions};
use super::report::{ColorsBy, check_settings, watch_for_page, with_gantt, words_of, write_page};
use super::settings::{LogUnderSettings, PLAIN_EASY, Replications, WatchedRun, WatchedRuns};
use super::slurm_conf::{self, SLURM_CONF};
use super::stderr::note;
use super::what_if;
use crate::experiment::Section::{Engine, Estimates, Log, Machine, Metrics, Reading, Run, Shape, Users};
use crate::experiment::{Options, Setting};
use crate::metrics::{
    Breakdown, Given, Measure, Probes, Replicates, RunRow, Series, WaitReasonMeter, WaitReasons, Watched,
};
use crate::report::{
    Width, counted, ranked, with_swept, write_breakdown, write_comparison, write_ranking, write_reasons,
};
use crate::runs::{ComputedRuns, FinishedRun, RowsAlone, Simulated, WantedOfRuns};
use crate::time::{Seconds, parse_duration};
use crate::trace::{self, ReadOptions, Workload};

use files::DetailFiles;
use groups::GroupPlan;

/// Adds the options of a simulation. Those of experiments are first in help.
pub fn with_arguments(command: Command) -> Command {
    let command = options::add(command, &[Run, Log, Machine, Reading, Estimates, Shape, Users, Engine, Metrics]);
    let command = what_if::add(slurm_conf::add(options::with_lists(command), SLURM_CONF));
    SimulateArgs::augment_args(command).mut_arg("top", |top| top.requires("by")).mut_arg("log", |log| {
        log.help("The log, plain, .gz or .zst; - for standard input [default: the embedded log, compared with easy/estimate]")
    })
}

#[derive(Debug, Args)]
struct SimulateArgs {
    #[command(flatten)]
    log: LogArgs,
    /// Run each setting also on N resamples of the users of the log: would it be better in another year? With --resample none, or a
    /// log too short for it, on N - 1 slightly shaken copies: is a difference more than chance? See `sim help comparisons`
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=100_000), help_heading = "Output")]
    #[arg(conflicts_with_all = ["replication", "shake", "seed"])]
    #[arg(conflicts_with_all = ["jobs_out", "swf_out", "predictions_out", "series_out"])]
    replications: Option<u32>,
    #[command(flatten)]
    groups: GroupOptions,
    /// Also print for how many hours jobs wait for want of CPUs, memory or GPUs, because of a limit, and behind others. Takes longer
    #[arg(long, help_heading = "Output")]
    reasons: bool,
    #[command(flatten)]
    names: NamesOption,
    #[command(flatten)]
    keep: KeepOption,
    /// With --scheduler exec:command=-, the file for one row per episode: standard output belongs to the conversation
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    out: Option<String>,
    #[command(flatten)]
    output: OutputOptions,

    /// Write a page with charts, as `sim report` does; - for standard output
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    html: Option<String>,
    /// Write a CSV with one line per job; - for standard output (the summary then goes to standard error)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    jobs_out: Option<String>,
    /// Write the simulated schedule as an SWF log; - for standard output
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    swf_out: Option<String>,
    /// Write a CSV with the queue and the machine over time; - for standard output
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    series_out: Option<String>,
    /// The steps of --series-out
    #[arg(long, value_name = "DURATION", default_value = "1h", value_parser = step, requires = "series_out")]
    #[arg(help_heading = "Output")]
    series_step: Seconds,
    /// Write a CSV with the names behind the numbers of a log that is not SWF; - for standard output
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    names_out: Option<String>,
    /// Write a CSV with every prediction, its time and its reason; - for standard output
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    predictions_out: Option<String>,
}

fn step(text: &str) -> Result<Seconds, String> {
    match parse_duration(text)? {
        0 => Err("a step takes at least a second".to_string()),
        step => Ok(step),
    }
}

/// Why jobs wait under each setting, the baseline last.
fn reasons_by_setting(runs: &[Replicates<'_>], details: &[&RunDetails]) -> Vec<(String, WaitReasons)> {
    let own = runs.iter().zip(details).filter(|(setting, _)| runs.len() == 1 || !setting.is_baseline());
    let mut all: Vec<_> = own.filter_map(|(setting, of)| Some((setting.name(), reasons(&of.run.own)?))).collect();
    let of_baseline = details.first().and_then(|of| reasons(of.run.baseline.as_deref()?));
    all.extend(runs[0].baseline().zip(of_baseline).map(|(name, reasons)| (name.to_string(), reasons)));
    all
}

fn reasons(run: &Simulated) -> Option<WaitReasons> {
    run.seen.get::<WaitReasonMeter>().map(WaitReasonMeter::sums)
}

/// What is printed of a run on the log as it is, beside its row.
pub struct RunDetails {
    run: WatchedRun,
    /// By each grouping of the plan.
    breakdowns: Vec<Breakdown>,
}

/// Wants what is watched, and groups in comparison with the baseline.
struct RunsWithGroups<'a> {
    runs: WatchedRuns<'a>,
    groups: &'a GroupPlan,
}

impl WantedOfRuns for RunsWithGroups<'_> {
    type Row = RunRow;
    type Out = RunDetails;

    fn format(&self) -> String {
        self.runs.format()
    }

    fn probes(&self, at: usize, workload: &Workload, measure: &Measure) -> Probes {
        self.runs.probes(at, workload, measure)
    }

    fn is_row_enough(&self, at: usize) -> bool {
        self.runs.is_row_enough(at)
    }

    fn row(&self, run: &FinishedRun<'_>) -> RunRow {
        self.runs.row(run)
    }

    fn out(&self, run: FinishedRun<'_>) -> RunDetails {
        RunDetails { breakdowns: self.groups.of(&run), run: self.runs.out(run) }
    }
}

pub fn execute(matches: &ArgMatches) -> anyhow::Result<()> {
    let args: SimulateArgs = super::parsed(matches);
    let mut list = options::read_settings(matches, None)?;
    let has_default = matches.contains_id(slurm_conf::NAME) || is_given(matches, "baseline");
    if args.log.given().is_none() && !has_default && !list.is_what_if() {
        let baseline = Setting::parse_pair(PLAIN_EASY)?;
        list.options.iter_mut().for_each(|options| options.baseline = Some(baseline.clone()));
    }
    if list.options.iter().flat_map(Options::programs).any(|program| program.is_caller()) {
        return caller::execute(&args, matches, list.options);
    }
    if let Some(out) = &args.out {
        return refuse(format!(
            "--out is the file of exec:command=-, and here there is none: --keep {out} keeps finished runs, \
             --format csv >{out} writes the table"
        ));
    }
    if list.options.len() > 1 && args.swf_out.is_some() {
        let message = "--swf-out writes one schedule: give one value of each option";
        return refuse(message);
    }
    if args.names.is_given()
        && args.groups.keys().is_empty()
        && args.groups.by_out.is_none()
        && args.jobs_out.is_none()
        && args.html.is_none()
    {
        return refuse(
            "--names has no effect without --by, --by-out, --jobs-out or --html: the summary names nobody; remove it",
        );
    }
    let is_what_if = list.is_what_if();
    if args.html.is_some() {
        check_settings(&list, "--html is for")?;
    }
    if !args.groups.keys().is_empty() || args.groups.by_out.is_some() || args.jobs_out.is_some() {
        list.refuse_conditions("--by, --by-out and --jobs-out are for")?;
    }
    let print = args.groups.printed(args.output.print)?;
    let (mut files, stdout_taken) = DetailFiles::open(&args)?;
    let source = args.log.source();
    let began = Instant::now();
    let how = ReadOptions {
        keep_text: files.swf.is_some(),
        digest: args.keep.folder.is_some() || files.html.is_some(),
        ..ReadOptions::default()
    };
    let names_out = files.names.take();
    let write_names = |log: &trace::Log| names_out.map_or(Ok(()), |out| write_names_of(log, out));
    let given = (args.log.given(), &source);
    let mut log =
        LogUnderSettings::read(given, list, Replications::given(args.replications, matches), how, write_names)?;
    log.show_names(args.names);
    let (workload, reading) = (log.workload.clone(), began.elapsed());
    if files.series.is_some() {
        for workload in (0..log.settings.len()).map(|at| log.workload_of(at)) {
            let submissions = workload.last_submit() - workload.first_submit();
            Series::check_length(submissions, args.series_step).map_err(UsageError)?;
        }
    }
    args.groups.check(&workload)?;
    if log.settings.iter().any(|settings| settings.setting().is_replay()) {
        warn_of_misfits(&workload.label, &workload);
    }
    let groups = GroupPlan::new(&workload, &log.settings[0].measure, &args.groups);
    let (page, mut watched) = (files.html.take(), Watched::default());
    files.watch(&mut watched, args.series_step);
    groups.watch(&mut watched);
    if args.reasons {
        watched.add(WaitReasonMeter::new);
    }
    if page.is_some() {
        watch_for_page(&mut watched, &log);
    }
    if is_what_if {
        KnownSite::watch(&log, &mut watched);
    }
    let copies_from = log.settings.len();
    let with_records = match &page {
        _ if files.needs_records() => 0..copies_from,
        Some(_) => with_gantt(&log.settings),
        None => 0..0,
    };
    let runs = WatchedRuns { rows: RowsAlone::of(log.runs_of_each), watched, with_records };
    let wanted = RunsWithGroups { runs, groups: &groups };
    let ComputedRuns { mut rows, extras, .. } =
        log.compute(&wanted, args.keep.folder.as_deref(), args.output.threads())?;
    log.compare_machines(&mut rows);
    let details: Vec<RunDetails> = extras.into_iter().flatten().collect();
    let site = is_what_if.then(|| KnownSite::of(&log, &details[0].run.own));
    let (jobs, total) = (counted(workload.jobs.len() as u64, "job"), began.elapsed());
    let simulating = (total - reading).as_secs_f64();
    note(format_args!("{jobs} read in {:.3} s, simulated in {simulating:.3} s", reading.as_secs_f64()));
    files.write(&log, &groups, &details)?;
    if let Some(out) = page {
        let shown: Vec<&WatchedRun> = details.iter().map(|details| &details.run).collect();
        let gantt = (None, ColorsBy::Wait);
        let page = write_page((matches, &args.log), &log, &rows, &shown, gantt, args.output.threads())?;
        out.fill(|out| out.write_all(page.page.as_bytes()))?;
    }
    let runs = log.by_setting(&rows);
    note_late_outages(&workload, rows.iter().take(log.settings.len()));
    let conditions = log.conditions();
    for members in &conditions {
        warn_of_other_jobs(members.iter().map(|&at| &rows[at]));
        warn_of_other_years(&runs[members[0]]);
    }
    // What repeats a row of the ranking of --what-if auto.
    let repeated = what_if::is_auto(matches).then(|| {
        let command = with_arguments(Command::new("sim"));
        let without = [what_if::NAME, "html", "by", "top", "by_out", "reasons", "threads"];
        let words = words_of(&command, matches, args.log.given(), &without);
        ["sim".to_string()].into_iter().chain(words).collect::<Vec<_>>().join(" ")
    });
    let zone = workload.unix_start.map(|_| workload.zone.name());
    let table = |out: &mut dyn Write, width: Width| {
        for (number, members) in conditions.iter().enumerate() {
            if number > 0 {
                writeln!(out)?;
            }
            let own: Vec<Replicates<'_>> = members.iter().map(|&at| runs[at].clone()).collect();
            let words = site.as_ref().and_then(KnownSite::in_words);
            let above = (&*log.shared_options(members), words.as_deref());
            match &repeated {
                None => write_comparison(out, width, &own, above)?,
                Some(repeated) => write_ranking(out, width, &own, above, repeated)?,
            }
            if args.reasons {
                let details: Vec<&RunDetails> = members.iter().map(|&at| &details[at]).collect();
                writeln!(out)?;
                let on_nodes = log.workload_of(members[0]).shapes.is_some();
                write_reasons(out, width, on_nodes, &reasons_by_setting(&own, &details))?;
            }
        }
        for (name, details) in log.names().iter().zip(&details) {
            for breakdown in groups.tables.iter().map(|&at| &details.breakdowns[at]) {
                writeln!(out)?;
                let zone = zone.filter(|_| breakdown.grouping.by.is_of_the_calendar());
                write_breakdown(out, width, name, zone, breakdown)?;
            }
        }
        Ok(())
    };
    // All rows have the columns that any of them needs.
    let given: Given = runs.iter().map(Replicates::given).collect();
    let cells = |(at, runs): (usize, &Replicates<'_>)| {
        let reasons = details.get(at).filter(|_| args.reasons).and_then(|details| reasons(&details.run.own));
        let more = reasons.iter().flat_map(WaitReasons::cells).chain(site.as_ref().map(KnownSite::cell));
        let row = with_swept(runs.cells(given, &log.in_row(at)), more);
        with_swept(row, log.swept(at))
    };
    let order = if repeated.is_some() { ranked(&runs) } else { (0..runs.len()).collect() };
    let rows: Vec<_> = order.into_iter().map(|at| cells((at, &runs[at]))).collect();
    Ok(print.print_rows(stdout_taken, &rows, table)?)
}
