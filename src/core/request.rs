//! What a job asks of a machine of nodes: CPUs, nodes, memory, devices, features, a partition.
//!
//! Many jobs ask for the same, so a log keeps each request once ([`Requests`]) and a job has its number ([`RequestId`]).

use std::collections::HashMap;
use std::sync::Arc;

use crate::tres::{Resource, Tres};

/// The number of a request among those of its log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(u32);

impl RequestId {
    /// The log does not say more than a number of processors.
    pub const NONE: RequestId = RequestId(0);

    /// Its place in [`Requests::all`]. None if the log does not say more than a number of processors.
    pub fn index(self) -> Option<usize> {
        (self.0 as usize).checked_sub(1)
    }
}

/// How much memory a job asks for, in MB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MemoryAsked {
    /// It does not say, so the partition decides.
    #[default]
    Unsaid,
    /// On each of its nodes; 0 is all that a node has.
    PerNode(u64),
    /// For each of its CPUs.
    PerCpu(u64),
}

impl MemoryAsked {
    /// Whether it says an amount, not all or nothing.
    pub fn is_amount(self) -> bool {
        !matches!(self, MemoryAsked::Unsaid | MemoryAsked::PerNode(0))
    }
}

/// How many of a device a job asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DeviceAsked {
    /// None.
    #[default]
    None,
    /// On each of its nodes.
    PerNode(u32),
    /// On all of its nodes together.
    Total(u32),
}

impl DeviceAsked {
    /// Of a number for all nodes together: the same number on each node, where that is possible.
    pub fn of_total(total: u32, nodes: u32) -> DeviceAsked {
        match nodes {
            _ if total == 0 => DeviceAsked::None,
            1.. if total.is_multiple_of(nodes) => DeviceAsked::PerNode(total / nodes),
            _ => DeviceAsked::Total(total),
        }
    }

    /// Of a number for each node.
    pub fn on_each(count: u32) -> DeviceAsked {
        if count > 0 { DeviceAsked::PerNode(count) } else { DeviceAsked::None }
    }

    /// A job that asks for this of one device and for no other.
    pub fn of(self, kind: Resource) -> Tres<DeviceAsked> {
        Tres::default().with(kind, self)
    }
}

/// What one job asks for, as its user wrote it or as the accounting tells it. 0 and empty texts: the job does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Request {
    /// All its CPUs together, at least 1.
    pub cpus: u32,
    /// The fewest nodes that it takes.
    pub min_nodes: u32,
    /// The most nodes that it takes.
    pub max_nodes: u32,
    /// Its tasks, all together.
    pub tasks: u32,
    /// Its tasks on each node.
    pub tasks_per_node: u32,
    /// The CPUs of each task.
    pub cpus_per_task: u32,
    /// Its memory.
    pub memory: MemoryAsked,
    /// Its devices.
    pub devices: Tres<DeviceAsked>,
    /// The features that its nodes must have: `ib&bigmem`, `v100|a100`.
    pub constraint: String,
    /// Whether no other job may be on its nodes.
    pub exclusive: bool,
    /// The partitions that it may run in, in the order in which they are tried.
    pub partitions: Vec<String>,
    /// Its quality of service.
    pub qos: String,
    /// The account that it is charged to.
    pub account: String,
    /// By how much its user lowers its priority (`sbatch --nice`).
    pub nice: i32,
    /// The reservation that it runs in. It counts only with outages.
    pub reservation: String,
    /// Whether it ends if it is stopped, also where others wait again (`sbatch --no-requeue`).
    pub no_requeue: bool,
}

impl Request {
    /// All it asks for of a device. A job that does not say its nodes has one.
    pub fn all_of(&self, kind: Resource) -> u64 {
        match self.devices[kind] {
            DeviceAsked::None => 0,
            DeviceAsked::Total(count) => count.into(),
            DeviceAsked::PerNode(count) => u64::from(count) * u64::from(self.min_nodes.max(1)),
        }
    }

