//! The list of all schedulers by name.

use super::fcfs::Fcfs;
use super::order::Order;
use super::policy::Policy;
use super::replay::{self, Replay};
use super::reserving::Reserving;
use super::rules::{self, Rules};
use super::slurm;
use crate::job::Job;
use crate::spec::{Form, Spec, SpecError};

/// Builds the scheduler of a spec for these jobs. Only `replay` reads them, for the waits in the log, and `slurm`, for the users
/// with a share.
type Build = fn(&Spec, &[Job]) -> Box<dyn Policy>;

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
    (&replay::FORM, |_, jobs| Box::new(Replay::new(jobs))),
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

/// Builds the policy of a spec, for these jobs.
///
/// # Panics
/// If [`parse`] did not return the spec.
pub fn build(spec: &Spec, jobs: &[Job]) -> Box<dyn Policy> {
    let entry = CATALOG.iter().find(|(form, _)| form.name == spec.name());
    (entry.expect("a spec of a scheduler").1)(spec, jobs)
}

/// Whether the scheduler is Slurm's and plans with estimates alone, so that predictions change no start.
pub fn is_slurm_by_estimates(spec: &Spec) -> bool {
    spec.name() == slurm::FORM.name && spec.text("running") == "estimate"
}

/// Whether this is the replay of the log's own schedule, which needs the waits in the log.
pub fn is_replay(spec: &Spec) -> bool {
    spec.name() == replay::FORM.name
}
