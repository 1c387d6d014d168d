//! The tests of the program, one binary. Those that compute with the library alone are in `tests/twins`.

// Figures for those who read the output of a test.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod archive;
mod bad_input;
mod boundaries;
#[cfg(unix)]
mod browser;
mod cli;
mod compare;
#[cfg(unix)]
mod completions;
mod doubtful_logs;
mod estimates;
mod events;
#[cfg(unix)]
mod exec;
mod exec_scheduler;
mod fair;
mod faults;
mod feedback_commands;
mod fidelity;
mod formats;
mod formulas;
mod fuzz;
mod gate;
mod golden;
mod gymnasium;
#[cfg(unix)]
mod helios;
mod help;
mod html;
mod kept_runs;
#[cfg(unix)]
mod largest_first;
mod layers;
mod live_waits;
mod log_ids;
mod machines;
mod malleable;
#[cfg(unix)]
mod man;
mod meta;
mod names;
mod never_start;
mod node_figures;
mod nodes;
mod one_language;
mod outside;
#[cfg(unix)]
mod pbs;
mod pictures;
mod preemption;
mod production;
mod production_events;
mod queue;
mod recommend;
mod reliable_waits;
mod reproduce;
mod requests;
mod resample;
mod sacctmgr_commands;
mod scheduler_keys;
mod schedules;
mod search;
mod site_events;
mod site_example;
mod site_rules;
mod site_states;
mod sites;
#[cfg(unix)]
mod size_mean;
#[cfg(unix)]
mod slurm;
#[cfg(unix)]
mod slurm_accounts;
#[cfg(unix)]
mod slurm_cluster;
mod slurm_conf;
mod slurm_free;
#[cfg(unix)]
mod slurm_node_jobs;
#[cfg(unix)]
mod slurm_node_log;
mod slurm_node_priorities;
#[cfg(unix)]
mod slurm_node_record;
mod slurm_node_records;
mod slurm_one_cpu;
mod slurm_owners;
#[cfg(unix)]
mod slurm_record;
mod slurm_repeated;
mod support;
mod sweep;
mod sweep_report;
#[cfg(unix)]
mod terminal;
mod time_units;
#[cfg(unix)]
mod trials;
mod two_machines;
mod wait;
mod what_if;
mod what_if_pages;
mod who_pays;
mod widths;
mod without_effect;
mod words;

// `size_mean` and `largest_first` are files as they would be in the library, where these are modules of the crate.
#[cfg(unix)]
use shadowtime::{job, predict, schedule, spec, time};
