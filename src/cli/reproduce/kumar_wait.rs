//! `sim reproduce kumar-wait`: waits of replayed logs, predicted.

use clap::Args;

use super::{Common, replayed};
use crate::cli::failure::UsageError;
use crate::cli::progress::Progress;
use crate::report::grouped;
use crate::reproduce::{KumarWait, kumar_wait_logs};
use crate::wait::{EvaluationPhase, EvaluationPlan, Learning};

#[derive(Debug, Args)]
pub struct KumarWaitArgs {
    #[command(flatten)]
    common: Common,
    /// The first job of a log that is predicted, counted from 1
    #[arg(long, value_name = "N", default_value_t = 10_001, value_parser = clap::value_parser!(u32).range(2..))]
    begin: u32,
    /// How many jobs of a log are predicted at most
    #[arg(long, value_name = "N", default_value_t = 50_000, value_parser = clap::value_parser!(u32).range(1..))]
    most: u32,
    /// Regressions predict every so many of them
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    regression_every: u32,
}

pub fn execute(args: &KumarWaitArgs, quiet: bool) -> anyhow::Result<()> {
    let logs = args.common.find(&kumar_wait_logs(), &[], quiet)?;
    let workloads = replayed(&logs)?;
    let first = args.begin as usize - 1;
    if let Some((log, workload)) = workloads.iter().find(|(_, workload)| workload.jobs.len() <= first) {
        let (name, jobs) = (log.name.short, grouped(workload.jobs.len() as u64));
        return Err(UsageError(format!("--begin leaves none of the {jobs} jobs of {name} to predict")).into());
    }
    let plan = EvaluationPlan {
        learning: Learning { first, ..Learning::default() },
        most: args.most as usize,
        regression_every: args.regression_every as usize,
        threads: args.common.output.threads(),
        ..EvaluationPlan::default()
    };
    let figures = {
        // Learning and predicting take about as long: each is half of a log's share.
        let progress = Progress::counting("predicting", "percent", Some(100 * logs.len()), quiet);
        KumarWait { logs: &workloads, plan }.figures(&|log, phase, done, all| {
            let half = 50 * done / all.max(1);
            progress.at(100 * log + if phase == EvaluationPhase::Predicting { 50 + half } else { half });
        })?
    };
    args.common.print("kumar-wait", &figures, &logs, false)
}
