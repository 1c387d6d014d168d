//! The weights of `priority/multifactor`, and what its factors depend on.

use super::fair_share::FairShareRule;
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
    pub tres: TresWeights,
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
            tres: TresWeights::parse(spec.text("tres_weights")).unwrap_or_default(),
            normalizes_tres: is("normal_tres", "yes"),
        }
    }
}

/// Weights of what jobs ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TresWeights {
    /// Of CPUs.
    pub cpus: f64,
    /// Of memory.
    pub memory: f64,
    /// Of nodes.
    pub nodes: f64,
    /// Of GPUs.
    pub gpus: f64,
}

impl TresWeights {
    /// Whether something of this name, such as `cpu`, can have a weight.
    pub(crate) fn has(name: &str) -> bool {
        TresWeights::default().weight(name).is_some()
    }

    fn weight(&mut self, name: &str) -> Option<&mut f64> {
        match name.to_ascii_lowercase().as_str() {
            "cpu" => Some(&mut self.cpus),
            "mem" => Some(&mut self.memory),
            "node" => Some(&mut self.nodes),
            "gres/gpu" => Some(&mut self.gpus),
            _ => None,
        }
    }

    /// Reads weights such as `cpu=1000;mem=0.03;gres/gpu=30000`.
    ///
    /// # Errors
    /// If an item is not a name of these and a number of at least 0.
    pub fn parse(text: &str) -> Result<TresWeights, String> {
        let mut weights = TresWeights::default();
        for item in text.split(';').map(str::trim).filter(|item| !item.is_empty()) {
            let (name, value) = item.split_once('=').unwrap_or((item, ""));
            let number = value.trim().parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
            match (weights.weight(name.trim()), number) {
                (Some(weight), Some(number)) => *weight = number,
                _ => return Err(format!("'{item}' is no weight of cpu, mem, node or gres/gpu such as cpu=1000")),
            }
        }
        Ok(weights)
    }

    /// The same text for equal weights.
    pub(crate) fn canonical(text: &str) -> Result<String, String> {
        let TresWeights { cpus, memory, nodes, gpus } = TresWeights::parse(text)?;
        let all = [("cpu", cpus), ("mem", memory), ("node", nodes), ("gres/gpu", gpus)];
        let items = all.iter().filter(|(_, weight)| *weight > 0.0).map(|(name, weight)| format!("{name}={weight}"));
        Ok(items.collect::<Vec<_>>().join(";"))
    }
}
