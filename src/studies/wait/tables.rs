//! Predictions of waits as rows of named cells, and as tables for people.

use std::io::{self, Write};

use super::answer::WaitAnswer;
use super::classes::{PerClass, WaitClass};
use super::evaluate::{Evaluation, MethodAnswer, PredictedJob};
use super::figures::{CalibrationBin, HitRate, WaitFigures};
use super::method::WaitMethod;
use super::regression::ITERATIONS;
use super::schedule::SiteSchedule;
use crate::job::Job;
use crate::metrics::{Cell, Cells, Column, Given, Main, cells, column_list};
use crate::output::write_settings;
use crate::report::{Table, Width, counted, grouped, named_rows, percent, write_paragraph, write_wrapped};
use crate::text::printable;
use crate::time::{Seconds, readable_duration};

/// A method as a row of results.
pub struct WaitRow<'a> {
    /// The quality of its predictions.
    pub figures: &'a WaitFigures,
    /// The label of the log.
    pub trace: &'a str,
    /// The scheduler's spec.
    pub scheduler: &'a str,
    /// Of the random numbers.
    pub seed: u64,
}

fn percent_of(rate: HitRate) -> Cell {
    Cell::Real(rate.percent())
}

/// None if the method gives no such bound.
fn bound(row: &WaitRow<'_>, level: usize) -> Cell {
    let rate = row.figures.bounds[level];
    (rate.all > 0).then(|| percent_of(rate)).into()
}

/// The columns of methods. Tables show them in two parts: up to `covered_pct`, and the others.
pub fn wait_columns<'a>() -> Vec<Column<WaitRow<'a>>> {
    Vec::from(column_list! {
        |row: WaitRow<'a>|
        key "method" "the method" row.figures.method.clone();
        count "predictions" "jobs with a prediction" row.figures.predictions, heading("predictions");
        percent "ppe_pct" "mean error in percent of the response time"
            row.figures.ppe_percent(), lower, heading("error");
        percent "class1_pct" "percentage of jobs in the predicted range of waits"
            percent_of(row.figures.classes[0]), higher, heading("1 class");
        percent "class2_pct" "the same for the two most probable ranges"
            percent_of(row.figures.classes[1]), higher, heading("2 classes");
        percent "class3_pct" "the same for the predicted range and its neighbours"
            percent_of(row.figures.classes[2]), higher, heading("3 classes");
        percent "class1_slow_pct" "class1_pct of slow jobs" percent_of(row.figures.slow[0]), higher, heading("slow: 1");
        percent "class2_slow_pct" "class2_pct of slow jobs" percent_of(row.figures.slow[1]), higher, heading("slow: 2");
        percent "class3_slow_pct" "class3_pct of slow jobs" percent_of(row.figures.slow[2]), higher, heading("slow: 3");
        count "slow" "jobs that waited over an hour" row.figures.slow[0].all;
        count "unanswered" "jobs that the method gave no answer for" row.figures.unanswered, lower;
        percent "covered_pct" "percentage of waits up to the predicted one"
            percent_of(row.figures.covered), heading("covered");
        percent "quick_precision_pct" "of the jobs predicted to start within an hour"
            row.figures.quick.map(|(precision, _)| percent_of(precision)), higher;
        percent "quick_recall_pct" "of the jobs that started within an hour"
            row.figures.quick.map(|(_, recall)| percent_of(recall)), higher;
        label "trace" "the label of the log" row.trace.to_string();
        label "scheduler" "the scheduler" row.scheduler.to_string();
        count "stopped" "jobs for which the solver of a regression was stopped after 100,000 iterations"
            row.figures.stopped;
        duration "mean_error" "mean error in seconds"
            Cell::Seconds(row.figures.mean_error()), lower, heading("mean error");
        percent "within_1m_pct" "percentage of predictions at most a minute off"
            percent_of(row.figures.within_minutes[0]), higher, heading("within 1 min");
        percent "within_10m_pct" "the same for ten minutes"
            percent_of(row.figures.within_minutes[1]), higher, heading("10 min");
        percent "within_x2_pct" "the same for a factor of two"
            percent_of(row.figures.within_factors[0]), higher, heading("factor 2");
        percent "within_x3_pct" "the same for a factor of three"
            percent_of(row.figures.within_factors[1]), higher, heading("factor 3");
        percent "covered50_pct"
            "percentage of waits up to the bound of this probability; empty if the method gives none"
            bound(row, 0), heading("by 50%");
        percent "covered80_pct"
            "percentage of waits up to the bound of this probability; empty if the method gives none"
            bound(row, 1), heading("by 80%");
        percent "covered90_pct"
            "percentage of waits up to the bound of this probability; empty if the method gives none"
            bound(row, 2), heading("by 90%");
        percent "covered95_pct"
            "percentage of waits up to the bound of this probability; empty if the method gives none"
            bound(row, 3), heading("by 95%");
        duration "pinball" "mean pinball loss of the bounds in seconds"
            row.figures.pinball().map(Cell::Seconds), lower, heading("loss");
        label "seed" "of the random numbers" row.seed;
    })
}

