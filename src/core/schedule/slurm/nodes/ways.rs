//! The ways in which nodes are taken: by runs of consecutive nodes, the least loaded first, busy nodes first, or the last first.

use super::NodeSet;
use super::choice::{Need, NodeTest, NodeWeight, UsableNodes, are_enough};
use super::job::NodeCounts;
use super::tree::by_network;

impl NodeTest<'_> {
    /// Takes nodes in the way that the site and the job ask for.
    pub(super) fn take_nodes(
        &mut self,
        nodes: &NodeSet,
        usable: &mut UsableNodes,
        counts: &NodeCounts,
    ) -> Option<NodeSet> {
        if nodes.count() < counts.least {
            return None;
        }
        let (job, parameters) = (self.on.job, &self.on.site.parameters);
        let wanted = match job.gpus {
            0 => counts.least.max(counts.wanted),
            _ => counts.least.min(counts.wanted),
        };
        let need = Need {
            cpus: job.min_cpus.into(),
            most_cpus: job.min_cpus.into(),
            nodes: wanted.into(),
            least: counts.least.into(),
            most: counts.most.into(),
            gpus: (0, job.gpus.into()),
        };
        let is_least_loaded =
            parameters.least_loaded_first || self.on.site.cluster.partitions[self.on.partition].least_loaded_first;
        match self.busy_first {
            Some(idle) => self.by_lists(nodes, usable, need, Some(idle)),
            None if is_least_loaded => self.least_loaded(nodes, usable, need),
            None if parameters.serial_at_end && job.min_cpus == 1 && counts.wanted == 1 => {
                self.by_lists(nodes, usable, need, None)
            }
            None if self.on.site.network.is_some() => by_network(self, nodes, usable, need, counts),
            None => self.by_runs(nodes, usable, need, counts),
        }
    }

    /// These nodes by their weights, in ascending order.
    pub(super) fn by_weight(&self, nodes: &NodeSet) -> Vec<(NodeWeight, NodeSet)> {
        let mut all: Vec<(NodeWeight, NodeSet)> = Vec::new();
        let mut last = 0;
        for node in nodes.iter() {
            let weight = self.weights[node as usize];
            // Most nodes are like the ones before.
            if all.get(last).is_none_or(|of_last| of_last.0 != weight) {
                last = all.partition_point(|other| other.0 < weight);
                if all.get(last).is_none_or(|other| other.0 != weight) {
                    all.insert(last, (weight, NodeSet::none(self.on.site.len())));
                }
            }
            all[last].1.insert(node);
        }
        all
    }

    /// The most nodes are at most the tasks, where nodes are taken one by one.
    fn by_tasks(&self, need: &mut Need) {
        if self.on.job.tasks > 0 {
            need.most = need.most.min(self.on.job.tasks.into());
        }
    }

    /// Weight by weight, the node with most of its CPUs free first.
    fn least_loaded(&mut self, nodes: &NodeSet, usable: &mut UsableNodes, mut need: Need) -> Option<NodeSet> {
        self.by_tasks(&mut need);
        let mut chosen = NodeSet::none(self.on.site.len());
        'weights: for (_, nodes) in self.by_weight(nodes) {
            let mut last = u32::MAX;
            loop {
                let mut best: Option<(u32, u32)> = None;
                for node in nodes.iter() {
                    if chosen.has(node) {
                        continue;
                    }
                    let entry = usable[node as usize].as_mut().expect("a usable node");
                    let cpus = self.on.cpus_of(entry);
                    let cpus = self.on.give(node, cpus, entry, &need);
                    let most = u64::from(entry.most);
                    if cpus == 0 {
                        continue;
                    }
                    let all = |node: u32| -> u64 { self.on.site.hardware[node as usize].has.cpus().into() };
                    let is_better = best.is_none_or(|(best, _)| {
                        let best_most = usable[best as usize].map_or(0, |usable| u64::from(usable.most));
                        best_most * all(node) < most * all(best)
                    });
                    if is_better {
                        best = Some((node, cpus));
                        if most == u64::from(last) {
                            break;
                        }
                    }
                }
                let Some((node, cpus)) = best else { break };
                let entry = usable[node as usize].expect("a usable node");
                last = entry.most;
                need.take(cpus, entry.gpus);
                chosen.insert(node);
                if need.is_met() {
                    return Some(chosen);
                }
                if need.most == 0 {
                    break 'weights;
                }
            }
        }
        is_content(&need).then_some(chosen)
    }

    /// Weight by weight: nodes with jobs, then idle ones; or for serial jobs the last node first.
    fn by_lists(
        &mut self,
        nodes: &NodeSet,
        usable: &mut UsableNodes,
        mut need: Need,
        idle: Option<&NodeSet>,
    ) -> Option<NodeSet> {
        self.by_tasks(&mut need);
        let mut chosen = NodeSet::none(self.on.site.len());
        for (_, nodes) in self.by_weight(nodes) {
            let mut list: Vec<u32> = nodes.iter().collect();
            let lists = match idle {
                Some(idle) => {
                    let (idle, busy) = list.into_iter().partition(|&node| idle.has(node));
                    [busy, idle]
                }
                None => {
                    list.reverse();
                    [list, Vec::new()]
                }
            };
            let (mut is_met, mut is_done) = (false, false);
            // The daemon leaves only the inner loop: with busy nodes first it takes one idle node more than needed.
            for list in lists {
                for node in list {
                    if chosen.has(node) || (idle.is_none() && need.most <= 0) {
                        continue;
                    }
                    let entry = usable[node as usize].as_mut().expect("a usable node");
                    let cpus = self.on.cpus_of(entry);
                    let cpus = self.on.give(node, cpus, entry, &need);
                    if cpus == 0 {
                        continue;
                    }
                    need.take(cpus, entry.gpus);
                    chosen.insert(node);
                    if need.is_met() {
                        (is_met, is_done) = (true, true);
                        break;
                    }
                    if need.most == 0 {
                        is_done = true;
                        break;
                    }
                }
            }
            if is_met {
                return Some(chosen);
            }
            if is_done {
                break;
            }
        }
        is_content(&need).then_some(chosen)
    }

    /// By runs of consecutive nodes of one weight: the tightest that is sufficient, else the one with most CPUs.
    fn by_runs(
        &mut self,
        nodes: &NodeSet,
        usable: &mut UsableNodes,
        mut need: Need,
        counts: &NodeCounts,
    ) -> Option<NodeSet> {
        let mut runs = self.runs(nodes, usable);
        let mut chosen = NodeSet::none(self.on.site.len());
        while need.most > 0 && !runs.is_empty() {
            let best = best_run(&runs, &need, counts);
            let run = runs.remove(best);
            let gpus_of = |node: u32| usable[node as usize].map_or(0, |usable| i64::from(usable.gpus));
            let mut alone = None;
            if need.nodes <= 1 {
                let fits = |&(node, cpus): &(u32, u32)| {
                    i64::from(cpus) >= need.cpus && (need.gpus.1 == 0 || need.gpus.0 + gpus_of(node) >= need.gpus.1)
                };
                alone = run.nodes.iter().copied().filter(fits).min_by_key(|&(_, cpus)| cpus);
            }
            let list = alone.map_or(run.nodes, |alone| vec![alone]);
            for (node, cpus) in list {
                if need.most == 0 || need.is_met() {
                    break;
                }
                if cpus == 0 || (need.most == 1 && i64::from(cpus) < need.cpus) {
                    continue;
                }
                let entry = usable[node as usize].as_mut().expect("a usable node");
                let cpus = self.on.give(node, cpus, entry, &need);
                need.take(cpus, entry.gpus);
                chosen.insert(node);
            }
            if need.is_met() {
                return Some(chosen);
            }
        }
        (need.cpus <= 0 && need.has_gpus() && are_enough(0, &need, counts)).then_some(chosen)
    }

    fn runs(&self, nodes: &NodeSet, usable: &mut UsableNodes) -> Vec<NodeRun> {
        let mut runs: Vec<NodeRun> = Vec::new();
        let mut next = None;
        for node in nodes.iter() {
            let entry = usable[node as usize].as_mut().expect("a usable node");
            let cpus = self.on.cpus_of(entry);
            if cpus == 0 {
                continue;
            }
            let weight = self.weights[node as usize];
            match runs.last_mut().filter(|run| next == Some(node) && run.weight == weight) {
                None => {
                    runs.push(NodeRun { weight, cpus: cpus.into(), gpus: entry.gpus.into(), nodes: vec![(node, cpus)] })
                }
                Some(run) => {
                    run.cpus += i64::from(cpus);
                    run.gpus += i64::from(entry.gpus);
                    run.nodes.push((node, cpus));
                }
            }
            next = Some(node + 1);
        }
        runs
    }
}

