//! The report of a comparison: one log under one or several settings.

use maud::{Markup, html};

use super::bars::{Bar, BarChart, BarGroup};
use super::chart_files::WrittenReport;
use super::charts::{Compared, GanttData, PicturedSetting, SECTIONS, charts_on_nodes};
use super::data_table::{DataCell, DataTable};
use super::figure::{ChartFigure, figures};
use super::outside;
use super::page::{Fact, Page, PageSection};
use super::units::upper;
use crate::comparison::{ComparisonTable, caption};
use crate::metrics::columns::{BSLD_MEAN, WAIT_MEAN};
use crate::metrics::{Column, Replicates};
use crate::time::readable_duration;
use crate::trace::Workload;
use crate::{TableCell, best_of, figure_in_words, price_in_words, shown, signed_percent};

/// The most settings in charts, with the baseline: there are as many colours that can be told apart.
const MOST_SETTINGS: usize = 8;

/// The most settings in charts of bars.
const MOST_BARS: usize = 40;

/// What the report of a comparison needs.
pub struct ComparisonReport<'a> {
    /// What was run.
    pub facts: Vec<Fact>,
    /// How near the simulation comes to the recorded waits, in words of ours, and whether it is so far from them that this comes
    /// first.
    pub site: Option<(String, bool)>,
    /// The figures of all settings.
    pub settings: &'a [Replicates<'a>],
    /// The options that all settings share.
    pub options: &'a str,
    /// The baseline, with which the others are compared. Without one they are compared with the first of them.
    pub baseline: Option<PicturedSetting<'a>>,
    /// All settings that are not the baseline.
    pub pictured: Vec<PicturedSetting<'a>>,
    /// The simulated jobs.
    pub workload: &'a Workload,
    /// The Gantt chart.
    pub gantt: GanttData,
}

impl ComparisonReport<'_> {
    /// The page and its charts.
    pub fn write(self) -> WrittenReport {
        let table = ComparisonTable::of(self.settings);
        let title = caption(&table.settings, self.options);
        let result = match &self.site {
            Some((site, true)) => format!("{site} {}", result_in_words(&table.settings)),
            Some((site, false)) => format!("{} {site}", result_in_words(&table.settings)),
            None => result_in_words(&table.settings),
        };
        let others = (1..).zip(&self.pictured);
        let all = self.baseline.iter().map(|baseline| (0, baseline)).chain(others);
        let compared = Compared {
            settings: all.take(MOST_SETTINGS).collect(),
            first_submit: self.workload.first_submit(),
            workload: self.workload,
            gantt: &self.gantt,
        };
        let left_out = self.pictured.len() + self.baseline.iter().len() - compared.settings.len();
        let bars = [&WAIT_MEAN, &BSLD_MEAN].into_iter().filter_map(|column| bars(&table.settings, column));
        let mut charts: Vec<(&str, Vec<ChartFigure>)> =
            SECTIONS.iter().map(|(title, charts)| (*title, compared.figures(charts))).collect();
        charts[0].1.splice(0..0, bars);
        // Before the Gantt chart.
        charts.insert(charts.len() - 1, ("Nodes and partitions", charts_on_nodes(&compared)));
        charts.retain(|(_, charts)| !charts.is_empty());
        let sections = charts.iter();
        let sections =
            sections.map(|(title, charts)| PageSection { title: title.to_string(), content: figures(charts) });
        let table_content = figures_table(&table, left_out);
        let table_section = PageSection { title: "The figures".to_string(), content: table_content };
        let sections = [table_section].into_iter().chain(sections).collect();
        let remark = remark(&table.settings);
        let page = Page { title, result, remark, facts: self.facts, sections }.write();
        WrittenReport { page, figures: charts.into_iter().flat_map(|(_, charts)| charts).collect() }
    }
}

/// A figure of all settings as bars, the baseline first. None if there is nothing to compare.
fn bars(settings: &[&Replicates<'_>], column: &'static Column) -> Option<ChartFigure> {
    let first = settings[0];
    let is_own = settings.len() == 1 && first.is_baseline();
    let baseline = first.baseline().filter(|_| !is_own).map(|name| Bar {
        name: name.to_string(),
        series: 0,
        runs: first.count(),
        mean: first.base_mean(column),
    });
    let others = (1..).zip(settings).map(|(series, setting)| Bar {
        name: setting.name(),
        series,
        runs: setting.count(),
        mean: setting.mean(column),
    });
    let mut bars: Vec<Bar> = baseline.into_iter().chain(others).collect();
    let note = match bars.len() {
        0 | 1 => return None,
        all if all > MOST_BARS => format!(" The first {MOST_BARS} of {all} settings are shown."),
        _ => String::new(),
    };
    bars.truncate(MOST_BARS);
    let title = format!("{} by setting", upper(figure_in_words(column)));
    let groups = vec![BarGroup { heading: String::new(), bars }];
    Some(BarChart { title, column, headings: ("", "setting"), groups, note }.figure())
}

/// The table of all settings. `left_out` of them are not in the charts.
fn figures_table(comparison: &ComparisonTable<'_>, left_out: usize) -> Markup {
    let mut table = DataTable::new(1, &comparison.headings);
    for line in &comparison.lines {
        let cell = |(TableCell { text, .. }, value): &(TableCell, Option<f64>)| DataCell::shown(text, *value);
        table.push(line.iter().map(cell));
    }
    html! {
        (table.markup())
        @for note in &comparison.notes { p.note { (note) } }
        @if left_out > 0 {
            p.note { "The charts below show the first " (MOST_SETTINGS) " settings." }
        }
    }
}

/// What came out, in few sentences.
fn result_in_words(settings: &[&Replicates<'_>]) -> String {
    let name = |setting: &Replicates<'_>| outside(&setting.name());
    let wait = |setting: &Replicates<'_>| setting.mean(&WAIT_MEAN).mean;
    let Some(best) = settings.iter().min_by(|a, b| wait(a).total_cmp(&wait(b))) else { return String::new() };
    let of_several = match settings.len() {
        1 => String::new(),
        count => {
            let found = best_of(settings, &WAIT_MEAN);
            let near = found.as_ref().and_then(|found| found.near.as_ref()).map(|near| format!(", but {near}"));
            let (near, is_baseline) = (near.unwrap_or_default(), found.is_some_and(|found| found.at.is_none()));
            match best.baseline().filter(|_| is_baseline) {
                Some(base) => format!("None of all {count} has a shorter mean wait than {}{near}. ", outside(base)),
                None => format!("Of all {count}, {} has the shortest mean wait{near}. ", name(best)),
            }
        }
    };
    let Some(base) = best.baseline() else {
        let slowdown = shown(BSLD_MEAN.shown, best.mean(&BSLD_MEAN).mean);
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
            figure(best.mean(column).mean),
            figure(best.base_mean(column).mean)
        )
    };
    let price = price_in_words(best).map(|price| format!("; {price}")).unwrap_or_default();
    format!(
        "{of_several}Under {} {}, and {}, compared with {}{price}.",
        name(best),
        part("mean wait", &WAIT_MEAN),
        part("mean bounded slowdown", &BSLD_MEAN),
        outside(base)
    )
}

/// How sure the result is.
fn remark(settings: &[&Replicates<'_>]) -> Markup {
    let first = settings[0];
    let sign = if first.baseline().is_some() { "Positive percentages are better. " } else { "" };
    html! {
        (sign)
        @match first.count() {
            1 => {
                "This is one run on the log as it is. With " code.option { "--replications 10" }
                " the report has intervals, and says whether each difference is more than chance."
            },
            runs => { "These are means of " (runs) " runs." }
        }
    }
}
