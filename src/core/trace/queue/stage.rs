//! What Slurm's states and reasons say of a job: whether it has processors, waits for them, or would not start anyway.

/// What a state of Slurm means for the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlurmState {
    /// It has processors that no other job can use.
    Running,
    /// It has none. Its reason says whether it waits for them.
    Pending,
    /// It has none and cannot start, whatever its reason. The text is the state.
    Held(&'static str),
    /// It is over, but for some cleaning up.
    Ending,
    Ended,
    Unknown,
}

/// The states with their short names. If several are set at once, the first one here decides: flags come before base states, in
/// the order in which `squeue` prints one of them.
const STATES: [(&str, &str, SlurmState); 25] = [
    // The script has ended and only the epilog runs: processors become free within seconds. A prediction of how long the job
    // will still run would keep them for hours.
    ("COMPLETING", "CG", SlurmState::Ending),
    // Files are copied after the job; its nodes are free.
    ("STAGE_OUT", "SO", SlurmState::Ending),
    // The nodes of the job are being booted or prepared.
    ("CONFIGURING", "CF", SlurmState::Running),
    ("POWER_UP_NODE", "PU", SlurmState::Running),
    ("RESIZING", "RS", SlurmState::Running),
    ("REQUEUE_HOLD", "RH", SlurmState::Held("REQUEUE_HOLD")),
    ("SPECIAL_EXIT", "SE", SlurmState::Held("SPECIAL_EXIT")),
    ("RESV_DEL_HOLD", "RD", SlurmState::Held("RESV_DEL_HOLD")),
    ("REQUEUE_FED", "RF", SlurmState::Held("REQUEUE_FED")),
    ("REQUEUED", "RQ", SlurmState::Pending),
    // Stopped by a signal: "CPUs have been retained by this job", says Slurm's manual.
    ("STOPPED", "ST", SlurmState::Running),
    // A federation started the job on another cluster.
    ("REVOKED", "RV", SlurmState::Ended),
    ("SIGNALING", "SI", SlurmState::Running),
    ("PENDING", "PD", SlurmState::Pending),
    ("RUNNING", "R", SlurmState::Running),
    // "CPUs have been released for other jobs", says Slurm's manual. It goes on when an operator or a time slice says so, not
    // when processors become free.
    ("SUSPENDED", "S", SlurmState::Held("SUSPENDED")),
    ("COMPLETED", "CD", SlurmState::Ended),
    ("CANCELLED", "CA", SlurmState::Ended),
    ("FAILED", "F", SlurmState::Ended),
    ("TIMEOUT", "TO", SlurmState::Ended),
    ("NODE_FAIL", "NF", SlurmState::Ended),
    ("PREEMPTED", "PR", SlurmState::Ended),
    ("BOOT_FAIL", "BF", SlurmState::Ended),
    ("DEADLINE", "DL", SlurmState::Ended),
    ("OUT_OF_MEMORY", "OOM", SlurmState::Ended),
];

impl SlurmState {
    /// The meaning of all words of a state, long or short. Words that are not known are ignored beside one that is.
    pub fn of<T: AsRef<[u8]>>(words: &[T]) -> SlurmState {
        let is_set = |name: &str| words.iter().any(|word| word.as_ref() == name.as_bytes());
        let found = STATES.iter().find(|(long, short, _)| is_set(long) || is_set(short));
        found.map_or(SlurmState::Unknown, |(_, _, state)| *state)
    }
}

/// Whether a pending job with this reason waits for processors.
///
/// These are the few reasons that more free processors could end. All the others are limits of users, accounts and qualities of
/// service, dates, dependencies, holds, licenses, reservations, partitions and nodes that are down, or requests that cannot be
/// met: more than 150 words, and new ones in every version of Slurm. So a word that is not known counts as one of them.
///
/// The tasks of an array that is printed in one row can have several reasons, separated by commas: then some of them wait.
pub fn waits_for_processors(reason: &str) -> bool {
    // Slurm prints these sentences instead of the reason Resources, and beside ReqNodeNotAvail. They mean that other jobs come
    // first at the nodes.
    if reason.starts_with("Nodes required for job are ") || reason.ends_with("May be reserved for other job") {
        return true;
    }
    reason
        .split(',')
        .any(|word| matches!(word.trim(), "" | "None" | "Priority" | "Resources" | "SchedDefer" | "Cleaning"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_decide_before_base_states() {
        for (words, state) in [
            (&["RUNNING"][..], SlurmState::Running),
            (&["R"], SlurmState::Running),
            (&["RUNNING", "CONFIGURING"], SlurmState::Running),
            (&["CONFIGURING", "RUNNING", "POWER_UP_NODE"], SlurmState::Running),
            (&["CANCELLED", "COMPLETING"], SlurmState::Ending),
            (&["COMPLETING", "PENDING", "REQUEUED"], SlurmState::Ending),
            (&["PENDING", "REQUEUED"], SlurmState::Pending),
            (&["PENDING", "REQUEUE_HOLD"], SlurmState::Held("REQUEUE_HOLD")),
            (&["SUSPENDED"], SlurmState::Held("SUSPENDED")),
            (&["SUSPENDED", "STOPPED"], SlurmState::Running),
            (&["PENDING", "A_NEW_FLAG"], SlurmState::Pending),
            (&["PD"], SlurmState::Pending),
            (&["OOM"], SlurmState::Ended),
            (&["A_NEW_STATE"], SlurmState::Unknown),
            (&[""], SlurmState::Unknown),
            (&[], SlurmState::Unknown),
        ] {
            assert_eq!(SlurmState::of(words), state, "{words:?}");
        }
    }

    #[test]
    fn a_job_waits_for_processors_or_for_something_else() {
        for reason in [
            "None",
            "",
            "Priority",
            "Resources",
            "SchedDefer",
            "Cleaning",
            "Priority,JobArrayTaskLimit",
            "JobHeldUser,Resources",
            "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions",
            "ReqNodeNotAvail, May be reserved for other job",
        ] {
            assert!(waits_for_processors(reason), "{reason}");
        }
        for reason in [
            "JobHeldUser",
            "JobHeldAdmin",
            "Dependency",
            "DependencyNeverSatisfied",
            "BeginTime",
            "Licenses",
            "Reservation",
            "PartitionDown",
            "PartitionTimeLimit",
            "JobArrayTaskLimit",
            "QOSMaxJobsPerUserLimit",
            "AssocGrpCpuLimit",
            "MaxCpuPerAccount",
            "BadConstraints",
            "Dependency,JobHeldUser",
            "launch failed requeued held",
            "job requeued in held state",
            "ReqNodeNotAvail, UnavailableNodes:n[1-3,7]",
            "ReqNodeNotAvail, Reserved for maintenance",
            "Job is at or exceeds QOS normal's group max TRES(cpu) minutes of 60 with 90",
            "AReasonOfALaterVersion",
        ] {
            assert!(!waits_for_processors(reason), "{reason}");
        }
    }
}
