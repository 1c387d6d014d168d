//! Signals: half-written files are removed, and a search that is interrupted still returns its best result.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

/// Whether the current work checks [`stop_requested`] and then ends early.
static STOPPABLE: AtomicBool = AtomicBool::new(false);
static STOP_REQUESTED: AtomicBool = AtomicBool::new(false);
/// Whether Ctrl-C is meant for another program on the same terminal.
static IGNORED: AtomicBool = AtomicBool::new(false);

/// The exit code of a program that was interrupted, as shells report it.
pub const INTERRUPTED: u8 = 130;

/// Text that is added to the message about an interrupt.
static ADDED: Mutex<Option<String>> = Mutex::new(None);

/// Installs the signal handlers, on systems that have signals.
///
/// An interrupt (Ctrl-C), SIGTERM, SIGQUIT and a closed terminal end the program and leave no half-written files. A write
/// beyond the largest size of a file that the shell allows (`ulimit -f`) fails like any other write.
pub fn watch() {
    #[cfg(unix)]
    signals::watch();
}

/// Sets the text that is added to the message about an interrupt.
pub fn add_to_message(text: String) {
    *added() = Some(text);
}

fn added() -> MutexGuard<'static, Option<String>> {
    ADDED.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

#[cfg(unix)]
mod signals {
    use std::ffi::c_int;
    use std::sync::mpsc;

    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ};
    use signal_hook::iterator::Signals;

    use super::super::progress::remove_bar;
    use super::super::stderr;
    use super::*;
    use crate::parallel;
    use crate::program::end_programs;
    use crate::report::abandon_unfinished;

    /// Ends the program. If the current work can end early, the first interrupt only requests that.
    fn interrupt() {
        if STOPPABLE.load(Ordering::SeqCst) && !STOP_REQUESTED.swap(true, Ordering::SeqCst) {
            stderr::line(
                "interrupted: ending with the best result so far; a second interrupt ends the program at once",
            );
            return;
        }
        abandon_unfinished(|files| {
            let removed = "unfinished files were removed, earlier versions of them are unchanged".to_string();
            let parts: Vec<String> = (files > 0).then_some(removed).into_iter().chain(added().take()).collect();
            end_programs();
            remove_bar();
            match parts.is_empty() {
                true => stderr::line("interrupted"),
                false => stderr::line(format_args!("interrupted: {}", parts.join("; "))),
            }
            std::process::exit(i32::from(INTERRUPTED));
        });
    }

    /// Errors are ignored: without a handler a signal still ends the program.
    pub fn watch() {
        /// The signal needs a handler, but this flag is never read: the write that caused the signal returns an error.
        static TOO_LARGE: AtomicBool = AtomicBool::new(false);
        let ignored = ignored_signals();
        let is_ignored = |signal: &c_int| ignored >> (signal - 1) & 1 == 1;
        if !is_ignored(&SIGXFSZ) {
            let _ = signal_hook::flag::register(SIGXFSZ, &TOO_LARGE);
        }
        let wanted: Vec<c_int> =
            [SIGINT, SIGTERM, SIGHUP, SIGQUIT].into_iter().filter(|signal| !is_ignored(signal)).collect();
        // The thread is started first: once a signal has a handler, its default action cannot be restored.
        let (sender, receiver) = mpsc::channel::<Signals>();
        let handle = move || {
            if let Ok(mut signals) = receiver.recv() {
                let is_meant = |signal: &c_int| *signal != SIGINT || !IGNORED.load(Ordering::SeqCst);
                signals.forever().filter(is_meant).for_each(|_| interrupt());
            }
        };
        if parallel::start_beside(handle).is_ok()
            && let Ok(signals) = Signals::new(wanted)
        {
            let _ = sender.send(signals);
        }
    }

    /// The signals that were ignored when the program was started, as by `nohup` and for background jobs of scripts, one bit
    /// each. They stay ignored. Only Linux reports this; on other systems there are none.
    fn ignored_signals() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
    }
}

/// From now on the first interrupt only sets a flag. The work must check [`stop_requested`] regularly and end early.
pub fn allow_early_end() {
    STOPPABLE.store(true, Ordering::SeqCst);
}

/// Ignores Ctrl-C as long as another program on the same terminal, such as a pager, uses it for itself.
pub fn ignore(is_ignored: bool) {
    IGNORED.store(is_ignored, Ordering::SeqCst);
}

/// Whether the work should end early.
pub fn stop_requested() -> bool {
    STOP_REQUESTED.load(Ordering::SeqCst)
}

/// The error of work that was interrupted after it had printed its best result.
#[derive(Debug)]
pub struct Interrupted;

impl std::fmt::Display for Interrupted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("interrupted: what was printed and written is the best result found before the interrupt")
    }
}

impl std::error::Error for Interrupted {}
