//! The logs of GPU clusters: their virtual clusters, the jobs that the authors simulated, and the predictions that they published.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::super::figure::Figure;
use super::super::logs::{FoundLog, grid_cell};
use super::super::study::StudyError;
use crate::experiment::Options;
use crate::job::Job;
use crate::machine::parse_cluster;
use crate::predict::GivenTable;
use crate::settings_file::{MOST_OF_TEMPLATES, read_text};
use crate::time::{DAY, MINUTE, Seconds, Time};
use crate::trace::{NameKind, PartitionMap, TraceError, Unit, Workload, put_on_cluster, read};

/// A log of a GPU cluster.
pub(super) struct GpuLog {
    pub name: &'static str,
    /// The jobs on the nodes of the virtual clusters.
    workload: Workload,
    options: Options,
    /// The virtual clusters that are shown alone: their numbers and names.
    apart: Vec<(i32, String)>,
    /// The predictions that the authors have published.
    pub given: Vec<GivenPredictions>,
}

/// Predictions for the jobs of a log.
pub(super) struct GivenPredictions {
    pub name: &'static str,
    file: PathBuf,
    pub table: Arc<GivenTable>,
}

impl GivenPredictions {
    /// The predictor of these.
    pub fn spec(&self) -> String {
        format!("given:file={},prediction=priority", self.file.display())
    }
}

/// Published figures of a scheduler; empty if there are none.
#[derive(Clone, Copy)]
pub(super) struct Published {
    pub wait: &'static str,
    pub completion: &'static str,
}

impl Published {
    pub const NONE: Published = Published { wait: "", completion: "" };
}

/// Of the logs: the scheduler, and what was published. Those of the part of Venus are from a run of the authors' classes; those
/// of the others are printed in their notebook, or quoted by others.
const PUBLISHED: [(&str, &str, Published); 8] = [
    ("Venus, 2 clusters", "FIFO", Published { wait: "10883.49", completion: "16534.27" }),
    ("Venus, 2 clusters", "SJF", Published { wait: "622.02", completion: "6272.79" }),
    ("Venus, 2 clusters", "QSSF", Published { wait: "245.04", completion: "5895.81" }),
    ("Venus", "FIFO", Published { wait: "", completion: "64702" }),
    ("Earth", "FIFO", Published { wait: "", completion: "19754" }),
    ("Saturn", "FIFO", Published { wait: "", completion: "55984" }),
    ("Uranus", "FIFO", Published { wait: "", completion: "19758" }),
    ("Philly", "FIFO", Published { wait: "56531", completion: "86072" }),
];
const PHILLY_SJF: Published = Published { wait: "4731", completion: "34272" };
const PHILLY_QSSF: Published = Published { wait: "7783", completion: "37324" };

/// How many times longer completion takes under FIFO than under SJF, by log.
const FIFO_OVER_SJF: [(&str, &str); 4] = [("Venus", "3.07"), ("Earth", "2.87"), ("Saturn", "6.59"), ("Uranus", "1.49")];

/// What somebody found before this study: the virtual cluster, the row, the column and the figure.
const FIRST_LOOK: [(&str, &str, &str, &str); 5] = [
    ("vcvGl", "FIFO", MODEL_COLUMN, "13891"),
    ("vcvGl", "QSSF", MODEL_COLUMN, "212"),
    ("vcvGl", NO_PREDICTION, "EASY", "221"),
    ("vcvGl", "the authors' predictions (LightGBM)", CORRELATION, "0.10"),
    ("vcvGl", LAST_TWO, OF_LOGARITHMS, "0.68"),
];
pub(super) const MODEL_COLUMN: &str = "as in the authors' simulator";
pub(super) const NO_PREDICTION: &str = "arrival order, no prediction";
const CORRELATION: &str = "correlation of predictions with runtimes";
const OF_LOGARITHMS: &str = "correlation of their logarithms";
const LAST_TWO: &str = "mean of the last two jobs of the user and width";

