use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::job::{Job, Submission};
use crate::machine::{JobClass, Outage, OutageKind, Outages};
use crate::rng::random_cases;
use crate::trace::conditions::{Conditions, Dependency, DependencyKind, JobArray, LogConditions, TaskArrays};
use crate::trace::feedback::{FollowingJob, LogFeedback, ReactionGroup};
use crate::trace::shape::{Shaping, shape};

/// Jobs as (user, submission in hours, processors, runtime in minutes).
type Asked = Vec<(i32, i64, u32, i64)>;

/// A log of these jobs, which have the numbers of their records times ten. Each job follows the previous one of its user by
/// feedback, and the one before that is a dependency.
fn log(mut asked: Asked) -> Workload {
    asked.sort_by_key(|job| job.1);
    let job = |(&(user, submit, procs, minutes), record): (&(i32, i64, u32, i64), u32)| Job {
        record,
        number: i64::from(record) * 10,
        ..Job::new(Submission { user, ..Submission::new(1000 + submit * 3600, procs, 60 * minutes) }, 60 * minutes)
    };
    let jobs: Vec<Job> = asked.iter().zip(0..).map(job).collect();
    let before = |job: &Job, nth: usize| -> Option<u32> {
        let others =
            jobs[..job.record as usize].iter().rev().filter(|other| other.submission.user == job.submission.user);
        others.map(|other| other.record).nth(nth)
    };
    let group = |job: &Job| {
        let following = vec![FollowingJob { record: job.record, delay: 7, is_think_time: true }];
        Some(ReactionGroup { preceding: vec![before(job, 0)?], following })
    };
    let groups = jobs.iter().filter_map(group).collect();
    let conditions = |job: &Job| {
        let after = vec![Dependency { kind: DependencyKind::AfterAny, record: before(job, 1)? }];
        Some((job.record, Conditions { after, ..Conditions::default() }))
    };
    let conditions = LogConditions::new(jobs.iter().filter_map(conditions).collect(), Vec::new(), 0);
    Workload {
        label: "test".to_string(),
        procs: 16,
        jobs,
        feedback: Some(Arc::new(LogFeedback { groups, unusable: 0 })),
        conditions: Arc::new(conditions),
        ..Workload::default()
    }
}

fn asked(weeks: i64) -> impl Strategy<Value = Asked> {
    let job = (0..14i32, 0..weeks * 7 * 24, 1..=16u32, 1..600i64);
    prop::collection::vec(job, 60..160).prop_map(move |mut jobs| {
        // The log is as long as that, and has enough users.
        jobs.push((0, 0, 1, 1));
        jobs.push((1, weeks * 7 * 24, 1, 1));
        jobs.extend((0..12).map(|user| (user, 24 * i64::from(user), 1, 1)));
        jobs
    })
}

fn how(text: &str) -> Resample {
    Resample::parse(text).unwrap()
}

/// The jobs of each copy as (record of the log, submission), in the order of the log.
fn by_copy(made: &Workload) -> Vec<Vec<(u32, i64)>> {
    let resampled = made.resampled().unwrap();
    let mut copies = vec![Vec::new(); resampled.users.len()];
    for job in &made.jobs {
        let copy = job.submission.user as usize - 1;
        copies[copy].push((resampled.record_of_log(job.record), job.submission.submit));
    }
    copies.iter_mut().for_each(|jobs| jobs.sort_unstable());
    copies
}

