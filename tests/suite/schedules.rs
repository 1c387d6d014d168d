//! Schedules worked out by hand: every start, prediction and sum below follows from the definitions on paper.
//!
//! In the drawings a column is one second (or what the axis says), a row a processor, and a digit the job that holds
//! it; jobs are counted from 1 in order of submission.

use std::collections::BTreeMap;

use shadowtime::engine::{EngineError, EngineOptions, Named, Outcome, Simulation};
use shadowtime::job::{Job, JobId};
use shadowtime::predict::{self, Board, InvalidReason, Predictor, Stage};
use shadowtime::schedule::{self, Decisions, Machine, Policy, Scheduler};
use shadowtime::trace::{Workload, demo_workload};

use crate::support::{self, job, job_of, run, run_with, starts, workload};

/// A job of user 1 whose estimate is its runtime: (submit, processors, runtime).
fn exact(submit: i64, procs: u32, runtime: i64) -> Job {
    job(submit, procs, runtime, runtime)
}

/// Runs jobs and compares their starts with those worked out by hand.
#[track_caller]
fn expect(procs: u32, scheduler: &str, predictor: &str, jobs: &[Job], by_hand: &[i64]) -> Vec<Outcome> {
    let outcomes = run(&workload(procs, jobs), scheduler, predictor);
    assert_eq!(starts(&outcomes), by_hand, "starts under {scheduler}/{predictor}");
    outcomes
}

#[track_caller]
fn expect_with(
    options: EngineOptions,
    procs: u32,
    scheduler: &str,
    predictor: &str,
    jobs: &[Job],
    by_hand: &[i64],
) -> Vec<Outcome> {
    let outcomes = run_with(&workload(procs, jobs), scheduler, predictor, options);
    assert_eq!(starts(&outcomes), by_hand, "starts under {scheduler}/{predictor} with {options:?}");
    outcomes
}

/// The numbers of the jobs that count as backfilled.
fn backfilled(outcomes: &[Outcome]) -> Vec<usize> {
    (1..).zip(outcomes).filter(|(_, outcome)| outcome.backfilled).map(|(number, _)| number).collect()
}

fn misses(outcomes: &[Outcome]) -> Vec<u32> {
    outcomes.iter().map(|outcome| outcome.misses).collect()
}

/// The predictions at arrival.
fn predictions(outcomes: &[Outcome]) -> Vec<i64> {
    outcomes.iter().map(|outcome| outcome.prediction).collect()
}

/// The predictions in force at the end.
fn last_predictions(outcomes: &[Outcome]) -> Vec<i64> {
    outcomes.iter().map(|outcome| outcome.prediction_last).collect()
}

#[track_caller]
fn assert_close(value: f64, by_hand: f64) {
    assert!((value - by_hand).abs() < 1e-9, "{value} instead of {by_hand}");
}

mod fcfs {
    use super::*;

    #[test]
    fn a_head_that_does_not_fit_blocks_the_queue() {
        // procs
        //  4 | . . . . . .
        //  3 | 1 1 1 1 3 .
        //  2 | 1 1 1 1 2 2
        //  1 | 1 1 1 1 2 2
        //     0   2   4   6
        //
        // Job 1 finds the machine empty. Job 2 does not fit beside it and waits for its end. Job 3 would fit the free
        // processor at 2, but is behind job 2 in the queue and starts with it.
        let jobs = [exact(0, 3, 4), exact(1, 2, 2), exact(2, 1, 1)];
        let outcomes = expect(4, "fcfs", "estimate", &jobs, &[0, 4, 4]);
        assert!(backfilled(&outcomes).is_empty());
    }

    #[test]
    fn all_heads_that_fit_start_in_one_pass() {
        // procs
        //  4 | 3 . . .
        //  3 | 2 2 4 4
        //  2 | 2 2 4 4
        //  1 | 1 1 1 .
        //     0   2   4
        //
        // Four jobs arrive together: jobs 1 to 3 fill the machine at once. Job 4 needs two processors: one is free at
        // 1 when job 3 ends, three at 2 when job 2 ends.
        let jobs = [exact(0, 1, 3), exact(0, 2, 2), exact(0, 1, 1), exact(0, 2, 2)];
        expect(4, "fcfs", "estimate", &jobs, &[0, 0, 0, 2]);
    }

    #[test]
    fn equal_submit_times_keep_the_order_of_the_workload() {
        // procs
        //  4 | . . 3 3 3 3 3
        //  3 | 1 1 2 . . . .
        //  2 | 1 1 2 . . . .
        //  1 | 1 1 2 . . . .
        //     0   2   4   6
        //
        // All arrive at 0. Job 1 comes first and starts; job 2 does not fit beside it; job 3 would, but comes after
        // job 2. Both start when job 1 ends.
        let jobs = [exact(0, 3, 2), exact(0, 3, 1), exact(0, 1, 5)];
        expect(4, "fcfs", "estimate", &jobs, &[0, 2, 2]);
    }

    #[test]
    fn an_early_end_lets_the_next_start_at_once() {
        // procs
        //  4 | 1 1 1 2 2 . . . . .
        //  3 | 1 1 1 2 2 . . . . .
        //  2 | 1 1 1 2 2 3 3 3 3 3
        //  1 | 1 1 1 2 2 3 3 3 3 3
        //     0   2   4   6   8   10
        //
        // Job 1 was to run for 10 seconds but ends after 3, and job 2 starts there, not at 10. Job 3 starts when
        // job 2 ends.
        let jobs = [job(0, 4, 3, 10), job(1, 4, 2, 2), job(1, 2, 5, 5)];
        expect(4, "fcfs", "estimate", &jobs, &[0, 3, 5]);
    }

    #[test]
    fn a_job_arriving_at_the_instant_of_an_end_starts_then() {
        // procs
        //  4 | 1 1 1 2 2
        //  3 | 1 1 1 2 2
        //  2 | 1 1 1 2 2
        //  1 | 1 1 1 2 2
        //     0   2   4
        //
        // Terminations come before arrivals: at 3 job 1 has left the machine when job 2 comes, which does not wait.
        let jobs = [exact(0, 4, 3), exact(3, 4, 2)];
        expect(4, "fcfs", "estimate", &jobs, &[0, 3]);
    }

    #[test]
    fn two_ends_at_one_instant_make_room_together() {
        // procs
        //  4 | 2 2 2 3
        //  3 | 2 2 2 3
        //  2 | 1 1 1 3
        //  1 | 1 1 1 3
        //     0   2   4
        //
        // Jobs 1 and 2 start together and end together; the one pass after both ends finds all four processors for
        // job 3.
        let jobs = [exact(0, 2, 3), exact(0, 2, 3), exact(1, 4, 1)];
        expect(4, "fcfs", "estimate", &jobs, &[0, 0, 3]);
    }

    #[test]
    fn predictions_do_not_matter() {
        // procs
        //  4 | . . . . . .
        //  3 | 1 1 1 1 3 .
        //  2 | 1 1 1 1 2 2
        //  1 | 1 1 1 1 2 2
        //     0   2   4   6
        //
        // Job 1 starts on the empty machine, jobs 2 and 3 at its end, whatever their predictions are.
        let jobs = [job(0, 3, 4, 9), job(1, 2, 2, 1), job(2, 1, 1, 50)];
        for predictor in ["estimate", "perfect", "constant", "constant:seconds=1h", "easy++"] {
            expect(4, "fcfs", predictor, &jobs, &[0, 4, 4]);
        }
    }
}

mod easy {
    use super::*;

    #[test]
    fn backfills_a_job_that_ends_exactly_at_the_shadow_time() {
        // procs
        //  4 | . 3 3 3 2 2
        //  3 | 1 1 1 1 2 2
        //  2 | 1 1 1 1 2 2
        //  1 | 1 1 1 1 2 2
        //     0   2   4   6
        //
        // Job 1 starts on the empty machine. Job 2 needs the whole machine: its shadow time is 4, when job 1 ends, and nothing
        // is extra. Job 3 ends at 1 + 3 = 4, by the shadow time, and starts at once.
        let jobs = [exact(0, 3, 4), exact(1, 4, 2), exact(1, 1, 3)];
        let outcomes = expect(4, "easy", "estimate", &jobs, &[0, 4, 1]);
        assert_eq!(backfilled(&outcomes), [3]);
    }

    #[test]
    fn refuses_a_job_one_second_too_long() {
        // procs
        //  4 | . . . . 2 2 . . . .
        //  3 | 1 1 1 1 2 2 . . . .
        //  2 | 1 1 1 1 2 2 . . . .
        //  1 | 1 1 1 1 2 2 3 3 3 3
        //     0   2   4   6   8   10
        //
        // Job 1 starts on the empty machine, job 2 at its shadow time 4. Job 3 would end at 1 + 4 = 5, after the
        // shadow time, with nothing extra: it starts when job 2 has ended.
        let jobs = [exact(0, 3, 4), exact(1, 4, 2), exact(1, 1, 4)];
        let outcomes = expect(4, "easy", "estimate", &jobs, &[0, 4, 6]);
        assert!(backfilled(&outcomes).is_empty());
    }

    #[test]
    fn long_jobs_use_up_the_extra_processors() {
        // procs
        //  8 | . 6 6 6 2 2 2 . . . . .
        //  7 | . 6 6 6 2 2 2 . . . . .
        //  6 | . 4 4 4 4 4 4 4 . . . .
        //  5 | . 3 3 3 3 3 3 . . . . .
        //  4 | 1 1 1 1 2 2 2 . . . . .
        //  3 | 1 1 1 1 2 2 2 . . . . .
        //  2 | 1 1 1 1 2 2 2 . . . . .
        //  1 | 1 1 1 1 2 2 2 5 5 5 5 5
        //     0   2   4   6   8   10  12
        //
        // Job 1 starts on the empty machine. Job 2 gets the reservation: 4 + 4 processors at 4, 6 for itself, 2
        // extra. Jobs 3 and 4 outlast the shadow time and take one extra processor each. Job 5 is as narrow but finds
        // none left, although two processors are free, and starts at 7 when jobs 2 and 3 end. Job 6 needs no extra
        // ones: it ends at 4.
        let jobs = [exact(0, 4, 4), exact(1, 6, 3), exact(1, 1, 6), exact(1, 1, 7), exact(1, 1, 5), exact(1, 2, 3)];
        let outcomes = expect(8, "easy", "estimate", &jobs, &[0, 4, 1, 1, 7, 1]);
        assert_eq!(backfilled(&outcomes), [3, 4, 6]);
    }

    #[test]
    fn a_job_admitted_by_the_shadow_time_uses_up_no_extra() {
        // procs
        //  8 | . 4 4 4 4 4 4
        //  7 | . 4 4 4 4 4 4
        //  6 | . 3 3 3 2 2 2
        //  5 | . 3 3 3 2 2 2
        //  4 | 1 1 1 1 2 2 2
        //  3 | 1 1 1 1 2 2 2
        //  2 | 1 1 1 1 2 2 2
        //  1 | 1 1 1 1 2 2 2
        //     0   2   4   6
        //
        // Job 1 starts on the empty machine; job 2 has the reservation at 4 with 2 processors extra. Job 3 ends at 4,
        // by the shadow time, so the extra ones are still there for job 4, which outlasts it.
        let jobs = [exact(0, 4, 4), exact(1, 6, 3), exact(1, 2, 3), exact(1, 2, 6)];
        let outcomes = expect(8, "easy", "estimate", &jobs, &[0, 4, 1, 1]);
        assert_eq!(backfilled(&outcomes), [3, 4]);
    }

