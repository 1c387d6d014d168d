//! New predictions for jobs that have outlived their prediction, shared by all predictors.

use super::board::Board;
use crate::job::JobId;
pub use crate::job::increment;

/// Adds the increment of the job's present miss to its prediction. All earlier misses count, also those after which the
/// prediction was raised to the estimate.
pub fn add_increment(id: JobId, board: &mut Board) {
    let prediction = board.prediction(id) + increment(board.misses(id));
    board.predict(id, prediction.max(board.elapsed(id) + 1));
}

/// Raises a prediction below the user's estimate to the estimate, and any other as [`add_increment`].
pub fn raise_to_estimate(id: JobId, board: &mut Board) {
    let estimate = board.job(id).estimate;
    if board.prediction(id) < estimate && estimate > board.elapsed(id) {
        board.predict(id, estimate);
    } else {
        add_increment(id, board);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Submission;
    use crate::predict::board::{BoardKeeper, Stage};
    use crate::time::{HOUR, Seconds};

    /// The predictions after each of `misses` misses, for a job that started at 0 with this prediction and estimate.
    fn answers(prediction: Seconds, estimate: Seconds, misses: usize, rule: fn(JobId, &mut Board)) -> Vec<Seconds> {
        let mut keeper = BoardKeeper::default();
        let id = keeper.arrive(Submission::new(0, 1, estimate));
        keeper.set_stage(id, Stage::Running { start: 0 });
        keeper.board_mut().predict(id, prediction);
        let answer = |_| {
            keeper.set_now(keeper.board().prediction(id));
            keeper.count_miss(id);
            rule(id, keeper.board_mut());
            keeper.board().prediction(id)
        };
        (0..misses).map(answer).collect()
    }

    #[test]
    fn increments_grow_and_the_last_repeats() {
        let hours = |h: Seconds| h * HOUR;
        let steps = answers(1, 9999, 13, add_increment);
        let added: Vec<_> = [1].iter().chain(&steps).zip(&steps).map(|(before, after)| after - before).collect();
        assert_eq!(added[..4], [60, 300, 900, 1800]);
        assert_eq!(added[4..11], [1, 2, 5, 10, 20, 50, 100].map(hours));
        assert_eq!(added[11..], [100, 100].map(hours));
    }

    #[test]
    fn a_raise_to_the_estimate_counts_as_a_miss() {
        // At the first miss to the estimate of 10 minutes, at the second 5 minutes more, not 1.
        assert_eq!(answers(30, 600, 3, raise_to_estimate), [600, 900, 1800]);
        assert_eq!(answers(600, 600, 2, raise_to_estimate), [660, 960]);
        assert_eq!(answers(700, 600, 1, raise_to_estimate), [760]);
    }
}
