//! Arguments that are not options: logs, files of settings, and words that should have been a command.

use std::path::Path;

use clap::Command;

use super::failure::UsageError;
use crate::settings_file;
use crate::similar::most_similar;

/// The plain arguments of a command that reads a file of settings, or logs, or both.
#[derive(Debug, Default)]
pub struct PlainArguments<'a> {
    /// The TOML file.
    pub settings: Option<&'a str>,
    /// The other files.
    pub logs: Vec<&'a str>,
}

impl<'a> PlainArguments<'a> {
    /// Tells files of settings from logs. A file is one of settings if its name ends in `.toml` or its text is TOML, which no
    /// log is. `most` is the largest number of bytes of such a file.
    ///
    /// # Errors
    /// If there are two files of settings.
    pub fn of(files: &'a [String], most: usize) -> Result<PlainArguments<'a>, UsageError> {
        let mut arguments = PlainArguments::default();
        for file in files {
            if !is_settings(file, most) {
                arguments.logs.push(file);
            } else if let Some(first) = arguments.settings.replace(file) {
                return Err(UsageError(format!("'{first}' and '{file}' are both files of settings: give one of them")));
            }
        }
        Ok(arguments)
    }
}

fn is_settings(file: &str, most: usize) -> bool {
    let path = Path::new(file);
    if file == "-" || file.ends_with(".toml") {
        return file != "-";
    }
    match std::fs::metadata(path) {
        Ok(found) if found.is_file() => {
            settings_file::read_text(path, most).is_ok_and(|text| settings_file::parse(&text).is_ok())
        }
        // A pipe can be read only once, so its text cannot decide. `sim sweep <(make_grid)` is the common case.
        Ok(found) => !found.is_dir(),
        Err(_) => false,
    }
}

/// Refuses a word that is neither a file nor a command, such as `swep`, and suggests what was meant. A word with a dot or a
/// slash can only be a file: where it is opened, the error says why that failed.
///
/// # Errors
/// If there is no such file.
pub fn refuse_unknown_word(word: &str, command: &Command) -> Result<(), UsageError> {
    let path = Path::new(word);
    if word == "-" || word.is_empty() || path.exists() {
        return Ok(());
    }
    let commands = command.get_subcommands().filter(|command| !command.is_hide_set()).map(Command::get_name);
    let is_path = word.contains(['.', '/', '\\']);
    let near_command = most_similar(word, commands).filter(|_| !is_path);
    let near_file = similar_file(path);
    let file = near_file.map(|file| format!("the file '{file}'"));
    let meant: Vec<_> = near_command.map(|name| format!("the command '{name}'")).into_iter().chain(file).collect();
    if is_path && meant.is_empty() {
        return Ok(());
    }
    let meant = if meant.is_empty() { String::new() } else { format!("; did you mean {}?", meant.join(" or ")) };
    Err(UsageError(match is_path {
        true => format!("no file '{word}'{meant}"),
        false => {
            let name =
                if command.get_name() == "sim" { "sim".to_string() } else { format!("sim {}", command.get_name()) };
            let list = format!("`{name} --help` lists the commands");
            format!("'{word}' is neither a command nor a file{meant}\n  {list}")
        }
    }))
}

/// The file of the same folder whose name is most similar.
fn similar_file(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let files = std::fs::read_dir(parent.unwrap_or(Path::new("."))).ok()?;
    let names = files.filter_map(|file| file.ok().filter(|file| file.path().is_file())?.file_name().into_string().ok());
    // The order of a folder is not fixed.
    let mut names: Vec<String> = names.collect();
    names.sort();
    let similar = most_similar(name, names.iter().map(String::as_str))?;
    Some(parent.map_or(similar.to_string(), |parent| parent.join(similar).display().to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_settings_is_told_by_its_name_or_its_text() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
        let files = ["log.swf", "grid", "missing.toml", "missing"].map(path);
        std::fs::write(&files[0], "; MaxProcs: 4\n1 0 0 10 1 1 1 1 60 -1 1 1 1 1 1 1 -1 -1\n").unwrap();
        std::fs::write(&files[1], "load = [1, 2]\n").unwrap();
        let told = files.each_ref().map(|file| is_settings(file, 1000));
        assert_eq!((told, is_settings("-", 1000)), ([false, true, true, false], false));
        let arguments = PlainArguments::of(&files[..2], 1000).unwrap();
        assert_eq!((arguments.settings, arguments.logs), (Some(files[1].as_str()), vec![files[0].as_str()]));
        assert!(PlainArguments::of(&files[1..3], 1000).unwrap_err().0.contains("both files of settings"));
    }

    #[test]
    fn the_word_that_was_meant_is_suggested() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("ctc.swf.gz"), "").unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
        let command = Command::new("sim").subcommand(Command::new("sweep")).subcommand(Command::new("wait"));
        let refused = |word: &str| refuse_unknown_word(word, &command).err().map(|error| error.0);
        let message = "'swep' is neither a command nor a file; did you mean the command 'sweep'?\n  `sim --help` lists the commands";
        assert_eq!(refused("swep").as_deref(), Some(message));
        assert!(refused("nonsense").unwrap().starts_with("'nonsense' is neither a command nor a file\n"));
        assert!(
            refused(&path("ctc.swf")).unwrap().ends_with(&format!("did you mean the file '{}'?", path("ctc.swf.gz")))
        );
        assert_eq!((refused("-"), refused(&path("ctc.swf.gz")), refused("/nowhere/x.swf")), (None, None, None));
    }
}
