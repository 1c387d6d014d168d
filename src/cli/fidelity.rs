//! `sim fidelity`: how near a simulated schedule is to the recorded one.

use std::io::{self, Write};
use std::sync::Arc;

use clap::{ArgMatches, Args};

use super::failure::{UsageError, refuse};
use super::log::LogArgs;
use super::names::NamesOption;
use super::notes::warn_of_misfits;
use super::options;
use super::output_options::{Format, GroupOptions, KeepOption, OutputFiles, OutputOptions};
use super::settings::LogUnderSettings;
use super::slurm_conf::{self, SLURM_CONF};
use super::stderr::note;
use super::{CommandForm, is_given, parsed, rows_page};
use crate::fidelity::{
    ComparedWaits, DEFAULT_PREDICTOR, DEFAULT_SCHEDULERS, FidelityBreakdown, FidelityFigures, FidelityHeading,
    FidelityRow, RecordedComparison, RecordedWaits, fidelity_group_cells, verdict_in_words, write_compared_jobs,
    write_fidelity, write_fidelity_groups, write_windows,
};
use crate::metrics::{GroupBy, Measure, Probes};
use crate::report::{Cell, Output, OutputError, Width, write_csv};
use crate::runs::{ComputedRuns, FinishedRun, WantedOfRuns};
use crate::sort::sort_by;
use crate::time::{HOUR, Seconds, parse_duration, print_duration};
use crate::trace::{CleaningCause, Log, ReadOptions, Workload};

/// The subcommand.
pub const COMMAND: CommandForm = CommandForm {
    name: "fidelity",
    about: "How near does a simulated schedule come to the recorded one?",
    arguments: |command| with_options(FidelityArgs::augment_args(command)),
    run: |matches| execute(&parsed(matches), matches),
};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  sim fidelity KTH.swf.gz
      which of our schedulers comes nearest to the site's own?
  sim fidelity KTH.swf.gz --scheduler easy
      one of them, by width, queue, user and week
  sim fidelity CTC.swf --scheduler easy,sjbf --by width,queue --format table
  sim fidelity CTC.swf --scheduler 'easy:queue={fcfs|saf|wfp3}' --warmup 5% \\
    --format csv
  sim fidelity sacct.txt --scheduler easy --jobs-out jobs.csv \\
    --windows-out weeks.csv
  sim fidelity KTH.swf.gz --scheduler replay
      the log's own schedule: no difference

The jobs of a log are simulated on the log's machine, and their waits are compared with those in the log. Jobs without a
recorded wait are simulated too, but not compared. The row that is nearest comes first. No simulation can meet a log exactly:
it does not know its downtimes and its priorities, and without --machine neither its partitions nor its memory.")]
struct FidelityArgs {
    #[command(flatten)]
    log: LogArgs,
    /// The length of the windows of the moving mean, in whole hours
    #[arg(long, value_name = "DURATION", default_value = "14d", value_parser = parse_window, display_order = 3)]
    window: Seconds,
    #[command(flatten)]
    groups: GroupOptions,
    #[command(flatten)]
    names: NamesOption,
    /// Write a CSV with one line per compared job: its recorded and its simulated wait; - for standard output (the table then
    /// goes to standard error)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    jobs_out: Option<String>,
    /// Write a CSV with the moving means, one line per window; - for standard output
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    windows_out: Option<String>,
    #[command(flatten)]
    keep: KeepOption,
    /// Write the verdict and the figures of all schedules as a page; - for standard output
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    html: Option<String>,
    #[command(flatten)]
    output: OutputOptions,
}

/// Adds the options of an experiment. Options that change when jobs arrive are not among them: the log's waits are those of its
/// own submissions.
fn with_options(command: clap::Command) -> clap::Command {
    use crate::experiment::Section::{Engine, Estimates, Log, Machine, Reading};
    let command = options::add_named(command, &["scheduler", "predictor"]);
    let command = options::add(command, &[Log, Machine, Reading, Estimates, Engine]);
    let command = options::add_named(command, &["from", "to", "first", "warmup", "cooldown"]);
    slurm_conf::add(options::with_lists(command), SLURM_CONF)
        .mut_arg("scheduler", |argument| argument.default_value(DEFAULT_SCHEDULERS))
        .mut_arg("predictor", |argument| argument.default_value(DEFAULT_PREDICTOR))
        .mut_arg("by", |by| {
            let help = by.get_help().cloned().unwrap_or_default();
            by.help(format!("{help} [default: with one scheduler and as a table width,queue,user,week, with --machine also partition]"))
        })
}

/// The keys of the groups that are printed of one schedule, if none is given. On nodes partitions are added.
const DEFAULT_KEYS: [GroupBy; 4] = [GroupBy::Width, GroupBy::Queue, GroupBy::User, GroupBy::Week];

fn parse_window(text: &str) -> Result<Seconds, String> {
    let length = parse_duration(text)?;
    match length >= HOUR && length % HOUR == 0 {
        true => Ok(length),
        false => Err(format!("'{text}' is not a number of whole hours, such as 14d or 36h")),
    }
}

