//! The options that all commands with results have: threads, the format, the header of CSV. Also the files that a command
//! writes in addition to the result that it prints.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, Command, ValueEnum};

use super::failure::{UsageError, refuse};
use super::places::{OptionFile, given_files, refuse_collisions};
use super::width;
use crate::metrics::GroupBy;
use crate::report::{Cell, Output, OutputError, Table, Width, grouped, write_csv, write_json, write_json_list};
use crate::text::printable;
use crate::trace::Workload;

/// How a result is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Aligned columns with units, for people
    Table,
    /// One line per row, for programs
    Csv,
    /// One object per row
    Json,
}

/// The options of a command that computes in threads and prints a result.
#[derive(Clone, Debug, Args)]
pub struct OutputOptions {
    /// The number of threads; results do not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Output")]
    threads: Option<u32>,
    #[command(flatten)]
    pub print: PrintOptions,
}

/// The option of a command whose finished runs can be kept.
#[derive(Clone, Debug, Args)]
pub struct KeepOption {
    /// Keep finished runs in this folder, and reuse those that are in it. A run of which more than the summary is shown or written
    /// is computed again [default: runs are not kept]
    #[arg(long = "keep", value_name = "DIR", help_heading = "Output")]
    pub folder: Option<PathBuf>,
}

/// The options of a command that prints a result.
#[derive(Clone, Copy, Debug, Args)]
pub struct PrintOptions {
    /// How to print the result [default: table on a terminal, csv otherwise]
    #[arg(long, value_enum, help_heading = "Output")]
    format: Option<Format>,
    /// Print CSV without the line of column names
    #[arg(long, help_heading = "Output")]
    no_header: bool,
}

impl OutputOptions {
    pub fn threads(&self) -> usize {
        let all = || std::thread::available_parallelism().map_or(1, usize::from);
        self.threads.map_or_else(all, |threads| threads as usize)
    }
}

/// Changes the help of `--format` for a command that prints text for people by default even if standard output is not a
/// terminal: see [`PrintOptions::or_table`].
pub fn listing(command: Command) -> Command {
    command.mut_arg("format", |format| format.help("How to print the result [default: table]"))
}

/// Changes the help of `--format` for a command that writes a file, whose report is a note on standard error by default.
pub fn reporting(command: Command) -> Command {
    let help = "Print what was done to standard output, or to standard error if the file goes there \
                [default: notes on standard error]";
    command.mut_arg("format", |format| format.help(help))
}

/// The options of a command that prints or writes the figures of groups of jobs.
#[derive(Clone, Debug, Args)]
pub struct GroupOptions {
    /// Also print the figures of groups of jobs: by width, runtime, estimate, user, group, queue, partition, qos, account, gpus,
    /// memory, week, hour (several with commas)
    #[arg(long, value_name = "KEYS", value_delimiter = ',', value_parser = GroupBy::parse, help_heading = "Output")]
    by: Vec<GroupBy>,
    /// Show the N largest users, groups, queues, partitions, QOS or accounts in tables, by area, and sum up the rest
    #[arg(long, value_name = "N", default_value_t = 20, help_heading = "Output")]
    pub top: usize,
    /// Write the figures of all groups of --by (without it, of all keys that the log has) as CSV; - for standard output
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub by_out: Option<String>,
}

impl GroupOptions {
    /// By what jobs are grouped in tables, each key once.
    pub fn keys(&self) -> Vec<GroupBy> {
        let is_first = |(at, by): &(usize, &GroupBy)| !self.by[..*at].contains(by);
        self.by.iter().enumerate().filter(is_first).map(|(_, by)| *by).collect()
    }

    /// By what jobs are grouped in the file.
    pub fn file_keys(&self, workload: &Workload) -> Vec<GroupBy> {
        match &self.by_out {
            None => Vec::new(),
            Some(_) if self.by.is_empty() => GroupBy::all().filter(|by| by.is_known(workload)).collect(),
            Some(_) => self.keys(),
        }
    }

    /// Checks that the jobs have what the given keys are about.
    pub fn check(&self, workload: &Workload) -> Result<(), UsageError> {
        self.by.iter().try_for_each(|by| by.check(workload)).map_err(UsageError)
    }

    /// How the result is printed. Without `--by-out`, the groups are in tables alone.
    pub fn printed(&self, print: PrintOptions) -> Result<PrintOptions, UsageError> {
        match print.format {
            _ if self.by.is_empty() || self.by_out.is_some() => Ok(print),
            None | Some(Format::Table) => Ok(print.or_table()),
            Some(_) => refuse("--by prints tables: add --by-out FILE for its CSV, or choose --format table"),
        }
    }
}

impl PrintOptions {
    /// The format given by `--format`, if it was given.
    pub fn given(&self) -> Option<Format> {
        self.format
    }

    /// The same options with a table as the default everywhere. For results that are read rather than processed, such as lists.
    pub fn or_table(self) -> PrintOptions {
        PrintOptions { format: Some(self.format.unwrap_or(Format::Table)), ..self }
    }

