//! Writes what changes of the site would bring, below the settings. A setting costs nothing and a change does, so none is the answer.

use std::io::{self, Write};

use super::gain::{gain, gain_cell, in_words, verdict};
use super::{Answer, CandidateRuns, Recommendation};
use crate::metrics::columns::{SAVED_PER_NODE, SAVED_PER_PROC, WAIT_SAVED};
use crate::metrics::{Replicates, Verdict};
use crate::report::{Table, TableCell, Width, price_in_words, shown, signed_percent, with_interval, write_paragraph};
use crate::text::printable;

/// A change of the site, with the present setting unless it has one of its own.
#[derive(Clone, Debug)]
pub struct ComparedChange {
    /// On the part of the log on which candidates compete: on resamples, if the best of these do.
    pub chosen: CandidateRuns,
    /// On the rest.
    pub judged: CandidateRuns,
}

/// The changes of a site.
#[derive(Clone, Debug, Default)]
pub struct ComparedChanges {
    /// In the order in which they were given.
    pub changes: Vec<ComparedChange>,
    /// Which jobs they cannot run; empty if they can run all.
    pub differences: String,
    /// The number of runs that were found, and of those that were computed.
    pub reused: usize,
    /// See `reused`.
    pub computed: usize,
}

impl ComparedChange {
    /// The guards that it breaks on a part.
    fn broken(&self) -> Vec<&str> {
        let mut all: Vec<&str> = Vec::new();
        for guard in self.chosen.broken.iter().chain(&self.judged.broken) {
            if !all.contains(&&**guard) {
                all.push(guard);
            }
        }
        all
    }
}

/// Writes a line for each change. Nothing if there are none.
pub(super) fn write_changes(out: &mut dyn Write, width: Width, found: &Recommendation) -> io::Result<()> {
    let ComparedChanges { changes, differences, .. } = &found.changes;
    let Some(first) = changes.first() else { return Ok(()) };
    let objective = found.question.objective;
    let are_years = first.chosen.runs().is_another_year();
    let caption = "What if the site were another? Each change in comparison with the present setting on the same jobs, first on those on \
                   which candidates compete, then on the others";
    let differences = if differences.is_empty() { String::new() } else { format!("; {differences}") };
    write_paragraph(out, &format!("{caption}{differences}:"), width)?;
    writeln!(out)?;
    let mut table = Table::default();
    let of_years = ["another year", "better in"].into_iter().filter(|_| are_years);
    let rest = ["on the others", "verdict", "hours saved", "a node-day"];
    let is_pool = changes.iter().any(|change| change.judged.runs().mean(&SAVED_PER_PROC).mean.is_finite());
    let rest = rest.map(|heading| if is_pool && heading == "a node-day" { "a processor-day" } else { heading });
    table.headings(["what if", objective.name, "gain"].into_iter().chain(of_years).chain(rest));
    for change in changes {
        let (chosen, judged) = (change.chosen.runs(), change.judged.runs());
        let broken = change.broken();
        let breaks = if broken.is_empty() { String::new() } else { format!(" (breaks {})", broken.join(", ")) };
        let figure = with_interval(objective.shown, chosen.mean(objective));
        let mut row = vec![(chosen.name() + &breaks).into(), figure.into(), gain_cell(objective, &chosen)];
        if are_years {
            let years = chosen.year_gain(objective);
            let interval = years.as_ref().and_then(|gain| Some((gain.low?, gain.high?)));
            let interval = interval.map(|(low, high)| format!("{} to {}", signed_percent(low), signed_percent(high)));
            let better = years.map(|gain| format!("{} of {}", gain.better, gain.of));
            row.extend([interval, better].map(|cell| TableCell::from(cell.unwrap_or_default())));
        }
        row.push(gain_cell(objective, &judged));
        row.push(verdict(objective, &judged).to_string().into());
        let saved = [Some(&WAIT_SAVED), price_column(&judged)];
        row.extend(saved.map(|column| {
            TableCell::from(column.map_or(String::new(), |column| shown(column.shown, judged.mean(column).mean)))
        }));
        table.push(row);
    }
    table.write(out, width)
}

/// The column with what a node-day, or a day of a processor, saves or costs.
fn price_column(runs: &Replicates<'_>) -> Option<&'static crate::metrics::Column> {
    [&SAVED_PER_NODE, &SAVED_PER_PROC].into_iter().find(|column| runs.mean(column).mean.is_finite())
}

/// What each change would bring on the rest of the log, and who pays, in words. Empty if too little can be told.
pub(super) fn changes_in_words(found: &Recommendation) -> Vec<String> {
    let objective = found.question.objective;
    let one = |change: &ComparedChange| {
        let runs = change.judged.runs();
        let [before, after] = [runs.base_mean(objective), runs.mean(objective)];
        let [before, after] = [before, after].map(|figure| shown(objective.shown, figure.mean));
        let sure = match runs.verdict(objective) {
            Some(Verdict::Better | Verdict::Worse) => "more than chance",
            _ => "which may be chance",
        };
        let per_day = price_column(&runs).map_or(String::new(), |column| {
            let what = if column.name == SAVED_PER_NODE.name { "node" } else { "processor" };
            format!(", {} of waiting for each day of a {what}", shown(column.shown, runs.mean(column).mean))
        });
        let broken = match &change.broken()[..] {
            [] => "It breaks no guard".to_string(),
            broken => format!("It breaks {}", broken.join(", ")),
        };
        format!(
            "What if {}? On the rest of the log the {} goes from {before} to {after} ({}, {sure}{per_day}): {}. {broken}.",
            printable(&runs.name()),
            in_words(objective),
            gain(objective, &runs),
            price_in_words(&runs).unwrap_or_default()
        )
    };
    match found.answer() {
        Answer::TooLittle => Vec::new(),
        _ => found.changes.changes.iter().map(one).collect(),
    }
}
