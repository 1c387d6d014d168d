//! The paper's versions of its logs (section 4): records that it leaves out.

use std::collections::{BTreeMap, BTreeSet};

use crate::time::Seconds;
use crate::trace::{Log, Record};

/// Which records of a cleaned log the paper looks at. All versions are sane: the runtime and the processors that a job
/// had are known and above 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    Sane,
    /// Without the jobs whose estimates are used by one user alone, the one who owns more of them than anybody else: the
    /// paper's user 106 of SDSC, who has another number in later versions of the log.
    WithoutTheGreatestOwner,
    /// Only jobs with an estimate up to this.
    EstimatesUpTo(Seconds),
}

/// The log with the records of a version alone, in order.
pub(super) fn prepare(log: &Log, version: Version) -> Log {
    let sane = |record: &&Record| record.runtime > 0 && record.allocated > 0;
    let records: Vec<Record> = log.records.iter().filter(sane).copied().collect();
    let owned = if version == Version::WithoutTheGreatestOwner { most_owned(&records) } else { BTreeSet::new() };
    let stays = |record: &Record| match version {
        Version::Sane => true,
        Version::WithoutTheGreatestOwner => !owned.contains(&record.estimate),
        Version::EstimatesUpTo(most) => record.estimate <= most,
    };
    Log {
        name: log.name.clone(),
        label: log.label.clone(),
        header: log.header.clone(),
        records: records.into_iter().filter(stays).collect(),
        unknown: log.unknown,
        skipped: log.skipped.clone(),
        digest: log.digest,
        text: None,
    }
}

/// The estimates that one user alone uses, who owns most; of equals the lower number.
fn most_owned(records: &[Record]) -> BTreeSet<Seconds> {
    let mut users: BTreeMap<Seconds, BTreeSet<i32>> = BTreeMap::new();
    for record in records {
        users.entry(record.estimate).or_default().insert(record.user);
    }
    let mut owned: BTreeMap<i32, BTreeSet<Seconds>> = BTreeMap::new();
    for (estimate, users) in users {
        if let (1, Some(&owner)) = (users.len(), users.first()) {
            owned.entry(owner).or_default().insert(estimate);
        }
    }
    // The last of equal maxima is taken, hence from the back.
    owned.into_values().rev().max_by_key(BTreeSet::len).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{ReadOptions, demo, read};

    #[test]
    fn versions_leave_out_what_the_paper_leaves_out() {
        let mut log = read(&demo(), ReadOptions::default(), &mut |_| ()).unwrap();
        log.records.truncate(8);
        // (runtime, processors, user, estimate): the first two are not sane; user 7 owns 300 and 400, shares 600; user 8
        // owns 7200.
        let sane = [(5, 4, 7, 300), (5, 4, 7, 400), (9, 1, 7, 600), (5, 4, 7, 300), (9, 1, 8, 600), (9, 1, 8, 7200)];
        let records = [(0, 4, 1, 60), (5, 0, 1, 60)].into_iter().chain(sane);
        for (record, (runtime, allocated, user, estimate)) in log.records.iter_mut().zip(records) {
            (record.runtime, record.allocated, record.user, record.estimate) = (runtime, allocated, user, estimate);
        }
        let left = |version| prepare(&log, version).records.iter().map(|record| record.estimate).collect::<Vec<_>>();
        assert_eq!(left(Version::Sane), [300, 400, 600, 300, 600, 7200]);
        assert_eq!(left(Version::WithoutTheGreatestOwner), [600, 600, 7200]);
        assert_eq!(left(Version::EstimatesUpTo(600)), [300, 400, 600, 300, 600]);
    }
}
