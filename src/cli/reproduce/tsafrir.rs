//! `sim reproduce tsafrir`: logs as they are, prepared by the study itself.

use clap::Args;

use super::Common;
use crate::cli::progress::Progress;
use crate::reproduce::{FoundLog, Tsafrir, tsafrir_logs};
use crate::trace::{ReadOptions, Source, read};

#[derive(Debug, Args)]
pub struct TsafrirArgs {
    #[command(flatten)]
    common: Common,
    /// How many seeds, from 1 on, each random model of estimates is simulated with
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    seeds: u64,
}

pub fn execute(args: &TsafrirArgs, quiet: bool) -> anyhow::Result<()> {
    let found = args.common.find(&tsafrir_logs(), quiet)?;
    let log = |found: &FoundLog| {
        let source = Source::from_argument(&found.file.to_string_lossy());
        Ok((found.clone(), read(&source, ReadOptions::default(), &mut |_| ())?))
    };
    let logs = found.iter().map(log).collect::<anyhow::Result<Vec<_>>>()?;
    let study = Tsafrir::new(&logs, args.seeds, args.common.printing.threads())?;
    drop(logs);
    let figures = {
        let progress = Progress::counting("simulating", "runs", Some(study.steps()), quiet);
        study.figures(|done| progress.at(done)).map_err(anyhow::Error::msg)?
    };
    args.common.print("tsafrir", &figures, &found, false)
}
