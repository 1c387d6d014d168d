//! How a sweep makes its replications if its lists do not say it: as `sim` does, of users where the logs allow it.

use std::collections::BTreeSet;

use crate::cli::log::read_log;
use crate::cli::notes::note_other_years;
use crate::experiment::{OptionForm, Options, Section};
use crate::runs::{GridList, PlannedRun, REPLICATIONS, RunPlan};
use crate::schedule::catalog;
use crate::spec::SpecError;
use crate::trace::{Resample, TraceError};

/// Makes the replications resamples of users, if no list says how they are made and each log of the grid can be resampled so.
///
/// # Errors
/// If a list is not valid.
pub fn resample_by_default(lists: &mut Vec<GridList>) -> Result<(), SpecError> {
    let has = |name: &str| lists.iter().any(|list| list.name == name);
    if !has(REPLICATIONS) || has("resample") || RunPlan::new(lists)?.schedulers().iter().any(catalog::is_replay) {
        return Ok(());
    }
    // What changes which users and weeks a log has. All other lists would only repeat the check.
    let is_of_log = |list: &&GridList| {
        let section = OptionForm::find(&list.name).map(|option| option.section);
        list.name == "trace"
            || list.name != "load"
                && matches!(section, Some(Section::Log | Section::Machine | Section::Reading | Section::Shape))
    };
    let of_logs: Vec<GridList> = lists.iter().filter(is_of_log).cloned().collect();
    let mut seen = BTreeSet::new();
    let mut runs = RunPlan::with(Options::default(), &of_logs)?.runs().collect::<Vec<_>>();
    runs.retain(|run| seen.insert((run.trace.clone(), run.options.condition_key())));
    if runs.iter().all(|run| can_resample(run).unwrap_or(false)) {
        note_other_years();
        lists.push(GridList::new("resample", [Resample::USERS.to_string()]));
    }
    Ok(())
}

/// Whether the log of a run can be resampled. One that cannot be read has no other years either: its cells say why.
fn can_resample(run: &PlannedRun) -> Result<bool, TraceError> {
    let options = &run.options;
    let mut log = read_log(&run.source(), options.read_options())?;
    let workload = options.shape(options.clean_out(&mut log)?)?;
    Ok(options.allow_other_years() && Resample::USERS.check(&workload).is_ok())
}
