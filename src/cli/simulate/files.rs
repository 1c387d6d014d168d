//! The files that the main command writes in addition to the table.

use super::SimulateArgs;
use super::runs::Results;
use crate::cli::notes::made_by;
use crate::cli::output_options::OutputFiles;
use crate::experiment::Settings;
use crate::metrics::{JobMetrics, PredictionRow};
use crate::report::{
    Output, OutputError, breakdown_cells, write_csv, write_jobs, write_predictions, write_schedule, write_series,
};
use crate::trace::Log;

/// The outputs. None if not requested.
pub struct Details {
    jobs: Option<Output>,
    pub swf: Option<Output>,
    pub predictions: Option<Output>,
    pub names: Option<Output>,
    by: Option<Output>,
    pub series: Option<Output>,
}

impl Details {
    /// Opens the outputs. Also returns whether one of them is standard output.
    pub fn open(args: &SimulateArgs) -> anyhow::Result<(Details, bool)> {
        let outputs = [
            ("--jobs-out", &args.jobs_out),
            ("--swf-out", &args.swf_out),
            ("--predictions-out", &args.predictions_out),
            ("--names-out", &args.names_out),
            ("--by-out", &args.groups.by_out),
            ("--series-out", &args.series_out),
        ];
        let OutputFiles { files, stdout_taken } = OutputFiles::open(outputs, &args.log.files())?;
        let [jobs, swf, predictions, names, by, series] = files;
        Ok((Details { jobs, swf, predictions, names, by, series }, stdout_taken))
    }

    /// Whether the records of all runs are needed after the simulations.
    pub fn needs_records(&self) -> bool {
        self.jobs.is_some() || self.swf.is_some() || self.predictions.is_some()
    }

    /// Writes all files. If there are several settings, their names are the first column.
    pub fn write(self, settings: &Settings, log: &Log, results: &Results) -> Result<(), OutputError> {
        let Results { workload, names, .. } = results;
        let name = |at: usize| (names.len() > 1).then(|| names[at].as_str());
        let options = &settings.options[0];
        let jobs = |at: usize| {
            let threshold = options.measure.bsld_threshold;
            let metrics = results.records[at].finished(&workload.jobs).map(move |job| JobMetrics::of(&job, threshold));
            metrics.map(|job| job.with_number_of_user(&workload.wide))
        };
        if let Some(out) = self.jobs {
            out.fill(|out| write_jobs(out, (0..names.len()).map(|at| (name(at), jobs(at)))))?;
        }
        if let Some((out, text)) = self.swf.zip(log.text.as_ref()) {
            let estimates = options.estimates.as_ref().map(|model| made_by(model, options.estimates_seed));
            let (header, procs, estimates) = (&log.header, workload.procs, estimates.as_deref());
            out.fill(|out| write_schedule(out, header, text, procs, &names[0], estimates, jobs(0)))?;
        }
        if let Some(out) = self.predictions {
            let rows = |at: usize| {
                let history = results.records[at].history.iter().flatten();
                (name(at), history.map(|made| PredictionRow::of(made, &workload.jobs)))
            };
            out.fill(|out| write_predictions(out, (0..names.len()).map(rows)))?;
        }
        if let Some(out) = self.by {
            let rows: Vec<_> =
                results.files().flat_map(|(at, breakdown)| breakdown_cells(name(at), breakdown)).collect();
            out.fill(|out| write_csv(out, &rows, true))?;
        }
        if let Some(out) = self.series {
            let series = results.series.iter().enumerate();
            out.fill(|out| write_series(out, series.map(|(at, steps)| (name(at), steps.as_slice()))))?;
        }
        Ok(())
    }
}
