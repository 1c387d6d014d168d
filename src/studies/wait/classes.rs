//! Ranges of waits: six classes (Kumar and Vadhiyar, Table 2), and the choice of two of them as the answer for a job.

use crate::sort::sort_by;
use crate::time::{HOUR, Seconds};

/// The number of classes.
pub const CLASSES: usize = 6;

/// The longest wait of each class but the last, which has no upper bound.
const UPPER: [Seconds; CLASSES - 1] = [HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, 24 * HOUR];

const NAMES: [&str; CLASSES] =
    ["within 1 hour", "1 to 3 hours", "3 to 6 hours", "6 to 12 hours", "12 to 24 hours", "more than a day"];

/// A range of waits, from "within 1 hour" to "more than a day".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WaitClass(u8);

/// One number per class, the class of the shortest waits first.
pub type PerClass = [f64; CLASSES];

impl WaitClass {
    /// The class of a wait in seconds. A bound belongs to the class below it: one hour is "within 1 hour".
    pub fn of(wait: f64) -> WaitClass {
        WaitClass(UPPER.iter().take_while(|&&upper| wait > upper as f64).count() as u8)
    }

    /// All classes, the shortest waits first.
    pub fn all() -> impl Iterator<Item = WaitClass> {
        (0..CLASSES as u8).map(WaitClass)
    }

    /// Counted from 0.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// Counted from 1, as in the paper.
    pub fn number(self) -> u64 {
        u64::from(self.0) + 1
    }

    /// In words, such as "1 to 3 hours".
    pub fn name(self) -> &'static str {
        NAMES[self.index()]
    }

    /// The class is of waits longer than the first bound and not longer than the second, in seconds. The last class has no
    /// second bound, and the first one includes 0.
    pub fn bounds(self) -> (Seconds, Option<Seconds>) {
        let lower = if self.0 == 0 { 0 } else { UPPER[self.index() - 1] };
        (lower, UPPER.get(self.index()).copied())
    }

    /// The wait, in seconds, that represents a class without similar jobs: the middle of its range, and 36 hours for
    /// the last class.
    pub fn midpoint(self) -> f64 {
        let (lower, upper) = self.bounds();
        (lower + upper.unwrap_or(48 * HOUR)) as f64 / 2.0
    }

    /// This class and the classes next to it, in order: two at the ends, three elsewhere.
    pub fn neighbourhood(self) -> impl Iterator<Item = WaitClass> {
        let last = CLASSES as u8 - 1;
        (self.0.saturating_sub(1)..=(self.0 + 1).min(last)).map(WaitClass)
    }

    /// The most probable class; of equally probable ones this one, then that of shorter waits.
    pub fn or_more_probable(self, probabilities: &PerClass) -> WaitClass {
        let more = |best: WaitClass, class: WaitClass| match probabilities[class.index()] > probabilities[best.index()]
        {
            true => class,
            false => best,
        };
        WaitClass::all().fold(self, more)
    }

    /// The two most probable classes of [`WaitClass::neighbourhood`], the more probable one first (Kumar and Vadhiyar,
    /// section 3.2). Of equally probable classes this class comes first, then the one of shorter waits.
    pub fn two_most_probable(self, probabilities: &PerClass) -> [WaitClass; 2] {
        let mut classes: Vec<WaitClass> = self.neighbourhood().collect();
        let rank = |class: &WaitClass| (*class != self, class.0);
        sort_by(&mut classes, |a, b| {
            probabilities[b.index()].total_cmp(&probabilities[a.index()]).then_with(|| rank(a).cmp(&rank(b)))
        });
        [classes[0], classes[1]]
    }
}

/// The probabilities of two classes, scaled so that they sum to 1 (Kumar and Vadhiyar, section 3.2); one half each
/// where both are 0.
pub fn normalized(classes: [WaitClass; 2], probabilities: &PerClass) -> [f64; 2] {
    let [first, second] = classes.map(|class| probabilities[class.index()]);
    let sum = first + second;
    if sum > 0.0 { [first / sum, second / sum] } else { [0.5, 0.5] }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(classes: impl IntoIterator<Item = WaitClass>) -> Vec<u64> {
        classes.into_iter().map(WaitClass::number).collect()
    }

    #[test]
    fn the_classes_of_table_2() {
        for (wait, class) in [
            (0.0, 1),
            (3600.0, 1),
            (3600.5, 2),
            (4500.0, 2),
            (10_800.0, 2),
            (10_801.0, 3),
            (21_601.0, 4),
            (43_201.0, 5),
            (86_400.0, 5),
            (86_401.0, 6),
            (1e12, 6),
        ] {
            assert_eq!(WaitClass::of(wait).number(), class, "{wait}");
        }
        let midpoints: Vec<f64> = WaitClass::all().map(|class| class.midpoint() / HOUR as f64).collect();
        assert_eq!(midpoints, [0.5, 2.0, 4.5, 9.0, 18.0, 36.0]);
    }

    #[test]
    fn neighbours_and_the_two_most_probable() {
        let class = |number: u8| WaitClass(number - 1);
        assert_eq!(numbers(class(1).neighbourhood()), [1, 2]);
        assert_eq!(numbers(class(4).neighbourhood()), [3, 4, 5]);
        assert_eq!(numbers(class(6).neighbourhood()), [5, 6]);
        let probabilities = [0.5, 0.1, 0.2, 0.05, 0.15, 0.0];
        assert_eq!(numbers(class(4).two_most_probable(&probabilities)), [3, 5]);
        assert_eq!(numbers(class(2).two_most_probable(&probabilities)), [1, 3]);
        // All probabilities are equal: the class itself, then the shorter wait.
        assert_eq!(numbers(class(4).two_most_probable(&[0.0; CLASSES])), [4, 3]);
        assert_eq!(normalized([class(1), class(5)], &probabilities), [0.5 / 0.65, 0.15 / 0.65]);
        assert_eq!(normalized([class(6), class(6)], &probabilities), [0.5, 0.5]);
    }
}
