//! `sim example`: the files of a small site, to try the commands for sites with them. The jobs are those of the embedded log.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::PathBuf;

use clap::Args;

use super::failure::refuse;
use super::stderr::note;
use super::{CommandForm, parsed};
use crate::job::Job;
use crate::report::{Output, OutputError};
use crate::time::{DAY, HOUR, MINUTE, Seconds, Time, date};
use crate::trace::{Cleaning, ReadOptions, clean, demo, read};

/// The subcommand.
pub const COMMAND: CommandForm = CommandForm {
    name: "example",
    about: "Write the files of a small site, to try the commands with",
    arguments: ExampleArgs::augment_args,
    run: |matches| execute(&parsed(matches)),
};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  sim example site && cd site
  sim sacct.txt --slurm-conf slurm.conf --associations site.dump
  sim sacct.txt --scheduler slurm:conf=new.conf --predictor estimate \\
    --baseline slurm:conf=slurm.conf/estimate
  sim recommend sacct.txt --slurm-conf slurm.conf
  sim fidelity sacct.txt --slurm-conf slurm.conf
  sim sacct.txt --machine slurm.conf --outages maintenance.csv --scheduler easy
  sim wait ask sacct.txt --queue squeue.txt --slurm-conf slurm.conf")]
struct ExampleArgs {
    /// The folder for the files; it is made if it does not exist
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Replace files that are there
    #[arg(long)]
    overwrite: bool,
}

/// The number of jobs up to the present moment of the site: enough for `sim recommend` and `sim wait ask` to say something.
const JOBS: usize = 2705;

/// The nodes in the slurm.conf, and two more of them.
const NODES: [&str; 2] = ["n[01-16]", "n[01-18]"];

/// The accounts with their shares. Users belong to them in turn.
const ACCOUNTS: [(&str, u32); 3] = [("physics", 50), ("biology", 30), ("students", 10)];

fn execute(args: &ExampleArgs) -> anyhow::Result<()> {
    let workload = clean(&read(&demo(), ReadOptions::default(), &mut |_| ())?, &Cleaning::default())?;
    let site = ExampleSite { jobs: &workload.jobs[..JOBS], unix_start: workload.unix_start.unwrap_or(0) };
    let conf = include_str!("examples/slurm.conf");
    let files = [
        ("slurm.conf", conf.to_string()),
        ("new.conf", conf.replace(NODES[0], NODES[1])),
        ("site.dump", site.dump()),
        ("sacct.txt", site.sacct()),
        ("squeue.txt", site.squeue()),
        ("maintenance.csv", site.maintenance([("n[01-16]", 0)])),
        ("halves.csv", site.maintenance([("n[01-08]", 0), ("n[09-16]", 1)])),
    ];
    let folder = args.folder.display();
    std::fs::create_dir_all(&args.folder).map_err(|error| OutputError { name: folder.to_string(), error })?;
    if let Some((name, _)) = files.iter().find(|(name, _)| !args.overwrite && args.folder.join(name).exists()) {
        return refuse(format!("{folder} has a file {name} already: name another folder, or give --overwrite"));
    }
    for (name, text) in &files {
        let file = args.folder.join(name);
        Output::create(&file.to_string_lossy())?.fill(|out| out.write_all(text.as_bytes()))?;
    }
    let names = files.map(|(name, _)| name).join(", ");
    note(format_args!("{folder} has {names}; `sim example --help` says what to do with them"));
    Ok(())
}

/// Jobs of a log as the commands of Slurm print them.
struct ExampleSite<'a> {
    jobs: &'a [Job],
    unix_start: Time,
}

