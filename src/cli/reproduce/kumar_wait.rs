//! `sim reproduce kumar-wait`: predicts the waits that are recorded in logs.

use clap::Args;

use super::{Common, perform};
use crate::reproduce::{KUMAR_LOGS, KumarWait};
use crate::wait::{EvaluationPlan, Learning};

#[derive(Debug, Args)]
pub struct KumarWaitArgs {
    #[command(flatten)]
    common: Common,
    /// The first job of each log that is predicted, counted from 1
    #[arg(long, value_name = "N", default_value_t = 10_001, value_parser = clap::value_parser!(u32).range(2..))]
    begin: u32,
    /// The largest number of jobs of each log that are predicted
    #[arg(long, value_name = "N", default_value_t = 50_000, value_parser = clap::value_parser!(u32).range(1..))]
    most: u32,
    /// Regressions, which are slow, predict only every N-th of these jobs
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    regression_every: u32,
}

pub fn execute(args: &KumarWaitArgs, quiet: bool) -> anyhow::Result<()> {
    let setup = args.common.setup(&KUMAR_LOGS, &[], quiet)?;
    let plan = EvaluationPlan {
        learning: Learning { first: args.begin as usize - 1, ..Learning::default() },
        most: args.most as usize,
        regression_every: args.regression_every as usize,
        threads: args.common.output.threads(),
        ..EvaluationPlan::default()
    };
    perform(&KumarWait::new(setup, plan)?, &args.common.output, quiet)
}
