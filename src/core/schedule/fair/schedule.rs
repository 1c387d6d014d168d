//! The virtual schedule, and what follows from it for the real one: who is owed something, and who is protected.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use super::accounts::UserAccounts;
use super::job::{FairJob, NEVER, RealStage, RuntimeCorrection, VirtualStage};
use super::late::LateJobs;
use super::virtual_machine::VirtualMachine;
use crate::job::{JobId, Submission};
use crate::schedule::machine::Machine;
use crate::schedule::policy::PolicyEvent;
use crate::schedule::queue::Waiting;
use crate::time::{Seconds, Time};

/// EASY with the users' estimates, run beside the real schedule with the same arrivals.
///
/// At one instant: virtual events of earlier instants, each with its pass; real ends; virtual ends of this instant; arrivals; the
/// virtual pass; the real pass. A virtual job that goes on is no event: it starts no pass.
pub(super) struct VirtualSchedule {
    machine: VirtualMachine,
    /// The jobs that have not left both schedules.
    jobs: FxHashMap<JobId, FairJob>,
    /// When virtual jobs may end. Times that no longer hold are skipped.
    due: BinaryHeap<Reverse<(Time, JobId)>>,
    /// By id: the virtual starts, or [`NEVER`].
    starts: Vec<Time>,
    correction: RuntimeCorrection,
    accounts: Option<UserAccounts>,
    /// The longest virtual wait of the jobs that have started there.
    longest_wait: Seconds,
    /// The jobs that have started virtually and not in reality. Empty without accounts.
    late: LateJobs,
    /// The jobs that have arrived since the last pass.
    arrived: Vec<(JobId, Submission)>,
    cancelled: Vec<JobId>,
    /// Protected is the first of the jobs that wait virtually, if it needs at least this number of processors.
    pub urgent_procs: u32,
}

impl VirtualSchedule {
    pub fn new(machine: VirtualMachine, has_accounts: bool) -> VirtualSchedule {
        VirtualSchedule {
            machine,
            jobs: FxHashMap::default(),
            due: BinaryHeap::new(),
            starts: Vec::new(),
            correction: RuntimeCorrection::default(),
            accounts: has_accounts.then(UserAccounts::default),
            longest_wait: 0,
            late: LateJobs::default(),
            arrived: Vec::new(),
            cancelled: Vec::new(),
            urgent_procs: u32::MAX,
        }
    }

    /// Something has happened in reality.
    pub fn on(&mut self, event: &PolicyEvent<'_>, real: &Machine) {
        match *event {
            PolicyEvent::Begin(facts) => self.machine.begin(facts, real),
            PolicyEvent::Arrival { id, job, .. } => self.arrived.push((id, *job)),
            PolicyEvent::Change(waiting) => {
                if let Some(job) = self.jobs.get_mut(&waiting.id) {
                    (job.prediction, job.length) = (waiting.prediction, waiting.length);
                }
            }
            // All earlier instants are done.
            PolicyEvent::End(id) => self.end(id, real.now),
            // It leaves both schedules at the pass of this instant.
            PolicyEvent::Cancellation(job) => self.cancelled.push(job.id),
            PolicyEvent::Requeue(id, _) => self.requeue(id, real.now),
            PolicyEvent::Clock(now) => self.advance_before(now),
            _ => {}
        }
    }

    /// A job that is known, or None: a job that ran before the first pass.
    fn find(&self, id: JobId) -> Option<&FairJob> {
        self.jobs.get(&id)
    }

    pub fn job(&self, id: JobId) -> &FairJob {
        self.find(id).expect("a job that waits is known")
    }

    /// A job ends in reality.
    fn end(&mut self, id: JobId, now: Time) {
        let Some(&job) = self.find(id) else { return };
        let RealStage::Running { start } = job.real else { return };
        let runtime = now - start;
        self.correction.add(&job, runtime);
        self.leave(id, RealStage::Ended { runtime }, |virtual_start| now.max(virtual_start + runtime));
    }

