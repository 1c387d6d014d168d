//! The keys of `slurm`. They are named as Slurm names them.

use super::conf::SlurmConf;
use super::nodes::SlurmParameters;
use super::priority::Weights;
use super::shares;
use crate::machine::Tres;
use crate::schedule::rules::Counting;
use crate::spec::{Form, Key, Kind, Spec};
use crate::time::Seconds;

const fn weight(name: &'static str, about: &'static str) -> Key {
    Key::whole(name, 0, "0", about)
}

/// How the description of a key ends that has no effect on a pool of processors.
pub(super) const ON_NODES: &str = "only on nodes";

pub const FORM: Form = Form {
    name: "slurm",
    about: "Slurm's main and backfill schedulers, as version 22.05 has them, with their intervals and limits; see `sim help slurm`",
    keys: &[
        Key {
            name: "conf",
            kind: Kind::Defaults {
                what: "the name of a slurm.conf",
                read: |file| SlurmConf::read(file).map(|conf| conf.keys.clone()),
            },
            default: "",
            about: "a slurm.conf: what it says is the default of the other keys",
        },
        Key::duration("bf_interval", 1, "30s", "the time from one backfill pass to the next"),
        Key::duration("bf_resolution", 1, "1m", "times of reservations are rounded down to multiples of this"),
        Key::duration("bf_window", 1, "1d", "jobs that would start later than this have no reservation"),
        Key::duration("bf_window_linear", 0, "0s", "by how much groups of ends of running jobs grow; 0: they double"),
        Key::whole("bf_max_job_test", 1, "500", "how many jobs a backfill pass looks at"),
        Key::whole("bf_max_job_user", 0, "0", "how many jobs of one user a backfill pass looks at; 0: no limit"),
        Key::whole("default_queue_depth", 1, "100", "how many jobs a main pass looks at"),
        Key::duration("batch_sched_delay", 0, "3s", "the shortest time from one main pass to the next"),
        Key::duration(
            "sched_interval",
            1,
            "1m",
            "the time from one main pass without a limit of its depth to the next",
        ),
        Key::duration("kill_wait", 0, "30s", "how long after its limit a job is expected to end"),
        Key::whole(
            "bf_max_job_part",
            0,
            "0",
            "how many jobs of one partition a backfill pass looks at; 0: no limit; only on nodes",
        ),
        Key::whole("bf_max_job_start", 0, "0", "how many jobs a backfill pass starts; 0: no limit; only on nodes"),
        Key::whole(
            "bf_job_part_count_reserve",
            0,
            "0",
            "how many reservations a partition has; 0: no limit; only on nodes",
        ),
        Key::duration(
            "bf_min_age_reserve",
            0,
            "0s",
            "younger jobs hold no nodes: they start now or are passed over; only on nodes",
        ),
        Key::choice(
            "bf_one_resv_per_job",
            &["no", "yes"],
            "a job of several partitions has one reservation; only on nodes",
        ),
        Key::choice("bf_busy_nodes", &["no", "yes"], "reservations prefer nodes that have a job; only on nodes"),
        Key::choice("pack_serial_at_end", &["no", "yes"], "jobs of one CPU take the last nodes first; only on nodes"),
        Key::choice("cr_lln", &["no", "yes"], "the least loaded nodes come first in all partitions; only on nodes"),
        Key::whole(
            "partition_job_depth",
            0,
            "0",
            "how many jobs of one partition a main pass looks at; 0: no limit; only on nodes",
        ),
        Key::choice("assoc_limit_stop", &["no", "yes"], "a job over a limit blocks its partition; only on nodes"),
        Key::duration("epilog", 0, "0s", "how long the nodes of a job that has ended take no other; only on nodes"),
        Key::choice(
            "preempt",
            &["off", "requeue", "cancel"],
            "what becomes of running jobs that make way for jobs of partitions with a higher PriorityTier; not checked beside a real Slurm; only on nodes",
        ),
        Key::duration("preempt_exempt", 0, "0s", "how long a job runs before it may be preempted; only on nodes"),
        Key::duration("requeue_delay", 0, "121s", "how long a job that was requeued may not start; only on nodes"),
        Key::choice(
            "running",
            &["estimate", "prediction"],
            "what ends and lengths of jobs are computed from; with estimate the predictor has no effect",
        ),
        Key::choice(
            "order",
            &["fcfs", "multifactor"],
            "the order of the queue: arrival, or the priorities of the next keys",
        ),
        weight("age_weight", "the weight of the wait in a job's priority"),
        Key::duration("max_age", 1, "7d", "a wait of this length has the full weight"),
        weight("size_weight", "the weight of the processors in a job's priority"),
        weight("fairshare_weight", "the weight of fair share in a job's priority"),
        Key::duration("halflife", 1, "7d", "past usage counts half after this time"),
        Key::choice("shares", &["user", "group"], "whether users or groups have shares of the machine"),
        Key {
            name: "shares_file",
            kind: Kind::Text {
                what: "a file with lines such as '17 5', or a list such as 17:5;18:1",
                canonical: shares::canonical,
            },
            default: "",
            about: "a file with the shares, one number of a user or group and its share per line; without it all are equal",
        },
        weight("partition_weight", "the weight of a partition's PriorityJobFactor in a job's priority; only on nodes"),
        weight("qos_weight", "the weight of the quality of service in a job's priority; only on nodes"),
        Key::duration(
            "calc_period",
            1,
            "5m",
            "the time from one recalculation of priorities to the next; only on nodes",
        ),
        Key::choice(
            "fairshare",
            &["tree", "classic"],
            "how use becomes fair share: Fair Tree, or 2^(-usage / share); only on nodes",
        ),
        Key::whole("dampening", 1, "1", "what usage / share of the classic fair share is divided by; only on nodes"),
        Key::choice("favor_small", &["no", "yes"], "whether small jobs have the weight of the size; only on nodes"),
        Key::choice(
            "small_relative_to_time",
            &["no", "yes"],
            "whether the size is CPUs divided by the minutes of the limit; only on nodes",
        ),
        Key {
            name: "tres_weights",
            kind: Kind::Text {
                what: "weights such as cpu=1000;mem=0.03;gres/gpu=30000",
                canonical: |text| Ok(Tres::of_priority(text)?.priority_text()),
            },
            default: "",
            about: "weights of what a job asks for in its priority; only on nodes",
        },
        Key::choice("normal_tres", &["yes", "no"], "whether these are of parts of the partition; only on nodes"),
        Key::choice(
            "enforce_limits",
            &["yes", "no"],
            "whether limits of accounts and qualities of service hold; only on nodes",
        ),
    ],
};

