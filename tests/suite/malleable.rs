//! Malleable jobs: schedules computed by hand, a plain event loop as the reference of the fast one, and the program itself.

use std::collections::VecDeque;

use shadowtime::malleable::{
    DaySequence, DecisionKind, MalleableFigures, MalleableJob, MalleableSchedule, MalleableWorkload, Strategy,
    StudyCase, StudyView, run_cases, saved, schedule_malleable,
};

use crate::support::{assert_golden, sim, sim_ok};

const DAY: f64 = 86_400.0;

/// Without variance in parallelism a job of A processors runs for L / n on n of them.
fn job(arrival: f64, lifetime: f64, parallelism: u32) -> MalleableJob {
    MalleableJob { arrival, lifetime, parallelism: f64::from(parallelism), sigma: 0.0 }
}

/// A machine of `procs` processors; only it and the sequence of the days matter for a schedule.
fn machine(procs: u32, sequence: DaySequence) -> MalleableWorkload {
    MalleableWorkload { procs, sequence, ..MalleableWorkload::default() }
}

fn run_in(
    sequence: DaySequence,
    jobs: &[MalleableJob],
    procs: u32,
    strategy: &str,
    view: StudyView,
) -> MalleableSchedule {
    schedule_malleable(jobs, &machine(procs, sequence), Strategy::parse(strategy).unwrap().rule, view, None)
}

/// Each day by itself.
fn run(jobs: &[MalleableJob], procs: u32, strategy: &str, view: StudyView) -> MalleableSchedule {
    run_in(DaySequence::Separate, jobs, procs, strategy, view)
}

/// Start and processors of every job when all act.
fn places(jobs: &[MalleableJob], procs: u32, strategy: &str) -> Vec<(f64, u32)> {
    let made = run(jobs, procs, strategy, StudyView::System);
    made.allocations.iter().map(|at| (at.scheduled.start, at.scheduled.procs)).collect()
}

/// Eight processors, 6 of them taken until 1,000 s and 1 until 5,000 s; then a job of 8,000 s that can use 8, and one of
/// 1 processor.
fn busy() -> Vec<MalleableJob> {
    vec![job(0.0, 6_000.0, 6), job(0.0, 5_000.0, 1), job(100.0, 8_000.0, 8), job(200.0, 50.0, 1)]
}

#[test]
fn avg_takes_what_is_free() {
    // One processor for 8,000 s; the last waits for the next to be free.
    assert_eq!(places(&busy(), 8, "avg"), [(0.0, 6), (0.0, 1), (100.0, 1), (1_000.0, 1)]);
    // Insisting on half of 8, the third waits for the first; it then takes the 7 that are free.
    assert_eq!(
        places(&busy(), 8, "avg:min-share=0.5"),
        [(0.0, 6), (0.0, 1), (1_000.0, 7), (1_000.0 + 8_000.0 / 7.0, 1)]
    );
}

#[test]
fn the_oracle_weighs_waiting_against_running() {
    // At once on 1: 8,000 s. From 1,000 s on 7: 900 + 1,143 s. From 5,000 s on 8: 4,900 + 1,000 s.
    assert_eq!(places(&busy(), 8, "opt"), [(0.0, 6), (0.0, 1), (1_000.0, 7), (1_000.0 + 8_000.0 / 7.0, 1)]);
    // A saving of 5,957 s is 74% of 8,000 s.
    assert_eq!(places(&busy(), 8, "opt:risk=0.74")[2], (1_000.0, 7));
    assert_eq!(places(&busy(), 8, "opt:risk=0.75")[2], (100.0, 1));
    // With six others that wait, 7 x 900 + 1,143 s is less than 8,000 s; with seven it is not.
    let crowded = |more: usize| {
        let mut jobs = busy();
        jobs[2].arrival = 0.0;
        jobs[3].arrival = 0.0;
        jobs.extend(vec![job(0.0, 50.0, 1); more]);
        places(&jobs, 8, "opt:cost=queue")[2]
    };
    // 1,000 (2 + more) + 1,143 < 8,000
    assert_eq!((crowded(4), crowded(5)), ((1_000.0, 7), (0.0, 1)));
}

#[test]
fn heuristic_patience_is_a_share_of_the_saving() {
    // t_save = 8,000 - 1,000: 20% of it is 1,400 s, by when 7 are free. A fiftieth is 140 s: 1 is free.
    assert_eq!(places(&busy(), 8, "heur")[2], (1_500.0, 7));
    assert_eq!(places(&busy(), 8, "heur:k=0.02")[2], (240.0, 1));
    assert_eq!(places(&busy(), 8, "heur:f=0.5")[2], (1_000.0, 7));
    // The saving is that of f A processors: of 4, 8,000 - 2,000 s, a tenth of which is 600 s. (Of A it would be 700 s.)
    assert_eq!(places(&busy(), 8, "heur:f=0.5,k=0.1")[2], (700.0, 1));
    // 0.45 x 8 = 3.6 processors are 4.
    assert_eq!(places(&busy(), 8, "heur:f=0.45,k=0.1")[2], (700.0, 1));
    // Of A = 8 not more than 8, of L = 8,000 s not longer.
    assert_eq!(places(&busy(), 8, "heur:athresh=8")[2], (100.0, 1));
    assert_eq!(places(&busy(), 8, "heur:lthresh=8000")[2], (100.0, 1));
}

