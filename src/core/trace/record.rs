//! One data line of an SWF log: 18 numbers. A record keeps those that a simulation can use.

use super::error::FaultKind;
use super::number::{self, NumberError};
use super::rows::Bad;
use super::wide::WideNumbers;
use crate::time::FOREVER;

/// The 18 numbers of a line, rounded. To keep the signs of the values as written, a negative value that rounds to 0 becomes
/// -1, and a positive number of processors or of requested seconds that rounds to 0 becomes 1.
pub type Fields = [i64; 18];

/// The value of a field that is not known.
pub const UNKNOWN: i64 = -1;

/// One job as written in a log, before cleaning. Unknown values are negative, usually -1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Record {
    /// The job number in the log (field 1).
    pub number: i64,
    /// The submit time in seconds (field 2).
    pub submit: i64,
    /// The recorded wait in seconds (field 3).
    pub wait: i64,
    /// The runtime in seconds (field 4).
    pub runtime: i64,
    /// The requested time in seconds, the user's estimate (field 9).
    pub estimate: i64,
    /// The processors that were allocated (field 5).
    pub allocated: i32,
    /// The processors that were requested (field 8).
    pub requested: i32,
    /// The user's number (field 12) as a [`WideNumbers::code`].
    pub user: i32,
    /// The group's number (field 13) as a [`WideNumbers::code`].
    pub group: i32,
    /// The executable's number (field 14) as a [`WideNumbers::code`].
    pub executable: i32,
    /// The queue's number (field 15) as a [`WideNumbers::code`].
    pub queue: i32,
    /// The partition's number (field 16) as a [`WideNumbers::code`].
    pub partition: i32,
    /// How the job ended (field 11): 1 is completed, 0 failed, 5 cancelled. A number that does not fit is unknown.
    pub status: i32,
}

/// The status of a job that failed.
pub const FAILED: i32 = 0;

/// The status of a job that was cancelled, before it started or while it ran.
pub const CANCELLED: i32 = 5;

/// Reads the fields of a data line. Fields after the 18th may hold anything and are ignored; also returns whether there are any.
pub fn parse_fields(line: &[u8]) -> Result<(Fields, bool), Bad<'_>> {
    let mut fields = [UNKNOWN; 18];
    let mut texts = field_texts(line);
    for (at, value) in fields.iter_mut().enumerate() {
        let Some(text) = texts.next() else {
            let end = line.iter().rposition(|&b| !is_blank(b)).map_or(0, |last| last + 1);
            return Err(Bad { kind: FaultKind::FieldCount { found: at }, at: &line[end..end] });
        };
        *value = field_value(at + 1, text).map_err(|error| {
            let wrong = match error {
                NumberError::NotANumber => FaultKind::NOT_A_NUMBER,
                NumberError::OutOfRange => FaultKind::TOO_LARGE,
            };
            Bad { kind: FaultKind::Field { field: at + 1, wrong }, at: text }
        })?;
    }
    Ok((fields, texts.next().is_some()))
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

/// The longest line that [`parse_quickly`] can read, in bytes. Lines of archive logs have about 90 bytes, at most 97.
const QUICK_LINE: usize = 111;

/// The bytes in which [`parse_quickly`] finds the next field: it begins within 64 bytes, and has up to 8 digits.
const NEAR: usize = 64 + number::MOST_DIGITS;

/// The bytes that [`parse_quickly`] reads, of the line and after it.
pub const QUICK_WINDOW: usize = QUICK_LINE + 1 + NEAR;

/// Reads the fields of an ordinary data line, much faster than [`parse_fields`]. `bytes` are the line, of this length, and
/// the bytes after it. If it returns true, the fields are those of [`parse_fields`]. If it returns false, the line is not
/// ordinary, which need not be a fault, and the contents of `fields` are undefined.
#[inline]
pub fn parse_quickly(bytes: &[u8], length: usize, fields: &mut Fields) -> bool {
    let Some(window) = bytes.first_chunk() else { return false };
    length <= QUICK_LINE && parse_window(window, length, fields).is_some()
}

// Not inlined, because the compiler would run out of registers in the caller.
#[inline(never)]
fn parse_window(window: &[u8; QUICK_WINDOW], length: usize, fields: &mut Fields) -> Option<()> {
    let mut places = Places::new(window, length);
    for (at, value) in fields.iter_mut().enumerate() {
        let (near, from, to) = places.next()?;
        let text = *near[from..].first_chunk()?;
        // Half of the fields of a line are unknown, mostly the same ones in every line. Other negative numbers are rare.
        if to - from == 2 && text[..2] == *b"-1" {
            *value = -1;
            continue;
        }
        *value = match number::parse_digits(text, to - from) {
            Some(number) => number as i64,
            None => field_value(at + 1, &near[from..to]).ok()?,
        };
    }
    (places.edges == 0).then_some(())
}

