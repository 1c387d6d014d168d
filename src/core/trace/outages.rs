//! The outages of a workload: rows of files on the time scale and the machine of a log.

use super::error::TraceError;
use super::rows::{LogNames, NameKind};
use super::workload::Workload;
use super::zone::Zone;
use crate::machine::{Cluster, HostList, JobClass, Outage, OutageFile, OutageKind, OutageRow, OutageTime, Outages};
use crate::request::RequestId;
use crate::text::counted;
use crate::time::{Seconds, Time, print_duration};

/// The outages of a file for a workload, whose users and groups have these names. `kills`: jobs that stop have failed.
///
/// # Errors
/// If a row names what the machine does not have, or times that no outage can have. The message names the line.
pub fn outages_of(
    file: &OutageFile,
    kills: bool,
    workload: &Workload,
    names: &LogNames,
) -> Result<Outages, TraceError> {
    let longest = workload.jobs.iter().map(|job| job.submission.estimate).max().unwrap_or(0);
    let read = |row| outage(row, workload, longest).map_err(|why| TraceError::unusable(&row.place, why));
    let list: Vec<Outage> = file.rows.iter().map(read).collect::<Result<_, _>>()?;
    let jobs = workload.jobs.iter().map(|job| (job.submission.user, job.submission.group, job.request));
    let class = |user, group, request| class(file, &list, workload, names, (user, group, request));
    let mut outages = Outages::new(list.clone(), kills, jobs, class);
    if file.rows.iter().any(|row| row.is_of_slurm && row.announced.is_none()) {
        outages.notes.push(format!(
            "reservations of Slurm are taken as announced {} before they begin, the longest estimate of the log: Slurm lets no job reach into one",
            print_duration(longest)
        ));
    }
    for OutageRow { place, name, unused, .. } in file.rows.iter().filter(|row| !row.unused.is_empty()) {
        let flags = unused.join(",");
        outages.notes.push(format!("{place}: Flags={flags} of the reservation '{name}' is not simulated"));
    }
    Ok(outages)
}

fn outage(row: &OutageRow, workload: &Workload, longest: Seconds) -> Result<Outage, String> {
    let time = |time| on_scale(time, workload.unix_start, &workload.zone);
    let start = time(row.start)?;
    let end = row.end.map_or(Ok(Time::MAX), time)?;
    if end <= start {
        return Err("the end is not after the start".to_string());
    }
    let announced = match row.announced {
        Some(announced) => time(announced)?,
        None if row.is_of_slurm => start - longest,
        None => start,
    };
    if announced > start {
        return Err("it is announced after its start".to_string());
    }
    let cluster = workload.shapes.as_ref().map(|shapes| shapes.cluster());
    let (procs, nodes) = match (cluster, &*row.nodes, &*row.procs) {
        (_, "", "") => return Err("it says neither nodes nor procs: procs=all is the whole machine".to_string()),
        (Some(cluster), "", "all") => (0, (0..cluster.nodes.len() as u32).collect()),
        (Some(_), "", _) => return Err("the machine has nodes: name them, or write procs=all".to_string()),
        (Some(cluster), list, "") => (0, nodes_of(list, cluster)?),
        (None, "", "all") => (workload.procs, Vec::new()),
        (None, "", procs) => (procs_of(procs, workload.procs)?, Vec::new()),
        (None, _, "") => {
            return Err(
                "the machine is a pool of processors, which has no nodes: write procs, or give --machine".to_string()
            );
        }
        (_, _, _) => return Err("it has both nodes and procs: one of the two says how much is out".to_string()),
    };
    let (kind, name, place) = (row.kind, row.name.clone(), row.place.clone());
    if kind != OutageKind::Reserved && !row.members.is_empty() {
        return Err(format!("'for' says whose a reservation is, and this is {}", kind.name()));
    }
    Ok(Outage { start, end, announced, kind, procs, nodes, name, place })
}

fn procs_of(text: &str, all: u32) -> Result<u32, String> {
    match text.parse::<u32>() {
        Ok(procs) if procs > all => {
            Err(format!("it takes {}, and the machine has {all}", counted(procs.into(), "processor")))
        }
        Ok(procs) if procs > 0 => Ok(procs),
        _ => Err(format!("procs is a number above 0, or all, not '{text}'")),
    }
}

/// The nodes of a list, ascending.
pub fn nodes_of(list: &str, cluster: &Cluster) -> Result<Vec<u32>, String> {
    let hosts = HostList::parse(list).filter(|hosts| hosts.count() <= cluster.nodes.len() as u64);
    let hosts = hosts.ok_or_else(|| format!("'{list}' is no list of nodes of the machine, such as n[1-9]"))?;
    let find = |name: String| {
        let at = cluster.nodes.iter().position(|node| node.name == name);
        at.map(|at| at as u32).ok_or_else(|| format!("the machine has no node '{name}'"))
    };
    let mut nodes: Vec<u32> = hosts.names().into_iter().map(find).collect::<Result<_, _>>()?;
    nodes.sort_unstable();
    nodes.dedup();
    Ok(nodes)
}

/// A time on the scale of the log's submit times.
fn on_scale(time: OutageTime, unix_start: Option<Time>, zone: &Zone) -> Result<Time, String> {
    let unix = match time {
        OutageTime::OfLog(seconds) => return Ok(seconds),
        OutageTime::Unix(unix) => unix,
        OutageTime::Local(local) => {
            // The offset of an instant that is at most a day away, then that of the instant itself.
            let mut clock = zone.clock();
            let near = 2 * local - clock.local(local);
            local - (clock.local(near) - near)
        }
    };
    unix_start.map(|start| unix - start).ok_or_else(|| {
        "the log does not say when it begins, so that times are no dates: write them as its submit times".to_string()
    })
}

/// Which reservations are those of a job of this user and group that asks for this.
fn class(
    file: &OutageFile,
    list: &[Outage],
    workload: &Workload,
    names: &LogNames,
    (user, group, request): (i32, i32, RequestId),
) -> JobClass {
    let request = workload.requests.get(request);
    let named = request.map_or("", |request| request.reservation.as_str());
    let is = |kind, code: i32, word: &str| match names.name(kind, code.into()) {
        Some(name) => name == word.as_bytes(),
        None => code >= 0 && word.parse() == Ok(workload.wide.number(code)),
    };
    let is_member = |word: &String| {
        let is_account = request.is_some_and(|request| request.account == *word && !word.is_empty());
        is_account || is(NameKind::User, user, word) || is(NameKind::Group, group, word)
    };
    let mut class = JobClass::default();
    for ((outage, row), at) in list.iter().zip(&file.rows).zip(0..) {
        let names_it = !named.is_empty() && outage.name == named;
        class.named.extend(names_it.then_some(at));
        let is_own = outage.kind == OutageKind::Reserved && (names_it || row.members.iter().any(is_member));
        class.owns.extend(is_own.then_some(at));
    }
    class
}
