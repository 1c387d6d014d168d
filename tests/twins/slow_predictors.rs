//! Slow references for the predictors that use categories of similar jobs (`smith`, `gibbons`, `downey`), compared with the
//! library on thousands of random workloads. `slow_kin` and `slow_learned` use the comparison too.
//!
//! A reference keeps every terminated job in one list and computes each prediction from that list. It shares nothing
//! with the library's statistics: sums are whole numbers, intervals are compared as fractions, and Student's t comes
//! from its finite series. The library has to write the same predictions to the second, at every event. Only where the
//! exact answer lies at an edge, such as 6.5 seconds, may a float fall to either side of it.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use proptest::test_runner::TestCaseResult;
use shadowtime::engine::{self, EngineOptions, Named, Outcome};
use shadowtime::job::{JobId, Submission};
use shadowtime::predict::{self, Board, Predictor, Stage, deadline};
use shadowtime::schedule;
use shadowtime::time::{Seconds, Time};
use shadowtime::trace::Workload;

use crate::random::{check, workloads};
use crate::support;

// ---- What the references share ----

thread_local! {
    /// How often each hard case came up in this test.
    static SEEN: RefCell<BTreeMap<&'static str, u32>> = const { RefCell::new(BTreeMap::new()) };
}

pub fn note(what: &'static str) {
    SEEN.with_borrow_mut(|seen| *seen.entry(what).or_default() += 1);
}

