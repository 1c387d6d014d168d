//! Kumar and Vadhiyar, "Prediction of Queue Waiting Times for Metascheduling on Parallel Batch Systems" (2014), section
//! 5.2: Tables 7 and 8, Figure 3, and the claims of the text. (Section 5.1, the predictions themselves, is the study kumar-wait.)

use super::figure::Figure;
use super::kumar_wait::KUMAR_LOGS;
use super::logs::{ANL, ArchiveLog, CTC, HPC2N, LANL, SDSC_BLUE, SDSC_SP2};
use super::study::{Computed, Setup, StepDone, Study, StudyError, StudyOption};
use crate::experiment::Setting;
use crate::meta::{
    DispatchPolicy, MetaSummary, MetaSystem, SCENARIO_DAYS, Scenario, Site, SiteSummary, run, summarize_system,
};
use crate::metrics::Measure;
use crate::parallel;
use crate::sort::sort_by_key;
use crate::stats::mean_and_half_width;
use crate::text::counted;
use crate::time::{MINUTE, readable_duration};
use crate::trace::{Shaping, Workload, shape};

/// Kumar and Vadhiyar: metascheduling by predicted waits.
pub const KUMAR_META: Study = Study {
    name: "kumar-meta",
    paper: "Kumar and Vadhiyar: metascheduling",
    help: "Examples:
  sim reproduce kumar-meta --logs logs
      the logs as they are, one set of generated jobs: minutes
  sim reproduce kumar-meta --logs logs --replications 5 --format csv

Tables 7 and 8, Figure 3 and the claims of section 5.2. Uses the logs CTC-SP2-1996, LANL-CM5-1994, HPC2N-2002, SDSC-BLUE-2000 and \
SDSC-SP2-1998 of the Parallel Workloads Archive, any version, and from each the number of jobs that Table 7 of the paper implies. \
The sixth site of the paper, ANL-Intrepid-2009, ran half of all jobs there: without its log the reductions in the paper are not \
comparable with ours. The 32 synthetic scenarios need no logs.",
    logs: &KUMAR_LOGS,
    options: &[
        StudyOption {
            name: "full",
            about: "Use all jobs of each log, not only the number that Table 7 of the paper implies",
            values: [0, 0],
            bounds: [0, 1],
            set: |setup, full| setup.all_jobs = full > 0,
        },
        StudyOption::days(
            [SCENARIO_DAYS as u64, 10],
            "The number of days in which the jobs of the synthetic scenarios arrive",
        ),
        StudyOption::replications(
            [1, 1],
            "The number of replications: the first uses the logs as they are, the others slightly shaken logs (submissions moved by up to 30 s), each with other generated jobs. Intervals are over all of them",
        ),
    ],
    has_runs: false,
    cost: Some(cost),
    unit: "runs",
    steps: |setup| cells(setup).len(),
    compute,
};