    #[test]
    fn all_jobs_of_one_predicted_end_are_counted_together() {
        // procs
        //  6 | . 4 4 4 4 4
        //  5 | . 4 4 4 4 4
        //  4 | 2 2 2 2 . .
        //  3 | 2 2 2 2 3 3
        //  2 | 1 1 1 1 3 3
        //  1 | 1 1 1 1 3 3
        //     0   2   4   6
        //
        // Jobs 1 and 2 start on the empty machine and will end together. Job 3 would fit after either of them, but
        // both are counted: 2 + 4 processors at 4, 3 of them extra. Job 4 outlasts the shadow time and fits the 3
        // (with one job alone it would have been 1).
        let jobs = [exact(0, 2, 4), exact(0, 2, 4), exact(1, 3, 2), exact(1, 2, 5)];
        let outcomes = expect(6, "easy", "estimate", &jobs, &[0, 0, 4, 1]);
        assert_eq!(backfilled(&outcomes), [4]);
    }

    #[test]
    fn the_shadow_time_is_the_end_that_makes_the_head_fit() {
        // procs
        //  6 | . 4 4 4 4 . .
        //  5 | . 4 4 4 4 3 3
        //  4 | 2 2 2 2 2 3 3
        //  3 | 2 2 2 2 2 3 3
        //  2 | 1 1 1 . . 3 3
        //  1 | 1 1 1 . . 3 3
        //     0   2   4   6
        //
        // Jobs 1 and 2 start on the empty machine. Job 3 needs five processors: two are free, four at 3, six at 5,
        // which is its shadow time. Job 4 ends at 1 + 4 = 5 and starts at once. Job 3 starts when jobs 2 and 4 end.
        let jobs = [exact(0, 2, 3), exact(0, 2, 5), exact(1, 5, 2), exact(1, 2, 4)];
        expect(6, "easy", "estimate", &jobs, &[0, 0, 5, 1]);
    }

    #[test]
    fn jobs_started_in_the_same_pass_count_for_the_reservation() {
        // procs
        //  4 | . . . . 2 2 . . . . .
        //  3 | 4 4 4 4 2 2 . . . . .
        //  2 | 1 1 1 1 2 2 . . . . .
        //  1 | 1 1 1 1 2 2 3 3 3 3 3
        //     0   2   4   6   8   10
        //
        // All arrive at 0. Job 1 starts, and its end at 4 is the shadow time of job 2 in that very pass. Job 3 would
        // end at 5 and waits until job 2 has ended; job 4 ends at 4 and starts at once.
        let jobs = [exact(0, 2, 4), exact(0, 4, 2), exact(0, 1, 5), exact(0, 1, 4)];
        let outcomes = expect(4, "easy", "estimate", &jobs, &[0, 4, 6, 0]);
        assert_eq!(backfilled(&outcomes), [4]);
    }

    #[test]
    fn an_early_end_moves_everything_forward() {
        // procs
        //  4 | . . 2 2 . . . . . . .
        //  3 | 1 1 2 2 . . . . . . .
        //  2 | 1 1 2 2 . . . . . . .
        //  1 | 1 1 2 2 3 3 3 3 3 3 3
        //     0   2   4   6   8   10
        //
        // Job 1 is to end at 6, so job 3 (until 8) may not pass job 2 at 1. Job 1 ends at 2 already: the pass there
        // starts job 2, four seconds before its shadow time, and job 3 follows at its end.
        let jobs = [job(0, 3, 2, 6), job(1, 4, 2, 2), job(1, 1, 7, 7)];
        let outcomes = expect(4, "easy", "estimate", &jobs, &[0, 2, 4]);
        assert!(backfilled(&outcomes).is_empty());
    }

    #[test]
    fn an_early_end_makes_room_for_a_backfill() {
        // procs
        //  4 | 2 2 4 4 4 4 3 3
        //  3 | 1 1 1 1 1 1 3 3
        //  2 | 1 1 1 1 1 1 3 3
        //  1 | 1 1 1 1 1 1 3 3
        //     0   2   4   6   8
        //
        // Jobs 1 and 2 fill the machine at 0. Job 2 ends at 2 instead of 6: one processor is free, the shadow time of
        // job 3 is still the end of job 1 at 6, and job 4 ends just then. Job 3 starts at 6.
        let jobs = [job(0, 3, 6, 6), job(0, 1, 2, 6), job(1, 4, 2, 2), job(1, 1, 4, 4)];
        let outcomes = expect(4, "easy", "estimate", &jobs, &[0, 0, 6, 2]);
        assert_eq!(backfilled(&outcomes), [4]);
    }

    #[test]
    fn a_backfilled_job_that_outlives_its_estimate_delays_the_head() {
        // procs
        //  4 | . 3 3 3 3 3 2 2
        //  3 | 1 1 1 1 . . 2 2
        //  2 | 1 1 1 1 . . 2 2
        //  1 | 1 1 1 1 . . 2 2
        //     0   2   4   6   8
        //
        // Job 1 starts on the empty machine. Job 3 says that it ends at 4, the shadow time of job 2, and starts at 1;
        // it runs until 6 and job 2, which needs the whole machine, has to wait for it.
        let jobs = [exact(0, 3, 4), exact(1, 4, 2), job(1, 1, 5, 3)];
        let outcomes = expect(4, "easy", "estimate", &jobs, &[0, 6, 1]);
        assert_eq!(misses(&outcomes), [0, 0, 1]);
        assert_eq!(last_predictions(&outcomes), [4, 2, 63]);
    }
}

mod sjbf {
    use super::*;

    #[test]
    fn scans_by_ascending_prediction_where_easy_scans_by_arrival() {
        let jobs = [exact(0, 3, 6), exact(1, 4, 2), exact(1, 1, 4), exact(1, 1, 2)];
        // procs
        //  4 | . 4 4 . . . 2 2 . . . .
        //  3 | 1 1 1 1 1 1 2 2 . . . .
        //  2 | 1 1 1 1 1 1 2 2 . . . .
        //  1 | 1 1 1 1 1 1 2 2 3 3 3 3
        //     0   2   4   6   8   10  12
        //
        // Job 1 starts on the empty machine, job 2 at its shadow time 6. Under SJBF the shorter job 4 gets the free
        // processor; at 3 job 3 would end at 7, too late, and waits until job 2 has ended.
        let outcomes = expect(4, "sjbf", "estimate", &jobs, &[0, 6, 8, 1]);
        assert_eq!(backfilled(&outcomes), [4]);
        // procs
        //  4 | . 3 3 3 3 . 2 2 . .
        //  3 | 1 1 1 1 1 1 2 2 . .
        //  2 | 1 1 1 1 1 1 2 2 . .
        //  1 | 1 1 1 1 1 1 2 2 4 4
        //     0   2   4   6   8   10
        //
        // Under EASY the earlier job 3 gets it; at 5 job 4 would end at 7, too late, and waits until job 2 has ended.
        let outcomes = expect(4, "easy", "estimate", &jobs, &[0, 6, 1, 8]);
        assert_eq!(backfilled(&outcomes), [3]);
    }

    #[test]
    fn equal_predictions_go_by_arrival() {
        // procs
        //  4 | . 3 3 3 . . 2 2 . . .
        //  3 | 1 1 1 1 1 1 2 2 . . .
        //  2 | 1 1 1 1 1 1 2 2 . . .
        //  1 | 1 1 1 1 1 1 2 2 4 4 4
        //     0   2   4   6   8   10
        //
        // Job 1 starts on the empty machine, job 2 at its shadow time 6. Jobs 3 and 4 are equally long: the earlier
        // one starts at 1. At 4 the other would end at 7, and waits until job 2 has ended.
        let jobs = [exact(0, 3, 6), exact(1, 4, 2), exact(1, 1, 3), exact(1, 1, 3)];
        expect(4, "sjbf", "estimate", &jobs, &[0, 6, 1, 8]);
    }

    #[test]
    fn short_means_short_predictions_not_short_runtimes() {
        // procs
        //  4 | . 4 4 4 4 . 2 2 .
        //  3 | 1 1 1 1 1 1 2 2 .
        //  2 | 1 1 1 1 1 1 2 2 .
        //  1 | 1 1 1 1 1 1 2 2 3
        //     0   2   4   6   8
        //
        // Job 1 starts on the empty machine, job 2 at its shadow time 6. Job 3 runs for a second but says 5, job 4
        // says 4 and is scanned first. At 5 job 3 would, by its estimate, end at 10, so it waits until job 2 has
        // ended.
        let jobs = [exact(0, 3, 6), exact(1, 4, 2), job(1, 1, 1, 5), job(1, 1, 4, 4)];
        expect(4, "sjbf", "estimate", &jobs, &[0, 6, 8, 1]);
    }

    #[test]
    fn jobs_that_fit_from_the_head_on_start_in_arrival_order() {
        // procs
        //  4 | 1 1 1 3 3 3 3 4
        //  3 | 1 1 1 3 3 3 3 4
        //  2 | 1 1 1 2 2 2 2 2
        //  1 | 1 1 1 2 2 2 2 2
        //     0   2   4   6   8
        //
        // Job 1 fills the machine. At 3 jobs 2 and 3 fit one after the other from the head of the queue: that job 4
        // is shorter matters only to the scan. It starts when job 3 ends.
        let jobs = [exact(0, 4, 3), exact(1, 2, 5), exact(1, 2, 4), exact(1, 2, 1)];
        let outcomes = expect(4, "sjbf", "estimate", &jobs, &[0, 3, 3, 7]);
        assert!(backfilled(&outcomes).is_empty());
    }

    #[test]
    fn the_shortest_of_the_long_jobs_gets_the_extra_processor() {
        let jobs = [exact(0, 4, 4), exact(1, 5, 3), exact(1, 1, 9), exact(1, 1, 8)];
        // procs
        //  6 | . . . . 2 2 2 . . . . . . . . .
        //  5 | . 4 4 4 4 4 4 4 4 . . . . . . .
        //  4 | 1 1 1 1 2 2 2 . . . . . . . . .
        //  3 | 1 1 1 1 2 2 2 . . . . . . . . .
        //  2 | 1 1 1 1 2 2 2 . . . . . . . . .
        //  1 | 1 1 1 1 2 2 2 3 3 3 3 3 3 3 3 3
        //     0   2   4   6   8   10  12  14  16
        //
        // Job 1 starts on the empty machine; job 2 has the reservation at 4 with one processor extra. Jobs 3 and 4
        // both outlast the shadow time: the shorter one, job 4, uses the extra up. Job 3 starts when job 2 has ended.
        expect(6, "sjbf", "estimate", &jobs, &[0, 4, 7, 1]);
        // procs
        //  6 | . . . . 2 2 2 . . . . . . . .
        //  5 | . 3 3 3 3 3 3 3 3 3 . . . . .
        //  4 | 1 1 1 1 2 2 2 . . . . . . . .
        //  3 | 1 1 1 1 2 2 2 . . . . . . . .
        //  2 | 1 1 1 1 2 2 2 . . . . . . . .
        //  1 | 1 1 1 1 2 2 2 4 4 4 4 4 4 4 4
        //     0   2   4   6   8   10  12  14
        //
        // Under EASY it is the earlier one, job 3.
        expect(6, "easy", "estimate", &jobs, &[0, 4, 1, 7]);
    }

