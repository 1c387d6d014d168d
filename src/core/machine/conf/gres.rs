//! The devices of nodes: the key Gres of NodeName lines, and gres.conf.

use std::collections::HashMap;

use super::super::build::{MOST_NODES, MOST_OF_NODE};
use super::super::file_line::{ConfError, Ignored};
use super::super::hostlist::HostList;
use super::lines::ConfLine;
use crate::text::shortened;
use crate::tres::{Resource, Tres};

/// What a NodeName line says of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum GresCount {
    /// There are this many.
    Known(u32),
    /// There are some, but their number is not given.
    Some,
    /// Nothing.
    #[default]
    Unsaid,
}

/// The items of `NAME:2(S:0-1),craynetwork:4`.
fn gres_items(value: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0;
    value.split(move |character: char| {
        depth += i32::from(character == '(') - i32::from(character == ')');
        character == ',' && depth == 0
    })
}

/// The devices of a node: `NAME:2`, `NAME:tesla:2,NAME:k80:4`.
pub(super) fn gres_of(value: &str) -> Result<Tres<GresCount>, String> {
    let mut counts = Tres::<GresCount>::default();
    for item in gres_items(value) {
        let mut parts = item.split('(').next().unwrap_or_default().split(':');
        let Some(kind) = parts.next().and_then(Resource::of_gres) else { continue };
        let last = parts.next_back().filter(|last| !last.starts_with(|c: char| c.is_ascii_alphabetic()));
        counts[kind] = match (counts[kind], last) {
            (GresCount::Unsaid, None) => GresCount::Some,
            (count, None) => count,
            (count, Some(last)) => {
                let before = if let GresCount::Known(before) = count { before } else { 0 };
                let sum = last.parse::<u32>().ok().and_then(|count| count.checked_add(before));
                let wrong = || not_a_number("Gres", value, kind, &format!("{}:2", kind.gres().unwrap_or_default()));
                GresCount::Known(sum.filter(|sum| *sum <= MOST_OF_NODE).ok_or_else(wrong)?)
            }
        };
    }
    Ok(counts)
}

/// Notes what the Gres of a line say without effect: other things, and types of devices.
pub(super) fn note_gres(line: &ConfLine, ignored: &mut Vec<Ignored>) {
    for item in line.pair("Gres").into_iter().flat_map(gres_items) {
        let (name, rest) = item.split_once(':').unwrap_or((item, ""));
        let has_type = rest.starts_with(|c: char| c.is_ascii_alphabetic());
        match Resource::of_gres(name) {
            None if !item.is_empty() => {
                ignored.push(Ignored::of_machine(&line.place, format!("NodeName Gres={}", shortened(item))));
            }
            Some(_) if has_type => {
                let kind = rest.split([':', '(']).next().unwrap_or_default();
                ignored.push(Ignored::of_machine(&line.place, format!("NodeName Gres, the type {}", shortened(kind))));
            }
            _ => {}
        }
    }
}

/// How many devices a gres.conf gives to nodes.
#[derive(Default)]
pub(super) struct GresFile {
    /// None: not said.
    by_node: HashMap<String, Tres<Option<u32>>>,
    /// Of lines without nodes.
    everywhere: Tres<u32>,
}

impl GresFile {
    /// Reads the lines of a gres.conf.
    pub fn read(lines: &[ConfLine], ignored: &mut Vec<Ignored>) -> Result<GresFile, ConfError> {
        let (mut file, mut names_left) = (GresFile::default(), MOST_NODES);
        for line in lines {
            // Pairs may be in any order.
            let value = |key: &str| if line.is(key) { Some(line.value.as_str()) } else { line.pair(key) };
            let Some(kind) = value("Name").and_then(Resource::of_gres) else {
                let name = value("Name").map(|name| format!("Name={}", shortened(name)));
                ignored.push(Ignored::other(&line.place, name.unwrap_or(line.name.clone())));
                continue;
            };
            let wrong = |why: String| line.place.wrong(why);
            let count = count_of(kind, value("Count"), value("File")).map_err(wrong)?;
            let sum = |before: u32| {
                let sum = before.checked_add(count).filter(|sum| *sum <= MOST_OF_NODE);
                sum.ok_or_else(|| line.place.wrong(format!("more than {MOST_OF_NODE} {} of one node", kind.many())))
            };
            let Some(list) = value("NodeName") else {
                file.everywhere[kind] = sum(file.everywhere[kind])?;
                continue;
            };
            let names = HostList::read(list).map_err(wrong)?;
            names_left = names_left.checked_sub(names.count()).ok_or_else(|| line.place.wrong("too many nodes"))?;
            for name in names.names() {
                let own = &mut file.by_node.entry(name).or_default()[kind];
                *own = Some(sum(own.unwrap_or(0))?);
            }
        }
        Ok(file)
    }

    /// The devices of a node, by what its line says.
    pub fn count(&self, name: &str, kind: Resource, of_line: GresCount) -> u32 {
        let own = || self.by_node.get(name).and_then(|counts| counts[kind]);
        match of_line {
            GresCount::Known(count) => count,
            // As in Slurm, a device without a number is one.
            GresCount::Some => own().unwrap_or(self.everywhere[kind].max(1)),
            GresCount::Unsaid => own().unwrap_or(0),
        }
    }
}

/// The number of devices of a line: as given, or as many as there are files.
fn count_of(kind: Resource, count: Option<&str>, files: Option<&str>) -> Result<u32, String> {
    let wrong = |what: &str, text| not_a_number(what, text, kind, "Count=2");
    match (count, files) {
        (Some(text), _) => text.parse().ok().filter(|count| *count <= MOST_OF_NODE).ok_or_else(|| wrong("Count", text)),
        (None, Some(files)) => {
            let files_of = HostList::parse(files).map(|files| files.count());
            files_of.and_then(|count| u32::try_from(count).ok()).ok_or_else(|| wrong("File", files))
        }
        (None, None) => Ok(1),
    }
}

fn not_a_number(key: &str, value: &str, kind: Resource, example: &str) -> String {
    format!("{key}={}: not a number of {} such as {example}", shortened(value), kind.many())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_counted_over_their_types() {
        for kind in Resource::DEVICES {
            let name = kind.gres().unwrap();
            for (gres, count) in [
                ("", GresCount::Unsaid),
                ("craynetwork:4", GresCount::Unsaid),
                ("NAME", GresCount::Some),
                ("NAME:tesla", GresCount::Some),
                ("NAME:2", GresCount::Known(2)),
                ("NAME:0", GresCount::Known(0)),
                ("CAPITALS:tesla:2(S:0,1),nic:1,NAME:k80:4", GresCount::Known(6)),
            ] {
                let gres = gres.replace("NAME", name).replace("CAPITALS", &name.to_uppercase());
                assert_eq!(gres_of(&gres).map(|counts| counts[kind]), Ok(count), "{gres}");
            }
        }
    }
}
