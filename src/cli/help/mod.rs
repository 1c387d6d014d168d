//! `sim help`: the pages of the manual and the help of the commands.
//!
//! A page is a Markdown file in this folder. The documentation of the modules includes the same files, so that each text
//! exists once. See [`page::write`] for what printing changes in a page.

mod page;
mod summary;

use std::io::{self, Write};

use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Command};

pub use summary::{briefly, summary};

use super::failure::refuse;
use super::{color, forms, pager, width};
use crate::report::{Output, OutputError};
use crate::similar::did_you_mean;

/// A page of the manual.
struct Topic {
    name: &'static str,
    /// One line for the list of topics.
    about: &'static str,
    /// The command whose help refers to the page.
    command: Option<&'static str>,
    text: &'static str,
}

/// A page: the name of its file and of its topic, the command whose help refers to it, and a line about it.
macro_rules! page {
    ($name:literal, $command:expr, $about:literal) => {
        Topic { name: $name, about: $about, command: $command, text: include_str!(concat!($name, ".md")) }
    };
}

/// All pages, in the order in which `sim list topics` prints them.
const TOPICS: &[Topic] = &[
    page!("tour", Some("example"), "ten minutes with the files of a small site, for an administrator"),
    page!("glossary", None, "the words of these pages and of the outputs"),
    page!("logs", Some("trace"), "your own cluster's log, where to get logs, formats, cleaning, shaping"),
    page!("machines", Some("machine"), "nodes and partitions of a site: slurm.conf, TOML, accounts and limits"),
    page!("gpus", None, "GPU clusters: from a table of jobs to answers"),
    page!("formats", None, "every output with its columns, standard output, exit codes"),
    page!("comparisons", None, "several settings, who gains and who pays, groups of jobs, is it chance?"),
    page!("reports", Some("report"), "a comparison as one HTML file with charts"),
    page!("feedback", None, "users who react: jobs that arrive after the simulated ends of earlier ones"),
    page!("schedulers", None, "the schedulers and how they decide"),
    page!("slurm", None, "Slurm's own scheduler, and your slurm.conf"),
    page!("predictors", None, "the predictors of runtimes with all their keys"),
    page!("templates", Some("search"), "templates of similar jobs and the search for them"),
    page!("estimates", None, "models that make user estimates"),
    page!("workloads", Some("generate"), "models that make logs"),
    page!("sweeps", Some("sweep"), "grids of settings: lists, folders, resuming, Slurm, shell scripts"),
    page!("recommendations", Some("recommend"), "which scheduler and predictor a site should use, and who would pay"),
    page!("fidelity", Some("fidelity"), "how near a simulated schedule is to the recorded one"),
    page!("production", Some("predict"), "predictions for a batch system: PBS, and what is possible with Slurm"),
    page!("waits", Some("wait"), "predicting when a job will start"),
    page!("meta", Some("meta"), "one stream of jobs, many sites"),
    page!("malleable", Some("malleable"), "jobs that choose their number of processors"),
    page!("reproduce", Some("reproduce"), "the papers: how to compute their tables, and what differs"),
    page!("results", None, "what was measured: which setting helps, Slurm, waits, the papers"),
    page!("checks", None, "how the results of this program were checked"),
    page!("speed", None, "how long runs take and how much memory they need"),
    page!("ci", Some("compare"), "a CI job that fails when figures change, and the comparison of two outputs"),
    page!("how-it-works", None, "the order of events, reservations, missed deadlines"),
    page!("contributing", None, "which files a new predictor, scheduler, column, chart or format needs"),
];

/// The names of the pages, each with a line about it.
pub fn topics() -> impl Iterator<Item = (&'static str, &'static str)> {
    TOPICS.iter().map(|topic| (topic.name, topic.about))
}

/// The commands in the order of the main help, each with a line about it.
fn commands() -> impl Iterator<Item = (&'static str, &'static str)> {
    forms().map(|form| (form.name, form.about))
}

/// The page to which the help of a command refers.
fn topic_of(command: &str) -> Option<&'static str> {
    TOPICS.iter().find(|topic| topic.command == Some(command)).map(|topic| topic.name)
}

/// How the help of a command refers to a page.
const REFERENCE: &str = "See also: sim help ";

/// The option that prints all options of a simulation. `--help` prints what fits on two screens.
pub const ALL: &str = "--help-all";

/// Adds to a command line: the command `help`, the option for all of the help, and a list of the topics.
pub fn add(command: Command) -> Command {
    let names: Vec<_> = TOPICS.iter().map(|topic| topic.name).collect();
    let list = format!("`sim help TOPIC` prints a page of the manual. Topics: {}.", names.join(", "));
    let about = "Print a page of the manual, or the help of a command";
    let all = Arg::new("help-all").long("help-all").action(ArgAction::HelpLong).help("Print all options and examples");
    // Instead of clap's own, which knows no topics. That turns off clap's in the commands below as well.
    let command = with_ending(command.arg(all), Some(list)).disable_help_subcommand(true);
    command.subcommand(help(about)).term_width(width::of_stdout().columns)
}

