//! `sim machine`: a configuration as TOML, with notes on what of it is not used.

use std::path::Path;

use clap::Args;

use super::failure::UsageError;
use super::output_options::OutputFiles;
use super::slurm_conf::report_ignored;
use super::stderr::note;
use super::{CommandForm, parsed};
use crate::machine::{AssociationsFile, Ignored, read_cluster};
use crate::report::{counted, down_in_words};

/// The subcommand.
pub const COMMAND: CommandForm = CommandForm {
    name: "machine",
    about: "Print the nodes and partitions of a slurm.conf as TOML",
    arguments: MachineArgs::augment_args,
    run: |matches| execute(&parsed(matches)),
};

#[derive(Debug, Args)]
#[command(
    after_help = "MACHINE is a slurm.conf, with the files that it includes and the topology.conf and gres.conf beside it, or TOML with
tables [[nodes]] and [[partitions]]. The content decides which. Notes say what of it is not used.

Examples:
  sim machine /etc/slurm/slurm.conf                what is understood
  sim machine slurm.conf --out site.toml           to be changed
  sacctmgr dump CLUSTER file=site.dump; sacctmgr -P show qos >site.qos
  sim machine slurm.conf --associations site.dump,site.qos
      with accounts, users and limits"
)]
struct MachineArgs {
    /// A slurm.conf, or TOML
    #[arg(value_name = "MACHINE")]
    machine: String,
    /// The accounts, users and QOS of the machine, with shares and limits for `slurm`: what `sacctmgr dump` writes or `sacctmgr show` prints; several as FILE,FILE; see `sim help machines`
    #[arg(long, value_name = "FILE", value_delimiter = ',')]
    associations: Vec<String>,
    /// The file to write; - for standard output
    #[arg(long, value_name = "FILE", default_value = "-")]
    out: String,
}

fn execute(args: &MachineArgs) -> anyhow::Result<()> {
    let own = [("MACHINE", args.machine.as_str())].into_iter();
    let inputs: Vec<_> = own.chain(args.associations.iter().map(|file| ("--associations", file.as_str()))).collect();
    let OutputFiles { files: [out], .. } = OutputFiles::open([("--out", &Some(args.out.clone()))], &inputs)?;
    let (mut cluster, ignored) = read_cluster(Path::new(&args.machine)).map_err(UsageError)?;
    report(&args.machine, &ignored);
    if !args.associations.is_empty() {
        let files = args.associations.join(",");
        let file = AssociationsFile::read(&files).map_err(UsageError)?;
        let own = file.of(&cluster).map_err(UsageError)?;
        report(&files, &own.ignored);
        cluster.associations = own.associations.clone();
    }
    let (nodes, partitions) = (cluster.nodes.len() as u64, cluster.partitions.len() as u64);
    let down = down_in_words(&cluster).map_or(String::new(), |down| format!("; {down} are down"));
    let (nodes, partitions) = (counted(nodes, "node"), counted(partitions, "partition"));
    note(format_args!("{}: {nodes}, {partitions}{down}", args.machine));
    Ok(out.expect("--out has a default").fill(|out| cluster.write_toml(out))?)
}

fn report(file: &str, ignored: &[Ignored]) {
    let (mattering, others): (Vec<_>, Vec<_>) = ignored.iter().partition(|ignored| ignored.matters);
    report_ignored(file, &mattering, &others);
}
