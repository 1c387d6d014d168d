//! The two passes of the daemon on nodes: the main pass, which starts jobs in the order of the queue, and the backfill pass, which
//! reserves whole nodes for jobs and starts those that delay no reservation.

use std::collections::BTreeMap;

use super::in_use::RunningJob;
use super::job::{NodeCounts, QueueEntry, SlurmJob};
use super::limits::{Chosen, SiteLimits};
use super::pick::Picked;
use super::site::NodeSet;
use super::space::NodeSpace;
use super::state::SlurmNodes;
use crate::machine::NodeGrant;
use crate::time::{Seconds, Time};

/// The tasks of a job array that wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrayTasks {
    /// Tasks that have not started.
    pub left: u32,
    /// Tasks that run.
    pub running: u32,
    /// The most that run at once. 0: no limit.
    pub most: u32,
}

impl ArrayTasks {
    fn is_closed(&self) -> bool {
        self.left == 0 || (self.most > 0 && self.running >= self.most)
    }

    fn start(&mut self) {
        (self.left, self.running) = (self.left - 1, self.running + 1);
    }
}

/// A job that a pass starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Started {
    /// Its number.
    pub id: u64,
    /// The place of its partition.
    pub partition: usize,
    /// What it gets.
    pub grant: NodeGrant,
}

/// A job for which a backfill pass reserves nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reserved {
    /// Its number.
    pub id: u64,
    /// The place of its partition.
    pub partition: usize,
    /// When it is expected to start.
    pub start: Time,
    /// On which nodes.
    pub nodes: NodeSet,
}

/// A pass at one instant.
pub struct SlurmPass<'a, 's> {
    /// The nodes.
    pub nodes: SlurmNodes<'s>,
    /// What jobs may have together.
    pub limits: &'a mut SiteLimits,
    /// The instant.
    pub now: Time,
    /// The Unix time of the instant 0.
    pub unix_start: Time,
    /// Whether the backfill pass makes all reservations. Otherwise it ends when no job can start any more.
    pub reserves_all: bool,
    /// By job: the tasks of arrays.
    pub arrays: BTreeMap<u64, ArrayTasks>,
    /// In the order of their starts.
    pub started: Vec<Started>,
    /// What the backfill pass reserves.
    pub reserved: Vec<Reserved>,
}

/// What becomes of an entry of a backfill pass.
enum TriedEntry {
    Started,
    Reserved,
    PassedOver,
}

/// What a backfill pass counts.
#[derive(Default)]
struct BackfillCounts {
    tried: usize,
    of_user: BTreeMap<i64, usize>,
    of_partition: BTreeMap<usize, usize>,
    reserved: BTreeMap<usize, usize>,
    /// By job: its earliest planned start.
    planned: BTreeMap<u64, Time>,
}

/// Adds one, and says whether that is more than allowed; 0 allows all.
fn is_too_many<K: Ord>(counts: &mut BTreeMap<K, usize>, key: K, most: usize) -> bool {
    if most == 0 {
        return false;
    }
    let count = counts.entry(key).or_default();
    if *count >= most {
        return true;
    }
    *count += 1;
    false
}

/// How often a backfill pass looks at later and later times for one entry.
const MOST_TIMES: usize = 2000;

/// After how many seconds the daemon plans a job over a limit that blocks, if it knows no better time.
const UNKNOWN_START: Seconds = 500;

impl SlurmPass<'_, '_> {
    /// Whether an entry is of a job that has started or waits for jobs that make way, or of an array that may not start a task.
    fn is_gone(&self, job: &SlurmJob) -> bool {
        if self.nodes.is_preempting(job.id) {
            // Its other partitions are not tried.
            return true;
        }
        match self.arrays.get(&job.id) {
            Some(array) => array.is_closed(),
            None => self.started.iter().any(|started| started.id == job.id),
        }
    }

    fn start(&mut self, entry: QueueEntry<'_>, limit: Seconds, grant: NodeGrant) {
        let QueueEntry { job, partition } = entry;
        self.limits.start(entry, &grant);
        self.nodes.state.forget_preemptor(job.id);
        let task = if self.arrays.contains_key(&job.id) { self.started.len() as u32 + 1 } else { 0 };
        let is_whole = self.nodes.is_whole(entry);
        let (start, id) = (self.now, (job.id, task));
        let running = RunningJob { start, end: start + limit, id, partition, grant: grant.clone(), is_whole };
        self.nodes.state.in_use.start(running, self.nodes.site);
        self.started.push(Started { id: job.id, partition, grant });
        if let Some(array) = self.arrays.get_mut(&job.id) {
            array.start();
        }
    }

