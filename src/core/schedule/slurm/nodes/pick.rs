//! Whether a job can start now, in the future, or never.

use std::borrow::Cow;
use std::sync::Arc;

use super::NodeSet;
use super::choice::{JobOnNodes, NodeTest, Usable, UsableSums};
use super::job::{NodeCounts, QueueEntry, SlurmJob};
use super::preempt::Preempting;
use super::prospects::{Prospect, RoomOverTime};
use super::site::{SlurmParameters, SlurmSite};
use super::state::{NodesState, SlurmNodes};
use super::unreserved::KeptOut;
use crate::machine::{NodeGrant, NodeShare, PreemptMode};
use crate::schedule::slurm::node_set::Share;
use crate::schedule::slurm::releases::{EndGrouping, next_on};
use crate::schedule::slurm::runs::Run;
use crate::time::Time;

/// What a test of a job finds.
pub enum Picked {
    /// It can start with this.
    Start(NodeGrant),
    /// It can start when these running jobs have made way.
    Preempt(Preempting),
    /// Its nodes are busy.
    Busy,
    /// Not on the nodes that are left, though none of them is busy.
    NotAvailable,
    /// Not on the nodes of its reservation now, because of other reservations or of the time.
    Reserved,
    /// Not even on idle nodes.
    Never,
    /// The partition does not allow its number of nodes.
    Limited,
}

impl Picked {
    fn of_kept_out(why: KeptOut) -> Picked {
        match why {
            KeptOut::Maintenance => Picked::NotAvailable,
            KeptOut::NotYet => Picked::Reserved,
            KeptOut::Over => Picked::Never,
        }
    }
}

/// When a job could start.
#[derive(Clone, Copy)]
pub(crate) struct When {
    pub now: Time,
    pub unix_start: Time,
    /// Later starts are of no use.
    pub until: Time,
    /// Nor are those after the present instant.
    pub only_now: bool,
}

/// What is found for a job that starts now or later.
pub(crate) struct Opening {
    pub start: Time,
    /// Whether the start depends on the end of a job that has outlived its limit. Such an end is a guess that changes with time.
    pub is_guess: bool,
    /// What the job gets then. Empty on a pool, where `ended` running jobs must have ended.
    pub grant: NodeGrant,
    ended: usize,
}

/// The nodes of a grant, which are in their order.
pub(crate) fn share_of(grant: &[NodeShare]) -> Share {
    let mut runs: Vec<Run> = Vec::new();
    for share in grant {
        match runs.last_mut() {
            Some(last) if last.first + last.length == share.node => last.length += 1,
            _ => runs.push(Run { first: share.node, length: 1 }),
        }
    }
    runs.into()
}

/// Nodes of a partition that a job could ever use, of one of the kinds that its constraint has.
pub fn candidates(site: &SlurmSite, job: &SlurmJob, partition: usize, kind: usize, is_backfill: bool) -> NodeSet {
    let mut nodes = site.partition_nodes[partition].clone();
    nodes.retain(|node| {
        let node = &site.cluster.nodes[node as usize];
        let per_cpu = is_backfill && job.is_per_cpu;
        let memory = job.memory.saturating_mul(if per_cpu { job.cpus_per_node.into() } else { 1 });
        job.cpus_per_node <= node.has.cpus()
            && memory.max(job.memory) <= node.has.memory()
            && job.constraint.holds_for(kind, &node.features)
    });
    nodes
}

