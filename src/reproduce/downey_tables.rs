//! What Downey's report has published, each with the number of ours that belongs beside it.

use super::downey::{COLUMNS, Measured, Run, Setting, median};
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

const REBELLION: &str = "fewer rebel in the paper and gain more each; it does not say which lifetimes its predictors knew \
                         (see life=fitted) or how A is rounded (to the nearest whole number 9% would rebel under PRED)";
const FOLLOWS: &str = "fewer rebel in the paper, as under PRED";
const SAVED: &str = "every strategy saves about 7% less in the paper: its one workload, which may differ from another by half a \
                     minute (one standard deviation), or a detail it does not tell";
const LOSSES: &str = "most losses are of seconds, so that details decide who loses";
const DURATIONS: &str = "durations hang on how A is rounded, which the paper does not say: up, as here, comes nearest (to the \
                         nearest whole number AVG would have about 5400 s)";
const DAYS_END: &str = "it depends on when a day is taken to end, which the paper does not say";
const FITTED: &str = "with fitted lifetimes it is about 0.6 (see life=fitted)";

/// Rows of Table 1: rebels, percent of all, minutes saved per job, percent of rebels who lose.
const REBELS: [(&str, [&str; 4], &str); 4] = [
    ("opt", ["4244", "14", "13.8", "0"], ""),
    ("pred", ["2388", "8", "12.8", "8"], REBELLION),
    ("bias", ["3089", "10", "13.5", "8"], FOLLOWS),
    ("heur", ["11158", "37", "12.8", "68"], LOSSES),
];

/// Rows of Table 2: change of utilization in percent, turnaround in seconds and its change in percent.
const SYSTEM: [(&str, [&str; 3], &str); 5] = [
    ("avg", ["", "4795", ""], DURATIONS),
    ("opt", ["0.1", "5236", "9"], DURATIONS),
    ("pred", ["2.4", "4652", "-3"], REBELLION),
    ("bias", ["1.0", "5048", "5"], FOLLOWS),
    ("heur", ["-5", "6555", "37"], ""),
];

/// A number of the line through predicted and actual queue times under a strategy.
type LineFigure = (&'static str, fn(&Run, &str) -> f64);
const THE_LINE: [LineFigure; 3] = [
    ("correlation", |run, strategy| run.alone(strategy).correlation),
    ("slope", |run, strategy| run.alone(strategy).slope),
    ("intercept", |run, strategy| run.alone(strategy).intercept),
];

/// All figures, in the order of the paper.
pub fn tables(measured: &[Measured]) -> Vec<Figure> {
    let of = |kind: Setting| measured.iter().filter(move |measured| measured.variant.kind == kind);
    let paper = of(Setting::Paper).next().expect("the paper's workload was run");
    let mut figures = table_1(paper);
    figures.extend(table_2(paper));
    figures.extend(figure_5(paper));
    figures.extend(text(paper));
    for (kind, rho, published) in [("load 0.5", 0.5, "160"), ("load 1.0", 1.0, "320")] {
        let at = of(Setting::Load).find(|measured| measured.variant.name == kind).expect("this load was run");
        let expected = rho * 128.0 * 43_200.0 / LIFETIMES.mean();
        let note = format!("by the paper's own definition of load {expected:.0} are expected");
        let jobs = |run: &Run| run.alone("avg").jobs as f64 / f64::from(at.variant.workload.days);
        figures.push(at.figure((TEXT, "section 4", &format!("jobs a day at {kind}")), published, &note, jobs));
    }
    figures.extend(open(paper));
    for (kind, table) in [(Setting::Load, LOADS), (Setting::Size, SIZES), (Setting::Applications, APPLICATIONS)] {
        figures.extend(of(kind).flat_map(|measured| elsewhere(table, measured)));
    }
    figures.extend(of(Setting::Information).flat_map(information));
    figures
}

fn table_1(paper: &Measured) -> Vec<Figure> {
    let row = |(strategy, published, note): &(&'static str, [&'static str; 4], &'static str)| {
        let name = strategy.to_uppercase();
        let figure = |column: &str, published: &str, number: &dyn Fn(&Run) -> f64| {
            let note = if column.starts_with("saved") { SAVED } else { note };
            paper.figure((TABLE_1, &name, column), published, note, number)
        };
        vec![
            figure("rebels", published[0], &|run| run.alone(strategy).rebels as f64),
            figure("rebels, % of all", published[1], &|run| run.alone(strategy).rebels_pct()),
            figure("saved per job, minutes", published[2], &|run| run.alone(strategy).saved_mean / 60.0),
            figure("rebels who lose, %", published[3], &|run| run.alone(strategy).losers_pct()),
        ]
    };
    REBELS.iter().flat_map(row).collect()
}

