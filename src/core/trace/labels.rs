//! The names of several logs in one table of results: short, and unique.

use std::path::{Component, Path};

use super::source::{Source, label};

/// A label for each log; `None` is the embedded log. A label is the file's name without folders and extensions. Logs with
/// equal names get as many folders as necessary to differ, or their extensions if they are in the same folder.
///
/// ```
/// # extern crate shadowtime_core as shadowtime;
/// use shadowtime::trace::labels;
/// let logs = ["a/log.swf.gz", "b/log.swf.gz", "b/KTH.swf"].map(|log| Some(log.to_string()));
/// assert_eq!(labels(&logs), ["a/log", "b/log", "KTH"]);
/// ```
pub fn labels(logs: &[Option<String>]) -> Vec<String> {
    let mut others: Vec<&Option<String>> = logs.iter().collect();
    others.sort_unstable();
    others.dedup();
    let choose = |log: &Option<String>| {
        let candidates = candidates(log);
        let is_free = |at: &usize| {
            let rivals = others.iter().filter(|other| **other != log);
            !rivals
                .map(|other| self::candidates(other))
                .any(|rival| rival.get(*at).or(rival.last()) == candidates.get(*at))
        };
        let free = (0..candidates.len()).find(is_free);
        candidates[free.unwrap_or(candidates.len() - 1)].clone()
    };
    // A sweep may have thousands of cells but few logs, so a label is chosen once per log.
    let chosen: Vec<String> = others.iter().map(|log| choose(log)).collect();
    logs.iter().map(|log| chosen[others.binary_search(&log).expect("it is one of them")].clone()).collect()
}

/// The possible labels of a log, shortest first.
fn candidates(log: &Option<String>) -> Vec<String> {
    let Some(text) = log else { return vec![super::demo().label()] };
    let Source::File(path) = Source::from_argument(text) else { return vec![Source::Stdin.label()] };
    let file = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let folders = folders(path.parent().unwrap_or(Path::new("")));
    // First without extensions, then with them.
    let names = [label(&path), file].into_iter();
    let with_folders = |name: String| (0..=folders.len()).map(move |count| (count, name.clone()));
    names
        .flat_map(with_folders)
        .map(|(count, name)| {
            let mut parts: Vec<&str> = folders[folders.len() - count..].iter().map(String::as_str).collect();
            parts.push(&name);
            parts.join("/")
        })
        .collect()
}

/// The folders of a path, outermost first.
fn folders(path: &Path) -> Vec<String> {
    let name = |part: Component<'_>| match part {
        Component::RootDir => String::new(),
        part => part.as_os_str().to_string_lossy().into_owned(),
    };
    path.components().map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of<const N: usize>(logs: [&str; N]) -> Vec<String> {
        labels(&logs.map(|log| Some(log.to_string())))
    }

    #[test]
    fn as_much_of_the_path_as_it_takes() {
        assert_eq!(of(["x/KTH.swf.gz", "y/CTC.swf"]), ["KTH", "CTC"]);
        assert_eq!(of(["/t/aa/log.swf", "/t/bb/log.swf.zst"]), ["aa/log", "bb/log"]);
        assert_eq!(of(["/a/x/log", "/b/x/log", "/b/y/log"]), ["a/x/log", "b/x/log", "y/log"]);
        assert_eq!(of(["/log", "/x/log", "log"]), ["/log", "x/log", "log"]);
        // The same log twice is one log.
        assert_eq!(of(["a/log", "a/log"]), ["log", "log"]);
        // Only their endings differ.
        assert_eq!(of(["/a/log.swf", "/a/log.swf.gz"]), ["log.swf", "log.swf.gz"]);
        let with_demo = labels(&[None, Some("x/demo.swf".to_string())]);
        assert!(with_demo[0] == "demo" && with_demo[1] == "x/demo", "{with_demo:?}");
    }
}
