//! Which change of a site would help most, and who pays.

use std::io::{self, Write};

use super::comparison::{AS_IT_IS, base_figure, caption, figure, improvement, notes, tone};
use super::shown::shown;
use super::table::Table;
use super::table_cell::{TableCell, Tone};
use super::wrap::{Width, write_paragraph, write_wrapped};
use crate::metrics::columns::{AREA_LOSE, USERS_LOSE, WAIT_MAX, WAIT_MEAN, WAIT_SAVED};
use crate::metrics::{Column, Replicates};
use crate::text::printable;

/// The places of the site as it is and of its changes: those that save most hours of waiting are first, behind the site.
pub fn ranked(settings: &[Replicates<'_>]) -> Vec<usize> {
    let saved = |at: &usize| settings[*at].mean(&WAIT_SAVED).mean;
    let mut order: Vec<usize> = (0..settings.len()).collect();
    order.sort_by(|a, b| {
        let is_change = |at: &usize| settings[*at].is_change();
        is_change(a).cmp(&is_change(b)).then(saved(b).total_cmp(&saved(a)))
    });
    order
}

/// Writes the changes of a site by the hours of waiting that they save, with who pays, and the commands that repeat them. `command` is
/// what they have in common, `site` says how well the simulation knows the site.
pub fn write_ranking(
    out: &mut dyn Write,
    width: Width,
    settings: &[Replicates<'_>],
    (options, site): (&str, Option<&str>),
    command: &str,
) -> io::Result<()> {
    let all: Vec<&Replicates<'_>> = settings.iter().collect();
    write_wrapped(out, "", &caption(&all, options), width)?;
    site.map_or(Ok(()), |site| write_paragraph(out, site, width))?;
    let changes: Vec<&Replicates<'_>> =
        ranked(settings).into_iter().map(|at| &settings[at]).filter(|setting| setting.is_change()).collect();
    let Some(best) = changes.first() else { return Ok(()) };
    writeln!(out)?;
    let mut table = Table::default();
    let ChangeTable { headings, lines } = ChangeTable::of(&changes, &RANKED);
    table.headings(headings);
    lines.into_iter().for_each(|cells| table.push(cells.into_iter().map(|(cell, _)| cell).collect()));
    table.write(out, width)?;
    write_paragraph(out, &in_words(best), width)?;
    for note in notes(best) {
        write_paragraph(out, &note, width)?;
    }
    writeln!(out, "\nEach of them again:")?;
    changes.iter().try_for_each(|change| writeln!(out, "  {}", again(command, change)))
}

/// The command that has a change alone.
pub(super) fn again(command: &str, change: &Replicates<'_>) -> String {
    format!("{command} --what-if {}", shlex_quoted(&printable(&change.name())))
}

/// A line for each change of a site, and one for the site as it is, before they are written as text or as HTML.
pub(super) struct ChangeTable {
    pub headings: Vec<String>,
    /// For each line its cells, with the number if the cell is a figure.
    pub lines: Vec<Vec<(TableCell, Option<f64>)>>,
}

/// A figure of changes, with its heading.
pub(super) type ChangeColumn = (&'static str, &'static Column);

/// What a terminal has room for.
static RANKED: [ChangeColumn; 5] = [
    ("hours of waiting saved", &WAIT_SAVED),
    ("wait, mean", &WAIT_MEAN),
    ("users who lose", &USERS_LOSE),
    ("their area", &AREA_LOSE),
    ("longest wait", &WAIT_MAX),
];

impl ChangeTable {
    /// Of these changes and figures, without those that none of them has.
    pub fn of(changes: &[&Replicates<'_>], columns: &[ChangeColumn]) -> ChangeTable {
        let mean = |change: &Replicates<'_>, column| Some(change.mean(column).mean).filter(|mean| mean.is_finite());
        let has = |column| changes.iter().any(|change| mean(change, column).is_some());
        let columns: Vec<_> = columns.iter().filter(|(_, column)| has(column)).collect();
        let cell = |change: &Replicates<'_>, column: &Column| {
            let text = match column.name {
                name if name == USERS_LOSE.name || name == AREA_LOSE.name => {
                    return shown(column.shown, change.mean(column).mean).into();
                }
                _ => figure(column, change, change.mean(column)),
            };
            let gain = improvement(column, change);
            let tone = gain.as_ref().map_or(Tone::default(), |_| tone(column, change));
            TableCell::new(text + &gain.map_or(String::new(), |gain| format!(" ({gain})")), tone)
        };
        let line = |change: &&Replicates<'_>| {
            let cells = columns.iter().map(|(_, column)| (cell(change, column), mean(change, column)));
            std::iter::once((change.name().into(), None)).chain(cells).collect()
        };
        let mut lines: Vec<Vec<_>> = changes.iter().map(line).collect();
        lines.extend(changes.first().map(|first| {
            let cells = columns.iter().map(|(_, column)| match first.base_mean(column) {
                _ if column.needs_baseline() => (String::new().into(), None),
                interval => (base_figure(column, first, interval).into(), Some(interval.mean)),
            });
            std::iter::once((AS_IT_IS.to_string().into(), None)).chain(cells).collect()
        }));
        let headings = columns.iter().map(|(heading, _)| heading.to_string());
        ChangeTable { headings: std::iter::once("what if".to_string()).chain(headings).collect(), lines }
    }
}

/// What helps most, and who pays.
fn in_words(best: &Replicates<'_>) -> String {
    let saved = best.mean(&WAIT_SAVED).mean;
    if saved.is_nan() || saved <= 0.0 {
        return "None of these changes saves waiting.".to_string();
    }
    let [hours, users, area] =
        [&WAIT_SAVED, &USERS_LOSE, &AREA_LOSE].map(|column| shown(column.shown, best.mean(column).mean));
    format!(
        "Most would help: {}. It saves {hours} of waiting; {users} of the users lose, with {area} of the area.",
        printable(&best.name())
    )
}

/// In single quotes, so that a shell reads one word.
fn shlex_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
