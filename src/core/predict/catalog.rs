//! The list of all predictors by name.
//!
//! A program of another crate can add its own with [`extend`], before it parses the first spec.

use std::sync::Arc;

use super::constant::{self, Constant};
use super::downey::{self, DowneyPredictor};
use super::estimate::{self, Estimate};
use super::exec::{self, ExecPredictor};
use super::gibbons::{self, Gibbons};
use super::given::{self, GivenPredictor, GivenTable};
use super::kin::{self, Kin};
use super::learned::{self, LearnedPredictor};
use super::perfect::{self, Perfect};
use super::predictor::Predictor;
use super::ruh::{self, Ruh};
use super::sbh::{self, Sbh};
use super::smith::{self, Smith, with_file_read};
use crate::program::check_spec;
use crate::spec::{Catalog, Form, Spec, SpecError};

/// One predictor of the catalog: what may be written, and the function that builds the predictor from a spec of that
/// form. A predictor gets all its knowledge of jobs from events, so the spec is all that it is built from.
pub type Entry = (&'static Form, BuildPredictor);

type BuildPredictor = fn(&Spec) -> Box<dyn Predictor>;

/// To add a predictor, add a line here.
const CATALOG: &[Entry] = &[
    (&perfect::FORM, |_| Box::new(Perfect)),
    (&constant::FORM, |spec| Box::new(Constant::new(spec))),
    (&estimate::FORM, |_| Box::new(Estimate)),
    (&ruh::FORM, |spec| Box::new(Ruh::new(spec))),
    (&ruh::EASY_PLUS_PLUS, |_| Box::new(Ruh::easy_plus_plus())),
    (&sbh::SBH, |spec| Box::new(Sbh::new(spec))),
    (&sbh::SBH_NOEST, |spec| Box::new(Sbh::without_estimates(spec))),
    (&smith::FORM, |spec| Box::new(Smith::new(spec))),
    (&gibbons::FORM, |spec| Box::new(Gibbons::new(spec))),
    (&downey::FORM, |spec| Box::new(DowneyPredictor::new(spec))),
    (&kin::FORM, |spec| Box::new(Kin::new(spec))),
    (&learned::FORM, |spec| Box::new(LearnedPredictor::new(spec))),
    (&given::FORM, |spec| Box::new(GivenPredictor::new(spec))),
    (&exec::FORM, |spec| Box::new(ExecPredictor::new(spec))),
];

static PREDICTORS: Catalog<BuildPredictor> = Catalog::new("predictor", CATALOG);

/// Adds predictors of another crate, for the whole process. Call it once, before anything else of this crate.
///
/// # Errors
/// As [`Catalog::extend`].
pub fn extend(predictors: &'static [Entry]) -> Result<(), SpecError> {
    PREDICTORS.extend(predictors)
}

/// Whether its predictions are the runtimes themselves, which no job outlives.
pub fn is_perfect(spec: &Spec) -> bool {
    spec.name() == "perfect"
}

/// The names and keys of all predictors, in the order in which they are listed to users.
pub fn forms() -> Vec<&'static Form> {
    PREDICTORS.forms()
}

/// The predictor of every command that names none. On 13 logs of the archive (the first 100,000 jobs of the five longest)
/// `sjbf` with it has 0.60 times the mean bounded slowdown of `easy/estimate` (geometric mean; `sbh` 0.62, `ruh` 0.64,
/// `easy++` 0.69) and 0.78 times its mean wait, and on no log more than 1.006 times either.
pub const DEFAULT: &str = kin::FORM.name;

/// Reads a predictor's spec. `templates=@file` is replaced by the templates in that file.
///
/// # Errors
/// If the name, a key or a value is unknown, the file of templates cannot be read, `exec` has no command, or the
/// table of `given` cannot be read.
pub fn parse(text: &str) -> Result<Spec, SpecError> {
    let spec = PREDICTORS.parse(&with_file_read(text)?)?;
    program(&spec).map_or(Ok(()), |_| check_spec(&spec, &exec::FORM, "predictor"))?;
    if spec.name() == given::FORM.name {
        given::check(&spec)?;
    }
    Ok(spec)
}

/// The command of the program that a predictor starts. None for a predictor that starts none.
pub fn program(spec: &Spec) -> Option<&str> {
    (spec.name() == exec::FORM.name).then(|| spec.text("command"))
}

/// The table of predictions that a predictor reads. None for a predictor that reads none.
pub fn table(spec: &Spec) -> Option<Arc<GivenTable>> {
    (spec.name() == given::FORM.name).then(|| GivenTable::of(spec).ok())?
}

/// Whether a predictor finds similar past jobs by their users.
pub fn needs_users(spec: &Spec) -> bool {
    let forms =
        [&ruh::FORM, &ruh::EASY_PLUS_PLUS, &sbh::SBH, &sbh::SBH_NOEST, &gibbons::FORM, &kin::FORM, &learned::FORM];
    forms.iter().any(|form| form.name == spec.name()) || (spec.name() == smith::FORM.name && Smith::needs_users(spec))
}

/// A hash that tells versions of the program of a predictor apart: of the files that its command names, and of the version
/// that it reports. The program is started for that, and ended.
///
/// # Errors
/// If a file cannot be read, or the program does not introduce itself.
///
/// # Panics
/// If the predictor starts no program.
pub fn digest_of_program(spec: &Spec) -> Result<u128, String> {
    exec::digest(spec)
}

/// Builds the predictor of a spec.
///
/// # Panics
/// If [`parse`] did not return the spec.
pub fn build(spec: &Spec) -> Box<dyn Predictor> {
    PREDICTORS.builder(spec)(spec)
}

/// Whether the predictor gets the runtimes of jobs at their arrival, which is impossible on a real machine.
pub fn is_oracle(spec: &Spec) -> bool {
    build(spec).as_oracle().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_is_a_value_its_key_accepts_and_prints_the_same() {
        // A program or a table is required.
        for form in forms().into_iter().filter(|form| !["exec", "given"].contains(&form.name)) {
            for key in form.keys {
                let text = format!("{}:{}={}", form.name, key.name, key.default);
                let spec = parse(&text).unwrap_or_else(|error| panic!("{error}"));
                assert_eq!(spec.to_string(), form.name, "{text}");
            }
            build(&parse(form.name).unwrap());
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
