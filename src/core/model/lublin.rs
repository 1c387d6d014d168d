//! The workload model of Lublin and Feitelson: "The workload on parallel supercomputers: modeling the characteristics of
//! rigid jobs", J. Parallel Distrib. Comput. 63(11), 2003; the names of the parameters are those of the authors' program.
//!
//! Differences from that program: the clock is kept exactly and only submit times are truncated to whole seconds, so that
//! the daily cycle does not drift (the program truncates the clock at every job and loses an hour in about 7,000 jobs); a
//! runtime below a second becomes one second; and the machine may have any number of processors.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Gamma};

use super::daily_cycle::DailyCycle;
use super::model_job::{ModelJob, Shape};
use super::users::Users;
use crate::rng::stream;
use crate::time::{Seconds, Time};

/// Runtimes are e to the power of at most this (TOO_MUCH_TIME): less than two days.
const LONGEST_RUNTIME: f64 = 12.0;

/// Gaps are e to the power of at most this (TOO_MUCH_ARRIVE_TIME): five days.
const LONGEST_GAP: f64 = 13.0;

/// The parameters of one class of jobs, with the names of the authors' program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LublinParameters {
    /// The share of jobs on one processor.
    pub serial_prob: f64,
    /// The share of jobs whose size is rounded to a power of two.
    pub pow2_prob: f64,
    /// The base-2 logarithm of the size of parallel jobs is two-stage uniform: in [ulow, umed] with probability `uprob`,
    /// else in [umed, uhi]. This is the lower end.
    pub ulow: f64,
    /// How far umed is below uhi.
    pub umed_below: f64,
    /// How far uhi is below the base-2 logarithm of the machine's size.
    pub uhi_below: f64,
    /// The probability of [ulow, umed].
    pub uprob: f64,
    /// The natural logarithm of the runtime is gamma(a1, b1) with probability `pa` x size + `pb`, else gamma(a2, b2). This
    /// is the shape of the first.
    pub a1: f64,
    /// The scale of the first.
    pub b1: f64,
    /// The shape of the second.
    pub a2: f64,
    /// The scale of the second.
    pub b2: f64,
    /// The probability of the first, per processor.
    pub pa: f64,
    /// The probability of the first, constant part.
    pub pb: f64,
    /// The natural logarithm of the gaps between arrivals is gamma(aarr, barr) in the rush hours. This is the shape.
    pub aarr: f64,
    /// The scale.
    pub barr: f64,
    /// The factor for the shape `aarr` over all hours of the day.
    pub arar: f64,
    /// The daily cycle of arrivals is gamma(anum, bnum). This is the shape.
    pub anum: f64,
    /// The scale.
    pub bnum: f64,
}

const BATCH: LublinParameters = LublinParameters {
    serial_prob: 0.2927,
    pow2_prob: 0.6686,
    ulow: 1.2,
    umed_below: 2.0,
    uhi_below: 0.0,
    uprob: 0.875,
    a1: 6.57,
    b1: 0.823,
    a2: 639.1,
    b2: 0.0156,
    pa: -0.003,
    pb: 0.6986,
    aarr: 6.0415,
    barr: 0.8531,
    arar: 1.0519,
    anum: 6.1271,
    bnum: 5.2740,
};

const INTERACTIVE: LublinParameters = LublinParameters {
    serial_prob: 0.1541,
    pow2_prob: 0.625,
    ulow: 1.0,
    umed_below: 2.5,
    uhi_below: 1.5,
    uprob: 0.705,
    a1: 3.8351,
    b1: 0.6605,
    a2: 7.073,
    b2: 0.6856,
    pa: -0.0118,
    pb: 0.9156,
    aarr: 6.5510,
    barr: 0.6621,
    arar: 0.9797,
    anum: 8.9186,
    bnum: 3.6680,
};

/// The model's two classes of jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LublinClass {
    /// Jobs without a user waiting for them; longer on average.
    Batch,
    /// Jobs with a user at a terminal; shorter on average.
    Interactive,
}

impl LublinClass {
    /// The published parameters of the class.
    pub fn parameters(self) -> LublinParameters {
        match self {
            LublinClass::Batch => BATCH,
            LublinClass::Interactive => INTERACTIVE,
        }
    }

    /// The queue of such jobs in a log; in SWF, 0 means interactive.
    pub fn queue(self) -> i32 {
        match self {
            LublinClass::Batch => 1,
            LublinClass::Interactive => 0,
        }
    }

