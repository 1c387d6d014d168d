//! The PartitionName and NodeSet lines of a slurm.conf.

use std::collections::HashMap;

use super::super::build::NodeNames;
use super::super::cluster::{Partition, PartitionState};
use super::super::file_line::{ConfError, Ignored};
use super::super::hostlist::HostList;
use super::super::preempt_mode::PreemptMode;
use super::super::units::{memory_of, slurm_time};
use super::line_keys::LineKeys;
use super::lines::{ConfLine, last_value, with_defaults};
use crate::text::shortened;
use crate::time::Seconds;
use crate::tres::{Tres, is_unlimited};

/// The keys of a PartitionName line, of all versions of Slurm up to 24.11.
const KEYS: LineKeys = LineKeys {
    of: "PartitionName",
    used: &[
        "Nodes",
        "Default",
        "DefaultTime",
        "MaxTime",
        "MinNodes",
        "MaxNodes",
        "OverSubscribe",
        "Shared",
        "LLN",
        "MaxCPUsPerNode",
        "DefMemPerCPU",
        "DefMemPerNode",
        "QOS",
        "Priority",
        "PriorityTier",
        "PriorityJobFactor",
        "PreemptMode",
        "GraceTime",
        "State",
        "TRESBillingWeights",
    ],
    mattering: &[
        "AllocNodes",
        "AllowAccounts",
        "AllowGroups",
        "AllowQOS",
        "Alternate",
        "DefCpuPerGPU",
        "DefMemPerGPU",
        "DenyAccounts",
        "DenyQOS",
        "ExclusiveTopo",
        "ExclusiveUser",
        "JobDefaults",
        "MaxCPUsPerSocket",
        "MaxMemPerCPU",
        "MaxMemPerNode",
        "OverTimeLimit",
        "ReqResv",
        "SelectTypeParameters",
        "Topology",
    ],
    others: &[
        "CpuBind",
        "DisableRootJobs",
        "Hidden",
        "PowerDownOnIdle",
        "ResumeTimeout",
        "RootOnly",
        "SuspendTime",
        "SuspendTimeout",
    ],
};

/// What holds for partitions that do not say otherwise.
pub(super) struct PartitionDefaults {
    /// What a job has that does not say its memory: for each CPU, and on each node.
    pub memory: [Option<u64>; 2],
    /// Slurm's select/linear gives whole nodes.
    pub exclusive: bool,
    pub least_loaded_first: bool,
}

/// The partitions of a configuration, in the order of the file. What is not used is added to `ignored`.
pub(super) fn partitions(
    lines: &[ConfLine],
    names: &mut NodeNames,
    everywhere: &PartitionDefaults,
    ignored: &mut Vec<Ignored>,
) -> Result<Vec<Partition>, ConfError> {
    let mut defaults: Vec<(String, String)> = Vec::new();
    let mut partitions: Vec<Partition> = Vec::new();
    let sets = lines.iter().filter(|line| line.is("NodeSet")).map(|line| (line.value.as_str(), line)).collect();
    for line in lines.iter().filter(|line| line.is("PartitionName")) {
        let wrong = |why: String| line.place.wrong(format!("PartitionName {}: {why}", shortened(&line.value)));
        KEYS.check(line, ignored)?;
        let pairs = with_defaults(&defaults, &line.pairs);
        note_values(line, ignored);
        if line.value.eq_ignore_ascii_case("DEFAULT") {
            defaults = pairs;
            continue;
        }
        if line.value.is_empty() {
            return Err(line.place.wrong("PartitionName: a partition without a name"));
        }
        if partitions.iter().any(|partition| partition.name == line.value) {
            return Err(wrong("another line has a partition of this name".to_string()));
        }
        let pairs = PartitionValues { pairs: &pairs };
        let mut partition = partition_of(&line.value, &pairs, everywhere).map_err(wrong)?;
        partition.nodes = nodes_of(pairs.last("Nodes").unwrap_or_default(), &sets, names).map_err(wrong)?;
        if partition.nodes.is_empty() {
            let name = format!("PartitionName {}, which has no nodes", shortened(&line.value));
            ignored.push(Ignored::of_machine(&line.place, name));
            continue;
        }
        // Of several defaults Slurm takes the last.
        if partition.is_default {
            partitions.iter_mut().for_each(|before| before.is_default = false);
        }
        partitions.push(partition);
    }
    Ok(partitions)
}

/// Notes values without effect of keys that are used.
fn note_values(line: &ConfLine, ignored: &mut Vec<Ignored>) {
    for (key, simulated) in [("OverSubscribe", &OVERSUBSCRIBE), ("Shared", &OVERSUBSCRIBE)] {
        if let Some(value) = line.pair(key)
            && !simulated.iter().any(|known| value.eq_ignore_ascii_case(known))
        {
            ignored.push(Ignored::of_machine(&line.place, format!("PartitionName {key}={}", shortened(value))));
        }
    }
    for word in line.pair("PreemptMode").map_or(Vec::new(), |list| PreemptMode::of_list(list).1) {
        ignored.push(Ignored::of_machine(&line.place, format!("PartitionName PreemptMode={}", shortened(word))));
    }
}

