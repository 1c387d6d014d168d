//! Downey's model of speedup on several processors, given a job's average parallelism and its variance in parallelism.
//!
//! Source: A. B. Downey, "Using queue time predictions for processor allocation", section 2.1 (there from his "A model
//! for speedup of parallel programs").

/// The speedup on `n` processors of a job with average parallelism `a` (both at least 1) and variance in parallelism
/// `sigma` (at least 0, about the square of the coefficient of variation). Never more than `n` or `a`.
///
/// The models for low and for high variance agree if `sigma` is 1.
///
/// ```
/// # extern crate shadowtime_core as shadowtime;
/// use shadowtime::model::speedup;
/// assert_eq!(speedup(1.0, 64.0, 0.5), 1.0);
/// assert_eq!(speedup(32.0, 64.0, 0.0), 32.0);
/// assert_eq!(speedup(128.0, 64.0, 0.5), 64.0);
/// ```
pub fn speedup(n: f64, a: f64, sigma: f64) -> f64 {
    if sigma <= 1.0 { low_variance(n, a, sigma) } else { high_variance(n, a, sigma) }
}

/// Downey, equation 1: the parallelism is A except for a share sigma of the time.
fn low_variance(n: f64, a: f64, sigma: f64) -> f64 {
    if n <= a {
        a * n / (a + sigma * (n - 1.0) / 2.0)
    } else if n <= 2.0 * a - 1.0 {
        a * n / (sigma * (a - 0.5) + n * (1.0 - sigma / 2.0))
    } else {
        a
    }
}

/// Downey, equation 2: a sequential part of length sigma, a parallel part of length 1.
fn high_variance(n: f64, a: f64, sigma: f64) -> f64 {
    let widest = a + a * sigma - sigma;
    if n <= widest { n * a * (sigma + 1.0) / (widest + n * sigma) } else { a }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARALLELISMS: [f64; 6] = [1.0, 1.5, 2.0, 7.0, 64.0, 128.0];
    const SIGMAS: [f64; 9] = [0.0, 0.1, 0.5, 0.99, 1.0, 1.01, 1.5, 2.0, 50.0];

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-12 * a.abs().max(b.abs())
    }

    #[test]
    fn one_processor_is_the_unit() {
        for a in PARALLELISMS {
            for sigma in SIGMAS {
                assert!(close(speedup(1.0, a, sigma), 1.0), "{a} {sigma}");
            }
        }
    }

    #[test]
    fn the_pieces_meet() {
        for a in PARALLELISMS {
            for sigma in SIGMAS {
                for at in [a, 2.0 * a - 1.0, a + a * sigma - sigma] {
                    let (below, above) = ((at * (1.0 - 1e-9)).max(1.0), at * (1.0 + 1e-9));
                    let (left, right) = (speedup(below, a, sigma), speedup(above, a, sigma));
                    assert!((left - right).abs() <= 1e-8 * a, "{a} {sigma} at {at}: {left} and {right}");
                }
            }
        }
    }

    #[test]
    fn beyond_all_its_parallelism_a_job_has_a() {
        for a in PARALLELISMS {
            for sigma in SIGMAS {
                let widest = if sigma <= 1.0 { 2.0 * a - 1.0 } else { a + a * sigma - sigma };
                for n in [widest, widest * 1.5, widest * 1000.0] {
                    assert!(close(speedup(n, a, sigma), a), "{a} {sigma} on {n}");
                }
                assert!(speedup(widest * 0.9, a, sigma) <= a);
            }
        }
    }

    /// Section 2.1: bound at first by the hardware (linear speedup), then by the software (A).
    #[test]
    fn without_variance_only_hardware_and_software_limit() {
        for a in PARALLELISMS {
            for n in 1..300 {
                let n = f64::from(n);
                assert!(close(speedup(n, a, 0.0), n.min(a)), "{a} on {n}");
            }
        }
    }

    #[test]
    fn both_models_are_one_where_sigma_is_one() {
        for a in PARALLELISMS {
            for n in 1..300 {
                let n = f64::from(n);
                assert!(close(low_variance(n, a, 1.0), high_variance(n, a, 1.0)), "{a} on {n}");
            }
        }
    }

    /// Equation 3: as sigma grows the curve falls to the bound of Eager et al., and it never crosses it.
    #[test]
    fn the_bounds_of_speedup_hold() {
        for a in PARALLELISMS {
            for n in 1..300 {
                let n = f64::from(n);
                let least = a * n / (a + n - 1.0);
                assert!((speedup(n, a, 1e12) - least).abs() < 1e-6 * least, "{a} on {n}");
                let mut last = f64::INFINITY;
                for sigma in SIGMAS {
                    let s = speedup(n, a, sigma);
                    assert!(s <= n.min(a) * (1.0 + 1e-12) && s >= least * (1.0 - 1e-12) && s <= last * (1.0 + 1e-12));
                    assert!(speedup(n + 1.0, a, sigma) >= s * (1.0 - 1e-12), "more processors never slow a job down");
                    last = s;
                }
            }
        }
    }

    /// By hand: A = 64, n = 32. sigma 0.5: 64 x 32 / (64 + 0.5 x 31 / 2). sigma 2: 32 x 64 x 3 / (190 + 64).
    #[test]
    fn worked_by_hand() {
        assert!(close(speedup(32.0, 64.0, 0.5), 2048.0 / 71.75));
        assert!(close(speedup(100.0, 64.0, 0.5), 6400.0 / (31.75 + 75.0)));
        assert!(close(speedup(32.0, 64.0, 2.0), 6144.0 / 254.0));
    }

    fn near(x: f64, y: f64) -> bool {
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
                    assert!(near(speedup(n, a, sigma), by_profile(n, &low)), "n {n} A {a} sigma {sigma}");
                }
                for sigma in [1.0, 1.5, 2.0, 30.0] {
                    // Figure 1b: sequential for sigma, then A + A sigma - sigma wide for 1.
                    let high = [(sigma, 1.0), (1.0, a + a * sigma - sigma)];
                    assert!(near(speedup(n, a, sigma), by_profile(n, &high)), "n {n} A {a} sigma {sigma}");
                }
            }
        }
    }
}
