//! Looking ahead in the queue: a backfill pass ends when none of the entries that are left may start, because later reservations
//! have no effect. KTH takes 2.2 times as long without; the plan that `reservations` shows is made without.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::plan::BackfillPlan;
use crate::schedule::slurm::nodes::{NodeSet, QueueEntry, SlurmPass, is_too_many};
use crate::time::Seconds;

/// The next entry that may start. No reservation is taken back, so that one which cannot start never can in this pass.
#[derive(Default)]
pub(super) struct Ahead {
    at: usize,
    /// How many entries have been counted, and how many of them are certainly tried.
    counted: usize,
    tried: usize,
    of_user: BTreeMap<i64, usize>,
    of_partition: BTreeMap<usize, usize>,
    /// By what is asked for and by class: jobs with this limit or a longer one cannot start, until other jobs have made way. The first
    /// 3,000 jobs of a week of UB's medium cluster under its own slurm.conf take 1.4 times as long without.
    refused: FxHashMap<(usize, usize), Seconds>,
    /// How many jobs wait for others that make way in this pass.
    preempting: usize,
    /// An entry that may start on these nodes, after this change of what is used. A pass asks for the same entry after each
    /// reservation, and most are of other nodes or times. The first 4,000 jobs of that week with 1.5 times their load take 1.11 times as
    /// long without.
    known: Option<(u64, usize, u64, NodeSet)>,
}

impl SlurmPass<'_, '_> {
    /// Whether an entry from this one on may start.
    pub(super) fn look_ahead<'q>(
        &mut self,
        ahead: &mut Ahead,
        from: usize,
        queue: &impl Fn(usize) -> Option<QueueEntry<'q>>,
        plan: &BackfillPlan,
    ) -> bool {
        let parameters = &self.nodes.site.parameters;
        let preempting = self.nodes.preempting();
        if std::mem::replace(&mut ahead.preempting, preempting) != preempting {
            ahead.refused.clear();
        }
        // An entry that is looked at is tried, one of an array for at least one task, if nothing else can forbid that.
        let is_sure = self.limits.is_empty() && !self.nodes.site.preempts();
        while let Some(entry) = queue(ahead.at) {
            if is_sure && entry.job.partitions.len() == 1 && ahead.counted <= ahead.at {
                ahead.counted = ahead.at + 1;
                if is_too_many(&mut ahead.of_user, entry.job.user, parameters.most_per_user)
                    || is_too_many(&mut ahead.of_partition, entry.partition, parameters.most_per_partition)
                {
                    ahead.at += 1;
                    continue;
                }
                ahead.tried += 1;
                if ahead.tried > parameters.most_tried {
                    return false;
                }
            }
            if ahead.at >= from && self.may_start(entry, plan, ahead) {
                return true;
            }
            ahead.at += 1;
        }
        false
    }

    /// Whether enough of the idle processors of a pool are open to an entry.
    fn has_open(&self, entry: QueueEntry<'_>, idle: &NodeSet) -> bool {
        let open = self.nodes.open_on_pool(entry, &self.nodes.up(), self.now);
        open.is_ok_and(|(open, _)| idle.count_common(&open) >= entry.job.min_nodes)
    }

    /// Whether an entry may start now, beside what is reserved. If not, it does not start in this pass.
    fn may_start(&mut self, entry: QueueEntry<'_>, plan: &BackfillPlan, ahead: &mut Ahead) -> bool {
        let Some(entry) = plan.turns.shortest(entry) else { return false };
        let QueueEntry { job, partition } = entry;
        let (site, to) = (self.nodes.site, self.now + self.limit(&entry));
        if let Some(pool) = &self.nodes.state.in_use.pool {
            let taken = plan.falls.partition_point(|(from, _)| *from <= to);
            let idle = if taken > 0 { plan.falls[taken - 1].1 } else { pool.idle_count() };
            let is_open = || self.nodes.state.closed.is_empty() || self.has_open(entry, pool.idle());
            return job.min_nodes <= idle && !self.is_gone(job) && is_open();
        }
        let (limit, request) = (to - self.now, (job.kind, site.preemptor_class(entry)));
        if self.is_gone(job) || ahead.refused.get(&request).is_some_and(|&refused| refused <= limit) {
            return false;
        }
        if !(site.parameters.limits_block || self.limits.allows_job(entry)) {
            return false;
        }
        let Some(counts) = job.counts(&site.cluster, partition) else { return false };
        if !self.nodes.may_start(entry, &counts) {
            ahead.refused.insert(request, 0);
            return false;
        }
        let mut free = site.all.clone();
        plan.space.free_in(self.now, to, 0, &mut free);
        free.keep(&self.nodes.candidates(entry, true));
        if job.reservation.is_some() || !self.nodes.state.closed.reservations.is_empty() {
            let Ok((open, _)) = self.nodes.unreserved(entry, &mut { self.now }, false) else { return false };
            free.keep(&open);
        }
        let change = self.nodes.state.in_use.changes;
        let is_known = |known: &(u64, usize, u64, NodeSet)| {
            (known.0, known.1, known.2) == (job.id, partition, change) && known.3 == free
        };
        if ahead.known.as_ref().is_some_and(is_known) {
            return true;
        }
        let may_start = self.nodes.may_start_on(entry, &free, &counts);
        if !may_start {
            ahead.refused.insert(request, limit);
        }
        ahead.known = may_start.then_some((job.id, partition, change, free));
        may_start
    }
}
