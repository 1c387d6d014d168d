//! The report of a comparison: one log under one or several settings.

use maud::{Markup, html};

use super::chart_files::WrittenReport;
use super::charts::{Compared, GanttData, PicturedSetting, SECTIONS};
use super::data_table::{DataCell, DataTable};
use super::figure::{ChartFigure, figures};
use super::outside;
use super::page::{Fact, Page, PageSection};
use crate::comparison::{AS_IT_IS, ComparisonTable, base_name, caption, tone};
use crate::metrics::columns::{
    AREA_LOSE, BSLD_MEAN, SAVED_PER_NODE, SAVED_PER_PROC, USERS_LOSE, WAIT_MAX, WAIT_MEAN, WAIT_SAVED, WIDE_WAIT_MEAN,
};
use crate::metrics::{Column, Replicates};
use crate::ranking::{ChangeColumn, ChangeTable, again};
use crate::text::printable;
use crate::trace::Workload;
use crate::{TableCell, Tone, best_of, price_in_words, shown, signed_percent};

/// The most settings in charts, with the baseline: there are as many colours that can be told apart.
const MOST_SETTINGS: usize = 8;

/// What the report of a comparison needs.
pub struct ComparisonReport<'a> {
    /// What was run.
    pub facts: Vec<Fact>,
    /// How near the simulation comes to the recorded waits, in words of ours, and whether it is so far from them that this has to
    /// be seen.
    pub site: Option<(String, bool)>,
    /// The figures of all settings.
    pub settings: &'a [Replicates<'a>],
    /// The options that all settings share.
    pub options: &'a str,
    /// Of changes that are ranked, the command that each of them alone has with it.
    pub ranked_by: Option<&'a str>,
    /// The baseline, with which the others are compared. Without one they are compared with the first of them.
    pub baseline: Option<PicturedSetting<'a>>,
    /// All settings that are not the baseline.
    pub pictured: Vec<PicturedSetting<'a>>,
    /// The simulated jobs.
    pub workload: &'a Workload,
    /// The Gantt chart.
    pub gantt: GanttData<'a>,
}

impl ComparisonReport<'_> {
    /// The page and its charts.
    pub fn write(self) -> WrittenReport {
        let table = ComparisonTable::of(self.settings);
        let title = caption(&self.settings.iter().collect::<Vec<_>>(), self.options);
        let others = (1..).zip(&self.pictured);
        let all = self.baseline.iter().map(|baseline| (0, baseline)).chain(others);
        let compared = Compared {
            figures: &table.settings,
            settings: all.take(MOST_SETTINGS).collect(),
            first_submit: self.workload.first_submit(),
            workload: self.workload,
            gantt: &self.gantt,
        };
        let left_out = self.pictured.len() + self.baseline.iter().len() - compared.settings.len();
        let all = SECTIONS.iter().map(|(title, charts)| (*title, compared.figures(charts)));
        let charts: Vec<(&str, Vec<ChartFigure>)> = all.filter(|(_, charts)| !charts.is_empty()).collect();
        let section = |(at, (title, charts)): (usize, &(&str, Vec<ChartFigure>))| {
            let content = match at {
                0 => html! { div.side { div.table { (figures_table(&table, left_out)) } (figures(charts)) } },
                _ => figures(charts),
            };
            PageSection { title: title.to_string(), content }
        };
        let changes = table.settings[0].is_change().then(|| {
            let title = if self.ranked_by.is_some() { "What would help most" } else { "The changes" };
            PageSection { title: title.to_string(), content: changes_table(&table.settings, self.ranked_by) }
        });
        let sections = changes.into_iter().chain(charts.iter().enumerate().map(section)).collect();
        let (result, remark) = (result(&table.settings), remark(&table.settings, self.site.as_ref()));
        let page = Page { title, result, remark, facts: self.facts, sections }.write();
        WrittenReport { page, figures: charts.into_iter().flat_map(|(_, charts)| charts).collect() }
    }
}

/// The table of all settings. `left_out` of them are not in the charts.
fn figures_table(comparison: &ComparisonTable<'_>, left_out: usize) -> Markup {
    let mut table = DataTable::new(1, &comparison.headings);
    comparison.lines.iter().for_each(|line| table.push(line.iter().map(data_cell)));
    html! {
        (table.markup())
        @for note in &comparison.notes { p.note { (note) } }
        @if left_out > 0 {
            p.note { "The charts below show the first " (MOST_SETTINGS) " settings." }
        }
    }
}

fn data_cell((TableCell { text, tone }, value): &(TableCell, Option<f64>)) -> DataCell {
    DataCell::shown(text, *value).toned(*tone)
}

/// The figures of a change: those of a terminal, the widest jobs, and what is bought.
static WITH_PRICE: [ChangeColumn; 8] = [
    ("hours of waiting saved", &WAIT_SAVED),
    ("per node and day", &SAVED_PER_NODE),
    ("per processor and day", &SAVED_PER_PROC),
    ("wait, mean", &WAIT_MEAN),
    ("longest wait", &WAIT_MAX),
    ("wait of the widest jobs", &WIDE_WAIT_MEAN),
    ("users who lose", &USERS_LOSE),
    ("their area", &AREA_LOSE),
];

