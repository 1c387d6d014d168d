//! Reads a machine from a file. The content decides its format, not the name.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use super::associations::{Associations, ChosenCluster};
use super::cluster::Cluster;
use super::conf::{cluster_of, lines_of_file, parse_slurm_conf};
use super::file_line::{ConfError, Ignored};
use super::toml_file::parse_toml;
use crate::settings_file::{MOST_OF_ASSOCIATIONS, MOST_OF_SITE, ReadOnce, read_text, site_text};
use crate::text::printable;

/// Reads a machine from a slurm.conf, with the files that it includes and those beside it, or from TOML. Also returns what has no
/// effect on the machine, in the order of the file.
///
/// # Errors
/// If a file cannot be read, or as [`parse_cluster`]. The message names the file and the line.
pub fn read_cluster(path: &Path) -> Result<(Cluster, Vec<Ignored>), String> {
    parse_file(path, &read_text(path, MOST_OF_SITE)?)
}

fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

/// Whether a text is TOML: a table begins with a bracket, a line of a slurm.conf with the name of a parameter.
fn is_toml(text: &str) -> bool {
    text.lines().any(|line| line.trim_start().starts_with('['))
}

fn parse_file(path: &Path, text: &str) -> Result<(Cluster, Vec<Ignored>), String> {
    parse_cluster(text, folder_of(path)).map_err(|error| format!("{}: {error}", path.display()))
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
            let path = Path::new(file);
            let (cluster, ignored) = match is_toml(&site_text(file)?) {
                true => parse_file(path, &site_text(file)?)?,
                false => {
                    cluster_of(&lines_of_file(file)?, folder_of(path)).map_err(|error| format!("{file}: {error}"))?
                }
            };
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
    /// Those of each cluster that the files name; of one without a name if they name none.
    clusters: Vec<ClusterAssociations>,
}

/// What files say of one cluster.
#[derive(Debug, PartialEq)]
pub struct ClusterAssociations {
    /// Its name. Empty if the files name none.
    name: String,
    /// Who may use how much of it.
    pub associations: Associations,
    /// What has no effect. Lines are named with their file.
    pub ignored: Vec<Ignored>,
}

impl AssociationsFile {
    /// Reads files: what `sacctmgr dump` writes, or `sacctmgr show assoc -P` and `sacctmgr show qos -P` print. They are read once by
    /// a process, as machines are.
    ///
    /// # Errors
    /// If a file cannot be read, or as [`Associations::parse`]. The message names the file and the line.
    pub fn read(files: &str) -> Result<Arc<AssociationsFile>, String> {
        static READ: ReadOnce<AssociationsFile> = ReadOnce::new();
        READ.get(files, || {
            let texts = files.split(',').map(|file| Ok((file, read_text(Path::new(file), MOST_OF_ASSOCIATIONS)?)));
            let texts: Vec<(&str, String)> = texts.collect::<Result<_, String>>()?;
            let (first, seen) = of_cluster(&texts, None)?;
            let others = seen.into_iter().filter(|name| *name != first.name);
            let others: Vec<_> =
                others.map(|name| Ok(of_cluster(&texts, Some(name))?.0)).collect::<Result<_, String>>()?;
            Ok(AssociationsFile { files: files.to_string(), clusters: std::iter::once(first).chain(others).collect() })
        })
    }

    /// What the files say of a machine. Rows of other clusters are not about it.
    ///
    /// # Errors
    /// If they say nothing of it, or it cannot be told which of their clusters it is.
    pub fn of(&self, machine: &Cluster) -> Result<&ClusterAssociations, String> {
        let names = || self.clusters.iter().map(|one| printable(&one.name).into_owned()).collect::<Vec<_>>().join(", ");
        let found = match &self.clusters[..] {
            [one] if one.name.is_empty() || machine.name.is_empty() => Some(one),
            several => several.iter().find(|one| one.name.eq_ignore_ascii_case(&machine.name)),
        };
        found.ok_or_else(|| match machine.name.is_empty() {
            true => format!(
                "{}: of the clusters {}, and the machine does not say which of them it is: write ClusterName=NAME in its slurm.conf \
                 (in TOML cluster = \"NAME\"), or export one cluster with 'sacctmgr dump NAME file=site.dump'",
                self.files,
                names()
            ),
            false => format!(
                "{}: of the cluster {}, but the machine is the cluster {}: export it with 'sacctmgr dump {2} file=site.dump', or \
                 write another ClusterName in its slurm.conf (in TOML cluster)",
                self.files,
                names(),
                printable(&machine.name)
            ),
        })
    }
}

/// What files say of a cluster, or of the first that they name. Also returns the names of all.
fn of_cluster(
    texts: &[(&str, String)],
    cluster: Option<String>,
) -> Result<(ClusterAssociations, BTreeSet<String>), String> {
    let (mut associations, mut ignored) = (Associations::default(), Vec::new());
    let mut chosen = ChosenCluster { cluster, seen: BTreeSet::new() };
    for (file, text) in texts {
        let more = associations.add_text(text, &mut chosen).map_err(|error| format!("{file}: {error}"))?;
        ignored.extend(more.into_iter().map(|mut one| {
            one.place.included = Some(file.to_string());
            one
        }));
    }
    Ok((ClusterAssociations { name: chosen.cluster.unwrap_or_default(), associations, ignored }, chosen.seen))
}

/// Reads the text of a slurm.conf or of TOML. Files that a slurm.conf includes, and those beside it, are in `folder`.
///
/// # Errors
/// If the text is neither, or says something that no machine can be.
pub fn parse_cluster(text: &str, folder: &Path) -> Result<(Cluster, Vec<Ignored>), ConfError> {
    match is_toml(text) {
        true => Ok((parse_toml(text)?, Vec::new())),
        false => parse_slurm_conf(text, folder),
    }
}
