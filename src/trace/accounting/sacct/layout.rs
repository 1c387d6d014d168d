//! Where the columns are in the output of `sacct`.

use crate::trace::accounting::reading::{LogReading, Unit};
use crate::trace::accounting::values::iso_time;

/// The columns of Open XDMoD's export, which has no header.
const XDMOD: &str = "jobid,jobidraw,cluster,partition,qos,account,group,gid,user,uid,submit,eligible,start,end,elapsed,\
                     exitcode,state,nnodes,ncpus,reqcpus,reqmem,reqtres,alloctres,timelimit,nodelist,jobname";

/// The columns that may hold the delimiter.
const FREE_TEXT: [&str; 8] =
    ["jobname", "comment", "admincomment", "systemcomment", "constraints", "submitline", "workdir", "wckey"];

/// Parts of the names of the columns whose lists hold commas.
const LISTS: [&str; 6] = ["nodelist", "tres", "gres", "partition", "licenses", "flags"];

/// The delimiters that are looked for in a file without a header.
const DELIMITERS: &[u8] = b"|;\t^~!,";

/// The index of a column that the file does not have.
pub const NONE: usize = usize::MAX;

/// Where the columns are in a row.
pub struct Layout {
    pub delimiter: u8,
    /// The number of columns.
    pub count: usize,
    /// Rows end with a delimiter.
    pub trailing: bool,
    /// The only column that may hold the delimiter; [`NONE`] if there is none or more than one.
    pub free: usize,
    /// The columns before the first one that may hold the delimiter.
    fixed: usize,
    /// The columns of free text, which may also hold line ends.
    texts: Vec<usize>,
    pub job_id: usize,
    pub job_id_raw: usize,
    pub cluster: usize,
    pub submit: usize,
    pub eligible: usize,
    pub start: usize,
    pub end: usize,
    pub elapsed: usize,
    pub elapsed_raw: usize,
    pub limit: usize,
    pub limit_raw: usize,
    pub user: usize,
    pub group: usize,
    pub group_else: usize,
    pub job_name: usize,
    pub partition: usize,
    pub qos: usize,
    pub state: usize,
    pub cpus: usize,
    pub cpus_else: usize,
    pub req_cpus: usize,
    pub nodes: usize,
    pub req_nodes: usize,
    pub node_list: usize,
    pub alloc_tres: usize,
    pub req_tres: usize,
    pub req_gres: usize,
}

impl Layout {
    fn new(names: &[String], delimiter: u8, trailing: bool) -> Layout {
        let find = |name: &str| names.iter().position(|other| other == name).unwrap_or(NONE);
        let first = |one: &str, other: &str| if find(one) != NONE { find(one) } else { find(other) };
        let is_text = |name: &str| FREE_TEXT.contains(&name);
        let may_hold_it = |name: &str| match delimiter {
            b',' => is_text(name) || LISTS.iter().any(|list| name.contains(list)),
            // `CANCELLED by 1000` and `None assigned`.
            b' ' => is_text(name) || matches!(name, "state" | "nodelist"),
            _ => is_text(name),
        };
        let places = |is: &dyn Fn(&str) -> bool| (0..names.len()).filter(|&at| is(&names[at])).collect::<Vec<_>>();
        let holding = places(&may_hold_it);
        Layout {
            delimiter,
            count: names.len(),
            trailing,
            free: if let [only] = holding[..] { only } else { NONE },
            fixed: holding.first().copied().unwrap_or(names.len()),
            texts: places(&is_text),
            job_id: find("jobid"),
            job_id_raw: find("jobidraw"),
            cluster: find("cluster"),
            submit: find("submit"),
            eligible: find("eligible"),
            start: find("start"),
            end: find("end"),
            elapsed: find("elapsed"),
            elapsed_raw: find("elapsedraw"),
            limit: find("timelimit"),
            limit_raw: find("timelimitraw"),
            user: first("user", "uid"),
            group: first("account", "group"),
            group_else: find("group"),
            job_name: find("jobname"),
            partition: find("partition"),
            qos: find("qos"),
            state: find("state"),
            cpus: first("alloccpus", "ncpus"),
            cpus_else: find("ncpus"),
            req_cpus: find("reqcpus"),
            nodes: first("nnodes", "allocnodes"),
            req_nodes: find("reqnodes"),
            node_list: find("nodelist"),
            alloc_tres: find("alloctres"),
            req_tres: find("reqtres"),
            req_gres: find("reqgres"),
        }
    }