#[test]
fn predictions_are_asked_for_again_at_arrivals_and_when_they_have_passed() {
    // Eight processors, one new job on 4 of them, true end at 40,000 s; the second can use 8 and offers itself 4.
    // One benefactor is not enough for A; B for n more processors: (ln t - 2) / 10 = n / 4. n = 1: e^4.5 = 90 s.
    let jobs = [job(0.0, 160_000.0, 4), job(0.0, 100_000.0, 8), job(50.0, 10.0, 1)];
    let made = run(&jobs, 8, "pred", StudyView::System);
    let [first, second] = [&made.pairs[0], &made.pairs[1]];
    // Q + R: 90 + 20,000 for 5; e^7 + 16,667 for 6; e^9.5 + 14,286 for 7; e^12 + 12,500 for 8.
    assert_eq!((first.time, first.procs), (0.0, 6));
    assert!((first.predicted / 7f64.exp() - 1.0).abs() < 1e-8 && (first.actual - 40_000.0).abs() < 1e-6);
    // Asked again at the arrival, with a job 50 s old: (12 - ln(50 + q)) / (12 - ln 50) = 1/2.
    assert_eq!(second.time, 50.0);
    let expected = (50.0 * 12f64.exp()).sqrt() - 50.0;
    let (five, six) = (100_000.0 / 5.0, 100_000.0 / 6.0 + expected);
    assert!((second.procs == 6) == (six < five), "{second:?}");
    // What is asked at last is answered with docility or with the processors waited for.
    let at = made.allocations[1];
    assert_eq!(at.kind, DecisionKind::Rebel);
    assert!(at.decisions as usize >= made.pairs.iter().filter(|pair| pair.job == 1).count());
    assert!(at.placement.start <= 40_000.0);
}

#[test]
fn lock_in_gives_what_was_declared() {
    // Two jobs on 4 of 12 processors each, 4 free; both end at the same instant, and the third waited for fewer.
    let jobs = [job(0.0, 2_400.0, 4), job(0.0, 2_400.0, 4), job(0.0, 100_000.0, 12)];
    let [free, locked] =
        ["pred", "pred:lock-in"].map(|strategy| run(&jobs, 12, strategy, StudyView::System).allocations[2]);
    assert_eq!(free.hold_out, locked.hold_out);
    let hold_out = free.hold_out.unwrap();
    assert!(hold_out.procs < 12, "{hold_out:?}");
    assert_eq!((free.placement.start, free.placement.procs), (600.0, 12));
    assert_eq!((locked.placement.start, locked.placement.procs), (600.0, hold_out.procs));
}

/// By hand, 4 processors. On the first day a job takes 3 of them for 100,000 s and another waits, by its own choice or not,
/// for all four. On the second day the machine is empty again, though neither has ended by then.
#[test]
fn each_day_starts_with_an_empty_machine() {
    let jobs = [
        job(10_000.0, 300_000.0, 3),
        job(20_000.0, 2_000_000.0, 4),
        job(DAY + 1_000.0, 4_000.0, 4),
        job(DAY + 1_500.0, 4_000.0, 4),
    ];
    // On 1 of them the second job would take 2,000,000 s: it waits until 110,000 s, after the second day has begun. It is
    // asked once: the arrivals of the next day are no arrivals of its own day.
    let made = run(&jobs, 4, "opt", StudyView::System);
    let starts: Vec<f64> = made.allocations.iter().map(|at| at.scheduled.start).collect();
    assert_eq!(starts, [10_000.0, 110_000.0, DAY + 1_000.0, DAY + 2_000.0]);
    assert_eq!(made.allocations[1].decisions, 1);
    assert_eq!(made.allocations[2].kind, DecisionKind::Spoiled);
    // All processors are in use at the arrival of the last job: it decides nothing until 1,000 s after the third's start.
    assert_eq!((made.allocations[3].kind, made.allocations[3].decided), (DecisionKind::Spoiled, DAY + 2_000.0));
    // Jobs have their numbers among all.
    assert!(made.pairs.iter().all(|pair| pair.job == 1), "{:?}", made.pairs);
    // Without the reset all wait: the second job runs for 500,000 s from 110,000 s on. It is asked at both arrivals.
    let one = run_in(DaySequence::Continuous, &jobs, 4, "opt", StudyView::System);
    let starts: Vec<f64> = one.allocations.iter().map(|at| at.scheduled.start).collect();
    assert_eq!(starts, [10_000.0, 110_000.0, 610_000.0, 611_000.0]);
    assert_eq!(one.allocations[1].decisions, 3);
    // The second day alone is the same.
    let alone = run(&jobs[2..], 4, "opt", StudyView::System);
    assert_eq!(alone.allocations[1].scheduled, made.allocations[3].scheduled);
}

/// By hand: A = 2.5 without variance has the speedups 1, 2 and 2.5.
#[test]
fn a_job_takes_the_next_whole_number_of_processors() {
    let wide = |arrival: f64| MalleableJob { arrival, lifetime: 10_000.0, parallelism: 2.5, sigma: 0.0 };
    // Of 4 processors it takes 3, for 4,000 s; the next job gets the last one and could use 3.
    assert_eq!(places(&[wide(0.0), wide(100.0)], 4, "avg"), [(0.0, 3), (100.0, 1)]);
    // 10,000 s at once, or 3,900 s of waiting and 4,000 s on 3.
    assert_eq!(places(&[wide(0.0), wide(100.0)], 4, "opt"), [(0.0, 3), (4_000.0, 3)]);
    // A machine of 2 has no third.
    assert_eq!(places(&[wide(0.0)], 2, "avg"), [(0.0, 2)]);
    // Half of A is 1.25 processors, so 2; 40% of A is 1, which is free.
    assert_eq!(places(&[wide(0.0), wide(100.0)], 4, "avg:min-share=0.5")[1], (4_000.0, 3));
    assert_eq!(places(&[wide(0.0), wide(100.0)], 4, "avg:min-share=0.4")[1], (100.0, 1));
    // t_save = 10,000 - 4,000 for all of A, on 3 processors; of that a fifth is waited for.
    assert_eq!(places(&[wide(0.0), wide(100.0)], 4, "heur")[1], (1_300.0, 1));
}

