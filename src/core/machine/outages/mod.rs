//! A machine that changes: nodes that are down or drained, maintenance, reservations. What is known of it when, and whose it is.

mod ledger;
mod read;

use std::sync::Arc;

use rustc_hash::FxHashMap;

pub use ledger::{JobAmidOutages, OutageLedger};
pub use read::{OutageFile, OutageRow, OutageTime};

use crate::request::RequestId;
use crate::time::{Seconds, Time};

/// What an outage does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutageKind {
    /// Nothing starts there, and jobs that run there stop.
    Down,
    /// Nothing starts there.
    Drain,
    /// As [`OutageKind::Down`]; its end is known with its start.
    Maintenance,
    /// Only its own jobs start there.
    Reserved,
}

impl OutageKind {
    /// All of them.
    pub const ALL: [OutageKind; 4] =
        [OutageKind::Down, OutageKind::Drain, OutageKind::Maintenance, OutageKind::Reserved];

    /// As it is written.
    pub fn name(self) -> &'static str {
        ["down", "drain", "maintenance", "reserved"][self as usize]
    }
}

/// A part of the machine that is out, or kept for some, from `start` to before `end`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outage {
    /// When it begins.
    pub start: Time,
    /// When it is over; `Time::MAX` is never.
    pub end: Time,
    /// Since when it is known.
    pub announced: Time,
    /// What it does.
    pub kind: OutageKind,
    /// How many processors of a pool.
    pub procs: u32,
    /// Which nodes of a cluster, ascending. Empty on a pool.
    pub nodes: Vec<u32>,
    /// Its name; jobs may name it.
    pub name: String,
    /// Where it was read.
    pub place: String,
}

impl Outage {
    /// Whether jobs that run there stop when it begins.
    pub fn stops(&self) -> bool {
        matches!(self.kind, OutageKind::Down | OutageKind::Maintenance)
    }

    /// Whether, once it is known, no job starts there that might run when it begins.
    pub fn is_hard(&self) -> bool {
        self.kind != OutageKind::Drain
    }

    /// Whether it takes its part from all jobs.
    pub fn is_out(&self) -> bool {
        self.kind != OutageKind::Reserved
    }

    /// Its end as far as it is known, when the outage is.
    pub fn known_end(&self) -> Time {
        let is_planned = matches!(self.kind, OutageKind::Maintenance | OutageKind::Reserved);
        if is_planned || self.announced < self.start { self.end } else { Time::MAX }
    }

    /// In words, with the line where it was read.
    pub fn in_words(&self) -> String {
        let name = if self.name.is_empty() { String::new() } else { format!(" '{}'", self.name) };
        format!("the outage{name} ({})", self.place)
    }
}

/// What outages see of a job: which reservations are its own, and which it names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobClass {
    /// The reservations that it may use, ascending.
    pub owns: Vec<u32>,
    /// The outages with the name that it asks for, ascending. Empty if it asks for none.
    pub named: Vec<u32>,
}

/// All outages of a run.
#[derive(Clone, Debug, Default)]
pub struct Outages {
    /// In the order in which they were read.
    pub list: Vec<Outage>,
    /// Whether jobs that stop have failed, and do not wait again.
    pub kills: bool,
    /// Notes on what was read, in words.
    pub notes: Vec<String>,
    /// The first class is that of jobs without a reservation.
    classes: Vec<JobClass>,
    class_of: Arc<FxHashMap<(i32, i32, RequestId), u32>>,
    /// Those of the copies of users, from number 1 on. Empty if the users are those of the log.
    users_of_log: Vec<i32>,
}