    /// The columns that are needed and missing, in words. None if there are none.
    fn lacks(&self, unit: Unit) -> Option<String> {
        let units: (&str, &[usize]) = match unit {
            Unit::Cpus => ("NCPUS (or AllocCPUS or ReqCPUS)", &[self.cpus, self.req_cpus]),
            Unit::Nodes => ("NNodes, for --unit nodes", &[self.nodes]),
            Unit::Gpus => {
                ("AllocTRES (or ReqTRES or ReqGRES), for --unit gpus", &[self.alloc_tres, self.req_tres, self.req_gres])
            }
        };
        let needed = [
            ("JobIDRaw (or JobID)", &[self.job_id, self.job_id_raw][..]),
            ("Submit", &[self.submit]),
            ("Start", &[self.start]),
            ("End", &[self.end]),
            units,
        ];
        let lacking: Vec<_> =
            needed.iter().filter(|(_, at)| at.iter().all(|&at| at == NONE)).map(|(name, _)| *name).collect();
        (!lacking.is_empty()).then(|| lacking.join(", "))
    }

    /// The delimiters of a complete row.
    pub fn delimiters(&self) -> usize {
        self.count - 1 + usize::from(self.trailing)
    }

    /// Whether a line begins as a row does: with a job id in the column of ids, and a time in that of submissions, if it is
    /// that long. False if these columns follow one that may hold the delimiter: they could be anywhere then.
    pub fn begins_row(&self, line: &[u8]) -> bool {
        let mut fields = Vec::new();
        let mut from = 0;
        find_delimiters(line, self.delimiter, |at| {
            if fields.len() < self.fixed {
                fields.push(&line[from..at]);
            }
            from = at + 1;
        });
        let field = |column: usize| fields.get(column).copied();
        let ids = [self.job_id, self.job_id_raw].into_iter().filter(|&id| id != NONE);
        ids.clone().count() > 0
            && ids.into_iter().all(|id| field(id).is_some_and(is_job_id))
            && field(self.submit).is_none_or(|submit| iso_time(submit, "Submit").is_ok())
    }

    /// Whether all line ends of a row with these delimiters are in columns of free text.
    pub fn has_line_ends_in_text_only(&self, row: &[u8], ends: &[usize]) -> bool {
        let surplus = ends.len().saturating_sub(self.delimiters());
        let mut before = 0;
        memchr::memchr_iter(b'\n', row).all(|at| {
            before += ends[before..].iter().take_while(|&&end| end < at).count();
            // The surplus is part of the free column.
            let column = if before > self.free { before.saturating_sub(surplus).max(self.free) } else { before };
            self.texts.contains(&column)
        })
    }
}

/// Whether a text is the id of a job, of a part of it or of a range of them: `12`, `12_3`, `12.batch`, `12+0`, `12_[1-3]`.
fn is_job_id(text: &[u8]) -> bool {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    digits > 0 && matches!(text.get(digits), None | Some(b'_' | b'.' | b'+' | b'['))
}

