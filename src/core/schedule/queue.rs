//! The queue of waiting jobs in order of arrival. Adding and removing jobs is fast for any length.

use super::room::Room;
use crate::job::{ArrivalNumber, JobId};
use crate::time::Seconds;

/// A waiting job as a policy sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The job.
    pub id: JobId,
    /// Its place in the order of arrival.
    pub arrival: ArrivalNumber,
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
pub struct QueuePlace(Waiting);

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
    /// In order of arrival. A job that leaves keeps its place until there are enough empty places to remove them together.
    places: Vec<QueuePlace>,
    /// All places before this one are empty.
    first: usize,
    count: usize,
    /// The place of the job that was predicted last.
    predicted: usize,
    /// By id: the places of all jobs in the order of arrival, or `NOT_ARRIVED`.
    arrivals: Vec<ArrivalNumber>,
    /// How many jobs have arrived.
    arrived: u32,
}

const NOT_ARRIVED: ArrivalNumber = ArrivalNumber(u32::MAX);

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
    #[inline]
    pub(super) fn places_after(&self, job: Option<ArrivalNumber>) -> &[QueuePlace] {
        let places = &self.places[self.first..];
        let Some(arrival) = job else { return places };
        // Usually it is the first job or one of the last.
        if let [first, others @ ..] = places
            && first.0.arrival == arrival
        {
            return others;
        }
        let count = places.iter().rev().take(Self::FEW).take_while(|place| place.0.arrival > arrival).count();
        match places.len() - count {
            few if count < Self::FEW => &places[few..],
            before => &places[places[..before].partition_point(|place| place.0.arrival <= arrival)..],
        }
    }

    /// The place in the order of arrival of a job that has arrived, whether it still waits or not.
    pub(crate) fn arrival(&self, id: JobId) -> ArrivalNumber {
        self.arrivals[id.index()]
    }

    /// A waiting job by its place in the order of arrival. None if the job does not wait.
    pub(super) fn arrived(&self, arrival: ArrivalNumber) -> Option<&Waiting> {
        self.places[self.place_of(arrival)?].job()
    }

    /// A waiting job by its id. None if the job does not wait.
    pub fn get(&self, id: JobId) -> Option<&Waiting> {
        self.place(id).map(|at| &self.places[at].0)
    }

    /// Adds a job that arrives. It has no prediction yet.
    #[inline]
    pub(crate) fn push(&mut self, id: JobId, procs: u32) {
        let arrival = ArrivalNumber(self.arrived);
        debug_assert!(procs > 0 && self.arrivals.get(id.index()).is_none_or(|other| *other == NOT_ARRIVED));
        id.store(&mut self.arrivals, arrival, NOT_ARRIVED);
        self.places.push(QueuePlace(Waiting { id, arrival, procs, prediction: 0, length: 0 }));
        (self.count, self.arrived) = (self.count + 1, self.arrived + 1);
    }

    /// Adds a job that has waited before: at its place in order of arrival.
    pub(crate) fn insert(&mut self, job: Waiting) {
        let at = self.places.partition_point(|place| place.0.arrival < job.arrival);
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
            id => self.place_of(*self.arrivals.get(id.index())?)?,
        };
        (!self.places[at].is_empty()).then_some(at)
    }

    /// The place of a job in the order of arrival, which may be empty.
    fn place_of(&self, arrival: ArrivalNumber) -> Option<usize> {
        let places = &self.places[self.first..];
        places.binary_search_by_key(&arrival, |place| place.0.arrival).ok().map(|at| self.first + at)
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
        // Ids are in another order than the arrivals.
        let waiting = |at: u32, procs, prediction| {
            let (id, arrival) = (JobId(at ^ 0x155), ArrivalNumber(at));
            Waiting { id, arrival, procs, prediction, length: 0 }
        };
        let mut arrived = 0;
        for step in 0..20_000u32 {
            // The queue is long in the middle of the history, and sometimes empty before and after.
            let leaves = if (8000..12_000).contains(&step) { 3 } else { 6 };
            if rng.random_range(0..10) < leaves && !plain.is_empty() {
                let at = if rng.random_bool(0.5) { 0 } else { rng.random_range(0..plain.len()) };
                let job = plain.remove(at);
                assert_eq!(queue.remove(job.id), Some(job));
                assert_eq!(queue.remove(job.id), None);
            } else {
                let job = waiting(arrived, 1 + step % 7, 0);
                queue.push(job.id, job.procs);
                plain.push(job);
                arrived += 1;
            }
            // A job that has left comes back to its place.
            let back = waiting(rng.random_range(0..arrived), 3, 5);
            if step % 5 == 0
                && let Err(at) = plain.binary_search_by_key(&back.arrival, |job| job.arrival)
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
                for at in (0..=arrived).step_by(61).map(ArrivalNumber) {
                    assert!(after(Some(at)).eq(plain.iter().filter(|job| job.arrival > at)), "{step}: {at:?}");
                }
                assert!(plain.iter().all(|job| queue.get(job.id) == Some(job)));
                assert!(plain.iter().all(|job| queue.arrived(job.arrival) == Some(job)));
            }
        }
        assert_eq!(queue.get(JobId(30_000)), None);
    }
}
