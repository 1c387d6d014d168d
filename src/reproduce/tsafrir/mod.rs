//! Tsafrir, Etsion and Feitelson, "Modeling user runtime estimates" (2005): Tables 1, 2 and 5, and Figures 14 to 16.

mod prepare;
mod published;
mod runs;

use super::figure::Figure;
use super::logs::{CTC, KTH, SDSC_BLUE, SDSC_SP2};
use super::study::{Computed, Setup, StepDone, Study, StudyError, StudyOption};
use crate::model::{EstimateModel, Modes};
use crate::stats::mean_and_half_width;
use crate::time::{HOUR, MINUTE, Seconds};
use crate::trace::{Cleaning, Log, Workload, clean};

use prepare::prepare;
use published::{COVERED, PUBLISHED, PublishedLog};
use runs::{EstimateKind, EstimateRun, SimulatedEstimates};

/// Tsafrir, Etsion and Feitelson: models of user estimates.
pub const TSAFRIR: Study = Study {
    name: "tsafrir",
    paper: "Tsafrir, Etsion and Feitelson: models of user estimates",
    help: "Examples:
  sim reproduce tsafrir --logs logs --quick  a quick test: some seconds
  sim reproduce tsafrir --logs logs --format csv
      a hundred seeds, as in the paper: some minutes

Tables 1, 2 and 5 and Figures 14 to 16. Uses the logs SDSC-SP2-1998, CTC-SP2-1996, KTH-SP2-1996 and SDSC-BLUE-2000 of the \
Parallel Workloads Archive, any version. They are prepared as in the paper, and only jobs with a runtime and processors above 0 \
are used. SDSC-106 is SDSC without the jobs whose estimate only one user uses, the user with most such estimates. KTH4H has only \
the jobs of KTH with estimates up to 4 hours. The paper prints no numbers for Figures 14 to 16, so only measured figures are shown.",
    logs: &[SDSC_SP2, CTC, KTH, SDSC_BLUE],
    options: &[StudyOption {
        bounds: [1, 100_000],
        ..StudyOption::replications(
            [100, 4],
            "The number of runs of each random model of estimates, with seeds from 1 on",
        )
    }],
    has_runs: false,
    cost: None,
    unit: "runs",
    steps: |setup| simulations(setup).len(),
    compute,
};

/// A log as the paper prepares it, with the estimates of its users.
struct Prepared {
    published: &'static PublishedLog,
    log: Log,
    workload: Workload,
    modes: Modes,
}

/// The versions of the logs at hand, in the order of the paper.
fn published(setup: &Setup) -> impl Iterator<Item = &'static PublishedLog> {
    PUBLISHED.iter().filter(|published| setup.logs.iter().any(|found| found.log == published.log))
}

/// All simulations. Those of one log and one kind of estimates follow each other.
fn simulations(setup: &Setup) -> Vec<EstimateRun> {
    published(setup).enumerate().flat_map(|(at, published)| runs::of(at, published, setup.replications)).collect()
}

fn prepared(setup: &Setup) -> Result<Vec<Prepared>, StudyError> {
    let logs: Vec<_> =
        setup.logs.iter().map(|found| Ok((found.log, found.as_recorded()?))).collect::<Result<_, StudyError>>()?;
    let prepared = |published: &'static PublishedLog| {
        let (_, log) = logs.iter().find(|(log, _)| *log == published.log).expect("only logs at hand are used");
        let log = prepare(log, published.version);
        let workload = clean(&log, &Cleaning { procs: Some(published.procs), ..Cleaning::default() })?;
        let modes = Modes::of(log.records.iter().map(|record| record.estimate).filter(|&estimate| estimate > 0));
        Ok(Prepared { published, log, workload, modes })
    };
    published(setup).map(prepared).collect()
}

fn compute(setup: &Setup, progress: StepDone<'_>) -> Result<Computed, StudyError> {
    let (runs, versions) = (simulations(setup), prepared(setup)?);
    let simulate = |run: &EstimateRun| {
        let version = &versions[run.version];
        run.measure(&version.log, &version.workload)
    };
    let simulated = crate::parallel::map(&runs, setup.threads, simulate, progress);
    let simulated: Vec<SimulatedEstimates> =
        simulated.into_iter().collect::<Result<_, _>>().map_err(StudyError::Simulation)?;
    let mut results = Vec::new();
    let mut rest = simulated.as_slice();
    for same in runs.chunk_by(|a, b| a.version == b.version && a.estimates.label == b.estimates.label) {
        let (seeds, others) = rest.split_at(same.len());
        rest = others;
        results.push(SimulatedKind { version: &versions[same[0].version], estimates: &same[0].estimates, seeds });
    }
    let of_all = |table: fn(&Prepared) -> Vec<Figure>| versions.iter().flat_map(table).collect::<Vec<_>>();
    let mut figures = [of_all(table_1), of_all(table_2), of_all(table_5)].concat();
    figures.extend(results.iter().filter(|result| result.estimates.model.is_some()).map(figures_14_and_15));
    figures.extend(results.iter().flat_map(figure_16));
    figures.extend(results.chunk_by(|a, b| a.name() == b.name()).flat_map(claims));
    Ok(figures.into())
}

