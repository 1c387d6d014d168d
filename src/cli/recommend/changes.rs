//! `--what-if` of `sim recommend`: changes of the site, on both parts of the log. They cost something, so they are no candidates for
//! the answer.

use std::path::Path;
use std::sync::Arc;

use clap::ArgMatches;

use crate::cli::failure::{UsageError, refuse};
use crate::cli::options::SettingList;
use crate::cli::settings::{LogUnderSettings, Replications};
use crate::cli::slurm_conf::SiteConf;
use crate::cli::what_if;
use crate::experiment::{Options, Setting};
use crate::metrics::{Portion, RunRow};
use crate::recommend::{ComparedChange, ComparedChanges, Question};
use crate::runs::{ComputedRuns, RowsAlone};
use crate::trace::{ReadOptions, Source, TraceError};

/// The site with its present setting, and each of its changes. Empty if none are given.
pub fn read(
    matches: &ArgMatches,
    conf: Option<&SiteConf>,
    options: &Options,
    present: &Setting,
) -> anyhow::Result<Vec<Options>> {
    if !what_if::is_asked_for(matches) {
        return Ok(Vec::new());
    }
    if what_if::is_auto(matches) {
        return refuse("auto is for the main command: `sim LOG --what-if auto` says which changes to try here");
    }
    let Setting { scheduler, predictor, engine } = present.clone();
    let (inflate, pass_on_miss) = (engine.inflate, engine.pass_on_miss);
    let site = Options { scheduler, predictor, inflate, pass_on_miss, ..options.clone() };
    let all = what_if::with_changes(vec![site.clone()], matches, conf)?;
    for change in &all[1..] {
        let (scheduler, predictor) = (site.scheduler.clone(), site.predictor.clone());
        let rest = Options { scheduler, predictor, baseline: None, baseline_site: None, ..change.clone() };
        if rest.canonical() == site.canonical() {
            let (name, pair) = (change.what_if.as_deref().unwrap_or_default(), change.setting().pair());
            return refuse(format!(
                "--what-if '{name}' is another setting, which costs nothing: let it compete, as --candidates '+{pair}'"
            ));
        }
    }
    Ok(all)
}

/// Runs the site and its changes: on the part of the log on which candidates compete, as the best of these do, and on the rest.
pub fn compare(
    all: &[Options],
    question: &Question,
    chosen_on: usize,
    folder: Option<&Path>,
    threads: usize,
) -> anyhow::Result<ComparedChanges> {
    let (mut reused, mut computed, mut differences) = (0, 0, String::new());
    let mut run = |list: SettingList, replications: u32| -> anyhow::Result<Vec<Vec<RunRow>>> {
        let trace = question.trace.as_deref();
        let source = trace.map_or_else(crate::trace::demo, Source::from_argument);
        let how = ReadOptions { digest: folder.is_some(), ..ReadOptions::default() };
        let replications = Some(Replications::exactly(replications));
        let mut log = LogUnderSettings::read((trace, &source), list, replications, how, |_| Ok(()))?;
        differences = log.lacking_in_words();
        let found: ComputedRuns<RunRow, ()> = log.compute(&RowsAlone::WithUsers, folder, threads)?;
        (reused, computed) = (reused + found.reused, computed + found.computed);
        let mut rows = found.rows;
        log.compare_machines(&mut rows);
        let count = all.len();
        Ok((1..count).map(|at| rows.iter().skip(at).step_by(count).cloned().collect()).collect())
    };
    // What is to be said of the log and of the changes is said once.
    let judged = part(all, false, |options| options.measure.warmup = Portion::Jobs(chosen_on));
    let judged = run(judged, question.replications).map_err(|error| match error.downcast_ref() {
        Some(TraceError::NoJobs { .. }) => UsageError(
            "--what-if: the site and its changes can all run so few of the jobs that none is left to judge them by"
                .to_string(),
        )
        .into(),
        _ => error,
    })?;
    let first = part(all, true, |options| {
        options.shaping.first = Some(chosen_on);
        options.shaping.resample = question.years.map(|years| years.how);
    });
    let first = run(first, question.years.map_or(question.replications, |years| years.count))?;
    let of_change = |((options, chosen), judged): ((&Options, Vec<RunRow>), Vec<RunRow>)| {
        let setting = options.setting();
        ComparedChange { chosen: question.candidate(&setting, chosen), judged: question.candidate(&setting, judged) }
    };
    let changes = all[1..].iter().zip(first).zip(judged).map(of_change).collect();
    Ok(ComparedChanges { changes, differences, reused, computed })
}

/// The site and its changes with other options.
fn part(all: &[Options], is_quiet: bool, set: impl Fn(&mut Options)) -> SettingList {
    let with = |options: &Options| {
        let mut options = options.clone();
        set(&mut options);
        options
    };
    let on_site = |options: &Options| options.baseline_site.as_deref().map(|site| Arc::new(with(site)));
    let options = all.iter().map(|options| Options { baseline_site: on_site(options), ..with(options) }).collect();
    SettingList { is_quiet, ..SettingList::of(options) }
}
