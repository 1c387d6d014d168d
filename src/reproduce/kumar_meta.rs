//! Kumar and Vadhiyar, "Prediction of Queue Waiting Times for Metascheduling on Parallel Batch Systems" (2014), section
//! 5.2: Tables 7 and 8, Figure 3, and the claims of the text. (Section 5.1, the predictions themselves, is the study kumar-wait.)

use super::figure::Figure;
use super::kumar_wait::KUMAR_LOGS;
use super::logs::{ANL, ArchiveLog, CTC, FoundLog, HPC2N, LANL, SDSC_BLUE, SDSC_SP2};
use super::study::{Setup, Study, StudyError, StudyForm};
use crate::experiment::Setting;
use crate::meta::{
    DispatchPolicy, MetaSummary, MetaSystem, MetaSystemError, SCENARIO_DAYS, Scenario, Site, SiteSummary, run,
    summarize_system,
};
use crate::metrics::Measure;
use crate::parallel;
use crate::stats::mean_and_half_width;
use crate::time::MINUTE;
use crate::trace::{Cleaning, Shaping, Workload, clean, shape};

/// A site of the super experiments, which use real logs.
struct Published {
    log: ArchiveLog,
    /// The processors of the machine (Table 7).
    procs: u32,
    /// The percentage of all jobs that ran here under static, least-loaded and least-predicted (Table 7).
    shares: [&'static str; 3],
    /// The number of jobs that the percentage under static implies, if the 22.9% of CTC are all of its 77,222 jobs.
    jobs: usize,
}

const fn site(log: ArchiveLog, procs: u32, shares: [&'static str; 3], jobs: usize) -> Published {
    Published { log, procs, shares, jobs }
}

const SITES: [Published; 6] = [
    site(CTC, 430, ["22.9", "13.7", "10.4"], 77_222),
    site(ANL, 163_840, ["20.7", "53.4", "52.1"], 69_800),
    site(LANL, 1024, ["21.7", "11.2", "18.3"], 73_200),
    site(HPC2N, 240, ["5.7", "7.6", "2.0"], 19_200),
    site(SDSC_BLUE, 1024, ["21.0", "11.1", "18.4"], 70_800),
    site(SDSC_SP2, 128, ["7.9", "2.7", "1.4"], 26_600),
];

pub(super) const FORM: StudyForm = StudyForm {
    name: "kumar-meta",
    paper: "Kumar and Vadhiyar: metascheduling",
    logs: &KUMAR_LOGS,
    build: |setup| {
        let days = if setup.quick { 10 } else { SCENARIO_DAYS };
        Ok(Box::new(KumarMeta::new(setup, false, days, 1)?))
    },
};

/// The rows of Table 8: name, value, and the published figures under static, least-loaded and least-predicted. The last row
/// is not in the paper: the share of busy processors from the first submission to the last end.
const TABLE_8: [(&str, Value, [&str; 3]); 4] = [
    ("mean wait, minutes", |run| run.waits.wait_mean / MINUTE as f64, ["196", "105", "52"]),
    ("jobs that wait an hour at most, %", |run| run.waits.wait_le_1h_pct, ["68", "76", "89"]),
    ("jobs that wait a day at least, %", |run| run.waits.wait_ge_1d_pct, ["3.2", "1.4", "0.5"]),
    ("utilization, %", utilization, ["", "", ""]),
];

/// The utilization of all sites together, in percent.
fn utilization(run: &MetaSummary) -> f64 {
    let procs = |site: &SiteSummary| f64::from(site.procs);
    let used: f64 = run.sites.iter().map(|site| site.utilization * procs(site)).sum();
    used / run.sites.iter().map(procs).sum::<f64>() * 100.0
}

/// The policies. The first three are those of the paper, in the order of the published figures.
const POLICIES: [&str; 5] = ["static", "least-loaded", "least-predicted", "redundant", "k-distributed"];
const STATIC: usize = 0;
const LEAST_LOADED: usize = 1;
const LEAST_PREDICTED: usize = 2;
const REDUNDANT: usize = 3;

/// The study on the logs that were found, and on generated jobs.
pub struct KumarMeta {
    logs: Vec<FoundLog>,
    sites: Vec<(&'static Published, Workload)>,
    /// The number of days in which the jobs of scenarios arrive.
    days: u32,
    replications: u64,
    threads: usize,
}

/// One simulation: a system under a policy.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cell {
    replication: u64,
    /// None for the super experiment.
    scenario: Option<Scenario>,
    /// An index of [`POLICIES`].
    policy: usize,
}

/// Selects a number of a simulation.
type Value = fn(&MetaSummary) -> f64;

impl Study for KumarMeta {
    fn name(&self) -> &'static str {
        FORM.name
    }

    fn logs(&self) -> &[FoundLog] {
        &self.logs
    }

    fn steps(&self) -> (usize, &'static str) {
        (self.cells().len(), "runs")
    }

    fn figures(&self, progress: &(dyn Fn(usize) + Sync)) -> Result<Vec<Figure>, StudyError> {
        let cells = self.cells();
        let runs = parallel::map(&cells, self.threads, |cell| self.simulate(cell), progress);
        let runs: Vec<MetaSummary> = runs.into_iter().collect::<Result<_, _>>().map_err(StudyError::Simulation)?;
        let results = Results { cells, runs, replications: self.replications };
        let mut figures = self.table_7(&results);
        figures.extend(figure_3(&results));
        figures.extend(self.super_claims(&results));
        figures.extend(table_8(&results));
        figures.extend(synthetic_claims(&results));
        Ok(figures)
    }
}

impl KumarMeta {
    /// The study with the number of jobs of each log that Table 7 of the paper implies, or with all jobs if `full`, and with
    /// `days` of generated jobs in each scenario.
    ///
    /// # Errors
    ///
    /// If a log cannot be read.
    pub fn new(setup: Setup, full: bool, days: u32, replications: u64) -> Result<KumarMeta, StudyError> {
        let mut sites = Vec::new();
        for published in &SITES {
            let Some(found) = setup.logs.iter().find(|found| found.log == published.log) else { continue };
            let procs = Some(published.procs);
            let workload = clean(&found.as_recorded()?, &Cleaning { procs, ..Cleaning::default() })?;
            let first = if full { None } else { Some(published.jobs) };
            sites.push((published, shape(workload, &Shaping { first, ..Shaping::default() })?));
        }
        Ok(KumarMeta { logs: setup.logs, sites, days, replications: replications.max(1), threads: setup.threads })
    }

