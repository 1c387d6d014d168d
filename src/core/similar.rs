//! Names that were probably meant: for errors about unknown names.

use std::path::Path;

/// The least similarity of two names, from 0 to 1 (equal), at which one is suggested for the other.
const LEAST_SIMILARITY: f64 = 0.75;

/// The longest word, in bytes, for which a name is suggested.
const LONGEST_WORD: usize = 100;

/// The name that is most similar to a word. None if no name is similar. Of names that are equally similar it is the first.
///
/// ```
/// # extern crate shadowtime_core as shadowtime;
/// use shadowtime::similar::most_similar;
/// assert_eq!(most_similar("swep", ["wait", "sweep"]), Some("sweep"));
/// assert_eq!(most_similar("xyz", ["wait", "sweep"]), None);
/// ```
pub fn most_similar<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Comparing long texts is slow, and no name is that long.
    if word.len() > LONGEST_WORD {
        return None;
    }
    let word = word.to_lowercase();
    let mut best: Option<(f64, &str)> = None;
    for name in names {
        let similarity = similarity(&word, &name.to_lowercase());
        if similarity > best.map_or(LEAST_SIMILARITY, |(best, _)| best) {
            best = Some((similarity, name));
        }
    }
    best.map(|(_, name)| name)
}

/// From 0 to 1.
fn similarity(a: &str, b: &str) -> f64 {
    // Jaro's similarity of short words with two letters exchanged is low: `rhu` and `ruh`.
    let is_one_slip = a.chars().count().min(b.chars().count()) >= 3 && strsim::osa_distance(a, b) <= 1;
    strsim::jaro(a, b).max(if is_one_slip { 0.9 } else { 0.0 })
}

/// The end of an error about an unknown name: `; did you mean 'sweep'?`. Empty if no name is similar.
///
/// ```
/// # extern crate shadowtime_core as shadowtime;
/// use shadowtime::similar::did_you_mean;
/// assert_eq!(did_you_mean("swep", ["wait", "sweep"]), "; did you mean 'sweep'?");
/// assert_eq!(did_you_mean("xyz", ["wait", "sweep"]), "");
/// ```
pub fn did_you_mean<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    most_similar(word, names).map_or(String::new(), |name| format!("; did you mean '{name}'?"))
}

/// The file with the most similar name in the folder of a file that does not exist, as a path that can be given instead.
pub fn similar_file(path: &Path) -> Option<String> {
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
    fn a_file_is_found_in_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("ctc.swf.gz"), "").unwrap();
        let path = |name: &str| folder.path().join(name);
        assert_eq!(similar_file(&path("ctc.swf")).as_deref(), path("ctc.swf.gz").to_str());
        assert_eq!((similar_file(&path("nasa")), similar_file(Path::new("/nowhere/x.swf"))), (None, None));
    }

    #[test]
    fn a_typing_error_finds_the_name_and_another_word_does_not() {
        let names = ["fcfs", "easy", "easy++", "sjbf", "conservative", "replay"];
        for (word, name) in [
            ("esay", Some("easy")),
            ("EASY", Some("easy")),
            ("easy+", Some("easy++")),
            ("sjf", Some("sjbf")),
            ("fcsf", Some("fcfs")),
            ("cons", Some("conservative")),
            ("conservativ", Some("conservative")),
            ("", None),
            ("x", None),
            ("nonsense", None),
            ("templates", None),
        ] {
            assert_eq!(most_similar(word, names), name, "{word}");
        }
        assert_eq!(most_similar("rhu", ["sbh", "ruh"]), Some("ruh"));
        assert_eq!(most_similar("ab", ["abc", "abd"]), Some("abc"));
    }
}
