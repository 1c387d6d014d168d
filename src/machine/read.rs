//! Reads a machine from a file. The content decides its format, not the name.

use std::path::Path;

use super::cluster::Cluster;
use super::conf::{ConfError, Ignored, parse_slurm_conf};
use super::toml_file::parse_toml;
use crate::settings_file::{MOST_OF_MACHINE, read_text};

/// Reads a machine from a slurm.conf, with the files that it includes and those beside it, or from TOML. Also returns what has no
/// effect on the machine, in the order of the file.
///
/// # Errors
/// If a file cannot be read, or as [`parse_cluster`]. The message names the file and the line.
pub fn read_cluster(path: &Path) -> Result<(Cluster, Vec<Ignored>), String> {
    let text = read_text(path, MOST_OF_MACHINE)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    parse_cluster(&text, folder).map_err(|error| format!("{}: {error}", path.display()))
}

/// Reads the text of a slurm.conf or of TOML. Files that a slurm.conf includes, and those beside it, are in `folder`.
///
/// # Errors
/// If the text is neither, or says something that no machine can be.
pub fn parse_cluster(text: &str, folder: &Path) -> Result<(Cluster, Vec<Ignored>), ConfError> {
    // A table of TOML begins with a bracket, a line of a slurm.conf with the name of a parameter.
    match text.lines().any(|line| line.trim_start().starts_with('[')) {
        true => Ok((parse_toml(text)?, Vec::new())),
        false => parse_slurm_conf(text, folder),
    }
}