/// Each of these hard cases must have occurred often in this test, and exceptions seldom; otherwise agreement means little.
pub fn assert_seen(hard: &[&'static str]) {
    SEEN.with_borrow(|seen| {
        let count = |what: &str| seen.get(what).copied().unwrap_or(0);
        for what in hard {
            assert!(count(what) >= 60, "only {} times: {what}", count(what));
        }
        assert!(count(EXCUSED) * 10 < count(RUN), "{} of {} runs are excused", count(EXCUSED), count(RUN));
    });
}

const RUN: &str = "a run is compared";
const EXCUSED: &str = "the library gives the other good answer";

/// A job that has ended.
#[derive(Clone, Copy)]
struct Ended {
    job: Submission,
    runtime: Seconds,
}

/// Ratios are whole numbers of this part.
const PARTS: i128 = 1 << 30;

impl Ended {
    fn procs(&self) -> i128 {
        self.job.procs.into()
    }

    /// The runtime in seconds, or its ratio to the estimate in parts: to the nearest, halves up, at most 2^16.
    fn value(&self, relative: bool) -> i128 {
        let (runtime, estimate) = (i128::from(self.runtime), i128::from(self.job.estimate));
        match relative {
            false => runtime,
            true => ((2 * runtime * PARTS + estimate) / (2 * estimate)).min(PARTS << 16),
        }
    }
}

/// What a value has to be multiplied by to become seconds: (over, under).
fn unit(job: &Submission, relative: bool) -> (i128, i128) {
    if relative { (job.estimate.into(), PARTS) } else { (1, 1) }
}

/// A prediction in whole seconds, and the other value that rounding of a float may give.
pub struct Said {
    pub seconds: Seconds,
    pub others: Vec<Seconds>,
}

/// A fraction in whole seconds: to the nearest, halves up, at least 1. `plain` is a quotient of two small whole
/// numbers, which a float rounds correctly.
fn nearest(over: i128, under: i128, plain: bool) -> Said {
    assert!(under > 0);
    let seconds = (2 * over + under).div_euclid(2 * under).max(1).try_into().unwrap_or(Seconds::MAX);
    Said { seconds, others: if plain { Vec::new() } else { around_a_half(over as f64 / under as f64) } }
}

/// The same of a float.
pub fn nearest_to(value: f64) -> Said {
    Said { seconds: ((value + 0.5).floor() as Seconds).max(1), others: around_a_half(value) }
}

/// The two seconds around a value that is halfway between them, up to the last digits of a float.
fn around_a_half(value: f64) -> Vec<Seconds> {
    let upper = (value + 0.5).round();
    if (value + 0.5 - upper).abs() > 1e-11 * value.abs().max(1.0) {
        return Vec::new();
    }
    note("a value lies halfway between two seconds");
    vec![(upper as Seconds - 1).max(1), (upper as Seconds).max(1)]
}

/// A reference: a predictor that also says when another prediction is correct too.
pub trait Reference: Predictor {
    /// Takes the other correct predictions of the last event.
    fn take_others(&mut self) -> Vec<Seconds>;
}

/// Sums over points (x: processors, y: value), in whole numbers.
#[derive(Default)]
struct Sums {
    n: i128,
    x: i128,
    y: i128,
    xx: i128,
    xy: i128,
    yy: i128,
}

impl Sums {
    fn of(points: &[Ended], relative: bool) -> Sums {
        points.iter().fold(Sums::default(), |sums, point| {
            let (x, y) = (point.procs(), point.value(relative));
            Sums {
                n: sums.n + 1,
                x: sums.x + x,
                y: sums.y + y,
                xx: sums.xx + x * x,
                xy: sums.xy + x * y,
                yy: sums.yy + y * y,
            }
        })
    }

    /// n^2 times the mean of (y - mean y)^2, and likewise for x and for both.
    fn spread_y(&self) -> i128 {
        self.n * self.yy - self.y * self.y
    }

    fn spread_x(&self) -> i128 {
        self.n * self.xx - self.x * self.x
    }

    fn spread_xy(&self) -> i128 {
        self.n * self.xy - self.x * self.y
    }
}

// ---- smith ----

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Name {
    User,
    Group,
    Executable,
    Queue,
    Partition,
}

const NAMES: [Name; 5] = [Name::User, Name::Group, Name::Executable, Name::Queue, Name::Partition];

impl Name {
    fn letter(self) -> char {
        match self {
            Name::User => 'u',
            Name::Group => 'g',
            Name::Executable => 'e',
            Name::Queue => 'q',
            Name::Partition => 'p',
        }
    }

    fn of(self, job: &Submission) -> i32 {
        match self {
            Name::User => job.user,
            Name::Group => job.group,
            Name::Executable => job.executable,
            Name::Queue => job.queue,
            Name::Partition => job.partition,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Template {
    names: Vec<Name>,
    nodes: Option<u32>,
    line: bool,
    relative: bool,
    history: Option<usize>,
}

/// As it is written in a spec, defaults left out.
impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words: Vec<String> = self.names.iter().map(|name| name.letter().to_string()).collect();
        words.extend(self.nodes.map(|size| format!("n={size}")));
        words.extend(self.line.then(|| "lr".to_string()));
        words.extend(self.relative.then(|| "rel".to_string()));
        words.extend(self.history.map(|points| format!("h={points}")));
        write!(f, "({})", words.join(","))
    }
}

/// The factor of a confidence interval that comes from a distribution.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quantile {
    Chebyshev,
    /// Student's t with this number of degrees of freedom.
    Student(u32),
}

impl Quantile {
    fn squared(self, percent: u32) -> f64 {
        match self {
            // 1 - 1/k^2 = percent / 100
            Quantile::Chebyshev => 100.0 / f64::from(100 - percent),
            Quantile::Student(freedom) => student(percent, freedom).powi(2),
        }
    }
}

/// A confidence interval, squared: a quantile times the product of `over` by the product of `under`.
struct Interval {
    quantile: Quantile,
    over: Vec<i128>,
    under: Vec<i128>,
}

impl Interval {
    /// Intervals with the same quantile are compared exactly: a tie must be seen as one. With different quantiles only
    /// intervals of 0 can tie.
    fn cmp(&self, other: &Interval, percent: u32) -> Ordering {
        if self.quantile == other.quantile {
            let ours = product(&[&self.over[..], &other.under].concat());
            let theirs = product(&[&other.over[..], &self.under].concat());
            return ours.len().cmp(&theirs.len()).then_with(|| ours.iter().rev().cmp(theirs.iter().rev()));
        }
        self.squared(percent).total_cmp(&other.squared(percent))
    }

    /// Whether they are equal up to the last digits of a float. Intervals of 0 must be exactly equal.
    fn nearly_equals(&self, other: &Interval, percent: u32) -> bool {
        let (ours, theirs) = (self.squared(percent), other.squared(percent));
        ours > 0.0 && (ours - theirs).abs() <= 1e-11 * ours
    }

    fn squared(&self, percent: u32) -> f64 {
        let product = |factors: &[i128]| factors.iter().map(|&factor| factor as f64).product::<f64>();
        self.quantile.squared(percent) * product(&self.over) / product(&self.under)
    }
}

/// A product of numbers that are not negative, as digits to the base 2^32, the lowest first; 0 has none.
fn product(factors: &[i128]) -> Vec<u32> {
    let mut product = vec![1u32];
    for &factor in factors {
        assert!(factor >= 0);
        let digits = [0, 32, 64, 96].map(|shift| (factor >> shift) as u32);
        let mut next = vec![0u32; product.len() + digits.len()];
        for (i, &a) in product.iter().enumerate() {
            let mut carry = 0;
            for (j, &b) in digits.iter().enumerate() {
                let sum = u64::from(next[i + j]) + u64::from(a) * u64::from(b) + carry;
                (next[i + j], carry) = (sum as u32, sum >> 32);
            }
            next[i + digits.len()] = carry as u32;
        }
        while next.last() == Some(&0) {
            next.pop();
        }
        product = next;
    }
    product
}

/// The two-sided quantile of Student's t for this confidence in percent.
fn student(percent: u32, freedom: u32) -> f64 {
    thread_local! {
        // Found by halving, which is slow.
        static FOUND: RefCell<BTreeMap<(u32, u32), f64>> = const { RefCell::new(BTreeMap::new()) };
    }
    if let Some(found) = FOUND.with_borrow(|found| found.get(&(percent, freedom)).copied()) {
        return found;
    }
    let (mut low, mut high) = (0.0, std::f64::consts::FRAC_PI_2);
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        match student_within(middle, freedom) < f64::from(percent) / 100.0 {
            true => low = middle,
            false => high = middle,
        }
    }
    let t = f64::from(freedom).sqrt() * low.tan();
    FOUND.with_borrow_mut(|found| found.insert((percent, freedom), t));
    t
}

