//! `sim man`: manual pages for `man`, made from the help of the commands and the pages of `sim help`.

mod text;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Command};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use super::help;
use super::stderr::note;
use crate::report::{Output, OutputError};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  sim man ~/.local/share/man                       then `man sim`, `man sim-sweep` and `man sim-logs`
  sim man pages && man -l pages/man1/sim.1         without installing them")]
pub struct ManArgs {
    /// The folder for the pages; it is created, with man1 for commands and man7 for topics in it
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// The words at the bottom and the top of every page.
const MANUAL: &str = "Shadowtime";

pub fn execute(args: &ManArgs, quiet: bool) -> anyhow::Result<()> {
    let mut command = super::command();
    command.build();
    let mut commands = Vec::new();
    collect(&command, &mut commands);
    for (command, above) in &commands {
        let page = CommandPage { command, above: above.as_deref() };
        let others: Vec<_> = commands.iter().filter(|(_, above)| above.as_deref() == Some(&page.name())).collect();
        let others: Vec<_> = others.iter().map(|(command, _)| page_name(command)).collect();
        write(&args.folder, "1", &page.name(), |out| page.write(out, &others))?;
    }
    let topics = help::topics();
    for (topic, about) in &topics {
        write(&args.folder, "7", &format!("sim-{topic}"), |out| write_topic(out, topic, about))?;
    }
    if !quiet {
        let folder = args.folder.display();
        note(format_args!("{} pages of commands and {} of topics in {folder}", commands.len(), topics.len()));
    }
    Ok(())
}

/// The commands that users see, each with the name of the page of the command above it.
fn collect<'a>(command: &'a Command, all: &mut Vec<(&'a Command, Option<String>)>) {
    let above = all.is_empty().then_some(None);
    if let Some(above) = above {
        all.push((command, above));
    }
    for below in visible(command) {
        all.push((below, Some(page_name(command))));
        collect(below, all);
    }
}

/// The commands of a command that have a page. `help` prints other pages, and has none.
fn visible(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|below| !below.is_hide_set() && below.get_name() != "help")
}

/// The name of a command's page, such as `sim-sweep-merge`.
fn page_name(command: &Command) -> String {
    command.get_display_name().unwrap_or(command.get_name()).to_string()
}

/// Writes a page to its folder.
fn write(
    folder: &Path,
    section: &str,
    name: &str,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), OutputError> {
    let folder = folder.join(format!("man{section}"));
    std::fs::create_dir_all(&folder).map_err(|error| OutputError { name: folder.display().to_string(), error })?;
    Output::create(&folder.join(format!("{name}.{section}")).to_string_lossy())?.fill(content)
}

/// The page of a command.
struct CommandPage<'a> {
    command: &'a Command,
    /// The page of the command above it.
    above: Option<&'a str>,
}

impl CommandPage<'_> {
    fn name(&self) -> String {
        page_name(self.command)
    }

    /// The page in the order of `man-pages(7)`. `below` are the pages of its own commands.
    fn write(&self, out: &mut dyn Write, below: &[String]) -> io::Result<()> {
        let man = Man::new(self.command.clone()).title(self.name().to_uppercase()).source(source()).manual(MANUAL);
        man.render_title(out)?;
        man.render_name_section(out)?;
        man.render_synopsis_section(out)?;
        man.render_description_section(out)?;
        man.render_options_section(out)?;
        let mut roff = Roff::new();
        self.add_commands(&mut roff);
        if let Some(after) = self.command.get_after_long_help().or(self.command.get_after_help()) {
            // The reference to a page is in the last section.
            let after = after.to_string();
            let paragraphs = after.split("\n\n").filter(|paragraph| !paragraph.starts_with(help::REFERENCE));
            text::add_after_help(&mut roff, &paragraphs.collect::<Vec<_>>().join("\n\n"));
        }
        roff.control("SH", ["SEE ALSO"]);
        let topics: Vec<_> = match self.above {
            None => help::topics().into_iter().map(|(topic, _)| format!("sim-{topic}")).collect(),
            Some(_) => {
                help::topic_of(self.command.get_name()).into_iter().map(|topic| format!("sim-{topic}")).collect()
            }
        };
        let commands = self.above.map(str::to_string).into_iter().chain(below.iter().cloned());
        let pages = commands.map(|name| (name, "(1)")).chain(topics.into_iter().map(|name| (name, "(7)")));
        add_references(&mut roff, &pages.collect::<Vec<_>>());
        roff.to_writer(out)
    }
}

impl CommandPage<'_> {
    /// What each of its own commands does.
    fn add_commands(&self, roff: &mut Roff) {
        let mut below: Vec<_> = visible(self.command).collect();
        below.sort_by_key(|command| command.get_display_order());
        if !below.is_empty() {
            roff.control("SH", ["COMMANDS"]);
        }
        for command in below {
            roff.control("TP", []);
            roff.text([bold(command.get_name())]);
            roff.text([roman(command.get_about().map(ToString::to_string).unwrap_or_default())]);
        }
    }
}

fn add_references(roff: &mut Roff, pages: &[(String, &str)]) {
    for (at, (name, section)) in pages.iter().enumerate() {
        let comma = if at + 1 < pages.len() { "," } else { "" };
        roff.text([bold(name.as_str()), roman(format!("{section}{comma}"))]);
    }
}

fn write_topic(out: &mut dyn Write, topic: &str, about: &str) -> io::Result<()> {
    let mut roff = Roff::new();
    let title = format!("sim-{topic}").to_uppercase();
    roff.control("TH", [title.as_str(), "7", "", source().as_str(), MANUAL]);
    roff.control("SH", ["NAME"]);
    roff.text([roman(format!("sim-{topic} - {about}"))]);
    text::add_page(&mut roff, &help::printed(topic)?);
    roff.control("SH", ["SEE ALSO"]);
    add_references(&mut roff, &[("sim".to_string(), "(1)")]);
    roff.to_writer(out)
}

fn source() -> String {
    format!("sim {}", env!("CARGO_PKG_VERSION"))
}
