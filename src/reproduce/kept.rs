//! Figures kept in a file, so that a study that is finished need not be computed again.

use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::figure::Figure;
use super::logs::FoundLog;
use super::study::{Study, StudyError};
use crate::runs::RESULTS_REVISION;
use crate::trace::digest;

/// Raised whenever a study computes or notes anything in another way, so that old figures are not taken for new ones.
const STUDIES_REVISION: u32 = 2;

/// The figures of a finished study.
#[derive(Debug, Serialize, Deserialize)]
pub struct KeptFigures {
    /// What they depend on.
    pub key: String,
    /// In the order of the study.
    pub figures: Vec<Figure>,
}

impl KeptFigures {
    /// What the figures of a study depend on: the program's results, the content of the logs, and how thorough it is.
    ///
    /// # Errors
    ///
    /// If a log cannot be read.
    pub fn key(study: &Study, logs: &[FoundLog], quick: bool) -> Result<String, StudyError> {
        let mut key = format!("{} {RESULTS_REVISION} {STUDIES_REVISION} quick={quick}", study.name);
        for found in logs {
            let digest = digest(&found.source())?;
            key.push_str(&format!(" {}={digest:032x}", found.log.name));
        }
        Ok(key)
    }

    /// The figures in a file; none if there is no such file, if it is damaged, or if it depends on something else.
    pub fn read(file: &Path, key: &str) -> Option<KeptFigures> {
        let text = std::fs::read(file).ok()?;
        serde_json::from_slice::<KeptFigures>(&text).ok().filter(|kept| kept.key == key)
    }

    /// Writes them for [`KeptFigures::read`].
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, self)?;
        writeln!(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_back_unless_it_depends_on_something_else() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("study.json");
        let number = Figure::first_of(("Table 1", "a \"row\"", "%"), "24", &[1.0, 2.0]).noted("note").percent();
        let kept =
            KeptFigures { key: "a".to_string(), figures: vec![number, Figure::new(("T", "r", "c"), "1", f64::NAN)] };
        let mut text = Vec::new();
        kept.write(&mut text).unwrap();
        std::fs::write(&file, &text).unwrap();
        assert_eq!(KeptFigures::read(&file, "a").unwrap().figures, kept.figures);
        assert!(KeptFigures::read(&file, "b").is_none());
        std::fs::write(&file, &text[..text.len() / 2]).unwrap();
        assert!(KeptFigures::read(&file, "a").is_none(), "a file that was cut off");
    }
}
