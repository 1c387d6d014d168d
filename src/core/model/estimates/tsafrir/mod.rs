//! The model of Tsafrir, Etsion and Feitelson, "Modeling user runtime estimates" (2005): few round values; the largest one
//! is the most popular.
//!
//! A distribution is a series of modes. [`times`] computes their number and their times, [`sizes`] their sizes, [`mapping`]
//! which time has which size, and [`counts`] the numbers of jobs. Sections and tables are those of the paper. If the paper
//! rounds a constant, this code has the value of the authors' program.

mod counts;
mod mapping;
mod sizes;
mod times;

use rand::seq::SliceRandom;

use super::assignment::assign_longest_first;
use super::{Assignment, HEAD, Mode, Sample, Seeds, largest_estimate};
use crate::rng::stream;
use crate::sort::sort_by_key;
use crate::spec::{Form, Key, Kind, Spec};
use crate::time::{HOUR, MINUTE, Seconds, parse_duration, print_duration};

use counts::Bin;
use sizes::HeadSizes;

pub static FORM: Form = Form {
    name: "tsafrir",
    about: "few round values, the largest the most popular (Tsafrir, Etsion and Feitelson)",
    keys: &[
        Key {
            name: "tmax",
            kind: Kind::Text {
                what: "a duration of whole minutes, or log",
                canonical: |text| or_word(text, "log", |text| minutes(text).map(print_duration)),
            },
            default: "log",
            about: "the longest estimate; log: the log's own, or without any its longest runtime in whole hours",
        },
        Key {
            name: "at-tmax",
            kind: Kind::Text {
                what: "a number from 0 to 100, or model",
                canonical: |text| or_word(text, "model", |text| number(text, 0.0, 100.0)),
            },
            default: "model",
            about: "the percentage of the jobs that have it; model: 21.73",
        },
        Key {
            name: "pairs",
            kind: Kind::Text {
                what: "TIME:PERCENT/TIME:PERCENT/..., or none",
                canonical: |text| or_word(text, "none", |text| parse_pairs(text).map(|pairs| print_pairs(&pairs))),
            },
            default: "none",
            about: "other estimates that are known to be popular",
        },
        Key {
            name: "alpha",
            kind: Kind::Text { what: "a number above 0, or table", canonical: canonical_alpha },
            default: "table",
            about: "alpha * jobs^beta different estimates (if only beta is given: 0.653566); table: the paper's Table 3",
        },
        Key {
            name: "beta",
            kind: Kind::Text { what: "a number from 0 to 1, or table", canonical: canonical_beta },
            default: "table",
            about: "see alpha (if only alpha is given: 0.547761)",
        },
    ],
};

/// The fit of K = alpha N^beta to the paper's four logs, as in the authors' program. (Fig. 7 of the paper prints 1.1 and
/// 0.5.)
const FITTED: (f64, f64) = (0.653566, 0.547761);

/// Reads a number within bounds. Returns it as it is printed.
fn number(text: &str, least: f64, most: f64) -> Result<String, String> {
    match text.parse::<f64>() {
        Ok(number) if (least..=most).contains(&number) => Ok(number.to_string()),
        _ => Err(format!("'{text}' is not a number from {least} to {most}")),
    }
}

/// Reads a duration of whole minutes, at least one.
fn minutes(text: &str) -> Result<Seconds, String> {
    match parse_duration(text)? {
        seconds if seconds >= MINUTE && seconds % MINUTE == 0 => Ok(seconds),
        seconds => Err(format!("{} is not a whole number of minutes, at least one", print_duration(seconds))),
    }
}

fn or_word(text: &str, word: &str, other: impl Fn(&str) -> Result<String, String>) -> Result<String, String> {
    if text == word { Ok(text.to_string()) } else { other(text) }
}

fn canonical_alpha(text: &str) -> Result<String, String> {
    let wrong = format!("'{text}' is not a number above 0, or table");
    or_word(text, "table", |text| match number(text, 0.0, 1e6) {
        Ok(number) if number != "0" && number != "-0" => Ok(number),
        _ => Err(wrong.clone()),
    })
}

