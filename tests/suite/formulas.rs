//! The formulas of `smith`, `gibbons` and `downey` on histories small enough for a computation by hand.

use shadowtime::engine::Outcome;
use shadowtime::job::{Job, Submission};
use shadowtime::time::Seconds;

use crate::support::{job_of, run, workload};

/// A job of this user and this executable: (processors, runtime, estimate).
fn of(user: i32, executable: i32, (procs, runtime, estimate): (u32, Seconds, Seconds)) -> Job {
    let mut job = job_of(user, 0, procs, runtime, estimate);
    job.submission.executable = executable;
    job
}

/// Runs jobs one after the other, each submitted long after the last has ended.
fn in_turn(predictor: &str, jobs: &[Job]) -> Vec<Outcome> {
    let mut jobs = jobs.to_vec();
    for (job, turn) in jobs.iter_mut().zip(0..) {
        job.submission.submit = turn * 10_000_000;
    }
    run(&workload(64, &jobs), "fcfs", predictor)
}

/// The prediction for a job after these have ended.
fn predicted(predictor: &str, history: &[Job], job: Job) -> Seconds {
    in_turn(predictor, &[history, &[job]].concat()).last().unwrap().prediction
}

fn smith(templates: &str, history: &[Job], job: Job) -> Seconds {
    predicted(&format!("smith:templates={templates}"), history, job)
}

#[test]
fn the_mean_with_the_smaller_interval_wins() {
    let history = [of(1, 1, (1, 100, 900)), of(1, 2, (1, 200, 900)), of(2, 3, (1, 50, 900)), of(2, 3, (1, 54, 900))];
    // The user: mean 150, variance 50^2 + 50^2 = 5000, interval sqrt(10 * 5000) = 224.
    // The executable: mean 52, variance 2^2 + 2^2 = 8, interval sqrt(10 * 8) = 9.
    let job = of(1, 3, (1, 1, 900));
    assert_eq!(smith("(u)", &history, job), 150);
    assert_eq!(smith("(e)", &history, job), 52);
    assert_eq!(smith("(u);(e)", &history, job), 52);
    assert_eq!(smith("(e);(u)", &history, job), 52);
    // Executable 2 has run once, which is too few, also for the user and the executable together.
    let job = of(1, 2, (1, 1, 900));
    assert_eq!(smith("(e);(u);(u,e)", &history, job), 150);
    assert_eq!(smith("(e);(u,e)", &history, job), 900);
    // All jobs: (100 + 200 + 50 + 54) / 4 = 101. User 9 has no history.
    assert_eq!(smith("(u);()", &history, of(9, 9, (1, 1, 900))), 101);
    assert_eq!(smith("(u)", &history, of(9, 9, (1, 1, 900))), 900);
}

#[test]
fn a_history_begins_with_the_second_end_and_not_with_the_second_arrival() {
    // Both jobs run at the same time: neither is in the history of the other.
    let mut jobs = [of(1, 1, (1, 100, 900)), of(1, 1, (1, 100, 900)), of(1, 1, (1, 100, 900)), of(1, 1, (1, 100, 900))];
    for (job, submit) in jobs.iter_mut().zip([0, 50, 120, 160]) {
        job.submission.submit = submit;
    }
    // At 120 the first has ended (at 100), at 160 the second too (at 150).
    let outcomes = run(&workload(4, &jobs), "fcfs", "smith:templates=(u)");
    assert_eq!(outcomes.iter().map(|outcome| outcome.prediction).collect::<Vec<_>>(), [900, 900, 900, 100]);
}

/// Points (1, 10), (2, 12), (3, 16). Mean 38/3, squares (8/3)^2 + (2/3)^2 + (10/3)^2 = 168/9, variance 84/9 = 9.333,
/// s = 3.055. The line: slope (1 * 8/3 + 1 * 10/3) / 2 = 3, t = 38/3 + 3 (n - 2); errors 1/3, -2/3, 1/3 with squares
/// 6/9, MSE = 2/3 with one degree of freedom, sqrt 0.8165.
fn three_points() -> [Job; 3] {
    [of(1, 1, (1, 10, 900)), of(1, 1, (2, 12, 900)), of(1, 1, (3, 16, 900))]
}