/// Calls `found` with the place of each delimiter of a line. A comma in the brackets of a list of nodes or of tasks, such as
/// `n[1-3,5]`, is none.
pub fn find_delimiters(line: &[u8], delimiter: u8, mut found: impl FnMut(usize)) {
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

impl Layout {
    /// The layout of a file with this first line, and whether that line is a header.
    ///
    /// # Errors
    /// If columns are named that the header names, or one is missing that is needed.
    pub fn of_file(first: &[u8], reading: &LogReading) -> Result<(Layout, bool), String> {
        let (layout, has_header) = match (&reading.columns, header(first)) {
            (Some(_), Some(_)) => {
                return Err("it has a header with the names of its columns: leave out --columns".to_string());
            }
            (None, Some((names, delimiter, trailing))) => (Layout::new(&names, delimiter, trailing), true),
            (columns, None) => {
                let names: Vec<String> = match columns {
                    Some(names) => names.iter().map(|name| name.to_ascii_lowercase()).collect(),
                    None => XDMOD.split(',').map(str::to_string).collect(),
                };
                let delimiter = row_delimiter(first, names.len()).unwrap_or(b'|');
                let delimiters = count_delimiters(first, delimiter);
                let trailing = first.last() == Some(&delimiter) && delimiters >= names.len();
                (Layout::new(&names, delimiter, trailing), false)
            }
        };
        if let Some(lacking) = layout.lacks(reading.unit) {
            return Err(format!(
                "an sacct log needs the column {lacking}; see `sim help logs` for the command that exports it"
            ));
        }
        if reading.cluster.is_some() && layout.cluster == NONE {
            return Err("it has no column Cluster: leave out --cluster".to_string());
        }
        Ok((layout, has_header))
    }
}

/// The names of a header in lower case, its delimiter, and whether it ends with one. None if the line is not a header.
fn header(line: &[u8]) -> Option<(Vec<String>, u8, bool)> {
    let line = line.trim_ascii_end();
    let delimiter = *line.iter().find(|byte| !byte.is_ascii_alphanumeric() && **byte != b'_')?;
    let trailing = line.last() == Some(&delimiter);
    let line = if trailing { &line[..line.len() - 1] } else { line };
    let names: Vec<String> =
        line.split(|&byte| byte == delimiter).map(|name| String::from_utf8_lossy(name).to_ascii_lowercase()).collect();
    let is_name =
        |name: &String| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let has = |name: &str| names.iter().any(|other| other == name);
    (names.iter().all(is_name) && (has("jobid") || has("jobidraw")) && names.len() > 2)
        .then_some((names, delimiter, trailing))
}

/// Whether a line is the header of an sacct file.
pub fn has_sacct_header(line: &[u8]) -> bool {
    header(line).is_some()
}

/// Whether a line is a row of Open XDMoD's export.
pub fn is_sacct_row(line: &[u8]) -> bool {
    row_delimiter(line, 26).is_some_and(|delimiter| {
        let time = line.split(|&byte| byte == delimiter).nth(10);
        time.is_some_and(|time| matches!(iso_time(time, "Submit"), Ok(Some(_))))
    })
}

/// The delimiter of a row with at least this many columns.
fn row_delimiter(line: &[u8], columns: usize) -> Option<u8> {
    DELIMITERS.iter().copied().find(|&delimiter| count_delimiters(line, delimiter) + 1 >= columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_told_from_their_continuations() {
        let layout = |header: &str| Layout::of_file(header.as_bytes(), &LogReading::default()).unwrap().0;
        let first = layout("JobID|Submit|SubmitLine|Start|End|NCPUS");
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
        let second = layout("User|JobID|Submit|Start|End|NCPUS|Comment");
        assert!(second.begins_row(b"ann|2|2026-01-01T00:00:00|") && !second.begins_row(b"2|ann|"));
        // The place of the id is not known.
        assert!(!layout("Comment|JobID|Submit|Start|End|NCPUS").begins_row(b"x|2|2026-01-01T00:00:00|"));
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

    #[test]
    fn headers_are_told_from_rows() {
        assert_eq!(
            header(b"JobID|Submit|Start|").map(|(names, by, end)| (names.len(), by, end)),
            Some((3, b'|', true))
        );
        assert_eq!(
            header(b"User;JOBIDRAW;end\r").map(|(names, by, end)| (names.len(), by, end)),
            Some((3, b';', false))
        );
        for line in [&b"123|Submit|Start"[..], b"JobID", b"JobID|Submit|a b", b"; JobID: x", b""] {
            assert!(header(line).is_none(), "{}", line.escape_ascii());
        }
    }
}
