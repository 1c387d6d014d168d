//! A profile of many steps, in blocks.

use super::hints::Hints;
use super::limits::StartLimits;
use crate::time::{Seconds, Time};

/// The free processors from an instant on, until the next step begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ProfileStep {
    pub from: Time,
    pub free: i64,
}

/// Free processors over time: each step lasts until the next one. [`super::profile::Profile`] says what the methods do.
///
/// The first 8,000 jobs of KTH with four times their load take 1.3 times as long without under `conservative`. The tests of
/// [`super::profile`] compare them with a plain list.
///
/// Each block has bounds of its free processors, so that most blocks are passed without looking at their steps. If a
/// reservation covers a whole block, its processors are only noted for the block.
#[derive(Clone, Debug, Default)]
pub(super) struct Blocks {
    /// In order of time; none is empty.
    blocks: Vec<StepBlock>,
    /// The steps of the blocks, in any order.
    steps: Vec<Steps>,
    /// The places in `steps` that no block uses; those from `used` on are free as well.
    spare: Vec<usize>,
    used: usize,
    hints: Hints,
}

#[derive(Clone, Copy, Debug)]
struct StepBlock {
    /// The beginning of the first step.
    from: Time,
    /// No step has fewer free processors.
    least: i64,
    /// No step has more free processors.
    most: i64,
    /// The processors that are to be subtracted from every step.
    taken: i64,
    len: usize,
    /// Where its steps are.
    place: usize,
}

#[derive(Clone, Copy, Debug)]
struct Steps {
    from: [Time; LARGEST],
    /// The free processors, before [`StepBlock::taken`] is subtracted.
    free: [i64; LARGEST],
}

impl StepBlock {
    /// Adds processors to all steps.
    fn add(&mut self, procs: i64) {
        self.taken -= procs;
        self.least += procs;
        self.most += procs;
    }
}

/// Every block has less steps than this.
const LARGEST: usize = 32;
/// The steps of a block after [`Blocks::fill`]. The next reservations do not split it.
const FILLED: usize = 24;

/// A block and a step in it.
type Position = (usize, usize);

impl Blocks {
    /// Begins anew with these steps.
    pub fn fill(&mut self, steps: &[ProfileStep]) {
        self.blocks.clear();
        self.spare.clear();
        self.used = 0;
        self.hints.clear();
        for steps in steps.chunks(FILLED) {
            let place = self.new_place();
            for (at, step) in steps.iter().enumerate() {
                (self.steps[place].from[at], self.steps[place].free[at]) = (step.from, step.free);
            }
            let (from, len) = (steps[0].from, steps.len());
            self.blocks.push(StepBlock { from, least: 0, most: 0, taken: 0, len, place });
            self.measure(self.blocks.len() - 1);
        }
    }

    fn new_place(&mut self) -> usize {
        if let Some(place) = self.spare.pop() {
            return place;
        }
        if self.used == self.steps.len() {
            self.steps.push(Steps { from: [0; LARGEST], free: [0; LARGEST] });
        }
        self.used += 1;
        self.used - 1
    }

    pub fn free_now(&self) -> i64 {
        let first = &self.blocks[0];
        self.steps[first.place].free[0] - first.taken
    }

    pub fn reserve(&mut self, procs: i64, length: Seconds) -> Time {
        // None only for a job wider than the machine, which a workload does not contain.
        let Some((start, first, last)) = self.find(procs, length) else { return Time::MAX };
        self.take(first, last, start + length, procs);
        start
    }

    pub fn earliest(&mut self, procs: i64, length: Seconds) -> Time {
        self.find(procs, length).map_or(Time::MAX, |(start, ..)| start)
    }

    /// The earliest start of a reservation, and the first and the last step that it takes processors from.
    fn find(&mut self, procs: i64, length: Seconds) -> Option<(Time, Position, Position)> {
        let hint = self.hints.earliest(procs, length);
        let mut at = hint.map_or((0, 0), |time| self.position_of(time));
        loop {
            let first = self.next_with(at, procs)?;
            let start = self.steps[self.blocks[first.0].place].from[first.1];
            match self.next_without(first, procs, start + length) {
                Ok(last) => {
                    self.hints.add(procs, length, start);
                    return Some((start, first, last));
                }
                Err(next) => at = next,
            }
        }
    }

    pub fn has_room_now(&mut self, procs: i64, length: Seconds) -> bool {
        self.next_without((0, 0), procs, self.blocks[0].from + length).is_ok()
    }

    /// The step that contains this instant; the first one, if it is earlier.
    fn position_of(&self, time: Time) -> Position {
        let block = self.blocks.partition_point(|block| block.from <= time).saturating_sub(1);
        let StepBlock { len, place, .. } = self.blocks[block];
        let step = self.steps[place].from[..len].partition_point(|from| *from <= time);
        (block, step.saturating_sub(1))
    }