/// A pair of classes: the true one, and the predicted one.
pub type ConfusionRow<'a> = (&'a WaitFigures, WaitClass, WaitClass);

/// The columns of `--confusion-out`.
pub fn confusion_columns<'a>() -> Vec<Column<ConfusionRow<'a>>> {
    Vec::from(column_list! {
        |row: ConfusionRow<'a>|
        key "method" "the method" row.0.method.clone();
        key "class" "the range of the wait, 1 to 6" row.1.number();
        key "predicted_class" "the predicted range" row.2.number();
        count "jobs" "jobs with both" row.0.confusion[row.1.index()][row.2.index()];
    })
}

/// One row per true and predicted class.
pub fn confusion_rows(figures: &WaitFigures) -> impl Iterator<Item = ConfusionRow<'_>> {
    WaitClass::all().flat_map(move |truth| WaitClass::all().map(move |class| (figures, truth, class)))
}

/// The columns of `--calibration-out`: the probabilities of classes, in tenths, and who gives them.
pub fn calibration_columns<'a>() -> Vec<Column<(&'a str, CalibrationBin)>> {
    Vec::from(column_list! {
        |row: (&'a str, CalibrationBin)|
        key "low" "the least probability" Cell::Number(row.1.low);
        key "high" "the largest probability" Cell::Number((row.1.low * 10.0 + 1.0) / 10.0);
        count "count" "probabilities between them" row.1.count;
        fraction "predicted" "their mean" row.1.predicted();
        fraction "observed" "fraction of the cases that happened" row.1.observed();
        key "by" "the support vector machine, or the method with its own probabilities" row.0.to_string();
    })
}

/// One method's prediction for one job.
pub struct JobAnswerRow<'a> {
    method: &'a WaitMethod,
    judged: &'a PredictedJob,
    job: &'a Job,
    log_id: Cell,
    answer: MethodAnswer,
}

/// Writes a line per job and method.
///
/// # Errors
/// If they cannot be written.
pub fn write_job_answers(out: &mut dyn Write, evaluation: &Evaluation, schedule: &SiteSchedule) -> io::Result<()> {
    let methods = 0..evaluation.answers.len();
    let pairs = (0..evaluation.jobs.len()).flat_map(|at| methods.clone().map(move |method| (at, method)));
    let rows = pairs.filter_map(|(at, method)| JobAnswerRow::of(evaluation, schedule, at, method));
    write_settings(out, &job_answer_columns(), [(None, rows)].into_iter())
}