    /// The stream of random numbers of a part of the model.
    fn stream(self, seed: u64, part: &str) -> ChaCha8Rng {
        let class = match self {
            LublinClass::Batch => "batch",
            LublinClass::Interactive => "interactive",
        };
        stream(seed, &format!("lublin {class} {part}"))
    }
}

/// Parameters of the workload.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lublin {
    /// The number of jobs.
    pub jobs: usize,
    /// The processors of the machine, at least 1.
    pub procs: u32,
    /// The only class of jobs. None: both classes, merged.
    pub only: Option<LublinClass>,
    /// The number of users, at least 1. None: users are unknown.
    pub users: Option<u32>,
    /// The factor for gaps between arrivals. It does not change the jobs or the daily cycle.
    pub gap_factor: f64,
    /// The seed of all random numbers.
    pub seed: u64,
}

impl Lublin {
    /// The longest runtime of the model, in seconds.
    pub fn longest_runtime() -> Seconds {
        libm::exp(LONGEST_RUNTIME) as Seconds
    }

    /// The jobs in order of submission. Time 0 is a midnight.
    pub fn jobs(&self) -> impl Iterator<Item = ModelJob> + use<> {
        let (batch_jobs, interactive_jobs) = self.class_sizes();
        let batch = self.class_jobs(LublinClass::Batch).take(batch_jobs);
        merge(batch, self.class_jobs(LublinClass::Interactive).take(interactive_jobs), |job| job.submit)
    }

    /// An endless sequence of the jobs of one class. Shapes, arrivals and users have separate random streams, so that other
    /// gaps or the other class do not change the jobs.
    fn class_jobs(&self, class: LublinClass) -> impl Iterator<Item = ModelJob> + use<> {
        let (shapes, mut rng) = (LublinShapes::new(class, self.procs), class.stream(self.seed, "jobs"));
        // Programs of one class have odd numbers, those of the other even numbers.
        let (first_program, step) = (2 - class.queue(), 2);
        let users = |users| {
            Users::new(users, libm::exp(LONGEST_RUNTIME), first_program, step, class.stream(self.seed, "users"))
        };
        let mut users = self.users.map(users);
        arrival_times(class, self.gap_factor, self.seed).map(move |submit| {
            let mut draw = || shapes.draw(&mut rng);
            let (user, executable, Shape { procs, runtime }) = match &mut users {
                Some(users) => users.submit(&mut draw),
                None => (-1, -1, draw()),
            };
            // Truncated, as in the authors' program.
            let runtime = (runtime as Seconds).max(1);
            ModelJob { submit, procs, runtime, user, executable, queue: class.queue() }
        })
    }

    /// The number of jobs of each class. With both classes these are the first jobs by the model's own gaps, independent of
    /// `gap_factor`. Otherwise the last jobs would depend on the factor, and a single long job can change the load.
    fn class_sizes(&self) -> (usize, usize) {
        match self.only {
            Some(LublinClass::Batch) => (self.jobs, 0),
            Some(LublinClass::Interactive) => (0, self.jobs),
            None => {
                let arrivals = |class| arrival_times(class, 1.0, self.seed).map(move |submit| (class, submit));
                let both =
                    merge(arrivals(LublinClass::Batch), arrivals(LublinClass::Interactive), |&(_, submit)| submit);
                let batch = both.take(self.jobs).filter(|&(class, _)| class == LublinClass::Batch).count();
                (batch, self.jobs - batch)
            }
        }
    }
}

/// Merges two sequences by time. At equal times the second comes first, as in the authors' program.
fn merge<T>(
    first: impl Iterator<Item = T>,
    second: impl Iterator<Item = T>,
    time: impl Fn(&T) -> Time,
) -> impl Iterator<Item = T> {
    let (mut first, mut second) = (first.peekable(), second.peekable());
    std::iter::from_fn(move || match (first.peek(), second.peek()) {
        (Some(one), Some(other)) if time(one) < time(other) => first.next(),
        (_, Some(_)) => second.next(),
        _ => first.next(),
    })
}

/// The submit times of the jobs of one class, in whole seconds.
fn arrival_times(class: LublinClass, gap_factor: f64, seed: u64) -> impl Iterator<Item = Time> {
    let (mut arrivals, mut rng) = (LublinArrivals::new(class, gap_factor), class.stream(seed, "arrivals"));
    std::iter::repeat_with(move || arrivals.draw(&mut rng) as Time)
}

