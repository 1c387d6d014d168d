//! The runs: the variants of the workload, and what is measured in each.

use crate::malleable::{
    DaySequence, MalleableFigures, MalleableWorkload, Strategy, StudyCase, StudyView, run_cases, schedule_malleable,
};
use crate::reproduce::figure::{At, Figure};
use crate::reproduce::study::Setup;
use crate::stats::{percentile, range};

/// The days of the paper's workload.
pub const PAPER_DAYS: u32 = 120;

/// Workloads of settings that are not the paper's own, at most.
const MOST_ELSEWHERE: u64 = 5;

/// A setting of which all figures are measured.
pub struct Variant {
    pub name: String,
    /// What it changes: the load, the number of processors, ...
    pub kind: VariantKind,
    pub workload: MalleableWorkload,
    strategies: &'static [&'static str],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VariantKind {
    Paper,
    /// The paper's workload, read in another way.
    Reading,
    Load,
    Size,
    Applications,
    Information,
}

const FIVE: &[&str] = &["avg", "opt", "pred", "bias", "heur"];
/// Those of the paper's text, and what it leaves open: the ages and the lifetimes that predictors use, the exact median,
/// 6.1's costs.
const PAPER: &[&str] = &[
    "avg",
    "avg:min-share=0.4",
    "opt",
    "pred",
    "bias",
    "heur",
    "bias:lock-in=on",
    "bias:lock-in=on,risk=0.2",
    "pred:ages=literal",
    "bias:ages=literal",
    "bias:ages=literal,lock-in=on",
    "bias:ages=literal,lock-in=on,risk=0.2",
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
pub fn variants(days: u32) -> Vec<Variant> {
    let paper = MalleableWorkload { days, ..MalleableWorkload::default() };
    let variant =
        |name: &str, kind, workload, strategies| Variant { name: name.to_string(), kind, workload, strategies };
    let mut all = vec![
        variant("", VariantKind::Paper, paper, PAPER),
        variant("", VariantKind::Information, paper, INFORMED),
        variant("A up to 32", VariantKind::Applications, MalleableWorkload { max_parallelism: 32, ..paper }, FIVE),
        variant("sigma = 0", VariantKind::Applications, MalleableWorkload { max_sigma: 0.0, ..paper }, FIVE),
    ];
    let readings = [
        ("days=one", MalleableWorkload { sequence: DaySequence::Continuous, ..paper }),
        ("a=up", MalleableWorkload { whole_parallelism: true, ..paper }),
    ];
    all.extend(readings.map(|(name, workload)| variant(name, VariantKind::Reading, workload, FIVE)));
    for rho in [0.5, 0.6, 0.7, 0.8, 0.9, 1.0] {
        all.push(variant(&format!("load {rho:.1}"), VariantKind::Load, MalleableWorkload { rho, ..paper }, FIVE));
    }
    for procs in [32, 64, 256] {
        all.push(variant(
            &format!("{procs} processors"),
            VariantKind::Size,
            MalleableWorkload { procs, ..paper },
            FIVE,
        ));
    }
    all
}

/// A variant with one seed.
pub struct DowneyRun {
    cases: Vec<(&'static str, StudyView)>,
    figures: Vec<MalleableFigures>,
    /// Under PRED and BIAS, in the view of the application: the logarithms of actual over predicted queue times by the
    /// column of the prediction (of the paper's workload only).
    pub columns: [[Vec<f64>; COLUMNS.len()]; 2],
}

/// The columns of Figure 5: the name, and the longest predicted queue time in seconds.
pub const COLUMNS: [(&str, f64); 3] = [("up to 1 min", 60.0), ("1 to 10 min", 600.0), ("over 10 min", f64::INFINITY)];

impl DowneyRun {
    pub fn of(variant: &Variant, seed: u64) -> DowneyRun {
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
            VariantKind::Paper => ["pred", "bias"].map(|text| {
                let found = cases.iter().position(|case| *case == (text, StudyView::Application));
                let line = found.and_then(|at| outcomes[at].line);
                let made = schedule_malleable(&jobs, &workload, strategy(text).rule, StudyView::Application, line);
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
        DowneyRun { cases, figures: outcomes.into_iter().map(|outcome| outcome.figures).collect(), columns }
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
pub struct VariantRuns {
    pub variant: Variant,
    pub runs: Vec<DowneyRun>,
}

impl Variant {
    /// How many workloads there are of a variant: fewer where there is nothing to compare with.
    pub fn seeds(&self, setup: &Setup) -> u64 {
        if self.kind == VariantKind::Paper { setup.replications } else { setup.replications.min(MOST_ELSEWHERE) }
    }
}

impl VariantRuns {
    /// A number of each run, beside what was published. The paper's is one run: it may lie anywhere among ours.
    pub fn figure(&self, at: At<'_>, published: &str, number: impl Fn(&DowneyRun) -> f64) -> Figure {
        let values: Vec<f64> = self.runs.iter().map(number).collect();
        let range = range(values.iter().copied());
        let figure = Figure::first_of(at, published, &values);
        let figure = if at.2.contains('%') { figure.percent() } else { figure };
        Figure { range: (values.len() > 1).then_some(range), ..figure }
    }

    /// A number of jobs of each run, as many as there would be in the days of the paper.
    pub fn count(&self, at: At<'_>, published: &str, number: impl Fn(&DowneyRun) -> f64) -> Figure {
        let days = self.variant.workload.days;
        let scale = f64::from(PAPER_DAYS) / f64::from(days);
        let figure = self.figure(at, published, |run| number(run) * scale);
        match days {
            PAPER_DAYS => figure,
            _ => figure.noted(&format!("{days} days were run; the number is scaled to {PAPER_DAYS}")),
        }
    }
}

/// The median; NaN of nothing.
pub fn median(values: &[f64]) -> f64 {
    percentile(&mut values.to_vec(), 50.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_strategy_is_one_that_can_be_written() {
        for text in [FIVE, PAPER, INFORMED].concat() {
            assert_eq!(Strategy::parse(text).unwrap().to_string(), text);
        }
    }
}
