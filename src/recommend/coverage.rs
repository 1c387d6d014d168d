//! How often the intervals hold: what the first part of a log says of a setting, beside what the rest of it then did.

use std::io::{self, Write};
use std::path::Path;

use crate::experiment::{Options, Setting};
use crate::metrics::columns::{BSLD_MEAN, WAIT_MAX, WIDE_WAIT_MEAN};
use crate::metrics::{Cell, Cells, Column, Given, Interval, Portion, Replicates, RunRow, cells, column_list};
use crate::report::{Table, Width, signed_percent, write_paragraph};
use crate::runs::{PlannedRun, RunPlan, RunRemarks, RunsError, compute_rows};
use crate::text::counted;
use crate::trace::Resample;

/// The figures that are predicted: a mean, the longest wait and that of the widest jobs, which guards limit.
static FIGURES: [&Column; 3] = [&BSLD_MEAN, &WAIT_MAX, &WIDE_WAIT_MEAN];

/// What is compared with the present setting if no candidates are given.
pub fn coverage_settings() -> Vec<Setting> {
    let pairs = [
        "easy/sbh",
        "easy/kin",
        "sjbf/estimate",
        "sjbf/ruh",
        "sjbf/easy++",
        "sjbf/sbh",
        "sjbf/kin",
        "sjbf:running=estimate/kin",
        "fair/kin",
    ];
    pairs.map(|pair| Setting::parse_pair(pair).expect("a valid setting")).to_vec()
}

/// The experiment on one log.
pub struct Coverage {
    /// The log.
    pub trace: String,
    /// The options of all runs.
    pub options: Options,
    /// What the settings are compared with.
    pub present: Setting,
    /// The settings.
    pub settings: Vec<Setting>,
    /// The number of jobs of the first part.
    pub chosen_on: usize,
    /// How the first part is resampled. None: it is shaken.
    pub how: Option<Resample>,
    /// The number of resamples, or of runs in the same year.
    pub count: u32,
}

/// A figure of a setting on a log, predicted and measured. All numbers are improvements over the present setting, in percent.
pub struct CoverageCase {
    trace: String,
    setting: String,
    figure: &'static Column,
    /// The mean that the first part gives, with the ends of its 95% interval.
    predicted: f64,
    low: f64,
    high: f64,
    /// On the rest of the log.
    measured: f64,
}

impl CoverageCase {
    fn is_inside(&self) -> bool {
        (self.low..=self.high).contains(&self.measured)
    }
}

impl Coverage {
    /// The number of its runs.
    pub fn runs(&self) -> usize {
        let of_each = self.count + u32::from(self.how.is_some());
        self.settings.len() * (of_each as usize + 1)
    }

    /// What is being run when so many of the runs are finished.
    pub fn stage(&self, done: usize) -> String {
        super::year_in_words(if self.how.is_some() { done / self.settings.len() } else { 0 }, self.count)
    }

    fn plan(&self, replications: u32, part: impl Fn(&mut Options)) -> RunPlan {
        let start = |setting: &Setting| {
            let Setting { scheduler, predictor, .. } = setting.clone();
            let mut options =
                Options { scheduler, predictor, baseline: Some(self.present.clone()), ..self.options.clone() };
            part(&mut options);
            PlannedRun { trace: Some(self.trace.clone()), options }
        };
        RunPlan::replicated(self.settings.iter().map(start).collect(), replications)
    }

