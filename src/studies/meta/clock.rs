//! The clock: several simulations stepped together, and the jobs of one stream sent to them.

use super::live_site::LiveSite;
use super::policies::DispatchPolicy;
use super::system::{MetaSystem, SiteMachine, StreamJob};
use super::waits::{SiteWaitPredictor, history_waits};
use crate::engine::{EngineError, Outcome};
use crate::job::JobId;
use crate::time::Time;

/// The interval between two calls of `watch`, in jobs.
const WATCH_EVERY: usize = 1 << 13;

/// The outcomes of the stream's jobs, in the order of the stream.
#[derive(Clone, Debug)]
pub struct MetaRecord {
    /// The index of the site where each job ran.
    pub sites: Vec<usize>,
    /// When each job started and ended there.
    pub outcomes: Vec<Outcome>,
    /// How many times jobs were queued; a job queued at several sites counts once per site.
    pub queued: u64,
    /// How many of those were cancelled because the job had started at another site.
    pub cancelled: u64,
}

/// Simulates a system under a policy. `watch` is called every few thousand jobs with the number of jobs that have
/// arrived.
///
/// # Errors
///
/// If the simulation of a site fails.
pub fn run(
    system: &MetaSystem,
    policy: &DispatchPolicy,
    watch: &mut dyn FnMut(usize),
) -> Result<MetaRecord, EngineError> {
    let by_history = |machine: &SiteMachine| -> Box<dyn SiteWaitPredictor> { Box::new(history_waits(machine)) };
    run_with(system, policy, &|machine| policy.needs_waits().then(|| by_history(machine)), watch)
}

/// The same with other predictors of waits: `waits` makes the one of each site, or None if the policy needs none.
///
/// # One clock
///
/// At one instant, in this order: ends and missed deadlines at all sites; then the arriving jobs, one after the other,
/// each dispatched and queued before the next; then scheduling passes over all sites in order, repeated until no job
/// starts. A job that starts is cancelled at once at the other sites where it waits, and a site where a job was
/// cancelled has another pass. So no job starts twice, and with a single site the result equals that of
/// [`crate::engine::run`].
///
/// So a policy sees a site after the ends of the instant and before its passes: the processors of ended jobs are free,
/// and the jobs that will start on them still wait.
pub fn run_with(
    system: &MetaSystem,
    policy: &DispatchPolicy,
    waits: &dyn Fn(&SiteMachine) -> Option<Box<dyn SiteWaitPredictor>>,
    watch: &mut dyn FnMut(usize),
) -> Result<MetaRecord, EngineError> {
    let mut clock = MetaClock {
        arrivals: &system.arrivals,
        policy,
        sites: system.machines.iter().map(|machine| LiveSite::new(machine, waits(machine))).collect(),
        next: 0,
        ran: vec![QueuedCopy { site: usize::MAX, id: JobId(0) }; system.arrivals.len()],
        copies: vec![Vec::new(); system.arrivals.len()],
        queued: 0,
        cancelled: 0,
        chosen: Vec::new(),
        started: Vec::new(),
    };
    let mut reported = 0;
    while let Some(now) = clock.next_event() {
        clock.step(now)?;
        if clock.next / WATCH_EVERY > reported / WATCH_EVERY {
            reported = clock.next;
            watch(reported);
        }
    }
    clock.into_record()
}

/// A job in the queue of a site, by its number there.
#[derive(Clone, Copy, Debug)]
struct QueuedCopy {
    site: usize,
    id: JobId,
}

struct MetaClock<'a> {
    arrivals: &'a [StreamJob],
    policy: &'a DispatchPolicy,
    sites: Vec<LiveSite>,
    /// The index of the next job of the stream.
    next: usize,
    /// Where each job has started.
    ran: Vec<QueuedCopy>,
    /// Where each job waits, if it is queued at several sites.
    copies: Vec<Vec<QueuedCopy>>,
    queued: u64,
    cancelled: u64,
    chosen: Vec<usize>,
    started: Vec<JobId>,
}

impl MetaClock<'_> {
    fn next_event(&self) -> Option<Time> {
        let arrival = self.arrivals.get(self.next).map(StreamJob::submit);
        let is_open = |site: &&LiveSite| arrival.is_some() || !site.is_stuck();
        self.sites.iter().filter(is_open).filter_map(LiveSite::next_event).chain(arrival).min()
    }

    /// Everything that happens at one instant.
    fn step(&mut self, now: Time) -> Result<(), EngineError> {
        for site in &mut self.sites {
            site.settle(now)?;
        }
        while let Some(arrival) = self.arrivals.get(self.next).filter(|arrival| arrival.submit() == now) {
            self.dispatch(arrival)?;
            self.next += 1;
        }
        while self.pass_over_all()? {}
        Ok(())
    }

    fn dispatch(&mut self, arrival: &StreamJob) -> Result<(), EngineError> {
        let job = arrival.qualified();
        self.policy.place(&job.submission, arrival.origin, &self.sites, &mut self.chosen);
        for &site in &self.chosen {
            let id = self.sites[site].enqueue(&job, self.next)?;
            self.queued += 1;
            if self.chosen.len() > 1 {
                self.copies[self.next].push(QueuedCopy { site, id });
            }
        }
        Ok(())
    }

    /// Makes the pass of each site that needs one. Returns whether any job has started.
    fn pass_over_all(&mut self) -> Result<bool, EngineError> {
        let mut any = false;
        for site in 0..self.sites.len() {
            let mut started = std::mem::take(&mut self.started);
            self.sites[site].pass(&mut started)?;
            for &id in &started {
                any = true;
                let at = self.sites[site].arrival(id);
                self.ran[at] = QueuedCopy { site, id };
                for copy in std::mem::take(&mut self.copies[at]) {
                    if copy.site != site {
                        self.sites[copy.site].cancel(copy.id)?;
                        self.cancelled += 1;
                    }
                }
            }
            self.started = started;
        }
        Ok(any)
    }

    fn into_record(self) -> Result<MetaRecord, EngineError> {
        let outcomes: Vec<_> = self.sites.into_iter().map(LiveSite::into_outcomes).collect::<Result<_, _>>()?;
        Ok(MetaRecord {
            sites: self.ran.iter().map(|copy| copy.site).collect(),
            outcomes: self.ran.iter().map(|copy| outcomes[copy.site][copy.id.index()]).collect(),
            queued: self.queued,
            cancelled: self.cancelled,
        })
    }
}
