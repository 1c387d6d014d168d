//! `sim completions`: a script with which a shell completes commands, options, files and names.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Arg, Args, Command, ValueHint};
use clap_complete::{Shell, generate};

use super::list::{ListedKind, forms};
use super::{CommandForm, parsed};
use crate::report::Output;

/// The subcommand.
pub const COMMAND: CommandForm = CommandForm {
    name: "completions",
    about: "Print a script with which a shell completes commands, options and names",
    arguments: CompletionsArgs::augment_args,
    run: |matches| execute(&parsed(matches)),
};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  source <(sim completions bash)         ~/.bashrc
  source <(sim completions zsh)          ~/.zshrc, after compinit
  sim completions fish | source          ~/.config/fish/config.fish
  eval (sim completions elvish | slurp)  ~/.config/elvish/rc.elv
  sim completions powershell | Out-String | Invoke-Expression

These are for the shell that is running; put the line into its start-up file to keep it.")]
struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints the script for a shell.
fn execute(args: &CompletionsArgs) -> anyhow::Result<()> {
    let mut script = Vec::new();
    generate(args.shell, &mut with_values(super::command()), program_name(), &mut script);
    Ok(Output::stdout().fill(|out| out.write_all(&script))?)
}

/// The name of the program without its folder: `sim`, or that of a program of another crate.
fn program_name() -> String {
    let path = std::env::args_os().next().map(PathBuf::from).unwrap_or_default();
    path.file_stem().map_or("sim".to_string(), |name| name.to_string_lossy().into_owned())
}

/// Adds to every option of every command what its values can be: the names of a list, files, or folders.
fn with_values(command: Command) -> Command {
    command.mut_args(with_value).mut_subcommands(with_values)
}

fn with_value(argument: Arg) -> Arg {
    let list = match argument.get_long() {
        Some("predictor") => ListedKind::Predictors,
        Some("scheduler") => ListedKind::Schedulers,
        Some("estimates") => ListedKind::Estimates,
        Some("feedback") => ListedKind::Feedback,
        Some("strategy") => ListedKind::Strategies,
        Some("policy") => ListedKind::Policies,
        Some("method") => ListedKind::Methods,
        _ => {
            let value = argument.get_value_names().and_then(|names| names.first()).map(|name| name.as_str());
            return match value {
                Some("FILE" | "LOG" | "MACHINE" | "FIRST" | "SECOND") => argument.value_hint(ValueHint::FilePath),
                Some("DIR") => argument.value_hint(ValueHint::DirPath),
                _ => argument,
            };
        }
    };
    let has_words = argument.get_value_parser().possible_values().is_some();
    let names = PossibleValuesParser::new(forms(list).into_iter().map(|form| form.name));
    if has_words { argument } else { argument.value_parser(names) }
}
