//! The files that the main command writes in addition to the table.

use super::groups::GroupPlan;
use super::{RunDetails, SimulateArgs};
use crate::cli::failure::UsageError;
use crate::cli::notes::made_by;
use crate::cli::output_options::OutputFiles;
use crate::cli::settings::LogUnderSettings;
use crate::engine::Observer;
use crate::metrics::{AllPredictions, KeptRecord, Probe, Series, Watched};
use crate::output::{Output, RunOutput, write_csv, write_jobs, write_predictions, write_series, write_swf};
use crate::report::breakdown_cells;
use crate::time::Seconds;

/// The series of `--series-out`. Its own type: charts have other steps.
#[derive(Debug)]
struct WrittenSeries(Series);

impl Probe for WrittenSeries {
    fn observer(&mut self) -> Option<&mut dyn Observer> {
        Some(&mut self.0)
    }
}

/// The outputs. None if not requested.
pub struct DetailFiles {
    jobs: Option<Output>,
    pub swf: Option<Output>,
    pub predictions: Option<Output>,
    pub names: Option<Output>,
    by: Option<Output>,
    pub series: Option<Output>,
    pub html: Option<Output>,
}

impl DetailFiles {
    /// Opens the outputs. Also returns whether one of them is standard output.
    pub fn open(args: &SimulateArgs) -> anyhow::Result<(DetailFiles, bool)> {
        let outputs = [
            ("--jobs-out", &args.jobs_out),
            ("--swf-out", &args.swf_out),
            ("--predictions-out", &args.predictions_out),
            ("--names-out", &args.names_out),
            ("--by-out", &args.groups.by_out),
            ("--series-out", &args.series_out),
            ("--html", &args.html),
        ];
        let OutputFiles { files, stdout_taken } = OutputFiles::open(outputs, &args.log.files())?;
        let [jobs, swf, predictions, names, by, series, html] = files;
        Ok((DetailFiles { jobs, swf, predictions, names, by, series, html }, stdout_taken))
    }

    /// Whether the records of all runs are needed after the simulations.
    pub fn needs_records(&self) -> bool {
        self.jobs.is_some() || self.swf.is_some() || self.predictions.is_some()
    }

    /// Adds what the files show of a run.
    pub fn watch(&self, watched: &mut Watched<'_>, step: Seconds) {
        if self.needs_records() {
            watched.add(|_, _| KeptRecord::default());
        }
        if self.predictions.is_some() {
            watched.add(|_, _| AllPredictions);
        }
        if self.series.is_some() {
            watched.add(move |workload, _| WrittenSeries(Series::new(workload.procs, workload.first_submit(), step)));
        }
    }

    /// Writes all files. If there are several settings, their names are the first column.
    pub fn write(self, log: &LogUnderSettings, groups: &GroupPlan, details: &[RunDetails]) -> anyhow::Result<()> {
        let (names, workload, options) = (log.names(), &log.workload, &log.settings[0]);
        let workload_of = |at: usize| log.workload_of(at);
        let name = |at: usize| (names.len() > 1).then(|| names[at].as_str());
        let seen = |at: usize| &details[at].run.own.seen;
        let output = |at: usize| RunOutput { name: name(at), workload: workload_of(at), record: seen(at).record() };
        let outputs = || (0..names.len()).map(output).collect::<Vec<_>>();
        if let Some(out) = self.jobs {
            out.fill(|out| write_jobs(out, &outputs(), workload, options.measure.bsld_threshold))?;
        }
        if let Some((out, text)) = self.swf.zip(log.log.text.as_ref()) {
            let estimates = options.estimates.as_ref().map(|model| made_by(model, options.estimates_seed));
            out.fill(|out| write_swf(out, (&log.log.header, text), &names[0], estimates.as_deref(), &output(0)))?;
        }
        if let Some(out) = self.predictions {
            out.fill(|out| write_predictions(out, &outputs()))?;
        }
        if let Some(out) = self.by {
            let of_setting = |(at, details): (usize, &RunDetails)| -> Vec<_> {
                groups.file.iter().flat_map(|&by| breakdown_cells(name(at), &details.breakdowns[by])).collect()
            };
            let rows: Vec<_> = details.iter().enumerate().flat_map(of_setting).collect();
            out.fill(|out| write_csv(out, &rows, true))?;
        }
        if let Some(out) = self.series {
            let steps = |at: usize| seen(at).of::<WrittenSeries>().0.clone().finish();
            let all: Vec<_> = (0..names.len()).map(steps).collect::<Result<_, _>>().map_err(UsageError)?;
            let all: Vec<_> = all.iter().enumerate().map(|(at, steps)| (name(at), &steps[..])).collect();
            out.fill(|out| write_series(out, &all))?;
        }
        Ok(())
    }
}
