//! The queue in an SWF log: its records without a runtime.

use std::io::Read;

use super::collect::Collector;
use super::{PresentJob, PresentStage};
use crate::trace::clean::ProcsField;
use crate::trace::error::TraceError;
use crate::trace::header::Header;
use crate::trace::lines::RawLines;
use crate::trace::read::{Line, Lines};
use crate::trace::record::CANCELLED;

/// Reads all records. Returns the header.
pub fn read<R: Read>(raw: RawLines<R>, collector: &mut Collector) -> Result<Header, TraceError> {
    let mut header = Header::default();
    let mut lines = Lines::new(raw);
    while let Some(line) = lines.next_line()? {
        let (fields, record) = match line {
            // Comments after the first record are not part of the header.
            Line::Comment(text) => {
                if collector.report.rows == 0 {
                    header.push_if_room(text);
                }
                continue;
            }
            Line::Fault(fault) => {
                collector.skip(fault)?;
                continue;
            }
            Line::Record { fields, record, .. } => (fields, record),
        };
        let report = &mut collector.report;
        report.rows += 1;
        if record.submit < 0 {
            report.without_submit += u64::from(record.runtime < 0);
            report.ended += u64::from(record.runtime >= 0);
            continue;
        }
        if record.runtime >= 0 {
            report.ended += 1;
            // The log was not cut before it was submitted.
            collector.saw(record.submit);
            continue;
        }
        // It never ran and does not wait any more. Any other status is accepted: a log that was cut keeps its statuses.
        if record.status == CANCELLED && record.allocated <= 0 {
            report.cancelled += 1;
            continue;
        }
        let (first, second) = match collector.reading.procs_field {
            ProcsField::Requested => (record.requested, record.allocated),
            ProcsField::Allocated => (record.allocated, record.requested),
        };
        let Some(procs) = [first, second].into_iter().find_map(|procs| u32::try_from(procs).ok().filter(|&n| n > 0))
        else {
            report.without_procs += 1;
            continue;
        };
        let stage = match record.wait {
            wait if wait >= 0 => PresentStage::Running { start: record.submit + wait },
            _ => PresentStage::Waiting,
        };
        collector.saw(match stage {
            PresentStage::Running { start } => start,
            _ => record.submit,
        });
        // The numbers as they are in the file: those of a record are codes.
        let mut name = |field: usize| match fields[field - 1] {
            number if number >= 0 => collector.text(number.to_string().as_bytes()),
            _ => None,
        };
        let [user, group, executable, queue, partition] = [12, 13, 14, 15, 16].map(&mut name);
        collector.push(PresentJob {
            name: record.number.to_string(),
            stage,
            is_inner_task: false,
            submit: record.submit,
            eligible: None,
            expected_start: None,
            procs,
            estimate: Some(record.estimate).filter(|&estimate| estimate > 0),
            user,
            group,
            executable,
            queue,
            partition,
        });
    }
    Ok(header)
}
