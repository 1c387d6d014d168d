//! The report of a comparison: one log under one or several settings.

use maud::{Markup, html};

use super::axis::Axis;
use super::curves::{Curve, curves};
use super::data_table::{DataCell, DataTable};
use super::density::density;
use super::figure::{Figure, Mark};
use super::gantt::{GanttData, gantt};
use super::heat_map::heat_map;
use super::outside;
use super::page::{Fact, Page, Section};
use super::plot::{Frame, HEIGHT, WIDTH};
use super::scatter::scatter;
use super::svg::Ink;
use crate::metrics::columns::{BSLD_MEAN, WAIT_MEAN};
use crate::metrics::{Column, Distribution, LIFE_PARTS, Pictures, SeriesStep, SettingRuns, Users};
use crate::report::comparison::{ComparisonTable, caption};
use crate::report::{shown, signed_percent};
use crate::time::{Time, readable_duration};
use crate::trace::WideNumbers;

/// The most settings in charts, with the baseline: there are as many colours that can be told apart.
const MOST_SETTINGS: usize = Ink::SERIES;

/// Prediction lengths with fewer jobs than this are not drawn.
const FEW_JOBS: u64 = 10;

/// A setting with what charts show of it.
pub struct PicturedSetting<'a> {
    /// Its name.
    pub name: String,
    /// What charts show of its run.
    pub pictures: &'a Pictures,
    /// The figures of its users.
    pub users: &'a Users,
}

/// What the report of a comparison needs.
pub struct ComparisonReport<'a> {
    /// What was run.
    pub facts: Vec<Fact>,
    /// The figures of all settings.
    pub settings: &'a [SettingRuns],
    /// The options that all settings share.
    pub options: &'a str,
    /// The baseline, with which the others are compared. Without one they are compared with the first of them.
    pub baseline: Option<PicturedSetting<'a>>,
    /// All settings that are not the baseline.
    pub pictured: Vec<PicturedSetting<'a>>,
    /// The submission of the first job.
    pub first_submit: Time,
    /// The numbers of users that do not fit into 32 bits.
    pub wide: &'a WideNumbers,
    /// The Gantt chart.
    pub gantt: GanttData,
}

/// A setting with the number of its colour. 0 is that of the baseline.
type Numbered<'a> = (usize, &'a PicturedSetting<'a>);

impl ComparisonReport<'_> {
    /// The page.
    pub fn page(self) -> String {
        let table = ComparisonTable::of(self.settings);
        let title = caption(table.settings[0], self.options);
        let result = result_in_words(&table.settings);
        let shown: Vec<Numbered<'_>> = {
            let others = (1..).zip(&self.pictured);
            self.baseline.iter().map(|baseline| (0, baseline)).chain(others).take(MOST_SETTINGS).collect()
        };
        let left_out = self.pictured.len() + self.baseline.iter().len() - shown.len();
        let (reference, compared) = shown.split_first().expect("there is at least one setting");
        let mut sections = vec![
            Section { title: "The figures".to_string(), content: figures_table(&table) },
            section("Waits and slowdowns", left_out, waits(&shown)),
        ];
        if !compared.is_empty() {
            let changes = compared.iter().flat_map(|(_, setting)| self.changes(reference.1, setting)).collect();
            sections.push(section("Who gains, who pays", left_out, changes));
        }
        sections.push(section("Over time", left_out, over_time(&shown, self.first_submit)));
        sections.push(section("Predictions", left_out, predictions(&shown)));
        sections.push(section("Gantt chart", 0, vec![gantt(&self.gantt)]));
        let remark = remark(&table.settings);
        Page { title, result, remark, facts: self.facts, sections }.write()
    }

    /// The charts of a setting in comparison with another.
    fn changes(&self, base: &PicturedSetting<'_>, setting: &PicturedSetting<'_>) -> [Figure; 2] {
        let number = |code: i32| if code == -1 { "unknown".to_string() } else { self.wide.number(code).to_string() };
        let users = setting.users.against(base.users).collect();
        [
            heat_map(&setting.name, &setting.pictures.grid, &base.name, &base.pictures.grid),
            scatter(&setting.name, &base.name, users, number),
        ]
    }
}

/// A section of charts.
fn section(title: &str, left_out: usize, figures: Vec<Figure>) -> Section {
    let content = html! {
        @if left_out > 0 {
            p.note { "The charts show the first " (MOST_SETTINGS) " settings. The table above has all of them." }
        }
        div.figures { @for figure in &figures { (figure.markup()) } }
    };
    Section { title: title.to_string(), content }
}