proptest! {
    #![proptest_config(random_cases(120))]

    #[test]
    fn a_copy_is_a_whole_user_with_one_move((asked, seed, free) in (asked(11), 0..1000u64, any::<bool>())) {
        let log = log(asked);
        let way = how(if free { "users:profile=0,load=20%" } else { "users:load=20%" });
        let made = resample(&log, &way, seed).unwrap();
        prop_assert_eq!(&made.jobs, &resample(&log, &way, seed).unwrap().jobs);
        let year = Year::of(&log);
        let resampled = made.resampled().unwrap();
        prop_assert_eq!(resampled.weeks, 11);
        prop_assert_eq!(resampled.users.len(), year.users.len());
        let circle = 11 * WEEK;
        for (jobs, &user) in by_copy(&made).iter().zip(&resampled.users) {
            let of_log: Vec<u32> =
                log.jobs.iter().filter(|job| job.submission.user == user).map(|job| job.record).collect();
            prop_assert_eq!(jobs.iter().map(|(record, _)| *record).collect::<Vec<_>>(), of_log);
            let moved = |&(record, submit): &(u32, i64)| (submit - log.jobs[record as usize].submission.submit).rem_euclid(circle);
            prop_assert!(jobs.iter().all(|job| moved(job) == moved(&jobs[0]) && moved(job) % WEEK == 0));
        }
        prop_assert!(made.jobs.iter().all(|job| (0..circle).contains(&(job.submission.submit - 1000))));
        prop_assert!(made.jobs.is_sorted_by_key(|job| job.submission.submit));
        prop_assert!(made.jobs.iter().zip(0..).all(|(job, at)| job.record == at && job.number == i64::from(at) + 1));
        let area: f64 = made.jobs.iter().map(area).sum();
        prop_assert!((year.load_of(area) - resampled.load).abs() < 1e-9);
        prop_assert_eq!(resampled.is_load_met, (resampled.load / year.load - 1.0).abs() <= 0.2);
        prop_assert!(resampled.is_load_met || resampled.draws == 1000);
    }

    #[test]
    fn weeks_follow_each_other_in_blocks((asked, seed, block) in (asked(9), 0..1000u64, 1..=9usize)) {
        let log = log(asked);
        let made = resample(&log, &how(&format!("weeks:block={block},load=30%")), seed).unwrap();
        let resampled = made.resampled().unwrap();
        // Each week of the resample is one whole week of the log; the last one of the log has what comes after it.
        let week = |submit: i64| ((submit - 1000) / WEEK).min(8);
        let mut of_week = [None; 10];
        for job in &made.jobs {
            let of_log = &log.jobs[resampled.record_of_log(job.record) as usize];
            let moved = job.submission.submit - of_log.submission.submit;
            prop_assert_eq!(moved % WEEK, 0);
            let source = week(of_log.submission.submit);
            let place = source + moved / WEEK;
            prop_assert_eq!(*of_week[place as usize].get_or_insert(source), source);
            prop_assert_eq!(made.user_of_log(job), of_log.submission.user);
        }
        for (place, source) in of_week.iter().enumerate().take(9) {
            if let Some(source) = source {
                let jobs = |workload: &Workload, which: i64, is_of: &dyn Fn(&Job) -> i64| {
                    workload.jobs.iter().filter(|job| is_of(job) == which).count()
                };
                let of_log = jobs(&log, *source, &|job| week(job.submission.submit));
                let moved = |job: &Job| {
                    let of_log = &log.jobs[resampled.record_of_log(job.record) as usize].submission;
                    week(of_log.submit) + (job.submission.submit - of_log.submit) / WEEK
                };
                prop_assert_eq!(jobs(&made, place as i64, &moved), of_log);
                // Within a block, weeks follow each other around the circle.
                if place % block > 0 && let Some(before) = of_week[place - 1] {
                    prop_assert_eq!((before + 1) % 9, *source);
                }
            }
        }
        // No job has the same week of the log twice in one copy.
        let copies = by_copy(&made);
        prop_assert!(copies.iter().all(|jobs| jobs.windows(2).all(|pair| pair[0].0 != pair[1].0)));
    }

    #[test]
    fn links_stay_in_their_copy((asked, seed, weeks) in (asked(10), 0..1000u64, any::<bool>())) {
        let log = log(asked);
        let made = resample(&log, &how(if weeks { "weeks:load=50%" } else { "users:load=50%" }), seed).unwrap();
        let resampled = made.resampled().unwrap();
        let links = made.feedback_links().unwrap();
        let of_log = log.feedback.as_ref().unwrap();
        let mut linked = vec![None; made.jobs.len()];
        for group in &links.groups {
            for &(at, delay) in &group.following {
                prop_assert_eq!(delay, 7);
                linked[at as usize] = Some(group.preceding[0]);
            }
        }
        let mut cut = 0;
        for (job, at) in made.jobs.iter().zip(0..) {
            let record = resampled.record_of_log(job.record);
            let group = of_log.groups.iter().find(|group| group.following[0].record == record);
            // What precedes it in its own copy, if that comes before it.
            let preceding = group.and_then(|group| {
                let is_it = |other: &&Job| {
                    other.submission.user == job.submission.user
                        && resampled.record_of_log(other.record) == group.preceding[0]
                };
                made.jobs[..at as usize].iter().find(is_it).map(|other| other.record)
            });
            prop_assert_eq!(linked[at as usize], preceding);
            cut += u64::from(group.is_some() && preceding.is_none());
            for dependency in made.conditions.get(at as usize).iter().flat_map(|own| &own.after) {
                if let Some(other) = made.jobs.get(dependency.record as usize) {
                    prop_assert!(other.submission.user == job.submission.user && other.record < job.record);
                }
            }
        }
        prop_assert_eq!((links.cut, links.linked), (cut, linked.iter().flatten().count() as u64));
        // Around the circle each copy has one joint: a user's jobs in a row lose at most one link there.
        prop_assert!(weeks || cut <= resampled.users.len() as u64);
    }
}

