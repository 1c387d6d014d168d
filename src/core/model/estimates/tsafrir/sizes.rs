//! The sizes of modes by popularity rank: percentages of the jobs (Tsafrir et al., sections 8 and 9.4).

use super::PopularEstimate;
use crate::sort::sort_by;
use crate::time::Seconds;

/// The percentage of the jobs in the head.
const HEAD_SUM: f64 = 89.0;

/// F_pop of the ranks from 2 on: alpha e^(beta rank) + gamma (section 8, Fig. 10).
fn of_head_rank(rank: usize) -> f64 {
    14.0491 * libm::exp(-0.177531 * rank as f64) + 0.462513
}

/// The sizes of the tail, ranks 21 and on: a power law, scaled to this sum (section 8).
pub fn tail(count: usize, sum: f64) -> Vec<f64> {
    let sizes: Vec<f64> = (21..21 + count).map(|rank| 795.6 * libm::pow(rank as f64, -2.267)).collect();
    let all: f64 = sizes.iter().sum();
    sizes.iter().map(|size| size * sum / all).collect()
}

/// The sizes of the head by popularity rank, and which of them have a fixed estimate.
#[derive(Debug)]
pub struct HeadSizes {
    sizes: Vec<ModeSize>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct ModeSize {
    percent: f64,
    /// The estimate of this size, if it is fixed: for given estimates and for the longest.
    time: Option<Seconds>,
    is_given: bool,
}

impl HeadSizes {
    /// The sizes of `count` estimates, including the given ones (section 9.4). Without a tail, their sum is 100%.
    pub fn new(
        count: usize,
        tmax: Seconds,
        at_tmax: Option<f64>,
        pairs: &[PopularEstimate],
        has_tail: bool,
    ) -> HeadSizes {
        let mut sizes: Vec<ModeSize> =
            (1..=count).map(|rank| ModeSize { percent: of_head_rank(rank), time: None, is_given: false }).collect();
        let others: f64 = sizes[1..].iter().map(|size| size.percent).sum();
        // F_pop(1) = 89 - the sum of the others; it belongs to the longest estimate. If the percentage of the longest is
        // given, it is used instead, and the others are scaled so that the head keeps its sum.
        sizes[0] =
            ModeSize { percent: at_tmax.unwrap_or(HEAD_SUM - others), time: Some(tmax), is_given: at_tmax.is_some() };
        let scale = (HEAD_SUM - sizes[0].percent).max(0.0) / others;
        sizes[1..].iter_mut().for_each(|size| size.percent *= scale);

        // Each given size replaces the closest one, the largest given size first.
        let mut pairs = pairs.to_vec();
        sort_by(&mut pairs, |a, b| b.percent.total_cmp(&a.percent));
        for pair in pairs {
            let distance = |size: &&mut ModeSize| (size.percent - pair.percent).abs();
            let free = sizes.iter_mut().filter(|size| size.time.is_none());
            let closest = free.min_by(|a, b| distance(a).total_cmp(&distance(b)));
            *closest.expect("a head has room for all pairs") =
                ModeSize { percent: pair.percent, time: Some(pair.time), is_given: true };
        }

        // All others are scaled so that the head keeps its sum, or are 0 if the given ones have a larger sum.
        let sum = if has_tail { HEAD_SUM } else { 100.0 };
        let part =
            |given: bool| sizes.iter().filter(|size| size.is_given == given).map(|size| size.percent).sum::<f64>();
        let scale = (sum - part(true)).max(0.0) / part(false);
        for size in sizes.iter_mut().filter(|size| !size.is_given) {
            size.percent = if scale.is_finite() { size.percent * scale } else { 0.0 };
        }

        // The longest estimate has rank 1, unless its size is given: then its rank follows from its size.
        let first = usize::from(at_tmax.is_none());
        sort_by(&mut sizes[first..], |a, b| b.percent.total_cmp(&a.percent));
        HeadSizes { sizes }
    }

    /// The percentage of the jobs in the head.
    pub fn sum(&self) -> f64 {
        self.sizes.iter().map(|size| size.percent).sum::<f64>().min(100.0)
    }

    /// The size of a rank, counted from 1.
    pub fn percent(&self, rank: usize) -> f64 {
        self.sizes[rank - 1].percent
    }

    /// Whether the size of a rank was given.
    pub fn is_given(&self, rank: usize) -> bool {
        self.sizes[rank - 1].is_given
    }

    /// The rank of an estimate, if it is fixed.
    pub fn rank_of(&self, time: Seconds) -> Option<usize> {
        self.sizes.iter().position(|size| size.time == Some(time)).map(|at| at + 1)
    }

