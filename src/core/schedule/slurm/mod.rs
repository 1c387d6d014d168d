//! The scheduler of Slurm: a main pass that starts jobs in the order of the queue, and a backfill pass, less often, that
//! reserves processors for jobs and starts those that delay no reservation.
//!
//! It does what version 22.05 of the daemon does: `nodes` are its rules, `backfill` is one backfill pass, `space` what
//! reservations leave, `clock` when passes come, and `policy` makes them. A pool of processors is one partition of nodes with one CPU
//! each; there `releases` finds what the tests of nodes would find, and `ranking` keeps the order of priorities.
//!
#![cfg_attr(doc, doc = include_str!("../../../cli/help/slurm.md"))]

mod backfill;
mod bits;
mod clock;
pub mod conf;
mod keys;
mod last_passes;
mod never;
mod node_set;
pub mod nodes;
mod policy;
mod priority;
mod ranking;
mod releases;
mod returning;
mod runs;
mod settings;
mod shares;
mod space;
mod standing;

use std::sync::Arc;

use super::accounts::LogFacts;
use super::backfill::PlacedPool;
use super::policy::Scheduler;
use crate::machine::{Cluster, Placement, PreemptMode, Shapes};
use crate::spec::{Key, Spec};

use keys::ON_NODES;
use policy::Slurm;
use settings::Settings;

pub(super) use settings::{FORM, idle_key};

/// The scheduler of a spec. The users or groups of the log have shares.
pub(super) fn build(spec: &Spec, log: &LogFacts<'_>) -> Scheduler {
    let settings = Settings::of(spec);
    let amid_outages = |policy: Slurm| Scheduler { answers: true, stops_at_outages: true, ..Scheduler::new(policy) };
    let on_pool = |settings| amid_outages(Slurm::on_pool(settings, log));
    match log.shapes() {
        None => on_pool(settings),
        // The same passes, much faster.
        Some(shapes) if log.knows_jobs() && !log.has_outages() && is_as_a_pool(spec, shapes) => {
            PlacedPool::scheduler(on_pool(settings), shapes, Placement::default())
        }
        Some(shapes) => {
            let preempts = settings.parameters.preempt != PreemptMode::Off;
            let policy = Slurm::on_nodes(settings, shapes, log);
            Scheduler { shapes: Some(Arc::clone(shapes)), preempts, ..amid_outages(policy) }
        }
    }
}

/// Whether the passes on nodes are those on a pool of processors. Priorities are not: on nodes they are recalculated from time to
/// time, and fair share is that of accounts.
fn is_as_a_pool(spec: &Spec, shapes: &Shapes) -> bool {
    let acts_on_nodes = |key: &&Key| key.about.ends_with(ON_NODES) && key.name != "enforce_limits";
    let mut keys = FORM.keys.iter().filter(acts_on_nodes);
    let Cluster { nodes, partitions, associations, .. } = &**shapes.cluster();
    spec.text("order") == "fcfs"
        && keys.all(|key| spec.text(key.name) == key.default)
        && shapes.is_pool()
        && associations.is_empty()
        && nodes.iter().all(|node| node.has.cpus() == 1)
        && partitions.iter().all(|partition| partition.max_time.is_none())
        && shapes.all_asked().iter().all(|request| request.nice == 0 && request.cpus_per_task <= 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::parse_toml;
    use crate::request::{Request, Requests};
    use crate::schedule::catalog;

    #[test]
    fn nodes_of_one_cpu_are_a_pool_unless_a_key_or_a_job_says_more() {
        let is_pool = |keys: &str, machine: &str, request: Request| {
            let cluster = Arc::new(parse_toml(&format!("[[nodes]]\nname = \"n[1-4]\"\ncpus = 1\n{machine}")).unwrap());
            let mut requests = Requests::default();
            let id = requests.intern(Request { cpus: 2, ..request });
            let mut shapes = Shapes::new(cluster, &requests);
            shapes.note_jobs([(id, 2)].into_iter());
            is_as_a_pool(&catalog::parse(&format!("slurm{keys}")).unwrap(), &shapes)
        };
        let plain = Request::default;
        assert!(is_pool("", "", plain()));
        assert!(is_pool(":bf_interval=1m,running=prediction,enforce_limits=no", "", plain()));
        for keys in ["order=multifactor", "epilog=30s", "bf_max_job_part=3", "preempt=requeue", "partition_job_depth=2"]
        {
            assert!(!is_pool(&format!(":{keys}"), "", plain()), "{keys}");
        }
        assert!(!is_pool("", "[[partitions]]\nname = \"p\"\nnodes = \"ALL\"\nmax_time = \"1h\"\n", plain()));
        assert!(!is_pool("", "", Request { nice: 5, ..plain() }));
        assert!(!is_pool("", "", Request { cpus_per_task: 2, ..plain() }));
    }
}
