//! Talby, Tsafrir, Goldberg and Feitelson, "Session-based, estimation-less, and information-less runtime prediction
//! algorithms for parallel and grid job scheduling" (2006): Tables 2, 4, 5 and 6, Figures 2 to 5, and the claims of the text.

use std::path::Path;
use std::sync::OnceLock;

use crate::experiment::{OptionForm, Options, Setting, simulate};
use crate::metrics::columns::{AI_MEAN, BACKFILLED, BSLD_MEAN, RA_MEAN, WAIT_MEAN};
use crate::metrics::{Better, Column, RunRow, Shown};
use crate::report::temporary_folder;
use crate::stats::mean_and_half_width;
use crate::sweep::{GridCell, Keys, Shard, Store, run};
use crate::trace::{Workload, read};

use super::figure::{At, Figure};
use super::judge::{Claim, verdict};
use super::logs::{ArchiveLog, CTC, FoundLog, KTH, SDSC_BLUE, SDSC_SP2};
use super::study::{Setup, Study, StudyError, StudyForm};

/// The logs of the paper.
pub const TALBY_LOGS: [ArchiveLog; 4] = [SDSC_SP2, CTC, KTH, SDSC_BLUE];

pub(super) const FORM: StudyForm = StudyForm {
    name: "talby",
    paper: "Talby, Tsafrir, Goldberg and Feitelson: session-based prediction",
    logs: &TALBY_LOGS,
    build: |setup| {
        let replications = if setup.quick { 1 } else { 10 };
        Ok(Box::new(Talby::new(setup, replications)))
    },
};

/// The number of processors of each machine in the paper. Table 1 prints 128 for CTC, but its utilization of 56% implies 512.
fn procs(log: &ArchiveLog) -> u32 {
    match *log {
        CTC => 512,
        KTH => 100,
        SDSC_BLUE => 1152,
        _ => 128,
    }
}

/// The lists of criteria that the paper names. Both searches give the same result for a list with one criterion, so such
/// lists are not here.
const LISTS: [&str; 4] = ["PE/P/E/*", "E/P/X", "PEX/PX/EX", "PEX/*"];
const ANY: &str = "*";
const SESSIONS: [&str; 4] = ["3", "10", "30", "all"];

const EASY: &str = "easy/estimate";
const RUH: &str = "sjbf/ruh";
const RUH_PROPAGATION: &str = "sjbf/ruh:propagate=on";
const RUH_BY_ARRIVAL: &str = "sjbf/ruh:order=arrival";
const RUH_CAPPED: &str = "sjbf/ruh:cap=on";
const BALANCED: &str = "sjbf/sbh-noest";
const BALANCED_50H: &str = "sjbf/sbh-noest:limit=50h";
const UNBALANCED: &str = "sjbf/sbh-noest:growth=unbalanced";
const CONSTANT: &str = "sjbf/constant";

/// The four metrics of the paper, with their names in its tables.
static METRICS: [(&Column, &str); 4] = [
    (&WAIT_MEAN, "wait time"),
    (&BSLD_MEAN, "bounded slowdown"),
    (&AI_MEAN, "absolute inaccuracy"),
    (&RA_MEAN, "relative accuracy"),
];

/// The case of a session-based predictor with these keys.
fn sbh(criteria: &str, search: &str, sessions: &str, propagate: &str) -> String {
    format!("sjbf/sbh:criteria={criteria},search={search},sessions={sessions},propagate={propagate}")
}

/// The study on the logs that were found. Its runs are those of a sweep, so that they can be kept and reused.
pub struct Talby {
    setup: Setup,
    replications: usize,
    /// `scheduler/predictor`, followed by ` inflate=F` if predictions are inflated.
    cases: Vec<String>,
    runs: OnceLock<TalbyRuns>,
}

/// The finished runs of the study.
pub struct TalbyRuns {
    /// One row per cell, in the order of [`Talby::cells`].
    pub rows: Vec<RunRow>,
    /// The number of runs that were already in the folder of the study.
    pub reused: usize,
    /// The number of runs that were computed by this call.
    pub computed: usize,
}

