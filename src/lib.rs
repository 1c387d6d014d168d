//! Shadowtime: trace-driven simulation of parallel job scheduling with runtime prediction.
//!
//! A trace becomes jobs. An engine advances time. A *policy* decides which jobs start. A *predictor* says how long jobs will
//! run. Observers, such as the recorder, receive all events. Metrics are computed from the record, and the command line
//! prints them. Data flows in one direction.
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
//! // Its valid records as jobs on a machine. Then only the first 1000 jobs, at 1.1 times their load.
//! let workload = clean(&log, &Cleaning::default())?;
//! let workload = shape(workload, &Shaping { first: Some(1000), load: 1.1, ..Shaping::default() })?;
//! // Two runs, and the improvement of the second over the first.
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
//! # The modules
//!
//! There are four packages, each in a folder of `src/`: `core` is the simulator, `report` shows results, `studies` makes many
//! simulations, and the root is the command line, with what only plans runs and compares them. What runs for every job or every simulation is in `core` or
//! `studies`, which are optimised. The other two run once per command and are not: that halves the time of a build. This crate
//! hands on the modules of all four.
//!
//! The lowest floor comes first. A module may use modules of lower floors only. Between packages the compiler checks this,
//! within a package a test does.
//!
//! | package | floor | module | what it contains |
//! |---|---|---|---|
//! | `core` | 0 | [`files`], [`time`], [`job`], [`request`], [`spec`], [`settings_file`], [`text`], [`counts`], [`similar`], [`sort`], [`sorted_blocks`], [`tres`], [`stats`], [`rng`], [`parallel`], [`program`] | all files that are read, so that no output replaces one; basic types: durations, jobs (what is submitted and what is known only later), what they ask of nodes, `name:key=value` specs, settings in TOML with line numbers, text that is safe to print, counts by cause, names that were probably meant, sorts that are compiled once, long sorted lists that change, resources and something of each (amounts, limits, weights), medians and rank correlations, random streams from one seed, threads with results in a fixed order, programs of other people: starting, limits of time, ending |
//! | `core` | 1 | [`machine`] | what a job asks of a machine, what is free, what a running job was given: a pool of processors, or the nodes and partitions of a site, from its slurm.conf or from TOML; its accounts and limits; parts of it that are out at times |
//! | `core` | 2 | [`trace`] | logs in SWF and in the formats of accounting files, told by their content; writing SWF, compressed input, what jobs ask for and wait for, named cleaning rules with counts, jobs that follow the ends of others, shaping, the embedded log; the present queue of a site |
//! | `core` | 3 | [`model`] | models of workloads and estimates, one file per model; the catalog of estimate models, the daily cycle, the assignment of users to jobs, scaling to a given load, and what models share: speedup, lifetimes |
//! | `core` | 4 | [`predict`] | the predictor interface with its four events, the board that predictors write to, one file or folder per predictor, programs in other languages, the catalog of all predictors |
//! | `core` | 4 | [`schedule`] | the policy interface, the waiting queue and its orders, the running jobs, the state of a machine and what changes it, backfilling with its plans of reservations and its indexes of the queue, one file or folder per other policy, programs in other languages, the keys and the catalog of all policies |
//! | `core` | 5 | [`engine`] | events and their order, users who react, the gate in front of the queue, observers of events; the only module that changes the state of a simulation |
//! | `core` | 6 | [`metrics`] | from the record of a run to numbers: summaries, the table of columns, improvement over a baseline, means over runs with their intervals, breakdowns of jobs into groups, fairness, series over time, the probes by which runs are watched |
//! | `core` | 7 | [`experiment`] | one workload under a scheduler and a predictor, and the table of all options that change its result |
//! | `core` | 7 | [`output`] | rows as CSV and JSON, jobs as SWF, and files that are never left half-written |
//! | `report` | 8 | [`report`] | tables and pages: results in words, HTML with charts; does not use the engine |
//! | `studies` | 9 | [`search`] | the search for good templates, and the comparison of a set of templates with other predictors |
//! | `studies` | 9 | [`malleable`] | Downey's study: jobs that choose their number of processors by predicted queue times; it has its own simulation loop |
//! | `studies` | 9 | [`production`] | predictions for a batch system that is running: its events, their order and the misses between them, the file in which they are kept, learning from a log |
//! | `studies` | 9 | [`runs`] | many runs: a plan of them from lists of options, the executor that computes it on all threads and shares logs, workloads and baselines, the folder of finished runs |
//! | `studies` | 10 | [`fidelity`] | how near a simulated schedule is to the recorded one: means, moving means, rank correlation, starts that are near; whether the simulation knows the site |
//! | `studies` | 10 | [`wait`] | predictions of when a job will start: history, nearest neighbours, probabilities of ranges, simulations of the present queue (`forward/`), their recalibration by past waits, answers for a queue of now (`live`), whether these can be relied on (`back_test`, `seen`, `reliability`), and the accuracy of all methods |
//! | `studies` | 11 | [`meta`] | one stream of jobs, many sites: simulations on a common clock, and policies that choose the site of each job |
//! | the root | 11 | [`sweep`] | a grid of runs with its folder, its results, Slurm |
//! | the root | 11 | [`recommend`] | which scheduler and predictor a site should use: candidates compete on one part of a log, the winner is judged on the rest |
//! | the root | 12 | [`reproduce`] | tables of papers, computed again, one file or folder per paper |
//! | the root | 13 | [`compare`] | the list of all outputs with their columns; the comparison of two outputs: rows matched by what was run, changes, tolerances |
//! | the root | 14 | [`cli`] | one file per subcommand, which parses arguments, calls the library and prints the report |
//!
//! # Where to change what
//!
//! How to add a predictor, a scheduler, a column, a chart, a subcommand, an option, a format, a resource or anything else that
//! is an entry of a list: `sim help contributing` (`cli/help/contributing.md`). Here is what else is where. A path begins in the
//! folder of its package: `trace/clean.rs` is `src/core/trace/clean.rs`.
//!
//! - What a program that predicts reads and writes: `predict/exec/protocol.rs`; one that schedules: `schedule/exec/protocol.rs`
//!   and `schedule/exec/news.rs`, what it may answer: `schedule/exec/turn.rs`; how programs are started and ended: `program/`.
//! - What a change of a site is (`--what-if`), `experiment/what_if.rs`; how it becomes a setting, `cli/what_if.rs`; the table of
//!   changes: `report/ranking.rs`; those beside the settings of `sim recommend`: `cli/recommend/changes.rs`, `recommend/changes.rs`.
//! - Who gains and who loses between two files of jobs: `compare/gains.rs`.
//! - What an episode is that a caller of `sim` plays (`exec:command=-`), and how it begins: `experiment/episodes.rs`; the
//!   conversation: `cli/simulate/caller.rs`.
//! - How similar past jobs are found and used for a prediction: `predict/smith/templates.rs` and `predict/smith/category.rs`.
//! - What schedulers are told, what they are asked and what they answer: `schedule/policy.rs`. How the state of a machine changes,
//!   and which changes are impossible: `schedule/machine.rs`.
//! - What a machine of nodes is: `machine/cluster.rs`; how it is read from a slurm.conf, `machine/conf/`, and from TOML,
//!   `machine/toml_file/`; accounts, users and limits: `machine/associations/`; limits
//!   some times as high: `machine/associations/scaled.rs`, those that hold jobs longest: `metrics/limits.rs`.
//! - What fits a machine: `machine/mod.rs`. Which job starts, gets a reservation or is tried next, on every machine and by all rules:
//!   `schedule/backfill/mod.rs`; what machines differ in: `schedule/backfill/space.rs`. What is kept of the waiting jobs from pass
//!   to pass: `schedule/backfill/backlog.rs`.
//! - Outages: what they are and how they are read, `machine/outages/`; on the time scale and the machine of a log,
//!   `trace/outages.rs`; the jobs that they stop, `engine/simulation/outages.rs`; plans around them, on a pool
//!   `schedule/backfill/outages.rs`, on nodes `schedule/backfill/nodes/closed.rs`. More nodes or fewer: `machine/what_if.rs`.
//! - Which nodes a job gets: `machine/placement.rs`; what a request means on a cluster: `machine/shape.rs`. Reservations on nodes:
//!   `schedule/backfill/nodes/mod.rs`; whether they hold: `schedule/backfill/nodes/plan.rs`, as far as numbers of CPUs say that:
//!   `schedule/backfill/nodes/bounds.rs`; which jobs have room: `schedule/backfill/nodes/rooms.rs`; nodes whose CPUs are all alike:
//!   `schedule/backfill/nodes/pool.rs`.
//! - How lists such as `cpu=4,mem=8G` are read: `tres.rs`.
//! - Sorted lists that change in the middle, with a summary per block: `sorted_blocks.rs`.
//! - Who decides where the rules of backfilling leave something open: `schedule/backfill/guide.rs`.
//! - The reservations on a pool of processors: `schedule/backfill/one.rs` if there is one, `schedule/backfill/many.rs` if there are
//!   more.
//! - What Slurm's scheduler does: when its passes come, `schedule/slurm/clock.rs`; how a backfill pass plans a job,
//!   `schedule/slurm/backfill.rs`; its parameters, with what of a slurm.conf sets them, `schedule/slurm/keys.rs`. Its rules:
//!   `schedule/slurm/nodes/`; when they are applied, `schedule/slurm/policy.rs`. A pool is nodes of one CPU; what makes it fast is
//!   `schedule/slurm/releases.rs`, the order of its queue is `schedule/slurm/ranking.rs`. Priorities and limits of the owners of
//!   jobs on nodes, `schedule/slurm/standing.rs`; which running jobs make way, `schedule/slurm/nodes/preempt.rs`, what the engine does
//!   with them, `engine/simulation/preempted.rs`, and when they come back, `schedule/slurm/returning.rs`.
//! - Which jobs a scheduler can never start: under Slurm `schedule/slurm/never.rs`, by the placement
//!   `schedule/backfill/nodes/reach.rs`; what the engine does with them: `engine/simulation/never.rs`. Limits of the owners of jobs:
//!   `schedule/slurm/nodes/limits/checks.rs`, in words: `over.rs` beside it.
//! - Job arrays: which jobs of a log are tasks of one, `trace/conditions/arrays.rs`; how Slurm tries them,
//!   `schedule/slurm/nodes/arrays.rs`; their place in its queue, `schedule/slurm/policy/arrays.rs`.
//! - Which passes of Slurm need not be made: `schedule/slurm/last_passes.rs`.
//! - The virtual schedule of `fair`, and whom it protects: `schedule/fair/schedule.rs`; the accounts of users,
//!   `schedule/fair/accounts.rs`; in which order jobs are tried, `schedule/fair/precedence.rs`.
//! - How a malleable job chooses its processors: `malleable/strategy.rs` and `malleable/decide.rs`.
//! - How the present queue is simulated: `wait/forward/snapshot.rs`; from what runtimes are drawn: `wait/forward/draws.rs`; how
//!   past waits correct the result: `wait/recalibrate.rs`.
//! - When an answer for a queue of now is said to be reliable: `wait/reliability.rs`; how past answers are judged:
//!   `wait/back_test.rs`; its columns: `wait/live_columns.rs`; its page: `wait/live_page.rs`.
//! - How jobs are found that follow the ends of others: `trace/feedback/`; when they are submitted in a simulation:
//!   `engine/feedback.rs`.
//! - What an event does, and the order of events: [`engine::Simulation`]. Code that only receives events is an
//!   [`engine::Observer`]; what it receives, an [`engine::Event`].
//! - A study of a paper: a file in `reproduce/` and a line in `reproduce/mod.rs`. Its options are in its entry.
//! - The model of clusters in the artifact of Helios: `reproduce/helios/`; predictions from a table: `predict/given.rs`.
//! - The order of events at all sites of `sim meta`: `meta/clock.rs`.
//! - How rows of any format become records: `trace/rows/collect.rs`; which columns and lines a row has: `trace/rows/columns.rs`.
//! - What the rows of a format say that a job asks for, command lines of sbatch, and files of requests: `trace/requests/`.
//! - A key of `--log-format`: `trace/formats/keys.rs`, and the entries of the formats that have it; how specs are read:
//!   `trace/formats/spec.rs`.
//! - The ids that jobs have in their log: `trace/ids.rs`.
//! - Which jobs of Slurm wait, and which are held: `trace/queue/stage.rs`; how they become a queue: `trace/queue/collect.rs`.
//! - What a line of `sim predict` can contain: `production/event.rs`; what an event does: `production/live/mod.rs`; what is kept and
//!   forgotten: `production/ledger.rs`, `production/service.rs` and `production/state_file.rs`.
//! - Lists, ranges and alternatives of values in options: `spec/expand.rs`; the columns of swept keys: `runs/axis.rs`.
//! - What runs share: `runs/execute.rs`; what can be wanted of one: `runs/finished.rs`; what identifies a finished run: `runs/keys.rs`.
//! - When an output has a column: `metrics/when.rs`. A column of `sim sweep --dry-run`, `status` and `merge`: `sweep/columns.rs`; of `sim compare`: `compare/difference.rs`.
//! - Which lists are conditions, settings or seeds: `runs/axis.rs`. When a setting is clearly best:
//!   `metrics/replicates.rs`; in words: `report/best.rs`.
//! - Who competes in `sim recommend`, and how the winner is judged: `recommend/mod.rs`. What a gain costs, in words:
//!   `report/price.rs`.
//! - How near a simulated schedule is to the recorded one: `fidelity/figures.rs` and `fidelity/moving.rs`; a column of it:
//!   `fidelity/columns.rs`. Which schedulers compete there: `fidelity/mod.rs`. The verdict: `fidelity/verdict.rs`.
//! - What the short help shows: `cli/help/summary.rs`; how pages are printed: `cli/help/page.rs`; when there are
//!   colours: `cli/color.rs`; which cells have them: `report/table_cell.rs`.
//! - Which names a shell offers for an option: `cli/completions.rs`.
//! - A word of the command line that changes: its new one in `cli/old_words.rs`, so that whoever types the old one is told.
//! - A program that `sim predict --example` prints: a file in `cli/examples/` and a line in `cli/predict.rs`.
//! - Groups of jobs by what they ask for: `metrics/breakdown/request_classes.rs`. Who loses: `metrics/fairness.rs`. Why jobs
//!   wait: `metrics/reasons.rs`.
//! - What is shown of a user, group, queue or partition: `trace/shown_names.rs`; the option `--names`: `cli/names.rs`.
//! - What is watched in a run, for charts and for all else: `metrics/probe.rs`; axes and their ticks: `report/html/axis.rs`; colours and layout:
//!   `report/html/style.css`. Charts as files for papers (`--svg`): `report/html/chart_files.rs`; their colours:
//!   `report/html/svg.rs`.
//! - The keys of runs, which are made of the options: `experiment/run_key.rs`.
//! - After any change that changes results: increase [`runs::RESULTS_REVISION`], so that no folder mixes old results with
//!   new ones.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

#[cfg(feature = "cli")]
pub mod cli;
pub mod compare;
pub mod recommend;
pub mod reproduce;
pub mod sweep;

#[doc(inline)]
pub use shadowtime_core::{
    counts, engine, experiment, files, job, machine, metrics, model, output, parallel, predict, program, request, rng,
    schedule, settings_file, similar, sort, sorted_blocks, spec, stats, text, time, trace, tres,
};
#[doc(inline)]
pub use shadowtime_report as report;
#[doc(inline)]
pub use shadowtime_studies::{fidelity, malleable, meta, production, runs, search, wait};
