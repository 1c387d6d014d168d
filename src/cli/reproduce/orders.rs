//! `sim reproduce orders`: orders of the queue on windows of logs.

use clap::Args;

use super::{Common, perform};
use crate::reproduce::{ORDERS_LOGS, Orders};

#[derive(Debug, Args)]
pub struct OrdersArgs {
    #[command(flatten)]
    common: Common,
    /// The number of consecutive windows of 1,024 jobs, from the first job on. Intervals are over the windows
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    windows: u32,
}

pub fn execute(args: &OrdersArgs, quiet: bool) -> anyhow::Result<()> {
    let setup = args.common.setup(&ORDERS_LOGS, &[], quiet)?;
    perform(&Orders { setup, windows: args.windows as usize }, &args.common.output, quiet)
}
