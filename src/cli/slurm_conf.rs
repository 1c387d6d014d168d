//! The scheduler `slurm` on the command line: its keys from the configuration of a site (`--slurm-conf FILE`), and a note on
//! predictions without effect.

use std::path::Path;

use clap::{Arg, ArgMatches, Command};

use super::failure::UsageError;
use super::options;
use super::stderr::note;
use crate::experiment::Options;
use crate::schedule::catalog;
use crate::schedule::slurm::conf::{SlurmConf, Unused};
use crate::settings_file::{MOST_OF_SLURM_CONF, read_text};
use crate::text::printable;

const NAME: &str = "slurm-conf";

/// Adds the option to a command. `about` says what it means there.
pub fn add(command: Command, about: &'static str) -> Command {
    let argument = Arg::new(NAME).long(NAME).value_name("FILE").help(about).display_order(3);
    command.arg(argument)
}

/// What the file says, if the option was given. Unless `quiet`, prints the scheduler that it means, and what was not used.
pub fn read(matches: &ArgMatches, quiet: bool) -> Result<Option<SlurmConf>, UsageError> {
    let Ok(Some(file)) = matches.try_get_one::<String>(NAME) else { return Ok(None) };
    let text = read_text(Path::new(file), MOST_OF_SLURM_CONF).map_err(UsageError)?;
    let conf = SlurmConf::parse(&text).map_err(|error| UsageError(format!("{file}: {error}")))?;
    if !quiet {
        note(format_args!("{file} means {}", conf.scheduler()));
        if !conf.unused.is_empty() {
            note(format_args!("{file}: not used: {}", in_words(&conf.unused)));
        }
    }
    Ok(Some(conf))
}

/// Says that predictions have no effect under `slurm`, if a predictor was chosen for it.
pub fn note_idle_predictor(matches: &ArgMatches, settings: &[Options]) {
    let is_idle = |options: &Options| catalog::is_slurm_by_estimates(&options.scheduler);
    if options::is_given(matches, "predictor") && settings.iter().any(is_idle) {
        let plain = settings.iter().find(|options| is_idle(options) && options.predictor.name() != "estimate");
        if let Some(options) = plain {
            let predictor = &options.predictor;
            note(format_args!(
                "slurm plans with the users' estimates: {predictor} changes no start; slurm:running=prediction plans with it"
            ));
        }
    }
}

/// `ClusterName (line 1), NodeName (lines 3 to 7)`.
fn in_words(unused: &[Unused]) -> String {
    let runs = unused.chunk_by(|a, b| a.name == b.name);
    let one = |run: &[Unused]| {
        let (name, first, last) = (printable(&run[0].name), run[0].line, run[run.len() - 1].line);
        match first == last {
            true => format!("{name} (line {first})"),
            false => format!("{name} (lines {first} to {last})"),
        }
    };
    runs.map(one).collect::<Vec<_>>().join(", ")
}
