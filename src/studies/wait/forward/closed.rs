//! When a job cannot start because of outages, whatever else runs.

use super::snapshot::{QueueSnapshot, SnapshotJob};
use crate::machine::{Outage, OutageKind, Placement, Tres};
use crate::time::{Seconds, Time};
use crate::wait::sample::WaitSample;

/// A time in which a job cannot start, however many of the others have ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClosedTime {
    /// The shortest wait with which it would start in this time.
    pub from: Seconds,
    /// The shortest wait with which it starts after it.
    pub to: Seconds,
    /// What the outage does with which the time ends.
    pub kind: OutageKind,
    /// When that outage begins.
    pub start: Time,
}

/// All such times of a job, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClosedTimes {
    times: Vec<ClosedTime>,
    /// After how many of them the job starts in all simulations.
    passed: usize,
}

impl ClosedTimes {
    /// Those of a job with these simulated waits.
    pub fn new(times: Vec<ClosedTime>, simulated: &WaitSample) -> ClosedTimes {
        let passed = times.partition_point(|time| time.to <= simulated.quantile(0.0));
        ClosedTimes { times, passed }
    }

    /// A wait with which the job can start, from one that does not count these times.
    pub fn with(&self, wait: Seconds) -> Seconds {
        let later =
            |wait: Seconds, time: &ClosedTime| if wait >= time.from { wait + time.to - time.from } else { wait };
        let wait = self.times.iter().fold(wait, later);
        self.after().map_or(wait, |time| wait.max(time.to))
    }

    /// A simulated wait without those of these times that are over then.
    pub fn without(&self, wait: Seconds) -> Seconds {
        let over = self.times.iter().filter(|time| time.to <= wait);
        wait - over.map(|time| time.to - time.from).sum::<Seconds>()
    }

    /// The last of these times after which the job starts in all simulations.
    pub fn after(&self) -> Option<&ClosedTime> {
        self.passed.checked_sub(1).map(|last| &self.times[last])
    }
}

impl QueueSnapshot {
    /// The times in which a waiting job cannot start, up to the last outage that ends.
    pub fn closed_times(&self, job: &SnapshotJob) -> Vec<ClosedTime> {
        let Some(outages) = &self.outages else { return Vec::new() };
        let class = outages.class_of(job.submission.user, job.submission.group, job.request);
        let is_ahead = |(at, outage): &(u32, &Outage)| outage.end > self.now && !outages.owns(class, *at);
        let ahead: Vec<&Outage> = (0..).zip(&outages.list).filter(is_ahead).map(|(_, outage)| outage).collect();
        // Its reservation alone is open to a job that names it.
        if ahead.is_empty() || !outages.class(class).named.is_empty() {
            return Vec::new();
        }
        let length = job.submission.estimate;
        let instants = ahead.iter().flat_map(|outage| [outage.start - length + 1, outage.start, outage.end]);
        let mut instants: Vec<Time> = instants.filter(|&at| at > self.now && at < Time::MAX).collect();
        instants.push(self.now);
        instants.sort_unstable();
        instants.dedup();
        let mut closed: Vec<ClosedTime> = Vec::new();
        for part in instants.windows(2).filter(|part| !self.can_start(job, part[0], &ahead)) {
            let (from, to) = (part[0] - self.now, part[1] - self.now);
            match closed.last_mut().filter(|last| last.to == from) {
                Some(last) => last.to = to,
                None => closed.push(ClosedTime { from, to, kind: OutageKind::Down, start: 0 }),
            }
        }
        // Nothing but the end of an outage lets a job start that could not start before.
        closed.retain_mut(|time| {
            let last = ahead.iter().find(|outage| outage.end == self.now + time.to);
            last.inspect(|outage| (time.kind, time.start) = (outage.kind, outage.start)).is_some()
        });
        closed
    }

