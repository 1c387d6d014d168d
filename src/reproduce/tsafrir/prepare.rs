//! The versions of the logs in the paper (section 4): which records it leaves out.

use std::collections::{BTreeMap, BTreeSet};

use crate::request::LogRequests;
use crate::time::Seconds;
use crate::trace::{Log, Record};

/// Which records of a cleaned log the paper uses. In all versions the runtime and the allocated processors of a job are known
/// and above 0; the paper calls such jobs sane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    /// All sane jobs.
    Sane,
    /// Without the jobs whose estimate only one user uses, the user who has most such estimates. In the paper this is user 106
    /// of SDSC; later versions of the log have another number for this user.
    WithoutExclusiveEstimates,
    /// Only jobs with an estimate of at most this many seconds.
    EstimatesUpTo(Seconds),
}

/// The log with only the records of a version, in the same order.
pub(super) fn prepare(log: &Log, version: Version) -> Log {
    let sane = |record: &&Record| record.runtime > 0 && record.allocated > 0;
    let records: Vec<Record> = log.records.iter().filter(sane).copied().collect();
    let exclusive =
        if version == Version::WithoutExclusiveEstimates { exclusive_estimates(&records) } else { BTreeSet::new() };
    let is_kept = |record: &Record| match version {
        Version::Sane => true,
        Version::WithoutExclusiveEstimates => !exclusive.contains(&record.estimate),
        Version::EstimatesUpTo(most) => record.estimate <= most,
    };
    Log {
        records: records.into_iter().filter(is_kept).collect(),
        // The study is of a pool of processors.
        requests: LogRequests::default(),
        conditions: Default::default(),
        preceding: Vec::new(),
        text: None,
        ..log.clone()
    }
}

/// The estimates that only one user uses, for the user who has most such estimates. Of equals, the user with the lower
/// number counts.
fn exclusive_estimates(records: &[Record]) -> BTreeSet<Seconds> {
    let mut users: BTreeMap<Seconds, BTreeSet<i32>> = BTreeMap::new();
    for record in records {
        users.entry(record.estimate).or_default().insert(record.user);
    }
    let mut exclusive: BTreeMap<i32, BTreeSet<Seconds>> = BTreeMap::new();
    for (estimate, users) in users {
        if let (1, Some(&user)) = (users.len(), users.first()) {
            exclusive.entry(user).or_default().insert(estimate);
        }
    }
    // `max_by_key` returns the last of equal maxima, so the order is reversed.
    exclusive.into_values().rev().max_by_key(BTreeSet::len).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{ReadOptions, demo, read};

    #[test]
    fn versions_leave_out_what_the_paper_leaves_out() {
        let mut log = read(&demo(), ReadOptions::default(), &mut |_| ()).unwrap();
        log.records.truncate(8);
        // (runtime, processors, user, estimate): the first two are not sane; only user 7 uses 300 and
        // 400, users 7 and 8 use 600, only user 8 uses 7200.
        let sane = [(5, 4, 7, 300), (5, 4, 7, 400), (9, 1, 7, 600), (5, 4, 7, 300), (9, 1, 8, 600), (9, 1, 8, 7200)];
        let records = [(0, 4, 1, 60), (5, 0, 1, 60)].into_iter().chain(sane);
        for (record, (runtime, allocated, user, estimate)) in log.records.iter_mut().zip(records) {
            (record.runtime, record.allocated, record.user, record.estimate) = (runtime, allocated, user, estimate);
        }
        let left = |version| prepare(&log, version).records.iter().map(|record| record.estimate).collect::<Vec<_>>();
        assert_eq!(left(Version::Sane), [300, 400, 600, 300, 600, 7200]);
        assert_eq!(left(Version::WithoutExclusiveEstimates), [600, 600, 7200]);
        assert_eq!(left(Version::EstimatesUpTo(600)), [300, 400, 600, 300, 600]);
    }
}
