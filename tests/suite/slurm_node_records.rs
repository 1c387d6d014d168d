//! Slurm on nodes against records of the daemon: each recorded pass is made again from the state before it.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use shadowtime::machine::associations::Associations;
use shadowtime::machine::{Cluster, MachineFile, NodeGrant, NodeShare, Resource, Tres};
use shadowtime::request::{DeviceAsked, MemoryAsked, Request};
use shadowtime::schedule::catalog;
use shadowtime::schedule::slurm::conf::SlurmConf;
use shadowtime::schedule::slurm::nodes::{
    ArrayTasks, MakingWay, NodeSet, NodeWeight, NodesState, Owners, QueueEntry, Reserved, RunningJob, SiteLimits,
    SiteReservation, SlurmJob, SlurmNodes, SlurmParameters, SlurmPass, SlurmSite, Started, candidates, merge_sort,
};

use crate::sacctmgr_commands::dump_of;
use crate::slurm_node_priorities::judged_priorities;
use crate::support::Folder;

/// How long a job that was requeued may not start, by `cred_expire` of AuthInfo.
const REQUEUE_DELAY: i64 = 121;

/// The numbers of jobs are multiples of this, with numbers for the tasks of arrays between them.
const MOST_TASKS: u64 = 1000;

/// A job of a record.
pub(crate) struct RecordedJob {
    pub job: SlurmJob,
    /// One after the other: when it started, and with what.
    pub runs: Vec<(i64, NodeGrant)>,
    pub nice: i64,
    pub qos: String,
    pub user: String,
    /// The job number of its array.
    array: Option<u64>,
    extra: Vec<String>,
    /// The job that must have ended.
    after: Option<u64>,
}

pub(crate) struct NodeRecord {
    pub site: SlurmSite,
    unix_start: i64,
    pub jobs: BTreeMap<u64, RecordedJob>,
    pub events: Vec<Value>,
    /// The slurm.conf.
    pub conf: String,
    pub is_basic: bool,
    /// The seconds after a job's end in which its nodes may still be completing.
    completing: f64,
    /// By reservation: its number, by which jobs name it, and what `scontrol show reservation` printed of it.
    reservations: BTreeMap<String, (u32, String)>,
}

/// What a record has, and what it has of a job. All that is read, or that says nothing which the replay of passes needs.
const FIELDS: &str = "accounts admin bad conf cut events gresconf jobs left name seed t0 topo";
const FIELDS_OF_JOB: &str = "alloc args array cpt dep end excl extra feat gpu_inferred gpus gres id limit max_nodes mem min_cpus \
    min_nodes nice norequeue ntpn num_tasks part percpu pn_min_cpus qos resv run runs show start state submit submits user";

/// Fails if an object has a field that is not known: what it means for the state before a pass is not known either.
fn check_fields(name: &str, value: &Value, known: &str) {
    let mut fields = value.as_object().unwrap().keys();
    let unknown = fields.find(|field| known.split_whitespace().all(|own| own != *field));
    assert!(unknown.is_none(), "{name} has a field that is not known: {unknown:?}");
}

/// What the administrator saw of each reservation: its name, and the line about it.
fn reservations_of(record: &Value) -> BTreeMap<String, (u32, String)> {
    let mut all = BTreeMap::new();
    let shown = record["admin"].as_array().into_iter().flatten().filter_map(|command| command["show"].as_str());
    for line in shown.flat_map(str::lines) {
        if let Some(name) = word_of(line, "ReservationName") {
            let number = all.len() as u32;
            all.entry(name.to_string()).or_insert((number, line.to_string())).1 = line.to_string();
        }
    }
    let made = record["events"].as_array().unwrap().iter().filter(|event| event[1] == "rnew");
    for name in made.map(|event| event[2].as_str().unwrap()) {
        let number = all.len() as u32;
        all.entry(name.to_string()).or_insert((number, String::new()));
    }
    all
}

/// The value of `KEY=VALUE` in a line of such words.
fn word_of<'l>(line: &'l str, key: &str) -> Option<&'l str> {
    line.split_whitespace()
        .filter_map(|word| word.split_once('='))
        .find(|(name, _)| *name == key)
        .map(|(_, value)| value)
}

pub(crate) fn text_of(path: &Path) -> String {
    let bytes = std::fs::read(path).unwrap();
    let mut text = String::new();
    match path.extension().is_some_and(|extension| extension == "gz") {
        true => flate2::read::MultiGzDecoder::new(&bytes[..]).read_to_string(&mut text).map(|_| ()).unwrap(),
        false => text = String::from_utf8(bytes).unwrap(),
    }
    text
}

