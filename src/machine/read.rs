//! Reads a machine from a file. The content decides its format, not the name.

use std::path::Path;
use std::sync::Arc;

use super::associations::Associations;
use super::cluster::Cluster;
use super::conf::{ConfError, Ignored, parse_slurm_conf};
use super::toml_file::parse_toml;
use crate::settings_file::{MOST_OF_SITE, ReadOnce, read_text, site_text};

/// Reads a machine from a slurm.conf, with the files that it includes and those beside it, or from TOML. Also returns what has no
/// effect on the machine, in the order of the file.
///
/// # Errors
/// If a file cannot be read, or as [`parse_cluster`]. The message names the file and the line.
pub fn read_cluster(path: &Path) -> Result<(Cluster, Vec<Ignored>), String> {
    parse_file(path, &read_text(path, MOST_OF_SITE)?)
}

fn parse_file(path: &Path, text: &str) -> Result<(Cluster, Vec<Ignored>), String> {
    let folder = path.parent().unwrap_or(Path::new(""));
    parse_cluster(text, folder).map_err(|error| format!("{}: {error}", path.display()))
}

/// The machine of an option `--machine FILE`.
#[derive(Debug, PartialEq)]
pub struct MachineFile {
    /// As it was given.
    pub file: String,
    /// Its nodes and partitions.
    pub cluster: Arc<Cluster>,
    /// What has no effect on it.
    pub ignored: Vec<Ignored>,
}

impl MachineFile {
    /// Reads a machine as [`read_cluster`]. A file is read once by a process: all its runs have the same machine, and it may be a
    /// pipe.
    ///
    /// # Errors
    /// As [`read_cluster`].
    pub fn read(file: &str) -> Result<Arc<MachineFile>, String> {
        static READ: ReadOnce<MachineFile> = ReadOnce::new();
        READ.get(file, || {
            let (cluster, ignored) = parse_file(Path::new(file), &site_text(file)?)?;
            Ok(MachineFile { file: file.to_string(), cluster: Arc::new(cluster), ignored })
        })
    }

    /// All that the machine is, whatever the file is called and however it is written: for what identifies a run.
    pub fn content(&self) -> String {
        let mut text = Vec::new();
        self.cluster.write_toml(&mut text).expect("memory can be written");
        String::from_utf8_lossy(&text).lines().collect::<Vec<_>>().join("; ")
    }
}

/// The accounts, users and qualities of service of an option `--associations FILE`.
#[derive(Debug, PartialEq)]
pub struct AssociationsFile {
    /// As it was given: one file, or several with commas between them.
    pub files: String,
    /// What they say.
    pub associations: Associations,
}

impl AssociationsFile {
    /// Reads files as [`Associations::add_file`]. They are read once by a process, as machines are.
    ///
    /// # Errors
    /// As [`Associations::add_file`].
    pub fn read(files: &str) -> Result<Arc<AssociationsFile>, String> {
        static READ: ReadOnce<AssociationsFile> = ReadOnce::new();
        READ.get(files, || {
            let mut associations = Associations::default();
            for file in files.split(',') {
                associations.add_file(Path::new(file))?;
            }
            Ok(AssociationsFile { files: files.to_string(), associations })
        })
    }
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
