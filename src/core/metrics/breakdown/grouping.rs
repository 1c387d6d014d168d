//! Puts the jobs of a workload into groups.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::group_by::{GroupBy, runtime_class, runtime_class_name, width_class, width_class_name};
use super::request_classes::RequestClasses;
use crate::job::Job;
use crate::metrics::Measure;
use crate::metrics::fairness::area;
use crate::sort::sort_by_key;
use crate::time::{DAY, HOUR, Seconds, date};
use crate::trace::Workload;

impl GroupBy {
    /// Gives each job with its class to `each`. Classes that are not names are in ascending order. `times` are the submissions
    /// since the beginning of a Monday, or since the first submission; only groups of the calendar need them. `asked` are the
    /// classes of requests, if the groups come from these.
    ///
    /// Every key has a loop of its own: a million jobs have nine million classes.
    fn classify(
        self,
        jobs: &[Job],
        times: &[Seconds],
        asked: Option<&RequestClasses>,
        mut each: impl FnMut(&Job, i64),
    ) {
        let jobs = jobs.iter();
        if let Some(asked) = asked {
            return jobs.for_each(|job| each(job, asked.class(job.request)));
        }
        match self {
            GroupBy::Width => jobs.for_each(|job| each(job, width_class(job.submission.procs))),
            GroupBy::Runtime => jobs.for_each(|job| each(job, runtime_class(job.runtime))),
            GroupBy::Estimate => jobs.for_each(|job| each(job, runtime_class(job.submission.estimate))),
            GroupBy::User => jobs.for_each(|job| each(job, job.submission.user.into())),
            GroupBy::Group => jobs.for_each(|job| each(job, job.submission.group.into())),
            GroupBy::Queue => jobs.for_each(|job| each(job, job.submission.queue.into())),
            GroupBy::Partition => jobs.for_each(|job| each(job, job.submission.partition.into())),
            GroupBy::Week => jobs.zip(times).for_each(|(job, time)| each(job, time.div_euclid(7 * DAY))),
            GroupBy::Hour => jobs.zip(times).for_each(|(job, time)| each(job, time.rem_euclid(DAY) / HOUR)),
            GroupBy::Qos | GroupBy::Account | GroupBy::Device(_) | GroupBy::Memory => {
                unreachable!("these have classes of requests")
            }
        }
    }

    /// The name of a class.
    fn value(self, class: i64, workload: &Workload, asked: Option<&RequestClasses>) -> String {
        if let Some(asked) = asked {
            return asked.value(self, class);
        }
        if let Some(kind) = self.kind() {
            return workload.shown(kind, class as i32);
        }
        match self {
            GroupBy::Width => width_class_name(class),
            GroupBy::Runtime | GroupBy::Estimate => runtime_class_name(class),
            GroupBy::Week if workload.unix_start.is_some() => date(class * 7 * DAY - 3 * DAY),
            GroupBy::Week => (class + 1).to_string(),
            // The hour.
            _ => format!("{class:02}"),
        }
    }
}

/// The groups of the measured jobs of a workload. They do not depend on how the jobs are scheduled.
#[derive(Clone, Debug)]
pub struct Grouping {
    /// By what they are grouped.
    pub by: GroupBy,
    /// The value of each group, such as `3-4` for a width.
    pub values: Vec<String>,
    /// The share of each group in the area of all measured jobs, in percent.
    pub area_pct: Vec<f64>,
}

/// Several groupings of the same jobs.
#[derive(Clone, Debug, Default)]
pub struct Groupings {
    each: Vec<Arc<Grouping>>,
    /// For each grouping the slots of its groups, in the order of the groups.
    slots: Vec<Vec<u32>>,
    /// For each grouping the first of its slots.
    bases: Vec<u32>,
    /// The slots of all jobs, less those bases: of the first job in each grouping, of the second job, and so on. Percentiles
    /// read the jobs in the order of their waits; so the slots of one job are in one place of the memory.
    places: Vec<u32>,
}

