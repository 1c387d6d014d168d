//! A machine with more nodes than it has, or fewer.

use std::fmt;

use super::build::MOST_NODES;
use super::cluster::{Cluster, Node, natural_order};
use super::hostlist::HostList;

/// Nodes that a machine has more, each list as one of its own nodes: `n[65-72] as n1`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AddedNodes(Vec<(String, String)>);

impl AddedNodes {
    /// Reads `NODES as NODE`, several with commas between them.
    ///
    /// # Errors
    /// If it is not of this form.
    pub fn parse(text: &str) -> Result<AddedNodes, String> {
        let wrong = || format!("'{text}' is not of the form 'n[65-72] as n1'");
        let mut lists = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let (list, behind) = rest.split_once(" as ").ok_or_else(wrong)?;
            let (like, more) = behind.split_once(',').unwrap_or((behind, ""));
            let [list, like] = [list, like].map(|word| word.trim().to_string());
            if like.is_empty() || HostList::parse(&list).is_none_or(|hosts| hosts.count() > MOST_NODES) {
                return Err(wrong());
            }
            lists.push((list, like));
            rest = more;
        }
        Ok(AddedNodes(lists))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The machine with these nodes, in the partitions of the nodes that they are like.
    ///
    /// # Errors
    /// If it has one already, or does not have the one that they are like.
    pub fn add_to(&self, cluster: &Cluster) -> Result<Cluster, String> {
        let mut nodes: Vec<(u32, Node)> = (0..).zip(cluster.nodes.iter().cloned()).collect();
        for (list, like) in &self.0 {
            let old = cluster.nodes.iter().position(|node| node.name == *like);
            let old = old.ok_or_else(|| format!("the machine has no node '{like}' that others could be like"))?;
            for name in HostList::parse(list).map_or(Vec::new(), |hosts| hosts.names()) {
                if nodes.iter().any(|(_, node)| node.name == name) {
                    return Err(format!("the machine has a node '{name}' already"));
                }
                nodes.push((old as u32, Node { name, ..cluster.nodes[old].clone() }));
            }
        }
        Ok(cluster.with_nodes(nodes))
    }
}

impl fmt::Display for AddedNodes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lists: Vec<String> = self.0.iter().map(|(list, like)| format!("{list} as {like}")).collect();
        f.write_str(&lists.join(","))
    }
}

impl Cluster {
    /// The machine without these nodes.
    ///
    /// # Errors
    /// If none is left.
    pub fn without_nodes(&self, gone: &[u32]) -> Result<Cluster, String> {
        let left = (0..).zip(self.nodes.iter().cloned()).filter(|(at, _)| !gone.contains(at));
        match left.clone().next() {
            None => Err("no node is left".to_string()),
            Some(_) => Ok(self.with_nodes(left.collect())),
        }
    }

    /// The machine with these nodes instead of its own, each with the place of the one whose partitions and switches it has.
    fn with_nodes(&self, mut nodes: Vec<(u32, Node)>) -> Cluster {
        nodes.sort_by(|(_, a), (_, b)| natural_order(&a.name, &b.name));
        let mut other = self.clone();
        let lists = other.partitions.iter_mut().map(|partition| &mut partition.nodes);
        for list in lists.chain(other.switches.iter_mut().map(|switch| &mut switch.nodes)) {
            *list = (0..).zip(&nodes).filter(|(_, (old, _))| list.contains(old)).map(|(at, _)| at).collect();
        }
        other.nodes = nodes.into_iter().map(|(_, node)| node).collect();
        other
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::parse_toml;

    #[test]
    fn nodes_are_added_and_removed_with_their_partitions() {
        let text = "[[nodes]]\nname = \"n[1-3]\"\ncpus = 2\n[[nodes]]\nname = \"b1\"\ncpus = 8\n\
                    [[partitions]]\nname = \"all\"\nnodes = \"n[1-3],b1\"\ndefault = true\n\
                    [[partitions]]\nname = \"big\"\nnodes = \"b1\"";
        let cluster = parse_toml(text).unwrap();
        let added = AddedNodes::parse("n[4-5] as n1, b2 as b1").unwrap();
        assert_eq!(AddedNodes::parse(&added.to_string()).unwrap(), added);
        let larger = added.add_to(&cluster).unwrap();
        let sizes = |cluster: &Cluster| cluster.partitions.iter().map(|one| one.nodes.len()).collect::<Vec<_>>();
        assert_eq!((larger.cpus(), sizes(&larger)), (6 + 8 + 4 + 8, vec![7, 2]));
        let at = |name: &str| larger.nodes.iter().position(|node| node.name == name).unwrap() as u32;
        assert_eq!(["b1", "b2", "n1", "n5"].map(at), [0, 1, 2, 6]);
        let smaller = larger.without_nodes(&[at("n2"), at("b1")]).unwrap();
        assert_eq!((smaller.cpus(), sizes(&smaller)), (26 - 10, vec![5, 1]));
        assert_eq!(smaller.nodes[smaller.partitions[1].nodes[0] as usize].name, "b2");
        assert!(AddedNodes::parse("n4").is_err() && AddedNodes::parse("n1 as n2").unwrap().add_to(&cluster).is_err());
        assert!(AddedNodes::parse("n9 as x").unwrap().add_to(&cluster).is_err());
        assert!(cluster.without_nodes(&[0, 1, 2, 3]).is_err());
    }
}
