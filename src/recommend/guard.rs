//! What the candidates compete for, and what they must not break.

use std::fmt;

use crate::metrics::columns::{AREA_LOSE, columns};
use crate::metrics::{Better, Column, Replicates, Shown, When};
use crate::similar::did_you_mean;
use crate::spec::SpecError;
use crate::time::parse_duration;

/// The figures that can be better or worse.
pub fn figures() -> impl Iterator<Item = &'static Column> {
    columns(When::Baseline.into()).filter(|column| column.better.is_some() && !column.is_gain())
}

/// A figure by its name in results; `wait` and `bsld` are short for the means.
///
/// # Errors
/// If there is no such figure, or if neither lower nor higher values of it are better. The message lists all.
pub fn figure(text: &str) -> Result<&'static Column, SpecError> {
    let mean = format!("{text}_mean");
    // The share of the area, in the words of a guard.
    let name = if text == "users_lose_area" { AREA_LOSE.name } else { text };
    figures().find(|column| column.name == name || column.name == mean).ok_or_else(|| {
        let names: Vec<&str> = figures().map(|column| column.name).collect();
        let hint = did_you_mean(text, names.iter().copied());
        SpecError(format!(
            "'{text}' is not a figure that can be better or worse{hint}: write one of {}",
            names.join(", ")
        ))
    })
}

/// The limits that hold unless the same figure is given another one: nobody starves for the gain of others.
pub const DEFAULT_GUARDS: [&str; 3] = ["wait_max=1.5x", "wide_wait_mean=1.5x", "users_lose_area=25%"];

/// The word that turns the defaults off.
pub const NO_GUARDS: &str = "none";

/// The limits that are given, and the defaults of other figures, unless they are turned off.
///
/// # Errors
/// If one is not a guard.
pub fn guards(given: &[impl AsRef<str>]) -> Result<Vec<Guard>, SpecError> {
    let own = given.iter().map(AsRef::as_ref).filter(|text| *text != NO_GUARDS);
    let own: Vec<Guard> = own.map(Guard::parse).collect::<Result<_, _>>()?;
    if given.iter().any(|text| text.as_ref() == NO_GUARDS) {
        return Ok(own);
    }
    let defaults = DEFAULT_GUARDS.map(|text| Guard::parse(text).expect("the defaults are guards"));
    let is_open = |guard: &Guard| own.iter().all(|own| own.column.name != guard.column.name);
    Ok(defaults.into_iter().filter(is_open).chain(own.clone()).collect())
}

/// A limit of a figure: a candidate beyond it is out.
#[derive(Clone, Debug)]
pub struct Guard {
    /// The figure.
    pub column: &'static Column,
    limit: Limit,
    text: String,
}

#[derive(Clone, Copy, Debug)]
enum Limit {
    /// A multiple of the figure of the present setting.
    Times(f64),
    /// A number in the unit of the figure.
    Number(f64),
}

impl Guard {
    /// Reads `wait_max=2x` (at most twice that of the present setting), `wait_max=3d` or `users_lose_pct=10` (at most so
    /// much). If higher values are better, it is the least.
    ///
    /// # Errors
    /// If it has another form.
    pub fn parse(text: &str) -> Result<Guard, SpecError> {
        let wrong = || {
            SpecError(format!("'{text}' is not a guard such as wait_max=2x, wait_max=3d, users_lose_pct=10 or none"))
        };
        let (name, limit) = text.split_once('=').ok_or_else(wrong)?;
        let column = figure(name)?;
        let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
        let limit = match limit.strip_suffix('x') {
            Some(times) if column.needs_baseline() => {
                let why = format!("{name} is a comparison with the present setting: write {name}={times}, without x");
                return Err(SpecError(why));
            }
            Some(times) => Limit::Times(number(times).ok_or_else(wrong)?),
            None => {
                let seconds = || parse_duration(limit).ok().map(|seconds| seconds as f64);
                let percent = || number(limit.strip_suffix('%')?).filter(|_| column.shown == Shown::Percent);
                Limit::Number(number(limit).or_else(percent).or_else(seconds).ok_or_else(wrong)?)
            }
        };
        Ok(Guard { column, limit, text: text.to_string() })
    }

