//! The state file: the events that were accepted, one line each, in the form in which they are sent.
//!
//! Lines are only appended, with one write per event, so that a process can be killed at any moment: at worst the last line
//! is torn, and is dropped at the next start. A power cut may lose more, because nothing waits for the disk. When the file is
//! written again it appears whole, under a temporary name first. That gives it another inode, so the lock is on a file
//! beside it, which stays.
//!
//! The last field of each line is a checksum of the line and of the checksum of the line before it. So a line that was
//! changed, removed, repeated or moved is noticed. The lines of version 1 have no checksums.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use twox_hash::XxHash3_64;

use super::error::ProductionError;
use crate::files::{Place, written_path};
use crate::report::{Output, refuse_input};

/// A state file that is locked.
#[derive(Debug)]
pub struct StateFile {
    /// The file itself: symbolic links are followed.
    path: PathBuf,
    /// Open to append. None before the file exists.
    file: Option<File>,
    /// Which file that is, and its length in bytes: no other program may change it.
    place: Option<Place>,
    length: u64,
    /// The checksum of the last line.
    sum: u64,
    /// The lock is released when this is closed, also if the process is killed.
    _lock: File,
}

/// How the first line of every state file begins.
const BEGIN: &str = "{\"shadowtime\":\"predict\",";

/// The first line of a state file.
#[derive(Debug, serde::Deserialize)]
pub struct StateHeader {
    version: u32,
    /// The predictor that was last used with the file, in full.
    pub predictor: String,
}

impl StateHeader {
    /// Whether the lines have checksums.
    pub fn has_sums(&self) -> bool {
        self.version == VERSION
    }
}

/// What was found in a state file.
#[derive(Debug)]
pub struct Found {
    /// The first line; None if there is no file or no whole line in it.
    pub header: Option<StateHeader>,
    /// The length of the torn last line that was removed, in bytes; 0 if there was none.
    pub torn: u64,
    /// Whether there is a file, but nothing in it.
    pub is_empty: bool,
}

/// The version of the format.
const VERSION: u32 = 2;

/// The version without checksums, which is still read.
const WITHOUT_SUMS: u32 = 1;

/// How the field of the checksum begins.
const SUM: &str = ",\"sum\":\"";

/// The end of a line with this checksum.
fn end_of_line(sum: u64) -> String {
    format!("{SUM}{sum:016x}\"}}")
}

/// Adds the checksum and a newline to a line. `sum` is that of the line before, and then that of this one.
fn seal(sum: &mut u64, line: &mut Vec<u8>) {
    let brace = line.pop();
    debug_assert_eq!(brace, Some(b'}'), "a line is an object");
    *sum = XxHash3_64::oneshot_with_seed(*sum, line);
    line.extend_from_slice(end_of_line(*sum).as_bytes());
    line.push(b'\n');
}

/// Removes the checksum of a line without its newline. Returns whether it was right.
fn unseal(sum: &mut u64, line: &mut Vec<u8>) -> bool {
    let Some(length) = line.len().checked_sub(end_of_line(0).len()) else { return false };
    let wanted = XxHash3_64::oneshot_with_seed(*sum, &line[..length]);
    if line[length..] != *end_of_line(wanted).as_bytes() {
        return false;
    }
    line.truncate(length);
    line.push(b'}');
    *sum = wanted;
    true
}

/// The first line for this predictor.
pub fn header_line(predictor: &str) -> String {
    let predictor = serde_json::Value::from(predictor);
    format!("{BEGIN}\"version\":{VERSION},\"predictor\":{predictor}}}")
}

/// How often, and with what pause, the lock of a state is tried before it counts as used by another process.
const LOCK_TRIES: u32 = 20;
const LOCK_PAUSE: std::time::Duration = std::time::Duration::from_millis(20);