/// By hand: two jobs on 4 of 12 processors each, e^4 and e^6 s old, lifetimes up to e^12 s; 4 are free, and a job can use 8.
/// Both are benefactors: (12 - ln t)/8 x (12 - ln t)/6 = 1/2 where 12 - ln t = sqrt(24), t = e^7.101 = 1,213 s. That is
/// the queue time if ages are taken literally. It is the same for any number of processors, so all 8 are best.
#[test]
fn literal_ages_are_not_subtracted() {
    let (first, second) = (1_000.0, 1_000.0 + 6f64.exp() - 4f64.exp());
    let asked = 1_000.0 + 6f64.exp();
    let jobs = [job(first, 400_000.0, 4), job(second, 400_000.0, 4), job(asked, 80_000.0, 8)];
    let pair = |strategy: &str| run(&jobs, 12, strategy, StudyView::System).pairs[0];
    let literal = pair("pred:ages=literal");
    assert_eq!((literal.procs, literal.time), (8, asked));
    assert!((literal.predicted / (12.0 - 24f64.sqrt()).exp() - 1.0).abs() < 1e-8, "{literal:?}");
    // With ages subtracted q is such that the factors at e^4 + q and e^6 + q have this product.
    let q = pair("pred").predicted;
    let factor = |ln_age: f64| (12.0 - (ln_age.exp() + q).ln()) / (12.0 - ln_age);
    assert!((factor(4.0) * factor(6.0) - 0.5).abs() < 1e-8 && q < literal.predicted);
    // One job alone, by predictor B: before its age nothing is released. 1 of 4 processors: t = e^(6 + 6/4).
    let jobs = [job(0.0, 400_000.0, 4), job(6f64.exp(), 80_000.0, 9)];
    let made = run(&jobs, 12, "pred:ages=literal", StudyView::System);
    // 9 of 12 are 1 more than the 8 that are free: 10,000 s at once, or e^7.5 = 1,808 s and 8,889 s.
    assert!(made.pairs.is_empty(), "{:?}", made.pairs);
    let longer = [jobs[0], MalleableJob { lifetime: 800_000.0, ..jobs[1] }];
    let pair = run(&longer, 12, "pred:ages=literal", StudyView::System).pairs[0];
    assert!(pair.procs == 9 && (pair.predicted.ln() - 7.5).abs() < 1e-8, "{pair:?}");
}

/// A running job: start, end and processors.
type Runs = (f64, f64, u32);

/// The information of a predicting strategy when a job reaches the head of the queue.
#[derive(Clone, Copy)]
struct Known {
    /// The logarithms of the shortest and the longest lifetime.
    life: (f64, f64),
    /// Of this number of classes of run times, that of each running job.
    classes: u32,
    /// Whether equation 5 is solved for t as printed.
    literal: bool,
    /// Slope and intercept of the correction.
    line: Option<(f64, f64)>,
}

/// What is known from earlier days, and all rebellions of this one.
#[derive(Default)]
struct Past {
    /// Run times of all that have ended.
    ended: Vec<f64>,
    /// Predicted and actual times of rebellions.
    pairs: Vec<(f64, f64)>,
    /// When, and the predicted and the actual time.
    today: Vec<(f64, f64, f64)>,
}

/// The definition: every day is simulated for itself, on a machine of its own. On the next day all run times and queue times
/// of it are known.
fn plain(jobs: &[MalleableJob], procs: u32, rule_of: &dyn Fn(usize) -> &'static str) -> Vec<(f64, u32)> {
    let (mut placed, mut past) = (Vec::new(), Past::default());
    for day in 0..400 {
        let start = f64::from(day) * DAY;
        let today: Vec<_> = jobs.iter().filter(|job| (start..start + DAY).contains(&job.arrival)).copied().collect();
        let before = placed.len();
        placed.extend(plain_run(&today, procs, &|job| rule_of(before + job), &mut past, true));
        past.ended
            .extend(today.iter().zip(&placed[before..]).map(|(job, (_, procs)): (_, &(f64, u32))| job.runtime(*procs)));
        past.pairs.extend(past.today.drain(..).map(|(_, predicted, actual)| (predicted, actual)));
        if placed.len() == jobs.len() {
            return placed;
        }
    }
    panic!("these workloads are shorter")
}

