//! Writes why jobs wait: hours and shares of each reason.

use std::io::{self, Write};

use super::shown::percent;
use super::table::Table;
use super::wrap::{Width, write_wrapped};
use crate::metrics::{WaitReason, WaitReasons};
use crate::text::grouped;
use shadowtime_core::tres::Resource;

/// A reason in words. A pool has processors.
pub fn reason_in_words(reason: WaitReason, on_nodes: bool) -> String {
    match reason {
        WaitReason::Want(Resource::Cpus) if !on_nodes => "for want of processors".to_string(),
        WaitReason::Want(kind) => format!("for want of {}", kind.many()),
        WaitReason::Limit => "because of a limit".to_string(),
        WaitReason::Behind => "behind others".to_string(),
        WaitReason::InVain => "ran in vain".to_string(),
    }
}

/// The reasons of which some run has hours. Those that every machine has are always there.
pub fn shown_reasons<'a>(runs: impl Iterator<Item = &'a WaitReasons> + Clone) -> Vec<WaitReason> {
    let is_shown = |reason: &WaitReason| {
        matches!(reason, WaitReason::Want(Resource::Cpus) | WaitReason::Behind)
            || runs.clone().any(|run| run.hours(*reason) > 0.0)
    };
    WaitReason::ALL.into_iter().filter(is_shown).collect()
}

/// Hours for people.
pub fn hours_in_words(hours: f64) -> String {
    if hours < 100.0 { format!("{hours:.1}") } else { grouped(hours.round() as u64) }
}

/// Writes a line for each reason, with a column for each run.
pub fn write_reasons(
    out: &mut dyn Write,
    width: Width,
    on_nodes: bool,
    runs: &[(String, WaitReasons)],
) -> io::Result<()> {
    write_wrapped(out, "", "hours that jobs wait, by reason", width)?;
    let mut table = Table::default().repeating(1);
    table.headings(std::iter::once("").chain(runs.iter().map(|(name, _)| name.as_str())));
    for reason in shown_reasons(runs.iter().map(|(_, run)| run)) {
        let cell = |(_, run): &(String, WaitReasons)| {
            let hours = hours_in_words(run.hours(reason));
            run.share(reason).map_or(hours.clone(), |share| format!("{hours} ({})", percent(share)))
        };
        let caption = reason_in_words(reason, on_nodes);
        table.push(std::iter::once(caption).chain(runs.iter().map(cell)).collect());
    }
    table.write(out, width)
}
