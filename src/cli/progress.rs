//! A progress bar on standard error for anything that takes more than a second, on a terminal only.

use std::io::IsTerminal;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// Work that is quicker than this shows no bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// A bar that appears when it is worth it, and goes when it is dropped.
pub struct Progress {
    what: &'static str,
    unit: &'static str,
    total: Option<usize>,
    wanted: bool,
    since: Instant,
    bar: OnceLock<ProgressBar>,
}

impl Progress {
    /// Counts `unit`s; without a total it only counts.
    pub fn counting(what: &'static str, unit: &'static str, total: Option<usize>, quiet: bool) -> Self {
        let wanted = !quiet && std::io::stderr().is_terminal();
        Progress { what, unit, total, wanted, since: Instant::now(), bar: OnceLock::new() }
    }

    /// So many are done.
    pub fn at(&self, done: usize) {
        self.show(done, self.total);
    }

    /// So many are done of a total that is known only now.
    pub fn at_of(&self, done: usize, total: usize) {
        self.show(done, Some(total));
    }

    /// So many are done, and what there is to say of it.
    pub fn at_saying(&self, done: usize, text: String) {
        self.show(done, self.total);
        if let Some(bar) = self.bar.get() {
            bar.set_message(text);
        }
    }

    fn show(&self, done: usize, total: Option<usize>) {
        if self.wanted && self.since.elapsed() >= PATIENCE {
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
        let style = ProgressStyle::with_template(style).expect("a template of our own").progress_chars("=> ");
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
