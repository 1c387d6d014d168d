//! The weights of `priority/multifactor`, and what its factors depend on.

use super::fair_share::FairShareRule;
use crate::machine::Tres;
use crate::spec::Spec;
use crate::time::{DAY, Seconds};

/// What the priorities of jobs on nodes are made of.
#[derive(Clone, Debug, PartialEq)]
pub struct PriorityWeights {
    /// `PriorityWeightAge`.
    pub age: f64,
    /// `PriorityMaxAge`: a wait of this length has the full weight.
    pub max_age: Seconds,
    /// `PriorityWeightJobSize`.
    pub size: f64,
    /// `PriorityWeightFairshare`.
    pub fair_share: f64,
    /// `PriorityWeightPartition`.
    pub partition: f64,
    /// `PriorityWeightQOS`.
    pub qos: f64,
    /// `PriorityDecayHalfLife`.
    pub half_life: Seconds,
    /// `PriorityCalcPeriod`: the time from one recalculation to the next.
    pub period: Seconds,
    /// How use becomes fair share.
    pub rule: FairShareRule,
    /// `PriorityFavorSmall`: the smallest jobs have the full weight of the size.
    pub favors_small: bool,
    /// `PriorityFlags=SMALL_RELATIVE_TO_TIME`: the size is divided by the limit.
    pub is_size_relative: bool,
    /// Whether limits of accounts are enforced. Else the use of a job since the last recalculation before its end is lost.
    pub enforces_limits: bool,
    /// `PriorityWeightTRES`.
    pub tres: Tres<f64>,
    /// Whether what a job asks for is divided by what its partition has. `PriorityFlags=NO_NORMAL_TRES`: it is not.
    pub normalizes_tres: bool,
}

impl PriorityWeights {
    /// How much of past use is left after a second, as the daemon has it: 0.693 is the logarithm of 2.
    pub fn decay(&self) -> f64 {
        1.0 - 0.693 / self.half_life as f64
    }

    /// Whether past use decays at all: a half-life of 0 in a slurm.conf, which is never, is 100 years here.
    pub fn has_decay(&self) -> bool {
        self.half_life < 36_500 * DAY
    }

    /// Those of a spec of the scheduler `slurm`.
    pub fn of(spec: &Spec) -> PriorityWeights {
        let weight = |key: &str| spec.whole(key) as f64;
        let is = |key: &str, word: &str| spec.text(key) == word;
        PriorityWeights {
            age: weight("age_weight"),
            max_age: spec.duration("max_age"),
            size: weight("size_weight"),
            fair_share: weight("fairshare_weight"),
            partition: weight("partition_weight"),
            qos: weight("qos_weight"),
            half_life: spec.duration("halflife"),
            period: spec.duration("calc_period"),
            rule: match is("fairshare", "classic") {
                true => FairShareRule::Classic { dampening: weight("dampening") },
                false => FairShareRule::Tree,
            },
            favors_small: is("favor_small", "yes"),
            is_size_relative: is("small_relative_to_time", "yes"),
            enforces_limits: is("enforce_limits", "yes"),
            tres: Tres::of_priority(spec.text("tres_weights")).unwrap_or_default(),
            normalizes_tres: is("normal_tres", "yes"),
        }
    }
}
