//! The figures of the study, from the rows of its runs.

use crate::experiment::{Setting, simulate};
use crate::metrics::columns::{AI_MEAN, BACKFILLED, BSLD_MEAN, RA_MEAN, WAIT_MEAN};
use crate::metrics::{Better, Column, RunRow, Shown};
use crate::reproduce::figure::{At, Figure};
use crate::reproduce::logs::FoundLog;
use crate::reproduce::study::StudyError;
use crate::trace::Workload;

use super::{
    ANY, BALANCED, BALANCED_50H, CONSTANT, EASY, LISTS, RUH, RUH_BY_ARRIVAL, RUH_CAPPED, RUH_PROPAGATION, SESSIONS,
    UNBALANCED, sbh,
};

/// The four metrics of the paper, with their names in its tables.
static METRICS: [(&Column, &str); 4] = [
    (&WAIT_MEAN, "wait time"),
    (&BSLD_MEAN, "bounded slowdown"),
    (&AI_MEAN, "absolute inaccuracy"),
    (&RA_MEAN, "relative accuracy"),
];

/// A row of a table: its name, and in what it reads the paper in another way. Empty readings do not count.
#[derive(Clone, Copy)]
struct PublishedRow<'a>(&'a str, &'a [&'a str]);

impl PublishedRow<'_> {
    fn name(self) -> String {
        let readings = self.1.iter().filter(|reading| !reading.is_empty());
        std::iter::once(&self.0).chain(readings).copied().collect::<Vec<_>>().join(", ")
    }

    fn is_other_reading(self) -> bool {
        self.1.iter().any(|reading| !reading.is_empty())
    }
}

/// The share of jobs for which the sessions of their users contain no matching job. Their prediction is 1 second.
pub fn unmatched(workloads: &[Workload]) -> Result<Figure, StudyError> {
    let setting = Setting::parse_pair(BALANCED).expect("a valid case");
    let mut shares = Vec::new();
    for workload in workloads {
        let record = simulate(workload, &setting, &mut |_| ())?;
        let count = record.outcomes.iter().filter(|outcome| outcome.prediction == 1).count();
        shares.push(count as f64 / workload.jobs.len() as f64 * 100.0);
    }
    let place = (TEXT, "jobs that no past job matches", "share of jobs");
    let note = "counts every job predicted to take 1 s, so it is an upper bound";
    Ok(Figure::new(place, "<1", mean(shares)).noted(note).percent())
}

/// The runs of the study.
pub struct TalbyRuns<'a> {
    pub logs: &'a [FoundLog],
    pub cases: &'a [String],
    /// Whether replications are resamples.
    pub are_years: bool,
    /// The rows of all runs, in the order of the study's grid.
    pub rows: &'a [RunRow],
}

/// One replication on all logs.
#[derive(Clone, Copy)]
struct ReplicationRows<'a> {
    study: &'a TalbyRuns<'a>,
    /// Of each log in turn, one row per case.
    rows: &'a [RunRow],
}

