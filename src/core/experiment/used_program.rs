//! The programs of other people that a setting starts.

use std::fmt;

use super::options::Options;
use crate::predict;
use crate::program::ProgramSpec;
use crate::schedule;
use crate::spec::Spec;

/// What a program is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProgramRole {
    /// It predicts.
    Predictor,
    /// It schedules.
    Scheduler,
}

impl fmt::Display for ProgramRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ProgramRole::Predictor => "predictor",
            ProgramRole::Scheduler => "scheduler",
        })
    }
}

/// A spec that starts a program.
#[derive(Clone, Debug)]
pub struct UsedProgram {
    /// What the program is for.
    pub role: ProgramRole,
    /// The spec of the predictor or scheduler.
    pub spec: Spec,
}

impl UsedProgram {
    /// The role and the command.
    pub fn command(&self) -> (ProgramRole, String) {
        (self.role, self.spec.text("command").to_string())
    }

    /// Whether it is the program that has started this one.
    pub fn is_caller(&self) -> bool {
        self.role == ProgramRole::Scheduler && ProgramSpec::of(&self.spec).is_caller()
    }

    /// What tells it apart from other programs in folders of finished runs.
    pub fn name(&self) -> String {
        match self.role {
            ProgramRole::Predictor => self.spec.in_full(),
            ProgramRole::Scheduler => format!("scheduler {}", self.spec.in_full()),
        }
    }

    /// A hash that tells versions of the program apart. It is started for that, and ended.
    ///
    /// # Errors
    /// If a file that its command names cannot be read, or if the program does not introduce itself.
    pub fn digest(&self) -> Result<u128, String> {
        match self.role {
            ProgramRole::Predictor => predict::catalog::digest_of_program(&self.spec),
            ProgramRole::Scheduler => schedule::catalog::digest_of_program(&self.spec),
        }
    }
}

impl Options {
    /// The programs that the run and its baseline start.
    pub fn programs(&self) -> Vec<UsedProgram> {
        let predictors = self.predictors().filter(|spec| predict::catalog::program(spec).is_some());
        let schedulers = self.schedulers().filter(|spec| schedule::catalog::program(spec).is_some());
        let used = |role| move |spec: &Spec| UsedProgram { role, spec: spec.clone() };
        predictors.map(used(ProgramRole::Predictor)).chain(schedulers.map(used(ProgramRole::Scheduler))).collect()
    }
}
