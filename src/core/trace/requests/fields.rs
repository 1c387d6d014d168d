//! The fields of a request by their names, as in files of requests and in the columns of tables.

use super::{MB, names, words};
use crate::request::{DeviceAsked, MemoryAsked, Request};
use crate::trace::number;
use crate::tres::{Resource, joined};

/// The names of the fields, except the CPUs.
pub const REQUEST_FIELDS: [&str; 14 + Resource::DEVICE_FIELDS.len()] = joined(
    ["nodes", "tasks", "tasks_per_node", "cpus_per_task", "memory", "memory_per_cpu"],
    Resource::DEVICE_FIELDS,
    ["constraint", "exclusive", "partition", "qos", "account", "nice", "reservation", "no_requeue"],
);

const BOTH_MEMORIES: &str = "is given beside memory: a job has one of the two";

/// Sets a field from its text; an empty one and -1 say nothing. The error follows the name of the field: "is not a number".
pub fn set_field(request: &mut Request, field: &str, text: &str) -> Result<(), &'static str> {
    let text = text.trim();
    if text.is_empty() || text == "-1" {
        return Ok(());
    }
    match field {
        "nodes" => (request.min_nodes, request.max_nodes) = nodes(text)?,
        "tasks" => request.tasks = whole(text)?,
        "tasks_per_node" => request.tasks_per_node = whole(text)?,
        "cpus_per_task" => request.cpus_per_task = whole(text)?,
        "memory" | "memory_per_cpu" => {
            let memory = memory(text.as_bytes()).ok_or("is not a size in MB, or such as 8G")?;
            let is_said = !matches!(request.memory, MemoryAsked::Unsaid | MemoryAsked::PerNode(0));
            match memory {
                // 0 is all memory of a node, as for sbatch. A table with both columns has 0 in one of them.
                0 if field == "memory_per_cpu" || is_said => {}
                _ if is_said => return Err(BOTH_MEMORIES),
                _ if field == "memory" => request.memory = MemoryAsked::PerNode(memory),
                _ => request.memory = MemoryAsked::PerCpu(memory),
            }
        }
        "constraint" => request.constraint = words(text.as_bytes()),
        "exclusive" => request.exclusive = switch(text)?,
        "no_requeue" => request.no_requeue = switch(text)?,
        "partition" => request.partitions = names(text.as_bytes()),
        "qos" => request.qos = words(text.as_bytes()),
        "account" => request.account = words(text.as_bytes()),
        "reservation" => request.reservation = words(text.as_bytes()),
        "nice" => request.nice = text.parse().map_err(|_| "is not a whole number below 2^31")?,
        _ => {
            let at =
                Resource::DEVICE_FIELDS.iter().position(|known| *known == field).expect("the field is in the list");
            let kind = Resource::DEVICES[at / 2];
            let asked = &mut request.devices[kind];
            match whole(text)? {
                0 => {}
                _ if *asked != DeviceAsked::None => return Err(kind.given_twice()),
                count if at % 2 == 1 => *asked = DeviceAsked::PerNode(count),
                count => *asked = DeviceAsked::Total(count),
            }
        }
    }
    Ok(())
}

fn whole(text: &str) -> Result<u32, &'static str> {
    match number::parse(text.as_bytes()) {
        Ok(number) if number.sign < 0 => Ok(0),
        Ok(number) if number.rounded <= i64::from(i32::MAX) => Ok(number.rounded as u32),
        _ => Err("is not a whole number below 2^31"),
    }
}

/// The fewest and the most nodes of `4`, which are the same, of `2-4` and of `2-`, where any number above is as good.
fn nodes(text: &str) -> Result<(u32, u32), &'static str> {
    const WRONG: &str = "is not a number of nodes such as 4, 2-4 or 2-";
    let Some((least, most)) = text.split_once('-').filter(|(least, _)| !least.is_empty()) else {
        return whole(text).map(|nodes| (nodes, nodes)).map_err(|_| WRONG);
    };
    let least = whole(least).map_err(|_| WRONG)?;
    let most = if most.is_empty() { 0 } else { whole(most).map_err(|_| WRONG)? };
    if most > 0 && most < least { Err(WRONG) } else { Ok((least, most)) }
}

