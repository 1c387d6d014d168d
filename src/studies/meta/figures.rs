//! The results of a run: over all jobs, over each site's own jobs, over the jobs that ran at each site, and the
//! fairness of the policy.

use super::clock::MetaRecord;
use super::policies::DispatchPolicy;
use super::system::MetaSystem;
use crate::engine::Finished;
use crate::metrics::{JobMetrics, Measure};
use crate::stats::percentiles;
use crate::time::{DAY, HOUR};

/// Waits and bounded slowdowns of some jobs. Waits are in seconds; all values are NaN if there are no jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WaitSummary {
    /// The number of jobs.
    pub jobs: usize,
    /// The mean.
    pub wait_mean: f64,
    /// The median.
    pub wait_p50: f64,
    /// The 95th percentile.
    pub wait_p95: f64,
    /// The longest.
    pub wait_max: f64,
    /// Percent of the jobs that waited at most an hour (Kumar and Vadhiyar, Table 8).
    pub wait_le_1h_pct: f64,
    /// Percent of the jobs that waited at least a day (the same table).
    pub wait_ge_1d_pct: f64,
    /// The mean bounded slowdown.
    pub bsld_mean: f64,
    /// The median bounded slowdown.
    pub bsld_p50: f64,
    /// The 95th percentile of the bounded slowdown.
    pub bsld_p95: f64,
}

impl WaitSummary {
    /// Summarizes these jobs. The order of the jobs is the order of the sums, so it can change the last digits.
    pub fn of<'a>(jobs: impl Iterator<Item = &'a JobMetrics>) -> WaitSummary {
        let (mut waits, mut bslds) = (Vec::new(), Vec::new());
        let (mut wait, mut bsld, mut short, mut long) = (0.0, 0.0, 0, 0);
        for job in jobs {
            wait += job.wait as f64;
            bsld += job.bsld;
            short += usize::from(job.wait <= HOUR);
            long += usize::from(job.wait >= DAY);
            waits.push(job.wait as f64);
            bslds.push(job.bsld);
        }
        let count = waits.len() as f64;
        let [wait_p50, wait_p95, wait_max] = percentiles(&mut waits, [50.0, 95.0, 100.0]);
        let [bsld_p50, bsld_p95] = percentiles(&mut bslds, [50.0, 95.0]);
        WaitSummary {
            jobs: waits.len(),
            wait_mean: wait / count,
            wait_p50,
            wait_p95,
            wait_max,
            wait_le_1h_pct: short as f64 / count * 100.0,
            wait_ge_1d_pct: long as f64 / count * 100.0,
            bsld_mean: bsld / count,
            bsld_p50,
            bsld_p95,
        }
    }
}

/// The results of one site under a policy.
#[derive(Clone, Debug, PartialEq)]
pub struct SiteSummary {
    /// As in results and in `NAME=LOG` on the command line.
    pub name: String,
    /// Processors of the machine.
    pub procs: u32,
    /// The jobs that the site's own users submitted, at whichever site they ran.
    pub own: WaitSummary,
    /// The jobs that ran at the site, from whichever site they were submitted.
    pub ran: WaitSummary,
    /// The jobs that ran at the site, in percent of all jobs (Kumar and Vadhiyar, Table 7).
    pub share_pct: f64,
    /// The work of all jobs that ran at the site, over the processor time of its machine from the system's first
    /// submission to its last end.
    pub utilization: f64,
}

/// The results of a system under a policy.
#[derive(Clone, Debug, PartialEq)]
pub struct MetaSummary {
    /// The policy's spec.
    pub policy: String,
    /// Over all measured jobs.
    pub waits: WaitSummary,
    /// One per site, in the order of the system.
    pub sites: Vec<SiteSummary>,
    /// How many times jobs were queued, over all simulated jobs.
    pub queued: u64,
    /// How many of those were cancelled because the job had started at another site.
    pub cancelled: u64,
}

/// A job, where it was submitted and where it ran.
#[derive(Clone, Copy, Debug)]
pub struct PlacedJob {
    /// The index of the site where it was submitted.
    pub origin: usize,
    /// The index of the site where it ran.
    pub site: usize,
    /// Its times and metrics.
    pub job: JobMetrics,
}

/// All simulated jobs, in the order of the stream.
pub fn placed_jobs<'a>(
    system: &'a MetaSystem,
    record: &'a MetaRecord,
    measure: &'a Measure,
) -> impl Iterator<Item = PlacedJob> + 'a {
    let all = system.arrivals.iter().zip(&record.outcomes).zip(&record.sites);
    all.map(|((arrival, outcome), &site)| {
        let finished = Finished { job: &arrival.job, submitted: arrival.submit(), outcome, virtual_start: None };
        let job = JobMetrics::of(&finished, measure.bsld_threshold);
        PlacedJob { origin: arrival.origin, site, job }
    })
}

