//! A window of a schedule: which jobs run when, on which processors or CPUs of nodes.

use std::ops::Range;

use super::NodeGrants;
use crate::engine::{Finished, RunRecord};
use crate::job::JobId;
use crate::machine::{Cluster, NodeShare};
use crate::sort::sort_by_key;
use crate::time::{HOUR, MINUTE, Seconds, Time};
use crate::trace::Workload;

/// The most jobs of a chart.
pub const MOST_JOBS: usize = 2000;

/// The length of a window, if it does not have too many jobs.
const WINDOW: Seconds = 12 * HOUR;

/// The shortest window to which one with too many jobs is shrunk.
const SHORTEST: Seconds = 10 * MINUTE;

/// The most hours, or longer steps, in which the queue is looked at.
const MOST_STEPS: Seconds = 100_000;

/// A job that runs in the window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GanttJob {
    /// The job's number in the log. It may repeat.
    pub number: i64,
    /// The index of its record in the log.
    pub record: u32,
    /// The user's number in the log; -1 if unknown.
    pub user: i64,
    /// When it was submitted.
    pub submit: Time,
    /// When it started.
    pub start: Time,
    /// When it ended.
    pub end: Time,
    /// Its number of processors.
    pub procs: u32,
    /// Whether a job that arrived earlier still waited when it started.
    pub backfilled: bool,
    /// What it was given of the nodes. Empty on a pool of processors.
    pub shares: Vec<NodeShare>,
    /// Its processors, as ranges of neighbours. On nodes the CPUs of all nodes are numbered, one node after the other.
    pub rows: Vec<Range<u32>>,
}

/// The jobs of a window.
#[derive(Clone, Debug, Default)]
pub struct Gantt {
    /// In order of their starts.
    pub jobs: Vec<GanttJob>,
    /// The jobs that run in the window but are left out, because there are more than [`MOST_JOBS`]. They are the narrowest.
    pub left_out: usize,
}

