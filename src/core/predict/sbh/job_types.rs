//! Job types and their categories, looked up once per job, at its arrival.
//!
//! Being in one category must equal `similar` in tests/twins/oracle.rs, which compares jobs field by field.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::criterion::Criterion;
use crate::job::Submission;
use crate::time::Seconds;

/// A type of jobs: all jobs of one type have the same user, the same estimate and the same value of every field that any
/// criterion compares. So they match the same jobs. (The estimate is part of it because it may be the fallback.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobType(u32);

impl JobType {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// All users, job types and categories so far, each numbered from 0. A category is the set of a user's jobs with equal
/// values of the fields that one criterion compares.
#[derive(Debug)]
pub struct JobTypes {
    /// Masks: the fields that each criterion compares, and the user.
    criteria: Vec<TypeKey>,
    /// A mask: the fields that any criterion compares, the user and the estimate.
    any: TypeKey,
    /// By job type: its values.
    keys: Vec<TypeKey>,
    /// By job type: its user, and its category for each criterion. They are stored together because they are read together.
    rows: Vec<u32>,
    /// By category: one of its job types.
    pub some: Vec<JobType>,
    pub known_users: FxHashMap<i32, u32>,
    /// The job types, found by their keys, which are stored above: here a type has four bytes.
    known_types: HashTable<u32>,
    /// By criterion: the categories, found by the key of one of their types.
    known_categories: Vec<HashTable<u32>>,
}

/// The values of the compared fields, packed; or a mask of these fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct TypeKey([u64; 3]);

impl TypeKey {
    fn new(user: u32, procs: u32, executable: u32, queue: u32, estimate: u64) -> TypeKey {
        let pack = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
        TypeKey([pack(user, procs), pack(executable, queue), estimate])
    }

    fn mask(criterion: &Criterion) -> TypeKey {
        let Criterion { procs, estimate, executable, queue } = *criterion;
        let all = |compared: bool| if compared { u32::MAX } else { 0 };
        TypeKey::new(u32::MAX, all(procs), all(executable), all(queue), if estimate { u64::MAX } else { 0 })
    }

    fn masked(self, mask: TypeKey) -> TypeKey {
        TypeKey(std::array::from_fn(|word| self.0[word] & mask.0[word]))
    }
}

impl JobTypes {
    pub fn new(criteria: &[Criterion]) -> Self {
        let any = |compares: fn(&Criterion) -> bool| criteria.iter().any(compares);
        let (procs, executable, queue) = (any(|c| c.procs), any(|c| c.executable), any(|c| c.queue));
        JobTypes {
            criteria: criteria.iter().map(TypeKey::mask).collect(),
            any: TypeKey::mask(&Criterion { procs, estimate: true, executable, queue }),
            keys: Vec::new(),
            rows: Vec::new(),
            some: Vec::new(),
            known_users: FxHashMap::default(),
            known_types: HashTable::new(),
            known_categories: criteria.iter().map(|_| HashTable::new()).collect(),
        }
    }

    /// The user of a job type. Users are numbered in the order of their first jobs.
    pub fn user(&self, job_type: JobType) -> usize {
        self.rows[job_type.index() * (1 + self.criteria.len())] as usize
    }

    pub fn estimate(&self, job_type: JobType) -> Seconds {
        self.keys[job_type.index()].0[2] as Seconds
    }

    /// The categories of a job type, one for each criterion.
    pub fn categories(&self, job_type: JobType) -> &[u32] {
        let length = 1 + self.criteria.len();
        &self.rows[job_type.index() * length..][1..length]
    }

    /// The type of a job that arrives. Adds the type, its user and its categories if they are new.
    pub fn type_of(&mut self, job: &Submission) -> JobType {
        let Submission { user, procs, executable, queue, estimate, .. } = *job;
        let key = TypeKey::new(user as u32, procs, executable as u32, queue as u32, estimate as u64).masked(self.any);
        match self.known_types.find(hash(key), |&job_type| self.keys[job_type as usize] == key) {
            Some(&job_type) => JobType(job_type),
            None => self.add_type(key, user),
        }
    }

    #[cold]
    fn add_type(&mut self, key: TypeKey, user: i32) -> JobType {
        let job_type = JobType(self.keys.len() as u32);
        push_tightly(&mut self.keys, key);
        self.known_types.insert_unique(hash(key), job_type.0, |&job_type| hash(self.keys[job_type as usize]));
        let newcomer = self.known_users.len() as u32;
        push_tightly(&mut self.rows, *self.known_users.entry(user).or_insert(newcomer));
        for (&criterion, known) in self.criteria.iter().zip(&mut self.known_categories) {
            let key_of = |some: &[JobType], category: u32| self.keys[some[category as usize].index()].masked(criterion);
            let key = key.masked(criterion);
            let found = known.find(hash(key), |&category| key_of(&self.some, category) == key);
            let category = found.copied().unwrap_or_else(|| {
                push_tightly(&mut self.some, job_type);
                let category = self.some.len() as u32 - 1;
                known.insert_unique(hash(key), category, |&category| hash(key_of(&self.some, category)));
                category
            });
            push_tightly(&mut self.rows, category);
        }
        job_type
    }
}

/// Pushes to a vector whose capacity grows by an eighth instead of doubling: for large vectors that seldom grow.
pub fn push_tightly<T>(all: &mut Vec<T>, one: T) {
    if all.len() == all.capacity() {
        all.reserve_exact(all.len() / 8 + 16);
    }
    all.push(one);
}

fn hash(key: TypeKey) -> u64 {
    FxBuildHasher.hash_one(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares job types and categories with a list of all earlier jobs.
    #[test]
    fn jobs_have_one_type_or_category_if_the_compared_fields_are_equal() {
        let criteria = Criterion::parse_list("PE/Q/*").unwrap();
        let mut types = JobTypes::new(&criteria);
        let mut seen: Vec<(Submission, JobType)> = Vec::new();
        for number in 0..3000u32 {
            let scrambled = number.wrapping_mul(2_654_435_761) >> 8;
            let mut job = Submission::new(0, 1 + scrambled % 7, i64::from(1 + scrambled / 7 % 60));
            (job.user, job.queue) = ((scrambled / 420 % 5) as i32 - 1, (scrambled / 2100 % 3) as i32);
            job.executable = number as i32;
            let job_type = types.type_of(&job);
            assert_eq!(types.estimate(job_type), job.estimate);
            for (other, others_type) in &seen {
                let same_user = other.user == job.user;
                assert_eq!(types.user(job_type) == types.user(*others_type), same_user);
                let agree = [
                    same_user && (other.procs, other.estimate) == (job.procs, job.estimate),
                    same_user && other.queue == job.queue,
                    same_user,
                ];
                let (own, others) = (types.categories(job_type), types.categories(*others_type));
                assert_eq!([0, 1, 2].map(|criterion| own[criterion] == others[criterion]), agree);
                assert_eq!(job_type == *others_type, agree[0] && agree[1]);
            }
            if seen.len() < 400 {
                seen.push((job, job_type));
            }
        }
        assert_eq!(types.known_users.len(), 5);
    }
}
