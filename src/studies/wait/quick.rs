//! Quick starters: will a job wait less than an hour?
//!
//! PQStar is described in another paper of the authors. This is our reading of its summary (Kumar and Vadhiyar, section
//! 3.1), which does not define "similar", "near" and "mid". Near history is the last 100 starts among jobs that arrived
//! at an occupancy close to the present one. Mid history is the last 1,000 starts, long history all starts. The first
//! of them that has jobs similar in request size and estimate decides.

use super::history::HistoryWindow;
use crate::job::Submission;
use crate::time::{HOUR, Seconds};

/// The numbers of starts in near and in mid history.
const NEAR: usize = 100;
const MID: usize = 1000;
/// The largest difference of occupancies that counts as close, as a share of the machine.
const OCCUPANCY: f64 = 0.10;
/// The largest difference of request sizes and of estimates that counts as similar, as a share of the job's own.
const SIMILAR: f64 = 0.25;

/// Whether a wait is shorter than an hour (Kumar and Vadhiyar, section 1).
pub fn is_quick(wait: Seconds) -> bool {
    wait < HOUR
}

/// Whether a job is predicted to wait less than an hour if it arrives when `occupied` of `procs` processors are in use.
pub fn quick_starter(job: &Submission, occupied: i64, procs: u32, window: &HistoryWindow<'_>) -> bool {
    let about_as_full = |at: &usize| (window.occupied()[*at] - occupied as f64).abs() <= OCCUPANCY * f64::from(procs);
    let similar = |at: &usize| is_similar(job, &window.jobs()[*at]);
    let latest_first = || (0..window.len()).rev();
    let wait = |at: usize| window.waits()[at];
    if let Some(quick) = most_are_quick(latest_first().filter(about_as_full).take(NEAR).filter(similar).map(wait)) {
        return quick;
    }
    if let Some(quick) = most_are_quick(latest_first().take(MID).filter(similar).map(wait)) {
        return quick || i64::from(job.procs) <= i64::from(procs) - occupied;
    }
    most_are_quick(latest_first().skip(MID).filter(similar).map(wait)).unwrap_or(false)
}

fn is_similar(job: &Submission, other: &Submission) -> bool {
    let within = |own: f64, other: f64| (other - own).abs() <= SIMILAR * own;
    within(f64::from(job.procs), f64::from(other.procs)) && within(job.estimate as f64, other.estimate as f64)
}

/// Whether most of these waits are quick. None if there are none.
fn most_are_quick(waits: impl Iterator<Item = Seconds>) -> Option<bool> {
    let (mut quick, mut all) = (0, 0);
    for wait in waits {
        quick += usize::from(is_quick(wait));
        all += 1;
    }
    (all > 0).then_some(2 * quick > all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::JobId;
    use crate::wait::features::{FEATURES, OCCUPIED};
    use crate::wait::history::{HistoryJob, WaitHistory};

    /// (processors, estimate, occupied, wait), the oldest first.
    fn predict(rows: &[(u32, i64, u32, i64)], occupied: i64) -> bool {
        let mut history = WaitHistory::of_all();
        for &(procs, estimate, occupied, wait) in rows {
            let mut features = [0.0; FEATURES];
            features[OCCUPIED] = f64::from(occupied);
            history.push(&HistoryJob { id: JobId(0), job: Submission::new(0, procs, estimate), features }, wait);
        }
        // 8 processors for 1000 s on a machine of 100.
        quick_starter(&Submission::new(0, 8, 1000), occupied, 100, &history.window(rows.len(), 5000))
    }

    #[test]
    fn the_first_history_with_similar_jobs_decides() {
        let (quick, slow) = (60, 7200);
        assert!(!predict(&[], 0), "the history is empty");
        // Near: occupancies within 10 of 50; the majority decides.
        assert!(predict(&[(8, 1000, 55, quick)], 50));
        assert!(predict(&[(10, 750, 60, quick), (6, 1250, 40, quick), (8, 1000, 50, slow)], 50));
        assert!(!predict(&[(8, 1000, 50, quick), (8, 1000, 50, slow)], 50), "a tie is not most");
        assert!(!predict(&[(8, 1000, 50, slow), (8, 1000, 90, quick), (8, 1000, 90, quick)], 50));
        assert!(!predict(&[(8, 1000, 50, 3600)], 50), "an hour is not less than an hour");
        // Not similar: too wide, too long.
        assert!(!predict(&[(11, 1000, 50, quick), (8, 1251, 50, quick)], 50));
        // Mid: another occupancy. A job that fits now is quick even if similar jobs were slow.
        assert!(predict(&[(8, 1000, 90, quick)], 99));
        assert!(predict(&[(8, 1000, 90, slow)], 50));
        assert!(!predict(&[(8, 1000, 50, slow)], 93));
        // Long: behind 1,000 others.
        let behind = |wait| {
            let mut rows = vec![(8, 1000, 0, wait)];
            rows.extend([(100, 50_000, 50, quick); 1000]);
            predict(&rows, 50)
        };
        assert!(behind(quick) && !behind(slow));
        // Near are the last hundred of that occupancy only.
        let mut rows = vec![(8, 1000, 50, slow)];
        rows.extend([(100, 50_000, 50, quick); 100]);
        assert!(predict(&rows, 50), "found in mid history, and it fits");
    }
}