/// The value of a key of slurm.conf.
fn setting<'c>(conf: &'c str, key: &str) -> Option<&'c str> {
    let of_line = |line: &'c str| line.split_once('=').filter(|(name, _)| name.trim().eq_ignore_ascii_case(key));
    conf.lines().find_map(of_line).map(|(_, value)| value.trim())
}

impl NodeRecord {
    pub(crate) fn read(path: &Path) -> NodeRecord {
        let record: Value = serde_json::from_str(&text_of(path)).unwrap();
        check_fields(&path.display().to_string(), &record, FIELDS);
        let text = |key: &str| record[key].as_str().unwrap_or_default();
        let conf = text("conf");
        let folder = Folder::new();
        let file = folder.write("slurm.conf", conf);
        folder.write("gres.conf", text("gresconf"));
        if !text("topo").is_empty() {
            folder.write("topology.conf", text("topo"));
        }
        let mut cluster = MachineFile::read(&file).unwrap().cluster.clone();
        if setting(conf, "PreemptType").is_some_and(|kind| kind.ends_with("qos")) {
            let own = Some(text("accounts")).filter(|accounts| !accounts.is_empty());
            Arc::make_mut(&mut cluster).associations = associations_of(own.unwrap_or(QOS_OF_Q1));
        }
        let keys = SlurmConf::parse(conf, Path::new("")).unwrap().spec();
        let parameters = SlurmParameters::of(&catalog::parse(&keys).unwrap());
        let site = SlurmSite::new(cluster, parameters);
        let reservations = reservations_of(&record);
        let jobs = record["jobs"].as_array().unwrap().iter().map(|job| {
            check_fields(&format!("{}, job {}", path.display(), job["id"]), job, FIELDS_OF_JOB);
            let mut recorded = recorded_job(job, &site);
            recorded.job.reservation = job["resv"].as_str().map(|name| reservations[name].0);
            recorded
        });
        NodeRecord {
            unix_start: record["t0"].as_i64().unwrap(),
            jobs: jobs.map(|job| (job.job.id / MOST_TASKS, job)).collect(),
            events: record["events"].as_array().unwrap().clone(),
            conf: conf.to_string(),
            // With this flag the log says when they are not any more. Without it, 3 to 8 ms were seen on an idle machine.
            completing: match setting(conf, "DebugFlags").is_some_and(|flags| flags.contains("TraceJobs")) {
                true => f64::INFINITY,
                false => 0.008,
            },
            is_basic: setting(conf, "PriorityType").is_some_and(|kind| kind.contains("basic")),
            reservations,
            site,
        }
    }
}

fn recorded_job(job: &Value, site: &SlurmSite) -> RecordedJob {
    let number = |key: &str| job[key].as_u64().unwrap_or(0) as u32;
    let text = |key: &str| job[key].as_str().unwrap_or_default().to_string();
    let partitions: Vec<usize> = text("part").split(',').map(|name| site.cluster.partition(name).unwrap()).collect();
    let memory = match (job["mem"].as_u64(), job["percpu"] == true) {
        (None, _) => MemoryAsked::Unsaid,
        (Some(memory), true) => MemoryAsked::PerCpu(memory),
        (Some(memory), false) => MemoryAsked::PerNode(memory),
    };
    let gpus = match (number("gres"), number("gpus")) {
        (1.., _) => DeviceAsked::PerNode(number("gres")),
        (0, 0) => DeviceAsked::None,
        (0, gpus) => DeviceAsked::Total(gpus),
    };
    let request = Request {
        cpus: number("min_cpus"),
        min_nodes: number("min_nodes"),
        max_nodes: number("max_nodes"),
        tasks: number("num_tasks"),
        tasks_per_node: number("ntpn"),
        cpus_per_task: number("cpt"),
        memory,
        devices: gpus.of(Resource::Gpus),
        constraint: text("feat"),
        exclusive: job["excl"] == true,
        partitions: text("part").split(',').map(str::to_string).collect(),
        ..Request::default()
    };
    let node = |name: &str| site.cluster.nodes.iter().position(|node| node.name == name).unwrap() as u32;
    let run = |run: &Value| {
        let share = |(name, what): (&String, &Value)| {
            let amount = |at: usize| what[at].as_u64().unwrap();
            NodeShare::new(node(name), Tres::on_node(amount(0) as u32, amount(1)).with(Resource::Gpus, amount(2)))
        };
        let mut grant: NodeGrant = run["alloc"].as_object().into_iter().flatten().map(share).collect();
        grant.sort_by_key(|share| share.node);
        (run["start"].as_i64().unwrap_or(0), grant)
    };
    let user = text("user");
    RecordedJob {
        // Only records in which jobs can be stopped have more than the last run.
        runs: job["runs"].as_array().map_or_else(|| vec![run(job)], |runs| runs.iter().map(run).collect()),
        nice: job["nice"].as_i64().unwrap_or(0),
        qos: text("qos"),
        array: job["array"].as_u64(),
        extra: job["extra"].as_array().into_iter().flatten().map(|word| word.as_str().unwrap().to_string()).collect(),
        after: job["dep"][1].as_u64(),
        job: SlurmJob {
            id: job["id"].as_u64().unwrap() * MOST_TASKS,
            kind: job["id"].as_u64().unwrap() as usize,
            user: user.trim_start_matches('u').parse().unwrap_or(0),
            submit: job["submit"].as_i64().unwrap(),
            limit: job["limit"].as_i64().unwrap(),
            qos: site.cluster.associations.qos.iter().position(|qos| qos.name == text("qos")),
            no_requeue: job["norequeue"].as_u64() == Some(1),
            ..SlurmJob::of(&request, partitions, &site.cluster)
        },
        user,
    }
}

