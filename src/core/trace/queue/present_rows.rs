//! The jobs of a present queue while it is read.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::job::PresentJob;
use crate::time::Time;

/// The jobs of a present queue while it is read.
#[derive(Default)]
pub struct PresentRows {
    pub jobs: Vec<PresentJob>,
    pub now: Option<Time>,
    /// One copy of each name: thousands of jobs have the same.
    texts: FxHashSet<Arc<str>>,
    /// The tasks of arrays that became jobs.
    pub tasks: u64,
}

impl PresentRows {
    /// It was at least this time when the file was made.
    pub fn saw(&mut self, time: Time) {
        self.now = self.now.max(Some(time));
    }

    /// A name. None if there is none.
    pub fn text(&mut self, bytes: &[u8]) -> Option<Arc<str>> {
        // `(null)` is what C prints.
        if bytes.is_empty() || bytes == b"(null)" {
            return None;
        }
        let text = String::from_utf8_lossy(bytes);
        Some(match self.texts.get(&*text) {
            Some(known) => known.clone(),
            None => {
                let new: Arc<str> = text.into();
                self.texts.insert(new.clone());
                new
            }
        })
    }
}
