//! `sim reproduce`: the tables of a paper, with published and measured figures side by side.

mod again;
mod all;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Arg, Args, Subcommand};

use again::command;

use super::failure::{UsageError, refuse};
use super::output_options::OutputOptions;
use super::places::{OptionFile, given_files, refuse_collisions};
use super::progress::Progress;
use super::quiet::is_quiet;
use super::settings::runs_in_words;
use super::stderr::{self, note, warning};
use super::{CommandForm, parsed};
use crate::metrics::{RunRow, cells};
use crate::report::{Output, counted, write_csv};
use crate::reproduce::{
    ArchiveLog, Computed, DOWNEY, Figure, FoundLog, GAUSSIER, HELIOS, KUMAR_META, KUMAR_WAIT, ORDERS, OURS, SMITH,
    STUDY_RUN_COLUMNS, Setup, Study, TALBY, TSAFRIR, acknowledgements, find_logs, kumar_meta_cost, other_logs,
    study_page, write_figures, write_overview,
};
use crate::runs::PlannedRun;
use crate::time::readable_duration;

/// The subcommand.
pub const COMMAND: CommandForm = CommandForm {
    name: "reproduce",
    about: "Compute the tables of a paper again, beside what it published",
    arguments: |command| {
        let of_talby = |runs: Arg| runs.default_value(TALBY.replications[0].to_string());
        ReproduceArgs::augment_args(command).mut_subcommand("talby", |talby| talby.mut_arg("replications", of_talby))
    },
    run: |matches| execute(&parsed(matches)),
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
  sim reproduce talby --logs logs --quick
      a quick test: less than a minute per core
  sim reproduce talby --logs logs --out study --format csv
      ten replications; can be stopped and resumed

Uses the logs SDSC-SP2-1998, CTC-SP2-1996, KTH-SP2-1996 and SDSC-BLUE-2000 of the Parallel Workloads Archive, any version.
Missing logs are named, and the tables are computed from the others.")]
    Talby {
        #[command(flatten)]
        common: StudyCommon,
        #[command(flatten)]
        runs: KeptRuns,
        /// Write a CSV with one line per run: the command that repeats the run alone, and its summary; - for standard
        /// output (the figures then go to standard error)
        #[arg(long, value_name = "FILE")]
        cells_out: Option<String>,
    },
    /// Templates and the search for them: Tables 1 and 4 to 10 of Smith, Foster and Taylor
    #[command(after_help = "Examples:
  sim reproduce smith --logs logs --replications 1  one genetic search per log
  sim reproduce smith --logs logs --format csv
      ten searches per log, for intervals: about a minute

Uses the logs CTC-SP2-1996 and SDSC-Par-1996 of the Parallel Workloads Archive, any version. The two other workloads of the
paper, ANL and SDSC95, are not public: their published figures are printed without measured ones.")]
    Smith {
        #[command(flatten)]
        common: StudyCommon,
        /// The number of genetic searches per log, with seeds from 0 on. The measured figures are those of the first search,
        /// intervals are over all of them
        #[arg(long, conflicts_with = "quick", value_name = "N", default_value_t = SMITH.replications[0], value_parser = clap::value_parser!(u64).range(1..=1000))]
        replications: u64,
    },
    /// Models of user estimates: Tables 1, 2 and 5 and Figures 14 to 16 of Tsafrir, Etsion and Feitelson
    #[command(after_help = "Examples:
  sim reproduce tsafrir --logs logs --quick  a quick test: some seconds
  sim reproduce tsafrir --logs logs --format csv
      a hundred seeds, as in the paper: some minutes

Uses the logs SDSC-SP2-1998, CTC-SP2-1996, KTH-SP2-1996 and SDSC-BLUE-2000 of the Parallel Workloads Archive, any version.
They are prepared as in the paper, and only jobs with a runtime and processors above 0 are used. SDSC-106 is SDSC without the
jobs whose estimate only one user uses, the user with most such estimates. KTH4H has only the jobs of KTH with estimates up to
4 hours. The paper prints no numbers for Figures 14 to 16, so only measured figures are shown.")]
    Tsafrir {
        #[command(flatten)]
        common: StudyCommon,
        /// The number of runs of each random model of estimates, with seeds from 1 on
        #[arg(long, alias = "seeds", conflicts_with = "quick", value_name = "N", default_value_t = TSAFRIR.replications[0], value_parser = clap::value_parser!(u64).range(1..=100_000))]
        replications: u64,
    },
    /// Malleable jobs: Tables 1 and 2, Figure 5, the numbers in the text and the future work of Downey
    #[command(after_help = "Examples:
  sim reproduce downey --quick  a quick test
  sim reproduce downey --format csv
      ten workloads as in the paper: two minutes on two cores

Needs no logs: the workload is the model of the paper. Each published figure comes from one run of the model; the note says
whether it is within the range of our runs.")]
    Downey {
        /// Ignored: the study uses no logs. The option exists so that all studies can be called in the same way
        #[arg(long, value_name = "DIR")]
        logs: Option<PathBuf>,
        #[command(flatten)]
        output: StudyOutput,
        /// The number of days of each workload
        #[arg(long, conflicts_with = "quick", value_name = "N", default_value_t = DOWNEY.days[0], value_parser = clap::value_parser!(u32).range(1..=10_000))]
        days: u32,
        /// The number of random workloads, with seeds from 1 on; at most five for variants that are not in the paper. The
        /// measured figures are those of the first workload, intervals are over all of them
        #[arg(long, conflicts_with = "quick", value_name = "N", default_value_t = DOWNEY.replications[0], value_parser = clap::value_parser!(u64).range(1..=1000))]
        replications: u64,
    },
    /// Prediction of waits as ranges: Tables 3 and 4, Figure 2 and the claims of the text of Kumar and Vadhiyar
    #[command(after_help = "Examples:
  sim reproduce kumar-wait --logs logs  about six minutes of processor time
  sim reproduce kumar-wait --logs logs --regression-every 500
      five and a half: fewer jobs in Table 3
  sim reproduce kumar-wait --logs logs --quick
      a quick test: 5,000 jobs per log

Uses the logs CTC-SP2-1996, ANL-Intrepid-2009, LANL-CM5-1994, HPC2N-2002, SDSC-BLUE-2000 and SDSC-SP2-1998 of the Parallel
Workloads Archive, any version. Missing logs are named and left out. Of the regressions of Table 3 only the
polynomial of degree 19 can take long: its solver is stopped after 100,000 iterations, and the note says for how many jobs.
With the printed distance, which finds more similar jobs, and without that limit it took an hour, on SDSC-BLUE and SDSC-SP2
alone.")]
    KumarWait {
        #[command(flatten)]
        common: StudyCommon,
        /// The first job of each log that is predicted, counted from 1
        #[arg(long, conflicts_with = "quick", value_name = "N", default_value_t = 10_001, value_parser = clap::value_parser!(u32).range(2..))]
        begin: u32,
        /// The largest number of jobs of each log that are predicted
        #[arg(long, conflicts_with = "quick", value_name = "N", default_value_t = 50_000, value_parser = clap::value_parser!(u32).range(1..))]
        most: u32,
        /// Regressions, which are slow, predict only every N-th of these jobs
        #[arg(long, conflicts_with = "quick", value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
        regression_every: u32,
    },
    /// Metascheduling by predicted waits: Tables 7 and 8, Figure 3 and the claims of section 5.2 of Kumar and Vadhiyar
    #[command(after_help = "Examples:
  sim reproduce kumar-meta --logs logs
      the logs as they are, one set of generated jobs: minutes
  sim reproduce kumar-meta --logs logs --replications 5 --format csv

Uses the logs CTC-SP2-1996, LANL-CM5-1994, HPC2N-2002, SDSC-BLUE-2000 and SDSC-SP2-1998 of the Parallel Workloads Archive,
any version, and from each the number of jobs that Table 7 of the paper implies. The sixth site of the paper,
ANL-Intrepid-2009, ran half of all jobs there: without its log the reductions in the paper are not comparable with ours. The 32
synthetic scenarios need no logs.")]
    KumarMeta {
        #[command(flatten)]
        common: StudyCommon,
        /// Use all jobs of each log, not only the number that Table 7 of the paper implies
        #[arg(long, conflicts_with = "quick")]
        full: bool,
        /// The number of days in which the jobs of the synthetic scenarios arrive
        #[arg(long, conflicts_with = "quick", value_name = "N", default_value_t = KUMAR_META.days[0], value_parser = clap::value_parser!(u32).range(1..=10_000))]
        days: u32,
        /// The number of replications: the first uses the logs as they are, the others slightly shaken logs (submissions
        /// moved by up to 30 s), each with other generated jobs. Intervals are over all of them
        #[arg(long, conflicts_with = "quick", value_name = "N", default_value_t = KUMAR_META.replications[0], value_parser = clap::value_parser!(u64).range(1..=1000))]
        replications: u64,
    },
    /// Runtimes predicted by machine learning: slowdowns and flow times of the program of Gaussier et al.
    #[command(after_help = "Examples:
  sim reproduce gaussier --logs logs --quick
      a quick test: less than a minute
  sim reproduce gaussier --logs logs --out study
      six runs of each setting; can be stopped and resumed

Uses the logs KTH-SP2-1996, CTC-SP2-1996 (with 338 processors), SDSC-SP2-1998, SDSC-BLUE-2000 and CEA-Curie-2011 of the Parallel
Workloads Archive, any version. Jobs end at their estimates.")]
    Gaussier {
        #[command(flatten)]
        common: StudyCommon,
        #[command(flatten)]
        runs: KeptRuns,
    },
    /// Orders of the queue, with and without backfilling: Table V of Zhang, Dai, He, Bao and Xie
    #[command(after_help = "Examples:
  sim reproduce orders --logs logs  ten windows of each log: some seconds
  sim reproduce orders --logs logs --windows 40
      more windows

Uses the logs SDSC-SP2-1998 and HPC2N-2002 of the Parallel Workloads Archive, any version. The windows of 1,024 jobs of the paper
are not recorded, so ours are consecutive ones, and slowdowns of windows differ by orders of magnitude.")]
    Orders {
        #[command(flatten)]
        common: StudyCommon,
        /// The number of consecutive windows of 1,024 jobs, from the first job on. Intervals are over the windows
        #[arg(long, conflicts_with = "quick", value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
        windows: u32,
    },
    /// GPU clusters: the scheduler QSSF of Hu, Sun, Yan, Wen and Zhang, and how much of its gain comes from predictions
    #[command(after_help = "Examples:
  sim reproduce helios --logs helios --quick
      a quick test: a second
  sim reproduce helios --logs helios
      six runs of each setting, for intervals

Uses what of this is in the folder: helios_venus_2vc*.csv (two virtual clusters of Venus in September 2020), and the logs of
HeliosData and Philly as the authors have prepared them: Venus/cluster_log.csv, Earth/cluster_log.csv and so on. Beside them:
Venus_vc_config.csv (the nodes of each virtual cluster; philly_vc.csv for Philly) and, if they are there, the published
predictions Venus_Sept_lgb.csv and Venus_Sept_ebm.csv, plain or .gz. See `sim help gpus`.")]
    Helios {
        #[command(flatten)]
        common: StudyCommon,
        #[command(flatten)]
        runs: ShakenRuns,
    },
    /// Our own claims on every log of a folder: reservations by estimates, the predictor kin, and answers about waits
    #[command(after_help = "Examples:
  sim reproduce ours --logs logs --quick
      a quick test: five minutes of processor time
  sim reproduce ours --logs logs --out study --format csv
      six runs of each setting; can be stopped and resumed

Uses every log of the folder. The claim is about seven of them, to which nobody tuned anything: SDSC-BLUE-2000, HPC2N-2002,
CEA-Curie-2011, LLNL-Thunder-2007, RICC-2010, SDSC-DS-2004 and LANL-CM5-1994. Longest waits and losers are printed beside the
gains. Waits are predicted for 50,000 jobs of KTH-SP2-1996, CTC-SP2-1996, SDSC-BLUE-2000, SDSC-SP2-1998 and HPC2N-2002.")]
    Ours {
        #[command(flatten)]
        common: StudyCommon,
        #[command(flatten)]
        runs: KeptRuns,
    },
    /// Run all of these studies and write their figures to a folder
    #[command(after_help = "Examples:
  sim reproduce all --logs logs --out studies --quick
      a quick test of every study, in minutes
  sim reproduce all --logs logs --out studies
      the same as the single commands: 40 minutes of processor time

Writes the figures of each study to STUDY.csv, STUDY.txt, STUDY.html (with charts) and STUDY.json. The next call with the
same folder uses STUDY.json again if neither the logs of the study nor the program have changed. summary.txt contains the
overview of every study: how many published figures agree with ours. It is also printed.")]
    All(all::AllArgs),
}

