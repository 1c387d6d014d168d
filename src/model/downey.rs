//! Downey's workload: "Using queue time predictions for processor allocation", section 2.2, as rigid jobs. A job asks for as
//! many processors as its average parallelism and runs as long as the model of speedup says.

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

/// The paper's load: sequential work that comes by day, of what the machine could do by day.
const RHO: f64 = 0.75;

/// Jobs come during twelve hours of the day (section 4), here from eight to eight.
const DAYTIME: Seconds = 12 * HOUR;
const MORNING: Seconds = 8 * HOUR;

/// What to make.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Downey {
    pub jobs: usize,
    /// The machine's processors, at least 1.
    pub procs: u32,
    /// Users laid over the jobs, at least one; else nobody is named.
    pub users: Option<u32>,
    /// The gaps between arrivals are multiplied by this; the jobs are the same and the nights stay.
    pub gap_factor: f64,
    pub seed: u64,
}

impl Downey {
    /// The longest runtime that the model makes.
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

/// L and A uniform in their logarithms, A rounded up to a whole number; the runtime is L / S(A) (section 2.2).
fn draw_shape(procs: u32, rng: &mut ChaCha8Rng) -> Shape {
    let lifetime = libm::exp(LIFETIME[0] + (LIFETIME[1] - LIFETIME[0]) * rng.random::<f64>());
    let parallelism = libm::ceil(libm::exp(rng.random::<f64>() * libm::log(f64::from(procs)))).min(f64::from(procs));
    let sigma = SIGMA * rng.random::<f64>();
    Shape { procs: parallelism as u32, runtime: lifetime / speedup(parallelism, parallelism, sigma) }
}
