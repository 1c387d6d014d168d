//! `sim reproduce`: the tables of a paper, with published and measured figures side by side.

mod all;
mod downey;
mod gaussier;
mod html;
mod kumar_meta;
mod kumar_wait;
mod orders;
mod ours;
mod smith;
mod talby;
mod tsafrir;

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Args, Subcommand};

use super::failure::UsageError;
use super::output_options::OutputOptions;
use super::places::{OptionFile, given_files, refuse_collisions};
use super::progress::Progress;
use super::stderr::{self, note, warning};
use super::{CommandForm, parsed};
use crate::report::Output;
use crate::reproduce::{ArchiveLog, Figure, FoundLog, Setup, Study, acknowledgements, find_logs};
use crate::reproduce::{write_figures, write_overview};
use crate::time::readable_duration;

/// The subcommand.
pub const COMMAND: CommandForm = CommandForm {
    name: "reproduce",
    about: "Compute the tables of a paper again, with published and measured figures side by side",
    arguments: ReproduceArgs::augment_args,
    run: |matches, quiet| execute(&parsed(matches), quiet),
};

#[derive(Debug, Args)]
struct ReproduceArgs {
    #[command(subcommand)]
    paper: Paper,
}

#[derive(Debug, Subcommand)]
enum Paper {
    /// Session-based prediction: Tables 2, 4, 5, 6, Figures 2 to 5 and the claims of the text of Talby et al.
    #[command(after_help = "Examples:
  sim reproduce talby --logs logs --replications 1              a quick test: less than a minute per core
  sim reproduce talby --logs logs --out study --format csv      ten replications; can be stopped and resumed

Uses the logs SDSC-SP2-1998, CTC-SP2-1996, KTH-SP2-1996 and SDSC-BLUE-2000 of the Parallel Workloads Archive, any version.
Missing logs are named, and the tables are computed from the others.")]
    Talby(talby::TalbyArgs),
    /// Templates and the search for them: Tables 1 and 4 to 10 of Smith, Foster and Taylor
    #[command(after_help = "Examples:
  sim reproduce smith --logs logs --replications 1              one genetic search per log
  sim reproduce smith --logs logs --format csv                  ten searches per log, for intervals: about a minute

Uses the logs CTC-SP2-1996 and SDSC-Par-1996 of the Parallel Workloads Archive, any version. The two other workloads of the
paper, ANL and SDSC95, are not public: their published figures are printed without measured ones.")]
    Smith(smith::SmithArgs),
    /// Models of user estimates: Tables 1, 2 and 5 and Figures 14 to 16 of Tsafrir, Etsion and Feitelson
    #[command(after_help = "Examples:
  sim reproduce tsafrir --logs logs --replications 4                 a quick test: some seconds
  sim reproduce tsafrir --logs logs --format csv                a hundred seeds, as in the paper: some minutes

Uses the logs SDSC-SP2-1998, CTC-SP2-1996, KTH-SP2-1996 and SDSC-BLUE-2000 of the Parallel Workloads Archive, any version.
They are prepared as in the paper, and only jobs with a runtime and processors above 0 are used. SDSC-106 is SDSC without the
jobs whose estimate only one user uses, the user with most such estimates. KTH4H has only the jobs of KTH with estimates up to
4 hours. The paper prints no numbers for Figures 14 to 16, so only measured figures are shown.")]
    Tsafrir(tsafrir::TsafrirArgs),
    /// Malleable jobs: Tables 1 and 2, Figure 5, the numbers in the text and the future work of Downey
    #[command(after_help = "Examples:
  sim reproduce downey --days 20                                a quick test
  sim reproduce downey --format csv                             ten workloads as in the paper: two minutes on two cores

Needs no logs: the workload is the model of the paper. Each published figure comes from one run of the model; the note says
whether it is within the range of our runs.")]
    Downey(downey::DowneyArgs),
    /// Prediction of waits as ranges: Tables 3 and 4, Figure 2 and the claims of the text of Kumar and Vadhiyar
    #[command(after_help = "Examples:
  sim reproduce kumar-wait --logs logs                          about six minutes of processor time
  sim reproduce kumar-wait --logs logs --regression-every 500   five and a half: fewer jobs in Table 3
  sim reproduce kumar-wait --logs logs --most 5000              a quick test: 5,000 jobs per log

Uses the logs CTC-SP2-1996, ANL-Intrepid-2009, LANL-CM5-1994, HPC2N-2002, SDSC-BLUE-2000 and SDSC-SP2-1998 of the Parallel
Workloads Archive, any version. Missing logs are named and left out. Of the regressions of Table 3 only the
polynomial of degree 19 can take long: its solver is stopped after 100,000 iterations, and the note says for how many jobs.
With the printed distance, which finds more similar jobs, and without that limit it took an hour, on SDSC-BLUE and SDSC-SP2
alone.")]
    KumarWait(kumar_wait::KumarWaitArgs),
    /// Metascheduling by predicted waits: Tables 7 and 8, Figure 3 and the claims of section 5.2 of Kumar and Vadhiyar
    #[command(after_help = "Examples:
  sim reproduce kumar-meta --logs logs                          the logs as they are, one set of generated jobs: minutes
  sim reproduce kumar-meta --logs logs --replications 5 --format csv

Uses the logs CTC-SP2-1996, LANL-CM5-1994, HPC2N-2002, SDSC-BLUE-2000 and SDSC-SP2-1998 of the Parallel Workloads Archive,
any version, and from each the number of jobs that Table 7 of the paper implies. The sixth site of the paper,
ANL-Intrepid-2009, ran half of all jobs there: without its log the reductions in the paper are not comparable with ours. The 32
synthetic scenarios need no logs.")]
    KumarMeta(kumar_meta::KumarMetaArgs),
    /// Runtimes predicted by machine learning: slowdowns and flow times of the program of Gaussier et al.
    #[command(after_help = "Examples:
  sim reproduce gaussier --logs logs --replications 1           a quick test: less than a minute
  sim reproduce gaussier --logs logs --out study                six runs of each setting; can be stopped and resumed

Uses the logs KTH-SP2-1996, CTC-SP2-1996 (with 338 processors), SDSC-SP2-1998, SDSC-BLUE-2000 and CEA-Curie-2011 of the Parallel
Workloads Archive, any version. Jobs end at their estimates.")]
    Gaussier(gaussier::GaussierArgs),
    /// Orders of the queue, with and without backfilling: Table V of Zhang, Dai, He, Bao and Xie
    #[command(after_help = "Examples:
  sim reproduce orders --logs logs                              ten windows of each log: some seconds
  sim reproduce orders --logs logs --windows 40                 more windows

Uses the logs SDSC-SP2-1998 and HPC2N-2002 of the Parallel Workloads Archive, any version. The windows of 1,024 jobs of the paper
are not recorded, so ours are consecutive ones, and slowdowns of windows differ by orders of magnitude.")]
    Orders(orders::OrdersArgs),
    /// Our own claims on every log of a folder: reservations by estimates, the predictor kin, and answers about waits
    #[command(after_help = "Examples:
  sim reproduce ours --logs logs --replications 1               a quick test: five minutes of processor time
  sim reproduce ours --logs logs --out study --format csv       six runs of each setting; can be stopped and resumed

Uses every log of the folder. The claim is about seven of them, to which nobody tuned anything: SDSC-BLUE-2000, HPC2N-2002,
CEA-Curie-2011, LLNL-Thunder-2007, RICC-2010, SDSC-DS-2004 and LANL-CM5-1994. Longest waits and losers are printed beside the
gains. Waits are predicted for 50,000 jobs of KTH-SP2-1996, CTC-SP2-1996, SDSC-BLUE-2000, SDSC-SP2-1998 and HPC2N-2002.")]
    Ours(ours::OursArgs),
    /// Run all of these studies and write their figures to a folder
    #[command(after_help = "Examples:
  sim reproduce all --logs logs --out studies --quick           a quick test of every study, in minutes
  sim reproduce all --logs logs --out studies                   the same as the single commands: 40 minutes of processor time

Writes the figures of each study to STUDY.csv, STUDY.txt, STUDY.html (with charts) and STUDY.json. The next call with the
same folder uses STUDY.json again if neither the logs of the study nor the program have changed. summary.txt contains the
overview of every study: how many published figures agree with ours. It is also printed.")]
    All(all::AllArgs),
}

