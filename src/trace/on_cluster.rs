//! Puts a workload on the nodes of a cluster: what each job asks for there, and which jobs can never run.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::error::TraceError;
use super::rows::{LogNames, NameKind, Unit};
use super::workload::Workload;
use crate::job::Submission;
use crate::machine::{Cluster, Shapes, Unplaceable};
use crate::request::{Request, RequestId, Requests};
use crate::text::printable;

/// Other names for partitions of the log: those of the cluster.
pub type PartitionMap = BTreeMap<String, String>;

/// The workload on the nodes of a cluster, without the jobs that can never run there. A job whose log does not say more than its
/// processors asks for so many CPUs, in the partition of its number. `unit` is what a processor of the log is, `names` are those of
/// its users.
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
    for job in &mut workload.jobs {
        job.request = match job.request.index() {
            Some(at) => logged[at],
            None => requests.intern(renamed(plain_request(&job.submission, &workload.wide, cluster), partitions)),
        };
    }
    let mut shapes = Shapes::new(Arc::clone(cluster), &requests);
    let mut unknown = None;
    workload.jobs.retain(|job| match shapes.find(job.request) {
        Ok(_) => true,
        Err(why) => {
            if let Unplaceable::NoPartition(name) = why {
                unknown.get_or_insert_with(|| (job.number, name.clone()));
            }
            workload.cleaning.unplaceable.add(job.number, why);
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
    let procs = match unit {
        Unit::Cpus => cluster.cpus(),
        Unit::Nodes => cluster.nodes.len() as u64,
        Unit::Gpus => cluster.gpus(),
    };
    workload.procs = u32::try_from(procs).unwrap_or(u32::MAX);
    workload.requests = Arc::new(requests);
    shapes.note_users(names.of_kind(NameKind::User));
    shapes.note_jobs(workload.jobs.iter().map(|job| (job.request, job.submission.procs)));
    workload.shapes = Some(Arc::new(shapes));
    Ok(workload)
}

impl Workload {
    /// The number of what a job asks for that is not in the log: of `request`, or of its CPUs in the partition of its number.
    /// It has none on a pool of processors.
    ///
    /// # Errors
    /// Why it can never run.
    pub fn add_request(
        &mut self,
        job: &Submission,
        request: Option<Request>,
        names: &PartitionMap,
    ) -> Result<RequestId, Unplaceable> {
        let Some(shapes) = &mut self.shapes else { return Ok(RequestId::NONE) };
        let request = request.unwrap_or_else(|| plain_request(job, &self.wide, shapes.cluster()));
        let request = renamed(request, names);
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

/// A cluster of one partition takes all jobs, whatever their partition.
fn plain_request(job: &Submission, wide: &super::WideNumbers, cluster: &Cluster) -> Request {
    let partition = Some(wide.number(job.partition)).filter(|&number| number >= 0 && cluster.partitions.len() > 1);
    Request {
        cpus: job.procs,
        partitions: partition.into_iter().map(|number| number.to_string()).collect(),
        ..Request::default()
    }
}