/// The arguments of every study that uses logs.
#[derive(Debug, Args)]
struct StudyCommon {
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
    /// A quick test: one replication, and samples where the whole study takes long
    #[arg(long)]
    quick: bool,
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

/// The argument of a study with a few runs of each setting.
#[derive(Debug, Args)]
struct ShakenRuns {
    /// The number of runs of each setting: the first on the log as it is, the others on slightly shaken copies (submissions
    /// moved by up to 30 s). Intervals are over all of them
    #[arg(long, conflicts_with = "quick", value_name = "N", default_value_t = GAUSSIER.replications[0], value_parser = clap::value_parser!(u64).range(1..=1000))]
    replications: u64,
}

/// The same of a study whose runs can be kept.
#[derive(Debug, Args)]
struct KeptRuns {
    #[command(flatten)]
    shaken: ShakenRuns,
    /// Keep finished runs in this folder, and reuse those that are in it [default: runs are not kept]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

fn execute(args: &ReproduceArgs) -> anyhow::Result<()> {
    match &args.paper {
        Paper::Talby { common, runs, cells_out } => {
            let mut setup = common.setup(&TALBY, &given_files([("--cells-out", cells_out)]))?;
            runs.apply(&mut setup);
            talby(&setup, &common.output, cells_out.as_deref())
        }
        Paper::Smith { common, replications } => common.perform(&SMITH, |setup| setup.replications = *replications),
        Paper::Tsafrir { common, replications } => common.perform(&TSAFRIR, |setup| setup.replications = *replications),
        Paper::Downey { logs, output, days, replications } => {
            if let Some(logs) = logs {
                note(format_args!("this study uses no logs: {} is ignored", logs.display()));
            }
            let mut setup = Setup::new(&DOWNEY, Vec::new(), output.threads(), output.quick);
            if !output.quick {
                (setup.replications, setup.days) = (*replications, *days);
            }
            perform(&DOWNEY, &setup, output)
        }
        Paper::KumarWait { common, begin, most, regression_every } => common.perform(&KUMAR_WAIT, |setup| {
            setup.plan.learning.first = *begin as usize - 1;
            setup.plan.most = *most as usize;
            setup.plan.regression_every = *regression_every as usize;
        }),
        Paper::KumarMeta { common, full, days, replications } => {
            let mut setup = common.setup(&KUMAR_META, &[])?;
            if !setup.quick {
                setup = Setup { all_jobs: *full, days: *days, replications: *replications, ..setup };
            }
            // The number of jobs is known only when all logs are read.
            if !is_quiet() {
                note_cost(&setup)?;
            }
            perform(&KUMAR_META, &setup, &common.output)
        }
        Paper::Gaussier { common, runs } => {
            let mut setup = common.setup(&GAUSSIER, &[])?;
            runs.apply(&mut setup);
            perform(&GAUSSIER, &setup, &common.output)
        }
        Paper::Orders { common, windows } => common.perform(&ORDERS, |setup| setup.windows = *windows as usize),
        Paper::Helios { common, runs } => common.perform(&HELIOS, |setup| setup.replications = runs.replications),
        Paper::Ours { common, runs } => {
            let mut setup = every_log(common)?;
            runs.apply(&mut setup);
            perform(&OURS, &setup, &common.output)
        }
        Paper::All(args) => all::execute(args),
    }
}

impl KeptRuns {
    fn apply(&self, setup: &mut Setup) {
        setup.folder.clone_from(&self.out);
        if !setup.quick {
            setup.replications = self.shaken.replications;
        }
    }
}

impl StudyCommon {
    /// Finds the logs of a study, and refuses outputs that would overwrite one of them.
    fn setup(&self, study: &Study, outputs: &[OptionFile]) -> anyhow::Result<Setup> {
        let logs = find(&self.logs, study.logs)?;
        if logs.is_empty() {
            return refuse(format!("none of the logs of the study is in {}", self.logs.display()));
        }
        let inputs: Vec<_> = logs.iter().filter_map(|log| Some(("--logs", log.file.to_str()?))).collect();
        let html = given_files([("--html", &self.output.html)]);
        refuse_collisions(&[outputs, &html].concat(), &inputs, true)?;
        Ok(Setup::new(study, logs, self.output.threads(), self.output.quick))
    }

