//! The main command: one log, one scheduler, one predictor.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use clap::{ArgMatches, Args};

use super::log::{log_or_demo, read_log, write_names_of};
use super::notes::{made_by, report_cleaning};
use super::options;
use super::output_options::{OutputFiles, OutputOptions};
use super::places::given_files;
use super::progress::Progress;
use super::replications;
use super::stderr::{note, warning};
use crate::engine::{EngineError, RunRecord};
use crate::experiment::{Setting, simulate, what_draws};
use crate::metrics::{Baseline, JobMetrics, Measure, PredictionRow, RunRow, summarize};
use crate::parallel;
use crate::report::{Output, OutputError, grouped, write_jobs, write_predictions, write_schedule, write_summary};
use crate::trace::{Log, ReadOptions, Workload};

/// The default baseline of the embedded log: plain EASY.
const PLAIN_EASY: &str = "easy/estimate";

#[derive(Debug, Args)]
pub struct SimulateArgs {
    /// The log, plain, .gz or .zst; - for standard input [default: the embedded log, compared with easy/estimate]
    #[arg(long, value_name = "FILE", display_order = 0)]
    trace: Option<String>,
    /// Run the log as it is and N - 1 slightly shaken copies (see --replication), and print means with 95% intervals
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=100_000), help_heading = "Output")]
    #[arg(conflicts_with_all = ["replication", "shake", "seed", "jobs_out", "swf_out", "predictions_out"])]
    replications: Option<u32>,
    #[command(flatten)]
    output: OutputOptions,

    /// Write a CSV with one line per job; - for standard output (the summary then goes to standard error)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    jobs_out: Option<String>,
    /// Write the simulated schedule as an SWF log; - for standard output
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    swf_out: Option<String>,
    /// Write a CSV with the names behind the numbers of a log that is not SWF; - for standard output
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    names_out: Option<String>,
    /// Write a CSV with every prediction, its time and its reason; - for standard output
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    predictions_out: Option<String>,
}

/// The outputs in addition to the summary. None if not requested.
struct Details {
    jobs: Option<Output>,
    swf: Option<Output>,
    predictions: Option<Output>,
    names: Option<Output>,
}

impl SimulateArgs {
    /// Opens the outputs. Also returns whether one of them is standard output.
    fn details(&self, matches: &ArgMatches) -> anyhow::Result<(Details, bool)> {
        let (jobs, swf, predictions) = (&self.jobs_out, &self.swf_out, &self.predictions_out);
        let names = ("--names-out", &self.names_out);
        let outputs = [("--jobs-out", jobs), ("--swf-out", swf), ("--predictions-out", predictions), names];
        let mut inputs = given_files([("--trace", &self.trace)]);
        for (option, name) in [("--predictor", "predictor"), ("--baseline", "baseline")] {
            let spec = matches.get_one::<String>(name).and_then(|spec| spec.split_once("templates=@"));
            inputs.extend(spec.and_then(|(_, rest)| Some((option, rest.split(',').next()?))));
        }
        let OutputFiles { files, stdout_taken } = OutputFiles::open(outputs, &inputs)?;
        let [jobs, swf, predictions, names] = files;
        Ok((Details { jobs, swf, predictions, names }, stdout_taken))
    }
}