/// The probability of |T| < t, where t = sqrt(freedom) * tan(angle): a finite series for whole degrees of freedom
/// (Abramowitz and Stegun, 26.7.3 and 26.7.4).
fn student_within(angle: f64, freedom: u32) -> f64 {
    let (sine, cosine) = angle.sin_cos();
    let odd = freedom % 2 == 1;
    // cos + 2/3 cos^3 + 2*4/(3*5) cos^5 + ... up to cos^(freedom - 2), or 1 + 1/2 cos^2 + 1*3/(2*4) cos^4 + ...
    let (mut sum, mut term, mut power) = (0.0, if odd { cosine } else { 1.0 }, if odd { 1 } else { 0 });
    while power + 2 <= freedom {
        sum += term;
        power += 2;
        term *= cosine * cosine * f64::from(power - 1) / f64::from(power);
    }
    match odd {
        true => (angle + sine * sum) / std::f64::consts::FRAC_PI_2,
        false => sine * sum,
    }
}

/// The prediction of a category for a job: a value in seconds, as a fraction, and its interval.
struct Answer {
    over: i128,
    under: i128,
    /// Neither a line nor of ratios.
    plain: bool,
    interval: Interval,
}

impl Template {
    fn same_category(&self, a: &Submission, b: &Submission) -> bool {
        let range = |job: &Submission| self.nodes.map(|size| (job.procs - 1) / size);
        self.names.iter().all(|name| name.of(a) == name.of(b)) && range(a) == range(b)
    }

