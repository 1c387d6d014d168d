//! `sim reproduce smith`: searches for templates on replayed logs.

use clap::Args;

use super::{Common, perform};
use crate::reproduce::{SMITH_LOGS, Smith};

#[derive(Debug, Args)]
pub struct SmithArgs {
    #[command(flatten)]
    common: Common,
    /// The number of genetic searches per log, with seeds from 0 on. The measured figures are those of the first search,
    /// intervals are over all of them
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    replications: u32,
}

pub fn execute(args: &SmithArgs, quiet: bool) -> anyhow::Result<()> {
    let setup = args.common.setup(&SMITH_LOGS, &[], quiet)?;
    perform(&Smith::new(setup, u64::from(args.replications))?, &args.common.output, quiet)
}
