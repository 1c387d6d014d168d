//! Where results go: standard output, or a file that appears whole or not at all.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Temporary files that are being written, to be removed if the program is interrupted.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// An output that could not be written.
#[derive(Debug)]
pub struct OutputError {
    pub name: String,
    pub error: io::Error,
}

impl fmt::Display for OutputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot write {}: {}", self.name, self.error)?;
        match self.error.kind() {
            io::ErrorKind::NotFound => write!(f, " (the folder must exist)"),
            io::ErrorKind::StorageFull => write!(f, "; what stood there before is untouched"),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for OutputError {}

/// An output under way. Dropped before it was filled, it leaves nothing behind.
#[derive(Debug)]
pub struct Output {
    name: String,
    target: Target,
}

#[derive(Debug)]
enum Target {
    Stdout(BufWriter<io::Stdout>),
    /// A device or a pipe: there is nothing to rename.
    Stream(BufWriter<File>),
    File {
        writer: BufWriter<File>,
        temporary: PathBuf,
        path: PathBuf,
    },
}

impl Output {
    /// Whether this means standard output.
    pub fn is_stdout(argument: &str) -> bool {
        matches!(argument, "-" | "/dev/stdout")
    }

    /// Opens an output: `-` is standard output. A file is written under a temporary name beside it, so that a place
    /// that cannot be written is known before any work is done.
    pub fn create(argument: &str) -> Result<Output, OutputError> {
        if Output::is_stdout(argument) {
            return Ok(Output::stdout());
        }
        let failed = |error| OutputError { name: argument.to_string(), error };
        let target = match fs::metadata(argument) {
            Ok(there) if there.is_dir() => return Err(failed(io::ErrorKind::IsADirectory.into())),
            Ok(there) if !there.is_file() => {
                Target::Stream(BufWriter::new(OpenOptions::new().write(true).open(argument).map_err(failed)?))
            }
            // Through a link to the file itself, so that the link stays one.
            Ok(_) => Target::file(&fs::canonicalize(argument).map_err(failed)?).map_err(failed)?,
            Err(_) => Target::file(Path::new(argument)).map_err(failed)?,
        };
        Ok(Output { name: argument.to_string(), target })
    }

    pub fn stdout() -> Output {
        Output { name: "standard output".to_string(), target: Target::Stdout(BufWriter::new(io::stdout())) }
    }

    /// Writes all that `write` writes, and makes it appear.
    pub fn fill(mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), OutputError> {
        write(self.writer())
            .and_then(|()| self.finish())
            .map_err(|error| OutputError { name: self.name.clone(), error })
    }

    /// The same for a file that must be new. False if the file is there by now: it is left as it is.
    pub fn fill_new(mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<bool, OutputError> {
        let written = write(self.writer()).and_then(|()| self.writer().flush());
        let linked = written.and_then(|()| match &self.target {
            Target::File { writer, temporary, path } => {
                writer.get_ref().sync_all()?;
                match fs::hard_link(temporary, path) {
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
                    // Not every file system has links: the moment between the two steps is then a risk.
                    Err(_) if path.exists() => Ok(false),
                    Err(_) => fs::rename(temporary, path).map(|()| true),
                    Ok(()) => Ok(true),
                }
            }
            Target::Stdout(_) | Target::Stream(_) => Ok(true),
        });
        linked.map_err(|error| OutputError { name: self.name.clone(), error })
    }

    /// Whether a file's name is that of an output under way, or of one whose process was killed.
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
            // A full disk may be told only now.
            writer.get_ref().sync_all()?;
            if let Ok(old) = fs::metadata(path) {
                fs::set_permissions(temporary, old.permissions())?;
            }
            // Held over the rename: an interrupt removes the file or finds it finished, nothing between.
            let mut unfinished = unfinished();
            fs::rename(temporary, path)?;
            unfinished.retain(|other| other != temporary);
        }
        Ok(())
    }
}

impl Target {
    fn file(path: &Path) -> io::Result<Target> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}.tmp", std::process::id()));
        let temporary = path.with_file_name(hidden);
        let mut unfinished = unfinished();
        let file = OpenOptions::new().write(true).create_new(true).open(&temporary)?;
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
                // If even that fails there is nobody left to tell.
                let _ = fs::remove_file(temporary);
            }
        }
    }
}

fn unfinished() -> std::sync::MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Removes every file that is not finished, and lets none be finished afterwards: for a program about to be ended by a
/// signal. The lock is kept until `then`, which ends the program.
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
        assert!(broken.unwrap_err().to_string().contains("untouched"));
        assert_eq!(fs::read(&path).unwrap(), b"first");

        drop(Output::create(argument).unwrap());
        assert_eq!(names(), ["out.csv"]);
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