/// Each user has an array of all its jobs, every other one with a limit.
#[test]
fn a_copy_has_arrays_of_its_own() {
    let mut log = log((0..240).map(|at| (at % 12, i64::from(at) * 9, 1, 60)).collect());
    let tasks = |user: u32| (0..240).filter(move |record| record % 12 == user).collect();
    let limit = |user: u32| (user.is_multiple_of(2)).then_some(3);
    let arrays =
        (0..12).map(|user| JobArray { id: user.to_string(), limit: limit(user), tasks: tasks(user) }).collect();
    let limited = (0..240u32).filter(|record| limit(record % 12).is_some());
    let own = |record: u32| (record, Conditions { array: Some(record % 12), ..Conditions::default() });
    for conditions in [limited.map(own).collect(), Vec::new()] {
        let has_limits = !conditions.is_empty();
        log.conditions = Arc::new(LogConditions::new(conditions, Vec::clone(&arrays), 0));
        let made = resample(&log, &how("users:load=50%"), 4).unwrap();
        let (users, in_queue) = (&made.resampled().unwrap().users, TaskArrays::of(&made));
        assert_eq!(made.conditions.arrays.len(), users.len());
        for array in &made.conditions.arrays {
            let copy = made.jobs[array.tasks[0] as usize].submission.user;
            assert_eq!(array.id, made.resampled().unwrap().user_of_log(copy).to_string());
            let own: Vec<u32> =
                made.jobs.iter().filter(|job| job.submission.user == copy).map(|job| job.record).collect();
            assert_eq!(array.tasks, own);
            let number = in_queue.of_job(own[0] as usize);
            assert!(number.is_some() && own.iter().all(|&at| in_queue.of_job(at as usize) == number));
        }
        for (record, own) in made.conditions.iter() {
            let array = &made.conditions.arrays[own.array.unwrap() as usize];
            assert!(has_limits && array.limit == Some(3) && array.tasks.contains(&(record as u32)));
        }
    }
}

#[test]
fn a_copy_has_the_reservations_of_its_user() {
    let mut log = log((0..240).map(|at| (at % 12, i64::from(at) * 9, 1, 60)).collect());
    let outage = Outage {
        start: 0,
        end: 10,
        announced: 0,
        kind: OutageKind::Reserved,
        procs: 1,
        nodes: Vec::new(),
        name: String::new(),
        place: String::new(),
    };
    let jobs = log.jobs.iter().map(|job| (job.submission.user, job.submission.group, job.request));
    let owns = |user| if user == 5 { vec![0] } else { Vec::new() };
    let class = |user, _, _| JobClass { owns: owns(user), named: Vec::new() };
    log.outages = Some(Arc::new(Outages::new(vec![outage], false, jobs, class)));
    let is_drawn = |seed: &u64| resample(&log, &how("users"), *seed).unwrap().resampled().unwrap().users.contains(&5);
    let seed = (1..20).find(is_drawn).unwrap();
    let made = resample(&log, &how("users"), seed).unwrap();
    let outages = made.outages.as_ref().unwrap();
    for job in &made.jobs {
        let class = outages.class_of(job.submission.user, job.submission.group, job.request);
        assert_eq!(outages.owns(class, 0), made.user_of_log(job) == 5);
    }
}

#[test]
fn levelled_weeks_vary_less_than_free_ones() {
    // Users with one busy week each: free moves put several of them into one week.
    let jobs = (0..24).flat_map(|user: i32| (0..20).map(move |job| (user, i64::from(user) * 7 * 24 + job, 8, 480)));
    let log = log(jobs.chain([(0, 24 * 7 * 24, 1, 1)]).collect());
    let deviation = |way: &str, seed| {
        let made = resample(&log, &how(way), seed).unwrap();
        let mut weekly = [0.0; 24];
        made.jobs.iter().for_each(|job| weekly[((job.submission.submit - 1000) / WEEK) as usize] += area(job));
        let mean = weekly.iter().sum::<f64>() / 24.0;
        weekly.iter().map(|week| (week - mean).powi(2)).sum::<f64>().sqrt() / mean
    };
    for seed in 1..=5 {
        let (free, levelled) = (deviation("users:profile=0", seed), deviation("users", seed));
        assert!(levelled < 0.2 && free > 1.0, "{levelled} {free}");
    }
}

