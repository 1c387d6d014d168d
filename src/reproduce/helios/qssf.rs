//! QSSF as the authors' simulator runs it: jobs start by predicted duration times GPUs, and the first that does not fit blocks
//! its virtual cluster.
//!
//! But when nothing waited before this second, the jobs that arrive are tried by their GPUs alone, and those that are left
//! by their priorities one second later.

use std::cmp::Ordering;
use std::collections::VecDeque;
use std::sync::Arc;

use super::super::study::StudyError;
use crate::engine::{self, EngineOptions, Named, RunRecord};
use crate::experiment::Setting;
use crate::job::{Job, JobId, Submission};
use crate::machine::{NodeGrant, Placement, Shapes, take};
use crate::predict::GivenTable;
use crate::schedule::{Machine, Policy};
use crate::time::Time;
use crate::trace::{RunFacts, Workload};

/// Simulates a workload on its virtual clusters. A job without a prediction counts as one of 0 seconds, as nothing is said of it.
pub(super) fn run(workload: &Workload, table: &GivenTable) -> Result<RunRecord, StudyError> {
    let shapes = workload.shapes.clone().expect("the workload is on nodes");
    // Negative predictions are kept: there are some, and they come first.
    let priority = |job: &Job| table.raw(&workload.log_id(job)).unwrap_or(0.0) * f64::from(job.submission.procs);
    let priorities = workload.jobs.iter().map(priority).collect();
    let policy = Qssf { shapes, priorities, grants: VecDeque::new(), first_new: None, wake: None };
    let policy = Named { name: "QSSF".to_string(), value: Box::new(policy) as Box<dyn Policy> };
    let setting = Setting::parse("fcfs", "estimate").expect("a valid setting");
    let predictor = setting.predictor(&RunFacts::of(workload));
    Ok(engine::run(workload.procs, &workload.jobs, policy, predictor, EngineOptions::default(), &mut |_| ())?)
}

struct Qssf {
    shapes: Arc<Shapes>,
    /// By id.
    priorities: Vec<f64>,
    grants: VecDeque<(JobId, NodeGrant)>,
    /// The first job that has arrived since the last pass.
    first_new: Option<JobId>,
    /// When jobs are tried by priority that were first tried by their GPUs.
    wake: Option<Time>,
}

/// A waiting job.
#[derive(Clone, Copy)]
struct InQueue {
    id: JobId,
    gpus: u32,
    is_new: bool,
}

impl Qssf {
    fn by_priority(&self, one: &InQueue, other: &InQueue) -> Ordering {
        let priority = |job: &InQueue| self.priorities[job.id.index()];
        priority(one).total_cmp(&priority(other)).then(one.gpus.cmp(&other.gpus)).then(one.id.cmp(&other.id))
    }
}

impl Policy for Qssf {
    fn pass(&mut self, machine: &Machine, starts: &mut Vec<JobId>) {
        let nodes = machine.nodes().expect("the engine has the nodes of this policy");
        let mut free = nodes.free().to_vec();
        self.wake = None;
        let first_new = self.first_new.take();
        let mut queues: Vec<Vec<InQueue>> = vec![Vec::new(); nodes.cluster().partitions.len()];
        for job in machine.waiting.iter() {
            let [place] = &nodes.shape(job.id).places[..] else { unreachable!("a job is in one virtual cluster") };
            let is_new = first_new.is_some_and(|first| job.id >= first);
            queues[place.partition as usize].push(InQueue { id: job.id, gpus: job.procs, is_new });
        }
        for mut queue in queues {
            let is_by_gpus = queue.iter().all(|job| job.is_new);
            match is_by_gpus {
                true => queue.sort_by_key(|job| (job.gpus, job.id)),
                false => queue.sort_by(|one, other| self.by_priority(one, other)),
            }
            for job in &queue {
                let grant = nodes.shape(job.id).place(0, Placement::Consolidate, nodes.cluster(), &free, |_| false);
                let Some(grant) = grant else {
                    if is_by_gpus {
                        self.wake = Some(machine.now + 1);
                    }
                    break;
                };
                take(&mut free, &grant);
                self.grants.push_back((job.id, grant));
                starts.push(job.id);
            }
        }
    }

    fn on_arrival(&mut self, id: JobId, _job: &Submission) {
        self.first_new.get_or_insert(id);
    }

    fn wakes_at(&self) -> Option<Time> {
        self.wake
    }

    fn shapes(&self) -> Option<Arc<Shapes>> {
        Some(Arc::clone(&self.shapes))
    }

    fn take_grant(&mut self, id: JobId) -> NodeGrant {
        let first = self.grants.pop_front();
        first.filter(|(first, _)| *first == id).map(|(_, grant)| grant).unwrap_or_default()
    }
}
