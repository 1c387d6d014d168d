//! Downey, "Using queue time predictions for processor allocation" (1997): the runs behind Tables 1 and 2, Figure 5, the
//! figures of the text and the future work. What is published, and beside it measured, stands in `downey_tables.rs`.
//!
//! There is no log: a workload is drawn from the paper's model for each seed, and one in the paper is like any of ours.

use super::downey_tables::tables;
use super::figure::{At, Figure};
use crate::malleable::{
    MalleableFigures, MalleableWorkload, Strategy, StudyCase, StudyView, run_cases, schedule_malleable,
};
use crate::parallel;
use crate::stats::percentile;

/// The study.
pub struct Downey {
    /// How many workloads, with seeds from 1 on.
    pub replications: u64,
    /// Days of each; the paper's are 120.
    pub days: u32,
    pub threads: usize,
}

/// Workloads of settings that are not the paper's own, at most.
const MOST_ELSEWHERE: u64 = 5;

/// A setting of which all figures are measured.
pub struct Variant {
    pub name: String,
    /// What it stands for: a load, a number of processors, ...
    pub kind: Setting,
    pub workload: MalleableWorkload,
    strategies: &'static [&'static str],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    Paper,
    Load,
    Size,
    Applications,
    Information,
}

const FIVE: &[&str] = &["avg", "opt", "pred", "bias", "heur"];
/// Those of the paper's text, and what it leaves open: the lifetimes that predictors know, the exact median, 6.1's costs.
const PAPER: &[&str] = &[
    "avg",
    "avg:min-share=0.4",
    "opt",
    "pred",
    "bias",
    "heur",
    "bias:lock-in=on",
    "bias:lock-in=on,risk=0.2",
    "pred:life=fitted",
    "bias:life=fitted",
    "bias:fit=online",
    "pred:predictor=exact",
    "opt:cost=queue",
    "pred:cost=queue",
];
const INFORMED: &[&str] = &[
    "avg",
    "pred:classes=2",
    "bias:classes=2",
    "pred:classes=5",
    "bias:classes=5",
    "pred:classes=10",
    "bias:classes=10",
    "pred:classes=100",
    "bias:classes=100",
];

/// All that is run. The costly first, so that no thread is left with one at the end.
fn variants(days: u32) -> Vec<Variant> {
    let paper = MalleableWorkload { days, ..MalleableWorkload::default() };
    let variant =
        |name: &str, kind, workload, strategies| Variant { name: name.to_string(), kind, workload, strategies };
    let mut all = vec![
        variant("", Setting::Paper, paper, PAPER),
        variant("", Setting::Information, paper, INFORMED),
        variant("A up to 32", Setting::Applications, MalleableWorkload { max_parallelism: 32, ..paper }, FIVE),
        variant("sigma = 0", Setting::Applications, MalleableWorkload { max_sigma: 0.0, ..paper }, FIVE),
    ];
    for rho in [0.5, 0.6, 0.7, 0.8, 0.9, 1.0] {
        all.push(variant(&format!("load {rho:.1}"), Setting::Load, MalleableWorkload { rho, ..paper }, FIVE));
    }
    for procs in [32, 64, 256] {
        all.push(variant(&format!("{procs} processors"), Setting::Size, MalleableWorkload { procs, ..paper }, FIVE));
    }
    all
}

/// A variant with one seed.
pub struct Run {
    cases: Vec<(&'static str, StudyView)>,
    figures: Vec<MalleableFigures>,
    /// Under PRED and BIAS, in the view of the application: the logarithms of actual over predicted queue times by the
    /// column of the prediction (of the paper's workload only).
    pub columns: [[Vec<f64>; COLUMNS.len()]; 2],
}

/// Columns of Figure 5, by the predicted queue time, up to so many seconds.
pub const COLUMNS: [(&str, f64); 3] = [("up to 1 min", 60.0), ("1 to 10 min", 600.0), ("over 10 min", f64::INFINITY)];

impl Run {
    fn of(variant: &Variant, seed: u64) -> Run {
        let workload = MalleableWorkload { seed, ..variant.workload };
        let jobs = workload.generate().expect("the study's workloads can be made");
        let strategy = |text: &str| Strategy::parse(text).expect("a strategy of our own");
        let views = [StudyView::Application, StudyView::System];
        let cases: Vec<_> =
            views.iter().flat_map(|view| variant.strategies.iter().map(|text| (*text, *view))).collect();
        let asked: Vec<_> =
            cases.iter().map(|(text, view)| StudyCase { strategy: strategy(text), view: *view }).collect();
        let outcomes = run_cases(&jobs, &workload, &asked, false, 1, |_| ());
        let columns = match variant.kind {
            Setting::Paper => ["pred", "bias"].map(|text| {
                let found = cases.iter().position(|case| *case == (text, StudyView::Application));
                let line = found.and_then(|at| outcomes[at].line);
                let made = schedule_malleable(&jobs, workload.procs, strategy(text).rule, StudyView::Application, line);
                let mut columns = COLUMNS.map(|_| Vec::new());
                for pair in &made.pairs {
                    let at =
                        COLUMNS.iter().position(|(_, up_to)| pair.predicted <= *up_to).unwrap_or(COLUMNS.len() - 1);
                    columns[at].push(libm::log(pair.actual.max(1.0) / pair.predicted));
                }
                columns
            }),
            _ => Default::default(),
        };
        Run { cases, figures: outcomes.into_iter().map(|outcome| outcome.figures).collect(), columns }
    }