    fn answer(&self, job: &Submission, ended: &[Ended]) -> Option<Answer> {
        let mut points: Vec<Ended> =
            ended.iter().copied().filter(|point| self.same_category(&point.job, job)).collect();
        if let Some(history) = self.history {
            if points.len() > history {
                note("a history is cut");
            }
            points.drain(..points.len().saturating_sub(history));
        }
        let sums = Sums::of(&points, self.relative);
        let answer = if self.line { self.on_line(job, &sums) } else { self.mean(job, &sums) };
        if answer.is_some() {
            note(match (self.line, self.relative) {
                (false, false) => "a mean answers",
                (false, true) => "a mean of ratios answers",
                (true, false) => "a line answers",
                (true, true) => "a line of ratios answers",
            });
        }
        answer
    }

    fn mean(&self, job: &Submission, sums: &Sums) -> Option<Answer> {
        if sums.n < 2 {
            return None;
        }
        let (times, by) = unit(job, self.relative);
        let interval = Interval {
            quantile: Quantile::Chebyshev,
            over: vec![sums.spread_y(), times, times],
            under: vec![sums.n, sums.n - 1, by, by],
        };
        Some(Answer { over: sums.y * times, under: sums.n * by, plain: !self.relative, interval })
    }

    fn on_line(&self, job: &Submission, sums: &Sums) -> Option<Answer> {
        let (n, spread) = (sums.n, sums.spread_x());
        // No spread: all points have the same number of processors.
        if n < 3 || spread == 0 {
            return None;
        }
        let (times, by) = unit(job, self.relative);
        // n times how far the job's processors are from the mean.
        let away = n * i128::from(job.procs) - sums.x;
        // The sum of squared errors times (n * spread).
        let errors = sums.spread_y() * spread - sums.spread_xy() * sums.spread_xy();
        let interval = Interval {
            quantile: Quantile::Student(u32::try_from(n - 2).unwrap()),
            // errors / (n * spread) / (n - 2), times 1 + 1/n + (away / n)^2 / (spread / n)
            over: vec![errors, spread * (n + 1) + away * away, times, times],
            under: vec![n, spread, n - 2, n, spread, by, by],
        };
        Some(Answer {
            over: (sums.y * spread + sums.spread_xy() * away) * times,
            under: n * spread * by,
            plain: false,
            interval,
        })
    }
}

struct SlowSmith {
    templates: Vec<Template>,
    percent: u32,
    at_start: bool,
    ended: Vec<Ended>,
    others: Vec<Seconds>,
}

impl SlowSmith {
    fn predict(&mut self, id: JobId, board: &mut Board) {
        let job = board.job(id);
        let answers = self.templates.iter().filter_map(|template| template.answer(job, &self.ended));
        let answers: Vec<Answer> = answers.collect();
        // The earliest of several that are smallest.
        let Some(best) = answers.iter().min_by(|a, b| a.interval.cmp(&b.interval, self.percent)) else {
            note("the estimate stands in");
            return board.predict(id, job.estimate);
        };
        if answers[0].interval.cmp(&best.interval, self.percent).is_gt() {
            note("a later template wins");
        }
        let mut said = nearest(best.over, best.under, best.plain);
        for rival in &answers {
            let other = nearest(rival.over, rival.under, rival.plain);
            if other.seconds != said.seconds && rival.interval.cmp(&best.interval, self.percent).is_eq() {
                note("different answers tie");
            }
            // Of means of seconds a float sees every tie.
            if !(best.plain && rival.plain) && best.interval.nearly_equals(&rival.interval, self.percent) {
                said.others.push(other.seconds);
                said.others.extend(other.others);
            }
        }
        self.others = said.others;
        board.predict(id, said.seconds);
    }
}

impl Predictor for SlowSmith {
    fn on_arrival(&mut self, id: JobId, board: &mut Board) {
        self.predict(id, board);
    }

    fn on_start(&mut self, id: JobId, board: &mut Board) {
        if self.at_start {
            let before = board.prediction(id);
            self.predict(id, board);
            if board.prediction(id) != before {
                note("the start changes a prediction");
            }
        }
    }

    fn on_termination(&mut self, id: JobId, runtime: Seconds, board: &mut Board) {
        self.ended.push(Ended { job: *board.job(id), runtime });
    }
}

