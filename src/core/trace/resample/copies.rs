//! Makes the workload of a draw: every copy is a user of its own, with its own links between jobs.

use std::sync::Arc;

use litemap::LiteMap;
use rustc_hash::FxHashMap;

use super::draw::DrawnJob;
use crate::job::Job;
use crate::time::Seconds;
use crate::trace::conditions::{JobArray, LogConditions};
use crate::trace::feedback::{FollowingJob, LogFeedback, ReactionGroup};
use crate::trace::ids::LogIds;
use crate::trace::resampled::Resampled;
use crate::trace::workload::Workload;

/// A record that no job has: what waits for it or follows it is cut, and counted as such.
const CUT: u32 = u32::MAX;

/// Where the jobs of the log are in the resample: record of the log, copy and place, in this order.
struct CopyPlaces(Vec<(u32, u32, u32)>);

impl CopyPlaces {
    /// The copies that have a record of the log, with its place in each.
    fn of_record(&self, record: u32) -> impl Iterator<Item = (u32, u32)> {
        let first = self.0.partition_point(|&(other, ..)| other < record);
        self.0[first..].iter().take_while(move |(other, ..)| *other == record).map(|&(_, copy, place)| (copy, place))
    }

    /// The place of a record of the log in a copy, if it is before this place. None if it comes later, which happens where a copy
    /// passes the end of the circle, or if the copy does not have it.
    fn before(&self, record: u32, copy: u32, place: u32) -> Option<u32> {
        let at = self.0.binary_search_by_key(&(record, copy), |&(record, copy, _)| (record, copy)).ok()?;
        Some(self.0[at].2).filter(|other| *other < place)
    }
}

/// The drawn jobs of a workload, numbered from 1 in order of submission, with the numbers of their copies as users.
pub fn with_copies(workload: &Workload, drawn: Vec<DrawnJob>, facts: Resampled) -> Workload {
    let drawn = in_order(&drawn);
    let first = workload.first_submit();
    let of_log = |job: &DrawnJob| &workload.jobs[job.at as usize];
    let jobs = drawn.iter().zip(0..).map(|(drawn, place)| with_copy(of_log(drawn), drawn, first, place)).collect();
    let in_log = drawn.iter().map(|job| (of_log(job).record, of_log(job).number)).collect();
    let mut made = workload.with_jobs(jobs);
    made.ids = Arc::new(LogIds::of_copies(Arc::clone(&workload.ids), in_log));
    let has_conditions = !workload.conditions.is_empty() || !workload.conditions.arrays.is_empty();
    if has_conditions || workload.feedback.is_some() {
        let mut places: Vec<_> = drawn.iter().zip(0..).map(|(job, at)| (of_log(job).record, job.copy, at)).collect();
        places.sort_unstable();
        let places = CopyPlaces(places);
        made.conditions = Arc::new(conditions_of_copies(&workload.conditions, workload, &drawn, &places));
        let links = |feedback: &Arc<LogFeedback>| Arc::new(links_of_copies(feedback, &places));
        made.feedback = workload.feedback.as_ref().map(links);
    }
    let users: Vec<(i64, i64)> = (1..).zip(facts.users.iter().map(|&user| workload.wide.number(user))).collect();
    if let Some(shapes) = &mut made.shapes {
        Arc::make_mut(shapes).rename_users(&users);
    }
    if let Some(outages) = &mut made.outages {
        Arc::make_mut(outages).rename_users(&facts.users);
    }
    made.names.add_copies(&users);
    let records = drawn.iter().map(|job| of_log(job).record).collect();
    made.resampled = Some(Arc::new(Resampled { records, ..facts }));
    made
}

/// The jobs by submission, copy and place in the log. They are put into as many spans of time as there are jobs, and then sorted in
/// each: one sort of all took 7 of the 18 million instructions of a resample of KTH, this takes 4.
fn in_order(drawn: &[DrawnJob]) -> Vec<DrawnJob> {
    let end = drawn.iter().map(|job| job.since).max().unwrap_or(0) + 1;
    let span = |job: &DrawnJob| (job.since / (end / drawn.len() as Seconds + 1)) as usize;
    let mut begins = vec![0; drawn.len() + 1];
    drawn.iter().for_each(|job| begins[span(job) + 1] += 1);
    (1..begins.len()).for_each(|at| begins[at] += begins[at - 1]);
    let mut sorted = drawn.to_vec();
    for job in drawn {
        let place = &mut begins[span(job)];
        sorted[*place] = *job;
        *place += 1;
    }
    for in_span in sorted.chunk_by_mut(|one, next| span(one) == span(next)) {
        in_span.sort_unstable_by_key(|job| (job.since, job.copy, job.at));
    }
    sorted
}

fn with_copy(job: &Job, drawn: &DrawnJob, first: Seconds, place: u32) -> Job {
    let mut job = *job;
    job.submission.submit = first + drawn.since;
    job.submission.user = drawn.copy as i32 + 1;
    (job.record, job.number) = (place, i64::from(place) + 1);
    job
}

/// The conditions of the jobs of all copies. A job waits for jobs of its own copy only, and each copy has its own arrays.
fn conditions_of_copies(
    conditions: &LogConditions,
    workload: &Workload,
    drawn: &[DrawnJob],
    places: &CopyPlaces,
) -> LogConditions {
    let array_of = conditions.array_places();
    let (mut by_record, mut arrays, mut numbers) = (Vec::new(), Vec::<JobArray>::new(), FxHashMap::default());
    for (job, place) in drawn.iter().zip(0..) {
        let record = workload.jobs[job.at as usize].record;
        let array = array_of.get(&record).map(|&array| {
            let number = *numbers.entry((array, job.copy)).or_insert_with(|| {
                let JobArray { id, limit, .. } = &conditions.arrays[array as usize];
                arrays.push(JobArray { id: id.clone(), limit: *limit, tasks: Vec::new() });
                arrays.len() as u32 - 1
            });
            arrays[number as usize].tasks.push(place);
            number
        });
        let Some(of_log) = conditions.get(record as usize) else { continue };
        let mut own = of_log.clone();
        for dependency in &mut own.after {
            dependency.record = places.before(dependency.record, job.copy, place).unwrap_or(CUT);
        }
        own.array = own.array.and(array);
        by_record.push((place, own));
    }
    LogConditions::new(by_record, arrays, conditions.unknown)
}

/// Each copy has the links of its user. A link is cut if its preceding job is not in the copy, or comes later in it.
fn links_of_copies(feedback: &LogFeedback, places: &CopyPlaces) -> LogFeedback {
    let mut groups = Vec::new();
    for ReactionGroup { preceding, following } in &feedback.groups {
        let (mut by_copy, mut cut) = (LiteMap::<u32, ReactionGroup>::new(), Vec::new());
        for job in following {
            for (copy, place) in places.of_record(job.record) {
                let preceding = preceding.iter().map(|&record| places.before(record, copy, place));
                let own = FollowingJob { record: place, ..*job };
                match preceding.collect::<Option<Vec<u32>>>() {
                    None => cut.push(own),
                    Some(preceding) => {
                        let group = || ReactionGroup { preceding, following: Vec::new() };
                        by_copy.entry(copy).or_insert_with(group).following.push(own);
                    }
                }
            }
        }
        groups.extend(by_copy.into_tuple_vec().into_iter().map(|(_, group)| group));
        if !cut.is_empty() {
            groups.push(ReactionGroup { preceding: vec![CUT], following: cut });
        }
    }
    LogFeedback { groups, unusable: feedback.unusable }
}