pub fn execute(args: &SimulateArgs, matches: &ArgMatches, quiet: bool) -> anyhow::Result<()> {
    let mut options = options::read(matches)?;
    for (seed, value) in options::idle_seeds(matches, &options) {
        warning(format_args!("--{seed} {value} has no effect without {}", what_draws(seed)));
    }
    if args.trace.is_none() && !options::is_given(matches, "baseline") {
        options.baseline = Some(Setting::parse_pair(PLAIN_EASY)?);
    }
    let (mut details, stdout_taken) = args.details(matches)?;
    let source = log_or_demo(args.trace.as_deref(), quiet);
    let began = Instant::now();
    let (keep_text, keep_names) = (details.swf.is_some(), details.names.is_some());
    let mut log = read_log(&source, ReadOptions { keep_text, keep_names, ..options.read_options() }, quiet)?;
    if let Some(out) = details.names.take() {
        write_names_of(&log, out)?;
    }
    let workload = options.clean_out(&mut log)?;
    report_cleaning(&log, &workload.cleaning, quiet);
    let threads = args.output.threads();
    if let Some(replications) = args.replications {
        return replications::execute(&options, &workload, replications, &args.output, quiet);
    }
    let workload = options.shape(workload)?;
    let (reading, measure) = (began.elapsed(), options.measure);

    let label = options.label(&workload);
    let mut setting = options.setting();
    setting.engine.keep_history = details.predictions.is_some();
    let baseline = options.baseline;
    let (record, base_record) = simulate_both(&workload, &setting, baseline.as_ref(), threads, quiet)?;
    let summary = summarize(&workload, &record, &measure);
    let baseline = baseline
        .zip(base_record)
        .map(|(setting, record)| Baseline { name: setting.pair(), summary: summarize(&workload, &record, &measure) });
    if !quiet {
        let (jobs, total) = (grouped(workload.jobs.len() as u64), began.elapsed());
        let simulating = (total - reading).as_secs_f64();
        note(format_args!("{jobs} jobs read in {:.3} s, simulated in {simulating:.3} s", reading.as_secs_f64()));
    }

    let estimates = options.estimates.map(|model| made_by(&model, options.estimates_seed));
    write_details(details, &log, &workload, &setting, estimates.as_deref(), &record, &measure)?;
    let row = RunRow { label, summary, baseline };
    Ok(args.output.print.print_row(stdout_taken, &row.cells(), |out| write_summary(out, &row))?)
}

/// Runs the setting and its baseline, at the same time if there are at least two threads.
fn simulate_both(
    workload: &Workload,
    setting: &Setting,
    baseline: Option<&Setting>,
    threads: usize,
    quiet: bool,
) -> Result<(RunRecord, Option<RunRecord>), EngineError> {
    let runs = 1 + usize::from(baseline.is_some());
    let progress = Progress::counting("simulating", "jobs", Some(workload.jobs.len() * runs), quiet);
    let done = AtomicUsize::new(0);
    let run = |setting: &Setting| {
        let mut before = 0;
        simulate(workload, setting, &mut |arrived| {
            let step = arrived - std::mem::replace(&mut before, arrived);
            progress.set(done.fetch_add(step, Ordering::Relaxed) + step);
        })
    };
    let settings: Vec<&Setting> = [Some(setting), baseline].into_iter().flatten().collect();
    let mut records = parallel::map(&settings, threads, |setting| run(setting), |_| ()).into_iter();
    let record = records.next().expect("the setting was run")?;
    Ok((record, records.next().transpose()?))
}

fn write_details(
    details: Details,
    log: &Log,
    workload: &Workload,
    setting: &Setting,
    estimates: Option<&str>,
    record: &RunRecord,
    measure: &Measure,
) -> Result<(), OutputError> {
    let jobs = || {
        let metrics = record.finished(&workload.jobs).map(|job| JobMetrics::of(&job, measure.bsld_threshold));
        metrics.map(|job| job.with_number_of_user(&workload.wide))
    };
    if let Some(out) = details.jobs {
        out.fill(|out| write_jobs(out, jobs()))?;
    }
    if let Some((out, text)) = details.swf.zip(log.text.as_ref()) {
        out.fill(|out| write_schedule(out, &log.header, text, workload.procs, &setting.pair(), estimates, jobs()))?;
    }
    if let Some((out, history)) = details.predictions.zip(record.history.as_ref()) {
        let rows = history.iter().map(|made| PredictionRow::of(made, &workload.jobs));
        out.fill(|out| write_predictions(out, rows))?;
    }
    Ok(())
}
