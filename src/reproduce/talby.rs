//! Talby, Tsafrir, Goldberg and Feitelson, "Session-based, estimation-less, and information-less runtime prediction
//! algorithms for parallel and grid job scheduling" (2006): Tables 2, 4, 5 and 6, Figures 2 to 5, the claims of the text.

use crate::engine::EngineError;
use crate::experiment::{OptionForm, Options, Setting, simulate};
use crate::metrics::columns::{AI_MEAN, BACKFILLED, BSLD_MEAN, RA_MEAN, WAIT_MEAN};
use crate::metrics::{Better, Column, RunRow, Shown};
use crate::stats::mean_and_half_width;
use crate::sweep::GridCell;
use crate::trace::Workload;

use super::figure::Figure;
use super::judge::{Claim, distance, verdict};
use super::logs::{FoundLog, LogName};

/// The paper's logs with their machines. Its Table 1 prints CTC with 128 nodes; its utilization of 56% means 512.
const LOGS: [(LogName, u32); 4] = [
    (LogName { short: "SDSC-SP2", prefix: "SDSC-SP2-1998", thanks: "Victor Hazlewood" }, 128),
    (LogName { short: "CTC", prefix: "CTC-SP2-1996", thanks: "Dan Dwyer and Steve Hotovy" }, 512),
    (LogName { short: "KTH", prefix: "KTH-SP2-1996", thanks: "Lars Malinowsky" }, 100),
    (LogName { short: "SDSC-BLUE", prefix: "SDSC-BLUE-2000", thanks: "Travis Earheart and Nancy Wilkins-Diehr" }, 1152),
];

/// The logs that the study wants.
pub fn talby_logs() -> [LogName; 4] {
    LOGS.map(|(name, _)| name)
}

/// The cases of the paper's "thousands of simulations", as far as it names them.
const CRITERIA: [&str; 7] = ["PE/P/E/*", "E/P/X", "PEX/PX/EX", "PE/P/E", "P/E", "PEX/*", "*"];
const SESSIONS: [&str; 4] = ["3", "10", "30", "all"];

const EASY: &str = "easy/estimate";
const RUH: &str = "sjbf/ruh";
const RUH_PROPAGATION: &str = "sjbf/ruh:propagate=on";
const BALANCED: &str = "sjbf/sbh-noest";
const UNBALANCED: &str = "sjbf/sbh-noest:growth=unbalanced";
const CONSTANT: &str = "sjbf/constant";

/// The paper's four metrics and what they are called in its tables.
static METRICS: [(&Column, &str); 4] = [
    (&WAIT_MEAN, "wait time"),
    (&BSLD_MEAN, "bounded slowdown"),
    (&AI_MEAN, "absolute inaccuracy"),
    (&RA_MEAN, "relative accuracy"),
];

/// A case of a session-based predictor.
fn sbh(criteria: &str, search: &str, sessions: &str, propagate: &str) -> String {
    format!("sjbf/sbh:criteria={criteria},search={search},sessions={sessions},propagate={propagate}")
}

/// The study on the logs at hand.
pub struct Talby {
    logs: Vec<(FoundLog, u32)>,
    replications: usize,
    /// `scheduler/predictor`, with ` inflate=F` behind it where predictions are inflated.
    cases: Vec<String>,
}

impl Talby {
    pub fn new(logs: Vec<FoundLog>, replications: usize) -> Talby {
        let procs = |log: &FoundLog| LOGS.iter().find(|(name, _)| *name == log.name).map_or(1, |(_, procs)| *procs);
        let logs = logs.into_iter().map(|log| (log.clone(), procs(&log))).collect();
        Talby { logs, replications: replications.max(1), cases: cases() }
    }