    fn has(&self, published: &Published) -> bool {
        self.sites.iter().any(|(site, _)| site.log == published.log)
    }

    fn cells(&self) -> Vec<Cell> {
        let grids = || std::iter::once(None).chain(Scenario::all().into_iter().map(Some));
        let with =
            |(scenario, replication)| (0..POLICIES.len()).map(move |policy| Cell { replication, scenario, policy });
        let of_replication = |replication| grids().map(move |scenario| (scenario, replication)).flat_map(with);
        let mut cells: Vec<Cell> = (0..self.replications).flat_map(of_replication).collect();
        // The longest runs come first, so that no thread begins one of them when the others have nothing left to do.
        cells.sort_by_key(|cell| (cell.policy != LEAST_PREDICTED, cell.scenario.is_some()));
        cells
    }

    /// The number of jobs that are simulated, and the number of waits that are predicted, over all runs.
    pub fn cost(&self) -> (usize, usize) {
        let own: usize = self.sites.iter().map(|(_, workload)| workload.jobs.len()).sum();
        let made: usize = Scenario::all().iter().map(|scenario| scenario.jobs(self.days)).sum();
        let replications = self.replications as usize;
        let jobs = (own + made) * POLICIES.len() * replications;
        (jobs, (own * self.sites.len() + made * 4) * replications)
    }

    fn simulate(&self, cell: &Cell) -> Result<MetaSummary, String> {
        let setting = Setting::parse("easy", "estimate").expect("a valid pair");
        let system = match &cell.scenario {
            Some(scenario) => scenario.system(&setting, self.days, cell.replication),
            None => self.super_experiment(&setting, cell.replication),
        };
        let system = system.map_err(|error| error.to_string())?;
        let policy = DispatchPolicy::parse(POLICIES[cell.policy]).expect("a valid policy");
        let record = run(&system, &policy, &mut |_| ()).map_err(|error| error.to_string())?;
        Ok(summarize_system(&system, &policy, &record, &Measure::default()))
    }

