//! The policy: a real schedule beside a virtual one.

use super::precedence::{FairGuide, FairOrder, FairRules};
use super::schedule::VirtualSchedule;
use super::virtual_machine::VirtualMachine;
use crate::schedule::backfill::Guided;
use crate::schedule::machine::Machine;
use crate::schedule::policy::{Asked, Decisions, Policy, PolicyEvent, Scheduler};

/// A real schedule beside a virtual one. On nodes each partition has a reservation; jobs are fitted by their estimates as soon as one
/// of those with a reservation is protected.
pub(super) struct Fair<P> {
    rules: FairRules,
    order: FairOrder,
    schedule: VirtualSchedule,
    real: P,
}

impl<P: Guided + 'static> Fair<P> {
    /// `easy` is the scheduler of the virtual machine, `real` the other one, which has the rules of [`FairRules::backfilling`].
    pub fn scheduler(rules: &FairRules, easy: Scheduler, real: P) -> Scheduler {
        let shapes = easy.shapes.clone();
        let schedule = VirtualSchedule::new(VirtualMachine::new(easy), rules.has_accounts);
        let fair = Fair { rules: *rules, order: FairOrder::new(rules, 0), schedule, real };
        // The real schedule counts by estimates, too.
        Scheduler { shapes, by_estimates: true, follows_clock: true, answers: true, ..Scheduler::new(fair) }
    }
}

impl<P: Guided> Policy for Fair<P> {
    fn decide(&mut self, machine: &Machine, out: &mut Decisions) {
        match out.asked {
            Asked::Pass => {
                self.schedule.advance_to(machine);
                let guide = FairGuide { order: self.order, schedule: &self.schedule };
                self.real.guided_pass(&guide, machine, out);
                self.schedule.start(&out.starts, machine.now);
            }
            Asked::VirtualStarts => out.virtual_starts = Some(self.schedule.take_starts()),
            _ => self.real.decide(machine, out),
        }
    }

    fn on(&mut self, event: &PolicyEvent<'_>, machine: &Machine) {
        if let PolicyEvent::Begin(_) = event {
            self.order = FairOrder::new(&self.rules, machine.procs());
            self.schedule.urgent_procs = self.order.urgent_procs;
        }
        self.schedule.on(event, machine);
        self.real.on(event, machine);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::engine::{self, EngineOptions, RunRecord};
    use crate::experiment::{Setting, simulate};
    use crate::job::{Job, JobId, Submission};
    use crate::machine::{Cluster, Node, Partition, Placement, Tres};
    use crate::predict::RunFacts;
    use crate::request::{MemoryAsked, Request, Requests};
    use crate::rng::stream;
    use crate::schedule::backfill::Guide;
    use crate::schedule::{Easy, OnNodes, Order, Rules};
    use crate::time::Time;
    use crate::trace::{LogNames, PartitionMap, Unit, Workload, demo_workload, put_on_cluster};
    use rand::{Rng, RngExt};

    /// A real schedule that is `easy/estimate`, whatever the predictor says.
    struct EasyByEstimates {
        machine: VirtualMachine,
        arrived: Vec<(JobId, Submission)>,
        /// By id.
        estimates: Vec<Time>,
        /// With their planned ends.
        running: Vec<(JobId, Time)>,
    }

    impl Guided for EasyByEstimates {
        fn guided_pass(&mut self, _guide: &impl Guide, real: &Machine, out: &mut Decisions) {
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
            out.starts.extend(machine.pass(real.now));
            out.grants.extend(out.starts.iter().filter_map(|&id| machine.grant(id)));
            running.extend(out.starts.iter().map(|&id| (id, real.now + estimates[id.index()])));
        }
    }

    impl Policy for EasyByEstimates {
        fn decide(&mut self, _machine: &Machine, out: &mut Decisions) {
            assert!(!matches!(out.asked, Asked::Pass), "`fair` guides its passes");
        }

        fn on(&mut self, event: &PolicyEvent<'_>, machine: &Machine) {
            match *event {
                PolicyEvent::Begin(facts) => self.machine.begin(facts, machine),
                PolicyEvent::Arrival { id, job, .. } => {
                    self.arrived.push((id, *job));
                    self.estimates.push(job.estimate);
                }
                _ => {}
            }
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
            Node {
                name,
                has: Tres::on_node(2 + at % 3, 8),
                features,
                weight: 1,
                threads_per_core: 1,
                ..Node::default()
            }
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
        let easy = || match workload.shapes.as_ref() {
            None => Scheduler::from(Easy::new(Order::Arrival)),
            Some(shapes) => OnNodes::backfilling(&Rules::default(), shapes, Placement::Pack).into(),
        };
        let real = EasyByEstimates {
            machine: VirtualMachine::new(easy()),
            arrived: Vec::new(),
            estimates: Vec::new(),
            running: Vec::new(),
        };
        let rules = FairRules { has_accounts: true, wide: 0.5, urgent: 0.75, scan: Order::PredictionClass };
        let fair = Fair::scheduler(&rules, easy(), real);
        let predictor = Setting::parse("easy", predictor).unwrap().predictor(&RunFacts::of(workload));
        engine::run(workload.procs, &workload.jobs, fair, predictor, EngineOptions::default(), &mut |_| ()).unwrap()
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
