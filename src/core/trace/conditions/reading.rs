//! The conditions of a log while it is read. Jobs are known by their ids until all records are there.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::{Conditions, Dependency, DependencyKind, Hold, JobArray, LogConditions};
use crate::time::Time;
use crate::trace::record::Record;

/// The id of a job or an array, as written.
type WrittenId = Box<[u8]>;

/// A hold as it is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WrittenHold {
    #[default]
    None,
    Until(Time),
    Forever,
}

/// The conditions of a row, as written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WrittenConditions {
    pub after: Vec<(DependencyKind, WrittenId)>,
    pub singleton: bool,
    pub begin: Option<Time>,
    pub hold: WrittenHold,
    pub array: Option<WrittenId>,
    pub array_limit: Option<u32>,
}

/// The conditions of the rows that were read so far.
#[derive(Debug, Default)]
pub struct ConditionsRead {
    /// Whether rows may name other jobs, so that the ids of all jobs are needed.
    pub needs_ids: bool,
    /// Those of the row that is being read.
    pub of_row: Option<WrittenConditions>,
    /// By record, in order.
    rows: Vec<(u32, WrittenConditions)>,
    /// The last record of each id: a job that ran again has ended when its last run has.
    ids: FxHashMap<WrittenId, u32>,
    /// The places of arrays by their ids.
    array_places: FxHashMap<WrittenId, usize>,
    /// In the order of their first rows.
    arrays: Vec<ArrayRead>,
}

/// An array of which rows were read.
#[derive(Debug, Default)]
struct ArrayRead {
    id: WrittenId,
    limit: Option<u32>,
    tasks: Vec<u32>,
}

impl ConditionsRead {
    /// Sets the limit of an array. Returns whether no row says another one.
    pub fn limit(&mut self, array: &[u8], limit: u32) -> bool {
        let known = &mut self.array(array).limit;
        *known.get_or_insert(limit) == limit
    }

    fn array(&mut self, id: &[u8]) -> &mut ArrayRead {
        let place = match self.array_places.get(id) {
            Some(&place) => place,
            None => {
                self.array_places.insert(id.into(), self.arrays.len());
                self.arrays.push(ArrayRead { id: id.into(), ..ArrayRead::default() });
                self.arrays.len() - 1
            }
        };
        &mut self.arrays[place]
    }

    /// Adds the record of the present row, which is after all that were added. `task_of` is its array, if the id says so.
    #[inline]
    pub fn add(&mut self, record: usize, id: &[u8], task_of: Option<&[u8]>) {
        if self.needs_ids | self.of_row.is_some() | task_of.is_some() {
            self.add_known(record as u32, id, task_of);
        }
    }

    fn add_known(&mut self, record: u32, id: &[u8], task_of: Option<&[u8]>) {
        let conditions = self.of_row.take();
        if self.needs_ids {
            self.ids.insert(id.into(), record);
        }
        let written = conditions.as_ref().and_then(|conditions| conditions.array.as_deref());
        if let Some(array) = task_of.or(written) {
            self.array(array).tasks.push(record);
        }
        self.rows.extend(conditions.map(|conditions| (record, conditions)));
    }

    /// The conditions of the records in their final order. `place` is the place of a record before, if that is not the same.
    pub fn finish(self, records: &[Record], place: Option<fn(&Record) -> usize>) -> LogConditions {
        if self.rows.is_empty() && self.arrays.is_empty() {
            return LogConditions::default();
        }
        let mut places: Vec<u32> = (0..records.len() as u32).collect();
        if let Some(place) = place {
            records.iter().zip(0..).for_each(|(record, at)| places[place(record)] = at);
        }
        let ConditionsRead { rows, ids, arrays, array_places, .. } = self;
        let (mut all, mut unknown) = (BTreeMap::<u32, Conditions>::new(), 0);
        for (record, written) in rows {
            let record = places[record as usize];
            let submit = records[record as usize].submit;
            let mut after = Vec::new();
            for (kind, id) in &written.after {
                // The id of an array means all its tasks.
                let tasks = array_places.get(id).map(|&place| &arrays[place].tasks[..]);
                let tasks = tasks.filter(|tasks| !tasks.is_empty());
                let jobs = tasks.or_else(|| ids.get(id).map(std::slice::from_ref)).unwrap_or_default();
                unknown += u64::from(jobs.is_empty());
                after.extend(jobs.iter().map(|&job| Dependency { kind: *kind, record: places[job as usize] }));
            }
            after.sort_unstable();
            after.dedup();
            let delay = |time: Time| (time - submit).max(0);
            let hold = match written.hold {
                WrittenHold::None => Hold::None,
                WrittenHold::Until(time) if time <= submit => Hold::None,
                WrittenHold::Until(time) => Hold::Until(delay(time)),
                WrittenHold::Forever => Hold::Forever,
            };
            let begin = written.begin.map_or(0, delay);
            all.insert(record, Conditions { after, singleton: written.singleton, begin, hold, array: None });
        }
        let mut known = Vec::new();
        for ArrayRead { id, limit, tasks } in arrays.into_iter().filter(|array| !array.tasks.is_empty()) {
            let mut tasks: Vec<u32> = tasks.into_iter().map(|task| places[task as usize]).collect();
            tasks.sort_unstable();
            if limit.is_some() {
                tasks.iter().for_each(|&task| all.entry(task).or_default().array = Some(known.len() as u32));
            }
            known.push(JobArray { id: String::from_utf8_lossy(&id).into_owned(), limit, tasks });
        }
        LogConditions::new(all.into_iter().collect(), known, unknown)
    }
}