/// The commands of sacctmgr for the record N3, as its README says them.
pub(crate) const ASSOCIATIONS_OF_N3: &str = "\
add qos hi3 MaxTRESPerUser=cpu=12 MaxJobsPerUser=3
add qos lo3 GrpTRES=cpu=20 MaxTRESPerJob=cpu=10
add account a1 fairshare=2
add account a2 fairshare=1 GrpTRES=cpu=30
add user u1,u2 account=a1
add user u3 account=a1 GrpTRES=cpu=14 MaxJobs=4
add user u4,u5,u6 account=a2
";

/// The same for the qualities of service of the record Q1.
pub(crate) const QOS_OF_Q1: &str = "\
add qos lo Priority=10
add qos mi Priority=50 Preempt=lo
add qos loc Priority=5 PreemptMode=cancel
add qos hi Priority=100 Preempt=lo,mi,loc
";

fn associations_of(commands: &str) -> Associations {
    let (associations, ignored) = Associations::parse(&dump_of("test", commands)).unwrap();
    assert!(ignored.is_empty(), "{ignored:?}");
    associations
}

impl NodeRecord {
    /// Says who its jobs belong to, and what they may use.
    pub(crate) fn set_associations(&mut self, text: &str) -> SiteLimits {
        let associations = associations_of(text);
        let mut owners = Owners::new(&associations);
        for job in self.jobs.values_mut() {
            job.job.owner = owners.find(&job.user, "");
            job.job.qos = associations.qos.iter().position(|qos| qos.name == job.qos);
            assert!(job.job.qos.is_some(), "{}", job.qos);
        }
        SiteLimits::new(Arc::new(Cluster { associations, ..(*self.site.cluster).clone() }), &owners)
    }
}

/// How many passes and reservations are the same.
#[derive(Debug, Default)]
pub(crate) struct PassFigures {
    pub passes: u32,
    pub same: u32,
    pub reservations: u32,
    pub same_reservations: u32,
    /// Passes in which jobs had to make way, and those in which the same jobs had to, for the same ones.
    pub preempting: u32,
    pub same_preempting: u32,
    /// The jobs that had to make way.
    pub victims: u32,
    pub first_other: Option<String>,
}

/// The tasks of a recorded array.
#[derive(Clone, Copy)]
struct RecordedArray {
    /// Those that have not started, and those that run.
    left: u32,
    running: u32,
    /// The most that run at once. 0: no limit.
    most: u32,
}

/// A recorded run while it is replayed.
struct Replayed<'r> {
    record: &'r NodeRecord,
    state: NodesState,
    waiting: BTreeSet<u64>,
    arrays: BTreeMap<u64, RecordedArray>,
    priorities: BTreeMap<u64, BTreeMap<String, i64>>,
    completing: BTreeMap<u64, Completing>,
    done: BTreeSet<u64>,
    /// By job: how often it has started, and when it may start again if it was requeued.
    started: BTreeMap<u64, usize>,
    begins: BTreeMap<u64, i64>,
    /// The jobs as they are now: a requeued one has a new submission, and the partition in which it ran is its first one.
    jobs: BTreeMap<u64, SlurmJob>,
    released: BTreeMap<u64, f64>,
    limits: SiteLimits,
    /// The nodes that are down, and those that are no candidates: also the drained, and those that have not answered yet.
    down: BTreeSet<u32>,
    out: BTreeSet<u32>,
    /// By node: what the administrator made it.
    states: BTreeMap<u32, String>,
    /// Jobs that never start.
    held: BTreeSet<u64>,
}

/// Whether a node in a state is no candidate.
fn is_gone(state: &str) -> bool {
    state.starts_with("DOWN") || state.starts_with("DRAIN")
}

/// The nodes of a job that has ended or was stopped, until it is gone from them.
struct Completing {
    since: f64,
    nodes: Vec<u32>,
    /// How long that may take.
    most: f64,
}

