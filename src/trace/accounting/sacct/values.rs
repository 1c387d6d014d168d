//! What the columns of `sacct` hold: states, limits and GPUs.

use crate::time::{FOREVER, MINUTE, Seconds};
use crate::trace::accounting::values::{Bad, clock, count, leading_number};
use crate::trace::record::CANCELLED;

/// What a state says of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Completed,
    Cancelled,
    Failed,
    NotEnded,
    /// It was put back into the queue, or changed its size: it has ended if it has a start and an end.
    Again,
    /// The log does not say.
    None,
    Unknown,
}

impl State {
    pub fn of(state: &[u8]) -> State {
        match state {
            b"COMPLETED" => State::Completed,
            b"CANCELLED" | b"REVOKED" => State::Cancelled,
            b"FAILED" | b"TIMEOUT" | b"PREEMPTED" | b"NODE_FAIL" | b"OUT_OF_MEMORY" | b"DEADLINE" | b"BOOT_FAIL" => {
                State::Failed
            }
            b"PENDING" | b"RUNNING" | b"SUSPENDED" => State::NotEnded,
            b"REQUEUED" | b"RESIZING" => State::Again,
            b"" => State::None,
            _ => State::Unknown,
        }
    }

    pub fn status(self) -> i32 {
        match self {
            State::Completed => 1,
            State::Cancelled => CANCELLED,
            State::None => -1,
            _ => 0,
        }
    }
}

/// The limit of a job. None if it is unlimited, that of the partition, or unknown.
pub fn limit<'a>(text: &'a [u8], raw: &'a [u8]) -> Result<Option<Seconds>, Bad<'a>> {
    if let Some(limit) = clock(text) {
        return Ok(Some(limit));
    }
    let is_none = |text: &[u8]| {
        let words = [&b"UNLIMITED"[..], b"Partition_Limit", b"INVALID", b"Unknown", b"None"];
        text.is_empty() || words.iter().any(|word| text.eq_ignore_ascii_case(word))
    };
    match (is_none(text), is_none(raw)) {
        (false, _) => Err(Bad::value(text, "Timelimit", "a duration such as 1-02:03:04")),
        (true, true) => Ok(None),
        (true, false) => match count(raw, "TimelimitRaw")?.map(|minutes| minutes * MINUTE) {
            Some(limit) if limit > FOREVER => Err(Bad::value(raw, "TimelimitRaw", "a limit in minutes")),
            limit => Ok(limit),
        },
    }
}

/// The time that a job ran, as Slurm has it. None if it is unknown.
pub fn elapsed(text: &[u8]) -> Result<Option<Seconds>, Bad<'_>> {
    match clock(text) {
        None if !matches!(text, b"" | b"Unknown" | b"INVALID") => {
            Err(Bad::value(text, "Elapsed", "a duration such as 1-02:03:04"))
        }
        elapsed => Ok(elapsed),
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