    #[test]
    fn the_scan_goes_by_the_present_prediction_not_the_one_at_arrival() {
        let jobs = [
            job_of(2, 0, 1, 2, 2),
            job_of(1, 0, 3, 8, 8),
            job_of(3, 1, 4, 2, 2),
            job_of(2, 1, 1, 2, 6),
            job_of(4, 1, 1, 3, 3),
        ];
        // procs
        //  4 | 2 2 2 2 2 2 2 2 3 3
        //  3 | 2 2 2 2 2 2 2 2 3 3
        //  2 | 2 2 2 2 2 2 2 2 3 3
        //  1 | 1 1 4 4 5 5 5 . 3 3
        //     0   2   4   6   8   10
        //
        // Jobs 1 and 2 fill the machine at 0; job 3 waits for the end of job 2. Job 4 arrives with its estimate 6. At
        // 2 job 1 of the same user ends after 2 seconds, and now 2 is predicted for job 4: it is scanned before
        // job 5. At 4 job 5 would end at 7 and starts.
        let outcomes = expect(4, "sjbf", "ruh:window=1,propagate=on", &jobs, &[0, 0, 8, 2, 4]);
        assert_eq!((outcomes[3].prediction, outcomes[3].prediction_at_start), (6, 2));
        assert_eq!(backfilled(&outcomes), [4, 5]);
        // procs
        //  4 | 2 2 2 2 2 2 2 2 3 3 . .
        //  3 | 2 2 2 2 2 2 2 2 3 3 . .
        //  2 | 2 2 2 2 2 2 2 2 3 3 . .
        //  1 | 1 1 5 5 5 . . . 3 3 4 4
        //     0   2   4   6   8   10  12
        //
        // Without propagation job 4 stays at 6 and job 5 starts at 2; at 5 job 4 would end at 11, after the shadow
        // time.
        expect(4, "sjbf", "ruh:window=1", &jobs, &[0, 0, 8, 10, 2]);
    }
}

mod conservative {
    use super::*;

    #[test]
    fn refuses_a_backfill_that_delays_the_second_waiting_job_and_easy_does_not() {
        let jobs = [exact(0, 2, 4), exact(1, 3, 2), exact(1, 4, 2), exact(1, 1, 8)];
        // procs
        //  4 | . . . . . . 3 3 . . . . . . . .
        //  3 | . . . . 2 2 3 3 . . . . . . . .
        //  2 | 1 1 1 1 2 2 3 3 . . . . . . . .
        //  1 | 1 1 1 1 2 2 3 3 4 4 4 4 4 4 4 4
        //     0   2   4   6   8   10  12  14  16
        //
        // Job 1 starts on the empty machine. Job 2 is reserved [4, 6), job 3, which needs all processors, [6, 8). Job 4
        // from 1 to 9 would be in the way of job 3; its earliest start is 8.
        let outcomes = expect(4, "conservative", "estimate", &jobs, &[0, 4, 6, 8]);
        assert!(backfilled(&outcomes).is_empty());
        // procs
        //  4 | . . . . 2 2 . . . 3 3
        //  3 | . 4 4 4 4 4 4 4 4 3 3
        //  2 | 1 1 1 1 2 2 . . . 3 3
        //  1 | 1 1 1 1 2 2 . . . 3 3
        //     0   2   4   6   8   10
        //
        // EASY protects job 2 alone: one processor is extra at 4, job 4 starts on it at 1, and job 3 waits until 9.
        let outcomes = expect(4, "easy", "estimate", &jobs, &[0, 4, 9, 1]);
        assert_eq!(backfilled(&outcomes), [4]);
    }

    #[test]
    fn a_job_may_end_where_a_reservation_begins() {
        // procs
        //  4 | . 3 3 3 2 2
        //  3 | 1 1 1 1 2 2
        //  2 | 1 1 1 1 2 2
        //  1 | 1 1 1 1 2 2
        //     0   2   4   6
        //
        // Job 1 starts on the empty machine, job 2 is reserved [4, 6). Intervals are half-open: job 3 in [1, 4) is
        // not in its way.
        let jobs = [exact(0, 3, 4), exact(1, 4, 2), exact(1, 1, 3)];
        let outcomes = expect(4, "conservative", "estimate", &jobs, &[0, 4, 1]);
        assert_eq!(backfilled(&outcomes), [3]);
    }

    #[test]
    fn a_job_one_second_longer_than_the_hole_waits() {
        // procs
        //  4 | . . . . 2 2 . . . .
        //  3 | 1 1 1 1 2 2 . . . .
        //  2 | 1 1 1 1 2 2 . . . .
        //  1 | 1 1 1 1 2 2 3 3 3 3
        //     0   2   4   6   8   10
        //
        // Job 1 starts on the empty machine, job 2 is reserved [4, 6). Job 3 in [1, 5) would be in its way: it starts
        // at 6.
        let jobs = [exact(0, 3, 4), exact(1, 4, 2), exact(1, 1, 4)];
        expect(4, "conservative", "estimate", &jobs, &[0, 4, 6]);
    }

    #[test]
    fn a_reservation_may_lie_in_a_hole_before_an_earlier_one() {
        // procs
        //  4 | 2 2 2 2 3 3 3 .
        //  3 | 1 1 4 4 3 3 3 .
        //  2 | 1 1 4 4 3 3 3 .
        //  1 | 1 1 4 4 3 3 3 5
        //     0   2   4   6   8
        //
        // Jobs 1 and 2 fill the machine. Job 3 needs the whole machine and is reserved [4, 7). Job 4 just fills the hole
        // [2, 4) that job 1 leaves. Job 5 finds no processor before 7.
        let jobs = [exact(0, 3, 2), exact(0, 1, 4), exact(1, 4, 3), exact(1, 3, 2), exact(1, 1, 1)];
        let outcomes = expect(4, "conservative", "estimate", &jobs, &[0, 0, 4, 2, 7]);
        assert_eq!(backfilled(&outcomes), [4]);
    }

    #[test]
    fn jobs_that_arrive_together_are_reserved_in_order() {
        // procs
        //  4 | 3 3 3 2 2 . .
        //  3 | 3 3 3 2 2 . .
        //  2 | 1 1 1 2 2 4 4
        //  1 | 1 1 1 2 2 4 4
        //     0   2   4   6
        //
        // Job 1 starts at once; job 2 needs all processors and is reserved [3, 5); job 3 fits [0, 3) beside job 1 and
        // starts; job 4 finds nothing free before 5.
        let jobs = [exact(0, 2, 3), exact(0, 4, 2), exact(0, 2, 3), exact(0, 2, 2)];
        let outcomes = expect(4, "conservative", "estimate", &jobs, &[0, 3, 0, 5]);
        assert_eq!(backfilled(&outcomes), [3]);
    }

    #[test]
    fn an_early_end_moves_reservations_forward() {
        // procs
        //  4 | 1 1 3 3 .
        //  3 | 1 1 3 3 .
        //  2 | 1 1 2 2 2
        //  1 | 1 1 2 2 2
        //     0   2   4
        //
        // Job 1 is to end at 5, where jobs 2 and 3 are both reserved. It ends at 2, and so they start there.
        let jobs = [job(0, 4, 2, 5), exact(1, 2, 3), exact(1, 2, 2)];
        expect(4, "conservative", "estimate", &jobs, &[0, 2, 2]);
    }

    #[test]
    fn reservations_hold_while_every_job_runs_as_long_as_it_said() {
        // procs
        //  4 | 2 2 2 4 4 4 3 3 3
        //  3 | 2 2 2 4 4 4 3 3 3
        //  2 | 1 1 1 1 1 1 3 3 3
        //  1 | 1 1 1 1 1 1 3 3 3
        //     0   2   4   6   8
        //
        // Jobs 1 and 2 fill the machine. Job 3 needs the whole machine and is reserved [6, 9), job 4 before it in [3, 6).
        // Jobs 1 and 2 keep their word, and so it comes.
        let jobs = [exact(0, 2, 6), exact(0, 2, 3), exact(1, 4, 3), exact(1, 2, 3)];
        let outcomes = expect(4, "conservative", "estimate", &jobs, &[0, 0, 6, 3]);
        assert_eq!(backfilled(&outcomes), [4]);
    }

    #[test]
    fn an_early_end_may_move_a_reservation_later_than_it_was() {
        // procs
        //  4 | 2 2 2 3 3 3 . . .
        //  3 | 2 2 2 3 3 3 . . .
        //  2 | 1 1 . 3 3 3 4 4 4
        //  1 | 1 1 . 3 3 3 4 4 4
        //     0   2   4   6   8
        //
        // As above, but job 1 ends at 2. Reservations are made anew: job 3 comes first and takes [3, 6), and job 4,
        // which was reserved at 3, is moved to 6 ([2, 5) would be in the way of job 3).
        let jobs = [job(0, 2, 2, 6), exact(0, 2, 3), exact(1, 4, 3), exact(1, 2, 3)];
        let outcomes = expect(4, "conservative", "estimate", &jobs, &[0, 0, 3, 6]);
        assert!(backfilled(&outcomes).is_empty());
    }

    #[test]
    fn a_missed_deadline_moves_a_reservation_later() {
        // procs
        //  4 | . . . . 3 3 3 3 3 3 3 3 3 3 2 2
        //  3 | 1 1 1 1 1 1 . . . . . . . . 2 2
        //  2 | 1 1 1 1 1 1 . . . . . . . . 2 2
        //  1 | 1 1 1 1 1 1 . . . . . . . . 2 2
        //     0   2   4   6   8   10  12  14  16
        //
        // Job 2 is reserved at 3, where job 1 says it ends. Job 1 goes on and its predicted end becomes 63, and so
        // does the reservation. Job 3 arrives at 4 and fits [4, 14) before it. Job 1 really ends at 6, job 2 has to
        // wait for job 3.
        let jobs = [job(0, 3, 6, 3), exact(1, 4, 2), exact(4, 1, 10)];
        let outcomes = expect(4, "conservative", "estimate", &jobs, &[0, 14, 4]);
        assert_eq!(misses(&outcomes), [1, 0, 0]);
        assert_eq!(backfilled(&outcomes), [3]);
    }
}

mod replay {
    use super::*;

    /// The job as a log has it that says how long it waited.
    fn waited(wait: i64, job: Job) -> Job {
        Job { recorded_wait: Some(wait).into(), ..job }
    }

    #[test]
    fn every_job_starts_after_its_recorded_wait() {
        // procs
        //  4 | . . 2 2 . . . . .
        //  3 | . . 2 2 . . . . .
        //  2 | 1 1 1 1 . . . . .
        //  1 | 1 1 1 1 . . 3 3 3
        //     0   2   4   6   8
        //
        // Job 1 did not wait. Job 2 waited from 1 to 2, although there was room. Job 3 waited from 2 to 6.
        let jobs = [waited(0, exact(0, 2, 4)), waited(1, exact(1, 2, 2)), waited(4, exact(2, 1, 3))];
        expect(4, "replay", "estimate", &jobs, &[0, 2, 6]);
    }

