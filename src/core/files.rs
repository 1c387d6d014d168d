//! The files that the program reads, in one register, so that no output replaces one of them.
//!
//! Every file is opened with [`open`], which adds it to the register. [`crate::output::Output`] asks [`input_at`] when an output
//! is opened and again before the output gets its name, because files may be opened in between. The files are compared and
//! not their names: `x`, `./x` and a link to it are one file.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

/// The names of all inputs. They are compared by what they name when an output is checked: the number of a file that was
/// removed may be that of another one now.
static INPUTS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn inputs() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    INPUTS.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Opens a file for reading, and adds it to the register.
///
/// # Errors
/// If it cannot be opened.
pub fn open(path: &Path) -> io::Result<File> {
    let file = File::open(path)?;
    add_input(path);
    Ok(file)
}

/// Adds a file that the program, or a program that it starts, reads. `-` is standard input.
pub fn add_input(path: &Path) {
    let mut inputs = inputs();
    if !inputs.contains(path) {
        inputs.insert(path.to_path_buf());
    }
}

/// The name of the input that is the file at this place.
pub fn input_at(place: &Place) -> Option<String> {
    let inputs = inputs();
    let found = inputs.iter().find(|path| Place::of_input(path).as_ref() == Some(place));
    found.map(|path| if path == Path::new("-") { "standard input".to_string() } else { path.display().to_string() })
}

/// The identity of a file: equal for two names of the same file.
#[derive(Debug, PartialEq, Eq)]
pub enum Place {
    /// Standard output, if it is not a file.
    Stdout,
    /// A file that exists: its device and its inode number.
    #[cfg(unix)]
    File(u64, u64),
    /// A file that does not exist yet: its path, with the folder in canonical form.
    Path(PathBuf),
}

impl Place {
    /// The place of an output that is not standard output. None for devices such as /dev/null, which several outputs may share.
    pub fn of_output(file: &str) -> Option<Place> {
        if fs::metadata(file).is_ok() {
            return Place::existing(file);
        }
        let path = written_path(file).ok()?;
        let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
        Some(Place::Path(fs::canonicalize(folder).ok()?.join(path.file_name()?)))
    }

    /// The place of an input, which may be `-`. None if it is not a file.
    pub fn of_input(file: impl AsRef<Path>) -> Option<Place> {
        if file.as_ref() == Path::new("-") { Place::of_stdin() } else { Place::existing(file) }
    }
}

#[cfg(unix)]
impl Place {
    /// The place of a file that exists. None for devices.
    pub fn existing(file: impl AsRef<Path>) -> Option<Place> {
        use std::os::unix::fs::{FileTypeExt, MetadataExt};
        let there = fs::metadata(file).ok()?;
        (!there.file_type().is_char_device()).then(|| Place::File(there.dev(), there.ino()))
    }

    /// The file that a standard stream was redirected to. None if the stream is a terminal or a pipe.
    fn of_stream(stream: &impl std::os::fd::AsFd) -> Option<Place> {
        use std::os::unix::fs::MetadataExt;
        let copy = File::from(stream.as_fd().try_clone_to_owned().ok()?);
        let there = copy.metadata().ok()?;
        there.is_file().then(|| Place::File(there.dev(), there.ino()))
    }

    fn of_stdin() -> Option<Place> {
        Place::of_stream(&io::stdin())
    }

    /// The file that standard output was redirected to.
    pub fn of_stdout() -> Option<Place> {
        Place::of_stream(&io::stdout())
    }

    /// The file that standard error was redirected to.
    pub fn of_stderr() -> Option<Place> {
        Place::of_stream(&io::stderr())
    }
}

#[cfg(not(unix))]
impl Place {
    /// The place of a file that exists.
    pub fn existing(file: impl AsRef<Path>) -> Option<Place> {
        fs::canonicalize(file).ok().map(Place::Path)
    }

    fn of_stdin() -> Option<Place> {
        None
    }

    /// The file that standard output was redirected to, which is not known here.
    pub fn of_stdout() -> Option<Place> {
        None
    }

    /// The file that standard error was redirected to, which is not known here.
    pub fn of_stderr() -> Option<Place> {
        None
    }
}

/// The file that an output to this path writes. Symbolic links are followed, so that a link stays a link, also if its target
/// does not exist yet.
///
/// # Errors
/// If the path is a folder or cannot be resolved.
pub fn written_path(argument: &str) -> io::Result<PathBuf> {
    match fs::canonicalize(argument) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        found => return found,
    }
    let mut path = PathBuf::from(argument);
    // This loop ends: `canonicalize` has followed the links and found no cycle.
    while let Ok(target) = fs::read_link(&path) {
        path = path.parent().unwrap_or(Path::new("")).join(target);
    }
    match path.file_name() {
        Some(_) if !argument.ends_with('/') => Ok(path),
        _ => Err(io::ErrorKind::IsADirectory.into()),
    }
}
