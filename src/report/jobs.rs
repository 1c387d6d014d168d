//! Row by row: every job, every prediction.

use std::io::{self, Write};

use super::data::CsvLines;
use super::row::Cell;
use crate::metrics::{JobMetrics, PredictionRow};

/// The per-job CSV: one line a job, in workload order.
pub fn write_jobs(out: &mut dyn Write, jobs: impl Iterator<Item = JobMetrics>) -> io::Result<()> {
    let mut csv = CsvLines::new(out);
    csv.line([
        "job",
        "user",
        "submit",
        "start",
        "end",
        "wait",
        "procs",
        "runtime",
        "estimate",
        "prediction",
        "prediction_last",
        "misses",
        "bsld",
        "ai",
        "ra",
        "backfilled",
    ])?;
    for job in jobs {
        csv.line([
            job.number.to_string(),
            job.user.to_string(),
            job.submit.to_string(),
            job.start.to_string(),
            job.end.to_string(),
            job.wait.to_string(),
            job.procs.to_string(),
            job.runtime.to_string(),
            job.estimate.to_string(),
            job.prediction.to_string(),
            job.prediction_last.to_string(),
            job.misses.to_string(),
            Cell::Real(job.bsld).text(),
            Cell::Seconds(job.ai).text(),
            Cell::Real(job.ra).text(),
            u8::from(job.backfilled).to_string(),
        ])?;
    }
    csv.finish()
}

/// The history of predictions: one line for each that was made, in the order they were made.
pub fn write_predictions(out: &mut dyn Write, rows: impl Iterator<Item = PredictionRow>) -> io::Result<()> {
    let mut csv = CsvLines::new(out);
    csv.line(["job", "time", "prediction", "event", "cause"])?;
    for row in rows {
        let (job, time) = (row.job.to_string(), row.time.to_string());
        csv.line([&job, &time, &row.prediction.to_string(), row.event, &row.cause.to_string()])?;
    }
    csv.finish()
}
