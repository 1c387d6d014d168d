//! Writes a machine as TOML, nodes that are alike in one table.

use std::fmt::Display;
use std::io::{self, Write};

use super::super::associations::{Association, LIMITS, LimitOwner, Limits, ROOT};
use super::super::cluster::{Cluster, Node, Partition, PartitionState};
use super::super::hostlist::joined_names;
use crate::time::print_duration;
use crate::tres::{Resource, print_memory};

impl Cluster {
    /// Writes the machine as TOML, which is read back as the same machine. Values that are the default are left out.
    ///
    /// # Errors
    /// If `out` fails.
    pub fn write_toml(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut top = TomlTable::default();
        top.text("cluster", &self.name);
        top.switch("shares_cores", self.shares_cores);
        // The same is meant if no node has memory.
        let has_memory = !self.ignores_memory || self.nodes.iter().any(|node| node.has.memory() > 0);
        top.switch("ignores_memory", self.ignores_memory && has_memory);
        top.write(out, "")?;
        for kind in self.kinds() {
            self.node_table(&kind, has_memory).write(out, "nodes")?;
        }
        for partition in &self.partitions {
            self.partition_table(partition).write(out, "partitions")?;
        }
        for switch in &self.switches {
            let mut table = TomlTable::default();
            table.text("name", &switch.name);
            table.text("nodes", &self.names(&switch.nodes));
            let below: Vec<&str> = switch.switches.iter().map(|at| self.switches[*at as usize].name.as_str()).collect();
            table.list("switches", &below);
            table.write(out, "switches")?;
        }
        self.write_associations(out)
    }

    /// Nodes as a list.
    fn names(&self, places: &[u32]) -> String {
        joined_names(places.iter().map(|at| self.nodes[*at as usize].name.as_str()))
    }

    fn node_table(&self, kind: &[usize], has_memory: bool) -> TomlTable {
        let Node { has, features, weight, threads_per_core, is_down, .. } = &self.nodes[kind[0]];
        let mut table = TomlTable::default();
        table.text("name", &joined_names(kind.iter().map(|at| self.nodes[*at].name.as_str())));
        table.number("cpus", has.cpus());
        if has_memory {
            table.text("memory", &print_memory(has.memory()));
        }
        Resource::DEVICES.iter().for_each(|kind| table.unless(kind.name(), has[*kind], 0));
        table.list("features", &features.iter().map(String::as_str).collect::<Vec<_>>());
        table.unless("weight", *weight, 1);
        table.unless("threads_per_core", *threads_per_core, 1);
        table.switch("down", *is_down);
        table
    }

    fn partition_table(&self, partition: &Partition) -> TomlTable {
        let mut table = TomlTable::default();
        table.text("name", &partition.name);
        let is_all = partition.nodes.len() == self.nodes.len();
        table.text("nodes", &if is_all { "ALL".to_string() } else { self.names(&partition.nodes) });
        table.switch("default", partition.is_default);
        table.unless("priority_tier", partition.priority_tier, 1);
        table.unless("priority_job_factor", partition.priority_job_factor, 1);
        table.some(
            "state",
            Some(partition.state).filter(|state| *state != PartitionState::Up).map(|state| state.name().to_string()),
        );
        table.some("max_time", partition.max_time.map(print_duration));
        table.some("default_time", partition.default_time.map(print_duration));
        table.unless("min_nodes", partition.min_nodes, 0);
        table.count("max_nodes", partition.max_nodes);
        table.switch("exclusive", partition.exclusive);
        table.switch("least_loaded_first", partition.least_loaded_first);
        table.count("max_cpus_per_node", partition.max_cpus_per_node);
        table.some("memory_per_cpu", partition.memory_per_cpu.map(print_memory));
        table.some("memory_per_node", partition.memory_per_node.map(print_memory));
        table.text("qos", &partition.qos);
        table.text("billing", &partition.billing);
        table.some("preempt_mode", partition.preempt_mode.map(|mode| mode.name().to_string()));
        table.some("grace_time", Some(partition.grace).filter(|grace| *grace > 0).map(print_duration));
        table
    }

