//! `sim list`: the values of `--predictor`, `--scheduler`, `--estimates`, `--strategy`, `--policy` and `--method`, and the
//! columns of results.

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
    /// Predictors of runtimes
    Predictors,
    /// Schedulers of one machine
    Schedulers,
    /// Models of user estimates
    Estimates,
    /// Strategies of malleable jobs
    Strategies,
    /// Policies of `sim meta`
    Policies,
    /// Methods of `sim wait`
    Methods,
    /// Columns of results
    Columns,
}

/// The forms of a catalog: names, keys and defaults. Empty for columns, which are not specs.
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
