//! The report of a sweep: the best setting of each condition, charts of all settings, and a table of them.

use maud::{Markup, html};

use super::bars::{Bar, BarChart, BarGroup};
use super::chart_files::WrittenReport;
use super::data_table::{DataCell, DataTable};
use super::figure::{ChartFigure, thirds};
use super::page::{Fact, Page, PageSection};
use super::swept_lines::{MOST_CONDITIONS, chosen, left_out, line_charts, titled};
use super::units::upper;
use crate::metrics::columns::{BSLD_MEAN, RA_MEAN, WAIT_MEAN};
use crate::metrics::{
    Column, Condition, Group, NumberLines, Ranking, Replicates, Standing, YearGain, rank, times_best,
};
use crate::text::{counted, grouped, printable};
use crate::{best_in_words, figure_in_words, signed_percent};

/// The most bars of a chart.
const MOST_BARS: usize = 40;

/// The most rows of a table.
const MOST_ROWS: usize = 2000;

/// What the report of a sweep needs.
pub struct SweepReport<'a> {
    /// The heading.
    pub title: String,
    /// What was run.
    pub facts: Vec<Fact>,
    /// All settings, by condition.
    pub conditions: Vec<Condition<'a>>,
    /// How figures depend on swept numbers.
    pub lines: Vec<NumberLines>,
    /// The names of the columns that say what was run.
    pub names: Vec<String>,
    /// The means of all settings.
    pub groups: Vec<Group<'a>>,
}

impl SweepReport<'_> {
    /// The page and its charts.
    pub fn write(self) -> WrittenReport {
        let bars = bar_charts(&self.conditions);
        let lines = line_charts(&self.lines);
        let runs: usize = self.groups.iter().map(|group| group.runs.count()).sum();
        let averaged = runs > self.groups.len();
        let remark = html! {
            @if averaged { "Figures are means over runs that differ in their seed alone, with 95% intervals." }
            @else { "Each figure is that of one run." }
        };
        let left_out = self.groups.len().saturating_sub(MOST_ROWS);
        let table = table(&self.names, &self.groups);
        let all = html! {
            @if left_out > 0 {
                p.note { "The table has the first " (grouped(MOST_ROWS as u64)) " settings; results.csv has all of them." }
            }
            (table.markup())
        };
        let conditions = self.conditions.len();
        let bars_content = html! {
            @if conditions > MOST_CONDITIONS {
                p.note {
                    "Charts show the first " (MOST_CONDITIONS) " of " (conditions) " conditions; the tables have all of them."
                }
            }
            (thirds(&bars))
        };
        let not_drawn = self.lines.len() - lines.len();
        let lines_content = match lines.is_empty() {
            true => html! { p { "No option of this sweep has several numbers as its values, so there is no chart." } },
            false => html! {
                @if not_drawn > 0 {
                    p.note {
                        "Each figure has charts of the first " (MOST_CONDITIONS) " conditions; the tables have all of them."
                    }
                }
                (thirds(&lines))
            },
        };
        let mut sections = Vec::new();
        let mut section = |title: &str, content| sections.push(PageSection { title: title.to_string(), content });
        section(if conditions > 1 { "Best setting of each condition" } else { "Best setting" }, best(&self.conditions));
        if !bars.is_empty() {
            section("Schedulers and predictors", bars_content);
        }
        section("By swept numbers", lines_content);
        section("All settings", all);
        let result = best_in_words(&self.conditions, &WAIT_MEAN, figure_in_words(&WAIT_MEAN));
        let result = vec![html! { (printable(&result)) }];
        let page = Page { title: self.title, result, remark, facts: self.facts, sections }.write();
        WrittenReport { page, figures: bars.into_iter().chain(lines).collect() }
    }
}

