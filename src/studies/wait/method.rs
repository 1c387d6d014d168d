//! The methods that predict waits, by name.

use super::forward::{ForwardPlans, ForwardSetting};
use super::knn::Distance;
use super::regression::Regression;
use crate::experiment::Setting;
use crate::model::QueueTimeMethod;
use crate::spec::{Form, Key, Kind, Spec, SpecError};

/// A method that predicts waits, such as `knn:point=linear`.
#[derive(Clone, Debug)]
pub struct WaitMethod {
    spec: Spec,
    pub(super) way: MethodKind,
}

#[derive(Clone, Debug)]
pub(super) enum MethodKind {
    /// Similar jobs: a regression over them, or their weighted average if None.
    Knn {
        point: Option<Regression>,
        distance: Distance,
    },
    Ibl {
        k: usize,
    },
    Qbets {
        quantile: f64,
        confidence: f64,
    },
    /// The time until enough running jobs have ended.
    Downey(QueueTimeMethod),
    Simulate(Box<ForwardSetting>),
}

const KNN: Form = Form {
    name: "knn",
    about: "all similar jobs within the smallest distance that has any (Kumar and Vadhiyar)",
    keys: &[
        Key {
            name: "point",
            kind: Kind::Choice(&["average", "linear", "polynomial", "rbf", "sigmoid"]),
            default: "average",
            about: "how their waits become one: their average weighted by inverse distance, or a regression",
        },
        Key {
            name: "degree",
            kind: Kind::Text { what: "a whole number from 1 to 100", canonical: parse_degree },
            default: "3",
            about: "the polynomial's degree (the paper: 19)",
        },
        Key {
            name: "distance",
            kind: Kind::Choice(&["mean", "sum"]),
            default: "mean",
            about: "of two jobs: the mean of |x - y| / (x + y) over the features, or the paper's quotient of two sums",
        },
    ],
};

const IBL: Form = Form {
    name: "ibl",
    about: "the nearest jobs by names and numbers (Li, Groep and Wolters)",
    keys: &[Key { name: "k", kind: Kind::Whole { least: 1 }, default: "50", about: "the number of jobs" }],
};

const SHARE: Kind = Kind::Real { what: "a number above 0 and below 1", fits: |share| share > 0.0 && share < 1.0 };

const QBETS: Form = Form {
    name: "qbets",
    about: "an upper bound from the waits of jobs about as wide (Brevik, Nurmi and Wolski)",
    keys: &[
        Key { name: "quantile", kind: SHARE, default: "0.95", about: "the share of jobs that stay below it" },
        Key { name: "confidence", kind: SHARE, default: "0.95", about: "the probability that the bound holds" },
    ],
};

const DOWNEY: Form = Form {
    name: "downey",
    about: "when enough running jobs will have ended, by fitted lifetimes; for jobs that find an empty queue (Downey)",
    keys: &[Key {
        name: "predictor",
        kind: Kind::Choice(&["a", "b", "combined", "exact"]),
        default: "combined",
        about: "the median by jobs that free enough alone, the mean by gradual release, both, or the exact median",
    }],
};

const SIMULATE: Form = Form {
    name: "simulate",
    about: "a simulation of the present queue with predicted runtimes (Smith, Taylor and Foster)",
    keys: &[
        Key {
            name: "scheduler",
            kind: Kind::Text { what: "a scheduler", canonical: parse_scheduler },
            default: "easy",
            about: "the scheduler of that simulation; in parentheses if it has several keys",
        },
        Key {
            name: "predictor",
            kind: Kind::Text { what: "a predictor", canonical: parse_predictor },
            default: crate::predict::catalog::DEFAULT,
            about: "how runtimes are predicted; in parentheses if it has several keys",
        },
        Key {
            name: "plans",
            kind: Kind::Choice(&["estimate", "prediction"]),
            default: "estimate",
            about: "what that scheduler plans with: the users' estimates or the predicted runtimes",
        },
        Key {
            name: "draws",
            kind: Kind::Whole { least: 0 },
            default: "0",
            about: "the number of simulations with drawn runtimes; 0: one simulation with predicted runtimes",
        },
        Key {
            name: "recalibrate",
            kind: Kind::Switch,
            default: "off",
            about: "on: the answer is the waits of the 40 past jobs nearest in simulated wait, estimate and processors",
        },
    ],
};

fn parse_degree(text: &str) -> Result<String, String> {
    match text.parse::<u32>() {
        Ok(degree @ 1..=100) => Ok(degree.to_string()),
        _ => Err(format!("'{text}' is not a whole number from 1 to 100")),
    }
}

fn parse_scheduler(text: &str) -> Result<String, String> {
    let spec = crate::schedule::catalog::parse(bare(text)).map_err(|error| error.to_string())?;
    if crate::schedule::catalog::is_replay(&spec) {
        return Err(format!("{spec} repeats the starts of the log, which are not known when a wait is predicted"));
    }
    Ok(as_value(&spec))
}

fn parse_predictor(text: &str) -> Result<String, String> {
    let spec = crate::predict::catalog::parse(bare(text)).map_err(|error| error.to_string())?;
    // A prediction must not use the actual run times of waiting jobs.
    if crate::predict::catalog::is_oracle(&spec) {
        return Err(format!(
            "{spec} uses the actual run times of waiting jobs, which are not known when a wait is predicted"
        ));
    }
    Ok(as_value(&spec))
}

/// A spec as the value of a key. One with several keys is written in parentheses, because commas also separate the keys of
/// the method.
fn as_value(spec: &Spec) -> String {
    let text = spec.to_string();
    if text.contains(',') { format!("({text})") } else { text }
}

fn bare(text: &str) -> &str {
    text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(text)
}

