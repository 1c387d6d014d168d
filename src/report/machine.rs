//! Writes what was understood of a machine, and what was not used.

use std::io::{self, Write};

use super::table::Table;
use super::wrap::{Width, write_paragraph, write_wrapped};
use crate::metrics::{Column, Shown, column_list};
use crate::text::{counted, counted_as, grouped, printable};
use crate::time::print_duration;
use shadowtime_core::machine::associations::{Associations, LimitOwner};
use shadowtime_core::machine::{Cluster, Ignored, Node, Partition, PartitionState, joined_names, total_of_nodes};
use shadowtime_core::tres::{Resource, Tres, print_memory};

/// Something of a machine: its kind, its name, its line, how large it is, and what else is known of it.
#[derive(Clone, Debug, Default)]
pub struct MachineRow {
    kind: &'static str,
    name: String,
    line: String,
    size: Option<Tres>,
    details: String,
}

fn size_of(cluster: &Cluster, places: &[u32]) -> Tres {
    total_of_nodes(places.iter().map(|at| &cluster.nodes[*at as usize]))
}

/// The columns of `sim machine`.
pub fn machine_columns() -> Vec<Column<MachineRow>> {
    let before = column_list! {
        |row: MachineRow|
        key "kind" "machine, nodes, partition, switch, qos, account, user or ignored" row.kind;
        key "name" "its name; of nodes that are alike their names; of what is ignored the parameter" row.name.clone();
        key "line" "where it is, of what is ignored" row.line.clone();
        count "nodes" "the number of its nodes" row.size.map(|size| size[Resource::Nodes]);
        count "cpus" "the CPUs of its nodes together" row.size.map(|size| size[Resource::Cpus]);
        count "memory_mb" "the memory of its nodes together, in MB" row.size.map(|size| size[Resource::Memory]);
    };
    let of_device = |kind: Resource| {
        Column::of(kind, kind.columns().size, Shown::Count, |row: &MachineRow, kind| {
            row.size.map(|size| size[kind]).into()
        })
    };
    let behind = column_list! {
        |row: MachineRow|
        text "details" "what else is known of it; of what is ignored, whether it may change which jobs start" row.details.clone();
    };
    before.into_iter().chain(Resource::DEVICES.map(of_device)).chain(behind).collect()
}

/// The rows of `sim machine`.
pub fn machine_rows(name: &str, cluster: &Cluster, ignored: &[Ignored]) -> Vec<MachineRow> {
    let row = |kind, name: &str, size, details: String| {
        let (name, line) = (name.to_string(), String::new());
        MachineRow { kind, name, line, size, details }
    };
    let mut rows = vec![row("machine", name, Some(cluster.total()), allocation(cluster).to_string())];
    rows.extend(cluster.kinds().iter().map(|kind| {
        let nodes = kind.iter().map(|at| &cluster.nodes[*at]);
        let names = joined_names(nodes.clone().map(|node| node.name.as_str()));
        row("nodes", &names, Some(total_of_nodes(nodes)), of_node(&cluster.nodes[kind[0]]))
    }));
    rows.extend(cluster.partitions.iter().map(|partition| {
        row("partition", &partition.name, Some(size_of(cluster, &partition.nodes)), rules(partition, true))
    }));
    rows.extend(cluster.switches.iter().map(|switch| {
        let below = switch.switches.iter().map(|at| cluster.switches[*at as usize].name.as_str());
        let below = below.collect::<Vec<_>>().join(" ");
        row("switch", &switch.name, Some(size_of(cluster, &switch.nodes)), below)
    }));
    let Associations { qos, accounts, users } = &cluster.associations;
    rows.extend(qos.iter().map(|qos| row("qos", &qos.name, None, of_qos(qos))));
    rows.extend(accounts.iter().map(|account| {
        let parent = Some(format!("parent={}", account.parent)).filter(|_| account.parent != account.name);
        let limits = account.own.limits.in_words(LimitOwner::Association);
        row("account", &account.name, None, shares_in_words(account.own.shares, parent, &account.own.qos, &limits))
    }));
    rows.extend(users.iter().map(|user| {
        let limits = user.own.limits.in_words(LimitOwner::Association);
        row(
            "user",
            &format!("{}@{}", user.name, user.account),
            None,
            shares_in_words(user.own.shares, None, &user.own.qos, &limits),
        )
    }));
    rows.extend(ignored.iter().map(|ignored| MachineRow {
        line: ignored.place.to_string(),
        ..row("ignored", &ignored.name, None, if ignored.matters { "may change starts" } else { "" }.to_string())
    }));
    rows
}

