//! How wide tables and progress bars are.

use std::io::IsTerminal;

use terminal_size::{Width, terminal_size_of};

/// The width of tables in files and pipes, unless the environment says something else.
pub const DEFAULT: usize = 100;

/// No table is made narrower than this: nothing useful fits.
const LEAST: usize = 40;

/// The width of standard output: that of the terminal if it is one, otherwise `COLUMNS` of the environment, otherwise 100.
pub fn of_stdout() -> usize {
    let stdout = std::io::stdout();
    of(stdout.is_terminal().then(|| terminal_size_of(&stdout)).flatten())
}

/// The same of standard error, to which a table goes if a file of the command is standard output.
pub fn of_stderr() -> usize {
    let stderr = std::io::stderr();
    of(stderr.is_terminal().then(|| terminal_size_of(&stderr)).flatten())
}

/// The widest line of a progress bar. The last column of the terminal stays free, because some terminals move to the next line
/// when it is used.
pub fn of_bars() -> usize {
    of_stderr() - 1
}

fn of(terminal: Option<(Width, terminal_size::Height)>) -> usize {
    // Some terminals, such as those of serial lines, report a width of 0: they do not know it.
    let terminal = terminal.map(|(Width(columns), _)| usize::from(columns)).filter(|&columns| columns > 0);
    let environment = || std::env::var("COLUMNS").ok()?.parse().ok();
    terminal.or_else(environment).unwrap_or(DEFAULT).max(LEAST)
}