fn canonical_beta(text: &str) -> Result<String, String> {
    or_word(text, "table", |text| number(text, 0.0, 1.0).map_err(|why| format!("{why}, or table")))
}

/// An estimate that is known to be popular (section 9.4).
#[derive(Clone, Copy, Debug, PartialEq)]
struct PopularEstimate {
    time: Seconds,
    percent: f64,
}

/// Reads `15m:16/30m:18`. Returns the pairs in order of time.
fn parse_pairs(text: &str) -> Result<Vec<PopularEstimate>, String> {
    let mut pairs = Vec::new();
    for piece in text.split('/') {
        let wrong = || format!("'{piece}' is not TIME:PERCENT, such as 15m:16/30m:18");
        let (time, percent) = piece.split_once(':').ok_or_else(wrong)?;
        let percent = number(percent, 0.0, 100.0)?.parse().expect("a number was checked");
        pairs.push(PopularEstimate { time: minutes(time)?, percent });
    }
    sort_by_key(&mut pairs, |pair| pair.time);
    match pairs.windows(2).find(|two| two[0].time == two[1].time) {
        Some(two) => Err(format!("{} is given twice", print_duration(two[0].time))),
        None => Ok(pairs),
    }
}

fn print_pairs(pairs: &[PopularEstimate]) -> String {
    let texts: Vec<_> = pairs.iter().map(|pair| format!("{}:{}", print_duration(pair.time), pair.percent)).collect();
    texts.join("/")
}

/// The parameters of the model.
struct Parameters {
    /// None: from the log.
    tmax: Option<Seconds>,
    at_tmax: Option<f64>,
    pairs: Vec<PopularEstimate>,
    /// None: the linear model of Table 3.
    power: Option<(f64, f64)>,
}

impl Parameters {
    fn of(spec: &Spec) -> Parameters {
        let unless = |key: &str, word: &str| Some(spec.text(key)).filter(|text| *text != word);
        let real = |key: &str, word: &str| unless(key, word).map(|_| spec.real(key));
        let (alpha, beta) = (real("alpha", "table"), real("beta", "table"));
        let power = (alpha.is_some() || beta.is_some()).then(|| (alpha.unwrap_or(FITTED.0), beta.unwrap_or(FITTED.1)));
        Parameters {
            tmax: unless("tmax", "log").map(|_| spec.duration("tmax")),
            at_tmax: real("at-tmax", "model"),
            pairs: unless("pairs", "none")
                .map_or(Vec::new(), |text| parse_pairs(text).expect("checked when it was read")),
            power,
        }
    }

    /// Sets the longest estimate and checks what depends on it. A pair may give its percentage.
    fn with_tmax(mut self, tmax: Seconds) -> Result<Parameters, String> {
        self.tmax = Some(tmax);
        let (time, longest) = (print_duration, print_duration(tmax));
        if let Some(pair) = self.pairs.iter().find(|pair| pair.time > tmax) {
            return Err(format!("pairs: {} is longer than tmax, {longest}", time(pair.time)));
        }
        if let Some(pair) = self.pairs.pop_if(|pair| pair.time == tmax)
            && self.at_tmax.replace(pair.percent).is_some()
        {
            return Err(format!("at-tmax and pairs both say how many jobs have {longest}"));
        }
        match self.pairs.len() {
            count if count >= HEAD => Err(format!("{count} pairs; there is room for {} beside tmax", HEAD - 1)),
            _ => Ok(self),
        }
    }
}

/// Checks combinations of keys.
pub fn check(spec: &Spec) -> Result<(), String> {
    let parameters = Parameters::of(spec);
    let sum = parameters.pairs.iter().map(|pair| pair.percent).sum::<f64>() + parameters.at_tmax.unwrap_or(0.0);
    // Decimals with the sum 100 may have a slightly larger sum as floats.
    if sum > 100.0 + 1e-9 {
        return Err(format!("pairs and at-tmax are {sum}% of the jobs together, more than all of them"));
    }
    match parameters.tmax {
        Some(tmax) => parameters.with_tmax(tmax).map(drop),
        None => Ok(()),
    }
}

