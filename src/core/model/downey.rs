//! Downey's workload ("Using queue time predictions for processor allocation", section 2.2) with rigid jobs. The number of
//! processors of a job is its average parallelism, and its runtime follows from the model of speedup.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Exp1};

use super::model_job::{ModelJob, Shape};
use super::speedup::speedup;
use super::users::Users;
use crate::rng::stream;
use crate::time::{DAY, HOUR, Seconds, Time};

/// Sequential lifetimes are from e^2 to e^12 seconds (section 2.2.1).
const LIFETIME: [f64; 2] = [2.0, 12.0];

/// The variance in parallelism is at most this (section 2.2.3).
const SIGMA: f64 = 2.0;

/// The paper's load: the sequential work that arrives by day, divided by the capacity of the machine by day.
const RHO: f64 = 0.75;

/// Jobs arrive during twelve hours of the day (section 4), here from 8:00 to 20:00.
const DAYTIME: Seconds = 12 * HOUR;
const MORNING: Seconds = 8 * HOUR;

/// Parameters of the workload.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Downey {
    /// The number of jobs.
    pub jobs: usize,
    /// The processors of the machine, at least 1.
    pub procs: u32,
    /// The number of users, at least 1. None: users are unknown.
    pub users: Option<u32>,
    /// The factor for gaps between arrivals. It does not change the jobs or the nights.
    pub gap_factor: f64,
    /// The seed of all random numbers.
    pub seed: u64,
}

impl Downey {
    /// The longest runtime of the model, in seconds.
    pub fn longest_runtime() -> Seconds {
        libm::exp(LIFETIME[1]) as Seconds
    }

    /// The jobs in order of submission. Time 0 is a midnight.
    pub fn jobs(&self) -> impl Iterator<Item = ModelJob> + use<> {
        let procs = self.procs;
        let random = |part: &str| stream(self.seed, &format!("downey {part}"));
        let (mut shapes, mut arrivals) = (random("jobs"), random("arrivals"));
        let mut users = self.users.map(|users| Users::new(users, libm::exp(LIFETIME[1]), 1, 1, random("users")));
        // Poisson arrivals at a rate of rho N / E[L], and the mean of a uniform-log distribution is
        // (max - min) / (ln max - ln min).
        let mean_lifetime = (libm::exp(LIFETIME[1]) - libm::exp(LIFETIME[0])) / (LIFETIME[1] - LIFETIME[0]);
        let mean_gap = self.gap_factor * mean_lifetime / (RHO * f64::from(procs));
        // Seconds of daytime.
        let mut clock = 0.0;
        std::iter::repeat_with(move || {
            let gap: f64 = Exp1.sample(&mut arrivals);
            clock += mean_gap * gap;
            let daytime = clock as Time;
            let submit = daytime / DAYTIME * DAY + MORNING + daytime % DAYTIME;
            let mut draw = || draw_shape(procs, &mut shapes);
            let (user, executable, Shape { procs, runtime }) = match &mut users {
                Some(users) => users.submit(&mut draw),
                None => (-1, -1, draw()),
            };
            ModelJob { submit, procs, runtime: ((runtime + 0.5) as Seconds).max(1), user, executable, queue: -1 }
        })
        .take(self.jobs)
    }
}

/// The logarithms of L and A are uniform, A is rounded up to a whole number; the runtime is L / S(A) (section 2.2).
fn draw_shape(procs: u32, rng: &mut ChaCha8Rng) -> Shape {
    let lifetime = libm::exp(LIFETIME[0] + (LIFETIME[1] - LIFETIME[0]) * rng.random::<f64>());
    let parallelism = libm::ceil(libm::exp(rng.random::<f64>() * libm::log(f64::from(procs)))).min(f64::from(procs));
    let sigma = SIGMA * rng.random::<f64>();
    Shape { procs: parallelism as u32, runtime: lifetime / speedup(parallelism, parallelism, sigma) }
}
