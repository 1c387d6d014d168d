//! Who is whose twin, and in which categories twins are: looked up once, when a job arrives.
//!
//! Being in one category must equal `similar` in tests/suite/oracle.rs, which compares jobs field by field.

use std::hash::{BuildHasher, Hash};

use rustc_hash::{FxBuildHasher, FxHashMap};

use super::criterion::Criterion;
use crate::job::Submission;
use crate::time::Seconds;

/// Twins: jobs that no criterion can tell apart, for they agree in user and estimate, and in whatever else any of the
/// criteria compares. (Where nothing matches a job, its estimate may have to stand in.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Twins(u32);

impl Twins {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// All twins and categories there have been, both numbered from 0, and so are users. A category is a user's jobs with
/// the same values of what one criterion compares.
#[derive(Debug)]
pub struct Register {
    /// What each criterion compares, and the user.
    criteria: Vec<Key>,
    /// What any of them compares, and the user and the estimate.
    any: Key,
    /// By twins: what they agree in.
    keys: Vec<Key>,
    /// By twins: their user, and for each criterion their category; all in a row because they are asked for together.
    rows: Vec<u32>,
    /// By category: some twins of it.
    some: Vec<Twins>,
    known_users: FxHashMap<i32, u32>,
    known_twins: Table,
    /// By criterion.
    known_categories: Vec<Table>,
}

/// The values that are compared, packed; or, as a mask, which of them are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key([u64; 3]);

impl Key {
    fn new(user: u32, procs: u32, executable: u32, queue: u32, estimate: u64) -> Key {
        let pack = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
        Key([pack(user, procs), pack(executable, queue), estimate])
    }

    fn mask(criterion: &Criterion) -> Key {
        let Criterion { procs, estimate, executable, queue } = *criterion;
        let all = |compared: bool| if compared { u32::MAX } else { 0 };
        Key::new(u32::MAX, all(procs), all(executable), all(queue), if estimate { u64::MAX } else { 0 })
    }

    fn masked(self, mask: Key) -> Key {
        Key(std::array::from_fn(|word| self.0[word] & mask.0[word]))
    }
}

impl Register {
    pub fn new(criteria: &[Criterion]) -> Self {
        let any = |compares: fn(&Criterion) -> bool| criteria.iter().any(compares);
        let (procs, executable, queue) = (any(|c| c.procs), any(|c| c.executable), any(|c| c.queue));
        Register {
            criteria: criteria.iter().map(Key::mask).collect(),
            any: Key::mask(&Criterion { procs, estimate: true, executable, queue }),
            keys: Vec::new(),
            rows: Vec::new(),
            some: Vec::new(),
            known_users: FxHashMap::default(),
            known_twins: Table::default(),
            known_categories: criteria.iter().map(|_| Table::default()).collect(),
        }
    }

    /// Users by the order in which they first came.
    pub fn user(&self, twins: Twins) -> usize {
        self.rows[twins.index() * (1 + self.criteria.len())] as usize
    }

    pub fn estimate(&self, twins: Twins) -> Seconds {
        self.keys[twins.index()].0[2] as Seconds
    }

    /// The categories that twins are in, one for each criterion.
    pub fn categories(&self, twins: Twins) -> &[u32] {
        let length = 1 + self.criteria.len();
        &self.rows[twins.index() * length..][1..length]
    }

    pub fn count_users(&self) -> usize {
        self.known_users.len()
    }

    pub fn count_categories(&self) -> usize {
        self.some.len()
    }

    /// The twins of a job that arrives; they may be new, and so may be their user and categories.
    pub fn twins(&mut self, job: &Submission) -> Twins {
        let Submission { user, procs, executable, queue, estimate, .. } = *job;
        let key = Key::new(user as u32, procs, executable as u32, queue as u32, estimate as u64).masked(self.any);
        let slot = match self.known_twins.find(&key, |twins| self.keys[twins as usize]) {
            Ok(twins) => return Twins(twins),
            Err(slot) => slot,
        };
        self.enroll(key, slot, user)
    }

