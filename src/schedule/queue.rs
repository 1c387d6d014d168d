//! The waiting queue in arrival order, however deep: joining and leaving cost next to nothing.

use crate::job::JobId;
use crate::time::Seconds;

/// A waiting job as a policy sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    pub id: JobId,
    pub procs: u32,
    /// The prediction in force.
    pub prediction: Seconds,
    /// The prediction for the scheduler's own arithmetic: inflated, if that was asked for.
    pub length: Seconds,
}

/// The jobs that wait.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    /// In arrival order, which is that of their ids. Who leaves keeps the place, with no processors, until there are so
    /// many empty places that closing the ranks is worth it.
    places: Vec<Waiting>,
    /// All places before this one are empty.
    first: usize,
    count: usize,
    /// Where the one stands that was predicted last.
    predicted: usize,
}

impl Queue {
    /// So few empty places are not worth closing the ranks.
    const FEW: usize = 32;

    pub fn len(&self) -> usize {
        self.count
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Who came first.
    pub fn first(&self) -> Option<&Waiting> {
        self.places.get(self.first)
    }

    /// In arrival order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Waiting> + Clone {
        self.places[self.first..].iter().filter(|job| job.procs > 0)
    }

    /// The places of those who came after a job (of all, if there is none), in arrival order, the empty ones included:
    /// nobody stands where no processors are wanted.
    pub fn places_after(&self, id: Option<JobId>) -> &[Waiting] {
        let places = &self.places[self.first..];
        // Mostly the first is asked for, or one of the last.
        match (id, places) {
            (None, _) => places,
            (Some(id), [first, others @ ..]) if first.id == id => others,
            (Some(id), _) => {
                let count = places.iter().rev().take_while(|job| job.id > id).count();
                &places[places.len() - count..]
            }
        }
    }

    pub fn get(&self, id: JobId) -> Option<&Waiting> {
        self.place(id).map(|at| &self.places[at])
    }

    /// A job arrives; its id is above all others.
    pub(crate) fn push(&mut self, job: Waiting) {
        debug_assert!(job.procs > 0 && self.places.last().is_none_or(|last| last.id < job.id));
        self.places.push(job);
        self.count += 1;
    }

    /// A job leaves; none if it does not wait.
    pub(crate) fn remove(&mut self, id: JobId) -> Option<Waiting> {
        let at = self.place(id)?;
        let job = self.places[at];
        self.places[at].procs = 0;
        self.count -= 1;
        if self.count == 0 {
            self.places.clear();
            self.first = 0;
            return Some(job);
        }
        // Most who come leave soon, so that empty places are mostly the last.
        while self.places.last().is_some_and(|job| job.procs == 0) {
            self.places.pop();
        }
        if self.places.len() > Self::FEW + 2 * self.count {
            self.places.retain(|job| job.procs > 0);
            self.first = 0;
        }
        while self.places[self.first].procs == 0 {
            self.first += 1;
        }
        Some(job)
    }

    /// A job's prediction changes; the job as it is then, if it waits.
    pub(crate) fn predict(&mut self, id: JobId, prediction: Seconds, length: Seconds) -> Option<&Waiting> {
        // Where many are, they are jobs of one user that came one after the other.
        let next = self.predicted + 1;
        let at =
            if self.places.get(next).is_some_and(|job| job.id == id && job.procs > 0) { next } else { self.place(id)? };
        self.predicted = at;
        let job = &mut self.places[at];
        (job.prediction, job.length) = (prediction, length);
        Some(job)
    }

    fn place(&self, id: JobId) -> Option<usize> {
        // Whoever has just arrived is asked for most, and the head.
        let last = self.places.len().checked_sub(1)?;
        let at = match id {
            id if id == self.places[last].id => last,
            id if id == self.places[self.first].id => self.first,
            id => self.first + self.places[self.first..].binary_search_by_key(&id, |job| job.id).ok()?,
        };
        (self.places[at].procs > 0).then_some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::stream;
    use rand::RngExt;

    /// Against a plain list, over a long random history of joining and leaving.
    #[test]
    fn the_queue_is_the_plain_list() {
        let mut rng = stream(1, "queue");
        let (mut queue, mut plain) = (Queue::default(), Vec::<Waiting>::new());
        for step in 0..20_000u32 {
            // Deep in the middle of the history, empty now and then.
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
            if !plain.is_empty() {
                let at = rng.random_range(0..plain.len());
                plain[at].prediction = i64::from(step);
                assert_eq!(queue.predict(plain[at].id, i64::from(step), 0), Some(&plain[at]));
            }
            assert_eq!((queue.len(), queue.first()), (plain.len(), plain.first()));
            if step % 97 == 0 {
                assert!(queue.iter().eq(&plain) && queue.iter().rev().eq(plain.iter().rev()));
                let after = |id| queue.places_after(id).iter().filter(|job| job.procs > 0);
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
