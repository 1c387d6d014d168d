//! The figures of the paper's tables and text, computed from a schedule.

use super::schedule::{Allocation, DecisionKind, MalleableSchedule};
use super::workload::{DAY, DAYTIME, DaySequence, LIFETIMES, MalleableJob, MalleableWorkload};
use crate::stats::percentile;

/// The results of one run. Times are in seconds; undefined values are NaN.
#[derive(Clone, Copy, Debug)]
pub struct MalleableFigures {
    /// All jobs of the workload.
    pub jobs: usize,
    /// Jobs that got all processors they can use at once.
    pub spoiled: usize,
    /// Jobs that waited for more processors than were free.
    pub rebels: usize,
    /// Rebels with a longer turnaround than if they had been docile at their first decision.
    pub losers: usize,
    /// The saving of all rebels against docility, including losses, divided by the number of all jobs.
    pub saved_mean: f64,
    /// The same divided by the number of rebels.
    pub saved_by_rebel: f64,
    /// The median saving of a rebel.
    pub saved_by_rebel_median: f64,
    /// The mean loss of a loser.
    pub lost_by_loser: f64,
    /// The mean time from arrival to end in the schedule.
    pub turnaround_mean: f64,
    /// The mean time from arrival to start in the schedule.
    pub wait_mean: f64,
    /// The mean run time on the allocated processors.
    pub runtime_mean: f64,
    /// The median run time on the allocated processors.
    pub runtime_median: f64,
    /// See [`utilization`].
    pub utilization: f64,
    /// The mean sequential lifetime of rebels.
    pub rebel_lifetime: f64,
    /// The mean sequential lifetime of docile jobs.
    pub docile_lifetime: f64,
    /// The number of pairs of predicted and actual queue times; the next three values are computed from them in log
    /// space.
    pub pairs: u64,
    /// Their coefficient of correlation.
    pub correlation: f64,
    /// The slope of the least-squares line of actual on predicted.
    pub slope: f64,
    /// The intercept of that line.
    pub intercept: f64,
}

/// The time that a rebel saves against docility at its first decision, in seconds, negative for a loss; 0 for other
/// jobs.
pub fn saved(job: &MalleableJob, allocation: &Allocation) -> f64 {
    let Allocation { decided, offered, placement, .. } = allocation;
    match allocation.kind {
        DecisionKind::Rebel => (decided + job.runtime(*offered)) - (placement.start + job.runtime(placement.procs)),
        _ => 0.0,
    }
}

impl MalleableFigures {
    /// Computes the figures of a schedule of the jobs of `workload`.
    pub fn of(jobs: &[MalleableJob], workload: &MalleableWorkload, schedule: &MalleableSchedule) -> MalleableFigures {
        let both = || jobs.iter().zip(&schedule.allocations);
        let of_kind = |kind: DecisionKind| both().filter(move |(_, allocation)| allocation.kind == kind);
        let mut savings: Vec<f64> =
            of_kind(DecisionKind::Rebel).map(|(job, allocation)| saved(job, allocation)).collect();
        let losses: Vec<f64> = savings.iter().filter(|saved| **saved < 0.0).map(|saved| -saved).collect();
        let mut runtimes: Vec<f64> = both().map(|(job, at)| job.runtime(at.scheduled.procs)).collect();
        let waits: Vec<f64> = both().map(|(job, at)| at.scheduled.start - job.arrival).collect();
        let lifetimes = |kind| of_kind(kind).map(|(job, _)| job.lifetime).collect::<Vec<_>>();
        let scatter = schedule.scatter();
        let line = scatter.line();
        MalleableFigures {
            jobs: jobs.len(),
            spoiled: of_kind(DecisionKind::Spoiled).count(),
            rebels: savings.len(),
            losers: losses.len(),
            // The sum of an empty list would be -0.
            saved_mean: (savings.iter().sum::<f64>() + 0.0) / jobs.len() as f64,
            saved_by_rebel: mean(&savings),
            lost_by_loser: mean(&losses),
            turnaround_mean: mean(&waits) + mean(&runtimes),
            wait_mean: mean(&waits),
            runtime_mean: mean(&runtimes),
            runtime_median: percentile(&mut runtimes, 50.0),
            saved_by_rebel_median: percentile(&mut savings, 50.0),
            utilization: utilization(jobs, workload, schedule),
            rebel_lifetime: mean(&lifetimes(DecisionKind::Rebel)),
            docile_lifetime: mean(&lifetimes(DecisionKind::Docile)),
            pairs: scatter.count(),
            correlation: scatter.correlation().unwrap_or(f64::NAN),
            slope: line.map_or(f64::NAN, |line| line.slope),
            intercept: line.map_or(f64::NAN, |line| line.intercept),
        }
    }

    /// Percent of all jobs.
    pub fn rebels_pct(&self) -> f64 {
        100.0 * self.rebels as f64 / self.jobs as f64
    }

    /// Percent of the rebels.
    pub fn losers_pct(&self) -> f64 {
        100.0 * self.losers as f64 / self.rebels as f64
    }
}

