//! Features scaled for support vector machines: ln(1 + x), with mean 0 and deviation 1 over the training jobs.

use super::features::{FEATURES, Features};

/// Mean and deviation of each feature's logarithm.
#[derive(Clone, Debug)]
pub struct FeatureScale {
    mean: Features,
    /// One over the deviation; 0 for a constant feature.
    inverse: Features,
}

impl FeatureScale {
    /// Computes the scale of these rows, and returns it with the scaled rows.
    pub fn learn(rows: impl Iterator<Item = Features>) -> (FeatureScale, Vec<Features>) {
        let mut rows: Vec<Features> = rows.map(logarithms).collect();
        let count = rows.len().max(1) as f64;
        let mut scale = FeatureScale { mean: [0.0; FEATURES], inverse: [0.0; FEATURES] };
        for feature in 0..FEATURES {
            let mean = rows.iter().map(|row| row[feature]).sum::<f64>() / count;
            let square = |row: &Features| (row[feature] - mean) * (row[feature] - mean);
            let deviation = (rows.iter().map(square).sum::<f64>() / count).sqrt();
            scale.mean[feature] = mean;
            // A smaller deviation is the rounding error of equal logarithms.
            scale.inverse[feature] = if deviation > 1e-9 { 1.0 / deviation } else { 0.0 };
        }
        rows.iter_mut().for_each(|row| *row = scale.standardize(row));
        (scale, rows)
    }

    pub fn apply(&self, features: &Features) -> Features {
        self.standardize(&logarithms(*features))
    }

    fn standardize(&self, row: &Features) -> Features {
        std::array::from_fn(|feature| (row[feature] - self.mean[feature]) * self.inverse[feature])
    }
}

fn logarithms(features: Features) -> Features {
    features.map(libm::log1p)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scaled_features_have_mean_0_and_deviation_1() {
        let rows: Vec<Features> = (0..100)
            .map(|at| std::array::from_fn(|feature| if feature == 3 { 7.0 } else { (at * feature) as f64 }))
            .collect();
        let (scale, scaled) = FeatureScale::learn(rows.iter().copied());
        for feature in 0..FEATURES {
            let mean = scaled.iter().map(|row| row[feature]).sum::<f64>() / 100.0;
            let variance = scaled.iter().map(|row| row[feature] * row[feature]).sum::<f64>() / 100.0;
            let expected = if [0, 3].contains(&feature) { 0.0 } else { 1.0 };
            assert!(mean.abs() < 1e-9 && (variance - expected).abs() < 1e-9, "{feature}: {mean} {variance}");
        }
        assert_eq!(scale.apply(&rows[42]), scaled[42]);
    }
}