#[test]
fn a_line_predicts_at_the_processors_of_the_job() {
    // 38/3 + 3 (n - 2): 9.67, 12.67, 15.67, 36.67.
    for (procs, value) in [(1, 10), (2, 13), (3, 16), (10, 37)] {
        assert_eq!(smith("(u,lr)", &three_points(), of(1, 1, (procs, 1, 900))), value);
    }
    // Two points are too few, and so are three with one number of processors.
    assert_eq!(smith("(u,lr)", &three_points()[..2], of(1, 1, (3, 1, 900))), 900);
    assert_eq!(smith("(u,lr)", &[of(1, 1, (4, 10, 900)); 3], of(1, 1, (4, 1, 900))), 900);
    // A line that falls, (1, 30), (2, 20), (3, 10), is at -10 for 5 processors: a second is the least.
    let falls = [of(1, 1, (1, 30, 900)), of(1, 1, (2, 20, 900)), of(1, 1, (3, 10, 900))];
    assert_eq!(smith("(u,lr)", &falls, of(1, 1, (5, 1, 900))), 1);
}

#[test]
fn a_line_and_a_mean_compete_by_their_intervals() {
    let job = of(1, 1, (3, 1, 900));
    // At 90 %: the mean has sqrt(10) * 3.055 = 9.66; the line at 3 processors, one from the mean,
    // t(0.05, 1) = 6.314 times 0.8165 times sqrt(1 + 1/3 + 1/2) = 1.354, that is 6.98, and wins with 15.67.
    assert_eq!(smith("(u);(u,lr)", &three_points(), job), 16);
    // At 99 %: the mean has 10 * 3.055 = 30.55, the line 63.657 * 0.8165 * 1.354 = 70.4: the mean wins with 12.67.
    assert_eq!(predicted("smith:templates=(u,lr);(u),confidence=99", &three_points(), job), 13);
    // At 90 % and 6 processors, four from the mean: 6.314 * 0.8165 * sqrt(1 + 1/3 + 16/2) = 15.75: the mean wins.
    assert_eq!(smith("(u,lr);(u)", &three_points(), of(1, 1, (6, 1, 900))), 13);
}

#[test]
fn ratios_are_multiplied_back() {
    // Ratios 0.5 and 0.75: mean 0.625, variance 2 * 0.125^2 = 0.03125, interval sqrt(0.3125) = 0.559.
    // Runtimes 50 and 150: mean 100, variance 5000, interval 224.
    let history = [of(1, 1, (1, 50, 100)), of(1, 1, (1, 150, 200))];
    assert_eq!(smith("(u,rel)", &history, of(1, 1, (1, 1, 100))), 63);
    assert_eq!(smith("(u,rel)", &history, of(1, 1, (1, 1, 1000))), 625);
    // For an estimate of 100 the ratios have 55.9 and win; for one of 1000 they have 559 and lose.
    for both in ["(u,rel);(u)", "(u);(u,rel)"] {
        assert_eq!(smith(both, &history, of(1, 1, (1, 1, 100))), 63);
        assert_eq!(smith(both, &history, of(1, 1, (1, 1, 1000))), 100);
    }
    // A line through ratios: 0.25, 0.5, 0.75 on 1, 2, 3 processors are 1.5 on 6, of an estimate of 80.
    let history = [of(1, 1, (1, 25, 100)), of(1, 1, (2, 100, 200)), of(1, 1, (3, 30, 40))];
    assert_eq!(smith("(u,lr,rel)", &history, of(1, 1, (6, 1, 80))), 120);
}

