//! Puts the nodes of a machine together from lists of names, within bounds.

use std::collections::{HashMap, HashSet};

use super::cluster::{Cluster, Node, Partition, Switch, natural_order};
use super::file_line::{ConfError, FileLine};
use super::hostlist::{HostList, is_node_name, joined_names};
use crate::similar::did_you_mean;
use crate::sort::sort_by;
use crate::text::{counted, grouped, shortened};
use crate::tres::Resource;

/// The most nodes of a machine. The largest machines have about 160,000.
pub const MOST_NODES: u64 = 500_000;

/// The most CPUs of a node, and of each device the most.
pub const MOST_OF_NODE: u32 = 1_000_000;

/// The most names in the lists of all partitions and switches of a machine together.
const MOST_NAMES: u64 = 10_000_000;

/// Collects the nodes of a machine.
#[derive(Default)]
pub(super) struct Builder {
    nodes: Vec<(Node, usize)>,
    /// The places that the nodes refer to.
    places: Vec<FileLine>,
}

impl Builder {
    /// Adds nodes that are alike but for their names and their devices.
    pub fn add(
        &mut self,
        list: &HostList,
        node: &Node,
        place: &FileLine,
        of_device: impl Fn(&str, Resource) -> u32,
    ) -> Result<(), String> {
        let count = list.count().saturating_add(self.nodes.len() as u64);
        if count > MOST_NODES {
            let count = if count == u64::MAX { "too many".to_string() } else { grouped(count) };
            return Err(format!("{count} nodes; a machine has at most {}", grouped(MOST_NODES)));
        }
        self.places.push(place.clone());
        for name in list.names() {
            if !is_node_name(&name) {
                let name = shortened(&name);
                return Err(format!(
                    "'{name}' is no name of a node: it has letters, digits, '-', '_' and '.', such as n1"
                ));
            }
            let mut node = Node { name, ..node.clone() };
            Resource::DEVICES.iter().for_each(|&kind| node.has[kind] = of_device(&node.name, kind).into());
            self.nodes.push((node, self.places.len() - 1));
        }
        Ok(())
    }

    /// The nodes in natural order.
    pub fn finish(mut self) -> Result<Vec<Node>, ConfError> {
        sort_by(&mut self.nodes, |(a, of_a), (b, of_b)| natural_order(&a.name, &b.name).then(of_a.cmp(of_b)));
        let twice = self.nodes.windows(2).filter(|pair| pair[0].0.name == pair[1].0.name).min_by_key(|pair| pair[1].1);
        if let Some([(node, first), (_, second)]) = twice {
            let (name, first) = (shortened(&node.name), &self.places[*first]);
            let again = match *first == self.places[*second] {
                true => "twice in the list".to_string(),
                false => format!("a second time; the first is in {first}"),
            };
            return Err(self.places[*second].wrong(format!("the node '{name}' is there {again}; remove one of them")));
        }
        let cpus: u64 = self.nodes.iter().map(|(node, _)| node.has[Resource::Cpus]).sum();
        if cpus > u32::MAX.into() {
            let why = format!("{} CPUs; a machine has at most {}", grouped(cpus), grouped(u32::MAX.into()));
            return Err(self.places[self.places.len() - 1].wrong(why));
        }
        Ok(self.nodes.into_iter().map(|(node, _)| node).collect())
    }
}

/// Finds nodes by their names.
pub(super) struct NodeNames<'a> {
    nodes: &'a [Node],
    places: HashMap<&'a str, u32>,
    /// The names that are known and do not exist: nodes of the future.
    absent: HashSet<String>,
    names_left: u64,
}

