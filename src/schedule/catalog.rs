//! The list of all schedulers by name.

use super::accounts::LogFacts;
use super::fcfs::Fcfs;
use super::order::Order;
use super::policy::Policy;
use super::replay::{self, Replay};
use super::reserving::Reserving;
use super::rules::{self, Rules};
use super::slurm;
use crate::spec::{Form, Spec, SpecError};

/// Builds the scheduler of a spec for a log. Only `replay` uses the log, for its waits, and `slurm`, for who has a share.
type Build = fn(&Spec, &LogFacts<'_>) -> Box<dyn Policy>;

/// To add a scheduler, add a line here.
const CATALOG: &[(&Form, Build)] = &[
    (&rules::FCFS, |spec, _| match rules::order(spec, "queue") {
        Order::Arrival => Box::new(Fcfs),
        order => Box::new(Reserving::without_backfilling(order)),
    }),
    (&rules::EASY, |spec, _| Rules::of(spec).policy()),
    (&rules::SJBF, |spec, _| Rules::of(spec).policy()),
    (&rules::CONSERVATIVE, |spec, _| Rules::of(spec).policy()),
    (&slurm::FORM, slurm::build),
    (&replay::FORM, |_, log| Box::new(Replay::new(log.recorded_waits()))),
];

/// The names of all schedulers, in the order in which they are listed to users.
pub fn forms() -> Vec<&'static Form> {
    CATALOG.iter().map(|(form, _)| *form).collect()
}

/// Reads a scheduler's spec.
///
/// # Errors
/// If there is no such scheduler, or it has no such key.
pub fn parse(text: &str) -> Result<Spec, SpecError> {
    Spec::parse(text, "scheduler", &forms())
}

/// Builds the policy of a spec, for a log.
///
/// # Panics
/// If [`parse`] did not return the spec.
pub fn build(spec: &Spec, log: &LogFacts<'_>) -> Box<dyn Policy> {
    let entry = CATALOG.iter().find(|(form, _)| form.name == spec.name());
    (entry.expect("a spec of a scheduler").1)(spec, log)
}

/// Whether the scheduler is Slurm's and plans with estimates alone, so that predictions change no start.
pub fn is_slurm_by_estimates(spec: &Spec) -> bool {
    spec.name() == slurm::FORM.name && spec.text("running") == "estimate"
}

/// Whether this is the replay of the log's own schedule, which needs the waits in the log.
pub fn is_replay(spec: &Spec) -> bool {
    spec.name() == replay::FORM.name
}
