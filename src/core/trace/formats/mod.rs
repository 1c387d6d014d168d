//! The table of formats, and how a format is told by the content of a file.

mod csv;
pub mod csv_columns;
mod events;
mod keys;
mod lsf;
mod pbs;
mod sacct;
mod sge;
pub mod slurm;
mod spec;
mod squeue;
mod squeue_json;
mod swf;

pub use csv_columns::CsvColumns;

use super::error::{LineFault, TraceError};
use super::lines::{RawLines, shorten};
use super::log::ReadOptions;
use super::log_format::LogFormat;
use super::record::{is_blank_line, parse_fields};
use super::rows::Collector;
use super::source::Source;
use crate::spec::Key;

/// A format of files. Each has a file in this folder.
pub struct FormatEntry {
    /// As `--log-format` names it.
    pub name: &'static str,
    /// One line of help.
    pub about: &'static str,
    /// Whether the files have jobs that have ended, and jobs of a present queue.
    pub has_past: bool,
    pub has_present: bool,
    /// Whether times are dates. If not, they count from the start of the log.
    pub has_dates: bool,
    /// Whether a line is of this format, so that a file is.
    pub is_line: fn(&[u8]) -> bool,
    /// What to do with a file of which the first line is almost of this format. None if it is not.
    pub hint: fn(&[u8]) -> Option<&'static str>,
    /// Reads all rows.
    pub read: fn(&mut RawLines, &mut Collector<'_>) -> Result<(), TraceError>,
    /// The keys that it has in `--log-format`.
    pub keys: &'static [Key],
}

impl FormatEntry {
    /// A format of accounting files, for what its entry does not say.
    const ACCOUNTING: FormatEntry = FormatEntry {
        name: "",
        about: "",
        has_past: true,
        has_present: false,
        has_dates: true,
        is_line: |_| false,
        hint: |_| None,
        read: |_, _| Ok(()),
        keys: &[],
    };

    /// A format of present queues.
    const QUEUE: FormatEntry = FormatEntry { has_past: false, has_present: true, ..FormatEntry::ACCOUNTING };
}

/// All formats. The last one of which a line can be is the format of the line: the test of SWF is the least strict.
pub const FORMATS: [FormatEntry; 9] = [
    swf::FORMAT,
    sacct::FORMAT,
    pbs::FORMAT,
    lsf::FORMAT,
    sge::FORMAT,
    events::FORMAT,
    csv::FORMAT,
    squeue::FORMAT,
    squeue_json::FORMAT,
];

/// The formats of logs that `--log-format` can name, and what they are.
pub fn log_formats() -> impl Iterator<Item = (&'static str, &'static str)> {
    FORMATS.iter().filter(|entry| entry.has_past).map(|entry| (entry.name, entry.about))
}

/// The names of the formats of logs. That of a table is followed by its columns.
fn names() -> String {
    let names: Vec<_> = log_formats().map(|(name, _)| name).collect();
    // Only a table has columns, and it is the last one.
    names.join(", ") + ":..."
}

impl LogFormat {
    /// Its entry in the table.
    pub(super) fn entry(&self) -> &'static FormatEntry {
        FORMATS.iter().find(|entry| entry.name == self.name).expect("a format is in the table")
    }
}

impl<'a> Collector<'a> {
    /// Of a log, or of a present queue, in a format.
    pub fn new(
        source: &Source,
        format: LogFormat,
        options: &'a ReadOptions,
        on_fault: Option<&'a mut dyn FnMut(LineFault)>,
        progress: &'a mut dyn FnMut(usize),
    ) -> Self {
        Collector::with_formats(format_of_line, source, format, options, on_fault, progress)
    }

    /// Reads a file.
    pub fn read(&mut self, raw: &mut RawLines) -> Result<(), TraceError> {
        self.name = raw.name().to_string();
        (self.format.entry().read)(raw, self)?;
        self.log.digest = raw.digest();
        Ok(())
    }
}

impl From<&FormatEntry> for LogFormat {
    fn from(entry: &FormatEntry) -> LogFormat {
        LogFormat { name: entry.name, columns: None, has_dates: entry.has_dates }
    }
}

