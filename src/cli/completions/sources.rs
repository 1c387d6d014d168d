//! Which option takes which names.

use std::ffi::OsStr;

use clap::{Arg, Command, ValueHint};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};

use super::candidates::{self, Candidate};
use crate::cli::help;
use crate::cli::list::{What, forms};
use crate::experiment::OptionForm;
use crate::metrics::COLUMNS;

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
    let specs = |what: What, is_list: bool| completer(move |typed| candidates::specs(typed, &forms(what), is_list));
    // The commands whose options may be lists.
    let is_list = matches!(command, "sim" | "sweep");
    let completer = match argument.get_long().unwrap_or(argument.get_id().as_str()) {
        "predictor" => specs(What::Predictors, is_list),
        "scheduler" => specs(What::Schedulers, is_list),
        "estimates" => specs(What::Estimates, command == "sweep"),
        "strategy" => specs(What::Strategies, true),
        "policy" => specs(What::Policies, true),
        "method" => specs(What::Methods, true),
        "baseline" => completer(|typed| candidates::pairs(typed, &forms(What::Schedulers), &forms(What::Predictors))),
        "group-by" => {
            completer(|typed| candidates::list(typed, COLUMNS.iter().map(|column| (column.name, column.about))))
        }
        "names" => completer(|typed| {
            let topics = help::topics();
            candidates::list(typed, topics.iter().map(|(name, about)| (name.as_str(), about.as_str())))
        }),
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
        Some("FILE" | "LOG") => argument.value_hint(ValueHint::FilePath),
        Some("DIR") => argument.value_hint(ValueHint::DirPath),
        _ => argument,
    }
}

fn completer(of: impl Fn(&str) -> Vec<Candidate> + Send + Sync + 'static) -> ArgValueCompleter {
    ArgValueCompleter::new(move |typed: &OsStr| {
        let candidates = typed.to_str().map_or(Vec::new(), &of);
        let with_help = |candidate: Candidate| {
            let about = Some(candidate.about).filter(|about| !about.is_empty());
            CompletionCandidate::new(candidate.text).help(about.map(Into::into))
        };
        candidates.into_iter().map(with_help).collect::<Vec<_>>()
    })
}
