//! A folder of finished runs, in files that are only appended to (parts).
//!
//! Each of `parts/0001.part`, `parts/0002.part`, ... has the finished runs of one process, one line per run, flushed at once.
//! A line has a checksum, so that a line cut short by a crash is ignored. A part also records the content of each log as a
//! hash, so that finished runs are found without reading the logs again, and a hash of each program that predicts, so that
//! they are found without starting it.

use litemap::LiteMap;
use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;
use twox_hash::XxHash3_64;

use super::kept_row::KeptRow;
use super::run::RunKey;
use crate::files;
use crate::report::OutputError;
use crate::sort::sort_by_key;
use crate::text::{escape_line, shortened, unescape_line};

/// The finished and failed runs of a folder.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    parts: Vec<PathBuf>,
    done: FxHashMap<RunKey, RowLocation>,
    failed: FxHashMap<RunKey, String>,
    /// The last recorded state of each log.
    logs: LiteMap<String, LogState>,
    /// The last recorded hash of each program, by the spec in full.
    programs: LiteMap<String, u128>,
    /// The number of lines that were cut short or damaged.
    pub damaged: usize,
}

/// The hash of a log's content, or why it could not be read.
pub type LogState = Result<u128, String>;

/// Where the row of a finished run is: the part, the first byte, the length in bytes.
#[derive(Clone, Copy, Debug)]
struct RowLocation {
    part: u32,
    from: u64,
    length: u32,
}

fn failed(path: &Path, error: io::Error) -> OutputError {
    OutputError { name: path.display().to_string(), error }
}

impl Store {
    /// Reads the parts in a folder; there may be none.
    ///
    /// # Errors
    ///
    /// If a part cannot be read.
    pub fn open(folder: &Path) -> Result<Store, OutputError> {
        let mut store = Store {
            folder: folder.to_path_buf(),
            parts: Vec::new(),
            done: FxHashMap::default(),
            failed: FxHashMap::default(),
            logs: LiteMap::new(),
            programs: LiteMap::new(),
            damaged: 0,
        };
        let parts = folder.join("parts");
        if let Ok(entries) = fs::read_dir(&parts) {
            let paths: Result<Vec<_>, _> = entries.map(|entry| entry.map(|entry| entry.path())).collect();
            store.parts = paths.map_err(|error| failed(&parts, error))?;
            store.parts.retain(|path| path.extension().is_some_and(|extension| extension == "part"));
            // In the order in which they were started: the last recorded state of a log is the valid one.
            sort_by_key(&mut store.parts, |path| (part_number(path), path.clone()));
        }
        for part in 0..store.parts.len() {
            match store.read_part(part) {
                // Deleted since the folder was listed: its runs are reported as missing.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                read => read.map_err(|error| failed(&store.parts[part], error))?,
            }
        }
        Ok(store)
    }

    fn read_part(&mut self, part: usize) -> io::Result<()> {
        let mut reader = BufReader::with_capacity(1 << 16, files::open(&self.parts[part])?);
        let (mut line, mut from) = (Vec::new(), 0u64);
        loop {
            line.clear();
            let length = reader.read_until(b'\n', &mut line)?;
            if length == 0 {
                return Ok(());
            }
            if self.read_line(&line, part, from).is_none() {
                self.damaged += 1;
            }
            from += length as u64;
        }
    }

    /// Reads a line as [`PartWriter`] writes it, which begins at this byte of a part. None if it is not complete.
    fn read_line(&mut self, line: &[u8], part: usize, from: u64) -> Option<()> {
        let line = std::str::from_utf8(line).ok()?.strip_suffix('\n')?;
        let (checksum, text) = line.split_once(' ')?;
        if u64::from_str_radix(checksum, 16).ok()? != XxHash3_64::oneshot(text.as_bytes()) {
            return None;
        }
        let (kind, rest) = text.split_once(' ')?;
        if kind == "unread" {
            let (log, message) = rest.split_once('\t')?;
            self.logs.insert(unescape_line(log), Err(unescape_line(message)));
            return Some(());
        }
        let (key, rest) = rest.split_once(' ')?;
        let key = u128::from_str_radix(key, 16).ok()?;
        match kind {
            "ok" => {
                // The row is the rest of the line.
                let (from, length) = (from + (line.len() - rest.len()) as u64, rest.len() as u32);
                self.done.insert(key, RowLocation { part: part as u32, from, length });
            }
            "failed" => drop(self.failed.insert(key, unescape_line(rest))),
            "log" => drop(self.logs.insert(unescape_line(rest), Ok(key))),
            "program" => drop(self.programs.insert(unescape_line(rest), key)),
            _ => return None,
        }
        Some(())
    }