/// One simulation event by event, with the rule of each job; nothing is quick here. Lifetimes are fitted to those of earlier
/// days if this is `one_day`, else to all that had ended by the last midnight.
fn plain_run(
    jobs: &[MalleableJob],
    procs: u32,
    rule_of: &dyn Fn(usize) -> &'static str,
    past: &mut Past,
    one_day: bool,
) -> Vec<(f64, u32)> {
    let mut placed = vec![(f64::NAN, 0); jobs.len()];
    let mut running: Vec<Runs> = Vec::new();
    let mut queue: VecDeque<usize> = VecDeque::new();
    // What the head holds out for, when it is asked again or loses its patience, and what it knew at first.
    let mut hold: Option<(u32, f64)> = None;
    let mut knows: Option<Known> = None;
    let mut ended: Vec<(f64, f64)> = Vec::new();
    let (mut arrived, mut free) = (0, procs);
    while arrived < jobs.len() || !queue.is_empty() {
        let next = |times: &mut dyn Iterator<Item = f64>| times.fold(f64::INFINITY, f64::min);
        let now = next(&mut running.iter().map(|job| job.1))
            .min(jobs.get(arrived).map_or(f64::INFINITY, |job| job.arrival))
            .min(hold.map_or(f64::INFINITY, |(_, until)| until));
        running.retain(|&(start, end, procs)| {
            if end <= now {
                free += procs;
                ended.push((end, end - start));
            }
            end > now
        });
        let mut prompted = false;
        while arrived < jobs.len() && jobs[arrived].arrival <= now {
            queue.push_back(arrived);
            arrived += 1;
            prompted = true;
        }
        while let Some(&head) = queue.front() {
            let (job, rule) = (&jobs[head], rule_of(head));
            let most = (1..procs).find(|most| f64::from(*most) >= job.parallelism).unwrap_or(procs);
            let asks = ["opt", "pred", "bias"].iter().any(|name| rule.starts_with(name));
            let start = match hold {
                Some((wanted, _)) if free >= wanted => true,
                Some((_, until)) if !asks && until <= now => true,
                Some((_, until)) if until > now && !(asks && prompted) => break,
                None if free == 0 => break,
                None if free >= most => true,
                _ => {
                    let hold_out = match rule {
                        "avg" => None,
                        "heur" => Some((most, now + 0.2 * (job.runtime(free) - job.runtime(most)))),
                        "heur:f=0.6,k=0.3" => {
                            let wanted = (0.6 * job.parallelism.min(f64::from(procs))).ceil() as u32;
                            let saving = job.runtime(free) - job.runtime(wanted);
                            (job.parallelism > 1.0 && free < wanted).then_some((wanted, now + 0.3 * saving))
                        }
                        _ => {
                            let model = (2.0, 12.0);
                            let knows = *knows.get_or_insert_with(|| Known {
                                life: match (rule, one_day) {
                                    ("pred:life=fitted", true) => fitted(&past.ended),
                                    ("pred:life=fitted", false) => fitted(&before_midnight(&ended, now)),
                                    _ => model,
                                },
                                literal: rule.ends_with("ages=literal"),
                                classes: if rule == "pred:classes=5" { 5 } else { 1 },
                                line: if rule == "bias:fit=online" { line(past, now) } else { None },
                            });
                            let chosen = choose(job, free, most, &running, now, (rule != "opt").then_some(&knows));
                            if let Some((procs, _, raw)) = chosen {
                                past.today.push((now, raw, known(f64::from(procs - free), &running, now)));
                            }
                            chosen.map(|(procs, wait, _)| (procs, now + wait))
                        }
                    };
                    hold = hold_out;
                    hold_out.is_none()
                }
            };
            if !start {
                break;
            }
            let given = free.min(most);
            placed[head] = (now, given);
            running.push((now, now + job.runtime(given), given));
            free -= given;
            queue.pop_front();
            (hold, knows, prompted) = (None, None, false);
        }
    }
    placed
}

fn before_midnight(ended: &[(f64, f64)], now: f64) -> Vec<f64> {
    ended.iter().filter(|(end, _)| *end <= (now / DAY).floor() * DAY).map(|(_, runtime)| *runtime).collect()
}

/// The bounds, as logarithms, of the line through the empirical distribution of these run times: least squares over (ln t,
/// rank / N). The model's own while there is no line.
fn fitted(runtimes: &[f64]) -> (f64, f64) {
    let mut logs: Vec<f64> = runtimes.iter().map(|time| time.ln()).collect();
    logs.sort_by(f64::total_cmp);
    if logs.first() == logs.last() {
        return (2.0, 12.0);
    }
    let ranks = (1..=logs.len()).map(|rank| rank as f64 / logs.len() as f64);
    let (slope, intercept) = least_squares(&logs.iter().copied().zip(ranks).collect::<Vec<_>>());
    (-intercept / slope, (1.0 - intercept) / slope)
}

/// The line of actual on predicted times, in logarithms, over all whose outcome is known: 10 are needed, and it must rise.
fn line(past: &Past, now: f64) -> Option<(f64, f64)> {
    let seen = past.today.iter().filter(|(time, _, actual)| time + actual <= now);
    let known = past.pairs.iter().copied().chain(seen.map(|(_, predicted, actual)| (*predicted, *actual)));
    let points: Vec<_> = known.map(|(predicted, actual)| (predicted.max(1.0).ln(), actual.max(1.0).ln())).collect();
    (points.len() >= 10).then(|| least_squares(&points)).filter(|(slope, _)| *slope > 0.0)
}

/// Slope and intercept.
fn least_squares(points: &[(f64, f64)]) -> (f64, f64) {
    let mean = |value: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(value).sum::<f64>() / points.len() as f64;
    let (x, y) = (mean(&|point| point.0), mean(&|point| point.1));
    let slope = mean(&|point| (point.0 - x) * (point.1 - y)) / mean(&|point| (point.0 - x) * (point.0 - x));
    (slope, y - slope * x)
}

/// Tries all numbers of processors: the best number, its wait, and the wait before the correction. By an oracle if nothing
/// else is known; None is docility.
fn choose(
    job: &MalleableJob,
    free: u32,
    most: u32,
    running: &[Runs],
    now: f64,
    knows: Option<&Known>,
) -> Option<(u32, f64, f64)> {
    let (mut best, mut shortest) = (None, job.runtime(free));
    for procs in free + 1..=most {
        let more = f64::from(procs - free);
        let raw = match knows {
            None => known(more, running, now),
            Some(knows) => predicted(more, running, now, knows),
        };
        let line = knows.and_then(|knows| knows.line);
        let wait = line.map_or(raw, |(slope, intercept)| (slope * raw.ln() + intercept).exp().max(1.0));
        if wait + job.runtime(procs) < shortest {
            shortest = wait + job.runtime(procs);
            best = Some((procs, wait, raw));
        }
    }
    best
}

