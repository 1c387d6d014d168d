//! The grid: machines by name, and one stream of all their jobs.

use std::collections::BTreeSet;
use std::fmt;

use crate::experiment::Setting;
use crate::job::{Job, Submission};
use crate::time::Time;
use crate::trace::Workload;

/// A machine, how it is scheduled, and the jobs that its own users submit.
#[derive(Clone, Debug)]
pub struct Site {
    pub name: String,
    pub workload: Workload,
    pub setting: Setting,
}

impl Site {
    /// Shifts the jobs in time so that the first comes at 0: logs of different years then begin together.
    pub fn from_time_zero(mut self) -> Site {
        let first = self.workload.first_submit();
        self.workload.jobs.iter_mut().for_each(|job| job.submission.submit -= first);
        self
    }
}

/// A site without its jobs.
#[derive(Clone, Debug)]
pub struct SiteMachine {
    pub name: String,
    pub procs: u32,
    pub setting: Setting,
}

/// A job of the stream.
#[derive(Clone, Copy, Debug)]
pub struct StreamJob {
    /// As its log has it, in the grid's time.
    pub job: Job,
    /// The site whose users submitted it.
    pub origin: usize,
    /// User, group, executable and queue, as every site sees them.
    names: [i32; NAMES],
}

impl StreamJob {
    pub fn submit(&self) -> Time {
        self.job.submission.submit
    }

    /// The job with names that differ between logs: user 7 of one is not user 7 of another.
    pub fn qualified(&self) -> Job {
        let [user, group, executable, queue] = self.names;
        Job { submission: Submission { user, group, executable, queue, ..self.job.submission }, ..self.job }
    }
}

/// Machines, and the jobs of all of them in order of submission; of those that come at the same time, the jobs of the
/// first site come first.
#[derive(Clone, Debug)]
pub struct MetaSystem {
    pub machines: Vec<SiteMachine>,
    pub arrivals: Vec<StreamJob>,
}

/// Sites that make no grid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetaSystemError(pub String);

impl fmt::Display for MetaSystemError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for MetaSystemError {}

impl MetaSystem {
    /// Merges the jobs of these sites, in the time of their workloads.
    pub fn new(sites: Vec<Site>) -> Result<MetaSystem, MetaSystemError> {
        let mut names = BTreeSet::new();
        for site in &sites {
            check_name(&site.name)?;
            if !names.insert(&site.name) {
                return Err(MetaSystemError(format!("two sites are called '{}'", site.name)));
            }
            if site.setting.is_replay() {
                let why = "replays its log's own schedule, which has no place for the jobs of others";
                return Err(MetaSystemError(format!("site {} {why}: take another scheduler, such as easy", site.name)));
            }
            if let Some(job) = site.workload.jobs.iter().find(|job| job.submission.procs > site.workload.procs) {
                let (number, wants, procs) = (job.number, job.submission.procs, site.workload.procs);
                let why = format!("job {number} wants {wants} processors and the machine has {procs}");
                return Err(MetaSystemError(format!("site {}: {why}", site.name)));
            }
        }
        if sites.is_empty() {
            return Err(MetaSystemError("a grid needs a site at least".to_string()));
        }
        let of_site = |(origin, site): (usize, &Site)| {
            let arrival = move |&job| StreamJob { job, origin, names: [0; NAMES] };
            site.workload.jobs.iter().map(arrival).collect::<Vec<_>>()
        };
        let mut arrivals: Vec<StreamJob> = sites.iter().enumerate().flat_map(of_site).collect();
        // Stable: jobs of one time stay in the order of the sites, and of each log.
        arrivals.sort_by_key(StreamJob::submit);
        qualify(&mut arrivals);
        let machine = |site: Site| SiteMachine { name: site.name, procs: site.workload.procs, setting: site.setting };
        Ok(MetaSystem { machines: sites.into_iter().map(machine).collect(), arrivals })
    }
}