    #[test]
    fn the_machine_may_be_oversubscribed() {
        // procs
        //  5 | . . . 3
        //  4 | . 2 2 3
        //  3 | . 2 2 3
        //  2 | 1 1 1 1
        //  1 | 1 1 1 1
        //     0   2   4
        //
        // The machine has two processors by its header, but the log used more: job 1 takes both at 0, job 2 starts at 1
        // on two more, and job 3, wider than the machine, at 3.
        let jobs = [waited(0, exact(0, 2, 4)), waited(0, exact(1, 2, 2)), waited(1, exact(2, 3, 1))];
        expect(2, "replay", "estimate", &jobs, &[0, 1, 3]);
    }

    #[test]
    fn a_start_may_be_due_when_nothing_else_happens() {
        // procs
        //  2 | . . . . . 2 2 . .
        //  1 | 1 1 1 1 1 1 1 1 1
        //     0   2   4   6   8
        //
        // Job 1 did not wait. Job 2 arrives at 1 and is due at 1 + 4 = 5: no job arrives or ends then.
        let jobs = [waited(0, exact(0, 1, 9)), waited(4, exact(1, 1, 2))];
        expect(2, "replay", "estimate", &jobs, &[0, 5]);
    }

    #[test]
    fn an_idle_machine_stays_idle_until_the_recorded_start() {
        // procs
        //  4 | . . . 1 1 . . 2
        //  3 | . . . 1 1 . . 2
        //  2 | . . . 1 1 . . 2
        //  1 | . . . 1 1 . . 2
        //     0   2   4   6   8
        //
        // Job 1 waited three seconds on a machine that looks empty, job 2 six.
        let jobs = [waited(3, exact(0, 4, 2)), waited(6, exact(1, 4, 1))];
        expect(4, "replay", "estimate", &jobs, &[3, 7]);
    }

    #[test]
    fn a_start_may_fall_on_an_end_and_an_arrival() {
        // procs
        //  4 | . . . 3 .
        //  3 | . . . 3 .
        //  2 | 1 1 1 2 2
        //  1 | 1 1 1 2 2
        //     0   2   4
        //
        // Job 1 did not wait. Job 2 is due at 1 + 2 = 3, where job 1 ends and job 3 arrives, which did not wait.
        let jobs = [waited(0, exact(0, 2, 3)), waited(2, exact(1, 2, 2)), waited(0, exact(3, 2, 1))];
        expect(4, "replay", "estimate", &jobs, &[0, 3, 3]);
    }

    #[test]
    fn a_job_that_overtook_in_the_log_counts_as_backfilled() {
        // procs
        //  1 | . 2 2 1 1
        //     0   2   4
        //
        // Job 1 waited until 3; job 2 came later and started at 1, while job 1 was still waiting. No predictor
        // changes that.
        let jobs = [waited(3, job(0, 1, 2, 9)), waited(0, job(1, 1, 2, 1))];
        for predictor in ["estimate", "perfect", "constant", "ruh"] {
            let outcomes = expect(1, "replay", predictor, &jobs, &[3, 1]);
            assert_eq!(backfilled(&outcomes), [2]);
        }
    }

    #[test]
    fn deadlines_count_from_the_recorded_start() {
        // procs
        //  1 | . 1 1 1 1 1
        //     0   2   4   6
        //
        // The job waited one second. 3 seconds are predicted: the deadline is 4, and from there it is 63.
        // AI: 2 for the 4 seconds until then, 58 for the last 2. RA: 3/5 and 5/63.
        let jobs = [waited(1, exact(0, 1, 5))];
        let outcomes = expect(1, "replay", "constant:seconds=3", &jobs, &[1]);
        assert_eq!((misses(&outcomes), last_predictions(&outcomes)), (vec![1], vec![63]));
        assert_eq!(outcomes[0].ai_seconds as i64, 4 * 2 + 2 * 58);
        assert_close(outcomes[0].ra_seconds, 4.0 * 3.0 / 5.0 + 2.0 * 5.0 / 63.0);
    }
}

mod backfilled_jobs {
    use super::*;

    #[test]
    fn are_those_that_leave_an_earlier_job_waiting_after_their_pass() {
        // procs
        //  4 | 1 1 1 1 . . . . . . . .
        //  3 | 1 1 1 1 4 4 4 . . . 3 3
        //  2 | 1 1 1 1 2 2 2 2 2 2 3 3
        //  1 | 1 1 1 1 2 2 2 2 2 2 3 3
        //     0   2   4   6   8   10  12
        //
        // Job 1 fills the machine. At 4 job 2 starts as head of the queue; job 3 does not fit beside it and gets the
        // reservation at 10; job 4 ends before that and starts. Only job 4 leaves a job waiting that came before
        // it.
        let jobs = [exact(0, 4, 4), exact(1, 2, 6), exact(1, 3, 2), exact(1, 1, 3)];
        for scheduler in ["easy", "sjbf", "conservative"] {
            let outcomes = expect(4, scheduler, "estimate", &jobs, &[0, 4, 10, 4]);
            assert_eq!(backfilled(&outcomes), [4]);
        }
    }

    #[test]
    fn are_not_those_that_start_with_everybody_before_them() {
        // procs
        //  4 | 1 1 4 4 . .
        //  3 | 1 1 3 . . .
        //  2 | 1 1 3 . . .
        //  1 | 1 1 2 2 2 2
        //     0   2   4   6
        //
        // Job 1 fills the machine; at 2 the other three fit together. No job is left waiting, so no job was overtaken.
        let jobs = [exact(0, 4, 2), exact(1, 1, 4), exact(1, 2, 1), exact(1, 1, 2)];
        for scheduler in ["fcfs", "easy", "sjbf", "conservative"] {
            let outcomes = expect(4, scheduler, "estimate", &jobs, &[0, 2, 2, 2]);
            assert!(backfilled(&outcomes).is_empty());
        }
    }
}

mod inflate {
    use super::*;

    const DOUBLED: EngineOptions = EngineOptions {
        inflate: 2.0,
        pass_on_miss: false,
        predict_at_start: false,
        keep_history: false,
        unix_start: None,
        first_submission: None,
    };

    #[test]
    fn doubling_permits_a_backfill_at_the_expense_of_the_head() {
        let jobs = [exact(0, 3, 4), exact(3, 4, 2), exact(3, 1, 2)];
        // procs
        //  4 | . . . . 2 2 . .
        //  3 | 1 1 1 1 2 2 . .
        //  2 | 1 1 1 1 2 2 . .
        //  1 | 1 1 1 1 2 2 3 3
        //     0   2   4   6   8
        //
        // Job 1 starts on the empty machine, job 2 at its shadow time 4. At 3 job 3 would end at 5, too late: it
        // starts when job 2 has ended.
        expect(4, "easy", "estimate", &jobs, &[0, 4, 6]);
        // procs
        //  4 | . . . 3 3 2 2
        //  3 | 1 1 1 1 . 2 2
        //  2 | 1 1 1 1 . 2 2
        //  1 | 1 1 1 1 . 2 2
        //     0   2   4   6
        //
        // With everything doubled the shadow time is 8 and job 3 "ends" at 3 + 4 = 7. It starts at 3, really ends at
        // 5, and job 2 starts a second later than it could have.
        let outcomes = expect_with(DOUBLED, 4, "easy", "estimate", &jobs, &[0, 5, 3]);
        assert_eq!(backfilled(&outcomes), [3]);
        expect_with(DOUBLED, 4, "conservative", "estimate", &jobs, &[0, 5, 3]);
    }

    #[test]
    fn doubling_forbids_a_backfill_where_it_turns_the_order_of_ends_round() {
        let jobs = [exact(0, 3, 6), exact(3, 2, 4), exact(5, 3, 2), exact(5, 1, 9)];
        // procs
        //  6 | . . . . . 4 4 4 4 4 4 4 4 4
        //  5 | . . . 2 2 2 2 . . . . . . .
        //  4 | . . . 2 2 2 2 . . . . . . .
        //  3 | 1 1 1 1 1 1 3 3 . . . . . .
        //  2 | 1 1 1 1 1 1 3 3 . . . . . .
        //  1 | 1 1 1 1 1 1 3 3 . . . . . .
        //     0   2   4   6   8   10  12  14
        //
        // Jobs 1 and 2 start as they come. At 5 one processor is free and job 3 needs three: with those of job 1,
        // which ends first, there are four at 6. One is extra, and job 4 starts on it.
        expect(6, "easy", "estimate", &jobs, &[0, 3, 6, 5]);
        // procs
        //  6 | . . . . . . 4 4 4 4 4 4 4 4 4
        //  5 | . . . 2 2 2 2 . . . . . . . .
        //  4 | . . . 2 2 2 2 . . . . . . . .
        //  3 | 1 1 1 1 1 1 3 3 . . . . . . .
        //  2 | 1 1 1 1 1 1 3 3 . . . . . . .
        //  1 | 1 1 1 1 1 1 3 3 . . . . . . .
        //     0   2   4   6   8   10  12  14
        //
        // Doubled, job 1 ends at 12 but job 2 at 3 + 8 = 11: with its two processors there are just three for job 3,
        // and nothing extra for job 4. Job 1 really ends at 6, and both start.
        let outcomes = expect_with(DOUBLED, 6, "easy", "estimate", &jobs, &[0, 3, 6, 6]);
        assert!(backfilled(&outcomes).is_empty());
    }

    #[test]
    fn deadlines_and_accuracy_see_the_plain_prediction() {
        // procs
        //  1 | 1 1 1 1 1
        //     0   2   4
        //
        // 3 seconds are predicted, the scheduler thinks 6: the deadline at 3 is missed all the same, and 63 is
        // predicted.
        let jobs = [exact(0, 1, 5)];
        let outcomes = expect_with(DOUBLED, 1, "easy", "constant:seconds=3", &jobs, &[0]);
        assert_eq!(
            (misses(&outcomes), predictions(&outcomes), last_predictions(&outcomes)),
            (vec![1], vec![3], vec![63])
        );
        assert_eq!(outcomes[0].ai_seconds as i64, 3 * 2 + 2 * 58);
    }
}

mod missed_deadlines {
    use super::*;

    const PASS_ON_MISS: EngineOptions = EngineOptions {
        inflate: 1.0,
        pass_on_miss: true,
        predict_at_start: false,
        keep_history: false,
        unix_start: None,
        first_submission: None,
    };

    #[test]
    fn a_miss_alone_starts_nothing_unless_asked_to() {
        let jobs = [exact(0, 3, 6), exact(1, 4, 2), exact(1, 1, 2)];
        // procs
        //  4 | . . . . . . 2 2 . .
        //  3 | 1 1 1 1 1 1 2 2 . .
        //  2 | 1 1 1 1 1 1 2 2 . .
        //  1 | 1 1 1 1 1 1 2 2 3 3
        //     0   2   4   6   8   10
        //
        // Two seconds are predicted for all. Job 1 starts on the empty machine; job 2 has the shadow time 2, which
        // job 3 at 1 would exceed. At 2 job 1 misses its deadline and is predicted to end at 62, but no pass follows:
        // job 2 starts when job 1 ends, job 3 when job 2 does.
        let outcomes = expect(4, "easy", "constant:seconds=2", &jobs, &[0, 6, 8]);
        assert_eq!(misses(&outcomes), [1, 0, 0]);
        // procs
        //  4 | . . 3 3 . . 2 2
        //  3 | 1 1 1 1 1 1 2 2
        //  2 | 1 1 1 1 1 1 2 2
        //  1 | 1 1 1 1 1 1 2 2
        //     0   2   4   6   8
        //
        // With a pass after the miss, job 3 starts at 2: until the shadow time 62 there is room enough.
        let outcomes = expect_with(PASS_ON_MISS, 4, "easy", "constant:seconds=2", &jobs, &[0, 6, 2]);
        assert_eq!(misses(&outcomes), [1, 0, 0]);
        assert_eq!(backfilled(&outcomes), [3]);
    }

