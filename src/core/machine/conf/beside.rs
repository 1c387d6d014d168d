//! The files beside a slurm.conf: topology.conf with the switches, gres.conf with the GPUs of nodes.

use std::collections::HashMap;
use std::path::Path;

use super::super::build::{MOST_NODES, NodeNames, SwitchLine, switches};
use super::super::cluster::Switch;
use super::super::file_line::{ConfError, FileLine};
use super::super::hostlist::HostList;
use super::lines::{ConfLine, lines_of};
use super::nodes::MOST_OF_NODE;
use super::unused::{Ignored, LineKeys};
use crate::settings_file::{MOST_OF_SITE, read_text};
use crate::text::{counted_as, shortened};

/// The lines of a file beside the configuration. None if there is no such file.
pub(super) fn lines_beside(folder: &Path, file: &str) -> Result<Option<Vec<ConfLine>>, ConfError> {
    let path = folder.join(file);
    if !path.exists() {
        return Ok(None);
    }
    let in_file = |place: FileLine| FileLine { included: Some(place.included.unwrap_or(file.to_string())), ..place };
    let text = read_text(&path, MOST_OF_SITE).map_err(|why| in_file(FileLine::of_line(1)).wrong(why))?;
    let lines = lines_of(&text, folder).map_err(|error| in_file(error.place).wrong(error.why))?;
    Ok(Some(lines.into_iter().map(|line| ConfLine { place: in_file(line.place), ..line }).collect()))
}

/// The keys of a SwitchName line.
const SWITCH_KEYS: LineKeys =
    LineKeys { of: "SwitchName", used: &["Nodes", "Switches"], mattering: &[], others: &["LinkSpeed"] };

/// The switches of a topology.conf. As in Slurm, nodes that the machine does not have are left out.
pub(super) fn tree(
    lines: &[ConfLine],
    names: &mut NodeNames,
    ignored: &mut Vec<Ignored>,
) -> Result<Vec<Switch>, ConfError> {
    let mut tree = Vec::new();
    for line in lines {
        if !line.is("SwitchName") {
            ignored.push(Ignored::of_machine(&line.place, &line.name));
            continue;
        }
        SWITCH_KEYS.check(line, ignored)?;
        if line.value.is_empty() {
            return Err(line.place.wrong("SwitchName: a switch without a name"));
        }
        let wrong = |why: String| line.place.wrong(format!("SwitchName {}: {why}", shortened(&line.value)));
        let list = line.pair("Nodes");
        let (nodes, unknown) =
            list.map(|list| names.known_places(list)).transpose().map_err(wrong)?.unwrap_or_default();
        if let Some(first) = unknown.first() {
            let count = counted_as(unknown.len() as u64, "node that does not exist", "nodes that do not exist");
            let what = format!("SwitchName {}: {count}, such as {}", shortened(&line.value), shortened(first));
            ignored.push(Ignored::other(&line.place, what));
        }
        let listed = line.pair("Switches").map(|list| HostList::parse(list).ok_or(list)).transpose();
        let listed = listed.map_err(|list| wrong(format!("'{}' is no list such as s[1-9]", shortened(list))))?;
        let below = listed.map(|list| names.within_bounds(&list)).transpose().map_err(wrong)?.unwrap_or_default();
        tree.push(SwitchLine { place: line.place.clone(), name: line.value.clone(), nodes, below });
    }
    switches(tree)
}

/// How many GPUs a gres.conf gives to nodes.
#[derive(Default)]
pub(super) struct GpuFile {
    by_node: HashMap<String, u32>,
    /// Of lines without nodes.
    everywhere: u32,
}

impl GpuFile {
    /// Reads the lines of a gres.conf.
    pub fn read(lines: &[ConfLine], ignored: &mut Vec<Ignored>) -> Result<GpuFile, ConfError> {
        let (mut gpus, mut names_left) = (GpuFile::default(), MOST_NODES);
        for line in lines {
            // Pairs may be in any order.
            let value = |key: &str| if line.is(key) { Some(line.value.as_str()) } else { line.pair(key) };
            if !value("Name").is_some_and(|name| name.eq_ignore_ascii_case("gpu")) {
                let name = value("Name").map(|name| format!("Name={}", shortened(name)));
                ignored.push(Ignored::other(&line.place, name.unwrap_or(line.name.clone())));
                continue;
            }
            let wrong = |why: String| line.place.wrong(why);
            let count = count(value("Count"), value("File")).map_err(wrong)?;
            let Some(list) = value("NodeName") else {
                gpus.everywhere = sum(gpus.everywhere, count).map_err(wrong)?;
                continue;
            };
            let names = HostList::parse(list)
                .ok_or_else(|| line.place.wrong(format!("'{}' is no list such as n[1-9]", shortened(list))))?;
            names_left = names_left.checked_sub(names.count()).ok_or_else(|| line.place.wrong("too many nodes"))?;
            for name in names.names() {
                let own = gpus.by_node.entry(name).or_default();
                *own = sum(*own, count).map_err(wrong)?;
            }
        }
        Ok(gpus)
    }

    /// The GPUs of a node. None if the file does not say.
    pub fn of(&self, name: &str) -> Option<u32> {
        self.by_node.get(name).copied()
    }

    /// The GPUs of each node that has some. None if the file does not say.
    pub fn everywhere(&self) -> Option<u32> {
        Some(self.everywhere).filter(|count| *count > 0)
    }
}

/// The number of GPUs of a line: as given, or as many as there are files.
fn count(count: Option<&str>, files: Option<&str>) -> Result<u32, String> {
    let wrong = |what: &str, text| format!("{what}={}: not a number of GPUs such as Count=2", shortened(text));
    match (count, files) {
        (Some(text), _) => text.parse().ok().filter(|count| *count <= MOST_OF_NODE).ok_or_else(|| wrong("Count", text)),
        (None, Some(files)) => {
            let files_of = HostList::parse(files).map(|files| files.count());
            files_of.and_then(|count| u32::try_from(count).ok()).ok_or_else(|| wrong("File", files))
        }
        (None, None) => Ok(1),
    }
}

fn sum(before: u32, count: u32) -> Result<u32, String> {
    let sum = before.checked_add(count).filter(|sum| *sum <= MOST_OF_NODE);
    sum.ok_or_else(|| format!("more than {MOST_OF_NODE} GPUs of one node"))
}
