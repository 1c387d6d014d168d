//! Orders of waiting jobs: which comes first in the queue, and which is tried first when jobs are backfilled.

use super::arrivals::Arrivals;
use super::queue::Waiting;
use crate::job::ArrivalNumber;
use crate::time::{MINUTE, Seconds, Time};

/// An order of waiting jobs. Equal jobs are in order of arrival.
///
/// In the formulas p is the prediction that the scheduler computes with, n the number of processors, w the wait so far, and
/// s the submission in seconds after that of the first simulated job, at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// `fcfs`: the order of arrival.
    Arrival,
    /// `lcfs`: the latest submission first.
    LatestSubmission,
    /// `spf`: the smallest p first.
    ShortestPrediction,
    /// `lpf`: the largest p first.
    LongestPrediction,
    /// `sqf`: the smallest n first.
    Narrowest,
    /// `lqf`: the largest n first.
    Widest,
    /// `saf`: the smallest p n first.
    SmallestArea,
    /// `laf`: the largest p n first.
    LargestArea,
    /// `expf`: the largest expansion factor (w + p) / p first.
    ExpansionFactor,
    /// `wfp3`: the largest (w / p)^3 n first (Tang et al., 2009).
    Wfp3,
    /// `unicef`: jobs of one processor first; then the largest w / (log2(n) p) first (Tang et al., 2009).
    Unicef,
    /// `f1`: the smallest log10(p) n + 870 log10(s) first (Carastan-Santos and de Camargo, 2017, as the next three).
    F1,
    /// `f2`: the smallest sqrt(p) n + 25600 log10(s) first.
    F2,
    /// `f3`: the smallest p n + 6860000 log10(s) first.
    F3,
    /// `f4`: the smallest p sqrt(n) + 530000 log10(s) first.
    F4,
    /// The smallest class of p first: the smallest whole i with p of at most 4^i minutes. Only `fair` has it.
    PredictionClass,
}

/// A job's position in an order: the smallest comes first. No two jobs have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank(i128);

impl Rank {
    /// The value decides, then the order of arrival. Both are in one number, which is compared without a branch.
    pub(super) fn new(value: i128, ArrivalNumber(arrival): ArrivalNumber) -> Rank {
        Rank(value << 32 | i128::from(arrival))
    }

    /// The place in the order of arrival of the job of this rank.
    pub fn arrival(self) -> ArrivalNumber {
        ArrivalNumber(self.0 as u32)
    }
}

impl Order {
    /// The names of all orders, as users write them.
    pub const NAMES: [&str; 15] =
        ["fcfs", "lcfs", "spf", "lpf", "sqf", "lqf", "saf", "laf", "expf", "wfp3", "unicef", "f1", "f2", "f3", "f4"];

    /// In the order of the names.
    const ALL: [Order; 15] = [
        Order::Arrival,
        Order::LatestSubmission,
        Order::ShortestPrediction,
        Order::LongestPrediction,
        Order::Narrowest,
        Order::Widest,
        Order::SmallestArea,
        Order::LargestArea,
        Order::ExpansionFactor,
        Order::Wfp3,
        Order::Unicef,
        Order::F1,
        Order::F2,
        Order::F3,
        Order::F4,
    ];

    /// The order of this name. None if there is no such order.
    pub fn from_name(name: &str) -> Option<Order> {
        let at = Self::NAMES.iter().position(|other| *other == name)?;
        Some(Self::ALL[at])
    }

    /// Whether the order of two jobs can change while both wait and their predictions stay the same. Such an order cannot
    /// be kept from pass to pass.
    pub fn depends_on_waits(self) -> bool {
        matches!(self, Order::ExpansionFactor | Order::Wfp3 | Order::Unicef)
    }

    /// Whether the order needs the submission times of jobs.
    pub(super) fn needs_submissions(self) -> bool {
        self.depends_on_waits()
            || matches!(self, Order::LatestSubmission | Order::F1 | Order::F2 | Order::F3 | Order::F4)
    }

    /// The rank of a job now. Without [`Order::depends_on_waits`] it does not depend on `now`.
    pub(super) fn rank(self, job: &Waiting, arrivals: &Arrivals, now: Time) -> Rank {
        let (length, procs) = (i128::from(job.length), i128::from(job.procs));
        let value = match self {
            Order::Arrival => 0,
            Order::LatestSubmission => -i128::from(arrivals.submit(job.id)),
            Order::ShortestPrediction => length,
            Order::LongestPrediction => -length,
            Order::Narrowest => procs,
            Order::Widest => -procs,
            Order::PredictionClass => class(job.length).into(),
            Order::SmallestArea => length * procs,
            Order::LargestArea => -(length * procs),
            // Serial jobs have no order of their own, so they are in order of arrival.
            Order::Unicef if job.procs == 1 => i128::MIN >> 32,
            Order::ExpansionFactor | Order::Wfp3 | Order::Unicef => {
                sortable(-self.urgency(job, now - arrivals.submit(job.id)))
            }
            Order::F1 | Order::F2 | Order::F3 | Order::F4 => {
                sortable(self.learned(job, arrivals.seconds_after_first(job.id)))
            }
        };
        Rank::new(value, job.arrival)
    }

