//! Which running jobs make way for a job: those of partitions with a lower PriorityTier (preempt/partition_prio), or of the qualities
//! of service that its own may preempt (preempt/qos).

use std::cmp::{Ordering, Reverse};

use super::NodeSet;
use super::choice::{JobOnNodes, NodeTest};
use super::futures::UsedWithout;
use super::in_use::{InUse, NodesInUse, RunningJob};
use super::job::{NodeCounts, QueueEntry, SlurmJob};
use super::site::SlurmSite;
use super::state::{MakingWay, NodesState, PreemptionState, SlurmNodes, WithoutJobs};
use crate::machine::{NodeGrant, PreemptMode};
use crate::schedule::slurm::releases::Releasing;
use crate::sort::sort_by_key;
use crate::time::{Seconds, Time};

/// How long after `KillWait` a job that has preempted others preempts no more (`MessageTimeout`).
const MESSAGE_TIMEOUT: Seconds = 10;

/// The running jobs that have to make way so that a job can start, and what it would get.
pub struct Preempting {
    /// Their numbers.
    pub jobs: Vec<u64>,
    /// What the job would get.
    pub grant: NodeGrant,
}

impl SlurmSite {
    /// Whether running jobs may make way for others.
    pub fn preempts(&self) -> bool {
        self.parameters.preempt != PreemptMode::Off && self.preemptable.iter().any(|others| !others.is_empty())
    }

    /// Whether jobs make way by their qualities of service.
    pub fn preempts_by_qos(&self) -> bool {
        self.parameters.preempts_by_qos && self.preempts()
    }

    /// Whether jobs that make way may still run for some time.
    pub fn has_grace(&self) -> bool {
        self.has_grace && self.preempts()
    }

    /// By partition: those with nodes of it and a lower tier, whose jobs make way. Or by quality of service: those that it names.
    pub(super) fn find_preemptable(&self) -> Vec<Vec<usize>> {
        if self.parameters.preempts_by_qos {
            let qos = &self.cluster.associations.qos;
            let named = |names: &[String], at: &usize| names.contains(&qos[*at].name);
            return qos.iter().map(|own| (0..qos.len()).filter(|at| named(&own.preempts, at)).collect()).collect();
        }
        let all = 0..self.cluster.partitions.len();
        let makes_way = |other: usize, partition: usize| {
            self.tier(other) < self.tier(partition)
                && self.partition_nodes[other].meets(&self.partition_nodes[partition])
        };
        all.clone().map(|own| all.clone().filter(|&other| makes_way(other, own)).collect()).collect()
    }

    /// What becomes of a running job that has to make way.
    pub fn preempt_mode(&self, running: &RunningJob) -> PreemptMode {
        match self.mode_in(running.partition, running.qos) {
            // A job that may not be requeued is cancelled.
            PreemptMode::Requeue if running.no_requeue || !self.parameters.requeues => PreemptMode::Cancel,
            mode => mode,
        }
    }

    /// The same of a job that starts in this partition.
    pub(crate) fn preempt_mode_of(&self, QueueEntry { job, partition }: QueueEntry<'_>) -> PreemptMode {
        self.mode_in(partition, job.qos)
    }

    fn mode_in(&self, partition: usize, qos: Option<usize>) -> PreemptMode {
        let own = match (self.parameters.preempt, self.parameters.preempts_by_qos) {
            (PreemptMode::Off, _) => None,
            (_, true) => qos.and_then(|qos| self.cluster.associations.qos[qos].preempt_mode),
            (_, false) => self.cluster.partitions[partition].preempt_mode,
        };
        own.unwrap_or(self.parameters.preempt)
    }

    fn tier(&self, partition: usize) -> u32 {
        self.cluster.partitions[partition].priority_tier
    }

    /// A number that jobs have in common which may preempt the same running jobs.
    pub(crate) fn preemptor_class(&self, QueueEntry { job, partition }: QueueEntry<'_>) -> usize {
        match (self.parameters.preempts_by_qos, job.qos) {
            (true, Some(qos)) => partition + (qos + 1) * self.cluster.partitions.len(),
            _ => partition,
        }
    }