    /// The first step with this many processors or more, from a position on.
    fn next_with(&mut self, (mut at, mut step): Position, procs: i64) -> Option<Position> {
        loop {
            let StepBlock { most, taken, len, place, .. } = &mut self.blocks[at];
            let free = &self.steps[*place].free[..*len];
            if *most >= procs {
                if let Some(found) = free[step..].iter().position(|free| *free >= procs + *taken) {
                    return Some((at, step + found));
                }
                if step == 0 {
                    *most = procs - 1;
                }
            }
            let later = self.blocks[at + 1..].iter().position(|block| block.most >= procs)?;
            (at, step) = (at + 1 + later, 0);
        }
    }

    /// From a position on, the first step with fewer processors that begins before `end`, as an error. If there is none, the
    /// last step that begins before `end`.
    fn next_without(&mut self, (first, step): Position, procs: i64, end: Time) -> Result<Position, Position> {
        let (mut at, mut from) = (first, step);
        loop {
            let StepBlock { least, taken, len, place, .. } = self.blocks[at];
            let is_last = self.blocks.get(at + 1).is_none_or(|next| next.from >= end);
            let steps = &self.steps[place];
            if least < procs {
                for step in from..len {
                    if steps.from[step] >= end {
                        return Ok((at, step - 1));
                    }
                    if steps.free[step] < procs + taken {
                        return Err((at, step));
                    }
                }
                if from == 0 {
                    self.blocks[at].least = procs;
                }
                if is_last {
                    return Ok((at, len - 1));
                }
            } else if is_last {
                return Ok((at, steps.from[..len].partition_point(|from| *from < end) - 1));
            }
            (at, from) = (at + 1, 0);
        }
    }

    /// Subtracts processors from the steps from `first` to `last`. A new step begins at `end`, unless one does already.
    fn take(&mut self, first: Position, last: Position, end: Time, procs: i64) {
        let free_before = self.steps[self.blocks[last.0].place].free[last.1];
        let next = match self.blocks[last.0] {
            StepBlock { len, place, .. } if last.1 + 1 < len => Some(self.steps[place].from[last.1 + 1]),
            _ => self.blocks.get(last.0 + 1).map(|block| block.from),
        };
        if first.0 < last.0 {
            self.add_in_block(first.0, first.1, self.blocks[first.0].len, -procs);
            for block in &mut self.blocks[first.0 + 1..last.0] {
                block.add(-procs);
            }
        }
        let from = if first.0 < last.0 { 0 } else { first.1 };
        if next != Some(end) {
            self.insert(last.0, last.1 + 1, end, free_before);
        }
        self.add_in_block(last.0, from, last.1 + 1, -procs);
        if self.blocks[last.0].len == LARGEST {
            self.split(last.0);
        }
    }

    fn add_in_block(&mut self, at: usize, from: usize, to: usize, procs: i64) {
        let block = &mut self.blocks[at];
        if from == 0 && to == block.len {
            return block.add(procs);
        }
        let free = &mut self.steps[block.place].free[from..to];
        free.iter_mut().for_each(|free| *free += procs);
        // One of the bounds stays as it is. It may be too wide now, but not wrong.
        let free = free.iter().map(|free| *free - block.taken);
        match procs < 0 {
            true => block.least = free.fold(block.least, i64::min),
            false => block.most = free.fold(block.most, i64::max),
        }
    }

    fn insert(&mut self, at: usize, step: usize, from: Time, free: i64) {
        let StepBlock { len, place, .. } = &mut self.blocks[at];
        let steps = &mut self.steps[*place];
        steps.from.copy_within(step..*len, step + 1);
        steps.free.copy_within(step..*len, step + 1);
        (steps.from[step], steps.free[step]) = (from, free);
        *len += 1;
    }

    /// Moves the later half of a block's steps to a new block.
    fn split(&mut self, at: usize) {
        let place = self.new_place();
        let old = &mut self.blocks[at];
        let half = old.len / 2;
        let steps = self.steps[old.place];
        let moved = &mut self.steps[place];
        moved.from[..old.len - half].copy_from_slice(&steps.from[half..old.len]);
        moved.free[..old.len - half].copy_from_slice(&steps.free[half..old.len]);
        let new = StepBlock { from: moved.from[0], len: old.len - half, place, ..*old };
        old.len = half;
        self.blocks.insert(at + 1, new);
        self.measure(at);
        self.measure(at + 1);
    }

    /// Sets the bounds of a block to the least and the most free processors of its steps.
    fn measure(&mut self, at: usize) {
        let block = &mut self.blocks[at];
        let free = &self.steps[block.place].free[..block.len];
        let (least, most) =
            free.iter().fold((i64::MAX, i64::MIN), |(least, most), free| (least.min(*free), most.max(*free)));
        (block.least, block.most) = (least - block.taken, most - block.taken);
    }

    pub fn limits(&self, limits: &mut StartLimits) {
        limits.reset(self.free_now());
        let mut lowest = self.free_now();
        for StepBlock { least, taken, len, place, .. } in &self.blocks {
            // No job needs less than one processor.
            if lowest <= 0 {
                return;
            }
            if *least < lowest {
                let steps = &self.steps[*place];
                for (from, free) in steps.from[..*len].iter().zip(&steps.free) {
                    if free - taken < lowest {
                        lowest = free - taken;
                        limits.drop_to(lowest, from - self.blocks[0].from);
                    }
                }
            }
        }
    }
}
