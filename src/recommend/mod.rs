//! Which scheduler and predictor a site should use, and what that would bring.
//!
//! Candidates compete on the first part of the log. The winner is then judged once, on the rest of the log, which it was not
//! chosen by: this is what keeps the answer honest. On the first part the best of them compete on resamples, which are other
//! years of the same users; everything else is run on the log as it is and on shaken copies. Every difference is that of the two
//! settings on the same copy.
//!
#![doc = include_str!("../cli/help/recommendations.md")]

mod changes;
mod coverage;
mod gain;
mod guard;
mod tables;

pub use changes::{ComparedChange, ComparedChanges};
pub use coverage::{Coverage, CoverageCase, coverage_settings, covered, write_coverage};
pub use guard::{DEFAULT_GUARDS, Guard, NO_GUARDS, figure, figures, guards};
pub use tables::{answer_in_words, listed_recommendation, recommendation_cells, write_recommendation};

use std::path::Path;

use crate::experiment::{Options, Setting};
use crate::fidelity::SiteCheck;
use crate::metrics::{Better, Column, Interval, Portion, Replicates, RunRow, Verdict};
use crate::runs::{ComputedRuns, PlannedRun, RunPlan, RunRemarks, RunsError, compute_rows};
use crate::sort::sort_by;
use crate::text::counted;
use crate::trace::Resample;

/// The schedulers that compete if no candidates are given.
const SCHEDULERS: [&str; 4] = ["easy", "sjbf", "sjbf:running=estimate", "sjbf:running=estimate,protect=3d"];
/// The predictors that compete under each of them: all that a site could use.
const PREDICTORS: [&str; 11] =
    ["estimate", "ruh", "easy++", "sbh", "sbh-noest", "smith", "gibbons", "downey", "learned", "kin", "kin:learn=off"];

/// The predictors that compete in a site's Slurm, whose simulation on nodes takes long. Without `estimate`, which is what the site
/// has, and without those of templates and distributions: where all were tried, the answer was the same.
const SLURM_PREDICTORS: [&str; 6] = ["ruh", "easy++", "sbh", "learned", "kin", "kin:learn=off"];

/// What competes too. `fair` is made for one predictor.
const FAIR: [(&str, &str); 2] = [("fair", "kin"), ("fair:accounts=users", "kin")];

/// What competes if no candidates are given.
pub fn default_candidates() -> Vec<Setting> {
    let under = |scheduler| PREDICTORS.map(|predictor| (scheduler, predictor));
    let all = SCHEDULERS.into_iter().flat_map(under).chain(FAIR);
    all.map(|(scheduler, predictor)| Setting::parse(scheduler, predictor).expect("a valid setting")).collect()
}

/// What competes in the Slurm of a site, which plans with predictions, if no candidates are given.
pub fn slurm_candidates() -> Vec<Setting> {
    let under = |predictor| Setting::parse("slurm:running=prediction", predictor).expect("a valid setting");
    SLURM_PREDICTORS.map(under).to_vec()
}

/// What is asked.
#[derive(Clone, Debug)]
pub struct Question {
    /// The log; None for the embedded one.
    pub trace: Option<String>,
    /// The options of all runs. Their scheduler, predictor and baseline are replaced. They must not repeat the log: the first
    /// part would be the whole of it.
    pub options: Options,
    /// The number of jobs that these options leave.
    pub jobs: usize,
    /// The number of users on the part of the log on which the winner is judged.
    pub judged_users: usize,
    /// How near the present setting comes to the recorded waits, if there are any.
    pub site: Option<SiteCheck>,
    /// What the site uses now.
    pub present: Setting,
    /// What it could use instead.
    pub candidates: Vec<Setting>,
    /// The share of the jobs on which candidates compete, between 0 and 1.
    pub choose: f64,
    /// The figure by which they compete.
    pub objective: &'static Column,
    /// Limits that a candidate must not break.
    pub guards: Vec<Guard>,
    /// The number of runs of each setting: on the log as it is, and on shaken copies.
    pub replications: u32,
    /// How the best candidates compete in other years. None: all of them compete in the same year.
    pub years: Option<Years>,
}

/// A competition on resamples of the first part of the log.
#[derive(Clone, Copy, Debug)]
pub struct Years {
    /// How the log is resampled.
    pub how: Resample,
    /// How many resamples there are.
    pub count: u32,
    /// A guard is broken that is broken in more than this share of them.
    pub risk: f64,
}

