//! By what jobs are grouped, and classes of widths and runtimes.

use crate::time::{DAY, HOUR, MINUTE, Seconds, print_duration};
use crate::trace::NameKind;
use crate::tres::Resource;

/// By what jobs are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GroupBy {
    /// Processors, in powers of two.
    Width,
    /// The runtime.
    Runtime,
    /// The user's estimate of the runtime.
    Estimate,
    /// The user.
    User,
    /// The user's group.
    Group,
    /// The queue.
    Queue,
    /// The partition: that of the log, or on a machine of nodes those that the job asks for.
    Partition,
    /// The quality of service.
    Qos,
    /// The account that the job is charged to.
    Account,
    /// A device that is asked for: none, or in powers of two.
    Device(Resource),
    /// The memory that is asked for, all together.
    Memory,
    /// The week of the submission: a calendar week if the log says when it begins, else seven days from the first submission.
    Week,
    /// The hour of the day of the submission, in the log's time zone. If the log does not say when it begins, days begin with
    /// the first submission.
    Hour,
}

/// Those before the devices, with their names.
const BEFORE: [(&str, GroupBy); 9] = [
    ("width", GroupBy::Width),
    ("runtime", GroupBy::Runtime),
    ("estimate", GroupBy::Estimate),
    ("user", GroupBy::User),
    ("group", GroupBy::Group),
    ("queue", GroupBy::Queue),
    ("partition", GroupBy::Partition),
    ("qos", GroupBy::Qos),
    ("account", GroupBy::Account),
];

/// Those behind the devices.
const BEHIND: [(&str, GroupBy); 3] = [("memory", GroupBy::Memory), ("week", GroupBy::Week), ("hour", GroupBy::Hour)];

/// All of them, with their names, in the order of the documentation.
fn named() -> impl Iterator<Item = (&'static str, GroupBy)> {
    let devices = Resource::DEVICES.into_iter().map(|kind| (kind.name(), GroupBy::Device(kind)));
    BEFORE.into_iter().chain(devices).chain(BEHIND)
}

impl GroupBy {
    /// All of them, in the order of the documentation.
    pub fn all() -> impl Iterator<Item = GroupBy> {
        named().map(|(_, by)| by)
    }

    /// As written on the command line.
    pub fn name(self) -> &'static str {
        named().find(|(_, by)| *by == self).expect("all are in the list").0
    }

    /// Reads a name.
    ///
    /// # Errors
    /// If there is no such name; the message lists all.
    pub fn parse(text: &str) -> Result<GroupBy, String> {
        named().find(|(name, _)| *name == text).map(|(_, by)| by).ok_or_else(|| {
            let names = named().map(|(name, _)| name).collect::<Vec<_>>().join(", ");
            format!("jobs cannot be grouped by '{text}': write one or more of {names}")
        })
    }

    /// What of a job in the log the groups are the names of. None if they are something else.
    pub(super) fn kind(self) -> Option<NameKind> {
        match self {
            GroupBy::User => Some(NameKind::User),
            GroupBy::Group => Some(NameKind::Group),
            GroupBy::Queue => Some(NameKind::Queue),
            GroupBy::Partition => Some(NameKind::Partition),
            _ => None,
        }
    }

    /// Whether the groups are names, of which there may be many. They come in the order of their area, the largest first.
    pub fn is_by_name(self) -> bool {
        self.kind().is_some() || matches!(self, GroupBy::Qos | GroupBy::Account)
    }

    /// Whether the groups depend on the log's time zone.
    pub fn is_of_the_calendar(self) -> bool {
        matches!(self, GroupBy::Week | GroupBy::Hour)
    }
}

/// The longest runtime of each class. Longer ones are in one more class.
const RUNTIMES: [Seconds; 6] = [MINUTE, 10 * MINUTE, HOUR, 4 * HOUR, 12 * HOUR, DAY];

/// 0 for one processor, 1 for two, 2 for three and four, 3 for five to eight.
pub fn width_class(procs: u32) -> i64 {
    i64::from(u32::BITS - procs.saturating_sub(1).leading_zeros())
}

/// The name of a class of widths, such as `3-4`.
pub fn width_class_name(class: i64) -> String {
    match class {
        0 | 1 => (class + 1).to_string(),
        _ => format!("{}-{}", (1i64 << (class - 1)) + 1, 1i64 << class),
    }
}

/// The number of classes of runtimes.
pub const RUNTIME_CLASSES: usize = RUNTIMES.len() + 1;

/// 0 for a minute or less, 1 for up to ten minutes, and so on.
pub fn runtime_class(runtime: Seconds) -> i64 {
    // Counting has no branches, which nobody could foresee here.
    RUNTIMES.iter().filter(|&&limit| limit < runtime).count() as i64
}

/// The name of a class of runtimes, such as `up to 10m`.
pub fn runtime_class_name(class: i64) -> String {
    match RUNTIMES.get(class as usize) {
        Some(&limit) => format!("up to {}", print_duration(limit)),
        None => "more".to_string(),
    }
}
