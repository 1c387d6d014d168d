//! The formats of logs, and how a format is told by the content of a file.

use std::fmt;

use super::accounting::{CsvColumns, has_sacct_header, is_csv_like, is_lsf, is_pbs, is_sacct_row, is_sge};
use super::lines::shorten;
use super::number;
use super::record::{field_texts, is_blank_line, parse_fields};
use crate::spec::SpecError;

/// The format of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// The Standard Workload Format.
    Swf,
    /// Slurm: the output of `sacct -P` or `sacct -p`.
    Sacct,
    /// PBS and Torque.
    Pbs,
    /// LSF's `lsb.acct`.
    Lsf,
    /// Grid Engine's `accounting`.
    Sge,
    /// A table with a header, of which the user names the columns.
    Csv(Box<CsvColumns>),
}

/// The formats that are told by content, with their names.
const TOLD: [(&str, LogFormat); 5] = [
    ("swf", LogFormat::Swf),
    ("sacct", LogFormat::Sacct),
    ("pbs", LogFormat::Pbs),
    ("lsf", LogFormat::Lsf),
    ("sge", LogFormat::Sge),
];

impl LogFormat {
    /// Reads `swf`, `sacct`, `pbs`, `lsf`, `sge` or `csv:submit=COLUMN,...`. `to_string` prints it.
    ///
    /// # Errors
    /// If it is none of these, or the columns of the table are not given as they must be.
    ///
    /// ```
    /// use shadowtime::trace::LogFormat;
    /// let text = "csv:submit=submit_time,wait=wait_time,run=run_time,procs=node_num";
    /// assert_eq!(LogFormat::parse(text).unwrap().to_string(), text);
    /// assert!(LogFormat::parse("xls").is_err());
    /// ```
    pub fn parse(text: &str) -> Result<LogFormat, SpecError> {
        if let Some(columns) = text.strip_prefix("csv:") {
            return CsvColumns::parse(columns)
                .map(|columns| LogFormat::Csv(Box::new(columns)))
                .map_err(|why| SpecError(format!("csv: {why}")));
        }
        let found = TOLD.into_iter().find(|(name, _)| *name == text);
        found.map(|(_, format)| format).ok_or_else(|| {
            SpecError(format!("'{text}' is not a format of logs: {}, csv:submit=COLUMN,...", FORMAT_NAMES.join(", ")))
        })
    }

    /// The name without columns.
    pub fn name(&self) -> &'static str {
        match self {
            LogFormat::Swf => "swf",
            LogFormat::Sacct => "sacct",
            LogFormat::Pbs => "pbs",
            LogFormat::Lsf => "lsf",
            LogFormat::Sge => "sge",
            LogFormat::Csv(_) => "csv",
        }
    }
}

const FORMAT_NAMES: [&str; 5] = ["swf", "sacct", "pbs", "lsf", "sge"];

impl fmt::Display for LogFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LogFormat::Csv(columns) => write!(f, "csv:{columns}"),
            other => f.write_str(other.name()),
        }
    }
}

/// The name of the format that a line belongs to. None if it belongs to none that can be told.
pub fn format_of_line(line: &[u8]) -> Option<&'static str> {
    if is_pbs(line) {
        Some("pbs")
    } else if is_lsf(line) {
        Some("lsf")
    } else if has_sacct_header(line) || is_sacct_row(line) {
        Some("sacct")
    } else if is_sge(line) {
        Some("sge")
    } else if is_swf(line) {
        Some("swf")
    } else {
        None
    }
}

/// Whether a line begins with a number and has columns that `sacct` could have printed.
fn is_sacct_like(line: &[u8]) -> bool {
    line.first().is_some_and(u8::is_ascii_digit) && memchr::memchr_iter(b'|', line).count() >= 3
}

/// Whether a line is a comment of SWF or begins with a number and a blank.
fn is_swf(line: &[u8]) -> bool {
    let first = field_texts(line).next().unwrap_or(b"");
    first.first() == Some(&b';') || number::parse(first).is_ok()
}

/// The lines after the first that are tried if the first does not tell the format.
const LINES_TRIED: usize = 20;

