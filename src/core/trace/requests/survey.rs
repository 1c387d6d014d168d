//! What the jobs of a log ask for, in numbers.

use std::collections::BTreeSet;

use crate::job::Job;
use crate::request::{DeviceAsked, MemoryAsked, Request, Requests};
use crate::trace::rows::Unit;
use crate::tres::{Resource, Tres};

/// Numbers that describe the requests of jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestSurvey {
    /// Jobs that ask for more than a number of processors.
    pub jobs: u64,
    /// Different partitions.
    pub partitions: usize,
    /// Different qualities of service.
    pub qos: usize,
    /// Different accounts.
    pub accounts: usize,
    /// Jobs that say how many nodes they want.
    pub node_jobs: u64,
    /// The most nodes that a job wants at least.
    pub nodes_max: u32,
    /// The memory asked for on each node.
    pub memory_per_node: Option<MemoryRange>,
    /// Jobs that ask for all memory of their nodes.
    pub all_memory_jobs: u64,
    /// The memory asked for with each CPU.
    pub memory_per_cpu: Option<MemoryRange>,
    /// What is asked for of each device.
    pub devices: Tres<DeviceSurvey>,
    /// Jobs that share their nodes with no other job.
    pub exclusive_jobs: u64,
    /// Jobs whose nodes must have features.
    pub constraint_jobs: u64,
    /// Different constraints.
    pub constraints: usize,
}

/// A device of jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceSurvey {
    /// The jobs that ask for some.
    pub jobs: u64,
    /// All they ask for.
    pub all: u64,
    /// The most of a job.
    pub largest: u64,
}

/// The memory of jobs, in MB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryRange {
    /// The jobs that ask for it in this way.
    pub jobs: u64,
    /// Of these jobs.
    pub median: u64,
    /// Of these jobs.
    pub largest: u64,
}

impl MemoryRange {
    fn of(mut sizes: Vec<u64>) -> Option<MemoryRange> {
        sizes.sort_unstable();
        let largest = *sizes.last()?;
        Some(MemoryRange { jobs: sizes.len() as u64, median: sizes[(sizes.len() - 1) / 2], largest })
    }
}

impl RequestSurvey {
    /// The requests of these jobs.
    pub fn of(jobs: &[Job], requests: &Requests) -> RequestSurvey {
        let mut survey = RequestSurvey::default();
        let (mut partitions, mut qos, mut accounts, mut constraints) =
            (BTreeSet::new(), BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        let (mut per_node, mut per_cpu) = (Vec::new(), Vec::new());
        for request in jobs.iter().filter_map(|job| requests.get(job.request)) {
            survey.jobs += 1;
            partitions.extend(&request.partitions);
            for (names, name) in
                [(&mut qos, &request.qos), (&mut accounts, &request.account), (&mut constraints, &request.constraint)]
            {
                if !name.is_empty() {
                    names.insert(name);
                }
            }
            match request.memory {
                MemoryAsked::Unsaid => {}
                MemoryAsked::PerNode(0) => survey.all_memory_jobs += 1,
                MemoryAsked::PerNode(memory) => per_node.push(memory),
                MemoryAsked::PerCpu(memory) => per_cpu.push(memory),
            }
            survey.node_jobs += u64::from(request.min_nodes > 0);
            survey.nodes_max = survey.nodes_max.max(request.min_nodes);
            for kind in Resource::DEVICES {
                let (device, asked) = (&mut survey.devices[kind], request.all_of(kind));
                device.jobs += u64::from(asked > 0);
                device.all += asked;
                device.largest = device.largest.max(asked);
            }
            survey.exclusive_jobs += u64::from(request.exclusive);
            survey.constraint_jobs += u64::from(!request.constraint.is_empty());
        }
        RequestSurvey {
            partitions: partitions.len(),
            qos: qos.len(),
            accounts: accounts.len(),
            constraints: constraints.len(),
            memory_per_node: MemoryRange::of(per_node),
            memory_per_cpu: MemoryRange::of(per_cpu),
            ..survey
        }
    }
}

/// What jobs with these requests ask for that a pool of processors does not have, in words: `nodes, memory and 7 partitions are`.
/// None if there is nothing of this kind. `unit` is what a processor is.
pub fn beyond_a_pool(requests: &Requests, unit: Unit) -> Option<String> {
    let any = |is: fn(&Request) -> bool| requests.all().iter().any(is);
    let partitions = requests.all().iter().flat_map(|request| &request.partitions).collect::<BTreeSet<_>>().len();
    let devices = Resource::DEVICES.into_iter().map(|kind| {
        let is_asked = |request: &Request| request.devices[kind] != DeviceAsked::None;
        (unit != kind && requests.all().iter().any(is_asked), kind.many().to_string())
    });
    let before = [
        (unit != Unit::Nodes && any(|request| request.min_nodes > 1), "nodes".to_string()),
        (any(|request| request.memory != MemoryAsked::Unsaid), "memory".to_string()),
    ];
    let behind = [
        (any(|request| !request.constraint.is_empty()), "constraints".to_string()),
        (any(|request| request.exclusive), "exclusive nodes".to_string()),
        (partitions > 1, format!("{partitions} partitions")),
    ];
    let parts = before.into_iter().chain(devices).chain(behind);
    let parts: Vec<String> = parts.filter(|(occurs, _)| *occurs).map(|(_, part)| part).collect();
    let (last, first) = parts.split_last()?;
    Some(match first {
        [] => format!("{last} {}", if last == "memory" { "is" } else { "are" }),
        first => format!("{} and {last} are", first.join(", ")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_occurs_is_named() {
        let mut requests = Requests::default();
        let of = |requests: &Requests| beyond_a_pool(requests, Unit::Cpus);
        let mut add = |request: Request| {
            requests.intern(request);
            of(&requests)
        };
        let plain =
            Request { cpus: 1, min_nodes: 1, qos: "a".into(), partitions: vec!["b".into()], ..Request::default() };
        assert_eq!(add(plain.clone()), None);
        let memory = Request { memory: MemoryAsked::PerCpu(1), ..plain.clone() };
        assert_eq!(add(memory.clone()).unwrap(), "memory is");
        let [kind, ..] = Resource::DEVICES;
        let devices = Request { devices: DeviceAsked::Total(1).of(kind), min_nodes: 2, ..memory };
        let name = kind.many();
        assert_eq!(add(devices.clone()).unwrap(), format!("nodes, memory and {name} are"));
        let rest = Request { exclusive: true, constraint: "ib".into(), partitions: vec!["c".into()], ..devices };
        let all = format!("nodes, memory, {name}, constraints, exclusive nodes and 2 partitions are");
        assert_eq!(add(rest).unwrap(), all);
        assert_eq!(beyond_a_pool(&requests, kind).unwrap().find(name), None);
        assert_eq!(beyond_a_pool(&requests, Unit::Nodes).unwrap().find("memory"), Some(0));
    }
}