/// What a first look at a virtual cluster found. Empty if it did not look at this.
pub(super) fn first_look(cluster: &str, row: &str, column: &str) -> &'static str {
    let found =
        FIRST_LOOK.iter().find(|(other, of_row, of_column, _)| (*other, *of_row, *of_column) == (cluster, row, column));
    found.map_or("", |(.., figure)| figure)
}

/// GPUs of a node.
const GPUS: u32 = 8;
/// No more virtual clusters are shown alone.
const MOST_APART: usize = 4;

/// Where columns are in a log.
const OF_PART: &str =
    "csv:submit=submit_time{us},run=duration_s,procs=num_chips,user=user,partition=tenant,id=job_id,gpus=num_chips";
const OF_CLUSTER: &str =
    "csv:submit=submit_time,run=duration,procs=gpu_num,user=user,partition=vc,id=job_id,gpus=gpu_num";
const OF_PHILLY: &str = "csv:submit=submit_time,run=duration,procs=gpu_num,user=user,partition=vc,gpus=gpu_num";

impl GpuLog {
    /// Reads a log, the table of its virtual clusters and the predictions beside it.
    ///
    /// # Errors
    /// If one of them cannot be read.
    pub fn read(found: &FoundLog) -> Result<GpuLog, StudyError> {
        let name = found.log.name;
        let cluster = name.split(',').next().unwrap_or(name);
        let (columns, window) = match name {
            "Philly" => (OF_PHILLY, Some(61 * DAY - MINUTE)),
            _ if name != cluster => (OF_PART, None),
            // The 26 days from the first of September on; the log begins in April.
            _ => (OF_CLUSTER, Some(26 * DAY - MINUTE)),
        };
        let begin = if columns == OF_CLUSTER { 153 * DAY } else { 0 };
        let run = grid_cell(&found.file, &[("log-format", columns), ("overrun", "extend")], 0);
        let mut options = run.options;
        // The nodes decide what fits.
        options.cleaning.procs = Some(u32::MAX);
        let mut log = read(&found.source(), options.read_options(), &mut |_| ())?;
        let mut workload = options.clean_out(&mut log)?;
        let folders = folders_of(&found.file);
        let nodes = virtual_clusters(&folders, cluster)?;
        let numbers: BTreeMap<i64, String> = log
            .names
            .of_kind(NameKind::Partition)
            .map(|(number, name)| (number, String::from_utf8_lossy(name).into_owned()))
            .collect();
        let is_of = |partition: i32| numbers.get(&partition.into()).is_some_and(|name| nodes.contains_key(name));
        workload.jobs.retain(|job| is_of(job.submission.partition));
        if let Some(length) = window.filter(|_| !workload.jobs.is_empty()) {
            // As the authors count days: from the first job of these virtual clusters on.
            let begin = workload.first_submit() + begin;
            workload.jobs.retain(|job| (begin..=begin + length).contains(&job.submission.submit));
        }
        if workload.jobs.is_empty() {
            let why = "no job is in the virtual clusters and in the days that the authors simulated".to_string();
            return Err(TraceError::NoJobs { name: log.name, why }.into());
        }
        let used = |number: i32| workload.jobs.iter().any(|job| job.submission.partition == number);
        let mut apart: Vec<(i32, String)> = numbers.into_iter().map(|(number, name)| (number as i32, name)).collect();
        apart.retain(|(number, _)| used(*number));
        apart.truncate(if apart.len() > MOST_APART { 0 } else { MOST_APART });
        let machine = machine_of(&nodes);
        let (machine, _) = parse_cluster(&machine, Path::new(".")).expect("the text of a machine");
        let workload = put_on_cluster(workload, &Arc::new(machine), &PartitionMap::new(), &log.names, Unit::default())?;
        let given = if columns == OF_PHILLY { Vec::new() } else { given_predictions(&folders, cluster)? };
        Ok(GpuLog { name, workload, options, apart, given })
    }