/// Where the fields of a line begin and end.
struct Places<'a> {
    /// The rest of the line, and the bytes after it.
    rest: &'a [u8],
    /// The beginning of `rest`. Its size is constant, so that the compiler needs no bounds checks.
    near: &'a [u8; NEAR],
    /// One bit for each byte of the rest, from the lowest bit on: whether a field begins there, or has ended just before.
    edges: u128,
}

impl<'a> Places<'a> {
    #[inline]
    fn new(window: &'a [u8; QUICK_WINDOW], length: usize) -> Places<'a> {
        // The line end, the bytes after it and the byte before the line count as blank.
        let blanks = blanks(window) | u128::MAX << length;
        Places { rest: window, near: window.first_chunk().unwrap(), edges: blanks ^ (blanks << 1 | 1) }
    }

    /// Bytes of the line, and in these the index of the next field and of the byte after it.
    #[inline]
    fn next(&mut self) -> Option<(&'a [u8; NEAR], usize, usize)> {
        loop {
            // Using only half of the bits is faster, and usually enough.
            let from = self.edges as u64;
            let to = without_lowest(from);
            if to != 0 {
                self.edges = self.edges >> 64 << 64 | u128::from(without_lowest(to));
                return Some((self.near, from.trailing_zeros() as usize, to.trailing_zeros() as usize));
            }
            self.move_to_field()?;
        }
    }

    /// Moves to the beginning of the next field. None if there is none, or if it is longer than any number.
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

/// Which of the first bytes are blanks or line ends, one bit per byte, from the lowest bit on.
#[inline]
fn blanks(window: &[u8; QUICK_WINDOW]) -> u128 {
    let mut flags = [0; QUICK_LINE + 1];
    // The compiler vectorizes this loop only if it has no branch, so it does not call `is_blank`.
    for (flag, &byte) in flags.iter_mut().zip(window) {
        *flag = u8::from((byte == b' ') | (b'\t'..=b'\r').contains(&byte));
    }
    let mut bits = 0;
    for (at, &eight) in flags.as_chunks().0.iter().enumerate() {
        // The top byte of the product contains the lowest bits of the eight bytes.
        let eight = u64::from_le_bytes(eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        bits |= u128::from(eight) << (8 * at);
    }
    bits
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\x0b' | b'\x0c')
}

/// Whether a line has only blanks.
pub fn is_blank_line(line: &[u8]) -> bool {
    line.iter().all(|&b| is_blank(b))
}

impl Record {
    /// Makes a record from fields. Users, groups, executables, queues and partitions are stored as their codes.
    ///
    /// # Errors
    /// The number of the first field, counted from 1, that is out of range: a time above [`FOREVER`], or a number of
    /// processors that does not fit into 32 bits.
    #[inline]
    pub fn from_fields(fields: &Fields, wide: &mut WideNumbers) -> Result<Record, usize> {
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
            user: wide.code(fields[11]),
            group: wide.code(fields[12]),
            executable: wide.code(fields[13]),
            queue: wide.code(fields[14]),
            partition: wide.code(fields[15]),
            status: small(11).unwrap_or(UNKNOWN as i32),
        })
    }

    /// Whether the job failed or was cancelled. A job of unknown status has not.
    pub fn has_failed(&self) -> bool {
        matches!(self.status, FAILED | CANCELLED)
    }

    /// The 18 fields of the record. What a record does not keep is unknown: -1.
    pub fn to_fields(&self, wide: &WideNumbers) -> Fields {
        let mut fields = [UNKNOWN; 18];
        (fields[0], fields[1], fields[2], fields[3]) = (self.number, self.submit, self.wait, self.runtime);
        (fields[4], fields[7], fields[8]) = (i64::from(self.allocated), i64::from(self.requested), self.estimate);
        fields[10] = i64::from(self.status);
        let codes = [self.user, self.group, self.executable, self.queue, self.partition];
        fields[11..16].copy_from_slice(&codes.map(|code| wide.number(code)));
        fields
    }
}

/// The texts of the fields of a well-formed line.
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
    use crate::rng::random_cases;

    const LINE: &[u8] = b"  272 0.4 -1 10.5\t0.2 142.00 -1 -1 -0.2 -1 1 97 -1 307 3 -1 -1 -1 \r";

