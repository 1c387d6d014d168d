//! The weighted power mean: (sum w v^p / sum w)^(1/p).

/// A smaller power gives the geometric mean to the last digit that matters, and the formula itself loses its digits.
const LEAST: f64 = 1e-9;
/// Powers of values up to e^this are far from overflow.
const LARGEST: f64 = 600.0;

/// A kind of power mean. Square roots and products have the same digits on every platform; the others come from libm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PowerMean {
    /// Power 1/2.
    Root,
    /// Power 1.
    Arithmetic,
    /// Any other power.
    Power(f64),
    /// The limit of small powers.
    Geometric,
}

impl PowerMean {
    pub fn new(power: f64) -> PowerMean {
        match power {
            0.5 => PowerMean::Root,
            1.0 => PowerMean::Arithmetic,
            power if power < LEAST => PowerMean::Geometric,
            power => PowerMean::Power(power),
        }
    }

    /// The unit in which values up to `largest` are raised: 1, unless their powers would overflow.
    pub fn unit(self, largest: f64, ln_largest: f64) -> f64 {
        match self {
            PowerMean::Power(power) if power * ln_largest > LARGEST => largest,
            _ => 1.0,
        }
    }

    /// What is averaged for a value.
    pub fn raise(self, value: f64) -> f64 {
        match self {
            PowerMean::Root => value.sqrt(),
            PowerMean::Arithmetic => value,
            PowerMean::Power(power) => libm::pow(value, power),
            PowerMean::Geometric => libm::log(value),
        }
    }

    /// Replaces each value by what is averaged for it.
    pub fn raise_all(self, values: &mut [f64]) {
        match self {
            // Separate loops, so that the compiler can take several values at once.
            PowerMean::Root => values.iter_mut().for_each(|value| *value = value.sqrt()),
            PowerMean::Arithmetic => {}
            _ => values.iter_mut().for_each(|value| *value = self.raise(*value)),
        }
    }

    /// The reverse of `raise`.
    pub fn lower(self, mean: f64) -> f64 {
        match self {
            PowerMean::Root => mean * mean,
            PowerMean::Arithmetic => mean,
            PowerMean::Power(power) => libm::pow(mean, 1.0 / power),
            PowerMean::Geometric => libm::exp(mean),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mean of 100 and 10,000 with equal weights.
    fn mean(power: f64) -> f64 {
        let mean = PowerMean::new(power);
        let unit = mean.unit(10_000.0, libm::log(10_000.0));
        mean.lower((mean.raise(100.0 / unit) + mean.raise(10_000.0 / unit)) / 2.0) * unit
    }

    #[test]
    fn means_of_every_power() {
        // ((10 + 100) / 2)^2, (100 + 10000) / 2, sqrt((10^4 + 10^8) / 2), sqrt(100 * 10000), and the larger value.
        let all =
            [(0.5, 3025.0), (1.0, 5050.0), (2.0, 7071.421356), (1e-8, 1000.0), (1e-12, 1000.0), (5000.0, 9998.6138)];
        for (power, expected) in all {
            assert!((mean(power) / expected - 1.0).abs() < 1e-6, "power {power}: {}", mean(power));
        }
        // Powers between the special ones lie between them.
        assert!(mean(0.4999) < mean(0.5) && mean(0.5) < mean(0.5001) && mean(0.9999) < mean(1.0));
    }
}
