//! `sim reproduce gaussier`: the authors' figures of a predictor that learns.

use std::path::PathBuf;

use clap::Args;

use super::{Common, perform};
use crate::reproduce::{GAUSSIER_LOGS, Gaussier, Setup};

#[derive(Debug, Args)]
pub struct GaussierArgs {
    #[command(flatten)]
    common: Common,
    /// The number of runs of each setting: the first on the log as it is, the others on slightly shaken copies (submissions
    /// moved by up to 30 s). Intervals are over all of them
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u32).range(1..=1000))]
    replications: u32,
    /// Keep finished runs in this folder, and reuse those that are in it [default: runs are not kept]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub fn execute(args: &GaussierArgs, quiet: bool) -> anyhow::Result<()> {
    let setup = Setup { folder: args.out.clone(), ..args.common.setup(&GAUSSIER_LOGS, &[], quiet)? };
    perform(&Gaussier { setup, replications: args.replications as usize }, &args.common.output, quiet)
}