impl Reference for SlowSmith {
    fn take_others(&mut self) -> Vec<Seconds> {
        std::mem::take(&mut self.others)
    }
}

// ---- gibbons ----

struct SlowGibbons {
    relative: bool,
    ended: Vec<Ended>,
    others: Vec<Seconds>,
}

/// Ranges 1, 2-3, 4-7, 8-15, ...
fn doubling_range(procs: u32) -> u32 {
    (0..).find(|&range| procs < 2 << range).unwrap()
}

type Similar = fn(&Submission, &Submission) -> bool;

impl SlowGibbons {
    fn answer(&self, job: &Submission) -> Said {
        let similar: [(Similar, _, _); 3] = [
            (|a, b| (a.user, a.executable) == (b.user, b.executable), "(u,e,n) answers", "(u,e) answers"),
            (|a, b| a.executable == b.executable, "(e,n) answers", "(e) answers"),
            (|_, _| true, "(n) answers", "() answers"),
        ];
        for (similar, mean, line) in similar {
            let points: Vec<Ended> = self.ended.iter().copied().filter(|point| similar(&point.job, job)).collect();
            if let Some(said) = self.mean(job, &points) {
                note(mean);
                return said;
            }
            if let Some(said) = self.on_line(job, &points) {
                note(line);
                return said;
            }
        }
        note("the estimate stands in");
        Said { seconds: job.estimate, others: Vec::new() }
    }

    /// The mean over the job's own range.
    fn mean(&self, job: &Submission, points: &[Ended]) -> Option<Said> {
        let sums = Sums::of(&in_range(points, doubling_range(job.procs)), self.relative);
        let (times, by) = unit(job, self.relative);
        (sums.n >= 2).then(|| nearest(sums.y * times, sums.n * by, !self.relative))
    }

    /// The weighted line through the ranges. A least-squares line is, at every x, the mean of the lines through all
    /// pairs of points, each pair weighing the product of its weights times the square of its distance in x.
    fn on_line(&self, job: &Submission, points: &[Ended]) -> Option<Said> {
        let mut ranges = Vec::new();
        for range in 0..32 {
            let sums = Sums::of(&in_range(points, range), self.relative);
            if sums.n == 0 {
                continue;
            }
            let (times, by) = unit(job, self.relative);
            let scale = times as f64 / by as f64;
            let variance = match sums.n {
                1 => 1.0,
                n => (sums.spread_y() as f64 / (n * (n - 1)) as f64 * scale * scale).max(1.0),
            };
            let n = sums.n as f64;
            ranges.push((sums.x as f64 / n, sums.y as f64 / n * scale, 1.0 / variance));
        }
        if ranges.len() > 2 {
            note("a line through more than two ranges");
        }
        let at = f64::from(job.procs);
        let (mut over, mut under) = (0.0, 0.0);
        for (i, &(left, low, a)) in ranges.iter().enumerate() {
            for &(right, high, b) in &ranges[i + 1..] {
                let apart = right - left;
                over += a * b * apart * (low * (right - at) + high * (at - left));
                under += a * b * apart * apart;
            }
        }
        (ranges.len() >= 2).then(|| nearest_to(over / under))
    }
}

fn in_range(points: &[Ended], range: u32) -> Vec<Ended> {
    points.iter().copied().filter(|point| doubling_range(point.job.procs) == range).collect()
}

impl Predictor for SlowGibbons {
    fn on_arrival(&mut self, id: JobId, board: &mut Board) {
        let said = self.answer(board.job(id));
        self.others = said.others;
        board.predict(id, said.seconds);
    }

    fn on_termination(&mut self, id: JobId, runtime: Seconds, board: &mut Board) {
        self.ended.push(Ended { job: *board.job(id), runtime });
    }
}

impl Reference for SlowGibbons {
    fn take_others(&mut self) -> Vec<Seconds> {
        std::mem::take(&mut self.others)
    }
}

// ---- downey ----

#[derive(Clone, Copy, Debug)]
enum By {
    One(Name),
    None,
}

struct SlowDowney {
    by: By,
    mean: bool,
    ended: Vec<Ended>,
    others: Vec<Seconds>,
}