/// The name of the format of logs that a line belongs to. None if it belongs to none that can be told.
pub fn format_of_line(line: &[u8]) -> Option<&'static str> {
    told(line, |entry| entry.has_past).map(|entry| entry.name)
}

fn told(line: &[u8], is_wanted: impl Fn(&FormatEntry) -> bool) -> Option<&'static FormatEntry> {
    FORMATS.iter().rev().find(|entry| is_wanted(entry) && (entry.is_line)(line))
}

/// The lines after the first that are tried if the first does not tell the format.
const LINES_TRIED: usize = 20;

/// Tells the format of a log, or of a present queue, by its first bytes: the first line that is not blank and not a `#`
/// comment decides, or one of the next if that one is faulty. A log without such a line is SWF without records.
///
/// # Errors
/// If it is none that can be told; the message shows the first line.
pub fn detect(head: &[u8], is_queue: bool) -> Result<LogFormat, String> {
    let mut lines = head.split(|&byte| byte == b'\n').filter(|line| !is_blank_line(line)).map(<[u8]>::trim_ascii);
    let Some(first) = lines.clone().next() else {
        return if is_queue { Err(EMPTY_QUEUE.to_string()) } else { Ok(LogFormat::from(&swf::FORMAT)) };
    };
    // SGE's file may begin with comments.
    let line = lines.find(|line| line.first() != Some(&b'#')).unwrap_or(first);
    let is_wanted = |entry: &FormatEntry| if is_queue { entry.has_present } else { entry.has_past };
    // The first line may be faulty. One that is SWF must then be a whole record.
    let later = |line| told(line, is_wanted).filter(|entry| entry.name != "swf" || parse_fields(line).is_ok());
    if let Some(entry) = told(line, is_wanted).or_else(|| lines.take(LINES_TRIED).find_map(later)) {
        return Ok(LogFormat::from(entry));
    }
    let (shown, what) = (shorten(first), if is_queue { "queue" } else { "log" });
    // PowerShell writes such files.
    if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
        return Err("it is text in UTF-16; convert it with `iconv -f UTF-16 -t UTF-8`".to_string());
    }
    if memchr::memchr(0, head).is_some() {
        return Err(format!("it is not text, so it is not a {what}; it begins with \"{shown}\""));
    }
    let hints = FORMATS.iter().filter(|entry| is_wanted(entry)).find_map(|entry| (entry.hint)(line));
    let hint = hints.map_or(String::new(), |hint| format!("; {hint}"));
    if !is_queue {
        return Err(format!(
            "its first line, \"{shown}\", is of none of the formats {}: --log-format names one{hint}",
            names()
        ));
    }
    let past = format_of_line(line)
        .map(|log| format!("; it looks like a log in the format {log}, which has jobs that have ended"));
    Err(format!(
        "its first line, \"{shown}\", is not of a queue{}: export it with `{}`, or with `squeue --json`",
        past.unwrap_or(hint),
        squeue::COMMAND
    ))
}

const EMPTY_QUEUE: &str =
    "it is empty; if the queue is empty, export it with its header, without the option -h of squeue";

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
            ("# a week\n-dt 10.50 -e submit_batch_job | -n 1 pseudo.job\n", "events"),
            ("-e submit_batch_job -dt 3 | -n 1 pseudo.job\n", "events"),
        ] {
            assert_eq!(detect(head.as_bytes(), false).unwrap().name(), name, "{head}");
        }
        assert!(detect(b"\xff\xfeJ\0o\0b\0", false).unwrap_err().contains("UTF-16"));
        for (head, message) in [
            ("rubbish\n1 2 3", "its first line, \"rubbish\", is of none of the formats swf, sacct"),
            ("\u{7f}ELF\0\0", "it is not text"),
            (",job,user,project\n", "name its columns with --log-format csv:"),
            ("12|2026|x|y\n", "name its columns with --log-format sacct:columns="),
            ("JobID  JobName\n----- ------\n", "export it with `sacct -P`"),
        ] {
            let why = detect(head.as_bytes(), false).unwrap_err();
            assert!(why.contains(message) && !why.contains("skip-bad-lines"), "{why}");
        }
    }
}
