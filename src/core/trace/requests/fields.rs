//! The fields of a request by their names, as in files of requests and in the columns of tables.

use super::{MB, names, words};
use crate::request::{DeviceAsked, MemoryAsked, Request};
use crate::trace::number;
use crate::tres::{Resource, joined};

/// Reads a text into a field of a request: of this memory or device, and whether it is on each node.
type Setter = fn(&mut Request, (Resource, bool), &str) -> Result<(), &'static str>;

/// A field of a request: how it is called, read and written, wherever requests are.
#[derive(Clone, Copy, Debug)]
pub struct RequestField {
    /// Its name in tables, in files of requests and in lines to programs.
    pub name: &'static str,
    /// Its meaning, in one line.
    pub about: &'static str,
    /// The options of sbatch that are it: a letter and a word. Empty: there is none.
    pub option: (&'static str, &'static str),
    /// Whether its values are amounts.
    pub is_amount: bool,
    /// Whether files of requests have it only if a job asks for it.
    pub is_rare: bool,
    /// Of memory or a device: of which, and whether it is on each node.
    of: (Resource, bool),
    set: Setter,
    get: fn(&Request, (Resource, bool)) -> Said,
}

/// What a request says in a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// Nothing.
    Nothing,
    /// A number, which is not 0 unless that means something.
    Amount(i64),
    /// Of what is asked for or not.
    Yes,
    /// A text that is not empty.
    Text(String),
}

/// A field of [`Request`] with its own name or another, which `$read` reads.
macro_rules! own {
    ($field:ident $read:ident $letter:literal $option:literal $about:literal) => {
        own!($field = stringify!($field), $read, $letter, $option, $about)
    };
    ($field:ident = $name:expr, $read:ident, $letter:literal, $option:literal, $about:literal) => {
        RequestField {
            name: $name,
            about: $about,
            option: ($letter, $option),
            is_amount: false,
            is_rare: false,
            of: (Resource::Cpus, false),
            set: |request, _, text| {
                request.$field = $read(text)?;
                Ok(())
            },
            get: |request, _| request.$field.clone().into(),
        }
    };
}

/// All fields but the CPUs, which every request has.
pub const REQUEST_FIELDS: [RequestField; 14 + OF_DEVICES.len()] = joined(
    [
        RequestField {
            name: "nodes",
            set: |request, _, text| {
                (request.min_nodes, request.max_nodes) = nodes(text)?;
                Ok(())
            },
            get: |request, _| node_text(request).into(),
            ..own!(min_nodes whole "-N" "--nodes" "its nodes: 4, from 2 to 4 as 2-4, or at least 2 as 2-")
        },
        own!(tasks whole "-n" "--ntasks" "its tasks, all together").amount(),
        own!(tasks_per_node whole "" "--ntasks-per-node" "its tasks on each node").amount(),
        own!(cpus_per_task whole "-c" "--cpus-per-task" "the CPUs of each task").amount(),
        of_memory(("memory", "its memory on each node, in MB; 0 is all of it"), "--mem", true),
        of_memory(("memory_per_cpu", "its memory for each CPU, in MB"), "--mem-per-cpu", false),
    ],
    OF_DEVICES,
    [
        own!(constraint word "-C" "--constraint" "the features that its nodes must have"),
        own!(exclusive switch "" "--exclusive" "1 if no other job may be on its nodes"),
        own!(
            partitions = "partition",
            list,
            "-p",
            "--partition",
            "the partitions that it may run in, in the order in which they are tried"
        ),
        own!(qos word "-q" "--qos" "its quality of service"),
        own!(account word "-A" "--account" "the account that it is charged to"),
        own!(nice signed "" "--nice" "by how much its user lowers its priority").amount(),
        own!(reservation word "" "" "the reservation that it runs in").rare(),
        own!(no_requeue switch "" "" "1 if it ends when it is stopped").rare(),
    ],
);

/// What jobs ask for of devices: all together, and on each node.
const OF_DEVICES: [RequestField; 2 * Resource::DEVICES.len()] = {
    let mut all = [of_device(Resource::DEVICES[0], false); 2 * Resource::DEVICES.len()];
    let mut at = 0;
    while at < all.len() {
        all[at] = of_device(Resource::DEVICES[at / 2], at % 2 == 1);
        at += 1;
    }
    all
};

const fn of_device(kind: Resource, is_per_node: bool) -> RequestField {
    let columns = kind.columns();
    let (name, about) = if is_per_node { columns.asked_per_node } else { columns.asked };
    // Other devices have no options of their own.
    let option = match (kind, is_per_node) {
        (Resource::Gpus, false) => ("-G", "--gpus"),
        (Resource::Gpus, true) => ("", "--gpus-per-node"),
        _ => ("", ""),
    };
    let (set, get, of) = (set_device, said_of_device, (kind, is_per_node));
    RequestField { name, about, option, is_amount: true, is_rare: false, of, set, get }
}