/// A simulated schedule, and what is printed of it.
struct PrintedSchedule {
    /// SCHEDULER/PREDICTOR.
    name: String,
    /// The cells of its row.
    row: Vec<(String, Cell)>,
    figures: FidelityFigures,
    /// With the groups and the waits. None if neither is printed.
    fidelity: Option<RecordedComparison>,
}

impl PrintedSchedule {
    fn breakdowns(&self) -> &[FidelityBreakdown] {
        self.fidelity.as_ref().map_or(&[], |fidelity| &fidelity.breakdowns)
    }
}

/// What is wanted of the schedules: the comparison of each with the recorded one.
struct ComparedSchedules {
    recorded: Arc<RecordedWaits>,
    window: Seconds,
    with_waits: bool,
    with_groups: bool,
}

impl WantedOfRuns for ComparedSchedules {
    type Row = FidelityFigures;
    type Out = RecordedComparison;

    fn format(&self) -> String {
        FidelityFigures::format(self.window)
    }

    fn probes(&self, _: usize, _: &Workload, _: &Measure) -> Probes {
        let mut probes = Probes::default();
        probes.add(Box::new(ComparedWaits::new(self.recorded.clone())));
        probes
    }

    fn is_row_enough(&self, _: usize) -> bool {
        !self.with_waits && !self.with_groups
    }

    fn row(&self, run: &FinishedRun<'_>) -> FidelityFigures {
        run.own.seen.of::<ComparedWaits>().comparison().figures
    }

    fn out(&self, run: FinishedRun<'_>) -> RecordedComparison {
        let RecordedComparison { figures, breakdowns, waits } = run.own.seen.of::<ComparedWaits>().comparison();
        let waits = if self.with_waits { waits.clone() } else { Vec::new() };
        RecordedComparison { figures: *figures, breakdowns: breakdowns.clone(), waits }
    }
}

fn execute(args: &FidelityArgs, matches: &ArgMatches) -> anyhow::Result<()> {
    let list = options::read_settings(matches, None)?;
    list.refuse_conditions("schedules are compared of")?;
    let print = args.groups.printed(args.output.print)?;
    let outputs = [
        ("--by-out", &args.groups.by_out),
        ("--jobs-out", &args.jobs_out),
        ("--windows-out", &args.windows_out),
        ("--html", &args.html),
    ];
    let OutputFiles { files, stdout_taken } = OutputFiles::open(outputs, &args.log.files())?;
    let [by_out, jobs_out, windows_out, html] = files;

    let mut tables = args.table_keys(list.options.len(), print.format());
    if tables.is_empty() && is_given(matches, "top") {
        let message = "--top has no effect: no table of groups is printed (see --by)";
        return refuse(message);
    }
    let given = (args.log.given(), &args.log.source());
    let how = ReadOptions { digest: args.keep.folder.is_some(), ..ReadOptions::default() };
    let mut log = LogUnderSettings::read(given, list, None, how, refuse_without_waits)?;
    log.show_names(args.names);
    let workload = log.workload.clone();
    args.groups.check(&workload)?;
    warn_of_misfits(&workload.label, &workload);
    if workload.shapes.is_some() && tables == DEFAULT_KEYS && args.groups.keys().is_empty() {
        tables.insert(2, GroupBy::Partition);
    }
    let file = args.groups.file_keys(&workload).into_iter().map(|by| (by, None));
    let keys: Vec<_> = tables.iter().map(|&by| (by, Some(args.groups.top))).chain(file).collect();
    let recorded = RecordedWaits::of(&workload, &log.settings[0].measure, args.window, &keys).map_err(UsageError)?;
    let recorded = Arc::new(recorded);
    if !recorded.has_windows() {
        let length = print_duration(args.window);
        note(format_args!("the compared jobs were submitted in less than {length}: no moving mean (see --window)"));
    }

    let options = log.shared_options(&(0..log.settings.len()).collect::<Vec<_>>());
    let heading = FidelityHeading {
        workload: &workload,
        options: &options,
        // A replay of the log drops them before.
        without_wait: recorded.without_wait as u64 + workload.cleaning.count(CleaningCause::WithoutWait),
        window: args.window,
    };
    let (with_waits, with_groups) = (jobs_out.is_some() || windows_out.is_some(), !keys.is_empty());
    let wanted = ComparedSchedules { recorded: recorded.clone(), window: args.window, with_waits, with_groups };
    let ComputedRuns { rows, extras, .. } = log.compute(&wanted, args.keep.folder.as_deref(), args.output.threads())?;
    let schedule = |(at, (figures, fidelity)): (usize, (FidelityFigures, Option<RecordedComparison>))| {
        let options = &log.settings[at];
        let (scheduler, predictor) = (options.scheduler.to_string(), options.predictor.to_string());
        let dropped = workload.cleaning.dropped() + (recorded.jobs.len() - figures.jobs) as u64;
        let row = FidelityRow { heading: &heading, scheduler, predictor, dropped }.cells(&log.swept(at), &figures);
        PrintedSchedule {
            name: options.setting().pair(),
            row,
            figures,
            fidelity: fidelity.filter(|_| !wanted.is_row_enough(at)),
        }
    };
    let mut schedules: Vec<PrintedSchedule> = rows.into_iter().zip(extras).enumerate().map(schedule).collect();
    // The sort is stable: equal ones stay in the order in which they were given.
    sort_by(&mut schedules, |a, b| a.figures.distance().total_cmp(&b.figures.distance()));

    let files = FidelityFiles { by_out, jobs_out, windows_out };
    files.write(&workload, &recorded, &schedules, tables.len())?;
    let rows: Vec<_> = schedules.iter().map(|schedule| schedule.row.clone()).collect();
    if let (Some(out), Some(nearest)) = (html, schedules.first()) {
        let verdict = verdict_in_words(&format!("The nearest schedule, {},", nearest.name), &nearest.figures);
        let page = rows_page::page(format!("Simulated and recorded: {}", workload.label), verdict, None, &rows);
        out.fill(|out| out.write_all(page.as_bytes()))?;
    }
    let table = |out: &mut dyn Write, width: Width| {
        let names: Vec<String> = schedules.iter().map(|schedule| schedule.name.clone()).collect();
        let figures: Vec<&FidelityFigures> = schedules.iter().map(|schedule| &schedule.figures).collect();
        write_fidelity(out, width, &heading, &names, &figures)?;
        // If all jobs are in one group, the table says nothing new. It is printed if it was asked for.
        let is_shown =
            |breakdown: &FidelityBreakdown| !args.groups.keys().is_empty() || breakdown.grouping.values.len() > 1;
        schedules.iter().try_for_each(|schedule| {
            let breakdowns = schedule.breakdowns()[..tables.len()].iter();
            write_groups(out, width, &workload, &schedule.name, breakdowns.filter(|one| is_shown(one)))
        })
    };
    Ok(print.print_rows(stdout_taken, &rows, table)?)
}