    #[test]
    fn the_next_arrival_brings_the_pass_that_uses_the_new_prediction() {
        // procs
        //  4 | . . . . 3 3 3 2 2 4
        //  3 | 1 1 1 1 1 1 . 2 2 4
        //  2 | 1 1 1 1 1 1 . 2 2 4
        //  1 | 1 1 1 1 1 1 . 2 2 4
        //     0   2   4   6   8   10
        //
        // Job 1 says 3 seconds and takes 6. At 1 job 3 would end at 4, after the shadow time 3. At 3 the predicted
        // end of job 1 becomes 63; nothing starts until job 4 arrives at 4, and in that pass job 3 does. So job 2
        // starts not at 6 but at 7, when job 3 has ended too, and job 4 after it.
        let jobs = [job(0, 3, 6, 3), exact(1, 4, 2), exact(1, 1, 3), exact(4, 4, 1)];
        let outcomes = expect(4, "easy", "estimate", &jobs, &[0, 7, 4, 9]);
        assert_eq!(misses(&outcomes), [1, 0, 0, 0]);
        assert_eq!(backfilled(&outcomes), [3]);
    }

    #[test]
    fn an_end_a_miss_and_an_arrival_at_one_instant_come_in_this_order() {
        // procs
        //  4 | . . . . 4 4 4 . . 3 3
        //  3 | 2 2 2 2 2 2 2 2 2 3 3
        //  2 | 2 2 2 2 2 2 2 2 2 3 3
        //  1 | 1 1 1 1 4 4 4 . . 3 3
        //     0   2   4   6   8   10
        //
        // Four seconds are predicted for all; jobs 1 and 2 start on the empty machine. At 4 job 1 ends, so two
        // processors are free; job 2 misses its deadline, so its end is predicted for 64; job 3 arrives, needs
        // everything and gets the shadow time 64; job 4 arrives and would end at 8: it starts. Were the pass before
        // the miss, the shadow time would be 4; were it before the end, only one processor would be free. Job 3
        // starts when job 2 ends.
        let jobs = [exact(0, 1, 4), exact(0, 2, 9), exact(4, 4, 2), exact(4, 2, 3)];
        let outcomes = expect(4, "easy", "constant:seconds=4", &jobs, &[0, 0, 9, 4]);
        assert_eq!(misses(&outcomes), [0, 1, 0, 0]);
        assert_eq!(last_predictions(&outcomes), [4, 64, 4, 4]);
    }

    #[test]
    fn an_exceeded_estimate_grows_by_1m_then_5m_then_15m_then_30m() {
        // procs
        //  1 | 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1
        //     0       400     800     1200    1600    2000
        //
        // The job starts on the empty machine and says 10 seconds. It misses its deadlines at 10, at 10 + 60 = 70, at
        // 70 + 300 = 370 and at 370 + 900 = 1270; the next would be at 1270 + 1800 = 3070, but it ends at 2000.
        let jobs = [job(0, 1, 2000, 10)];
        let outcomes = expect(1, "easy", "estimate", &jobs, &[0]);
        assert_eq!((misses(&outcomes), last_predictions(&outcomes)), (vec![4], vec![3070]));
    }

    #[test]
    fn constant_grows_by_increments_and_never_to_the_estimate() {
        // procs
        //  1 | 1 1 1 1 1 1 1 1 1 1
        //     0   20  40  60  80  100
        //
        // The job starts on the empty machine. 1 second is predicted, then 61, then 361; the estimate of 100 is never
        // asked.
        let jobs = [exact(0, 1, 100)];
        let outcomes = expect(1, "easy", "constant", &jobs, &[0]);
        assert_eq!((misses(&outcomes), last_predictions(&outcomes)), (vec![2], vec![361]));
    }

    #[test]
    fn a_runtime_equal_to_its_prediction_misses_nothing() {
        // procs
        //  2 | 2 2 2 2 2 2 2
        //  1 | 1 . . . . . .
        //     0   20  40  60
        //
        // Both start on the empty machine and say 10 seconds. Job 1 ends then: no deadline is missed. Job 2 misses
        // that one, is predicted 70, and ends just then.
        let jobs = [job(0, 1, 10, 10), job(0, 1, 70, 10)];
        let outcomes = expect(2, "easy", "estimate", &jobs, &[0, 0]);
        assert_eq!(misses(&outcomes), [0, 1]);
        assert_eq!(last_predictions(&outcomes), [10, 70]);
    }

    #[test]
    fn every_miss_changes_what_counts_for_accuracy() {
        // procs
        //  1 | 1 1 1 1 1 1 1 1 1 1
        //     0   20  40  60  80  100
        //
        // The job starts on the empty machine; it says 10 seconds and takes 100. 10 is predicted for 10 seconds (90
        // short), 70 for 60 seconds (30 short), 370 for the last 30 (270 too long).
        let jobs = [job(0, 1, 100, 10)];
        let outcomes = expect(1, "easy", "estimate", &jobs, &[0]);
        assert_eq!(misses(&outcomes), [2]);
        assert_eq!(outcomes[0].ai_seconds as i64, 900 + 1800 + 8100);
        assert_close(outcomes[0].ra_seconds, 10.0 * 0.1 + 60.0 * 0.7 + 30.0 * 100.0 / 370.0);
    }

    #[test]
    fn a_termination_at_the_same_instant_may_move_the_deadline_away() {
        // procs
        //  2 | . . 2 2 2 2 2 2 2 2
        //  1 | 1 1 1 1 1 1 . . . .
        //     0   2   4   6   8   10
        //
        // Both find room at once. Job 2 says 4 seconds, so its deadline is 6. There job 1 ends after 6 seconds, and 6
        // is predicted for job 2 before misses are looked at: its first miss is at 8. The prediction is then over the
        // estimate and grows by a minute.
        // AI: 4 for 4 seconds (2 to 6), 2 for 2 (6 to 8), 58 for 2 (8 to 10).
        let jobs = [job(0, 1, 6, 6), job(2, 1, 8, 4)];
        let outcomes = expect(2, "easy", "ruh:window=1,propagate=on", &jobs, &[0, 2]);
        assert_eq!(misses(&outcomes), [0, 1]);
        assert_eq!(last_predictions(&outcomes), [6, 66]);
        assert_eq!(outcomes[1].ai_seconds as i64, 4 * 4 + 2 * 2 + 2 * 58);
    }

    #[test]
    fn a_job_that_ends_at_the_same_instant_but_later_in_order_still_runs_until_its_turn() {
        // procs
        //  2 | . . 2 2 2 2
        //  1 | 1 1 1 1 1 1
        //     0   2   4   6
        //
        // Both find room at once and end at 6. The end of job 1 is handled first and propagates 6 seconds to job 2,
        // which has run for 4 and ends right after: its last prediction is 6, which held for no time. Job 1 heard
        // nothing of job 2.
        let jobs = [job(0, 1, 6, 10), job(2, 1, 4, 10)];
        let outcomes = expect(2, "easy", "ruh:window=1,propagate=on", &jobs, &[0, 2]);
        assert_eq!(last_predictions(&outcomes), [10, 6]);
        assert_eq!(misses(&outcomes), [0, 0]);
        assert_eq!((outcomes[0].ai_seconds as i64, outcomes[1].ai_seconds as i64), (6 * 4, 4 * 6));
    }
}

mod history_predictors {
    use super::*;

    #[test]
    fn ruh_takes_the_median_of_the_last_three_terminated() {
        // procs
        //  4 | . . . . . . . . . . . . . . . . . . . . . .
        //  3 | 3 3 . . . . . . . . . . . . . . . . . . . .
        //  2 | 2 2 2 2 2 . . . . . . . . . . . . . . . . .
        //  1 | 1 1 1 1 1 1 1 1 1 . 4 4 4 4 4 4 4 . . . 5 .
        //     0   2   4   6   8   10  12  14  16  18  20  22
        //
        // Every job finds room at once. Jobs 1 to 3 come before any end: their estimate. At 10 the runtimes in order
        // of termination are 2, 5, 9: median 5. At 20 they are 2, 5, 9, 7, the last three of them 5, 9, 7: median 7.
        let jobs = [job(0, 1, 9, 100), job(0, 1, 5, 100), job(0, 1, 2, 100), job(10, 1, 7, 100), job(20, 1, 1, 100)];
        let outcomes = expect(4, "easy", "ruh", &jobs, &[0, 0, 0, 10, 20]);
        assert_eq!(predictions(&outcomes), [100, 100, 100, 5, 7]);
        // Job 4 outlived its 5 seconds and was raised to its estimate.
        assert_eq!(misses(&outcomes), [0, 0, 0, 1, 0]);
        assert_eq!(last_predictions(&outcomes), [100, 100, 100, 100, 7]);
    }

    #[test]
    fn ruh_with_fewer_terminated_jobs_of_the_user_takes_the_estimate() {
        // procs
        //  4 | . . . . . . . . . . .
        //  3 | 3 3 3 3 3 3 3 . . . .
        //  2 | 2 2 2 2 2 2 . . . . 5
        //  1 | 1 1 1 1 1 . . . . . 4
        //     0   2   4   6   8   10
        //
        // Every job finds room at once. At 10 three jobs have terminated, but only two of user 1 and one of user 2:
        // too few for both.
        let jobs = [
            job_of(1, 0, 1, 5, 50),
            job_of(2, 0, 1, 6, 60),
            job_of(1, 0, 1, 7, 70),
            job_of(1, 10, 1, 1, 80),
            job_of(2, 10, 1, 1, 90),
        ];
        let outcomes = expect(4, "easy", "ruh", &jobs, &[0, 0, 0, 10, 10]);
        assert_eq!(predictions(&outcomes), [50, 60, 70, 80, 90]);
    }

    #[test]
    fn ruh_counts_a_termination_at_the_instant_of_the_arrival() {
        // procs
        //  4 | . . . . . . . . . . . . .
        //  3 | 3 3 3 3 3 3 3 3 3 . . . .
        //  2 | 2 2 2 2 2 2 . . . 5 . . .
        //  1 | 1 1 1 . . . . . 4 4 4 4 4
        //     0   2   4   6   8   10  12
        //
        // Every job finds room at once. At 8 two jobs have ended: job 4 gets its estimate. At 9 the third ends, and
        // then job 5 arrives: the median of 3, 6, 9.
        let jobs = [job(0, 1, 3, 50), job(0, 1, 6, 50), job(0, 1, 9, 50), job(8, 1, 5, 50), job(9, 1, 1, 50)];
        let outcomes = expect(4, "easy", "ruh", &jobs, &[0, 0, 0, 8, 9]);
        assert_eq!(predictions(&outcomes), [50, 50, 50, 50, 6]);
    }

