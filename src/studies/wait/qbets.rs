//! QBETS (Brevik, Nurmi and Wolski): an upper bound of a wait, from the waits of jobs of similar width.

use statrs::distribution::{Binomial, DiscreteCDF};

use crate::time::Seconds;

/// The largest request sizes, in processors, of the groups of jobs; the last group has no upper bound.
const WIDTHS: [u32; 3] = [4, 16, 64];
/// After this many consecutive jobs over their bounds the history is cut: the waits have changed.
const MISSES: u32 = 3;

/// Upper bounds of waits, by request size.
#[derive(Clone, Debug)]
pub struct Qbets {
    quantile: f64,
    confidence: f64,
    /// The smallest number of waits that gives a bound.
    least: usize,
    /// The largest number of waits that are kept.
    keep: usize,
    groups: Vec<WidthGroup>,
}

#[derive(Clone, Debug, Default)]
struct WidthGroup {
    /// In the order in which the jobs started.
    waits: std::collections::VecDeque<Seconds>,
    sorted: Vec<Seconds>,
    misses: u32,
}

impl Qbets {
    /// Upper bounds of a quantile that hold with this confidence, from at most the latest `keep` waits of a group. Both
    /// numbers lie between 0 and 1.
    pub fn new(quantile: f64, confidence: f64, keep: usize) -> Qbets {
        let least = fewest(quantile, confidence);
        Qbets {
            quantile,
            confidence,
            least,
            keep: keep.max(least),
            groups: vec![WidthGroup::default(); WIDTHS.len() + 1],
        }
    }

    /// The bound for a job of `procs` processors; None as long as too few waits are known.
    pub fn bound(&self, procs: u32) -> Option<Seconds> {
        let sorted = &self.groups[group(procs)].sorted;
        let rank = rank(sorted.len(), self.quantile, self.confidence)?;
        Some(sorted[rank - 1])
    }

    /// Adds the wait of a job that has started; `bound` is the bound predicted at its arrival.
    pub fn observe(&mut self, procs: u32, wait: Seconds, bound: Option<Seconds>) {
        let (least, keep) = (self.least, self.keep);
        let group = &mut self.groups[group(procs)];
        group.push(wait);
        group.misses = if bound.is_some_and(|bound| wait > bound) { group.misses + 1 } else { 0 };
        if group.misses >= MISSES {
            group.misses = 0;
            group.cut(least);
        }
        group.cut(keep);
    }
}

impl WidthGroup {
    fn push(&mut self, wait: Seconds) {
        self.waits.push_back(wait);
        let at = self.sorted.partition_point(|&other| other < wait);
        self.sorted.insert(at, wait);
    }

    /// Keeps the latest `keep` waits.
    fn cut(&mut self, keep: usize) {
        while self.waits.len() > keep
            && let Some(oldest) = self.waits.pop_front()
        {
            let at = self.sorted.partition_point(|&other| other < oldest);
            self.sorted.remove(at);
        }
    }
}

fn group(procs: u32) -> usize {
    WIDTHS.iter().take_while(|&&most| procs > most).count()
}

/// Which of `n` sorted values, counted from 1, is an upper bound of the quantile with this confidence: the smallest k
/// with sum_{i<k} C(n,i) q^i (1-q)^(n-i) >= C (Brevik, Nurmi and Wolski 2006, section 3.1). None if `n` is too small.
pub fn rank(n: usize, quantile: f64, confidence: f64) -> Option<usize> {
    let binomial = Binomial::new(quantile, n as u64).ok()?;
    // The probability that fewer than k values lie below the quantile grows with k.
    let enough = |k: usize| binomial.cdf(k as u64 - 1) >= confidence;
    if n == 0 || !enough(n) {
        return None;
    }
    let (mut low, mut high) = (1, n);
    while low < high {
        let middle = (low + high) / 2;
        if enough(middle) { high = middle } else { low = middle + 1 }
    }
    Some(low)
}

/// The smallest number of values that gives a bound, which is then their largest. 59 for the 95% quantile with 95%
/// confidence.
fn fewest(quantile: f64, confidence: f64) -> usize {
    // 1 - q^n >= C
    let n = (libm::log(1.0 - confidence) / libm::log(quantile)).ceil().max(1.0) as usize;
    if rank(n, quantile, confidence).is_some() { n } else { n + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::stream;
    use rand::RngExt;

    /// The sum, term by term, from the definition.
    fn slowly(n: usize, q: f64, confidence: f64) -> Option<usize> {
        let mut sum = 0.0;
        for k in 1..=n {
            let i = k - 1;
            let choose: f64 = (0..i).map(|j| ((n - j) as f64).ln() - ((i - j) as f64).ln()).sum();
            sum += (choose + i as f64 * q.ln() + (n - i) as f64 * (1.0 - q).ln()).exp();
            if sum >= confidence {
                return Some(k);
            }
        }
        None
    }

    #[test]
    fn ranks_are_those_of_the_binomial_formula() {
        for n in (1..400).chain([1000, 2500, 5000]) {
            assert_eq!(rank(n, 0.95, 0.95), slowly(n, 0.95, 0.95), "{n}");
        }
        for n in [1, 2, 10, 50, 200] {
            assert_eq!(rank(n, 0.5, 0.9), slowly(n, 0.5, 0.9), "{n}");
            assert_eq!(rank(n, 0.8, 0.99), slowly(n, 0.8, 0.99), "{n}");
        }
        // The method's well-known smallest sample.
        assert_eq!((rank(58, 0.95, 0.95), rank(59, 0.95, 0.95), fewest(0.95, 0.95)), (None, Some(59), 59));
        assert_eq!(rank(0, 0.95, 0.95), None);
    }

    /// Each width has its own distribution, with the heavy tail that waits have.
    #[test]
    fn at_least_95_percent_of_synthetic_waits_stay_below_their_bounds() {
        let mut rng = stream(7, "qbets");
        let mut qbets = Qbets::new(0.95, 0.95, 5000);
        let (mut covered, mut bounded) = (0, 0);
        for _ in 0..40_000 {
            let procs = [2, 8, 32, 128][rng.random_range(0..4)];
            let wait = (f64::from(procs) * (6.0 * rng.random::<f64>()).exp()) as Seconds;
            let bound = qbets.bound(procs);
            if let Some(bound) = bound {
                bounded += 1;
                covered += usize::from(wait <= bound);
            }
            qbets.observe(procs, wait, bound);
        }
        let share = covered as f64 / bounded as f64;
        assert!((0.95..0.985).contains(&share) && bounded > 39_000, "{covered} of {bounded}: {share}");
    }

    #[test]
    fn three_misses_in_a_row_cut_the_history() {
        let mut qbets = Qbets::new(0.95, 0.95, 5000);
        for _ in 0..1000 {
            qbets.observe(1, 10, None);
        }
        assert_eq!((qbets.bound(4), qbets.bound(5)), (Some(10), None));
        // Two misses, a hit, two misses: nothing is cut. A third miss in a row cuts the history.
        for wait in [500, 500, 10, 500, 500] {
            qbets.observe(1, wait, Some(10));
        }
        assert_eq!((qbets.groups[0].waits.len(), qbets.bound(1)), (1005, Some(10)));
        qbets.observe(1, 500, Some(10));
        assert_eq!((qbets.groups[0].waits.len(), qbets.bound(1)), (59, Some(500)));
        assert_eq!(qbets.groups.iter().map(|group| group.sorted.len()).sum::<usize>(), 59);
    }
}