/// Writes the tables of groups of a schedule, each after an empty line.
fn write_groups<'a>(
    out: &mut dyn Write,
    width: Width,
    workload: &Workload,
    name: &str,
    mut breakdowns: impl Iterator<Item = &'a FidelityBreakdown>,
) -> io::Result<()> {
    let zone = workload.unix_start.map(|_| workload.zone.name());
    breakdowns.try_for_each(|breakdown| {
        writeln!(out)?;
        let zone = zone.filter(|_| breakdown.grouping.by.is_of_the_calendar());
        write_fidelity_groups(out, width, name, zone, breakdown)
    })
}

/// The files that are written beside the table. None if not requested.
struct FidelityFiles {
    by_out: Option<Output>,
    jobs_out: Option<Output>,
    windows_out: Option<Output>,
}

impl FidelityFiles {
    /// Writes them. The breakdowns of the file are those from `tables` on.
    fn write(
        self,
        workload: &Workload,
        recorded: &RecordedWaits,
        schedules: &[PrintedSchedule],
        tables: usize,
    ) -> Result<(), OutputError> {
        let named = || {
            let name = |name| (schedules.len() > 1).then_some(name);
            schedules.iter().filter_map(move |one| Some((name(one.name.as_str()), one.fidelity.as_ref()?)))
        };
        if let Some(out) = self.by_out {
            let groups = named().flat_map(|(name, one)| one.breakdowns[tables..].iter().map(move |by| (name, by)));
            let rows: Vec<_> = groups.flat_map(|(name, by)| fidelity_group_cells(name, by)).collect();
            out.fill(|out| write_csv(out, &rows, true))?;
        }
        if let Some(out) = self.jobs_out {
            out.fill(|out| write_compared_jobs(out, workload, recorded, &named().collect::<Vec<_>>()))?;
        }
        if let Some(out) = self.windows_out {
            out.fill(|out| write_windows(out, recorded, &named().collect::<Vec<_>>()))?;
        }
        Ok(())
    }
}

impl FidelityArgs {
    /// By what jobs are grouped in tables.
    fn table_keys(&self, schedules: usize, format: Format) -> Vec<GroupBy> {
        let given = self.groups.keys();
        match format {
            Format::Table if given.is_empty() && schedules == 1 => DEFAULT_KEYS.to_vec(),
            Format::Table => given,
            Format::Csv | Format::Json => Vec::new(),
        }
    }
}

/// Without any recorded wait there is no schedule to compare with.
fn refuse_without_waits(log: &Log) -> anyhow::Result<()> {
    if !log.records.is_empty() && log.records.iter().all(|record| record.wait < 0) {
        let message = format!("{}: the log has no recorded waits: there is no schedule to compare with", log.name);
        return refuse(message);
    }
    Ok(())
}