type Starts = Vec<(u64, usize, NodeGrant)>;
type Plans = Vec<(u64, usize, i64, Vec<u32>)>;
/// Who makes way for whom, and whether at once.
type Ways = Vec<(u64, u64, bool)>;

/// What a pass does.
#[derive(Default)]
struct PassActs {
    starts: Starts,
    plans: Plans,
    ways: Ways,
}

impl Replayed<'_> {
    fn partition(&self, name: &Value) -> usize {
        self.record.site.cluster.partition(name.as_str().unwrap()).unwrap()
    }

    fn node(&self, name: &Value) -> u32 {
        let nodes = &self.record.site.cluster.nodes;
        nodes.iter().position(|node| node.name == name.as_str().unwrap()).unwrap() as u32
    }

    /// A job leaves its nodes, which takes this long at most.
    fn leave(&mut self, id: u64, time: f64, most: f64) {
        let (site, job) = (&self.record.site, &self.record.jobs[&id].job);
        if let Some(ended) = self.state.in_use.end(id * MOST_TASKS, site) {
            let nodes = ended.grant.iter().map(|share| share.node).filter(|node| !self.down.contains(node)).collect();
            self.completing.insert(id, Completing { since: time, nodes, most });
            self.limits.end(job, &ended, time as i64);
        }
    }

    /// Reads an event. `is_before_main`: the next one is a main pass that comes at once.
    fn see(&mut self, event: &[Value], is_before_main: bool) {
        let (time, kind) = (event[0].as_f64().unwrap(), event[1].as_str().unwrap());
        let id = event.get(2).and_then(Value::as_u64).unwrap_or(0);
        let (site, job) = (&self.record.site, self.record.jobs.get(&id));
        match (kind, job) {
            ("sub", Some(job)) => {
                self.waiting.insert(id);
                // The test at submission sets the weights of nodes too.
                for node in candidates(site, &job.job, job.job.partitions[0], 0, false).iter() {
                    let gpus = job.job.gpus_per_node.max(job.job.gpus);
                    let own = site.cluster.nodes[node as usize].has.count(Resource::Gpus).min(gpus);
                    let weight = self.state.closed.weight(site, job.job.reservation, node);
                    self.state.weights[node as usize] = weight - NodeWeight::from(own);
                }
                if job.array.is_some() {
                    let (range, most) = job.extra[1].split_once('%').unwrap_or((&job.extra[1], "0"));
                    let (first, last) = range.split_once('-').unwrap();
                    let left = last.parse::<u32>().unwrap() - first.parse::<u32>().unwrap() + 1;
                    self.arrays.insert(id, RecordedArray { left, running: 0, most: most.parse().unwrap() });
                }
            }
            ("prio", _) => {
                self.priorities.entry(id).or_default().insert("*".to_string(), event[3].as_i64().unwrap());
            }
            ("mprio", _) => {
                for (name, priority) in event[3].as_object().unwrap() {
                    self.priorities.entry(id).or_default().insert(name.clone(), priority.as_i64().unwrap());
                }
            }
            ("try", _) => self.tried(event),
            ("epi", _) => {
                let node = event.get(3).map(|name| self.node(name));
                if let Some(completing) = self.completing.get_mut(&id) {
                    completing.nodes.retain(|own| node.is_some_and(|node| *own != node));
                    // The main pass is that after the last node of the job.
                    if completing.nodes.is_empty() || is_before_main {
                        self.completing.remove(&id);
                    }
                }
            }
            ("pre", Some(_)) => {
                self.waiting.remove(&id);
                self.leave(id, time, if event[4] == "requeued" { 30.0 } else { 0.1 });
            }
            ("grace", Some(_)) => {
                self.state.grant_grace(id * MOST_TASKS, event[4].as_i64().unwrap(), time as i64, site);
            }
            ("requeued", Some(_)) => {
                self.completing.remove(&id);
                self.waiting.insert(id);
                let now = time.floor() as i64;
                self.begins.insert(id, now + REQUEUE_DELAY);
                self.jobs.get_mut(&id).unwrap().submit = now;
            }
            ("nodefail", Some(_)) => {
                self.down.insert(self.node(&event[3]));
                self.leave(id, time, if event[4] == "requeue" { 30.0 } else { 0.1 });
            }
            ("node", _) => {
                let (node, name) = (self.node(&event[2]), event[3].as_str().unwrap());
                self.states.insert(node, name.to_string());
                if is_gone(name) {
                    self.set_out(node, true);
                }
                match name.starts_with("DOWN") {
                    true => {
                        self.down.insert(node);
                        self.completing.values_mut().for_each(|own| own.nodes.retain(|other| *other != node));
                    }
                    false => _ = self.down.remove(&node),
                }
            }
            ("resp", _) => {
                let node = self.node(&event[2]);
                if !self.states.get(&node).is_some_and(|name| is_gone(name)) {
                    self.set_out(node, false);
                }
            }
            ("rnew" | "rupd", _) => {
                let name = event[2].as_str().unwrap();
                let (number, shown) = &self.record.reservations[name];
                let [start, end] = [4, 5].map(|at| event[at].as_i64().unwrap());
                let flags = word_of(shown, "Flags").unwrap_or("");
                let has = |flag: &str| flags.split(',').any(|own| own == flag);
                let partition = word_of(shown, "PartitionName").and_then(|name| site.cluster.partition(name));
                let reservation = SiteReservation {
                    number: *number,
                    start,
                    end,
                    nodes: self.nodes(&event[3]),
                    is_maintenance: has("MAINT"),
                    overlaps: has("OVERLAP"),
                    is_flexible: has("FLEX"),
                    has_all: has("ALL_NODES"),
                    of_partition: partition.filter(|_| has("PART_NODES")),
                };
                let all = &mut self.state.closed.reservations;
                match all.iter_mut().find(|known| known.number == *number) {
                    Some(known) => *known = reservation,
                    None => all.push(reservation),
                }
            }
            ("rnodes", _) => {
                let (nodes, number) = (self.nodes(&event[3]), self.number(event));
                let all = &mut self.state.closed.reservations;
                all.iter_mut().filter(|known| known.number == number).for_each(|known| known.nodes = nodes.clone());
            }
            ("rdel", _) => {
                let number = self.number(event);
                self.state.closed.reservations.retain(|known| known.number != number);
            }
            ("rhold", Some(_)) => _ = self.held.insert(id),
            ("end" | "rend", Some(_)) => {
                self.leave(id, time, self.record.completing);
                self.done.insert(id);
                if let Some(array) = job.and_then(|job| job.array).and_then(|array| self.arrays.get_mut(&array)) {
                    array.running -= 1;
                }
            }
            ("sm" | "sb", Some(job)) => {
                match job.array.and_then(|array| Some((array, self.arrays.get_mut(&array)?))) {
                    Some((array, tasks)) => {
                        (tasks.left, tasks.running) = (tasks.left - 1, tasks.running + 1);
                        if tasks.left == 0 {
                            self.waiting.remove(&array);
                        }
                    }
                    None => {
                        self.waiting.remove(&id);
                    }
                }
                let partition = self.partition(&event[3]);
                let at = self.started.entry(id).or_default();
                let (start, ref grant) = job.runs[*at];
                *at += 1;
                let partitions = &mut self.jobs.get_mut(&id).unwrap().partitions;
                let place = partitions.iter().position(|own| *own == partition).unwrap();
                partitions[..=place].rotate_right(1);
                self.limits.start(QueueEntry { job: &job.job, partition }, grant);
                let running = RunningJob {
                    // It may be preempted in the second of its start, though not in a simulation of whole seconds.
                    start: start - 1,
                    end: start + job.job.limit,
                    id: job.job.id,
                    partition,
                    qos: job.job.qos,
                    no_requeue: job.job.no_requeue,
                    grace_end: None,
                    grant: grant.clone(),
                    is_whole: job.job.is_whole || site.cluster.partitions[partition].exclusive,
                };
                self.state.in_use.start(running, site);
            }
            _ => {}
        }
    }

    /// The number of the reservation of an event.
    fn number(&self, event: &[Value]) -> u32 {
        self.record.reservations[event[2].as_str().unwrap()].0
    }

    fn nodes(&self, names: &Value) -> NodeSet {
        NodeSet::of(self.record.site.len(), names.as_array().unwrap().iter().map(|name| self.node(name)))
    }

    /// A node is a candidate no more, or again.
    fn set_out(&mut self, node: u32, is_out: bool) {
        match is_out {
            true => self.out.insert(node),
            false => self.out.remove(&node),
        };
        let out = NodeSet::of(self.record.site.len(), self.out.iter().copied());
        self.state.closed.out = Some(out).filter(|out| !out.is_empty());
    }

    fn tried(&mut self, event: &[Value]) {
        let (id, name) = (event[2].as_u64().unwrap(), event[3].as_str().unwrap());
        self.priorities.entry(id).or_default().insert(name.to_string(), event[4].as_i64().unwrap());
    }

    fn priority(&self, id: u64, partition: usize) -> i64 {
        let job = &self.record.jobs[&id];
        if self.record.is_basic {
            return 4_294_901_760 - id as i64 - job.nice;
        }
        let name = &self.record.site.cluster.partitions[partition].name;
        let Some(known) = self.priorities.get(&id) else { return 0 };
        match (job.job.partitions.len() > 1, known.get(name), known.get("*")) {
            (true, Some(&own), _) => own,
            (_, _, Some(&all)) => all,
            (_, own, None) => own.copied().unwrap_or(0),
        }
    }

    /// Whether nothing but the scheduler holds a job.
    fn is_eligible(&self, id: u64, time: f64) -> bool {
        let job = &self.record.jobs[&id];
        let has_ended = |after: u64| match self.arrays.get(&after) {
            Some(array) => array.left == 0 && array.running == 0,
            None => self.done.contains(&after),
        };
        let is_singleton = |job: &RecordedJob| job.extra.iter().any(|word| word == "singleton");
        let is_before = |other: &RecordedJob| {
            let other_id = other.job.id / MOST_TASKS;
            let runs = self.state.in_use.running.iter().any(|running| running.id == other.job.id);
            other_id != id
                && other.user == job.user
                && is_singleton(other)
                && (runs || (self.waiting.contains(&other_id) && other_id < id))
        };
        let word = |name: &str| job.extra.iter().any(|word| word == name);
        let begin = || job.extra[1][4..].parse::<f64>().unwrap() + job.job.submit as f64;
        !self.held.contains(&id)
            && self.state.closed.admits(job.job.reservation, time.floor() as i64)
            && self.begins.get(&id).is_none_or(|begin| *begin as f64 <= time)
            && job.after.is_none_or(has_ended)
            && !(is_singleton(job) && self.record.jobs.values().any(is_before))
            && !(word("--begin") && time < begin())
            && !(word("--hold") && time < self.released.get(&id).copied().unwrap_or(1e9) - 0.05)
    }

    /// A waiting job as it is in the queue: of an array the first task, with the others behind it. None if the array is at its limit.
    fn in_queue(&self, id: u64) -> Option<SlurmJob> {
        let job = &self.jobs[&id];
        let Some(&RecordedArray { left, running, most }) = self.arrays.get(&id) else { return Some(job.clone()) };
        let ready = if most > 0 { left.min(most.saturating_sub(running)) } else { left };
        let task = |at: u32| SlurmJob { id: job.id + u64::from(at), array: Some(job.id), ..job.clone() };
        let behind = ArrayTasks { tasks: (1..ready).map(task).collect(), held: left - ready };
        (ready > 0).then(|| SlurmJob { behind: Some(Box::new(behind)), ..task(0) })
    }

    /// Makes a pass. `is_full` has a meaning for a main pass.
    fn pass(&mut self, time: f64, is_backfill: bool, is_full: bool) -> PassActs {
        let record = self.record;
        let site = &record.site;
        let mut queue: Vec<QueueEntry<'_>> = Vec::new();
        let eligible = self.waiting.iter().filter(|&&id| self.is_eligible(id, time));
        let jobs: Vec<SlurmJob> = eligible.filter_map(|&id| self.in_queue(id)).collect();
        for job in &jobs {
            let is_allowed =
                |&partition: &usize| site.cluster.partitions[partition].max_time.is_none_or(|most| job.limit <= most);
            let entries = job.partitions.iter().copied().filter(is_allowed);
            queue.extend(entries.map(|partition| QueueEntry { job, partition }));
        }
        let place = |entry: &QueueEntry<'_>| entry.job.partitions.iter().position(|other| *other == entry.partition);
        let key = |entry: &QueueEntry<'_>| {
            let QueueEntry { job, partition } = *entry;
            let tier = -i64::from(site.cluster.partitions[partition].priority_tier);
            let is_plain = job.reservation.is_none();
            (is_plain, tier, -self.priority(job.id / MOST_TASKS, partition), job.submit, job.id, place(entry))
        };
        queue.sort_by_key(|entry| (entry.job.id, place(entry)));
        let queue =
            merge_sort(&queue, &|a, b| site.order_by_preemption(*a, *b).then_with(|| key(a).cmp(&key(b))).is_gt());
        let mut completing = NodeSet::none(site.len());
        for own in self.completing.values().filter(|own| time - own.since < own.most) {
            own.nodes.iter().for_each(|&node| completing.insert(node));
        }
        let make = |state: &mut NodesState, limits: &mut SiteLimits, reserves_all: bool| {
            let mut pass = SlurmPass {
                nodes: SlurmNodes { site, state, completing: completing.clone() },
                limits,
                now: time.floor() as i64,
                unix_start: record.unix_start,
                reserves_all,
                started: Vec::new(),
                reserved: Vec::new(),
            };
            let entry = |number: usize| queue.get(number).copied();
            match is_backfill {
                true => pass.backfill(entry),
                false => _ = pass.main(entry, is_full),
            }
            let acts = (pass.started, pass.reserved);
            (acts, state.take_making_way())
        };
        let ((without_all, _), ways_without) = make(&mut self.state.clone(), &mut self.limits.clone(), false);
        let mut state = self.state.clone();
        let ((started, reserved), ways) = make(&mut state, &mut self.limits, true);
        let what = "reservations that can start nothing have an effect";
        assert_eq!((&started, &ways), (&without_all, &ways_without), "at {time}: {what}");
        self.state.weights = state.weights;
        self.held.extend(state.closed.take_held().iter().map(|id| id / MOST_TASKS));
        let now = time.floor() as i64;
        // The events after the pass say what really starts.
        for Started { id, partition, grant } in &started {
            let job = &record.jobs[&(id / MOST_TASKS)].job;
            let (end, partition, grant) = (now + job.limit, *partition, grant.clone());
            let running = RunningJob { start: now, end, id: *id, partition, grant, ..RunningJob::default() };
            self.limits.end(job, &running, now);
        }
        let number = |id: u64| id / MOST_TASKS;
        let way = |way: MakingWay| (number(way.running.id), number(way.preemptor), way.is_stopped);
        let starts = started.into_iter().map(|start| (start.id / MOST_TASKS, start.partition, start.grant)).collect();
        let plan = |plan: Reserved| (plan.id / MOST_TASKS, plan.partition, plan.start, plan.nodes.iter().collect());
        let plans = reserved.into_iter().map(plan);
        PassActs { starts, plans: plans.collect(), ways: ways.into_iter().map(way).collect() }
    }
}

