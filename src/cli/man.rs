//! `sim man`: manual pages for `man`, made from the help of the commands.

use std::path::PathBuf;

use clap::{Args, Command};

use super::stderr::note;
use super::{CommandForm, parsed};
use crate::report::OutputError;

/// The subcommand.
pub const COMMAND: CommandForm = CommandForm {
    name: "man",
    about: "Write manual pages for `man`",
    arguments: ManArgs::augment_args,
    run: |matches| execute(&parsed(matches)),
};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  sim man ~/.local/share/man  then `man sim` and `man sim-sweep`
  sim man pages && man -l pages/man1/sim.1
      without installing them")]
struct ManArgs {
    /// The folder for the pages; it is created, with man1 in it
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

fn execute(args: &ManArgs) -> anyhow::Result<()> {
    let folder = args.folder.join("man1");
    let failed = |error| OutputError { name: folder.display().to_string(), error };
    std::fs::create_dir_all(&folder).map_err(failed)?;
    clap_mangen::generate_to(without_help(super::command()), &folder).map_err(failed)?;
    note(format_args!("the pages are in {}", folder.display()));
    Ok(())
}

/// Without the commands `help`, which print what has pages of its own.
fn without_help(command: Command) -> Command {
    command.mut_subcommands(|below| match below.get_name() {
        "help" => below.hide(true),
        _ => without_help(below),
    })
}