impl SlowDowney {
    /// When the last job of the category's distribution has ended; nothing with fewer than two different runtimes.
    fn longest(&self, job: &Submission) -> Option<f64> {
        let similar = |point: &&Ended| match self.by {
            By::One(name) => name.of(&point.job) == name.of(job),
            By::None => true,
        };
        let mut runtimes: Vec<Seconds> = self.ended.iter().filter(similar).map(|point| point.runtime).collect();
        runtimes.sort_unstable();
        if runtimes.first() == runtimes.last() {
            return None;
        }
        let n = runtimes.len() as f64;
        let points: Vec<(f64, f64)> =
            runtimes.iter().zip(1..).map(|(&runtime, i)| ((runtime as f64).ln(), f64::from(i) / n)).collect();
        let mean_x = points.iter().map(|(x, _)| x).sum::<f64>() / n;
        let mean_f = points.iter().map(|(_, f)| f).sum::<f64>() / n;
        let slope = points.iter().map(|(x, f)| (x - mean_x) * (f - mean_f)).sum::<f64>()
            / points.iter().map(|(x, _)| (x - mean_x).powi(2)).sum::<f64>();
        let intercept = mean_f - slope * mean_x;
        Some(((1.0 - intercept) / slope).exp())
    }

    fn at_age(&self, age: f64, longest: f64) -> Said {
        nearest_to(match self.mean {
            true => (longest - age) / (longest.ln() - age.ln()),
            false => (age * longest).sqrt(),
        })
    }
}

impl Predictor for SlowDowney {
    fn on_arrival(&mut self, id: JobId, board: &mut Board) {
        let job = board.job(id);
        let said = match self.longest(job).filter(|&longest| longest > 1.0) {
            Some(longest) => {
                note("a distribution answers");
                self.at_age(1.0, longest)
            }
            None => {
                note("the estimate stands in");
                Said { seconds: job.estimate, others: Vec::new() }
            }
        };
        self.others = said.others;
        board.predict(id, said.seconds);
    }

    fn on_deadline_missed(&mut self, id: JobId, board: &mut Board) {
        let (longest, elapsed) = (self.longest(board.job(id)), board.elapsed(id));
        let age = elapsed as f64;
        if let Some(longest) = longest
            && (age - longest).abs() < 1e-11 * longest
        {
            // Of two runtimes the larger is the longest, and ages climb up to it second by second.
            note("an age is just the longest runtime");
            deadline::add_increment(id, board);
        } else if let Some(longest) = longest.filter(|&longest| age < longest) {
            note("a distribution answers a miss");
            let said = self.at_age(age, longest);
            self.others.extend(said.others.into_iter().map(|other| other.max(elapsed + 1)));
            board.predict(id, said.seconds.max(elapsed + 1));
        } else {
            note("a miss takes the increment");
            deadline::add_increment(id, board);
        }
    }

    fn on_termination(&mut self, id: JobId, runtime: Seconds, board: &mut Board) {
        self.ended.push(Ended { job: *board.job(id), runtime });
    }
}

impl Reference for SlowDowney {
    fn take_others(&mut self) -> Vec<Seconds> {
        std::mem::take(&mut self.others)
    }
}

// ---- The library against the references ----

/// Random workloads whose jobs have groups and partitions too.
pub fn named_workloads() -> impl Strategy<Value = Workload> {
    (workloads(), vec((-1..2i32, -1..3i32), 60)).prop_map(|(mut workload, names)| {
        for (job, (group, partition)) in workload.jobs.iter_mut().zip(names) {
            (job.submission.group, job.submission.partition) = (group, partition);
        }
        workload
    })
}

fn run_predictor(workload: &Workload, scheduler: &str, name: &str, predictor: Box<dyn Predictor>) -> Vec<Outcome> {
    let policy =
        schedule::catalog::build(&schedule::catalog::parse(scheduler).unwrap(), &support::facts(&workload.jobs));
    let predictor = Named { name: name.to_string(), value: predictor };
    let options = EngineOptions { unix_start: workload.unix_start, ..EngineOptions::default() };
    engine::run(workload.procs, &workload.jobs, policy, predictor, options, &mut |_| ()).unwrap().outcomes
}

