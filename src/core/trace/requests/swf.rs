//! What a job of an SWF log asked for.

use super::MB;
use super::node_text::NodeText;
use super::pbs::of_node_text;
use super::reading::RequestsRead;
use super::words;
use crate::request::{MemoryAsked, Request, RequestId};
use crate::trace::record::{Fields, field_texts};

/// The places of the fields, counted from 0.
const ALLOCATED: usize = 4;
const REQUESTED: usize = 7;
const MEMORY: usize = 9;
const QUEUE: usize = 14;
const PARTITION: usize = 15;

/// The CPUs of a record.
fn cpus(fields: &Fields) -> u32 {
    [fields[REQUESTED], fields[ALLOCATED]].into_iter().find(|&cpus| cpus > 0).map_or(1, |cpus| cpus as u32)
}

/// All that the request of a record with a requested memory depends on.
fn memory_key(fields: &Fields) -> [u8; 40] {
    let mut key = [0; 40];
    for (at, field) in [ALLOCATED, REQUESTED, MEMORY, QUEUE, PARTITION].into_iter().enumerate() {
        key[8 * at..8 * (at + 1)].copy_from_slice(&fields[field].to_le_bytes());
    }
    key
}

/// The request of a record with a requested memory, which is above 0: kB for each processor. Its partition and its queue have
/// numbers for names; a converted log of Slurm has the QOS as the queue.
fn asked_by_memory(fields: &Fields) -> Request {
    let name = |number: i64| (number >= 0).then(|| number.to_string());
    Request {
        cpus: cpus(fields),
        memory: MemoryAsked::PerCpu((fields[MEMORY] as u64).div_ceil(1024)),
        partitions: name(fields[PARTITION]).into_iter().collect(),
        qos: name(fields[QUEUE]).unwrap_or_default(),
        ..Request::default()
    }
}

impl RequestsRead {
    /// The request of a record of SWF with a requested memory.
    pub fn of_memory(&mut self, fields: &Fields) -> RequestId {
        let request = self.of_row([&memory_key(fields)[..]].into_iter(), || Ok(Some(asked_by_memory(fields))));
        request.expect("every number of kB can be asked for")
    }
}

/// The request of a record with the wider fields of the simulator Alea: the nodes that the job got, `{1273,1273}`, the name of
/// its queue and what it asked for, `8:ppn=8:x86_64`. None if the line has no such fields. The memory is in bytes for each
/// node: so Alea reads these logs (`SWFLoader.java`), and the standard's kB for each processor would be more than any machine has.
pub fn asked_by_wide_fields(line: &[u8], fields: &Fields) -> Option<Request> {
    let mut wide = field_texts(line).skip(fields.len());
    let (given, queue, nodes) = (wide.next()?, wide.next()?, wide.next()?);
    if !(given.starts_with(b"{") && given.ends_with(b"}")) {
        return None;
    }
    let mut request = of_node_text(&NodeText::parse(nodes), cpus(fields));
    if fields[MEMORY] > 0 && request.memory == MemoryAsked::Unsaid {
        request.memory = MemoryAsked::PerNode((fields[MEMORY] as u64).div_ceil(MB));
    }
    request.partitions = vec![words(queue)];
    Some(request)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::record::parse_fields;

    #[test]
    fn kilobytes_for_each_processor() {
        let fields = |text: &str| parse_fields(text.as_bytes()).unwrap().0;
        let request = asked_by_memory(&fields("1 0 0 9 8 -1 -1 4 60 2049 1 1 1 1 3 2 -1 -1"));
        let expected = Request {
            cpus: 4,
            memory: MemoryAsked::PerCpu(3),
            partitions: vec!["2".to_string()],
            qos: "3".to_string(),
            ..Request::default()
        };
        assert_eq!(request, expected);
        let request = asked_by_memory(&fields("1 0 0 9 8 -1 -1 -1 60 1 1 1 1 1 -1 -1 -1 -1"));
        assert_eq!(request, Request { cpus: 8, memory: MemoryAsked::PerCpu(1), ..Request::default() });
    }

    #[test]
    fn the_wider_fields_of_alea() {
        let of = |line: &str| asked_by_wide_fields(line.as_bytes(), &parse_fields(line.as_bytes()).unwrap().0);
        let line = "6 1357016559 1 33765 4 1 1024 4 86400 8589934592 1 62 1 1 -1 1 1 1 {1273,1273,1255,1255} q_1d";
        let expected = Request {
            cpus: 4,
            min_nodes: 2,
            max_nodes: 2,
            tasks: 4,
            tasks_per_node: 2,
            memory: MemoryAsked::PerNode(8192),
            constraint: "x86_64&cl_zegox".to_string(),
            exclusive: true,
            partitions: vec!["q_1d".to_string()],
            ..Request::default()
        };
        assert_eq!(of(&format!("{line} 2:ppn=2:x86_64:cl_zegox#excl")), Some(expected));
        assert_eq!(of(line), None);
        assert_eq!(of("35079 1 -1 7 -1 -1 -1 512 9 -1 -1 -1 -1 -1 -1 -1 -1 -1 0 a b"), None);
    }
}