impl ReplicationRows<'_> {
    /// A metric of a run, rounded as it is printed, so that a reader who repeats the run alone computes the same figures.
    /// NaN if it is not defined.
    fn value(self, log: usize, case: &str, metric: &Column) -> f64 {
        let cases = self.study.cases;
        let case = cases.iter().position(|other| other == case).unwrap_or_else(|| panic!("no case {case}"));
        metric.cell(&self.rows[log * cases.len() + case]).printed().unwrap_or(f64::NAN)
    }

    /// The improvement of a case over a base case on one log, in percent.
    fn gain(self, log: usize, case: &str, base: &str, metric: &Column) -> f64 {
        let (value, base) = (self.value(log, case, metric), self.value(log, base, metric));
        // Only the number of backfilled jobs has no better direction. The paper counts more of them as a gain.
        metric.better.unwrap_or(Better::Higher).percent(base, value)
    }

    /// The unweighted mean of the improvements on all logs, in percent.
    fn mean_gain(self, case: &str, base: &str, metric: &Column) -> f64 {
        mean((0..self.study.logs.len()).map(|log| self.gain(log, case, base, metric)))
    }

    /// The improvements of many pairs (case, base case) on all logs, in percent.
    fn gains(self, pairs: &[(String, String)], metric: &Column) -> Vec<f64> {
        let logs = 0..self.study.logs.len();
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

impl TalbyRuns<'_> {
    /// A number of each replication, beside the published one.
    fn figure(&self, at: At<'_>, published: &str, number: impl Fn(ReplicationRows<'_>) -> f64) -> Figure {
        let replications = self.rows.chunks(self.logs.len() * self.cases.len());
        let values: Vec<f64> = replications.map(|rows| number(ReplicationRows { study: self, rows })).collect();
        Figure::of_runs(at, published, &values, self.are_years)
    }

    pub fn tables(&self) -> Vec<Figure> {
        let mut figures = Vec::new();
        // Adds a row of four figures. `reasons` explain why figures differ from the published ones.
        let mut add_row =
            |table: &str, row: PublishedRow<'_>, case: &str, base: &str, published: [&str; 4], reasons: [&str; 4]| {
                for (((metric, column), published), reason) in METRICS.iter().zip(published).zip(reasons) {
                    let number = |replication: ReplicationRows<'_>| replication.mean_gain(case, base, metric);
                    let figure = self.figure((table, &row.name(), column), published, number);
                    figures.push(figure.percent().because(reason).reading(row.is_other_reading()));
                }
            };
        let none = [""; 4];
        let table = "Table 2, improvement over EASY in percent";
        add_row(table, PublishedRow("Perfect", &[]), "sjbf/perfect", EASY, ["22", "47", "100", "176"], none);
        add_row(table, PublishedRow("Estimate", &[]), "sjbf/estimate", EASY, ["11", "22", "0", "0"], none);
        let ruh = ["18", "32", "40", "69"];
        add_row(table, PublishedRow("RUH without propagation", &[]), RUH, EASY, ruh, none);
        add_row(table, PublishedRow("RUH without propagation", &["order=arrival"]), RUH_BY_ARRIVAL, EASY, ruh, none);
        add_row(table, PublishedRow("RUH without propagation", &["cap=on"]), RUH_CAPPED, EASY, ruh, none);
        add_row(
            table,
            PublishedRow("RUH with propagation", &[]),
            RUH_PROPAGATION,
            EASY,
            ["17", "32", "41", "71"],
            none,
        );

        // The paper compares with "the best RUH configuration" and does not say which that is.
        let bases = [(RUH, ""), (RUH_PROPAGATION, "over RUH with propagation"), (RUH_CAPPED, "over RUH with cap=on")];
        let follows = "follows from RUH, which is less accurate here than in the paper (Table 2)";
        for (base, over) in bases {
            let table = "Table 4, improvement over RUH in percent";
            let reasons = if base == RUH_CAPPED { none } else { ["", "", follows, follows] };
            for (propagate, how) in [("on", ""), ("ends", "propagate=ends")] {
                let unlimited = |criteria| sbh(criteria, "dfs", "all", propagate);
                let (first, second) = (unlimited("PE/P/E/*"), unlimited("E/P/X"));
                add_row(table, PublishedRow("[PE,P,E,*]", &[how, over]), &first, base, ["5", "4", "5", "2"], reasons);
                add_row(table, PublishedRow("[E,P,X]", &[how, over]), &second, base, ["4", "8", "9", "3"], reasons);
            }
        }
        for (base, over) in bases {
            let table = "Table 5, improvement over RUH in percent";
            let balanced = ["-5", "-4", "-13", "1"];
            add_row(table, PublishedRow("Balanced", &[over]), BALANCED, base, balanced, none);
            add_row(table, PublishedRow("Balanced", &["limit of 50 h", over]), BALANCED_50H, base, balanced, none);
            add_row(table, PublishedRow("Unbalanced", &[over]), UNBALANCED, base, ["-8", "-11", "N/A", "1"], none);
        }
        let table = "Table 6, improvement over EASY in percent";
        add_row(table, PublishedRow("Constant 1 second", &[]), CONSTANT, EASY, ["16", "13", "41", "37"], none);
        figures
    }

    pub fn claims(&self) -> Vec<Figure> {
        let mut figures = Vec::new();
        type ReplicationNumber<'a> = &'a dyn Fn(ReplicationRows<'_>) -> f64;
        let mut add = |row: PublishedRow<'_>,
                       column: &str,
                       published: &str,
                       is_gain: bool,
                       note: &str,
                       number: ReplicationNumber<'_>| {
            let figure = self.figure((TEXT, &row.name(), column), published, number).percent();
            let figure = if is_gain { figure.judged_as_gain() } else { figure.judged() };
            figures.push(figure.noted(note).reading(row.is_other_reading()));
        };
        // The published numbers are gains, other figures and bounds.
        let (gain, plain) = (true, false);
        let unlimited = |criteria| sbh(criteria, "dfs", "all", "on");
        let best = unlimited("PE/P/E/*");
        let more_accurate = unlimited("E/P/X");
        add(PublishedRow("SBH [PE,P,E,*] over EASY", &[]), "wait time", "24", gain, "", &|r| {
            r.mean_gain(&best, EASY, &WAIT_MEAN)
        });
        for (case, name) in [(&best, "[PE,P,E,*]"), (&more_accurate, "[E,P,X]")] {
            let row = format!("SBH {name} over EASY");
            add(PublishedRow(&row, &[]), "absolute inaccuracy", "47-53", gain, "", &|r| {
                r.mean_gain(case, EASY, &AI_MEAN)
            });
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
            dfs.len() * self.logs.len()
        );
        for (metric, column) in METRICS {
            let row = format!("DFS better than BFS by {column}");
            add(PublishedRow(&row, &[]), "share of cases", ">90", plain, &cases, &|r| {
                share_above_zero(&r.gains(&dfs, metric))
            });
        }
        add(PublishedRow("DFS over BFS", &[]), "wait time", "5", gain, &cases, &|r| mean(r.gains(&dfs, &WAIT_MEAN)));
        add(PublishedRow("DFS over BFS", &[]), "absolute inaccuracy", "17", gain, &cases, &|r| {
            mean(r.gains(&dfs, &AI_MEAN))
        });
        let row = PublishedRow("DFS over BFS", &["[PE,P,E,*] and [E,P,X] alone"]);
        add(row, "absolute inaccuracy", "17", gain, "", &|r| mean(r.gains(&best_two, &AI_MEAN)));

        for (propagate, reading) in [("on", ""), ("ends", "propagate=ends")] {
            let propagation = pairs(|list| {
                let mut pairs = Vec::new();
                for search in ["dfs", "bfs"] {
                    let of = |sessions| (sbh(list, search, sessions, propagate), sbh(list, search, sessions, "off"));
                    pairs.extend(SESSIONS.map(of));
                }
                pairs
            });
            let readings = [reading];
            add(PublishedRow("propagation better", &readings), "share of cases", "75", plain, "by wait time", &|r| {
                share_above_zero(&r.gains(&propagation, &WAIT_MEAN))
            });
            add(PublishedRow("propagation", &readings), "wait time", "10", gain, "", &|r| {
                mean(r.gains(&propagation, &WAIT_MEAN))
            });
            add(PublishedRow("propagation", &readings), "absolute inaccuracy", "6", gain, "", &|r| {
                mean(r.gains(&propagation, &AI_MEAN))
            });
        }

        // Only for DFS: BFS uses the newest session that has any match, so the limit has little effect on it.
        for limit in ["3", "10", "30"] {
            let limited = pairs(|list| {
                let of = |propagate| (sbh(list, "dfs", limit, propagate), sbh(list, "dfs", "all", propagate));
                ["on", "off"].map(of).to_vec()
            });
            let row = format!("DFS at most {limit} sessions back");
            let published = if limit == "30" { "-3 - -2" } else { "<0" };
            add(PublishedRow(&row, &[]), "wait time", published, plain, "", &|r| mean(r.gains(&limited, &WAIT_MEAN)));
        }
        for criteria in [ANY, "PEX/*"] {
            let case = unlimited(criteria);
            let row = format!("[{}] over RUH", criteria.replace('/', ","));
            add(PublishedRow(&row, &[]), "wait time", "<0", plain, "", &|r| r.mean_gain(&case, RUH, &WAIT_MEAN));
        }
        for think in ["5m", "1h", "4h"] {
            let case = format!("sjbf/sbh:think={think}");
            let row = format!("think time of {think} over 20m");
            let note = "the paper claims no consistent effect";
            add(PublishedRow(&row, &[]), "wait time", "", plain, note, &|r| r.mean_gain(&case, &best, &WAIT_MEAN));
        }
        for seconds in ["60", "600", "3600"] {
            let case = format!("sjbf/constant:seconds={seconds}");
            let row = format!("constant of {seconds} s over 1 s");
            add(PublishedRow(&row, &[]), "wait time", "<0", plain, "", &|r| r.mean_gain(&case, CONSTANT, &WAIT_MEAN));
        }
        add(PublishedRow("constant of 1 s over EASY", &[]), "jobs backfilled", "22", gain, "", &|r| {
            r.mean_gain(CONSTANT, EASY, &BACKFILLED)
        });
        figures
    }

    /// On how many logs unbalanced growth waits less than balanced growth.
    pub fn better_unbalanced(&self) -> Figure {
        let logs = self.logs.len();
        let better = |r: ReplicationRows<'_>| {
            (0..logs).filter(|&log| r.gain(log, UNBALANCED, BALANCED, &WAIT_MEAN) > 0.0).count()
        };
        let place = ("text, logs", "unbalanced better than balanced", "logs");
        let note = if logs < 4 { format!("of {logs} logs at hand; the paper has four") } else { String::new() };
        self.figure(place, "3", |r| better(r) as f64).noted(&note)
    }

    /// Figures 3 to 5. The paper prints no numbers for them, so there is nothing to compare with.
    pub fn figures_by_log(&self) -> Vec<Figure> {
        let mut figures = Vec::new();
        let mut add = |table: &str, row: &str, case: &str, metrics: &[(&Column, &str)]| {
            for (log, found) in self.logs.iter().enumerate() {
                for (metric, column) in metrics {
                    let unit = match metric.shown {
                        Shown::Duration => 60.0,
                        Shown::Fraction => 0.01,
                        _ => 1.0,
                    };
                    let row = format!("{}, {row}", found.log.name);
                    let figure = self.figure((table, &row, column), "", |r| r.value(log, case, metric) / unit);
                    figures.push(figure.noted("figure"));
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
}

/// Figure 2: a histogram of runtime divided by estimate, in bins of ten percent.
pub fn accuracy_histogram(logs: &[FoundLog], workloads: &[Workload]) -> Vec<Figure> {
    let mut figures = Vec::new();
    for (found, workload) in logs.iter().zip(workloads) {
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
            figures.push(Figure::new(place, "", share).noted("figure"));
        }
    }
    figures
}