#[test]
fn a_maximum_history_forgets_the_oldest() {
    let history = [of(1, 1, (1, 10, 900)), of(1, 1, (1, 20, 900)), of(1, 1, (1, 40, 900))];
    // (20 + 40) / 2, and (10 + 20 + 40) / 3 = 23.3.
    assert_eq!(smith("(u,h=2)", &history, of(1, 1, (1, 1, 900))), 30);
    assert_eq!(smith("(u,h=3)", &history, of(1, 1, (1, 1, 900))), 23);
    assert_eq!(smith("(u)", &history, of(1, 1, (1, 1, 900))), 23);
    // The last two of the category, not of all: another user's runs push nothing out.
    let others = [of(2, 1, (1, 500, 900)), of(2, 1, (1, 600, 900))];
    assert_eq!(smith("(u,h=2)", &[&history[..], &others].concat(), of(1, 1, (1, 1, 900))), 30);
}

#[test]
fn the_last_of_a_history_is_who_ended_last() {
    // The first job ends last, at 100: the last two of the three are 20 and 100.
    let mut jobs = [of(1, 1, (1, 100, 900)), of(1, 1, (1, 10, 900)), of(1, 1, (1, 20, 900)), of(1, 1, (1, 1, 900))];
    for (job, submit) in jobs.iter_mut().zip([0, 10, 30, 200]) {
        job.submission.submit = submit;
    }
    assert_eq!(run(&workload(4, &jobs), "fcfs", "smith:templates=(u,h=2)")[3].prediction, 60);
}

#[test]
fn identical_values_have_no_interval_and_win() {
    let history = [of(1, 1, (1, 70, 900)), of(1, 1, (1, 70, 900)), of(2, 2, (1, 50, 900)), of(2, 2, (1, 51, 900))];
    // The executable has sqrt(10 * 0.5) = 2.2 around 50.5.
    let job = of(1, 2, (1, 1, 900));
    assert_eq!(smith("(e)", &history, job), 51);
    assert_eq!(smith("(e);(u)", &history, job), 70);
}

#[test]
fn ties_go_to_the_earlier_template() {
    // Both have the variance 50.
    let history = [of(1, 1, (1, 10, 900)), of(1, 1, (1, 20, 900)), of(2, 2, (1, 30, 900)), of(2, 2, (1, 40, 900))];
    let job = of(1, 2, (1, 1, 900));
    assert_eq!(smith("(u);(e)", &history, job), 15);
    assert_eq!(smith("(e);(u)", &history, job), 35);
    // Identical values, too, and a line without errors: (1, 10), (2, 20), (3, 30) is 50 on 5 processors.
    let line = [of(1, 1, (1, 10, 900)), of(1, 1, (2, 20, 900)), of(1, 1, (3, 30, 900))];
    let history = [&line[..], &[of(2, 2, (1, 70, 900)); 2]].concat();
    let job = of(1, 2, (5, 1, 900));
    assert_eq!(smith("(u,lr);(e)", &history, job), 50);
    assert_eq!(smith("(e);(u,lr)", &history, job), 70);
}

#[test]
fn histories_of_different_lengths_tie_too() {
    // 1, 1, 2: squares 1/9 + 1/9 + 4/9 = 2/3, variance 1/3. 2, 2, 3, 3: squares 4 * 1/4 = 1, variance 1/3.
    let history = [
        [of(1, 1, (1, 1, 900)), of(1, 1, (1, 1, 900)), of(1, 1, (1, 2, 900))].as_slice(),
        &[of(2, 2, (1, 2, 900)), of(2, 2, (1, 2, 900)), of(2, 2, (1, 3, 900)), of(2, 2, (1, 3, 900))],
    ]
    .concat();
    let job = of(1, 2, (1, 1, 900));
    assert_eq!(smith("(u);(e)", &history, job), 1);
    assert_eq!(smith("(e);(u)", &history, job), 3);
}