fn table_2(paper: &Measured) -> Vec<Figure> {
    let row = |(strategy, published, note): &(&'static str, [&'static str; 3], &'static str)| {
        let name = strategy.to_uppercase();
        let figure = |column: &str, published: &str, number: &dyn Fn(&Run) -> f64| {
            let note = if column.contains("utilization") { DAYS_END } else { note };
            paper.figure((TABLE_2, &name, column), published, note, number)
        };
        let turnaround = figure("turnaround, s", published[1], &|run| run.system(strategy).turnaround_mean);
        match *strategy {
            "avg" => vec![turnaround],
            _ => vec![
                figure("change of utilization, %", published[0], &|run| run.utilization_change(strategy)),
                turnaround,
                figure("change of turnaround, %", published[2], &|run| run.turnaround_change(strategy)),
            ],
        }
    };
    SYSTEM.iter().flat_map(row).collect()
}

fn figure_5(paper: &Measured) -> Vec<Figure> {
    let mut figures = Vec::new();
    let lines = [
        ("a) PRED", "pred", ["0.48", "0.6", "1.7"], REBELLION),
        ("b) BIAS", "bias", ["0.59", "1.01", "-0.01"], FITTED),
    ];
    for (at, (row, strategy, published, note)) in lines.into_iter().enumerate() {
        for ((column, number), published) in THE_LINE.into_iter().zip(published) {
            figures.push(paper.figure((FIGURE_5, row, column), published, note, |run| number(run, strategy)));
        }
        for (column, (name, _)) in COLUMNS.iter().enumerate() {
            // The broken and the solid line of the figure, over the white one.
            let of = |run: &Run| run.columns[at][column].clone();
            let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
            let column = |what: &str| format!("actual, % of predicted {name}, {what}");
            let medians = |run: &Run| 100.0 * libm::exp(median(&of(run)));
            figures.push(paper.figure((FIGURE_5, row, &column("median")), "", "figure", medians));
            let means = |run: &Run| 100.0 * libm::exp(mean(of(run)));
            figures.push(paper.figure((FIGURE_5, row, &column("geometric mean")), "", "figure", means));
        }
    }
    figures
}

fn text(paper: &Measured) -> Vec<Figure> {
    let figure = |row: &str, column: &str, published: &str, note: &str, number: &dyn Fn(&Run) -> f64| {
        paper.figure((TEXT, row, column), published, note, number)
    };
    let minutes = |seconds: f64| seconds / 60.0;
    let hours = |seconds: f64| seconds / 3600.0;
    let change = |run: &Run, to: &str, from: &str| {
        100.0 * (run.system(to).turnaround_mean / run.system(from).turnaround_mean - 1.0)
    };
    let (locked, averse) = ("bias:lock-in=on", "bias:lock-in=on,risk=0.2");
    vec![
        figure(
            "section 5.2",
            "jobs in 120 days",
            "30421",
            "30579 are expected, with a standard deviation of 175",
            &|run| run.alone("avg").jobs as f64,
        ),
        figure("section 5.2", "spoiled, %", "63", "", &|run| {
            100.0 * run.alone("opt").spoiled as f64 / run.alone("opt").jobs as f64
        }),
        figure("section 5.2", "rebels of the others, OPT, %", "38", "", &|run| {
            100.0 * run.alone("opt").rebels as f64 / (run.alone("opt").jobs - run.alone("opt").spoiled) as f64
        }),
        figure("section 5.2", "saved per rebel, OPT, median, minutes", "15", SAVED, &|run| {
            minutes(run.alone("opt").saved_by_rebel_median)
        }),
        figure("section 5.2", "saved per rebel, OPT, mean, hours", "1.6", SAVED, &|run| {
            hours(run.alone("opt").saved_by_rebel)
        }),
        figure("section 5.2", "duration of a job, median, minutes", "3", "", &|run| {
            minutes(run.alone("avg").runtime_median)
        }),
        figure("section 5.2", "duration of a job, mean, minutes", "78", DURATIONS, &|run| {
            minutes(run.alone("avg").runtime_mean)
        }),
        figure("section 5.1", "turnaround if users insist on 40% of A, change, %", "24", "", &|run| {
            run.turnaround_change("avg:min-share=0.4")
        }),
        figure("section 5.3", "saved per rebel, PRED, median, minutes", "55", REBELLION, &|run| {
            minutes(run.alone("pred").saved_by_rebel_median)
        }),
        figure("section 5.3", "saved per rebel, PRED, mean, hours", "2.7", REBELLION, &|run| {
            hours(run.alone("pred").saved_by_rebel)
        }),
        figure("section 5.3", "lost per loser, PRED, mean, minutes", "3.7", "", &|run| {
            minutes(run.alone("pred").lost_by_loser)
        }),
        figure("section 5.3", "PRED saves less than OPT by, %", "7", REBELLION, &|run| short_of_opt(run, "pred")),
        figure("section 5.4", "BIAS saves less than OPT by, %", "2", "", &|run| short_of_opt(run, "bias")),
        figure("section 5.5", "lifetimes of OPT's rebels over docile ones'", "8", "", &|run| {
            run.alone("opt").rebel_lifetime / run.alone("opt").docile_lifetime
        }),
        figure("section 6.1", "BIAS with lock-in, turnaround, s", "5011", FOLLOWS, &|run| {
            run.system(locked).turnaround_mean
        }),
        figure("section 6.1", "BIAS with lock-in, change from AVG, %", "4.5", FOLLOWS, &|run| {
            change(run, locked, "avg")
        }),
        figure("section 6.1", "BIAS with lock-in, change from BIAS, %", "-0.7", "", &|run| change(run, locked, "bias")),
        figure("section 6.1", "and risk aversion, turnaround, s", "4783", FOLLOWS, &|run| {
            run.system(averse).turnaround_mean
        }),
        figure("section 6.1", "and risk aversion, change from AVG, %", "-0.3", FOLLOWS, &|run| {
            change(run, averse, "avg")
        }),
        figure(
            "section 6.1",
            "and risk aversion, change from BIAS, %",
            "-5.2",
            "fewer rebel in the paper, so that there is less to mend",
            &|run| change(run, averse, "bias"),
        ),
    ]
}