    /// Whether a job is too young to hold nodes for it.
    fn is_young(&self, job: &SlurmJob) -> bool {
        let least = self.nodes.site.parameters.least_age;
        least > 0 && self.now - job.submit < least
    }

    /// The main pass. `is_full`: without a limit of entries. Returns whether it stopped at that limit.
    pub fn main<'q>(&mut self, queue: impl Fn(usize) -> Option<QueueEntry<'q>>, is_full: bool) -> bool {
        let site = self.nodes.site;
        self.nodes.begin_preemption(self.now);
        let mut left = NodeSet::all(site.len());
        let mut has_failed = vec![false; site.cluster.partitions.len()];
        let mut of_partition: BTreeMap<usize, usize> = BTreeMap::new();
        let mut looked_at = 0;
        for entry in (0..).map_while(queue) {
            let QueueEntry { job, partition } = entry;
            if left.is_empty() {
                // All partitions have failed.
                return false;
            }
            // A task of an array that starts makes way for the next.
            loop {
                if self.is_gone(job) {
                    break;
                }
                if is_too_many(&mut of_partition, partition, site.parameters.partition_depth) {
                    break;
                }
                if !is_full {
                    if looked_at > site.parameters.depth {
                        return true;
                    }
                    looked_at += 1;
                }
                if has_failed[partition] {
                    break;
                }
                let is_allowed = self.limits.allows_job(entry);
                if !is_allowed && !site.parameters.limits_block {
                    break;
                }
                let own = &site.partition_nodes[partition];
                let picked = match is_allowed && job.min_nodes.max(1) <= left.count_common(own) {
                    true => self.nodes.pick(entry, &left),
                    false => Picked::Busy,
                };
                let is_busy = match picked {
                    Picked::Start(grant) if self.limits.allows(entry, Chosen::Now(&grant)) => {
                        self.start(entry, self.limit(&entry), grant);
                        if self.arrays.contains_key(&job.id) {
                            continue;
                        }
                        break;
                    }
                    // The job waits for those that make way, as it does for busy nodes.
                    Picked::Preempt(found) if self.limits.allows(entry, Chosen::Now(&found.grant)) => {
                        self.nodes.preempt(job.id, &found.jobs);
                        true
                    }
                    Picked::Start(_) | Picked::Preempt(_) => site.parameters.limits_block,
                    Picked::Busy => {
                        site.parameters.limits_block
                            || job.min_nodes.max(1) > left.count_common(own)
                            || self.limits.allows(entry, Chosen::Nothing)
                    }
                    _ => false,
                };
                if is_busy && !self.is_young(job) {
                    has_failed[partition] = true;
                    left.take_out(own);
                }
                break;
            }
        }
        false
    }

    /// The plan of this pass is another one from this instant on.
    fn holds_before(&mut self, time: Time) {
        let holds_until = &mut self.nodes.state.holds_until;
        *holds_until = time.min(*holds_until);
    }

    /// Whether an entry may start now, beside what is reserved. If not, it does not start in this pass. `known`: an entry that may on
    /// these nodes, after this change of what is used. A pass asks for the same entry after each reservation, and most are of other
    /// nodes or times.
    fn may_start(
        &mut self,
        entry: &QueueEntry<'_>,
        space: &NodeSpace,
        known: &mut Option<(u64, usize, u64, NodeSet)>,
    ) -> bool {
        let QueueEntry { job, partition } = *entry;
        let site = self.nodes.site;
        let Some(counts) = job.counts(&site.cluster, partition) else { return false };
        if self.is_gone(job) || !self.nodes.may_start(*entry, &counts) {
            return false;
        }
        let (mut free, _) = space.free(&site.partition_nodes[partition], self.now, self.now + self.limit(entry));
        free.keep(&self.nodes.candidates(*entry, true));
        self.holds_before(space.border_after(self.now));
        let change = self.nodes.state.in_use.changes;
        if known
            .as_ref()
            .is_some_and(|known| (known.0, known.1, known.2) == (job.id, partition, change) && known.3 == free)
        {
            return true;
        }
        let may_start = self.nodes.may_start_on(*entry, &free, &counts);
        *known = may_start.then_some((job.id, partition, change, free));
        may_start
    }

    /// How long an entry is planned to run.
    fn limit(&self, entry: &QueueEntry<'_>) -> Seconds {
        entry
            .job
            .planned
            .unwrap_or(entry.job.limit)
            .min(self.nodes.site.cluster.partitions[entry.partition].max_time.unwrap_or(Seconds::MAX))
    }

    /// The backfill pass.
    pub fn backfill<'q>(&mut self, queue: impl Fn(usize) -> Option<QueueEntry<'q>>) {
        let parameters = &self.nodes.site.parameters;
        self.nodes.begin_preemption(self.now);
        self.nodes.begin_pass();
        let mut space = NodeSpace::new(self.nodes.site, self.now, self.unix_start);
        // A job that has outlived its limit ends later and later.
        let first_end = self.nodes.state.in_use.running.first().map_or(Time::MAX, |first| first.end);
        let is_completing = !self.nodes.completing.is_empty();
        self.nodes.state.holds_until = if first_end <= self.now || is_completing { self.now } else { first_end };
        let mut counts = BackfillCounts::default();
        // Which array had a reservation last, and how many; in which partition arrays have started.
        let mut in_a_row: (Option<u64>, u32) = (None, 0);
        let mut array_partition: BTreeMap<u64, usize> = BTreeMap::new();
        // The next entry that may start. No reservation is taken back, so that one which cannot start never can in this pass.
        let (mut next, mut known) = (0, None);
        for at in 0.. {
            let Some(entry) = queue(at) else { return };
            let QueueEntry { job, partition } = entry;
            if !self.reserves_all {
                next = next.max(at);
                while queue(next).is_some_and(|entry| !self.may_start(&entry, &space, &mut known)) {
                    next += 1;
                }
                if queue(next).is_none() {
                    return;
                }
            }
            loop {
                let other = array_partition.get(&job.id).is_some_and(|&other| other != partition);
                if self.is_gone(job) || other || !(parameters.limits_block || self.limits.allows_job(entry)) {
                    break;
                }
                if is_too_many(&mut counts.of_user, job.user, parameters.most_per_user)
                    || is_too_many(&mut counts.of_partition, partition, parameters.most_per_partition)
                {
                    break;
                }
                if counts.tried >= parameters.most_tried {
                    return;
                }
                let Some(nodes) = job.counts(&self.nodes.site.cluster, partition) else { break };
                counts.tried += 1;
                let tried = self.try_entry(entry, &nodes, &mut space, &mut counts);
                let is_last = parameters.most_started > 0 && self.started.len() >= parameters.most_started;
                if matches!(tried, TriedEntry::Started) && is_last {
                    return;
                }
                let Some(array) = self.arrays.get(&job.id) else { break };
                match tried {
                    TriedEntry::PassedOver => break,
                    TriedEntry::Started => {
                        array_partition.insert(job.id, partition);
                    }
                    TriedEntry::Reserved => {
                        in_a_row = (Some(job.id), if in_a_row.0 == Some(job.id) { in_a_row.1 + 1 } else { 1 });
                        if in_a_row.1 >= parameters.array_reservations || in_a_row.1 >= array.left {
                            break;
                        }
                    }
                }
            }
        }
    }

    /// Starts a job now or reserves nodes for it.
    fn try_entry(
        &mut self,
        entry: QueueEntry<'_>,
        nodes: &NodeCounts,
        space: &mut NodeSpace,
        counts: &mut BackfillCounts,
    ) -> TriedEntry {
        let QueueEntry { job, partition } = entry;
        let (site, now) = (self.nodes.site, self.now);
        let parameters = &site.parameters;
        let limit = self.limit(&entry);
        let planned = counts.planned.get(&job.id).copied();
        let reserved = counts.reserved.get(&partition).copied().unwrap_or(0);
        let is_partition_full = parameters.most_reserved > 0 && reserved >= parameters.most_reserved;
        let only_now = self.is_young(job) || (parameters.one_reservation && planned.is_some()) || is_partition_full;
        let earliest = self.nodes.earliest(entry, nodes, now);
        if earliest > now && (only_now || earliest > now.saturating_add(parameters.window)) {
            self.holds_before(if only_now { Time::MAX } else { earliest - parameters.window });
            return TriedEntry::PassedOver;
        }
        let possible = self.nodes.candidates(entry, true);
        let mut from = now;
        for _ in 0..MOST_TIMES {
            let (mut free, mut later) = space.free(&site.partition_nodes[partition], from, from + limit);
            if from == now {
                let border = space.begin_after(now + limit).saturating_sub(limit);
                self.holds_before(border.min(space.border_after(now)));
            } else if from >= space.end() {
                self.holds_before(now);
            }
            if let Some(later) = later.filter(|&later| earliest > later) {
                from = later;
                continue;
            }
            free.keep(&possible);
            let when = (now, self.unix_start, only_now);
            let found = match free.count() >= nodes.least {
                true => self.nodes.will_run(entry, &free, nodes, when),
                false => None,
            };
            let Some((start, grant)) = found else {
                match later {
                    Some(later) if !only_now => from = later,
                    _ => return TriedEntry::PassedOver,
                }
                continue;
            };
            let mut start = start.max(from);
            let chosen = NodeSet::of(site.len(), grant.iter().map(|share| share.node));
            if start <= now && chosen.meets(&self.nodes.completing) {
                (start, later) = (now + 1, None);
            }
            if start <= now {
                let picked = self.nodes.pick(entry, &free);
                let grant = match &picked {
                    Picked::Start(grant) => Some(&grant[..]),
                    Picked::Preempt(found) => Some(&found.grant[..]),
                    _ => None,
                };
                // Where limits block, the number of jobs has not been tested before.
                let is_allowed = grant.map(|grant| {
                    self.limits.allows(entry, Chosen::Now(grant))
                        && (!parameters.limits_block || self.limits.allows_job(entry))
                });
                match (picked, is_allowed) {
                    (Picked::Start(grant), Some(true)) => {
                        if self.nodes.is_whole(entry) {
                            let nodes = NodeSet::of(site.len(), grant.iter().map(|share| share.node));
                            space.reserve(Time::MIN, space.floor(now + limit), &nodes);
                        }
                        self.start(entry, limit, grant);
                        return TriedEntry::Started;
                    }
                    (_, Some(false)) if !parameters.limits_block => return TriedEntry::PassedOver,
                    (_, Some(false)) => {
                        self.holds_before(now);
                        start = later.unwrap_or(now + UNKNOWN_START);
                    }
                    (picked, _) => {
                        if let Picked::Preempt(found) = picked {
                            self.nodes.preempt(job.id, &found.jobs);
                        }
                        later = None;
                    }
                }
            }
            if start > now && only_now {
                return TriedEntry::PassedOver;
            }
            if start <= now {
                // It is planned from now on, whenever that is.
                self.holds_before(now);
            }
            if let Some(later) = later.filter(|&later| start > later) {
                from = later;
                continue;
            }
            let (begin, end) = (space.floor(start), space.floor(start + limit));
            if start > now + parameters.window {
                self.holds_before(start - parameters.window);
                return TriedEntry::PassedOver;
            }
            if end >= space.end() {
                self.holds_before(if begin < space.end() { end - parameters.window } else { now });
            }
            if start > now && space.overlaps(begin, end, &chosen) {
                from = start;
                continue;
            }
            if !parameters.limits_block && !self.limits.allows(entry, Chosen::Later(&grant)) {
                return TriedEntry::PassedOver;
            }
            self.reserved.push(Reserved { id: job.id, partition, start, nodes: chosen.clone() });
            if parameters.most_reserved > 0 && is_too_many(&mut counts.reserved, partition, parameters.most_reserved) {
                return TriedEntry::PassedOver;
            }
            if !parameters.one_reservation || planned.is_none() {
                space.reserve(begin, end, &chosen);
            }
            if planned.is_none_or(|planned| start < planned) {
                counts.planned.insert(job.id, start);
            }
            return TriedEntry::Reserved;
        }
        TriedEntry::PassedOver
    }
}
