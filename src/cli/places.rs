//! Refuses outputs that would overwrite each other or an input that an option names, before any work is done. Inputs that no
//! option names are refused by [`Output`] itself.

use super::failure::{UsageError, refuse};
use crate::files::Place;
use crate::report::Output;

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
        outputs.iter().filter_map(|output| Some((in_words(output), written(output.1)?))).collect();
    let stdout_taken = outputs.iter().any(|(_, file)| Output::is_stdout(file));
    if prints && !stdout_taken {
        places.extend(Place::of_stdout().map(|place| ("standard output".to_string(), place)));
    }
    for (at, (second, place)) in places.iter().enumerate() {
        if let Some((first, _)) = places[..at].iter().find(|(_, other)| other == place) {
            return refuse(format!("{first} and {second} go to the same place: choose another one for one of them"));
        }
    }
    for input in inputs {
        let read = Place::of_input(input.1);
        if let Some((output, _)) = places.iter().find(|(_, place)| Some(place) == read.as_ref()) {
            let input = in_words(input);
            return refuse(format!("{output} would overwrite {input}: choose another output"));
        }
    }
    // Standard output and standard error may be one file (`> x 2>&1`): neither overwrites the other.
    let notes = Place::of_stderr();
    let replaces_notes =
        |(_, file): &&OptionFile| notes.is_some() && !Output::is_stdout(file) && written(file) == notes;
    if let Some(output) = outputs.iter().find(replaces_notes) {
        let output = in_words(output);
        return refuse(format!("{output} and standard error go to the same place: choose another output"));
    }
    Ok(stdout_taken)
}

/// The place of an output. None for devices such as /dev/null, which several outputs may share.
fn written(file: &str) -> Option<Place> {
    match Output::is_stdout(file) {
        true => Some(Place::of_stdout().unwrap_or(Place::Stdout)),
        false => Place::of_output(file),
    }
}
