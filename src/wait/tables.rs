//! Predictions of waits as rows of named cells, and as tables for people.

use std::io::{self, Write};

use super::answer::WaitAnswer;
use super::classes::WaitClass;
use super::evaluate::Evaluation;
use super::figures::{CalibrationBin, HitRate, WaitFigures};
use super::method::WaitMethod;
use super::regression::ITERATIONS;
use super::schedule::SiteSchedule;
use crate::report::{Cell, Table, counted, grouped, percent, write_wrapped};
use crate::text::printable;
use crate::time::{Seconds, readable_duration};

/// One row of results: named cells.
pub type WaitRow = Vec<(&'static str, Cell)>;

/// One row per method:
/// `method,predictions,ppe_pct,class1_pct,class2_pct,class3_pct,class1_slow_pct,class2_slow_pct,class3_slow_pct`, then
/// `slow,unanswered,covered_pct,quick_precision_pct,quick_recall_pct,trace,scheduler,stopped`, then
/// `mean_error,within_1m_pct,within_10m_pct,within_x2_pct,within_x3_pct`, then
/// `covered50_pct,covered80_pct,covered90_pct,covered95_pct,pinball`.
pub fn figures_cells(figures: &WaitFigures, trace: &str, scheduler: &str) -> WaitRow {
    let share = |share: &HitRate| Cell::Real(share.percent());
    let quick = |pick: fn(&(HitRate, HitRate)) -> &HitRate| {
        figures.quick.as_ref().map_or(Cell::None, |quick| Cell::Real(pick(quick).percent()))
    };
    let bound = |level: usize| match figures.bounds[level] {
        HitRate { all: 0, .. } => Cell::None,
        met => share(&met),
    };
    vec![
        ("method", Cell::Text(figures.method.clone())),
        ("predictions", Cell::Count(figures.predictions)),
        ("ppe_pct", Cell::Real(figures.ppe_percent())),
        ("class1_pct", share(&figures.classes[0])),
        ("class2_pct", share(&figures.classes[1])),
        ("class3_pct", share(&figures.classes[2])),
        ("class1_slow_pct", share(&figures.slow[0])),
        ("class2_slow_pct", share(&figures.slow[1])),
        ("class3_slow_pct", share(&figures.slow[2])),
        ("slow", Cell::Count(figures.slow[0].all)),
        ("unanswered", Cell::Count(figures.unanswered)),
        ("covered_pct", share(&figures.covered)),
        ("quick_precision_pct", quick(|(precision, _)| precision)),
        ("quick_recall_pct", quick(|(_, recall)| recall)),
        ("trace", Cell::Text(trace.to_string())),
        ("scheduler", Cell::Text(scheduler.to_string())),
        ("stopped", Cell::Count(figures.stopped)),
        ("mean_error", Cell::Seconds(figures.mean_error())),
        ("within_1m_pct", share(&figures.within_minutes[0])),
        ("within_10m_pct", share(&figures.within_minutes[1])),
        ("within_x2_pct", share(&figures.within_factors[0])),
        ("within_x3_pct", share(&figures.within_factors[1])),
        ("covered50_pct", bound(0)),
        ("covered80_pct", bound(1)),
        ("covered90_pct", bound(2)),
        ("covered95_pct", bound(3)),
        ("pinball", figures.pinball().map_or(Cell::None, Cell::Seconds)),
    ]
}

/// `method,class,predicted_class,jobs`: one row per true and predicted class.
pub fn confusion_cells(figures: &WaitFigures) -> Vec<WaitRow> {
    let pairs = WaitClass::all().flat_map(|truth| WaitClass::all().map(move |class| (truth, class)));
    let row = |(truth, class): (WaitClass, WaitClass)| {
        vec![
            ("method", Cell::Text(figures.method.clone())),
            ("class", Cell::Count(truth.number())),
            ("predicted_class", Cell::Count(class.number())),
            ("jobs", Cell::Count(figures.confusion[truth.index()][class.index()])),
        ]
    };
    pairs.map(row).collect()
}

/// `low,high,count,predicted,observed,by`: the probabilities of classes, in tenths, and who gives them.
pub fn calibration_cells(by: &str, bin: &CalibrationBin) -> WaitRow {
    vec![
        ("low", Cell::Number(bin.low)),
        ("high", Cell::Number((bin.low * 10.0 + 1.0) / 10.0)),
        ("count", Cell::Count(bin.count)),
        ("predicted", Cell::Real(bin.predicted())),
        ("observed", Cell::Real(bin.observed())),
        ("by", Cell::Text(by.to_string())),
    ]
}

/// One method's prediction for one job: `method,job,submit,procs,estimate,wait,class,predicted,predicted_class`, the
/// two classes of the answer, the probabilities of all six, `quick,similar`, and the waits that are not exceeded with a
/// probability of 50, 80, 90 and 95%, `by50,by80,by90,by95`. `at` is an index into the evaluation's
/// jobs, `method` into its methods. None if the method has no answer.
pub fn job_cells(evaluation: &Evaluation, schedule: &SiteSchedule<'_>, at: usize, method: usize) -> Option<WaitRow> {
    let (method, answers) = &evaluation.answers[method];
    let (judged, answer) = (&evaluation.jobs[at], answers[at]?);
    let (point, probabilities) = (answer.point, answer.probabilities.unwrap_or(judged.probabilities));
    let job = &schedule.jobs[judged.id.index()];
    let class = answer.class();
    let two = class.two_most_probable(&probabilities);
    let mut row = vec![
        ("method", Cell::Text(method.name())),
        ("job", Cell::Number(job.number as f64)),
        ("submit", Cell::Number(job.submission.submit as f64)),
        ("procs", Cell::Count(u64::from(job.submission.procs))),
        ("estimate", Cell::Number(job.submission.estimate as f64)),
        ("wait", Cell::Number(judged.wait as f64)),
        ("class", Cell::Count(WaitClass::of(judged.wait as f64).number())),
        ("predicted", Cell::Seconds(point)),
        ("predicted_class", Cell::Count(class.number())),
        ("first_class", Cell::Count(two[0].number())),
        ("second_class", Cell::Count(two[1].number())),
    ];
    let names = ["p1", "p2", "p3", "p4", "p5", "p6"];
    row.extend(names.into_iter().zip(probabilities.map(Cell::Real)));
    row.push(("quick", Cell::Count(u64::from(judged.quick))));
    row.push(("similar", Cell::Count(judged.similar as u64)));
    let bounds = ["by50", "by80", "by90", "by95"].into_iter().zip(answer.bounds);
    row.extend(bounds.map(|(name, bound)| (name, bound.map_or(Cell::None, Cell::Seconds))));
    Some(row)
}

/// Writes the figures of all methods, the confusion matrix of the first one, and the calibration of the probabilities.
pub fn write_tables(out: &mut dyn Write, width: usize, evaluation: &Evaluation, all: &[WaitFigures]) -> io::Result<()> {
    let mut table = Table::default();
    table.headings([
        "",
        "predictions",
        "error",
        "1 class",
        "2 classes",
        "3 classes",
        "slow: 1",
        "slow: 2",
        "slow: 3",
        "covered",
    ]);
    for figures in all {
        let mut cells = vec![figures.method.clone(), grouped(figures.predictions)];
        let shares = figures.classes.iter().chain(&figures.slow).chain([&figures.covered]);
        let numbers = [figures.ppe_percent()].into_iter().chain(shares.map(HitRate::percent));
        cells.extend(numbers.map(|number| percent(number / 100.0)));
        table.push(cells);
    }
    table.write(out, width)?;
    writeln!(out)?;
    write_closeness(out, width, all)?;
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
        writeln!(out)?;
        write_wrapped(out, "", &quick, width)?;
    }
    if let Some(first) = all.first() {
        let heading = format!("{}: jobs by what they waited (lines) and by what was predicted (columns)", first.method);
        writeln!(out)?;
        write_wrapped(out, "", &heading, width)?;
        let mut table = Table::default();
        table.headings([""].into_iter().chain(WaitClass::all().map(WaitClass::name)));
        for class in WaitClass::all() {
            let counts = first.confusion[class.index()].map(grouped);
            table.push([class.name().to_string()].into_iter().chain(counts).collect());
        }
        table.write(out, width)?;
    }
    for (by, bins) in evaluation.calibrations() {
        writeln!(out)?;
        let heading = format!("probabilities of ranges by {by}, and how often the job was in the range");
        write_wrapped(out, "", &heading, width)?;
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

/// How near point predictions are, and how often bounds hold.
fn write_closeness(out: &mut dyn Write, width: usize, all: &[WaitFigures]) -> io::Result<()> {
    let mut table = Table::default();
    let headings =
        ["", "mean error", "within 1 min", "10 min", "factor 2", "factor 3", "by 50%", "by 80%", "by 90%", "by 95%"];
    table.headings(headings.into_iter().chain(["loss"]));
    let duration = |seconds: f64| if seconds.is_finite() { readable_duration(seconds) } else { "-".to_string() };
    for figures in all {
        let near = figures.within_minutes.iter().chain(&figures.within_factors).chain(&figures.bounds);
        let shares = near.map(|share| if share.all == 0 { "-".to_string() } else { percent(share.percent() / 100.0) });
        let cells = [figures.method.clone(), duration(figures.mean_error())].into_iter().chain(shares);
        table.push(cells.chain([figures.pinball().map_or("-".to_string(), duration)]).collect());
    }
    table.write(out, width)
}

/// One answer as a row: the job, the site, the prediction, and the predictions of other methods. `number` is the job's
/// number in its log, `actual` its actual wait.
pub fn answer_cells(answer: &WaitAnswer, number: Option<i64>, actual: Option<Seconds>) -> Vec<(String, Cell)> {
    let prediction = &answer.prediction;
    let whole = |value: i64| Cell::Number(value as f64);
    let [first, second] = prediction.two();
    let mut row: Vec<(String, Cell)> = [
        ("job", number.map_or(Cell::None, whole)),
        ("time", whole(answer.now)),
        ("procs", Cell::Count(u64::from(answer.job.procs))),
        ("estimate", whole(answer.job.estimate)),
        ("waiting", Cell::Count(answer.waiting as u64)),
        ("running", Cell::Count(answer.running as u64)),
        ("occupied", whole(answer.occupied)),
        ("predicted", Cell::Seconds(prediction.point)),
        ("predicted_class", Cell::Count(prediction.class().number())),
        ("first_class", Cell::Count(first.0.number())),
        ("first_probability", Cell::Real(first.1)),
        ("second_class", Cell::Count(second.0.number())),
        ("second_probability", Cell::Real(second.1)),
        ("expected", Cell::Seconds(prediction.expected_wait())),
        ("quick", Cell::Count(u64::from(prediction.quick))),
        ("similar", Cell::Count(prediction.similar as u64)),
        ("distance", Cell::Real(prediction.radius)),
        ("wait", actual.map_or(Cell::None, whole)),
    ]
    .into_iter()
    .map(|(name, cell)| (name.to_string(), cell))
    .collect();
    row.extend(answer.others.iter().map(|(name, point)| (name.clone(), point.map_or(Cell::None, Cell::Seconds))));
    row
}

/// Writes an answer as text. `name` describes the job in the first line; `actual` is its actual wait, if known.
pub fn write_answer(
    out: &mut dyn Write,
    width: usize,
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
    let all = counted(u64::from(schedule.procs), "processor");
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
    writeln!(out)?;
    write_wrapped(out, "", &neighbours, width)?;
    writeln!(out)?;
    let mut table = Table::default();
    table.headings(["  job", "processors", "estimate", "waited", "distance"]);
    for near in &answer.nearest {
        table.push(vec![
            format!("  {}", schedule.jobs[near.id.index()].number),
            grouped(u64::from(near.job.procs)),
            readable_duration(near.job.estimate as f64),
            readable_duration(near.wait as f64),
            format!("{:.3}", near.distance),
        ]);
    }
    table.write(out, width)?;
    let quick = if prediction.quick { "yes" } else { "no" };
    writeln!(out)?;
    write_wrapped(
        out,
        "",
        &format!("within the hour, by jobs of about its size and a machine about as full: {quick}"),
        width,
    )?;
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