impl Outages {
    /// These outages, for jobs of these users and groups that ask for this; `class` says what is theirs.
    pub fn new(
        list: Vec<Outage>,
        kills: bool,
        jobs: impl Iterator<Item = (i32, i32, RequestId)>,
        class: impl Fn(i32, i32, RequestId) -> JobClass,
    ) -> Outages {
        let (mut classes, mut class_of) = (vec![JobClass::default()], FxHashMap::default());
        for key @ (user, group, request) in jobs {
            if class_of.contains_key(&key) {
                continue;
            }
            let own = class(user, group, request);
            let known = classes.iter().position(|known| *known == own);
            let at = known.unwrap_or_else(|| {
                classes.push(own);
                classes.len() - 1
            });
            class_of.insert(key, at as u32);
        }
        Outages { list, kills, classes, class_of: Arc::new(class_of), ..Outages::default() }
    }

    /// Those that are known at an instant and not over.
    pub fn known_at(&self, now: Time) -> Outages {
        let is_known = |at: &u32| {
            let outage = &self.list[*at as usize];
            outage.announced <= now && outage.end > now
        };
        let kept: Vec<u32> = (0..self.list.len() as u32).filter(is_known).collect();
        let places = |old: &[u32]| -> Vec<u32> {
            old.iter().filter_map(|at| kept.binary_search(at).ok()).map(|at| at as u32).collect()
        };
        let class = |old: &JobClass| JobClass { owns: places(&old.owns), named: places(&old.named) };
        Outages {
            list: kept.iter().map(|&at| self.list[at as usize].clone()).collect(),
            classes: self.classes.iter().map(class).collect(),
            ..self.clone()
        }
    }

    /// The same, each so much later.
    pub fn later(&self, by: Seconds) -> Outages {
        let shift = |time: Time| if time == Time::MAX { time } else { time + by };
        let moved = |outage: &Outage| Outage {
            start: shift(outage.start),
            end: shift(outage.end),
            announced: shift(outage.announced),
            ..outage.clone()
        };
        Outages { list: self.list.iter().map(moved).collect(), ..self.clone() }
    }

    /// As a simulation that begins at an instant has them: all are known then, with their ends. Those that are there already stop
    /// nobody, for what runs there then goes on. Jobs that others stop later do not wait again.
    pub fn seen_from(&self, now: Time) -> Outages {
        let seen = |outage: &Outage| Outage {
            announced: now,
            kind: if outage.start <= now { OutageKind::Reserved } else { outage.kind },
            ..outage.clone()
        };
        Outages { list: self.list.iter().map(seen).collect(), kills: true, ..self.clone() }
    }

    /// The users of a log have other numbers now, from 1 on: `users` are the old ones. A user may have several.
    pub fn rename_users(&mut self, users: &[i32]) {
        self.users_of_log = users.to_vec();
    }

    /// The class of a job of this user and group that asks for this.
    pub fn class_of(&self, user: i32, group: i32, request: RequestId) -> u32 {
        if !self.has_classes() {
            return 0;
        }
        let of_log = usize::try_from(user - 1).ok().and_then(|at| self.users_of_log.get(at));
        let user = of_log.copied().unwrap_or(user);
        self.class_of.get(&(user, group, request)).copied().unwrap_or(0)
    }

    /// Whether some jobs own reservations or name them.
    pub fn has_classes(&self) -> bool {
        self.classes.len() > 1
    }

    /// What outages see of a class.
    pub fn class(&self, class: u32) -> &JobClass {
        &self.classes[class as usize]
    }

    /// Whether a job of a class may use the part of an outage.
    pub fn owns(&self, class: u32, outage: u32) -> bool {
        class > 0 && self.class(class).owns.binary_search(&outage).is_ok()
    }

    /// How long after its submission a job of a class joins the queue: when the reservation that it names begins.
    pub fn delay(&self, class: u32, submit: Time) -> Seconds {
        let named = self.class(class).named.iter().map(|&at| &self.list[at as usize]);
        let begins = named.filter(|outage| outage.end > submit).map(|outage| outage.start.max(submit));
        begins.min().map_or(0, |begin| begin - submit)
    }

