//! Values that all outputs of Slurm have: durations and GPUs.

use crate::time::Seconds;
use crate::trace::rows::{Bad, clock, leading_number};

/// Words for a duration that is not limited or not known.
const NO_DURATION: [&[u8]; 7] = [b"UNLIMITED", b"Partition_Limit", b"NOT_SET", b"INVALID", b"N/A", b"Unknown", b"None"];

/// A duration. None if there is none that is known.
pub fn duration<'a>(text: &'a [u8], column: &'static str) -> Result<Option<Seconds>, Bad<'a>> {
    match clock(text) {
        None if !text.is_empty() && !NO_DURATION.iter().any(|word| text.eq_ignore_ascii_case(word)) => {
            Err(Bad::value(text, column, "is not a duration such as 1-02:03:04"))
        }
        seconds => Ok(seconds),
    }
}

/// The GPUs of a list such as `cpu=4,gres/gpu=2,gres/gpu:a100=2`: the total, or else the sum of the types.
pub fn gpus_of_tres(text: &[u8]) -> Option<i64> {
    let mut typed = None;
    for item in text.split(|&byte| byte == b',') {
        let Some(rest) = item.strip_prefix(b"gres/gpu") else { continue };
        match rest {
            [b'=', number @ ..] => return leading_number(number),
            [b':', ..] => {
                let number = rest.iter().position(|&byte| byte == b'=').map(|at| &rest[at + 1..]);
                *typed.get_or_insert(0) += number.and_then(leading_number).unwrap_or(0);
            }
            _ => {}
        }
    }
    typed
}

/// The GPUs per node of a list such as `gpu:tesla:2`.
pub fn gpus_of_gres(text: &[u8]) -> Option<i64> {
    let gpus = text.split(|&byte| byte == b',').filter(|item| {
        let mut words = item.split(|byte| matches!(byte, b':' | b'/'));
        words.any(|word| word == b"gpu")
    });
    let counts = gpus.map(|item| item.rsplit(|&byte| byte == b':').next().and_then(leading_number).unwrap_or(1));
    Some(counts.sum()).filter(|&sum| sum > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gpus_are_counted_once() {
        for (text, gpus) in [
            ("billing=12,cpu=12,gres/gpu:a100=4,gres/gpu=4,node=1", Some(4)),
            ("cpu=12,gres/gpu:a100=4,gres/gpu:v100=1", Some(5)),
            ("gres/gpu=2", Some(2)),
            ("cpu=1,gres/gpumem=5", None),
            ("", None),
        ] {
            assert_eq!(gpus_of_tres(text.as_bytes()), gpus, "{text}");
        }
        for (text, gpus) in [
            ("gpu:2", Some(2)),
            ("gpu:tesla:3", Some(3)),
            ("gres:gpu:1", Some(1)),
            ("gpu", Some(1)),
            ("craynetwork:1", None),
        ] {
            assert_eq!(gpus_of_gres(text.as_bytes()), gpus, "{text}");
        }
    }
}
