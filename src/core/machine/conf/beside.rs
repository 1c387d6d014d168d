//! The files beside a slurm.conf, and topology.conf with the switches.

use std::path::Path;

use super::super::build::{NodeNames, SwitchLine, switches};
use super::super::cluster::Switch;
use super::super::file_line::{ConfError, FileLine, Ignored};
use super::super::hostlist::HostList;
use super::line_keys::LineKeys;
use super::lines::{ConfLine, lines_of};
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