    /// The partitions, or the qualities of service, whose running jobs make way for a job.
    fn preemptable_by(&self, QueueEntry { job, partition }: QueueEntry<'_>) -> &[usize] {
        match self.parameters.preempts_by_qos {
            _ if self.parameters.preempt == PreemptMode::Off => &[],
            true => job.qos.map_or(&[], |qos| &self.preemptable[qos]),
            false => &self.preemptable[partition],
        }
    }

    /// Which of two waiting jobs comes first because it may preempt jobs like the other one. By tiers the order of the queue is that
    /// anyway, unless one of them names a reservation. By QOS this may contradict the rest of the order.
    pub fn order_by_preemption(&self, one: QueueEntry<'_>, other: QueueEntry<'_>) -> Ordering {
        let may = |one: QueueEntry<'_>, other: QueueEntry<'_>| {
            let of = if self.parameters.preempts_by_qos { other.job.qos } else { Some(other.partition) };
            of.is_some_and(|of| self.preemptable_by(one).contains(&of))
        };
        let is_by_tiers = one.job.reservation.is_some() == other.job.reservation.is_some();
        match self.parameters.preempts_by_qos || !is_by_tiers {
            true if may(one, other) => Ordering::Less,
            true if may(other, one) => Ordering::Greater,
            _ => Ordering::Equal,
        }
    }

    /// How long a running job runs before it may be preempted.
    fn exempt_time(&self, running: &RunningJob) -> Seconds {
        let of_qos = |qos: Option<usize>| self.cluster.associations.qos[qos?].preempt_exempt;
        let own = of_qos(running.qos).or_else(|| of_qos(self.qos_of_partition[running.partition]));
        own.unwrap_or(self.parameters.preempt_exempt)
    }

    /// How long a running job may still run when it has to make way.
    fn grace(&self, running: &RunningJob) -> Seconds {
        match (self.parameters.preempts_by_qos, running.qos) {
            (true, Some(qos)) => self.cluster.associations.qos[qos].grace,
            (true, None) => 0,
            (false, _) => self.cluster.partitions[running.partition].grace,
        }
    }

    /// Whether a running job makes way for a job. One that has started at this very instant does not.
    fn makes_way(&self, running: &RunningJob, entry: QueueEntry<'_>, now: Time) -> bool {
        let is_of = match self.parameters.preempts_by_qos {
            true => running.qos,
            false => Some(running.partition),
        };
        is_of.is_some_and(|of| self.preemptable_by(entry).contains(&of))
            && self.preempt_mode(running) != PreemptMode::Off
            && running.start < now
            && now - running.start >= self.exempt_time(running)
            && running.meets(&self.partition_nodes[entry.partition])
    }

    /// What decides in which order running jobs make way.
    fn way_order(&self, running: &RunningJob) -> (Reverse<Time>, u32, usize, u64) {
        let qos = |qos: usize| self.cluster.associations.qos[qos].priority;
        let rank = match self.parameters.preempts_by_qos {
            _ if self.parameters.youngest_first => return (Reverse(running.start), 0, 0, running.id),
            true => running.qos.map_or(0, qos),
            false => self.tier(running.partition),
        };
        (Reverse(0), rank, running.grant.len(), running.id)
    }
}

impl PreemptionState {
    /// What is used, and the running jobs in order of their ends: without those that make way for a class of jobs, after
    /// [`SlurmNodes::has_candidates`] has found some, or with all.
    pub(super) fn without<'u>(&'u self, in_use: &'u InUse, of: UsedWithout) -> (&'u NodesInUse, &'u [RunningJob]) {
        match of.class.map(|class| &self.without[class]) {
            Some(WithoutJobs { nodes, staying, .. }) => (nodes, staying),
            None => (&in_use.nodes, &in_use.running),
        }
    }
}

impl NodesState {
    /// The jobs that have to make way since the last call.
    pub fn take_making_way(&mut self) -> Vec<MakingWay> {
        std::mem::take(&mut self.preemption.making_way)
    }

    /// A job has preempted others at this time. It preempts no more for a while.
    pub fn note_preemptor(&mut self, job: &SlurmJob, now: Time) {
        self.preemption.preemptors.insert(job.number(), now);
    }

