//! Writes the state of the machine and its queue over time.

use std::io::{self, Write};

use super::data::csv_cell;
use super::digits::NumberLine;
use crate::metrics::SeriesStep;

/// Writes the CSV of series: one line per step. If the runs are named, because there are several, the name is the first
/// column.
pub fn write_series<'a>(
    out: &mut dyn Write,
    runs: impl Iterator<Item = (Option<&'a str>, &'a [SeriesStep])>,
) -> io::Result<()> {
    let mut line = NumberLine::default();
    for (at, (setting, steps)) in runs.enumerate() {
        if at == 0 {
            let first = if setting.is_some() { "setting," } else { "" };
            writeln!(out, "{first}time,waiting,running,procs_used,procs_waiting,utilization")?;
        }
        let setting = setting.map(csv_cell);
        for step in steps {
            if let Some(setting) = &setting {
                line.word(setting);
            }
            line.whole(step.time);
            for count in [step.waiting, step.running, step.procs_used, step.procs_waiting] {
                line.whole(count as i64);
            }
            line.real(step.utilization, 6);
            line.end(out)?;
        }
    }
    Ok(())
}
