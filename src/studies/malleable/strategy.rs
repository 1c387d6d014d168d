//! The allocation strategies by name, with their keys: `avg`, `opt`, `pred`, `bias`, `heur`.

use std::fmt;

use crate::model::QueueTimeMethod;
use crate::spec::{Form, Key, Kind, Spec, SpecError};

/// How a job at the head of the queue chooses its processors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// Section 5.1: takes the free processors at once, but at least a share of A.
    Avg {
        /// The smallest share of A, from 0 to 1.
        min_share: f64,
    },
    /// Section 5.2: the best number of processors, with queue times from an oracle.
    Opt {
        /// What the choice minimises.
        objective: Objective,
    },
    /// Sections 5.3 and 5.4: the best number of processors by predicted queue times.
    Predicted(PredictionSettings),
    /// Section 5.5: waits for a share of A for a limited time.
    Heur {
        /// Only jobs with a longer sequential lifetime wait, in seconds.
        lthresh: f64,
        /// Only jobs with a larger average parallelism wait.
        athresh: f64,
        /// The share of A to wait for, above 0 and at most 1.
        f: f64,
        /// The longest wait, as a share of the run time that could be saved.
        k: f64,
    },
}

/// What a decision minimises, and the smallest saving that it accepts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Objective {
    /// Risk aversion (section 6.1): holds out only for a predicted saving of more than this share of the run time on
    /// the free processors.
    pub risk: f64,
    /// Whether the queue time counts once for every waiting job (section 6.1): q Q(n) + R(n).
    pub whole_queue: bool,
}

/// How a strategy predicts queue times and acts upon them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PredictionSettings {
    /// The predictor of queue times.
    pub method: QueueTimeMethod,
    /// Whether lifetimes are fitted again every day, instead of those of the model.
    pub fitted: bool,
    /// Whether equation 5 is solved for t as printed, without subtracting the ages of the running jobs.
    pub literal_ages: bool,
    /// The number of classes of run times; the class of each running job is known. 1 means that nothing is known.
    pub classes: u32,
    /// Lock-in (section 6.1): a rebel gets the processors it waited for, even if more are free then.
    pub lock_in: bool,
    /// How predictions are corrected.
    pub correction: LineCorrection,
    /// What the choice minimises.
    pub objective: Objective,
}

/// The source of the line that corrects predictions (section 5.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineCorrection {
    /// No correction.
    None,
    /// A run without correction, in the same view on the same workload.
    Pilot,
    /// The predictions so far that have a known outcome.
    Online,
}

/// A strategy and its spec.
#[derive(Clone, Debug)]
pub struct Strategy {
    spec: Spec,
    /// What the spec means.
    pub rule: Rule,
}

const RISK: Key = Key::new(
    "risk",
    Kind::AT_LEAST_0,
    "0",
    "hold out only for a saving over this share of the run time at once (the paper's risk aversion: 0.2)",
);
const COST: Key =
    Key::choice("cost", &["own", "queue"], "the queue time that counts: the job's own, or that of all waiting jobs");
const PREDICTOR: Key = Key::choice(
    "predictor",
    &["combined", "a", "b", "exact"],
    "of queue times: a if there are enough benefactors, else b; one alone; or the exact median",
);
const BENEFACTORS: Key =
    Key::whole("benefactors", 1, "2", "jobs that could satisfy a request alone, for predictor a to answer");
const LIFE: Key = Key::choice(
    "life",
    &["model", "fitted"],
    "the distribution of lifetimes: that of L, or one fitted every day to the run times so far",
);
const AGES: Key = Key::choice(
    "ages",
    &["subtracted", "literal"],
    "equation 5 is solved for t; the queue time is t less the age of each running job, or t itself",
);
const CLASSES: Key =
    Key::whole("classes", 1, "1", "the number of classes of run times, equal in log space, that users state; 1: none");
const LOCK_IN: Key = Key::new(
    "lock-in",
    Kind::Switch,
    "off",
    "a job that holds out gets the processors it waited for, even if more are free then",
);

