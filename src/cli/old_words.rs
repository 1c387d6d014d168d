//! Words of the command line that have changed: whoever types one is told the new one. They are not accepted.

use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::failure::{UsageError, refuse};

/// The command in which a word was used (empty: in any), the word, and what to write now.
const OLD: [(&str, &str, &str); 29] = [
    ("", "--runs-out", "--keep DIR"),
    ("recommend", "--out", "--keep DIR"),
    ("fidelity", "--out", "--keep DIR"),
    ("reproduce", "--out", "--keep DIR"),
    ("predict", "--keep", "--keep-jobs JOBS"),
    ("machine", "--to-toml", "--out FILE"),
    ("machine", "--format", "its output, which is always TOML"),
    ("", "--unit", "--log-format auto:unit=UNIT"),
    ("", "--submit-time", "--log-format auto:submit-time=TIME"),
    ("", "--partition-limit", "--log-format sacct:partition-limit=NAME=DURATION"),
    ("", "--estimate-field", "--log-format pbs:estimate-field=FIELD"),
    ("", "--columns", "--log-format 'sacct:columns=\"NAME,...\"'"),
    ("", "--cluster", "--log-format sacct:cluster=NAME"),
    ("report", "--html", "--out FILE"),
    ("wait", "--job", "sim wait ask LOG --job KEY=VALUE,..."),
    ("wait", "--ask", "sim wait ask LOG --job KEY=VALUE,..."),
    ("wait", "--at", "sim wait ask LOG --at JOB"),
    ("wait", "--queue", "sim wait ask LOG --queue FILE"),
    ("wait", "--now", "sim wait ask LOG --now TIME"),
    ("wait", "--user", "sim wait ask LOG --user NAME"),
    ("wait", "--names", "sim wait ask LOG --names"),
    ("wait", "--html", "sim wait ask LOG --html FILE"),
    ("wait", "--draws", "sim wait ask LOG --draws N, and simulate:draws=N in --method"),
    ("wait", "--recalibrate", "sim wait ask LOG --recalibrate on|off, and simulate:recalibrate=on|off in --method"),
    ("", "estimates", "sim trace convert LOG --estimates MODEL --out FILE"),
    ("reproduce", "ours", "a sweep, as in `sim help sweeps`: this study is gone"),
    ("reproduce", "orders", "a sweep, as in `sim help sweeps`: this study is gone"),
    ("", "--seeds", "--replications N"),
    ("malleable", "--rho", "--offered-load LOAD"),
];

/// Options of other commands that a command cannot have, with the reason.
const NOT_HERE: [(&str, &str, &str); 1] = [(
    "fidelity",
    "--resample",
    "it compares with the recorded waits, and a resample has none: the jobs of other years did not run",
)];

/// Refuses a word that was used in a command before, and says what to write now.
///
/// # Errors
/// If it is one of these words.
pub fn refuse_old(command: &str, word: &str) -> Result<(), UsageError> {
    let is_it = |(place, old, _): &&(&str, &str, &str)| *old == word && (place.is_empty() || *place == command);
    match OLD.iter().find(is_it) {
        Some((_, old, new)) => refuse(format!("'{old}' is now {new}")),
        None => match NOT_HERE.iter().find(is_it) {
            Some((command, option, why)) => refuse(format!("{option} is not for sim {command}: {why}")),
            None => Ok(()),
        },
    }
}

/// The same of what clap did not know. `words` are the arguments, a command first.
///
/// # Errors
/// As [`refuse_old`].
pub fn refuse_unknown(error: &clap::Error, words: &[String]) -> Result<(), UsageError> {
    let unknown = match error.kind() {
        ErrorKind::UnknownArgument => error.get(ContextKind::InvalidArg),
        ErrorKind::InvalidSubcommand => error.get(ContextKind::InvalidSubcommand),
        _ => None,
    };
    let (Some(ContextValue::String(unknown)), Some(command)) = (unknown, words.first()) else { return Ok(()) };
    refuse_old(command, unknown.split([' ', '=']).next().unwrap_or_default())
}
