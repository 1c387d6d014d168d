//! QSSF as the authors' simulator runs it: jobs start by predicted duration times GPUs, and the first that does not fit blocks
//! its virtual cluster.
//!
//! But when nothing waited before this second, the jobs that arrive are tried by their GPUs alone, and those that are left
//! by their priorities one second later.

use std::cmp::Ordering;

use super::super::study::StudyError;
use crate::engine::{self, EngineOptions, RunRecord};
use crate::experiment::Setting;
use crate::job::{Job, JobId};
use crate::machine::{Placement, take};
use crate::predict::GivenTable;
use crate::schedule::{Decisions, Machine, Policy, PolicyEvent, Scheduler};
use crate::time::Time;
use crate::trace::{RunFacts, Workload};

/// Simulates a workload on its virtual clusters. A job without a prediction counts as one of 0 seconds, as nothing is said of it.
pub(super) fn run(workload: &Workload, table: &GivenTable) -> Result<RunRecord, StudyError> {
    // Negative predictions are kept: there are some, and they come first.
    let priority = |job: &Job| table.raw(&workload.log_id(job)).unwrap_or(0.0) * f64::from(job.submission.procs);
    let priorities = workload.jobs.iter().map(priority).collect();
    let scheduler = Scheduler::new(Qssf { priorities, first_new: None, wake: None }).named("QSSF");
    let scheduler = Scheduler { shapes: workload.shapes.clone(), ..scheduler };
    let setting = Setting::parse("fcfs", "estimate").expect("a valid setting");
    let predictor = setting.predictor(&RunFacts::of(workload));
    Ok(engine::run(workload.procs, &workload.jobs, scheduler, predictor, EngineOptions::default(), &mut |_| ())?)
}

struct Qssf {
    /// By id.
    priorities: Vec<f64>,
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
    fn decide(&mut self, machine: &Machine, out: &mut Decisions) {
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
                out.grants.push(grant);
                out.starts.push(job.id);
            }
        }
    }

    fn on(&mut self, event: &PolicyEvent<'_>, _machine: &Machine) {
        if let PolicyEvent::Arrival { id, .. } = event {
            self.first_new.get_or_insert(*id);
        }
    }

    fn wake(&self) -> Option<Time> {
        self.wake
    }
}