/// What each change of a site gains and costs, in a line, and the commands that repeat them if they are ranked.
fn changes_table(changes: &[&Replicates<'_>], command: Option<&str>) -> Markup {
    let ChangeTable { headings, lines } = ChangeTable::of(changes, &WITH_PRICE);
    let mut table = DataTable::new(1, headings).sortable();
    lines.iter().for_each(|line| table.push(line.iter().map(data_cell)));
    html! {
        div.side { div.table { (table.markup()) } }
        @if let Some(command) = command {
            p.note { "Each of them again:" }
            @for change in changes { p { code { (outside(&again(command, change))) } } }
        }
    }
}

/// The setting with the shortest mean wait.
fn best_setting<'a>(settings: &[&'a Replicates<'a>]) -> &'a Replicates<'a> {
    let wait = |setting: &Replicates<'_>| setting.mean(&WAIT_MEAN).mean;
    settings.iter().min_by(|a, b| wait(a).total_cmp(&wait(b))).expect("a comparison has settings")
}

/// A figure instead of that of the baseline, with the improvement in its colour.
fn instead(setting: &Replicates<'_>, column: &Column) -> Markup {
    let figure = |mean: f64| shown(column.shown, mean);
    let improvement = setting.improvement(column).mean;
    let percent = if improvement.is_finite() { signed_percent(improvement) } else { "-".to_string() };
    let verdict = setting.verdict(column).map(|verdict| format!(", {}", verdict.name())).unwrap_or_default();
    let tone = tone(column, setting);
    html! {
        (figure(setting.mean(column).mean)) " instead of " (figure(setting.base_mean(column).mean)) " ("
        span.gain[tone == Tone::Gain].loss[tone == Tone::Loss] { (percent) (verdict) } ")"
    }
}

/// What changes and by how much, then who pays for it.
fn result(settings: &[&Replicates<'_>]) -> Vec<Markup> {
    let best = best_setting(settings);
    let name = outside(&best.name());
    let Some(base) = base_name(best).map(outside) else {
        let [wait, slowdown] = [&WAIT_MEAN, &BSLD_MEAN].map(|column| shown(column.shown, best.mean(column).mean));
        return vec![
            html! { "Under " (name) " the mean wait is " (wait) ", and the mean bounded slowdown is " (slowdown) "." },
        ];
    };
    let change = match best.is_change() {
        true => html! { "With \"" (name) "\" the mean wait is " (instead(best, &WAIT_MEAN)) "." (saved(best)) },
        false => {
            html! { "Under " (name) " the mean wait is " (instead(best, &WAIT_MEAN)) ", compared with " (base) "." }
        }
    };
    let price = price_in_words(best).map(|price| html! { "Who pays: " (price) "." });
    [change].into_iter().chain(price).collect()
}

/// What a change of a site saves or costs, and what that is of what is bought or given up.
fn saved(change: &Replicates<'_>) -> String {
    let mean = |column: &Column| Some(change.mean(column).mean).filter(|mean| mean.is_finite());
    let Some(hours) = mean(&WAIT_SAVED) else { return String::new() };
    let verb = if hours < 0.0 { "costs" } else { "saves" };
    let each = [("node", &SAVED_PER_NODE), ("processor", &SAVED_PER_PROC)];
    let each = each.into_iter().find_map(|(what, column)| {
        let each = mean(column)?;
        // Of a smaller machine it is for what it has less.
        let less = if (each < 0.0) == (hours < 0.0) { "" } else { " less" };
        Some(format!(", {} for each {what} and day{less}", shown(column.shown, each.abs())))
    });
    format!(" It {verb} {} of waiting{}.", shown(WAIT_SAVED.shown, hours.abs()), each.unwrap_or_default())
}

/// What else is to be known, and how sure the result is.
fn remark(settings: &[&Replicates<'_>], site: Option<&(String, bool)>) -> Markup {
    let best = best_setting(settings);
    let is_far = site.is_some_and(|(_, is_far)| *is_far);
    html! {
        @if let Some((site, _)) = site { p.site.caveat[is_far] { (printable(site)) } }
        @if settings.len() > 1 { p { (among_all(settings, best)) } }
        @if best.baseline().is_some() {
            @let name = outside(&best.name());
            @let with = if best.is_change() { format!("With \"{name}\"") } else { format!("Under {name}") };
            p { (with) " the mean bounded slowdown is " (instead(best, &BSLD_MEAN)) "." }
        }
        p {
            @if best.baseline().is_some() { "Positive percentages are better. " }
            @match best.count() {
                1 => {
                    "This is one run on the log as it is. With " code.option { "--replications 10" }
                    " the report has intervals, and says whether each difference is more than chance."
                },
                runs => { "These are means of " (runs) " runs." }
            }
        }
    }
}

/// Which of several settings is best, and how clearly.
fn among_all(settings: &[&Replicates<'_>], best: &Replicates<'_>) -> String {
    let count = settings.len();
    let found = best_of(settings, &WAIT_MEAN);
    let near = found.as_ref().and_then(|found| found.near.as_ref()).map(|near| format!(", but {near}"));
    let (near, is_baseline) = (near.unwrap_or_default(), found.is_some_and(|found| found.at.is_none()));
    let name = outside(&best.name());
    let best_of_all = |what, name: &str| format!("Of the {count} {what}, {name} has the shortest mean wait{near}.");
    match base_name(best).filter(|_| is_baseline) {
        Some(AS_IT_IS) => format!("None of the {count} changes has a shorter mean wait than the site as it is{near}."),
        Some(base) => format!("None of the {count} settings has a shorter mean wait than {}{near}.", outside(base)),
        None if best.is_change() => best_of_all("changes", &format!("\"{name}\"")),
        None => best_of_all("settings", &name),
    }
}
