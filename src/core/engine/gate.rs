//! The gate in front of the queue: jobs that may not start yet. No policy and no predictor ever sees them.
//!
//! A job with conditions comes to the gate when it is submitted. It joins the queue when all of them are met: at its submission,
//! at a start or an end of another job, or at a time. Then it arrives like any other job, and its submit time is this instant.
//!
//! If users react ([`Gate::with_feedback`]), jobs come to the gate when their users submit them, which may depend on ends.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::sync::Arc;

use super::feedback::Feedback;
use crate::job::{Job, JobId, Submission};
use crate::machine::Outages;
use crate::time::{Seconds, Time};
use crate::trace::{GatedJob, Links, Workload, recorded_eligibility};

/// No job, or nothing of the kind.
const NONE: u32 = u32::MAX;

/// The jobs of a workload that wait for something else than the scheduler. For [`super::Simulation::with_gate`]; the jobs must
/// then be submitted in workload order, and all of them before the clock moves if users react.
///
/// Conditions that can never be met must have been dropped, as [`crate::trace::clean`] does.
#[derive(Clone, Debug, Default)]
pub struct Gate {
    /// By job in order of submission: its place in `links`, or `NONE`. Jobs after the end have none.
    link_of: Vec<u32>,
    /// In order of submission.
    links: Vec<GateLink>,
    arrays: Vec<ArrayGate>,
    /// The groups of singletons.
    groups: Vec<SingletonGroup>,
    /// The begin times of jobs at the gate, with their links.
    timers: BinaryHeap<Reverse<(Time, u32)>>,
    /// The jobs that join the queue at the present instant.
    released: Vec<(JobId, Job)>,
    /// The arrays of which a task may join the queue at the present instant. They are filled when all events of the instant are
    /// known, so that the first task comes first, whatever it waited for.
    to_fill: BTreeSet<u32>,
    /// The number of jobs at the gate.
    held: usize,
    /// The number of jobs that have joined the queue.
    arrived: usize,
    /// Jobs that have started and wait again. They count as running.
    requeued: BTreeSet<JobId>,
    /// By job: when it joined the queue. `Time::MAX` if it has not.
    arrivals: Vec<Time>,
    /// A job that names a reservation waits until that begins.
    outages: Option<Arc<Outages>>,
    /// When jobs are submitted, if that depends on ends. None: in the order in which they are given, at their own times.
    pub(super) feedback: Option<Feedback>,
}

/// A job with conditions, or one that others wait for.
#[derive(Clone, Debug)]
struct GateLink {
    job: JobId,
    /// The job at the gate. None before its submission and after its release.
    waiting: Option<Job>,
    /// How many starts and ends of other jobs it waits for.
    unmet: u32,
    /// How long after its submission it may start.
    delay: Seconds,
    is_singleton: bool,
    group: u32,
    array: u32,
    /// The links of the jobs that wait for its start, and for its end.
    at_start: Vec<u32>,
    at_end: Vec<u32>,
}

impl GateLink {
    fn of(job: JobId) -> GateLink {
        let (at_start, at_end) = (Vec::new(), Vec::new());
        let (waiting, unmet, delay, is_singleton) = (None, 0, 0, false);
        GateLink { job, waiting, unmet, delay, is_singleton, group: NONE, array: NONE, at_start, at_end }
    }
}

/// The jobs of the same user and executable as a singleton.
#[derive(Clone, Debug, Default)]
struct SingletonGroup {
    /// How many of them run.
    running: u32,
    /// The links of the singletons at the gate. All but the first wait for the first.
    singletons: BTreeSet<u32>,
}

/// An array with a limit.
#[derive(Clone, Debug)]
struct ArrayGate {
    /// How many more tasks may be in the queue or run.
    free: u32,
    /// The links of the tasks that wait only for this, in order of submission.
    ready: BTreeSet<u32>,
}

