//! The queue of waiting jobs in order of arrival. Adding and removing jobs is fast for any length.

use super::room::Room;
use crate::job::JobId;
use crate::time::Seconds;

/// A waiting job as a policy sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The job's number in order of arrival.
    pub id: JobId,
    /// The processors it needs.
    pub procs: u32,
    /// The prediction in force, in seconds.
    pub prediction: Seconds,
    /// The prediction that the scheduler computes with, in seconds: the one in force, multiplied by the factor `inflate`.
    pub length: Seconds,
}

/// A place in the queue: that of a waiting job, or an empty one after its job has left.
///
/// The job of an empty place has 0 processors. An `Option` would be larger, and a scan of the queue would have a branch per place.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueuePlace(Waiting);

impl QueuePlace {
    /// The job, unless it has left.
    pub fn job(&self) -> Option<&Waiting> {
        (self.0.procs > 0).then_some(&self.0)
    }

    /// Whether there is a job, and it fits. Without a branch.
    pub fn fits(&self, room: &Room) -> bool {
        room.holds(self.0.procs, self.0.length)
    }

    fn is_empty(&self) -> bool {
        self.0.procs == 0
    }
}

/// The waiting jobs.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    /// In order of arrival, which is also the order of ids. A job that leaves keeps its place until there are enough empty
    /// places to remove them together.
    places: Vec<QueuePlace>,
    /// All places before this one are empty.
    first: usize,
    count: usize,
    /// The place of the job that was predicted last.
    predicted: usize,
}

impl Queue {
    /// Empty places are removed when there are more of them than jobs, plus this number.
    const FEW: usize = 32;

    /// The number of waiting jobs.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether no job waits.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The head: the job that arrived first. None if no job waits.
    pub fn first(&self) -> Option<&Waiting> {
        self.places.get(self.first).map(|place| &place.0)
    }

    /// The job that arrived last. None if no job waits.
    pub(super) fn last(&self) -> Option<&Waiting> {
        self.places.last().map(|place| &place.0)
    }

