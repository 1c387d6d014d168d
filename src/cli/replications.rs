//! `--replications`: the main command on the log as it is and on slightly shaken ones, so that chance shows.

use super::Format;
use super::progress::Progress;
use crate::experiment::{OptionForm, Options, simulate};
use crate::metrics::{Improvement, summarize};
use crate::parallel;
use crate::report::{Cell, Compared, Output, RunLabel, summary_row, write_csv, write_groups, write_json};
use crate::sweep::Results;
use crate::trace::Workload;

/// Runs cleaned, unshaped jobs so many times and prints the means with their intervals.
pub fn execute(
    options: &Options,
    workload: &Workload,
    replications: u32,
    threads: usize,
    format: Format,
    header: bool,
    quiet: bool,
) -> anyhow::Result<()> {
    let progress = Progress::counting("simulating", "replications", Some(replications as usize), quiet);
    let numbers: Vec<u32> = (0..replications).collect();
    let row = |number: &u32| replication(options, workload, *number);
    let rows = parallel::map(&numbers, threads, row, |done| progress.at(done));
    drop(progress);
    let rows = rows.into_iter().collect::<anyhow::Result<Vec<_>>>()?;
    let names = rows[0].iter().map(|(name, _)| name.to_string()).collect();
    let texts = rows.iter().map(|row| row.iter().map(|(_, cell)| cell.text()).collect()).collect();
    let same = ["trace", "scheduler", "predictor"].map(str::to_string);
    let mut groups = Results { names, rows: texts, runs: Vec::new() }.group_by(&same)?;
    if format != Format::Table {
        // What all replications share; the table's reader has just written it.
        groups.iter_mut().for_each(|group| group.push(("options".to_string(), Cell::Text(options.in_row()))));
    }
    Output::stdout().fill(|out| match format {
        Format::Table => write_groups(out, &groups, same.len()),
        Format::Csv => write_csv(out, &groups, header),
        // They agree in all three, so there is one group.
        Format::Json => write_json(out, &groups[0]),
    })?;
    Ok(())
}

fn replication(options: &Options, workload: &Workload, number: u32) -> anyhow::Result<Vec<(&'static str, Cell)>> {
    let mut options = options.clone();
    let form = OptionForm::find("replication").expect("an option of ours");
    form.set(&mut options, &number.to_string()).map_err(anyhow::Error::msg)?;
    let workload = options.shape(workload.clone())?;
    let run = |setting| {
        simulate(&workload, setting, &mut |_| ()).map(|record| summarize(&workload, &record, &options.measure))
    };
    let setting = options.setting();
    let summary = run(&setting)?;
    let compared = match &options.baseline {
        None => None,
        Some(base) => Some(Compared { baseline: base.pair(), improvement: Improvement::over(&run(base)?, &summary) }),
    };
    Ok(summary_row(&RunLabel::of(&workload, &options), &summary, compared.as_ref()))
}
