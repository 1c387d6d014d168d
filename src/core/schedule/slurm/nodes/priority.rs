//! The priorities of jobs on nodes: `priority/multifactor`, recalculated as the daemon does.

use super::fair_share::{FairShare, RunningUse};
use super::job::SlurmJob;
use super::owners::Owners;
use super::site::SlurmSite;
use super::weights::PriorityWeights;
use crate::machine::{Tres, total_of_nodes};
use crate::time::{MINUTE, Time};

/// The priorities of a site.
///
/// What is called when, by a policy that keeps a sorted queue:
/// - Before the simulation, [`owner`](SitePriorities::owner) for each user of the log: shares are those of all known users. It may also
///   be called later.
/// - At a submission (or when a job becomes eligible): [`of`](SitePriorities::of), once for each of its partitions.
/// - Every [`period`](PriorityWeights::period): [`recalculate`](SitePriorities::recalculate) with all running jobs; then `of` for every
///   waiting job, and the queue is sorted anew. Between recalculations priorities stay as they are.
/// - At each end: [`on_end`](SitePriorities::on_end).
///
/// A recalculation takes time in proportion to the owners (with Fair Tree, to sorting them) and the running jobs.
#[derive(Clone, Debug)]
pub struct SitePriorities {
    weights: PriorityWeights,
    owners: Owners,
    fair_share: FairShare,
    nodes: f64,
    cpus: f64,
    /// By partition: its factor and what it has.
    partitions: Vec<(f64, Tres)>,
    /// By quality of service: its factor.
    qos: Vec<f64>,
}

impl SitePriorities {
    /// Those of a site before any job. The qualities of service are those of its cluster.
    pub fn new(weights: PriorityWeights, site: &SlurmSite, owners: Owners) -> SitePriorities {
        let cluster = &site.cluster;
        let largest = cluster.partitions.iter().map(|partition| partition.priority_job_factor).max().unwrap_or(0);
        let part = |own: u32, all: u32| if all > 0 { f64::from(own) / f64::from(all) } else { 0.0 };
        let amounts = |nodes: &[u32]| total_of_nodes(nodes.iter().map(|&node| &cluster.nodes[node as usize]));
        let partitions = cluster.partitions.iter();
        let qos = &cluster.associations.qos;
        let highest = qos.iter().map(|qos| qos.priority).max().unwrap_or(0);
        SitePriorities {
            fair_share: FairShare::new(weights.rule, weights.decay(), weights.period, &owners),
            nodes: cluster.nodes.len() as f64,
            cpus: cluster.cpus() as f64,
            partitions: partitions
                .map(|partition| (part(partition.priority_job_factor, largest), amounts(&partition.nodes)))
                .collect(),
            qos: qos.iter().map(|qos| part(qos.priority, highest)).collect(),
            weights,
            owners,
        }
    }

    /// The owner of the jobs of a user in an account, as [`Owners::find`]. One that is new gets a share.
    pub fn owner(&mut self, user: &str, account: &str) -> usize {
        let known = self.owners.all().len();
        let owner = self.owners.find(user, account);
        if self.owners.all().len() > known {
            self.fair_share.grow(&self.owners);
        }
        owner
    }

    /// Brings use and fair share up to date.
    pub fn recalculate(&mut self, now: Time, running: impl IntoIterator<Item = RunningUse>) {
        self.begin(now);
        running.into_iter().for_each(|job| self.count(&job));
        self.finish();
    }

    /// The first step of [`recalculate`](SitePriorities::recalculate). The daemon goes through all jobs in the order of their numbers.
    /// With the classic formula the use of a user stays, until the next recalculation, what it is when the daemon comes to its first
    /// waiting job: whoever follows that asks for the priorities of waiting jobs between counting running ones.
    pub fn begin(&mut self, now: Time) {
        self.fair_share.begin(now);
    }

    /// The second step, for each running job.
    pub fn count(&mut self, job: &RunningUse) {
        self.fair_share.count(job);
    }

    /// The last step.
    pub fn finish(&mut self) {
        self.fair_share.finish();
    }

    /// A job ends. Without limits the daemon forgets what it used since the last recalculation.
    pub fn on_end(&mut self, job: &RunningUse, end: Time) {
        if self.weights.enforces_limits {
            self.fair_share.count_rest(job, end);
        }
    }

    /// The priority of a job in a partition, at least 1. The largest comes first. `eligible` is the instant from which on nothing but
    /// the scheduler holds the job; `planned` are the CPUs that it got in its last reservation, which may be more than it asks for.
    pub fn of(&mut self, job: &SlurmJob, partition: usize, eligible: Time, planned: Option<u32>, now: Time) -> i64 {
        let cpus = f64::from(planned.unwrap_or(job.min_cpus));
        let weights = &self.weights;
        let age = ((now - eligible) as f64 / weights.max_age as f64).clamp(0.0, 1.0);
        let fair_share = if weights.fair_share > 0.0 { self.fair_share.factor(job.owner) } else { 0.0 };
        let (partition, has) = &self.partitions[partition];
        let qos = job.qos.and_then(|qos| self.qos.get(qos)).copied().unwrap_or(0.0);
        let mut sum = weights.age * age
            + weights.fair_share * fair_share
            + weights.size * self.size(job, cpus)
            + weights.partition * partition
            + weights.qos * qos;
        if weights.tres != Tres::default() {
            let cpus = planned.unwrap_or(job.min_cpus).into();
            let mut amounts = job.amounts(cpus, job.min_nodes.into()).map(|amount| amount as f64);
            if weights.normalizes_tres {
                amounts.change(has, |amount, has| *amount = if has > 0 { *amount / has as f64 } else { 0.0 });
            }
            sum += weights.tres.sum(amounts);
        }
        (sum.floor() as i64 - i64::from(job.nice)).max(1)
    }

