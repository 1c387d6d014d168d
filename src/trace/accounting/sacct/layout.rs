//! Where the columns are in the output of `sacct`.

use crate::trace::accounting::reading::{LogReading, Unit};
use crate::trace::accounting::values::iso_time;

/// The columns of Open XDMoD's export, which has no header.
const XDMOD: &str = "jobid,jobidraw,cluster,partition,qos,account,group,gid,user,uid,submit,eligible,start,end,elapsed,\
                     exitcode,state,nnodes,ncpus,reqcpus,reqmem,reqtres,alloctres,timelimit,nodelist,jobname";

/// The columns that may hold the delimiter.
const FREE_TEXT: [&str; 8] =
    ["jobname", "comment", "admincomment", "systemcomment", "constraints", "submitline", "workdir", "wckey"];

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
    /// The only free-text column; [`NONE`] if there is none or more than one.
    pub free: usize,
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
        let mut free = names.iter().enumerate().filter(|(_, name)| FREE_TEXT.contains(&name.as_str()));
        let free = match (free.next(), free.next()) {
            (Some((at, _)), None) => at,
            _ => NONE,
        };
        Layout {
            delimiter,
            count: names.len(),
            trailing,
            free,
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
                let delimiters = memchr::memchr_iter(delimiter, first).count();
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
    DELIMITERS.iter().copied().find(|&delimiter| memchr::memchr_iter(delimiter, line).count() + 1 >= columns)
}

#[cfg(test)]
mod tests {
    use super::*;

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