impl Groupings {
    /// Groups the measured jobs by several keys. For each key, of groups that are names only so many are kept, the largest by
    /// area, and the jobs of all others are one more group.
    pub fn of(workload: &Workload, measure: &Measure, keys: &[(GroupBy, Option<usize>)]) -> Groupings {
        let jobs = &workload.jobs[measure.jobs(workload.jobs.len())];
        let width = keys.len().max(1);
        let mut found: Vec<_> = keys.iter().map(|_| Classes::default()).collect();
        let asked: Vec<_> = keys.iter().map(|&(by, _)| RequestClasses::of(by, workload)).collect();
        let mut places = vec![0; jobs.len() * keys.len()];
        let first = workload.first_submit();
        let mut clock = workload.zone.clock();
        let mut since_monday = |job: &Job| match workload.unix_start {
            // Monday 1969-12-29 began three days before the Unix time 0.
            Some(start) => clock.local(start + job.submission.submit) + 3 * DAY,
            None => job.submission.submit - first,
        };
        let needs_times = keys.iter().any(|(by, _)| by.is_of_the_calendar());
        let mut times = Vec::new();
        // In blocks, so that all keys find a job in the cache.
        for (jobs, places) in jobs.chunks(BLOCK).zip(places.chunks_mut(BLOCK * width)) {
            if needs_times {
                times.clear();
                times.extend(jobs.iter().map(&mut since_monday));
            }
            for (key, (&(by, _), found)) in keys.iter().zip(&mut found).enumerate() {
                let mut at = key;
                by.classify(jobs, &times, asked[key].as_ref(), |job, class| {
                    places[at] = found.place(class, job);
                    at += width;
                });
            }
        }
        let mut all = Groupings { places, ..Groupings::default() };
        let mut base = 0;
        for (key, (&(by, top), found)) in keys.iter().zip(found).enumerate() {
            let (grouping, groups) = found.grouping(by, top, workload, asked[key].as_ref());
            let mut slots: Vec<u32> = (0..grouping.values.len() as u32).collect();
            if slots.len() < groups.len() {
                // Several classes are one group.
                let of_key = all.places.iter_mut().skip(key).step_by(width);
                of_key.for_each(|place| *place = groups[*place as usize]);
            } else {
                groups.iter().zip(0..).for_each(|(&group, class)| slots[group as usize] = class);
            }
            all.bases.push(base);
            base += slots.len() as u32;
            all.slots.push(slots);
            all.each.push(Arc::new(grouping));
        }
        all
    }

    /// Each grouping.
    pub fn each(&self) -> &[Arc<Grouping>] {
        &self.each
    }

    /// The number of slots, which is that of the groups of all groupings.
    pub fn slots(&self) -> usize {
        self.slots.iter().map(Vec::len).sum()
    }

    /// The slots of a measured job, one for each grouping.
    pub fn slots_of(&self, at: usize) -> impl Iterator<Item = usize> {
        let places = &self.places[at * self.bases.len()..][..self.bases.len()];
        places.iter().zip(&self.bases).map(|(place, base)| (place + base) as usize)
    }

    /// What belongs to the slots, for each grouping in the order of its groups.
    pub fn by_group<T: Clone>(&self, of_slots: &[T]) -> impl Iterator<Item = Vec<T>> {
        let of_grouping = |(slots, &base): (&Vec<u32>, &u32)| {
            slots.iter().map(|slot| of_slots[(slot + base) as usize].clone()).collect()
        };
        self.slots.iter().zip(&self.bases).map(of_grouping)
    }
}

/// The classes of one key, in the order of their first jobs.
#[derive(Default)]
struct Classes {
    classes: Vec<i64>,
    areas: Vec<i128>,
    /// The place of each class from 0 on, and [`NOWHERE`] for those that were not seen: most classes are small numbers, and a
    /// million jobs ask nine million times.
    small: Vec<u32>,
    /// The places of all other classes.
    large: FxHashMap<i64, u32>,
}

/// The number of jobs that are grouped by one key before the next one.
const BLOCK: usize = 512;

const NOWHERE: u32 = u32::MAX;

/// The number of classes that are in the table.
const SMALL: usize = 1 << 12;

impl Classes {
    /// The place of a class, to which this job is added.
    #[inline]
    fn place(&mut self, class: i64, job: &Job) -> u32 {
        // A negative class is a large index.
        let place = match self.small.get(class as usize) {
            Some(&place) if place != NOWHERE => place,
            _ => self.find_or_add(class),
        };
        self.areas[place as usize] += area(job);
        place
    }

    fn find_or_add(&mut self, class: i64) -> u32 {
        match self.large.get(&class) {
            Some(&place) => place,
            None => self.add(class),
        }
    }

    #[cold]
    fn add(&mut self, class: i64) -> u32 {
        let place = self.classes.len() as u32;
        self.classes.push(class);
        self.areas.push(0);
        match class {
            0.. if (class as usize) < SMALL => {
                self.small.resize(self.small.len().max(class as usize + 1), NOWHERE);
                self.small[class as usize] = place;
            }
            _ => {
                self.large.insert(class, place);
            }
        }
        place
    }

