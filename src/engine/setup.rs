//! What a simulation is set up with: its options, and its predictor and policy with their names.

/// How a simulation runs, beside its scheduler and predictor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EngineOptions {
    /// Predictions are multiplied by this (at least 1) in the scheduler's own arithmetic; deadlines and accuracy see
    /// the plain ones (the "doubling" of Talby et al., section 2.3, is 2).
    pub inflate: f64,
    /// Schedule after a missed deadline too, not only after arrivals and terminations.
    pub pass_on_miss: bool,
    /// Keep every prediction that was made, not only what the metrics need.
    pub keep_history: bool,
}

impl Default for EngineOptions {
    fn default() -> Self {
        EngineOptions { inflate: 1.0, pass_on_miss: false, keep_history: false }
    }
}

/// A predictor or a policy under the name by which errors call it: its spec.
pub struct Named<T: ?Sized> {
    pub name: String,
    pub value: Box<T>,
}
