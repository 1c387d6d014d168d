//! Kumar and Vadhiyar, "Prediction of Queue Waiting Times for Metascheduling on Parallel Batch Systems" (2014), section
//! 5.2: Tables 7 and 8, Figure 3, and the claims of the text. (Section 5.1, the predictions themselves, is another study.)

use super::figure::Figure;
use super::logs::{FoundLog, LogName};
use crate::experiment::Setting;
use crate::meta::{DispatchPolicy, MetaSummary, MetaSystem, Scenario, Site, SiteSummary, run, summarize_system};
use crate::metrics::Measure;
use crate::parallel;
use crate::stats::mean_and_half_width;
use crate::time::MINUTE;
use crate::trace::{Cleaning, Log, Shaping, TraceError, Workload, clean, shape};

/// A site of the super experiments.
struct Published {
    log: LogName,
    /// Table 7: the machine's size, and percent of all jobs under static, least loaded and least predicted.
    procs: u32,
    shares: [&'static str; 3],
    /// How many jobs that percentage under static is, with all of CTC's 77,222 for 22.9.
    jobs: usize,
}

const fn site(
    short: &'static str,
    prefix: &'static str,
    thanks: &'static str,
    procs: u32,
    shares: [&'static str; 3],
    jobs: usize,
) -> Published {
    Published { log: LogName { short, prefix, thanks }, procs, shares, jobs }
}

const SITES: [Published; 6] = [
    site("CTC", "CTC-SP2-1996", "Dan Dwyer and Steve Hotovy", 430, ["22.9", "13.7", "10.4"], 77_222),
    site(
        "ANL",
        "ANL-Intrepid-2009",
        "Susan Coghlan, Narayan Desai and Wei Tang",
        163_840,
        ["20.7", "53.4", "52.1"],
        69_800,
    ),
    site("LANL", "LANL-CM5-1994", "Curt Canada", 1024, ["21.7", "11.2", "18.3"], 73_200),
    site("HPC2N", "HPC2N-2002", "Ake Sandgren", 240, ["5.7", "7.6", "2.0"], 19_200),
    site(
        "SDSC-BLUE",
        "SDSC-BLUE-2000",
        "Travis Earheart and Nancy Wilkins-Diehr",
        1024,
        ["21.0", "11.1", "18.4"],
        70_800,
    ),
    site("SDSC-SP2", "SDSC-SP2-1998", "Victor Hazlewood", 128, ["7.9", "2.7", "1.4"], 26_600),
];

/// Table 8: minutes, percent, percent, under static, least loaded and least predicted.
/// The last row is ours: how busy the processors are, from the first submission to the last end.
const TABLE_8: [(&str, Value, [&str; 3]); 4] = [
    ("mean wait, minutes", |run| run.waits.wait_mean / MINUTE as f64, ["196", "105", "52"]),
    ("jobs that wait an hour at most, %", |run| run.waits.wait_le_1h_pct, ["68", "76", "89"]),
    ("jobs that wait a day at least, %", |run| run.waits.wait_ge_1d_pct, ["3.2", "1.4", "0.5"]),
    ("utilization, %", utilization, ["", "", ""]),
];

/// Of all sites together, in percent.
fn utilization(run: &MetaSummary) -> f64 {
    let procs = |site: &SiteSummary| f64::from(site.procs);
    let used: f64 = run.sites.iter().map(|site| site.utilization * procs(site)).sum();
    used / run.sites.iter().map(procs).sum::<f64>() * 100.0
}

/// The policies, the paper's three first: their places are those of the published figures.
const POLICIES: [&str; 5] = ["static", "least-loaded", "least-predicted", "redundant", "k-distributed"];
const STATIC: usize = 0;
const LEAST_LOADED: usize = 1;
const LEAST_PREDICTED: usize = 2;
const REDUNDANT: usize = 3;

pub fn kumar_meta_logs() -> Vec<LogName> {
    SITES.iter().map(|site| site.log).collect()
}

/// The study on the logs at hand.
pub struct KumarMeta {
    sites: Vec<(&'static Published, Workload)>,
    /// How long the jobs of scenarios come for.
    days: u32,
    replications: u64,
    threads: usize,
}

/// One simulation: a system under a policy.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cell {
    replication: u64,
    /// None: the super experiment.
    scenario: Option<Scenario>,
    policy: usize,
}

/// A figure of a simulation.
type Value = fn(&MetaSummary) -> f64;

impl KumarMeta {
    /// Takes of each log as many jobs as the paper seems to, or all of them.
    pub fn new(
        logs: &[(FoundLog, Log)],
        full: bool,
        days: u32,
        replications: u64,
        threads: usize,
    ) -> Result<KumarMeta, TraceError> {
        let mut sites = Vec::new();
        for published in &SITES {
            let Some((_, log)) = logs.iter().find(|(found, _)| found.name == published.log) else { continue };
            let workload = clean(log, &Cleaning { procs: Some(published.procs), ..Cleaning::default() })?;
            let first = if full { None } else { Some(published.jobs) };
            sites.push((published, shape(workload, &Shaping { first, ..Shaping::default() })?));
        }
        Ok(KumarMeta { sites, days, replications, threads })
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
        // Those that take longest first, so that no thread is left alone with one in the end.
        cells.sort_by_key(|cell| (cell.policy != LEAST_PREDICTED, cell.scenario.is_some()));
        cells
    }

    /// How many simulations there are to be told of.
    pub fn steps(&self) -> usize {
        self.cells().len()
    }

    /// Jobs that are simulated, and questions that are asked of a site's history.
    pub fn cost(&self) -> (usize, usize) {
        let own: usize = self.sites.iter().map(|(_, workload)| workload.jobs.len()).sum();
        let made: usize = Scenario::all().iter().map(|scenario| scenario.jobs(self.days)).sum();
        let replications = self.replications as usize;
        let jobs = (own + made) * POLICIES.len() * replications;
        (jobs, (own * self.sites.len() + made * 4) * replications)
    }

    fn simulate(&self, cell: &Cell) -> Result<MetaSummary, String> {
        let setting = Setting::parse("easy", "estimate").expect("a pair of our own");
        let system = match &cell.scenario {
            Some(scenario) => scenario.system(&setting, self.days, cell.replication),
            None => self.super_experiment(&setting, cell.replication),
        };
        let system = system.map_err(|error| error.to_string())?;
        let policy = DispatchPolicy::parse(POLICIES[cell.policy]).expect("a policy of our own");
        let record = run(&system, &policy, &mut |_| ()).map_err(|error| error.to_string())?;
        Ok(summarize_system(&system, &policy, &record, &Measure::default()))
    }

    /// The logs as they are, or, in other replications, shaken.
    fn super_experiment(
        &self,
        setting: &Setting,
        replication: u64,
    ) -> Result<MetaSystem, crate::meta::MetaSystemError> {
        let shaking = Shaping { shake: if replication > 0 { 30 } else { 0 }, seed: replication, ..Shaping::default() };
        let shaken = |(published, workload): &(&Published, Workload)| {
            let workload = shape(workload.clone(), &shaking).expect("shaking loses no job");
            Site { name: published.log.short.to_string(), workload, setting: setting.clone() }.from_time_zero()
        };
        MetaSystem::new(self.sites.iter().map(shaken).collect())
    }

    /// The figures. The watcher is told after each simulation how many are done.
    pub fn figures(&self, watch: impl Fn(usize) + Sync) -> Result<Vec<Figure>, String> {
        let cells = self.cells();
        let runs = parallel::map(&cells, self.threads, |cell| self.simulate(cell), watch);
        let runs: Vec<MetaSummary> = runs.into_iter().collect::<Result<_, _>>()?;
        let results = Results { cells, runs, replications: self.replications };
        let mut figures = self.table_7(&results);
        figures.extend(figure_3(&results));
        figures.extend(self.super_claims(&results));
        figures.extend(table_8(&results));
        figures.extend(synthetic_claims(&results));
        Ok(figures)
    }

    fn table_7(&self, results: &Results) -> Vec<Figure> {
        let table = "Table 7, percent of all jobs that ran at each site";
        let number = |text: &str| text.parse::<f64>().expect("a published number");
        let mut figures = Vec::new();
        for (at, (published, _)) in self.sites.iter().enumerate() {
            for (policy, name) in POLICIES.iter().enumerate() {
                let values = results.over_replications(None, policy, &|run| run.sites[at].share_pct);
                let printed = published.shares.get(policy).copied().unwrap_or_default();
                // What it would be of the sites that are here alone.
                let note = published.shares.get(policy).map_or(String::new(), |share| {
                    let here: f64 = self.sites.iter().map(|(site, _)| number(site.shares[policy])).sum();
                    format!("of these {} sites' jobs {:.1} published", self.sites.len(), number(share) / here * 100.0)
                });
                let row = format!("{} ({})", published.log.short, published.procs);
                figures.push(figure(table, row, name, printed, &values, note));
            }
        }
        for published in SITES.iter().filter(|published| !self.has(published)) {
            for (share, policy) in published.shares.iter().zip(POLICIES) {
                let row = format!("{} ({})", published.log.short, published.procs);
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

    fn super_claims(&self, results: &Results) -> Vec<Figure> {
        let table = "text, super experiments, percent";
        let complete = SITES.iter().all(|published| self.has(published));
        let why = if complete { "" } else { "the paper's is with ANL, which ran half of all jobs: not comparable" };
        let row = |policy, other, column: &str, published: &str, note: &str| {
            let values = results.each(|replication| results.reduction(replication, None, policy, other));
            figure(table, "shorter mean wait".to_string(), column, published, &values, note.to_string())
        };
        vec![
            row(LEAST_PREDICTED, STATIC, "least-predicted against static", "<=54", why),
            row(LEAST_PREDICTED, LEAST_LOADED, "least-predicted against least-loaded", "<=33", why),
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

/// What all simulations gave.
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

    /// One value a replication.
    fn each(&self, value: impl Fn(u64) -> f64) -> Vec<f64> {
        (0..self.replications).map(value).collect()
    }

    fn over_replications(
        &self,
        scenario: Option<Scenario>,
        policy: usize,
        of: &dyn Fn(&MetaSummary) -> f64,
    ) -> Vec<f64> {
        self.each(|replication| of(self.run(replication, scenario, policy)))
    }

    /// By how many percent a policy's mean wait is shorter than another's, in one replication of one system.
    fn reduction(&self, replication: u64, scenario: Option<Scenario>, policy: usize, other: usize) -> f64 {
        let wait = |policy| self.run(replication, scenario, policy).waits.wait_mean;
        (wait(other) - wait(policy)) / wait(other) * 100.0
    }

    /// A value of each scenario, in one replication.
    fn over_scenarios(&self, value: impl Fn(Scenario) -> f64) -> Vec<f64> {
        Scenario::all().into_iter().map(value).collect()
    }
}

/// A figure with an interval over replications; the first of them is what is measured.
fn figure(table: &str, row: String, column: &str, published: &str, values: &[f64], note: String) -> Figure {
    Figure::new((table, &row, column), published, values[0], &note).over(values)
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
            let note = if printed.is_empty() { "" } else { "how busy the paper's queues were is not known" };
            figures.push(figure(table, row.to_string(), name, printed, &values, note.to_string()));
        }
    }
    figures
}

/// The ranges that the text gives over the scenarios: their ends.
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
