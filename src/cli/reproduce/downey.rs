//! `sim reproduce downey`: workloads that are drawn, no logs.

use std::path::PathBuf;

use clap::Args;

use super::print_figures;
use crate::cli::output_options::OutputOptions;
use crate::cli::progress::Progress;
use crate::cli::stderr::note;
use crate::report::grouped;
use crate::reproduce::Downey;
use crate::time::readable_duration;

#[derive(Debug, Args)]
pub struct DowneyArgs {
    /// Not needed: the study has no logs. It is taken, so that all studies can be called alike
    #[arg(long, value_name = "DIR")]
    logs: Option<PathBuf>,
    #[command(flatten)]
    output: OutputOptions,
    /// Days of each workload
    #[arg(long, value_name = "N", default_value_t = 120, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    days: u32,
    /// How many workloads are drawn, with seeds from 1 on (of those that are not the paper's own at most five); the first is
    /// the one measured, intervals are over all of them
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    replications: u32,
}

pub fn execute(args: &DowneyArgs, quiet: bool) -> anyhow::Result<()> {
    if let (Some(logs), false) = (&args.logs, quiet) {
        note(format_args!("this study has no logs: {} is not looked into", logs.display()));
    }
    let (replications, days) = (u64::from(args.replications), args.days);
    let study = Downey { replications, days, threads: args.output.threads() };
    let began = std::time::Instant::now();
    let figures = {
        let progress = Progress::counting("simulating", "workloads", Some(study.steps()), quiet);
        study.figures(|done| progress.at(done))
    };
    if !quiet {
        let (count, time) = (grouped(study.steps() as u64), readable_duration(began.elapsed().as_secs_f64()));
        note(format_args!("{count} workloads in {time}"));
    }
    print_figures(&args.output, "downey", &figures, false)
}
