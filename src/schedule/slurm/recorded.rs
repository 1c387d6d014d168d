//! Passes of a real Slurm, made again from the state that was recorded before each of them. `tests/slurm/README.md` says
//! how the records were made.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::backfill::{Backfill, Candidate, Plan};
use super::conf::SlurmConf;
use super::processors::{Numbered, Processors, Run};
use super::releases::{Release, Releases};
use super::settings::Settings;
use super::space::Space;
use crate::job::JobId;
use crate::time::{Seconds, Time};

#[derive(Deserialize)]
struct Record {
    t0: Time,
    conf: Vec<String>,
    jobs: Vec<RecordedJob>,
    events: Vec<Event>,
}

#[derive(Deserialize)]
struct RecordedJob {
    id: u32,
    nodes: u32,
    limit: Seconds,
}

/// `[seconds, kind]`, `[seconds, kind, job]` or `[seconds, kind, job, nodes]`.
#[derive(Deserialize)]
#[serde(untagged)]
enum Event {
    Pass(f64, String),
    Job(IgnoredAny, String, u32),
    Start(f64, String, u32, Vec<u32>),
}

/// The passes of one kind: how many were made while jobs waited, and in how many of them the same jobs started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Passes {
    all: u32,
    same: u32,
}

impl Passes {
    fn add(&mut self, is_same: bool) {
        self.all += 1;
        self.same += u32::from(is_same);
    }
}

/// The runs of consecutive nodes; nodes are numbered from 1 in the record.
fn share(nodes: &[u32]) -> Arc<[Run]> {
    nodes.iter().map(|node| Run { first: node - 1, length: 1 }).collect()
}

struct State {
    releases: Releases<Numbered>,
    waiting: Vec<Candidate>,
}

impl State {
    /// The jobs that a main pass starts.
    fn main_pass(&self) -> Vec<u32> {
        let mut idle = self.releases.idle_count();
        let mut fits = |job: &&Candidate| match idle.checked_sub(job.procs) {
            Some(left) => {
                idle = left;
                true
            }
            None => false,
        };
        self.waiting.iter().take_while(|job| fits(job)).map(|job| job.id.0).collect()
    }

    /// The jobs that a backfill pass starts, with their nodes.
    fn backfill_pass(&self, now: Time, settings: &Settings, nodes: u32) -> Vec<(u32, Numbered)> {
        let mut releases = self.releases.clone();
        let mut space = Space::new(nodes, settings.resolution);
        let mut pass = Backfill::new(now, settings.window, settings.grouping, &mut releases, &mut space);
        let mut starts = Vec::new();
        for job in self.waiting.iter().take(settings.depth) {
            if let Plan::Start(share) = pass.plan(job) {
                starts.push((job.id.0, set(nodes, &share)));
            }
        }
        starts
    }
}

fn set(nodes: u32, share: &Arc<[Run]>) -> Numbered {
    let mut set = Numbered::none(nodes);
    set.add(share);
    set
}

/// Makes all passes of a record again.
fn replay(record: &Record) -> [Passes; 2] {
    const NODES: u32 = 12;
    let conf = SlurmConf::parse(&record.conf.join("\n"), Path::new("")).unwrap();
    let settings = Settings::of(&conf.scheduler());
    let jobs: BTreeMap<u32, &RecordedJob> = record.jobs.iter().map(|job| (job.id, job)).collect();
    let mut state = State { releases: Releases::new(NODES), waiting: Vec::new() };
    let [mut main, mut backfill] = [Passes::default(); 2];
    for (at, event) in record.events.iter().enumerate() {
        match event {
            Event::Job(_, kind, id) if kind == "sub" => {
                let RecordedJob { nodes, limit, .. } = *jobs[id];
                state.waiting.push(Candidate { id: JobId(*id), procs: nodes, limit });
            }
            Event::Job(_, _, id) => state.releases.end(JobId(*id)),
            Event::Start(time, _, id, nodes) => {
                let end = record.t0 + time.floor() as Time + jobs[id].limit;
                let procs = nodes.len() as u32;
                state.releases.start(Release { id: JobId(*id), end, procs, share: share(nodes) });
                state.waiting.retain(|job| job.id.0 != *id);
            }
            Event::Pass(time, kind) if !state.waiting.is_empty() => {
                let is_main = kind == "main";
                let wanted = if is_main { "sm" } else { "sb" };
                let until_next = record.events[at + 1..].iter().take_while(|next| !matches!(next, Event::Pass(..)));
                let starts: Vec<(u32, Numbered)> = until_next
                    .filter_map(|event| match event {
                        Event::Start(_, kind, id, nodes) if kind == wanted => Some((*id, set(NODES, &share(nodes)))),
                        _ => None,
                    })
                    .collect();
                if is_main {
                    main.add(state.main_pass() == starts.iter().map(|start| start.0).collect::<Vec<_>>());
                } else {
                    let now = record.t0 + time.floor() as Time;
                    backfill.add(state.backfill_pass(now, &settings, NODES) == starts);
                }
            }
            Event::Pass(..) => {}
        }
    }
    [main, backfill]
}

fn records(folder: &PathBuf) -> Vec<Record> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let records = files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "json"));
    records.map(|file| serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()).collect()
}

fn replay_all(records: &[Record]) -> [Passes; 2] {
    let mut total = [Passes::default(); 2];
    for record in records {
        for (total, passes) in total.iter_mut().zip(replay(record)) {
            (total.all, total.same) = (total.all + passes.all, total.same + passes.same);
        }
    }
    total
}

/// The jobs and their nodes are the same in all passes but three of 2,891.
#[test]
fn passes_of_a_real_slurm_are_made_again() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/slurm");
    let [main, backfill] = replay_all(&records(&folder));
    assert_eq!(main, Passes { all: 1061, same: 1060 });
    assert_eq!(backfill, Passes { all: 1830, same: 1829 });
}

/// The same for records that were made just now, if this variable names their folder. (Another test of these records says if
/// there are none.)
#[test]
fn passes_of_a_fresh_record_are_made_again() {
    let Some(folder) = std::env::var_os("SHADOWTIME_SLURM_RECORDS") else {
        return;
    };
    let records = records(&PathBuf::from(folder));
    assert!(!records.is_empty());
    for passes in replay_all(&records) {
        // 99 in 100; one of a few passes may come while a job is just ending.
        assert!(passes.all > 20 && passes.all - passes.same <= (passes.all / 100).max(1), "{passes:?}");
    }
}
