//! The 32 synthetic scenarios of Kumar and Vadhiyar, section 5.2: a system of four queues, each with a part of the
//! processors and jobs of its own kind.
//!
//! The paper defines the queues (Tables 5 and 6) and says that "the Parallel Workload Models" made their jobs; the rest
//! is our reading. Queue i has partition i. Its jobs are batch jobs of Lublin and Feitelson's model on a machine of the
//! size of the whole system, drawn again until size and run time are within the queue's limits. They arrive by the
//! model's arrival process, with gaps scaled to the mean of Table 5. Estimates are those of Tsafrir's model with the
//! limit as the longest. The limits apply to the jobs that a queue's users submit, not to jobs that are sent there.

use std::fmt;

use super::system::{MetaSystem, Site};
use crate::experiment::Setting;
use crate::job::{Job, Submission};
use crate::model::{EstimateModel, LublinArrivals, LublinClass, LublinShapes, Sample};
use crate::rng::stream;
use crate::spec::SpecError;
use crate::time::{DAY, HOUR, MINUTE, Seconds, print_duration};
use crate::trace::Workload;

/// How the processors are divided among the queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Partitioning {
    /// A quarter each.
    Equal,
    /// An eighth, an eighth, a quarter, a half.
    Unequal,
}

/// One scenario: the size of a system, its partitions, and the arrival rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// In units of 1,024 processors.
    pub size: u32,
    /// How they are divided among the four queues.
    pub partitioning: Partitioning,
    /// The row of Table 5, counted from 0.
    pub load: usize,
}

const SIZES: [u32; 4] = [1, 16, 128, 256];
const QUEUES: usize = 4;

/// Table 5: the mean time between two arrivals of each queue.
const GAPS: [[Seconds; QUEUES]; 4] = [
    [15 * MINUTE, HOUR, 2 * HOUR, 2 * HOUR],
    [15 * MINUTE, HOUR, HOUR, HOUR],
    [15 * MINUTE, HOUR, 2 * HOUR, 5 * HOUR],
    [30 * MINUTE, 2 * HOUR, 2 * HOUR, 2 * HOUR],
];
const LOADS: [&str; 4] = ["I", "II", "III", "IV"];

/// Table 6: the processors of the system over the largest request of each queue.
const LARGEST_REQUEST: [u32; QUEUES] = [32, 16, 8, 4];
/// Table 6: the longest run time of each queue.
const LONGEST_RUNTIME: [Seconds; QUEUES] = [12 * HOUR, 18 * HOUR, DAY, 2 * DAY];

/// The default number of days in which jobs arrive; the paper gives none.
pub const SCENARIO_DAYS: u32 = 120;

impl Scenario {
    /// All 32 scenarios: sizes change slowest, then partitionings, then loads.
    pub fn all() -> Vec<Scenario> {
        let both = [Partitioning::Equal, Partitioning::Unequal];
        let with = |size| {
            both.into_iter()
                .flat_map(move |partitioning| (0..LOADS.len()).map(move |load| Scenario { size, partitioning, load }))
        };
        SIZES.into_iter().flat_map(with).collect()
    }

    /// Reads `all`, or a name such as `16K-unequal-III` in which each part may be `*`.
    ///
    /// # Errors
    ///
    /// If no scenario has this name.
    pub fn parse(text: &str) -> Result<Vec<Scenario>, SpecError> {
        let parts: Vec<&str> = if text == "all" { vec!["*"; 3] } else { text.split('-').collect() };
        let fits = |scenario: &Scenario| {
            let names = scenario.parts();
            parts.len() == names.len() && parts.iter().zip(&names).all(|(part, name)| *part == "*" || part == name)
        };
        let found: Vec<Scenario> = Scenario::all().into_iter().filter(fits).collect();
        match found.is_empty() {
            true => Err(SpecError(format!(
                "unknown scenario '{text}': a scenario is SIZE-PARTITIONING-LOAD with a size of 1K, 16K, 128K, 256K, a \
                 partitioning of equal, unequal, a load of I, II, III, IV, * for any of them; or all"
            ))),
            false => Ok(found),
        }
    }

