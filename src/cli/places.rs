//! Refuses outputs that would overwrite an input or each other, before any work is done.

use std::fs;
use std::path::{Path, PathBuf};

use super::failure::UsageError;
use crate::report::{Output, written_path};

/// A file that a command reads or writes: the option that names it, and its name.
pub type OptionFile<'a> = (&'a str, &'a str);

/// The files of those options that were given.
pub fn given_files<'a, const N: usize>(options: [(&'a str, &'a Option<String>); N]) -> Vec<OptionFile<'a>> {
    options.into_iter().filter_map(|(option, file)| Some((option, file.as_deref()?))).collect()
}

/// Refuses outputs that are the same file as another output or as an input. Files are compared, not names: `x`, `./x` and
/// a link to it are one file. A file that standard output was redirected to is compared as well.
///
/// `prints` says whether the command prints to standard output if no output is standard output. Returns whether one is.
pub fn refuse_collisions(outputs: &[OptionFile], inputs: &[OptionFile], prints: bool) -> Result<bool, UsageError> {
    let in_words = |(option, file): &OptionFile| format!("{option} '{file}'");
    let mut places: Vec<(String, Place)> =
        outputs.iter().filter_map(|output| Some((in_words(output), Place::written(output.1)?))).collect();
    let stdout_taken = outputs.iter().any(|(_, file)| Output::is_stdout(file));
    if prints && !stdout_taken {
        places.extend(Place::of_stdout().map(|place| ("standard output".to_string(), place)));
    }
    for (at, (second, place)) in places.iter().enumerate() {
        if let Some((first, _)) = places[..at].iter().find(|(_, other)| other == place) {
            return Err(UsageError(format!(
                "{first} and {second} go to the same place: choose another one for one of them"
            )));
        }
    }
    for input in inputs {
        let read = Place::read(input.1);
        if let Some((output, _)) = places.iter().find(|(_, place)| Some(place) == read.as_ref()) {
            let input = in_words(input);
            return Err(UsageError(format!("{output} would overwrite {input}: choose another output")));
        }
    }
    // Standard output and standard error may be one file (`> x 2>&1`): neither overwrites the other.
    let notes = Place::of_stderr();
    let replaces_notes =
        |(_, file): &&OptionFile| notes.is_some() && !Output::is_stdout(file) && Place::written(file) == notes;
    if let Some(output) = outputs.iter().find(replaces_notes) {
        let output = in_words(output);
        return Err(UsageError(format!("{output} and standard error go to the same place: choose another output")));
    }
    Ok(stdout_taken)
}

/// The identity of a file: equal for two names of the same file.
#[derive(Debug, PartialEq, Eq)]
enum Place {
    /// Standard output, if it is not a file.
    Stdout,
    /// A file that exists: its device and its inode number.
    #[cfg(unix)]
    File(u64, u64),
    /// A file that does not exist yet: its path, with the folder in canonical form.
    Path(PathBuf),
}

impl Place {
    /// The place of an output. None for devices such as /dev/null, which several outputs may share.
    fn written(file: &str) -> Option<Place> {
        if Output::is_stdout(file) {
            return Some(Place::of_stdout().unwrap_or(Place::Stdout));
        }
        if fs::metadata(file).is_ok() {
            return Place::existing(file);
        }
        let path = written_path(file).ok()?;
        let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
        Some(Place::Path(fs::canonicalize(folder).ok()?.join(path.file_name()?)))
    }

    /// The place of an input. None if it is not a file.
    fn read(file: &str) -> Option<Place> {
        if file == "-" { Place::of_stdin() } else { Place::existing(file) }
    }
}

#[cfg(unix)]
impl Place {
    fn existing(file: &str) -> Option<Place> {
        use std::os::unix::fs::{FileTypeExt, MetadataExt};
        let there = fs::metadata(file).ok()?;
        (!there.file_type().is_char_device()).then(|| Place::File(there.dev(), there.ino()))
    }

    /// The file that a standard stream was redirected to. None if the stream is a terminal or a pipe.
    fn of_stream(stream: &impl std::os::fd::AsFd) -> Option<Place> {
        use std::os::unix::fs::MetadataExt;
        let copy = fs::File::from(stream.as_fd().try_clone_to_owned().ok()?);
        let there = copy.metadata().ok()?;
        there.is_file().then(|| Place::File(there.dev(), there.ino()))
    }

    fn of_stdin() -> Option<Place> {
        Place::of_stream(&std::io::stdin())
    }

    fn of_stdout() -> Option<Place> {
        Place::of_stream(&std::io::stdout())
    }

    fn of_stderr() -> Option<Place> {
        Place::of_stream(&std::io::stderr())
    }
}

#[cfg(not(unix))]
impl Place {
    fn existing(file: &str) -> Option<Place> {
        fs::canonicalize(file).ok().map(Place::Path)
    }

    fn of_stdin() -> Option<Place> {
        None
    }

    fn of_stdout() -> Option<Place> {
        None
    }

    fn of_stderr() -> Option<Place> {
        None
    }
}
