//! The logs of the Parallel Workloads Archive that studies use, by name, whatever their version.

use std::io;
use std::path::{Path, PathBuf};

use crate::experiment::{OptionForm, Options};
use crate::runs::PlannedRun;
use crate::trace::{Log, ReadOptions, Source, TraceError, Workload, read};

/// A log of the Parallel Workloads Archive, or of a GPU cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArchiveLog {
    /// The name in figures and messages: `SDSC-BLUE`.
    pub name: &'static str,
    /// The first part of the names of its files, without the version: `SDSC-BLUE-2000`.
    pub prefix: &'static str,
    /// The people who provided it, as its header says. Empty for a log that is not of the archive.
    pub thanks: &'static str,
}

pub(super) const fn log(name: &'static str, prefix: &'static str, thanks: &'static str) -> ArchiveLog {
    ArchiveLog { name, prefix, thanks }
}

pub(super) const ANL: ArchiveLog = log("ANL", "ANL-Intrepid-2009", "Susan Coghlan, Narayan Desai and Wei Tang");
pub(super) const CTC: ArchiveLog = log("CTC", "CTC-SP2-1996", "Dan Dwyer and Steve Hotovy");
pub(super) const CURIE: ArchiveLog = log("Curie", "CEA-Curie-2011", "Joseph Emeras");
pub(super) const HPC2N: ArchiveLog = log("HPC2N", "HPC2N-2002", "Ake Sandgren");
pub(super) const KTH: ArchiveLog = log("KTH", "KTH-SP2-1996", "Lars Malinowsky");
pub(super) const LANL: ArchiveLog = log("LANL", "LANL-CM5-1994", "Curt Canada");
pub(super) const SDSC_BLUE: ArchiveLog = log("SDSC-BLUE", "SDSC-BLUE-2000", "Travis Earheart and Nancy Wilkins-Diehr");
pub(super) const SDSC_PAR_96: ArchiveLog = log("SDSC-Par-96", "SDSC-Par-1996", "Reagan Moore and Allen Downey");
pub(super) const SDSC_SP2: ArchiveLog = log("SDSC-SP2", "SDSC-SP2-1998", "Victor Hazlewood");

const HELIOS_DATA: &str = "The logs of GPU clusters are from HeliosData (CC-BY-4.0) and, for Philly, from Microsoft: Q. Hu, P. Sun, \
    S. Yan, Y. Wen and T. Zhang, \"Characterization and Prediction of Deep Learning Workloads in Large-Scale GPU Datacenters\", \
    SC 2021; M. Jeon and others, \"Analysis of Large-Scale Multi-Tenant GPU Clusters\", USENIX ATC 2019";

impl ArchiveLog {
    /// Whether it is a log of the Parallel Workloads Archive.
    pub fn is_of_archive(&self) -> bool {
        !self.thanks.is_empty()
    }
}

/// A log of the archive with the file that holds it.
#[derive(Clone, Debug)]
pub struct FoundLog {
    /// Which log of the archive it is.
    pub log: ArchiveLog,
    /// The file, plain or compressed.
    pub file: PathBuf,
}

impl FoundLog {
    /// The file as the reader of logs wants it.
    pub fn source(&self) -> Source {
        Source::from_argument(&self.file.to_string_lossy())
    }

    /// All its records.
    pub fn as_recorded(&self) -> Result<Log, TraceError> {
        read(&self.source(), ReadOptions::default(), &mut |_| ())
    }

    /// Its jobs with these options of the main command, such as `("procs", "338")`.
    pub fn workload(&self, options: &[(&str, &str)]) -> Result<Workload, TraceError> {
        let PlannedRun { options, .. } = grid_cell(&self.file, options, 0);
        options.clean_out(&mut read(&self.source(), options.read_options(), &mut |_| ())?)
    }

    /// Its jobs with the waits that it recorded, cleaned as for `--scheduler replay`.
    pub fn replayed(&self) -> Result<Workload, TraceError> {
        self.workload(&[("scheduler", "replay")])
    }
}