    /// Whether the mean figure of these runs is beyond the limit. The baseline of the runs is the present setting. A figure
    /// that is not defined breaks nothing.
    pub fn is_broken(&self, runs: &Replicates<'_>) -> bool {
        self.is_broken_by(runs, 1.0)
    }

    /// The same for a limit that is so many times as wide.
    pub fn is_broken_by(&self, runs: &Replicates<'_>, times: f64) -> bool {
        let limit = match self.limit {
            Limit::Times(times) => times * runs.base_mean(self.column).mean,
            Limit::Number(number) => number,
        };
        let figure = runs.mean(self.column).mean;
        match self.column.better {
            Some(Better::Higher) => figure < limit / times,
            _ => figure > limit * times,
        }
    }

    /// In how many of the runs on resamples it is broken. Users who lose are pooled over all of them, so a limit of these is broken in
    /// all or in none.
    pub fn broken_in(&self, runs: &Replicates<'_>) -> usize {
        if self.column.needs_baseline() {
            return if self.is_broken(runs) { runs.drawn().len() } else { 0 };
        }
        runs.drawn().filter(|&row| self.is_broken(&Replicates::each([row]))).count()
    }
}

impl fmt::Display for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{Baseline, Losers, RunRow, Summary};

    fn run(wait_max: f64, base: f64, users_pct: f64) -> RunRow {
        let summary = |wait_max: f64| Summary { wait_max, jain: wait_max / 100.0, ..Summary::default() };
        let losers = Losers { users_pct, area_pct: 0.0 };
        let baseline =
            Some(Baseline { name: "easy/estimate".to_string(), summary: summary(base), losers, ..Baseline::default() });
        RunRow { summary: summary(wait_max), baseline, ..RunRow::default() }
    }

    #[test]
    fn a_given_guard_replaces_the_default_of_its_figure() {
        let of = |given: &[&str]| -> Vec<String> { guards(given).unwrap().iter().map(Guard::to_string).collect() };
        assert_eq!(of(&[]), DEFAULT_GUARDS);
        assert_eq!(of(&["wait_max=3d"]), ["wide_wait_mean=1.5x", "users_lose_area=25%", "wait_max=3d"]);
        assert_eq!(of(&["area_lose_pct=5"]), ["wait_max=1.5x", "wide_wait_mean=1.5x", "area_lose_pct=5"]);
        assert_eq!(of(&["none"]), [""; 0]);
        assert_eq!(of(&["none", "jain=0.9x"]), ["jain=0.9x"]);
        assert!(guards(&["wait_max=7%"]).is_err() && guards(&["nobody=1x"]).is_err());
    }

    #[test]
    fn guards_are_multiples_or_numbers() {
        let broken = |guard: &str, run: &RunRow| Guard::parse(guard).unwrap().is_broken(&Replicates::each([run]));
        let some = run(50.0, 20.0, 10.0);
        assert!(broken("wait_max=2x", &some) && !broken("wait_max=2.5x", &some));
        assert!(broken("wait_max=49", &some) && !broken("wait_max=50", &some) && !broken("wait_max=1m", &some));
        assert!(broken("users_lose_pct=9.9", &some) && !broken("users_lose_pct=10", &some));
        assert!(broken("users_lose_pct=9.9%", &some) && !broken("users_lose_area=0%", &some));
        // Of Jain's index higher values are better: the guard is the least.
        assert!(broken("jain=3x", &some) && !broken("jain=2.5x", &some) && !broken("jain=0.5", &some));
    }

    #[test]
    fn wrong_guards_say_what_is_right() {
        for (text, part) in [
            ("wait_max", "wait_max=2x"),
            ("wait_max=x", "wait_max=2x"),
            ("wait_max=-1x", "wait_max=2x"),
            ("wait_mx=2x", "wait_max"),
            ("backfilled=2x", "can be better or worse"),
            ("users_lose_pct=2x", "users_lose_pct=2, without x"),
        ] {
            let error = Guard::parse(text).unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
        assert_eq!(figure("wait").unwrap().name, "wait_mean");
        assert_eq!(figure("bsld_p95").unwrap().name, "bsld_p95");
    }
}