impl Study for Talby {
    fn name(&self) -> &'static str {
        FORM.name
    }

    fn logs(&self) -> &[FoundLog] {
        &self.setup.logs
    }

    fn steps(&self) -> (usize, &'static str) {
        (self.replications * self.setup.logs.len() * self.cases.len(), "runs")
    }

    fn figures(&self, progress: &(dyn Fn(usize) + Sync)) -> Result<Vec<Figure>, StudyError> {
        let runs = match self.runs.get() {
            Some(runs) => runs,
            None => {
                let runs = self.run(progress)?;
                self.runs.get_or_init(|| runs)
            }
        };
        let workloads = self.workloads()?;
        let study = Measured { study: self, rows: &runs.rows };
        let mut figures = study.tables();
        figures.extend(study.claims());
        figures.push(unmatched(&workloads)?);
        figures.push(study.better_unbalanced());
        figures.extend(study.accuracy_histogram(&workloads));
        figures.extend(study.figures_by_log());
        Ok(figures)
    }
}

impl Talby {
    /// The study with this number of runs of each case (at least 1): the first on the log as it is, the others on shaken
    /// copies of it.
    pub fn new(setup: Setup, replications: usize) -> Talby {
        Talby { setup, replications: replications.max(1), cases: cases(), runs: OnceLock::new() }
    }

    /// All runs of the study: one cell per replication, log and case, in this order of loops.
    pub fn cells(&self) -> Vec<GridCell> {
        let mut cells = Vec::new();
        for replication in 0..self.replications {
            for log in &self.setup.logs {
                cells.extend(self.cases.iter().map(|case| cell(log, case, replication)));
            }
        }
        cells
    }

    /// The finished runs. None before [`Study::figures`] has been called.
    pub fn runs(&self) -> Option<&TalbyRuns> {
        self.runs.get()
    }

    /// Runs all cells with the code of sweeps.
    fn run(&self, progress: &(dyn Fn(usize) + Sync)) -> Result<TalbyRuns, StudyError> {
        let cells = self.cells();
        // Without a folder for the runs, a temporary one is used and then removed.
        let kept = self.setup.folder.clone();
        let folder = kept.clone().map_or_else(|| temporary_folder(&std::env::temp_dir()), Ok)?;
        let rows = self.run_in(&folder, &cells, progress);
        if kept.is_none() {
            let _ = std::fs::remove_dir_all(&folder);
        }
        rows
    }

    fn run_in(
        &self,
        folder: &Path,
        cells: &Vec<GridCell>,
        progress: &(dyn Fn(usize) + Sync),
    ) -> Result<TalbyRuns, StudyError> {
        let store = Store::open(folder)?;
        let keys = Keys::of(cells, &store, self.setup.threads);
        let report = run(cells, &keys, &store, Shard::WHOLE, self.setup.threads, &|done, all| {
            progress(cells.len() - all + done);
        })?;
        let store = Store::open(folder)?;
        let row = |(cell, key): (&GridCell, &Option<u128>)| {
            let mut row = key.map(|key| store.row(key)).transpose()?.flatten();
            row.iter_mut().for_each(|row| row.label.trace = cell.source().label());
            Ok(row)
        };
        let rows: Result<Vec<Option<RunRow>>, StudyError> = cells.iter().zip(&keys.keys).map(row).collect();
        if let Some(failure) = report.failures.first() {
            let (count, again) = (report.failures.len(), cells[failure.cell].command());
            let message = format!("{count} runs failed, the first: {}\n  again: {again}", failure.message);
            return Err(StudyError::Simulation(message));
        }
        let rows: Vec<RunRow> = rows?.into_iter().flatten().collect();
        if rows.len() < cells.len() {
            let lost = cells.len() - rows.len();
            return Err(StudyError::Simulation(format!("{lost} finished runs are missing from {}", folder.display())));
        }
        Ok(TalbyRuns { rows, reused: report.reused, computed: report.computed })
    }

    /// The cleaned jobs of each log, the same as in the runs of the study.
    fn workloads(&self) -> Result<Vec<Workload>, StudyError> {
        let workload = |log: &FoundLog| {
            let GridCell { options, .. } = cell(log, EASY, 0);
            Ok(options.clean_out(&mut read(&log.source(), options.read_options(), &mut |_| ())?)?)
        };
        self.setup.logs.iter().map(workload).collect()
    }
}

/// The share of jobs for which the sessions of their users contain no matching job. Their prediction is 1 second.
fn unmatched(workloads: &[Workload]) -> Result<Figure, StudyError> {
    let setting = Setting::parse_pair(BALANCED).expect("a valid case");
    let mut shares = Vec::new();
    for workload in workloads {
        let record = simulate(workload, &setting, &mut |_| ())?;
        let count = record.outcomes.iter().filter(|outcome| outcome.prediction == 1).count();
        shares.push(count as f64 / workload.jobs.len() as f64 * 100.0);
    }
    let place = (TEXT, "jobs that no past job matches", "share of jobs");
    let note = "counts every job predicted to take 1 s, so it is an upper bound";
    Ok(Figure::new(place, "<1", mean(shares), note).percent())
}

