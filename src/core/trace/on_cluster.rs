//! Puts a workload on the nodes of a cluster: what each job asks for there, and which jobs can never run.

use litemap::LiteMap;
use std::borrow::Cow;
use std::sync::Arc;

use super::error::TraceError;
use super::rows::{LogNames, NameKind, Unit};
use super::wide::WideNumbers;
use super::workload::{CleaningCause, Workload};
use crate::job::Submission;
use crate::machine::{Cluster, Partition, PartitionState, Shapes, Unplaceable};
use crate::request::{Request, RequestId, Requests};
use crate::text::printable;
use crate::time::Seconds;

/// Other names for partitions of the log: those of the cluster.
pub type PartitionMap = LiteMap<String, String>;

/// The site of a log: its machine, and what the machine calls the partitions of the log.
#[derive(Clone, Copy)]
pub struct LogSite<'a> {
    /// The machine.
    pub cluster: &'a Cluster,
    /// Other names for partitions.
    pub names: &'a PartitionMap,
}

impl LogSite<'_> {
    /// The limit of a job that has none: that of the first partition that it names. `asked` is what the log says of the job beside
    /// `submission`.
    pub(super) fn time_of_unlimited(
        &self,
        asked: Option<&Request>,
        submission: &Submission,
        wide: &WideNumbers,
    ) -> Option<Seconds> {
        let plain = || plain_request(submission, wide, self.cluster);
        let request = renamed(asked.cloned().unwrap_or_else(plain), self.names);
        let first = match request.partitions.first() {
            None => self.cluster.default_partition(),
            Some(name) => self.cluster.partition(name),
        };
        self.cluster.partitions[first?].time_of_unlimited()
    }
}

/// The workload on the nodes of a cluster, without the jobs that can never run there. A job whose log does not say more than its
/// processors asks for so many CPUs, in the partition of its number. `unit` is what a processor of the log is, `names` are those of
/// its users.
///
/// As in Slurm, a job is not in a partition whose longest time is below its estimate. If that is so in all its partitions, it would
/// wait for ever; its estimate is cut instead, and counted.
///
/// # Errors
/// If a job names a partition that the cluster does not have, or no job is left.
pub fn put_on_cluster(
    mut workload: Workload,
    cluster: &Arc<Cluster>,
    partitions: &PartitionMap,
    names: &LogNames,
    unit: Unit,
) -> Result<Workload, TraceError> {
    let mut requests = Requests::default();
    // First those of the log, so that accounts and QOS have the same numbers as on a pool.
    let logged: Vec<RequestId> =
        workload.requests.all().iter().map(|request| requests.intern(renamed(request.clone(), partitions))).collect();
    let has_rule = |partition: &Partition| partition.state != PartitionState::Up || partition.max_time.is_some();
    let has_rules = cluster.partitions.iter().any(has_rule);
    for job in &mut workload.jobs {
        job.request = match job.request.index() {
            Some(at) => logged[at],
            None => requests.intern(renamed(plain_request(&job.submission, &workload.wide, cluster), partitions)),
        };
        if !has_rules {
            continue;
        }
        let asked = requests.get(job.request).expect("every job on nodes has a request");
        let longest = longest_time(asked, cluster);
        // A job that is not taken has no request.
        job.request = match submitted(asked, job.submission.estimate, cluster) {
            Ok(Cow::Borrowed(_)) => job.request,
            Ok(Cow::Owned(other)) => requests.intern(other),
            Err(_) => RequestId::NONE,
        };
        if let Some(longest) = longest.filter(|longest| job.submission.estimate > *longest) {
            job.submission.estimate = longest;
            workload.cleaning.causes.add(CleaningCause::CutAtPartition, 1);
        }
    }
    let mut shapes = Shapes::new(Arc::clone(cluster), &requests);
    let mut unknown = None;
    let find = |request: RequestId| match request {
        RequestId::NONE => Err(&Unplaceable::PartitionDown),
        request => shapes.find(request),
    };
    workload.jobs.retain(|job| match find(job.request) {
        Ok(_) => true,
        Err(why) => {
            if let Unplaceable::NoPartition(name) = why {
                unknown.get_or_insert_with(|| (job.number, name.clone()));
            }
            workload.cleaning.add_unplaceable(job.number, why);
            false
        }
    });
    if let Some((job, name)) = unknown {
        let known: Vec<_> = cluster.partitions.iter().map(|partition| printable(&partition.name)).collect();
        let why = format!(
            "job {job} is for the partition '{}', which the machine does not have; it has {}; --partition-map {}={} gives it \
             another name",
            printable(&name),
            known.join(", "),
            printable(&name),
            known[0]
        );
        return Err(TraceError::unusable(&workload.label, why));
    }
    if workload.jobs.is_empty() {
        let why = format!("no job can run on the machine ({})", workload.cleaning.unplaceable.in_words());
        return Err(TraceError::unusable(&workload.label, why));
    }
    workload.procs = u32::try_from(cluster.total()[unit]).unwrap_or(u32::MAX);
    workload.requests = Arc::new(requests);
    shapes.note_users(names.of_kind(NameKind::User));
    shapes.note_jobs(workload.jobs.iter().map(|job| (job.request, job.submission.procs)));
    workload.shapes = Some(Arc::new(shapes));
    Ok(workload)
}

