//! `--quiet`: only warnings and errors go to standard error. It is a setting of the process, as colours are: no result depends on
//! it.

use std::sync::atomic::{AtomicBool, Ordering};

use clap::{Arg, ArgAction, ArgMatches};

/// Whether notes and progress bars are left out.
static QUIET: AtomicBool = AtomicBool::new(false);

/// The argument of all commands.
pub fn argument() -> Arg {
    Arg::new("quiet")
        .short('q')
        .long("quiet")
        .action(ArgAction::SetTrue)
        .global(true)
        .help("Print only warnings and errors to standard error: no notes, times or progress")
        .help_heading("Output")
}

/// Lets all that follows be as quiet as the arguments say.
pub fn follow(matches: &ArgMatches) {
    QUIET.store(matches.get_flag("quiet"), Ordering::Relaxed);
}

/// Whether only warnings and errors go to standard error.
pub fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}