fn known(more: f64, running: &[Runs], now: f64) -> f64 {
    let mut ends: Vec<_> = running.iter().map(|&(_, end, procs)| (end, procs)).collect();
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut released = 0.0;
    for (end, procs) in ends {
        released += f64::from(procs);
        if released >= more {
            return end - now;
        }
    }
    f64::INFINITY
}

/// Sections 3.1 to 3.3, by bisection over time. A job that has outlived its distribution, except for rounding, counts as
/// never ending.
fn predicted(more: f64, running: &[Runs], now: f64, knows: &Known) -> f64 {
    let class = |start: f64, end: f64| {
        let ((low, high), classes) = (knows.life, f64::from(knows.classes));
        let at = ((((end - start).ln() - low) / (high - low) * classes).floor()).clamp(0.0, classes - 1.0);
        (low + (high - low) * at / classes, low + (high - low) * (at + 1.0) / classes)
    };
    let reach = |(low, high): (f64, f64), t: f64| 1.0 - ((t.ln() - low) / (high - low)).clamp(0.0, 1.0);
    let lives: Vec<_> = running
        .iter()
        .map(|&(start, end, procs)| (class(start, end), now - start, procs))
        .filter(|(life, age, _)| life.1 - age.ln() > 1e-8)
        .collect();
    let runs_on = |(life, age, _): &((f64, f64), f64, u32), q: f64| {
        let t = if knows.literal { q.max(*age) } else { age + q };
        reach(*life, t) / reach(*life, *age)
    };
    let benefactors: Vec<_> = lives.iter().filter(|(_, _, procs)| f64::from(*procs) >= more).collect();
    let satisfied = |q: f64| match benefactors.len() {
        0 | 1 => lives.iter().map(|job| f64::from(job.2) * (1.0 - runs_on(job, q))).sum::<f64>() >= more,
        _ => benefactors.iter().map(|job| runs_on(job, q)).product::<f64>() <= 0.5,
    };
    let (mut low, mut high) = (1.0, knows.life.1.exp());
    if satisfied(low) {
        return low;
    }
    if !satisfied(high) {
        return f64::INFINITY;
    }
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        if satisfied(middle) { high = middle } else { low = middle }
    }
    high
}

fn small(seed: u64, rho: f64) -> Vec<MalleableJob> {
    MalleableWorkload { procs: 24, days: 6, rho, max_parallelism: 32, seed, ..MalleableWorkload::default() }
        .generate()
        .unwrap()
}

#[test]
fn job_by_job_and_event_by_event_are_the_same() {
    let mut rebels = 0;
    for seed in 0..4 {
        let jobs = small(seed, 1.0);
        for strategy in [
            "avg",
            "opt",
            "pred",
            "heur",
            "heur:f=0.6,k=0.3",
            "pred:life=fitted",
            "pred:classes=5",
            "pred:ages=literal",
            "bias:fit=online",
        ] {
            let rule_of = |_| strategy;
            let in_one = plain_run(&jobs, 24, &rule_of, &mut Past::default(), false);
            for (sequence, expected) in
                [(DaySequence::Separate, plain(&jobs, 24, &rule_of)), (DaySequence::Continuous, in_one)]
            {
                let made = run_in(sequence, &jobs, 24, strategy, StudyView::System);
                for (at, (allocation, (start, procs))) in made.allocations.iter().zip(expected).enumerate() {
                    let placement = allocation.scheduled;
                    assert!(
                        (placement.start - start).abs() < 1e-3 && placement.procs == procs,
                        "{strategy}, {sequence:?}, seed {seed}, job {at}: {placement:?} for {start} on {procs}"
                    );
                }
                rebels += made.allocations.iter().filter(|at| at.kind == DecisionKind::Rebel).count();
            }
        }
    }
    assert!(rebels > 130, "{rebels}");
}

/// The view of the application by its definition: in each run only one job acts.
#[test]
fn in_the_view_of_the_application_one_job_acts_alone() {
    let jobs = &small(3, 1.0)[..120];
    for strategy in ["opt", "pred", "heur", "pred:life=fitted", "pred:ages=literal"] {
        let made = run(jobs, 24, strategy, StudyView::Application);
        for (at, allocation) in made.allocations.iter().enumerate() {
            let alone = plain(jobs, 24, &|job| if job == at { strategy } else { "avg" });
            let placement = allocation.placement;
            assert!(
                (placement.start - alone[at].0).abs() < 1e-3 && placement.procs == alone[at].1,
                "{strategy}, job {at}"
            );
        }
    }
}

#[test]
fn nobody_loses_by_the_oracle() {
    for seed in 0..2 {
        let workload = MalleableWorkload { days: 10, rho: 1.0, seed, ..MalleableWorkload::default() };
        let jobs = workload.generate().unwrap();
        for view in [StudyView::Application, StudyView::System] {
            let made = run(&jobs, 128, "opt", view);
            let savings: Vec<f64> = jobs.iter().zip(&made.allocations).map(|(job, at)| saved(job, at)).collect();
            assert!(savings.iter().all(|saved| *saved >= 0.0), "{view:?}");
            let figures = MalleableFigures::of(&jobs, &workload, &made);
            assert!(figures.losers == 0 && figures.rebels > 100);
            // No other strategy gains more for jobs that choose alone.
            if view == StudyView::Application {
                for other in ["pred", "pred:classes=10", "pred:predictor=exact", "heur", "avg:min-share=0.4"] {
                    let other = MalleableFigures::of(&jobs, &workload, &run(&jobs, 128, other, view));
                    assert!(other.saved_mean < figures.saved_mean && other.turnaround_mean == figures.turnaround_mean);
                }
            }
        }
    }
}

