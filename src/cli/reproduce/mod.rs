//! `sim reproduce`: the tables of a paper, with published and measured figures side by side. Each study says which options it has.

mod again;
mod all;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, value_parser};

use again::command;

use super::failure::{UsageError, refuse};
use super::output_options::{KeepOption, OutputFiles, OutputOptions};
use super::progress::Progress;
use super::quiet::is_quiet;
use super::settings::runs_in_words;
use super::stderr::{self, note, warning};
use super::{CommandForm, parsed};
use crate::metrics::{Given, RunRow, cells};
use crate::report::write_csv;
use crate::reproduce::{
    ArchiveLog, Computed, FoundLog, STUDIES, STUDY_RUN_COLUMNS, Setup, Study, StudyOption, acknowledgements, find_logs,
    study_page, write_figures, write_overview,
};
use crate::runs::{PlannedRun, RunPlan};
use crate::time::readable_duration;

/// The subcommand.
pub const COMMAND: CommandForm = CommandForm {
    name: "reproduce",
    about: "Compute the tables of a paper again, beside what it published",
    arguments: |command| {
        let command = command.subcommand_required(true).arg_required_else_help(true).subcommand_value_name("STUDY");
        let all = all::AllArgs::augment_args(Command::new("all"));
        command.subcommands(STUDIES.iter().map(study_command)).subcommand(all.about(all::ABOUT))
    },
    run: |matches| match matches.subcommand().expect("clap requires a study") {
        ("all", matches) => all::execute(&parsed(matches)),
        (name, matches) => {
            let study = STUDIES.iter().find(|study| study.name == name).expect("clap knows only these studies");
            execute(study, &parsed(matches), matches)
        }
    },
};

/// The arguments of every study.
#[derive(Debug, Args)]
struct StudyArgs {
    /// The folder with the logs
    #[arg(long, value_name = "DIR")]
    logs: Option<PathBuf>,
    /// A quick test: one replication, and samples where the whole study takes long
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    output: OutputOptions,
    /// Write the figures as one HTML file too, with charts of published against measured numbers; - for standard output
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    html: Option<String>,
}

/// The arguments of studies whose runs are those of a sweep.
#[derive(Debug, Args)]
struct RunsArgs {
    #[command(flatten)]
    keep: KeepOption,
    /// Write a CSV with one line per run: the command that repeats the run alone, and its summary; - for standard output (the
    /// figures then go to standard error)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    cells_out: Option<String>,
}

/// The command of a study, with its own options.
fn study_command(study: &Study) -> Command {
    let option = |option: &StudyOption| {
        let argument = Arg::new(option.name).long(option.name).help(option.about).conflicts_with("quick");
        match option.bounds {
            [0, 1] => argument.action(ArgAction::SetTrue),
            [least, most] => {
                let number = value_parser!(u64).range(least..=most);
                argument.value_name("N").value_parser(number).default_value(option.values[0].to_string())
            }
        }
    };
    let command = StudyArgs::augment_args(Command::new(study.name)).args(study.options.iter().map(option));
    let command = if study.has_runs { RunsArgs::augment_args(command) } else { command };
    let command = match study.logs.is_empty() {
        true => command.mut_arg("logs", |logs| {
            logs.help(
                "Ignored: the study uses no logs. The option exists so that all studies can be called in the same way",
            )
        }),
        false => command.mut_arg("logs", |logs| logs.required(true)),
    };
    command.about(study.paper).after_help(study.help)
}

/// Computes a study and prints it.
fn execute(study: &Study, args: &StudyArgs, matches: &ArgMatches) -> anyhow::Result<()> {
    let runs = study.has_runs.then(|| RunsArgs::from_arg_matches(matches)).transpose()?;
    let logs = match &args.logs {
        Some(folder) if study.logs.is_empty() => {
            note(format_args!("this study uses no logs: {} is ignored", folder.display()));
            Vec::new()
        }
        Some(folder) => {
            let logs = find(folder, study.logs)?;
            if logs.is_empty() {
                return refuse(format!("none of the logs of the study is in {}", folder.display()));
            }
            logs
        }
        None => Vec::new(),
    };
    let inputs: Vec<_> = logs.iter().filter_map(|log| Some(("--logs", log.file.to_str()?))).collect();
    let cells_out = runs.as_ref().and_then(|runs| runs.cells_out.clone());
    // As with the main command: if a file is standard output, the result goes to standard error.
    let outputs = [("--cells-out", &cells_out), ("--html", &args.html)];
    let OutputFiles { files: [cells_out, html], stdout_taken } = OutputFiles::open(outputs, &inputs)?;
    let mut setup = Setup::new(study, logs, args.output.threads(), args.quick);
    setup.folder = runs.and_then(|runs| runs.keep.folder);
    for option in study.options.iter().filter(|_| !args.quick) {
        let value = match option.bounds {
            [0, 1] => matches.get_flag(option.name).into(),
            _ => *matches.get_one::<u64>(option.name).expect("it has a default"),
        };
        (option.set)(&mut setup, value);
    }
    if let Some(cost) = study.cost.filter(|_| !is_quiet()) {
        note(cost(&setup)?);
    }
    let Computed { figures, runs } = compute(study, &setup)?;
    if let Some((plan, runs)) = &runs {
        note(runs_in_words(runs.rows.len(), runs.reused, runs.computed));
        cells_out.map_or(Ok(()), |out| out.fill(|out| write_cells(out, plan, &runs.rows)))?;
    }
    if let Some(out) = html {
        let page = study_page(study.name, command(), &setup.logs, &figures);
        out.fill(|out| out.write_all(page.as_bytes()))?;
    }
    let rows: Vec<_> = figures.iter().map(|figure| figure.cells(study.name)).collect();
    args.output.print.print_rows(stdout_taken, &rows, |out, width| {
        write_overview(out, width, study.name, &figures)?;
        write_figures(out, width, &figures)
    })?;
    if !setup.logs.is_empty() {
        stderr::line(acknowledgements(&setup.logs));
    }
    Ok(())
}

/// Writes one line per run, with the command that repeats it.
fn write_cells(out: &mut dyn Write, plan: &RunPlan, rows: &[RunRow]) -> io::Result<()> {
    let row =
        |(run, row): (PlannedRun, &RunRow)| [cells(STUDY_RUN_COLUMNS, &run, Given::default()), row.cells()].concat();
    write_csv(out, &plan.runs().zip(rows).map(row).collect::<Vec<_>>(), true)
}

/// Finds logs in a folder, with a warning for each log that is missing.
fn find(folder: &Path, wanted: &[ArchiveLog]) -> anyhow::Result<Vec<FoundLog>> {
    let failed = |error| UsageError(format!("cannot read the folder {}: {error}", folder.display()));
    let (logs, missing) = find_logs(folder, wanted).map_err(failed)?;
    // Of the GPU clusters most people have none.
    for log in missing.iter().filter(|log| log.is_of_archive()) {
        warning(format_args!("no log {}*.swf in {}: left out", log.prefix, folder.display()));
    }
    logs.iter().for_each(|found| note(format_args!("{} is {}", found.log.name, found.file.display())));
    Ok(logs)
}

/// Computes the figures of a study, with a progress bar and a note of the time taken.
fn compute(study: &Study, setup: &Setup) -> anyhow::Result<Computed> {
    let began = Instant::now();
    let computed = {
        let progress = Progress::counting(study.name, study.unit, Some((study.steps)(setup)));
        (study.compute)(setup, &|done| progress.set(done))?
    };
    note(format_args!("{}: done in {}", study.name, readable_duration(began.elapsed().as_secs_f64())));
    Ok(computed)
}