/// The arguments of every study that uses logs.
#[derive(Debug, Args)]
struct Common {
    /// The folder with the logs
    #[arg(long, value_name = "DIR")]
    logs: PathBuf,
    #[command(flatten)]
    output: StudyOutput,
}

/// Where the figures of a study go.
#[derive(Debug, Args)]
struct StudyOutput {
    #[command(flatten)]
    output: OutputOptions,
    /// Write the figures as one HTML file too, with charts of published against measured numbers; - for standard output
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    html: Option<String>,
}

impl StudyOutput {
    fn threads(&self) -> usize {
        self.output.threads()
    }

    /// Opens the HTML file, before any work is done.
    fn open_html(&self) -> anyhow::Result<Option<Output>> {
        Ok(self.html.as_deref().map(Output::create).transpose()?)
    }
}

/// The arguments of a study with a few runs of each setting, which can be kept.
#[derive(Debug, Args)]
struct KeptRuns {
    /// The number of runs of each setting: the first on the log as it is, the others on slightly shaken copies (submissions
    /// moved by up to 30 s). Intervals are over all of them
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u32).range(1..=1000))]
    replications: u32,
    /// Keep finished runs in this folder, and reuse those that are in it [default: runs are not kept]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

fn execute(args: &ReproduceArgs, quiet: bool) -> anyhow::Result<()> {
    match &args.paper {
        Paper::Talby(args) => talby::execute(args, quiet),
        Paper::Smith(args) => smith::execute(args, quiet),
        Paper::Tsafrir(args) => tsafrir::execute(args, quiet),
        Paper::Downey(args) => downey::execute(args, quiet),
        Paper::KumarWait(args) => kumar_wait::execute(args, quiet),
        Paper::KumarMeta(args) => kumar_meta::execute(args, quiet),
        Paper::Gaussier(args) => gaussier::execute(args, quiet),
        Paper::Orders(args) => orders::execute(args, quiet),
        Paper::Ours(args) => ours::execute(args, quiet),
        Paper::All(args) => all::execute(args, quiet),
    }
}