/// So many candidates compete on resamples: the best on shaken copies.
const FINALISTS: usize = 8;

/// A candidate that breaks a guard by over this many times its limit on shaken copies does not compete on resamples.
const FAR: f64 = 2.0;

/// The runs on the log (0) or on a resample, for a progress bar.
fn year_in_words(replication: usize, count: u32) -> String {
    match replication {
        0 => "runs".to_string(),
        seed if seed <= count as usize => format!("runs, resample {seed} of {count}"),
        _ => "runs".to_string(),
    }
}

/// A candidate on a part of the log.
#[derive(Clone, Debug)]
pub struct CandidateRuns {
    /// The scheduler and the predictor.
    pub setting: Setting,
    /// Its runs, that of the log as it is first; their baseline is the present setting.
    pub rows: Vec<RunRow>,
    /// The guards that it breaks, as they were given.
    pub broken: Vec<String>,
    /// For each guard the number of resamples in which it is broken. Empty if it did not run on any.
    pub broken_in: Vec<(String, usize)>,
}

impl CandidateRuns {
    /// Its runs.
    pub fn runs(&self) -> Replicates<'_> {
        Replicates::each(&self.rows)
    }
}

/// With fewer jobs or users on the judged part, there is no advice.
pub const FEWEST_JOBS: usize = 1000;
/// See [`FEWEST_JOBS`].
pub const FEWEST_USERS: usize = 30;

/// What the site should do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Nothing can be said: the judged part has too few jobs or users.
    TooLittle,
    /// Use the winner.
    Change,
    /// Keep the present setting: no candidate that keeps the guards was better on the first part.
    NoneBetter,
    /// Keep it: every candidate breaks a guard on the first part.
    AllBreakGuards,
    /// Keep it: the winner was worse on the rest of the log.
    Worse,
    /// Keep it: the winner's gain on the rest of the log may be chance.
    WithinNoise,
    /// Keep it: the winner broke a guard on the rest of the log.
    BreaksGuard,
}

impl Answer {
    /// In words, as in CSV.
    pub fn name(self) -> &'static str {
        match self {
            Answer::TooLittle => "too little to tell",
            Answer::Change => "change",
            Answer::NoneBetter => "keep: none better",
            Answer::AllBreakGuards => "keep: all break guards",
            Answer::Worse => "keep: worse",
            Answer::WithinNoise => "keep: within noise",
            Answer::BreaksGuard => "keep: breaks a guard",
        }
    }
}

/// The answer, with all that it rests on.
#[derive(Clone, Debug)]
pub struct Recommendation {
    /// What was asked.
    pub question: Question,
    /// The number of jobs of the first part.
    pub chosen_on: usize,
    /// All candidates, those that keep the guards first, the best first.
    pub candidates: Vec<CandidateRuns>,
    /// The first of them on the rest of the log; None if no candidate was better than the present setting.
    pub judged: Option<CandidateRuns>,
    /// Changes of the site, which are no candidates: they cost something.
    pub changes: ComparedChanges,
    /// The number of runs that were found, and of those that were computed.
    pub reused: usize,
    /// See `reused`.
    pub computed: usize,
    /// What the runs have that is not in their rows.
    pub remarks: RunRemarks,
}

impl Question {
    /// The number of jobs on which candidates compete.
    ///
    /// # Errors
    /// If a part of the log has no jobs.
    pub fn chosen_on(&self) -> Result<usize, String> {
        let first = (self.jobs as f64 * self.choose).floor() as usize;
        match first {
            1.. if first < self.jobs => Ok(first),
            _ => {
                let all = counted(self.jobs as u64, "job");
                Err(format!("the share {} of {all} leaves a part without jobs", self.choose))
            }
        }
    }

    /// The number of runs at most.
    pub fn runs(&self) -> usize {
        let finalists = self.candidates.len().min(FINALISTS);
        let years = self.years.map_or(0, |years| finalists * (years.count as usize + 1));
        (self.candidates.len() + 1) * self.replications as usize + years
    }