impl<'a> JobAnswerRow<'a> {
    /// `at` is an index into the evaluation's jobs, `method` into its methods. None if the method has no answer.
    pub fn of(evaluation: &'a Evaluation, schedule: &SiteSchedule<'a>, at: usize, method: usize) -> Option<Self> {
        let (method, answers) = &evaluation.answers[method];
        let (judged, answer) = (&evaluation.jobs[at], answers[at]?);
        let job = &schedule.workload.jobs[judged.id.index()];
        Some(JobAnswerRow { method, judged, job, log_id: schedule.workload.log_id(job).into(), answer })
    }

    fn probabilities(&self) -> PerClass {
        self.answer.probabilities.unwrap_or(self.judged.probabilities)
    }

    fn two(&self, at: usize) -> Cell {
        Cell::Count(self.answer.class().two_most_probable(&self.probabilities())[at].number())
    }

    fn by(&self, level: usize) -> Cell {
        self.answer.bounds[level].map(Cell::Seconds).into()
    }
}

/// The columns of `--jobs-out`.
pub fn job_answer_columns<'a>() -> Vec<Column<JobAnswerRow<'a>>> {
    Vec::from(column_list! {
        |row: JobAnswerRow<'a>|
        key "method" "the method" row.method.name();
        key "job" "the number of the job in the log" row.job.number;
        label "submit" "when it was submitted, in seconds of the log" row.job.submission.submit;
        label "procs" "processors" row.job.submission.procs;
        label "estimate" "the user's estimate in seconds" row.job.submission.estimate;
        label "wait" "the wait in seconds" row.judged.wait;
        label "class" "the range of the wait, 1 to 6" WaitClass::of(row.judged.wait as f64).number();
        duration "predicted" "the predicted wait in seconds" Cell::Seconds(row.answer.point);
        count "predicted_class" "the range of the predicted wait" row.answer.class().number();
        count "first_class" "the more probable range of two" row.two(0);
        count "second_class" "the other one" row.two(1);
        fraction "p1" "the probability of this range" row.probabilities()[0];
        fraction "p2" "the probability of this range" row.probabilities()[1];
        fraction "p3" "the probability of this range" row.probabilities()[2];
        fraction "p4" "the probability of this range" row.probabilities()[3];
        fraction "p5" "the probability of this range" row.probabilities()[4];
        fraction "p6" "the probability of this range" row.probabilities()[5];
        count "quick" "1 if it is predicted to start within an hour" row.judged.quick;
        count "similar" "similar jobs of knn with its default distance" row.judged.similar;
        duration "by50" "the wait in seconds that is not exceeded with this probability, if the method gives it"
            row.by(0);
        duration "by80" "the wait in seconds that is not exceeded with this probability, if the method gives it"
            row.by(1);
        duration "by90" "the wait in seconds that is not exceeded with this probability, if the method gives it"
            row.by(2);
        duration "by95" "the wait in seconds that is not exceeded with this probability, if the method gives it"
            row.by(3);
        label "log_id" "the id of the job in the log, such as JobIDRaw" row.log_id.clone();
    })
}