    /// The workload of a replication: as it is, or with submissions that are moved a little.
    pub fn shaken(&self, replication: u32) -> Result<Workload, StudyError> {
        Ok(self.options.clone().replicated(replication).shape(self.workload.clone())?)
    }

    /// The virtual clusters that are shown alone.
    pub fn clusters_apart(&self) -> impl Iterator<Item = (i32, &str)> {
        self.apart.iter().map(|(number, name)| (*number, name.as_str()))
    }

    /// What was published of a scheduler of the authors' simulator.
    pub fn published(&self, scheduler: &str) -> Published {
        if (self.name, scheduler) == ("Philly", "SJF") {
            return PHILLY_SJF;
        }
        let found = PUBLISHED.iter().find(|(log, other, _)| (*log, *other) == (self.name, scheduler));
        found.map_or(Published::NONE, |(.., published)| *published)
    }

    /// The ratio of the completion times of FIFO and SJF that was published.
    pub fn published_ratio(&self) -> &'static str {
        FIFO_OVER_SJF.iter().find(|(log, _)| *log == self.name).map_or("", |(_, ratio)| ratio)
    }

    /// Published figures that cannot be measured: the predictions for Philly are by names of jobs.
    pub fn not_measured(&self) -> Vec<Figure> {
        if self.name != "Philly" {
            return Vec::new();
        }
        let figure = |what: &str, published: &str| {
            let place = (&*format!("{what}, Philly"), "QSSF", MODEL_COLUMN);
            Figure::new(place, published, f64::NAN).noted("the predictions behind it are true durations with noise")
        };
        vec![figure("mean wait, s", PHILLY_QSSF.wait), figure("mean completion, s", PHILLY_QSSF.completion)]
    }

    /// Why a figure of this log can differ.
    pub fn reason(&self) -> &'static str {
        match self.name {
            "Philly" => "the published run is of the authors' own preparation of the log",
            _ => "",
        }
    }

    /// How predictions go with runtimes, in each virtual cluster that is shown alone.
    pub fn correlations(&self) -> Vec<Figure> {
        let mut figures = Vec::new();
        for (number, name) in self.clusters_apart() {
            let jobs = || self.workload.jobs.iter().filter(move |job| job.submission.partition == number);
            let mut add = |row: &str, pairs: Vec<(f64, f64)>| {
                let note = format!("{} jobs", pairs.len());
                let logarithms: Vec<_> =
                    pairs.iter().map(|(one, other)| (one.max(1.0).ln(), other.max(1.0).ln())).collect();
                for (table, pairs) in [(CORRELATION, &pairs), (OF_LOGARITHMS, &logarithms)] {
                    let figure = Figure::new((table, row, name), first_look(name, row, table), correlation(pairs));
                    figures.push(figure.noted(&note));
                }
            };
            for given in &self.given {
                let of_job = |job: &Job| Some((given.table.raw(&self.workload.log_id(job))?, job.runtime as f64));
                add(&format!("the authors' predictions ({})", given.name), jobs().filter_map(of_job).collect());
            }
            add(LAST_TWO, last_two(jobs()));
        }
        figures
    }
}

/// For each job the mean runtime of the last two jobs of its user and width that were over at its submission, had all started at
/// once, with its own runtime. Jobs without such jobs are left out.
fn last_two<'a>(jobs: impl Iterator<Item = &'a Job>) -> Vec<(f64, f64)> {
    let (mut earlier, mut pairs) = (BTreeMap::<(i32, u32), Vec<(Time, Seconds)>>::new(), Vec::new());
    for job in jobs {
        let (at, submit) = ((job.submission.user, job.submission.procs), job.submission.submit);
        let past = earlier.entry(at).or_default();
        let last: Vec<f64> =
            past.iter().rev().filter(|(end, _)| *end <= submit).take(2).map(|(_, runtime)| *runtime as f64).collect();
        if !last.is_empty() {
            pairs.push((last.iter().sum::<f64>() / last.len() as f64, job.runtime as f64));
        }
        past.push((submit + job.runtime, job.runtime));
    }
    pairs
}