    fn parts(&self) -> [String; 3] {
        let partitioning = match self.partitioning {
            Partitioning::Equal => "equal",
            Partitioning::Unequal => "unequal",
        };
        [format!("{}K", self.size), partitioning.to_string(), LOADS[self.load].to_string()]
    }

    /// Processors of the whole system.
    pub fn procs(&self) -> u32 {
        self.size * 1024
    }

    fn partitions(&self) -> [u32; QUEUES] {
        let parts = match self.partitioning {
            Partitioning::Equal => [4, 4, 4, 4],
            Partitioning::Unequal => [8, 8, 4, 2],
        };
        parts.map(|part| self.procs() / part)
    }

    /// The number of jobs that arrive in `days` days.
    pub fn jobs(&self, days: u32) -> usize {
        (0..QUEUES).map(|queue| self.queue_jobs(queue, days)).sum()
    }

    fn queue_jobs(&self, queue: usize, days: u32) -> usize {
        (i64::from(days) * DAY / GAPS[self.load][queue]).max(1) as usize
    }

    /// The four queues as sites with their jobs, all with the same scheduler and predictor. Both partitionings have the
    /// same jobs.
    ///
    /// # Errors
    ///
    /// If the model of estimates cannot be fitted to the jobs of a queue.
    pub fn system(&self, setting: &Setting, days: u32, seed: u64) -> Result<MetaSystem, String> {
        let site = |(queue, procs): (usize, u32)| -> Result<Site, String> {
            let name = format!("queue{}", queue + 1);
            let jobs = self.make_jobs(queue, days, seed)?;
            let workload = Workload { label: name.clone(), procs, jobs, ..Workload::default() };
            Ok(Site { name, workload, setting: setting.clone() })
        };
        MetaSystem::new(self.partitions().into_iter().enumerate().map(site).collect::<Result<_, _>>()?)
    }

    fn make_jobs(&self, queue: usize, days: u32, seed: u64) -> Result<Vec<Job>, String> {
        let (largest, longest) = (self.procs() / LARGEST_REQUEST[queue], LONGEST_RUNTIME[queue]);
        let count = self.queue_jobs(queue, days);
        let part = |what: &str| stream(seed, &format!("scenario {}K {} {queue} {what}", self.size, LOADS[self.load]));
        let shapes = LublinShapes::new(LublinClass::Batch, self.procs());
        let mut rng = part("jobs");
        let mut shape = || loop {
            let shape = shapes.draw(&mut rng);
            let runtime = (shape.runtime as Seconds).max(1);
            if shape.procs <= largest && runtime <= longest {
                return (shape.procs, runtime);
            }
        };
        let shapes: Vec<(u32, Seconds)> = (0..count).map(|_| shape()).collect();
        let samples: Vec<Sample> =
            shapes.iter().map(|&(_, runtime)| Sample { runtime, estimate: None, user: -1 }).collect();
        let model = EstimateModel::parse(&format!("tsafrir:tmax={}", print_duration(longest)));
        let estimates = model.map_err(|error| error.to_string()).and_then(|model| {
            // Every queue has its own popular estimates.
            let seed = seed ^ (queue as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            Ok(model.assign(&samples, seed)?.estimates)
        });
        let estimates = estimates?;
        let submits = submits(count, GAPS[self.load][queue], &mut || part("arrivals"));
        let jobs = submits.into_iter().zip(shapes).zip(estimates).zip(1..);
        let job = |(((submit, (procs, runtime)), estimate), number): (((_, (_, _)), _), u32)| Job {
            record: number - 1,
            number: i64::from(number),
            ..Job::new(Submission { queue: queue as i32 + 1, ..Submission::new(submit, procs, estimate) }, runtime)
        };
        Ok(jobs.map(job).collect())
    }
}

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.parts().join("-"))
    }
}

