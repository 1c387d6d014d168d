//! The list of all estimate models by name.

use std::fmt;

use super::{Assignment, Sample, Seeds, better, double, feit, multiple, shuffle, tsafrir};
use crate::spec::{Form, Spec, SpecError};
use crate::time::{HOUR, Seconds};

/// A model of the catalog.
struct ModelEntry {
    form: &'static Form,
    /// Whether its estimates depend on the seed.
    is_random: fn(&Spec) -> bool,
    /// Checks combinations of keys.
    check: fn(&Spec) -> Result<(), String>,
    assign: fn(&Spec, &[Sample], Seeds) -> Result<Assignment, String>,
}

/// To add a model, add an entry here.
const CATALOG: &[ModelEntry] = &[
    ModelEntry { form: &multiple::FORM, is_random: |_| true, check: |_| Ok(()), assign: multiple::assign },
    ModelEntry { form: &feit::FORM, is_random: |_| true, check: feit::check, assign: feit::assign },
    ModelEntry { form: &double::FORM, is_random: |_| false, check: |_| Ok(()), assign: double::assign },
    ModelEntry { form: &better::FORM, is_random: better::is_random, check: |_| Ok(()), assign: better::assign },
    ModelEntry { form: &shuffle::FORM, is_random: |_| true, check: |_| Ok(()), assign: shuffle::assign },
    ModelEntry { form: &tsafrir::FORM, is_random: |_| true, check: tsafrir::check, assign: tsafrir::assign },
];

/// The names and keys of all estimate models, in the order in which they are listed to users.
pub fn forms() -> Vec<&'static Form> {
    CATALOG.iter().map(|entry| entry.form).collect()
}

/// A model of user runtime estimates. Printing it gives the shortest equivalent spec.
///
/// ```
/// # extern crate shadowtime_core as shadowtime;
/// use shadowtime::model::{EstimateModel, Sample};
///
/// let model = EstimateModel::parse("f:f=3.0").unwrap();
/// assert_eq!(model.to_string(), "f");
/// let jobs = [Sample { runtime: 100, estimate: None, user: 1 }];
/// let estimate = model.assign(&jobs, 1).unwrap().estimates[0];
/// assert!((100..=400).contains(&estimate));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct EstimateModel {
    spec: Spec,
}

impl EstimateModel {
    /// Reads the spec of a model.
    ///
    /// # Errors
    /// If the name, a key, a value or a combination of values is invalid.
    pub fn parse(text: &str) -> Result<EstimateModel, SpecError> {
        let model = EstimateModel { spec: Spec::parse(text, "estimate model", &forms())? };
        let wrong = |why| SpecError(format!("estimate model '{text}': {why}"));
        (model.entry().check)(&model.spec).map_err(wrong)?;
        Ok(model)
    }

    /// Makes an estimate for each of these jobs, in whole seconds. It is at least the runtime, except for the jobs counted in
    /// the [`Assignment`].
    ///
    /// # Errors
    /// If the model cannot make estimates for these jobs; the message says what helps.
    pub fn assign(&self, jobs: &[Sample], seed: u64) -> Result<Assignment, String> {
        (self.entry().assign)(&self.spec, jobs, Seeds { distribution: seed, draws: seed })
    }

    /// As [`EstimateModel::assign`], for one block (counted from 0) of a log that is too long to be processed as a whole.
    /// Each block has its own random numbers, but all have the same popular estimates.
    ///
    /// # Errors
    /// As [`EstimateModel::assign`].
    pub fn assign_block(&self, jobs: &[Sample], seed: u64, block: u64) -> Result<Assignment, String> {
        // The first block is what `assign` makes; the odd constant is that of splitmix64.
        let draws = seed ^ block.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (self.entry().assign)(&self.spec, jobs, Seeds { distribution: seed, draws })
    }

    /// The same model for jobs that run at most this number of seconds, which replaces `tmax=log`.
    pub fn for_runtimes_up_to(&self, longest: Seconds) -> EstimateModel {
        let whole_hours = (longest + HOUR - 1) / HOUR;
        let spec = self.spec.in_full().replace("tmax=log", &format!("tmax={whole_hours}h"));
        // Fails if a pair is longer than that. Then `assign` of the unchanged model returns the error.
        EstimateModel::parse(&spec).unwrap_or_else(|_| self.clone())
    }

    /// Whether its estimates depend on the seed.
    pub fn is_random(&self) -> bool {
        (self.entry().is_random)(&self.spec)
    }

    /// The spec of the model.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    fn entry(&self) -> &'static ModelEntry {
        CATALOG.iter().find(|entry| entry.form.name == self.spec.name()).expect("a spec of a model")
    }
}

