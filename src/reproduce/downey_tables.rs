//! What Downey's report has published, each with the number of ours that belongs beside it.

use super::downey::{COLUMNS, DowneyRun, VariantKind, VariantRuns, median};
use super::figure::Figure;
use crate::malleable::LIFETIMES;

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

/// Rows of Table 1: rebels, percent of all, minutes saved per job, percent of rebels who lose.
const REBELS: [(&str, [&str; 4]); 4] = [
    ("opt", ["4244", "14", "13.8", "0"]),
    ("pred", ["2388", "8", "12.8", "8"]),
    ("bias", ["3089", "10", "13.5", "8"]),
    ("heur", ["11158", "37", "12.8", "68"]),
];

/// Rows of Table 2: change of utilization in percent, turnaround in seconds and its change in percent.
const SYSTEM: [(&str, [&str; 3]); 5] = [
    ("avg", ["", "4795", ""]),
    ("opt", ["0.1", "5236", "9"]),
    ("pred", ["2.4", "4652", "-3"]),
    ("bias", ["1.0", "5048", "5"]),
    ("heur", ["-5", "6555", "37"]),
];

/// Rows of Figure 5: correlation, slope and intercept.
const LINES: [(&str, &str, [&str; 3]); 2] =
    [("a) PRED", "pred", ["0.48", "0.6", "1.7"]), ("b) BIAS", "bias", ["0.59", "1.01", "-0.01"])];

/// Other readings of the two strategies that predict, as keys.
const READINGS: [(&str, &str); 6] = [
    ("pred", "ages=literal"),
    ("bias", "ages=literal"),
    ("pred", "life=fitted"),
    ("bias", "life=fitted"),
    ("bias", "fit=online"),
    ("pred", "predictor=exact"),
];

