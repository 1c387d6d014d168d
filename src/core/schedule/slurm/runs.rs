//! Nodes as a list of runs: for pools of millions of processors, where bits would take too much memory.

/// Consecutive nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Run {
    pub first: u32,
    pub length: u32,
}

/// A set of nodes as its longest runs, in order of their numbers.
#[derive(Clone, Debug, PartialEq, Eq, Default, Hash)]
pub(super) struct Runs {
    runs: Vec<Run>,
}

fn end(run: Run) -> u32 {
    run.first + run.length
}

/// The next run of nodes that are in both lists, from these places on.
#[inline]
fn next_common(left: &[Run], right: &[Run], at: &mut [usize; 2]) -> Option<Run> {
    while let (Some(&a), Some(&b)) = (left.get(at[0]), right.get(at[1])) {
        let (first, last) = (a.first.max(b.first), end(a).min(end(b)));
        at[usize::from(end(a) > end(b))] += 1;
        if first < last {
            return Some(Run { first, length: last - first });
        }
    }
    None
}

impl Runs {
    pub fn copy_from(&mut self, other: &Runs) {
        self.runs.clone_from(&other.runs);
    }

    pub fn count(&self) -> u32 {
        self.runs.iter().map(|run| run.length).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    pub fn common(&self, other: &Runs) -> u32 {
        let mut at = [0; 2];
        std::iter::from_fn(|| next_common(&self.runs, &other.runs, &mut at)).map(|run| run.length).sum()
    }

    pub fn keep(&mut self, other: &Runs) {
        // The new runs are put behind the old ones: this needs new memory only rarely.
        let (old, mut at) = (self.runs.len(), [0; 2]);
        while let Some(run) = next_common(&self.runs[..old], &other.runs, &mut at) {
            self.runs.push(run);
        }
        self.runs.drain(..old);
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
            let mut from = self.runs.partition_point(|other| end(*other) <= run.first);
            let count = self.runs[from..].iter().take_while(|other| other.first < end(run)).count();
            if count == 0 {
                continue;
            }
            let (to, old) = (from + count, end(self.runs[from + count - 1]));
            if self.runs[from].first < run.first {
                self.runs[from].length = run.first - self.runs[from].first;
                from += 1;
            }
            if old > end(run) {
                let after = Run { first: end(run), length: old - end(run) };
                // The run is cut in two if there is no other place.
                match self.runs[..to].get_mut(from) {
                    Some(place) => *place = after,
                    None => self.runs.insert(from, after),
                }
                from += 1;
            }
            self.runs.drain(from.min(to)..to);
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

    pub fn runs(&self) -> &[Run] {
        &self.runs
    }
}