/// Pearson's correlation.
fn correlation(pairs: &[(f64, f64)]) -> f64 {
    let count = pairs.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / count;
    let (first, second) = (mean(|pair| pair.0), mean(|pair| pair.1));
    let sum = |of: &dyn Fn(f64, f64) -> f64| pairs.iter().map(|pair| of(pair.0 - first, pair.1 - second)).sum::<f64>();
    sum(&|one, other| one * other) / (sum(&|one, _| one * one) * sum(&|_, other| other * other)).sqrt()
}

/// Where the files beside a log can be: its folder, and the one above for a log in a folder of its own.
fn folders_of(log: &Path) -> Vec<PathBuf> {
    log.ancestors().skip(1).take(2).map(Path::to_path_buf).collect()
}

/// The first of these files that exists, plain or compressed.
fn find(folders: &[PathBuf], names: &[String]) -> Option<PathBuf> {
    let all = folders.iter().flat_map(|folder| {
        names.iter().flat_map(move |name| ["", ".gz", ".zst"].map(|end| folder.join(format!("{name}{end}"))))
    });
    all.into_iter().find(|file| file.is_file())
}

/// The nodes of each virtual cluster, from a table with their names and numbers.
fn virtual_clusters(folders: &[PathBuf], cluster: &str) -> Result<BTreeMap<String, u32>, StudyError> {
    let names =
        [format!("{cluster}_vc_config.csv"), "vc_config.csv".to_string(), format!("{}_vc.csv", cluster.to_lowercase())];
    let Some(file) = find(folders, &names) else {
        let folder = folders[0].display();
        return Err(StudyError::Usage(format!(
            "{folder}: there is no {}, the table of the virtual clusters and their nodes",
            names[0]
        )));
    };
    let wrong = |why: String| StudyError::Usage(format!("{}: {why}", file.display()));
    let text = read_text(&file, MOST_OF_TEMPLATES).map_err(StudyError::Usage)?;
    let row = |line: &str| {
        let (name, nodes) = line.split_once(',')?;
        Some((name.trim().to_string(), nodes.trim().parse().ok().filter(|nodes| (1..=100_000).contains(nodes))?))
    };
    let rows = text.lines().skip(1).filter(|line| !line.trim().is_empty());
    rows.map(|line| row(line).ok_or_else(|| wrong(format!("'{line}' is not NAME,NODES")))).collect()
}

/// The machine of virtual clusters, in TOML. Nodes have as many CPUs as GPUs, so that only GPUs count.
fn machine_of(clusters: &BTreeMap<String, u32>) -> String {
    let mut text = String::new();
    for (at, (name, nodes)) in clusters.iter().enumerate() {
        let _ = write!(
            text,
            "[[nodes]]\nname = \"v{at}n[1-{nodes}]\"\ncpus = {GPUS}\ngpus = {GPUS}\n\n\
             [[partitions]]\nname = \"{name}\"\nnodes = \"v{at}n[1-{nodes}]\"\n\n"
        );
    }
    text
}

/// The predictions for September that the authors of Helios and of Lucid have published, if they are there.
fn given_predictions(folders: &[PathBuf], cluster: &str) -> Result<Vec<GivenPredictions>, StudyError> {
    let mut all = Vec::new();
    for (name, kind) in [("LightGBM", "lgb"), ("EBM", "ebm")] {
        if let Some(file) = find(folders, &[format!("{cluster}_Sept_{kind}.csv")]) {
            let table = GivenTable::read(&file.to_string_lossy(), "job_id", "priority").map_err(StudyError::Usage)?;
            all.push(GivenPredictions { name, file, table: Arc::new(table) });
        }
    }
    Ok(all)
}
