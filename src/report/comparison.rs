//! Writes one or several settings as a table, with their baseline if there is one: settings are columns, figures are lines.

use std::io::{self, Write};

use super::best::{best_of, figure_in_words, near_in_words};
use super::shown::{add_half_width, seeds_in_words, shown, signed_percent, with_share};
use super::table::Table;
use super::table_cell::{TableCell, Tone};
use super::wrap::{Width, write_paragraph, write_wrapped};
use crate::metrics::columns::{
    AI_MEAN, ANSWERED, AREA_LOSE, BACKFILLED, BSLD_MEAN, BSLD_P50, BSLD_P95, INSIDE_PCT, JAIN, JOBS_PER_DAY,
    LINKED_JOBS, LOST_CPU_HOURS, MAE, MAE_PCT, MAKESPAN, MISSES, PREEMPTED, RA_MEAN, SAVED_PER_NODE, SAVED_PER_PROC,
    THINK_MEAN, USERS_LOSE, UTILIZATION, UTILIZATION_OF, WAIT_MAX, WAIT_MEAN, WAIT_P50, WAIT_P95, WAIT_SAVED,
    WIDE_WAIT_MEAN,
};
use crate::metrics::{Column, Interval, Replicates, Shown, Spread, Verdict, When};
use crate::text::{counted, counted_as, joined_with_and, printable};
use shadowtime_core::tres::Resource;

/// How comparisons of runs are to be read in which users react.
pub const FEEDBACK_NOTE: &str = "Users react (--feedback): linked jobs arrive after the simulated ends of earlier jobs, so that jobs arrive at other times \
     in each run. Waits are those of the same jobs under different loads: compare jobs a day and the makespan too.";

/// The first lines of the table: caption and column.
static BEFORE: [(&str, &Column); 20] = [
    ("wait, mean", &WAIT_MEAN),
    ("  median", &WAIT_P50),
    ("  95% of jobs within", &WAIT_P95),
    ("  longest", &WAIT_MAX),
    ("  of the widest jobs", &WIDE_WAIT_MEAN),
    ("users who lose", &USERS_LOSE),
    ("  their share of the area", &AREA_LOSE),
    ("bounded slowdown, mean", &BSLD_MEAN),
    ("  median", &BSLD_P50),
    ("  95% of jobs within", &BSLD_P95),
    ("  fairness to users (Jain)", &JAIN),
    ("absolute inaccuracy (AI)", &AI_MEAN),
    ("relative accuracy (RA)", &RA_MEAN),
    ("error at start, mean", &MAE),
    ("  of the mean runtime", &MAE_PCT),
    ("  within its interval", &INSIDE_PCT),
    ("  with an interval", &ANSWERED),
    ("jobs backfilled", &BACKFILLED),
    ("missed deadlines", &MISSES),
    ("utilization", &UTILIZATION),
];

/// The last ones, behind those of what jobs were given of each resource.
static BEHIND: [(&str, &Column); 9] = [
    ("makespan", &MAKESPAN),
    ("hours of waiting saved", &WAIT_SAVED),
    ("  per node and day", &SAVED_PER_NODE),
    ("  per processor and day", &SAVED_PER_PROC),
    ("jobs a day", &JOBS_PER_DAY),
    ("linked jobs", &LINKED_JOBS),
    ("  think time, mean", &THINK_MEAN),
    ("preempted", &PREEMPTED),
    ("  CPU-hours lost", &LOST_CPU_HOURS),
];

/// The lines of the table.
fn figure_lines() -> impl Iterator<Item = (String, &'static Column)> {
    let given = |(kind, column): (Resource, _)| (format!("  {} given to jobs", kind.many()), column);
    let named = |(caption, column): (&str, _)| (caption.to_string(), column);
    let resources = Resource::OF_NODES.into_iter().zip(UTILIZATION_OF.iter()).map(given);
    BEFORE.into_iter().map(named).chain(resources).chain(BEHIND.into_iter().map(named))
}

/// The heading of a site that is compared with changes of it.
pub const AS_IT_IS: &str = "as it is";