/// What is down of the machine: `6 nodes, 384 CPUs`. None if nothing is.
pub fn down_in_words(cluster: &Cluster) -> Option<String> {
    let (nodes, cpus) = cluster.down();
    (nodes > 0).then(|| format!("{}, {}", counted(nodes, "node"), counted(cpus, "CPU")))
}

/// How jobs use the nodes.
fn allocation(cluster: &Cluster) -> &'static str {
    match (cluster.shares_cores, cluster.ignores_memory) {
        (false, false) => "jobs get whole cores and memory",
        (false, true) => "jobs get whole cores; memory is not counted",
        (true, false) => "jobs get CPUs and memory",
        (true, true) => "jobs get CPUs; memory is not counted",
    }
}

/// One node of several that are alike.
fn of_node(node: &Node) -> String {
    let Node { has, features, weight, threads_per_core, is_down, .. } = node;
    let features = Some(format!("features={}", features.join(","))).filter(|_| !features.is_empty());
    let amount = |kind: Resource| match kind {
        Resource::Memory => print_memory(has.memory()),
        _ => has[kind].to_string(),
    };
    let is_said = |kind: &Resource| has[*kind] > 0 || !Resource::DEVICES.contains(kind);
    let amounts = Resource::OF_NODES.into_iter().filter(is_said);
    let parts = [
        (*weight != 1).then(|| format!("weight={weight}")),
        (*threads_per_core != 1).then(|| format!("threads_per_core={threads_per_core}")),
        is_down.then(|| "down".to_string()),
        features,
    ];
    joined(amounts.map(|kind| Some(format!("{}={}", kind.name(), amount(kind)))).chain(parts))
}

