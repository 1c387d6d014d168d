//! The syntax of a slurm.conf and of the files beside it, as Slurm's own parser reads it: comments, continued lines, blanks around `=`, quotes, included
//! files.

use std::path::Path;

use super::super::file_line::{ConfError, FileLine};
use crate::settings_file::{MOST_OF_SITE, read_text};
use crate::text::shortened;

/// A line of a configuration: one parameter. That of a node or a partition has further pairs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfLine {
    /// Where it begins.
    pub place: FileLine,
    /// The parameter, as it is written. Slurm ignores its case.
    pub name: String,
    /// Without quotes.
    pub value: String,
    /// The further pairs of a node or a partition, with their names as they are written.
    pub pairs: Vec<(String, String)>,
}

impl ConfLine {
    /// The value of the last pair of this name. Slurm takes the last of several values.
    pub fn pair(&self, name: &str) -> Option<&str> {
        last_value(&self.pairs, name)
    }

    /// Whether this is the parameter of that name.
    pub fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }
}

/// The value of the last pair of this name.
pub fn last_value<'a>(pairs: &'a [(String, String)], name: &str) -> Option<&'a str> {
    pairs.iter().rev().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

/// Pairs after those of the lines DEFAULT before them, which are left out where a later pair has the same name.
pub fn with_defaults(defaults: &[(String, String)], pairs: &[(String, String)]) -> Vec<(String, String)> {
    let is_kept = |(name, _): &&(String, String)| last_value(pairs, name).is_none();
    defaults.iter().filter(is_kept).chain(pairs).cloned().collect()
}

/// Parameters whose lines have further pairs, which describe one thing.
const WITH_PAIRS: [&str; 8] = [
    "NodeName",
    "PartitionName",
    "NodeSet",
    "DownNodes",
    "FrontendName",
    // topology.conf
    "SwitchName",
    // gres.conf
    "Name",
    "AutoDetect",
];

/// How deep files may include each other.
const DEEPEST: usize = 10;

/// The lines of a configuration with those of the files that it includes. Their names are relative to `folder`.
///
/// # Errors
/// If a line is not a parameter with a value, or a file that is included cannot be read.
pub fn lines_of(text: &str, folder: &Path) -> Result<Vec<ConfLine>, ConfError> {
    let mut reader = ConfReader { folder, lines: Vec::new(), files: Vec::new() };
    reader.add(text)?;
    Ok(reader.lines)
}

struct ConfReader<'a> {
    folder: &'a Path,
    lines: Vec<ConfLine>,
    /// The included files that are being read, the innermost last.
    files: Vec<String>,
}

impl ConfReader<'_> {
    fn add(&mut self, text: &str) -> Result<(), ConfError> {
        for (line, text) in joined_lines(text) {
            let place = FileLine { included: self.files.last().cloned(), line };
            let wrong = |why: String| ConfError { place: place.clone(), why };
            if let Some(file) = included_file(&text) {
                self.include(file).map_err(wrong)??;
            } else if let Some((pair, rest)) = first_pair(&text).map_err(wrong)? {
                let (name, value) = pair;
                let pairs = further_pairs(&name, rest).map_err(wrong)?;
                self.lines.push(ConfLine { place: place.clone(), name, value, pairs });
            }
        }
        Ok(())
    }

    /// The outer error is of the line that includes the file, the inner one of a line of the file.
    fn include(&mut self, file: &str) -> Result<Result<(), ConfError>, String> {
        if self.files.len() == DEEPEST {
            return Err(format!("files include each other more than {DEEPEST} deep"));
        }
        let cluster = self.lines.iter().rev().find(|line| line.is("ClusterName")).map(|line| line.value.as_str());
        let file = match (file.contains("%c"), cluster) {
            (true, None) => {
                return Err(format!("Include {file}: %c is the ClusterName, which is not set before this line"));
            }
            (_, cluster) => file.replace("%c", cluster.unwrap_or_default()),
        };
        let text = read_text(&self.folder.join(&file), MOST_OF_SITE)?;
        self.files.push(file);
        let added = self.add(&text);
        self.files.pop();
        Ok(added)
    }
}

/// The lines without comments, with their numbers; those that a backslash continues are joined. As in Slurm, the blanks at the
/// beginning of a continued line stay.
fn joined_lines(text: &str) -> Vec<(usize, String)> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    let mut goes_on = false;
    for (number, line) in (1..).zip(text.lines()) {
        let line = without_comment(line);
        let trimmed = line.trim_end();
        let continues = (trimmed.len() - trimmed.trim_end_matches('\\').len()) % 2 == 1;
        let line = if continues { &trimmed[..trimmed.len() - 1] } else { line };
        match lines.last_mut() {
            Some((_, last)) if goes_on => last.push_str(line),
            _ => lines.push((number, line.to_string())),
        }
        goes_on = continues;
    }
    lines.iter_mut().for_each(|(_, line)| *line = without_escapes(line));
    lines
}

/// The line up to the first `#` that is not escaped by a backslash.
fn without_comment(line: &str) -> &str {
    let mut is_escaped = false;
    for (at, byte) in line.bytes().enumerate() {
        match byte {
            b'#' if !is_escaped => return &line[..at],
            b'\\' => is_escaped = !is_escaped,
            _ => is_escaped = false,
        }
    }
    line
}

