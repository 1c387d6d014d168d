//! `sim reproduce smith`: searches for templates on replayed logs.

use clap::Args;

use super::{Common, replayed};
use crate::cli::progress::Progress;
use crate::reproduce::{Smith, smith_logs};

#[derive(Debug, Args)]
pub struct SmithArgs {
    #[command(flatten)]
    common: Common,
    /// How many genetic searches are made of each log, with seeds from 0 on; the first is the one measured, intervals are
    /// over all of them
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    replications: u32,
}

pub fn execute(args: &SmithArgs, quiet: bool) -> anyhow::Result<()> {
    let logs = args.common.find(&smith_logs(), &[], quiet)?;
    let workloads = replayed(&logs)?;
    let study =
        Smith { logs: &workloads, replications: u64::from(args.replications), threads: args.common.output.threads() };
    let figures = {
        let progress = Progress::counting("searching", "searches", Some(study.steps()), quiet);
        let done = std::cell::Cell::new(0);
        study.figures(&|| {
            done.set(done.get() + 1);
            progress.at(done.get());
        })?
    };
    args.common.print("smith", &figures, &logs, false)
}