/// A number of the line through predicted and actual queue times under a strategy.
type LineFigure = (&'static str, fn(&DowneyRun, &str) -> f64);
const THE_LINE: [LineFigure; 3] = [
    ("correlation", |run, strategy| run.alone(strategy).correlation),
    ("slope", |run, strategy| run.alone(strategy).slope),
    ("intercept", |run, strategy| run.alone(strategy).intercept),
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

/// The rows of a table as the paper has them, then in other readings: of the strategies, and of the workload. `row` makes
/// the figures of a row from the runs, the name of the row, the strategy whose published numbers these are, and the
/// strategy that was run.
fn with_readings(
    strategies: &[&str],
    paper: &VariantRuns,
    readings: &[&VariantRuns],
    row: impl Fn(&VariantRuns, &str, &str, &str) -> Vec<Figure>,
) -> Vec<Figure> {
    let upper = str::to_uppercase;
    let mut figures: Vec<Figure> =
        strategies.iter().flat_map(|strategy| row(paper, &upper(strategy), strategy, strategy)).collect();
    let mut others = Vec::new();
    for (strategy, key) in READINGS {
        others.extend(row(paper, &format!("{}, {key}", upper(strategy)), strategy, &format!("{strategy}:{key}")));
    }
    for reading in readings {
        for strategy in strategies {
            let name = format!("{}, {}", upper(strategy), reading.variant.name);
            others.extend(row(reading, &name, strategy, strategy));
        }
    }
    figures.extend(others.into_iter().map(|figure| figure.reading(true)));
    figures
}

fn table_1(paper: &VariantRuns, readings: &[&VariantRuns]) -> Vec<Figure> {
    with_readings(&REBELS.map(|(strategy, _)| strategy), paper, readings, |measured, name, published, strategy| {
        let [rebels, of_all, saved, losers] = published_in(&REBELS, published);
        let figure = |column: &str, published: &str, number: &dyn Fn(&DowneyRun) -> f64| {
            measured.figure((TABLE_1, name, column), published, number)
        };
        vec![
            measured.count((TABLE_1, name, "rebels in 120 days"), rebels, |run| run.alone(strategy).rebels),
            figure("rebels, % of all", of_all, &|run| run.alone(strategy).rebels_pct()),
            figure("saved per job, minutes", saved, &|run| run.alone(strategy).saved_mean / 60.0),
            figure("rebels who lose, %", losers, &|run| run.alone(strategy).losers_pct()),
        ]
    })
}

fn table_2(paper: &VariantRuns, readings: &[&VariantRuns]) -> Vec<Figure> {
    with_readings(&SYSTEM.map(|(strategy, _)| strategy), paper, readings, |measured, name, published, strategy| {
        let [utilization, turnaround, change] = published_in(&SYSTEM, published);
        let figure = |column: &str, published: &str, number: &dyn Fn(&DowneyRun) -> f64| {
            measured.figure((TABLE_2, name, column), published, number)
        };
        let turnaround = figure("turnaround, s", turnaround, &|run| run.system(strategy).turnaround_mean);
        if strategy == "avg" {
            return vec![turnaround];
        }
        let note = if published == "bias" { BIAS_COST } else { "" };
        vec![
            figure("change of utilization, %", utilization, &|run| run.utilization_change(strategy)),
            turnaround,
            figure("change of turnaround, %", change, &|run| run.turnaround_change(strategy)).noted(note),
        ]
    })
}

/// The published numbers of a strategy.
fn published_in<const N: usize>(rows: &[(&str, [&'static str; N])], strategy: &str) -> [&'static str; N] {
    rows.iter().find(|(name, _)| *name == strategy).expect("the paper has this strategy").1
}

fn figure_5(paper: &VariantRuns, readings: &[&VariantRuns]) -> Vec<Figure> {
    let mut figures = with_readings(&["pred", "bias"], paper, readings, |measured, name, published, strategy| {
        let (row, _, numbers) = LINES.iter().find(|line| line.1 == published).expect("the paper has this line");
        let row = match name.split_once(", ") {
            None => (*row).to_string(),
            Some((_, key)) => format!("{row}, {key}"),
        };
        let line = THE_LINE.iter().zip(numbers).map(|((column, number), published)| {
            measured.figure((FIGURE_5, &row, column), published, |run| number(run, strategy))
        });
        line.collect()
    });
    for (at, (row, ..)) in LINES.iter().enumerate() {
        for (column, (name, _)) in COLUMNS.iter().enumerate() {
            // The broken and the solid line of the figure, over the white one.
            let of = |run: &DowneyRun| run.columns[at][column].clone();
            let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
            let column = |what: &str| format!("actual, % of predicted {name}, {what}");
            let medians = |run: &DowneyRun| 100.0 * libm::exp(median(&of(run)));
            figures.push(paper.figure((FIGURE_5, row, &column("median")), "", medians).noted("figure"));
            let means = |run: &DowneyRun| 100.0 * libm::exp(mean(of(run)));
            figures.push(paper.figure((FIGURE_5, row, &column("geometric mean")), "", means).noted("figure"));
        }
    }
    figures
}

fn text(paper: &VariantRuns) -> Vec<Figure> {
    let figure = |row: &str, column: &str, published: &str, number: &dyn Fn(&DowneyRun) -> f64| {
        paper.figure((TEXT, row, column), published, number)
    };
    let minutes = |seconds: f64| seconds / 60.0;
    let hours = |seconds: f64| seconds / 3600.0;
    let mut figures = vec![
        paper
            .count((TEXT, "section 5.2", "jobs in 120 days"), "30421", |run| run.alone("avg").jobs)
            .noted("30579 are expected, with a standard deviation of 175"),
        figure("section 5.2", "spoiled, %", "63", &|run| {
            100.0 * run.alone("opt").spoiled as f64 / run.alone("opt").jobs as f64
        }),
        figure("section 5.2", "rebels of the others, OPT, %", "38", &|run| {
            100.0 * run.alone("opt").rebels as f64 / (run.alone("opt").jobs - run.alone("opt").spoiled) as f64
        }),
        figure("section 5.2", "saved per rebel, OPT, median, minutes", "15", &|run| {
            minutes(run.alone("opt").saved_by_rebel_median)
        }),
        figure("section 5.2", "saved per rebel, OPT, mean, hours", "1.6", &|run| {
            hours(run.alone("opt").saved_by_rebel)
        }),
        figure("section 5.2", "duration of a job, median, minutes", "3", &|run| {
            minutes(run.alone("avg").runtime_median)
        }),
        figure("section 5.2", "duration of a job, mean, minutes", "78", &|run| minutes(run.alone("avg").runtime_mean)),
        figure("section 5.1", "turnaround if users insist on 40% of A, change, %", "24", &|run| {
            run.turnaround_change("avg:min-share=0.4")
        }),
        figure("section 5.5", "lifetimes of OPT's rebels over docile ones'", "8", &|run| {
            run.alone("opt").rebel_lifetime / run.alone("opt").docile_lifetime
        }),
    ];
    figures.extend(text_of_predictions(paper, None));
    figures.extend(text_of_predictions(paper, Some("ages=literal")).into_iter().map(|figure| figure.reading(true)));
    figures
}

/// The figures of sections 5.3, 5.4 and 6.1, in the default reading or with another key.
fn text_of_predictions(paper: &VariantRuns, key: Option<&str>) -> Vec<Figure> {
    let spec = |name: &str, more: &str| {
        let keys: Vec<&str> = key.into_iter().chain((!more.is_empty()).then_some(more)).collect();
        if keys.is_empty() { name.to_string() } else { format!("{name}:{}", keys.join(",")) }
    };
    let figure = |section: &str, column: &str, published: &str, number: &dyn Fn(&DowneyRun) -> f64| {
        let row = key.map_or(section.to_string(), |key| format!("{section}, {key}"));
        paper.figure((TEXT, &row, column), published, number)
    };
    let minutes = |seconds: f64| seconds / 60.0;
    let change = |run: &DowneyRun, to: &str, from: &str| {
        100.0 * (run.system(to).turnaround_mean / run.system(from).turnaround_mean - 1.0)
    };
    let (pred, bias) = (spec("pred", ""), spec("bias", ""));
    let (locked, averse) = (spec("bias", "lock-in=on"), spec("bias", "lock-in=on,risk=0.2"));
    vec![
        figure("section 5.3", "saved per rebel, PRED, median, minutes", "55", &|run| {
            minutes(run.alone(&pred).saved_by_rebel_median)
        }),
        figure("section 5.3", "saved per rebel, PRED, mean, hours", "2.7", &|run| {
            run.alone(&pred).saved_by_rebel / 3600.0
        }),
        figure("section 5.3", "lost per loser, PRED, mean, minutes", "3.7", &|run| {
            minutes(run.alone(&pred).lost_by_loser)
        }),
        figure("section 5.3", "PRED saves less than OPT by, %", "7", &|run| short_of_opt(run, &pred)),
        figure("section 5.4", "BIAS saves less than OPT by, %", "2", &|run| short_of_opt(run, &bias)),
        figure("section 6.1", "BIAS with lock-in, turnaround, s", "5011", &|run| run.system(&locked).turnaround_mean),
        figure("section 6.1", "BIAS with lock-in, change from AVG, %", "4.5", &|run| change(run, &locked, "avg")),
        figure("section 6.1", "BIAS with lock-in, change from BIAS, %", "-0.7", &|run| change(run, &locked, &bias)),
        figure("section 6.1", "and risk aversion, turnaround, s", "4783", &|run| run.system(&averse).turnaround_mean),
        figure("section 6.1", "and risk aversion, change from AVG, %", "-0.3", &|run| change(run, &averse, "avg")),
        figure("section 6.1", "and risk aversion, change from BIAS, %", "-5.2", &|run| change(run, &averse, &bias)),
    ]
}

fn short_of_opt(run: &DowneyRun, strategy: &str) -> f64 {
    100.0 * (1.0 - run.alone(strategy).saved_mean / run.alone("opt").saved_mean)
}

/// Another objective that the paper mentions (section 6.1), without figures.
fn open(paper: &VariantRuns) -> Vec<Figure> {
    let note = "section 6.1: the queue time of all waiting jobs counts";
    let mut figures = Vec::new();
    for strategy in ["opt:cost=queue", "pred:cost=queue"] {
        figures.extend(in_short(OPEN, strategy, strategy, paper, note));
    }
    let line = THE_LINE.iter().map(|(column, number)| {
        let strategy = "pred:cost=queue";
        paper.figure((OPEN, strategy, column), "", |run| number(run, strategy)).noted(note)
    });
    figures.extend(line);
    figures
}

/// A strategy in five numbers.
fn in_short(table: &str, row: &str, strategy: &str, measured: &VariantRuns, note: &str) -> Vec<Figure> {
    let figure = |column: &str, number: &dyn Fn(&DowneyRun) -> f64| {
        measured.figure((table, row, column), "", number).noted(note)
    };
    vec![
        figure("rebels, % of all", &|run| run.alone(strategy).rebels_pct()),
        figure("saved per job, minutes", &|run| run.alone(strategy).saved_mean / 60.0),
        figure("rebels who lose, %", &|run| run.alone(strategy).losers_pct()),
        figure("change of utilization, %", &|run| run.utilization_change(strategy)),
        figure("change of turnaround, %", &|run| run.turnaround_change(strategy)),
    ]
}

/// Both tables on another workload.
fn elsewhere(table: &str, measured: &VariantRuns) -> Vec<Figure> {
    let row = |strategy: &str| format!("{}, {}", measured.variant.name, strategy.to_uppercase());
    let mut figures =
        vec![measured.figure((table, &row("avg"), "turnaround, s"), "", |run| run.system("avg").turnaround_mean)];
    for strategy in ["opt", "pred", "bias", "heur"] {
        figures.extend(in_short(table, &row(strategy), strategy, measured, ""));
    }
    figures
}

/// Users who say in which of so many classes the run times of their jobs lie.
fn information(measured: &VariantRuns) -> Vec<Figure> {
    let mut figures = Vec::new();
    for classes in [2, 5, 10, 100] {
        for name in ["pred", "bias"] {
            let strategy = format!("{name}:classes={classes}");
            let note = "of so many classes of run times that of each job is known";
            let correlation = |run: &DowneyRun| run.alone(&strategy).correlation;
            figures.push(measured.figure((INFORMATION, &strategy, "correlation"), "", correlation).noted(note));
            figures.extend(in_short(INFORMATION, &strategy, &strategy, measured, note));
        }
    }
    figures
}
