//! `sim report`: a comparison as one HTML file with charts.

mod charts;
mod provenance;

use std::ops::Range;

use clap::{ArgMatches, Args, ValueEnum};

use super::failure::{UsageError, refuse};
use super::known_site::KnownSite;
use super::log::LogArgs;
use super::names::NamesOption;
use super::notes::{warn_of_other_jobs, warn_of_other_years};
use super::options;
use super::options::SettingList;
use super::output_options::{KeepOption, OutputOptions, reporting};
use super::report_files::ReportFileOptions;
use super::settings::{LogUnderSettings, PLAIN_EASY, Replications, WatchedRun, WatchedRuns, check_site};
use super::slurm_conf::{self, SLURM_CONF};
use super::what_if;
use super::{CommandForm, parsed};
use crate::experiment::Section::{Engine, Estimates, Log, Machine, Metrics, Reading, Run, Shape, Users};
use crate::experiment::Setting;
use crate::fidelity::{SiteCheck, SiteVerdict};
use crate::metrics::{KeptRecord, RunRow, Watched};
use crate::report::html::{ComparisonReport, GanttColors, GanttData, WrittenReport, watch_for_charts};
use crate::report::{AS_IT_IS, Cell, ranked};
use crate::runs::{ComputedRuns, RowsAlone};
use crate::time::Time;
use crate::trace::{Moment, ReadOptions, TraceError, Workload};

use charts::gantts;
pub use charts::with_gantt;
pub use provenance::words_of;

/// The subcommand.
pub const COMMAND: CommandForm = CommandForm {
    name: "report",
    about: "Write a comparison with charts as one HTML file",
    arguments: |command| {
        let command = reporting(ReportArgs::augment_args(command));
        let command = options::add(command, &[Run, Log, Machine, Reading, Estimates, Shape, Users, Engine, Metrics]);
        what_if::add(slurm_conf::add(options::with_lists(command), SLURM_CONF))
    },
    run: |matches| execute(&parsed(matches), matches),
};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  sim report --out report.html  the embedded log
  sim report CTC.swf --predictor ruh,sbh --baseline easy/estimate \\
    --replications 10 --out ctc.html
  sim report KTH.swf --gantt 30d..31d --gantt-colors user --out kth.html
  sim report KTH.swf --what-if auto --out help.html    what would help most?
  sim report KTH.swf --predictor ruh,sbh --svg figures    pictures for papers

Open the page with any browser. It needs no network and no scripts.")]
struct ReportArgs {
    #[command(flatten)]
    log: LogArgs,
    #[command(flatten)]
    files: ReportFileOptions,
    /// Run each setting also on N resamples of the users of the log: would it be better in another year? With --resample none, or a
    /// log too short for it, on N - 1 slightly shaken copies: is a difference more than chance? See `sim help comparisons`
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=100_000), display_order = 2)]
    #[arg(conflicts_with_all = ["replication", "shake", "seed"])]
    replications: Option<u32>,
    #[command(flatten)]
    keep: KeepOption,
    /// The window of the Gantt chart: times after the first submission (10d..11d), or dates (2016-12-25..2016-12-26, UTC)
    /// [default: the 12 hours in which the most area waits]
    #[arg(long, value_name = "FROM..TO", value_parser = parse_window, display_order = 3)]
    gantt: Option<Window>,
    /// By what the jobs of the Gantt chart are coloured
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = ColorsBy::Wait, display_order = 4)]
    gantt_colors: ColorsBy,
    #[command(flatten)]
    names: NamesOption,
    #[command(flatten)]
    output: OutputOptions,
}

/// By what the jobs of a Gantt chart are coloured.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ColorsBy {
    /// How long they waited
    Wait,
    /// The users with the most area
    User,
}

/// The beginning and the end of a window. Its own type, because clap takes a type by value.
#[derive(Clone, Copy, Debug)]
pub struct Window(Moment, Moment);

fn parse_window(text: &str) -> Result<Window, String> {
    let Some((from, to)) = text.split_once("..") else {
        return Err(format!("'{text}' is not FROM..TO, such as 10d..11d"));
    };
    Ok(Window(Moment::parse(from)?, Moment::parse(to)?))
}

impl Window {
    /// In the times of a workload.
    fn times(self, workload: &Workload) -> anyhow::Result<Range<Time>> {
        let time = |moment: Moment| -> Result<Time, TraceError> {
            Ok(workload.first_submit() + moment.after_first(workload)?)
        };
        let (from, to) = (time(self.0)?, time(self.1)?);
        match from < to {
            true => Ok(from..to),
            false => refuse("--gantt: the window ends before it begins"),
        }
    }
}

