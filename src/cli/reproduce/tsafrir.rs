//! `sim reproduce tsafrir`: models of user estimates, on logs that the study prepares itself.

use clap::Args;

use super::{Common, perform};
use crate::reproduce::{TSAFRIR_LOGS, Tsafrir};

#[derive(Debug, Args)]
pub struct TsafrirArgs {
    #[command(flatten)]
    common: Common,
    /// The number of runs of each random model of estimates, with seeds from 1 on
    #[arg(long, alias = "seeds", value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    replications: u64,
}

pub fn execute(args: &TsafrirArgs, quiet: bool) -> anyhow::Result<()> {
    let setup = args.common.setup(&TSAFRIR_LOGS, &[], quiet)?;
    perform(&Tsafrir::new(setup, args.replications)?, &args.common.output, quiet)
}
