//! PBS and Torque: `MM/DD/YYYY HH:MM:SS;E;ID;key=value ...`.

use super::{FormatEntry, keys};
use crate::trace::error::FaultKind;
use crate::trace::requests::PbsAsked;
use crate::trace::rows::{
    Bad, Collector, EstimateField, JobInRow, LogReading, RowCause, Unit, duration, leading_number, unix_time,
};
use crate::tres::{Tres, joined};

pub const FORMAT: FormatEntry = FormatEntry {
    name: "pbs",
    about: "PBS and Torque: MM/DD/YYYY HH:MM:SS;E;ID;key=value ...",
    is_line: is_pbs,
    read: |raw, collector| {
        let reading = &collector.options.reading;
        collector.read_lines(raw, |line, collector| row(line, reading, collector))
    },
    keys: &[keys::UNIT, keys::SUBMIT_TIME, keys::ESTIMATE_FIELD],
    ..FormatEntry::ACCOUNTING
};

/// The keys that are read, in the order in which [`row`] gets their values. Those of the second list begin with
/// [`RESOURCE`]. The last are those of devices.
const KEYS: [&[&str]; 2] = [
    &[
        "user",
        "group",
        "jobname",
        "queue",
        "ctime",
        "etime",
        "start",
        "end",
        "Exit_status",
        "exec_host",
        "account",
        "project",
    ],
    &RESOURCES,
];
const RESOURCES: [&str; 11 + OF_DEVICES.len()] = joined(
    ["walltime", "soft_walltime", "ncpus", "nodes", "nodect", "neednodes", "select", "place", "mem", "pmem", "feature"],
    *OF_DEVICES,
    [],
);
const OF_DEVICES: &[&str; 3 * Unit::DEVICES.len()] =
    Unit::PBS_NAMES.as_flattened().first_chunk().expect("three of each");
const RESOURCE: &[u8] = b"Resource_List.";
const COUNT: usize = KEYS[0].len() + KEYS[1].len();

/// The project of jobs without one.
const NO_PROJECT: &[u8] = b"_pbs_project_default";

/// Whether a line has the form of a PBS row.
fn is_pbs(line: &[u8]) -> bool {
    let is_digit = |at: usize| line[at].is_ascii_digit();
    line.len() > 21
        && [0, 1, 3, 4, 6, 7, 8, 9, 11, 12, 14, 15, 17, 18].into_iter().all(is_digit)
        && [line[2], line[5], line[10], line[13], line[16], line[19], line[21]] == *b"// ::;;"
}

fn row<'a>(line: &'a [u8], reading: &LogReading, collector: &mut Collector<'_>) -> Result<(), Bad<'a>> {
    let mut parts = line.splitn(4, |&byte| byte == b';');
    let (Some(_), Some(event), Some(id), Some(rest), true) =
        (parts.next(), parts.next(), parts.next(), parts.next(), is_pbs(line))
    else {
        return Err(Bad { kind: FaultKind::NotARow { expected: "MM/DD/YYYY HH:MM:SS;E;ID;key=value ..." }, at: line });
    };
    if event != b"E" {
        return collector.drop_row(RowCause::OtherEvent);
    }
    // The end of an array is not the end of a job: its subjobs, `123[4]`, have rows of their own.
    if memchr::memmem::find(id, b"[]").is_some() {
        return collector.drop_row(RowCause::ArrayParent);
    }
    let [
        user,
        group,
        job_name,
        queue,
        ctime,
        etime,
        start,
        end,
        exit_status,
        exec_host,
        account,
        project,
        resources @ ..,
    ] = values(rest)?;
    let [walltime, soft_walltime, ncpus, nodes, nodect, need_nodes, asked @ ..] = resources;
    let [select, place, mem, pmem, feature, own_devices @ ..] = asked;
    let time = |text: &'a [u8], column| if text.is_empty() { Ok(None) } else { unix_time(text, column) };
    let of_nodes = node_sum(nodes, |parts| number_of(parts, &["ppn"]).unwrap_or(1));
    let cpus = leading_number(ncpus).unwrap_or(0).max(of_nodes);
    let devices = self::devices(&own_devices, [nodes, nodect, need_nodes]);
    let (allocated, requested) = match reading.unit {
        Unit::Cpus => (slots(exec_host), cpus),
        Unit::Nodes => {
            let nodect = leading_number(nodect).unwrap_or(0);
            (hosts(exec_host), if nodect > 0 { nodect } else { node_sum(nodes, |_| 1) })
        }
        kind => {
            if devices[kind] <= 0 {
                return collector.drop_without_device(kind);
            }
            (devices[kind], devices[kind])
        }
    };
    let mut estimate = duration(walltime, "Resource_List.walltime")?;
    if reading.estimate_field == EstimateField::SoftWalltime {
        estimate = duration(soft_walltime, "Resource_List.soft_walltime")?.or(estimate);
    }
    let asked_cpus = if cpus > 0 { cpus } else { slots(exec_host) };
    let asked = PbsAsked {
        select,
        place,
        nodes,
        nodect,
        mem,
        pmem,
        feature,
        queue,
        account: if account.is_empty() && project != NO_PROJECT { project } else { account },
        cpus: asked_cpus as u32,
        devices: devices.map(|count| count as u32),
    };
    let is_completed = exit_status == b"0";
    let job = JobInRow {
        id,
        array: memchr::memchr(b'[', id).map(|at| &id[..at]),
        submit: time(ctime, "ctime")?.ok_or(Bad::missing(line, "ctime"))?,
        eligible: time(etime, "etime")?,
        start: time(start, "start")?,
        end: Some(time(end, "end")?.ok_or(Bad::missing(line, "end"))?),
        // `resources_used.walltime` is sometimes wrong.
        elapsed: None,
        allocated,
        requested,
        estimate,
        names: [user, group, job_name, queue, b""],
        status: i32::from(is_completed),
        state: if is_completed { b"exit status 0" } else { b"other exit status" },
        request: asked.number(&mut collector.requests)?,
        ..JobInRow::default()
    };
    collector.job(line, &job)
}

