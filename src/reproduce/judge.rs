//! Does a published figure or claim hold, and is that more than chance?

/// What a claim says of a number, so that it can be seen whether it holds beyond noise.
#[derive(Clone, Copy, Debug)]
pub enum Claim {
    Above(f64),
    Below(f64),
    /// That there is a gain at all; its size stands beside the published one.
    Gain,
    /// Nothing that could hold or not.
    None,
}

/// Where a published number lies that ours is more than two points away from.
pub fn distance(published: &str, measured: f64, interval: Option<(f64, f64)>) -> String {
    match (published.parse::<f64>(), interval) {
        (Ok(published), _) if (published - measured).abs() <= 2.0 => String::new(),
        (Ok(published), Some((low, high))) if published >= low && published <= high => {
            "published lies within the interval".to_string()
        }
        (Ok(_), Some(_)) => "published lies outside the interval".to_string(),
        _ => String::new(),
    }
}

/// Whether a claim holds, and whether that is more than chance.
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
    // The claimed side may have all of the interval, some of it, or nothing.
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

    #[test]
    fn larger_differences_are_placed() {
        assert_eq!(distance("22", 21.2, Some((15.0, 18.0))), "");
        assert_eq!(distance("5", -2.0, Some((1.0, 5.5))), "published lies within the interval");
        assert_eq!(distance("5", -2.0, Some((-3.0, 1.0))), "published lies outside the interval");
        assert_eq!(distance(">90", 50.0, Some((40.0, 60.0))), "");
    }
}