/// NaN for an empty list.
fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The average over time and processors of the efficiency S(n) / n (section 6): for each day the sum of S(n) times the
/// time that jobs ran, over processors times the length of the day; then the mean over days. A day lasts until the last
/// job that arrived on it has started, and at least for its twelve hours of arrivals. (Over the whole run all
/// strategies would be equal, because every job does its work under any strategy.)
pub fn utilization(jobs: &[MalleableJob], workload: &MalleableWorkload, schedule: &MalleableSchedule) -> f64 {
    let allocations = &schedule.allocations;
    // No job runs for longer than on one processor.
    let longest = LIFETIMES.longest();
    let of_day = |day: u32| {
        let day_start = f64::from(day) * DAY;
        let [first, next] = [day, day + 1].map(|day| jobs.partition_point(|job| job.day() < day));
        let last = next.checked_sub(1).map_or(day_start, |last| allocations[last].scheduled.start);
        let (end, range) = match workload.sequence {
            DaySequence::Separate if first == next => return 0.0,
            // Only the day's own jobs run.
            DaySequence::Separate => (last.max(day_start + DAYTIME), first..next),
            DaySequence::Continuous => {
                let end = last.max(day_start + DAYTIME);
                // First come, first served: allocations are in order of start.
                let from = allocations.partition_point(|other| other.scheduled.start < day_start - longest);
                (end, from..allocations.partition_point(|other| other.scheduled.start < end))
            }
        };
        let work = jobs[range.clone()].iter().zip(&allocations[range]).map(|(job, allocation)| {
            let placement = allocation.scheduled;
            let ran = (placement.start + job.runtime(placement.procs)).min(end) - placement.start.max(day_start);
            job.speedup(placement.procs) * ran.max(0.0)
        });
        work.sum::<f64>() / (f64::from(workload.procs) * (end - day_start))
    };
    (0..workload.days).map(of_day).sum::<f64>() / f64::from(workload.days)
}

#[cfg(test)]
mod tests {
    use super::super::schedule::{StudyView, schedule_malleable};
    use super::super::strategy::Strategy;
    use super::*;

    /// Linear speedup, so that the run time is L / n and all results can be checked by hand.
    fn job(arrival: f64, lifetime: f64, parallelism: f64) -> MalleableJob {
        MalleableJob { arrival, lifetime, parallelism, sigma: 0.0 }
    }

    /// Four processors. The first job takes 3 of them for 10,000 s; the second could have 4: it takes 1 for 40,000 s under
    /// AVG, and under OPT waits 10,000 s to run on 4 for 10,000 s.
    fn l_shaped() -> Vec<MalleableJob> {
        vec![job(0.0, 30_000.0, 3.0), job(0.0, 40_000.0, 4.0)]
    }

    /// Four processors.
    fn of_days(days: u32, sequence: DaySequence) -> MalleableWorkload {
        MalleableWorkload { procs: 4, days, sequence, ..MalleableWorkload::default() }
    }

    fn figures(
        jobs: &[MalleableJob],
        workload: &MalleableWorkload,
        strategy: &str,
        view: StudyView,
    ) -> MalleableFigures {
        let schedule = schedule_malleable(jobs, workload, Strategy::parse(strategy).unwrap().rule, view, None);
        MalleableFigures::of(jobs, workload, &schedule)
    }

    #[test]
    fn figure_6_by_hand() {
        let day = of_days(1, DaySequence::Separate);
        let avg = figures(&l_shaped(), &day, "avg", StudyView::System);
        assert_eq!((avg.spoiled, avg.rebels, avg.saved_mean), (1, 0, 0.0));
        assert_eq!((avg.turnaround_mean, avg.runtime_median), (25_000.0, 10_000.0));
        // 3 x 10,000 and 1 x 40,000 of 4 x 43,200 processor seconds.
        assert!((avg.utilization - 70_000.0 / 172_800.0).abs() < 1e-12);
        assert!(avg.losers_pct().is_nan());
        let opt = figures(&l_shaped(), &day, "opt", StudyView::System);
        assert_eq!((opt.rebels, opt.losers, opt.turnaround_mean), (1, 0, 15_000.0));
        assert_eq!((opt.saved_mean, opt.saved_by_rebel, opt.wait_mean), (10_000.0, 20_000.0, 5_000.0));
        assert_eq!(opt.rebel_lifetime, 40_000.0);
        // The same decision in the application's view: the saving it would have, in the schedule of AVG.
        let aside = figures(&l_shaped(), &day, "opt", StudyView::Application);
        assert_eq!((aside.rebels, aside.saved_mean, aside.turnaround_mean), (1, 10_000.0, 25_000.0));
        assert_eq!(aside.utilization, avg.utilization);
    }

    /// A day lasts until its last start. On a day of its own only the jobs of the day run; in one simulation the work
    /// that is left from the day before counts.
    #[test]
    fn a_day_ends_with_its_last_start() {
        // One job on all processors from 40,000 s to 140,000 s; another waits for it. On the second day a job runs from
        // 90,000 s for 8,640 s; in one simulation it waits for both others, until 141,000 s.
        let jobs = [job(40_000.0, 400_000.0, 4.0), job(41_000.0, 4_000.0, 4.0), job(90_000.0, 34_560.0, 4.0)];
        let found = |sequence| figures(&jobs, &of_days(3, sequence), "avg", StudyView::System);
        // Day 0 lasts to 140,000 s: busy from 40,000 on. Day 1 lasts for 43,200 s, of which 8,640 are busy. Nothing
        // arrives on day 2.
        let separate = found(DaySequence::Separate);
        assert!((separate.utilization - (100_000.0 / 140_000.0 + 0.2) / 3.0).abs() < 1e-12, "{separate:?}");
        assert_eq!(separate.wait_mean, 99_000.0 / 3.0);
        // Day 1 lasts from 86,400 s to 141,000 s, all busy. Day 2 has no arrivals: 43,200 s from 172,800 s, idle.
        let one = found(DaySequence::Continuous);
        assert!((one.utilization - (100_000.0 / 140_000.0 + 1.0) / 3.0).abs() < 1e-12, "{one:?}");
        assert_eq!(one.wait_mean, (99_000.0 + 51_000.0) / 3.0);
    }
}
