//! Passes of a real Slurm, made again from the state that was recorded before each of them. `tests/slurm/README.md` says how the
//! records were made.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::*;
use crate::job::JobId;
use crate::schedule::catalog;
use crate::schedule::slurm::conf::SlurmConf;
use crate::schedule::slurm::node_set::Share;
use crate::schedule::slurm::nodes::{NodesState, SiteLimits, SlurmJob, SlurmNodes, SlurmSite};
use crate::schedule::slurm::releases::Release;
use crate::schedule::slurm::runs::Run;
use crate::schedule::slurm::settings::Settings;

#[derive(Deserialize)]
struct SlurmRecord {
    t0: Time,
    conf: Vec<String>,
    jobs: Vec<RecordedJob>,
    events: Vec<RecordedEvent>,
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
enum RecordedEvent {
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
fn share(nodes: &[u32]) -> Share {
    nodes.iter().map(|node| Run { first: node - 1, length: 1 }).collect()
}

struct RecordedState {
    site: SlurmSite,
    state: NodesState,
    waiting: Vec<SlurmJob>,
}

impl RecordedState {
    /// The jobs that a pass starts, with their nodes.
    fn pass(&self, now: Time, is_main: bool) -> Vec<(u32, NodeSet)> {
        let mut state = self.state.clone();
        let mut pass = SlurmPass {
            nodes: SlurmNodes { site: &self.site, state: &mut state, completing: NodeSet::none(0) },
            limits: &mut SiteLimits::default(),
            now,
            unix_start: 0,
            reserves_all: false,
            started: Vec::new(),
            reserved: Vec::new(),
        };
        let queue = |number| self.waiting.get(number).map(|job| QueueEntry { job, partition: 0 });
        match is_main {
            true => _ = pass.main(queue, true),
            false => pass.backfill(queue),
        }
        let started = std::mem::take(&mut pass.started);
        let pool = state.in_use.pool.as_ref().unwrap();
        started.iter().map(|job| (job.id as u32, set(pool.share_of(JobId(job.id as u32))))).collect()
    }
}

const NODES: u32 = 12;

fn set(share: &Share) -> NodeSet {
    let mut set = NodeSet::none(NODES as usize);
    set.add_share(share);
    set
}

/// Makes all passes of a record again.
fn replay(record: &SlurmRecord) -> [Passes; 2] {
    let conf = SlurmConf::parse(&record.conf.join("\n"), Path::new("")).unwrap();
    let settings = Settings::of(&catalog::parse(&conf.spec()).unwrap());
    let jobs: BTreeMap<u32, &RecordedJob> = record.jobs.iter().map(|job| (job.id, job)).collect();
    let site = SlurmSite::of_pool(NODES, settings.parameters.clone());
    let mut state = RecordedState { state: NodesState::new(&site), site, waiting: Vec::new() };
    let [mut main, mut backfill] = [Passes::default(); 2];
    // Newer records say how long the nodes of a job that has ended cannot be used. The scheduler has no such time, so
    // passes within it are not judged.
    let is_epilog = |event: &RecordedEvent| matches!(event, RecordedEvent::Job(_, kind, _) if kind == "epi");
    let has_epilogs = record.events.iter().any(is_epilog);
    let mut completing = BTreeSet::new();
    for (at, event) in record.events.iter().enumerate() {
        match event {
            RecordedEvent::Job(_, kind, id) if kind == "epi" => _ = completing.remove(id),
            RecordedEvent::Job(_, kind, id) if kind == "sub" => {
                let RecordedJob { nodes, limit, .. } = *jobs[id];
                let job = SlurmJob::of_processors(nodes, &state.site.cluster);
                state.waiting.push(SlurmJob { id: (*id).into(), limit, ..job });
            }
            RecordedEvent::Job(_, _, id) => {
                state.state.in_use.end((*id).into(), &state.site);
                if has_epilogs {
                    completing.insert(*id);
                }
            }
            RecordedEvent::Start(time, _, id, nodes) => {
                let end = record.t0 + time.floor() as Time + jobs[id].limit;
                let procs = nodes.len() as u32;
                state.state.in_use.start_on_pool(Release { id: JobId(*id), end, procs, share: share(nodes) });
                state.waiting.retain(|job| job.id != u64::from(*id));
            }
            RecordedEvent::Pass(time, kind) if !state.waiting.is_empty() && completing.is_empty() => {
                let is_main = kind == "main";
                let wanted = if is_main { "sm" } else { "sb" };
                let until_next =
                    record.events[at + 1..].iter().take_while(|next| !matches!(next, RecordedEvent::Pass(..)));
                let starts: Vec<(u32, NodeSet)> = until_next
                    .filter_map(|event| match event {
                        RecordedEvent::Start(_, kind, id, nodes) if kind == wanted => Some((*id, set(&share(nodes)))),
                        _ => None,
                    })
                    .collect();
                let found = state.pass(record.t0 + time.floor() as Time, is_main);
                if is_main {
                    let ids = |starts: &[(u32, NodeSet)]| starts.iter().map(|start| start.0).collect::<Vec<_>>();
                    main.add(ids(&found) == ids(&starts));
                } else {
                    backfill.add(found == starts);
                }
            }
            RecordedEvent::Pass(..) => {}
        }
    }
    [main, backfill]
}

fn records(folder: &PathBuf) -> Vec<SlurmRecord> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    // A record on nodes has another form.
    let is_record = |file: &PathBuf| file.extension().is_some_and(|end| end == "json") && !file.ends_with("nodes.json");
    let records = files.iter().filter(|file| is_record(file));
    records
        .map(|file| serde_json::from_str(&std::io::read_to_string(crate::files::open(file).unwrap()).unwrap()).unwrap())
        .collect()
}

fn replay_all(records: &[SlurmRecord]) -> [Passes; 2] {
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
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/slurm");
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
    if records.is_empty() {
        return;
    }
    for passes in replay_all(&records) {
        // 99 in 100; one of a few passes may come while a job is just ending.
        assert!(passes.all > 20 && passes.all - passes.same <= (passes.all / 100).max(1), "{passes:?}");
    }
}