    /// The format given by `--format`; otherwise a table on a terminal and CSV for files and pipes.
    pub fn format(&self) -> Format {
        use std::io::IsTerminal;
        self.format.unwrap_or(if io::stdout().is_terminal() { Format::Table } else { Format::Csv })
    }

    /// Whether CSV has its line of column names.
    pub fn header(&self) -> bool {
        !self.no_header
    }

    /// Prints rows. `table` writes them for people, within a width; JSON is a list of objects. They go to standard output, or to standard
    /// error if `stdout_taken`, that is, if one of the command's files is standard output.
    pub fn print_rows<N: AsRef<str>>(
        &self,
        stdout_taken: bool,
        rows: &[Vec<(N, Cell)>],
        table: impl FnOnce(&mut dyn Write, Width) -> io::Result<()>,
    ) -> Result<(), OutputError> {
        self.print(stdout_taken, rows, |out| write_json_list(out, rows), table)
    }

    /// Like [`PrintOptions::print_rows`] for a command with one row, which in JSON is an object instead of a list.
    pub fn print_row<N: AsRef<str> + Clone>(
        &self,
        stdout_taken: bool,
        row: &[(N, Cell)],
        table: impl FnOnce(&mut dyn Write, Width) -> io::Result<()>,
    ) -> Result<(), OutputError> {
        self.print(stdout_taken, &[row.to_vec()], |out| write_json(out, row), table)
    }

    fn print<N: AsRef<str>>(
        &self,
        stdout_taken: bool,
        rows: &[Vec<(N, Cell)>],
        json: impl FnOnce(&mut dyn Write) -> io::Result<()>,
        table: impl FnOnce(&mut dyn Write, Width) -> io::Result<()>,
    ) -> Result<(), OutputError> {
        let write = |out: &mut dyn Write, width: Width| match self.format() {
            Format::Table => table(out, width),
            Format::Csv => write_csv(out, rows, self.header()),
            Format::Json => json(out),
        };
        match stdout_taken {
            true => {
                let written = write(&mut io::stderr().lock(), width::of_stderr());
                written.map_err(|error| OutputError { name: "standard error".to_string(), error })
            }
            false => Output::stdout().fill(|out| write(out, width::of_stdout())),
        }
    }

    /// Prints the report of a command that writes a file to `out`. Without `--format` it is notes, which `notes` prints. With
    /// it the report is a row, on standard output if the file does not go there.
    pub fn report<N: AsRef<str> + Clone>(
        &self,
        out: &str,
        row: &[(N, Cell)],
        notes: impl FnOnce(),
    ) -> Result<(), OutputError> {
        match self.given().is_some() {
            true => self.print_row(Output::is_stdout(out), row, |out, width| write_pairs(out, width, row)),
            false => {
                notes();
                Ok(())
            }
        }
    }
}

/// One line per cell, for people.
fn write_pairs<N: AsRef<str>>(out: &mut dyn Write, width: Width, row: &[(N, Cell)]) -> io::Result<()> {
    let mut table = Table::default();
    for (name, cell) in row.iter().map(|(name, cell)| (name.as_ref(), cell)) {
        let value = match cell {
            Cell::Count(count) if name != "seed" => grouped(*count),
            Cell::None => "-".to_string(),
            cell => printable(&cell.text()).into_owned(),
        };
        table.push(vec![name.replace('_', " "), value]);
    }
    table.write(out, width)
}

/// The options of a command that makes a log.
#[derive(Debug, Args)]
pub struct MadeLogOptions {
    /// The seed of all random numbers
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// The file to write the log to; - for standard output
    #[arg(long, value_name = "FILE", default_value = "-")]
    pub out: String,
    #[command(flatten)]
    pub print: PrintOptions,
}

impl MadeLogOptions {
    /// Opens the file. It is an error if it is one of the inputs.
    pub fn open(&self, inputs: &[OptionFile]) -> anyhow::Result<Output> {
        refuse_collisions(&[("--out", &self.out)], inputs, self.print.given().is_some())?;
        Ok(Output::create(&self.out)?)
    }
}

/// The files that a command writes in addition to the result that it prints. They are opened before any work is done.
pub struct OutputFiles<const N: usize> {
    pub files: [Option<Output>; N],
    /// Whether one of them is standard output, so that the result must go to standard error.
    pub stdout_taken: bool,
}

impl<const N: usize> OutputFiles<N> {
    /// Opens the files of the options that were given. It is an error if one is the same as another one or as an input.
    pub fn open(outputs: [(&str, &Option<String>); N], inputs: &[OptionFile]) -> anyhow::Result<OutputFiles<N>> {
        let stdout_taken = refuse_collisions(&given_files(outputs), inputs, true)?;
        let mut files = [const { None }; N];
        for (file, (_, name)) in files.iter_mut().zip(outputs) {
            *file = name.as_deref().map(Output::create).transpose()?;
        }
        Ok(OutputFiles { files, stdout_taken })
    }
}