#[test]
fn a_line_that_is_nearly_perfect_has_an_interval() {
    // (1, 3000000), (2, 10), (2, 12): the line is at 11 for 2 processors, and the errors are 1 and -1: MSE = 2 with one
    // degree of freedom. 2 processors are 1/3 from the mean: 6.314 * sqrt(2) * sqrt(1 + 1/3 + 1/9 / (2/3)) = 10.9.
    // The executable has 20 and 21, interval sqrt(10 * 0.5) = 2.2, and wins, although the errors are nothing beside the
    // 6 * 10^12 that the line explains.
    let history = [
        of(1, 1, (1, 3_000_000, 900)),
        of(1, 1, (2, 10, 900)),
        of(1, 1, (2, 12, 900)),
        of(2, 2, (2, 20, 900)),
        of(2, 2, (2, 21, 900)),
    ];
    let job = of(1, 2, (2, 1, 900));
    assert_eq!(smith("(u,lr)", &history, job), 11);
    assert_eq!(smith("(u,lr);(e)", &history, job), 21);
}

#[test]
fn node_ranges_end_at_multiples_of_their_size() {
    // Of size 4: 1-4 and 5-8.
    let history = [of(1, 1, (1, 10, 900)), of(1, 1, (4, 20, 900)), of(1, 1, (5, 60, 900)), of(1, 1, (8, 80, 900))];
    for (procs, value) in [(1, 15), (3, 15), (4, 15), (5, 70), (8, 70), (9, 900)] {
        assert_eq!(smith("(n=4)", &history, of(1, 1, (procs, 1, 900))), value);
    }
    // Of size 1 every number is its own; of size 512 all are one: 170 / 4 = 42.5.
    assert_eq!(smith("(n=1)", &history, of(1, 1, (4, 1, 900))), 900);
    assert_eq!(smith("(n=512)", &history, of(1, 1, (64, 1, 900))), 43);
}

#[test]
fn every_name_makes_categories_of_its_own() {
    type Field = fn(&mut Submission) -> &mut i32;
    let set: [(&str, Field); 5] = [
        ("(u)", |job| &mut job.user),
        ("(g)", |job| &mut job.group),
        ("(e)", |job| &mut job.executable),
        ("(q)", |job| &mut job.queue),
        ("(p)", |job| &mut job.partition),
    ];
    for (template, name) in set {
        let with = |value, runtime| {
            let mut job = of(-1, -1, (1, runtime, 900));
            *name(&mut job.submission) = value;
            job
        };
        // What is unknown is a value like any other.
        let history = [with(1, 10), with(2, 30), with(-1, 50), with(1, 20), with(2, 40), with(-1, 60)];
        for (value, mean) in [(1, 15), (2, 35), (-1, 55), (3, 900)] {
            assert_eq!(smith(template, &history, with(value, 1)), mean, "{template}");
        }
    }
}

#[test]
fn predicted_again_at_the_start() {
    // On 4 processors the third waits for the second to end. Two runs have ended then; at its arrival there was none.
    let mut jobs = [of(1, 1, (4, 100, 900)), of(1, 1, (4, 120, 900)), of(1, 1, (4, 1, 900))];
    jobs[2].submission.submit = 50;
    let workload = workload(4, &jobs);
    for (at, at_start) in [("arrival", 900), ("start", 110)] {
        let outcomes = run(&workload, "fcfs", &format!("smith:templates=(u),at={at}"));
        assert_eq!((outcomes[2].prediction, outcomes[2].prediction_at_start), (900, at_start));
    }
}

