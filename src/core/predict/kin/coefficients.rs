//! What each kind of similarity counts, and how that is learned.

/// The coefficients that compare a job with a past job of its user.
pub const SIMILARITIES: usize = 8;
/// The last of these: that of the time between the submissions.
pub const TIME: usize = 7;
/// The coefficient of the ratios of a class.
pub const OF_CLASS: usize = 8;
/// The coefficient of the job's own estimate.
pub const OF_ESTIMATE: usize = 9;
/// All coefficients.
pub const COUNT: usize = 10;

/// For the similarities in the order of [`super::evidence::Evidence::compare`], for the time, then for the class and the estimate.
const START: [f64; COUNT] = [-0.85, 1.2, -0.45, 0.45, -0.6, 0.55, 0.9, -0.2, -2.5, -1.1];

/// The step of a coefficient before it is divided by the root of its squared gradients.
const STEP: f64 = 0.1;

/// The logarithm of a weight is the sum of coefficients times features.
pub struct Coefficients {
    pub values: [f64; COUNT],
    /// 1 and the squares of all gradients so far.
    squares: [f64; COUNT],
}

impl Default for Coefficients {
    fn default() -> Self {
        Coefficients { values: START, squares: [1.0; COUNT] }
    }
}

impl Coefficients {
    /// One step of AdaGrad up these gradients of the likelihood.
    pub fn step(&mut self, gradients: &[f64; COUNT]) {
        for ((value, square), gradient) in self.values.iter_mut().zip(&mut self.squares).zip(gradients) {
            *square += gradient * gradient;
            *value += STEP * gradient / square.sqrt();
        }
    }
}
