//! The keys of the backfilling schedulers, in schedules worked out by hand. As in [`crate::schedules`], a column of a
//! drawing is one second, a row a processor, and a digit the job that holds it.

use shadowtime::job::Job;

use crate::support::{job, run, starts, workload};

/// Runs jobs on four processors with the predictor `perfect`, and compares their starts with those worked out by hand.
#[track_caller]
fn expect(scheduler: &str, jobs: &[Job], by_hand: &[i64]) {
    let outcomes = run(&workload(4, jobs), scheduler, "perfect");
    assert_eq!(starts(&outcomes), by_hand, "starts under {scheduler}");
}

/// A job whose estimate is its runtime: (submit, processors, runtime).
fn exact(submit: i64, procs: u32, runtime: i64) -> Job {
    job(submit, procs, runtime, runtime)
}

mod protect {
    use super::*;

    #[test]
    fn jobs_that_overtake_a_protected_one_fit_by_their_estimates() {
        // Job 1 ends at 4, as it is estimated. Job 2 needs the whole machine, from 1 on. Job 3 comes at 2: it is predicted to
        // take 2 s and would end in time, but its estimate is 9 s.
        let jobs = [exact(0, 3, 4), exact(1, 4, 2), job(2, 1, 2, 9)];
        // procs
        //  4 | . . 3 3 2 2
        //  3 | 1 1 1 1 2 2
        //  2 | 1 1 1 1 2 2
        //  1 | 1 1 1 1 2 2
        //     0   2   4   6
        expect("easy", &jobs, &[0, 4, 2]);
        expect("easy:protect=2s", &jobs, &[0, 4, 2]);
        // At 2 job 2 has waited for 1 s.
        // procs
        //  4 | . . . . 2 2 . .
        //  3 | 1 1 1 1 2 2 . .
        //  2 | 1 1 1 1 2 2 . .
        //  1 | 1 1 1 1 2 2 3 3
        //     0   2   4   6   8
        expect("easy:protect=1s", &jobs, &[0, 4, 6]);
        expect("sjbf:protect=0s", &jobs, &[0, 4, 6]);
        expect("easy:queue=lqf,protect=1s", &jobs, &[0, 4, 6]);
        expect("easy:reservations=2,protect=1s", &jobs, &[0, 4, 6]);
    }

    #[test]
    fn a_job_that_needs_extra_processors_by_its_estimate_uses_them_up() {
        // Job 2 leaves one processor free. Jobs 3 and 4 are estimated to run longer than job 1, so one of them may start.
        let jobs = [exact(0, 2, 4), exact(1, 3, 2), job(2, 1, 2, 9), job(2, 1, 2, 9)];
        // Without protection both start, as they are predicted to end before job 2 starts.
        expect("easy", &jobs, &[0, 4, 2, 2]);
        // procs
        //  4 | . . 3 3 4 4
        //  3 | . . . . 2 2
        //  2 | 1 1 1 1 2 2
        //  1 | 1 1 1 1 2 2
        //     0   2   4   6
        expect("easy:protect=1s", &jobs, &[0, 4, 2, 4]);
    }
}

mod running {
    use super::*;

    #[test]
    fn ends_are_counted_by_estimates_and_candidates_fit_by_predictions() {
        // Job 1 is predicted to end at 4 and estimated to end at 8. Job 2 needs the whole machine. Job 3 would end at 6,
        // whatever its own estimate.
        let jobs = [job(0, 3, 4, 8), exact(1, 4, 2), job(1, 1, 5, 100)];
        // procs
        //  4 | . . . . 2 2 . . . . .
        //  3 | 1 1 1 1 2 2 . . . . .
        //  2 | 1 1 1 1 2 2 . . . . .
        //  1 | 1 1 1 1 2 2 3 3 3 3 3
        //     0   2   4   6   8   10
        expect("easy", &jobs, &[0, 4, 6]);
        expect("conservative", &jobs, &[0, 4, 6]);
        // procs
        //  4 | . 3 3 3 3 3 2 2
        //  3 | 1 1 1 1 . . 2 2
        //  2 | 1 1 1 1 . . 2 2
        //  1 | 1 1 1 1 . . 2 2
        //     0   2   4   6   8
        expect("easy:running=estimate", &jobs, &[0, 6, 1]);
        expect("sjbf:running=estimate", &jobs, &[0, 6, 1]);
        expect("conservative:running=estimate", &jobs, &[0, 6, 1]);
    }

    #[test]
    fn a_job_that_outlives_its_estimate_is_counted_by_its_prediction() {
        // procs
        //  4 | . . . . 3 3 3 4 4 . . . 2 2
        //  3 | 1 1 1 1 1 1 1 1 1 1 1 1 2 2
        //  2 | 1 1 1 1 1 1 1 1 1 1 1 1 2 2
        //  1 | 1 1 1 1 1 1 1 1 1 1 1 1 2 2
        //     0   2   4   6   8   10  12
        //
        // Job 1 is estimated to end at 4: job 3, which arrives at 2, would end at 5 and waits. At 4, when job 4 arrives,
        // job 1 still runs, so it counts by its prediction, 12: job 3 starts, and job 4 when it ends.
        let jobs = [job(0, 3, 12, 4), exact(1, 4, 2), exact(2, 1, 3), exact(4, 1, 2)];
        expect("easy:running=estimate", &jobs, &[0, 12, 4, 7]);
        // One second earlier it has not outlived its estimate. Then job 3 starts only at the end of job 2, at 14: until then
        // there is no pass.
        let jobs = [job(0, 3, 12, 4), exact(1, 4, 2), exact(2, 1, 3), exact(3, 1, 2)];
        expect("easy:running=estimate", &jobs, &[0, 12, 14, 14]);
    }