/// The table of one or several settings, before it is written as text or as HTML.
pub(super) struct ComparisonTable<'a> {
    /// The settings that have columns of their own: of several, all but the one that is the baseline.
    pub settings: Vec<&'a Replicates<'a>>,
    pub headings: Vec<String>,
    /// For each line its cells, with the number if the cell is a figure.
    pub lines: Vec<Vec<(TableCell, Option<f64>)>>,
    /// How the table is to be read.
    pub notes: Vec<String>,
}

/// The name of what a setting is compared with. None without a baseline.
pub(super) fn base_name<'a>(setting: &Replicates<'a>) -> Option<&'a str> {
    setting.baseline().map(|base| if setting.is_change() { AS_IT_IS } else { base })
}

impl ComparisonTable<'_> {
    /// The columns of `settings`, with the figures of the baseline if there is one.
    pub fn of<'a>(settings: &'a [Replicates<'a>]) -> ComparisonTable<'a> {
        let settings: Vec<&Replicates<'_>> =
            settings.iter().filter(|setting| settings.len() == 1 || !setting.is_baseline()).collect();
        let first = settings[0];
        let baseline = first.baseline();
        let base_heading = base_name(first);
        let is_one = settings.len() == 1;
        let mut headings = vec![String::new()];
        if is_one && first.is_another_year() {
            headings.push("the log".to_string());
        }
        match (is_one, baseline) {
            (true, Some(base)) => {
                let base = base_heading.unwrap_or(base).to_string();
                headings.extend([first.name(), base, "improvement".to_string()]);
            }
            _ => {
                headings.extend(base_heading.map(str::to_string));
                headings.extend(settings.iter().map(|setting| setting.name()));
            }
        }
        let has_figure = |column: &Column| {
            let of_baseline = baseline.is_some() && first.base_mean(column).mean.is_finite();
            of_baseline || settings.iter().any(|setting| setting.mean(column).mean.is_finite())
        };
        let mut lines = Vec::new();
        for (caption, column) in figure_lines() {
            let is_optional = [INSIDE_PCT.name, ANSWERED.name].contains(&column.name) || column.when != When::Always;
            if is_optional && !has_figure(column) {
                continue;
            }
            let mut cells = vec![(caption.into(), None)];
            let with_value = |cell: TableCell, interval: Interval| {
                let value = Some(interval.mean).filter(|mean| mean.is_finite());
                (cell, value)
            };
            let base = baseline.map(|_| first.base_mean(column));
            let base = base.map(|interval| match column.needs_baseline() {
                true => (String::new().into(), None),
                false => with_value(base_figure(column, first, interval).into(), interval),
            });
            if is_one {
                let interval = first.mean(column);
                if first.is_another_year() {
                    let log = first.spread(column).map_or(f64::NAN, |spread| spread.log);
                    cells.push((plain_figure(column, first, log).into(), Some(log).filter(|log| log.is_finite())));
                }
                cells.push(with_value(figure(column, first, interval).into(), interval));
                cells.extend(base);
                let gain = improvement(column, first).map(|text| TableCell::new(text, tone(column, first)));
                cells.extend(gain.map(|cell| with_value(cell, first.improvement(column))));
            } else {
                cells.extend(base);
                let cell =
                    |setting: &&Replicates<'_>| with_value(with_improvement(column, setting), setting.mean(column));
                cells.extend(settings.iter().map(cell));
            }
            lines.push(cells);
        }
        let notes = notes(first);
        ComparisonTable { settings, headings, lines, notes }
    }
}

