//! What a job of Slurm asked for, by the columns of sacct.

use super::fields::memory;
use super::reading::RequestsRead;
use super::submit_line::SubmitLine;
use super::{if_more_than_cpus, memory_of_total, names, words};
use crate::request::{DeviceAsked, MemoryAsked, Request, RequestId};
use crate::trace::formats::slurm::{count_in, count_in_gres, value_in};
use crate::trace::rows::{Bad, leading_number};
use crate::tres::{Resource, Tres};

/// The columns of sacct that a request is made from, as written.
#[derive(Default)]
pub struct SlurmAsked<'r> {
    pub req_tres: &'r [u8],
    pub req_cpus: &'r [u8],
    /// The CPUs that it got, for rows that do not say what was asked for.
    pub alloc_cpus: &'r [u8],
    pub req_mem: &'r [u8],
    pub req_gres: &'r [u8],
    pub req_nodes: &'r [u8],
    pub nnodes: &'r [u8],
    pub partition: &'r [u8],
    pub qos: &'r [u8],
    pub account: &'r [u8],
    pub constraints: &'r [u8],
    pub reservation: &'r [u8],
    /// What was written on the command line.
    pub submit_line: SubmitLine<'r>,
}

impl<'r> SlurmAsked<'r> {
    /// The number of the request among those that were read.
    pub fn number(&self, read: &mut RequestsRead) -> Result<RequestId, Bad<'r>> {
        let SlurmAsked { req_tres, req_cpus, alloc_cpus, req_mem, req_gres, req_nodes, .. } = *self;
        let SlurmAsked { nnodes, partition, qos, account, constraints, reservation, submit_line, .. } = *self;
        let SubmitLine { exclusive, nice, memory, no_requeue, .. } = submit_line;
        let amounts = [req_tres, req_cpus, alloc_cpus, req_mem, req_gres, req_nodes, nnodes];
        let words = [partition, qos, account, constraints, reservation, exclusive, nice, memory, no_requeue];
        read.of_row(amounts.into_iter().chain(words), || self.request())
    }

    /// The request. None if the row says nothing but a number of CPUs.
    ///
    /// The accounting does not keep numbers of tasks. It is guessed that a job has one task per CPU, and the same number on each
    /// node if its CPUs are a multiple of its nodes.
    pub fn request(&self) -> Result<Option<Request>, Bad<'r>> {
        let count = |text: &[u8]| leading_number(text).filter(|&number| number > 0).map(|number| number as u32);
        let cpus = value_in(self.req_tres, Resource::Cpus).and_then(count);
        let cpus = cpus.or_else(|| count(self.req_cpus)).or_else(|| count(self.alloc_cpus)).unwrap_or(1);
        let nodes = value_in(self.req_tres, Resource::Nodes).and_then(count);
        let nodes = nodes.or_else(|| count(self.req_nodes)).or_else(|| count(self.nnodes)).unwrap_or(0);
        let is_even = nodes > 1 && cpus.is_multiple_of(nodes);
        let request = Request {
            cpus,
            min_nodes: nodes,
            max_nodes: if is_even { nodes } else { 0 },
            tasks: cpus,
            tasks_per_node: if is_even { cpus / nodes } else { 0 },
            memory: self.memory(nodes, cpus)?,
            devices: Tres::of_devices(|kind| self.device(kind, nodes)),
            constraint: words(self.constraints),
            exclusive: !self.submit_line.exclusive.is_empty(),
            partitions: names(self.partition),
            qos: words(self.qos),
            account: words(self.account),
            nice: std::str::from_utf8(self.submit_line.nice).ok().and_then(|nice| nice.parse().ok()).unwrap_or(0),
            reservation: words(self.reservation),
            no_requeue: !self.submit_line.no_requeue.is_empty(),
            ..Request::default()
        };
        Ok(if_more_than_cpus(request))
    }

    /// The memory: `4Gn` is for each node and `2800Mc` for each CPU. Without a letter, as since Slurm 21.08, it is the sum of all
    /// nodes. 0 is all memory of each node (`--mem=0`).
    fn memory(&self, nodes: u32, cpus: u32) -> Result<MemoryAsked, Bad<'r>> {
        // Some versions print the memory that the job got for it.
        if memory(self.submit_line.memory) == Some(0) {
            return Ok(MemoryAsked::PerNode(0));
        }
        let of_total = |total: u64| match total {
            0 => MemoryAsked::PerNode(0),
            total => memory_of_total(total, nodes, cpus),
        };
        let text = self.req_mem.trim_ascii();
        // Words such as `Unknown` or `?` mean that there is none.
        if !text.first().is_some_and(u8::is_ascii_digit) {
            let total = value_in(self.req_tres, Resource::Memory).and_then(memory);
            return Ok(total.map_or(MemoryAsked::Unsaid, of_total));
        }
        let size = |text: &[u8]| memory(text).ok_or(Bad::value(self.req_mem, "ReqMem", "is not a size of memory"));
        Ok(match text {
            [size_text @ .., b'n'] => match size(size_text)? {
                0 => MemoryAsked::PerNode(0),
                // Some versions print the bit that means "for each CPU" as a part of the number.
                large @ PER_CPU_BIT.. => MemoryAsked::PerCpu(large - PER_CPU_BIT),
                size => MemoryAsked::PerNode(size),
            },
            [size_text @ .., b'c'] => match size(size_text)? {
                0 => MemoryAsked::Unsaid,
                size => MemoryAsked::PerCpu(size),
            },
            total => of_total(size(total)?),
        })
    }

    /// A device: those of ReqTRES are on all nodes together, and are taken as the same number on each node where that is possible.
    /// Those of ReqGRES are on each node.
    fn device(&self, kind: Resource, nodes: u32) -> DeviceAsked {
        match count_in(self.req_tres, kind) {
            Some(total) => DeviceAsked::of_total(total.max(0) as u32, nodes),
            None => DeviceAsked::on_each(count_in_gres(self.req_gres, kind).unwrap_or(0) as u32),
        }
    }
}

