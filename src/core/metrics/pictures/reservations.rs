//! The starts that a scheduler reserves for jobs while they wait.

use rustc_hash::FxHashMap;

use crate::engine::{Event, Observer};
use crate::job::JobId;
use crate::schedule::Machine;
use crate::time::Time;

/// How many jobs at the head of the queue are looked at after each pass. A scheduler may reserve starts for all jobs, but a
/// reservation far back in a long queue says little, and takes as long to compute as the schedule itself.
const MOST: usize = 100;

/// Observes the first start that is reserved for each job. It keeps one entry for each job that had a reservation.
#[derive(Clone, Debug, Default)]
pub struct ReservedStarts {
    /// Of the jobs in the system, by place.
    waiting: Vec<Option<Time>>,
    /// Of the jobs that have started.
    started: FxHashMap<JobId, Time>,
}

impl ReservedStarts {
    /// None if the job never had a reservation: it started in the first pass, was backfilled, or waited far back in the queue.
    pub fn of(&self, job: JobId) -> Option<Time> {
        self.started.get(&job).copied()
    }
}

impl Observer for ReservedStarts {
    fn on(&mut self, _time: Time, event: &Event<'_>, _machine: &Machine) {
        match event {
            Event::Begin(wants) => wants.reservations(MOST),
            Event::Arrival(arrival) => {
                let place = arrival.job.place;
                if self.waiting.len() <= place {
                    self.waiting.resize(place + 1, None);
                }
                self.waiting[place] = None;
            }
            Event::Start(start) => {
                self.started.extend(self.waiting[start.job.place].map(|reserved| (start.job.id, reserved)));
            }
            Event::Pass(pass) => pass.reserved.iter().for_each(|reservation| {
                self.waiting[reservation.job.place].get_or_insert(reservation.start);
            }),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Setting;
    use crate::job::{Job, Submission};
    use crate::trace::Workload;

    fn reserved(workload: &Workload, scheduler: &str, predictor: &str) -> (ReservedStarts, Vec<Time>) {
        let setting = Setting::parse(scheduler, predictor).unwrap();
        let mut observer = ReservedStarts::default();
        let record = setting.run(workload, Some(&mut observer), &mut |_| ()).unwrap();
        (observer, record.finished(&workload.jobs).map(|job| job.start()).collect())
    }

    /// 4 processors. The first job is planned until 100 and ends at 50. The second needs all; the third needs one for 95 s.
    /// The fourth needs all.
    #[test]
    fn first_reservations_by_hand() {
        let job = |submit, procs, runtime, estimate| Job::new(Submission::new(submit, procs, estimate), runtime);
        let jobs = vec![job(0, 3, 50, 100), job(1, 4, 10, 20), job(2, 1, 10, 95), job(3, 4, 10, 30), job(4, 1, 30, 88)];
        let workload = Workload { procs: 4, jobs, ..crate::trace::demo_workload() };
        let first = |scheduler: &str| {
            let (reserved, starts) = reserved(&workload, scheduler, "estimate");
            ((0..5).map(|at| reserved.of(JobId(at))).collect::<Vec<_>>(), starts)
        };
        // The third is backfilled at 2: it ends by 97. The last is when the third has ended, at 12: it ends by 100. The fourth
        // becomes the head when the second starts, at 50, which is planned until 70 then.
        assert_eq!(first("easy"), (vec![None, Some(100), None, Some(70), None], vec![0, 50, 2, 60, 12]));
        // Each job that does not start has a reservation at once. The third is planned until 97, after which the last does not
        // fit until 100. So its place is behind the fourth, until the third ends at 12.
        let reserved = vec![None, Some(100), None, Some(120), Some(150)];
        assert_eq!(first("conservative"), (reserved, vec![0, 50, 2, 60, 12]));
        assert_eq!(first("fcfs").0, [None; 5]);
    }

    /// If all runtimes are known, nothing moves a reservation: the jobs start when it says.
    #[test]
    fn reservations_made_with_true_runtimes_are_kept() {
        let workload = crate::trace::demo_workload();
        for scheduler in ["easy", "sjbf", "conservative", "easy:reservations=5", "sjbf:reservations=2,protect=1h"] {
            let (reserved, starts) = reserved(&workload, scheduler, "perfect");
            assert!(reserved.started.len() > 200, "{scheduler}: {}", reserved.started.len());
            for (&start, job) in starts.iter().zip(0..) {
                assert_eq!(reserved.of(JobId(job)).unwrap_or(start), start, "{scheduler}: {job}");
            }
        }
    }
}