/// Writes the figures of all methods, the confusion matrix of the first one, and the calibration of the probabilities.
pub fn write_tables(out: &mut dyn Write, width: Width, evaluation: &Evaluation, all: &[WaitFigures]) -> io::Result<()> {
    let columns = wait_columns();
    let mut shown: Vec<_> = columns.iter().filter(|column| column.main == Main::Always).collect();
    let near = shown.split_off(shown.iter().position(|column| column.name == "mean_error").unwrap_or(0));
    let row = |figures| WaitRow { figures, trace: "", scheduler: "", seed: 0 };
    let rows: Vec<_> = all.iter().map(|figures| (figures.method.as_str(), row(figures))).collect();
    let rows = || rows.iter().map(|(name, row)| (*name, row));
    named_rows("", &shown, rows()).write(out, width)?;
    writeln!(out)?;
    // How near point predictions are, and how often bounds hold.
    named_rows("", &near, rows()).write(out, width)?;
    for figures in all.iter().filter(|figures| figures.unanswered > 0) {
        let unanswered = counted(figures.unanswered, "job");
        let why = match figures.method.starts_with("downey") {
            true => "found other jobs waiting, or too few processors in use by jobs that will end",
            false => "arrived when too few jobs were known",
        };
        write_wrapped(out, "", &format!("{}: no answer for {unanswered}, which {why}", figures.method), width)?;
    }
    for figures in all.iter().filter(|figures| figures.stopped > 0) {
        let (stopped, iterations) = (counted(figures.stopped, "job"), counted(ITERATIONS as u64, "iteration"));
        let note = format!("{}: the solver was stopped after {iterations} for {stopped}", figures.method);
        write_wrapped(out, "", &note, width)?;
    }
    if let Some((precision, recall)) = all.iter().find_map(|figures| figures.quick) {
        let [right, predicted, quick] = [precision.right, precision.all, recall.all].map(grouped);
        let [precision, recall] = [precision, recall].map(|share| percent(share.percent() / 100.0));
        let quick = format!(
            "quick starters (less than an hour): {predicted} predicted, {right} of them right ({precision}); {recall} \
             of all {quick} found"
        );
        write_paragraph(out, &quick, width)?;
    }
    if let Some(first) = all.first() {
        let heading = format!("{}: jobs by what they waited (lines) and by what was predicted (columns)", first.method);
        write_paragraph(out, &heading, width)?;
        let mut table = Table::default();
        table.headings([""].into_iter().chain(WaitClass::all().map(WaitClass::name)));
        for class in WaitClass::all() {
            let counts = first.confusion[class.index()].map(grouped);
            table.push([class.name().to_string()].into_iter().chain(counts).collect());
        }
        table.write(out, width)?;
    }
    for (by, bins) in evaluation.calibrations() {
        let heading = format!("probabilities of ranges by {by}, and how often the job was in the range");
        write_paragraph(out, &heading, width)?;
        let mut table = Table::default();
        table.headings(["", "given", "predicted", "observed"]);
        for bin in bins {
            let name = format!("{:.0} to {:.0}%", bin.low * 100.0, bin.low * 100.0 + 10.0);
            table.push(vec![name, grouped(bin.count), percent(bin.predicted()), percent(bin.observed())]);
        }
        table.write(out, width)?;
    }
    Ok(())
}

/// An answer for one job as a row.
pub struct AnswerRow<'a> {
    /// The answer.
    pub answer: &'a WaitAnswer,
    /// The job's number in its log.
    pub number: Option<i64>,
    /// Its actual wait.
    pub actual: Option<Seconds>,
    /// Of the random numbers.
    pub seed: u64,
}

/// The columns of one answer: the job, the site, the prediction. The predictions of other methods are after `wait`.
pub fn answer_columns<'a>() -> Vec<Column<AnswerRow<'a>>> {
    Vec::from(column_list! {
        |row: AnswerRow<'a>|
        key "job" "the number of the job in the log" row.number;
        label "time" "when it arrives, in seconds of the log" row.answer.now;
        label "procs" "its processors" row.answer.job.procs;
        label "estimate" "the user's estimate in seconds" row.answer.job.estimate;
        count "waiting" "jobs that wait then" row.answer.waiting;
        count "running" "jobs that run then" row.answer.running;
        count "occupied" "processors in use then" row.answer.occupied;
        duration "predicted" "the predicted wait in seconds" Cell::Seconds(row.answer.prediction.point);
        count "predicted_class" "its range, 1 to 6" row.answer.prediction.class().number();
        count "first_class" "the more probable range of two" row.answer.prediction.two()[0].0.number();
        fraction "first_probability" "its probability" row.answer.prediction.two()[0].1;
        count "second_class" "the other range" row.answer.prediction.two()[1].0.number();
        fraction "second_probability" "its probability" row.answer.prediction.two()[1].1;
        duration "expected" "the expected wait by these probabilities, in seconds"
            Cell::Seconds(row.answer.prediction.expected_wait());
        count "quick" "1 if it is predicted to start within an hour" row.answer.prediction.quick;
        count "similar" "similar jobs" row.answer.prediction.similar;
        real "distance" "the largest distance of a similar job" row.answer.prediction.radius;
        duration "wait" "what a job of the log waited" row.actual;
        label "seed" "of the random numbers" row.seed;
    })
}