    #[test]
    fn ruh_is_raised_to_the_estimate_at_the_first_miss_and_by_5m_at_the_second() {
        // procs
        //  3 | 3 . . . . . . . . . . . . . . . . . . . . . . . . . . . . . . .
        //  2 | 2 . . . . . . . . . . . . . . . . . . . . . . . . . . . . . . .
        //  1 | 1 . 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4
        //     0   20  40  60  80  100 120 140 160 180 200 220 240 260 280 300 320
        //
        // Every job finds room at once. Job 4 is predicted 10, the median of three times 10. After 10 seconds it is
        // raised to its estimate 100, after 100 by the second increment to 400; it ends after 300.
        // AI: 290 for 10 seconds, 200 for 90, 100 for 200.
        let jobs = [job(0, 1, 10, 10), job(0, 1, 10, 10), job(0, 1, 10, 10), job(20, 1, 300, 100)];
        let outcomes = expect(3, "easy", "ruh", &jobs, &[0, 0, 0, 20]);
        assert_eq!((outcomes[3].prediction, outcomes[3].misses, outcomes[3].prediction_last), (10, 2, 400));
        assert_eq!(outcomes[3].ai_seconds as i64, 2_900 + 18_000 + 20_000);
    }

    #[test]
    fn easy_plus_plus_is_the_mean_of_two_capped_by_the_estimate() {
        // procs
        //  2 | . . . . . . . . . . . . . . . 4 4 4 4 4 4 4 4
        //  1 | 1 1 1 1 . 2 2 2 2 2 2 2 2 2 . 3 . . . . . . .
        //     0   2   4   6   8   10  12  14  16  18  20  22
        //
        // Every job finds room at once. Job 2 has one terminated job before it: too few. Jobs 3 and 4 have two, of 4
        // and 9 seconds: 6 rounded down, but no more than the 5 that job 4 says. Job 4 takes 8: the answer to its
        // miss is a minute more, which no estimate caps.
        let jobs = [job(0, 1, 4, 50), job(5, 1, 9, 60), job(15, 1, 1, 100), job(15, 1, 8, 5)];
        let outcomes = expect(2, "easy", "easy++", &jobs, &[0, 5, 15, 15]);
        assert_eq!(predictions(&outcomes), [50, 60, 6, 5]);
        assert_eq!(misses(&outcomes), [0, 0, 0, 1]);
        assert_eq!(last_predictions(&outcomes), [50, 60, 6, 65]);
    }

    #[test]
    fn propagation_changes_waiting_jobs_and_accuracy_weighs_every_prediction() {
        // procs
        //  1 | 1 1 1 1 2 2 2 2 2 2 3 3 3 3 3
        //     0   2   4   6   8   10  12  14
        //
        // One processor: each job starts when the one before it ends. At 4 job 1 has taken 4 seconds, and 4 is
        // predicted for jobs 2 and 3, which came with 100. At 8 job 2 misses that and is raised to 100. At 10 it has
        // taken 6, and 6 is predicted for job 3.
        let jobs = [job(0, 1, 4, 100), job(1, 1, 6, 100), job(2, 1, 5, 100)];
        let outcomes = expect(1, "fcfs", "ruh:window=1,propagate=on", &jobs, &[0, 4, 10]);
        assert_eq!(predictions(&outcomes), [100, 100, 100]);
        assert_eq!((outcomes[1].prediction_at_start, outcomes[2].prediction_at_start), (4, 6));
        assert_eq!(last_predictions(&outcomes), [100, 100, 6]);
        assert_eq!(misses(&outcomes), [0, 1, 0]);
        // Job 1 took 4: 100 from 0 to 4.
        assert_eq!(outcomes[0].ai_seconds as i64, 96 * 4);
        assert_close(outcomes[0].ra_seconds, 0.04 * 4.0);
        // Job 2 took 6: 100 from 1 to 4, 4 until 8, 100 until 10.
        assert_eq!(outcomes[1].ai_seconds as i64, 94 * 3 + 2 * 4 + 94 * 2);
        assert_close(outcomes[1].ra_seconds, 0.06 * 3.0 + 4.0 / 6.0 * 4.0 + 0.06 * 2.0);
        // Job 3 took 5: 100 from 2 to 4, 4 until 10, 6 until 15.
        assert_eq!(outcomes[2].ai_seconds as i64, 95 * 2 + 6 + 5);
        assert_close(outcomes[2].ra_seconds, 0.05 * 2.0 + 0.8 * 6.0 + 5.0 / 6.0 * 5.0);
    }

    #[test]
    fn without_propagation_a_waiting_job_keeps_its_prediction() {
        // procs
        //  1 | 1 1 1 1 2 2 2 2 2 2 3 3 3 3 3
        //     0   2   4   6   8   10  12  14
        //
        // The same jobs: each starts when the one before it ends, and 100 it stays.
        let jobs = [job(0, 1, 4, 100), job(1, 1, 6, 100), job(2, 1, 5, 100)];
        let outcomes = expect(1, "fcfs", "ruh:window=1", &jobs, &[0, 4, 10]);
        assert_eq!(last_predictions(&outcomes), [100, 100, 100]);
        assert_eq!(outcomes[2].ai_seconds as i64, 95 * 13);
    }

    #[test]
    fn propagation_changes_running_jobs_only_to_more_than_they_have_run() {
        // procs
        //  4 | . . . . 4 4 4 4 4 4 4 4 4 4 . . . . . .
        //  3 | . . 3 3 3 3 3 3 3 3 3 . . . . . . . . .
        //  2 | . . 2 2 2 2 . . . . . . . . . . . . . .
        //  1 | 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1
        //     0   2   4   6   8   10  12  14  16  18  20
        //
        // Every job finds room at once and comes with 50. At 6 job 2 ends after 4 seconds: job 1 has run for 6 and
        // job 3 for just 4, so both stay; job 4 has run for 2 and takes over the 4. It misses at 8 and is raised to
        // 50. At 11 job 3 ends after 9: job 1 has run for 11 and stays, job 4 for 7 and takes over the 9. It misses
        // at 13, is raised again, and ends.
        let jobs = [job(0, 1, 20, 50), job(2, 1, 4, 50), job(2, 1, 9, 50), job(4, 1, 10, 50)];
        let outcomes = expect(4, "easy", "ruh:window=1,propagate=on", &jobs, &[0, 2, 2, 4]);
        assert_eq!(misses(&outcomes), [0, 0, 0, 2]);
        assert_eq!(last_predictions(&outcomes), [50, 50, 50, 50]);
        assert_eq!(outcomes[0].ai_seconds as i64, 30 * 20);
        assert_eq!(outcomes[2].ai_seconds as i64, 41 * 9);
        // 50 from 4 to 6, 4 until 8, 50 until 11, 9 until 13, 50 until 14; the truth is 10.
        assert_eq!(outcomes[3].ai_seconds as i64, 40 * 2 + 6 * 2 + 40 * 3 + 2 + 40);
    }

    #[test]
    fn ruh_may_count_running_jobs_with_their_predictions() {
        let jobs = [job(0, 1, 3, 20), job(0, 1, 10, 30), job(5, 1, 4, 100), job(6, 1, 2, 100)];
        // procs
        //  4 | . . . . . . . . . .
        //  3 | . . . . . . 4 4 . .
        //  2 | 2 2 2 2 2 2 2 2 2 2
        //  1 | 1 1 1 . . 3 3 3 3 .
        //     0   2   4   6   8   10
        //
        // Every job finds room at once. At 5 job 1 has ended after 3 seconds and job 2 runs with 30 predicted: the
        // median of the two is 16 rounded down. At 6 jobs 2 and 3 run, and the last two of the list are theirs: 30
        // and 16 make 23.
        let outcomes = expect(4, "easy", "ruh:window=2,running=on", &jobs, &[0, 0, 5, 6]);
        assert_eq!(predictions(&outcomes), [20, 30, 16, 23]);
        // Without running jobs one terminated job is too few.
        let outcomes = expect(4, "easy", "ruh:window=2", &jobs, &[0, 0, 5, 6]);
        assert_eq!(predictions(&outcomes), [20, 30, 100, 100]);
    }

    #[test]
    fn propagation_adopts_each_prediction_before_the_next_is_computed() {
        // procs
        //  4 | . . . . . . . . .
        //  3 | . 3 3 3 3 3 3 3 3
        //  2 | 2 2 2 2 2 2 2 2 2
        //  1 | 1 1 1 1 . . . . .
        //     0   2   4   6   8
        //
        // Every job finds room at once. Job 3 arrives with 15, the mean of the 10 and 20 that jobs 1 and 2 run with.
        // At 4 job 1 ends. Job 2 comes first: the mean of 4 and job 3's 15 is 9 rounded down. Then job 3: of 4 and
        // job 2's new 9 it is 6. Job 3 misses that at 7 and is raised to its estimate; job 2 ends at 9 as predicted,
        // and so does job 3 then, which has run too long by then for what the end of job 2 says (6).
        let jobs = [job(0, 1, 4, 10), job(0, 1, 9, 20), job(1, 1, 8, 30)];
        let outcomes = expect(4, "easy", "ruh:window=2,metric=mean,running=on,propagate=on", &jobs, &[0, 0, 1]);
        assert_eq!(predictions(&outcomes), [10, 20, 15]);
        assert_eq!(last_predictions(&outcomes), [10, 9, 30]);
        assert_eq!(misses(&outcomes), [0, 0, 1]);
        assert_eq!(outcomes[1].ai_seconds as i64, 11 * 4);
        assert_eq!(outcomes[2].ai_seconds as i64, 7 * 3 + 2 * 3 + 22 * 2);
    }
}

mod simulation {
    use super::*;

    /// An empty machine; the predictor and the policy are built for these jobs.
    fn machine(procs: u32, scheduler: &str, predictor: &str, jobs: &[Job], options: EngineOptions) -> Simulation {
        let policy = schedule::catalog::build(&schedule::catalog::parse(scheduler).unwrap(), &support::facts(jobs));
        let oracle = predict::catalog::build(&predict::catalog::parse(predictor).unwrap());
        Simulation::new(procs, policy, named(predictor, oracle), options)
    }

    fn named<T: ?Sized>(name: &str, value: Box<T>) -> Named<T> {
        Named { name: name.to_string(), value }
    }

    /// Plain EASY on four processors with these jobs submitted, its clock at `now`.
    fn plain_easy(jobs: &[Job], now: i64) -> Simulation {
        let mut simulation = machine(4, "easy", "estimate", jobs, EngineOptions::default());
        for job in &workload(4, jobs).jobs {
            simulation.submit(job).unwrap();
        }
        simulation.advance_to(now).unwrap();
        simulation
    }

    fn start_of(simulation: &Simulation, number: u32) -> Option<i64> {
        simulation.outcome(JobId(number - 1)).start.get()
    }