    /// Every run of the study, to be handed to the runner of sweeps; then [`Talby::figures`] wants their rows.
    pub fn cells(&self) -> Vec<GridCell> {
        let mut cells = Vec::new();
        for replication in 0..self.replications {
            for (log, procs) in &self.logs {
                cells.extend(self.cases.iter().map(|case| cell(log, *procs, case, replication)));
            }
        }
        cells
    }

    /// The figures, given the rows of all cells, in order, and the logs' workloads.
    pub fn figures(&self, rows: &[RunRow], workloads: &[Workload]) -> Result<Vec<Figure>, EngineError> {
        let study = Measured { study: self, rows };
        let mut figures = study.accuracy_histogram(workloads);
        figures.extend(study.figures_by_log());
        figures.extend(study.tables());
        figures.extend(study.claims());
        figures.push(unmatched(workloads)?);
        Ok(figures)
    }
}

/// How many jobs have nothing in their users' sessions to be predicted by: those that get the constant of 1 second.
fn unmatched(workloads: &[Workload]) -> Result<Figure, EngineError> {
    let setting = Setting::parse_pair(BALANCED).expect("a case of our own");
    let mut shares = Vec::new();
    for workload in workloads {
        let record = simulate(workload, &setting, &mut |_| ())?;
        let count = record.outcomes.iter().filter(|outcome| outcome.prediction == 1).count();
        shares.push(count as f64 / workload.jobs.len() as f64 * 100.0);
    }
    Ok(Figure {
        table: "text, in percent".to_string(),
        row: "jobs that no past job matches".to_string(),
        column: "share of jobs".to_string(),
        published: "<1".to_string(),
        measured: mean(shares),
        interval: None,
        note: "counts every job predicted to take 1 s, so it is an upper bound".to_string(),
    })
}

fn cases() -> Vec<String> {
    let mut cases: Vec<String> = [EASY, "easy/perfect", "sjbf/perfect", "sjbf/estimate", RUH, RUH_PROPAGATION]
        .iter()
        .chain(&[BALANCED, UNBALANCED, CONSTANT])
        .map(|case| case.to_string())
        .collect();
    cases.extend(["easy/estimate inflate=2", "easy/perfect inflate=2"].map(str::to_string));
    cases.extend(["60", "600", "3600"].map(|seconds| format!("sjbf/constant:seconds={seconds}")));
    cases.extend(["5m", "1h", "4h"].map(|think| format!("sjbf/sbh:think={think}")));
    for criteria in CRITERIA {
        for sessions in SESSIONS {
            for search in ["dfs", "bfs"] {
                cases.extend(["on", "off"].map(|propagate| sbh(criteria, search, sessions, propagate)));
            }
        }
    }
    cases
}

fn cell(log: &FoundLog, procs: u32, case: &str, replication: usize) -> GridCell {
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
    set("procs", &procs.to_string());
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
    at: usize,
}

impl Replication<'_> {
    /// A figure of a run as it is printed, so that whoever repeats the run alone computes the same; NaN if it is not defined.
    fn value(self, log: usize, case: &str, metric: &Column) -> f64 {
        let study = self.measured.study;
        let case = study.cases.iter().position(|other| other == case).unwrap_or_else(|| panic!("no case {case}"));
        let row = (self.at * study.logs.len() + log) * study.cases.len() + case;
        metric.cell(&self.measured.rows[row]).printed().unwrap_or(f64::NAN)
    }

    /// The improvement over a base on one log, in percent.
    fn gain(self, log: usize, case: &str, base: &str, metric: &Column) -> f64 {
        let (value, base) = (self.value(log, case, metric), self.value(log, base, metric));
        // The paper counts more backfilled jobs as a gain.
        metric.better.unwrap_or(Better::Higher).percent(base, value)
    }

    /// The plain mean of the improvements on all logs.
    fn mean_gain(self, case: &str, base: &str, metric: &Column) -> f64 {
        mean((0..self.measured.study.logs.len()).map(|log| self.gain(log, case, base, metric)))
    }

    /// The improvements of many pairs of cases on all logs.
    fn gains(self, pairs: &[(String, String)], metric: &Column) -> Vec<f64> {
        let logs = 0..self.measured.study.logs.len();
        logs.flat_map(|log| pairs.iter().map(move |(case, base)| self.gain(log, case, base, metric))).collect()
    }
}

