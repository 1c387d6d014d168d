//! The requests of a workload as shapes on a cluster, or why they can never be placed.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;

use super::cluster::{Cluster, Partition, PartitionState};
use super::constraint::{BadConstraint, Constraint};
use super::placement::Placement;
use super::shape::{ListRelation, NodeList, NodeShape, ShapePlace};
use crate::request::{DeviceAsked, MemoryAsked, Request, RequestId, Requests};
use crate::sort::sort_by_key;
use crate::tres::{Resource, Tres};

/// Why a job can never run on a cluster.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unplaceable {
    /// The partition that it names does not exist.
    NoPartition(String),
    /// It names no partition, and there is none for such jobs.
    NoDefault,
    /// None of its partitions takes jobs.
    PartitionDown,
    /// Its partitions do not allow its number of nodes.
    NodeLimits,
    /// Its constraint is not simulated.
    Constraint(BadConstraint),
    /// It does not fit the idle nodes.
    TooLarge,
    /// It can run here, but not on another machine that is compared with this one.
    OnlyHere,
}

impl fmt::Display for Unplaceable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unplaceable::NoPartition(name) => {
                write!(f, "the machine has no partition '{}'", crate::text::printable(name))
            }
            Unplaceable::NoDefault => f.write_str("it names no partition, and the machine has no default"),
            Unplaceable::PartitionDown => f.write_str("its partition is down, or takes no new jobs"),
            Unplaceable::NodeLimits => f.write_str("its partition does not allow its number of nodes"),
            Unplaceable::Constraint(why) => why.fmt(f),
            Unplaceable::TooLarge => f.write_str("it does not fit the idle nodes of its partition"),
            Unplaceable::OnlyHere => f.write_str("it cannot run on another machine of the comparison"),
        }
    }
}

/// The shapes of all requests of a workload.
#[derive(Clone, Debug)]
pub struct Shapes {
    /// The machine. If nothing is known of the memory of any job, it does not count on it.
    cluster: Arc<Cluster>,
    /// The machine as it was given.
    given: Arc<Cluster>,
    /// By request.
    all: Vec<Result<NodeShape, Unplaceable>>,
    /// By request: what it asks for in its own words.
    asked: Vec<Request>,
    /// The lists of nodes, and the kinds.
    lists: NodeLists,
    /// By two lists: what nodes of the first the second has. Empty if there are too many lists.
    relations: Vec<ListRelation>,
    /// Whether the machine is a pool of processors for these requests.
    is_pool: bool,
    /// By the number of a user in the log: the name, if the machine says what this user may use.
    users: BTreeMap<i64, String>,
}

impl Shapes {
    /// What these requests mean on a cluster.
    pub fn new(cluster: Arc<Cluster>, requests: &Requests) -> Shapes {
        Shapes::of(cluster, requests.all().to_vec())
    }

    /// A job that does not say its memory has all of its nodes, as in Slurm. A log in which no job says an amount just does not have
    /// it: accounting has 0 where memory is not used.
    fn of(given: Arc<Cluster>, asked: Vec<Request>) -> Shapes {
        let has_default = |partition: &Partition| partition.default_memory().is_amount();
        let is_known =
            asked.iter().any(|request| request.memory.is_amount()) || given.partitions.iter().any(has_default);
        let cluster = match is_known || given.ignores_memory {
            true => Arc::clone(&given),
            false => Arc::new(Cluster { ignores_memory: true, ..Cluster::clone(&given) }),
        };
        let mut lists = NodeLists::default();
        let all = asked.iter().map(|request| lists.shape(&cluster, request)).collect();
        let relations = lists.relations(cluster.nodes.len());
        Shapes { cluster, given, all, asked, lists, relations, is_pool: false, users: BTreeMap::new() }
    }

    /// What nodes of a list another has.
    pub fn relation(&self, list: &NodeList, other: &NodeList) -> ListRelation {
        let number = list.number as usize * self.lists.known.len() + other.number as usize;
        match self.relations.get(number) {
            Some(relation) => *relation,
            None if list.number == other.number => ListRelation::Within,
            None => ListRelation::Other,
        }
    }

    /// Notes whether the machine is a pool of processors for these jobs, given as what they ask for and their processors: every
    /// CPU is as good as another for all of them.
    pub fn note_jobs(&mut self, mut jobs: impl Iterator<Item = (RequestId, u32)>) {
        let mut partitions = self.all.iter().flatten().flat_map(|shape| &shape.places).map(|place| place.partition);
        let only = partitions.next();
        if partitions.any(|partition| Some(partition) != only) {
            return;
        }
        let is_of_pool = |shape: &NodeShape, procs: u32| {
            let NodeShape { cpus, per_node, parts, places } = shape;
            let has_all = |place: &ShapePlace| place.nodes.nodes.len() == self.cluster.nodes.len();
            let is_plain = |place: &ShapePlace| place.is_plain && has_all(place) && shape.is_divisible(place);
            (*cpus, *per_node, *parts) == (procs, Tres::default(), None) && places.len() == 1 && is_plain(&places[0])
        };
        self.is_pool = jobs.all(|(request, procs)| is_of_pool(self.get(request), procs));
    }