fn cases() -> Vec<String> {
    let mut cases: Vec<String> = [EASY, "easy/perfect", "sjbf/perfect", "sjbf/estimate", RUH, RUH_PROPAGATION]
        .iter()
        .chain(&[RUH_BY_ARRIVAL, RUH_CAPPED, BALANCED, BALANCED_50H, UNBALANCED, CONSTANT])
        .map(|case| case.to_string())
        .collect();
    cases.extend(["easy/estimate inflate=2", "easy/perfect inflate=2"].map(str::to_string));
    cases.extend(["60", "600", "3600"].map(|seconds| format!("sjbf/constant:seconds={seconds}")));
    cases.extend(["5m", "1h", "4h"].map(|think| format!("sjbf/sbh:think={think}")));
    cases.extend(["dfs", "bfs"].map(|search| sbh(ANY, search, "all", "on")));
    for list in LISTS {
        for search in ["dfs", "bfs"] {
            for sessions in SESSIONS {
                cases.extend(["on", "ends", "off"].map(|propagate| sbh(list, search, sessions, propagate)));
            }
        }
    }
    cases
}

fn cell(log: &FoundLog, case: &str, replication: usize) -> GridCell {
    let mut options = Options::default();
    let mut set = |name: &str, value: &str| {
        let option = OptionForm::find(name).expect("an option of the main command");
        option.set(&mut options, value).unwrap_or_else(|why| panic!("--{name} {value}: {why}"));
    };
    let (pair, inflate) = case.split_once(" inflate=").unwrap_or((case, "1"));
    let (scheduler, predictor) = pair.split_once('/').expect("scheduler/predictor");
    set("scheduler", scheduler);
    set("predictor", predictor);
    set("inflate", inflate);
    set("procs", &procs(&log.log).to_string());
    set("replication", &replication.to_string());
    GridCell { trace: Some(log.file.to_string_lossy().into_owned()), options }
}

struct Measured<'a> {
    study: &'a Talby,
    rows: &'a [RunRow],
}

/// One replication on all logs.
#[derive(Clone, Copy)]
struct Replication<'a> {
    measured: &'a Measured<'a>,
    number: usize,
}

impl Replication<'_> {
    /// A metric of a run, rounded as it is printed, so that a reader who repeats the run alone computes the same figures.
    /// NaN if it is not defined.
    fn value(self, log: usize, case: &str, metric: &Column) -> f64 {
        let study = self.measured.study;
        let case = study.cases.iter().position(|other| other == case).unwrap_or_else(|| panic!("no case {case}"));
        let row = (self.number * study.setup.logs.len() + log) * study.cases.len() + case;
        metric.cell(&self.measured.rows[row]).printed().unwrap_or(f64::NAN)
    }

    /// The improvement of a case over a base case on one log, in percent.
    fn gain(self, log: usize, case: &str, base: &str, metric: &Column) -> f64 {
        let (value, base) = (self.value(log, case, metric), self.value(log, base, metric));
        // Only the number of backfilled jobs has no better direction. The paper counts more of them as a gain.
        metric.better.unwrap_or(Better::Higher).percent(base, value)
    }

    /// The unweighted mean of the improvements on all logs, in percent.
    fn mean_gain(self, case: &str, base: &str, metric: &Column) -> f64 {
        mean((0..self.measured.study.setup.logs.len()).map(|log| self.gain(log, case, base, metric)))
    }

    /// The improvements of many pairs (case, base case) on all logs, in percent.
    fn gains(self, pairs: &[(String, String)], metric: &Column) -> Vec<f64> {
        let logs = 0..self.measured.study.setup.logs.len();
        logs.flat_map(|log| pairs.iter().map(move |(case, base)| self.gain(log, case, base, metric))).collect()
    }
}

fn mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let values: Vec<f64> = values.into_iter().collect();
    values.iter().sum::<f64>() / values.len() as f64
}

/// The share of values above 0, in percent.
fn share_above_zero(values: &[f64]) -> f64 {
    values.iter().filter(|&&value| value > 0.0).count() as f64 / values.len() as f64 * 100.0
}

const TEXT: &str = "text, in percent";

/// The pairs that `of` makes from each list of criteria that the paper names.
fn pairs(of: impl Fn(&str) -> Vec<(String, String)>) -> Vec<(String, String)> {
    LISTS.into_iter().flat_map(of).collect()
}