impl WaitMethod {
    /// All methods with their keys.
    pub fn forms() -> [&'static Form; 5] {
        [&KNN, &IBL, &QBETS, &DOWNEY, &SIMULATE]
    }

    /// Reads a method's spec.
    ///
    /// # Errors
    ///
    /// If the name, a key or a value is not one of [`WaitMethod::forms`].
    pub fn parse(text: &str) -> Result<WaitMethod, SpecError> {
        let spec = Spec::parse(text, "method", &WaitMethod::forms())?;
        let way = match spec.name() {
            "knn" => MethodKind::Knn {
                point: match spec.text("point") {
                    "linear" => Some(Regression::Linear),
                    "polynomial" => Some(Regression::Polynomial { degree: spec.whole("degree") as i32 }),
                    "rbf" => Some(Regression::Rbf),
                    "sigmoid" => Some(Regression::Sigmoid),
                    _ => None,
                },
                distance: if spec.text("distance") == "sum" { Distance::Sum } else { Distance::Mean },
            },
            "ibl" => MethodKind::Ibl { k: spec.whole("k") as usize },
            "qbets" => MethodKind::Qbets { quantile: spec.real("quantile"), confidence: spec.real("confidence") },
            "downey" => MethodKind::Downey(match spec.text("predictor") {
                "a" => QueueTimeMethod::Benefactors,
                "b" => QueueTimeMethod::Release,
                "exact" => QueueTimeMethod::Exact,
                // Downey, section 3.3: two benefactors are enough for predictor A.
                _ => QueueTimeMethod::Combined { least: 2 },
            }),
            _ => MethodKind::Simulate(Box::new(ForwardSetting {
                setting: Setting::parse(bare(spec.text("scheduler")), bare(spec.text("predictor")))?,
                plans: match spec.text("plans") {
                    "prediction" => ForwardPlans::Prediction,
                    _ => ForwardPlans::Estimate,
                },
                draws: spec.whole("draws") as usize,
                recalibrate: spec.switch("recalibrate"),
            })),
        };
        Ok(WaitMethod { spec, way })
    }

    /// The shortest spec that reads back as this method.
    pub fn name(&self) -> String {
        self.spec.to_string()
    }

    /// Whether it is evaluated on some of the jobs only, because it is slow.
    pub fn is_regression(&self) -> bool {
        matches!(self.way, MethodKind::Knn { point: Some(_), .. })
    }

    /// The scheduler under which it simulates the queue. None if it simulates nothing.
    pub fn scheduler(&self) -> Option<&Spec> {
        match &self.way {
            MethodKind::Simulate(forward) => Some(&forward.setting.scheduler),
            _ => None,
        }
    }

    /// Whether its answers are upper bounds.
    pub fn is_bound(&self) -> bool {
        matches!(self.way, MethodKind::Qbets { .. })
    }

    /// Whether it is based on similar jobs, so that jobs are also predicted to start quickly or not.
    pub fn is_knn(&self) -> bool {
        matches!(self.way, MethodKind::Knn { .. })
    }
}

impl AsMut<Spec> for WaitMethod {
    fn as_mut(&mut self) -> &mut Spec {
        &mut self.spec
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_read_and_printed() {
        for (text, printed) in [
            ("knn", "knn"),
            ("knn:point=average", "knn"),
            ("knn:degree=19,point=polynomial", "knn:point=polynomial,degree=19"),
            ("knn:distance=mean", "knn"),
            ("knn:distance=sum", "knn:distance=sum"),
            ("ibl:k=50", "ibl"),
            ("ibl:k=3", "ibl:k=3"),
            ("ibl:k=5", "ibl:k=5"),
            ("qbets:quantile=0.950", "qbets"),
            ("qbets:quantile=0.5", "qbets:quantile=0.5"),
            ("downey:predictor=combined", "downey"),
            ("downey:predictor=a", "downey:predictor=a"),
            ("simulate:scheduler=easy", "simulate"),
            ("simulate:predictor=ruh:window=2", "simulate:predictor=ruh:window=2"),
            ("simulate:predictor=(ruh:window=2,cap=on)", "simulate:predictor=(ruh:window=2,cap=on)"),
            ("simulate:scheduler=sjbf:running=estimate", "simulate:scheduler=sjbf:running=estimate"),
            (
                "simulate:scheduler=(easy:starve=60m,queue=wfp3),predictor=estimate",
                "simulate:scheduler=(easy:queue=wfp3,starve=1h),predictor=estimate",
            ),
            ("simulate:plans=estimate", "simulate"),
            ("simulate:predictor=kin", "simulate"),
            ("simulate:plans=prediction,predictor=ruh", "simulate:predictor=ruh,plans=prediction"),
        ] {
            let method = WaitMethod::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(method.name(), printed);
            assert_eq!(WaitMethod::parse(printed).unwrap().name(), printed);
        }
        for (text, message) in [
            ("knm", "the methods are knn, ibl, qbets, downey, simulate"),
            ("knn:k=3", "no key 'k'; the keys of knn are point, degree, distance"),
            ("knn:degree=0", "'0' is not a whole number from 1 to 100"),
            ("qbets:quantile=1", "'1' is not a number above 0 and below 1"),
            ("ibl:k=0", "'0' is not a whole number of at least 1"),
            ("simulate:scheduler=replay", "replay repeats the starts of the log, which are not known"),
            ("simulate:scheduler=easy:queue=sjf", "'sjf' is not one of fcfs, lcfs, spf"),
            ("simulate:plans=runtime", "'runtime' is not one of estimate, prediction"),
            ("simulate:predictor=rhu", "unknown predictor 'rhu'"),
            ("simulate:predictor=perfect", "uses the actual run times of waiting jobs"),
        ] {
            let error = WaitMethod::parse(text).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }
}
