//! The machine that a slurm.conf describes, with the topology.conf and the gres.conf beside it.

mod beside;
mod gres;
mod line_keys;
mod lines;
mod nodes;
mod partitions;

use std::path::Path;
use std::sync::Arc;

use crate::settings_file::{ReadOnce, site_text};
use crate::sort::sort_by;

pub use super::file_line::{ConfError, FileLine, Ignored};
pub use lines::{ConfLine, lines_of};
pub use nodes::processors;

use self::beside::{lines_beside, tree};
use self::gres::GresFile;
use self::nodes::{NodeLine, is_down, node_lines};
use self::partitions::{PartitionDefaults, partitions};
use super::build::{Builder, NodeNames};
use super::cluster::{Cluster, Node};
use super::units::memory_of;
use crate::text::shortened;
use crate::tres::is_unlimited;

/// Parameters of the machine that are not simulated though they change which jobs start at a site.
const MATTERING: [&str; 7] =
    ["DefMemPerGPU", "DefCpuPerGPU", "MaxMemPerCPU", "MaxMemPerNode", "MaxNodeCount", "TopologyParam", "Licenses"];

/// Reads the text of a slurm.conf. Included files, topology.conf and gres.conf are in `folder`. Also returns what has no effect on
/// the machine, in the order of the file.
///
/// # Errors
/// If a line is not one of Slurm's, a value that is used is not valid, nodes are there twice, partitions have nodes that do not
/// exist, or there are no nodes.
pub fn parse_slurm_conf(text: &str, folder: &Path) -> Result<(Cluster, Vec<Ignored>), ConfError> {
    cluster_of(&lines_of(text, folder)?, folder)
}

/// The lines of a slurm.conf with those of the files that it includes. A file is read once by a process, whatever is made of it: the
/// machine or the keys of the scheduler.
///
/// # Errors
/// If a file cannot be read, or as [`lines_of`]. The message names the file.
pub fn lines_of_file(file: &str) -> Result<Arc<Vec<ConfLine>>, String> {
    static READ: ReadOnce<Vec<ConfLine>> = ReadOnce::new();
    let folder = Path::new(file).parent().unwrap_or(Path::new(""));
    READ.get(file, || lines_of(&site_text(file)?, folder).map_err(|error| format!("{file}: {error}")))
}

/// As [`parse_slurm_conf`], of these lines.
pub(super) fn cluster_of(lines: &[ConfLine], folder: &Path) -> Result<(Cluster, Vec<Ignored>), ConfError> {
    let mut ignored = Vec::new();
    let node_lines = node_lines(lines, &mut ignored)?;
    if node_lines.iter().all(|line| line.is_future) {
        let why = "there are no nodes: write NodeName=n[1-4] CPUs=12 RealMemory=48000, or TOML with tables [[nodes]]";
        return Err(FileLine::of_line(1).wrong(why));
    }
    let gres_lines = lines_beside(folder, "gres.conf")?.unwrap_or_default();
    let mut nodes = nodes_of(&node_lines, &GresFile::read(&gres_lines, &mut ignored)?, &mut ignored)?;
    set_down(lines, &mut nodes)?;
    let mut names = NodeNames::new(&nodes);
    for line in node_lines.iter().filter(|line| line.is_future) {
        names.add_absent(&line.names).map_err(|why| line.place.wrong(format!("NodeName: {why}")))?;
    }
    let select = Select::of(lines);
    note_select(lines, &nodes, &mut ignored);
    let partitions = partitions(lines, &mut names, &select.partitions(lines)?, &mut ignored)?;
    let switches = match last(lines, "TopologyPlugin").filter(|line| line.value.eq_ignore_ascii_case("topology/tree")) {
        None => Vec::new(),
        Some(plugin) => match lines_beside(folder, "topology.conf")? {
            Some(lines) => tree(&lines, &mut names, &mut ignored)?,
            None => {
                let what = "TopologyPlugin=topology/tree, without a topology.conf beside the file";
                ignored.push(Ignored::of_machine(&plugin.place, what));
                Vec::new()
            }
        },
    };
    note_parameters(lines, &mut ignored);
    let Select { shares_cores, ignores_memory, .. } = select;
    let name = last(lines, "ClusterName").map_or(String::new(), |line| line.value.clone());
    let associations = Default::default();
    let mut cluster = Cluster { name, nodes, partitions, switches, shares_cores, ignores_memory, associations };
    cluster.complete();
    Ok((cluster, ignored))
}

/// The last line with a parameter, which is the one that counts.
fn last<'a>(lines: &'a [ConfLine], name: &str) -> Option<&'a ConfLine> {
    lines.iter().rfind(|line| line.is(name))
}

