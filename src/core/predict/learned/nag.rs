//! A linear model that is learned online with normalized adaptive gradients: Ross, Mineiro and Langford, "Normalized
//! online learning", UAI 2013, Algorithm 3, as the authors of the predictor have it.

use super::features::FEATURES;

/// The start of scales and sums that are divided by.
const TINY: f64 = 1e-9;

/// What an error costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// The square of what a prediction is too long by, or the amount that it is too short by, times 1 + ln area.
    E,
    /// The square of the error.
    Squared,
    /// The amount of the error.
    Absolute,
}

impl Loss {
    /// The derivative of the loss by the prediction.
    fn slope(self, error: f64, runtime: f64, procs: f64) -> f64 {
        match self {
            Loss::E => (if error > 0.0 { 2.0 * error } else { -1.0 }) * (1.0 + libm::log(runtime * procs)),
            Loss::Squared => 2.0 * error,
            Loss::Absolute if error == 0.0 => 0.0,
            Loss::Absolute => error.signum(),
        }
    }
}

/// The model. All arrays are by feature.
pub struct Nag {
    loss: Loss,
    eta: f64,
    lambda: f64,
    weights: [f64; FEATURES],
    /// The largest amount of each feature.
    scales: [f64; FEATURES],
    /// The sums of squared gradients.
    squares: [f64; FEATURES],
    /// The sum of squared features, each divided by its scale.
    norm: f64,
    /// 1, 3, 5, ...: the authors' program counts each step twice.
    count: f64,
}

impl Nag {
    pub fn new(loss: Loss, eta: f64, lambda: f64) -> Nag {
        Nag {
            loss,
            eta,
            lambda,
            weights: [0.0; FEATURES],
            scales: [TINY; FEATURES],
            squares: [TINY; FEATURES],
            norm: TINY,
            count: 1.0,
        }
    }

    /// The value of the model for these features.
    pub fn value(&self, features: &[f64; FEATURES]) -> f64 {
        self.weights.iter().zip(features).fold(0.0, |sum, (weight, feature)| sum + weight * feature)
    }

    /// One step towards the runtime of a job with these features.
    pub fn learn(&mut self, features: &[f64; FEATURES], runtime: f64, procs: f64) {
        let mut sum = 0.0;
        for ((&x, weight), scale) in features.iter().zip(&mut self.weights).zip(&mut self.scales) {
            let amount = x.abs();
            if amount > *scale {
                *weight *= *scale / amount;
                *scale = amount;
            }
            sum += x * x / (*scale * *scale);
        }
        self.norm += sum;
        let slope = self.loss.slope(self.value(features) - runtime, runtime, procs);
        let of_feature = self.weights.iter_mut().zip(&mut self.squares).zip(&self.scales);
        for (&x, ((weight, square), scale)) in features.iter().zip(of_feature) {
            let gradient = slope * x + self.lambda * *weight;
            *square += gradient * gradient;
            *weight -= self.eta * gradient / ((self.norm * *square / self.count).sqrt() * scale);
        }
        self.count += 2.0;
    }
}
