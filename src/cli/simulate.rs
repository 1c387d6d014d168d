//! The main command: one log, one scheduler, one predictor.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use clap::Args;

use super::Format;
use super::failure::UsageError;
use super::log_args::{LogArgs, tell_what_changed};
use super::progress::Progress;
use crate::engine::{EngineError, EngineOptions, RunRecord};
use crate::experiment::{Setting, simulate};
use crate::metrics::{Improvement, JobMetrics, Measure, Portion, PredictionRow, summarize};
use crate::report::{
    Baseline, Compared, Output, OutputError, RunLabel, grouped, summary_row, write_csv, write_jobs, write_json,
    write_predictions, write_schedule, write_summary,
};
use crate::time::{Seconds, parse_duration};
use crate::trace::{Log, Shaping, Source, Workload, clean, demo, shape};

/// What the embedded log is compared with if nothing else is asked for: plain EASY.
const PLAIN_EASY: &str = "easy/estimate";

#[derive(Debug, Args)]
pub struct SimulateArgs {
    /// The log, plain, .gz or .zst; - for standard input [default: the embedded log]
    #[arg(long, value_name = "FILE")]
    trace: Option<String>,
    /// Who starts when; see `sim list schedulers`
    #[arg(long, value_name = "SPEC", default_value = "sjbf")]
    scheduler: String,
    /// How runtimes are predicted, name or name:key=value,...; see `sim list predictors`
    #[arg(long, value_name = "SPEC", default_value = "ruh")]
    predictor: String,
    /// Add the improvement over another run of the same jobs, or `none`; it runs plainly, without --inflate and
    /// --pass-on-miss [default: none; easy/estimate for the embedded log]
    #[arg(long, value_name = "SCHEDULER/PREDICTOR")]
    baseline: Option<String>,

    #[command(flatten)]
    log: LogArgs,

    /// Only jobs submitted so long after the first or later
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, help_heading = "Shape, in this order")]
    from: Option<Seconds>,
    /// Only jobs submitted less than so long after the first
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, help_heading = "Shape, in this order")]
    to: Option<Seconds>,
    /// Only the first so many jobs
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Shape, in this order")]
    first: Option<u32>,
    /// The log so many times in sequence
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..), help_heading = "Shape, in this order")]
    repeat: u32,
    /// Divide the time between submissions by this: above 1 the machine is busier
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = parse_load, help_heading = "Shape, in this order")]
    load: f64,

    /// Multiply predictions by this (at least 1) in the scheduler's own arithmetic
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = parse_inflate, help_heading = "Engine")]
    inflate: f64,
    /// Schedule after a missed deadline too, not only after arrivals and terminations
    #[arg(long, help_heading = "Engine")]
    pass_on_miss: bool,
    /// Threads to use; results do not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Engine")]
    threads: Option<u32>,

    /// Leave so many jobs (100) or such a share (1%) at the beginning out of the metrics
    #[arg(long, value_name = "JOBS|PERCENT%", default_value = "0", value_parser = Portion::parse, help_heading = "Metrics")]
    warmup: Portion,
    /// The same at the end
    #[arg(long, value_name = "JOBS|PERCENT%", default_value = "0", value_parser = Portion::parse, help_heading = "Metrics")]
    cooldown: Portion,
    /// In the bounded slowdown, runtimes below this count as this
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = parse_threshold, help_heading = "Metrics")]
    bsld_threshold: Seconds,

    /// How to print the summary [default: table on a terminal, csv otherwise]
    #[arg(long, value_enum, help_heading = "Output")]
    format: Option<Format>,
    /// CSV without its line of column names
    #[arg(long, help_heading = "Output")]
    no_header: bool,
    /// Write a CSV with one line a job; - for standard output (the summary then goes to standard error)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    jobs_out: Option<String>,
    /// Write the simulated schedule as an SWF log; - likewise
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    swf_out: Option<String>,
    /// Write a CSV with every prediction that was made, when and why; - likewise
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    predictions_out: Option<String>,
}

fn parse_load(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(load) if (0.001..=1000.0).contains(&load) => Ok(load),
        _ => Err("a load factor is a number from 0.001 to 1000, such as 1.2".to_string()),
    }
}

fn parse_inflate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(factor) if (1.0..=1e6).contains(&factor) => Ok(factor),
        // Below 1 a running job might be counted as ended already.
        _ => Err("a factor is a number from 1 to 1000000, such as 2".to_string()),
    }
}

fn parse_threshold(text: &str) -> Result<Seconds, String> {
    match parse_duration(text)? {
        0 => Err("the threshold is at least 1 second".to_string()),
        seconds => Ok(seconds),
    }
}

/// Where results beside the summary go. Opened before any work is done.
struct Outputs {
    jobs: Option<Output>,
    swf: Option<Output>,
    predictions: Option<Output>,
    /// One of them goes to standard output, so the summary must not.
    stdout_taken: bool,
}

impl SimulateArgs {
    fn settings(&self) -> anyhow::Result<(Setting, Option<Setting>)> {
        let engine = EngineOptions {
            inflate: self.inflate,
            pass_on_miss: self.pass_on_miss,
            keep_history: self.predictions_out.is_some(),
        };
        let setting = Setting { engine, ..Setting::parse(&self.scheduler, &self.predictor)? };
        let baseline = match (self.baseline.as_deref(), &self.trace) {
            (Some("none"), _) | (None, Some(_)) => None,
            (None, None) => Some(PLAIN_EASY),
            (Some(pair), _) => Some(pair),
        };
        Ok((setting, baseline.map(Setting::parse_pair).transpose()?))
    }