/// Names become columns and words of CSV, and stand before `=` where sites are given.
fn check_name(name: &str) -> Result<(), MetaSystemError> {
    match !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+')) {
        true => Ok(()),
        false => {
            Err(MetaSystemError(format!("'{name}' is no name for a site: letters, digits, '-', '_', '.' and '+' are")))
        }
    }
}

/// How many of a job's names belong to its log.
const NAMES: usize = 4;

fn names(submission: &Submission) -> [i32; NAMES] {
    let &Submission { user, group, executable, queue, .. } = submission;
    [user, group, executable, queue]
}

/// Numbers the names of all logs together: in order of the logs, and within a log in the log's own order.
fn qualify(arrivals: &mut [StreamJob]) {
    for at in 0..NAMES {
        let of = |arrival: &StreamJob| (arrival.origin, names(&arrival.job.submission)[at]);
        let mut all: Vec<(usize, i32)> = arrivals.iter().map(of).collect();
        all.sort_unstable();
        all.dedup();
        for arrival in arrivals.iter_mut() {
            let name = of(arrival);
            arrival.names[at] = all.partition_point(|other| *other < name) as i32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::CleaningReport;

    /// A site of (submit, user) jobs on one processor.
    fn site(name: &str, jobs: &[(Time, i32)]) -> Site {
        let job = |&(submit, user): &(Time, i32)| Job {
            submission: Submission { user, ..Submission::new(submit, 1, 10) },
            runtime: 5,
            recorded_wait: None.into(),
            record: 0,
            number: i64::from(user),
        };
        let jobs = jobs.iter().map(job).collect();
        let workload = Workload { label: name.into(), procs: 4, jobs, cleaning: CleaningReport::default() };
        Site { name: name.into(), workload, setting: Setting::parse("easy", "estimate").unwrap() }
    }

    #[test]
    fn streams_are_merged_in_order_and_names_belong_to_their_logs() {
        let system =
            MetaSystem::new(vec![site("a", &[(0, 7), (5, -1)]), site("b", &[(0, 7), (5, 7), (9, 8)])]).unwrap();
        let seen: Vec<_> = system.arrivals.iter().map(|a| (a.submit(), a.origin, a.job.submission.user)).collect();
        assert_eq!(seen, [(0, 0, 7), (0, 1, 7), (5, 0, -1), (5, 1, 7), (9, 1, 8)]);
        let users: Vec<_> = system.arrivals.iter().map(|a| a.qualified().submission.user).collect();
        assert_eq!(users, [1, 2, 0, 2, 3], "the unknown user of a, user 7 of a, 7 of b, 8 of b");
        assert_eq!(system.arrivals[1].qualified().submission.queue, 1, "the unknown queue of b");
    }

    #[test]
    fn a_shifted_site_begins_at_zero() {
        let shifted = site("a", &[(40, 1), (45, 1)]).from_time_zero();
        assert_eq!(shifted.workload.jobs.iter().map(|job| job.submission.submit).collect::<Vec<_>>(), [0, 5]);
    }

    #[test]
    fn what_is_no_grid_is_said() {
        let error = |sites| MetaSystem::new(sites).unwrap_err().to_string();
        assert!(error(vec![]).contains("a site at least"));
        assert!(error(vec![site("a", &[(0, 1)]), site("a", &[(0, 1)])]).contains("two sites are called 'a'"));
        assert!(error(vec![site("a,b", &[(0, 1)])]).contains("no name for a site"));
        let replay = Site { setting: Setting::parse("replay", "estimate").unwrap(), ..site("a", &[(0, 1)]) };
        assert!(error(vec![replay]).contains("take another scheduler"));
        let mut narrow = site("a", &[(0, 1)]);
        narrow.workload.jobs[0].submission.procs = 5;
        assert!(error(vec![narrow]).contains("wants 5 processors and the machine has 4"));
    }
}