    /// The factor of the size, from 0 to 1.
    fn size(&self, job: &SlurmJob, cpus: f64) -> f64 {
        let PriorityWeights { favors_small, is_size_relative, .. } = self.weights;
        let nodes = f64::from(job.min_nodes);
        let size = match is_size_relative {
            true => {
                let minutes = (job.limit as f64 / MINUTE as f64).max(1.0);
                (nodes * self.cpus / self.nodes).max(cpus) / minutes / self.cpus
            }
            false => (nodes / self.nodes + cpus / self.cpus) / 2.0,
        };
        if favors_small { 1.0 - size } else { size }.clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use super::super::site::SlurmParameters;
    use super::*;
    use crate::machine::associations::Associations;
    use crate::machine::parse_cluster;
    use crate::request::{DeviceAsked, MemoryAsked, Request};
    use crate::schedule::catalog;
    use crate::tres::Resource;

    /// 40 CPUs on 10 nodes; the second partition has 8 CPUs, 2,000 MB and 4 GPUs.
    const CONF: &str = "\
NodeName=n[1-8] CPUs=4 RealMemory=1000
NodeName=g[1-2] CPUs=4 RealMemory=1000 Gres=gpu:2
PartitionName=all Nodes=n[1-8],g[1-2] PriorityJobFactor=10
PartitionName=gpu Nodes=g[1-2] PriorityJobFactor=40
";

    fn priorities(keys: &str) -> (SitePriorities, SlurmSite) {
        let (mut cluster, _) = parse_cluster(CONF, Path::new("")).unwrap();
        let script = "add qos Name=low Priority=5\nadd qos Name=high Priority=20\n";
        cluster.associations = Associations::of_commands(script);
        let owners = Owners::new(&cluster.associations);
        let site = SlurmSite::new(Arc::new(cluster), SlurmParameters::of(&catalog::parse("slurm").unwrap()));
        let weights = PriorityWeights::of(&catalog::parse(&format!("slurm:order=multifactor,{keys}")).unwrap());
        (SitePriorities::new(weights, &site, owners), site)
    }

    /// The priority of a job with 2 nodes, 4 CPUs with 100 MB each and 1 GPU on each node, with a limit of 10 minutes.
    #[track_caller]
    fn assert_priority(keys: &str, partition: usize, expected: i64) {
        let (mut priorities, site) = priorities(keys);
        let request = Request {
            min_nodes: 2,
            cpus: 4,
            tasks: 4,
            memory: MemoryAsked::PerCpu(100),
            devices: DeviceAsked::PerNode(1).of(Resource::Gpus),
            ..Request::default()
        };
        let qos = site.cluster.associations.qos.iter().position(|qos| qos.name == "low");
        let owner = priorities.owner("x", "");
        let job = SlurmJob { qos, owner, limit: 600, ..SlurmJob::of(&request, vec![0, 1], &site.cluster) };
        assert_eq!(priorities.of(&job, partition, 100, None, 150), expected, "{keys}");
    }

    #[test]
    fn factors_have_weights() {
        assert_priority("age_weight=0", 0, 1);
        assert_priority("age_weight=1000,max_age=200s", 0, 250);
        assert_priority("age_weight=1000,max_age=20s", 0, 1000);
        assert_priority("partition_weight=1000", 0, 250);
        assert_priority("partition_weight=1000", 1, 1000);
        assert_priority("qos_weight=1000", 0, 250);
        assert_priority("fairshare_weight=1000", 0, 1000);
        // (2 of 10 nodes, 4 of 40 CPUs) / 2
        assert_priority("size_weight=1000", 0, 150);
        assert_priority("size_weight=1000,favor_small=yes", 0, 850);
        // 2 nodes are 8 CPUs on average; a tenth of these are 2% of 40.
        assert_priority("size_weight=1050,small_relative_to_time=yes", 0, 21);
        // 4 of 8 CPUs, 400 of 2,000 MB, 2 of 2 nodes, 2 of 4 GPUs.
        assert_priority("tres_weights=cpu=1000;mem=1000;node=10;gres/gpu=2", 1, 500 + 200 + 10 + 1);
        assert_priority("tres_weights=cpu=1000;mem=0.5;gres/gpu=7,normal_tres=no", 1, 4000 + 200 + 14);
    }

    #[test]
    fn the_size_is_that_of_the_last_plan() {
        let (mut priorities, site) = priorities("size_weight=1000");
        let job =
            SlurmJob::of(&Request { min_nodes: 2, exclusive: true, ..Request::default() }, vec![0], &site.cluster);
        assert_eq!([None, Some(8)].map(|planned| priorities.of(&job, 0, 0, planned, 0)), [125, 200]);
    }

    /// Without accounts, two users with a share each; the one whose job has ended has the rest of its use only with limits.
    #[test]
    fn the_rest_of_a_job_counts_if_limits_are_enforced() {
        for (enforces, expected) in [("no", [1000, 1000]), ("yes", [500, 1000])] {
            let (mut priorities, site) = priorities(&format!("fairshare_weight=1000,enforce_limits={enforces}"));
            let [x, y] = ["x", "y"].map(|user| priorities.owner(user, ""));
            priorities.recalculate(300, []);
            priorities.on_end(&RunningUse { owner: x, cpus: 4.0, start: 310, factor: 1.0 }, 590);
            priorities.recalculate(600, []);
            let of = |owner| SlurmJob { owner, ..SlurmJob::of(&Request::default(), vec![0], &site.cluster) };
            assert_eq!([x, y].map(|owner| priorities.of(&of(owner), 0, 0, None, 0)), expected, "{enforces}");
        }
    }
}
