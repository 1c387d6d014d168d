//! A machine in TOML: tables `[[nodes]]`, `[[partitions]]`, `[[switches]]`, `[[qos]]`, `[[accounts]]` and `[[users]]`.

mod fields;
mod read;
mod write;

pub use read::parse_toml;

use crate::tres::{Resource, joined};

/// The keys of tables, without the limits of the last three.
const NODE_KEYS: [&str; Resource::DEVICES.len() + 7] =
    joined(["name", "cpus", "memory"], Resource::DEVICE_NAMES, ["features", "weight", "threads_per_core", "down"]);
const PARTITION_KEYS: [&str; 19] = [
    "name",
    "nodes",
    "default",
    "priority_tier",
    "priority_job_factor",
    "state",
    "max_time",
    "default_time",
    "min_nodes",
    "max_nodes",
    "exclusive",
    "least_loaded_first",
    "max_cpus_per_node",
    "memory_per_cpu",
    "memory_per_node",
    "qos",
    "billing",
    "preempt_mode",
    "grace_time",
];
const SWITCH_KEYS: [&str; 3] = ["name", "nodes", "switches"];
const QOS_KEYS: [&str; 8] =
    ["name", "priority", "usage_factor", "deny_on_limit", "preempt", "preempt_mode", "preempt_exempt", "grace_time"];
const ACCOUNT_KEYS: [&str; 5] = ["name", "parent", "shares", "qos", "default_qos"];
const USER_KEYS: [&str; 6] = ["name", "account", "default", "shares", "qos", "default_qos"];

#[cfg(test)]
mod tests;