    /// Runs it. `progress` is called with the number of finished runs.
    ///
    /// # Errors
    /// If a run fails, or if results cannot be kept.
    pub fn cases(
        &self,
        folder: Option<&Path>,
        threads: usize,
        progress: &(dyn Fn(usize) + Sync),
    ) -> Result<(Vec<CoverageCase>, RunRemarks), RunsError> {
        let first = self.plan(self.count, |options| {
            options.shaping.first = Some(self.chosen_on);
            options.shaping.resample = self.how;
        });
        let rest = self.plan(1, |options| options.measure.warmup = Portion::Jobs(self.chosen_on));
        let mut of_first = compute_rows(&first, folder, threads, progress)?;
        let of_rest = compute_rows(&rest, folder, threads, &|done| progress(first.count() + done))?;
        let mut cases = Vec::new();
        for ((setting, rows), row) in self.settings.iter().zip(first.by_start(&of_first.rows)).zip(&of_rest.rows) {
            let runs = Replicates::each(rows);
            cases.extend(FIGURES.iter().filter_map(|figure| self.case(setting, figure, &runs, row)));
        }
        of_first.remarks.extend(of_rest.remarks);
        Ok((cases, of_first.remarks))
    }

    /// None if the figure is not defined.
    fn case(
        &self,
        setting: &Setting,
        figure: &'static Column,
        runs: &Replicates<'_>,
        rest: &RunRow,
    ) -> Option<CoverageCase> {
        let (predicted, low, high) = match runs.year_gain(figure) {
            Some(gain) => (gain.percent, gain.low?, gain.high?),
            None => {
                let Interval { mean, half_width } = runs.improvement(figure);
                (mean, mean - half_width?, mean + half_width?)
            }
        };
        let measured = figure.improvement(&rest.baseline.as_ref()?.summary, &rest.summary)?;
        let trace = runs.label().trace.clone();
        Some(CoverageCase { trace, setting: setting.pair(), figure, predicted, low, high, measured })
    }
}

/// A case as a row of CSV or JSON.
pub fn covered(case: &CoverageCase) -> Cells {
    let columns = column_list! {
        |case: CoverageCase|
        label "trace" "the log" case.trace.clone();
        label "setting" "the setting" case.setting.clone();
        label "figure" "the figure" case.figure.name;
        real "predicted" "improvement over the present setting in percent, from the first part of the log" case.predicted;
        real "low" "the lower end of its 95% interval" case.low;
        real "high" "the upper end of its 95% interval" case.high;
        real "measured" "the same on the rest of the log" case.measured;
    };
    let mut row = cells(&columns, case, Given::default());
    row.push(("inside".to_string(), Cell::Word(if case.is_inside() { "yes" } else { "no" })));
    row
}

/// Writes how many of the cases are inside their intervals: by log, by figure and of all.
pub fn write_coverage(out: &mut dyn Write, width: Width, cases: &[CoverageCase]) -> io::Result<()> {
    let mut table = Table::with_left(2);
    table.headings(["log", "figure", "cases", "inside", "share", "off, median"]);
    let mut logs: Vec<&str> = cases.iter().map(|case| &*case.trace).collect();
    logs.dedup();
    for log in logs {
        for figure in FIGURES {
            let own = cases.iter().filter(|case| case.trace == log && case.figure.name == figure.name);
            push(&mut table, log, figure.name, &own.collect::<Vec<_>>());
        }
    }
    let all: Vec<&CoverageCase> = cases.iter().collect();
    push(&mut table, "all", "all", &all);
    table.write(out, width)?;
    let inside = all.iter().filter(|case| case.is_inside()).count();
    let text = format!(
        "Of {}, {:.0}% are inside the 95% intervals that the first parts of the logs give. \"Off\" is by how much the measured \
         improvement differs from the predicted one.",
        counted(cases.len() as u64, "outcome"),
        100.0 * inside as f64 / cases.len() as f64
    );
    write_paragraph(out, &text, width)
}

fn push(table: &mut Table, log: &str, figure: &str, cases: &[&CoverageCase]) {
    if cases.is_empty() {
        return;
    }
    let inside = cases.iter().filter(|case| case.is_inside()).count();
    let mut off: Vec<f64> = cases.iter().map(|case| case.measured - case.predicted).collect();
    off.sort_by(f64::total_cmp);
    table.push(vec![
        log.to_string(),
        figure.to_string(),
        cases.len().to_string(),
        inside.to_string(),
        format!("{:.0}%", 100.0 * inside as f64 / cases.len() as f64),
        signed_percent(off[off.len() / 2]),
    ]);
}
