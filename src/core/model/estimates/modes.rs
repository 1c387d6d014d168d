//! The modes of a list of estimates: the distinct values with their numbers of jobs (Tsafrir et al., sections 3 to 9).

use crate::sort::sort_by_key;
use crate::time::Seconds;

/// The number of most popular estimates in the head of a distribution; the rest is its tail (section 5 there).
pub const HEAD: usize = 20;

/// An estimate and the number of jobs that use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    /// In seconds.
    pub estimate: Seconds,
    /// The number of jobs with this estimate.
    pub jobs: u64,
}

/// The modes of a list of estimates.
///
/// ```
/// # extern crate shadowtime_core as shadowtime;
/// use shadowtime::model::Modes;
///
/// let modes = Modes::of([60, 300, 300, 3600]);
/// assert_eq!((modes.count(), modes.tmax(), modes.percent_at(300)), (3, Some(3600), 50.0));
/// assert_eq!(modes.covering(75.0), 2);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Modes {
    /// The most popular first; of equally popular ones the shorter first.
    by_popularity: Vec<Mode>,
    jobs: u64,
}

impl Modes {
    /// Counts the modes of estimates in seconds.
    pub fn of(estimates: impl IntoIterator<Item = Seconds>) -> Modes {
        let mut estimates: Vec<Seconds> = estimates.into_iter().collect();
        estimates.sort_unstable();
        let jobs = estimates.len() as u64;
        let runs = estimates.chunk_by(|a, b| a == b);
        let mut by_popularity: Vec<_> = runs.map(|run| Mode { estimate: run[0], jobs: run.len() as u64 }).collect();
        // A stable sort: of equally popular estimates the shorter comes first.
        sort_by_key(&mut by_popularity, |mode| std::cmp::Reverse(mode.jobs));
        Modes { by_popularity, jobs }
    }

    /// The number of different estimates: the paper's K.
    pub fn count(&self) -> usize {
        self.by_popularity.len()
    }

    /// The largest estimate. None if there are no jobs.
    pub fn tmax(&self) -> Option<Seconds> {
        self.by_popularity.iter().map(|mode| mode.estimate).max()
    }

    /// The percentage of the jobs that use this estimate.
    pub fn percent_at(&self, estimate: Seconds) -> f64 {
        self.by_popularity.iter().find(|mode| mode.estimate == estimate).map_or(0.0, |mode| self.percent(mode))
    }

    /// The percentage of the jobs that use this mode.
    pub fn percent(&self, mode: &Mode) -> f64 {
        100.0 * mode.jobs as f64 / self.jobs as f64
    }

    /// The head: the [`HEAD`] most popular estimates, the most popular first (Table 5 there).
    pub fn head(&self) -> &[Mode] {
        &self.by_popularity[..self.count().min(HEAD)]
    }

    /// The percentage of the jobs that use an estimate of the head.
    pub fn percent_in_head(&self) -> f64 {
        self.head().iter().map(|mode| self.percent(mode)).sum()
    }

    /// The least number of estimates that cover this percentage of the jobs (Table 2 there).
    pub fn covering(&self, percent: f64) -> usize {
        // In whole jobs, so that rounding errors do not matter for 100%.
        let wanted = (percent / 100.0 * self.jobs as f64).ceil() as u64;
        let mut covered = 0;
        self.by_popularity
            .iter()
            .take_while(|mode| {
                let more = covered < wanted;
                covered += mode.jobs;
                more
            })
            .count()
    }
}

/// The Kolmogorov-Smirnov distance of two lists of estimates: the largest difference between their cumulative
/// distributions. 0 for equal distributions, 1 if all estimates of one list are below those of the other, or if only one
/// list is empty.
pub fn ks_distance(one: &[Seconds], other: &[Seconds]) -> f64 {
    let sorted = |list: &[Seconds]| {
        let mut list = list.to_vec();
        list.sort_unstable();
        list
    };
    let (one, other) = (sorted(one), sorted(other));
    if one.is_empty() || other.is_empty() {
        return if one.is_empty() && other.is_empty() { 0.0 } else { 1.0 };
    }
    let (mut at_one, mut at_other, mut largest) = (0, 0, 0.0f64);
    while at_one < one.len() && at_other < other.len() {
        let value = one[at_one].min(other[at_other]);
        at_one += one[at_one..].iter().take_while(|&&estimate| estimate == value).count();
        at_other += other[at_other..].iter().take_while(|&&estimate| estimate == value).count();
        let difference = at_one as f64 / one.len() as f64 - at_other as f64 / other.len() as f64;
        largest = largest.max(difference.abs());
    }
    largest
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::rng::random_cases;

    #[test]
    fn the_modes_of_a_small_list() {
        let modes = Modes::of([300, 60, 300, 900, 60, 300, 7200, 300, 60, 900]);
        let pairs: Vec<_> = modes.head().iter().map(|mode| (mode.estimate, mode.jobs)).collect();
        assert_eq!(pairs, [(300, 4), (60, 3), (900, 2), (7200, 1)]);
        assert_eq!((modes.count(), modes.jobs, modes.tmax()), (4, 10, Some(7200)));
        assert_eq!([7200, 900, 5].map(|estimate| modes.percent_at(estimate)), [10.0, 20.0, 0.0]);
        let covering = [0.0, 10.0, 40.0, 41.0, 70.0, 90.0, 91.0, 100.0].map(|percent| modes.covering(percent));
        assert_eq!(covering, [0, 1, 1, 2, 2, 3, 4, 4]);
        assert!((modes.percent_in_head() - 100.0).abs() < 1e-9);
    }

    #[test]
    fn an_empty_list_has_no_modes() {
        let modes = Modes::of([]);
        assert_eq!((modes.count(), modes.tmax(), modes.covering(90.0), modes.percent_at(60)), (0, None, 0, 0.0));
        assert_eq!((ks_distance(&[], &[]), ks_distance(&[], &[1])), (0.0, 1.0));
    }

    proptest! {
        #![proptest_config(random_cases(256))]

        /// Against the definition, evaluated at every value.
        #[test]
        fn the_distance_is_the_largest_gap_of_the_distributions(
            one in vec(0i64..20, 1..40),
            other in vec(0i64..20, 1..40),
        ) {
            let share = |list: &[i64], most: i64| {
                list.iter().filter(|&&value| value <= most).count() as f64 / list.len() as f64
            };
            let gaps = (0..20).map(|value| (share(&one, value) - share(&other, value)).abs());
            prop_assert_eq!(ks_distance(&one, &other), gaps.fold(0.0, f64::max));
        }
    }
}
