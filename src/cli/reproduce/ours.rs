//! `sim reproduce ours`: our own claims, on every log of a folder.

use clap::Args;

use super::{Common, KeptRuns, perform};
use crate::cli::failure::UsageError;
use crate::reproduce::{OURS_LOGS, Ours, Setup, find_logs, other_logs};

#[derive(Debug, Args)]
pub struct OursArgs {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    runs: KeptRuns,
}

pub fn execute(args: &OursArgs, quiet: bool) -> anyhow::Result<()> {
    let Common { logs: folder, output } = &args.common;
    // No warning for a log that is not there: the study is about what is in the folder.
    let cannot_read = |error| UsageError(format!("cannot read the folder {}: {error}", folder.display()));
    let (logs, _) = find_logs(folder, &OURS_LOGS).map_err(cannot_read)?;
    let others = other_logs(folder, &logs).map_err(cannot_read)?;
    if logs.is_empty() && others.is_empty() {
        return Err(UsageError(format!("no log (*.swf, *.swf.gz, *.swf.zst) is in {}", folder.display())).into());
    }
    let setup = Setup { logs, folder: args.runs.out.clone(), threads: output.threads(), quick: false };
    perform(&Ours { setup, others, replications: args.runs.replications as usize }, output, quiet)
}
