//! The results of a system as rows of named cells, and as tables for people.

use std::io::{self, Write};

use super::figures::{Fairness, MetaSummary};
use crate::report::{Cell, Table, counted, grouped, percent, signed_percent, write_wrapped};
use crate::time::readable_duration;

type MetaRow = Vec<(String, Cell)>;

fn text(text: &str) -> Cell {
    Cell::Text(text.to_string())
}

fn real(value: Option<f64>) -> Cell {
    value.map_or(Cell::None, Cell::Real)
}

fn named(cells: Vec<(&str, Cell)>) -> MetaRow {
    cells.into_iter().map(|(name, cell)| (name.to_string(), cell)).collect()
}

/// One row per policy: the figures of Table 8, a share for each site (Table 7), and other metrics. `home` is the same
/// system under `static`.
pub fn policy_row(home: &MetaSummary, run: &MetaSummary) -> MetaRow {
    let (waits, fairness) = (&run.waits, Fairness::of(home, run));
    let mut row = named(vec![
        ("policy", text(&run.policy)),
        ("jobs", Cell::Count(waits.jobs as u64)),
        ("wait_mean", Cell::Seconds(waits.wait_mean)),
        ("wait_le_1h_pct", Cell::Real(waits.wait_le_1h_pct)),
        ("wait_ge_1d_pct", Cell::Real(waits.wait_ge_1d_pct)),
    ]);
    row.extend(run.sites.iter().map(|site| (format!("share_{}_pct", site.name), Cell::Real(site.share_pct))));
    row.extend(named(vec![
        ("wait_p50", Cell::Seconds(waits.wait_p50)),
        ("wait_p95", Cell::Seconds(waits.wait_p95)),
        ("wait_max", Cell::Seconds(waits.wait_max)),
        ("bsld_mean", Cell::Real(waits.bsld_mean)),
        ("bsld_p50", Cell::Real(waits.bsld_p50)),
        ("bsld_p95", Cell::Real(waits.bsld_p95)),
        ("wait_reduction_pct", real(fairness.reduction_pct)),
        ("sites_gaining", Cell::Count(fairness.gaining as u64)),
        ("sites_paying", Cell::Count(fairness.paying as u64)),
        ("jain", Cell::Real(fairness.jain)),
        ("queued", Cell::Count(run.queued)),
        ("cancelled", Cell::Count(run.cancelled)),
    ]));
    row
}

/// One row per site under a policy: its own jobs, wherever they ran, and the jobs that ran there, wherever they were
/// submitted. `home` is the same system under `static`.
pub fn site_rows(home: &MetaSummary, run: &MetaSummary) -> Vec<MetaRow> {
    let gains = Fairness::of(home, run).gains_pct;
    let row = |(site, gain): (&super::figures::SiteSummary, Option<f64>)| {
        let (own, ran) = (&site.own, &site.ran);
        named(vec![
            ("policy", text(&run.policy)),
            ("site", text(&site.name)),
            ("procs", Cell::Count(u64::from(site.procs))),
            ("own_jobs", Cell::Count(own.jobs as u64)),
            ("own_wait_mean", Cell::Seconds(own.wait_mean)),
            ("own_wait_p50", Cell::Seconds(own.wait_p50)),
            ("own_wait_p95", Cell::Seconds(own.wait_p95)),
            ("own_bsld_mean", Cell::Real(own.bsld_mean)),
            ("own_wait_reduction_pct", real(gain)),
            ("ran_jobs", Cell::Count(ran.jobs as u64)),
            ("share_pct", Cell::Real(site.share_pct)),
            ("ran_wait_mean", Cell::Seconds(ran.wait_mean)),
            ("ran_wait_p50", Cell::Seconds(ran.wait_p50)),
            ("ran_wait_p95", Cell::Seconds(ran.wait_p95)),
            ("ran_bsld_mean", Cell::Real(ran.bsld_mean)),
            ("utilization", Cell::Real(site.utilization)),
        ])
    };
    run.sites.iter().zip(gains).map(row).collect()
}

