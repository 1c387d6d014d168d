//! `sim completions`: lets a shell complete commands, options, files, names and keys.
//!
//! The script that a shell loads contains no names. When the user asks for a completion, it calls this program with the
//! variable [`VARIABLE`] set and the words of the command line as arguments, and the program prints what could follow.
//! So the names are always those of the program, also of the predictors that another crate has added.

mod bash;
mod candidates;
mod sources;

use std::ffi::OsString;
use std::io;
use std::path::Path;

use clap::{Args, Command, ValueEnum};
use clap_complete::env::{Elvish, EnvCompleter, Fish, Powershell, Zsh};

use crate::report::{Output, OutputError};
use bash::Bash;

/// Set by the scripts, with the name of the shell as its value.
const VARIABLE: &str = "SIM_COMPLETE";

#[derive(Debug, Args)]
#[command(after_help = "Examples, for the shell that is running; put the line into its start-up file to keep it:
  source <(sim completions bash)                         ~/.bashrc
  source <(sim completions zsh)                          ~/.zshrc, after compinit
  sim completions fish | source                          ~/.config/fish/config.fish
  eval (sim completions elvish | slurp)                  ~/.config/elvish/rc.elv
  sim completions powershell | Out-String | Invoke-Expression

Then `sim --predictor ru<Tab>` completes the name, and `sim --predictor ruh:<Tab>` its keys. The script calls `sim`, which
must be on the path.")]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Shell {
    Bash,
    Zsh,
    Fish,
    Elvish,
    Powershell,
}

impl Shell {
    fn completer(self) -> &'static dyn EnvCompleter {
        match self {
            Shell::Bash => &Bash,
            Shell::Zsh => &Zsh,
            Shell::Fish => &Fish,
            Shell::Elvish => &Elvish,
            Shell::Powershell => &Powershell,
        }
    }
}

/// Prints the script for a shell. `program` is the name of the program, with which the script calls it.
pub fn execute(args: &CompletionsArgs, program: &str) -> anyhow::Result<()> {
    let completer = args.shell.completer();
    Ok(Output::stdout().fill(|out| completer.write_registration(VARIABLE, program, program, program, out))?)
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
        let shell = Shell::from_str(shell, true).map_err(|_| other("no such shell"))?;
        let words: Vec<OsString> = arguments.into_iter().skip_while(|word| word != "--").skip(1).collect();
        if words.is_empty() {
            return Err(other("no words follow --"));
        }
        let mut command = sources::add(command, is_empty_word(&words));
        let folder = std::env::current_dir().ok();
        shell.completer().write_complete(&mut command, words, folder.as_deref().map(Path::new), out)
    })
}

/// Whether nothing has been typed yet of the word to complete.
fn is_empty_word(words: &[OsString]) -> bool {
    // Some shells give the place of the word, the others end with it.
    let index = std::env::var("_CLAP_COMPLETE_INDEX").ok().and_then(|index| index.parse().ok());
    words.get(index.unwrap_or(words.len() - 1)).is_none_or(|word| word.is_empty())
}
