//! Ids of jobs, and the tasks of an array that waits: `12_[1-5,7%2]`.

use std::borrow::Cow;

/// The id of a job of Slurm, or of the waiting tasks of an array.
#[derive(Debug, PartialEq, Eq)]
pub enum SlurmId<'a> {
    /// `123`, `123_4` or `123+0`.
    One(Cow<'a, str>),
    /// The number of an array, and those of its tasks that the row describes.
    Array(Cow<'a, str>, SlurmTasks),
}

impl<'a> SlurmId<'a> {
    /// Reads the id that `squeue` prints. None if it is not one.
    pub fn parse(text: &'a [u8]) -> Option<SlurmId<'a>> {
        let text = std::str::from_utf8(text).ok()?;
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = text.split_at(digits);
        if digits == 0 || digits > 20 {
            return None;
        }
        let is_number = |text: &str| !text.is_empty() && text.len() <= 20 && text.bytes().all(|b| b.is_ascii_digit());
        if let Some(tasks) = rest.strip_prefix("_[") {
            // `squeue` has 31 characters for the id: a longer one has no end.
            let tasks = match tasks.strip_suffix(']') {
                Some(tasks) => SlurmTasks::parse(tasks, true)?,
                None => SlurmTasks::parse(tasks, false)?,
            };
            return Some(SlurmId::Array(number.into(), tasks));
        }
        let is_one = rest.is_empty() || rest.strip_prefix(['_', '+']).is_some_and(is_number);
        is_one.then_some(SlurmId::One(text.into()))
    }
}

/// Numbers of tasks.
#[derive(Debug, PartialEq, Eq)]
pub struct SlurmTasks {
    ranges: Vec<TaskRange>,
    /// There are more tasks, which are not listed.
    pub cut: bool,
}

#[derive(Debug, PartialEq, Eq)]
struct TaskRange {
    first: u32,
    last: u32,
    step: u32,
}

impl SlurmTasks {
    /// Reads a list such as `1-5,7%2` or `0-90:10`. Slurm shortens a long one: to `1,3,...`, or it just ends and is not `closed`.
    /// None if it is not such a list.
    pub fn parse(text: &str, closed: bool) -> Option<SlurmTasks> {
        // How many tasks may run at once is written behind the list.
        let (list, is_whole) = match text.split_once('%') {
            Some((list, _)) => (list, true),
            None => (text, closed),
        };
        let mut tasks = SlurmTasks { ranges: Vec::new(), cut: !is_whole };
        let mut parts = list.split(',').peekable();
        while let Some(part) = parts.next() {
            let is_last = parts.peek().is_none();
            if is_last && !is_whole {
                // The last number may lack digits.
                break;
            }
            if is_last && part == "..." {
                tasks.cut = true;
                break;
            }
            let (ends, step) = part.split_once(':').map_or((part, "1"), |(ends, step)| (ends, step));
            let (first, last) = ends.split_once('-').unwrap_or((ends, ends));
            let range = TaskRange { first: first.parse().ok()?, last: last.parse().ok()?, step: step.parse().ok()? };
            if range.first > range.last || range.step == 0 {
                return None;
            }
            tasks.ranges.push(range);
        }
        Some(tasks)
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.ranges.iter().map(|range| u64::from((range.last - range.first) / range.step) + 1).sum()
    }

    /// Their numbers, in the order of the list.
    pub fn numbers(&self) -> impl Iterator<Item = u32> {
        self.ranges.iter().flat_map(|range| (range.first..=range.last).step_by(range.step as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_tasks() {
        for (text, closed, numbers, cut) in [
            ("1-5,7%2", true, &[1, 2, 3, 4, 5, 7][..], false),
            ("0,3,6", true, &[0, 3, 6], false),
            ("4-16:4", true, &[4, 8, 12, 16], false),
            ("4-15:4,20", true, &[4, 8, 12, 20], false),
            ("6-7,15,...", true, &[6, 7, 15], true),
            // Cut within 18 or 180, within a range, behind a comma, behind the list.
            ("6-7,15,18", false, &[6, 7, 15], true),
            ("6-7,15-", false, &[6, 7], true),
            ("6-7,", false, &[6, 7], true),
            ("6-7%1", false, &[6, 7], false),
            ("6", false, &[], true),
        ] {
            let tasks = SlurmTasks::parse(text, closed).unwrap();
            assert_eq!((tasks.numbers().collect::<Vec<_>>(), tasks.cut), (numbers.to_vec(), cut), "{text}");
            assert_eq!(tasks.count(), numbers.len() as u64, "{text}");
        }
        for text in ["", "a", "5-1", "1-5:0", "1,,2", "1,...,2", "-3", "4294967296"] {
            assert_eq!(SlurmTasks::parse(text, true), None, "{text}");
        }
        assert_eq!(SlurmTasks::parse("0-4294967295", true).unwrap().count(), 1 << 32);
    }

    #[test]
    fn ids_of_jobs() {
        for text in ["123", "123_4", "123+0", "18446744073709551615"] {
            assert_eq!(SlurmId::parse(text.as_bytes()), Some(SlurmId::One(text.into())));
        }
        let tasks = SlurmTasks::parse("1-3", true).unwrap();
        assert_eq!(SlurmId::parse(b"12_[1-3%1]"), Some(SlurmId::Array("12".into(), tasks)));
        assert!(matches!(SlurmId::parse(b"24_[6-7,15,18,21"), Some(SlurmId::Array(_, SlurmTasks { cut: true, .. }))));
        for text in [&b""[..], b"x", b"_3", b"12_", b"12+", b"12.batch", b"12_[x]", b"12_3_4", b"12 ", b"12_\xff"] {
            assert_eq!(SlurmId::parse(text), None, "{}", text.escape_ascii());
        }
    }
}