/// Slurm's MEM_PER_CPU as a number of MB, when it was a bit of a number of 32 bits.
const PER_CPU_BIT: u64 = 1 << 31;

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: SlurmAsked<'static> = SlurmAsked {
        req_tres: b"",
        req_cpus: b"",
        alloc_cpus: b"",
        req_mem: b"",
        req_gres: b"",
        req_nodes: b"",
        nnodes: b"",
        partition: b"",
        qos: b"",
        account: b"",
        constraints: b"",
        reservation: b"",
        submit_line: SubmitLine { exclusive: b"", nice: b"", array: b"", memory: b"", no_requeue: b"" },
    };

    fn request(asked: SlurmAsked<'static>) -> Request {
        asked.request().unwrap().expect("it says more than CPUs")
    }

    #[test]
    fn cpus_and_nodes() {
        assert_eq!(SlurmAsked { req_cpus: b"8", alloc_cpus: b"12", ..NONE }.request(), Ok(None));
        let of = |req_tres| {
            let Request { cpus, min_nodes, max_nodes, tasks, tasks_per_node, .. } =
                request(SlurmAsked { req_tres, req_cpus: b"1", nnodes: b"9", ..NONE });
            (cpus, min_nodes, max_nodes, tasks, tasks_per_node)
        };
        // 40 is a multiple of 2, 41 is not, and one node may become more.
        assert_eq!(of(b"cpu=40,mem=112000M,node=2"), (40, 2, 2, 40, 20));
        assert_eq!(of(b"cpu=41,node=2"), (41, 2, 0, 41, 0));
        assert_eq!(of(b"billing=8,cpu=8,node=1"), (8, 1, 0, 8, 0));
        let nodes = |req_nodes, nnodes| request(SlurmAsked { req_nodes, nnodes, alloc_cpus: b"5", ..NONE }).min_nodes;
        assert_eq!((nodes(b"3", b"4"), nodes(b"", b"4"), nodes(b"0", b"2")), (3, 4, 2));
    }

    #[test]
    fn memory_of_all_versions() {
        let of = |req_mem, req_tres| {
            SlurmAsked { req_mem, req_tres, nnodes: b"1", ..NONE }.request().map(|request| request.unwrap().memory)
        };
        for (req_mem, req_tres, memory) in [
            ("48000Mn", "cpu=12,mem=48000M,node=1", MemoryAsked::PerNode(48_000)),
            ("2800Mc", "", MemoryAsked::PerCpu(2800)),
            ("62.50Gn", "", MemoryAsked::PerNode(64_000)),
            // 2^31 + 2800 MB: 40 CPUs have 112,000 MB.
            ("2147486448Mn", "cpu=40,mem=112000M,node=2", MemoryAsked::PerCpu(2800)),
            // Since 21.08: `-N 2 --mem=250G`.
            ("500G", "billing=18,cpu=18,mem=500G,node=2", MemoryAsked::PerNode(256_000)),
            ("", "cpu=3,mem=9M,node=2", MemoryAsked::PerCpu(3)),
            ("", "cpu=4,mem=9M,node=2", MemoryAsked::PerCpu(3)),
            ("0n", "", MemoryAsked::PerNode(0)),
            ("0", "cpu=4,node=2", MemoryAsked::PerNode(0)),
            ("0", "cpu=4,mem=0,node=2", MemoryAsked::PerNode(0)),
            ("", "cpu=4,mem=0,node=2", MemoryAsked::PerNode(0)),
            ("", "cpu=4,node=2", MemoryAsked::Unsaid),
            ("?n", "", MemoryAsked::Unsaid),
            ("", "", MemoryAsked::Unsaid),
        ] {
            assert_eq!(of(req_mem.as_bytes(), req_tres.as_bytes()), Ok(memory), "{req_mem} {req_tres}");
        }
        assert_eq!(of(b"12Qn", b""), Err(Bad::value(b"12Qn", "ReqMem", "is not a size of memory")));
    }

    #[test]
    fn devices_features_and_names() {
        for kind in Resource::DEVICES {
            let asked = |req_tres: &str, req_gres: &str| {
                let [req_tres, req_gres] = [req_tres, req_gres].map(|text| text.replace("NAME", kind.gres().unwrap()));
                let (req_tres, req_gres) = (req_tres.as_bytes(), req_gres.as_bytes());
                SlurmAsked { req_tres, req_gres, nnodes: b"2", ..NONE }.request().unwrap().unwrap().devices[kind]
            };
            assert_eq!(asked("cpu=4,gres/NAME=4,node=2", ""), DeviceAsked::PerNode(2));
            assert_eq!(asked("cpu=4,gres/NAME:a100=3,node=2", ""), DeviceAsked::Total(3));
            assert_eq!((asked("", "NAME:2"), asked("cpu=4", "")), (DeviceAsked::PerNode(2), DeviceAsked::None));
        }
        let asked = SlurmAsked {
            partition: b"short,long",
            qos: b"normal",
            account: b"physics",
            constraints: b"ib&bigmem",
            submit_line: SubmitLine::of(b"sbatch -N 2 --exclusive --nice=50 job.sh"),
            ..NONE
        };
        let Request { partitions, qos, account, constraint, exclusive, nice, .. } = request(asked);
        assert_eq!((partitions, exclusive, nice), (vec!["short".to_string(), "long".to_string()], true, 50));
        assert_eq!((&qos[..], &account[..], &constraint[..]), ("normal", "physics", "ib&bigmem"));
        let all = SlurmAsked { req_mem: b"64G", submit_line: SubmitLine::of(b"sbatch --mem=0 job.sh"), ..NONE };
        assert_eq!(request(all).memory, MemoryAsked::PerNode(0));
    }
}