/// Why a written key has no effect. None if it has one, or is the default.
pub fn idle_key(spec: &Spec, key: &str, on_nodes: bool) -> Option<&'static str> {
    let form = FORM.keys.iter().find(|form| form.name == key)?;
    let is_after_order = FORM.keys.iter().skip_while(|form| form.name != "order").skip(1).any(|form| form.name == key);
    match key {
        _ if spec.text(key) == form.default => None,
        _ if form.about.ends_with(ON_NODES) && !on_nodes => {
            Some("on a pool of processors, which has no nodes (--machine)")
        }
        "shares" | "shares_file" if on_nodes => Some("on nodes, where shares are those of --associations"),
        "enforce_limits" => None,
        // The keys of priorities.
        _ if is_after_order && spec.text("order") != "multifactor" => Some("without order=multifactor"),
        "preempt_exempt" | "requeue_delay" if spec.text("preempt") == "off" => Some("without preempt"),
        _ => None,
    }
}

/// The values of the keys.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub interval: Seconds,
    pub main_delay: Seconds,
    pub main_interval: Seconds,
    pub counting: Counting,
    /// How long the nodes of a job that has ended take no other.
    pub epilog: Seconds,
    /// How long a job that was requeued may not start.
    pub requeue_delay: Seconds,
    /// Whether limits hold, on nodes.
    pub enforces_limits: bool,
    /// What decides in a pass.
    pub parameters: SlurmParameters,
    /// None if the queue is in order of arrival.
    pub weights: Option<Weights>,
}

impl Settings {
    pub fn of(spec: &Spec) -> Settings {
        Settings {
            interval: spec.duration("bf_interval"),
            main_delay: spec.duration("batch_sched_delay"),
            main_interval: spec.duration("sched_interval"),
            counting: match spec.text("running") {
                "prediction" => Counting::Prediction,
                _ => Counting::Estimate,
            },
            epilog: spec.duration("epilog"),
            requeue_delay: spec.duration("requeue_delay"),
            enforces_limits: spec.text("enforce_limits") == "yes",
            parameters: SlurmParameters::of(spec),
            weights: (spec.text("order") == "multifactor").then(|| Weights::of(spec)),
        }
    }
}
