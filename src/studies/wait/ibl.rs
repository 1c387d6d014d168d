//! Instance based learning (Li, Groep and Wolters): the few nearest past jobs, by names and numbers.
//!
//! The compared attributes are our choice after their papers: the job's processors, estimate, user, group and queue,
//! and five features of the site's state.

use super::features::{Features, OCCUPIED, QUEUE_DEMAND, QUEUE_LENGTH, REMAINING, RUNNING};
use super::history::HistoryWindow;
use super::knn::Neighbour;
use crate::job::Submission;

/// The compared features: request size (index 0), estimate (index 1), and five of the site's state.
const NUMBERS: [usize; 7] = [0, 1, QUEUE_LENGTH, QUEUE_DEMAND, REMAINING, RUNNING, OCCUPIED];

/// The `k` nearest jobs, the nearest first. None without a history.
pub(super) fn nearest(
    job: &Submission,
    target: &Features,
    window: &HistoryWindow<'_>,
    k: usize,
) -> Option<Vec<Neighbour>> {
    let mut nearest = distances(job, target, window);
    if nearest.is_empty() || k == 0 {
        return None;
    }
    // Of equally distant jobs the one that started last comes first.
    let order = |a: &Neighbour, b: &Neighbour| a.distance.total_cmp(&b.distance).then(b.at.cmp(&a.at));
    if k < nearest.len() {
        nearest.select_nth_unstable_by(k, order);
        nearest.truncate(k);
    }
    nearest.sort_by(order);
    Some(nearest)
}

/// The Heterogeneous Euclidean-Overlap Metric (Wilson and Martinez 1997, Equations 9 to 11): numbers differ by their
/// difference over their range in the history, names by 0 if equal and 1 if not. All unknown names are equal.
fn distances(job: &Submission, target: &Features, window: &HistoryWindow<'_>) -> Vec<Neighbour> {
    let names = |job: &Submission| [job.user, job.queue, job.group];
    let own = names(job);
    let overlap = |other: &Submission| names(other).iter().zip(own).filter(|(a, b)| **a != *b).count() as f64;
    let mut squares: Vec<f64> = window.jobs().iter().map(overlap).collect();
    for feature in NUMBERS {
        let (x, column) = (target[feature], window.column(feature));
        let low = column.iter().copied().fold(f64::INFINITY, f64::min);
        let high = column.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        // If all values of the history are equal there is no range: the difference is that of names, 0 or 1.
        let add = |square: &mut f64, y: f64| {
            let apart = if high > low { (x - y).abs() / (high - low) } else { f64::from(u8::from(x != y)) };
            *square += apart * apart;
        };
        squares.iter_mut().zip(column).for_each(|(square, &y)| add(square, y));
    }
    squares.into_iter().enumerate().map(|(at, square)| Neighbour { at, distance: square.sqrt() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::JobId;
    use crate::wait::features::FEATURES;
    use crate::wait::history::{HistoryJob, WaitHistory};
    use crate::wait::knn::weighted_average;

    #[test]
    fn distances_by_hand() {
        let mut history = WaitHistory::of_all();
        let mut push = |user, queue, procs: u32, estimate: i64, length: f64, wait| {
            let mut features = [0.0; FEATURES];
            (features[0], features[1], features[QUEUE_LENGTH]) = (f64::from(procs), estimate as f64, length);
            let job = Submission { user, queue, ..Submission::new(0, procs, estimate) };
            history.push(&HistoryJob { id: JobId(0), job, features }, wait);
        };
        push(1, 1, 1, 100, 0.0, 100);
        push(1, 2, 5, 100, 10.0, 200);
        push(2, 1, 3, 100, 5.0, 300);
        let window = history.window(3, 5000);
        // User 1, queue 1, 3 processors, 5 in the queue. Ranges: processors 4, estimates none, queue 10.
        let job = Submission { user: 1, queue: 1, ..Submission::new(0, 3, 100) };
        let mut target = [0.0; FEATURES];
        (target[0], target[1], target[QUEUE_LENGTH]) = (3.0, 100.0, 5.0);
        let found: Vec<f64> = distances(&job, &target, &window).iter().map(|one| one.distance).collect();
        let expected = [(0.25f64 + 0.25).sqrt(), (1.0f64 + 0.25 + 0.25).sqrt(), 1.0];
        assert_eq!(found, expected);
        let predict = |window: &HistoryWindow<'_>, k: usize| {
            nearest(&job, &target, window, k).map(|nearest| weighted_average(&nearest, window))
        };
        let two = (100.0 / expected[0] + 300.0) / (1.0 / expected[0] + 1.0);
        assert!((predict(&window, 2).unwrap() - two).abs() < 1e-9);
        assert_eq!(predict(&window, 1), Some(100.0));
        assert_eq!(predict(&history.window(0, 5), 3), None);
        // An estimate that no job of the history has: the difference of unequal names.
        target[1] = 200.0;
        let found = distances(&job, &target, &window)[2].distance;
        assert_eq!(found, 2f64.sqrt());
    }
}