#[test]
fn what_cannot_be_resampled_is_refused() {
    let refused = |workload: &Workload, text: &str| resample(workload, &how(text), 1).unwrap_err().to_string();
    let short = log((0..40).map(|at| (at, i64::from(at) * 21, 1, 1)).collect());
    assert!(refused(&short, "users").contains("the log has 5 weeks; --resample needs 8"));
    let few = log((0..40).map(|at| (at % 3, i64::from(at) * 42, 1, 1)).collect());
    assert!(refused(&few, "users").contains("the log names 3 users; --resample users needs 10: use --resample weeks"));
    assert!(refused(&few, "weeks:block=11").contains("block is at most 10, the weeks of the log"));
    let unknown = log((0..60).map(|at| (if at < 31 { -1 } else { at }, i64::from(at) * 42, 1, 1)).collect());
    assert!(refused(&unknown, "users").contains("the users of 52% of the area are unknown"));
    let made = resample(&few, &how("weeks"), 1).unwrap();
    let notes = |made: &Workload| made.resampled().unwrap().notes(7).collect::<Vec<_>>();
    let of_weeks = notes(&made);
    assert!(of_weeks[0] == (0, "the log has 3 users only: another year may have others".to_string()), "{of_weeks:?}");
    assert!(of_weeks[1].1.contains("35% of the area of the log: another year may be without"), "{of_weeks:?}");
    // Twelve users of equal areas in 8.4 weeks: on the circle of 8 weeks every draw has 1.05 times the load.
    let equal = log((0..48).map(|at| (at % 12, i64::from(at) * 30, 1, 60)).collect());
    let made = resample(&equal, &how("users:load=1%"), 7).unwrap();
    let (draws, of_users) = (made.resampled().unwrap().draws, notes(&made));
    assert!(draws == 1000 && !made.resampled().unwrap().is_load_met);
    assert!(of_users[0].1.contains("12 users only: resamples differ by which") && of_users.len() == 2, "{of_users:?}");
    assert!(of_users[1].0 == 7 && of_users[1].1.starts_with("resample 7: no draw of 1000"), "{of_users:?}");
    assert_eq!(notes(&resample(&equal, &how("users"), 7).unwrap()).len(), 1);
    let some = log((0..60).map(|at| (if at < 21 { -1 } else { at }, i64::from(at) * 42, 1, 1)).collect());
    assert!(notes(&resample(&some, &how("users:load=100%"), 1).unwrap())[0].1.contains("unknown users have 35%"));
    assert!(notes(&resample(&some, &how("weeks:load=100%"), 1).unwrap()).is_empty());
    for (text, why) in [
        ("users:load=0%", "a share from 1% to 100%"),
        ("weeks:block=0", "at least 1"),
        ("users:block=2", "no key 'block'"),
        ("year", "the resampling methods are users, weeks"),
    ] {
        let message = Resample::parse(text).unwrap_err().to_string();
        assert!(message.contains(why), "{message}");
    }
}

#[test]
fn a_part_is_taken_before_and_the_load_changed_after() {
    let log = log((0..200).map(|at| (at % 20, i64::from(at) * 9, 4, 60)).collect());
    let made = |shaping: Shaping| shape(log.clone(), &Shaping { resample: Some(how("users")), ..shaping }).unwrap();
    let whole = made(Shaping { first: Some(180), ..Shaping::default() });
    assert_eq!(whole.resampled().unwrap().weeks, 10);
    assert!(whole.jobs.iter().all(|job| whole.resampled().unwrap().record_of_log(job.record) < 180));
    let unlinked = Workload { feedback: None, ..log.clone() };
    let shaping = Shaping { resample: Some(how("users")), ..Shaping::default() };
    let (plain, busy) =
        (shape(unlinked.clone(), &shaping).unwrap(), shape(unlinked, &Shaping { load: 2.0, ..shaping }).unwrap());
    let first = plain.first_submit();
    let halved = |job: &Job| first + (job.submission.submit - first + 1) / 2;
    assert!(plain.jobs.iter().zip(&busy.jobs).all(|(plain, busy)| halved(plain) == busy.submission.submit));
}
