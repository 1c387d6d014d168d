//! All schedulers by name: the only place that knows them all.

use super::conservative::{self, Conservative};
use super::easy::{self, Easy, ScanOrder};
use super::fcfs::{self, Fcfs};
use super::policy::Policy;
use super::replay::{self, Replay};
use crate::job::Job;
use crate::spec::{Form, Spec, SpecError};

/// A new scheduler is one line here. (Only `replay` reads the jobs: the log's own waits.)
type Build = fn(&[Job]) -> Box<dyn Policy>;
const CATALOG: &[(&Form, Build)] = &[
    (&fcfs::FORM, |_| Box::new(Fcfs)),
    (&easy::EASY, |_| Box::new(Easy::new(ScanOrder::Arrival))),
    (&easy::SJBF, |_| Box::new(Easy::new(ScanOrder::ShortestPrediction))),
    (&conservative::FORM, |_| Box::new(Conservative::default())),
    (&replay::FORM, |jobs| Box::new(Replay::new(jobs))),
];

/// What may be written for a scheduler, in the catalog's order.
pub fn forms() -> Vec<&'static Form> {
    CATALOG.iter().map(|(form, _)| *form).collect()
}

/// Reads a scheduler's spec; printing it gives the text back.
pub fn parse(text: &str) -> Result<Spec, SpecError> {
    Spec::parse(text, "scheduler", &forms())
}

/// Builds the policy of a spec that [`parse`] gave, for these jobs.
pub fn build(spec: &Spec, jobs: &[Job]) -> Box<dyn Policy> {
    let entry = CATALOG.iter().find(|(form, _)| form.name == spec.name());
    (entry.expect("a spec of a scheduler").1)(jobs)
}

/// Whether this is the replay of the log's own schedule, which asks more of the log: its waits.
pub fn is_replay(spec: &Spec) -> bool {
    spec.name() == replay::FORM.name
}
