//! Tsafrir, Etsion and Feitelson, "Modeling user runtime estimates" (2005): Tables 1, 2 and 5, and Figures 14 to 16.

mod prepare;
mod published;
mod runs;

use super::figure::Figure;
use super::logs::{ArchiveLog, CTC, FoundLog, KTH, SDSC_BLUE, SDSC_SP2};
use super::study::{Setup, Study, StudyError, StudyForm};
use crate::model::{EstimateModel, Modes};
use crate::stats::mean_and_half_width;
use crate::time::{HOUR, MINUTE, Seconds};
use crate::trace::{Cleaning, Log, TraceError, Workload, clean};

use prepare::prepare;
use published::{COVERED, PUBLISHED, Published};
use runs::{Estimates, Measured, Run};

/// The logs that the study uses.
pub const TSAFRIR_LOGS: [ArchiveLog; 4] = [SDSC_SP2, CTC, KTH, SDSC_BLUE];

pub(super) const FORM: StudyForm = StudyForm {
    name: "tsafrir",
    paper: "Tsafrir, Etsion and Feitelson: models of user estimates",
    logs: &TSAFRIR_LOGS,
    build: |setup| {
        let seeds = if setup.quick { 4 } else { 100 };
        Ok(Box::new(Tsafrir::new(setup, seeds)?))
    },
};

/// The study on the logs that were found.
pub struct Tsafrir {
    logs: Vec<FoundLog>,
    /// In the order of the paper.
    versions: Vec<Prepared>,
    /// The number of seeds of each random model in Figure 16.
    seeds: u64,
    threads: usize,
}

/// A log as the paper prepares it, with the estimates of its users.
struct Prepared {
    published: &'static Published,
    log: Log,
    workload: Workload,
    modes: Modes,
}

impl Prepared {
    fn new(published: &'static Published, log: &Log) -> Result<Prepared, TraceError> {
        let log = prepare(log, published.version);
        let workload = clean(&log, &Cleaning { procs: Some(published.procs), ..Cleaning::default() })?;
        let modes = Modes::of(log.records.iter().map(|record| record.estimate).filter(|&estimate| estimate > 0));
        Ok(Prepared { published, log, workload, modes })
    }

    fn name(&self) -> &'static str {
        self.published.name
    }
}

impl Tsafrir {
    /// The study with this number of seeds, counted from 1, for each random model of estimates.
    ///
    /// # Errors
    ///
    /// If a log cannot be read.
    pub fn new(setup: Setup, seeds: u64) -> Result<Tsafrir, StudyError> {
        let mut versions = Vec::new();
        for found in &setup.logs {
            let log = found.as_recorded()?;
            for published in PUBLISHED.iter().filter(|published| published.log == found.log) {
                versions.push(Prepared::new(published, &log)?);
            }
        }
        let place = |version: &Prepared| PUBLISHED.iter().position(|published| published.name == version.name());
        versions.sort_by_key(place);
        Ok(Tsafrir { logs: setup.logs, versions, seeds: seeds.max(1), threads: setup.threads })
    }

    /// All simulations. Those of one log and one kind of estimates follow each other.
    fn runs(&self) -> Vec<Run> {
        self.versions.iter().enumerate().flat_map(|(at, version)| runs::of(at, version.published, self.seeds)).collect()
    }
}

