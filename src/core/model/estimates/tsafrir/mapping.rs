//! Assigns popularity ranks to the times of the head: the pool algorithm (Tsafrir et al., section 9.3).

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::sizes::HeadSizes;
use crate::time::Seconds;

/// For each top-20 time rank (0 is the longest, the others ascend) the popularity rank that it has in each of four logs:
/// SDSC-106, CTC, KTH of up to 4 hours, and BLUE (Table 6).
const TABLE_6: [[usize; 4]; 20] = [
    [3, 1, 1, 1],
    [1, 3, 4, 6],
    [4, 4, 10, 5],
    [17, 2, 14, 3],
    [13, 12, 20, 7],
    [7, 9, 2, 2],
    [8, 8, 3, 18],
    [18, 18, 7, 19],
    [2, 6, 12, 4],
    [6, 7, 6, 11],
    [16, 11, 19, 20],
    [10, 20, 5, 9],
    [5, 16, 18, 10],
    [15, 5, 16, 14],
    [14, 14, 9, 13],
    [19, 13, 17, 16],
    [11, 10, 15, 15],
    [12, 15, 13, 17],
    [9, 17, 8, 8],
    [20, 19, 11, 12],
];

/// The popularity rank of each of the head's times, which are the longest and then the others, ascending.
///
/// The ranks of Table 6 are added to a pool row by row. If a rank is in the pool four times, once per log, it is chosen; else
/// the smaller of two random draws. Estimates with a fixed rank (those given, and the longest) are skipped, and so are
/// their ranks. Row 0 is added like the others, as in the authors' program: without it rank 3 would never be in the pool
/// four times, nor rank 1 if the longest estimate has another rank.
pub fn ranks(head: &[Seconds], sizes: &HeadSizes, rng: &mut ChaCha8Rng) -> Vec<usize> {
    let mut pool: Vec<usize> = Vec::new();
    let mut ranks: Vec<usize> = Vec::new();
    // A rank that is fixed, or larger than the head, is never chosen.
    let mut open: Vec<usize> = (1..=head.len()).filter(|&rank| sizes.is_free(rank)).collect();
    for (&time, row) in head.iter().zip(TABLE_6) {
        pool.extend(row.iter().filter(|rank| open.contains(rank)));
        let rank = sizes.rank_of(time).unwrap_or_else(|| choose(&pool, &open, rng));
        pool.retain(|&other| other != rank);
        open.retain(|&other| other != rank);
        ranks.push(rank);
    }
    ranks
}

fn choose(pool: &[usize], open: &[usize], rng: &mut ChaCha8Rng) -> usize {
    let times = |rank: usize| pool.iter().filter(|&&other| other == rank).count();
    if let Some(due) = open.iter().copied().find(|&rank| times(rank) == 4) {
        return due;
    }
    // The pool can be empty only for a head of fewer than 20.
    if pool.is_empty() {
        return open[0];
    }
    let [one, other] = [0; 2].map(|_| pool[rng.random_range(0..pool.len())]);
    one.min(other)
}

#[cfg(test)]
mod tests {
    use super::super::{PopularEstimate, times};
    use super::*;
    use crate::rng::stream;
    use crate::time::{HOUR, MINUTE};

    /// Each column of Table 6 follows from the sizes that Table 5 prints for that log: CTC's here, by time.
    #[test]
    fn every_log_has_every_rank_once_and_ctcs_are_those_of_its_sizes() {
        for log in 0..4 {
            let mut ranks = TABLE_6.map(|row| row[log]);
            ranks.sort_unstable();
            assert_eq!(ranks.to_vec(), (1..=20).collect::<Vec<_>>());
        }
        // 18h, then 0:05 0:10 0:15 0:20 0:30 1:00 1:30 2:00 3:00 4:00 4:50 5:00 6:00 8:00 10:00 12:00 15:00 16:00 17:00.
        let sizes =
            [23.8, 8.8, 6.4, 10.6, 2.0, 3.5, 4.2, 0.8, 5.4, 4.9, 2.2, 0.6, 1.1, 6.1, 1.5, 1.7, 2.2, 1.5, 1.0, 0.6];
        for (row, size) in TABLE_6.iter().zip(sizes) {
            let larger = sizes.iter().filter(|&&other| other > size).count();
            let equal = sizes.iter().filter(|&&other| other == size).count();
            assert!((larger + 1..=larger + equal).contains(&row[1]), "{size}");
        }
    }