fn short_of_opt(run: &Run, strategy: &str) -> f64 {
    100.0 * (1.0 - run.alone(strategy).saved_mean / run.alone("opt").saved_mean)
}

/// Other readings of what the paper does not say, and other ways it mentions.
fn open(paper: &Measured) -> Vec<Figure> {
    let mut figures = Vec::new();
    let readings = [
        ("pred:life=fitted", "predictors know the distribution of run times, fitted every day"),
        ("bias:life=fitted", "the same"),
        ("bias:fit=online", "the line is that of the predictions so far"),
        ("pred:predictor=exact", "the median over all outcomes"),
        ("opt:cost=queue", "section 6.1: the queue time of all who wait counts"),
        ("pred:cost=queue", "the same"),
    ];
    for (strategy, note) in readings {
        figures.extend(in_short(OPEN, strategy, strategy, paper, note));
        if !strategy.starts_with("opt") {
            let line = |(column, number): LineFigure| {
                paper.figure((OPEN, strategy, column), "", note, |run| number(run, strategy))
            };
            figures.extend(THE_LINE.map(line));
        }
    }
    figures
}

/// A strategy in five numbers.
fn in_short(table: &str, row: &str, strategy: &str, measured: &Measured, note: &str) -> Vec<Figure> {
    let figure = |column: &str, number: &dyn Fn(&Run) -> f64| measured.figure((table, row, column), "", note, number);
    vec![
        figure("rebels, % of all", &|run| run.alone(strategy).rebels_pct()),
        figure("saved per job, minutes", &|run| run.alone(strategy).saved_mean / 60.0),
        figure("rebels who lose, %", &|run| run.alone(strategy).losers_pct()),
        figure("change of utilization, %", &|run| run.utilization_change(strategy)),
        figure("change of turnaround, %", &|run| run.turnaround_change(strategy)),
    ]
}

/// Both tables on another workload.
fn elsewhere(table: &str, measured: &Measured) -> Vec<Figure> {
    let row = |strategy: &str| format!("{}, {}", measured.variant.name, strategy.to_uppercase());
    let mut figures =
        vec![measured.figure((table, &row("avg"), "turnaround, s"), "", "", |run| run.system("avg").turnaround_mean)];
    for strategy in ["opt", "pred", "bias", "heur"] {
        figures.extend(in_short(table, &row(strategy), strategy, measured, ""));
    }
    figures
}

/// Users who say in which of so many classes the run times of their jobs lie.
fn information(measured: &Measured) -> Vec<Figure> {
    let mut figures = Vec::new();
    for classes in [2, 5, 10, 100] {
        for name in ["pred", "bias"] {
            let strategy = format!("{name}:classes={classes}");
            let note = "of so many classes of run times that of each job is known";
            let correlation = |run: &Run| run.alone(&strategy).correlation;
            figures.push(measured.figure((INFORMATION, &strategy, "correlation"), "", note, correlation));
            figures.extend(in_short(INFORMATION, &strategy, &strategy, measured, note));
        }
    }
    figures
}
