//! All predictors by name: the only place that knows them all.

use super::constant::{self, Constant};
use super::downey::{self, Downey};
use super::estimate::{self, Estimate};
use super::gibbons::{self, Gibbons};
use super::perfect::{self, Perfect};
use super::predictor::Predictor;
use super::ruh::{self, Ruh};
use super::sbh::{self, Sbh};
use super::smith::{self, Smith};
use super::template_file::with_file_read;
use crate::job::Job;
use crate::spec::{Form, Spec, SpecError};

/// How a predictor is built.
enum Build {
    /// From its spec alone: what it will know, it learns from events.
    FromSpec(fn(&Spec) -> Box<dyn Predictor>),
    /// From the truth as well: an oracle, which no real machine could have.
    FromTruth(fn(&Spec, &[Job]) -> Box<dyn Predictor>),
}

use Build::{FromSpec, FromTruth};

/// A new predictor is one line here.
const CATALOG: &[(&Form, Build)] = &[
    (&perfect::FORM, FromTruth(|_, jobs| Box::new(Perfect::new(jobs)))),
    (&constant::FORM, FromSpec(|spec| Box::new(Constant::new(spec)))),
    (&estimate::FORM, FromSpec(|_| Box::new(Estimate))),
    (&ruh::FORM, FromSpec(|spec| Box::new(Ruh::new(spec)))),
    (&ruh::EASY_PLUS_PLUS, FromSpec(|_| Box::new(Ruh::easy_plus_plus()))),
    (&sbh::SBH, FromSpec(|spec| Box::new(Sbh::new(spec)))),
    (&sbh::SBH_NOEST, FromSpec(|spec| Box::new(Sbh::without_estimates(spec)))),
    (&smith::FORM, FromSpec(|spec| Box::new(Smith::new(spec)))),
    (&gibbons::FORM, FromSpec(|spec| Box::new(Gibbons::new(spec)))),
    (&downey::FORM, FromSpec(|spec| Box::new(Downey::new(spec)))),
];

/// What may be written for a predictor, in the catalog's order.
pub fn forms() -> Vec<&'static Form> {
    CATALOG.iter().map(|(form, _)| *form).collect()
}

/// Reads a predictor's spec; printing it gives the text back.
pub fn parse(text: &str) -> Result<Spec, SpecError> {
    Spec::parse(&with_file_read(text)?, "predictor", &forms())
}

/// Builds the predictor of a spec that [`parse`] gave, for these jobs.
pub fn build(spec: &Spec, jobs: &[Job]) -> Box<dyn Predictor> {
    let entry = CATALOG.iter().find(|(form, _)| form.name == spec.name());
    match &entry.expect("a spec of a predictor").1 {
        FromSpec(build) => build(spec),
        FromTruth(build) => build(spec, jobs),
    }
}

/// Whether a predictor is given the runtimes when it is built: whoever does not know yet which jobs will come cannot build
/// it.
pub fn is_oracle(spec: &Spec) -> bool {
    CATALOG.iter().any(|(form, build)| form.name == spec.name() && matches!(build, FromTruth(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_is_a_value_its_key_accepts_and_prints_the_same() {
        for form in forms() {
            for key in form.keys {
                let text = format!("{}:{}={}", form.name, key.name, key.default);
                let spec = parse(&text).unwrap_or_else(|error| panic!("{error}"));
                assert_eq!(spec.to_string(), form.name, "{text}");
            }
            build(&parse(form.name).unwrap(), &[]);
        }
    }

    #[test]
    fn names_are_unique_and_plain() {
        let mut names: Vec<_> = forms().iter().map(|form| form.name).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(names.iter().all(|name| !name.contains([':', ',', '=', '/', ' '])));
    }
}