fn library(spec: &str) -> Box<dyn Predictor> {
    predict::catalog::build(&predict::catalog::parse(spec).unwrap())
}

/// What is compared of a job's outcome.
#[derive(Debug, PartialEq)]
struct Fate {
    start: Option<Time>,
    prediction: Seconds,
    prediction_at_start: Seconds,
    prediction_last: Seconds,
    misses: u32,
}

impl Fate {
    fn of(outcome: &Outcome) -> Fate {
        let &Outcome { start, prediction, prediction_at_start, prediction_last, misses, .. } = outcome;
        Fate { start: start.get(), prediction, prediction_at_start, prediction_last, misses }
    }
}

/// The library's predictor together with a reference: at every event the reference writes on a copy of
/// the board, and afterwards all jobs must have the same predictions on both. The simulation goes on with those of the
/// library, so that one difference does not cause others.
struct Watched {
    library: Box<dyn Predictor>,
    reference: Box<dyn Reference>,
    arrived: u32,
    report: Arc<Mutex<Report>>,
}

#[derive(Default)]
struct Report {
    differences: Vec<String>,
    /// Whether the library ever gave the other good answer.
    excused: bool,
}

impl Watched {
    fn ask_both(&mut self, event: &str, id: JobId, board: &mut Board, ask: impl Fn(&mut dyn Predictor, &mut Board)) {
        let mut copy = board.clone();
        ask(&mut *self.library, board);
        ask(&mut *self.reference, &mut copy);
        let others = self.reference.take_others();
        let mut report = self.report.lock().unwrap();
        let in_the_system = |id: &JobId| board.stage(*id) != Stage::Gone;
        for other in (0..self.arrived).map(JobId).filter(in_the_system) {
            let (found, expected) = (board.prediction(other), copy.prediction(other));
            if found == expected {
                continue;
            }
            if other == id && others.contains(&found) {
                report.excused = true;
                continue;
            }
            let (number, cause, now) = (other.0 + 1, id.0 + 1, board.now());
            report.differences.push(format!(
                "at {now}, {event} of job {cause}: {found} is predicted for job {number}, and not {expected}"
            ));
        }
    }
}

impl Predictor for Watched {
    fn on_arrival(&mut self, id: JobId, board: &mut Board) {
        self.arrived += 1;
        self.ask_both("arrival", id, board, |predictor, board| predictor.on_arrival(id, board));
    }

    fn on_start(&mut self, id: JobId, board: &mut Board) {
        self.ask_both("start", id, board, |predictor, board| predictor.on_start(id, board));
    }

    fn on_termination(&mut self, id: JobId, runtime: Seconds, board: &mut Board) {
        self.ask_both("end", id, board, |predictor, board| predictor.on_termination(id, runtime, board));
    }

    fn on_deadline_missed(&mut self, id: JobId, board: &mut Board) {
        self.ask_both("missed deadline", id, board, |predictor, board| predictor.on_deadline_missed(id, board));
    }
}

/// The same predictions at every event under every scheduler. In a separate run the reference gives every job the same
/// outcome as the library, unless there were two correct predictions.
pub fn agree(workload: &Workload, spec: &str, reference: impl Fn() -> Box<dyn Reference>) -> TestCaseResult {
    for scheduler in ["sjbf", "easy", "replay"] {
        let report = Arc::new(Mutex::new(Report::default()));
        let watched = Watched { library: library(spec), reference: reference(), arrived: 0, report: report.clone() };
        let found = run_predictor(workload, scheduler, spec, Box::new(watched));
        let report = report.lock().unwrap();
        prop_assert!(report.differences.is_empty(), "{spec}, {scheduler}: {}", report.differences.join("\n"));
        note(RUN);
        if report.excused {
            note(EXCUSED);
            continue;
        }
        let expected = run_predictor(workload, scheduler, "the reference", reference());
        for ((job, found), expected) in workload.jobs.iter().zip(found).zip(expected) {
            let (number, found, expected) = (job.number, Fate::of(&found), Fate::of(&expected));
            prop_assert!(
                found == expected,
                "{spec}, {scheduler}: job {number} became\n  {found:?}\nand not\n  {expected:?}"
            );
        }
    }
    Ok(())
}

