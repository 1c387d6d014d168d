//! Which jobs are tasks of the same array.

use rustc_hash::FxHashMap;

use crate::job::JobId;
use crate::schedule::slurm::nodes::{ArrayTasks, SlurmJob};
use crate::time::Time;
use crate::trace::TaskArrays;

/// The arrays of a log, and what is known of those that have arrived.
#[derive(Default)]
pub(super) struct KnownArrays {
    of_log: TaskArrays,
    arrived: FxHashMap<u32, KnownArray>,
}

/// An array of which a task has arrived.
struct KnownArray {
    /// The number of the first task.
    number: u64,
    /// When the first task was submitted. The others have its age, also those that the limit of the array has kept back.
    submit: Time,
    tasks: u32,
}

impl KnownArrays {
    /// Of the jobs of a log.
    pub fn new(of_log: Option<&TaskArrays>) -> KnownArrays {
        KnownArrays { of_log: of_log.cloned().unwrap_or_default(), ..KnownArrays::default() }
    }

    /// A job arrives, which may be the task of an array.
    pub fn join(&mut self, id: JobId, job: &mut SlurmJob) {
        let Some(array) = self.of_log.of_job(id.index()) else { return };
        let first = KnownArray { number: job.id, submit: job.submit, tasks: 0 };
        let known = self.arrived.entry(array).or_insert(first);
        known.tasks += 1;
        (job.array, job.submit, job.eligible) = (Some(known.number), known.submit, known.submit);
        let held = self.of_log.limited_size(array).map_or(0, |size| size.saturating_sub(known.tasks));
        job.behind = (held > 0).then(|| Box::new(ArrayTasks { held, ..ArrayTasks::default() }));
    }
}
