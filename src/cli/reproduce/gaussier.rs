//! `sim reproduce gaussier`: the authors' figures of a predictor that learns.

use clap::Args;

use super::{Common, KeptRuns, perform};
use crate::reproduce::{GAUSSIER_LOGS, Gaussier, Setup};

#[derive(Debug, Args)]
pub struct GaussierArgs {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    runs: KeptRuns,
}

pub fn execute(args: &GaussierArgs, quiet: bool) -> anyhow::Result<()> {
    let setup = Setup { folder: args.runs.out.clone(), ..args.common.setup(&GAUSSIER_LOGS, &[], quiet)? };
    perform(&Gaussier { setup, replications: args.runs.replications as usize }, &args.common.output, quiet)
}