    /// Notes the names of users, given by their numbers in the log. Only those are kept of which the machine says something.
    pub fn note_users<'n>(&mut self, names: impl Iterator<Item = (i64, &'n [u8])>) {
        let listed: BTreeSet<&[u8]> = self.cluster.associations.users.iter().map(|user| user.name.as_bytes()).collect();
        let names = names.filter(|(_, name)| listed.contains(name));
        self.users = names.map(|(number, name)| (number, String::from_utf8_lossy(name).into_owned())).collect();
    }

    /// The users of a log whose users have other numbers now: `users` are the new numbers with the old ones.
    pub fn rename_users(&mut self, users: &[(i64, i64)]) {
        self.users = users.iter().map(|&(new, old)| (new, self.user(old).into_owned())).collect();
    }

    /// The name of a user of the log for the machine. A log that has no names has numbers.
    pub fn user(&self, number: i64) -> Cow<'_, str> {
        match self.users.get(&number) {
            Some(name) => Cow::Borrowed(name),
            None => Cow::Owned(number.to_string()),
        }
    }

    /// Whether the machine is a pool of processors for the jobs of the workload: only the names of their nodes differ.
    pub fn is_pool(&self) -> bool {
        self.is_pool
    }

    /// The number of kinds: see [`ShapePlace::kind`].
    pub fn kinds(&self) -> usize {
        self.lists.kinds.len()
    }

    /// What one more request means, which has the next number.
    pub fn push(&mut self, request: &Request) {
        self.asked.push(request.clone());
        if self.is_without_memory() && request.memory.is_amount() {
            let users = std::mem::take(&mut self.users);
            *self = Shapes { users, ..Shapes::of(Arc::clone(&self.given), std::mem::take(&mut self.asked)) };
            return;
        }
        self.all.push(self.lists.shape(&self.cluster, request));
        self.relations = self.lists.relations(self.cluster.nodes.len());
        self.is_pool = false;
    }

    /// The cluster.
    pub fn cluster(&self) -> &Arc<Cluster> {
        &self.cluster
    }

    /// The number of shapes.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// What a request means; why not, if no job that asks for this can ever run.
    ///
    /// # Errors
    /// The reason.
    ///
    /// # Panics
    /// If the request is not one of the workload.
    pub fn find(&self, request: RequestId) -> Result<&NodeShape, &Unplaceable> {
        self.all[request.index().expect("every job on nodes has a request")].as_ref()
    }

    /// What a request asks for in its own words. Panics as [`Shapes::find`].
    pub fn asked(&self, request: RequestId) -> &Request {
        &self.asked[request.index().expect("every job on nodes has a request")]
    }

    /// Whether memory does not count because nothing is known of the memory of any job.
    pub fn is_without_memory(&self) -> bool {
        self.cluster.ignores_memory && !self.given.ignores_memory
    }

    /// Whether a job has all memory of its nodes because it does not say how much it needs. Panics as [`Shapes::find`].
    pub fn has_all_memory_unasked(&self, request: RequestId) -> bool {
        self.asked(request).memory == MemoryAsked::Unsaid
            && self.find(request).is_ok_and(|shape| shape.places.iter().any(|place| place.all_memory))
    }

    /// What all requests ask for in their own words.
    pub fn all_asked(&self) -> &[Request] {
        &self.asked
    }

    /// The shape of a job that can run. Panics if it cannot.
    pub fn get(&self, request: RequestId) -> &NodeShape {
        self.find(request).expect("jobs that cannot run are dropped")
    }
}

/// The nodes of a partition that have the features of a constraint, each list once.
#[derive(Clone, Debug, Default)]
struct NodeLists {
    known: BTreeMap<(usize, String, usize), Arc<NodeList>>,
    kinds: HashMap<RoomKind, u32>,
}

/// The list of nodes, memory for each CPU and for each node, whether all memory is taken, devices on each node, whether nodes
/// are whole.
type RoomKind = (u32, u64, u64, bool, Tres, bool);