impl Study for Tsafrir {
    fn name(&self) -> &'static str {
        FORM.name
    }

    fn logs(&self) -> &[FoundLog] {
        &self.logs
    }

    fn steps(&self) -> (usize, &'static str) {
        (self.runs().len(), "runs")
    }

    fn figures(&self, progress: &(dyn Fn(usize) + Sync)) -> Result<Vec<Figure>, StudyError> {
        let runs = self.runs();
        let measure = |run: &Run| {
            let version = &self.versions[run.version];
            run.measure(&version.log, &version.workload)
        };
        let measured = crate::parallel::map(&runs, self.threads, measure, progress);
        let measured: Vec<Measured> = measured.into_iter().collect::<Result<_, _>>().map_err(StudyError::Simulation)?;
        let mut results = Vec::new();
        let mut rest = measured.as_slice();
        for same in runs.chunk_by(|a, b| a.version == b.version && a.estimates.label == b.estimates.label) {
            let (seeds, others) = rest.split_at(same.len());
            rest = others;
            results.push(Simulated { version: &self.versions[same[0].version], estimates: &same[0].estimates, seeds });
        }
        let of_all = |table: fn(&Prepared) -> Vec<Figure>| self.versions.iter().flat_map(table).collect::<Vec<_>>();
        let mut figures = [of_all(table_1), of_all(table_2), of_all(table_5)].concat();
        figures.extend(results.iter().filter(|result| result.estimates.model.is_some()).map(figures_14_and_15));
        figures.extend(results.iter().flat_map(figure_16));
        figures.extend(results.chunk_by(|a, b| a.name() == b.name()).flat_map(claims));
        Ok(figures)
    }
}

/// The simulations of one log with one kind of estimates: one per seed.
struct Simulated<'a> {
    version: &'a Prepared,
    estimates: &'a Estimates,
    seeds: &'a [Measured],
}

impl Simulated<'_> {
    fn name(&self) -> &'static str {
        self.version.name()
    }

    fn row(&self) -> String {
        format!("{}, {}", self.name(), self.estimates.label)
    }

    fn values(&self, of: Value) -> Vec<f64> {
        self.seeds.iter().map(of).collect()
    }

    fn mean(&self, of: Value) -> f64 {
        mean_and_half_width(&self.values(of)).0
    }
}

fn figure(table: &str, row: String, column: &str, published: &str, measured: f64, note: String) -> Figure {
    Figure::new((table, &row, column), published, measured, &note)
}

/// A figure that is the mean over seeds, with its interval.
fn mean_of(table: &str, row: String, column: &str, values: &[f64], note: String) -> Figure {
    figure(table, row, column, "", mean_and_half_width(values).0, note).over(values)
}

fn table_1(version: &Prepared) -> Vec<Figure> {
    let table = "Table 1, the trace files";
    let jobs_note = match version.name() {
        "KTH4H" => "jobs of 0 s, left out here as not sane, would make 23,063",
        "CTC" => "the paper's sane jobs have 17 of 0 s",
        _ => "",
    };
    let bins_note = match version.name() {
        "BLUE" => "Table 2 has 563",
        "SDSC-106" => "without the user who owns most, 106 there",
        "KTH" => "Table 2 has 270",
        "CTC" => "the paper seems to count jobs without an estimate as one more",
        _ => "",
    };
    let row = |column, published, measured, reason: &str| {
        figure(table, version.name().to_string(), column, published, measured, String::new()).because(reason)
    };
    vec![
        row("sane jobs", version.published.jobs, version.log.records.len() as f64, jobs_note),
        row("different estimates", version.published.bins, version.modes.count() as f64, bins_note),
    ]
}

fn table_2(version: &Prepared) -> Vec<Figure> {
    let table = "Table 2, number of estimates that cover a share of the jobs";
    let row = |(percent, published): (f64, &str)| {
        let covering = version.modes.covering(percent) as f64;
        let note = match (version.name(), percent) {
            ("BLUE", 100.0) => "Table 1 has 525",
            ("KTH", 100.0) => "Table 1 has 271",
            ("CTC", 50.0) => "by the paper's own Table 5 the first four have 49.6%",
            ("SDSC-106", 90.0) => "by its own Table 5 at least 24: the first 20 have 86.4%, others at most 0.9% each",
            _ => "",
        };
        let row = version.name().to_string();
        figure(table, row, &format!("{percent}%"), published, covering, String::new()).because(note)
    };
    COVERED.into_iter().zip(version.published.covering).map(row).collect()
}