#[test]
fn gibbons_tries_its_templates_in_order() {
    let job = of(1, 1, (4, 1, 9999));
    // Each line adds to the history, and has the prediction for the job after that.
    let additions: [(&[Job], Seconds); 9] = [
        // One range gives no line, and no job has run on 4 to 7.
        (&[of(2, 2, (8, 50, 900))], 9999),
        // (): through (2, 20) and (8, 50), 5 a processor: 20 + 2 * 5.
        (&[of(2, 2, (2, 20, 900))], 30),
        // (n): on 4 to 7.
        (&[of(2, 2, (5, 200, 900)), of(2, 2, (7, 210, 900))], 205),
        // (e) has one range only.
        (&[of(2, 1, (1, 10, 900))], 205),
        // (e): through (1, 10) and (3, 70), 30 a processor.
        (&[of(2, 1, (3, 70, 900))], 100),
        // (e,n)
        (&[of(2, 1, (6, 300, 900)), of(2, 1, (6, 302, 900))], 301),
        // (u,e) has one range only.
        (&[of(1, 1, (1, 1000, 900))], 301),
        // (u,e): through (1, 1000) and (2, 1010), 10 a processor.
        (&[of(1, 1, (2, 1010, 900))], 1030),
        // (u,e,n): 5000.5
        (&[of(1, 1, (4, 5000, 900)), of(1, 1, (4, 5001, 900))], 5001),
    ];
    let mut history = Vec::new();
    for (more, value) in additions {
        history.extend_from_slice(more);
        assert_eq!(predicted("gibbons", &history, job), value, "after {} jobs", history.len());
    }
}

#[test]
fn gibbons_ranges_double() {
    // 2-3 and 8-15: a job in the same range gets the mean. Another program of another user: no other range has data.
    for (low, high, inside, outside) in [(2, 3, [2, 3, 3], [1, 4, 5]), (8, 15, [8, 11, 15], [7, 16, 32])] {
        let history = [of(2, 2, (low, 10, 900)), of(2, 2, (high, 20, 900))];
        for procs in inside {
            assert_eq!(predicted("gibbons", &history, of(1, 1, (procs, 1, 900))), 15, "{procs} processors");
        }
        for procs in outside {
            assert_eq!(predicted("gibbons", &history, of(1, 1, (procs, 1, 900))), 900, "{procs} processors");
        }
    }
    // 3 and 4 differ: together they make a line, (3, 10) and (4, 20), and no mean.
    let history = [of(2, 2, (3, 10, 900)), of(2, 2, (4, 20, 900))];
    assert_eq!(predicted("gibbons", &history, of(1, 1, (4, 1, 900))), 20);
    assert_eq!(predicted("gibbons", &history, of(1, 1, (9, 1, 900))), 70);
}

#[test]
fn gibbons_draws_a_line_through_two_ranges() {
    // (1, (10 + 20) / 2 = 15) and ((4 + 6) / 2 = 5, (30 + 50) / 2 = 40): 6.25 a processor, 15 + 8 * 6.25 on 9.
    let history = [of(1, 1, (1, 10, 900)), of(1, 1, (4, 30, 900)), of(1, 1, (1, 20, 900)), of(1, 1, (6, 50, 900))];
    assert_eq!(predicted("gibbons", &history, of(1, 1, (9, 1, 900))), 65);
    // On 3: 15 + 2 * 6.25 = 27.5.
    assert_eq!(predicted("gibbons", &history, of(1, 1, (3, 1, 900))), 28);
    // Ratios: 0.5 on 1 and 1.0 on 2 are 2.0 on 4.
    let history = [of(1, 1, (1, 50, 100)), of(1, 1, (2, 200, 200))];
    assert_eq!(predicted("gibbons:data=rel", &history, of(1, 1, (4, 1, 1000))), 2000);
    // A line that falls, (1, 50), (2, 10), is at -70 for 4 processors.
    let history = [of(1, 1, (1, 50, 900)), of(1, 1, (2, 10, 900))];
    assert_eq!(predicted("gibbons", &history, of(1, 1, (4, 1, 900))), 1);
}

