//! Run times of a category and the logarithmic distribution that fits them best: F(t) = b0 + b1 ln t (Downey).
//!
//! The fit is by least squares over the points (ln t, rank / N), one a job. A new run time moves the ranks of all that
//! are longer, so that the sum of ranks times logarithms grows by the logarithms of those: run times stand in order, in
//! blocks with their sums.

use crate::time::Seconds;

/// The run times of a category.
#[derive(Clone, Debug, Default)]
pub struct Lifetimes {
    blocks: Vec<Block>,
    count: u64,
    sum: f64,
    squares: f64,
    /// The sum of rank x ln t, ranks from 1.
    by_rank: f64,
}

#[derive(Clone, Debug, Default)]
struct Block {
    /// In order, with their logarithms.
    lives: Vec<(Seconds, f64)>,
    sum: f64,
}

const LARGEST: usize = 512;

impl Lifetimes {
    pub fn add(&mut self, runtime: Seconds) {
        // libm's logarithm has the same digits on every platform.
        let ln = libm::log(runtime as f64);
        let at = self.blocks.partition_point(|block| block.lives.last().is_some_and(|(longest, _)| *longest < runtime));
        if at == self.blocks.len() {
            match self.blocks.last() {
                Some(last) if last.lives.len() < LARGEST => self.insert(at - 1, runtime, ln),
                _ => {
                    self.blocks.push(Block::default());
                    self.insert(at, runtime, ln);
                }
            }
        } else {
            self.insert(at, runtime, ln);
        }
    }

    fn insert(&mut self, at: usize, runtime: Seconds, ln: f64) {
        let before: usize = self.blocks[..at].iter().map(|block| block.lives.len()).sum();
        let after: f64 = self.blocks[at + 1..].iter().map(|block| block.sum).sum();
        let block = &mut self.blocks[at];
        let place = block.lives.partition_point(|(other, _)| *other < runtime);
        let longer: f64 = block.lives[place..].iter().map(|(_, ln)| ln).sum::<f64>() + after;
        block.lives.insert(place, (runtime, ln));
        block.sum += ln;
        self.by_rank += (before + place + 1) as f64 * ln + longer;
        self.count += 1;
        self.sum += ln;
        self.squares += ln * ln;
        if block.lives.len() > LARGEST {
            let upper = block.lives.split_off(LARGEST / 2);
            let sum = upper.iter().map(|(_, ln)| ln).sum();
            block.sum = block.lives.iter().map(|(_, ln)| ln).sum();
            self.blocks.insert(at + 1, Block { lives: upper, sum });
        }
    }

    /// The longest run time of the fitted distribution, t_max = exp((1 - b0) / b1). None while all are equal.
    pub fn longest(&self) -> Option<f64> {
        let (shortest, longest) = (self.blocks.first()?.lives.first()?.0, self.blocks.last()?.lives.last()?.0);
        if shortest == longest {
            return None;
        }
        let n = self.count as f64;
        let (mean_ln, mean_rank) = (self.sum / n, (n + 1.0) / (2.0 * n));
        let slope = (self.by_rank / n - self.sum * mean_rank) / (self.squares - self.sum * mean_ln);
        let intercept = mean_rank - slope * mean_ln;
        Some(libm::exp((1.0 - intercept) / slope))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::stream;
    use rand::RngExt;

    /// Against a fit that sorts everything and sums it up anew.
    #[test]
    fn the_fit_is_that_of_all_points() {
        let mut rng = stream(1, "lifetimes");
        let (mut lifetimes, mut plain) = (Lifetimes::default(), Vec::new());
        for step in 0..5000 {
            let runtime = rng.random_range(1..300) * rng.random_range(1..300);
            lifetimes.add(runtime);
            plain.push(runtime);
            if step % 97 == 3 || step == 4999 {
                plain.sort_unstable();
                let n = plain.len() as f64;
                let points: Vec<(f64, f64)> =
                    plain.iter().zip(1..).map(|(t, rank)| ((*t as f64).ln(), f64::from(rank) / n)).collect();
                let (x, y) = (points.iter().map(|p| p.0).sum::<f64>() / n, points.iter().map(|p| p.1).sum::<f64>() / n);
                let both: f64 = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
                let slope = both / points.iter().map(|p| (p.0 - x) * (p.0 - x)).sum::<f64>();
                let expected = ((1.0 - (y - slope * x)) / slope).exp();
                assert!((lifetimes.longest().unwrap() / expected - 1.0).abs() < 1e-9, "after {step}");
            }
        }
    }

    #[test]
    fn equal_run_times_have_no_distribution() {
        let mut lifetimes = Lifetimes::default();
        assert_eq!(lifetimes.longest(), None);
        (0..2000).for_each(|_| lifetimes.add(60));
        assert_eq!(lifetimes.longest(), None);
        // Of two the fit goes through both: F(1) = 1/2, F(e) = 1, so that t_max is the longer.
        let mut two = Lifetimes::default();
        two.add(100);
        two.add(4);
        assert!((two.longest().unwrap() - 100.0).abs() < 1e-9);
    }
}
