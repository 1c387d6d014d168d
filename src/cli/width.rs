//! How wide tables and progress bars are.

use std::io::IsTerminal;

use terminal_size::{Width, terminal_size_of};

use super::color;
use crate::report;

/// The width of tables in files and pipes, unless the environment says something else.
pub const DEFAULT: usize = 100;

/// No table is made narrower than this: nothing useful fits.
const LEAST: usize = 40;

/// The width of standard output: that of the terminal if it is one, otherwise `COLUMNS` of the environment, otherwise 100.
pub fn of_stdout() -> report::Width {
    let stdout = std::io::stdout();
    let columns = of(stdout.is_terminal().then(|| terminal_size_of(&stdout)).flatten());
    report::Width { columns, has_colours: color::of_stdout() }
}

/// The same of standard error, to which a table goes if a file of the command is standard output.
pub fn of_stderr() -> report::Width {
    let stderr = std::io::stderr();
    let columns = of(stderr.is_terminal().then(|| terminal_size_of(&stderr)).flatten());
    report::Width { columns, has_colours: color::of_stderr() }
}

/// The widest line of a progress bar. The last column of the terminal stays free, because some terminals move to the next line
/// when it is used.
pub fn of_bars() -> usize {
    of_stderr().columns - 1
}

fn of(terminal: Option<(Width, terminal_size::Height)>) -> usize {
    // Some terminals, such as those of serial lines, report a width of 0: they do not know it.
    let terminal = terminal.map(|(Width(columns), _)| usize::from(columns)).filter(|&columns| columns > 0);
    let environment = || std::env::var("COLUMNS").ok()?.parse().ok();
    terminal.or_else(environment).unwrap_or(DEFAULT).max(LEAST)
}