impl Workload {
    /// The number of what a job asks for that is not in the log: of `request`, or of its CPUs in the partition of its number.
    /// It has none on a pool of processors. A job that is new is not taken by a partition that drains, one that waits is there.
    ///
    /// # Errors
    /// Why it can never run.
    pub fn add_request(
        &mut self,
        job: &Submission,
        request: Option<Request>,
        names: &PartitionMap,
        is_new: bool,
    ) -> Result<RequestId, Unplaceable> {
        let Some(shapes) = &mut self.shapes else { return Ok(RequestId::NONE) };
        let request = request.unwrap_or_else(|| plain_request(job, &self.wide, shapes.cluster()));
        let mut request = renamed(request, names);
        if is_new {
            request = submitted(&request, job.estimate, shapes.cluster())?.into_owned();
        }
        let id = Arc::make_mut(&mut self.requests).intern(request.clone());
        if self.requests.all().len() > shapes.len() {
            Arc::make_mut(shapes).push(&request);
        }
        shapes.find(id).map(|_| id).map_err(Clone::clone)
    }
}

/// With the names that the cluster has for partitions.
fn renamed(mut request: Request, names: &PartitionMap) -> Request {
    for partition in &mut request.partitions {
        if let Some(name) = names.get(partition) {
            *partition = name.clone();
        }
    }
    request
}

/// The request with the partitions that take a new job of this estimate; with all that take jobs if it is too long for each. The
/// memory of a job is that of the first partition that it names, even if this one does not take it.
fn submitted<'r>(request: &'r Request, estimate: Seconds, cluster: &Cluster) -> Result<Cow<'r, Request>, Unplaceable> {
    let find = |name: &String| cluster.partition(name).map(|at| &cluster.partitions[at]);
    let Some(mut open) = request.partitions.iter().map(find).collect::<Option<Vec<_>>>() else {
        return Ok(Cow::Borrowed(request));
    };
    let default = cluster.default_partition().filter(|_| open.is_empty()).map(|at| &cluster.partitions[at]);
    if default.is_some_and(|default| default.state != PartitionState::Up) {
        return Err(Unplaceable::PartitionDown);
    }
    open.retain(|partition| partition.state == PartitionState::Up);
    if open.is_empty() && !request.partitions.is_empty() {
        return Err(Unplaceable::PartitionDown);
    }
    let is_long_enough = |partition: &Partition| partition.max_time.is_none_or(|most| estimate <= most);
    if open.iter().any(|partition| is_long_enough(partition)) {
        open.retain(|partition| is_long_enough(partition));
    }
    if open.len() == request.partitions.len() {
        return Ok(Cow::Borrowed(request));
    }
    let has_default = cluster.partitions.iter().any(|other| other.default_memory().is_amount());
    let memory = if has_default { cluster.memory_of(request) } else { request.memory };
    let partitions = open.into_iter().map(|partition| partition.name.clone()).collect();
    Ok(Cow::Owned(Request { memory, partitions, ..request.clone() }))
}

/// The longest time that a partition of a job allows. None if one has no limit.
fn longest_time(request: &Request, cluster: &Cluster) -> Option<Seconds> {
    let time = |at: Option<usize>| cluster.partitions[at?].max_time;
    match request.partitions.is_empty() {
        true => time(cluster.default_partition()),
        false => {
            let times: Option<Vec<Seconds>> =
                request.partitions.iter().map(|name| time(cluster.partition(name))).collect();
            times?.into_iter().max()
        }
    }
}

/// A cluster of one partition takes all jobs, whatever their partition.
fn plain_request(job: &Submission, wide: &WideNumbers, cluster: &Cluster) -> Request {
    let partition = Some(wide.number(job.partition)).filter(|&number| number >= 0 && cluster.partitions.len() > 1);
    Request {
        cpus: job.procs,
        partitions: partition.into_iter().map(|number| number.to_string()).collect(),
        ..Request::default()
    }
}