/// Writes a table with one column per policy.
pub fn write_policies(out: &mut dyn Write, width: usize, home: &MetaSummary, runs: &[MetaSummary]) -> io::Result<()> {
    let jobs = counted(home.waits.jobs as u64, "job");
    let procs: u64 = home.sites.iter().map(|site| u64::from(site.procs)).sum();
    let (sites, procs) = (counted(home.sites.len() as u64, "site"), counted(procs, "processor"));
    write_wrapped(out, "", &format!("{sites}, {procs}, {jobs}; improvements over static: positive is better"), width)?;
    writeln!(out)?;
    let fairness: Vec<Fairness> = runs.iter().map(|run| Fairness::of(home, run)).collect();
    let mut table = Table::default();
    table.headings([""].into_iter().chain(runs.iter().map(|run| run.policy.as_str())));
    let mut line = |what: &str, cells: Vec<String>| table.push([vec![what.to_string()], cells].concat());
    let each = |show: &dyn Fn(&MetaSummary) -> String| runs.iter().map(show).collect::<Vec<_>>();
    line("wait, mean", each(&|run| readable_duration(run.waits.wait_mean)));
    line("  improvement", fairness.iter().map(|fair| improvement(fair.reduction_pct)).collect());
    line("  median", each(&|run| readable_duration(run.waits.wait_p50)));
    line("  95% of jobs within", each(&|run| readable_duration(run.waits.wait_p95)));
    line("  an hour at most", each(&|run| percent(run.waits.wait_le_1h_pct / 100.0)));
    line("  a day at least", each(&|run| percent(run.waits.wait_ge_1d_pct / 100.0)));
    line("bounded slowdown, mean", each(&|run| format!("{:.2}", run.waits.bsld_mean)));
    line("  median", each(&|run| format!("{:.2}", run.waits.bsld_p50)));
    line("  95% of jobs within", each(&|run| format!("{:.2}", run.waits.bsld_p95)));
    line("cancelled in queues", each(&|run| grouped(run.cancelled)));
    line("jobs that ran at", vec![]);
    for (at, site) in home.sites.iter().enumerate() {
        let what = format!("  {} ({})", site.name, grouped(u64::from(site.procs)));
        line(&what, each(&|run| percent(run.sites[at].share_pct / 100.0)));
    }
    line("mean wait of the jobs of", vec![]);
    for (at, site) in home.sites.iter().enumerate() {
        let what = format!("  {} ({})", site.name, counted(site.own.jobs as u64, "job"));
        line(&what, each(&|run| readable_duration(run.sites[at].own.wait_mean)));
    }
    line("improvement for the jobs of", vec![]);
    for (at, site) in home.sites.iter().enumerate() {
        line(&format!("  {}", site.name), fairness.iter().map(|fair| improvement(fair.gains_pct[at])).collect());
    }
    line("sites that gain", fairness.iter().map(|fair| fair.gaining.to_string()).collect());
    line("sites that pay", fairness.iter().map(|fair| fair.paying.to_string()).collect());
    line("Jain's index of their slowdowns", fairness.iter().map(|fair| format!("{:.3}", fair.jain)).collect());
    table.write(out, width)
}

/// The reduction of a wait with its sign: a shorter wait is positive.
fn improvement(reduction: Option<f64>) -> String {
    reduction.map_or("-".to_string(), signed_percent)
}

/// Writes the mean waits of many systems, by name, under the same policies, and the means over all systems.
pub fn write_scenarios(out: &mut dyn Write, width: usize, scenarios: &[(String, Vec<MetaSummary>)]) -> io::Result<()> {
    let Some((_, first)) = scenarios.first() else { return Ok(()) };
    let mut table = Table::default();
    table.headings(["wait, mean"].into_iter().chain(first.iter().map(|run| run.policy.as_str())));
    let mut line = |what: &str, cells: Vec<String>| table.push([vec![what.to_string()], cells].concat());
    for (name, runs) in scenarios {
        line(&format!("  {name}"), runs.iter().map(|run| readable_duration(run.waits.wait_mean)).collect());
    }
    if scenarios.len() > 1 {
        let means = |of: fn(&MetaSummary) -> f64| (0..first.len()).map(move |at| mean_over(scenarios, at, of));
        line("mean over scenarios", vec![]);
        line("  wait", means(|run| run.waits.wait_mean).map(readable_duration).collect());
        line("  an hour at most", means(|run| run.waits.wait_le_1h_pct).map(|share| percent(share / 100.0)).collect());
        line("  a day at least", means(|run| run.waits.wait_ge_1d_pct).map(|share| percent(share / 100.0)).collect());
        line("  bounded slowdown", means(|run| run.waits.bsld_mean).map(|bsld| format!("{bsld:.2}")).collect());
    }
    table.write(out, width)
}

/// The mean over all scenarios of one value, for the policy at index `policy`.
pub fn mean_over(scenarios: &[(String, Vec<MetaSummary>)], policy: usize, of: fn(&MetaSummary) -> f64) -> f64 {
    scenarios.iter().map(|(_, runs)| of(&runs[policy])).sum::<f64>() / scenarios.len() as f64
}
