//! `sim reproduce tsafrir`: logs as they are, prepared by the study itself.

use clap::Args;

use super::{Common, as_recorded};
use crate::cli::progress::Progress;
use crate::reproduce::{Tsafrir, tsafrir_logs};

#[derive(Debug, Args)]
pub struct TsafrirArgs {
    #[command(flatten)]
    common: Common,
    /// How many seeds, from 1 on, each random model of estimates is simulated with
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    seeds: u64,
}

pub fn execute(args: &TsafrirArgs, quiet: bool) -> anyhow::Result<()> {
    let found = args.common.find(&tsafrir_logs(), &[], quiet)?;
    let study = Tsafrir::new(&as_recorded(&found)?, args.seeds, args.common.output.threads())?;
    let figures = {
        let progress = Progress::counting("simulating", "runs", Some(study.steps()), quiet);
        study.figures(|done| progress.at(done)).map_err(anyhow::Error::msg)?
    };
    args.common.print("tsafrir", &figures, &found, false)
}
