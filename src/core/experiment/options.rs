//! The options of one run.

use std::sync::Arc;

use crate::engine::EngineOptions;
use crate::machine::associations::{Associations, ScaledLimits};
use crate::machine::{AddedNodes, AssociationsFile, MachineFile, OutageFile};
use crate::metrics::Measure;
use crate::model::EstimateModel;
use crate::predict;
use crate::schedule;
use crate::spec::Spec;
use crate::trace::{Cleaning, FeedbackModel, LogReading, PartitionMap, ReadOptions, Shaping};

use super::run::Setting;

/// All options of a run; with a log they determine its result.
#[derive(Clone, Debug)]
pub struct Options {
    /// The policy that starts jobs.
    pub scheduler: Spec,
    /// The predictor of runtimes.
    pub predictor: Spec,
    /// A second run of the same jobs, to compare with.
    pub baseline: Option<Setting>,
    /// Skip and count faulty lines of the log.
    pub skip_bad_lines: bool,
    /// The format of the log, and what formats other than SWF leave open.
    pub reading: LogReading,
    /// The machine of nodes on which the jobs run. None: a pool of processors.
    pub machine: Option<Arc<MachineFile>>,
    /// What the baseline runs with in the place of these options, beside its own scheduler and predictor: another machine, or the
    /// site as it is. None: the same.
    pub baseline_site: Option<Arc<Options>>,
    /// The name of the change that makes these options of those of the baseline. None: it is no change of a site.
    pub what_if: Option<String>,
    /// Who may use how much of it. None: what the machine's own file says.
    pub associations: Option<Arc<AssociationsFile>>,
    /// Limits of these that are some times as high.
    pub scaled_limits: ScaledLimits,
    /// Other names for partitions of the log.
    pub partition_map: PartitionMap,
    /// Parts of the machine that are out for a time, or reserved. None: it is always whole.
    pub outages: Option<Arc<OutageFile>>,
    /// Whether jobs that an outage stops have failed, and do not wait again.
    pub on_failure_kills: bool,
    /// Nodes that the machine has more, and those that it does not have.
    pub added_nodes: AddedNodes,
    /// See `added_nodes`.
    pub removed_nodes: Option<String>,
    /// The rules of cleaning, except those that [`Options::rules`] derives from the schedulers.
    pub cleaning: Cleaning,
    /// The model that replaces the estimates. None: the estimates of the log.
    pub estimates: Option<EstimateModel>,
    /// The seed of the model.
    pub estimates_seed: u64,
    /// Which part of the workload is simulated, and changes of its submit times.
    pub shaping: Shaping,
    /// How users react to the ends of their jobs. None: jobs arrive at the times in the log.
    pub feedback: Option<FeedbackModel>,
    /// As [`EngineOptions::inflate`].
    pub inflate: f64,
    /// As [`EngineOptions::pass_on_miss`].
    pub pass_on_miss: bool,
    /// Which jobs are measured.
    pub measure: Measure,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            scheduler: schedule::catalog::parse("sjbf").expect("a valid spec"),
            predictor: predict::catalog::parse(predict::catalog::DEFAULT).expect("a valid spec"),
            baseline: None,
            skip_bad_lines: false,
            reading: LogReading::default(),
            machine: None,
            baseline_site: None,
            what_if: None,
            associations: None,
            scaled_limits: ScaledLimits::default(),
            partition_map: PartitionMap::new(),
            outages: None,
            on_failure_kills: false,
            added_nodes: AddedNodes::default(),
            removed_nodes: None,
            cleaning: Cleaning::default(),
            estimates: None,
            estimates_seed: 1,
            shaping: Shaping::default(),
            feedback: None,
            inflate: 1.0,
            pass_on_miss: false,
            measure: Measure::default(),
        }
    }
}

impl Options {
    /// Whether the accounts, users and qualities of service of its machine have something.
    pub fn have(&self, what: fn(&Associations) -> bool) -> bool {
        match (&self.associations, &self.machine) {
            (Some(file), Some(machine)) => file.of(&machine.cluster).is_ok_and(|own| what(&own.associations)),
            (None, Some(machine)) => what(&machine.cluster.associations),
            (_, None) => false,
        }
    }

    /// The options with which the baseline runs, on the same part and the same copy of the log.
    pub fn of_baseline(&self) -> Options {
        let site = self.baseline_site.as_deref().unwrap_or(self).clone();
        let Shaping { resample, shake, seed, .. } = self.shaping;
        Options { shaping: Shaping { resample, shake, seed, ..site.shaping }, ..site }
    }

    /// The spec that is the value of this option. None for an option of another kind, or if it is not set.
    pub fn spec(&self, name: &str) -> Option<&Spec> {
        match name {
            "scheduler" => Some(&self.scheduler),
            "predictor" => Some(&self.predictor),
            "estimates" => self.estimates.as_ref().map(EstimateModel::spec),
            "feedback" => self.feedback.as_ref().map(FeedbackModel::spec),
            _ => None,
        }
    }

    /// Whether this option is a seed that the run does not use.
    pub fn is_idle_seed(&self, name: &str) -> bool {
        match name {
            "seed" => self.shaping.shake == 0 && self.shaping.resample.is_none(),
            "estimates-seed" => !self.estimates.as_ref().is_some_and(EstimateModel::is_random),
            _ => false,
        }
    }

    /// The schedulers of the run and of its baseline.
    pub fn schedulers(&self) -> impl Iterator<Item = &Spec> {
        std::iter::once(&self.scheduler).chain(self.baseline.as_ref().map(|base| &base.scheduler))
    }

    /// Whether the run or its baseline replays the log's own schedule.
    pub fn has_replay(&self) -> bool {
        self.schedulers().any(schedule::catalog::is_replay)
    }

    /// Whether these options allow other years than that of the log.
    pub fn allow_other_years(&self) -> bool {
        !self.has_replay() && self.shaping.repeat == 1
    }

    /// The predictors of the run and of its baseline.
    pub fn predictors(&self) -> impl Iterator<Item = &Spec> {
        std::iter::once(&self.predictor).chain(self.baseline.as_ref().map(|base| &base.predictor))
    }

    /// The scheduler, the predictor and the options of the engine.
    pub fn setting(&self) -> Setting {
        let engine =
            EngineOptions { inflate: self.inflate, pass_on_miss: self.pass_on_miss, ..EngineOptions::default() };
        Setting { scheduler: self.scheduler.clone(), predictor: self.predictor.clone(), engine }
    }

    /// The options for reading the log.
    pub fn read_options(&self) -> ReadOptions {
        let reading = self.reading.clone();
        ReadOptions { skip_bad_lines: self.skip_bad_lines, reading, ..ReadOptions::default() }
    }
}
