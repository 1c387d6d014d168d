//! The keys of `slurm`, in one table: their names are those of Slurm, their defaults, and what of a slurm.conf sets them.

use super::shares;
use crate::machine::Tres;
use crate::spec::{Key, Kind};

const fn weight(name: &'static str, about: &'static str) -> Key {
    Key::whole(name, 0, "0", about)
}

/// How the description of a key ends that has no effect on a pool of processors.
pub(super) const ON_NODES: &str = "only on nodes";

/// What of a slurm.conf sets a key.
#[derive(Clone, Copy, Debug)]
pub(super) enum ConfSource {
    /// Nothing.
    Nothing,
    /// The item of SchedulerParameters of the same name.
    Item(NumberUnit),
    /// A parameter of this name.
    Line(&'static str, NumberUnit),
    /// A flag of PriorityFlags, which is this value.
    Flag(&'static str, &'static str),
    /// A parameter of this name, by a rule of its own.
    Rule(&'static str),
}

/// What a number in a slurm.conf is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumberUnit {
    Count,
    Seconds,
    Minutes,
    /// Minutes, or Slurm's longer forms such as 7-0 for seven days.
    Time,
    /// The same; 0 is never.
    TimeOrNever,
    /// No number: it is there or not.
    Flag,
}

/// Defines the keys, with what of a slurm.conf sets them.
macro_rules! slurm_keys {
    ($($key:expr => $source:ident $(($($with:expr),*))?;)*) => {
        pub(super) const KEYS: &[Key] = &[$($key),*];

        /// What of a slurm.conf sets each key of the form, in their order.
        const SOURCES: &[ConfSource] = &[$(ConfSource::$source $(($($with),*))?),*];
    };
}

// A new parameter of Slurm is a line here, a field of the settings that are made of the keys, and what it does.
slurm_keys! {
    Key::duration("bf_interval", 1, "30s", "the time from one backfill pass to the next") => Item(NumberUnit::Seconds);
    Key::duration("bf_resolution", 1, "1m", "times of reservations are rounded down to multiples of this") => Item(NumberUnit::Seconds);
    Key::duration("bf_window", 1, "1d", "jobs that would start later than this have no reservation") => Item(NumberUnit::Minutes);
    Key::duration("bf_window_linear", 0, "0s", "by how much groups of ends of running jobs grow; 0: they double") => Item(NumberUnit::Seconds);
    Key::whole("bf_max_job_test", 1, "500", "how many jobs a backfill pass looks at") => Item(NumberUnit::Count);
    Key::whole("bf_max_job_user", 0, "0", "how many jobs of one user a backfill pass looks at; 0: no limit") => Item(NumberUnit::Count);
    Key::whole("bf_max_job_array_resv", 0, "20", "how many reservations an array has, one after the other; at least 1") => Item(NumberUnit::Count);
    Key::whole("default_queue_depth", 1, "100", "how many jobs a main pass looks at") => Item(NumberUnit::Count);
    Key::duration("batch_sched_delay", 0, "3s", "the shortest time from one main pass to the next") => Item(NumberUnit::Seconds);
    Key::duration(
        "sched_interval",
        1,
        "1m",
        "the time from one main pass without a limit of its depth to the next",
    ) => Item(NumberUnit::Seconds);
    Key::duration("kill_wait", 0, "30s", "how long after its limit a job is expected to end") => Line("KillWait", NumberUnit::Seconds);
    Key::whole(
        "bf_max_job_part",
        0,
        "0",
        "how many jobs of one partition a backfill pass looks at; 0: no limit; only on nodes",
    ) => Item(NumberUnit::Count);
    Key::whole("bf_max_job_start", 0, "0", "how many jobs a backfill pass starts; 0: no limit; only on nodes") => Item(NumberUnit::Count);
    Key::whole(
        "bf_job_part_count_reserve",
        0,
        "0",
        "how many reservations a partition has; 0: no limit; only on nodes",
    ) => Item(NumberUnit::Count);
    Key::duration(
        "bf_min_age_reserve",
        0,
        "0s",
        "younger jobs hold no nodes: they start now or are passed over; only on nodes",
    ) => Item(NumberUnit::Seconds);
    Key::choice(
        "bf_one_resv_per_job",
        &["no", "yes"],
        "a job of several partitions has one reservation; only on nodes",
    ) => Item(NumberUnit::Flag);
    Key::choice("bf_busy_nodes", &["no", "yes"], "reservations prefer nodes that have a job; only on nodes") => Item(NumberUnit::Flag);
    Key::choice("pack_serial_at_end", &["no", "yes"], "jobs of one CPU take the last nodes first; only on nodes") => Item(NumberUnit::Flag);
    Key::choice("cr_lln", &["no", "yes"], "the least loaded nodes come first in all partitions; only on nodes") => Rule("SelectTypeParameters");
    Key::whole(
        "partition_job_depth",
        0,
        "0",
        "how many jobs of one partition a main pass looks at; 0: no limit; only on nodes",
    ) => Item(NumberUnit::Count);
    Key::choice("assoc_limit_stop", &["no", "yes"], "a job over a limit blocks its partition; only on nodes") => Item(NumberUnit::Flag);
    Key::duration("epilog", 0, "0s", "how long the nodes of a job that has ended take no other; only on nodes") => Nothing;
    Key::choice(
        "preempt",
        &["off", "requeue", "cancel"],
        "what becomes of running jobs that make way for others; only on nodes",
    ) => Rule("PreemptMode");
    Key::choice(
        "preempt_type",
        &["partition_prio", "qos"],
        "who makes way: jobs of partitions with a lower PriorityTier, or of the QOS that a QOS may preempt; only on nodes",
    ) => Rule("PreemptType");
    Key::duration("preempt_exempt", 0, "0s", "how long a job runs before it may be preempted; only on nodes") => Rule("PreemptExemptTime");
    Key::choice("preempt_youngest_first", &["no", "yes"], "jobs that started last make way first; only on nodes") => Item(NumberUnit::Flag);
    Key::choice(
        "preempt_strict_order",
        &["no", "yes"],
        "jobs are not sorted by how many of the needed nodes they have; only on nodes",
    ) => Item(NumberUnit::Flag);
    Key::whole(
        "preempt_reorder_count",
        0,
        "1",
        "how often jobs that make way are put in another order, so that fewer have to; only on nodes",
    ) => Item(NumberUnit::Count);
    Key::choice("job_requeue", &["yes", "no"], "whether jobs that are stopped wait again") => Rule("JobRequeue");
    Key::duration("resv_over_run", 0, "0s", "how long a job may run on after the end of its reservation, with --outages") => Rule("ResvOverRun");
    Key::duration("requeue_delay", 0, "121s", "how long a job that was requeued may not start") => Rule("AuthInfo");
    Key::choice(
        "running",
        &["estimate", "prediction"],
        "what ends and lengths of jobs are computed from; with estimate the predictor has no effect",
    ) => Nothing;
    Key::choice(
        "order",
        &["fcfs", "multifactor"],
        "the order of the queue: arrival, or the priorities of the next keys",
    ) => Rule("PriorityType");
    weight("age_weight", "the weight of the wait in a job's priority") => Line("PriorityWeightAge", NumberUnit::Count);
    Key::duration("max_age", 1, "7d", "a wait of this length has the full weight") => Line("PriorityMaxAge", NumberUnit::Time);
    weight("size_weight", "the weight of the processors in a job's priority") => Line("PriorityWeightJobSize", NumberUnit::Count);
    weight("fairshare_weight", "the weight of fair share in a job's priority") => Line("PriorityWeightFairshare", NumberUnit::Count);
    Key::duration("halflife", 1, "7d", "past usage counts half after this time") => Line("PriorityDecayHalfLife", NumberUnit::TimeOrNever);
    Key::choice("shares", &["user", "group"], "whether users or groups have shares of the machine") => Nothing;
    Key {
        name: "shares_file",
        kind: Kind::Text {
            what: "a file with lines such as '17 5', or a list such as 17:5;18:1",
            canonical: shares::canonical,
        },
        default: "",
        about: "a file with the shares, one number of a user or group and its share per line; without it all are equal",
    } => Nothing;
    weight("partition_weight", "the weight of a partition's PriorityJobFactor in a job's priority; only on nodes") => Line("PriorityWeightPartition", NumberUnit::Count);
    weight("qos_weight", "the weight of the quality of service in a job's priority; only on nodes") => Line("PriorityWeightQOS", NumberUnit::Count);
    Key::duration(
        "calc_period",
        1,
        "5m",
        "the time from one recalculation of priorities to the next; only on nodes",
    ) => Line("PriorityCalcPeriod", NumberUnit::Time);
    Key::choice(
        "fairshare",
        &["tree", "classic"],
        "how use becomes fair share: Fair Tree, or 2^(-usage / share); only on nodes",
    ) => Flag("NO_FAIR_TREE", "classic");
    Key::whole("dampening", 1, "1", "what usage / share of the classic fair share is divided by; only on nodes") => Line("FairShareDampeningFactor", NumberUnit::Count);
    Key::choice("favor_small", &["no", "yes"], "whether small jobs have the weight of the size; only on nodes") => Rule("PriorityFavorSmall");
    Key::choice(
        "small_relative_to_time",
        &["no", "yes"],
        "whether the size is CPUs divided by the minutes of the limit; only on nodes",
    ) => Flag("SMALL_RELATIVE_TO_TIME", "yes");
    Key {
        name: "tres_weights",
        kind: Kind::Text {
            what: "weights such as cpu=1000;mem=0.03;gres/gpu=30000",
            canonical: |text| Ok(Tres::of_priority(text)?.priority_text()),
        },
        default: "",
        about: "weights of what a job asks for in its priority; only on nodes",
    } => Rule("PriorityWeightTRES");
    Key::choice("normal_tres", &["yes", "no"], "whether these are of parts of the partition; only on nodes") => Flag("NO_NORMAL_TRES", "no");
    Key::choice(
        "enforce_limits",
        &["yes", "no"],
        "whether limits of accounts and qualities of service hold; only on nodes",
    ) => Rule("AccountingStorageEnforce");
}

/// The keys, with what of a slurm.conf sets them.
pub(super) fn keys_of_conf() -> impl Iterator<Item = (&'static Key, ConfSource)> {
    KEYS.iter().zip(SOURCES.iter().copied())
}
