//! Whether a claim of a paper holds, and whether the result is more than chance.

/// What a paper claims about a number.
#[derive(Clone, Copy, Debug)]
pub enum Claim {
    /// The number is above this bound.
    Above(f64),
    /// The number is below this bound.
    Below(f64),
    /// The number is above 0. The size of the gain is printed next to the published size and not checked here.
    Gain,
    /// No claim: there is nothing to check.
    None,
}

/// Says in words whether a claim holds for the measured number, and whether that is more than chance.
///
/// `interval` is the confidence interval of the mean over replications; None for a single run. The text is empty for
/// [`Claim::None`].
pub fn verdict(claim: Claim, measured: f64, interval: Option<(f64, f64)>) -> String {
    let (bound, sign) = match claim {
        Claim::Above(bound) => (bound, 1.0),
        Claim::Below(bound) => (bound, -1.0),
        Claim::Gain => (0.0, 1.0),
        Claim::None => return String::new(),
    };
    let (yes, no) = match claim {
        Claim::Gain => ("a gain", "no gain"),
        _ => ("holds", "does not hold"),
    };
    // All of the interval, some of it, or none of it may be on the claimed side of the bound.
    match interval {
        None if (measured - bound) * sign > 0.0 => format!("{yes} in this one run"),
        None => format!("{no} in this one run"),
        Some((low, high)) => {
            let (worst, best) = if sign > 0.0 { (low - bound, high - bound) } else { (bound - high, bound - low) };
            match (worst > 0.0, best < 0.0) {
                (true, _) => format!("{yes} beyond noise"),
                (_, true) => format!("{no}, beyond noise"),
                _ => "within noise".to_string(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_look_at_the_whole_interval() {
        assert_eq!(verdict(Claim::Gain, 3.0, Some((1.0, 5.0))), "a gain beyond noise");
        assert_eq!(verdict(Claim::Gain, 3.0, Some((-1.0, 7.0))), "within noise");
        assert_eq!(verdict(Claim::Gain, -3.0, Some((-5.0, -1.0))), "no gain, beyond noise");
        assert_eq!(verdict(Claim::Above(90.0), 60.0, Some((55.0, 65.0))), "does not hold, beyond noise");
        assert_eq!(verdict(Claim::Below(0.0), -3.0, Some((-5.0, -1.0))), "holds beyond noise");
        assert_eq!(verdict(Claim::Below(50.0), 60.0, None), "does not hold in this one run");
        assert_eq!(verdict(Claim::None, 60.0, None), "");
    }
}
