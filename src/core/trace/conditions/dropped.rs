//! Jobs that never become eligible: they are dropped before a simulation, and counted by cause.

use std::fmt;

use rustc_hash::FxHashSet;

use super::{DependencyKind, Hold, Links, LogConditions};
use crate::counts::DroppedJobs;
use crate::job::Job;

/// Why a job never becomes eligible: the first cause that applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NeverEligible {
    /// It is held and never released.
    Held,
    /// It waits for the success of a job that failed, or for the failure of one that did not.
    ByStatus,
    /// It waits for a job that never becomes eligible itself.
    Behind,
    /// It waits for itself, in a circle of dependencies, or for a job of such a circle.
    Circular,
}

impl fmt::Display for NeverEligible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NeverEligible::Held => "held and never released",
            NeverEligible::ByStatus => "afterok of a job that failed, or afternotok of one that did not",
            NeverEligible::Behind => "behind such a job",
            NeverEligible::Circular => "in a circle of dependencies",
        })
    }
}

/// Drops the jobs of a workload that never become eligible. `failed` are the records of jobs that failed. Returns how many are
/// dropped, and the number of dependencies on jobs that cleaning has dropped, which count as met.
pub(in crate::trace) fn drop_never_eligible(
    jobs: &mut Vec<Job>,
    conditions: &LogConditions,
    failed: &FxHashSet<u32>,
) -> (DroppedJobs<NeverEligible>, u64) {
    let mut never = DroppedJobs::default();
    let links = Links::of(jobs, conditions);
    if links.gated.is_empty() {
        return (never, links.missing);
    }
    let kept: FxHashSet<u32> = jobs.iter().map(|job| job.record).collect();
    let mut dropped = vec![false; jobs.len()];
    let mut causes = Vec::new();
    for gated in &links.gated {
        let own = conditions.get(jobs[gated.job as usize].record as usize).expect("a gated job has conditions");
        let is_vain = |kind, record: &u32| match kind {
            DependencyKind::AfterOk => failed.contains(record),
            DependencyKind::AfterNotOk => !failed.contains(record),
            _ => false,
        };
        let mut others = own.after.iter().filter(|dependency| kept.contains(&dependency.record));
        let cause = if own.hold == Hold::Forever {
            NeverEligible::Held
        } else if others.any(|dependency| is_vain(dependency.kind, &dependency.record)) {
            NeverEligible::ByStatus
        } else {
            continue;
        };
        never.causes.add(cause, 1);
        dropped[gated.job as usize] = true;
        causes.push(gated.job);
    }
    let dependants = Dependants::new(&links, jobs.len());
    // What waits for a dropped job waits for ever.
    while let Some(job) = causes.pop() {
        for &other in dependants.of(job) {
            if !std::mem::replace(&mut dropped[other as usize], true) {
                never.causes.add(NeverEligible::Behind, 1);
                causes.push(other);
            }
        }
    }
    never.causes.add(NeverEligible::Circular, drop_circles(&links, &dependants, &mut dropped));
    if let Some(first) = dropped.iter().position(|is_dropped| *is_dropped) {
        never.first = jobs[first].number;
        let mut dropped = dropped.iter();
        jobs.retain(|_| !dropped.next().expect("one per job"));
    }
    (never, links.missing)
}

/// The jobs that wait for each job.
struct Dependants {
    /// In order of the jobs waited for: that job, and the one that waits.
    pairs: Vec<(u32, u32)>,
    jobs: Vec<u32>,
    /// Where those of each job begin.
    begins: Vec<u32>,
}

impl Dependants {
    fn new(links: &Links, count: usize) -> Dependants {
        let waits_for = |gated: &'_ super::GatedJob| {
            let own = gated.job;
            let all = gated.after_starts.iter().chain(&gated.after_ends);
            all.map(|&other| (other, own)).collect::<Vec<_>>()
        };
        let mut pairs: Vec<(u32, u32)> = links.gated.iter().flat_map(waits_for).collect();
        pairs.sort_unstable();
        let mut begins = vec![0; count + 1];
        pairs.iter().for_each(|&(other, _)| begins[other as usize + 1] += 1);
        (0..count).for_each(|at| begins[at + 1] += begins[at]);
        let jobs = pairs.iter().map(|&(_, own)| own).collect();
        Dependants { pairs, jobs, begins }
    }

    fn of(&self, job: u32) -> &[u32] {
        &self.jobs[self.begins[job as usize] as usize..self.begins[job as usize + 1] as usize]
    }
}

/// Marks the jobs that can never be reached because of a circle. Returns their number.
fn drop_circles(links: &Links, dependants: &Dependants, dropped: &mut [bool]) -> u64 {
    let mut waits_for = vec![0u32; dropped.len()];
    for &(other, own) in &dependants.pairs {
        waits_for[own as usize] += u32::from(!dropped[other as usize]);
    }
    let mut free: Vec<u32> = (0..dropped.len() as u32).filter(|&at| waits_for[at as usize] == 0).collect();
    while let Some(job) = free.pop() {
        if dropped[job as usize] {
            continue;
        }
        for &other in dependants.of(job) {
            waits_for[other as usize] -= 1;
            if waits_for[other as usize] == 0 {
                free.push(other);
            }
        }
    }
    let mut count = 0;
    for gated in &links.gated {
        let at = gated.job as usize;
        if waits_for[at] > 0 && !std::mem::replace(&mut dropped[at], true) {
            count += 1;
        }
    }
    count
}