impl AnswerRow<'_> {
    /// The row, with a column for each other method.
    pub fn cells(&self) -> Cells {
        let mut row = cells(&answer_columns(), self, Given::default());
        let others = self.answer.others.iter();
        let others = others.map(|(name, point)| (name.clone(), point.map(Cell::Seconds).into()));
        let seed = row.pop();
        row.extend(others.chain(seed));
        row
    }
}

/// Writes an answer as text. `name` describes the job in the first line; `actual` is its actual wait, if known.
pub fn write_answer(
    out: &mut dyn Write,
    width: Width,
    answer: &WaitAnswer,
    name: &str,
    schedule: &SiteSchedule<'_>,
    actual: Option<Seconds>,
) -> io::Result<()> {
    let WaitAnswer { job, prediction, .. } = answer;
    let procs = counted(u64::from(job.procs), "processor");
    let asked = format!("{}: {procs} for {}", printable(name), readable_duration(job.estimate as f64));
    write_wrapped(out, "", &asked, width)?;
    let (waiting, running) = (counted(answer.waiting as u64, "job"), counted(answer.running as u64, "job"));
    let occupied = grouped(answer.occupied.max(0) as u64);
    let all = counted(u64::from(schedule.workload.procs), "processor");
    write_wrapped(out, "", &format!("{waiting} waiting, {running} running on {occupied} of {all}"), width)?;
    writeln!(out)?;
    for (class, probability) in prediction.two() {
        writeln!(out, "{:>4.0}%: {}", probability * 100.0, class.name())?;
    }
    let similar = counted(prediction.similar as u64, "similar job");
    let point = readable_duration(prediction.point);
    let [shortest, middle, longest] = answer.waits.map(|wait| readable_duration(wait as f64));
    let (known, radius) = (grouped(answer.known as u64), prediction.radius);
    let neighbours = format!(
        "{similar} of the last {known} (distance up to {radius:.2}) waited {point} on average, the nearest counting most; \
         from {shortest} to {longest}, half of them at most {middle}. The nearest:"
    );
    write_paragraph(out, &neighbours, width)?;
    writeln!(out)?;
    let mut table = Table::default();
    table.headings(["  job", "processors", "estimate", "waited", "distance"]);
    for near in &answer.nearest {
        table.push(vec![
            format!("  {}", schedule.workload.jobs[near.id.index()].number),
            grouped(u64::from(near.job.procs)),
            readable_duration(near.job.estimate as f64),
            readable_duration(near.wait as f64),
            format!("{:.3}", near.distance),
        ]);
    }
    table.write(out, width)?;
    let quick = if prediction.quick { "yes" } else { "no" };
    let quick = format!("within the hour, by jobs of about its size and a machine about as full: {quick}");
    write_paragraph(out, &quick, width)?;
    for (name, point) in &answer.others {
        let point = point.map_or("no answer, too few jobs are known".to_string(), readable_duration);
        let what = if is_bound(name) { "at most " } else { "" };
        write_wrapped(out, "", &format!("{name}: {what}{point}"), width)?;
    }
    if let Some(actual) = actual {
        writeln!(out, "\nit waited {}: {}", readable_duration(actual as f64), WaitClass::of(actual as f64).name())?;
    }
    Ok(())
}

fn is_bound(name: &str) -> bool {
    WaitMethod::parse(name).is_ok_and(|method| method.is_bound())
}
