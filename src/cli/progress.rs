//! A progress bar on standard error for work that takes more than a second. It is shown only on a terminal.
//!
//! The bar is one line, never wider than the terminal: a line that the terminal wraps cannot be removed again.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressState, ProgressStyle};

use super::quiet::is_quiet;
use super::width;
use crate::text::grouped;
use crate::time::readable_duration;

/// The bar appears only if the work takes at least this long.
const DELAY: Duration = Duration::from_secs(1);

/// The time left is shown when at least this share of the work is done. Earlier estimates are too far off.
const LEAST_SHARE: f64 = 0.01;

/// The longest bar, without the texts around it.
const LONGEST_BAR: usize = 40;

/// A shorter bar is left out.
const SHORTEST_BAR: usize = 8;

/// The bar that is on the terminal, so that other text is not written into its line.
static SHOWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

fn shown() -> MutexGuard<'static, Option<ProgressBar>> {
    SHOWN.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Removes the bar, if there is one, while `write` writes to the terminal.
pub fn without_bar(write: impl FnOnce()) {
    let bar = shown().clone();
    match bar {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

/// Removes the bar for good. Called before the program ends without the end of the work.
pub fn remove_bar() {
    if let Some(bar) = shown().take() {
        bar.finish_and_clear();
    }
}

/// A bar that appears after [`DELAY`] and is cleared when it is dropped.
pub struct Progress {
    what: &'static str,
    total: Option<usize>,
    enabled: bool,
    since: Instant,
    /// What the numbers count, or another text after them.
    text: Arc<Mutex<String>>,
    bar: OnceLock<ProgressBar>,
    /// What was counted by [`Progress::add`].
    added: AtomicUsize,
}

impl Progress {
    /// A bar for `what`, which counts `unit`s. Without a total it shows only the count.
    pub fn counting(what: &'static str, unit: &'static str, total: Option<usize>) -> Self {
        let enabled = !is_quiet() && std::io::stderr().is_terminal();
        let text = Arc::new(Mutex::new(unit.to_string()));
        Progress { what, total, enabled, since: Instant::now(), text, bar: OnceLock::new(), added: AtomicUsize::new(0) }
    }

    /// Sets the number of units done.
    pub fn set(&self, done: usize) {
        self.show(done, self.total);
    }

    /// Adds to the number of units done. For work in several threads.
    pub fn add(&self, units: usize) {
        self.set(self.added.fetch_add(units, Ordering::Relaxed) + units);
    }

    /// Sets the number of units done, and the total if the bar has none yet.
    pub fn set_of(&self, done: usize, total: usize) {
        self.show(done, Some(total));
    }

    /// Sets the number of units done and the text after it.
    pub fn set_with_text(&self, done: usize, text: String) {
        *self.text.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = text;
        self.show(done, self.total);
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
        let (what, text) = (self.what, Arc::clone(&self.text));
        let line = move |state: &ProgressState, out: &mut dyn std::fmt::Write| {
            let text = text.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            let line = BarLine { what, text: &text, done: state.pos(), total: state.len(), elapsed: state.elapsed() };
            // If this fails, there is nothing to draw on.
            let _ = out.write_str(&line.within(width::of_bars()));
        };
        let style = ProgressStyle::with_template("{line}").expect("a valid template").with_key("line", line);
        // The time before the bar appeared counts too.
        let bar = bar.with_style(style).with_elapsed(self.since.elapsed());
        *shown() = Some(bar.clone());
        bar
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
            *shown() = None;
        }
    }
}

/// What a bar shows.
struct BarLine<'a> {
    what: &'a str,
    text: &'a str,
    done: u64,
    total: Option<u64>,
    elapsed: Duration,
}

impl BarLine<'_> {
    /// The line in at most `width` columns. The bar becomes shorter first, then the text after the numbers is left out, then
    /// the time.
    fn within(&self, width: usize) -> String {
        let BarLine { what, text, .. } = self;
        let numbers = match self.total {
            Some(total) => format!("{}/{}", grouped(self.done), grouped(total)),
            None => grouped(self.done),
        };
        let time = self.time().map_or(String::new(), |time| format!(", {time}"));
        let all = format!("{numbers} {text}{time}");
        if let (Some(share), Some(room)) = (self.share(), width.checked_sub(what.len() + " [] ".len() + all.len())) {
            let length = room.min(LONGEST_BAR);
            if length >= SHORTEST_BAR {
                let done = (share * length as f64) as usize;
                let head = if done < length { ">" } else { "" };
                let bar = format!("{}{head}", "=".repeat(done));
                return format!("{what} [{bar:length$}] {all}");
            }
        }
        let shorter = [format!("{what} {all}"), format!("{what} {numbers}{time}"), format!("{what} {numbers}")];
        let fitting = shorter.into_iter().find(|line| line.len() <= width);
        fitting.unwrap_or_else(|| what.chars().take(width).collect())
    }

    fn share(&self) -> Option<f64> {
        let total = self.total.filter(|&total| total > 0)?;
        Some((self.done as f64 / total as f64).min(1.0))
    }

    /// The time left, once enough is done to estimate it. Without a total the time taken.
    fn time(&self) -> Option<String> {
        let elapsed = self.elapsed.as_secs_f64();
        match self.share() {
            None => Some(readable_duration(elapsed)),
            Some(share) if share >= LEAST_SHARE => {
                let left = elapsed * (1.0 - share) / share;
                // Less than a second is not worth reading.
                (left >= 1.0).then(|| format!("{} left", readable_duration(left)))
            }
            Some(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str, done: u64, total: Option<u64>, seconds: u64, width: usize) -> String {
        BarLine { what: "searching", text, done, total, elapsed: Duration::from_secs(seconds) }.within(width)
    }

    #[test]
    fn a_line_fits_and_keeps_the_numbers() {
        let text = "steps, best error 1h 05m";
        assert_eq!(
            line(text, 12, Some(50), 60, 80),
            "searching [=====>                  ] 12/50 steps, best error 1h 05m, 3m 10s left"
        );
        assert_eq!(line(text, 12, Some(50), 60, 60), "searching 12/50 steps, best error 1h 05m, 3m 10s left");
        assert_eq!(line(text, 12, Some(50), 60, 40), "searching 12/50, 3m 10s left");
        assert_eq!(line("steps", 25, Some(50), 60, 200).len(), "searching [] 25/50 steps, 1m 00s left".len() + 40);
        for width in 1..200 {
            for total in [None, Some(0), Some(12), Some(u64::MAX)] {
                assert!(line(text, 12, total, 7_000_000, width).len() <= width);
            }
        }
    }

    #[test]
    fn the_time_left_is_shown_when_it_can_be_estimated() {
        assert!(line("jobs", 0, Some(1000), 1, 80).ends_with("] 0/1,000 jobs"));
        assert!(line("jobs", 9, Some(1000), 1, 80).ends_with("] 9/1,000 jobs"));
        assert!(line("jobs", 10, Some(1000), 1, 80).ends_with("] 10/1,000 jobs, 1m 39s left"));
        assert!(line("jobs", 1000, Some(1000), 90, 80).ends_with("=] 1,000/1,000 jobs"));
        assert_eq!(line("records", 65_536, None, 2, 80), "searching 65,536 records, 2.0 s");
    }
}
