//! Makes the workload of a log, as the options say.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::options::Options;
use super::run::Setting;
use crate::machine::Outages;
use crate::model::replace_estimates;
use crate::schedule;
use crate::trace::{
    Cleaning, Log, LogNames, LogSite, MissingEstimate, Overrun, TraceError, Workload, clean, clean_at, clean_out,
    nodes_of, outages_of, put_on_cluster, shape_like,
};

/// The records of jobs that are left out, because they cannot run at all sites that are compared.
pub type LeftOut = BTreeSet<u32>;

/// The jobs of a log at one of several sites that are compared.
#[derive(Clone, Debug)]
pub struct CleanedAtSite {
    /// The jobs that can run at all of them.
    pub workload: Workload,
    /// The jobs that can run at others, but not here.
    pub lacking: LeftOut,
}

impl Options {
    /// The options by which the log is cleaned for all of several settings, which differ in their scheduler and predictor. Also
    /// returns whether the settings need different rules.
    ///
    /// Which records become jobs depends on whether a setting replays the log's own schedule. If some settings do and some do
    /// not, the jobs are those with which both can run.
    pub fn of_log(settings: &[Options]) -> (Options, bool) {
        let mut options = settings[0].clone();
        let is_replay = |options: &Options| schedule::catalog::is_replay(&options.scheduler);
        let other = settings.iter().find(|other| is_replay(other) != is_replay(&options));
        if let Some(other) = other {
            options.baseline = Some(other.setting());
        }
        (options, other.is_some())
    }

    /// The rules of cleaning. If the run or its baseline replays the log's own schedule, the waits must be known. Jobs wider
    /// than the machine are kept only if both do, or the run does and there is no baseline.
    pub fn rules(&self) -> Cleaning {
        let is_replay = schedule::catalog::is_replay(&self.scheduler);
        let others = self.baseline.as_ref().map(Setting::is_replay);
        // A job that is wider than the nodes is dropped when it is placed.
        let procs = self.machine.as_ref().map_or(self.cleaning.procs, |_| Some(u32::MAX));
        Cleaning {
            procs,
            need_waits: is_replay || others == Some(true),
            keep_wide: is_replay && others != Some(false),
            ..self.cleaning
        }
    }

    /// Cleans a log, replaces its estimates if a model is set, and links its jobs if users react, but does not shape the workload.
    ///
    /// The model sees all jobs of the log, before shaping. Its results depend on the number of jobs, and this way a job has
    /// the same estimate whichever part of the log is run. Cleaning then ignores the estimates of the log: it drops no job
    /// because its estimate is missing, and `--overrun kill` uses the new estimates.
    ///
    /// # Errors
    /// As [`crate::trace::clean`], or if the model cannot make estimates for these jobs.
    pub fn clean(&self, log: &Log) -> Result<Workload, TraceError> {
        self.clean_without(log, &LeftOut::new())
    }

    /// As [`Options::clean`], at each of several sites, with the jobs that can run at all of them: settings at different sites are
    /// compared by the same jobs.
    ///
    /// # Errors
    /// As [`Options::clean`].
    pub fn clean_at_all(sites: &[Options], log: &Log) -> Result<Vec<CleanedAtSite>, TraceError> {
        let alone = sites.iter().map(|site| site.clean(log));
        let alone: Vec<Workload> = alone.collect::<Result<_, _>>()?;
        let records: Vec<LeftOut> =
            alone.iter().map(|workload| workload.jobs.iter().map(|job| job.record).collect()).collect();
        let all: LeftOut = records.iter().flatten().copied().collect();
        let lacking = records.iter().map(|own| all.difference(own).copied().collect::<LeftOut>());
        let lacking: Vec<LeftOut> = lacking.collect();
        let left_out: LeftOut = lacking.iter().flatten().copied().collect();
        let cleaned = sites.iter().zip(alone).zip(lacking).map(|((site, alone), lacking)| {
            let is_whole = alone.jobs.iter().all(|job| !left_out.contains(&job.record));
            let workload = if is_whole { alone } else { site.clean_without(log, &left_out)? };
            Ok(CleanedAtSite { workload, lacking })
        });
        cleaned.collect()
    }

    fn clean_without(&self, log: &Log, left_out: &LeftOut) -> Result<Workload, TraceError> {
        let Some(model) = &self.estimates else {
            return self.complete(clean_at(log, &self.rules(), self.site())?, log, left_out);
        };
        let (missing_estimate, overrun) = (MissingEstimate::Largest, Overrun::Extend);
        let mut workload = clean(log, &Cleaning { missing_estimate, overrun, ..self.rules() })?;
        replace_estimates(&mut workload, log, model, self.estimates_seed)
            .map_err(|why| TraceError::unusable(&log.name, why))?;
        if self.cleaning.overrun == Overrun::Kill {
            workload.jobs.iter_mut().for_each(|job| job.runtime = job.runtime.min(job.submission.estimate));
        }
        self.complete(workload, log, left_out)
    }

