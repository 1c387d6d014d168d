//! `--replications`: the main command on the log as it is and on slightly shaken copies, to show the effect of chance.

use super::output_options::OutputOptions;
use super::progress::Progress;
use crate::experiment::{OptionForm, Options, simulate};
use crate::metrics::columns::{OPTIONS, SETTING};
use crate::metrics::{Baseline, Groups, RunRow, summarize};
use crate::parallel;
use crate::report::{Cell, group_cells, write_groups};
use crate::trace::Workload;

/// Shapes and runs cleaned jobs `replications` times, and prints means with their intervals.
pub fn execute(
    options: &Options,
    workload: &Workload,
    replications: u32,
    output: &OutputOptions,
    quiet: bool,
) -> anyhow::Result<()> {
    let progress = Progress::counting("simulating", "replications", Some(replications as usize), quiet);
    let numbers: Vec<u32> = (0..replications).collect();
    let row = |number: &u32| replication(options, workload, *number);
    let rows = parallel::map(&numbers, output.threads(), row, |done| progress.set(done));
    drop(progress);
    let rows = rows.into_iter().collect::<anyhow::Result<Vec<_>>>()?;
    // All replications have the same setting, so they form one group.
    let names = SETTING.map(|column| column.name.to_string());
    let mut groups = Groups::new(options.baseline.is_some());
    for row in &rows {
        groups.add(SETTING.iter().map(|column| column.cell(row).text()).collect(), None, row);
    }
    let groups = groups.means();
    // The table does not show the options: its reader has just typed them.
    let options = (OPTIONS.name.to_string(), Cell::Text(options.in_row()));
    let cells = [group_cells(&names, &groups[0]), vec![options]].concat();
    Ok(output.print.print_row(false, &cells, |out| write_groups(out, &names, &groups))?)
}

fn replication(options: &Options, workload: &Workload, number: u32) -> anyhow::Result<RunRow> {
    let mut options = options.clone();
    let form = OptionForm::find("replication").expect("the option exists");
    form.set(&mut options, &number.to_string()).map_err(anyhow::Error::msg)?;
    let workload = options.shape(workload.clone())?;
    let run = |setting| {
        simulate(&workload, setting, &mut |_| ()).map(|record| summarize(&workload, &record, &options.measure))
    };
    let setting = options.setting();
    let summary = run(&setting)?;
    let baseline = match &options.baseline {
        None => None,
        Some(base) => Some(Baseline { name: base.pair(), summary: run(base)? }),
    };
    Ok(RunRow { label: options.label(&workload), summary, baseline })
}
