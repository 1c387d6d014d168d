//! The list of all schedulers by name.
//!
//! A program of another crate can add its own with [`extend`], before it parses the first spec.

use std::sync::Arc;

use super::accounts::LogFacts;
use super::backfill::{AmidOutages, Easy, OnNodes, PlacedPool, Reserving};
use super::exec::{self, Exec};
use super::fair;
use super::order::Order;
use super::policy::Scheduler;
use super::replay::{self, Replay};
use super::rules::{self, Rules};
use super::slurm;
use crate::machine::{Placement, Shapes};
use crate::program::check_spec;
use crate::spec::{Catalog, Form, Spec, SpecError};

/// One scheduler of the catalog: what may be written, and the function that builds the scheduler from a spec of that form, for a
/// log. Of the log `replay` uses the waits, and `slurm` who has a share.
pub type SchedulerEntry = (&'static Form, BuildScheduler);

type BuildScheduler = fn(&Spec, &LogFacts<'_>) -> Scheduler;

/// To add a scheduler, add a line here.
const CATALOG: &[SchedulerEntry] = &[
    (&rules::FCFS, backfilling),
    (&rules::EASY, backfilling),
    (&rules::SJBF, backfilling),
    (&rules::CONSERVATIVE, backfilling),
    (&fair::FORM, |spec, log| {
        let on_nodes = |shapes: &_, placement| fair::on_nodes(spec, shapes, placement);
        on_machine(log, rules::placement(spec), || fair::on_pool(spec, log.has_outages()), on_nodes)
    }),
    (&slurm::FORM, slurm::build),
    (&replay::FORM, |_, log| Replay::new(log.recorded_waits()).into()),
    (&exec::FORM, |spec, log| Exec::new(spec, log).into()),
];

fn backfilling(spec: &Spec, log: &LogFacts<'_>) -> Scheduler {
    let rules = Rules::of(spec);
    let on_nodes = |shapes: &_, placement| OnNodes::backfilling(&rules, shapes, placement).into();
    let on_pool = || if log.has_outages() { AmidOutages::backfilling(&rules).into() } else { rules.scheduler() };
    on_machine(log, rules::placement(spec), on_pool, on_nodes)
}

/// The scheduler for the machine of a log: a pool of processors, nodes for which all CPUs are alike, or any nodes.
fn on_machine(
    log: &LogFacts<'_>,
    placement: Placement,
    pool: impl Fn() -> Scheduler,
    on_nodes: impl Fn(&Arc<Shapes>, Placement) -> Scheduler,
) -> Scheduler {
    match log.shapes() {
        None => pool(),
        // Other jobs may be there, as in a present queue, whose running jobs may use more than the machine has.
        Some(shapes) if shapes.is_pool() && log.knows_jobs() && !log.has_outages() => {
            PlacedPool::scheduler(pool(), shapes, placement)
        }
        Some(shapes) => on_nodes(shapes, placement),
    }
}

static SCHEDULERS: Catalog<BuildScheduler> = Catalog::new("scheduler", CATALOG);

/// Adds schedulers of another crate, for the whole process. Call it once, before anything else of this crate.
///
/// # Errors
/// As [`Catalog::extend`].
pub fn extend(schedulers: &'static [SchedulerEntry]) -> Result<(), SpecError> {
    SCHEDULERS.extend(schedulers)
}

/// The names and keys of all schedulers, in the order in which they are listed to users.
pub fn forms() -> Vec<&'static Form> {
    SCHEDULERS.forms()
}

/// Reads a scheduler's spec.
///
/// # Errors
/// If there is no such scheduler, it has no such key, or `exec` has no command.
pub fn parse(text: &str) -> Result<Spec, SpecError> {
    let spec = SCHEDULERS.parse(text)?;
    program(&spec).map_or(Ok(()), |_| check_spec(&spec, &exec::FORM, "scheduler"))?;
    Ok(spec)
}

/// The command of the program that a scheduler starts. None for a scheduler that starts none.
pub fn program(spec: &Spec) -> Option<&str> {
    (spec.name() == exec::FORM.name).then(|| spec.text("command"))
}

/// A hash that tells versions of the program of a scheduler apart, as [`crate::predict::catalog::digest_of_program`].
///
/// # Errors
/// If a file cannot be read, or the program does not introduce itself.
///
/// # Panics
/// If the scheduler starts no program.
pub fn digest_of_program(spec: &Spec) -> Result<u128, String> {
    exec::digest(spec)
}

/// Builds the scheduler of a spec, for a log. Its name is the spec.
///
/// # Panics
/// If [`parse`] did not return the spec.
pub fn build(spec: &Spec, log: &LogFacts<'_>) -> Scheduler {
    SCHEDULERS.builder(spec)(spec, log).named(spec.to_string())
}

impl Rules {
    /// The scheduler that follows these rules. Rules with the same meaning have the same policy.
    pub fn scheduler(&self) -> Scheduler {
        match self {
            Rules { reservations: Some(0 | 1), .. } => Easy::of_rules(self).into(),
            _ => Reserving::new(self).into(),
        }
    }
}

/// Whether the scheduler is Slurm's and plans with estimates alone, so that predictions change no start.
pub fn is_slurm_by_estimates(spec: &Spec) -> bool {
    spec.name() == slurm::FORM.name && spec.text("running") == "estimate"
}

/// Whether the scheduler is Slurm's and does not enforce limits.
pub fn ignores_limits(spec: &Spec) -> bool {
    spec.name() == slurm::FORM.name && spec.text("enforce_limits") == "no"
}

/// Whether the scheduler may stop running jobs on a machine of nodes.
pub fn preempts(spec: &Spec) -> bool {
    spec.name() == slurm::FORM.name && spec.text("preempt") != "off"
}

/// Whether it does so by what the qualities of service say.
pub fn preempts_by_qos(spec: &Spec) -> bool {
    preempts(spec) && spec.text("preempt_type") == "qos"
}

/// Whether the scheduler places jobs on the nodes of a machine that has some.
pub fn places_on_nodes(spec: &Spec) -> bool {
    spec.name() == slurm::FORM.name || takes_placement(spec)
}

/// Whether the scheduler has the key `placement`.
fn takes_placement(spec: &Spec) -> bool {
    let forms = [rules::FCFS, rules::EASY, rules::SJBF, rules::CONSERVATIVE, fair::FORM, exec::FORM];
    forms.iter().any(|form| form.name == spec.name())
}

/// What a scheduler runs on, as far as it decides which keys have an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunsOn {
    /// Nodes, or a pool of processors.
    pub nodes: bool,
    /// Parts of it are out at times.
    pub outages: bool,
}

/// Why the written key of a scheduler has no effect, in words that follow "has no effect". None if it has one, or is the default.
pub fn idle_key(spec: &Spec, key: &str, on: RunsOn) -> Option<&'static str> {
    if is_slurm(spec) {
        return slurm::idle_key(spec, key, on.nodes, on.outages);
    }
    let is_placement = key == "placement" && takes_placement(spec) && rules::placement(spec) != Placement::default();
    (is_placement && !on.nodes).then_some("on a pool of processors, which has no nodes (--machine)")
}

/// Whether the scheduler is Slurm's.
pub fn is_slurm(spec: &Spec) -> bool {
    spec.name() == slurm::FORM.name
}

/// Whether predictions can change which jobs start.
pub fn plans_with_predictions(spec: &Spec) -> bool {
    let in_order_of_arrival = spec.name() == rules::FCFS.name && rules::order(spec, "queue") == Order::Arrival;
    !is_replay(spec) && !is_slurm_by_estimates(spec) && !in_order_of_arrival
}

/// Whether this is the replay of the log's own schedule, which needs the waits in the log.
pub fn is_replay(spec: &Spec) -> bool {
    spec.name() == replay::FORM.name
}
