//! What outages close: nodes that are down or drained, and the reservations that maintenance and reserved parts are under Slurm. Jobs
//! stop where nodes go down, and own jobs of a reservation that is long over.

use super::Slurm;
use crate::job::{JobId, Submission};
use crate::machine::{Outage, OutageKind, OutageLedger};
use crate::schedule::machine::Machine;
use crate::schedule::policy::{NeverStarts, Stop};
use crate::schedule::slurm::nodes::{NodeSet, SiteReservation};
use crate::time::Time;

/// What is kept of outages from pass to pass.
#[derive(Default)]
pub(super) struct Closing {
    /// After which change of the outages the closed nodes were found, and the outages that were known then.
    changes: u64,
    known: Vec<u32>,
    /// Those that ended when the closed nodes were found.
    ended: Vec<u32>,
    /// When a node answers again that has come back, one second after that.
    answers: Option<Time>,
    /// On a pool, whether some of what is out is in use: which processors these are is open until jobs have left.
    is_in_use: bool,
    /// The waiting jobs in the line that name a reservation.
    in_line: Vec<(JobId, Submission)>,
    /// Those whose reservation has not begun, or is over: these are held for ever.
    outside: Vec<(JobId, Submission)>,
    /// Those that are too large for their reservation.
    too_large: Vec<JobId>,
    /// The running jobs of reservations, and when these are over.
    running: Vec<(JobId, Time)>,
}

impl Closing {
    /// When the closed nodes change though nothing is announced, begins or ends.
    pub fn next(&self) -> Option<Time> {
        self.answers
    }

    /// When the first running job has outlived its reservation.
    pub fn next_end(&self) -> Option<Time> {
        self.running.iter().map(|(_, end)| *end).filter(|&end| end < Time::MAX).map(|end| end + 1).min()
    }

    /// A job waits no more.
    pub fn leave_line(&mut self, id: JobId) {
        self.in_line.retain(|(own, _)| *own != id);
        self.outside.retain(|(own, _)| *own != id);
        self.too_large.retain(|own| *own != id);
    }

    /// A running job has left.
    pub fn end(&mut self, id: JobId) {
        self.running.retain(|(own, _)| *own != id);
    }
}

/// Whether nothing starts there, and it is no reservation.
fn is_out(outage: &Outage) -> bool {
    matches!(outage.kind, OutageKind::Down | OutageKind::Drain)
}

impl Slurm {
    /// Brings up to date what is closed at this instant. Comes before the passes.
    pub(super) fn close(&mut self, view: &Machine) {
        let Some(outages) = &view.outages else { return };
        let has_changed = outages.changes() != self.closing.changes;
        if !has_changed && !self.closing.is_in_use && self.closing.answers.is_none_or(|time| time > view.now) {
            return;
        }
        let before = self.state.closed.clone();
        let news = self.find_closed(view, outages);
        let closed = &self.state.closed;
        let is_same = closed.out == before.out && closed.reservations == before.reservations && !news;
        // Also if nothing else changes: one of two reservations of a name is over, which is closed for this second still.
        if has_changed || !is_same {
            self.move_own_jobs(view);
        }
        if is_same {
            return;
        }
        // What is changed by an administrator queues a main pass. What begins or ends with time does not, but backfill passes see it.
        self.times.has_event |= news;
        (self.revisit, self.needs_full, self.tried) = (view.now, true, Default::default());
        self.last.forget();
    }