    #[cold]
    fn enroll(&mut self, key: Key, slot: usize, user: i32) -> Twins {
        let twins = Twins(self.keys.len() as u32);
        push_tightly(&mut self.keys, key);
        self.known_twins.insert(slot, twins.0, |twins| self.keys[twins as usize]);
        let newcomer = self.known_users.len() as u32;
        push_tightly(&mut self.rows, *self.known_users.entry(user).or_insert(newcomer));
        for (&criterion, known) in self.criteria.iter().zip(&mut self.known_categories) {
            let key_of = |some: &[Twins], category: u32| self.keys[some[category as usize].index()].masked(criterion);
            let found = known.find(&key.masked(criterion), |category| key_of(&self.some, category));
            let category = found.unwrap_or_else(|slot| {
                push_tightly(&mut self.some, twins);
                let category = self.some.len() as u32 - 1;
                known.insert(slot, category, |category| key_of(&self.some, category));
                category
            });
            push_tightly(&mut self.rows, category);
        }
        twins
    }
}

/// Grows by an eighth, not to the double: where there are many, and no more come every moment.
pub fn push_tightly<T>(all: &mut Vec<T>, one: T) {
    if all.len() == all.capacity() {
        all.reserve_exact(all.len() / 8 + 16);
    }
    all.push(one);
}

/// Finds a number by what it stands for, which is kept elsewhere: a hash table of four bytes a slot.
#[derive(Debug)]
struct Table {
    /// A power of two of them; at least a quarter is free.
    slots: Vec<u32>,
    taken: usize,
}

const FREE: u32 = u32::MAX;

impl Default for Table {
    fn default() -> Self {
        Table { slots: vec![FREE; 4], taken: 0 }
    }
}

impl Table {
    /// The number that stands for a key, or the slot where it should be.
    fn find<K: Hash + Eq>(&self, key: &K, key_of: impl Fn(u32) -> K) -> Result<u32, usize> {
        let last = self.slots.len() - 1;
        let mut slot = FxBuildHasher.hash_one(key) as usize & last;
        loop {
            match self.slots[slot] {
                FREE => return Err(slot),
                number if key_of(number) == *key => return Ok(number),
                _ => slot = (slot + 1) & last,
            }
        }
    }

    fn insert<K: Hash + Eq>(&mut self, slot: usize, number: u32, key_of: impl Fn(u32) -> K) {
        self.slots[slot] = number;
        self.taken += 1;
        if self.taken * 4 > self.slots.len() * 3 {
            let twice = vec![FREE; self.slots.len() * 2];
            for number in std::mem::replace(&mut self.slots, twice).into_iter().filter(|number| *number != FREE) {
                let slot = self.find(&key_of(number), &key_of).expect_err("no two numbers stand for the same");
                self.slots[slot] = number;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Twins and categories against a list of all jobs that came before.
    #[test]
    fn jobs_are_twins_and_share_categories_if_they_agree_in_what_is_compared() {
        let criteria = Criterion::parse_list("PE/Q/*").unwrap();
        let mut register = Register::new(&criteria);
        let mut seen: Vec<(Submission, Twins)> = Vec::new();
        for number in 0..3000u32 {
            let scrambled = number.wrapping_mul(2_654_435_761) >> 8;
            let mut job = Submission::new(0, 1 + scrambled % 7, i64::from(1 + scrambled / 7 % 60));
            (job.user, job.queue) = ((scrambled / 420 % 5) as i32 - 1, (scrambled / 2100 % 3) as i32);
            job.executable = number as i32;
            let twins = register.twins(&job);
            assert_eq!(register.estimate(twins), job.estimate);
            for (other, others_twins) in &seen {
                let same_user = other.user == job.user;
                assert_eq!(register.user(twins) == register.user(*others_twins), same_user);
                let agree = [
                    same_user && (other.procs, other.estimate) == (job.procs, job.estimate),
                    same_user && other.queue == job.queue,
                    same_user,
                ];
                let (own, others) = (register.categories(twins), register.categories(*others_twins));
                assert_eq!([0, 1, 2].map(|criterion| own[criterion] == others[criterion]), agree);
                assert_eq!(twins == *others_twins, agree[0] && agree[1]);
            }
            if seen.len() < 400 {
                seen.push((job, twins));
            }
        }
        assert_eq!((register.count_users(), register.some.len()), (5, register.count_categories()));
    }
}
