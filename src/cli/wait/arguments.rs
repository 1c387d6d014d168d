//! The arguments of `sim wait`, which evaluates, and of `sim wait ask`, which answers.

use clap::{ArgGroup, Args, ValueEnum};

use super::question::{WaitQuestion, parse_question};
use crate::cli::log::LogArgs;
use crate::cli::names::NamesOption;
use crate::cli::options;
use crate::cli::output_options::{OutputFiles, OutputOptions};
use crate::spec::Spec;
use crate::time::{Time, parse_date_time};
use crate::wait::WaitMethod;
use crate::{predict, schedule};

/// What both commands take.
#[derive(Clone, Debug, Args)]
pub struct SharedArgs {
    #[command(flatten)]
    pub log: LogArgs,
    /// Which waits are predicted: those recorded in the log (replay), or those of the log simulated under this scheduler
    #[arg(long, value_name = "SPEC", default_value = "replay", value_parser = parse_scheduler, display_order = 0)]
    pub scheduler: Spec,
    /// The runtime predictor of the simulation under --scheduler
    #[arg(long, value_name = "SPEC", default_value = predict::catalog::DEFAULT, value_parser = parse_predictor, display_order = 0)]
    pub predictor: Spec,
    /// The number of latest starts that predictions are made from
    #[arg(long, value_name = "N", default_value_t = 5000, value_parser = clap::value_parser!(u32).range(1..), display_order = 1)]
    pub history: u32,
    #[command(flatten)]
    pub output: OutputOptions,
}

/// The arguments of `sim wait LOG`.
#[derive(Clone, Debug, Args)]
#[command(subcommand_negates_reqs = true, args_conflicts_with_subcommands = true)]
#[command(after_help = "Examples:
  sim wait CTC.swf.gz                    four methods on the log's own waits
  sim wait CTC.swf.gz --method knn,ibl:k=5 --format csv
  sim wait KTH.swf.gz --scheduler easy --method knn,simulate
  sim wait CTC.swf.gz --method knn,knn:point=linear,knn:point=rbf \\
    --regression-every 10
  sim wait ask sacct.txt --queue squeue.txt
      when the jobs that wait now will start

Methods: knn (similar jobs), ibl, qbets (an upper bound), downey (for jobs that arrive at an empty queue), simulate (a
simulation of the present queue). `sim list methods` prints them with their keys. The wait of a job is predicted when the job
arrives, from jobs that have started by then. 50,000 predictions by the default methods take two to three minutes of
processor time.")]
pub struct EvaluateArgs {
    #[command(flatten)]
    pub shared: SharedArgs,
    /// How waits are predicted: a list of knn, ibl, qbets, downey, simulate, with their keys; see `sim list methods`
    #[arg(long, value_name = "SPECS", default_value = "knn,ibl,qbets,simulate:draws=30,recalibrate=on", value_parser = options::checked_specs("method", WaitMethod::parse), display_order = 0)]
    pub method: String,
    /// The first job that is predicted, counted from 1 [default: 10001, or the middle of a log of at most 10,000 jobs]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..), help_heading = "Evaluation")]
    pub begin: Option<u32>,
    /// The largest number of jobs that are predicted
    #[arg(long, value_name = "N", default_value_t = 50_000, value_parser = clap::value_parser!(u32).range(1..), help_heading = "Evaluation")]
    pub most: u32,
    /// The probabilities are learned again after every N jobs
    #[arg(long, value_name = "N", default_value_t = RETRAIN, value_parser = clap::value_parser!(u32).range(1..), help_heading = "Evaluation")]
    pub retrain: u32,
    /// Regressions, which are slow, predict only every N-th of these jobs
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..), help_heading = "Evaluation")]
    pub regression_every: u32,
    /// Write a CSV with one line per job and method; - for standard output (the figures then go to standard error)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub jobs_out: Option<String>,
    /// Write a CSV with the confusion matrix of every method; - for standard output
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub confusion_out: Option<String>,
    /// Write a CSV that compares predicted probabilities of ranges with actual frequencies; - for standard output
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub calibration_out: Option<String>,
}

/// The probabilities are learned again after this number of jobs.
pub const RETRAIN: u32 = 5000;

/// The arguments of `sim wait ask`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  sim wait ask sacct.txt --queue squeue.txt  all jobs that wait now
  sim wait ask sacct.txt --queue squeue.txt --user alice --names
  sim wait ask sacct.txt --queue squeue.txt --html waits.html --quiet
  sim wait ask sacct.txt --queue squeue.txt \\
    --job procs=64,estimate=2h,user=alice
  sim wait ask sacct.txt --queue squeue.txt --machine slurm.conf
      on its nodes
  sim wait ask CTC.swf.gz --at 41234     the answer for this job at its arrival
  sim wait ask CTC.swf.gz --job procs=64,estimate=2h
      a job that arrives at the end of the log

