//! The file of requests that a run names.

use crate::settings_file::ReadOnce;
use crate::trace::source::{Source, digest};

/// A file with the requests of the jobs of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestFile {
    /// Its name as it was given.
    pub name: String,
    /// The hash of its content, which the result of a run depends on.
    pub digest: u128,
}

impl RequestFile {
    /// The file of this name. Its hash is computed once by a process: a sweep asks for it with each of its runs.
    ///
    /// # Errors
    /// If it cannot be read. What it contains is checked when it is added to a log.
    pub fn open(name: &str) -> Result<RequestFile, String> {
        if name == "-" {
            return Err("requests cannot be read from standard input: name a file".to_string());
        }
        static DIGESTS: ReadOnce<u128> = ReadOnce::new();
        let digest = DIGESTS.get(name, || digest(&Source::from_argument(name)).map_err(|error| error.to_string()))?;
        Ok(RequestFile { name: name.to_string(), digest: *digest })
    }
}
