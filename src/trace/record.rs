//! One data line of an SWF log: 18 numbers, of which a record keeps those that a simulation can use.

use super::error::FaultKind;
use super::number::{self, NumberError};
use crate::time::FOREVER;

/// The 18 numbers of a line, rounded. A negative value that rounds to 0 is kept as -1, and a positive number of
/// processors or of requested seconds that rounds to 0 as 1: signs are those of the values as written.
pub type Fields = [i64; 18];

/// The value of a field that is not known.
pub const UNKNOWN: i64 = -1;

/// What a log says of one job, nothing judged yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    pub number: i64,
    pub submit: i64,
    pub wait: i64,
    pub runtime: i64,
    pub estimate: i64,
    pub allocated: i32,
    pub requested: i32,
    pub user: i32,
    pub group: i32,
    pub executable: i32,
    pub queue: i32,
    pub partition: i32,
}

/// A fault and the byte of the line where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultAt {
    pub kind: FaultKind,
    pub offset: usize,
}

/// Reads the fields of a data line.
pub fn parse_fields(line: &[u8]) -> Result<Fields, FaultAt> {
    let mut fields = [UNKNOWN; 18];
    let (mut count, mut at) = (0, 0);
    loop {
        while at < line.len() && is_blank(line[at]) {
            at += 1;
        }
        if at == line.len() {
            break;
        }
        let from = at;
        while at < line.len() && !is_blank(line[at]) {
            at += 1;
        }
        if count == 18 {
            let found = 18 + line[from..].split(|&b| is_blank(b)).filter(|field| !field.is_empty()).count();
            return Err(FaultAt { kind: FaultKind::FieldCount { found }, offset: from });
        }
        count += 1;
        fields[count - 1] = field_value(count, &line[from..at]).map_err(|error| {
            let kind = match error {
                NumberError::NotANumber => FaultKind::NotANumber { field: count },
                NumberError::OutOfRange => FaultKind::OutOfRange { field: count },
            };
            FaultAt { kind, offset: from }
        })?;
    }
    if count < 18 {
        let end = line.iter().rposition(|&b| !is_blank(b)).map_or(0, |last| last + 1);
        return Err(FaultAt { kind: FaultKind::FieldCount { found: count }, offset: end });
    }
    Ok(fields)
}

/// The value of a field, counted from 1.
fn field_value(field: usize, text: &[u8]) -> Result<i64, NumberError> {
    let number = number::parse(text)?;
    Ok(match (number.rounded, number.sign) {
        (0, -1) => -1,
        (0, 1) if matches!(field, 5 | 8 | 9) => 1,
        (rounded, _) => rounded,
    })
}

/// The longest line that [`parse_quickly`] takes; the lines of archive logs have some 90 bytes, and at most 97.
const QUICK_LINE: usize = 111;

/// The bytes in which it finds the next field: it begins within 64, and eight digits may follow a sign.
const NEAR: usize = 64 + 1 + number::MOST_DIGITS;

/// The bytes that it looks at, of the line and of what follows it.
pub const QUICK_WINDOW: usize = QUICK_LINE + 1 + NEAR;

/// Reads the fields of an ordinary data line, much faster than [`parse_fields`]: `bytes` are the line, of this length,
/// and whatever follows it. False says nothing but that the line is not ordinary, and leaves anything in `fields`;
/// where it is true they are those of [`parse_fields`].
#[inline]
pub fn parse_quickly(bytes: &[u8], length: usize, fields: &mut Fields) -> bool {
    let Some(window) = bytes.first_chunk() else { return false };
    length <= QUICK_LINE && parse_window(window, length, fields).is_some()
}

// Not a part of its caller, where the compiler would run out of registers.
#[inline(never)]
fn parse_window(window: &[u8; QUICK_WINDOW], length: usize, fields: &mut Fields) -> Option<()> {
    let mut places = Places::new(window, length);
    for (at, value) in fields.iter_mut().enumerate() {
        let (near, from, to) = places.next()?;
        // What is not known makes up half of a line, and mostly the same fields of every line.
        if to - from == 2 && near[from..].starts_with(b"-1") {
            *value = -1;
            continue;
        }
        let negative = near[from] == b'-';
        let first_digit = from + usize::from(negative);
        let digits = *near[first_digit..].first_chunk()?;
        *value = match number::parse_digits(digits, to - first_digit) {
            Some(magnitude) if negative => -(magnitude as i64),
            Some(magnitude) => magnitude as i64,
            None => field_value(at + 1, &near[from..to]).ok()?,
        };
    }
    (places.edges == 0).then_some(())
}

/// Where the fields of a line begin and end.
struct Places<'a> {
    /// What is left of the line, and what follows it.
    rest: &'a [u8],
    /// The beginning of that, in a size that the compiler knows: it need not check any index.
    near: &'a [u8; NEAR],
    /// One bit for each byte of the rest, from the lowest on: whether a field begins there, or has just ended.
    edges: u128,
}

