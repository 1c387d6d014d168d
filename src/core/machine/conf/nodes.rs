//! The NodeName lines of a slurm.conf.

use super::super::build::MOST_OF_NODE;
use super::super::cluster::Node;
use super::super::file_line::{ConfError, FileLine, Ignored};
use super::super::hostlist::HostList;
use super::super::units::memory_of;
use super::gres::{GresCount, gres_of, note_gres};
use super::line_keys::LineKeys;
use super::lines::{ConfLine, last_value, with_defaults};
use crate::text::shortened;
use crate::tres::Tres;

/// The keys of a NodeName line, of all versions of Slurm up to 24.11.
pub(super) const KEYS: LineKeys = LineKeys {
    of: "NodeName",
    used: &[
        "CPUs",
        "Procs",
        "Boards",
        "Sockets",
        "SocketsPerBoard",
        "CoresPerSocket",
        "ThreadsPerCore",
        "RealMemory",
        "MemSpecLimit",
        "CoreSpecCount",
        "CPUSpecList",
        "Gres",
        "Feature",
        "Features",
        "Weight",
        "State",
    ],
    mattering: &["TmpDisk", "TRESWeights", "RestrictedCoresPerGPU", "Topology"],
    others: &["NodeAddr", "NodeHostname", "BcastAddr", "Port", "Reason", "CpuBind", "Parameters"],
};

/// Nodes that are alike.
#[derive(Clone, Debug)]
pub(super) struct NodeLine {
    pub place: FileLine,
    pub names: HostList,
    /// One of them, without its name and its devices.
    pub node: Node,
    pub gres: Tres<GresCount>,
    /// Whether they do not exist yet (State=FUTURE).
    pub is_future: bool,
}

/// The nodes of a configuration, in the order of the file. What is not used is added to `ignored`.
pub(super) fn node_lines(lines: &[ConfLine], ignored: &mut Vec<Ignored>) -> Result<Vec<NodeLine>, ConfError> {
    let mut defaults: Vec<(String, String)> = Vec::new();
    let mut nodes = Vec::new();
    for line in lines.iter().filter(|line| line.is("NodeName")) {
        let wrong = |why: String| line.place.wrong(format!("NodeName: {why}"));
        KEYS.check(line, ignored)?;
        note_values(line, ignored);
        // Slurm takes the last of several values, and a line DEFAULT is for all that follow.
        let pairs = with_defaults(&defaults, &line.pairs);
        if line.value.eq_ignore_ascii_case("DEFAULT") {
            defaults = pairs;
            continue;
        }
        let names = HostList::read(&line.value).map_err(wrong)?;
        let (mut node, gres) = node_of(&pairs).map_err(wrong)?;
        let state = last_value(&pairs, "State").unwrap_or_default();
        node.is_down = is_down(state);
        let is_future = state.eq_ignore_ascii_case("FUTURE");
        nodes.push(NodeLine { place: line.place.clone(), names, node, gres, is_future });
    }
    Ok(nodes)
}

/// The processors of all nodes of a configuration. None if no line names one.
///
/// # Errors
/// If a list of names or a number cannot be read, or there are more processors than a machine can have here.
pub fn processors(lines: &[ConfLine]) -> Result<Option<u32>, ConfError> {
    let mut all = None;
    for line in node_lines(lines, &mut Vec::new())?.iter().filter(|line| !line.is_future) {
        let of_line = u64::from(line.node.has.cpus()).saturating_mul(line.names.count());
        let sum = of_line.saturating_add(all.unwrap_or(0).into());
        let most = u32::MAX;
        let sum = u32::try_from(sum).map_err(|_| line.place.wrong(format!("NodeName: more processors than {most}")))?;
        all = Some(sum);
    }
    Ok(all)
}

/// Whether nodes of this State run no jobs.
pub(super) fn is_down(state: &str) -> bool {
    ["DOWN", "DRAIN", "DRAINED", "DRAINING", "FAIL", "FAILING"].iter().any(|down| state.eq_ignore_ascii_case(down))
}

/// Notes values without effect of keys that are used.
fn note_values(line: &ConfLine, ignored: &mut Vec<Ignored>) {
    if let Some(state) = line.pair("State")
        && !is_down(state)
        && !["UNKNOWN", "IDLE", "FUTURE", ""].iter().any(|known| state.eq_ignore_ascii_case(known))
    {
        ignored.push(Ignored::of_machine(&line.place, format!("NodeName State={}", shortened(state))));
    }
    note_gres(line, ignored);
}