    /// Whether a run is finished.
    pub fn is_done(&self, key: RunKey) -> bool {
        self.done.contains_key(&key)
    }

    /// Why a run failed when it was last tried; None if it did not fail or has been finished since.
    pub fn failure(&self, key: RunKey) -> Option<&str> {
        self.failed.get(&key).filter(|_| !self.is_done(key)).map(String::as_str)
    }

    /// The last recorded state of a log; None if there is no record.
    pub fn log(&self, log: &str) -> Option<&LogState> {
        self.logs.get(log)
    }

    /// The last recorded hash of a program; None if there is no record.
    pub fn program(&self, spec: &str) -> Option<u128> {
        self.programs.get(spec).copied()
    }

    /// The row of a finished run, without the label of its log; None if it is not finished.
    ///
    /// # Errors
    ///
    /// If its part cannot be read.
    pub fn row<K: KeptRow>(&self, key: RunKey) -> Result<Option<K>, OutputError> {
        let Some(place) = self.done.get(&key) else { return Ok(None) };
        let path = &self.parts[place.part as usize];
        let read = || {
            let mut file = files::open(path)?;
            file.seek(SeekFrom::Start(place.from))?;
            let mut line = vec![0; place.length as usize];
            file.read_exact(&mut line)?;
            let line = String::from_utf8(line).map_err(io::Error::other)?;
            K::from_line(&line).map_err(|why| {
                let what = format!("'{}' is not the row of a finished run: {why}", shortened(&line));
                io::Error::other(format!("{what}; without this file, its runs are computed again"))
            })
        };
        read().map(Some).map_err(|error| failed(path, error))
    }

    /// Creates a part for this process.
    ///
    /// # Errors
    ///
    /// If the file cannot be created.
    pub fn new_part(&self) -> Result<PartWriter, OutputError> {
        let folder = self.folder.join("parts");
        fs::create_dir_all(&folder).map_err(|error| failed(&folder, error))?;
        for number in self.parts.iter().map(|path| part_number(path)).max().unwrap_or(0) + 1.. {
            let path = folder.join(format!("{number:04}.part"));
            // Another process may try the same name; only one of them can create the file.
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => return Ok(PartWriter { file, path, synced: Instant::now() }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(failed(&path, error)),
            }
        }
        unreachable!("there are more numbers than files")
    }
}

/// The number in a part's name; 0 for any other name.
fn part_number(path: &Path) -> u64 {
    path.file_stem().and_then(|stem| stem.to_str()?.parse().ok()).unwrap_or(0)
}

/// Appends finished runs to a part. Each is written at once, so that it survives the end of the process, and synced to
/// the disk at least once a second.
#[derive(Debug)]
pub struct PartWriter {
    file: File,
    path: PathBuf,
    synced: Instant,
}

impl PartWriter {
    /// Records a finished run.
    ///
    /// # Errors
    ///
    /// If the part cannot be written.
    pub fn done(&mut self, key: RunKey, row: &impl KeptRow) -> Result<(), OutputError> {
        self.append(&format!("ok {key:032x} {}", row.to_line()))
    }

    /// Records a run that could not be computed.
    ///
    /// # Errors
    ///
    /// If the part cannot be written.
    pub fn failed(&mut self, key: RunKey, message: &str) -> Result<(), OutputError> {
        self.append(&format!("failed {key:032x} {}", escape_line(message)))
    }

    /// Records the content of a log, or why it cannot be read.
    ///
    /// # Errors
    ///
    /// If the part cannot be written.
    pub fn log(&mut self, log: &str, state: &LogState) -> Result<(), OutputError> {
        self.append(&match state {
            Ok(digest) => format!("log {digest:032x} {}", escape_line(log)),
            Err(message) => format!("unread {}\t{}", escape_line(log), escape_line(message)),
        })
    }