    fn outputs(&self) -> anyhow::Result<Outputs> {
        let paths: Vec<_> = [&self.jobs_out, &self.swf_out, &self.predictions_out].into_iter().flatten().collect();
        if let Some(twice) = paths.iter().enumerate().find_map(|(at, path)| paths[..at].contains(path).then_some(path))
        {
            return Err(UsageError(format!("two outputs cannot both go to '{twice}'")).into());
        }
        let open = |path: &Option<String>| path.as_deref().map(Output::create).transpose();
        Ok(Outputs {
            jobs: open(&self.jobs_out)?,
            swf: open(&self.swf_out)?,
            predictions: open(&self.predictions_out)?,
            stdout_taken: paths.iter().any(|path| Output::is_stdout(path)),
        })
    }

    fn shaping(&self) -> Shaping {
        let first = self.first.map(|first| first as usize);
        Shaping { from: self.from, to: self.to, first, repeat: self.repeat, load: self.load }
    }
}

pub fn execute(args: &SimulateArgs, quiet: bool) -> anyhow::Result<()> {
    let (setting, baseline) = args.settings()?;
    let outputs = args.outputs()?;
    let source = match &args.trace {
        Some(trace) => Source::from_argument(trace),
        None => {
            if !quiet {
                eprintln!("note: no --trace was given: this is the log embedded in the program (see --help)");
            }
            demo()
        }
    };
    let began = Instant::now();
    let log = args.log.read(&source, outputs.swf.is_some(), quiet)?;
    let replays: Vec<bool> = [&setting].into_iter().chain(&baseline).map(Setting::is_replay).collect();
    let rules = args.log.cleaning(replays.contains(&true), !replays.contains(&false));
    let workload = clean(&log, &rules)?;
    tell_what_changed(&log, &workload.cleaning, quiet);
    let workload = shape(workload, &args.shaping())?;
    let read = began.elapsed();

    let measure = Measure { warmup: args.warmup, cooldown: args.cooldown, bsld_threshold: args.bsld_threshold };
    if measure.jobs(workload.jobs.len()).is_empty() {
        let count = grouped(workload.jobs.len() as u64);
        let text = format!("--warmup and --cooldown leave none of the {count} jobs to measure");
        return Err(UsageError(text).into());
    }
    let threads = args.threads.map_or_else(available_threads, |threads| threads as usize);
    let (record, base_record) = simulate_both(&workload, &setting, baseline.as_ref(), threads, quiet)?;
    let summary = summarize(&workload, &record, &measure);
    let baseline = baseline
        .zip(base_record)
        .map(|(setting, record)| Baseline { name: setting.pair(), summary: summarize(&workload, &record, &measure) });
    if !quiet {
        let (jobs, total) = (grouped(workload.jobs.len() as u64), began.elapsed());
        let simulating = (total - read).as_secs_f64();
        eprintln!("note: {jobs} jobs read in {:.3} s, simulated in {simulating:.3} s", read.as_secs_f64());
    }

    let stdout_taken = outputs.stdout_taken;
    write_details(outputs, &log, &workload, &setting, &record, &measure)?;
    let label = RunLabel {
        trace: workload.label.clone(),
        procs: workload.procs,
        scheduler: setting.scheduler.to_string(),
        predictor: setting.predictor.to_string(),
        dropped: workload.cleaning.dropped(),
    };
    let compared = baseline
        .as_ref()
        .map(|base| Compared { baseline: base.name.clone(), improvement: Improvement::over(&base.summary, &summary) });
    let row = summary_row(&label, &summary, compared.as_ref());
    let write = |out: &mut dyn std::io::Write| match Format::or_default(args.format) {
        Format::Table => write_summary(out, &label, &summary, baseline.as_ref()),
        Format::Csv => write_csv(out, std::slice::from_ref(&row), !args.no_header),
        Format::Json => write_json(out, &row),
    };
    if stdout_taken {
        write(&mut std::io::stderr().lock())?;
    } else {
        Output::stdout().fill(write)?;
    }
    Ok(())
}

fn available_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Runs the setting and its baseline, side by side if there are threads for both.
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
            progress.at(done.fetch_add(step, Ordering::Relaxed) + step);
        })
    };
    match baseline {
        None => Ok((run(setting)?, None)),
        Some(baseline) if threads == 1 => Ok((run(setting)?, Some(run(baseline)?))),
        Some(baseline) => std::thread::scope(|scope| {
            let beside = scope.spawn(|| run(baseline));
            let record = run(setting)?;
            let other = beside.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            Ok((record, Some(other?)))
        }),
    }
}

fn write_details(
    outputs: Outputs,
    log: &Log,
    workload: &Workload,
    setting: &Setting,
    record: &RunRecord,
    measure: &Measure,
) -> Result<(), OutputError> {
    let jobs = || record.finished(&workload.jobs).map(|job| JobMetrics::of(&job, measure.bsld_threshold));
    if let Some(out) = outputs.jobs {
        out.fill(|out| write_jobs(out, jobs()))?;
    }
    if let Some((out, text)) = outputs.swf.zip(log.text.as_ref()) {
        out.fill(|out| write_schedule(out, &log.header, text, workload.procs, &setting.pair(), jobs()))?;
    }
    if let Some((out, history)) = outputs.predictions.zip(record.history.as_ref()) {
        let rows = history.iter().map(|made| PredictionRow::of(made, &workload.jobs));
        out.fill(|out| write_predictions(out, rows))?;
    }
    Ok(())
}