    fn mapped(tmax: Seconds, most: usize, at_tmax: Option<f64>, pairs: &[PopularEstimate], seed: u64) -> Vec<usize> {
        let times: Vec<_> = pairs.iter().map(|pair| pair.time).collect();
        let head = times::with_pairs(times::head(tmax, most), &times, most);
        let sizes = HeadSizes::new(head.len(), tmax, at_tmax, pairs, true);
        let ranks = ranks(&head, &sizes, &mut stream(seed, "test"));
        for pair in pairs {
            let at = head.iter().position(|&time| time == pair.time).unwrap();
            assert_eq!((ranks[at], sizes.percent(ranks[at])), (sizes.rank_of(pair.time).unwrap(), pair.percent));
        }
        ranks
    }

    #[test]
    fn the_longest_is_the_most_popular_and_no_rank_comes_before_its_rows() {
        let first_row = |rank: usize| TABLE_6.iter().position(|row| row.contains(&rank)).unwrap();
        let mut at_five_minutes = [0; 21];
        for seed in 0..500 {
            let ranks = mapped(18 * HOUR, 20, None, &[], seed);
            let mut sorted = ranks.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (1..=20).collect::<Vec<_>>());
            assert_eq!(ranks[0], 1);
            for (ttr, &rank) in ranks.iter().enumerate() {
                assert!(first_row(rank) <= ttr, "rank {rank} at {ttr} was in no log by then");
            }
            // Rank 2 is at 8 at the latest: nothing that is due earlier can go before it there.
            assert!(ranks[..=8].contains(&2));
            at_five_minutes[ranks[1]] += 1;
        }
        // Row 0 leaves 3 in the pool, row 1 adds 3, 4 and 6: the smaller of two draws is 3 with 3/4, 4 with 3/16, 6 with 1/16.
        for (rank, expected) in [(3, 375.0), (4, 93.75), (6, 31.25)] {
            let found = f64::from(at_five_minutes[rank]);
            assert!((found - expected).abs() < 4.0 * (expected * (1.0 - expected / 500.0)).sqrt(), "{rank}: {found}");
        }
        assert_eq!(at_five_minutes[3] + at_five_minutes[4] + at_five_minutes[6], 500);
    }

    /// SDSC: 18 hours are third; then 5 minutes must be first, as they are there: all four logs have had that rank.
    #[test]
    fn where_the_longest_is_not_the_most_popular_five_minutes_are() {
        for seed in 0..50 {
            let ranks = mapped(18 * HOUR, 20, Some(9.8), &[], seed);
            assert_eq!(ranks[..2], [3, 1]);
        }
    }

    #[test]
    fn given_estimates_have_their_own_sizes_and_small_heads_all_their_ranks() {
        let pair = |minutes, percent| PopularEstimate { time: minutes * MINUTE, percent };
        for seed in 0..50 {
            mapped(36 * HOUR, 20, Some(1.0), &[pair(120, 27.0), pair(15, 16.0), pair(30, 18.0)], seed);
            mapped(4 * HOUR, 20, None, &[pair(5, 25.0), pair(7, 3.0), pair(239, 1.0)], seed);
            for (tmax, most) in [(HOUR, 20), (18 * HOUR, 7), (18 * HOUR, 2), (3 * MINUTE, 20)] {
                let mut ranks = mapped(tmax, most, None, &[], seed);
                ranks.sort_unstable();
                assert_eq!(ranks, (1..=ranks.len()).collect::<Vec<_>>());
            }
        }
    }
}