fn nodes_of(lines: &[NodeLine], gres: &GresFile, ignored: &mut Vec<Ignored>) -> Result<Vec<Node>, ConfError> {
    let mut builder = Builder::default();
    for line in lines {
        if line.is_future {
            ignored.push(Ignored::other(&line.place, "NodeName State=FUTURE: these nodes do not exist yet"));
            continue;
        }
        let count = |name: &str, kind| gres.count(name, kind, line.gres[kind]);
        let added = builder.add(&line.names, &line.node, &line.place, count);
        added.map_err(|why| line.place.wrong(format!("NodeName: {why}")))?;
    }
    builder.finish()
}

/// Marks the nodes of DownNodes lines.
fn set_down(lines: &[ConfLine], nodes: &mut [Node]) -> Result<(), ConfError> {
    for line in lines.iter().filter(|line| line.is("DownNodes")) {
        // As in Slurm, without a state they are down.
        if !is_down(line.pair("State").unwrap_or("DOWN")) {
            continue;
        }
        let places = NodeNames::new(nodes).known_places(&line.value);
        let (places, _) = places.map_err(|why| line.place.wrong(format!("DownNodes: {why}")))?;
        places.iter().for_each(|at| nodes[*at as usize].is_down = true);
    }
    Ok(())
}

/// Notes what SelectTypeParameters say that is not simulated.
fn note_select(lines: &[ConfLine], nodes: &[Node], ignored: &mut Vec<Ignored>) {
    let has_threads = nodes.iter().any(|node| node.threads_per_core > 1);
    let Some(line) = last(lines, "SelectTypeParameters") else { return };
    for item in line.value.split(',').map(str::trim) {
        let is = |names: &[&str]| names.iter().any(|name| item.eq_ignore_ascii_case(name));
        let matters = match item {
            _ if is(&["CR_CPU", "CR_CPU_Memory", "CR_Core", "CR_Core_Memory", "CR_LLN"]) => continue,
            _ if is(&["CR_ONE_TASK_PER_CORE"]) => has_threads,
            _ => is(&["CR_Socket", "CR_Socket_Memory", "CR_Memory", "CR_Pack_Nodes"]),
        };
        let name = format!("SelectTypeParameters={}", shortened(item));
        ignored.push(Ignored { place: line.place.clone(), name, matters });
    }
}

/// What SelectType and SelectTypeParameters say.
struct Select {
    /// Jobs get whole nodes (select/linear).
    whole_nodes: bool,
    least_loaded_first: bool,
    shares_cores: bool,
    ignores_memory: bool,
}

impl Select {
    fn of(lines: &[ConfLine]) -> Select {
        let value = |name: &str| last(lines, name).map(|line| line.value.to_ascii_lowercase());
        // The defaults of versions of Slurm differ; whole cores and memory are assumed.
        let parameters = value("SelectTypeParameters").unwrap_or("cr_core_memory".to_string());
        let parameters: Vec<&str> = parameters.split(',').map(str::trim).collect();
        Select {
            whole_nodes: value("SelectType").is_some_and(|select| select == "select/linear"),
            least_loaded_first: parameters.contains(&"cr_lln"),
            shares_cores: parameters.iter().any(|parameter| ["cr_cpu", "cr_cpu_memory"].contains(parameter)),
            ignores_memory: !parameters.iter().any(|parameter| parameter.ends_with("_memory")),
        }
    }

    fn partitions(&self, lines: &[ConfLine]) -> Result<PartitionDefaults, ConfError> {
        let memory = |key: &str| {
            let size = |line: &ConfLine| memory_of(key, &line.value).map_err(|why| line.place.wrong(why));
            let size = last(lines, key).filter(|line| !is_unlimited(&line.value)).map(size).transpose()?;
            Ok(size.filter(|size| *size > 0))
        };
        Ok(PartitionDefaults {
            memory: [memory("DefMemPerCPU")?, memory("DefMemPerNode")?],
            exclusive: self.whole_nodes,
            least_loaded_first: self.least_loaded_first,
        })
    }
}

/// Adds the parameters that say nothing of the machine, and puts all in the order of the files.
fn note_parameters(lines: &[ConfLine], ignored: &mut Vec<Ignored>) {
    let used = [
        "ClusterName",
        "NodeName",
        "PartitionName",
        "NodeSet",
        "DefMemPerCPU",
        "DefMemPerNode",
        "DownNodes",
        "SelectType",
        "SelectTypeParameters",
        "TopologyPlugin",
        "GresTypes",
    ];
    for line in lines.iter().filter(|line| !used.iter().any(|name| line.is(name))) {
        let matters = MATTERING.iter().any(|name| line.is(name));
        ignored.push(Ignored { place: line.place.clone(), name: line.name.clone(), matters });
    }
    sort_by(ignored, |a, b| (&a.place.included, a.place.line).cmp(&(&b.place.included, b.place.line)));
}

#[cfg(test)]
mod tests;
