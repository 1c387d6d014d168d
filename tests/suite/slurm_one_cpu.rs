//! The rules of Slurm on nodes for nodes of one CPU: the records of the daemon on a pool hold for them too.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use shadowtime::machine::{NodeShare, Tres, parse_toml};
use shadowtime::request::Request;
use shadowtime::schedule::catalog;
use shadowtime::schedule::slurm::conf::SlurmConf;
use shadowtime::schedule::slurm::nodes::{
    NodeSet, NodesState, QueueEntry, RunningJob, SiteLimits, SlurmJob, SlurmNodes, SlurmParameters, SlurmPass,
    SlurmSite,
};

const MACHINE: &str = "[[nodes]]\nname = \"n[1-12]\"\ncpus = 1\n";

/// The jobs that start in a pass, with their nodes.
type Starts = Vec<(u64, Vec<u32>)>;

struct OneCpuRecord {
    site: SlurmSite,
    unix_start: i64,
    jobs: BTreeMap<u64, SlurmJob>,
    events: Vec<Value>,
}

impl OneCpuRecord {
    fn read(path: &Path) -> OneCpuRecord {
        let record: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let cluster = Arc::new(parse_toml(MACHINE).unwrap());
        let lines: Vec<&str> = record["conf"].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
        let conf = SlurmConf::parse(&lines.join("\n"), Path::new("")).unwrap();
        let site = SlurmSite::new(cluster, SlurmParameters::of(&catalog::parse(&conf.spec()).unwrap()));
        let job = |job: &Value| {
            let (id, nodes) = (job["id"].as_u64().unwrap(), job["nodes"].as_u64().unwrap() as u32);
            let request =
                Request { cpus: nodes, min_nodes: nodes, max_nodes: nodes, tasks: nodes, ..Request::default() };
            let limit = job["limit"].as_i64().unwrap();
            (id, SlurmJob { id, kind: nodes as usize, limit, ..SlurmJob::of(&request, vec![0], &site.cluster) })
        };
        OneCpuRecord {
            unix_start: record["t0"].as_i64().unwrap(),
            jobs: record["jobs"].as_array().unwrap().iter().map(job).collect(),
            events: record["events"].as_array().unwrap().clone(),
            site,
        }
    }

    /// What the daemon starts in the pass before these events.
    fn recorded(&self, from: usize, kind: &str) -> Starts {
        let until_next = self.events[from..].iter().take_while(|event| event.as_array().unwrap().len() > 2);
        let of_kind = until_next.filter(|event| event[1] == kind);
        of_kind.map(|event| (event[2].as_u64().unwrap(), nodes_of(event))).collect()
    }

    fn pass(&self, state: &NodesState, waiting: &BTreeSet<u64>, now: i64, is_main: bool, reserves_all: bool) -> Starts {
        let mut state = state.clone();
        let mut pass = SlurmPass {
            nodes: SlurmNodes { site: &self.site, state: &mut state, completing: NodeSet::none(self.site.len()) },
            limits: &mut SiteLimits::default(),
            now,
            unix_start: self.unix_start,
            reserves_all,
            started: Vec::new(),
            reserved: Vec::new(),
        };
        let queue: Vec<_> = waiting.iter().map(|id| QueueEntry { job: &self.jobs[id], partition: 0 }).collect();
        let entry = |number: usize| queue.get(number).copied();
        match is_main {
            true => _ = pass.main(entry, true),
            false => pass.backfill(entry),
        }
        let nodes = |grant: &[NodeShare]| grant.iter().map(|share| share.node).collect();
        pass.started.iter().map(|start| (start.id, nodes(&start.grant))).collect()
    }

    /// All passes while jobs wait, and in how many the same jobs start on the same nodes.
    fn replay(&self) -> (u32, u32) {
        let mut state = NodesState::new(&self.site);
        let mut waiting: BTreeSet<u64> = BTreeSet::new();
        let (mut passes, mut same) = (0, 0);
        for (at, event) in self.events.iter().enumerate() {
            let (time, kind) = (event[0].as_f64().unwrap(), event[1].as_str().unwrap());
            let id = event.get(2).and_then(Value::as_u64);
            match (kind, id) {
                ("sub", Some(id)) => _ = waiting.insert(id),
                ("sm" | "sb", Some(id)) => {
                    waiting.remove(&id);
                    let what = Tres::on_node(1, 0);
                    let grant = nodes_of(event).into_iter().map(|node| NodeShare::new(node, what)).collect();
                    let start = time.floor() as i64;
                    let end = start + self.jobs[&id].limit;
                    let running = RunningJob { start, end, id, grant, ..RunningJob::default() };
                    state.in_use.start(running, &self.site);
                }
                (_, Some(id)) => drop(state.in_use.end(id, &self.site)),
                (_, None) if waiting.is_empty() => {}
                (_, None) => {
                    let is_main = kind == "main";
                    let recorded = self.recorded(at + 1, if is_main { "sm" } else { "sb" });
                    let [found, quick] =
                        [true, false].map(|all| self.pass(&state, &waiting, time.floor() as i64, is_main, all));
                    assert_eq!(found, quick, "{kind} at {time}: with and without reservations that start nothing");
                    (passes, same) = (passes + 1, same + u32::from(found == recorded));
                }
            }
        }
        (passes, same)
    }
}

/// They are numbered from 1 in the record.
fn nodes_of(event: &Value) -> Vec<u32> {
    let mut nodes: Vec<u32> =
        event[3].as_array().unwrap().iter().map(|node| node.as_u64().unwrap() as u32 - 1).collect();
    nodes.sort_unstable();
    nodes
}

/// The rules for a pool make 2,889 of them again; there the nodes of main passes are not compared.
#[test]
fn records_of_a_pool_hold_on_nodes_of_one_cpu() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/slurm");
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let mut records: Vec<_> = files.filter(|file| file.extension().is_some_and(|end| end == "json")).collect();
    records.sort();
    assert_eq!(records.len(), 11);
    let figures: Vec<(u32, u32)> = records.iter().map(|file| OneCpuRecord::read(file).replay()).collect();
    let total = figures.iter().fold((0, 0), |(all, same), figure| (all + figure.0, same + figure.1));
    assert_eq!(total, (2891, 2888), "{figures:?}");
}