/// A run of a sweep: the log in this file with these options of the main command. The first replication is the log as it is,
/// the others are shaken copies of it.
pub(super) fn grid_cell(file: &Path, options: &[(&str, &str)], replication: u32) -> PlannedRun {
    let mut all = Options::default();
    for (name, value) in options {
        let option = OptionForm::find(name).expect("an option of the main command");
        option.set(&mut all, value).unwrap_or_else(|why| panic!("--{name} {value}: {why}"));
    }
    PlannedRun { trace: Some(file.to_string_lossy().into_owned()), options: all.replicated(replication) }
}

/// The replications of a pair such as `easy/estimate` on the log in this file, with more options of the main command.
pub(super) fn pair_cells<'a>(
    file: &'a Path,
    pair: &'a str,
    more: &[(&'a str, &'a str)],
    replications: u64,
) -> impl Iterator<Item = PlannedRun> + use<'a> {
    let (scheduler, predictor) = pair.split_once('/').expect("scheduler/predictor");
    let options = [&[("scheduler", scheduler), ("predictor", predictor)], more].concat();
    (0..replications as u32).map(move |number| grid_cell(file, &options, number))
}

/// Looks for logs in a folder: first those that are there, then those that are missing. Of several versions of a log
/// the last by name is taken, so a cleaned one before a raw one of the same version.
pub fn find_logs(folder: &Path, wanted: &[ArchiveLog]) -> io::Result<(Vec<FoundLog>, Vec<ArchiveLog>)> {
    let files = [logs_in(folder)?, tables_in(folder)?].concat();
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for &log in wanted {
        match files.iter().rfind(|file| is_of(file, &log)) {
            Some(file) => found.push(FoundLog { log, file: file.clone() }),
            None => missing.push(log),
        }
    }
    Ok((found, missing))
}

/// The logs in a folder, in the order of their names.
fn logs_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    files.retain(|file| [".swf", ".swf.gz", ".swf.zst"].iter().any(|end| name_of(file).ends_with(end)));
    files.sort();
    Ok(files)
}

/// The logs of GPU clusters in a folder and in the folders in it, in the order of their names.
fn tables_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        match path.is_dir() {
            true => files.push(path.join(CLUSTER_LOG)),
            false => files.push(path),
        }
    }
    files.retain(|file| file.extension().is_some_and(|end| end == "csv") && file.is_file());
    files.sort();
    Ok(files)
}

/// The name that the log of each cluster of Helios has, in a folder with the name of the cluster.
const CLUSTER_LOG: &str = "cluster_log.csv";

fn name_of(file: &Path) -> String {
    file.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn is_of(file: &Path, log: &ArchiveLog) -> bool {
    match (name_of(file), file.parent()) {
        (name, Some(folder)) if name == CLUSTER_LOG => format!("{}/{name}", name_of(folder)).starts_with(log.prefix),
        (name, _) => name.starts_with(log.prefix),
    }
}

/// The citation and the acknowledgements that the archive asks for.
pub fn acknowledgements(logs: &[FoundLog]) -> String {
    let (archive, others): (Vec<_>, Vec<_>) = logs.iter().partition(|found| found.log.is_of_archive());
    if archive.is_empty() {
        return if others.is_empty() { String::new() } else { HELIOS_DATA.to_string() };
    }
    let mut text = "The logs are from the Parallel Workloads Archive: D. G. Feitelson, D. Tsafrir and D. Krakov, \
        \"Experience with using the Parallel Workloads Archive\", J. Parallel Distrib. Comput. 74(10), 2014. Thanks to"
        .to_string();
    for (at, found) in archive.iter().enumerate() {
        text.push_str(&format!("{} {} ({})", if at == 0 { "" } else { "," }, found.log.thanks, found.log.name));
    }
    if !others.is_empty() {
        text.push_str(". ");
        text.push_str(HELIOS_DATA);
    }
    text
}
