//! Strategies side by side on one workload, in either view or both; and on many workloads at once.

use super::figures::Figures;
use super::line::Line;
use super::schedule::{Schedule, View, schedule};
use super::strategy::{Rule, Strategy};
use super::workload::{MalleableJob, MalleableWorkload, WorkloadError};
use crate::parallel;

/// One strategy in one view.
#[derive(Clone, Debug)]
pub struct Case {
    pub strategy: Strategy,
    pub view: View,
}

/// A case that has been run.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub figures: Figures,
    /// The line its predictions were corrected by, from a pilot run.
    pub line: Option<Line>,
    /// Only if it was asked for.
    pub schedule: Option<Schedule>,
}

/// Runs all cases on one workload, on so many threads. Pilot runs are made once for all that want them; a case that is a
/// pilot run itself is not run again.
pub fn run_cases(
    jobs: &[MalleableJob],
    workload: &MalleableWorkload,
    cases: &[Case],
    keep: bool,
    threads: usize,
    watch: impl Fn(usize) + Sync,
) -> Vec<Outcome> {
    let MalleableWorkload { procs, days, .. } = *workload;
    let mut pilots: Vec<(Rule, View)> = Vec::new();
    for case in cases {
        let pilot = case.strategy.pilot().map(|rule| (rule, case.view));
        pilots.extend(pilot.filter(|pilot| !pilots.contains(pilot)));
    }
    // Those first that others wait for.
    let plain = cases.iter().filter(|case| case.strategy.pilot().is_none()).map(|case| (case.strategy.rule, case.view));
    let mut first = pilots.clone();
    first.extend(plain.filter(|case| !pilots.contains(case)));
    let run = |rule: Rule, view: View, line: Option<Line>| {
        let schedule = schedule(jobs, procs, rule, view, line);
        let figures = Figures::of(jobs, procs, days, &schedule);
        (schedule.scatter().line(), Outcome { figures, line, schedule: keep.then_some(schedule) })
    };
    let made = parallel::map(&first, threads, |(rule, view)| run(*rule, *view, None), &watch);
    let line_of = |case: &Case| {
        let pilot = (case.strategy.pilot()?, case.view);
        made[pilots.iter().position(|other| *other == pilot)?].0
    };
    let second: Vec<(&Case, Option<Line>)> =
        cases.iter().filter(|case| case.strategy.pilot().is_some()).map(|case| (case, line_of(case))).collect();
    let corrected = |(case, line): &(&Case, Option<Line>)| run(case.strategy.rule, case.view, *line).1;
    let done = first.len();
    let mut corrected = parallel::map(&second, threads, corrected, |more| watch(done + more)).into_iter();
    let outcome = |case: &Case| match case.strategy.pilot() {
        Some(_) => corrected.next().expect("each was run"),
        None => {
            let key = (case.strategy.rule, case.view);
            made[first.iter().position(|other| *other == key).expect("each was run")].1.clone()
        }
    };
    cases.iter().map(outcome).collect()
}

/// How many runs [`run_cases`] makes of these, at most.
pub fn most_runs(cases: &[Case]) -> usize {
    cases.len() + cases.iter().filter(|case| case.strategy.pilot().is_some()).count()
}

/// The figures of all cases on each of these workloads, spread over threads by workload.
pub fn run_workloads(
    workloads: &[MalleableWorkload],
    cases: &[Case],
    threads: usize,
    watch: impl Fn(usize) + Sync,
) -> Result<Vec<Vec<Figures>>, WorkloadError> {
    let run = |workload: &MalleableWorkload| {
        let jobs = workload.generate()?;
        let outcomes = run_cases(&jobs, workload, cases, false, 1, |_| ());
        Ok(outcomes.into_iter().map(|outcome| outcome.figures).collect())
    };
    parallel::map(workloads, threads, run, watch).into_iter().collect()
}
