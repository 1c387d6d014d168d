//! `sim recommend`: which scheduler and predictor a site should use.

mod changes;

use std::collections::BTreeSet;

use clap::{ArgMatches, Args};

use super::failure::{UsageError, refuse};
use super::log::{LogArgs, read_and_clean, read_workload};
use super::notes::{report_remarks, warn_of_missing_users, warn_of_other_jobs, warn_of_other_years};
use super::options;
use super::output_options::{KeepOption, OutputFiles, OutputOptions};
use super::progress::Progress;
use super::settings::{check_site, keep_at_interrupt, runs_in_words};
use super::slurm_conf::{self, SiteConf};
use super::stderr::{note, warning};
use super::{CommandForm, is_given, parsed, rows_page, what_if};
use crate::experiment::Section::{Engine, Estimates, Log, Machine, Reading, Users};
use crate::experiment::{Options, Setting};
use crate::metrics::columns::WAIT_MEAN;
use crate::metrics::{Column, Replicates};
use crate::recommend::{
    CandidateRuns, ComparedChanges, Coverage, Question, Years, answer_in_words, coverage_settings, covered,
    default_candidates, figure, guards, recommendation_cells, slurm_candidates, write_coverage, write_recommendation,
};
use crate::report::html::years_chart;
use crate::spec::{SpecError, expand};
use crate::text::counted;
use crate::trace::{Resample, Source, Workload};

/// The subcommand.
pub const COMMAND: CommandForm = CommandForm {
    name: "recommend",
    about: "Which scheduler and predictor to use, what it brings, who pays",
    arguments: |command| {
        let sections = [Log, Machine, Reading, Estimates, Users, Engine];
        let command = options::add(RecommendArgs::augment_args(command), &sections);
        let command = options::add_named(command, &["from", "to", "first", "resample", "load", "bsld-threshold"]);
        let command = slurm_conf::add(command, "Take what the site uses now from its slurm.conf; see `sim help slurm`");
        what_if::add(command).mut_arg(what_if::NAME, |argument| {
            argument.display_order(9).conflicts_with("calibrate").help(
                "Also compare the site with a changed one, as in 'procs=108' or 'more: add-nodes=n[65-72] as n1': changes stand below \
                 the settings, for they cost something. May be repeated; see `sim help comparisons`",
            )
        })
    },
    run: |matches| execute(&parsed(matches), matches),
};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  sim recommend KTH.swf.gz  the default candidates against easy/estimate
  sim recommend site.log --present sjbf/easy++ --objective wait \\
    --guard wait_max=2x
  sim recommend CTC.swf --candidates 'sjbf/ruh:window=1..5,easy/kin' \\
    --keep study --format csv
  sim recommend CTC.swf --guard wait_max=3x --guard users_lose_pct=10
  sim recommend CTC.swf --candidates +easy:queue=saf/estimate
      the default candidates and one more
  sim recommend sacct.txt --slurm-conf /etc/slurm/slurm.conf
      predictions in the site's own Slurm

Candidates compete on the first part of the log. The winner is judged once on the rest, on shaken copies of the log. The answer
may be to keep what you have.")]
struct RecommendArgs {
    #[command(flatten)]
    log: LogArgs,
    /// What the site uses now
    #[arg(long, value_name = "SCHEDULER/PREDICTOR", default_value = "easy/estimate", value_parser = parse_present, display_order = 1)]
    present: Setting,
    /// What it could use instead: a list, also with ranges; +LIST adds to what was given before, or to the default. May be
    /// repeated [default: 11 predictors under easy, sjbf, sjbf:running=estimate and that with protect=3d; fair and fair:accounts=users with kin]
    #[arg(long, value_name = "LIST", value_parser = parse_candidates, display_order = 2)]
    candidates: Vec<Candidates>,
    /// The share of the jobs on which candidates compete; the winner is judged on the rest
    #[arg(long, value_name = "SHARE", default_value_t = 0.6, value_parser = parse_share, display_order = 3)]
    choose: f64,
    /// The figure by which they compete: wait, bsld, wait_p95, or another column of results that can be better or worse
    #[arg(long, value_name = "FIGURE", default_value = "bsld", value_parser = parse_objective, display_order = 4)]
    objective: ComparedFigure,
    /// A limit; a candidate that breaks it is out: wait_max=2x (twice the present one), wait_max=3d, users_lose_pct=10. Repeat the
    /// option for more limits; none turns off the default ones [default: wait_max=1.5x, wide_wait_mean=1.5x,
    /// users_lose_area=25%]
    #[arg(long, value_name = "FIGURE=LIMIT", value_parser = checked_guard, display_order = 5)]
    guard: Vec<String>,
    /// The number of resamples of the first part of the log on which the best candidates compete [default: 20]. With --resample none,
    /// or a log too short for it, the number of runs of each setting: the log, and slightly shaken copies [default: 6]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=1000), display_order = 6)]
    replications: Option<u32>,
    /// A guard that is broken in more than this share of the resamples is broken
    #[arg(long, value_name = "SHARE", default_value = "50%", value_parser = parse_risk, display_order = 7)]
    guard_risk: f64,
    /// How often do the intervals hold? Predicts the rest of each of these logs from its first part
    #[arg(long, value_name = "LOG", num_args = 1.., conflicts_with_all = ["log", "trace", "guard", "html"], display_order = 8)]
    calibrate: Vec<String>,
    #[command(flatten)]
    keep: KeepOption,
    /// Write the answer and the figures of all candidates as a page; - for standard output
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    html: Option<String>,
    #[command(flatten)]
    output: OutputOptions,
}

