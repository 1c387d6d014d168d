//! Descriptions of nodes such as `4:ppn=8:ib` and `2:ncpus=8:mem=4gb+1:ncpus=4`, as Torque and PBS have them.

use super::fields::memory_with;
use super::words;
use crate::trace::rows::leading_number;
use crate::tres::{Resource, Tres};

/// Nodes or chunks of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeGroup {
    pub count: u32,
    /// The CPUs of each; 0 if it is not said.
    pub cpus: u32,
    /// The devices of each.
    pub devices: Tres<u32>,
    /// The memory of each in MB; 0 if it is not said.
    pub memory: u64,
    /// Properties that each must have.
    pub features: Vec<String>,
}

/// What a description says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeText {
    pub groups: Vec<NodeGroup>,
    /// `#excl` at the end.
    pub exclusive: bool,
}

impl NodeText {
    /// Reads a description. Items that say nothing about a machine are left out.
    pub fn parse(text: &[u8]) -> NodeText {
        let mut parts = text.split(|&byte| byte == b'#');
        let groups = parts.next().unwrap_or(b"").split(|&byte| byte == b'+').filter(|group| !group.is_empty());
        let groups = groups.map(group).collect();
        NodeText { groups, exclusive: parts.any(|part| part.starts_with(b"excl")) }
    }

    /// All nodes together.
    pub fn count(&self) -> u32 {
        self.groups.iter().fold(0, |sum, group| sum.saturating_add(group.count))
    }

    /// The nodes as one group, if all are of one kind.
    pub fn as_one(&self) -> Option<NodeGroup> {
        let first = self.groups.first()?;
        let is_same = |group: &NodeGroup| NodeGroup { count: first.count, ..group.clone() } == *first;
        self.groups.iter().all(is_same).then(|| NodeGroup { count: self.count(), ..first.clone() })
    }
}

/// One group: a count, or the name of a host, and items.
fn group(text: &[u8]) -> NodeGroup {
    let mut group = NodeGroup { count: 1, ..NodeGroup::default() };
    for (at, item) in text.split(|&byte| byte == b':').enumerate() {
        let Some(equals) = memchr::memchr(b'=', item) else {
            if at == 0 && item.iter().all(u8::is_ascii_digit) {
                group.count = number(item).max(1);
            } else {
                group.add_feature(item);
            }
            continue;
        };
        let (key, value) = (&item[..equals], &item[equals + 1..]);
        match key {
            b"ppn" | b"ncpus" => group.cpus = number(value),
            b"mem" => group.memory = memory_with(value, 1).unwrap_or(0),
            b"host" => group.add_feature(value),
            _ => match Resource::of_pbs(key) {
                Some(kind) => group.devices[kind] = number(value),
                None if value.eq_ignore_ascii_case(b"true") => group.add_feature(key),
                None => {}
            },
        }
    }
    group
}

impl NodeGroup {
    fn add_feature(&mut self, name: &[u8]) {
        let name = words(name);
        // `^brno` is a property that the nodes must not have, which no request can say.
        if name.starts_with('^') {
            return;
        }
        if !name.is_empty() && !self.features.contains(&name) {
            self.features.push(name);
        }
    }
}

fn number(text: &[u8]) -> u32 {
    leading_number(text).unwrap_or(0).max(0) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_nodes() {
        let one = |text: &str| NodeText::parse(text.as_bytes()).as_one().unwrap();
        let group = |count, cpus| NodeGroup { count, cpus, ..NodeGroup::default() };
        let with = |group: NodeGroup, features: &[&str]| NodeGroup {
            features: features.iter().map(|name| name.to_string()).collect(),
            ..group
        };
        assert_eq!(one("8:ppn=8:x86_64:cl_zegox"), with(group(8, 8), &["x86_64", "cl_zegox"]));
        assert_eq!(one("1:ppn=4:cl_zewura:cl_zewura"), with(group(1, 4), &["cl_zewura"]));
        assert_eq!(one("zewura19.cerit-sc.cz:brno"), with(group(1, 0), &["zewura19.cerit-sc.cz", "brno"]));
        assert_eq!(one("1:ppn=4:host=zewura10"), with(group(1, 4), &["zewura10"]));
        assert_eq!(one("1:ppn=4:^zewura12:brno"), with(group(1, 4), &["brno"]));
        assert_eq!(one("2"), group(2, 0));
        assert_eq!(one("1:ppn=0.5"), group(1, 0));
        let chunk = NodeGroup { memory: 4096, ..with(group(3, 8), &["bigmem"]) };
        let two = "2:ncpus=8:mem=4gb:NAME=1:mpiprocs=8:bigmem=True+1:ncpus=8:mem=4gb:NAME=1:bigmem=true";
        for (kind, names) in Resource::DEVICES.into_iter().zip(Resource::PBS_NAMES) {
            for name in names {
                let devices = |count| Tres::default().with(kind, count);
                let torque = NodeGroup { devices: devices(2), ..with(group(1, 28), &["default"]) };
                assert_eq!(one(&format!("1:ppn=28:{name}=2:default")), torque);
                assert_eq!(one(&two.replace("NAME", name)), NodeGroup { devices: devices(1), ..chunk.clone() });
            }
        }
        let uneven = NodeText::parse(b"1:ppn=1+3:ppn=2");
        assert_eq!((uneven.count(), uneven.as_one(), uneven.groups), (4, None, vec![group(1, 1), group(3, 2)]));
        assert!(NodeText::parse(b"1:ppn=64:x86_64#excl").exclusive && !NodeText::parse(b"1:ppn=64#shared").exclusive);
        assert_eq!(NodeText::parse(b"").as_one(), None);
    }
}