    /// All instants at which something is announced, begins or ends, ascending.
    pub fn instants(&self) -> Vec<Time> {
        let all = self.list.iter().flat_map(|outage| [outage.announced, outage.start, outage.end]);
        let mut instants: Vec<Time> = all.filter(|&time| time < Time::MAX).collect();
        instants.sort_unstable();
        instants.dedup();
        instants
    }

    /// How many were over by this instant.
    pub fn over_by(&self, first: Time) -> u64 {
        self.list.iter().filter(|outage| outage.end <= first).count() as u64
    }

    /// How many were announced after this instant, so that they had no effect until then.
    pub fn announced_after(&self, last: Time) -> u64 {
        self.list.iter().filter(|outage| outage.announced > last).count() as u64
    }
}

/// Outages and the first submission, from which on figures count.
#[derive(Clone, Debug)]
pub struct OutagePlan {
    /// The outages.
    pub outages: Arc<Outages>,
    /// The first submission.
    pub first: Time,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outage(kind: OutageKind, start: Time, end: Time, announced: Time) -> Outage {
        Outage { start, end, announced, kind, procs: 1, nodes: Vec::new(), name: String::new(), place: String::new() }
    }

    /// Jobs of these users and no group: those of `mine` are of a class of their own.
    fn for_users(list: Vec<Outage>, users: &[i32], mine: i32, class: &JobClass) -> Outages {
        let jobs = users.iter().map(|&user| (user, -1, RequestId::NONE));
        Outages::new(list, false, jobs, |user, _, _| if user == mine { class.clone() } else { JobClass::default() })
    }

    /// Of what goes down or is drained the end is known if it was announced before it began.
    #[test]
    fn the_end_of_what_begins_at_once_is_unknown() {
        use OutageKind::{Down, Drain, Maintenance, Reserved};
        for announced in [4, 5, 6] {
            let known = [Down, Drain, Maintenance, Reserved].map(|kind| outage(kind, 5, 9, announced).known_end());
            let open = if announced < 5 { 9 } else { Time::MAX };
            assert_eq!(known, [open, open, 9, 9], "{announced}");
        }
    }

    /// Two reservations of one name, from 10 to before 20 and from 30 to before 40. A job that names them waits for the first that is not
    /// over.
    #[test]
    fn a_job_waits_for_the_first_of_its_reservations_that_is_not_over() {
        let list = [10, 30].map(|start| outage(OutageKind::Reserved, start, start + 10, 0)).to_vec();
        let outages = for_users(list, &[7], 7, &JobClass { owns: vec![0, 1], named: vec![0, 1] });
        let class = outages.class_of(7, -1, RequestId::NONE);
        let joins = [5, 10, 19, 20, 29, 39, 40].map(|submit| submit + outages.delay(class, submit));
        assert_eq!(joins, [10, 10, 19, 30, 30, 39, 40]);
    }

    /// A log with copies of users 8 and 7, which are 1 and 2 there. Others are no copies.
    #[test]
    fn copies_of_users_have_the_classes_of_these() {
        let mut outages = for_users(Vec::new(), &[7, 8], 7, &JobClass { owns: vec![0], named: Vec::new() });
        let class_of = |outages: &Outages| [0, 1, 2, 3, 7].map(|user| outages.class_of(user, -1, RequestId::NONE));
        assert_eq!(class_of(&outages), [0, 0, 0, 0, 1]);
        outages.rename_users(&[8, 7]);
        assert_eq!(class_of(&outages), [0, 0, 1, 0, 1]);
    }

    /// What has begun by then, also at that instant, keeps its part but stops nobody.
    #[test]
    fn what_is_there_stops_nobody_that_runs_there() {
        let list = [4, 5, 6].map(|start| outage(OutageKind::Down, start, 9, start)).to_vec();
        let seen = Outages { list, ..Outages::default() }.seen_from(5);
        let found: Vec<_> = seen.list.iter().map(|outage| (outage.stops(), outage.announced)).collect();
        assert_eq!(found, [(false, 5), (false, 5), (true, 5)]);
    }
}
