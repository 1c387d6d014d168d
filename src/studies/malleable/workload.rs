//! The workload: malleable jobs that arrive in the daytime (Downey, sections 2.2 and 4).

use rand::RngExt;

use crate::model::{UniformLog, speedup};
use crate::rng::stream;
use crate::text::counted;

/// Section 4: "we divide each simulated day into two 12-hour phases"; jobs arrive in the first. In seconds.
pub const DAY: f64 = 86_400.0;
/// The length of the first phase, in seconds.
pub const DAYTIME: f64 = 43_200.0;

/// Section 2.2.1: sequential lifetimes, from e^2 to e^12 seconds.
pub const LIFETIMES: UniformLog = UniformLog { ln_min: 2.0, ln_max: 12.0 };

/// A job that runs on any number of processors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MalleableJob {
    /// Seconds after the start of the first day.
    pub arrival: f64,
    /// L, the run time on one processor, in seconds.
    pub lifetime: f64,
    /// A, the average parallelism: a real number of at least 1.
    pub parallelism: f64,
    /// The variance in parallelism.
    pub sigma: f64,
}

impl MalleableJob {
    /// The most processors that the job takes on a machine of `machine` processors: A, rounded up to a whole number.
    pub fn most_procs(&self, machine: u32) -> u32 {
        (self.parallelism.ceil() as u32).min(machine)
    }

    /// The whole number of processors that are a `share` of A, on a machine of `machine` processors: at least 1.
    pub fn share_of_procs(&self, share: f64, machine: u32) -> u32 {
        ((share * self.parallelism.min(f64::from(machine))).ceil() as u32).max(1)
    }

    /// The day on which the job arrives, from 0.
    pub fn day(&self) -> u32 {
        (self.arrival / DAY) as u32
    }

    /// S(n), the speedup on `procs` processors.
    pub fn speedup(&self, procs: u32) -> f64 {
        speedup(f64::from(procs), self.parallelism, self.sigma)
    }

    /// The run time on `procs` processors, in seconds: R(n) = L / S(n).
    pub fn runtime(&self, procs: u32) -> f64 {
        self.lifetime / self.speedup(procs)
    }
}

/// How the days of a workload are simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DaySequence {
    /// Each day is a simulation of its own: it starts with an empty machine and an empty queue, and it ends when all
    /// its queued jobs have been scheduled (section 4).
    Separate,
    /// One simulation runs through all days.
    Continuous,
}

/// The parameters of a workload, and the machine it is made for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MalleableWorkload {
    /// Processors of the machine.
    pub procs: u32,
    /// Days with arrivals.
    pub days: u32,
    /// The offered load in the daytime, rho = lambda E(L) / N, with the mean lifetime E(L).
    pub rho: f64,
    /// The largest average parallelism; it may be larger than the machine.
    pub max_parallelism: u32,
    /// Whether the average parallelism of a job is rounded up to a whole number.
    pub whole_parallelism: bool,
    /// The largest variance in parallelism.
    pub max_sigma: f64,
    /// How the days are simulated.
    pub sequence: DaySequence,
    /// The same seed gives the same jobs.
    pub seed: u64,
}

/// The parameters of the paper.
impl Default for MalleableWorkload {
    fn default() -> Self {
        MalleableWorkload {
            procs: 128,
            days: 120,
            rho: 0.75,
            max_parallelism: 128,
            whole_parallelism: false,
            max_sigma: 2.0,
            sequence: DaySequence::Separate,
            seed: 1,
        }
    }
}

/// The largest expected number of jobs; more would take too much memory and time.
const MOST_JOBS: f64 = 2e7;

impl MalleableWorkload {
    /// lambda = rho N / E(L), in jobs per second of daytime.
    pub fn arrival_rate(&self) -> f64 {
        self.rho * f64::from(self.procs) / LIFETIMES.mean()
    }

    /// The jobs, in order of arrival.
    ///
    /// # Errors
    ///
    /// If a parameter is out of range, or if there would be too many jobs.
    pub fn generate(&self) -> Result<Vec<MalleableJob>, String> {
        self.check()?;
        let (rate, daytime) = (self.arrival_rate(), f64::from(self.days) * DAYTIME);
        let draws = |name| stream(self.seed, name);
        let (mut gaps, mut lifetimes) = (draws("malleable arrivals"), draws("malleable lifetimes"));
        let (mut parallelisms, mut sigmas) = (draws("malleable parallelism"), draws("malleable variance"));
        let widths = UniformLog { ln_min: 0.0, ln_max: libm::log(f64::from(self.max_parallelism)) };
        // Time between arrivals is daytime only: a Poisson process has no memory, so nights can be left out.
        let mut by_day = 0.0;
        let mut jobs = Vec::with_capacity((rate * daytime * 1.1) as usize);
        loop {
            by_day -= libm::log(1.0 - gaps.random::<f64>()) / rate;
            if by_day >= daytime {
                return Ok(jobs);
            }
            let day = (by_day / DAYTIME).floor();
            let drawn = widths.quantile(parallelisms.random());
            let parallelism = if self.whole_parallelism { drawn.ceil() } else { drawn };
            jobs.push(MalleableJob {
                arrival: day * DAY + (by_day - day * DAYTIME),
                lifetime: LIFETIMES.quantile(lifetimes.random()),
                parallelism: parallelism.clamp(1.0, f64::from(self.max_parallelism)),
                sigma: sigmas.random::<f64>() * self.max_sigma,
            });
        }
    }

