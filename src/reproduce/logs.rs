//! The archive's logs by name, whatever their version.

use std::path::{Path, PathBuf};

/// A log of the Parallel Workloads Archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogName {
    /// As studies call it.
    pub short: &'static str,
    /// What its file's name begins with.
    pub prefix: &'static str,
    /// Who collected it, as its header says.
    pub thanks: &'static str,
}

/// A log that is there.
#[derive(Clone, Debug)]
pub struct FoundLog {
    pub name: LogName,
    pub file: PathBuf,
}

/// Looks for logs in a folder: those that are there, and those that are not. Of several versions the last by name is
/// taken, so a cleaned one before a raw one of the same number.
pub fn find_logs(folder: &Path, names: &[LogName]) -> std::io::Result<(Vec<FoundLog>, Vec<LogName>)> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    files.sort();
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for &name in names {
        let is_it = |file: &&PathBuf| {
            let text = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            text.starts_with(name.prefix) && [".swf", ".swf.gz", ".swf.zst"].iter().any(|end| text.ends_with(end))
        };
        match files.iter().rfind(is_it) {
            Some(file) => found.push(FoundLog { name, file: file.clone() }),
            None => missing.push(name),
        }
    }
    Ok((found, missing))
}

/// What the archive asks for.
pub fn acknowledgements(logs: &[FoundLog]) -> String {
    let mut text = "The logs are from the Parallel Workloads Archive: D. G. Feitelson, D. Tsafrir and D. Krakov, \
        \"Experience with using the Parallel Workloads Archive\", J. Parallel Distrib. Comput. 74(10), 2014. Thanks to"
        .to_string();
    for (at, log) in logs.iter().enumerate() {
        text.push_str(&format!("{} {} ({})", if at == 0 { "" } else { "," }, log.name.thanks, log.name.short));
    }
    text
}
