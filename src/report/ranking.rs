//! Which change of a site would help most, and who pays.

use std::io::{self, Write};

use super::comparison::{AS_IT_IS, base_figure, caption, figure, improvement, notes, tone};
use super::shown::shown;
use super::table::Table;
use super::table_cell::TableCell;
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
    table.headings(["what if", "hours of waiting saved", "wait, mean", "users who lose", "their area", "longest wait"]);
    for change in &changes {
        let with_gain = |column: &Column| {
            let gain = improvement(column, change).map_or(String::new(), |gain| format!(" ({gain})"));
            TableCell::new(figure(column, change, change.mean(column)) + &gain, tone(column, change))
        };
        let plain = |column: &Column| TableCell::from(shown(column.shown, change.mean(column).mean));
        let saved = figure(&WAIT_SAVED, change, change.mean(&WAIT_SAVED));
        table.push(vec![
            change.name().into(),
            saved.into(),
            with_gain(&WAIT_MEAN),
            plain(&USERS_LOSE),
            plain(&AREA_LOSE),
            with_gain(&WAIT_MAX),
        ]);
    }
    let base = |column: &Column| TableCell::from(base_figure(column, best, best.base_mean(column)));
    let none = || TableCell::from(String::new());
    table.push(vec![AS_IT_IS.to_string().into(), none(), base(&WAIT_MEAN), none(), none(), base(&WAIT_MAX)]);
    table.write(out, width)?;
    write_paragraph(out, &in_words(best), width)?;
    for note in notes(best) {
        write_paragraph(out, &note, width)?;
    }
    writeln!(out, "\nEach of them again:")?;
    changes.iter().try_for_each(|change| {
        let name = change.name();
        let quoted = shlex_quoted(&printable(&name));
        writeln!(out, "  {command} --what-if {quoted}")
    })
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