    /// The machine with its names for partitions. None: a pool of processors.
    fn site(&self) -> Option<LogSite<'_>> {
        let machine = self.machine.as_ref()?;
        Some(LogSite { cluster: &machine.cluster, names: &self.partition_map })
    }

    /// Puts the jobs on the machine, and finds out which of them follow others.
    fn complete(&self, mut workload: Workload, log: &Log, left_out: &LeftOut) -> Result<Workload, TraceError> {
        workload.leave_out(|job| left_out.contains(&job.record))?;
        let mut workload = self.put_on_machine(workload, log)?;
        workload.outages = self.outages_of(&workload, &log.names)?;
        self.feedback.iter().try_fold(workload, |workload, model| model.link(workload, &log.preceding))
    }

    /// The outages of a workload on its machine, whose users have these names.
    ///
    /// # Errors
    /// If the file names what the machine does not have, or times that no outage can have.
    pub fn outages_of(&self, workload: &Workload, names: &LogNames) -> Result<Option<Arc<Outages>>, TraceError> {
        let Some(file) = &self.outages else { return Ok(None) };
        Ok(Some(Arc::new(outages_of(file, self.on_failure_kills, workload, names)?)))
    }

    fn put_on_machine(&self, workload: Workload, log: &Log) -> Result<Workload, TraceError> {
        let Some(machine) = &self.machine else { return Ok(workload) };
        let mut cluster = Arc::clone(&machine.cluster);
        if !self.added_nodes.is_empty() || self.removed_nodes.is_some() {
            let changed = self.added_nodes.add_to(&cluster);
            let changed = changed.and_then(|cluster| match &self.removed_nodes {
                None => Ok(cluster),
                Some(list) => nodes_of(list, &cluster).and_then(|nodes| cluster.without_nodes(&nodes)),
            });
            cluster = Arc::new(changed.map_err(|why| TraceError::unusable(&machine.file, why))?);
        }
        if let Some(file) = &self.associations {
            let own = file.of(&cluster).map_err(|why| TraceError::unusable(&machine.file, why))?;
            Arc::make_mut(&mut cluster).associations = own.associations.clone();
        }
        if !self.scaled_limits.is_empty() {
            let scaled = self.scaled_limits.apply(&mut Arc::make_mut(&mut cluster).associations);
            scaled.map_err(|why| TraceError::unusable(&machine.file, why))?;
        }
        let workload = put_on_cluster(workload, &cluster, &self.partition_map, &log.names, self.reading.unit)?;
        let unplaceable = &workload.cleaning.unplaceable;
        if self.cleaning.strict && unplaceable.count() > 0 {
            let why = format!(
                "job {} can never run on the machine ({}); without --strict such jobs are dropped and counted",
                unplaceable.first,
                unplaceable.in_words()
            );
            return Err(TraceError::unusable(&log.name, why));
        }
        Ok(workload)
    }

    /// As [`Options::clean`], but reuses the memory of the log's records: the log has none afterwards.
    ///
    /// # Errors
    /// As [`Options::clean`].
    pub fn clean_out(&self, log: &mut Log) -> Result<Workload, TraceError> {
        if self.estimates.is_none() {
            let workload = clean_out(log, &self.rules(), self.site())?;
            return self.complete(workload, log, &LeftOut::new());
        }
        let workload = self.clean(log);
        log.records = Vec::new();
        workload
    }

    /// Shapes a cleaned workload.
    ///
    /// # Errors
    /// As [`crate::trace::shape`], or if no job is left to measure.
    pub fn shape(&self, workload: Workload) -> Result<Workload, TraceError> {
        self.shape_like(workload, None)
    }

    /// The same as [`shape_like`], for the site of a comparison.
    ///
    /// # Errors
    /// As [`Options::shape`].
    pub fn shape_like(&self, workload: Workload, like: Option<&Workload>) -> Result<Workload, TraceError> {
        if self.shaping.resample.is_some() && self.has_replay() {
            let why = "replay repeats the waits of the log, and a resample has none: remove --resample";
            return Err(TraceError::unusable(&workload.label, why));
        }
        let workload = shape_like(workload, like, &self.shaping)?;
        if self.measure.jobs(workload.jobs.len()).is_empty() {
            let why = format!("--warmup and --cooldown leave none of the {} to measure", workload.jobs.len());
            return Err(TraceError::NoJobs { name: workload.label, why });
        }
        Ok(workload)
    }
}
