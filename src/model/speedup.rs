//! Downey's model of parallel speedup: how much faster a job runs on several processors than on one.

/// The speedup on `n` processors of a job of average parallelism `a` and variance in parallelism `sigma`.
///
/// Equal to `n` where `sigma` is 0 and `n` is at most `a`, never more than `a`, and 1 on one processor.
///
/// ```
/// use shadowtime::model::speedup;
/// assert_eq!(speedup(8.0, 64.0, 0.0), 8.0);
/// assert_eq!(speedup(1000.0, 64.0, 2.0), 64.0);
/// ```
pub fn speedup(n: f64, a: f64, sigma: f64) -> f64 {
    if sigma <= 1.0 {
        // Downey, section 2.1.1, equation 1: low variance.
        if n <= a {
            a * n / (a + sigma * (n - 1.0) / 2.0)
        } else if n <= 2.0 * a - 1.0 {
            a * n / (sigma * (a - 0.5) + n * (1.0 - sigma / 2.0))
        } else {
            a
        }
    } else {
        // Downey, section 2.1.2, equation 2: high variance.
        let widest = a + a * sigma - sigma;
        if n <= widest { n * a * (sigma + 1.0) / (widest + n * sigma) } else { a }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(x: f64, y: f64) -> bool {
        (x - y).abs() < 1e-9 * y.abs().max(1.0)
    }

    /// The time that a job of this parallelism profile (Downey, figure 1: pieces of duration on unlimited processors, and
    /// processors that each can use) takes on n processors, of the work it does: the speedup by first principles.
    fn by_profile(n: f64, pieces: &[(f64, f64)]) -> f64 {
        let work: f64 = pieces.iter().map(|(duration, wide)| duration * wide).sum();
        let time: f64 = pieces.iter().map(|(duration, wide)| duration * wide / wide.min(n)).sum();
        work / time
    }

    #[test]
    fn speedups_follow_from_the_parallelism_profiles() {
        for a in [1.0, 2.0, 7.0, 64.0] {
            for n in [1.0, 2.0, 3.0, 10.0, 63.0, 64.0, 65.0, 100.0, 127.0, 128.0, 200.0, 1000.0] {
                for sigma in [0.0, 0.3, 1.0] {
                    // Figure 1a: A wide for all but sigma; half of that is sequential, half 2A - 1 wide.
                    let low = [(1.0 - sigma, a), (sigma / 2.0, 1.0), (sigma / 2.0, 2.0 * a - 1.0)];
                    assert!(close(speedup(n, a, sigma), by_profile(n, &low)), "n {n} A {a} sigma {sigma}");
                }
                for sigma in [1.0, 1.5, 2.0, 30.0] {
                    // Figure 1b: sequential for sigma, then A + A sigma - sigma wide for 1.
                    let high = [(sigma, 1.0), (1.0, a + a * sigma - sigma)];
                    assert!(close(speedup(n, a, sigma), by_profile(n, &high)), "n {n} A {a} sigma {sigma}");
                }
            }
        }
    }

    #[test]
    fn the_bounds_of_section_2_1() {
        // Without variance the hardware's limit, then the software's.
        for n in [1.0, 10.0, 64.0, 65.0, 500.0] {
            assert!(close(speedup(n, 64.0, 0.0), f64::min(n, 64.0)));
            // Equation 3: the bound of Eager et al.
            let least = 64.0 * n / (64.0 + n - 1.0);
            assert!((speedup(n, 64.0, 1e9) - least).abs() < 1e-4, "{n}");
        }
    }
}