    /// A running job has to make way, but may still run for so long.
    pub fn grant_grace(&mut self, id: u64, grace: Seconds, now: Time, site: &SlurmSite) {
        let Some(mut running) = self.in_use.end(id, site) else { return };
        running.grace_end = Some(now + grace);
        running.end = running.end.min(now + grace);
        self.in_use.start(running, site);
    }

    /// When the first job ends that has to make way but still runs.
    pub fn next_grace_end(&self, site: &SlurmSite) -> Option<Time> {
        if !site.has_grace() {
            return None;
        }
        self.in_use.running.iter().filter_map(|running| running.grace_end).min()
    }

    /// Takes out the jobs that had to make way and may not run any more.
    pub fn take_graced(&mut self, now: Time, site: &SlurmSite) -> Vec<RunningJob> {
        let is_over = |running: &&RunningJob| running.grace_end.is_some_and(|end| end <= now);
        let over: Vec<u64> = self.in_use.running.iter().filter(is_over).map(|running| running.id).collect();
        over.into_iter().filter_map(|id| self.in_use.end(id, site)).collect()
    }

    /// Whether a waiting job may preempt others later, though nothing happens.
    pub fn may_preempt_later(&self, now: Time, site: &SlurmSite) -> bool {
        let is_exempt = |running: &RunningJob| running.start + site.exempt_time(running) > now;
        !self.preemption.preemptors.is_empty() || self.in_use.running.iter().any(is_exempt)
    }

    /// A waiting job starts or leaves.
    pub fn forget_preemptor(&mut self, job: u64) {
        self.preemption.preemptors.remove(&job);
    }
}