impl fmt::Display for EstimateModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.spec.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Modes;
    use super::*;

    #[test]
    fn every_default_is_a_value_its_key_accepts_and_prints_the_same() {
        for form in forms() {
            for key in form.keys {
                let text = format!("{}:{}={}", form.name, key.name, key.default);
                let model = EstimateModel::parse(&text).unwrap_or_else(|error| panic!("{error}"));
                assert_eq!(model.to_string(), form.name, "{text}");
                assert_eq!(model, EstimateModel::parse(form.name).unwrap());
            }
        }
    }

    #[test]
    fn specs_are_printed_as_they_are_read() {
        for (text, short) in [
            ("f:f=0.50", "f:f=0.5"),
            ("feit:max=86400,peak=0.2", "feit:peak=0.2"),
            ("x2", "x2"),
            ("better:share=1.0,factor=0.50", "better"),
            ("shuffle", "shuffle"),
            ("tsafrir:at-tmax=23.80,tmax=1080m", "tsafrir:tmax=18h,at-tmax=23.8"),
            ("tsafrir:pairs=1800:18/15m:16.0,tmax=36h", "tsafrir:tmax=36h,pairs=15m:16/30m:18"),
            ("tsafrir:alpha=1.10,beta=0.5", "tsafrir:alpha=1.1,beta=0.5"),
        ] {
            let model = EstimateModel::parse(text).unwrap();
            assert_eq!(model.to_string(), short);
            assert_eq!(EstimateModel::parse(short).unwrap(), model);
            assert_eq!(EstimateModel::parse(&model.spec.in_full()).unwrap(), model);
        }
        assert_ne!(EstimateModel::parse("f:f=1"), EstimateModel::parse("f:f=2"));
    }

    #[test]
    fn what_is_no_model_and_what_would_be() {
        for (text, message) in [
            ("phi", "unknown estimate model 'phi': the estimate models are f, feit, x2, better, shuffle, tsafrir"),
            ("x2:f=3", "no key 'f'; x2 takes no keys"),
            ("better:share=0", "share: '0' is not a number above 0, at most 1"),
            ("f:f=-1", "f: '-1' is not a number from 0 to 1000000"),
            ("f:f=NaN", "f: 'NaN' is not a number from 0 to 1000000"),
            ("feit:peak=2", "peak: '2' is not a number from 0 to 1"),
            ("feit:peak=0.6,hump=0.5", "peak and hump are 1.1 of the jobs together, more than all of them"),
            ("feit:max=0", "max: '0' is not a duration of at least 1s"),
            ("tsafrir:tmax=90s", "tmax: 90s is not a whole number of minutes"),
            ("tsafrir:tmax=0", "tmax: 0s is not a whole number of minutes"),
            ("tsafrir:at-tmax=101", "at-tmax: '101' is not a number from 0 to 100"),
            ("tsafrir:at-tmax=inf", "at-tmax: 'inf' is not a number from 0 to 100"),
            ("tsafrir:pairs=15m", "pairs: '15m' is not TIME:PERCENT, such as 15m:16/30m:18"),
            ("tsafrir:pairs=15m:x", "pairs: 'x' is not a number from 0 to 100"),
            ("tsafrir:pairs=15m:1/900:2", "pairs: 15m is given twice"),
            ("tsafrir:pairs=15m:60/30m:60", "pairs and at-tmax are 120% of the jobs together, more than all of them"),
            ("tsafrir:pairs=15m:60,at-tmax=50", "pairs and at-tmax are 110% of the jobs together"),
            ("tsafrir:tmax=1h,pairs=2h:5", "pairs: 2h is longer than tmax, 1h"),
            ("tsafrir:tmax=1h,at-tmax=5,pairs=1h:5", "at-tmax and pairs both say how many jobs have 1h"),
            ("tsafrir:alpha=0", "alpha: '0' is not a number above 0, or table"),
            ("tsafrir:beta=2", "beta: '2' is not a number from 0 to 1, or table"),
        ] {
            let error = EstimateModel::parse(text).unwrap_err().to_string();
            assert!(error.contains(message), "{text}\nexpected: {message}\ngot: {error}");
        }
        let many: Vec<_> = (1..=20).map(|minute| format!("{minute}m:1")).collect();
        let error =
            EstimateModel::parse(&format!("tsafrir:tmax=18h,pairs={}", many.join("/"))).unwrap_err().to_string();
        assert!(error.contains("20 pairs; there is room for 19 beside tmax"), "{error}");
    }

    #[test]
    fn models_that_need_estimates_say_what_does_without() {
        let jobs = [Sample { runtime: 5, estimate: None, user: 1 }];
        for name in ["x2", "better", "shuffle"] {
            let error = EstimateModel::parse(name).unwrap().assign(&jobs, 1).unwrap_err();
            assert!(error.starts_with(name) && error.contains("tsafrir, f and feit need only runtimes"), "{error}");
        }
    }

    #[test]
    fn blocks_share_popular_estimates_and_draw_anew() {
        let jobs = [Sample { runtime: 100, estimate: Some(900), user: 1 }; 2000];
        let block = |text: &str, block| EstimateModel::parse(text).unwrap().assign_block(&jobs, 7, block).unwrap();
        let popular = |text: &str, at| Modes::of(block(text, at).estimates);
        assert_eq!(popular("tsafrir:tmax=18h", 0), popular("tsafrir:tmax=18h", 3));
        for model in ["tsafrir:tmax=18h", "f", "feit"] {
            assert_eq!(block(model, 0), EstimateModel::parse(model).unwrap().assign(&jobs, 7).unwrap());
            assert_ne!(block(model, 0).estimates, block(model, 1).estimates, "{model}");
        }
        let limited = |text: &str| EstimateModel::parse(text).unwrap().for_runtimes_up_to(5 * HOUR + 1).to_string();
        assert_eq!(limited("tsafrir:at-tmax=20"), "tsafrir:tmax=6h,at-tmax=20");
        assert_eq!(limited("tsafrir:tmax=2h"), "tsafrir:tmax=2h");
        assert_eq!(limited("f:f=2"), "f:f=2");
    }

    #[test]
    fn the_same_seed_makes_the_same_estimates_and_no_jobs_no_estimates() {
        let jobs: Vec<_> =
            (1..500).map(|runtime| Sample { runtime, estimate: Some(4000 + 60 * (runtime % 40)), user: 1 }).collect();
        for form in forms() {
            let model = EstimateModel::parse(form.name).unwrap();
            let estimates = |seed| model.assign(&jobs, seed).unwrap().estimates;
            assert_eq!(estimates(1), estimates(1), "{model}");
            assert_eq!(estimates(1) != estimates(2), model.is_random(), "{model}");
            if !["x2", "better"].contains(&form.name) {
                assert_eq!(model.assign(&[], 1), Ok(Assignment::default()), "{model}");
            }
        }
    }
}