    #[test]
    fn decimals_tabs_and_carriage_returns() {
        let (fields, extra) = parse_fields(LINE).unwrap();
        assert!(!extra);
        assert_eq!(fields, [272, 0, -1, 11, 1, 142, -1, -1, -1, -1, 1, 97, -1, 307, 3, -1, -1, -1]);
        let record = Record::from_fields(&fields, &mut WideNumbers::default()).unwrap();
        assert_eq!((record.submit, record.runtime, record.allocated, record.estimate), (0, 11, 1, -1));
        assert_eq!((record.user, record.group, record.executable, record.queue), (97, -1, 307, 3));
    }

    #[test]
    fn faults_name_the_place() {
        let fault = |line: &'static [u8]| parse_fields(line).unwrap_err();
        assert_eq!(fault(b"1 2  3 "), Bad { kind: FaultKind::FieldCount { found: 3 }, at: b"" });
        let more = [LINE, b" 7 {a,b} \xff"].concat();
        assert_eq!(parse_fields(&more), Ok((parse_fields(LINE).unwrap().0, true)));
        let kind = FaultKind::Field { field: 2, wrong: FaultKind::NOT_A_NUMBER };
        assert_eq!(fault(b"1 x 3"), Bad { kind, at: b"x" });
        let (mut fields, _) = parse_fields(LINE).unwrap();
        let mut wide = WideNumbers::default();
        (fields[11], fields[12]) = (1 << 40, -5);
        let record = Record::from_fields(&fields, &mut wide).unwrap();
        assert_eq!((record.group, wide.number(record.user), wide.number(record.group)), (-1, 1 << 40, -1));
        let again = record.to_fields(&wide);
        assert_eq!((again[11], again[12], again[1..5].to_vec()), (1 << 40, -1, fields[1..5].to_vec()));
        fields[4] = 1 << 31;
        assert_eq!(Record::from_fields(&fields, &mut wide), Err(5));
        fields[3] = FOREVER + 1;
        assert_eq!(Record::from_fields(&fields, &mut wide), Err(4));
    }

    /// The result of `parse_quickly` for a line with these bytes after its end.
    fn quickly(line: &[u8], behind: &[u8]) -> Option<Fields> {
        let mut bytes = [line, b"\n", behind].concat();
        bytes.resize(bytes.len().max(QUICK_WINDOW), b'7');
        let mut fields = [0; 18];
        parse_quickly(&bytes, line.len(), &mut fields).then_some(fields)
    }

    fn joined(fields: &[String], blanks: &[String]) -> Vec<u8> {
        // There may be no blank before the first field, but there must be one between fields.
        let mut line = blanks[0].clone();
        for (field, blank) in fields.iter().zip(&blanks[1..]) {
            line.push_str(field);
            line.push_str(blank);
        }
        line.into_bytes()
    }

    #[test]
    fn the_quick_way_takes_ordinary_lines_and_no_others() {
        assert_eq!(quickly(LINE, b""), Some(parse_fields(LINE).unwrap().0));
        let ordinary = b"10 430730 31 10770 256 5343.07 -1 256 28800 -1 1 95 -1 -1 4 -1 -1 12345678".as_slice();
        assert_eq!(quickly(ordinary, b" 1 2 3"), Some(parse_fields(ordinary).unwrap().0));
        let longest = [ordinary, &[b' '].repeat(QUICK_LINE - ordinary.len())].concat();
        assert_eq!(quickly(&longest, b"5"), Some(parse_fields(ordinary).unwrap().0));
        let seventeen = ordinary[3..].to_vec();
        let nineteen = [b"0 ", ordinary].concat();
        let nul = [&ordinary[..2], b"\0", &ordinary[3..]].concat();
        let too_long = [&longest, b" ".as_slice()].concat();
        for line in [b"".to_vec(), b" ".to_vec(), b"; 1 2 3".to_vec(), seventeen, nineteen, nul, too_long] {
            assert_eq!(quickly(&line, b" 1 2 3"), None, "{}", line.escape_ascii());
        }
        // Too few bytes after the line.
        assert!(!parse_quickly(ordinary, ordinary.len(), &mut [0; 18]));
    }

    proptest! {
        #![proptest_config(random_cases(512))]

        #[test]
        fn whole_numbers_go_the_quick_way(
            fields in vec("-?[0-9]{1,3}|[0-9]{1,8}|-1|-[0-9]{8}", 18),
            blanks in vec("[ \t]|[ \t\r\x0b\x0c]{1,2}", 19),
        ) {
            let line = joined(&fields, &blanks);
            let expected = (line.len() <= QUICK_LINE).then(|| parse_fields(&line).unwrap().0);
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
                prop_assert_eq!(Ok((fields, false)), parse_fields(&line));
            }
        }
    }
}
