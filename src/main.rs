//! `sim`: the command line of shadowtime.

use std::process::ExitCode;

use shadowtime::cli;

fn main() -> ExitCode {
    #[cfg(target_os = "linux")]
    if closed_stdout::was_seen() {
        shadowtime::report::refuse_stdout();
    }
    cli::run(std::env::args_os())
}

/// Whether standard output was closed when the program was started (`sim >&-`).
#[cfg(target_os = "linux")]
mod closed_stdout {
    use std::fs::symlink_metadata;
    use std::sync::atomic::{AtomicBool, Ordering};

    static SEEN: AtomicBool = AtomicBool::new(false);

    pub fn was_seen() -> bool {
        SEEN.load(Ordering::Relaxed)
    }

    /// Looks before `main`. This needs the unsafe attribute: the Rust runtime opens /dev/null in place of a closed
    /// descriptor before it calls `main`, and from then on a closed output and `> /dev/null` look the same. The
    /// function itself is safe code, and uses nothing that the runtime sets up.
    #[used]
    #[unsafe(link_section = ".init_array")]
    static LOOK: extern "C" fn() = {
        extern "C" fn look() {
            // Without /proc nothing can be seen, and the output is taken to be open.
            let closed = symlink_metadata("/proc/self/fd").is_ok() && symlink_metadata("/proc/self/fd/1").is_err();
            SEEN.store(closed, Ordering::Relaxed);
        }
        look
    };
}