/// What the daemon did in the pass that begins with this event.
fn recorded_pass(replayed: &mut Replayed<'_>, from: usize, time: f64, is_backfill: bool) -> PassActs {
    let PassActs { mut starts, mut plans, mut ways } = PassActs::default();
    let (record, mut runs) = (replayed.record, replayed.started.clone());
    for event in &record.events[from + 1..] {
        let event = event.as_array().unwrap();
        let kind = event[1].as_str().unwrap();
        if ["main", "bf", "mainskip", "bfend"].contains(&kind) || event[0].as_f64().unwrap() > time + 0.5 {
            break;
        }
        let id = event.get(2).and_then(Value::as_u64).unwrap_or(0);
        if kind == if is_backfill { "sb" } else { "sm" } && record.jobs.contains_key(&id) {
            let (job, at) = (&record.jobs[&id], runs.entry(id).or_default());
            starts.push((job.array.unwrap_or(id), replayed.partition(&event[3]), job.runs[*at].1.clone()));
            *at += 1;
        }
        // After a grace time nobody preempts.
        if ["pre", "grace"].contains(&kind) && record.jobs.contains_key(&id) && !event[3].is_null() {
            ways.push((id, event[3].as_u64().unwrap(), kind == "pre"));
        }
        if kind == "resv" && is_backfill {
            let mut nodes: Vec<u32> = event[6].as_array().unwrap().iter().map(|name| replayed.node(name)).collect();
            nodes.sort_unstable();
            plans.push((id, replayed.partition(&event[3]), event[4].as_i64().unwrap(), nodes));
        }
        if kind == "try" {
            replayed.tried(event);
        }
    }
    PassActs { starts, plans, ways }
}

