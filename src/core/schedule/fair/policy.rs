//! The policy: a real schedule beside a virtual one.

use super::precedence::{FairGuide, FairOrder, FairRules};
use super::schedule::VirtualSchedule;
use super::virtual_machine::VirtualMachine;
use crate::job::{JobId, Submission};
use crate::schedule::forward::forward_policy;
use crate::schedule::guide::Guided;
use crate::schedule::machine::Machine;
use crate::schedule::policy::{Facts, Policy};
use crate::schedule::queue::Waiting;
use crate::time::Time;

/// A real schedule beside a virtual one. On nodes each partition has a reservation; jobs are fitted by their estimates as soon as one
/// of those with a reservation is protected.
pub(super) struct Fair<P> {
    rules: FairRules,
    order: FairOrder,
    schedule: VirtualSchedule,
    real: P,
}

impl<P: Guided> Fair<P> {
    /// `easy` is the scheduler of the virtual machine, `real` the other one, which has the rules of [`FairRules::backfilling`].
    pub fn new(rules: &FairRules, easy: Box<dyn Policy>, real: P) -> Fair<P> {
        let schedule = VirtualSchedule::new(VirtualMachine::new(easy), rules.has_accounts);
        Fair { rules: *rules, order: FairOrder::new(rules, 0), schedule, real }
    }
}

impl<P: Guided> Policy for Fair<P> {
    forward_policy!(self.real: reservations, counts_running_by_estimates, shapes, take_grant, why_never);

    fn on_begin(&mut self, facts: &Facts) {
        self.order = FairOrder::new(&self.rules, facts.capacity.procs());
        self.schedule.on_begin(facts);
        self.schedule.urgent_procs = self.order.urgent_procs;
        self.real.on_begin(facts);
    }

    fn on_clock(&mut self, now: Time) {
        self.schedule.advance_before(now);
    }

    fn follows_clock(&self) -> bool {
        true
    }

    fn on_arrival(&mut self, id: JobId, job: &Submission) {
        self.schedule.on_arrival(id, job);
        self.real.on_arrival(id, job);
    }

    fn on_prediction(&mut self, job: &Waiting) {
        self.schedule.on_prediction(job);
        self.real.on_prediction(job);
    }

    fn on_termination(&mut self, id: JobId, now: Time) {
        self.schedule.end(id, now);
    }

    fn on_cancellation(&mut self, job: &Waiting) {
        self.schedule.on_cancellation(job.id);
        self.real.on_cancellation(job);
    }

    fn pass(&mut self, real: &Machine, starts: &mut Vec<JobId>) {
        self.schedule.advance_to(real);
        let guide = FairGuide { order: self.order, schedule: &self.schedule };
        self.real.guided_pass(&guide, real, starts);
        self.schedule.start(starts, real.now);
    }

