//! `sim completions`: lets a shell complete commands, options, files, names and keys.
//!
//! The script that a shell loads contains no names. When the user asks for a completion, it calls this program with the
//! variable [`VARIABLE`] set and the words of the command line as arguments, and the program prints what could follow.
//! So the names are always those of the program, also of the predictors that another crate has added.

mod candidates;
mod sources;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, Command};
use clap_complete::Shell;
use clap_complete::env::Shells;

use super::{CommandForm, parsed};
use crate::report::{Output, OutputError};

/// Set by the scripts, with the name of the shell as its value.
const VARIABLE: &str = "SIM_COMPLETE";

/// The subcommand.
pub const COMMAND: CommandForm = CommandForm {
    name: "completions",
    about: "Print a script with which a shell completes commands, options, names and keys",
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

These are for the shell that is running; put the line into its start-up file to keep it. Then `sim --predictor ru<Tab>`
completes the name, and `sim --predictor ruh:<Tab>` its keys. The script calls `sim`, which must be on the path.")]
struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints the script for a shell.
fn execute(args: &CompletionsArgs) -> anyhow::Result<()> {
    let program = &program_name();
    Ok(Output::stdout().fill(|out| match Shells::builtins().completer(&args.shell.to_string()) {
        Some(other) if args.shell != Shell::Bash => other.write_registration(VARIABLE, program, program, program, out),
        _ => out.write_all(bash_script(program).as_bytes()),
    })?)
}

/// The name of the program without its folder, with which the script calls it: `sim`, or that of a program of another crate.
fn program_name() -> String {
    let path = std::env::args_os().next().map(PathBuf::from).unwrap_or_default();
    path.file_stem().map_or("sim".to_string(), |name| name.to_string_lossy().into_owned())
}

/// Bash splits words at colons and equals signs, so `ruh:window=2` would be five words. Our script joins them again, and
/// removes from the answers what bash does not count as part of the last word. The script of `clap_complete` does neither.
fn bash_script(program: &str) -> String {
    let function: String = program.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let script = include_str!("bash.sh").replace("FUNCTION", &function);
    script.replace("VARIABLE", VARIABLE).replace("PROGRAM", program)
}

/// The shell that has called the program for completions. None if the program runs as usual.
pub fn requested() -> Option<String> {
    std::env::var(VARIABLE).ok().filter(|shell| !shell.is_empty())
}

/// Prints what could follow the words after `--` in the arguments.
///
/// # Errors
/// If the words have another form than the script gives them, or cannot be completed.
pub fn answer(shell: &str, arguments: Vec<OsString>, command: Command) -> Result<(), OutputError> {
    Output::stdout().fill(|out| {
        let other = |why: &str| io::Error::other(format!("{VARIABLE}={shell}: {why}"));
        let shells = Shells::builtins();
        let completer = shells.completer(shell).ok_or_else(|| other("no such shell"))?;
        let words: Vec<OsString> = arguments.into_iter().skip_while(|word| word != "--").skip(1).collect();
        if words.is_empty() {
            return Err(other("no words follow --"));
        }
        let mut command = sources::add(command, is_empty_word(&words));
        let folder = std::env::current_dir().ok();
        completer.write_complete(&mut command, words, folder.as_deref().map(Path::new), out)
    })
}

/// Whether nothing has been typed yet of the word to complete.
fn is_empty_word(words: &[OsString]) -> bool {
    // Some shells give the place of the word, the others end with it.
    let index = std::env::var("_CLAP_COMPLETE_INDEX").ok().and_then(|index| index.parse().ok());
    words.get(index.unwrap_or(words.len() - 1)).is_none_or(|word| word.is_empty())
}