/// `count` submit times with this mean gap. The gaps of the model have such a heavy tail that a factor computed from
/// their expected value would leave the mean of one log to chance. So they are drawn twice: first to measure the mean.
fn submits(count: usize, mean_gap: Seconds, stream: &mut dyn FnMut() -> rand_chacha::ChaCha8Rng) -> Vec<Seconds> {
    let mut draw = |factor| {
        let (mut arrivals, mut rng) = (LublinArrivals::new(LublinClass::Batch, factor), stream());
        let times: Vec<f64> = (0..count).map(|_| arrivals.draw(&mut rng)).collect();
        // In weighted time, in which all hours of the day have the same arrival rate.
        (arrivals.cycle().weighted(times[count - 1]), times)
    };
    let (whole, _) = draw(1.0);
    let (_, times) = draw(count as f64 * mean_gap as f64 / whole);
    times.into_iter().map(|time| time as Seconds).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting() -> Setting {
        Setting::parse("easy", "estimate").unwrap()
    }

    #[test]
    fn there_are_32_and_each_has_a_name() {
        let all = Scenario::all();
        assert_eq!(
            (all.len(), all[0].to_string(), all[31].to_string()),
            (32, "1K-equal-I".into(), "256K-unequal-IV".into())
        );
        for scenario in &all {
            assert_eq!(Scenario::parse(&scenario.to_string()).unwrap(), [*scenario]);
        }
        assert_eq!(Scenario::parse("all").unwrap(), all);
        assert_eq!(Scenario::parse("16K-*-II").unwrap().len(), 2);
        for text in ["", "2K-equal-I", "1K-equal", "1K-equal-V", "1K-equal-I-x"] {
            assert!(Scenario::parse(text).unwrap_err().to_string().contains("a scenario is SIZE-PARTITIONING-LOAD"));
        }
        // 120 days: a job every 15 minutes in the first queue, every hour in the second, every two hours in the others.
        assert_eq!(all[0].jobs(120), 11_520 + 2880 + 1440 + 1440);
    }

    #[test]
    fn queues_have_the_jobs_of_tables_5_and_6() {
        let scenario = Scenario { size: 1, partitioning: Partitioning::Unequal, load: 1 };
        let system = scenario.system(&setting(), 120, 3).unwrap();
        assert_eq!(system.machines.iter().map(|machine| machine.procs).collect::<Vec<_>>(), [128, 128, 256, 512]);
        let limits = [(32, 12 * HOUR, 900.0), (64, 18 * HOUR, 3600.0), (128, DAY, 3600.0), (256, 2 * DAY, 3600.0)];
        for (queue, (procs, longest, gap)) in limits.into_iter().enumerate() {
            let jobs: Vec<&Job> = system.arrivals.iter().filter(|a| a.origin == queue).map(|a| &a.job).collect();
            assert!(jobs.iter().all(|job| job.submission.procs <= procs && job.runtime <= longest));
            assert!(jobs.iter().all(|job| (job.runtime..=longest).contains(&job.submission.estimate)));
            // The largest request and the longest estimate occur.
            assert_eq!(jobs.iter().map(|job| job.submission.procs).max(), Some(procs));
            assert_eq!(jobs.iter().map(|job| job.submission.estimate).max(), Some(longest));
            let last = jobs.last().unwrap().submission.submit as f64;
            assert!((last / jobs.len() as f64 / gap - 1.0).abs() < 0.01, "queue {queue}: {}", last / jobs.len() as f64);
        }
    }

    #[test]
    fn partitionings_share_their_jobs_and_seeds_do_not() {
        let scenario = |partitioning| Scenario { size: 16, partitioning, load: 0 };
        let jobs = |partitioning, seed| {
            let system = scenario(partitioning).system(&setting(), 5, seed).unwrap();
            system.arrivals.iter().map(|arrival| arrival.job).collect::<Vec<_>>()
        };
        assert_eq!(jobs(Partitioning::Equal, 1), jobs(Partitioning::Unequal, 1));
        assert_ne!(jobs(Partitioning::Equal, 1), jobs(Partitioning::Equal, 2));
    }
}
