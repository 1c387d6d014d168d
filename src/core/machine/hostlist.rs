//! Lists of names as Slurm writes them: `n[1-6,8],login,r[1-2]n[01-16]`.

use crate::text::shortened;

/// A list of names that was read but not expanded: it may stand for more names than there is memory for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostList(Vec<Vec<NamePiece>>);

/// A part of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
enum NamePiece {
    Text(String),
    /// What brackets list.
    Ranges(Vec<NumberRange>),
}

/// Numbers with leading zeros: `001-087`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct NumberRange {
    first: u32,
    last: u32,
    /// The digits of the first number. A shorter number has zeros before it.
    width: usize,
}

impl NumberRange {
    fn parse(text: &str) -> Option<NumberRange> {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let range = NumberRange { first: digits(first)?, last: digits(last)?, width: first.len() };
        (range.first <= range.last).then_some(range)
    }

    fn count(self) -> u64 {
        u64::from(self.last - self.first) + 1
    }

    fn written(self, number: u32) -> String {
        format!("{number:0width$}", width = self.width)
    }
}

/// A number of digits alone.
fn digits(text: &str) -> Option<u32> {
    // More zeros than this are in no name, and would make every name of a range as long.
    const MOST: usize = 20;
    (text.len() <= MOST && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok())?
}

impl HostList {
    /// Reads a list. None if it is not one.
    ///
    /// ```
    /// # extern crate shadowtime_core as shadowtime;
    /// use shadowtime::machine::HostList;
    /// assert_eq!(HostList::parse("n[08-10],b1").unwrap().names(), ["n08", "n09", "n10", "b1"]);
    /// assert_eq!(HostList::parse("n[3-1]"), None);
    /// ```
    pub fn parse(list: &str) -> Option<HostList> {
        let mut depth = 0;
        let at_comma = |character: char| {
            depth += i32::from(character == '[') - i32::from(character == ']');
            character == ',' && depth == 0
        };
        list.split(at_comma).map(pieces).collect::<Option<Vec<_>>>().map(HostList)
    }

    /// A list in a configuration.
    pub(super) fn read(list: &str) -> Result<HostList, String> {
        HostList::parse(list).ok_or_else(|| format!("'{}' is no list such as n[1-9]", shortened(list)))
    }

    /// The number of names. The largest number if it is beyond all bounds.
    pub fn count(&self) -> u64 {
        let of_piece = |piece: &NamePiece| match piece {
            NamePiece::Text(_) => 1,
            NamePiece::Ranges(ranges) => ranges.iter().fold(0, |sum: u64, range| sum.saturating_add(range.count())),
        };
        let of_name = |name: &Vec<NamePiece>| name.iter().map(of_piece).fold(1, u64::saturating_mul);
        self.0.iter().map(of_name).fold(0, u64::saturating_add)
    }

    /// All names, in the order of the list. Check [`HostList::count`] first.
    pub fn names(&self) -> Vec<String> {
        self.0.iter().flat_map(|name| expanded(name)).collect()
    }
}

/// The parts of one name: `r[1-2]n[01-16]` has four.
fn pieces(name: &str) -> Option<Vec<NamePiece>> {
    let mut parts = name.split('[');
    let text = |text: &str| NamePiece::Text(text.to_string());
    let begin = parts.next().filter(|begin| !name.is_empty() && !begin.contains(']'))?;
    let mut pieces = vec![text(begin)];
    for part in parts {
        let (ranges, rest) = part.split_once(']').filter(|(_, rest)| !rest.contains(']'))?;
        let ranges = ranges.split(',').map(NumberRange::parse).collect::<Option<_>>()?;
        pieces.extend([NamePiece::Ranges(ranges), text(rest)]);
    }
    Some(pieces)
}

fn expanded(pieces: &[NamePiece]) -> Vec<String> {
    pieces.iter().fold(vec![String::new()], |names, piece| {
        let endings: Vec<String> = match piece {
            NamePiece::Text(text) => vec![text.clone()],
            NamePiece::Ranges(ranges) => {
                ranges.iter().flat_map(|range| (range.first..=range.last).map(|number| range.written(number))).collect()
            }
        };
        let with_endings =
            |name: String| endings.iter().map(move |ending| format!("{name}{ending}")).collect::<Vec<_>>();
        names.into_iter().flat_map(with_endings).collect()
    })
}

/// Writes names as a short list, in their order. [`HostList::parse`] reads it back.
///
/// ```
/// # extern crate shadowtime_core as shadowtime;
/// use shadowtime::machine::joined_names;
/// assert_eq!(joined_names(["n08", "n09", "n10", "n12", "b1"]), "n[08-10,12],b1");
/// ```
pub fn joined_names<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<NameParts> = names.into_iter().map(NameParts::of).collect();
    let groups = names.chunk_by(|a, b| a.number.is_some() && b.number.is_some() && a.around() == b.around());
    groups.map(joined_group).collect::<Vec<_>>().join(",")
}

