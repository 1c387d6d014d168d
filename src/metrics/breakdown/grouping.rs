//! How jobs are grouped: by width, runtime, user, hour and so on.

use rustc_hash::FxHashMap;

use crate::job::Job;
use crate::metrics::Measure;
use crate::metrics::fairness::area;
use crate::time::{DAY, HOUR, MINUTE, Seconds, date, print_duration};
use crate::trace::{WideNumbers, Workload};

/// By what jobs are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GroupBy {
    /// Processors, in powers of two.
    Width,
    /// The runtime.
    Runtime,
    /// The user's estimate of the runtime.
    Estimate,
    /// The user.
    User,
    /// The user's group.
    Group,
    /// The queue.
    Queue,
    /// The partition.
    Partition,
    /// The week of the submission: a calendar week if the log says when it begins, else seven days from the first submission.
    Week,
    /// The hour of the day of the submission, in the log's time zone. If the log does not say when it begins, days begin with
    /// the first submission.
    Hour,
}

/// All of them, with their names.
const ALL: [(&str, GroupBy); 9] = [
    ("width", GroupBy::Width),
    ("runtime", GroupBy::Runtime),
    ("estimate", GroupBy::Estimate),
    ("user", GroupBy::User),
    ("group", GroupBy::Group),
    ("queue", GroupBy::Queue),
    ("partition", GroupBy::Partition),
    ("week", GroupBy::Week),
    ("hour", GroupBy::Hour),
];

/// The longest runtime of each class. Longer ones are in one more class.
const RUNTIMES: [Seconds; 6] = [MINUTE, 10 * MINUTE, HOUR, 4 * HOUR, 12 * HOUR, DAY];

impl GroupBy {
    /// All of them, in the order of the documentation.
    pub fn all() -> impl Iterator<Item = GroupBy> {
        ALL.into_iter().map(|(_, by)| by)
    }

    /// As written on the command line.
    pub fn name(self) -> &'static str {
        ALL.into_iter().find(|(_, by)| *by == self).expect("all are in the list").0
    }

    /// Reads a name.
    ///
    /// # Errors
    /// If there is no such name; the message lists all.
    pub fn parse(text: &str) -> Result<GroupBy, String> {
        ALL.into_iter().find(|(name, _)| *name == text).map(|(_, by)| by).ok_or_else(|| {
            let names = ALL.map(|(name, _)| name).join(", ");
            format!("jobs cannot be grouped by '{text}': write one or more of {names}")
        })
    }

    /// Whether the groups are names, of which there may be many. They come in the order of their area, the largest first.
    pub fn is_by_name(self) -> bool {
        matches!(self, GroupBy::User | GroupBy::Group | GroupBy::Queue | GroupBy::Partition)
    }

    /// Whether the groups depend on the log's time zone.
    pub fn is_of_the_calendar(self) -> bool {
        matches!(self, GroupBy::Week | GroupBy::Hour)
    }

    /// The class of each job. Classes that are not names are in ascending order.
    fn classes<'a>(self, workload: &'a Workload, jobs: &'a [Job]) -> Box<dyn Iterator<Item = i64> + 'a> {
        let submissions = jobs.iter().map(|job| &job.submission);
        let runtime_class = |runtime: Seconds| RUNTIMES.partition_point(|&limit| limit < runtime) as i64;
        let first = workload.first_submit();
        let mut clock = workload.zone.clock();
        // Monday 1969-12-29 began three days before the Unix time 0.
        let mut local = move |submit| workload.unix_start.map(|start| clock.local(start + submit) + 3 * DAY);
        match self {
            GroupBy::Width => Box::new(submissions.map(|job| width_class(job.procs))),
            GroupBy::Runtime => Box::new(jobs.iter().map(move |job| runtime_class(job.runtime))),
            GroupBy::Estimate => Box::new(submissions.map(move |job| runtime_class(job.estimate))),
            GroupBy::User => Box::new(submissions.map(|job| job.user.into())),
            GroupBy::Group => Box::new(submissions.map(|job| job.group.into())),
            GroupBy::Queue => Box::new(submissions.map(|job| job.queue.into())),
            GroupBy::Partition => Box::new(submissions.map(|job| job.partition.into())),
            GroupBy::Week => Box::new(
                submissions.map(move |job| local(job.submit).unwrap_or(job.submit - first).div_euclid(7 * DAY)),
            ),
            GroupBy::Hour => Box::new(
                submissions.map(move |job| local(job.submit).unwrap_or(job.submit - first).rem_euclid(DAY) / HOUR),
            ),
        }
    }

    /// The name of a class.
    fn value(self, class: i64, has_calendar: bool, wide: &WideNumbers) -> String {
        match self {
            GroupBy::Width => match class {
                0 | 1 => (class + 1).to_string(),
                _ => format!("{}-{}", (1i64 << (class - 1)) + 1, 1i64 << class),
            },
            GroupBy::Runtime | GroupBy::Estimate => match RUNTIMES.get(class as usize) {
                Some(&limit) => format!("up to {}", print_duration(limit)),
                None => "more".to_string(),
            },
            GroupBy::User | GroupBy::Group | GroupBy::Queue | GroupBy::Partition => match class {
                -1 => "unknown".to_string(),
                code => wide.number(code as i32).to_string(),
            },
            GroupBy::Week if has_calendar => date(class * 7 * DAY - 3 * DAY),
            GroupBy::Week => (class + 1).to_string(),
            GroupBy::Hour => format!("{class:02}"),
        }
    }
}

