//! Slurm: what `sacct -P` or `sacct -p` prints.

mod layout;
mod values;

use std::io::Read;

use super::AccountingJob;
use super::collect::Collector;
use super::reading::{LogReading, Unit};
use super::values::{Bad, count, iso_time, leading_number};
use crate::trace::error::{FaultKind, TraceError};
use crate::trace::lines::{LONGEST_LINE, RawLines, after_returns};
use crate::trace::record::is_blank_line;
use layout::{Layout, NONE, count_delimiters, find_delimiters};
use values::{State, elapsed, gpus_of_gres, limit};

pub use layout::{has_sacct_header, is_sacct_row};
pub use values::gpus_of_tres;

/// Reads all rows.
pub fn read<R: Read>(
    raw: &mut RawLines<R>,
    reading: &LogReading,
    collector: &mut Collector<'_>,
) -> Result<(), TraceError> {
    let first =
        raw.head().split(|&byte| byte == b'\n').find(|line| !is_blank_line(line)).unwrap_or(b"").trim_ascii_end();
    let first = first.to_vec();
    let failed = |why| TraceError::Format { name: raw.name().to_string(), why };
    let (layout, has_header) = Layout::of_file(&first, reading).map_err(failed)?;
    let mut rows = Rows { layout, reading, collector, ends: Vec::new() };
    let needed = rows.layout.delimiters();
    // A row over several lines, the number of its first line, and its delimiters.
    let mut joined: Vec<u8> = Vec::new();
    let (mut joined_at, mut delimiters) = (0, 0);
    while let Some(place) = raw.cut()? {
        let line = &raw.buffer()[place];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let is_row =
            |rest: &&[u8]| rows.layout.begins_row(rest) && count_delimiters(rest, rows.layout.delimiter) >= needed;
        if let Some(rest) = after_returns(line).find(is_row) {
            let bad = Bad { kind: FaultKind::MixedLineEnds, at: rest };
            rows.collector.bad_row(raw.number(), line, &bad)?;
            continue;
        }
        rows.find_ends(line);
        if rows.ends.len() >= needed {
            // The lines before are not the beginning of this row, which is complete.
            rows.too_short(joined_at, &mut joined)?;
            if !(has_header && line == first) {
                rows.row(raw.number(), line)?;
            }
            continue;
        }
        if rows.layout.begins_row(line) {
            rows.too_short(joined_at, &mut joined)?;
        }
        if joined.is_empty() {
            if is_blank_line(line) {
                continue;
            }
            (joined_at, delimiters) = (raw.number(), 0);
        } else {
            joined.push(b'\n');
        }
        joined.extend_from_slice(line);
        delimiters += rows.ends.len();
        if delimiters >= needed {
            rows.find_ends(&joined);
            if rows.layout.has_line_ends_in_text_only(&joined, &rows.ends) {
                let row = std::mem::take(&mut joined);
                rows.row(joined_at, &row)?;
            } else {
                rows.too_short(joined_at, &mut joined)?;
            }
        } else if joined.len() > LONGEST_LINE {
            rows.too_short(joined_at, &mut joined)?;
        }
    }
    rows.too_short(joined_at, &mut joined)
}

struct Rows<'a, 'c> {
    layout: Layout,
    reading: &'a LogReading,
    collector: &'a mut Collector<'c>,
    /// The positions of the delimiters of the present row.
    ends: Vec<usize>,
}

impl Rows<'_, '_> {
    fn find_ends(&mut self, line: &[u8]) {
        self.ends.clear();
        find_delimiters(line, self.layout.delimiter, |at| self.ends.push(at));
    }

    /// Reports lines that are not a complete row, nor can be the pieces of one.
    fn too_short(&mut self, number: u64, joined: &mut Vec<u8>) -> Result<(), TraceError> {
        if joined.is_empty() {
            return Ok(());
        }
        let row = std::mem::take(joined);
        let first = row.split(|&byte| byte == b'\n').next().unwrap_or(&row);
        let found = count_delimiters(first, self.layout.delimiter) + usize::from(!self.layout.trailing);
        let kind = FaultKind::TooFewColumns { found, expected: self.layout.count };
        self.collector.bad_row(number, &row, &Bad { kind, at: &row })
    }

    fn row(&mut self, number: u64, row: &[u8]) -> Result<(), TraceError> {
        match self.parse(row) {
            Ok(()) => Ok(()),
            Err(bad) => self.collector.bad_row(number, row, &bad),
        }
    }