#[test]
fn no_processor_is_used_twice_and_nobody_is_passed() {
    let jobs = small(9, 1.5);
    for strategy in
        ["avg:min-share=0.4", "opt:cost=queue", "pred:life=fitted", "bias:fit=online,lock-in=on", "heur:f=0.7"]
    {
        let made = run(&jobs, 24, strategy, StudyView::System);
        // Each day has the machine for itself.
        let both: Vec<_> = jobs.iter().zip(&made.allocations).collect();
        for day in both.chunk_by(|a, b| (a.0.arrival / DAY).floor() == (b.0.arrival / DAY).floor()) {
            assert!(day.iter().map(|(_, at)| at.scheduled.start).is_sorted(), "{strategy}");
            let mut events = Vec::new();
            for (job, at) in day {
                let (start, procs) = (at.scheduled.start, at.scheduled.procs);
                assert!(start >= job.arrival && procs >= 1 && f64::from(procs) < job.parallelism + 1.0);
                events.extend([(start, 1, i64::from(procs)), (start + job.runtime(procs), 0, -i64::from(procs))]);
            }
            events.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let mut used = 0;
            assert!(events.iter().all(|event| {
                used += event.2;
                (0..=24).contains(&used)
            }));
        }
    }
}

/// More information brings predictions nearer to the truth, and the exact median in the limit to the oracle.
#[test]
fn better_information_makes_better_predictions() {
    let workload = MalleableWorkload { days: 30, ..MalleableWorkload::default() };
    let jobs = workload.generate().unwrap();
    let correlation = |classes: u32| {
        let made = run(&jobs, 128, &format!("pred:classes={classes}"), StudyView::Application);
        made.scatter().correlation().unwrap()
    };
    let found = [1, 3, 10, 100].map(correlation);
    assert!(found.is_sorted() && found[3] > 0.9, "{found:?}");
    let saved = |strategy| {
        MalleableFigures::of(&jobs, &workload, &run(&jobs, 128, strategy, StudyView::Application)).saved_mean
    };
    assert!((saved("pred:predictor=exact,classes=100000") / saved("opt") - 1.0).abs() < 1e-3);
}

/// A correction by the line of the pilot run, which is made once and by itself.
#[test]
fn a_pilot_run_gives_the_line() {
    let workload = MalleableWorkload { days: 20, ..MalleableWorkload::default() };
    let jobs = workload.generate().unwrap();
    let case = |text, view| StudyCase { strategy: Strategy::parse(text).unwrap(), view };
    let cases = [
        case("bias", StudyView::System),
        case("bias:lock-in", StudyView::System),
        case("pred", StudyView::System),
        case("bias", StudyView::Application),
    ];
    let outcomes = run_cases(&jobs, &workload, &cases, true, 2, |_| ());
    for (at, view) in [(0, StudyView::System), (1, StudyView::System), (3, StudyView::Application)] {
        let pilot = run(&jobs, 128, "pred", view);
        assert_eq!(outcomes[at].line, pilot.scatter().line());
    }
    assert_eq!(outcomes[2].line, None);
    // Corrected predictions lie nearer to the identity than raw ones.
    let distance = |at: usize| (outcomes[at].figures.slope - 1.0).abs();
    assert!(distance(0) < distance(2));
    assert!(outcomes[0].schedule.as_ref().unwrap().pairs[0].predicted > 0.0);
}

/// A job on 4 of 8 processors that ends after `ends`, and one that comes `later` and could use all 8: predictions are made
/// of the first. It has one benefactor, so predictor B answers: n of 4 processors are free when n/4 of the first job's
/// lifetime distribution, from its age on, has passed.
fn probe(at: f64, later: f64, ends: f64) -> [MalleableJob; 2] {
    [job(at, 4.0 * ends, 4), job(at + later, 100_000.0, 8)]
}

/// By hand: the run times of the first day are e^4 and e^8 s. The line through (4, 1/2) and (8, 1) is ln t / 8: lifetimes
/// from 1 s to e^8 s. Before it, on the first day, the model's own are used, from e^2 to e^12 s.
///
/// Of a new job n of 4 processors are predicted after e^(2 + 10 n/4) s by the model, and after e^(2 n) s by the fit. With
/// 100,000 / (4 + n) s to run, n = 2 is best by the model, e^7 + 16,667 s, and n = 3 by the fit, e^6 + 14,286 s.
#[test]
fn fitted_lifetimes_are_those_of_the_last_midnight() {
    let day = 86_400.0;
    let early = [job(0.0, 2.0 * 4f64.exp(), 2), job(0.0, 2.0 * 8f64.exp(), 2)];
    let first_pair = |probes: &[[MalleableJob; 2]]| {
        let jobs = [&early[..], &probes.concat()].concat();
        let made = run(&jobs, 8, "pred:life=fitted", StudyView::System);
        let asked = probes[probes.len() - 1][1].arrival;
        let pair = made.pairs.iter().find(|pair| pair.time == asked).unwrap();
        (pair.procs, pair.predicted.ln())
    };
    let near = |(procs, ln): (u32, f64), expected: (u32, f64)| procs == expected.0 && (ln - expected.1).abs() < 1e-6;
    // On the first day nothing is fitted, though both have ended by then.
    assert!(near(first_pair(&[probe(30_000.0, 0.0, 900.0)]), (6, 7.0)));
    assert!(near(first_pair(&[probe(day + 30_000.0, 0.0, 300.0)]), (7, 6.0)));
    // What has ended since midnight, here after 300 and 12,500 s, does not count yet.
    let since = probe(day + 10_000.0, 0.0, 300.0);
    assert!(near(first_pair(&[since, probe(day + 40_000.0, 0.0, 300.0)]), (7, 6.0)));
    // On the third day it does: 1/4, 1/2, 3/4 and 1 over 4, ln 300, 8 and ln 12,500. Around their means, 0.625 and 6.7843,
    // the sum of squares is 17.4159, that of products 2.3246: slope 0.13348, intercept -0.28054, from e^2.1018 to e^9.5938
    // s. n = 3 of 4 take e^(2.1018 + 0.75 x 7.4920) = e^7.7208 = 2,255 s, better than n = 2 with e^5.8478 = 347 s.
    let found = first_pair(&[since, probe(2.0 * day + 40_000.0, 0.0, 300.0)]);
    assert!(found.0 == 7 && (found.1 - 7.7208).abs() < 2e-4, "{found:?}");
}

