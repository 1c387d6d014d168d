//! Output to standard output or to a file. A file appears complete or not at all.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

use super::packed::{Packing, WriteOnce};
use crate::files::{self, Place, written_path};

/// Temporary files that are being written, to be removed if the program is interrupted.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Whether standard output was closed when the program was started.
static STDOUT_CLOSED: AtomicBool = AtomicBool::new(false);

/// The name of standard output in error messages.
const STDOUT: &str = "standard output";

/// An output that could not be written.
#[derive(Debug)]
pub struct OutputError {
    /// The path as given, or "standard output".
    pub name: String,
    /// Why it could not be written.
    pub error: io::Error,
}

impl fmt::Display for OutputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot write {}: {}", self.name, self.error)?;
        match self.error.kind() {
            io::ErrorKind::NotFound => write!(f, " (the folder must exist)"),
            io::ErrorKind::FileTooLarge => write!(f, " (`ulimit -f` is the largest size of a file)"),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for OutputError {}

impl OutputError {
    /// Whether another output should have been chosen: this one is a file that is read, or no name of a file.
    pub fn is_bad_usage(&self) -> bool {
        self.error.kind() == io::ErrorKind::InvalidInput
    }
}

/// Refuses a place that is a file which the program reads.
///
/// # Errors
/// If it is one.
pub fn refuse_input(place: Option<Place>) -> io::Result<()> {
    match place.and_then(|place| files::input_at(&place)) {
        Some(input) => {
            let why = format!("it would overwrite {input}, which is read: choose another output");
            Err(io::Error::new(io::ErrorKind::InvalidInput, why))
        }
        None => Ok(()),
    }
}

/// An output that is open. If it is dropped before [`Output::fill`], no file is left.
#[derive(Debug)]
pub struct Output {
    name: String,
    packing: Packing,
    /// Whether it may replace a file that is read.
    is_own: bool,
    /// Whether it is an error if the reader closes the pipe (`| head`).
    ends_with_reader: bool,
    target: Target,
}

#[derive(Debug)]
enum Target {
    Stdout(BufWriter<io::Stdout>),
    /// A device or a pipe, which is written directly.
    Stream(BufWriter<File>),
    File {
        writer: BufWriter<File>,
        temporary: PathBuf,
        path: PathBuf,
    },
}

impl Output {
    /// Whether this argument means standard output.
    pub fn is_stdout(argument: &str) -> bool {
        matches!(argument, "-" | "/dev/stdout" | "/dev/fd/1" | "/proc/self/fd/1")
    }

    /// Opens an output; `-` is standard output. A file is written under a temporary name in the same folder and renamed at
    /// the end.
    ///
    /// # Errors
    /// If it cannot be written, or is a file that the program reads. This is checked here, before a long simulation, and not
    /// only at the end.
    pub fn create(argument: &str) -> Result<Output, OutputError> {
        if Output::is_stdout(argument) {
            let stdout = Output { ends_with_reader: true, ..Output::stdout() };
            return check_stdout().map(|()| stdout).map_err(|error| OutputError { name: STDOUT.to_string(), error });
        }
        refuse_input(Place::of_output(argument)).map_err(|error| OutputError { name: argument.to_string(), error })?;
        Ok(Output { is_own: false, ..Output::create_own(argument)? })
    }

    /// As [`Output::create`], for a file that belongs to the program, which may have read it to write it again.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn create_own(argument: &str) -> Result<Output, OutputError> {
        let failed = |error| OutputError { name: argument.to_string(), error };
        let target = match fs::metadata(argument) {
            Ok(there) if there.is_dir() => return Err(failed(io::ErrorKind::IsADirectory.into())),
            Ok(there) if !there.is_file() => {
                Target::Stream(BufWriter::new(OpenOptions::new().write(true).open(argument).map_err(failed)?))
            }
            _ => Target::file(&written_path(argument).map_err(failed)?).map_err(failed)?,
        };
        Ok(Output {
            name: argument.to_string(),
            packing: Packing::of(argument),
            is_own: true,
            ends_with_reader: true,
            target,
        })
    }

    /// The same output, not compressed, whatever its name.
    #[must_use]
    pub fn plain(self) -> Output {
        Output { packing: Packing::None, ..self }
    }

    /// Standard output, for the result of a command. If its reader closes the pipe (`| head`), this is no error, and what
    /// follows goes on: the exit code must not depend on it.
    pub fn stdout() -> Output {
        let target = Target::Stdout(BufWriter::new(io::stdout()));
        Output { name: STDOUT.to_string(), packing: Packing::None, is_own: false, ends_with_reader: false, target }
    }

    /// Writes everything that `write` writes, compressed if the name ends in `.gz` or `.zst`. Then a file gets its final
    /// name.
    ///
    /// # Errors
    /// If a write fails; a file that existed before is then unchanged.
    pub fn fill(self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), OutputError> {
        self.fill_boxed(Box::new(write))
    }

    /// As [`Output::fill`]; compiled once for all contents.
    fn fill_boxed(mut self, write: WriteOnce<'_>) -> Result<(), OutputError> {
        let checked = if let Target::Stdout(_) = self.target { check_stdout() } else { Ok(()) };
        let packing = self.packing;
        let written = checked.and_then(|()| packing.write(self.writer(), write));
        match written.and_then(|()| self.finish()) {
            Err(error) if !self.ends_with_reader && error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            finished => finished.map_err(|error| {
                let error = if let Target::File { .. } = self.target { with_old_content(error) } else { error };
                OutputError { name: self.name.clone(), error }
            }),
        }
    }

    /// As [`Output::fill`], for a file that must be new. Returns false, and changes nothing, if the file exists by now.
    ///
    /// # Errors
    /// If a write fails.
    pub fn fill_new(mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<bool, OutputError> {
        let written = write(self.writer()).and_then(|()| self.writer().flush());
        let linked = written.and_then(|()| match &self.target {
            Target::File { writer, temporary, path } => {
                writer.get_ref().sync_all()?;
                match fs::hard_link(temporary, path) {
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
                    // The file system may not have hard links. Then another process could create the file between the
                    // check and the rename.
                    Err(_) if path.exists() => Ok(false),
                    Err(_) => fs::rename(temporary, path).map(|()| true),
                    Ok(()) => Ok(true),
                }
            }
            Target::Stdout(_) | Target::Stream(_) => Ok(true),
        });
        linked.map_err(|error| OutputError { name: self.name.clone(), error })
    }

    /// Whether a file name is that of a temporary file, of this process or of one that was killed.
    pub fn is_temporary(name: &std::ffi::OsStr) -> bool {
        name.to_str().is_some_and(|name| name.starts_with('.') && name.ends_with(".tmp"))
    }

    fn writer(&mut self) -> &mut dyn Write {
        match &mut self.target {
            Target::Stdout(writer) => writer,
            Target::Stream(writer) | Target::File { writer, .. } => writer,
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        self.writer().flush()?;
        if let Target::File { writer, temporary, path } = &self.target {
            // A full disk may be reported only by this call.
            writer.get_ref().sync_all()?;
            if !self.is_own {
                // The file may have been opened since this output was.
                refuse_input(Place::existing(path))?;
            }
            if let Ok(old) = fs::metadata(path) {
                fs::set_permissions(temporary, old.permissions())?;
            }
            // The lock is held during the rename, so that an interrupt either removes the temporary file or finds the
            // finished one.
            let mut unfinished = unfinished();
            fs::rename(temporary, path)?;
            unfinished.retain(|other| other != temporary);
        }
        Ok(())
    }
}

impl Target {
    fn file(path: &Path) -> io::Result<Target> {
        let mut unfinished = unfinished();
        let (file, temporary) = create_temporary(path)?;
        unfinished.push(temporary.clone());
        Ok(Target::File { writer: BufWriter::with_capacity(1 << 16, file), temporary, path: path.to_path_buf() })
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        if let Target::File { temporary, .. } = self {
            let mut unfinished = unfinished();
            if let Some(at) = unfinished.iter().position(|other| other == temporary) {
                unfinished.remove(at);
                // An error here cannot be reported.
                let _ = fs::remove_file(temporary);
            }
        }
    }
}

/// Creates a file in the same folder as `path`. Its name is random, because a process that was killed leaves its file, and
/// in containers every process may have the same id. It does not contain the name at `path`, which may have the maximum
/// length.
fn create_temporary(path: &Path) -> io::Result<(File, PathBuf)> {
    let mut tries = 0..100;
    loop {
        let random = RandomState::new().build_hasher().finish();
        let temporary = path.with_file_name(format!(".shadowtime-{random:016x}.tmp"));
        match OpenOptions::new().write(true).create_new(true).open(&temporary) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && tries.next().is_some() => {}
            created => return Ok((created?, temporary)),
        }
    }
}

/// If the disk was full, adds to the message that the old file is unchanged.
fn with_old_content(error: io::Error) -> io::Error {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    match error.kind() {
        kind @ (StorageFull | QuotaExceeded | FileTooLarge) => {
            io::Error::new(kind, format!("{error}; the old content of the file is unchanged"))
        }
        _ => error,
    }
}

/// Makes every output to standard output fail from now on. Called if it was closed when the program started.
pub fn refuse_stdout() {
    STDOUT_CLOSED.store(true, Ordering::Relaxed);
}

fn check_stdout() -> io::Result<()> {
    match STDOUT_CLOSED.load(Ordering::Relaxed) {
        true => Err(io::Error::other("it is closed; use `> /dev/null` if the result is not needed")),
        false => refuse_input(Place::of_stdout()),
    }
}

/// Removes all unfinished files, and prevents any file from being finished afterwards: for a program that is ended by a
/// signal. `then` gets the number of removed files and must end the program; the lock is held until it returns.
pub fn abandon_unfinished(then: impl FnOnce(usize)) {
    let unfinished = unfinished();
    for temporary in unfinished.iter() {
        let _ = fs::remove_file(temporary);
    }
    then(unfinished.len());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_appears_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.csv");
        let argument = path.to_str().unwrap();
        let names = || {
            let mut names: Vec<_> = fs::read_dir(&folder).unwrap().map(|f| f.unwrap().file_name()).collect();
            names.sort();
            names
        };

        Output::create(argument).unwrap().fill(|out| out.write_all(b"first")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"first");

        let broken = Output::create(argument).unwrap().fill(|out| {
            out.write_all(b"half")?;
            Err(io::ErrorKind::StorageFull.into())
        });
        assert!(broken.unwrap_err().to_string().contains("unchanged"));
        assert_eq!(fs::read(&path).unwrap(), b"first");

        drop(Output::create(argument).unwrap());
        assert_eq!(names(), ["out.csv"]);
    }

    #[test]
    fn a_file_that_is_opened_after_the_output_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (input, link) = (folder.path().join("input"), folder.path().join("link"));
        fs::write(&input, "old").unwrap();
        fs::hard_link(&input, &link).unwrap();
        let out = Output::create(link.to_str().unwrap()).unwrap();
        files::open(&input).unwrap();
        let error = out.fill(|out| out.write_all(b"new")).unwrap_err();
        assert!(error.is_bad_usage() && error.to_string().contains("link: it would overwrite "), "{error}");
        assert!(Output::create(link.to_str().unwrap()).unwrap_err().is_bad_usage());
        assert_eq!((fs::read(&link).unwrap(), fs::read_dir(&folder).unwrap().count()), (b"old".to_vec(), 2));
        // A file of the program's own may be read and written again. A file that is gone is not an input any more.
        Output::create_own(input.to_str().unwrap()).unwrap().fill(|out| out.write_all(b"own")).unwrap();
        fs::remove_file(&input).unwrap();
        Output::create(link.to_str().unwrap()).unwrap().fill(|out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&link).unwrap(), b"new");
    }

    #[test]
    fn a_link_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "old").unwrap();
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&file, &link).unwrap();
            Output::create(link.to_str().unwrap()).unwrap().fill(|out| out.write_all(b"new")).unwrap();
            assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
            assert_eq!(fs::read(&file).unwrap(), b"new");
        }
    }

    #[test]
    fn places_that_cannot_be_written_are_told_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("no/such/folder.csv");
        let error = Output::create(missing.to_str().unwrap()).unwrap_err().to_string();
        assert!(error.contains("the folder must exist"), "{error}");
        assert!(Output::create(folder.path().to_str().unwrap()).is_err());
    }
}
