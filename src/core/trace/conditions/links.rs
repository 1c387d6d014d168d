//! The conditions of the jobs of a workload, by their places in it.

use rustc_hash::FxHashMap;

use super::{DependencyKind, LogConditions};
use crate::job::Job;
use crate::time::Seconds;

/// A job that does not join the queue when it is submitted, or may not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatedJob {
    /// Its place in the workload.
    pub job: u32,
    /// The jobs that must have started, by their places.
    pub after_starts: Vec<u32>,
    /// The jobs that must have ended.
    pub after_ends: Vec<u32>,
    /// How long after its submission it may start at the earliest, in seconds.
    pub delay: Seconds,
    /// It waits until no job of its [`Links::groups`] runs.
    pub singleton: bool,
    /// Its array, an index into [`Links::limits`].
    pub array: Option<u32>,
}

impl GatedJob {
    /// A job that waits for a time only, so many seconds after its submission.
    pub fn delayed(job: u32, delay: Seconds) -> GatedJob {
        let (after_starts, after_ends) = (Vec::new(), Vec::new());
        GatedJob { job, after_starts, after_ends, delay, singleton: false, array: None }
    }
}

/// The conditions of the jobs of a workload. A copy of a job, if the log is repeated, waits for the copies of other jobs that
/// belong to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Links {
    /// In workload order.
    pub gated: Vec<GatedJob>,
    /// The most tasks of each array that may run at once.
    pub limits: Vec<u32>,
    /// The jobs of the same user and executable as a singleton: the place of each with the number of its group.
    pub groups: Vec<(u32, u32)>,
    /// Dependencies on jobs that the workload does not have. They count as met.
    pub missing: u64,
}

/// Where the copies of each record are in a workload.
pub(in crate::trace) struct RecordPlaces(Vec<(u32, u32)>);

impl RecordPlaces {
    pub fn new(jobs: &[Job]) -> RecordPlaces {
        let mut places: Vec<(u32, u32)> = jobs.iter().zip(0..).map(|(job, at)| (job.record, at)).collect();
        places.sort_unstable();
        RecordPlaces(places)
    }

    fn first(&self, record: u32) -> usize {
        self.0.partition_point(|&(other, _)| other < record)
    }

    /// Which copy of its record the job at this place is.
    pub fn copy(&self, record: u32, at: u32) -> usize {
        self.0.partition_point(|&place| place < (record, at)) - self.first(record)
    }

    /// The place of a copy of a record. None if the workload does not have it.
    pub fn get(&self, record: u32, copy: usize) -> Option<u32> {
        self.0.get(self.first(record) + copy).filter(|(other, _)| *other == record).map(|&(_, at)| at)
    }
}

impl Links {
    /// The conditions of these jobs. A job that is held for ever has no delay here: cleaning has dropped it.
    pub fn of(jobs: &[Job], conditions: &LogConditions) -> Links {
        let mut links = Links::default();
        if conditions.is_empty() {
            return links;
        }
        let places = RecordPlaces::new(jobs);
        let mut arrays = FxHashMap::default();
        for (job, at) in jobs.iter().zip(0..) {
            let Some(own) = conditions.get(job.record as usize) else { continue };
            let copy = places.copy(job.record, at);
            let (mut after_starts, mut after_ends) = (Vec::new(), Vec::new());
            for dependency in &own.after {
                match (places.get(dependency.record, copy), dependency.kind) {
                    (None, _) => links.missing += 1,
                    (Some(other), DependencyKind::After) => after_starts.push(other),
                    (Some(other), _) => after_ends.push(other),
                }
            }
            let array = own.array.map(|array| {
                *arrays.entry((array, copy)).or_insert_with(|| {
                    let limit = conditions.arrays[array as usize].limit;
                    links.limits.push(limit.expect("the array of a condition has a limit"));
                    links.limits.len() as u32 - 1
                })
            });
            let (delay, singleton) = (own.delay().unwrap_or(0), own.singleton);
            links.gated.push(GatedJob { job: at, after_starts, after_ends, delay, singleton, array });
        }
        links.add_singletons(jobs);
        links
    }

    /// A singleton waits for all jobs of its user and executable that were submitted before it. The last singleton among them has
    /// waited for those before itself.
    fn add_singletons(&mut self, jobs: &[Job]) {
        let key = |at: u32| {
            let submission = &jobs[at as usize].submission;
            (submission.user, submission.executable)
        };
        let mut groups = FxHashMap::default();
        for gated in self.gated.iter().filter(|gated| gated.singleton) {
            let number = groups.len() as u32;
            groups.entry(key(gated.job)).or_insert((number, Vec::new()));
        }
        if groups.is_empty() {
            return;
        }
        let mut gated = self.gated.iter_mut().peekable();
        for at in 0..jobs.len() as u32 {
            let own = gated.next_if(|gated| gated.job == at);
            let Some((number, earlier)) = groups.get_mut(&key(at)) else { continue };
            self.groups.push((at, *number));
            if let Some(own) = own.filter(|own| own.singleton) {
                own.after_ends.append(earlier);
                own.after_ends.sort_unstable();
                own.after_ends.dedup();
            }
            earlier.push(at);
        }
    }
}