/// By hand: eleven times the same situation, with different ages of the job that is waited for. It ends after half of the
/// predicted time, so that all pairs lie on a line of slope 1 and intercept -ln 2, and a corrected prediction is half of an
/// uncorrected one. Of the eleven the first ten are not corrected: nine pairs make no line.
#[test]
fn online_corrections_begin_with_ten_pairs() {
    // Of an age a, in seconds, n of 4 processors are free after a^(1 - n/4) t_max^(n/4) - a.
    let wait = |age: f64, n: f64| age.powf(1.0 - n / 4.0) * 12f64.exp().powf(n / 4.0) - age;
    let best = |age: f64, share: f64| {
        let times = [1.0, 2.0, 3.0, 4.0].map(|n| (share * wait(age, n) + 100_000.0 / (4.0 + n), n));
        times.into_iter().min_by(|a, b| a.0.total_cmp(&b.0)).unwrap().1
    };
    let ages: Vec<f64> = (0..11).map(|at| 20.0 + 10.0 * f64::from(at)).collect();
    let probes: Vec<_> = ages
        .iter()
        .zip(0..)
        .map(|(&age, at)| probe(100_000.0 * f64::from(at), age, age + wait(age, best(age, 1.0)) / 2.0))
        .collect();
    let made = run(&probes.concat(), 8, "bias:fit=online", StudyView::System);
    assert_eq!(made.pairs.len(), 11, "each is asked once");
    for (at, (pair, &age)) in made.pairs.iter().zip(&ages).enumerate() {
        let share = if at < 10 { 1.0 } else { 0.5 };
        let expected = (4.0 + best(age, share), share * wait(age, best(age, share)));
        assert!(
            (f64::from(pair.procs), pair.predicted.round()) == (expected.0, expected.1.round()),
            "{at}: {pair:?} for {expected:?}"
        );
    }
}

/// The figures of all strategies and most of their keys, in both views.
#[test]
fn golden_figures_of_every_strategy() {
    let strategies = "avg,avg:min-share=0.4,opt,opt:risk=0.2,opt:cost=queue,pred,pred:predictor=a,pred:predictor=b,\
                      pred:predictor=exact,pred:life=fitted,pred:ages=literal,pred:classes=3,pred:benefactors=4,pred:lock-in,bias,\
                      bias:fit=online,bias:lock-in,risk=0.2,heur,heur:f=0.5,k=0.5,heur:lthresh=600,athresh=8";
    let args = ["malleable", "--days", "5", "--procs", "64", "--offered-load", "0.9", "--seed", "4", "--format", "csv"];
    assert_golden("malleable.csv", &sim_ok(&[&args[..], &["--details", "--strategy", strategies]].concat()));
}

#[test]
fn the_program_prints_a_row_a_strategy() {
    let args = ["malleable", "--days", "10", "--seed", "3", "--format", "csv"];
    let out = sim_ok(&[&args[..], &["--view", "application"]].concat());
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[0], "strategy,jobs,rebels,saved_mean_s,losers_pct,turnaround_mean_s,utilization");
    let names: Vec<&str> = lines[1..].iter().map(|line| line.split(',').next().unwrap()).collect();
    assert_eq!(names, ["avg", "opt", "pred", "bias", "heur"]);
    // No job acts, so that all strategies have AVG's turnaround and utilization.
    let ends: Vec<_> = lines[1..].iter().map(|line| line.rsplitn(3, ',').take(2).collect::<Vec<_>>()).collect();
    assert!(ends.iter().all(|end| *end == ends[0]));
    // The same bytes for any number of threads, and again.
    let both = sim_ok(&[&args[..], &["--details", "--threads", "1"]].concat());
    assert_eq!(both, sim_ok(&[&args[..], &["--details", "--threads", "3"]].concat()));
    assert_eq!(both.lines().count(), 11);
    assert!(both.lines().next().unwrap().ends_with("correlation,slope,intercept,view"));
    assert_ne!(both, sim_ok(&["malleable", "--days", "10", "--seed", "4", "--format", "csv", "--details"]));
}

