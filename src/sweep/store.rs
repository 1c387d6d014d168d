//! The folder of a sweep: its grid, and the finished cells in parts that only ever grow.
//!
//! `grid.toml` is the grid; `parts/0001.part`, `parts/0002.part`, ... are what one process each has finished, a line a
//! cell, flushed at once; `results.csv` is written when every cell is there. A line carries a checksum, so that one cut
//! short by a crash is as if it had never been written.

use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;
use twox_hash::XxHash3_64;

use crate::report::OutputError;

/// What identifies a finished cell: its options, its log's content, and the version of what computed it.
pub type CellKey = u128;

/// What is known of cells.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    parts: Vec<PathBuf>,
    done: FxHashMap<CellKey, Place>,
    failed: FxHashMap<CellKey, String>,
    /// Lines that were cut short or damaged.
    pub damaged: usize,
}

/// Where a finished cell's row stands: which part, from which byte, how long.
#[derive(Clone, Copy, Debug)]
struct Place {
    part: u32,
    from: u64,
    length: u32,
}

fn failed(path: &Path, error: io::Error) -> OutputError {
    OutputError { name: path.display().to_string(), error }
}

impl Store {
    /// Reads what is there.
    pub fn open(folder: &Path) -> Result<Store, OutputError> {
        let mut store = Store {
            folder: folder.to_path_buf(),
            parts: Vec::new(),
            done: FxHashMap::default(),
            failed: FxHashMap::default(),
            damaged: 0,
        };
        let parts = folder.join("parts");
        if let Ok(entries) = fs::read_dir(&parts) {
            let paths: Result<Vec<_>, _> = entries.map(|entry| entry.map(|entry| entry.path())).collect();
            store.parts = paths.map_err(|error| failed(&parts, error))?;
            store.parts.retain(|path| path.extension().is_some_and(|extension| extension == "part"));
            store.parts.sort();
        }
        for part in 0..store.parts.len() {
            store.read_part(part).map_err(|error| failed(&store.parts[part], error))?;
        }
        Ok(store)
    }

    fn read_part(&mut self, part: usize) -> io::Result<()> {
        let mut reader = BufReader::with_capacity(1 << 16, File::open(&self.parts[part])?);
        let (mut line, mut from) = (Vec::new(), 0u64);
        loop {
            line.clear();
            let length = reader.read_until(b'\n', &mut line)?;
            if length == 0 {
                return Ok(());
            }
            match read_line(&line) {
                Some(Line { key, failure: None, row }) => {
                    let place = Place { part: part as u32, from: from + row.start as u64, length: row.len() as u32 };
                    self.done.insert(key, place);
                }
                Some(Line { key, failure: Some(message), .. }) => {
                    self.failed.insert(key, message);
                }
                None => self.damaged += 1,
            }
            from += length as u64;
        }
    }

    pub fn is_done(&self, key: CellKey) -> bool {
        self.done.contains_key(&key)
    }

    /// Why a cell could not be computed when it was last tried.
    pub fn failure(&self, key: CellKey) -> Option<&str> {
        self.failed.get(&key).filter(|_| !self.is_done(key)).map(String::as_str)
    }

    /// The row of a finished cell.
    pub fn row(&self, key: CellKey) -> Result<Option<String>, OutputError> {
        let Some(place) = self.done.get(&key) else { return Ok(None) };
        let path = &self.parts[place.part as usize];
        let read = || {
            let mut file = File::open(path)?;
            file.seek(SeekFrom::Start(place.from))?;
            let mut row = vec![0; place.length as usize];
            file.read_exact(&mut row)?;
            String::from_utf8(row).map_err(io::Error::other)
        };
        read().map(Some).map_err(|error| failed(path, error))
    }

    /// Begins a part of this process's own.
    pub fn new_part(&self) -> Result<PartWriter, OutputError> {
        let folder = self.folder.join("parts");
        fs::create_dir_all(&folder).map_err(|error| failed(&folder, error))?;
        for number in self.parts.len() + 1.. {
            let path = folder.join(format!("{number:04}.part"));
            // Another process may be looking for a name too; the file system decides who has it.
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => return Ok(PartWriter { file, path, synced: Instant::now() }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(failed(&path, error)),
            }
        }
        unreachable!("there are more numbers than files")
    }
}

/// Appends finished cells. Each is handed to the system at once, so that it survives the process, and to the disk at
/// least every second.
#[derive(Debug)]
pub struct PartWriter {
    file: File,
    path: PathBuf,
    synced: Instant,
}

impl PartWriter {
    pub fn done(&mut self, key: CellKey, row: &str) -> Result<(), OutputError> {
        self.append(&format!("ok {key:032x} {row}"))
    }

    pub fn failed(&mut self, key: CellKey, message: &str) -> Result<(), OutputError> {
        self.append(&format!("failed {key:032x} {}", message.replace(['\n', '\r'], " ")))
    }

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

struct Line {
    key: CellKey,
    failure: Option<String>,
    /// Where in the line the row stands.
    row: std::ops::Range<usize>,
}

/// Reads a line as [`PartWriter`] writes it; None if it is not whole.
fn read_line(line: &[u8]) -> Option<Line> {
    let line = std::str::from_utf8(line).ok()?.strip_suffix('\n')?;
    let (checksum, text) = line.split_once(' ')?;
    if u64::from_str_radix(checksum, 16).ok()? != XxHash3_64::oneshot(text.as_bytes()) {
        return None;
    }
    let (kind, rest) = text.split_once(' ')?;
    let (key, row) = rest.split_once(' ')?;
    let key = u128::from_str_radix(key, 16).ok()?;
    let failure = match kind {
        "ok" => None,
        "failed" => Some(row.to_string()),
        _ => return None,
    };
    Some(Line { key, failure, row: line.len() - row.len()..line.len() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_and_what_was_cut_short_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let mut part = store.new_part().unwrap();
        part.done(1, "a,b").unwrap();
        part.failed(2, "no\nluck").unwrap();
        part.done(3, "\"c,d\",").unwrap();
        // Killed while writing; and the same cell finished by another process, which succeeds where this one failed.
        part.file.write_all(b"0123456789abcdef ok 00000000").unwrap();
        let mut other = store.new_part().unwrap();
        other.done(2, "e").unwrap();

        let store = Store::open(folder.path()).unwrap();
        assert_eq!((store.parts.len(), store.damaged), (2, 1));
        let rows: Vec<_> = (1..5).map(|key| store.row(key).unwrap()).collect();
        assert_eq!(rows, [Some("a,b".into()), Some("e".into()), Some("\"c,d\",".into()), None]);
        assert_eq!((store.failure(2), store.is_done(2)), (None, true));
    }

    #[test]
    fn a_flipped_bit_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let mut part = Store::open(folder.path()).unwrap().new_part().unwrap();
        part.done(7, "1.000,2.000").unwrap();
        let mut bytes = fs::read(&part.path).unwrap();
        let last = bytes.len() - 2;
        bytes[last] ^= 1;
        fs::write(&part.path, bytes).unwrap();
        let store = Store::open(folder.path()).unwrap();
        assert_eq!((store.is_done(7), store.damaged), (false, 1));
    }
}