    #[test]
    fn jobs_can_be_handed_in_as_time_goes_on() {
        // procs
        //  4 | . 3 3 3 2 2
        //  3 | 1 1 1 1 2 2
        //  2 | 1 1 1 1 2 2
        //  1 | 1 1 1 1 2 2
        //     0   2   4   6
        //
        // Job 1 starts at 0, job 2 at its end, and job 3 is backfilled at 1.
        let mut simulation = plain_easy(&[exact(0, 3, 4)], 1);
        assert_eq!((simulation.now(), start_of(&simulation, 1), simulation.machine().free()), (1, Some(0), 1));
        assert_eq!(simulation.next_event(), Some(4));
        assert_eq!(simulation.submit(&exact(1, 4, 2)), Ok(JobId(1)));
        assert_eq!(simulation.submit(&exact(1, 1, 3)), Ok(JobId(2)));
        assert_eq!(simulation.next_event(), Some(1));
        simulation.advance_to(1).unwrap();
        assert_eq!((start_of(&simulation, 2), start_of(&simulation, 3)), (None, Some(1)));
        assert!(simulation.outcome(JobId(2)).backfilled);
        simulation.advance_to(3).unwrap();
        assert_eq!((simulation.now(), simulation.next_event()), (3, Some(4)));
        simulation.run_to_end().unwrap();
        assert_eq!((simulation.now(), simulation.next_event()), (6, None));
        let (outcomes, history) = simulation.into_outcomes();
        assert_eq!(starts(&outcomes), [0, 4, 1]);
        assert_eq!(history, None);
    }

    #[test]
    fn cancelling_the_head_lets_a_backfill_happen_at_that_instant() {
        // procs
        //  4 | . . . 4 4 4 4 4 4 4 4 4
        //  3 | 1 1 1 1 1 1 . . . . . .
        //  2 | 1 1 1 1 1 1 3 3 3 . . .
        //  1 | 1 1 1 1 1 1 3 3 3 . . .
        //     0   2   4   6   8   10  12
        //
        // Job 1 starts on the empty machine. Job 2 needs all processors and leaves nothing extra at its shadow time 6:
        // job 4, which would end at 10, waits. Job 2 is withdrawn at 3: now job 3 has the reservation at 6 with two
        // processors extra, and job 4 starts on one of them.
        let jobs = [exact(0, 3, 6), exact(1, 4, 2), exact(1, 2, 3), exact(1, 1, 9)];
        let mut simulation = plain_easy(&jobs, 3);
        assert_eq!([2, 3, 4].map(|number| start_of(&simulation, number)), [None, None, None]);
        assert_eq!(simulation.next_event(), Some(6));
        simulation.cancel(JobId(1)).unwrap();
        assert_eq!(simulation.board().stage(JobId(1)), Stage::Gone);
        assert_eq!(simulation.next_event(), Some(3));
        simulation.advance_to(3).unwrap();
        assert_eq!(start_of(&simulation, 4), Some(3));
        assert!(simulation.outcome(JobId(3)).backfilled);
        simulation.run_to_end().unwrap();
        assert_eq!([1, 2, 3, 4].map(|number| start_of(&simulation, number)), [Some(0), None, Some(6), Some(3)]);
    }

    #[test]
    fn only_a_waiting_job_can_be_cancelled() {
        // At 3 the first has ended, the second runs, the third waits behind it, the fourth has not yet come.
        let jobs = [exact(0, 4, 2), exact(1, 4, 5), exact(2, 4, 1), exact(9, 4, 1)];
        let mut simulation = plain_easy(&jobs, 3);
        let refused = Err(EngineError::NotWaiting { time: 3 });
        for id in [0, 1, 3].map(JobId) {
            assert_eq!(simulation.cancel(id), refused);
        }
        assert_eq!(simulation.cancel(JobId(2)), Ok(()));
        assert_eq!(simulation.cancel(JobId(2)), refused);
        // Nobody suffered: the others run as they would have.
        simulation.run_to_end().unwrap();
        assert_eq!([1, 2, 3, 4].map(|number| start_of(&simulation, number)), [Some(0), Some(2), None, Some(9)]);
    }

    #[test]
    fn a_job_cannot_be_handed_in_for_the_past() {
        let mut simulation = plain_easy(&[exact(0, 4, 9)], 5);
        let late = Job { number: 7, ..exact(4, 1, 1) };
        let refused = EngineError::OutOfOrder { job: 7, submit: 4, earliest: 5 };
        assert_eq!(simulation.submit(&late), Err(refused));
        // The present is not yet past.
        assert_eq!(simulation.submit(&exact(5, 1, 1)), Ok(JobId(1)));
        simulation.run_to_end().unwrap();
        assert_eq!(start_of(&simulation, 2), Some(9));
    }

    #[test]
    fn a_job_cannot_be_handed_in_before_one_that_was() {
        let mut simulation = plain_easy(&[exact(0, 4, 9), exact(20, 1, 1)], 5);
        let early = Job { number: 7, ..exact(19, 1, 1) };
        let refused = EngineError::OutOfOrder { job: 7, submit: 19, earliest: 20 };
        assert_eq!(simulation.submit(&early), Err(refused));
        assert_eq!(simulation.submit(&exact(20, 1, 1)), Ok(JobId(2)));
    }

    #[test]
    fn a_job_wider_than_the_machine_is_refused() {
        let mut simulation = plain_easy(&[], 0);
        let wide = Job { number: 7, ..exact(0, 5, 1) };
        assert_eq!(simulation.submit(&wide), Err(EngineError::TooWide { job: 7, needs: 5, procs: 4 }));
    }

    #[test]
    fn an_instant_has_two_halves_events_and_the_pass() {
        // Job 1 ends at 4 when jobs 2 and 3 have come: after the events they wait on an empty machine, after the pass
        // they run.
        let mut simulation = plain_easy(&[exact(0, 4, 4), exact(2, 2, 3), exact(4, 2, 1)], 3);
        simulation.settle(4).unwrap();
        assert_eq!((simulation.now(), simulation.machine().free()), (4, 4));
        let waiting: Vec<_> = simulation.machine().waiting.iter().map(|job| (job.id, job.prediction)).collect();
        assert_eq!(waiting, [(JobId(1), 3), (JobId(2), 1)]);
        assert_eq!(simulation.pass().unwrap(), [JobId(1), JobId(2)]);
        assert!(simulation.machine().waiting.is_empty());
        let running: Vec<_> = simulation.machine().running.iter().map(|job| (job.id, job.end)).collect();
        assert_eq!(running, [(JobId(2), 5), (JobId(1), 7)]);
        assert_eq!(simulation.board().stage(JobId(1)), Stage::Running { start: 4 });
        // A second pass at the same instant is not due.
        assert_eq!(simulation.pass().unwrap(), []);
    }

    #[test]
    fn the_next_event_may_be_a_deadline() {
        // The job says 3 seconds and takes 70: it arrives at 2, misses at 5 and 65, and ends at 72.
        let mut simulation = plain_easy(&[job(2, 1, 70, 3)], 0);
        for (event, prediction) in [(2, 3), (5, 63), (65, 363)] {
            assert_eq!(simulation.next_event(), Some(event));
            simulation.advance_to(event).unwrap();
            assert_eq!(simulation.board().prediction(JobId(0)), prediction);
        }
        assert_eq!(simulation.board().elapsed(JobId(0)), 63);
        assert_eq!(simulation.next_event(), Some(72));
        simulation.advance_to(72).unwrap();
        assert_eq!(simulation.next_event(), None);
    }

    /// Two users, jobs too long for their estimates, arrivals together, ends together, and waits for a replay.
    fn mixed_jobs() -> Vec<Job> {
        let jobs = [
            job_of(1, 0, 3, 6, 9),
            job_of(2, 1, 4, 2, 2),
            job_of(1, 1, 1, 3, 3),
            job_of(2, 2, 1, 9, 4),
            job_of(1, 2, 2, 70, 5),
            job_of(2, 9, 1, 1, 8),
            job_of(1, 9, 4, 3, 3),
            job_of(2, 30, 2, 5, 60),
        ];
        let waits = [0, 3, 6, 2, 5, 1, 4, 7];
        jobs.iter().zip(waits).map(|(job, wait)| Job { recorded_wait: Some(wait).into(), ..*job }).collect()
    }

    #[test]
    fn stepping_second_by_second_and_looking_changes_nothing() {
        let workload = workload(4, &mixed_jobs());
        for scheduler in ["fcfs", "easy", "sjbf", "conservative", "replay"] {
            for predictor in
                ["perfect", "constant", "estimate", "ruh:window=1,propagate=on", "ruh:running=on", "easy++"]
            {
                for (inflate, pass_on_miss) in [(1.0, false), (1.0, true), (2.0, false), (2.0, true)] {
                    let options = EngineOptions { inflate, pass_on_miss, ..EngineOptions::default() };
                    let at_once = run_with(&workload, scheduler, predictor, options);
                    let mut simulation = machine(4, scheduler, predictor, &workload.jobs, options);
                    let mut coming = workload.jobs.iter().peekable();
                    for second in 0..300 {
                        while let Some(job) = coming.next_if(|job| job.submission.submit == second) {
                            simulation.submit(job).unwrap();
                        }
                        simulation.advance_to(second).unwrap();
                        assert_eq!((simulation.now(), simulation.machine().now), (second, second));
                        assert!(simulation.next_event().is_none_or(|next| next > second));
                        let waiting: Vec<_> = simulation.machine().waiting.iter().map(|job| job.id).collect();
                        for id in waiting {
                            assert_eq!(simulation.board().stage(id), Stage::Waiting);
                            assert_eq!(simulation.outcome(id).start.get(), None);
                        }
                        let (machine, board, _) = simulation.state();
                        for job in machine.running.iter() {
                            assert!(board.prediction(job.id) > board.elapsed(job.id));
                        }
                    }
                    assert_eq!(simulation.next_event(), None);
                    assert_eq!(simulation.into_outcomes().0, at_once, "{scheduler}/{predictor} with {options:?}");
                }
            }
        }
    }

    #[test]
    fn handing_everything_in_at_the_beginning_changes_nothing() {
        let workload = workload(4, &mixed_jobs());
        for scheduler in ["fcfs", "easy", "sjbf", "conservative", "replay"] {
            let at_once = run(&workload, scheduler, "ruh:window=1,propagate=on");
            let options = EngineOptions::default();
            let mut simulation = machine(4, scheduler, "ruh:window=1,propagate=on", &workload.jobs, options);
            for job in &workload.jobs {
                simulation.submit(job).unwrap();
            }
            simulation.run_to_end().unwrap();
            assert_eq!(simulation.into_outcomes().0, at_once, "{scheduler}");
        }
    }

    /// Makes the given predictions, at the three events where a predictor may make some.
    #[derive(Default)]
    struct Says {
        arrival: Option<i64>,
        start: Option<i64>,
        miss: Option<i64>,
    }

    impl Predictor for Says {
        fn on_arrival(&mut self, id: JobId, board: &mut Board) {
            self.arrival.into_iter().for_each(|prediction| board.predict(id, prediction));
        }

        fn on_start(&mut self, id: JobId, board: &mut Board) {
            self.start.into_iter().for_each(|prediction| board.predict(id, prediction));
        }

        fn on_deadline_missed(&mut self, id: JobId, board: &mut Board) {
            self.miss.into_iter().for_each(|prediction| board.predict(id, prediction));
        }
    }

    /// Runs jobs on one processor under `fcfs` with a predictor of our own, called "says".
    fn run_own(predictor: impl Predictor + 'static, jobs: &[Job]) -> Result<Vec<Outcome>, EngineError> {
        let policy = schedule::Rules::fcfs(schedule::Order::Arrival).scheduler().named("fcfs");
        let predictor = named("says", Box::new(predictor) as Box<dyn Predictor>);
        let jobs = workload(1, jobs).jobs;
        shadowtime::engine::run(1, &jobs, policy, predictor, EngineOptions::default(), &mut |_| ())
            .map(|record| record.outcomes)
    }