/// The other readings are the figures of the library, and the heading names them.
#[test]
fn other_readings_can_be_chosen() {
    let args = ["malleable", "--days", "4", "--strategy", "opt", "--view", "system"];
    for (reading, sequence, whole_parallelism) in [
        (&[][..], DaySequence::Separate, false),
        (&["--reading", "days=one"], DaySequence::Continuous, false),
        (&["--reading", "a=up"], DaySequence::Separate, true),
        (&["--reading", "days=one,a=up"], DaySequence::Continuous, true),
    ] {
        let workload = MalleableWorkload { days: 4, sequence, whole_parallelism, ..MalleableWorkload::default() };
        let jobs = workload.generate().unwrap();
        let made = schedule_malleable(&jobs, &workload, Strategy::parse("opt").unwrap().rule, StudyView::System, None);
        let figures = MalleableFigures::of(&jobs, &workload, &made);
        let out = sim_ok(&[&args[..], reading, &["--format", "csv"]].concat());
        let cells: Vec<&str> = out.lines().nth(1).unwrap().split(',').collect();
        assert_eq!((cells[1], cells[2]), (&*figures.jobs.to_string(), &*figures.rebels.to_string()));
        assert!((cells[5].parse::<f64>().unwrap() - figures.turnaround_mean).abs() < 0.01, "{out}");
        assert!((cells[6].parse::<f64>().unwrap() - figures.utilization).abs() < 1e-3, "{out}");
        let heading = sim_ok(&[&args[..], reading, &["--format", "table"]].concat());
        let named = reading.last().map_or(String::new(), |names| format!(", {}", names.replace(',', ", ")));
        assert!(heading.starts_with(&format!("128 processors, 4 days at a load of 0.75{named}: ")), "{heading}");
    }
}

#[test]
fn many_seeds_give_means_with_intervals() {
    let args = ["malleable", "--days", "5", "--strategy", "avg,opt", "--view", "system", "--format", "csv"];
    let value = |out: &str, row: usize, name: &str| -> f64 {
        let at = out.lines().next().unwrap().split(',').position(|column| column == name).unwrap();
        out.lines().nth(row).unwrap().split(',').nth(at).unwrap().parse().unwrap()
    };
    let all = sim_ok(&[&args[..], &["--replications", "3", "--threads", "2"]].concat());
    assert_eq!(all, sim_ok(&[&args[..], &["--replications", "3", "--threads", "1"]].concat()));
    let each =
        ["1", "2", "3"].map(|seed| value(&sim_ok(&[&args[..], &["--seed", seed]].concat()), 2, "turnaround_mean_s"));
    let mean = each.iter().sum::<f64>() / 3.0;
    assert!((value(&all, 2, "turnaround_mean_s") - mean).abs() < 0.01);
    // Student's t of two degrees of freedom: 4.3027.
    let deviation = (each.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 2.0).sqrt();
    assert!((value(&all, 2, "turnaround_mean_s_ci95") - 4.302_653 * deviation / 3f64.sqrt()).abs() < 0.01);
}

#[test]
fn jobs_and_predictions_can_be_had_one_by_one() {
    let folder = tempfile::tempdir().unwrap();
    let (jobs, pairs) = (folder.path().join("jobs.csv"), folder.path().join("pairs.csv"));
    let out = sim_ok(&[
        "malleable",
        "--days",
        "4",
        "--strategy",
        "opt,bias:lock-in,risk=0.2",
        "--view",
        "application",
        "--format",
        "csv",
        "--jobs-out",
        jobs.to_str().unwrap(),
        "--scatter-out",
        pairs.to_str().unwrap(),
    ]);
    let mut reader = csv::Reader::from_path(&jobs).unwrap();
    let names = reader.headers().unwrap().clone();
    let at = |name: &str| names.iter().position(|other| other == name).unwrap();
    let rows: Vec<_> = reader.records().map(Result::unwrap).filter(|row| &row[0] == "opt").collect();
    let summary: Vec<&str> = out.lines().nth(1).unwrap().split(',').collect();
    assert_eq!(rows.len().to_string(), summary[1]);
    assert_eq!(rows.iter().filter(|row| &row[at("kind")] == "rebel").count().to_string(), summary[2]);
    let saved: f64 = rows.iter().map(|row| row[at("saved")].parse::<f64>().unwrap()).sum();
    assert!((saved / rows.len() as f64 - summary[3].parse::<f64>().unwrap()).abs() < 0.01);
    let text = std::fs::read_to_string(&pairs).unwrap();
    assert!(text.starts_with("strategy,view,job,time,procs,predicted,actual\nopt,application,"));
    assert!(text.contains("\"bias:lock-in=on,risk=0.2\",application,"));
    let ran = sim(&["malleable", "--days", "2", "--jobs-out", "-", "--strategy", "avg", "--format", "csv"]);
    assert!(ran.out.starts_with("strategy,view,job,") && ran.err.contains("strategy,jobs,rebels"), "{}", ran.err);
}

#[test]
fn what_makes_no_sense_is_refused() {
    for (args, message) in [
        (&["--procs", "0"][..], "--procs"),
        (&["--offered-load", "NaN"], "a load is a number from 0.01 to 100"),
        (&["--max-sigma=-1"], "a variance in parallelism is a number"),
        (&["--days", "0"], "--days"),
        (&["--days", "1000000", "--procs", "1000000"], "take fewer days or a smaller machine"),
        (&["--strategy", "best"], "the strategies are avg, opt, pred, bias, heur"),
        (&["--strategy", ""], "unknown strategy ''"),
        (&["--replications", "1"], "--replications"),
        (&["--strategy", "avg:min-share=0.2,0.4"], "unknown strategy '0.4'"),
        (&["--strategy", "avg:min-share=0.5..2:0.5"], "min-share: '1.5' is not a number from 0 to 1"),
        (&["--reading", "days=two"], "days=one, a=up"),
        (&["--replications", "3", "--jobs-out", "x.csv"], "cannot be used with"),
        (&["--replications", "3", "--seed", "18446744073709551615"], "the last seed would be too large"),
        (&["--procs", "1", "--days", "1", "--offered-load", "0.01"], "no job arrives"),
        (&["--jobs-out", "-", "--scatter-out", "-"], "go to the same place"),
    ] {
        let ran = sim(&[&["malleable"], args].concat());
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}: {}", ran.err);
        assert!(ran.err.contains(message), "{args:?}: {}", ran.err);
    }
}