/// The jobs that run in a window.
fn running<'a>(
    workload: &'a Workload,
    record: &'a RunRecord,
    window: &Range<Time>,
) -> impl Iterator<Item = (JobId, Finished<'a>)> + use<'a> {
    let Range { start, end } = *window;
    let all = record.finished_in(&workload.jobs, 0..workload.jobs.len());
    let jobs = all.map(|(at, job)| (JobId(at as u32), job));
    jobs.filter(move |(_, job)| job.start() < end && job.end() > start)
}

/// The 12 hours in which most area waits: each waiting job counts with its processors times its runtime, as long as it waits. Of
/// equal windows the first. Windows begin at full hours after the first submission.
pub fn busiest_window(workload: &Workload, record: &RunRecord) -> Range<Time> {
    let first = workload.first_submit();
    let last = record.finished(&workload.jobs).map(|job| job.start()).max().unwrap_or(first);
    let step = HOUR.max((last - first) / MOST_STEPS + 1);
    let steps = ((last - first) / step + 1) as usize;
    // The area that begins to wait in each step minus that which stops, and how much of it each step itself has.
    let (mut changes, mut parts) = (vec![0i128; steps + 1], vec![0i128; steps]);
    for job in record.finished(&workload.jobs).filter(|job| job.wait() > 0) {
        let area = i128::from(job.job.submission.procs) * i128::from(job.job.runtime);
        let (from, to) = (job.job.submission.submit - first, job.start() - first);
        let (from_step, to_step) = ((from / step) as usize, (to / step) as usize);
        changes[from_step] += area;
        changes[to_step] -= area;
        parts[from_step] -= area * i128::from(from % step);
        parts[to_step] += area * i128::from(to % step);
    }
    let mut waiting = 0;
    for (at, part) in parts.iter_mut().enumerate() {
        waiting += changes[at];
        *part += waiting * i128::from(step);
    }
    let width = ((WINDOW / step) as usize).clamp(1, steps);
    let mut sum: i128 = parts[..width].iter().sum();
    let (mut best, mut most) = (0, sum);
    for at in width..steps {
        sum += parts[at] - parts[at - width];
        if sum > most {
            (best, most) = (at + 1 - width, sum);
        }
    }
    let start = first + best as Seconds * step;
    start..start + WINDOW
}

/// Shortens a window until at most [`MOST_JOBS`] run in it in each of these runs. It is not made shorter than 10 minutes.
pub fn shrink_window(mut window: Range<Time>, runs: &[(&Workload, &RunRecord)]) -> Range<Time> {
    let is_full = |window: &Range<Time>| {
        let jobs = |(workload, record): &(&Workload, &RunRecord)| {
            running(workload, record, window).take(MOST_JOBS + 1).count()
        };
        runs.iter().map(jobs).any(|jobs| jobs > MOST_JOBS)
    };
    while window.end - window.start > SHORTEST && is_full(&window) {
        window.end = window.start + ((window.end - window.start) * 3 / 4).max(SHORTEST);
    }
    window
}

impl Gantt {
    /// The jobs of a run in a window.
    ///
    /// The engine counts processors, or the CPUs of each node, and does not number them. Here each job gets the lowest free ones
    /// when it starts, so a job may have several ranges.
    pub fn of(workload: &Workload, record: &RunRecord, grants: &NodeGrants, window: &Range<Time>) -> Gantt {
        let job = |(id, finished): (JobId, Finished<'_>)| GanttJob {
            number: finished.job.number,
            record: finished.job.record,
            user: workload.wide.number(finished.job.submission.user),
            submit: finished.job.submission.submit,
            start: finished.start(),
            end: finished.end(),
            procs: finished.job.submission.procs,
            backfilled: finished.outcome.backfilled,
            shares: grants.of(id).to_vec(),
            rows: Vec::new(),
        };
        let mut jobs: Vec<_> = running(workload, record, window).map(job).collect();
        let left_out = jobs.len().saturating_sub(MOST_JOBS);
        if left_out > 0 {
            sort_by_key(&mut jobs, |job| std::cmp::Reverse(job.procs));
            jobs.truncate(MOST_JOBS);
        }
        sort_by_key(&mut jobs, |job| (job.start, job.submit));
        let firsts = workload.shapes.as_ref().map_or(Vec::new(), |shapes| first_rows(shapes.cluster()));
        place(&mut jobs, &firsts);
        Gantt { jobs, left_out }
    }

    /// Whether its jobs ran on nodes.
    pub fn is_by_node(&self) -> bool {
        self.jobs.iter().any(|job| !job.shares.is_empty())
    }
}

/// The first row of each node, and the end of the last.
pub(super) fn first_rows(cluster: &Cluster) -> Vec<u32> {
    let ends = cluster.nodes.iter().scan(0u32, |end, node| {
        *end = end.saturating_add(node.has.cpus());
        Some(*end)
    });
    std::iter::once(0).chain(ends).collect()
}

/// Rows that are free, as ranges in ascending order.
struct FreeRows(Vec<Range<u32>>);

impl FreeRows {
    fn of(all: Range<u32>) -> FreeRows {
        FreeRows(std::iter::once(all).collect())
    }

    /// Takes the lowest.
    fn take(&mut self, mut needed: u32) -> Vec<Range<u32>> {
        let mut rows = Vec::new();
        while needed > 0 && !self.0.is_empty() {
            let first = &mut self.0[0];
            let taken = needed.min(first.end - first.start);
            rows.push(first.start..first.start + taken);
            first.start += taken;
            needed -= taken;
            if first.start == first.end {
                self.0.remove(0);
            }
        }
        rows
    }

    fn give(&mut self, rows: &[Range<u32>]) {
        self.0.extend(rows.iter().cloned());
        sort_by_key(&mut self.0, |range| range.start);
        self.0 = joined(&self.0);
    }
}

/// Gives each job its rows. The jobs are in order of their starts. `firsts` has the first row of each node, and the end; a job without
/// shares has rows of a pool.
fn place(jobs: &mut [GanttJob], firsts: &[u32]) {
    // The pool has no end: a replayed log may use more than the machine has.
    let mut pool = FreeRows::of(0..u32::MAX);
    let mut nodes: Vec<FreeRows> = firsts.windows(2).map(|pair| FreeRows::of(pair[0]..pair[1])).collect();
    let mut running: Vec<usize> = Vec::new();
    for at in 0..jobs.len() {
        let now = jobs[at].start;
        let (ended, rest): (Vec<_>, Vec<_>) = running.iter().partition(|&&job| jobs[job].end <= now);
        running = rest;
        for GanttJob { shares, rows, .. } in ended.into_iter().map(|job| &jobs[job]) {
            if shares.is_empty() {
                pool.give(rows);
            }
            for node in shares.iter().map(|share| share.node as usize) {
                let own = firsts[node]..firsts[node + 1];
                let of_node: Vec<_> = rows.iter().filter(|row| own.contains(&row.start)).cloned().collect();
                nodes[node].give(&of_node);
            }
        }
        let GanttJob { shares, procs, .. } = &jobs[at];
        let rows = match shares.is_empty() {
            true => pool.take(*procs),
            false => shares.iter().flat_map(|share| nodes[share.node as usize].take(share.what.cpus())).collect(),
        };
        jobs[at].rows = rows;
        running.push(at);
    }
}

/// Ranges in ascending order, with neighbours joined.
fn joined(ranges: &[Range<u32>]) -> Vec<Range<u32>> {
    let mut joined: Vec<Range<u32>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => joined.push(range.clone()),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Setting, simulate};

    fn job(start: Time, end: Time, procs: u32) -> GanttJob {
        GanttJob {
            number: 1,
            record: 0,
            user: 1,
            submit: 0,
            start,
            end,
            procs,
            backfilled: false,
            shares: Vec::new(),
            rows: Vec::new(),
        }
    }

    #[test]
    fn jobs_get_the_lowest_free_processors() {
        let mut jobs = [job(0, 10, 2), job(0, 5, 3), job(0, 10, 1), job(5, 9, 1), job(6, 9, 4), job(10, 11, 9)];
        place(&mut jobs, &[]);
        let rows = jobs.map(|job| job.rows.iter().map(|row| (row.start, row.end)).collect::<Vec<_>>());
        assert_eq!(rows[..3], [vec![(0, 2)], vec![(2, 5)], vec![(5, 6)]]);
        // 2 to 4 are free again. The job of four processors does not fit below 5.
        assert_eq!(rows[3..], [vec![(2, 3)], vec![(3, 5), (6, 8)], vec![(0, 9)]]);
    }

    #[test]
    fn no_processor_runs_two_jobs_and_the_window_is_the_busiest() {
        let workload = crate::trace::demo_workload();
        let record = simulate(&workload, &Setting::parse("easy", "estimate").unwrap(), &mut |_| ()).unwrap();
        let window = busiest_window(&workload, &record);
        // Second by second, slowly.
        let area = |window: Range<Time>| -> i128 {
            let of = |job: Finished<'_>| {
                let (from, to) = (job.job.submission.submit.max(window.start), job.start().min(window.end));
                let area = i128::from(job.job.submission.procs) * i128::from(job.job.runtime);
                area * i128::from((to - from).max(0))
            };
            record.finished(&workload.jobs).map(of).sum()
        };
        let first = workload.first_submit();
        let all = (0..500).map(|hour| first + hour * HOUR).map(|start| area(start..start + WINDOW));
        assert_eq!(all.max(), Some(area(window.clone())));

        let jobs = Gantt::of(&workload, &record, &NodeGrants::default(), &window).jobs;
        assert!(jobs.len() > 50);
        for (at, job) in jobs.iter().enumerate() {
            assert_eq!(job.rows.iter().map(|rows| rows.len()).sum::<usize>(), job.procs as usize);
            assert!(job.rows.iter().all(|rows| rows.end <= workload.procs));
            for other in jobs[at + 1..].iter().filter(|other| other.start < job.end) {
                let meets = |a: &Range<u32>| other.rows.iter().any(|b| a.start < b.end && b.start < a.end);
                assert!(!job.rows.iter().any(meets), "{job:?} and {other:?}");
            }
        }
        let short = shrink_window(first..first + 400 * HOUR, &[(&workload, &record)]);
        assert!(running(&workload, &record, &short).count() <= MOST_JOBS);
        assert!(
            running(&workload, &record, &(first..short.end + (short.end - short.start) / 2)).count() > MOST_JOBS / 2
        );
    }
}
