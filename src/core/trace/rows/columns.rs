//! Tables with a delimiter: where the columns are by their names, and which lines are a row.

use super::collect::Collector;
use super::values::{Bad, iso_time};
use crate::trace::error::{FaultKind, TraceError};
use crate::trace::lines::{LONGEST_LINE, RawLines, after_returns};
use crate::trace::record::is_blank_line;

/// The place of a column that the file does not have.
const NONE: usize = usize::MAX;

/// Where the columns of a table are.
pub struct TableColumns<const N: usize> {
    /// The names of all columns of the file.
    names: Vec<String>,
    pub delimiter: u8,
    /// Rows end with a delimiter.
    trailing: bool,
    /// The places of the columns that a format reads.
    places: [usize; N],
    /// The only column that may hold the delimiter; [`NONE`] if there is none or more than one.
    free: usize,
    /// The columns before the first one that may hold the delimiter.
    fixed: usize,
    /// The columns of free text, which may also hold line ends.
    texts: Vec<usize>,
    /// A line that is not the beginning of a row continues the last column of the row before, which is free text.
    continues: bool,
    /// The places of the job ids that the file has, and that of the submit time.
    ids: Vec<usize>,
    submit: usize,
}

impl<const N: usize> TableColumns<N> {
    /// Finds the `N` columns that a format reads among the names of a file. `wanted` has blanks between them, and `ONE|OTHER`
    /// is the first of them that the file has.
    pub fn new(names: Vec<String>, wanted: &str, delimiter: u8, trailing: bool) -> Self {
        let mut wanted = wanted.split(' ').map(|wanted| wanted.split('|').find_map(|name| position(&names, name)));
        let places = [(); N].map(|()| wanted.next().expect("as many names as columns"));
        debug_assert!(wanted.next().is_none());
        drop(wanted);
        TableColumns::with_places(names, places, delimiter, trailing)
    }

    /// The columns that a format reads are at these places.
    pub fn with_places(names: Vec<String>, places: [Option<usize>; N], delimiter: u8, trailing: bool) -> Self {
        TableColumns {
            places: places.map(|place| place.unwrap_or(NONE)),
            fixed: names.len(),
            names,
            delimiter,
            trailing,
            free: NONE,
            texts: Vec::new(),
            continues: false,
            ids: Vec::new(),
            submit: NONE,
        }
    }

    /// Says which columns are free text, which others may hold the delimiter, and which show where a row begins: the ids and
    /// the submit time.
    pub fn with_text(
        mut self,
        is_text: impl Fn(&str) -> bool,
        may_hold_delimiter: impl Fn(&str) -> bool,
        ids: &[&str],
        submit: &str,
    ) -> Self {
        let names = &self.names;
        let holding: Vec<usize> =
            (0..names.len()).filter(|&at| is_text(&names[at]) || may_hold_delimiter(&names[at])).collect();
        self.free = if let [only] = holding[..] { only } else { NONE };
        self.fixed = holding.first().copied().unwrap_or(names.len());
        self.texts = (0..names.len()).filter(|&at| is_text(&names[at])).collect();
        self.ids = ids.iter().filter_map(|id| position(names, id)).collect();
        self.submit = position(names, submit).unwrap_or(NONE);
        self
    }

    /// Lets the last column go on in the next lines, if it is the free text.
    pub fn with_long_text(mut self) -> Self {
        self.continues = self.free == self.names.len() - 1;
        self
    }

    /// Whether the file has a column.
    pub fn has(&self, name: &str) -> bool {
        position(&self.names, name).is_some()
    }

    /// What is needed and missing, in words. Each is one of several columns. None if nothing is missing.
    pub fn lacks(&self, needed: &[(&str, &[&str])]) -> Option<String> {
        let lacking = needed.iter().filter(|(_, columns)| !columns.iter().any(|column| self.has(column)));
        let lacking: Vec<_> = lacking.map(|(what, _)| *what).collect();
        (!lacking.is_empty()).then(|| lacking.join(", "))
    }

    /// The number of columns of the file.
    pub fn count(&self) -> usize {
        self.names.len()
    }

    /// The delimiters of a complete row.
    fn delimiters(&self) -> usize {
        self.count() - 1 + usize::from(self.trailing)
    }

    /// Whether a line begins as a row does: with a job id in the column of ids, and a time in that of submissions, if it is
    /// that long. False if these columns follow one that may hold the delimiter: they could be anywhere then.
    fn begins_row(&self, line: &[u8]) -> bool {
        let mut fields = Vec::new();
        let mut from = 0;
        find_delimiters(line, self.delimiter, |at| {
            if fields.len() < self.fixed {
                fields.push(line[from..at].trim_ascii());
            }
            from = at + 1;
        });
        let is_id = |&id: &usize| fields.get(id).is_some_and(|text| is_job_id(text));
        let is_time = |submit: &&[u8]| iso_time(submit, "Submit").is_ok();
        !self.ids.is_empty() && self.ids.iter().all(is_id) && fields.get(self.submit).is_none_or(is_time)
    }