    /// The jobs in order of arrival.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Waiting> + Clone {
        self.places[self.first..].iter().filter_map(QueuePlace::job)
    }

    /// The places of the jobs that arrived after a job, in order of arrival; of all jobs if there is no such job. Some may be empty.
    pub(super) fn places_after(&self, job: Option<JobId>) -> &[QueuePlace] {
        let places = &self.places[self.first..];
        let Some(id) = job else { return places };
        // Usually it is the first job or one of the last.
        if let [first, others @ ..] = places
            && first.0.id == id
        {
            return others;
        }
        let count = places.iter().rev().take(Self::FEW).take_while(|place| place.0.id > id).count();
        match places.len() - count {
            few if count < Self::FEW => &places[few..],
            before => &places[places[..before].partition_point(|place| place.0.id <= id)..],
        }
    }

    /// A waiting job by its id. None if the job does not wait.
    pub fn get(&self, id: JobId) -> Option<&Waiting> {
        self.place(id).map(|at| &self.places[at].0)
    }

    /// Adds a job that arrives. Its id must be above all others.
    pub(crate) fn push(&mut self, job: Waiting) {
        debug_assert!(job.procs > 0 && self.places.last().is_none_or(|last| last.0.id < job.id));
        self.places.push(QueuePlace(job));
        self.count += 1;
    }

    /// Adds a job that has waited before: at its place in order of arrival.
    pub(crate) fn insert(&mut self, job: Waiting) {
        let at = self.places.partition_point(|place| place.0.id < job.id);
        match self.places.get_mut(at) {
            // It has just left, and its place is still there.
            Some(place) if place.0.id == job.id => place.0 = job,
            _ => self.places.insert(at, QueuePlace(job)),
        }
        (self.first, self.count) = (self.first.min(at), self.count + 1);
    }

    /// Removes a job. None if it does not wait.
    pub(crate) fn remove(&mut self, id: JobId) -> Option<Waiting> {
        let at = self.place(id)?;
        let job = self.places[at].0;
        self.places[at].0.procs = 0;
        self.count -= 1;
        if self.count == 0 {
            self.places.clear();
            self.first = 0;
            return Some(job);
        }
        // Most jobs leave soon after they arrive, so most empty places are at the end.
        while self.places.last().is_some_and(QueuePlace::is_empty) {
            self.places.pop();
        }
        if self.places.len() > Self::FEW + 2 * self.count {
            self.places.retain(|place| !place.is_empty());
            self.first = 0;
        }
        while self.places[self.first].is_empty() {
            self.first += 1;
        }
        Some(job)
    }

    /// The job that was predicted last, if it has not left since.
    pub(crate) fn predicted(&self) -> Option<&Waiting> {
        self.places.get(self.predicted).and_then(QueuePlace::job)
    }

    /// Changes the prediction of a job. Returns the changed job, or None if it does not wait.
    pub(crate) fn predict(&mut self, id: JobId, prediction: Seconds, length: Seconds) -> Option<&Waiting> {
        // If many predictions change, the jobs are often adjacent: one user submitted them one after another.
        let next = self.predicted + 1;
        let at = if self.places.get(next).is_some_and(|place| place.0.id == id && !place.is_empty()) {
            next
        } else {
            self.place(id)?
        };
        self.predicted = at;
        let job = &mut self.places[at].0;
        (job.prediction, job.length) = (prediction, length);
        Some(job)
    }

    #[inline]
    fn place(&self, id: JobId) -> Option<usize> {
        // Most calls are for the job that has just arrived or for the head.
        let last = self.places.len().checked_sub(1)?;
        let at = match id {
            id if id == self.places[last].0.id => last,
            id if id == self.places[self.first].0.id => self.first,
            id => self.first + self.places[self.first..].binary_search_by_key(&id, |place| place.0.id).ok()?,
        };
        (!self.places[at].is_empty()).then_some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::stream;
    use rand::RngExt;

    /// Compares with a plain list, over a long random history of adding and removing.
    #[test]
    fn the_queue_is_the_plain_list() {
        let mut rng = stream(1, "queue");
        let (mut queue, mut plain) = (Queue::default(), Vec::<Waiting>::new());
        for step in 0..20_000u32 {
            // The queue is long in the middle of the history, and sometimes empty before and after.
            let leaves = if (8000..12_000).contains(&step) { 3 } else { 6 };
            if rng.random_range(0..10) < leaves && !plain.is_empty() {
                let at = if rng.random_bool(0.5) { 0 } else { rng.random_range(0..plain.len()) };
                let job = plain.remove(at);
                assert_eq!(queue.remove(job.id), Some(job));
                assert_eq!(queue.remove(job.id), None);
            } else {
                let job = Waiting { id: JobId(step), procs: 1 + step % 7, prediction: 0, length: 0 };
                queue.push(job);
                plain.push(job);
            }
            // A job that has left comes back to its place.
            let back = Waiting { id: JobId(rng.random_range(0..=step)), procs: 3, prediction: 5, length: 0 };
            if step % 5 == 0
                && let Err(at) = plain.binary_search_by_key(&back.id, |job| job.id)
            {
                queue.insert(back);
                plain.insert(at, back);
            }
            if !plain.is_empty() {
                let at = rng.random_range(0..plain.len());
                plain[at].prediction = i64::from(step);
                assert_eq!(queue.predict(plain[at].id, i64::from(step), 0), Some(&plain[at]));
            }
            assert_eq!((queue.len(), queue.first(), queue.last()), (plain.len(), plain.first(), plain.last()));
            if step % 97 == 0 {
                assert!(queue.iter().eq(&plain) && queue.iter().rev().eq(plain.iter().rev()));
                let after = |id| queue.places_after(id).iter().filter_map(QueuePlace::job);
                assert!(after(None).eq(&plain));
                for id in (0..=step).step_by(61).map(JobId) {
                    assert!(after(Some(id)).eq(plain.iter().filter(|job| job.id > id)), "{step}: {id:?}");
                }
                assert!(plain.iter().all(|job| queue.get(job.id) == Some(job)));
            }
        }
        assert_eq!(queue.get(JobId(30_000)), None);
    }
}