fn joined(parts: impl IntoIterator<Item = Option<String>>) -> String {
    parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The rules of a partition that are not the default. The table has columns for some; `all` is with these.
fn rules(partition: &Partition, all: bool) -> String {
    let pair = |key: &str, value: Option<String>| value.map(|value| format!("{key}={value}"));
    let count = |key: &str, value: Option<u32>| pair(key, value.map(|value| value.to_string()));
    let word = |word: &str, on: bool| on.then(|| word.to_string());
    joined([
        word("default", partition.is_default && all),
        count("priority_tier", Some(partition.priority_tier).filter(|_| all)),
        count("priority_job_factor", Some(partition.priority_job_factor).filter(|_| all)),
        pair("state", Some(partition.state.name().to_string()).filter(|_| partition.state != PartitionState::Up)),
        pair("max_time", partition.max_time.filter(|_| all).map(print_duration)),
        pair("default_time", partition.default_time.map(print_duration)),
        count("min_nodes", Some(partition.min_nodes).filter(|nodes| *nodes > 0)),
        count("max_nodes", partition.max_nodes),
        word("exclusive", partition.exclusive),
        word("least_loaded_first", partition.least_loaded_first),
        count("max_cpus_per_node", partition.max_cpus_per_node),
        pair("memory_per_cpu", partition.memory_per_cpu.map(print_memory)),
        pair("memory_per_node", partition.memory_per_node.map(print_memory)),
        pair("qos", Some(partition.qos.clone()).filter(|qos| !qos.is_empty())),
        pair("preempt_mode", partition.preempt_mode.map(|mode| mode.name().to_string())),
        pair("billing", Some(partition.billing.clone()).filter(|billing| !billing.is_empty())),
    ])
}

fn of_qos(qos: &shadowtime_core::machine::associations::QualityOfService) -> String {
    joined([
        Some(format!("priority={}", qos.priority)),
        (qos.usage_factor != 1.0).then(|| format!("usage_factor={}", qos.usage_factor)),
        qos.deny_on_limit.then(|| "deny_on_limit".to_string()),
        Some(qos.limits.in_words(LimitOwner::Qos)),
    ])
}

fn shares_in_words(shares: Option<u32>, parent: Option<String>, qos: &[String], limits: &str) -> String {
    let shares = shares.map_or("parent".to_string(), |shares| shares.to_string());
    let qos = Some(format!("qos={}", qos.join(","))).filter(|_| !qos.is_empty());
    joined([parent, Some(format!("shares={shares}")), qos, Some(limits.to_string())])
}

/// Tables list at most this number of accounts, and of users.
const MOST_LISTED: usize = 20;

/// Writes what was understood of a machine for people.
pub fn write_machine(
    out: &mut dyn Write,
    width: Width,
    name: &str,
    cluster: &Cluster,
    ignored: &[Ignored],
) -> io::Result<()> {
    let size = cluster.total();
    let mut line = |name: &str, value: String| write_wrapped(out, &format!("{name:<11} "), &printable(&value), width);
    line("machine", name.to_string())?;
    line("nodes", grouped(size[Resource::Nodes]))?;
    if let Some(down) = down_in_words(cluster) {
        line("down", down)?;
    }
    for kind in Resource::OF_NODES {
        let unit = if kind == Resource::Memory { " MB" } else { "" };
        line(kind.many(), format!("{}{unit}", grouped(size[kind])))?;
    }
    line("allocation", allocation(cluster).to_string())?;
    if !cluster.switches.is_empty() {
        line("network", format!("a tree of {}", counted_as(cluster.switches.len() as u64, "switch", "switches")))?;
    }
    write_nodes(out, width, cluster)?;
    write_partitions(out, width, cluster)?;
    write_associations(out, width, &cluster.associations)?;
    let (mattering, others): (Vec<&Ignored>, Vec<&Ignored>) = ignored.iter().partition(|ignored| ignored.matters);
    for (caption, list) in
        [("Not simulated, though it may change which jobs start: ", mattering), ("Not used for the machine: ", others)]
    {
        if !list.is_empty() {
            write_paragraph(out, &format!("{caption}{}", ignored_in_words(&list)), width)?;
        }
    }
    Ok(())
}

fn write_nodes(out: &mut dyn Write, width: Width, cluster: &Cluster) -> io::Result<()> {
    let mut table = Table::with_remarks(1);
    let has_down = cluster.down().0 > 0;
    let headings = ["nodes", "number"].into_iter().chain(Resource::OF_NODES.map(Resource::many));
    table.headings(
        headings.chain(["weight", "threads per core"]).chain(has_down.then_some("state")).chain(["features"]),
    );
    for kind in cluster.kinds() {
        let node = &cluster.nodes[kind[0]];
        let mut row =
            vec![joined_names(kind.iter().map(|at| cluster.nodes[*at].name.as_str())), grouped(kind.len() as u64)];
        row.extend(Resource::OF_NODES.map(|kind| match kind {
            Resource::Memory => print_memory(node.has.memory()),
            _ => grouped(node.has[kind]),
        }));
        row.extend([node.weight.to_string(), node.threads_per_core.to_string()]);
        row.extend(has_down.then(|| if node.is_down { "down" } else { "up" }.to_string()));
        row.push(node.features.join(","));
        table.push(row);
    }
    writeln!(out)?;
    table.write(out, width)
}

fn write_partitions(out: &mut dyn Write, width: Width, cluster: &Cluster) -> io::Result<()> {
    let mut table = Table::with_remarks(1);
    let counts = || [Resource::Nodes, Resource::Cpus].into_iter().chain(Resource::DEVICES);
    let headings = std::iter::once("partition").chain(counts().map(Resource::many));
    table.headings(headings.chain(["tier", "job factor", "max time", "default"]));
    for partition in &cluster.partitions {
        let size = size_of(cluster, &partition.nodes);
        let counts = counts().map(|kind| grouped(size[kind]));
        let priorities = [partition.priority_tier, partition.priority_job_factor].map(|priority| priority.to_string());
        let time = partition.max_time.map_or("-".to_string(), print_duration);
        let default = if partition.is_default { "yes" } else { "" }.to_string();
        let line = [partition.name.clone()].into_iter().chain(counts).chain(priorities);
        table.push(line.chain([time, default]).collect());
    }
    writeln!(out)?;
    table.write(out, width)?;
    let with_rules =
        || cluster.partitions.iter().map(|one| (&one.name, rules(one, false))).filter(|(_, rules)| !rules.is_empty());
    let longest = with_rules().map(|(name, _)| name.chars().count()).max().unwrap_or(0).clamp(9, 30);
    for (at, (name, rules)) in with_rules().enumerate() {
        if at == 0 {
            writeln!(out, "\n{:<longest$}  rules", "partition")?;
        }
        write_wrapped(out, &format!("{:<longest$}  ", printable(name)), &printable(&rules), width)?;
    }
    Ok(())
}

fn write_associations(out: &mut dyn Write, width: Width, associations: &Associations) -> io::Result<()> {
    let Associations { qos, accounts, users } = associations;
    if !qos.is_empty() {
        let mut table = Table::with_remarks(1);
        table.headings(["QOS", "priority", "limits"]);
        for qos in qos {
            table.push(vec![qos.name.clone(), qos.priority.to_string(), qos.limits.in_words(LimitOwner::Qos)]);
        }
        writeln!(out)?;
        table.write(out, width)?;
    }
    let shares = |shares: Option<u32>| shares.map_or("parent".to_string(), |shares| shares.to_string());
    let mut lines: [Vec<Vec<String>>; 2] = [Vec::new(), Vec::new()];
    for account in accounts {
        let own = users.iter().filter(|user| user.account == account.name).count();
        let limits = account.own.limits.in_words(LimitOwner::Association);
        let line = [account.name.clone(), account.parent.clone(), shares(account.own.shares), own.to_string(), limits];
        lines[0].push(line.to_vec());
    }
    for user in users {
        let limits = user.own.limits.in_words(LimitOwner::Association);
        lines[1].push(vec![user.name.clone(), user.account.clone(), shares(user.own.shares), limits]);
    }
    let headings: [&[&str]; 2] =
        [&["account", "parent", "shares", "users", "limits"], &["user", "account", "shares", "limits"]];
    for (headings, lines) in headings.into_iter().zip(lines).filter(|(_, lines)| !lines.is_empty()) {
        let mut table = Table::with_remarks(2);
        table.headings(headings.iter().copied());
        let more = lines.len().saturating_sub(MOST_LISTED);
        lines.into_iter().take(MOST_LISTED).for_each(|line| table.push(line));
        writeln!(out)?;
        table.write(out, width)?;
        if more > 0 {
            writeln!(out, "and {}; --format csv has all", counted(more as u64, &format!("other {}", headings[0])))?;
        }
    }
    Ok(())
}

/// `ClusterName (line 1), NodeName (lines 3 to 7, 9)`: each name once, in the order of the first lines.
pub fn ignored_in_words(ignored: &[&Ignored]) -> String {
    let mut groups: Vec<Vec<&Ignored>> = Vec::new();
    for one in ignored {
        let is_same = |group: &&mut Vec<&Ignored>| {
            group[0].name.eq_ignore_ascii_case(&one.name) && group[0].place.included == one.place.included
        };
        match groups.iter_mut().find(is_same) {
            Some(group) => group.push(one),
            None => groups.push(vec![one]),
        }
    }
    let words = |group: &Vec<&Ignored>| {
        let file = group[0].place.included.as_ref().map_or(String::new(), |file| format!("{file}, "));
        let lines: Vec<usize> = group.iter().map(|one| one.place.line).collect();
        format!("{} ({file}{})", printable(&group[0].name), lines_in_words(&lines))
    };
    groups.iter().map(words).collect::<Vec<_>>().join(", ")
}

/// `line 4`, `lines 3 to 7, 9`.
fn lines_in_words(lines: &[usize]) -> String {
    const MOST: usize = 4;
    let runs: Vec<&[usize]> = lines.chunk_by(|a, b| *b <= a + 1).collect();
    let run = |run: &&[usize]| match (run[0], run[run.len() - 1]) {
        (first, last) if first == last => first.to_string(),
        (first, last) => format!("{first} to {last}"),
    };
    let shown = runs.iter().take(MOST).map(run).collect::<Vec<_>>().join(", ");
    let more = if runs.len() > MOST { " and others" } else { "" };
    let is_one = lines.iter().all(|line| *line == lines[0]);
    format!("{} {shown}{more}", if is_one { "line" } else { "lines" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_joined() {
        assert_eq!(lines_in_words(&[4]), "line 4");
        assert_eq!(lines_in_words(&[4, 4]), "line 4");
        assert_eq!(lines_in_words(&[3, 4, 5, 9]), "lines 3 to 5, 9");
        assert_eq!(lines_in_words(&[1, 3, 5, 7, 9, 11]), "lines 1, 3, 5, 7 and others");
    }
}
