//! How much better a run is than a baseline, in percent.

use super::summary::Summary;

/// Improvements over a baseline; positive is better. None where the baseline is 0, or a metric is not defined.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Improvement {
    pub wait: Option<f64>,
    pub bsld: Option<f64>,
    pub ai: Option<f64>,
    pub ra: Option<f64>,
}

impl Improvement {
    pub fn over(base: &Summary, run: &Summary) -> Improvement {
        Improvement {
            wait: lower_is_better(base.wait_mean, run.wait_mean),
            bsld: lower_is_better(base.bsld_mean, run.bsld_mean),
            ai: lower_is_better(base.ai_mean, run.ai_mean),
            ra: higher_is_better(base.ra_mean, run.ra_mean),
        }
    }
}

fn lower_is_better(base: f64, run: f64) -> Option<f64> {
    defined((base - run) / base * 100.0)
}

fn higher_is_better(base: f64, run: f64) -> Option<f64> {
    defined((run - base) / base * 100.0)
}

fn defined(percent: f64) -> Option<f64> {
    percent.is_finite().then_some(percent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn better_is_positive() {
        assert_eq!(lower_is_better(200.0, 150.0), Some(25.0));
        assert_eq!(lower_is_better(200.0, 300.0), Some(-50.0));
        assert_eq!(higher_is_better(0.25, 0.5), Some(100.0));
        assert_eq!(lower_is_better(0.0, 1.0), None);
        assert_eq!(lower_is_better(0.0, 0.0), None);
    }
}