    /// A running job waits again in reality. Virtually nothing changes.
    fn requeue(&mut self, id: JobId, now: Time) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        job.real = RealStage::Waiting;
        let &mut FairJob { account, arrival, .. } = job;
        if let Some(accounts) = &mut self.accounts {
            accounts.arrive(account, now);
            let start = self.starts[id.index()];
            if start < NEVER {
                self.late.push(start, arrival, id);
            }
        }
    }

    /// A job leaves reality. If it runs virtually, it ends there at an instant that depends on its start there.
    fn leave(&mut self, id: JobId, to: RealStage, end: impl Fn(Time) -> Time) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        job.real = to;
        if let VirtualStage::Running { start, .. } = job.there {
            let due = end(start);
            job.there = VirtualStage::Running { start, due, is_certain: true };
            self.due.push(Reverse((due, id)));
        }
        self.forget_if_gone(id);
    }

    fn forget_if_gone(&mut self, id: JobId) {
        if self.find(id).is_some_and(FairJob::is_gone) {
            self.jobs.remove(&id);
        }
    }

    /// Handles the virtual events before an instant, each with its pass.
    fn advance_before(&mut self, now: Time) {
        while let Some(&Reverse((time, _))) = self.due.peek()
            && time < now
        {
            self.end_due(time);
            self.pass(time);
        }
    }

    /// Handles the virtual events of the instant of a real pass, and the virtual pass. All that happens in reality is known.
    pub fn advance_to(&mut self, real: &Machine) {
        let now = real.now;
        self.advance_before(now);
        self.end_due(now);
        if self.starts.is_empty() {
            self.adopt(real);
        }
        for (id, job) in std::mem::take(&mut self.arrived) {
            self.arrive(id, &job, real);
        }
        for id in std::mem::take(&mut self.cancelled) {
            self.cancel(id, now);
        }
        self.pass(now);
    }

    /// The jobs that run before the first arrival, as in a present queue, run virtually until they end in reality.
    fn adopt(&mut self, real: &Machine) {
        if self.arrived.is_empty() {
            return;
        }
        for job in real.running.iter() {
            self.machine.adopt(*job, real.nodes());
            job.id.store(&mut self.starts, real.now, NEVER);
            let there = VirtualStage::Running { start: real.now, due: NEVER, is_certain: false };
            let (estimate, real) = (job.end - real.now, RealStage::Running { start: real.now });
            let procs = job.procs;
            self.jobs.insert(job.id, FairJob { estimate, procs, prediction: 0, real, there, ..FairJob::GONE });
        }
    }

    fn arrive(&mut self, id: JobId, job: &Submission, real: &Machine) {
        id.store(&mut self.starts, NEVER, NEVER);
        // If it does not wait, it was cancelled at once, as another site has started it.
        let Some(waiting) = real.waiting.get(id) else { return };
        let &Submission { submit, estimate, procs, user, .. } = job;
        let account = self.accounts.as_mut().map_or(0, |accounts| {
            let account = accounts.number(user);
            accounts.arrive(account, real.now);
            account
        });
        let &Waiting { arrival, prediction, length, .. } = waiting;
        self.machine.arrive(id, job, real.nodes().map(|nodes| nodes.request(id)));
        let (real, there) = (RealStage::Waiting, VirtualStage::Waiting);
        let job = FairJob { arrival, submit, estimate, procs, account, prediction, length, real, there };
        self.jobs.insert(id, job);
    }

    fn cancel(&mut self, id: JobId, now: Time) {
        let Some(&job) = self.find(id).filter(|job| job.real == RealStage::Waiting) else { return };
        if let Some(accounts) = &mut self.accounts {
            accounts.leave(job.account, now);
        }
        if job.there == VirtualStage::Waiting {
            self.machine.withdraw(id);
            self.leave_virtual_queue(id, VirtualStage::Gone, now);
        }
        self.late.remove(self.starts[id.index()], job.arrival);
        self.leave(id, RealStage::Cancelled, |_| now);
        self.end_due(now);
    }

    fn leave_virtual_queue(&mut self, id: JobId, to: VirtualStage, now: Time) -> FairJob {
        let job = self.jobs.get_mut(&id).expect("a job that waits virtually is known");
        job.there = to;
        let job = *job;
        if let Some(accounts) = &mut self.accounts {
            accounts.leave_virtually(job.account, now);
        }
        job
    }

    /// Ends the virtual jobs that are due, unless they go on.
    fn end_due(&mut self, now: Time) {
        while let Some(&Reverse((time, id))) = self.due.peek()
            && time <= now
        {
            self.due.pop();
            let Some(job) = self.jobs.get_mut(&id) else { continue };
            let VirtualStage::Running { start, due, is_certain } = job.there else { continue };
            if due != time {
                continue;
            }
            let planned = start + job.estimate;
            job.there = if is_certain || !job.goes_on(start, time) {
                self.machine.end(id, planned);
                VirtualStage::Gone
            } else {
                let due = if time < planned { planned } else { NEVER };
                if due < NEVER {
                    self.due.push(Reverse((due, id)));
                }
                VirtualStage::Running { start, due, is_certain }
            };
            self.forget_if_gone(id);
        }
    }

    fn pass(&mut self, now: Time) {
        let started = self.machine.pass(now).to_vec();
        for id in started {
            let start = now;
            let job = *self.job(id);
            let (length, is_certain) = match job.real {
                RealStage::Ended { runtime } => (runtime, true),
                _ => (self.correction.expected(&job), false),
            };
            let due = now + length;
            self.leave_virtual_queue(id, VirtualStage::Running { start, due, is_certain }, now);
            self.due.push(Reverse((due, id)));
            self.starts[id.index()] = now;
            self.longest_wait = self.longest_wait.max(now - job.submit);
            if self.accounts.is_some() && job.real == RealStage::Waiting {
                self.late.push(now, job.arrival, id);
            }
        }
    }

    /// Jobs start in reality.
    pub fn start(&mut self, ids: &[JobId], now: Time) {
        for &id in ids {
            let Some(job) = self.jobs.get_mut(&id) else { continue };
            job.real = RealStage::Running { start: now };
            let &mut FairJob { account, arrival, .. } = job;
            if let Some(accounts) = &mut self.accounts {
                accounts.leave(account, now);
            }
            self.late.remove(self.starts[id.index()], arrival);
        }
    }

    /// Whether a waiting job has started virtually, and its user is behind.
    pub fn is_owed(&self, id: JobId, now: Time) -> bool {
        let Some(accounts) = &self.accounts else { return false };
        self.starts[id.index()] <= now && accounts.is_behind(self.job(id).account, now)
    }

    /// The owed jobs of those that `may_start`, by virtual start, then by arrival.
    pub fn owed_of(&self, now: Time, may_start: impl Fn(&FairJob) -> bool) -> impl Iterator<Item = Waiting> {
        let candidates = self.late.iter().map(|id| (id, self.job(id))).filter(move |(_, job)| may_start(job));
        candidates.filter(move |(id, _)| self.is_owed(*id, now)).map(|(id, job)| {
            let &FairJob { arrival, procs, prediction, length, .. } = job;
            Waiting { id, arrival, procs, prediction, length }
        })
    }

    /// When a job has started virtually, or [`NEVER`].
    pub fn start_of(&self, id: JobId) -> Time {
        self.starts[id.index()]
    }

    /// Whether jobs that overtake this one must fit by their estimates, if those are longer than their predictions.
    pub fn is_protected(&self, id: JobId, now: Time) -> bool {
        let job = self.job(id);
        let has_waited = self.starts[id.index()] <= now && now - job.submit >= self.longest_wait;
        let is_next = job.procs >= self.urgent_procs && self.machine.first_waiting() == Some(id);
        has_waited || is_next || self.is_owed(id, now)
    }

    /// Continues the virtual schedule after the last real event, and returns all starts by id.
    pub fn take_starts(&mut self) -> Vec<Time> {
        self.advance_before(NEVER);
        std::mem::take(&mut self.starts)
    }
}