impl SlurmNodes<'_> {
    /// A pass begins at this instant.
    pub(crate) fn begin_preemption(&mut self, now: Time) {
        if self.site.preempts() {
            let NodesState { preemption, in_use, .. } = &mut *self.state;
            // With the time, more jobs may make way.
            in_use.changes += u64::from(std::mem::replace(&mut preemption.now, now) != now);
            preemption.in_progress.clear();
        }
    }

    /// How many jobs have preempted others in this pass.
    pub(crate) fn preempting(&self) -> usize {
        self.state.preemption.in_progress.len()
    }

    /// Whether a job has preempted others in this pass, and waits for them.
    pub(super) fn is_preempting(&self, job: u64) -> bool {
        self.state.preemption.in_progress.contains(&job)
    }

    /// Finds the jobs that make way for such a job now. False if there are none.
    pub(super) fn has_candidates(&mut self, entry: QueueEntry<'_>) -> bool {
        if self.site.preemptable_by(entry).is_empty() {
            return false;
        }
        let class = self.site.preemptor_class(entry);
        let SlurmNodes { site, state, .. } = self;
        let NodesState { preemption: PreemptionState { now, without, .. }, in_use, .. } = &mut **state;
        if without.len() <= class {
            without.resize_with(class + 1, WithoutJobs::default);
        }
        let WithoutJobs { change, is_any, nodes, staying } = &mut without[class];
        if change.replace(in_use.changes) != Some(in_use.changes) {
            let makes_way = |running: &RunningJob| site.makes_way(running, entry, *now);
            *is_any = in_use.running.iter().any(makes_way);
            if *is_any {
                nodes.copy(&in_use.nodes);
                staying.clear();
                for running in &in_use.running {
                    match makes_way(running) {
                        true => nodes.leave(running, site),
                        false => staying.push(running.clone()),
                    }
                }
            }
        }
        *is_any
    }

    /// For a job: whether running jobs make way for those of its class, and after which change of what is used.
    pub(super) fn of(&mut self, entry: QueueEntry<'_>) -> UsedWithout {
        let class = self.has_candidates(entry).then(|| self.site.preemptor_class(entry));
        UsedWithout { change: self.state.in_use.changes, class }
    }

    /// What is used without the jobs that make way for such a job.
    pub(super) fn used_without(&mut self, entry: QueueEntry<'_>) -> &NodesInUse {
        let of = self.of(entry);
        self.state.preemption.without(&self.state.in_use, of).0
    }

    /// The jobs that have to make way so that a job can start on open nodes, and on those of `available` that such jobs have whole.
    /// None if that is not enough.
    ///
    /// Candidates leave one after the other, those of low tiers and few nodes first, until the job fits. The one that left last is
    /// then the first, followed by those with most of the nodes that were chosen, and all is tried again.
    pub(super) fn find_preempting(
        &mut self,
        entry: QueueEntry<'_>,
        mut open: NodeSet,
        available: &NodeSet,
        counts: &NodeCounts,
    ) -> Option<Preempting> {
        if !self.has_candidates(entry) {
            return None;
        }
        let (site, now) = (self.site, self.state.preemption.now);
        let is_candidate = |running: &&RunningJob| site.makes_way(running, entry, now);
        let mut candidates: Vec<RunningJob> = self.state.in_use.running.iter().filter(is_candidate).cloned().collect();
        let whole = candidates.iter().filter(|running| running.is_whole).flat_map(|running| &running.grant);
        whole.map(|share| share.node).filter(|&node| available.has(node)).for_each(|node| open.insert(node));
        let used = self.used_without(entry);
        if open.count() < counts.least || !JobOnNodes::new(site, used, entry).may_hold(&open, counts) {
            return None;
        }
        sort_by_key(&mut candidates, |running| site.way_order(running));
        for orders in 0.. {
            let (last, grant) = self.leave_until_it_fits(entry, &open, counts, &candidates)?;
            let chosen = NodeSet::of(site.len(), grant.iter().map(|share| share.node));
            if orders > site.parameters.most_orders || candidates.len() <= orders + 1 {
                let needed = candidates[..=last].iter().filter(|running| running.meets(&chosen));
                return Some(Preempting { jobs: needed.map(|running| running.id).collect(), grant });
            }
            candidates[..=last].rotate_right(1);
            if !site.parameters.strict_order {
                let shared = |running: &RunningJob| running.grant.iter().filter(|share| chosen.has(share.node)).count();
                sort_by_key(&mut candidates[1..=last], |running| Reverse(shared(running)));
            }
        }
        None
    }

    /// Candidates leave in order until a job fits. Returns the place of the last that left, and what the job would get.
    fn leave_until_it_fits(
        &mut self,
        entry: QueueEntry<'_>,
        nodes: &NodeSet,
        counts: &NodeCounts,
        candidates: &[RunningJob],
    ) -> Option<(usize, NodeGrant)> {
        let site = self.site;
        let NodesState { in_use, weights, usable, future, .. } = &mut *self.state;
        future.copy(&in_use.nodes);
        for (at, running) in candidates.iter().enumerate() {
            if !running.meets(nodes) {
                continue;
            }
            future.leave(running, site);
            let on = JobOnNodes::new(site, future, entry);
            if on.may_hold(nodes, counts)
                && let Some(grant) = (NodeTest { on, weights, usable, busy_first: None }).run(nodes, counts)
                && grant.len() <= counts.most as usize
            {
                return Some((at, grant));
            }
        }
        None
    }

    /// Stops the jobs that have to make way for a job, or lets them run for some time more. The nodes of stopped jobs are completing,
    /// so that no job starts there in this pass. A job that has preempted others not long ago waits for them instead.
    pub(crate) fn preempt(&mut self, job: &SlurmJob, jobs: &[u64]) {
        let SlurmNodes { site, state, completing } = self;
        let now = state.preemption.now;
        let wait = site.parameters.kill_wait + MESSAGE_TIMEOUT;
        if state.preemption.preemptors.get(&job.number()).is_some_and(|&last| now - last < wait) {
            return;
        }
        for &id in jobs {
            let Some(running) = state.in_use.running.iter().find(|running| running.id == id) else { continue };
            let (running, grace) = (running.clone(), site.grace(running));
            let is_stopped = grace == 0 || running.grace_end.is_some_and(|_| now >= running.end);
            match (is_stopped, running.grace_end) {
                (true, _) => {
                    state.in_use.end(id, site);
                    running.grant.iter().for_each(|share| completing.insert(share.node));
                }
                (false, None) => state.grant_grace(id, grace, now, site),
                (false, Some(_)) => continue,
            }
            state.preemption.making_way.push(MakingWay { running, preemptor: job.id, is_stopped });
        }
        state.note_preemptor(job, now);
        state.preemption.in_progress.push(job.number());
        // Jobs may start earlier than it was found before.
        state.prospects.begin_pass(state.in_use.changes);
    }
}