fn mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let values: Vec<f64> = values.into_iter().collect();
    values.iter().sum::<f64>() / values.len() as f64
}

/// In percent.
fn share_above_zero(values: &[f64]) -> f64 {
    values.iter().filter(|&&value| value > 0.0).count() as f64 / values.len() as f64 * 100.0
}

/// All pairs of cases that differ only in one key.
fn pairs(better: impl Fn(&str, &str, &str, &str) -> Option<(String, String)>) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    for criteria in CRITERIA {
        for sessions in SESSIONS {
            for search in ["dfs", "bfs"] {
                pairs
                    .extend(["on", "off"].iter().filter_map(|propagate| better(criteria, search, sessions, propagate)));
            }
        }
    }
    pairs
}

impl Measured<'_> {
    fn figure(
        &self,
        (table, row, column): (&str, &str, &str),
        published: &str,
        claim: Claim,
        note: &str,
        number: impl Fn(Replication<'_>) -> f64,
    ) -> Figure {
        let values: Vec<f64> =
            (0..self.study.replications).map(|at| number(Replication { measured: self, at })).collect();
        let (mean, half) = mean_and_half_width(&values);
        let interval = half.map(|half| (mean - half, mean + half));
        let note = [verdict(claim, values[0], interval), note.to_string(), distance(published, values[0], interval)];
        Figure {
            table: table.to_string(),
            row: row.to_string(),
            column: column.to_string(),
            published: published.to_string(),
            measured: values[0],
            interval,
            note: note.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("; "),
        }
    }

    fn tables(&self) -> Vec<Figure> {
        let mut figures = Vec::new();
        let mut line = |table: &str, row: &str, case: &str, base: &str, published: [&str; 4], notes: [&str; 4]| {
            for (((metric, column), published), note) in METRICS.iter().zip(published).zip(notes) {
                figures.push(self.figure((table, row, column), published, Claim::None, note, |replication| {
                    replication.mean_gain(case, base, metric)
                }));
            }
        };
        let none = [""; 4];
        let table = "Table 2, improvement over EASY in percent";
        line(table, "Perfect", "sjbf/perfect", EASY, ["22", "47", "100", "176"], none);
        line(table, "Estimate", "sjbf/estimate", EASY, ["11", "22", "0", "0"], none);
        let cap = "capped by the estimate it is some 18 points higher; the paper does not say whether its RUH is";
        line(table, "RUH without propagation", RUH, EASY, ["18", "32", "40", "69"], ["", "", cap, ""]);
        line(table, "RUH with propagation", RUH_PROPAGATION, EASY, ["17", "32", "41", "71"], ["", "", cap, ""]);

        let unlimited = |criteria| sbh(criteria, "dfs", "all", "on");
        let (first, second) = (unlimited("PE/P/E/*"), unlimited("E/P/X"));
        let ruh = "our RUH is less accurate than the paper's, so that the gain in accuracy is larger";
        for (base, name) in [(RUH, ""), (RUH_PROPAGATION, ", over RUH with propagation")] {
            let table = "Table 4, improvement over RUH in percent";
            let notes = ["", "", ruh, ""];
            line(table, &format!("[PE,P,E,*]{name}"), &first, base, ["5", "4", "5", "2"], notes);
            line(table, &format!("[E,P,X]{name}"), &second, base, ["4", "8", "9", "3"], notes);
        }
        let limit = "likely from the late jobs, whose predictions grow tenfold, up to 100 h";
        for (base, name) in [(RUH, ""), (RUH_PROPAGATION, ", over RUH with propagation")] {
            let table = "Table 5, improvement over RUH in percent";
            line(table, &format!("Balanced{name}"), BALANCED, base, ["-5", "-4", "-13", "1"], ["", "", limit, ""]);
            line(table, &format!("Unbalanced{name}"), UNBALANCED, base, ["-8", "-11", "N/A", "1"], none);
        }
        let increments = "hangs on the increments after a miss, of which the paper says only that they are predefined";
        let table = "Table 6, improvement over EASY in percent";
        let notes = ["", "", increments, increments];
        line(table, "Constant 1 second", CONSTANT, EASY, ["16", "13", "41", "37"], notes);
        figures
    }

    fn claims(&self) -> Vec<Figure> {
        let mut figures = Vec::new();
        let mut claim =
            |row: &str, column: &str, published: &str, claim, note: &str, number: &dyn Fn(Replication<'_>) -> f64| {
                figures.push(self.figure(("text, in percent", row, column), published, claim, note, number));
            };
        let unlimited = |criteria| sbh(criteria, "dfs", "all", "on");
        let best = unlimited("PE/P/E/*");
        let more_accurate = unlimited("E/P/X");
        let positive = Claim::Gain;
        claim("SBH [PE,P,E,*] over EASY", "wait time", "24", positive, "", &|r| r.mean_gain(&best, EASY, &WAIT_MEAN));
        for (case, name) in [(&best, "[PE,P,E,*]"), (&more_accurate, "[E,P,X]")] {
            let row = format!("SBH {name} over EASY");
            claim(&row, "absolute inaccuracy", "47-53", positive, "", &|r| r.mean_gain(case, EASY, &AI_MEAN));
        }

        // With one criterion the two searches are one.
        let dfs = pairs(|criteria, search, sessions, propagate| {
            let both = criteria.contains('/') && search == "dfs";
            both.then(|| (sbh(criteria, "dfs", sessions, propagate), sbh(criteria, "bfs", sessions, propagate)))
        });
        let cases = "of the cases with more than one criterion";
        claim("DFS better than BFS", "share of cases", ">90", Claim::Above(90.0), cases, &|r| {
            share_above_zero(&r.gains(&dfs, &WAIT_MEAN))
        });
        claim("DFS over BFS", "wait time", "5", positive, "", &|r| mean(r.gains(&dfs, &WAIT_MEAN)));
        claim("DFS over BFS", "absolute inaccuracy", "17", positive, "", &|r| mean(r.gains(&dfs, &AI_MEAN)));

        let propagation = pairs(|criteria, search, sessions, propagate| {
            let on = propagate == "on";
            on.then(|| (sbh(criteria, search, sessions, "on"), sbh(criteria, search, sessions, "off")))
        });
        claim("propagation better", "share of cases", "75", Claim::Above(50.0), "judged as more than half", &|r| {
            share_above_zero(&r.gains(&propagation, &WAIT_MEAN))
        });
        claim("propagation", "wait time", "10", positive, "", &|r| mean(r.gains(&propagation, &WAIT_MEAN)));
        claim("propagation", "absolute inaccuracy", "6", positive, "", &|r| mean(r.gains(&propagation, &AI_MEAN)));

        for limit in ["10", "30"] {
            let limited = pairs(|criteria, search, sessions, propagate| {
                let one = sessions == limit;
                one.then(|| (sbh(criteria, search, limit, propagate), sbh(criteria, search, "all", propagate)))
            });
            let row = format!("at most {limit} sessions back");
            let published = if limit == "30" { "-3 - -2" } else { "<0" };
            claim(&row, "wait time", published, Claim::Below(0.0), "", &|r| mean(r.gains(&limited, &WAIT_MEAN)));
        }
        for criteria in ["*", "PEX/*"] {
            let case = unlimited(criteria);
            let row = format!("[{}] over RUH", criteria.replace('/', ","));
            claim(&row, "wait time", "<0", Claim::Below(0.0), "", &|r| r.mean_gain(&case, RUH, &WAIT_MEAN));
        }
        let logs = self.study.logs.len();
        let better =
            |r: Replication<'_>| (0..logs).filter(|&log| r.gain(log, UNBALANCED, BALANCED, &WAIT_MEAN) > 0.0).count();
        let of = format!("logs of {logs}, not percent");
        claim("unbalanced better than balanced", "logs", "3", Claim::None, &of, &|r| better(r) as f64);
        for think in ["5m", "1h", "4h"] {
            let case = format!("sjbf/sbh:think={think}");
            let row = format!("think time of {think} over 20m");
            let note = "no consistent effect is claimed";
            claim(&row, "wait time", "", Claim::None, note, &|r| r.mean_gain(&case, &best, &WAIT_MEAN));
        }
        for seconds in ["60", "600", "3600"] {
            let case = format!("sjbf/constant:seconds={seconds}");
            let row = format!("constant of {seconds} s over 1 s");
            claim(&row, "wait time", "<0", Claim::Below(0.0), "", &|r| r.mean_gain(&case, CONSTANT, &WAIT_MEAN));
        }
        claim("constant of 1 s over EASY", "jobs backfilled", "22", positive, "", &|r| {
            r.mean_gain(CONSTANT, EASY, &BACKFILLED)
        });
        figures
    }

    /// The lines of Figures 3 to 5: pictures in the paper, so that there is nothing to compare with.
    fn figures_by_log(&self) -> Vec<Figure> {
        let mut figures = Vec::new();
        let mut add = |table: &str, row: &str, case: &str, metrics: &[(&Column, &str)]| {
            for (log, (found, _)) in self.study.logs.iter().enumerate() {
                for (metric, column) in metrics {
                    let unit = match metric.shown {
                        Shown::Duration => 60.0,
                        Shown::Fraction => 0.01,
                        _ => 1.0,
                    };
                    let row = format!("{}, {row}", found.name.short);
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

    /// Figure 2: how much of its estimate a job really ran, in bins of ten percent.
    fn accuracy_histogram(&self, workloads: &[Workload]) -> Vec<Figure> {
        let mut figures = Vec::new();
        for ((log, _), workload) in self.study.logs.iter().zip(workloads) {
            let mut bins = [0usize; 11];
            for job in &workload.jobs {
                let accuracy = job.runtime as f64 / job.submission.estimate as f64;
                bins[((accuracy * 10.0) as usize).min(10)] += 1;
            }
            for (bin, count) in bins.iter().enumerate() {
                let column =
                    if bin < 10 { format!("{}-{}%", bin * 10, bin * 10 + 10) } else { "100% and over".to_string() };
                figures.push(Figure {
                    table: "Figure 2, percent of the jobs by runtime / estimate".to_string(),
                    row: log.name.short.to_string(),
                    column,
                    published: String::new(),
                    measured: *count as f64 / workload.jobs.len() as f64 * 100.0,
                    interval: None,
                    note: "figure".to_string(),
                });
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
        let sessions = cases.iter().filter(|case| case.contains("criteria=")).count();
        assert_eq!(sessions, 7 * 4 * 2 * 2);
        let log = FoundLog { name: LOGS[2].0, file: "KTH.swf".into() };
        for case in &cases {
            cell(&log, 100, case, 3);
        }
        let command = cell(&log, 100, "easy/perfect inflate=2", 3).command();
        assert_eq!(
            command,
            "sim --trace KTH.swf --scheduler easy --predictor perfect --procs 100 --shake 30s --seed 3 --inflate 2 --format csv"
        );
    }

    #[test]
    fn pairs_differ_in_one_key() {
        let all = pairs(|criteria, search, sessions, propagate| {
            Some((sbh(criteria, search, sessions, propagate), String::new()))
        });
        assert_eq!(all.len(), 112);
    }
}
