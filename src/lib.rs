//! Shadowtime: trace-driven simulation of parallel job scheduling with runtime prediction.
//!
//! A trace becomes jobs; an engine moves time; a *policy* decides who starts; a *predictor* says how long jobs will run;
//! observers, the recorder first, see what happens; metrics read the record; the command line prints. Data flows one way.
//!
//! # From a trace to a number
//!
//! ```
//! use shadowtime::experiment::{Setting, simulate};
//! use shadowtime::metrics::{Measure, columns, summarize};
//! use shadowtime::trace::{Cleaning, ReadOptions, Shaping, clean, demo, read, shape};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // The log as recorded; for a file, `Source::from_argument("KTH.swf.gz")`.
//! let log = read(&demo(), ReadOptions::default(), &mut |_| ())?;
//! // Its sane records as jobs on a machine, and of those the first thousand, arriving 10% faster.
//! let workload = clean(&log, &Cleaning::default())?;
//! let workload = shape(workload, &Shaping { first: Some(1000), load: 1.1, ..Shaping::default() })?;
//! // Two runs, and what the one gains over the other.
//! let run = |pair: &str| -> Result<_, Box<dyn std::error::Error>> {
//!     let record = simulate(&workload, &Setting::parse_pair(pair)?, &mut |_| ())?;
//!     Ok(summarize(&workload, &record, &Measure::default()))
//! };
//! let (easy, perfect) = (run("easy/estimate")?, run("sjbf/perfect")?);
//! assert!(columns::WAIT_MEAN.improvement(&easy, &perfect).unwrap() > 0.0);
//! # Ok(())
//! # }
//! ```
//!
//! # The house
//!
//! Lowest floor first. A room may use the floors below it, never one above; a test reads the sources and checks that.
//!
//! | floor | room | what lives there |
//! |---|---|---|
//! | 0 | [`time`], [`job`], [`spec`], [`settings_file`], [`text`], [`stats`], [`rng`], [`parallel`] | the vocabulary: durations, what is submitted and what is true of a job, `name:key=value` texts, settings in TOML with their lines, text that is safe to print, medians, one seed to many streams, many threads to one order |
//! | 1 | [`trace`] | SWF in and out, compressed input, named cleaning rules with counts, shaping, the embedded log |
//! | 2 | [`model`] | makes workloads and estimates, one file a model: the catalog of estimate models, the day's cycle, users laid over jobs, loads that are met, and what models share: speedup, lifetimes |
//! | 3 | [`predict`] | the four-event interface, the board predictors write on, one file or folder per predictor, the catalog of them all |
//! | 3 | [`schedule`] | the policy interface, the waiting queue and its index by width, the running jobs, one file a policy, the catalog of them all |
//! | 4 | [`engine`] | events and their one order, the machine, observers of what happens; the only place that changes state |
//! | 5 | [`metrics`] | from the record of a run to numbers: summaries, the table of columns, improvement over a baseline, means over groups with their intervals |
//! | 6 | [`experiment`] | one workload under one scheduler with one predictor, and the table of all options that change its result |
//! | 7 | [`report`] | tables, CSV, JSON, SWF, and files that appear whole; knows nothing of the engine |
//! | 8 | [`search`] | the search for good templates, and a set of them beside other predictors |
//! | 8 | [`malleable`] | Downey's study: jobs that choose their processors by predicted queue times, with a loop of its own |
//! | 8 | [`sweep`] | many experiments: a grid, its folder of finished cells, the threads, Slurm |
//! | 9 | [`wait`] | when a job will start: history, neighbours, probabilities of ranges, and how good such predictions are |
//! | 10 | [`meta`] | one stream of jobs, many sites: simulations stepped on one clock, and who sends which job where |
//! | 11 | [`reproduce`] | published tables computed again, one file a paper |
//! | 12 | [`cli`] | one file a subcommand: arguments in, library call, report out |
//!
//! # Where to change what
//!
//! - A new predictor: a file in `predict/` and a line in `predict/catalog.rs`.
//! - How past jobs are compared and predict: `predict/smith/templates.rs` and `predict/smith/category.rs`.
//! - A new scheduler: a file in `schedule/` and a line in `schedule/catalog.rs`.
//! - How a malleable job chooses: `malleable/strategy.rs` and `malleable/decide.rs`.
//! - A way to predict waits: a file in `wait/` and its form in `wait/method.rs`.
//! - What an event does, and in which order: [`engine::Simulation`]; something that only has to know of events: an
//!   [`engine::Observer`].
//! - A new way to deal jobs out among sites: `meta/policies.rs`; what happens when, `meta/clock.rs`.
//! - A new estimate model: a file in `model/estimates/` and an entry in `model/estimates/catalog.rs`.
//! - Which records are dropped or changed: `trace/clean.rs`.
//! - A column of the summary: `metrics/summary.rs`, then `metrics/columns.rs`, and `metrics/row.rs`, which keeps it.
//! - An option that changes results: its line in `experiment/options.rs`; any other: the file of its command in `cli/`.
//! - Any result at all: raise [`sweep::RESULTS_REVISION`], so that no sweep mixes old results with new ones.

#![forbid(unsafe_code)]

pub mod cli;
pub mod engine;
pub mod experiment;
pub mod job;
pub mod malleable;
pub mod meta;
pub mod metrics;
pub mod model;
pub mod parallel;
pub mod predict;
pub mod report;
pub mod reproduce;
pub mod rng;
pub mod schedule;
pub mod search;
pub mod settings_file;
pub mod spec;
pub mod stats;
pub mod sweep;
pub mod text;
pub mod time;
pub mod trace;
pub mod wait;
