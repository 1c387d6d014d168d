//! `sim reproduce kumar-meta`: systems of several sites, from logs and from scenarios.

use clap::Args;

use super::{Common, perform};
use crate::cli::stderr::note;
use crate::meta::SCENARIO_DAYS;
use crate::report::counted;
use crate::reproduce::{KUMAR_LOGS, KumarMeta, Study};
use crate::time::readable_duration;

#[derive(Debug, Args)]
pub struct KumarMetaArgs {
    #[command(flatten)]
    common: Common,
    /// Use all jobs of each log, not only the number that Table 7 of the paper implies
    #[arg(long)]
    full: bool,
    /// The number of days in which the jobs of the synthetic scenarios arrive
    #[arg(long, value_name = "N", default_value_t = SCENARIO_DAYS, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    days: u32,
    /// The number of replications: the first uses the logs as they are, the others slightly shaken logs (submissions moved by
    /// up to 30 s), each with other generated jobs. Intervals are over all of them
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1000))]
    replications: u64,
}

pub fn execute(args: &KumarMetaArgs, quiet: bool) -> anyhow::Result<()> {
    let setup = args.common.setup(&KUMAR_LOGS, &[], quiet)?;
    let threads = setup.threads;
    let study = KumarMeta::new(setup, args.full, args.days, args.replications)?;
    if !quiet {
        let (jobs, predictions) = study.cost();
        // A prediction of a wait takes 250 microseconds on a slow core; the rest takes little time in comparison.
        let time = readable_duration(predictions as f64 * 250e-6 / threads as f64);
        let (runs, jobs) = (counted(study.steps().0 as u64, "run"), counted(jobs as u64, "job"));
        let predictions = counted(predictions as u64, "predicted wait");
        note(format_args!("{runs}, {jobs}, up to {predictions}: about {time} at most"));
    }
    perform(&study, &args.common.output, quiet)
}