fn table_5(version: &Prepared) -> Vec<Figure> {
    let table = "Table 5, the most popular estimates, percent of the jobs";
    let head = version.modes.head();
    let row = |&(estimate, published): &(Seconds, &str)| {
        let rank = head.iter().position(|mode| mode.estimate == estimate);
        let note = rank.map_or("not one of the 20 here".to_string(), |rank| format!("rank {}", rank + 1));
        let column = format!("{:02}:{:02}", estimate / HOUR, estimate % HOUR / MINUTE);
        let percent = version.modes.percent_at(estimate);
        figure(table, version.name().to_string(), &column, published, percent, note).percent()
    };
    let mut figures: Vec<Figure> = version.published.head.iter().map(row).collect();
    if !figures.is_empty() {
        let (published, sum) = (version.published.head_sum, version.modes.percent_in_head());
        figures.push(figure(table, version.name().to_string(), "all 20", published, sum, String::new()).percent());
    }
    figures
}

fn figures_14_and_15(result: &Simulated<'_>) -> Figure {
    let table = "Figures 14 and 15, distance between a model's estimates and the log's (Kolmogorov-Smirnov), percent";
    let distances: Vec<f64> = result.seeds.iter().filter_map(|seed| seed.distance).collect();
    let model = result.estimates.model.as_ref().map_or(String::new(), EstimateModel::to_string);
    let note = match distances.len() {
        1 => format!("figure; {model}"),
        seeds => format!("figure; mean of {seeds} seeds; {model}"),
    };
    mean_of(table, result.row(), "distance", &distances, note)
}

/// Selects a number of a simulation.
type Value = fn(&Measured) -> f64;

/// The two sides of Figure 16.
const SIDES: [(&str, Value); 2] = [("wait, minutes", |m| m.wait), ("bounded slowdown", |m| m.slowdown)];

fn figure_16(result: &Simulated<'_>) -> Vec<Figure> {
    let row = |(column, of): (&str, Value)| {
        let values = result.values(of);
        let mean = result.mean(of);
        // The paper's error bars: "average of absolute value of deviation from the average".
        let deviation = values.iter().map(|value| (value - mean).abs()).sum::<f64>() / values.len() as f64;
        let mut note = match values.len() {
            1 => "figure".to_string(),
            seeds => format!("figure; mean of {seeds} seeds, absolute deviation {deviation:.1}"),
        };
        let short = result.seeds.iter().map(|seed| seed.short).max().unwrap_or(0);
        if short > 0 {
            note.push_str(&format!("; {short} jobs outlive their estimates"));
        }
        mean_of("Figure 16, EASY with estimates of each kind", result.row(), column, &values, note)
    };
    SIDES.map(row).to_vec()
}

/// The claims of section 11.3 about Figure 16, for one log.
fn claims(results: &[Simulated<'_>]) -> Vec<Figure> {
    let of = |label: &str| results.iter().find(|result| result.estimates.label == label).expect("all kinds were run");
    let table = "text, section 11.3, in percent of the original";
    let mut figures = Vec::new();
    for (side, value) in SIDES {
        let mean = |label: &str| of(label).mean(value);
        let apart = |a: &str, b: &str| (mean(a) - mean(b)).abs() / mean("original") * 100.0;
        let mut add = |what: &str, by: f64| {
            let note = if by > 0.0 { "holds" } else { "does not hold" };
            let row = format!("{}, {side}", of("original").name());
            figures.push(figure(table, row, what, ">0", by, note.to_string()).percent());
        };
        // "The two variants of our algorithm are more realistic ... (compare with f-s and feit)"; f0 comes next there, so it is left out.
        let others = ["f1", "f3", "f10", "f100", "f300", "feit"].map(|other| apart(other, "original"));
        let nearest = others.into_iter().fold(f64::INFINITY, f64::min);
        add("vanl nearer to the original than f1..f300 and feit, by", nearest - apart("vanl", "original"));
        add("impr nearer to shfl than vanl, by", apart("vanl", "shfl") - apart("impr", "shfl"));
        add("impr lower than vanl, by", (mean("vanl") - mean("impr")) / mean("original") * 100.0);
    }
    figures
}
