//! A simulated schedule as an SWF log, to be read by anything that reads logs.

use std::io::{self, Write};

use crate::metrics::JobMetrics;
use crate::trace::{Header, LogText, field_texts, write_header, write_texts};

/// Writes the jobs of a schedule with their waits. Job number, submit and run time are those of the simulation (a
/// repeated, compressed or cut log has others than were recorded); every other field stands as in the log. The header
/// is kept, but for `MaxProcs`, which is the simulated machine's, and a note of what made the schedule.
pub fn write_schedule(
    out: &mut dyn Write,
    header: &Header,
    text: &LogText,
    procs: u32,
    setting: &str,
    jobs: impl Iterator<Item = JobMetrics>,
) -> io::Result<()> {
    let mut header = header.with_procs(procs);
    header.push(format!("; Note: waits simulated by shadowtime, {setting} on {procs} processors").as_bytes());
    write_header(out, &header)?;
    for job in jobs {
        let line = text.line(job.record as usize);
        let changed = [job.number, job.submit, job.wait, job.runtime].map(|value| value.to_string());
        let fields = changed.iter().map(String::as_bytes).chain(field_texts(line).skip(4));
        write_texts(out, fields)?;
    }
    Ok(())
}
