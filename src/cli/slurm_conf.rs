//! The scheduler `slurm` on the command line: its keys from the configuration of a site (`--slurm-conf FILE`), and a note on
//! predictions without effect.

use std::path::Path;

use clap::{Arg, ArgMatches, Command};

use super::failure::UsageError;
use super::options;
use super::stderr::{note, warning};
use crate::experiment::Options;
use crate::schedule::catalog;
use crate::schedule::slurm::conf::{SlurmConf, Unused};
use crate::text::printable;

const NAME: &str = "slurm-conf";

/// What the option means in commands that simulate.
pub const SLURM_CONF: &str = "Take the keys of the scheduler slurm from this slurm.conf; without --scheduler, slurm is used; see `sim help slurm`";

/// Adds the option to a command. `about` says what it means there.
pub fn add(command: Command, about: &'static str) -> Command {
    let argument = Arg::new(NAME).long(NAME).value_name("FILE").help(about).display_order(3);
    command.arg(argument)
}

/// What the file says, if the option was given. Warns of what is not simulated though it changes which jobs start. Unless
/// `quiet`, prints the scheduler that the file means, and what else was not used.
pub fn read(matches: &ArgMatches, quiet: bool) -> Result<Option<SlurmConf>, UsageError> {
    let Ok(Some(file)) = matches.try_get_one::<String>(NAME) else { return Ok(None) };
    let conf = SlurmConf::read(Path::new(file)).map_err(UsageError)?;
    let (mattering, others): (Vec<&Unused>, Vec<&Unused>) = conf.unused.iter().partition(|unused| unused.matters);
    if !mattering.is_empty() {
        warning(format_args!("{file}: not simulated, though it may change which jobs start: {}", in_words(&mattering)));
    }
    if !quiet {
        note(format_args!("{file} means {}", conf.scheduler()));
        if !others.is_empty() {
            note(format_args!("{file}: not used: {}", in_words(&others)));
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
fn in_words(unused: &[&Unused]) -> String {
    let runs = unused.chunk_by(|a, b| a.name.eq_ignore_ascii_case(&b.name) && a.place.included == b.place.included);
    let one = |run: &[&Unused]| {
        let (name, first, last) = (printable(&run[0].name), &run[0].place, run[run.len() - 1].place.line);
        match first.line == last {
            true => format!("{name} ({first})"),
            false => format!("{name} ({} to {last})", first.to_string().replace("line", "lines")),
        }
    };
    runs.map(one).collect::<Vec<_>>().join(", ")
}