/// The simulations of one log with one kind of estimates: one per seed.
struct SimulatedKind<'a> {
    version: &'a Prepared,
    estimates: &'a EstimateKind,
    seeds: &'a [SimulatedEstimates],
}

impl SimulatedKind<'_> {
    fn name(&self) -> &'static str {
        self.version.published.name
    }

    fn row(&self) -> String {
        format!("{}, {}", self.name(), self.estimates.label)
    }

    fn values(&self, of: EstimateNumber) -> Vec<f64> {
        self.seeds.iter().map(of).collect()
    }

    fn mean(&self, of: EstimateNumber) -> f64 {
        mean_and_half_width(&self.values(of)).0
    }
}

fn table_1(version: &Prepared) -> Vec<Figure> {
    let table = "Table 1, the trace files";
    let jobs_note = match version.published.name {
        "KTH4H" => "jobs of 0 s, left out here as not sane, would make 23,063",
        "CTC" => "the paper's sane jobs have 17 of 0 s",
        _ => "",
    };
    let bins_note = match version.published.name {
        "BLUE" => "Table 2 has 563",
        "SDSC-106" => "without the user who owns most, 106 there",
        "KTH" => "Table 2 has 270",
        "CTC" => "the paper seems to count jobs without an estimate as one more",
        _ => "",
    };
    let row = |column, published, measured, reason: &str| {
        Figure::new((table, version.published.name, column), published, measured).because(reason)
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
        let note = match (version.published.name, percent) {
            ("BLUE", 100.0) => "Table 1 has 525",
            ("KTH", 100.0) => "Table 1 has 271",
            ("CTC", 50.0) => "by the paper's own Table 5 the first four have 49.6%",
            ("SDSC-106", 90.0) => "by its own Table 5 at least 24: the first 20 have 86.4%, others at most 0.9% each",
            _ => "",
        };
        Figure::new((table, version.published.name, &format!("{percent}%")), published, covering).because(note)
    };
    COVERED.into_iter().zip(version.published.covering).map(row).collect()
}

fn table_5(version: &Prepared) -> Vec<Figure> {
    let table = "Table 5, the most popular estimates, percent of the jobs";
    let head = version.modes.head();
    let row = |(estimate, published): (Seconds, &str)| {
        let rank = head.iter().position(|mode| mode.estimate == estimate);
        let note = rank.map_or("not one of the 20 here".to_string(), |rank| format!("rank {}", rank + 1));
        let column = format!("{:02}:{:02}", estimate / HOUR, estimate % HOUR / MINUTE);
        let percent = version.modes.percent_at(estimate);
        Figure::new((table, version.published.name, &column), published, percent).noted(&note).percent()
    };
    let mut figures: Vec<Figure> = version.published.head().map(row).collect();
    if !figures.is_empty() {
        let (published, sum) = (version.published.head_sum, version.modes.percent_in_head());
        figures.push(Figure::new((table, version.published.name, "all 20"), published, sum).percent());
    }
    figures
}

fn figures_14_and_15(result: &SimulatedKind<'_>) -> Figure {
    let table = "Figures 14 and 15, distance between a model's estimates and the log's (Kolmogorov-Smirnov), percent";
    let distances: Vec<f64> = result.seeds.iter().filter_map(|seed| seed.distance).collect();
    let model = result.estimates.model.as_ref().map_or(String::new(), EstimateModel::to_string);
    let note = match distances.len() {
        1 => format!("figure; {model}"),
        seeds => format!("figure; mean of {seeds} seeds; {model}"),
    };
    Figure::mean_of((table, &result.row(), "distance"), "", &distances).noted(&note)
}

/// Selects a number of a simulation.
type EstimateNumber = fn(&SimulatedEstimates) -> f64;

/// The two sides of Figure 16.
const SIDES: [(&str, EstimateNumber); 2] = [("wait, minutes", |m| m.wait), ("bounded slowdown", |m| m.slowdown)];

fn figure_16(result: &SimulatedKind<'_>) -> Vec<Figure> {
    let row = |(column, of): (&str, EstimateNumber)| {
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
        let table = "Figure 16, EASY with estimates of each kind";
        Figure::mean_of((table, &result.row(), column), "", &values).noted(&note)
    };
    SIDES.map(row).to_vec()
}

/// The claims of section 11.3 about Figure 16, for one log.
fn claims(results: &[SimulatedKind<'_>]) -> Vec<Figure> {
    let of = |label: &str| results.iter().find(|result| result.estimates.label == label).expect("all kinds were run");
    let table = "text, section 11.3, in percent of the original";
    let mut figures = Vec::new();
    for (side, value) in SIDES {
        let mean = |label: &str| of(label).mean(value);
        let apart = |a: &str, b: &str| (mean(a) - mean(b)).abs() / mean("original") * 100.0;
        let mut add = |what: &str, by: f64| {
            let note = if by > 0.0 { "holds" } else { "does not hold" };
            let row = format!("{}, {side}", of("original").name());
            figures.push(Figure::new((table, &row, what), ">0", by).noted(note).percent());
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