impl<'a> Places<'a> {
    #[inline]
    fn new(window: &'a [u8; QUICK_WINDOW], length: usize) -> Places<'a> {
        // The line's end and all behind it count as blank, and so does what is before the line.
        let blanks = blanks(window) | u128::MAX << length;
        Places { rest: window, near: window.first_chunk().unwrap(), edges: blanks ^ (blanks << 1 | 1) }
    }

    /// Bytes of the line, and of these the first of the next field and the first behind it.
    #[inline]
    fn next(&mut self) -> Option<(&'a [u8; NEAR], usize, usize)> {
        loop {
            // Half of the bits are handled faster than all, and mostly they will do.
            let from = self.edges as u64;
            let to = without_lowest(from);
            if to != 0 {
                self.edges = self.edges >> 64 << 64 | u128::from(without_lowest(to));
                return Some((self.near, from.trailing_zeros() as usize, to.trailing_zeros() as usize));
            }
            self.move_to_field()?;
        }
    }

    /// Moves on to where the next field begins; `None` if there is none, or if it is longer than any number.
    fn move_to_field(&mut self) -> Option<()> {
        let distance = self.edges.trailing_zeros();
        self.edges = self.edges.checked_shr(distance)?;
        self.rest = self.rest.get(distance as usize..)?;
        self.near = self.rest.first_chunk()?;
        (without_lowest(self.edges as u64) != 0).then_some(())
    }
}

fn without_lowest(bits: u64) -> u64 {
    bits & bits.wrapping_sub(1)
}

/// Which bytes where a line and its end may be are blank (or line ends), one bit a byte, from the lowest on.
#[inline]
fn blanks(window: &[u8; QUICK_WINDOW]) -> u128 {
    let mut flags = [0; QUICK_LINE + 1];
    // The compiler compares 16 bytes at once if nothing here is a branch: hence not `is_blank`.
    for (flag, &byte) in flags.iter_mut().zip(window) {
        *flag = u8::from((byte == b' ') | (b'\t'..=b'\r').contains(&byte));
    }
    let mut bits = 0;
    for (at, &eight) in flags.as_chunks().0.iter().enumerate() {
        // The product has the lowest bits of the eight bytes side by side in its top byte.
        let eight = u64::from_le_bytes(eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        bits |= u128::from(eight) << (8 * at);
    }
    bits
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\x0b' | b'\x0c')
}

/// Whether a line has nothing but blanks.
pub fn is_blank_line(line: &[u8]) -> bool {
    line.iter().all(|&b| is_blank(b))
}

impl Record {
    /// Picks the fields of a record. Times beyond [`FOREVER`] and names and sizes beyond 31 bits are out of range;
    /// the error is the number of the field, counted from 1.
    pub fn from_fields(fields: &Fields) -> Result<Record, usize> {
        let time = |field: usize| match fields[field - 1] {
            value if (-FOREVER..=FOREVER).contains(&value) => Ok(value),
            _ => Err(field),
        };
        let small = |field: usize| i32::try_from(fields[field - 1]).map_err(|_| field);
        Ok(Record {
            number: fields[0],
            submit: time(2)?,
            wait: time(3)?,
            runtime: time(4)?,
            allocated: small(5)?,
            requested: small(8)?,
            estimate: time(9)?,
            user: small(12)?,
            group: small(13)?,
            executable: small(14)?,
            queue: small(15)?,
            partition: small(16)?,
        })
    }
}

/// The byte at which a field (counted from 1) of a well-formed line begins.
pub fn field_offset(line: &[u8], field: usize) -> usize {
    let mut starts = (0..line.len()).filter(|&at| !is_blank(line[at]) && (at == 0 || is_blank(line[at - 1])));
    starts.nth(field - 1).unwrap_or(0)
}

/// The fields of a well-formed line as they are written.
pub fn field_texts(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|&b| is_blank(b)).filter(|field| !field.is_empty())
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::option;
    use proptest::prelude::*;
    use proptest::sample::Index;

    use super::*;

    const LINE: &[u8] = b"  272 0.4 -1 10.5\t0.2 142.00 -1 -1 -0.2 -1 1 97 -1 307 3 -1 -1 -1 \r";

    #[test]
    fn decimals_tabs_and_carriage_returns() {
        let fields = parse_fields(LINE).unwrap();
        assert_eq!(fields, [272, 0, -1, 11, 1, 142, -1, -1, -1, -1, 1, 97, -1, 307, 3, -1, -1, -1]);
        let record = Record::from_fields(&fields).unwrap();
        assert_eq!((record.submit, record.runtime, record.allocated, record.estimate), (0, 11, 1, -1));
        assert_eq!((record.user, record.group, record.executable, record.queue), (97, -1, 307, 3));
    }

    #[test]
    fn faults_name_the_place() {
        let fault = |line: &[u8]| parse_fields(line).unwrap_err();
        assert_eq!(fault(b"1 2  3 "), FaultAt { kind: FaultKind::FieldCount { found: 3 }, offset: 6 });
        let nineteen = [LINE, b" 7 8"].concat();
        assert_eq!(fault(&nineteen).kind, FaultKind::FieldCount { found: 20 });
        assert_eq!(&nineteen[fault(&nineteen).offset..], b"7 8");
        assert_eq!(fault(b"1 x 3"), FaultAt { kind: FaultKind::NotANumber { field: 2 }, offset: 2 });
        let mut fields = parse_fields(LINE).unwrap();
        fields[11] = 1 << 31;
        assert_eq!(Record::from_fields(&fields), Err(12));
        fields[8] = FOREVER + 1;
        assert_eq!(Record::from_fields(&fields), Err(9));
        assert_eq!(&LINE[field_offset(LINE, 14)..field_offset(LINE, 15)], b"307 ");
    }

    /// What the quick way says of a line with these bytes behind its end.
    fn quickly(line: &[u8], behind: &[u8]) -> Option<Fields> {
        let mut bytes = [line, b"\n", behind].concat();
        bytes.resize(bytes.len().max(QUICK_WINDOW), b'7');
        let mut fields = [0; 18];
        parse_quickly(&bytes, line.len(), &mut fields).then_some(fields)
    }

    fn joined(fields: &[String], blanks: &[String]) -> Vec<u8> {
        // The first blanks may be none, those between fields not.
        let mut line = blanks[0].clone();
        for (field, blank) in fields.iter().zip(&blanks[1..]) {
            line.push_str(field);
            line.push_str(blank);
        }
        line.into_bytes()
    }

    #[test]
    fn the_quick_way_takes_ordinary_lines_and_no_others() {
        assert_eq!(quickly(LINE, b""), Some(parse_fields(LINE).unwrap()));
        let ordinary = b"10 430730 31 10770 256 5343.07 -1 256 28800 -1 1 95 -1 -1 4 -1 -1 12345678".as_slice();
        assert_eq!(quickly(ordinary, b" 1 2 3"), Some(parse_fields(ordinary).unwrap()));
        let longest = [ordinary, &[b' '].repeat(QUICK_LINE - ordinary.len())].concat();
        assert_eq!(quickly(&longest, b"5"), Some(parse_fields(ordinary).unwrap()));
        let seventeen = ordinary[3..].to_vec();
        let nineteen = [b"0 ", ordinary].concat();
        let nul = [&ordinary[..2], b"\0", &ordinary[3..]].concat();
        let too_long = [&longest, b" ".as_slice()].concat();
        for line in [b"".to_vec(), b" ".to_vec(), b"; 1 2 3".to_vec(), seventeen, nineteen, nul, too_long] {
            assert_eq!(quickly(&line, b" 1 2 3"), None, "{}", line.escape_ascii());
        }
        // Too near the end of what there is.
        assert!(!parse_quickly(ordinary, ordinary.len(), &mut [0; 18]));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn whole_numbers_go_the_quick_way(
            fields in vec("-?[0-9]{1,3}|[0-9]{1,8}|-1|-[0-9]{8}", 18),
            blanks in vec("[ \t]|[ \t\r\x0b\x0c]{1,2}", 19),
        ) {
            let line = joined(&fields, &blanks);
            let expected = (line.len() <= QUICK_LINE).then(|| parse_fields(&line).unwrap());
            prop_assert_eq!(quickly(&line, b"-1 2"), expected);
        }

        #[test]
        fn the_quick_way_and_the_careful_one_agree(
            mut fields in vec("-?[0-9]{1,3}|-?[0-9]{7,9}|[-+]?[0-9]{0,3}[.][0-9]{1,3}|[0-9]e[0-9]|-1", 17..20),
            odd in vec((any::<Index>(), "[-+.e0-9]{0,4}|[0-9]{17,20}|-?0[.]?0*"), 0..3),
            blanks in vec("[ \t]|[ \t\r\x0b\x0c]{1,2}", 20),
            garbage in option::weighted(0.2, (any::<Index>(), any::<u8>().prop_filter("a line end", |&b| b != b'\n'))),
            behind in vec(any::<u8>(), 0..200),
        ) {
            for (at, text) in odd {
                let at = at.index(fields.len());
                fields[at] = text;
            }
            let mut line = joined(&fields, &blanks);
            if let Some((at, byte)) = garbage {
                let at = at.index(line.len());
                line[at] = byte;
            }
            if let Some(fields) = quickly(&line, &behind) {
                prop_assert_eq!(Ok(fields), parse_fields(&line));
            }
        }
    }
}