    /// The system of all logs: as they are in replication 0, shaken by up to 30 s in the others.
    fn super_experiment(&self, setting: &Setting, replication: u64) -> Result<MetaSystem, MetaSystemError> {
        let shaking = Shaping { shake: if replication > 0 { 30 } else { 0 }, seed: replication, ..Shaping::default() };
        let shaken = |(published, workload): &(&Published, Workload)| {
            let workload = shape(workload.clone(), &shaking).expect("shaking loses no job");
            Site { name: published.log.name.to_string(), workload, setting: setting.clone() }.from_time_zero()
        };
        MetaSystem::new(self.sites.iter().map(shaken).collect())
    }

    fn table_7(&self, results: &Results) -> Vec<Figure> {
        let table = "Table 7, percent of all jobs that ran at each site";
        let number = |text: &str| text.parse::<f64>().expect("a published number");
        let mut figures = Vec::new();
        for (at, (published, _)) in self.sites.iter().enumerate() {
            for (policy, name) in POLICIES.iter().enumerate() {
                let values = results.over_replications(None, policy, &|run| run.sites[at].share_pct);
                let printed = published.shares.get(policy).copied().unwrap_or_default();
                // The published share, if only the jobs of the sites at hand are counted.
                let note = published.shares.get(policy).map_or(String::new(), |share| {
                    let here: f64 = self.sites.iter().map(|(site, _)| number(site.shares[policy])).sum();
                    format!("of these {} sites' jobs {:.1} published", self.sites.len(), number(share) / here * 100.0)
                });
                let row = format!("{} ({})", published.log.name, published.procs);
                figures.push(figure(table, row, name, printed, &values, note).because(self.without_anl()));
            }
        }
        for published in SITES.iter().filter(|published| !self.has(published)) {
            for (share, policy) in published.shares.iter().zip(POLICIES) {
                let row = format!("{} ({})", published.log.name, published.procs);
                figures.push(figure(
                    table,
                    row,
                    policy,
                    share,
                    &[f64::NAN],
                    "left out: its log is not here".to_string(),
                ));
            }
        }
        figures
    }

    /// Why the super experiment differs, if the log of ANL is missing.
    fn without_anl(&self) -> &'static str {
        let complete = SITES.iter().all(|published| self.has(published));
        if complete { "" } else { "in the paper ANL ran half of all jobs, and its log is not here: not comparable" }
    }

    fn super_claims(&self, results: &Results) -> Vec<Figure> {
        let table = "text, super experiments, percent";
        let why = self.without_anl();
        let row = |policy, other, column: &str, published: &str, note: &str| {
            let values = results.each(|replication| results.reduction(replication, None, policy, other));
            figure(table, "shorter mean wait".to_string(), column, published, &values, note.to_string()).because(why)
        };
        vec![
            row(LEAST_PREDICTED, STATIC, "least-predicted against static", "<=54", ""),
            row(LEAST_PREDICTED, LEAST_LOADED, "least-predicted against least-loaded", "<=33", ""),
            row(
                REDUNDANT,
                LEAST_PREDICTED,
                "redundant against least-predicted",
                "",
                "the paper: least-predicted is closest to it",
            ),
            row(REDUNDANT, LEAST_LOADED, "redundant against least-loaded", "", "the paper: farther"),
        ]
    }
}

/// The results of all simulations. `runs` has one summary per cell, in the same order.
struct Results {
    cells: Vec<Cell>,
    runs: Vec<MetaSummary>,
    replications: u64,
}

impl Results {
    fn run(&self, replication: u64, scenario: Option<Scenario>, policy: usize) -> &MetaSummary {
        let wanted = Cell { replication, scenario, policy };
        &self.runs[self.cells.iter().position(|cell| *cell == wanted).expect("all cells were run")]
    }

    /// The value of each replication.
    fn each(&self, value: impl Fn(u64) -> f64) -> Vec<f64> {
        (0..self.replications).map(value).collect()
    }

