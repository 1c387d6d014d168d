//! The backfill pass: it reserves nodes for jobs in the order of the queue, and starts those that delay no reservation.

mod ahead;
mod plan;

use std::borrow::Cow;

use super::nodes::{Chosen, NodeCounts, NodeSet, Picked, QueueEntry, Reserved, SlurmPass, When, is_too_many, share_of};
use crate::machine::PreemptMode;
use crate::time::{Seconds, Time};
use ahead::Ahead;
use plan::BackfillPlan;

/// What becomes of an entry.
enum TriedEntry {
    Started,
    Reserved,
    PassedOver,
    /// Passed over, as any other job that asks for the same is.
    Hopeless,
}

/// How often a backfill pass looks at later and later times for one entry.
const MOST_TIMES: usize = 2000;

/// After how many seconds the daemon plans a job over a limit that blocks, if it knows no better time.
const UNKNOWN_START: Seconds = 500;

impl SlurmPass<'_, '_> {
    /// The backfill pass.
    pub fn backfill<'q>(&mut self, queue: impl Fn(usize) -> Option<QueueEntry<'q>>) {
        let site = self.nodes.site;
        let parameters = &site.parameters;
        self.nodes.begin_preemption(self.now);
        self.nodes.begin_pass();
        let mut plan = BackfillPlan::new(&self.nodes, self.now, self.unix_start);
        let first_end = self.nodes.state.in_use.first_end_after(self.now);
        self.nodes.state.holds_until = if self.nodes.completing.is_empty() { first_end } else { self.now };
        let mut ahead = Ahead::default();
        for at in 0.. {
            let Some(first) = queue(at) else { return };
            let partition = first.partition;
            if !self.reserves_all && !self.look_ahead(&mut ahead, at, &queue, &plan) {
                if at == 0 {
                    // No job fits what is free. Only an event can change that.
                    self.nodes.state.holds_until = Time::MAX;
                }
                return;
            }
            if plan.turns.is_void(first) {
                continue;
            }
            let mut task = 0;
            while let Some(entry) = plan.turns.next(first, &mut task) {
                let job = entry.job;
                if self.is_gone(job) || !(parameters.limits_block || self.limits.allows_job(entry)) {
                    break;
                }
                if is_too_many(&mut plan.of_user, job.user, parameters.most_per_user)
                    || is_too_many(&mut plan.of_partition, partition, parameters.most_per_partition)
                {
                    break;
                }
                if plan.tried >= parameters.most_tried {
                    return;
                }
                let Some(counts) = job.counts(&site.cluster, partition) else { break };
                plan.tried += 1;
                let tried = self.try_entry(entry, &counts, &mut plan);
                let is_last = parameters.most_started > 0 && self.started.len() >= parameters.most_started;
                if matches!(tried, TriedEntry::Started) && is_last {
                    return;
                }
                match tried {
                    TriedEntry::Started => plan.turns.start(first, task - 1),
                    TriedEntry::Reserved if plan.turns.reserve(first, parameters.array_reservations) => {}
                    _ => break,
                }
            }
        }
    }

    /// The plan of this pass is another one from this instant on: the planned end of a running job has come, a time that was beyond
    /// the window is inside it, or a job that is tried from then on meets another reservation before its limit.
    fn holds_before(&mut self, time: Time) {
        let holds_until = &mut self.nodes.state.holds_until;
        *holds_until = time.min(*holds_until);
    }

    /// Starts a job now or reserves nodes for it.
    fn try_entry(&mut self, entry: QueueEntry<'_>, counts: &NodeCounts, plan: &mut BackfillPlan) -> TriedEntry {
        let shape = (entry.job.kind, self.nodes.site.preemptor_class(entry), self.limit(&entry), entry.job.reservation);
        if !self.nodes.state.has_weights(&plan.weights) {
            // Jobs with GPUs have changed the order of nodes.
            plan.hopeless.clear();
            plan.weights.clone_from(&self.nodes.state.weights);
        }
        if plan.hopeless.contains(&shape) {
            return TriedEntry::Hopeless;
        }
        let tried = self.search(entry, counts, shape.2, plan);
        match tried {
            TriedEntry::Hopeless if !entry.job.has_gpus() => drop(plan.hopeless.insert(shape)),
            TriedEntry::Hopeless | TriedEntry::PassedOver => {}
            TriedEntry::Started | TriedEntry::Reserved => plan.hopeless.clear(),
        }
        tried
    }

    /// [`SlurmPass::try_entry`] without looking at other jobs of the same shape.
    fn search(
        &mut self,
        entry: QueueEntry<'_>,
        nodes: &NodeCounts,
        limit: Seconds,
        plan: &mut BackfillPlan,
    ) -> TriedEntry {
        let QueueEntry { job, partition } = entry;
        let (site, now) = (self.nodes.site, self.now);
        let parameters = &site.parameters;
        let is_planned = plan.planned.contains(&job.number());
        let reserved = plan.reserved.get(&partition).copied().unwrap_or(0);
        let is_partition_full = parameters.most_reserved > 0 && reserved >= parameters.most_reserved;
        let only_now = self.is_young(job) || is_planned || is_partition_full;
        let passed_over = if only_now { TriedEntry::PassedOver } else { TriedEntry::Hopeless };
        let earliest = self.nodes.earliest(entry, nodes, now);
        let is_beyond = site.pool.is_none() && earliest > now.saturating_add(parameters.window);
        if earliest > now && (only_now || is_beyond) {
            self.holds_before(if only_now { Time::MAX } else { earliest - parameters.window });
            return passed_over;
        }
        // The same job may be planned otherwise as soon as its first interval, from now to its limit, meets another reservation.
        if let Some(change) = plan.space.next_change(now + limit) {
            self.holds_before(change - limit);
        }
        let possible = site.pool.is_none().then(|| self.nodes.candidates(entry, true));
        let mut of = site.pool.is_none().then_some(Cow::Borrowed(&site.partition_nodes[partition]));
        let is_reserved = !self.nodes.state.closed.reservations.is_empty() || job.reservation.is_some();
        if is_reserved {
            self.holds_before(self.nodes.state.closed.same_until(now, limit));
        }
        let mut from = now;
        for _ in 0..MOST_TIMES {
            let mut has_taken = false;
            if is_reserved {
                let Ok((mut nodes, taken)) = self.nodes.unreserved(entry, &mut from, true) else { return passed_over };
                if site.pool.is_none() {
                    nodes.keep(&site.partition_nodes[partition]);
                }
                (of, has_taken) = (Some(Cow::Owned(nodes)), taken);
            }
            if from > plan.space.end() || from == plan.space.end() && site.pool.is_none() {
                self.holds_before(now);
            }
            if from > plan.space.end() {
                return passed_over;
            }
            let mut later = plan.space.next_release(of.as_deref(), from, from + limit);
            if has_taken {
                let end = self.nodes.state.closed.after_next_end(from, parameters.resolution, self.unix_start);
                later = later.into_iter().chain(end.filter(|&end| end < plan.space.end())).min();
            }
            // If the job cannot start before the next release of reserved nodes, it is tried from there at once.
            let mut found = None;
            if later.is_none_or(|later| earliest <= later)
                && plan.space.free_in(from, from + limit, nodes.least, &mut plan.free)
            {
                if let Some(possible) = &possible {
                    plan.free.keep(possible);
                }
                if let Some(open) = of.as_deref().filter(|_| is_reserved) {
                    plan.free.keep(open);
                }
                // What begins after the next release is not used.
                let (unix_start, until) = (self.unix_start, later.unwrap_or(Time::MAX));
                if site.pool.is_some() && !is_reserved || plan.free.count() >= nodes.least {
                    found = self.nodes.will_run(entry, &plan.free, nodes, When { now, unix_start, until, only_now });
                }
            }
            let Some(opening) = found else {
                match later {
                    Some(later) if !only_now => from = later,
                    _ => return passed_over,
                }
                continue;
            };
            if opening.is_guess {
                self.holds_before(now);
            }
            let mut start = opening.start.max(from);
            if start <= now && !self.nodes.completing.is_empty() {
                let share = self.nodes.share(entry, &opening, &plan.free);
                if self.nodes.completing.meets_share(&share) {
                    (start, later) = (now + 1, None);
                }
            }
            if start <= now {
                let picked = self.nodes.pick(entry, &plan.free, now);
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
                        // The daemon forgets those that may make way.
                        if self.nodes.is_whole(entry) && site.preempt_mode_of(entry) == PreemptMode::Off {
                            let end = plan.space.floor(now + limit);
                            plan.space.reserve(Time::MIN, end, &share_of(&grant));
                        }
                        self.start(entry, grant, Some(&plan.free));
                        self.holds_before(now + limit);
                        self.find_falls(plan);
                        return TriedEntry::Started;
                    }
                    (_, Some(false)) if !parameters.limits_block => return TriedEntry::PassedOver,
                    (_, Some(false)) => {
                        self.holds_before(now);
                        start = later.unwrap_or(now + UNKNOWN_START);
                    }
                    (picked, _) => {
                        if let Picked::Preempt(found) = picked {
                            self.nodes.preempt(job, &found.jobs);
                            plan.hopeless.clear();
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
            if start > now + parameters.window {
                self.holds_before(start - parameters.window);
                return passed_over;
            }
            let (begin, end) = (plan.space.floor(start), plan.space.floor(start + limit));
            let share = self.nodes.share(entry, &opening, &plan.free);
            if start > now && !plan.space.is_free(begin, end, &share) {
                from = start;
                continue;
            }
            if end >= plan.space.end() {
                // On a pool one that begins at the end of the window is looked at again only when its own end is inside.
                let is_inside = begin < plan.space.end() || site.pool.is_some();
                self.holds_before(if is_inside { end - parameters.window } else { now });
            }
            if !parameters.limits_block && !self.limits.allows(entry, Chosen::Later(&opening.grant)) {
                return TriedEntry::PassedOver;
            }
            if self.reserves_all {
                let nodes = NodeSet::of(site.len(), opening.grant.iter().map(|share| share.node));
                self.reserved.push(Reserved { id: job.id, partition, start, nodes });
            }
            if parameters.most_reserved > 0 && is_too_many(&mut plan.reserved, partition, parameters.most_reserved) {
                return TriedEntry::PassedOver;
            }
            if !is_planned {
                plan.space.reserve(begin, end, &share);
            }
            if parameters.one_reservation {
                plan.planned.insert(job.number());
            }
            if self.nodes.state.in_use.pool.as_ref().is_some_and(|pool| pool.idle().meets_share(&share)) {
                self.find_falls(plan);
            }
            return TriedEntry::Reserved;
        }
        TriedEntry::PassedOver
    }

    /// On a pool, finds when reservations take idle processors.
    fn find_falls(&self, plan: &mut BackfillPlan) {
        if let Some(pool) = &self.nodes.state.in_use.pool {
            plan.space.falls(self.now, pool.idle(), &mut plan.falls);
        }
    }
}

#[cfg(test)]
mod tests;
