//! The allocation strategies by name, with their keys: `avg`, `opt`, `pred`, `bias`, `heur`.

use std::fmt;

use crate::model::QueueTimeMethod;
use crate::spec::{Form, Key, Kind, Spec, SpecError};

/// How a job at the head of the queue chooses its processors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// Section 5.1: what is free, at once, but not less than a share of A that its user insists on.
    Avg { min_share: f64 },
    /// Section 5.2: the best of all, by an oracle.
    Opt { objective: Objective },
    /// Sections 5.3 and 5.4: the best as predicted.
    Predicted(PredictionSettings),
    /// Section 5.5: hold out for a share of A, for a while.
    Heur { lthresh: f64, athresh: f64, f: f64, k: f64 },
}

/// What is minimised, and what a gain must be worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Objective {
    /// Risk aversion (section 6.1): rebel only for a predicted saving over this share of the run time at once.
    pub risk: f64,
    /// Whether the queue time counts for every job that waits (section 6.1): q Q(n) + R(n).
    pub whole_queue: bool,
}

/// What a predicting strategy knows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PredictionSettings {
    pub method: QueueTimeMethod,
    /// Lifetimes as fitted day by day, instead of the model's own.
    pub fitted: bool,
    /// Of so many classes of run times that of each running job is known.
    pub classes: u32,
    /// Lock-in (section 6.1): a rebel gets what it declared, and no more.
    pub lock_in: bool,
    pub correction: Correction,
    pub objective: Objective,
}

/// Where the line comes from that predictions are corrected by (section 5.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Correction {
    None,
    /// From a run without correction, of the same view and workload.
    Pilot,
    /// From the predictions so far whose outcome is known.
    Online,
}

/// A strategy as it was written.
#[derive(Clone, Debug)]
pub struct Strategy {
    spec: Spec,
    pub rule: Rule,
}

const RISK: Key = Key {
    name: "risk",
    kind: Kind::Text { what: "a number of at least 0", canonical: at_least_0 },
    default: "0",
    about: "hold out only for a saving over this share of the run time at once (the paper's risk aversion: 0.2)",
};
const COST: Key = Key {
    name: "cost",
    kind: Kind::Choice(&["own", "queue"]),
    default: "own",
    about: "whose queue time counts: the job's own, or that of all who wait",
};
const PREDICTOR: Key = Key {
    name: "predictor",
    kind: Kind::Choice(&["combined", "a", "b", "exact"]),
    default: "combined",
    about: "of queue times: a if there are enough benefactors, else b; one alone; or the exact median",
};
const BENEFACTORS: Key = Key {
    name: "benefactors",
    kind: Kind::Whole { least: 1 },
    default: "2",
    about: "jobs that could satisfy a request alone, for predictor a to answer",
};
const LIFE: Key = Key {
    name: "life",
    kind: Kind::Choice(&["model", "fitted"]),
    default: "model",
    about: "the distribution of lifetimes: that of L, or one fitted every day to the run times so far",
};
const CLASSES: Key = Key {
    name: "classes",
    kind: Kind::Whole { least: 1 },
    default: "1",
    about: "users say in which of so many classes, equal in log space, their run times lie; 1 says nothing",
};
const LOCK_IN: Key = Key {
    name: "lock-in",
    kind: Kind::Switch,
    default: "off",
    about: "who holds out gets the processors it declared, even if more are free by then",
};

const AVG: Form = Form {
    name: "avg",
    about: "what is free, at once, up to the average parallelism A",
    keys: &[Key {
        name: "min-share",
        kind: Kind::Text { what: "a number from 0 to 1", canonical: from_0_to_1 },
        default: "0",
        about: "the share of A that users insist on (the paper's example: 0.4)",
    }],
};
const OPT: Form = Form {
    name: "opt",
    about: "the number of processors with the shortest turnaround, queue times known by an oracle",
    keys: &[RISK, COST],
};
const PRED: Form = Form {
    name: "pred",
    about: "the same with predicted queue times",
    keys: &[PREDICTOR, BENEFACTORS, LIFE, CLASSES, LOCK_IN, RISK, COST],
};
const BIAS: Form = Form {
    name: "bias",
    about: "the same with predictions corrected by the line through past ones and their outcomes, in log space",
    keys: &[
        PREDICTOR,
        BENEFACTORS,
        LIFE,
        CLASSES,
        LOCK_IN,
        RISK,
        COST,
        Key {
            name: "fit",
            kind: Kind::Choice(&["pilot", "online"]),
            default: "pilot",
            about: "where the line comes from: a pred run before, or this run so far",
        },
    ],
};
const HEUR: Form = Form {
    name: "heur",
    about: "hold out for a share of A, then run on what is free",
    keys: &[
        Key {
            name: "f",
            kind: Kind::Text { what: "a number above 0 and up to 1", canonical: share },
            default: "1",
            about: "the share",
        },
        Key {
            name: "k",
            kind: Kind::Text { what: "a number of at least 0", canonical: at_least_0 },
            default: "0.2",
            about: "how long: this share of the run time that could be saved",
        },
        Key {
            name: "lthresh",
            kind: Kind::Text { what: "a number of at least 0", canonical: at_least_0 },
            default: "0",
            about: "only jobs of a longer lifetime, in seconds",
        },
        Key {
            name: "athresh",
            kind: Kind::Text { what: "a number of at least 0", canonical: at_least_0 },
            default: "1",
            about: "only jobs of a larger average parallelism",
        },
    ],
};