    fn parse<'r>(&mut self, row: &'r [u8]) -> Result<(), Bad<'r>> {
        let Layout { count: columns, trailing, free, .. } = self.layout;
        let mut end_of_row = row.len();
        let mut found = self.ends.len() + 1;
        if trailing {
            // The row has at least as many delimiters as columns.
            if self.ends.last() == Some(&(row.len() - 1)) {
                end_of_row -= 1;
            }
            found -= 1;
        }
        let surplus = found - columns;
        if surplus > 0 && free == NONE {
            return Err(Bad { kind: FaultKind::TooManyColumns { found, expected: columns }, at: row });
        }
        let ends = &self.ends;
        let field = |column: usize| -> &'r [u8] {
            if column == NONE {
                return b"";
            }
            let (from, to) = match column.cmp(&free) {
                _ if surplus == 0 => (column, column),
                std::cmp::Ordering::Less => (column, column),
                std::cmp::Ordering::Equal => (column, column + surplus),
                std::cmp::Ordering::Greater => (column + surplus, column + surplus),
            };
            let begin = if from == 0 { 0 } else { ends[from - 1] + 1 };
            let end = ends.get(to).copied().unwrap_or(end_of_row).min(end_of_row);
            &row[begin..end.max(begin)]
        };
        let layout = &self.layout;

        let (job_id, raw_id) = (field(layout.job_id), field(layout.job_id_raw));
        let has = |byte: u8| memchr::memchr(byte, job_id).or_else(|| memchr::memchr(byte, raw_id)).is_some();
        if has(b'.') {
            self.collector.drop_row(|report| &mut report.steps);
            return Ok(());
        }
        if has(b'[') {
            self.collector.drop_row(|report| &mut report.array_ranges);
            return Ok(());
        }
        let id = if raw_id.is_empty() { job_id } else { raw_id };
        if !id.first().is_some_and(u8::is_ascii_digit) {
            return Err(Bad::value(id, if raw_id.is_empty() { "JobID" } else { "JobIDRaw" }, "a job number"));
        }
        if layout.cluster != NONE && !self.collector.is_own_cluster(field(layout.cluster)) {
            self.collector.drop_row(|report| &mut report.other_clusters);
            return Ok(());
        }

        let start = iso_time(field(layout.start), "Start")?;
        let end = iso_time(field(layout.end), "End")?;
        let state = field(layout.state);
        // `CANCELLED by 1234`, and `CANCELLED+` where the column was too narrow.
        let state = state.split(|byte| matches!(byte, b' ' | b'+')).next().unwrap_or(state);
        let meaning = State::of(state);
        if meaning == State::NotEnded || (meaning == State::Again && (start.is_none() || end.is_none())) {
            self.collector.drop_row(|report| &mut report.not_ended);
            return Ok(());
        }
        let nodes = field(layout.node_list);
        // Slurm fills in a start, processors and even AllocTRES for jobs that never started.
        let placed = match nodes {
            b"None assigned" => false,
            b"" => !(meaning == State::Cancelled && start == end),
            _ => true,
        };
        let start = start.filter(|_| placed);

        let (allocated, requested) = match self.reading.unit {
            Unit::Cpus => {
                let allocated = match count(field(layout.cpus), "AllocCPUS")? {
                    Some(cpus) if cpus > 0 => cpus,
                    _ => count(field(layout.cpus_else), "NCPUS")?.unwrap_or(-1),
                };
                (allocated, count(field(layout.req_cpus), "ReqCPUS")?.unwrap_or(-1))
            }
            Unit::Nodes => {
                let requested = leading_number(field(layout.req_nodes)).unwrap_or(-1);
                (count(field(layout.nodes), "NNodes")?.unwrap_or(-1), requested)
            }
            Unit::Gpus => {
                let allocated = gpus_of_tres(field(layout.alloc_tres)).unwrap_or(-1);
                let nodes = leading_number(field(layout.nodes)).unwrap_or(1).max(1);
                let requested = gpus_of_tres(field(layout.req_tres));
                let requested = requested.or_else(|| Some(gpus_of_gres(field(layout.req_gres))? * nodes)).unwrap_or(-1);
                if allocated <= 0 && requested <= 0 {
                    self.collector.drop_row(|report| &mut report.without_gpus);
                    return Ok(());
                }
                (allocated, requested)
            }
        };

        let partition = field(layout.partition);
        let estimate = match limit(field(layout.limit), field(layout.limit_raw))? {
            Some(limit) => Some(limit),
            None => self
                .reading
                .partition_limits
                .iter()
                .find(|(name, _)| name.as_bytes() == partition)
                .map(|(_, limit)| *limit),
        };
        let elapsed = match field(layout.elapsed_raw) {
            b"" => elapsed(field(layout.elapsed))?,
            raw => Some(count(raw, "ElapsedRaw")?.unwrap_or(0)).filter(|&elapsed| elapsed >= 0),
        };
        let group = match field(layout.group) {
            b"" => field(layout.group_else),
            account => account,
        };
        let submit = field(layout.submit);
        let job = AccountingJob {
            id,
            task: b"",
            submit: iso_time(submit, "Submit")?.ok_or(Bad::missing(submit, "Submit"))?,
            eligible: iso_time(field(layout.eligible), "Eligible")?,
            start,
            end,
            wait_known: true,
            elapsed,
            allocated,
            requested,
            estimate,
            names: [field(layout.user), group, field(layout.job_name), field(layout.qos), partition],
            status: meaning.status(),
            state,
        };
        if self.collector.job(row, &job)? && meaning == State::Unknown {
            self.collector.unknown_state(state);
        }
        Ok(())
    }
}