/// The values of [`KEYS`].
fn values(text: &[u8]) -> Result<[&[u8]; COUNT], Bad<'_>> {
    let mut values = [&b""[..]; COUNT];
    let mut rest = text;
    while !rest.is_empty() {
        let end = memchr::memchr(b' ', rest).unwrap_or(rest.len());
        let Some(at) = memchr::memchr(b'=', &rest[..end]) else {
            rest = rest.get(end + 1..).unwrap_or(b"");
            continue;
        };
        let (key, from) = (&rest[..at], rest);
        let (value, after) = value(&rest[at + 1..])?;
        rest = after;
        let (own, from_place, key) = match key.strip_prefix(RESOURCE) {
            Some(key) => (KEYS[1], KEYS[0].len(), key),
            None => (KEYS[0], 0, key),
        };
        let Some(place) = own.iter().position(|known| known.as_bytes() == key) else { continue };
        let place = from_place + place;
        // As in `account=for user=bob`, if the value is not quoted.
        if !values[place].is_empty() && values[place] != value {
            return Err(Bad { kind: FaultKind::TWO_VALUES, at: from });
        }
        values[place] = value;
    }
    Ok(values)
}

/// The devices of a job: of a resource of its own, or else of the first description of nodes that has some. `own` are the values
/// of [`OF_DEVICES`].
fn devices(own: &[&[u8]], described: [&[u8]; 3]) -> Tres<i64> {
    let kinds = Unit::DEVICES.into_iter().zip(Unit::PBS_NAMES).zip(own.chunks_exact(3));
    kinds.fold(Tres::default(), |all, ((kind, [_, many, one]), own)| {
        let of_nodes = |nodes| node_sum(nodes, |parts| number_of(parts, &[many, one]).unwrap_or(0));
        let own = own.iter().find_map(|value| leading_number(value));
        let count = own.or_else(|| described.into_iter().map(of_nodes).find(|&count| count > 0));
        all.with(kind, count.unwrap_or(0))
    })
}

/// A value at the beginning of a text, and what follows it. A value in quotes may hold blanks.
fn value(text: &[u8]) -> Result<(&[u8], &[u8]), Bad<'_>> {
    let end = |from: usize| memchr::memchr(b' ', &text[from..]).map_or(text.len(), |blank| from + blank);
    let after = |end: usize| text.get(end + 1..).unwrap_or(b"");
    if let Some(&quote @ (b'"' | b'\'')) = text.first() {
        match memchr::memchr(quote, &text[1..]).map(|at| at + 1) {
            Some(closing) if end(closing) == closing + 1 => return Ok((&text[1..closing], after(closing + 1))),
            Some(closing) => return Ok((&text[..end(closing)], after(end(closing)))),
            None if quote == b'"' => {
                return Err(Bad { kind: FaultKind::NotARow { expected: "values in closed quotes" }, at: text });
            }
            None => {}
        }
    }
    Ok((&text[..end(0)], after(end(0))))
}

/// The slots of hosts joined by `+`: `h/3` is 1, `h/0*13` is 13, `h/0-3` is 4.
fn slots(exec_host: &[u8]) -> i64 {
    let on_host = |host: &[u8]| {
        let Some(at) = memchr::memrchr(b'/', host) else { return i64::from(!host.is_empty()) };
        let piece = |piece: &[u8]| match piece.iter().position(|byte| matches!(byte, b'*' | b'-')) {
            None => 1,
            Some(at) => {
                let (first, last) = (leading_number(piece).unwrap_or(0), leading_number(&piece[at + 1..]).unwrap_or(0));
                if piece[at] == b'*' { last } else { (last - first + 1).max(0) }
            }
        };
        host[at + 1..].split(|&byte| byte == b',').map(piece).sum()
    };
    exec_host.split(|&byte| byte == b'+').map(on_host).sum::<i64>().min(i64::from(i32::MAX))
}