/// A figure that can be better or worse. Its own type, because clap takes a type by value.
#[derive(Clone, Copy, Debug)]
struct ComparedFigure(&'static Column);

fn parse_objective(text: &str) -> Result<ComparedFigure, SpecError> {
    match figure(text)? {
        column if column.needs_baseline() => {
            Err(SpecError(format!("{} is a comparison with the present setting: use it as a guard", column.name)))
        }
        column => Ok(ComparedFigure(column)),
    }
}

fn parse_present(text: &str) -> Result<Setting, SpecError> {
    let setting = Setting::parse_pair(text)?;
    refuse_replay(setting)
}

/// A replayed log has no scheduler that could be used for other jobs.
fn refuse_replay(setting: Setting) -> Result<Setting, SpecError> {
    match setting.is_replay() {
        true => {
            Err(SpecError("replay repeats the log's own schedule: it cannot be compared with others here".to_string()))
        }
        false => Ok(setting),
    }
}

fn parse_risk(text: &str) -> Result<f64, String> {
    let percent = text.strip_suffix('%').and_then(|text| text.parse::<f64>().ok());
    let risk = percent.filter(|percent| (0.0..=100.0).contains(percent)).map(|percent| percent / 100.0);
    risk.ok_or_else(|| format!("'{text}' is not a share of the resamples, such as 20%"))
}

fn parse_share(text: &str) -> Result<f64, String> {
    let share = text.parse::<f64>().ok().filter(|share| *share > 0.0 && *share < 1.0);
    share.ok_or_else(|| format!("'{text}' is not a share between 0 and 1, such as 0.6"))
}

/// A list of settings.
#[derive(Clone, Debug)]
struct Candidates {
    settings: Vec<Setting>,
    /// Whether it is added to others, and does not replace the default.
    is_added: bool,
}

/// All candidates that are given, with the default ones if there are only additions.
fn all_candidates(lists: &[Candidates], default: impl FnOnce() -> Vec<Setting>) -> Vec<Setting> {
    let given = lists.iter().flat_map(|list| list.settings.clone());
    match lists.iter().all(|list| list.is_added) {
        true => default().into_iter().chain(given).collect(),
        false => given.collect(),
    }
}

fn checked_guard(text: &str) -> Result<String, SpecError> {
    guards(&[text]).map(|_| text.to_string())
}

fn parse_candidates(text: &str) -> Result<Candidates, SpecError> {
    let parse = |text: &str| Setting::parse_pair(text).and_then(refuse_replay);
    let (list, is_added) = text.strip_prefix('+').map_or((text, false), |list| (list, true));
    let values = expand("candidates", list).map_err(SpecError)?;
    let settings = values.iter().map(|value| parse(value)).collect::<Result<_, _>>()?;
    Ok(Candidates { settings, is_added })
}

/// The present setting and the candidates, with the keys of a slurm.conf where they use `slurm`. With such a file, the present
/// setting is by default the scheduler that it means, and the candidates are the default predictors under that scheduler.
fn with_conf(
    args: &RecommendArgs,
    conf: Option<&SiteConf>,
    has_present: bool,
) -> Result<(Setting, Vec<Setting>), SpecError> {
    let Some(conf) = conf else {
        return Ok((args.present.clone(), all_candidates(&args.candidates, default_candidates)));
    };
    let complete = |setting: &Setting| -> Result<Setting, SpecError> {
        Ok(Setting { scheduler: conf.complete(&setting.scheduler)?, ..setting.clone() })
    };
    let present = match has_present {
        true => complete(&args.present)?,
        false => conf.baseline(),
    };
    let candidates = all_candidates(&args.candidates, slurm_candidates);
    Ok((present, candidates.iter().map(complete).collect::<Result<_, _>>()?))
}

/// The candidates, without those that are given twice and without the present setting.
fn distinct(all: Vec<Setting>, present: &Setting) -> Vec<Setting> {
    let mut seen = vec![present.in_full()];
    let mut is_new = |setting: &Setting| {
        let is_new = !seen.contains(&setting.in_full());
        seen.push(setting.in_full());
        is_new
    };
    all.into_iter().filter(|setting| is_new(setting)).collect()
}

fn execute(args: &RecommendArgs, matches: &ArgMatches) -> anyhow::Result<()> {
    let mut options = options::read(matches)?;
    if !args.calibrate.is_empty() {
        return calibrate(args, matches, options);
    }
    let conf = slurm_conf::read(matches)?;
    let (present, candidates) = with_conf(args, conf.as_ref(), is_given(matches, "present"))?;
    let candidates = distinct(candidates, &present);
    if candidates.is_empty() {
        return refuse("there is no candidate besides the present setting");
    }
    if args.log.given() == Some("-") {
        let why = "the log is read several times, so it cannot come from standard input: give the name of a file";
        return refuse(why);
    }
    let schedulers = || candidates.iter().chain([&present]).map(|setting| &setting.scheduler);
    slurm_conf::set_one_machine(matches, conf.as_ref(), &mut options, schedulers())?;
    let with = |Setting { scheduler, predictor, .. }: &Setting| {
        let (scheduler, predictor) = (scheduler.clone(), predictor.clone());
        Options { scheduler, predictor, baseline: Some(present.clone()), ..options.clone() }
    };
    let mut of_all: Vec<Options> = candidates.iter().map(with).collect();
    // The log itself is divided; only its first part is resampled.
    let how = options.shaping.resample.take();
    let changes = changes::read(matches, conf.as_ref(), &options, &present)?;
    of_all.extend(changes.iter().cloned());
    options::check_effects(matches, &of_all, &[])?;
    options::warn_of_machines(&of_all);
    let OutputFiles { files: [html], stdout_taken } = OutputFiles::open([("--html", &args.html)], &args.log.files())?;
    // Only for its waits, and its numbers of jobs and users. Runs read the log as a sweep does.
    let workload = match changes.is_empty() {
        true => read_workload(&args.log.source(), &options)?,
        // The runs of changes say what is to be said of the log.
        false => options.shape(read_and_clean(&args.log.source(), &options)?.0)?,
    };
    let predictors = candidates.iter().chain([&present]).map(|setting| &setting.predictor);
    warn_of_missing_users(&workload.label, &workload, predictors);
    let site = check_site(&workload, &present, &options, args.output.threads());
    let mut question = Question {
        trace: args.log.given().map(str::to_string),
        jobs: workload.jobs.len(),
        judged_users: 0,
        site,
        options,
        present,
        candidates,
        choose: args.choose,
        objective: args.objective.0,
        guards: guards(&args.guard)?,
        replications: SHAKEN_RUNS,
        years: None,
    };
    let chosen_on = question.chosen_on().map_err(UsageError)?;
    question.years = years_of(args, matches, how, &workload, chosen_on)?;
    if question.years.is_none() {
        question.replications = args.replications.unwrap_or(SHAKEN_RUNS);
    }
    let users: BTreeSet<_> = workload.jobs[chosen_on..].iter().map(|job| job.submission.user).collect();
    question.judged_users = users.len();
    drop(workload);
    let fewest = chosen_on.min(question.jobs - chosen_on);
    if fewest < FEW_JOBS {
        let jobs = counted(fewest as u64, "job");
        warning(format_args!("one part of the log has only {jobs}: this is weak evidence"));
    }
    let folder = args.keep.folder.as_deref().inspect(|folder| keep_at_interrupt(folder));
    let changes = match changes.is_empty() {
        true => ComparedChanges::default(),
        false => changes::compare(&changes, &question, chosen_on, folder, args.output.threads())?,
    };
    let mut found = {
        let (progress, asked) = (Progress::counting("recommend", "runs", Some(question.runs())), question.clone());
        let watch = |done| progress.set_with_text(done, asked.stage(done));
        question.answer(folder, args.output.threads(), &watch)?
    };
    report_remarks(&found.remarks);
    // Candidates that did not compete have no resamples.
    let drawn = |runs: &Replicates<'_>| runs.spread(&WAIT_MEAN).is_some();
    if let Some(runs) = found.candidates.iter().map(CandidateRuns::runs).find(drawn) {
        warn_of_other_years(&runs);
    }
    // The candidates ran on one part of the log, the winner on the other.
    warn_of_other_jobs(found.candidates.iter().flat_map(|one| &one.rows));
    warn_of_other_jobs(found.judged.iter().flat_map(|one| &one.rows));
    let (reused, computed) = (found.reused + changes.reused, found.computed + changes.computed);
    found.changes = changes;
    note(runs_in_words(reused + computed, reused, computed));
    let rows = recommendation_cells(&found);
    if let Some(out) = html {
        let title = format!("What to use on {}", found.candidates[0].runs().label().trace);
        let runs: Vec<_> = found.candidates.iter().map(CandidateRuns::runs).collect();
        let chart = years_chart(&runs.iter().zip(1..).collect::<Vec<_>>(), found.question.objective);
        let page = rows_page::page(title, answer_in_words(&found), chart, &rows);
        out.fill(|out| out.write_all(page.as_bytes()))?;
    }
    Ok(args.output.print.print_rows(stdout_taken, &rows, |out, width| write_recommendation(out, width, &found))?)
}

/// `--calibrate`: on each log, the intervals that its first part gives, and what its rest did.
fn calibrate(args: &RecommendArgs, matches: &ArgMatches, mut options: Options) -> anyhow::Result<()> {
    let how = match is_given(matches, "resample") {
        true => options.shaping.resample.take(),
        false => Some(Resample::USERS),
    };
    let settings = match args.candidates.is_empty() {
        true => coverage_settings(),
        false => args.candidates.iter().flat_map(|list| list.settings.clone()).collect(),
    };
    let count = args.replications.unwrap_or(if how.is_some() { RESAMPLES } else { SHAKEN_RUNS });
    let mut cases = Vec::new();
    for log in &args.calibrate {
        let workload = read_workload(&Source::from_argument(log), &options)?;
        let asked = Coverage {
            trace: log.clone(),
            options: options.clone(),
            present: args.present.clone(),
            settings: settings.clone(),
            chosen_on: (workload.jobs.len() as f64 * args.choose).floor() as usize,
            how,
            count,
        };
        let first_part = workload.with_jobs(workload.jobs[..asked.chosen_on].to_vec());
        drop(workload);
        if let Some(how) = how {
            how.check(&first_part)?;
        }
        let progress = Progress::counting("calibrate", "runs", Some(asked.runs()));
        let watch = |done| progress.set_with_text(done, asked.stage(done));
        let (found, remarks) = asked.cases(args.keep.folder.as_deref(), args.output.threads(), &watch)?;
        drop(progress);
        report_remarks(&remarks);
        cases.extend(found);
    }
    let rows: Vec<_> = cases.iter().map(covered).collect();
    Ok(args.output.print.print_rows(false, &rows, |out, width| write_coverage(out, width, &cases))?)
}

/// The runs of each setting in the same year.
const SHAKEN_RUNS: u32 = 6;

/// The resamples on which candidates compete.
const RESAMPLES: u32 = 20;

/// How candidates compete in other years: as `--resample` says, by default of users where the first part of the log allows it.
fn years_of(
    args: &RecommendArgs,
    matches: &ArgMatches,
    given: Option<Resample>,
    workload: &Workload,
    chosen_on: usize,
) -> anyhow::Result<Option<Years>> {
    let years = |how| Years { how, count: args.replications.unwrap_or(RESAMPLES), risk: args.guard_risk };
    let first_part = workload.with_jobs(workload.jobs[..chosen_on].to_vec());
    if let Some(how) = given {
        how.check(&first_part)?;
        return Ok(Some(years(how)));
    }
    let may_resample = !is_given(matches, "resample") && Resample::USERS.check(&first_part).is_ok();
    if !may_resample && is_given(matches, "guard_risk") {
        return refuse("--guard-risk has no effect without resamples: see --resample");
    }
    Ok(may_resample.then(|| years(Resample::USERS)))
}

/// A part of a log with fewer jobs says little.
const FEW_JOBS: usize = 1000;