const AVG: Form = Form {
    name: "avg",
    about: "what is free, at once, up to the average parallelism A",
    keys: &[Key::new(
        "min-share",
        Kind::FROM_0_TO_1,
        "0",
        "the smallest share of A that a job accepts (the paper's example: 0.4)",
    )],
};
const OPT: Form = Form {
    name: "opt",
    about: "the number of processors with the shortest turnaround, queue times known by an oracle",
    keys: &[RISK, COST],
};
const PRED: Form = Form {
    name: "pred",
    about: "the same with predicted queue times",
    keys: &[PREDICTOR, BENEFACTORS, LIFE, AGES, CLASSES, LOCK_IN, RISK, COST],
};
const BIAS: Form = Form {
    name: "bias",
    about: "the same with predictions corrected by a regression line of past predictions and queue times, in logarithms",
    keys: &[
        PREDICTOR,
        BENEFACTORS,
        LIFE,
        AGES,
        CLASSES,
        LOCK_IN,
        RISK,
        COST,
        Key::choice("fit", &["pilot", "online"], "where the line comes from: a pred run before, or this run so far"),
    ],
};
const HEUR: Form = Form {
    name: "heur",
    about: "wait until a share of A is free, then run on what is free",
    keys: &[
        Key::new(
            "f",
            Kind::Real { what: "a number above 0 and up to 1", fits: |share| share > 0.0 && share <= 1.0 },
            "1",
            "the share",
        ),
        Key::new("k", Kind::AT_LEAST_0, "0.2", "how long: this share of the run time that could be saved"),
        Key::new("lthresh", Kind::AT_LEAST_0, "0", "only jobs of a longer lifetime, in seconds"),
        Key::new("athresh", Kind::AT_LEAST_0, "1", "only jobs of a larger average parallelism"),
    ],
};

impl Strategy {
    /// All strategies with their keys.
    pub fn forms() -> Vec<&'static Form> {
        vec![&AVG, &OPT, &PRED, &BIAS, &HEUR]
    }

    /// Reads a strategy's spec.
    ///
    /// # Errors
    ///
    /// If the name, a key or a value is not one of [`Strategy::forms`].
    pub fn parse(text: &str) -> Result<Strategy, SpecError> {
        let spec = Spec::parse(text, "strategy", &Self::forms())?;
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
                literal_ages: spec.text("ages") == "literal",
                classes: whole(&spec, "classes"),
                lock_in: spec.switch("lock-in"),
                correction: match name {
                    "pred" => LineCorrection::None,
                    _ if spec.text("fit") == "online" => LineCorrection::Online,
                    _ => LineCorrection::Pilot,
                },
                objective: objective(&spec),
            }),
        };
        Ok(Strategy { spec, rule })
    }

    /// The pilot run that gives this strategy its line: the same predictions, without lock-in, risk aversion or the
    /// cost of the whole queue. None if it needs no pilot run.
    pub fn pilot(&self) -> Option<Rule> {
        match self.rule {
            Rule::Predicted(settings) if settings.correction == LineCorrection::Pilot => {
                Some(Rule::Predicted(PredictionSettings {
                    correction: LineCorrection::None,
                    lock_in: false,
                    objective: Objective { risk: 0.0, whole_queue: false },
                    ..settings
                }))
            }
            _ => None,
        }
    }
}

/// A whole number, at most `u32::MAX`: larger numbers of benefactors or classes make no difference.
fn whole(spec: &Spec, key: &str) -> u32 {
    u32::try_from(spec.whole(key)).unwrap_or(u32::MAX)
}

impl AsMut<Spec> for Strategy {
    fn as_mut(&mut self) -> &mut Spec {
        &mut self.spec
    }
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
    fn strategies_are_read_and_printed() {
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
    fn a_pilot_predicts_the_same_and_has_no_other_options() {
        let pilot = |text: &str| Strategy::parse(text).unwrap().pilot();
        assert_eq!(pilot("pred"), None);
        assert_eq!(pilot("bias:fit=online"), None);
        assert_eq!(pilot("bias:lock-in,risk=0.2"), Some(Strategy::parse("pred").unwrap().rule));
        assert_eq!(
            pilot("bias:predictor=b,ages=literal,classes=5"),
            Some(Strategy::parse("pred:predictor=b,ages=literal,classes=5").unwrap().rule)
        );
    }
}
