//! What tells two versions of a program apart, for results that are kept: the files that its command names, and the version
//! that it reports itself.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use twox_hash::XxHash3_128;

use super::{Exec, words};
use crate::files;
use crate::spec::Spec;

/// A hash of the contents of all files that the command names, and of the version that the program reports. The program is
/// started for that, and ended.
///
/// A word of the command names a file if it is the path of one, or if what follows its `=` is.
///
/// # Errors
///
/// If a file cannot be read, or the program does not answer the greeting.
pub fn digest(spec: &Spec) -> Result<u128, String> {
    let mut hash = XxHash3_128::new();
    for file in files_named(&words(spec.text("command"))) {
        let of_file = digest_of_file(&file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
        hash.write(&of_file.to_le_bytes());
    }
    let (child, introduction) = Exec::new(spec).start().map_err(|why| format!("predictor '{spec}': {why}"))?;
    drop(child);
    // Without a version nothing is added, which no version equals.
    if let Some(version) = introduction.version {
        hash.write(b"version ");
        hash.write(version.as_bytes());
    }
    Ok(hash.finish_128())
}

/// The files that words of a command name.
pub fn files_named(words: &[String]) -> Vec<PathBuf> {
    let named = |word: &String| {
        let after_equals = word.split_once('=').map(|(_, value)| value);
        let file = [Some(word.as_str()), after_equals].into_iter().flatten().find(|text| Path::new(text).is_file());
        file.map(PathBuf::from)
    };
    words.iter().filter_map(named).collect()
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
        let found = files_named(&words(&command));
        assert_eq!(found, ["a.py", "b=c", "d"].map(|name| folder.path().join(name)));
        let before = digest_of_file(&found[0]).unwrap();
        std::fs::write(&found[0], "changed").unwrap();
        assert_ne!(digest_of_file(&found[0]).unwrap(), before);
    }
}