pub(crate) fn replay(record: &NodeRecord, limits: SiteLimits) -> PassFigures {
    let mut replayed = Replayed {
        record,
        state: NodesState::new(&record.site),
        waiting: BTreeSet::new(),
        arrays: BTreeMap::new(),
        priorities: BTreeMap::new(),
        completing: BTreeMap::new(),
        done: BTreeSet::new(),
        started: BTreeMap::new(),
        begins: BTreeMap::new(),
        jobs: record.jobs.iter().map(|(&id, job)| (id, job.job.clone())).collect(),
        released: BTreeMap::new(),
        limits,
        down: BTreeSet::new(),
        out: BTreeSet::new(),
        states: BTreeMap::new(),
        held: BTreeSet::new(),
    };
    for event in &record.events {
        if let ("try" | "fail" | "sm", Some(id)) = (event[1].as_str().unwrap(), event[2].as_u64()) {
            let time = event[0].as_f64().unwrap();
            replayed.released.entry(id).and_modify(|known| *known = known.min(time)).or_insert(time);
        }
    }
    let mut figures = PassFigures::default();
    for (at, event) in record.events.iter().enumerate() {
        let event = event.as_array().unwrap();
        let (time, kind) = (event[0].as_f64().unwrap(), event[1].as_str().unwrap());
        if !["main", "bf"].contains(&kind) {
            let next = record.events.get(at + 1).filter(|next| next[1] == "main");
            replayed.see(event, next.is_some_and(|next| next[0].as_f64().unwrap() - time < 0.003));
            continue;
        }
        if replayed.waiting.is_empty() {
            continue;
        }
        let is_backfill = kind == "bf";
        let PassActs { starts: mut expected, plans, mut ways } = recorded_pass(&mut replayed, at, time, is_backfill);
        let is_full = event.get(2).and_then(Value::as_i64).unwrap_or(0) != 0;
        let PassActs { starts: mut found, plans: found_plans, ways: mut found_ways } =
            replayed.pass(time, is_backfill, is_full);
        for &(_, preemptor, _) in &ways {
            replayed.state.note_preemptor(&replayed.record.jobs[&preemptor].job, time.floor() as i64);
        }
        [&mut ways, &mut found_ways].into_iter().for_each(|ways| ways.sort_unstable());
        figures.preempting += u32::from(!ways.is_empty());
        figures.same_preempting += u32::from(!ways.is_empty() && ways == found_ways);
        figures.victims += ways.len() as u32;
        let key = |start: &(u64, usize, NodeGrant)| {
            (start.0, start.1, start.2.iter().map(|share| (share.node, share.what.cpus())).collect::<Vec<_>>())
        };
        expected.sort_by_key(key);
        found.sort_by_key(key);
        figures.passes += 1;
        let is_same = (&expected, &ways) == (&found, &found_ways);
        figures.same += u32::from(is_same);
        if !is_same {
            let other = format!("{kind} at {time}: {found:?} {found_ways:?}, recorded {expected:?} {ways:?}");
            figures.first_other.get_or_insert(other);
        }
        figures.reservations += plans.len() as u32;
        figures.same_reservations += plans.iter().filter(|plan| found_plans.contains(plan)).count() as u32;
    }
    figures
}