    /// The formulas with the wait; the largest comes first.
    fn urgency(self, job: &Waiting, wait: Seconds) -> f64 {
        let (p, n, w) = (job.length as f64, f64::from(job.procs), wait as f64);
        match self {
            Order::Wfp3 => (w / p).powi(3) * n,
            Order::Unicef => w / (libm::log2(n) * p),
            _ => (wait + job.length) as f64 / p,
        }
    }

    /// The formulas that Carastan-Santos and de Camargo (SC'17, Table 3) found by regression; the smallest comes first.
    fn learned(self, job: &Waiting, seconds_after_first: Seconds) -> f64 {
        let (p, n) = (job.length as f64, f64::from(job.procs));
        let log_s = libm::log10(seconds_after_first as f64);
        match self {
            Order::F1 => libm::log10(p) * n + 870.0 * log_s,
            Order::F2 => p.sqrt() * n + 25_600.0 * log_s,
            Order::F3 => p * n + 6_860_000.0 * log_s,
            _ => p * n.sqrt() + 530_000.0 * log_s,
        }
    }
}

/// The class of a length: the smallest whole i with a length of at most 4^i minutes.
pub(super) fn class(length: Seconds) -> u32 {
    let minutes = (length.max(1) as u64).div_ceil(MINUTE as u64);
    (u64::BITS - (minutes - 1).leading_zeros()).div_ceil(2)
}

/// The longest length of a class.
pub(super) fn longest_of_class(class: u32) -> Seconds {
    MINUTE.saturating_mul(1i64.checked_shl(2 * class).unwrap_or(Seconds::MAX))
}

/// A whole number that is ordered as the real number is. The two zeros are equal.
fn sortable(number: f64) -> i128 {
    let bits = (number + 0.0).to_bits() as i64;
    // The bits of positive numbers are in their order, those of negative numbers in the opposite order.
    i128::from(bits ^ ((bits >> 63) as u64 >> 1) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{JobId, Submission};
    use crate::time::FOREVER;

    #[test]
    fn numbers_keep_their_order() {
        let numbers = [f64::NEG_INFINITY, -1e300, -2.5, -1e-300, 0.0, 1e-300, 2.5, 1e300, f64::INFINITY];
        assert!(numbers.is_sorted_by(|a, b| sortable(*a) < sortable(*b)));
        assert_eq!(sortable(-0.0), sortable(0.0));
        assert!(i128::MIN >> 32 < sortable(f64::NEG_INFINITY));
    }

    #[test]
    fn classes_end_at_powers_of_four_minutes() {
        for (length, by_hand) in
            [(1, 0), (60, 0), (61, 1), (240, 1), (241, 2), (960, 2), (961, 3), (3_840, 3), (3_841, 4)]
        {
            assert_eq!(class(length), by_hand, "{length}");
        }
        assert_eq!((class(60 << 30), class((60 << 30) + 1)), (15, 16));
        for length in [1, 60, 61, 500, 3_840, 3_841, 60 << 30, FOREVER] {
            let longest = longest_of_class(class(length));
            assert!(length <= longest && class(longest) == class(length) && class(longest + 1) == class(length) + 1);
        }
    }

    /// Four jobs at time 1000: (submission, processors, prediction). The first simulated job came at 0.
    #[test]
    fn orders_by_hand() {
        let jobs = [(0, 4, 100), (400, 1, 100), (900, 2, 50), (1000, 8, 1000)];
        let mut arrivals = Arrivals::new(true);
        let mut waiting = Vec::new();
        for (id, (submit, procs, length)) in (0u32..).zip(jobs) {
            arrivals.push(JobId(id), &Submission::new(submit, procs, length));
            waiting.push(Waiting { id: JobId(id), arrival: ArrivalNumber(id), procs, prediction: length, length });
        }
        for (name, by_hand) in [
            ("fcfs", [0, 1, 2, 3]),
            ("lcfs", [3, 2, 1, 0]),
            // The first two are equal.
            ("spf", [2, 0, 1, 3]),
            ("lpf", [3, 0, 1, 2]),
            ("sqf", [1, 2, 0, 3]),
            ("lqf", [3, 0, 2, 1]),
            // Areas of 400, 100, 100 and 8000.
            ("saf", [1, 2, 0, 3]),
            ("laf", [3, 0, 1, 2]),
            // 11, 7, 3 and 1.
            ("expf", [0, 1, 2, 3]),
            // 10^3 4, 6^3 1, 2^3 2 and 0.
            ("wfp3", [0, 1, 2, 3]),
            // 1000 / (2 100) = 5, serial, 100 / (1 50) = 2 and 0.
            ("unicef", [1, 0, 2, 3]),
            // 2 4 + 0 = 8; 2 + 870 2.602 = 2266; 1.699 2 + 870 2.954 = 2574; 3 8 + 870 3 = 2634.
            ("f1", [0, 1, 2, 3]),
            // 40; 10 + 66612 = 66622; 14 + 75628 = 75642; 253 + 76800 = 77053.
            ("f2", [0, 1, 2, 3]),
            ("f3", [0, 1, 2, 3]),
            ("f4", [0, 1, 2, 3]),
        ] {
            let order = Order::from_name(name).unwrap();
            let mut ranks: Vec<_> = waiting.iter().map(|job| order.rank(job, &arrivals, 1000)).collect();
            ranks.sort_unstable();
            let ids: Vec<_> = ranks.iter().map(|rank| rank.arrival().0).collect();
            assert_eq!(ids, by_hand, "{name}");
        }
        assert_eq!(Order::from_name("sjf"), None);
    }
}