/// Summarizes a run. Means, percentiles and shares are over the measured jobs, utilization and counts over all
/// simulated jobs.
pub fn summarize_system(
    system: &MetaSystem,
    policy: &DispatchPolicy,
    record: &MetaRecord,
    measure: &Measure,
) -> MetaSummary {
    let jobs: Vec<PlacedJob> = placed_jobs(system, record, measure).collect();
    let first = system.arrivals.first().map_or(0, |arrival| arrival.submit());
    let makespan = jobs.iter().map(|placed| placed.job.end).max().unwrap_or(first) - first;
    let measured = &jobs[measure.jobs(jobs.len())];
    let some = |wanted: &dyn Fn(&PlacedJob) -> bool| {
        WaitSummary::of(measured.iter().filter(|placed| wanted(placed)).map(|placed| &placed.job))
    };
    let site = |(at, machine): (usize, &super::system::SiteMachine)| {
        let here = jobs.iter().filter(|placed| placed.site == at);
        let work: i128 = here.map(|here| i128::from(here.job.procs) * i128::from(here.job.runtime)).sum();
        let ran = some(&|placed| placed.site == at);
        SiteSummary {
            name: machine.name.clone(),
            procs: machine.procs,
            own: some(&|placed| placed.origin == at),
            ran,
            share_pct: ran.jobs as f64 / measured.len() as f64 * 100.0,
            utilization: work as f64 / (f64::from(machine.procs) * makespan as f64),
        }
    };
    MetaSummary {
        policy: policy.to_string(),
        waits: some(&|_| true),
        sites: system.machines.iter().enumerate().map(site).collect(),
        queued: record.queued,
        cancelled: record.cancelled,
    }
}

/// Which sites gain and which lose by a policy, compared with every job staying where it was submitted.
#[derive(Clone, Debug, PartialEq)]
pub struct Fairness {
    /// By how many percent the mean wait of all jobs is shorter; None if it was 0 before.
    pub reduction_pct: Option<f64>,
    /// The same for the own jobs of each site.
    pub gains_pct: Vec<Option<f64>>,
    /// The number of sites with own jobs that wait less than before.
    pub gaining: usize,
    /// The number of sites with own jobs that wait longer than before.
    pub paying: usize,
    /// Jain's index over the mean bounded slowdowns of the sites' own jobs: 1 if all are equal, 1/n if one site has all
    /// of the slowdown.
    pub jain: f64,
}

impl Fairness {
    /// Compares a run with `home`, the same system under the policy `static`.
    pub fn of(home: &MetaSummary, run: &MetaSummary) -> Fairness {
        let gain = |base: f64, now: f64| Some((base - now) / base * 100.0).filter(|percent| percent.is_finite());
        let pairs = || home.sites.iter().zip(&run.sites).map(|(home, run)| (home.own.wait_mean, run.own.wait_mean));
        let slowdowns = || run.sites.iter().map(|site| site.own.bsld_mean).filter(|bsld| bsld.is_finite());
        let (sum, squares) = (slowdowns().sum::<f64>(), slowdowns().map(|bsld| bsld * bsld).sum::<f64>());
        Fairness {
            reduction_pct: gain(home.waits.wait_mean, run.waits.wait_mean),
            gains_pct: pairs().map(|(home, run)| gain(home, run)).collect(),
            gaining: pairs().filter(|(home, run)| run < home).count(),
            paying: pairs().filter(|(home, run)| run > home).count(),
            // Jain, Chiu and Hawe (1984): (sum x)^2 / (n sum x^2).
            jain: sum * sum / (slowdowns().count() as f64 * squares),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_hour_is_short_and_a_day_is_long() {
        let job = |wait, bsld| JobMetrics {
            number: 0,
            record: 0,
            user: 0,
            submit: 0,
            eligible: 0,
            start: wait,
            end: wait + 1,
            wait,
            procs: 1,
            runtime: 1,
            estimate: 1,
            prediction: 1,
            prediction_at_start: 1,
            prediction_last: 1,
            misses: 0,
            bsld,
            ai: 0.0,
            ra: 1.0,
            backfilled: false,
            virtual_wait: None,
        };
        let jobs = [job(3600, 1.0), job(3601, 2.0), job(86_399, 3.0), job(86_400, 10.0)];
        let waits = WaitSummary::of(jobs.iter());
        assert_eq!((waits.jobs, waits.wait_le_1h_pct, waits.wait_ge_1d_pct), (4, 25.0, 25.0));
        assert_eq!((waits.wait_mean, waits.wait_p50, waits.wait_max), (45_000.0, 3601.0, 86_400.0));
        assert_eq!((waits.bsld_mean, waits.bsld_p95), (4.0, 10.0));
        assert!(WaitSummary::of([].iter()).wait_mean.is_nan());
    }

    #[test]
    fn sites_that_gain_and_sites_that_lose() {
        let summary = |waits: &[(f64, f64)]| {
            let site = |&(wait_mean, bsld_mean): &(f64, f64)| SiteSummary {
                name: String::new(),
                procs: 1,
                own: WaitSummary { wait_mean, bsld_mean, ..WaitSummary::default() },
                ran: WaitSummary::default(),
                share_pct: 0.0,
                utilization: 0.0,
            };
            let wait_mean = waits.iter().map(|(wait, _)| wait).sum::<f64>() / waits.len() as f64;
            let sites = waits.iter().map(site).collect();
            MetaSummary {
                policy: String::new(),
                waits: WaitSummary { wait_mean, ..WaitSummary::default() },
                sites,
                queued: 0,
                cancelled: 0,
            }
        };
        let home = summary(&[(100.0, 5.0), (0.0, 1.0), (20.0, 3.0)]);
        let run = summary(&[(25.0, 2.0), (5.0, 2.0), (30.0, 2.0)]);
        let fairness = Fairness::of(&home, &run);
        assert_eq!(fairness.gains_pct, [Some(75.0), None, Some(-50.0)]);
        assert_eq!((fairness.reduction_pct, fairness.gaining, fairness.paying), (Some(50.0), 1, 2));
        assert_eq!(fairness.jain, 1.0);
        // (5 + 1 + 3)^2 / (3 (25 + 1 + 9))
        assert_eq!(Fairness::of(&home, &home).jain, 81.0 / 105.0);
    }
}