    /// What is being run when so many of the runs are finished.
    pub fn stage(&self, done: usize) -> String {
        let sifted = self.candidates.len() * self.replications as usize;
        let finalists = self.candidates.len().min(FINALISTS);
        match self.years {
            Some(years) if done >= sifted => year_in_words((done - sifted) / finalists, years.count),
            _ => "runs".to_string(),
        }
    }

    /// Runs of these settings, with replications.
    fn plan<'a>(&self, settings: impl IntoIterator<Item = &'a Setting>, part: impl Fn(&mut Options)) -> RunPlan {
        let start = |setting: &Setting| {
            let Setting { scheduler, predictor, .. } = setting.clone();
            let baseline = Some(self.present.clone());
            let mut options = Options { scheduler, predictor, baseline, ..self.options.clone() };
            part(&mut options);
            PlannedRun { trace: self.trace.clone(), options }
        };
        RunPlan::replicated(settings.into_iter().map(start).collect(), self.replications)
    }

    /// The runs of finalists on resamples of the first part of the log.
    fn first_part_of_years<'a>(
        &self,
        settings: impl IntoIterator<Item = &'a Setting>,
        chosen_on: usize,
        years: Years,
    ) -> RunPlan {
        let question = Question { replications: years.count, ..self.clone() };
        question.plan(settings, |options| {
            options.shaping.first = Some(chosen_on);
            options.shaping.resample = Some(years.how);
        })
    }

    /// The runs of all candidates on the first part of the log, which is simulated alone.
    fn first_part(&self, chosen_on: usize) -> RunPlan {
        self.plan(&self.candidates, |options| options.shaping.first = Some(chosen_on))
    }

    /// The runs of the winner on the rest of the log. The first part is simulated too, so that predictors have a past, but
    /// not measured.
    fn rest(&self, setting: &Setting, chosen_on: usize) -> RunPlan {
        self.plan([setting], |options| options.measure.warmup = Portion::Jobs(chosen_on))
    }

    /// Finds the answer. Finished runs are kept in the folder, if there is one, and found again. `progress` is called with the
    /// number of finished runs of [`Question::runs`].
    ///
    /// # Errors
    /// If a run fails, or if results cannot be kept.
    pub fn answer(
        self,
        folder: Option<&Path>,
        threads: usize,
        progress: &(dyn Fn(usize) + Sync),
    ) -> Result<Recommendation, RunsError> {
        let chosen_on = self.chosen_on().map_err(RunsError::Failed)?;
        let compute =
            |plan: &RunPlan, before: usize| compute_rows(plan, folder, threads, &|done| progress(before + done));
        let plan = self.first_part(chosen_on);
        let ComputedRuns { rows, mut reused, mut computed, mut remarks, .. } = compute(&plan, 0)?;
        let by_start = |plan: &RunPlan, rows: &[RunRow]| -> Vec<Vec<RunRow>> {
            plan.by_start(rows).into_iter().map(|rows| rows.into_iter().cloned().collect()).collect()
        };
        let of_settings = self.candidates.iter().zip(by_start(&plan, &rows));
        let mut candidates: Vec<CandidateRuns> =
            of_settings.map(|(setting, rows)| self.candidate(setting, rows)).collect();
        let loss = |one: &CandidateRuns| self.loss(one.runs().mean(self.objective));
        // The sort is stable: equal candidates stay in the order in which they were given.
        sort_by(&mut candidates, |a, b| {
            let out = a.broken.is_empty().cmp(&b.broken.is_empty()).reverse();
            out.then_with(|| loss(a).total_cmp(&loss(b)))
        });
        if let Some(years) = self.years {
            let is_near = |one: &CandidateRuns| !self.guards.iter().any(|guard| guard.is_broken_by(&one.runs(), FAR));
            let (mut finalists, mut others): (Vec<_>, Vec<_>) = candidates.into_iter().partition(is_near);
            // Whether a guard is broken is for the resamples to say.
            sort_by(&mut finalists, |a, b| loss(a).total_cmp(&loss(b)));
            others.splice(0..0, finalists.split_off(finalists.len().min(FINALISTS)));
            candidates = Vec::new();
            if !finalists.is_empty() {
                let before = plan.count();
                let plan = self.first_part_of_years(finalists.iter().map(|one| &one.setting), chosen_on, years);
                let found = compute(&plan, before)?;
                (reused, computed) = (reused + found.reused, computed + found.computed);
                remarks.extend(found.remarks);
                let rows = by_start(&plan, &found.rows);
                candidates = finalists.iter().zip(rows).map(|(one, rows)| self.candidate(&one.setting, rows)).collect();
                sort_by(&mut candidates, |a, b| {
                    let out = a.broken.is_empty().cmp(&b.broken.is_empty()).reverse();
                    out.then_with(|| self.year_gain(b).total_cmp(&self.year_gain(a)))
                });
            }
            candidates.extend(others);
        }
        let is_gain = |one: &CandidateRuns| match one.runs().is_another_year() {
            true => self.year_gain(one) > 0.0,
            // With resamples, only those that ran on them can win.
            false => self.years.is_none() && loss(one) < self.loss(one.runs().base_mean(self.objective)),
        };
        let before = self.runs() - self.replications as usize;
        let winner = candidates.first().filter(|best| best.broken.is_empty() && is_gain(best));
        let judged = match winner {
            None => None,
            Some(winner) => {
                let judged = compute(&self.rest(&winner.setting, chosen_on), before)?;
                reused += judged.reused;
                computed += judged.computed;
                remarks.extend(judged.remarks);
                Some(self.candidate(&winner.setting, judged.rows))
            }
        };
        let changes = ComparedChanges::default();
        Ok(Recommendation { question: self, chosen_on, candidates, judged, changes, reused, computed, remarks })
    }

    /// A candidate, or a change of the site, by its runs on shaken copies or on resamples of a part of the log.
    pub fn candidate(&self, setting: &Setting, rows: Vec<RunRow>) -> CandidateRuns {
        let runs = Replicates::each(&rows);
        let (setting, mut broken_in) = (setting.clone(), Vec::new());
        let broken = match self.years.filter(|_| runs.is_another_year()) {
            None => self.guards.iter().filter(|guard| guard.is_broken(&runs)).map(Guard::to_string).collect(),
            Some(years) => {
                let most = years.risk * runs.drawn().len() as f64;
                broken_in = self.guards.iter().map(|guard| (guard.to_string(), guard.broken_in(&runs))).collect();
                let is_broken = |(_, times): &&(String, usize)| *times as f64 > most;
                broken_in.iter().filter(is_broken).map(|(guard, _)| guard.clone()).collect()
            }
        };
        CandidateRuns { setting, broken, broken_in, rows }
    }

    /// The gain of a candidate by the objective over its resamples, in percent.
    fn year_gain(&self, one: &CandidateRuns) -> f64 {
        one.runs().year_gain(self.objective).map_or(f64::NEG_INFINITY, |gain| gain.percent)
    }

    /// The mean of the objective, so that lower is better.
    fn loss(&self, mean: Interval) -> f64 {
        if self.objective.better == Some(Better::Higher) { -mean.mean } else { mean.mean }
    }
}

