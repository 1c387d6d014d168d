//! `sim reproduce kumar-meta`: grids of sites from logs and from scenarios.

use clap::Args;

use super::{Common, as_recorded};
use crate::cli::progress::Progress;
use crate::cli::stderr::note;
use crate::meta::SCENARIO_DAYS;
use crate::report::grouped;
use crate::reproduce::{KumarMeta, kumar_meta_logs};
use crate::time::readable_duration;

#[derive(Debug, Args)]
pub struct KumarMetaArgs {
    #[command(flatten)]
    common: Common,
    /// All jobs of each log, not only as many as the paper's Table 7 implies
    #[arg(long)]
    full: bool,
    /// How many days the jobs of the synthetic scenarios come for
    #[arg(long, value_name = "N", default_value_t = SCENARIO_DAYS, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    days: u32,
    /// How often everything is repeated, on slightly shaken logs (submissions moved by up to 30 s) and other made jobs; intervals
    /// are over all of them
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1000))]
    replications: u64,
}

pub fn execute(args: &KumarMetaArgs, quiet: bool) -> anyhow::Result<()> {
    let found = args.common.find(&kumar_meta_logs(), &[], quiet)?;
    let threads = args.common.output.threads();
    let study = KumarMeta::new(&as_recorded(&found)?, args.full, args.days, args.replications, threads)?;
    if !quiet {
        let (jobs, questions) = study.cost();
        // A quarter of a millisecond a question on a slow core; all else is little beside it.
        let time = readable_duration(questions as f64 * 250e-6 / threads as f64);
        let (runs, jobs, questions) = (grouped(study.steps() as u64), grouped(jobs as u64), grouped(questions as u64));
        note(format_args!("{runs} runs, {jobs} jobs, up to {questions} questions to histories: about {time} at most"));
    }
    let figures = {
        let progress = Progress::counting("simulating", "runs", Some(study.steps()), quiet);
        study.figures(|done| progress.at(done)).map_err(anyhow::Error::msg)?
    };
    args.common.print("kumar-meta", &figures, &found, false)
}
