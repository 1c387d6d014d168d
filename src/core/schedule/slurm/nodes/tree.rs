//! Nodes by their switches (`topology/tree`): near each other, in leaf switches that are just large enough.

use std::cmp::Ordering;

use super::NodeSet;
use super::choice::{Need, NodeTest, NodeWeight, Usable, UsableNodes, are_enough};
use super::job::NodeCounts;
use super::site::{FAR, Network};

/// Takes nodes below one switch.
pub(super) fn by_network(
    test: &NodeTest<'_>,
    nodes: &NodeSet,
    usable: &mut UsableNodes,
    need: Need,
    counts: &NodeCounts,
) -> Option<NodeSet> {
    let network = test.on.site.network.as_ref().expect("a site with a network");
    let top = network.switches[top_switch(test, network, nodes, &need, counts)?].nodes.common(nodes);
    let chosen = NodeSet::none(test.on.site.len());
    let (candidates, required) = candidates(test, usable, &top, &need, counts)?;
    let is_used = vec![false; network.switches.len()];
    let mut walk = NetworkWalk { test, network, candidates, is_used, need, chosen };
    if let Some(required) = required
        && let Some(is_done) = walk.take_required(&required, usable)
    {
        return is_done.then_some(walk.chosen);
    }
    walk.take_by_leaves(usable)
}

/// The highest switch with enough nodes, of its lowest weight; later ones win ties.
fn top_switch(
    test: &NodeTest<'_>,
    network: &Network,
    nodes: &NodeSet,
    need: &Need,
    counts: &NodeCounts,
) -> Option<usize> {
    let mut top: Option<(usize, NodeWeight)> = None;
    for (at, switch) in network.switches.iter().enumerate() {
        if !are_enough(switch.nodes.count_common(nodes).into(), need, counts) {
            continue;
        }
        let weights = switch.nodes.iter_common(nodes).map(|node| test.weights[node as usize]);
        let Some(weight) = weights.min() else { continue };
        let level = |at: usize| network.switches[at].level;
        if top.is_none_or(|(best, lowest)| level(at) >= level(best) && weight <= lowest) {
            top = Some((at, weight));
        }
    }
    top.map(|(at, _)| at)
}

/// The candidates below the top switch, weight by weight until they suffice, and those of the lower weights, which are all taken.
fn candidates(
    test: &NodeTest<'_>,
    usable: &mut UsableNodes,
    top: &NodeSet,
    need: &Need,
    counts: &NodeCounts,
) -> Option<(NodeSet, Option<NodeSet>)> {
    let mut all = NodeSet::none(test.on.site.len());
    let mut required = None;
    let (mut cpus, mut gpus, mut is_enough) = (0i64, 0i64, false);
    for (_, nodes) in test.by_weight(top) {
        if is_enough {
            break;
        }
        if !all.is_empty() {
            required = Some(all.clone());
        }
        for node in nodes.iter() {
            let entry = usable[node as usize].as_mut().expect("a usable node");
            let own = test.on.cpus_of(entry);
            if own > 0 {
                all.insert(node);
                (cpus, gpus) = (cpus + i64::from(own), gpus + i64::from(entry.gpus));
            }
        }
        is_enough = cpus >= need.cpus
            && are_enough(all.count().into(), need, counts)
            && (need.gpus.1 == 0 || gpus >= need.gpus.1);
    }
    is_enough.then_some((all, required))
}

struct NetworkWalk<'a, 't> {
    test: &'a NodeTest<'t>,
    network: &'a Network,
    /// Below the top switch.
    candidates: NodeSet,
    /// By switch: nodes below it are taken already.
    is_used: Vec<bool>,
    need: Need,
    chosen: NodeSet,
}

impl NetworkWalk<'_, '_> {
    fn take(&mut self, node: u32, usable: &mut UsableNodes) {
        let entry: &mut Usable = usable[node as usize].as_mut().expect("a usable node");
        let cpus = self.test.on.cpus_of(entry);
        let cpus = self.test.on.give(node, cpus, entry, &self.need);
        self.need.take(cpus, entry.gpus);
    }