    /// The error is this one, and its message has all these words.
    #[track_caller]
    fn assert_error<T: std::fmt::Debug>(result: Result<T, EngineError>, by_hand: EngineError, words: &[&str]) {
        let error = result.unwrap_err();
        assert_eq!(error, by_hand);
        let message = error.to_string();
        assert!(words.iter().all(|word| message.contains(word)), "{message}");
    }

    #[test]
    fn a_prediction_of_nothing_is_an_error() {
        let says = Says { arrival: Some(0), ..Says::default() };
        let why = InvalidReason::TooShort;
        let by_hand = EngineError::BadPrediction { predictor: "says".into(), job: 1, time: 5, prediction: 0, why };
        assert_error(run_own(says, &[exact(5, 1, 1)]), by_hand, &["'says'", "job 1", "time 5", "0 s"]);
    }

    #[test]
    fn no_prediction_at_an_arrival_is_an_error() {
        let by_hand = EngineError::NoPrediction { predictor: "says".into(), job: 1, time: 5, event: "arrival" };
        assert_error(run_own(Says::default(), &[exact(5, 1, 1)]), by_hand, &["'says'", "job 1", "time 5", "arrival"]);
    }

    #[test]
    fn no_prediction_at_a_missed_deadline_is_an_error() {
        // The first job keeps its 3 seconds. The second starts at 8, when it ends, and misses at 11.
        let says = Says { arrival: Some(3), ..Says::default() };
        let by_hand =
            EngineError::NoPrediction { predictor: "says".into(), job: 2, time: 11, event: "missed deadline" };
        let jobs = [exact(5, 1, 3), exact(6, 1, 4)];
        assert_error(run_own(says, &jobs), by_hand, &["'says'", "job 2", "time 11", "missed deadline"]);
    }

    #[test]
    fn a_prediction_not_above_the_elapsed_time_is_an_error() {
        // The job starts at 5 and has run for 3 seconds at its deadline: 3 seconds are not more than that.
        let says = Says { arrival: Some(3), miss: Some(3), ..Says::default() };
        let why = InvalidReason::NotAboveElapsed { elapsed: 3 };
        let by_hand = EngineError::BadPrediction { predictor: "says".into(), job: 1, time: 8, prediction: 3, why };
        assert_error(run_own(says, &[exact(5, 1, 9)]), by_hand, &["'says'", "job 1", "time 8", "3 s"]);
    }

    #[test]
    fn one_second_above_the_elapsed_time_is_enough() {
        // The deadline moves from 3 to 4, where the job ends.
        let says = Says { arrival: Some(3), miss: Some(4), ..Says::default() };
        let outcomes = run_own(says, &[exact(0, 1, 4)]).unwrap();
        assert_eq!((misses(&outcomes), last_predictions(&outcomes)), (vec![1], vec![4]));
    }

    #[test]
    fn a_prediction_for_a_job_that_is_gone_is_an_error() {
        struct Haunted;
        impl Predictor for Haunted {
            fn on_arrival(&mut self, id: JobId, board: &mut Board) {
                board.predict(id, 9);
            }

            fn on_termination(&mut self, id: JobId, runtime: i64, board: &mut Board) {
                board.predict(id, runtime);
            }
        }
        let why = InvalidReason::NotInTheSystem;
        let by_hand = EngineError::BadPrediction { predictor: "says".into(), job: 1, time: 7, prediction: 2, why };
        assert_error(run_own(Haunted, &[exact(5, 1, 2)]), by_hand, &["'says'", "job 1", "time 7"]);
    }

    #[test]
    fn predictions_at_the_start_hold_from_the_start_on() {
        // procs
        //  1 | 1 1 1 1 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2
        //     0   2   4   6   8   10  12  14  16  18
        //
        // 10 is predicted at arrival, 20 at the start. Job 1 starts where it arrives: its 10 held for no time.
        let says = Says { arrival: Some(10), start: Some(20), ..Says::default() };
        let outcomes = run_own(says, &[exact(0, 1, 4), exact(1, 1, 15)]).unwrap();
        assert_eq!(starts(&outcomes), [0, 4]);
        assert_eq!((predictions(&outcomes), last_predictions(&outcomes)), (vec![10, 10], vec![20, 20]));
        assert_eq!(outcomes[0].ai_seconds as i64, 16 * 4);
        // Job 2 took 15: 10 from 1 to 4, 20 until 19.
        assert_eq!(outcomes[1].ai_seconds as i64, 5 * 3 + 5 * 15);
        assert_close(outcomes[1].ra_seconds, 10.0 / 15.0 * 3.0 + 0.75 * 15.0);
    }

    #[test]
    fn the_prediction_in_force_at_the_start_is_the_one_made_there() {
        // Of several predictions at one instant the last holds.
        let says = Says { arrival: Some(10), start: Some(20), ..Says::default() };
        let outcomes = run_own(says, &[exact(0, 1, 4), exact(1, 1, 15)]).unwrap();
        assert_eq!((outcomes[0].prediction_at_start, outcomes[1].prediction_at_start), (20, 20));
    }

    #[test]
    fn a_miss_may_spare_another_job_its_own() {
        /// Predicts 3 for both of two jobs, and 9 for both as soon as one of them is late.
        struct Together;
        impl Predictor for Together {
            fn on_arrival(&mut self, id: JobId, board: &mut Board) {
                board.predict(id, 3);
            }

            fn on_deadline_missed(&mut self, _id: JobId, board: &mut Board) {
                board.predict(JobId(0), 9);
                board.predict(JobId(1), 9);
            }
        }
        // Both deadlines are at 3. Job 1 is looked at first, and what it sets off moves that of job 2 to 9.
        let mut simulation = Simulation::new(
            2,
            schedule::Rules::fcfs(schedule::Order::Arrival).scheduler(),
            named("together", Box::new(Together)),
            EngineOptions::default(),
        );
        for job in &workload(2, &[exact(0, 1, 5), exact(0, 1, 5)]).jobs {
            simulation.submit(job).unwrap();
        }
        simulation.run_to_end().unwrap();
        assert_eq!(misses(&simulation.into_outcomes().0), [1, 0]);
    }

    /// Runs jobs on four processors with a policy of our own, called "rash".
    fn run_under(policy: impl Policy + 'static, jobs: &[Job]) -> Result<(), EngineError> {
        let estimate = predict::catalog::build(&predict::catalog::parse("estimate").unwrap());
        let mut simulation = Simulation::new(
            4,
            Scheduler::new(policy).named("rash"),
            named("estimate", estimate),
            EngineOptions::default(),
        );
        for job in &workload(4, jobs).jobs {
            simulation.submit(job)?;
        }
        simulation.run_to_end()
    }

    #[test]
    fn a_policy_that_starts_a_job_that_does_not_fit_is_an_error() {
        struct Everybody;
        impl Policy for Everybody {
            fn decide(&mut self, machine: &Machine, out: &mut Decisions) {
                out.starts.extend(machine.waiting.iter().map(|job| job.id));
            }
        }
        // Two processors are free at 3, and job 2 needs three.
        let why = "it does not fit the free processors";
        let by_hand = EngineError::BadStart { scheduler: "rash".into(), job: 2, time: 3, why, node: None };
        let jobs = [exact(0, 2, 9), exact(3, 3, 1)];
        assert_error(run_under(Everybody, &jobs), by_hand, &["'rash'", "job 2", "time 3"]);
    }

    #[test]
    fn a_policy_that_starts_a_job_twice_is_an_error() {
        struct Twice;
        impl Policy for Twice {
            fn decide(&mut self, machine: &Machine, out: &mut Decisions) {
                out.starts.extend([machine.waiting.first().unwrap().id; 2]);
            }
        }
        let why = "it does not wait";
        let by_hand = EngineError::BadStart { scheduler: "rash".into(), job: 1, time: 3, why, node: None };
        assert_error(run_under(Twice, &[exact(3, 1, 1)]), by_hand, &["'rash'", "job 1", "time 3"]);
    }

    #[test]
    fn a_policy_that_starts_nobody_is_an_error_not_a_hang() {
        struct Nobody;
        impl Policy for Nobody {
            fn decide(&mut self, _machine: &Machine, _out: &mut Decisions) {}
        }
        let by_hand = EngineError::Starved { scheduler: "rash".into(), job: 1, time: 5, waiting: 2 };
        let jobs = [exact(3, 1, 1), exact(5, 1, 1)];
        assert_error(run_under(Nobody, &jobs), by_hand, &["'rash'", "job 1", "time 5"]);
    }

    /// The start that is reserved first for each job that has a reservation, and the starts of all jobs.
    fn first_reserved(workload: &Workload, scheduler: &str, predictor: &str) -> (BTreeMap<u32, i64>, Vec<i64>) {
        let mut simulation = machine(workload.procs, scheduler, predictor, &workload.jobs, EngineOptions::default());
        workload.jobs.iter().for_each(|job| assert!(simulation.submit(job).is_ok()));
        let mut first = BTreeMap::new();
        while let Some(next) = simulation.next_event() {
            simulation.advance_to(next).unwrap();
            simulation.reservations(100).into_iter().for_each(|(job, start)| {
                first.entry(job.0).or_insert(start);
            });
        }
        (first, starts(&simulation.into_outcomes().0))
    }

    /// 4 processors. The first job is planned until 100 and ends at 50. The second needs all; the third needs one for 95 s.
    /// The fourth needs all.
    #[test]
    fn first_reservations_by_hand() {
        let jobs = [job(0, 3, 50, 100), job(1, 4, 10, 20), job(2, 1, 10, 95), job(3, 4, 10, 30), job(4, 1, 30, 88)];
        let first = |scheduler: &str| first_reserved(&workload(4, &jobs), scheduler, "estimate");
        // The third is backfilled at 2: it ends by 97. The last is when the third has ended, at 12: it ends by 100. The fourth
        // becomes the head when the second starts, at 50, which is planned until 70 then.
        assert_eq!(first("easy"), (BTreeMap::from([(1, 100), (3, 70)]), vec![0, 50, 2, 60, 12]));
        // Each job that does not start has a reservation at once. The third is planned until 97, after which the last does not
        // fit until 100. So its place is behind the fourth, until the third ends at 12.
        let reserved = BTreeMap::from([(1, 100), (3, 120), (4, 150)]);
        assert_eq!(first("conservative"), (reserved, vec![0, 50, 2, 60, 12]));
        assert_eq!(first("fcfs").0, BTreeMap::new());
    }

    /// If all runtimes are known, nothing moves a reservation: the jobs start when it says.
    #[test]
    fn reservations_made_with_true_runtimes_are_kept() {
        let workload = demo_workload();
        for scheduler in ["easy", "sjbf", "conservative", "easy:reservations=5", "sjbf:reservations=2,protect=1h"] {
            let (reserved, starts) = first_reserved(&workload, scheduler, "perfect");
            assert!(reserved.len() > 200, "{scheduler}: {}", reserved.len());
            for (job, start) in reserved {
                assert_eq!(starts[job as usize], start, "{scheduler}: {job}");
            }
        }
    }
}