/// The records to be replayed, by name: those of a folder that is given, of the real logs, or the few that are always there.
pub(crate) fn records() -> Vec<(String, PathBuf)> {
    let folder_of = |name: &str| std::env::var_os(name).filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let of_logs = folder_of("SHADOWTIME_LOGS").map(|logs| logs.join("nodes/slurm-record"));
    let given = folder_of("SHADOWTIME_SLURM_NODE_RECORDS").or(of_logs.filter(|folder| folder.is_dir()));
    let folder = given.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/slurm-nodes"));
    let name_of = |path: &Path| {
        let name = path.file_name()?.to_string_lossy().into_owned();
        name.strip_suffix(".json").or(name.strip_suffix(".json.gz")).map(str::to_string)
    };
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let mut records: Vec<_> = files.filter_map(|path| Some((name_of(&path)?, path))).collect();
    records.sort();
    records
}

/// Events that the replay of passes reads, or that say nothing which it needs.
const EVENTS: &str = "acctblock acctdelay bf bfend bfskip decay end epi fac fail fs ft grace main mainskip mprio node nodefail pre \
    prio ran rdefer rdel rend requeued resp resv rhold rnew rnodes rupd sb sm sub try use";

impl NodeRecord {
    /// Fails if there is an event that is not known: what it means for the state before a pass is not known either.
    fn check_events(&self, name: &str) {
        let mut kinds = self.events.iter().map(|event| event[1].as_str().unwrap());
        let unknown = kinds.find(|kind| EVENTS.split_whitespace().all(|own| own != *kind));
        assert!(unknown.is_none(), "{name} has an event that is not known: {unknown:?}");
    }
}

