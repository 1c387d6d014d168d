//! The Standard Workload Format.

use super::FormatEntry;
use crate::trace::error::{FaultKind, TraceError};
use crate::trace::feedback::Preceding;
use crate::trace::lines::{RawLines, after_returns};
use crate::trace::number;
use crate::trace::record::{Fields, Record, UNKNOWN, field_texts, is_blank_line, parse_fields, parse_quickly};
use crate::trace::requests::asked_by_wide_fields;
use crate::trace::rows::{Bad, Collector, RowCause};

pub const FORMAT: FormatEntry = FormatEntry {
    name: "swf",
    about: "the Standard Workload Format",
    // A log that was cut at a moment is a history and a queue in one.
    has_present: true,
    is_line,
    read,
    ..FormatEntry::ACCOUNTING
};

/// Whether a line is a comment or begins with a number and a blank.
fn is_line(line: &[u8]) -> bool {
    let first = field_texts(line).next().unwrap_or(b"");
    first.first() == Some(&b';') || number::parse(first).is_ok()
}

fn read(raw: &mut RawLines, collector: &mut Collector<'_>) -> Result<(), TraceError> {
    let mut fields = [UNKNOWN; 18];
    while let Some(place) = raw.cut()? {
        let text = &raw.buffer()[place.clone()];
        if parse_quickly(&raw.buffer()[place.start..], text.len(), &mut fields)
            && let Ok(record) = Record::from_fields(&fields, &mut collector.log.wide)
        {
            if fields[REQUESTED_MEMORY] > 0 {
                add_memory(&fields, collector);
            }
            if fields[PRECEDING_JOB] >= 0 {
                add_preceding(&fields, collector);
            }
            collector.record(raw.number(), text, &fields, record);
        } else if let Err(bad) = read_carefully(text, raw.number(), collector) {
            collector.bad_row(raw.number(), text, &bad)?;
        }
    }
    Ok(())
}

/// The place of the requested memory. Records without it, and without wider fields, say nothing but a number of processors.
const REQUESTED_MEMORY: usize = 9;

/// The place of the number of the preceding job.
const PRECEDING_JOB: usize = 16;

/// Adds the preceding job of the record that comes next.
// Not inlined, because most logs have no such record.
#[inline(never)]
fn add_preceding(fields: &Fields, collector: &mut Collector<'_>) {
    let preceding = Preceding::of_fields(collector.log.records.len(), fields);
    collector.log.preceding.extend(preceding);
}

/// Adds the request of the record that comes next, which asks for memory.
// Not inlined, because most logs have no such record.
#[inline(never)]
fn add_memory(fields: &Fields, collector: &mut Collector<'_>) {
    let request = collector.requests.of_memory(fields);
    collector.requests.set(collector.log.records.len(), request);
}

