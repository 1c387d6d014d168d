//! A small model of users who work in sessions. It has those properties of real logs that make predictors differ.
//!
//! A user has a few programs. A session is a sequence of jobs of one program with similar sizes and runtimes, each submitted
//! some time after the one before. Most users work by day. Estimates are round values, far too long, and the same for all
//! jobs of a program. Some jobs fail at once and some are ended at their estimate. These are observations of Talby et al.
//! (section 5.1) and Tsafrir et al. ("Modeling user runtime estimates"), not their fitted models.

use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Exp, Geometric, LogNormal};

use super::model_job::{ModelJob, Origin, header};
use crate::rng::stream;
use crate::sort::sort_by_key;
use crate::time::{DAY, HOUR, MINUTE, Seconds, Time};
use crate::trace::{Fields, Header};

/// Parameters of the workload.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sessions {
    /// The number of jobs.
    pub jobs: usize,
    /// The processors of the machine.
    pub procs: u32,
    /// The number of users, at least 1.
    pub users: u32,
    /// The processor-seconds of all jobs divided by those of the machine between the first and the last submission. The
    /// result is approximate, and better with more jobs.
    pub offered_load: f64,
    /// The seed of all random numbers.
    pub seed: u64,
    /// Whether records have preceding jobs and think times (fields 17 and 18).
    pub preceding: bool,
}

/// The values users choose from; the last is the machine's limit (Tsafrir et al.: 20 values make up 90% of a log).
const ESTIMATES: [Seconds; 9] =
    [10 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 4 * HOUR, 6 * HOUR, 8 * HOUR, 12 * HOUR, 18 * HOUR];
const LIMIT: Seconds = 18 * HOUR;

/// Queues by estimate, shortest first.
const QUEUE_LIMITS: [Seconds; 3] = [HOUR, 6 * HOUR, LIMIT];

/// The share of sessions that start in each hour of the day, in thousandths.
const HOURS: [i64; 24] =
    [18, 14, 12, 10, 10, 12, 16, 24, 42, 62, 72, 70, 62, 66, 74, 78, 76, 66, 52, 44, 38, 34, 28, 20];

/// A program of a user: the common properties of its jobs.
struct SessionProgram {
    executable: i32,
    procs: u32,
    runtime: f64,
    estimate: Seconds,
}

/// A job whose submit time is only known relative to the start of its session.
struct SessionDraft {
    session: usize,
    after: Seconds,
    user: usize,
    program: usize,
    procs: u32,
    runtime: Seconds,
    /// How long after the end of the job before it in the session it is submitted. None if it is not submitted for that reason.
    think: Option<Seconds>,
}

/// Generates a log: a header, and records in order of submission. Waits are unknown.
pub fn generate_sessions(model: &Sessions) -> (Header, Vec<Fields>) {
    let programs = draw_programs(model);
    let drafts = draw_sessions(model, &programs);

    // Sessions start at random within the span that gives the wanted load.
    let work: f64 = drafts.iter().map(|job| f64::from(job.procs) * job.runtime as f64).sum();
    let span = (work / (f64::from(model.procs) * model.offered_load)) as Seconds;
    let mut rng = stream(model.seed, "starts");
    let lengths = drafts.chunk_by(|a, b| a.session == b.session).map(|session| session[session.len() - 1].after);
    let starts: Vec<Time> = lengths.map(|length| by_day(rng.random_range(0..(span - length).max(1)))).collect();

    let submit = |at: usize| starts[drafts[at].session] + drafts[at].after;
    let mut order: Vec<usize> = (0..drafts.len()).collect();
    sort_by_key(&mut order, |&at| submit(at));
    let mut numbers = vec![0; drafts.len()];
    order.iter().zip(1..).for_each(|(&at, number)| numbers[at] = number);
    let first = order.first().map_or(0, |&at| submit(at));
    let records = order.iter().map(|&at| {
        let job = &drafts[at];
        let program = &programs[job.user][job.program];
        let queue = QUEUE_LIMITS.iter().position(|&limit| program.estimate <= limit).unwrap_or(0) as i32 + 1;
        let user = job.user as i32 + 1;
        let job = ModelJob {
            submit: submit(at) - first,
            procs: job.procs,
            runtime: job.runtime,
            user,
            executable: program.executable,
            queue,
        };
        let mut fields = job.fields(numbers[at], Some(program.estimate));
        // The group and the partition.
        (fields[12], fields[15]) = (i64::from(user % 7 + 1), 1);
        if let Some(think) = drafts[at].think.filter(|_| model.preceding) {
            (fields[16], fields[17]) = (numbers[at - 1], think);
        }
        fields
    });
    let records: Vec<Fields> = records.collect();
    let Sessions { procs, users, offered_load, seed, .. } = *model;
    let jobs = records.len();
    let header = header(&Origin {
        model: "users who work in sessions",
        jobs,
        procs,
        longest_runtime: LIMIT,
        more: &["Queues: 1 up to 1h, 2 up to 6h, 3 up to 18h"],
        command: &format!(
            "sim generate sessions --jobs {jobs} --procs {procs} --users {users}\n--offered-load {offered_load} --seed {seed}{}",
            if model.preceding { " --preceding" } else { "" }
        ),
    });
    (header, records)
}

