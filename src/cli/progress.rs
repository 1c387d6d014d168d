//! A progress bar on standard error for work that takes more than a second. It is shown only on a terminal.

use std::io::IsTerminal;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// The bar appears only if the work takes at least this long.
const DELAY: Duration = Duration::from_secs(1);

/// A bar that appears after [`DELAY`] and is cleared when it is dropped.
pub struct Progress {
    what: &'static str,
    unit: &'static str,
    total: Option<usize>,
    enabled: bool,
    since: Instant,
    bar: OnceLock<ProgressBar>,
}

impl Progress {
    /// A bar for `what`, which counts `unit`s. Without a total it shows only the count.
    pub fn counting(what: &'static str, unit: &'static str, total: Option<usize>, quiet: bool) -> Self {
        let enabled = !quiet && std::io::stderr().is_terminal();
        Progress { what, unit, total, enabled, since: Instant::now(), bar: OnceLock::new() }
    }

    /// Sets the number of units done.
    pub fn set(&self, done: usize) {
        self.show(done, self.total);
    }

    /// Sets the number of units done, and the total if the bar has none yet.
    pub fn set_of(&self, done: usize, total: usize) {
        self.show(done, Some(total));
    }

    /// Sets the number of units done and the text after it.
    pub fn set_with_text(&self, done: usize, text: String) {
        self.show(done, self.total);
        if let Some(bar) = self.bar.get() {
            bar.set_message(text);
        }
    }

    fn show(&self, done: usize, total: Option<usize>) {
        if self.enabled && self.since.elapsed() >= DELAY {
            self.bar.get_or_init(|| self.begin(total)).set_position(done as u64);
        }
    }

    fn begin(&self, total: Option<usize>) -> ProgressBar {
        let bar = match total {
            Some(total) => ProgressBar::new(total as u64),
            None => ProgressBar::no_length(),
        };
        let style = match total {
            Some(_) => "{prefix} [{bar:40}] {human_pos}/{human_len} {msg}, {eta} left",
            None => "{prefix} {human_pos} {msg}, {elapsed}",
        };
        let style = ProgressStyle::with_template(style).expect("a valid template").progress_chars("=> ");
        bar.with_style(style).with_prefix(self.what).with_message(self.unit)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}
