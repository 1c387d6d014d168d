//! The options of a simulation, and a name for its predictor.

use crate::time::Time;

/// Options of a simulation other than its scheduler and predictor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EngineOptions {
    /// The factor, at least 1, by which the scheduler multiplies predictions. Deadlines and accuracy use the plain
    /// predictions. The "doubling" of Talby et al., section 2.3, is 2.
    pub inflate: f64,
    /// Whether a missed deadline causes a scheduling pass, as arrivals and terminations do.
    pub pass_on_miss: bool,
    /// Whether every job is predicted again when it starts.
    pub predict_at_start: bool,
    /// Whether to keep every prediction that was made ([`super::RunRecord::history`]).
    pub keep_history: bool,
    /// The Unix time of the instant 0, which predictors and policies can read. None if it is not known.
    pub unix_start: Option<Time>,
    /// The submission time of the first job of the log, if the simulation begins with a later job.
    pub first_submission: Option<Time>,
}

impl Default for EngineOptions {
    fn default() -> Self {
        EngineOptions {
            inflate: 1.0,
            pass_on_miss: false,
            predict_at_start: false,
            keep_history: false,
            unix_start: None,
            first_submission: None,
        }
    }
}

/// A predictor with its name.
pub struct Named<T: ?Sized> {
    /// The name in error messages; usually the spec.
    pub name: String,
    /// The predictor itself.
    pub value: Box<T>,
}
