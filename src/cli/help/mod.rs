//! `sim help`: the pages of the manual and the help of the commands.
//!
//! A page is a Markdown file in this folder. The documentation of the modules includes the same files, so that each text
//! exists once. See [`page::write`] for what printing changes in a page.

mod page;

use std::io::{self, Write};

use clap::{Arg, ArgAction, ArgMatches, Command};

use super::failure::UsageError;
use super::{print_help, width};
use crate::report::{Output, write_wrapped};
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

/// All pages, in the order in which `sim help` lists them.
const TOPICS: &[Topic] = &[
    Topic {
        name: "logs",
        about: "your own cluster's log, where to get logs, formats, cleaning, shaping",
        command: Some("trace"),
        text: include_str!("logs.md"),
    },
    Topic {
        name: "formats",
        about: "every output with its columns, standard output, exit codes",
        command: None,
        text: include_str!("formats.md"),
    },
    Topic {
        name: "comparisons",
        about: "several settings, who gains and who pays, groups of jobs, is it chance?",
        command: None,
        text: include_str!("comparisons.md"),
    },
    Topic {
        name: "reports",
        about: "a comparison as one HTML file with charts",
        command: Some("report"),
        text: include_str!("reports.md"),
    },
    Topic {
        name: "schedulers",
        about: "the schedulers and how they decide",
        command: None,
        text: include_str!("schedulers.md"),
    },
    Topic {
        name: "slurm",
        about: "Slurm's own scheduler, your slurm.conf, and how it was checked against the daemon",
        command: None,
        text: include_str!("slurm.md"),
    },
    Topic {
        name: "predictors",
        about: "the predictors of runtimes with all their keys",
        command: None,
        text: include_str!("predictors.md"),
    },
    Topic {
        name: "templates",
        about: "templates of similar jobs and the search for them",
        command: Some("search"),
        text: include_str!("templates.md"),
    },
    Topic {
        name: "estimates",
        about: "models that make user estimates",
        command: Some("estimates"),
        text: include_str!("estimates.md"),
    },
    Topic {
        name: "workloads",
        about: "models that make logs",
        command: Some("generate"),
        text: include_str!("workloads.md"),
    },
    Topic {
        name: "sweeps",
        about: "grids of settings: lists, folders, resuming, Slurm, shell scripts",
        command: Some("sweep"),
        text: include_str!("sweeps.md"),
    },
    Topic {
        name: "recommendations",
        about: "which scheduler and predictor a site should use, and who would pay",
        command: Some("recommend"),
        text: include_str!("recommendations.md"),
    },
    Topic {
        name: "fidelity",
        about: "how near a simulated schedule is to the recorded one, for each log of the archive",
        command: Some("fidelity"),
        text: include_str!("fidelity.md"),
    },
    Topic {
        name: "production",
        about: "predictions for a batch system: a hook for PBS, and what is possible with Slurm",
        command: Some("predict"),
        text: include_str!("production.md"),
    },
    Topic {
        name: "waits",
        about: "predicting when a job will start",
        command: Some("wait"),
        text: include_str!("waits.md"),
    },
    Topic {
        name: "meta",
        about: "one stream of jobs, many sites",
        command: Some("meta"),
        text: include_str!("meta.md"),
    },
    Topic {
        name: "malleable",
        about: "jobs that choose their number of processors",
        command: Some("malleable"),
        text: include_str!("malleable.md"),
    },
    Topic {
        name: "reproduce",
        about: "the papers: what they published and what is measured here",
        command: Some("reproduce"),
        text: include_str!("reproduce.md"),
    },
    Topic {
        name: "checks",
        about: "how the results of this program were checked",
        command: None,
        text: include_str!("checks.md"),
    },
    Topic {
        name: "speed",
        about: "how long runs take and how much memory they need",
        command: None,
        text: include_str!("speed.md"),
    },
    Topic {
        name: "ci",
        about: "a CI job that fails when figures change, and the comparison of two outputs",
        command: Some("compare"),
        text: include_str!("ci.md"),
    },
    Topic {
        name: "how-it-works",
        about: "the order of events, reservations, missed deadlines",
        command: None,
        text: include_str!("how-it-works.md"),
    },
];

/// The names of the pages, each with a line about it.
pub fn topics() -> Vec<(String, String)> {
    TOPICS.iter().map(|topic| (topic.name.to_string(), topic.about.to_string())).collect()
}

/// What `sim help` can be asked for: the commands and the pages, each name once, with a line about it.
pub fn names() -> Vec<(String, String)> {
    let command = super::command();
    let about = |command: &Command| command.get_about().map(ToString::to_string).unwrap_or_default();
    let commands = commands(&command).into_iter().map(|command| (command.get_name().to_string(), about(command)));
    let mut names: Vec<_> = commands.collect();
    names.extend(topics().into_iter().filter(|(topic, _)| command.find_subcommand(topic).is_none()));
    names
}

/// The page to which the help of a command refers.
pub fn topic_of(command: &str) -> Option<&'static str> {
    TOPICS.iter().find(|topic| topic.command == Some(command)).map(|topic| topic.name)
}

/// How the help of a command refers to a page.
pub const REFERENCE: &str = "See also: sim help ";

/// A page as it is printed.
///
/// # Errors
/// If there is no such page.
pub fn printed(topic: &str) -> io::Result<String> {
    let topic = TOPICS.iter().find(|other| other.name == topic).ok_or(io::ErrorKind::NotFound)?;
    let mut text = Vec::new();
    page::write(&mut text, topic.text, page::WIDTH)?;
    String::from_utf8(text).map_err(io::Error::other)
}

