//! `sim malleable`: jobs choose their number of processors by predicted queue times.

use std::io::{self, Write};
use std::time::Instant;

use clap::{Args, ValueEnum};

use super::failure::{UsageError, refuse};
use super::options;
use super::output_options::{OutputFiles, OutputOptions};
use super::progress::Progress;
use super::stderr::note;
use super::{CommandForm, parsed};
use crate::malleable::{
    DaySequence, MalleableWorkload, Strategy, StudyCase, StudyRow, StudyView, most_runs, run_cases, run_workloads,
    write_allocations, write_pairs, write_tables,
};
use crate::report::{Width, counted, swept_cells, write_wrapped};
use crate::spec::{SpecError, SpecList, parse_list};
use crate::time::readable_duration;

/// The subcommand.
pub const COMMAND: CommandForm = CommandForm {
    name: "malleable",
    about: "Let jobs choose their number of processors by predicted waits",
    arguments: MalleableArgs::augment_args,
    run: |matches| execute(&parsed(matches)),
};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  sim malleable        all strategies in both views, as in the paper
  sim malleable --strategy avg,opt,pred --view system --offered-load 0.9
  sim malleable --strategy bias,bias:lock-in,bias:lock-in,risk=0.2 \\
    --replications 20
  sim malleable --strategy pred --scatter-out queue_times.csv \\
    --jobs-out jobs.csv
  sim malleable --reading days=one,a=up
      other readings of what the paper leaves open
  sim list strategies  the strategies, with their keys

