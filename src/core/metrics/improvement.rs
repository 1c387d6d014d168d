//! The improvement of a figure over a baseline, in percent.

/// Whether a lower or a higher figure is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// For waits, slowdowns and errors.
    Lower,
    /// For accuracies.
    Higher,
}

impl Better {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Better::Lower => "lower",
            Better::Higher => "higher",
        }
    }

    /// The improvement over a baseline in its unit; positive is better.
    pub fn gain(self, base: f64, run: f64) -> f64 {
        match self {
            Better::Lower => base - run,
            Better::Higher => run - base,
        }
    }

    /// The improvement over a baseline in percent; positive is better. Not finite if the baseline is 0 or one of the two is
    /// NaN.
    pub fn percent(self, base: f64, run: f64) -> f64 {
        self.gain(base, run) / base * 100.0
    }
}

#[cfg(test)]
mod tests {
    use super::Better::{Higher, Lower};

    #[test]
    fn better_is_positive() {
        assert_eq!(Lower.percent(200.0, 150.0), 25.0);
        assert_eq!(Lower.percent(200.0, 300.0), -50.0);
        assert_eq!(Higher.percent(0.25, 0.5), 100.0);
        assert!(!Lower.percent(0.0, 1.0).is_finite());
        assert!(Lower.percent(0.0, 0.0).is_nan());
    }
}