    /// Whether all line ends of a row with these delimiters are in columns of free text.
    fn has_line_ends_in_text_only(&self, row: &[u8], ends: &[usize]) -> bool {
        let surplus = ends.len().saturating_sub(self.delimiters());
        let mut before = 0;
        memchr::memchr_iter(b'\n', row).all(|at| {
            before += ends[before..].iter().take_while(|&&end| end < at).count();
            // The surplus is part of the free column.
            let column = if before > self.free { before.saturating_sub(surplus).max(self.free) } else { before };
            self.texts.contains(&column)
        })
    }

    /// The columns of a row that are read; empty if the file does not have one. `ends` are the places of its delimiters.
    pub fn fields<'r>(&self, row: &'r [u8], ends: &[usize]) -> Result<[&'r [u8]; N], Bad<'r>> {
        let found = ends.len() + 1 - usize::from(self.trailing);
        let is_trailing = self.trailing && ends.last() == Some(&(row.len() - 1));
        let end_of_row = row.len() - usize::from(is_trailing);
        let expected = self.count();
        if found < expected || (found > expected && self.free == NONE) {
            return Err(Bad { kind: FaultKind::Columns { found, expected }, at: row });
        }
        let surplus = found - expected;
        Ok(self.places.map(|column| {
            if column == NONE {
                return &b""[..];
            }
            // The free column has the surplus delimiters.
            let first = if column > self.free { column + surplus } else { column };
            let last = if column >= self.free { column + surplus } else { column };
            let begin = first.checked_sub(1).map_or(0, |before| ends[before] + 1);
            let end = ends.get(last).map_or(end_of_row, |&end| end.min(end_of_row));
            &row[begin..end.max(begin)]
        }))
    }
}

fn position(names: &[String], name: &str) -> Option<usize> {
    names.iter().position(|other| other == name)
}

/// Whether a text is the id of a job, of a part of it or of a range of them: `12`, `12_3`, `12.batch`, `12+0`, `12_[1-3]`.
fn is_job_id(text: &[u8]) -> bool {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    digits > 0 && matches!(text.get(digits), None | Some(b'_' | b'.' | b'+' | b'['))
}

/// Calls `found` with the place of each delimiter of a line. A comma in the brackets of a list of nodes or of tasks, such as
/// `n[1-3,5]`, is none.
fn find_delimiters(line: &[u8], delimiter: u8, mut found: impl FnMut(usize)) {
    if delimiter != b',' {
        return memchr::memchr_iter(delimiter, line).for_each(found);
    }
    let mut from = 0;
    while let Some(at) = memchr::memchr2(b',', b'[', &line[from..]).map(|at| from + at) {
        from = at + 1;
        if line[at] == b',' {
            found(at);
            continue;
        }
        let is_range = |byte: &u8| byte.is_ascii_digit() || b",-%:.".contains(byte);
        let closing = from + line[from..].iter().take_while(|byte| is_range(byte)).count();
        if line.get(closing) == Some(&b']') {
            from = closing;
        }
    }
}

/// The number of delimiters of a line.
pub fn count_delimiters(line: &[u8], delimiter: u8) -> usize {
    let mut count = 0;
    find_delimiters(line, delimiter, |_| count += 1);
    count
}

/// The first line that is not blank, without blanks around it.
pub fn first_line(raw: &RawLines) -> Vec<u8> {
    let mut lines = raw.head().split(|&byte| byte == b'\n');
    lines.find(|line| !is_blank_line(line)).unwrap_or(b"").trim_ascii().to_vec()
}

/// Reads a table. `row` gets the columns of a row that are read, and the row. A line that equals `header` is none, wherever it
/// is: several outputs may be in one file. A row has several lines if a column of free text holds line ends.
pub fn read_table<'c, const N: usize>(
    raw: &mut RawLines,
    collector: &mut Collector<'c>,
    columns: TableColumns<N>,
    header: Option<&[u8]>,
    row: impl for<'r> Fn([&'r [u8]; N], &'r [u8], &mut Collector<'c>) -> Result<(), Bad<'r>>,
) -> Result<(), TraceError> {
    let needed = columns.delimiters();
    let mut rows = TableRows { columns, row, ends: Vec::new(), begun: Vec::new(), number: 0, delimiters: 0 };
    while let Some(place) = raw.cut()? {
        let line = &raw.buffer()[place];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let columns = &rows.columns;
        let is_row = |rest: &&[u8]| columns.begins_row(rest) && count_delimiters(rest, columns.delimiter) >= needed;
        if let Some(rest) = after_returns(line).find(is_row) {
            collector.bad_row(raw.number(), line, &Bad { kind: FaultKind::MIXED_LINE_ENDS, at: rest })?;
        } else if header.is_some_and(|header| header == line.trim_ascii()) {
            rows.end_row(collector)?;
        } else {
            rows.line(raw.number(), line, collector)?;
        }
    }
    rows.end_row(collector)
}

