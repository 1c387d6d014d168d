//! A file of templates: what `sim search` writes and `smith:templates=@file` reads.
//!
//! ```text
//! # a comment
//! at=start
//! (u,e,n=4,rel)
//! (u,rel)
//! ```
//!
//! A line is a template, or several joined by `;`, or another key of the predictor. A key in the spec takes precedence over
//! the same key in the file.

use std::path::Path;

use super::templates::Template;
use crate::settings_file;
use crate::spec::SpecError;
use crate::text::printable;

/// The text of a file of templates that predict at start, after one comment line per text in `comments`.
pub fn template_file(comments: &[String], templates: &[Template]) -> String {
    let mut text = String::new();
    // A comment may contain the name of a log, which may contain line breaks.
    comments.iter().for_each(|comment| text.push_str(&format!("# {}\n", printable(comment))));
    text.push_str("at=start\n");
    templates.iter().for_each(|template| text.push_str(&format!("{template}\n")));
    text
}

/// Replaces `templates=@file` in a predictor's spec by the contents of the file, so that the spec of a run names the
/// templates themselves and not a file that may change.
pub fn with_file_read(spec: &str) -> Result<String, SpecError> {
    const KEY: &str = "templates=@";
    let Some((before, rest)) = spec.split_once(KEY).filter(|(before, _)| before.ends_with([':', ','])) else {
        return Ok(spec.to_string());
    };
    let (file, after) = rest.split_once(',').map_or((rest, ""), |(file, after)| (file, after));
    let wrong = |why: String| SpecError(format!("templates: {why}"));
    let text = settings_file::read_text(Path::new(file), settings_file::MOST_OF_TEMPLATES).map_err(wrong)?;
    let (mut templates, mut others) = (Vec::new(), String::new());
    for (number, line) in (1..).zip(text.lines().map(str::trim)) {
        let wrong = |why: String| SpecError(format!("{file}, line {number}: {why}"));
        match line.split_once('=') {
            _ if line.is_empty() || line.starts_with('#') => {}
            Some((key, _)) if key.bytes().all(|b| b.is_ascii_lowercase()) => {
                let given = |text: &str| text.split(',').any(|piece| piece.starts_with(&format!("{key}=")));
                let name = before.find(':').map_or(0, |colon| colon + 1);
                if !given(&before[name..]) && !given(after) {
                    others.push_str(&format!(",{line}"));
                }
            }
            _ => templates.extend(Template::parse_set(line).map_err(wrong)?),
        }
    }
    if templates.is_empty() {
        return Err(SpecError(format!("there is no template in '{file}'; write one per line, such as (u,e,n=4,rel)")));
    }
    let after = if after.is_empty() { String::new() } else { format!(",{after}") };
    Ok(format!("{before}templates={}{others}{after}", Template::print_set(&templates)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_file_is_replaced_by_its_contents() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let set = Template::parse_set("(u,e,n=4,rel);(u);()").unwrap();
        file.write_all(template_file(&["found by hand\nin a strange log".to_string()], &set).as_bytes()).unwrap();
        let path = file.path().to_str().unwrap();
        let read = |spec: &str| with_file_read(&spec.replace('@', &format!("@{path}"))).unwrap();
        let templates = "templates=(u,e,n=4,rel);(u);()";
        assert_eq!(read("smith:templates=@"), format!("smith:{templates},at=start"));
        assert_eq!(read("smith:templates=@,at=arrival"), format!("smith:{templates},at=arrival"));
        assert_eq!(read("smith:at=arrival,templates=@"), format!("smith:at=arrival,{templates}"));
        assert_eq!(read("smith:confidence=95,templates=@"), format!("smith:confidence=95,{templates},at=start"));
        assert_eq!(with_file_read("smith:templates=(u)").unwrap(), "smith:templates=(u)");
    }

    #[test]
    fn errors_name_the_file_and_the_line() {
        let error = |content: &str| {
            let mut file = tempfile::NamedTempFile::new().unwrap();
            file.write_all(content.as_bytes()).unwrap();
            let spec = format!("smith:templates=@{}", file.path().display());
            with_file_read(&spec).unwrap_err().to_string()
        };
        assert!(error("# nothing\n").contains("there is no template in"));
        assert!(error("(u)\n\n(x)\n").contains(", line 3: 'x' is not a word of a template"));
        let none = with_file_read("smith:templates=@/no/such/file").unwrap_err().to_string();
        assert!(none.starts_with("templates: cannot read /no/such/file: "), "{none}");
    }
}
