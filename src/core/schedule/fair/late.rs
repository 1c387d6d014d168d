//! The jobs that have started virtually and not in reality.

use crate::job::{ArrivalNumber, JobId};
use crate::time::Time;

/// Jobs by virtual start, then by arrival. A job that leaves keeps its place, as a gap, until there are enough gaps to remove them
/// together.
#[derive(Clone, Debug, Default)]
pub(super) struct LateJobs {
    jobs: Vec<(Time, ArrivalNumber, JobId, bool)>,
    gaps: usize,
}

impl LateJobs {
    /// Gaps are removed when there are more of them than jobs, plus this number.
    const FEW: usize = 32;

    /// Adds a job. Few have started virtually after it, usually none.
    pub fn push(&mut self, start: Time, arrival: ArrivalNumber, id: JobId) {
        let at = self.place(start, arrival);
        self.jobs.insert(at, (start, arrival, id, true));
    }

    /// Removes a job, if it is there.
    pub fn remove(&mut self, start: Time, arrival: ArrivalNumber) {
        let at = self.place(start, arrival);
        let Some(job) = self.jobs.get_mut(at).filter(|job| (job.0, job.1) == (start, arrival)) else { return };
        job.3 = false;
        self.gaps += 1;
        if 2 * self.gaps > self.jobs.len() + Self::FEW {
            self.jobs.retain(|(.., is_there)| *is_there);
            self.gaps = 0;
        }
    }

    /// The jobs in their order.
    pub fn iter(&self) -> impl Iterator<Item = JobId> {
        self.jobs.iter().filter(|(.., is_there)| *is_there).map(|&(.., id, _)| id)
    }

    fn place(&self, start: Time, arrival: ArrivalNumber) -> usize {
        self.jobs.partition_point(|job| (job.0, job.1) < (start, arrival))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_jobs_are_in_order_of_their_virtual_starts() {
        let mut late = LateJobs::default();
        let push = |late: &mut LateJobs, start, at| late.push(start, ArrivalNumber(at), JobId(at));
        for (start, at) in [(5, 9), (7, 3), (7, 1), (8, 0)] {
            push(&mut late, start, at);
        }
        assert!(late.iter().eq([9, 1, 3, 0].map(JobId)));
        late.remove(7, ArrivalNumber(1));
        // It has left, and the other never came.
        late.remove(7, ArrivalNumber(1));
        late.remove(6, ArrivalNumber(9));
        assert!(late.iter().eq([9, 3, 0].map(JobId)));
        // The gaps are removed, and the others stay.
        (10..100).for_each(|id| push(&mut late, 9, id));
        (10..99).for_each(|id| late.remove(9, ArrivalNumber(id)));
        assert!(late.iter().eq([9, 3, 0, 99].map(JobId)));
        assert!(late.jobs.len() < 50);
    }
}
