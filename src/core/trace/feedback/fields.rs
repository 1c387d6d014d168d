//! Links that the log itself has: the preceding job and the think time of each job, fields 17 and 18 of SWF.

use rustc_hash::FxHashMap;

use super::{LogFeedback, groups_of_pairs};
use crate::job::Job;
use crate::time::{FOREVER, Seconds};
use crate::trace::record::Fields;

/// The preceding job of a record. Few logs have any, so they are kept beside the records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preceding {
    /// The index of the record in the log, counted from 0.
    pub record: u32,
    /// The number of the preceding job (field 17).
    pub number: i64,
    /// The think time in seconds (field 18); negative if it is not known.
    pub think: Seconds,
}

impl Preceding {
    /// That of these fields. None if they name no preceding job.
    pub fn of_fields(record: usize, fields: &Fields) -> Option<Preceding> {
        let (number, think) = (fields[16], fields[17].min(FOREVER));
        (number >= 0).then_some(Preceding { record: record as u32, number, think })
    }
}

/// The links of jobs to the nearest earlier jobs with the numbers that the log names. `preceding` is in order of records.
pub fn links_of_fields(jobs: &[Job], preceding: &[Preceding]) -> LogFeedback {
    let mut links = Vec::new();
    let (mut latest, mut unusable) = (FxHashMap::default(), 0);
    for (at, job) in jobs.iter().enumerate() {
        if let Ok(place) = preceding.binary_search_by_key(&job.record, |preceding| preceding.record) {
            let Preceding { number, think, .. } = preceding[place];
            match latest.get(&number).filter(|_| think >= 0) {
                Some(&before) => links.push((before, at, think)),
                None => unusable += 1,
            }
        }
        latest.insert(job.number, at);
    }
    LogFeedback { groups: groups_of_pairs(jobs, links), unusable }
}