#[test]
fn passes_of_node_records() {
    let mut too_few = Vec::new();
    for (name, file) in records() {
        let mut record = NodeRecord::read(&file);
        record.check_events(&name);
        if name.starts_with("N7") {
            // Preempted jobs have only their last run there.
            continue;
        }
        let judged = judged_priorities(&name, &record);
        let limits = match name.starts_with("N3") {
            true => record.set_associations(ASSOCIATIONS_OF_N3),
            false => SiteLimits::new(record.site.cluster.clone(), &Owners::new(&Associations::default())),
        };
        assert_eq!(limits.is_empty(), !name.starts_with("N3"));
        let figures = replay(&record, limits);
        let PassFigures { passes, same, reservations, same_reservations, first_other, .. } = &figures;
        print!("{name}: {same} of {passes} passes, {same_reservations} of {reservations} reservations");
        if figures.preempting > 0 {
            print!(
                ", {} of {} preempting passes, {} victims",
                figures.same_preempting, figures.preempting, figures.victims
            );
        }
        let mut others: Vec<String> = first_other.iter().cloned().collect();
        let mut are_priorities_right = true;
        if let Some(judged) = judged {
            print!(", {} of {} priorities", judged.same, judged.priorities);
            others.extend(judged.first_other);
            are_priorities_right = judged.same * 100 >= judged.priorities * 95;
        }
        println!();
        others.iter().for_each(|other| println!("    {other}"));
        if same * 100 < passes * 99 || same_reservations * 100 < reservations * 99 || !are_priorities_right {
            too_few.push(name);
        }
    }
    assert!(too_few.is_empty(), "{too_few:?}");
}
