//! What a job of PBS or Torque asked for.

use super::fields::memory_with;
use super::node_text::{NodeGroup, NodeText};
use super::reading::RequestsRead;
use super::{if_more_than_cpus, memory_of_total, words};
use crate::request::{DeviceAsked, MemoryAsked, Request, RequestId};
use crate::trace::rows::{Bad, leading_number};
use crate::tres::{Resource, Tres};

/// What a row of PBS says of a request. Texts are as written.
pub struct PbsAsked<'r> {
    /// Chunks, as `2:ncpus=8:mem=4gb`.
    pub select: &'r [u8],
    /// How chunks are placed, as `scatter:excl`.
    pub place: &'r [u8],
    /// Nodes, as `4:ppn=8:ib`.
    pub nodes: &'r [u8],
    pub nodect: &'r [u8],
    pub mem: &'r [u8],
    /// The memory of each process.
    pub pmem: &'r [u8],
    /// Features, as `ib:bigmem`.
    pub feature: &'r [u8],
    pub queue: &'r [u8],
    pub account: &'r [u8],
    /// Its CPUs, if `select` does not say them.
    pub cpus: u32,
    /// Its devices, all together.
    pub devices: Tres<u32>,
}

impl<'r> PbsAsked<'r> {
    /// The number of the request among those that were read.
    pub fn number(&self, read: &mut RequestsRead) -> Result<RequestId, Bad<'r>> {
        let PbsAsked { select, place, nodes, nodect, mem, pmem, feature, queue, account, cpus, devices } = *self;
        let (cpus, devices) = (cpus.to_le_bytes(), Resource::DEVICES.map(|kind| devices[kind].to_le_bytes()));
        let texts = [select, place, nodes, nodect, mem, pmem, feature, queue, account, &cpus];
        read.of_row(texts.into_iter().chain(devices.iter().map(|count| &count[..])), || Ok(self.request()))
    }

    /// The request. None if the row says nothing but a number of CPUs.
    pub fn request(&self) -> Option<Request> {
        let mut request = match self.select {
            b"" => self.of_nodes(),
            select => self.of_chunks(&NodeText::parse(select)),
        };
        let has = |word: &[u8]| self.place.split(|&byte| byte == b':').any(|part| part.starts_with(word));
        request.exclusive |= has(b"excl");
        if request.memory == MemoryAsked::Unsaid {
            request.memory = match memory_with(self.pmem, 1) {
                Some(memory @ 1..) => MemoryAsked::PerCpu(memory),
                _ => memory_of_total(memory_with(self.mem, 1).unwrap_or(0), request.min_nodes, request.cpus),
            };
        }
        for kind in Resource::DEVICES {
            if request.devices[kind] == DeviceAsked::None {
                request.devices[kind] = DeviceAsked::of_total(self.devices[kind], request.min_nodes);
            }
        }
        let features = self.feature.split(|&byte| byte == b':').map(words).filter(|name| !name.is_empty());
        let own = Some(std::mem::take(&mut request.constraint)).filter(|own| !own.is_empty());
        request.constraint = own.into_iter().chain(features).collect::<Vec<_>>().join("&");
        request.partitions = Some(words(self.queue)).filter(|name| !name.is_empty()).into_iter().collect();
        request.account = words(self.account);
        if_more_than_cpus(request)
    }

    /// Nodes by their number and their processors (`nodes=4:ppn=8`), or by their number only.
    fn of_nodes(&self) -> Request {
        let text = NodeText::parse(self.nodes);
        if text.groups.is_empty() {
            let nodes = leading_number(self.nodect).unwrap_or(0).max(0) as u32;
            return Request { cpus: self.cpus.max(1), min_nodes: nodes, max_nodes: nodes, ..Request::default() };
        }
        of_node_text(&text, self.cpus)
    }

    /// Chunks of PBS. Chunks of one size are nodes if they are scattered, one node if they are packed, and else as tasks of some
    /// CPUs each, of which a node can have several. Of chunks of several sizes only the sums are known.
    fn of_chunks(&self, text: &NodeText) -> Request {
        let each = |group: &NodeGroup| NodeGroup { cpus: group.cpus.max(1), ..group.clone() };
        let cpus = text
            .groups
            .iter()
            .map(each)
            .fold(0u32, |sum, group| sum.saturating_add(group.count.saturating_mul(group.cpus)));
        let plain = Request { cpus: cpus.max(1), exclusive: text.exclusive, ..Request::default() };
        let Some(chunk) = text.as_one().map(|group| each(&group)) else { return plain };
        let has = |word: &[u8]| self.place.split(|&byte| byte == b':').any(|part| part.ends_with(word));
        let request = Request { constraint: chunk.features.join("&"), ..plain };
        if has(b"scatter") || chunk.count == 1 {
            return Request { constraint: request.constraint, exclusive: request.exclusive, ..of_group(&chunk) };
        }
        let count = chunk.count;
        if has(b"pack") {
            let memory = match chunk.memory.saturating_mul(count.into()) {
                0 => MemoryAsked::Unsaid,
                memory => MemoryAsked::PerNode(memory),
            };
            let devices = chunk.devices.map(|each| DeviceAsked::of_total(each.saturating_mul(count), 1));
            return Request { min_nodes: 1, max_nodes: 1, tasks: cpus, memory, devices, ..request };
        }
        let memory = match chunk.memory.div_ceil(chunk.cpus.into()) {
            0 => MemoryAsked::Unsaid,
            memory => MemoryAsked::PerCpu(memory),
        };
        let devices = chunk.devices.map(|each| DeviceAsked::of_total(each.saturating_mul(count), 0));
        Request { tasks: count, cpus_per_task: chunk.cpus, memory, devices, ..request }
    }
}

