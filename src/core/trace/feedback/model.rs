//! How links between jobs are found.

use std::fmt;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::fields::links_of_fields;
use super::sessions::links_of_sessions;
use super::think::links_of_think_times;
use super::{LogFeedback, Preceding, ReactionGroup};
use crate::sort::sort_by_key;
use crate::spec::{Form, Key, Kind, Spec, SpecError};
use crate::trace::error::TraceError;
use crate::trace::workload::Workload;

const LIMIT: Key = Key {
    name: "limit",
    kind: Kind::Duration { least: 0 },
    default: "20m",
    about: "the longest think time; after a longer one the job arrives at its time in the log",
};

static THINK: Form = Form {
    name: "think",
    about: "a job arrives a think time after the end of the user's job that ended last before it in the log",
    keys: &[LIMIT],
};

static SESSION: Form = Form {
    name: "session",
    about: "a batch of jobs arrives a think time after the end of the user's batch before it in the session",
    keys: &[LIMIT],
};

static SWF: Form = Form {
    name: "swf",
    about: "the preceding job and the think time of each job as the log has them, fields 17 and 18 of SWF",
    keys: &[],
};

/// The names and keys of all ways to find links.
pub fn feedback_forms() -> [&'static Form; 3] {
    [&THINK, &SESSION, &SWF]
}

/// A way to find links. Printing it gives the shortest equivalent spec.
#[derive(Clone, Debug, PartialEq)]
pub struct FeedbackModel {
    spec: Spec,
}

impl FeedbackModel {
    /// Reads a spec, such as `think:limit=1h`.
    ///
    /// # Errors
    /// If the name, the key or its value is invalid.
    pub fn parse(text: &str) -> Result<FeedbackModel, SpecError> {
        Ok(FeedbackModel { spec: Spec::parse(text, "feedback model", &feedback_forms())? })
    }

    /// The spec.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Whether it reads the links of the log itself.
    pub fn is_of_the_log(&self) -> bool {
        self.spec.name() == SWF.name
    }

    /// The links of a cleaned log, of which fields 17 and 18 are `preceding`.
    ///
    /// # Errors
    /// If the log has nothing from which links could be found.
    pub fn links(&self, workload: &Workload, preceding: &[Preceding]) -> Result<LogFeedback, TraceError> {
        let jobs = &workload.jobs;
        let refused = |why: &str| Err(TraceError::unusable(&workload.label, why));
        if self.is_of_the_log() {
            return match preceding.is_empty() {
                true => refused(
                    "--feedback swf: no job has a preceding job (field 17): `sim trace convert --feedback think` makes a \
                     log with these",
                ),
                false => Ok(links_of_fields(jobs, preceding)),
            };
        }
        if jobs.iter().all(|job| job.recorded_wait.get().is_none()) {
            return refused(
                "--feedback needs the waits of the log to know when jobs ended, but no job has one (field 3; a log written \
                 by --swf-out has them)",
            );
        }
        let limit = self.spec.duration("limit");
        let groups = match self.spec.name() {
            "think" => links_of_think_times(jobs, limit),
            _ => links_of_sessions(jobs, limit),
        };
        Ok(LogFeedback { groups, unusable: 0 })
    }

    /// The links of a cleaned log as fields 17 and 18 of its records, in order of records.
    ///
    /// # Errors
    /// As [`FeedbackModel::links`], or if these fields cannot say it: a job follows several others, or numbers of jobs repeat.
    pub fn fields(&self, workload: &Workload, preceding: &[Preceding]) -> Result<Vec<Preceding>, TraceError> {
        self.fields_of(workload, &self.links(workload, preceding)?)
    }

    /// These links of the jobs of a workload, as [`FeedbackModel::fields`]. Those that are cut are left out.
    ///
    /// # Errors
    /// As [`FeedbackModel::fields`].
    pub fn fields_of(&self, workload: &Workload, feedback: &LogFeedback) -> Result<Vec<Preceding>, TraceError> {
        let number_of: FxHashMap<u32, i64> = workload.jobs.iter().map(|job| (job.record, job.number)).collect();
        let is_whole = |group: &&ReactionGroup| number_of.contains_key(&group.preceding[0]);
        let mut groups: Vec<ReactionGroup> = feedback.groups.iter().filter(is_whole).cloned().collect();
        let mut fields = Vec::new();
        for group in &groups {
            let number = number_of[&group.preceding[0]];
            fields.extend(group.following.iter().map(|job| Preceding { record: job.record, number, think: job.delay }));
        }
        sort_by_key(&mut fields, |preceding| preceding.record);
        let mut read_back = links_of_fields(&workload.jobs, &fields).groups;
        for groups in [&mut groups, &mut read_back] {
            sort_by_key(groups, |group| group.following[0].record);
        }
        match read_back == groups {
            true => Ok(fields),
            false => Err(TraceError::unusable(
                &workload.label,
                format!(
                    "the links of --feedback {self} cannot be written as fields 17 and 18: a job would follow several others, or \
                     its preceding job has a negative number or the number of another one; think can be written if numbers do \
                     not repeat"
                ),
            )),
        }
    }

    /// The workload with its links.
    ///
    /// # Errors
    /// As [`FeedbackModel::links`].
    pub fn link(&self, workload: Workload, preceding: &[Preceding]) -> Result<Workload, TraceError> {
        let feedback = Some(Arc::new(self.links(&workload, preceding)?));
        Ok(Workload { feedback, ..workload })
    }
}

impl fmt::Display for FeedbackModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.spec.fmt(f)
    }
}