/// 0 for one processor, 1 for two, 2 for three and four, 3 for five to eight.
fn width_class(procs: u32) -> i64 {
    i64::from(u32::BITS - procs.saturating_sub(1).leading_zeros())
}

/// The measured jobs of a workload, in groups. It does not depend on how they are scheduled.
#[derive(Clone, Debug)]
pub struct Grouping {
    /// By what they are grouped.
    pub by: GroupBy,
    /// The value of each group, such as `3-4` for a width.
    pub values: Vec<String>,
    /// The share of each group in the area of all measured jobs, in percent.
    pub area_pct: Vec<f64>,
    /// The group of each measured job.
    pub(super) places: Vec<u32>,
}

impl Grouping {
    /// Groups the measured jobs. Of groups that are names only the `top` largest by area are kept, and the jobs of all
    /// others are one more group.
    pub fn of(workload: &Workload, measure: &Measure, by: GroupBy, top: Option<usize>) -> Grouping {
        let jobs = &workload.jobs[measure.jobs(workload.jobs.len())];
        let mut found = FxHashMap::<i64, u32>::default();
        let (mut classes, mut areas) = (Vec::new(), Vec::<i128>::new());
        let mut last = (i64::MIN, 0);
        let mut places = Vec::with_capacity(jobs.len());
        for (job, class) in jobs.iter().zip(by.classes(workload, jobs)) {
            if class != last.0 {
                let place = *found.entry(class).or_insert_with(|| {
                    classes.push(class);
                    areas.push(0);
                    (areas.len() - 1) as u32
                });
                last = (class, place);
            }
            areas[last.1 as usize] += area(job);
            places.push(last.1);
        }
        let mut order: Vec<usize> = (0..classes.len()).collect();
        match by.is_by_name() {
            // Names with equal areas stay in the order of their first jobs.
            true => order.sort_by_key(|&place| std::cmp::Reverse(areas[place])),
            false => order.sort_by_key(|&place| classes[place]),
        }
        let kept = top.filter(|_| by.is_by_name()).map_or(order.len(), |top| top.min(order.len()));
        let (kept, others) = order.split_at(kept);
        let has_calendar = workload.unix_start.is_some();
        let mut values: Vec<_> =
            kept.iter().map(|&place| by.value(classes[place], has_calendar, &workload.wide)).collect();
        let mut sums: Vec<_> = kept.iter().map(|&place| areas[place]).collect();
        if !others.is_empty() {
            values.push(format!("{} others", others.len()));
            sums.push(others.iter().map(|&place| areas[place]).sum());
        }
        // Where each class has gone.
        let mut now = vec![kept.len() as u32; classes.len()];
        kept.iter().zip(0..).for_each(|(&place, at)| now[place] = at);
        places.iter_mut().for_each(|place| *place = now[*place as usize]);
        let all = areas.iter().sum::<i128>() as f64;
        Grouping { by, values, area_pct: sums.iter().map(|&sum| sum as f64 / all * 100.0).collect(), places }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Submission;
    use crate::trace::demo_workload;

    fn workload(jobs: &[(i64, u32, i64, i32)]) -> Workload {
        let job = |&(submit, procs, runtime, user)| Job {
            submission: Submission { user, ..Submission::new(submit, procs, 2 * runtime) },
            runtime,
            recorded_wait: None.into(),
            record: 0,
            number: 0,
        };
        Workload { jobs: jobs.iter().map(job).collect(), unix_start: None, ..demo_workload() }
    }

    fn groups(workload: &Workload, by: GroupBy, top: Option<usize>) -> Vec<(String, usize)> {
        let grouping = Grouping::of(workload, &Measure::default(), by, top);
        let count = |at: u32| grouping.places.iter().filter(|&&place| place == at).count();
        grouping.values.iter().zip(0..).map(|(value, at)| (value.clone(), count(at))).collect()
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
        let area = Grouping::of(&all, &Measure::default(), GroupBy::User, Some(2)).area_pct;
        assert_eq!(area, [40.0, 20.0 / 75.0 * 100.0, 25.0 / 75.0 * 100.0]);
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