/// Reads any line. The error says what is wrong with it.
fn read_carefully<'a>(line: &'a [u8], number: u64, collector: &mut Collector<'_>) -> Result<(), Bad<'a>> {
    if is_blank_line(line) {
        return Ok(());
    }
    let mixed_ends = |rest: Option<&'a [u8]>| match rest {
        None => Ok(()),
        Some(rest) => Err(Bad { kind: FaultKind::MIXED_LINE_ENDS, at: rest }),
    };
    if line.trim_ascii_start().first() == Some(&b';') {
        mixed_ends(after_returns(line).find(|rest| rest.first() == Some(&b';') || parse_fields(rest).is_ok()))?;
        // Comments after the first record are not part of the header.
        if collector.log.records.is_empty() {
            collector.log.header.push_if_room(line.trim_ascii_end());
        }
        return Ok(());
    }
    let (fields, extra) = parse_fields(line)?;
    // A carriage return is a blank, but the fields of another record are not the ones after the 18th.
    mixed_ends(after_returns(line).find(|rest| extra && !is_blank_line(rest)))?;
    let out_of_range = |field: usize| Bad {
        kind: FaultKind::Field { field, wrong: FaultKind::TOO_LARGE },
        at: field_texts(line).nth(field - 1).unwrap_or(line),
    };
    let record = Record::from_fields(&fields, &mut collector.log.wide).map_err(out_of_range)?;
    match if extra { asked_by_wide_fields(line, &fields) } else { None } {
        Some(wide) => {
            let request = collector.requests.intern(wide);
            collector.requests.set(collector.log.records.len(), request);
        }
        None => {
            collector.log.source.causes.add(RowCause::ExtraFields, extra.into());
            if fields[REQUESTED_MEMORY] > 0 {
                add_memory(&fields, collector);
            }
        }
    }
    if fields[PRECEDING_JOB] >= 0 {
        add_preceding(&fields, collector);
    }
    collector.record(number, line, &fields, record);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::{self, ErrorKind, Read};

    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;
    use crate::rng::random_cases;
    use crate::trace::error::LineFault;
    use crate::trace::formats::LogFormat;
    use crate::trace::lines::LONGEST_LINE;
    use crate::trace::log::ReadOptions;
    use crate::trace::source::{Digesting, Source};

    /// Returns a few bytes per read, each time after an interruption, and may fail at the end.
    struct Drops {
        bytes: io::Cursor<Vec<u8>>,
        size: usize,
        interrupted: bool,
        fails: bool,
    }

    impl Read for Drops {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.interrupted = !self.interrupted;
            if self.interrupted {
                return Err(ErrorKind::Interrupted.into());
            }
            let count = self.size.min(buffer.len());
            match self.bytes.read(&mut buffer[..count])? {
                0 if self.fails => Err(io::Error::other("cut short")),
                read => Ok(read),
            }
        }
    }

    fn drops(bytes: &[u8], size: usize) -> Drops {
        Drops { bytes: io::Cursor::new(bytes.to_vec()), size, interrupted: false, fails: false }
    }

    /// All records and faults with the numbers of their lines, and the error that ended them.
    fn lines(input: impl Read + 'static) -> Vec<String> {
        let (options, mut faults) = (ReadOptions::default(), Vec::new());
        let mut on_fault = |fault: LineFault| faults.push((fault.line, format!("Fault {fault:?}")));
        let source = Source::Bytes { name: "x", bytes: b"".into() };
        let format = LogFormat::from(&FORMAT);
        let mut progress = |_| ();
        let mut collector = Collector::new(&source, format, &options, Some(&mut on_fault), &mut progress);
        let mut raw = RawLines::new(Digesting::new(Box::new(input), false), "x".to_string());
        let error = collector.read(&mut raw).err();
        let records = collector.log.records.iter().map(|record| format!("Record {record:?}"));
        let mut all: Vec<(u64, String)> = collector.lines.iter().copied().zip(records).collect();
        all.extend(faults);
        all.sort();
        let lines = all.into_iter().map(|(number, line)| format!("{number} {line}"));
        lines.chain(error.map(|error| error.to_string())).collect()
    }

    const RECORD: &str = "7 8 9 10 1 -1 -1 1 99 -1 1 2 3 4 5 6 -1 -1";

    proptest! {
        #![proptest_config(random_cases(256))]

        #[test]
        fn lines_do_not_depend_on_how_they_arrive(
            parts in vec(select(&[RECORD, "; a", "\n", "\n", "\r\n", " ", "1 2", "\0", "1e2 0.5\t"][..]), 0..40),
            size in 1usize..300,
        ) {
            let text = parts.concat();
            let all = lines(io::Cursor::new(text.clone()));
            prop_assert_eq!(&all, &lines(drops(text.as_bytes(), size)));
            // Each line must be read as if it were the only one.
            let numbered = |(line, number): (&str, usize)| {
                let before = "\n".repeat(number - 1);
                lines(io::Cursor::new(format!("{before}{line}")))
            };
            let alone = text.split('\n').zip(1..).flat_map(numbered);
            prop_assert_eq!(all, alone.collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_line_may_have_a_megabyte_with_its_end() {
        let mut text = vec![b' '; LONGEST_LINE - 1 - RECORD.len()];
        text.extend_from_slice(RECORD.as_bytes());
        text.extend_from_slice(b"\nx");
        let all = lines(io::Cursor::new(text.clone()));
        assert!(all.len() == 2 && all[0].starts_with("1 Record") && all[1].starts_with("2 Fault"), "{}", all.len());
        text.insert(0, b' ');
        for input in [&text[..], &text[..LONGEST_LINE]] {
            assert_eq!(lines(io::Cursor::new(input.to_vec())), lines(drops(input, 5000)));
            assert!(lines(drops(input, 5000))[0].starts_with("x:1:1: a line of more than a megabyte"));
        }
    }

    #[test]
    fn a_failure_comes_after_the_whole_lines_before_it() {
        let text = format!("{RECORD}\n{RECORD}\n{RECORD}");
        let all = lines(Drops { fails: true, ..drops(text.as_bytes(), 30) });
        assert_eq!(all.len(), 3);
        assert!(all[2].starts_with("x: cannot be read past line 2: cut short"), "{}", all[2]);
    }
}
