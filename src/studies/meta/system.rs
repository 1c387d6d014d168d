//! The system: machines by name, and one stream of all their jobs.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::experiment::Setting;
use crate::job::{Job, Submission};
use crate::machine::OutagePlan;
use crate::schedule::Accounts;
use crate::sort::sort_by_key;
use crate::time::Time;
use crate::trace::{LogIds, ShownNames, WideNumbers, Workload};

/// A machine, its scheduler and predictor, and the jobs that its own users submit.
#[derive(Clone, Debug)]
pub struct Site {
    /// Letters, digits, `-`, `_`, `.` and `+`; different for each site of a system.
    pub name: String,
    /// The jobs of its own users, and the size of the machine.
    pub workload: Workload,
    /// Its scheduler and predictor.
    pub setting: Setting,
}

impl Site {
    /// Shifts the submit times so that the first job arrives at 0: logs of different years then begin together.
    pub fn from_time_zero(mut self) -> Site {
        let first = self.workload.first_submit();
        self.workload.jobs.iter_mut().for_each(|job| job.submission.submit -= first);
        self.workload.outages = self.workload.outages.map(|outages| Arc::new(outages.later(-first)));
        // The hours of the day stay those of the log, which count from 1970 if it does not say when it begins.
        if first != 0 {
            self.workload.unix_start = Some(self.workload.unix_start.unwrap_or(0) + first);
        }
        self
    }
}

/// A site without its jobs.
#[derive(Clone, Debug)]
pub struct SiteMachine {
    /// As the site's.
    pub name: String,
    /// Processors.
    pub procs: u32,
    /// Its scheduler and predictor.
    pub setting: Setting,
    /// The Unix time of the instant 0 by its log. None if the log does not say it.
    pub unix_start: Option<Time>,
    /// The numbers of its log that do not fit into 32 bits.
    pub wide: WideNumbers,
    /// The names of its log, if they are shown.
    pub names: ShownNames,
    /// Its outages on the clock of the system.
    pub outages: Option<OutagePlan>,
    /// Its own users and groups, as they are numbered in the stream.
    pub accounts: Accounts,
    /// The ids of all jobs of the stream in their logs.
    pub ids: Arc<LogIds>,
}

/// A job of the stream.
#[derive(Clone, Copy, Debug)]
pub struct StreamJob {
    /// As in its log, with the submit time of the system; its record is its index in the stream.
    pub job: Job,
    /// The index of the site where it was submitted.
    pub origin: usize,
    /// User, group, executable and queue, numbered over all sites.
    names: [i32; NAMES],
}

impl StreamJob {
    /// When it arrives.
    pub fn submit(&self) -> Time {
        self.job.submission.submit
    }

    /// The job with user, group, executable and queue numbers that differ between logs: user 7 of one log is not user 7
    /// of another.
    pub fn qualified(&self) -> Job {
        let [user, group, executable, queue] = self.names;
        Job { submission: Submission { user, group, executable, queue, ..self.job.submission }, ..self.job }
    }
}

/// Machines, and the jobs of all of them in order of submission. Of jobs submitted at the same time, those of the first
/// site come first.
#[derive(Clone, Debug)]
pub struct MetaSystem {
    /// One per site.
    pub machines: Vec<SiteMachine>,
    /// The stream of jobs.
    pub arrivals: Vec<StreamJob>,
}