/// A site of the super experiments, which use real logs.
struct PaperSite {
    log: ArchiveLog,
    /// The processors of the machine (Table 7).
    procs: u32,
    /// The percentage of all jobs that ran here under static, least-loaded and least-predicted (Table 7).
    shares: [&'static str; 3],
    /// The number of jobs that the percentage under static implies, if the 22.9% of CTC are all of its 77,222 jobs.
    jobs: usize,
}

const fn site(log: ArchiveLog, procs: u32, shares: [&'static str; 3], jobs: usize) -> PaperSite {
    PaperSite { log, procs, shares, jobs }
}

const SITES: [PaperSite; 6] = [
    site(CTC, 430, ["22.9", "13.7", "10.4"], 77_222),
    site(ANL, 163_840, ["20.7", "53.4", "52.1"], 69_800),
    site(LANL, 1024, ["21.7", "11.2", "18.3"], 73_200),
    site(HPC2N, 240, ["5.7", "7.6", "2.0"], 19_200),
    site(SDSC_BLUE, 1024, ["21.0", "11.1", "18.4"], 70_800),
    site(SDSC_SP2, 128, ["7.9", "2.7", "1.4"], 26_600),
];

/// The rows of Table 8: name, value, and the published figures under static, least-loaded and least-predicted. The last row
/// is not in the paper: the share of busy processors from the first submission to the last end.
const TABLE_8: [(&str, SystemNumber, [&str; 3]); 4] = [
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

/// A site of the paper with the jobs of its log.
type FoundSite = (&'static PaperSite, Workload);

/// One simulation: a system under a policy.
#[derive(Clone, Copy, Debug, PartialEq)]
struct MetaCell {
    replication: u64,
    /// None for the super experiment.
    scenario: Option<Scenario>,
    /// An index of [`POLICIES`].
    policy: usize,
}

/// Selects a number of a simulation.
type SystemNumber = fn(&MetaSummary) -> f64;

fn compute(setup: &Setup, progress: StepDone<'_>) -> Result<Computed, StudyError> {
    let (cells, sites) = (cells(setup), sites(setup)?);
    let runs = parallel::map(&cells, setup.threads, |cell| simulate(setup, &sites, cell), progress);
    let runs: Vec<MetaSummary> = runs.into_iter().collect::<Result<_, _>>().map_err(StudyError::Simulation)?;
    let sites = sites.into_iter().map(|(site, _)| site).collect();
    let results = MetaResults { sites, cells, runs, replications: setup.replications };
    let mut figures = results.table_7();
    figures.extend(results.figure_3());
    figures.extend(results.super_claims());
    figures.extend(results.table_8());
    figures.extend(results.synthetic_claims());
    Ok(figures.into())
}

/// The sites whose logs are at hand, with the number of jobs of each log that Table 7 of the paper implies, or with all jobs.
fn sites(setup: &Setup) -> Result<Vec<FoundSite>, StudyError> {
    let mut sites = Vec::new();
    for site in &SITES {
        let Some(found) = setup.logs.iter().find(|found| found.log == site.log) else { continue };
        let workload = found.workload(&[("procs", &site.procs.to_string())])?;
        let first = if setup.all_jobs { None } else { Some(site.jobs) };
        sites.push((site, shape(workload, &Shaping { first, ..Shaping::default() })?));
    }
    Ok(sites)
}

fn cells(setup: &Setup) -> Vec<MetaCell> {
    let grids = || std::iter::once(None).chain(Scenario::all().into_iter().map(Some));
    let with =
        |(scenario, replication)| (0..POLICIES.len()).map(move |policy| MetaCell { replication, scenario, policy });
    let of_replication = |replication| grids().map(move |scenario| (scenario, replication)).flat_map(with);
    let mut cells: Vec<MetaCell> = (0..setup.replications).flat_map(of_replication).collect();
    // The longest runs come first, so that no thread begins one of them when the others have nothing left to do.
    sort_by_key(&mut cells, |cell| (cell.policy != LEAST_PREDICTED, cell.scenario.is_some()));
    cells
}

/// The jobs that are simulated and the waits that are predicted, over all runs.
fn cost(setup: &Setup) -> Result<String, StudyError> {
    let sites = sites(setup)?;
    let own: usize = sites.iter().map(|(_, workload)| workload.jobs.len()).sum();
    let made: usize = Scenario::all().iter().map(|scenario| scenario.jobs(setup.days)).sum();
    let replications = setup.replications as usize;
    let jobs = (own + made) * POLICIES.len() * replications;
    let predictions = (own * sites.len() + made * 4) * replications;
    // A prediction of a wait takes 250 microseconds on a slow core; the rest takes little time in comparison.
    let time = readable_duration(predictions as f64 * 250e-6 / setup.threads as f64);
    let (runs, jobs) = (counted(cells(setup).len() as u64, "run"), counted(jobs as u64, "job"));
    let predictions = counted(predictions as u64, "predicted wait");
    Ok(format!("{runs}, {jobs}, up to {predictions}: about {time} at most"))
}

fn simulate(setup: &Setup, sites: &[FoundSite], cell: &MetaCell) -> Result<MetaSummary, String> {
    let setting = Setting::parse("easy", "estimate").expect("a valid pair");
    let system = match &cell.scenario {
        Some(scenario) => scenario.system(&setting, setup.days, cell.replication),
        None => super_experiment(sites, &setting, cell.replication),
    }?;
    let policy = DispatchPolicy::parse(POLICIES[cell.policy]).expect("a valid policy");
    let record = run(&system, &policy, &mut |_| ()).map_err(|error| error.to_string())?;
    Ok(summarize_system(&system, &policy, &record, &Measure::default()))
}

/// The system of all logs: as they are in replication 0, shaken by up to 30 s in the others.
fn super_experiment(sites: &[FoundSite], setting: &Setting, replication: u64) -> Result<MetaSystem, String> {
    let shaking = Shaping { shake: if replication > 0 { 30 } else { 0 }, seed: replication, ..Shaping::default() };
    let shaken = |(site, workload): &FoundSite| {
        let workload = shape(workload.clone(), &shaking).expect("shaking loses no job");
        Site { name: site.log.name.to_string(), workload, setting: setting.clone() }.from_time_zero()
    };
    MetaSystem::new(sites.iter().map(shaken).collect())
}

/// The results of all simulations. `runs` has one summary per cell, in the same order.
struct MetaResults {
    /// The sites whose logs are at hand.
    sites: Vec<&'static PaperSite>,
    cells: Vec<MetaCell>,
    runs: Vec<MetaSummary>,
    replications: u64,
}

/// A percentage with an interval over replications. The measured value is that of the first replication.
fn figure(table: &str, row: &str, column: &str, published: &str, values: &[f64], note: &str) -> Figure {
    Figure::first_of((table, row, column), published, values).noted(note).percent()
}

impl MetaResults {
    fn run(&self, replication: u64, scenario: Option<Scenario>, policy: usize) -> &MetaSummary {
        let wanted = MetaCell { replication, scenario, policy };
        &self.runs[self.cells.iter().position(|cell| *cell == wanted).expect("all cells were run")]
    }

    /// The value of each replication.
    fn each(&self, value: impl Fn(u64) -> f64) -> Vec<f64> {
        (0..self.replications).map(value).collect()
    }

    /// The reduction of the mean wait by a policy against another one, in percent, in one replication of one system.
    fn reduction(&self, replication: u64, scenario: Option<Scenario>, policy: usize, other: usize) -> f64 {
        let wait = |policy| self.run(replication, scenario, policy).waits.wait_mean;
        (wait(other) - wait(policy)) / wait(other) * 100.0
    }

    /// Why the super experiment differs, if the log of ANL is missing.
    fn without_anl(&self) -> &'static str {
        let complete = self.sites.len() == SITES.len();
        if complete { "" } else { "in the paper ANL ran half of all jobs, and its log is not here: not comparable" }
    }

    fn table_7(&self) -> Vec<Figure> {
        let table = "Table 7, percent of all jobs that ran at each site";
        let number = |text: &str| text.parse::<f64>().expect("a published number");
        let row = |site: &PaperSite| format!("{} ({})", site.log.name, site.procs);
        let mut figures = Vec::new();
        for (at, site) in self.sites.iter().enumerate() {
            for (policy, name) in POLICIES.iter().enumerate() {
                let values = self.each(|replication| self.run(replication, None, policy).sites[at].share_pct);
                let printed = site.shares.get(policy).copied().unwrap_or_default();
                // The published share, if only the jobs of the sites at hand are counted.
                let note = site.shares.get(policy).map_or(String::new(), |share| {
                    let here: f64 = self.sites.iter().map(|site| number(site.shares[policy])).sum();
                    format!("of these {} sites' jobs {:.1} published", self.sites.len(), number(share) / here * 100.0)
                });
                let figure = figure(table, &row(site), name, printed, &values, &note);
                figures.push(figure.because(self.without_anl()));
            }
        }
        let is_missing = |site: &&PaperSite| self.sites.iter().all(|found| found.log != site.log);
        for site in SITES.iter().filter(is_missing) {
            for (share, policy) in site.shares.iter().zip(POLICIES) {
                figures.push(figure(table, &row(site), policy, share, &[], "left out: its log is not here"));
            }
        }
        figures
    }

    fn super_claims(&self) -> Vec<Figure> {
        let row = |policy, other, column: &str, published: &str, note: &str| {
            let values = self.each(|replication| self.reduction(replication, None, policy, other));
            let table = "text, super experiments, percent";
            figure(table, "shorter mean wait", column, published, &values, note).because(self.without_anl())
        };
        let closest = "the paper: least-predicted is closest to it";
        vec![
            row(LEAST_PREDICTED, STATIC, "least-predicted against static", "<=54", ""),
            row(LEAST_PREDICTED, LEAST_LOADED, "least-predicted against least-loaded", "<=33", ""),
            row(REDUNDANT, LEAST_PREDICTED, "redundant against least-predicted", "", closest),
            row(REDUNDANT, LEAST_LOADED, "redundant against least-loaded", "", "the paper: farther"),
        ]
    }

    fn figure_3(&self) -> Vec<Figure> {
        let table = "Figure 3, super experiments, mean wait in minutes";
        let row = |(policy, name): (usize, &&str)| {
            let minutes = |replication| self.run(replication, None, policy).waits.wait_mean / MINUTE as f64;
            figure(table, "all sites", name, "", &self.each(minutes), "figure")
        };
        POLICIES.iter().enumerate().map(row).collect()
    }

    fn table_8(&self) -> Vec<Figure> {
        let table = "Table 8, synthetic experiments, mean over the 32 scenarios";
        let mut figures = Vec::new();
        for (row, of, published) in TABLE_8 {
            for (policy, name) in POLICIES.iter().enumerate() {
                let values = self.each(|replication| {
                    let of_scenario = |scenario| of(self.run(replication, Some(scenario), policy));
                    mean_and_half_width(&Scenario::all().into_iter().map(of_scenario).collect::<Vec<_>>()).0
                });
                let printed = published.get(policy).copied().unwrap_or_default();
                let note = if printed.is_empty() { "" } else { "the paper does not give the load of its queues" };
                let figure = figure(table, row, name, printed, &values, note);
                figures.push(Figure { in_percent: row.contains('%'), ..figure });
            }
        }
        figures
    }

    /// The ranges over all scenarios that the text gives: their least and largest value, and the median, which is not in
    /// the paper.
    fn synthetic_claims(&self) -> Vec<Figure> {
        let table = "text, synthetic experiments, least-predicted, percent";
        type ScenarioChange<'a> = &'a dyn Fn(u64, Scenario, usize) -> f64;
        let wait: ScenarioChange<'_> =
            &|replication, scenario, policy| self.reduction(replication, Some(scenario), LEAST_PREDICTED, policy);
        let short: ScenarioChange<'_> = &|replication, scenario, policy| {
            let share = |policy| TABLE_8[1].1(self.run(replication, Some(scenario), policy));
            (share(LEAST_PREDICTED) - share(policy)) / share(policy) * 100.0
        };
        let claims = [
            ("shorter mean wait than static", "35-94", wait, STATIC),
            ("shorter mean wait than least-loaded", "14-78", wait, LEAST_LOADED),
            ("more jobs within an hour than static", "8-80", short, STATIC),
            ("more jobs within an hour than least-loaded", "8-80", short, LEAST_LOADED),
        ];
        let mut figures = Vec::new();
        for (row, published, change, policy) in claims {
            for (column, at) in [("least", 0.0), ("median", 50.0), ("most", 100.0)] {
                let values = self.each(|replication| {
                    let changes = Scenario::all().into_iter().map(|scenario| change(replication, scenario, policy));
                    let mut changes: Vec<f64> = changes.filter(|change| change.is_finite()).collect();
                    crate::stats::percentile(&mut changes, at)
                });
                let published = if column == "median" { "" } else { published };
                figures.push(figure(table, row, column, published, &values, ""));
            }
        }
        figures
    }
}