    /// Whether a job could start at an instant if no other job were there.
    fn can_start(&self, job: &SnapshotJob, at: Time, outages: &[&Outage]) -> bool {
        let end = at + job.submission.estimate;
        let is_on = |outage: &Outage, at: Time| outage.start <= at && at < outage.end;
        let is_met = |outage: &&&Outage| outage.is_hard() && outage.start > at && outage.start < end;
        if let Some(shapes) = &self.shapes {
            let cluster = shapes.cluster();
            let mut free = cluster.resources();
            for outage in outages.iter().filter(|outage| is_on(outage, at) || is_met(outage)) {
                outage.nodes.iter().for_each(|&node| free[node as usize] = Tres::default());
            }
            let shape = shapes.get(job.request);
            let mut places = 0..shape.places.len();
            return places.any(|place| shape.place(place, Placement::Pack, cluster, &free, |_| false).is_some());
        }
        let gone = |at: Time, counts: &dyn Fn(&Outage) -> bool| -> u64 {
            outages
                .iter()
                .filter(|outage| is_on(outage, at) && counts(outage))
                .map(|outage| u64::from(outage.procs))
                .sum()
        };
        let starts = outages.iter().filter(is_met).map(|outage| gone(outage.start, &Outage::is_hard));
        let most = starts.chain([gone(at, &|_| true)]).max().unwrap_or(0);
        most + u64::from(job.submission.procs) <= u64::from(self.procs.max(job.submission.procs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Submission;
    use crate::machine::Outages;
    use crate::request::RequestId;
    use crate::schedule::Accounts;
    use crate::wait::PastRatios;
    use std::sync::Arc;

    fn outage(start: Time, end: Time, kind: OutageKind, procs: u32) -> Outage {
        let (name, place) = (String::new(), String::new());
        Outage { start, end, announced: start, kind, procs, nodes: Vec::new(), name, place }
    }

    /// A pool of 10 at 1000 with these outages, and one waiting job.
    fn closed(list: Vec<Outage>, procs: u32, estimate: Seconds) -> Vec<(Seconds, Seconds)> {
        let outages = Outages::new(list, false, std::iter::empty(), |_, _, _| Default::default());
        let submission = Submission::new(900, procs, estimate);
        let (on, array, ratios) = (None, None, PastRatios::from([]));
        let job =
            SnapshotJob { submission, request: RequestId::NONE, on, array, elapsed: 0, predicted: estimate, ratios };
        let snapshot = QueueSnapshot {
            now: 1000,
            first_submission: 0,
            unix_start: None,
            accounts: Arc::new(Accounts::of(&[], &Default::default())),
            procs: 10,
            shapes: None,
            outages: Some(Arc::new(outages)),
            running: Vec::new(),
            waiting: vec![job.clone()],
        };
        snapshot.closed_times(&job).iter().map(|time| (time.from, time.to)).collect()
    }

    #[test]
    fn a_job_starts_before_with_time_to_end_or_after() {
        use OutageKind::{Drain, Maintenance};
        // 300 s of ten processors end by 2000 if they begin by 1700.
        assert_eq!(closed(vec![outage(2000, 2500, Maintenance, 10)], 10, 300), [(701, 1500)]);
        assert_eq!(closed(vec![outage(2000, 2500, Maintenance, 10)], 1, 1001), [(0, 1500)]);
        // A job may run into a drain. Half of the machine is enough for five.
        assert_eq!(closed(vec![outage(2000, 2500, Drain, 10)], 10, 300), [(1000, 1500)]);
        assert_eq!(closed(vec![outage(2000, 2500, Maintenance, 5)], 5, 300), []);
        // Between two there are 100 s, and together they leave two processors.
        let two = || vec![outage(2000, 2500, Maintenance, 6), outage(2600, 3000, Maintenance, 6)];
        assert_eq!(closed(two(), 5, 100), [(901, 1500), (1501, 2000)]);
        assert_eq!(closed(two(), 5, 101), [(900, 2000)]);
        let both = vec![outage(2000, 2500, Maintenance, 4), outage(2400, 2600, Maintenance, 4)];
        assert_eq!(closed(both, 3, 50), [(1351, 1500)]);
        // One that is there already, and one that never ends.
        assert_eq!(closed(vec![outage(500, 1200, Drain, 8)], 3, 50), [(0, 200)]);
        assert_eq!(closed(vec![outage(500, Time::MAX, Drain, 8)], 3, 50), []);
    }

    #[test]
    fn no_wait_ends_within_such_a_time() {
        let time = |from, to| ClosedTime { from, to, kind: OutageKind::Maintenance, start: 0 };
        let times = || vec![time(100, 200), time(300, 400)];
        let some = ClosedTimes::new(times(), &WaitSample::new(vec![50, 250]));
        assert_eq!([0, 99, 100, 199, 200, 350].map(|wait| some.with(wait)), [0, 99, 200, 299, 400, 550]);
        assert_eq!([99, 200, 299, 400, 550].map(|wait| some.without(wait)), [99, 100, 199, 200, 350]);
        assert_eq!(some.after(), None);
        // All simulations start it after the first.
        let all = ClosedTimes::new(times(), &WaitSample::new(vec![200, 250]));
        assert_eq!(([0, 150].map(|wait| all.with(wait)), all.after()), ([200, 250], Some(&time(100, 200))));
    }
}
