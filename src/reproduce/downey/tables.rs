//! What Downey's report has published, each with the number of ours that belongs beside it.

use super::runs::{COLUMNS, DowneyRun, VariantKind, VariantRuns, median};
use crate::malleable::LIFETIMES;
use crate::reproduce::figure::Figure;

const TABLE_1: &str = "Table 1: rebels who choose alone";
const TABLE_2: &str = "Table 2: everybody chooses";
const FIGURE_5: &str = "Figure 5: predicted and actual queue times";
const TEXT: &str = "text";
const OPEN: &str = "What the paper leaves open";
const LOADS: &str = "Future work: other loads";
const SIZES: &str = "Future work: other sizes";
const APPLICATIONS: &str = "Future work: other applications";
const INFORMATION: &str = "Future work: better information";

/// Why the published number of jobs a day is not ours.
const ROUGH: &str = "the paper's own definition of load gives ours, and so does its number of jobs in 120 days";
/// What was tried to find the cause of the cost of BIAS to the system.
const BIAS_COST: &str = "9% to 22% also with ages=literal, life=fitted, fit=online, days=one, a=up, predictor a, b or exact, \
                         1 or 4 benefactors, the line of the application's view, or the line that the paper prints";

/// A number of a strategy: the column of a table, and how a run gives it.
type StrategyNumber = (&'static str, fn(&DowneyRun, &str) -> f64);

const REBELS: StrategyNumber = ("rebels in 120 days", |run, strategy| run.alone(strategy).rebels as f64);
const REBELS_PCT: StrategyNumber = ("rebels, % of all", |run, strategy| run.alone(strategy).rebels_pct());
const SAVED: StrategyNumber = ("saved per job, minutes", |run, strategy| run.alone(strategy).saved_mean / 60.0);
const LOSERS_PCT: StrategyNumber = ("rebels who lose, %", |run, strategy| run.alone(strategy).losers_pct());
const UTILIZATION: StrategyNumber = ("change of utilization, %", DowneyRun::utilization_change);
const TURNAROUND: StrategyNumber = ("turnaround, s", |run, strategy| run.system(strategy).turnaround_mean);
const CHANGE: StrategyNumber = ("change of turnaround, %", DowneyRun::turnaround_change);
const CORRELATION: StrategyNumber = ("correlation", |run, strategy| run.alone(strategy).correlation);
/// The line through predicted and actual queue times.
const LINE: [StrategyNumber; 3] = [
    CORRELATION,
    ("slope", |run, strategy| run.alone(strategy).slope),
    ("intercept", |run, strategy| run.alone(strategy).intercept),
];
/// A strategy in five numbers.
const IN_SHORT: [StrategyNumber; 5] = [REBELS_PCT, SAVED, LOSERS_PCT, UTILIZATION, CHANGE];

/// Rows of Table 1.
const TABLE_1_ROWS: [(&str, [&str; 4]); 4] = [
    ("opt", ["4244", "14", "13.8", "0"]),
    ("pred", ["2388", "8", "12.8", "8"]),
    ("bias", ["3089", "10", "13.5", "8"]),
    ("heur", ["11158", "37", "12.8", "68"]),
];

/// Rows of Table 2.
const TABLE_2_ROWS: [(&str, [&str; 3]); 5] = [
    ("avg", ["", "4795", ""]),
    ("opt", ["0.1", "5236", "9"]),
    ("pred", ["2.4", "4652", "-3"]),
    ("bias", ["1.0", "5048", "5"]),
    ("heur", ["-5", "6555", "37"]),
];

/// Rows of Figure 5.
const FIGURE_5_ROWS: [(&str, [&str; 3]); 2] = [("pred", ["0.48", "0.6", "1.7"]), ("bias", ["0.59", "1.01", "-0.01"])];

/// A number of the text: its section, what it is, the published number and how a run gives it.
type TextNumber = (&'static str, &'static str, &'static str, fn(&DowneyRun) -> f64);

const TEXT_NUMBERS: [TextNumber; 8] = [
    ("section 5.2", "spoiled, %", "63", |run| share(run.alone("opt").spoiled, run.alone("opt").jobs)),
    ("section 5.2", "rebels of the others, OPT, %", "38", |run| {
        share(run.alone("opt").rebels, run.alone("opt").jobs - run.alone("opt").spoiled)
    }),
    ("section 5.2", "saved per rebel, OPT, median, minutes", "15", |run| run.alone("opt").saved_by_rebel_median / 60.0),
    ("section 5.2", "saved per rebel, OPT, mean, hours", "1.6", |run| run.alone("opt").saved_by_rebel / 3600.0),
    ("section 5.2", "duration of a job, median, minutes", "3", |run| run.alone("avg").runtime_median / 60.0),
    ("section 5.2", "duration of a job, mean, minutes", "78", |run| run.alone("avg").runtime_mean / 60.0),
    ("section 5.1", "turnaround if users insist on 40% of A, change, %", "24", |run| {
        run.turnaround_change("avg:min-share=0.4")
    }),
    ("section 5.5", "lifetimes of OPT's rebels over docile ones'", "8", |run| {
        run.alone("opt").rebel_lifetime / run.alone("opt").docile_lifetime
    }),
];

/// The same for the strategies that predict. They are, with the keys of a reading: PRED, BIAS, BIAS with lock-in, and with
/// lock-in and risk aversion.
type PredictionNumber = (&'static str, &'static str, &'static str, fn(&DowneyRun, [&str; 4]) -> f64);

const PREDICTION_NUMBERS: [PredictionNumber; 11] = [
    ("section 5.3", "saved per rebel, PRED, median, minutes", "55", |run, [pred, ..]| {
        run.alone(pred).saved_by_rebel_median / 60.0
    }),
    ("section 5.3", "saved per rebel, PRED, mean, hours", "2.7", |run, [pred, ..]| {
        run.alone(pred).saved_by_rebel / 3600.0
    }),
    ("section 5.3", "lost per loser, PRED, mean, minutes", "3.7", |run, [pred, ..]| {
        run.alone(pred).lost_by_loser / 60.0
    }),
    ("section 5.3", "PRED saves less than OPT by, %", "7", |run, [pred, ..]| short_of_opt(run, pred)),
    ("section 5.4", "BIAS saves less than OPT by, %", "2", |run, [_, bias, ..]| short_of_opt(run, bias)),
    ("section 6.1", "BIAS with lock-in, turnaround, s", "5011", |run, [_, _, locked, _]| TURNAROUND.1(run, locked)),
    ("section 6.1", "BIAS with lock-in, change from AVG, %", "4.5", |run, [_, _, locked, _]| {
        change(run, locked, "avg")
    }),
    ("section 6.1", "BIAS with lock-in, change from BIAS, %", "-0.7", |run, [_, bias, locked, _]| {
        change(run, locked, bias)
    }),
    ("section 6.1", "and risk aversion, turnaround, s", "4783", |run, [.., averse]| TURNAROUND.1(run, averse)),
    ("section 6.1", "and risk aversion, change from AVG, %", "-0.3", |run, [.., averse]| change(run, averse, "avg")),
    ("section 6.1", "and risk aversion, change from BIAS, %", "-5.2", |run, [_, bias, _, averse]| {
        change(run, averse, bias)
    }),
];

fn share(part: usize, of: usize) -> f64 {
    100.0 * part as f64 / of as f64
}

fn change(run: &DowneyRun, to: &str, from: &str) -> f64 {
    100.0 * (run.system(to).turnaround_mean / run.system(from).turnaround_mean - 1.0)
}

fn short_of_opt(run: &DowneyRun, strategy: &str) -> f64 {
    100.0 * (1.0 - run.alone(strategy).saved_mean / run.alone("opt").saved_mean)
}

/// Other readings of the two strategies that predict, as keys.
const READINGS: [(&str, &str); 6] = [
    ("pred", "ages=literal"),
    ("bias", "ages=literal"),
    ("pred", "life=fitted"),
    ("bias", "life=fitted"),
    ("bias", "fit=online"),
    ("pred", "predictor=exact"),
];

/// All figures, in the order of the paper.
pub fn tables(measured: &[VariantRuns]) -> Vec<Figure> {
    let of = |kind: VariantKind| measured.iter().filter(move |measured| measured.variant.kind == kind);
    let paper = of(VariantKind::Paper).next().expect("the paper's workload was run");
    let readings: Vec<&VariantRuns> = of(VariantKind::Reading).collect();
    let mut figures = table_1(paper, &readings);
    figures.extend(table_2(paper, &readings));
    figures.extend(figure_5(paper, &readings));
    figures.extend(text(paper));
    for (kind, rho, published) in [("load 0.5", 0.5, "160"), ("load 1.0", 1.0, "320")] {
        let at = of(VariantKind::Load).find(|measured| measured.variant.name == kind).expect("this load was run");
        let expected = rho * 128.0 * 43_200.0 / LIFETIMES.mean();
        let jobs = |run: &DowneyRun| run.alone("avg").jobs as f64 / f64::from(at.variant.workload.days);
        let figure = at.figure((TEXT, "section 4", &format!("jobs a day at {kind}")), published, jobs);
        figures.push(figure.noted(&format!("{expected:.0} are expected")).because(ROUGH));
    }
    figures.extend(open(paper));
    for (kind, table) in
        [(VariantKind::Load, LOADS), (VariantKind::Size, SIZES), (VariantKind::Applications, APPLICATIONS)]
    {
        figures.extend(of(kind).flat_map(|measured| elsewhere(table, measured)));
    }
    figures.extend(of(VariantKind::Information).flat_map(information));
    figures
}

/// These numbers of a strategy, as a row of a table. Numbers without a published one count as not published.
fn row(
    runs: &VariantRuns,
    (table, row): (&str, &str),
    strategy: &str,
    numbers: &[StrategyNumber],
    published: &[&str],
) -> Vec<Figure> {
    let published = published.iter().copied().chain(std::iter::repeat(""));
    let figure = |((column, of), published): (&StrategyNumber, &str)| {
        runs.figure((table, row, column), published, |run| of(run, strategy))
    };
    numbers.iter().zip(published).map(figure).collect()
}

/// The rows of a table as the paper has them, then in other readings: of the strategies, and of the workload. `make` makes
/// the figures of a row from the runs, the name of the row, the strategy that was run, and the place of its published
/// numbers.
fn with_readings<const N: usize>(
    rows: &[(&str, [&'static str; N])],
    paper: &VariantRuns,
    readings: &[&VariantRuns],
    make: impl Fn(&VariantRuns, &str, &str, &(&str, [&'static str; N])) -> Vec<Figure>,
) -> Vec<Figure> {
    let upper = str::to_uppercase;
    let mut figures: Vec<Figure> = rows.iter().flat_map(|row| make(paper, &upper(row.0), row.0, row)).collect();
    let mut others = Vec::new();
    for (strategy, key) in READINGS {
        let row = rows.iter().find(|row| row.0 == strategy).expect("the paper has this strategy");
        others.extend(make(paper, &format!("{}, {key}", upper(strategy)), &format!("{strategy}:{key}"), row));
    }
    for reading in readings {
        let of_row =
            |row: &(&str, _)| make(reading, &format!("{}, {}", upper(row.0), reading.variant.name), row.0, row);
        others.extend(rows.iter().flat_map(of_row));
    }
    figures.extend(others.into_iter().map(|figure| figure.reading(true)));
    figures
}

fn table_1(paper: &VariantRuns, readings: &[&VariantRuns]) -> Vec<Figure> {
    with_readings(&TABLE_1_ROWS, paper, readings, |runs, name, strategy, (_, published)| {
        let mut figures = vec![runs.count((TABLE_1, name, REBELS.0), published[0], |run| REBELS.1(run, strategy))];
        figures.extend(row(runs, (TABLE_1, name), strategy, &[REBELS_PCT, SAVED, LOSERS_PCT], &published[1..]));
        figures
    })
}

fn table_2(paper: &VariantRuns, readings: &[&VariantRuns]) -> Vec<Figure> {
    with_readings(&TABLE_2_ROWS, paper, readings, |runs, name, strategy, (of_paper, published)| {
        if strategy == "avg" {
            return row(runs, (TABLE_2, name), strategy, &[TURNAROUND], &published[1..]);
        }
        let mut figures = row(runs, (TABLE_2, name), strategy, &[UTILIZATION, TURNAROUND, CHANGE], published);
        if *of_paper == "bias" {
            figures[2].note = BIAS_COST.to_string();
        }
        figures
    })
}

fn figure_5(paper: &VariantRuns, readings: &[&VariantRuns]) -> Vec<Figure> {
    let name = |strategy: &str| if strategy == "pred" { "a) PRED" } else { "b) BIAS" };
    let mut figures = with_readings(&FIGURE_5_ROWS, paper, readings, |runs, full, strategy, (of_paper, published)| {
        let reading = full.split_once(", ").map_or(String::new(), |(_, key)| format!(", {key}"));
        row(runs, (FIGURE_5, &format!("{}{reading}", name(of_paper))), strategy, &LINE, published)
    });
    for (at, (strategy, _)) in FIGURE_5_ROWS.iter().enumerate() {
        for (column, (range, _)) in COLUMNS.iter().enumerate() {
            // The broken and the solid line of the figure, over the white one.
            let of = |run: &DowneyRun| run.columns[at][column].clone();
            let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
            let medians = |run: &DowneyRun| 100.0 * libm::exp(median(&of(run)));
            let means = |run: &DowneyRun| 100.0 * libm::exp(mean(of(run)));
            let mut add = |what: &str, number: &dyn Fn(&DowneyRun) -> f64| {
                let column = format!("actual, % of predicted {range}, {what}");
                figures.push(paper.figure((FIGURE_5, name(strategy), &column), "", number).noted("figure"));
            };
            add("median", &medians);
            add("geometric mean", &means);
        }
    }
    figures
}

fn text(paper: &VariantRuns) -> Vec<Figure> {
    let jobs = paper.count((TEXT, "section 5.2", "jobs in 120 days"), "30421", |run| run.alone("avg").jobs as f64);
    let mut figures = vec![jobs.noted("30579 are expected, with a standard deviation of 175")];
    let number = |(section, column, published, of): TextNumber| paper.figure((TEXT, section, column), published, of);
    figures.extend(TEXT_NUMBERS.map(number));
    figures.extend(text_of_predictions(paper, "", ""));
    let literal = text_of_predictions(paper, "ages=literal", ", ages=literal");
    figures.extend(literal.into_iter().map(|figure| figure.reading(true)));
    figures
}

/// The figures of sections 5.3, 5.4 and 6.1, with another key if it is not empty, and what it adds to the names of rows.
fn text_of_predictions(paper: &VariantRuns, key: &str, reading: &str) -> Vec<Figure> {
    let specs = [("pred", ""), ("bias", ""), ("bias", "lock-in=on"), ("bias", "lock-in=on,risk=0.2")];
    let specs = specs.map(|(name, more)| {
        let keys: Vec<&str> = [key, more].into_iter().filter(|keys| !keys.is_empty()).collect();
        if keys.is_empty() { name.to_string() } else { format!("{name}:{}", keys.join(",")) }
    });
    let specs = specs.each_ref().map(String::as_str);
    let figure = |(section, column, published, of): PredictionNumber| {
        paper.figure((TEXT, &format!("{section}{reading}"), column), published, |run| of(run, specs))
    };
    PREDICTION_NUMBERS.map(figure).to_vec()
}

/// Another objective that the paper mentions (section 6.1), without figures.
fn open(paper: &VariantRuns) -> Vec<Figure> {
    let (opt, pred) = ("opt:cost=queue", "pred:cost=queue");
    let mut figures = row(paper, (OPEN, opt), opt, &IN_SHORT, &[]);
    figures.extend(row(paper, (OPEN, pred), pred, &IN_SHORT, &[]));
    figures.extend(row(paper, (OPEN, pred), pred, &LINE, &[]));
    noted(figures, "section 6.1: the queue time of all waiting jobs counts")
}

fn noted(figures: Vec<Figure>, note: &str) -> Vec<Figure> {
    figures.into_iter().map(|figure| figure.noted(note)).collect()
}

/// Both tables on another workload.
fn elsewhere(table: &str, runs: &VariantRuns) -> Vec<Figure> {
    let name = |strategy: &str| format!("{}, {}", runs.variant.name, strategy.to_uppercase());
    let mut figures = row(runs, (table, &name("avg")), "avg", &[TURNAROUND], &[]);
    for strategy in ["opt", "pred", "bias", "heur"] {
        figures.extend(row(runs, (table, &name(strategy)), strategy, &IN_SHORT, &[]));
    }
    figures
}

/// Users state the class of the run time of each job: one of 2, 5, 10 or 100 classes.
fn information(runs: &VariantRuns) -> Vec<Figure> {
    let mut figures = Vec::new();
    for classes in [2, 5, 10, 100] {
        for name in ["pred", "bias"] {
            let strategy = format!("{name}:classes={classes}");
            figures.extend(row(runs, (INFORMATION, &strategy), &strategy, &[CORRELATION], &[]));
            figures.extend(row(runs, (INFORMATION, &strategy), &strategy, &IN_SHORT, &[]));
        }
    }
    noted(figures, "of so many classes of run times that of each job is known")
}