impl Gate {
    /// The gate of a workload. None if no job has conditions.
    pub fn of(workload: &Workload) -> Option<Gate> {
        let mut links = Links::of(&workload.jobs, &workload.conditions);
        let outages = workload.outages.as_ref();
        let class = |job: &Job| {
            outages.map_or(0, |outages| outages.class_of(job.submission.user, job.submission.group, job.request))
        };
        let names_one = |job: &Job| outages.is_some_and(|outages| !outages.class(class(job)).named.is_empty());
        for (_, at) in workload.jobs.iter().zip(0..).filter(|(job, _)| names_one(job)) {
            if let Err(place) = links.gated.binary_search_by_key(&at, |gated| gated.job) {
                links.gated.insert(place, GatedJob::delayed(at, 0));
            }
        }
        (!links.gated.is_empty()).then(|| Gate { outages: outages.cloned(), ..Gate::new(&links) })
    }

    /// The gate for a replay of the log's own schedule, in which each job arrives when its conditions were met there. Also returns
    /// the jobs with these times. None if no job has conditions.
    pub fn of_record(workload: &Workload) -> Option<(Gate, Vec<Job>)> {
        let eligible = recorded_eligibility(workload)?;
        let all = workload.jobs.iter().zip(&eligible).zip(0..);
        let delayed = all.map(|((job, later), at)| (at, later.submission.submit - job.submission.submit));
        let gated = delayed.filter(|(_, delay)| *delay > 0).map(|(job, delay)| GatedJob::delayed(job, delay));
        let links = Links { gated: gated.collect(), ..Links::default() };
        Some((Gate::new(&links), eligible))
    }

    pub(super) fn new(links: &Links) -> Gate {
        let waited_for = |gated: &GatedJob| [&gated.after_starts[..], &gated.after_ends].concat();
        let mut involved: Vec<u32> = links.gated.iter().flat_map(waited_for).collect();
        involved.extend(links.gated.iter().map(|gated| gated.job));
        involved.extend(links.groups.iter().map(|(job, _)| job));
        involved.sort_unstable();
        involved.dedup();
        let mut link_of = vec![NONE; involved.last().map_or(0, |&last| last as usize + 1)];
        involved.iter().zip(0..).for_each(|(&job, at)| link_of[job as usize] = at);
        let mut all: Vec<GateLink> = involved.iter().map(|&job| GateLink::of(JobId(job))).collect();
        for gated in &links.gated {
            let own = link_of[gated.job as usize];
            gated.after_starts.iter().for_each(|&other| all[link_of[other as usize] as usize].at_start.push(own));
            gated.after_ends.iter().for_each(|&other| all[link_of[other as usize] as usize].at_end.push(own));
            let link = &mut all[own as usize];
            link.unmet = (gated.after_starts.len() + gated.after_ends.len()) as u32;
            (link.delay, link.is_singleton) = (gated.delay, gated.singleton);
            link.array = gated.array.unwrap_or(NONE);
        }
        links.groups.iter().for_each(|&(job, group)| all[link_of[job as usize] as usize].group = group);
        let groups = links.groups.iter().map(|(_, group)| group + 1).max().unwrap_or(0);
        Gate {
            link_of,
            links: all,
            arrays: links.limits.iter().map(|&free| ArrayGate { free, ready: BTreeSet::new() }).collect(),
            groups: vec![SingletonGroup::default(); groups as usize],
            ..Gate::default()
        }
    }

    fn find(&self, id: JobId) -> Option<usize> {
        self.link_of.get(id.index()).filter(|&&link| link != NONE).map(|&link| link as usize)
    }

    /// A job is submitted at its submit time, which is now.
    pub(super) fn submit(&mut self, id: JobId, job: Job, now: Time) {
        let Some(at) = self.find(id) else { return self.released.push((id, job)) };
        self.held += 1;
        let link = &mut self.links[at];
        link.waiting = Some(job);
        if let Some(outages) = &self.outages {
            let Submission { user, group, submit, .. } = job.submission;
            link.delay = link.delay.max(outages.delay(outages.class_of(user, group, job.request), submit));
        }
        if link.delay > 0 {
            self.timers.push(Reverse((job.submission.submit + link.delay, at as u32)));
        }
        if link.is_singleton {
            self.groups[link.group as usize].singletons.insert(at as u32);
        }
        self.check(at, now);
    }

