//! PBS and Torque: `MM/DD/YYYY HH:MM:SS;E;ID;key=value ...`.

use std::io::Read;

use super::AccountingJob;
use super::collect::Collector;
use super::reading::{EstimateField, LogReading, Unit};
use super::values::{Bad, duration, leading_number, unix_time};
use crate::trace::error::{FaultKind, TraceError};
use crate::trace::lines::RawLines;

/// Whether a line has the form of a PBS row.
pub fn is_pbs(line: &[u8]) -> bool {
    let is_digit = |at: usize| line[at].is_ascii_digit();
    line.len() > 21
        && [0, 1, 3, 4, 6, 7, 8, 9, 11, 12, 14, 15, 17, 18].into_iter().all(is_digit)
        && [line[2], line[5], line[10], line[13], line[16], line[19], line[21]] == *b"// ::;;"
}

/// Reads all rows.
pub fn read<R: Read>(
    raw: &mut RawLines<R>,
    reading: &LogReading,
    collector: &mut Collector<'_>,
) -> Result<(), TraceError> {
    collector.read_lines(raw, |line, collector| row(line, reading, collector))
}

fn row<'a>(line: &'a [u8], reading: &LogReading, collector: &mut Collector<'_>) -> Result<(), Bad<'a>> {
    let mut parts = line.splitn(4, |&byte| byte == b';');
    let (Some(_), Some(event), Some(id), Some(rest), true) =
        (parts.next(), parts.next(), parts.next(), parts.next(), is_pbs(line))
    else {
        return Err(Bad { kind: FaultKind::NotARow { expected: "MM/DD/YYYY HH:MM:SS;E;ID;key=value ..." }, at: line });
    };
    if event != b"E" {
        collector.drop_row(|report| &mut report.other_events);
        return Ok(());
    }
    // The end of an array is not the end of a job: its subjobs, `123[4]`, have rows of their own.
    if memchr::memmem::find(id, b"[]").is_some() {
        collector.drop_row(|report| &mut report.array_parents);
        return Ok(());
    }
    let keys = Keys::of(rest)?;
    let time = |text: &'a [u8], column| if text.is_empty() { Ok(None) } else { unix_time(text, column) };
    let (allocated, requested) = match reading.unit {
        Unit::Cpus => {
            let requested = leading_number(keys.ncpus)
                .unwrap_or(0)
                .max(node_sum(keys.nodes, |parts| number_of(parts, &[b"ppn"]).unwrap_or(1)));
            (slots(keys.exec_host), requested)
        }
        Unit::Nodes => {
            let nodect = leading_number(keys.nodect).unwrap_or(0);
            let requested = if nodect > 0 { nodect } else { node_sum(keys.nodes, |_| 1) };
            (hosts(keys.exec_host), requested)
        }
        Unit::Gpus => {
            let gpus = keys.gpus();
            if gpus <= 0 {
                collector.drop_row(|report| &mut report.without_gpus);
                return Ok(());
            }
            (gpus, gpus)
        }
    };
    let mut estimate = duration(keys.walltime, "Resource_List.walltime")?;
    if reading.estimate_field == EstimateField::SoftWalltime {
        estimate = duration(keys.soft_walltime, "Resource_List.soft_walltime")?.or(estimate);
    }
    let end = time(keys.end, "end")?;
    let job = AccountingJob {
        id,
        task: b"",
        submit: time(keys.ctime, "ctime")?.ok_or(Bad::missing(line, "ctime"))?,
        eligible: time(keys.etime, "etime")?,
        start: time(keys.start, "start")?,
        end: Some(end.ok_or(Bad::missing(line, "end"))?),
        wait_known: true,
        // `resources_used.walltime` is sometimes wrong.
        elapsed: None,
        allocated,
        requested,
        estimate,
        names: [keys.user, keys.group, keys.jobname, keys.queue, b""],
        status: i32::from(keys.exit_status == b"0"),
        state: if keys.exit_status == b"0" { b"exit status 0" } else { b"other exit status" },
    };
    collector.job(line, &job)?;
    Ok(())
}

/// The values of the keys that are used.
#[derive(Default)]
struct Keys<'a> {
    user: &'a [u8],
    group: &'a [u8],
    queue: &'a [u8],
    jobname: &'a [u8],
    ctime: &'a [u8],
    etime: &'a [u8],
    start: &'a [u8],
    end: &'a [u8],
    exit_status: &'a [u8],
    exec_host: &'a [u8],
    ncpus: &'a [u8],
    nodes: &'a [u8],
    nodect: &'a [u8],
    neednodes: &'a [u8],
    ngpus: &'a [u8],
    gpus: &'a [u8],
    gpu: &'a [u8],
    walltime: &'a [u8],
    soft_walltime: &'a [u8],
}

