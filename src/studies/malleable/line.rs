//! The line through predicted and actual queue times in log space: it shows how good predictions are, and corrects them
//! (Downey, section 5.4).

use crate::model::SHORTEST_QUEUE_TIME;

/// ln actual = intercept + slope ln predicted, in natural logarithms of seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CorrectionLine {
    /// Below 1 if long queue times are predicted too long.
    pub slope: f64,
    /// The logarithm of the actual time where one second is predicted.
    pub intercept: f64,
}

impl CorrectionLine {
    /// The corrected prediction of a queue time in seconds: p_corr = p beta1 + beta0, p the logarithm of the
    /// prediction.
    pub fn correct(&self, time: f64) -> f64 {
        libm::exp(self.slope * libm::log(time) + self.intercept)
    }

    /// The prediction that is corrected to this time; infinite if the line does not rise.
    pub fn uncorrect(&self, time: f64) -> f64 {
        match time {
            never if never <= 0.0 => 0.0,
            _ if self.slope <= 0.0 => f64::INFINITY,
            time => libm::exp((libm::log(time) - self.intercept) / self.slope),
        }
    }
}

/// The statistics of pairs of predicted and actual times.
#[derive(Clone, Debug, Default)]
pub struct Scatter {
    count: u64,
    mean: (f64, f64),
    /// Sums of squared deviations, and of their products.
    xx: f64,
    yy: f64,
    xy: f64,
}

impl Scatter {
    /// Adds a pair, in seconds. Like predictions, actual times count as at least one second: the logarithm of a
    /// microsecond would outweigh a hundred other pairs.
    pub fn add(&mut self, predicted: f64, actual: f64) {
        let (x, y) = (libm::log(predicted.max(SHORTEST_QUEUE_TIME)), libm::log(actual.max(SHORTEST_QUEUE_TIME)));
        self.count += 1;
        let n = self.count as f64;
        let (dx, dy) = (x - self.mean.0, y - self.mean.1);
        self.mean = (self.mean.0 + dx / n, self.mean.1 + dy / n);
        self.xx += dx * (x - self.mean.0);
        self.yy += dy * (y - self.mean.1);
        self.xy += dx * (y - self.mean.1);
    }

    /// The number of pairs.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The least-squares line of actual on predicted; None if all predictions are equal.
    pub fn line(&self) -> Option<CorrectionLine> {
        let slope = self.xy / self.xx;
        (self.xx > 0.0).then_some(CorrectionLine { slope, intercept: self.mean.1 - slope * self.mean.0 })
    }

    /// The coefficient of correlation; None if all predicted or all actual times are equal.
    pub fn correlation(&self) -> Option<f64> {
        (self.xx > 0.0 && self.yy > 0.0).then(|| self.xy / (self.xx * self.yy).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: x = 0, 1, 2, 3 and y = 1, 1, 3, 3 have means 1.5 and 2, sums of squares 5 and 4, and a sum of products
    /// of 4. So the slope is 0.8, the intercept 0.8 and the correlation 4 / sqrt(20).
    #[test]
    fn least_squares() {
        let mut scatter = Scatter::default();
        assert_eq!((scatter.line(), scatter.correlation()), (None, None));
        for (x, y) in [(0.0, 1.0), (1.0, 1.0), (2.0, 3.0), (3.0, 3.0)] {
            scatter.add(f64::exp(x), f64::exp(y));
        }
        let line = scatter.line().unwrap();
        assert!((line.slope - 0.8).abs() < 1e-12 && (line.intercept - 0.8).abs() < 1e-12);
        assert!((scatter.correlation().unwrap() - 4.0 / 20f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn corrections_go_both_ways() {
        // The paper's line: e^4.25 seconds are predicted well, an hour is far too long.
        let line = CorrectionLine { slope: 0.6, intercept: 1.7 };
        let fixed = 4.25f64.exp();
        assert!((line.correct(fixed) / fixed - 1.0).abs() < 1e-12);
        assert!(line.correct(3600.0) < 800.0);
        for time in [1.0, 70.0, 3600.0] {
            assert!((line.correct(line.uncorrect(time)) / time - 1.0).abs() < 1e-12);
        }
        assert_eq!(line.uncorrect(-3.0), 0.0);
    }
}