/// The values of OverSubscribe that are simulated.
const OVERSUBSCRIBE: [&str; 2] = ["NO", "EXCLUSIVE"];

/// The pairs of a line, after those of the lines DEFAULT before it.
struct PartitionValues<'a> {
    pairs: &'a [(String, String)],
}

impl PartitionValues<'_> {
    fn last(&self, key: &str) -> Option<&str> {
        last_value(self.pairs, key)
    }

    /// A number. None if there is none or no limit.
    fn number(&self, key: &str) -> Result<Option<u32>, String> {
        let wrong = |text: &str| format!("{key}={}: not a whole number", shortened(text));
        let number = |text: &str| text.parse().map_err(|_| wrong(text));
        self.last(key).filter(|text| !is_unlimited(text)).map(number).transpose()
    }

    /// A time. None if there is none or no limit.
    fn time(&self, key: &str) -> Result<Option<Seconds>, String> {
        let wrong = |text: &str| format!("{key}={}: not a time such as 7-0 or 30:00", shortened(text));
        let seconds = |text: &str| slurm_time(text).ok_or_else(|| wrong(text));
        self.last(key).filter(|text| !is_unlimited(text)).map(seconds).transpose()
    }

    fn switch(&self, key: &str) -> Result<Option<bool>, String> {
        let is = |words: [&str; 5], text: &str| words.iter().any(|word| word.eq_ignore_ascii_case(text));
        let switch = |text: &str| match text {
            on if is(["YES", "TRUE", "Y", "UP", "1"], on) => Ok(true),
            off if is(["NO", "FALSE", "N", "DOWN", "0"], off) => Ok(false),
            other => Err(format!("{key}={}: neither YES nor NO", shortened(other))),
        };
        self.last(key).map(switch).transpose()
    }
}

fn partition_of(name: &str, values: &PartitionValues, everywhere: &PartitionDefaults) -> Result<Partition, String> {
    let memory = |key| values.last(key).filter(|text| !is_unlimited(text)).map(|text| memory_of(key, text)).transpose();
    let own = [memory("DefMemPerCPU")?, memory("DefMemPerNode")?];
    // 0 is all memory of the nodes.
    let own = if own == [None, None] { everywhere.memory } else { own.map(|size| size.filter(|size| *size > 0)) };
    let [memory_per_cpu, memory_per_node] = own;
    let state = values.last("State").unwrap_or("UP");
    let state = PartitionState::of(state)
        .ok_or_else(|| format!("State={}: neither UP nor DOWN nor DRAIN nor INACTIVE", shortened(state)))?;
    // As in Slurm, Priority counts if both forms are there.
    let (priority, shared) = (values.number("Priority")?, values.last("OverSubscribe").or(values.last("Shared")));
    let exclusive = shared.is_some_and(|shared| shared.eq_ignore_ascii_case("EXCLUSIVE"));
    Tres::of_billing(values.last("TRESBillingWeights").unwrap_or_default())
        .map_err(|wrong| format!("TRESBillingWeights: {wrong}"))?;
    Ok(Partition {
        name: name.to_string(),
        nodes: Vec::new(),
        is_default: values.switch("Default")?.unwrap_or(false),
        priority_tier: priority.or(values.number("PriorityTier")?).unwrap_or(1),
        priority_job_factor: priority.or(values.number("PriorityJobFactor")?).unwrap_or(1),
        state,
        max_time: values.time("MaxTime")?,
        default_time: values.time("DefaultTime")?,
        min_nodes: values.number("MinNodes")?.unwrap_or(0),
        max_nodes: values.number("MaxNodes")?,
        exclusive: exclusive || everywhere.exclusive,
        least_loaded_first: values.switch("LLN")?.unwrap_or(false) || everywhere.least_loaded_first,
        max_cpus_per_node: values.number("MaxCPUsPerNode")?,
        memory_per_cpu,
        memory_per_node,
        qos: values.last("QOS").unwrap_or_default().to_string(),
        billing: values.last("TRESBillingWeights").unwrap_or_default().to_string(),
        // Jobs cannot be suspended here: they do not make way.
        preempt_mode: values.last("PreemptMode").map(|list| PreemptMode::of_list(list).0.unwrap_or_default()),
        grace: values.number("GraceTime")?.unwrap_or(0).into(),
    })
}

/// The nodes of a partition: a list of names in which a NodeSet may be named too.
fn nodes_of(list: &str, sets: &HashMap<&str, &ConfLine>, names: &mut NodeNames) -> Result<Vec<u32>, String> {
    if list.is_empty() {
        return Ok(Vec::new());
    }
    if sets.is_empty() || list.eq_ignore_ascii_case("ALL") {
        return names.places(list);
    }
    let mut nodes = Vec::new();
    for part in names.within_bounds(&HostList::read(list)?)? {
        match sets.get(part.as_str()) {
            None => nodes.extend(names.places(&part)?),
            Some(set) => {
                let listed = set.pair("Nodes").map(|list| names.places(list)).transpose()?;
                let with_feature = set.pair("Feature").map(|feature| names.with_feature(feature)).transpose()?;
                nodes.extend(listed.into_iter().chain(with_feature).flatten());
            }
        }
    }
    nodes.sort_unstable();
    nodes.dedup();
    Ok(nodes)
}
