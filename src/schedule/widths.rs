//! An index of a deep queue: the next job that can be backfilled, without going through those that cannot.
//!
//! A job may be backfilled if it fits the free processors and either is short enough to end by the shadow time or fits
//! the extra ones. Among jobs of one width only lengths differ: so jobs stand by width, each width in arrival order with
//! a tree of least lengths above it, and the widths that are too wide are never looked at.

use super::queue::Waiting;
use crate::job::JobId;
use crate::time::Seconds;

/// What a job must fit to be backfilled.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    pub free: i64,
    /// What is free beside the reservation, for jobs of any length.
    pub extra: i64,
    /// The longest that ends by the shadow time.
    pub longest: Seconds,
}

impl Room {
    pub fn holds(&self, job: &Waiting) -> bool {
        // All of it, whatever its parts say: a branch at each would be guessed wrong too often.
        self.is_wide_enough(job) & ((job.length <= self.longest) | (i64::from(job.procs) <= self.extra))
    }

    /// Whether the job fits the free processors. An empty place in a queue, which wants none, does not.
    pub fn is_wide_enough(&self, job: &Waiting) -> bool {
        i64::from(job.procs.wrapping_sub(1)) < self.free
    }
}

/// A job that there is room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    pub id: JobId,
    pub procs: i64,
    pub length: Seconds,
}

impl From<&Waiting> for Held {
    fn from(job: &Waiting) -> Held {
        Held { id: job.id, procs: i64::from(job.procs), length: job.length }
    }
}

/// A queue by width.
#[derive(Clone, Debug, Default)]
pub struct Widths {
    /// Ascending; none is empty.
    widths: Vec<Width>,
    /// Scratch: trees of widths that are gone, for others to come.
    spare: Vec<Width>,
}

/// The jobs of one width.
#[derive(Clone, Debug, Default)]
struct Width {
    procs: i64,
    /// In arrival order, those that have left included, until the tree is full.
    ids: Vec<JobId>,
    count: usize,
    /// The least length of all: the root of the tree, here at hand.
    shortest: Seconds,
    /// A tree in an array: the least length below each node, the root at 1, the jobs from `room` on. Whoever has left is
    /// longer than anyone.
    least: Vec<Seconds>,
    room: usize,
    /// Where the one stands whose length changed last.
    changed: usize,
}

const NOBODY: Seconds = Seconds::MAX;

impl Widths {
    pub fn clear(&mut self) {
        self.spare.append(&mut self.widths);
    }

    pub fn push(&mut self, job: &Waiting) {
        let procs = i64::from(job.procs);
        let at = match self.place(procs) {
            Ok(at) => at,
            Err(at) => {
                let mut width = self.spare.pop().unwrap_or_default();
                width.begin(procs);
                self.widths.insert(at, width);
                at
            }
        };
        self.widths[at].push(job.id, job.length);
    }

    pub fn remove(&mut self, job: &Waiting) {
        if let Ok(at) = self.place(i64::from(job.procs))
            && let Some(place) = self.widths[at].find(job.id)
        {
            self.leave(at, place);
        }
    }

    /// A job has another length.
    pub fn change(&mut self, job: &Waiting) {
        if let Ok(at) = self.place(i64::from(job.procs)) {
            self.widths[at].change(job.id, job.length);
        }
    }

    /// The width of the narrowest job.
    pub fn narrowest(&self) -> Option<i64> {
        self.widths.first().map(|width| width.procs)
    }

    /// Takes out, of the jobs that the room holds, the one that came first.
    pub fn take_earliest(&mut self, room: &Room) -> Option<Held> {
        let longest = |procs| if procs <= room.extra { NOBODY - 1 } else { room.longest };
        self.take_first(room.free, |width| width.earliest(longest(width.procs)))
    }

    /// Takes out, of the jobs that the room holds, the shortest; of equally short ones the one that came first.
    pub fn take_shortest(&mut self, room: &Room) -> Option<Held> {
        let shortest = |most: i64| {
            let fitting = self.widths.iter().take_while(move |width| width.procs <= most);
            fitting.map(|width| width.shortest).min().filter(|&least| least != NOBODY)
        };
        // The shortest that fits at all; if that is too long, so are all others, and only the extra processors are left.
        let (least, most) = match shortest(room.free)? {
            least if least <= room.longest => (least, room.free),
            _ => (shortest(room.free.min(room.extra))?, room.free.min(room.extra)),
        };
        self.take_first(most, |width| width.earliest(least))
    }

    /// Takes out the job that came first of those that are found, one in each width up to the widest.
    fn take_first(&mut self, widest: i64, find: impl Fn(&Width) -> Option<(JobId, usize)>) -> Option<Held> {
        let fitting = self.widths.iter().enumerate().take_while(|(_, width)| width.procs <= widest);
        let found = fitting.filter_map(|(at, width)| find(width).map(|(id, place)| (id, at, place)));
        let (id, at, place) = found.min()?;
        let width = &self.widths[at];
        let held = Held { id, procs: width.procs, length: width.least[width.room + place] };
        self.leave(at, place);
        Some(held)
    }

