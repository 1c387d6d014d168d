//! `sim man`: manual pages for `man`, made from the help of the commands and the pages of `sim help`.

mod text;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Command};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use super::help;
use super::stderr::note;
use super::{CommandForm, parsed};
use crate::report::{Output, OutputError};

/// The subcommand.
pub const COMMAND: CommandForm = CommandForm {
    name: "man",
    about: "Write manual pages for `man`",
    arguments: ManArgs::augment_args,
    run: |matches| execute(&parsed(matches)),
};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  sim man ~/.local/share/man  then `man sim`, `man sim-sweep` and `man sim-logs`
  sim man pages && man -l pages/man1/sim.1
      without installing them")]
struct ManArgs {
    /// The folder for the pages; it is created, with man1 for commands and man7 for topics in it
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// The words at the bottom and the top of every page.
const MANUAL: &str = "Shadowtime";

fn execute(args: &ManArgs) -> anyhow::Result<()> {
    let mut command = super::command();
    command.build();
    let commands = write_commands(&args.folder, &command, None)?;
    for (topic, about) in help::topics() {
        write(&args.folder, "7", &format!("sim-{topic}"), |out| write_topic(out, topic, about))?;
    }
    let (topics, folder) = (help::topics().count(), args.folder.display());
    note(format_args!("{commands} pages of commands and {topics} of topics in {folder}"));
    Ok(())
}

/// Writes the pages of a command and of those below it, and returns their number. `above` is the page of the command above.
fn write_commands(folder: &Path, command: &Command, above: Option<&str>) -> Result<usize, OutputError> {
    let page_name = |command: &Command| command.get_display_name().unwrap_or(command.get_name()).to_string();
    let name = page_name(command);
    // `help` prints other pages, and has none.
    let below: Vec<_> = command.get_subcommands().filter(|below| below.get_name() != "help").collect();
    let topics = help::topics().map(|(topic, _)| topic);
    let topics = topics.filter(|topic| above.is_none() || help::topic_of(command.get_name()) == Some(topic));
    let commands = above.map(str::to_string).into_iter().chain(below.iter().map(|below| page_name(below)));
    let others: Vec<(String, &str)> =
        commands.map(|name| (name, "(1)")).chain(topics.map(|topic| (format!("sim-{topic}"), "(7)"))).collect();
    write(folder, "1", &name, |out| write_command(out, command, &name, &others))?;
    below.iter().try_fold(1, |pages, below| Ok(pages + write_commands(folder, below, Some(&name))?))
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

/// The page of a command in the order of `man-pages(7)`. `others` are the pages that it refers to.
fn write_command(out: &mut dyn Write, command: &Command, name: &str, others: &[(String, &str)]) -> io::Result<()> {
    let is_help = |below: &Command| below.get_name() == "help";
    let shown = command.clone().mut_subcommands(|below| if is_help(&below) { below.hide(true) } else { below });
    let man = Man::new(shown).title(name.to_uppercase()).source(source()).manual(MANUAL);
    man.render_title(out)?;
    man.render_name_section(out)?;
    man.render_synopsis_section(out)?;
    man.render_description_section(out)?;
    man.render_options_section(out)?;
    if command.get_subcommands().any(|below| !is_help(below)) {
        man.render_subcommands_section(out)?;
    }
    let mut roff = Roff::new();
    if let Some(after) = command.get_after_help() {
        text::add_after_help(&mut roff, &after.to_string());
    }
    add_references(&mut roff, others);
    roff.to_writer(out)
}

/// The last section of every page.
fn add_references(roff: &mut Roff, pages: &[(String, &str)]) {
    roff.control("SH", ["SEE ALSO"]);
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
    add_references(&mut roff, &[("sim".to_string(), "(1)")]);
    roff.to_writer(out)
}

fn source() -> String {
    format!("sim {}", env!("CARGO_PKG_VERSION"))
}