    /// Checks the jobs whose time has come.
    pub(super) fn advance_to(&mut self, now: Time) {
        while let Some(&Reverse((time, at))) = self.timers.peek()
            && time <= now
        {
            self.timers.pop();
            self.check(at as usize, now);
        }
    }

    /// Releases a job if all its conditions are met.
    fn check(&mut self, at: usize, now: Time) {
        let link = &self.links[at];
        let Some(job) = &link.waiting else { return };
        let is_behind_group = link.is_singleton && self.groups[link.group as usize].running > 0;
        if link.unmet > 0 || is_behind_group || job.submission.submit + link.delay > now {
            return;
        }
        let array = link.array;
        match self.arrays.get_mut(array as usize) {
            None => self.release(at),
            Some(tasks) => {
                tasks.ready.insert(at as u32);
                self.to_fill.insert(array);
            }
        }
    }

    /// Releases tasks of an array up to its limit.
    fn fill(&mut self, array: u32) {
        while let Some(tasks) = self.arrays.get_mut(array as usize).filter(|tasks| tasks.free > 0) {
            let Some(at) = tasks.ready.pop_first() else { return };
            tasks.free -= 1;
            self.release(at as usize);
        }
    }

    fn release(&mut self, at: usize) {
        if let Some(job) = self.take(at) {
            self.released.push((self.links[at].job, job));
        }
    }

    /// Takes a job from the gate. None if it is not there.
    fn take(&mut self, at: usize) -> Option<Job> {
        let link = &mut self.links[at];
        let job = link.waiting.take()?;
        self.held -= 1;
        if link.is_singleton {
            self.groups[link.group as usize].singletons.remove(&(at as u32));
        }
        Some(job)
    }

    /// A job has started.
    pub(super) fn on_start(&mut self, id: JobId, now: Time) {
        if self.requeued.remove(&id) {
            return;
        }
        let Some(at) = self.find(id) else { return };
        if let Some(group) = self.groups.get_mut(self.links[at].group as usize) {
            group.running += 1;
        }
        self.meet(at, |link| &mut link.at_start, now);
    }

    /// A running job waits again. Others wait for its end as before: in Slurm a singleton waits for earlier jobs that wait, too.
    pub(super) fn on_requeue(&mut self, id: JobId) {
        self.requeued.insert(id);
    }

    /// A running job has ended.
    pub(super) fn on_end(&mut self, id: JobId, now: Time) {
        self.react(id, now);
        let Some(at) = self.find(id) else { return };
        if let Some(group) = self.groups.get_mut(self.links[at].group as usize) {
            group.running -= 1;
            if let Some(&first) = group.singletons.first().filter(|_| group.running == 0) {
                self.check(first as usize, now);
            }
        }
        self.meet(at, |link| &mut link.at_end, now);
        self.give_place_back(at);
    }

    /// A job in the queue is withdrawn. For those that wait for it this is a start and an end.
    pub(super) fn on_cancellation(&mut self, id: JobId, now: Time) {
        if self.requeued.remove(&id) {
            return self.on_end(id, now);
        }
        self.react(id, now);
        if let Some(at) = self.find(id) {
            self.meet(at, |link| &mut link.at_start, now);
            self.meet(at, |link| &mut link.at_end, now);
            self.give_place_back(at);
        }
    }

    /// Withdraws a job that is at the gate, likewise. Returns whether it was there.
    pub(super) fn withdraw(&mut self, id: JobId, now: Time) -> bool {
        if let Some(at) = self.released.iter().position(|(job, _)| *job == id) {
            self.released.remove(at);
            self.on_cancellation(id, now);
            return true;
        }
        let Some(at) = self.find(id).filter(|&at| self.links[at].waiting.is_some()) else { return false };
        self.take(at);
        self.react(id, now);
        if let Some(tasks) = self.arrays.get_mut(self.links[at].array as usize) {
            tasks.ready.remove(&(at as u32));
        }
        self.meet(at, |link| &mut link.at_start, now);
        self.meet(at, |link| &mut link.at_end, now);
        true
    }

    /// The event of a job has happened that these wait for.
    fn meet(&mut self, at: usize, waiting: fn(&mut GateLink) -> &mut Vec<u32>, now: Time) {
        for other in std::mem::take(waiting(&mut self.links[at])) {
            self.links[other as usize].unmet -= 1;
            self.check(other as usize, now);
        }
    }