/// The text in which a backslash stands for the character after it.
fn without_escapes(text: &str) -> String {
    let mut characters = text.chars();
    let next = || match characters.next()? {
        '\\' => characters.next(),
        other => Some(other),
    };
    std::iter::from_fn(next).collect()
}

/// The file of a line such as `Include nodes.conf`.
fn included_file(line: &str) -> Option<&str> {
    let (word, file) = line.trim().split_once(char::is_whitespace)?;
    (word.eq_ignore_ascii_case("include") && !file.trim_start().starts_with('=')).then(|| file.trim())
}

/// The first pair of a text, and what comes after it. None if there are only blanks.
#[expect(clippy::type_complexity)]
fn first_pair(text: &str) -> Result<Option<((String, String), &str)>, String> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    let wrong = |why: &str| format!("'{}' {why}", shortened(text));
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '.')).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let Some(value) = rest.trim_start().strip_prefix('=').filter(|_| !name.is_empty()) else {
        return Err(wrong("is not NAME=VALUE"));
    };
    let value = value.trim_start();
    let (value, rest) = match value.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"').ok_or_else(|| wrong("has a quote that is not closed"))?,
        None => value.split_at(value.find(char::is_whitespace).unwrap_or(value.len())),
    };
    if rest.starts_with(|c: char| !c.is_whitespace()) {
        return Err(wrong("has text after a closing quote"));
    }
    Ok(Some(((name.to_string(), value.to_string()), rest)))
}

/// What follows the first pair of a line: pairs if it is a node or a partition, else nothing.
fn further_pairs(name: &str, mut rest: &str) -> Result<Vec<(String, String)>, String> {
    let has_pairs = WITH_PAIRS.iter().any(|known| known.eq_ignore_ascii_case(name));
    let mut pairs = Vec::new();
    while let Some((pair, after)) = first_pair(rest)? {
        if !has_pairs {
            let rest = shortened(rest.trim());
            return Err(format!(
                "'{rest}' after {name}: a line of Slurm has one parameter, and a value with blanks is in quotes"
            ));
        }
        pairs.push(pair);
        rest = after;
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> Vec<(usize, String)> {
        let lines = lines_of(text, Path::new("")).unwrap();
        lines.iter().map(|line| (line.place.line, format!("{}|{}", line.name, line.value))).collect()
    }

    fn wrong(text: &str) -> String {
        lines_of(text, Path::new("/no such folder")).unwrap_err().to_string()
    }

    #[test]
    fn lines_are_read_as_slurm_reads_them() {
        let text = "# A comment \\\nA = 1\n\n  b\t=\t\"two words\"  # more\nC=x,\\\ny\\\n,z\nD=a\\#b\\\\c\nE=1 \\\n\n";
        let expected = [(2, "A|1"), (4, "b|two words"), (5, "C|x,y,z"), (8, "D|a#b\\c"), (9, "E|1")];
        assert_eq!(pairs(text), expected.map(|(line, text)| (line, text.to_string())));
        let nodes = "NodeName = DEFAULT CPUs=4\nnodename=n[1,3-5] CPUs = 8 Feature=\"a b\"\nEmpty=\nF=\"\"\n";
        let expected = [(1, "NodeName|DEFAULT"), (2, "nodename|n[1,3-5]"), (3, "Empty|"), (4, "F|")];
        assert_eq!(pairs(nodes), expected.map(|(line, text)| (line, text.to_string())));
    }

    #[test]
    fn what_slurm_refuses_is_refused() {
        assert_eq!(
            wrong("A=1\nSchedulerParameters bf_interval=60"),
            "line 2: 'SchedulerParameters bf_interval=60' is not NAME=VALUE"
        );
        assert_eq!(wrong("A=\"1"), "line 1: 'A=\"1' has a quote that is not closed");
        assert_eq!(wrong("A=\"1\"2"), "line 1: 'A=\"1\"2' has text after a closing quote");
        assert!(wrong("A=1, B=2").starts_with("line 1: 'B=2' after A: a line of Slurm has one parameter"));
        assert!(wrong("NodeName=a CPUs").ends_with("'CPUs' is not NAME=VALUE"));
        assert_eq!(wrong("A+=1"), "line 1: 'A+=1' is not NAME=VALUE");
        assert!(wrong("Include x.conf").starts_with("line 1: cannot read /no such folder/x.conf"));
        assert!(wrong("Include x%c.conf").contains("ClusterName, which is not set"));
    }

    #[test]
    fn included_files_are_read_in_place() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("big.conf", "\u{feff}B=2\r\n  include more.conf # nodes\r\nB=4\r\n");
        write("more.conf", "C=3\nD");
        write("self.conf", "Include self.conf");
        let read = |text: &str| lines_of(text, folder.path());
        let error = read("ClusterName=big\nInclude %c.conf\n").unwrap_err();
        assert_eq!(error.to_string(), "more.conf, line 2: 'D' is not NAME=VALUE");
        write("more.conf", "C=3");
        let lines = read("ClusterName=big\nInclude %c.conf\nA=1").unwrap();
        let shown: Vec<_> = lines.iter().map(|line| format!("{} {}={}", line.place, line.name, line.value)).collect();
        let expected = [
            "line 1 ClusterName=big",
            "big.conf, line 1 B=2",
            "more.conf, line 1 C=3",
            "big.conf, line 3 B=4",
            "line 3 A=1",
        ];
        assert_eq!(shown, expected);
        assert!(read("Include self.conf").unwrap_err().to_string().ends_with("more than 10 deep"));
    }
}