    /// Whoever stands at a place of a width leaves.
    fn leave(&mut self, at: usize, place: usize) {
        let width = &mut self.widths[at];
        width.put(place, NOBODY);
        width.count -= 1;
        if width.count == 0 {
            self.spare.push(self.widths.remove(at));
        }
    }

    fn place(&self, procs: i64) -> Result<usize, usize> {
        self.widths.binary_search_by_key(&procs, |width| width.procs)
    }
}

impl Width {
    const SMALLEST: usize = 8;

    fn begin(&mut self, procs: i64) {
        self.procs = procs;
        self.ids.clear();
        self.count = 0;
        self.shortest = NOBODY;
        self.room = Self::SMALLEST;
        self.least.clear();
        self.least.resize(2 * self.room, NOBODY);
    }

    fn push(&mut self, id: JobId, length: Seconds) {
        if self.ids.len() == self.room {
            self.close_ranks();
        }
        self.ids.push(id);
        self.count += 1;
        self.put(self.ids.len() - 1, length);
    }

    /// Drops those who have left, and makes room for as many again as there are.
    fn close_ranks(&mut self) {
        let lengths: Vec<Seconds> = self.least[self.room..self.room + self.ids.len()].to_vec();
        let mut stays = lengths.iter().map(|&length| length != NOBODY);
        self.ids.retain(|_| stays.next() == Some(true));
        self.room = (2 * self.ids.len()).next_power_of_two().max(Self::SMALLEST);
        self.least.clear();
        self.least.resize(self.room, NOBODY);
        self.least.extend(lengths.into_iter().filter(|&length| length != NOBODY));
        self.least.resize(2 * self.room, NOBODY);
        for node in (1..self.room).rev() {
            self.least[node] = self.least[2 * node].min(self.least[2 * node + 1]);
        }
    }

    fn change(&mut self, id: JobId, length: Seconds) {
        // Where many change, they are jobs of one user that came one after the other.
        let next = self.changed + 1;
        let is_next = self.ids.get(next) == Some(&id) && self.least[self.room + next] != NOBODY;
        if let Some(place) = if is_next { Some(next) } else { self.find(id) } {
            self.changed = place;
            self.put(place, length);
        }
    }

    /// Where a job stands, if it does.
    fn find(&self, id: JobId) -> Option<usize> {
        self.ids.binary_search(&id).ok().filter(|place| self.least[self.room + place] != NOBODY)
    }

    fn put(&mut self, place: usize, length: Seconds) {
        let mut node = self.room + place;
        self.least[node] = length;
        while node > 1 {
            node /= 2;
            let least = self.least[2 * node].min(self.least[2 * node + 1]);
            // What is above a node that stays the same stays the same.
            if std::mem::replace(&mut self.least[node], least) == least {
                return;
            }
        }
        self.shortest = self.least[1];
    }

    /// Who came first of those that are no longer than this, and where that one stands.
    fn earliest(&self, longest: Seconds) -> Option<(JobId, usize)> {
        if self.shortest > longest {
            return None;
        }
        let mut node = 1;
        while node < self.room {
            node = if self.least[2 * node] <= longest { 2 * node } else { 2 * node + 1 };
        }
        Some((self.ids[node - self.room], node - self.room))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::stream;
    use rand::RngExt;

    /// Against a look at every job, over a long random history.
    #[test]
    fn the_index_finds_what_a_scan_finds() {
        let mut rng = stream(1, "widths");
        let (mut widths, mut plain) = (Widths::default(), Vec::<Waiting>::new());
        for step in 0..6000u32 {
            let length = rng.random_range(1..50) * rng.random_range(1..20);
            match rng.random_range(0..10) {
                0..4 if !plain.is_empty() => {
                    let job = plain.remove(rng.random_range(0..plain.len()));
                    widths.remove(&job);
                }
                4..6 if !plain.is_empty() => {
                    let at = rng.random_range(0..plain.len());
                    plain[at].length = length;
                    widths.change(&plain[at]);
                }
                _ => {
                    let procs = 1 << rng.random_range(0..6) | rng.random_range(0..2);
                    plain.push(Waiting { id: JobId(step), procs, prediction: length, length });
                    widths.push(&plain[plain.len() - 1]);
                }
            }
            let room = Room {
                free: rng.random_range(0..40),
                extra: rng.random_range(0..20),
                longest: rng.random_range(0..400),
            };
            let held = plain.iter().filter(|job| room.holds(job));
            let earliest = held.clone().min_by_key(|job| job.id).map(Held::from);
            assert_eq!(widths.clone().take_earliest(&room), earliest, "{step}");
            let shortest = held.min_by_key(|job| (job.length, job.id)).map(Held::from);
            assert_eq!(widths.clone().take_shortest(&room), shortest, "{step}");
            if let Some(taken) = shortest.filter(|_| step % 5 == 0) {
                widths.take_shortest(&room);
                plain.retain(|job| job.id != taken.id);
            }
            if step == 4000 {
                widths.clear();
                plain.iter().for_each(|job| widths.push(job));
            }
        }
    }
}