    #[test]
    fn backfilled_jobs_count_by_their_estimates_from_the_next_pass_on() {
        // procs
        //  4 | . 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 2 2 5
        //  3 | 3 3 3 3 3 3 . . . . . . . . . . 2 2 5
        //  2 | 1 1 1 1 . . . . . . . . . . . . 2 2 5
        //  1 | 1 1 1 1 . . . . . . . . . . . . 2 2 5
        //     0   2   4   6   8   10  12  14  16  18
        //
        // All but job 5 arrive at 0. Job 1 starts before the first reservation and counts by its estimate in the same pass: the
        // shadow time of job 2 is 10. Job 3 ends by then and starts. Job 4 would end at 15 and does not. At 1, when job 5
        // arrives, job 3 counts by its estimate too: the shadow time is 20, and job 4 ends by then, at 16.
        let jobs = [job(0, 2, 4, 10), exact(0, 4, 2), job(0, 1, 6, 20), exact(0, 1, 15), exact(1, 4, 1)];
        expect("easy:running=estimate", &jobs, &[0, 16, 0, 1, 18]);
    }
}

#[test]
fn the_second_reservation_is_not_delayed() {
    let jobs = [exact(0, 2, 4), exact(1, 3, 4), exact(1, 4, 2), exact(1, 1, 10)];
    // procs
    //  4 | . 4 4 4 4 4 4 4 4 4 4 3 3
    //  3 | . . . . 2 2 2 2 . . . 3 3
    //  2 | 1 1 1 1 2 2 2 2 . . . 3 3
    //  1 | 1 1 1 1 2 2 2 2 . . . 3 3
    //     0   2   4   6   8   10  12
    //
    // Job 2 has the reservation [4, 8) with one extra processor. Job 4 takes it until 11, and job 3 waits for job 4.
    expect("easy", &jobs, &[0, 4, 11, 1]);
    expect("easy:reservations=1", &jobs, &[0, 4, 11, 1]);
    // Job 3 has the reservation [8, 10), and job 4 would be in its way: it starts at 10.
    expect("easy:reservations=2", &jobs, &[0, 4, 8, 10]);
    expect("easy:reservations=all", &jobs, &[0, 4, 8, 10]);
    expect("conservative", &jobs, &[0, 4, 8, 10]);
}

#[test]
fn jobs_that_have_waited_long_come_first_in_the_queue() {
    let jobs = [exact(0, 4, 4), exact(1, 4, 3), exact(2, 1, 3), exact(3, 1, 6), exact(5, 3, 10)];
    // The narrowest first: at 4 jobs 3 and 4 start. At 7, when job 3 ends, job 5 starts before job 2, which waits until 17.
    expect("easy:queue=sqf", &jobs, &[0, 17, 4, 4, 7]);
    // At 7 job 2 has waited 6 seconds. It comes first and has the reservation at 10, when job 4 ends. Job 5 would delay it.
    expect("easy:queue=sqf,starve=6s", &jobs, &[0, 10, 4, 4, 13]);
    // It waited 5 seconds at 6, when there was no pass.
    expect("easy:queue=sqf,starve=5s", &jobs, &[0, 10, 4, 4, 13]);
    expect("easy:queue=sqf,starve=7s", &jobs, &[0, 17, 4, 4, 7]);
    // At 4 it has waited 3 seconds: it starts there, jobs 3 and 4 at its end, and job 5 when job 3 ends.
    expect("easy:queue=sqf,starve=3s", &jobs, &[0, 4, 7, 7, 10]);
}

#[test]
fn wfp3_weighs_waits_and_widths() {
    // At 10, when job 1 ends: job 2 has (9/6)^3 4 = 13.5, job 3 (6/2)^3 4 = 108, job 4 (4/2)^3 2 = 16. Job 3 starts. At 12:
    // job 2 has (11/6)^3 4 = 24.6, job 4 (6/2)^3 2 = 54. Job 4 starts, and job 2 when it ends.
    let jobs = [exact(0, 4, 10), exact(1, 4, 6), exact(4, 4, 2), exact(6, 2, 2)];
    expect("fcfs:queue=wfp3", &jobs, &[0, 14, 10, 12]);
    expect("easy:queue=wfp3", &jobs, &[0, 14, 10, 12]);
    expect("fcfs", &jobs, &[0, 10, 16, 18]);
}

#[test]
fn the_scan_has_an_order_of_its_own() {
    // Job 2 has the reservation at 10. Two processors are free, and the others end by then. In order of arrival job 3 starts,
    // and job 5 beside it. The widest first is job 4, which takes both processors.
    let jobs = [exact(0, 2, 10), exact(1, 4, 1), exact(1, 1, 9), exact(1, 2, 5), exact(1, 1, 9)];
    expect("easy", &jobs, &[0, 10, 1, 11, 1]);
    expect("easy:scan=lqf", &jobs, &[0, 10, 11, 1, 11]);
    // The largest area: job 4 (10) before jobs 3 and 5 (9).
    expect("easy:scan=laf", &jobs, &[0, 10, 11, 1, 11]);
    // The shortest prediction: job 4.
    expect("easy:scan=spf", &jobs, &[0, 10, 11, 1, 11]);
    expect("sjbf:scan=lpf", &jobs, &[0, 10, 1, 11, 1]);
}
