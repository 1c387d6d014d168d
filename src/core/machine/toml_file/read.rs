//! Reads a machine from TOML.

use super::super::associations::{
    Account, Association, Associations, LIMITS, LimitOwner, Limits, QualityOfService, ROOT, User, limit_keys,
};
use super::super::build::{Builder, MOST_OF_NODE, NodeNames, SwitchLine, switches};
use super::super::cluster::{Cluster, Node, Partition, PartitionState};
use super::super::file_line::{ConfError, FileLine};
use super::super::hostlist::HostList;
use super::super::preempt_mode::PreemptMode;
use super::fields::TomlFields;
use super::{ACCOUNT_KEYS, NODE_KEYS, PARTITION_KEYS, QOS_KEYS, SWITCH_KEYS, USER_KEYS};
use crate::settings_file::{self, Item, SettingsEntry, Value};
use crate::similar::did_you_mean;
use crate::text::shortened;
use crate::tres::{Resource, Tres};

/// The tables of a machine.
const TABLES: [&str; 6] = ["nodes", "partitions", "switches", "qos", "accounts", "users"];
/// Its name and its switches, before the tables.
const BEFORE: [&str; 3] = ["cluster", "shares_cores", "ignores_memory"];

/// Reads a machine from TOML.
///
/// # Errors
/// If it is not TOML, has unknown keys, a value is not valid, nodes are there twice, partitions have nodes that do not exist, or
/// there are no nodes.
pub fn parse_toml(text: &str) -> Result<Cluster, ConfError> {
    let entries = settings_file::parse(text).map_err(|error| line_of(&error))?;
    refuse_other_tables(&entries)?;
    let top = TomlFields { table: "machine", line: 1, entries: &entries };
    let (nodes, has_memory) = nodes(&tables(&entries, "nodes")?)?;
    let mut names = NodeNames::new(&nodes);
    let partitions = partitions(&tables(&entries, "partitions")?, &mut names)?;
    let mut lines = Vec::new();
    for fields in tables(&entries, "switches")? {
        fields.refuse_others(&SWITCH_KEYS)?;
        let hosts = fields.hosts("nodes")?;
        let nodes = hosts.map(|list| names.places(&list)).transpose().map_err(|why| fields.wrong("nodes", why))?;
        lines.push(SwitchLine {
            place: fields.place("name"),
            name: fields.required("name", "s1")?,
            nodes: nodes.unwrap_or_default(),
            below: fields.list("switches")?.unwrap_or_default(),
        });
    }
    let (shares_cores, switches) = (top.switch("shares_cores")?.unwrap_or(false), switches(lines)?);
    // A file that says nothing of memory means that it does not matter.
    let ignores_memory = top.switch("ignores_memory")?.unwrap_or(!has_memory);
    let associations = associations(&entries)?;
    let name = top.text("cluster")?.unwrap_or_default();
    let mut cluster = Cluster { name, nodes, partitions, switches, shares_cores, ignores_memory, associations };
    cluster.complete();
    Ok(cluster)
}

/// An error of [`settings_file::parse`], which begins with its line.
fn line_of(error: &str) -> ConfError {
    let parts = error.strip_prefix("line ").and_then(|rest| rest.split_once(": "));
    let (line, why) = parts.and_then(|(line, why)| Some((line.parse().ok()?, why))).unwrap_or((1, error));
    FileLine::of_line(line).wrong(why)
}

fn refuse_other_tables(entries: &[SettingsEntry]) -> Result<(), ConfError> {
    let known = || TABLES.iter().chain(&BEFORE).copied();
    match entries.iter().find(|entry| !known().any(|name| name == entry.key)) {
        None => Ok(()),
        Some(SettingsEntry { key, line, .. }) => {
            let tables = TABLES.map(|table| format!("[[{table}]]")).join(", ");
            let (shown, meant) = (shortened(key), did_you_mean(key, known()));
            let why = format!(
                "no key '{shown}'; a machine has tables {tables}, and before them {}{meant}",
                BEFORE.join(", ")
            );
            Err(FileLine::of_line(*line).wrong(why))
        }
    }
}

/// The tables of one name.
fn tables<'a>(entries: &'a [SettingsEntry], table: &'static str) -> Result<Vec<TomlFields<'a>>, ConfError> {
    let Some(entry) = entries.iter().find(|entry| entry.key == table) else { return Ok(Vec::new()) };
    let form = |line: usize| FileLine::of_line(line).wrong(format!("'{table}' has another form; write [[{table}]]"));
    let Value::List(items) = &entry.value else { return Err(form(entry.line)) };
    let fields = |item: &'a Item| match &item.value {
        Value::Table(entries) => Ok(TomlFields { table, line: item.line, entries }),
        _ => Err(form(item.line)),
    };
    items.iter().map(fields).collect()
}

