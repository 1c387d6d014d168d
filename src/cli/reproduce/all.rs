//! `sim reproduce all`: writes the figures of every study to a folder, and reuses those that are still valid.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;

use super::again::command;
use super::{compute, find};
use crate::cli::output_options::OutputOptions;
use crate::cli::stderr::{self, note, warning};
use crate::cli::width;
use crate::report::{Output, OutputError, Width, write_csv, write_wrapped};
use crate::reproduce::{
    ArchiveLog, Figure, FoundLog, KeptFigures, STUDIES, Setup, Study, StudyError, acknowledgements, study_page,
    write_figures, write_overview,
};

/// One line for the list of studies.
pub const ABOUT: &str = "Run all of these studies and write their figures to a folder";

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  sim reproduce all --logs logs --out studies --quick
      a quick test of every study, in minutes
  sim reproduce all --logs logs --out studies
      the same as the single commands: 40 minutes of processor time

Writes the figures of each study to STUDY.csv, STUDY.txt, STUDY.html (with charts) and STUDY.json. The next call with the
same folder uses STUDY.json again if neither the logs of the study nor the program have changed. summary.txt contains the
overview of every study: how many published figures agree with ours. It is also printed.")]
pub struct AllArgs {
    /// The folder with the logs
    #[arg(long, value_name = "DIR")]
    logs: PathBuf,
    /// The folder for the figures; figures in it that are still valid are used again
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// A quick test: one replication of each study, and samples where the whole study takes long
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    output: OutputOptions,
}

pub fn execute(args: &AllArgs) -> anyhow::Result<()> {
    let no_folder = |error| OutputError { name: args.out.display().to_string(), error };
    std::fs::create_dir_all(&args.out).map_err(no_folder)?;
    let mut wanted: Vec<ArchiveLog> = Vec::new();
    for log in STUDIES.iter().flat_map(|study| study.logs) {
        if !wanted.contains(log) {
            wanted.push(*log);
        }
    }
    let logs = find(&args.logs, &wanted)?;
    let (mut done, mut failed): (Vec<(Study, Vec<Figure>)>, Vec<&str>) = (Vec::new(), Vec::new());
    for study in STUDIES {
        let logs: Vec<FoundLog> = logs.iter().filter(|found| study.logs.contains(&found.log)).cloned().collect();
        if logs.is_empty() && !study.logs.is_empty() {
            warning(format_args!("{} is left out: none of its logs is in {}", study.name, args.logs.display()));
            continue;
        }
        // A damaged or short log spoils its studies, but not the others.
        let figures = match figures(args, study, &logs) {
            Err(error) if !matches!(error.downcast_ref(), None | Some(StudyError::Kept(_))) => {
                stderr::error(format_args!("{}: {error:#}", study.name));
                failed.push(study.name);
                continue;
            }
            other => other?,
        };
        write_study(&args.out, study, &logs, &figures)?;
        done.push((study, figures));
    }
    let summary = |out: &mut dyn Write, width: Width| {
        done.iter().try_for_each(|(study, figures)| write_summary(out, width, study, figures))
    };
    create(&args.out, "summary.txt")?.fill(|out| summary(out, width::DEFAULT.into()))?;
    let of_study = |(study, figures): &(Study, Vec<Figure>)| {
        figures.iter().map(|figure| figure.cells(study.name)).collect::<Vec<_>>()
    };
    let cells: Vec<_> = done.iter().flat_map(of_study).collect();
    args.output.print.print_rows(false, &cells, |out, width| summary(out, width))?;
    if !logs.is_empty() {
        stderr::line(acknowledgements(&logs));
    }
    anyhow::ensure!(failed.is_empty(), "{} of {} studies failed: {}", failed.len(), STUDIES.len(), failed.join(", "));
    Ok(())
}

/// The figures of a study, from the folder if they are there and still valid.
fn figures(args: &AllArgs, study: Study, logs: &[FoundLog]) -> anyhow::Result<Vec<Figure>> {
    let key = KeptFigures::key(&study, logs, args.quick)?;
    let file = args.out.join(format!("{}.json", study.name));
    if let Some(kept) = KeptFigures::read(&file, &key) {
        note(format_args!("{}: reused from {}", study.name, file.display()));
        return Ok(kept.figures);
    }
    let mut setup = Setup::new(&study, logs.to_vec(), args.output.threads(), args.quick);
    setup.folder = Some(args.out.join(format!("{}-runs", study.name)));
    let kept = KeptFigures { key, figures: compute(&study, &setup)?.figures };
    Output::create(&file.to_string_lossy())?.fill(|out| kept.write(out))?;
    Ok(kept.figures)
}

/// The figures as a table, as CSV and as a page with charts.
fn write_study(folder: &Path, study: Study, logs: &[FoundLog], figures: &[Figure]) -> Result<(), OutputError> {
    create(folder, &format!("{}.txt", study.name))?.fill(|out| {
        write_overview(out, width::DEFAULT.into(), study.name, figures)?;
        write_figures(out, width::DEFAULT.into(), figures)
    })?;
    let cells: Vec<_> = figures.iter().map(|figure| figure.cells(study.name)).collect();
    create(folder, &format!("{}.csv", study.name))?.fill(|out| write_csv(out, &cells, true))?;
    let page = study_page(study.name, command(), logs, figures);
    create(folder, &format!("{}.html", study.name))?.fill(|out| out.write_all(page.as_bytes()))
}

fn write_summary(out: &mut dyn Write, width: Width, study: &Study, figures: &[Figure]) -> io::Result<()> {
    write_wrapped(out, "", study.paper, width)?;
    write_overview(out, width, study.name, figures)
}

fn create(folder: &Path, name: &str) -> Result<Output, OutputError> {
    Output::create(&folder.join(name).to_string_lossy())
}