    /// Whether a rank has no fixed estimate.
    pub fn is_free(&self, rank: usize) -> bool {
        self.sizes.get(rank - 1).is_some_and(|size| size.time.is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::{HOUR, MINUTE};

    const TMAX: Seconds = 18 * HOUR;

    fn percents(sizes: &HeadSizes) -> Vec<f64> {
        sizes.sizes.iter().map(|size| size.percent).collect()
    }

    #[test]
    fn the_sizes_of_the_head_are_the_papers() {
        let sizes = HeadSizes::new(20, TMAX, None, &[], true);
        // "A top rank of a bit more than 20%": 21.73. The 20th is about 1% (section 5).
        assert!((sizes.percent(1) - 21.73).abs() < 0.005, "{}", sizes.percent(1));
        assert!((sizes.percent(2) - 10.3128).abs() < 0.001, "{}", sizes.percent(2));
        assert!((sizes.percent(20) - 0.866).abs() < 0.001, "{}", sizes.percent(20));
        assert!((sizes.sum() - 89.0).abs() < 1e-9);
        assert!(percents(&sizes).is_sorted_by(|a, b| a > b));
        assert_eq!(
            (sizes.rank_of(TMAX), sizes.is_free(1), sizes.is_free(2), sizes.is_free(21)),
            (Some(1), false, true, false)
        );
    }

    /// The exponential model was fitted to the ranks 2 to 20 of the paper's logs (R^2 above 0.95): it must come near the
    /// mean of what Table 5 prints for them, of BLUE from rank 4 on, as the fit does.
    #[test]
    fn the_sizes_come_near_those_that_the_paper_prints() {
        let sdsc =
            [11.3, 10.5, 9.8, 7.9, 5.7, 5.3, 4.8, 4.7, 4.0, 3.8, 3.4, 3.3, 3.0, 2.0, 1.4, 1.2, 1.2, 1.1, 0.9, 0.9];
        let ctc =
            [23.8, 10.6, 8.8, 6.4, 6.1, 5.4, 4.9, 4.2, 3.5, 2.2, 2.2, 2.0, 1.7, 1.5, 1.5, 1.1, 1.0, 0.8, 0.6, 0.6];
        let kth =
            [12.5, 11.5, 9.6, 6.6, 5.8, 5.5, 5.3, 5.1, 4.5, 4.0, 3.3, 3.1, 2.5, 2.2, 1.4, 1.4, 1.3, 1.3, 1.3, 1.2];
        let sizes = HeadSizes::new(20, TMAX, None, &[], true);
        for rank in 2..=20 {
            let mean = (sdsc[rank - 1] + ctc[rank - 1] + kth[rank - 1]) / 3.0;
            assert!((sizes.percent(rank) - mean).abs() < 1.2, "rank {rank}: {} {mean}", sizes.percent(rank));
        }
        // The sums that the paper prints below Table 5 (SDSC's 86.4 and KTH's 89.3 are of unrounded values).
        for (column, sum) in [(sdsc, 86.4), (ctc, 88.9), (kth, 89.3)] {
            assert!((column.iter().sum::<f64>() - sum).abs() < 0.5);
        }
    }

    #[test]
    fn a_given_percentage_of_the_longest_scales_the_others() {
        let sizes = HeadSizes::new(20, TMAX, Some(23.8), &[], true);
        assert!((sizes.percent(1) - 23.8).abs() < 1e-9 && sizes.is_given(1) && (sizes.sum() - 89.0).abs() < 1e-9);
        assert!((sizes.percent(2) - 10.3128 * (89.0 - 23.8) / (89.0 - 21.7332)).abs() < 0.001);
        // SDSC: the longest is not the most popular, and nothing else is as large as the 21.73 would be.
        let sizes = HeadSizes::new(20, TMAX, Some(9.8), &[], true);
        assert_eq!(sizes.rank_of(TMAX), Some(3));
        assert!(sizes.percent(1) < 12.2 && (sizes.sum() - 89.0).abs() < 1e-9);
    }

    #[test]
    fn given_sizes_replace_the_closest_and_the_head_keeps_its_sum() {
        let pairs = [(15, 16.0), (30, 18.0), (120, 27.0)];
        let pairs = pairs.map(|(minutes, percent)| PopularEstimate { time: minutes * MINUTE, percent });
        let sizes = HeadSizes::new(20, 36 * HOUR, Some(1.0), &pairs, true);
        assert!((sizes.sum() - 89.0).abs() < 1e-9);
        let ranks = [120, 30, 15].map(|minutes| sizes.rank_of(minutes * MINUTE));
        assert_eq!(ranks, [Some(1), Some(2), Some(3)]);
        assert!((sizes.percent(sizes.rank_of(36 * HOUR).unwrap()) - 1.0).abs() < 1e-9);
        // KTH's improved setting without at-tmax: 5 minutes are larger, but rank 1 stays with the longest.
        let five = PopularEstimate { time: 5 * MINUTE, percent: 25.0 };
        let sizes = HeadSizes::new(20, 4 * HOUR, None, &[five], true);
        assert_eq!((sizes.rank_of(4 * HOUR), sizes.rank_of(5 * MINUTE)), (Some(1), Some(2)));
        // 25 replaced 10.31, and the rest shares what is left: 21.73 * 64 / 78.69.
        assert!((sizes.percent(1) - 21.7332 * 64.0 / (89.0 - 10.3128)).abs() < 0.001, "{}", sizes.percent(1));
    }

    #[test]
    fn given_sizes_beyond_the_head_leave_it_nothing_else() {
        let pairs = [PopularEstimate { time: HOUR, percent: 50.0 }, PopularEstimate { time: 2 * HOUR, percent: 45.0 }];
        let sizes = HeadSizes::new(20, TMAX, None, &pairs, true);
        assert!((sizes.sum() - 95.0).abs() < 1e-9 && sizes.percent(1) == 0.0);
        assert!((tail(300, 100.0 - sizes.sum()).iter().sum::<f64>() - 5.0).abs() < 1e-9);
        // Without a tail the head is all there is.
        assert!((HeadSizes::new(5, TMAX, Some(30.0), &[], false).sum() - 100.0).abs() < 1e-9);
        assert!((HeadSizes::new(1, TMAX, None, &[], false).sum() - 100.0).abs() < 1e-9);
        assert_eq!(percents(&HeadSizes::new(1, TMAX, Some(30.0), &[], false)), [30.0]);
    }

    #[test]
    fn the_tail_is_a_power_law() {
        let sizes = tail(320, 11.0);
        assert!((sizes.iter().sum::<f64>() - 11.0).abs() < 1e-9);
        assert!((sizes[21] / sizes[0] - 2.0f64.powf(-2.267)).abs() < 1e-12, "rank 42 over rank 21");
        assert!(tail(0, 11.0).is_empty());
    }
}