    /// The groups of these classes, and the group of each class.
    fn grouping(
        self,
        by: GroupBy,
        top: Option<usize>,
        workload: &Workload,
        asked: Option<&RequestClasses>,
    ) -> (Grouping, Vec<u32>) {
        let Classes { classes, areas, .. } = self;
        let mut order: Vec<usize> = (0..classes.len()).collect();
        match by.is_by_name() {
            // Names with equal areas stay in the order of their first jobs.
            true => sort_by_key(&mut order, |&place| std::cmp::Reverse(areas[place])),
            false => sort_by_key(&mut order, |&place| classes[place]),
        }
        let kept = top.filter(|_| by.is_by_name()).map_or(order.len(), |top| top.min(order.len()));
        let (kept, others) = order.split_at(kept);
        let mut values: Vec<_> = kept.iter().map(|&place| by.value(classes[place], workload, asked)).collect();
        let mut sums: Vec<_> = kept.iter().map(|&place| areas[place]).collect();
        if !others.is_empty() {
            values.push(format!("{} others", others.len()));
            sums.push(others.iter().map(|&place| areas[place]).sum());
        }
        let mut groups = vec![kept.len() as u32; classes.len()];
        kept.iter().zip(0..).for_each(|(&place, at)| groups[place] = at);
        let all = areas.iter().sum::<i128>() as f64;
        let area_pct = sums.iter().map(|&sum| sum as f64 / all * 100.0).collect();
        (Grouping { by, values, area_pct }, groups)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Submission;
    use crate::trace::demo_workload;

    fn workload(jobs: &[(i64, u32, i64, i32)]) -> Workload {
        let job = |&(submit, procs, runtime, user)| {
            Job::new(Submission { user, ..Submission::new(submit, procs, 2 * runtime) }, runtime)
        };
        Workload { jobs: jobs.iter().map(job).collect(), unix_start: None, ..demo_workload() }
    }

    fn groups(workload: &Workload, by: GroupBy, top: Option<usize>) -> Vec<(String, usize)> {
        let groupings = Groupings::of(workload, &Measure::default(), &[(by, top)]);
        let count = |slot: &u32| groupings.places.iter().filter(|&place| place == slot).count();
        groupings.each[0]
            .values
            .iter()
            .zip(&groupings.slots[0])
            .map(|(value, slot)| (value.clone(), count(slot)))
            .collect()
    }

    #[test]
    fn classes_end_at_powers_of_two_and_at_round_times() {
        let all = workload(&[(0, 1, 60, 1), (0, 2, 61, 1), (0, 3, 600, 1), (0, 4, 86_400, 1), (0, 5, 86_401, 1)]);
        let text = |by| {
            groups(&all, by, None).iter().map(|(value, jobs)| format!("{value}: {jobs}")).collect::<Vec<_>>().join(", ")
        };
        assert_eq!(text(GroupBy::Width), "1: 1, 2: 1, 3-4: 2, 5-8: 1");
        assert_eq!(text(GroupBy::Runtime), "up to 1m: 1, up to 10m: 2, up to 1d: 1, more: 1");
        assert_eq!(text(GroupBy::Estimate), "up to 10m: 2, up to 1h: 1, more: 2");
        assert_eq!((width_class(u32::MAX), width_class(1 << 31)), (32, 31));
    }

    #[test]
    fn names_come_by_area_and_the_small_ones_together() {
        let all = workload(&[(0, 1, 10, 5), (1, 1, 30, 6), (2, 2, 10, 7), (3, 1, 10, -1), (4, 1, 5, 8)]);
        let whole = groups(&all, GroupBy::User, None);
        assert_eq!(whole.iter().map(|(user, _)| user.as_str()).collect::<Vec<_>>(), ["6", "7", "5", "unknown", "8"]);
        let cut = groups(&all, GroupBy::User, Some(2));
        assert_eq!(cut[2], ("3 others".to_string(), 3));
        let groupings = Groupings::of(&all, &Measure::default(), &[(GroupBy::User, Some(2))]);
        assert_eq!(groupings.each[0].area_pct, [40.0, 20.0 / 75.0 * 100.0, 25.0 / 75.0 * 100.0]);
    }

    #[test]
    fn weeks_and_hours_are_those_of_the_calendar_where_the_log_has_one() {
        let (day, week) = (DAY, 7 * DAY);
        let mut all =
            workload(&[(100, 1, 1, 1), (100 + day - 1, 1, 1, 1), (100 + week, 1, 1, 1), (100 + 3 * week, 1, 1, 1)]);
        let values = |all: &Workload, by| groups(all, by, None).into_iter().map(|(value, _)| value).collect::<Vec<_>>();
        assert_eq!(values(&all, GroupBy::Week), ["1", "2", "4"]);
        assert_eq!(values(&all, GroupBy::Hour), ["00", "23"]);
        // Sunday 2016-12-25, 23:58:20 in UTC, as the demo log has no zone: the first job comes on that Sunday, the second
        // in the next week.
        all.unix_start = Some(1_482_710_300 - 100);
        all.zone = crate::trace::Zone::default();
        assert_eq!(values(&all, GroupBy::Week), ["2016-12-19", "2016-12-26", "2017-01-09"]);
        assert_eq!(values(&all, GroupBy::Hour), ["23"]);
    }

    #[test]
    fn names_are_read_back() {
        for by in GroupBy::all() {
            assert_eq!(GroupBy::parse(by.name()), Ok(by));
        }
        assert!(GroupBy::parse("site").unwrap_err().contains("width, runtime, estimate, user"));
    }
}