/// The nodes, and whether any has memory.
fn nodes(tables: &[TomlFields]) -> Result<(Vec<Node>, bool), ConfError> {
    let mut builder = Builder::default();
    if tables.is_empty() {
        let why = "there are no nodes: write [[nodes]] with name = \"n[1-4]\", cpus = 12, memory = \"48G\"";
        return Err(FileLine::of_line(1).wrong(why));
    }
    let mut has_memory = false;
    for fields in tables {
        fields.refuse_others(&NODE_KEYS)?;
        let list = match fields.hosts("name")? {
            Some(list) => list,
            None => fields.required("name", "n[1-4]")?,
        };
        let hosts = HostList::read(&list).map_err(|why| fields.wrong("name", why))?;
        let cpus = fields.number("cpus", 1, MOST_OF_NODE)?;
        let memory = fields.memory("memory")?;
        has_memory |= memory.is_some();
        let cpus = cpus.ok_or_else(|| fields.wrong("cpus", "missing; write cpus = 12"))?;
        let mut devices = Tres::<u32>::default();
        for kind in Resource::DEVICES {
            devices[kind] = fields.number(kind.name(), 0, MOST_OF_NODE)?.unwrap_or(0);
        }
        let node = Node {
            name: String::new(),
            has: Tres::on_node(cpus, memory.unwrap_or(0)),
            features: fields.list("features")?.unwrap_or_default(),
            weight: fields.number("weight", 0, u32::MAX)?.unwrap_or(1),
            threads_per_core: fields.number("threads_per_core", 1, MOST_OF_NODE)?.unwrap_or(1),
            is_down: fields.switch("down")?.unwrap_or(false),
        };
        if !node.has.cpus().is_multiple_of(node.threads_per_core) {
            return Err(fields.wrong("threads_per_core", "does not divide cpus, the CPUs of all cores"));
        }
        builder
            .add(&hosts, &node, &fields.place("name"), |_, kind| devices[kind])
            .map_err(|why| fields.wrong("name", why))?;
    }
    let without = tables.iter().find(|fields| has_memory && !fields.entries.iter().any(|entry| entry.key == "memory"));
    if let Some(fields) = without {
        return Err(fields.wrong("memory", "missing, and other nodes have it; write memory = \"48G\""));
    }
    Ok((builder.finish()?, has_memory))
}

fn partitions(tables: &[TomlFields], names: &mut NodeNames) -> Result<Vec<Partition>, ConfError> {
    let mut partitions: Vec<Partition> = Vec::new();
    for fields in tables {
        fields.refuse_others(&PARTITION_KEYS)?;
        let name = fields.required("name", "batch")?;
        if partitions.iter().any(|other| other.name == name) {
            return Err(fields.wrong("name", format!("another partition has the name '{}'", shortened(&name))));
        }
        let list = match fields.hosts("nodes")? {
            Some(list) => list,
            None => fields.required("nodes", "ALL")?,
        };
        let count = |key, least| fields.number(key, least, u32::MAX);
        let partition = Partition {
            name,
            nodes: names.places(&list).map_err(|why| fields.wrong("nodes", why))?,
            is_default: fields.switch("default")?.unwrap_or(false),
            priority_tier: count("priority_tier", 0)?.unwrap_or(1),
            priority_job_factor: count("priority_job_factor", 0)?.unwrap_or(1),
            state: fields.text("state")?.map(|state| partition_state(fields, &state)).transpose()?.unwrap_or_default(),
            max_time: fields.duration("max_time")?,
            default_time: fields.duration("default_time")?,
            min_nodes: count("min_nodes", 0)?.unwrap_or(0),
            max_nodes: count("max_nodes", 0)?,
            exclusive: fields.switch("exclusive")?.unwrap_or(false),
            least_loaded_first: fields.switch("least_loaded_first")?.unwrap_or(false),
            max_cpus_per_node: count("max_cpus_per_node", 0)?,
            memory_per_cpu: fields.memory("memory_per_cpu")?,
            memory_per_node: fields.memory("memory_per_node")?,
            qos: fields.text("qos")?.unwrap_or_default(),
            billing: fields.text("billing")?.unwrap_or_default(),
            preempt_mode: preempt_mode(fields)?,
            grace: fields.duration("grace_time")?.unwrap_or(0),
        };
        if partition.memory_per_cpu.is_some() && partition.memory_per_node.is_some() {
            return Err(
                fields.wrong("memory_per_node", "is given beside memory_per_cpu: a partition has one of the two")
            );
        }
        Tres::of_billing(&partition.billing).map_err(|wrong| fields.wrong("billing", wrong))?;
        if partition.is_default && partitions.iter().any(|other| other.is_default) {
            return Err(fields.wrong("default", "another partition is the default"));
        }
        partitions.push(partition);
    }
    Ok(partitions)
}