    /// Its memory in MB, all together. None if it does not say, or asks for all memory of its nodes.
    pub fn all_memory(&self) -> Option<u64> {
        match self.memory {
            MemoryAsked::Unsaid | MemoryAsked::PerNode(0) => None,
            MemoryAsked::PerNode(memory) => Some(memory.saturating_mul(self.min_nodes.max(1).into())),
            MemoryAsked::PerCpu(memory) => Some(memory.saturating_mul(self.cpus.into())),
        }
    }
}

/// The requests of a log, each once.
#[derive(Clone, Debug, Default)]
pub struct Requests {
    all: Vec<Request>,
    numbers: HashMap<Request, RequestId>,
}

impl Requests {
    /// The number of a request, which is added if it is new.
    ///
    /// # Panics
    /// If there are more than 2^32 - 2 different requests.
    pub fn intern(&mut self, request: Request) -> RequestId {
        if let Some(&known) = self.numbers.get(&request) {
            return known;
        }
        self.all.push(request.clone());
        let id = RequestId(u32::try_from(self.all.len()).expect("a number of requests that fits"));
        self.numbers.insert(request, id);
        id
    }

    /// All requests, in the order in which they were added.
    pub fn all(&self) -> &[Request] {
        &self.all
    }

    /// The request of this number. None if the log does not say more than a number of processors.
    pub fn get(&self, id: RequestId) -> Option<&Request> {
        self.all.get(id.index()?)
    }

    /// Whether no job says more than a number of processors.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

/// The requests of a log by record.
#[derive(Clone, Debug, Default)]
pub struct LogRequests {
    /// Each request once.
    pub requests: Arc<Requests>,
    /// By record of the log. Empty if no record says more than a number of processors.
    pub by_record: Vec<RequestId>,
}

impl LogRequests {
    /// The requests of these records, numbered in the order of the records. Requests of no record are left out.
    pub fn of_records(requests: Requests, mut by_record: Vec<RequestId>) -> LogRequests {
        let mut numbers = vec![RequestId::NONE; requests.all.len()];
        let mut kept = Requests::default();
        for id in &mut by_record {
            let Some(at) = id.index() else { continue };
            if numbers[at] == RequestId::NONE {
                numbers[at] = kept.intern(requests.all[at].clone());
            }
            *id = numbers[at];
        }
        if kept.is_empty() {
            by_record = Vec::new();
        }
        LogRequests { requests: Arc::new(kept), by_record }
    }

    /// The request of this record. None if the log does not say more than a number of processors.
    pub fn get(&self, record: usize) -> Option<&Request> {
        self.requests.get(self.of(record))
    }

    /// What the job of this record asks for.
    pub fn of(&self, record: usize) -> RequestId {
        self.by_record.get(record).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_kept_once() {
        let mut requests = Requests::default();
        assert!(requests.is_empty() && requests.get(RequestId::NONE).is_none());
        let wide = Request { cpus: 8, min_nodes: 2, ..Request::default() };
        let first = requests.intern(wide.clone());
        let second = requests.intern(Request { cpus: 9, ..wide.clone() });
        assert_eq!(requests.intern(wide.clone()), first);
        assert_eq!((requests.get(first), requests.all().len()), (Some(&wide), 2));
        assert_eq!(requests.get(second).unwrap().cpus, 9);
    }

    #[test]
    fn the_requests_of_a_log_are_numbered_by_record() {
        let mut requests = Requests::default();
        let [unused, wide, narrow] = [1, 8, 2].map(|cpus| requests.intern(Request { cpus, ..Request::default() }));
        let log = LogRequests::of_records(requests.clone(), vec![RequestId::NONE, narrow, wide, narrow]);
        let cpus: Vec<_> = (0..5).map(|record| log.get(record).map(|request| request.cpus)).collect();
        assert_eq!(cpus, [None, Some(2), Some(8), Some(2), None]);
        assert_eq!((log.requests.all().len(), log.by_record[1].index()), (2, Some(0)));
        assert!(LogRequests::of_records(requests, vec![RequestId::NONE; 3]).by_record.is_empty() && unused != wide);
    }
}
