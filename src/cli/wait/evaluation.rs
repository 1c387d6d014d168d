//! How well are the waits of a log predicted?

use std::io::{self, Write};
use std::sync::Mutex;
use std::time::Instant;

use super::arguments::EvaluateArgs;
use crate::cli::failure::refuse;
use crate::cli::output_options::OutputFiles;
use crate::cli::progress::Progress;
use crate::cli::stderr::note;
use crate::metrics::{Given, cells};
use crate::report::{Width, counted, grouped, percent, swept_cells, with_swept, write_settings, write_wrapped};
use crate::spec::SpecList;
use crate::text::printable;
use crate::time::readable_duration;
use crate::trace::Workload;
use crate::wait::{
    Evaluation, EvaluationPhase, EvaluationPlan, Learning, SiteSchedule, WaitMethod, WaitRow, calibration_columns,
    confusion_columns, confusion_rows, evaluate, wait_columns, write_job_answers, write_tables,
};

/// Predicts the waits of the log by all methods, and compares.
pub fn evaluate_all(
    args: &EvaluateArgs,
    workload: &Workload,
    schedule: &SiteSchedule<'_>,
    methods: &SpecList<WaitMethod>,
    learning: Learning,
    OutputFiles { files: [jobs_out, confusion_out, calibration_out], stdout_taken }: OutputFiles<3>,
) -> anyhow::Result<()> {
    let jobs = workload.jobs.len();
    let plan = EvaluationPlan {
        learning: Learning { first: first_predicted(args, jobs)?, ..learning },
        most: args.most as usize,
        regression_every: args.regression_every as usize,
        threads: args.shared.output.threads(),
        ..EvaluationPlan::default()
    };
    let began = Instant::now();
    let evaluation = run(schedule, &methods.items, &plan)?;
    let jobs = counted(evaluation.jobs.len() as u64, "job");
    let (time, times) = (readable_duration(began.elapsed().as_secs_f64()), counted(evaluation.learned as u64, "time"));
    note(format_args!("{jobs} predicted in {time}, probabilities learned {times}"));
    let figures = evaluation.figures();
    if let Some(out) = jobs_out {
        out.fill(|out| write_job_answers(out, &evaluation, schedule))?;
    }
    if let Some(out) = confusion_out {
        let rows = figures.iter().flat_map(confusion_rows);
        out.fill(|out| write_settings(out, &confusion_columns(), [(None, rows)].into_iter()))?;
    }
    if let Some(out) = calibration_out {
        let calibrations = evaluation.calibrations();
        let rows = calibrations.iter().flat_map(|(by, bins)| bins.iter().map(|bin| (by.as_str(), *bin)));
        out.fill(|out| write_settings(out, &calibration_columns(), [(None, rows)].into_iter()))?;
    }
    let scheduler = args.shared.scheduler.to_string();
    let seed = plan.learning.seed;
    let row = |(at, figures)| {
        let row = WaitRow { figures, trace: &workload.label, scheduler: &scheduler, seed };
        with_swept(cells(&wait_columns(), &row, Given::default()), swept_cells(&methods.keys, at))
    };
    let rows: Vec<_> = figures.iter().enumerate().map(row).collect();
    Ok(args.shared.output.print.print_rows(stdout_taken, &rows, |out, width| {
        write_heading(out, width, workload, &evaluation, &scheduler, &plan.learning)?;
        write_tables(out, width, &evaluation, &figures)
    })?)
}

/// The number of jobs before the first one that is predicted.
fn first_predicted(args: &EvaluateArgs, jobs: usize) -> anyhow::Result<usize> {
    let first = match args.begin {
        Some(begin) => begin as usize - 1,
        None if jobs > 10_000 => 10_000,
        None => {
            let (all, begin) = (counted(jobs as u64, "job"), grouped(jobs as u64 / 2 + 1));
            note(format_args!("the log has only {all}: predictions begin with job {begin} (see --begin)"));
            jobs / 2
        }
    };
    if first >= jobs || first == 0 {
        let jobs = counted(jobs as u64, "job");
        return refuse(format!("--begin leaves no job to predict: the log has {jobs}"));
    }
    Ok(first)
}

fn run(schedule: &SiteSchedule<'_>, methods: &[WaitMethod], plan: &EvaluationPlan) -> anyhow::Result<Evaluation> {
    // One phase follows the other. Only one bar can be on the terminal, so each replaces the one before.
    let shown: Mutex<Option<(EvaluationPhase, Progress)>> = Mutex::new(None);
    Ok(evaluate(schedule, methods, plan, &|phase, done, all| {
        let mut shown = shown.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if shown.as_ref().is_none_or(|(before, _)| *before != phase) {
            *shown = None;
            let (what, unit) = match phase {
                EvaluationPhase::Simulating => ("simulating", "jobs"),
                EvaluationPhase::Learning => ("learning", "pairs of classes"),
                EvaluationPhase::Predicting => ("predicting", "jobs"),
            };
            *shown = Some((phase, Progress::counting(what, unit, Some(all))));
        }
        if let Some((_, bar)) = &*shown {
            bar.set(done);
        }
    })?)
}

fn write_heading(
    out: &mut dyn Write,
    width: Width,
    workload: &Workload,
    evaluation: &Evaluation,
    scheduler: &str,
    learning: &Learning,
) -> io::Result<()> {
    let slow = evaluation.jobs.iter().filter(|job| job.wait > crate::time::HOUR).count();
    let share = percent(slow as f64 / evaluation.jobs.len() as f64);
    let (count, first) = (counted(evaluation.jobs.len() as u64, "job"), grouped(learning.first as u64 + 1));
    let (label, procs) = (printable(&workload.label), counted(u64::from(workload.procs), "processor"));
    write_wrapped(out, "", &format!("{label}: {procs}, waits of {scheduler}, seed {}", learning.seed), width)?;
    let predicted =
        format!("{count} predicted from job {first} on; {share} of them are slow: they waited over an hour");
    write_wrapped(out, "", &predicted, width)?;
    writeln!(out)
}
