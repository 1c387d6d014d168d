//! `sim list`: what can stand after `--predictor`, `--scheduler`, `--estimates`, `--strategy`, `--policy` and `--method`,
//! and the columns of results.

use clap::{Args, ValueEnum};

use crate::malleable::Strategy;
use crate::meta;
use crate::model::estimates;
use crate::predict;
use crate::report::{Output, write_columns, write_forms};
use crate::schedule;
use crate::spec::Form;
use crate::wait;

#[derive(Debug, Args)]
pub struct ListArgs {
    /// What to list
    #[arg(value_enum)]
    what: What,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum What {
    Predictors,
    Schedulers,
    Estimates,
    /// Of malleable jobs
    Strategies,
    /// Of `sim meta`
    Policies,
    /// Of `sim wait`
    Methods,
    /// Of results
    Columns,
}

/// The names, keys and defaults there are. Columns have none.
pub fn forms(what: What) -> Vec<&'static Form> {
    match what {
        What::Predictors => predict::catalog::forms(),
        What::Schedulers => schedule::catalog::forms(),
        What::Estimates => estimates::catalog::forms(),
        What::Strategies => Strategy::forms(),
        What::Policies => meta::dispatch_forms(),
        What::Methods => wait::WaitMethod::forms().to_vec(),
        What::Columns => Vec::new(),
    }
}

pub fn execute(args: &ListArgs) -> anyhow::Result<()> {
    Ok(Output::stdout().fill(|out| match args.what {
        What::Columns => write_columns(out),
        what => write_forms(out, &forms(what)),
    })?)
}