/// A name around its last number.
struct NameParts<'a> {
    before: &'a str,
    /// None if the name has no number, or too long a one.
    number: Option<NumberRange>,
    after: &'a str,
}

impl NameParts<'_> {
    fn of(name: &str) -> NameParts<'_> {
        let is_digit = |character: char| character.is_ascii_digit();
        let end = name.rfind(is_digit).map_or(0, |at| at + 1);
        let begin = name[..end].trim_end_matches(is_digit).len();
        match NumberRange::parse(&name[begin..end]) {
            Some(number) => NameParts { before: &name[..begin], number: Some(number), after: &name[end..] },
            None => NameParts { before: name, number: None, after: "" },
        }
    }

    fn around(&self) -> (&str, &str) {
        (self.before, self.after)
    }
}

/// Names that differ only in their number.
fn joined_group(group: &[NameParts]) -> String {
    let (before, after) = group[0].around();
    let mut ranges: Vec<NumberRange> = Vec::new();
    for number in group.iter().filter_map(|name| name.number) {
        match ranges.last_mut() {
            Some(range)
                if range.last.checked_add(1) == Some(number.first)
                    && range.written(number.first) == number.written(number.first) =>
            {
                range.last = number.first;
            }
            _ => ranges.push(number),
        }
    }
    let written = |range: &NumberRange| match range.first == range.last {
        true => range.written(range.first),
        false => format!("{}-{}", range.written(range.first), range.written(range.last)),
    };
    let listed = ranges.iter().map(written).collect::<Vec<_>>().join(",");
    let [open, close] = if group.len() == 1 { ["", ""] } else { ["[", "]"] };
    [before, open, &listed, close, after].concat()
}

/// Whether a text can be the name of a node: letters, digits, `-`, `_` and `.`, and no word that means something else in lists.
pub(super) fn is_node_name(name: &str) -> bool {
    let is_word = ["ALL", "DEFAULT"].iter().any(|word| name.eq_ignore_ascii_case(word));
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    !name.is_empty() && !is_word && name.bytes().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &str) -> Vec<String> {
        let list = HostList::parse(list).unwrap();
        let names = list.names();
        assert_eq!(list.count(), names.len() as u64);
        names
    }

    #[test]
    fn lists_are_expanded_as_slurm_expands_them() {
        assert_eq!(names("n[1-3,8],login"), ["n1", "n2", "n3", "n8", "login"]);
        assert_eq!(names("b[01-03]"), ["b01", "b02", "b03"]);
        assert_eq!(names("n[8-11]"), ["n8", "n9", "n10", "n11"]);
        assert_eq!(names("n[098-101]x"), ["n098x", "n099x", "n100x", "n101x"]);
        assert_eq!(names("r[1-2]n[01-02]"), ["r1n01", "r1n02", "r2n01", "r2n02"]);
        assert_eq!(names("[1-2]"), ["1", "2"]);
        for wrong in
            ["", "a,", ",a", "n[", "n[1", "n]1[", "n[1]]", "n[[1]]", "n[]", "n[1,]", "n[-1]", "n[1-]", "n[2-1]"]
        {
            assert_eq!(HostList::parse(wrong), None, "{wrong}");
        }
        for wrong in ["n[a-b]", "n[+1-3]", "n[1-4294967296]", "n[1-2-3]", "n[000000000000000000001]"] {
            assert_eq!(HostList::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn long_lists_are_counted_and_not_expanded() {
        assert_eq!(HostList::parse("n[0-4294967295]").unwrap().count(), 1 << 32);
        assert_eq!(HostList::parse(&"n[0-4294967295]".repeat(9)).unwrap().count(), u64::MAX);
        assert_eq!(HostList::parse("n[1-2,1-4294967295],x").unwrap().count(), (1 << 32) + 2);
    }

    #[test]
    fn joined_names_are_read_back() {
        for (list, joined) in [
            ("n1,n2,n3,n8,login,b1", "n[1-3,8],login,b1"),
            ("n[8-11]", "n[8-11]"),
            ("n[08-11],n12,n013", "n[08-12,013]"),
            ("n1,n01,n2", "n[1,01,2]"),
            ("r[1-2]n[01-02],r1x", "r1n[01-02],r2n[01-02],r1x"),
            ("a99999999999,a99999999998", "a99999999999,a99999999998"),
            ("n4294967295", "n4294967295"),
        ] {
            let names = names(list);
            let short = joined_names(names.iter().map(String::as_str));
            assert_eq!(short, joined);
            assert_eq!(HostList::parse(&short).unwrap().names(), names);
        }
    }
}
