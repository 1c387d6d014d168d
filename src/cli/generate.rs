//! `sim generate`: make a log from a model.

use clap::{Args, Subcommand};

use crate::model::{Sessions, generate_sessions};
use crate::report::{Output, grouped};
use crate::trace::{write_header, write_record};

#[derive(Debug, Args)]
pub struct GenerateArgs {
    #[command(subcommand)]
    model: Model,
}

#[derive(Debug, Subcommand)]
enum Model {
    /// Users who work in sessions on a busy machine: what the embedded log is made of
    #[command(after_help = "Examples:
  sim generate sessions --jobs 20000 --procs 256 --seed 42 --out busy.swf
  sim generate sessions | sim --trace - --predictor ruh --baseline easy/estimate")]
    Sessions(SessionsArgs),
}

#[derive(Debug, Args)]
struct SessionsArgs {
    /// How many jobs
    #[arg(long, value_name = "N", default_value_t = 5000, value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    jobs: u32,
    /// Processors of the machine
    #[arg(long, value_name = "N", default_value_t = 128, value_parser = clap::value_parser!(u32).range(1..=1_000_000_000))]
    procs: u32,
    /// How many users share the jobs, a few of them submitting most
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    users: u32,
    /// Work submitted over what the machine can do in that time
    #[arg(long, value_name = "LOAD", default_value_t = 0.85, value_parser = parse_load)]
    offered_load: f64,
    /// Every random number comes from it
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Where the log goes, - for standard output
    #[arg(long, value_name = "FILE", default_value = "-")]
    out: String,
}

fn parse_load(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(load) if (0.01..=100.0).contains(&load) => Ok(load),
        _ => Err("a load is a number from 0.01 to 100, such as 0.85".to_string()),
    }
}

pub fn execute(args: &GenerateArgs, quiet: bool) -> anyhow::Result<()> {
    let Model::Sessions(args) = &args.model;
    let out = Output::create(&args.out)?;
    let SessionsArgs { jobs, procs, users, offered_load, seed, .. } = *args;
    let (header, records) = generate_sessions(&Sessions { jobs: jobs as usize, procs, users, offered_load, seed });
    out.fill(|out| {
        write_header(out, &header)?;
        records.iter().try_for_each(|record| write_record(out, record))
    })?;
    if !quiet {
        eprintln!("note: {} jobs on {} processors, seed {seed}", grouped(u64::from(jobs)), grouped(u64::from(procs)));
    }
    Ok(())
}