fn draw_programs(model: &Sessions) -> Vec<Vec<SessionProgram>> {
    let mut rng = stream(model.seed, "programs");
    // Half of all programs run for less than 25 minutes, one in twenty for more than 6 hours.
    let runtimes = lognormal(7.3, 1.65);
    let mut executable = 0;
    let mut draw = |rng: &mut ChaCha8Rng| {
        executable += 1;
        let runtime = runtimes.sample(rng).clamp(20.0, 0.8 * LIMIT as f64);
        SessionProgram {
            executable,
            procs: draw_size(rng, model.procs),
            runtime,
            estimate: draw_estimate(rng, runtime),
        }
    };
    (0..model.users)
        .map(|_| {
            let programs = rng.random_range(2..=5);
            (0..programs).map(|_| draw(&mut rng)).collect()
        })
        .collect()
}

/// Mostly powers of two, at most half of the machine.
fn draw_size(rng: &mut ChaCha8Rng, procs: u32) -> u32 {
    let widest = (procs / 2).max(1);
    let size = match rng.random_range(0..10) {
        0 | 1 => 1,
        2 => rng.random_range(1..=widest),
        _ => 1 << rng.random_range(0..=widest.ilog2()),
    };
    size.min(widest)
}

/// A round value above the program's runtime; for one program in six the limit.
fn draw_estimate(rng: &mut ChaCha8Rng, runtime: f64) -> Seconds {
    let padded = runtime * rng.random_range(1.2..6.0);
    let wanted = if rng.random_ratio(1, 6) { LIMIT } else { padded as Seconds };
    ESTIMATES.into_iter().find(|&value| value >= wanted).unwrap_or(LIMIT)
}

fn draw_sessions(model: &Sessions, programs: &[Vec<SessionProgram>]) -> Vec<SessionDraft> {
    let mut rng = stream(model.seed, "sessions");
    let users: Vec<usize> = (0..programs.len()).collect();
    // A few users submit most of the jobs: the k-th user has 1/k as many sessions as the first.
    let weight = |user: &usize| 1.0 / (*user as f64 + 1.0);
    let length = Geometric::new(0.12).expect("a probability");
    let think = Exp::new(1.0 / (6 * MINUTE) as f64).expect("a positive rate");
    let (session_spread, job_spread) = (lognormal(0.0, 0.45), lognormal(0.0, 0.18));
    let mut drafts = Vec::with_capacity(model.jobs);
    for session in 0.. {
        let user = *users.choose_weighted(&mut rng, weight).expect("there are users");
        let program_at = rng.random_range(0..programs[user].len());
        let program = &programs[user][program_at];
        let typical = program.runtime * session_spread.sample(&mut rng);
        // In some sessions jobs are submitted as a batch, in others each is submitted after the end of the one before.
        let batch = rng.random_ratio(1, 4);
        let (mut after, mut think_time) = (0, None);
        for _ in 0..=length.sample(&mut rng).min(60) {
            if drafts.len() == model.jobs {
                return drafts;
            }
            let procs = if rng.random_ratio(1, 8) { (program.procs / 2).max(1) } else { program.procs };
            let runtime = match rng.random_range(0..100) {
                0..8 => rng.random_range(2..60),
                8..11 => program.estimate,
                _ => (typical * job_spread.sample(&mut rng)) as Seconds,
            };
            let runtime = runtime.clamp(1, program.estimate);
            drafts.push(SessionDraft { session, after, user, program: program_at, procs, runtime, think: think_time });
            let pause = think.sample(&mut rng) as Seconds;
            after += pause + if batch { 0 } else { runtime };
            think_time = (!batch).then_some(pause);
            // A session lasts at most a day.
            if after > DAY {
                break;
            }
        }
    }
    drafts
}