/// The rows of a table while it is read.
struct TableRows<F, const N: usize> {
    columns: TableColumns<N>,
    row: F,
    /// The places of the delimiters of the present row.
    ends: Vec<usize>,
    /// The lines of a row that may not be complete, the number of the first one, and their delimiters.
    begun: Vec<u8>,
    number: u64,
    delimiters: usize,
}

impl<'c, F, const N: usize> TableRows<F, N>
where
    F: for<'r> Fn([&'r [u8]; N], &'r [u8], &mut Collector<'c>) -> Result<(), Bad<'r>>,
{
    fn line(&mut self, number: u64, line: &[u8], collector: &mut Collector<'c>) -> Result<(), TraceError> {
        let (needed, continues) = (self.columns.delimiters(), self.columns.continues);
        self.find_ends(line);
        let is_whole = self.ends.len() >= needed;
        if is_whole && !continues {
            if !self.begun.is_empty() {
                // They are not the beginning of this row.
                self.end_row(collector)?;
                self.find_ends(line);
            }
            return self.read_row(number, line, collector);
        }
        let has_room = self.begun.len() + line.len() < LONGEST_LINE && (continues || self.delimiters < needed);
        if !self.begun.is_empty() && !is_whole && has_room && !self.columns.begins_row(line) {
            self.begun.push(b'\n');
            self.delimiters += self.ends.len();
        } else {
            let delimiters = self.ends.len();
            self.end_row(collector)?;
            if is_blank_line(line) {
                return Ok(());
            }
            (self.number, self.delimiters) = (number, delimiters);
        }
        self.begun.extend_from_slice(line);
        if self.delimiters >= needed && !continues { self.end_row(collector) } else { Ok(()) }
    }

    fn find_ends(&mut self, row: &[u8]) {
        self.ends.clear();
        find_delimiters(row, self.columns.delimiter, |at| self.ends.push(at));
    }

    /// Reads the lines of the row that was begun. They are faulty if they are not a complete row.
    fn end_row(&mut self, collector: &mut Collector<'c>) -> Result<(), TraceError> {
        if self.begun.is_empty() {
            return Ok(());
        }
        let row = std::mem::take(&mut self.begun);
        self.find_ends(&row);
        let TableColumns { trailing, delimiter, .. } = self.columns;
        let is_whole = self.ends.len() >= self.columns.delimiters();
        if is_whole && self.columns.has_line_ends_in_text_only(&row, &self.ends) {
            self.read_row(self.number, &row, collector)?;
        } else {
            let first = row.split(|&byte| byte == b'\n').next().unwrap_or(&row);
            let found = count_delimiters(first, delimiter) + usize::from(!trailing);
            let kind = FaultKind::Columns { found, expected: self.columns.count() };
            collector.bad_row(self.number, &row, &Bad { kind, at: &row })?;
        }
        // Its memory is used again.
        self.begun = row;
        self.begun.clear();
        Ok(())
    }

    fn read_row(&mut self, number: u64, row: &[u8], collector: &mut Collector<'c>) -> Result<(), TraceError> {
        let read = self.columns.fields(row, &self.ends).and_then(|fields| (self.row)(fields, row, collector));
        read.or_else(|bad| collector.bad_row(number, row, &bad))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_told_from_their_continuations() {
        let columns = |header: &str| {
            let names: Vec<String> = header.split('|').map(str::to_lowercase).collect();
            let is_text = |name: &str| matches!(name, "submitline" | "comment");
            TableColumns::<1>::new(names, "jobid", b'|', false).with_text(is_text, |_| false, &["jobid"], "submit")
        };
        let first = columns("JobID|Submit|SubmitLine|Start|End|NCPUS");
        for (line, is_row) in [
            ("2|2026-01-01T00:00:00|a|b", true),
            ("2_[1-3]|2026-01-01T00:00:00", true),
            ("2.batch|", true),
            ("2", false),
            ("--array=1|2", false),
            ("2|on|both", false),
            ("2026-01-01T00:00:00|2026-01-01T00:01:00|2", false),
        ] {
            assert_eq!(first.begins_row(line.as_bytes()), is_row, "{line}");
        }
        let second = columns("User|JobID|Submit|Start|End|NCPUS|Comment");
        assert!(second.begins_row(b"ann|2|2026-01-01T00:00:00|") && !second.begins_row(b"2|ann|"));
        // The place of the id is not known.
        assert!(!columns("Comment|JobID|Submit|Start|End|NCPUS").begins_row(b"x|2|2026-01-01T00:00:00|"));
    }

    #[test]
    fn commas_in_brackets_are_part_of_a_list() {
        let places = |line: &str, delimiter| {
            let mut places = Vec::new();
            find_delimiters(line.as_bytes(), delimiter, |at| places.push(at));
            places
        };
        assert_eq!(places("a,n[1-3,5],b", b','), [1, 10]);
        assert_eq!(places("n[1,3]x[2,4],b", b','), [12]);
        assert_eq!(places("1_[1-3,7%2],[a,b],[1,2", b','), [11, 14, 17, 20]);
        assert_eq!(places("n[1;2];3", b';'), [3, 6]);
    }
}