/// Draws the sizes and runtimes of one class of jobs on a machine.
#[derive(Clone, Copy, Debug)]
pub struct LublinShapes {
    parameters: LublinParameters,
    procs: u32,
    ulow: f64,
    umed: f64,
    uhi: f64,
    first: Gamma<f64>,
    second: Gamma<f64>,
}

impl LublinShapes {
    /// For a machine of `procs` processors.
    pub fn new(class: LublinClass, procs: u32) -> LublinShapes {
        let parameters = class.parameters();
        let LublinParameters { ulow, umed_below, uhi_below, a1, b1, a2, b2, .. } = parameters;
        let machine = libm::log2(f64::from(procs));
        // On small machines a parallel job has at least two processors, if the machine has two.
        let uhi = (machine - uhi_below).max(machine.min(1.0));
        let ulow = ulow.min(uhi);
        let umed = (uhi - umed_below).max(ulow);
        LublinShapes { parameters, procs, ulow, umed, uhi, first: gamma(a1, b1), second: gamma(a2, b2) }
    }

    /// Draws the size and the runtime of a job.
    pub fn draw(&self, rng: &mut ChaCha8Rng) -> Shape {
        let procs = self.draw_size(rng);
        Shape { procs, runtime: self.draw_runtime(procs, rng) }
    }

    /// Draws a number of processors: 1 for serial jobs, else 2^x with x two-stage uniform; x is rounded for powers of two
    /// (the authors' calc_number_of_nodes).
    pub fn draw_size(&self, rng: &mut ChaCha8Rng) -> u32 {
        let LublinParameters { serial_prob, pow2_prob, uprob, .. } = self.parameters;
        let kind = rng.random::<f64>();
        if kind <= serial_prob {
            return 1;
        }
        let (from, to) = if rng.random::<f64>() <= uprob { (self.ulow, self.umed) } else { (self.umed, self.uhi) };
        let x = from + rng.random::<f64>() * (to - from);
        if kind <= serial_prob + pow2_prob {
            // At most the largest power of two that fits the machine.
            1 << ((x + 0.5) as u32).min(self.procs.ilog2())
        } else {
            ((libm::exp2(x) + 0.5) as u32).min(self.procs)
        }
    }

    /// Draws a runtime in real seconds for a job of this size: e to the power of a hyper-gamma variable. If it is too long, it
    /// is drawn again (the authors' time_from_nodes).
    pub fn draw_runtime(&self, procs: u32, rng: &mut ChaCha8Rng) -> f64 {
        let LublinParameters { pa, pb, .. } = self.parameters;
        let p = (pa * f64::from(procs) + pb).clamp(0.0, 1.0);
        loop {
            let gamma = if rng.random::<f64>() <= p { &self.first } else { &self.second };
            let logarithm = gamma.sample(rng);
            if logarithm <= LONGEST_RUNTIME {
                return libm::exp(logarithm);
            }
        }
    }
}

/// Draws the arrivals of one class of jobs.
#[derive(Clone, Debug)]
pub struct LublinArrivals {
    gaps: Gamma<f64>,
    factor: f64,
    cycle: DailyCycle,
    /// Weighted seconds since the first midnight.
    weighted: f64,
}

impl LublinArrivals {
    /// Gaps are multiplied by `factor` in weighted time, so that the daily cycle does not change.
    pub fn new(class: LublinClass, factor: f64) -> LublinArrivals {
        let LublinParameters { aarr, barr, arar, anum, bnum, .. } = class.parameters();
        LublinArrivals { gaps: gamma(aarr * arar, barr), factor, cycle: DailyCycle::gamma(anum, bnum), weighted: 0.0 }
    }

    /// The next arrival, in real seconds since the first midnight.
    pub fn draw(&mut self, rng: &mut ChaCha8Rng) -> f64 {
        let logarithm = loop {
            let logarithm = self.gaps.sample(rng);
            if logarithm <= LONGEST_GAP {
                break logarithm;
            }
        };
        self.weighted += self.factor * libm::exp(logarithm);
        self.cycle.real(self.weighted)
    }

    /// The daily cycle of this class.
    pub fn cycle(&self) -> &DailyCycle {
        &self.cycle
    }
}

fn gamma(shape: f64, scale: f64) -> Gamma<f64> {
    Gamma::new(shape, scale).expect("a positive shape and scale")
}
