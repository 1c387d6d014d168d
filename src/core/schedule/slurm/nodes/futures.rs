//! What is used of the nodes when some of the running jobs have left.

use super::in_use::{NodesInUse, RunningJob};
use super::site::SlurmSite;

/// What running jobs use after so many changes; without those that make way for a class of jobs, if there are such.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UsedWithout {
    pub change: u64,
    pub class: Option<usize>,
}

/// What is used of all nodes after the first 0, 1, 2, ... running jobs have left, as far as a pass has asked for it.
#[derive(Clone, Debug, Default)]
pub struct Futures {
    of: Option<UsedWithout>,
    /// After every `spacing` more jobs. There may be old ones behind the first `known`. The first 4,000 jobs of a week of UB's medium
    /// cluster with 1.5 times their load take 1.13 times as long without under its own slurm.conf.
    landmarks: Vec<NodesInUse>,
    known: usize,
    spacing: usize,
    /// After this number of jobs.
    then: NodesInUse,
    left: usize,
}

impl Futures {
    /// From one landmark to the next there are at least this many jobs, and there are at most so many landmarks.
    const SPACING: usize = 16;
    const MOST: usize = 32;

    /// What is used after this number of the running jobs have left, of what is used with them.
    pub fn after(
        &mut self,
        of: UsedWithout,
        used: &NodesInUse,
        running: &[RunningJob],
        left: usize,
        site: &SlurmSite,
    ) -> &NodesInUse {
        if self.of != Some(of) {
            self.of = Some(of);
            (self.known, self.left) = (0, 0);
            self.spacing = Self::SPACING.max(running.len() / Self::MOST);
            self.then.copy(used);
        }
        let nearest = (left / self.spacing).min(self.known);
        if left < self.left || self.left < nearest * self.spacing {
            self.left = nearest * self.spacing;
            match nearest.checked_sub(1) {
                None => self.then.copy(used),
                Some(at) => self.then.copy(&self.landmarks[at]),
            }
        }
        for running in &running[self.left..left] {
            self.then.leave(running, site);
            self.left += 1;
            if self.left == (self.known + 1) * self.spacing {
                match self.landmarks.get_mut(self.known) {
                    // The memory is used again.
                    Some(landmark) => landmark.copy(&self.then),
                    None => self.landmarks.push(self.then.clone()),
                }
                self.known += 1;
            }
        }
        &self.then
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rand::RngExt;

    use super::*;
    use crate::machine::{NodeShare, Resource, Tres, parse_toml};
    use crate::rng::stream;
    use crate::schedule::slurm::nodes::{InUse, SlurmParameters};

    /// Compares with jobs that leave one after the other, in any order of questions and while jobs start and end.
    #[test]
    fn landmarks_are_what_is_left_after_one_job_after_the_other() {
        let cluster = parse_toml(
            "[[nodes]]\nname = \"n[1-9]\"\ncpus = 64\ngpus = 64\n\
             [[partitions]]\nname = \"p\"\nnodes = \"ALL\"\nmax_cpus_per_node = 60\n",
        );
        let site = SlurmSite::new(Arc::new(cluster.unwrap()), SlurmParameters::default());
        let mut rng = stream(1, "futures");
        let (mut in_use, mut futures) = (InUse::new(&site), Futures::default());
        for id in 0..400 {
            let share = |node| NodeShare::new(node, Tres::on_node(1, 5).with(Resource::Gpus, 1));
            let first = rng.random_range(0..8);
            in_use.start(
                RunningJob {
                    start: 0,
                    end: rng.random_range(0..1000),
                    id,
                    partition: 0,
                    grant: (first..first + rng.random_range(1..3)).map(share).collect(),
                    is_whole: rng.random_bool(0.2),
                    ..RunningJob::default()
                },
                &site,
            );
            if id > 250 {
                in_use.end(id - rng.random_range(1..200), &site);
            }
            for _ in 0..3 {
                let (left, of) =
                    (rng.random_range(0..=in_use.running.len()), UsedWithout { change: in_use.changes, class: None });
                let found = futures.after(of, &in_use.nodes, &in_use.running, left, &site);
                let mut plain = in_use.nodes.clone();
                in_use.running[..left].iter().for_each(|job| plain.leave(job, &site));
                assert_eq!(found.nodes, plain.nodes, "{left} jobs of {}", in_use.running.len());
                assert!(
                    (0..9)
                        .all(|node| found.cpus_of_partition(&site, 0, node) == plain.cpus_of_partition(&site, 0, node))
                );
            }
        }
        assert!(futures.landmarks.len() > 10);
    }
}