    fn write_associations(&self, out: &mut dyn Write) -> io::Result<()> {
        for qos in &self.associations.qos {
            let mut table = TomlTable::default();
            table.text("name", &qos.name);
            table.unless("priority", qos.priority, 0);
            table.unless("usage_factor", qos.usage_factor, 1.0);
            table.switch("deny_on_limit", qos.deny_on_limit);
            table.list("preempt", &qos.preempts.iter().map(String::as_str).collect::<Vec<_>>());
            table.some("preempt_mode", qos.preempt_mode.map(|mode| mode.name().to_string()));
            table.some("preempt_exempt", qos.preempt_exempt.map(print_duration));
            table.some("grace_time", Some(qos.grace).filter(|grace| *grace > 0).map(print_duration));
            table.limits(&qos.limits, LimitOwner::Qos);
            table.write(out, "qos")?;
        }
        for account in &self.associations.accounts {
            let mut table = TomlTable::default();
            table.text("name", &account.name);
            table.text("parent", if account.parent == ROOT { "" } else { &account.parent });
            table.association(&account.own);
            table.write(out, "accounts")?;
        }
        for user in &self.associations.users {
            let mut table = TomlTable::default();
            table.text("name", &user.name);
            table.text("account", &user.account);
            table.switch("default", user.is_default);
            table.association(&user.own);
            table.write(out, "users")?;
        }
        Ok(())
    }
}

/// A table that is being written: keys with their values in TOML.
#[derive(Default)]
struct TomlTable(Vec<(&'static str, String)>);

impl TomlTable {
    /// A text, unless it is empty.
    fn text(&mut self, key: &'static str, text: &str) {
        if !text.is_empty() {
            self.0.push((key, quoted(text)));
        }
    }

    fn some(&mut self, key: &'static str, text: Option<String>) {
        self.text(key, &text.unwrap_or_default());
    }

    fn number(&mut self, key: &'static str, number: impl Display) {
        self.0.push((key, number.to_string()));
    }

    fn count(&mut self, key: &'static str, number: Option<u32>) {
        if let Some(number) = number {
            self.number(key, number);
        }
    }

    /// A number, unless it is the default.
    fn unless<T: PartialEq + Display>(&mut self, key: &'static str, number: T, default: T) {
        if number != default {
            self.number(key, number);
        }
    }

    fn switch(&mut self, key: &'static str, on: bool) {
        if on {
            self.number(key, true);
        }
    }

    /// A list, unless it is empty.
    fn list(&mut self, key: &'static str, texts: &[&str]) {
        if !texts.is_empty() {
            let texts: Vec<_> = texts.iter().map(|text| quoted(text)).collect();
            self.0.push((key, format!("[{}]", texts.join(", "))));
        }
    }

    fn association(&mut self, own: &Association) {
        match own.shares {
            None => self.text("shares", "parent"),
            Some(shares) => self.unless("shares", shares, 1),
        }
        self.list("qos", &own.qos.iter().map(String::as_str).collect::<Vec<_>>());
        self.text("default_qos", &own.default_qos);
        self.limits(&own.limits, LimitOwner::Association);
    }

    fn limits(&mut self, limits: &Limits, owner: LimitOwner) {
        for form in &LIMITS {
            if let (Some(key), Some((value, is_number))) = (form.key(owner), form.written(limits)) {
                self.0.push((key, if is_number { value } else { quoted(&value) }));
            }
        }
    }

    /// Writes the table, after its name if it has one.
    fn write(&self, out: &mut dyn Write, name: &str) -> io::Result<()> {
        if !name.is_empty() {
            writeln!(out, "[[{name}]]")?;
        }
        self.0.iter().try_for_each(|(key, value)| writeln!(out, "{key} = {value}"))?;
        if self.0.is_empty() { Ok(()) } else { writeln!(out) }
    }
}

/// A text of TOML.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_string()).to_string()
}