    fn take_virtual_starts(&mut self) -> Option<Vec<Time>> {
        Some(self.schedule.take_starts())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::engine::{self, EngineOptions, Named, RunRecord};
    use crate::experiment::{Setting, simulate};
    use crate::job::Job;
    use crate::machine::{Cluster, Node, NodeGrant, Partition, Placement, Shapes};
    use crate::predict::RunFacts;
    use crate::request::{MemoryAsked, Request, Requests};
    use crate::rng::stream;
    use crate::schedule::guide::Guide;
    use crate::schedule::{Easy, OnNodes, Order, Rules};
    use crate::trace::{LogNames, PartitionMap, Unit, Workload, demo_workload, put_on_cluster};
    use rand::{Rng, RngExt};

    /// A real schedule that is `easy/estimate`, whatever the predictor says.
    struct EasyByEstimates {
        machine: VirtualMachine,
        shapes: Option<Arc<Shapes>>,
        arrived: Vec<(JobId, Submission)>,
        /// By id.
        estimates: Vec<Time>,
        /// With their planned ends.
        running: Vec<(JobId, Time)>,
    }

    impl Guided for EasyByEstimates {
        fn guided_pass(&mut self, _guide: &impl Guide, real: &Machine, starts: &mut Vec<JobId>) {
            let EasyByEstimates { machine, arrived, estimates, running, .. } = self;
            running.retain(|&(id, planned)| {
                let is_running = real.running.iter().any(|job| job.id == id);
                if !is_running {
                    machine.end(id, planned);
                }
                is_running
            });
            for (id, job) in arrived.drain(..) {
                machine.arrive(id, &job, real.nodes().map(|nodes| nodes.request(id)));
            }
            starts.extend(machine.pass(real.now));
            running.extend(starts.iter().map(|&id| (id, real.now + estimates[id.index()])));
        }
    }

    impl Policy for EasyByEstimates {
        fn on_begin(&mut self, facts: &Facts) {
            self.machine.on_begin(facts);
        }

        fn pass(&mut self, _view: &Machine, _starts: &mut Vec<JobId>) {
            unreachable!("`fair` guides its passes");
        }

        fn counts_running_by_estimates(&self) -> bool {
            true
        }

        fn on_arrival(&mut self, id: JobId, job: &Submission) {
            self.arrived.push((id, *job));
            self.estimates.push(job.estimate);
        }

        fn shapes(&self) -> Option<Arc<Shapes>> {
            self.shapes.clone()
        }

        fn take_grant(&mut self, id: JobId) -> NodeGrant {
            self.machine.grant(id)
        }
    }

    fn random_jobs(rng: &mut impl Rng, widest: u32) -> Vec<Job> {
        let (mut submit, tempo) = (0, [1, 10, 60][rng.random_range(0..3)]);
        let draft = |_| {
            submit += rng.random_range(0..4) * tempo;
            let runtime = [1, 5, 60, 61, 300, 1000, 5000][rng.random_range(0..7)] + rng.random_range(0..3);
            let estimate = runtime * [1, 1, 2, 5, 20][rng.random_range(0..5)] / [1, 2][rng.random_range(0..2)];
            let submission = Submission::new(submit, rng.random_range(1..=widest), estimate.max(1));
            Job::new(Submission { user: rng.random_range(0..4), ..submission }, runtime)
        };
        (0..60).map(draft).collect()
    }

    /// The jobs on nodes with memory, in two partitions that share a node.
    fn on_nodes(rng: &mut impl Rng, mut jobs: Vec<Job>, empty: &Workload) -> Workload {
        let node = |at: u32| {
            let (name, features) = (format!("n{at}"), Vec::new());
            Node { name, cpus: 2 + at % 3, memory: 8, features, weight: 1, threads_per_core: 1, ..Node::default() }
        };
        let partition =
            |name: &str, nodes: Vec<u32>| Partition { name: name.to_string(), nodes, ..Partition::default() };
        let partitions = vec![partition("a", vec![0, 1, 2]), partition("b", vec![2, 3])];
        let cluster = Cluster { nodes: (0..4).map(node).collect(), partitions, ..Cluster::default() };
        let mut requests = Requests::default();
        for job in &mut jobs {
            let partitions = vec![["a", "b"][rng.random_range(0..2)].to_string()];
            let memory = MemoryAsked::PerCpu(rng.random_range(1..5));
            let cpus = job.submission.procs;
            job.request = requests.intern(Request { cpus, partitions, memory, ..Request::default() });
        }
        let workload = Workload { jobs, procs: 1000, requests: Arc::new(requests), ..empty.clone() };
        put_on_cluster(workload, &Arc::new(cluster), &PartitionMap::new(), &LogNames::default(), Unit::Cpus).unwrap()
    }

    /// The virtual schedule beside a real one that is EASY.
    fn beside_easy(workload: &Workload, predictor: &str) -> RunRecord {
        let shapes = workload.shapes.as_ref();
        let easy = || -> Box<dyn Policy> {
            match shapes {
                None => Box::new(Easy::new(Order::Arrival)),
                Some(shapes) => Box::new(OnNodes::backfilling(&Rules::default(), shapes, Placement::Pack)),
            }
        };
        let real = EasyByEstimates {
            machine: VirtualMachine::new(easy()),
            shapes: shapes.cloned(),
            arrived: Vec::new(),
            estimates: Vec::new(),
            running: Vec::new(),
        };
        let rules = FairRules { has_accounts: true, wide: 0.5, urgent: 0.75, scan: Order::PredictionClass };
        let policy = Box::new(Fair::new(&rules, easy(), real));
        let predictor = Setting::parse("easy", predictor).unwrap().predictor(&RunFacts::of(workload));
        let policy = Named { name: "fair".to_string(), value: policy as Box<dyn Policy> };
        engine::run(workload.procs, &workload.jobs, policy, predictor, EngineOptions::default(), &mut |_| ()).unwrap()
    }

    fn starts(record: &RunRecord) -> Vec<Time> {
        record.outcomes.iter().map(|outcome| outcome.start.get().unwrap()).collect()
    }

    /// If the real schedule is EASY with the users' estimates, then the virtual schedule is the same, job by job. Some jobs
    /// outlive their estimates, and predictions are anything.
    #[test]
    fn the_virtual_schedule_is_the_real_one_if_that_is_easy() {
        let mut rng = stream(1, "virtual easy");
        let (mut waited, mut outlived) = (0, 0);
        let empty = Workload { jobs: Vec::new(), ..demo_workload() };
        for case in 0..240 {
            let workload = if case % 3 == 0 {
                let jobs = random_jobs(&mut rng, 4);
                on_nodes(&mut rng, jobs, &empty)
            } else {
                let procs = rng.random_range(1..=16);
                Workload { jobs: random_jobs(&mut rng, procs), procs, ..empty.clone() }
            };
            let predictor = ["estimate", "perfect", "constant", "easy++", "sbh", "kin"][case / 3 % 6];
            let easy = simulate(&workload, &Setting::parse("easy", "estimate").unwrap(), &mut |_| ()).unwrap();
            let easy = starts(&easy);
            let record = beside_easy(&workload, predictor);
            assert_eq!(starts(&record), easy, "case {case}: the real schedule with {predictor}");
            assert_eq!(
                record.virtual_starts.as_ref(),
                Some(&easy),
                "case {case}: the virtual schedule with {predictor}"
            );
            waited += easy.iter().zip(&workload.jobs).filter(|(start, job)| **start > job.submission.submit).count();
            outlived += workload.jobs.iter().filter(|job| job.runtime > job.submission.estimate).count();
        }
        assert!(waited > 1000 && outlived > 500, "{waited} {outlived}");
    }
}