    fn find(&self, strategy: &str, view: StudyView) -> &MalleableFigures {
        let at = self.cases.iter().position(|case| *case == (strategy, view));
        &self.figures[at.unwrap_or_else(|| panic!("'{strategy}' was not run"))]
    }

    /// A strategy in the view of the application.
    pub fn alone(&self, strategy: &str) -> &MalleableFigures {
        self.find(strategy, StudyView::Application)
    }

    /// A strategy when everybody acts.
    pub fn system(&self, strategy: &str) -> &MalleableFigures {
        self.find(strategy, StudyView::System)
    }

    /// The change of the mean turnaround against AVG, in percent.
    pub fn turnaround_change(&self, strategy: &str) -> f64 {
        100.0 * (self.system(strategy).turnaround_mean / self.system("avg").turnaround_mean - 1.0)
    }

    pub fn utilization_change(&self, strategy: &str) -> f64 {
        100.0 * (self.system(strategy).utilization / self.system("avg").utilization - 1.0)
    }
}

/// The runs of a variant, by seed.
pub struct Measured {
    pub variant: Variant,
    pub runs: Vec<Run>,
}

impl Downey {
    /// How many steps there are to be told of.
    pub fn steps(&self) -> usize {
        variants(self.days).iter().map(|variant| self.seeds(variant) as usize).sum()
    }

    /// How many workloads there are of a variant: fewer where there is nothing to compare with.
    fn seeds(&self, variant: &Variant) -> u64 {
        if variant.kind == Setting::Paper { self.replications } else { self.replications.min(MOST_ELSEWHERE) }
    }

    /// The figures. The watcher is told after each step how many are done.
    pub fn figures(&self, watch: impl Fn(usize) + Sync) -> Vec<Figure> {
        let variants = variants(self.days);
        let of = |variant| (1..=self.seeds(variant)).map(move |seed| (variant, seed));
        let tasks: Vec<(&Variant, u64)> = variants.iter().flat_map(of).collect();
        let runs = parallel::map(&tasks, self.threads, |(variant, seed)| Run::of(variant, *seed), watch);
        let mut runs = runs.into_iter();
        let with_runs = |variant: Variant| {
            let seeds = self.seeds(&variant) as usize;
            Measured { variant, runs: runs.by_ref().take(seeds).collect() }
        };
        let measured: Vec<Measured> = variants.into_iter().map(with_runs).collect();
        tables(&measured)
    }
}

impl Measured {
    /// A number of each run, beside what was published. The paper's is one run: it may lie anywhere among ours.
    pub fn figure(
        &self,
        (table, row, column): At<'_>,
        published: &str,
        note: &str,
        number: impl Fn(&Run) -> f64,
    ) -> Figure {
        let values: Vec<f64> = self.runs.iter().map(number).collect();
        let place = place_among(published, &values);
        // A reason is wanted only where there is a difference.
        let note = match place {
            Place::Within => "published lies within the range of our runs".to_string(),
            Place::Outside(low, high) => {
                let decimals = if high < 1000.0 { decimals(published).max(1) } else { 0 };
                let range =
                    format!("published lies outside the range of our runs, {low:.decimals$} to {high:.decimals$}");
                if note.is_empty() { range } else { format!("{range}; {note}") }
            }
            Place::Unknown => note.to_string(),
        };
        Figure::new((table, row, column), published, values[0], &note).over(&values)
    }
}

enum Place {
    Within,
    Outside(f64, f64),
    /// Nothing published, or only one run.
    Unknown,
}

/// Whether a published number, as it is rounded, lies among these.
fn place_among(published: &str, values: &[f64]) -> Place {
    let Ok(number) = published.parse::<f64>() else { return Place::Unknown };
    if values.len() < 2 {
        return Place::Unknown;
    }
    let (low, high) = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(*v), h.max(*v)));
    let rounding = 0.5 / 10f64.powi(decimals(published) as i32);
    match number + rounding >= low && number - rounding <= high {
        true => Place::Within,
        false => Place::Outside(low, high),
    }
}

fn decimals(published: &str) -> usize {
    published.split_once('.').map_or(0, |(_, decimals)| decimals.len())
}

/// The median; NaN of nothing.
pub fn median(values: &[f64]) -> f64 {
    percentile(&mut values.to_vec(), 50.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_published_number_is_as_exact_as_it_is_printed() {
        let values = [12.6, 13.4, 14.2];
        assert!(matches!(place_among("13.5", &values), Place::Within));
        assert!(matches!(place_among("12", &values), Place::Outside(..)));
        assert!(matches!(place_among("12.6", &values), Place::Within));
        assert!(matches!(place_among("14.3", &values), Place::Outside(..)));
        assert!(matches!(place_among("15", &values), Place::Outside(..)));
        assert!(matches!(place_among("-3", &[-2.6, 1.0]), Place::Within));
        assert!(matches!(place_among("", &values), Place::Unknown));
        assert!(matches!(place_among("13", &values[..1]), Place::Unknown));
    }

    #[test]
    fn every_strategy_is_one_that_can_be_written() {
        for text in [FIVE, PAPER, INFORMED].concat() {
            assert_eq!(Strategy::parse(text).unwrap().to_string(), text);
        }
    }
}
