//! The backfill pass: it reserves nodes for jobs in the order of the queue, and starts those that delay no reservation.

use std::collections::{BTreeMap, BTreeSet};

use super::node_set::NodeSet;
use super::nodes::{Chosen, NodeCounts, Picked, QueueEntry, Reserved, SlurmPass, When, is_too_many, share_of};
use super::space::Space;
use crate::time::{Seconds, Time};

/// What becomes of an entry.
enum TriedEntry {
    Started,
    Reserved,
    PassedOver,
    /// Passed over, as any other job that asks for the same is.
    Hopeless,
}

/// What decides about a job besides its owner and its age: what it asks for (on a pool its processors), its partition and its limit.
type JobShape = (usize, usize, Seconds);

/// Attempts on a pool that need not be made again: a job of at least as many processors for at least as long fails in all of them
/// too, and is tried from `from`.
struct FailedAttempt {
    shape: JobShape,
    from: Time,
}

/// What a pass keeps from entry to entry.
struct BackfillPlan {
    space: Space,
    tried: usize,
    of_user: BTreeMap<i64, usize>,
    of_partition: BTreeMap<usize, usize>,
    /// By partition: its reservations.
    reserved: BTreeMap<usize, usize>,
    /// Jobs that have a reservation, if one is all that they may have.
    planned: BTreeSet<u64>,
    /// Scratch: the nodes that a job may use.
    free: NodeSet,
    /// On a pool, when reservations take idle processors: each instant at which fewer are left, with their number.
    falls: Vec<(Time, u32)>,
    /// Shapes of jobs that got nothing since a job last started or got a reservation. Until then another such job gets nothing either.
    hopeless: Vec<JobShape>,
    failures: Vec<FailedAttempt>,
}

/// The next entry that may start. No reservation is taken back, so that one which cannot start never can in this pass.
#[derive(Default)]
struct Ahead {
    at: usize,
    /// How many entries have been counted, and how many of them are certainly tried.
    counted: usize,
    tried: usize,
    of_user: BTreeMap<i64, usize>,
    of_partition: BTreeMap<usize, usize>,
    /// An entry that may start on these nodes, after this change of what is used. A pass asks for the same entry after each
    /// reservation, and most are of other nodes or times.
    known: Option<(u64, usize, u64, NodeSet)>,
}

/// How often a backfill pass looks at later and later times for one entry.
const MOST_TIMES: usize = 2000;

/// After how many seconds the daemon plans a job over a limit that blocks, if it knows no better time.
const UNKNOWN_START: Seconds = 500;

impl BackfillPlan {
    /// When a job is to be tried first.
    fn first_attempt(&self, (kind, _, limit): JobShape, now: Time) -> Time {
        let known = self.failures.iter().filter(|failure| failure.shape.0 <= kind && failure.shape.2 <= limit);
        known.map(|failure| failure.from).max().unwrap_or(now)
    }

    /// All attempts of a job before `from` have failed.
    fn fails_before(&mut self, shape: JobShape, from: Time) {
        self.failures.retain(|failure| failure.shape != shape);
        self.failures.push(FailedAttempt { shape, from });
    }

    /// After a reservation that begins then.
    fn forget_failures(&mut self, begin: Time) {
        if !self.failures.is_empty() {
            // Nothing has changed before the reservation. At its begin there may be no release any more.
            let is_release = self.space.next_release(None, begin - 1, begin - 1) == Some(begin);
            self.failures.retain(|failure| failure.from < begin || failure.from == begin && is_release);
        }
    }
}