fn node_of(pairs: &[(String, String)]) -> Result<(Node, Tres<GresCount>), String> {
    let (all_cpus, threads_per_core) = processors_of_one(pairs)?;
    let kept = kept_cores(pairs, threads_per_core)?;
    let kept = kept.checked_mul(threads_per_core).filter(|kept| *kept < all_cpus);
    let cpus = all_cpus - kept.ok_or("CoreSpecCount or CPUSpecList: no CPU is left for jobs")?;
    let memory = |name, default| last_value(pairs, name).map_or(Ok(default), |text| memory_of(name, text));
    // As in Slurm, where the default is 1 MB, and a limit that leaves nothing is not used.
    let (all, kept) = (memory("RealMemory", 1)?, memory("MemSpecLimit", 0)?);
    let weight = match last_value(pairs, "Weight") {
        None => 1,
        Some(text) => text.parse().map_err(|_| format!("Weight={}: not a whole number", shortened(text)))?,
    };
    let is_features = |key: &str| ["Feature", "Features"].iter().any(|name| key.eq_ignore_ascii_case(name));
    let features = pairs.iter().rfind(|(key, _)| is_features(key)).map_or("", |(_, value)| value);
    let features = features.split(',').filter(|feature| !feature.is_empty()).map(str::to_string).collect();
    let memory = if kept < all { all - kept } else { all };
    let node = Node { has: Tres::on_node(cpus, memory), features, weight, threads_per_core, ..Node::default() };
    Ok((node, gres_of(last_value(pairs, "Gres").unwrap_or_default())?))
}

/// The cores that the system keeps for itself: CoreSpecCount, or those of the CPUs of CPUSpecList.
fn kept_cores(pairs: &[(String, String)], threads: u32) -> Result<u32, String> {
    let number = |key: &str, text: &str| {
        let wrong = || format!("{key}={}: not a whole number", shortened(text));
        text.trim().parse::<u32>().ok().filter(|number| *number <= MOST_OF_NODE).ok_or_else(wrong)
    };
    if let Some(text) = last_value(pairs, "CoreSpecCount") {
        return number("CoreSpecCount", text);
    }
    let mut cpus = 0;
    for item in last_value(pairs, "CPUSpecList").into_iter().flat_map(|list| list.split(',')) {
        let (first, last) = item.split_once('-').unwrap_or((item, item));
        let (first, last) = (number("CPUSpecList", first)?, number("CPUSpecList", last)?);
        cpus += (last + 1).saturating_sub(first);
    }
    Ok(cpus.div_ceil(threads))
}