fn number(text: &str, what: &str, fits: impl Fn(f64) -> bool) -> Result<String, String> {
    match text.parse::<f64>() {
        // Adding nothing makes -0 the same as 0.
        Ok(number) if number.is_finite() && fits(number) => Ok((number + 0.0).to_string()),
        _ => Err(format!("'{text}' is not {what}")),
    }
}

fn at_least_0(text: &str) -> Result<String, String> {
    number(text, "a number of at least 0", |number| number >= 0.0)
}

fn from_0_to_1(text: &str) -> Result<String, String> {
    number(text, "a number from 0 to 1", |number| (0.0..=1.0).contains(&number))
}

fn share(text: &str) -> Result<String, String> {
    number(text, "a number above 0 and up to 1", |number| number > 0.0 && number <= 1.0)
}

impl Strategy {
    /// What may be written for a strategy.
    pub fn forms() -> Vec<&'static Form> {
        vec![&AVG, &OPT, &PRED, &BIAS, &HEUR]
    }

    pub fn parse(text: &str) -> Result<Strategy, SpecError> {
        let spec = Spec::parse(text, "strategy", &Self::forms()).map_err(|SpecError(text)| {
            // The one plural that does not end in s.
            SpecError(text.replace("the strategys are", "the strategies are"))
        })?;
        let objective = |spec: &Spec| Objective { risk: spec.real("risk"), whole_queue: spec.text("cost") == "queue" };
        let rule = match spec.name() {
            "avg" => Rule::Avg { min_share: spec.real("min-share") },
            "opt" => Rule::Opt { objective: objective(&spec) },
            "heur" => Rule::Heur {
                lthresh: spec.real("lthresh"),
                athresh: spec.real("athresh"),
                f: spec.real("f"),
                k: spec.real("k"),
            },
            name => Rule::Predicted(PredictionSettings {
                method: match spec.text("predictor") {
                    "a" => QueueTimeMethod::Benefactors,
                    "b" => QueueTimeMethod::Release,
                    "exact" => QueueTimeMethod::Exact,
                    _ => QueueTimeMethod::Combined { least: whole(&spec, "benefactors") },
                },
                fitted: spec.text("life") == "fitted",
                classes: whole(&spec, "classes"),
                lock_in: spec.switch("lock-in"),
                correction: match name {
                    "pred" => Correction::None,
                    _ if spec.text("fit") == "online" => Correction::Online,
                    _ => Correction::Pilot,
                },
                objective: objective(&spec),
            }),
        };
        Ok(Strategy { spec, rule })
    }

    /// The run that gives this strategy its line, if it wants one: the same predictions, acted upon in the plain way.
    pub fn pilot(&self) -> Option<Rule> {
        match self.rule {
            Rule::Predicted(settings) if settings.correction == Correction::Pilot => {
                Some(Rule::Predicted(PredictionSettings {
                    correction: Correction::None,
                    lock_in: false,
                    objective: Objective { risk: 0.0, whole_queue: false },
                    ..settings
                }))
            }
            _ => None,
        }
    }
}

/// A whole number, cut to what fits: nobody has more benefactors or classes.
fn whole(spec: &Spec, key: &str) -> u32 {
    u32::try_from(spec.whole(key)).unwrap_or(u32::MAX)
}

/// The shortest text that reads back as the same.
impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.spec.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_strategies_are_the_same() {
        for (text, short) in [
            ("avg", "avg"),
            ("avg:min-share=0.40", "avg:min-share=0.4"),
            ("opt:risk=-0", "opt"),
            ("pred:lock-in", "pred:lock-in=on"),
            ("bias:lock-in,risk=0.2", "bias:lock-in=on,risk=0.2"),
            ("heur:f=1,k=0.2,lthresh=0,athresh=1", "heur"),
            ("heur:f=.5,lthresh=60", "heur:f=0.5,lthresh=60"),
        ] {
            let strategy = Strategy::parse(text).unwrap();
            assert_eq!(strategy.to_string(), short);
            assert_eq!(Strategy::parse(short).unwrap().rule, strategy.rule);
        }
        for form in Strategy::forms() {
            for key in form.keys {
                let text = format!("{}:{}={}", form.name, key.name, key.default);
                assert_eq!(Strategy::parse(&text).unwrap().to_string(), form.name, "{text}");
            }
        }
    }

    #[test]
    fn errors_list_the_choices() {
        for (text, message) in [
            ("best", "unknown strategy 'best': the strategies are avg, opt, pred, bias, heur"),
            ("avg:min-share=1.5", "strategy 'avg:min-share=1.5': min-share: '1.5' is not a number from 0 to 1"),
            ("heur:f=0", "strategy 'heur:f=0': f: '0' is not a number above 0 and up to 1"),
            ("heur:k=NaN", "strategy 'heur:k=NaN': k: 'NaN' is not a number of at least 0"),
            ("opt:lock-in", "strategy 'opt:lock-in': 'lock-in' is not key=value; the keys of opt are risk, cost"),
        ] {
            assert_eq!(Strategy::parse(text).unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn a_pilot_predicts_the_same_and_acts_plainly() {
        let pilot = |text: &str| Strategy::parse(text).unwrap().pilot();
        assert_eq!(pilot("pred"), None);
        assert_eq!(pilot("bias:fit=online"), None);
        assert_eq!(pilot("bias:lock-in,risk=0.2"), Some(Strategy::parse("pred").unwrap().rule));
        assert_eq!(
            pilot("bias:predictor=b,classes=5"),
            Some(Strategy::parse("pred:predictor=b,classes=5").unwrap().rule)
        );
    }
}