fn lognormal(mu: f64, sigma: f64) -> LogNormal<f64> {
    LogNormal::new(mu, sigma).expect("a finite spread")
}

/// Moves an instant within its day, so that uniform instants become distributed as [`HOURS`].
fn by_day(time: Time) -> Time {
    let (day, second) = (time.div_euclid(DAY), time.rem_euclid(DAY));
    let all: i64 = HOURS.iter().sum();
    // The share of the day before the instant, in units of 1 / (`all` x seconds of a day).
    let mut before = second * all;
    for (hour, share) in (0..).zip(HOURS) {
        if before < share * DAY {
            return day * DAY + hour * HOUR + before * HOUR / (share * DAY);
        }
        before -= share * DAY;
    }
    unreachable!("an instant lies within its day")
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODEL: Sessions =
        Sessions { jobs: 4000, procs: 128, users: 40, offered_load: 0.9, seed: 7, preceding: false };

    #[test]
    fn the_same_seed_makes_the_same_log() {
        let (_, records) = generate_sessions(&MODEL);
        assert_eq!(records, generate_sessions(&MODEL).1);
        assert_ne!(records, generate_sessions(&Sessions { seed: 8, ..MODEL }).1);
    }

    #[test]
    fn the_log_is_what_was_asked_for() {
        let (header, records) = generate_sessions(&MODEL);
        assert_eq!((header.procs(), records.len()), (Some(128), 4000));
        assert!(records.iter().all(|job| (1..=64).contains(&job[7]) && (1..=job[8]).contains(&job[3])));
        assert!(records.is_sorted_by_key(|job| job[1]));
        // Few and inaccurate estimates.
        let mean = |field: usize| records.iter().map(|job| job[field]).sum::<i64>() / 4000;
        assert!(mean(8) > 2 * mean(3), "estimates {} runtimes {}", mean(8), mean(3));
        assert!(records.iter().all(|job| ESTIMATES.contains(&job[8])));
        for seed in 0..10 {
            let (_, records) = generate_sessions(&Sessions { seed, ..MODEL });
            let work: i64 = records.iter().map(|job| job[3] * job[7]).sum();
            let load = work as f64 / (records[3999][1] * 128) as f64;
            assert!((0.87..=0.95).contains(&load), "seed {seed}: {load}");
        }
    }

    #[test]
    fn records_may_name_the_jobs_that_they_follow() {
        let (_, plain) = generate_sessions(&MODEL);
        let (header, records) = generate_sessions(&Sessions { preceding: true, ..MODEL });
        assert!(header.lines().any(|line| line.ends_with(b"--seed 7 --preceding`")));
        let mut linked = 0;
        for (record, plain) in records.iter().zip(&plain) {
            assert_eq!(record[..16], plain[..16]);
            assert_eq!(plain[16..], [-1, -1]);
            if record[16] > 0 {
                // On an idle machine the job before would have ended so long before.
                let before = &records[record[16] as usize - 1];
                assert_eq!((before[11], before[13]), (record[11], record[13]), "of the same user and program");
                assert_eq!(before[1] + before[3] + record[17], record[1]);
                linked += 1;
            }
        }
        assert!((2000..3500).contains(&linked), "{linked}");
    }

    #[test]
    fn the_day_has_its_cycle() {
        assert_eq!(by_day(0), 0);
        assert_eq!(by_day(3 * DAY), 3 * DAY);
        let afternoon = (0..DAY).step_by(60).filter(|&t| (13 * HOUR..17 * HOUR).contains(&by_day(t))).count();
        // 66 + 74 + 78 + 76 of 1000 in four hours of 24.
        assert!((1440 * 290 / 1000..1440 * 300 / 1000).contains(&afternoon), "{afternoon}");
        assert!((0..DAY).step_by(977).map(by_day).is_sorted());
    }
}