fn figures_table(comparison: &ComparisonTable<'_>) -> Markup {
    let mut table = DataTable::new(1, &comparison.headings);
    for line in &comparison.lines {
        let cell = |(text, value): &(String, Option<f64>)| match value {
            Some(value) => DataCell::shown(text, *value),
            None => DataCell::text(text),
        };
        table.push(line.iter().map(cell));
    }
    html! {
        (table.markup())
        @for note in &comparison.notes { p.note { (note) } }
    }
}

/// What came out, in few sentences.
fn result_in_words(settings: &[&SettingRuns]) -> String {
    let name = |setting: &SettingRuns| {
        let label = setting.label();
        outside(&format!("{}/{}", label.scheduler, label.predictor))
    };
    let wait = |setting: &SettingRuns| setting.figure(&WAIT_MEAN).mean;
    let Some(best) = settings.iter().min_by(|a, b| wait(a).total_cmp(&wait(b))) else { return String::new() };
    let of_several = match settings.len() {
        1 => String::new(),
        count => format!("Of all {count}, {} has the shortest mean wait. ", name(best)),
    };
    let Some(base) = best.baseline() else {
        let slowdown = shown(BSLD_MEAN.shown, best.figure(&BSLD_MEAN).mean);
        let wait = readable_duration(wait(best));
        return format!(
            "{of_several}Under {} the mean wait is {wait}, and the mean bounded slowdown is {slowdown}.",
            name(best)
        );
    };
    let part = |what: &str, column: &Column| {
        let figure = |mean: f64| shown(column.shown, mean);
        let improvement = best.improvement(column).mean;
        let percent = if improvement.is_finite() { signed_percent(improvement) } else { "-".to_string() };
        let verdict = best.verdict(column).map(|verdict| format!(", {}", verdict.name())).unwrap_or_default();
        format!(
            "the {what} is {} instead of {} ({percent}{verdict})",
            figure(best.figure(column).mean),
            figure(best.baseline_figure(column).mean)
        )
    };
    format!(
        "{of_several}Under {} {}, and {}, compared with {}.",
        name(best),
        part("mean wait", &WAIT_MEAN),
        part("mean bounded slowdown", &BSLD_MEAN),
        outside(base)
    )
}

/// How sure the result is.
fn remark(settings: &[&SettingRuns]) -> Markup {
    let first = settings[0];
    let sign = if first.baseline().is_some() { "Positive percentages are better. " } else { "" };
    html! {
        (sign)
        @match first.rows.len() {
            1 => {
                "This is one run on the log as it is. With " code.option { "--replications 10" }
                " the report has intervals, and says whether each difference is more than chance."
            },
            runs => { "These are means of " (runs) " runs." }
        }
    }
}

