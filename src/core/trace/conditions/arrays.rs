//! Which jobs of a workload are tasks of the same array, for a scheduler that has one place in its queue for an array.

use rustc_hash::FxHashMap;

use super::RecordPlaces;
use crate::trace::workload::Workload;

/// The arrays of a workload. A copy of a task, if the log is repeated, belongs to a copy of its array.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskArrays {
    /// By job, in workload order: the number of its array. Jobs after the end are no tasks.
    of_job: Vec<Option<u32>>,
    /// By array with a limit: how many tasks it has.
    limited: FxHashMap<u32, u32>,
}

impl TaskArrays {
    /// Those of a workload.
    pub fn of(workload: &Workload) -> TaskArrays {
        let Workload { jobs, conditions, .. } = workload;
        if conditions.arrays.is_empty() {
            return TaskArrays::default();
        }
        let (array_of, places) = (conditions.array_places(), RecordPlaces::new(jobs));
        let (mut numbers, mut limited) = (FxHashMap::default(), FxHashMap::default());
        let mut number = |(job, at): (&crate::job::Job, u32)| {
            let &array = array_of.get(&job.record)?;
            let next = numbers.len() as u32;
            let number = *numbers.entry((array, places.copy(job.record, at))).or_insert(next);
            if conditions.arrays[array as usize].limit.is_some() {
                *limited.entry(number).or_default() += 1;
            }
            Some(number)
        };
        let of_job = jobs.iter().zip(0..).map(&mut number).collect();
        TaskArrays { of_job, limited }
    }

    /// Jobs of which the array of each is known, and no more.
    pub fn of_jobs(arrays: impl Iterator<Item = Option<u32>>) -> TaskArrays {
        TaskArrays { of_job: arrays.collect(), ..TaskArrays::default() }
    }

    /// The array of a job, by its place in the workload.
    pub fn of_job(&self, at: usize) -> Option<u32> {
        self.of_job.get(at).copied().flatten()
    }

    /// How many tasks an array has, if only some of them may be in the queue at once.
    pub fn limited_size(&self, array: u32) -> Option<u32> {
        self.limited.get(&array).copied()
    }
}