#[test]
fn gibbons_weighs_three_ranges_by_their_variances() {
    let job = of(1, 1, (8, 1, 900));
    let singles = [of(1, 1, (1, 10, 900)), of(1, 1, (2, 20, 900))];
    // Single runs weigh 1. The pair on 4, 59 and 61, has the variance 2 and weighs 1/2: the weights sum up to 2.5,
    // mean x (1 + 2 + 2) / 2.5 = 2, mean y (10 + 20 + 30) / 2.5 = 24,
    // slope (1 * -1 * -14 + 0 + 1/2 * 2 * 36) / (1 * 1 + 0 + 1/2 * 4) = 50/3, at 8: 24 + 6 * 50/3 = 124.
    let apart = [of(1, 1, (4, 59, 900)), of(1, 1, (4, 61, 900))];
    assert_eq!(predicted("gibbons", &[&singles[..], &apart].concat(), job), 124);
    // Twice 60 has the variance 0, which counts as 1, and weighs as much as the others: mean x 7/3, mean y 30,
    // slope (4/3 * 20 + 1/3 * 10 + 5/3 * 30) / (16/9 + 1/9 + 25/9) = 80 / (42/9) = 120/7,
    // at 8: 30 + 17/3 * 120/7 = 127.14.
    let same = [of(1, 1, (4, 60, 900)), of(1, 1, (4, 60, 900))];
    assert_eq!(predicted("gibbons", &[&singles[..], &same].concat(), job), 127);
}

#[test]
fn gibbons_weighs_ratios_in_seconds_of_the_estimate() {
    // Ratios 0.5 on 1, 1.0 on 2, and on 4 2.5 and 3.5: mean 3, variance 0.5.
    let history = [of(1, 1, (1, 50, 100)), of(1, 1, (2, 100, 100)), of(1, 1, (4, 250, 100)), of(1, 1, (4, 350, 100))];
    // For an estimate of 200 they are 100, 200 and 600, and the variance 0.5 * 200^2 = 20000: the pair weighs next to
    // nothing, and the line goes through (1, 100) and (2, 200), but for a third of a second at 8:
    // 600 is 200 above that line, and moves it by 200 / 20000 * (1/2 + (4 - 1.5) * (8 - 1.5) / 0.5) = 0.33.
    assert_eq!(predicted("gibbons:data=rel", &history, of(1, 1, (8, 1, 200))), 800);
    // For an estimate of 1 the variance is 0.5, counts as 1, and all weigh the same: 0.5, 1 and 3, mean 1.5,
    // slope (4/3 * 1 + 1/3 * 1/2 + 5/3 * 3/2) / (42/9) = 4 / (42/9) = 6/7, at 8: 1.5 + 17/3 * 6/7 = 6.36.
    assert_eq!(predicted("gibbons:data=rel", &history, of(1, 1, (8, 1, 1))), 6);
    // A mean of ratios: 3 * 33.
    assert_eq!(predicted("gibbons:data=rel", &history, of(1, 1, (5, 1, 33))), 99);
}

#[test]
fn downey_takes_the_median_or_the_mean_of_what_is_left() {
    // Two points: F = 1/2 at 4 and 1 at 100, so the longest is 100. Median sqrt(1 * 100) = 10,
    // mean (100 - 1) / (ln 100 - ln 1) = 99 / 4.60517 = 21.497.
    let history = [of(1, 1, (1, 100, 900)), of(1, 1, (1, 4, 900))];
    assert_eq!(predicted("downey", &history, of(1, 1, (1, 1, 900))), 10);
    assert_eq!(predicted("downey:point=mean", &history, of(1, 1, (1, 1, 900))), 21);
    // In units of ln 10: 1, 2, 2 with F = 1/3, 2/3, 1. Means 5/3 and 2/3,
    // slope (2/3 * 1/3 + 0 + 1/3 * 1/3) / (4/9 + 1/9 + 1/9) = 1/2, F = 1 at 5/3 + 1/3 * 2 = 7/3.
    // The longest is 10^(7/3) = 215.44, the median 10^(7/6) = 14.68, the mean 214.44 / 5.3727 = 39.91.
    let history = [of(1, 1, (1, 10, 900)), of(1, 1, (1, 100, 900)), of(1, 1, (1, 100, 900))];
    assert_eq!(predicted("downey", &history, of(1, 1, (1, 1, 900))), 15);
    assert_eq!(predicted("downey:point=mean", &history, of(1, 1, (1, 1, 900))), 40);
    // One point, and the same twice, are no distribution.
    assert_eq!(predicted("downey", &history[..1], of(1, 1, (1, 1, 900))), 900);
    assert_eq!(predicted("downey", &history[1..], of(1, 1, (1, 1, 900))), 900);
}

