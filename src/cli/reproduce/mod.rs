//! `sim reproduce`: a paper's tables, published and measured side by side.

mod downey;
mod kumar_meta;
mod kumar_wait;
mod smith;
mod talby;
mod tsafrir;

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::failure::UsageError;
use super::output_options::OutputOptions;
use super::places::{Named, refuse_collisions};
use super::stderr::{self, note, warning};
use crate::experiment::Options;
use crate::reproduce::{Figure, FoundLog, LogName, acknowledgements, find_logs, write_figures};
use crate::schedule::catalog;
use crate::trace::{Log, ReadOptions, Source, Workload, read};

#[derive(Debug, Args)]
pub struct ReproduceArgs {
    #[command(subcommand)]
    study: Study,
}

#[derive(Debug, Subcommand)]
enum Study {
    /// Session-based prediction: Tables 2, 4, 5, 6, Figures 2 to 5 and the claims of the text of Talby et al.
    #[command(after_help = "Examples:
  sim reproduce talby --logs logs --replications 1              a first look, in less than a minute a core
  sim reproduce talby --logs logs --out study --format csv      ten replications, resumable

Wants the logs SDSC-SP2-1998, CTC-SP2-1996, KTH-SP2-1996 and SDSC-BLUE-2000 of the Parallel Workloads Archive, any
version; those that are not there are named, and the tables are made of the others.")]
    Talby(talby::TalbyArgs),
    /// Templates and the search for them: Tables 1 and 4 to 10 of Smith, Foster and Taylor
    #[command(after_help = "Examples:
  sim reproduce smith --logs logs --replications 1              one genetic search a log
  sim reproduce smith --logs logs --format csv                  ten of them, for intervals: about a minute

Wants the logs CTC-SP2-1996 and SDSC-Par-1996 of the Parallel Workloads Archive, any version. The paper's two other
workloads, ANL and SDSC95, are not public: their published figures are printed with nothing beside them.")]
    Smith(smith::SmithArgs),
    /// Models of user estimates: Tables 1, 2 and 5 and Figures 14 to 16 of Tsafrir, Etsion and Feitelson
    #[command(after_help = "Examples:
  sim reproduce tsafrir --logs logs --seeds 4                   a first look, in seconds
  sim reproduce tsafrir --logs logs --format csv                a hundred seeds, as in the paper: some minutes

Wants the logs SDSC-SP2-1998, CTC-SP2-1996, KTH-SP2-1996 and SDSC-BLUE-2000 of the Parallel Workloads Archive, any
version, and prepares them as the paper does: only jobs with a runtime and processors above 0; SDSC without the estimates
that one user alone uses, who has more of his own than all others; of KTH the jobs with estimates up to 4 hours. Figures 14
to 16 are pictures there: what is measured stands alone.")]
    Tsafrir(tsafrir::TsafrirArgs),
    /// Malleable jobs: Tables 1 and 2, Figure 5, the text's figures and the future work of Downey
    #[command(after_help = "Examples:
  sim reproduce downey --days 20                                a first look
  sim reproduce downey --format csv                             ten workloads as in the paper: a minute on two free cores

Needs no logs: the workload is the paper's model. What is published is one run of it; the note says whether it lies among
ours.")]
    Downey(downey::DowneyArgs),
    /// Waits in ranges: Tables 3 and 4, Figure 2 and the claims of the text of Kumar and Vadhiyar
    #[command(after_help = "Examples:
  sim reproduce kumar-wait --logs logs                          an hour of processor time or more, most of it for Table 3
  sim reproduce kumar-wait --logs logs --regression-every 500   seven minutes of it
  sim reproduce kumar-wait --logs logs --most 5000              a first look: 5,000 jobs a log

Wants the logs CTC-SP2-1996, ANL-Intrepid-2009, LANL-CM5-1994, HPC2N-2002, SDSC-BLUE-2000 and SDSC-SP2-1998 of the Parallel
Workloads Archive, any version; those that are not there are named and left out.")]
    KumarWait(kumar_wait::KumarWaitArgs),
    /// Metascheduling by predicted waits: Tables 7 and 8, Figure 3 and the claims of section 5.2 of Kumar and Vadhiyar
    #[command(after_help = "Examples:
  sim reproduce kumar-meta --logs logs                          the logs as they are, one set of made jobs: minutes
  sim reproduce kumar-meta --logs logs --replications 5 --format csv

Wants the logs CTC-SP2-1996, LANL-CM5-1994, HPC2N-2002, SDSC-BLUE-2000 and SDSC-SP2-1998 of the Parallel Workloads Archive,
any version; of each so many jobs as the paper's Table 7 implies. The paper's sixth site, ANL-Intrepid-2009, ran half of all jobs
there: without its log the reductions that the paper reports are not comparable. The 32 synthetic scenarios need no logs.")]
    KumarMeta(kumar_meta::KumarMetaArgs),
}