/// Nodes of one kind, with a known number of CPUs each.
fn of_group(group: &NodeGroup) -> Request {
    let cpus = group.count.saturating_mul(group.cpus);
    Request {
        cpus,
        min_nodes: group.count,
        max_nodes: group.count,
        tasks: cpus,
        tasks_per_node: group.cpus,
        memory: if group.memory > 0 { MemoryAsked::PerNode(group.memory) } else { MemoryAsked::Unsaid },
        devices: group.devices.map(DeviceAsked::on_each),
        constraint: group.features.join("&"),
        ..Request::default()
    }
}

/// What a description of nodes asks for. `cpus` is the number of CPUs of the job by other fields.
pub fn of_node_text(text: &NodeText, cpus: u32) -> Request {
    let (nodes, exclusive) = (text.count(), text.exclusive);
    let sum = |of: &dyn Fn(&NodeGroup) -> u32| {
        text.groups.iter().fold(0u32, |sum, group| sum.saturating_add(group.count.saturating_mul(of(group))))
    };
    match text.as_one() {
        Some(group) if group.cpus > 0 && cpus <= group.count.saturating_mul(group.cpus) => {
            Request { exclusive, ..of_group(&group) }
        }
        // The number of CPUs on each node is not said, or not true.
        Some(group) => {
            Request { cpus: cpus.max(nodes).max(1), tasks: 0, tasks_per_node: 0, exclusive, ..of_group(&group) }
        }
        None => Request {
            cpus: sum(&|group| group.cpus.max(1)).max(cpus).max(1),
            min_nodes: nodes,
            max_nodes: nodes,
            devices: Tres::of_devices(|kind| DeviceAsked::of_total(sum(&|group| group.devices[kind]), 0)),
            exclusive,
            ..Request::default()
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: PbsAsked<'static> = PbsAsked {
        select: b"",
        place: b"",
        nodes: b"",
        nodect: b"",
        mem: b"",
        pmem: b"",
        feature: b"",
        queue: b"",
        account: b"",
        cpus: 1,
        devices: Tres::all(0),
    };

    const DEVICE: Resource = Resource::DEVICES[0];

    fn devices(count: u32) -> Tres<u32> {
        Tres::default().with(DEVICE, count)
    }

    fn request(asked: PbsAsked<'_>) -> Request {
        asked.request().expect("it says more than CPUs")
    }

    #[test]
    fn nodes_with_processors() {
        assert_eq!(NONE.request(), None);
        let asked =
            PbsAsked { nodes: b"4:ppn=8:ib:bigmem", nodect: b"4", cpus: 32, mem: b"8gb", queue: b"ccr", ..NONE };
        let expected = Request {
            cpus: 32,
            min_nodes: 4,
            max_nodes: 4,
            tasks: 32,
            tasks_per_node: 8,
            memory: MemoryAsked::PerNode(2048),
            constraint: "ib&bigmem".to_string(),
            partitions: vec!["ccr".to_string()],
            ..Request::default()
        };
        assert_eq!(request(asked), expected);
        let Request { devices, account, constraint, .. } = request(PbsAsked {
            nodes: b"1:ppn=28:default",
            devices: devices(2),
            account: b"caste",
            feature: b"fast",
            cpus: 28,
            ..NONE
        });
        assert_eq!(
            (devices[DEVICE], &account[..], &constraint[..]),
            (DeviceAsked::PerNode(2), "caste", "default&fast")
        );
        // The sum of unequal groups; its memory for each CPU, because it is not the same on each node.
        let Request { cpus, min_nodes, max_nodes, tasks_per_node, memory, .. } =
            request(PbsAsked { nodes: b"1:ppn=1+3:ppn=2", mem: b"10mb", cpus: 7, ..NONE });
        assert_eq!((cpus, min_nodes, max_nodes, tasks_per_node, memory), (7, 4, 4, 0, MemoryAsked::PerCpu(2)));
        let Request { cpus, min_nodes, tasks_per_node, .. } = request(PbsAsked { nodes: b"2", cpus: 12, ..NONE });
        assert_eq!((cpus, min_nodes, tasks_per_node), (12, 2, 0));
        let Request { cpus, min_nodes, max_nodes, memory, .. } =
            request(PbsAsked { nodect: b"1", cpus: 4, mem: b"1993mb", ..NONE });
        assert_eq!((cpus, min_nodes, max_nodes, memory), (4, 1, 1, MemoryAsked::PerNode(1993)));
        assert_eq!(request(PbsAsked { pmem: b"2gb", mem: b"9gb", ..NONE }).memory, MemoryAsked::PerCpu(2048));
    }

    #[test]
    fn chunks() {
        let select = b"5:ncpus=13:mem=26gb:ngpus=2";
        let of = |place| {
            request(PbsAsked { select, place, nodect: b"5", cpus: 65, devices: devices(10), mem: b"130gb", ..NONE })
        };
        let nodes = Request {
            cpus: 65,
            min_nodes: 5,
            max_nodes: 5,
            tasks: 65,
            tasks_per_node: 13,
            memory: MemoryAsked::PerNode(26 * 1024),
            devices: DeviceAsked::PerNode(2).of(DEVICE),
            ..Request::default()
        };
        assert_eq!(of(b"scatter:excl"), Request { exclusive: true, ..nodes.clone() });
        assert_eq!(of(b"vscatter"), nodes);
        let free = Request {
            cpus: 65,
            tasks: 5,
            cpus_per_task: 13,
            memory: MemoryAsked::PerCpu(2048),
            devices: DeviceAsked::Total(10).of(DEVICE),
            ..Request::default()
        };
        assert_eq!((of(b""), of(b"free:shared")), (free.clone(), free));
        let packed = Request {
            cpus: 65,
            min_nodes: 1,
            max_nodes: 1,
            tasks: 65,
            memory: MemoryAsked::PerNode(130 * 1024),
            devices: DeviceAsked::PerNode(10).of(DEVICE),
            ..Request::default()
        };
        assert_eq!(of(b"pack"), packed);
        let uneven = request(PbsAsked { select: b"1:ncpus=4+2:ncpus=8", mem: b"40mb", cpus: 20, ..NONE });
        assert_eq!((uneven.cpus, uneven.min_nodes, uneven.memory), (20, 0, MemoryAsked::PerCpu(2)));
    }
}
