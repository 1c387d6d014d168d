//! How the accuracy of predictions changes during the lives of jobs.

use std::ops::Range;

use crate::engine::{Event, Observer};
use crate::schedule::Machine;
use crate::time::{Seconds, Time};

/// The parts of a life.
pub const LIFE_PARTS: usize = 20;

/// The most pieces of a life that are kept. If there are more, neighbours are joined.
const MOST_PIECES: usize = 64;

/// A time during which the RA of a job is kept as one number.
#[derive(Clone, Copy, Debug)]
struct Piece {
    end: Time,
    ra: f64,
}

/// The life of a job in the system.
#[derive(Clone, Debug, Default)]
struct Life {
    submit: Time,
    is_measured: bool,
    pieces: Vec<Piece>,
}

/// Observes a run and adds up the RA of all measured jobs in each part of their lives. A life lasts from submission to end,
/// as in the definition of RA.
#[derive(Clone, Debug)]
pub struct LifeAccuracy {
    measured: Range<usize>,
    /// By the place of a job.
    lives: Vec<Life>,
    sums: [f64; LIFE_PARTS],
    jobs: u64,
}

impl LifeAccuracy {
    /// For the jobs with these numbers.
    pub fn new(measured: Range<usize>) -> LifeAccuracy {
        LifeAccuracy { measured, lives: Vec::new(), sums: [0.0; LIFE_PARTS], jobs: 0 }
    }

    /// For each part of life the mean of the jobs' mean RA in it. Empty if there are no jobs.
    pub fn means(&self) -> Vec<f64> {
        if self.jobs == 0 {
            return Vec::new();
        }
        self.sums.iter().map(|sum| sum / self.jobs as f64).collect()
    }
}

impl Life {
    fn begin(&self) -> Time {
        self.pieces.last().map_or(self.submit, |piece| piece.end)
    }

    /// Adds the time from the end of the last piece until `end`, during which this prediction was in force.
    fn add(&mut self, prediction: Seconds, runtime: Seconds, end: Time) {
        if !self.is_measured || end == self.begin() {
            return;
        }
        if self.pieces.len() == MOST_PIECES {
            self.join();
        }
        let (low, high) = (runtime.min(prediction), runtime.max(prediction));
        self.pieces.push(Piece { end, ra: low as f64 / high as f64 });
    }

    /// Joins pairs of neighbours.
    fn join(&mut self) {
        let mut begin = self.submit;
        for at in 0..self.pieces.len() / 2 {
            let (a, b) = (self.pieces[2 * at], self.pieces[2 * at + 1]);
            let (of_a, of_b) = ((a.end - begin) as f64, (b.end - a.end) as f64);
            self.pieces[at] = Piece { end: b.end, ra: (a.ra * of_a + b.ra * of_b) / (of_a + of_b) };
            begin = b.end;
        }
        self.pieces.truncate(self.pieces.len() / 2);
    }

    /// Adds the RA of each part of the life to `sums`.
    fn add_to(&self, sums: &mut [f64; LIFE_PARTS]) {
        let parts = LIFE_PARTS as f64;
        let all = (self.begin() - self.submit) as f64;
        let (mut from, mut part) = (0.0, 0);
        for piece in &self.pieces {
            let to = (piece.end - self.submit) as f64 / all * parts;
            while part < LIFE_PARTS && from < to {
                let end = to.min((part + 1) as f64);
                sums[part] += piece.ra * (end - from);
                from = end;
                part += usize::from(from >= (part + 1) as f64);
            }
        }
    }
}

impl Observer for LifeAccuracy {
    fn on(&mut self, time: Time, event: &Event<'_>, _machine: &Machine) {
        match event {
            Event::Arrival(arrival) => {
                let place = arrival.job.place;
                if place >= self.lives.len() {
                    self.lives.resize(place + 1, Life::default());
                }
                let life = &mut self.lives[place];
                life.submit = time;
                life.is_measured = self.measured.contains(&arrival.job.id.index());
                life.pieces.clear();
            }
            Event::Prediction(change) if change.old > 0 => {
                self.lives[change.place].add(change.old, change.runtime, change.made.time);
            }
            Event::End(end) => {
                let life = &mut self.lives[end.job.place];
                life.add(end.prediction, end.runtime, time);
                if life.is_measured && !life.pieces.is_empty() {
                    life.add_to(&mut self.sums);
                    self.jobs += 1;
                }
            }
            Event::Cancellation(cancellation) => self.lives[cancellation.job.place].pieces.clear(),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A life from 100 on: predictions with the times until which they were in force. The runtime is 50.
    fn life(predictions: &[(Seconds, Time)]) -> Life {
        let mut life = Life { submit: 100, is_measured: true, ..Life::default() };
        predictions.iter().for_each(|&(prediction, until)| life.add(prediction, 50, until));
        life
    }

    #[test]
    fn every_part_has_the_mean_of_its_time() {
        // 200 s in 20 parts of 10 s. RA is 0.5 for 105 s, then 1 for 95 s.
        let mut sums = [0.0; LIFE_PARTS];
        life(&[(100, 205), (50, 300)]).add_to(&mut sums);
        for (part, sum) in sums.into_iter().enumerate() {
            let expected = [0.5, 0.75, 1.0][(part >= 10) as usize + (part > 10) as usize];
            assert!((sum - expected).abs() < 1e-9, "part {part}: {sum}");
        }
    }

    #[test]
    fn joined_pieces_keep_the_mean() {
        let many: Vec<_> = (1..=1000).map(|at| (if at % 2 == 0 { 50 } else { 100 }, 100 + at)).collect();
        let life = life(&many);
        assert!(life.pieces.len() <= MOST_PIECES);
        let mut sums = [0.0; LIFE_PARTS];
        life.add_to(&mut sums);
        for sum in sums {
            assert!((sum - 0.75).abs() < 0.01, "{sum}");
        }
    }
}