    /// Finds out which nodes are closed, and stops the jobs on those that go down. Returns whether the administrator has done something.
    fn find_closed(&mut self, view: &Machine, outages: &OutageLedger) -> bool {
        let (now, list) = (view.now, &outages.outages().list);
        let known: Vec<u32> = outages.known().map(|(at, _)| at).collect();
        // A node that has come back answers a second later. A job may start in the second in which its reservation ends.
        let old = std::mem::take(&mut self.closing.known);
        let mut ended = std::mem::take(&mut self.closing.ended);
        ended.extend(old.iter().filter(|at| !known.contains(at)));
        ended.retain(|at| list[*at as usize].end == now);
        let outage = |at: &u32| &list[*at as usize];
        let begins = |at: &&u32| is_out(outage(at)) && outage(at).start == now;
        let has_changed = outages.changes() != self.closing.changes;
        let news = has_changed
            && (known.iter().any(|at| begins(&at))
                || known.iter().any(|at| !is_out(outage(at)) && !old.contains(at))
                || ended.iter().any(|at| is_out(outage(at))));
        self.closing.answers = (!ended.is_empty()).then_some(now + 1);
        self.closing.changes = outages.changes();
        let mut all: Vec<u32> = known.iter().chain(&ended).copied().collect();
        all.sort_unstable();
        let is_down = |outage: &Outage| outage.kind == OutageKind::Down;
        if has_changed && known.iter().any(|at| begins(&at) && is_down(outage(at))) {
            for id in view.jobs_that_stop(is_down) {
                self.stop_on_node(id, outages.outages().kills, now);
            }
        }
        let out = all.iter().map(|&at| outage(&at)).filter(|outage| is_out(outage) && outage.start <= now);
        let reserved: Vec<(u32, &Outage)> =
            all.iter().map(|&at| (at, outage(&at))).filter(|(_, outage)| !is_out(outage)).collect();
        match self.site.pool {
            Some(procs) => {
                // Nobody names a maintenance of a pool: one that has ended has no part any more.
                let is_there = |outage: &Outage| outage.kind == OutageKind::Reserved || outage.end > now;
                let reserved: Vec<_> = reserved.into_iter().filter(|(_, outage)| is_there(outage)).collect();
                let gone: u64 = out.map(|outage| u64::from(outage.procs)).sum();
                self.close_processors(procs, gone.min(procs.into()) as u32, &reserved, now);
            }
            None => {
                let count = self.site.len();
                let out = NodeSet::of(count, out.flat_map(|outage| outage.nodes.iter().copied()));
                self.state.closed.out = Some(out).filter(|out| !out.is_empty());
                let nodes = |outage: &Outage| NodeSet::of(count, outage.nodes.iter().copied());
                self.state.closed.reservations =
                    reserved.iter().map(|&(at, outage)| reservation(at, outage, nodes(outage), count)).collect();
            }
        }
        (self.closing.known, self.closing.ended) = (known, ended);
        news
    }

    /// The processors of a pool that are closed. Which these are nobody knows: idle ones first, so that jobs start on no more than are
    /// left. A reservation has those that are not in use when it begins, as far as limits say that.
    fn close_processors(&mut self, procs: u32, gone: u32, reserved: &[(u32, &Outage)], now: Time) {
        let Some(pool) = &self.state.in_use.pool else { return };
        let all = self.site.all.clone();
        let like = |set: &NodeSet| set.to_kind(procs, all.is_bits());
        let idle = like(pool.idle());
        // So many of these, the first ones first.
        let choose = |count: u32, sets: &[&NodeSet], taken: &NodeSet| {
            let (mut chosen, mut left) = (all.clone(), count);
            chosen.take_out(&all);
            for set in sets {
                let mut own = (*set).clone();
                own.take_out(taken);
                own.take_out(&chosen);
                let own = own.lowest(procs, left);
                left -= own.count();
                chosen.add(&own);
            }
            chosen
        };
        let mut taken = all.clone();
        taken.take_out(&all);
        let old = std::mem::take(&mut self.state.closed.reservations);
        let out_before = self.state.closed.out.take().unwrap_or_else(|| taken.clone());
        let out = choose(gone, &[&out_before.common(&idle), &idle, &all], &taken);
        taken.add(&out);
        let mut is_in_use = !out.is_within(&idle);
        self.state.closed.out = Some(out).filter(|out| !out.is_empty());
        let mut made: Vec<SiteReservation> = Vec::new();
        // What has begun comes first.
        let mut order: Vec<&(u32, &Outage)> = reserved.iter().collect();
        order.sort_by_key(|(at, outage)| (outage.start > now, outage.kind != OutageKind::Maintenance, *at));
        for &&(at, outage) in &order {
            let is_maintenance = outage.kind == OutageKind::Maintenance;
            let before =
                old.iter().find(|own| own.number == at).map_or_else(|| choose(0, &[], &taken), |own| own.nodes.clone());
            let mut others = taken.clone();
            for other in made.iter().filter(|other| other.start < outage.end && other.end > outage.start) {
                others.add(&other.nodes);
            }
            let nodes = if is_maintenance && outage.start <= now {
                choose(outage.procs, &[&before.common(&idle), &idle, &all], &others)
            } else {
                let mut ends_before = all.clone();
                ends_before.take_out(&like(&pool.in_use_from(outage.start)));
                choose(outage.procs, &[&before, &ends_before, &all], &others)
            };
            is_in_use |= is_maintenance && outage.start <= now && !nodes.is_within(&idle);
            made.push(reservation(at, outage, nodes, procs as usize));
        }
        made.sort_by_key(|own| own.number);
        (self.state.closed.reservations, self.closing.is_in_use) = (made, is_in_use);
    }

    /// A node goes down on which a job runs, or its reservation is over: the job waits again, or has failed.
    fn stop_on_node(&mut self, id: JobId, kills: bool, now: Time) {
        let requeues = !kills && self.settings.parameters.requeues;
        match self.state.in_use.end(id.0.into(), &self.site) {
            Some(running) => {
                let is_requeued = requeues && !running.no_requeue;
                self.stop(running, is_requeued, now);
            }
            // On a pool it has left now.
            None => {
                self.closing.end(id);
                self.stops.push(Stop { id, is_requeued: requeues });
            }
        }
    }