impl<'a> Keys<'a> {
    fn of(text: &'a [u8]) -> Result<Keys<'a>, Bad<'a>> {
        let mut keys = Keys::default();
        let mut rest = text;
        while !rest.is_empty() {
            let end = memchr::memchr(b' ', rest).unwrap_or(rest.len());
            let Some(at) = memchr::memchr(b'=', &rest[..end]) else {
                rest = rest.get(end + 1..).unwrap_or(b"");
                continue;
            };
            let (key, from) = (&rest[..at], &rest[at + 1..]);
            let (value, after) = value(from)?;
            rest = after;
            let slot = match key {
                b"user" => &mut keys.user,
                b"group" => &mut keys.group,
                b"queue" => &mut keys.queue,
                b"jobname" => &mut keys.jobname,
                b"ctime" => &mut keys.ctime,
                b"etime" => &mut keys.etime,
                b"start" => &mut keys.start,
                b"end" => &mut keys.end,
                b"Exit_status" => &mut keys.exit_status,
                b"exec_host" => &mut keys.exec_host,
                b"Resource_List.ncpus" => &mut keys.ncpus,
                b"Resource_List.nodes" => &mut keys.nodes,
                b"Resource_List.nodect" => &mut keys.nodect,
                b"Resource_List.neednodes" => &mut keys.neednodes,
                b"Resource_List.ngpus" => &mut keys.ngpus,
                b"Resource_List.gpus" => &mut keys.gpus,
                b"Resource_List.gpu" => &mut keys.gpu,
                b"Resource_List.walltime" => &mut keys.walltime,
                b"Resource_List.soft_walltime" => &mut keys.soft_walltime,
                _ => continue,
            };
            // As in `account=for user=bob`, if the value is not quoted.
            if !slot.is_empty() && *slot != value {
                return Err(Bad { kind: FaultKind::TwoValues, at: &text[text.len() - from.len() - at - 1..] });
            }
            *slot = value;
        }
        Ok(keys)
    }

    /// The GPUs of the job: of a resource of its own, or else of the first description of nodes that has some.
    fn gpus(&self) -> i64 {
        let own = [self.ngpus, self.gpus, self.gpu].into_iter().find_map(leading_number);
        let of_nodes = || {
            let described = [self.nodes, self.nodect, self.neednodes].into_iter();
            let gpus = |nodes| node_sum(nodes, |parts| number_of(parts, &[b"gpus", b"gpu"]).unwrap_or(0));
            described.map(gpus).find(|&gpus| gpus > 0).unwrap_or(0)
        };
        own.unwrap_or_else(of_nodes)
    }
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
fn node_sum(nodes: &[u8], each: fn(&[u8]) -> i64) -> i64 {
    let group = |group: &[u8]| (leading_number(group).unwrap_or(1) * each(group)).min(i64::from(i32::MAX));
    let groups = nodes.split(|&byte| byte == b'+').filter(|group| !group.is_empty());
    groups.map(group).sum::<i64>().min(i64::from(i32::MAX))
}

/// The value of the first of these keys in `COUNT:key=value:...`.
fn number_of(group: &[u8], keys: &[&[u8]]) -> Option<i64> {
    group.split(|&byte| byte == b':').find_map(|part| {
        let at = memchr::memchr(b'=', part)?;
        keys.contains(&&part[..at]).then(|| leading_number(&part[at + 1..]))?
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
            let keys = Keys::of(text.as_bytes()).unwrap();
            assert_eq!((keys.user, keys.jobname), (user.as_bytes(), jobname.as_bytes()), "{text}");
        }
        let fault = |text: &'static str| Keys::of(text.as_bytes()).err().unwrap();
        assert_eq!(fault("user=ann account=for user=bob"), Bad { kind: FaultKind::TwoValues, at: b"user=bob" });
        assert_eq!(fault("account=\"for user=bob").at, b"\"for user=bob");
    }

    #[test]
    fn nodes_and_gpus() {
        let cpus = |text: &str| node_sum(text.as_bytes(), |group| number_of(group, &[b"ppn"]).unwrap_or(1));
        assert_eq!(["4:ppn=8", "1:ppn=28:gpus=1:default", "2:ppn=4+n7:ppn=2", "3", ""].map(cpus), [32, 28, 10, 3, 0]);
        let gpus = |text: &str| Keys::of(text.as_bytes()).unwrap().gpus();
        assert_eq!(gpus("Resource_List.nodes=2:ppn=28:gpus=2:x"), 4);
        assert_eq!(gpus("Resource_List.nodect=1:ppn=24:gpu=4:reqmem=1:gpu"), 4);
        assert_eq!(gpus("Resource_List.nodes=1:ppn=28 Resource_List.gpu=2 Resource_List.neednodes=1:gpus=1"), 2);
        assert_eq!(gpus("Resource_List.nodes=1:ppn=28"), 0);
    }
}
