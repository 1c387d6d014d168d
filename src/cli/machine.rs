//! `sim machine`: what is understood of a configuration, and its conversion to TOML.

use std::io::Write;
use std::path::Path;

use clap::Args;

use super::failure::UsageError;
use super::output_options::{OutputFiles, PrintOptions};
use super::places::given_files;
use super::{CommandForm, parsed};
use crate::machine::{AssociationsFile, read_cluster};
use crate::metrics::cells;
use crate::report::{Width, machine_columns, machine_rows, write_machine};

/// The subcommand.
pub const COMMAND: CommandForm = CommandForm {
    name: "machine",
    about: "Show the nodes and partitions of a slurm.conf or TOML file",
    arguments: MachineArgs::augment_args,
    run: |matches| execute(&parsed(matches)),
};

#[derive(Debug, Args)]
#[command(
    after_help = "MACHINE is a slurm.conf, with the files that it includes and the topology.conf and gres.conf beside it, or TOML with
tables [[nodes]] and [[partitions]]. The content decides which. Accounts, users and limits are only read and shown.

Examples:
  sim machine /etc/slurm/slurm.conf             what is understood and ignored
  sim machine slurm.conf --to-toml site.toml    as TOML, to be changed
  sacctmgr dump CLUSTER file=site.dump; sacctmgr -P show qos >site.qos
  sim machine slurm.conf --associations site.dump,site.qos
      with accounts, users and limits
  sim machine site.toml --format csv            one row for each thing"
)]
struct MachineArgs {
    /// A slurm.conf, or TOML
    #[arg(value_name = "MACHINE")]
    machine: String,
    /// The accounts, users and QOS of the machine, with shares and limits for `slurm`: what `sacctmgr dump` writes or `sacctmgr show` prints; several as FILE,FILE; see `sim help machines`
    #[arg(long, value_name = "FILE", value_delimiter = ',')]
    associations: Vec<String>,
    /// Write the machine as TOML; - for standard output
    #[arg(long, value_name = "FILE")]
    to_toml: Option<String>,
    #[command(flatten)]
    print: PrintOptions,
}

fn execute(args: &MachineArgs) -> anyhow::Result<()> {
    let own = Some(args.machine.clone());
    let mut inputs = given_files([("MACHINE", &own)]);
    inputs.extend(args.associations.iter().map(|file| ("--associations", file.as_str())));
    let OutputFiles { files: [toml], stdout_taken } = OutputFiles::open([("--to-toml", &args.to_toml)], &inputs)?;
    let (mut cluster, mut ignored) = read_cluster(Path::new(&args.machine)).map_err(UsageError)?;
    if !args.associations.is_empty() {
        let file = AssociationsFile::read(&args.associations.join(",")).map_err(UsageError)?;
        let own = file.of(&cluster).map_err(UsageError)?;
        ignored.extend(own.ignored.iter().cloned());
        cluster.associations = own.associations.clone();
    }
    if let Some(out) = toml {
        out.fill(|out| cluster.write_toml(out))?;
    }
    let rows = machine_rows(&args.machine, &cluster, &ignored);
    let columns = machine_columns();
    let rows: Vec<_> = rows.iter().map(|row| cells(&columns, row, &[])).collect();
    let table = |out: &mut dyn Write, width: Width| write_machine(out, width, &args.machine, &cluster, &ignored);
    Ok(args.print.print_rows(stdout_taken, &rows, table)?)
}
