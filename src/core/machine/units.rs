//! Amounts of memory and times as configurations write them.

use crate::time::{DAY, FOREVER, HOUR, MINUTE, Seconds};

/// The most memory, in MB. The sum over all nodes of a machine fits into a `u64`.
const MOST_MEMORY: u64 = 1 << 44;

/// Reads memory in MB: `512000`, `512000M`, `8G`, `2T`. None if it is something else, or too much.
///
/// ```
/// # extern crate shadowtime_core as shadowtime;
/// use shadowtime::machine::parse_memory;
/// assert_eq!((parse_memory("8G"), parse_memory("512000"), parse_memory("-1")), (Some(8192), Some(512_000), None));
/// ```
pub fn parse_memory(text: &str) -> Option<u64> {
    let (number, factor) = match text.char_indices().last()? {
        (at, 'M' | 'm') => (&text[..at], 1),
        (at, 'G' | 'g') => (&text[..at], 1 << 10),
        (at, 'T' | 't') => (&text[..at], 1 << 20),
        _ => (text, 1),
    };
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
    let memory = is_number.then(|| number.parse::<u64>().ok())??.checked_mul(factor)?;
    (memory <= MOST_MEMORY).then_some(memory)
}

/// Writes memory in the largest unit that divides it: `8G`, `512000M`. [`parse_memory`] reads it back.
pub fn print_memory(memory: u64) -> String {
    match memory {
        0 => "0M".to_string(),
        memory if memory % (1 << 20) == 0 => format!("{}T", memory >> 20),
        memory if memory % (1 << 10) == 0 => format!("{}G", memory >> 10),
        memory => format!("{memory}M"),
    }
}

/// What memory is in a configuration, for messages.
pub(super) const MEMORY_FORM: &str = "not memory such as 8G, 512000M or 512000 (MB)";

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

/// Whether a value means that there is no limit.
pub(super) fn is_unlimited(value: &str) -> bool {
    ["UNLIMITED", "INFINITE", "-1"].iter().any(|word| value.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_has_units() {
        for (text, memory) in [
            ("0", Some(0)),
            ("1t", Some(1 << 20)),
            ("2800m", Some(2800)),
            ("", None),
            ("G", None),
            ("1.5G", None),
            ("8GB", None),
            ("+8", None),
            ("99999999999999999999", None),
            ("20000000T", None),
        ] {
            assert_eq!(parse_memory(text), memory, "{text}");
        }
        for memory in [0, 1, 1023, 1024, 187_000, 1 << 20, 3 << 30] {
            assert_eq!(parse_memory(&print_memory(memory)), Some(memory));
        }
    }

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
