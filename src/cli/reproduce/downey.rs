//! `sim reproduce downey`: random workloads, no logs.

use std::path::PathBuf;

use clap::Args;

use super::{StudyOutput, perform};
use crate::cli::stderr::note;
use crate::reproduce::{Downey, PAPER_DAYS};

#[derive(Debug, Args)]
pub struct DowneyArgs {
    /// Ignored: the study uses no logs. The option exists so that all studies can be called in the same way
    #[arg(long, value_name = "DIR")]
    logs: Option<PathBuf>,
    #[command(flatten)]
    output: StudyOutput,
    /// The number of days of each workload
    #[arg(long, value_name = "N", default_value_t = PAPER_DAYS, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    days: u32,
    /// The number of random workloads, with seeds from 1 on; at most five for variants that are not in the paper. The
    /// measured figures are those of the first workload, intervals are over all of them
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    replications: u32,
}

pub fn execute(args: &DowneyArgs, quiet: bool) -> anyhow::Result<()> {
    if let (Some(logs), false) = (&args.logs, quiet) {
        note(format_args!("this study uses no logs: {} is ignored", logs.display()));
    }
    let (replications, days) = (u64::from(args.replications), args.days);
    perform(&Downey { replications, days, threads: args.output.threads() }, &args.output, quiet)
}
