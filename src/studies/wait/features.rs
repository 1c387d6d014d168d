//! A job and the state of the site at its arrival, as 19 numbers (Kumar and Vadhiyar, Table 1).

use super::state::{SiteJob, SiteState};
use crate::job::Submission;
use crate::time::Time;

/// The number of features.
pub const FEATURES: usize = 19;

/// The numbers of a job at its arrival, in the order of the paper's Table 1. All are whole and at least 0.
pub type Features = [f64; FEATURES];

/// The indices of features that are used by name.
pub(super) const QUEUE_DEMAND: usize = 5;
pub(super) const QUEUE_LENGTH: usize = 6;
pub(super) const REMAINING: usize = 13;
pub(super) const RUNNING: usize = 14;
pub(super) const OCCUPIED: usize = 18;

/// The features of a job that arrives now and is not in the queue yet.
pub fn features(job: &Submission, state: &SiteState, now: Time) -> Features {
    let queue = OtherJobs::of(job, state.waiting(), SiteJob::demand);
    let procs = OtherJobs::of(job, state.running(), |other| other.remaining(now));
    let mut all = [0.0; FEATURES];
    (all[0], all[1]) = (f64::from(job.procs), job.estimate as f64);
    for (at, compared) in queue.by.iter().enumerate() {
        all[2 + at] = compared.rank() as f64;
        all[7 + at] = compared.lower_work as f64;
    }
    (all[QUEUE_DEMAND], all[QUEUE_LENGTH]) = (queue.work as f64, queue.jobs as f64);
    for (at, compared) in procs.by.iter().enumerate() {
        all[10 + at] = compared.rank() as f64;
        all[15 + at] = compared.lower_work as f64;
    }
    (all[REMAINING], all[RUNNING]) = (procs.work as f64, procs.jobs as f64);
    all[OCCUPIED] = state.occupied().max(0) as f64;
    all
}

/// The waiting or the running jobs, compared with one job.
#[derive(Default)]
struct OtherJobs {
    jobs: usize,
    work: i128,
    /// Compared by processors, by estimate and by processor time.
    by: [RankComparison; 3],
}

#[derive(Clone, Copy, Default)]
struct RankComparison {
    /// The jobs that are lower than the job or equal to it.
    not_higher: usize,
    /// The work of the jobs that are strictly lower.
    lower_work: i128,
}

impl RankComparison {
    /// The job's place, from 1 on, in the list sorted in increasing order: it enters behind its equals.
    fn rank(&self) -> usize {
        self.not_higher + 1
    }
}

impl OtherJobs {
    fn of(job: &Submission, others: &[SiteJob], work: impl Fn(&SiteJob) -> i128) -> OtherJobs {
        let demand = i128::from(job.procs) * i128::from(job.estimate);
        let mut compared = OtherJobs { jobs: others.len(), ..OtherJobs::default() };
        for other in others {
            let work = work(other);
            compared.work += work;
            let orders = [other.procs.cmp(&job.procs), other.estimate.cmp(&job.estimate), other.demand().cmp(&demand)];
            for (by, order) in compared.by.iter_mut().zip(orders) {
                by.not_higher += usize::from(order.is_le());
                by.lower_work += if order.is_lt() { work } else { 0 };
            }
        }
        compared
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::JobId;

    /// The names of the features, in the order of Table 1.
    const FEATURE_NAMES: [&str; FEATURES] = [
        "request_size",
        "ert",
        "queue_jobrank_req_size",
        "queue_jobrank_ert",
        "queue_jobrank_cputime",
        "queue_demand_cputime",
        "n_queue",
        "queue_demand_cputime_lower_req_size",
        "queue_demand_cputime_lower_ert",
        "queue_demand_cputime_lower_cputime",
        "proc_jobrank_req_size",
        "proc_jobrank_ert",
        "proc_jobrank_cputime",
        "proc_remain_cputime",
        "n_proc",
        "proc_remain_cputime_lower_req_size",
        "proc_remain_cputime_lower_ert",
        "proc_remain_cputime_lower_cputime",
        "occupied_nodes",
    ];

    #[test]
    fn every_feature_on_a_hand_made_state() {
        let mut state = SiteState::default();
        let submit = |state: &mut SiteState, id: u32, procs: u32, estimate: i64| {
            state.arrive(JobId(id), &Submission::new(0, procs, estimate));
        };
        // Running since 0 and since 50: 4 processors for 1000 s, 8 for 60 s (it runs longer), 2 for 300 s.
        for (id, procs, estimate, start) in [(0, 4, 1000, 0), (1, 8, 60, 0), (2, 2, 300, 50)] {
            submit(&mut state, id, procs, estimate);
            assert!(state.start(JobId(id), start));
        }
        // Waiting: 16 for 100 s (demand 1600), 4 for 500 s (2000), 1 for 2000 s (2000), and one that is cancelled.
        for (id, procs, estimate) in [(3, 16, 100), (4, 4, 500), (5, 1, 2000), (6, 3, 3)] {
            submit(&mut state, id, procs, estimate);
        }
        assert!(state.cancel(JobId(6)) && !state.cancel(JobId(6)) && !state.start(JobId(6), 9) && !state.end(JobId(6)));
        // A job of 4 processors for 500 s arrives at 100: a demand of 2000.
        let job = Submission::new(100, 4, 500);
        let remaining = [4.0 * 900.0, 0.0, 2.0 * 250.0];
        let expected: Features = [
            4.0,
            500.0,
            // Not higher: 1 and 4 processors; 100 s and 500 s; 1600 and twice 2000 processor-seconds.
            3.0,
            3.0,
            4.0,
            1600.0 + 2000.0 + 2000.0,
            3.0,
            // Strictly lower: 1 processor; 100 s; 1600 processor-seconds.
            2000.0,
            1600.0,
            1600.0,
            // On the processors, not higher: 2 and 4 processors; 60 s and 300 s; 480 and 600 processor-seconds.
            3.0,
            3.0,
            3.0,
            remaining.iter().sum(),
            3.0,
            // Strictly lower: 2 processors.
            remaining[2],
            remaining[1] + remaining[2],
            remaining[1] + remaining[2],
            14.0,
        ];
        let found = features(&job, &state, 100);
        for (at, name) in FEATURE_NAMES.iter().enumerate() {
            assert_eq!(found[at], expected[at], "{name}");
        }
        // An empty site: every rank is 1, and there is no other work.
        let alone = features(&job, &SiteState::default(), 100);
        let expected: Features = std::array::from_fn(|at| [4.0, 500.0, 1.0, 1.0, 1.0].get(at).copied().unwrap_or(0.0));
        assert_eq!(alone[..10], expected[..10]);
        assert_eq!(alone[10..], [1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        // Ended jobs have no influence.
        for id in 0..3 {
            assert!(state.end(JobId(id)));
        }
        assert_eq!(features(&job, &state, 100)[10..], alone[10..]);
    }
}
