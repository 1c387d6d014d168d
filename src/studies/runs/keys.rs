//! The keys of runs: what the row of a finished run depends on.

use std::collections::BTreeSet;

use litemap::LiteMap;
use std::fmt::Write as _;

use twox_hash::XxHash3_128;

use super::plan::RunPlan;
use super::run::{PlannedRun, RunKey};
use super::store::{LogState, Store};
use crate::experiment::UsedProgram;
use crate::parallel;
use crate::predict::catalog::table;
use crate::trace::{Source, demo, digest};

/// Increased whenever any result of the main command changes, so that rows of two revisions are never mixed.
pub const RESULTS_REVISION: u32 = 11;

/// The keys of the runs of a plan.
#[derive(Debug)]
pub struct RunKeys {
    /// One per run. None if the run's log cannot be read, or if its content is not known.
    pub keys: Vec<Option<RunKey>>,
    /// The state of each log; the key None is the embedded log.
    pub logs: LiteMap<Option<String>, LogState>,
    /// The hash of each program that predicts or schedules, by its name, or why there is none.
    pub programs: LiteMap<String, Result<u128, String>>,
}

impl RunKeys {
    /// Computes the key of each run. This reads every log once, unless its content is `known`, and starts every program that
    /// predicts or schedules once. For a log that cannot be read now, the recorded content is used, so that its finished runs stay
    /// finished; likewise for a program that cannot be started. `format` is that of the rows.
    pub fn of(plan: &RunPlan, format: &str, store: &Store, known: Option<u128>, threads: usize) -> RunKeys {
        let Inputs { logs, programs } = Inputs::of(plan);
        let logs: Vec<Option<String>> = logs.into_iter().collect();
        let now_or_then = |log: &Option<String>| {
            let then = || log.as_deref().and_then(|name| store.log(name)?.as_ref().ok().copied());
            known.map_or_else(|| state(log), Ok).or_else(|error| then().ok_or(error))
        };
        let states = parallel::map(&logs, threads, now_or_then, |_| ());
        let programs: Vec<(String, UsedProgram)> = programs.into_iter().collect();
        let now_or_then = |(name, program): &(String, UsedProgram)| {
            program.digest().or_else(|error| store.program(name).ok_or(error))
        };
        let digests = parallel::map(&programs, threads, now_or_then, |_| ());
        let programs = programs.into_iter().map(|(name, _)| name).zip(digests).collect();
        RunKeys::with(plan, format, logs.into_iter().zip(states).collect(), programs)
    }

    /// The same from what the folder has recorded, without reading the logs and without starting programs.
    pub fn recorded(plan: &RunPlan, format: &str, store: &Store) -> RunKeys {
        let known = |log: Option<String>| match &log {
            None => Some((None, state(&None))),
            Some(name) => store.log(name).map(|state| (log.clone(), state.clone())),
        };
        let Inputs { logs, programs } = Inputs::of(plan);
        let digest = |name: String| store.program(&name).map(|digest| (name, Ok(digest)));
        let programs = programs.into_tuple_vec().into_iter().map(|(name, _)| name).filter_map(digest).collect();
        RunKeys::with(plan, format, logs.into_iter().filter_map(known).collect(), programs)
    }

    fn with(
        plan: &RunPlan,
        format: &str,
        logs: LiteMap<Option<String>, LogState>,
        programs: LiteMap<String, Result<u128, String>>,
    ) -> RunKeys {
        let key = |at: usize| {
            let run = plan.run(at);
            let digest = logs.get(&run.trace)?.as_ref().ok()?;
            // The key does not contain the log's label, which depends on the other logs of the plan: it is added when rows are
            // read. It contains the format of rows, so that a row is only read by code with the same format.
            let mut text = format!(
                "shadowtime {} revision {RESULTS_REVISION} {format}\nlog {digest:032x}\n{}",
                env!("CARGO_PKG_VERSION"),
                run.options.canonical()
            );
            // The options have its command; this is what the command does not say.
            for program in run.options.programs() {
                let _ = write!(text, "\nprogram {:032x}", programs.get(&program.name())?.as_ref().ok()?);
            }
            for table in run.options.predictors().filter_map(table) {
                let _ = write!(text, "\ntable {:032x}", table.digest);
            }
            Some(XxHash3_128::oneshot(text.as_bytes()))
        };
        RunKeys { keys: (0..plan.count()).map(key).collect(), logs, programs }
    }

    /// Why the log of a run cannot be read, or its program cannot be used; None if they can, or if that is not known.
    pub fn error(&self, run: &PlannedRun) -> Option<&str> {
        let log = self.logs.get(&run.trace).and_then(|state| state.as_ref().err());
        let programs = run.options.programs();
        let of_program = || programs.iter().find_map(|program| self.programs.get(&program.name())?.as_ref().err());
        log.or_else(of_program).map(String::as_str)
    }

    /// The hash of a log's content; None if it is not known.
    pub fn digest(&self, trace: &Option<String>) -> Option<u128> {
        self.logs.get(trace)?.as_ref().ok().copied()
    }
}

/// What the rows of runs depend on beside their options.
#[derive(Default)]
struct Inputs {
    logs: BTreeSet<Option<String>>,
    /// The programs that predict or schedule, by their names: a version may depend on the keys.
    programs: LiteMap<String, UsedProgram>,
}

impl Inputs {
    fn of(plan: &RunPlan) -> Inputs {
        let mut inputs = Inputs::default();
        for at in 0..plan.count() {
            let run = plan.run(at);
            for program in run.options.programs() {
                inputs.programs.entry(program.name()).or_insert(program);
            }
            inputs.logs.insert(run.trace);
        }
        inputs
    }
}

fn state(log: &Option<String>) -> LogState {
    let source = log.as_deref().map_or_else(demo, Source::from_argument);
    digest(&source).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Options;
    use crate::runs::row_format;

    /// Version 0.1.0 wrote rows as CSV under this key: they must not be found.
    #[test]
    fn the_key_of_a_run_depends_on_the_format_of_rows() {
        let plan = RunPlan::of(vec![PlannedRun { trace: None, options: Options::default() }]);
        let logs = LiteMap::from_iter([(None, Ok(7))]);
        let key = RunKeys::with(&plan, &row_format(), logs, LiteMap::new()).keys[0].unwrap();
        let (version, options) = (env!("CARGO_PKG_VERSION"), Options::default().canonical());
        let rest = format!("\nlog {:032x}\n{options}", 7);
        let of = |begin: String| XxHash3_128::oneshot(format!("{begin}{rest}").as_bytes());
        assert_ne!(key, of(format!("shadowtime {version} revision {RESULTS_REVISION}")));
        assert_eq!(key, of(format!("shadowtime {version} revision {RESULTS_REVISION} {}", row_format())));
    }
}