fn execute(args: &ReportArgs, matches: &ArgMatches) -> anyhow::Result<()> {
    // A report shows who gains and who pays, so there is something to compare with.
    let plain_easy = Setting::parse_pair(PLAIN_EASY)?;
    let list = options::read_settings(matches, Some(plain_easy))?;
    check_settings(&list, "a page is about")?;
    let inputs = args.log.files();
    let files = args.files.open(&inputs, &args.output.print)?;
    let given = (args.log.given(), &args.log.source());
    let how = ReadOptions { digest: true, ..ReadOptions::default() };
    let mut log =
        LogUnderSettings::read(given, list, Replications::given(args.replications, matches), how, |_| Ok(()))?;
    log.show_names(args.names);
    let (mut watched, threads) = (Watched::default(), args.output.threads());
    watch_for_page(&mut watched, &log);
    let wanted =
        WatchedRuns { rows: RowsAlone::of(log.runs_of_each), watched, with_records: with_gantt(&log.settings) };
    let ComputedRuns { mut rows, extras, .. } = log.compute(&wanted, args.keep.folder.as_deref(), threads)?;
    log.compare_machines(&mut rows);
    warn_of_other_jobs(rows.iter().take(log.settings.len()));
    warn_of_other_years(&log.by_setting(&rows)[0]);
    let shown: Vec<WatchedRun> = extras.into_iter().flatten().collect();
    let shown: Vec<&WatchedRun> = shown.iter().collect();
    let report = write_page((matches, &args.log), &log, &rows, &shown, (args.gantt, args.gantt_colors), threads)?;
    let row = [
        ("trace", Cell::Text(log.workload.label.clone())),
        ("jobs", Cell::Count(log.workload.jobs.len() as u64)),
        ("settings", Cell::Count(log.settings.len() as u64)),
    ];
    files.write(&report, row, &args.output.print)
}

/// Refuses settings that no page shows beside each other; `what` begins the message. A site and its changes may differ in everything.
pub fn check_settings(list: &SettingList, what: &str) -> Result<(), UsageError> {
    list.refuse_conditions(what)?;
    if list.is_what_if() { Ok(()) } else { slurm_conf::refuse_machines(&list.options) }
}

/// Adds what a page shows of the runs.
pub fn watch_for_page(watched: &mut Watched<'_>, log: &LogUnderSettings) {
    let is_what_if = log.settings.iter().any(|options| options.what_if.is_some());
    watch_for_charts(watched, is_what_if);
    if is_what_if {
        KnownSite::watch(log, watched);
    }
    watched.add(|_, _| KeptRecord::default());
}

/// The page about these runs on the log as it is, whose rows are the first.
pub fn write_page(
    (matches, given): (&ArgMatches, &LogArgs),
    log: &LogUnderSettings,
    rows: &[RunRow],
    shown: &[&WatchedRun],
    (wanted, colors): (Option<Window>, ColorsBy),
    threads: usize,
) -> anyhow::Result<WrittenReport> {
    let (workload, names, mut runs) = (&*log.workload, log.names(), log.by_setting(rows));
    let (is_what_if, is_ranked) = (what_if::is_asked_for(matches), what_if::is_auto(matches));
    let order: Vec<usize> = if is_ranked { ranked(&runs) } else { (0..runs.len()).collect() };
    let base_name = match &log.settings[0].baseline {
        Some(_) if is_what_if => AS_IT_IS.to_string(),
        baseline => baseline.as_ref().map(Setting::pair).unwrap_or_default(),
    };
    let of_settings = with_gantt(&log.settings).map(|at| (names[at].clone(), &*shown[at].own, &**log.workload_of(at)));
    let baseline = shown[0].baseline.as_deref();
    let of_baseline = baseline.map(|base| (base_name.clone(), base, workload));
    let (window, gantts) = gantts(wanted, &of_baseline.into_iter().chain(of_settings).collect::<Vec<_>>())?;
    let is_shown = |at: &&usize| runs.len() == 1 || !runs[**at].is_baseline();
    let pictured = |at: &usize| charts::pictured(&names[*at], &shown[*at].own, log.workload_of(*at));
    let pictured = order.iter().filter(is_shown).map(pictured).collect();
    runs = order.iter().map(|&at| runs[at].clone()).collect();
    let present = log.settings[0].baseline.clone().unwrap_or_else(|| log.settings[0].setting());
    let subject = if log.settings[0].baseline.is_some() { "The baseline" } else { "This setting" };
    let checked =
        |site: SiteCheck| (site.in_words((subject, "--baseline")), site.verdict() == SiteVerdict::NotThisSite);
    // Of changes the run of the site says it, as in the terminal.
    let known = is_what_if.then(|| KnownSite::of(log, &shown[0].own));
    let site = match &known {
        Some(known) => known.in_words().map(|words| (words, known.is_far())),
        None => check_site(workload, &present, &log.settings[0], threads).map(checked),
    };
    let command = is_ranked.then(|| provenance::command(matches, given.given(), false, &[what_if::NAME]));
    let report = ComparisonReport {
        facts: provenance::facts(matches, given, log),
        site,
        settings: &runs,
        options: &log.shared_options(&order),
        ranked_by: command.as_deref(),
        baseline: baseline.map(|run| charts::pictured(&base_name, run, workload)),
        pictured,
        workload,
        gantt: GanttData {
            window,
            first_submit: workload.first_submit(),
            colors: match colors {
                ColorsBy::Wait => GanttColors::Wait,
                ColorsBy::User => GanttColors::User,
            },
            chosen: wanted.is_none(),
            settings: gantts,
        },
    };
    Ok(report.write())
}