#[test]
fn downey_predicts_anew_for_the_age_at_which_a_deadline_is_missed() {
    let history = [of(1, 1, (1, 4, 900)), of(1, 1, (1, 100, 900))];
    let end = |predictor, runtime| {
        let outcomes = in_turn(predictor, &[&history[..], &[of(1, 1, (1, runtime, 900))]].concat());
        (outcomes[2].misses, outcomes[2].prediction_last)
    };
    // sqrt(10 * 100) = 31.6, sqrt(32 * 100) = 56.6, then 75.5, 86.6.
    assert_eq!(end("downey", 10), (0, 10));
    assert_eq!(end("downey", 11), (1, 32));
    assert_eq!(end("downey", 33), (2, 57));
    assert_eq!(end("downey", 58), (3, 75));
    assert_eq!(end("downey", 76), (4, 87));
    // (100 - 21) / ln(100 / 21) = 79 / 1.56065 = 50.6, (100 - 51) / ln(100 / 51) = 49 / 0.67334 = 72.8.
    assert_eq!(end("downey:point=mean", 22), (1, 51));
    assert_eq!(end("downey:point=mean", 52), (2, 73));
}

#[test]
fn downey_takes_the_increments_from_the_longest_runtime_on() {
    let history = [of(1, 1, (1, 4, 900)), of(1, 1, (1, 100, 900))];
    let end = |predictor, runtime| {
        let outcomes = in_turn(predictor, &[&history[..], &[of(1, 1, (1, runtime, 900))]].concat());
        (outcomes[2].misses, outcomes[2].prediction_last)
    };
    // The longest is 100. By medians 10, 32, 57, 75, 87, 93, 96, 98, 99, and at 99, where sqrt(9900) = 99.5 is rounded
    // down, a second more. That was the ninth miss. The tenth, at 100, finds nothing left: 50 hours more.
    assert_eq!(end("downey", 100), (9, 100));
    assert_eq!(end("downey", 101), (10, 100 + 50 * 3600));
    // By means 21, 51, 73, 86, 93, 96, 98, 99, 100: the ninth miss adds 20 hours. (99 is followed by
    // 1 / ln(100 / 99) = 99.499, and 100 would be by 0 / 0.)
    assert_eq!(end("downey:point=mean", 100), (8, 100));
    assert_eq!(end("downey:point=mean", 101), (9, 100 + 20 * 3600));
}

#[test]
fn downey_without_a_distribution_takes_the_increments() {
    // 60 s at the first miss, 300 s at the second.
    let outcomes = in_turn("downey", &[of(1, 1, (1, 200, 100))]);
    assert_eq!((outcomes[0].prediction, outcomes[0].misses, outcomes[0].prediction_last), (100, 2, 460));
}

#[test]
fn downey_has_a_distribution_for_each_value_of_its_key() {
    let job = |user, executable, queue, runtime| {
        let mut job = of(user, executable, (1, runtime, 900));
        job.submission.queue = queue;
        job
    };
    // Each pair has its longest, and the job asked about has something in common with one of them only.
    let history = [
        [job(1, 8, 8, 4), job(1, 8, 8, 100)],
        [job(8, 1, 8, 4), job(8, 1, 8, 400)],
        [job(8, 8, 1, 4), job(8, 8, 1, 1600)],
    ]
    .concat();
    for (by, median) in [("downey:by=user", 10), ("downey:by=executable", 20), ("downey:by=queue", 40), ("downey", 40)]
    {
        assert_eq!(predicted(by, &history, job(1, 1, 1, 1)), median, "{by}");
    }
    // All in one: nobody is like user 5 but everybody.
    assert_eq!(predicted("downey:by=user", &history, job(5, 5, 5, 1)), 900);
    assert_eq!(predicted("downey:by=none", &history[..2], job(5, 5, 5, 1)), 10);
}