impl<'a> NodeNames<'a> {
    pub fn new(nodes: &'a [Node]) -> NodeNames<'a> {
        let places = nodes.iter().zip(0u32..).map(|(node, at)| (node.name.as_str(), at)).collect();
        NodeNames { nodes, places, absent: HashSet::new(), names_left: MOST_NAMES }
    }

    /// Adds names that partitions may list though there are no such nodes yet.
    pub fn add_absent(&mut self, list: &HostList) -> Result<(), String> {
        let names = self.within_bounds(list)?;
        self.absent.extend(names);
        Ok(())
    }

    /// All names of a list, if there are not too many.
    pub fn within_bounds(&mut self, list: &HostList) -> Result<Vec<String>, String> {
        let count = list.count();
        let too_many = || format!("too long a list; all lists together have at most {}", counted(MOST_NAMES, "name"));
        self.names_left = self.names_left.checked_sub(count).filter(|_| count <= MOST_NODES).ok_or_else(too_many)?;
        Ok(list.names())
    }

    /// The ascending places of the nodes of a list, or of all nodes for ALL.
    pub fn places(&mut self, list: &str) -> Result<Vec<u32>, String> {
        let (places, unknown) = self.known_places(list)?;
        match unknown.first() {
            None => Ok(places),
            Some(name) => {
                let (meant, listed) = (did_you_mean(name, self.first_names()), self.listed());
                Err(format!("there is no node '{}'; the nodes are {listed}{meant}", shortened(name)))
            }
        }
    }

    /// The ascending places of the nodes of a list, and the names that no node has.
    pub fn known_places(&mut self, list: &str) -> Result<(Vec<u32>, Vec<String>), String> {
        if list.eq_ignore_ascii_case("ALL") {
            return Ok((self.all()?, Vec::new()));
        }
        let (mut places, mut unknown) = (Vec::new(), Vec::new());
        for name in self.within_bounds(&HostList::read(list)?)? {
            match self.places.get(name.as_str()) {
                Some(place) => places.push(*place),
                None if self.absent.contains(&name) => {}
                None => unknown.push(name),
            }
        }
        places.sort_unstable();
        places.dedup();
        Ok((places, unknown))
    }

    /// The ascending places of the nodes with a feature.
    pub fn with_feature(&mut self, feature: &str) -> Result<Vec<u32>, String> {
        let all = self.all()?;
        Ok(all.into_iter().filter(|at| self.nodes[*at as usize].features.iter().any(|own| own == feature)).collect())
    }

    fn all(&mut self) -> Result<Vec<u32>, String> {
        let nodes = self.nodes.len() as u64;
        let left = self.names_left.checked_sub(nodes);
        self.names_left =
            left.ok_or_else(|| format!("all lists together have more than {}", counted(MOST_NAMES, "name")))?;
        Ok((0..nodes as u32).collect())
    }

    /// The names of the nodes, for messages.
    fn listed(&self) -> String {
        shortened(&joined_names(self.first_names())).into_owned()
    }

    /// The first thousand names: enough for messages.
    fn first_names(&self) -> impl Iterator<Item = &str> {
        self.nodes.iter().take(1000).map(|node| node.name.as_str())
    }
}

/// A switch as it is written, with the names of what is below it.
pub(super) struct SwitchLine {
    pub place: FileLine,
    pub name: String,
    /// Ascending places of nodes.
    pub nodes: Vec<u32>,
    /// The names of switches.
    pub below: Vec<String>,
}

/// The tree of switches.
pub(super) fn switches(lines: Vec<SwitchLine>) -> Result<Vec<Switch>, ConfError> {
    let mut names: HashMap<&str, u32> = HashMap::new();
    for (line, at) in lines.iter().zip(0u32..) {
        if names.insert(&line.name, at).is_some() {
            return Err(line.place.wrong(format!("the switch '{}': another one has this name", shortened(&line.name))));
        }
    }
    let mut switches: Vec<Switch> = Vec::new();
    for line in &lines {
        let wrong = |why: String| line.place.wrong(format!("the switch '{}': {why}", shortened(&line.name)));
        let unknown = |name: &str| {
            let meant = did_you_mean(name, lines.iter().map(|line| line.name.as_str()));
            format!("there is no switch '{}'{meant}", shortened(name))
        };
        let below = |name: &String| names.get(name.as_str()).copied().ok_or_else(|| unknown(name));
        let mut below = line.below.iter().map(below).collect::<Result<Vec<u32>, _>>().map_err(wrong)?;
        below.sort_unstable();
        below.dedup();
        switches.push(Switch { name: line.name.clone(), nodes: line.nodes.clone(), switches: below });
    }
    match in_circle(&switches) {
        None => Ok(switches),
        Some(at) => {
            Err(lines[at].place.wrong(format!("the switch '{}' is below itself", shortened(&switches[at].name))))
        }
    }
}

/// A switch that is below itself: those without switches below them are removed, again and again, and one that stays is it.
fn in_circle(switches: &[Switch]) -> Option<usize> {
    let mut left: Vec<usize> = switches.iter().map(|switch| switch.switches.len()).collect();
    let mut above: Vec<Vec<usize>> = vec![Vec::new(); switches.len()];
    for (at, switch) in switches.iter().enumerate() {
        switch.switches.iter().for_each(|below| above[*below as usize].push(at));
    }
    let mut ready: Vec<usize> = (0..left.len()).filter(|at| left[*at] == 0).collect();
    while let Some(at) = ready.pop() {
        for &upper in &above[at] {
            left[upper] -= 1;
            if left[upper] == 0 {
                ready.push(upper);
            }
        }
    }
    left.iter().position(|left| *left > 0)
}

impl Cluster {
    /// Gives a machine without partitions one of all nodes.
    pub(super) fn complete(&mut self) {
        if self.partitions.is_empty() {
            self.partitions.push(Partition {
                name: "all".to_string(),
                nodes: (0..self.nodes.len() as u32).collect(),
                is_default: true,
                priority_tier: 1,
                priority_job_factor: 1,
                ..Default::default()
            });
        }
    }
}