pub fn assign(spec: &Spec, jobs: &[Sample], seeds: Seeds) -> Result<Assignment, String> {
    if jobs.is_empty() {
        return Ok(Assignment::default());
    }
    let parameters = Parameters::of(spec);
    let tmax = parameters.tmax.unwrap_or_else(|| tmax_of(jobs));
    let modes = modes(&parameters.with_tmax(tmax)?, tmax, jobs.len(), seeds.distribution);
    let estimates = modes.iter().flat_map(|mode| std::iter::repeat_n(mode.estimate, mode.jobs as usize)).collect();
    let runtimes: Vec<Seconds> = jobs.iter().map(|job| job.runtime).collect();
    Ok(assign_longest_first(&runtimes, estimates, &mut stream(seeds.draws, "estimates tsafrir assignment")))
}

/// The default of the longest estimate: the jobs' largest one, rounded up to minutes; if they have none, their longest
/// runtime rounded up to hours, as in cleaning.
fn tmax_of(jobs: &[Sample]) -> Seconds {
    let (seconds, unit) = match largest_estimate(jobs) {
        Some(estimate) => (estimate, MINUTE),
        None => (jobs.iter().map(|job| job.runtime).max().unwrap_or(1), HOUR),
    };
    (seconds.max(1) + unit - 1) / unit * unit
}

/// The model's output (section 10): the number of jobs of each estimate, the shortest first.
fn modes(parameters: &Parameters, tmax: Seconds, jobs: usize, seed: u64) -> Vec<Mode> {
    let Parameters { at_tmax, pairs, power, .. } = parameters;
    let count = times::how_many(jobs, *power).max(1 + pairs.len()).min((tmax / MINUTE) as usize);
    let pair_times: Vec<Seconds> = pairs.iter().map(|pair| pair.time).collect();
    let head = times::with_pairs(times::head(tmax, count.min(HEAD)), &pair_times, count.min(HEAD));
    let mut tail = times::tail(times::all(count, tmax), &head);

    let head_sizes = HeadSizes::new(head.len(), tmax, *at_tmax, pairs, !tail.is_empty());
    let tail_sizes = sizes::tail(tail.len(), 100.0 - head_sizes.sum());
    let ranks = mapping::ranks(&head, &head_sizes, &mut stream(seed, "estimates tsafrir head"));
    // "Tail estimates are roughly randomly mapped to times" (section 9.1).
    tail.shuffle(&mut stream(seed, "estimates tsafrir tail"));

    let bin = |time: Seconds, percent: f64, is_given: bool| Bin { time, percent, is_given };
    let head =
        head.iter().zip(ranks).map(|(&time, rank)| bin(time, head_sizes.percent(rank), head_sizes.is_given(rank)));
    let tail = tail.iter().zip(tail_sizes).map(|(&time, percent)| bin(time, percent, false));
    counts::of_jobs(&head.chain(tail).collect::<Vec<_>>(), jobs as u64)
}

