//! The command of a program, and the files that it names.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use twox_hash::XxHash3_128;

use crate::files;

/// Checks a command and returns it as it is.
///
/// # Errors
///
/// If it has no word, or a quotation mark that nothing ends, with a message.
pub fn check_command(text: &str) -> Result<String, String> {
    match shlex::split(text) {
        Some(words) if !words.is_empty() || text.is_empty() => Ok(text.to_string()),
        Some(_) => Err(format!("'{text}' has no word")),
        None => Err(format!(
            "'{text}' has a quotation mark without the one that ends it (a command with commas is written in double \
             quotes: command=\"...\")"
        )),
    }
}

/// The words of a command. Nothing is expanded in them: no shell is started.
pub(super) fn words(command: &str) -> Vec<String> {
    shlex::split(command).unwrap_or_default()
}

/// The files that words of a command name. A word names a file if it is the path of one, or if what follows its `=` is.
pub fn files_named(command: &str) -> Vec<PathBuf> {
    let named = |word: &String| {
        let after_equals = word.split_once('=').map(|(_, value)| value);
        let file = [Some(word.as_str()), after_equals].into_iter().flatten().find(|text| Path::new(text).is_file());
        file.map(PathBuf::from)
    };
    words(command).iter().filter_map(named).collect()
}

/// Adds the contents of all files that a command names to a hash.
///
/// # Errors
///
/// If a file cannot be read, with a message.
pub fn digest_of_files(command: &str, hash: &mut XxHash3_128) -> Result<(), String> {
    for file in files_named(command) {
        let of_file = digest_of_file(&file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
        hash.write(&of_file.to_le_bytes());
    }
    Ok(())
}

fn digest_of_file(path: &Path) -> io::Result<u128> {
    let (mut file, mut hash, mut some) = (files::open(path)?, XxHash3_128::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut some)? {
            0 => return Ok(hash.finish_128()),
            count => hash.write(&some[..count]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_words_or_values_of_words() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        for name in ["a.py", "b=c", "d"] {
            std::fs::write(path(name), name).unwrap();
        }
        let command = format!(
            "python3 {} {} --model={} --none={} {}",
            path("a.py"),
            path("b=c"),
            path("d"),
            path("e"),
            folder.path().display()
        );
        let found = files_named(&command);
        assert_eq!(found, ["a.py", "b=c", "d"].map(|name| folder.path().join(name)));
        let before = digest_of_file(&found[0]).unwrap();
        std::fs::write(&found[0], "changed").unwrap();
        assert_ne!(digest_of_file(&found[0]).unwrap(), before);
    }
}