/// Writes a line for each figure. If there is a baseline, it also has the baseline's figure and the improvement, and with
/// replications the interval of each and a verdict. `options` are those that all settings and replications share, `site` says how
/// well the simulation knows the site.
///
/// Of several settings, the one that is the baseline has no column of its own. If the table is cut into blocks, each has
/// the baseline's figures.
pub fn write_comparison(
    out: &mut dyn Write,
    width: Width,
    settings: &[Replicates<'_>],
    (options, site): (&str, Option<&str>),
) -> io::Result<()> {
    let title = caption(&settings.iter().collect::<Vec<_>>(), options);
    let ComparisonTable { settings, headings, lines, notes } = ComparisonTable::of(settings);
    write_wrapped(out, "", &title, width)?;
    site.map_or(Ok(()), |site| write_paragraph(out, site, width))?;
    writeln!(out)?;
    let repeated = 1 + settings[0].baseline().iter().len();
    let mut table = if settings.len() == 1 { Table::default() } else { Table::default().repeating(repeated) };
    table.headings(headings);
    lines.into_iter().for_each(|cells| table.push(cells.into_iter().map(|(cell, _)| cell).collect()));
    table.write(out, width)?;
    if settings.len() > 1 {
        writeln!(out)?;
        write_best(out, width, &settings)?;
    }
    for note in notes {
        write_paragraph(out, &note, width)?;
    }
    Ok(())
}

/// What was run, on which log.
pub(super) fn caption(settings: &[&Replicates<'_>], options: &str) -> String {
    let (first, label) = (settings[0], settings[0].label());
    let jobs = counted(first.rows()[0].summary.jobs as u64, "job");
    let each: Vec<u32> = settings.iter().map(|setting| setting.label().procs).collect();
    let procs = match each.iter().all(|procs| *procs == label.procs) {
        true => counted(label.procs.into(), "processor"),
        false if settings.iter().any(|setting| setting.is_change()) => {
            let changes = settings.iter().filter(|setting| setting.label().procs != label.procs);
            let sizes = changes.map(|setting| format!("{} with {}", setting.label().procs, printable(&setting.name())));
            format!("{} ({})", counted(label.procs.into(), "processor"), sizes.collect::<Vec<_>>().join(", "))
        }
        // Each setting has a machine of its own.
        false => joined_with_and(&each.iter().map(u32::to_string).collect::<Vec<_>>()) + " processors",
    };
    let mut text = format!("{}: {procs}, {jobs}", printable(&label.trace));
    if label.dropped > 0 {
        text.push_str(&format!(" ({} dropped)", counted(label.dropped, "record")));
    }
    if !options.is_empty() {
        text.push_str(&format!("; {options}"));
    }
    text
}

/// How the table is to be read.
pub(super) fn notes(first: &Replicates<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    let replications = first.count();
    if let Some(base) = first.baseline() {
        let chance = if replications > 1 { ", by more than chance" } else { "" };
        let base = if first.is_change() { format!("the site as it is ({base})") } else { base.to_string() };
        notes.push(format!(
            "Improvement over {base}: positive is better. Users lose if their mean wait is over 1.1 times that of the \
             baseline and over a minute more{chance}. The widest jobs are those that together make 1% of the area."
        ));
    }
    if first.rows()[0].summary.linked_jobs.is_some() {
        notes.push(FEEDBACK_NOTE.to_string());
    }
    if first.is_another_year() {
        let drawn = first.drawn().len() as u64;
        let verdict = match first.baseline() {
            Some(_) => {
                " \"Better\" and \"worse\" mean that the 95% interval of another year, from the ratios on the same resamples, \
                 excludes no difference."
            }
            None => "",
        };
        notes.push(format!(
            "Another year: means of {} of the log ({}), with the 10% and 90% of them in parentheses.{verdict}",
            counted(drawn, "resample"),
            seeds_in_words(drawn),
        ));
    } else if replications > 1 {
        let verdict = match first.baseline() {
            Some(_) => " \"Within noise\" means that the interval of the paired differences includes 0.",
            None => "",
        };
        let copies = replications as u64 - 1;
        let seeds = seeds_in_words(copies);
        notes.push(format!(
            "Means of {} with 95% intervals: the log as it is, and {} in which submissions are moved by up \
             to 30 s ({seeds}). They are the same year, shaken: they show the noise of shaken submissions alone.{verdict}",
            counted(replications as u64, "run"),
            counted_as(copies, "copy", "copies"),
        ));
    }
    notes
}

/// A mean, with its interval or with the 10% and 90% of resamples.
pub(super) fn figure(column: &Column, setting: &Replicates<'_>, interval: Interval) -> String {
    with_spread(column, setting, interval, setting.spread(column))
}

/// The same of the baseline.
pub(super) fn base_figure(column: &Column, setting: &Replicates<'_>, interval: Interval) -> String {
    with_spread(column, setting, interval, setting.base_spread(column))
}

fn with_spread(column: &Column, setting: &Replicates<'_>, interval: Interval, spread: Option<Spread>) -> String {
    let text = plain_figure(column, setting, interval.mean);
    match spread {
        None => add_half_width(text, column.shown, interval),
        Some(Spread { low, high, .. }) if low.is_finite() => {
            format!("{text} ({} to {})", shown(column.shown, low), shown(column.shown, high))
        }
        Some(_) => text,
    }
}

fn plain_figure(column: &Column, setting: &Replicates<'_>, mean: f64) -> String {
    let jobs = setting.rows()[0].summary.jobs as u64;
    match column.shown {
        // Resamples have other numbers of jobs.
        Shown::ShareOfJobs if setting.is_another_year() => shown(column.shown, mean),
        Shown::ShareOfJobs if mean.is_finite() => with_share(mean.round() as u64, jobs),
        Shown::ShareOfJobs => with_share(0, jobs),
        how => shown(how, mean),
    }
}

/// The improvement over the baseline, with its verdict if there are replications. None for a column that is neither good nor
/// bad, and without a baseline.
pub(super) fn improvement(column: &Column, setting: &Replicates<'_>) -> Option<String> {
    if column.better.is_none() || column.needs_baseline() || setting.baseline().is_none() {
        return None;
    }
    let mean = setting.improvement(column).mean;
    let percent = if mean.is_finite() { signed_percent(mean) } else { "-".to_string() };
    let years = setting.year_gain(column).map(|gain| format!(", better in {} of {}", gain.better, gain.of));
    Some(match setting.verdict(column) {
        None => percent,
        Some(verdict) => format!("{percent}, {}{}", verdict.name(), years.unwrap_or_default()),
    })
}

/// Whether the improvement is a gain or a loss; with replications only if it is more than chance.
pub(super) fn tone(column: &Column, setting: &Replicates<'_>) -> Tone {
    match setting.verdict(column) {
        Some(Verdict::WithinNoise | Verdict::NotSure) => Tone::Neutral,
        _ => Tone::of_gain(setting.improvement(column).mean),
    }
}

/// A figure with its improvement in parentheses.
fn with_improvement(column: &Column, setting: &Replicates<'_>) -> TableCell {
    let text = figure(column, setting, setting.mean(column));
    match improvement(column, setting) {
        None => text.into(),
        Some(improvement) => TableCell::new(format!("{text} ({improvement})"), tone(column, setting)),
    }
}

/// Writes which of several settings is best by each of the two main figures, so that nobody has to search for it in the blocks
/// of a narrow table, and how clearly it is. The baseline takes part.
fn write_best(out: &mut dyn Write, width: Width, settings: &[&Replicates<'_>]) -> io::Result<()> {
    let (mut table, mut near) = (Table::with_left(2), Vec::new());
    table.headings(["best by", "setting", ""]);
    for (caption, column) in
        figure_lines().filter(|(_, column)| [WAIT_MEAN.name, BSLD_MEAN.name].contains(&column.name))
    {
        let Some(best) = best_of(settings, column) else { continue };
        let (name, cell) = match best.at {
            Some(at) => (settings[at].name(), with_improvement(column, settings[at])),
            None => {
                let base = settings[0].baseline().unwrap_or_default();
                let interval = settings[0].base_mean(column);
                (format!("{base} (the baseline)"), base_figure(column, settings[0], interval).into())
            }
        };
        if best.near_count > 0 {
            let others = counted(best.near_count as u64, "other setting");
            let (words, are_near) =
                (figure_in_words(column), near_in_words(best.near_count, settings[0].is_another_year()));
            near.push(format!("The best by {words} is not clearly so: {others} {are_near}."));
        }
        let others = if best.equal > 0 { format!(" and {} more", best.equal) } else { String::new() };
        table.push(vec![caption.into(), format!("{name}{others}").into(), cell]);
    }
    table.write(out, width)?;
    near.iter().try_for_each(|near| write_paragraph(out, near, width))
}