impl SlurmNodes<'_> {
    /// How many running jobs leave when the room for a kind of jobs is computed first.
    const FIRST_ROOM: usize = 8;

    fn test<'t>(&'t mut self, entry: QueueEntry<'t>, as_idle: bool) -> NodeTest<'t> {
        let SlurmNodes { site, state: NodesState { in_use, weights, usable, .. }, .. } = self;
        let on = JobOnNodes { as_idle, ..JobOnNodes::new(site, &in_use.nodes, entry) };
        NodeTest { on, weights, usable, busy_first: None }
    }

    /// The job as it is on the nodes now, without the jobs that make way for it.
    fn on<'t>(&'t mut self, entry: QueueEntry<'t>) -> JobOnNodes<'t> {
        JobOnNodes::new(self.site, self.used_without(entry), entry)
    }

    /// What is known of such jobs on one kind of nodes.
    fn prospect(&mut self, entry: QueueEntry<'_>, kind: usize) -> &mut Prospect {
        let SlurmNodes { site, state, .. } = self;
        let find = |is_backfill| candidates(site, entry.job, entry.partition, kind, is_backfill);
        state.prospects.of((entry.job.kind, site.preemptor_class(entry), kind), || [false, true].map(find))
    }

    /// A pass begins.
    pub(crate) fn begin_pass(&mut self) {
        self.state.prospects.begin_pass(self.state.in_use.changes);
        if let Some(pool) = &mut self.state.in_use.pool {
            pool.choose_kind();
        }
    }

    /// Nodes of a partition that a job could ever use, of one kind.
    fn candidates_of(&mut self, entry: QueueEntry<'_>, kind: usize, is_backfill: bool) -> Arc<NodeSet> {
        Arc::clone(&self.prospect(entry, kind).candidates[usize::from(is_backfill)])
    }

    /// Nodes of a partition that a job could ever use.
    pub(crate) fn candidates(&mut self, entry: QueueEntry<'_>, is_backfill: bool) -> Arc<NodeSet> {
        let mut all = self.candidates_of(entry, 0, is_backfill);
        for kind in 1..entry.job.constraint.kinds() {
            let more = self.candidates_of(entry, kind, is_backfill);
            Arc::make_mut(&mut all).add(&more);
        }
        all
    }

    /// Some of the [`SlurmNodes::candidates`], of one kind.
    fn of_kind<'n>(&mut self, entry: QueueEntry<'_>, kind: usize, nodes: &'n NodeSet) -> Cow<'n, NodeSet> {
        match entry.job.constraint.kinds() {
            1 => Cow::Borrowed(nodes),
            _ => Cow::Owned(nodes.common(&self.candidates_of(entry, kind, true))),
        }
    }

    /// Whether a job may start now, or after others have made way, whatever is reserved. If not, it cannot.
    pub(crate) fn may_start(&mut self, entry: QueueEntry<'_>, counts: &NodeCounts) -> bool {
        if let Some(pool) = &self.state.in_use.pool {
            return counts.least <= pool.idle_count();
        }
        (0..entry.job.constraint.kinds()).any(|kind| self.may_start_in(entry, kind, counts))
    }

    fn may_start_in(&mut self, entry: QueueEntry<'_>, kind: usize, counts: &NodeCounts) -> bool {
        let change = self.state.in_use.changes;
        if let Some(known) = self.prospect(entry, kind).may_start(change) {
            return known;
        }
        let nodes = self.candidates_of(entry, kind, false);
        let may_start = self.on(entry).may_hold(&nodes, counts);
        self.prospect(entry, kind).may_start = Some((change, may_start));
        may_start
    }

    /// Whether a job may start now on some nodes, or after others have made way. If not, it cannot.
    pub(crate) fn may_start_on(&mut self, entry: QueueEntry<'_>, nodes: &NodeSet, counts: &NodeCounts) -> bool {
        (0..entry.job.constraint.kinds()).any(|kind| {
            let nodes = self.of_kind(entry, kind, nodes);
            self.on(entry).may_hold(&nodes, counts)
        })
    }

    /// A time before which a job cannot start, as running jobs leave at their limits. It holds for the whole pass, in which jobs
    /// only start.
    pub(crate) fn earliest(&mut self, entry: QueueEntry<'_>, counts: &NodeCounts, now: Time) -> Time {
        if let Some(pool) = &mut self.state.in_use.pool {
            return pool.earliest(counts.least, now);
        }
        let kinds = 0..entry.job.constraint.kinds();
        kinds.map(|kind| self.earliest_in(entry, kind, counts, now)).min().unwrap_or(Time::MAX)
    }

    fn earliest_in(&mut self, entry: QueueEntry<'_>, kind: usize, counts: &NodeCounts, now: Time) -> Time {
        if self.may_start_in(entry, kind, counts) {
            return now;
        }
        let pass = self.state.prospects.pass();
        if let Some(known) = self.prospect(entry, kind).earliest(pass) {
            return known.max(now + 1);
        }
        let all = self.candidates_of(entry, kind, false);
        let earliest = self.room_on(entry, kind, counts, &all, Time::MAX);
        self.prospect(entry, kind).earliest = Some((pass, earliest));
        earliest.max(now + 1)
    }

    /// A time before which sums do not allow a job to start on these nodes, all of one kind. It is the first such time if that is not
    /// after `until`.
    fn room_on(
        &mut self,
        entry: QueueEntry<'_>,
        kind: usize,
        counts: &NodeCounts,
        nodes: &NodeSet,
        until: Time,
    ) -> Time {
        let pass = self.state.prospects.pass();
        let mut room = std::mem::take(&mut self.prospect(entry, kind).room);
        if room.pass != Some(pass) {
            room.jobs = 0;
            self.extend_room(entry, kind, &mut room, Self::FIRST_ROOM);
        }
        let found = loop {
            let found = room.earliest(nodes, UsableSums::new(entry.job, counts));
            if found.is_some() || room.next > until || room.next == Time::MAX {
                break found.unwrap_or(room.next);
            }
            // Most jobs start long before all running ones have left.
            let jobs = 4 * room.jobs;
            self.extend_room(entry, kind, &mut room, jobs);
        };
        self.prospect(entry, kind).room = room;
        found
    }

    /// Adds what such jobs could use of one kind of nodes until this number of running jobs have left.
    fn extend_room(&mut self, entry: QueueEntry<'_>, kind: usize, room: &mut RoomOverTime, jobs: usize) {
        let (nodes, of) = (self.candidates_of(entry, kind, false), self.of(entry));
        let site = self.site;
        let NodesState { in_use, preemption, futures, prospects, .. } = &mut *self.state;
        let (used, running) = preemption.without(in_use, of);
        let on = JobOnNodes::new(site, used, entry);
        if room.jobs == 0 || room.of != of {
            // What was known is of other running jobs.
            room.begin(prospects.pass(), of);
            room.now.extend(nodes.iter().filter_map(|node| Some((node, on.usable_now(node)?))));
        }
        let most = jobs.min(running.len());
        let mut before: Vec<Option<Usable>> = Vec::new();
        for (at, job) in running.iter().enumerate().take(most).skip(room.jobs) {
            let own = || job.grant.iter().map(|share| share.node).filter(|&node| nodes.has(node));
            if own().next().is_none() {
                continue;
            }
            let then = JobOnNodes { in_use: futures.after(of, used, running, at, site), ..on };
            before.clear();
            before.extend(own().map(|node| then.usable_now(node)));
            let then = JobOnNodes { in_use: futures.after(of, used, running, at + 1, site), ..on };
            let changes = own().zip(&before).map(|(node, &before)| (job.end, node, [before, then.usable_now(node)]));
            room.changes.extend(changes.filter(|(.., [before, after])| before != after));
        }
        (room.jobs, room.next) = (jobs, running.get(jobs).map_or(Time::MAX, |job| job.end));
    }

    /// Whether a job is whole in a partition.
    pub fn is_whole(&self, entry: QueueEntry<'_>) -> bool {
        entry.job.is_whole || self.site.cluster.partitions[entry.partition].exclusive
    }

    /// Tries to start a job on the nodes that are left: on the first kind of nodes on which it can.
    pub fn pick(&mut self, entry: QueueEntry<'_>, left: &NodeSet, now: Time) -> Picked {
        let Some(counts) = entry.job.counts(&self.site.cluster, entry.partition) else { return Picked::Limited };
        if let Some(pool) = &self.state.in_use.pool {
            if !self.state.closed.is_empty() {
                return self.pick_on_pool(entry, counts.least, left, now);
            }
            return if counts.least <= pool.idle_count() { Picked::Start(NodeGrant::new()) } else { Picked::Busy };
        }
        let mut picked = Picked::Never;
        for kind in 0..entry.job.constraint.kinds() {
            match (self.pick_in(entry, kind, left, &counts, now), &picked) {
                (found @ (Picked::Start(_) | Picked::Preempt(_)), _) => return found,
                (found, Picked::Never) | (found @ Picked::Busy, _) => picked = found,
                _ => {}
            }
        }
        picked
    }

    fn pick_in(
        &mut self,
        entry: QueueEntry<'_>,
        kind: usize,
        left: &NodeSet,
        counts: &NodeCounts,
        mut now: Time,
    ) -> Picked {
        let all = self.candidates_of(entry, kind, false);
        let (mut all, mut available) = (Cow::Borrowed(&*all), all.common(left));
        // In a reservation nothing else is the whole machine. To other jobs its nodes are not available.
        let (own, mut has_taken) = (entry.job.reservation, false);
        if own.is_some() || !self.state.closed.reservations.is_empty() {
            let unreserved = self.unreserved(entry, &mut now, false);
            match (unreserved, own) {
                (Ok((nodes, taken)), Some(_)) => {
                    has_taken = taken;
                    if taken && nodes.is_empty() {
                        return Picked::Reserved;
                    }
                    all.to_mut().keep(&nodes);
                    available.keep(&nodes);
                }
                (Ok((nodes, _)), None) => available.keep(&nodes),
                (Err(why), Some(_)) => return Picked::of_kept_out(why),
                (Err(_), None) => available = NodeSet::none(self.site.len()),
            }
        }
        if all.is_empty() {
            return Picked::Never;
        }
        for node in all.iter() {
            self.state.weights[node as usize] = self.state.closed.weight(self.site, own, node);
        }
        let mut open = available.clone();
        let (is_whole, may_preempt) = (self.is_whole(entry), self.site.parameters.preempt != PreemptMode::Off);
        let is_open = |nodes: &SlurmNodes<'_>, node: u32, is_whole: bool| {
            let used = &nodes.state.in_use.nodes.nodes[node as usize];
            if is_whole { used.jobs == 0 } else { used.whole == 0 }
        };
        // With preemption the daemon takes only completing nodes as busy.
        open.retain(|node| !self.completing.has(node) && (may_preempt || is_open(self, node, is_whole)));
        let is_busy = open.count() != available.count();
        let has_enough = open.count() >= counts.least;
        if may_preempt {
            open.retain(|node| is_open(self, node, false));
        }
        if has_enough
            && self.may_start_in(entry, kind, counts)
            && let Some(grant) = self.test(entry, false).run(&open, counts)
            && grant.len() <= counts.most as usize
        {
            return Picked::Start(grant);
        }
        if may_preempt && let Some(preempting) = self.find_preempting(entry, open, &available, counts) {
            return Picked::Preempt(preempting);
        }
        let is_ever = match own {
            Some(_) => all.count() >= counts.least && self.test(entry, true).run(&all, counts).is_some(),
            None => self.is_ever(entry, kind, &all, counts),
        };
        let is_available = is_ever
            && (is_busy
                || has_enough && (available == *all || self.test(entry, true).run(&available, counts).is_some()));
        match (is_ever, is_available) {
            (false, _) if has_taken => Picked::Reserved,
            (false, _) => Picked::Never,
            (true, false) => Picked::NotAvailable,
            (true, true) => Picked::Busy,
        }
    }

    /// Tries to start a job on the processors of a pool that are left, of which some are closed.
    fn pick_on_pool(&self, entry: QueueEntry<'_>, least: u32, left: &NodeSet, now: Time) -> Picked {
        let Some(pool) = &self.state.in_use.pool else { return Picked::Never };
        let (open, has_taken) = match self.open_on_pool(entry, left, now) {
            Ok(open) => open,
            Err(why) => return Picked::of_kept_out(why),
        };
        let own = entry.job.reservation.and_then(|number| self.state.closed.reservation(number));
        match () {
            () if pool.idle().count_common(&open) >= least => Picked::Start(Vec::new()),
            () if open.count() >= least => Picked::Busy,
            () if own.is_none_or(|own| own.is_flexible || own.nodes.count() >= least) => Picked::NotAvailable,
            () if has_taken => Picked::Reserved,
            () => Picked::Never,
        }
    }

    /// Whether a job can run on the nodes if they are idle.
    fn is_ever(&mut self, entry: QueueEntry<'_>, kind: usize, all: &NodeSet, counts: &NodeCounts) -> bool {
        if let Some(is_ever) = self.prospect(entry, kind).is_ever {
            return is_ever;
        }
        let is_ever = all.count() >= counts.least && self.test(entry, true).run(all, counts).is_some();
        self.prospect(entry, kind).is_ever = Some(is_ever);
        is_ever
    }

    /// Whether a job can never run in a partition, even if all nodes are idle.
    pub fn is_never(&mut self, entry: QueueEntry<'_>) -> bool {
        let Some(counts) = entry.job.counts(&self.site.cluster, entry.partition) else { return true };
        (0..entry.job.constraint.kinds()).all(|kind| {
            let all = self.candidates_of(entry, kind, false);
            all.is_empty() || !self.is_ever(entry, kind, &all, &counts)
        })
    }

    /// When a job could start on these nodes, and what it gets of them: now, or when running jobs have left.
    pub(crate) fn will_run(
        &mut self,
        entry: QueueEntry<'_>,
        nodes: &NodeSet,
        counts: &NodeCounts,
        when: When,
    ) -> Option<Opening> {
        let SlurmParameters { growth, kill_wait, .. } = self.site.parameters;
        if let Some(pool) = &mut self.state.in_use.pool {
            let grouping = EndGrouping { growth, kill_wait, unix_start: when.unix_start };
            let (start, ended) = pool.opening(counts.least, nodes, when.now, when.until, grouping)?;
            return Some(Opening { start, is_guess: pool.is_guess(ended, when.now), grant: NodeGrant::new(), ended });
        }
        let in_kind = |kind| {
            let nodes = self.of_kind(entry, kind, nodes);
            self.will_run_in(entry, kind, &nodes, counts, when)
        };
        // Of kinds of nodes it takes the one where it can start first.
        (0..entry.job.constraint.kinds()).filter_map(in_kind).min_by_key(|found| found.start)
    }

    /// The nodes of a job that gets this of these nodes.
    pub(crate) fn share(&mut self, entry: QueueEntry<'_>, opening: &Opening, nodes: &NodeSet) -> Share {
        match &mut self.state.in_use.pool {
            Some(pool) => pool.share(opening.ended, entry.job.min_nodes, nodes),
            None => share_of(&opening.grant),
        }
    }

    fn will_run_in(
        &mut self,
        entry: QueueEntry<'_>,
        kind: usize,
        nodes: &NodeSet,
        counts: &NodeCounts,
        when: When,
    ) -> Option<Opening> {
        let earliest = self.earliest_in(entry, kind, counts, when.now);
        // Tests of jobs with GPUs change the order of nodes for later ones: they are made though they must fail.
        let has_gpus = entry.job.has_gpus();
        let until = match (has_gpus, when.only_now) {
            (true, _) => Time::MAX,
            (false, true) => when.now,
            (false, false) => when.until,
        };
        let room = self.room_on(entry, kind, counts, nodes, until);
        if earliest <= when.now
            && (room == Time::MIN || has_gpus)
            && let Some(grant) = self.test(entry, false).run(nodes, counts)
        {
            return Some(Opening { start: when.now, is_guess: false, grant, ended: 0 });
        }
        let is_too_late = when.only_now || room == Time::MAX || room > until;
        if is_too_late && !self.has_candidates(entry) {
            return None;
        }
        self.will_run_without((entry, kind), nodes, counts, when, (earliest, room))
    }

    /// The same if the job does not start beside all running jobs: now, if others make way, or when running jobs have left. Sums do
    /// not allow a start before `room`.
    fn will_run_without(
        &mut self,
        (entry, kind): (QueueEntry<'_>, usize),
        nodes: &NodeSet,
        counts: &NodeCounts,
        When { now, unix_start, until, only_now }: When,
        (earliest, room): (Time, Time),
    ) -> Option<Opening> {
        let (site, of) = (self.site, self.of(entry));
        // Sums of the same running jobs have been found to be enough then. They are tested for jobs with GPUs all the same.
        let is_enough = self.prospect(entry, kind).room.of == of && !entry.job.has_gpus();
        let NodesState { in_use, weights, usable, preemption, futures, .. } = &mut *self.state;
        let (used, running) = preemption.without(in_use, of);
        if of.class.is_some() && earliest <= now {
            let on = JobOnNodes::new(site, used, entry);
            if let Some(grant) = (NodeTest { on, weights, usable, busy_first: None }).run(nodes, counts) {
                // Others make way as soon as the job is tried.
                return Some(Opening { start: now, is_guess: false, grant, ended: 0 });
            }
        }
        if only_now {
            return None;
        }
        let idle = site.parameters.busy_first.then(|| {
            let mut idle = NodeSet::all(site.len());
            idle.retain(|node| in_use.nodes.nodes[node as usize].jobs == 0);
            idle
        });
        let SlurmParameters { growth, kill_wait, .. } = site.parameters;
        let grouping = EndGrouping { growth, kill_wait, unix_start };
        let first = next_on(running, nodes, 0)?;
        // Groups that end before sums allow a start need no test.
        let before = running.partition_point(|job| job.end < room);
        debug_assert!(
            before == 0
                || !JobOnNodes::new(site, futures.after(of, used, running, before, site), entry)
                    .may_hold(nodes, counts),
            "sums allow a start before {room}"
        );
        let mut from = first.max(before);
        while let Some(wanted) = next_on(running, nodes, from) {
            let last = grouping.last_of_group(running, nodes, first, wanted);
            let last_end = running[last].end;
            if last_end > until && !entry.job.has_gpus() {
                return None;
            }
            let on = JobOnNodes::new(site, futures.after(of, used, running, last + 1, site), entry);
            let mut test = NodeTest { on, weights, usable, busy_first: idle.as_ref() };
            if (is_enough || on.may_hold(nodes, counts))
                && let Some(grant) = test.run(nodes, counts)
            {
                let start = grouping.start(last_end, now);
                return Some(Opening { start, is_guess: last_end <= now, grant, ended: 0 });
            }
            from = last + 1;
        }
        None
    }
}