fn partition_state(fields: &TomlFields, state: &str) -> Result<PartitionState, ConfError> {
    PartitionState::of(state).ok_or_else(|| fields.wrong("state", "neither up nor down nor drain"))
}

fn preempt_mode(fields: &TomlFields) -> Result<Option<PreemptMode>, ConfError> {
    let wrong = || fields.wrong("preempt_mode", "neither off nor requeue nor cancel");
    fields.text("preempt_mode")?.map(|mode| PreemptMode::of(&mode).ok_or_else(wrong)).transpose()
}

fn associations(entries: &[SettingsEntry]) -> Result<Associations, ConfError> {
    let mut all = Associations::default();
    for fields in tables(entries, "qos")? {
        let limits = limits(&fields, LimitOwner::Qos, &QOS_KEYS)?;
        let name = fields.required("name", "normal")?;
        if all.qos.iter().any(|qos| qos.name == name) {
            return Err(fields.wrong("name", format!("another QOS has the name '{}'", shortened(&name))));
        }
        all.qos.push(QualityOfService {
            name,
            priority: fields.number("priority", 0, u32::MAX)?.unwrap_or(0),
            usage_factor: fields.factor("usage_factor")?.unwrap_or(1.0),
            deny_on_limit: fields.switch("deny_on_limit")?.unwrap_or(false),
            preempts: fields.list("preempt")?.unwrap_or_default(),
            preempt_mode: preempt_mode(&fields)?,
            preempt_exempt: fields.duration("preempt_exempt")?,
            grace: fields.duration("grace_time")?.unwrap_or(0),
            limits,
        });
    }
    let (mut of_accounts, mut of_users) = (Vec::new(), Vec::new());
    for fields in tables(entries, "accounts")? {
        of_accounts.push(fields.place("name"));
        all.accounts.push(Account {
            own: association(&fields, &ACCOUNT_KEYS)?,
            name: fields.required("name", "physics")?,
            parent: fields.text("parent")?.unwrap_or(ROOT.to_string()),
        });
    }
    for fields in tables(entries, "users")? {
        of_users.push(fields.place("name"));
        all.users.push(User {
            own: association(&fields, &USER_KEYS)?,
            name: fields.required("name", "ann")?,
            account: fields.required("account", "physics")?,
            is_default: fields.switch("default")?.unwrap_or(false),
        });
    }
    all.check(&of_accounts, &of_users)?;
    Ok(all)
}

/// What accounts and users have in common, of a table that has these keys and limits.
fn association(fields: &TomlFields, keys: &[&'static str]) -> Result<Association, ConfError> {
    Ok(Association {
        limits: limits(fields, LimitOwner::Association, keys)?,
        shares: shares(fields)?,
        qos: fields.list("qos")?.unwrap_or_default(),
        default_qos: fields.text("default_qos")?.unwrap_or_default(),
    })
}

/// The limits of a table that has these other keys.
fn limits(fields: &TomlFields, owner: LimitOwner, others: &[&'static str]) -> Result<Limits, ConfError> {
    let keys: Vec<&str> = others.iter().copied().chain(limit_keys(owner)).collect();
    fields.refuse_others(&keys)?;
    let mut limits = Limits::default();
    for form in &LIMITS {
        if let Some(key) = form.key(owner)
            && let Some(value) = fields.text(key)?
        {
            form.set(&mut limits, &value).map_err(|why| fields.wrong(key, format!("{}: {why}", shortened(&value))))?;
        }
    }
    Ok(limits)
}

/// A number, or `parent`.
fn shares(fields: &TomlFields) -> Result<Option<u32>, ConfError> {
    match fields.text("shares")?.as_deref() {
        None => Ok(Some(1)),
        Some("parent") => Ok(None),
        Some(_) => fields.number("shares", 0, u32::MAX),
    }
}
