//! `sim reproduce ours`: our own claims, on every log of a folder.

use std::path::PathBuf;

use clap::Args;

use super::{Common, find, perform};
use crate::cli::failure::UsageError;
use crate::reproduce::{OURS_LOGS, Ours, Setup, other_logs};

#[derive(Debug, Args)]
pub struct OursArgs {
    #[command(flatten)]
    common: Common,
    /// The number of runs of each setting: the first on the log as it is, the others on slightly shaken copies (submissions
    /// moved by up to 30 s). Figures are means over all of them
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u32).range(1..=1000))]
    replications: u32,
    /// Keep finished runs in this folder, and reuse those that are in it [default: runs are not kept]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub fn execute(args: &OursArgs, quiet: bool) -> anyhow::Result<()> {
    let Common { logs: folder, output } = &args.common;
    let logs = find(folder, &OURS_LOGS, quiet)?;
    let others = other_logs(folder, &logs)?;
    if logs.is_empty() && others.is_empty() {
        return Err(UsageError(format!("no log (*.swf, *.swf.gz, *.swf.zst) is in {}", folder.display())).into());
    }
    let setup = Setup { logs, folder: args.out.clone(), threads: output.threads(), quick: false };
    perform(&Ours { setup, others, replications: args.replications as usize }, output, quiet)
}
