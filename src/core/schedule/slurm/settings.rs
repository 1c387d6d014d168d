//! The form of `slurm`, and the values of its keys.

use super::conf::SlurmConf;
use super::keys::{KEYS, ON_NODES};
use super::nodes::SlurmParameters;
use super::priority::Weights;
use crate::schedule::rules::Counting;
use crate::spec::{Form, Key, Kind, Spec};
use crate::time::Seconds;

pub const FORM: Form = Form {
    name: "slurm",
    about: "Slurm's main and backfill schedulers, as version 22.05 has them, with their intervals and limits; see `sim help slurm`",
    keys: &{
        let conf = Key {
            name: "conf",
            kind: Kind::Defaults {
                what: "the name of a slurm.conf",
                read: |file| SlurmConf::read(file).map(|conf| conf.keys.clone()),
            },
            default: "",
            about: "a slurm.conf: what it says is the default of the other keys",
        };
        let mut keys = [conf; KEYS.len() + 1];
        let mut at = 0;
        while at < KEYS.len() {
            keys[at + 1] = KEYS[at];
            at += 1;
        }
        keys
    },
};

/// Why a written key has no effect. None if it has one, or is the default.
pub fn idle_key(spec: &Spec, key: &str, on_nodes: bool, has_outages: bool) -> Option<&'static str> {
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
        _ if key.starts_with("preempt_") && spec.text("preempt") == "off" => Some("without preempt"),
        "resv_over_run" if !has_outages => Some("without --outages"),
        "job_requeue" | "requeue_delay" if !has_outages && spec.text("preempt") == "off" => {
            Some("without preempt or --outages")
        }
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
    /// How long jobs may run on after the end of their reservation.
    pub reservation_over_run: Seconds,
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
            reservation_over_run: spec.duration("resv_over_run"),
            enforces_limits: spec.text("enforce_limits") == "yes",
            parameters: SlurmParameters::of(spec),
            weights: (spec.text("order") == "multifactor").then(|| Weights::of(spec)),
        }
    }
}