/// The CPUs of one node, and those of each of its cores: as given, or the product of its parts. As in Slurm, Boards, or a number
/// that contradicts the parts, makes the product count.
fn processors_of_one(pairs: &[(String, String)]) -> Result<(u32, u32), String> {
    let number = |name: &str| match last_value(pairs, name) {
        None => Ok(None),
        Some(text) => match text.parse::<u32>() {
            Ok(number) if (1..=MOST_OF_NODE).contains(&number) => Ok(Some(u64::from(number))),
            Ok(number) if number > 0 => Err(format!("{name}={text} is above {MOST_OF_NODE}")),
            _ => Err(format!("{name}={} is not a whole number above 0", shortened(text))),
        },
    };
    let given = number("CPUs")?.or(number("Procs")?);
    let (boards, threads) = (number("Boards")?, number("ThreadsPerCore")?.unwrap_or(1));
    let per_socket = number("CoresPerSocket")?.unwrap_or(1);
    let sockets = match (number("SocketsPerBoard")?.or(number("Sockets")?), given) {
        (Some(sockets), _) => boards.unwrap_or(1) * sockets,
        (None, Some(cpus)) if boards.is_none() => (cpus / (per_socket * threads)).max(1),
        (None, _) => boards.unwrap_or(1),
    };
    let cores = sockets.saturating_mul(per_socket);
    let all = cores.saturating_mul(threads);
    let cpus = given.filter(|cpus| boards.is_none() && [sockets, cores, all].contains(cpus)).unwrap_or(all);
    let threads = if cores >= cpus { 1 } else { threads };
    match u32::try_from(cpus).ok().filter(|cpus| *cpus <= MOST_OF_NODE) {
        Some(cpus) => Ok((cpus, threads as u32)),
        None => Err(format!("{cpus} CPUs of one node are above {MOST_OF_NODE}")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::lines::lines_of;
    use super::*;
    use std::path::Path;

    fn procs(text: &str) -> Result<Option<u32>, String> {
        processors(&lines_of(text, Path::new("")).unwrap()).map_err(|error| error.to_string())
    }

    #[test]
    fn nodes_are_counted_as_slurm_counts_them() {
        for (text, expected) in [
            ("ClusterName=x", None),
            ("NodeName=a", Some(1)),
            ("NodeName=a,b[1-3,007] CPUs=4", Some(20)),
            ("NodeName=r[1-2]n[01-16] Sockets=2 CoresPerSocket=8 ThreadsPerCore=2", Some(2 * 16 * 32)),
            ("NodeName=x[1-2] Boards=2 SocketsPerBoard=3 CoresPerSocket=5", Some(60)),
            ("NodeName=DEFAULT CPUs=8\nNodeName=a\nNodeName=b CPUs=2\nNodeName=c", Some(18)),
            ("NodeName=DEFAULT Procs=8\nnodename=DEFAULT State=FUTURE\nNodeName=a\nNodeName=b state=idle", Some(8)),
            // Two sockets of 16 cores and 40 CPUs do not agree; a CPU may be a core.
            ("NodeName=a CPUs=40 Sockets=2 CoresPerSocket=16", Some(32)),
            ("NodeName=a CPUs=32 Sockets=2 CoresPerSocket=16 ThreadsPerCore=2", Some(32)),
        ] {
            assert_eq!(procs(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn what_cannot_be_counted_is_named_with_its_line() {
        for (text, why) in [
            ("A=1\nNodeName=n[1-", "line 2: NodeName: 'n[1-' is no list such as n[1-9]"),
            ("NodeName=n[3-1]", "line 1: NodeName: 'n[3-1]' is no list such as n[1-9]"),
            ("NodeName=n]1[", "line 1: NodeName: 'n]1[' is no list such as n[1-9]"),
            ("NodeName=a,", "line 1: NodeName: 'a,' is no list such as n[1-9]"),
            ("NodeName=a CPUs=0", "line 1: NodeName: CPUs=0 is not a whole number above 0"),
            ("NodeName=a CPUs=-4", "line 1: NodeName: CPUs=-4 is not a whole number above 0"),
            ("NodeName=a CPUs=4000000", "line 1: NodeName: CPUs=4000000 is above 1000000"),
            (
                "NodeName=a Sockets=2000 CoresPerSocket=2000",
                "line 1: NodeName: 4000000 CPUs of one node are above 1000000",
            ),
            ("NodeName=n[1-4000000000] CPUs=2", "line 1: NodeName: more processors than 4294967295"),
            (
                "NodeName=a RealMemory=lots",
                "line 1: NodeName: RealMemory=lots: not memory such as 8G, 512000M or 512000 (MB)",
            ),
            ("NodeName=a Gres=gpu:-2", "line 1: NodeName: Gres=gpu:-2: not a number of GPUs such as gpu:2"),
            ("NodeName=a Weight=-1", "line 1: NodeName: Weight=-1: not a whole number"),
        ] {
            assert_eq!(procs(text).unwrap_err(), why);
        }
        let wrong = procs("NodeName=a RealMemry=3").unwrap_err();
        assert!(wrong.starts_with("line 1: NodeName: no key 'RealMemry'; the keys are CPUs, Procs, "), "{wrong}");
        assert!(wrong.ends_with("; did you mean 'RealMemory'?"), "{wrong}");
    }

    /// Slurm's `tpc`: a core counts as one CPU if there are no more CPUs than cores.
    #[test]
    fn threads_count_if_they_are_cpus() {
        let threads = |text: &str| {
            let lines = lines_of(text, Path::new("")).unwrap();
            let node = node_lines(&lines, &mut Vec::new()).unwrap().remove(0).node;
            (node.has.cpus(), node.threads_per_core)
        };
        assert_eq!(threads("NodeName=a CPUs=8 Sockets=1 CoresPerSocket=4 ThreadsPerCore=2"), (8, 2));
        assert_eq!(threads("NodeName=a CPUs=4 Sockets=1 CoresPerSocket=4 ThreadsPerCore=2"), (4, 1));
        assert_eq!(threads("NodeName=a CPUs=8 ThreadsPerCore=2"), (8, 2));
        assert_eq!(threads("NodeName=a Sockets=2 CoresPerSocket=4 ThreadsPerCore=2"), (16, 2));
    }
}
