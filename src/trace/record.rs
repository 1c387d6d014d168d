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
        let number = number::parse(&line[from..at]).map_err(|error| {
            let kind = match error {
                NumberError::NotANumber => FaultKind::NotANumber { field: count },
                NumberError::OutOfRange => FaultKind::OutOfRange { field: count },
            };
            FaultAt { kind, offset: from }
        })?;
        fields[count - 1] = match (number.rounded, number.sign) {
            (0, -1) => -1,
            (0, 1) if matches!(count, 5 | 8 | 9) => 1,
            (rounded, _) => rounded,
        };
    }
    if count < 18 {
        let end = line.iter().rposition(|&b| !is_blank(b)).map_or(0, |last| last + 1);
        return Err(FaultAt { kind: FaultKind::FieldCount { found: count }, offset: end });
    }
    Ok(fields)
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
            value if value.abs() <= FOREVER => Ok(value),
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
}