    /// A task of an array is no longer in the queue and does not run.
    fn give_place_back(&mut self, at: usize) {
        let array = self.links[at].array;
        if let Some(tasks) = self.arrays.get_mut(array as usize) {
            tasks.free += 1;
            self.to_fill.insert(array);
        }
    }

    /// The jobs that join the queue now, in order of submission.
    pub(super) fn take_released(&mut self) -> Vec<(JobId, Job)> {
        for array in std::mem::take(&mut self.to_fill) {
            self.fill(array);
        }
        let mut released = std::mem::take(&mut self.released);
        released.sort_unstable_by_key(|(id, _)| *id);
        released
    }

    /// Whether jobs are to join the queue at the present instant.
    pub(super) fn has_released(&self) -> bool {
        let may_fill = |array: &u32| {
            let tasks = &self.arrays[*array as usize];
            tasks.free > 0 && !tasks.ready.is_empty()
        };
        !self.released.is_empty() || self.to_fill.iter().any(may_fill)
    }

    /// When the next job's time comes, or the next job is submitted by a user who reacts.
    pub(super) fn next_time(&self) -> Option<Time> {
        let timer = self.timers.peek().map(|&Reverse((time, _))| time);
        let submission = self.feedback.as_ref().and_then(Feedback::next_time);
        timer.into_iter().chain(submission).min()
    }

    /// The number of jobs that have joined the queue.
    pub(super) fn arrived_count(&self) -> usize {
        self.arrived
    }

    /// Notes that a job joins the queue.
    pub(super) fn arrive(&mut self, id: JobId, now: Time) {
        id.store(&mut self.arrivals, now, Time::MAX);
        self.arrived += 1;
    }

    /// How many jobs are at the gate, and the number in the log of the first of them. None if there are none.
    pub(super) fn held(&self) -> Option<(usize, i64)> {
        let first = self.links.iter().filter_map(|link| Some((link.job, link.waiting.as_ref()?.number))).min()?;
        Some((self.held, first.1))
    }

    /// The jobs with the times at which they arrived as their submit times.
    pub(super) fn arrived_jobs(&self, jobs: &[Job]) -> Vec<Job> {
        let mut jobs = jobs.to_vec();
        jobs.iter_mut().zip(&self.arrivals).for_each(|(job, &time)| job.submission.submit = time);
        jobs
    }
}

/// Users who react.
impl Gate {
    /// This gate, or if there is none an open one, for users who react. `gate` if the workload has no feedback.
    pub fn with_feedback(gate: Option<Gate>, workload: &Workload) -> Option<Gate> {
        let Some(feedback) = Feedback::of(workload) else { return gate };
        let mut gate = gate.unwrap_or_default();
        gate.feedback = Some(feedback);
        Some(gate)
    }

    /// Whether jobs are submitted after the ends of others.
    pub fn has_feedback(&self) -> bool {
        self.feedback.is_some()
    }

    /// Whether it is known when the next job is submitted.
    pub(super) fn expects_jobs(&self) -> bool {
        self.feedback.as_ref().is_some_and(|feedback| feedback.next_time().is_some())
    }

    /// Takes a job that its user will submit. Returns false if users do not react: then it is submitted at its own time.
    pub(super) fn takes(&mut self, job: &Job) -> bool {
        self.feedback.as_mut().is_some_and(|feedback| {
            feedback.add(job);
            true
        })
    }

    /// The jobs that users submit until now come to the gate.
    pub(super) fn submit_due(&mut self, now: Time) {
        while let Some((id, job)) = self.feedback.as_mut().and_then(|feedback| feedback.pop_due(now)) {
            self.submit(id, job, now);
        }
    }

    /// When each job was submitted. None if users do not react.
    pub(super) fn submissions(&self) -> Option<&[Time]> {
        self.feedback.as_ref().map(Feedback::submitted)
    }

    /// A job has left for ever: its user may react.
    pub(super) fn react(&mut self, id: JobId, now: Time) {
        if let Some(feedback) = &mut self.feedback {
            feedback.on_end(id, now);
        }
    }
}
