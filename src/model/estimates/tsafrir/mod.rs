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
use super::values::{minutes, number};
use super::{Assignment, HEAD, Mode, Sample, Seeds, largest_estimate};
use crate::rng::stream;
use crate::spec::{Form, Key, Kind, Spec};
use crate::time::{HOUR, MINUTE, Seconds, print_duration};

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
struct Pair {
    time: Seconds,
    percent: f64,
}

/// Reads `15m:16/30m:18`. Returns the pairs in order of time.
fn parse_pairs(text: &str) -> Result<Vec<Pair>, String> {
    let mut pairs = Vec::new();
    for piece in text.split('/') {
        let wrong = || format!("'{piece}' is not TIME:PERCENT, such as 15m:16/30m:18");
        let (time, percent) = piece.split_once(':').ok_or_else(wrong)?;
        let percent = number(percent, 0.0, 100.0)?.parse().expect("a number was checked");
        pairs.push(Pair { time: minutes(time)?, percent });
    }
    pairs.sort_by_key(|pair| pair.time);
    match pairs.windows(2).find(|two| two[0].time == two[1].time) {
        Some(two) => Err(format!("{} is given twice", print_duration(two[0].time))),
        None => Ok(pairs),
    }
}

fn print_pairs(pairs: &[Pair]) -> String {
    let texts: Vec<_> = pairs.iter().map(|pair| format!("{}:{}", print_duration(pair.time), pair.percent)).collect();
    texts.join("/")
}

/// The parameters of the model.
struct Parameters {
    /// None: from the log.
    tmax: Option<Seconds>,
    at_tmax: Option<f64>,
    pairs: Vec<Pair>,
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

#[cfg(test)]
mod tests;
