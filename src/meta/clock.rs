//! The clock: several simulations stepped together, and the stream of jobs dealt out among them.

use super::live_site::LiveSite;
use super::policies::DispatchPolicy;
use super::system::{MetaSystem, SiteMachine, StreamJob};
use super::waits::{HistoryWaits, SiteWaitPredictor};
use crate::engine::{EngineError, Outcome};
use crate::job::JobId;
use crate::time::Time;

/// How often the watcher hears of progress, in jobs.
const WATCH_EVERY: usize = 1 << 13;

/// What became of the stream's jobs, in their order.
#[derive(Clone, Debug)]
pub struct MetaRecord {
    /// Where each ran.
    pub sites: Vec<usize>,
    pub outcomes: Vec<Outcome>,
    /// How many times jobs were queued, and how many of those were cancelled because the job had started elsewhere.
    pub queued: u64,
    pub cancelled: u64,
}

/// Runs a grid under a policy. The watcher is told now and then how many jobs have arrived.
pub fn run(
    system: &MetaSystem,
    policy: &DispatchPolicy,
    watch: &mut dyn FnMut(usize),
) -> Result<MetaRecord, EngineError> {
    let by_history = |machine: &SiteMachine| -> Box<dyn SiteWaitPredictor> { Box::new(HistoryWaits::new(machine)) };
    run_with(system, policy, &|machine| policy.asks_for_waits().then(|| by_history(machine)), watch)
}

/// The same with others who watch the sites: `waits` makes them, if anyone is to.
///
/// # One clock
///
/// At one instant, in this order: ends and missed deadlines at all sites; then the arriving jobs, one after the other,
/// each asked about and queued before the next; then scheduling passes over all sites in order, and again until nothing
/// starts. A job that starts is cancelled at once wherever else it waits, and a site where one was cancelled has
/// another pass. So no job starts twice, and with a single site all is as in [`crate::engine::run`].
///
/// What a policy sees of a site when a job comes is thus after the ends of that instant and before its passes: the
/// processors that have become free are free, and those who will start on them still wait.
pub fn run_with(
    system: &MetaSystem,
    policy: &DispatchPolicy,
    waits: &dyn Fn(&SiteMachine) -> Option<Box<dyn SiteWaitPredictor>>,
    watch: &mut dyn FnMut(usize),
) -> Result<MetaRecord, EngineError> {
    let mut clock = Clock {
        arrivals: &system.arrivals,
        policy,
        sites: system.machines.iter().map(|machine| LiveSite::new(machine, waits(machine))).collect(),
        next: 0,
        ran: vec![Queued { site: usize::MAX, id: JobId(0) }; system.arrivals.len()],
        copies: vec![Vec::new(); system.arrivals.len()],
        queued: 0,
        cancelled: 0,
        chosen: Vec::new(),
        started: Vec::new(),
    };
    let mut told = 0;
    while let Some(now) = clock.next_event() {
        clock.step(now)?;
        if clock.next / WATCH_EVERY > told / WATCH_EVERY {
            told = clock.next;
            watch(told);
        }
    }
    clock.into_record()
}

/// A job's place in the queue of a site.
#[derive(Clone, Copy, Debug)]
struct Queued {
    site: usize,
    id: JobId,
}

struct Clock<'a> {
    arrivals: &'a [StreamJob],
    policy: &'a DispatchPolicy,
    sites: Vec<LiveSite>,
    /// The job of the stream that comes next.
    next: usize,
    /// Where each job that has started did, and, while a job waits at several sites, where.
    ran: Vec<Queued>,
    copies: Vec<Vec<Queued>>,
    queued: u64,
    cancelled: u64,
    chosen: Vec<usize>,
    started: Vec<JobId>,
}

impl Clock<'_> {
    fn next_event(&self) -> Option<Time> {
        let arrival = self.arrivals.get(self.next).map(StreamJob::submit);
        self.sites.iter().filter_map(LiveSite::next_event).chain(arrival).min()
    }

    /// Everything that happens at one instant.
    fn step(&mut self, now: Time) -> Result<(), EngineError> {
        for site in &mut self.sites {
            site.settle(now)?;
        }
        while let Some(arrival) = self.arrivals.get(self.next).filter(|arrival| arrival.submit() == now) {
            self.deal_out(arrival)?;
            self.next += 1;
        }
        while self.pass_over_all()? {}
        Ok(())
    }

    fn deal_out(&mut self, arrival: &StreamJob) -> Result<(), EngineError> {
        let job = arrival.qualified();
        self.policy.place(&job.submission, arrival.origin, &self.sites, &mut self.chosen);
        for &site in &self.chosen {
            let id = self.sites[site].hand_in(&job, self.next)?;
            self.queued += 1;
            if self.chosen.len() > 1 {
                self.copies[self.next].push(Queued { site, id });
            }
        }
        Ok(())
    }

    /// One pass at each site that is due one; whether anything has started.
    fn pass_over_all(&mut self) -> Result<bool, EngineError> {
        let mut any = false;
        for site in 0..self.sites.len() {
            let mut started = std::mem::take(&mut self.started);
            self.sites[site].pass(&mut started)?;
            for &id in &started {
                any = true;
                let at = self.sites[site].arrival(id);
                self.ran[at] = Queued { site, id };
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