/// What every study of logs takes.
#[derive(Debug, Args)]
struct Common {
    /// The folder with the logs
    #[arg(long, value_name = "DIR")]
    logs: PathBuf,
    #[command(flatten)]
    output: OutputOptions,
}

pub fn execute(args: &ReproduceArgs, quiet: bool) -> anyhow::Result<()> {
    match &args.study {
        Study::Talby(args) => talby::execute(args, quiet),
        Study::Smith(args) => smith::execute(args, quiet),
        Study::Tsafrir(args) => tsafrir::execute(args, quiet),
        Study::Downey(args) => downey::execute(args, quiet),

        Study::KumarWait(args) => kumar_wait::execute(args, quiet),
        Study::KumarMeta(args) => kumar_meta::execute(args, quiet),
    }
}

impl Common {
    /// The logs of a study that are there; those that are not are named. None of them may be an output.
    fn find(&self, names: &[LogName], outputs: &[Named], quiet: bool) -> anyhow::Result<Vec<FoundLog>> {
        let failed = |error| UsageError(format!("cannot look into {}: {error}", self.logs.display()));
        let (logs, missing) = find_logs(&self.logs, names).map_err(failed)?;
        for name in &missing {
            warning(format_args!("no log {}*.swf in {}: left out", name.prefix, self.logs.display()));
        }
        if logs.is_empty() {
            return Err(UsageError(format!("none of the study's logs is in {}", self.logs.display())).into());
        }
        let inputs: Vec<_> = logs.iter().filter_map(|log| Some(("--logs", log.file.to_str()?))).collect();
        refuse_collisions(outputs, &inputs, true)?;
        if !quiet {
            logs.iter().for_each(|log| note(format_args!("{} is {}", log.name.short, log.file.display())));
        }
        Ok(logs)
    }

    /// The figures, and whom the logs are owed to.
    fn print(&self, study: &str, figures: &[Figure], logs: &[FoundLog], stdout_taken: bool) -> anyhow::Result<()> {
        print_figures(&self.output, study, figures, stdout_taken)?;
        stderr::line(acknowledgements(logs));
        Ok(())
    }
}

fn print_figures(output: &OutputOptions, study: &str, figures: &[Figure], stdout_taken: bool) -> anyhow::Result<()> {
    let cells: Vec<_> = figures.iter().map(|figure| figure.cells(study)).collect();
    Ok(output.print.print_rows(stdout_taken, &cells, |out| write_figures(out, figures))?)
}

/// Logs with all their records.
fn as_recorded(found: &[FoundLog]) -> anyhow::Result<Vec<(FoundLog, Log)>> {
    let log = |found: &FoundLog| {
        let source = Source::from_argument(&found.file.to_string_lossy());
        Ok((found.clone(), read(&source, ReadOptions::default(), &mut |_| ())?))
    };
    found.iter().map(log).collect()
}

/// Logs with the waits that they recorded.
fn replayed(logs: &[FoundLog]) -> anyhow::Result<Vec<(FoundLog, Workload)>> {
    let options = Options { scheduler: catalog::parse("replay")?, ..Options::default() };
    let workload = |log: &FoundLog| {
        let source = Source::from_argument(&log.file.to_string_lossy());
        Ok((log.clone(), options.clean_out(&mut read(&source, options.read_options(), &mut |_| ())?)?))
    };
    logs.iter().map(workload).collect()
}
