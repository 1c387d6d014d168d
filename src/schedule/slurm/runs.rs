//! Processors as a list of runs: for machines of millions of processors, where bits would take too much memory.

use super::processors::Run;

/// A set of processors as its longest runs, in order of their numbers.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct Runs {
    runs: Vec<Run>,
}

fn end(run: Run) -> u32 {
    run.first + run.length
}

impl Runs {
    /// The runs that are in both sets.
    fn both<'a>(&'a self, other: &'a Runs) -> impl Iterator<Item = Run> + 'a {
        let (mut left, mut right) = (self.runs.iter().peekable(), other.runs.iter().peekable());
        std::iter::from_fn(move || {
            loop {
                let (a, b) = (**left.peek()?, **right.peek()?);
                let (first, last) = (a.first.max(b.first), end(a).min(end(b)));
                if end(a) <= end(b) {
                    left.next();
                } else {
                    right.next();
                }
                if first < last {
                    return Some(Run { first, length: last - first });
                }
            }
        })
    }

    pub fn count(&self) -> u32 {
        self.runs.iter().map(|run| run.length).sum()
    }

    pub fn common(&self, other: &Runs) -> u32 {
        self.both(other).map(|run| run.length).sum()
    }

    pub fn keep(&mut self, other: &Runs) {
        self.runs = self.both(other).collect();
    }

    pub fn is_within(&self, other: &Runs) -> bool {
        self.common(other) == self.count()
    }

    pub fn add(&mut self, share: &[Run]) {
        for &run in share {
            let at = self.runs.partition_point(|other| other.first < run.first);
            self.runs.insert(at, run);
            // A run that touches its neighbours becomes one with them.
            if self.runs.get(at + 1).is_some_and(|next| next.first == end(run)) {
                self.runs[at].length += self.runs.remove(at + 1).length;
            }
            if at > 0 && end(self.runs[at - 1]) == run.first {
                self.runs[at - 1].length += self.runs.remove(at).length;
            }
        }
    }

    pub fn remove(&mut self, share: &[Run]) {
        for &run in share {
            let from = self.runs.partition_point(|other| end(*other) <= run.first);
            let to = self.runs.partition_point(|other| other.first < end(run));
            let touched: Vec<Run> = self.runs[from..to].to_vec();
            let before = touched.first().filter(|other| other.first < run.first);
            let before = before.map(|other| Run { first: other.first, length: run.first - other.first });
            let after = touched.last().filter(|other| end(**other) > end(run));
            let after = after.map(|other| Run { first: end(run), length: end(*other) - end(run) });
            self.runs.splice(from..to, before.into_iter().chain(after));
        }
    }

    pub fn meets(&self, share: &[Run]) -> bool {
        share.iter().any(|run| {
            let at = self.runs.partition_point(|other| end(*other) <= run.first);
            self.runs.get(at).is_some_and(|other| other.first < end(*run))
        })
    }

    pub fn count_of(&self, share: &[Run]) -> u32 {
        let mut count = 0;
        for &run in share {
            let at = self.runs.partition_point(|other| end(*other) <= run.first);
            let met = self.runs[at..].iter().take_while(|other| other.first < end(run));
            count += met.map(|other| end(*other).min(end(run)) - other.first.max(run.first)).sum::<u32>();
        }
        count
    }

    pub fn holds(&self, share: &[Run]) -> bool {
        share.iter().all(|run| {
            let at = self.runs.partition_point(|other| end(*other) <= run.first);
            self.runs.get(at).is_some_and(|other| other.first <= run.first && end(*run) <= end(*other))
        })
    }

    pub fn runs(&self) -> Vec<Run> {
        self.runs.clone()
    }
}
