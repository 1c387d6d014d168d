//! `--names`: whether outputs show names instead of numbers.

use clap::Args;

use super::stderr::{note, warning};
use crate::text::{joined_with_and, plural};
use crate::trace::{Log, NameKind, ShownNames, Workload};

/// The option of all commands whose outputs show users, groups, queues or partitions.
#[derive(Clone, Copy, Debug, Args)]
pub struct NamesOption {
    /// Show users, groups, queues, partitions, QOS and accounts by their names instead of their numbers in the log, in tables, CSV and pages.
    /// Without it no output has names, except that of --names-out
    #[arg(long, help_heading = "Output")]
    names: bool,
}

impl NamesOption {
    /// Whether names are shown.
    pub fn is_given(self) -> bool {
        self.names
    }

    /// The names of a log that are shown; none if they are not wanted. A note says which names an SWF log does not have, a warning that it has none.
    pub fn of(self, log: &Log) -> ShownNames {
        if !self.names {
            return ShownNames::default();
        }
        let names = ShownNames::of(log);
        match (log.source.format, names.kinds().0.is_empty()) {
            ("swf", true) => warning(format_args!("{}: {}", log.name, missing_in_words(&names))),
            ("swf", false) => note(format_args!("{}: {}", log.name, missing_in_words(&names))),
            _ => {}
        }
        names
    }

    /// Puts the names of a log, if they are wanted, into its workload.
    pub fn show(self, log: &Log, workload: Workload) -> Workload {
        Workload { names: self.of(log), ..workload }
    }
}

/// Which names an SWF log has.
fn missing_in_words(names: &ShownNames) -> String {
    let words = |kinds: Vec<NameKind>| {
        joined_with_and(&kinds.into_iter().map(|kind| plural(2, kind.word())).collect::<Vec<_>>())
    };
    let (named, numbered) = names.kinds();
    match named.is_empty() {
        true => "an SWF log has numbers and no names: --names shows the numbers".to_string(),
        false => format!(
            "an SWF log has no names of {}: --names shows their numbers, and the names of {} in its header",
            words(numbered),
            words(named)
        ),
    }
}