impl StateFile {
    /// Locks the file of this name, which need not exist.
    ///
    /// # Errors
    /// If another process has it, or it cannot be a state file, or is a file that is read.
    pub fn lock(argument: &str) -> Result<StateFile, ProductionError> {
        let failed = |error| ProductionError::file(Path::new(argument), error);
        let path = written_path(argument).map_err(failed)?;
        match fs::metadata(&path) {
            Ok(there) if there.is_dir() => return Err(failed(io::ErrorKind::IsADirectory.into())),
            Ok(there) if !there.is_file() => return Err(failed(io::Error::other("it is not a file"))),
            _ => refuse_input(Place::existing(&path)).map_err(failed)?,
        }
        let mut name = path.clone().into_os_string();
        name.push(".lock");
        let lock_path = PathBuf::from(name);
        let lock = OpenOptions::new().create(true).truncate(false).write(true).open(&lock_path);
        let lock = lock.map_err(|error| ProductionError::file(&lock_path, error))?;
        // A process that is just being started holds copies of the files of the one that starts it, for some milliseconds.
        for _ in 0..LOCK_TRIES {
            match lock.try_lock() {
                Ok(()) => return Ok(StateFile { path, file: None, place: None, length: 0, sum: 0, _lock: lock }),
                Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_PAUSE),
                Err(TryLockError::Error(error)) => return Err(ProductionError::file(&lock_path, error)),
            }
        }
        Err(ProductionError::InUse(path))
    }

    /// Where it is: symbolic links are followed.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the file. `handle` gets every whole line after the first, with its number and without its checksum. A torn last
    /// line is removed.
    ///
    /// # Errors
    /// If it is not a state file or cannot be read, or `handle` returns why a line is wrong.
    pub fn read(
        &mut self,
        mut handle: impl FnMut(&StateHeader, u64, &[u8]) -> Result<(), ProductionError>,
    ) -> Result<Found, ProductionError> {
        let failed = |error| ProductionError::file(&self.path, error);
        let mut file = match OpenOptions::new().read(true).append(true).open(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Found { header: None, torn: 0, is_empty: false });
            }
            opened => opened.map_err(failed)?,
        };
        let (mut header, mut whole, mut number, mut sum, mut line) = (None, 0, 0, 0, Vec::new());
        let mut reader = BufReader::with_capacity(1 << 16, &file);
        loop {
            line.clear();
            let length = reader.read_until(b'\n', &mut line).map_err(failed)?;
            if line.pop_if(|last| *last == b'\n').is_none() {
                break;
            }
            (whole, number) = (whole + length as u64, number + 1);
            match &header {
                None => header = Some(self.header(&mut sum, &mut line)?),
                Some(header) => {
                    if header.has_sums() && !unseal(&mut sum, &mut line) {
                        return Err(damaged(&self.path, number, WRONG_SUM));
                    }
                    handle(header, number, &line)?;
                }
            }
        }
        drop(reader);
        if !line.is_empty() {
            // Another file is not changed, even if it has no whole line.
            let same = line.iter().zip(BEGIN.as_bytes()).all(|(one, other)| one == other);
            if header.is_none() && !same {
                return Err(self.not_a_state_file());
            }
            file.set_len(whole).map_err(failed)?;
        }
        file.seek(SeekFrom::End(0)).map_err(failed)?;
        let torn = line.len() as u64;
        if header.is_some() {
            (self.file, self.place, self.length, self.sum) = (Some(file), Place::existing(&self.path), whole, sum);
        }
        Ok(Found { is_empty: header.is_none(), header, torn })
    }

    fn header(&self, sum: &mut u64, line: &mut Vec<u8>) -> Result<StateHeader, ProductionError> {
        if !line.starts_with(BEGIN.as_bytes()) {
            return Err(self.not_a_state_file());
        }
        let damaged = |why: &str| damaged(&self.path, 1, why);
        let header: StateHeader = serde_json::from_slice(line).map_err(|error| damaged(&error.to_string()))?;
        match header.version {
            VERSION if unseal(sum, line) => Ok(header),
            WITHOUT_SUMS if memchr::memmem::find(line, SUM.as_bytes()).is_none() => Ok(header),
            VERSION | WITHOUT_SUMS => Err(damaged(WRONG_SUM)),
            version => {
                let why =
                    format!("the file has version {version}, but this program knows only versions up to {VERSION}");
                Err(ProductionError::State { path: self.path.clone(), line: 1, why })
            }
        }
    }

    fn not_a_state_file(&self) -> ProductionError {
        let why = "this is not a state file of `sim predict`: give the name of a new file".to_string();
        ProductionError::State { path: self.path.clone(), line: 0, why }
    }

    /// Writes the lines of a file without checksums again, with them.
    ///
    /// # Errors
    /// If the file cannot be read or written.
    pub fn add_sums(&mut self, header: &StateHeader) -> Result<(), ProductionError> {
        let text = fs::read(&self.path).map_err(|error| ProductionError::file(&self.path, error))?;
        self.replace(|write| {
            write(header_line(&header.predictor).into_bytes())?;
            let mut lines = text.split(|byte| *byte == b'\n').skip(1).filter(|line| !line.is_empty());
            lines.try_for_each(|line| write(line.trim_ascii_end().to_vec()))
        })
    }

    /// Appends a line, an object without a newline, in one write. The line gets its checksum.
    ///
    /// # Errors
    /// If it cannot be written, or another program has removed, replaced or changed the file. What was written of it is removed
    /// at the next start.
    ///
    /// # Panics
    /// If the file does not exist: [`StateFile::replace`] makes it.
    pub fn append(&mut self, line: &mut Vec<u8>) -> Result<(), ProductionError> {
        seal(&mut self.sum, line);
        let file = self.file.as_mut().expect("the file was made");
        file.write_all(line).map_err(|error| ProductionError::file(&self.path, error))?;
        self.length += line.len() as u64;
        // After the write: then every event that is answered was in the file of this name.
        self.check()
    }

    /// Refuses a file that another program has removed, replaced or changed.
    fn check(&self) -> Result<(), ProductionError> {
        let length = fs::metadata(&self.path).map(|there| there.len());
        if length.is_ok_and(|length| length == self.length) && Place::existing(&self.path) == self.place {
            return Ok(());
        }
        let why = "another program has removed, replaced or changed it since it was opened, so that the last event is not \
                   kept: put the file back, or begin without it and with --learn-from";
        Err(ProductionError::file(&self.path, io::Error::other(why)))
    }

    /// Writes the whole file again. The old one is unchanged until the new one is complete. `write` calls its argument with
    /// each line, an object without a newline.
    ///
    /// # Errors
    /// If it cannot be written, or another program has removed, replaced or changed the old one.
    pub fn replace(
        &mut self,
        write: impl FnOnce(&mut dyn FnMut(Vec<u8>) -> io::Result<()>) -> io::Result<()>,
    ) -> Result<(), ProductionError> {
        if self.file.is_some() {
            self.check()?;
        }
        let failed = |error| ProductionError::file(&self.path, error);
        let name = self.path.to_str().ok_or_else(|| failed(io::Error::other("its name is not UTF-8")))?;
        let output = Output::create(name).map_err(ProductionError::File)?;
        let (mut sum, mut length) = (0, 0);
        // The name may end in `.gz`, behind a link, but lines are appended as they are.
        let written = output.plain().fill(|out| {
            write(&mut |mut line| {
                seal(&mut sum, &mut line);
                length += line.len() as u64;
                out.write_all(&line)
            })
        });
        written.map_err(ProductionError::File)?;
        self.file = Some(OpenOptions::new().append(true).open(&self.path).map_err(failed)?);
        (self.place, self.length, self.sum) = (Place::existing(&self.path), length, sum);
        Ok(())
    }
}

/// What is wrong if a checksum does not fit.
const WRONG_SUM: &str = "its checksum is wrong: it was changed, or lines before it were removed, repeated or moved";

/// The error of a damaged line.
pub fn damaged(path: &Path, line: u64, why: &str) -> ProductionError {
    let why = format!("the line is damaged: {why}. {}", without_line(path, line));
    ProductionError::State { path: path.to_path_buf(), line, why }
}

/// How to go on without a line.
pub fn without_line(path: &Path, line: u64) -> String {
    let (before, name) = (line.saturating_sub(1), path.display());
    match before {
        0 => "Begin with a new file and --learn-from".to_string(),
        _ => format!(
            "`head -n {before} '{name}' > NEW` keeps what is before it; or begin with a new file and --learn-from"
        ),
    }
}