impl Recommendation {
    /// What the site should do.
    pub fn answer(&self) -> Answer {
        let Question { jobs, judged_users, .. } = self.question;
        match &self.judged {
            _ if jobs - self.chosen_on < FEWEST_JOBS || judged_users < FEWEST_USERS => Answer::TooLittle,
            None if self.competitors().all(|one| !one.broken.is_empty()) => Answer::AllBreakGuards,
            None => Answer::NoneBetter,
            Some(judged) if !judged.broken.is_empty() => Answer::BreaksGuard,
            Some(judged) => match judged.runs().verdict(self.question.objective) {
                Some(Verdict::Better) => Answer::Change,
                Some(Verdict::Worse) => Answer::Worse,
                Some(Verdict::WithinNoise | Verdict::NotSure) | None => Answer::WithinNoise,
            },
        }
    }

    /// The candidates that could win: those that ran on resamples, if there are any.
    pub fn competitors(&self) -> impl Iterator<Item = &CandidateRuns> + Clone {
        let is_alone = self.question.years.is_none();
        self.candidates.iter().filter(move |one| is_alone || one.runs().is_another_year())
    }

    /// The command that repeats the judgement. None if there was none.
    pub fn command(&self) -> Option<String> {
        self.judged.as_ref()?;
        let plan = self.question.rest(&self.candidates[0].setting, self.chosen_on);
        let one = plan.run(0).command();
        let one = one.strip_suffix(" --format csv").unwrap_or(&one);
        Some(format!("{one} --resample none --replications {}", self.question.replications))
    }
}
