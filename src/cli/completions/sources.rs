//! Which option takes which names.

use std::ffi::OsStr;

use clap::{Arg, Command, ValueHint};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter};

use super::candidates;
use crate::cli::help;
use crate::cli::list::{ListedKind, forms};
use crate::experiment::{OPTIONS, OptionForm};
use crate::metrics::{COLUMNS, GroupBy};
use crate::recommend::figures;

/// Adds to every option of every command what its values can be. Options are hidden if `hide_options`: a shell then offers
/// them only if nothing else could follow.
pub fn add(command: Command, hide_options: bool) -> Command {
    let name = command.get_name().to_string();
    let command = command.mut_args(|argument| {
        let is_hidden = argument.is_hide_set() || (hide_options && !argument.is_positional());
        with_values(argument, &name).hide(is_hidden)
    });
    // clap adds these two by itself.
    let command = command.disable_help_flag(hide_options).disable_version_flag(hide_options);
    command.mut_subcommands(|below| add(below, hide_options))
}

fn with_values(argument: Arg, command: &str) -> Arg {
    // Of an enumeration clap knows the values.
    if argument.get_value_parser().possible_values().is_some() {
        return argument;
    }
    let specs =
        |what: ListedKind, is_list: bool| completer(move |typed| candidates::specs(typed, &forms(what), is_list));
    // The commands whose options may be lists.
    let is_list = matches!(command, "sim" | "sweep" | "report" | "fidelity");
    let completer = match argument.get_long().unwrap_or(argument.get_id().as_str()) {
        "predictor" => {
            completer(move |typed| match typed.rfind("=@").filter(|at| !typed[*at..].contains([',', '}'])) {
                // The file of templates.
                Some(at) => files(typed, at + 2),
                None => candidates::specs(typed, &forms(ListedKind::Predictors), is_list),
            })
        }
        "scheduler" => specs(ListedKind::Schedulers, is_list),
        "estimates" => specs(ListedKind::Estimates, command == "sweep"),
        "feedback" => specs(ListedKind::Feedback, command == "sweep"),
        "strategy" => specs(ListedKind::Strategies, true),
        "policy" => specs(ListedKind::Policies, true),
        "method" => specs(ListedKind::Methods, true),
        "baseline" | "present" => {
            completer(|typed| candidates::pairs(typed, &forms(ListedKind::Schedulers), &forms(ListedKind::Predictors)))
        }
        // What can be grouped: the columns that say what was run, and swept options.
        "group-by" => completer(|typed| {
            let columns = COLUMNS.iter().filter(|column| !column.is_number()).map(|column| (column.name, column.about));
            let swept = OPTIONS.iter().filter(|option| !COLUMNS.iter().any(|column| column.name == option.name));
            candidates::list(typed, columns.chain(swept.map(|option| (option.name, option.about))))
        }),
        "objective" | "guard" => {
            completer(|typed| candidates::list(typed, figures().map(|column| (column.name, column.about))))
        }
        "by" => completer(|typed| candidates::list(typed, GroupBy::all().map(|by| (by.name(), "")))),
        "names" => completer(|typed| candidates::list(typed, help::names())),
        // A list of logs, and the log of a site.
        "trace" if command == "sweep" => completer(|typed| files(typed, typed.rfind(',').map_or(0, |at| at + 1))),
        "site" => completer(|typed| typed.find('=').map_or(Vec::new(), |at| files(typed, at + 1))),
        id => match OptionForm::find(id).map(OptionForm::words) {
            Some(words) if !words.is_empty() => {
                completer(move |typed| candidates::list(typed, words.iter().map(|word| (*word, ""))))
            }
            _ => return with_files(argument),
        },
    };
    argument.add(completer)
}

/// Files and folders, by the word for the value.
fn with_files(argument: Arg) -> Arg {
    match argument.get_value_names().and_then(|names| names.first()).map(|name| name.as_str()) {
        Some("FILE" | "LOG" | "MACHINE" | "FIRST" | "SECOND") => argument.value_hint(ValueHint::FilePath),
        Some("DIR") => argument.value_hint(ValueHint::DirPath),
        _ => argument,
    }
}

/// The files whose names could follow `typed[..at]`.
fn files(typed: &str, at: usize) -> Vec<CompletionCandidate> {
    let name = &typed[at..];
    candidates::after(typed, name, PathCompleter::file().complete(OsStr::new(name)))
}

fn completer(of: impl Fn(&str) -> Vec<CompletionCandidate> + Send + Sync + 'static) -> ArgValueCompleter {
    ArgValueCompleter::new(move |typed: &OsStr| typed.to_str().map_or(Vec::new(), &of))
}