impl ExampleSite<'_> {
    /// The present moment: when the last job was submitted.
    fn now(&self) -> Time {
        self.jobs[self.jobs.len() - 1].submission.submit
    }

    /// When a job started, and when it ended.
    fn times(job: &Job) -> (Time, Time) {
        let start = job.submission.submit + job.recorded_wait.get().unwrap_or(0);
        (start, start + job.runtime)
    }

    fn dump(&self) -> String {
        let mut text = "Cluster - 'example':Fairshare=1:QOS='normal'\nParent - 'root'\n".to_string();
        for (name, shares) in ACCOUNTS {
            let _ = writeln!(text, "Account - '{name}':Description='{name}':Organization='site':Fairshare={shares}");
        }
        let users: BTreeSet<i32> = self.jobs.iter().map(|job| job.submission.user).collect();
        for (at, (name, _)) in ACCOUNTS.iter().enumerate() {
            let _ = writeln!(text, "Parent - '{name}'");
            for user in users.iter().filter(|user| account(**user) == at) {
                let _ = writeln!(text, "User - 'user{user}':DefaultAccount='{name}':Fairshare=1");
            }
        }
        text
    }

    /// The jobs that have ended.
    fn sacct(&self) -> String {
        let mut text =
            "JobIDRaw|User|Account|Partition|QOS|Submit|Start|End|State|ReqCPUS|NCPUS|Timelimit\n".to_string();
        for job in self.jobs.iter().filter(|job| Self::times(job).1 <= self.now()) {
            let (start, end) = Self::times(job);
            let times = [job.submission.submit, start, end].map(|time| self.stamp(time)).join("|");
            let (owner, procs, limit) = (owner(job), job.submission.procs, clock(job.submission.estimate));
            let _ = writeln!(text, "{}|{owner}|{times}|COMPLETED|{procs}|{procs}|{limit}", job.number);
        }
        text
    }

    /// The jobs that wait or run.
    fn squeue(&self) -> String {
        let mut text =
            "JOBID|USER|ACCOUNT|PARTITION|QOS|CPUS|TIME_LIMIT|TIME|STATE|SUBMIT_TIME|START_TIME|REASON|NAME\n"
                .to_string();
        for job in self.jobs.iter().filter(|job| Self::times(job).1 > self.now()) {
            let (start, _) = Self::times(job);
            let is_running = start <= self.now();
            let (state, reason) = if is_running { ("RUNNING", "None") } else { ("PENDING", "Priority") };
            let started = if is_running { self.stamp(start) } else { "N/A".to_string() };
            let elapsed = clock(if is_running { self.now() - start } else { 0 });
            let (owner, procs, limit) = (owner(job), job.submission.procs, clock(job.submission.estimate));
            let submitted = self.stamp(job.submission.submit);
            let _ = writeln!(
                text,
                "{}|{owner}|{procs}|{limit}|{elapsed}|{state}|{submitted}|{started}|{reason}|job",
                job.number
            );
        }
        text
    }

    /// Nodes that are in maintenance for twelve hours, each list so many days after the first; known for two weeks.
    fn maintenance<const COUNT: usize>(&self, parts: [(&str, i64); COUNT]) -> String {
        let mut text = "start,end,announced,nodes,kind,name\n".to_string();
        let morning = (self.unix_start + self.now() - 5 * DAY).div_euclid(DAY) * DAY + 8 * HOUR - self.unix_start;
        for (nodes, day) in parts {
            let start = morning + day * DAY;
            let times = [start, start + 12 * HOUR, morning - 14 * DAY].map(|time| self.stamp(time)).join(",");
            let _ = writeln!(text, "{times},{nodes},maintenance,service");
        }
        text
    }

    fn stamp(&self, time: Time) -> String {
        let unix = self.unix_start + time;
        let rest = unix.rem_euclid(DAY);
        format!("{}T{:02}:{:02}:{:02}", date(unix - rest), rest / HOUR, rest % HOUR / MINUTE, rest % MINUTE)
    }
}

/// The place of a user's account.
fn account(user: i32) -> usize {
    user.unsigned_abs() as usize % ACCOUNTS.len()
}

/// The user, the account, the partition and the QOS of a job.
fn owner(job: &Job) -> String {
    let (user, account) = (job.submission.user, ACCOUNTS[account(job.submission.user)].0);
    let partition = if job.submission.estimate <= 2 * HOUR { "short" } else { "batch" };
    format!("user{user}|{account}|{partition}|normal")
}

/// A duration as Slurm prints it: `1-02:03:04`.
fn clock(seconds: Seconds) -> String {
    let rest = seconds % DAY;
    let days = if seconds >= DAY { format!("{}-", seconds / DAY) } else { String::new() };
    format!("{days}{:02}:{:02}:{:02}", rest / HOUR, rest % HOUR / MINUTE, rest % MINUTE)
}
