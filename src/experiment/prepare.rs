//! From a log to the jobs to run, as the options say.

use super::options::Options;
use super::run::Setting;
use crate::model::replace_estimates;
use crate::schedule;
use crate::trace::{Cleaning, Log, MissingEstimate, Overrun, TraceError, Workload, clean, clean_out, shape};

impl Options {
    /// The rules of cleaning. If one of the runs replays the log's own schedule, its waits must be known; only if none
    /// has a schedule of its own may jobs be wider than the machine.
    pub fn rules(&self) -> Cleaning {
        let is_replay = schedule::catalog::is_replay(&self.scheduler);
        let others = self.baseline.as_ref().map(Setting::is_replay);
        Cleaning {
            need_waits: is_replay || others == Some(true),
            keep_wide: is_replay && others != Some(false),
            ..self.cleaning
        }
    }

    /// The jobs to run: cleaned, with the estimates they are to have, but not shaped yet.
    ///
    /// Estimates are made of all jobs of the log and before shaping: a model looks at the whole (how many different
    /// estimates there are hangs on the number of jobs), and a job keeps its estimate whatever part of the log is run, in
    /// which order, and how often. Cleaning must not see the estimates that are about to go: it drops no job for want of
    /// one, and what ends jobs, if that is asked for, are the new ones.
    pub fn clean(&self, log: &Log) -> Result<Workload, TraceError> {
        let Some(model) = &self.estimates else { return clean(log, &self.rules()) };
        let (missing_estimate, overrun) = (MissingEstimate::Largest, Overrun::Extend);
        let mut workload = clean(log, &Cleaning { missing_estimate, overrun, ..self.rules() })?;
        replace_estimates(&mut workload, log, model, self.estimates_seed)
            .map_err(|why| TraceError::Estimates { name: log.name.clone(), why })?;
        if self.cleaning.overrun == Overrun::Kill {
            workload.jobs.iter_mut().for_each(|job| job.runtime = job.runtime.min(job.submission.estimate));
        }
        Ok(workload)
    }

    /// The same of a log that is not needed any more: its records are gone afterwards.
    pub fn clean_out(&self, log: &mut Log) -> Result<Workload, TraceError> {
        if self.estimates.is_none() {
            return clean_out(log, &self.rules());
        }
        let workload = self.clean(log);
        log.records = Vec::new();
        workload
    }

    /// Shapes cleaned jobs; an error if none of them is measured.
    pub fn shape(&self, workload: Workload) -> Result<Workload, TraceError> {
        let workload = shape(workload, &self.shaping)?;
        if self.measure.jobs(workload.jobs.len()).is_empty() {
            let why = format!("--warmup and --cooldown leave none of the {} to measure", workload.jobs.len());
            return Err(TraceError::NoJobs { name: workload.label, why });
        }
        Ok(workload)
    }
}