/// The best setting of each condition, by mean wait and by mean bounded slowdown, and how clearly it is.
fn best(conditions: &[Condition<'_>]) -> Markup {
    let options = conditions.first().map_or(&[][..], |condition| &condition.labels[..]).iter();
    let headings = options.map(|(option, _)| option.as_str());
    let left = headings.clone().count() + 4;
    let headings =
        headings.chain(["by", "best", "how clearly", "next", "its mean", "best in", "next mean", "difference"]);
    let mut table = DataTable::new(left, headings).sortable();
    for condition in conditions.iter().take(MOST_ROWS) {
        for column in [&WAIT_MEAN, &BSLD_MEAN] {
            let Some(Ranking { order, standing }) = rank(&condition.settings, column) else { continue };
            let (best, next) = (&condition.settings[order[0]], order.get(1).map(|&at| &condition.settings[at]));
            let labels = condition.labels.iter().map(|(_, value)| label(value));
            let (first, all) = times_best(&condition.settings, order[0], column);
            let mean = |setting: &Replicates<'_>| DataCell::interval(column.shown, setting.mean(column));
            let clearly = match standing {
                Standing::Alone => "the only setting".to_string(),
                Standing::OneRun => "one run: not known".to_string(),
                Standing::Clear => "clearly".to_string(),
                Standing::WithinNoise(near) => {
                    let others = counted(near.len() as u64, "other");
                    if best.is_another_year() {
                        format!("{others} may be better in another year")
                    } else {
                        format!("within noise of {others}")
                    }
                }
            };
            let cells = [
                DataCell::text(figure_in_words(column)),
                DataCell::text(best.name()),
                DataCell::text(clearly),
                next.map_or(DataCell::default(), |next| DataCell::text(next.name())),
                mean(best),
                DataCell::shown(format!("{first} of {}", counted(all as u64, "run")), first as f64),
                next.map_or(DataCell::default(), mean),
                next.map_or(DataCell::default(), |next| difference(best, next, column)),
            ];
            table.push(labels.chain(cells));
        }
    }
    html! {
        (table.markup())
        p.note {
            "A setting is clearly best if the 95% interval of its paired differences from every other one excludes 0: runs with "
            "the same seed are compared; on resamples, by their ratios. It is best in a run if no other setting is better with the "
            "same seed. The difference is that from the next setting, with its interval if there are several runs."
        }
    }
}

/// The difference of the best setting from the next one: in the unit of the figure, or with resamples in percent.
fn difference(best: &Replicates<'_>, next: &Replicates<'_>, column: &Column) -> DataCell {
    let Some(YearGain { percent, low, high, .. }) = best.year_gain_over(next, column) else {
        return DataCell::interval(column.shown, best.gain_over(next, column));
    };
    let ends = low.zip(high).map(|(low, high)| format!(" ({} to {})", signed_percent(low), signed_percent(high)));
    DataCell::shown(format!("{}{}", signed_percent(percent), ends.unwrap_or_default()), percent)
}

/// A value of an option; tables are sorted by its number.
fn label(text: &str) -> DataCell {
    DataCell::shown(text, text.parse().ok())
}

/// The settings of each condition as bars.
fn bar_charts(conditions: &[Condition<'_>]) -> Vec<ChartFigure> {
    let compared = conditions.iter().filter(|condition| condition.settings.len() > 1).take(MOST_CONDITIONS);
    let of_condition =
        |condition: &Condition<'_>| [&WAIT_MEAN, &BSLD_MEAN, &RA_MEAN].map(|column| bar_chart(condition, column));
    compared.flat_map(of_condition).collect()
}

fn bar_chart(condition: &Condition<'_>, column: &'static Column) -> ChartFigure {
    let settings = &condition.settings;
    let asked = |at: usize| settings[at].is_asked_for;
    let order = rank(settings, column).map_or_else(|| (0..settings.len()).collect(), |ranking| ranking.order);
    let kept = chosen(&order, asked, MOST_BARS);
    let mut predictors: Vec<String> = Vec::new();
    let mut groups: Vec<BarGroup> = Vec::new();
    for setting in (0..settings.len()).filter(|at| kept.contains(at)).map(|at| &settings[at]) {
        let (name, mean) = (setting.predictor(), setting.mean(column));
        let series = 1 + predictors.iter().position(|other| *other == name).unwrap_or_else(|| {
            predictors.push(name.clone());
            predictors.len() - 1
        });
        let bar = Bar { name, series, runs: setting.count(), mean };
        let scheduler = &setting.label().scheduler;
        match groups.iter_mut().find(|group| group.heading == *scheduler) {
            Some(group) => group.bars.push(bar),
            None => groups.push(BarGroup { heading: scheduler.clone(), bars: vec![bar] }),
        }
    }
    let what = upper(figure_in_words(column));
    let note = left_out(kept.len(), order.len(), "settings", "The table of all settings");
    let title = titled(&format!("{what} by scheduler and predictor"), &condition.name());
    BarChart { title, column, headings: ("scheduler", "predictor"), groups, note }.figure()
}

/// All settings, with the means of their figures.
fn table(names: &[String], groups: &[Group<'_>]) -> DataTable {
    let means =
        groups.iter().take(1).flat_map(|group| group.runs.main_means()).map(|(column, _)| column.name.to_string());
    let headings = names.iter().cloned().chain(["runs".to_string()]).chain(means);
    let mut table = DataTable::new(names.len(), headings).sortable();
    for group in groups.iter().take(MOST_ROWS) {
        let labels = group.labels.iter().map(|cell| label(&cell.text()));
        let runs = [DataCell::count(group.runs.count() as u64)];
        let means = group.runs.main_means().map(|(column, mean)| DataCell::interval(column.shown, mean));
        table.push(labels.chain(runs).chain(means));
    }
    table
}