    /// A number of one simulation in each replication.
    fn over_replications(
        &self,
        scenario: Option<Scenario>,
        policy: usize,
        of: &dyn Fn(&MetaSummary) -> f64,
    ) -> Vec<f64> {
        self.each(|replication| of(self.run(replication, scenario, policy)))
    }

    /// The reduction of the mean wait by a policy against another one, in percent, in one replication of one system.
    fn reduction(&self, replication: u64, scenario: Option<Scenario>, policy: usize, other: usize) -> f64 {
        let wait = |policy| self.run(replication, scenario, policy).waits.wait_mean;
        (wait(other) - wait(policy)) / wait(other) * 100.0
    }

    /// The value of each scenario.
    fn over_scenarios(&self, value: impl Fn(Scenario) -> f64) -> Vec<f64> {
        Scenario::all().into_iter().map(value).collect()
    }
}

/// A percentage with an interval over replications. The measured value is that of the first replication.
fn figure(table: &str, row: String, column: &str, published: &str, values: &[f64], note: String) -> Figure {
    Figure::new((table, &row, column), published, values[0], &note).over(values).percent()
}

fn figure_3(results: &Results) -> Vec<Figure> {
    let table = "Figure 3, super experiments, mean wait in minutes";
    let row = |(policy, name): (usize, &&str)| {
        let values = results.over_replications(None, policy, &|run| run.waits.wait_mean / MINUTE as f64);
        figure(table, "all sites".to_string(), name, "", &values, "figure".to_string())
    };
    POLICIES.iter().enumerate().map(row).collect()
}

fn table_8(results: &Results) -> Vec<Figure> {
    let table = "Table 8, synthetic experiments, mean over the 32 scenarios";
    let mut figures = Vec::new();
    for (row, of, published) in TABLE_8 {
        for (policy, name) in POLICIES.iter().enumerate() {
            let values = results.each(|replication| {
                let values = results.over_scenarios(|scenario| of(results.run(replication, Some(scenario), policy)));
                mean_and_half_width(&values).0
            });
            let printed = published.get(policy).copied().unwrap_or_default();
            let note = if printed.is_empty() { "" } else { "the paper does not give the load of its queues" };
            let figure = figure(table, row.to_string(), name, printed, &values, note.to_string());
            figures.push(Figure { in_percent: row.contains('%'), ..figure });
        }
    }
    figures
}

/// The ranges over all scenarios that the text gives: their least and largest value, and the median, which is not in the paper.
fn synthetic_claims(results: &Results) -> Vec<Figure> {
    let table = "text, synthetic experiments, least-predicted, percent";
    type Change<'a> = &'a dyn Fn(u64, Scenario) -> f64;
    let of = |replication, scenario, policy, value: Value| value(results.run(replication, Some(scenario), policy));
    let short = |policy| {
        move |replication, scenario| {
            let [base, now] = [policy, LEAST_PREDICTED].map(|policy| of(replication, scenario, policy, TABLE_8[1].1));
            (now - base) / base * 100.0
        }
    };
    let wait =
        |policy| move |replication, scenario| results.reduction(replication, Some(scenario), LEAST_PREDICTED, policy);
    let claims: [(&str, &str, Change<'_>); 4] = [
        ("shorter mean wait than static", "35-94", &wait(STATIC)),
        ("shorter mean wait than least-loaded", "14-78", &wait(LEAST_LOADED)),
        ("more jobs within an hour than static", "8-80", &short(STATIC)),
        ("more jobs within an hour than least-loaded", "8-80", &short(LEAST_LOADED)),
    ];
    let mut figures = Vec::new();
    for (row, published, change) in claims {
        for (column, at) in [("least", 0.0), ("median", 50.0), ("most", 100.0)] {
            let values = results.each(|replication| {
                let mut changes = results.over_scenarios(|scenario| change(replication, scenario));
                changes.retain(|change| change.is_finite());
                crate::stats::percentile(&mut changes, at)
            });
            let published = if column == "median" { "" } else { published };
            figures.push(figure(table, row.to_string(), column, published, &values, String::new()));
        }
    }
    figures
}
