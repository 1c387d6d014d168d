//! When output has colours: `--color`, and without it what the terminal and the environment say.

use std::ffi::{OsStr, OsString};
use std::io::{stderr, stdout};

use anstream::{AutoStream, ColorChoice};
use clap::{Arg, ValueEnum};

/// The option, as it is written.
pub const OPTION: &str = "--color";

/// The argument of all commands.
pub fn argument() -> Arg {
    Arg::new("color")
        .long("color")
        .value_name("WHEN")
        .value_parser(clap::value_parser!(clap::ColorChoice))
        .hide_possible_values(true)
        .global(true)
        .help(
            "Colours: auto, always or never; auto means on a terminal, unless NO_COLOR is set or TERM is dumb \
             [default: auto]",
        )
        .help_heading("Output")
}

/// Whether a word is the option together with its value: `--color=never`.
pub fn has_value(word: &OsStr) -> bool {
    value_in(word).is_some()
}

fn value_in(word: &OsStr) -> Option<&str> {
    word.to_str()?.strip_prefix(OPTION)?.strip_prefix('=')
}

/// Lets all output follow the option, if the arguments have it. This comes before they are parsed, because help and errors of
/// the command line have colours too.
pub fn follow(arguments: &[OsString]) {
    let after = arguments.iter().skip_while(|word| *word != OPTION).nth(1).and_then(|word| word.to_str());
    let text = arguments.iter().find_map(|word| value_in(word)).or(after);
    match text.and_then(|text| clap::ColorChoice::from_str(text, false).ok()) {
        Some(clap::ColorChoice::Always) => ColorChoice::Always.write_global(),
        Some(clap::ColorChoice::Never) => ColorChoice::Never.write_global(),
        // `anstream` takes continuous integration for a terminal with colours, whatever its name.
        Some(clap::ColorChoice::Auto) | None if std::env::var_os("TERM").is_some_and(|term| term == "dumb") => {
            ColorChoice::Never.write_global();
        }
        Some(clap::ColorChoice::Auto) | None => {}
    }
}

/// Whether standard output has colours.
pub fn of_stdout() -> bool {
    AutoStream::choice(&stdout()) != ColorChoice::Never
}

/// Whether standard error has colours.
pub fn of_stderr() -> bool {
    AutoStream::choice(&stderr()) != ColorChoice::Never
}