const fn of_memory(
    (name, about): (&'static str, &'static str),
    option: &'static str,
    is_per_node: bool,
) -> RequestField {
    let (set, get, of) = (set_memory, said_of_memory, (Resource::Memory, is_per_node));
    RequestField { name, about, option: ("", option), is_amount: true, is_rare: false, of, set, get }
}

impl RequestField {
    const fn amount(self) -> RequestField {
        RequestField { is_amount: true, ..self }
    }

    const fn rare(self) -> RequestField {
        RequestField { is_rare: true, ..self }
    }

    /// The field with a name.
    pub fn named(name: &str) -> Option<RequestField> {
        REQUEST_FIELDS.into_iter().find(|field| field.name == name)
    }

    /// The names of all fields, for messages.
    pub fn names() -> String {
        REQUEST_FIELDS.map(|field| field.name).join(", ")
    }

    /// Sets it from its text; an empty one and -1 say nothing. The error follows the name of the field: "is not a number".
    pub fn set(&self, request: &mut Request, text: &str) -> Result<(), &'static str> {
        match text.trim() {
            "" | "-1" => Ok(()),
            text => (self.set)(request, self.of, text),
        }
    }

    /// What a request says in it.
    pub fn get(&self, request: &Request) -> Said {
        (self.get)(request, self.of)
    }
}

macro_rules! said {
    ($($from:ty: |$value:ident| $nothing:expr => $said:expr;)*) => {
        $(impl From<$from> for Said {
            fn from($value: $from) -> Said {
                if $nothing { Said::Nothing } else { $said }
            }
        })*
    };
}

said! {
    u32: |count| count == 0 => Said::Amount(count.into());
    i32: |number| number == 0 => Said::Amount(number.into());
    bool: |is| !is => Said::Yes;
    String: |text| text.is_empty() => Said::Text(text);
    Vec<String>: |names| names.is_empty() => Said::Text(names.join(","));
}

const BOTH_MEMORIES: &str = "is given beside memory: a job has one of the two";

fn set_memory(request: &mut Request, (_, is_per_node): (Resource, bool), text: &str) -> Result<(), &'static str> {
    let memory = memory(text.as_bytes()).ok_or("is not a size in MB, or such as 8G")?;
    let is_said = request.memory.is_amount();
    match memory {
        // 0 is all memory of a node, as for sbatch. A table with both columns has 0 in one of them.
        0 if !is_per_node || is_said => {}
        _ if is_said => return Err(BOTH_MEMORIES),
        _ if is_per_node => request.memory = MemoryAsked::PerNode(memory),
        _ => request.memory = MemoryAsked::PerCpu(memory),
    }
    Ok(())
}

fn said_of_memory(request: &Request, (_, is_per_node): (Resource, bool)) -> Said {
    match request.memory {
        MemoryAsked::PerNode(memory) if is_per_node => Said::Amount(memory as i64),
        MemoryAsked::PerCpu(memory) if !is_per_node => Said::Amount(memory as i64),
        _ => Said::Nothing,
    }
}

fn set_device(request: &mut Request, (kind, is_per_node): (Resource, bool), text: &str) -> Result<(), &'static str> {
    match whole(text)? {
        0 => {}
        _ if request.devices[kind] != DeviceAsked::None => return Err(kind.given_twice()),
        count if is_per_node => request.devices[kind] = DeviceAsked::PerNode(count),
        count => request.devices[kind] = DeviceAsked::Total(count),
    }
    Ok(())
}

fn said_of_device(request: &Request, (kind, is_per_node): (Resource, bool)) -> Said {
    match request.devices[kind] {
        DeviceAsked::PerNode(count) if is_per_node => Said::Amount(count.into()),
        DeviceAsked::Total(count) if !is_per_node => Said::Amount(count.into()),
        _ => Said::Nothing,
    }
}

fn word(text: &str) -> Result<String, &'static str> {
    Ok(words(text.as_bytes()))
}

fn list(text: &str) -> Result<Vec<String>, &'static str> {
    Ok(names(text.as_bytes()))
}

fn signed(text: &str) -> Result<i32, &'static str> {
    text.parse().map_err(|_| "is not a whole number below 2^31")
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
fn node_text(request: &Request) -> String {
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

    fn set_field(request: &mut Request, field: &str, text: &str) -> Result<(), &'static str> {
        RequestField::named(field).unwrap().set(request, text)
    }

    #[test]
    fn fields_are_read_as_they_are_written() {
        for field in REQUEST_FIELDS {
            let mut request = Request::default();
            assert_eq!(field.get(&request), Said::Nothing, "{}", field.name);
            let text = if field.is_amount { "7" } else { "1" };
            field.set(&mut request, text).unwrap();
            let written = match field.get(&request) {
                Said::Nothing => panic!("{} is lost", field.name),
                Said::Amount(amount) => amount.to_string(),
                Said::Yes => "1".to_string(),
                Said::Text(text) => text,
            };
            assert_eq!(written, text, "{}", field.name);
        }
    }

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
