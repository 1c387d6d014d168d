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
        format!("{}{name} ({})", self.kind.name(), self.place)
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
    class_of: FxHashMap<(i32, i32, RequestId), u32>,
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
        let mut outages = Outages { list, kills, classes: vec![JobClass::default()], ..Outages::default() };
        for key @ (user, group, request) in jobs {
            if outages.class_of.contains_key(&key) {
                continue;
            }
            let own = class(user, group, request);
            let known = outages.classes.iter().position(|known| *known == own);
            let at = known.unwrap_or_else(|| {
                outages.classes.push(own);
                outages.classes.len() - 1
            });
            outages.class_of.insert(key, at as u32);
        }
        outages
    }

    /// The users of a log have other numbers now, from 1 on: `users` are the old ones. A user may have several.
    pub fn rename_users(&mut self, users: &[i32]) {
        self.users_of_log = users.to_vec();
    }

    /// The class of a job of this user and group that asks for this.
    pub fn class_of(&self, user: i32, group: i32, request: RequestId) -> u32 {
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
