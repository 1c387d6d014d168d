//! The short help: what is used most, on two screens of 24 lines of 80 columns.

use std::io::{self, Write};

use clap::builder::StyledStr;
use clap::builder::styling::Styles;
use clap::{Arg, Command};

use crate::cli::{ABOUT, GROUPS};
use crate::experiment::{OptionForm, Section};

/// The options of a simulation that are used most.
const OPTIONS: [(&str, &str); 9] = [
    ("--scheduler <SPEC>", "Which job starts when; a list compares several: easy,sjbf"),
    ("--predictor <SPEC>", "How runtimes are predicted; a list too: sbh,ruh:window=2"),
    ("--baseline <S/P>", "Add the improvement over this one, such as easy/estimate"),
    ("--procs <N>", "Processors of the machine, if the log does not say it"),
    ("--machine <FILE>", "Its nodes and partitions, from a slurm.conf or TOML"),
    ("--first, --from <X>", "Only the first 1000 jobs; only those from 30d on"),
    ("--replications <N>", "Repeat on other years of the log: is a difference chance?"),
    ("--by <KEYS>", "Figures of groups of jobs too: width, user, queue, week"),
    ("--format <FORMAT>", "table (on a terminal), csv (elsewhere) or json"),
];

const EXAMPLES: [(&str, &str); 4] = [
    ("sim", "compared with plain EASY"),
    ("sim KTH.swf.gz --predictor sbh --baseline easy/estimate", ""),
    ("sim report KTH.swf.gz --out kth.html", "the same with charts"),
    ("sim recommend sacct.txt --slurm-conf slurm.conf", "for a site with Slurm"),
];

const MORE: [(&str, &str); 4] = [
    ("sim --help-all", "all options of a simulation, and more examples"),
    ("sim COMMAND --help", "the options of a command; `-h` prints the main ones"),
    ("sim help TOPIC", "a page of the manual; `sim list topics` lists them"),
    ("sim man, sim completions", "manual pages; completion of names in a shell"),
];

/// The short help with its headings in bold.
pub fn summary() -> StyledStr {
    let mut text = Vec::new();
    let _ = write(&mut text, true);
    String::from_utf8_lossy(&text).into_owned().into()
}

/// Writes the short help.
pub fn write(out: &mut dyn Write, is_styled: bool) -> io::Result<()> {
    let styles = if is_styled { Styles::styled() } else { Styles::plain() };
    let style = styles.get_header();
    let usage = "sim [OPTIONS] [LOG]    simulates a log, or without one an embedded log";
    writeln!(out, "{ABOUT}\n\n{style}Usage:{style:#} {usage}\n       sim COMMAND ...\n")?;
    for (heading, forms) in GROUPS {
        let lines: Vec<_> = forms.iter().map(|form| (form.name, form.about)).collect();
        write_section(out, &format!("{style}{heading}:{style:#}"), 9, &lines)?;
    }
    let sections = [("Main options", 19, &OPTIONS[..]), ("Examples", 47, &EXAMPLES), ("More", 24, &MORE)];
    for (heading, width, lines) in sections {
        writeln!(out)?;
        write_section(out, &format!("{style}{heading}:{style:#}"), width, lines)?;
    }
    Ok(())
}

/// Writes lines of a name of at most `width` columns and a text.
fn write_section(out: &mut dyn Write, heading: &str, width: usize, lines: &[(&str, &str)]) -> io::Result<()> {
    writeln!(out, "{heading}")?;
    lines.iter().try_for_each(|(name, text)| writeln!(out, "{}", format!("  {name:<width$}  {text}").trim_end()))
}

/// The options of the log, its shape, the engine and the metrics that `-h` of a command prints.
const KEPT: [&str; 5] = ["procs", "first", "from", "to", "load"];

/// The command with less in what `-h` prints; `--help` prints everything.
pub fn briefly(command: Command) -> Command {
    let is_rare = |option: &Arg| {
        let id = option.get_id().as_str();
        OptionForm::find(id).is_some_and(|form| form.section != Section::Run) && !KEPT.contains(&id)
    };
    command.mut_args(|option| if is_rare(&option) { option.hide_short_help(true) } else { option })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::text_width;

    #[test]
    fn the_short_help_fits_two_screens_and_names_what_there_is() {
        let mut text = Vec::new();
        write(&mut text, false).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.lines().count() <= 48, "{text}");
        for line in text.lines() {
            assert!(text_width(line) <= 80, "{line}");
        }
        for form in crate::cli::forms() {
            assert!(
                text.contains(&format!("  {} ", form.name)) || text.contains(&format!("sim {}", form.name)),
                "{text}"
            );
        }
        let command = crate::cli::command();
        for (names, _) in OPTIONS {
            for name in names.split([' ', ',']).filter_map(|word| word.strip_prefix("--")) {
                assert!(command.get_arguments().any(|option| option.get_long() == Some(name)), "--{name}");
            }
        }
    }
}