    /// Stops the jobs of reservations that are over for longer than they may run on.
    pub(super) fn stop_overdue(&mut self, now: Time) {
        if self.closing.next_end().is_none_or(|end| end > now) || self.times.main.limit_check(now) != Some(now) {
            return;
        }
        let over: Vec<JobId> = self.closing.running.iter().filter(|(_, end)| *end < now).map(|(id, _)| *id).collect();
        over.into_iter().for_each(|id| self.stop_on_node(id, true, now));
    }

    /// The reservation that a job names: the first of its name that is not over.
    pub(super) fn reservation_of(&self, id: JobId, view: &Machine) -> Option<u32> {
        let ledger = view.outages.as_deref()?;
        let (all, is_pool) = (ledger.outages(), self.site.pool.is_some());
        let is_open = |at: &&u32| {
            let outage = &all.list[**at as usize];
            // Of maintenance on a pool nobody has a part.
            let is_own = outage.kind == OutageKind::Reserved || outage.kind == OutageKind::Maintenance && !is_pool;
            is_own && outage.end >= view.now
        };
        let named = all.class(ledger.job(id).class).named.iter().filter(is_open);
        named
            .min_by_key(|at| {
                let outage = &all.list[**at as usize];
                (outage.end <= view.now, outage.start)
            })
            .copied()
    }

    /// A job joins the line, unless it names a reservation that is not there. Returns whether it may.
    pub(super) fn may_join(&mut self, id: JobId, submission: &Submission, number: Option<u32>, now: Time) -> bool {
        let may = self.state.closed.admits(number, now);
        if number.is_some() {
            let list = if may { &mut self.closing.in_line } else { &mut self.closing.outside };
            list.push((id, *submission));
        }
        may
    }

    /// Jobs whose reservation begins or ends join the line, or leave it.
    fn move_own_jobs(&mut self, view: &Machine) {
        for (id, submission) in std::mem::take(&mut self.closing.outside) {
            match self.reservation_of(id, view) {
                Some(number) if self.state.closed.admits(Some(number), view.now) => {
                    self.newcomers.push((id, submission))
                }
                _ => self.closing.outside.push((id, submission)),
            }
        }
        for (id, submission) in self.closing.in_line.clone() {
            let job = self.line_places.get(&id).and_then(|&place| self.line.job(place, id.0.into()));
            let Some(number) = job.map(|job| job.reservation) else { continue };
            let next = self.reservation_of(id, view);
            if next == number && self.state.closed.admits(number, view.now) {
                continue;
            }
            self.withdraw(id);
            match next {
                // The next one of its name.
                Some(_) => self.newcomers.push((id, submission)),
                None => self.closing.outside.push((id, submission)),
            }
        }
    }

    /// A job leaves the line without a start.
    fn withdraw(&mut self, id: JobId) {
        if let Some((job, _)) = self.leave_line(id) {
            self.standing.withdraw(&job);
        }
    }

    /// Jobs that main passes have found to be too large for their reservation never start.
    pub(super) fn hold_too_large(&mut self) {
        for id in self.state.closed.take_held() {
            let id = JobId(id as u32);
            self.withdraw(id);
            self.closing.too_large.push(id);
        }
    }

    /// A job of a reservation starts. It may run on for some time when the reservation is over.
    pub(super) fn note_start(&mut self, id: JobId, number: Option<u32>) {
        if let Some(own) = number.and_then(|number| self.state.closed.reservation(number)) {
            self.closing.running.push((id, own.end.saturating_add(self.settings.reservation_over_run)));
        }
    }

    /// Why a job that names a reservation is held for ever.
    pub(super) fn why_held(&self, id: JobId, view: &Machine) -> Option<NeverStarts> {
        let is_too_large = self.closing.too_large.contains(&id);
        if !is_too_large && !self.closing.outside.iter().any(|(own, _)| *own == id) {
            return None;
        }
        let ledger = view.outages.as_deref()?;
        let named = ledger.outages().class(ledger.job(id).class).named.last()?;
        let why = if is_too_large { "is too small for the job" } else { "was over before the job could start" };
        let cause = format!("{} {why}: Slurm holds it for ever", ledger.outages().list[*named as usize].in_words());
        Some(NeverStarts { cause, asks: String::new() })
    }
}

fn reservation(number: u32, outage: &Outage, nodes: NodeSet, count: usize) -> SiteReservation {
    SiteReservation {
        number,
        start: outage.start,
        end: outage.end,
        has_all: nodes.count() as usize == count,
        nodes,
        is_maintenance: outage.kind == OutageKind::Maintenance,
        overlaps: false,
        is_flexible: false,
        of_partition: None,
    }
}