/// The nodes of a request, as they are written in a table.
pub fn node_text(request: &Request) -> String {
    match (request.min_nodes, request.max_nodes) {
        (0, 0) => String::new(),
        (least, 0) => format!("{least}-"),
        (least, most) if least == most => least.to_string(),
        (least, most) => format!("{least}-{most}"),
    }
}

/// A size such as `8G`, `62.50G`, `512000M`, `2gb` or, in MB, `4096`, rounded up to MB. None if it is not one.
pub fn memory(text: &[u8]) -> Option<u64> {
    memory_with(text, MB)
}

/// The same; `bare` is the size of one if there is no unit, in bytes.
pub fn memory_with(text: &[u8], bare: u64) -> Option<u64> {
    let end = text.iter().position(|byte| !byte.is_ascii_digit() && *byte != b'.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let number: f64 = std::str::from_utf8(number).ok()?.parse().ok()?;
    let unit = unit.to_ascii_lowercase();
    // `4gb` is written by PBS, `4GiB` by others; words of 8 bytes are only in PBS.
    let unit = unit.strip_suffix(b"ib").or(unit.strip_suffix(b"b")).filter(|unit| !unit.is_empty()).unwrap_or(&unit);
    let bytes = match unit {
        b"" => bare,
        b"b" => 1,
        b"k" => 1 << 10,
        b"m" => MB,
        b"g" => 1 << 30,
        b"t" => 1 << 40,
        b"p" => 1 << 50,
        _ => return None,
    };
    let memory = number * bytes as f64 / MB as f64;
    (memory < 1e15).then(|| memory.ceil() as u64)
}

fn switch(text: &str) -> Result<bool, &'static str> {
    let is_one_of = |words: [&str; 5]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    match (is_one_of(["1", "yes", "true", "on", "exclusive"]), is_one_of(["0", "no", "false", "off", "shared"])) {
        (true, _) => Ok(true),
        (_, true) => Ok(false),
        _ => Err("is neither yes nor no"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_memory() {
        for (text, expected) in [
            ("4096", Some(4096)),
            ("8G", Some(8192)),
            ("62.50G", Some(64_000)),
            ("512000M", Some(512_000)),
            ("1993mb", Some(1993)),
            ("15240kb", Some(15)),
            ("2T", Some(2 << 20)),
            ("1b", Some(1)),
            ("2GiB", Some(2048)),
            ("0", Some(0)),
            ("", None),
            ("G", None),
            ("8X", None),
            ("1.2.3", None),
            ("-3", None),
        ] {
            assert_eq!(memory(text.as_bytes()), expected, "{text}");
        }
        assert_eq!(memory_with(b"1048577", 1), Some(2));
    }

    #[test]
    fn nodes_are_printed_as_they_are_read() {
        for (text, nodes) in [("4", (4, 4)), ("2-4", (2, 4)), ("2-", (2, 0)), ("", (0, 0))] {
            let mut request = Request::default();
            set_field(&mut request, "nodes", text).unwrap();
            assert_eq!(((request.min_nodes, request.max_nodes), node_text(&request)), (nodes, text.to_string()));
        }
        for text in ["x", "4-2", "2-x", "-"] {
            assert!(set_field(&mut Request::default(), "nodes", text).is_err(), "{text}");
        }
    }

    #[test]
    fn fields_that_exclude_each_other_are_refused() {
        let mut request = Request::default();
        for (field, text) in [("memory", "0"), ("memory_per_cpu", "2G")] {
            set_field(&mut request, field, text).unwrap();
        }
        assert_eq!(request.memory, MemoryAsked::PerCpu(2048));
        assert_eq!(set_field(&mut request, "memory", "5"), Err(BOTH_MEMORIES));
        for kind in Resource::DEVICES {
            for (field, text) in [(kind.name(), ""), (kind.columns().asked_per_node.0, "2")] {
                set_field(&mut request, field, text).unwrap();
            }
            assert_eq!(request.devices[kind], DeviceAsked::PerNode(2));
            assert_eq!(set_field(&mut request, kind.name(), "5"), Err(kind.given_twice()));
        }
        assert!(set_field(&mut request, "exclusive", "perhaps").is_err());
        set_field(&mut request, "exclusive", "Yes").unwrap();
        set_field(&mut request, "partition", "short, long").unwrap();
        assert!(request.exclusive && request.partitions == ["short", "long"]);
    }
}
