//! `sim list`: what can stand after `--predictor`, `--scheduler`, `--estimates`, `--strategy` and `--policy`, and the
//! columns of results.

use clap::{Args, ValueEnum};

use crate::malleable::Strategy;
use crate::meta;
use crate::model::estimates;
use crate::predict;
use crate::report::{Output, write_columns, write_forms};
use crate::schedule;

#[derive(Debug, Args)]
pub struct ListArgs {
    /// What to list
    #[arg(value_enum)]
    what: What,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum What {
    Predictors,
    Schedulers,
    Estimates,
    /// Of malleable jobs
    Strategies,
    /// Of `sim meta`
    Policies,
    /// Of results
    Columns,
}

pub fn execute(args: &ListArgs) -> anyhow::Result<()> {
    let forms = match args.what {
        What::Predictors => predict::catalog::forms(),
        What::Schedulers => schedule::catalog::forms(),
        What::Estimates => estimates::catalog::forms(),
        What::Strategies => Strategy::forms(),
        What::Policies => meta::policy_forms(),
        What::Columns => return Ok(Output::stdout().fill(|out| write_columns(out))?),
    };
    Ok(Output::stdout().fill(|out| write_forms(out, &forms))?)
}