fn templates() -> impl Strategy<Value = Template> {
    let names = prop_oneof![3 => subsequence(NAMES.to_vec(), 0..=2), 1 => subsequence(NAMES.to_vec(), 3)];
    let nodes = option::weighted(0.3, select(vec![1, 2, 4, 8, 16, 512]));
    let history = option::weighted(0.3, select(vec![2, 3, 4, 7]));
    let (line, relative) = (prop::bool::weighted(0.4), prop::bool::weighted(0.4));
    (names, nodes, line, relative, history).prop_map(|(names, nodes, line, relative, history)| Template {
        names,
        nodes,
        line,
        relative,
        history,
    })
}

#[test]
fn smith_equals_the_reference() {
    // Not 50 %: there Student's t is 1 with one degree of freedom, and a line can tie with a mean.
    let settings = (vec(templates(), 1..=5), select(vec![70, 90, 95, 99]), any::<bool>());
    check(301, 3000, (named_workloads(), settings), |(workload, (templates, percent, at_start))| {
        let texts: Vec<_> = templates.iter().map(Template::to_string).collect();
        let at = if at_start { "start" } else { "arrival" };
        let spec = format!("smith:templates={},confidence={percent},at={at}", texts.join(";"));
        agree(&workload, &spec, || {
            Box::new(SlowSmith {
                templates: templates.clone(),
                percent,
                at_start,
                ended: Vec::new(),
                others: Vec::new(),
            })
        })
    });
    assert_seen(&[
        "a mean answers",
        "a mean of ratios answers",
        "a line answers",
        "a line of ratios answers",
        "a later template wins",
        "different answers tie",
        "a history is cut",
        "a value lies halfway between two seconds",
        "the start changes a prediction",
        "the estimate stands in",
    ]);
}

#[test]
fn gibbons_equals_the_reference() {
    check(302, 1200, (named_workloads(), any::<bool>()), |(workload, relative)| {
        let spec = if relative { "gibbons:data=rel" } else { "gibbons" };
        agree(&workload, spec, || Box::new(SlowGibbons { relative, ended: Vec::new(), others: Vec::new() }))
    });
    assert_seen(&[
        "(u,e,n) answers",
        "(u,e) answers",
        "(e,n) answers",
        "(e) answers",
        "(n) answers",
        "() answers",
        "a line through more than two ranges",
        "a value lies halfway between two seconds",
        "the estimate stands in",
    ]);
}

#[test]
fn downey_equals_the_reference() {
    let by = select(vec![
        ("queue", By::One(Name::Queue)),
        ("user", By::One(Name::User)),
        ("executable", By::One(Name::Executable)),
        ("none", By::None),
    ]);
    check(303, 1200, (named_workloads(), by, any::<bool>()), |(workload, (word, by), mean)| {
        let spec = format!("downey:by={word},point={}", if mean { "mean" } else { "median" });
        agree(&workload, &spec, || Box::new(SlowDowney { by, mean, ended: Vec::new(), others: Vec::new() }))
    });
    assert_seen(&[
        "a distribution answers",
        "a distribution answers a miss",
        "a miss takes the increment",
        "an age is just the longest runtime",
        "the estimate stands in",
    ]);
}

/// The reference's own quantiles against a printed table.
#[test]
fn student_quantiles_are_those_of_the_tables() {
    for (percent, freedom, t) in [
        (90, 1, 6.314),
        (90, 2, 2.920),
        (90, 10, 1.812),
        (95, 5, 2.571),
        (95, 30, 2.042),
        (99, 1, 63.657),
        (99, 4, 4.604),
    ] {
        assert!((student(percent, freedom) - t).abs() < 6e-4, "{percent} % with {freedom}");
    }
}
