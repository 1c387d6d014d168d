//! Strategies side by side on one workload, in either view or both; and on many workloads at once.

use super::figures::MalleableFigures;
use super::line::CorrectionLine;
use super::schedule::{MalleableSchedule, StudyView, schedule_malleable};
use super::strategy::{Rule, Strategy};
use super::workload::{MalleableJob, MalleableWorkload, WorkloadError};
use crate::parallel;

/// One strategy in one view.
#[derive(Clone, Debug)]
pub struct StudyCase {
    pub strategy: Strategy,
    pub view: StudyView,
}

/// A case that has been run.
#[derive(Clone, Debug)]
pub struct CaseOutcome {
    pub figures: MalleableFigures,
    /// The line its predictions were corrected by, from a pilot run.
    pub line: Option<CorrectionLine>,
    /// Only if it was asked for.
    pub schedule: Option<MalleableSchedule>,
}

/// Runs all cases on one workload, on so many threads. Pilot runs are made once for all that want them; a case that is a
/// pilot run itself is not run again.
pub fn run_cases(
    jobs: &[MalleableJob],
    workload: &MalleableWorkload,
    cases: &[StudyCase],
    keep: bool,
    threads: usize,
    watch: impl Fn(usize) + Sync,
) -> Vec<CaseOutcome> {
    let MalleableWorkload { procs, days, .. } = *workload;
    let mut pilots: Vec<(Rule, StudyView)> = Vec::new();
    for case in cases {
        let pilot = case.strategy.pilot().map(|rule| (rule, case.view));
        pilots.extend(pilot.filter(|pilot| !pilots.contains(pilot)));
    }
    // Those first that others wait for.
    let plain = cases.iter().filter(|case| case.strategy.pilot().is_none()).map(|case| (case.strategy.rule, case.view));
    let mut first = pilots.clone();
    first.extend(plain.filter(|case| !pilots.contains(case)));
    let run = |rule: Rule, view: StudyView, line: Option<CorrectionLine>| {
        let schedule = schedule_malleable(jobs, procs, rule, view, line);
        let figures = MalleableFigures::of(jobs, procs, days, &schedule);
        (schedule.scatter().line(), CaseOutcome { figures, line, schedule: keep.then_some(schedule) })
    };
    let made = parallel::map(&first, threads, |(rule, view)| run(*rule, *view, None), &watch);
    let line_of = |case: &StudyCase| {
        let pilot = (case.strategy.pilot()?, case.view);
        made[pilots.iter().position(|other| *other == pilot)?].0
    };
    let second: Vec<(&StudyCase, Option<CorrectionLine>)> =
        cases.iter().filter(|case| case.strategy.pilot().is_some()).map(|case| (case, line_of(case))).collect();
    let corrected = |(case, line): &(&StudyCase, Option<CorrectionLine>)| run(case.strategy.rule, case.view, *line).1;
    let done = first.len();
    let mut corrected = parallel::map(&second, threads, corrected, |more| watch(done + more)).into_iter();
    let outcome = |case: &StudyCase| match case.strategy.pilot() {
        Some(_) => corrected.next().expect("each was run"),
        None => {
            let key = (case.strategy.rule, case.view);
            made[first.iter().position(|other| *other == key).expect("each was run")].1.clone()
        }
    };
    cases.iter().map(outcome).collect()
}

/// How many runs [`run_cases`] makes of these, at most.
pub fn most_runs(cases: &[StudyCase]) -> usize {
    cases.len() + cases.iter().filter(|case| case.strategy.pilot().is_some()).count()
}

/// The figures of all cases on each of these workloads, spread over threads by workload.
pub fn run_workloads(
    workloads: &[MalleableWorkload],
    cases: &[StudyCase],
    threads: usize,
    watch: impl Fn(usize) + Sync,
) -> Result<Vec<Vec<MalleableFigures>>, WorkloadError> {
    let run = |workload: &MalleableWorkload| {
        let jobs = workload.generate()?;
        let outcomes = run_cases(&jobs, workload, cases, false, 1, |_| ());
        Ok(outcomes.into_iter().map(|outcome| outcome.figures).collect())
    };
    parallel::map(workloads, threads, run, watch).into_iter().collect()
}