The answer is by recalibrated simulations of the queue, unless --method is given.")]
#[command(group(ArgGroup::new("question").args(["at", "job", "queue"]).multiple(true).required(true)))]
pub struct AskArgs {
    #[command(flatten)]
    pub shared: SharedArgs,
    /// The present queue of a site, beside the log with its history: the output of squeue (see `sim help waits` for the
    /// command), of squeue --json, or SWF records with a runtime of -1; - for standard input
    #[arg(long, value_name = "FILE", display_order = 0, conflicts_with_all = ["method", "predictor"])]
    pub queue: Option<String>,
    /// Predict the wait of this job of the log, given by its number, at its arrival; with --queue, of this job of the queue
    #[arg(long, value_name = "JOB", display_order = 0)]
    pub at: Option<String>,
    /// Predict the wait of a job that arrives now, or with the last submission of the log: procs=N,estimate=DURATION and, if
    /// known, user=, group=, queue=; with --machine also memory=, gpus_per_node=, partition= and the other columns of requests
    #[arg(long, value_name = "KEY=VALUE,...", value_parser = parse_question, display_order = 0, conflicts_with = "at")]
    pub job: Option<WaitQuestion>,
    /// Answer by these methods of `sim wait` instead of by recalibrated simulations; see `sim list methods`
    #[arg(long, value_name = "SPECS", value_parser = options::checked_specs("method", WaitMethod::parse), display_order = 0)]
    pub method: Option<String>,
    /// The present time: 2026-01-31T12:00:00 (UTC), or seconds as in the queue [default: the latest time that the queue shows]
    #[arg(long, value_name = "TIME", value_parser = parse_now, display_order = 0, requires = "queue")]
    pub now: Option<Now>,
    /// Only the jobs of this user of the queue
    #[arg(long, value_name = "NAME", display_order = 0, requires = "queue", conflicts_with_all = ["at", "job"])]
    pub user: Option<String>,
    /// How often the queue is simulated with drawn runtimes
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=100_000), display_order = 1)]
    #[arg(conflicts_with = "method")]
    pub draws: u32,
    /// Correct the simulated waits by those of past jobs with similar ones. Off where --scheduler is exactly that of the site
    #[arg(long, value_enum, value_name = "SWITCH", default_value_t = OnOff::On, display_order = 1, conflicts_with = "method")]
    pub recalibrate: OnOff,
    #[command(flatten)]
    pub names: NamesOption,
    /// Write the answers for the queue as a page for a web server: one HTML file that fetches nothing; - for standard output
    #[arg(long, value_name = "FILE", help_heading = "Output", requires = "queue", conflicts_with_all = ["at", "job"])]
    pub html: Option<String>,
}

/// Whether something is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OnOff {
    On,
    Off,
}

/// The present time as given.
#[derive(Clone, Copy, Debug)]
pub enum Now {
    /// A Unix time.
    Date(Time),
    /// As the times of the queue.
    Seconds(Time),
}

fn parse_now(text: &str) -> Result<Now, String> {
    let date = parse_date_time(text.as_bytes()).map(Now::Date);
    let now = date.or_else(|| text.parse().ok().map(Now::Seconds));
    now.ok_or_else(|| format!("'{text}' is not a time such as 2026-01-31T12:00:00, or a number of seconds"))
}

fn parse_scheduler(text: &str) -> Result<Spec, String> {
    schedule::catalog::parse(text).map_err(|error| error.to_string())
}

fn parse_predictor(text: &str) -> Result<Spec, String> {
    predict::catalog::parse(text).map_err(|error| error.to_string())
}

impl EvaluateArgs {
    /// Opens the files for jobs, confusion matrices and the calibration.
    pub fn outputs(&self) -> anyhow::Result<OutputFiles<3>> {
        let (jobs, confusion, calibration) = (&self.jobs_out, &self.confusion_out, &self.calibration_out);
        let outputs = [("--jobs-out", jobs), ("--confusion-out", confusion), ("--calibration-out", calibration)];
        OutputFiles::open(outputs, &self.shared.log.files())
    }
}

impl AskArgs {
    /// Opens the page of a queue.
    pub fn page(&self) -> anyhow::Result<OutputFiles<1>> {
        let queue = self.queue.as_deref().map(|queue| ("--queue", queue));
        OutputFiles::open([("--html", &self.html)], &[self.shared.log.files(), queue.into_iter().collect()].concat())
    }
}