/// Tests of the whole model against the statements of the paper.
#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{EstimateModel, Modes};

    /// Jobs with log-uniform runtimes up to `longest`, most of them far shorter than any estimate.
    fn jobs(count: usize, longest: Seconds) -> Vec<Sample> {
        use rand::RngExt;
        let mut rng = stream(1, "test runtimes");
        let runtime = |_| libm::pow(longest as f64, rng.random::<f64>()) as Seconds;
        (0..count).map(runtime).map(|runtime| Sample { runtime, estimate: None, user: -1 }).collect()
    }

    fn assigned(spec: &str, jobs: &[Sample], seed: u64) -> Assignment {
        EstimateModel::parse(spec).unwrap().assign(jobs, seed).unwrap()
    }

    fn close(found: f64, expected: f64, by: f64) -> bool {
        (found - expected).abs() <= by
    }

    #[test]
    fn the_invariants_of_the_default_model() {
        let jobs = jobs(77_222, 12 * HOUR);
        for seed in 0..5 {
            let assignment = assigned("tsafrir:tmax=18h", &jobs, seed);
            assert_eq!((assignment.cut, assignment.short), (0, 0));
            assert!(jobs.iter().zip(&assignment.estimates).all(|(job, &estimate)| estimate >= job.runtime));
            assert!(assignment.estimates.iter().all(|estimate| estimate % MINUTE == 0 && *estimate > 0));
            let modes = Modes::of(assignment.estimates);
            // K of 77,222 jobs; the head holds 89%; the longest is the most popular.
            assert_eq!((modes.count(), modes.tmax()), (349, Some(18 * HOUR)));
            assert!(close(modes.percent_in_head(), 89.0, 0.1), "{}", modes.percent_in_head());
            assert_eq!(modes.head()[0].estimate, 18 * HOUR);
            let at_tmax = modes.percent_at(18 * HOUR);
            assert!(close(at_tmax, 21.73, 0.05), "{at_tmax}");
            // Table 2: "a bit more than 20 head bins are enough to account for 90% of the jobs in all four logs"; half of
            // the jobs use 3 to 6 values, three quarters 8 to 12.
            assert!((20..=24).contains(&modes.covering(90.0)), "{}", modes.covering(90.0));
            assert!((3..=6).contains(&modes.covering(50.0)) && (8..=12).contains(&modes.covering(75.0)));
            // Every head time has a size of the head.
            let mut head: Vec<_> = modes.head().iter().map(|mode| mode.estimate).collect();
            head.sort_unstable();
            let mut expected = times::head(18 * HOUR, HEAD);
            expected.sort_unstable();
            assert_eq!(head, expected);
        }
    }

    /// The estimates have the parameters that were given to the model.
    #[test]
    fn what_is_given_comes_back() {
        let jobs = jobs(20_000, HOUR);
        let k = |alpha: f64, beta: f64| (alpha * libm::pow(20_000.0, beta)).round() as usize;
        for (spec, tmax, at_tmax, count) in [
            ("tsafrir:tmax=18h,at-tmax=23.8", 18 * HOUR, 23.8, 132),
            ("tsafrir:tmax=18h,at-tmax=9.8", 18 * HOUR, 9.8, 132),
            ("tsafrir:tmax=4h,at-tmax=12.5,pairs=5m:25", 4 * HOUR, 12.5, 132),
            ("tsafrir:tmax=36h,at-tmax=1,pairs=2h:27/15m:16/30m:18", 36 * HOUR, 1.0, 132),
            ("tsafrir:tmax=36h,pairs=2h:27/36h:1", 36 * HOUR, 1.0, 132),
            ("tsafrir:tmax=60h,at-tmax=60,alpha=1.1,beta=0.5", 60 * HOUR, 60.0, k(1.1, 0.5)),
            ("tsafrir:tmax=60h,at-tmax=5,alpha=1.25", 60 * HOUR, 5.0, k(1.25, 0.547761)),
            ("tsafrir:tmax=60h,at-tmax=5,beta=0.4", 60 * HOUR, 5.0, k(0.653566, 0.4)),
        ] {
            let modes = Modes::of(assigned(spec, &jobs, 3).estimates);
            assert_eq!((modes.tmax(), modes.count()), (Some(tmax), count), "{spec}");
            assert!(close(modes.percent_at(tmax), at_tmax, 1e-9), "{spec}: {}", modes.percent_at(tmax));
            // Where the longest takes most of the head, the smallest of it are no larger than the largest of the tail.
            assert!(
                close(modes.percent_in_head(), 89.0, if at_tmax > 50.0 { 0.7 } else { 0.3 }),
                "{spec}: {}",
                modes.percent_in_head()
            );
        }
        let modes = Modes::of(assigned("tsafrir:tmax=36h,at-tmax=1,pairs=2h:27/15m:16/30m:18", &jobs, 3).estimates);
        assert_eq!([120, 15, 30].map(|minutes| modes.percent_at(minutes * MINUTE)), [27.0, 16.0, 18.0]);
        assert_eq!(modes.head()[0].estimate, 2 * HOUR);
    }

    #[test]
    fn given_sizes_of_more_than_the_head_leave_the_tail_the_rest() {
        let modes = Modes::of(assigned("tsafrir:tmax=18h,at-tmax=50,pairs=1h:45", &jobs(20_000, HOUR), 1).estimates);
        assert_eq!((modes.percent_at(18 * HOUR), modes.percent_at(HOUR)), (50.0, 45.0));
        // The 18 others of the head have nothing; the 112 of the tail share 5%.
        assert_eq!(modes.count(), 132 - 18);
        let all = Modes::of(assigned("tsafrir:tmax=18h,at-tmax=100", &jobs(1000, HOUR), 1).estimates);
        assert_eq!((all.count(), all.tmax()), (1, Some(18 * HOUR)));
    }

    #[test]
    fn the_longest_estimate_is_the_logs_own_unless_it_is_given() {
        let job = |runtime, estimate| Sample { runtime, estimate, user: -1 };
        let longest = |jobs: &[Sample]| assigned("tsafrir:at-tmax=50", jobs, 1).estimates.into_iter().max();
        // The largest estimate in whole minutes; without any the longest runtime in whole hours.
        assert_eq!(longest(&[job(5, Some(7000)), job(5, None), job(9000, Some(1))]), Some(7020));
        assert_eq!(longest(&[job(5, None), job(3601, None), job(7, None)]), Some(2 * HOUR));
        let error = EstimateModel::parse("tsafrir:pairs=3h:5").unwrap().assign(&[job(5, Some(3600))], 1).unwrap_err();
        assert_eq!(error, "pairs: 3h is longer than tmax, 1h");
    }

    #[test]
    fn runtimes_beyond_the_longest_estimate_are_cut_and_too_many_long_ones_counted() {
        let mut jobs = jobs(1000, HOUR);
        jobs[..100].iter_mut().for_each(|job| job.runtime = 20 * HOUR);
        jobs[100..200].iter_mut().for_each(|job| job.runtime = 18 * HOUR);
        let assignment = assigned("tsafrir:tmax=18h,at-tmax=15", &jobs, 1);
        // 150 jobs have 18 hours; the other 50 of the long ones take what is the longest then.
        assert_eq!((assignment.cut, assignment.short), (100, 50));
        assert!(assignment.estimates[..100].iter().all(|&estimate| estimate == 18 * HOUR));
    }

    #[test]
    fn any_number_of_jobs_and_any_limit() {
        for count in [1, 2, 3, 7, 19, 20, 21, 100, 199, 200, 201, 500, 3000] {
            for tmax in ["1m", "3m", "1h", "100m", "18h", "400h", "3650d"] {
                for more in ["", ",at-tmax=50", ",at-tmax=0", ",pairs=1m:30"] {
                    let spec = format!("tsafrir:tmax={tmax}{more}");
                    let jobs = jobs(count, 50);
                    let assignment = assigned(&spec, &jobs, 5);
                    assert_eq!((assignment.estimates.len(), assignment.cut, assignment.short), (count, 0, 0), "{spec}");
                    let modes = Modes::of(assignment.estimates);
                    assert!(modes.count() <= times::how_many(count, None).max(2), "{spec} of {count}");
                }
            }
        }
    }

    /// The distributions of two seeds differ (where modes lie is drawn), but not by more than the paper's Fig. 14 shows.
    #[test]
    fn seeds_change_the_mapping_but_not_the_shape() {
        let jobs = jobs(20_000, HOUR);
        let estimates = |seed| assigned("tsafrir:tmax=18h,at-tmax=23.8", &jobs, seed).estimates;
        let distances: Vec<f64> =
            (1..10).map(|seed| crate::model::ks_distance(&estimates(0), &estimates(seed))).collect();
        assert!(distances.iter().all(|distance| (0.01..0.25).contains(distance)), "{distances:?}");
    }
}
