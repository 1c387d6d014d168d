//! A progress bar on standard error for work that takes more than a second. It is shown only on a terminal.
//!
//! On a narrow terminal there are only the numbers: a line that the terminal wraps cannot be removed again.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressState, ProgressStyle};

use super::quiet::is_quiet;
use super::width;
use crate::time::readable_duration;

/// The bar appears only if the work takes at least this long.
const DELAY: Duration = Duration::from_secs(1);

/// The time left is shown when at least this share of the work is done. Earlier estimates are too far off.
const LEAST_SHARE: f64 = 0.01;

/// A terminal that is not wider than this has numbers without a bar.
const NARROW: usize = 60;

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
    bar: OnceLock<ProgressBar>,
    /// What follows the numbers: the units, or more.
    text: Mutex<String>,
    /// What was counted by [`Progress::add`].
    added: AtomicUsize,
}

impl Progress {
    /// A bar for `what`, which counts `unit`s. Without a total it shows only the count.
    pub fn counting(what: &'static str, unit: &'static str, total: Option<usize>) -> Self {
        let enabled = !is_quiet() && std::io::stderr().is_terminal();
        let (since, bar, added) = (Instant::now(), OnceLock::new(), AtomicUsize::new(0));
        Progress { what, total, enabled, since, bar, text: Mutex::new(unit.to_string()), added }
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
        self.say(text);
        self.set(done);
    }

    /// Sets the text after the numbers.
    pub fn say(&self, text: String) {
        if let Some(bar) = self.bar.get() {
            bar.set_message(text.clone());
        }
        *self.text() = text;
    }

    fn text(&self) -> MutexGuard<'_, String> {
        self.text.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn show(&self, done: usize, total: Option<usize>) {
        if self.enabled && self.since.elapsed() >= DELAY {
            let bar = self.bar.get_or_init(|| self.begin(total));
            bar.set_position(done as u64);
        }
    }

    fn begin(&self, total: Option<usize>) -> ProgressBar {
        let (bar, template) = match total {
            Some(total) if width::of_bars() > NARROW => {
                (ProgressBar::new(total as u64), "{prefix} [{wide_bar}] {human_pos}/{human_len} {msg}{time}")
            }
            Some(total) => (ProgressBar::new(total as u64), "{prefix} {human_pos}/{human_len}{time}"),
            None => (ProgressBar::no_length(), "{prefix} {human_pos} {msg}{time}"),
        };
        let style = ProgressStyle::with_template(template).expect("a valid template").progress_chars("=> ");
        let style = style.with_key("time", |state: &ProgressState, out: &mut dyn std::fmt::Write| {
            // If this fails, there is nothing to draw on.
            let _ = out.write_str(&time_in_words(state.pos(), state.len(), state.elapsed()));
        });
        // The time before the bar appeared counts too.
        let bar = bar
            .with_style(style)
            .with_prefix(self.what)
            .with_message(self.text().clone())
            .with_elapsed(self.since.elapsed());
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

/// The time left, once enough is done to estimate it. Without a total the time taken.
fn time_in_words(done: u64, total: Option<u64>, elapsed: Duration) -> String {
    let Some(total) = total.filter(|total| *total > 0) else {
        return format!(", {}", readable_duration(elapsed.as_secs_f64()));
    };
    let share = (done as f64 / total as f64).min(1.0);
    let left = elapsed.as_secs_f64() * (1.0 - share) / share;
    // Less than a second is not worth reading.
    match share >= LEAST_SHARE && left >= 1.0 {
        true => format!(", {} left", readable_duration(left)),
        false => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_is_shown_when_it_can_be_estimated() {
        let words = |done, total, seconds| time_in_words(done, total, Duration::from_secs(seconds));
        assert_eq!(words(0, Some(1000), 1), "");
        assert_eq!(words(9, Some(1000), 1), "");
        assert_eq!(words(10, Some(1000), 1), ", 1m 39s left");
        assert_eq!(words(1000, Some(1000), 90), "");
        assert_eq!(words(65_536, None, 2), ", 2.0 s");
    }
}
