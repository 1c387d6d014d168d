//! The nodes of a Gantt chart.

use std::ops::Range;

use super::gantt::{Gantt, first_rows};
use crate::machine::Cluster;
use crate::sort::sort_by_key;
use crate::time::Time;

/// The most nodes of a chart.
const MOST_NODES: usize = 32;

/// A node with its rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GanttNode {
    /// Its name.
    pub name: String,
    /// Its CPUs among those of all nodes: see [`super::GanttJob::rows`].
    pub rows: Range<u32>,
}

/// The nodes that charts of a window show, in their order, and how many are left out: those with the least CPU time in the window.
pub fn gantt_nodes(cluster: &Cluster, charts: &[&Gantt], window: &Range<Time>) -> (Vec<GanttNode>, usize) {
    let mut used = vec![0i128; cluster.nodes.len()];
    for job in charts.iter().flat_map(|chart| &chart.jobs) {
        let ran = i128::from(job.end.min(window.end) - job.start.max(window.start));
        job.shares.iter().for_each(|share| used[share.node as usize] += ran * i128::from(share.what.cpus()));
    }
    let mut places: Vec<usize> = (0..used.len()).collect();
    sort_by_key(&mut places, |&at| std::cmp::Reverse(used[at]));
    places.truncate(MOST_NODES);
    places.sort_unstable();
    let firsts = first_rows(cluster);
    let node = |&at: &usize| GanttNode { name: cluster.nodes[at].name.clone(), rows: firsts[at]..firsts[at + 1] };
    (places.iter().map(node).collect(), used.len() - places.len())
}