/// Tells the format of a log by its first bytes: the first line that is not blank and not a `#` comment decides, or one of
/// the next if that one is faulty. A log without such a line is SWF without records.
///
/// # Errors
/// If it is none that can be told; the message shows the first line.
pub fn detect(head: &[u8]) -> Result<LogFormat, String> {
    let mut lines = head.split(|&byte| byte == b'\n').filter(|line| !is_blank_line(line));
    let Some(first) = lines.clone().next() else { return Ok(LogFormat::Swf) };
    // SGE's file may begin with comments.
    let line = lines.find(|line| line.first() != Some(&b'#')).unwrap_or(first);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    // The first line may be faulty. One that is SWF must then be a whole record.
    let is_told = |line: &&[u8]| format_of_line(line).is_some_and(|name| name != "swf" || parse_fields(line).is_ok());
    let name = format_of_line(line).or_else(|| lines.take(LINES_TRIED).find(is_told).and_then(format_of_line));
    if let Some(name) = name {
        return Ok(LogFormat::parse(name).expect("it is a format"));
    }
    let shown = shorten(first.trim_ascii());
    // PowerShell writes such files.
    if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
        return Err("it is text in UTF-16; convert it with `iconv -f UTF-16 -t UTF-8`".to_string());
    }
    if memchr::memchr(0, head).is_some() {
        return Err(format!("it is not text, so it is not a log; it begins with \"{shown}\""));
    }
    let hint = if memchr::memmem::find(line, b"JobID").is_some() {
        "; if it is made by sacct, export it with `sacct -P` (see `sim help logs`)"
    } else if is_sacct_like(line) {
        "; if it is an sacct log without a header, name its columns with --columns (see `sim help logs`)"
    } else if is_csv_like(line) {
        "; if it is a table, name its columns with --log-format csv:submit=COLUMN,... (see `sim help logs`)"
    } else {
        ""
    };
    Err(format!(
        "its first line, \"{shown}\", is of none of the formats {}, csv:...: --log-format names one{hint}",
        FORMAT_NAMES.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_by_the_first_line() {
        let sge = format!("q:h:g:o:n:1:a:0:1310761621:1311095354:1311095414{}", ":0".repeat(34));
        for (head, name) in [
            ("", "swf"),
            ("\n\n", "swf"),
            ("; MaxProcs: 4\n", "swf"),
            ("  1 0 0 5\n", "swf"),
            ("1\t0\t0\n", "swf"),
            ("a faulty line\n1 0 0 5 1 1 1 1 9 1 1 1 1 1 1 1 1 1\n", "swf"),
            ("\nJobID|Submit|Start|End|NCPUS\n", "sacct"),
            ("jobidraw;submit;start\r\n", "sacct"),
            ("12/21/2009 15:27:00;E;6.edge;user=x ctime=1\n", "pbs"),
            ("\"JOB_FINISH\" \"9.11\" 1389683139\n", "lsf"),
            (&format!("# Version: 1\n#\n{sge}\n"), "sge"),
        ] {
            assert_eq!(detect(head.as_bytes()).unwrap().name(), name, "{head}");
        }
        assert!(detect(b"\xff\xfeJ\0o\0b\0").unwrap_err().contains("UTF-16"));
        for (head, message) in [
            ("rubbish\n1 2 3", "its first line, \"rubbish\", is of none of the formats swf, sacct"),
            ("\u{7f}ELF\0\0", "it is not text"),
            (",job,user,project\n", "name its columns with --log-format csv:"),
            ("12|2026|x|y\n", "name its columns with --columns"),
            ("JobID  JobName\n----- ------\n", "export it with `sacct -P`"),
        ] {
            let why = detect(head.as_bytes()).unwrap_err();
            assert!(why.contains(message) && !why.contains("skip-bad-lines"), "{why}");
        }
    }

    #[test]
    fn the_names_are_the_formats() {
        assert_eq!(TOLD.map(|(name, _)| name), FORMAT_NAMES);
        for (name, format) in TOLD {
            assert_eq!((format.name(), LogFormat::parse(name).unwrap()), (name, format));
        }
    }
}
