//! The program that has started this one, as a program that is asked: over this process's own standard output and input.

use std::io::{self, BufRead, Read, Write};
use std::sync::atomic::{AtomicU64, Ordering};

use super::{MOST_OF_A_LINE, Unanswered};

/// The number of lines that were read. There is one standard input.
static LINES: AtomicU64 = AtomicU64::new(0);

#[derive(Default)]
pub struct Caller {
    /// The last line, with its end.
    read: Vec<u8>,
}

impl Caller {
    pub fn lines(&self) -> u64 {
        LINES.load(Ordering::Relaxed)
    }

    pub fn last_line(&self) -> &[u8] {
        let line = self.read.strip_suffix(b"\n").unwrap_or(&self.read);
        line.strip_suffix(b"\r").unwrap_or(line)
    }

    /// Sends a line and reads the line that answers it, however long that takes.
    pub fn ask(&mut self, line: &[u8]) -> Result<(), Unanswered> {
        tell(line).map_err(|error| match error.kind() {
            io::ErrorKind::BrokenPipe => Unanswered::Ended("it reads no more".to_string()),
            _ => Unanswered::Failed(error),
        })?;
        self.read.clear();
        let most = MOST_OF_A_LINE as u64 + 2;
        let count = io::stdin().lock().take(most).read_until(b'\n', &mut self.read).map_err(Unanswered::Failed)?;
        LINES.fetch_add(u64::from(count > 0), Ordering::Relaxed);
        match self.read.last() {
            None => Err(Unanswered::Ended("the end of its input".to_string())),
            Some(b'\n') => Ok(()),
            Some(_) if count as u64 >= most => Err(Unanswered::TooLong),
            // The last line may have no end.
            Some(_) => Ok(()),
        }
    }
}

/// Writes a line that wants no answer.
pub fn tell(line: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(line)?;
    out.flush()
}