/// Adds to a command: a command `help` if it has commands, and a reference to its page.
pub fn complete(command: Command) -> Command {
    let reference = topic_of(command.get_name()).map(|topic| format!("{REFERENCE}{topic}"));
    let command = match command.has_subcommands() {
        true => {
            command.mut_subcommands(|below| with_ending(below, None)).subcommand(help("Print the help of a command"))
        }
        false => command,
    };
    with_ending(command, reference)
}

fn help(about: &'static str) -> Command {
    let names = Arg::new("names").value_name("TOPIC OR COMMAND").action(ArgAction::Append).num_args(0..);
    let names = names.help("A topic, or a command and its own commands: `sim help sweep merge`");
    Command::new("help").about(about).arg(names)
}

/// Adds a paragraph to the end of a command's help.
fn with_ending(command: Command, words: Option<String>) -> Command {
    let parts: Vec<String> = command.get_after_help().map(ToString::to_string).into_iter().chain(words).collect();
    if parts.is_empty() { command } else { command.after_help(whole_paragraphs(&parts.join("\n\n"))) }
}

/// Joins the lines of each paragraph, so that they are broken once: for the width of the terminal. Examples are indented, and
/// stay as they are.
fn whole_paragraphs(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let is_kept = |line: &str| line.is_empty() || line.starts_with(' ');
        match lines.last_mut() {
            Some(before) if !is_kept(before) && !is_kept(line) => {
                before.push(' ');
                before.push_str(line);
            }
            _ => lines.push(line.to_string()),
        }
    }
    lines.join("\n")
}

/// The names after `help`, with the commands before it, if a `help` was asked for: `sim sweep help merge` gives what
/// `sim help sweep merge` gives.
pub fn asked(matches: &ArgMatches) -> Option<Vec<String>> {
    let mut names = Vec::new();
    let mut matches = matches;
    while let Some((name, below)) = matches.subcommand() {
        if name == "help" {
            names.extend(below.get_many::<String>("names").into_iter().flatten().cloned());
            return Some(names);
        }
        names.push(name.to_string());
        matches = below;
    }
    None
}

/// Prints help or the version. clap could print it too, but ignores errors of the output.
pub fn print(help: &clap::Error) -> Result<(), OutputError> {
    match help.kind() {
        ErrorKind::DisplayVersion => Output::stdout().fill(|out| write_rendered(out, help)),
        _ => pager::show(|out| write_rendered(out, help)),
    }
}

fn write_rendered(out: &mut dyn Write, help: &clap::Error) -> io::Result<()> {
    let text = help.render();
    if color::of_stdout() { write!(out, "{}", text.ansi()) } else { write!(out, "{text}") }
}

/// Prints the short help, the help of a command, or a page. A name that is both has both, the page last.
pub fn execute(names: &[String]) -> anyhow::Result<()> {
    if names.is_empty() {
        return Ok(pager::show(|out| summary::write(out, color::of_stdout()))?);
    }
    let mut command = super::command_with(false, |name| names[0] == name);
    let topic = TOPICS.iter().find(|topic| names == [topic.name]);
    let is_command = names.iter().try_fold(&command, |command, name| command.find_subcommand(name)).is_some();
    if !is_command && topic.is_none() {
        return refuse(unknown(names));
    }
    let rendered = || {
        let arguments = ["sim"].into_iter().chain(names.iter().map(String::as_str)).chain(["--help"]);
        command.try_get_matches_from_mut(arguments).expect_err("`--help` prints help")
    };
    let help = is_command.then(rendered);
    Ok(pager::show(|out| {
        if let Some(help) = &help {
            write_rendered(out, help)?;
        }
        if let Some(topic) = topic {
            out.write_all(if is_command { b"\n" } else { b"" })?;
            page::write(out, topic.text, width::of_stdout().columns)?;
        }
        Ok(())
    })?)
}

fn unknown(names: &[String]) -> String {
    let topics: Vec<_> = topics().map(|(name, _)| name).collect();
    let commands: Vec<_> = commands().map(|(name, _)| name).collect();
    let word = names.join(" ");
    let meant = did_you_mean(&word, topics.iter().chain(&commands).copied());
    format!("no topic or command '{word}'{meant}\n  topics: {}\n  commands: {}", topics.join(", "), commands.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_are_broken_once() {
        let text = "Examples:\n  sim a\n  sim b\n\nOne\ntwo:\n\n  [x]\n\nThree\nfour.";
        assert_eq!(whole_paragraphs(text), "Examples:\n  sim a\n  sim b\n\nOne two:\n\n  [x]\n\nThree four.");
    }
}