impl SlurmPass<'_, '_> {
    /// The backfill pass.
    pub fn backfill<'q>(&mut self, queue: impl Fn(usize) -> Option<QueueEntry<'q>>) {
        let site = self.nodes.site;
        let parameters = &site.parameters;
        self.nodes.begin_preemption(self.now);
        self.nodes.begin_pass();
        let all = self.nodes.state.in_use.pool.as_ref().map_or_else(|| site.all.clone(), |pool| pool.all());
        let rounding = (parameters.resolution, self.unix_start);
        let mut plan = BackfillPlan {
            free: all.clone(),
            space: Space::new(all, self.now, parameters.window, rounding, site.pool.is_none()),
            tried: 0,
            of_user: BTreeMap::new(),
            of_partition: BTreeMap::new(),
            reserved: BTreeMap::new(),
            planned: BTreeSet::new(),
            falls: Vec::new(),
            hopeless: Vec::new(),
            failures: Vec::new(),
        };
        let first_end = self.nodes.state.in_use.first_end_after(self.now);
        self.nodes.state.holds_until = if self.nodes.completing.is_empty() { first_end } else { self.now };
        // Which array had a reservation last, and how many; in which partition arrays have started.
        let mut in_a_row: (Option<u64>, u32) = (None, 0);
        let mut array_partition: BTreeMap<u64, usize> = BTreeMap::new();
        let mut ahead = Ahead::default();
        for at in 0.. {
            let Some(entry) = queue(at) else { return };
            let QueueEntry { job, partition } = entry;
            if !self.reserves_all && !self.look_ahead(&mut ahead, at, &queue, &plan) {
                if at == 0 {
                    // No job fits what is free. Only an event can change that.
                    self.nodes.state.holds_until = Time::MAX;
                }
                return;
            }
            loop {
                let other = array_partition.get(&job.id).is_some_and(|&other| other != partition);
                if self.is_gone(job) || other || !(parameters.limits_block || self.limits.allows_job(entry)) {
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
                let Some(array) = self.arrays.get(&job.id) else { break };
                match tried {
                    TriedEntry::PassedOver | TriedEntry::Hopeless => break,
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

    /// Whether an entry from this one on may start.
    fn look_ahead<'q>(
        &mut self,
        ahead: &mut Ahead,
        from: usize,
        queue: &impl Fn(usize) -> Option<QueueEntry<'q>>,
        plan: &BackfillPlan,
    ) -> bool {
        let parameters = &self.nodes.site.parameters;
        // An entry that is looked at is tried, if nothing else can forbid that.
        let is_sure = self.limits.is_empty() && self.arrays.is_empty() && !self.nodes.site.preempts();
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
            if ahead.at >= from && self.may_start(&entry, plan, &mut ahead.known) {
                return true;
            }
            ahead.at += 1;
        }
        false
    }

    /// Whether an entry may start now, beside what is reserved. If not, it does not start in this pass.
    fn may_start(
        &mut self,
        entry: &QueueEntry<'_>,
        plan: &BackfillPlan,
        known: &mut Option<(u64, usize, u64, NodeSet)>,
    ) -> bool {
        let QueueEntry { job, partition } = *entry;
        let (site, to) = (self.nodes.site, self.now + self.limit(entry));
        if let Some(pool) = &self.nodes.state.in_use.pool {
            let taken = plan.falls.partition_point(|(from, _)| *from <= to);
            let idle = if taken > 0 { plan.falls[taken - 1].1 } else { pool.idle_count() };
            return job.min_nodes <= idle && !self.is_gone(job);
        }
        let Some(counts) = job.counts(&site.cluster, partition) else { return false };
        if !self.nodes.may_start(*entry, &counts) || self.is_gone(job) {
            return false;
        }
        let mut free = site.all.clone();
        plan.space.free_in(self.now, to, 0, &mut free);
        free.keep(&self.nodes.candidates(*entry, true));
        let change = self.nodes.state.in_use.changes;
        let is_known = |known: &(u64, usize, u64, NodeSet)| {
            (known.0, known.1, known.2) == (job.id, partition, change) && known.3 == free
        };
        if known.as_ref().is_some_and(is_known) {
            return true;
        }
        let may_start = self.nodes.may_start_on(*entry, &free, &counts);
        *known = may_start.then_some((job.id, partition, change, free));
        may_start
    }

    /// The plan of this pass is another one from this instant on: the planned end of a running job has come, a time that was beyond
    /// the window is inside it, or a job that is tried from then on meets another reservation before its limit.
    fn holds_before(&mut self, time: Time) {
        let holds_until = &mut self.nodes.state.holds_until;
        *holds_until = time.min(*holds_until);
    }

    /// Starts a job now or reserves nodes for it.
    fn try_entry(&mut self, entry: QueueEntry<'_>, counts: &NodeCounts, plan: &mut BackfillPlan) -> TriedEntry {
        let shape = (entry.job.kind, entry.partition, self.limit(&entry));
        if plan.hopeless.contains(&shape) {
            return TriedEntry::Hopeless;
        }
        let tried = self.search(entry, counts, shape, plan);
        match tried {
            TriedEntry::Hopeless if self.nodes.site.pool.is_some() => plan.hopeless.push(shape),
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
        shape: JobShape,
        plan: &mut BackfillPlan,
    ) -> TriedEntry {
        let QueueEntry { job, partition } = entry;
        let (site, now, limit) = (self.nodes.site, self.now, shape.2);
        let parameters = &site.parameters;
        let is_planned = plan.planned.contains(&job.id);
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
        let of = site.pool.is_none().then_some(&site.partition_nodes[partition]);
        let mut from = plan.first_attempt(shape, now);
        // Whether only the number of nodes made attempts fail. With fewer of them free, other reasons may vanish.
        let mut is_short = site.pool.is_some();
        for _ in 0..MOST_TIMES {
            if from > plan.space.end() || from == plan.space.end() && site.pool.is_none() {
                self.holds_before(now);
            }
            if from > plan.space.end() {
                return passed_over;
            }
            let mut later = plan.space.next_release(of, from, from + limit);
            // If the job cannot start before the next release of reserved nodes, it is tried from there at once.
            let mut found = None;
            if later.is_none_or(|later| earliest <= later)
                && plan.space.free_in(from, from + limit, nodes.least, &mut plan.free)
            {
                if let Some(possible) = &possible {
                    plan.free.keep(possible);
                }
                // What begins after the next release is not used.
                let (unix_start, until) = (self.unix_start, later.unwrap_or(Time::MAX));
                if site.pool.is_some() || plan.free.count() >= nodes.least {
                    found = self.nodes.will_run(entry, &plan.free, nodes, When { now, unix_start, until, only_now });
                }
            }
            let Some(opening) = found else {
                match later {
                    Some(later) if !only_now => from = later,
                    _ => return passed_over,
                }
                if is_short {
                    plan.fails_before(shape, from);
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
                let picked = self.nodes.pick(entry, &plan.free);
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
                (from, is_short) = (later, false);
                continue;
            }
            if start > now + parameters.window {
                self.holds_before(start - parameters.window);
                return passed_over;
            }
            let (begin, end) = (plan.space.floor(start), plan.space.floor(start + limit));
            let share = self.nodes.share(entry, &opening, &plan.free);
            if start > now && !plan.space.is_free(begin, end, &share) {
                (from, is_short) = (start, false);
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
                plan.planned.insert(job.id);
            }
            plan.forget_failures(begin);
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

/// Passes of a real Slurm, made again from the state that was recorded before each of them. `tests/slurm/README.md` says how the
/// records were made.
#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::path::{Path, PathBuf};

    use serde::Deserialize;
    use serde::de::IgnoredAny;

    use super::*;
    use crate::job::JobId;
    use crate::schedule::catalog;
    use crate::schedule::slurm::conf::SlurmConf;
    use crate::schedule::slurm::node_set::Share;
    use crate::schedule::slurm::nodes::{NodesState, SiteLimits, SlurmJob, SlurmNodes, SlurmSite};
    use crate::schedule::slurm::releases::Release;
    use crate::schedule::slurm::runs::Run;
    use crate::schedule::slurm::settings::Settings;

    #[derive(Deserialize)]
    struct SlurmRecord {
        t0: Time,
        conf: Vec<String>,
        jobs: Vec<RecordedJob>,
        events: Vec<RecordedEvent>,
    }

    #[derive(Deserialize)]
    struct RecordedJob {
        id: u32,
        nodes: u32,
        limit: Seconds,
    }

    /// `[seconds, kind]`, `[seconds, kind, job]` or `[seconds, kind, job, nodes]`.
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum RecordedEvent {
        Pass(f64, String),
        Job(IgnoredAny, String, u32),
        Start(f64, String, u32, Vec<u32>),
    }

    /// The passes of one kind: how many were made while jobs waited, and in how many of them the same jobs started.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    struct Passes {
        all: u32,
        same: u32,
    }

    impl Passes {
        fn add(&mut self, is_same: bool) {
            self.all += 1;
            self.same += u32::from(is_same);
        }
    }

    /// The runs of consecutive nodes; nodes are numbered from 1 in the record.
    fn share(nodes: &[u32]) -> Share {
        nodes.iter().map(|node| Run { first: node - 1, length: 1 }).collect()
    }

    struct RecordedState {
        site: SlurmSite,
        state: NodesState,
        waiting: Vec<SlurmJob>,
    }

    impl RecordedState {
        /// The jobs that a pass starts, with their nodes.
        fn pass(&self, now: Time, is_main: bool) -> Vec<(u32, NodeSet)> {
            let mut state = self.state.clone();
            let mut pass = SlurmPass {
                nodes: SlurmNodes { site: &self.site, state: &mut state, completing: NodeSet::none(0) },
                limits: &mut SiteLimits::default(),
                now,
                unix_start: 0,
                reserves_all: false,
                arrays: BTreeMap::new(),
                started: Vec::new(),
                reserved: Vec::new(),
            };
            let queue = |number| self.waiting.get(number).map(|job| QueueEntry { job, partition: 0 });
            match is_main {
                true => _ = pass.main(queue, true),
                false => pass.backfill(queue),
            }
            let started = std::mem::take(&mut pass.started);
            let pool = state.in_use.pool.as_ref().unwrap();
            started.iter().map(|job| (job.id as u32, set(pool.share_of(JobId(job.id as u32))))).collect()
        }
    }

    const NODES: u32 = 12;

    fn set(share: &Share) -> NodeSet {
        let mut set = NodeSet::none(NODES as usize);
        set.add_share(share);
        set
    }

    /// Makes all passes of a record again.
    fn replay(record: &SlurmRecord) -> [Passes; 2] {
        let conf = SlurmConf::parse(&record.conf.join("\n"), Path::new("")).unwrap();
        let settings = Settings::of(&catalog::parse(&conf.spec()).unwrap());
        let jobs: BTreeMap<u32, &RecordedJob> = record.jobs.iter().map(|job| (job.id, job)).collect();
        let site = SlurmSite::of_pool(NODES, settings.parameters.clone());
        let mut state = RecordedState { state: NodesState::new(&site), site, waiting: Vec::new() };
        let [mut main, mut backfill] = [Passes::default(); 2];
        // Newer records say how long the nodes of a job that has ended cannot be used. The scheduler has no such time, so
        // passes within it are not judged.
        let is_epilog = |event: &RecordedEvent| matches!(event, RecordedEvent::Job(_, kind, _) if kind == "epi");
        let has_epilogs = record.events.iter().any(is_epilog);
        let mut completing = BTreeSet::new();
        for (at, event) in record.events.iter().enumerate() {
            match event {
                RecordedEvent::Job(_, kind, id) if kind == "epi" => _ = completing.remove(id),
                RecordedEvent::Job(_, kind, id) if kind == "sub" => {
                    let RecordedJob { nodes, limit, .. } = *jobs[id];
                    let job = SlurmJob::of_processors(nodes, &state.site.cluster);
                    state.waiting.push(SlurmJob { id: (*id).into(), limit, ..job });
                }
                RecordedEvent::Job(_, _, id) => {
                    state.state.in_use.end(((*id).into(), 0), &state.site);
                    if has_epilogs {
                        completing.insert(*id);
                    }
                }
                RecordedEvent::Start(time, _, id, nodes) => {
                    let end = record.t0 + time.floor() as Time + jobs[id].limit;
                    let procs = nodes.len() as u32;
                    state.state.in_use.start_on_pool(Release { id: JobId(*id), end, procs, share: share(nodes) });
                    state.waiting.retain(|job| job.id != u64::from(*id));
                }
                RecordedEvent::Pass(time, kind) if !state.waiting.is_empty() && completing.is_empty() => {
                    let is_main = kind == "main";
                    let wanted = if is_main { "sm" } else { "sb" };
                    let until_next =
                        record.events[at + 1..].iter().take_while(|next| !matches!(next, RecordedEvent::Pass(..)));
                    let starts: Vec<(u32, NodeSet)> = until_next
                        .filter_map(|event| match event {
                            RecordedEvent::Start(_, kind, id, nodes) if kind == wanted => {
                                Some((*id, set(&share(nodes))))
                            }
                            _ => None,
                        })
                        .collect();
                    let found = state.pass(record.t0 + time.floor() as Time, is_main);
                    if is_main {
                        let ids = |starts: &[(u32, NodeSet)]| starts.iter().map(|start| start.0).collect::<Vec<_>>();
                        main.add(ids(&found) == ids(&starts));
                    } else {
                        backfill.add(found == starts);
                    }
                }
                RecordedEvent::Pass(..) => {}
            }
        }
        [main, backfill]
    }

    fn records(folder: &PathBuf) -> Vec<SlurmRecord> {
        let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        // A record on nodes has another form.
        let is_record =
            |file: &PathBuf| file.extension().is_some_and(|end| end == "json") && !file.ends_with("nodes.json");
        let records = files.iter().filter(|file| is_record(file));
        records.map(|file| serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()).collect()
    }

    fn replay_all(records: &[SlurmRecord]) -> [Passes; 2] {
        let mut total = [Passes::default(); 2];
        for record in records {
            for (total, passes) in total.iter_mut().zip(replay(record)) {
                (total.all, total.same) = (total.all + passes.all, total.same + passes.same);
            }
        }
        total
    }

    /// The jobs and their nodes are the same in all passes but three of 2,891.
    #[test]
    fn passes_of_a_real_slurm_are_made_again() {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/slurm");
        let [main, backfill] = replay_all(&records(&folder));
        assert_eq!(main, Passes { all: 1061, same: 1060 });
        assert_eq!(backfill, Passes { all: 1830, same: 1829 });
    }

    /// The same for records that were made just now, if this variable names their folder. (Another test of these records says if
    /// there are none.)
    #[test]
    fn passes_of_a_fresh_record_are_made_again() {
        let Some(folder) = std::env::var_os("SHADOWTIME_SLURM_RECORDS") else {
            return;
        };
        let records = records(&PathBuf::from(folder));
        if records.is_empty() {
            return;
        }
        for passes in replay_all(&records) {
            // 99 in 100; one of a few passes may come while a job is just ending.
            assert!(passes.all > 20 && passes.all - passes.same <= (passes.all / 100).max(1), "{passes:?}");
        }
    }
}
