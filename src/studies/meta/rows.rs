//! The results of a system as rows of named cells, and as tables for people.

use std::io::{self, Write};

use super::figures::{Fairness, MetaSummary, SiteSummary, WaitSummary};
use crate::metrics::{
    Cell, Cells, Column, Given, JOB_COLUMNS, JobRow, ListedColumn, Shown, When, cells, column_list, listed, present,
};
use crate::report::{Table, TableCell, Width, counted, grouped, percent, write_rows, write_wrapped};
use crate::time::readable_duration;

/// A policy with its results as a row.
pub struct PolicyRow<'a> {
    run: &'a MetaSummary,
    waits: &'a WaitSummary,
    fairness: Fairness,
}

impl<'a> PolicyRow<'a> {
    /// `home` is the same system under `static`.
    pub fn of(home: &MetaSummary, run: &'a MetaSummary) -> PolicyRow<'a> {
        PolicyRow { run, waits: &run.waits, fairness: Fairness::of(home, run) }
    }

    /// The figures of Table 8, a share for each site (Table 7), and other metrics.
    pub fn cells(&self) -> Cells {
        let mut row = cells(&policy_columns(), self, Given::default());
        let share = |site: &SiteSummary| (format!("share_{}_pct", site.name), Cell::Real(site.share_pct));
        let shares: Vec<_> = self.run.sites.iter().map(share).collect();
        row.splice(SHARES_AT..SHARES_AT, shares);
        row
    }
}

/// The place of the columns with the share of each site.
const SHARES_AT: usize = 5;

/// The columns of policies, with their captions in the table.
pub fn policy_columns<'a>() -> Vec<Column<PolicyRow<'a>>> {
    Vec::from(column_list! {
        |row: PolicyRow<'a>|
        key "policy" "the policy" row.run.policy.clone();
        count "jobs" "measured jobs" row.waits.jobs;
        duration "wait_mean" "mean wait in seconds" Cell::Seconds(row.waits.wait_mean), lower, heading("wait, mean");
        percent "wait_le_1h_pct" "percentage of jobs that waited an hour at most"
            row.waits.wait_le_1h_pct, higher, heading("  an hour at most");
        percent "wait_ge_1d_pct" "percentage of jobs that waited a day at least"
            row.waits.wait_ge_1d_pct, lower, heading("  a day at least");
        duration "wait_p50" "median wait in seconds" Cell::Seconds(row.waits.wait_p50), lower, heading("  median");
        duration "wait_p95" "wait in seconds that 95% of the jobs do not exceed"
            Cell::Seconds(row.waits.wait_p95), lower, heading("  95% of jobs within");
        duration "wait_max" "longest wait in seconds" Cell::Seconds(row.waits.wait_max), lower;
        real "bsld_mean" "mean bounded slowdown" row.waits.bsld_mean, lower, heading("bounded slowdown, mean");
        real "bsld_p50" "median bounded slowdown" row.waits.bsld_p50, lower, heading("  median");
        real "bsld_p95" "bounded slowdown that 95% of the jobs do not exceed"
            row.waits.bsld_p95, lower, heading("  95% of jobs within");
        real "wait_reduction_pct" "improvement of wait_mean over static in percent"
            row.fairness.reduction_pct, shown(Shown::Improvement), higher, heading("  improvement");
        count "sites_gaining" "sites whose own jobs wait less than under static"
            row.fairness.gaining, higher, heading("sites that gain");
        count "sites_paying" "sites whose own jobs wait longer than under static"
            row.fairness.paying, lower, heading("sites that pay");
        real "jain" "Jain's index over the mean bounded slowdowns of the sites' own jobs"
            row.fairness.jain, shown(Shown::Index), higher, heading("Jain's index of their slowdowns");
        count "queued" "how many times jobs were queued" row.run.queued;
        count "cancelled" "how many of those were cancelled, because the job had started at another site"
            row.run.cancelled, heading("cancelled in queues");
    })
}

/// A site under a policy as a row: its own jobs, wherever they ran, and the jobs that ran there, wherever they were submitted.
pub struct SiteRow<'a> {
    policy: &'a str,
    site: &'a SiteSummary,
    gain: Option<f64>,
}

/// The sites of a run. `home` is the same system under `static`.
pub fn site_rows<'a>(home: &MetaSummary, run: &'a MetaSummary) -> impl Iterator<Item = SiteRow<'a>> {
    let gains = Fairness::of(home, run).gains_pct;
    run.sites.iter().zip(gains).map(|(site, gain)| SiteRow { policy: &run.policy, site, gain })
}

/// The columns of `--sites-out`.
pub fn site_columns<'a>() -> Vec<Column<SiteRow<'a>>> {
    Vec::from(column_list! {
        |row: SiteRow<'a>|
        key "policy" "the policy" row.policy.to_string();
        key "site" "the site" row.site.name.clone();
        label "procs" "processors of its machine" row.site.procs;
        label "own_jobs" "jobs submitted there" row.site.own.jobs;
        duration "own_wait_mean" "their mean wait in seconds" Cell::Seconds(row.site.own.wait_mean), lower;
        duration "own_wait_p50" "their median wait" Cell::Seconds(row.site.own.wait_p50), lower;
        duration "own_wait_p95" "the wait that 95% of them do not exceed" Cell::Seconds(row.site.own.wait_p95), lower;
        real "own_bsld_mean" "their mean bounded slowdown" row.site.own.bsld_mean, lower;
        percent "own_wait_reduction_pct" "improvement of their mean wait over static in percent" row.gain, higher;
        count "ran_jobs" "jobs that ran there" row.site.ran.jobs;
        percent "share_pct" "the same in percent of all jobs" row.site.share_pct;
        duration "ran_wait_mean" "their mean wait in seconds" Cell::Seconds(row.site.ran.wait_mean), lower;
        duration "ran_wait_p50" "their median wait" Cell::Seconds(row.site.ran.wait_p50), lower;
        duration "ran_wait_p95" "the wait that 95% of them do not exceed" Cell::Seconds(row.site.ran.wait_p95), lower;
        real "ran_bsld_mean" "their mean bounded slowdown" row.site.ran.bsld_mean, lower;
        fraction "utilization" "share of the machine that was used, a fraction" row.site.utilization, higher;
    })
}

