//! Compares strategies on one workload, in one view or both, and on many workloads.

use super::figures::MalleableFigures;
use super::line::CorrectionLine;
use super::schedule::{MalleableSchedule, StudyView, schedule_malleable};
use super::strategy::{Rule, Strategy};
use super::workload::{MalleableJob, MalleableWorkload};
use crate::parallel;

/// One strategy in one view.
#[derive(Clone, Debug)]
pub struct StudyCase {
    /// How jobs choose their processors.
    pub strategy: Strategy,
    /// Whether the decisions are acted upon.
    pub view: StudyView,
}

/// The results of one case.
#[derive(Clone, Debug)]
pub struct CaseOutcome {
    /// Computed from its schedule.
    pub figures: MalleableFigures,
    /// The line of a pilot run that its predictions were corrected by; None without a pilot run.
    pub line: Option<CorrectionLine>,
    /// None unless `keep` was set in [`run_cases`].
    pub schedule: Option<MalleableSchedule>,
}

/// Runs all cases on one workload with `threads` threads, and returns their outcomes in the same order. Schedules are
/// returned if `keep` is set. A pilot run is made once for all cases that need it, and a case that is itself a pilot
/// run is not run again. `watch` is called with the number of finished runs.
pub fn run_cases(
    jobs: &[MalleableJob],
    workload: &MalleableWorkload,
    cases: &[StudyCase],
    keep: bool,
    threads: usize,
    watch: impl Fn(usize) + Sync,
) -> Vec<CaseOutcome> {
    let mut pilots: Vec<(Rule, StudyView)> = Vec::new();
    for case in cases {
        let pilot = case.strategy.pilot().map(|rule| (rule, case.view));
        pilots.extend(pilot.filter(|pilot| !pilots.contains(pilot)));
    }
    // Pilot runs come first, because other cases need their lines.
    let plain = cases.iter().filter(|case| case.strategy.pilot().is_none()).map(|case| (case.strategy.rule, case.view));
    let mut first = pilots.clone();
    first.extend(plain.filter(|case| !pilots.contains(case)));
    let run = |rule: Rule, view: StudyView, line: Option<CorrectionLine>| {
        let schedule = schedule_malleable(jobs, workload, rule, view, line);
        let figures = MalleableFigures::of(jobs, workload, &schedule);
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

/// The largest number of runs that [`run_cases`] makes for these cases.
pub fn most_runs(cases: &[StudyCase]) -> usize {
    cases.len() + cases.iter().filter(|case| case.strategy.pilot().is_some()).count()
}

/// The figures of all cases on each workload; the workloads run in parallel. `watch` is called with the number of
/// finished workloads.
///
/// # Errors
///
/// If a workload cannot be generated.
pub fn run_workloads(
    workloads: &[MalleableWorkload],
    cases: &[StudyCase],
    threads: usize,
    watch: impl Fn(usize) + Sync,
) -> Result<Vec<Vec<MalleableFigures>>, String> {
    let run = |workload: &MalleableWorkload| {
        let jobs = workload.generate()?;
        let outcomes = run_cases(&jobs, workload, cases, false, 1, |_| ());
        Ok(outcomes.into_iter().map(|outcome| outcome.figures).collect())
    };
    parallel::map(workloads, threads, run, watch).into_iter().collect()
}