impl Common {
    /// Finds the logs of a study, and refuses outputs that would overwrite one of them.
    fn setup(&self, wanted: &[ArchiveLog], outputs: &[OptionFile], quiet: bool) -> anyhow::Result<Setup> {
        let logs = find(&self.logs, wanted, quiet)?;
        if logs.is_empty() {
            return Err(UsageError(format!("none of the logs of the study is in {}", self.logs.display())).into());
        }
        let inputs: Vec<_> = logs.iter().filter_map(|log| Some(("--logs", log.file.to_str()?))).collect();
        let html = given_files([("--html", &self.output.html)]);
        refuse_collisions(&[outputs, &html].concat(), &inputs, true)?;
        Ok(Setup { logs, folder: None, threads: self.output.threads(), quick: false })
    }
}

/// Finds logs in a folder, with a warning for each log that is missing.
fn find(folder: &Path, wanted: &[ArchiveLog], quiet: bool) -> anyhow::Result<Vec<FoundLog>> {
    let failed = |error| UsageError(format!("cannot read the folder {}: {error}", folder.display()));
    let (logs, missing) = find_logs(folder, wanted).map_err(failed)?;
    for log in &missing {
        warning(format_args!("no log {}*.swf in {}: left out", log.prefix, folder.display()));
    }
    if !quiet {
        logs.iter().for_each(|found| note(format_args!("{} is {}", found.log.name, found.file.display())));
    }
    Ok(logs)
}

/// Computes the figures of a study, with a progress bar and a note of the time taken.
fn compute(study: &dyn Study, quiet: bool) -> anyhow::Result<Vec<Figure>> {
    let began = Instant::now();
    let (steps, unit) = study.steps();
    let figures = {
        let progress = Progress::counting(study.name(), unit, Some(steps), quiet);
        study.figures(&|done| progress.set(done))?
    };
    if !quiet {
        note(format_args!("{}: done in {}", study.name(), readable_duration(began.elapsed().as_secs_f64())));
    }
    Ok(figures)
}

/// Computes and prints a study.
fn perform(study: &dyn Study, output: &StudyOutput, quiet: bool) -> anyhow::Result<()> {
    let html = output.open_html()?;
    let figures = compute(study, quiet)?;
    print(study, &figures, output, html, false)
}

/// Prints figures, also as HTML if that is wanted, and the acknowledgements that the providers of the logs request.
fn print(
    study: &dyn Study,
    figures: &[Figure],
    output: &StudyOutput,
    html: Option<Output>,
    stdout_taken: bool,
) -> anyhow::Result<()> {
    if let Some(out) = html {
        let page = html::page(study.name(), study.logs(), figures);
        out.fill(|out| out.write_all(page.as_bytes()))?;
    }
    // As with the main command: if a file is standard output, the result goes to standard error.
    let stdout_taken = stdout_taken || output.html.as_deref().is_some_and(Output::is_stdout);
    let cells: Vec<_> = figures.iter().map(|figure| figure.cells(study.name())).collect();
    output.output.print.print_rows(stdout_taken, &cells, |out, width| {
        write_overview(out, width, study.name(), figures)?;
        write_figures(out, width, figures)
    })?;
    if !study.logs().is_empty() {
        stderr::line(acknowledgements(study.logs()));
    }
    Ok(())
}