fn legend(shown: &[Numbered<'_>]) -> Vec<(Mark, String)> {
    shown.iter().map(|(number, setting)| (Mark::Line(*number), setting.name.clone())).collect()
}

/// A table with a first column, and a column for each setting.
fn table_of(first: &str, shown: &[Numbered<'_>]) -> DataTable {
    let names = shown.iter().map(|(_, setting)| setting.name.as_str());
    DataTable::new(1, [first].into_iter().chain(names))
}

fn waits(shown: &[Numbered<'_>]) -> Vec<Figure> {
    let waits: fn(&Pictures) -> &Distribution = |pictures| &pictures.waits;
    let slowdowns: fn(&Pictures) -> &Distribution = |pictures| &pictures.slowdowns;
    let longest = most(shown, waits);
    let ratio = |value: f64| if value < 1e6 { crate::text::grouped(value as u64) } else { format!("{value:.0e}") };
    vec![
        distribution(
            shown,
            waits,
            ("How long jobs wait", "wait", "jobs that wait at most this long"),
            Axis::durations(longest),
            readable_duration,
            "At each wait the share of jobs that wait at most so long: a curve further up is better. The left end is the \
             share of jobs that wait at most a second.",
        ),
        distribution(
            shown,
            slowdowns,
            ("How much jobs are slowed down", "bounded slowdown", "jobs with at most this slowdown"),
            Axis::numbers(1.0, most(shown, slowdowns), ratio),
            |value| format!("{value:.2}"),
            "At each bounded slowdown the share of jobs that have at most so much: a curve further up is better. 1 is a job \
             that did not wait.",
        ),
    ]
}

/// The largest limit of all settings.
fn most(shown: &[Numbered<'_>], of: fn(&Pictures) -> &Distribution) -> f64 {
    let last = |(_, setting): &Numbered<'_>| of(setting.pictures).shares().last().map_or(0.0, |(limit, _)| limit);
    shown.iter().map(last).fold(0.0, f64::max)
}

fn distribution(
    shown: &[Numbered<'_>],
    of: fn(&Pictures) -> &Distribution,
    (title, x_title, y_title): (&str, &str, &str),
    x: Axis,
    text: impl Fn(f64) -> String,
    caption: &str,
) -> Figure {
    let shares: Vec<Vec<(f64, f64)>> =
        shown.iter().map(|(_, setting)| of(setting.pictures).shares().collect()).collect();
    let curve = |((series, _), points): (&Numbered<'_>, &Vec<(f64, f64)>)| Curve {
        series: *series,
        points: points.iter().copied().filter(|(limit, _)| *limit >= 1.0).collect(),
        dots: false,
        band: Vec::new(),
    };
    let drawn: Vec<Curve> = shown.iter().zip(&shares).map(curve).collect();
    let frame =
        Frame { size: (WIDTH, HEIGHT), label: title, x, y: Axis::shares(), x_title, y_title, grid: (true, true) };
    let picture = curves(frame, &drawn);
    let mut data = table_of(&format!("{x_title} up to"), shown);
    let longest = shares.iter().max_by_key(|points| points.len()).cloned().unwrap_or_default();
    for (at, (limit, _)) in longest.into_iter().enumerate() {
        // A curve that has ended has all jobs.
        let share = |points: &Vec<(f64, f64)>| DataCell::share(points.get(at).map_or(1.0, |(_, share)| *share));
        data.push([DataCell::shown(text(limit), limit)].into_iter().chain(shares.iter().map(share)));
    }
    Figure { title: title.to_string(), legend: legend(shown), picture, caption: caption.to_string(), data, wide: false }
}

fn over_time(shown: &[Numbered<'_>], first_submit: Time) -> Vec<Figure> {
    let end = shown.iter().filter_map(|(_, setting)| setting.pictures.series.last()).map(|step| step.time).max();
    let end = (end.unwrap_or(first_submit) - first_submit) as f64;
    let chart = |title: &str,
                 y_title: &str,
                 y: Axis,
                 value: fn(&SeriesStep) -> f64,
                 cell: fn(f64) -> DataCell,
                 caption: &str| {
        let points = |setting: &PicturedSetting<'_>| -> Vec<(f64, f64)> {
            setting.pictures.series.iter().map(|step| ((step.time - first_submit) as f64, value(step))).collect()
        };
        let drawn: Vec<Curve> = shown
            .iter()
            .map(|(series, setting)| Curve { series: *series, points: points(setting), dots: false, band: Vec::new() })
            .collect();
        let frame = Frame {
            size: (WIDTH, HEIGHT),
            label: title,
            x: Axis::time(end),
            y,
            x_title: "time since the first submission",
            y_title,
            grid: (true, true),
        };
        let picture = curves(frame, &drawn);
        let mut data = table_of("time", shown);
        let longest = drawn.iter().map(|curve| &curve.points).max_by_key(|points| points.len());
        for (at, (time, _)) in longest.into_iter().flatten().enumerate() {
            let cells =
                drawn.iter().map(|curve| curve.points.get(at).map_or(DataCell::text("-"), |point| cell(point.1)));
            data.push([DataCell::shown(readable_duration(*time), *time)].into_iter().chain(cells));
        }
        let is_missing = shown.iter().any(|(_, setting)| setting.pictures.series.is_empty());
        let missing = if is_missing { " A run that takes too long for a chart is missing." } else { "" };
        let caption = format!("{caption}{missing}");
        Figure { title: title.to_string(), legend: legend(shown), picture, caption, data, wide: false }
    };
    let longest = shown.iter().flat_map(|(_, setting)| &setting.pictures.series).map(|step| step.waiting).max();
    vec![
        chart(
            "Jobs in the queue",
            "waiting jobs",
            Axis::counts(longest.unwrap_or(0) as f64),
            |step| step.waiting as f64,
            |count| DataCell::count(count as u64),
            "The number of jobs that wait. Where one curve is below the other, jobs pass faster.",
        ),
        chart(
            "Utilization",
            "processors in use",
            Axis::shares(),
            |step| step.utilization,
            DataCell::share,
            "The share of the machine that is used, as the mean of each step of time.",
        ),
    ]
}

fn predictions(shown: &[Numbered<'_>]) -> Vec<Figure> {
    let mut figures = vec![life(shown), kept(shown)];
    figures.extend(shown.iter().map(|(_, setting)| density(&setting.name, &setting.pictures.accuracy)));
    figures
}

fn life(shown: &[Numbered<'_>]) -> Figure {
    let middle = |part: usize| (part as f64 + 0.5) / LIFE_PARTS as f64;
    let drawn: Vec<Curve> = shown
        .iter()
        .map(|(series, setting)| {
            let points = setting.pictures.life.iter().enumerate().map(|(part, ra)| (middle(part), *ra));
            Curve { series: *series, points: points.collect(), dots: false, band: Vec::new() }
        })
        .collect();
    let frame = Frame {
        size: (WIDTH, HEIGHT),
        label: "Mean relative accuracy by the share of the job's life that has passed",
        x: Axis::shares(),
        y: Axis::shares(),
        x_title: "share of the job's life that has passed",
        y_title: "mean relative accuracy (RA)",
        grid: (true, true),
    };
    let picture = curves(frame, &drawn);
    let mut data = table_of("share of the life", shown);
    for part in 0..LIFE_PARTS {
        let percent = |part: usize| 100 * part / LIFE_PARTS;
        let name = format!("{}% to {}%", percent(part), percent(part + 1));
        let cells = drawn
            .iter()
            .map(|curve| curve.points.get(part).map_or(DataCell::text("-"), |point| DataCell::share(point.1)));
        data.push([DataCell::text(name)].into_iter().chain(cells));
    }
    Figure {
        title: "Accuracy during the life of a job".to_string(),
        legend: legend(shown),
        picture,
        caption:
            "A life lasts from submission to end. RA is the smaller of prediction and runtime over the larger; 100% is \
                  exact. Curves that rise are of predictors that learn while jobs wait and run."
                .to_string(),
        data,
        wide: false,
    }
}

fn kept(shown: &[Numbered<'_>]) -> Figure {
    let longest = |(_, setting): &Numbered<'_>| {
        let accuracy = &setting.pictures.accuracy;
        accuracy.lengths.iter().rposition(|length| length.jobs > 0).map_or(1.0, |at| accuracy.limits[at])
    };
    let most = shown.iter().map(longest).fold(0.0, f64::max);
    let drawn: Vec<Curve> = shown
        .iter()
        .map(|(series, setting)| {
            let accuracy = &setting.pictures.accuracy;
            let all = accuracy.limits.iter().zip(&accuracy.lengths).filter(|(_, length)| length.jobs >= FEW_JOBS);
            let points = all.map(|(limit, length)| (*limit, length.kept as f64 / length.jobs as f64)).collect();
            Curve { series: *series, points, dots: true, band: Vec::new() }
        })
        .collect();
    let frame = Frame {
        size: (WIDTH, HEIGHT),
        label: "Share of jobs that end by their prediction, by its length",
        x: Axis::durations(most),
        y: Axis::shares(),
        x_title: "predicted at arrival",
        y_title: "jobs that end by their prediction",
        grid: (true, true),
    };
    let picture = curves(frame, &drawn);
    let names = shown
        .iter()
        .flat_map(|(_, setting)| [format!("{}, jobs", setting.name), format!("{}, end by it", setting.name)]);
    let mut data = DataTable::new(1, ["predicted up to".to_string()].into_iter().chain(names));
    let limits = shown.first().map(|(_, setting)| setting.pictures.accuracy.limits.clone()).unwrap_or_default();
    for (at, limit) in limits.into_iter().enumerate().filter(|(_, limit)| *limit <= most) {
        let cells = shown.iter().flat_map(|(_, setting)| {
            let length = setting.pictures.accuracy.lengths[at];
            [DataCell::count(length.jobs), DataCell::share(length.kept as f64 / length.jobs as f64)]
        });
        data.push([DataCell::shown(readable_duration(limit), limit)].into_iter().chain(cells));
    }
    Figure {
        title: "Predictions that were long enough".to_string(),
        legend: legend(shown),
        picture,
        caption: format!(
            "The share of jobs that do not run longer than predicted at arrival, by the length of the prediction. A job that \
             runs longer gets a new prediction. Lengths with fewer than {FEW_JOBS} jobs are in the data only."
        ),
        data,
        wide: false,
    }
}
