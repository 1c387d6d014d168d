//! Ctrl-C: no half-written file stays behind, and a search that is asked to stop still hands over what it has found.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::report::abandon_unfinished;

/// Whether the work under way wants to end by itself.
static STOPPABLE: AtomicBool = AtomicBool::new(false);
static STOP_ASKED: AtomicBool = AtomicBool::new(false);

/// The exit code of a program that was interrupted.
pub const INTERRUPTED: u8 = 130;

/// Handles interrupts from now on.
pub fn watch() {
    // Without a handler an interrupt ends the program all the same, so there is nothing to do if it cannot be set.
    let _ = ctrlc::set_handler(|| {
        if STOPPABLE.load(Ordering::SeqCst) && !STOP_ASKED.swap(true, Ordering::SeqCst) {
            eprintln!("interrupted: ending with the best so far; once more ends at once");
            return;
        }
        abandon_unfinished(|files| {
            match files {
                0 => eprintln!("interrupted"),
                _ => eprintln!("interrupted: the files being written were removed, what stood there before is whole"),
            }
            std::process::exit(i32::from(INTERRUPTED));
        });
    });
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
