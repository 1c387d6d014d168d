//! The state file: the events that were accepted, one line each, in the form in which they are sent.
//!
//! Lines are only appended, with one write per event, so that a process can be killed at any moment: at worst the last line
//! is torn, and is dropped at the next start. A power cut may lose more, because nothing waits for the disk. When the file is
//! written again it appears whole, under a temporary name first. That gives it another inode, so the lock is on a file
//! beside it, which stays.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::error::ProductionError;
use crate::report::{Output, written_path};

/// A state file that is locked.
#[derive(Debug)]
pub struct StateFile {
    /// The file itself: symbolic links are followed.
    path: PathBuf,
    /// Open to append. None before the file exists.
    file: Option<File>,
    /// The lock is released when this is closed, also if the process is killed.
    _lock: File,
}

/// How the first line of every state file begins.
const BEGIN: &str = "{\"shadowtime\":\"predict\",";

/// The first line of a state file.
#[derive(Debug, serde::Deserialize)]
pub struct Header {
    version: u32,
    /// The predictor that was last used with the file, in full.
    pub predictor: String,
}

/// The version of the format.
const VERSION: u32 = 1;

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
    /// If another process has it, or it cannot be a state file.
    pub fn lock(argument: &str) -> Result<StateFile, ProductionError> {
        let failed = |error| ProductionError::file(Path::new(argument), error);
        let path = written_path(argument).map_err(failed)?;
        match fs::metadata(&path) {
            Ok(there) if there.is_dir() => return Err(failed(io::ErrorKind::IsADirectory.into())),
            Ok(there) if !there.is_file() => return Err(failed(io::Error::other("it is not a file"))),
            _ => {}
        }
        let mut name = path.clone().into_os_string();
        name.push(".lock");
        let lock_path = PathBuf::from(name);
        let lock = OpenOptions::new().create(true).truncate(false).write(true).open(&lock_path);
        let lock = lock.map_err(|error| ProductionError::file(&lock_path, error))?;
        // A process that is just being started holds copies of the files of the one that starts it, for some milliseconds.
        for _ in 0..LOCK_TRIES {
            match lock.try_lock() {
                Ok(()) => return Ok(StateFile { path, file: None, _lock: lock }),
                Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_PAUSE),
                Err(TryLockError::Error(error)) => return Err(ProductionError::file(&lock_path, error)),
            }
        }
        Err(ProductionError::InUse(path))
    }

    /// Reads the file. `handle` gets every whole line after the first, with its number. A torn last line is removed.
    /// Returns the first line, or None if there is no file or nothing in it.
    ///
    /// # Errors
    /// If it is not a state file or cannot be read, or `handle` returns why a line is wrong.
    pub fn read(
        &mut self,
        mut handle: impl FnMut(&Header, u64, &[u8]) -> Result<(), ProductionError>,
    ) -> Result<Option<Header>, ProductionError> {
        let failed = |error| ProductionError::file(&self.path, error);
        let mut file = match OpenOptions::new().read(true).append(true).open(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(failed)?,
        };
        let (mut header, mut whole, mut number, mut line) = (None, 0, 0, Vec::new());
        let mut reader = BufReader::with_capacity(1 << 16, &file);
        loop {
            line.clear();
            let length = reader.read_until(b'\n', &mut line).map_err(failed)?;
            if line.pop_if(|last| *last == b'\n').is_none() {
                break;
            }
            (whole, number) = (whole + length as u64, number + 1);
            match &header {
                None => header = Some(self.header(&line)?),
                Some(header) => handle(header, number, &line)?,
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
        self.file = header.is_some().then_some(file);
        Ok(header)
    }

    fn header(&self, line: &[u8]) -> Result<Header, ProductionError> {
        if !line.starts_with(BEGIN.as_bytes()) {
            return Err(self.not_a_state_file());
        }
        let header: Header = serde_json::from_slice(line).map_err(|error| self.damaged(1, &error.to_string()))?;
        match header.version {
            VERSION => Ok(header),
            version => {
                let why = format!("the file has version {version}, but this program knows only version {VERSION}");
                Err(ProductionError::State { path: self.path.clone(), line: 1, why })
            }
        }
    }

    fn not_a_state_file(&self) -> ProductionError {
        let why = "this is not a state file of `sim predict`: give the name of a new file".to_string();
        ProductionError::State { path: self.path.clone(), line: 0, why }
    }

    /// The error of a damaged line.
    pub fn damaged(&self, line: u64, why: &str) -> ProductionError {
        let why = format!("the line is damaged: {why}. Remove this line, or begin with a new file and --learn-from");
        ProductionError::State { path: self.path.clone(), line, why }
    }

    /// Appends a line, which ends with a newline, in one write.
    ///
    /// # Errors
    /// If it cannot be written. What was written of it is removed at the next start.
    ///
    /// # Panics
    /// If the file does not exist: [`StateFile::replace`] makes it.
    pub fn append(&mut self, line: &[u8]) -> Result<(), ProductionError> {
        let file = self.file.as_mut().expect("the file was made");
        file.write_all(line).map_err(|error| ProductionError::file(&self.path, error))
    }

    /// Writes the whole file again. The old one is unchanged until the new one is complete.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn replace(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), ProductionError> {
        let failed = |error| ProductionError::file(&self.path, error);
        let name = self.path.to_str().ok_or_else(|| failed(io::Error::other("its name is not UTF-8")))?;
        let output = Output::create(name).map_err(ProductionError::File)?;
        output.fill(write).map_err(ProductionError::File)?;
        self.file = Some(OpenOptions::new().append(true).open(&self.path).map_err(failed)?);
        Ok(())
    }
}
