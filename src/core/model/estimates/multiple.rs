//! The f-model: a random multiple of the runtime (Feitelson and Mu'alem Weil; Tsafrir et al., section 1.2).

use rand::RngExt;

use super::{Assignment, Sample, Seeds};
use crate::rng::stream;
use crate::spec::{Form, Key, Kind, Spec};
use crate::time::{FOREVER, Seconds};

/// How much longer an estimate can be than the runtime.
const FACTOR: Kind = Kind::Real { what: "a number from 0 to 1000000", fits: |factor| (0.0..=1e6).contains(&factor) };

pub static FORM: Form = Form {
    name: "f",
    about: "uniform from the runtime to f + 1 times it; it contains more information than real estimates (Tsafrir et al.)",
    keys: &[Key { name: "f", kind: FACTOR, default: "3", about: "0 is the runtime itself" }],
};

pub fn assign(spec: &Spec, jobs: &[Sample], seeds: Seeds) -> Result<Assignment, String> {
    let f = spec.real("f");
    let mut rng = stream(seeds.draws, "estimates f");
    // Uniform in [R, (f + 1) R], rounded up to whole seconds.
    let estimate = |job: &Sample| (job.runtime as f64 * (1.0 + f * rng.random::<f64>())).ceil() as Seconds;
    let estimates = jobs.iter().map(estimate).map(|estimate| estimate.min(FOREVER)).collect();
    Ok(Assignment { estimates, ..Assignment::default() })
}

#[cfg(test)]
mod tests {
    use crate::model::estimates::{EstimateModel, Sample};

    fn estimates(spec: &str, runtime: i64) -> Vec<i64> {
        let jobs = vec![Sample { runtime, estimate: None, user: -1 }; 40_000];
        EstimateModel::parse(spec).unwrap().assign(&jobs, 7).unwrap().estimates
    }

    /// The paper: "if f = 4, they are distributed between R and 5R, with an average of 3R".
    #[test]
    fn between_r_and_f_plus_one_times_r_with_the_papers_average() {
        let estimates = estimates("f:f=4", 10_000);
        assert!(estimates.iter().all(|estimate| (10_000..=50_000).contains(estimate)));
        // The standard deviation is 4R / sqrt(12), that of the mean 58 seconds.
        let mean = estimates.iter().sum::<i64>() as f64 / 40_000.0;
        assert!((mean - 30_000.0).abs() < 4.0 * 58.0, "{mean}");
        // Uniform: a quarter in each quarter, within four standard deviations (87).
        for quarter in 1..=4 {
            let within = estimates.iter().filter(|&&estimate| (estimate - 1) / 10_000 == quarter).count();
            assert!((within as i64 - 10_000).abs() < 350, "{within} in quarter {quarter}");
        }
    }

    #[test]
    fn f_of_zero_is_the_truth_and_huge_ones_stay_within_reason() {
        assert!(estimates("f:f=0", 77).iter().all(|&estimate| estimate == 77));
        assert!(estimates("f:f=1000000", 1 << 35).iter().all(|&estimate| estimate <= 1 << 36));
    }
}
