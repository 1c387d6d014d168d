//! Writes one line per job, and one per prediction.

use std::io::{self, Write};

use super::data::csv_cell;
use super::digits::NumberLine;
use crate::metrics::{JobMetrics, PredictionRow};

const JOB_COLUMNS: &str =
    "job,user,submit,start,end,wait,procs,runtime,estimate,prediction,prediction_last,misses,bsld,ai,ra,backfilled";

/// Writes the CSV of jobs: one line per job, in workload order. If the runs are named, because there are several, the name
/// is the first column.
pub fn write_jobs<'a, J: Iterator<Item = JobMetrics>>(
    out: &mut dyn Write,
    runs: impl Iterator<Item = (Option<&'a str>, J)>,
) -> io::Result<()> {
    let mut line = NumberLine::default();
    for (at, (setting, jobs)) in runs.enumerate() {
        if at == 0 {
            writeln!(out, "{}{JOB_COLUMNS}", if setting.is_some() { "setting," } else { "" })?;
        }
        let setting = setting.map(csv_cell);
        for job in jobs {
            if let Some(setting) = &setting {
                line.word(setting);
            }
            push_job(&mut line, &job);
            line.end(out)?;
        }
    }
    Ok(())
}

/// A job of a grid of several sites.
#[derive(Clone, Copy, Debug)]
pub struct PlacedRow<'a> {
    /// The policy that chose the site.
    pub policy: &'a str,
    /// The name of the site where it was submitted.
    pub origin: &'a str,
    /// The name of the site where it ran.
    pub site: &'a str,
    /// The job and its metrics.
    pub job: JobMetrics,
}

/// Writes the CSV of the jobs of a grid: as [`write_jobs`], with policy, origin and site as the first columns.
pub fn write_placed_jobs<'a>(out: &mut dyn Write, rows: impl Iterator<Item = PlacedRow<'a>>) -> io::Result<()> {
    writeln!(out, "policy,origin,site,{JOB_COLUMNS}")?;
    let mut line = NumberLine::default();
    for row in rows {
        line.word(&csv_cell(row.policy));
        line.word(&csv_cell(row.origin));
        line.word(&csv_cell(row.site));
        push_job(&mut line, &row.job);
        line.end(out)?;
    }
    Ok(())
}

fn push_job(line: &mut NumberLine, job: &JobMetrics) {
    line.whole(job.number);
    line.whole(job.user);
    line.whole(job.submit);
    line.whole(job.start);
    line.whole(job.end);
    line.whole(job.wait);
    line.whole(i64::from(job.procs));
    line.whole(job.runtime);
    line.whole(job.estimate);
    line.whole(job.prediction);
    line.whole(job.prediction_last);
    line.whole(i64::from(job.misses));
    line.real(job.bsld, 6);
    line.real(job.ai, 3);
    line.real(job.ra, 6);
    line.whole(i64::from(job.backfilled));
}

/// Writes the history of predictions: one line per prediction, in the order they were made. Named runs as in [`write_jobs`].
pub fn write_predictions<'a, R: Iterator<Item = PredictionRow>>(
    out: &mut dyn Write,
    runs: impl Iterator<Item = (Option<&'a str>, R)>,
) -> io::Result<()> {
    let mut line = NumberLine::default();
    for (at, (setting, rows)) in runs.enumerate() {
        if at == 0 {
            writeln!(out, "{}job,time,prediction,event,cause", if setting.is_some() { "setting," } else { "" })?;
        }
        let setting = setting.map(csv_cell);
        for row in rows {
            if let Some(setting) = &setting {
                line.word(setting);
            }
            line.whole(row.job);
            line.whole(row.time);
            line.whole(row.prediction);
            line.word(row.event);
            line.whole(row.cause);
            line.end(out)?;
        }
    }
    Ok(())
}