    /// Computes and prints a study with the options that `set` sets. Those of a quick test are fixed.
    fn perform(&self, study: &Study, set: impl FnOnce(&mut Setup)) -> anyhow::Result<()> {
        let mut setup = self.setup(study, &[])?;
        if !setup.quick {
            set(&mut setup);
        }
        perform(study, &setup, &self.output)
    }
}

/// All logs of a folder, without a warning for one that is not there: the study is about what is in the folder.
fn every_log(common: &StudyCommon) -> anyhow::Result<Setup> {
    let folder = &common.logs;
    let cannot_read = |error| UsageError(format!("cannot read the folder {}: {error}", folder.display()));
    let (logs, _) = find_logs(folder, OURS.logs).map_err(cannot_read)?;
    let others = other_logs(folder, &logs).map_err(cannot_read)?;
    if logs.is_empty() && others.is_empty() {
        return refuse(format!("no log (*.swf, *.swf.gz, *.swf.zst) is in {}", folder.display()));
    }
    Ok(Setup { others, ..Setup::new(&OURS, logs, common.output.threads(), common.output.quick) })
}

/// Says what the study of several sites will cost.
fn note_cost(setup: &Setup) -> anyhow::Result<()> {
    let (jobs, predictions) = kumar_meta_cost(setup)?;
    // A prediction of a wait takes 250 microseconds on a slow core; the rest takes little time in comparison.
    let time = readable_duration(predictions as f64 * 250e-6 / setup.threads as f64);
    let (runs, jobs) = (counted((KUMAR_META.steps)(setup) as u64, "run"), counted(jobs as u64, "job"));
    let predictions = counted(predictions as u64, "predicted wait");
    note(format_args!("{runs}, {jobs}, up to {predictions}: about {time} at most"));
    Ok(())
}

/// Computes and prints the study of Talby et al., and writes its runs if that is wanted.
fn talby(setup: &Setup, output: &StudyOutput, cells_out: Option<&str>) -> anyhow::Result<()> {
    let cells_file = cells_out.map(Output::create).transpose()?;
    let html = output.open_html()?;
    let Computed { figures, runs } = compute(&TALBY, setup)?;
    let (cells, runs) = runs.expect("the runs of the study are those of a sweep");
    note(runs_in_words(runs.rows.len(), runs.reused, runs.computed));
    if let Some(out) = cells_file {
        out.fill(|out| write_cells(out, &cells, &runs.rows))?;
    }
    // As with the main command: if a file is standard output, the result goes to standard error.
    print(&TALBY, setup, &figures, output, html, cells_out.is_some_and(Output::is_stdout))
}

/// Writes one line per run, with the command that repeats it.
fn write_cells(out: &mut dyn Write, runs: &[PlannedRun], rows: &[RunRow]) -> io::Result<()> {
    let row = |(run, row): (&PlannedRun, &RunRow)| [cells(STUDY_RUN_COLUMNS, run, &[]), row.cells()].concat();
    write_csv(out, &runs.iter().zip(rows).map(row).collect::<Vec<_>>(), true)
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

/// Computes and prints a study.
fn perform(study: &Study, setup: &Setup, output: &StudyOutput) -> anyhow::Result<()> {
    let html = output.open_html()?;
    let figures = compute(study, setup)?.figures;
    print(study, setup, &figures, output, html, false)
}

/// Prints figures, also as HTML if that is wanted, and the acknowledgements that the providers of the logs request.
fn print(
    study: &Study,
    setup: &Setup,
    figures: &[Figure],
    output: &StudyOutput,
    html: Option<Output>,
    stdout_taken: bool,
) -> anyhow::Result<()> {
    if let Some(out) = html {
        let page = study_page(study.name, command(), &setup.logs, figures);
        out.fill(|out| out.write_all(page.as_bytes()))?;
    }
    // As with the main command: if a file is standard output, the result goes to standard error.
    let stdout_taken = stdout_taken || output.html.as_deref().is_some_and(Output::is_stdout);
    let cells: Vec<_> = figures.iter().map(|figure| figure.cells(study.name)).collect();
    output.output.print.print_rows(stdout_taken, &cells, |out, width| {
        write_overview(out, width, study.name, figures)?;
        write_figures(out, width, figures)
    })?;
    if !setup.logs.is_empty() {
        stderr::line(acknowledgements(&setup.logs));
    }
    Ok(())
}