    fn check(&self) -> Result<(), String> {
        if self.procs == 0 || self.days == 0 || self.max_parallelism == 0 {
            return Err("processors, days and the largest parallelism must be at least 1".to_string());
        }
        if !(self.rho > 0.0 && self.rho.is_finite() && self.max_sigma >= 0.0 && self.max_sigma.is_finite()) {
            return Err("the load must be a number above 0, the largest variance one of at least 0".to_string());
        }
        let jobs = self.arrival_rate() * f64::from(self.days) * DAYTIME;
        if jobs > MOST_JOBS {
            return Err(format!(
                "{} at a load of {} on {} are about {jobs:.0} jobs, more than {MOST_JOBS:.0}: take fewer days or a \
                 smaller machine",
                counted(self.days.into(), "day"),
                self.rho,
                counted(self.procs.into(), "processor")
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Draws of the paper's workload, enough that a wrong distribution would show.
    #[test]
    fn the_jobs_are_drawn_as_the_paper_says() {
        let workload = MalleableWorkload { days: 400, ..MalleableWorkload::default() };
        let jobs = workload.generate().unwrap();
        let count = jobs.len() as f64;
        // Section 4 has 30,421 jobs in 120 days; a Poisson count is within five deviations of its mean.
        let expected = 0.75 * 128.0 / LIFETIMES.mean() * 400.0 * DAYTIME;
        assert!((count - expected).abs() < 5.0 * expected.sqrt(), "{count} for {expected}");
        assert!((expected / 400.0 - 30_421.0 / 120.0).abs() < 3.0);
        let mean = |value: &dyn Fn(&MalleableJob) -> f64| jobs.iter().map(value).sum::<f64>() / count;
        // The mean of 100,000 uniform numbers is within five of its deviations, 0.0009.
        let near =
            |value: f64, expected: f64, width: f64| (value - expected).abs() < 5.0 * 0.2887 * width / count.sqrt();
        assert!(near(mean(&|job| job.lifetime.ln()), 7.0, 10.0));
        assert!(near(mean(&|job| job.sigma), 1.0, 2.0));
        // P(A <= a) = ln a / ln 128.
        for a in [1.3, 2.0, 8.0, 64.5, 127.0] {
            let share = mean(&|job| f64::from(u8::from(job.parallelism <= a)));
            let expected = a.ln() / 128f64.ln();
            assert!((share - expected).abs() < 5.0 * 0.5 / count.sqrt(), "{a}: {share} for {expected}");
        }
        assert!(jobs.iter().all(|job| (1.0..=128.0).contains(&job.parallelism)));
        // The other reading has the same jobs, with A rounded up.
        let up = MalleableWorkload { whole_parallelism: true, ..workload }.generate().unwrap();
        assert_eq!(up.len(), jobs.len());
        for (whole, job) in up.iter().zip(&jobs) {
            assert_eq!(*whole, MalleableJob { parallelism: job.parallelism.ceil(), ..*job });
        }
        // Jobs arrive in the daytime only, in order, and over all days.
        assert!(jobs.iter().all(|job| job.arrival % DAY < DAYTIME));
        assert!(jobs.is_sorted_by(|a, b| a.arrival <= b.arrival));
        assert!(near(mean(&|job| job.arrival % DAY), DAYTIME / 2.0, DAYTIME));
        assert!(jobs.last().unwrap().arrival > 399.0 * DAY);
        assert_eq!(jobs, workload.generate().unwrap());
        assert_ne!(jobs[0], MalleableWorkload { seed: 2, ..workload }.generate().unwrap()[0]);
    }

    /// Equation 1 by hand, A = 2.5 and sigma = 0.4. On 2 processors, up to A: 2.5 x 2 / (2.5 + 0.4 / 2) = 5 / 2.7. On 3,
    /// from A to 2 A - 1 = 4: 2.5 x 3 / (0.4 x 2 + 3 x 0.8) = 7.5 / 3.2. So the third processor is used.
    #[test]
    fn a_real_parallelism_takes_the_next_whole_number_of_processors() {
        let job = MalleableJob { arrival: 2.5 * DAY, lifetime: 1000.0, parallelism: 2.5, sigma: 0.4 };
        assert!((job.speedup(2) - 5.0 / 2.7).abs() < 1e-12);
        assert!((job.runtime(3) - 1000.0 * 3.2 / 7.5).abs() < 1e-9);
        assert_eq!((job.most_procs(128), job.most_procs(2), job.day()), (3, 2, 2));
        // 0.4 x 2.5 is 1 processor, 0.5 x 2.5 are 2; of a machine of 2 the half is 1.
        assert_eq!([0.4, 0.5, 0.0].map(|share| job.share_of_procs(share, 128)), [1, 2, 1]);
        assert_eq!(job.share_of_procs(0.5, 2), 1);
        // Without variance the speedup is n up to A, and A from there on.
        let linear = MalleableJob { sigma: 0.0, ..job };
        assert_eq!([1, 2, 3].map(|procs| linear.speedup(procs)), [1.0, 2.0, 2.5]);
        let whole = MalleableJob { parallelism: 3.0, ..job };
        assert_eq!(whole.most_procs(128), 3);
    }

    #[test]
    fn impossible_parameters_are_errors() {
        let paper = MalleableWorkload::default();
        for (bad, part) in [
            (MalleableWorkload { procs: 0, ..paper }, "at least 1"),
            (MalleableWorkload { rho: f64::NAN, ..paper }, "above 0"),
            (MalleableWorkload { max_sigma: -1.0, ..paper }, "at least 0"),
            (MalleableWorkload { procs: 4_000_000_000, ..paper }, "take fewer days"),
        ] {
            let error = bad.generate().unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
