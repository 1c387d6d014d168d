//! Values that all outputs of Slurm have: durations and resources.

use crate::time::Seconds;
use crate::trace::rows::{Bad, clock, leading_number};
use crate::tres::{Resource, TresItem, tres_items};

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

/// The amount of something in a list such as `cpu=4,mem=8G,node=1`, as written.
pub fn value_in(list: &[u8], kind: Resource) -> Option<&[u8]> {
    let mut items = tres_items(std::str::from_utf8(list).unwrap_or_default(), ',');
    items.find_map(|item| item.value.filter(|_| item.kind == Some(kind))).map(str::as_bytes)
}

/// The number of something in such a list: the total, or else the sum of the types.
pub fn count_in(list: &[u8], kind: Resource) -> Option<i64> {
    if let Some(total) = value_in(list, kind) {
        return leading_number(total);
    }
    let items = tres_items(std::str::from_utf8(list).unwrap_or_default(), ',');
    let typed = items.filter(|item| item.kind_of_type == Some(kind));
    let count = |item: TresItem<'_>| item.value.and_then(|value| leading_number(value.as_bytes())).unwrap_or(0);
    typed.map(count).reduce(|sum, count| sum + count)
}

/// The number of a device on each node in a list such as `NAME:2,NAME:TYPE:4`.
pub fn count_in_gres(list: &[u8], kind: Resource) -> Option<i64> {
    let name = kind.gres()?.as_bytes();
    let items = list.split(|&byte| byte == b',').filter(|item| {
        let mut words = item.split(|byte| matches!(byte, b':' | b'/'));
        words.any(|word| word == name)
    });
    let counts = items.map(|item| item.rsplit(|&byte| byte == b':').next().and_then(leading_number).unwrap_or(1));
    Some(counts.sum()).filter(|&sum| sum > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_counted_once() {
        for kind in Resource::DEVICES {
            let named = |text: &str| text.replace("NAME", kind.gres().unwrap());
            for (text, count) in [
                ("billing=12,cpu=12,gres/NAME:a100=4,gres/NAME=4,node=1", Some(4)),
                ("cpu=12,gres/NAME:a100=4,gres/NAME:v100=1", Some(5)),
                ("gres/NAME=2", Some(2)),
                ("cpu=1,gres/NAMEmem=5", None),
                ("", None),
            ] {
                assert_eq!(count_in(named(text).as_bytes(), kind), count, "{text}");
            }
            for (text, count) in [
                ("NAME:2", Some(2)),
                ("NAME:tesla:3", Some(3)),
                ("gres:NAME:1", Some(1)),
                ("NAME", Some(1)),
                ("craynetwork:1", None),
            ] {
                assert_eq!(count_in_gres(named(text).as_bytes(), kind), count, "{text}");
            }
        }
    }
}
