//! Arguments that are not options: logs, files of settings, and words that should have been a command.

use std::path::Path;

use clap::Command;

use super::failure::{UsageError, refuse};
use super::old_words::refuse_old;
use crate::settings_file;
use crate::similar::{most_similar, similar_file};

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
                return refuse(format!("'{first}' and '{file}' are both files of settings: give one of them"));
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
    if !path.exists() {
        refuse_old(command.get_name(), word)?;
    }
    if word == "-" || word.is_empty() || word.contains(['.', '/', '\\']) || path.exists() {
        return Ok(());
    }
    let commands = command.get_subcommands().filter(|command| !command.is_hide_set()).map(Command::get_name);
    let near_command = most_similar(word, commands).map(|name| format!("the command '{name}'"));
    let near_file = similar_file(path).map(|file| format!("the file '{file}'"));
    let meant: Vec<_> = near_command.into_iter().chain(near_file).collect();
    let meant = if meant.is_empty() { String::new() } else { format!("; did you mean {}?", meant.join(" or ")) };
    let name = if command.get_name() == "sim" { "sim".to_string() } else { format!("sim {}", command.get_name()) };
    let list = format!("`{name} --help` lists the commands");
    refuse(format!("'{word}' is neither a command nor a file{meant}\n  {list}"))
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
        let command = Command::new("sim").subcommand(Command::new("sweep")).subcommand(Command::new("wait"));
        let refused = |word: &str| refuse_unknown_word(word, &command).err().map(|error| error.0);
        let message = "'swep' is neither a command nor a file; did you mean the command 'sweep'?\n  `sim --help` lists the commands";
        assert_eq!(refused("swep").as_deref(), Some(message));
        assert!(refused("nonsense").unwrap().starts_with("'nonsense' is neither a command nor a file\n"));
        assert_eq!((refused("-"), refused("src"), refused("/nowhere/x.swf")), (None, None, None));
    }
}
