//! Lines of a log, as written.

use super::record::Fields;
use super::write::write_record;

/// The data lines of a log, as written.
#[derive(Clone, Debug, Default)]
pub struct LogText {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl LogText {
    pub(super) fn push(&mut self, line: &[u8]) {
        self.bytes.extend_from_slice(line);
        self.ends.push(self.bytes.len());
    }

    pub(super) fn push_record(&mut self, fields: &Fields) {
        write_record(&mut self.bytes, fields).expect("memory can be written");
        // Lines are kept without their ends.
        self.bytes.pop();
        self.ends.push(self.bytes.len());
    }

    /// The number of lines.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The line of a record. Records are counted from 0; panics if there is no such record.
    pub fn line(&self, record: usize) -> &[u8] {
        let from = if record == 0 { 0 } else { self.ends[record - 1] };
        &self.bytes[from..self.ends[record]]
    }
}