impl NodeLists {
    fn shape(&mut self, cluster: &Cluster, request: &Request) -> Result<NodeShape, Unplaceable> {
        let partitions = match request.partitions.is_empty() {
            true => vec![cluster.default_partition().ok_or(Unplaceable::NoDefault)?],
            false => {
                let find =
                    |name: &String| cluster.partition(name).ok_or_else(|| Unplaceable::NoPartition(name.clone()));
                request.partitions.iter().map(find).collect::<Result<Vec<_>, _>>()?
            }
        };
        let constraint = Constraint::parse(&request.constraint).map_err(Unplaceable::Constraint)?;
        let (mut per_node, mut parts) = (Tres::default(), None);
        for kind in Resource::DEVICES {
            match request.devices[kind] {
                DeviceAsked::None | DeviceAsked::Total(0) => {}
                DeviceAsked::PerNode(count) => per_node[kind] = count.into(),
                DeviceAsked::Total(count) => parts = Some((kind, count)),
            }
        }
        let mut shape = NodeShape { cpus: request.cpus.max(1), per_node, parts, places: Vec::new() };
        let idle = cluster.resources();
        let mut why = Unplaceable::PartitionDown;
        for at in partitions.into_iter().filter(|&at| cluster.partitions[at].state != PartitionState::Down) {
            if why == Unplaceable::PartitionDown {
                why = Unplaceable::NodeLimits;
            }
            let Some(counts) = node_counts(request, &cluster.partitions[at]) else { continue };
            why = Unplaceable::TooLarge;
            // All nodes of a job are of one kind, so each kind is a place of its own.
            for kind in 0..constraint.kinds() {
                let list = self.list(cluster, at, request, (&constraint, kind));
                let mut place = place(request, cluster, at, list, counts);
                let ShapePlace { memory_per_cpu, memory_per_node, all_memory, whole, .. } = place;
                let has_memory = memory_per_cpu > 0 || memory_per_node > 0 || all_memory;
                let asks_for_more = has_memory || per_node != Tres::default() || whole || place.limits.is_some();
                place.is_plain = !asks_for_more && place.nodes.largest_core == 1;
                let next = self.kinds.len() as u32;
                let kind = (place.nodes.number, memory_per_cpu, memory_per_node, all_memory, per_node, whole);
                place.kind = *self.kinds.entry(kind).or_insert(next);
                shape.places.push(place);
                let last = shape.places.len() - 1;
                if !shape.fits(last, Placement::Pack, cluster, &idle) {
                    shape.places.pop();
                }
            }
        }
        if shape.places.is_empty() { Err(why) } else { Ok(shape) }
    }

    /// By two lists: what nodes of the first the second has. Empty if that would take long.
    fn relations(&self, nodes: usize) -> Vec<ListRelation> {
        const MOST: usize = 100_000_000;
        let mut lists: Vec<_> = self.known.values().collect();
        if lists.len() * lists.len() * nodes > MOST {
            return Vec::new();
        }
        sort_by_key(&mut lists, |list| list.number);
        lists.iter().flat_map(|a| lists.iter().map(|b| a.relation(b))).collect()
    }

    fn list(
        &mut self,
        cluster: &Cluster,
        partition: usize,
        request: &Request,
        (constraint, kind): (&Constraint, usize),
    ) -> Arc<NodeList> {
        let number = self.known.len();
        let make = || {
            let nodes = cluster.partitions[partition].nodes.iter().copied();
            let is_usable = |&node: &u32| {
                let node = &cluster.nodes[node as usize];
                !node.is_down && constraint.holds_for(kind, &node.features)
            };
            Arc::new(NodeList::new(number, nodes.filter(is_usable), cluster))
        };
        self.known.entry((partition, request.constraint.clone(), kind)).or_insert_with(make).clone()
    }
}

/// The fewest and the most nodes of a job in a partition, as [`ShapePlace`] has them. None if the partition does not allow it.
///
/// Accounting has 1 as the fewest for every job that does not say its nodes, so 1 leaves the number open.
fn node_counts(request: &Request, partition: &Partition) -> Option<(u32, u32)> {
    let most = |asked: u32| if asked == 0 { u32::MAX } else { asked };
    let (least, most) = match (request.min_nodes, request.max_nodes) {
        (0 | 1, 1) => (1, 1),
        (0 | 1, max) => match request.tasks_per_node {
            0 => (0, most(max)),
            per_node => match request.tasks.div_ceil(per_node) {
                0 => (0, most(max)),
                nodes => (nodes, nodes),
            },
        },
        (min, max) => (min, most(max)),
    };
    let most = most.min(partition.max_nodes.unwrap_or(u32::MAX));
    // With at least one node the number stays open.
    let least = if least == 0 && partition.min_nodes <= 1 { 0 } else { least.max(partition.min_nodes) };
    (least.max(1) <= most).then_some((least, most))
}

fn place(
    request: &Request,
    cluster: &Cluster,
    at: usize,
    nodes: Arc<NodeList>,
    (least_nodes, most_nodes): (u32, u32),
) -> ShapePlace {
    let (memory_per_cpu, memory_per_node, all_memory) = match cluster.memory_of(request) {
        _ if cluster.ignores_memory => (0, 0, false),
        MemoryAsked::Unsaid | MemoryAsked::PerNode(0) => (0, 0, true),
        MemoryAsked::PerCpu(memory) => (memory, 0, false),
        MemoryAsked::PerNode(memory) => (0, memory, false),
    };
    ShapePlace {
        partition: at as u32,
        nodes,
        kind: 0,
        memory_per_cpu,
        memory_per_node,
        all_memory,
        least_nodes,
        most_nodes,
        limits: cluster.limits_of(at),
        whole: request.exclusive || cluster.partitions[at].exclusive,
        is_plain: false,
    }
}
