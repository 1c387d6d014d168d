//! Does the recorded schedule fit a machine of nodes? If not, the machine is not that of the log.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::machine::{NodeGrant, Placement, give, take};
use crate::metrics::{WaitReason, reason_on};
use crate::text::{counted, grouped};
use crate::trace::Workload;
use shadowtime_core::tres::{Resource, Tres};

/// How much of the recorded schedule fits. Each job is placed at its recorded start, beside the jobs that run then by the log, on
/// the nodes that the placement chooses. One for which there is no room is left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordedFit {
    /// Jobs with a recorded start.
    pub jobs: u64,
    /// Those for which there was no room, for want of each resource.
    pub misfits: Tres,
    /// The number of the first of them in the log.
    pub first: i64,
}

impl RecordedFit {
    /// The fit of a workload. None on a pool of processors, and if the log has no starts.
    pub fn of(workload: &Workload) -> Option<RecordedFit> {
        let shapes = workload.shapes.as_ref()?;
        let cluster = shapes.cluster();
        let start_of = |at: usize| {
            let job = &workload.jobs[at];
            Some(job.submission.submit + job.recorded_wait.get()?)
        };
        let mut starts: Vec<(i64, usize)> =
            (0..workload.jobs.len()).filter_map(|at| Some((start_of(at)?, at))).collect();
        starts.sort_unstable();
        let mut fit = RecordedFit { jobs: starts.len() as u64, ..RecordedFit::default() };
        let mut free = cluster.resources();
        // Ends, with the places of grants.
        let mut ends: BinaryHeap<Reverse<(i64, usize)>> = BinaryHeap::new();
        let mut grants: Vec<NodeGrant> = Vec::new();
        for (start, at) in starts {
            while let Some(&Reverse((end, grant))) = ends.peek()
                && end <= start
            {
                ends.pop();
                give(&mut free, &std::mem::take(&mut grants[grant]));
            }
            let job = &workload.jobs[at];
            let shape = shapes.get(job.request);
            let mut places = 0..shape.places.len();
            let grant = places.find_map(|at| shape.place(at, Placement::Pack, cluster, &free, |_| false));
            match grant {
                Some(grant) => {
                    take(&mut free, &grant);
                    ends.push(Reverse((start + job.runtime, grants.len())));
                    grants.push(grant);
                }
                None => fit.add(job.number, reason_on(shape, cluster, &free)),
            }
        }
        (fit.jobs > 0).then_some(fit)
    }

    fn add(&mut self, job: i64, reason: WaitReason) {
        if self.count() == 0 {
            self.first = job;
        }
        let want = if let WaitReason::Want(kind) = reason { kind } else { Resource::Cpus };
        self.misfits[want] += 1;
    }

    /// How many jobs do not fit.
    pub fn count(&self) -> u64 {
        self.misfits.iter().map(|(_, count)| count).sum()
    }

    /// In words, if a job does not fit.
    pub fn in_words(&self) -> Option<String> {
        let causes = self.misfits.iter().filter(|(_, count)| *count > 0);
        let causes: Vec<String> =
            causes.map(|(kind, count)| format!("{} for want of {}", grouped(count), kind.many())).collect();
        (self.count() > 0).then(|| {
            format!(
                "the recorded schedule does not fit the machine: of {}, {} could not be placed when they started ({}), the \
                 first is job {}. Either the machine is not that of the log, or the site places jobs in another way",
                counted(self.jobs, "job"),
                grouped(self.count()),
                causes.join(", "),
                self.first
            )
        })
    }
}