/// The code of a program that is part of a page: the first block of Python after the heading with the name of its file.
///
/// # Panics
/// If the page has no such heading.
pub fn program_in_page(topic: &str, file: &str) -> &'static str {
    let page = TOPICS.iter().find(|other| other.name == topic).map_or("", |topic| topic.text);
    let after_heading = page.split_once(&format!("\n### {file}\n")).map(|(_, text)| text);
    let block = after_heading.and_then(|text| text.split_once("\n```python\n")?.1.split_once("```\n"));
    block.unwrap_or_else(|| panic!("the page '{topic}' has no program '{file}'")).0
}

/// Adds to a command line: the command `help`, a list of the topics, and references from commands to their pages.
pub fn add(command: Command) -> Command {
    let names: Vec<_> = TOPICS.iter().map(|topic| topic.name).collect();
    let list = format!("`sim help TOPIC` prints a page of the manual. Topics: {}.", names.join(", "));
    // Instead of clap's own, which knows no topics. That turns off clap's in the commands below as well.
    let about = "Print a page of the manual, the help of a command, or the list of both";
    let mut command = with_ending(command, &list).disable_help_subcommand(true);
    let with_commands = command.get_subcommands().filter(|command| command.has_subcommands());
    for name in with_commands.map(|command| command.get_name().to_string()).collect::<Vec<_>>() {
        command = command.mut_subcommand(name, |command| command.subcommand(help("Print the help of a command")));
    }
    for topic in TOPICS {
        let reference = format!("{REFERENCE}{}", topic.name);
        if let Some(name) = topic.command {
            command = command.mut_subcommand(name, |command| with_ending(command, &reference));
        }
    }
    with_whole_paragraphs(command.subcommand(help(about))).term_width(width::of_stdout())
}

fn help(about: &'static str) -> Command {
    let names = Arg::new("names").value_name("TOPIC OR COMMAND").action(ArgAction::Append).num_args(0..);
    let names = names.help("A topic, or a command and its own commands: `sim help sweep merge`");
    Command::new("help").about(about).arg(names)
}

/// Joins the lines of each paragraph after the options of a command, so that they are broken once: for the width of the
/// terminal. Examples are indented, and stay as they are.
fn with_whole_paragraphs(command: Command) -> Command {
    let command = match command.get_after_help().map(ToString::to_string) {
        Some(text) => command.after_help(whole_paragraphs(&text)),
        None => command,
    };
    command.mut_subcommands(with_whole_paragraphs)
}

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

/// Adds a paragraph to the end of a command's help.
fn with_ending(command: Command, words: &str) -> Command {
    let text = match command.get_after_help() {
        Some(before) => format!("{before}\n\n{words}"),
        None => words.to_string(),
    };
    command.after_help(text)
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

/// Prints the list of everything, the help of a command, or a page. A name that is both has both, the page last.
pub fn execute(names: &[String]) -> anyhow::Result<()> {
    let command = super::command();
    if names.is_empty() {
        return Ok(Output::stdout().fill(|out| write_list(out, &command))?);
    }
    let topic = TOPICS.iter().find(|topic| names == [topic.name]);
    let is_command = names.iter().try_fold(&command, |command, name| command.find_subcommand(name)).is_some();
    if !is_command && topic.is_none() {
        return Err(UsageError(unknown(names, &command)).into());
    }
    if is_command {
        let arguments = ["sim"].into_iter().chain(names.iter().map(String::as_str)).chain(["--help"]);
        let help = super::command().try_get_matches_from(arguments).expect_err("`--help` prints help");
        print_help(&help)?;
    }
    if let Some(topic) = topic {
        Output::stdout().fill(|out| {
            if is_command {
                writeln!(out)?;
            }
            page::write(out, topic.text, width::of_stdout())
        })?;
    }
    Ok(())
}

fn unknown(names: &[String], command: &Command) -> String {
    let topics: Vec<_> = TOPICS.iter().map(|topic| topic.name).collect();
    let commands: Vec<_> = commands(command).into_iter().map(Command::get_name).collect();
    let word = names.join(" ");
    let meant = did_you_mean(&word, topics.iter().chain(&commands).copied());
    format!("no topic or command '{word}'{meant}\n  topics: {}\n  commands: {}", topics.join(", "), commands.join(", "))
}

/// The commands in the order of the main help.
fn commands(command: &Command) -> Vec<&Command> {
    let mut commands: Vec<_> = command.get_subcommands().filter(|command| command.get_name() != "help").collect();
    commands.sort_by_key(|command| command.get_display_order());
    commands
}

fn write_list(out: &mut dyn Write, command: &Command) -> std::io::Result<()> {
    writeln!(out, "sim --help          the options of a simulation, with examples")?;
    writeln!(out, "sim help COMMAND    the options of a command, as `sim COMMAND --help` prints them")?;
    writeln!(out, "sim help TOPIC      a page of the manual")?;
    let mut list = |heading: &str, lines: &[(&str, String)]| -> std::io::Result<()> {
        writeln!(out, "\n{heading}:")?;
        let names = lines.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        for (name, about) in lines {
            write_wrapped(out, &format!("  {name:<names$}  "), about, width::of_stdout())?;
        }
        Ok(())
    };
    let about = |command: &Command| command.get_about().map(ToString::to_string).unwrap_or_default();
    let lines: Vec<_> = commands(command).into_iter().map(|command| (command.get_name(), about(command))).collect();
    list("Commands", &lines)?;
    let lines: Vec<_> = TOPICS.iter().map(|topic| (topic.name, topic.about.to_string())).collect();
    list("Topics", &lines)
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
