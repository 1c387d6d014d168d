//! Counts, bounds and constants that are easily wrong by one or left out, and that no other test checks.

use std::collections::BTreeMap;

use shadowtime::model::{Lublin, LublinClass};

use crate::support::sim_fed;

/// An SWF log on 8 processors of (submit, wait, runtime, processors, estimate, user) records.
fn log(records: &[(i64, i64, i64, u32, i64, i64)]) -> String {
    let record = |((submit, wait, runtime, procs, estimate, user), number): (&(i64, i64, i64, u32, i64, i64), u32)| {
        format!("{number} {submit} {wait} {runtime} {procs} -1 -1 {procs} {estimate} -1 1 {user} 1 1 1 1 -1 -1\n")
    };
    let lines: String = records.iter().zip(1..).map(record).collect();
    format!("; MaxProcs: 8\n{lines}")
}

/// Runs the program on a log; the first row that it prints, by column name.
fn row(args: &[&str], log: &str) -> BTreeMap<String, String> {
    let ran = sim_fed(&[&["-q"], args].concat(), log.as_bytes());
    assert_eq!(ran.code, 0, "{args:?}: {}", ran.err);
    csv::Reader::from_reader(ran.out.as_bytes()).deserialize().next().unwrap().unwrap()
}

/// Of four jobs two outlive their estimates. They are counted whether they run on or are ended there.
#[test]
fn overruns_are_counted_under_either_rule() {
    let log = log(&[(0, 0, 90, 1, 60, 1), (1, 0, 60, 1, 60, 1), (2, 0, 59, 1, 60, 1), (3, 0, 61, 1, 60, 1)]);
    for (rule, mean) in [("extend", 67.5), ("kill", 59.75)] {
        let row = row(&["trace", "info", "-", "--overrun", rule, "--format", "csv"], &log);
        assert_eq!(row["overruns"], "2", "--overrun {rule}");
        assert_eq!(row["runtime_mean"].parse::<f64>().unwrap(), mean, "--overrun {rule}");
    }
}

/// User 0 is a user like any other; -1 is none.
#[test]
fn user_zero_is_counted() {
    let log = log(&[(0, 0, 9, 1, 60, 0), (1, 0, 9, 1, 60, 5), (2, 0, 9, 1, 60, -1)]);
    assert_eq!(row(&["trace", "info", "-", "--format", "csv"], &log)["users"], "2");
}

/// A job as wide as the machine fits it; one processor more does not.
#[test]
fn a_job_as_wide_as_the_machine_is_not_too_wide() {
    let validate = |procs| sim_fed(&["trace", "validate", "-"], log(&[(0, 0, 9, procs, 60, 1)]).as_bytes()).out;
    assert!(!validate(8).contains("wider than the machine"), "{}", validate(8));
    assert!(validate(9).contains("wider than the machine"), "{}", validate(9));
}

/// 3 s times 1.5 are 4.5 s, which is 5 s to the scheduler: to the nearest second, halves up. Under EASY on 8 processors the
/// head, of 8, may start when the first job's 5 s are over, at 5. A job of 4 processors that comes at 2 and is predicted
/// 2 s ends by then, counted as 3; with 4 s for the first job it would not, and the job would wait.
#[test]
fn inflated_predictions_are_rounded_to_the_nearest_second() {
    let args = ["--trace", "-", "--scheduler", "easy", "--predictor", "estimate", "--inflate", "1.5"];
    let backfilled = |third| {
        let log = log(&[(0, 0, 3, 4, 3, 1), (1, 0, 5, 8, 5, 1), (2, 0, third, 4, third, 1)]);
        row(&args, &log)["backfilled"].clone()
    };
    assert_eq!(backfilled(2), "1");
    // 4 s are 6 s for the third job, which would end at 8: it waits.
    assert_eq!(backfilled(4), "0");
}

/// All sets of templates are equally good where all jobs are alike: the first of them is found, which is the simplest.
#[test]
fn of_equally_good_templates_the_first_is_found() {
    let alike: Vec<_> = (0..8).map(|at| (100 * at, 0, 50, 1 + at as u32 % 2, 60, at % 3)).collect();
    let found = row(&["search", "--method", "greedy", "--trace", "-", "--format", "csv"], &log(&alike));
    assert_eq!((&*found["name"], &*found["predictor"]), ("best templates", "smith:templates=(),at=start"));
}

const USERS: Lublin =
    Lublin { jobs: 40_000, procs: 128, only: Some(LublinClass::Batch), users: Some(25), gap_factor: 1.0, seed: 3 };

/// A user returns to one of the last four programs that were new to the user, never to an older one.
#[test]
fn users_remember_their_last_four_programs() {
    let mut programs: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    let mut returns = [0; 4];
    for job in USERS.jobs() {
        let known = programs.entry(job.user).or_default();
        match known.iter().rev().position(|program| *program == job.executable) {
            None => known.push(job.executable),
            // The latest program is usually that of the current session.
            Some(back) => {
                *returns.get_mut(back).unwrap_or_else(|| panic!("{} is {back} programs old", job.executable)) += 1
            }
        }
    }
    assert!(returns.iter().all(|&times| times > 1000), "{returns:?}");
}

/// The programs of the users have, in order, the shapes that the model draws without users. Their runs last as long on
/// average: a log-normal factor with a spread of 0.15 has a mean of 1, not of exp(0.15 x 0.15 / 2) = 1.011.
#[test]
fn runs_of_a_program_last_as_long_as_its_shape_on_average() {
    let shapes: Vec<_> = Lublin { users: None, ..USERS }.jobs().collect();
    let mut order: Vec<i32> = Vec::new();
    let mut ratios = Vec::new();
    for job in USERS.jobs() {
        let at = order.iter().position(|program| *program == job.executable).unwrap_or_else(|| {
            order.push(job.executable);
            order.len() - 1
        });
        assert_eq!(job.procs, shapes[at].procs);
        // Runtimes are truncated to whole seconds, and too long ones drawn again.
        if (1000..100_000).contains(&shapes[at].runtime) {
            ratios.push(job.runtime as f64 / shapes[at].runtime as f64);
        }
    }
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    // Five deviations of the mean of 0.15 / sqrt(n).
    assert!((mean - 1.0).abs() < 5.0 * 0.15 / (ratios.len() as f64).sqrt(), "{mean} of {}", ratios.len());
}