impl Measured<'_> {
    fn figure(
        &self,
        at: At<'_>,
        published: &str,
        claim: Claim,
        note: &str,
        number: impl Fn(Replication<'_>) -> f64,
    ) -> Figure {
        let values: Vec<f64> =
            (0..self.study.replications).map(|at| number(Replication { measured: self, number: at })).collect();
        let (mean, half) = mean_and_half_width(&values);
        let interval = half.map(|half| (mean - half, mean + half));
        let note = [verdict(claim, values[0], interval), note.to_string()];
        let note: Vec<String> = note.into_iter().filter(|text| !text.is_empty()).collect();
        Figure::new(at, published, values[0], &note.join("; ")).over(&values)
    }

    fn tables(&self) -> Vec<Figure> {
        let mut figures = Vec::new();
        // Adds a row of four figures. `reasons` explain why figures differ from the published ones.
        let mut add_row = |table: &str, row: &str, case: &str, base: &str, published: [&str; 4], reasons: [&str; 4]| {
            for (((metric, column), published), reason) in METRICS.iter().zip(published).zip(reasons) {
                let number = |replication: Replication<'_>| replication.mean_gain(case, base, metric);
                let figure = self.figure((table, row, column), published, Claim::None, "", number);
                // A comma in the name of a row marks another interpretation of the paper.
                figures.push(figure.percent().because(reason).reading(row.contains(", ")));
            }
        };
        let none = [""; 4];
        let table = "Table 2, improvement over EASY in percent";
        add_row(table, "Perfect", "sjbf/perfect", EASY, ["22", "47", "100", "176"], none);
        add_row(table, "Estimate", "sjbf/estimate", EASY, ["11", "22", "0", "0"], none);
        let ruh = ["18", "32", "40", "69"];
        add_row(table, "RUH without propagation", RUH, EASY, ruh, none);
        add_row(table, "RUH without propagation, order=arrival", RUH_BY_ARRIVAL, EASY, ruh, none);
        add_row(table, "RUH without propagation, cap=on", RUH_CAPPED, EASY, ruh, none);
        add_row(table, "RUH with propagation", RUH_PROPAGATION, EASY, ["17", "32", "41", "71"], none);

        // The paper compares with "the best RUH configuration" and does not say which that is.
        let bases =
            [(RUH, ""), (RUH_PROPAGATION, ", over RUH with propagation"), (RUH_CAPPED, ", over RUH with cap=on")];
        let follows = "follows from RUH, which is less accurate here than in the paper (Table 2)";
        for (base, name) in bases {
            let table = "Table 4, improvement over RUH in percent";
            let reasons = if base == RUH_CAPPED { none } else { ["", "", follows, follows] };
            for (propagate, how) in [("on", ""), ("ends", ", propagate=ends")] {
                let unlimited = |criteria| sbh(criteria, "dfs", "all", propagate);
                let (first, second) = (unlimited("PE/P/E/*"), unlimited("E/P/X"));
                add_row(table, &format!("[PE,P,E,*]{how}{name}"), &first, base, ["5", "4", "5", "2"], reasons);
                add_row(table, &format!("[E,P,X]{how}{name}"), &second, base, ["4", "8", "9", "3"], reasons);
            }
        }
        for (base, name) in bases {
            let table = "Table 5, improvement over RUH in percent";
            let balanced = ["-5", "-4", "-13", "1"];
            add_row(table, &format!("Balanced{name}"), BALANCED, base, balanced, none);
            add_row(table, &format!("Balanced, limit of 50 h{name}"), BALANCED_50H, base, balanced, none);
            add_row(table, &format!("Unbalanced{name}"), UNBALANCED, base, ["-8", "-11", "N/A", "1"], none);
        }
        let table = "Table 6, improvement over EASY in percent";
        add_row(table, "Constant 1 second", CONSTANT, EASY, ["16", "13", "41", "37"], none);
        figures
    }

    fn claims(&self) -> Vec<Figure> {
        let mut figures = Vec::new();
        let mut claim =
            |row: &str, column: &str, published: &str, claim, note: &str, number: &dyn Fn(Replication<'_>) -> f64| {
                let figure = self.figure((TEXT, row, column), published, claim, note, number).percent();
                figures.push(figure.reading(row.contains("=ends")));
            };
        let unlimited = |criteria| sbh(criteria, "dfs", "all", "on");
        let best = unlimited("PE/P/E/*");
        let more_accurate = unlimited("E/P/X");
        let gain = Claim::Gain;
        claim("SBH [PE,P,E,*] over EASY", "wait time", "24", gain, "", &|r| r.mean_gain(&best, EASY, &WAIT_MEAN));
        for (case, name) in [(&best, "[PE,P,E,*]"), (&more_accurate, "[E,P,X]")] {
            let row = format!("SBH {name} over EASY");
            claim(&row, "absolute inaccuracy", "47-53", gain, "", &|r| r.mean_gain(case, EASY, &AI_MEAN));
        }

        // The searches differ only for lists of more than one criterion, and most without a limit on sessions.
        let searches = |list: &str| {
            let of = |search, propagate| sbh(list, search, "all", propagate);
            ["on", "off"].map(|propagate| (of("dfs", propagate), of("bfs", propagate))).to_vec()
        };
        let dfs = pairs(searches);
        let best_two: Vec<_> = LISTS[..2].iter().flat_map(|list| searches(list)).collect();
        let cases = format!(
            "{} cases: the four lists that the paper names, all sessions, with and without propagation",
            dfs.len() * self.study.setup.logs.len()
        );
        for (metric, column) in METRICS {
            let row = format!("DFS better than BFS by {column}");
            claim(&row, "share of cases", ">90", Claim::Above(90.0), &cases, &|r| {
                share_above_zero(&r.gains(&dfs, metric))
            });
        }
        claim("DFS over BFS", "wait time", "5", gain, &cases, &|r| mean(r.gains(&dfs, &WAIT_MEAN)));
        claim("DFS over BFS", "absolute inaccuracy", "17", gain, &cases, &|r| mean(r.gains(&dfs, &AI_MEAN)));
        let row = "DFS over BFS, [PE,P,E,*] and [E,P,X] alone";
        claim(row, "absolute inaccuracy", "17", gain, "", &|r| mean(r.gains(&best_two, &AI_MEAN)));

        for (propagate, name) in [("on", "propagation"), ("ends", "propagation, propagate=ends")] {
            let propagation = pairs(|list| {
                let mut pairs = Vec::new();
                for search in ["dfs", "bfs"] {
                    let of = |sessions| (sbh(list, search, sessions, propagate), sbh(list, search, sessions, "off"));
                    pairs.extend(SESSIONS.map(of));
                }
                pairs
            });
            let row = format!("{name}: better");
            claim(&row, "share of cases", "75", Claim::None, "by wait time", &|r| {
                share_above_zero(&r.gains(&propagation, &WAIT_MEAN))
            });
            claim(name, "wait time", "10", gain, "", &|r| mean(r.gains(&propagation, &WAIT_MEAN)));
            claim(name, "absolute inaccuracy", "6", gain, "", &|r| mean(r.gains(&propagation, &AI_MEAN)));
        }

        // Only for DFS: BFS uses the newest session that has any match, so the limit has little effect on it.
        for limit in ["3", "10", "30"] {
            let limited = pairs(|list| {
                let of = |propagate| (sbh(list, "dfs", limit, propagate), sbh(list, "dfs", "all", propagate));
                ["on", "off"].map(of).to_vec()
            });
            let row = format!("DFS at most {limit} sessions back");
            let (published, said) = if limit == "30" { ("-3 - -2", Claim::None) } else { ("<0", Claim::Below(0.0)) };
            claim(&row, "wait time", published, said, "", &|r| mean(r.gains(&limited, &WAIT_MEAN)));
        }
        for criteria in [ANY, "PEX/*"] {
            let case = unlimited(criteria);
            let row = format!("[{}] over RUH", criteria.replace('/', ","));
            claim(&row, "wait time", "<0", Claim::Below(0.0), "", &|r| r.mean_gain(&case, RUH, &WAIT_MEAN));
        }
        for think in ["5m", "1h", "4h"] {
            let case = format!("sjbf/sbh:think={think}");
            let row = format!("think time of {think} over 20m");
            let note = "the paper claims no consistent effect";
            claim(&row, "wait time", "", Claim::None, note, &|r| r.mean_gain(&case, &best, &WAIT_MEAN));
        }
        for seconds in ["60", "600", "3600"] {
            let case = format!("sjbf/constant:seconds={seconds}");
            let row = format!("constant of {seconds} s over 1 s");
            claim(&row, "wait time", "<0", Claim::Below(0.0), "", &|r| r.mean_gain(&case, CONSTANT, &WAIT_MEAN));
        }
        claim("constant of 1 s over EASY", "jobs backfilled", "22", gain, "", &|r| {
            r.mean_gain(CONSTANT, EASY, &BACKFILLED)
        });
        figures
    }

    /// On how many logs unbalanced growth waits less than balanced growth.
    fn better_unbalanced(&self) -> Figure {
        let logs = self.study.setup.logs.len();
        let better =
            |r: Replication<'_>| (0..logs).filter(|&log| r.gain(log, UNBALANCED, BALANCED, &WAIT_MEAN) > 0.0).count();
        let place = ("text, logs", "unbalanced better than balanced", "logs");
        let note = if logs < 4 { format!("of {logs} logs at hand; the paper has four") } else { String::new() };
        self.figure(place, "3", Claim::None, &note, |r| better(r) as f64)
    }

    /// Figures 3 to 5. The paper prints no numbers for them, so there is nothing to compare with.
    fn figures_by_log(&self) -> Vec<Figure> {
        let mut figures = Vec::new();
        let mut add = |table: &str, row: &str, case: &str, metrics: &[(&Column, &str)]| {
            for (log, found) in self.study.setup.logs.iter().enumerate() {
                for (metric, column) in metrics {
                    let unit = match metric.shown {
                        Shown::Duration => 60.0,
                        Shown::Fraction => 0.01,
                        _ => 1.0,
                    };
                    let row = format!("{}, {row}", found.log.name);
                    figures.push(self.figure((table, &row, column), "", Claim::None, "figure", |r| {
                        r.value(log, case, metric) / unit
                    }));
                }
            }
        };
        let units = [
            (&WAIT_MEAN, "wait, minutes"),
            (&BSLD_MEAN, "bounded slowdown"),
            (&AI_MEAN, "inaccuracy, minutes"),
            (&RA_MEAN, "accuracy, percent"),
        ];
        for (row, case) in [
            ("user estimates", EASY),
            ("user estimates doubled", "easy/estimate inflate=2"),
            ("actual runtimes", "easy/perfect"),
            ("actual runtimes doubled", "easy/perfect inflate=2"),
        ] {
            add("Figure 3, EASY", row, case, &units[..2]);
        }
        for (row, case) in [
            ("EASY", EASY),
            ("Perfect", "sjbf/perfect"),
            ("Estimate", "sjbf/estimate"),
            ("RUH", RUH),
            ("RUH with propagation", RUH_PROPAGATION),
        ] {
            add("Figure 4", row, case, &units);
        }
        let (first, second) = (sbh("PE/P/E/*", "dfs", "all", "on"), sbh("E/P/X", "dfs", "all", "on"));
        for (row, case) in [
            ("SBH [PE,P,E,*]", first.as_str()),
            ("SBH [E,P,X]", &second),
            ("no estimates, balanced", BALANCED),
            ("no estimates, unbalanced", UNBALANCED),
        ] {
            add("Figure 5", row, case, &units);
        }
        figures
    }

    /// Figure 2: a histogram of runtime divided by estimate, in bins of ten percent.
    fn accuracy_histogram(&self, workloads: &[Workload]) -> Vec<Figure> {
        let mut figures = Vec::new();
        for (found, workload) in self.study.setup.logs.iter().zip(workloads) {
            let mut bins = [0usize; 11];
            for job in &workload.jobs {
                let accuracy = job.runtime as f64 / job.submission.estimate as f64;
                bins[((accuracy * 10.0) as usize).min(10)] += 1;
            }
            for (bin, count) in bins.iter().enumerate() {
                let column =
                    if bin < 10 { format!("{}-{}%", bin * 10, bin * 10 + 10) } else { "100% and over".to_string() };
                let place = ("Figure 2, percent of the jobs by runtime / estimate", found.log.name, column.as_str());
                let share = *count as f64 / workload.jobs.len() as f64 * 100.0;
                figures.push(Figure::new(place, "", share, "figure"));
            }
        }
        figures
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cases_are_those_of_the_paper_and_can_be_run() {
        let cases = cases();
        let log = FoundLog { log: KTH, file: "KTH.swf".into() };
        for (at, case) in cases.iter().enumerate() {
            assert!(!cases[..at].contains(case), "{case} twice");
            cell(&log, case, 3);
        }
        let command = cell(&log, "easy/perfect inflate=2", 3).command();
        assert_eq!(
            command,
            "sim --trace KTH.swf --scheduler easy --predictor perfect --procs 100 --shake 30s --seed 3 --inflate 2 --format csv"
        );
    }
}