    /// Takes all nodes of the lower weights. Some: whether that is all, because nothing more is needed or possible.
    fn take_required(&mut self, required: &NodeSet, usable: &mut UsableNodes) -> Option<bool> {
        for node in required.iter() {
            if self.need.most <= 0 {
                break;
            }
            self.take(node, usable);
        }
        for (is_used, switch) in self.is_used.iter_mut().zip(&self.network.switches) {
            *is_used = switch.nodes.meets(required);
        }
        self.chosen.add(required);
        match (self.need.is_met(), self.need.most <= 0) {
            (true, _) => Some(true),
            (false, true) => Some(false),
            _ => None,
        }
    }

    /// From leaf switches that are used already, then from the best leaf after the other.
    fn take_by_leaves(mut self, usable: &mut UsableNodes) -> Option<NodeSet> {
        let (network, candidates) = (self.network, std::mem::take(&mut self.candidates));
        let mut counts: Vec<u32> =
            network.switches.iter().map(|switch| switch.nodes.count_common(&candidates)).collect();
        for (leaf, switch) in network.switches.iter().enumerate().filter(|(_, switch)| switch.level == 0) {
            if !self.is_used[leaf] {
                continue;
            }
            for node in switch.nodes.iter_common(&candidates) {
                if !self.chosen.has(node) {
                    self.take(node, usable);
                    self.chosen.insert(node);
                    if self.need.is_met() {
                        return Some(self.chosen);
                    }
                }
            }
        }
        let mut distances = vec![0u32; counts.len()];
        let add = |distances: &mut Vec<u32>, from: usize, network: &Network| {
            for (distance, hops) in distances.iter_mut().zip(&network.hops[from]) {
                *distance = FAR.min(*distance + hops);
            }
        };
        for at in (0..counts.len()).filter(|&at| self.is_used[at]) {
            add(&mut distances, at, network);
        }
        let mut before = self.need.nodes + 1;
        while before != self.need.nodes {
            before = self.need.nodes;
            let Some(best) = self.best_leaf(&counts, &distances) else { break };
            add(&mut distances, best, network);
            for node in network.switches[best].nodes.iter_common(&candidates) {
                if self.need.most <= 0 {
                    break;
                }
                if !self.chosen.has(node) {
                    self.take(node, usable);
                    self.chosen.insert(node);
                    if self.need.is_met() {
                        return Some(self.chosen);
                    }
                }
            }
            counts[best] = 0;
        }
        let Need { least, cpus, .. } = self.need;
        (least <= 0 && cpus <= 0 && self.need.has_gpus()).then_some(self.chosen)
    }

    fn best_leaf(&self, counts: &[u32], distances: &[u32]) -> Option<usize> {
        let mut best: Option<usize> = None;
        let is_unused_leaf = |at: &usize| self.network.switches[*at].level == 0 && !self.is_used[*at];
        for leaf in (0..counts.len()).filter(is_unused_leaf) {
            let is_possible = counts[leaf] > 0 && distances[leaf] < FAR;
            let Some(so_far) = best else {
                best = is_possible.then_some(leaf);
                continue;
            };
            if !is_possible {
                continue;
            }
            let order = self.compare(leaf, so_far, counts);
            if (distances[leaf] < distances[so_far] && order != Ordering::Less)
                || (distances[leaf] == distances[so_far] && order == Ordering::Greater)
            {
                best = Some(leaf);
            }
        }
        best
    }

    /// Greater: the first is better. One that has enough nodes, with the fewest of them; if none has, as their parents compare;
    /// else the most nodes.
    fn compare(&self, a: usize, b: usize, counts: &[u32]) -> Ordering {
        let (mut a, mut b) = (a, b);
        loop {
            let has_enough = |at: usize| i64::from(counts[at]) >= self.need.nodes;
            match (has_enough(a), has_enough(b)) {
                (true, true) if counts[a] != counts[b] => return counts[b].cmp(&counts[a]),
                (true, true) => break,
                (true, false) => return Ordering::Greater,
                (false, true) => return Ordering::Less,
                (false, false) => {}
            }
            let parent = |at: usize| self.network.switches[at].parent;
            let (above_a, above_b) = (parent(a), parent(b));
            if (above_a == a && above_b == b) || above_a == above_b {
                break;
            }
            (a, b) = (above_a, above_b);
        }
        let level = |at: usize| self.network.switches[at].level;
        counts[a].cmp(&counts[b]).then(level(b).cmp(&level(a)))
    }
}