    /// Records the hash of a program that predicts.
    ///
    /// # Errors
    ///
    /// If the part cannot be written.
    pub fn program(&mut self, spec: &str, digest: u128) -> Result<(), OutputError> {
        self.append(&format!("program {digest:032x} {}", escape_line(spec)))
    }

    /// Waits until all lines are on the disk.
    ///
    /// # Errors
    ///
    /// If the disk reports a failure.
    pub fn sync(&mut self) -> Result<(), OutputError> {
        self.synced = Instant::now();
        self.file.sync_data().map_err(|error| failed(&self.path, error))
    }

    fn append(&mut self, text: &str) -> Result<(), OutputError> {
        let mut line = String::with_capacity(text.len() + 18);
        let _ = writeln!(line, "{:016x} {text}", XxHash3_64::oneshot(text.as_bytes()));
        self.file.write_all(line.as_bytes()).map_err(|error| failed(&self.path, error))?;
        if self.synced.elapsed() > Duration::from_secs(1) { self.sync() } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{RunLabel, RunRow};

    fn row(predictor: &str) -> RunRow {
        let label = RunLabel { predictor: predictor.to_string(), ..RunLabel::default() };
        RunRow { label, ..RunRow::default() }
    }

    #[test]
    fn what_was_written_is_read_and_what_was_cut_short_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let mut part = store.new_part().unwrap();
        part.done(1, &row("a")).unwrap();
        part.failed(2, "no\nluck").unwrap();
        part.done(3, &row("c,\nd\t\\n")).unwrap();
        part.log("a\tlog\n.swf", &Ok(7)).unwrap();
        part.log("b", &Ok(8)).unwrap();
        part.program("python3 a.py\n", 9).unwrap();
        // This process is killed while writing. Another process finishes the cell that failed here.
        part.file.write_all(b"0123456789abcdef ok 00000000").unwrap();
        let mut other = store.new_part().unwrap();
        other.done(2, &row("e")).unwrap();
        // Numbers of parts only ever grow, past gaps and past four digits.
        fs::write(folder.path().join("parts/9999.part"), "").unwrap();
        let mut last = Store::open(folder.path()).unwrap().new_part().unwrap();
        last.log("b", &Err("not\tthere".into())).unwrap();
        assert!(last.path.ends_with("10000.part"));

        let store = Store::open(folder.path()).unwrap();
        assert_eq!((store.parts.len(), store.damaged), (4, 1));
        let rows: Vec<_> = (1..5).map(|key| store.row::<RunRow>(key).unwrap()).collect();
        assert_eq!(rows, [Some(row("a")), Some(row("e")), Some(row("c,\nd\t\\n")), None]);
        assert_eq!(store.log("a\tlog\n.swf"), Some(&Ok(7)));
        assert_eq!((store.log("b"), store.log("c")), (Some(&Err("not\tthere".into())), None));
        assert_eq!((store.program("python3 a.py\n"), store.program("b")), (Some(9), None));
        assert_eq!((store.failure(2), store.is_done(2)), (None, true));
    }

    #[test]
    fn a_flipped_bit_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let mut part = Store::open(folder.path()).unwrap().new_part().unwrap();
        part.done(7, &row("ruh")).unwrap();
        let mut bytes = fs::read(&part.path).unwrap();
        let last = bytes.len() - 2;
        bytes[last] ^= 1;
        fs::write(&part.path, bytes).unwrap();
        let store = Store::open(folder.path()).unwrap();
        assert_eq!((store.is_done(7), store.damaged), (false, 1));
    }

    /// Rows of another format have other keys. If one were found all the same, it must be an error.
    #[test]
    fn a_row_of_another_format_is_an_error_that_names_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let mut part = Store::open(folder.path()).unwrap().new_part().unwrap();
        part.append(&format!("ok {:032x} 128,easy,ruh,7,0,1.000,2.000", 7)).unwrap();
        let store = Store::open(folder.path()).unwrap();
        assert_eq!((store.is_done(7), store.damaged), (true, 0));
        let error = store.row::<RunRow>(7).unwrap_err().to_string();
        for text in ["0001.part", "'128,easy,ruh,7,0,1.000,2.000'", "computed again"] {
            assert!(error.contains(text), "{error}");
        }
    }
}
