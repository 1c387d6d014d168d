//! Times and memory as configurations write them.

use crate::text::shortened;
use crate::time::{DAY, FOREVER, HOUR, MINUTE, Seconds};
use crate::tres::{MEMORY_FORM, parse_memory};

/// Seconds of a time as Slurm writes it: minutes, minutes:seconds, hours:minutes:seconds, days-hours, days-hours:minutes or
/// days-hours:minutes:seconds. None if it is none of these, or too long.
pub fn slurm_time(text: &str) -> Option<Seconds> {
    let number = |text: &str| text.parse::<u32>().ok().map(Seconds::from);
    let (days, clock) = match text.split_once('-') {
        Some((days, clock)) => (Some(number(days)?), clock),
        None => (None, text),
    };
    let parts: Vec<Seconds> = clock.split(':').map(number).collect::<Option<_>>()?;
    let seconds = match (days, parts.as_slice()) {
        (None, [minutes]) => minutes * MINUTE,
        (None, [minutes, seconds]) => minutes * MINUTE + seconds,
        (_, [hours, minutes, seconds]) => hours * HOUR + minutes * MINUTE + seconds,
        (Some(_), [hours]) => hours * HOUR,
        (Some(_), [hours, minutes]) => hours * HOUR + minutes * MINUTE,
        _ => return None,
    };
    Some(days.unwrap_or(0) * DAY + seconds).filter(|seconds| *seconds <= FOREVER)
}

/// The memory, in MB, that is the value of a key.
pub(super) fn memory_of(key: &str, text: &str) -> Result<u64, String> {
    parse_memory(text).ok_or_else(|| format!("{key}={}: {MEMORY_FORM}", shortened(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_slurm_reads_them() {
        for (text, seconds) in [
            ("90", Some(5400)),
            ("1:30", Some(90)),
            ("1:00:30", Some(3630)),
            ("2-3", Some(2 * DAY + 3 * HOUR)),
            ("2-3:30", Some(2 * DAY + 3 * HOUR + 30 * MINUTE)),
            ("1-0:0:1", Some(DAY + 1)),
            ("1-", None),
            ("x", None),
            ("1:2:3:4", None),
            ("4294967295-0", None),
        ] {
            assert_eq!(slurm_time(text), seconds, "{text}");
        }
    }
}
