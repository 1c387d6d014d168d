//! The processors that no reservation has taken, over time.

use super::processors::ProcessorSet;
use super::runs::{Run, Runs};
use crate::time::{Seconds, Time};

/// A stretch of time in which the same processors are free of reservations. Running jobs are not looked at here.
#[derive(Clone, Debug)]
struct Stretch {
    begin: Time,
    end: Time,
    free: ProcessorSet,
    /// The number of processors in `free`.
    count: u32,
    /// Whether a processor that is not in `free` is free in the next stretch: a reservation ends there.
    gains: bool,
    /// The processors of the reservations that begin here. Those that are free in the stretch before and not in this one are
    /// among them.
    taken: Runs,
}

/// The processors that are free of reservations, from the present to the end of the window.
#[derive(Clone, Debug)]
pub(super) struct Space {
    /// They follow each other without gaps; neighbours differ.
    stretches: Vec<Stretch>,
    /// Times of reservations are rounded down to multiples of this.
    resolution: Seconds,
    procs: u32,
    /// All processors.
    all: ProcessorSet,
}

impl Space {
    /// A space for a machine of `procs` processors. [`Space::reset`] must come first.
    pub fn new(procs: u32, resolution: Seconds) -> Self {
        Space { stretches: Vec::new(), resolution, procs, all: ProcessorSet::none(procs, false) }
    }

    /// Removes all reservations. The space reaches from `now` to `window` seconds later, both rounded down. Its sets are bits or
    /// not.
    pub fn reset(&mut self, now: Time, window: Seconds, is_bits: bool) {
        self.all = ProcessorSet::all(self.procs, is_bits);
        self.stretches.clear();
        let (begin, end) = (self.round_down(now), self.round_down(now + window));
        self.stretches.push(Stretch {
            begin,
            end,
            free: self.all.clone(),
            count: self.procs,
            gains: false,
            taken: Runs::default(),
        });
    }

    pub fn round_down(&self, time: Time) -> Time {
        time.div_euclid(self.resolution) * self.resolution
    }

    /// The end of the window.
    pub fn end(&self) -> Time {
        self.stretches[self.stretches.len() - 1].end
    }

    /// The next instant after `from` at which a reservation ends and processors become free. Slurm looks no further than to
    /// the end of the first stretch that begins after `to`.
    pub fn next_release(&self, from: Time, to: Time) -> Option<Time> {
        for stretch in &self.stretches[self.at(from)..] {
            if stretch.gains {
                return Some(stretch.end);
            }
            if stretch.begin > to {
                return None;
            }
        }
        None
    }

    /// The first instant after `time` at which the free processors change.
    pub fn next_change(&self, time: Time) -> Option<Time> {
        self.stretches.get(self.stretches.partition_point(|stretch| stretch.begin <= time)).map(|stretch| stretch.begin)
    }

    /// Puts the processors that are free of reservations in [from, to] into `free`. Returns false, with an arbitrary `free`,
    /// if at some instant fewer than `least` are.
    pub fn free_in(&self, from: Time, to: Time, least: u32, free: &mut ProcessorSet) -> bool {
        let stretches = &self.stretches[self.at(from)..];
        let stretches = &stretches[..stretches.iter().take_while(|stretch| stretch.begin <= to).count()];
        if stretches.iter().any(|stretch| stretch.count < least) {
            return false;
        }
        match stretches {
            [] => free.copy_from(&self.all),
            [first, others @ ..] => {
                free.copy_from(&first.free);
                others.iter().for_each(|stretch| free.lose(&stretch.taken, &stretch.free));
            }
        }
        true
    }

    /// How many of these processors are free of reservations from `from` to each later instant: the instants at which the
    /// number falls, with the new number.
    pub fn falls(&self, from: Time, processors: &ProcessorSet, falls: &mut Vec<(Time, u32)>) {
        let mut left = processors.clone();
        let mut count = left.count();
        falls.clear();
        let first = self.at(from);
        for (at, stretch) in self.stretches.iter().enumerate().skip(first) {
            match at == first {
                true => left.keep(&stretch.free),
                false if stretch.taken.runs().is_empty() => continue,
                false => left.lose(&stretch.taken, &stretch.free),
            }
            let fewer = left.count();
            if fewer < count {
                falls.push((stretch.begin, fewer));
                count = fewer;
            }
            if count == 0 {
                break;
            }
        }
    }

    /// Whether a share is free of reservations in [begin, end).
    pub fn is_free(&self, begin: Time, end: Time, share: &[Run]) -> bool {
        let stretches = self.stretches[self.at(begin)..].iter();
        stretches.take_while(|stretch| stretch.begin < end).all(|stretch| stretch.free.holds(share))
    }

    /// Reserves a share from `begin` to `end`, which are multiples of the resolution, for at least one step. It
    /// [is free](Space::is_free) then.
    pub fn reserve(&mut self, begin: Time, end: Time, share: &[Run]) {
        let begin = begin.max(self.stretches[0].begin);
        let end = end.max(begin + self.resolution);
        let first = self.split(begin);
        let last = self.split(end);
        if let Some(stretch) = self.stretches.get_mut(first) {
            stretch.taken.add(share);
        }
        for stretch in &mut self.stretches[first..last] {
            stretch.count -= stretch.free.count_of(share);
            stretch.free.remove(share);
        }
        // Stretches between these lose the same processors as their neighbours. Backwards, because a stretch that has become
        // equal to the one before is removed.
        for at in [last, first] {
            if at == 0 || at >= self.stretches.len() {
                continue;
            }
            let (before, after) = (&self.stretches[at - 1], &self.stretches[at]);
            let is_equal = after.count == before.count;
            let gains = !after.free.is_within(&before.free);
            self.stretches[at - 1].gains = gains;
            if is_equal && !gains {
                let Stretch { end, gains, .. } = self.stretches.remove(at);
                (self.stretches[at - 1].end, self.stretches[at - 1].gains) = (end, gains);
            }
        }
    }

    /// The first stretch that ends after `time`.
    fn at(&self, time: Time) -> usize {
        self.stretches.partition_point(|stretch| stretch.end <= time)
    }

    /// Makes a stretch begin at `time`. Returns its place; the number of stretches if `time` is not inside the window.
    fn split(&mut self, time: Time) -> usize {
        let at = self.at(time);
        match self.stretches.get_mut(at) {
            Some(stretch) if stretch.begin < time => {
                let taken = std::mem::take(&mut stretch.taken);
                let after = Stretch { begin: time, ..stretch.clone() };
                (stretch.end, stretch.gains, stretch.taken) = (time, false, taken);
                self.stretches.insert(at + 1, after);
                at + 1
            }
            _ => at,
        }
    }
}
