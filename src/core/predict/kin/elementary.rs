//! Logarithms and exponentials of whole slices.
//!
//! `kin` takes about a hundred of each per job. These loops have no branches, so the compiler computes several elements at
//! once: several times as fast as `libm::log` and `libm::exp`, which they must equal up to the last digits (tested below).
//! They use only operations that IEEE 754 rounds correctly, so the digits are the same on every platform.

/// ln 2, the first part with so few digits that products with small whole numbers are exact.
const LN2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fee0_0000);
const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// 1.5 * 2^52: the sum with a small number has that number, rounded, in its lowest bits.
const ROUNDING: f64 = 6_755_399_441_055_744.0;
/// Of the exponent in the bits of a float.
const EXPONENT: u32 = 52;
const BIAS: u64 = 1023;
/// exp of anything below is taken as exp of this, which counts as nothing beside exp(-300).
const LEAST: f64 = -700.0;

/// Replaces each x by ln x. Every x must be finite and at least 1.
pub fn ln_all(values: &mut [f64]) {
    // x = 2^k m with m from sqrt(1/2) to sqrt(2).
    const ROOT_OF_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
    const WHOLE: u64 = 0x4330_0000_0000_0000;
    for x in values {
        let bits = x.to_bits();
        let k = bits.wrapping_sub(ROOT_OF_HALF) >> EXPONENT;
        let m = f64::from_bits(bits.wrapping_sub(k << EXPONENT));
        // k as a float: 2^52 + k, less 2^52.
        let k = f64::from_bits(WHOLE | k) - f64::from_bits(WHOLE);
        // ln m = 2 artanh s = 2 (s + s^3/3 + s^5/5 + ...), with s^2 < 0.0295.
        let s = (m - 1.0) / (m + 1.0);
        let z = s * s;
        let mut series = 1.0 / 21.0;
        for odd in [19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0] {
            series = series * z + 1.0 / odd;
        }
        *x = k * LN2_HIGH + (2.0 * s + (2.0 * s * z * series + k * LN2_LOW));
    }
}

/// Replaces each x by exp x. Every x must be below 700.
pub fn exp_all(values: &mut [f64]) {
    // 1/n! from n = 13 down to 2.
    const FACTORIALS: [f64; 12] = [
        1.0 / 6_227_020_800.0,
        1.0 / 479_001_600.0,
        1.0 / 39_916_800.0,
        1.0 / 3_628_800.0,
        1.0 / 362_880.0,
        1.0 / 40_320.0,
        1.0 / 5_040.0,
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        1.0 / 2.0,
    ];
    for x in values {
        let least = if *x < LEAST { LEAST } else { *x };
        // x = k ln 2 + r with |r| <= ln 2 / 2.
        let rounded = least * std::f64::consts::LOG2_E + ROUNDING;
        let k = rounded - ROUNDING;
        let r = (least - k * LN2_HIGH) - k * LN2_LOW;
        let mut series = FACTORIALS[0];
        for factor in &FACTORIALS[1..] {
            series = series * r + factor;
        }
        let power = f64::from_bits(rounded.to_bits().wrapping_add(BIAS) << EXPONENT);
        *x = (1.0 + (r + r * r * series)) * power;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest error beside libm, relative to the result.
    fn worst(values: impl Iterator<Item = f64>, all: fn(&mut [f64]), one: fn(f64) -> f64) -> f64 {
        let values: Vec<f64> = values.collect();
        let mut found = values.clone();
        all(&mut found);
        let error = |(found, x): (&f64, &f64)| match one(*x) {
            0.0 => found.abs(),
            expected => (found / expected - 1.0).abs(),
        };
        found.iter().zip(&values).map(error).fold(0.0, f64::max)
    }

    #[test]
    fn the_digits_are_those_of_libm() {
        // Every second up to a day as `1 + seconds / 60`, and from there on in steps up to 2,000 years.
        let times = (0..86_400).map(|seconds| 1.0 + f64::from(seconds) / 60.0);
        let long = (0..40_000).map(|step| 1440.0 * 1.000_33_f64.powi(step));
        assert!(worst(times.chain(long), ln_all, libm::log) < 4e-16);
        let weights = (-600_000..600_000).map(|step| f64::from(step) / 1000.0 + 1e-7);
        assert!(worst(weights, exp_all, libm::exp) < 4e-16);
    }

    #[test]
    fn the_ends_of_the_ranges() {
        let mut ones = [1.0, f64::MAX];
        ln_all(&mut ones);
        assert!(ones[0] == 0.0 && (ones[1] - libm::log(f64::MAX)).abs() < 1e-12);
        let mut ends = [0.0, -700.0, -1e300, f64::NEG_INFINITY, -0.0];
        exp_all(&mut ends);
        assert_eq!([ends[0], ends[4]], [1.0, 1.0]);
        assert!(ends[1..4].iter().all(|&end| end > 0.0 && end < 1e-303));
    }
}
