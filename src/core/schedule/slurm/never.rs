//! Jobs that Slurm's rules on nodes can never start.

use super::nodes::{NodeSet, Picked, QueueEntry, SlurmJob, SlurmNodes};
use super::policy::Slurm;
use crate::schedule::policy::NeverStarts;
use crate::text::{counted, printable};

impl Slurm {
    /// Why a job can never start: no partition could place it on idle nodes, or it is over a limit though no other job runs.
    pub(super) fn never(&mut self, job: &SlurmJob) -> Option<NeverStarts> {
        let completing = NodeSet::none(self.site.len());
        let mut nodes = SlurmNodes { site: &self.site, state: &mut self.idle, completing };
        let mut partitions = job.partitions.iter();
        if partitions.all(|&partition| nodes.is_never(QueueEntry { job, partition })) {
            return Some(self.without_nodes(job));
        }
        let limits = &self.standing.limits;
        limits.over_for_ever(job).map(|over| limits.in_words(&over))
    }

    /// Why a job still waits when nothing runs and no event is left.
    pub(super) fn stuck(&mut self, job: &SlurmJob) -> NeverStarts {
        if let Some(why) = self.never(job) {
            return why;
        }
        if let Some(over) = self.standing.limits.over_now(job) {
            return self.standing.limits.in_words(&over);
        }
        // A limit that it is over with what it would get, such as whole nodes.
        for &partition in &job.partitions {
            let (entry, all) = (QueueEntry { job, partition }, NodeSet::all(self.site.len()));
            let completing = NodeSet::none(self.site.len());
            let mut nodes = SlurmNodes { site: &self.site, state: &mut self.idle, completing };
            if let Picked::Start(grant) = nodes.pick(entry, &all, 0)
                && let Some(over) = self.standing.limits.over_with(entry, &grant)
            {
                return self.standing.limits.in_words(&over);
            }
        }
        self.without_nodes(job)
    }

    fn without_nodes(&self, job: &SlurmJob) -> NeverStarts {
        let partition = &self.site.cluster.partitions[job.partitions[0]];
        let rule = match partition.max_cpus_per_node {
            Some(most) => format!(", with MaxCPUsPerNode={most}"),
            None if job.is_whole && job.is_per_cpu => ", with memory for each CPU of whole nodes".to_string(),
            None => String::new(),
        };
        let (cpus, nodes) = (counted(job.min_cpus.into(), "CPU"), counted(job.min_nodes.into(), "node"));
        NeverStarts {
            cause: format!("partition {}: Slurm cannot place it on idle nodes{rule}", printable(&partition.name)),
            asks: format!("it asks for {cpus} on at least {nodes}"),
        }
    }
}
