//! Signals: no half-written file stays behind, and a search that is asked to stop still hands over what it has found.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

/// Whether the work under way wants to end by itself.
static STOPPABLE: AtomicBool = AtomicBool::new(false);
static STOP_ASKED: AtomicBool = AtomicBool::new(false);

/// The exit code of a program that was interrupted.
pub const INTERRUPTED: u8 = 130;

/// What the message about an interrupt adds.
static ADDED: Mutex<Option<String>> = Mutex::new(None);

/// Handles signals from now on, where the system has them.
///
/// An interrupt (Ctrl-C), a request to end and a closed terminal end the program without half-written files. A write
/// beyond the largest size of a file that the shell allows (`ulimit -f`) fails like any other write.
pub fn watch() {
    #[cfg(unix)]
    signals::watch();
}

/// Adds this to the message if the work is interrupted from now on.
pub fn say(text: String) {
    *added() = Some(text);
}

fn added() -> MutexGuard<'static, Option<String>> {
    ADDED.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

#[cfg(unix)]
mod signals {
    use std::ffi::c_int;
    use std::sync::mpsc;

    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    use signal_hook::iterator::Signals;

    use super::super::stderr;
    use super::*;
    use crate::parallel;
    use crate::report::abandon_unfinished;

    /// Ends the program, unless the work under way ends by itself when asked.
    fn interrupt() {
        if STOPPABLE.load(Ordering::SeqCst) && !STOP_ASKED.swap(true, Ordering::SeqCst) {
            stderr::line("interrupted: ending with the best so far; once more ends at once");
            return;
        }
        abandon_unfinished(|files| {
            let removed = "the files being written were removed, what stood there before is whole".to_string();
            let parts: Vec<String> = (files > 0).then_some(removed).into_iter().chain(added().take()).collect();
            match parts.is_empty() {
                true => stderr::line("interrupted"),
                false => stderr::line(format_args!("interrupted: {}", parts.join("; "))),
            }
            std::process::exit(i32::from(INTERRUPTED));
        });
    }

    /// Without a handler a signal ends the program all the same, so there is nothing to do where none can be set.
    pub fn watch() {
        /// The signal needs a handler, but nobody looks at what it does: the write that caused it fails.
        static TOO_LARGE: AtomicBool = AtomicBool::new(false);
        if !is_ignored(SIGXFSZ) {
            let _ = signal_hook::flag::register(SIGXFSZ, &TOO_LARGE);
        }
        let wanted: Vec<c_int> = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|&signal| !is_ignored(signal)).collect();
        // The thread first: once a signal has a handler, its default action cannot be restored.
        let (sender, receiver) = mpsc::channel::<Signals>();
        let handle = move || {
            if let Ok(mut signals) = receiver.recv() {
                signals.forever().for_each(|_| interrupt());
            }
        };
        if parallel::start_beside(handle).is_ok()
            && let Ok(signals) = Signals::new(wanted)
        {
            let _ = sender.send(signals);
        }
    }

    /// Whether a signal was ignored when the program was started, as by `nohup` and for background jobs of scripts. It
    /// then stays ignored. Only Linux says so; elsewhere none is taken to be.
    fn is_ignored(signal: c_int) -> bool {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
            .is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
    }
}

/// From now on the first interrupt only asks: the work looks at [`stop_asked`] now and then, and ends by itself.
pub fn end_by_itself() {
    STOPPABLE.store(true, Ordering::SeqCst);
}

pub fn stop_asked() -> bool {
    STOP_ASKED.load(Ordering::SeqCst)
}

/// The work was interrupted, and has handed over what it had.
#[derive(Debug)]
pub struct Interrupted;

impl std::fmt::Display for Interrupted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("interrupted: what is printed and written is the best found until then")
    }
}

impl std::error::Error for Interrupted {}