/// The number of different hosts.
fn hosts(exec_host: &[u8]) -> i64 {
    let name = |host: &'_ [u8]| memchr::memchr(b'/', host).map_or(host.len(), |at| at);
    let mut names: Vec<&[u8]> =
        exec_host.split(|&byte| byte == b'+').map(|host| &host[..name(host)]).filter(|host| !host.is_empty()).collect();
    names.sort_unstable();
    names.dedup();
    names.len() as i64
}

/// The sum over `COUNT:key=value:...+...` of the count (1 for the name of a host) times the value of a node.
fn node_sum(nodes: &[u8], each: impl Fn(&[u8]) -> i64) -> i64 {
    let group = |group: &[u8]| (leading_number(group).unwrap_or(1) * each(group)).min(i64::from(i32::MAX));
    let groups = nodes.split(|&byte| byte == b'+').filter(|group| !group.is_empty());
    groups.map(group).sum::<i64>().min(i64::from(i32::MAX))
}

/// The value of the first of these keys in `COUNT:key=value:...`.
fn number_of(group: &[u8], keys: &[&str]) -> Option<i64> {
    group.split(|&byte| byte == b':').find_map(|part| {
        let at = memchr::memchr(b'=', part)?;
        keys.iter().any(|key| key.as_bytes() == &part[..at]).then(|| leading_number(&part[at + 1..]))?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_and_hosts() {
        for (text, expected) in [
            ("h/3", (1, 1)),
            ("h/0*13+g/0*13", (26, 2)),
            ("h/0-3+g/0-7", (12, 2)),
            ("h/0+h/1+g/2", (3, 2)),
            ("h/0-2,5,7-8", (6, 1)),
            ("h/0*0", (0, 1)),
            ("", (0, 0)),
        ] {
            assert_eq!((slots(text.as_bytes()), hosts(text.as_bytes())), expected, "{text}");
        }
    }

    #[test]
    fn quoted_values_are_one_value() {
        for (text, user, jobname) in [
            (r#"user=ann account="for user=bob" jobname=x"#, "ann", "x"),
            (r#"account='for user=bob' user=ann  jobname="a b""#, "ann", "a b"),
            (r#"user=ann jobname="a"b" end=5"#, "ann", r#""a"b""#),
            ("jobname=it's user=ann", "ann", "it's"),
            ("jobname='tis user=ann user=ann", "ann", "'tis"),
            ("requestor word user=ann jobname=", "ann", ""),
        ] {
            let [found, _, name, ..] = values(text.as_bytes()).unwrap();
            assert_eq!((found, name), (user.as_bytes(), jobname.as_bytes()), "{text}");
        }
        let fault = |text: &'static str| values(text.as_bytes()).unwrap_err();
        assert_eq!(fault("user=ann account=for user=bob"), Bad { kind: FaultKind::TWO_VALUES, at: b"user=bob" });
        assert_eq!(fault("account=\"for user=bob").at, b"\"for user=bob");
    }

    #[test]
    fn nodes_and_devices() {
        let cpus = |text: &str| node_sum(text.as_bytes(), |group| number_of(group, &["ppn"]).unwrap_or(1));
        assert_eq!(["4:ppn=8", "1:ppn=28:x=1:default", "2:ppn=4+n7:ppn=2", "3", ""].map(cpus), [32, 28, 10, 3, 0]);
        for (kind, [with_n, many, one]) in Unit::DEVICES.into_iter().zip(Unit::PBS_NAMES) {
            let count = |text: &str| {
                let text = text.replace("NMANY", with_n).replace("MANY", many).replace("ONE", one);
                let values = values(text.as_bytes()).unwrap();
                let [.., nodes, nodect, need_nodes, _, _, _, _, _] = values[..COUNT - OF_DEVICES.len()] else {
                    panic!()
                };
                devices(&values[COUNT - OF_DEVICES.len()..], [nodes, nodect, need_nodes])[kind]
            };
            assert_eq!(count("Resource_List.nodes=2:ppn=28:MANY=2:x"), 4);
            assert_eq!(count("Resource_List.nodect=1:ppn=24:ONE=4:reqmem=1:ONE"), 4);
            assert_eq!(count("Resource_List.nodes=1:ppn=28 Resource_List.ONE=2 Resource_List.neednodes=1:MANY=1"), 2);
            assert_eq!(count("Resource_List.nodes=1:ppn=28 Resource_List.NMANY=3 Resource_List.MANY=2"), 3);
            assert_eq!(count("Resource_List.nodes=1:ppn=28"), 0);
        }
    }
}