/// Consecutive nodes of one weight.
struct NodeRun {
    weight: NodeWeight,
    cpus: i64,
    gpus: i64,
    /// With the CPUs of each.
    nodes: Vec<(u32, u32)>,
}

/// Of the lowest weight the sufficient run with the fewest CPUs; if none is sufficient, that with the most. The first of equals.
fn best_run(runs: &[NodeRun], need: &Need, counts: &NodeCounts) -> usize {
    let is_sufficient = |run: &NodeRun| {
        run.cpus >= need.cpus
            && are_enough(run.nodes.len() as i64, need, counts)
            && (need.gpus.1 == 0 || need.gpus.0 + run.gpus >= need.gpus.1)
    };
    let mut best = 0;
    let mut best_is_sufficient = is_sufficient(&runs[0]);
    for (at, run) in runs.iter().enumerate().skip(1) {
        let of_best = &runs[best];
        let sufficient = is_sufficient(run);
        let is_tighter = match sufficient {
            true => !best_is_sufficient || run.cpus < of_best.cpus,
            false => run.cpus > of_best.cpus,
        };
        let is_better = run.weight < of_best.weight || (run.weight == of_best.weight && is_tighter);
        if is_better {
            (best, best_is_sufficient) = (at, sufficient);
        }
    }
    best
}

/// Whether what was taken will do though fewer nodes than wanted were there.
fn is_content(need: &Need) -> bool {
    need.cpus <= 0 && need.least <= 0 && need.has_gpus()
}