impl MetaSystem {
    /// Merges the jobs of these sites.
    ///
    /// # Errors
    ///
    /// If there is no site, if a name is not valid or used twice, if a site replays its log, if a job is wider than its machine, or
    /// if an outage is for some users or has no end.
    pub fn new(sites: Vec<Site>) -> Result<MetaSystem, String> {
        let mut names = BTreeSet::new();
        for site in &sites {
            check_name(&site.name)?;
            if !names.insert(&site.name) {
                return Err(format!("two sites are called '{}'; name them: --site NAME=LOG", site.name));
            }
            if site.setting.is_replay() {
                let why = "replays its log's own schedule, in which the jobs of other sites have no start times";
                return Err(format!("site {} {why}: take another scheduler, such as easy", site.name));
            }
            let outages = site.workload.outages.iter();
            let mut listed = outages.clone().flat_map(|outages| &outages.list);
            if let Some(outage) = listed.find(|outage| outage.end == Time::MAX) {
                let (name, outage) = (&site.name, outage.in_words());
                return Err(format!("site {name}: {outage} has no end, and jobs that wait for it would never start"));
            }
            if outages.into_iter().any(|outages| outages.has_classes()) {
                let why = "its reservations are for users of its log, and jobs of other sites have other users";
                return Err(format!("site {}: {why}: leave out the column for", site.name));
            }
            if let Some(job) = site.workload.jobs.iter().find(|job| job.submission.procs > site.workload.procs) {
                let (number, needs, procs) = (job.number, job.submission.procs, site.workload.procs);
                let why = format!("job {number} needs {needs} processors and the machine has {procs}");
                return Err(format!("site {}: {why}", site.name));
            }
        }
        if sites.is_empty() {
            return Err("at least one site is needed".to_string());
        }
        let of_site = |(origin, site): (usize, &Site)| {
            let arrival = move |&job| StreamJob { job, origin, names: [0; NAMES] };
            site.workload.jobs.iter().map(arrival).collect::<Vec<_>>()
        };
        let mut arrivals: Vec<StreamJob> = sites.iter().enumerate().flat_map(of_site).collect();
        // A stable sort: jobs of the same time stay in the order of the sites and of each log.
        sort_by_key(&mut arrivals, StreamJob::submit);
        qualify(&mut arrivals);
        let mut ids = LogIds::default();
        for (arrival, at) in arrivals.iter_mut().zip(0..) {
            let id = sites[arrival.origin].workload.log_id(&arrival.job);
            ids.push(id.to_string().as_bytes());
            arrival.job.record = at;
        }
        let ids = Arc::new(ids);
        let machine = |(origin, site): (usize, Site)| {
            let outages = site.workload.outages.clone().map(|outages| OutagePlan { outages, first: 0 });
            let Workload { procs, wide, names, unix_start, .. } = site.workload;
            let own = arrivals.iter().filter(|job| job.origin == origin);
            let accounts = Accounts::of_pairs(own.map(|job| (job.qualified().submission, job.job.submission)), &wide);
            let (name, setting, ids) = (site.name, site.setting, Arc::clone(&ids));
            SiteMachine { name, procs, setting, unix_start, wide, names, outages, accounts, ids }
        };
        let machines = sites.into_iter().enumerate().map(machine).collect();
        Ok(MetaSystem { machines, arrivals })
    }
}

/// Names become parts of column names and CSV cells, and come before `=` on the command line.
fn check_name(name: &str) -> Result<(), String> {
    match !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+')) {
        true => Ok(()),
        false => Err(format!("'{name}' is not a name for a site: use letters, digits, '-', '_', '.' and '+'")),
    }
}

/// The number of names of a job that are valid within its log only.
const NAMES: usize = 4;

fn names(submission: &Submission) -> [i32; NAMES] {
    let &Submission { user, group, executable, queue, .. } = submission;
    [user, group, executable, queue]
}

/// Numbers the names of all logs together: in the order of the logs, and within a log in the order of its own numbers.
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

    /// A site of (submit, user) jobs on one processor.
    fn site(name: &str, jobs: &[(Time, i32)]) -> Site {
        let job = |&(submit, user): &(Time, i32)| Job {
            number: i64::from(user),
            ..Job::new(Submission { user, ..Submission::new(submit, 1, 10) }, 5)
        };
        let jobs = jobs.iter().map(job).collect();
        let workload = Workload { label: name.into(), procs: 4, jobs, ..Workload::default() };
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
    fn sites_that_make_no_system_are_an_error() {
        let error = |sites| MetaSystem::new(sites).unwrap_err().to_string();
        assert!(error(vec![]).contains("at least one site"));
        assert!(error(vec![site("a", &[(0, 1)]), site("a", &[(0, 1)])]).contains("two sites are called 'a'"));
        assert!(error(vec![site("a,b", &[(0, 1)])]).contains("not a name for a site"));
        let replay = Site { setting: Setting::parse("replay", "estimate").unwrap(), ..site("a", &[(0, 1)]) };
        assert!(error(vec![replay]).contains("take another scheduler"));
        let mut narrow = site("a", &[(0, 1)]);
        narrow.workload.jobs[0].submission.procs = 5;
        assert!(error(vec![narrow]).contains("needs 5 processors and the machine has 4"));
    }
}