Jobs of Downey's model (\"Using queue time predictions for processor allocation\") arrive by day on a machine with a
first-come-first-served queue. Each day is a simulation of its own: it starts empty and ends when all its jobs have been
scheduled. The first job of the queue may take the free processors or wait for more. In the application view the schedule is
that of avg, and the program computes what each job would have gained by its own choice. In the system view every job acts
on its choice.")]
struct MalleableArgs {
    /// How jobs choose their processors: a list of strategies; see `sim list strategies`
    #[arg(long, value_name = "LIST", default_value = "avg,opt,pred,bias,heur")]
    #[arg(value_parser = options::checked_specs("strategy", Strategy::parse))]
    strategy: Vec<String>,
    /// Simulate one job that chooses alone, or a system in which all jobs choose [default: both]
    #[arg(long, value_enum)]
    view: Option<ViewArg>,
    /// The number of days, each with twelve hours of arrivals
    #[arg(long, value_name = "N", default_value_t = 120, value_parser = clap::value_parser!(u32).range(1..=1_000_000), help_heading = "Workload")]
    days: u32,
    /// The offered load by day: arrivals per second times mean sequential lifetime, divided by the number of processors
    #[arg(long, value_name = "LOAD", default_value_t = 0.75, value_parser = options::number("a load", (0.01, 100.0), 0.75), help_heading = "Workload")]
    offered_load: f64,
    /// The number of processors of the machine
    #[arg(long, value_name = "N", default_value_t = 128, value_parser = clap::value_parser!(u32).range(1..=1_000_000), help_heading = "Workload")]
    procs: u32,
    /// Another reading of the paper, or several, separated by commas
    #[arg(long, value_name = "LIST", value_enum, value_delimiter = ',', help_heading = "Workload")]
    reading: Vec<ReadingArg>,
    /// The largest average parallelism of a job; it may be larger than the machine
    #[arg(long, value_name = "N", default_value_t = 128, value_parser = clap::value_parser!(u32).range(1..=1_000_000), help_heading = "Workload")]
    max_parallelism: u32,
    /// The largest variance in parallelism (sigma) of a job
    #[arg(long, value_name = "SIGMA", default_value_t = 2.0, value_parser = options::number("a variance in parallelism", (0.0, 1e6), 2.0), help_heading = "Workload")]
    max_sigma: f64,
    /// The seed of all random numbers
    #[arg(long, value_name = "S", default_value_t = 1, help_heading = "Workload")]
    seed: u64,
    /// Run N workloads, with the seeds from --seed on, and print means with 95% intervals
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=100_000))]
    #[arg(conflicts_with_all = ["jobs_out", "scatter_out"], help_heading = "Workload")]
    replications: Option<u32>,
    /// Write a CSV with one line per job and strategy; - for standard output (the summary then goes to standard error)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    jobs_out: Option<String>,
    /// Write a CSV with every predicted queue time by which a job chose to wait (a rebel), and the actual one; - for
    /// standard output
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    scatter_out: Option<String>,
    /// More columns in CSV and JSON: medians, losses, lifetimes, and the regression line of predicted and actual queue times
    #[arg(long, help_heading = "Output")]
    details: bool,
    #[command(flatten)]
    output: OutputOptions,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ViewArg {
    /// No job acts on its choice: what would each job gain alone?
    Application,
    /// All jobs act on their choices
    System,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ReadingArg {
    /// One simulation runs through all days. By default each day is its own: it starts empty, and ends when all its
    /// jobs have been scheduled
    #[value(name = "days=one")]
    OneRun,
    /// The average parallelism A is rounded up. By default A is real in the speedup, and a job takes at most the next
    /// whole number of processors
    #[value(name = "a=up")]
    WholeParallelism,
}

impl MalleableArgs {
    fn workload(&self) -> MalleableWorkload {
        let MalleableArgs { procs, days, offered_load: rho, max_parallelism, max_sigma, seed, .. } = *self;
        let whole_parallelism = self.reading.contains(&ReadingArg::WholeParallelism);
        let sequence = match self.reading.contains(&ReadingArg::OneRun) {
            true => DaySequence::Continuous,
            false => DaySequence::Separate,
        };
        MalleableWorkload { procs, days, rho, max_parallelism, whole_parallelism, max_sigma, sequence, seed }
    }

    fn strategies(&self) -> Result<SpecList<Strategy>, SpecError> {
        parse_list("strategy", self.strategy.iter().map(String::as_str), Strategy::parse)
    }

    /// The requested cases, view by view, followed by AVG in each view, with which they are compared.
    fn cases(&self, strategies: &[Strategy]) -> Result<Vec<StudyCase>, SpecError> {
        let views: &[StudyView] = match self.view {
            None => &[StudyView::Application, StudyView::System],
            Some(ViewArg::Application) => &[StudyView::Application],
            Some(ViewArg::System) => &[StudyView::System],
        };
        let case = |strategy: &Strategy, view: &StudyView| StudyCase { strategy: strategy.clone(), view: *view };
        let requested = views.iter().flat_map(|view| strategies.iter().map(move |strategy| case(strategy, view)));
        let avg = Strategy::parse("avg")?;
        Ok(requested.chain(views.iter().map(|view| case(&avg, view))).collect())
    }
}

fn execute(args: &MalleableArgs) -> anyhow::Result<()> {
    let strategies = args.strategies()?;
    let cases = args.cases(&strategies.items)?;
    let outputs = [("--jobs-out", &args.jobs_out), ("--scatter-out", &args.scatter_out)];
    let OutputFiles { files: [jobs_out, scatter_out], stdout_taken } = OutputFiles::open(outputs, &[])?;
    let threads = args.output.threads();
    let began = Instant::now();
    let rows = match args.replications {
        Some(replications) => run_many(args, &cases, replications, threads)?,
        None => {
            let jobs = args.workload().generate().map_err(UsageError)?;
            if jobs.is_empty() {
                return refuse("no job arrives: give more --days or a higher --offered-load");
            }
            let progress = Progress::counting("simulating", "runs", Some(most_runs(&cases)));
            let keep = jobs_out.is_some() || scatter_out.is_some();
            let outcomes = run_cases(&jobs, &args.workload(), &cases, keep, threads, |done| progress.set(done));
            drop(progress);
            let rows = rows(&cases, outcomes.iter().map(|outcome| vec![outcome.figures]).collect());
            let kept: Vec<_> = rows
                .iter()
                .zip(&outcomes)
                .filter_map(|(row, outcome)| Some((row, outcome.schedule.as_ref()?)))
                .collect();
            if let Some(out) = jobs_out {
                out.fill(|out| write_allocations(out, &jobs, &kept))?;
            }
            if let Some(out) = scatter_out {
                out.fill(|out| write_pairs(out, &kept))?;
            }
            rows
        }
    };
    let time = readable_duration(began.elapsed().as_secs_f64());
    note(format_args!("done in {time}, seed {}", args.seed));
    let cells = |(at, row): (usize, &StudyRow)| {
        let mut cells = row.cells(args.view.is_none(), args.details);
        cells.extend(swept_cells(&strategies.keys, at % strategies.items.len()));
        cells
    };
    let cells: Vec<_> = rows.iter().enumerate().map(cells).collect();
    Ok(args.output.print.print_rows(stdout_taken, &cells, |out, width| {
        write_heading(out, width, args, &rows)?;
        write_tables(out, width, &rows)
    })?)
}

fn run_many(
    args: &MalleableArgs,
    cases: &[StudyCase],
    replications: u32,
    threads: usize,
) -> anyhow::Result<Vec<StudyRow>> {
    let Some(last) = args.seed.checked_add(u64::from(replications) - 1) else {
        let replications = counted(u64::from(replications), "replication");
        let why = format!("{replications} from --seed {} on: the last seed would be too large", args.seed);
        return refuse(why);
    };
    let workloads: Vec<_> = (args.seed..=last).map(|seed| MalleableWorkload { seed, ..args.workload() }).collect();
    let progress = Progress::counting("simulating", "workloads", Some(workloads.len()));
    let by_seed = run_workloads(&workloads, cases, threads, |done| progress.set(done)).map_err(UsageError)?;
    if by_seed.iter().any(|figures| figures[0].jobs == 0) {
        return refuse("no job arrives: give more --days or a higher --offered-load");
    }
    Ok(rows(cases, (0..cases.len()).map(|at| by_seed.iter().map(|figures| figures[at]).collect()).collect()))
}

/// The rows of the requested cases. The last cases are those of AVG, one per view.
fn rows(cases: &[StudyCase], mut runs: Vec<Vec<crate::malleable::MalleableFigures>>) -> Vec<StudyRow> {
    let views = if cases.iter().all(|case| case.view == cases[0].view) { 1 } else { 2 };
    let avg = runs.split_off(cases.len() - views);
    let avg_of = |view: StudyView| {
        let at = cases[cases.len() - views..].iter().position(|case| case.view == view);
        avg[at.expect("each view has a case of AVG")].clone()
    };
    let row = |(case, runs): (&StudyCase, Vec<_>)| StudyRow {
        strategy: case.strategy.to_string(),
        view: case.view,
        runs,
        avg: avg_of(case.view),
    };
    cases.iter().zip(runs).map(row).collect()
}

fn write_heading(out: &mut dyn Write, width: Width, args: &MalleableArgs, rows: &[StudyRow]) -> io::Result<()> {
    let (procs, days) = (counted(u64::from(args.procs), "processor"), counted(u64::from(args.days), "day"));
    let load = args.offered_load;
    let what = match args.replications {
        None => format!("{}, seed {}", counted(rows[0].runs[0].jobs as u64, "job"), args.seed),
        Some(seeds) => {
            format!("means over {} from {} on, with 95% intervals", counted(u64::from(seeds), "seed"), args.seed)
        }
    };
    let names = args.reading.iter().filter_map(|reading| reading.to_possible_value());
    let readings: String = names.map(|name| format!(", {}", name.get_name())).collect();
    let heading = format!("{procs}, {days} at a load of {load}{readings}: {what}");
    write_wrapped(out, "", &heading, width)?;
    writeln!(out)
}