/// A job of a grid of several sites as a row.
#[derive(Clone, Debug)]
pub struct PlacedRow<'a> {
    /// The policy that chose the site.
    pub policy: &'a str,
    /// The name of the site where it was submitted.
    pub origin: &'a str,
    /// The name of the site where it ran.
    pub site: &'a str,
    /// The job and its metrics.
    pub job: JobRow,
}

/// Writes the CSV of the jobs of a grid: policy, origin and site, then the columns of [`JOB_COLUMNS`].
pub fn write_placed_jobs<'a>(out: &mut dyn Write, rows: impl Iterator<Item = PlacedRow<'a>>) -> io::Result<()> {
    let rows = rows.map(|PlacedRow { policy, origin, site, job }| ([policy, origin, site], job));
    let columns: Vec<_> = present(JOB_COLUMNS, Given::default()).collect();
    write_rows(out, ["policy", "origin", "site"], &columns, rows)
}

/// The columns of policies, of sites and of jobs, for lists.
pub fn listed_meta() -> [Vec<ListedColumn>; 3] {
    let mut policies = listed(&policy_columns());
    let about = "percentage of the jobs that ran at the site NAME; one column per site";
    policies.insert(SHARES_AT, ListedColumn::other("share_NAME_pct", about, When::Always));
    policies.insert(0, ListedColumn::key("scenario", "the scenario", When::Scenarios));
    policies.push(ListedColumn::other("seed", "of the random numbers", When::Scenarios));
    let key = |name, about| ListedColumn::key(name, about, When::Always);
    // The site on which a job ran is a result.
    let site = ListedColumn::other("site", "where it ran", When::Always);
    let jobs = [
        vec![key("policy", "the policy"), key("origin", "where it was submitted"), site],
        present(JOB_COLUMNS, Given::default()).map(Column::listed).collect(),
    ];
    [policies, listed(&site_columns()), jobs.concat()]
}

/// Writes a table with one column per policy.
pub fn write_policies(out: &mut dyn Write, width: Width, home: &MetaSummary, runs: &[MetaSummary]) -> io::Result<()> {
    let jobs = counted(home.waits.jobs as u64, "job");
    let procs: u64 = home.sites.iter().map(|site| u64::from(site.procs)).sum();
    let (sites, procs) = (counted(home.sites.len() as u64, "site"), counted(procs, "processor"));
    write_wrapped(out, "", &format!("{sites}, {procs}, {jobs}; improvements over static: positive is better"), width)?;
    writeln!(out)?;
    let rows: Vec<PolicyRow<'_>> = runs.iter().map(|run| PolicyRow::of(home, run)).collect();
    let columns = policy_columns();
    let mut table = Table::default();
    table.headings([""].into_iter().chain(runs.iter().map(|run| run.policy.as_str())));
    let lines = |table: &mut Table, names: &[&str]| {
        for column in names.iter().filter_map(|name| columns.iter().find(|column| column.name == *name)) {
            let cells = rows.iter().map(|row| TableCell::of(column, row));
            table.push([column.heading.to_string().into()].into_iter().chain(cells).collect());
        }
    };
    let line = |what: String, show: &dyn Fn(&PolicyRow<'_>) -> String| {
        [what].into_iter().chain(rows.iter().map(show)).collect::<Vec<_>>()
    };
    lines(&mut table, &["wait_mean", "wait_reduction_pct", "wait_p50", "wait_p95", "wait_le_1h_pct", "wait_ge_1d_pct"]);
    lines(&mut table, &["bsld_mean", "bsld_p50", "bsld_p95", "cancelled"]);
    table.line(["jobs that ran at"]);
    for (at, site) in home.sites.iter().enumerate() {
        let what = format!("  {} ({})", site.name, grouped(u64::from(site.procs)));
        table.push(line(what, &|row| percent(row.run.sites[at].share_pct / 100.0)));
    }
    table.line(["mean wait of the jobs of"]);
    for (at, site) in home.sites.iter().enumerate() {
        let what = format!("  {} ({})", site.name, counted(site.own.jobs as u64, "job"));
        table.push(line(what, &|row| readable_duration(row.run.sites[at].own.wait_mean)));
    }
    table.line(["improvement for the jobs of"]);
    for (at, site) in home.sites.iter().enumerate() {
        let gains = rows.iter().map(|row| TableCell::gain(row.fairness.gains_pct[at]));
        table.push([format!("  {}", site.name).into()].into_iter().chain(gains).collect());
    }
    lines(&mut table, &["sites_gaining", "sites_paying", "jain"]);
    table.write(out, width)
}

/// Writes the mean waits of many systems, by name, under the same policies, and the means over all systems.
pub fn write_scenarios(out: &mut dyn Write, width: Width, scenarios: &[(String, Vec<MetaSummary>)]) -> io::Result<()> {
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
